#include "engine/placement/gather.h"

#include <math.h>

#include "engine/extremes.h"
#include "engine/links/lists.h"
#include "engine/placement/adapter.h"
#include "engine/placement/lent.h"
#include "engine/placement/unit.h"

/* Defaults of DeepSpeed's zero_optimization. */
static const double bucket_elements = 5e8;
static const double live_elements_max = 1e9;

/* Of Megatron-FSDP (suggested_communication_unit_size, at least). */
static const double queue_elements = 1e9;

static const double megatron_bucket_elements = 4e7;
static const double megatron_bucket_elements_per_rank = 1e6;
static const double ddp_bucket_bytes = 25.0 * 1048576.0;

typedef struct units {
    double largest, root, all; /* as gathered and sent to be reduced */
    double routed;             /* of the largest */
    double largest_made;       /* as autograd makes their gradients, without empty rows: */
    double root_made, head;
    double ends; /* of the root, embedding and head */
    uint32_t largest_kind;
} units;

/* One layer of a kind. */
static sl_unit_block
block_of(const sl_memory_case *c, uint32_t kind, double *routed)
{
    const sl_kind_price *price = &c->prices[kind];
    const sl_degree over = c->holdings->padded;
    const sl_padding *padding = &c->holdings->kinds[kind];
    const double empty = over.dense > 0.0 ? over.routed * padding->routed : 0.0;

    *routed = price->routed_elements + empty;
    return (sl_unit_block){
        .elements = price->elements,
        .sent = over.dense > 0.0 ? price->elements + over.dense * padding->dense + empty
                                 : price->elements,
        .over = over,
    };
}

static units
measure_units(const sl_memory_case *c, const sl_stage *stage)
{
    const sl_model *model = c->question->model;
    static const sl_unit blocks = {.kind = SL_UNIT_BLOCK}; /* a graph wraps nothing else */
    const sl_unit *unit = c->software->traced_sharding ? &blocks : &c->plan->unit;
    units u = {0};

    for (uint32_t k = 0; k < model->kind_count; k++) {
        const double layers = stage->layers[k];
        double routed = 0.0;
        if (layers == 0.0)
            continue;
        const sl_unit_block block = block_of(c, k, &routed);
        u.all += layers * block.sent;
        if (sl_schedule_is_block(model, k)) {
            const sl_unit_split split = sl_unit_of(unit, c->slice, &model->kinds[k], &block);
            u.root += layers * split.root_sent;
            u.root_made += layers * split.root;
            if (split.largest > u.largest_made) {
                u.largest = split.largest_sent;
                u.largest_made = split.largest;
                u.largest_kind = k;
                u.routed = sl_smaller(split.largest_sent, routed);
            }
        } else {
            u.root += layers * block.sent;
            u.root_made += layers * block.elements;
            u.ends += layers * block.elements;
        }
        if (!sl_schedule_is_block(model, k) && k != model->layers[0])
            u.head += layers * block.elements;
    }
    return u;
}

/* A rank that holds both ends of a tied pair has one table: the head's gradient is as wide as
 * it. */
static double
head_elements(const sl_memory_case *c, const sl_stage *stage, const units *u)
{
    const bool one_table = c->question->model->tied && stage->first && stage->last;

    return one_table ? u->ends : stage->last ? u->head : 0.0;
}

/* Elements of the root unit that are still gathered when the loss is computed: what its own forward
 * does not let go of. That is all of it in FSDP1, and wherever units stay: a root that is not to be
 * resharded never was (PyTorch's pull requests 154704 and 155319), and torchtitan tells it what it
 * tells the blocks. */
static double
root_left(const sl_memory_case *c, const units *u, double head)
{
    if (c->workload->framework == SL_FRAMEWORK_FSDP1 || !sl_states_reshards(c->workload, c->plan))
        return u->root;
    if (c->plan->reshard == SL_RESHARD_ALWAYS || c->software->root_keeps == SL_ROOT_KEEPS_NONE)
        return 0.0;
    return c->software->root_keeps == SL_ROOT_KEEPS_HEAD ? head : u->root;
}

/* Elements of a kind's unit that are gathered together; 0 of what is no block, or not on the stage. */
static double
unit_elements(const sl_memory_case *c, const sl_stage *stage, uint32_t kind)
{
    const sl_model *model = c->question->model;
    double routed = 0.0;

    if (stage->layers[kind] == 0 || !sl_schedule_is_block(model, kind))
        return 0.0;
    const sl_unit_block block = block_of(c, kind, &routed);
    return sl_unit_of(&c->plan->unit, c->slice, &model->kinds[kind], &block).largest_sent;
}

