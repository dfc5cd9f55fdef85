#include "engine/price/kernel.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "engine/placement/attended.h"
#include "engine/price/surface.h"
#include "shardline/units.h"

/* Of 16-bit products, those with a scale for each row and column, their casts apart (torchtitan,
 * two runs of 70B: benchmarks/asyncTP_llama3_h100_2025-06). */
static const double row_rate_ratio = 1.2;
/* Of parts whose law does not say: the middle of what is known of three. */
static const double unaligned_rate_ratio = 0.5;
static const double piece_bytes = 16.0;
static const double word_bytes = 4.0;
static const double launch_floor_s = 3.0 * SL_US_S;

typedef struct tile_shape {
    double rows, columns;
    double rate_ratio;
} tile_shape;

double
sl_kernel_half_peak(const sl_accelerator *part)
{
    return part->peak_flops_per_s[SL_PRECISION_BF16] > 0.0
               ? part->peak_flops_per_s[SL_PRECISION_BF16]
               : part->peak_flops_per_s[SL_PRECISION_FP16];
}

sl_alignment
sl_kernel_alignment(double values, sl_precision precision)
{
    const double bytes = values * sl_precision_bytes(precision);

    if (fmod(bytes, piece_bytes) == 0.0)
        return SL_ALIGNED;
    return fmod(bytes, word_bytes) == 0.0 ? SL_ALIGNED_WORDS : SL_UNALIGNED;
}

static double
alignment_ratio(const sl_gemm_law *law, sl_alignment alignment)
{
    const double ratio =
        alignment == SL_ALIGNED_WORDS ? law->words_rate_ratio : law->unaligned_rate_ratio;

    if (alignment == SL_ALIGNED)
        return 1.0;
    return ratio > 0.0 ? ratio : unaligned_rate_ratio;
}

/* Clock held over hours by a kernel that reaches `share` of its peak. The slice's is that of 16-bit
 * products; power goes with what is computed and about the cube of the clock, so what computes less
 * than they do is slowed less. */
static double
held_clock(const sl_slice *slice, double share)
{
    const sl_accelerator *part = slice->accelerator;
    const double products = part->gemm.peak_flops_per_s / sl_kernel_half_peak(part);

    return fmin(fmax(1.0, slice->clock_ratio), slice->clock_ratio * cbrt(products / share));
}

/* The law of a precision, its peak at the clock of the slice; a 16-bit law is scaled by the
 * datasheet to precisions that have none. */
static sl_gemm_law
law_of(const sl_slice *slice, sl_precision precision)
{
    const sl_accelerator *part = slice->accelerator;
    const double half = sl_kernel_half_peak(part);
    const sl_low_product low = precision == SL_PRECISION_NVFP4 ? SL_LOW_PRODUCT_NVFP4
                               : slice->operand_bytes > 0.0    ? SL_LOW_PRODUCT_FP8_KEPT
                                                               : SL_LOW_PRODUCT_FP8;
    const bool own = sl_precision_is_low(precision) && part->low_gemm[low].peak_flops_per_s > 0.0;
    sl_gemm_law law = own ? part->low_gemm[low] : part->gemm;

    assert(half > 0.0);
    if (slice->by_row && precision == SL_PRECISION_FP8) {
        const double launch_s = law.launch_s;
        law = part->gemm;
        law.launch_s = launch_s;
        law.surface = NULL; /* of other kernels */
        law.peak_flops_per_s *= slice->clock_ratio * row_rate_ratio;
    } else if (own)
        law.peak_flops_per_s *=
            held_clock(slice, law.peak_flops_per_s / part->peak_flops_per_s[precision]);
    else {
        if (precision != SL_PRECISION_BF16 && precision != SL_PRECISION_FP16)
            law.surface = NULL;
        /* Without tensor cores a part stays below its power: 51 TFLOP/s of H100, cool and hot. */
        const double clock =
            precision == SL_PRECISION_FP32 ? fmax(1.0, slice->clock_ratio) : slice->clock_ratio;
        const double ratio = part->peak_flops_per_s[precision] / half;
        law.peak_flops_per_s *= clock * ratio;
        /* To fill a tile's pipeline takes its time, in which a slower one does fewer steps. */
        law.prologue_k *= fmin(1.0, ratio);
    }
    return law;
}

