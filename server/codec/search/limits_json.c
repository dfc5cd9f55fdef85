#include "codec/search/limits_json.h"

#include <assert.h>

#include "base/text.h"
#include "codec/answer/estimate_json.h"
#include "codec/question/names.h"
#include "codec/question/patch_json.h"
#include "codec/question/plan_json.h"
#include "codec/question/question_parts.h"

enum {
    SENTENCE_BYTES = 320,
    LACK_BYTES = 64,
    CONFIG_BLOCKS_MAX = 2000 /* what a config may say */
};

/* What a limit is called, and what is counted along it. */
typedef struct words {
    const char *key;
    const char *of; /* "12 of these" */
} words;

static const words words_of[SL_LIMIT_COUNT] = {
    [SL_LIMIT_MICRO_BATCH] = {"micro_batch_size", "sequences in a micro-batch"},
    [SL_LIMIT_GROWN_BATCH] = {"micro_batch_size_growing", "sequences in a micro-batch"},
    [SL_LIMIT_SEQUENCE] = {"sequence_length", "positions in a sequence"},
    [SL_LIMIT_LAYERS] = {"layers", "blocks"},
    [SL_LIMIT_SCALE] = {"scale", "times the width"},
    [SL_LIMIT_NODES] = {"nodes", "nodes"},
};

static const char *const end_names[SL_LIMIT_END_COUNT] = {
    [SL_LIMIT_END_MEMORY] = "memory", [SL_LIMIT_END_RULE] = "rule",
    [SL_LIMIT_END_BOUND] = "bound",   [SL_LIMIT_END_LEAST] = "least",
    [SL_LIMIT_END_NEVER] = "never",   [SL_LIMIT_END_NONE] = "none"};

static const char *const method_names[SL_LIMIT_METHOD_COUNT] = {[SL_LIMIT_BISECTION] = "bisection",
                                                                [SL_LIMIT_WALK] = "walk",
                                                                [SL_LIMIT_BISECTION_AND_WALK] =
                                                                    "bisection_and_walk"};

sl_limit_bounds
sl_limits_bounds(const sl_estimate_request *request)
{
    const bool stored = request->inventory != NULL;

    return (sl_limit_bounds){
        .sequence_length = SL_SEQUENCE_LENGTH_MAX,
        .global_batch = SL_GLOBAL_BATCH_MAX,
        .layers = request->source == SL_MODEL_FROM_LAYERS ? SL_MODEL_LAYERS_MAX : CONFIG_BLOCKS_MAX,
        .nodes = stored ? request->cluster.nodes
                        : SL_PARALLEL_MAX / request->cluster.accelerators_per_node,
    };
}

/* A width is said as a ratio to the model's own. */
static double
value_of(sl_limit_id id, const sl_limit *limit, uint64_t value)
{
    return id == SL_LIMIT_SCALE ? (double)value / (double)limit->now : (double)value;
}

static void
put_value(sl_writer *writer, const char *key, sl_limit_id id, const sl_limit *limit, uint64_t value)
{
    if (id == SL_LIMIT_SCALE)
        sl_put_double(writer, key, value_of(id, limit, value));
    else
        sl_put_uint(writer, key, value);
}

/* What the first value beyond lacks, devices before nodes. */
static void
lack_say(const sl_limit_point *next, char out[LACK_BYTES])
{
    if (next->fits)
        (void)sl_text_format(out, LACK_BYTES, "lack %llu bytes of the memory of a node",
                             (unsigned long long)next->host_lacking_bytes);
    else
        (void)sl_text_format(out, LACK_BYTES, "lack %lld bytes", (long long)-next->headroom_bytes);
}

