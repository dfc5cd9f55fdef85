#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "trace/trace_parts.h"

static const double s_per_ns = 1e-9;

/* Which intervals a walk stops at: those of some streams and some kinds. */
typedef struct chosen {
    bool streams[SL_TRACE_STREAMS_MAX];
    bool kinds[SL_KERNEL_KIND_COUNT];
} chosen;

/* Through the intervals in order, with those that touch or overlap made one. */
typedef struct walk {
    const sl_trace *trace;
    const chosen *of;
    uint32_t at;
} walk;

typedef struct stay {
    uint64_t start_ns, end_ns;
    uint32_t launch; /* of the interval that begins it */
} stay;

static int
by_key(const void *a, const void *b)
{
    const uint64_t x = ((const sl_trace_interval *)a)->key;
    const uint64_t y = ((const sl_trace_interval *)b)->key;
    return (x > y) - (x < y);
}

static int
by_correlation(const void *a, const void *b)
{
    const uint32_t x = ((const sl_trace_launch *)a)->correlation;
    const uint32_t y = ((const sl_trace_launch *)b)->correlation;
    return (x > y) - (x < y);
}

static bool
is_chosen(const chosen *of, const sl_trace_interval *interval)
{
    return of->streams[sl_trace_stream_of(interval)] && of->kinds[sl_trace_kind_of(interval)];
}

static uint64_t
end_ns(const sl_trace_interval *interval)
{
    return sl_trace_start_ns(interval) + interval->duration_ns;
}

static bool
next_stay(walk *w, stay *out)
{
    const sl_trace *trace = w->trace;

    while (w->at < trace->interval_count && !is_chosen(w->of, &trace->intervals[w->at]))
        w->at++;
    if (w->at == trace->interval_count)
        return false;
    const sl_trace_interval *const first = &trace->intervals[w->at++];
    *out = (stay){sl_trace_start_ns(first), end_ns(first), first->launch};
    for (; w->at < trace->interval_count; w->at++) {
        const sl_trace_interval *const next = &trace->intervals[w->at];
        if (!is_chosen(w->of, next))
            continue;
        if (sl_trace_start_ns(next) > out->end_ns)
            break;
        if (end_ns(next) > out->end_ns)
            out->end_ns = end_ns(next);
    }
    return true;
}

/* Time when any of them ran. */
static double
union_s(const sl_trace *trace, const chosen *of)
{
    walk w = {trace, of, 0};
    uint64_t sum_ns = 0;

    for (stay s; next_stay(&w, &s);)
        sum_ns += s.end_ns - s.start_ns;
    return (double)sum_ns * s_per_ns;
}

/* Time when any of the one and any of the other ran. */
static double
overlap_s(const sl_trace *trace, const chosen *one, const chosen *other)
{
    walk a = {trace, one, 0};
    walk b = {trace, other, 0};
    stay x = {0};
    stay y = {0};
    uint64_t sum_ns = 0;
    bool more = next_stay(&a, &x) && next_stay(&b, &y);

    while (more) {
        const uint64_t start = x.start_ns > y.start_ns ? x.start_ns : y.start_ns;
        const uint64_t end = x.end_ns < y.end_ns ? x.end_ns : y.end_ns;
        if (end > start)
            sum_ns += end - start;
        more = x.end_ns < y.end_ns ? next_stay(&a, &x) : next_stay(&b, &y);
    }
    return (double)sum_ns * s_per_ns;
}

/* Busy time of every stream, whole and by kind, in one pass. */
static void
measure_streams(const sl_trace *trace, sl_trace_figures *out)
{
    uint64_t until[SL_TRACE_STREAMS_MAX][SL_KERNEL_KIND_COUNT + 1] = {{0}};
    uint64_t busy[SL_TRACE_STREAMS_MAX][SL_KERNEL_KIND_COUNT + 1] = {{0}};

    for (uint32_t i = 0; i < trace->interval_count; i++) {
        const sl_trace_interval *const interval = &trace->intervals[i];
        const uint32_t stream = sl_trace_stream_of(interval);
        const uint32_t places[] = {sl_trace_kind_of(interval), SL_KERNEL_KIND_COUNT};
        for (uint32_t p = 0; p < 2; p++) {
            uint64_t *const last = &until[stream][places[p]];
            const uint64_t start = sl_trace_start_ns(interval);
            const uint64_t from = start > *last ? start : *last;
            if (end_ns(interval) > from) {
                busy[stream][places[p]] += end_ns(interval) - from;
                *last = end_ns(interval);
            }
        }
    }
    out->stream_count = trace->stream_count;
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        sl_trace_stream_figures *const stream = &out->streams[i];
        stream->device = trace->streams[i].device;
        stream->stream = trace->streams[i].stream;
        stream->busy_s = (double)busy[i][SL_KERNEL_KIND_COUNT] * s_per_ns;
        for (uint32_t k = 0; k < SL_KERNEL_KIND_COUNT; k++) {
            stream->kind_s[k] = (double)busy[i][k] * s_per_ns;
            stream->calls += trace->streams[i].calls[k];
        }
    }
}

/* Busy seconds of the streams of one device, one after the other. */
static double
device_busy_s(const sl_trace_figures *figures, const char *device)
{
    double sum_s = 0.0;
    for (uint32_t i = 0; i < figures->stream_count; i++)
        if (sl_text_equal(figures->streams[i].device, device))
            sum_s += figures->streams[i].busy_s;
    return sum_s;
}

