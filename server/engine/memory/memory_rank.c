/* What one rank allocates, and the moment of the step when that is most. */
#include "engine/memory/rank_memory.h"

#include <assert.h>
#include <stddef.h>

#include "engine/extremes.h"
#include "engine/memory/loss.h"
#include "engine/memory/offload.h"
#include "engine/placement/adapter.h"
#include "engine/placement/lent.h"
#include "engine/placement/recompute.h"
#include "engine/placement/shapes.h"

/* Whole hidden states alive in the head's backward where they are split: the gathered input and its
 * gradient. Read off published Megatron peaks on B200. */
static const double head_whole_copies = 2.0;

/* What LitGPT's bf16 bases (2023-10, the longest sample first) reserve beyond the ratio of static
 * shapes, the mean of nine rows from 0.12 to 0.51; and the largest of four of five pairs of
 * allocated and reserved peaks of torchtune's unpacked fine-tuning, of all that is no state, the
 * fifth of which has 4.5. */
const double sl_rank_varying_ratio = 0.30;
const double sl_rank_varying_high_ratio = 1.43;

static sl_recomputed
rebuilt_of(const sl_memory_case *c, const sl_stage *stage, uint32_t r, uint32_t kind)
{
    const sl_rerun *again = &c->prices[kind].again;

    if (sl_recompute_each(c->workload))
        return (sl_recomputed){stage->layers[kind], again->kept_bytes, again->live_bytes};

    const sl_held held = sl_schedule_all_held(c->plan, r);
    return sl_recompute_of(c->question->model, c->workload, c->plan, &c->holdings->cut, c->prices,
                           &held, stage, kind);
}

/* What the blocks of one kind add to their rank; returns what those of them that are not rebuilt
 * keep of one micro-batch. */
static double
add_blocks(const sl_memory_case *c, const sl_stage *stage, uint32_t r, uint32_t kind,
           sl_rank_bytes *b)
{
    const sl_kind_price *price = &c->prices[kind];
    const sl_recomputed again = rebuilt_of(c, stage, r, kind);
    const double whole = stage->layers[kind] - again.layers;

    b->blocks_saved += b->in_flight * sl_recompute_saved_bytes(&again, price, stage->layers[kind]);
    b->widest_gradient =
        sl_larger(b->widest_gradient, price->largest_gradient_bytes + price->foreign_bytes);
    b->largest_matrix = sl_larger(b->largest_matrix, price->largest_matrix);
    b->largest_block = sl_larger(b->largest_block, price->saved_bytes);
    b->block_elements = sl_larger(b->block_elements, price->elements);
    b->rebuilds += again.layers;
    if (again.layers > 0.0 && again.live_bytes > b->rebuilt) {
        b->rebuilt = again.live_bytes;
        b->kept = again.kept_bytes;
    }
    return whole * price->saved_bytes;
}

/* The hidden state of one micro-batch, this rank's part. */
static double
hidden_bytes(const sl_memory_case *c)
{
    return c->slice->element_bytes * (double)c->question->model->hidden * c->slice->tokens /
           c->slice->spread;
}

/* A gradient of so many elements beside the one it is added to, where no product adds to that by
 * itself. What Megatron-FSDP copies into buckets is counted with these. */
static double
made_bytes(const sl_memory_case *c, double elements)
{
    if (c->workload->framework != SL_FRAMEWORK_MEGATRON || sl_adapter_on(&c->workload->adapter) ||
        sl_states_gathers_units(c->workload, c->plan))
        return 0.0;
    return (1.0 - c->software->gradient_accumulation_fusion) * c->slice->element_bytes * elements;
}

