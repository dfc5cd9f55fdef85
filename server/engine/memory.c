#include "engine/memory.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/adapter.h"
#include "engine/gather.h"
#include "engine/lent.h"
#include "engine/low_precision.h"
#include "engine/offload.h"
#include "engine/ranks.h"
#include "shardline/units.h"

/* Doubles hold every integer up to here: 9 PB on one device is no plan. */
static const double bytes_max = 9007199254740992.0;
/* CUDA context and loaded kernels, then NCCL buffers by communicator (nccl issues 864, 964;
 * coarse). */
static const double context_bytes = 0.50 * SL_GIB_BYTES;
static const double pair_communicator_bytes = 0.55 * SL_GIB_BYTES;
static const double exchange_peer_bytes = 0.41 * SL_GIB_BYTES;
static const double exchange_bytes_max = 3.3 * SL_GIB_BYTES;
static const double group_communicator_bytes = 0.70 * SL_GIB_BYTES;

/* Bytes of a loss that is not the profile's, per logit at its peak: eager code holds the 16-bit
 * logits, their fp32 copy, log-softmax and its gradient; fused code works in place. */
static const double eager_logit_bytes = 14.0;
static const double fused_logit_bytes = 2.0;
static const double loss_chunks = 8.0;

/* What one rank allocates, before it becomes terms. */
typedef struct rank_bytes {
    sl_elements elements;
    sl_gathered gathered;
    double in_flight; /* micro-batches */
    double blocks_saved;
    double ends_saved; /* embedding and head */
    double recomputed; /* one block rebuilt in backward */
    double logits_width;
    double logit_bytes;
    double head_transient;
    double widest_gradient;
    double dummy_elements;
    double largest_matrix;          /* elements, on this rank */
    double received, sent;          /* of one micro-batch, from and to the stages beside it */
    double block_saved, block_kept; /* of the block that rebuilds most */
    double largest_block;           /* what one block saves */
    double offloaded;               /* of blocks_saved, what is in the host's memory */
} rank_bytes;

/* What lives beside states and buffers at one moment of the step. */
typedef struct phase {
    const char *name;
    double gradients; /* at rest, reduced */
    double gathered;
    double unreduced; /* gradients whole, on their way to be reduced */
    double activations;
    double rebuilt;
    double logits;
    double transient;
    double copies; /* of gradients, for the optimizer */
    double idle;   /* not alive, but in segments too small for what is: kept reserved */
} phase;

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

    if (!c->software->dummy_weight_gradients || sl_adapter_on(&c->workload->adapter))
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
    case SL_RECOMPUTE_OPERATORS:
        return fmin(price->saved_bytes, price->products_bytes);
    default:
        return price->saved_bytes;
    }
}

/* A head that is cut leaves each rank its part of the vocabulary; code that is not told to compute
 * the loss in parts gathers it (torchtitan's fsdp2 is, by default). */
static double
logit_bytes(const sl_memory_case *c)
{
    switch (c->workload->loss) {
    case SL_LOSS_EAGER:
        return eager_logit_bytes *
               (c->workload->framework == SL_FRAMEWORK_MEGATRON ? 1.0 : c->slice->tensor);
    case SL_LOSS_FUSED:
        return fused_logit_bytes;
    case SL_LOSS_CHUNKED:
        return eager_logit_bytes / loss_chunks;
    case SL_LOSS_PARALLEL:
        return eager_logit_bytes;
    default:
        return c->software->logits_peak_bytes;
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
        .elements = sl_states_stage(model, c->prices, stage),
        .gathered = sl_gather_measure(c, stage),
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
            b.widest_gradient =
                fmax(b.widest_gradient, price->largest_gradient_bytes + price->foreign_bytes);
            b.largest_matrix = fmax(b.largest_matrix, price->largest_matrix);
            b.largest_block = fmax(b.largest_block, price->saved_bytes);
            if (price->saved_bytes - kept > b.block_saved - b.block_kept) {
                b.block_saved = price->saved_bytes;
                b.block_kept = kept;
            }
        } else if (k == model->layers[0]) {
            b.ends_saved += b.in_flight * price->saved_bytes;
        } else {
            b.ends_saved += price->saved_bytes;
            b.logits_width = sl_lent_logits(c, price->logits);
            b.logit_bytes = sl_lent_logit_bytes(c, logit_bytes(c));
            b.head_transient =
                hidden_bytes * (c->slice->spread > 1.0 ? 2.0 * c->slice->tensor + 1.0 : 1.0);
        }
    }
    b.recomputed = b.block_saved - b.block_kept;
    if (c->workload->offload.activations && b.blocks_saved > 0.0) {
        /* Two blocks are on their way at a time. */
        const double block = b.blocks_saved / (b.in_flight * stage->blocks);
        b.offloaded = fmax(0.0, b.blocks_saved - 2.0 * block);
    }
    return b;
}

