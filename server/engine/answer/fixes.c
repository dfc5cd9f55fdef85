/* Changes to a plan, one at a time and, where none is surely enough, two, each evaluated as a
 * question of its own. */
#include "engine/answer/change.h"
#include "engine/placement/balance.h"
#include "engine/placement/states.h"
#include "engine/schedule/schedule.h"

enum { LAYOUT_MOVES = 256, LEADS = 4, PAIR_EVALUATIONS = 24, ENOUGH = 4 };

/* Less than this share of what lacks is no step on the way, nor is what takes this much longer. */
static const double least_share = 0.1, most_slower = 2.0;

/* The value of a kind that frees most by itself; 0 bytes: none does. */
typedef struct lead {
    sl_change change;
    double frees_bytes;
} lead;

typedef struct trial {
    const sl_question *question;
    sl_combination now;
    sl_cluster cluster; /* the question's, or larger */
    const char *what;
    const char *with; /* of two changes the other one */
    lead leads[SL_CHANGE_KIND_COUNT];
    uint32_t left; /* evaluations of pairs */
    sl_estimate *scratch;
    sl_estimate *out;
} trial;

static int
sureness(const sl_fix *fix)
{
    return sl_sureness(fix->fits, fix->fits_certain);
}

/* What fits first, and of that what needs no more nodes, what computes the same, what fits surely,
 * what has its whole time, then the faster. Of what does not fit, the smaller. */
static bool
is_before(const sl_fix *fix, const sl_fix *other)
{
    if (fix->fits != other->fits)
        return fix->fits;
    if (fix->nodes != other->nodes)
        return fix->nodes < other->nodes;
    if (fix->numerics_differ != other->numerics_differ)
        return !fix->numerics_differ;
    if (sureness(fix) != sureness(other))
        return sureness(fix) > sureness(other);
    if (fix->time_incomplete != other->time_incomplete)
        return !fix->time_incomplete;
    return fix->fits ? fix->step_s < other->step_s
                     : fix->device_total_bytes < other->device_total_bytes;
}

/* Names are static, and equal where they are the same; to the host go states, activations or both. */
static bool
is_alike(const sl_fix *a, const sl_fix *b)
{
    return ((a->what == b->what && a->with == b->with) ||
            (a->what == b->with && a->with == b->what)) &&
           a->workload.offload.optimizer == b->workload.offload.optimizer &&
           a->workload.offload.activations == b->workload.offload.activations;
}

/* Whether nobody takes a fix who has another of the same kind. */
static bool
is_worse(const sl_fix *fix, const sl_fix *other)
{
    if (!is_alike(fix, other) || sureness(fix) > sureness(other) || fix->nodes < other->nodes)
        return false;
    if (fix->nodes > other->nodes)
        return true;
    return fix->fits ? fix->step_s >= other->step_s
                     : fix->device_total_bytes >= other->device_total_bytes;
}

static void
insert(const sl_fix *fix, sl_estimate *out)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < out->fix_count; i++)
        if (is_worse(fix, &out->fixes[i]))
            return;
    for (uint32_t i = 0; i < out->fix_count; i++)
        if (!is_worse(&out->fixes[i], fix))
            out->fixes[kept++] = out->fixes[i];
    out->fix_count = kept;
    uint32_t at = kept;
    while (at > 0 && is_before(fix, &out->fixes[at - 1])) {
        if (at < SL_FIXES_MAX)
            out->fixes[at] = out->fixes[at - 1];
        at--;
    }
    if (at < SL_FIXES_MAX) {
        out->fixes[at] = *fix;
        if (out->fix_count < SL_FIXES_MAX)
            out->fix_count++;
    }
}

static bool
has_room(const sl_estimate *of)
{
    return sl_memory_has_room(&of->memory);
}

static uint32_t
lacking(const sl_estimate *of)
{
    return (of->fits ? 0 : SL_DEVICES_LACK) |
           (of->memory.host_lacking_bytes > 0 ? SL_NODES_LACK : 0);
}

/* What the fullest rank has left, less what a node lacks [bytes]. */
static double
left_bytes(const sl_memory *memory)
{
    return (double)memory->headroom_bytes - (double)memory->host_lacking_bytes;
}

/* Bytes that what was tried frees, unless it takes so long that nobody would. */
static double
freed_bytes(const trial *t)
{
    const double freed = left_bytes(&t->scratch->memory) - left_bytes(&t->out->memory);

    return t->scratch->time.step_s < most_slower * t->out->time.step_s ? freed : 0.0;
}

