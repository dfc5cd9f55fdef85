#include "engine/memory.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/adapter.h"
#include "engine/gather.h"
#include "engine/host.h"
#include "engine/lent.h"
#include "engine/low_precision.h"
#include "engine/offload.h"
#include "engine/ranks.h"
#include "engine/recompute.h"
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

/* Bytes of an eager loss, per logit at its peak: the 16-bit logits, their fp32 copy, log-softmax
 * and its gradient. Other losses are the profile's. */
static const double eager_logit_bytes = 14.0;

/* Whole hidden states alive in the head's backward where they are split: the gathered input and its
 * gradient. Read off published Megatron peaks on B200. */
static const double head_whole_copies = 2.0;

/* What one rank allocates, before it becomes terms. */
typedef struct rank_bytes {
    sl_elements elements;
    sl_layout layout;
    sl_shards shards;
    sl_gathered gathered;
    double in_flight; /* micro-batches */
    double deferred;  /* micro-batches whose gradients of weights wait beside them */
    double turning;   /* micro-batches in flight that come down to that */
    double blocks_saved;
    double operands;   /* of blocks, what those gradients wait with */
    double ends_saved; /* embedding and head */
    double logits_width;
    double logit_bytes;
    double head_transient;
    double widest_gradient;
    double dummy_elements;
    double largest_matrix; /* elements, on this rank */
    double received, sent; /* of one micro-batch, from and to the stages beside it */
    double rebuilt, kept;  /* beside and by the block that rebuilds most */
    double freed;          /* before it, of the same micro-batch */
    double largest_block;  /* what one block saves */
    double graph_buffers;
    double offloaded; /* of blocks_saved, what is in the host's memory */
} rank_bytes;

/* What lives beside states and buffers at one moment of the step. */
typedef struct phase {
    const char *name;
    double gradients; /* at rest, reduced */
    double gathered;
    double unreduced; /* gradients whole, on their way to be reduced */
    double stepped;   /* gradients that the optimizer is stepping on */
    double activations;
    double operands; /* of gradients of weights that wait */
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

    if (!sl_model_is_plain(c->question->model)) /* every layer passes on the hidden state */
        return c->prices[0].output_bytes;
    for (uint32_t i = 0; i < sl_schedule_held(plan); i++) {
        const uint32_t chunk = sl_schedule_crossing(plan, rank, i);
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
        return c->software->fused_logits_peak_bytes;
    case SL_LOSS_CHUNKED:
        return c->software->chunked_logits_peak_bytes;
    case SL_LOSS_PARALLEL:
        return eager_logit_bytes;
    case SL_LOSS_CUT: /* Wijmans 2024: a row keeps its log-sum-exp, which is nothing beside it */
        return 0.0;
    default:
        return c->workload->compile && c->software->loss_compiled
                   ? c->software->fused_logits_peak_bytes
                   : c->software->logits_peak_bytes;
    }
}

