#include "codec/answer/timeline_spans.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

sl_code
sl_timeline_query_read(const char *ranks, const char *from, const char *to, sl_timeline_query *out,
                       sl_errors *err)
{
    const char *const texts[] = {from, to};
    double *const values[] = {&out->from_s, &out->to_s};
    sl_code code = sl_sharding_query_read(ranks, NULL, &out->ranks, err);

    out->from_s = 0.0;
    out->to_s = HUGE_VAL;
    for (int i = 0; i < 2; i++) {
        if (texts[i] == NULL || (sl_text_to_double(texts[i], values[i]) && *values[i] >= 0.0))
            continue;
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "%s must be seconds from the start of the step, got %.40s",
                       i == 0 ? "from_s" : "to_s", texts[i]);
    }
    if (code == SL_OK && out->from_s > out->to_s)
        return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "to_s must not be before from_s, %.9g s, got %.40s", out->from_s, to);
    return code;
}

sl_code
sl_timeline_query_check(const sl_timeline_query *query, const sl_plan *plan, sl_errors *err)
{
    const uint64_t world = sl_plan_world(plan);
    const sl_sharding_query *ranks = &query->ranks;
    sl_code code = SL_OK;

    /* Ranges ascend. */
    if (ranks->range_count > 0 && ranks->ranges[ranks->range_count - 1].last >= world) {
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "rank must be below the %llu ranks of the plan", (unsigned long long)world);
        sl_hint(err, "0-%llu", (unsigned long long)world - 1);
    }
    return code;
}

/* Stages of which a rank lies in a range: ranks of one stage are `stride` in a row, then the
 * next. */
static void
ask_stages(const sl_timeline_query *query, const sl_timeline *timeline, const sl_plan *plan,
           bool asked[SL_PIPELINE_MAX])
{
    const uint64_t stride = plan->pipeline > 1 ? timeline->stages[1].rank : sl_plan_world(plan);
    const uint64_t row = stride * plan->pipeline;

    for (uint32_t s = 0; s < plan->pipeline; s++) {
        asked[s] = query->ranks.range_count == 0;
        for (uint32_t i = 0; i < query->ranks.range_count; i++) {
            const sl_rank_range *range = &query->ranks.ranges[i];
            /* The first rank of the stage in the row of the range's first, or the next row's. */
            uint64_t rank = range->first / row * row + s * stride;
            if (rank + stride <= range->first)
                rank += row;
            asked[s] = asked[s] || rank <= range->last;
        }
    }
}

const char *
sl_lane_group_name(sl_lane_group group)
{
    static const char *const names[] = {
        [SL_LANE_OWN] = NULL,          [SL_LANE_PIPELINE] = "pipeline",   [SL_LANE_DATA] = "data",
        [SL_LANE_TO_HOST] = "to_host", [SL_LANE_FROM_HOST] = "from_host",
    };
    _Static_assert(sizeof names / sizeof names[0] == SL_LANE_GROUPS, "a name per group");

    return names[group];
}

static sl_lane_group
group_of(sl_span_kind kind)
{
    switch (kind) {
    case SL_SPAN_SEND_OUTPUT:
    case SL_SPAN_SEND_GRADIENT:
        return SL_LANE_PIPELINE;
    case SL_SPAN_GATHER:
    case SL_SPAN_REDUCE:
    case SL_SPAN_REDUCE_REPLICAS:
    case SL_SPAN_BROADCAST:
    case SL_SPAN_SCATTER_INPUTS:
    case SL_SPAN_GATHER_OUTPUTS:
    case SL_SPAN_SCATTER_GRADIENTS:
        return SL_LANE_DATA;
    case SL_SPAN_GRADIENTS_DOWN:
    case SL_SPAN_ACTIVATIONS_DOWN:
        return SL_LANE_TO_HOST;
    case SL_SPAN_PARAMETERS_UP:
    case SL_SPAN_ACTIVATIONS_UP:
        return SL_LANE_FROM_HOST;
    default:
        return SL_LANE_OWN;
    }
}

/* Collectives that go around the ring of their group. */
static bool
is_ring(sl_span_kind kind)
{
    return kind == SL_SPAN_GATHER || kind == SL_SPAN_REDUCE || kind == SL_SPAN_REDUCE_REPLICAS;
}

static uint32_t
lane_of(sl_timeline_spans *spans, const sl_span *span)
{
    const sl_timeline_lane own = {span->stage, span->stream, group_of(span->kind)};

    /* Spans come lane by lane: it is one of the last, if it is there. */
    for (uint32_t i = spans->lane_count; i-- > 0;) {
        const sl_timeline_lane *lane = &spans->lanes[i];
        if (lane->stage == own.stage && lane->stream == own.stream && lane->group == own.group)
            return i;
    }
    assert(spans->lane_count < SL_TIMELINE_LANES_MAX);
    spans->lanes[spans->lane_count] = own;
    return spans->lane_count++;
}

