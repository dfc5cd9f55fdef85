#include "codec/search/search_review_json.h"

#include <math.h>
#include <stddef.h>

#include "base/number.h"
#include "base/text.h"
#include "codec/comparison/comparison_entry.h"
#include "codec/search/search_plan.h"
#include "codec/search/search_space.h"
#include "codec/search/search_words.h"
#include "shardline/units.h"

enum { VALUE_BYTES = 48, BROKEN_BYTES = 120 };

/* One name of the vocabulary on both sides: several terms may share it. */
typedef struct difference {
    const char *name;
    const char *words;
    double own, best;
} difference;

typedef struct differences {
    uint32_t count;
    difference list[SL_REVIEW_MEMORY_TERMS];
} differences;

static void
add_term(differences *out, sl_term_id id, double own, double best)
{
    const char *const name = sl_term_describe(id)->name;
    uint32_t i = 0;

    if (own == 0.0 && best == 0.0)
        return;
    while (i < out->count && !sl_text_equal(out->list[i].name, name))
        i++;
    if (i == out->count)
        out->list[out->count++] = (difference){.name = name, .words = sl_term_words(id)};
    out->list[i].own += own;
    out->list[i].best += best;
}

static differences
time_differences(const sl_review_why *why)
{
    differences out = {.count = 0};

    for (uint32_t i = 0; i < SL_TIME_TERMS; i++)
        add_term(&out, (sl_term_id)(SL_TERM_FORWARD + i), why->own.time_s[i], why->best.time_s[i]);
    return out;
}

static differences
memory_differences(const sl_review_why *why)
{
    differences out = {.count = 0};

    for (uint32_t i = 0; i < SL_REVIEW_MEMORY_TERMS; i++)
        add_term(&out, (sl_term_id)i, why->own.memory_bytes[i], why->best.memory_bytes[i]);
    return out;
}

/* The one that takes most more than the best's; where none does, the one that saves most. */
static const difference *
largest_of(const differences *all)
{
    const difference *largest = NULL;

    for (uint32_t i = 0; i < all->count; i++)
        if (largest == NULL || all->list[i].own - all->list[i].best > largest->own - largest->best)
            largest = &all->list[i];
    return largest;
}

static void
seconds_write(sl_writer *writer, const differences *all)
{
    sl_write_key(writer, "time");
    sl_write_array(writer);
    for (uint32_t i = 0; i < all->count; i++) {
        sl_write_object(writer);
        sl_put_text(writer, "name", all->list[i].name);
        sl_put_double(writer, "seconds", all->list[i].own);
        sl_put_double(writer, "best_seconds", all->list[i].best);
        sl_put_double(writer, "difference_s", all->list[i].own - all->list[i].best);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

static void
bytes_write(sl_writer *writer, const differences *all)
{
    sl_write_key(writer, "memory");
    sl_write_array(writer);
    for (uint32_t i = 0; i < all->count; i++) {
        sl_write_object(writer);
        sl_put_text(writer, "name", all->list[i].name);
        sl_put_int(writer, "bytes", llround(all->list[i].own));
        sl_put_int(writer, "best_bytes", llround(all->list[i].best));
        sl_put_int(writer, "difference_bytes", llround(all->list[i].own - all->list[i].best));
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

static void
figures_write(sl_writer *writer, const char *key, const sl_search_point *point)
{
    sl_write_key(writer, key);
    sl_write_object(writer);
    sl_put_uint(writer, "accelerators", point->value[SL_DIMENSION_ACCELERATORS]);
    sl_search_figures_write(writer, point);
    sl_write_object_end(writer);
}

/* How much slower, and where most of that comes from. */
static void
slower_say(const sl_review_why *why, char out[SL_SEARCH_SENTENCE_BYTES])
{
    const differences times = time_differences(why);
    const difference *const largest = largest_of(&times);
    const double more_s = why->own.point.step_s - why->best.point.step_s;
    char name[VALUE_BYTES] = "";

    if (largest == NULL || largest->own <= largest->best) {
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES,
                             "It is as good as the best in every term of time.");
        return;
    }
    sl_spell(largest->words, name, sizeof name);
    if (more_s > 0.0)
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES,
                             "Its step takes %s s, %.1f %% more than the best's; the largest "
                             "difference is %s, %s s more.",
                             sl_number_say(why->own.point.step_s, 0.0).text,
                             100.0 * more_s / why->best.point.step_s, name,
                             sl_number_say(largest->own - largest->best, 0.0).text);
    else
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES,
                             "Its step is no longer than the best's, %s s; what it takes more of "
                             "is %s, %s s.",
                             sl_number_say(why->own.point.step_s, 0.0).text, name,
                             sl_number_say(largest->own - largest->best, 0.0).text);
}

static void
larger_say(const sl_review_why *why, char out[SL_SEARCH_SENTENCE_BYTES])
{
    const differences bytes = memory_differences(why);
    const difference *const largest = largest_of(&bytes);
    const double lacks = -(double)why->own.point.headroom_bytes;
    char name[VALUE_BYTES] = "";

    if (largest == NULL || !why->has_best || largest->own <= largest->best) {
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES,
                             "It does not fit: the fullest device lacks %.2f GiB.",
                             lacks / SL_GIB_BYTES);
        return;
    }
    sl_spell(largest->words, name, sizeof name);
    (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES,
                         "It does not fit: the fullest device lacks %.2f GiB; beside the best the "
                         "largest difference is %s, %.2f GiB more.",
                         lacks / SL_GIB_BYTES, name, (largest->own - largest->best) / SL_GIB_BYTES);
}