static double
communicator_bytes(const sl_plan *plan, double *count)
{
    const uint64_t shard = plan->shard_group > 0 ? plan->shard_group : plan->data;
    const uint64_t groups[] = {plan->tensor,       plan->pipeline, shard,
                               plan->data / shard, plan->context,  plan->expert};
    double bytes = 0.0;

    *count = 0.0;
    for (uint32_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (groups[i] <= 1)
            continue;
        *count += 1.0;
        bytes += groups[i] == 2 ? pair_communicator_bytes : group_communicator_bytes;
    }
    /* An all-to-all has channels to every peer. */
    return bytes + fmin(exchange_bytes_max, exchange_peer_bytes * (plan->expert - 1.0));
}

static double
at_rest(const rank_bytes *b, const sl_degree *degree)
{
    return sl_states_at_rest(&b->elements, degree);
}

static double
phase_bytes(const phase *p)
{
    return p->gradients + p->gathered + p->unreduced + p->activations + p->rebuilt + p->logits +
           p->transient + p->copies;
}

/* Gradients that are tensors of their own are set to none after a step, and come back as each unit
 * is reduced; Megatron and DDP keep theirs in buffers. */
static bool
gradients_persist(const sl_memory_case *c)
{
    return c->workload->framework == SL_FRAMEWORK_MEGATRON ||
           (c->workload->framework == SL_FRAMEWORK_DDP && c->plan->data > 1) ||
           sl_plan_microbatches(c->workload, c->plan) > 1;
}

static phase
find_peak(const sl_memory_case *c, const rank_bytes *b)
{
    const sl_layout layout = sl_states_layout(c->workload, &b->elements);
    const sl_shards shards = sl_states_shards(c->workload, c->plan);
    const sl_offload *offload = &c->workload->offload;
    /* ZeRO-Offload sends gradients to the host as they are reduced; Megatron's stay where they add
     * up. */
    const bool sent = offload->optimizer && c->workload->framework != SL_FRAMEWORK_MEGATRON;
    const double gradients = sent ? 0.0 : layout.gradient_bytes * at_rest(b, &shards.gradients);
    const double early = gradients_persist(c) ? gradients : 0.0;
    const double activations = b->blocks_saved - b->offloaded + b->ends_saved;
    /* DeepSpeed casts the gradients it reduced in 16 bits for its fp32 step, and so does Megatron with
     * those it reduced in bf16. */
    const bool half =
        c->workload->framework == SL_FRAMEWORK_DEEPSPEED ||
        (c->workload->framework == SL_FRAMEWORK_MEGATRON && c->workload->reduce == SL_WIRE_BF16);
    const bool casts = !offload->optimizer && half && layout.gradient_bytes < layout.master_bytes;
    const double logits = b->logits_width * b->logit_bytes;
    const phase phases[] = {
        {.name = "backward",
         .gradients = early,
         .idle = gradients - early,
         .gathered = b->gathered.backward_bytes,
         .unreduced = b->gathered.backward_gradients,
         .activations = activations,
         .rebuilt = b->recomputed,
         .transient = b->widest_gradient},
        {.name = "head",
         .gradients = early,
         .idle = gradients - early,
         .gathered = b->gathered.head_bytes,
         .unreduced = b->gathered.head_gradients,
         .activations = activations,
         .logits = logits,
         .transient = b->head_transient},
        {.name = "last_backward",
         .gradients = gradients,
         .gathered = b->gathered.backward_bytes,
         .unreduced = b->gathered.backward_gradients,
         .activations = b->largest_block,
         .transient = b->widest_gradient},
        {.name = "last_backward",
         .gradients = gradients,
         .gathered = b->gathered.root_bytes,
         .unreduced = b->gathered.root_gradients,
         .activations = b->ends_saved},
        {.name = "optimizer",
         .gradients = gradients,
         .copies = casts ? layout.master_bytes * at_rest(b, &shards.optimizer) : 0.0},
    };
    phase peak = phases[0];

    /* Of equal ones the head is named: it comes first. */
    if (logits > 0.0 && phase_bytes(&phases[1]) >= phase_bytes(&peak))
        peak = phases[1];
    for (uint32_t i = 2; i < sizeof phases / sizeof phases[0]; i++)
        if (phase_bytes(&phases[i]) > phase_bytes(&peak))
            peak = phases[i];
    return peak;
}

