#include "base/clock.h"

#include <assert.h>

static struct timespec
now(void)
{
    struct timespec time = {0};
    const int failed = clock_gettime(CLOCK_MONOTONIC, &time);
    assert(failed == 0);
    (void)failed;
    return time;
}

double
sl_clock_now_s(void)
{
    const struct timespec time = now();
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

struct timespec
sl_clock_after(double s)
{
    assert(s >= 0 && s < 1e9);

    struct timespec time = now();
    const time_t whole_s = (time_t)s;
    time.tv_sec += whole_s;
    time.tv_nsec += (long)((s - (double)whole_s) * 1e9);
    if (time.tv_nsec >= 1000000000L) {
        time.tv_nsec -= 1000000000L;
        time.tv_sec++;
    }
    return time;
}

bool
sl_clock_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
    const bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                      pthread_cond_init(condition, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return made;
}
