#include "engine/placement/lent.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "engine/placement/adapter.h"

uint32_t
sl_lent_devices(const sl_workload *workload, const sl_plan *plan)
{
    return workload->framework == SL_FRAMEWORK_DP ? plan->data - 1 : 0;
}

sl_code
sl_check_lent(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_workload *workload = &question->workload;
    sl_code code = SL_OK;

    if (workload->framework != SL_FRAMEWORK_DP)
        return SL_OK;
    if (question->cluster->nodes > 1) {
        code = sl_fail(err, SL_E_RANGE, "one_node", "/cluster/nodes",
                       "dp is one process and has the devices of one node, got %u nodes",
                       question->cluster->nodes);
        sl_hint(err, "1, or framework ddp");
    }
    if (workload->offload.optimizer || workload->offload.parameters) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/workload/offload",
                       "states of dp in the host's memory are not modelled");
        sl_hint(err,
                "leave it out, or framework deepspeed with zero_stage %u, or framework fsdp2 "
                "with zero_stage 3",
                workload->offload.parameters ? 3U : 2U);
    }
    return code;
}

/* Bytes of the 16-bit copy that autocast makes of a wider parameter. */
static double
cast_bytes(const sl_memory_case *c, const sl_layout *layout)
{
    return layout->parameter_bytes > c->slice->element_bytes ? c->slice->element_bytes : 0.0;
}

void
sl_lent_measure(const sl_memory_case *c, double elements, sl_gathered *out)
{
    const sl_elements all = {.all = elements};
    const sl_layout own = sl_states_layout(c->workload, c->plan, &all);
    const bool again = sl_plan_microbatches(c->workload, c->plan) > 1;

    if (c->lent == NULL) {
        out->root_gradients = elements * own.gradient_bytes * (again ? 2.0 : 1.0);
        return;
    }
    out->head_bytes = elements * (c->lent->parameter_bytes + cast_bytes(c, c->lent));
    out->loss_bytes = out->backward_bytes = out->root_bytes = out->head_bytes;
    out->root_gradients = elements * c->lent->gradient_bytes;
}

double
sl_lent_logits(const sl_memory_case *c, double own)
{
    const uint32_t lent = sl_lent_devices(c->workload, c->plan);

    return c->lent == NULL ? own * (lent + 1.0) : own;
}

double
sl_lent_logit_bytes(const sl_memory_case *c, double loss)
{
    const uint32_t lent = sl_lent_devices(c->workload, c->plan);

    if (c->lent != NULL)
        return c->slice->element_bytes;
    return lent > 0 ? loss + c->slice->element_bytes / (lent + 1.0) : loss;
}

void
sl_lent_name(const sl_memory_case *c, sl_rank_memory *rank)
{
    const bool first = c->lent == NULL;

    rank->role = first ? "first device" : "other devices";
    rank->rank = first ? 0 : 1;
    rank->count = first ? 1 : sl_lent_devices(c->workload, c->plan);
}

sl_lent_traffic
sl_lent_send(const sl_memory_case *c)
{
    const sl_model *model = c->question->model;
    const sl_cluster *cluster = c->cluster;
    const sl_group group = sl_group_of(cluster, c->plan->data, 1);
    const sl_group pair = sl_group_pair(cluster, 0, c->plan->data);
    const sl_elements elements = sl_holding_of(c->holdings, 0)->elements;
    const sl_layout layout = sl_holding_of(c->holdings, 0)->layouts.all;
    const bool numbered = !sl_model_is_plain(model); /* inputs are numbers of 8 bytes */
    const double tokens = (double)c->workload->micro_batch * (double)c->workload->sequence_length;
    double logits = 0.0;

    const double each = sl_adapter_element_bytes(&c->workload->adapter);
    const double fixed =
        elements.frozen_adapters + sl_states_adapter_buffers(c->workload, &elements);
    for (uint32_t k = 0; k < model->kind_count; k++)
        logits = fmax(logits, c->prices[k].logits);

    sl_lent_traffic sent = {
        .parameter_bytes =
            elements.all * layout.parameter_bytes + (elements.adapters + fixed) * each,
        .gradient_bytes =
            elements.all * sl_states_reduce_bytes(c->workload, &layout) + elements.adapters * each,
        .input_bytes = numbered ? 8.0 * (c->plan->data - 1.0) * tokens : 0.0,
        .output_bytes = 2.0 * (c->plan->data - 1.0) * logits * c->slice->element_bytes,
    };
    sent.parameter_s =
        sl_collective_s(cluster, SL_COLLECTIVE_BROADCAST, &group, sent.parameter_bytes);
    sent.gradient_s = sl_collective_s(cluster, SL_COLLECTIVE_REDUCE, &group, sent.gradient_bytes);
    if (sent.input_bytes > 0.0)
        sent.input_s =
            sl_collective_s(cluster, SL_COLLECTIVE_SEND_RECEIVE, &pair, sent.input_bytes);
    sent.output_s = sl_collective_s(cluster, SL_COLLECTIVE_SEND_RECEIVE, &pair, sent.output_bytes);
    return sent;
}