static void
add_states(const sl_memory_case *c, const rank_bytes *b, const phase *p, sl_rank_memory *rank)
{
    const sl_layout layout = sl_states_layout(c->workload, &b->elements);
    const sl_shards shards = sl_states_shards(c->workload, c->plan);
    const double n = b->elements.all;
    const bool ddp = c->workload->framework == SL_FRAMEWORK_DDP;
    const bool replicated = sl_framework_replicates(c->workload->framework);
    /* Autocast keeps a 16-bit copy of weights that are wider. */
    const bool autocast = replicated && layout.parameter_bytes > c->slice->element_bytes;
    const bool frozen = sl_adapter_on(&c->workload->adapter);

    const sl_offload *offload = &c->workload->offload;

    if (!offload->parameters)
        ADD_TERM(rank, SL_TERM_PARAMETERS, layout.parameter_bytes * at_rest(b, &shards.parameters),
                 {"parameters", n}, {"bytes_per_parameter", layout.parameter_bytes},
                 {"shards", shards.parameters.dense}, {"routed_parameters", b->elements.routed},
                 {"routed_shards", shards.parameters.routed});
    ADD_TERM(rank, SL_TERM_GRADIENTS, p->gradients, {"parameters", n},
             {"bytes_per_parameter", layout.gradient_bytes}, {"shards", shards.gradients.dense},
             {"routed_parameters", b->elements.routed}, {"routed_shards", shards.gradients.routed});
    if (!offload->optimizer)
        ADD_TERM(rank, SL_TERM_MASTER_WEIGHTS, layout.master_bytes * at_rest(b, &shards.optimizer),
                 {"parameters", n}, {"bytes_per_parameter", layout.master_bytes},
                 {"shards", shards.optimizer.dense}, {"routed_parameters", b->elements.routed},
                 {"routed_shards", shards.optimizer.routed});
    if (!offload->optimizer)
        ADD_TERM(rank, SL_TERM_OPTIMIZER_STATES,
                 layout.optimizer_bytes * at_rest(b, &shards.optimizer), {"parameters", n},
                 {"bytes_per_parameter", layout.optimizer_bytes},
                 {"shards", shards.optimizer.dense}, {"routed_parameters", b->elements.routed},
                 {"routed_shards", shards.optimizer.routed});
    if (frozen)
        ADD_TERM(rank, SL_TERM_ADAPTERS,
                 sl_states_adapter_bytes(c->workload, &b->elements, &shards),
                 {"parameters", b->elements.adapters}, {"shards", shards.optimizer.dense});
    if (frozen && c->workload->adapter.base != SL_ADAPTER_BASE_BF16)
        ADD_TERM(rank, SL_TERM_DEQUANTIZED, b->largest_matrix * c->slice->element_bytes,
                 {"elements", b->largest_matrix}, {"element_bytes", c->slice->element_bytes});
    if (autocast)
        ADD_TERM(rank, SL_TERM_CACHED_WEIGHTS, n * c->slice->element_bytes, {"parameters", n},
                 {"bytes_per_parameter", c->slice->element_bytes});
    const double low = sl_low_weight_bytes(c->workload, c->slice->accelerator);
    ADD_TERM(rank, SL_TERM_LOW_PRECISION_WEIGHTS, low * b->elements.low,
             {"linear_parameters", b->elements.low}, {"bytes_per_parameter", low});
    if (ddp && c->plan->data > 1)
        ADD_TERM(rank, SL_TERM_GRADIENT_BUCKETS, n * layout.gradient_bytes, {"parameters", n},
                 {"bytes_per_parameter", layout.gradient_bytes});
    ADD_TERM(rank, SL_TERM_REDUCE_BUFFERS, b->gathered.reduce_buffers,
             {"element_bytes", c->slice->element_bytes},
             {"elements", b->gathered.reduce_buffers / c->slice->element_bytes});
    ADD_TERM(rank, SL_TERM_DUMMY_WEIGHT_GRADIENTS, b->dummy_elements * c->slice->element_bytes,
             {"elements", b->dummy_elements}, {"element_bytes", c->slice->element_bytes});
    ADD_TERM(rank, SL_TERM_PIPELINE_BUFFERS, 2.0 * (b->received + b->sent) / c->slice->spread,
             {"received_bytes", b->received}, {"sent_bytes", b->sent},
             {"hidden", (double)c->question->model->hidden}, {"tokens", c->slice->tokens},
             {"element_bytes", c->slice->element_bytes}, {"ranks_sharing", c->slice->spread});
}