/* The largest unit next to one of the largest kind, which is gathered while that is in use. Units
 * that are modules of blocks have others of their kind beside them. */
static double
neighbour_elements(const sl_memory_case *c, const sl_stage *stage, const units *u)
{
    const sl_model *model = c->question->model;
    const uint32_t kind = u->largest_kind;
    double most = 0.0;

    if (u->all - u->root <= u->largest)
        return 0.0;
    if (c->plan->unit.kind == SL_UNIT_BY_MODULE || stage->layers[kind] == stage->blocks ||
        model->beside[kind] > 1)
        return u->largest;
    for (uint32_t i = 0; i + 1 < model->layer_count; i++) {
        if (model->layers[i] == kind)
            most = sl_larger(most, unit_elements(c, stage, model->layers[i + 1]));
        if (model->layers[i + 1] == kind)
            most = sl_larger(most, unit_elements(c, stage, model->layers[i]));
    }
    return sl_smaller(most, u->largest);
}

/* Gradients as autograd made them [bytes], and the reduction's input. */
static double
whole_gradients(const sl_memory_case *c, double made, double input)
{
    return sl_states_wait(c->workload, c->plan) ? sl_larger(made, input) : made + input;
}

/* Units as they are computed with. What no rank divides is gathered from nowhere: FSDP 1's no_shard
 * casts a unit when it begins and lets go of it when it ends, in forward as in backward
 * (_flat_param.py, post_reshard), unless it is as wide already. */
static void
measure_units_in_use(const sl_memory_case *c, const sl_stage *stage, const units *u,
                     const sl_layout *layout, sl_gathered *out)
{
    const bool divided = sl_states_divides_parameters(c->workload, c->plan);
    const double kept = sl_states_gather_bytes(c->workload, layout, false);
    const double wire = sl_states_gather_bytes(c->workload, layout, true);
    const bool frozen = sl_adapter_on(&c->workload->adapter);
    /* Quantised layers are gathered as they are stored, and unpacked one by one. */
    const double element = frozen ? sl_smaller(wire, sl_states_base_bytes(c->workload)) : wire;
    const double copies = c->workload->framework == SL_FRAMEWORK_FSDP2 ? 1.0 : 0.0;
    const double beside = neighbour_elements(c, stage, u);
    const double copied = beside > 0.0 ? copies * u->largest : 0.0;
    const bool passing = sl_states_reshards(c->workload, c->plan) || !divided;

    if (!divided &&
        (c->workload->framework != SL_FRAMEWORK_FSDP1 || kept >= layout->parameter_bytes))
        return;
    /* fully_shard does not let go of the last block, since backward begins with it, unless all are
     * told to. */
    const bool lets_go =
        c->plan->reshard == SL_RESHARD_ALWAYS || c->workload->framework == SL_FRAMEWORK_FSDP1;
    const double last = lets_go ? 0.0 : element * u->largest;

    out->loss_bytes = kept * root_left(c, u, head_elements(c, stage, u));
    if (passing) {
        out->beside_elements = beside;
        out->beside_bytes = element * beside;
        out->loss_bytes += last;
        out->head_flat = copies * kept * u->root;
        out->head_bytes = kept * u->root + out->head_flat + element * u->largest;
        out->backward_bytes = kept * u->root + element * (u->largest + copied + beside);
    } else {
        out->loss_bytes += element * (u->all - u->root);
        out->head_bytes = out->backward_bytes = kept * u->root + element * (u->all - u->root);
    }
    /* Where units stay gathered their tensors take the place of the root's flat copy. */
    out->root_segments = passing ? kept * u->root : 0.0;
    out->root_bytes = kept * u->root;
}

