/** Versions that results carry. The engine's changes whenever a figure could. */
#ifndef SHARDLINE_VERSION_H
#define SHARDLINE_VERSION_H

#define SL_VERSION "0.1.0"
#define SL_ENGINE_VERSION "0.1.0"

#endif
