#include "engine/answer/change.h"

#include <assert.h>
#include <stddef.h>

#include "engine/placement/adapter.h"
#include "engine/placement/states.h"

enum { NODE_DOUBLINGS = 3, NODES_MAX = 1 << 20 };

typedef struct list {
    uint64_t *values;
    uint32_t count;
} list;

const char *
sl_change_name(sl_change_kind kind)
{
    static const char *const names[] = {
        [SL_CHANGE_RECOMPUTE] = "recompute",
        [SL_CHANGE_MICRO_BATCH] = "micro_batch_size",
        [SL_CHANGE_TENSOR] = "tensor",
        [SL_CHANGE_PIPELINE] = "pipeline",
        [SL_CHANGE_EXPERT] = "expert",
        [SL_CHANGE_CONTEXT] = "context",
        [SL_CHANGE_SEQUENCE] = "sequence",
        [SL_CHANGE_ZERO_STAGE] = "zero_stage",
        [SL_CHANGE_RESHARD] = "reshard_after_forward",
        [SL_CHANGE_GRADIENT_SYNC] = "gradient_sync",
        [SL_CHANGE_LOSS] = "loss",
        [SL_CHANGE_OFFLOAD_OPTIMIZER] = "offload",
        [SL_CHANGE_OFFLOAD_ACTIVATIONS] = "offload",
        [SL_CHANGE_ADAPTER_BASE] = "adapter",
        [SL_CHANGE_FRAMEWORK] = "framework",
        [SL_CHANGE_NODES] = "nodes",
    };
    _Static_assert(sizeof names / sizeof names[0] == SL_CHANGE_KIND_COUNT, "a name per kind");

    return names[kind];
}

static void
add(list *to, uint64_t value)
{
    assert(to->count < SL_CHANGE_VALUES_MAX);
    to->values[to->count++] = value;
}

/* Doubled as far as it goes; where the plan fits, once, and halved. */
static void
add_degrees(list *to, uint64_t own, uint64_t largest, bool fits)
{
    for (uint64_t value = 2 * own; value <= largest && (to->count == 0 || !fits); value *= 2)
        add(to, value);
    if (fits && own > 1)
        add(to, own / 2);
}

static void
add_micro_batches(list *to, uint64_t own, bool fits)
{
    if (fits)
        add(to, 2 * own);
    for (uint64_t value = own / 2; value >= 1 && to->count < SL_CHANGE_VALUES_MAX; value /= 2) {
        add(to, value);
        if (fits)
            return;
    }
}

/* Lighter modes first. */
static void
add_recomputations(list *to, const sl_workload *now)
{
    static const sl_recompute modes[] = {SL_RECOMPUTE_NONE, SL_RECOMPUTE_SELECTIVE,
                                         SL_RECOMPUTE_OPERATORS, SL_RECOMPUTE_FULL};
    _Static_assert(sizeof modes / sizeof modes[0] == SL_RECOMPUTE_WORDS, "every word");

    for (uint32_t i = 0; i < SL_RECOMPUTE_WORDS; i++) {
        sl_workload tried = *now;
        tried.recompute = modes[i];
        tried.recompute_method = SL_RECOMPUTE_EACH;
        if ((tried.recompute != now->recompute ||
             tried.recompute_method != now->recompute_method) &&
            sl_recompute_matters(&tried))
            add(to, modes[i]);
    }
}

/* Megatron has a loss in place of its logits, others any that somebody wrote; the results are the
 * same. */
static void
add_losses(list *to, const sl_workload *now, bool fits)
{
    static const sl_loss losses[] = {SL_LOSS_FUSED, SL_LOSS_CHUNKED, SL_LOSS_CUT};
    const bool one = fits || now->framework == SL_FRAMEWORK_MEGATRON;
    const size_t count = one ? 1 : sizeof losses / sizeof losses[0];

    for (size_t i = 0; i < count; i++)
        if (losses[i] != now->loss)
            add(to, losses[i]);
}

/* Whole gradients take room, and reducing them with every micro-batch takes time. */
static void
add_gradient_sync(list *to, const sl_combination *now)
{
    if (sl_plan_microbatches(&now->workload, &now->plan) <= 1)
        return;
    add(to, sl_plan_gradient_sync(&now->workload, &now->plan) == SL_GRADIENT_SYNC_EACH
                ? SL_GRADIENT_SYNC_LAST
                : SL_GRADIENT_SYNC_EACH);
}

