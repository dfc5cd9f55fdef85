#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "trace/trace_parts.h"

static const int64_t day_and_a_half_ns = (int64_t)1 << (SL_TRACE_TIME_BITS - 1);

/* Never 0, which is a free place. */
static uint64_t
hash_of(const char *bytes, size_t size)
{
    const uint64_t hash = sl_hash_quick(SL_QUICK_HASH_START, bytes, size);
    return hash == 0 ? 1 : hash;
}

/* Room for one more in a list; false with the fault in the trace. */
static bool
has_room(sl_trace *trace, uint32_t count)
{
    if (count < trace->kernels_max)
        return true;
    sl_trace_fault(trace, SL_E_TOO_LARGE, "too_many_events", "",
                   "there are more kernels than are read at once; record fewer steps");
    return false;
}

/* Times against the base; false where an event lies more than a day and a half from the first. */
static bool
place(sl_trace *trace, const sl_trace_event *event, uint64_t *start_ns)
{
    if (!trace->has_base) {
        trace->has_base = true;
        trace->base_ns = event->start_ns - day_and_a_half_ns;
    }
    const int64_t at = event->start_ns - trace->base_ns;
    if (at < 0 || at > 2 * day_and_a_half_ns - 1 || event->duration_ns > day_and_a_half_ns ||
        at + event->duration_ns > 2 * day_and_a_half_ns - 1) {
        sl_trace_fault(trace, SL_E_RANGE, "out_of_range", "ts",
                       "must lie within 39 hours of the first event");
        return false;
    }
    *start_ns = (uint64_t)at;
    const uint64_t end_ns = *start_ns + (uint64_t)event->duration_ns;
    trace->begin_ns = *start_ns < trace->begin_ns ? *start_ns : trace->begin_ns;
    trace->end_ns = end_ns > trace->end_ns ? end_ns : trace->end_ns;
    return true;
}

/* The stream's index, or SL_TRACE_STREAMS_MAX with the fault in the trace. */
static uint32_t
stream_index(sl_trace *trace, const sl_trace_event *event)
{
    for (uint32_t i = 0; i < trace->stream_count; i++)
        if (sl_text_equal(trace->streams[i].stream, event->stream) &&
            sl_text_equal(trace->streams[i].device, event->device))
            return i;
    if (trace->stream_count == SL_TRACE_STREAMS_MAX) {
        sl_trace_fault(trace, SL_E_RANGE, "too_many_streams", "tid",
                       "there must not be more than 128 streams with kernels");
        return SL_TRACE_STREAMS_MAX;
    }
    sl_trace_stream *const added = &trace->streams[trace->stream_count];
    memcpy(added->device, event->device, sizeof added->device);
    memcpy(added->stream, event->stream, sizeof added->stream);
    return trace->stream_count++;
}

/* The kind of a kernel, from its name the first time it is seen. Names beyond those that are kept
 * are looked up every time, and not listed. */
static sl_kernel_kind
kind_by_name(sl_trace *trace, const sl_trace_event *event)
{
    const size_t places = 2 * (size_t)trace->names_max;
    const uint64_t hash = hash_of(event->name, event->name_length);
    sl_trace_name *slot = &trace->names[hash % places];

    while (slot->hash != 0 && slot->hash != hash)
        slot = slot == &trace->names[places - 1] ? trace->names : slot + 1;
    if (slot->hash == 0) {
        const sl_kernel_kind kind = sl_kernel_of_name(event->name);
        if (trace->name_count == trace->names_max)
            return kind;
        trace->name_count++;
        slot->hash = hash;
        slot->kind = kind;
        (void)sl_text_copy(slot->name, sizeof slot->name, event->name);
    }
    slot->calls++;
    slot->sum_ns += (uint64_t)event->duration_ns;
    return slot->kind;
}

static sl_kernel_kind
kind_of(sl_trace *trace, const sl_trace_event *event)
{
    if (event->sort == SL_TRACE_COPY)
        return sl_kernel_of_copy(event->name);
    const sl_kernel_kind kind = kind_by_name(trace, event);
    return sl_kernel_communicates(kind) && event->collective != SL_KERNEL_OTHER ? event->collective
                                                                                : kind;
}

static void
keep_interval(sl_trace *trace, const sl_trace_event *event, uint64_t start_ns)
{
    const uint32_t stream = stream_index(trace, event);
    if (stream == SL_TRACE_STREAMS_MAX)
        return;
    const sl_kernel_kind kind = kind_of(trace, event);
    uint64_t left_ns = (uint64_t)event->duration_ns;

    trace->streams[stream].calls[kind]++;
    do { /* a kernel that waited for more than 4 s is several in a row */
        const uint32_t part_ns = left_ns < UINT32_MAX ? (uint32_t)left_ns : UINT32_MAX;
        if (!has_room(trace, trace->interval_count))
            return;
        trace->intervals[trace->interval_count++] = (sl_trace_interval){
            .key = start_ns << 16 | (uint64_t)stream << 8 | (uint64_t)kind,
            .duration_ns = part_ns,
            .launch = event->correlation,
        };
        start_ns += part_ns;
        left_ns -= part_ns;
    } while (left_ns > 0);
}

/* Launches of kernels and copies; what waits for the device is a call of the runtime too. */
static void
keep_launch(sl_trace *trace, const sl_trace_event *event, uint64_t start_ns)
{
    static const char *const words[] = {"launch", "memcpy", "memset"};
    bool launches = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        launches = launches || sl_text_holds_ignoring_case(event->name, words[i]);
    if (!launches || event->correlation == 0)
        return;
    if (!has_room(trace, trace->launch_count))
        return;
    trace->launches[trace->launch_count++] = (sl_trace_launch){start_ns, event->correlation};
}

static void
keep_step(sl_trace *trace, const sl_trace_event *event)
{
    static const char mark[] = "ProfilerStep#";
    uint64_t number = 0;

    if (strncmp(event->name, mark, sizeof mark - 1) != 0 ||
        !sl_text_to_uint(event->name + sizeof mark - 1, &number))
        return;
    trace->step_sum_ns += (uint64_t)event->duration_ns;
    trace->step_marks++;
    for (uint32_t i = trace->step_count; i > 0; i--)
        if (trace->steps[i - 1] == number)
            return;
    if (trace->step_count == SL_TRACE_STEPS_MAX)
        sl_trace_fault(trace, SL_E_RANGE, "too_many_steps", "name",
                       "there must not be more than 1024 steps");
    else
        trace->steps[trace->step_count++] = number;
}

void
sl_trace_keep(sl_trace *trace, const sl_trace_event *event)
{
    uint64_t start_ns = 0;

    if (!event->has_start || !event->has_duration) {
        sl_trace_fault(trace, SL_E_RANGE, "event_incomplete", event->has_start ? "dur" : "ts",
                       "an event of phase X must have ts and dur");
        return;
    }
    if (event->duration_ns < 0) {
        sl_trace_fault(trace, SL_E_RANGE, "out_of_range", "dur", "must not be negative");
        return;
    }
    if (!place(trace, event, &start_ns))
        return;
    switch (event->sort) {
    case SL_TRACE_KERNEL:
    case SL_TRACE_COPY:
        keep_interval(trace, event, start_ns);
        break;
    case SL_TRACE_LAUNCH:
        keep_launch(trace, event, start_ns);
        break;
    case SL_TRACE_ANNOTATION:
    case SL_TRACE_HOST: /* where the first releases of the profiler have their marks */
        keep_step(trace, event);
        break;
    case SL_TRACE_IGNORED:
        break;
    }
}
