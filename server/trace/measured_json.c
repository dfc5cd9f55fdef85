#include "trace/measured_json.h"

#include <assert.h>

#include "base/number.h"
#include "base/text.h"
#include "codec/question/names.h"
#include "codec/question/notes.h"

/* Beyond these shares the reader is told. */
static const double outside_ratio = 0.05;
static const double unmatched_ratio = 0.05;

typedef struct comparing {
    sl_writer *writer;
    const sl_measured_document *document;
    const sl_trace_figures *measured;
    const sl_estimate *predicted;
    double steps; /* that the measured seconds are divided by */
} comparing;

static double
term_s(const comparing *c, sl_term_id id)
{
    return c->predicted->time.terms[id - SL_TERM_FORWARD].value;
}

/* Predicted over measured, where both are there. */
static void
put_ratio(sl_writer *writer, double measured_s, double predicted_s)
{
    if (measured_s > 0.0 && predicted_s > 0.0)
        sl_put_double(writer, "ratio", predicted_s / measured_s);
    else
        sl_put_null(writer, "ratio");
}

static void
put_pair(const comparing *c, const char *name, double measured_s, double predicted_s)
{
    sl_write_key(c->writer, name);
    sl_write_object(c->writer);
    sl_put_double(c->writer, "measured", measured_s);
    sl_put_double(c->writer, "predicted", predicted_s);
    put_ratio(c->writer, measured_s, predicted_s);
    sl_write_object_end(c->writer);
}

/* What crosses to the host is no collective: the trace has it among the copies. */
static bool
is_collective(const sl_communication *row)
{
    return !sl_text_equal(row->group, "host");
}

/* Predicted seconds of one collective in all groups; SL_COLLECTIVE_COUNT: of all of them. */
static sl_trace_part
predicted_part(const comparing *c, sl_collective which)
{
    const sl_time *time = &c->predicted->time;
    sl_trace_part sum = {0};

    for (uint32_t i = 0; i < time->communication_count; i++) {
        const sl_communication *row = &time->communication[i];
        if (!is_collective(row) || (which != SL_COLLECTIVE_COUNT && row->collective != which))
            continue;
        sum.seconds += row->seconds;
        sum.exposed_s += row->exposed_s;
    }
    return sum;
}

/* Seconds of a kind of kernel; below 0 where the engine does not price it. */
static double
predicted_s(const comparing *c, sl_kernel_kind kind)
{
    const double *classes = c->document->classes;

    switch (kind) {
    case SL_KERNEL_PRODUCTS:
        return classes[SL_CLASS_PRODUCTS];
    case SL_KERNEL_ATTENTION:
        return classes[SL_CLASS_ATTENTION];
    case SL_KERNEL_STREAMING:
        return classes[SL_CLASS_STREAMING];
    case SL_KERNEL_EMBEDDING:
        return classes[SL_CLASS_EMBEDDING];
    case SL_KERNEL_LOSS:
        return classes[SL_CLASS_LOSS];
    case SL_KERNEL_OPTIMIZER:
        return c->predicted->time.update_s;
    case SL_KERNEL_COLLECTIVE:
        return predicted_part(c, SL_COLLECTIVE_COUNT).seconds;
    default:
        return -1.0;
    }
}

static void
write_category(const comparing *c, sl_kernel_kind kind)
{
    const sl_trace_part *part =
        kind == SL_KERNEL_COLLECTIVE ? &c->measured->communication : &c->measured->kinds[kind];
    const double measured = part->seconds / c->steps;
    const double predicted = predicted_s(c, kind);

    sl_write_object(c->writer);
    sl_put_text(c->writer, "name", sl_kernel_kind_name(kind));
    sl_put_double(c->writer, "measured_s", measured);
    if (predicted < 0.0)
        sl_put_null(c->writer, "predicted_s");
    else
        sl_put_double(c->writer, "predicted_s", predicted);
    put_ratio(c->writer, measured, predicted);
    sl_put_uint(c->writer, "calls", part->calls);
    sl_write_object_end(c->writer);
}

/* One collective, of the trace, of the plan or of both; its kind in the trace is the first
 * argument. */
static void
write_collective(const comparing *c, sl_kernel_kind kind)
{
    const bool named = kind != SL_KERNEL_COLLECTIVE_OTHER;
    const sl_collective which = (sl_collective)(kind - SL_KERNEL_COLLECTIVE);
    const sl_trace_part *measured = &c->measured->kinds[kind];
    const sl_trace_part predicted = named ? predicted_part(c, which) : (sl_trace_part){0};

    if (measured->calls == 0 && predicted.seconds <= 0.0)
        return;
    sl_write_object(c->writer);
    sl_put_text(c->writer, "collective", named ? sl_name(&sl_collective_names, which) : "other");
    sl_put_uint(c->writer, "calls", measured->calls);
    sl_put_double(c->writer, "measured_s", measured->seconds / c->steps);
    sl_put_double(c->writer, "measured_exposed_s", measured->exposed_s / c->steps);
    if (named) {
        sl_put_double(c->writer, "predicted_s", predicted.seconds);
        sl_put_double(c->writer, "predicted_exposed_s", predicted.exposed_s);
    } else {
        sl_put_null(c->writer, "predicted_s");
        sl_put_null(c->writer, "predicted_exposed_s");
    }
    put_ratio(c->writer, measured->seconds / c->steps, predicted.seconds);
    sl_write_object_end(c->writer);
}

