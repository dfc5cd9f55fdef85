/* Recomputation of some blocks, of several at a time, of parts of each: what is kept and run
 * again. */
#include "engine/placement/recompute.h"

#include <string.h>

#include "engine/answer/evaluate.h"
#include "engine/placement/holding.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double HIDDEN = 2048.0, FFN = 8192.0, TOKENS = 2048.0, BLOCKS = 16.0;
static const double LATENT_HEADS = 16.0, PLAIN = 128.0, ROTARY = 64.0, VALUE = 128.0;
static const double EXPERT_WIDTH = 1024.0, SHARED_WIDTH = 512.0, VISITS = 2.0, EXPERTS = 8.0;

static sl_question
question_of(const sl_dense_spec *spec)
{
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();

    sl_question q = sl_fixture_question(sl_fixture_model(spec), &cluster, &software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    return q;
}

static sl_question
llama_question(void)
{
    return sl_fixture_llama_question(1, &cluster, &software);
}

static sl_question
latent_question(void)
{
    return sl_fixture_latent_question((uint64_t)EXPERT_WIDTH, &cluster, &software);
}

/* Two ranks with two chunks of four blocks each. */
static sl_question
chunked_question(void)
{
    sl_question q = llama_question();

    q.plan.pipeline = 2;
    q.plan.virtual_pipeline = 2;
    q.plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    q.plan.data = 4;
    return q;
}

static double
activations_of(const sl_question *q)
{
    return sl_fixture_bytes_of(q, SL_TERM_ACTIVATIONS);
}

static double
seconds_of(const sl_question *q)
{
    return sl_fixture_seconds(sl_fixture_answer(q), SL_TERM_RECOMPUTE);
}

static void
set_modules(sl_question *q, uint32_t modules)
{
    q->workload.recompute = SL_RECOMPUTE_MODULES;
    q->workload.recompute_modules = modules;
}

/* DeepSpeed's TiledMLP: its input alone is kept, whether blocks are rebuilt or not; backward holds
 * one part's values and gradient, and runs each part forward once more. */
static void
mlps_in_tiles_keep_their_input_alone(void)
{
    sl_question q = llama_question();
    sl_errors err = {0};

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    const double kept = activations_of(&q);
    const double step_s = sl_fixture_answer(&q)->time.step_s;
    q.workload.mlp_tiles = 8;
    sl_expect_near(kept - activations_of(&q), BLOCKS * TOKENS * 6.0 * FFN, 1e-9,
                   "gate, up and their product");
    const double flops = 2.0 * 3.0 * TOKENS * HIDDEN * FFN;
    CU_ASSERT_TRUE(sl_fixture_answer(&q)->time.step_s - step_s > 2.0 * BLOCKS * flops / 100e12);

    static sl_priced priced;
    const sl_combination c = {&software, q.workload, q.plan};
    sl_evaluate_price(&q, &c, SL_CLOCK_COOL, &priced);
    sl_expect_near(priced.prices[1].largest_gradient_bytes, TOKENS * (6.0 + 4.0) * FFN / 8.0, 1e-9,
                   "an eighth of its values and of their gradient");

    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    q.plan.zero_stage = 1;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
    sl_expect_text(err.list[0].pointer, "/workload/recompute/mlp_tiles", "of Megatron");
}

static void
expect_no_tiles(const sl_question *q, const char *rule, const char *hint)
{
    sl_errors err = {0};

    CU_ASSERT_NOT_EQUAL(sl_question_check(q, &err), SL_OK);
    sl_expect_text(err.list[0].pointer, "/workload/recompute/mlp_tiles", "pointer");
    sl_expect_text(err.list[0].rule, rule, "rule");
    sl_expect_text(err.list[0].hint, hint, "hint");
}

/* Experts, layers that are sizes alone, and a sequence of one position have nothing to cut. */
static void
tiles_are_of_dense_mlps(void)
{
    static const sl_plain_layer layer = {"dense", 16, 1000000, 3000000, 80000000000, 1000000};
    static sl_model plain;
    sl_question q = latent_question();

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    q.workload.mlp_tiles = 8;
    expect_no_tiles(&q, "no_dense_mlp", "leave it out");

    q = llama_question();
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    q.workload.mlp_tiles = 8;
    q.workload.sequence_length = 1;
    expect_no_tiles(&q, "out_of_range", "leave it out");
    q.workload.sequence_length = 4;
    expect_no_tiles(&q, "out_of_range", "2 to 4");

    sl_model_describe_plain(&layer, 1, &plain);
    q.model = &plain;
    q.workload.sequence_length = 1;
    q.workload.attention = SL_ATTENTION_UNFUSED;
    expect_no_tiles(&q, "no_dense_mlp", "leave it out");
}

static void
block_rebuilds_the_first_blocks_of_each_chunk(void)
{
    sl_question q = chunked_question();
    const double none = activations_of(&q);

    q.workload.recompute = SL_RECOMPUTE_FULL;
    const double full = activations_of(&q);
    const double full_s = seconds_of(&q);
    const double hardware = sl_fixture_answer(&q)->throughput.hardware_flops;
    const double model = sl_fixture_answer(&q)->throughput.model_flops;

    q.workload.recompute_method = SL_RECOMPUTE_BLOCK;
    for (uint32_t n = 1; n <= 5; n++) {
        const double share = n < 4 ? n / 4.0 : 1.0;
        q.workload.recompute_layers = n;
        sl_expect_near(activations_of(&q), none - share * (none - full), 1e-9, "n of 4 blocks");
        sl_expect_near(seconds_of(&q), share * full_s, 1e-12, "run again");
        sl_expect_near(sl_fixture_answer(&q)->throughput.hardware_flops,
                       model + share * (hardware - model), 1e-12, "FLOPs too");
    }
}

/* Twice four blocks in twos or threes keep 2 x 2 inputs of 8. */
static void
uniform_keeps_one_input_for_several_blocks(void)
{
    sl_question q = chunked_question();

    q.workload.recompute = SL_RECOMPUTE_FULL;
    const double full = activations_of(&q);
    const double full_s = seconds_of(&q);
    const double in_flight = 1.0 + 1.0 / 2.0 + 1.0; /* (2 (p - 1) + (v - 1) p + 1) / v */
    const double inputs = in_flight * 8.0 * 2.0 * HIDDEN * TOKENS;

    q.workload.recompute_method = SL_RECOMPUTE_UNIFORM;
    for (uint32_t n = 1; n <= 4; n++) {
        const double kept = n == 1 ? 1.0 : n < 4 ? 0.5 : 0.25;
        q.workload.recompute_layers = n;
        sl_expect_near(full - activations_of(&q), (1.0 - kept) * inputs, 1e-9, "inputs not kept");
        sl_expect_near(seconds_of(&q), full_s, 1e-12, "everything runs again");
    }
}

static void
modules_drop_what_they_rebuild(void)
{
    const double mlp = 2.0 * (2.0 * FFN + FFN) * TOKENS; /* gate and up, their product */
    const double norms = 2.0 * 2.0 * HIDDEN * TOKENS;    /* outputs of two */
    const struct {
        uint32_t modules;
        double dropped;
    } rows[] = {
        {1U << SL_MODULE_MLP, mlp},
        {1U << SL_MODULE_NORMS, norms},
        {1U << SL_MODULE_MLP | 1U << SL_MODULE_NORMS, mlp + norms},
        {1U << SL_MODULE_EXPERT_ACTIVATION | 1U << SL_MODULE_EXPERTS, 0.0},
        {1U << SL_MODULE_LATENT_UP, 0.0},
    };
    sl_question q = llama_question();
    const double none = activations_of(&q);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set_modules(&q, rows[i].modules);
        sl_expect_near(none - activations_of(&q), BLOCKS * rows[i].dropped, 1e-9, "dropped");
        CU_ASSERT_EQUAL(seconds_of(&q) > 0.0, rows[i].dropped > 0.0);
    }
    q.workload.attention = SL_ATTENTION_UNFUSED;
    q.workload.recompute = SL_RECOMPUTE_SELECTIVE;
    const double selective = activations_of(&q);
    const double selective_s = seconds_of(&q);
    set_modules(&q, 1U << SL_MODULE_CORE_ATTENTION);
    sl_expect_near(activations_of(&q), selective, 1e-12, "the module is the mode");
    sl_expect_near(seconds_of(&q), selective_s, 1e-12, "in time too");
}

