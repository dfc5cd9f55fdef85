/* Any bytes as a config, and as the separate file of its quantisation: no crash, no leak, and what
 * is accepted can be counted and answered. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "codec/answer/model_json.h"
#include "hf/config.h"
#include "hf/quantization.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
answer(const sl_model *model, const sl_errors *warnings)
{
    sl_model_counts counts;
    sl_buffer buffer;
    sl_writer writer;

    /* The bounds of the decoder keep every count in range, so a failure here is a finding. */
    const sl_code code = sl_model_count(model, &counts);
    assert(code == SL_OK);
    (void)code;
    sl_buffer_init(&buffer, 64 << 20); /* as much as the server answers */
    sl_writer_init(&writer, &buffer);
    sl_model_write(&writer, model, &counts, NULL, warnings);
    assert(sl_writer_ok(&writer));
    sl_buffer_clear(&buffer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sl_json_limits limits = {
        .max_bytes = 1 << 20, .max_depth = 32, .accept_python_numbers = true};
    sl_errors err = {0};
    sl_errors warnings = {0};
    sl_json *json = NULL;

    if (sl_json_parse((const char *)data, size, &limits, &json, &err) != SL_OK)
        return 0;
    sl_model *model = calloc(1, sizeof *model);
    assert(model != NULL);
    const sl_node root = sl_json_root(json);
    if (sl_hf_config_read(&root, "fuzz", model, &warnings, &err) == SL_OK) {
        answer(model, &warnings);
        if (sl_hf_quantization_read_file(&root, model, &warnings, &err) == SL_OK)
            answer(model, &warnings);
    }
    assert(model->layer_count > 0 || err.count > 0);
    free(model);
    sl_json_free(json);
    return 0;
}
