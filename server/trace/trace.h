/**
 * A trace that torch.profiler recorded (Chrome's trace format, as Kineto writes it), read as it
 * arrives and reduced to seconds by stream and by kind of kernel. What a trace of any length costs
 * is 16 bytes for each kernel and each launch, at most SL_TRACE_KERNELS_MAX of either, and the
 * names of the kernels.
 */
#ifndef SL_TRACE_TRACE_H
#define SL_TRACE_TRACE_H

#include <stddef.h>

#include "shardline/error.h"
#include "trace/kernel_names.h"

enum {
    SL_TRACE_KERNELS_MAX = 512 * 1024, /* 8 MiB of kernels, 8 MiB of launches */
    SL_TRACE_NAMES_MAX = 4096,
    SL_TRACE_NAME_SIZE = 160, /* of a kernel's name, what answers show */
    SL_TRACE_LABEL_SIZE = 24, /* of a device or a stream */
    SL_TRACE_STREAMS_MAX = 128,
    SL_TRACE_STEPS_MAX = 1024,
    SL_TRACE_UNMATCHED_MAX = 12
};

typedef struct sl_trace sl_trace;

/** Room for kernels_max kernels and as many launches, at most SL_TRACE_KERNELS_MAX; memory that is
 * not used is not touched. NULL without memory. */
sl_trace *sl_trace_new(uint32_t kernels_max) SL_MUST_CHECK;
void sl_trace_free(sl_trace *trace); /* NULL is fine */

/**
 * Reads on. Faults of the text are SL_E_SYNTAX with its byte; of an event SL_E_RANGE with a pointer
 * to it: event_incomplete, wrong_type, out_of_range, too_many_streams, too_many_steps; more kernels
 * than there is room for are SL_E_TOO_LARGE, rule too_many_events.
 */
sl_code sl_trace_feed(sl_trace *trace, const char *bytes, size_t size,
                      sl_errors *err) SL_MUST_CHECK;

/** The text ends here. SL_E_SYNTAX when it ends too early; SL_E_RANGE, rule no_events or
 * no_kernels, when it says nothing of a device. */
sl_code sl_trace_finish(sl_trace *trace, sl_errors *err) SL_MUST_CHECK;

/** Seconds of the whole trace, all steps together. */
typedef struct sl_trace_part {
    uint64_t calls;
    double seconds;   /* when at least one of them ran */
    double exposed_s; /* of a collective: when nothing computed; else 0 */
} sl_trace_part;

typedef struct sl_trace_stream_figures {
    const char *device;
    const char *stream;
    uint64_t calls;
    double busy_s; /* when anything ran on it */
    double kind_s[SL_KERNEL_KIND_COUNT];
} sl_trace_stream_figures;

typedef struct sl_trace_name_figures {
    const char *name; /* cut to SL_TRACE_NAME_SIZE */
    uint64_t calls;
    double seconds; /* the sum of its calls */
} sl_trace_name_figures;

/** Texts are borrowed from the trace. */
typedef struct sl_trace_figures {
    uint64_t events; /* of any sort */
    int64_t rank;    /* of the process that recorded it; -1: it does not say */
    int64_t world_size;
    uint32_t steps;       /* marked by ProfilerStep#N; 0: none is, and the span is taken for one */
    double step_s;        /* mean of the marks, or the span */
    double span_s;        /* first event to the end of the last */
    double device_span_s; /* first kernel to the end of the last, on the device below */
    const char *device;   /* the busiest, of which the figures from here on are */
    uint32_t device_count;
    sl_trace_part kinds[SL_KERNEL_KIND_COUNT];
    sl_trace_part communication; /* all collectives, those that ran at once counted once */
    double computing_s;          /* when anything but collectives and copies ran */
    double idle_s;               /* of its span, when nothing ran */
    double host_s;   /* of that, before kernels that the host launched after the device fell idle */
    bool host_known; /* the trace says which launch a kernel came from */
    uint32_t stream_count; /* of all devices */
    sl_trace_stream_figures streams[SL_TRACE_STREAMS_MAX];
    uint32_t unmatched_count; /* names that no row of the table knows, the longest first */
    sl_trace_name_figures unmatched[SL_TRACE_UNMATCHED_MAX];
} sl_trace_figures;

/** Of a trace that was finished. Puts its events in order, and changes nothing else. */
void sl_trace_measure(sl_trace *trace, sl_trace_figures *out);

#endif
