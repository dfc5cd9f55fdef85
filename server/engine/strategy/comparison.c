#include "engine/strategy/comparison.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/memory/memory.h"

/* A model that needs up to so many devices is slightly larger than one. */
static const double slightly_ratio = 2.0;

#define DATA (1u << SL_SITUATION_DATA_LARGE)
#define SLIGHTLY (1u << SL_SITUATION_SLIGHTLY_LARGE)
#define MODEL (1u << SL_SITUATION_MODEL_LARGE)
#define BOTH (1u << SL_SITUATION_BOTH)

static const uint32_t suited[SL_STRATEGY_COUNT] = {
    [SL_STRATEGY_DP] = DATA,
    [SL_STRATEGY_DDP] = DATA,
    [SL_STRATEGY_ZERO_1] = DATA | SLIGHTLY,
    [SL_STRATEGY_ZERO_2] = DATA | SLIGHTLY,
    [SL_STRATEGY_ZERO_3] = SLIGHTLY | MODEL | BOTH,
    [SL_STRATEGY_FSDP_SHARD_GRAD_OP] = DATA | SLIGHTLY | BOTH,
    [SL_STRATEGY_FSDP_FULL_SHARD] = SLIGHTLY | MODEL | BOTH,
    [SL_STRATEGY_HSDP] = BOTH,
    [SL_STRATEGY_HSDP_ZERO_2] = BOTH,
    [SL_STRATEGY_TENSOR] = SLIGHTLY | MODEL,
    [SL_STRATEGY_PIPELINE] = MODEL | BOTH,
    [SL_STRATEGY_LAYER_WISE] = SLIGHTLY | MODEL,
    [SL_STRATEGY_LAYER_WISE_DDP] = SLIGHTLY | BOTH,
    [SL_STRATEGY_CPU_LAYERS] = SLIGHTLY,
    [SL_STRATEGY_OFFLOAD] = SLIGHTLY | MODEL,
    [SL_STRATEGY_MIXED] = MODEL | BOTH,
};

bool
sl_strategy_suits(sl_strategy strategy, sl_situation situation)
{
    return (suited[strategy] >> situation & 1u) != 0;
}

static void
refuse(sl_entry *entry, const sl_errors *why)
{
    assert(why->count > 0);
    entry->legal = false;
    entry->refused = why->list[0];
}

/* Whether the engine has no price for something that goes over the link to the host. */
static bool
lacks_time(const sl_question *question, const sl_workload *workload)
{
    const sl_offload *offload = &workload->offload;
    const bool any = offload->optimizer || offload->parameters || offload->activations;

    return offload->optimizer_on_nvme || offload->parameters_on_nvme ||
           (any && question->cluster->accelerator.host_bytes_per_s <= 0.0);
}

static void
keep_answer(const sl_question *question, const sl_estimate *answer, sl_entry *entry)
{
    entry->legal = true;
    entry->question = *question;
    entry->workload = answer->workload;
    entry->plan = answer->plan;
    entry->software = answer->software;
    entry->fits = answer->fits;
    entry->fits_certain = answer->fits_certain;
    entry->time_incomplete = lacks_time(question, &answer->workload);
    entry->usable_bytes = answer->memory.usable_bytes;
    entry->headroom_bytes = answer->memory.headroom_bytes;
    entry->host_bytes_per_node = answer->memory.host_per_node.bytes;
    entry->host_lacking_bytes = answer->memory.host_lacking_bytes;
    entry->lacking_bytes = sl_memory_lacking_bytes(&answer->memory);
    entry->fullest = answer->memory.ranks[answer->memory.binding];
    entry->time = answer->time;
    entry->step_low_s = answer->step_low_s;
    entry->step_high_s = answer->step_high_s;
    entry->throughput = answer->throughput;
    for (uint32_t i = 0; i < answer->time.communication_count; i++)
        entry->latency_s[i] =
            sl_scaling_latency_s(question, answer, &answer->time.communication[i]);
    sl_failure_measure(answer, &entry->failure);
    entry->note_count = answer->note_count;
    memcpy(entry->notes, answer->notes, answer->note_count * sizeof *answer->notes);
}

