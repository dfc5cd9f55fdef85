/* A model made deeper or wider is the one that would have been described so. */
#include <stdio.h>
#include <string.h>

#include "engine/model/grown.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_model grown;

static void
expect_same_operators(const sl_layer_kind *a, const sl_layer_kind *b)
{
    CU_ASSERT_EQUAL_FATAL(a->operator_count, b->operator_count);
    for (uint32_t i = 0; i < a->operator_count; i++) {
        const sl_operator *x = &a->operators[i], *y = &b->operators[i];
        sl_expect_text(x->name, y->name, "operator");
        if (x->inputs != y->inputs || x->outputs != y->outputs || x->heads != y->heads ||
            x->kv_heads != y->kv_heads || x->head_dim != y->head_dim || x->experts != y->experts ||
            x->window != y->window)
            sl_fail_for(x->name);
    }
}

static void
expect_same_tensors(const sl_layer_kind *a, const sl_layer_kind *b)
{
    CU_ASSERT_EQUAL_FATAL(a->tensor_count, b->tensor_count);
    for (uint32_t i = 0; i < a->tensor_count; i++) {
        const sl_tensor *x = &a->tensors[i], *y = &b->tensors[i];
        sl_expect_text(x->name, y->name, "tensor");
        if (x->axes != y->axes || memcmp(x->shape, y->shape, sizeof x->shape) != 0 ||
            x->part_count != y->part_count || memcmp(x->parts, y->parts, sizeof x->parts) != 0)
            sl_fail_for(x->name);
    }
}

static void
expect_same_model(const sl_model *a, const sl_model *b)
{
    CU_ASSERT_EQUAL_FATAL(a->kind_count, b->kind_count);
    CU_ASSERT_EQUAL(a->hidden, b->hidden);
    CU_ASSERT_EQUAL(a->ffn, b->ffn);
    CU_ASSERT_EQUAL(a->heads, b->heads);
    CU_ASSERT_EQUAL(a->kv_heads, b->kv_heads);
    CU_ASSERT_EQUAL(a->layer_count, b->layer_count);
    CU_ASSERT_EQUAL(a->block_count, b->block_count);
    CU_ASSERT_TRUE(memcmp(a->layers, b->layers, a->layer_count) == 0);
    for (uint32_t k = 0; k < a->kind_count; k++) {
        expect_same_operators(&a->kinds[k], &b->kinds[k]);
        expect_same_tensors(&a->kinds[k], &b->kinds[k]);
    }
}

/* Parts and twice as many of them, against a spec of twice the widths. */
static void
expect_widened(sl_dense_spec spec, const char *what)
{
    sl_model *own = sl_fixture_own_model(&spec);
    const uint64_t parts = sl_grown_parts(own);

    if (parts == 0) {
        sl_fail_for(what);
        return;
    }
    sl_grown_copy(own, &grown);
    CU_ASSERT_TRUE(sl_grown_widen(own, 3 * parts, &grown));
    CU_ASSERT_TRUE(sl_grown_widen(own, 2 * parts, &grown));
    spec.hidden *= 2;
    spec.ffn *= 2;
    spec.heads *= 2;
    spec.kv_heads *= 2;
    spec.experts.width *= 2;
    spec.experts.shared_width *= 2;
    expect_same_model(sl_fixture_model(&spec), &grown);
}

static void
wider_decoders_are_those_of_wider_configs(void)
{
    sl_dense_spec llama = sl_fixture_llama();
    sl_dense_spec gpt = sl_fixture_gpt(4, 1024, 16);

    expect_widened(llama, "llama");
    /* As many positions, and as many tokens, as the hidden state is wide. */
    gpt.learned_positions = gpt.vocabulary = 1024;
    expect_widened(gpt, "gpt");

    llama.qk_norm = SL_QK_NORM_HEAD;
    expect_widened(llama, "norms of heads");
    llama.qk_norm = SL_QK_NORM_WIDTH;
    llama.qkv_bias = llama.mlp_bias = llama.output_bias = llama.head_bias = true;
    expect_widened(llama, "biases");

    llama.kv_heads = 1;
    expect_widened(llama, "one key-value head");

    sl_dense_spec falcon = sl_fixture_gpt(4, 1024, 16);
    falcon.naming = SL_NAMING_FALCON;
    falcon.form = SL_BLOCK_PARALLEL_NORMS;
    falcon.learned_positions = 0;
    falcon.kv_heads = 4;
    expect_widened(falcon, "heads in groups");
}

