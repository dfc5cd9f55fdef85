#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "trace/trace_parts.h"
#include "json/members.h"

/* 127 years: in nanoseconds, two such times still differ by what 64 bits hold. */
static const double time_max_us = 4e15;

void
sl_trace_fault(sl_trace *trace, sl_code code, const char *rule, const char *member,
               const char *message)
{
    char pointer[64];
    (void)sl_text_format(pointer, sizeof pointer, "/traceEvents/%" PRIu64 "%s%s", trace->events,
                         *member == '\0' ? "" : "/", member);
    if (trace->fault.count == 0)
        (void)sl_fail(&trace->fault, code, rule, pointer, "%s", message);
}

/* Microseconds as they are written, in nanoseconds: the digits as they are, since a double of the
 * microseconds since 1970 is exact to a quarter of one only. */
static bool
ns_of(const char *text, int64_t *out)
{
    const char *const digits = text + (*text == '-');
    const size_t whole = strspn(digits, "0123456789");
    const char *const fraction = digits[whole] == '.' ? digits + whole + 1 : digits + whole;
    const size_t rest = strspn(fraction, "0123456789");
    double value_us = 0.0;

    if (!sl_text_to_double(text, &value_us) || fabs(value_us) > time_max_us)
        return false;
    if (whole > 16 || fraction[rest] != '\0') { /* an exponent */
        *out = llround(value_us * 1e3);
        return true;
    }
    int64_t ns = 0;
    for (size_t i = 0; i < whole; i++)
        ns = ns * 10 + (digits[i] - '0');
    for (size_t i = 0; i < 3; i++)
        ns = ns * 10 + (i < rest ? fraction[i] - '0' : 0);
    ns += rest > 3 && fraction[3] >= '5';
    *out = *text == '-' ? -ns : ns;
    return true;
}