/* Bytes of an operand's value as it is multiplied with. */
static double
operand_bytes(const sl_slice *slice, sl_precision precision)
{
    if (precision == SL_PRECISION_FP32)
        return 4.0;
    return precision == SL_PRECISION_NVFP4  ? 0.5
           : sl_precision_is_low(precision) ? 1.0
                                            : slice->element_bytes;
}

static double
tile_seconds(const sl_slice *slice, const sl_gemm_law *law, const sl_product *product,
             const tile_shape *tile, double split)
{
    const double e = operand_bytes(slice, product->precision);
    const double tiles =
        ceil(product->m / tile->rows) * ceil(product->n / tile->columns) * product->batch;
    const double waves = ceil(tiles * split / law->multiprocessors);
    const double rate_ratio = tile->rate_ratio * alignment_ratio(law, product->alignment);
    const double compute_s = waves * 2.0 * tile->rows * tile->columns *
                             (product->k / split + law->prologue_k) * law->multiprocessors /
                             (law->peak_flops_per_s * rate_ratio);
    const double results = product->m * product->n;
    const double bytes = (product->m * product->k + product->k * product->n) * e +
                         results * slice->element_bytes +
                         (split > 1.0 ? 8.0 * split * results : 0.0);
    const double memory_s = bytes * product->batch / law->bandwidth_bytes_per_s;

    return fmax(compute_s, memory_s);
}

double
sl_kernel_product_s(const sl_slice *slice, sl_product product)
{
    const sl_gemm_law law = law_of(slice, product.precision);
    const tile_shape tiles[] = {
        {256.0, 128.0, 1.0},
        {128.0, 256.0, 1.0},
        {128.0, 128.0, law.rate_128x128_ratio},
        {128.0, 64.0, law.rate_128x64_ratio},
        {64.0, 128.0, law.rate_128x64_ratio},
        {64.0, 64.0, law.rate_64x64_ratio},
    };
    const uint32_t splits = sl_precision_is_low(product.precision) ? 1 : 8;
    double best_s = HUGE_VAL;

    for (uint32_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
        const double count =
            ceil(product.m / tiles[i].rows) * ceil(product.n / tiles[i].columns) * product.batch;
        best_s = fmin(best_s, tile_seconds(slice, &law, &product, &tiles[i], 1.0));
        if (count >= law.multiprocessors)
            continue;
        for (uint32_t split = 2; split <= splits && product.k / split >= 512.0; split *= 2)
            best_s = fmin(best_s, tile_seconds(slice, &law, &product, &tiles[i], split));
    }
    best_s += law.launch_s;
    return law.surface != NULL && product.batch <= 1.0
               ? best_s * sl_surface_ratio(law.surface, product.m, product.n, product.k)
               : best_s;
}

double
sl_kernel_cast_s(const sl_slice *slice, sl_precision precision, double values)
{
    const double rate = law_of(slice, precision).cast_values_per_s;

    return rate > 0.0 ? values / rate : 0.0;
}

double
sl_kernel_timed_s(const sl_accelerator *part, sl_product product)
{
    sl_slice slice = {.accelerator = part,
                      .clock_ratio = 1.0,
                      .element_bytes = 2.0,
                      .precision = product.precision};
    const sl_gemm_law law = law_of(&slice, product.precision);
    const double flops = 2.0 * product.batch * product.m * product.n * product.k;

    if (law.hot_ratio > 0.0)
        slice.clock_ratio -= (1.0 - law.hot_ratio) * flops / (flops + law.hot_flops);
    return sl_kernel_product_s(&slice, product) +
           sl_kernel_cast_s(&slice, product.precision, product.batch * product.m * product.k);
}

bool
sl_kernel_product_measured(const sl_product *product)
{
    return product->batch <= 1.0 &&
           sl_surface_octaves_outside(product->m, product->n, product->k) <= 0.0;
}

