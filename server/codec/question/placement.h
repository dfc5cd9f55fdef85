/** Blocks that run elsewhere than on the devices, as a request says it and an answer repeats it. */
#ifndef SL_CODEC_PLACEMENT_H
#define SL_CODEC_PLACEMENT_H

#include "shardline/plan.h"
#include "json/reader.h"
#include "json/writer.h"

/** [{"layers": "0-3", "device": "cpu"}] of `parallelism`; absent: none. */
sl_code sl_placement_read(const sl_node *parallelism, sl_plan *plan, sl_errors *warnings,
                          sl_errors *err) SL_MUST_CHECK;

/** The same list, with null for rates that were not given. */
void sl_placement_write(sl_writer *writer, const sl_plan *plan);

#endif