static void
write_stream(const comparing *c, const sl_trace_stream_figures *stream)
{
    double collectives_s = 0.0; /* on one stream they run one after the other */

    sl_write_object(c->writer);
    sl_put_text(c->writer, "device", stream->device);
    sl_put_text(c->writer, "stream", stream->stream);
    sl_put_uint(c->writer, "calls", stream->calls);
    sl_put_double(c->writer, "busy_s", stream->busy_s / c->steps);
    sl_write_key(c->writer, "categories");
    sl_write_array(c->writer);
    for (uint32_t k = 0; k < SL_KERNEL_KIND_COUNT; k++) {
        if (sl_kernel_communicates((sl_kernel_kind)k))
            collectives_s += stream->kind_s[k];
        const bool last = k + 1 == SL_KERNEL_KIND_COUNT;
        const double seconds = last ? collectives_s : stream->kind_s[k];
        if (seconds <= 0.0 || (sl_kernel_communicates((sl_kernel_kind)k) && !last))
            continue;
        sl_write_object(c->writer);
        sl_put_text(c->writer, "name", sl_kernel_kind_name((sl_kernel_kind)k));
        sl_put_double(c->writer, "measured_s", seconds / c->steps);
        sl_write_object_end(c->writer);
    }
    sl_write_array_end(c->writer);
    sl_write_object_end(c->writer);
}

static void
write_trace(const comparing *c)
{
    const sl_trace_figures *m = c->measured;

    sl_write_key(c->writer, "trace");
    sl_write_object(c->writer);
    sl_put_uint(c->writer, "events", m->events);
    sl_put_optional(c->writer, "rank", m->rank >= 0, (uint64_t)m->rank);
    sl_put_optional(c->writer, "world_size", m->world_size >= 0, (uint64_t)m->world_size);
    sl_put_uint(c->writer, "steps", m->steps > 0 ? m->steps : 1);
    sl_put_bool(c->writer, "steps_marked", m->steps > 0);
    sl_put_double(c->writer, "span_s", m->span_s);
    sl_put_uint(c->writer, "devices", m->device_count);
    sl_write_object_end(c->writer);
}

static void
write_device(const comparing *c)
{
    const sl_trace_figures *m = c->measured;

    sl_write_key(c->writer, "device");
    sl_write_object(c->writer);
    sl_put_text(c->writer, "device", m->device);
    sl_put_double(c->writer, "computing_s", m->computing_s / c->steps);
    sl_put_double(c->writer, "idle_s", m->idle_s / c->steps);
    if (m->host_known)
        sl_put_double(c->writer, "host_bound_s", m->host_s / c->steps);
    else
        sl_put_null(c->writer, "host_bound_s");
    sl_put_double(c->writer, "predicted_bubble_s", term_s(c, SL_TERM_BUBBLE));
    sl_put_double(c->writer, "predicted_launch_s", term_s(c, SL_TERM_LAUNCH));
    sl_write_object_end(c->writer);
}

static void
write_unmatched(const comparing *c)
{
    sl_write_key(c->writer, "unmatched");
    sl_write_array(c->writer);
    for (uint32_t i = 0; i < c->measured->unmatched_count; i++) {
        const sl_trace_name_figures *name = &c->measured->unmatched[i];
        sl_write_object(c->writer);
        sl_put_text(c->writer, "name", name->name);
        sl_put_double(c->writer, "measured_s", name->seconds / c->steps);
        sl_put_uint(c->writer, "calls", name->calls);
        sl_write_object_end(c->writer);
    }
    sl_write_array_end(c->writer);
}

