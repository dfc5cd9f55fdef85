/* Searches from a request to an answer, and each plan of the answer as a request again. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "catalogued.h"
#include "codec/search/search.h"
#include "harness.h"
#include "hf/config.h"
#include "json/patch.h"

#define LLAMA                                                                                      \
    "{\"config\":{\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\","              \
    "\"hidden_size\":4096,\"intermediate_size\":11008,\"num_hidden_layers\":32,"                   \
    "\"num_attention_heads\":32,\"num_key_value_heads\":32,\"vocab_size\":32000,"                  \
    "\"max_position_embeddings\":4096,\"rms_norm_eps\":1e-05,\"tie_word_embeddings\":false}}"

#define MIXTRAL                                                                                    \
    "{\"config\":{\"architectures\":[\"MixtralForCausalLM\"],\"model_type\":\"mixtral\","          \
    "\"hidden_size\":2048,\"intermediate_size\":4096,\"num_hidden_layers\":16,"                    \
    "\"num_attention_heads\":16,\"num_key_value_heads\":8,\"vocab_size\":32000,"                   \
    "\"num_local_experts\":8,\"num_experts_per_tok\":2,\"max_position_embeddings\":4096,"          \
    "\"rms_norm_eps\":1e-05,\"tie_word_embeddings\":false}}"

#define H100(nodes) "{\"node_type\":\"hgx-h100-8\",\"nodes\":" nodes "}"
#define BATCH "\"sequence_length\":4096,\"global_batch_size\":64"

static sl_catalog *catalog; /* of main */

/* A search on one thread, and everything that its answer borrows. */
typedef struct run {
    sl_json *json;
    sl_arena *arena;
    sl_search_asked *asked;
    sl_code code;
    sl_errors err;
    sl_model *model;
    void *space;
    const sl_search *search;
    sl_search_outcome *outcome;
    sl_search_review *review;
    sl_buffer text;
    sl_json *answer;
} run;

static void *
room(size_t size)
{
    void *const memory = calloc(1, size);
    CU_ASSERT_TRUE_FATAL(memory != NULL);
    return memory;
}

static sl_json *
parse(const char *text, size_t size)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 26, .max_depth = 32};
    sl_errors err = {0};
    sl_json *json = NULL;
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, size, &limits, &json, &err), SL_OK);
    return json;
}

static void
read_search(run *r, const char *text)
{
    memset(r, 0, sizeof *r);
    r->json = parse(text, strlen(text));
    r->arena = sl_arena_new(16 << 20);
    CU_ASSERT_TRUE_FATAL(r->arena != NULL);
    const sl_node root = sl_json_root(r->json);
    r->code = sl_search_read(&root, catalog, r->arena, NULL, &r->asked, &r->err);
}

static void
search_all(run *r)
{
    sl_search_outcome *const part = room(sizeof *part);
    void *const scratch = room(sl_search_scratch_bytes());
    void *const review_scratch = room(sl_review_scratch_bytes());

    r->outcome = room(sizeof *r->outcome);
    r->review = room(sizeof *r->review);
    sl_search_begin(r->outcome);
    for (uint32_t u = 0; u < sl_search_unit_count(r->search); u++) {
        sl_search_unit(r->search, u, r->outcome, scratch, part);
        sl_search_merge(r->search, part, r->outcome);
    }
    const sl_review_wish wish = sl_search_wish(r->asked);
    sl_review_begin(r->search, r->outcome, &wish, r->review);
    for (uint32_t u = 0; u < r->review->unit_count; u++)
        sl_review_unit(r->review, u, review_scratch);
    sl_review_finish(r->review);
    free(part);
    free(scratch);
    free(review_scratch);
}

static void
write_search(run *r)
{
    sl_writer writer;
    const sl_search_document document = {
        .asked = r->asked,
        .search = r->search,
        .outcome = r->outcome,
        .review = r->review,
        .state = SL_SEARCH_DONE,
        .elapsed_s = 0.5,
        .about = {.model = r->model,
                  .parameters = 1000,
                  .engine_version = "0",
                  .catalog_revision = "0",
                  .input_hash = "0"},
    };
    sl_buffer_init(&r->text, 1 << 26);
    sl_writer_init(&writer, &r->text);
    sl_search_write(&writer, &document);
    CU_ASSERT_TRUE_FATAL(sl_writer_ok(&writer));
    r->answer = parse(r->text.data, r->text.size);
}

