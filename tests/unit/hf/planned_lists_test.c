/* Models that are planned from a parts list: what their operators are, keep and cost. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "engine/price/kernel.h"
#include "engine/price/price.h"
#include "engine_fixture.h"
#include "hf/recipe.h"
#include "reading.h"

static const char bert[] =
    "{\"model_type\":\"bert\",\"architectures\":[\"BertForSequenceClassification\"],"
    "\"hidden_size\":64,\"num_attention_heads\":4,\"intermediate_size\":256,"
    "\"num_hidden_layers\":2,\"vocab_size\":1000,\"num_labels\":3}";
static const char t5[] =
    "{\"model_type\":\"t5\",\"d_model\":32,\"d_kv\":16,\"num_heads\":4,\"d_ff\":96,"
    "\"feed_forward_proj\":\"gated-gelu\",\"num_layers\":3,\"vocab_size\":1000}";

static sl_question
question_of(const sl_model *model, const sl_cluster *cluster, const sl_software *software)
{
    sl_question q = sl_fixture_question(model, cluster, software);

    q.workload.sequence_length = 128;
    q.workload.micro_batch = 2;
    return q;
}

static sl_slice
slice_of(const sl_question *q)
{
    return sl_slice_of(q, q->software, &q->workload, &q->plan, 1.0);
}

/* One kind of a model, priced by itself. */
static sl_kind_price
price_of(const sl_question *q, uint32_t kind)
{
    static sl_kind_price prices[SL_KINDS_MAX];
    const sl_slice slice = slice_of(q);

    sl_price_kinds(q->model, q->cluster, &q->plan, &slice, prices);
    return prices[kind];
}

/* Whether the products of a kind are its matrices, each once. */
static bool
multiplies_what_it_has(const sl_layer_kind *kind)
{
    uint64_t multiplied = 0;
    uint64_t held = 0;

    for (uint32_t n = 0; n < kind->operator_count; n++) {
        const sl_operator *op = &kind->operators[n];
        if (op->kind == SL_OPERATOR_MATMUL)
            multiplied += op->inputs * op->outputs * (op->experts > 0 ? op->experts : 1);
    }
    for (uint32_t n = 0; n < kind->tensor_count; n++) {
        uint64_t elements = 0;
        CU_ASSERT_EQUAL(sl_tensor_elements(&kind->tensors[n], &elements), SL_OK);
        CU_ASSERT_TRUE(!kind->tensors[n].linear || kind->tensors[n].product != 0);
        held += kind->tensors[n].product != 0 ? elements : 0;
    }
    return multiplied == held && (kind->operator_count > 0 || kind->tensor_count == 0);
}

/* With the class number `at` of its list; false after the last. */
static bool
read_class_of(const sl_hf_recipe *recipe, size_t at, sl_reading *result)
{
    char more[200];
    const char *name = recipe->classes;

    for (size_t i = 0; i < at; i++) {
        name = strchr(name, ' ');
        if (name == NULL)
            return false;
        name++;
    }
    CU_ASSERT_TRUE_FATAL(sl_text_format(more, sizeof more, ",\"architectures\":[\"%.*s\"]",
                                        (int)strcspn(name, " "), name));
    *result = read_type_with(recipe->model_type, more);
    return true;
}

static void
every_matrix_of_a_planned_list_is_multiplied_once(void)
{
    uint32_t planned = 0;

    for (size_t i = 0; sl_hf_recipe_name(i) != NULL; i++) {
        const sl_hf_recipe *recipe = sl_hf_recipe_find(sl_hf_recipe_name(i));
        sl_reading result;
        for (size_t at = 0; read_class_of(recipe, at, &result); at++) {
            const sl_model *model = result.model;
            for (uint32_t k = 0; model->unpriced == NULL && k < model->kind_count; k++)
                if (!multiplies_what_it_has(&model->kinds[k]))
                    sl_fail_for(model->architecture);
            planned += model->unpriced == NULL;
            clear_reading(&result);
        }
    }
    printf("classes planned: %u\n", planned);
    CU_ASSERT_TRUE(planned > 0);
}

