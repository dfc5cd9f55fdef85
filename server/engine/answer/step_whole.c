/* A pipeline's step of few passes, simulated as its timeline is where formulas are coarse. */
#include <stddef.h>
#include <string.h>

#include "engine/answer/step_parts.h"
#include "engine/extremes.h"
#include "engine/schedule/timeline_parts.h"

/* Room for the simulation on the stack. */
enum { BYTES_MAX = 320 * 1024 };

/* Forwards with their backwards, all ranks together: a simulated step takes some 2,000 instructions
 * for each. Those are the most of schedules that are looked at because somebody asks for them, and
 * with traffic in the open; of those that every search goes through, which has time for few of its
 * plans, where most is lost though the pipeline fills; and where less is. */
enum {
    ASKED_PAIRS_MAX = 640,
    ASKED_OPEN_PAIRS_MAX = 1280,
    LOST_PAIRS_MAX = 256,
    SEARCHED_PAIRS_MAX = 12
};

/* Of a step, what it loses to its bubble and to traffic in the open, or its ranks are idle, where that
 * is much. */
static const double lost_ratio = 0.3;

/* A difference below this share of what it is one of is what sums of seconds round by. */
static const double rounding_ratio = 1e-12;

/* How much longer `now_s` is, at most `most_s`. */
static double
grown_s(double now_s, double before_s, double most_s)
{
    const double by_s = now_s - before_s;

    return by_s > rounding_ratio * now_s ? sl_smaller(by_s, most_s) : 0.0;
}

static double *
value_of(sl_time *time, sl_term_id id)
{
    return &time->terms[id - SL_TERM_FORWARD].value;
}

static bool
loses_much(const sl_sent *sent, const sl_time *time)
{
    const double lost_s = time->terms[SL_TERM_ACTIVATION_OFFLOAD - SL_TERM_FORWARD].value +
                          sent->open_s +
                          time->terms[SL_TERM_DATA_COMMUNICATION - SL_TERM_FORWARD].value;

    return lost_s > lost_ratio * time->step_s || sent->idle_ratio > lost_ratio;
}

/* How many pairs may be simulated. */
static uint64_t
most_pairs(const sl_plan *plan, uint64_t m, bool open, const sl_sent *sent, const sl_time *time)
{
    if (plan->schedule != SL_SCHEDULE_1F1B && plan->schedule != SL_SCHEDULE_INTERLEAVED_1F1B)
        return open ? ASKED_OPEN_PAIRS_MAX : ASKED_PAIRS_MAX;
    return m >= plan->pipeline && loses_much(sent, time) ? LOST_PAIRS_MAX : SEARCHED_PAIRS_MAX;
}

/* Where formulas go by less than all ranks do: a split backward, whose weights' gradients fill up
 * what others leave; chunks of any lengths; and traffic in the open, which hides in what other
 * ranks wait for. */
static bool
is_coarse(const sl_memory_case *c, uint64_t m, const sl_sent *sent, const sl_time *time)
{
    const bool open = sl_step_traffic_is_open(c->plan, sent, time);

    return m * c->plan->pipeline * c->plan->virtual_pipeline <=
               most_pairs(c->plan, m, open, sent, time) &&
           (open || sl_schedule_splits_backward(c->plan) || c->plan->layout_chunks > 0);
}

static void
scale_input(sl_term *term, const char *name, double ratio)
{
    const uint32_t i = sl_term_find(term, name);

    if (i < term->input_count)
        term->inputs[i].value *= ratio;
}

static void
scale_rows(sl_time *time, const char *group, double ratio)
{
    for (uint32_t i = 0; i < time->communication_count; i++) {
        sl_communication *row = &time->communication[i];
        if (strcmp(row->group, group) != 0)
            continue;
        time->exposed_communication_s += (ratio - 1.0) * row->exposed_s;
        row->exposed_s *= ratio;
    }
}

