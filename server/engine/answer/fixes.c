/* Single changes to a plan, each evaluated as a question of its own. */
#include "engine/answer/evaluate.h"
#include "engine/placement/balance.h"
#include "engine/schedule/schedule.h"

enum { NODE_DOUBLINGS = 3, NODES_MAX = 1 << 20, LAYOUT_MOVES = 256 };

/* What is tried, and on which cluster. */
typedef struct trial {
    const sl_question *question;
    const sl_cluster *cluster;
    const char *what;
    bool time_incomplete;
    sl_estimate *scratch;
    sl_estimate *out;
} trial;

/* What fits first, and of that what needs no more nodes, what has its whole time, then the faster;
 * then the smaller. */
static bool
is_before(const sl_fix *fix, const sl_fix *other)
{
    if (fix->fits != other->fits)
        return fix->fits;
    if (fix->nodes != other->nodes)
        return fix->nodes < other->nodes;
    if (fix->time_incomplete != other->time_incomplete)
        return !fix->time_incomplete;
    return fix->fits ? fix->step_s < other->step_s
                     : fix->device_total_bytes < other->device_total_bytes;
}

static void
keep_fix(const trial *t)
{
    const sl_estimate *tried = t->scratch;
    sl_estimate *out = t->out;
    const uint64_t total = tried->memory.ranks[tried->memory.binding].device_total_bytes;
    const bool frees = tried->memory.headroom_bytes > out->memory.headroom_bytes;
    const bool faster = tried->fits && tried->time.step_s < 0.99 * out->time.step_s;

    if (out->fits ? !faster : !frees)
        return;

    const sl_fix fix = {
        .workload = tried->workload,
        .plan = tried->plan,
        .nodes = t->cluster->nodes,
        .what = t->what,
        .time_incomplete = t->time_incomplete,
        .device_total_bytes = total,
        .step_s = tried->time.step_s,
        .fits = tried->fits,
        .fits_certain = tried->fits_certain, /* no value is open */
    };
    uint32_t at = out->fix_count;
    while (at > 0 && is_before(&fix, &out->fixes[at - 1])) {
        if (at < SL_FIXES_MAX)
            out->fixes[at] = out->fixes[at - 1];
        at--;
    }
    if (at < SL_FIXES_MAX) {
        out->fixes[at] = fix;
        if (out->fix_count < SL_FIXES_MAX)
            out->fix_count++;
    }
}

/* True when the changed plan is legal and has an answer, which is in t->scratch. */
static bool
evaluate_changed(const trial *t, sl_combination changed)
{
    sl_question asked = *t->question;
    sl_errors ignored;
    sl_priced priced;
    uint64_t data = 0;

    if (!sl_plan_derive_data(t->cluster, &changed.plan, &data))
        return false;
    changed.plan.data = (uint32_t)data;
    if (changed.plan.pipeline == 1)
        changed.plan.virtual_pipeline = 1;
    /* A layout is of one number of chunks. */
    if (changed.plan.pipeline * changed.plan.virtual_pipeline != changed.plan.layout_chunks &&
        changed.plan.layout_chunks > 0)
        return false;
    changed.plan.schedule = sl_schedule_of(&changed.plan);
    asked.cluster = t->cluster;
    asked.workload = changed.workload;
    asked.plan = changed.plan;
    asked.unknown = 0;
    sl_errors_begin(&ignored, true);
    if (sl_question_check(&asked, &ignored) != SL_OK)
        return false;
    sl_evaluate_price(&asked, &changed, SL_CLOCK_HELD, &priced);
    if (!sl_evaluate(&asked, &changed, &priced, t->scratch))
        return false;
    t->scratch->workload = changed.workload;
    t->scratch->plan = changed.plan;
    return true;
}

/* Whether it fits then. */
static bool
try_named(trial *t, const char *what, sl_combination changed)
{
    t->what = what;
    if (!evaluate_changed(t, changed))
        return false;
    keep_fix(t);
    return t->scratch->fits;
}

static void
try_recompute(trial *t, const sl_combination *now)
{
    for (uint32_t mode = 0; mode < SL_RECOMPUTE_WORDS; mode++) {
        sl_combination c = *now;
        c.workload.recompute = (sl_recompute)mode;
        c.workload.recompute_method = SL_RECOMPUTE_EACH;
        if ((mode != now->workload.recompute ||
             c.workload.recompute_method != now->workload.recompute_method) &&
            sl_recompute_matters(&c.workload))
            (void)try_named(t, "recompute", c);
    }
}

static void
try_degrees(trial *t, const sl_combination *now)
{
    for (uint32_t doubled = 0; doubled < 2; doubled++) {
        sl_combination c = *now;
        c.workload.micro_batch =
            doubled ? now->workload.micro_batch * 2 : now->workload.micro_batch / 2;
        if (c.workload.micro_batch >= 1)
            (void)try_named(t, "micro_batch_size", c);
        c = *now;
        c.plan.tensor = doubled ? now->plan.tensor * 2 : now->plan.tensor / 2;
        c.plan.sequence = now->plan.sequence && c.plan.tensor > 1;
        if (c.plan.tensor >= 1 && c.plan.tensor <= t->cluster->accelerators_per_node)
            (void)try_named(t, "tensor", c);
        c = *now;
        c.plan.pipeline = doubled ? now->plan.pipeline * 2 : now->plan.pipeline / 2;
        if (c.plan.pipeline >= 1)
            (void)try_named(t, "pipeline", c);
    }
    if (now->plan.tensor > 1 && !now->plan.sequence) {
        sl_combination c = *now;
        c.plan.sequence = true;
        (void)try_named(t, "sequence", c);
    }
    for (uint32_t stage = now->plan.zero_stage + 1; stage <= 3; stage++) {
        sl_combination c = *now;
        c.plan.zero_stage = stage;
        (void)try_named(t, "zero_stage", c);
    }
}