/* The layer with the loss. */
static void
add_head(const sl_memory_case *c, const sl_kind_price *price, sl_rank_bytes *b)
{
    const double copies = c->slice->spread > 1.0 ? head_whole_copies * c->slice->tensor + 1.0 : 1.0;

    /* Backward follows its last forward at once, but for GPipe's. */
    b->ends_saved += (sl_schedule_holds_all(c->plan) ? b->in_flight : 1.0) * price->saved_bytes;
    b->logits_width = sl_lent_logits(c, price->logits);
    b->logit = sl_loss_logits(c);
    b->head_transient = hidden_bytes(c) * copies;
    b->head_elements = price->logits / c->slice->tokens * (double)c->question->model->hidden;
    b->made_head = made_bytes(c, b->head_elements);
    /* A head in fp32 is multiplied with in 16 bits: autocast keeps that copy for backward. */
    if (sl_adapter_stream_bytes(c->slice) > c->slice->element_bytes)
        b->head_transient += c->slice->element_bytes * b->head_elements;
}

/* What no kind has added to yet. */
static void
begin(const sl_memory_case *c, const sl_holding *holding, const sl_in_flight *in_flight, uint32_t r,
      sl_rank_bytes *b)
{
    b->elements = &holding->elements;
    b->layouts = &holding->layouts;
    b->shards = &c->holdings->shards;
    b->gathered = sl_gather_measure(c, &holding->stage);
    b->in_flight = in_flight->whole;
    b->paired = sl_schedule_trades_places(c->plan) &&
                in_flight->whole < (double)sl_plan_microbatches(c->workload, c->plan);
    b->deferred = 0.0;
    b->received = r > 0 ? sl_memory_sent_bytes(c, r - 1) : 0.0;
    b->sent = r + 1 < c->plan->pipeline ? sl_memory_sent_bytes(c, r) : 0.0;
    b->blocks_saved = b->operands = b->ends_saved = 0.0;
    b->logits_width = b->head_transient = b->head_elements = 0.0;
    b->logit = (sl_logit_bytes){0};
    b->mask_bytes = c->software->masks_whole ? c->slice->tokens * c->slice->sequence : 0.0;
    b->widest_gradient = b->made_gradient = b->made_head = b->largest_matrix = b->largest_block =
        b->block_elements = 0.0;
    b->table_elements = c->question->model->tied && holding->stage.first && holding->stage.last
                            ? c->prices[c->question->model->layers[0]].elements
                            : 0.0;
    b->looked_up =
        holding->stage.first && !c->question->model->tied && !sl_model_is_plain(c->question->model)
            ? c->prices[c->question->model->layers[0]].elements
            : 0.0;
    b->rebuilt = b->kept = b->rebuilds = 0.0;
    b->graph_buffers = b->captured = b->offloaded = 0.0;
}

/* Two blocks at least are there: what is on its way, where all leave. */
static double
offloaded_bytes(const sl_memory_case *c, const sl_stage *stage, const sl_rank_bytes *b)
{
    const double block = b->blocks_saved / stage->blocks;
    const double leaving = sl_offload_leaving(c->workload, stage->blocks);

    return sl_larger(0.0,
                     sl_smaller(leaving * block, b->blocks_saved - 2.0 * block / b->in_flight));
}

sl_chunk_kept
sl_memory_chunk_kept(const sl_memory_case *c, const sl_held *held, const sl_stage *stage)
{
    const sl_model *model = c->question->model;
    sl_chunk_kept out = {.blocks =
                             sl_recompute_stage_bytes(model, c->workload, c->plan,
                                                      &c->holdings->cut, c->prices, held, stage)};

    for (uint32_t k = 0; k < model->kind_count; k++) {
        if (sl_schedule_is_block(model, k))
            out.operands += stage->layers[k] * c->prices[k].operand_bytes;
        else
            out.ends += stage->layers[k] * c->prices[k].saved_bytes;
    }
    return out;
}

static sl_chunk_kept
chunk_kept(const sl_memory_case *c, uint32_t r, uint32_t index)
{
    const sl_held held = {.rank = r, .first = index, .count = 1};
    sl_stage stage;

    sl_schedule_part(c->question->model, c->plan, &c->holdings->cut, &held, &stage);
    return sl_memory_chunk_kept(c, &held, &stage);
}

/* Not all chunks of a rank have as many micro-batches alive, nor are those whole of which gradients
 * of weights wait: of the moments of its order the one that keeps most. `alive`: those of the rank
 * where they are known, else NULL. */
