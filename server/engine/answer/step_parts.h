/** Parts of a step, in files of their own: step.c puts them together. */
#ifndef SL_ENGINE_STEP_PARTS_H
#define SL_ENGINE_STEP_PARTS_H

#include "engine/answer/step.h"
#include "engine/links/collective.h"
#include "engine/links/transfer.h"
#include "engine/memory/offload.h"
#include "engine/placement/states.h"
#include "engine/schedule/schedule_ring.h"

/** One pass of a micro-batch through chunks of a pipeline rank [s]. */
typedef struct sl_pass_time {
    double computing_s; /* with what the host runs of it */
    double tensor_s;    /* exposed, as the next two */
    double context_s;
    double expert_s; /* of routing, as far as a layer itself hides none of it */
    double launch_s; /* waiting for the host, which has not issued what is next */
    double copied_s; /* waiting for the host's link, which brings or takes what blocks keep */
    double issued_s; /* what the host takes to issue it, waited for or not */
    double host_s;   /* of computing_s, what it runs */
} sl_pass_time;

/** All of one pass but for its tokens' way to experts and back, and with it [s]. */
double sl_pass_dense_s(const sl_pass_time *pass);
double sl_pass_s(const sl_pass_time *pass);

typedef struct sl_rank_time {
    sl_pass_time forward, backward, again; /* again: what recomputation runs for backward */
    double weight_s;                       /* of backward, gradients of weights of blocks */
    double visible_expert_s; /* of routing in all passes, what the schedule does not hide either */
    double flops_again;      /* what recomputation runs [FLOPs] */
} sl_rank_time;

/** The chunks `held`, which are `stage`; visible_expert_s is left 0. */
sl_rank_time sl_step_rank(const sl_memory_case *c, const sl_held *held, const sl_stage *stage);
void sl_step_measure_rank(const sl_memory_case *c, const sl_held *held, const sl_stage *stage,
                          sl_rank_time *out);

/** Of routed_s, what routing takes a micro-batch, that which is visible where the passes of another
 * run beside it [s]. */
double sl_step_experts_beside_s(const sl_memory_case *c, const sl_rank_time *t, double *routed_s);

/** The one of a rank's chunks with this index. */
sl_rank_time sl_step_chunk(const sl_memory_case *c, uint32_t r, uint32_t index);

/** One layer of a kind; `again` where it recomputes. */
sl_rank_time sl_step_layer(const sl_memory_case *c, uint32_t kind, bool again);

/** Layers of a kind there, those of all copies, that run a part of their forward again. */
double sl_step_layers_again(const sl_memory_case *c, const sl_held *held, const sl_stage *stage,
                            uint32_t kind);

/** How often in a step all gradients are reduced and all parameters gathered. */
typedef struct sl_data_rounds {
    double reduces, gathers;
    double starts; /* gathers that a first layer waits for: those of forwards */
} sl_data_rounds;

/** Gradients are reduced with each micro-batch or once (sl_plan_gradient_sync). Divided parameters
 * are gathered for each forward, and for each backward where they were let go, or once where they
 * stay; whole ones once, after the optimizer wrote its part. */
sl_data_rounds sl_step_data_rounds(const sl_memory_case *c);

/** The ranks that share one copy of the states, those of them that have the same experts, and the
 * ranks that hold the same part of other copies; and what they do together. */
typedef struct sl_data_groups {
    sl_group shard, experts, replicas; /* experts: one rank where the model has none */
    sl_data_rounds rounds;
    bool owners;          /* of whole tensors, which get gradients and send parameters */
    bool sums_whole;      /* every rank adds up all gradients, though it steps on a part of them */
    sl_collective reduce; /* of gradients; parameters are gathered */
    sl_transfer dense;
    sl_transfer routed; /* set where the model has experts */
} sl_data_groups;

sl_data_groups sl_step_data_groups(const sl_memory_case *c);

