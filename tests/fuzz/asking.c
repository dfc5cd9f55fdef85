#include "asking.h"

#include <assert.h>

#include "codec/question/layers_json.h"
#include "hf/config.h"
#include "json/reader.h"

const sl_catalog *
sl_asking_catalog(void)
{
    static sl_catalog *catalog;
    sl_errors err = {0};

    if (catalog == NULL) {
        catalog = sl_catalog_new(&err);
        assert(catalog != NULL);
    }
    return catalog;
}

sl_json *
sl_asking_parse(const char *text, size_t size)
{
    static const sl_json_limits limits = {.max_bytes = SL_ASKING_BYTES_MAX, .max_depth = 32};
    sl_errors err = {0};
    sl_json *json = NULL;

    if (sl_json_parse(text, size, &limits, &json, &err) == SL_OK)
        return json;
    assert(err.count > 0);
    return NULL;
}

sl_code
sl_asking_model(const sl_estimate_request *request, sl_model *model, sl_errors *err)
{
    sl_errors warnings = {0};
    sl_code code = SL_E_NOT_FOUND;

    if (request->source == SL_MODEL_FROM_LAYERS)
        code = sl_layers_read(&request->layers, "", model, NULL, err);
    if (request->source == SL_MODEL_FROM_CONFIG)
        code = sl_hf_config_read(&request->config, "", model, &warnings, err);
    if (code == SL_OK && request->mtp)
        code = sl_model_add_prediction(model, err);
    return code == SL_OK ? sl_estimate_request_model(request, model, err) : code;
}

sl_answer_about
sl_asking_about(const sl_model *model, uint64_t parameters)
{
    return (sl_answer_about){
        .model = model,
        .parameters = parameters,
        .engine_version = "fuzz",
        .catalog_revision = sl_catalog_revision(sl_asking_catalog()),
        .input_hash = "",
    };
}

void
sl_asking_begin(sl_asking_answer *answer, size_t room)
{
    sl_buffer_init(&answer->text, room);
    sl_writer_init(&answer->writer, &answer->text);
}

void
sl_asking_end(sl_asking_answer *answer)
{
    assert(sl_writer_ok(&answer->writer));
    sl_asking_drop(answer);
}

void
sl_asking_drop(sl_asking_answer *answer)
{
    sl_buffer_clear(&answer->text);
}