static void
measure_fsdp(const sl_memory_case *c, const sl_stage *stage, const units *u, sl_gathered *out)
{
    const sl_elements elements = {.all = u->all};
    const sl_layout layout = sl_states_layout(c->workload, c->plan, &elements);
    const sl_shards shards = c->holdings->shards;
    const double kept = sl_states_gather_bytes(c->workload, &layout, false);
    const double head = head_elements(c, stage, u);
    /* A block's whole gradient as it was gathered and the reduce's input; then its output. */
    const double width = sl_states_reduce_bytes(c->workload, &layout);
    /* fully_shard copies into the reduction's input in any case (_fsdp_collectives.py). */
    const bool copied = width != kept || c->workload->framework == SL_FRAMEWORK_FSDP2;
    const double reduced = copied ? width : 0.0;

    measure_units_in_use(c, stage, u, &layout, out);
    if (layout.gradient_bytes <= 0.0) { /* frozen: adapters' are too few to matter here */
        out->root_bytes = 0.0;
        return;
    }
    out->root_segments += reduced * u->root;
    out->head_gradients = kept * head;
    out->root_let_go = sl_smaller(out->root_bytes, reduced * u->root);
    out->root_made = kept * u->root_made;
    out->root_reduced = layout.gradient_bytes * u->root / shards.gradients.dense;
    if (c->plan->zero_stage < 2) {
        /* Undivided, what is reduced becomes the gradient itself: the copy, or what autograd
         * made. */
        const double made = copied ? kept : 0.0;
        out->backward_gradients = kept * head + made * u->largest_made;
        out->backward_reduced = (copied ? reduced : kept) * u->largest;
        out->root_gradients = made * u->root_made;
        return;
    }
    const sl_elements block = {.all = u->largest, .routed = u->routed};
    out->backward_gradients =
        kept * head + whole_gradients(c, kept * u->largest_made, reduced * u->largest);
    out->backward_reduced = width * sl_states_at_rest(&block, &shards.gradients);
    out->root_gradients = whole_gradients(c, kept * u->root_made, reduced * u->root);
}

/* Blocks of a stage beside the one in use. */
static double
other_blocks(const units *u)
{
    return u->largest > 0.0 ? sl_larger(0.0, (u->all - u->root) / u->largest - 1.0) : 0.0;
}

/* As many of them as `elements` take, the last of them whole. */
static double
blocks_of(const units *u, double elements)
{
    return sl_smaller(other_blocks(u), ceil(elements / sl_larger(1.0, u->largest)));
}

/* ... whose gradients wait: two at least. */
static double
blocks_queued(const units *u)
{
    return blocks_of(u, sl_larger(queue_elements, 2.0 * u->largest));
}

/* Bytes per parameter of the largest block, by what is in it alone. */
static sl_layout
block_layout(const sl_memory_case *c, const units *u)
{
    sl_stage one = {.blocks = 1};

    one.layers[u->largest_kind] = 1;
    const sl_elements elements = sl_states_stage(c->question->model, c->prices, &one);
    return sl_states_layout(c->workload, c->plan, &elements);
}

/* Parameters of stage 3, linear layers as they are stored: those of the root stay gathered. */
static void
gather_megatron(const sl_memory_case *c, const units *u, sl_gathered *out)
{
    const sl_layout layout = block_layout(c, u);
    const double wire = sl_states_gather_bytes(c->workload, &layout, true);
    const double block = u->largest * (sl_adapter_on(&c->workload->adapter)
                                           ? sl_smaller(wire, sl_states_base_bytes(c->workload))
                                           : wire);
    const double root = c->slice->element_bytes * u->root;
    const double ahead = blocks_of(u, sl_larger(queue_elements / 2.0, u->largest));
    const double left = other_blocks(u) - blocks_queued(u);

    out->loss_bytes = out->head_bytes = out->backward_bytes = out->root_bytes = root;
    if (c->software->double_buffers) {
        out->reduce_buffers = 2.0 * block;
    } else if (sl_states_reshards(c->workload, c->plan)) {
        out->head_bytes = out->backward_bytes = root + block * (1.0 + ahead);
        out->queued_ended = block * (ahead - sl_smaller(ahead, left));
    } else {
        out->loss_bytes = out->head_bytes = out->backward_bytes =
            root + block * (1.0 + other_blocks(u));
    }
}

/* Inside one graph a parameter is gathered where it is used and its gradient reduced where it is
 * made: no unit stays, none is fetched early, nothing is copied out of a flat buffer. Gathering
 * again is recomputation: where nothing is recomputed all stay. */