/* The list of types in the README parts those that are planned from those that are counted. */
static void
the_readme_says_which_lists_are_planned(void)
{
    size_t size = 0;
    char *text = sl_read_file(sl_tests_path("../server/hf/README.md"), &size);
    const char *families = text == NULL ? NULL : strstr(text, "## Types");
    const char *counted = families == NULL ? NULL : strstr(families, "not yet planned");
    CU_ASSERT_PTR_NOT_NULL(counted);

    for (size_t i = 0; counted != NULL && sl_hf_recipe_name(i) != NULL; i++) {
        const char *name = sl_hf_recipe_name(i);
        const size_t length = strlen(name);
        sl_reading result = read_type_with(name, "");
        const char *at = strstr(families, name);
        while (at != NULL && (strchr(" \n", at[-1]) == NULL || strchr(",.", at[length]) == NULL))
            at = strstr(at + 1, name);
        if (at == NULL || (at < counted) != (result.model->unpriced == NULL))
            sl_fail_for(name);
        clear_reading(&result);
    }
    free(text);
}

static bool
estimate_with(const sl_model *model, uint32_t tensor, const char *type)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_question q = question_of(model, &cluster, &software);
    sl_errors err = {0};

    q.plan.tensor = tensor;
    q.plan.sequence = tensor > 1;
    q.plan.data = 8 / tensor;
    if (sl_question_check(&q, &err) != SL_OK)
        return false;
    const sl_estimate *e = sl_fixture_answer(&q);
    if (!(e->time.step_s > 0.0) || !(e->throughput.mfu_full > 0.0) ||
        !(e->throughput.mfu_full < 1.0) || e->memory.rank_count == 0)
        sl_fail_for(type);
    return true;
}

/* Parts that only some values of a config bring. */
static void
parts_that_few_configs_have_are_multiplied_too(void)
{
    static const char *const texts[] = {
        "{\"model_type\":\"gemma4_text\",\"enable_moe_block\":true,\"num_experts\":8,"
        "\"top_k_experts\":2,\"moe_intermediate_size\":64,\"attention_k_eq_v\":true}",
        "{\"model_type\":\"nemotron_h\",\"hybrid_override_pattern\":\"ME*-\","
        "\"moe_latent_size\":64}",
        "{\"model_type\":\"granitemoehybrid\",\"num_local_experts\":0,"
        "\"layer_types\":[\"mamba\",\"attention\"],\"num_hidden_layers\":2}",
        "{\"model_type\":\"ernie4_5_moe\",\"moe_num_shared_experts\":0}",
        "{\"model_type\":\"t5\",\"feed_forward_proj\":\"gated-gelu\"}",
        "{\"model_type\":\"electra\",\"embedding_size\":256}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sl_reading result = read_text(texts[i], strlen(texts[i]));
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        CU_ASSERT_PTR_NULL(result.model->unpriced);
        for (uint32_t k = 0; k < result.model->kind_count; k++)
            if (!multiplies_what_it_has(&result.model->kinds[k]))
                sl_fail_for(texts[i]);
        if (!estimate_with(result.model, 1, texts[i]))
            sl_fail_for(texts[i]);
        clear_reading(&result);
    }
}

/* Attention has heads to cut; a state space of one group has none. */
static bool
can_be_cut(const sl_model *model)
{
    bool can = sl_model_does(model, SL_OPERATOR_ATTENTION);

    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; i < model->kinds[k].operator_count; i++) {
            const sl_operator *op = &model->kinds[k].operators[i];
            if (op->kind == SL_OPERATOR_SCAN && op->chunk > 0 && op->kv_heads % 2 != 0)
                can = false;
        }
    return can;
}

