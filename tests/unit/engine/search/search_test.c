/* A search answers what enumeration answers, whatever its bounds leave out and whoever runs its
 * units. */
#include <stdlib.h>
#include <string.h>

#include "drawn_question.h"
#include "engine/answer/evaluate.h"
#include "engine_fixture.h"
#include "harness.h"
#include "search_fixture.h"

enum { DRAWN = 160, FOUND_MIN = 30 };

static sl_cluster cluster;
static sl_software software;
static sl_search_outcome outcomes[2];
static sl_errors err;

static bool
same_point(const sl_search_point *a, const sl_search_point *b)
{
    return a->ordinal == b->ordinal && a->cluster == b->cluster &&
           memcmp(a->value, b->value, sizeof a->value) == 0 && a->step_s == b->step_s &&
           a->tokens_per_s == b->tokens_per_s && a->time_to_train_s == b->time_to_train_s &&
           a->cost == b->cost && a->energy_j == b->energy_j &&
           a->peak_reserved_bytes == b->peak_reserved_bytes &&
           a->device_total_bytes == b->device_total_bytes && a->headroom_bytes == b->headroom_bytes;
}

static void
assert_same_answer(const sl_search_outcome *a, const sl_search_outcome *b)
{
    CU_ASSERT_EQUAL_FATAL(a->best_count, b->best_count);
    CU_ASSERT_EQUAL_FATAL(a->front_count, b->front_count);
    for (uint32_t i = 0; i < a->best_count; i++)
        CU_ASSERT_TRUE(same_point(&a->best[i], &b->best[i]));
    for (uint32_t i = 0; i < a->front_count; i++)
        CU_ASSERT_TRUE(same_point(&a->front[i], &b->front[i]));
}

static const sl_search_reason *
find_reason(const sl_search_outcome *outcome, const char *rule)
{
    for (uint32_t i = 0; i < outcome->reason_count; i++)
        if (strcmp(outcome->reasons[i].rule, rule) == 0)
            return &outcome->reasons[i];
    return NULL;
}

/* How many plans lack memory, and which of them least, are no matter of bounds either. */
static void
assert_same_lack(const sl_search_outcome *a, const sl_search_outcome *b)
{
    const sl_search_reason *one = find_reason(a, "out_of_memory");
    const sl_search_reason *other = find_reason(b, "out_of_memory");

    CU_ASSERT_EQUAL_FATAL(one == NULL, other == NULL);
    if (one == NULL)
        return;
    CU_ASSERT_EQUAL(one->count, other->count);
    CU_ASSERT_EQUAL(one->least, other->least);
    CU_ASSERT_TRUE(same_point(&one->nearest, &other->nearest));
}

/* Every size, so that the front has all its four sides; devices that some plans do not fit on. */
static sl_search_request
drawn_request(uint64_t number, sl_drawn *drawn)
{
    static const uint64_t degrees[] = {1, 2, 4}, pipelines[] = {1, 2, 3}, some[] = {1, 2};
    sl_search_request request;

    sl_draw_question(number, drawn);
    drawn->cluster.nodes = 1 + (uint32_t)(number % 2);
    drawn->cluster.accelerators_per_node = 8;
    drawn->cluster.price_per_node_hour = number % 3 == 0 ? 0.0 : 10.0;
    drawn->question.unknown = 0;
    drawn->question.workload.tokens = 1000000000;
    request = sl_request_of(&drawn->question);
    request.space.every_size = true;
    sl_set_values(&request, SL_DIMENSION_TENSOR, 2, degrees);
    sl_set_values(&request, SL_DIMENSION_CONTEXT, 2, degrees);
    sl_set_values(&request, SL_DIMENSION_PIPELINE, 3, pipelines);
    sl_set_values(&request, SL_DIMENSION_VIRTUAL_PIPELINE, 2, some);
    sl_set_values(&request, SL_DIMENSION_MICRO_BATCH, 3, degrees);
    request.limit = 1 + (uint32_t)(number % 7);
    request.front = number % 4 != 0;
    request.objective = (sl_objective)(number % SL_OBJECTIVE_COUNT);
    if (request.objective == SL_OBJECTIVE_COST && drawn->cluster.price_per_node_hour <= 0.0)
        request.objective = SL_OBJECTIVE_ENERGY;
    return request;
}