static bool
answer_question(const sl_question *question, sl_estimate *scratch, sl_estimate *answer,
                sl_entry *entry)
{
    sl_errors why = {0};

    if (sl_question_check(question, &why) != SL_OK ||
        sl_estimate_answer(question, scratch, answer, &why) != SL_OK) {
        refuse(entry, &why);
        return false;
    }
    keep_answer(question, answer, entry);
    return true;
}

static void
answer_strategy(const sl_comparison_ask *ask, sl_strategy strategy, sl_estimate *scratch,
                sl_estimate *answer, sl_entry *entry)
{
    sl_question question;
    sl_errors why = {0};

    if (strategy == SL_STRATEGY_GIVEN) {
        assert(ask->given != NULL);
        question = *ask->given;
    } else if (sl_strategy_derive(ask, strategy, scratch, &question, &why) != SL_OK) {
        refuse(entry, &why);
        return;
    }
    if (answer_question(&question, scratch, answer, entry))
        sl_scaling_measure(&question, answer, scratch, &entry->scaling);
}

/* Of those that have room and suit. */
typedef struct pick {
    int fastest, chosen;
} pick;

/* What a plan must have to be recommended. */
typedef struct demand {
    bool complete; /* all of its time */
    bool sure;     /* to fit at both ends of its interval */
} demand;

static bool
competes(const sl_comparison *c, uint32_t i, uint32_t situations, demand d)
{
    const sl_entry *entry = &c->strategies[i];

    return c->asked[i] && i != SL_STRATEGY_GIVEN && entry->legal && entry->lacking_bytes == 0.0 &&
           (suited[i] & situations) != 0 && !(d.complete && entry->time_incomplete) &&
           !(d.sure && !entry->fits_certain);
}

/* Of equals the later: on one device dp and ddp are the same, and PyTorch advises the latter. */
static pick
pick_among(const sl_comparison *c, uint32_t situations, demand d)
{
    pick p = {SL_NOTHING, SL_NOTHING};

    for (uint32_t i = 0; i < SL_STRATEGY_COUNT; i++)
        if (competes(c, i, situations, d) &&
            (p.fastest == SL_NOTHING ||
             c->strategies[i].time.step_s <= c->strategies[p.fastest].time.step_s))
            p.fastest = (int)i;
    for (uint32_t i = 0; i < SL_STRATEGY_COUNT; i++) {
        if (!competes(c, i, situations, d) ||
            c->strategies[i].time.step_s >
                SL_COMPARISON_ALIKE_RATIO * c->strategies[p.fastest].time.step_s)
            continue;
        const uint32_t complexity = sl_strategy_complexity((sl_strategy)i);
        const uint32_t before =
            p.chosen == SL_NOTHING ? UINT32_MAX : sl_strategy_complexity((sl_strategy)p.chosen);
        if (complexity < before ||
            (complexity == before &&
             c->strategies[i].time.step_s <= c->strategies[p.chosen].time.step_s))
            p.chosen = (int)i;
    }
    return p;
}

static pick
pick_best(const sl_comparison *c, uint32_t situations)
{
    static const demand falling[] = {{true, true}, {true, false}, {false, true}, {false, false}};
    pick p = {SL_NOTHING, SL_NOTHING};

    for (size_t i = 0; i < sizeof falling / sizeof *falling && p.chosen == SL_NOTHING; i++)
        p = pick_among(c, situations, falling[i]);
    return p;
}

/* Who would rather have the time than be sure has to know. */
static int
find_riskier(const sl_comparison *c, uint32_t situations)
{
    const int any = pick_among(c, situations, (demand){.complete = true}).fastest;

    if (any == SL_NOTHING || c->strategies[any].fits_certain ||
        c->strategies[any].time.step_s * SL_COMPARISON_ALIKE_RATIO >=
            c->strategies[c->recommended].time.step_s)
        return SL_NOTHING;
    return any;
}

static void
recommend(sl_comparison *c)
{
    const uint32_t all = DATA | SLIGHTLY | MODEL | BOTH;
    const pick best = pick_best(c, all);

    c->recommended = best.chosen;
    c->fastest = best.fastest;
    c->riskier = best.chosen == SL_NOTHING ? SL_NOTHING : find_riskier(c, all);
    c->nearest = SL_NOTHING;
    for (uint32_t i = SL_STRATEGY_GIVEN + 1; i < SL_STRATEGY_COUNT; i++)
        if (c->asked[i] && c->strategies[i].legal && c->strategies[i].lacking_bytes > 0.0 &&
            (c->nearest == SL_NOTHING ||
             c->strategies[i].lacking_bytes < c->strategies[c->nearest].lacking_bytes))
            c->nearest = (int)i;
    for (uint32_t s = 0; s < SL_SITUATION_COUNT; s++)
        c->best_of[s] = pick_best(c, 1u << s).chosen;
}