/** What parameters and gradients of one rank take over the step; seconds hidden or not. */
typedef struct sl_data_time {
    sl_data_rounds rounds;
    bool whole; /* one unit: nothing of it is hidden */
    double reduce_s, gather_s, replica_s, copy_s;
    double gathered; /* how often, of all parameters: rounds.gathers but for what stays gathered */
    double fetch_s;  /* of gather_s, up from the host */
    double all_reduce_s; /* in place of reduce_s, of stage 2 where it is explained: no part of it */
    double reduce_bytes, gather_bytes, replica_bytes, copy_bytes;
    double reduces, gathers; /* pieces of them ... */
    double streams;          /* ... each, where experts travel apart, over ranks of their own */
    double travels;          /* of those bytes: what one rank has alone stays there [ratio] */
    double reduce_exposed_s,
        gather_exposed_s; /* that of the reduction with replicas' and copies' */
    double first_s,
        last_s;      /* of those, what nothing could hide: first gathers, the last reduction */
    double last;     /* of all that one round reduces [ratio] */
    double copied_s; /* of one stage, what passes wait beside that for copies of what blocks keep */
    sl_level copy_level;
} sl_data_time;

/** drained_s: how much earlier than the first rank it ends its last backward. */
sl_data_time sl_step_data_rank(const sl_memory_case *c, const sl_data_groups *groups,
                               const sl_rank_time *t, uint32_t rank, double drained_s);

/** Passes of one layer of a kind [s]: computing, and what of each is open, to what other groups
 * send and to the host, before the next begins. */
typedef struct sl_layer_passes {
    double forward_s, backward_s;
    double forward_open_s, backward_open_s;
    double forward_routed_s, backward_routed_s; /* of that, for tokens on their way to experts */
    double kept_bytes;
    double copy_s;       /* of that to the host or back, 0 where none leaves */
    double down_s, up_s; /* ... beyond what is open of the passes */
} sl_layer_passes;

sl_layer_passes sl_step_layer_passes(const sl_memory_case *c, uint32_t kind, bool again);

/** Blocks of one stage before this layer recompute. */
uint32_t sl_step_again_end(const sl_memory_case *c);

/**
 * Copies of the first `leaving` of so many blocks are spread over the passes of all
 * (TransformerEngine, layer_window_map), and where all leave two are on the device at a time: the
 * layer whose copy is gone when the forward of another begins, UINT32_MAX for none, and the layer
 * whose backward has run when what it keeps comes back.
 */
uint32_t sl_step_copy_due(uint32_t blocks, uint32_t leaving, uint32_t layer);
uint32_t sl_step_copy_back(uint32_t blocks, uint32_t leaving, uint32_t layer);

/** What travels for one layer, or one element, once each [s]. */
typedef struct sl_layer_traffic {
    double gather_s,
        fetch_s; /* parameters over the data ranks' links, before that over the host's */
    double reduce_s, replicas_s;
    double gathered_bytes;
} sl_layer_traffic;

sl_layer_traffic sl_step_element_traffic(const sl_memory_case *c, const sl_data_time *data);
sl_layer_traffic sl_step_layer_traffic(const sl_layer_traffic *element, double elements);

/** Elements that travel with a layer of a kind, less those *root that are the root unit's and
 * travel with the first layer. */
double sl_step_unit_elements(const sl_memory_case *c, uint32_t kind, double *root);

/** Whether a step is that of one stage, gone through layer by layer; blocks on a host have no lane
 * of their own there, and the one stage is then a pipeline's. */
static inline bool
sl_plan_goes_by_layer(const sl_plan *plan)
{
    return plan->pipeline == 1 && plan->virtual_pipeline == 1 && plan->host_run_count == 0;
}

/** ... in closed form too (sl_step_flow): DataParallel's devices are lent what they have, in the
 * open. */
bool sl_step_flows(const sl_memory_case *c);

/** When it does on one stage. */
typedef struct sl_data_flow {
    bool gathers, each, again; /* at all; with each micro-batch; for backward too */
    bool reduces;              /* with each micro-batch */
    bool ahead, beside;        /* gathers before their layer runs; reductions under backward */
    bool one_line;             /* reductions over copies take turns with those that made them */
    double bucket;             /* elements whose gradients go together in the last micro-batch */
} sl_data_flow;

sl_data_flow sl_step_data_flow(const sl_memory_case *c, const sl_data_groups *groups,
                               const sl_data_time *data);

