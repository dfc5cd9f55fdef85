/* Any plan of a few models and any question about its map: what is refused says why, and what is
 * accepted is a page of JSON whose cursor leads on to the end.
 *
 * A digit or letter for each field of the plan, then "rank|cursor|tensor". */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codec/answer/sharding_json.h"
#include "json/reader.h"

enum { PAGE_MAX_BYTES = 64 << 20, PAGES = 3, TEXT_MAX = 96, SPECS = 5, MODELS = SPECS + 1 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct input {
    const uint8_t *bytes;
    size_t size;
} input;

static sl_model *models[MODELS];
static const sl_estimate_request request;
static const sl_software software = {.framework = "megatron", .fragmentation_ratio = 1.0};

static uint32_t
take(input *in, uint32_t below)
{
    if (in->size == 0)
        return 0;
    const uint8_t byte = (uint8_t)(*in->bytes - '0');
    in->bytes++;
    in->size--;
    return byte % below;
}

/* Powers of two, and what divides nothing. */
static uint32_t
take_degree(input *in, uint32_t powers)
{
    const uint32_t value = take(in, powers + 2);

    return value < powers ? 1U << value : value - powers + 3;
}

/* Up to the next bar, as a text; NULL when empty. */
static const char *
take_text(input *in, char out[TEXT_MAX])
{
    size_t length = 0;

    while (in->size > 0 && *in->bytes != '|') {
        if (length + 1 < TEXT_MAX && *in->bytes != '\0')
            out[length++] = (char)*in->bytes;
        in->bytes++;
        in->size--;
    }
    if (in->size > 0) {
        in->bytes++;
        in->size--;
    }
    out[length] = '\0';
    return length > 0 ? out : NULL;
}

static void
describe_models(void)
{
    static const sl_plain_layer layers[] = {
        {"wide", 3, 1000, 1, 1, 1}, {"pool", 2, 0, 1, 1, 1}, {"narrow", 3, 17, 1, 1, 1}};
    static const sl_naming namings[SPECS] = {SL_NAMING_LLAMA, SL_NAMING_QWEN2_MOE, SL_NAMING_LLAMA4,
                                             SL_NAMING_DBRX, SL_NAMING_LLAMA};

    for (uint32_t i = 0; i < MODELS; i++) {
        models[i] = calloc(1, sizeof *models[i]);
        assert(models[i] != NULL);
    }
    sl_model_describe_plain(layers, sizeof layers / sizeof layers[0], models[SPECS]);
    for (uint32_t i = 0; i < SPECS; i++) {
        const sl_dense_spec spec = {
            .naming = namings[i],
            .blocks = 4,
            .hidden = 64,
            .ffn = 128,
            .vocabulary = 100,
            .heads = 8,
            .kv_heads = 4,
            .head_dim = 8,
            .gated_mlp = true,
            .has_head = true,
            .tied = i == 0 || i == 4,
            .experts = {.count = i == 0 || i == 4 ? 0 : 8, .per_token = 2, .width = 32},
        };
        sl_errors err = {0};
        sl_code code = sl_model_describe_dense(&spec, models[i], &err);
        if (code == SL_OK && i == 4)
            code = sl_model_add_prediction(models[i], &err);
        assert(code == SL_OK);
        (void)code;
    }
}

static void
take_question(input *in, sl_cluster *cluster, sl_question *out)
{
    *out = (sl_question){.cluster = cluster, .software = &software, .software_count = 1};
    out->model = models[take(in, MODELS)];
    out->workload = (sl_workload){.framework = (sl_framework)take(in, SL_FRAMEWORK_COUNT),
                                  .sequence_length = 64,
                                  .global_batch = 1 << 14,
                                  .micro_batch = 1,
                                  .attention = SL_ATTENTION_FLASH2,
                                  .layout = {-1.0, -1.0, -1.0, -1.0}};
    if (sl_model_is_plain(out->model)) {
        out->workload.sequence_length = 1;
        out->workload.attention = SL_ATTENTION_UNFUSED;
    }
    sl_plan *const plan = &out->plan;
    plan->tensor = take_degree(in, 4);
    plan->pipeline = take_degree(in, 3);
    plan->virtual_pipeline = 1 + take(in, 2);
    plan->context = take_degree(in, 2);
    plan->expert = take_degree(in, 4);
    plan->expert_tensor = take(in, 3);
    plan->data = take_degree(in, 6);
    plan->zero_stage = take(in, 4);
    plan->shard_group = take(in, 2) == 0 ? 0 : take_degree(in, 6);
    if (take(in, 2) == 1)
        out->workload.adapter =
            (sl_adapter){.method = SL_ADAPTER_LORA, .rank = 4, .base = SL_ADAPTER_BASE_NF4};
    plan->schedule = (sl_schedule)take(in, SL_SCHEDULE_COUNT);
    plan->order = (sl_order)take(in, SL_ORDER_COUNT);
    plan->layout_chunks = take(in, 2) * plan->pipeline * plan->virtual_pipeline;
    for (uint32_t i = 0; i < plan->layout_chunks; i++)
        plan->layout[i] = (uint16_t)take(in, 5);
    plan->unit = (sl_unit){.kind = (sl_unit_kind)take(in, 4), .least = 20000, .module_count = 1};
    memcpy(plan->unit.modules[0], "mlp", sizeof "mlp");

    const uint64_t world = sl_plan_world(plan);
    *cluster = (sl_cluster){.accelerators_per_node = world % 8 == 0 ? 8 : (uint32_t)world,
                            .nodes = world % 8 == 0 ? (uint32_t)(world / 8) : 1,
                            .nics_per_node = 8,
                            .nic_bytes_per_s = 1e10,
                            .oversubscription_ratio = 1.0};
    sl_accelerator *const part = &cluster->accelerator;
    part->memory_bytes = (uint64_t)80 << 30;
    part->memory_bytes_per_s = 1e12;
    part->peak_flops_per_s[SL_PRECISION_BF16] = 1e14;
    part->gemm.peak_flops_per_s = 1e14;
    part->scale_up_bytes_per_s = 1e11;
    part->host_bytes_per_s = 1e10;
    part->scale_up_domain = 8;
    part->attention[SL_ATTENTION_FLASH2][0].head_dim = 8;
}

/* Writes a page; false on the last one, else its cursor for the next. */
static bool
write_page(const sl_sharding *sharding, const sl_sharding_query *query, char cursor[TEXT_MAX])
{
    static const sl_json_limits limits = {.max_bytes = PAGE_MAX_BYTES, .max_depth = 16};
    sl_errors err = {0};
    sl_json *json = NULL;
    const char *next = NULL;
    sl_buffer body;
    sl_writer writer;

    sl_buffer_init(&body, PAGE_MAX_BYTES);
    sl_writer_init(&writer, &body);
    const bool written = sl_sharding_write(&writer, sharding, query, &request, NULL);
    assert(written && sl_writer_ok(&writer));
    (void)written;
    const sl_code parsed = sl_json_parse(body.data, body.size, &limits, &json, &err);
    assert(parsed == SL_OK);
    (void)parsed;
    const sl_node root = sl_json_root(json);
    const sl_code read = sl_node_text(&root, "next_cursor", &next, NULL, &err);
    assert(read == SL_OK);
    (void)read;
    if (next != NULL) {
        const bool copied = sl_text_copy(cursor, TEXT_MAX, next);
        assert(copied);
        (void)copied;
    }
    sl_json_free(json);
    sl_buffer_clear(&body);
    return next != NULL;
}

static void
ask(input *in, const sl_sharding *sharding)
{
    char ranks[TEXT_MAX], cursor[TEXT_MAX], pattern[TEXT_MAX];
    sl_sharding_query query = {.limit = 1 + take(in, 64)};
    sl_errors err = {0};
    const char *asked = take_text(in, ranks);
    const char *from = take_text(in, cursor);

    query.tensor = take_text(in, pattern);
    if (sl_sharding_query_read(asked, from, &query, &err) != SL_OK ||
        sl_sharding_query_check(&query, sharding, &err) != SL_OK) {
        assert(err.count > 0);
        return;
    }
    for (uint32_t page = 0; page < PAGES && write_page(sharding, &query, cursor); page++) {
        const sl_sharding_query before = query;
        const sl_code code = sl_sharding_query_read(NULL, cursor, &query, &err);
        assert(code == SL_OK);
        (void)code;
        /* Or the pages would never end. */
        assert(query.entry > before.entry ||
               (query.entry == before.entry &&
                (query.part > before.part ||
                 (query.part == before.part && query.shard > before.shard))));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    input in = {bytes, size};
    sl_errors err = {0};
    sl_cluster cluster;
    sl_question question;

    if (models[0] == NULL)
        describe_models();
    take_question(&in, &cluster, &question);
    if (sl_question_check(&question, &err) != SL_OK ||
        sl_sharding_check(&question, &err) != SL_OK) {
        assert(err.count > 0);
        return 0;
    }
    const sl_sharding sharding = sl_sharding_of(&question, sl_sharding_mode_of(&question));
    ask(&in, &sharding);
    return 0;
}
