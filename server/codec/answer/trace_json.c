/* A simulated step in the Trace Event Format. */
#include "codec/answer/timeline_spans.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

static const double us = 1e6;         /* of a second: what the format counts in */
static const double instant_s = 1e-9; /* what its readers tell apart */

/* The members that readers expect of every event, whatever its phase: what it is, and where and
 * when. Processes and threads count from 1: some take 0 for none. */
static void
put_name(sl_writer *writer, const char *phase, const char *name)
{
    sl_put_text(writer, "ph", phase);
    sl_put_text(writer, "name", name);
}

static void
begin_track(sl_writer *writer, const char *category, uint32_t stage, uint32_t lane)
{
    sl_put_text(writer, "cat", category);
    sl_put_uint(writer, "pid", stage + 1);
    sl_put_uint(writer, "tid", lane + 1);
    sl_write_key(writer, "ts");
}

static void
name_track(sl_writer *writer, const char *what, uint32_t stage, uint32_t lane, const char *name,
           uint32_t order)
{
    sl_write_object(writer);
    put_name(writer, "M", what);
    begin_track(writer, "__metadata", stage, lane);
    sl_write_uint(writer, 0);
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

/* Text that many events share: where it is among all of them. A trace is mostly that, and numbers
 * between. */
typedef struct piece {
    uint32_t at, size;
} piece;

enum {
    PIECE_MAX = 192, /* of a name of an operator, all of it escaped, too */
    NUMBERS_MAX = 6,
    EVENT_SIZE = 3 * PIECE_MAX + NUMBERS_MAX * 2 * SL_NUMBER_TEXT_SIZE
};
_Static_assert(PIECE_MAX > 40 + 6 * sizeof((sl_operator *)0)->name, "an operator's name fits");

typedef struct pieces {
    sl_buffer text;
    uint32_t begun;                                               /* where the last one begins */
    piece kinds[SL_SPAN_KINDS], operators[SL_OPERATOR_NAMES_MAX]; /* what slices are */
    piece passes[SL_SPAN_KINDS];                                  /* what they are of */
    piece tracks[SL_TIMELINE_LANES_MAX];                          /* where slices are */
    piece leave, take, ends[SL_TIMELINE_LANES_MAX];               /* arrows, and where */
    piece counter, counted[SL_PIPELINE_MAX];                      /* likewise of memory */
} pieces;

static void
begin_piece(pieces *all, sl_writer *writer)
{
    all->begun = (uint32_t)all->text.size;
    sl_writer_init(writer, &all->text);
    sl_write_object(writer);
}

/* The beginning of an object as it is written so far, or more members of one. */
static piece
end_piece(pieces *all, bool more)
{
    const piece out = {all->begun, (uint32_t)all->text.size - all->begun};

    assert(all->text.failed || out.size <= PIECE_MAX);
    if (more && !all->text.failed)
        all->text.data[out.at] = ',';
    return out;
}

static piece
piece_of_name(pieces *all, const char *phase, const char *name)
{
    sl_writer writer;

    begin_piece(all, &writer);
    put_name(&writer, phase, name);
    return end_piece(all, false);
}

static piece
piece_of_track(pieces *all, const char *category, uint32_t stage, uint32_t lane)
{
    sl_writer writer;

    begin_piece(all, &writer);
    begin_track(&writer, category, stage, lane);
    return end_piece(all, true);
}

static piece
piece_of_pass(pieces *all, sl_span_kind kind)
{
    sl_writer writer;

    begin_piece(all, &writer);
    sl_write_key(&writer, "args");
    sl_write_object(&writer);
    sl_put_text(&writer, "pass", sl_span_kind_name(kind));
    return end_piece(all, true);
}

/* False: out of memory. Clear the text in any case. */
static bool
make_pieces(const sl_timeline_spans *spans, uint32_t stages, pieces *out)
{
    sl_buffer_init(&out->text, UINT32_MAX);
    for (uint32_t kind = 0; kind < SL_SPAN_KINDS; kind++) {
        out->kinds[kind] = piece_of_name(out, "X", sl_span_kind_name((sl_span_kind)kind));
        out->passes[kind] = piece_of_pass(out, (sl_span_kind)kind);
    }
    for (uint32_t i = 0; i < spans->name_count; i++)
        out->operators[i] = piece_of_name(out, "X", spans->names[i]);
    out->leave = piece_of_name(out, "s", "send");
    out->take = piece_of_name(out, "f", "send");
    for (uint32_t i = 0; i < spans->lane_count; i++) {
        const sl_timeline_lane *lane = &spans->lanes[i];
        out->tracks[i] = piece_of_track(out, sl_stream_name(lane->stream), lane->stage, i);
        out->ends[i] = piece_of_track(out, "pipeline", lane->stage, i);
    }
    out->counter = piece_of_name(out, "C", "kept alive");
    for (uint32_t s = 0; s < stages; s++)
        out->counted[s] = piece_of_track(out, "memory", s, 0);
    return !out->text.failed;
}

/* One event. */
typedef struct event {
    char *end;
    char text[EVENT_SIZE];
} event;

static inline void
add_text(event *e, const char *text, size_t size)
{
    memcpy(e->end, text, size);
    e->end += size;
}

/* Of a literal, whose length takes no time. */
static inline void
add_words(event *e, const char *words)
{
    add_text(e, words, strlen(words));
}

static inline void
add_double(event *e, double value)
{
    e->end += sl_number_json(value, e->end);
}

static inline void
add_uint(event *e, uint64_t value)
{
    char digits[2 * SL_NUMBER_TEXT_SIZE]; /* up to its middle: behind them there is room for a copy
                                             of one length, which takes no call */
    char *const end = digits + SL_NUMBER_TEXT_SIZE;
    const char *begin = sl_number_whole(value, end);

    memcpy(e->end, begin, SL_NUMBER_TEXT_SIZE);
    e->end += end - begin;
}

static inline void
add_known(event *e, const char *words, uint32_t number)
{
    if (number == SL_SPAN_NONE)
        return;
    add_words(e, words);
    add_uint(e, number);
}

static inline void
begin_event(event *e, const pieces *all, piece name, piece track, double at_s)
{
    e->end = e->text;
    add_text(e, all->text.data + name.at, name.size);
    add_text(e, all->text.data + track.at, track.size);
    add_double(e, us * at_s);
}

static inline void
end_event(sl_writer *writer, event *e)
{
    add_words(e, "}");
    sl_write_raw(writer, e->text, (size_t)(e->end - e->text));
}

static void
write_slice(sl_writer *writer, const pieces *all, const sl_timeline_spans *spans, uint32_t i)
{
    const uint32_t kind = spans->of[SL_COLUMN_KIND][i];
    const uint32_t part = spans->of[SL_COLUMN_OPERATOR][i];
    const piece pass = all->passes[kind];
    event e;

    begin_event(&e, all, part == SL_SPAN_NONE ? all->kinds[kind] : all->operators[part],
                all->tracks[spans->of[SL_COLUMN_LANE][i]], spans->start_s[i]);
    add_words(&e, ",\"dur\":");
    add_double(&e, us * (spans->end_s[i] - spans->start_s[i]));
    add_text(&e, all->text.data + pass.at, pass.size);
    add_known(&e, ",\"microbatch\":", spans->of[SL_COLUMN_MICROBATCH][i]);
    add_known(&e, ",\"chunk\":", spans->of[SL_COLUMN_CHUNK][i]);
    add_known(&e, ",\"layer\":", spans->of[SL_COLUMN_LAYER][i]);
    add_known(&e, ",\"ring_step\":", spans->of[SL_COLUMN_STEP][i]);
    add_words(&e, "}");
    end_event(writer, &e);
}

/* An arrow: each end bound to the slice of its lane that lies around its time. */
static void
write_flow(sl_writer *writer, const pieces *all, uint32_t id, piece from, double left_s, piece to,
           double taken_s)
{
    event e;

    begin_event(&e, all, all->leave, from, left_s);
    add_words(&e, ",\"id\":");
    add_uint(&e, id);
    end_event(writer, &e);
    begin_event(&e, all, all->take, to, taken_s);
    add_words(&e, ",\"id\":");
    add_uint(&e, id);
    add_words(&e, ",\"bp\":\"e\"");
    end_event(writer, &e);
}

/* The end of a send as an arrow may have it: readers bind arrows to the slice around their time,
 * which no longer is there when it ends. */
static double
leaving_s(double start_s, double end_s)
{
    return fmax((start_s + end_s) / 2.0, end_s - instant_s);
}

/* From every send to the pass that takes it in, where both are listed. */
static bool
write_flows(sl_writer *writer, const pieces *all, const sl_timeline_document *d,
            const sl_timeline_spans *spans)
{
    const uint32_t count = d->timeline->span_count;
    uint32_t *takers = malloc(count * sizeof *takers);

    if (takers == NULL)
        return false;
    sl_timeline_takers(d->timeline, takers);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t sent = spans->place[i];
        if (takers[i] == SL_SPAN_NONE || sent == SL_SPAN_NONE)
            continue;
        const uint32_t taken = spans->place[takers[i]];
        if (taken == SL_SPAN_NONE)
            continue;
        const uint32_t *lane = spans->of[SL_COLUMN_LANE];
        write_flow(writer, all, sent, all->ends[lane[sent]],
                   leaving_s(spans->start_s[sent], spans->end_s[sent]), all->ends[lane[taken]],
                   spans->start_s[taken]);
    }
    free(takers);
    return true;
}

