/* What a search that found nothing is told would help: that it does, and that nothing nearer
 * would. */
#include <math.h>
#include <stdlib.h>

#include "engine/search/search_relax.h"
#include "harness.h"
#include "search_fixture.h"

static sl_cluster cluster;
static sl_software software;
static sl_errors err;
static sl_search_outcome outcome;
static sl_search_relax relax;
static void *relaxed_space;

/* Of a request without an answer. */
static void
relax_all(const sl_search_request *request)
{
    static sl_search_outcome found;
    const sl_search *search = NULL;

    err = (sl_errors){0};
    CU_ASSERT_EQUAL_FATAL(sl_search_of(request, &search, &err), SL_OK);
    sl_search_run_units(search, false, false, &outcome);
    CU_ASSERT_EQUAL_FATAL(outcome.best_count, 0);
    for (bool more = sl_relax_begin(search, relaxed_space, &relax); more;
         more = sl_relax_next(&relax, &found))
        sl_search_run_units(relax.search, false, true, &found);
}

static const sl_relaxation *
relaxed_in(sl_dimension dimension)
{
    for (uint32_t i = 0; i < relax.count; i++)
        if (relax.found[i].dimension == dimension)
            return &relax.found[i];
    CU_FAIL_FATAL("the dimension would help");
    return NULL;
}

static bool
answers_with(const sl_search_request *request, sl_dimension dimension, uint64_t value)
{
    sl_search_request changed = *request;

    sl_set_values(&changed, dimension, 1, &value);
    return sl_search_all(&changed, false, &outcome, &err) == SL_OK && outcome.best_count > 0;
}

static double
away(uint64_t value, uint64_t asked)
{
    return fabs(log((double)(value + 1) / (double)(asked + 1)));
}

/* Every value of a range is tried: the one that is told is an answer, and those nearer are none. */
static void
expect_nearest(const sl_search_request *request, sl_dimension dimension, uint64_t asked,
               uint64_t most)
{
    const uint64_t told = relaxed_in(dimension)->point.value[dimension];

    CU_ASSERT_FALSE(relax.together);
    CU_ASSERT_TRUE(relax.complete);
    CU_ASSERT_TRUE(answers_with(request, dimension, told));
    for (uint64_t value = 1; value <= most; value++)
        if (away(value, asked) < away(told, asked))
            CU_ASSERT_FALSE(answers_with(request, dimension, value));
}

static void
the_nearest_degree_is_told(void)
{
    static const struct {
        sl_dimension dimension;
        uint64_t asked, most;
    } degrees[] = {
        {SL_DIMENSION_TENSOR, 7, 32},
        {SL_DIMENSION_PIPELINE, 5, 64},
        {SL_DIMENSION_MICRO_BATCH, 5, 64},
        {SL_DIMENSION_DATA, 3, 16},
    };
    const sl_question q = sl_small_question(&cluster, &software);

    for (uint32_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++) {
        sl_search_request request = sl_request_of(&q);
        sl_set_values(&request, degrees[i].dimension, 1, &degrees[i].asked);
        relax_all(&request);
        expect_nearest(&request, degrees[i].dimension, degrees[i].asked, degrees[i].most);
    }
}

/* 67 nodes have no number of replicas that divides a batch of 64. */
static void
the_nearest_size_and_batch_are_told(void)
{
    sl_question q = sl_small_question(&cluster, &software);

    cluster.nodes = 67;
    sl_search_request request = sl_request_of(&q);
    relax_all(&request);
    const uint64_t all = sl_cluster_accelerators(&cluster);
    const uint64_t size =
        relaxed_in(SL_DIMENSION_ACCELERATORS)->point.value[SL_DIMENSION_ACCELERATORS];
    CU_ASSERT_TRUE(answers_with(&request, SL_DIMENSION_ACCELERATORS, size));
    for (uint64_t other = size + 8; other <= all; other += 8)
        CU_ASSERT_FALSE(answers_with(&request, SL_DIMENSION_ACCELERATORS, other));
    expect_nearest(&request, SL_DIMENSION_GLOBAL_BATCH, 64, 80);
}

