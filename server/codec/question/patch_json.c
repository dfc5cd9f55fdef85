/* A changed plan as what it changes in the request. */
#include "codec/question/patch_json.h"

#include <assert.h>
#include <string.h>

#include "codec/question/names.h"
#include "codec/question/plan_json.h"

/* A fix was evaluated with one value for each open field: the patch pins those that the software
 * does not fix, or the patched request would be answered with another median. What it fixes may
 * have no kernel on this part. */
static bool
is_open(const sl_estimate_request *request, sl_unknown field)
{
    return (request->unknown & (uint32_t)field) != 0;
}

static void
adapter_patch_write(sl_writer *writer, const sl_adapter *from, const sl_adapter *to)
{
    sl_write_key(writer, "adapter");
    sl_write_object(writer);
    if (from->base != to->base)
        sl_put_text(writer, "base", sl_name(&sl_base_names, to->base));
    if (from->autocast != to->autocast)
        sl_put_bool(writer, "autocast", to->autocast);
    sl_write_object_end(writer);
}

static void
workload_patch_write(sl_writer *writer, const sl_estimate_request *request,
                     const sl_estimate *estimate, const sl_fix *fix)
{
    const sl_workload *const from = &estimate->workload;
    const sl_workload *const to = &fix->workload;
    const uint64_t steps = sl_plan_microbatches(to, &fix->plan);
    const bool micro_batch =
        from->micro_batch != to->micro_batch || is_open(request, SL_UNKNOWN_MICRO_BATCH);
    const bool recompute = from->recompute != to->recompute ||
                           from->recompute_method != to->recompute_method ||
                           is_open(request, SL_UNKNOWN_RECOMPUTE);
    const bool attention =
        from->attention != to->attention ||
        (is_open(request, SL_UNKNOWN_ATTENTION) && fix->software->attention != (int)to->attention);
    const bool accumulation =
        request->gradient_accumulation > 0 && request->gradient_accumulation != steps;
    const bool framework = from->framework != to->framework;
    const bool software = is_open(request, SL_UNKNOWN_SOFTWARE) || framework;
    const bool offload = from->offload.optimizer != to->offload.optimizer ||
                         from->offload.optimizer_fraction != to->offload.optimizer_fraction ||
                         from->offload.parameters != to->offload.parameters ||
                         from->offload.activations != to->offload.activations;
    const bool dropout = is_open(request, SL_UNKNOWN_DROPOUT) && fix->software->dropout < 0;
    const bool adapter =
        from->adapter.base != to->adapter.base || from->adapter.autocast != to->adapter.autocast;
    const bool loss = from->loss != to->loss;
    const bool sizes = from->sequence_length != to->sequence_length || /* of limits alone */
                       from->global_batch != to->global_batch;

    if (!(micro_batch || recompute || attention || accumulation || software || dropout || loss ||
          adapter || offload || sizes))
        return;
    sl_write_key(writer, "workload");
    sl_write_object(writer);
    if (framework)
        sl_put_text(writer, "framework", sl_name(&sl_framework_names, to->framework));
    if (software)
        sl_put_text(writer, "software", fix->software->name);
    if (from->sequence_length != to->sequence_length)
        sl_put_uint(writer, "sequence_length", to->sequence_length);
    if (from->global_batch != to->global_batch)
        sl_put_uint(writer, "global_batch_size", to->global_batch);
    if (micro_batch)
        sl_put_uint(writer, "micro_batch_size", to->micro_batch);
    if (accumulation)
        sl_put_uint(writer, "gradient_accumulation", steps);
    if (recompute)
        sl_recompute_patch_write(writer, &request->workload_object, to);
    if (attention)
        sl_put_text(writer, "attention", sl_name(&sl_attention_names, to->attention));
    if (dropout)
        sl_put_bool(writer, "dropout", to->dropout);
    if (loss)
        sl_put_text(writer, "loss", sl_name(&sl_loss_names, to->loss));
    if (adapter)
        adapter_patch_write(writer, &from->adapter, &to->adapter);
    if (offload)
        sl_offload_write(writer, &to->offload);
    sl_write_object_end(writer);
}

