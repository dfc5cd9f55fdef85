/** Parts of a step, in files of their own: step.c puts them together. */
#ifndef SL_ENGINE_STEP_PARTS_H
#define SL_ENGINE_STEP_PARTS_H

#include "engine/states.h"
#include "engine/step.h"

/** One micro-batch on one pipeline rank, all its chunks. Each pass holds what its host runs of it. */
typedef struct sl_rank_time {
    double host_forward_s, host_backward_s;
    double forward_s;
    double backward_s;
    double weight_s; /* of it, gradients of weights of blocks */
    double recompute_s;
    double tensor_s; /* exposed, forward, backward and recomputation */
    double expert_s; /* likewise, of routing */
    double context_s;
    double launch_s;    /* waiting for the host, which has not issued what is next */
    double flops_again; /* what recomputation runs [FLOPs] */
} sl_rank_time;

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