/* What is lifted together gives an answer, and without any one of it there is none. */
static void
several_lists_are_lifted_where_one_does_not_help(void)
{
    static const uint64_t seven[] = {7}, five[] = {5}, none[] = {SL_RECOMPUTE_NONE};
    const sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    sl_set_values(&request, SL_DIMENSION_TENSOR, 1, seven);
    sl_set_values(&request, SL_DIMENSION_PIPELINE, 1, five);
    sl_set_values(&request, SL_DIMENSION_RECOMPUTE, 1, none);
    relax_all(&request);
    CU_ASSERT_TRUE(relax.together && relax.complete);
    CU_ASSERT_EQUAL_FATAL(relax.count, 2); /* recomputation is not in the way */
    for (uint32_t left_out = 0; left_out <= relax.count; left_out++) {
        sl_search_request changed = request;
        for (uint32_t i = 0; i < relax.count; i++)
            if (i != left_out)
                changed.space.of[relax.found[i].dimension].count = 0;
        CU_ASSERT_EQUAL_FATAL(sl_search_all(&changed, false, &outcome, &err), SL_OK);
        CU_ASSERT_EQUAL(outcome.best_count > 0, left_out == relax.count);
    }
    CU_ASSERT_TRUE(relaxed_in(SL_DIMENSION_TENSOR)->point.value[SL_DIMENSION_TENSOR] != 7);
    CU_ASSERT_TRUE(relaxed_in(SL_DIMENSION_PIPELINE)->point.value[SL_DIMENSION_PIPELINE] != 5);
}

static void
what_lacks_memory_is_told_how_to_fit(void)
{
    static const uint64_t one[] = {1}, none[] = {SL_RECOMPUTE_NONE};
    const sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    cluster.accelerator.memory_bytes = 16000000000;
    sl_set_values(&request, SL_DIMENSION_MICRO_BATCH, 1, one);
    sl_set_values(&request, SL_DIMENSION_TENSOR, 1, one);
    sl_set_values(&request, SL_DIMENSION_PIPELINE, 1, one);
    sl_set_values(&request, SL_DIMENSION_CONTEXT, 1, one);
    sl_set_values(&request, SL_DIMENSION_RECOMPUTE, 1, none);
    relax_all(&request);
    expect_nearest(&request, SL_DIMENSION_TENSOR, 1, 8);
}

/* Nothing that the request says is in the way of a model that no number of devices holds. */
static void
nothing_is_told_where_nothing_helps(void)
{
    static const uint64_t seven[] = {7};
    const sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    cluster.accelerator.memory_bytes = 1000000000;
    cluster.accelerator.reserved_bytes = 900000000;
    relax_all(&request);
    CU_ASSERT_EQUAL(relax.count, 0);
    CU_ASSERT_TRUE(relax.complete && !relax.hopeless); /* nothing is listed */
    sl_set_values(&request, SL_DIMENSION_TENSOR, 1, seven);
    relax_all(&request);
    CU_ASSERT_EQUAL(relax.count, 0);
    CU_ASSERT_TRUE(relax.complete && relax.hopeless);
}

static const sl_case cases[] = {
    SL_CASE(the_nearest_degree_is_told),
    SL_CASE(the_nearest_size_and_batch_are_told),
    SL_CASE(several_lists_are_lifted_where_one_does_not_help),
    SL_CASE(what_lacks_memory_is_told_how_to_fit),
    SL_CASE(nothing_is_told_where_nothing_helps),
};

int
main(int argc, char **argv)
{
    relaxed_space = malloc(sl_search_bytes());
    if (relaxed_space == NULL || !sl_search_fixture_open())
        return EXIT_FAILURE;
    const int status =
        sl_run_cases(argc, argv, "search_relax", cases, sizeof cases / sizeof cases[0]);
    sl_search_fixture_close();
    free(relaxed_space);
    return status;
}
