/*
 * Fields the user did not say: the plausible values of each are evaluated together, and the answer
 * is the combination with the median step, between the extremes of them all. When some combinations
 * fit, only those count: nobody runs the others. Nor does anybody recompute what there is room for:
 * of combinations that differ in recomputation alone the median counts the fastest that fits. Where
 * none fits, it counts of those that differ in recomputation, sequence parallelism and stage the one
 * that lacks least.
 */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/answer/evaluate.h"
#include "engine/answer/operating.h"
#include "engine/placement/states.h"
#include "engine/price/guesses.h"

enum { COMBINATIONS_MAX = 4096, MICRO_BATCHES = 4 };

/* Where a walk through all values stands; each counter below its limit. */
typedef struct walk {
    uint32_t software, attention, dropout, micro_batch, sequence; /* change the prices */
    uint32_t recompute, zero_stage; /* do not, but where hooks go with a stage */
} walk;

typedef struct outline {
    double step_s;
    int64_t headroom_bytes;
    uint64_t reserved_low_bytes, reserved_high_bytes;
    bool has_room;
    bool leads; /* counts in the median */
    walk at;
} outline;

typedef struct survey {
    const sl_question *question;
    sl_estimate *scratch;
    uint32_t count;
    uint32_t fitting;
    uint32_t too_large; /* combinations that no device could hold */
    sl_errors refused;  /* why the first plausible one that is not legal is not */
    outline seen[COMBINATIONS_MAX];
} survey;

static bool
is_unknown(const sl_question *question, sl_unknown field)
{
    return (question->unknown & (uint32_t)field) != 0;
}

/* A release that fixes a choice makes the others implausible; without one, fused kernels of
 * 16 bits are the choice wherever there are any, TransformerEngine's of them where it is Megatron's;
 * what SDPA falls back to is asked for by name. */
static bool
attention_plausible(const sl_question *question, const sl_software *software,
                    sl_attention_kernel kernel)
{
    const sl_accelerator *part = &question->cluster->accelerator;
    const sl_precision precision = question->workload.precision;
    bool fused = false;

    if (question->model->biased) /* nothing else is modelled for it */
        return kernel == SL_ATTENTION_UNFUSED;
    if (software->attention >= 0 &&
        sl_attention_possible(part, (sl_attention_kernel)software->attention, precision))
        return kernel == (sl_attention_kernel)software->attention;
    if (sl_attention_is_cudnn(question->workload.framework, part) &&
        sl_attention_possible(part, SL_ATTENTION_CUDNN, precision))
        return kernel == SL_ATTENTION_CUDNN;
    for (uint32_t other = SL_ATTENTION_FLASH2; other <= SL_ATTENTION_CUDNN; other++)
        fused = fused || sl_attention_possible(part, (sl_attention_kernel)other, precision);
    return (kernel != SL_ATTENTION_UNFUSED) == fused && kernel != SL_ATTENTION_FLASH1 &&
           kernel != SL_ATTENTION_EFFICIENT && sl_attention_possible(part, kernel, precision);
}

/* Nobody runs a release that is older than the part, unless it was asked for by name or there is no
 * other; nor sharding traced into a graph, an experiment, without saying so. */
static bool
software_plausible(const sl_question *question, const sl_software *software)
{
    const uint32_t released = question->cluster->accelerator.release_year;
    uint32_t newest = 0;

    if (!is_unknown(question, SL_UNKNOWN_SOFTWARE))
        return true;
    if (software->traced_sharding)
        return false;
    if (software->year >= released)
        return true;
    for (uint32_t i = 0; i < question->software_count; i++)
        if (question->software[i].year > newest)
            newest = question->software[i].year;
    return newest < released;
}

/* Sharding is what these are for: nobody takes them to hold everything whole. */
static uint32_t
least_stage(sl_framework framework)
{
    if (sl_framework_is_fsdp(framework))
        return 2;
    return framework == SL_FRAMEWORK_DEEPSPEED ? 1 : 0;
}

static bool
stage_plausible(const sl_question *asked)
{
    /* Megatron-FSDP is a choice of its own: nobody means it without saying so. */
    return asked->plan.zero_stage >= least_stage(asked->workload.framework) &&
           (asked->workload.framework != SL_FRAMEWORK_MEGATRON || asked->plan.zero_stage <= 1);
}

/* The values at `w`, or false when they are implausible, or not legal for what `refused`, empty
 * before, says. */