/* LoRA becomes QLoRA: frozen weights in 4 bits. */
static void
add_base(list *to, const sl_adapter *now)
{
    if (now->method != SL_ADAPTER_NONE &&
        (now->base == SL_ADAPTER_BASE_BF16 || now->base == SL_ADAPTER_BASE_INT8))
        add(to, SL_ADAPTER_BASE_NF4);
}

static void
add_nodes(list *to, const sl_question *question)
{
    const sl_cluster *cluster = question->cluster;

    if (question->nodes_fixed || cluster->pool_count > 0)
        return;
    for (uint32_t i = 1; i <= NODE_DOUBLINGS && cluster->nodes <= (uint32_t)NODES_MAX >> i; i++)
        add(to, (uint64_t)cluster->nodes << i);
}

/* In percent of what the optimizer steps on: who can move some of it need not move all. Quarters are
 * the steps of Megatron-Bridge's table (its docs on cpu-offloading). What nodes have no room for
 * comes back, in the same steps. */
static void
add_offloads(list *to, const sl_workload *now, uint32_t lacking)
{
    const uint64_t step = now->framework == SL_FRAMEWORK_MEGATRON ? 25 : 100;
    const double away = 100.0 * sl_states_away(now);

    for (uint64_t left = 100; (lacking & SL_NODES_LACK) != 0 && left > 0; left -= step)
        if ((double)(left - step) < away)
            add(to, left - step);
    for (uint64_t percent = step; (lacking & SL_DEVICES_LACK) != 0 && percent <= 100;
         percent += step)
        if ((double)percent > away)
            add(to, percent);
}

static void
add_cuts(list *to, const sl_question *question, const sl_plan *plan, sl_change_kind kind, bool fits)
{
    const sl_cluster *cluster = question->cluster;

    if (kind == SL_CHANGE_TENSOR)
        add_degrees(to, plan->tensor, cluster->accelerators_per_node, fits);
    else if (kind == SL_CHANGE_PIPELINE)
        add_degrees(to, plan->pipeline, SL_PIPELINE_MAX, fits);
    else if (kind == SL_CHANGE_EXPERT)
        add_degrees(to, plan->expert, question->model->experts, fits);
    else
        add_degrees(to, plan->context, sl_cluster_accelerators(cluster), fits);
}

/* What costs time and never saves any. */
static void
add_what_only_frees(list *to, const sl_question *question, const sl_combination *now,
                    uint32_t lacking, sl_change_kind kind)
{
    const bool away = now->workload.offload.activations;

    if (kind == SL_CHANGE_RESHARD && sl_framework_is_fsdp(now->workload.framework) &&
        now->plan.reshard != SL_RESHARD_ALWAYS)
        add(to, SL_RESHARD_ALWAYS);
    else if (kind == SL_CHANGE_OFFLOAD_OPTIMIZER)
        add_offloads(to, &now->workload, lacking);
    else if (kind == SL_CHANGE_OFFLOAD_ACTIVATIONS &&
             (lacking & (away ? SL_NODES_LACK : SL_DEVICES_LACK)) != 0)
        add(to, !away);
    else if (kind == SL_CHANGE_ADAPTER_BASE)
        add_base(to, &now->workload.adapter);
    else if (kind == SL_CHANGE_FRAMEWORK && question->sharded != NULL)
        add(to, SL_FRAMEWORK_FSDP2);
    else if (kind == SL_CHANGE_NODES)
        add_nodes(to, question);
}

