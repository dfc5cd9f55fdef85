#include "codec/answer/timeline_spans.h"

#include <math.h>

#include "codec/answer/estimate_json.h"

/* Only of several is it said which. */
static void
put_pool(sl_writer *writer, const sl_timeline_document *d, uint32_t stage)
{
    const sl_cluster *cluster = d->question->cluster;

    if (cluster->pool_count > 0)
        sl_put_text(writer, "pool", cluster->pools[d->timeline->stages[stage].pool].pool);
}

static void
write_lanes(sl_writer *writer, const sl_timeline_document *d, const sl_timeline_spans *spans)
{
    sl_write_key(writer, "lanes");
    sl_write_array(writer);
    for (uint32_t i = 0; i < spans->lane_count; i++) {
        const sl_timeline_lane *lane = &spans->lanes[i];
        sl_write_object(writer);
        sl_put_uint(writer, "rank", d->timeline->stages[lane->stage].rank);
        sl_put_uint(writer, "stage", lane->stage);
        put_pool(writer, d, lane->stage);
        sl_put_text(writer, "stream", sl_stream_name(lane->stream));
        sl_put_text(writer, "group", sl_lane_group_name(lane->group));
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    sl_write_key(writer, "kinds");
    sl_write_array(writer);
    for (uint32_t kind = 0; kind < SL_SPAN_KINDS; kind++)
        sl_write_text(writer, sl_span_kind_name((sl_span_kind)kind));
    sl_write_array_end(writer);
    sl_write_key(writer, "operators");
    sl_write_array(writer);
    for (uint32_t i = 0; i < spans->name_count; i++)
        sl_write_text(writer, spans->names[i]);
    sl_write_array_end(writer);
}

static void
write_times(sl_writer *writer, const char *name, const double *times_s, size_t count)
{
    sl_write_key(writer, name);
    sl_write_array(writer);
    sl_write_doubles(writer, times_s, count);
    sl_write_array_end(writer);
}

static void
write_spans(sl_writer *writer, const sl_timeline_spans *spans)
{
    static const char *const names[] = {
        [SL_COLUMN_LANE] = "lane",
        [SL_COLUMN_KIND] = "kind",
        [SL_COLUMN_MICROBATCH] = "microbatch",
        [SL_COLUMN_CHUNK] = "chunk",
        [SL_COLUMN_LAYER] = "layer",
        [SL_COLUMN_OPERATOR] = "operator",
        [SL_COLUMN_STEP] = "step",
    };
    _Static_assert(sizeof names / sizeof names[0] == SL_COLUMNS, "a name per column");

    sl_write_key(writer, "spans");
    sl_write_object(writer);
    for (uint32_t c = 0; c < SL_COLUMNS; c++) {
        sl_write_key(writer, names[c]);
        sl_write_array(writer);
        sl_write_uints(writer, spans->of[c], spans->count, SL_SPAN_NONE);
        sl_write_array_end(writer);
    }
    write_times(writer, "start_s", spans->start_s, spans->count);
    write_times(writer, "end_s", spans->end_s, spans->count);
    sl_write_object_end(writer);
    sl_put_uint(writer, "left_out", spans->left_out);
}

/* The staircase of one stage inside the window, with the step that the window begins on. */
static bool
write_stairs(sl_writer *writer, const sl_timeline_document *d, uint32_t stage)
{
    sl_stairs stairs;
    const bool room = sl_stairs_init(d->timeline, stage, &stairs);
    uint64_t first = 0;
    uint64_t end = stairs.count;

    if (room) {
        while (first + 1 < end && stairs.at_s[first + 1] <= d->query->from_s)
            first++;
        while (end > first + 1 && stairs.at_s[end - 1] > d->query->to_s)
            end--;
        write_times(writer, "at_s", stairs.at_s + first, (size_t)(end - first));
        sl_write_key(writer, "bytes");
        sl_write_array(writer);
        for (uint64_t i = first; i < end; i++)
            sl_write_uint(writer, stairs.bytes[i]);
        sl_write_array_end(writer);
    }
    sl_stairs_clear(&stairs);
    return room;
}

static bool
write_memory(sl_writer *writer, const sl_timeline_document *d, const sl_timeline_spans *spans)
{
    bool room = true;

    sl_write_key(writer, "memory");
    sl_write_array(writer);
    for (uint32_t s = 0; s < d->timeline->stage_count; s++) {
        const sl_stage_run *stage = &d->timeline->stages[s];
        if (!spans->asked[s])
            continue;
        sl_write_object(writer);
        sl_put_uint(writer, "rank", stage->rank);
        sl_put_uint(writer, "stage", s);
        sl_put_uint(writer, "base_bytes", stage->base_bytes);
        sl_put_uint(writer, "peak_bytes", stage->peak_bytes);
        room = write_stairs(writer, d, s) && room;
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    return room;
}

static void
write_stages(sl_writer *writer, const sl_timeline_document *d, const sl_timeline_spans *spans)
{
    sl_write_key(writer, "stages");
    sl_write_array(writer);
    for (uint32_t s = 0; s < d->timeline->stage_count; s++) {
        const sl_stage_run *stage = &d->timeline->stages[s];
        if (!spans->asked[s])
            continue;
        sl_write_object(writer);
        sl_put_uint(writer, "rank", stage->rank);
        sl_put_uint(writer, "stage", s);
        put_pool(writer, d, s);
        sl_put_double(writer, "begin_s", stage->begin_s);
        sl_put_double(writer, "end_s", stage->end_s);
        sl_put_double(writer, "busy_s", stage->busy_s);
        sl_put_double(writer, "idle_ratio",
                      stage->end_s > stage->begin_s
                          ? fmax(0.0, 1.0 - stage->busy_s / (stage->end_s - stage->begin_s))
                          : 0.0);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

bool
sl_timeline_write(sl_writer *writer, const sl_timeline_document *d)
{
    sl_timeline_spans spans;
    bool room = sl_timeline_spans_init(d, false, &spans);

    if (room) {
        sl_write_object(writer);
        sl_put_double(writer, "step_s", d->timeline->step_s);
        sl_put_double(writer, "end_s", d->timeline->end_s);
        sl_put_double(writer, "closed_form_s", d->estimate->time.step_s);
        sl_put_text(writer, "evaluator", "simulation");
        sl_put_text(writer, "passes_of", d->timeline->by_layer ? "layers" : "chunks");
        sl_put_double(writer, "idle_ratio", d->timeline->idle_ratio);
        sl_put_uint(writer, "span_count", d->timeline->span_count);
        write_lanes(writer, d, &spans);
        write_spans(writer, &spans);
        write_stages(writer, d, &spans);
        room = write_memory(writer, d, &spans);
        sl_estimate_notes_write(writer, d->request, d->estimate, d->warnings, true);
        sl_estimate_notes_write(writer, d->request, d->estimate, NULL, false);
        sl_write_object_end(writer);
    }
    sl_timeline_spans_clear(&spans);
    return room;
}
