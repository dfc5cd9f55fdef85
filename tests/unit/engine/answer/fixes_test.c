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

/* What lacks with devices goes to no host that has no room for it. */
static void
no_fix_leaves_a_node_short(void)
{
    sl_question q = question_that_misses(1 << 20);
    cluster.host_memory_bytes = 1 << 20;
    const sl_estimate answer = *sl_fixture_answer(&q);

    CU_ASSERT_TRUE(answer.fix_count > 0);
    CU_ASSERT_PTR_NULL(find_fix(&answer, "offload"));
    for (uint32_t i = 0; i < answer.fix_count; i++) {
        const sl_workload *w = &answer.fixes[i].workload;
        CU_ASSERT_FALSE(w->offload.optimizer || w->offload.activations);
    }
    cluster.host_memory_bytes = (uint64_t)1 << 40;
    CU_ASSERT_PTR_NOT_NULL(find_fix(sl_fixture_answer(&q), "offload"));
}

/* A byte that a node lacks is what binds, and the optimizer may come back. */
static void
a_node_that_is_short_binds(void)
{
    sl_question q = tight_question((uint64_t)80 << 30);

    q.workload.offload.optimizer = true;
    const uint64_t needs = sl_fixture_answer(&q)->memory.host_per_node.bytes;
    cluster.host_memory_bytes = needs;
    CU_ASSERT_TRUE(sl_fixture_answer(&q)->fits_certain);
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->memory.host_lacking_bytes, 0);
    cluster.host_memory_bytes = needs - 1;
    const sl_estimate *answer = sl_fixture_answer(&q);
    CU_ASSERT_TRUE(answer->fits && !answer->fits_certain);
    CU_ASSERT_EQUAL(answer->memory.host_lacking_bytes, 1);
    CU_ASSERT_EQUAL(answer->memory.host_room_bytes, needs - 1);
    sl_expect_text(answer->binding_limit, "host_memory", "limit");
    const sl_fix *back = find_fix(answer, "offload");
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_TRUE(back->fits_certain);
    CU_ASSERT_FALSE(back->workload.offload.optimizer &&
                    back->workload.offload.optimizer_fraction <= 0.0);
}

/* Devices and a node lack memory: what was offloaded comes back beside a change that makes room. */
static void
what_is_short_of_both_gets_both(void)
{
    sl_question q = tight_question((uint64_t)1 << 30);

    q.workload.offload.activations = true;
    q.nodes_fixed = true;
    const uint64_t needs = total_of(sl_fixture_answer(&q));
    q = tight_question(needs - (1 << 20) + cluster.accelerator.reserved_bytes);
    q.workload.offload.activations = true;
    q.nodes_fixed = true;
    cluster.host_memory_bytes = sl_fixture_answer(&q)->memory.host_per_node.bytes / 16;
    const sl_estimate *answer = sl_fixture_answer(&q);

    CU_ASSERT_TRUE(!answer->fits && answer->memory.host_lacking_bytes > 0);
    uint32_t back = 0;
    for (uint32_t i = 0; i < answer->fix_count; i++)
        back += answer->fixes[i].fits && !answer->fixes[i].workload.offload.activations;
    CU_ASSERT_TRUE(back > 0);
}

/* Experts that every rank holds are what most of the memory is. */
static void
experts_go_over_ranks(void)
{
    (void)tight_question((uint64_t)1 << 30);

    sl_question q = sl_fixture_mixture_question(&cluster, &software);
    q.plan.zero_stage = 0;
    const uint64_t needs = total_of(sl_fixture_answer(&q));

    cluster.accelerator.memory_bytes = needs * 15 / 16 + cluster.accelerator.reserved_bytes;
    const sl_estimate *answer = sl_fixture_answer(&q);
    const sl_fix *expert = find_fix(answer, "expert");

    CU_ASSERT_FALSE(answer->fits);
    CU_ASSERT_PTR_NOT_NULL_FATAL(expert);
    CU_ASSERT_TRUE(expert->fits && expert->plan.expert > 1);
    CU_ASSERT_PTR_NULL(expert->with);
}

/* The degree that is enough, not the next one. */
static void
a_degree_doubles_until_it_fits(void)
{
    sl_question q = tight_question((uint64_t)1 << 30);

    q.plan.tensor = 4;
    q.plan.data = 2;
    const uint64_t needs = total_of(sl_fixture_answer(&q));
    q = tight_question(needs + cluster.accelerator.reserved_bytes);
    const sl_fix *tensor = find_fix(sl_fixture_answer(&q), "tensor");

    CU_ASSERT_PTR_NOT_NULL_FATAL(tensor);
    CU_ASSERT_EQUAL(tensor->plan.tensor, 4);
    CU_ASSERT_TRUE(tensor->fits);
}

/* Where no single change is enough, two are, and say so. */
static void
pairs_come_where_nothing_single_is_enough(void)
{
    uint32_t pairs = 0;

    for (uint64_t eighths = 16; eighths <= 64 && pairs == 0; eighths++) {
        sl_question q = tight_question(eighths << 27);
        q.nodes_fixed = true;
        const sl_estimate *answer = sl_fixture_answer(&q);
        for (uint32_t i = 0; i < answer->fix_count; i++) {
            const sl_fix *fix = &answer->fixes[i];
            if (fix->with == NULL)
                continue;
            pairs++;
            CU_ASSERT_TRUE(fix->fits);
            for (uint32_t j = 0; j < answer->fix_count; j++)
                CU_ASSERT_FALSE(answer->fixes[j].with == NULL && answer->fixes[j].fits_certain);
        }
    }
    CU_ASSERT_TRUE(pairs > 0);
}

