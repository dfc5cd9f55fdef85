/* What the passes of a layer come to, before any plan asks. */
#include "engine/extremes.h"
#include "engine/placement/recompute.h"
#include "engine/price/price_parts.h"

/* late_s is left below 0 where the device is the slower. */
static sl_pass_price
pass_of(const sl_slice *slice, double computing_s, double issued,
        const sl_traffic tensor[SL_SENT_COUNT], const sl_traffic *context, const sl_traffic *expert)
{
    const double tensor_s = sl_price_exposed_s(tensor);
    double calls = context->calls + expert->calls;

    for (uint32_t i = 0; i < SL_SENT_COUNT; i++)
        calls += tensor[i].calls;
    const double issued_s = slice->host_operator_s * (issued + calls);
    return (sl_pass_price){
        .computing_s = computing_s,
        .tensor_s = tensor_s,
        .context_s = context->exposed_s,
        .expert_s = expert->exposed_s,
        .issued_s = issued_s,
        .late_s = issued_s - computing_s - tensor_s - context->exposed_s - expert->exposed_s,
    };
}

sl_traffic
sl_price_traffic_less(const sl_traffic *all, const sl_traffic *part)
{
    return (sl_traffic){all->calls - part->calls, all->bytes - part->bytes,
                        all->busy_s - part->busy_s, all->exposed_s - part->exposed_s};
}

static void
add_traffic_between(sl_traffic *to, const sl_traffic *after, const sl_traffic *before)
{
    const sl_traffic more = sl_price_traffic_less(after, before);

    to->calls += more.calls;
    to->bytes += more.bytes;
    to->busy_s += more.busy_s;
    to->exposed_s += more.exposed_s;
}

void
sl_price_add_rerun(sl_rerun *again, const sl_kind_price *after, const sl_kind_price *before)
{
    again->forward_s += after->forward_s - before->forward_s;
    again->issued += after->forward_issued - before->forward_issued;
    again->awaited_s += after->forward_awaited_s - before->forward_awaited_s;
    again->matmul_flops += after->matmul_flops - before->matmul_flops;
    again->attention_flops += after->attention_flops - before->attention_flops;
    for (uint32_t i = 0; i < SL_SENT_COUNT; i++)
        add_traffic_between(&again->tensor[i], &after->tensor_forward[i],
                            &before->tensor_forward[i]);
    add_traffic_between(&again->context, &after->context_forward, &before->context_forward);
    add_traffic_between(&again->expert, &after->expert_forward, &before->expert_forward);
}

void
sl_price_passes(const sl_slice *slice, sl_kind_price *out)
{
    sl_rerun *again = &out->again;
    sl_pass_price *const passes[] = {&out->forward, &out->backward, &again->pass};

    again->kept_bytes = sl_recompute_kept_bytes(slice->recompute, out);
    again->live_bytes = slice->recompute == SL_RECOMPUTE_MODULES
                            ? out->module_live_bytes
                            : out->saved_bytes - again->kept_bytes;
    out->forward = pass_of(slice, out->forward_s, out->forward_issued, out->tensor_forward,
                           &out->context_forward, &out->expert_forward);
    out->backward = pass_of(slice, out->backward_s, out->backward_issued, out->tensor_backward,
                            &out->context_backward, &out->expert_backward);
    again->pass = pass_of(slice, again->forward_s, again->issued, again->tensor, &again->context,
                          &again->expert);
    again->pass.late_s = out->backward.late_s + again->pass.late_s;
    for (uint32_t i = 0; i < sizeof passes / sizeof passes[0]; i++)
        passes[i]->late_s = sl_larger(0.0, passes[i]->late_s);
}