static void
every_planned_list_gets_an_estimate_whole_and_cut(void)
{
    for (size_t i = 0; sl_hf_recipe_name(i) != NULL; i++) {
        sl_reading result = read_type_with(sl_hf_recipe_name(i), "");
        if (result.model->unpriced == NULL &&
            (!estimate_with(result.model, 1, "whole") ||
             estimate_with(result.model, 2, "cut") != can_be_cut(result.model)))
            sl_fail_for(sl_hf_recipe_name(i));
        clear_reading(&result);
    }
}

/*
 * Eager, dropout, scores kept, per token with h = 64, f = 256, a = 4, s = 128.
 * fp32: inputs of the two norms, of the query-key-value product, of the attention's output and of
 * the MLP's two products, and q, k and v: 4 (2 + 1 + 1 + 1 + 3) h + 4 f; the GELU's input 4 f;
 * masks of two sums 2 h; softmax, its mask and what dropout made of it 9 a s. In all 34 h + 8 f + 9
 * a s. Autocast: products keep 2 bytes, norms and softmax 4: 2 (1 + 1 + 1 + 3) h + 4 * 2 h + 2 h +
 * (2 + 2) f + (4 + 1 + 2) a s = 22 h + 4 f + 7 a s.
 */
static void
a_bert_layer_keeps_what_autograd_saves(void)
{
    static const struct {
        sl_precision precision;
        double h, f, scores;
    } cases[] = {{SL_PRECISION_FP32, 34.0, 8.0, 9.0}, {SL_PRECISION_FP16, 22.0, 4.0, 7.0}};
    const sl_cluster cluster = sl_fixture_cluster(1);
    sl_software software = sl_fixture_software();
    sl_reading result = read_text(bert, strlen(bert));

    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    software.eager_activations = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_question q = question_of(result.model, &cluster, &software);
        q.workload.framework = SL_FRAMEWORK_DDP;
        q.workload.precision = cases[i].precision;
        q.workload.dropout = true;
        const double each = cases[i].h * 64 + cases[i].f * 256 + cases[i].scores * 4 * 128;
        sl_expect_near(price_of(&q, 1).saved_bytes, 2 * 128 * each, 1e-12, "saved bytes");
    }
    clear_reading(&result);
}

/* Its block begins with a product, which keeps nothing where it is frozen; autocast passes on
 * fp32. */
static void
full_recomputation_keeps_what_a_block_gets(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading result = read_text(bert, strlen(bert));
    sl_question q = question_of(result.model, &cluster, &software);

    q.workload.framework = SL_FRAMEWORK_DDP;
    sl_expect_near(price_of(&q, 1).input_bytes, 256 * 4.0 * 64, 1e-12, "autocast");
    q.workload.adapter =
        (sl_adapter){.method = SL_ADAPTER_LORA, .rank = 8, .target_count = 1, .targets = {"dense"}};
    sl_expect_near(price_of(&q, 1).input_bytes, 256 * 2.0 * 64, 1e-12, "frozen");
    clear_reading(&result);
}

static void
an_encoder_sees_all_positions_and_a_decoder_those_before(void)
{
    static const char decodes[] = "{\"model_type\":\"bert\",\"hidden_size\":64,"
                                  "\"num_attention_heads\":4,\"is_decoder\":true}";
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading whole = read_text(bert, strlen(bert));
    sl_reading masked = read_text(decodes, strlen(decodes));
    const sl_question all = question_of(whole.model, &cluster, &software);
    const sl_question before = question_of(masked.model, &cluster, &software);
    const double flops = 4.0 * 256 * 128 * 64;

    sl_expect_near(price_of(&all, 1).causal_flops, flops, 1e-12, "all pairs");
    sl_expect_near(price_of(&before, 1).causal_flops, flops * 129 / 256, 1e-12, "pairs before");
    CU_ASSERT_TRUE(whole.model->unmasked && !masked.model->unmasked);
    clear_reading(&whole);
    clear_reading(&masked);
}

