/* The peak of one rank as terms, each with the inputs it was computed from. */
#include "engine/memory/rank_memory.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/extremes.h"
#include "engine/placement/adapter.h"
#include "engine/price/low_precision.h"
#include "shardline/units.h"

/* CUDA context (0.47 GiB, loaded lazily, on A100) and the kernels and library handles of a training
 * process that has run (0.7 GiB more: stas00/ml-engineering; 1.31 GiB together on a V100, Hugging
 * Face's guide), then NCCL buffers by communicator (nccl issues 864, 964). All coarse. */
static const double context_bytes = 1.20 * SL_GIB_BYTES;
static const double pair_communicator_bytes = 0.55 * SL_GIB_BYTES;
static const double exchange_peer_bytes = 0.41 * SL_GIB_BYTES;
static const double exchange_bytes_max = 3.3 * SL_GIB_BYTES;
static const double group_communicator_bytes = 0.70 * SL_GIB_BYTES;

/* Reserved over allocated that no returned segment wins back. The least of any rank whose memory
 * was not full is 1.007 (SimuMax, B200); runs that filled their devices left at most 1.010
 * (Unsloth's longest sequences), 1.018 (llm-foundry), 1.021 (Megatron-Bridge) and 1.025 (NeMo)
 * beside what is counted here. */
static const double held_ratio = 1.01;

/* Doubles hold every integer up to here: 9 PB on one device is no plan. */
static const double bytes_max = 9007199254740992.0;

_Static_assert((int)SL_TERM_FORWARD <= (int)SL_RANK_TERMS_MAX, "room for each term of memory once");

/* The terms of a rank as they are added up, each once at most. */
typedef struct terms {
    const sl_memory_case *c;
    sl_term *next;
    double bytes; /* of those that are there */
} terms;

/* The next term, without inputs; not the whole struct is set, most terms have few of them. */
static inline sl_term *
next_term(terms *to, sl_term_id id, double bytes)
{
    sl_term *term = to->next++;
    term->id = id;
    term->value = sl_whole_bytes(bytes);
    term->input_count = 0;
    to->bytes += term->value;
    return term;
}

/* A term of no bytes is none: then its inputs are not looked at. */
#define ADD_TERM(to, id, bytes, ...)                                                               \
    do {                                                                                           \
        if ((bytes) > 0.0) {                                                                       \
            sl_term *next = next_term(to, id, bytes);                                              \
            if ((to)->c->explained)                                                                \
                SL_TERM_SET_INPUTS(next, __VA_ARGS__);                                             \
        }                                                                                          \
    } while (0)

static double
communicator_bytes(const sl_plan *plan, double *count)
{
    const uint32_t shard = sl_plan_sharers(plan);
    const uint32_t cut = sl_plan_expert_tensor(plan);
    const uint32_t own = cut == plan->tensor ? 1 : cut; /* ranks that cut experts otherwise */
    const uint32_t groups[] = {plan->tensor,  plan->pipeline, shard, plan->data / shard,
                               plan->context, plan->expert,   own};
    double bytes = 0.0;

    *count = 0.0;
    for (uint32_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (groups[i] <= 1)
            continue;
        *count += 1.0;
        bytes += groups[i] == 2 ? pair_communicator_bytes : group_communicator_bytes;
    }
    /* An all-to-all has channels to every peer. */
    return bytes + sl_smaller(exchange_bytes_max, exchange_peer_bytes * (plan->expert - 1.0));
}

sl_rank_outside
sl_rank_outside_of(const sl_plan *plan)
{
    sl_rank_outside out;

    out.bytes = context_bytes + ceil(communicator_bytes(plan, &out.communicators));
    out.whole_bytes = ceil(out.bytes);
    return out;
}

static void
add_optimizer(const sl_memory_case *c, const sl_rank_bytes *b, terms *to)
{
    const sl_degree *degree = &b->shards->optimizer;
    const double here = 1.0 - sl_states_away(c->workload); /* of elements */
    const double own = here * sl_states_at_rest(b->elements, degree);
    const double states = here * sl_states_optimizer_bytes(b->elements, b->layouts, degree);
    const double n = b->elements->all;
    const double padding = b->elements->padding + b->elements->routed_padding;

    if (here <= 0.0)
        return;
    ADD_TERM(to, SL_TERM_MASTER_WEIGHTS, b->layouts->all.master_bytes * own, {"parameters", n},
             {"bytes_per_parameter", b->layouts->all.master_bytes}, {"shards", degree->dense},
             {"routed_parameters", b->elements->routed}, {"routed_shards", degree->routed},
             {"padding", padding}, {"on_device", here});
    ADD_TERM(to, SL_TERM_OPTIMIZER_STATES, states, {"parameters", n},
             {"bytes_per_parameter", states / own}, {"shards", degree->dense},
             {"routed_parameters", b->elements->routed}, {"routed_shards", degree->routed},
             {"padding", padding}, {"on_device", here});
}

