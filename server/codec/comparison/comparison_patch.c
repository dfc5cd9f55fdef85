#include "codec/comparison/comparison_patch.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "codec/question/names.h"
#include "codec/question/placement.h"
#include "codec/question/plan_json.h"

typedef struct patch {
    sl_writer *writer;
    const sl_estimate_request *request;
    const sl_question *asked;
    bool own; /* the framework is the request's */
} patch;

static bool
is_open(const patch *p, sl_unknown field)
{
    return (p->asked->unknown & (uint32_t)field) != 0;
}

/* Takes back a member that the request has. */
static void
drop(const patch *p, const sl_node *object, const char *member)
{
    sl_node ignored;

    if (object->value != NULL && sl_node_member(object, member, &ignored))
        sl_put_null(p->writer, member);
}

static bool
same_offload(const sl_offload *a, const sl_offload *b)
{
    return a->optimizer == b->optimizer && a->parameters == b->parameters &&
           a->activations == b->activations && a->optimizer_on_nvme == b->optimizer_on_nvme &&
           a->parameters_on_nvme == b->parameters_on_nvme &&
           a->activation_layers == b->activation_layers &&
           a->optimizer_fraction == b->optimizer_fraction;
}

/* A merge leaves alone what it does not name: targets are named by leaving out what would stay. */
static void
put_adapter(const patch *p)
{
    const sl_adapter *to = &p->asked->workload.adapter;
    const sl_adapter *from = &p->request->workload.adapter;

    if (to->method == SL_ADAPTER_NONE) {
        drop(p, &p->request->workload_object, "adapter");
    } else if (from->method == SL_ADAPTER_NONE) {
        sl_adapter_write(p->writer, to);
    } else {
        sl_write_key(p->writer, "adapter");
        sl_write_object(p->writer);
        sl_put_text(p->writer, "dtype", to->half ? "bf16" : "fp32");
        sl_put_text(p->writer, "base", sl_name(&sl_base_names, to->base));
        sl_put_text(p->writer, "unquantized", to->wide_rest ? "fp32" : "bf16");
        sl_put_bool(p->writer, "autocast", to->autocast);
        sl_put_bool(p->writer, "base_keeps_inputs",
                    to->base_keeps_inputs && to->base != SL_ADAPTER_BASE_BF16);
        sl_write_object_end(p->writer);
    }
}

static void
put_workload(const patch *p)
{
    const sl_workload *to = &p->asked->workload;
    const sl_node *const object = &p->request->workload_object;

    sl_write_key(p->writer, "workload");
    sl_write_object(p->writer);
    sl_put_text(p->writer, "framework", sl_name(&sl_framework_names, to->framework));
    if (!p->own) {
        drop(p, object, "software");
        drop(p, object, "profile");
    }
    sl_put_uint(p->writer, "micro_batch_size", to->micro_batch);
    drop(p, object, "gradient_accumulation");
    if (!is_open(p, SL_UNKNOWN_RECOMPUTE))
        sl_recompute_patch_write(p->writer, object, to);
    sl_fp8_patch_write(p->writer, &p->request->workload, to);
    /* What "flash" means goes by the release. */
    if (!is_open(p, SL_UNKNOWN_ATTENTION) && !sl_model_is_plain(p->asked->model))
        sl_put_text(p->writer, "attention", sl_name(&sl_attention_names, to->attention));
    put_adapter(p);
    if (!same_offload(&to->offload, &p->request->workload.offload))
        sl_offload_write(p->writer, &to->offload);
    sl_write_object_end(p->writer);
}

/* Members that put_plan says by itself. */
static bool
is_said(const char *member)
{
    static const char *const said[] = {"tensor",      "sequence", "pipeline",   "virtual_pipeline",
                                       "context",     "expert",   "data",       "zero_stage",
                                       "shard_group", "schedule", "placement",  "expert_tensor",
                                       "order",       "$schema",  "annotations"};

    return sl_text_index(member, said, sizeof said / sizeof said[0]) >= 0;
}

/* What the request says of its framework's traffic holds where the framework does. */
static bool
is_kept(const patch *p, const char *member)
{
    static const char *const kept[] = {"overlap", "grad_reduce_dtype", "gather_dtype"};
    const bool eight_bits = p->asked->workload.gather == SL_WIRE_FP8;

    return (p->own && sl_text_index(member, kept, sizeof kept / sizeof kept[0]) >= 0) ||
           (eight_bits && strcmp(member, "gather_dtype") == 0);
}

static void
put_degrees(const patch *p)
{
    const sl_plan *plan = &p->asked->plan;
    const sl_node *const object = &p->request->parallelism_object;
    const bool plain = sl_model_is_plain(p->asked->model);

    sl_put_uint(p->writer, "tensor", plan->tensor);
    if (plain || is_open(p, SL_UNKNOWN_SEQUENCE))
        drop(p, object, "sequence");
    else
        sl_put_bool(p->writer, "sequence", plan->sequence);
    sl_put_uint(p->writer, "pipeline", plan->pipeline);
    sl_put_uint(p->writer, "virtual_pipeline", plan->virtual_pipeline);
    sl_put_text(p->writer, "schedule", sl_name(&sl_schedule_names, plan->schedule));
    if (plan->order != SL_ORDER_DATA_PIPELINE)
        sl_put_text(p->writer, "order", sl_name(&sl_order_names, plan->order));
    else
        drop(p, object, "order");
    sl_put_uint(p->writer, "context", plan->context);
    sl_put_uint(p->writer, "expert", plan->expert);
    if (plan->expert_tensor > 0)
        sl_put_uint(p->writer, "expert_tensor", plan->expert_tensor);
    else
        drop(p, object, "expert_tensor");
    sl_put_uint(p->writer, "data", plan->data);
    if (is_open(p, SL_UNKNOWN_ZERO_STAGE))
        drop(p, object, "zero_stage");
    else
        sl_put_uint(p->writer, "zero_stage", plan->zero_stage);
    if (plan->shard_group > 0)
        sl_put_uint(p->writer, "shard_group", plan->shard_group);
    else
        drop(p, object, "shard_group");
    if (plan->host_run_count > 0)
        sl_placement_write(p->writer, plan);
    else
        drop(p, object, "placement");
}

static void
put_plan(const patch *p)
{
    const sl_node *const object = &p->request->parallelism_object;
    void *state = NULL;
    sl_node member;

    sl_write_key(p->writer, "parallelism");
    sl_write_object(p->writer);
    put_degrees(p);
    while (object->value != NULL && sl_node_next(object, &state, &member))
        if (sl_node_kind(&member) != SL_JSON_NULL && !is_said(member.key) &&
            !is_kept(p, member.key))
            sl_put_null(p->writer, member.key);
    sl_write_object_end(p->writer);
}

void
sl_comparison_patch_write(sl_writer *writer, const sl_estimate_request *request,
                          const sl_question *asked, bool planned)
{
    assert(writer != NULL && request != NULL);

    const patch p = {
        .writer = writer,
        .request = request,
        .asked = asked,
        .own = asked == NULL || asked->workload.framework == request->workload.framework,
    };
    sl_write_object(writer);
    drop(&p, &request->root, "of");
    drop(&p, &request->root, "strategies");
    if (asked != NULL)
        put_workload(&p);
    if (asked != NULL && planned)
        put_plan(&p);
    sl_write_object_end(writer);
}
