/** The text format that metrics are scraped in: families of samples, version 0.0.4. */
#ifndef SL_HTTP_EXPOSITION_H
#define SL_HTTP_EXPOSITION_H

#include <stdint.h>

#include "http/message.h"

#define SL_EXPOSITION_TYPE "text/plain; version=0.0.4"

/** Opens a family: every sample up to the next one is its. type: "counter", "gauge", "histogram";
 * help: one line. */
void sl_exposition_family(sl_buffer *out, const char *name, const char *type, const char *help);

/** One sample. Values of labels may hold anything: they are escaped. */
void sl_exposition_count(sl_buffer *out, const char *name, const sl_pair *labels,
                         size_t label_count, uint64_t value);

/** The same for a time, written in seconds. */
void sl_exposition_time(sl_buffer *out, const char *name, const sl_pair *labels, size_t label_count,
                        uint64_t value_ns);

#endif