static void
sentence_say(sl_limit_id id, const sl_limit *limit, char out[SENTENCE_BYTES])
{
    const char *const of = words_of[id].of;
    const double value = value_of(id, limit, limit->value.value);
    const double next = value_of(id, limit, limit->next.value);
    char lack[LACK_BYTES];

    lack_say(&limit->next, lack);
    switch (limit->end) {
    case SL_LIMIT_END_MEMORY:
        if (limit->next.sized)
            (void)sl_text_format(out, SENTENCE_BYTES, "%g %s fit; %g %s", value, of, next, lack);
        else
            (void)sl_text_format(out, SENTENCE_BYTES, "%g %s fit; %g no device could hold", value,
                                 of, next);
        break;
    case SL_LIMIT_END_RULE:
        (void)sl_text_format(out, SENTENCE_BYTES, "%g %s fit; %g are not legal: %s", value, of,
                             next, limit->next.fault.message);
        break;
    case SL_LIMIT_END_BOUND:
        (void)sl_text_format(out, SENTENCE_BYTES,
                             "%g %s still fit, the most that are counted: no limit was met", value,
                             of);
        break;
    case SL_LIMIT_END_LEAST:
        (void)sl_text_copy(out, SENTENCE_BYTES, "one node is enough");
        break;
    case SL_LIMIT_END_NEVER:
        if (limit->has_next && !limit->next.legal)
            (void)sl_text_format(out, SENTENCE_BYTES, "none is legal: %s",
                                 limit->next.fault.message);
        else if (limit->has_next && limit->next.sized)
            (void)sl_text_format(out, SENTENCE_BYTES, "none fits: %g %s %s", next, of, lack);
        else
            (void)sl_text_copy(out, SENTENCE_BYTES, "none fits");
        break;
    case SL_LIMIT_END_NONE:
    case SL_LIMIT_END_COUNT:
        (void)sl_text_copy(out, SENTENCE_BYTES,
                           sl_text_equal(limit->reason, "no_sequence")
                               ? "a list of layers is counted per sample: there is no sequence"
                           : sl_text_equal(limit->reason, "several_pools")
                               ? "nodes of several pools are no number: name one pool"
                               : "the widths of this model are not one number");
    }
}

static void
change_write(sl_writer *writer, const sl_limits_document *document, sl_limit_id id,
             const sl_limit_point *point)
{
    const sl_fix fix = {.software = document->estimate->software,
                        .workload = point->workload,
                        .plan = point->plan,
                        .nodes = point->nodes};

    sl_write_key(writer, "change");
    /* Another model: its config is the user's. */
    if (!point->legal || id == SL_LIMIT_LAYERS || id == SL_LIMIT_SCALE)
        sl_write_null(writer);
    else
        sl_patch_write(writer, document->request, document->estimate, &fix);
}

