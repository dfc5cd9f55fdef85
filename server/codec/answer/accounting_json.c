#include "codec/answer/accounting_json.h"

#include <assert.h>

#include "codec/question/names.h"

/* Micro-batches accumulated in a step, as far as the request says; 1 otherwise. */
static uint64_t
microbatches(const sl_estimate_request *request, const sl_plan *plan)
{
    if (request->gradient_accumulation > 0)
        return request->gradient_accumulation;
    const sl_workload *const workload = &request->workload;
    const uint64_t per_round = workload->micro_batch * plan->data;
    const bool known = (request->unknown & SL_UNKNOWN_MICRO_BATCH) == 0;
    const bool divides = per_round > 0 && workload->global_batch % per_round == 0;
    return known && divides && workload->global_batch > 0 ? workload->global_batch / per_round : 1;
}

sl_code
sl_accounting_answer(const sl_estimate_request *request, const sl_plan *plan, uint64_t parameters,
                     sl_accounted *out, sl_errors *err)
{
    assert(request != NULL && plan != NULL && out != NULL && err != NULL);
    assert(request->accounting != SL_ACCOUNTING_EXACT);

    const double element = sl_precision_bytes(request->workload.precision);
    const uint64_t cut = (uint64_t)plan->tensor * plan->pipeline;
    const bool grouped = plan->zero_stage > 0 && plan->shard_group > 0;
    const uint64_t group = grouped ? plan->shard_group : plan->data;
    const uint64_t steps = microbatches(request, plan);
    sl_accounted answer = {
        .info = sl_accounting_describe(request->accounting),
        .parameters = parameters,
        .cut = cut,
        .ranks = group,
        .world = sl_plan_world(plan),
        .zero_stage = plan->zero_stage,
    };
    sl_code code =
        sl_accounting_evaluate(request->accounting, parameters, 1, 0, 1, element, &answer.whole);
    if (code == SL_OK)
        code =
            sl_accounting_evaluate(request->accounting, parameters / cut + (parameters % cut != 0),
                                   group, plan->zero_stage, steps, element, &answer.rank);
    if (code != SL_OK)
        return sl_fail(err, code, "out_of_range", "/model/parameters",
                       "must leave a number of bytes that can be counted");
    if (group < plan->data && request->accounting != SL_ACCOUNTING_INFERENCE_1_2)
        answer.rank.communication_elements +=
            sl_accounting_copies_elements(plan->zero_stage, steps, group);
    const uint64_t nominal = request->has_cluster ? request->cluster.accelerator.nominal_bytes : 0;
    if (nominal > 0)
        answer.minimum_accelerators =
            answer.whole.total / nominal + (answer.whole.total % nominal != 0);
    *out = answer;
    return SL_OK;
}

void
sl_accounting_write(sl_writer *writer, const sl_accounted *accounted)
{
    assert(writer != NULL && accounted != NULL);

    const double volume = accounted->rank.communication_elements;
    sl_write_object(writer);
    sl_put_text(writer, "name", accounted->info->name);
    sl_put_double(writer, "bytes_per_parameter",
                  (double)accounted->whole.total / (double)accounted->parameters);
    sl_put_uint(writer, "total_bytes", accounted->whole.total);
    sl_put_uint(writer, "per_rank_bytes", accounted->rank.total);
    sl_put_known_uint(writer, "minimum_accelerators", accounted->minimum_accelerators);
    sl_put_double(writer, "communication_volume_ratio", volume);
    sl_put_double(writer, "communication_elements_per_step",
                  volume * (double)accounted->parameters / (double)accounted->cut);
    /* Once, where the rule has them already. */
    sl_put_double(writer, "total_with_20_percent_bytes",
                  sl_accounting_describe(SL_ACCOUNTING_INFERENCE_1_2)->overhead_ratio /
                      accounted->info->overhead_ratio * (double)accounted->whole.total);
    sl_put_text(writer, "formula", accounted->info->formula);
    sl_put_text(writer, "source", accounted->info->source);
    sl_write_object_end(writer);
}

static void
term_write(sl_writer *writer, const sl_accounted *accounted, const char *name, uint64_t bytes,
           double bytes_per_parameter)
{
    sl_write_object(writer);
    sl_put_text(writer, "name", name);
    sl_put_text(writer, "what", "as the rule counts it");
    sl_put_uint(writer, "bytes", bytes);
    sl_put_text(writer, "lifetime", sl_name(&sl_lifetime_names, SL_LIFETIME_PERSISTENT));
    sl_put_text(writer, "formula", accounted->info->formula);
    sl_write_key(writer, "inputs");
    sl_write_object(writer);
    sl_put_double(writer, "parameters", (double)accounted->parameters);
    sl_put_double(writer, "bytes_per_parameter", bytes_per_parameter);
    sl_put_double(writer, "tensor_x_pipeline", (double)accounted->cut);
    sl_put_double(writer, "ranks", (double)accounted->ranks);
    sl_put_double(writer, "zero_stage", (double)accounted->zero_stage);
    sl_write_object_end(writer);
    sl_put_text(writer, "source", accounted->info->source);
    sl_write_object_end(writer);
}

bool
sl_accounting_memory_write(sl_writer *writer, const sl_accounted *accounted,
                           const sl_cluster *cluster)
{
    assert(writer != NULL && accounted != NULL);

    const bool known = cluster != NULL;
    const uint64_t capacity = known ? cluster->accelerator.memory_bytes : 0;
    const uint64_t usable = known ? capacity - cluster->accelerator.reserved_bytes : 0;
    const sl_accounting_bytes *const rank = &accounted->rank;
    const double n = (double)accounted->parameters;

    sl_write_object(writer);
    sl_put_optional(writer, "capacity_bytes", known, capacity);
    sl_put_optional(writer, "usable_bytes", known, usable);
    sl_put_uint(writer, "peak_allocated_bytes", rank->total);
    sl_put_uint(writer, "peak_reserved_bytes", rank->total);
    sl_put_uint(writer, "device_total_bytes", rank->total);
    if (known)
        sl_put_int(writer, "headroom_bytes", (int64_t)usable - (int64_t)rank->total);
    else
        sl_put_null(writer, "headroom_bytes");
    sl_put_uint(writer, "binding_rank", 0);
    sl_put_uint(writer, "host_bytes_per_node", 0);
    sl_put_uint(writer, "nvme_bytes_per_node", 0);
    sl_write_key(writer, "ranks");
    sl_write_array(writer);
    sl_write_object(writer);
    sl_put_text(writer, "role", "all ranks");
    sl_put_uint(writer, "rank", 0);
    sl_put_uint(writer, "count", accounted->world);
    sl_put_uint(writer, "peak_allocated_bytes", rank->total);
    sl_write_key(writer, "terms");
    sl_write_array(writer);
    term_write(writer, accounted, "parameters", rank->parameters,
               (double)accounted->whole.parameters / n);
    term_write(writer, accounted, "gradients", rank->gradients,
               (double)accounted->whole.gradients / n);
    term_write(writer, accounted, "optimizer", rank->optimizer,
               (double)accounted->whole.optimizer / n);
    sl_write_array_end(writer);
    sl_write_object_end(writer);
    sl_write_array_end(writer);
    sl_write_object_end(writer);
    return known && rank->total <= usable;
}