static void
measure_chunks(const sl_memory_case *c, uint32_t r, const sl_alive *alive, sl_rank_bytes *b)
{
    const uint64_t m = sl_plan_microbatches(c->workload, c->plan);
    const uint32_t count = sl_schedule_held(c->plan);
    sl_chunk_kept kept[SL_MODEL_LAYERS_MAX]; /* no chunk is without a layer */
    sl_chunk_bytes bytes[SL_MODEL_LAYERS_MAX];
    sl_alive most[SL_MODEL_LAYERS_MAX];

    for (uint32_t i = 0; i < count; i++) {
        kept[i] = chunk_kept(c, r, i);
        bytes[i] = (sl_chunk_bytes){kept[i].blocks + kept[i].ends, kept[i].operands};
    }
    if (alive == NULL) {
        sl_alive_most(c->plan, m, r, bytes, most);
        alive = most;
    }
    b->in_flight = b->deferred = b->blocks_saved = b->ends_saved = b->operands = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        b->in_flight += alive[i].whole / count;
        b->deferred += alive[i].deferred / count;
        b->blocks_saved += alive[i].whole * kept[i].blocks;
        b->ends_saved += alive[i].whole * kept[i].ends;
        b->operands += alive[i].deferred * kept[i].operands;
    }
}

/* Ranks of the first and the last stage are given the mask; a checkpoint keeps what its blocks were
 * given, until that micro-batch is through (tensor_parallel/random.py). */
static void
keep_masks(const sl_memory_case *c, const sl_stage *stage, sl_rank_bytes *b)
{
    if ((!stage->first && !stage->last) || c->workload->recompute != SL_RECOMPUTE_FULL)
        return;
    b->ends_saved += b->in_flight * b->mask_bytes;
    b->mask_bytes = 0.0;
}

void
sl_rank_measure(const sl_memory_case *c, const sl_in_flight *in_flight, const sl_alive *alive,
                uint32_t r, sl_rank_bytes *out)
{
    const sl_model *model = c->question->model;
    const sl_holding *holding = sl_holding_of(c->holdings, r);
    const sl_stage *stage = &holding->stage;
    double whole_saved = 0.0;
    uint32_t kinds = 0; /* of blocks */
    sl_shapes distinct = {0.0, false};

    begin(c, holding, in_flight, r, out);
    for (uint32_t k = 0; k < model->kind_count; k++) {
        if (stage->layers[k] == 0)
            continue;
        sl_shapes_add(&c->prices[k], &distinct);
        kinds += sl_schedule_is_block(model, k);
        if (sl_schedule_is_block(model, k))
            whole_saved += add_blocks(c, stage, r, k, out);
        else if (k == model->layers[0])
            out->ends_saved += out->in_flight * c->prices[k].saved_bytes;
        else
            add_head(c, &c->prices[k], out);
    }
    out->dummy_elements =
        c->software->gradient_accumulation_fusion *
        (distinct.shared ? sl_shapes_elements(model, c->slice, stage) : distinct.elements);
    out->made_gradient = made_bytes(c, out->largest_matrix);
    /* Blocks that keep everything come last in a chunk: backward is through with them by then. */
    out->freed = whole_saved / sl_schedule_held(c->plan);
    const bool alike = c->holdings->cut.split == SL_SPLIT_BLOCKS && kinds == 1;
    const bool mean = alike && !stage->first && !stage->last; /* of all chunks is each of them */
    if (sl_schedule_splits_backward(c->plan) || (sl_schedule_held(c->plan) > 1 && !mean))
        measure_chunks(c, r, alive, out);
    keep_masks(c, stage, out);
    /* The output of each captured block and micro-batch, which the next one copies; that copy is
     * what it keeps for backward, and gradients share one buffer. */
    if (c->workload->graphs == SL_GRAPHS_LAYER) {
        out->captured = in_flight->whole;
        out->graph_buffers = hidden_bytes(c) * out->captured * stage->blocks;
    }
    if (c->workload->offload.activations && out->blocks_saved > 0.0)
        out->offloaded = offloaded_bytes(c, stage, out);
}

