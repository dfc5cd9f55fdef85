/**
 * Seconds of one kernel on one accelerator, from its laws. Every rate here is what a cool, short
 * run reaches; sl_slice.clock_ratio brings it to hours of load.
 */
#ifndef SL_ENGINE_KERNEL_H
#define SL_ENGINE_KERNEL_H

#include "engine/placement/slice.h"

/** Rows of a matrix in memory: of whole 16 bytes, of whole 4, or of neither. */
typedef enum sl_alignment { SL_ALIGNED, SL_ALIGNED_WORDS, SL_UNALIGNED } sl_alignment;

/** m x n x k, `batch` independent products. */
typedef struct sl_product {
    double batch;
    double m, n, k;
    sl_precision precision;
    sl_alignment alignment; /* the worst of the widths that its matrices have in memory */
} sl_product;

/**
 * Whether rows of `values` are whole numbers of the 16 bytes that tensor cores read at once, or of
 * the 4 that older kernels do, or of neither. Libraries then take kernels that read less at once,
 * also in compiled code, at a share of the rate of aligned ones that stands with the law: on H100
 * 0.35 and 0.175 (36 and 18 products of 4,096 to 128,003, device.py), on A100 a half (GPT-2 with
 * 50,257 takes 8.8 ms longer than with 50,304 for 8,192 tokens: LLMs-from-scratch, ch05/10), 0.7 on
 * RTX 4090 (pytorch issue 181718).
 * Source: NVIDIA, Matrix Multiplication Background, section 2.
 */
sl_alignment sl_kernel_alignment(double values, sl_precision precision);

/** Of the products of scores that are kept whole: of a head's width, and of the sequence. */
sl_alignment sl_kernel_scores_alignment(const sl_slice *slice, const sl_operator *op);

static inline sl_alignment
sl_worse_alignment(sl_alignment a, sl_alignment b)
{
    return a > b ? a : b;
}

/** Datasheet peak of 16-bit products, bf16 where the part has it [FLOP/s]; what the law's
 * rates scale by. */
double sl_kernel_half_peak(const sl_accelerator *part);

/**
 * Matrix product:
 *   t = (t0 + min over tiles (tm, tn) and splits z of max(Tc, Tm)) * surface
 *   Tc = waves * 2 tm tn (k / z + k0) * SM / (P * r_tile * r_alignment)
 *   waves = ceil(batch tiles z / SM)
 *   Tm = ((m k + k n) e + m n e + (z > 1 ? 8 z m n : 0)) batch / bandwidth
 * Tiles 256x128, 128x256, 128x128, 128x64, 64x128, 64x64; z in {1, 2, 4, 8} while the tiles leave
 * multiprocessors idle and k / z >= 512, low precisions with z = 1 (their kernels do not split k:
 * nvfp4 tables are linear in k down to one tile). Constants are fitted per part (gemm_laws.csv).
 * surface (engine/price/surface.h) multiplies single products in the precision it was measured in.
 * Source: derived; fitted on public kernel tables. Shapes not fitted, 1,024 and more on each side:
 * 5.3 % mean error in bf16, 4.0 % in fp8, 5.1 % in nvfp4, casts and heat of the tables included
 * (sl_kernel_timed_s).
 */
double sl_kernel_product_s(const sl_slice *slice, sl_product product);

/**
 * 16-bit values quantised for a product that does not keep its operands: values / rate of the law,
 * 0 where a law has none. Tables of low precisions time a product with the cast of its m x k
 * operand; its time is linear in n from there.
 */
double sl_kernel_cast_s(const sl_slice *slice, sl_precision precision, double values);

/**
 * A product as a table of kernels has it: operands in 16 bits cast with it, one run after the
 * other, so that long kernels run at a clock that gave way already:
 *   clock = 1 - (1 - hot) f / (f + f0), f the FLOPs
 * 16-bit tables end at 0.70 to 0.83 (A100 0.94, B300 1), about what sustained.csv says of hours
 * from other runs; it is in the fit so that surfaces do not slow down again what the clock of a
 * slice does. Nothing but fits and tests asks for it: a slice has its own clock.
 * Source: derived; fitted on public kernel tables (gemm_laws.csv).
 */
double sl_kernel_timed_s(const sl_accelerator *part, sl_product product);

/** Whether the tables that the laws were fitted to have shapes around this one: single products
 * inside the ends of engine/price/surface.h. */
bool sl_kernel_product_measured(const sl_product *product);

/**
 * Elementwise kernels: t = 3 us + bytes / (memory bandwidth * ratio), ratio by class and fusion.
 * Source: measured elementwise rates on A100 and H100 (Vidur, LLMCompass tables).
 */
double sl_kernel_memory_s(const sl_slice *slice, double bytes, double ratio);

/**
 * A layer known by its figures alone, at the roofline:
 *   t = t0 + max(flops / P, bytes / (memory bandwidth * ratio))
 * with P and t0 of the matrix product's law: no law for other layers was fitted.
 * Source: Williams 2009.
 */
double sl_kernel_roofline_s(const sl_slice *slice, double flops, double bytes, double ratio);

typedef enum sl_pass { SL_PASS_FORWARD, SL_PASS_BACKWARD } sl_pass;

/** Whether a law of this kernel was fitted at exactly this head width. */
bool sl_kernel_attention_fits(const sl_accelerator *part, sl_attention_kernel kernel,
                              uint32_t head_dim);

/**
 * Attention core. Fused: FLOPs / (P s / (s + s0)) + launch, FLOPs causal, backward 2.5 times the
 * forward's (five products for two); fewer blocks than multiprocessors lower the rate in
 * proportion. Unfused: two batched products forward, four backward, over all s x s scores, and a
 * masked softmax of 4 B per score forward and 6 B backward (dropout 5 B each way, a bias added to
 * the scores, or its gradient summed up, 6 B), for 2-byte elements. Source: Dao 2023 and Shah 2024
 * charts, fitted to 2.8 %; Korthikanti 2022 for the unfused block.
 */
double sl_kernel_attention_s(const sl_slice *slice, const sl_operator *op, sl_pass pass);

/**
 * State space of one layer, at the roofline (no law was fitted: a lower bound). In chunks of Q
 * positions, with H heads of P channels, G groups and N states, per position
 *   FLOPs = 2 (Q (G N + H P) + 2 H N P)   scores of a chunk, their values, its state in and out
 *   bytes = 2 e (inputs + outputs) + 8 H P N / Q   convolution, scan and gate; states in fp32
 * The delta rule with keys as wide as N: 2 H (Q (3 N + 2 P) + 3 N P) FLOPs.
 * One position after the other there are 9 H P N FLOPs and no states to write. Backward rebuilds
 * forward and has two gradients for each product: three times both.
 * Source: Dao and Gu 2024, section 6; Gu and Dao 2023, section 3.3.2; Yang 2024, Gated Delta
 * Networks, section 3.3, as flash-linear-attention computes it.
 */
double sl_kernel_scan_s(const sl_slice *slice, const sl_operator *op, sl_pass pass, double ratio);

#endif
