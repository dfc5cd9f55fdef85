/* What the groups of tensor and experts send around the products of a layer, and what of it is
 * exposed. */
#include <math.h>

#include "engine/checked.h"
#include "engine/price/price_parts.h"

static bool
has_sequence_parallel(const sl_slice *slice)
{
    return slice->spread > 1.0;
}

double
sl_price_visible_s(const sl_software *software, double collective_s, double cover_s,
                   bool overlapped)
{
    if (!overlapped)
        return collective_s;

    const double hidden = fmin(collective_s, cover_s);

    return collective_s - hidden + sl_price_loss_ratio(software) * hidden;
}

double
sl_price_loss_ratio(const sl_software *software)
{
    /* Of a loss of all nobody could tell what was hidden. */
    return fmin(software->overlap_loss_ratio, 1.0 - 1e-9);
}

double
sl_price_exposed_s(const sl_traffic traffic[SL_SENT_COUNT])
{
    double exposed_s = 0.0;

    for (uint32_t i = 0; i < SL_SENT_COUNT; i++)
        exposed_s += traffic[i].exposed_s;
    return exposed_s;
}

/* One that takes no time is none: its group is one rank. */
static void
add_call(sl_traffic *to, double bytes, double busy_s, double exposed_s)
{
    if (busy_s <= 0.0)
        return;
    to->calls += 1.0;
    to->bytes += bytes;
    to->busy_s += busy_s;
    to->exposed_s += exposed_s;
}

/* Pieces that a collective is cut into to run under its own product; the first or the last of them
 * has nothing to run under (TransformerEngine userbuffers, PyTorch's asynchronous tensor
 * parallelism). */
static const double tensor_pieces = 4.0;

/* A collective of the tensor group in pieces under its product, if the release cuts it. */
static void
add_pieces(const sl_pricing *p, sl_traffic traffic[SL_SENT_COUNT], sl_collective kind, double bytes,
           double cover_s)
{
    const double busy_s = sl_collective_s(p->cluster, kind, &p->tensor_group, bytes);
    const double first_s =
        p->slice->software->overlap_tensor_forward ? busy_s / tensor_pieces : busy_s;

    add_call(&traffic[kind], bytes, busy_s,
             first_s + sl_price_visible_s(p->slice->software, busy_s - first_s, cover_s, true));
}

void
sl_price_add_traffic(const sl_pricing *p, sl_traffic traffic[SL_SENT_COUNT], sl_collective kind,
                     double bytes, double cover_s)
{
    const bool overlapped = p->slice->software->overlap_tensor_backward && cover_s > 0.0;
    const double busy_s = sl_collective_s(p->cluster, kind, &p->tensor_group, bytes);
    const double exposed_s = sl_price_visible_s(p->slice->software, busy_s, cover_s, overlapped);

    add_call(&traffic[kind], bytes, busy_s, exposed_s);
}

void
sl_price_open_region(const sl_pricing *p, double bytes, double gathered, double forward_s,
                     double dgrad_s, double wgrad_s)
{
    sl_kind_price *out = p->out;

    if (has_sequence_parallel(p->slice)) {
        add_pieces(p, out->tensor_forward, SL_COLLECTIVE_ALL_GATHER, gathered, forward_s);
        sl_price_add_traffic(p, out->tensor_backward, SL_COLLECTIVE_ALL_GATHER, gathered, dgrad_s);
        sl_price_add_traffic(p, out->tensor_backward, SL_COLLECTIVE_REDUCE_SCATTER, bytes, wgrad_s);
    } else {
        sl_price_add_traffic(p, out->tensor_backward, SL_COLLECTIVE_ALL_REDUCE, bytes, wgrad_s);
    }
}

void
sl_price_close_region(const sl_pricing *p, double bytes, double gathered, double forward_s,
                      double dgrad_s)
{
    sl_kind_price *out = p->out;

    if (has_sequence_parallel(p->slice)) {
        add_pieces(p, out->tensor_forward, SL_COLLECTIVE_REDUCE_SCATTER, bytes, forward_s);
        add_pieces(p, out->tensor_backward, SL_COLLECTIVE_ALL_GATHER, gathered, dgrad_s);
    } else {
        sl_price_add_traffic(p, out->tensor_forward, SL_COLLECTIVE_ALL_REDUCE, bytes, 0.0);
    }
}

/* Of k copies of a token, one for each of the p places that its experts are expected in (DeepEP;
 * HybridEP): p (1 - (1 - 1/p)^k) where they are drawn. Dealt in turn they begin at multiples of k,
 * and go on to the next place of e experts each behind all its ends but those that are such a
 * multiple too: 1 + (k - gcd(k, e)) / e. */
static double
sent_ratio(const sl_slice *slice, const sl_operator *op, double places)
{
    const uint64_t each = (uint64_t)fmax(1.0, op->experts / places);

    if (!slice->sends_once || op->visits <= 1)
        return 1.0;
    if (!slice->in_turn)
        return places * (1.0 - pow(1.0 - 1.0 / places, op->visits)) / op->visits;

    const double step = (double)sl_common_divisor(op->visits, each);
    return fmin(places, 1.0 + (op->visits - step) / (double)each) / op->visits;
}

void
sl_price_exchange(const sl_pricing *p, const sl_operator *op, double width)
{
    const sl_slice *slice = p->slice;
    const double copies =
        sl_slice_rows(slice, op) / slice->expert_tensor * width * slice->element_bytes;
    const double bytes = copies * sent_ratio(slice, op, slice->expert);
    const double exchange_s = sl_collective_dispatch_s(
        p->cluster, &p->expert_group, bytes, copies * sent_ratio(slice, op, p->expert_group.nodes));
    const bool back = op->kind == SL_OPERATOR_MATMUL;
    sl_traffic *const both[] = {&p->out->expert_forward, &p->out->expert_backward};

    for (uint32_t i = 0; i < 2; i++) {
        both[i]->calls += 1.0;
        both[i]->bytes += bytes;
        both[i]->busy_s += exchange_s;
        both[i]->exposed_s += exchange_s;
    }
    if (slice->expert_tensor <= 1.0)
        return;

    const bool apart = slice->expert_tensor != slice->tensor;
    const double gathered = bytes * slice->expert_tensor;
    const sl_group *group = &p->expert_tensor_group;
    const double gather_s = sl_collective_s(p->cluster, SL_COLLECTIVE_ALL_GATHER, group, gathered);
    const double scatter_s =
        sl_collective_s(p->cluster, SL_COLLECTIVE_REDUCE_SCATTER, group, gathered);
    sl_traffic *in = back ? p->out->tensor_backward : p->out->tensor_forward;
    sl_traffic *out = back ? p->out->tensor_forward : p->out->tensor_backward;

    add_call(&in[apart ? SL_SENT_EXPERT_GATHER : SL_COLLECTIVE_ALL_GATHER], gathered, gather_s,
             gather_s);
    add_call(&out[apart ? SL_SENT_EXPERT_SCATTER : SL_COLLECTIVE_REDUCE_SCATTER], gathered,
             scatter_s, scatter_s);
}