static void
add_workspaces(const sl_memory_case *c, const sl_rank_bytes *b, terms *to)
{
    const sl_software *const software = c->software;
    const sl_accelerator *const part = &c->cluster->accelerator;
    const double grouped = b->elements->routed > 0.0 ? software->expert_workspaces : 0.0;
    const double bytes = software->pytorch_workspaces * part->pytorch_workspace_bytes +
                         (software->engine_workspaces + grouped) * part->engine_workspace_bytes;

    ADD_TERM(to, SL_TERM_WORKSPACES, bytes, {"pytorch_workspaces", software->pytorch_workspaces},
             {"pytorch_workspace_bytes", part->pytorch_workspace_bytes},
             {"engine_workspaces", software->engine_workspaces}, {"expert_workspaces", grouped},
             {"engine_workspace_bytes", part->engine_workspace_bytes});
}

/* DDP's second copy of the gradients of what trains. */
static void
add_buckets(const sl_memory_case *c, const sl_rank_bytes *b, terms *to)
{
    sl_layout layout;
    const sl_elements own = sl_states_trained(c->workload, c->plan, b->elements, &layout);

    ADD_TERM(to, SL_TERM_GRADIENT_BUCKETS, own.all * layout.gradient_bytes, {"parameters", own.all},
             {"bytes_per_parameter", layout.gradient_bytes});
}

/* Parts of them are divided over other ranks each, so that each says what it takes and over how
 * many. */
static void
add_adapters(const sl_memory_case *c, const sl_rank_bytes *b, terms *to)
{
    const sl_workload *workload = c->workload;
    const sl_elements *elements = b->elements;
    const sl_shards *shards = b->shards;
    const sl_layout layout = sl_states_adapter_layout(workload, c->plan, elements);
    const double buffers = sl_states_adapter_buffers(workload, elements);

    ADD_TERM(to, SL_TERM_ADAPTERS, sl_states_adapter_bytes(workload, c->plan, elements, shards),
             {"parameters", elements->adapters}, {"frozen", elements->frozen_adapters + buffers},
             {"buffers", buffers}, {"element_bytes", sl_adapter_element_bytes(&workload->adapter)},
             {"parameter_bytes", layout.parameter_bytes}, {"gradient_bytes", layout.gradient_bytes},
             {"optimizer_bytes", layout.master_bytes + layout.optimizer_bytes},
             {"on_device", 1.0 - sl_states_away(workload)},
             {"parameter_shards", shards->parameters.dense},
             {"gradient_shards", shards->gradients.dense},
             {"optimizer_shards", shards->optimizer.dense},
             {"routed_parameters", elements->routed_adapters},
             {"routed_frozen", elements->routed_frozen_adapters},
             {"routed_parameter_shards", shards->parameters.routed},
             {"routed_gradient_shards", shards->gradients.routed},
             {"routed_optimizer_shards", shards->optimizer.routed});
}