static void
put_changed(sl_writer *writer, const char *key, uint32_t from, uint32_t to, bool open)
{
    if (from != to || open)
        sl_put_uint(writer, key, to);
}

static bool
same_layout(const sl_plan *a, const sl_plan *b)
{
    return a->layout_chunks == b->layout_chunks &&
           memcmp(a->layout, b->layout, a->layout_chunks * sizeof *a->layout) == 0;
}

static void
plan_patch_write(sl_writer *writer, const sl_estimate_request *request, const sl_plan *from,
                 const sl_fix *fix)
{
    const sl_plan *const to = &fix->plan;
    const bool data = from->data != to->data && !request->data_auto;
    const bool schedule = from->schedule != to->schedule && request->schedule_said;
    /* A request that does not say it leaves it open once there is more than one tensor rank. */
    const bool sequence = from->sequence != to->sequence || is_open(request, SL_UNKNOWN_SEQUENCE) ||
                          (to->tensor > 1 && from->tensor == 1 && !request->sequence_said);
    /* Words, copies and hybrid groups are read again with the changed plan or cluster: numbers take
     * their place. */
    const bool worded = request->sharding_said || request->copies > 0;
    const bool reread = worded && fix->nodes != request->cluster.nodes;
    const bool zero_open = is_open(request, SL_UNKNOWN_ZERO_STAGE);
    const bool layout = to->layout_chunks > 0 && !same_layout(from, to);
    const bool reshard = from->reshard != to->reshard;
    if (from->tensor == to->tensor && from->pipeline == to->pipeline &&
        from->context == to->context && from->expert == to->expert &&
        from->virtual_pipeline == to->virtual_pipeline && from->zero_stage == to->zero_stage &&
        from->shard_group == to->shard_group && from->gradient_sync == to->gradient_sync &&
        !(sequence || zero_open || data || schedule || layout || reshard || reread))
        return;
    sl_write_key(writer, "parallelism");
    sl_write_object(writer);
    put_changed(writer, "tensor", from->tensor, to->tensor, false);
    if (sequence)
        sl_put_bool(writer, "sequence", to->sequence);
    put_changed(writer, "pipeline", from->pipeline, to->pipeline, false);
    put_changed(writer, "virtual_pipeline", from->virtual_pipeline, to->virtual_pipeline, false);
    put_changed(writer, "context", from->context, to->context, false);
    put_changed(writer, "expert", from->expert, to->expert, false);
    if (data)
        sl_put_uint(writer, "data", to->data);
    put_changed(writer, "zero_stage", from->zero_stage, to->zero_stage, zero_open || worded);
    if (worded) {
        sl_put_null(writer, "sharding");
        sl_put_null(writer, "replicate");
        sl_put_known_uint(writer, "shard_group", to->shard_group);
    }
    if (reshard)
        sl_put_bool(writer, "reshard_after_forward", to->reshard == SL_RESHARD_ALWAYS);
    if (from->gradient_sync != to->gradient_sync)
        sl_put_text(writer, "gradient_sync",
                    sl_name(&sl_gradient_sync_names, to->gradient_sync - SL_GRADIENT_SYNC_EACH));
    if (schedule)
        sl_put_text(writer, "schedule", sl_name(&sl_schedule_names, to->schedule));
    if (layout) {
        sl_write_key(writer, "pipeline_layout");
        sl_write_array(writer);
        for (uint32_t i = 0; i < to->layout_chunks; i++)
            sl_write_uint(writer, to->layout[i]);
        sl_write_array_end(writer);
    }
    sl_write_object_end(writer);
}

void
sl_patch_write(sl_writer *writer, const sl_estimate_request *request, const sl_estimate *estimate,
               const sl_fix *fix)
{
    assert(writer != NULL && request != NULL && estimate != NULL && fix != NULL);

    sl_write_object(writer);
    workload_patch_write(writer, request, estimate, fix);
    plan_patch_write(writer, request, &estimate->plan, fix);
    if (fix->nodes != request->cluster.nodes) {
        sl_write_key(writer, "cluster");
        sl_write_object(writer);
        sl_put_uint(writer, "nodes", fix->nodes);
        sl_write_object_end(writer);
    }
    sl_write_object_end(writer);
}
