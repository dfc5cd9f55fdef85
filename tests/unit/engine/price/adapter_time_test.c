/* Adapters: what they cost a step, beside the products of a base that is frozen and may be packed. */
#include <stddef.h>

#include "adapter_fixture.h"
#include "engine/price/kernel.h"
#include "harness.h"

static void
only_what_trains_is_stepped_on(void)
{
    const sl_question q = llama_question(&lora);
    const double bytes = 4.0 * 4.0 + 2.0 * 8.0 + 2.0 * 4.0 + 4.0;

    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OPTIMIZER_STEP),
                   LORA_TRAINED * bytes / (0.78 * 1e12), 1e-12, "update");
}

/* AdamW in foreach kernels reads and writes between them: 8.07 ms on H100 where a fused one takes
 * 2.87 (tests/accuracy/measure/device.py). */
static void
lists_of_kernels_step_slower(void)
{
    const sl_question q = llama_question(&lora);
    const double fused_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OPTIMIZER_STEP);

    software.step_lists = 1.0;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OPTIMIZER_STEP), 2.8 * fused_s,
                   1e-12, "passes");
}

/* Of one micro-batch. */
static double
pass_s(const sl_question *q, sl_term_id pass)
{
    return sl_fixture_answer(q)->time.terms[pass - SL_TERM_FORWARD].inputs[1].value;
}

static double
forward_s(const sl_adapter *adapter)
{
    const sl_question q = llama_question(adapter);

    return pass_s(&q, SL_TERM_FORWARD);
}

/* Forward of the adapters of q and v in all blocks: two products each, and passes over what they
 * read and give. */
static double
beside_s(sl_precision precision, double input_bytes, double output_bytes)
{
    const double outputs[] = {HIDDEN, KEYS};
    const sl_question q = llama_question(&lora);
    const double clock = cluster.accelerator.sustained_ratio;
    const sl_slice slice = sl_slice_of(&q, &software, &q.workload, &q.plan, clock);
    const double ratio = slice.streaming.residual_ratio;
    double seconds = 0.0;

    for (uint32_t i = 0; i < 2; i++) {
        const sl_product down = {1, TOKENS, 32, HIDDEN, precision, false};
        const sl_product up = {1, TOKENS, outputs[i], 32, precision, false};
        seconds += sl_kernel_product_s(&slice, down) + sl_kernel_product_s(&slice, up);
        if (input_bytes > 0.0)
            seconds += sl_kernel_memory_s(&slice, TOKENS * HIDDEN * input_bytes, ratio);
        if (output_bytes > 0.0)
            seconds += sl_kernel_memory_s(&slice, TOKENS * outputs[i] * output_bytes, ratio);
    }
    return LAYERS * seconds;
}

/* The input is cast to the adapters' type and dropped; the output scaled and added, and what fp32
 * adapters add to outside of autocast is cast back. Autocast casts what they read once more. */
static void
adapters_multiply_beside_their_matrices(void)
{
    static const struct {
        bool half, fused, autocast;
        sl_precision precision;
        double dropout_ratio, input_bytes, output_bytes;
    } cases[] = {
        {.fused = true, .precision = SL_PRECISION_BF16},
        {.half = true, .precision = SL_PRECISION_BF16, .output_bytes = 4 + 6},
        {true, false, false, SL_PRECISION_BF16, 0.1, 2 + 2 + 1, 4 + 6},
        {false, false, false, SL_PRECISION_FP32, 0.0, 2 + 4, 8 + 10 + 6},
        {false, false, false, SL_PRECISION_FP32, 0.1, 6 + 4 + 4 + 1, 8 + 10 + 6},
        {false, false, true, SL_PRECISION_BF16, 0.0, 2 * 6, 4 + 6},
        {false, false, true, SL_PRECISION_BF16, 0.1, 2 * 6 + 4 + 4 + 1, 4 + 6},
    };
    const double base_s = forward_s(&(sl_adapter){.method = SL_ADAPTER_LN_TUNING});

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sl_adapter adapter = {.method = SL_ADAPTER_LORA,
                                    .rank = 32,
                                    .half = cases[i].half,
                                    .fused = cases[i].fused,
                                    .autocast = cases[i].autocast,
                                    .dropout_ratio = cases[i].dropout_ratio,
                                    ON_Q_AND_V};
        sl_expect_near(forward_s(&adapter) - base_s,
                       beside_s(cases[i].precision, cases[i].input_bytes, cases[i].output_bytes),
                       1e-9, "beside the base");
    }
}

/* Each matrix of a block is read packed and written in 16 bits before its product, forward and
 * back; int8 multiplies forward as it is. */
static void
a_quantised_base_is_unpacked_for_each_product(void)
{
    static const struct {
        sl_adapter_base base;
        double forward_bytes, backward_bytes;
    } bases[] = {
        {SL_ADAPTER_BASE_INT8, 0.0, 3.0},
        {SL_ADAPTER_BASE_NF4, 2.5625, 2.5625},
        {SL_ADAPTER_BASE_NF4_DOUBLE, 2.515869140625, 2.515869140625},
    };
    const double matrices[] = {HIDDEN * (HIDDEN + 2 * KEYS), HIDDEN * HIDDEN, 2 * HIDDEN * FFN,
                               HIDDEN * FFN};
    sl_question q = llama_question(&lora);
    const double clock = cluster.accelerator.sustained_ratio;
    const sl_slice slice = sl_slice_of(&q, &software, &q.workload, &q.plan, clock);
    const double forward_s = pass_s(&q, SL_TERM_FORWARD);
    const double backward_s = pass_s(&q, SL_TERM_BACKWARD);

    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        double there_s = 0.0, back_s = 0.0;
        for (size_t k = 0; k < sizeof matrices / sizeof matrices[0]; k++) {
            const double ratio = slice.streaming.residual_ratio;
            const double bytes = matrices[k] * bases[i].forward_bytes;
            there_s += bytes > 0.0 ? sl_kernel_memory_s(&slice, bytes, ratio) : 0.0;
            back_s += sl_kernel_memory_s(&slice, matrices[k] * bases[i].backward_bytes, ratio);
        }
        q.workload.adapter.base = bases[i].base;
        sl_expect_near(pass_s(&q, SL_TERM_FORWARD) - forward_s, LAYERS * there_s, 1e-9, "forward");
        sl_expect_near(pass_s(&q, SL_TERM_BACKWARD) - backward_s, LAYERS * back_s, 1e-9, "back");
    }
}