static bool
write_counters(sl_writer *writer, const pieces *all, const sl_timeline_document *d, uint32_t stage)
{
    sl_stairs stairs;
    const bool room = sl_stairs_init(d->timeline, stage, &stairs);
    event e;

    for (uint64_t i = 0; room && i < stairs.count; i++) {
        if (stairs.at_s[i] < d->query->from_s || stairs.at_s[i] > d->query->to_s)
            continue;
        begin_event(&e, all, all->counter, all->counted[stage], stairs.at_s[i]);
        add_words(&e, ",\"args\":{\"bytes\":");
        add_uint(&e, stairs.bytes[i]);
        add_words(&e, "}");
        end_event(writer, &e);
    }
    sl_stairs_clear(&stairs);
    return room;
}

bool
sl_trace_write(sl_writer *writer, const sl_timeline_document *d)
{
    sl_timeline_spans spans;
    pieces all = {.text = {0}};
    bool room = sl_timeline_spans_init(d, true, &spans) &&
                make_pieces(&spans, d->timeline->stage_count, &all);

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
            write_slice(writer, &all, &spans, i);
        room = write_flows(writer, &all, d, &spans);
        for (uint32_t s = 0; s < d->timeline->stage_count; s++)
            if (spans.asked[s])
                room = write_counters(writer, &all, d, s) && room;
        sl_write_array_end(writer);
        sl_write_object_end(writer);
    }
    sl_buffer_clear(&all.text);
    sl_timeline_spans_clear(&spans);
    return room;
}