/* Steps around the ring: all but one of the ranks send on what they have, twice over where all of
 * it comes back to everyone. */
static uint32_t
steps_of(const sl_timeline *timeline, const sl_span *span)
{
    const bool copies = span->kind == SL_SPAN_REDUCE_REPLICAS;
    const uint32_t ranks = copies ? timeline->replica_ranks : timeline->data_ranks;
    const bool twice = copies || (span->kind == SL_SPAN_REDUCE && timeline->reduces_all);

    return ranks < 2 ? 1 : (ranks - 1) * (twice ? 2 : 1);
}

static void
add(sl_timeline_spans *to, const sl_span *span, uint32_t step, uint32_t part, uint32_t most)
{
    if (to->count == most) {
        to->left_out++;
        return;
    }
    const uint32_t i = to->count++;
    to->of[SL_COLUMN_LANE][i] = lane_of(to, span);
    to->of[SL_COLUMN_KIND][i] = span->kind;
    to->of[SL_COLUMN_MICROBATCH][i] = span->microbatch;
    to->of[SL_COLUMN_CHUNK][i] = span->chunk;
    to->of[SL_COLUMN_LAYER][i] = span->layer;
    to->of[SL_COLUMN_OPERATOR][i] = part;
    to->of[SL_COLUMN_STEP][i] = step;
    to->start_s[i] = span->start_s;
    to->end_s[i] = span->end_s;
}

static bool
touches(const sl_timeline_query *query, const sl_span *span)
{
    return span->end_s >= query->from_s && span->start_s <= query->to_s;
}

static void
add_steps(const sl_timeline *timeline, const sl_timeline_query *query, const sl_span *whole,
          sl_timeline_spans *to, uint32_t most)
{
    const uint32_t count = steps_of(timeline, whole);
    const double each_s = (whole->end_s - whole->start_s) / count;

    for (uint32_t i = 0; i < count; i++) {
        sl_span step = *whole;
        step.start_s = whole->start_s + i * each_s;
        step.end_s = i + 1 == count ? whole->end_s : whole->start_s + (i + 1) * each_s;
        if (touches(query, &step))
            add(to, &step, i, SL_SPAN_NONE, most);
    }
}

static uint32_t
number_of_name(sl_timeline_spans *spans, const char *name)
{
    uint32_t i = 0;

    while (i < spans->name_count && strcmp(spans->names[i], name) != 0)
        i++;
    if (i == SL_OPERATOR_NAMES_MAX) /* more than any model has */
        return SL_SPAN_NONE;
    if (i == spans->name_count)
        spans->names[spans->name_count++] = name;
    return i;
}

static double
seconds_of(const sl_pass_part *part, sl_span_kind kind)
{
    switch (kind) {
    case SL_SPAN_FORWARD:
        return part->forward_s;
    case SL_SPAN_BACKWARD_INPUT:
        return part->input_s;
    case SL_SPAN_BACKWARD_WEIGHT:
        return part->weight_s;
    default:
        return part->input_s + part->weight_s;
    }
}

/* As the pool of the stage runs them. */
static const sl_pass_parts *
parts_of(const sl_timeline_document *d, const sl_timeline_spans *spans, uint32_t stage,
         uint32_t layer)
{
    const sl_model *model = d->question->model;

    return &spans
                ->parts[d->timeline->stages[stage].pool * model->kind_count + model->layers[layer]];
}

static double
layer_s(const sl_pass_parts *parts, sl_span_kind kind)
{
    double sum_s = 0.0;

    for (uint32_t i = 0; i < parts->count; i++)
        sum_s += seconds_of(&parts->list[i], kind);
    return sum_s;
}

/* A pass, layer by layer and operator by operator, backward from the last of both; as long as it
 * is. */