/* The first of what keeps it from being the best: a rule, memory, a constraint, the space, time. */
static void
why_say(const sl_review_why *why, char out[SL_SEARCH_SENTENCE_BYTES])
{
    char broken[BROKEN_BYTES];

    if (!why->legal) {
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES, "It is no plan: %s %s.",
                             why->refused.list[0].pointer, why->refused.list[0].message);
    } else if (!why->fits) {
        larger_say(why, out);
    } else if (why->breaks != NULL) {
        sl_broken_say(why->breaks, why->miss, broken, sizeof broken);
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES, "It is no answer: it %s.", broken);
    } else if (!why->has_best) {
        (void)sl_text_copy(out, SL_SEARCH_SENTENCE_BYTES,
                           "It fits and keeps every constraint, but the space does not have it.");
    } else {
        slower_say(why, out);
    }
}

static void
outside_write(sl_writer *writer, uint32_t outside)
{
    sl_write_key(writer, "outside_space");
    sl_write_array(writer);
    for (uint32_t d = 0; d < SL_DIMENSION_COUNT; d++)
        if ((outside >> d & 1u) != 0)
            sl_write_text(writer, sl_dimension_name((sl_dimension)d));
    sl_write_array_end(writer);
}

static void
why_write(sl_writer *writer, const sl_search_review *review)
{
    static const char *const unknown[] = {"fits", "breaks", "figures"};
    const sl_review_why *const why = &review->why;
    const bool both = why->legal && why->has_best;
    char sentence[SL_SEARCH_SENTENCE_BYTES];

    why_say(why, sentence);
    sl_write_object(writer);
    sl_put_text(writer, "sentence", sentence);
    sl_put_bool(writer, "legal", why->legal);
    sl_write_key(writer, "refused");
    sl_write_errors(writer, &why->refused);
    outside_write(writer, why->outside);
    if (why->legal) {
        sl_put_bool(writer, "fits", why->fits);
        sl_put_text(writer, "breaks", why->breaks);
        figures_write(writer, "figures", &why->own.point);
    }
    for (size_t i = 0; !why->legal && i < sizeof unknown / sizeof unknown[0]; i++)
        sl_put_null(writer, unknown[i]);
    if (why->has_best) {
        sl_search_put_id(writer, "against", &why->best.point);
        figures_write(writer, "best", &why->best.point);
    } else {
        sl_put_null(writer, "against");
        sl_put_null(writer, "best");
    }
    const differences times = both ? time_differences(why) : (differences){.count = 0};
    const differences bytes = both ? memory_differences(why) : (differences){.count = 0};
    seconds_write(writer, &times);
    bytes_write(writer, &bytes);
    sl_write_object_end(writer);
}