/* What leaves a node short is no fix, and where a node is short only what ends that. */
static bool
is_worth_it(const trial *t)
{
    const sl_estimate *tried = t->scratch, *out = t->out;

    if (has_room(out))
        return has_room(tried) && tried->time.step_s < 0.99 * out->time.step_s;
    return has_room(tried) ||
           (t->with == NULL && !out->fits && tried->memory.host_lacking_bytes == 0 &&
            freed_bytes(t) >= least_share * -(double)out->memory.headroom_bytes);
}

static void
keep_fix(const trial *t)
{
    const sl_estimate *tried = t->scratch;
    const sl_memory *memory = &tried->memory;
    const sl_offload *to = &tried->workload.offload, *from = &t->now.workload.offload;
    const bool moves = sl_states_away(&tried->workload) != sl_states_away(&t->now.workload) ||
                       to->activations != from->activations;

    if (!is_worth_it(t))
        return;

    const sl_fix fix = {
        .software = tried->software,
        .workload = tried->workload,
        .plan = tried->plan,
        .nodes = t->cluster.nodes,
        .what = t->what,
        .with = t->with,
        .time_incomplete = moves && t->cluster.accelerator.host_bytes_per_s <= 0.0,
        .device_total_bytes = memory->ranks[memory->binding].device_total_bytes,
        .step_s = tried->time.step_s,
        .numerics_differ = tried->workload.adapter.base != t->now.workload.adapter.base,
        .fits = tried->fits,
        .fits_certain = tried->fits_certain, /* no value is open */
    };
    insert(&fix, t->out);
}

/* True when the changed plan is legal and has an answer, which is in t->scratch. */
static bool
evaluate_changed(const trial *t, sl_combination changed)
{
    sl_question asked = *t->question;
    sl_errors ignored;
    sl_priced priced;
    uint64_t data = 0;

    if (!sl_plan_derive_data(&t->cluster, &changed.plan, &data))
        return false;
    changed.plan.data = (uint32_t)data;
    if (changed.plan.pipeline == 1)
        changed.plan.virtual_pipeline = 1;
    /* A layout is of one number of chunks. */
    if (changed.plan.pipeline * changed.plan.virtual_pipeline != changed.plan.layout_chunks &&
        changed.plan.layout_chunks > 0)
        return false;
    changed.plan.schedule = sl_schedule_of(&changed.plan);
    asked.cluster = &t->cluster;
    asked.workload = changed.workload;
    asked.plan = changed.plan;
    asked.unknown = 0;
    sl_errors_begin(&ignored, true);
    if (sl_question_check(&asked, &ignored) != SL_OK)
        return false;
    sl_evaluate_price(&asked, &changed, SL_CLOCK_HELD, &priced);
    if (!sl_evaluate(&asked, &changed, &priced, t->scratch))
        return false;
    t->scratch->software = changed.software;
    t->scratch->workload = changed.workload;
    t->scratch->plan = changed.plan;
    return true;
}

/* One change, or two: other is NULL or the second. */
static bool
evaluate_with(trial *t, sl_change change, const sl_change *other)
{
    sl_combination c = t->now;

    t->cluster.nodes = t->question->cluster->nodes;
    if (other != NULL)
        sl_change_apply(*other, t->question, &c, &t->cluster);
    sl_change_apply(change, t->question, &c, &t->cluster);
    t->what = other != NULL ? sl_change_name(other->kind) : sl_change_name(change.kind);
    t->with = other != NULL ? sl_change_name(change.kind) : NULL;
    if (t->with == t->what) /* both of what goes to the host are one member */
        t->with = NULL;
    return evaluate_changed(t, c);
}

/* Whether it fits then. */
static bool
try_layout(trial *t, sl_combination changed)
{
    t->what = "pipeline_layout";
    if (!evaluate_changed(t, changed))
        return false;
    keep_fix(t);
    return has_room(t->scratch);
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
        if (try_layout(t, c) || t->scratch->memory.headroom_bytes <= before)
            return;
    }
}

/* Pools of different parts: layers in proportion to their speed, and where that does not fit, to
 * their memory. */
static void
try_layouts(trial *t)
{
    uint32_t blocks[SL_PIPELINE_MAX] = {0};
    sl_combination c = t->now;
    sl_known of;

    if (t->cluster.pool_count == 0)
        return;
    sl_evaluate_know(t->question, t->out, &of);
    if (!sl_balance_blocks(&of.c, blocks))
        return;
    sl_balance_deal(blocks, &c.plan);
    if (!try_layout(t, c) && evaluate_changed(t, c))
        try_lighter_layouts(t, c, blocks);
}

/* A plan without room takes the values of a kind until one is surely enough; one with room takes
 * them all. */
