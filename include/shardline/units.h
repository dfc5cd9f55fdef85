/** Unit conversions. The engine knows bytes, seconds and FLOPs only; everything else is an edge. */
#ifndef SHARDLINE_UNITS_H
#define SHARDLINE_UNITS_H

#define SL_KIB_BYTES 1024.0
#define SL_MIB_BYTES 1048576.0
#define SL_GIB_BYTES 1073741824.0 /* device memory */
#define SL_GB_BYTES 1e9           /* links and disks */
#define SL_US_S 1e-6

#endif