static void
add_states(const sl_memory_case *c, const sl_stage *stage, const sl_rank_bytes *b,
           const sl_rank_phase *p, terms *to)
{
    const sl_layout *layout = &b->layouts->all;
    const sl_shards *shards = b->shards;
    const double n = b->elements->all;
    const double padding = b->elements->padding + b->elements->routed_padding;
    const bool ddp = c->workload->framework == SL_FRAMEWORK_DDP;
    const bool frozen = sl_adapter_on(&c->workload->adapter);
    const sl_offload *offload = &c->workload->offload;
    const double directions = sl_schedule_directions(c->plan);
    const double parameters =
        sl_states_parameter_bytes(b->elements, b->layouts, &shards->parameters);

    if (!offload->parameters)
        ADD_TERM(to, SL_TERM_PARAMETERS, parameters, {"parameters", n},
                 {"bytes_per_parameter",
                  parameters / sl_states_at_rest(b->elements, &shards->parameters)},
                 {"shards", shards->parameters.dense}, {"routed_parameters", b->elements->routed},
                 {"routed_shards", shards->parameters.routed}, {"padding", padding});
    const double scales = sl_states_scale_bytes(c->workload, b->elements);
    ADD_TERM(to, SL_TERM_WEIGHT_SCALES, scales, {"quantised_parameters", b->elements->matrices},
             {"bytes_per_parameter", scales / b->elements->matrices});
    const double reduced =
        layout->gradient_bytes * sl_states_at_rest(b->elements, &shards->gradients);
    ADD_TERM(to, SL_TERM_GRADIENTS, p->gradients, {"parameters", n},
             {"bytes_per_parameter", layout->gradient_bytes}, {"shards", shards->gradients.dense},
             {"routed_parameters", b->elements->routed},
             {"routed_shards", shards->gradients.routed}, {"padding", padding},
             {"unreduced_bytes", reduced - p->gradients});
    add_optimizer(c, b, to);
    if (frozen)
        add_adapters(c, b, to);
    if (frozen && c->workload->adapter.base != SL_ADAPTER_BASE_BF16)
        ADD_TERM(to, SL_TERM_DEQUANTIZED, b->largest_matrix * c->slice->element_bytes,
                 {"elements", b->largest_matrix}, {"element_bytes", c->slice->element_bytes});
    ADD_TERM(to, SL_TERM_TRANSPOSED, b->largest_matrix * c->slice->transposed_bytes,
             {"elements", b->largest_matrix}, {"element_bytes", c->slice->transposed_bytes});
    ADD_TERM(to, SL_TERM_CACHED_WEIGHTS, p->cached,
             {"parameters", p->cached / c->slice->element_bytes},
             {"bytes_per_parameter", c->slice->element_bytes});
    const double low = sl_low_weight_bytes(c->workload, c->slice->accelerator);
    ADD_TERM(to, SL_TERM_LOW_PRECISION_WEIGHTS, low * b->elements->low,
             {"linear_parameters", b->elements->low}, {"bytes_per_parameter", low});
    if (ddp && c->plan->data > 1)
        add_buckets(c, b, to);
    ADD_TERM(to, SL_TERM_REDUCE_BUFFERS, b->gathered.reduce_buffers,
             {"element_bytes", c->slice->element_bytes},
             {"elements", b->gathered.reduce_buffers / c->slice->element_bytes});
    ADD_TERM(to, SL_TERM_GRAPH_BUFFERS, b->graph_buffers, {"blocks", stage->blocks},
             {"microbatches_in_flight", b->captured},
             {"hidden", (double)c->question->model->hidden}, {"tokens", c->slice->tokens},
             {"element_bytes", c->slice->element_bytes}, {"ranks_sharing", c->slice->spread});
    ADD_TERM(to, SL_TERM_DUMMY_WEIGHT_GRADIENTS, b->dummy_elements * c->slice->element_bytes,
             {"elements", b->dummy_elements}, {"element_bytes", c->slice->element_bytes});
    ADD_TERM(to, SL_TERM_PIPELINE_BUFFERS,
             2.0 * directions * (b->received + b->sent) / c->slice->spread,
             {"directions", directions}, {"received_bytes", b->received}, {"sent_bytes", b->sent},
             {"hidden", (double)c->question->model->hidden}, {"tokens", c->slice->tokens},
             {"element_bytes", c->slice->element_bytes}, {"ranks_sharing", c->slice->spread});
    add_workspaces(c, b, to);
}

static void
add_step_lists(const sl_memory_case *c, const sl_rank_bytes *b, const sl_rank_phase *p, terms *to)
{
    const sl_degree *degree = &b->shards->optimizer;
    sl_layout layout;

    if (p->lists <= 0.0)
        return;
    const sl_elements own = sl_states_trained(c->workload, c->plan, b->elements, &layout);
    ADD_TERM(to, SL_TERM_STEP_LISTS, p->lists, {"step_lists", c->software->step_lists},
             {"parameters", own.all}, {"bytes_per_parameter", sl_states_moment_bytes(&layout)},
             {"shards", degree->dense}, {"routed_parameters", own.routed},
             {"routed_shards", degree->routed}, {"padding", own.padding + own.routed_padding},
             {"on_device", 1.0 - sl_states_away(c->workload)});
}

