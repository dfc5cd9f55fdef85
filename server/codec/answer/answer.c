#include "codec/answer/answer.h"

#include <assert.h>

void
sl_answer_model_write(sl_writer *writer, const sl_answer_about *about)
{
    assert(writer != NULL && about != NULL);

    const sl_model *const model = about->model;
    const bool revised = model != NULL && *model->revision != '\0';
    sl_write_key(writer, "model");
    sl_write_object(writer);
    sl_put_text(writer, "name", model != NULL ? model->name : NULL);
    sl_put_text(writer, "revision", revised ? model->revision : NULL);
    sl_put_uint(writer, "parameters", about->parameters);
    sl_write_object_end(writer);
}

void
sl_answer_origin_write(sl_writer *writer, const sl_answer_about *about)
{
    assert(writer != NULL && about != NULL);

    sl_put_text(writer, "engine_version", about->engine_version);
    sl_put_text(writer, "catalog_revision", about->catalog_revision);
    sl_put_text(writer, "input_hash", about->input_hash);
}