static void
measure_traced(const sl_memory_case *c, const sl_stage *stage, const units *u, sl_gathered *out)
{
    const sl_elements elements = {.all = u->all};
    const sl_layout layout = sl_states_layout(c->workload, c->plan, &elements);
    const sl_shards shards = c->holdings->shards;
    const double kept = sl_states_gather_bytes(c->workload, &layout, false);
    const double width = sl_states_reduce_bytes(c->workload, &layout);
    const double reduced = width != kept ? width : 0.0;
    const double head = head_elements(c, stage, u);
    const sl_elements block = {.all = u->largest, .routed = u->routed};
    const bool reshards =
        sl_states_reshards(c->workload, c->plan) &&
        (c->plan->reshard != SL_RESHARD_DEFAULT || c->workload->recompute != SL_RECOMPUTE_NONE);

    out->loss_bytes = out->head_bytes = kept * (reshards ? head : u->all);
    out->backward_bytes = kept * (reshards ? u->largest : u->all);
    if (layout.gradient_bytes <= 0.0)
        return;
    out->head_gradients = kept * head;
    out->backward_gradients = kept * u->largest_made + reduced * u->largest;
    out->backward_reduced = width * sl_states_at_rest(&block, &shards.gradients);
    out->root_gradients = kept * (u->root_made - head) + reduced * (u->root - head);
    out->root_reduced = layout.gradient_bytes * (u->root - head) / shards.gradients.dense;
}

/* Elements of the largest matrix in the blocks of a stage. */
static double
largest_matrix(const sl_memory_case *c, const sl_stage *stage)
{
    double largest = 0.0;

    for (uint32_t k = 0; k < c->question->model->kind_count; k++)
        if (stage->layers[k] > 0 && sl_schedule_is_block(c->question->model, k))
            largest = sl_larger(largest, c->prices[k].largest_matrix);
    return largest;
}

/* A gradient is copied into its bucket as soon as it is there (post_accumulate_grad_hook), but for
 * that of a table which both ends share: at the very end. */
static void
measure_megatron_fsdp(const sl_memory_case *c, const sl_stage *stage, const units *u,
                      sl_gathered *out)
{
    const sl_elements elements = sl_states_stage(c->question->model, c->prices, stage);
    const sl_layout layout = sl_states_layout(c->workload, c->plan, &elements);
    const double made = c->slice->element_bytes;
    const double width = layout.gradient_bytes;
    const double block = width * u->largest;
    const double head = head_elements(c, stage, u);
    const bool divided = sl_states_divides_parameters(c->workload, c->plan);

    if (divided)
        gather_megatron(c, u, out);
    if (width <= 0.0)
        return;
    out->head_gradients = made * head + (divided ? 0.0 : width * u->all);
    out->backward_gradients =
        made * largest_matrix(c, stage) +
        (divided ? (c->question->model->tied ? made : width) * head : width * u->all);
    out->root_gradients =
        made * sl_larger(head, u->ends - head) + width * (divided ? u->root : u->all);
    if (!divided)
        return;
    if (c->software->double_buffers) {
        out->reduce_buffers += 2.0 * block;
        return;
    }
    const double waiting = blocks_queued(u);
    const sl_elements reduced = {.all = u->largest, .routed = u->routed};
    out->queued = block * waiting;
    out->queued_ratio = waiting / (1.0 + other_blocks(u));
    out->backward_gradients += block;
    out->backward_reduced = width * sl_states_at_rest(&reduced, &c->holdings->shards.gradients);
    out->root_gradients += block + out->queued;
}

/* BF16_Optimizer adds each gradient to a wider sum once backward of a micro-batch is done, through a
 * copy in that type (update_hp_grads): of the largest tensor of the rank, embedding and head with the
 * norm beside them [bytes]. */
static double
added_copy(const sl_memory_case *c, const sl_stage *stage, const units *u, const sl_layout *layout)
{
    const double head = head_elements(c, stage, u);
    const double ends = sl_larger(head, u->ends - head);

    if (!sl_states_sums_beside(c->workload, c->plan, layout))
        return 0.0;
    return sl_states_summed_bytes(layout) * sl_larger(ends, largest_matrix(c, stage));
}

/* One that is reduced in another type is cast into one of that. */
static void
set_buckets(const sl_memory_case *c, const sl_layout *layout, sl_gathered *out)
{
    const double bucket = c->slice->element_bytes * bucket_elements;
    const double width = sl_states_reduce_bytes(c->workload, layout);
    const double cast = width != layout->gradient_bytes ? width * bucket_elements : 0.0;

    if (c->plan->zero_stage >= 3) {
        out->reduce_buffers = bucket;
        out->backward_buckets = bucket + cast;
    } else if (c->plan->zero_stage == 2) {
        out->backward_buckets = bucket * (c->software->overlap_gradient_reduce ? 2.0 : 1.0) + cast;
    } else if (c->plan->zero_stage == 1) {
        out->reduce_buffers = 2.0 * bucket + cast;
    }
}