double
sl_kernel_memory_s(const sl_slice *slice, double bytes, double ratio)
{
    assert(ratio > 0.0);
    return launch_floor_s + bytes / (slice->accelerator->memory_bytes_per_s * ratio);
}

double
sl_kernel_roofline_s(const sl_slice *slice, double flops, double bytes, double ratio)
{
    assert(ratio > 0.0);
    return slice->accelerator->gemm.launch_s +
           fmax(flops / law_of(slice, slice->precision).peak_flops_per_s,
                bytes / (slice->accelerator->memory_bytes_per_s * ratio));
}

/* The law fitted at the head width nearest by ratio. */
static const sl_attention_laws *
nearest_laws(const sl_slice *slice, uint32_t head_dim)
{
    const sl_attention_laws *laws = slice->accelerator->attention[slice->attention];
    const sl_attention_laws *best = NULL;
    double best_distance = HUGE_VAL;

    for (uint32_t i = 0; i < SL_ATTENTION_WIDTHS_MAX; i++) {
        if (laws[i].head_dim == 0)
            continue;
        const double distance = fabs(log((double)laws[i].head_dim / head_dim));
        if (distance < best_distance) {
            best_distance = distance;
            best = &laws[i];
        }
    }
    assert(best != NULL); /* sl_question_check refuses a kernel the part has no law for */
    return best;
}

bool
sl_kernel_attention_fits(const sl_accelerator *part, sl_attention_kernel kernel, uint32_t head_dim)
{
    for (uint32_t i = 0; i < SL_ATTENTION_WIDTHS_MAX; i++)
        if (part->attention[kernel][i].head_dim == head_dim)
            return true;
    return false;
}

/* Laws are of 16 bits: in 32 the datasheet's rates are to each other as those of the kernels. */
static double
wide_rate_ratio(const sl_slice *slice, const sl_operator *op)
{
    const sl_precision precision = sl_slice_precision(slice, op);
    const sl_accelerator *const part = slice->accelerator;

    return sl_precision_kept_bytes(precision) > 2.0
               ? part->peak_flops_per_s[precision] / sl_kernel_half_peak(part)
               : 1.0;
}

static double
fused_attention_s(const sl_slice *slice, const sl_operator *op, sl_pass pass)
{
    const sl_attention_laws *laws = nearest_laws(slice, op->head_dim);
    const sl_attention_law *law = pass == SL_PASS_FORWARD ? &laws->forward : &laws->backward;
    const double heads = op->heads / slice->tensor;
    const double forward_flops =
        4.0 * slice->tokens * sl_slice_causal_keys(slice, op) * heads * op->head_dim;
    const double flops = pass == SL_PASS_FORWARD ? forward_flops : 2.5 * forward_flops;
    const double s = slice->document;
    const double blocks = slice->sequences * heads * ceil(slice->sequence / slice->context / 128.0);
    const double occupancy = fmin(1.0, blocks / slice->accelerator->gemm.multiprocessors);
    const double rate = law->peak_flops_per_s * wide_rate_ratio(slice, op) * slice->clock_ratio *
                        s / (s + law->half_length) * occupancy;

    return law->launch_s + flops / rate;
}

sl_alignment
sl_kernel_scores_alignment(const sl_slice *slice, const sl_operator *op)
{
    const sl_precision precision = sl_slice_precision(slice, op);

    return sl_worse_alignment(sl_kernel_alignment(op->head_dim, precision),
                              sl_kernel_alignment(slice->sequence, precision));
}

/* Of a score, by pass. One kernel reads and writes it, or reads the half that a causal mask leaves.
 * In single kernels Transformers scales it, adds a mask, takes softmax in fp32 and casts that back
 * (eager_attention_forward): 4 + 4 + 6 + 6 bytes, and backward 6 + 12 + 6 + 4. Megatron casts first:
 * 6 + 8 + 8 + 8 + 6, and 6 + 12 + 8 + 8 + 6. */