/* Heads of 16 for 4: 64 wide beside a hidden size of 32, MLP of 96 with a gate. 256 tokens. */
static void
blocks_of_t5_cost_what_their_products_do(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading result = read_text(t5, strlen(t5));
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    const sl_question q = question_of(result.model, &cluster, &software);
    const double attention = 2.0 * 256 * 4 * 32 * 64;
    const double mlp = 2.0 * 256 * 3 * 32 * 96;
    const double scores = 4.0 * 256 * 128 * 64;

    /* Kinds: embedding, first and further encoder blocks, the same of the decoder, head. */
    CU_ASSERT_EQUAL_FATAL(result.model->kind_count, 6);
    for (uint32_t k = 1; k < 3; k++) {
        sl_expect_near(price_of(&q, k).matmul_flops, attention + mlp, 1e-12, "encoder products");
        sl_expect_near(price_of(&q, k).attention_flops, scores, 1e-12, "encoder scores");
    }
    for (uint32_t k = 3; k < 5; k++) {
        const sl_kind_price price = price_of(&q, k);
        sl_expect_near(price.matmul_flops, 2.0 * attention + mlp, 1e-12, "decoder products");
        sl_expect_near(price.attention_flops, 2.0 * scores, 1e-12, "decoder scores");
        sl_expect_near(price.causal_flops, scores * (1.0 + 129.0 / 256), 1e-12, "masked scores");
    }
    sl_expect_near(price_of(&q, 5).matmul_flops, 2.0 * 256 * 32 * 1000, 1e-12, "logits");
    clear_reading(&result);
}

static void
a_classifier_reads_one_position_of_each_sequence(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading result = read_text(bert, strlen(bert));
    const sl_question q = question_of(result.model, &cluster, &software);
    const sl_kind_price head = price_of(&q, 2);

    sl_expect_near(head.matmul_flops, 2.0 * 2 * 64 * (64 + 3), 1e-12, "pooler and classifier");
    sl_expect_near(head.logits, 2.0 * 3, 1e-12, "logits");
    clear_reading(&result);
}

/* Queries and values of both attentions get an adapter of 8: each keeps its fp32 input and what it
 * made of it, (32 + 8) * 4 bytes a token, once. */
static void
an_adapter_feeds_one_product(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading result = read_text(t5, strlen(t5));
    sl_question q = question_of(result.model, &cluster, &software);

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.workload.adapter =
        (sl_adapter){.method = SL_ADAPTER_LORA, .rank = 8, .target_count = 1, .targets = {"v"}};
    const double one = price_of(&q, 4).saved_bytes;
    q.workload.adapter = (sl_adapter){
        .method = SL_ADAPTER_LORA, .rank = 8, .target_count = 2, .targets = {"q", "v"}};
    const double both = price_of(&q, 4).saved_bytes;

    sl_expect_near(both - one, 2.0 * 256 * 4 * (32 + 8), 1e-12, "kept for queries");
    sl_expect_near(price_of(&q, 4).adapter_elements, 4.0 * 8 * (32 + 64), 1e-12, "adapters");
    clear_reading(&result);
}

/* Mamba 2: 4 heads of 8, 2 groups of 16 states, chunks of 32; reads 32 + (32 + 2 * 2 * 16) + 4. */
static const char mamba2[] = "{\"model_type\":\"mamba2\",\"hidden_size\":16,\"num_heads\":4,"
                             "\"head_dim\":8,\"n_groups\":2,\"state_size\":16,\"chunk_size\":32,"
                             "\"num_hidden_layers\":2,\"vocab_size\":100}";

/* Bytes a token at 2 each: the norm's and the first product's input, what the scan reads and gives,
 * and the last product's input. FLOPs: two products, and 7 for each number that is remembered. */
static void
a_state_space_keeps_what_it_reads_and_gives(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading result = read_text(mamba2, strlen(mamba2));
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    const sl_question q = question_of(result.model, &cluster, &software);
    const sl_kind_price block = price_of(&q, 1);

    sl_expect_near(block.saved_bytes, 256 * 2.0 * (16 + 16 + 132 + 32 + 32), 1e-12, "saved");
    sl_expect_near(block.matmul_flops, 256 * (2.0 * 16 * 132 + 2.0 * 32 * 16 + 7.0 * 32 * 16),
                   1e-12, "model FLOPs");
    CU_ASSERT_EQUAL(block.attention_flops, 0.0);
    clear_reading(&result);
}