static void
the_host_steps_on_what_trains(void)
{
    sl_question q = llama_question(&lora);

    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    q.workload.offload.optimizer = true;
    q.plan.zero_stage = 1; /* eight ranks share the states */
    const sl_estimate *e = sl_fixture_answer(&q);
    const sl_rank_memory *rank = &e->memory.ranks[0];
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_ADAPTERS), 4.0 * LORA_TRAINED);
    CU_ASSERT_EQUAL((double)rank->host.bytes, (4.0 + 8.0 + 4.0) * LORA_TRAINED / 8.0);
    sl_expect_near(e->time.terms[SL_TERM_OPTIMIZER_STEP - SL_TERM_FORWARD].inputs[1].value,
                   8.0 * (LORA_TRAINED / 8.0) / 4e9, 1e-12,
                   "eight ranks of a node, one after the other");
}

/* The base's rate stands for it, and that is said. */
static void
a_part_without_a_rate_in_fp32_has_a_price(void)
{
    sl_question q = llama_question(&lora);
    const double known_s = pass_s(&q, SL_TERM_FORWARD);

    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "adapter_rate_unknown"));
    cluster.accelerator.peak_flops_per_s[SL_PRECISION_FP32] = 0.0;
    CU_ASSERT_TRUE(pass_s(&q, SL_TERM_FORWARD) < known_s);
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "adapter_rate_unknown"));
    q.workload.adapter.autocast = true;
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "adapter_rate_unknown"));
}

/* Replicas and Megatron's distributed optimizer leave a frozen base whole where it is: adapters alone
 * travel, in one bucket; FSDP gathers the base as well. */
static void
a_frozen_base_that_nothing_divides_stays(void)
{
    sl_question q = llama_question(&lora);
    const sl_time *time;

    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    q.plan.data = 8;
    q.workload.global_batch = 8;
    q.plan.zero_stage = 1;
    time = &sl_fixture_answer(&q)->time;
    CU_ASSERT_EQUAL_FATAL(time->communication_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(time->communication[i].calls, 1.0);
        sl_expect_near(time->communication[i].bytes_per_step, 4.0 * LORA_TRAINED, 1e-12, "sent");
    }
    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.zero_stage = 0;
    time = &sl_fixture_answer(&q)->time;
    CU_ASSERT_EQUAL_FATAL(time->communication_count, 1);
    sl_expect_near(time->communication[0].bytes_per_step, 4.0 * LORA_TRAINED, 1e-12, "summed");
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    time = &sl_fixture_answer(&q)->time;
    double most = 0.0;
    for (uint32_t i = 0; i < time->communication_count; i++)
        most = time->communication[i].bytes_per_step > most ? time->communication[i].bytes_per_step
                                                            : most;
    CU_ASSERT_TRUE(most > 2.0 * 3.2e9);
}

/* Frozen weights have no gradients, attention has no weights: of its scores a causal mask leaves out as
 * many FLOPs as in full training. */
static void
attention_is_counted_backward_beside_adapters_too(void)
{
    static const sl_adapter none = {0};
    sl_question q = llama_question(&none);
    const sl_throughput full = sl_fixture_answer(&q)->throughput;

    q.workload.adapter = lora;
    const sl_throughput part = sl_fixture_answer(&q)->throughput;
    sl_expect_near(part.model_flops - part.causal_flops, full.model_flops - full.causal_flops, 1e-9,
                   "masked");
    CU_ASSERT_TRUE(part.model_flops < full.model_flops);
}

/* Whether an adapter sits on what closes a block, whose base runs before what the adapter keeps. */
static void
a_closing_product_with_an_adapter_runs_again(void)
{
    sl_question q = llama_question(&lora);
    sl_adapter closing = lora;

    strcpy(closing.targets[1], "down_proj");
    software.rebuild_stops = true;
    q.workload.recompute = SL_RECOMPUTE_FULL;
    const double again_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_RECOMPUTE);
    q.workload.adapter = closing;
    CU_ASSERT_TRUE(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_RECOMPUTE) > 1.15 * again_s);
}

static const sl_case cases[] = {
    SL_CASE(a_frozen_base_that_nothing_divides_stays),
    SL_CASE(only_what_trains_is_stepped_on),
    SL_CASE(lists_of_kernels_step_slower),
    SL_CASE(adapters_multiply_beside_their_matrices),
    SL_CASE(a_quantised_base_is_unpacked_for_each_product),
    SL_CASE(the_host_steps_on_what_trains),
    SL_CASE(a_part_without_a_rate_in_fp32_has_a_price),
    SL_CASE(attention_is_counted_backward_beside_adapters_too),
    SL_CASE(a_closing_product_with_an_adapter_runs_again),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "adapter_time", cases, sizeof cases / sizeof cases[0]);
}