static void
neighbour_say(const sl_review_neighbour *n, const sl_search_point *winner,
              char out[SL_SEARCH_SENTENCE_BYTES])
{
    char name[VALUE_BYTES], from[VALUE_BYTES], to[VALUE_BYTES];
    /* Of another batch, and of other accelerators, the step alone says little. */
    const bool rated =
        n->dimension == SL_DIMENSION_GLOBAL_BATCH || n->dimension == SL_DIMENSION_ACCELERATORS;
    const double more = rated ? 100.0 * (n->point.tokens_per_s / winner->tokens_per_s - 1.0)
                              : 100.0 * (n->point.step_s / winner->step_s - 1.0);
    const double gib =
        ((double)n->point.device_total_bytes - (double)winner->device_total_bytes) / SL_GIB_BYTES;

    sl_spell(sl_dimension_name(n->dimension), name, sizeof name);
    sl_dimension_say(n->dimension, winner->value[n->dimension], from, sizeof from);
    sl_dimension_say(n->dimension, n->value, to, sizeof to);
    if (!n->legal)
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES, "%s %s instead of %s: no plan, %s %s",
                             name, to, from, n->refused.pointer, n->refused.message);
    else if (!n->fits)
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES,
                             "%s %s instead of %s: lacks %.2f GiB of memory", name, to, from,
                             -(double)n->point.headroom_bytes / SL_GIB_BYTES);
    else if (n->point.host_lacking_bytes > 0)
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES,
                             "%s %s instead of %s: lacks %.2f GiB of the memory of a node", name,
                             to, from, (double)n->point.host_lacking_bytes / SL_GIB_BYTES);
    else
        (void)sl_text_format(out, SL_SEARCH_SENTENCE_BYTES,
                             "%s %s instead of %s: %s %+.1f %%, memory %+.2f GiB", name, to, from,
                             rated ? "tokens/s" : "step", more, gib);
}

static void
refused_write(sl_writer *writer, const sl_error *fault)
{
    sl_write_object(writer);
    sl_put_text(writer, "pointer", fault->pointer);
    sl_put_text(writer, "code", fault->rule);
    sl_put_text(writer, "detail", fault->message);
    if (*fault->hint != '\0')
        sl_put_text(writer, "hint", fault->hint);
    sl_write_object_end(writer);
}

static void
neighbour_write(sl_writer *writer, const sl_review_neighbour *n, const sl_search_point *winner)
{
    static const char *const unknown[] = {"fits",
                                          "fits_certain",
                                          "breaks",
                                          "figures",
                                          "step_difference_s",
                                          "tokens_per_s_difference",
                                          "memory_difference_bytes"};
    char sentence[SL_SEARCH_SENTENCE_BYTES];

    neighbour_say(n, winner, sentence);
    sl_write_object(writer);
    sl_put_text(writer, "dimension", sl_dimension_name(n->dimension));
    sl_write_key(writer, "from");
    sl_dimension_write(writer, n->dimension, winner->value[n->dimension]);
    sl_write_key(writer, "to");
    sl_dimension_write(writer, n->dimension, n->value);
    sl_put_text(writer, "sentence", sentence);
    sl_put_bool(writer, "legal", n->legal);
    sl_write_key(writer, "refused");
    if (n->legal)
        sl_write_null(writer);
    else
        refused_write(writer, &n->refused);
    if (n->legal) {
        sl_put_bool(writer, "fits", n->fits);
        sl_put_bool(writer, "fits_certain", n->fits_certain);
        sl_put_text(writer, "breaks", n->breaks);
        figures_write(writer, "figures", &n->point);
        sl_put_double(writer, "step_difference_s", n->point.step_s - winner->step_s);
        sl_put_double(writer, "tokens_per_s_difference",
                      n->point.tokens_per_s - winner->tokens_per_s);
        sl_put_int(writer, "memory_difference_bytes",
                   (int64_t)n->point.device_total_bytes - (int64_t)winner->device_total_bytes);
    }
    for (size_t i = 0; !n->legal && i < sizeof unknown / sizeof unknown[0]; i++)
        sl_put_null(writer, unknown[i]);
    sl_write_object_end(writer);
}

static void
neighbours_write(sl_writer *writer, const sl_search_review *review)
{
    sl_write_key(writer, "neighbours");
    sl_write_array(writer);
    for (uint32_t i = 0; i < review->neighbour_count; i++)
        neighbour_write(writer, &review->neighbours[i], &review->outcome->best[0]);
    sl_write_array_end(writer);
}