/* Whole gradients take room, and reducing them with every micro-batch takes time. */
static void
try_gradient_sync(trial *t, const sl_combination *now)
{
    sl_combination c = *now;

    if (sl_plan_microbatches(&now->workload, &now->plan) <= 1)
        return;
    c.plan.gradient_sync =
        sl_plan_gradient_sync(&now->workload, &now->plan) == SL_GRADIENT_SYNC_EACH
            ? SL_GRADIENT_SYNC_LAST
            : SL_GRADIENT_SYNC_EACH;
    (void)try_named(t, "gradient_sync", c);
}

/* To the host, when the device is too small; what that costs in time is not known where the link to
 * the host is not. Both go only where neither alone is enough. */
static void
try_offload(trial *t, const sl_combination *now)
{
    sl_combination states = *now;
    sl_combination activations = *now;
    bool enough = false;

    states.workload.offload.optimizer = true;
    activations.workload.offload.activations = true;
    t->time_incomplete = t->question->cluster->accelerator.host_bytes_per_s <= 0.0;
    if (!now->workload.offload.optimizer)
        enough = try_named(t, "offload", states);
    if (!now->workload.offload.activations)
        enough = try_named(t, "offload", activations) || enough;
    states.workload.offload.activations = true;
    if (!enough && !now->workload.offload.optimizer && !now->workload.offload.activations)
        (void)try_named(t, "offload", states);
    t->time_incomplete = false;
}

/* The fewest nodes, by doubling, on which the plan as it is fits. */
static void
try_nodes(trial *t, const sl_combination *now)
{
    sl_cluster larger = *t->question->cluster;

    t->what = "nodes";
    t->cluster = &larger;
    for (uint32_t i = 0; i < NODE_DOUBLINGS && larger.nodes <= NODES_MAX / 2; i++) {
        larger.nodes *= 2;
        if (evaluate_changed(t, *now) && t->scratch->fits) {
            keep_fix(t);
            break;
        }
    }
    t->cluster = t->question->cluster;
}

/* The stage of the ranks that have most memory left. */
static uint32_t
emptiest_stage(const sl_memory *memory)
{
    int64_t most_left = INT64_MIN;
    uint32_t stage = 0;

    for (uint32_t i = 0; i < memory->rank_count; i++) {
        const sl_rank_memory *rank = &memory->ranks[i];
        const int64_t left = (int64_t)rank->usable_bytes - (int64_t)rank->device_total_bytes;
        if (left <= most_left)
            continue;
        most_left = left;
        stage = rank->first_stage;
    }
    return stage;
}

/* Blocks go, one by one, from the rank that lacks most memory to the one with most left, as long as
 * that helps. */
static void
try_lighter_layouts(trial *t, sl_combination c, uint32_t blocks[SL_PIPELINE_MAX])
{
    for (uint32_t moves = 0; moves < LAYOUT_MOVES; moves++) {
        const sl_memory *memory = &t->scratch->memory;
        const uint32_t from = memory->ranks[memory->binding].first_stage;
        const uint32_t to = emptiest_stage(memory);
        const int64_t before = memory->headroom_bytes;
        if (from == to || blocks[from] <= sl_balance_fewest(&c.plan, from))
            return;
        blocks[from]--;
        blocks[to]++;
        sl_balance_deal(blocks, &c.plan);
        if (try_named(t, "pipeline_layout", c) || t->scratch->memory.headroom_bytes <= before)
            return;
    }
}

/* Pools of different parts: layers in proportion to their speed, and where that does not fit, to
 * their memory. */
static void
try_layouts(trial *t, const sl_combination *now)
{
    uint32_t blocks[SL_PIPELINE_MAX] = {0};
    sl_combination c = *now;
    sl_known of;

    if (t->cluster->pool_count == 0)
        return;
    sl_evaluate_know(t->question, t->out, &of);
    if (!sl_balance_blocks(&of.c, blocks))
        return;
    sl_balance_deal(blocks, &c.plan);
    if (!try_named(t, "pipeline_layout", c) && evaluate_changed(t, c))
        try_lighter_layouts(t, c, blocks);
}

void
sl_evaluate_fixes(const sl_question *question, sl_estimate *scratch, sl_estimate *out)
{
    const sl_combination now = {out->software, out->workload, out->plan};
    trial t = {.question = question, .cluster = question->cluster, .scratch = scratch, .out = out};

    out->fix_count = 0;
    try_recompute(&t, &now);
    try_degrees(&t, &now);
    try_gradient_sync(&t, &now);
    try_layouts(&t, &now);
    if (out->fits)
        return;
    try_offload(&t, &now);
    if (!question->nodes_fixed && question->cluster->pool_count == 0)
        try_nodes(&t, &now);
}
