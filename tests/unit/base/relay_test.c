#include "base/relay.h"

#include <sys/resource.h>

#include "harness.h"

enum { NUMBERS = 20000 };

typedef struct load {
    int number, square;
} load;

/* Squares of numbers, up to some one. */
typedef struct squares {
    int next, last, stop;
    int seen, wrong;
    int priority, other_priority; /* of the caller; whether a taker's was another */
} squares;

static bool
take(void *context, void *one)
{
    squares *const s = context;
    *(load *)one = (load){.number = s->next, .square = s->next * s->next};
    s->other_priority += getpriority(PRIO_PROCESS, 0) != s->priority;
    return ++s->next <= s->last;
}

static bool
check(void *context, void *one)
{
    squares *const s = context;
    const load *const l = one;
    s->wrong += l->number != s->seen || l->square != s->seen * s->seen;
    s->seen++;
    return l->number != s->stop;
}

static void
run(squares *s)
{
    load loads[SL_RELAY_LOADS];
    sl_relay relay = {.take = take, .work = check, .context = s};
    for (int i = 0; i < SL_RELAY_LOADS; i++)
        relay.loads[i] = &loads[i];
    s->priority = getpriority(PRIO_PROCESS, 0);
    sl_relay_run(&relay);
}

static void
all_is_worked_on_once_and_in_order(void)
{
    for (int last = 0; last < NUMBERS; last = 5 * last + 1) {
        squares s = {.last = last, .stop = -1};
        run(&s);
        CU_ASSERT_EQUAL(s.seen, last + 1);
        CU_ASSERT_EQUAL(s.wrong, 0);
    }
}

static void
who_gives_up_gets_no_more(void)
{
    for (int stop = 0; stop < 200; stop++) {
        squares s = {.last = NUMBERS, .stop = stop};
        run(&s);
        CU_ASSERT_EQUAL(s.seen, stop + 1);
        CU_ASSERT_TRUE(s.next <= stop + 1 + SL_RELAY_LOADS);
        CU_ASSERT_EQUAL(s.wrong, 0);
    }
}

static void
both_threads_have_the_priority_of_the_caller(void)
{
    squares s = {.last = NUMBERS, .stop = -1};

    CU_ASSERT_EQUAL(setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 1), 0);
    run(&s);
    CU_ASSERT_EQUAL(s.other_priority, 0);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(all_is_worked_on_once_and_in_order),
        SL_CASE(who_gives_up_gets_no_more),
        SL_CASE(both_threads_have_the_priority_of_the_caller),
    };
    return sl_run_cases(argc, argv, "relay", cases, sizeof cases / sizeof cases[0]);
}