/* Parameters are fetched and let go by module, not by block, so that the limit gives way to the
 * largest one alone; a gradient is whole until it is copied into the bucket, or reduced where it is
 * larger than that. */
static void
measure_deepspeed(const sl_memory_case *c, const sl_stage *stage, const units *u, sl_gathered *out)
{
    const double matrix = largest_matrix(c, stage);
    const sl_elements elements = {.all = u->all};
    const sl_layout layout = sl_states_layout(c->workload, c->plan, &elements);
    const double element = c->slice->element_bytes;

    out->passing_buffers = added_copy(c, stage, u, &layout);
    set_buckets(c, &layout, out);
    if (c->plan->zero_stage < 3)
        return;
    out->loss_bytes = out->head_bytes = out->backward_bytes =
        element * sl_smaller(u->all, sl_larger(live_elements_max, matrix));
    out->unit_elements = matrix;
    if (layout.gradient_bytes > 0.0)
        out->backward_gradients = element * matrix;
}

/* Buckets that come and go once backward is done: gradients are reduced through one, in the type that
 * they were added up in, and updated parameters are gathered by lists, which NCCL's collective of
 * PyTorch flattens: as many buckets' worth as there are whole ones, shared evenly. Sums beside
 * gradients are one tensor, which is its own bucket; cast for the way, it leaves lists enough room. */
static void
measure_engine(const sl_memory_case *c, const sl_stage *stage, const units *u, sl_gathered *out)
{
    const sl_elements elements = {.all = u->all};
    const sl_layout layout = sl_states_layout(c->workload, c->plan, &elements);
    const double summed = sl_states_summed_bytes(&layout);
    const double lists = sl_larger(1.0, floor(u->all / bucket_elements));
    const bool alone = (double)c->plan->data * c->plan->context == 1.0;

    /* Of fp32 sums there is no bucket before somebody is there to add them up with. */
    if (sl_states_sums_beside(c->workload, c->plan, &layout))
        out->passing_buffers = added_copy(c, stage, u, &layout);
    else if (!alone || summed < layout.master_bytes)
        out->passing_buffers = summed * bucket_elements;
    if (!alone && sl_states_cast_bytes(c->workload, c->plan, &layout) == 0.0)
        out->passing_buffers += layout.parameter_bytes * u->all / lists;
}

/* Elements of the largest tensor of the embedding. */
static double
largest_table(const sl_memory_case *c, const sl_stage *stage)
{
    const sl_model *model = c->question->model;
    const sl_layer_kind *kind = &model->kinds[model->layers[0]];
    double largest = 0.0;

    for (uint32_t i = 0; stage->first && i < kind->tensor_count; i++)
        largest = sl_larger(largest, sl_slice_elements(c->slice, &kind->tensors[i]));
    return largest;
}

/* On one device the optimizer steps on each tensor as its gradient comes; a bucket of replicas
 * would hold on to it. */
static void
measure_stepped(const sl_memory_case *c, const sl_stage *stage, const units *u, sl_gathered *out)
{
    const sl_elements elements = {.all = u->all};
    const double gradient = sl_states_layout(c->workload, c->plan, &elements).gradient_bytes;

    out->stepped_head = gradient * head_elements(c, stage, u);
    out->stepped_root = gradient * largest_table(c, stage);
    out->stepped_block = gradient * largest_matrix(c, stage);
}

/* Whether a rank has anything beside its parameters, which it holds whole, and its gradients, which
 * it reduces in place. */
static bool
is_bare(const sl_memory_case *c)
{
    return c->workload->framework != SL_FRAMEWORK_DEEPSPEED &&
           !sl_framework_is_fsdp(c->workload->framework) &&
           !sl_states_engine(c->workload, c->plan) && !c->workload->optimizer_in_backward &&
           c->plan->zero_stage < 2 && sl_lent_devices(c->workload, c->plan) == 0;
}

