/** Rates of InfiniBand as its tools print them. */
#ifndef SL_INTAKE_DEVICES_INFINIBAND_H
#define SL_INTAKE_DEVICES_INFINIBAND_H

#include <stdbool.h>

/**
 * Bytes per second of a port, one direction, by what it is sold as: "4xNDR" is 400 Gb/s. False
 * where the text is no width and speed.
 *
 *   lanes * Gb/s of a lane / 8       SDR 2.5, DDR 5, QDR 10, FDR10 10, FDR 14, EDR 25, HDR 50,
 *                                    NDR 100, XDR 200
 *
 * Source: InfiniBand Trade Association, roadmap of link rates.
 */
bool sl_infiniband_rate(const char *text, double *bytes_per_s);

#endif
