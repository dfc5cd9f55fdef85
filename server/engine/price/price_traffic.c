/* What a tensor group sends around the products of a layer, and what of it is exposed. */
#include <math.h>

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

    return collective_s - hidden + software->overlap_loss_ratio * hidden;
}

double
sl_price_exposed_s(const sl_traffic traffic[SL_COLLECTIVE_COUNT])
{
    double exposed_s = 0.0;

    for (uint32_t i = 0; i < SL_COLLECTIVE_COUNT; i++)
        exposed_s += traffic[i].exposed_s;
    return exposed_s;
}

/* Pieces that a collective is cut into to run under its own product; the first or the last of them
 * has nothing to run under (TransformerEngine userbuffers, PyTorch's asynchronous tensor
 * parallelism). */
static const double tensor_pieces = 4.0;

/* A collective of the tensor group in pieces under its product, if the release cuts it. */
static void
add_pieces(const sl_pricing *p, sl_traffic traffic[SL_COLLECTIVE_COUNT], sl_collective kind,
           double bytes, double cover_s)
{
    const double busy_s = sl_collective_s(p->cluster, kind, &p->tensor_group, bytes);
    const double first_s =
        p->slice->software->overlap_tensor_forward ? busy_s / tensor_pieces : busy_s;

    if (busy_s <= 0.0)
        return;
    traffic[kind].calls += 1.0;
    traffic[kind].bytes += bytes;
    traffic[kind].busy_s += busy_s;
    traffic[kind].exposed_s +=
        first_s + sl_price_visible_s(p->slice->software, busy_s - first_s, cover_s, true);
}

void
sl_price_add_traffic(const sl_pricing *p, sl_traffic traffic[SL_COLLECTIVE_COUNT],
                     sl_collective kind, double bytes, double cover_s)
{
    const bool overlapped = p->slice->software->overlap_tensor_backward && cover_s > 0.0;
    const double busy_s = sl_collective_s(p->cluster, kind, &p->tensor_group, bytes);

    if (busy_s <= 0.0)
        return;
    traffic[kind].calls += 1.0;
    traffic[kind].bytes += bytes;
    traffic[kind].busy_s += busy_s;
    traffic[kind].exposed_s += sl_price_visible_s(p->slice->software, busy_s, cover_s, overlapped);
}

void
sl_price_open_region(const sl_pricing *p, double bytes, double forward_s, double dgrad_s,
                     double wgrad_s)
{
    sl_kind_price *out = p->out;

    if (has_sequence_parallel(p->slice)) {
        add_pieces(p, out->tensor_forward, SL_COLLECTIVE_ALL_GATHER, bytes, forward_s);
        sl_price_add_traffic(p, out->tensor_backward, SL_COLLECTIVE_ALL_GATHER, bytes, dgrad_s);
        sl_price_add_traffic(p, out->tensor_backward, SL_COLLECTIVE_REDUCE_SCATTER, bytes, wgrad_s);
    } else {
        sl_price_add_traffic(p, out->tensor_backward, SL_COLLECTIVE_ALL_REDUCE, bytes, wgrad_s);
    }
}

void
sl_price_close_region(const sl_pricing *p, double bytes, double forward_s, double dgrad_s)
{
    sl_kind_price *out = p->out;

    if (has_sequence_parallel(p->slice)) {
        add_pieces(p, out->tensor_forward, SL_COLLECTIVE_REDUCE_SCATTER, bytes, forward_s);
        add_pieces(p, out->tensor_backward, SL_COLLECTIVE_ALL_GATHER, bytes, dgrad_s);
    } else {
        sl_price_add_traffic(p, out->tensor_forward, SL_COLLECTIVE_ALL_REDUCE, bytes, 0.0);
    }
}