static void
bounds_leave_the_answer_as_it_is(void)
{
    uint32_t found = 0;
    uint64_t pruned = 0;

    sl_draw_models();
    for (uint64_t number = 0; number < DRAWN; number++) {
        sl_drawn drawn;
        sl_search_request request = drawn_request(number, &drawn);
        request.exhaustive = true;
        if (sl_search_all(&request, false, &outcomes[0], &err) != SL_OK ||
            outcomes[0].feasible == 0)
            continue;
        CU_ASSERT_EQUAL(outcomes[0].pruned, 0);
        request.exhaustive = false;
        CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
        assert_same_answer(&outcomes[0], &outcomes[1]);
        assert_same_lack(&outcomes[0], &outcomes[1]);
        CU_ASSERT_EQUAL(outcomes[0].evaluated, outcomes[1].evaluated + outcomes[1].pruned);
        CU_ASSERT_EQUAL(outcomes[0].refused, outcomes[1].refused);
        found++;
        pruned += outcomes[1].pruned;
    }
    sl_draw_clear();
    CU_ASSERT_TRUE(found >= FOUND_MIN);
    CU_ASSERT_TRUE(pruned > 1000);
}

static void
order_of_work_and_what_scratch_held_do_not_matter(void)
{
    const sl_question q = sl_small_question(&cluster, &software);
    const sl_search_request request = sl_request_of(&q);

    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, true, &outcomes[1], &err), SL_OK);
    assert_same_answer(&outcomes[0], &outcomes[1]);
    CU_ASSERT_EQUAL(outcomes[0].evaluated, outcomes[1].evaluated);
    CU_ASSERT_EQUAL(outcomes[0].pruned, outcomes[1].pruned);
    CU_ASSERT_EQUAL(outcomes[0].feasible, outcomes[1].feasible);
    CU_ASSERT_TRUE(outcomes[0].best_count == 5 && outcomes[0].front_count > 1);
}

/* Every plan of a small space written out by hand, loops and all. */
static void
it_finds_what_loops_over_the_same_values_find(void)
{
    static const uint64_t tensors[] = {1, 2, 4, 8}, pipelines[] = {1, 2, 4}, stages[] = {0, 1},
                          batches[] = {1, 2}, off[] = {0}, modes[] = {0, 2};
    sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);
    static sl_estimate answer;
    double best_s = 0.0;
    uint64_t legal = 0, fitting = 0;

    sl_set_values(&request, SL_DIMENSION_TENSOR, 4, tensors);
    sl_set_values(&request, SL_DIMENSION_PIPELINE, 3, pipelines);
    sl_set_values(&request, SL_DIMENSION_ZERO_STAGE, 2, stages);
    sl_set_values(&request, SL_DIMENSION_MICRO_BATCH, 2, batches);
    sl_set_values(&request, SL_DIMENSION_RECOMPUTE, 2, modes);
    sl_set_values(&request, SL_DIMENSION_SEQUENCE, 1, off);
    sl_set_values(&request, SL_DIMENSION_CONTEXT, 1, batches);
    sl_set_values(&request, SL_DIMENSION_VIRTUAL_PIPELINE, 1, batches);
    sl_set_values(&request, SL_DIMENSION_SCHEDULE, 1, off);
    sl_set_values(&request, SL_DIMENSION_LAYOUT, 1, off);
    sl_set_values(&request, SL_DIMENSION_RECOMPUTE_LAYERS, 1, off);
    request.exhaustive = true;
    for (uint32_t i = 0; i < 4 * 3 * 2 * 2 * 2; i++) {
        sl_priced priced;
        sl_errors refused = {0};
        q.plan.tensor = (uint32_t)tensors[i % 4];
        q.plan.pipeline = (uint32_t)pipelines[i / 4 % 3];
        q.plan.zero_stage = i / 12 % 2;
        q.workload.micro_batch = batches[i / 24 % 2];
        q.workload.recompute = (sl_recompute)modes[i / 48];
        q.plan.data = 16 / q.plan.tensor / q.plan.pipeline;
        /* One rank has no states to shard. */
        if (q.plan.data == 0 || (q.plan.data == 1 && q.plan.zero_stage == 1) ||
            sl_question_check(&q, &refused) != SL_OK)
            continue;
        const sl_combination c = {q.software, q.workload, q.plan};
        sl_evaluate_price(&q, &c, SL_CLOCK_HELD, &priced);
        CU_ASSERT_TRUE_FATAL(sl_evaluate(&q, &c, &priced, &answer));
        legal++;
        fitting += answer.fits;
        if (answer.fits && (best_s <= 0.0 || answer.time.step_s < best_s))
            best_s = answer.time.step_s;
    }
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    CU_ASSERT_EQUAL(outcomes[0].evaluated, legal);
    CU_ASSERT_EQUAL(outcomes[0].feasible, fitting);
    CU_ASSERT_TRUE(best_s > 0.0);
    CU_ASSERT_EQUAL(outcomes[0].best[0].step_s, best_s);
}

