/** Versions that results carry. */
#ifndef SHARDLINE_VERSION_H
#define SHARDLINE_VERSION_H

#define SL_VERSION "0.1.0"

/** SL_VERSION and a digest of the code, as in "0.1.0+4f1e0c9a77b2": another one whenever a figure
 * could be. */
extern const char sl_engine_version[];

#endif
