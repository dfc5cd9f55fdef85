#include "codec/comparison/comparison_json.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "codec/answer/estimate_json.h"
#include "codec/comparison/comparison_entry.h"
#include "codec/comparison/strategy_words.h"
#include "codec/question/names.h"
#include "shardline/units.h"

enum { REASON_BYTES = 640, NAME_BYTES = 32, PLAN_BYTES = 96 };

static void
words_write(sl_writer *writer, const sl_strategy_words *words)
{
    sl_put_text(writer, "definition", words->definition);
    sl_put_text(writer, "how_it_works", words->how_it_works);
    sl_put_text(writer, "use_when", words->use_when);
    sl_put_text(writer, "scalability", words->scalability);
    sl_put_text(writer, "adoption", words->adoption);
    sl_put_text(writer, "latency", words->latency);
    sl_put_text(writer, "fault_tolerance", words->fault_tolerance);
    sl_put_text(writer, "examples", words->examples);
    sl_put_bool(writer, "exchanges_activations", words->exchanges_activations);
    sl_write_key(writer, "supported_by");
    sl_write_array(writer);
    for (uint32_t i = 0; i < SL_SUPPORT_MAX && words->supported_by[i] != NULL; i++) {
        sl_write_object(writer);
        sl_put_text(writer, "framework", words->supported_by[i]->framework);
        sl_put_text(writer, "pro", words->supported_by[i]->pro);
        sl_put_text(writer, "con", words->supported_by[i]->con);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    sl_put_text(writer, "source", words->source);
}

static void
strategy_write(sl_writer *writer, const sl_comparison_document *document, sl_strategy strategy)
{
    const sl_entry_document column = {
        .request = document->request,
        .entry = &document->strategies->strategies[strategy],
        .given = strategy == SL_STRATEGY_GIVEN,
        .planned = true,
        .limits = true,
    };

    sl_write_object(writer);
    sl_put_text(writer, "name", sl_name(&sl_strategy_names, strategy));
    words_write(writer, sl_strategy_describe(strategy));
    sl_put_uint(writer, "complexity", sl_strategy_complexity(strategy));
    sl_write_key(writer, "suits");
    sl_write_array(writer);
    for (uint32_t s = 0; s < SL_SITUATION_COUNT; s++)
        if (sl_strategy_suits(strategy, (sl_situation)s))
            sl_write_text(writer, sl_name(&sl_situation_names, s));
    sl_write_array_end(writer);
    sl_entry_write(writer, &column);
    sl_write_object_end(writer);
}

static void
put_strategy(sl_writer *writer, const char *key, int strategy)
{
    sl_put_text(writer, key,
                strategy == SL_NOTHING ? NULL : sl_name(&sl_strategy_names, (uint32_t)strategy));
}

/* "mixed (tensor 4, pipeline 8, data 4)". */
static void
plan_say(const sl_comparison *c, int strategy, char out[PLAN_BYTES])
{
    const sl_plan *const plan = &c->strategies[strategy].plan;
    char name[NAME_BYTES];

    sl_spell(sl_name(&sl_strategy_names, (uint32_t)strategy), name, sizeof name);
    if (sl_plan_world(plan) == 1)
        (void)sl_text_format(out, PLAN_BYTES, "%s on one device", name);
    else if (plan->tensor == 1 && plan->pipeline == 1 && plan->context == 1)
        (void)sl_text_format(out, PLAN_BYTES, "%s over %u replicas", name, plan->data);
    else if (plan->context == 1)
        (void)sl_text_format(out, PLAN_BYTES, "%s (tensor %u, pipeline %u, data %u)", name,
                             plan->tensor, plan->pipeline, plan->data);
    else
        (void)sl_text_format(out, PLAN_BYTES, "%s (tensor %u, context %u, pipeline %u, data %u)",
                             name, plan->tensor, plan->context, plan->pipeline, plan->data);
}

static void
nothing_say(const sl_comparison *c, char *out, size_t size)
{
    char plan[PLAN_BYTES];

    if (c->nearest == SL_NOTHING) {
        (void)sl_text_copy(out, size, "No strategy is legal with what the request says.");
        return;
    }
    const sl_entry *const nearest = &c->strategies[c->nearest];
    plan_say(c, c->nearest, plan);
    if (nearest->fits)
        (void)sl_text_format(out, size,
                             "Nothing fits: %s lacks least, %.1f GiB of the memory of a node.",
                             plan, (double)nearest->host_lacking_bytes / SL_GIB_BYTES);
    else
        (void)sl_text_format(
            out, size, "Nothing fits: %s lacks least, %.1f GiB on devices of %.1f GiB usable.",
            plan, -(double)nearest->headroom_bytes / SL_GIB_BYTES,
            (double)nearest->usable_bytes / SL_GIB_BYTES);
}

/* What whoever takes the recommendation has to know. */
static const char *
caution_of(const sl_entry *entry)
{
    return entry->fits_certain
               ? ""
               : " It fits narrowly: the upper end of what it may reserve does not.";
}

/* As sure as its interval. */
static sl_number_text
step_say(const sl_entry *entry)
{
    return sl_number_say(entry->time.step_s, (entry->step_high_s - entry->step_low_s) / 2.0);
}

/* The plan that is faster and may not fit, behind a reason. */
static void
riskier_say(const sl_comparison *c, char *out, size_t size)
{
    char plan[PLAN_BYTES];

    if (c->riskier == SL_NOTHING)
        return;
    const size_t said = strlen(out);
    plan_say(c, c->riskier, plan);
    (void)sl_text_format(out + said, size - said,
                         " %s would take %s s and fits narrowly, with %.1f GiB free.", plan,
                         step_say(&c->strategies[c->riskier]).text,
                         (double)c->strategies[c->riskier].headroom_bytes / SL_GIB_BYTES);
}

/* Numbers of the plan, and of those that it was held against. */
static void
reason_say(const sl_comparison *c, char *out, size_t size)
{
    const double tolerance = 100.0 * (SL_COMPARISON_ALIKE_RATIO - 1.0);
    char chosen[PLAN_BYTES], other[PLAN_BYTES];

    if (c->recommended == SL_NOTHING) {
        nothing_say(c, out, size);
        return;
    }
    const sl_entry *const best = &c->strategies[c->recommended];
    const double step_s = best->time.step_s;
    const sl_number_text step = step_say(best);
    const double free_gib = (double)best->headroom_bytes / SL_GIB_BYTES;
    const double usable_gib = (double)best->usable_bytes / SL_GIB_BYTES;
    const char *const fits = best->fits_certain ? "surely fits" : "fits";
    plan_say(c, c->recommended, chosen);
    plan_say(c, c->fastest, other);
    if (c->recommended == c->fastest)
        (void)sl_text_format(out, size,
                             "%s: %s s a step with %.1f of %.1f GiB free, the fastest that %s; "
                             "nothing simpler comes within %.0f %% of it.%s",
                             chosen, step.text, free_gib, usable_gib, fits, tolerance,
                             caution_of(best));
    else
        (void)sl_text_format(out, size,
                             "%s: %s s a step with %.1f of %.1f GiB free. %s is the fastest that "
                             "%s, by %.1f %%, and harder to adopt.%s",
                             chosen, step.text, free_gib, usable_gib, other, fits,
                             100.0 * (step_s / c->strategies[c->fastest].time.step_s - 1.0),
                             caution_of(best));
    riskier_say(c, out, size);
}

static void
situation_write(sl_writer *writer, const sl_comparison *c)
{
    sl_write_key(writer, "situation");
    if (!c->placed) {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    sl_put_text(writer, "name", sl_name(&sl_situation_names, c->situation));
    sl_put_double(writer, "replica_ratio", c->replica_ratio);
    sl_put_text(writer, "words", sl_situation_describe(c->situation));
    sl_write_object_end(writer);
}

static void
recommendation_write(sl_writer *writer, const sl_comparison *c)
{
    char reason[REASON_BYTES];

    reason_say(c, reason, sizeof reason);
    sl_write_key(writer, "recommendation");
    sl_write_object(writer);
    put_strategy(writer, "strategy", c->recommended);
    sl_put_text(writer, "reason", reason);
    put_strategy(writer, "fastest", c->fastest);
    sl_put_double(writer, "alike_ratio", SL_COMPARISON_ALIKE_RATIO);
    situation_write(writer, c);
    sl_write_key(writer, "use_when");
    sl_write_array(writer);
    for (uint32_t s = 0; s < SL_SITUATION_COUNT; s++) {
        sl_write_object(writer);
        sl_put_text(writer, "situation", sl_name(&sl_situation_names, s));
        sl_put_text(writer, "words", sl_situation_describe((sl_situation)s));
        put_strategy(writer, "strategy", c->best_of[s]);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

static void
strategies_write(sl_writer *writer, const sl_comparison_document *document)
{
    sl_write_key(writer, "strategies");
    sl_write_array(writer);
    for (uint32_t i = 0; i < SL_STRATEGY_COUNT; i++)
        if (document->strategies->asked[i])
            strategy_write(writer, document, (sl_strategy)i);
    sl_write_array_end(writer);
    recommendation_write(writer, document->strategies);
}

static void
methods_write(sl_writer *writer)
{
    sl_write_key(writer, "methods");
    sl_write_array(writer);
    for (uint32_t m = 0; m < SL_TUNING_METHOD_COUNT; m++) {
        const sl_tuning_words *const words = sl_tuning_describe((sl_tuning_method)m);
        sl_write_object(writer);
        sl_put_text(writer, "name", sl_name(&sl_tuning_names, m));
        sl_put_text(writer, "definition", words->definition);
        sl_put_text(writer, "how_it_works", words->how_it_works);
        sl_put_text(writer, "kept", words->kept);
        sl_put_text(writer, "lost", words->lost);
        sl_put_text(writer, "source", words->source);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

static void
put_tuning(sl_writer *writer, const sl_tuning *tuning)
{
    sl_put_text(writer, "method", sl_name(&sl_tuning_names, tuning->method));
    sl_put_text(writer, "recompute", tuning->recompute ? "full" : "none");
    sl_put_text(writer, "attention", sl_name(&sl_attention_names, tuning->kernel));
}

/* Against the first that is legal: all weights, everything kept, attention unfused. */
static void
gain_write(sl_writer *writer, const sl_tuning_comparison *c, uint32_t i)
{
    const sl_entry *const entry = &c->entries[i];

    if (!entry->legal) {
        sl_put_null(writer, "gain_bytes");
        sl_put_null(writer, "cost_s");
        return;
    }
    const sl_entry *const base = &c->entries[c->base];
    sl_put_int(writer, "gain_bytes",
               (int64_t)base->fullest.device_total_bytes -
                   (int64_t)entry->fullest.device_total_bytes);
    sl_put_double(writer, "cost_s", entry->time.step_s - base->time.step_s);
}

static void
tuning_reason_say(const sl_tuning_comparison *c, char *out, size_t size)
{
    char name[NAME_BYTES];

    if (c->recommended == SL_NOTHING) {
        (void)sl_text_copy(out, size, "No way of fine-tuning fits under this plan.");
        return;
    }
    const sl_tuning *const tuning = &c->choices[c->recommended];
    const sl_entry *const best = &c->entries[c->recommended];
    sl_spell(sl_name(&sl_tuning_names, tuning->method), name, sizeof name);
    (void)sl_text_format(out, size,
                         "Of what fits, %s changes the most weights; with %s recomputation and %s "
                         "attention a step takes %s s "
                         "and %.1f of %.1f GiB stay free.%s",
                         name, tuning->recompute ? "full" : "no",
                         sl_name(&sl_attention_names, tuning->kernel), step_say(best).text,
                         (double)best->headroom_bytes / SL_GIB_BYTES,
                         (double)best->usable_bytes / SL_GIB_BYTES, caution_of(best));
}

static void
tuning_recommendation_write(sl_writer *writer, const sl_tuning_comparison *c)
{
    char reason[REASON_BYTES];

    tuning_reason_say(c, reason, sizeof reason);
    sl_write_key(writer, "recommendation");
    sl_write_object(writer);
    if (c->recommended != SL_NOTHING) {
        put_tuning(writer, &c->choices[c->recommended]);
    } else {
        sl_put_null(writer, "method");
        sl_put_null(writer, "recompute");
        sl_put_null(writer, "attention");
    }
    sl_put_text(writer, "reason", reason);
    sl_write_object_end(writer);
}

static void
tuning_write(sl_writer *writer, const sl_comparison_document *document)
{
    const sl_tuning_comparison *const c = document->tuning;
    const sl_estimate_request *const request = document->request;

    methods_write(writer);
    sl_write_key(writer, "choices");
    sl_write_array(writer);
    for (uint32_t i = 0; i < c->count; i++) {
        const sl_entry_document column = {
            .request = request,
            .entry = &c->entries[i],
            .planned = request->parallelism_object.value == NULL,
        };
        sl_write_object(writer);
        put_tuning(writer, &c->choices[i]);
        gain_write(writer, c, i);
        sl_entry_write(writer, &column);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    tuning_recommendation_write(writer, c);
}

/* What reading the request noted, but for what only holds where nothing is chosen. */
static void
notes_write(sl_writer *writer, const sl_comparison_document *document, bool warning)
{
    static const char *const chosen[] = {"degrees_assumed", "framework_assumed",
                                         "micro_batch_size_assumed"};
    const sl_notes *const notes = &document->request->notes;

    sl_write_array(writer);
    if (warning && document->about.warnings != NULL)
        sl_faults_write(writer, document->about.warnings);
    for (uint32_t i = 0; i < notes->count; i++)
        if (notes->list[i].warning == warning &&
            sl_text_index(notes->list[i].code, chosen, sizeof chosen / sizeof chosen[0]) < 0)
            sl_note_write(writer, notes->list[i].code, notes->list[i].text);
    sl_write_array_end(writer);
}

void
sl_comparison_write(sl_writer *writer, const sl_comparison_document *document)
{
    assert(writer != NULL && (document->strategies == NULL) != (document->tuning == NULL));

    sl_write_object(writer);
    sl_answer_model_write(writer, &document->about);
    sl_put_text(writer, "of", sl_name(&sl_comparison_names, document->request->of));
    if (document->strategies != NULL)
        strategies_write(writer, document);
    else
        tuning_write(writer, document);
    sl_put_text(writer, "evaluator", "closed_form");
    sl_write_key(writer, "warnings");
    notes_write(writer, document, true);
    sl_write_key(writer, "assumptions");
    notes_write(writer, document, false);
    sl_answer_origin_write(writer, &document->about);
    sl_write_object_end(writer);
}