static void
robustness_say(const sl_review_robustness *r, uint32_t shown, char out[SL_SEARCH_SENTENCE_BYTES])
{
    const bool stays = r->fast_winner == 0 && r->slow_winner == 0;
    char who[160];

    if (stays)
        (void)sl_text_copy(who, sizeof who, "The winner stays the winner at both ends");
    else if (r->fast_winner == r->slow_winner)
        (void)sl_text_format(who, sizeof who, "Plan %u takes over at both ends",
                             r->fast_winner + 1);
    else if (r->fast_winner != 0 && r->slow_winner != 0)
        (void)sl_text_format(who, sizeof who,
                             "Plan %u takes over at the fast end, plan %u at the slow end",
                             r->fast_winner + 1, r->slow_winner + 1);
    else
        (void)sl_text_format(who, sizeof who, "Plan %u takes over at the %s end",
                             (r->fast_winner != 0 ? r->fast_winner : r->slow_winner) + 1,
                             r->fast_winner != 0 ? "fast" : "slow");
    (void)sl_text_format(
        out, SL_SEARCH_SENTENCE_BYTES,
        "%s of the range of clocks, links and hosts; of %u shown, %u lie within the %.0f %% "
        "by which published runs differ from predictions.",
        who, shown, r->within_spread, 100.0 * r->spread_ratio);
}

static void
robustness_write(sl_writer *writer, const sl_search_review *review)
{
    const sl_review_robustness *const r = &review->robustness;
    const sl_search_point *const best = review->outcome->best;
    char sentence[SL_SEARCH_SENTENCE_BYTES];

    sl_write_key(writer, "robustness");
    if (r->compared == 0) {
        sl_write_null(writer);
        return;
    }
    robustness_say(r, review->plan_count, sentence);
    sl_write_object(writer);
    sl_put_text(writer, "sentence", sentence);
    sl_put_bool(writer, "stays_winner", r->fast_winner == 0 && r->slow_winner == 0);
    sl_put_uint(writer, "compared", r->compared);
    sl_search_put_id(writer, "winner", &best[0]);
    sl_search_put_id(writer, "fast_winner", &best[r->fast_winner]);
    sl_search_put_id(writer, "slow_winner", &best[r->slow_winner]);
    sl_put_double(writer, "spread_ratio", r->spread_ratio);
    sl_put_uint(writer, "within_spread", r->within_spread);
    sl_write_object_end(writer);
}

static void
reranking_write(sl_writer *writer, const sl_search_review *review)
{
    char sentence[SL_SEARCH_SENTENCE_BYTES];
    uint32_t simulated = 0, moved = 0;

    for (uint32_t i = 0; i < review->plan_count; i++) {
        simulated += review->plans[i].simulated == SL_REVIEW_SIMULATED;
        moved += review->plans[i].point != i;
    }
    if (simulated == 0)
        (void)sl_text_copy(sentence, sizeof sentence,
                           "No plan was simulated: the order is the closed form's.");
    else if (moved == 0)
        (void)sl_text_format(sentence, sizeof sentence,
                             "Simulation leaves the order as it was, of %u simulated.", simulated);
    else if (review->plans[0].point == 0)
        (void)sl_text_format(
            sentence, sizeof sentence,
            "Ranks go by the simulated step, tokens/s by the closed form: of %u simulated "
            "plans %u move, the first stays.",
            simulated, moved);
    else
        (void)sl_text_format(
            sentence, sizeof sentence,
            "Ranks go by the simulated step, tokens/s by the closed form: of %u simulated plans "
            "%u move, and plan %u of the closed form comes first.",
            simulated, moved, review->plans[0].point + 1);
    sl_write_key(writer, "reranking");
    sl_write_object(writer);
    sl_put_text(writer, "sentence", sentence);
    sl_put_uint(writer, "simulated", simulated);
    sl_put_uint(writer, "moved", moved);
    sl_write_object_end(writer);
}

void
sl_search_review_write(sl_writer *writer, const sl_search_document *document)
{
    const sl_search_review *const review = document->review;

    sl_write_key(writer, "why_not");
    if (review->wondered)
        why_write(writer, review);
    else
        sl_write_null(writer);
    neighbours_write(writer, review);
    robustness_write(writer, review);
    reranking_write(writer, review);
}
