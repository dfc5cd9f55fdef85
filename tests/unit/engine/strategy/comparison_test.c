/* Strategies and ways of fine-tuning side by side: what must hold between them whatever the
 * model. */
#include <string.h>

#include "engine/strategy/comparison.h"
#include "engine/strategy/scaling.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_model plain;
static sl_cluster cluster;
static sl_software software;
static sl_question question;
static sl_estimate scratch, answer;
static sl_comparison comparison;
static sl_tuning_comparison tuning;

/* A Llama of 1.3 B parameters, or one of `blocks` blocks; micro-batch and recomputation open. */
static void
ask(uint32_t nodes, uint32_t per_node, uint32_t blocks)
{
    sl_dense_spec spec = sl_fixture_llama();

    spec.blocks = blocks > 0 ? blocks : spec.blocks;
    cluster = sl_fixture_cluster(nodes);
    cluster.accelerators_per_node = per_node;
    software = sl_fixture_software();
    memcpy(software.date, "2024-01", sizeof "2024-01");
    question = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    question.workload.global_batch = 128;
    question.unknown =
        SL_UNKNOWN_MICRO_BATCH | SL_UNKNOWN_RECOMPUTE | SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT;
}

static sl_comparison_ask
asked(void)
{
    sl_comparison_ask out = {.question = &question};

    for (uint32_t f = 0; f < SL_FRAMEWORK_COUNT; f++)
        out.releases[f] = (sl_releases){&software, 1};
    return out;
}

static void
compare(void)
{
    const sl_comparison_ask a = asked();

    memset(&comparison, 0, sizeof comparison);
    for (uint32_t i = SL_STRATEGY_GIVEN + 1; i < SL_STRATEGY_COUNT; i++)
        comparison.asked[i] = true;
    sl_comparison_answer(&a, &scratch, &answer, &comparison);
}

static const sl_entry *
entry(sl_strategy strategy)
{
    const sl_entry *found = &comparison.strategies[strategy];

    CU_ASSERT_TRUE_FATAL(found->legal);
    return found;
}

static uint64_t
total(sl_strategy strategy)
{
    return entry(strategy)->fullest.device_total_bytes;
}

static void
expect_refused(sl_strategy strategy, const char *rule)
{
    const sl_entry *found = &comparison.strategies[strategy];

    CU_ASSERT_FALSE(found->legal);
    if (!found->legal)
        CU_ASSERT_STRING_EQUAL(found->refused.rule, rule);
}

static void
dp_is_of_one_node_and_hybrid_sharding_of_several(void)
{
    ask(1, 8, 0);
    compare();
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_DP)->plan.data, 8);
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_DP)->failure.copies_left, 0);
    expect_refused(SL_STRATEGY_HSDP, "one_node");
    ask(2, 8, 0);
    compare();
    expect_refused(SL_STRATEGY_DP, "one_node");
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_HSDP)->plan.shard_group, 8);
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_HSDP)->failure.copies_left, 1);
}

/* Same micro-batch and recomputation, or the faster of two that fit may need more. Of a model that is
 * not much larger than the 1e9 elements and the bucket that stage 3 has room for it saves nothing. */
static void
each_stage_of_zero_needs_less_than_the_one_before(void)
{
    static const sl_strategy order[] = {SL_STRATEGY_DDP, SL_STRATEGY_ZERO_1, SL_STRATEGY_ZERO_2,
                                        SL_STRATEGY_ZERO_3};

    ask(2, 8, 64);
    question.unknown &= ~(uint32_t)(SL_UNKNOWN_MICRO_BATCH | SL_UNKNOWN_RECOMPUTE);
    question.workload.recompute = SL_RECOMPUTE_FULL;
    compare();
    for (uint32_t i = 1; i < sizeof order / sizeof order[0]; i++)
        CU_ASSERT_TRUE(total(order[i]) <= total(order[i - 1]));
    CU_ASSERT_TRUE(total(SL_STRATEGY_FSDP_FULL_SHARD) <= total(SL_STRATEGY_FSDP_SHARD_GRAD_OP));
    CU_ASSERT_TRUE(total(SL_STRATEGY_FSDP_FULL_SHARD) <= total(SL_STRATEGY_HSDP));
    CU_ASSERT_TRUE(total(SL_STRATEGY_OFFLOAD) <= total(SL_STRATEGY_ZERO_2));
}

