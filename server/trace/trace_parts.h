/** A trace while it is read: trace.c takes events apart, trace_store.c keeps what is asked of them,
 * trace_measure.c adds it up. */
#ifndef SL_TRACE_TRACE_PARTS_H
#define SL_TRACE_TRACE_PARTS_H

#include "trace/trace.h"
#include "json/stream.h"

/** Times are nanoseconds since 39 hours before the first event: 48 bits hold three days. */
enum { SL_TRACE_TIME_BITS = 48 };

/** One kernel or copy; a plain sort of the keys puts them in the order of their starts. */
typedef struct sl_trace_interval {
    uint64_t key; /* start [ns] << 16 | stream << 8 | kind */
    uint32_t duration_ns;
    uint32_t launch; /* correlation with the call that launched it; 0: not known */
} sl_trace_interval;

static inline uint64_t
sl_trace_start_ns(const sl_trace_interval *interval)
{
    return interval->key >> 16;
}

static inline uint32_t
sl_trace_stream_of(const sl_trace_interval *interval)
{
    return interval->key >> 8 & 0xFF;
}

static inline sl_kernel_kind
sl_trace_kind_of(const sl_trace_interval *interval)
{
    return (sl_kernel_kind)(interval->key & 0xFF);
}

typedef struct sl_trace_launch {
    uint64_t start_ns;
    uint32_t correlation;
} sl_trace_launch;

typedef struct sl_trace_stream {
    char device[SL_TRACE_LABEL_SIZE];
    char stream[SL_TRACE_LABEL_SIZE];
    uint64_t calls[SL_KERNEL_KIND_COUNT];
} sl_trace_stream;

/** One name of a kernel, in a table by hash. */
typedef struct sl_trace_name {
    uint64_t hash; /* of as much as sl_stream keeps; 0: a free place */
    uint64_t calls;
    uint64_t sum_ns;
    sl_kernel_kind kind;
    char name[SL_TRACE_NAME_SIZE];
} sl_trace_name;

typedef enum sl_trace_sort {
    SL_TRACE_IGNORED,
    SL_TRACE_KERNEL,
    SL_TRACE_COPY,
    SL_TRACE_LAUNCH,    /* a call of the device's runtime */
    SL_TRACE_HOST,      /* an operator on the host */
    SL_TRACE_ANNOTATION /* a mark of the program */
} sl_trace_sort;

typedef enum sl_trace_key {
    SL_TRACE_KEY_NONE, /* of no interest */
    SL_TRACE_KEY_PHASE,
    SL_TRACE_KEY_CATEGORY,
    SL_TRACE_KEY_NAME,
    SL_TRACE_KEY_DEVICE,
    SL_TRACE_KEY_STREAM,
    SL_TRACE_KEY_START,
    SL_TRACE_KEY_DURATION,
    SL_TRACE_KEY_ARGUMENTS,
    SL_TRACE_KEY_CORRELATION,
    SL_TRACE_KEY_COLLECTIVE
} sl_trace_key;

/** The event that is being read. */
typedef struct sl_trace_event {
    bool complete; /* ph is "X": it has a duration */
    sl_trace_sort sort;
    char name[SL_STREAM_TEXT_MAX + 1];
    size_t name_length;
    char device[SL_TRACE_LABEL_SIZE];
    char stream[SL_TRACE_LABEL_SIZE];
    int64_t start_ns; /* as the trace counts */
    int64_t duration_ns;
    bool has_start, has_duration;
    uint32_t correlation;
    sl_kernel_kind collective; /* SL_KERNEL_OTHER: not said */
} sl_trace_event;

struct sl_trace {
    sl_stream text;
    sl_errors fault;      /* of the event that ended the reading */
    uint32_t event_depth; /* inside an event's object; 0: not among the events */
    sl_trace_key key;     /* whose value comes next, of the event or its arguments */
    bool in_events_next, in_process_next; /* the value that comes is traceEvents, distributedInfo */
    bool in_process;
    int64_t *process_figure; /* rank or world_size, where its value comes next; else NULL */
    sl_trace_event event;
    uint64_t events;
    int64_t rank, world_size;
    bool has_base;
    int64_t base_ns;           /* what time 0 of the intervals is in the trace */
    uint64_t begin_ns, end_ns; /* of all events that count, against the base */
    uint64_t step_sum_ns;
    uint32_t step_marks; /* with the same number more than once, as several threads may have it */
    uint32_t step_count;
    uint64_t steps[SL_TRACE_STEPS_MAX]; /* their numbers */
    uint32_t stream_count;
    sl_trace_stream streams[SL_TRACE_STREAMS_MAX];
    uint32_t kernels_max; /* room in each of the next two */
    uint32_t interval_count, launch_count;
    sl_trace_interval *intervals;
    sl_trace_launch *launches;
    uint32_t names_max, name_count;
    sl_trace_name *names; /* twice as many places */
};

/** Keeps what is asked of an event that is complete, or puts its fault into trace->fault. */
void sl_trace_keep(sl_trace *trace, const sl_trace_event *event);

/** A fault of the event that is being read, at one of its members or "" for all of it. */
void sl_trace_fault(sl_trace *trace, sl_code code, const char *rule, const char *member,
                    const char *message);

#endif