static double
phase_bytes(const sl_rank_phase *p)
{
    return p->gradients + p->gathered + p->unreduced + p->buckets + p->waiting + p->stepped +
           p->activations + p->operands + p->rebuilt + p->logits + p->transient + p->beside +
           p->held + p->made + p->mask + p->copies + p->last + p->lists + p->cached;
}

/* Gradients that are tensors of their own are set to none after a step, and come back as each unit
 * is reduced; Megatron and DDP keep theirs in buffers, and what BF16_Optimizer adds up and what it
 * adds to are set to zero. */
static bool
gradients_persist(const sl_memory_case *c)
{
    return c->workload->framework == SL_FRAMEWORK_MEGATRON || c->software->gradients_stay ||
           sl_states_own_bf16(c->workload, c->plan) ||
           (c->workload->framework == SL_FRAMEWORK_DDP && c->plan->data > 1) ||
           (sl_plan_microbatches(c->workload, c->plan) > 1 &&
            !sl_states_wait(c->workload, c->plan));
}

/* Those of the micro-batches before the last, where it alone reduces. */
static double
waiting_gradients(const sl_memory_case *c, const sl_rank_bytes *b)
{
    sl_layout layout;

    if (!sl_states_wait(c->workload, c->plan))
        return 0.0;
    const sl_elements own = sl_states_trained(c->workload, c->plan, b->elements, &layout);
    return own.all * sl_states_waiting_bytes(c->workload, &layout);
}

/* The ends of backward, where most of what waited is reduced by now; but those of micro-batches
 * before the last reduce nothing, and an embedding may be larger than all that blocks need
 * earlier. */
static void
set_waiting(const sl_rank_bytes *b, double waiting, sl_rank_phase *later, sl_rank_phase *root)
{
    const double each = waiting / sl_larger(1.0, b->elements->all);

    later->waiting = each * (b->gathered.unit_elements + b->gathered.root_elements);
    root->waiting = each * b->gathered.root_elements;
    if (waiting + b->gathered.root_made <= root->gradients + root->waiting + root->unreduced)
        return;
    root->gradients = 0.0;
    root->gathered = b->gathered.root_bytes;
    root->waiting = waiting;
    root->unreduced = b->gathered.root_made;
}

/* 16-bit copies of weights that autocast makes: until forward is through of all that train in
 * replicas, from then on of those that backward reads; of a block that is rebuilt anew. The cache
 * takes neither weights that are frozen nor views, which FSDP hands out (PyTorch autocast_mode.cpp):
 * products keep theirs. */
typedef struct cached {
    double forward;
    double loss;     /* and in the head's backward */
    double backward; /* of a block */
} cached;

static cached
cached_weights(const sl_memory_case *c, const sl_rank_bytes *b)
{
    const bool rebuilt = c->workload->recompute == SL_RECOMPUTE_FULL;
    const double e = c->slice->element_bytes;
    const double head = e * b->head_elements;
    const bool frozen = sl_adapter_on(&c->workload->adapter);
    const bool quantised = frozen && c->workload->adapter.base != SL_ADAPTER_BASE_BF16;
    const bool replicas = sl_framework_replicates(c->workload->framework) && !quantised &&
                          b->layouts->all.parameter_bytes > e;

    if (sl_framework_is_fsdp(c->workload->framework) && sl_slice_autocasts(c->workload)) {
        const double kept = rebuilt ? e * b->gathered.unit_elements + head : e * b->elements->all;
        return (cached){kept, kept, kept};
    }
    if (!replicas)
        return (cached){0.0, 0.0, 0.0};
    /* Products read what is cast; a table that is only looked up in stays as it is. */
    const double all = e * (b->elements->all - b->looked_up);
    if (!rebuilt)
        return (cached){all, all, all};
    return (cached){frozen ? head : all, head, head + e * b->block_elements};
}

/* Beside the states that AdamW steps on: lists as large as one of its two moments. */
static double
step_lists(const sl_memory_case *c, const sl_rank_bytes *b)
{
    const sl_workload *workload = c->workload;
    sl_layout layout;

    if (c->software->step_lists <= 0.0 || workload->optimizer != SL_OPTIMIZER_ADAMW ||
        workload->optimizer_in_backward)
        return 0.0;
    const sl_elements own = sl_states_trained(workload, c->plan, b->elements, &layout);
    return (1.0 - sl_states_away(workload)) * c->software->step_lists *
           sl_states_moment_bytes(&layout) * sl_states_at_rest(&own, &b->shards->optimizer);
}