/* The fixture's part multiplies at 80 TFLOP/s from 4 us on and streams 1 TB/s, of which 0.85 count.
 * 2 (32 (2 * 16 + 32) + 2 * 16 * 32) FLOPs a token and 2 * 2 (132 + 32) + 8 * 32 * 16 / 32 bytes,
 * which take longer. */
static void
a_scan_takes_the_slower_of_its_products_and_its_bytes(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading result = read_text(mamba2, strlen(mamba2));
    const sl_question q = question_of(result.model, &cluster, &software);
    const sl_slice slice = slice_of(&q);
    const sl_operator *scan = &result.model->kinds[1].operators[2];
    const double bytes = 256 * (4.0 * 164 + 8.0 * 32 * 16 / 32);

    CU_ASSERT_EQUAL_FATAL(scan->kind, SL_OPERATOR_SCAN);
    sl_expect_near(sl_kernel_scan_s(&slice, scan, SL_PASS_FORWARD, 0.85), 4e-6 + bytes / 0.85e12,
                   1e-12, "forward");
    sl_expect_near(sl_kernel_scan_s(&slice, scan, SL_PASS_BACKWARD, 0.85),
                   4e-6 + 3 * bytes / 0.85e12, 1e-12, "backward");
    clear_reading(&result);
}

/* A gated delta net of 4 value heads and 2 key heads of 16: 64 values and 32 keys. Hidden size 32,
 * MLP 48. Bytes a token at 2 each: four inputs of products and norms 4 * 32, what the scan reads
 * and gives 2 * 32 + 2 * 64 + 2 * 4 + 64, queries and keys of every head, values and the rows of
 * the inverse 4 (2 * 16 + 16 + 64), the last product's input 64, and gate, up and product of the
 * MLP 3 * 48. FLOPs: products, and 8 for each number that is remembered. */
static void
a_delta_net_keeps_its_inverse_too(void)
{
    static const char text[] =
        "{\"model_type\":\"qwen3_5_text\",\"hidden_size\":32,\"intermediate_size\":48,"
        "\"num_attention_heads\":2,\"head_dim\":16,\"num_key_value_heads\":1,"
        "\"linear_key_head_dim\":16,\"linear_value_head_dim\":16,\"linear_num_key_heads\":2,"
        "\"linear_num_value_heads\":4,\"num_hidden_layers\":4,\"vocab_size\":100}";
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading result = read_text(text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    const sl_question q = question_of(result.model, &cluster, &software);
    const sl_kind_price block = price_of(&q, 1);

    sl_expect_text(result.model->kinds[1].name, "delta_net_dense", "kind");
    sl_expect_near(block.saved_bytes, 256 * 2.0 * (128 + 264 + 448 + 64 + 144), 1e-12, "saved");
    sl_expect_near(block.matmul_flops,
                   256 * (2.0 * (32 * 200 + 64 * 32 + 3 * 32 * 48) + 8.0 * 64 * 16), 1e-12,
                   "model FLOPs");
    clear_reading(&result);
}

/* Gemma 4, two key-value heads of 16: a block that reads those of another keeps neither the norm's
 * keys nor keys and values, 2 (1 + 2) 32 bytes a token, and does not make them. */
static void
keys_and_values_of_another_block_are_kept_once(void)
{
    static const char text[] =
        "{\"model_type\":\"gemma4_text\",\"hidden_size\":32,\"intermediate_size\":64,"
        "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":16,\"vocab_size\":100,"
        "\"vocab_size_per_layer_input\":100,\"num_hidden_layers\":4,\"num_kv_shared_layers\":2,"
        "\"sliding_window\":32}";
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading result = read_text(text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    const sl_question q = question_of(result.model, &cluster, &software);
    const sl_kind_price own = price_of(&q, 1);
    const sl_kind_price reused = price_of(&q, 2);

    sl_expect_text(result.model->kinds[1].name, "dense_window", "own");
    sl_expect_text(result.model->kinds[2].name, "dense_window_reuse", "reused");
    sl_expect_near(own.saved_bytes - reused.saved_bytes, 256 * 2.0 * (1 + 2) * 32, 1e-12, "kept");
    sl_expect_near(own.matmul_flops - reused.matmul_flops, 256 * 2.0 * 32 * 2 * 32, 1e-12, "made");
    /* A window of 32 leaves each of 128 queries 32 (1 - 32 / 256) keys on average. */
    sl_expect_near(own.causal_flops, 4.0 * 256 * 28 * 64, 1e-12, "window");
    clear_reading(&result);
}

static void
expect_refused(const sl_question *q, const char *pointer)
{
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(q, &err), SL_E_UNSUPPORTED);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].rule, "not_modelled", "rule");
    sl_expect_text(err.list[0].pointer, pointer, "pointer");
}

