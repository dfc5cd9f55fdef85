/** Questions drawn from a number, over every field of workload and plan. */
#ifndef SL_TESTS_DRAWN_QUESTION_H
#define SL_TESTS_DRAWN_QUESTION_H

#include "shardline/plan.h"

typedef struct sl_drawn {
    sl_question question; /* points at the other two */
    sl_cluster cluster;
    sl_software software;
} sl_drawn;

/** Describes the models that are drawn from, inside a test case; sl_draw_clear frees them. */
void sl_draw_models(void);
void sl_draw_clear(void);

/** The same number, the same question; most are refused. */
void sl_draw_question(uint64_t number, sl_drawn *out);

#endif