/* On a device that lacks a little of what the question needs. */
static const sl_estimate *
answer_that_misses(sl_question *q, uint64_t missing_bytes)
{
    const uint64_t needs = total_of(sl_fixture_answer(q));

    cluster.accelerator.memory_bytes = needs - missing_bytes + cluster.accelerator.reserved_bytes;
    const sl_estimate *answer = sl_fixture_answer(q);
    CU_ASSERT_FALSE(answer->fits);
    return answer;
}

static sl_question
sharded_question(void)
{
    sl_question q = tight_question((uint64_t)1 << 28);

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    q.nodes_fixed = true;
    return q;
}

/* What is gathered goes again, and the peak at the head gets by with a loss in place of its logits:
 * neither changes a result. */
static void
losses_and_gathered_weights_are_ways_out(void)
{
    sl_question q = sharded_question();

    q.plan.reshard = SL_RESHARD_NEVER;
    q.workload.loss = SL_LOSS_EAGER;
    const sl_estimate *answer = answer_that_misses(&q, 1 << 24);
    const sl_fix *reshard = find_fix(answer, "reshard_after_forward");
    const sl_fix *loss = find_fix(answer, "loss");

    CU_ASSERT_PTR_NOT_NULL_FATAL(reshard);
    CU_ASSERT_TRUE(reshard->fits && reshard->plan.reshard == SL_RESHARD_ALWAYS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(loss);
    CU_ASSERT_TRUE(loss->fits && loss->workload.loss == SL_LOSS_FUSED);
    CU_ASSERT_FALSE(reshard->numerics_differ || loss->numerics_differ);
}

/* Frozen weights in 4 bits are another run: that is said, and comes after what is the same. */
static void
adapters_on_rounded_weights_come_last(void)
{
    sl_question q = sharded_question();
    bool other = false;

    q.workload.adapter =
        (sl_adapter){.method = SL_ADAPTER_LORA, .rank = 16, .base = SL_ADAPTER_BASE_BF16};
    const sl_estimate *answer = answer_that_misses(&q, 1 << 26);

    CU_ASSERT_PTR_NOT_NULL(find_fix(answer, "adapter"));
    for (uint32_t i = 0; i < answer->fix_count; i++) {
        const sl_fix *fix = &answer->fixes[i];
        const bool rounded = fix->workload.adapter.base == SL_ADAPTER_BASE_NF4;
        CU_ASSERT_EQUAL(fix->numerics_differ, rounded);
        CU_ASSERT_TRUE(rounded || !other);
        other = other || rounded;
    }
    q.workload.adapter.base = SL_ADAPTER_BASE_NF4;
    CU_ASSERT_PTR_NULL(find_fix(sl_fixture_answer(&q), "adapter"));
}

/* Of one kind only what is faster or surer; with something that fits nothing that does not, and
 * nothing twice as slow that is no surer. */
static void
nothing_stands_in_the_way_of_what_helps(void)
{
    for (uint64_t eighths = 16; eighths <= 128; eighths++) {
        sl_question q = tight_question(eighths << 27);
        const sl_estimate *answer = sl_fixture_answer(&q);
        for (uint32_t i = 1; i < answer->fix_count; i++) {
            const sl_fix *first = &answer->fixes[0], *fix = &answer->fixes[i];
            CU_ASSERT_TRUE(fix->fits == first->fits);
            if (first->fits_certain >= fix->fits_certain && fix->fits)
                CU_ASSERT_TRUE(fix->step_s <= 2.0 * first->step_s);
            for (uint32_t j = 0; j < i; j++) {
                const sl_fix *before = &answer->fixes[j];
                CU_ASSERT_FALSE(before->what == fix->what && before->with == fix->with &&
                                before->fits_certain >= fix->fits_certain &&
                                before->step_s <= fix->step_s &&
                                before->device_total_bytes <= fix->device_total_bytes);
            }
        }
    }
}

static const sl_case cases[] = {
    SL_CASE(more_nodes_and_the_host_are_ways_out),
    SL_CASE(a_cluster_that_is_what_there_is_gets_no_nodes),
    SL_CASE(a_fix_is_what_its_own_question_answers),
    SL_CASE(what_fits_on_the_same_nodes_comes_first),
    SL_CASE(experts_go_over_ranks),
    SL_CASE(a_degree_doubles_until_it_fits),
    SL_CASE(pairs_come_where_nothing_single_is_enough),
    SL_CASE(losses_and_gathered_weights_are_ways_out),
    SL_CASE(adapters_on_rounded_weights_come_last),
    SL_CASE(nothing_stands_in_the_way_of_what_helps),
    SL_CASE(no_fix_leaves_a_node_short),
    SL_CASE(a_node_that_is_short_binds),
    SL_CASE(what_is_short_of_both_gets_both),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "fixes", cases, sizeof cases / sizeof cases[0]);
}
