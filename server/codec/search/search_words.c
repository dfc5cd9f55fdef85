#include "codec/search/search_words.h"

#include <assert.h>
#include <stddef.h>

#include "base/number.h"
#include "base/text.h"
#include "codec/comparison/comparison_entry.h"
#include "shardline/units.h"

enum { NAME_BYTES = 48 };

typedef enum unit { UNIT_NONE, UNIT_BYTES, UNIT_SECONDS, UNIT_RATE, UNIT_MONEY, UNIT_COUNT } unit;

/* What a plan must keep, beside the rules that make it one. */
typedef struct wish {
    const char *rule;
    const char *pointer;
    const char *words; /* of the class, then what the nearest does */
    unit of;
} wish;

static const wish wishes[] = {
    {"out_of_memory", "/cluster", "out of memory: the nearest plan lacks", UNIT_BYTES},
    {"host_memory", "/cluster", "out of host memory: the nearest plan lacks", UNIT_BYTES},
    {"headroom_ratio", "/constraints/headroom_ratio",
     "too little memory left free: the nearest plan lacks", UNIT_BYTES},
    {"max_step_s", "/constraints/max_step_s", "too slow: the nearest plan's step is longer by",
     UNIT_SECONDS},
    {"min_tokens_per_s", "/constraints/min_tokens_per_s", "too slow: the nearest plan lacks",
     UNIT_RATE},
    {"deadline_s", "/constraints/deadline_s", "too late: the nearest plan ends later by",
     UNIT_SECONDS},
    {"budget", "/constraints/budget", "too dear: the nearest plan costs more by", UNIT_MONEY},
    {"max_accelerators", "/constraints/max_accelerators",
     "too large: the nearest plan has more accelerators by", UNIT_COUNT},
};

static const wish *
wish_of(const char *rule)
{
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++)
        if (sl_text_equal(wishes[i].rule, rule))
            return &wishes[i];
    return NULL;
}

/* Rules that forbid a plan, in words; what is not among them is spelled as its name. */
static const struct {
    const char *rule, *words;
} rules[] = {
    {"world_size_mismatch", "the degrees do not multiply out to the accelerators"},
    {"not_divisible", "something does not divide evenly"},
    {"beyond_domain", "tensor groups would leave the scale-up domain"},
    {"too_few_layers", "a stage would have no layer"},
    {"schedule_mismatch", "the schedule does not go with so many chunks"},
    {"microbatches_not_divisible", "interleaving needs micro-batches that the stages divide"},
    {"never_ends", "failures and checkpoints leave no time to train: it never ends"},
    {"not_modelled", "not modelled"},
    {"other_rules", "other rules"},
};

static void
amount_say(unit of, double amount, char *out, size_t size)
{
    switch (of) {
    case UNIT_BYTES:
        if (amount < 0.1 * SL_GIB_BYTES)
            (void)sl_text_format(out, size, "%.1f MiB", 1024.0 * amount / SL_GIB_BYTES);
        else
            (void)sl_text_format(out, size, "%.2f GiB", amount / SL_GIB_BYTES);
        return;
    case UNIT_SECONDS:
        (void)sl_text_format(out, size, "%s s", sl_number_say(amount, 0.0).text);
        return;
    case UNIT_RATE:
        (void)sl_text_format(out, size, "%s tokens/s", sl_number_say(amount, 0.0).text);
        return;
    default:
        (void)sl_text_format(out, size, "%s", sl_number_say(amount, 0.0).text);
        return;
    }
}

void
sl_reason_say(const sl_search_reason *reason, char out[SL_SEARCH_SENTENCE_BYTES])
{
    const wish *const w = wish_of(reason->rule);
    const char *words = NULL;
    char name[NAME_BYTES], amount[NAME_BYTES];

    if (w != NULL) {
        amount_say(w->of, reason->least, amount, sizeof amount);
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES, "%s %s", w->words, amount);
        return;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (sl_text_equal(rules[i].rule, reason->rule))
            words = rules[i].words;
    sl_spell(reason->rule, name, sizeof name);
    if (words == NULL)
        words = name;
    if (*reason->pointer != '\0')
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES, "%s, by %s", words, reason->pointer);
    else
        (void)sl_text_copy(out, SL_SEARCH_SENTENCE_BYTES, words);
}

const char *
sl_reason_pointer(const sl_search_reason *reason)
{
    const wish *const w = wish_of(reason->rule);

    if (w != NULL)
        return w->pointer;
    return *reason->pointer != '\0' ? reason->pointer : NULL;
}

