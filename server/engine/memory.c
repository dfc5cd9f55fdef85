#include "engine/memory.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "shardline/units.h"

/* Reserved over allocated with static shapes: 1.028-1.093 on the worst rank of Megatron B200
 * runs. */
static const double fragmentation_ratio = 1.05;
static const double fragmentation_low_ratio = 1.028;
static const double fragmentation_high_ratio = 1.093;
/* Doubles hold every integer up to here: 9 PB on one device is no plan. */
static const double bytes_max = 9007199254740992.0;
/* CUDA context and loaded kernels, then NCCL buffers by communicator (nccl issues 864, 964;
 * coarse). */
static const double context_bytes = 0.50 * SL_GIB_BYTES;
static const double pair_communicator_bytes = 0.55 * SL_GIB_BYTES;
static const double group_communicator_bytes = 0.70 * SL_GIB_BYTES;

/* What one rank allocates, before it becomes terms. */
typedef struct rank_bytes {
    double elements;
    double in_flight; /* micro-batches */
    double blocks_saved;
    double ends_saved; /* embedding and head */
    double recomputed; /* one block rebuilt in backward */
    double logits_peak;
    double logits_width;
    double head_transient;
    double widest_gradient;
    double dummy_elements;
    double received, sent;          /* of one micro-batch, from and to the stages beside it */
    double block_saved, block_kept; /* of the block that rebuilds most */
} rank_bytes;

sl_layout
sl_memory_layout(const sl_workload *workload)
{
    const sl_layout *asked = &workload->layout;
    const bool half = sl_precision_bytes(workload->precision) < 4.0;
    const bool megatron = workload->framework == SL_FRAMEWORK_MEGATRON;
    const bool fp16 = workload->precision == SL_PRECISION_FP16;
    static const double states[] = {
        [SL_OPTIMIZER_ADAMW] = 8.0,
        [SL_OPTIMIZER_SGD] = 0.0,
        [SL_OPTIMIZER_SGD_MOMENTUM] = 4.0,
    };
    _Static_assert(sizeof states / sizeof states[0] == SL_OPTIMIZER_COUNT, "states per optimizer");
    sl_layout layout = {
        .parameter_bytes = megatron && half ? 2.0 : 4.0,
        .gradient_bytes = megatron && fp16 ? 2.0 : 4.0,
        .master_bytes = megatron && half ? 4.0 : 0.0,
        .optimizer_bytes = states[workload->optimizer] + (megatron && fp16 ? 4.0 : 0.0),
    };

    if (asked->parameter_bytes >= 0.0)
        layout.parameter_bytes = asked->parameter_bytes;
    if (asked->gradient_bytes >= 0.0)
        layout.gradient_bytes = asked->gradient_bytes;
    if (asked->master_bytes >= 0.0)
        layout.master_bytes = asked->master_bytes;
    if (asked->optimizer_bytes >= 0.0)
        layout.optimizer_bytes = asked->optimizer_bytes;
    return layout;
}

double
sl_memory_stage_elements(const sl_model *model, const sl_kind_price *prices, const sl_stage *stage)
{
    double elements = 0.0;

    for (uint32_t k = 0; k < model->kind_count; k++)
        elements += stage->layers[k] * prices[k].elements;
    return elements;
}

double
sl_memory_sent_bytes(const sl_memory_case *c, uint32_t rank)
{
    const sl_plan *plan = c->plan;
    double bytes = 0.0;

    assert(rank + 1 < plan->pipeline);
    if (!sl_model_is_plain(c->question->model)) /* every layer passes on the hidden state */
        return c->prices[0].output_bytes;
    for (uint32_t chunk = rank; chunk + 1 < plan->pipeline * plan->virtual_pipeline;
         chunk += plan->pipeline) {
        const uint32_t kind = sl_schedule_last_kind(c->question->model, plan, chunk);
        bytes = fmax(bytes, c->prices[kind].output_bytes);
    }
    return bytes;
}