/* What a block keeps of one micro-batch, on average. */
static double
block_bytes(const sl_stage *stage, const sl_rank_bytes *b)
{
    return stage->blocks > 0 && b->in_flight > 0.0 ? b->blocks_saved / b->in_flight / stage->blocks
                                                   : 0.0;
}

/* In the last backward most blocks have let go of theirs, and of the one that runs nothing is on the
 * host any more. */
static void
add_activations(const sl_memory_case *c, const sl_stage *stage, const sl_rank_bytes *b,
                const sl_rank_phase *p, terms *to)
{
    const bool all = p->kept == SL_KEPT_ALL;
    const bool inputs = p->kept == SL_KEPT_INPUTS;
    const bool last = p->kept == SL_KEPT_LAST_BLOCK;

    ADD_TERM(to, SL_TERM_ACTIVATIONS, p->activations,
             {"microbatches_in_flight", all ? b->in_flight : 1.0},
             {"blocks", all      ? stage->blocks
                        : inputs ? b->rebuilds
                                 : (double)last},
             {"bytes_per_block", all      ? block_bytes(stage, b)
                                 : inputs ? b->kept
                                          : b->largest_block},
             {"embedding_and_head_bytes", last || inputs ? 0.0 : b->ends_saved},
             {"offloaded_bytes", all ? b->offloaded : 0.0}, {"tokens", c->slice->tokens},
             {"tensor", c->slice->tensor}, {"ranks_sharing_norms", c->slice->spread});
}

/* What is alive at the peak; the states are alive in every phase. */
static void
add_peak_phase(const sl_memory_case *c, const sl_stage *stage, const sl_rank_bytes *b,
               const sl_rank_phase *p, terms *to)
{
    const sl_layout *layout = &b->layouts->all;
    const sl_shards *shards = b->shards;
    const double n = b->elements->all;

    ADD_TERM(to, SL_TERM_GATHERED_PARAMETERS, p->gathered,
             {"unit_parameters", b->gathered.unit_elements},
             {"beside_parameters", b->gathered.beside_elements},
             {"root_parameters", b->gathered.root_elements},
             {"element_bytes", c->slice->element_bytes});
    ADD_TERM(to, SL_TERM_UNSHARDED_GRADIENTS, p->unreduced,
             {"unit_parameters", b->gathered.unit_elements},
             {"element_bytes", c->slice->element_bytes},
             {"reduced_bytes_per_parameter", sl_states_reduce_bytes(c->workload, layout)});
    ADD_TERM(to, SL_TERM_PASSING_BUCKETS, p->buckets, {"element_bytes", c->slice->element_bytes},
             {"elements", p->buckets / c->slice->element_bytes});
    const double trained = sl_adapter_on(&c->workload->adapter) ? b->elements->adapters : n;
    ADD_TERM(to, SL_TERM_WAITING_GRADIENTS, p->waiting, {"parameters", trained},
             {"bytes_per_parameter", p->waiting / sl_larger(1.0, trained)},
             {"microbatches", (double)sl_plan_microbatches(c->workload, c->plan)});
    ADD_TERM(to, SL_TERM_STEPPED_GRADIENT, p->stepped,
             {"elements", p->stepped / sl_larger(1.0, layout->gradient_bytes)},
             {"bytes_per_parameter", layout->gradient_bytes});
    add_activations(c, stage, b, p, to);
    ADD_TERM(to, SL_TERM_WEIGHT_OPERANDS, p->operands, {"microbatches_deferred", b->deferred},
             {"blocks", stage->blocks},
             {"operand_bytes_per_block", b->operands / sl_larger(1.0, b->deferred * stage->blocks)},
             {"tokens", c->slice->tokens}, {"tensor", c->slice->tensor});
    ADD_TERM(to, SL_TERM_LOGITS, p->logits, {"logits", b->logits_width},
             {"bytes_per_logit", p->logits / b->logits_width});
    ADD_TERM(to, SL_TERM_RECOMPUTED_BLOCK, p->rebuilt, {"block_bytes", b->rebuilt + b->kept},
             {"kept_bytes", b->kept}, {"freed_bytes", b->freed});
    ADD_TERM(to, SL_TERM_BACKWARD_TRANSIENT, p->transient + p->beside + p->held + p->made + p->mask,
             {"element_bytes", c->slice->element_bytes}, {"tokens", c->slice->tokens},
             {"width", p->transient / (c->slice->element_bytes * c->slice->tokens)},
             {"beside_bytes", p->beside}, {"held_bytes", p->held}, {"made_bytes", p->made},
             {"mask_bytes", p->mask});
    const sl_degree *over = sl_rank_copied_over(c, layout, shards);
    ADD_TERM(to, SL_TERM_GRADIENT_COPY, p->copies + p->last, {"parameters", n},
             {"bytes_per_parameter", sl_rank_copied_bytes(c, layout)}, {"shards", over->dense},
             {"routed_parameters", b->elements->routed}, {"routed_shards", over->routed},
             {"padding", b->elements->padding + b->elements->routed_padding},
             {"on_device", 1.0 - sl_states_away(c->workload)}, {"last_bytes", p->last});
    add_step_lists(c, b, p, to);
}

