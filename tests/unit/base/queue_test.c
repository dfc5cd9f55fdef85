#include "base/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "harness.h"

enum { PRODUCERS = 3, CONSUMERS = 3, ITEMS_EACH = 2000, CAPACITY = 7 };

static void
items_come_out_in_the_order_they_went_in(void)
{
    int items[5] = {0};
    sl_queue *const queue = sl_queue_new(3);
    CU_ASSERT_PTR_NOT_NULL_FATAL(queue);
    CU_ASSERT_TRUE(sl_queue_push(queue, &items[0]));
    CU_ASSERT_TRUE(sl_queue_push(queue, &items[1]));
    CU_ASSERT_PTR_EQUAL(sl_queue_pop(queue), &items[0]);
    CU_ASSERT_TRUE(sl_queue_push(queue, &items[2]));
    CU_ASSERT_TRUE(sl_queue_push(queue, &items[3]));
    for (int i = 1; i <= 3; i++)
        CU_ASSERT_PTR_EQUAL(sl_queue_pop(queue), &items[i]);
    sl_queue_free(queue);
    sl_queue_free(NULL);
}

static void
a_full_queue_refuses_at_once(void)
{
    int item = 0;
    sl_queue *const queue = sl_queue_new(1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(queue);
    CU_ASSERT_TRUE(sl_queue_push(queue, &item));
    CU_ASSERT_FALSE(sl_queue_push(queue, &item));
    CU_ASSERT_PTR_EQUAL(sl_queue_pop(queue), &item);
    CU_ASSERT_TRUE(sl_queue_push(queue, &item));
    CU_ASSERT_PTR_EQUAL(sl_queue_pop(queue), &item);
    sl_queue_free(queue);
}

static void
a_closed_queue_gives_what_is_left_then_null(void)
{
    int item = 0;
    sl_queue *const queue = sl_queue_new(2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(queue);
    CU_ASSERT_TRUE(sl_queue_push(queue, &item));
    sl_queue_close(queue);
    CU_ASSERT_FALSE(sl_queue_push(queue, &item));
    CU_ASSERT_PTR_EQUAL(sl_queue_pop(queue), &item);
    CU_ASSERT_PTR_NULL(sl_queue_pop(queue));
    CU_ASSERT_PTR_NULL(sl_queue_pop(queue));
    sl_queue_free(queue);
}

static void
an_impossible_capacity_is_refused(void)
{
    CU_ASSERT_PTR_NULL(sl_queue_new(SIZE_MAX / sizeof(void *)));
}

typedef struct worker {
    sl_queue *queue;
    unsigned *items;
    uint64_t sum, count;
} worker;

static void *
produce(void *context)
{
    const worker *const self = context;
    for (unsigned i = 0; i < ITEMS_EACH; i++) {
        while (!sl_queue_push(self->queue, &self->items[i]))
            (void)sched_yield();
    }
    return NULL;
}

static void *
consume(void *context)
{
    worker *const self = context;
    for (const unsigned *item = sl_queue_pop(self->queue); item != NULL;
         item = sl_queue_pop(self->queue)) {
        self->sum += *item;
        self->count++;
    }
    return NULL;
}

static void
every_item_reaches_exactly_one_thread(void)
{
    static unsigned items[PRODUCERS][ITEMS_EACH];
    worker producers[PRODUCERS], consumers[CONSUMERS];
    pthread_t producing[PRODUCERS], consuming[CONSUMERS];
    uint64_t expected = 0, sum = 0, count = 0;
    sl_queue *const queue = sl_queue_new(CAPACITY);
    CU_ASSERT_PTR_NOT_NULL_FATAL(queue);

    for (unsigned i = 0; i < CONSUMERS; i++) {
        consumers[i] = (worker){.queue = queue};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&consuming[i], NULL, consume, &consumers[i]), 0);
    }
    for (unsigned i = 0; i < PRODUCERS; i++) {
        for (unsigned j = 0; j < ITEMS_EACH; j++) {
            items[i][j] = i * ITEMS_EACH + j;
            expected += items[i][j];
        }
        producers[i] = (worker){.queue = queue, .items = items[i]};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&producing[i], NULL, produce, &producers[i]), 0);
    }
    for (unsigned i = 0; i < PRODUCERS; i++)
        CU_ASSERT_EQUAL(pthread_join(producing[i], NULL), 0);
    sl_queue_close(queue);
    for (unsigned i = 0; i < CONSUMERS; i++) {
        CU_ASSERT_EQUAL(pthread_join(consuming[i], NULL), 0);
        sum += consumers[i].sum;
        count += consumers[i].count;
    }
    CU_ASSERT_EQUAL(count, (uint64_t)PRODUCERS * ITEMS_EACH);
    CU_ASSERT_EQUAL(sum, expected);
    sl_queue_free(queue);
}

static void
closing_wakes_every_waiting_thread(void)
{
    worker consumers[CONSUMERS];
    pthread_t consuming[CONSUMERS];
    sl_queue *const queue = sl_queue_new(CAPACITY);
    CU_ASSERT_PTR_NOT_NULL_FATAL(queue);
    for (unsigned i = 0; i < CONSUMERS; i++) {
        consumers[i] = (worker){.queue = queue};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&consuming[i], NULL, consume, &consumers[i]), 0);
    }
    sl_queue_close(queue);
    for (unsigned i = 0; i < CONSUMERS; i++) {
        CU_ASSERT_EQUAL(pthread_join(consuming[i], NULL), 0);
        CU_ASSERT_EQUAL(consumers[i].count, 0);
    }
    sl_queue_free(queue);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(items_come_out_in_the_order_they_went_in),
        SL_CASE(a_full_queue_refuses_at_once),
        SL_CASE(a_closed_queue_gives_what_is_left_then_null),
        SL_CASE(an_impossible_capacity_is_refused),
        SL_CASE(every_item_reaches_exactly_one_thread),
        SL_CASE(closing_wakes_every_waiting_thread),
    };
    return sl_run_cases(argc, argv, "queue", cases, sizeof cases / sizeof cases[0]);
}