/* What makes the trace as a whole hard to compare. */
static void
note_trace(const comparing *c, sl_notes *notes)
{
    const sl_trace_figures *m = c->measured;
    const uint64_t world = sl_plan_world(&c->predicted->plan);

    if (m->steps == 0)
        sl_notes_add(notes, "steps_not_marked", true,
                     "the trace has no ProfilerStep marks: all of it, from the first event to the "
                     "last, is taken for one step; call profiler.step() to have them");
    else if (m->device_span_s > (1.0 + outside_ratio) * m->step_s * m->steps)
        sl_notes_add(notes, "kernels_outside_steps", true,
                     "kernels run for %s s, longer than the %u marked steps: seconds per step may "
                     "hold work of others",
                     sl_number_say(m->device_span_s, 0.0).text, m->steps);
    if (m->device_count > 1)
        sl_notes_add(notes, "several_devices", true,
                     "the trace is of %u devices; categories are those of the busiest, %s",
                     m->device_count, m->device);
    if (m->world_size > 0 && (uint64_t)m->world_size != world)
        sl_notes_add(notes, "world_size_differs", true,
                     "the trace was recorded by one of %lld ranks, the plan has %llu",
                     (long long)m->world_size, (unsigned long long)world);
    if (!m->host_known)
        sl_notes_add(notes, "host_not_known", true,
                     "no kernel can be told from which launch it came: what the device waited for "
                     "its host is not known");
}

/* What makes single rows hard to compare. */
static void
note_rows(const comparing *c, sl_notes *notes)
{
    const sl_trace_figures *m = c->measured;
    const uint32_t all_to_all = SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_ALL_TO_ALL;
    const uint32_t sends = SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_SEND_RECEIVE;

    if (c->predicted->plan.pipeline > 1)
        sl_notes_add(notes, "slowest_stage", true,
                     "predicted seconds are those of the slowest of %u stages; the trace may be of "
                     "another",
                     c->predicted->plan.pipeline);
    if (m->kinds[all_to_all].calls == 0 && m->kinds[sends].calls > 0 &&
        predicted_part(c, SL_COLLECTIVE_ALL_TO_ALL).seconds > 0.0)
        sl_notes_add(notes, "all_to_all_as_sends", true,
                     "NCCL makes an all-to-all of sends and receives, and this trace does not say "
                     "which are: compare the sum of both rows");
    if (c->predicted->workload.attention == SL_ATTENTION_UNFUSED)
        sl_notes_add(
            notes, "attention_unfused", true,
            "unfused attention is predicted whole, its kernels are measured among products "
            "and streaming: compare the sum of the three");
    if (m->kinds[SL_KERNEL_OTHER].seconds > unmatched_ratio * m->computing_s)
        sl_notes_add(notes, "kernels_unmatched", true,
                     "%.3g %% of the computing is of kernels whose names say nothing here: see "
                     "unmatched",
                     100.0 * m->kinds[SL_KERNEL_OTHER].seconds / m->computing_s);
}

static void
write_warnings(const comparing *c)
{
    sl_notes notes = {.count = 0};

    note_trace(c, &notes);
    note_rows(c, &notes);
    sl_write_key(c->writer, "warnings");
    sl_write_array(c->writer);
    for (uint32_t i = 0; i < notes.count; i++)
        sl_note_write(c->writer, notes.list[i].code, notes.list[i].text);
    if (c->document->warnings != NULL)
        sl_faults_write(c->writer, c->document->warnings);
    for (uint32_t i = 0; i < c->predicted->note_count; i++)
        if (c->predicted->notes[i].warning)
            sl_note_write(c->writer, c->predicted->notes[i].code, c->predicted->notes[i].text);
    sl_write_array_end(c->writer);
}

static void
write_lists(const comparing *c)
{
    sl_write_key(c->writer, "categories");
    sl_write_array(c->writer);
    for (uint32_t k = 0; k <= SL_KERNEL_COLLECTIVE; k++)
        write_category(c, (sl_kernel_kind)k);
    sl_write_array_end(c->writer);
    sl_write_key(c->writer, "communication");
    sl_write_array(c->writer);
    for (uint32_t k = SL_KERNEL_COLLECTIVE; k < SL_KERNEL_KIND_COUNT; k++)
        write_collective(c, (sl_kernel_kind)k);
    sl_write_array_end(c->writer);
    sl_write_key(c->writer, "streams");
    sl_write_array(c->writer);
    for (uint32_t i = 0; i < c->measured->stream_count; i++)
        write_stream(c, &c->measured->streams[i]);
    sl_write_array_end(c->writer);
}

void
sl_measured_write(sl_writer *writer, const sl_measured_document *document)
{
    assert(writer != NULL && document != NULL);

    const sl_trace_figures *m = document->measured;
    const comparing c = {
        .writer = writer,
        .document = document,
        .measured = m,
        .predicted = document->predicted,
        .steps = m->steps > 0 ? m->steps : 1.0,
    };

    sl_write_object(writer);
    put_pair(&c, "step_s", m->step_s, c.predicted->time.step_s);
    put_pair(&c, "exposed_communication_s", m->communication.exposed_s / c.steps,
             c.predicted->time.exposed_communication_s);
    write_trace(&c);
    write_device(&c);
    write_lists(&c);
    write_unmatched(&c);
    write_warnings(&c);
    sl_put_text(writer, "engine_version", document->engine_version);
    sl_put_text(writer, "catalog_revision", document->catalog_revision);
    sl_write_object_end(writer);
}
