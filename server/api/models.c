#include "api/models.h"

#include "api/resources.h"
#include "base/text.h"
#include "codec/answer/model_json.h"
#include "codec/question/layers_json.h"
#include "hf/config.h"
#include "hf/quantization.h"
#include "shardline/version.h"
#include "json/members.h"

/* Configs nest a little and may be written by Python. */
static const sl_json_limits config_limits = {
    .max_bytes = 1 << 20, .max_depth = SL_JSON_DEPTH_MAX, .accept_python_numbers = true};

static bool
park(void *argument, void (*wake)(void *context), void *context)
{
    sl_api_model *model = argument;
    return sl_hub_model_wait(model->hub, &model->ticket, wake, context);
}

bool
sl_api_model_arrives(sl_app *app, sl_worker *worker, sl_api_model *model, const sl_request *request,
                     sl_response *response, void *state)
{
    sl_hub_ticket *ticket = &model->ticket;

    model->hub = app->hub;
    if (worker->hub != NULL) {
        if (sl_hub_model_fetch(worker->hub, ticket, request->cancelled))
            sl_response_continue(response, SL_LANE_COMPUTE, state);
        else
            sl_response_park(response, SL_LANE_COMPUTE, state, park, model);
        return false;
    }
    if (ticket->done || sl_hub_model_recall(app->hub, ticket))
        return true;
    sl_response_continue(response, SL_LANE_HUB, state);
    return false;
}

void
sl_api_model_problem(const sl_api_model *model, const sl_request *request, sl_response *response)
{
    const sl_errors err = {.count = 1, .list = {model->ticket.failure}};
    sl_response_problem(response, request, &err);
}

void
sl_api_model_warn(const sl_hub_model *model, const char *pointer, sl_errors *warnings)
{
    if (model->config.stale)
        (void)sl_fail(warnings, SL_E_UPSTREAM, "stale_revision", pointer,
                      "the Hub could not be asked: the cached revision was used");
    if (model->quantization_missing)
        (void)sl_fail(warnings, SL_E_UPSTREAM, "quantization_missing", pointer,
                      "hf_quant_config.json could not be had: the weights are taken as they would "
                      "be without it");
}

/* Some checkpoints are described in a file of their own (NVIDIA's). */
static sl_code
decode_quantization(const sl_hub_file *file, sl_model *model, sl_errors *warnings, sl_errors *err)
{
    sl_json *json = NULL;

    sl_code code = sl_json_parse(file->text, file->size, &config_limits, &json, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    code = sl_hf_quantization_read_file(&root, model, warnings, err);
    sl_json_free(json);
    return code;
}

sl_code
sl_api_decode_config(const sl_hub_file *file, const sl_hub_file *quantization_file,
                     const char *name, const char *pointer, sl_arena *arena, sl_model **out,
                     sl_errors *warnings, sl_errors *err)
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
    if (code == SL_OK && quantization_file != NULL)
        code = decode_quantization(quantization_file, model, warnings, &inner);
    if (code != SL_OK)
        return sl_refail_at(&inner, pointer, err);
    (void)sl_text_copy(model->revision, sizeof model->revision, file->commit);
    *out = model;
    return SL_OK;
}

/* The Hub's words in the codec's. */
static void
checkpoint_of(const sl_hub_info *info, sl_checkpoint *out)
{
    static const char *const sources[] = {
        [SL_HUB_NOT_COUNTED] = NULL,
        [SL_HUB_COUNTED_METADATA] = "safetensors_metadata",
        [SL_HUB_COUNTED_HEADERS] = "safetensors_headers",
    };
    _Static_assert((int)SL_CHECKPOINT_DTYPES_MAX == (int)SL_HUB_DTYPES_MAX,
                   "what the Hub says fits");

    *out = (sl_checkpoint){.gated = info->gated,
                           .source = info->known ? sources[info->source] : NULL,
                           .total = info->total,
                           .dtype_count = info->dtype_count};
    for (uint32_t i = 0; i < info->dtype_count; i++) {
        out->dtypes[i].name = info->dtypes[i].name;
        out->dtypes[i].elements = info->dtypes[i].elements;
    }
}