/* Sixteen layers alike: no stage takes longer than another. */
static void
ask_plain(void)
{
    static const sl_plain_layer layer = {"dense", 16, 1000000, 3000000, 80000000000, 1000000};

    ask(1, 8, 0);
    sl_model_describe_plain(&layer, 1, &plain);
    question.model = &plain;
    question.workload.sequence_length = 1;
    question.workload.attention = SL_ATTENTION_UNFUSED;
    question.unknown = SL_UNKNOWN_MICRO_BATCH | SL_UNKNOWN_RECOMPUTE;
}

static void
layer_wise_leaves_all_but_one_device_idle(void)
{
    ask_plain();
    compare();
    const sl_entry *wise = entry(SL_STRATEGY_LAYER_WISE);
    CU_ASSERT_EQUAL(wise->plan.pipeline, 8);
    CU_ASSERT_EQUAL(wise->plan.data, 1);
    sl_expect_near(wise->time.bubble_ratio, 7.0 / 8.0, 1e-9, "seven of eight wait");
    CU_ASSERT_EQUAL(wise->scaling.largest_layer_bytes, 18000000);
    CU_ASSERT_EQUAL(wise->failure.copies_left, 0);
    const sl_entry *replicated = entry(SL_STRATEGY_LAYER_WISE_DDP);
    CU_ASSERT_EQUAL(replicated->plan.pipeline * replicated->plan.data, 8);
    CU_ASSERT_TRUE(replicated->plan.pipeline > 1 && replicated->plan.data > 1);
}

static void
plain_layers_have_no_tensors_to_cut(void)
{
    ask_plain();
    compare();
    expect_refused(SL_STRATEGY_TENSOR, "no_tensors");
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_DDP)->workload.micro_batch, 16);
    CU_ASSERT_TRUE(entry(SL_STRATEGY_PIPELINE)->fits && entry(SL_STRATEGY_DP)->fits);
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_MIXED)->plan.tensor, 1);
}

static void
one_device_has_nothing_to_divide(void)
{
    ask(1, 1, 0);
    compare();
    for (uint32_t i = SL_STRATEGY_ZERO_1; i <= SL_STRATEGY_LAYER_WISE_DDP; i++)
        expect_refused((sl_strategy)i, "one_device");
    expect_refused(SL_STRATEGY_MIXED, "one_device");
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_CPU_LAYERS)->workload.framework, SL_FRAMEWORK_DDP);
    CU_ASSERT_TRUE(entry(SL_STRATEGY_OFFLOAD)->workload.offload.optimizer);
}

