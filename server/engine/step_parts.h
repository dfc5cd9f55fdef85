/** Parts of a step, in files of their own: step.c puts them together. */
#ifndef SL_ENGINE_STEP_PARTS_H
#define SL_ENGINE_STEP_PARTS_H

#include "engine/states.h"
#include "engine/step.h"

/** One pass of a micro-batch through chunks of a pipeline rank [s]. */
typedef struct sl_pass_time {
    double computing_s; /* with what the host runs of it */
    double host_s;      /* that */
    double tensor_s;    /* exposed, as the next two */
    double context_s;
    double expert_s; /* of routing, as far as a layer itself hides none of it */
    double launch_s; /* waiting for the host, which has not issued what is next */
} sl_pass_time;

typedef struct sl_rank_time {
    sl_pass_time forward, backward, again; /* again: what recomputation runs for backward */
    double weight_s;                       /* of backward, gradients of weights of blocks */
    double visible_expert_s; /* of routing in all passes, what the schedule does not hide either */
    double flops_again;      /* what recomputation runs [FLOPs] */
} sl_rank_time;

/** The chunks `held`, which are `stage`; visible_expert_s is left 0. */
sl_rank_time sl_step_rank(const sl_memory_case *c, const sl_held *held, const sl_stage *stage);

/** Layers of a kind there, those of all copies, that run a part of their forward again. */
double sl_step_layers_again(const sl_memory_case *c, const sl_held *held, const sl_stage *stage,
                            uint32_t kind);

/** The one term of the step with this id, without inputs; its seconds are added to the step's. */
sl_term *sl_step_set_term(sl_time *out, sl_term_id id, double seconds);

#define SL_SET_TERM(c, out, id, seconds, ...)                                                      \
    do {                                                                                           \
        sl_term *set = sl_step_set_term(out, id, seconds);                                         \
        if ((c)->explained)                                                                        \
            SL_TERM_SET_INPUTS(set, __VA_ARGS__);                                                  \
    } while (0)

/** A row of the communication table, and what of it is exposed; none when it takes no time, nor when
 * nothing is explained. */
void sl_step_add_communication(const sl_memory_case *c, sl_time *out, const char *group,
                               sl_collective kind, sl_level level, double bytes, double seconds,
                               double exposed);

/** Gradients reduced, parameters gathered, copies added up. */
void sl_step_data(const sl_memory_case *c, const sl_rank_time times[SL_PIPELINE_MAX], sl_time *out);

/** The update, on the device or the host, which hides some of it under the backward of the slowest. */
void sl_step_optimizer(const sl_memory_case *c, const sl_rank_time times[SL_PIPELINE_MAX],
                       uint32_t slowest, sl_time *out);

#endif
