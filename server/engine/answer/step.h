/** Seconds of one training step and what follows from them: throughput, utilisation. */
#ifndef SL_ENGINE_STEP_H
#define SL_ENGINE_STEP_H

#include "engine/memory/memory.h"

/**
 * step = span of the pipeline + exposed sends + exposed data-parallel collectives + optimizer +
 * overhead. Every term is that of the slowest pipeline rank, so that the terms sum to the step.
 *
 * Sends: where the release overlaps them, hidden but for those that fill and drain, p - 1
 * boundaries twice and with every chunk more all around twice, and those that come late; else they
 * lengthen passes. Data parallel: gradients after the last backward (all-reduce, or reduce-scatter
 * and an all-gather of the 16-bit parameters when the optimizer is sharded); overlapped with one
 * backward and one forward where the release does, of interleaved chunks with those of all others.
 * What the first layer waits for and what is reduced after the last gradient, a bucket or a unit
 * (sl_gather_edges), nothing hides; the rest goes under computing as far as that lasts. On one
 * stage that is gone through layer by layer, with what goes to the host and comes from it
 * (sl_step_flow). A rank late in the pipeline ends its backward early and hides its collective in
 * the drain. Sends and the data ranks' collectives are priced as if each had its links alone.
 * Simulated, where they share them (engine/schedule/pipeline.h), some steps take longer
 * (tests/accuracy/limits.md). Optimizer: bytes of the states it reads and writes over 0.85 of
 * memory bandwidth. Source: Narayanan 2021; Korthikanti 2022; Megatron-LM schedules.py and
 * distributed_data_parallel.py. The table of communication, and what of it is exposed, only where
 * the case is explained.
 */
void sl_step_evaluate(const sl_memory_case *c, sl_time *out);

/**
 * Model FLOPs of a step: 3 x forward (backward is twice the forward), beside adapters 2 x (a frozen
 * weight has no gradient); mfu_full counts all s x s scores (72 B s L h^2 (1 + s / 6h + V / 12hL)
 * for GPT, Korthikanti 2022 appendix), of a window or of documents theirs, mfu_causal those a causal
 * mask keeps; hfu adds what is recomputed to the full count. ideal_s is the causal count at the
 * datasheet's peak: a lower bound of the step.
 */
void sl_step_throughput(const sl_memory_case *c, const sl_time *time, sl_throughput *out);

#endif