static void
what_is_modelled_for_decoders_only_is_refused_by_name(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading encoder = read_text(bert, strlen(bert));
    sl_reading both = read_text(t5, strlen(t5));
    sl_question q = question_of(both.model, &cluster, &software);

    q.plan.pipeline = 2;
    q.plan.data = 4;
    expect_refused(&q, "/parallelism/pipeline");
    q = question_of(both.model, &cluster, &software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    expect_refused(&q, "/workload/attention");
    q = question_of(encoder.model, &cluster, &software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.context = 2;
    q.plan.data = 4;
    expect_refused(&q, "/parallelism/context");
    clear_reading(&encoder);
    clear_reading(&both);
}

static void
what_the_config_leaves_open_is_answered_as_its_class_trains(void)
{
    static const char without[] = "{\"model_type\":\"t5\",\"dropout_rate\":0.0}";
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_reading result = read_text(t5, strlen(t5));
    sl_reading other = read_text(without, strlen(without));
    sl_question q = question_of(result.model, &cluster, &software);

    CU_ASSERT_TRUE(result.model->drops && !other.model->drops);
    q.unknown = SL_UNKNOWN_DROPOUT | SL_UNKNOWN_ATTENTION;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_TRUE(e->workload.dropout);
    CU_ASSERT_EQUAL(e->workload.attention, SL_ATTENTION_UNFUSED);
    CU_ASSERT_EQUAL(e->evaluated, 1);
    clear_reading(&result);
    clear_reading(&other);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_matrix_of_a_planned_list_is_multiplied_once),
        SL_CASE(parts_that_few_configs_have_are_multiplied_too),
        SL_CASE(the_readme_says_which_lists_are_planned),
        SL_CASE(every_planned_list_gets_an_estimate_whole_and_cut),
        SL_CASE(a_bert_layer_keeps_what_autograd_saves),
        SL_CASE(full_recomputation_keeps_what_a_block_gets),
        SL_CASE(an_encoder_sees_all_positions_and_a_decoder_those_before),
        SL_CASE(blocks_of_t5_cost_what_their_products_do),
        SL_CASE(a_classifier_reads_one_position_of_each_sequence),
        SL_CASE(an_adapter_feeds_one_product),
        SL_CASE(a_state_space_keeps_what_it_reads_and_gives),
        SL_CASE(a_scan_takes_the_slower_of_its_products_and_its_bytes),
        SL_CASE(a_delta_net_keeps_its_inverse_too),
        SL_CASE(keys_and_values_of_another_block_are_kept_once),
        SL_CASE(what_is_modelled_for_decoders_only_is_refused_by_name),
        SL_CASE(what_the_config_leaves_open_is_answered_as_its_class_trains),
    };
    return sl_run_cases(argc, argv, "planned_lists", cases, sizeof cases / sizeof cases[0]);
}