static void
add_term(sl_rank_memory *rank, sl_term_id id, double bytes, const sl_input *inputs, uint32_t count)
{
    if (bytes <= 0.0)
        return;
    assert(rank->term_count < SL_RANK_TERMS_MAX && count <= SL_TERM_INPUTS_MAX);

    sl_term *term = &rank->terms[rank->term_count++];
    *term = (sl_term){.id = id, .value = ceil(bytes), .input_count = count};
    memcpy(term->inputs, inputs, count * sizeof *inputs);
}

#define ADD_TERM(rank, id, bytes, ...)                                                             \
    add_term(rank, id, bytes, (const sl_input[]){__VA_ARGS__},                                     \
             sizeof((const sl_input[]){__VA_ARGS__}) / sizeof(sl_input))

typedef struct shape {
    double rows, columns;
} shape;

/* Elements of the distinct weight shapes of a stage, over all its kinds. */
static double
dummy_gradient_elements(const sl_memory_case *c, const sl_stage *stage)
{
    const sl_model *model = c->question->model;
    shape seen[SL_MODEL_OPERATORS_MAX];
    uint32_t count = 0;
    double elements = 0.0;

    if (!c->software->dummy_weight_gradients)
        return 0.0;
    for (uint32_t k = 0; k < model->kind_count; k++) {
        for (uint32_t i = 0; stage->layers[k] > 0 && i < model->kinds[k].operator_count; i++) {
            const sl_operator *op = &model->kinds[k].operators[i];
            const shape own = {sl_slice_outputs(c->slice, op), sl_slice_inputs(c->slice, op)};
            uint32_t same = 0;
            if (op->kind != SL_OPERATOR_MATMUL)
                continue;
            while (same < count &&
                   (seen[same].rows != own.rows || seen[same].columns != own.columns))
                same++;
            if (same < count)
                continue;
            seen[count++] = own;
            elements += own.rows * own.columns;
        }
    }
    return elements;
}

/* Kept per micro-batch by one layer of a kind under the plan's recomputation. */
static double
kept_bytes(const sl_memory_case *c, const sl_kind_price *price)
{
    switch (c->workload->recompute) {
    case SL_RECOMPUTE_FULL:
        return price->input_bytes;
    case SL_RECOMPUTE_SELECTIVE:
        return price->saved_bytes - price->core_bytes;
    default:
        return price->saved_bytes;
    }
}

static rank_bytes
measure_rank(const sl_memory_case *c, const sl_stage *stage, uint32_t r)
{
    const sl_model *model = c->question->model;
    const sl_plan *plan = c->plan;
    const uint64_t m = sl_plan_microbatches(c->workload, plan);
    const double chunks = (double)sl_schedule_chunks_in_flight(plan, m, r);
    const double hidden_bytes =
        c->slice->element_bytes * (double)model->hidden * c->slice->tokens / c->slice->spread;
    rank_bytes b = {
        .elements = sl_memory_stage_elements(model, c->prices, stage),
        .in_flight = chunks / plan->virtual_pipeline,
        .dummy_elements = dummy_gradient_elements(c, stage),
        .received = r > 0 ? sl_memory_sent_bytes(c, r - 1) : 0.0,
        .sent = r + 1 < plan->pipeline ? sl_memory_sent_bytes(c, r) : 0.0,
    };

    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_kind_price *price = &c->prices[k];
        if (stage->layers[k] == 0)
            continue;
        if (sl_schedule_is_block(model, k)) {
            const double kept = kept_bytes(c, price);
            b.blocks_saved += b.in_flight * stage->layers[k] * kept;
            b.widest_gradient = fmax(b.widest_gradient, price->largest_gradient_bytes);
            if (price->saved_bytes - kept > b.block_saved - b.block_kept) {
                b.block_saved = price->saved_bytes;
                b.block_kept = kept;
            }
        } else if (k == model->layers[0]) {
            b.ends_saved += b.in_flight * price->saved_bytes;
        } else {
            b.ends_saved += price->saved_bytes;
            b.logits_width = price->logits;
            b.logits_peak = price->logits * c->software->logits_peak_bytes;
            b.head_transient =
                hidden_bytes * (c->slice->spread > 1.0 ? 2.0 * c->slice->tensor + 1.0 : 1.0);
        }
    }
    b.recomputed = b.block_saved - b.block_kept;
    return b;
}