static double
score_bytes_of(const sl_slice *slice, const sl_operator *op, sl_pass pass)
{
    const double e = slice->element_bytes;
    const bool forward = pass == SL_PASS_FORWARD;
    const bool wide = e >= 4.0;
    const double read_ratio = (slice->sequence + 1.0) / (2.0 * slice->sequence);

    switch (sl_slice_scores(slice, op)) {
    case SL_SCORES_CAUSAL:
        return e * (forward ? read_ratio + 1.0 : 2.0 * read_ratio + 1.0);
    case SL_SCORES_COMPOSED:
        return forward ? (wide ? 24.0 : 36.0) : (wide ? 28.0 : 40.0);
    case SL_SCORES_EAGER:
        return forward ? (wide ? 24.0 : 20.0) : (wide ? 20.0 : 28.0);
    default:
        return e * (forward ? 2.0 : 3.0);
    }
}

static double
unfused_attention_s(const sl_slice *slice, const sl_operator *op, sl_pass pass)
{
    const double s = slice->sequence;
    const double d = op->head_dim;
    const double batch = slice->sequences * op->heads / slice->tensor;
    const double scores = batch * s * s;
    const double width_ratio = slice->element_bytes / 2.0;
    const double score_bytes = score_bytes_of(slice, op, pass);
    const double dropout_bytes = slice->dropout ? 5.0 * width_ratio : 0.0;
    const sl_precision precision = sl_slice_precision(slice, op);
    const sl_alignment alignment = sl_kernel_scores_alignment(slice, op);
    const double into_scores_s =
        sl_kernel_product_s(slice, (sl_product){batch, s, s, d, precision, alignment});
    const double out_of_scores_s =
        sl_kernel_product_s(slice, (sl_product){batch, s, d, s, precision, alignment});
    /* Backward: dP from dO and V; dV, dQ and dK from the scores. */
    const double products_s = pass == SL_PASS_FORWARD ? into_scores_s + out_of_scores_s
                                                      : into_scores_s + 3.0 * out_of_scores_s;

    const double bias_bytes = 6.0 * width_ratio; /* scores and bias read, their sum written */
    const sl_capping cap = sl_slice_capping(slice->element_bytes);
    const double cap_bytes = pass == SL_PASS_FORWARD ? cap.forward_bytes : cap.backward_bytes;

    return products_s +
           sl_kernel_memory_s(slice, scores * score_bytes, slice->streaming.softmax_ratio) +
           (op->capped && slice->eager
                ? sl_kernel_memory_s(slice, scores * cap_bytes, slice->streaming.residual_ratio)
                : 0.0) +
           (op->biased
                ? sl_kernel_memory_s(slice, scores * bias_bytes, slice->streaming.residual_ratio)
                : 0.0) +
           (slice->dropout
                ? sl_kernel_memory_s(slice, scores * dropout_bytes, slice->streaming.residual_ratio)
                : 0.0);
}

double
sl_kernel_attention_s(const sl_slice *slice, const sl_operator *op, sl_pass pass)
{
    return slice->attention == SL_ATTENTION_UNFUSED ? unfused_attention_s(slice, op, pass)
                                                    : fused_attention_s(slice, op, pass);
}

double
sl_kernel_scan_s(const sl_slice *slice, const sl_operator *op, sl_pass pass, double ratio)
{
    const double tokens = slice->tokens / slice->tensor;
    const double n = op->state;
    const double q = op->chunk;
    const double width = (double)op->outputs; /* H P */
    const double delta = 2.0 * (q * (3.0 * n * op->heads + 2.0 * width) + 3.0 * n * width);
    const double chunked = 2.0 * (q * (op->kv_heads * n + width) + 2.0 * n * width);
    const double flops = op->chunk == 0 ? 9.0 * n * width : op->delta ? delta : chunked;
    const double states = op->chunk > 0 ? 8.0 * width * n / q : 0.0;
    const double bytes =
        2.0 * slice->element_bytes * ((double)op->inputs + (double)op->outputs) + states;
    const double times = pass == SL_PASS_FORWARD ? 1.0 : 3.0;

    return sl_kernel_roofline_s(slice, times * tokens * flops, times * tokens * bytes, ratio);
}