static void
words_of_one_framework_stop_no_strategy_of_another(void)
{
    ask(1, 8, 0);
    sl_accelerator *const part = &cluster.accelerator;
    part->peak_flops_per_s[SL_PRECISION_FP8] = 200e12;
    memcpy(part->attention[SL_ATTENTION_CUDNN], part->attention[SL_ATTENTION_FLASH2],
           sizeof part->attention[SL_ATTENTION_CUDNN]);
    question.unknown &= ~(uint32_t)SL_UNKNOWN_ATTENTION;
    question.workload.attention = SL_ATTENTION_CUDNN;
    question.workload.precision = SL_PRECISION_FP8;
    question.workload.fp8.attention = true;
    compare();
    CU_ASSERT_FALSE(entry(SL_STRATEGY_ZERO_3)->workload.fp8.attention);
    CU_ASSERT_FALSE(entry(SL_STRATEGY_FSDP_FULL_SHARD)->workload.fp8.attention);
    CU_ASSERT_TRUE(entry(SL_STRATEGY_TENSOR)->workload.fp8.attention);

    question.workload.fp8.attention = false;
    question.workload.fp8.primary_weights = question.workload.fp8.transposed_anew = true;
    question.workload.fp8.activation_inputs = true;
    question.workload.fp8.recipe = SL_RECIPE_CURRENT;
    question.workload.recompute = SL_RECOMPUTE_MODULES;
    question.workload.recompute_modules = 1u << SL_MODULE_MLP;
    question.unknown &= ~(uint32_t)SL_UNKNOWN_RECOMPUTE;
    compare();
    CU_ASSERT_FALSE(entry(SL_STRATEGY_ZERO_3)->workload.fp8.primary_weights);
    CU_ASSERT_FALSE(entry(SL_STRATEGY_ZERO_3)->workload.fp8.activation_inputs);
    CU_ASSERT_TRUE(entry(SL_STRATEGY_ZERO_3)->workload.recompute < SL_RECOMPUTE_WORDS);
    CU_ASSERT_TRUE(entry(SL_STRATEGY_TENSOR)->workload.fp8.primary_weights);
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_TENSOR)->workload.recompute, SL_RECOMPUTE_MODULES);

    ask(1, 8, 0);
    question.unknown &= ~(uint32_t)SL_UNKNOWN_RECOMPUTE;
    question.workload.framework = SL_FRAMEWORK_FSDP2;
    question.workload.mlp_tiles = 8;
    compare();
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_FSDP_FULL_SHARD)->workload.mlp_tiles, 8);
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_ZERO_3)->workload.mlp_tiles, 8);
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_TENSOR)->workload.mlp_tiles, 0);
}

/* What does not divide is said at its place, once for each that it stops. */
static void
a_batch_without_a_sequence_for_each_replica_is_refused(void)
{
    ask(1, 8, 0);
    question.workload.global_batch = 4;
    compare();
    expect_refused(SL_STRATEGY_DDP, "not_divisible");
    CU_ASSERT_STRING_EQUAL(comparison.strategies[SL_STRATEGY_DDP].refused.pointer,
                           "/parallelism/data");
    CU_ASSERT_TRUE(entry(SL_STRATEGY_MIXED)->plan.data <= 4);
    CU_ASSERT_TRUE(comparison.placed);
}

/* As many blocks on the host as it takes, and one less does not fit. */
static void
the_host_gets_as_few_blocks_as_fit(void)
{
    ask(1, 1, 0);
    question.unknown = 0;
    question.workload.attention = SL_ATTENTION_FLASH2;
    cluster.accelerator.memory_bytes = 1u << 30; /* every empty segment is given back */
    compare();
    cluster.accelerator.memory_bytes = total(SL_STRATEGY_DDP) - (256u << 20);
    compare();
    const sl_entry *cpu = entry(SL_STRATEGY_CPU_LAYERS);
    CU_ASSERT_FALSE(entry(SL_STRATEGY_DDP)->fits);
    CU_ASSERT_TRUE(cpu->fits);
    CU_ASSERT_EQUAL(cpu->plan.host_runs[0].last, 15);
    sl_question fewer = cpu->question;
    fewer.plan.host_runs[0].first++;
    fewer.plan.host_run_count = fewer.plan.host_runs[0].first <= 15;
    CU_ASSERT_FALSE(sl_fixture_answer(&fewer)->fits);
}

static void
an_entry_is_what_its_own_question_answers(void)
{
    ask(2, 8, 0);
    compare();
    for (uint32_t i = SL_STRATEGY_DDP; i < SL_STRATEGY_COUNT; i++) {
        const sl_entry *e = &comparison.strategies[i];
        if (!e->legal)
            continue;
        const sl_estimate *own = sl_fixture_answer(&e->question);
        CU_ASSERT_EQUAL(own->time.step_s, e->time.step_s);
        CU_ASSERT_EQUAL(own->memory.headroom_bytes, e->headroom_bytes);
        CU_ASSERT_EQUAL(own->fits, e->fits);
        CU_ASSERT_EQUAL(own->fits_certain, e->fits_certain);
    }
}

