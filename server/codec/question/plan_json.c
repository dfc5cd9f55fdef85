#include "codec/question/plan_json.h"

#include <assert.h>
#include <string.h>

#include "codec/question/names.h"
#include "codec/question/operating.h"
#include "codec/question/placement.h"
#include "codec/question/profile.h"
#include "engine/placement/pools.h"

void
sl_adapter_write(sl_writer *writer, const sl_adapter *adapter)
{
    sl_write_key(writer, "adapter");
    if (adapter->method == SL_ADAPTER_NONE) {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    sl_put_text(writer, "method", sl_name(&sl_adapter_names, adapter->method - 1));
    sl_put_known_uint(writer, "rank", adapter->rank);
    sl_put_known_uint(writer, "block_size", adapter->block_size);
    sl_put_known_uint(writer, "virtual_tokens", adapter->virtual_tokens);
    sl_put_text(writer, "dtype", adapter->half ? "bf16" : "fp32");
    sl_put_bool(writer, "fused", adapter->fused);
    sl_put_bool(writer, "autocast", adapter->autocast);
    sl_put_text(writer, "base", sl_name(&sl_base_names, adapter->base));
    sl_put_text(writer, "unquantized", adapter->wide_rest ? "fp32" : "bf16");
    sl_put_bool(writer, "base_keeps_inputs", adapter->base_keeps_inputs);
    sl_put_double(writer, "dropout", adapter->dropout_ratio);
    sl_put_bool(writer, "sequence_parallel_input_regather", adapter->regathers);
    sl_write_key(writer, "targets");
    sl_write_array(writer);
    for (uint32_t i = 0; i < adapter->target_count; i++)
        sl_write_text(writer, adapter->targets[i]);
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

static const char *
place_of(bool off, bool nvme)
{
    if (!off)
        return "none";
    return nvme ? "nvme" : "cpu";
}

void
sl_offload_write(sl_writer *writer, const sl_offload *offload)
{
    sl_write_key(writer, "offload");
    sl_write_object(writer);
    sl_put_text(writer, "optimizer", place_of(offload->optimizer, offload->optimizer_on_nvme));
    sl_put_text(writer, "parameters", place_of(offload->parameters, offload->parameters_on_nvme));
    sl_put_text(writer, "activations", offload->activations ? "cpu" : "none");
    if (offload->activations && offload->activation_layers > 0)
        sl_put_uint(writer, "activation_layers", offload->activation_layers);
    if (offload->optimizer && offload->optimizer_fraction > 0.0)
        sl_put_double(writer, "optimizer_fraction", offload->optimizer_fraction);
    sl_write_object_end(writer);
}

/* One says it all. */
static bool
is_word(const sl_workload *w)
{
    return w->recompute < SL_RECOMPUTE_WORDS && w->recompute_method == SL_RECOMPUTE_EACH &&
           w->mlp_tiles == 0;
}

static bool
goes_by_method(const sl_workload *w)
{
    return w->recompute == SL_RECOMPUTE_FULL && w->recompute_method != SL_RECOMPUTE_EACH;
}

static void
recompute_members_write(sl_writer *writer, const sl_workload *w)
{
    sl_put_text(writer, "mode", sl_name(&sl_recompute_modes, w->recompute));
    if (w->mlp_tiles > 0)
        sl_put_uint(writer, "mlp_tiles", w->mlp_tiles);
    if (goes_by_method(w)) {
        sl_put_text(writer, "method", sl_name(&sl_method_names, (uint32_t)w->recompute_method - 1));
        sl_put_uint(writer, "layers", w->recompute_layers);
    }
    if (w->recompute == SL_RECOMPUTE_MODULES) {
        sl_write_key(writer, "modules");
        sl_write_array(writer);
        for (uint32_t m = 0; m < SL_MODULE_COUNT; m++)
            if ((w->recompute_modules >> m & 1) != 0)
                sl_write_text(writer, sl_name(&sl_module_names, m));
        sl_write_array_end(writer);
    }
}

/* A merge leaves alone what it does not name: null takes back what does not hold. */
static void
recompute_rest_write(sl_writer *writer, const sl_node *workload, const sl_workload *w)
{
    const struct {
        const char *name;
        bool holds;
    } members[] = {{"mlp_tiles", w->mlp_tiles > 0},
                   {"method", goes_by_method(w)},
                   {"layers", goes_by_method(w)},
                   {"modules", w->recompute == SL_RECOMPUTE_MODULES}};
    sl_node said;
    sl_node ignored;

    if (workload->value == NULL || !sl_node_member(workload, "recompute", &said) ||
        sl_node_kind(&said) != SL_JSON_OBJECT)
        return;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (!members[i].holds && sl_node_member(&said, members[i].name, &ignored))
            sl_put_null(writer, members[i].name);
}

static void
recompute_write(sl_writer *writer, const sl_node *merged_into, const sl_workload *w)
{
    sl_write_key(writer, "recompute");
    if (is_word(w)) {
        sl_write_text(writer, sl_name(&sl_recompute_names, w->recompute));
        return;
    }
    sl_write_object(writer);
    recompute_members_write(writer, w);
    if (merged_into != NULL)
        recompute_rest_write(writer, merged_into, w);
    sl_write_object_end(writer);
}

void
sl_recompute_patch_write(sl_writer *writer, const sl_node *workload, const sl_workload *to)
{
    assert(writer != NULL && workload != NULL && to != NULL);

    recompute_write(writer, workload, to);
}

/* Bytes per parameter that the request says in place of its framework's, in the order it takes
 * them. */
static void
state_layout_write(sl_writer *writer, const sl_layout *layout)
{
    static const char *const names[] = {"parameter_bytes", "gradient_bytes", "master_weight_bytes",
                                        "optimizer_bytes"};
    const double bytes[] = {layout->parameter_bytes, layout->gradient_bytes, layout->master_bytes,
                            layout->optimizer_bytes};
    bool said = false;
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        said = said || bytes[i] >= 0;
    sl_write_key(writer, "layout");
    if (!said) {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        if (bytes[i] >= 0)
            sl_put_double(writer, names[i], bytes[i]);
        else
            sl_put_null(writer, names[i]);
    }
    sl_write_object_end(writer);
}

enum { FP8_WORDS = 4 };

typedef struct fp8_word {
    const char *name;
    bool holds;
} fp8_word;

static void
fp8_words(const sl_workload *w, fp8_word out[FP8_WORDS])
{
    out[0] = (fp8_word){"primary_weights", w->fp8.primary_weights};
    out[1] = (fp8_word){"transpose_cache", !w->fp8.transposed_anew};
    out[2] = (fp8_word){"activation_input_store", w->fp8.activation_inputs};
    out[3] = (fp8_word){"dot_product_attention", w->fp8.attention};
}

void
sl_fp8_patch_write(sl_writer *writer, const sl_workload *from, const sl_workload *to)
{
    fp8_word before[FP8_WORDS], after[FP8_WORDS];
    bool begun = false;

    assert(writer != NULL && from != NULL && to != NULL);
    fp8_words(from, before);
    fp8_words(to, after);
    for (size_t i = 0; i < FP8_WORDS; i++) {
        if (after[i].holds == before[i].holds)
            continue;
        if (!begun) {
            sl_write_key(writer, "fp8");
            sl_write_object(writer);
            begun = true;
        }
        sl_put_bool(writer, after[i].name, after[i].holds);
    }
    if (begun)
        sl_write_object_end(writer);
}

/* bf16_layers is a number of last blocks or a list of them, as in the request. */
static void
fp8_write(sl_writer *writer, const sl_estimate_request *request, const sl_workload *w)
{
    fp8_word words[FP8_WORDS];

    fp8_words(w, words);
    sl_write_key(writer, "fp8");
    if (!sl_precision_is_low(w->precision) && !w->fp8.activation_inputs) {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    sl_put_text(writer, "recipe",
                w->fp8.recipe == SL_RECIPE_DEFAULT
                    ? NULL
                    : sl_name(&sl_recipe_names, w->fp8.recipe - SL_RECIPE_DELAYED));
    for (size_t i = 0; i < FP8_WORDS; i++)
        sl_put_bool(writer, words[i].name, words[i].holds);
    sl_put_bool(writer, "all_gather", w->gather == SL_WIRE_FP8);
    sl_write_key(writer, "bf16_layers");
    if (request->half_count == 0) {
        sl_write_uint(writer, request->half_last);
    } else {
        sl_write_array(writer);
        for (uint32_t i = 0; i < request->half_count; i++)
            if (request->half_blocks[i])
                sl_write_uint(writer, i);
        sl_write_array_end(writer);
    }
    sl_write_object_end(writer);
}

static void
documents_write(sl_writer *writer, const sl_estimate_request *request, const sl_workload *w)
{
    const bool packed = w->document_length > 0;
    sl_write_key(writer, "documents");
    if (!packed && request->padded_length == 0) {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    sl_put_uint(writer, "mean_length", packed ? w->document_length : request->padded_length);
    sl_put_bool(writer, "packed", packed);
    if (!packed)
        sl_put_text(writer, "padding", sl_name(&sl_padding_names, w->lengths_vary));
    sl_write_object_end(writer);
}

static void
moe_write(sl_writer *writer, const sl_estimate_request *request, const sl_workload *w,
          const sl_plan *plan)
{
    sl_write_key(writer, "moe");
    if (!w->routing_said) {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    sl_put_text(writer, "balance", request->balance);
    sl_put_known_double(writer, "imbalance", w->imbalance);
    sl_put_known_double(writer, "capacity_factor", w->capacity);
    sl_put_text(writer, "dispatcher", request->dispatcher);
    sl_put_bool(writer, "overlap", plan->overlap_experts);
    sl_write_object_end(writer);
}

static void
workload_write(sl_writer *writer, const sl_estimate_request *request, const sl_workload *w,
               const sl_plan *plan, const sl_software *software)
{
    sl_write_object(writer);
    sl_put_text(writer, "kind", sl_name(&sl_kind_names, request->kind));
    sl_put_text(writer, "framework", sl_name(&sl_framework_names, w->framework));
    sl_put_text(writer, "software", software != NULL ? software->name : NULL);
    sl_profile_write(writer, software);
    sl_put_known_uint(writer, "sequence_length", w->sequence_length);
    sl_put_known_uint(writer, "global_batch_size", w->global_batch);
    sl_put_known_uint(writer, "micro_batch_size", w->micro_batch);
    const uint64_t per_round = w->micro_batch * plan->data;
    const bool divides = per_round > 0 && w->global_batch % per_round == 0;
    sl_put_known_uint(writer, "gradient_accumulation", divides ? w->global_batch / per_round : 0);
    sl_put_text(writer, "precision", sl_name(&sl_precision_names, w->precision));
    sl_put_text(writer, "optimizer", sl_name(&sl_optimizer_names, w->optimizer));
    recompute_write(writer, NULL, w);
    sl_put_text(writer, "attention", sl_name(&sl_attention_names, w->attention));
    sl_put_bool(writer, "dropout", w->dropout);
    sl_put_text(writer, "loss", sl_name(&sl_loss_names, w->loss));
    sl_put_bool(writer, "compile", w->compile);
    sl_put_text(writer, "activation_profile", sl_name(&sl_profile_names, w->activations));
    sl_put_uint(writer, "mtp", request->mtp);
    sl_put_text(writer, "cuda_graphs", sl_name(&sl_graph_names, w->graphs));
    sl_put_bool(writer, "optimizer_in_backward", w->optimizer_in_backward);
    sl_put_bool(writer, "expandable_segments", w->expandable_segments);
    documents_write(writer, request, w);
    fp8_write(writer, request, w);
    moe_write(writer, request, w, plan);
    sl_adapter_write(writer, &w->adapter);
    sl_offload_write(writer, &w->offload);
    state_layout_write(writer, &w->layout);
    sl_put_known_uint(writer, "tokens", w->tokens);
    sl_write_object_end(writer);
}

static void
layout_write(sl_writer *writer, const sl_plan *plan)
{
    sl_write_key(writer, "pipeline_layout");
    if (plan->layout_chunks == 0) {
        sl_write_null(writer);
        return;
    }
    sl_write_array(writer);
    for (uint32_t i = 0; i < plan->layout_chunks; i++)
        sl_write_uint(writer, plan->layout[i]);
    sl_write_array_end(writer);
}

void
sl_degrees_write(sl_writer *writer, const sl_plan *plan)
{
    sl_put_uint(writer, "pipeline", plan->pipeline);
    sl_put_uint(writer, "virtual_pipeline", plan->virtual_pipeline);
    layout_write(writer, plan);
    sl_put_uint(writer, "context", plan->context);
    sl_put_text(writer, "context_kind", sl_name(&sl_context_names, plan->context_kind));
    sl_put_uint(writer, "expert", plan->expert);
    sl_put_known_uint(writer, "expert_tensor", plan->expert_tensor);
    sl_put_uint(writer, "data", plan->data);
    sl_put_uint(writer, "zero_stage", plan->zero_stage);
    sl_put_known_uint(writer, "shard_group", plan->shard_group);
}

static void
wire_write(sl_writer *writer, const char *key, sl_wire wire)
{
    sl_put_text(writer, key,
                wire == SL_WIRE_DEFAULT ? NULL : sl_name(&sl_wire_names, wire - SL_WIRE_BF16));
}

static void
unit_write(sl_writer *writer, const sl_unit *unit)
{
    sl_write_key(writer, "fsdp_unit");
    switch (unit->kind) {
    case SL_UNIT_BLOCK:
        sl_write_text(writer, "block");
        break;
    case SL_UNIT_ROOT:
        sl_write_text(writer, "root");
        break;
    case SL_UNIT_BY_SIZE:
        sl_write_uint(writer, unit->least);
        break;
    case SL_UNIT_BY_MODULE:
        sl_write_array(writer);
        for (uint32_t i = 0; i < unit->module_count; i++)
            sl_write_text(writer, unit->modules[i]);
        sl_write_array_end(writer);
        break;
    }
}

/* As the software profile does it, or as the request says instead; dp has no choice. */
static void
overlap_write(sl_writer *writer, const sl_workload *workload, const sl_software *software)
{
    sl_write_key(writer, "overlap");
    if (software == NULL || workload->framework == SL_FRAMEWORK_DP) {
        sl_write_null(writer);
        return;
    }
    const sl_overlap_word tensor = software->overlap_tensor_forward    ? SL_OVERLAP_USERBUFFER
                                   : software->overlap_tensor_backward ? SL_OVERLAP_BULK
                                                                       : SL_OVERLAP_NONE;
    sl_write_object(writer);
    sl_put_bool(writer, "grad_reduce", software->overlap_gradient_reduce);
    sl_put_bool(writer, "param_gather", software->overlap_parameter_gather);
    sl_put_text(writer, "tensor", sl_name(&sl_overlap_names, tensor));
    sl_put_bool(writer, "p2p", software->overlap_pipeline);
    sl_write_object_end(writer);
}

static void
plan_write(sl_writer *writer, const sl_workload *workload, const sl_plan *plan,
           const sl_software *software)
{
    sl_write_object(writer);
    sl_put_uint(writer, "tensor", plan->tensor);
    sl_put_bool(writer, "sequence", plan->sequence);
    sl_degrees_write(writer, plan);
    if (plan->reshard != SL_RESHARD_DEFAULT)
        sl_put_bool(writer, "reshard_after_forward", plan->reshard == SL_RESHARD_ALWAYS);
    else
        sl_put_null(writer, "reshard_after_forward");
    sl_put_text(writer, "gradient_sync",
                sl_name(&sl_gradient_sync_names,
                        sl_plan_gradient_sync(workload, plan) - SL_GRADIENT_SYNC_EACH));
    unit_write(writer, &plan->unit);
    sl_put_text(writer, "order", sl_name(&sl_order_names, plan->order));
    overlap_write(writer, workload, software);
    wire_write(writer, "grad_reduce_dtype", workload->reduce);
    wire_write(writer, "gather_dtype", workload->gather);
    sl_put_text(writer, "schedule", sl_name(&sl_schedule_names, plan->schedule));
    sl_placement_write(writer, plan);
    sl_write_object_end(writer);
}

void
sl_nics_write(sl_writer *writer, const sl_cluster *cluster)
{
    sl_write_key(writer, "nics");
    sl_write_array(writer);
    if (cluster->nics_per_node > 0) {
        sl_write_object(writer);
        sl_put_uint(writer, "count", cluster->nics_per_node);
        sl_put_double(writer, "bytes_per_s", cluster->nic_bytes_per_s);
        sl_put_text(writer, "kind", cluster->fabric.kind);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

/* Equal nodes, into an object that is open. */
static void
nodes_write(sl_writer *writer, const sl_cluster *cluster)
{
    const sl_accelerator *const a = &cluster->accelerator;
    sl_put_text(writer, "accelerator", a->id);
    sl_put_text(writer, "accelerator_name", a->name);
    sl_put_text(writer, "node_type", *cluster->node_type != '\0' ? cluster->node_type : NULL);
    sl_put_uint(writer, "nodes", cluster->nodes);
    sl_put_uint(writer, "accelerators_per_node", cluster->accelerators_per_node);
    sl_put_uint(writer, "accelerators", (uint64_t)cluster->nodes * cluster->accelerators_per_node);
    sl_put_uint(writer, "memory_bytes", a->memory_bytes);
    sl_put_uint(writer, "reserved_bytes", a->reserved_bytes);
    sl_put_double(writer, "memory_bandwidth_bytes_per_s", a->memory_bytes_per_s);
    sl_put_double(writer, "scale_up_bytes_per_s", a->scale_up_bytes_per_s);
    sl_put_known_double(writer, "scale_up_pair_bytes_per_s", a->scale_up_pair_bytes_per_s);
    sl_put_uint(writer, "scale_up_domain", a->scale_up_domain);
    sl_put_known_uint(writer, "host_memory_bytes", cluster->host_memory_bytes);
    sl_nics_write(writer, cluster);
    sl_put_double(writer, "oversubscription", cluster->oversubscription_ratio);
    sl_put_known_double(writer, "price_per_node_hour", cluster->price_per_node_hour);
    sl_operating_write(writer, &cluster->operation);
    sl_write_key(writer, "rates");
    sl_write_object(writer);
    sl_put_text(writer, "matrix_products", sl_name(&sl_origin_names, a->gemm_origin));
    sl_put_text(writer, "attention", sl_name(&sl_origin_names, a->attention_origin));
    sl_put_text(writer, "collectives", sl_name(&sl_origin_names, a->collective_origin));
    sl_put_text(writer, "measured_on", a->law_part);
    sl_write_key(writer, "sustained_ratio");
    sl_write_object(writer);
    sl_put_double(writer, "value", a->sustained_ratio);
    sl_put_double(writer, "low", a->sustained_low_ratio);
    sl_put_double(writer, "high", a->sustained_high_ratio);
    sl_write_object_end(writer);
    sl_write_object_end(writer);
}

static void
pools_write(sl_writer *writer, const sl_cluster *cluster, const sl_plan *plan)
{
    uint64_t first_rank = 0;
    sl_put_uint(writer, "nodes", cluster->nodes);
    sl_put_uint(writer, "accelerators", sl_cluster_accelerators(cluster));
    sl_put_known_double(writer, "price_per_node_hour", cluster->price_per_node_hour);
    sl_operating_write(writer, &cluster->operation);
    sl_write_key(writer, "pools");
    sl_write_array(writer);
    for (uint32_t i = 0; i < cluster->pool_count; i++) {
        const sl_cluster *const pool = &cluster->pools[i];
        uint32_t first = 0, end = 0;
        sl_pools_stages(cluster, plan, i, &first, &end);
        sl_write_object(writer);
        sl_put_text(writer, "name", pool->pool);
        sl_put_uint(writer, "first_rank", first_rank);
        sl_put_uint(writer, "first_stage", first);
        sl_put_uint(writer, "stages", end - first);
        nodes_write(writer, pool);
        sl_write_object_end(writer);
        first_rank += sl_cluster_accelerators(pool);
    }
    sl_write_array_end(writer);
}

static void
cluster_write(sl_writer *writer, const sl_cluster *cluster, const sl_plan *plan)
{
    sl_write_object(writer);
    if (cluster->pool_count > 0)
        pools_write(writer, cluster, plan);
    else
        nodes_write(writer, cluster);
    sl_write_object_end(writer);
}

void
sl_resolved_write(sl_writer *writer, const sl_estimate_request *request,
                  const sl_workload *workload, const sl_plan *plan, const sl_cluster *cluster,
                  const sl_software *software)
{
    assert(writer != NULL && request != NULL && workload != NULL && plan != NULL);

    sl_write_object(writer);
    sl_write_key(writer, "workload");
    workload_write(writer, request, workload, plan, software);
    sl_write_key(writer, "parallelism");
    plan_write(writer, workload, plan, software);
    sl_write_key(writer, "cluster");
    if (cluster != NULL)
        cluster_write(writer, cluster, plan);
    else
        sl_write_null(writer);
    sl_write_object_end(writer);
}