/* The busiest device, the first of those that are; and how many there are. */
static void
choose_device(sl_trace_figures *out)
{
    double most_s = -1.0;

    for (uint32_t i = 0; i < out->stream_count; i++) {
        const char *const device = out->streams[i].device;
        bool seen = false;
        for (uint32_t j = 0; j < i; j++)
            seen = seen || sl_text_equal(out->streams[j].device, device);
        if (seen)
            continue;
        out->device_count++;
        const double busy_s = device_busy_s(out, device);
        if (busy_s > most_s) {
            most_s = busy_s;
            out->device = device;
        }
    }
}

/* The kinds of `of` are those that a test accepts. */
static void
choose_kinds(chosen *of, bool (*test)(sl_kernel_kind kind))
{
    for (uint32_t k = 0; k < SL_KERNEL_KIND_COUNT; k++)
        of->kinds[k] = test((sl_kernel_kind)k);
}

static bool
any_kind(sl_kernel_kind kind)
{
    (void)kind;
    return true;
}

static void
measure_kinds(const sl_trace *trace, chosen of, sl_trace_figures *out)
{
    chosen computing = of;
    choose_kinds(&computing, sl_kernel_computes);
    out->computing_s = union_s(trace, &computing);

    for (uint32_t k = 0; k < SL_KERNEL_KIND_COUNT; k++) {
        sl_trace_part *const part = &out->kinds[k];
        for (uint32_t i = 0; i < trace->stream_count; i++)
            part->calls += of.streams[i] ? trace->streams[i].calls[k] : 0;
        if (part->calls == 0)
            continue;
        memset(of.kinds, 0, sizeof of.kinds);
        of.kinds[k] = true;
        part->seconds = union_s(trace, &of);
        if (sl_kernel_communicates((sl_kernel_kind)k)) {
            part->exposed_s = part->seconds - overlap_s(trace, &of, &computing);
            out->communication.calls += part->calls;
        }
    }
    choose_kinds(&of, sl_kernel_communicates);
    out->communication.seconds = union_s(trace, &of);
    out->communication.exposed_s = out->communication.seconds - overlap_s(trace, &of, &computing);
}

static const sl_trace_launch *
find_launch(const sl_trace *trace, uint32_t correlation)
{
    const sl_trace_launch wanted = {.correlation = correlation};
    if (correlation == 0 || trace->launch_count == 0)
        return NULL;
    return bsearch(&wanted, trace->launches, trace->launch_count, sizeof wanted, by_correlation);
}

/* Time when the device did nothing at all, and how much of it the host is to blame for: that before
 * a kernel which was launched only after the device had fallen idle. */
static void
measure_idle(const sl_trace *trace, chosen of, sl_trace_figures *out)
{
    choose_kinds(&of, any_kind);
    walk w = {trace, &of, 0};
    stay before = {0};
    uint64_t idle_ns = 0;
    uint64_t host_ns = 0;

    const bool any = next_stay(&w, &before);
    assert(any);
    const uint64_t first_ns = before.start_ns;
    for (stay s; next_stay(&w, &s); before = s) {
        const sl_trace_launch *const launch = find_launch(trace, s.launch);
        idle_ns += s.start_ns - before.end_ns;
        out->host_known = out->host_known || launch != NULL;
        if (launch != NULL && launch->start_ns >= before.end_ns)
            host_ns += s.start_ns - before.end_ns;
    }
    out->device_span_s = (double)(before.end_ns - first_ns) * s_per_ns;
    out->idle_s = (double)idle_ns * s_per_ns;
    out->host_s = (double)host_ns * s_per_ns;
}

/* The longest names of no known kind. */
static void
list_unmatched(const sl_trace *trace, sl_trace_figures *out)
{
    for (size_t i = 0; i < 2 * (size_t)trace->names_max; i++) {
        const sl_trace_name *const name = &trace->names[i];
        const double seconds = (double)name->sum_ns * s_per_ns;
        if (name->hash == 0 || name->kind != SL_KERNEL_OTHER)
            continue;
        uint32_t at = out->unmatched_count;
        while (at > 0 && out->unmatched[at - 1].seconds < seconds)
            at--;
        if (at == SL_TRACE_UNMATCHED_MAX)
            continue;
        if (out->unmatched_count < SL_TRACE_UNMATCHED_MAX)
            out->unmatched_count++;
        memmove(&out->unmatched[at + 1], &out->unmatched[at],
                (out->unmatched_count - 1 - at) * sizeof out->unmatched[0]);
        out->unmatched[at] = (sl_trace_name_figures){name->name, name->calls, seconds};
    }
}

void
sl_trace_measure(sl_trace *trace, sl_trace_figures *out)
{
    assert(trace != NULL && out != NULL && trace->interval_count > 0);

    qsort(trace->intervals, trace->interval_count, sizeof *trace->intervals, by_key);
    if (trace->launch_count > 0)
        qsort(trace->launches, trace->launch_count, sizeof *trace->launches, by_correlation);

    *out = (sl_trace_figures){
        .events = trace->events,
        .rank = trace->rank,
        .world_size = trace->world_size,
        .steps = trace->step_count,
        .span_s = (double)(trace->end_ns - trace->begin_ns) * s_per_ns,
    };
    out->step_s = trace->step_count == 0
                      ? out->span_s
                      : (double)trace->step_sum_ns / trace->step_marks * s_per_ns;
    measure_streams(trace, out);
    choose_device(out);

    chosen of = {0};
    for (uint32_t i = 0; i < trace->stream_count; i++)
        of.streams[i] = sl_text_equal(trace->streams[i].device, out->device);
    measure_kinds(trace, of, out);
    measure_idle(trace, of, out);
    list_unmatched(trace, out);
}