static bool
combine(const sl_question *question, const walk *w, sl_combination *out, sl_errors *refused)
{
    const sl_software *software = &question->software[w->software];
    sl_question asked = *question;
    sl_errors found;

    if (!software_plausible(question, software))
        return false;
    asked.unknown = 0;
    asked.software = software;
    asked.software_count = 1;
    sl_evaluate_release(software, &asked.workload);
    if (is_unknown(question, SL_UNKNOWN_ATTENTION)) {
        if (!attention_plausible(question, software, (sl_attention_kernel)w->attention))
            return false;
        asked.workload.attention = (sl_attention_kernel)w->attention;
    }
    if (is_unknown(question, SL_UNKNOWN_DROPOUT)) {
        /* The config of a model says more of it than a release that was made for others. */
        const int dropout = question->model->drops ? 1 : software->dropout;
        if (dropout >= 0 && (uint32_t)dropout != w->dropout)
            return false;
        asked.workload.dropout = w->dropout != 0;
    }
    if (is_unknown(question, SL_UNKNOWN_MICRO_BATCH))
        asked.workload.micro_batch = (uint64_t)1 << w->micro_batch;
    if (is_unknown(question, SL_UNKNOWN_SEQUENCE))
        asked.plan.sequence = w->sequence != 0;
    if (is_unknown(question, SL_UNKNOWN_RECOMPUTE))
        asked.workload.recompute = (sl_recompute)w->recompute;
    if (is_unknown(question, SL_UNKNOWN_ZERO_STAGE))
        asked.plan.zero_stage = w->zero_stage;
    /* The same run under another name would count twice in the median. */
    if (is_unknown(question, SL_UNKNOWN_RECOMPUTE) && !sl_recompute_matters(&asked.workload))
        return false;
    if (is_unknown(question, SL_UNKNOWN_ZERO_STAGE) && !stage_plausible(&asked))
        return false;
    if (is_unknown(question, SL_UNKNOWN_SEQUENCE) && asked.plan.sequence &&
        !software->splits_sequence)
        return false;
    /* A single rank has nothing to split: the second value would be the first again, but where
     * hooks slow it all the same. */
    if ((asked.plan.sequence && asked.plan.tensor == 1 &&
         is_unknown(question, SL_UNKNOWN_SEQUENCE)) ||
        (asked.plan.zero_stage > least_stage(asked.workload.framework) &&
         asked.plan.data * asked.plan.context == 1 && !sl_slice_hooked(software, &asked.plan) &&
         is_unknown(question, SL_UNKNOWN_ZERO_STAGE)))
        return false;

    sl_errors_begin(&found, refused->count > 0);
    if (sl_question_check(&asked, &found) != SL_OK) {
        if (refused->count == 0)
            *refused = found;
        return false;
    }
    *out = sl_evaluate_combination(software, &asked.workload, &asked.plan);
    return true;
}

bool
sl_evaluate_plausible(const sl_question *question, sl_combination *out, sl_errors *refused)
{
    const uint32_t kernels =
        is_unknown(question, SL_UNKNOWN_ATTENTION) ? SL_ATTENTION_KERNEL_COUNT : 1;
    const uint32_t dropouts = is_unknown(question, SL_UNKNOWN_DROPOUT) ? 2 : 1;
    bool found = false;
    walk w = {0};

    for (w.software = 0; w.software < question->software_count; w.software++)
        for (w.attention = 0; w.attention < kernels; w.attention++)
            for (uint32_t d = dropouts; d > 0; d--) {
                sl_combination tried;
                w.dropout = d - 1;
                if (!combine(question, &w, &tried, refused) ||
                    (found && strcmp(tried.software->date, out->software->date) < 0))
                    continue;
                found = true;
                *out = tried;
            }
    return found;
}

static void
note_outline(survey *s, const walk *w)
{
    const sl_memory *memory = &s->scratch->memory;

    if (s->count == COMBINATIONS_MAX)
        return;
    s->seen[s->count++] = (outline){
        .step_s = s->scratch->time.step_s,
        .headroom_bytes = memory->headroom_bytes,
        .reserved_low_bytes = memory->reserved_low_bytes,
        .reserved_high_bytes = memory->reserved_high_bytes,
        .has_room = sl_memory_has_room(memory),
        .at = *w,
    };
    s->fitting += s->seen[s->count - 1].has_room;
}

/* All values of what leaves the prices alone. */
static void
survey_priced(survey *s, walk w)
{
    const sl_question *question = s->question;
    const uint32_t modes = is_unknown(question, SL_UNKNOWN_RECOMPUTE) ? SL_RECOMPUTE_WORDS : 1;
    const uint32_t stages = is_unknown(question, SL_UNKNOWN_ZERO_STAGE) ? 4 : 1;
    sl_priced by_hooks[2]; /* without, and with them */
    bool known[2] = {false, false};

    for (w.recompute = 0; w.recompute < modes; w.recompute++)
        for (w.zero_stage = 0; w.zero_stage < stages; w.zero_stage++) {
            sl_combination combination;
            if (!combine(question, &w, &combination, &s->refused))
                continue;
            const bool hooked = sl_slice_hooked(combination.software, &combination.plan);
            sl_priced *const priced = &by_hooks[hooked];
            if (!known[hooked])
                sl_evaluate_price(question, &combination, SL_CLOCK_HELD, priced);
            else if (combination.workload.recompute != priced->slice.recompute)
                sl_evaluate_reprice(question, combination.workload.recompute, priced, priced);
            known[hooked] = true;
            if (sl_evaluate(question, &combination, priced, s->scratch))
                note_outline(s, &w);
            else
                s->too_large++;
        }
}