static void
modules_of_latents_and_experts_drop_theirs(void)
{
    const double up = 2.0 * LATENT_HEADS * (2.0 * (PLAIN + ROTARY) + VALUE) * TOKENS;
    const double activation = 2.0 * EXPERT_WIDTH * VISITS * TOKENS; /* input of the way down */
    const double shared = 2.0 * 3.0 * SHARED_WIDTH * TOKENS;
    const double maps = (2.0 * 4.0 * EXPERTS + 2.0 * 4.0 * VISITS) * TOKENS;
    const double routed = 2.0 * (HIDDEN + 3.0 * EXPERT_WIDTH) * VISITS * TOKENS;
    const struct {
        uint32_t modules;
        double dropped;
    } rows[] = {
        {1U << SL_MODULE_LATENT_UP, up},
        {1U << SL_MODULE_EXPERT_ACTIVATION, activation},
        {1U << SL_MODULE_SHARED_EXPERTS, shared},
        {1U << SL_MODULE_EXPERTS, maps + routed + shared},
        {1U << SL_MODULE_EXPERTS | 1U << SL_MODULE_EXPERT_ACTIVATION, maps + routed + shared},
        {1U << SL_MODULE_MLP, 0.0},
    };
    sl_question q = latent_question();
    const double none = activations_of(&q);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set_modules(&q, rows[i].modules);
        sl_expect_near(none - activations_of(&q), 4.0 * rows[i].dropped, 1e-9, "dropped");
    }
}