uint64_t
sl_rank_usable_bytes(const sl_accelerator *part)
{
    return part->memory_bytes > part->reserved_bytes ? part->memory_bytes - part->reserved_bytes
                                                     : 0;
}

/* Of expandable segments: taken by hand, as tests/accuracy/constants.csv says. */
static const double expandable_ratio = 1.03;
static const double expandable_high_ratio = 1.06;

sl_fragmentation
sl_rank_fragmentation(const sl_memory_case *c)
{
    const sl_software *s = c->software;

    if (!c->workload->expandable_segments)
        return (sl_fragmentation){s->fragmentation_ratio, s->fragmentation_low_ratio,
                                  s->fragmentation_high_ratio};
    return (sl_fragmentation){sl_smaller(s->fragmentation_ratio, expandable_ratio),
                              sl_smaller(s->fragmentation_low_ratio, expandable_ratio),
                              sl_smaller(s->fragmentation_high_ratio, expandable_high_ratio)};
}

/* Bytes of segments beyond what is allocated. Before the allocator fails, it returns to the driver
 * the segments that nothing lives in (CUDA memory management, PyTorch's notes): on a full device
 * only what lies between living blocks remains. All bytes here are whole ones. */
static double
left_apart(const sl_memory_case *c, double ratio, double allocated, double apart, double outside)
{
    const double usable = (double)sl_rank_usable_bytes(&c->cluster->accelerator);
    const double held = sl_rounded_up(allocated * (sl_smaller(ratio, held_ratio) - 1.0));
    const double room = usable - outside - allocated;

    return sl_smaller(apart, sl_larger(held, room));
}

bool
sl_rank_terms(const sl_memory_case *c, const sl_stage *stage, const sl_rank_outside *outside,
              const sl_rank_bytes *b, const sl_rank_phase *peak, sl_rank_memory *rank)
{
    terms sum = {.c = c, .next = rank->terms};
    terms *const to = &sum;

    rank->phase = peak->name;
    rank->varying_bytes = c->workload->lengths_vary ? sl_rank_token_bytes(peak) : 0.0;
    add_states(c, stage, b, peak, to);
    add_peak_phase(c, stage, b, peak, to);

    const double allocated = sum.bytes;
    const double ratio = sl_rank_fragmentation(c).ratio;
    const double apart = sl_rounded_up(allocated * (ratio - 1.0) + peak->idle);
    const double lost = left_apart(c, ratio, allocated, apart, outside->whole_bytes);
    const double reserved = allocated + lost;
    ADD_TERM(to, SL_TERM_FRAGMENTATION, lost, {"peak_allocated_bytes", allocated},
             {"idle_bytes", peak->idle}, {"reserved_over_allocated", ratio},
             {"returned_segments_bytes", apart - lost});
    rank->returned_bytes = (uint64_t)(apart - lost);
    ADD_TERM(to, SL_TERM_CONTEXT, outside->bytes, {"context_bytes", context_bytes},
             {"communicators", outside->communicators},
             {"communicator_bytes", outside->bytes - context_bytes});
    rank->term_count = (uint32_t)(sum.next - rank->terms);

    if (reserved + outside->bytes > bytes_max)
        return false;
    rank->peak_allocated_bytes = (uint64_t)allocated;
    rank->peak_reserved_bytes = (uint64_t)reserved;
    rank->device_total_bytes = (uint64_t)(reserved + outside->whole_bytes);
    return true;
}