/* What is alive at the peak; the states are alive in every phase. */
static void
add_peak_phase(const sl_memory_case *c, const sl_stage *stage, const rank_bytes *b, const phase *p,
               sl_rank_memory *rank)
{
    const sl_layout layout = sl_states_layout(c->workload, &b->elements);
    const sl_shards shards = sl_states_shards(c->workload, c->plan);
    const double n = b->elements.all;
    const double per_block = stage->blocks > 0 && b->in_flight > 0.0
                                 ? b->blocks_saved / b->in_flight / stage->blocks
                                 : 0.0;
    const double row_bytes = c->slice->element_bytes * c->slice->tokens;

    rank->phase = p->name;
    ADD_TERM(rank, SL_TERM_GATHERED_PARAMETERS, p->gathered,
             {"unit_parameters", b->gathered.unit_elements},
             {"root_parameters", b->gathered.root_elements},
             {"element_bytes", c->slice->element_bytes});
    ADD_TERM(rank, SL_TERM_UNSHARDED_GRADIENTS, p->unreduced,
             {"unit_parameters", b->gathered.unit_elements},
             {"element_bytes", c->slice->element_bytes},
             {"reduced_bytes_per_parameter", layout.gradient_bytes});
    ADD_TERM(rank, SL_TERM_ACTIVATIONS, p->activations, {"microbatches_in_flight", b->in_flight},
             {"blocks", stage->blocks}, {"bytes_per_block", per_block},
             {"embedding_and_head_bytes", b->ends_saved}, {"tokens", c->slice->tokens},
             {"tensor", c->slice->tensor}, {"ranks_sharing_norms", c->slice->spread});
    ADD_TERM(rank, SL_TERM_LOGITS, p->logits, {"logits", b->logits_width},
             {"bytes_per_logit", b->logit_bytes});
    ADD_TERM(rank, SL_TERM_RECOMPUTED_BLOCK, p->rebuilt, {"block_bytes", b->block_saved},
             {"kept_bytes", b->block_kept});
    ADD_TERM(rank, SL_TERM_BACKWARD_TRANSIENT, p->transient,
             {"element_bytes", c->slice->element_bytes}, {"tokens", c->slice->tokens},
             {"width", p->transient / row_bytes});
    ADD_TERM(rank, SL_TERM_GRADIENT_COPY, p->copies, {"parameters", n},
             {"bytes_per_parameter", layout.master_bytes}, {"shards", shards.optimizer.dense},
             {"routed_parameters", b->elements.routed}, {"routed_shards", shards.optimizer.routed});
}