static void
experts_widen_and_stay_as_many(void)
{
    sl_dense_spec spec = sl_fixture_llama();

    spec.naming = SL_NAMING_MIXTRAL;
    spec.experts = (sl_experts){.count = 8, .per_token = 2, .width = 1024};
    expect_widened(spec, "mixtral");
    spec.naming = SL_NAMING_QWEN2_MOE;
    spec.experts.shared_width = 2048;
    spec.experts.shared_gate = true;
    expect_widened(spec, "qwen2_moe");
    spec.naming = SL_NAMING_DBRX;
    spec.experts.shared_width = 0;
    spec.experts.shared_gate = false;
    expect_widened(spec, "dbrx");
    spec.naming = SL_NAMING_GPT_OSS;
    spec.experts.bias = true;
    spec.sinks = true;
    expect_widened(spec, "gpt_oss");
}

static void
a_part_is_what_divides_every_width(void)
{
    sl_dense_spec spec = sl_fixture_llama();

    CU_ASSERT_EQUAL(sl_grown_parts(sl_fixture_model(&spec)), 8); /* key-value heads */
    spec.ffn = 8188;
    CU_ASSERT_EQUAL(sl_grown_parts(sl_fixture_model(&spec)), 4);
    CU_ASSERT_TRUE(sl_grown_parts(sl_fixture_model(&spec)) > 0);
}

static void
latents_and_narrow_tables_have_no_one_width(void)
{
    sl_dense_spec spec = sl_fixture_llama();

    spec.naming = SL_NAMING_DEEPSEEK;
    spec.latent = (sl_latent){
        .query_rank = 512, .kv_rank = 256, .plain_dim = 64, .rotary_dim = 32, .value_dim = 64};
    CU_ASSERT_EQUAL(sl_grown_parts(sl_fixture_model(&spec)), 0);

    sl_dense_spec opt = sl_fixture_gpt(4, 1024, 16);
    opt.naming = SL_NAMING_OPT;
    opt.embedding_width = 512;
    CU_ASSERT_EQUAL(sl_grown_parts(sl_fixture_model(&opt)), 0);
}

static void
a_width_beyond_all_is_refused(void)
{
    sl_dense_spec spec = sl_fixture_llama();
    sl_model *own = sl_fixture_own_model(&spec);

    sl_grown_copy(own, &grown);
    CU_ASSERT_FALSE(sl_grown_widen(own, UINT64_C(1) << 40, &grown));
}

static void
expect_deepened(sl_dense_spec spec, uint32_t blocks)
{
    const sl_model *own = sl_fixture_model(&spec);

    sl_grown_copy(own, &grown);
    sl_grown_deepen(own, 5 * blocks, &grown); /* a smaller one after a larger one */
    sl_grown_deepen(own, blocks, &grown);
    spec.blocks = blocks;
    expect_same_model(sl_fixture_model(&spec), &grown);
}

static void
deeper_decoders_are_those_of_deeper_configs(void)
{
    sl_dense_spec spec = sl_fixture_llama();

    expect_deepened(spec, 5);
    expect_deepened(spec, 16);
    expect_deepened(spec, 100);

    spec.window = 1024; /* every sixth sees everything */
    for (uint32_t i = 0; i < SL_MODEL_LAYERS_MAX; i++)
        spec.block[i] = i % 6 == 5 ? SL_BLOCK_FULL_ATTENTION : 0;
    expect_deepened(spec, 100);

    sl_dense_spec mixture = sl_fixture_llama(); /* dense ones first */
    mixture.naming = SL_NAMING_DEEPSEEK;
    mixture.experts = (sl_experts){.count = 8, .per_token = 2, .width = 1024};
    for (uint32_t i = 0; i < 3; i++)
        mixture.block[i] = SL_BLOCK_DENSE_MLP;
    expect_deepened(mixture, 60);
}

static void
a_copy_points_into_itself(void)
{
    sl_dense_spec spec = sl_fixture_llama();
    const sl_model *own = sl_fixture_model(&spec);

    sl_grown_copy(own, &grown);
    for (uint32_t k = 0; k < grown.kind_count; k++) {
        CU_ASSERT_TRUE(grown.kinds[k].tensors >= grown.tensors &&
                       grown.kinds[k].tensors < grown.tensors + SL_MODEL_TENSORS_MAX);
        CU_ASSERT_TRUE(grown.kinds[k].operators >= grown.operators &&
                       grown.kinds[k].operators < grown.operators + SL_MODEL_OPERATORS_MAX);
    }
    expect_same_model(own, &grown);
}

static const sl_case cases[] = {
    SL_CASE(wider_decoders_are_those_of_wider_configs),
    SL_CASE(experts_widen_and_stay_as_many),
    SL_CASE(a_part_is_what_divides_every_width),
    SL_CASE(latents_and_narrow_tables_have_no_one_width),
    SL_CASE(a_width_beyond_all_is_refused),
    SL_CASE(deeper_decoders_are_those_of_deeper_configs),
    SL_CASE(a_copy_points_into_itself),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "grown", cases, sizeof cases / sizeof cases[0]);
}