/**
 * What of it one stage waits for, into data->gather_exposed_s, reduce_exposed_s and copied_s; of a
 * plan that is not explained all but the last into the second. Lanes: passes; parameters and
 * gradients, one after another; what comes up from the host; copies of the states over links of
 * their own.
 *   pass      begins when the one before it has ended and its parameters are there
 *   gather    begins when the pass but one before its own has ended
 *   reduce    begins when its pass has ended, after what the next pass needs
 * Traffic hides under computing alone, not under what other groups send, nor while the host issues
 * nothing; while both run, both are slowed by overlap_loss_ratio. Of 78 published rows whose step
 * that changes those of KempnerForge are 14.0 % off so and 17.9 % with traffic under other traffic,
 * Megatron Bridge's 9.7 and 10.1 %, NeMo's 7.7 and 7.4 %. Source: torch.distributed.fsdp
 * (_fsdp_param_group.py); Megatron-LM distributed_data_parallel.py; derived.
 */
void sl_step_flow(const sl_memory_case *c, const sl_data_groups *groups, const sl_rank_time *t,
                  sl_data_time *data);

/** Of one micro-batch of a stage that goes by layer, what its passes wait for activations on their
 * way to the host and back, where nothing else travels beside them [s]. */
double sl_step_copied_s(const sl_memory_case *c);

/** First and last stage, where they are apart, hold one copy each of a tied embedding and add up
 * its gradients: seconds, 0 where they do not. */
double sl_step_tied_s(const sl_memory_case *c, double *bytes, sl_level *level);

/** An output of `whole` bytes between pipeline ranks low < high, over the slowest links between
 * them;
 * *bytes of it are sent by each rank. Between pools the slower side counts. */
double sl_step_hop_s(const sl_memory_case *c, uint32_t low, uint32_t high, double whole,
                     double *bytes, sl_level *level);

/** The output of a chunk, from the pipeline rank that holds it to that of the next; 0 where they
 * are one. */
double sl_step_send_s(const sl_memory_case *c, uint32_t chunk, uint32_t from, uint32_t to,
                      sl_level *level);

/** A collective of two ranks, one of each of two stages. */
double sl_step_pair_s(const sl_memory_case *c, uint32_t low, uint32_t high, sl_collective kind,
                      double bytes, sl_level *level);

/** Passes of each chunk of the model, of one copy, whose ranks are busy so long with all of theirs:
 * what a rank waits besides with each micro-batch falls to its chunks by their elements where
 * parameters or gradients travel, and else alike. */
void sl_step_chunks(const sl_memory_case *c, const sl_busy busy[SL_PIPELINE_MAX],
                    sl_chunk_pass passes[SL_MODEL_LAYERS_MAX]);

/** Whether chunks differ so much that the formulas for interleaved ones, which go by a rank's mean
 * chunk, are coarse. slowest_s: of the slowest rank, one micro-batch. */
bool sl_step_chunks_differ(const sl_plan *plan, const sl_chunk_pass passes[SL_MODEL_LAYERS_MAX],
                           double slowest_s);

/** What came of sl_step_sends. */
typedef struct sl_sent {
    bool run;    /* the order of passes and sends was run (sl_ring_span_s): the step is that long */
    bool late;   /* by the formulas sends come late, or may not be hidden that count as such */
    bool differ; /* chunks do (sl_step_chunks_differ); set of a plan that is explained */
    /* By the formulas, whatever a plan that is explained shows: bubble and sends in the step so far,
     * and what stages idle of it. */
    double open_s, idle_ratio;
} sl_sent;

/** The term of what stages send each other: beside passes what fills and drains and what comes
 * late, else how much longer the step spans with what a rank sends in its passes. Where formulas
 * are coarse and passes few their order is run instead, and the bubble too is what comes of that:
 * of interleaved chunks that differ, of ZB-V with too few micro-batches to fill it, and of both
 * where sends come late or nothing is beside them. */
sl_sent sl_step_sends(const sl_memory_case *c, uint64_t m, const sl_busy busy[SL_PIPELINE_MAX],
                      const sl_pipeline_span *span, double after_s[SL_PIPELINE_MAX], sl_time *out);

/** The bubble behind passes of passes_s [s], and the share of the pipeline's time that is idle:
 * busy_sum_s of a micro-batch is computed by all ranks together. */
void sl_step_set_bubble(const sl_plan *plan, uint64_t m, double busy_sum_s, double passes_s,
                        double bubble_s, sl_time *out);