static void
survey_all(const sl_question *q, sl_estimate *scratch, survey *s)
{
    const walk limits = {
        .software = q->software_count,
        .attention = is_unknown(q, SL_UNKNOWN_ATTENTION) ? SL_ATTENTION_KERNEL_COUNT : 1,
        .dropout = is_unknown(q, SL_UNKNOWN_DROPOUT) ? 2 : 1,
        .micro_batch = is_unknown(q, SL_UNKNOWN_MICRO_BATCH) ? MICRO_BATCHES : 1,
        .sequence = is_unknown(q, SL_UNKNOWN_SEQUENCE) ? 2 : 1,
    };
    walk w = {0};

    s->question = q;
    s->scratch = scratch;
    s->count = s->fitting = s->too_large = 0;
    sl_errors_begin(&s->refused, false);
    for (w.software = 0; w.software < limits.software; w.software++)
        for (w.attention = 0; w.attention < limits.attention; w.attention++)
            for (w.dropout = 0; w.dropout < limits.dropout; w.dropout++)
                for (w.micro_batch = 0; w.micro_batch < limits.micro_batch; w.micro_batch++)
                    for (w.sequence = 0; w.sequence < limits.sequence; w.sequence++)
                        survey_priced(s, w);
}

static bool
counts(const survey *s, uint32_t i)
{
    return s->fitting == 0 || s->seen[i].has_room;
}

/* Ties go to the newest release, then to what takes least memory, then to the combination met first,
 * so that the answer never depends on anything else. Steps of the same parts in another order differ
 * in their last bits: they tie, too. */
static bool
comes_before(const survey *s, uint32_t a, uint32_t b)
{
    const outline *x = &s->seen[a], *y = &s->seen[b];
    const float step_x = (float)x->step_s, step_y = (float)y->step_s;
    const sl_software *software = s->question->software;
    const int newer = strcmp(software[x->at.software].date, software[y->at.software].date);

    if (step_x != step_y)
        return step_x < step_y;
    if (newer != 0)
        return newer > 0;
    return x->headroom_bytes != y->headroom_bytes ? x->headroom_bytes > y->headroom_bytes : a < b;
}

/* Whether two combinations are one run but for recomputation, or where nothing fits for what else
 * makes room at no other batch: sequence parallelism and the stage. */
static bool
is_choice_of(const survey *s, uint32_t i, uint32_t j)
{
    const walk *a = &s->seen[i].at, *b = &s->seen[j].at;
    const bool same = a->software == b->software && a->attention == b->attention &&
                      a->dropout == b->dropout && a->micro_batch == b->micro_batch;

    return same &&
           (s->fitting == 0 || (a->sequence == b->sequence && a->zero_stage == b->zero_stage));
}

/* Whether a, as good otherwise, is run before b. */
static bool
is_preferred(const survey *s, uint32_t a, uint32_t b)
{
    const int64_t room_a = s->seen[a].headroom_bytes, room_b = s->seen[b].headroom_bytes;

    if (s->fitting > 0 || room_a == room_b)
        return comes_before(s, a, b);
    return room_a > room_b;
}

/* Marks what the median counts, and says how many that are. */
static uint32_t
mark_leading(survey *s)
{
    uint32_t leading = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        bool leads = counts(s, i);
        for (uint32_t j = 0; j < s->count && leads; j++)
            leads = !(counts(s, j) && is_choice_of(s, j, i) && is_preferred(s, j, i));
        s->seen[i].leads = leads;
        leading += leads;
    }
    return leading;
}

/* The fastest and the slowest of all that count. */
static uint32_t
extreme(const survey *s, bool slow)
{
    uint32_t found = s->count;

    for (uint32_t i = 0; i < s->count; i++)
        if (counts(s, i) && (found == s->count || comes_before(s, i, found) != slow))
            found = i;
    return found;
}

/* The middle of those that lead. */
static uint32_t
middle_of(survey *s)
{
    const uint32_t rank = (mark_leading(s) - 1) / 2;

    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t smaller = 0;
        if (!s->seen[i].leads)
            continue;
        for (uint32_t j = 0; j < s->count; j++)
            smaller += s->seen[j].leads && comes_before(s, j, i);
        if (smaller == rank)
            return i;
    }
    assert(false);
    return 0;
}