/* Routing runs again with the experts and without an expert's activation. */
static void
experts_that_are_rebuilt_are_sent_their_tokens_again(void)
{
    sl_question q = latent_question();

    q.plan.expert = 4;
    const double once = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_EXPERT_COMMUNICATION);
    CU_ASSERT_TRUE(once > 0.0);
    set_modules(&q, 1U << SL_MODULE_EXPERT_ACTIVATION);
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_EXPERT_COMMUNICATION), once,
                   1e-12, "forward and backward");
    set_modules(&q, 1U << SL_MODULE_EXPERTS);
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_EXPERT_COMMUNICATION),
                   1.5 * once, 1e-12, "and forward again");
}

static void
modules_are_of_one_framework(void)
{
    sl_question q = llama_question();
    sl_errors err = {0};

    set_modules(&q, 1U << SL_MODULE_MLP);
    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.zero_stage = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/workload/recompute/mode", "where it was said");
}

/* Three small layers and a large one: a group is as large as what is in it. */
static void
groups_of_unequal_blocks_are_what_is_in_them(void)
{
    static const sl_plain_layer layers[] = {{"small", 3, 1000, 2000000, 1000, 1000},
                                            {"large", 1, 1000, 9000000, 1000, 1000}};
    static sl_model model;
    sl_question q = llama_question();

    sl_model_describe_plain(layers, 2, &model);
    cluster.accelerators_per_node = 1;
    q.model = &model;
    q.plan.data = 1;
    q.workload.global_batch = 1;
    q.workload.sequence_length = 1;
    q.workload.attention = SL_ATTENTION_UNFUSED;
    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.workload.recompute_method = SL_RECOMPUTE_UNIFORM;
    q.workload.recompute_layers = 3;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_ACTIVATIONS), 2.0 * 1000.0);
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_RECOMPUTED_BLOCK), 9000000.0 - 1000.0);
    q.workload.recompute_layers = 2;
    rank = &sl_fixture_answer(&q)->memory.ranks[0];
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_RECOMPUTED_BLOCK), 11000000.0 - 1000.0);
}

/* Two stages of four blocks each in two chunks, 2 + 2 and 1 + 3: the first two of a chunk are
 * rebuilt, so the later stage keeps one whole. */
static void
stages_as_long_may_rebuild_less(void)
{
    static const uint16_t layout[] = {2, 2, 1, 2, 2, 2, 3, 2};
    sl_question q = llama_question();

    q.plan.pipeline = 4;
    q.plan.virtual_pipeline = 2;
    q.plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    q.plan.data = 2;
    q.plan.layout_chunks = 8;
    memcpy(q.plan.layout, layout, sizeof layout);
    q.workload.global_batch = 64;
    q.workload.micro_batch = 8;
    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.workload.recompute_method = SL_RECOMPUTE_BLOCK;
    q.workload.recompute_layers = 2;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL(e->memory.ranks[e->memory.binding].first_stage, 2);
    CU_ASSERT_EQUAL(e->figures[SL_TERM_DEVICE_TOTAL - SL_TERM_USABLE].value,
                    (double)e->memory.ranks[e->memory.binding].device_total_bytes);
}

/* Blocks of a kind among the first of each chunk, one by one. */
static double
walk_first(const sl_model *model, const sl_plan *plan, uint32_t rank, uint32_t kind, uint32_t most)
{
    double found = 0.0;

    for (uint32_t n = 0; n < sl_schedule_held(plan); n++) {
        const uint32_t chunk = sl_schedule_chunk(plan, rank, n);
        uint32_t blocks = 0;
        for (uint32_t i = sl_schedule_chunk_begin(model, plan, chunk);
             i < sl_schedule_chunk_begin(model, plan, chunk + 1); i++)
            if (sl_schedule_is_block(model, model->layers[i]) && blocks++ < most)
                found += model->layers[i] == kind;
    }
    return found;
}

static void
expect_first_blocks(const sl_question *q)
{
    static sl_priced priced;
    static sl_holdings holdings;
    const sl_combination c = {&software, q->workload, q->plan};

    sl_evaluate_price(q, &c, SL_CLOCK_COOL, &priced);
    sl_hold(q->model, &q->workload, &q->plan, &priced.slice, priced.prices, &holdings);
    for (uint32_t r = 0; r < q->plan.pipeline; r++)
        for (uint32_t k = 0; k < q->model->kind_count; k++) {
            const sl_held held = sl_schedule_all_held(&q->plan, r);
            const sl_recomputed again =
                sl_recompute_of(q->model, &q->workload, &q->plan, &holdings.cut, priced.prices,
                                &held, &sl_holding_of(&holdings, r)->stage, k);
            CU_ASSERT_EQUAL(again.layers,
                            walk_first(q->model, &q->plan, r, k, q->workload.recompute_layers));
        }
}