/* Plans that a search found, asked on their own; how many of them have a layout of their own. */
static uint32_t
ask_points(const sl_search_request *request, const sl_search_point *points, uint32_t count)
{
    const sl_search *search = NULL;
    uint32_t balanced = 0;

    CU_ASSERT_EQUAL_FATAL(sl_search_of(request, &search, &err), SL_OK);
    for (uint32_t i = 0; i < count; i++) {
        const sl_search_point *point = &points[i];
        sl_cluster used;
        sl_question asked;
        sl_search_question(search, point, &used, &asked);
        const sl_estimate *answer = sl_fixture_answer(&asked);
        CU_ASSERT_EQUAL(answer->time.step_s, point->step_s);
        CU_ASSERT_EQUAL(answer->memory.headroom_bytes, point->headroom_bytes);
        CU_ASSERT_EQUAL(answer->throughput.tokens_per_s, point->tokens_per_s);
        CU_ASSERT_EQUAL(answer->throughput.time_to_train_s, point->time_to_train_s);
        CU_ASSERT_EQUAL(answer->throughput.cost, point->cost);
        CU_ASSERT_EQUAL(answer->throughput.energy_j, point->energy_j);
        balanced += asked.plan.layout_chunks > 0;
    }
    return balanced;
}

static uint32_t
ask_front(const sl_search_request *request)
{
    CU_ASSERT_EQUAL_FATAL(sl_search_all(request, false, &outcomes[0], &err), SL_OK);
    CU_ASSERT_TRUE(outcomes[0].front_count > 0);
    return ask_points(request, outcomes[0].front, outcomes[0].front_count);
}

static uint32_t
ask_best(const sl_search_request *request)
{
    CU_ASSERT_EQUAL_FATAL(sl_search_all(request, false, &outcomes[0], &err), SL_OK);
    return ask_points(request, outcomes[0].best, outcomes[0].best_count);
}

static void
a_point_is_what_its_question_answers(void)
{
    static const uint64_t four[] = {4}, balanced[] = {SL_SEARCH_LAYOUT_BALANCED}, stages[] = {0, 1};
    sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);
    sl_dense_spec spec = sl_fixture_llama();

    (void)ask_front(&request);
    software.on_deepspeed = true; /* which a release says of a workload */
    (void)ask_front(&request);
    software.on_deepspeed = false;
    q.workload.framework = SL_FRAMEWORK_DEEPSPEED; /* bytes a parameter go by the stage */
    software.own_bf16 = true;
    sl_set_values(&request, SL_DIMENSION_ZERO_STAGE, 2, stages);
    (void)ask_front(&request);
    software.own_bf16 = false;
    q.workload.optimizer = SL_OPTIMIZER_ADAFACTOR; /* of flat parts, or of whole tensors */
    (void)ask_front(&request);
    q.workload.optimizer = SL_OPTIMIZER_ADAMW;
    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    request = sl_request_of(&q);
    spec.vocabulary = 512000; /* a head as heavy as several blocks */
    q.model = sl_fixture_model(&spec);
    sl_set_values(&request, SL_DIMENSION_PIPELINE, 1, four);
    sl_set_values(&request, SL_DIMENSION_LAYOUT, 1, balanced);
    CU_ASSERT_TRUE(ask_front(&request) > 0);
}