/* As far as it goes: r->code and r->err say how far. */
static void
run_search(run *r, const char *text)
{
    read_search(r, text);
    if (r->code != SL_OK)
        return;
    r->model = room(sizeof *r->model);
    sl_errors ignored = {0};
    r->code = sl_hf_config_read(&r->asked->of[0]->config, "", r->model, &ignored, &r->err);
    if (r->code == SL_OK)
        r->code = sl_search_decode(r->asked, r->model, &r->err);
    r->space = room(sl_search_bytes());
    if (r->code == SL_OK)
        r->code = sl_search_prepare(&r->asked->request, r->space, &r->search, &r->err);
    if (r->code != SL_OK)
        return;
    search_all(r);
    write_search(r);
}

static void
clear(run *r)
{
    sl_search_asked_clear(r->asked);
    sl_json_free(r->json);
    sl_json_free(r->answer);
    sl_buffer_clear(&r->text);
    sl_arena_free(r->arena);
    free(r->model);
    free(r->space);
    free(r->outcome);
    free(r->review);
}

static sl_node
member(const sl_node *object, const char *name)
{
    sl_node out = {.value = NULL};
    if (!sl_node_member(object, name, &out)) {
        sl_fail_for(name);
        CU_ASSERT_TRUE_FATAL(false);
    }
    return out;
}

static double
number(const sl_node *object, const char *name)
{
    const sl_node node = member(object, name);
    sl_errors err = {0};
    double value = 0;
    CU_ASSERT_EQUAL_FATAL(sl_node_as_double(&node, -1e300, 1e300, &value, &err), SL_OK);
    return value;
}

static void
merge(const sl_node *document, const sl_node *patch, sl_buffer *out)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    sl_buffer from, with;
    sl_errors err = {0};
    sl_buffer_init(&from, 1 << 20);
    sl_buffer_init(&with, 1 << 20);
    sl_buffer_init(out, 1 << 20);
    CU_ASSERT_EQUAL_FATAL(sl_json_canonical(document, &from), SL_OK);
    CU_ASSERT_EQUAL_FATAL(sl_json_canonical(patch, &with), SL_OK);
    const sl_patch of = {with.data, with.size};
    CU_ASSERT_EQUAL_FATAL(sl_json_merge_patch(from.data, &of, &limits, out, &err), SL_OK);
    sl_buffer_clear(&from);
    sl_buffer_clear(&with);
}

/* The request with the plan merged in, as an estimate request. */
static void
write_estimate(const run *r, const sl_node *plan, sl_buffer *out)
{
    static const char *const merged[] = {"workload", "parallelism"};
    const sl_node root = sl_json_root(r->json);
    const uint32_t index = (uint32_t)number(plan, "cluster_index");
    sl_writer writer;
    sl_buffer piece, model;
    sl_buffer_init(out, 1 << 20);
    sl_buffer_init(&model, 1 << 20);
    sl_writer_init(&writer, out);
    sl_write_object(&writer);
    const sl_node of_model = member(&root, "model");
    CU_ASSERT_EQUAL_FATAL(sl_json_canonical(&of_model, &model), SL_OK);
    sl_write_key(&writer, "model");
    sl_write_raw(&writer, model.data, model.size);
    sl_buffer_clear(&model);
    for (size_t i = 0; i < 2; i++) {
        const sl_node patch = member(plan, merged[i]);
        sl_node from;
        if (!sl_node_member(&root, merged[i], &from))
            from = patch;
        merge(&from, &patch, &piece);
        sl_write_key(&writer, merged[i]);
        sl_write_raw(&writer, piece.data, piece.size);
        sl_buffer_clear(&piece);
    }
    const sl_node cluster = member(plan, "cluster");
    merge(&r->asked->entries[index], &cluster, &piece);
    sl_write_key(&writer, "cluster");
    sl_write_raw(&writer, piece.data, piece.size);
    sl_buffer_clear(&piece);
    sl_write_object_end(&writer);
    CU_ASSERT_TRUE_FATAL(sl_writer_ok(&writer));
}

/* As answers print it. */
static void
expect_printed(const sl_node *object, const char *name, double value)
{
    char printed[40];
    (void)sl_text_format(printed, sizeof printed, "%.12g", value);
    double again = 0;
    CU_ASSERT_TRUE_FATAL(sl_text_to_double(printed, &again));
    if (number(object, name) != again)
        sl_fail_for(name);
    CU_ASSERT_EQUAL(number(object, name), again);
}