static rank_bytes
measure_rank(const sl_memory_case *c, const sl_stage *stage, uint32_t r)
{
    const sl_model *model = c->question->model;
    const sl_plan *plan = c->plan;
    const uint64_t m = sl_plan_microbatches(c->workload, plan);
    const sl_in_flight in_flight = sl_schedule_in_flight(plan, m, r);
    const double hidden_bytes =
        c->slice->element_bytes * (double)model->hidden * c->slice->tokens / c->slice->spread;
    rank_bytes b = {
        .elements = sl_states_stage(model, c->prices, stage),
        .shards = sl_states_shards(c->workload, plan),
        .gathered = sl_gather_measure(c, stage),
        .in_flight = in_flight.whole,
        .deferred = in_flight.deferred,
        .turning = in_flight.turning,
        .dummy_elements = dummy_gradient_elements(c, stage),
        .received = r > 0 ? sl_memory_sent_bytes(c, r - 1) : 0.0,
        .sent = r + 1 < plan->pipeline ? sl_memory_sent_bytes(c, r) : 0.0,
    };
    double whole_saved = 0.0;

    b.layout = sl_states_layout(c->workload, &b.elements);
    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_kind_price *price = &c->prices[k];
        if (stage->layers[k] == 0)
            continue;
        if (sl_schedule_is_block(model, k)) {
            const sl_recomputed again =
                sl_recompute_of(model, c->workload, plan, c->prices, r, stage, k);
            const double whole = stage->layers[k] - again.layers;
            b.blocks_saved +=
                b.in_flight * (again.layers * again.kept_bytes + whole * price->saved_bytes);
            whole_saved += whole * price->saved_bytes;
            b.operands +=
                b.deferred * stage->layers[k] * price->operand_bytes +
                b.turning * (again.layers * fmax(0.0, price->operand_bytes - again.kept_bytes) +
                             whole * fmax(0.0, price->operand_bytes - price->saved_bytes));
            b.widest_gradient =
                fmax(b.widest_gradient, price->largest_gradient_bytes + price->foreign_bytes);
            b.largest_matrix = fmax(b.largest_matrix, price->largest_matrix);
            b.largest_block = fmax(b.largest_block, price->saved_bytes);
            if (again.layers > 0.0 && again.live_bytes > b.rebuilt) {
                b.rebuilt = again.live_bytes;
                b.kept = again.kept_bytes;
            }
        } else if (k == model->layers[0]) {
            b.ends_saved += b.in_flight * price->saved_bytes;
        } else {
            b.ends_saved += price->saved_bytes;
            b.logits_width = sl_lent_logits(c, price->logits);
            b.logit_bytes = sl_lent_logit_bytes(c, logit_bytes(c));
            b.head_transient =
                hidden_bytes *
                (c->slice->spread > 1.0 ? head_whole_copies * c->slice->tensor + 1.0 : 1.0);
            /* A head in fp32 is multiplied with in 16 bits: autocast keeps that copy for backward. */
            if (sl_adapter_stream_bytes(c->slice) > c->slice->element_bytes)
                b.head_transient += c->slice->element_bytes * price->logits / c->slice->tokens *
                                    (double)model->hidden;
        }
    }
    /* Copies into each captured block and micro-batch, and of the gradient out of it. */
    if (c->workload->graphs == SL_GRAPHS_LAYER)
        b.graph_buffers = 2.0 * hidden_bytes * b.in_flight * stage->blocks;
    /* Blocks that keep everything come last in a chunk: backward is through with them by then. */
    b.freed = whole_saved / sl_schedule_held(plan);
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
    return p->gradients + p->gathered + p->unreduced + p->stepped + p->activations + p->operands +
           p->rebuilt + p->logits + p->transient + p->copies;
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
    const sl_layout layout = b->layout;
    const sl_shards shards = b->shards;
    const sl_offload *offload = &c->workload->offload;
    /* ZeRO-Offload sends gradients to the host as they are reduced; Megatron's stay where they add
     * up. */
    const bool sent = offload->optimizer && c->workload->framework != SL_FRAMEWORK_MEGATRON;
    const double gradients = sent || c->workload->optimizer_in_backward
                                 ? 0.0
                                 : layout.gradient_bytes * at_rest(b, &shards.gradients);
    const double early = gradients_persist(c) ? gradients : 0.0;
    /* What is reduced then becomes the gradient itself, where it else is added to one. */
    const bool appear = gradients > early;
    /* Reduced on a stream of their own, they leave segments that computing cannot take. */
    const double idle = c->software->traced_sharding ? 0.0 : gradients - early;
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
         .idle = idle,
         .gathered = b->gathered.backward_bytes,
         .unreduced = b->gathered.backward_gradients + b->gathered.backward_reduced,
         .stepped = b->gathered.stepped_block,
         .activations = activations,
         .operands = b->operands,
         .rebuilt = fmax(0.0, b->rebuilt - b->freed),
         .transient = b->widest_gradient},
        {.name = "head",
         .gradients = early,
         .idle = idle,
         .gathered = b->gathered.head_bytes,
         .unreduced = b->gathered.head_gradients,
         .stepped = b->gathered.stepped_head,
         .activations = activations,
         .operands = b->operands,
         .logits = logits,
         .transient = b->head_transient},
        {.name = "last_backward",
         .gradients = gradients - (appear ? b->gathered.root_reduced : 0.0),
         .gathered = b->gathered.backward_bytes,
         .unreduced =
             b->gathered.backward_gradients + (appear ? 0.0 : b->gathered.backward_reduced),
         .activations = b->largest_block,
         .operands = b->operands,
         .transient = b->widest_gradient},
        {.name = "last_backward",
         .gradients = gradients,
         .gathered = b->gathered.root_bytes,
         .unreduced = b->gathered.root_gradients + (appear ? 0.0 : b->gathered.root_reduced),
         .stepped = b->gathered.stepped_root,
         .activations = b->ends_saved,
         .operands = b->operands},
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
    const sl_layout layout = b->layout;
    const sl_shards shards = b->shards;
    const double n = b->elements.all;
    const bool ddp = c->workload->framework == SL_FRAMEWORK_DDP;
    const bool replicated = sl_framework_replicates(c->workload->framework);
    /* Autocast keeps a 16-bit copy of weights that are wider, and train. */
    const bool frozen = sl_adapter_on(&c->workload->adapter);
    const bool autocast = replicated && !frozen && layout.parameter_bytes > c->slice->element_bytes;

    const sl_offload *offload = &c->workload->offload;
    const double directions = sl_schedule_directions(c->plan);
    const double parameters =
        sl_states_parameter_bytes(c->workload, &b->elements, &shards.parameters);
    const double optimizer =
        sl_states_optimizer_bytes(c->workload, &b->elements, &shards.optimizer);

    if (!offload->parameters)
        ADD_TERM(rank, SL_TERM_PARAMETERS, parameters, {"parameters", n},
                 {"bytes_per_parameter", parameters / at_rest(b, &shards.parameters)},
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
        ADD_TERM(rank, SL_TERM_OPTIMIZER_STATES, optimizer, {"parameters", n},
                 {"bytes_per_parameter", optimizer / at_rest(b, &shards.optimizer)},
                 {"shards", shards.optimizer.dense}, {"routed_parameters", b->elements.routed},
                 {"routed_shards", shards.optimizer.routed});
    if (frozen)
        ADD_TERM(rank, SL_TERM_ADAPTERS,
                 sl_states_adapter_bytes(c->workload, &b->elements, &shards),
                 {"parameters", b->elements.adapters}, {"frozen", b->elements.frozen_adapters},
                 {"element_bytes", sl_adapter_element_bytes(&c->workload->adapter)},
                 {"shards", shards.optimizer.dense});
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
    ADD_TERM(rank, SL_TERM_GRAPH_BUFFERS, b->graph_buffers,
             {"microbatches_in_flight", b->in_flight},
             {"hidden", (double)c->question->model->hidden}, {"tokens", c->slice->tokens},
             {"element_bytes", c->slice->element_bytes}, {"ranks_sharing", c->slice->spread});
    ADD_TERM(rank, SL_TERM_DUMMY_WEIGHT_GRADIENTS, b->dummy_elements * c->slice->element_bytes,
             {"elements", b->dummy_elements}, {"element_bytes", c->slice->element_bytes});
    ADD_TERM(rank, SL_TERM_PIPELINE_BUFFERS,
             2.0 * directions * (b->received + b->sent) / c->slice->spread,
             {"directions", directions}, {"received_bytes", b->received}, {"sent_bytes", b->sent},
             {"hidden", (double)c->question->model->hidden}, {"tokens", c->slice->tokens},
             {"element_bytes", c->slice->element_bytes}, {"ranks_sharing", c->slice->spread});
}