static void
fault_write(sl_writer *writer, const sl_limit_point *point)
{
    sl_write_key(writer, "refused");
    if (point->legal) {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    sl_put_text(writer, "pointer", point->fault.pointer);
    sl_put_text(writer, "code", point->fault.rule);
    sl_put_text(writer, "detail", point->fault.message);
    if (point->fault.hint[0] != '\0')
        sl_put_text(writer, "hint", point->fault.hint);
    sl_write_object_end(writer);
}

static void
figures_write(sl_writer *writer, const sl_limit_point *point)
{
    static const char *const sizes[] = {"device_total_bytes", "usable_bytes", "headroom_bytes",
                                        "step_s", "tokens_per_s"};
    static const char certain[] = "fits_certain";

    if (!point->sized) {
        sl_put_bool(writer, "fits", false);
        sl_put_bool(writer, certain, true);
        for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            sl_put_null(writer, sizes[i]);
        return;
    }
    sl_put_bool(writer, "fits", point->fits);
    sl_put_bool(writer, certain, point->fits_certain);
    sl_put_uint(writer, sizes[0], point->device_total_bytes);
    sl_put_uint(writer, sizes[1], point->usable_bytes);
    sl_put_int(writer, sizes[2], point->headroom_bytes);
    sl_put_double(writer, sizes[3], point->step_s);
    sl_put_double(writer, sizes[4], point->tokens_per_s);
}

static void
point_write(sl_writer *writer, const sl_limits_document *document, sl_limit_id id,
            const sl_limit *limit, const sl_limit_point *point)
{
    sl_write_object(writer);
    put_value(writer, "value", id, limit, point->value);
    figures_write(writer, point);
    sl_put_optional(writer, "micro_batch_size", point->legal, point->workload.micro_batch);
    sl_put_optional(writer, "global_batch_size", point->legal, point->workload.global_batch);
    sl_put_optional(writer, "sequence_length", point->legal, point->workload.sequence_length);
    sl_put_optional(writer, "layers", point->legal, point->blocks);
    sl_put_known_uint(writer, "hidden_size", point->hidden);
    sl_put_known_uint(writer, "parameters", point->parameters);
    sl_put_optional(writer, "nodes", point->legal, point->nodes);
    sl_put_optional(writer, "data", point->legal, point->plan.data);
    change_write(writer, document, id, point);
    fault_write(writer, point);
    sl_write_object_end(writer);
}

static void
put_point(sl_writer *writer, const char *key, const sl_limits_document *document, sl_limit_id id,
          const sl_limit *limit, const sl_limit_point *point)
{
    sl_write_key(writer, key);
    if (point != NULL)
        point_write(writer, document, id, limit, point);
    else
        sl_write_null(writer);
}

static void
limit_write(sl_writer *writer, const sl_limits_document *document, sl_limit_id id)
{
    const sl_limit *const limit = &document->limits->of[id];
    const bool none = limit->end == SL_LIMIT_END_NONE;
    char sentence[SENTENCE_BYTES];

    assert(limit->end < SL_LIMIT_END_COUNT);
    sentence_say(id, limit, sentence);
    sl_write_key(writer, words_of[id].key);
    sl_write_object(writer);
    if (limit->has_value && limit->end != SL_LIMIT_END_BOUND)
        put_value(writer, "value", id, limit, limit->value.value);
    else
        sl_put_null(writer, "value");
    if (none)
        sl_put_null(writer, "now");
    else
        put_value(writer, "now", id, limit, limit->now);
    sl_put_text(writer, "end", end_names[limit->end]);
    sl_put_text(writer, "reason", sentence);
    sl_put_text(writer, "method", none ? NULL : method_names[limit->method]);
    if (limit->step == 0)
        sl_put_null(writer, "multiple_of");
    else
        put_value(writer, "multiple_of", id, limit, limit->step);
    sl_put_uint(writer, "evaluations", limit->evaluations);
    put_point(writer, "at", document, id, limit, limit->has_value ? &limit->value : NULL);
    put_point(writer, "next", document, id, limit, limit->has_next ? &limit->next : NULL);
    sl_write_object_end(writer);
}

static void
plan_write(sl_writer *writer, const sl_limits_document *document)
{
    const sl_estimate *const e = document->estimate;
    const sl_memory *const memory = &e->memory;

    sl_write_key(writer, "plan");
    sl_write_object(writer);
    sl_write_key(writer, "resolved");
    sl_resolved_write(writer, document->request, &e->workload, &e->plan,
                      &document->request->cluster, e->software);
    sl_put_bool(writer, "fits", e->fits);
    sl_put_bool(writer, "fits_certain", e->fits_certain);
    sl_put_uint(writer, "device_total_bytes", memory->ranks[memory->binding].device_total_bytes);
    sl_put_uint(writer, "usable_bytes", memory->usable_bytes);
    sl_put_int(writer, "headroom_bytes", memory->headroom_bytes);
    sl_put_double(writer, "step_s", e->time.step_s);
    sl_put_double(writer, "tokens_per_s", e->throughput.tokens_per_s);
    sl_write_object_end(writer);
}

void
sl_limits_write(sl_writer *writer, const sl_limits_document *document)
{
    assert(writer != NULL && document->estimate != NULL && document->limits != NULL);

    sl_write_object(writer);
    sl_answer_model_write(writer, &document->about);
    plan_write(writer, document);
    sl_write_key(writer, "limits");
    sl_write_object(writer);
    for (uint32_t i = 0; i < SL_LIMIT_COUNT; i++)
        limit_write(writer, document, (sl_limit_id)i);
    sl_write_object_end(writer);
    sl_put_text(writer, "evaluator", "closed_form");
    sl_estimate_notes_write(writer, document->request, document->estimate, document->about.warnings,
                            true);
    sl_estimate_notes_write(writer, document->request, document->estimate, NULL, false);
    sl_answer_origin_write(writer, &document->about);
    sl_write_object_end(writer);
}