static void
write_model(const sl_model *model, const sl_checkpoint *checkpoint, const sl_errors *warnings,
            const sl_request *request, sl_response *response)
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
    sl_model_write(&writer, model, &counts, checkpoint, warnings);
    sl_api_finish(&writer, response, request);
}

/* What the path names, in the arena; NULL without memory. */
static sl_api_model *
model_asked(const sl_request *request)
{
    const char *org = sl_request_parameter(request, "org");
    const char *name = sl_request_parameter(request, "name");
    const char *revision = sl_request_query(request, "revision");
    sl_api_model *asked = sl_arena_alloc(request->arena, 1, sizeof *asked);

    if (asked == NULL)
        return NULL;
    asked->ticket.repository =
        *org == '\0' ? name : sl_arena_format(request->arena, "%s/%s", org, name);
    asked->ticket.revision = revision == NULL ? "main" : revision;
    asked->ticket.pointer = "";
    asked->ticket.arena = request->arena;
    return asked->ticket.repository == NULL ? NULL : asked;
}

/* Different answers have different tags: the next release may read more out of the same commit, and
 * a later answer may know more of it. NULL without memory. */
static const char *
tag_of(const sl_hub_model *files, sl_arena *arena)
{
    static const char *const counts[] = {[SL_HUB_NOT_COUNTED] = "checked",
                                         [SL_HUB_COUNTED_METADATA] = "metadata",
                                         [SL_HUB_COUNTED_HEADERS] = "headers"};
    const sl_hub_info *info = &files->info;

    return sl_arena_format(arena, "%s-%s-%s-gate-%s%s%s", files->config.commit, sl_engine_version,
                           info->known ? counts[info->source] : "unchecked",
                           info->gated != NULL ? info->gated : "unknown",
                           files->quantization.text != NULL ? "-quantised" : "",
                           files->quantization_missing ? "-missing" : "");
}

static void
answer_model(const sl_hub_ticket *ticket, const sl_request *request, sl_response *response)
{
    const sl_hub_model *files = &ticket->model;
    sl_errors err = {.count = 0};
    sl_errors warnings = {.count = 0};
    sl_checkpoint checkpoint;
    sl_model *model = NULL;

    if (sl_api_decode_config(
            &files->config, files->quantization.text == NULL ? NULL : &files->quantization,
            ticket->repository, "", request->arena, &model, &warnings, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    sl_api_model_warn(files, "", &warnings);
    if (!files->config.stale) { /* without a tag: what follows is not to outlive the outage */
        const char *tag = tag_of(files, request->arena);
        if (tag != NULL && sl_response_etag(response, request, tag))
            return;
    }
    checkpoint_of(&files->info, &checkpoint);
    write_model(model, &checkpoint, &warnings, request, response);
}

/* On the compute lane what is cached is answered at once; asking the Hub has a lane of its own. */
void
sl_models_get(void *app, void *thread, const sl_request *request, sl_response *response)
{
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_api_model *asked = response->state;
    sl_errors err = {.count = 0};

    if (worker == NULL)
        return;
    if (asked == NULL)
        asked = model_asked(request);
    if (asked == NULL) {
        (void)sl_fail(&err, SL_E_MEMORY, "out_of_memory", "", "no memory for the request");
        sl_response_problem(response, request, &err);
        return;
    }
    if (!sl_api_model_arrives(app, worker, asked, request, response, asked))
        return;
    if (asked->ticket.code != SL_OK)
        sl_api_model_problem(asked, request, response);
    else
        answer_model(&asked->ticket, request, response);
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
        write_model(model, NULL, &warnings, request, response);
    else
        sl_response_problem(response, request, &err);
    sl_json_free(json);
}