/* Blocks of one kind and of two, dealt out evenly, with the ends counted as layers, unevenly, and
 * as a layout says; two copies of the model, and two directions. */
static void
the_first_blocks_are_counted_however_chunks_are_cut(void)
{
    static const sl_schedule schedules[] = {SL_SCHEDULE_1F1B, SL_SCHEDULE_INTERLEAVED_1F1B,
                                            SL_SCHEDULE_ZB_V, SL_SCHEDULE_DUALPIPE};
    sl_dense_spec spec = sl_fixture_llama();

    for (uint32_t i = 0; i < 4 * 4 * 2 * 4 * 2; i++) {
        const uint32_t shape = i / 16;
        spec.blocks = 14 + shape / 2 % 4; /* divided, with the ends, and by nothing */
        spec.naming = sl_fixture_llama().naming;
        spec.experts = (sl_experts){0};
        if (shape % 2 == 1) {
            spec.naming = SL_NAMING_QWEN2_MOE;
            spec.experts = (sl_experts){.count = 4, .per_token = 2, .width = 1024};
            spec.block[0] = spec.block[1] = spec.block[5] = SL_BLOCK_DENSE_MLP;
        }
        sl_question q = question_of(&spec);
        q.plan.schedule = schedules[i % 4];
        q.plan.pipeline = 4;
        q.plan.virtual_pipeline = i % 4 == 1 || i % 4 == 2 ? 2 : 1;
        q.plan.data = 2;
        q.workload.recompute = SL_RECOMPUTE_FULL;
        q.workload.recompute_method = SL_RECOMPUTE_BLOCK;
        q.workload.recompute_layers = 1 + i / 4 % 4;
        if (shape / 8 == 1) {
            const uint32_t chunks = sl_schedule_chunks(&q.plan);
            q.plan.layout_chunks = chunks;
            for (uint32_t n = 0; n < chunks; n++)
                q.plan.layout[n] = n + 1 < chunks ? 1 : (uint16_t)(spec.blocks + 1 - chunks);
        }
        expect_first_blocks(&q);
    }
}

static bool
same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

static void
prices_are_carried_over_to_another_mode(void)
{
    static const sl_recompute modes[] = {SL_RECOMPUTE_NONE, SL_RECOMPUTE_SELECTIVE,
                                         SL_RECOMPUTE_OPERATORS, SL_RECOMPUTE_FULL};
    static sl_priced carried, anew;
    sl_question q = latent_question();

    q.workload.attention = SL_ATTENTION_UNFUSED;
    for (size_t from = 0; from < sizeof modes / sizeof modes[0]; from++)
        for (size_t to = 0; to < sizeof modes / sizeof modes[0]; to++) {
            sl_combination c = {&software, q.workload, q.plan};
            c.workload.recompute = modes[from];
            sl_evaluate_price(&q, &c, SL_CLOCK_COOL, &carried);
            sl_evaluate_reprice(&q, modes[to], &carried, &carried);
            c.workload.recompute = modes[to];
            sl_evaluate_price(&q, &c, SL_CLOCK_COOL, &anew);
            CU_ASSERT_EQUAL(carried.slice.recompute, anew.slice.recompute);
            for (uint32_t k = 0; k < q.model->kind_count; k++)
                CU_ASSERT_TRUE(
                    same_bits(&carried.prices[k], &anew.prices[k], sizeof carried.prices[k]));
        }
}

static const sl_case cases[] = {
    SL_CASE(prices_are_carried_over_to_another_mode),
    SL_CASE(mlps_in_tiles_keep_their_input_alone),
    SL_CASE(tiles_are_of_dense_mlps),
    SL_CASE(block_rebuilds_the_first_blocks_of_each_chunk),
    SL_CASE(uniform_keeps_one_input_for_several_blocks),
    SL_CASE(groups_of_unequal_blocks_are_what_is_in_them),
    SL_CASE(stages_as_long_may_rebuild_less),
    SL_CASE(the_first_blocks_are_counted_however_chunks_are_cut),
    SL_CASE(modules_drop_what_they_rebuild),
    SL_CASE(modules_of_latents_and_experts_drop_theirs),
    SL_CASE(experts_that_are_rebuilt_are_sent_their_tokens_again),
    SL_CASE(modules_are_of_one_framework),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "recompute", cases, sizeof cases / sizeof cases[0]);
}