static double
communicator_bytes(const sl_plan *plan, double *count)
{
    const uint64_t groups[] = {plan->tensor, plan->pipeline, plan->data};
    double bytes = 0.0;

    *count = 0.0;
    for (uint32_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (groups[i] <= 1)
            continue;
        *count += 1.0;
        bytes += groups[i] == 2 ? pair_communicator_bytes : group_communicator_bytes;
    }
    return bytes;
}

double
sl_memory_shard(const sl_plan *plan)
{
    return plan->zero_stage >= 1 ? (double)plan->data * plan->context : 1.0;
}

static void
add_states(const sl_memory_case *c, const rank_bytes *b, sl_rank_memory *rank)
{
    const sl_layout layout = sl_memory_layout(c->workload);
    const double shard = sl_memory_shard(c->plan);
    const double n = b->elements;
    const bool ddp = c->workload->framework == SL_FRAMEWORK_DDP;
    const bool autocast = ddp && c->slice->element_bytes < 4.0;

    ADD_TERM(rank, SL_TERM_PARAMETERS, n * layout.parameter_bytes, {"parameters", n},
             {"bytes_per_parameter", layout.parameter_bytes});
    ADD_TERM(rank, SL_TERM_GRADIENTS, n * layout.gradient_bytes, {"parameters", n},
             {"bytes_per_parameter", layout.gradient_bytes});
    ADD_TERM(rank, SL_TERM_MASTER_WEIGHTS, n * layout.master_bytes / shard, {"parameters", n},
             {"bytes_per_parameter", layout.master_bytes}, {"shards", shard});
    ADD_TERM(rank, SL_TERM_OPTIMIZER_STATES, n * layout.optimizer_bytes / shard, {"parameters", n},
             {"bytes_per_parameter", layout.optimizer_bytes}, {"shards", shard});
    if (autocast)
        ADD_TERM(rank, SL_TERM_CACHED_WEIGHTS, n * c->slice->element_bytes, {"parameters", n},
                 {"bytes_per_parameter", c->slice->element_bytes});
    if (ddp && c->plan->data > 1)
        ADD_TERM(rank, SL_TERM_GRADIENT_BUCKETS, n * layout.gradient_bytes, {"parameters", n},
                 {"bytes_per_parameter", layout.gradient_bytes});
    ADD_TERM(rank, SL_TERM_DUMMY_WEIGHT_GRADIENTS, b->dummy_elements * c->slice->element_bytes,
             {"elements", b->dummy_elements}, {"element_bytes", c->slice->element_bytes});
    ADD_TERM(rank, SL_TERM_PIPELINE_BUFFERS, 2.0 * (b->received + b->sent) / c->slice->spread,
             {"received_bytes", b->received}, {"sent_bytes", b->sent},
             {"hidden", (double)c->question->model->hidden}, {"tokens", c->slice->tokens},
             {"element_bytes", c->slice->element_bytes}, {"ranks_sharing", c->slice->spread});
}

/* The two phases that can be the peak; the states are alive in both. */
static void
add_peak_phase(const sl_memory_case *c, const sl_stage *stage, const rank_bytes *b,
               sl_rank_memory *rank)
{
    const double head = b->logits_peak + b->head_transient;
    const double backward = b->recomputed + b->widest_gradient;
    const bool head_binds = head > 0.0 && head >= backward;
    const double per_block = stage->blocks > 0 && b->in_flight > 0.0
                                 ? b->blocks_saved / b->in_flight / stage->blocks
                                 : 0.0;

    rank->phase = head_binds ? "head" : "backward";
    ADD_TERM(rank, SL_TERM_ACTIVATIONS, b->blocks_saved + b->ends_saved,
             {"microbatches_in_flight", b->in_flight}, {"blocks", stage->blocks},
             {"bytes_per_block", per_block}, {"embedding_and_head_bytes", b->ends_saved},
             {"tokens", c->slice->tokens}, {"tensor", c->slice->tensor},
             {"ranks_sharing_norms", c->slice->spread});
    const double row_bytes = c->slice->element_bytes * c->slice->tokens;
    if (head_binds)
        ADD_TERM(rank, SL_TERM_LOGITS, b->logits_peak, {"logits", b->logits_width},
                 {"bytes_per_logit", c->software->logits_peak_bytes});
    else
        ADD_TERM(rank, SL_TERM_RECOMPUTED_BLOCK, b->recomputed, {"block_bytes", b->block_saved},
                 {"kept_bytes", b->block_kept});
    const double transient = head_binds ? b->head_transient : b->widest_gradient;
    ADD_TERM(rank, SL_TERM_BACKWARD_TRANSIENT, transient,
             {"element_bytes", c->slice->element_bytes}, {"tokens", c->slice->tokens},
             {"width", transient / row_bytes});
}

