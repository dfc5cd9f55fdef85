#include "api/models.h"

#include "api/resources.h"
#include "base/text.h"
#include "codec/hf_config.h"
#include "codec/layers_json.h"
#include "codec/members.h"
#include "codec/model_json.h"
#include "shardline/version.h"

/* Configs nest a little and may be written by Python. */
static const sl_json_limits config_limits = {
    .max_bytes = 1 << 20, .max_depth = SL_JSON_DEPTH_MAX, .accept_python_numbers = true};

sl_code
sl_api_decode_config(const sl_hub_file *file, const char *name, const char *pointer,
                     sl_arena *arena, sl_model **out, sl_errors *warnings, sl_errors *err)
{
    sl_errors inner = {.count = 0};
    sl_json *json = NULL;
    sl_model *model = sl_arena_alloc(arena, 1, sizeof *model);

    if (model == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the model does not fit in memory");

    sl_code code = sl_json_parse(file->text, file->size, &config_limits, &json, &inner);
    if (code == SL_OK) {
        const sl_node root = sl_json_root(json);
        code = sl_hf_config_read(&root, name, model, warnings, &inner);
        sl_json_free(json);
    }
    if (code != SL_OK)
        return sl_refail_at(&inner, pointer, err);
    (void)sl_text_copy(model->revision, sizeof model->revision, file->commit);
    *out = model;
    return SL_OK;
}

static void
write_model(const sl_model *model, const sl_errors *warnings, const sl_request *request,
            sl_response *response)
{
    sl_model_counts counts;
    sl_errors err = {.count = 0};
    sl_writer writer;

    if (sl_model_count(model, &counts) != SL_OK) {
        (void)sl_fail(&err, SL_E_RANGE, "out_of_range", "",
                      "the parameters of this model cannot be counted in 64 bits");
        sl_response_problem(response, request, &err);
        return;
    }
    sl_writer_init(&writer, &response->body);
    sl_model_write(&writer, model, &counts, warnings);
    sl_api_finish(&writer, response, request);
}

/* Runs on the Hub's lane: asking it is what takes time. */
void
sl_models_get(void *app, void *thread, const sl_request *request, sl_response *response)
{
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *org = sl_request_parameter(request, "org");
    const char *name = sl_request_parameter(request, "name");
    const char *revision = sl_request_query(request, "revision");
    sl_errors err = {.count = 0};
    sl_errors warnings = {.count = 0};
    sl_model *model = NULL;
    sl_hub_file file = {.text = NULL};

    (void)app;
    if (worker == NULL)
        return;

    const char *id = *org == '\0' ? name : sl_arena_format(request->arena, "%s/%s", org, name);
    sl_code code =
        id == NULL ? sl_fail(&err, SL_E_MEMORY, "out_of_memory", "", "no memory for the request")
                   : sl_hub_config(worker->hub, id, revision == NULL ? "main" : revision,
                                   request->cancelled, request->arena, "", &file, &err);
    if (code == SL_OK)
        code = sl_api_decode_config(&file, id, "", request->arena, &model, &warnings, &err);
    if (code != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    if (file.stale) { /* without a tag: what follows is not to outlive the outage */
        (void)sl_fail(&warnings, SL_E_UPSTREAM, "stale_revision", "",
                      "the Hub could not be asked: the cached revision was used");
    } else {
        /* The next release may read more out of the same commit. */
        const char *tag = sl_arena_format(request->arena, "%s-%s", file.commit, SL_VERSION);
        if (tag != NULL && sl_response_etag(response, request, tag))
            return;
    }
    write_model(model, &warnings, request, response);
}

/* The one of "config" and "layers" that there is. */
static sl_code
read_inline(const sl_node *root, const char *name, sl_model *model, sl_errors *warnings,
            sl_errors *err)
{
    sl_node config, layers;
    const bool listed = sl_node_member(root, "layers", &layers);

    if (listed && sl_node_member(root, "config", &config))
        return sl_node_fail(root, err, SL_E_RANGE, "conflicting_fields",
                            "must have one of \"config\" and \"layers\"");
    if (listed) {
        (void)sl_fail(warnings, SL_E_RANGE, "missing_dtype", "",
                      "a list of layers names no dtype: the weights are taken to be fp32");
        return sl_layers_read(&layers, name, model, NULL, err);
    }

    const sl_code code = sl_node_required(root, "config", &config, err);
    return code != SL_OK ? code : sl_hf_config_read(&config, name, model, warnings, err);
}

void
sl_models_inspect(void *app, void *worker, const sl_request *request, sl_response *response)
{
    static const char *const members[] = {"config", "layers", "name"};
    sl_json *json = sl_api_body(request, true, response);
    sl_errors err = {.count = 0};
    sl_errors warnings = {.count = 0};
    sl_model *model = sl_arena_alloc(request->arena, 1, sizeof *model);
    const char *name = "";

    (void)app;
    (void)worker;
    if (json == NULL)
        return;

    const sl_node root = sl_json_root(json);
    sl_code code = sl_node_object(&root, &err);
    if (code == SL_OK && model == NULL)
        code = sl_fail(&err, SL_E_MEMORY, "out_of_memory", "", "the model does not fit in memory");
    if (code == SL_OK) {
        /* One answer names every fault: unknown members, the name, and all of the config. */
        const sl_code known =
            sl_node_known(&root, members, sizeof members / sizeof members[0], &err, NULL);
        const sl_code text = sl_node_text(&root, "name", &name, NULL, &err);
        code = read_inline(&root, name, model, &warnings, &err);
        if (code == SL_OK)
            code = known != SL_OK ? known : text;
    }
    if (code == SL_OK)
        write_model(model, &warnings, request, response);
    else
        sl_response_problem(response, request, &err);
    sl_json_free(json);
}