/* A combination at the end of the range of clocks, links and hosts. */
static double
step_at(const survey *s, uint32_t i, bool slow)
{
    sl_combination combination;
    sl_errors none = {0};
    const bool possible = combine(s->question, &s->seen[i].at, &combination, &none);

    assert(possible);
    (void)possible;
    return sl_evaluate_step_at(s->question, &combination, slow, s->scratch);
}

/* Of all combinations that count [bytes]. */
static void
find_reserved(const survey *s, uint64_t *low, uint64_t *high)
{
    *low = UINT64_MAX;
    *high = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!counts(s, i))
            continue;
        if (s->seen[i].reserved_low_bytes < *low)
            *low = s->seen[i].reserved_low_bytes;
        if (s->seen[i].reserved_high_bytes > *high)
            *high = s->seen[i].reserved_high_bytes;
    }
}

/* From the fastest combination at the highest clock and on the fastest links to the slowest at the
 * lowest, on the slowest. */
static void
set_intervals(const survey *s, uint32_t fastest, uint32_t slowest, sl_estimate *out)
{
    find_reserved(s, &out->reserved_low_bytes, &out->reserved_high_bytes);
    out->step_low_s = step_at(s, fastest, false);
    out->step_high_s = step_at(s, slowest, true);
}

/* Every value of the open fields breaks a rule: the first one met stands for them. */
static sl_code
refuse_all(const survey *s, sl_errors *err)
{
    const sl_error *fault = &s->refused.list[0];

    if (s->refused.count == 0)
        return sl_fail(err, SL_E_RANGE, "no_valid_combination", "",
                       "no value of the fields left open makes this plan legal; give them");

    const sl_code code =
        sl_fail(err, SL_E_RANGE, "no_valid_combination", fault->pointer,
                "no value of the fields left open makes this plan legal: %s", fault->message);
    sl_hint(err, "%s", fault->hint);
    return code;
}

int
sl_evaluate_sureness(const sl_question *question, sl_estimate *scratch)
{
    survey s;
    sl_combination median;
    sl_priced priced;
    uint64_t low_bytes, high_bytes;

    survey_all(question, scratch, &s);
    if (s.count == 0)
        return 0;

    const bool legal = combine(question, &s.seen[middle_of(&s)].at, &median, &s.refused);
    assert(legal);
    (void)legal;
    find_reserved(&s, &low_bytes, &high_bytes);
    sl_evaluate_price(question, &median, SL_CLOCK_HELD, &priced);
    const bool possible = sl_evaluate(question, &median, &priced, scratch);
    assert(possible);
    (void)possible;
    return sl_sureness(sl_memory_has_room(&scratch->memory),
                       sl_evaluate_is_certain(&scratch->memory, low_bytes, high_bytes));
}

sl_code
sl_estimate_answer(const sl_question *question, sl_estimate *scratch, sl_estimate *out,
                   sl_errors *err)
{
    survey s;
    sl_combination median;
    sl_priced priced;

    assert(question->software_count >= 1);
    assert(!sl_model_is_plain(question->model) ||
           (question->unknown &
            (uint32_t)(SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT | SL_UNKNOWN_SEQUENCE)) == 0);
    survey_all(question, scratch, &s);
    if (s.count == 0 && s.too_large > 0)
        return sl_fail(err, SL_E_RANGE, "out_of_range", "/workload",
                       "one device would need more than 9 PB, beyond what is counted here");
    if (s.count == 0)
        return refuse_all(&s, err);

    const uint32_t fastest = extreme(&s, false);
    const uint32_t middle = middle_of(&s);
    const uint32_t slowest = extreme(&s, true);
    bool possible = combine(question, &s.seen[middle].at, &median, &s.refused);

    assert(possible);
    set_intervals(&s, fastest, slowest, out);
    sl_evaluate_price(question, &median, SL_CLOCK_HELD, &priced);
    possible = sl_evaluate_explained(question, &median, &priced, out);
    assert(possible);
    (void)possible;
    out->fits_certain =
        sl_evaluate_is_certain(&out->memory, out->reserved_low_bytes, out->reserved_high_bytes);
    sl_holdings holdings;
    const sl_memory_case c = sl_evaluate_case(question, &median, &priced, &holdings);
    sl_operating_set(&c, out);
    sl_guesses_set(&c, out);
    sl_evaluate_widen(question->model, out);
    out->evaluated = s.count;
    sl_evaluate_fixes(question, scratch, out);
    sl_evaluate_notes(question, out);
    return SL_OK;
}