/* What is alive at the peak; the states are alive in every phase. */
static void
add_peak_phase(const sl_memory_case *c, const sl_stage *stage, const rank_bytes *b, const phase *p,
               sl_rank_memory *rank)
{
    const sl_layout layout = b->layout;
    const sl_shards shards = b->shards;
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
    ADD_TERM(rank, SL_TERM_STEPPED_GRADIENT, p->stepped,
             {"elements", p->stepped / fmax(1.0, layout.gradient_bytes)},
             {"bytes_per_parameter", layout.gradient_bytes});
    ADD_TERM(rank, SL_TERM_ACTIVATIONS, p->activations, {"microbatches_in_flight", b->in_flight},
             {"blocks", stage->blocks}, {"bytes_per_block", per_block},
             {"embedding_and_head_bytes", b->ends_saved}, {"tokens", c->slice->tokens},
             {"tensor", c->slice->tensor}, {"ranks_sharing_norms", c->slice->spread});
    ADD_TERM(rank, SL_TERM_WEIGHT_OPERANDS, p->operands, {"microbatches_deferred", b->deferred},
             {"microbatches_turning", b->turning}, {"blocks", stage->blocks},
             {"kept_bytes_per_block", per_block}, {"tokens", c->slice->tokens},
             {"tensor", c->slice->tensor});
    ADD_TERM(rank, SL_TERM_LOGITS, p->logits, {"logits", b->logits_width},
             {"bytes_per_logit", b->logit_bytes});
    ADD_TERM(rank, SL_TERM_RECOMPUTED_BLOCK, p->rebuilt, {"block_bytes", b->rebuilt + b->kept},
             {"kept_bytes", b->kept}, {"freed_bytes", b->freed});
    ADD_TERM(rank, SL_TERM_BACKWARD_TRANSIENT, p->transient,
             {"element_bytes", c->slice->element_bytes}, {"tokens", c->slice->tokens},
             {"width", p->transient / row_bytes});
    ADD_TERM(rank, SL_TERM_GRADIENT_COPY, p->copies, {"parameters", n},
             {"bytes_per_parameter", layout.master_bytes}, {"shards", shards.optimizer.dense},
             {"routed_parameters", b->elements.routed}, {"routed_shards", shards.optimizer.routed});
}

