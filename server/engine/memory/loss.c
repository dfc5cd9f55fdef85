/* What a loss takes for each logit, by who computes it and by how the vocabulary is cut. */
#include "engine/memory/loss.h"

#include "engine/extremes.h"
#include "engine/placement/lent.h"
#include "engine/placement/slice.h"

/* Bytes per logit of an eager loss at the peak of its backward: log-softmax in fp32, its gradient
 * and that of its input. The 16-bit logits are gone by then: nobody holds on to them. When forward
 * ends they are there, and one copy less. Other losses are the profile's. */
static const double eager_logit_bytes = 12.0;
/* Without the copy in fp32. */
static const double narrow_logit_bytes = 6.0;
/* The same of DTensor's loss_parallel, which has no kernel for it: log-softmax, minus one at each
 * label, the exponential and the sum of both. Our own runs with tensor 2 and 8 show 15.9, and 13.9
 * when forward ends. */
static const double split_logit_bytes = 16.0;
/* That compiled, which waits for what the ranks add up between its kernels, and has most when
 * forward ends. Our own runs show 8.1 and 4 with tensor 2, 10.0 and 6.0 with tensor 8. */
static const double split_compiled_forward_bytes = 10.0;
static const double split_compiled_logit_bytes = 6.0;
/* Megatron Core's, which is not fused with it: logits in 16 bits, and their softmax in fp32 in place
 * of what it is made of (core/tensor_parallel/cross_entropy.py). Before it a copy less the maximum
 * stood beside what it was made of. */
static const double vocabulary_logit_bytes = 6.0;
/* Eager without fp32, by code that holds on: logits, log-softmax and the gradients of both. */
static const double half_logit_bytes = 8.0;

/* Bytes per logit when forward ends and at the peak of the loss's backward. */
typedef struct at_loss {
    double forward, peak;
} at_loss;

static at_loss
even(double bytes)
{
    return (at_loss){bytes, bytes};
}

static at_loss
composed(const sl_memory_case *c, double bytes, double copies)
{
    return (at_loss){copies * (c->slice->element_bytes + bytes - 4.0), copies * bytes};
}

/* Of the release's own Megatron's computes in place. */
static at_loss
own_loss(const sl_memory_case *c)
{
    const double own = c->software->logits_peak_bytes;

    if (c->workload->framework == SL_FRAMEWORK_MEGATRON || own < eager_logit_bytes)
        return even(own);
    return composed(c, eager_logit_bytes, own / eager_logit_bytes);
}

static at_loss
loss_of(const sl_memory_case *c)
{
    const bool megatron = c->workload->framework == SL_FRAMEWORK_MEGATRON;
    const double copies = c->slice->entropy.copies;

    switch (c->slice->entropy.kernels) {
    case SL_ENTROPY_OPERATORS:
        return megatron ? even(eager_logit_bytes) : composed(c, eager_logit_bytes, copies);
    case SL_ENTROPY_NARROW:
        return composed(c, narrow_logit_bytes, copies);
    case SL_ENTROPY_HALF:
        return even(half_logit_bytes * copies);
    case SL_ENTROPY_FUSED:
        return even(c->software->fused_logits_peak_bytes);
    case SL_ENTROPY_CHUNKED:
        return even(c->software->chunked_logits_peak_bytes);
    case SL_ENTROPY_SPLIT:
        return composed(c, split_logit_bytes, 1.0);
    case SL_ENTROPY_SPLIT_COMPILED:
        return (at_loss){split_compiled_forward_bytes, split_compiled_logit_bytes};
    case SL_ENTROPY_VOCABULARY: /* which is the release's own, if that is not fused */
        return c->software->loss_fused ? even(vocabulary_logit_bytes) : own_loss(c);
    case SL_ENTROPY_CUT: /* Wijmans 2024: a row keeps its log-sum-exp, which is nothing beside it */
        return even(0.0);
    default:
        return own_loss(c);
    }
}

/* Of a loss a gradient in 16 bits is left to the head, but by releases that hold on to all of it. */
sl_logit_bytes
sl_loss_logits(const sl_memory_case *c)
{
    const double e = c->slice->element_bytes;
    const bool apart = c->workload->framework != SL_FRAMEWORK_MEGATRON;
    const sl_entropy_kernels kernels = c->slice->entropy.kernels;
    at_loss bytes = loss_of(c);

    /* A loss that keeps its log-softmax keeps the tanh before it as well. */
    if (apart && c->question->model->logits_capped && bytes.peak >= half_logit_bytes)
        bytes = (at_loss){bytes.forward + e, bytes.peak + e};
    /* In parts there are none, in 16 bits throughout nobody lets go of them, and where forward has
     * most they are in its count. */
    const bool let_go = apart && bytes.peak >= sl_larger(e, bytes.forward) &&
                        kernels != SL_ENTROPY_CHUNKED && kernels != SL_ENTROPY_HALF;
    const bool held = c->software->holds_logits && kernels == SL_ENTROPY_OWN;

    return (sl_logit_bytes){
        .forward = sl_lent_logit_bytes(c, bytes.forward),
        .loss = sl_lent_logit_bytes(c, bytes.peak),
        .head = sl_lent_logit_bytes(c, held ? bytes.peak : sl_smaller(bytes.peak, e)),
        .idle = let_go ? e : 0.0};
}
