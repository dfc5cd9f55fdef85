/* A simulated step in the Trace Event Format. */
#include "codec/answer/timeline_spans.h"

#include <math.h>

#include "base/text.h"

static const double us = 1e6;         /* of a second: what the format counts in */
static const double instant_s = 1e-9; /* what its readers tell apart */

/* The members that readers expect of every event, whatever its phase. Processes and threads count
 * from 1: some take 0 for none. */
static void
begin_event(sl_writer *writer, const char *phase, const char *name, const char *category,
            uint32_t stage, uint32_t lane, double at_s)
{
    sl_write_object(writer);
    sl_put_text(writer, "ph", phase);
    sl_put_text(writer, "name", name);
    sl_put_text(writer, "cat", category);
    sl_put_uint(writer, "pid", stage + 1);
    sl_put_uint(writer, "tid", lane + 1);
    sl_put_double(writer, "ts", us * at_s);
}

static void
name_track(sl_writer *writer, const char *what, uint32_t stage, uint32_t lane, const char *name,
           uint32_t order)
{
    begin_event(writer, "M", what, "__metadata", stage, lane, 0.0);
    sl_write_key(writer, "args");
    sl_write_object(writer);
    if (name != NULL)
        sl_put_text(writer, "name", name);
    else
        sl_put_uint(writer, "sort_index", order);
    sl_write_object_end(writer);
    sl_write_object_end(writer);
}

static void
name_tracks(sl_writer *writer, const sl_timeline_document *d, const sl_timeline_spans *spans)
{
    static const char *const groups[] = {
        [SL_LANE_OWN] = "",
        [SL_LANE_PIPELINE] = "",
        [SL_LANE_DATA] = ", data parallel",
        [SL_LANE_TO_HOST] = ", to the host",
        [SL_LANE_FROM_HOST] = ", from the host",
    };
    _Static_assert(sizeof groups / sizeof groups[0] == SL_LANE_GROUPS, "words per group");
    const sl_cluster *cluster = d->question->cluster;
    char name[128];

    for (uint32_t s = 0; s < d->timeline->stage_count; s++) {
        const sl_stage_run *stage = &d->timeline->stages[s];
        const bool pooled = cluster->pool_count > 0;
        if (!spans->asked[s])
            continue;
        (void)sl_text_format(name, sizeof name, "stage %u, rank %llu%s%s", s,
                             (unsigned long long)stage->rank, pooled ? ", pool " : "",
                             pooled ? cluster->pools[stage->pool].pool : "");
        name_track(writer, "process_name", s, 0, name, 0);
        name_track(writer, "process_sort_index", s, 0, NULL, s);
    }
    for (uint32_t i = 0; i < spans->lane_count; i++) {
        const sl_timeline_lane *lane = &spans->lanes[i];
        (void)sl_text_format(name, sizeof name, "%s%s", sl_stream_name(lane->stream),
                             groups[lane->group]);
        name_track(writer, "thread_name", lane->stage, i, name, 0);
        name_track(writer, "thread_sort_index", lane->stage, i, NULL, lane->stream);
    }
}

static void
put_number(sl_writer *writer, const char *key, uint32_t number)
{
    if (number != SL_SPAN_NONE)
        sl_put_uint(writer, key, number);
}

static void
write_slice(sl_writer *writer, const sl_timeline_spans *spans, uint32_t i)
{
    const sl_span *span = &spans->list[i];

    const uint32_t part = spans->part[i];

    begin_event(writer, "X",
                part == SL_SPAN_NONE ? sl_span_kind_name(span->kind) : spans->names[part],
                sl_stream_name(span->stream), span->stage, spans->lane[i], span->start_s);
    sl_put_double(writer, "dur", us * (span->end_s - span->start_s));
    sl_write_key(writer, "args");
    sl_write_object(writer);
    sl_put_text(writer, "pass", sl_span_kind_name(span->kind));
    put_number(writer, "microbatch", span->microbatch);
    put_number(writer, "chunk", span->chunk);
    put_number(writer, "layer", span->layer);
    put_number(writer, "ring_step", spans->step[i]);
    sl_write_object_end(writer);
    sl_write_object_end(writer);
}

/* An arrow's end: bound to the slice of its lane that lies around its time. */
static void
write_flow(sl_writer *writer, const char *phase, uint32_t id, uint32_t stage, uint32_t lane,
           double at_s)
{
    begin_event(writer, phase, "send", "pipeline", stage, lane, at_s);
    sl_put_uint(writer, "id", id);
    if (*phase == 'f')
        sl_put_text(writer, "bp", "e");
    sl_write_object_end(writer);
}

static bool
is_pass(sl_span_kind kind)
{
    return kind <= SL_SPAN_BACKWARD_WEIGHT;
}

/* The end of a send as an arrow may have it: readers bind arrows to the slice around their time,
 * which no longer is there when it ends. */