/* By what the whole of it needs on one device, whatever micro-batch and recomputation are to be. */
static void
place(const sl_comparison_ask *ask, sl_estimate *scratch, sl_estimate *answer, sl_comparison *c)
{
    const sl_cluster *cluster = ask->question->cluster;
    const double world = (double)sl_cluster_accelerators(cluster);
    sl_cluster one = *cluster;
    sl_question alone = *ask->question;
    sl_comparison_ask asked = *ask;
    sl_errors ignored = {0};

    one.nodes = one.accelerators_per_node = 1;
    one.pool_count = 0; /* a device of what all pools have in common */
    alone.cluster = &one;
    alone.unknown |= SL_UNKNOWN_MICRO_BATCH | SL_UNKNOWN_RECOMPUTE;
    alone.plan.overlap_experts = false;
    asked.question = &alone;
    asked.predicts = false;
    const sl_memory *const memory = &answer->memory;
    /* Of a device without room there is no ratio. */
    c->placed = sl_strategy_derive(&asked, SL_STRATEGY_DDP, scratch, &alone, &ignored) == SL_OK &&
                sl_estimate_answer(&alone, scratch, answer, &ignored) == SL_OK &&
                memory->usable_bytes > 0;
    if (!c->placed)
        return;
    c->replica_ratio =
        (double)memory->ranks[memory->binding].device_total_bytes / (double)memory->usable_bytes;
    c->situation = c->replica_ratio <= 1.0              ? SL_SITUATION_DATA_LARGE
                   : c->replica_ratio <= slightly_ratio ? SL_SITUATION_SLIGHTLY_LARGE
                   : world < 2.0 * c->replica_ratio     ? SL_SITUATION_MODEL_LARGE
                                                        : SL_SITUATION_BOTH;
}

void
sl_comparison_answer(const sl_comparison_ask *ask, sl_estimate *scratch, sl_estimate *answer,
                     sl_comparison *out)
{
    assert(ask != NULL && scratch != NULL && answer != NULL && scratch != answer && out != NULL);

    memset(out->strategies, 0, sizeof out->strategies);
    for (uint32_t i = 0; i < SL_STRATEGY_COUNT; i++)
        if (out->asked[i])
            answer_strategy(ask, (sl_strategy)i, scratch, answer, &out->strategies[i]);
    place(ask, scratch, answer, out);
    recommend(out);
}

/* What trains most first; of the same method what fits surely, then the faster. */
static bool
is_before(const sl_tuning_comparison *c, uint32_t a, int b)
{
    if (b == SL_NOTHING)
        return true;

    const sl_tuning_method of_a = c->choices[a].method, of_b = c->choices[b].method;
    const sl_entry *const entry = &c->entries[a], *const other = &c->entries[b];
    if (of_a != of_b)
        return of_a < of_b;
    return entry->fits_certain != other->fits_certain ? entry->fits_certain
                                                      : entry->time.step_s < other->time.step_s;
}

void
sl_tuning_answer(const sl_question *question, sl_estimate *scratch, sl_estimate *answer,
                 sl_tuning_comparison *out)
{
    assert(question != NULL && scratch != NULL && answer != NULL && out != NULL);

    memset(out, 0, sizeof *out);
    out->recommended = out->base = SL_NOTHING;
    out->count = sl_tunings_list(question, out->choices);
    for (uint32_t i = 0; i < out->count; i++) {
        const sl_question asked = sl_tuning_question(question, &out->choices[i]);
        sl_entry *const entry = &out->entries[i];
        if (!answer_question(&asked, scratch, answer, entry))
            continue;
        if (out->base == SL_NOTHING)
            out->base = (int)i;
        if (entry->lacking_bytes == 0.0 && is_before(out, i, out->recommended))
            out->recommended = (int)i;
    }
}