double
sl_rank_copied_bytes(const sl_memory_case *c, const sl_layout *layout)
{
    const sl_workload *workload = c->workload;
    const bool engine = sl_states_engine(workload, c->plan);
    const bool casts =
        engine || workload->framework == SL_FRAMEWORK_DEEPSPEED || sl_states_sums_half(workload);

    if (sl_states_sums_beside(workload, c->plan, layout))
        return sl_states_cast_bytes(workload, c->plan, layout);
    if (!casts || layout->gradient_bytes >= layout->master_bytes)
        return 0.0;
    return layout->master_bytes + (engine ? layout->gradient_bytes : 0.0);
}

const sl_degree *
sl_rank_copied_over(const sl_memory_case *c, const sl_layout *layout, const sl_shards *shards)
{
    return sl_states_sums_beside(c->workload, c->plan, layout) ? &shards->gradients
                                                               : &shards->optimizer;
}

/* Those of the loss first: where there is none they are neither set nor looked at. Of equal ones the
 * first is named. */
enum {
    PHASE_LOSS,
    PHASE_HEAD,
    PHASE_FORWARD,
    PHASE_BACKWARD,
    PHASE_LATER,
    PHASE_ROOT,
    PHASE_OPTIMIZER,
    PHASES
};

static void
pick_peak(const sl_rank_phase phases[PHASES], uint32_t first, sl_rank_phase *out)
{
    double bytes[PHASES], held = 0.0;
    uint32_t peak = first;

    for (uint32_t i = first; i < PHASES; i++) {
        bytes[i] = phase_bytes(&phases[i]);
        if (bytes[i] > bytes[peak])
            peak = i;
    }
    /* Segments stay: what a smaller phase took of them, with what idled beside it, is there.
     * Nothing idles beside later ones. */
    for (uint32_t i = first; i <= PHASE_BACKWARD; i++)
        held = sl_larger(held, bytes[i] + phases[i].idle - bytes[peak]);

    *out = phases[peak];
    out->idle = sl_larger(out->idle, held);
}

/* Segments that nothing alive fits into [bytes] while the loss is computed. Of FSDP those of the
 * streams that gather and reduce, gradients among them, and those of 16-bit logits that were let go
 * of or of a block that is rebuilt, which are too small for what the loss and the head make. Of replicas those of such a block or, where
 * they take more than activations leave to them, of gradients. DeepSpeed reduces on a stream of its
 * own. */
static double
idle_bytes(const sl_memory_case *c, const sl_rank_bytes *b, double activations, double appearing)
{
    const sl_framework framework = c->workload->framework;
    /* Logits of one chunk fit where a block's were. */
    const double rebuilt = c->slice->entropy.kernels == SL_ENTROPY_CHUNKED ? 0.0 : b->rebuilt;

    if (c->software->traced_sharding)
        return 0.0;
    if (sl_framework_is_fsdp(framework))
        return appearing + b->gathered.root_segments +
               sl_larger(b->logit.idle * b->logits_width, rebuilt);
    if (sl_framework_replicates(framework))
        return sl_larger(rebuilt, appearing - activations);
    return appearing;
}

/* The end of forward, the loss's backward and the head's: all activations are there. */
static void
set_loss_phases(const sl_rank_bytes *b, const cached *copies, const sl_rank_phase *common,
                sl_rank_phase phases[PHASES])
{
    sl_rank_phase *const forward = &phases[PHASE_FORWARD];
    sl_rank_phase *const loss = &phases[PHASE_LOSS];
    sl_rank_phase *const head = &phases[PHASE_HEAD];

    *forward = *loss = *head = *common;
    forward->name = "forward";
    forward->gathered = b->gathered.loss_bytes;
    forward->logits = b->logits_width * b->logit.forward;
    forward->mask = b->mask_bytes;
    forward->cached = copies->forward;
    loss->gathered = b->gathered.loss_bytes;
    loss->buckets = b->gathered.backward_buckets;
    loss->logits = b->logits_width * b->logit.loss;
    loss->cached = copies->loss;
    head->gathered = b->gathered.head_bytes;
    head->idle = sl_larger(0.0, head->idle - b->gathered.head_flat);
    head->unreduced = b->gathered.head_gradients;
    head->buckets = b->gathered.backward_buckets;
    head->stepped = b->gathered.stepped_head;
    head->logits = b->logits_width * b->logit.head;
    head->transient = b->head_transient;
    head->made = b->made_head;
    head->cached = copies->loss;
}