static double
leaving_s(const sl_span *sent)
{
    return fmax((sent->start_s + sent->end_s) / 2.0, sent->end_s - instant_s);
}

/* The first pass of a micro-batch on another stage, of the kind that takes what was sent, that
 * begins no earlier than the send ends, and before another. Passes of a lane ascend in time. */
static uint32_t
taker_of(const sl_timeline_spans *spans, const uint32_t *first, uint32_t stage, const sl_span *sent,
         double before_s)
{
    const bool forward = sent->kind == SL_SPAN_SEND_OUTPUT;
    uint32_t low = first[stage];
    uint32_t high = first[stage + 1];

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (spans->list[middle].start_s < sent->end_s - 1e-12)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t i = low; i < first[stage + 1] && i < low + 4096; i++) {
        const sl_span *pass = &spans->list[i];
        if (pass->start_s >= before_s)
            break;
        if (is_pass(pass->kind) && pass->microbatch == sent->microbatch &&
            (pass->kind == SL_SPAN_FORWARD) == forward)
            return i;
    }
    return SL_SPAN_NONE;
}

/* Passes come first and stage by stage: where those of each begin. */
static void
find_passes(const sl_timeline_spans *spans, uint32_t stages, uint32_t *first)
{
    uint32_t i = 0;

    for (uint32_t s = 0; s < stages; s++) {
        first[s] = i;
        while (i < spans->count && spans->list[i].stage == s && is_pass(spans->list[i].kind))
            i++;
    }
    first[stages] = i;
}

static void
write_flows(sl_writer *writer, const sl_timeline_document *d, const sl_timeline_spans *spans)
{
    const uint32_t stages = d->timeline->stage_count;
    uint32_t first[SL_PIPELINE_MAX + 1];

    if (d->timeline->by_layer)
        return;
    find_passes(spans, stages, first);
    for (uint32_t i = first[stages]; i < spans->count; i++) {
        const sl_span *sent = &spans->list[i];
        uint32_t best = SL_SPAN_NONE;
        if (sent->kind != SL_SPAN_SEND_OUTPUT && sent->kind != SL_SPAN_SEND_GRADIENT)
            continue;
        /* To one of the two neighbours, the first and the last being neighbours too: mostly on,
         * gradients back. */
        const uint32_t likely = sent->kind == SL_SPAN_SEND_OUTPUT ? 1 : stages - 1;
        for (uint32_t side = 0; side < 2; side++) {
            const uint32_t to = (sent->stage + (side == 0 ? likely : stages - likely)) % stages;
            const double before_s = best == SL_SPAN_NONE ? HUGE_VAL : spans->list[best].start_s;
            const uint32_t taker = taker_of(spans, first, to, sent, before_s);
            if (to != sent->stage && taker != SL_SPAN_NONE)
                best = taker;
        }
        if (best == SL_SPAN_NONE)
            continue;
        const sl_span *taker = &spans->list[best];
        write_flow(writer, "s", i, sent->stage, spans->lane[i], leaving_s(sent));
        write_flow(writer, "f", i, taker->stage, spans->lane[best], taker->start_s);
    }
}

static bool
write_counters(sl_writer *writer, const sl_timeline_document *d, uint32_t stage)
{
    sl_stairs stairs;
    const bool room = sl_stairs_init(d->timeline, stage, &stairs);

    for (uint64_t i = 0; room && i < stairs.count; i++) {
        if (stairs.at_s[i] < d->query->from_s || stairs.at_s[i] > d->query->to_s)
            continue;
        begin_event(writer, "C", "kept alive", "memory", stage, 0, stairs.at_s[i]);
        sl_write_key(writer, "args");
        sl_write_object(writer);
        sl_put_uint(writer, "bytes", stairs.bytes[i]);
        sl_write_object_end(writer);
        sl_write_object_end(writer);
    }
    sl_stairs_clear(&stairs);
    return room;
}

bool
sl_trace_write(sl_writer *writer, const sl_timeline_document *d)
{
    sl_timeline_spans spans;
    bool room = sl_timeline_spans_init(d, &spans);

    if (room) {
        sl_write_object(writer);
        sl_put_text(writer, "displayTimeUnit", "ms");
        sl_write_key(writer, "otherData");
        sl_write_object(writer);
        sl_put_double(writer, "step_s", d->timeline->step_s);
        sl_put_uint(writer, "left_out", spans.left_out);
        sl_write_object_end(writer);
        sl_write_key(writer, "traceEvents");
        sl_write_array(writer);
        name_tracks(writer, d, &spans);
        for (uint32_t i = 0; i < spans.count; i++)
            write_slice(writer, &spans, i);
        write_flows(writer, d, &spans);
        for (uint32_t s = 0; s < d->timeline->stage_count; s++)
            if (spans.asked[s])
                room = write_counters(writer, d, s) && room;
        sl_write_array_end(writer);
        sl_write_object_end(writer);
    }
    sl_timeline_spans_clear(&spans);
    return room;
}