/** Whether ZB-V has fewer micro-batches than fill it. */
bool sl_step_has_few(const sl_plan *plan, uint64_t m);

/** Whether so much of it is traffic that nothing hides that formulas are coarse. */
bool sl_step_traffic_is_open(const sl_plan *plan, const sl_sent *sent, const sl_time *time);

/** The step and its terms of a simulation in their place, where formulas are coarse and passes few:
 * it is then as long as the timeline's. passes_s: of the slowest rank, with what its micro-batches
 * wait for data. All terms but the overhead are set; false where it leaves them. */
bool sl_step_whole(const sl_memory_case *c, uint64_t m, double passes_s, const sl_sent *sent,
                   sl_time *out);

/** Whether the step, all of whose terms are set, may be more than 5 % off the step simulated. */
sl_coarse sl_step_coarse(const sl_memory_case *c, const sl_sent *sent, const sl_time *time);

/** What a step of `step_s` without it, for `filling_s` of which its pipeline fills and drains, loses
 * to the profile's fixed part and to its slowest rank [s]. */
double sl_step_overhead_s(const sl_memory_case *c, double step_s, double filling_s);

/** The one term of the step with this id, without inputs; its seconds are added to the step's. */
sl_term *sl_step_set_term(sl_time *out, sl_term_id id, double seconds);

#define SL_SET_TERM(c, out, id, seconds, ...)                                                      \
    do {                                                                                           \
        sl_term *set = sl_step_set_term(out, id, seconds);                                         \
        if ((c)->explained)                                                                        \
            SL_TERM_SET_INPUTS(set, __VA_ARGS__);                                                  \
    } while (0)

/** What a row of the communication table is made of. */
typedef struct sl_sent_row {
    sl_term_id what; /* SL_TERM_TENSOR_SENT to SL_TERM_LENT_SENT */
    sl_collective kind;
    sl_group over;
    double calls, bytes, seconds, exposed_s; /* over a step */
} sl_sent_row;

/** None when it takes no time, nor when nothing is explained. */
void sl_step_add_communication(const sl_memory_case *c, const sl_sent_row *row, sl_time *out);

/** Two ranks with links of that level between them. */
sl_group sl_step_pair_at(sl_level level);

/** How long gradients of a rank travel over the step: one part after another, but for sums over
 * copies of the states that have links of their own. */
double sl_step_reductions_s(const sl_memory_case *c, const sl_data_groups *groups,
                            const sl_data_time *data);

/** Adds to each rank of a pipeline what a micro-batch waits there for gradients or parameters that
 * travel with each: others wait for it in turn. False where they travel once in a step. */
bool sl_step_data_pace(const sl_memory_case *c, const sl_rank_time *const times[SL_PIPELINE_MAX],
                       sl_busy busy[SL_PIPELINE_MAX]);

/** Gradients reduced, parameters gathered, copies added up: of the rank that shows most of it, what
 * passes and sends (after_s: from each rank to the next) leave, or of *paced where sl_step_data_pace
 * put it into the passes. late_s, of ranks that step on their own, else NULL: how much later than
 * the longest of them each ends its passes, below 0; here what it has left to send is added. */
void sl_step_data(const sl_memory_case *c, const sl_rank_time *const times[SL_PIPELINE_MAX],
                  const sl_busy busy[SL_PIPELINE_MAX], const double after_s[SL_PIPELINE_MAX],
                  const uint32_t *paced, double *late_s, sl_time *out);

/** An update that a host's optimizer makes, all of it or a part. */
typedef struct sl_shared_update {
    sl_host_step host;
    double swept_s;  /* before: norm, clip and zeros of gradients that the device keeps */
    double device_s; /* beside the host's: of what stays on the device */
} sl_shared_update;

/** The update of a rank with these elements where the host's optimizer makes it. */
sl_shared_update sl_step_on_host(const sl_memory_case *c, const sl_elements *elements);

/** The update, on the device or the host, which hides some of it under the backward of the
 * slowest; and where late_s tells when ranks come to theirs, behind the last of them alone. */
void sl_step_optimizer(const sl_memory_case *c, const sl_rank_time *slowest, const double *late_s,
                       sl_time *out);

/** The update of each rank [s], of which the longest is given. */
void sl_step_updates(const sl_memory_case *c, double longest_s, double out[SL_PIPELINE_MAX]);

#endif