static bool
evaluate_rank(const sl_memory_case *c, const sl_stage *stage, uint32_t r, sl_rank_memory *rank)
{
    double communicators = 0.0;
    double allocated = 0.0;
    const rank_bytes b = measure_rank(c, stage, r);
    const phase peak = find_peak(c, &b);

    rank->term_count = 0;
    add_states(c, &b, &peak, rank);
    add_peak_phase(c, stage, &b, &peak, rank);
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
    rank->role = c->plan->pipeline == 1        ? "only stage"
                 : stage->first && stage->last ? "first and last stage"
                 : stage->first                ? "first stage"
                 : stage->last                 ? "last stage"
                                               : "middle stage";
    rank->first_stage = r;
    rank->stage_count = 1;
    const sl_offloaded off = sl_offload_states(c->workload, c->plan, &b.elements);
    rank->host_bytes =
        (uint64_t)ceil(b.offloaded + off.host_bytes + sl_host_bytes(c, r, b.in_flight));
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

/* Stages follow one another over the nodes: where a node holds several whole ones, theirs add up. */
static void
add_host_bytes(const sl_memory_case *c, uint32_t r, uint64_t bytes, uint64_t *in_node,
               sl_memory *out)
{
    const uint64_t per_node = c->question->cluster->accelerators_per_node;
    const uint64_t per_stage = sl_plan_world(c->plan) / c->plan->pipeline;
    const bool several = per_stage < per_node && per_node % per_stage == 0;

    if (!several || r * per_stage % per_node == 0)
        *in_node = 0;
    *in_node += (several ? per_stage : per_node) * bytes;
    if (*in_node > out->host_bytes_per_node)
        out->host_bytes_per_node = *in_node;
}

/* Whether a stage needs no more than the one before: it holds the same, and keeps no more alive. What
 * is in the host adds up over stages: then none is left out. */
static bool
is_less(const sl_memory_case *c, uint32_t r, const sl_stage *stage, const sl_stage *before)
{
    const sl_model *model = c->question->model;
    const sl_offload *offload = &c->workload->offload;
    const uint64_t m = sl_plan_microbatches(c->workload, c->plan);
    const sl_in_flight here = sl_schedule_in_flight(c->plan, m, r);
    const sl_in_flight before_it = sl_schedule_in_flight(c->plan, m, r - 1);

    return here.whole <= before_it.whole && here.deferred <= before_it.deferred &&
           here.turning == before_it.turning && !offload->optimizer && !offload->parameters &&
           !offload->activations && c->plan->host_run_count == 0 && !sl_model_is_plain(model) &&
           stage->first == before->first && stage->last == before->last &&
           memcmp(stage->layers, before->layers, model->kind_count * sizeof stage->layers[0]) == 0;
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
    return evaluate_rank(&lent, &stage, 0, &out->ranks[out->rank_count++]);
}

bool
sl_memory_evaluate(const sl_memory_case *c, sl_memory *out)
{
    const sl_accelerator *part = &c->question->cluster->accelerator;
    sl_stage stages[2]; /* at hand, and before */

    uint64_t in_node = 0;

    assert(c->plan->pipeline <= SL_PIPELINE_MAX);
    out->capacity_bytes = part->memory_bytes;
    out->usable_bytes =
        part->memory_bytes > part->reserved_bytes ? part->memory_bytes - part->reserved_bytes : 0;
    out->rank_count = 0;
    out->binding = 0;
    out->host_bytes_per_node = 0;
    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_rank_memory *rank = &out->ranks[out->rank_count];
        const sl_stage *stage = &stages[r % 2];

        sl_schedule_stage(c->question->model, c->plan, r, &stages[r % 2]);
        if (c->fullest_only && r > 0 && is_less(c, r, stage, &stages[(r + 1) % 2]))
            continue;
        if (!evaluate_rank(c, stage, r, rank))
            return false;
        add_host_bytes(c, r, rank->host_bytes, &in_node, out);
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
    uint64_t most_nvme = 0;
    for (uint32_t i = 0; i < out->rank_count; i++)
        most_nvme = out->ranks[i].nvme_bytes > most_nvme ? out->ranks[i].nvme_bytes : most_nvme;
    out->nvme_bytes_per_node = most_nvme * c->question->cluster->accelerators_per_node;
    out->headroom_bytes = (int64_t)out->usable_bytes - (int64_t)fullest->device_total_bytes;
    /* What does not follow the ratio, segments of freed gradients, is at both ends. */
    const sl_software *software = c->software;
    const double allocated = (double)fullest->peak_allocated_bytes;
    const double reserved = (double)fullest->peak_reserved_bytes;
    const double below = software->fragmentation_ratio - software->fragmentation_low_ratio;
    const double above = software->fragmentation_high_ratio - software->fragmentation_ratio;
    out->reserved_low_bytes = (uint64_t)ceil(reserved - allocated * below);
    out->reserved_high_bytes = (uint64_t)ceil(reserved + allocated * above);
    return true;
}