/* Fewer bytes on each device, down to what nothing fits: a recommendation is one that fits. */
static void
what_is_recommended_fits_and_is_not_much_slower_than_any(void)
{
    for (uint32_t gib = 32; gib > 0; gib /= 2) {
        bool any = false;
        ask(1, 8, 0);
        cluster.accelerator.memory_bytes = (uint64_t)gib << 30;
        compare();
        for (uint32_t i = SL_STRATEGY_DP; i < SL_STRATEGY_COUNT; i++)
            any = any || (comparison.strategies[i].legal && comparison.strategies[i].fits);
        CU_ASSERT_EQUAL(any, comparison.recommended != SL_NOTHING);
        if (!any) {
            CU_ASSERT_NOT_EQUAL(comparison.nearest, SL_NOTHING);
            continue;
        }
        const sl_entry *best = &comparison.strategies[comparison.recommended];
        CU_ASSERT_TRUE(best->fits);
        for (uint32_t i = SL_STRATEGY_DP; i < SL_STRATEGY_COUNT; i++)
            if (comparison.strategies[i].legal && comparison.strategies[i].fits)
                CU_ASSERT_TRUE(best->time.step_s <=
                               SL_COMPARISON_ALIKE_RATIO * comparison.strategies[i].time.step_s);
    }
    CU_ASSERT_EQUAL(comparison.recommended, SL_NOTHING);
}

/* Of plans alike, the simpler; a situation's best is one that suits it. */
static void
a_simpler_strategy_within_three_percent_is_preferred(void)
{
    ask(1, 8, 0);
    compare();
    const uint32_t chosen = sl_strategy_complexity((sl_strategy)comparison.recommended);
    for (uint32_t i = SL_STRATEGY_DP; i < SL_STRATEGY_COUNT; i++) {
        const sl_entry *e = &comparison.strategies[i];
        if (e->legal && e->fits &&
            e->time.step_s <=
                SL_COMPARISON_ALIKE_RATIO * comparison.strategies[comparison.fastest].time.step_s)
            CU_ASSERT_TRUE(sl_strategy_complexity((sl_strategy)i) >= chosen);
    }
    CU_ASSERT_EQUAL(comparison.situation, SL_SITUATION_DATA_LARGE);
    for (uint32_t s = 0; s < SL_SITUATION_COUNT; s++)
        if (comparison.best_of[s] != SL_NOTHING)
            CU_ASSERT_TRUE(sl_strategy_suits((sl_strategy)comparison.best_of[s], (sl_situation)s));
}

/* The width at which replicas wait more than a tenth of the step: half of it is below. */
static void
limits_are_numbers_of_the_engine(void)
{
    ask(2, 8, 0);
    compare();
    const sl_entry *ddp = entry(SL_STRATEGY_DDP);
    CU_ASSERT_EQUAL(ddp->scaling.replicas_limit, 128);
    CU_ASSERT_TRUE(ddp->scaling.data_exposed_from > 0);
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_TENSOR)->scaling.tensor_limit, 8);
    const sl_entry *stages = entry(SL_STRATEGY_PIPELINE);
    CU_ASSERT_EQUAL(stages->scaling.stages_limit, 18);
    CU_ASSERT_TRUE(stages->scaling.small_bubble_batch >= question.workload.global_batch);
    sl_question larger = stages->question;
    larger.workload.global_batch = stages->scaling.small_bubble_batch;
    CU_ASSERT_TRUE(sl_fixture_answer(&larger)->time.bubble_ratio <= 0.1);
    for (uint32_t i = 0; i < ddp->time.communication_count; i++)
        CU_ASSERT_TRUE(ddp->latency_s[i] > 0.0 &&
                       ddp->latency_s[i] < ddp->time.communication[i].seconds);
}

static void
a_lost_device_costs_a_restart_and_half_an_interval(void)
{
    ask(2, 8, 0);
    cluster.operation = (sl_operating){.failures_per_node_day = 0.5,
                                       .restart_s = 864.0,
                                       .checkpoint_bytes_per_s = 1e9,
                                       .checkpoint_interval_s = 1728.0};
    compare();
    const sl_failure *ddp = &entry(SL_STRATEGY_DDP)->failure;
    sl_expect_near(ddp->seconds_lost, 864.0 + 864.0, 1e-12, "restart and half an interval");
    sl_expect_near(ddp->mean_time_between_failures_s, 86400.0, 1e-12, "one a day of two nodes");
    CU_ASSERT_EQUAL(ddp->ranks_stopped, 16);
    CU_ASSERT_EQUAL(ddp->copies_left, 15);
    CU_ASSERT_EQUAL(entry(SL_STRATEGY_ZERO_1)->failure.copies_left, 0);
}

