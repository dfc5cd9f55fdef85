/* What a stage of layers that was simulated shows: its spans, and what is alive. */
#include "engine/schedule/timeline_parts.h"

#include <assert.h>
#include <math.h>

sl_span
sl_layers_span(const sl_layers_run *run, uint32_t task)
{
    const uint32_t *first = run->tasks.lane_first;
    const sl_span_kind kind = (sl_span_kind)run->kind[task];
    const bool whole = run->layer[task] == UINT16_MAX;

    assert(task < run->task_count);
    return (sl_span){
        .stream = task < first[SL_LAYERS_DOWN]      ? SL_STREAM_COMPUTE
                  : task < first[SL_LAYERS_DATA]    ? SL_STREAM_COPY
                  : kind == SL_SPAN_REDUCE_REPLICAS ? run->replicas
                                                    : run->data,
        .kind = kind,
        .microbatch = kind == SL_SPAN_OPTIMIZER ? SL_SPAN_NONE : run->microbatch[task],
        .chunk = SL_SPAN_NONE,
        .layer = whole ? SL_SPAN_NONE : run->layer[task],
        .start_s = run->start_s[task],
        .end_s = run->end_s[task],
    };
}

/* Of a pass, as it begins and as it ends. */
static double
pass_change(const sl_layers_run *run, uint32_t pass, bool ends)
{
    const uint32_t layer = run->layer[pass];

    if (run->kind[pass] == SL_SPAN_FORWARD) {
        if (!ends)
            return run->kept_bytes[layer];
        return run->reshards && layer > 0 ? -run->gathered_bytes[layer] : 0.0;
    }
    const bool stays = run->stays && run->microbatch[pass] + 1 < run->microbatches;
    return ends ? -run->kept_bytes[layer] - (stays ? 0.0 : run->gathered_bytes[layer]) : 0.0;
}

/* Lanes in whose tasks something comes or goes: as one begins where it comes, as it ends where it
 * goes. */
typedef struct cursor {
    uint32_t next, end;
    bool both, ends, second; /* changes at both ends, at the end alone; its second is due */
} cursor;

enum { PARAMETERS, RETURNED, SAVED, PASSES, CURSORS };

static bool
changes(const sl_layers_run *run, uint32_t task)
{
    const sl_span_kind kind = (sl_span_kind)run->kind[task];

    return kind == SL_SPAN_GATHER || kind == SL_SPAN_ACTIVATIONS_DOWN ||
           kind == SL_SPAN_ACTIVATIONS_UP;
}

static void
skip(const sl_layers_run *run, cursor *at)
{
    while (!at->both && at->next < at->end && !changes(run, at->next))
        at->next++;
}

static void
start_cursors(const sl_layers_run *run, cursor at[CURSORS])
{
    const uint32_t *first = run->tasks.lane_first;

    at[PARAMETERS] = (cursor){.next = first[SL_LAYERS_DATA], .end = first[SL_LAYERS_REPLICAS]};
    at[RETURNED] = (cursor){.next = first[SL_LAYERS_UP], .end = first[SL_LAYERS_DATA]};
    at[SAVED] = (cursor){.next = first[SL_LAYERS_DOWN], .end = first[SL_LAYERS_UP], .ends = true};
    at[PASSES] = (cursor){.next = 0, .end = run->passes, .both = true};
    for (uint32_t i = 0; i < CURSORS; i++)
        skip(run, &at[i]);
}

static double
due_s(const sl_layers_run *run, const cursor *at)
{
    return at->ends || at->second ? run->end_s[at->next] : run->start_s[at->next];
}

/* Changes at the same time in the order of the lanes: what comes before what passes keep. */
static cursor *
first_due(const sl_layers_run *run, cursor at[CURSORS])
{
    cursor *first = NULL;

    for (uint32_t i = 0; i < CURSORS; i++)
        if (at[i].next < at[i].end && (first == NULL || due_s(run, &at[i]) < due_s(run, first)))
            first = &at[i];
    return first;
}

static double
change_of(const sl_layers_run *run, const cursor *at)
{
    const uint32_t layer = run->layer[at->next];

    switch ((sl_span_kind)run->kind[at->next]) {
    case SL_SPAN_GATHER:
        return run->gathered_bytes[layer];
    case SL_SPAN_ACTIVATIONS_DOWN:
        return -run->kept_bytes[layer];
    case SL_SPAN_ACTIVATIONS_UP:
        return run->kept_bytes[layer];
    default:
        return pass_change(run, at->next, at->second);
    }
}

static void
advance(const sl_layers_run *run, cursor *at)
{
    if (at->both && !at->second) {
        at->second = true;
        return;
    }
    at->second = false;
    at->next++;
    skip(run, at);
}

uint64_t
sl_layers_steps(const sl_layers_run *run)
{
    uint64_t count = 2 * (uint64_t)run->passes;

    for (uint32_t task = run->passes + 1; task < run->task_count; task++)
        count += changes(run, task);
    return count;
}

uint64_t
sl_layers_staircase(const sl_layers_run *run, double *at_s, uint64_t *bytes)
{
    cursor at[CURSORS];
    double alive = 0.0;
    uint64_t highest = 0;
    uint64_t count = 0;

    start_cursors(run, at);
    for (cursor *next = first_due(run, at); next != NULL; next = first_due(run, at)) {
        alive += change_of(run, next);
        const uint64_t step = (uint64_t)ceil(fmax(0.0, alive));
        if (step > highest)
            highest = step;
        if (at_s != NULL) {
            at_s[count] = due_s(run, next);
            bytes[count] = step;
        }
        count++;
        advance(run, next);
    }
    assert(count == sl_layers_steps(run));
    return highest;
}