uint32_t
sl_change_values(const sl_question *question, const sl_combination *now, uint32_t lacking,
                 sl_change_kind kind, uint64_t values[SL_CHANGE_VALUES_MAX])
{
    const sl_plan *plan = &now->plan;
    const bool fits = lacking == 0;
    list to = {.values = values};

    switch (kind) {
    case SL_CHANGE_RECOMPUTE:
        add_recomputations(&to, &now->workload);
        break;
    case SL_CHANGE_MICRO_BATCH:
        add_micro_batches(&to, now->workload.micro_batch, fits);
        break;
    case SL_CHANGE_TENSOR:
    case SL_CHANGE_PIPELINE:
    case SL_CHANGE_EXPERT:
    case SL_CHANGE_CONTEXT:
        add_cuts(&to, question, plan, kind, fits);
        break;
    case SL_CHANGE_SEQUENCE:
        if (plan->tensor > 1 && !plan->sequence)
            add(&to, true);
        break;
    case SL_CHANGE_ZERO_STAGE:
        for (uint32_t stage = plan->zero_stage + 1; stage <= 3; stage++)
            add(&to, stage);
        break;
    case SL_CHANGE_GRADIENT_SYNC:
        add_gradient_sync(&to, now);
        break;
    case SL_CHANGE_LOSS:
        add_losses(&to, &now->workload, fits);
        break;
    case SL_CHANGE_RESHARD:
    case SL_CHANGE_OFFLOAD_OPTIMIZER:
    case SL_CHANGE_OFFLOAD_ACTIVATIONS:
    case SL_CHANGE_ADAPTER_BASE:
    case SL_CHANGE_FRAMEWORK:
    case SL_CHANGE_NODES:
        if (!fits)
            add_what_only_frees(&to, question, now, lacking, kind);
        break;
    case SL_CHANGE_KIND_COUNT:
        assert(false);
    }
    return to.count;
}

void
sl_change_apply(sl_change change, const sl_question *question, sl_combination *c,
                sl_cluster *cluster)
{
    sl_workload *w = &c->workload;
    sl_plan *plan = &c->plan;

    switch (change.kind) {
    case SL_CHANGE_RECOMPUTE:
        w->recompute = (sl_recompute)change.value;
        w->recompute_method = SL_RECOMPUTE_EACH;
        break;
    case SL_CHANGE_MICRO_BATCH:
        w->micro_batch = change.value;
        break;
    case SL_CHANGE_TENSOR:
        plan->sequence = change.value > 1 &&
                         (plan->tensor > 1 ? plan->sequence : (bool)c->software->splits_sequence);
        plan->tensor = (uint32_t)change.value;
        break;
    case SL_CHANGE_PIPELINE:
        plan->pipeline = (uint32_t)change.value;
        break;
    case SL_CHANGE_EXPERT:
        plan->expert = (uint32_t)change.value;
        break;
    case SL_CHANGE_CONTEXT:
        plan->context = (uint32_t)change.value;
        break;
    case SL_CHANGE_SEQUENCE:
        plan->sequence = true;
        break;
    case SL_CHANGE_ZERO_STAGE:
        plan->zero_stage = (uint32_t)change.value;
        break;
    case SL_CHANGE_RESHARD:
        plan->reshard = (sl_reshard)change.value;
        break;
    case SL_CHANGE_GRADIENT_SYNC:
        plan->gradient_sync = (sl_gradient_sync)change.value;
        break;
    case SL_CHANGE_LOSS:
        w->loss = (sl_loss)change.value;
        break;
    case SL_CHANGE_OFFLOAD_OPTIMIZER:
        w->offload.optimizer = change.value > 0;
        /* Megatron moves the states of its distributed optimizer alone. */
        if (change.value > 0 && w->framework == SL_FRAMEWORK_MEGATRON && plan->zero_stage == 0)
            plan->zero_stage = 1;
        if (change.value == 0) {
            w->offload.optimizer_on_nvme = false;
            w->offload.optimizer_fraction = 0.0;
        } else if (change.value < 100 || w->offload.optimizer_fraction > 0.0)
            w->offload.optimizer_fraction = (double)change.value / 100.0;
        break;
    case SL_CHANGE_OFFLOAD_ACTIVATIONS:
        w->offload.activations = change.value > 0;
        if (!w->offload.activations)
            w->offload.activation_layers = 0;
        break;
    case SL_CHANGE_ADAPTER_BASE:
        w->adapter.base = (sl_adapter_base)change.value;
        break;
    case SL_CHANGE_FRAMEWORK: /* with what it does by itself */
        c->software = question->sharded;
        w->framework = (sl_framework)change.value;
        w->adapter.autocast =
            w->adapter.method != SL_ADAPTER_NONE && sl_adapter_autocast_by_default(w);
        plan->zero_stage = 3;
        break;
    case SL_CHANGE_NODES:
        cluster->nodes = (uint32_t)change.value;
        break;
    case SL_CHANGE_KIND_COUNT:
        assert(false);
    }
}