/* Nothing is divided over one rank; but what BF16_Optimizer holds without ZeRO no stage does. */
static void
one_rank_has_the_stages_that_differ(void)
{
    static const uint64_t stages[] = {0, 1, 2, 3};
    sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    cluster.nodes = cluster.accelerators_per_node = 1;
    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    request.exhaustive = true;
    sl_set_values(&request, SL_DIMENSION_ZERO_STAGE, 4, stages);
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    CU_ASSERT_TRUE(outcomes[0].evaluated > 0);
    software.own_bf16 = true;
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
    CU_ASSERT_EQUAL(outcomes[1].evaluated, 2 * outcomes[0].evaluated);
}

/* What plans share of their cut, and blocks dealt out once for all, are what each has by itself:
 * where some blocks are rebuilt, of one kind and of two, of which a stage has dense ones first. */
static void
what_plans_share_is_what_each_has(void)
{
    static const uint64_t one[] = {1}, pipelines[] = {2, 4}, full[] = {SL_RECOMPUTE_FULL},
                          layers[] = {0, 1, 2, 4, 8};
    sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);
    sl_dense_spec spec = sl_fixture_llama();

    sl_set_values(&request, SL_DIMENSION_CONTEXT, 1, one);
    sl_set_values(&request, SL_DIMENSION_EXPERT, 1, one);
    sl_set_values(&request, SL_DIMENSION_MICRO_BATCH, 1, one);
    sl_set_values(&request, SL_DIMENSION_PIPELINE, 2, pipelines);
    sl_set_values(&request, SL_DIMENSION_VIRTUAL_PIPELINE, 2, layers + 1);
    sl_set_values(&request, SL_DIMENSION_RECOMPUTE, 1, full);
    sl_set_values(&request, SL_DIMENSION_RECOMPUTE_LAYERS, 5, layers);
    request.limit = SL_SEARCH_BEST_MAX;
    spec.blocks = 24;
    spec.vocabulary = 128000;
    q.model = sl_fixture_model(&spec);
    CU_ASSERT_TRUE(ask_best(&request) > 20);
    spec.naming = SL_NAMING_QWEN2_MOE;
    spec.experts = (sl_experts){.count = 8, .per_token = 2, .width = 4096};
    for (uint32_t i = 0; i < 9; i++)
        spec.block[i] = SL_BLOCK_DENSE_MLP;
    q.model = sl_fixture_model(&spec);
    CU_ASSERT_TRUE(ask_best(&request) > 20);
}

static void
nothing_on_the_front_is_beaten_in_everything(void)
{
    const sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    request.space.every_size = true;
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    const sl_search_outcome *o = &outcomes[0];
    CU_ASSERT_EQUAL(o->front[0].ordinal, o->best[0].ordinal);
    for (uint32_t i = 0; i < o->front_count; i++)
        for (uint32_t j = 0; j < o->front_count; j++) {
            const sl_search_point *a = &o->front[i], *b = &o->front[j];
            CU_ASSERT_FALSE(i != j && a->tokens_per_s >= b->tokens_per_s &&
                            a->headroom_bytes >= b->headroom_bytes &&
                            a->value[SL_DIMENSION_ACCELERATORS] <=
                                b->value[SL_DIMENSION_ACCELERATORS] &&
                            a->cost <= b->cost);
        }
}

static void
constraints_hold_for_all_that_is_found(void)
{
    const sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    const sl_search_point free = outcomes[0].best[0];
    request.constraints.max_accelerators = 4;
    request.constraints.headroom_ratio = 0.25;
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
    CU_ASSERT_TRUE_FATAL(outcomes[1].best_count > 0);
    for (uint32_t i = 0; i < outcomes[1].front_count; i++) {
        const sl_search_point *point = &outcomes[1].front[i];
        CU_ASSERT_TRUE(point->value[SL_DIMENSION_ACCELERATORS] <= 4);
        CU_ASSERT_TRUE(
            (double)point->headroom_bytes >=
            0.25 * (double)(cluster.accelerator.memory_bytes - cluster.accelerator.reserved_bytes));
    }
    request.constraints = (sl_constraints){.max_step_s = 0.99 * free.step_s};
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
    CU_ASSERT_EQUAL(outcomes[1].best_count, 0);
    CU_ASSERT_EQUAL(outcomes[1].feasible, 0);
    const sl_search_reason *reason = find_reason(&outcomes[1], "max_step_s");
    CU_ASSERT_PTR_NOT_NULL_FATAL(reason);
    CU_ASSERT_TRUE(reason->has_nearest);
    CU_ASSERT_TRUE(same_point(&reason->nearest, &free));
    CU_ASSERT_DOUBLE_EQUAL(reason->least, 0.01 * free.step_s, 1e-9 * free.step_s);
}