double
sl_reason_limit(const sl_search_reason *reason, const sl_search_request *request)
{
    const sl_constraints *const by = &request->constraints;
    const sl_search_point *const p = &reason->nearest;
    const struct {
        const char *rule;
        double limit;
    } limits[] = {
        {"out_of_memory", (double)p->device_total_bytes + (double)p->headroom_bytes},
        {"host_memory", (double)p->host_room_bytes},
        {"headroom_ratio", by->headroom_ratio},
        {"max_step_s", by->max_step_s},
        {"min_tokens_per_s", by->min_tokens_per_s},
        {"deadline_s", by->deadline_s},
        {"budget", by->budget},
    };

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (sl_text_equal(limits[i].rule, reason->rule))
            return limits[i].limit;
    return 0.0;
}

double
sl_reason_needed(const sl_search_reason *reason)
{
    const sl_search_point *const p = &reason->nearest;
    const double usable = (double)p->device_total_bytes + (double)p->headroom_bytes;
    const struct {
        const char *rule;
        double value;
    } values[] = {
        {"out_of_memory", (double)p->device_total_bytes},
        {"host_memory", (double)p->host_room_bytes + (double)p->host_lacking_bytes},
        {"headroom_ratio", usable > 0.0 ? (double)p->headroom_bytes / usable : 0.0},
        {"max_step_s", p->step_s},
        {"min_tokens_per_s", p->tokens_per_s},
        {"deadline_s", p->time_to_train_s},
        {"budget", p->cost},
    };

    if (!reason->has_nearest)
        return 0.0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (sl_text_equal(values[i].rule, reason->rule))
            return values[i].value;
    return 0.0;
}

/* By which share of it the nearest plan misses what was asked; below 0 for what is no
 * constraint. */
static double
share_missed(const sl_search_reason *reason, const sl_search_request *request)
{
    const sl_search_point *const p = &reason->nearest;
    double limit = sl_reason_limit(reason, request);

    if (sl_text_equal(reason->rule, "headroom_ratio")) /* misses are bytes */
        limit = (double)p->device_total_bytes + (double)p->headroom_bytes;
    return reason->has_nearest && limit > 0.0 ? reason->least / limit : -1.0;
}

bool
sl_reason_is_of_memory(const sl_search_reason *reason)
{
    return sl_text_equal(reason->rule, "out_of_memory") ||
           sl_text_equal(reason->rule, "host_memory");
}

/* Memory is as it is: only where no plan fits does it stand before what was asked for. */
const sl_search_reason *
sl_reason_tightest(const sl_search_outcome *outcome, const sl_search_request *request)
{
    const sl_search_reason *tightest = NULL;
    const sl_search_reason *memory = NULL;

    for (uint32_t i = 0; i < outcome->reason_count; i++) {
        const sl_search_reason *const reason = &outcome->reasons[i];
        const double share = share_missed(reason, request);
        if (share < 0.0)
            continue;
        if (sl_reason_is_of_memory(reason))
            memory = memory == NULL || share < share_missed(memory, request) ? reason : memory;
        else if (tightest == NULL || share < share_missed(tightest, request))
            tightest = reason;
    }
    return tightest != NULL ? tightest : memory;
}

void
sl_nothing_say(const sl_search_outcome *outcome, const sl_search_request *request,
               char out[SL_SEARCH_SENTENCE_BYTES])
{
    const sl_search_reason *const reason = sl_reason_tightest(outcome, request);
    char said[SL_SEARCH_SENTENCE_BYTES];

    if (reason == NULL && outcome->reason_count > 0) {
        const sl_search_reason *most = &outcome->reasons[0];
        for (uint32_t i = 1; i < outcome->reason_count; i++)
            if (outcome->reasons[i].count > most->count)
                most = &outcome->reasons[i];
        sl_reason_say(most, said);
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES,
                             "No plan of this space is legal: most often %s.", said);
    } else if (reason == NULL) {
        (void)sl_text_copy(out, SL_SEARCH_SENTENCE_BYTES, "This space has no plan.");
    } else {
        sl_reason_say(reason, said);
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES, "No plan is an answer; %s.", said);
    }
}

void
sl_broken_say(const char *rule, double miss, char *out, size_t size)
{
    const wish *const w = wish_of(rule);
    char amount[NAME_BYTES];

    if (w == NULL) {
        (void)sl_text_copy(out, size, "it never ends, so often do so many nodes fail");
        return;
    }
    amount_say(w->of, miss, amount, sizeof amount);
    if (sl_text_equal(rule, "host_memory"))
        (void)sl_text_format(out, size, "lacks %s of the memory of a node", amount);
    else
        (void)sl_text_format(out, size, "misses %s by %s", w->pointer, amount);
}