static void
add_operators(const sl_timeline_document *d, const sl_span *whole, sl_timeline_spans *to,
              uint32_t most)
{
    const sl_model *model = d->question->model;
    const bool forward = whole->kind == SL_SPAN_FORWARD;
    uint32_t first = whole->layer;
    uint32_t end = whole->layer + 1;
    double all_s = 0.0;
    double done_s = 0.0;

    if (whole->layer == SL_SPAN_NONE)
        sl_timeline_layers(model, &d->estimate->plan, whole->stage, whole->chunk, &first, &end);
    for (uint32_t l = first; l < end; l++)
        all_s += layer_s(parts_of(d, to, whole->stage, l), whole->kind);
    const double scale = all_s > 0.0 ? (whole->end_s - whole->start_s) / all_s : 0.0;
    for (uint32_t n = first; n < end; n++) {
        const uint32_t layer = forward ? n : end - 1 - (n - first);
        const sl_pass_parts *parts = parts_of(d, to, whole->stage, layer);
        for (uint32_t i = 0; i < parts->count; i++) {
            const sl_pass_part *part = &parts->list[forward ? i : parts->count - 1 - i];
            const double seconds = scale * seconds_of(part, whole->kind);
            sl_span span = *whole;
            span.layer = layer;
            span.start_s = whole->start_s + done_s;
            span.end_s = span.start_s + seconds;
            done_s += seconds;
            if (seconds > 0.0 && touches(d->query, &span))
                add(to, &span, SL_SPAN_NONE,
                    part->name == NULL ? SL_SPAN_NONE : number_of_name(to, part->name), most);
        }
    }
}

/* Operators of every kind on each pool that has a stage. */
static bool
make_parts(const sl_timeline_document *d, sl_timeline_spans *out)
{
    const size_t kinds = d->question->model->kind_count;
    const size_t pools = d->question->cluster->pool_count;
    const sl_stage_run *stages = d->timeline->stages;

    out->parts = malloc((pools > 0 ? pools : 1) * kinds * sizeof *out->parts);
    if (out->parts == NULL)
        return false;
    for (uint32_t s = 0; s < d->timeline->stage_count; s++)
        if (s == 0 || stages[s].pool != stages[s - 1].pool)
            sl_timeline_operators(d->question, d->estimate, s, out->parts + stages[s].pool * kinds);
    return true;
}

/* Room for `most` spans, and for the operators of every kind where they are asked for. */
static bool
make_room(const sl_timeline_document *d, uint32_t most, bool places, sl_timeline_spans *out)
{
    out->start_s = malloc(most * sizeof *out->start_s);
    out->end_s = malloc(most * sizeof *out->end_s);
    bool room = out->start_s != NULL && out->end_s != NULL;
    if (places) {
        out->place = malloc(d->timeline->span_count * sizeof *out->place);
        room = room && out->place != NULL;
    }
    for (uint32_t c = 0; c < SL_COLUMNS; c++) {
        out->of[c] = malloc(most * sizeof *out->of[c]);
        room = room && out->of[c] != NULL;
    }
    if (!room)
        return false;
    if (!d->query->operators)
        return true;
    return make_parts(d, out);
}

/* A span, or what it is made of where that is asked for. */
static void
list(const sl_timeline_document *d, const sl_span *span, sl_timeline_spans *to, uint32_t most)
{
    if (d->query->rings && is_ring(span->kind))
        add_steps(d->timeline, d->query, span, to, most);
    else if (d->query->operators && span->kind <= SL_SPAN_BACKWARD_WEIGHT)
        add_operators(d, span, to, most);
    else
        add(to, span, SL_SPAN_NONE, SL_SPAN_NONE, most);
}

bool
sl_timeline_spans_init(const sl_timeline_document *document, bool places, sl_timeline_spans *out)
{
    const sl_timeline *timeline = document->timeline;
    const sl_timeline_query *query = document->query;
    const bool divided = query->rings || query->operators;
    const uint32_t most =
        divided || query->limit < timeline->span_count ? query->limit : timeline->span_count;

    memset(out, 0, sizeof *out);
    if (!make_room(document, most, places, out))
        return false;
    ask_stages(query, timeline, &document->estimate->plan, out->asked);
    for (uint32_t i = 0; i < timeline->span_count; i++) {
        const sl_span span = sl_timeline_span(timeline, i);
        const uint32_t count = out->count;
        if (out->asked[span.stage] && touches(query, &span))
            list(document, &span, out, most);
        if (places)
            out->place[i] = out->count > count ? count : SL_SPAN_NONE;
    }
    return true;
}

void
sl_timeline_spans_clear(sl_timeline_spans *spans)
{
    for (uint32_t c = 0; c < SL_COLUMNS; c++)
        free(spans->of[c]);
    free(spans->place);
    free(spans->start_s);
    free(spans->end_s);
    free(spans->parts);
}

bool
sl_stairs_init(const sl_timeline *timeline, uint32_t stage, sl_stairs *out)
{
    out->count = sl_timeline_steps(timeline, stage);
    out->at_s = malloc(out->count * sizeof *out->at_s);
    out->bytes = malloc(out->count * sizeof *out->bytes);
    if (out->at_s == NULL || out->bytes == NULL)
        return false;
    sl_timeline_staircase(timeline, stage, out->at_s, out->bytes);
    return true;
}

void
sl_stairs_clear(sl_stairs *stairs)
{
    free(stairs->at_s);
    free(stairs->bytes);
}