sl_gathered
sl_gather_measure(const sl_memory_case *c, const sl_stage *stage)
{
    if (is_bare(c))
        return (sl_gathered){0};

    const units u = measure_units(c, stage);
    sl_gathered out = {.unit_elements = u.largest, .root_elements = u.root};

    if (c->workload->framework == SL_FRAMEWORK_DEEPSPEED)
        measure_deepspeed(c, stage, &u, &out);
    else if (sl_states_engine(c->workload, c->plan))
        measure_engine(c, stage, &u, &out);
    else if (sl_lent_devices(c->workload, c->plan) > 0)
        sl_lent_measure(c, u.all, &out);
    else if (c->software->traced_sharding && c->plan->zero_stage >= 2)
        measure_traced(c, stage, &u, &out);
    else if (sl_framework_is_fsdp(c->workload->framework))
        measure_fsdp(c, stage, &u, &out);
    else if (sl_states_gathers_units(c->workload, c->plan))
        measure_megatron_fsdp(c, stage, &u, &out);
    else if (c->workload->optimizer_in_backward)
        measure_stepped(c, stage, &u, &out);
    return out;
}

static double
embedding_elements(const sl_memory_case *c, const sl_stage *stage)
{
    return stage->first ? c->prices[c->question->model->layers[0]].elements : 0.0;
}

/* Whether adapters travel alone: their base is frozen, and whole on each rank. */
static bool
sends_adapters(const sl_memory_case *c)
{
    return sl_adapter_on(&c->workload->adapter) &&
           !sl_states_divides_parameters(c->workload, c->plan);
}

sl_elements
sl_gather_sent(const sl_memory_case *c, const sl_holding *holding)
{
    const sl_elements sent = sl_holding_sent(c->holdings, holding);

    if (!sends_adapters(c))
        return sent;
    return (sl_elements){
        .all = sent.adapters, .routed = sent.routed_adapters, .adapters = sent.adapters};
}

double
sl_gather_bytes(const sl_memory_case *c, const sl_holding *holding)
{
    const sl_elements sent = sl_gather_sent(c, holding);

    return sends_adapters(c) ? sent.all * sl_adapter_element_bytes(&c->workload->adapter)
                             : sl_states_gathered_bytes(c->workload, &holding->layouts.all, &sent);
}

static sl_edges
edges_of(const sl_memory_case *c, const sl_holding *holding)
{
    const double all = sl_gather_sent(c, holding).all;
    const double bytes = sl_adapter_on(&c->workload->adapter)
                             ? sl_adapter_element_bytes(&c->workload->adapter)
                             : holding->layouts.all.gradient_bytes;
    double bucket = all;

    if (sl_states_gathers_units(c->workload, c->plan)) {
        const units u = measure_units(c, &holding->stage);
        const double root =
            c->software->traced_sharding ? embedding_elements(c, &holding->stage) : u.root;
        const double pieces = u.largest > 0.0 ? 1.0 + ceil((all - u.root) / u.largest) : 1.0;
        return (sl_edges){root, root, pieces, pieces};
    }
    if (sl_states_has_owners(c->software, c->plan)) {
        const double owners =
            sl_smaller(sl_lists_tensors(c, &holding->stage), c->holdings->shards.optimizer.dense);
        return (sl_edges){embedding_elements(c, &holding->stage), bucket_elements, owners, owners};
    }
    if (c->workload->framework == SL_FRAMEWORK_DEEPSPEED) {
        const sl_lists lists = sl_lists_count(c, &holding->stage);
        return (sl_edges){embedding_elements(c, &holding->stage), bucket_elements, lists.gathered,
                          lists.reduced};
    }
    if (c->workload->framework == SL_FRAMEWORK_MEGATRON)
        bucket = sl_larger(megatron_bucket_elements, megatron_bucket_elements_per_rank *
                                                         (double)c->plan->data * c->plan->context);
    else if (bytes > 0.0)
        bucket = ddp_bucket_bytes / bytes;

    const double pieces = sl_rounded_up(all / bucket);
    return (sl_edges){bucket, bucket, pieces, pieces};
}

sl_edges
sl_gather_edges(const sl_memory_case *c, const sl_holding *holding)
{
    const sl_edges edges = edges_of(c, holding);
    const double all = sl_gather_sent(c, holding).all;

    return (sl_edges){sl_smaller(all, edges.first), sl_smaller(all, edges.last),
                      sl_larger(1.0, edges.gathers), sl_larger(1.0, edges.reduces)};
}
