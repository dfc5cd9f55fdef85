/** How alike accelerators are and how a run of weeks goes (cluster.operation): what was said, the
 * defaults, what was used. */
#ifndef SL_CODEC_OPERATING_H
#define SL_CODEC_OPERATING_H

#include "codec/question/cluster.h"
#include "json/writer.h"

/** cluster.operation, into *pool. Rules: wrong_type, out_of_range, unknown_field. */
sl_code sl_operating_read(const sl_node *cluster, sl_pool *pool, sl_errors *warnings,
                          sl_errors *err) SL_MUST_CHECK;

/**
 * What was said, and for the rest
 *   speed_sigma_ratio       0.02: with it published runs slow down with the number of their
 *                           accelerators as measured (tests/accuracy/constants.csv); clusters of
 *                           one part vary by 8 % (arXiv 2208.11035)
 *   failures_per_node_day   0.0038: 419 unexpected interruptions in 54 days on 2,048 nodes of eight
 *                           H100 (Llama 3, arXiv 2407.21783); research clusters 0.0023 and 0.0065
 *                           (2410.21680)
 *   restart_s               600, coarse
 *   checkpoint_bytes_per_s  2e9 of one node, coarse
 *   idle_power_ratio        0.1, load_ratio 0.9, coarse
 *   node_power_ratio        1.7: 10.2 kW of a DGX H100 for 5.6 kW of accelerators, less at part
 *                           load
 *   pue_ratio               1.2, within 1.1 to 1.4
 */
sl_operating sl_operating_of(const sl_pool *pool, sl_notes *notes);

/** "operation": the figures that were used. */
void sl_operating_write(sl_writer *writer, const sl_operating *operation);

#endif