static void
expect_same_estimate(const run *r, const sl_node *plan, bool reviewed)
{
    sl_estimate_request *const read = room(sizeof *read);
    sl_estimate *const estimates = room(2 * sizeof *estimates);
    sl_errors err = {0};
    sl_buffer document;
    write_estimate(r, plan, &document);
    sl_json *const json = parse(document.data, document.size);
    const sl_node root = sl_json_root(json);
    if (sl_estimate_request_read(&root, catalog, NULL, read, &err) != SL_OK)
        sl_fail_for(err.list[0].message);
    const sl_question q = sl_estimate_request_question(read, r->model);
    if (err.count == 0 && sl_estimate_request_check(read, &q, &err) != SL_OK)
        sl_fail_for(err.list[0].message);
    CU_ASSERT_EQUAL_FATAL(err.count, 0);
    CU_ASSERT_EQUAL_FATAL(sl_estimate_answer(&q, &estimates[1], estimates, &err), SL_OK);
    const sl_memory *const memory = &estimates->memory;
    CU_ASSERT_EQUAL(estimates->evaluated, 1);
    expect_printed(plan, "step_s", estimates->time.step_s);
    expect_printed(plan, "tokens_per_s", estimates->throughput.tokens_per_s);
    CU_ASSERT_EQUAL(number(plan, "peak_reserved_bytes"),
                    (double)memory->ranks[memory->binding].peak_reserved_bytes);
    CU_ASSERT_EQUAL(number(plan, "headroom_bytes"), (double)memory->headroom_bytes);
    if (estimates->throughput.cost > 0)
        expect_printed(plan, "cost", estimates->throughput.cost);
    if (estimates->throughput.energy_j > 0)
        expect_printed(plan, "energy_j", estimates->throughput.energy_j);
    if (reviewed) {
        sl_node low;
        double value = 0;
        const sl_node interval = member(plan, "interval");
        const sl_node pair = member(&interval, "step_s");
        CU_ASSERT_TRUE_FATAL(sl_node_at(&pair, 0, &low));
        CU_ASSERT_EQUAL(sl_node_as_double(&low, 0, 1e9, &value, &err), SL_OK);
        sl_expect_near(value, estimates->step_low_s, 1e-11, "interval");
    }
    sl_buffer_clear(&document);
    sl_json_free(json);
    free(estimates);
    free(read);
}

static uint32_t
expect_every_plan_is_an_estimate(const run *r)
{
    static const char *const lists[] = {"best", "pareto"};
    const sl_node root = sl_json_root(r->answer);
    uint32_t count = 0;
    sl_node plan;
    for (size_t l = 0; l < 2; l++) {
        const sl_node list = member(&root, lists[l]);
        for (size_t i = 0; sl_node_at(&list, i, &plan); i++, count++)
            expect_same_estimate(r, &plan, l == 0);
    }
    return count;
}

static void
every_plan_found_is_an_estimate_request_with_the_same_figures(void)
{
    static const char *const requests[] = {
        "{\"model\":" LLAMA ",\"workload\":{" BATCH
        ",\"tokens\":1000000000},\"cluster\":" H100("4") "}",
        /* Parts of a node, at its whole price. */
        "{\"model\":" LLAMA ",\"workload\":{" BATCH ",\"tokens\":1000000000},"
        "\"objective\":\"cost\",\"limit\":100,\"cluster\":{\"node_type\":\"hgx-h100-8\","
        "\"price_per_node_hour\":90,\"nodes\":2},\"space\":{\"nodes\":\"any\"}}",
        "{\"model\":" LLAMA ",\"workload\":{" BATCH ",\"framework\":\"fsdp2\"},"
        "\"parallelism\":{\"sharding\":\"hybrid_shard\"},\"cluster\":" H100("4") "}",
        "{\"model\":" LLAMA ",\"workload\":{" BATCH ",\"recompute\":\"full\"},"
        "\"space\":{\"recompute_layers\":[0,2],\"offload\":[\"none\",\"optimizer\"]},"
        "\"cluster\":" H100("2") "}",
        "{\"model\":" LLAMA ",\"workload\":{" BATCH
        ",\"framework\":\"fsdp2\",\"recompute\":{\"mode\":\"full\",\"method\":\"block\","
        "\"layers\":2,\"mlp_tiles\":8}},\"space\":{\"recompute_layers\":[0,2]},"
        "\"cluster\":" H100("1") "}",
        "{\"model\":" MIXTRAL ",\"workload\":{" BATCH
        "},\"clusters\":[" H100("2") ",{\"node_type\":\"dgx-a100-640gb\",\"nodes\":2}]}",
        "{\"model\":" LLAMA ",\"workload\":{" BATCH "},\"cluster\":{\"pools\":["
        "{\"node_type\":\"hgx-h100-8\",\"nodes\":1},{\"node_type\":\"dgx-a100-640gb\","
        "\"nodes\":1}]}}",
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        run r;
        run_search(&r, requests[i]);
        if (r.code != SL_OK)
            sl_fail_for(r.err.list[0].message);
        CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
        CU_ASSERT_TRUE(expect_every_plan_is_an_estimate(&r) > 0);
        clear(&r);
    }
}