/* BF16_Optimizer's masters and moments are divided though no stage says so. */
static void
what_divides_masters_leaves_no_copy(void)
{
    sl_failure failure;

    ask(1, 8, 0);
    question.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    question.workload.precision = SL_PRECISION_BF16;
    question.plan.data = 8;
    question.plan.zero_stage = 0;
    sl_failure_measure(sl_fixture_answer(&question), &failure);
    CU_ASSERT_EQUAL(failure.copies_left, 7);
    software.own_bf16 = true;
    sl_failure_measure(sl_fixture_answer(&question), &failure);
    CU_ASSERT_EQUAL(failure.copies_left, 0);
}

static void
multi_token_prediction_is_for_megatron_alone(void)
{
    sl_comparison_ask a;

    ask(1, 8, 0);
    a = asked();
    a.predicts = true;
    memset(&comparison, 0, sizeof comparison);
    comparison.asked[SL_STRATEGY_DDP] = comparison.asked[SL_STRATEGY_TENSOR] = true;
    sl_comparison_answer(&a, &scratch, &answer, &comparison);
    expect_refused(SL_STRATEGY_DDP, "not_modelled");
    CU_ASSERT_TRUE(comparison.strategies[SL_STRATEGY_TENSOR].legal);
}

static const sl_entry *
tuned(sl_tuning_method method, bool recompute, bool fused)
{
    for (uint32_t i = 0; i < tuning.count; i++)
        if (tuning.choices[i].method == method && tuning.choices[i].recompute == recompute &&
            (tuning.choices[i].kernel != SL_ATTENTION_UNFUSED) == fused)
            return &tuning.entries[i];
    CU_FAIL_FATAL("no such choice");
    return NULL;
}

static uint64_t
tuned_bytes(sl_tuning_method method, bool recompute, bool fused)
{
    const sl_entry *e = tuned(method, recompute, fused);

    CU_ASSERT_TRUE_FATAL(e->legal);
    return e->fullest.device_total_bytes;
}

static void
tune(void)
{
    ask(1, 8, 0);
    question.unknown = SL_UNKNOWN_DROPOUT;
    question.workload.framework = SL_FRAMEWORK_DDP;
    question.plan.data = 8;
    question.plan.expert_tensor = 1;
    sl_tuning_answer(&question, &scratch, &answer, &tuning);
}

static void
every_saving_of_fine_tuning_saves(void)
{
    tune();
    CU_ASSERT_EQUAL(tuning.count, SL_TUNINGS_MAX);
    for (uint32_t form = 0; form < 4; form++) {
        const bool again = form >= 2, fused = form % 2 == 1;
        CU_ASSERT_TRUE(tuned_bytes(SL_TUNING_LORA, again, fused) <
                       tuned_bytes(SL_TUNING_FULL, again, fused));
        for (uint32_t m = SL_TUNING_LORA + 1; m < SL_TUNING_METHOD_COUNT; m++)
            CU_ASSERT_TRUE(tuned_bytes((sl_tuning_method)m, again, fused) <
                           tuned_bytes((sl_tuning_method)(m - 1), again, fused));
    }
    for (uint32_t m = 0; m < SL_TUNING_METHOD_COUNT; m++) {
        const sl_tuning_method method = (sl_tuning_method)m;
        CU_ASSERT_TRUE(tuned_bytes(method, true, false) < tuned_bytes(method, false, false));
        CU_ASSERT_TRUE(tuned_bytes(method, false, true) < tuned_bytes(method, false, false));
        CU_ASSERT_TRUE(tuned(method, true, true)->time.step_s >
                       tuned(method, false, true)->time.step_s);
    }
}

