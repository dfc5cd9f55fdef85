/** Strategies and ways of fine-tuning side by side, and which of them to take. */
#ifndef SL_ENGINE_COMPARISON_H
#define SL_ENGINE_COMPARISON_H

#include "engine/strategy/scaling.h"
#include "engine/strategy/strategy.h"
#include "engine/strategy/tuning.h"

/** Steps within this of each other are alike: less than what lies between two releases of a
 * framework. */
#define SL_COMPARISON_ALIKE_RATIO 1.03

/** One column: a plan with its answer, or why there is none. */
typedef struct sl_entry {
    bool legal;
    sl_error refused;     /* unless it is legal */
    sl_question question; /* what it asks: open facts are open in it */
    sl_workload workload; /* what was answered: the median of those facts */
    sl_plan plan;
    const sl_software *software;
    bool fits, fits_certain;
    bool time_incomplete; /* step_s lacks some transfers over the host's link */
    uint64_t usable_bytes;
    int64_t headroom_bytes;
    uint64_t host_bytes_per_node;
    uint64_t host_lacking_bytes; /* of the node that lacks most; 0: none does, or it is not known */
    double lacking_bytes;        /* of devices or nodes, the more (sl_memory_lacking_bytes) */
    sl_rank_memory fullest;
    sl_time time;
    double step_low_s, step_high_s;
    sl_throughput throughput;
    double latency_s[SL_COMMUNICATION_MAX]; /* of a message of one byte, by row of traffic */
    sl_scaling scaling;
    sl_failure failure;
    uint32_t note_count;
    sl_note notes[SL_NOTES_MAX];
} sl_entry;

/** When a strategy is the one to look at; bits. */
typedef enum sl_situation {
    SL_SITUATION_DATA_LARGE,     /* the model fits one device */
    SL_SITUATION_SLIGHTLY_LARGE, /* up to twice a device */
    SL_SITUATION_MODEL_LARGE,    /* more, and there is hardly a second replica's worth of devices */
    SL_SITUATION_BOTH,
    SL_SITUATION_COUNT
} sl_situation;

enum { SL_NOTHING = -1 };

typedef struct sl_comparison {
    bool asked[SL_STRATEGY_COUNT]; /* the caller's: the others are left alone */
    sl_entry strategies[SL_STRATEGY_COUNT];
    int recommended; /* sl_strategy; SL_NOTHING when none fits */
    int fastest;     /* of those that fit as surely */
    int riskier;     /* faster than the recommendation, by its peak alone; SL_NOTHING: none */
    int nearest;     /* when none fits: that which lacks least */
    bool placed;     /* the next two are known */
    sl_situation situation;
    double replica_ratio;            /* device total of a replica over what a device has */
    int best_of[SL_SITUATION_COUNT]; /* the recommendation among those that suit, or SL_NOTHING */
} sl_comparison;

/** Whether a strategy is one for that situation. */
bool sl_strategy_suits(sl_strategy strategy, sl_situation situation);

/**
 * Fills out->strategies where asked, each with the degrees of its fastest plan that fits surely,
 * and the recommendation: of the plans that fit surely (of those that fit, where none does), those
 * within 3 % of the fastest step, of these the least complex, of these the fastest. GIVEN is never
 * recommended, nor what lacks a part of its time while another plan fits.
 * Both estimates are the caller's to lend.
 */
void sl_comparison_answer(const sl_comparison_ask *ask, sl_estimate *scratch, sl_estimate *answer,
                          sl_comparison *out);

typedef struct sl_tuning_comparison {
    uint32_t count;
    sl_tuning choices[SL_TUNINGS_MAX];
    sl_entry entries[SL_TUNINGS_MAX];
    int recommended; /* index; SL_NOTHING when none fits */
    int base;        /* what gain and cost are counted from: the first that is legal */
} sl_tuning_comparison;

/**
 * Every way of fine-tuning under the plan of the question, and the recommendation: the method that
 * trains most of those that fit, full before LoRA before QLoRA, in the fastest of its forms that
 * fit surely.
 */
void sl_tuning_answer(const sl_question *question, sl_estimate *scratch, sl_estimate *answer,
                      sl_tuning_comparison *out);

#endif
