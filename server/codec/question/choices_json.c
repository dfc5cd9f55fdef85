#include "codec/question/choices_json.h"

#include <assert.h>

#include "base/text.h"
#include "codec/question/names.h"
#include "engine/check/choices.h"

/* The question with one word changed, judged as the API judges it. */
typedef struct trial {
    const sl_estimate_request *request;
    const sl_catalog *catalog;
    sl_question base;
    bool base_valid;
} trial;

static bool
is_legal(const trial *t, const sl_question *changed, const char *pointer)
{
    sl_errors faults = {0};
    if (sl_estimate_request_check(t->request, changed, &faults) == SL_OK)
        return true;
    if (t->base_valid)
        return false;
    /* Something else is wrong already: only what the word itself breaks counts against it. */
    for (uint32_t i = 0; i < faults.count; i++) {
        if (sl_text_equal(faults.list[i].pointer, pointer))
            return false;
    }
    return true;
}

static bool
framework_is_legal(const trial *t, uint32_t framework)
{
    sl_question changed = t->base;
    changed.workload.framework = (sl_framework)framework;
    if (framework != (uint32_t)t->base.workload.framework) {
        /* Each framework has stages and modes of its own: whoever changes it chooses them anew. */
        changed.unknown |= SL_UNKNOWN_ZERO_STAGE | SL_UNKNOWN_RECOMPUTE;
        changed.plan.shard_group = 0;
        changed.plan.gradient_sync = SL_GRADIENT_SYNC_DEFAULT;
    }
    changed.software = sl_catalog_open_software(t->catalog, sl_framework_profiles(framework),
                                                &changed.software_count);
    return changed.software != NULL && is_legal(t, &changed, "/workload/framework");
}

static bool
precision_is_legal(const trial *t, uint32_t precision)
{
    sl_question changed = t->base;
    changed.workload.precision = (sl_precision)precision;
    return is_legal(t, &changed, "/workload/precision");
}

static bool
recompute_is_legal(const trial *t, uint32_t recompute)
{
    sl_question changed = t->base;
    changed.workload.recompute = (sl_recompute)recompute;
    changed.workload.recompute_method = SL_RECOMPUTE_EACH;
    changed.unknown &= ~(uint32_t)SL_UNKNOWN_RECOMPUTE;
    return is_legal(t, &changed, "/workload/recompute");
}

static bool
attention_is_legal(const trial *t, uint32_t attention)
{
    sl_question changed = t->base;
    changed.workload.attention = (sl_attention_kernel)attention;
    changed.unknown &= ~(uint32_t)SL_UNKNOWN_ATTENTION;
    return is_legal(t, &changed, "/workload/attention");
}

static bool
gradient_sync_is_legal(const trial *t, uint32_t word)
{
    sl_question changed = t->base;
    changed.plan.gradient_sync = (sl_gradient_sync)(SL_GRADIENT_SYNC_EACH + word);
    return is_legal(t, &changed, "/parallelism/gradient_sync");
}

static void
words_write(sl_writer *writer, const trial *t, const char *key, const sl_names *names,
            uint32_t count, bool (*legal)(const trial *t, uint32_t word))
{
    sl_write_key(writer, key);
    sl_write_array(writer);
    for (uint32_t i = 0; i < count; i++) {
        if (legal(t, i))
            sl_write_text(writer, sl_name(names, i));
    }
    sl_write_array_end(writer);
}

/* Every profile of the framework: none of them makes a plan illegal. */
static void
software_write(sl_writer *writer, const trial *t)
{
    uint32_t count = 0;
    const sl_software *const profiles =
        sl_catalog_software(t->catalog, sl_framework_profiles(t->base.workload.framework), &count);
    sl_write_key(writer, "software");
    sl_write_array(writer);
    for (uint32_t i = 0; i < count; i++)
        sl_write_text(writer, profiles[i].name);
    sl_write_array_end(writer);
}

static void
sequence_write(sl_writer *writer, const trial *t)
{
    sl_write_key(writer, "sequence");
    sl_write_array(writer);
    for (uint32_t on = 0; on < 2; on++) {
        sl_question changed = t->base;
        changed.plan.sequence = on == 1;
        changed.unknown &= ~(uint32_t)SL_UNKNOWN_SEQUENCE;
        if (on == 1 && changed.plan.tensor == 1)
            continue; /* there is nothing to split over one rank */
        if (is_legal(t, &changed, "/parallelism/sequence"))
            sl_write_bool(writer, on == 1);
    }
    sl_write_array_end(writer);
}

static void
degrees_write(sl_writer *writer, const trial *t)
{
    for (uint32_t field = 0; field < SL_CHOICE_COUNT; field++) {
        uint64_t values[SL_CHOICES_MAX];
        sl_question question = t->base;
        /* One rank has nothing to split: at more, what was left out is open. */
        if (field == SL_CHOICE_TENSOR && !t->request->sequence_said)
            question.unknown |= SL_UNKNOWN_SEQUENCE;
        const uint32_t count = sl_question_choices(&question, (sl_choice)field, values);
        sl_write_key(writer, sl_choice_names[field]);
        sl_write_array(writer);
        for (uint32_t i = 0; i < count; i++)
            sl_write_uint(writer, values[i]);
        sl_write_array_end(writer);
    }
}

void
sl_choices_write(sl_writer *writer, const sl_estimate_request *request, const sl_catalog *catalog,
                 const sl_model *model)
{
    assert(writer != NULL && request != NULL && catalog != NULL && model != NULL);

    sl_errors faults = {0};
    trial t = {.request = request, .catalog = catalog};
    t.base = sl_estimate_request_question(request, model);
    t.base_valid = sl_estimate_request_check(request, &t.base, &faults) == SL_OK;

    sl_write_object(writer);
    sl_put_bool(writer, "valid", t.base_valid);
    sl_write_key(writer, "choices");
    sl_write_object(writer);
    degrees_write(writer, &t);
    sequence_write(writer, &t);
    words_write(writer, &t, "recompute", &sl_recompute_names, SL_RECOMPUTE_WORDS,
                recompute_is_legal);
    words_write(writer, &t, "framework", &sl_framework_names, SL_FRAMEWORK_COUNT,
                framework_is_legal);
    words_write(writer, &t, "precision", &sl_precision_names, sl_precision_names.modelled,
                precision_is_legal);
    words_write(writer, &t, "attention", &sl_attention_names, SL_ATTENTION_KERNEL_COUNT,
                attention_is_legal);
    words_write(writer, &t, "gradient_sync", &sl_gradient_sync_names, sl_gradient_sync_names.count,
                gradient_sync_is_legal);
    software_write(writer, &t);
    sl_write_object_end(writer);
    sl_write_key(writer, "errors");
    sl_write_errors(writer, &faults);
    sl_write_object_end(writer);
}
