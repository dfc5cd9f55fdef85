/** A training run over its weeks: failures, checkpoints, restarts, energy and cost. */
#ifndef SL_ENGINE_OPERATING_H
#define SL_ENGINE_OPERATING_H

#include "engine/memory/memory.h"

/**
 * goodput_ratio, time_to_train_s, energy_j and cost of an estimate whose step, throughput and
 * memory are set; the last three 0 without tokens.
 *   mean time between failures  M = 86400 / (failures_per_node_day nodes)
 *   a checkpoint stops the run  C = checkpoint bytes / (nodes checkpoint_bytes_per_s)
 *   one is written every        T = checkpoint_interval_s, or the optimum sqrt(2 C M), at least C;
 *                               none where neither is there: nothing fails and nobody asks
 *   goodput                     (1 - C / T) (1 - (restart_s + T / 2) / M), not below 0
 *   time to train               tokens / (tokens_per_s goodput)
 *   power of an accelerator     P (i + (1 - i) u),  u = load_ratio min(1, MFU / (0.35 k)), P its
 *                               limit and k the clock which that leaves: as busy as without one
 *   energy                      accelerators power node_power_ratio pue_ratio time to train
 * A checkpoint holds parameters, master weights and optimizer states of what trains once. Failures
 * of which no number is given (a cluster of zeros) do not happen.
 * Source: Young 1974 and arXiv 2410.18124 for the interval; Llama 3 (arXiv 2407.21783, section
 * 3.3.4) for the rate.
 */
void sl_operating_set(const sl_memory_case *c, sl_estimate *out);

#endif
