#include "hub/ask.h"

#include <time.h>

#include "base/clock.h"

/* Waits in slices, so that a cancelled request does not hold its worker. */
static void
wait_for(double seconds, const atomic_bool *cancelled)
{
    static const struct timespec slice = {.tv_nsec = 20L * 1000 * 1000};
    const double until_s = sl_clock_now_s() + seconds;
    while (sl_clock_now_s() < until_s && !atomic_load(cancelled))
        (void)nanosleep(&slice, NULL);
}

/* How long to wait before the next try; negative when there should be none. */
static double
wait_before_retry(const sl_hub_limits *limits, uint32_t left, uint32_t tried,
                  const sl_hub_reply *reply)
{
    if (!reply->retryable || left == 0)
        return -1.0;
    if (reply->status == 429 && reply->retry_after_s >= 0.0)
        return reply->retry_after_s <= limits->rate_wait_max_s
                   ? reply->retry_after_s + limits->rate_margin_s
                   : -1.0;
    double wait_s = limits->backoff_s;
    for (uint32_t i = 1; i < tried && wait_s < limits->backoff_max_s; i++)
        wait_s *= 2.0;
    return wait_s < limits->backoff_max_s ? wait_s : limits->backoff_max_s;
}

/* Of a question without a status line. One that was cut short says nothing. */
static sl_hub_hearing
hearing_of(sl_hub_outcome outcome, bool cut_short)
{
    if (outcome == SL_HUB_NOT_CONNECTED || outcome == SL_HUB_TIMED_OUT)
        return cut_short ? SL_HUB_ABANDONED : SL_HUB_UNHEARD;
    return outcome == SL_HUB_CANCELLED || outcome == SL_HUB_NO_MEMORY ? SL_HUB_ABANDONED
                                                                      : SL_HUB_HEARD;
}

/* One try, of which others take note. */
static sl_hub_outcome
try_once(sl_hub_worker *worker, const sl_hub_question *question, double end_s, bool cut_short,
         const atomic_bool *cancelled, sl_buffer *body, sl_hub_reply *reply)
{
    sl_hub_recent *const recent = worker->hub->state->recent;
    worker->awaited = !question->beside;
    if (worker->awaited)
        sl_hub_recent_asks(recent);
    const sl_hub_outcome outcome =
        sl_hub_transfer_get(worker, question, end_s, cancelled, body, reply);
    if (worker->awaited)
        sl_hub_recent_asked(recent, hearing_of(outcome, cut_short), worker->hub->limits.silent_s);
    worker->awaited = false;
    return outcome;
}

/* The Hub will say the same to everybody, for the time it asks for. */
static void
learn_limit(const sl_hub *hub, const sl_hub_question *question, sl_hub_outcome outcome,
            const sl_hub_reply *reply)
{
    const double for_s = reply->retry_after_s, most_s = hub->limits.limited_max_s;
    if (outcome == SL_HUB_ANSWERED && reply->status == 429 && reply->from_endpoint && for_s > 0.0)
        sl_hub_recent_limit(hub->state->recent, question->bucket, for_s < most_s ? for_s : most_s);
}

bool
sl_hub_is_silent(const sl_hub *hub)
{
    return sl_hub_recent_is_silent(hub->state->recent, hub->limits.slow_s);
}

sl_hub_outcome
sl_hub_ask(sl_hub_worker *worker, const sl_hub_question *question, const sl_hub_patience *patience,
           const atomic_bool *cancelled, sl_buffer *body, sl_hub_reply *reply)
{
    const sl_hub_limits *const limits = &worker->hub->limits;
    const double end_s = sl_clock_now_s() + patience->budget_s;
    *reply = (sl_hub_reply){.retry_after_s = -1.0};

    for (uint32_t tried = 1;; tried++) {
        if (atomic_load(cancelled))
            return SL_HUB_CANCELLED;
        const double try_end_s = sl_clock_now_s() + patience->try_s;
        const bool cut_short = tried > 1 && try_end_s > end_s;
        sl_buffer_clear(body);
        const sl_hub_outcome outcome =
            try_once(worker, question, try_end_s < end_s ? try_end_s : end_s, cut_short, cancelled,
                     body, reply);

        const double wait_s = wait_before_retry(limits, patience->tries - tried, tried, reply);
        if (wait_s < 0.0 || sl_clock_now_s() + wait_s >= end_s) {
            learn_limit(worker->hub, question, outcome, reply);
            return outcome;
        }
        wait_for(wait_s, cancelled);
    }
}
