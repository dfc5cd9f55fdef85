/* Rows of the communication table, and how their figures come about. */
#include <assert.h>
#include <math.h>

#include "engine/answer/step_parts.h"
#include "engine/extremes.h"

/* Of each that is sent: its group, and what says how much of it is exposed. What a term of the step
 * is of alone is that term. */
typedef struct kind {
    const char *group;
    sl_term_id exposed;
    sl_term_id term; /* of the step, that its exposed seconds are in */
} kind;

static const kind kinds[] = {
    {"tensor", SL_TERM_TENSOR_EXPOSED, SL_TERM_TENSOR_COMMUNICATION},
    {"context", SL_TERM_CONTEXT_COMMUNICATION, SL_TERM_CONTEXT_COMMUNICATION},
    {"expert", SL_TERM_EXPERT_COMMUNICATION, SL_TERM_EXPERT_COMMUNICATION},
    {"expert_tensor", SL_TERM_TENSOR_EXPOSED, SL_TERM_TENSOR_COMMUNICATION},
    {"pipeline", SL_TERM_PIPELINE_COMMUNICATION, SL_TERM_PIPELINE_COMMUNICATION},
    {"data", SL_TERM_GRADIENTS_EXPOSED, SL_TERM_DATA_COMMUNICATION},
    {"data", SL_TERM_PARAMETERS_EXPOSED, SL_TERM_DATA_COMMUNICATION},
    {"replicas", SL_TERM_GRADIENTS_EXPOSED, SL_TERM_DATA_COMMUNICATION},
    {"copies", SL_TERM_GRADIENTS_EXPOSED, SL_TERM_DATA_COMMUNICATION},
    {"embedding", SL_TERM_ALL_EXPOSED, SL_TERM_DATA_COMMUNICATION},
    {"host", SL_TERM_ALL_EXPOSED, SL_TERM_FORWARD},
    {"data", SL_TERM_ALL_EXPOSED, SL_TERM_DATA_COMMUNICATION},
};
_Static_assert(sizeof kinds / sizeof kinds[0] == SL_TERM_SENT_INSIDE - SL_TERM_TENSOR_SENT,
               "a group for each");

static const kind *
kind_of(sl_term_id what)
{
    assert(what >= SL_TERM_TENSOR_SENT && what < SL_TERM_SENT_INSIDE);
    return &kinds[what - SL_TERM_TENSOR_SENT];
}

sl_group
sl_step_pair_at(sl_level level)
{
    const double nodes = level == SL_LEVEL_NETWORK ? 2.0 : 1.0;

    return (sl_group){
        .ranks = 2.0, .nodes = nodes, .members_per_node = 2.0 / nodes, .level = level};
}

void
sl_step_add_communication(const sl_memory_case *c, const sl_sent_row *row, sl_time *out)
{
    if (!c->explained || row->seconds <= 0.0)
        return;
    assert(out->communication_count < SL_COMMUNICATION_MAX);
    out->communication[out->communication_count++] = (sl_communication){
        .group = kind_of(row->what)->group,
        .collective = row->kind,
        .level = sl_level_name(row->over.level),
        .bytes_per_step = sl_whole_bytes(row->bytes),
        .seconds = row->seconds,
        .exposed_s = row->exposed_s,
        .what = row->what,
        .calls = row->calls,
        .ranks = row->over.ranks,
        .nodes = row->over.nodes,
        .members_per_node = row->over.members_per_node,
    };
    out->exposed_communication_s += row->exposed_s;
}

static sl_term_id
seconds_of(const sl_communication *row)
{
    if (row->what == SL_TERM_HOST_SENT)
        return SL_TERM_SENT_TO_HOST;
    return row->nodes > 1.0 ? SL_TERM_SENT_ACROSS : SL_TERM_SENT_INSIDE;
}

/* Rows of gradients share what is exposed of all of them. */
static void
explain_gradients(const sl_time *time, const sl_communication *row, const sl_input *whole,
                  sl_term *out)
{
    double exposed_s = 0.0;
    double seconds = 0.0;

    for (uint32_t i = 0; i < time->communication_count; i++) {
        const sl_communication *other = &time->communication[i];
        if (kind_of(other->what)->exposed != SL_TERM_GRADIENTS_EXPOSED)
            continue;
        exposed_s += other->exposed_s;
        seconds += other->seconds;
    }
    SL_TERM_SET_INPUTS(out, {"gradient_exposed_s", exposed_s}, {"gradient_s", seconds},
                       {"seconds", row->seconds}, *whole);
}

/* A part of a term of the step, unless the term is of this row alone. */
static void
explain_exposed(const sl_time *time, const sl_communication *row, sl_term *out)
{
    const kind *of = kind_of(row->what);
    const sl_term *term = &time->terms[of->term - SL_TERM_FORWARD];
    const sl_input whole = {sl_term_describe(of->term)->name, term->value};
    const double hidden_s = fmax(0.0, row->seconds - row->exposed_s);

    if (of->exposed == of->term) {
        *out = *term;
        return;
    }
    *out = (sl_term){.id = of->exposed, .value = row->exposed_s};
    if (of->exposed == SL_TERM_GRADIENTS_EXPOSED)
        explain_gradients(time, row, &whole, out);
    else if (of->exposed == SL_TERM_PARAMETERS_EXPOSED)
        SL_TERM_SET_INPUTS(out, {"seconds", row->seconds},
                           {"behind_s", fmax(0.0, row->exposed_s - row->seconds)},
                           {"hidden_s", hidden_s}, whole);
    else
        SL_TERM_SET_INPUTS(out, {"seconds", row->seconds}, {"hidden_s", hidden_s}, whole);
}

void
sl_communication_explain(const sl_time *time, const sl_communication *row, sl_sent_figure of,
                         sl_term *out)
{
    const double per_call = row->bytes_per_step / row->calls;

    assert(row->calls > 0.0 && of >= 0 && of < SL_SENT_FIGURE_COUNT);
    if (of == SL_SENT_BYTES) {
        *out = (sl_term){.id = row->what, .value = row->bytes_per_step};
        SL_TERM_SET_INPUTS(out, {"calls", row->calls}, {"bytes_per_call", per_call},
                           {"ranks", row->ranks});
    } else if (of == SL_SENT_SECONDS) {
        *out = (sl_term){.id = seconds_of(row), .value = row->seconds};
        SL_TERM_SET_INPUTS(out, {"calls", row->calls}, {"bytes_per_call", per_call},
                           {"bytes_per_s", row->bytes_per_step / row->seconds},
                           {"ranks", row->ranks}, {"nodes", row->nodes},
                           {"members_per_node", row->members_per_node});
    } else if (of == SL_SENT_LATENCY) {
        *out = (sl_term){.id = SL_TERM_MESSAGE_LATENCY};
        SL_TERM_SET_INPUTS(out, {"ranks", row->ranks}, {"nodes", row->nodes},
                           {"members_per_node", row->members_per_node});
    } else {
        explain_exposed(time, row, out);
    }
}