static void
a_review_is_the_same_in_any_order_of_its_units(void)
{
    run r;
    run_search(&r, "{\"model\":" LLAMA ",\"workload\":{" BATCH "},\"cluster\":" H100(
                       "2") ",\"limit\":6,\"why_not\":{\"parallelism\":{\"tensor\":8}}}");
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    char *const first = sl_buffer_take(&r.text, NULL);
    void *const scratch = room(sl_review_scratch_bytes());
    const sl_review_wish wish = sl_search_wish(r.asked);
    sl_review_begin(r.search, r.outcome, &wish, r.review);
    CU_ASSERT_TRUE(r.review->unit_count > r.review->plan_count + 1);
    for (uint32_t u = r.review->unit_count; u > 0; u--)
        sl_review_unit(r.review, u - 1, scratch);
    sl_review_finish(r.review);
    sl_json_free(r.answer);
    write_search(&r);
    sl_expect_text(r.text.data, first, "the answer");
    free(first);
    free(scratch);
    clear(&r);
}

static void
expect_values(const run *r, sl_dimension dimension, const uint64_t *expected, uint32_t count)
{
    const sl_values *const values = &r->asked->request.space.of[dimension];
    CU_ASSERT_EQUAL_FATAL(values->count, count);
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(values->list[i], expected[i]);
}

static void
a_group_of_a_node_has_the_accelerators_of_each_cluster_s_nodes(void)
{
    run r;
    run_search(&r, "{\"model\":" LLAMA ",\"workload\":{" BATCH ",\"framework\":\"fsdp2\"},"
                   "\"space\":{\"sharding\":[\"hybrid_shard_zero2\",\"full_shard\"]},"
                   "\"clusters\":[" H100("2") ",{\"accelerator\":\"nvidia-h100-sxm5-80gb\","
                                              "\"nodes\":4,\"accelerators_per_node\":4}]}");
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    expect_values(&r, SL_DIMENSION_ZERO_STAGE, (const uint64_t[]){2, 3}, 2);
    expect_values(&r, SL_DIMENSION_SHARD_GROUP, (const uint64_t[]){0, 4, 8}, 3);
    CU_ASSERT_TRUE(sl_notes_have(&r.asked->of[0]->notes, "sharding_combined"));
    clear(&r);
}

/* In the words of a request as in those of a space. */
static void
what_is_said_of_a_plan_is_its_dimension_s_only_value(void)
{
    run r;
    run_search(&r, "{\"model\":" LLAMA ",\"workload\":{" BATCH ",\"micro_batch_size\":2,"
                   "\"recompute\":{\"mode\":\"full\",\"method\":\"block\",\"layers\":3},"
                   "\"offload\":{\"optimizer\":\"cpu\"}},\"parallelism\":{\"tensor\":4,"
                   "\"sequence\":true,\"pipeline\":2,\"virtual_pipeline\":2,\"data\":\"auto\","
                   "\"schedule\":\"interleaved_1f1b\",\"context_kind\":\"a2a\","
                   "\"zero_stage\":1},\"cluster\":{\"node_type\":\"hgx-h100-8\",\"nodes\":2,"
                   "\"host_memory_bytes\":2199023255552}}");
    if (r.code != SL_OK)
        sl_fail_for(r.err.list[0].message);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    static const struct {
        sl_dimension dimension;
        uint64_t value;
    } fixed[] = {
        {SL_DIMENSION_TENSOR, 4},
        {SL_DIMENSION_SEQUENCE, 1},
        {SL_DIMENSION_PIPELINE, 2},
        {SL_DIMENSION_VIRTUAL_PIPELINE, 2},
        {SL_DIMENSION_SCHEDULE, SL_SCHEDULE_INTERLEAVED_1F1B},
        {SL_DIMENSION_CONTEXT_KIND, SL_CONTEXT_EXCHANGE},
        {SL_DIMENSION_ZERO_STAGE, 1},
        {SL_DIMENSION_MICRO_BATCH, 2},
        {SL_DIMENSION_GLOBAL_BATCH, 64},
        {SL_DIMENSION_RECOMPUTE, SL_RECOMPUTE_FULL},
        {SL_DIMENSION_RECOMPUTE_LAYERS, 3},
        {SL_DIMENSION_OFFLOAD, SL_SEARCH_OFFLOAD_OPTIMIZER},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        expect_values(&r, fixed[i].dimension, &fixed[i].value, 1);
    expect_values(&r, SL_DIMENSION_DATA, NULL, 0);
    CU_ASSERT_TRUE(r.outcome->best_count > 0);
    clear(&r);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_plan_found_is_an_estimate_request_with_the_same_figures),
        SL_CASE(a_review_is_the_same_in_any_order_of_its_units),
        SL_CASE(a_group_of_a_node_has_the_accelerators_of_each_cluster_s_nodes),
        SL_CASE(what_is_said_of_a_plan_is_its_dimension_s_only_value),
    };
    return sl_run_catalogued(argc, argv, "search_json", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
