/** What measured products differ by from the law of their part, between the shapes that were
 * measured. */
#ifndef SL_ENGINE_SURFACE_H
#define SL_ENGINE_SURFACE_H

#include "shardline/hardware.h"

/** Nodes of a surface, ascending, and the ends of what was measured [count]. */
extern const double sl_surface_rows[SL_SURFACE_ROWS];
extern const double sl_surface_columns[SL_SURFACE_COLUMNS];
extern const double sl_surface_depths[SL_SURFACE_DEPTHS];

/** Octaves from m x n x k to the nearest shape that tables have, summed over its sides; 0 inside:
 * 16 to 32,768 rows, 512 to 51,200 columns and a depth of 512 to 16,384
 * (ai-dynamo/aiconfigurator). */
double sl_surface_octaves_outside(double m, double n, double k);

/**
 * Measured seconds over those of the law:
 *   1 + (linear between the eight nodes around log m, log n, log k, less 1) / 2^(octaves outside)
 * Nodes hold the ratio that explains the measured shapes around them best
 * (tests/accuracy/fit_products.c).
 * Source: derived. On (n, k) left out of the fit, 1,024 and more on each side, the mean error falls
 * from 6.2 to 5.4 % for the eight bf16 tables (L40S 8.3 to 6.6), from 4.1 to 3.1 % for fp8 and from
 * 6.1 to 5.0 % for nvfp4 of TensorRT-LLM. Interpolating the times alone, without the law, reaches
 * 6.4, 3.7 and 3.4 %, and is worse off the grid.
 */
double sl_surface_ratio(const sl_gemm_surface *surface, double m, double n, double k);

#endif
