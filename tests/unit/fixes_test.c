/* Ways out of too little memory: each is legal, evaluated and ranked. */
#include <string.h>

#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

/* 1.3 B parameters, optimizer states over the data ranks, on devices that are too small for it. */
static sl_question
tight_question(uint64_t memory_bytes)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);

    cluster.accelerator.memory_bytes = memory_bytes;
    q.workload.global_batch = 128;
    q.plan.zero_stage = 1;
    return q;
}

static const sl_fix *
find_fix(const sl_estimate *answer, const char *what)
{
    for (uint32_t i = 0; i < answer->fix_count; i++)
        if (strcmp(answer->fixes[i].what, what) == 0)
            return &answer->fixes[i];
    return NULL;
}

static uint64_t
total_of(const sl_estimate *answer)
{
    return answer->memory.ranks[answer->memory.binding].device_total_bytes;
}

/* A little less than what the plan needs where every empty segment is given back. */
static sl_question
question_that_misses(uint64_t missing_bytes)
{
    sl_question q = tight_question((uint64_t)1 << 30);
    const uint64_t needs = total_of(sl_fixture_answer(&q));

    q = tight_question(needs - missing_bytes + cluster.accelerator.reserved_bytes);
    CU_ASSERT_FALSE(sl_fixture_answer(&q)->fits);
    return q;
}

static void
more_nodes_and_the_host_are_ways_out(void)
{
    sl_question q = question_that_misses(1 << 20);
    const sl_estimate *answer = sl_fixture_answer(&q);
    const sl_fix *nodes = find_fix(answer, "nodes");
    const sl_fix *offload = find_fix(answer, "offload");

    CU_ASSERT_PTR_NOT_NULL_FATAL(nodes);
    CU_ASSERT_EQUAL(nodes->nodes, 2);
    CU_ASSERT_EQUAL(nodes->plan.data, 16);
    CU_ASSERT_TRUE(nodes->fits);
    CU_ASSERT_PTR_NOT_NULL_FATAL(offload);
    CU_ASSERT_TRUE(offload->fits && !offload->time_incomplete);
    CU_ASSERT_TRUE(offload->workload.offload.optimizer != offload->workload.offload.activations);
}

static void
a_cluster_that_is_what_there_is_gets_no_nodes(void)
{
    sl_question q = question_that_misses(1 << 20);

    q.nodes_fixed = true;
    CU_ASSERT_PTR_NULL(find_fix(sl_fixture_answer(&q), "nodes"));
}

static void
a_fix_is_what_its_own_question_answers(void)
{
    sl_question q = question_that_misses(1 << 20);
    software.fragmentation_high_ratio = 1.3; /* what hardly fits may not */
    const sl_estimate answer = *sl_fixture_answer(&q);

    uint32_t sure = 0;

    CU_ASSERT_TRUE(answer.fix_count >= 4);
    for (uint32_t i = 0; i < answer.fix_count; i++) {
        const sl_fix *fix = &answer.fixes[i];
        sl_cluster larger = cluster;
        larger.nodes = fix->nodes;
        sl_question asked = q;
        asked.cluster = &larger;
        asked.workload = fix->workload;
        asked.plan = fix->plan;
        const sl_estimate *own = sl_fixture_answer(&asked);
        CU_ASSERT_EQUAL(total_of(own), fix->device_total_bytes);
        CU_ASSERT_EQUAL(own->fits, fix->fits);
        CU_ASSERT_EQUAL(own->fits_certain, fix->fits_certain);
        sure += fix->fits_certain;
        CU_ASSERT_EQUAL(own->time.step_s, fix->step_s);
    }
    CU_ASSERT_TRUE(sure > 0 && sure < answer.fix_count);
}

static void
what_fits_on_the_same_nodes_comes_first(void)
{
    sl_question q = question_that_misses(1 << 20);
    const sl_estimate *answer = sl_fixture_answer(&q);

    for (uint32_t i = 1; i < answer->fix_count; i++) {
        const sl_fix *before = &answer->fixes[i - 1], *after = &answer->fixes[i];
        CU_ASSERT_TRUE(before->fits || !after->fits);
        if (before->fits == after->fits)
            CU_ASSERT_TRUE(before->nodes <= after->nodes);
    }
}

static const sl_case cases[] = {
    SL_CASE(more_nodes_and_the_host_are_ways_out),
    SL_CASE(a_cluster_that_is_what_there_is_gets_no_nodes),
    SL_CASE(a_fix_is_what_its_own_question_answers),
    SL_CASE(what_fits_on_the_same_nodes_comes_first),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "fixes", cases, sizeof cases / sizeof cases[0]);
}
