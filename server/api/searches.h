/** The searches of the process, beside their resource. */
#ifndef SL_API_SEARCHES_H
#define SL_API_SEARCHES_H

#include "api/search_run.h"
#include "base/buffer.h"

/** How many run and wait, and what became of the others. */
void sl_searches_write_metrics(sl_searches *searches, sl_buffer *out);

#endif
