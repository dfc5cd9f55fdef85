#include "codec/comparison/comparison_entry.h"

#include <assert.h>
#include <math.h>

#include "base/text.h"
#include "codec/answer/estimate_json.h"
#include "codec/comparison/comparison_patch.h"
#include "codec/question/names.h"
#include "shardline/units.h"

enum { SENTENCE_BYTES = 400 };

void
sl_spell(const char *name, char *out, size_t size)
{
    (void)sl_text_copy(out, size, name);
    for (char *at = out; *at != '\0'; at++)
        if (*at == '_')
            *at = ' ';
}

static void
refused_write(sl_writer *writer, const sl_entry *entry)
{
    const sl_error *const fault = &entry->refused;

    sl_write_key(writer, "refused");
    if (entry->legal) {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    sl_put_text(writer, "pointer", fault->pointer);
    sl_put_text(writer, "code", fault->rule);
    sl_put_text(writer, "detail", fault->message);
    if (fault->hint[0] != '\0')
        sl_put_text(writer, "hint", fault->hint);
    sl_write_object_end(writer);
}

static void
change_write(sl_writer *writer, const sl_entry_document *document)
{
    sl_write_key(writer, "change");
    sl_comparison_patch_write(writer, document->request,
                              document->given ? NULL : &document->entry->question,
                              document->planned);
}

/* What the figures stand for: the median of what the request leaves open. */
static void
resolved_write(sl_writer *writer, const sl_entry *entry)
{
    sl_write_key(writer, "resolved");
    sl_write_object(writer);
    sl_put_text(writer, "framework", sl_name(&sl_framework_names, entry->workload.framework));
    sl_put_text(writer, "software", entry->software->name);
    sl_put_text(writer, "attention", sl_name(&sl_attention_names, entry->workload.attention));
    sl_put_bool(writer, "dropout", entry->workload.dropout);
    sl_put_uint(writer, "micro_batch_size", entry->workload.micro_batch);
    sl_put_uint(writer, "microbatches", sl_plan_microbatches(&entry->workload, &entry->plan));
    sl_put_uint(writer, "tensor", entry->plan.tensor);
    sl_put_uint(writer, "pipeline", entry->plan.pipeline);
    sl_put_uint(writer, "context", entry->plan.context);
    sl_put_uint(writer, "expert", entry->plan.expert);
    sl_put_uint(writer, "data", entry->plan.data);
    sl_put_uint(writer, "zero_stage", entry->plan.zero_stage);
    sl_write_object_end(writer);
}

static void
memory_write(sl_writer *writer, const sl_entry *entry)
{
    const sl_rank_memory *const fullest = &entry->fullest;

    sl_write_key(writer, "memory");
    sl_write_object(writer);
    sl_put_uint(writer, "usable_bytes", entry->usable_bytes);
    sl_put_uint(writer, "device_total_bytes", fullest->device_total_bytes);
    sl_put_int(writer, "headroom_bytes", entry->headroom_bytes);
    sl_put_uint(writer, "peak_allocated_bytes", fullest->peak_allocated_bytes);
    sl_put_uint(writer, "peak_reserved_bytes", fullest->peak_reserved_bytes);
    sl_put_uint(writer, "host_bytes_per_node", entry->host_bytes_per_node);
    sl_put_uint(writer, "binding_rank", fullest->rank);
    sl_write_key(writer, "terms");
    sl_write_array(writer);
    for (uint32_t i = 0; i < fullest->term_count; i++) {
        sl_write_object(writer);
        sl_put_text(writer, "name", sl_term_describe(fullest->terms[i].id)->name);
        sl_put_text(writer, "what", sl_term_what(fullest->terms[i].id));
        sl_put_int(writer, "bytes", llround(fullest->terms[i].value));
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

static void
time_write(sl_writer *writer, const sl_entry *entry)
{
    const sl_time *const time = &entry->time;

    sl_write_key(writer, "time");
    sl_write_object(writer);
    sl_put_double(writer, "step_s", time->step_s);
    sl_write_key(writer, "step_interval_s");
    sl_write_array(writer);
    sl_write_double(writer, entry->step_low_s);
    sl_write_double(writer, entry->step_high_s);
    sl_write_array_end(writer);
    sl_put_bool(writer, "time_incomplete", entry->time_incomplete);
    sl_put_double(writer, "bubble_ratio", time->bubble_ratio);
    sl_put_double(writer, "exposed_communication_s", time->exposed_communication_s);
    sl_write_key(writer, "terms");
    sl_write_array(writer);
    for (uint32_t i = 0; i < SL_TIME_TERMS; i++) {
        sl_write_object(writer);
        sl_put_text(writer, "name", sl_term_describe(time->terms[i].id)->name);
        sl_put_double(writer, "seconds", time->terms[i].value);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

static void
throughput_write(sl_writer *writer, const sl_throughput *throughput)
{
    sl_write_key(writer, "throughput");
    sl_write_object(writer);
    sl_put_double(writer, "tokens_per_s", throughput->tokens_per_s);
    sl_put_double(writer, "tokens_per_s_per_accelerator", throughput->tokens_per_s_per_accelerator);
    sl_put_double(writer, "samples_per_s", throughput->samples_per_s);
    sl_put_double(writer, "mfu_full", throughput->mfu_full);
    sl_write_object_end(writer);
}

/* Appends a sentence where there is room for it. */
static void say(char text[SENTENCE_BYTES], const char *format, ...) SL_PRINTF(2, 3);

static void
say(char text[SENTENCE_BYTES], const char *format, ...)
{
    size_t used = 0;
    va_list arguments;

    while (text[used] != '\0')
        used++;
    if (used > 0 && used + 1 < SENTENCE_BYTES) {
        text[used++] = ' ';
        text[used] = '\0';
    }
    va_start(arguments, format);
    (void)sl_text_vformat(text + used, SENTENCE_BYTES - used, format, arguments);
    va_end(arguments);
}

static void
stages_say(const sl_entry *entry, char text[SENTENCE_BYTES])
{
    const sl_scaling *const s = &entry->scaling;
    const uint32_t stages = entry->plan.pipeline;

    if (stages == 1)
        return;
    if (entry->plan.schedule == SL_SCHEDULE_NAIVE)
        say(text, "%u devices, one at a time: %.0f %% of their time is idle.", stages,
            100.0 * entry->time.bubble_ratio);
    else
        say(text, "%llu micro-batches over %u stages leave %.1f %% idle.",
            (unsigned long long)s->microbatches, stages, 100.0 * entry->time.bubble_ratio);
    if (s->small_bubble_batch > entry->workload.global_batch)
        say(text, "A batch of %llu would leave a tenth or less.",
            (unsigned long long)s->small_bubble_batch);
    say(text, "At most %llu stages.", (unsigned long long)s->stages_limit);
    if (s->largest_layer_bytes > 0)
        say(text, "The largest layer's states take %.2f of the %.1f GiB of its device.",
            (double)s->largest_layer_bytes / SL_GIB_BYTES,
            (double)entry->usable_bytes / SL_GIB_BYTES);
}

static void
limits_say(const sl_entry *entry, char text[SENTENCE_BYTES])
{
    const sl_scaling *const s = &entry->scaling;

    text[0] = '\0';
    if (entry->plan.data > 1)
        say(text, "At most %llu replicas%s.", (unsigned long long)s->replicas_limit,
            entry->workload.framework == SL_FRAMEWORK_DP ? ", the devices of a node"
                                                         : ", a sample of the batch for each");
    if (s->data_exposed_from > 0)
        say(text,
            "With this batch they wait for each other more than a tenth of the step from "
            "%llu accelerators on.",
            (unsigned long long)s->data_exposed_from);
    else if (entry->plan.data > 1)
        say(text, "With this batch they never wait for each other more than a tenth of the step.");
    if (s->tensor_limit > 0)
        say(text, "At most %llu ranks of a cut in a scale-up domain.",
            (unsigned long long)s->tensor_limit);
    stages_say(entry, text);
    say(text, "Communication in the open takes %.1f %% of the step.", 100.0 * s->exposed_ratio);
}

static void
scaling_write(sl_writer *writer, const sl_entry *entry)
{
    const sl_scaling *const s = &entry->scaling;
    char sentence[SENTENCE_BYTES];

    limits_say(entry, sentence);
    sl_write_key(writer, "scaling");
    sl_write_object(writer);
    sl_put_double(writer, "exposed_ratio", s->exposed_ratio);
    sl_put_known_uint(writer, "data_exposed_from_accelerators", s->data_exposed_from);
    sl_put_uint(writer, "replicas_limit", s->replicas_limit);
    sl_put_known_uint(writer, "tensor_limit", s->tensor_limit);
    sl_put_known_uint(writer, "stages_limit", s->stages_limit);
    sl_put_uint(writer, "microbatches", s->microbatches);
    sl_put_known_uint(writer, "small_bubble_batch_size", s->small_bubble_batch);
    sl_put_known_uint(writer, "largest_layer_bytes", s->largest_layer_bytes);
    sl_put_text(writer, "sentence", sentence);
    sl_write_object_end(writer);
}

static void
failure_write(sl_writer *writer, const sl_entry *entry)
{
    const sl_failure *const f = &entry->failure;

    sl_write_key(writer, "failure");
    sl_write_object(writer);
    sl_put_uint(writer, "ranks_stopped", f->ranks_stopped);
    sl_put_uint(writer, "copies_left", f->copies_left);
    sl_put_known_double(writer, "lost_s", f->seconds_lost);
    sl_put_known_double(writer, "mean_time_between_failures_s", f->mean_time_between_failures_s);
    sl_put_double(writer, "goodput_ratio", entry->throughput.goodput_ratio);
    sl_write_object_end(writer);
}

/* What the answer lacks; its assumptions are those of the estimate that the change leads to. */
static void
warnings_write(sl_writer *writer, const sl_entry *entry)
{
    sl_write_key(writer, "warnings");
    sl_write_array(writer);
    for (uint32_t i = 0; i < entry->note_count; i++)
        if (entry->notes[i].warning)
            sl_note_write(writer, entry->notes[i].code, entry->notes[i].text);
    sl_write_array_end(writer);
}

void
sl_entry_write(sl_writer *writer, const sl_entry_document *document)
{
    static const char *const figures[] = {"change",       "resolved",      "fits",
                                          "fits_certain", "memory",        "time",
                                          "throughput",   "communication", "warnings"};
    const sl_entry *const entry = document->entry;

    assert(writer != NULL && document->request != NULL);
    sl_put_bool(writer, "applicable", entry->legal);
    refused_write(writer, entry);
    if (entry->legal) {
        change_write(writer, document);
        resolved_write(writer, entry);
        sl_put_bool(writer, "fits", entry->fits);
        sl_put_bool(writer, "fits_certain", entry->fits_certain);
        memory_write(writer, entry);
        time_write(writer, entry);
        throughput_write(writer, &entry->throughput);
        sl_communication_write(writer, &entry->time, entry->latency_s);
        warnings_write(writer, entry);
    }
    for (size_t i = 0; !entry->legal && i < sizeof figures / sizeof figures[0]; i++)
        sl_put_null(writer, figures[i]);
    if (!document->limits)
        return;
    if (entry->legal) {
        scaling_write(writer, entry);
        failure_write(writer, entry);
    } else {
        sl_put_null(writer, "scaling");
        sl_put_null(writer, "failure");
    }
}