/* A budget and a deadline just above what the best of each takes leave it, just below leave
 * nothing. */
static void
a_deadline_and_a_budget_are_met_or_named(void)
{
    const sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    request.objective = SL_OBJECTIVE_COST;
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    const double cost = outcomes[0].best[0].cost;
    request.objective = SL_OBJECTIVE_TIME_TO_TRAIN;
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    const double lasts_s = outcomes[0].best[0].time_to_train_s;
    request.constraints.deadline_s = 1.001 * lasts_s;
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
    CU_ASSERT_EQUAL(outcomes[1].best[0].time_to_train_s, lasts_s);
    request.constraints = (sl_constraints){.budget = 0.999 * cost};
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
    CU_ASSERT_EQUAL(outcomes[1].best_count, 0);
    request.constraints.budget = 1.001 * cost;
    request.space.every_size = true;
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
    CU_ASSERT_TRUE(outcomes[1].best_count > 0 && outcomes[1].best[0].cost <= 1.001 * cost);
}

/* Nodes are let whole: what a plan leaves unused of one is paid, too. */
static void
a_part_of_a_node_is_paid_whole(void)
{
    const sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    request.objective = SL_OBJECTIVE_COST;
    for (uint64_t size = 4; size <= 16; size *= 2) {
        sl_set_values(&request, SL_DIMENSION_ACCELERATORS, 1, &size);
        CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
        CU_ASSERT_TRUE_FATAL(outcomes[0].best_count > 0);
        const sl_search_point *best = &outcomes[0].best[0];
        const double nodes = size > 8 ? 2.0 : 1.0;
        CU_ASSERT_DOUBLE_EQUAL(best->cost, best->time_to_train_s / 3600.0 * nodes * 20.0,
                               1e-12 * best->cost);
        /* The same budget holds for it. */
        request.constraints.budget = 0.99 * best->cost;
        CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
        CU_ASSERT_EQUAL(outcomes[1].best_count, 0);
        request.constraints.budget = 0.0;
    }
}

static void
the_fewest_accelerators_are_the_fewest_that_hold_it(void)
{
    const sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    request.objective = SL_OBJECTIVE_ACCELERATORS;
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    const uint64_t fewest = outcomes[0].best[0].value[SL_DIMENSION_ACCELERATORS];
    CU_ASSERT_TRUE(fewest >= 1 && fewest < 16);
    if (fewest > 1) {
        request.constraints.max_accelerators = fewest - 1;
        CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
        CU_ASSERT_EQUAL(outcomes[1].best_count, 0);
    }
    /* Less time asks for more of them. */
    request.constraints =
        (sl_constraints){.min_tokens_per_s = 1.01 * outcomes[0].best[0].tokens_per_s};
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
    CU_ASSERT_TRUE(outcomes[1].best_count > 0);
    CU_ASSERT_TRUE(outcomes[1].best[0].value[SL_DIMENSION_ACCELERATORS] > fewest);
}

static void
sequences_beyond_the_critical_batch_earn_nothing(void)
{
    static const uint64_t batches[] = {64, 256};
    const sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    sl_set_values(&request, SL_DIMENSION_GLOBAL_BATCH, 2, batches);
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    CU_ASSERT_EQUAL(outcomes[0].best[0].value[SL_DIMENSION_GLOBAL_BATCH], 256);
    const double rate = outcomes[0].best[0].tokens_per_s;
    request.constraints.critical_batch = 64;
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
    CU_ASSERT_EQUAL(outcomes[1].best[0].value[SL_DIMENSION_GLOBAL_BATCH], 64);
    CU_ASSERT_TRUE(outcomes[1].best[0].tokens_per_s < rate);
}

static void
several_clusters_are_one_search(void)
{
    const sl_question first = sl_small_question(&cluster, &software);
    sl_cluster faster = cluster;
    sl_question questions[2] = {first, first};
    sl_search_request request = sl_request_of(questions);

    faster.accelerator.gemm.peak_flops_per_s *= 2.0;
    questions[1].cluster = &faster;
    request.question_count = 2;
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    CU_ASSERT_EQUAL(outcomes[0].best[0].cluster, 1);
    request.question_count = 1;
    request.questions = &questions[1];
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[1], &err), SL_OK);
    CU_ASSERT_EQUAL(outcomes[1].best[0].step_s, outcomes[0].best[0].step_s);
}