/* Of a term with what it is made of, and its rows. */
static void
scale_sends(sl_time *time, double seconds)
{
    sl_term *term = &time->terms[SL_TERM_PIPELINE_COMMUNICATION - SL_TERM_FORWARD];
    const double ratio = term->value > 0.0 ? seconds / term->value : 0.0;

    scale_input(term, "open_sends_s", ratio);
    scale_input(term, "late_sends_s", ratio);
    scale_input(term, "fill_and_drain_s", ratio);
    scale_rows(time, "pipeline", ratio);
    term->value = seconds;
}

static void
scale_data(sl_time *time, double seconds)
{
    static const char *const groups[] = {"data", "replicas", "copies"};
    sl_term *term = &time->terms[SL_TERM_DATA_COMMUNICATION - SL_TERM_FORWARD];
    const double tied_s = sl_term_input(term, "tied_embedding_s");
    const double tied = tied_s > 0.0 ? sl_smaller(1.0, seconds / tied_s) : 0.0;
    const double before_s = term->value - tied_s;
    const double ratio = before_s > 0.0 ? (seconds - tied * tied_s) / before_s : 0.0;

    scale_input(term, "gradient_exposed_s", ratio);
    scale_input(term, "parameter_exposed_s", ratio);
    scale_input(term, "tied_embedding_s", tied);
    for (uint32_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        scale_rows(time, groups[i], ratio);
    scale_rows(time, "embedding", tied);
    term->value = seconds;
}

/* What passes leave of the step, shared out as it grows: without anything to send the bubble, then
 * what stages send, parameters and gradients, and updates. What has no traffic has no part. */
static void
share_out(const sl_plan *plan, uint64_t m, const sl_stages_taken *taken, double passes_s,
          double rest_s, sl_time *out)
{
    const sl_term *bubble = &out->terms[SL_TERM_BUBBLE - SL_TERM_FORWARD];
    sl_term *update = &out->terms[SL_TERM_OPTIMIZER_STEP - SL_TERM_FORWARD];
    const bool sends = *value_of(out, SL_TERM_PIPELINE_COMMUNICATION) > 0.0;
    const bool travels = *value_of(out, SL_TERM_DATA_COMMUNICATION) > 0.0;
    const double update_s =
        grown_s(taken->all_s, taken->before_update_s, sl_smaller(rest_s, out->update_s));
    const double left_s = rest_s - update_s;
    double bubble_s = grown_s(taken->silent_s, passes_s, left_s);
    double sends_s = sends ? grown_s(taken->sent_s, taken->silent_s, left_s - bubble_s) : 0.0;
    const double data_s = travels ? left_s - bubble_s - sends_s : 0.0;

    if (!travels && sends)
        sends_s = left_s - bubble_s;
    else if (!travels)
        bubble_s = left_s;
    sl_step_set_bubble(plan, m, sl_term_input(bubble, "busy_sum_s"), passes_s, bubble_s, out);
    scale_sends(out, sends_s);
    scale_data(out, data_s);
    update->value = update_s;
    const uint32_t hidden = sl_term_find(update, "hidden_s");
    if (hidden < update->input_count)
        update->inputs[hidden].value = out->update_s - update_s;
}

static sl_stages_taken
take(const sl_memory_case *c, const sl_time *time, bool apart)
{
    _Alignas(max_align_t) char scratch[BYTES_MAX];
    sl_stages_taken taken;

    sl_stages_take(c, time, apart, scratch, &taken);
    return taken;
}

bool
sl_step_whole(const sl_memory_case *c, uint64_t m, double passes_s, const sl_sent *sent,
              sl_time *out)
{
    if (c->plan->pipeline == 1 || !is_coarse(c, m, sent, out) || !sl_order_exists(c->plan, m) ||
        sl_stages_size(c).bytes > BYTES_MAX)
        return false;
    const double least_s = out->step_s - sent->open_s - *value_of(out, SL_TERM_DATA_COMMUNICATION) -
                           *value_of(out, SL_TERM_OPTIMIZER_STEP);
    if (!c->explained) {
        out->step_s = sl_larger(least_s, take(c, out, false).all_s);
        return true;
    }
    const sl_stages_taken taken = take(c, out, true);
    const double step_s = sl_larger(least_s, taken.all_s);
    share_out(c->plan, m, &taken, passes_s, step_s - least_s, out);
    out->step_s = step_s;
    return true;
}
