/* Any comparison request: reading ends, what is refused says why, and a strategy that is legal has figures
 * that hang together. One strategy an input, all ways of fine-tuning. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "codec/comparison_ask.h"
#include "codec/comparison_json.h"
#include "codec/layers_json.h"
#include "codec/names.h"
#include "hf/config.h"
#include "json/reader.h"

enum { OUTPUT_BYTES = 16 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
static sl_catalog *catalog;
static sl_estimate_request request;
static sl_model model;
static sl_estimate answer, scratch;
static sl_comparison comparison;
static sl_tuning_comparison tuning;

static void
expect_consistent(const sl_entry *entry)
{
    if (!entry->legal) {
        assert(entry->refused.rule != NULL && entry->refused.message[0] != '\0');
        return;
    }
    assert(isfinite(entry->time.step_s) && entry->time.step_s > 0.0);
    assert(entry->fits == (entry->headroom_bytes >= 0));
    assert(entry->step_low_s <= entry->time.step_s && entry->time.step_s <= entry->step_high_s);
}

static void
write_answer(const sl_comparison *strategies, const sl_tuning_comparison *methods)
{
    const sl_comparison_document document = {
        .request = &request,
        .model = &model,
        .parameters = 1,
        .strategies = strategies,
        .tuning = methods,
        .engine_version = "fuzz",
        .catalog_revision = sl_catalog_revision(catalog),
        .input_hash = "",
    };
    sl_buffer out;
    sl_writer writer;

    sl_buffer_init(&out, OUTPUT_BYTES);
    sl_writer_init(&writer, &out);
    sl_comparison_write(&writer, &document);
    assert(sl_writer_ok(&writer));
    sl_buffer_clear(&out);
}

static void
compare(size_t size)
{
    sl_comparison_questions questions;

    if (request.of == SL_COMPARISON_OF_FINETUNING) {
        const sl_question question = sl_tuning_request_question(&request, &model, catalog);
        sl_tuning_answer(&question, &scratch, &answer, &tuning);
        for (uint32_t i = 0; i < tuning.count; i++)
            expect_consistent(&tuning.entries[i]);
        write_answer(NULL, &tuning);
        return;
    }
    const sl_comparison_ask ask = sl_comparison_request_ask(&request, &model, catalog, &questions);
    for (uint32_t i = 0; i < SL_STRATEGY_COUNT; i++)
        comparison.asked[i] = i == size % SL_STRATEGY_COUNT && (request.strategies >> i & 1u) != 0;
    sl_comparison_answer(&ask, &scratch, &answer, &comparison);
    for (uint32_t i = 0; i < SL_STRATEGY_COUNT; i++)
        if (comparison.asked[i])
            expect_consistent(&comparison.strategies[i]);
    write_answer(&comparison, NULL);
}

static sl_code
read_model(sl_errors *err)
{
    sl_errors warnings = {0};
    sl_code code = SL_E_NOT_FOUND;

    if (request.source == SL_MODEL_FROM_LAYERS)
        code = sl_layers_read(&request.layers, "", &model, NULL, err);
    if (request.source == SL_MODEL_FROM_CONFIG)
        code = sl_hf_config_read(&request.config, "", &model, &warnings, err);
    if (code == SL_OK && request.mtp)
        code = sl_model_add_prediction(&model, err);
    return code == SL_OK ? sl_estimate_request_model(&request, &model, err) : code;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sl_errors err = {0};
    sl_json *json = NULL;

    if (catalog == NULL) {
        catalog = sl_catalog_new(&err);
        assert(catalog != NULL);
    }
    if (sl_json_parse((const char *)bytes, size, &limits, &json, &err) != SL_OK)
        return 0;

    const sl_node root = sl_json_root(json);
    if (sl_comparison_request_read(&root, catalog, NULL, &request, &err) != SL_OK)
        assert(err.count > 0);
    else if (request.has_cluster && read_model(&err) == SL_OK)
        compare(size);
    sl_json_free(json);
    return 0;
}
