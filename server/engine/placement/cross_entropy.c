#include "engine/placement/cross_entropy.h"

#include <assert.h>

#include "engine/placement/slice.h"

/* Bytes of a 16-bit logit, read and written, counted in the code of each, and those of its casts to
 * and from fp32, which wider logits do without.
 * PyTorch's: a cast of 2 + 4, log-softmax, whose rows no cache holds, 3 x 4 + 4; backward zeros for
 * the gradient of the labels 4, their sum 4, log-softmax's 8 + 4, the cast back 4 + 2 (ATen,
 * SoftMax.cu). In 16 bits no casts and half of the rest.
 * Megatron's: the cast, maximum 4, difference 8, exponential 8, sum 4, quotient 8; backward a
 * factor 8 and the cast (core/tensor_parallel/cross_entropy.py).
 * DTensor's: the cast, maximum 4, difference 8, exponential 8, sum 4, difference 8; backward zeros
 * 4, exponential 8, sum 12, factor 8, the cast (torch/distributed/tensor/parallel/loss.py);
 * compiled, what its sums over ranks set apart.
 * Fused: read twice, and once more to be written over. Cut: as much, for what is multiplied again
 * less what is left out (Wijmans 2024 has both equally fast). */
static const double cast_bytes = 6.0;
static const struct {
    double forward, backward;
    bool casts; /* else it goes by the width of the logits */
} moved[SL_ENTROPY_COUNT] = {
    [SL_ENTROPY_OPERATORS] = {22.0, 26.0, true},
    [SL_ENTROPY_NARROW] = {8.0, 10.0, false},
    [SL_ENTROPY_HALF] = {8.0, 10.0, false},
    [SL_ENTROPY_FUSED] = {4.0, 4.0, false},
    [SL_ENTROPY_CHUNKED] = {22.0, 26.0, true},
    [SL_ENTROPY_SPLIT] = {38.0, 38.0, true},
    [SL_ENTROPY_SPLIT_COMPILED] = {10.0, 6.0, false},
    [SL_ENTROPY_VOCABULARY] = {38.0, 14.0, true},
    [SL_ENTROPY_CUT] = {4.0, 4.0, false},
};

static double
bytes_at(double bytes, bool casts, double element_bytes)
{
    if (casts)
        return element_bytes < 4.0 ? bytes : bytes - cast_bytes;
    return bytes * element_bytes / 2.0;
}

/* Whether PyTorch computes the loss of a vocabulary that is cut, by operators of DTensor. What a
 * release traces as a whole keeps what its row says. */
static bool
is_split(const sl_software *software, const sl_workload *workload, uint32_t tensor)
{
    return workload->framework == SL_FRAMEWORK_FSDP2 && tensor > 1 && !software->traced_sharding;
}

/* A class that casts no logits to fp32, where autocast does not either. */
static sl_entropy_kernels
operators_of(const sl_model *model, const sl_workload *workload)
{
    const bool narrow = model->loss_narrow && sl_precision_kept_bytes(workload->precision) < 4.0 &&
                        !sl_slice_autocasts(workload);

    return narrow ? SL_ENTROPY_NARROW : SL_ENTROPY_OPERATORS;
}

/* The release's own. A class that its framework casts no logits of is that everywhere. */
static sl_entropy_kernels
own_kernels(const sl_model *model, const sl_software *software, const sl_workload *workload,
            bool split)
{
    if (software->loss_chunked)
        return SL_ENTROPY_CHUNKED;
    if (workload->compile && software->loss_compiled)
        return split ? SL_ENTROPY_SPLIT_COMPILED : SL_ENTROPY_FUSED;
    if (workload->framework == SL_FRAMEWORK_MEGATRON)
        return SL_ENTROPY_OWN;
    if (split)
        return SL_ENTROPY_SPLIT;
    return !software->loss_fused && operators_of(model, workload) == SL_ENTROPY_NARROW
               ? SL_ENTROPY_NARROW
               : SL_ENTROPY_OWN;
}

static sl_entropy_kernels
kernels_of(const sl_model *model, const sl_software *software, const sl_workload *workload,
           bool split)
{
    switch (workload->loss) {
    case SL_LOSS_EAGER:
        return operators_of(model, workload);
    case SL_LOSS_HALF:
        return SL_ENTROPY_HALF;
    case SL_LOSS_FUSED:
        return split ? SL_ENTROPY_SPLIT_COMPILED : SL_ENTROPY_FUSED;
    case SL_LOSS_CHUNKED:
        return SL_ENTROPY_CHUNKED;
    case SL_LOSS_PARALLEL:
        if (split)
            return SL_ENTROPY_SPLIT;
        return workload->framework == SL_FRAMEWORK_MEGATRON ? SL_ENTROPY_VOCABULARY
                                                            : operators_of(model, workload);
    case SL_LOSS_CUT:
        return SL_ENTROPY_CUT;
    default:
        return own_kernels(model, software, workload, split);
    }
}

sl_entropy
sl_entropy_of(const sl_model *model, const sl_software *software, const sl_workload *workload,
              uint32_t tensor)
{
    assert(tensor >= 1);

    const bool split = is_split(software, workload, tensor);
    const sl_entropy_kernels kernels = kernels_of(model, software, workload, split);
    const sl_entropy_kernels alike = kernels != SL_ENTROPY_OWN ? kernels
                                     : software->loss_fused    ? SL_ENTROPY_FUSED
                                     : workload->framework == SL_FRAMEWORK_MEGATRON
                                         ? SL_ENTROPY_VOCABULARY
                                         : SL_ENTROPY_OPERATORS;
    /* A head that is cut leaves each rank its part of the vocabulary; code that is not told to
     * compute the loss in parts gathers it (torchtitan's fsdp2 is, by default). */
    const bool whole = workload->framework != SL_FRAMEWORK_MEGATRON &&
                       (workload->loss == SL_LOSS_EAGER || workload->loss == SL_LOSS_HALF);

    const double element_bytes = sl_precision_kept_bytes(workload->precision);
    const bool casts = moved[alike].casts;
    const sl_capping cap = sl_slice_capping(element_bytes);
    const double capped = model->logits_capped && !workload->compile ? 1.0 : 0.0;

    return (sl_entropy){
        .kernels = kernels,
        .copies = whole ? tensor : 1.0,
        .forward_bytes = bytes_at(moved[alike].forward, casts, element_bytes) +
                         software->metrics_entropies *
                             bytes_at(moved[SL_ENTROPY_OPERATORS].forward, true, element_bytes) +
                         capped * cap.forward_bytes,
        .backward_bytes =
            bytes_at(moved[alike].backward, casts, element_bytes) + capped * cap.backward_bytes,
    };
}