/* LoRA that nobody described is what an estimate takes an empty adapter for. */
static void
adapters_train_in_what_the_framework_makes_them_of(void)
{
    const sl_tuning lora = {.method = SL_TUNING_LORA, .kernel = SL_ATTENTION_FLASH2};

    ask(1, 8, 0);
    question.workload.framework = SL_FRAMEWORK_DDP;
    CU_ASSERT_FALSE(sl_tuning_question(&question, &lora).workload.adapter.half);
    question.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    CU_ASSERT_TRUE(sl_tuning_question(&question, &lora).workload.adapter.half);
    question.workload.framework = SL_FRAMEWORK_MEGATRON;
    CU_ASSERT_TRUE(sl_tuning_question(&question, &lora).workload.adapter.half);
    question.workload.precision = SL_PRECISION_FP32;
    CU_ASSERT_FALSE(sl_tuning_question(&question, &lora).workload.adapter.half);
}

static void
the_method_that_trains_most_of_those_that_fit_is_taken(void)
{
    tune();
    CU_ASSERT_EQUAL_FATAL(tuning.base, 0);
    CU_ASSERT_EQUAL(tuning.choices[tuning.recommended].method, SL_TUNING_FULL);
    CU_ASSERT_TRUE(tuning.choices[tuning.recommended].kernel != SL_ATTENTION_UNFUSED);
    cluster.accelerator.memory_bytes = 1u << 20;
    sl_tuning_answer(&question, &scratch, &answer, &tuning);
    CU_ASSERT_EQUAL(tuning.recommended, SL_NOTHING);
    cluster.accelerator.memory_bytes = tuned_bytes(SL_TUNING_FULL, true, true) - (1u << 20);
    sl_tuning_answer(&question, &scratch, &answer, &tuning);
    CU_ASSERT_TRUE(tuning.recommended != SL_NOTHING &&
                   tuning.choices[tuning.recommended].method == SL_TUNING_LORA);
}

static void
plain_layers_are_fine_tuned_whole(void)
{
    ask_plain();
    question.unknown = 0;
    question.workload.framework = SL_FRAMEWORK_DDP;
    question.plan.data = 8;
    sl_tuning_answer(&question, &scratch, &answer, &tuning);
    CU_ASSERT_EQUAL(tuning.count, 2 * SL_TUNING_METHOD_COUNT);
    CU_ASSERT_TRUE(tuned(SL_TUNING_FULL, false, false)->legal);
    CU_ASSERT_FALSE(tuned(SL_TUNING_LORA, false, false)->legal);
    CU_ASSERT_STRING_EQUAL(tuned(SL_TUNING_QLORA, true, false)->refused.rule, "no_tensors");
}

static const sl_case cases[] = {
    SL_CASE(dp_is_of_one_node_and_hybrid_sharding_of_several),
    SL_CASE(each_stage_of_zero_needs_less_than_the_one_before),
    SL_CASE(layer_wise_leaves_all_but_one_device_idle),
    SL_CASE(plain_layers_have_no_tensors_to_cut),
    SL_CASE(words_of_one_framework_stop_no_strategy_of_another),
    SL_CASE(one_device_has_nothing_to_divide),
    SL_CASE(a_batch_without_a_sequence_for_each_replica_is_refused),
    SL_CASE(the_host_gets_as_few_blocks_as_fit),
    SL_CASE(an_entry_is_what_its_own_question_answers),
    SL_CASE(what_is_recommended_fits_and_is_not_much_slower_than_any),
    SL_CASE(a_simpler_strategy_within_three_percent_is_preferred),
    SL_CASE(limits_are_numbers_of_the_engine),
    SL_CASE(a_lost_device_costs_a_restart_and_half_an_interval),
    SL_CASE(what_divides_masters_leaves_no_copy),
    SL_CASE(multi_token_prediction_is_for_megatron_alone),
    SL_CASE(every_saving_of_fine_tuning_saves),
    SL_CASE(adapters_train_in_what_the_framework_makes_them_of),
    SL_CASE(the_method_that_trains_most_of_those_that_fit_is_taken),
    SL_CASE(plain_layers_are_fine_tuned_whole),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "comparison", cases, sizeof cases / sizeof cases[0]);
}