static bool
evaluate_rank(const sl_memory_case *c, uint32_t r, sl_rank_memory *rank)
{
    sl_stage stage;
    double communicators = 0.0;
    double allocated = 0.0;

    sl_schedule_stage(c->question->model, c->plan, r, &stage);
    const rank_bytes b = measure_rank(c, &stage, r);

    rank->term_count = 0;
    add_states(c, &b, rank);
    add_peak_phase(c, &stage, &b, rank);
    for (uint32_t i = 0; i < rank->term_count; i++)
        allocated += rank->terms[i].value;

    const double outside = context_bytes + ceil(communicator_bytes(c->plan, &communicators));
    ADD_TERM(rank, SL_TERM_FRAGMENTATION, allocated * (fragmentation_ratio - 1.0),
             {"peak_allocated_bytes", allocated}, {"reserved_over_allocated", fragmentation_ratio});
    const double reserved = allocated + rank->terms[rank->term_count - 1].value;
    ADD_TERM(rank, SL_TERM_CONTEXT, outside, {"context_bytes", context_bytes},
             {"communicators", communicators}, {"communicator_bytes", outside - context_bytes});

    if (reserved + outside > bytes_max)
        return false;

    const uint64_t per_stage = sl_plan_world(c->plan) / c->plan->pipeline;
    rank->role = c->plan->pipeline == 1 ? "only stage"
                 : stage.first          ? "first stage"
                 : stage.last           ? "last stage"
                                        : "middle stage";
    rank->first_stage = r;
    rank->stage_count = 1;
    rank->rank = r * per_stage;
    rank->count = per_stage;
    rank->peak_allocated_bytes = (uint64_t)allocated;
    rank->peak_reserved_bytes = (uint64_t)reserved;
    rank->device_total_bytes = (uint64_t)(reserved + ceil(outside));
    return true;
}

static bool
same_bytes(const sl_rank_memory *a, const sl_rank_memory *b)
{
    if (a->role != b->role || a->term_count != b->term_count)
        return false;
    for (uint32_t i = 0; i < a->term_count; i++)
        if (a->terms[i].id != b->terms[i].id || a->terms[i].value != b->terms[i].value)
            return false;
    return true;
}

bool
sl_memory_evaluate(const sl_memory_case *c, sl_memory *out)
{
    const sl_accelerator *part = &c->question->cluster->accelerator;

    assert(c->plan->pipeline <= SL_PIPELINE_MAX);
    out->capacity_bytes = part->memory_bytes;
    out->usable_bytes =
        part->memory_bytes > part->reserved_bytes ? part->memory_bytes - part->reserved_bytes : 0;
    out->rank_count = 0;
    out->binding = 0;
    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_rank_memory *rank = &out->ranks[out->rank_count];

        if (!evaluate_rank(c, r, rank))
            return false;
        if (out->rank_count > 0 && same_bytes(&out->ranks[out->rank_count - 1], rank)) {
            out->ranks[out->rank_count - 1].stage_count++;
            out->ranks[out->rank_count - 1].count += rank->count;
            continue;
        }
        if (rank->device_total_bytes > out->ranks[out->binding].device_total_bytes)
            out->binding = out->rank_count;
        out->rank_count++;
    }

    const sl_rank_memory *fullest = &out->ranks[out->binding];
    out->headroom_bytes = (int64_t)out->usable_bytes - (int64_t)fullest->device_total_bytes;
    out->reserved_low_bytes =
        (uint64_t)ceil((double)fullest->peak_allocated_bytes * fragmentation_low_ratio);
    out->reserved_high_bytes =
        (uint64_t)ceil((double)fullest->peak_allocated_bytes * fragmentation_high_ratio);
    return true;
}