/* Of gradients that queue up as backward goes on, what they take beyond what goes meanwhile of
 * activations and of what is gathered ahead. */
static double
queued_beyond(const sl_rank_bytes *b)
{
    const double kept = b->blocks_saved - b->offloaded;

    return sl_larger(0.0, b->gathered.queued - b->gathered.queued_ended -
                              b->gathered.queued_ratio * kept);
}

/* Of what is common to it and the loss: the backward pass of the last block. */
static void
set_backward(const sl_rank_bytes *b, const cached *copies, double idle, sl_rank_phase *phase)
{
    phase->name = "backward";
    /* A block that runs forward beside it is there before the one goes whose place it takes. */
    phase->beside = b->paired ? b->largest_block : 0.0;
    phase->idle = idle;
    phase->gathered = b->gathered.backward_bytes;
    phase->unreduced =
        b->gathered.backward_gradients + b->gathered.backward_reduced + queued_beyond(b);
    phase->buckets = b->gathered.backward_buckets;
    phase->stepped = b->gathered.stepped_block;
    phase->rebuilt = sl_larger(0.0, b->rebuilt - b->freed);
    phase->transient = b->widest_gradient;
    phase->made = b->made_gradient;
    phase->cached = copies->backward;
}

/* Inputs and gradients that FSDP1 holds are all there in the backward of the first block, ahead of
 * which nothing is gathered. */
static void
keep_inputs(const sl_rank_bytes *b, sl_rank_phase *phase)
{
    phase->kept = SL_KEPT_INPUTS;
    phase->gathered -= b->gathered.beside_bytes;
    phase->activations = b->rebuilds * b->kept;
    phase->rebuilt = b->rebuilt;
    phase->held = (b->rebuilds - 1.0) * b->kept;
}

/* Of what forward left: the backward pass of the first block, when all others are reduced. */
static void
set_later(const sl_memory_case *c, const sl_rank_bytes *b, bool appear, sl_rank_phase *phase)
{
    phase->kept = SL_KEPT_LAST_BLOCK;
    phase->gradients -= appear ? b->gathered.root_reduced : 0.0;
    phase->gathered = b->gathered.backward_bytes - b->gathered.queued_ended;
    phase->unreduced = b->gathered.backward_gradients + b->gathered.queued +
                       (appear ? 0.0 : b->gathered.backward_reduced);
    phase->buckets = b->gathered.backward_buckets;
    phase->activations = b->largest_block;
    phase->operands = b->operands;
    phase->transient = b->widest_gradient;
    if (sl_recompute_holds_inputs(c->workload, c->plan, c->software) && b->rebuilds > 1.0)
        keep_inputs(b, phase);
}

/* ... and the very end, when the root unit's gradients are. */
static void
set_root(const sl_memory_case *c, const sl_rank_bytes *b, bool appear, sl_rank_phase *phase)
{
    phase->kept = SL_KEPT_ENDS;
    phase->gathered = b->gathered.root_bytes - b->gathered.root_let_go;
    phase->unreduced = b->gathered.root_gradients + (appear ? 0.0 : b->gathered.root_reduced);
    phase->buckets = b->gathered.backward_buckets;
    phase->stepped = b->gathered.stepped_root;
    phase->activations = b->ends_saved;
    phase->operands = b->operands;
    /* Gradients of the two ends of a tied table are added up into a third. */
    if (sl_framework_replicates(c->workload->framework))
        phase->unreduced += 2.0 * b->layouts->all.gradient_bytes * b->table_elements;
}