static void
expect_refusal(const sl_search_request *request, const char *rule, const char *pointer)
{
    CU_ASSERT_NOT_EQUAL_FATAL(sl_search_all(request, false, &outcomes[0], &err), SL_OK);
    CU_ASSERT_TRUE_FATAL(err.count > 0);
    CU_ASSERT_STRING_EQUAL(err.list[0].rule, rule);
    CU_ASSERT_STRING_EQUAL(err.list[0].pointer, pointer);
}

static void
what_no_plan_could_have_is_refused_by_name(void)
{
    static const uint64_t none[] = {0}, seven[] = {7}, three[] = {3};
    sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    sl_set_values(&request, SL_DIMENSION_TENSOR, 1, none);
    expect_refusal(&request, "out_of_range", "/space");
    request = sl_request_of(&q);
    sl_set_values(&request, SL_DIMENSION_ACCELERATORS, 1, seven);
    expect_refusal(&request, "empty_space", "/space/accelerators");
    request = sl_request_of(&q);
    request.space.nodes = request.space.of[SL_DIMENSION_TENSOR];
    request.space.nodes.count = 1;
    request.space.nodes.list[0] = three[0];
    expect_refusal(&request, "empty_space", "/space/nodes");
    q.workload.tokens = 0;
    request = sl_request_of(&q);
    request.objective = SL_OBJECTIVE_ENERGY;
    expect_refusal(&request, "needs_tokens", "/workload/tokens");
    q.workload.tokens = 1;
    cluster.price_per_node_hour = 0.0;
    request.objective = SL_OBJECTIVE_COST;
    expect_refusal(&request, "needs_price", "/cluster/price_per_node_hour");
}

/* Legal for nobody: each class is counted, and there is no answer. */
static void
rules_that_forbid_plans_are_counted(void)
{
    static const uint64_t seven[] = {7}, one[] = {1};
    const sl_question q = sl_small_question(&cluster, &software);
    sl_search_request request = sl_request_of(&q);

    sl_set_values(&request, SL_DIMENSION_TENSOR, 1, one);
    sl_set_values(&request, SL_DIMENSION_PIPELINE, 1, seven);
    CU_ASSERT_EQUAL_FATAL(sl_search_all(&request, false, &outcomes[0], &err), SL_OK);
    CU_ASSERT_EQUAL(outcomes[0].best_count, 0);
    CU_ASSERT_EQUAL(outcomes[0].evaluated, 0);
    CU_ASSERT_TRUE_FATAL(outcomes[0].reason_count >= 1);
    CU_ASSERT_STRING_EQUAL(outcomes[0].reasons[0].rule, "world_size_mismatch");
    CU_ASSERT_EQUAL(outcomes[0].reasons[0].count, outcomes[0].refused);
}

static const sl_case cases[] = {
    SL_CASE(bounds_leave_the_answer_as_it_is),
    SL_CASE(order_of_work_and_what_scratch_held_do_not_matter),
    SL_CASE(it_finds_what_loops_over_the_same_values_find),
    SL_CASE(a_point_is_what_its_question_answers),
    SL_CASE(one_rank_has_the_stages_that_differ),
    SL_CASE(what_plans_share_is_what_each_has),
    SL_CASE(nothing_on_the_front_is_beaten_in_everything),
    SL_CASE(constraints_hold_for_all_that_is_found),
    SL_CASE(a_deadline_and_a_budget_are_met_or_named),
    SL_CASE(a_part_of_a_node_is_paid_whole),
    SL_CASE(the_fewest_accelerators_are_the_fewest_that_hold_it),
    SL_CASE(sequences_beyond_the_critical_batch_earn_nothing),
    SL_CASE(several_clusters_are_one_search),
    SL_CASE(what_no_plan_could_have_is_refused_by_name),
    SL_CASE(rules_that_forbid_plans_are_counted),
};

int
main(int argc, char **argv)
{
    if (!sl_search_fixture_open())
        return EXIT_FAILURE;
    const int status = sl_run_cases(argc, argv, "search", cases, sizeof cases / sizeof cases[0]);
    sl_search_fixture_close();
    return status;
}