static void
try_kind(trial *t, sl_change_kind kind)
{
    uint64_t values[SL_CHANGE_VALUES_MAX];
    const uint32_t count = sl_change_values(t->question, &t->now, lacking(t->out), kind, values);
    lead *best = &t->leads[kind];

    for (uint32_t i = 0; i < count; i++) {
        const sl_change change = {kind, values[i]};
        if (!evaluate_with(t, change, NULL))
            continue;
        keep_fix(t);
        if (!has_room(t->out) && t->scratch->fits && t->scratch->fits_certain)
            return;
        if (freed_bytes(t) > best->frees_bytes)
            *best = (lead){change, freed_bytes(t)};
    }
}

/* Fixes that surely fit on the same nodes and compute the same. */
static uint32_t
count_sure(const trial *t)
{
    uint32_t sure = 0;

    for (uint32_t i = 0; i < t->out->fix_count; i++) {
        const sl_fix *fix = &t->out->fixes[i];
        sure += sureness(fix) == 2 && fix->nodes == t->question->cluster->nodes &&
                !fix->numerics_differ;
    }
    return sure;
}

static bool
is_number(sl_change_kind kind)
{
    return (kind >= SL_CHANGE_MICRO_BATCH && kind <= SL_CHANGE_CONTEXT) || kind == SL_CHANGE_NODES;
}

/* The values of one kind on top of the other's best, until both are enough. Where one of them is no
 * number, that one stays. */
static void
try_pair(trial *t, const lead *first, const lead *second)
{
    const bool swap = is_number(first->change.kind) && !is_number(second->change.kind);
    const sl_change fixed = swap ? second->change : first->change;
    const sl_change_kind kind = swap ? first->change.kind : second->change.kind;
    uint64_t values[SL_CHANGE_VALUES_MAX];
    const uint32_t count = sl_change_values(t->question, &t->now, lacking(t->out), kind, values);

    for (uint32_t i = 0; i < count && t->left > 0; i++) {
        if (!evaluate_with(t, (sl_change){kind, values[i]}, &fixed))
            continue;
        t->left--;
        keep_fix(t);
        if (t->scratch->fits && t->scratch->fits_certain)
            return;
    }
}

/* Each of the kinds that free most with each that frees anything; what frees most first, until
 * there is enough to choose from. */
static void
try_pairs(trial *t)
{
    lead leads[SL_CHANGE_KIND_COUNT];
    uint32_t count = 0;

    for (uint32_t kind = 0; kind < SL_CHANGE_KIND_COUNT; kind++) {
        if (t->leads[kind].frees_bytes <= 0.0)
            continue;
        uint32_t at = count++;
        for (; at > 0 && leads[at - 1].frees_bytes < t->leads[kind].frees_bytes; at--)
            leads[at] = leads[at - 1];
        leads[at] = t->leads[kind];
    }
    t->left = PAIR_EVALUATIONS;
    for (uint32_t j = 1; j < count; j++)
        for (uint32_t i = 0; i < j && i < LEADS && count_sure(t) < ENOUGH; i++)
            try_pair(t, &leads[i], &leads[j]);
}

/* Whether who has the other, which fits, has no use for a fix: one that is not enough; one that takes
 * much longer and fits no more surely; two changes that fit by their peak alone, where one does or
 * others do surely. */
static bool
is_in_the_way(const sl_fix *fix, const sl_fix *other)
{
    if (!other->fits || other->numerics_differ > fix->numerics_differ)
        return false;
    if (!fix->fits)
        return true;
    if (other->nodes > fix->nodes)
        return false;
    return (sureness(other) >= sureness(fix) && fix->step_s > most_slower * other->step_s) ||
           (fix->with != NULL && !fix->fits_certain &&
            (other->with == NULL || other->fits_certain));
}

static void
drop_what_is_in_the_way(sl_estimate *out)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < out->fix_count; i++) {
        bool useful = true;
        for (uint32_t j = 0; j < kept && useful; j++)
            useful = !is_in_the_way(&out->fixes[i], &out->fixes[j]);
        if (useful)
            out->fixes[kept++] = out->fixes[i];
    }
    out->fix_count = kept;
}

void
sl_evaluate_fixes(const sl_question *question, sl_estimate *scratch, sl_estimate *out)
{
    trial t = {.question = question,
               .now = {out->software, out->workload, out->plan},
               .cluster = *question->cluster,
               .scratch = scratch,
               .out = out};

    out->fix_count = 0;
    for (uint32_t kind = 0; kind < SL_CHANGE_KIND_COUNT; kind++)
        try_kind(&t, (sl_change_kind)kind);
    t.cluster.nodes = question->cluster->nodes;
    t.with = NULL;
    try_layouts(&t);
    if (!has_room(out) && count_sure(&t) == 0)
        try_pairs(&t);
    drop_what_is_in_the_way(out);
}