static bool
evaluate_rank(const sl_memory_case *c, uint32_t r, sl_rank_memory *rank)
{
    sl_stage stage;
    double communicators = 0.0;
    double allocated = 0.0;

    sl_schedule_stage(c->question->model, c->plan, r, &stage);
    const rank_bytes b = measure_rank(c, &stage, r);
    const phase peak = find_peak(c, &b);

    rank->term_count = 0;
    add_states(c, &b, &peak, rank);
    add_peak_phase(c, &stage, &b, &peak, rank);
    for (uint32_t i = 0; i < rank->term_count; i++)
        allocated += rank->terms[i].value;

    const double outside = context_bytes + ceil(communicator_bytes(c->plan, &communicators));
    ADD_TERM(rank, SL_TERM_FRAGMENTATION,
             allocated * (c->software->fragmentation_ratio - 1.0) + peak.idle,
             {"peak_allocated_bytes", allocated}, {"idle_gradient_bytes", peak.idle},
             {"reserved_over_allocated", c->software->fragmentation_ratio});
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
    const sl_offloaded off = sl_offload_states(c->workload, c->plan, &b.elements);
    rank->host_bytes = (uint64_t)ceil(b.offloaded + off.host_bytes);
    rank->nvme_bytes = (uint64_t)ceil(off.nvme_bytes);
    rank->rank = r * sl_ranks_strides(c->plan).pipeline;
    rank->count = per_stage;
    if (sl_lent_devices(c->workload, c->plan) > 0)
        sl_lent_name(c, rank);
    rank->peak_allocated_bytes = (uint64_t)allocated;
    rank->peak_reserved_bytes = (uint64_t)reserved;
    rank->device_total_bytes = (uint64_t)(reserved + ceil(outside));
    return true;
}

static bool
same_bytes(const sl_rank_memory *a, const sl_rank_memory *b)
{
    if (a->role != b->role || a->term_count != b->term_count || a->host_bytes != b->host_bytes ||
        a->nvme_bytes != b->nvme_bytes)
        return false;
    for (uint32_t i = 0; i < a->term_count; i++)
        if (a->terms[i].id != b->terms[i].id || a->terms[i].value != b->terms[i].value)
            return false;
    return true;
}

/* The devices that DataParallel lends the model to: they have nothing of their own. */
static bool
evaluate_lent(const sl_memory_case *c, sl_memory *out)
{
    static const sl_layout nothing = {0.0, 0.0, 0.0, 0.0};
    sl_workload bare = *c->workload;
    sl_memory_case lent = *c;
    sl_stage stage;

    sl_schedule_stage(c->question->model, c->plan, 0, &stage);
    const sl_elements elements = sl_states_stage(c->question->model, c->prices, &stage);
    const sl_layout layout = sl_states_layout(c->workload, &elements);
    bare.layout = nothing;
    lent.workload = &bare;
    lent.lent = &layout;
    return evaluate_rank(&lent, 0, &out->ranks[out->rank_count++]);
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

    if (sl_lent_devices(c->workload, c->plan) > 0 && !evaluate_lent(c, out))
        return false;

    const sl_rank_memory *fullest = &out->ranks[out->binding];
    uint64_t most = 0;
    uint64_t most_nvme = 0;
    for (uint32_t i = 0; i < out->rank_count; i++) {
        most = out->ranks[i].host_bytes > most ? out->ranks[i].host_bytes : most;
        most_nvme = out->ranks[i].nvme_bytes > most_nvme ? out->ranks[i].nvme_bytes : most_nvme;
    }
    out->host_bytes_per_node = most * c->question->cluster->accelerators_per_node;
    out->nvme_bytes_per_node = most_nvme * c->question->cluster->accelerators_per_node;
    out->headroom_bytes = (int64_t)out->usable_bytes - (int64_t)fullest->device_total_bytes;
    out->reserved_low_bytes = (uint64_t)ceil((double)fullest->peak_allocated_bytes *
                                             c->software->fragmentation_low_ratio);
    out->reserved_high_bytes = (uint64_t)ceil((double)fullest->peak_allocated_bytes *
                                              c->software->fragmentation_high_ratio);
    return true;
}