/* Categories by both of the spellings that there were. */
static sl_trace_sort
sort_of(const char *category)
{
    static const struct {
        const char *word;
        sl_trace_sort sort;
    } words[] = {
        {"kernel", SL_TRACE_KERNEL},      {"gpu_memcpy", SL_TRACE_COPY},
        {"gpu_memset", SL_TRACE_COPY},    {"memcpy", SL_TRACE_COPY},
        {"memset", SL_TRACE_COPY},        {"cuda_runtime", SL_TRACE_LAUNCH},
        {"cuda_driver", SL_TRACE_LAUNCH}, {"hip_runtime", SL_TRACE_LAUNCH},
        {"runtime", SL_TRACE_LAUNCH},     {"cpu_op", SL_TRACE_HOST},
        {"operator", SL_TRACE_HOST},      {"user_annotation", SL_TRACE_ANNOTATION},
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (sl_text_equal_ignoring_case(category, words[i].word))
            return words[i].sort;
    return SL_TRACE_IGNORED;
}

static sl_trace_key
event_key(const char *name)
{
    static const struct {
        const char *word;
        sl_trace_key key;
    } words[] = {
        {"ph", SL_TRACE_KEY_PHASE},     {"cat", SL_TRACE_KEY_CATEGORY},
        {"name", SL_TRACE_KEY_NAME},    {"pid", SL_TRACE_KEY_DEVICE},
        {"tid", SL_TRACE_KEY_STREAM},   {"ts", SL_TRACE_KEY_START},
        {"dur", SL_TRACE_KEY_DURATION}, {"args", SL_TRACE_KEY_ARGUMENTS},
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (sl_text_equal(name, words[i].word))
            return words[i].key;
    return SL_TRACE_KEY_NONE;
}

static sl_trace_key
argument_key(const char *name)
{
    if (sl_text_equal(name, "correlation"))
        return SL_TRACE_KEY_CORRELATION;
    return sl_text_equal(name, "Collective name") ? SL_TRACE_KEY_COLLECTIVE : SL_TRACE_KEY_NONE;
}

static void
take_time(sl_trace *trace, const sl_stream_token *token, const char *member, int64_t *out,
          bool *has)
{
    if (token->kind == SL_STREAM_WORD)
        return; /* null: it is missed later, where it is needed */
    if (token->kind != SL_STREAM_NUMBER)
        sl_trace_fault(trace, SL_E_RANGE, "wrong_type", member, "must be a number of microseconds");
    else if (!ns_of(token->text, out))
        sl_trace_fault(trace, SL_E_RANGE, "out_of_range", member,
                       "must be microseconds of less than 127 years");
    else
        *has = true;
}

/* A text or a number as a label, the end of a long one cut off. */
static void
take_label(const sl_stream_token *token, char out[SL_TRACE_LABEL_SIZE])
{
    (void)sl_text_copy(out, SL_TRACE_LABEL_SIZE, token->text);
}

/* One member of an event or of its arguments, a number, a text or a word. */
static void
take_member(sl_trace *trace, const sl_stream_token *token)
{
    sl_trace_event *const event = &trace->event;
    uint64_t number = 0;

    switch (trace->key) {
    case SL_TRACE_KEY_PHASE:
        event->complete = sl_text_equal(token->text, "X");
        break;
    case SL_TRACE_KEY_CATEGORY:
        event->sort = sort_of(token->text);
        break;
    case SL_TRACE_KEY_NAME:
        memcpy(event->name, token->text, token->length + 1);
        event->name_length = token->length;
        break;
    case SL_TRACE_KEY_DEVICE:
        take_label(token, event->device);
        break;
    case SL_TRACE_KEY_STREAM:
        take_label(token, event->stream);
        break;
    case SL_TRACE_KEY_START:
        take_time(trace, token, "ts", &event->start_ns, &event->has_start);
        break;
    case SL_TRACE_KEY_DURATION:
        take_time(trace, token, "dur", &event->duration_ns, &event->has_duration);
        break;
    case SL_TRACE_KEY_CORRELATION:
        if (sl_text_to_uint(token->text, &number) && number <= UINT32_MAX)
            event->correlation = (uint32_t)number;
        break;
    case SL_TRACE_KEY_COLLECTIVE:
        event->collective = sl_kernel_of_collective(token->text);
        break;
    case SL_TRACE_KEY_ARGUMENTS:
    case SL_TRACE_KEY_NONE:
        break;
    }
    trace->key = SL_TRACE_KEY_NONE;
}

static void
event_ends(sl_trace *trace)
{
    const sl_trace_event *const event = &trace->event;

    if (event->complete && event->sort != SL_TRACE_IGNORED && trace->fault.count == 0)
        sl_trace_keep(trace, event);
    trace->events++;
}

/* Inside the list of events. */
static void
in_events(sl_trace *trace, const sl_stream_token *token)
{
    const uint32_t depth = trace->event_depth;

    switch (token->kind) {
    case SL_STREAM_OBJECT:
        if (token->depth + 1 == depth) {
            trace->event.complete = trace->event.has_start = trace->event.has_duration = false;
            trace->event.sort = SL_TRACE_IGNORED;
            trace->event.name[0] = trace->event.device[0] = trace->event.stream[0] = '\0';
            trace->event.name_length = 0;
            trace->event.correlation = 0;
            trace->event.collective = SL_KERNEL_OTHER;
            trace->key = SL_TRACE_KEY_NONE;
        }
        break;
    case SL_STREAM_OBJECT_END:
        if (token->depth + 1 == depth)
            event_ends(trace);
        break;
    case SL_STREAM_ARRAY_END:
        if (token->depth + 2 == depth)
            trace->event_depth = 0;
        break;
    case SL_STREAM_KEY:
        if (token->depth == depth)
            trace->key = event_key(token->text);
        else if (token->depth == depth + 1)
            trace->key = argument_key(token->text);
        else
            trace->key = SL_TRACE_KEY_NONE;
        break;
    case SL_STREAM_TEXT:
    case SL_STREAM_NUMBER:
    case SL_STREAM_WORD:
        take_member(trace, token);
        break;
    case SL_STREAM_ARRAY:
        trace->key = SL_TRACE_KEY_NONE;
        break;
    }
}

/* Who recorded it: {"rank": 0, "world_size": 8, ...}. */
static void
in_process(sl_trace *trace, const sl_stream_token *token)
{
    uint64_t number = 0;

    if (token->kind == SL_STREAM_OBJECT_END && token->depth == 1)
        trace->in_process = false;
    if (token->depth != 2)
        return;
    if (token->kind == SL_STREAM_KEY)
        trace->process_figure = sl_text_equal(token->text, "rank")         ? &trace->rank
                                : sl_text_equal(token->text, "world_size") ? &trace->world_size
                                                                           : NULL;
    else if (token->kind == SL_STREAM_NUMBER && trace->process_figure != NULL &&
             sl_text_to_uint(token->text, &number) && number <= INT32_MAX)
        *trace->process_figure = (int64_t)number;
}

/* Outside the events: members of the trace's object, or the list that some tools write bare. */
static void
on_token(void *context, const sl_stream_token *token)
{
    sl_trace *const trace = context;

    if (trace->event_depth > 0) {
        in_events(trace, token);
        return;
    }
    if (trace->in_process) {
        in_process(trace, token);
        return;
    }
    const bool member = token->depth == 1 && token->kind != SL_STREAM_KEY;
    if (token->kind == SL_STREAM_ARRAY && (token->depth == 0 || (member && trace->in_events_next)))
        trace->event_depth = token->depth + 2;
    else if (token->kind == SL_STREAM_OBJECT && member && trace->in_process_next)
        trace->in_process = true;
    trace->in_events_next = token->kind == SL_STREAM_KEY && token->depth == 1 &&
                            sl_text_equal(token->text, "traceEvents");
    trace->in_process_next = token->kind == SL_STREAM_KEY && token->depth == 1 &&
                             sl_text_equal(token->text, "distributedInfo");
}

sl_trace *
sl_trace_new(uint32_t kernels_max)
{
    assert(kernels_max >= 1 && kernels_max <= SL_TRACE_KERNELS_MAX);

    sl_trace *const trace = calloc(1, sizeof *trace);
    if (trace == NULL)
        return NULL;
    /* Zeroed memory of this size is the system's: pages cost when they are written, and all of them
     * go back when they are freed. */
    trace->kernels_max = kernels_max;
    trace->intervals = calloc(kernels_max, sizeof *trace->intervals);
    trace->launches = calloc(kernels_max, sizeof *trace->launches);
    trace->names_max = kernels_max < SL_TRACE_NAMES_MAX ? kernels_max : SL_TRACE_NAMES_MAX;
    trace->names = calloc(2 * (size_t)trace->names_max, sizeof *trace->names);
    if (trace->intervals == NULL || trace->launches == NULL || trace->names == NULL) {
        sl_trace_free(trace);
        return NULL;
    }
    sl_stream_init(&trace->text, on_token, trace);
    trace->rank = trace->world_size = -1;
    trace->begin_ns = UINT64_MAX;
    return trace;
}

void
sl_trace_free(sl_trace *trace)
{
    if (trace == NULL)
        return;
    free(trace->intervals);
    free(trace->launches);
    free(trace->names);
    free(trace);
}

static bool
is_blank(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (strchr(" \t\r\n", bytes[i]) == NULL || bytes[i] == '\0')
            return false;
    return true;
}

sl_code
sl_trace_feed(sl_trace *trace, const char *bytes, size_t size, sl_errors *err)
{
    assert(trace != NULL);

    sl_errors malformed = {.count = 0};
    size_t used = 0;
    const sl_code code = sl_stream_feed(&trace->text, bytes, size, &used, &malformed);
    if (trace->fault.count > 0) /* it stands before whatever else is wrong */
        return sl_refail(&trace->fault.list[0], err);
    if (code != SL_OK) {
        (void)sl_refail(&malformed.list[0], err);
        sl_hint(err, "bytes are counted in the unpacked trace");
        return code;
    }
    if (used < size && !is_blank(bytes + used, size - used))
        return sl_fail(err, SL_E_SYNTAX, "malformed_json", "",
                       "byte %" PRIu64 ": nothing must follow the trace", trace->text.offset);
    return SL_OK;
}

sl_code
sl_trace_finish(sl_trace *trace, sl_errors *err)
{
    assert(trace != NULL);

    const sl_code code = sl_stream_finish(&trace->text, err);
    if (code != SL_OK)
        return code;
    if (trace->events == 0)
        return sl_fail(err, SL_E_RANGE, "no_events", "/traceEvents",
                       "the trace must hold events, as torch.profiler exports them");
    if (trace->interval_count == 0)
        return sl_fail(err, SL_E_RANGE, "no_kernels", "/traceEvents",
                       "the trace must hold kernels: record with ProfilerActivity.CUDA");
    return SL_OK;
}