/* What the step before left: a copy goes when the next one takes its name, a gradient before that.
 * Beside the first micro-batch's forward those stand for the new ones. */
static void
keep_stepped(const sl_memory_case *c, double copies, double gradients, uint32_t first,
             sl_rank_phase phases[PHASES])
{
    const bool alone = sl_plan_microbatches(c->workload, c->plan) == 1;

    for (uint32_t i = first; i < PHASE_OPTIMIZER; i++) {
        phases[i].copies = copies;
        phases[i].last = alone && i < PHASE_BACKWARD ? 0.0 : gradients;
    }
}

void
sl_rank_peak(const sl_memory_case *c, const sl_rank_bytes *b, sl_rank_phase *out)
{
    const sl_layout *layout = &b->layouts->all;
    const sl_shards *shards = b->shards;
    const sl_offload *offload = &c->workload->offload;
    /* ZeRO-Offload sends gradients to the host as they are reduced; Megatron's stay where they add
     * up. */
    const bool sent = offload->optimizer && c->workload->framework != SL_FRAMEWORK_MEGATRON;
    const double gradients =
        sent || c->workload->optimizer_in_backward
            ? 0.0
            : layout->gradient_bytes * sl_states_at_rest(b->elements, &shards->gradients);
    const double early = gradients_persist(c) ? gradients : 0.0;
    const double waiting = waiting_gradients(c, b);
    /* What is reduced then becomes the gradient itself, where it else is added to one. */
    const bool appear = gradients > early;
    const double activations = b->blocks_saved - b->offloaded + b->ends_saved;
    const double stepped = (1.0 - sl_states_away(c->workload)) * sl_rank_copied_bytes(c, layout) *
                           sl_states_at_rest(b->elements, sl_rank_copied_over(c, layout, shards));
    /* The engine's copies and buckets are each larger than what backward leaves free. */
    const bool apart = sl_states_engine(c->workload, c->plan) ||
                       sl_states_sums_beside(c->workload, c->plan, layout);
    const double idle = apart ? stepped + b->gathered.passing_buffers : 0.0;
    const cached copies = cached_weights(c, b);
    const sl_rank_phase common = {.name = "head",
                                  .gradients = early,
                                  .idle = idle + idle_bytes(c, b, activations, gradients - early),
                                  .waiting = waiting,
                                  .activations = activations,
                                  .operands = b->operands};
    sl_rank_phase behind = common; /* what forward left */
    behind.name = "last_backward";
    behind.gradients = gradients;
    behind.idle = behind.waiting = behind.activations = behind.operands = 0.0;
    const bool has_loss = b->logits_width * b->logit.loss > 0.0;
    const uint32_t first = has_loss ? PHASE_LOSS : PHASE_BACKWARD;
    /* Copied: cleared as a whole, or each, they are the dearest of it all. */
    sl_rank_phase phases[PHASES];

    if (has_loss)
        set_loss_phases(b, &copies, &common, phases);
    phases[PHASE_BACKWARD] = common;
    set_backward(b, &copies, sl_smaller(common.idle, idle + gradients - early),
                 &phases[PHASE_BACKWARD]);
    phases[PHASE_LATER] = phases[PHASE_ROOT] = behind;
    set_later(c, b, appear, &phases[PHASE_LATER]);
    set_root(c, b, appear, &phases[PHASE_ROOT]);
    for (uint32_t i = first; i <= PHASE_BACKWARD && c->workload->lengths_vary; i++)
        phases[i].idle += sl_rank_varying_ratio * sl_rank_token_bytes(&phases[i]);
    if (waiting > 0.0)
        set_waiting(b, waiting, &phases[PHASE_LATER], &phases[PHASE_ROOT]);
    phases[PHASE_OPTIMIZER] = behind;
    phases[PHASE_OPTIMIZER].name = "optimizer";
    phases[PHASE_OPTIMIZER].copies = stepped;
    if (c->software->stepped_stay && stepped > 0.0)
        keep_stepped(c, stepped, gradients, first, phases);
    phases[PHASE_OPTIMIZER].lists = step_lists(c, b);

    pick_peak(phases, first, out);
}
