/** The answer that lays a recorded trace beside the estimate of the same run. */
#ifndef SL_TRACE_MEASURED_JSON_H
#define SL_TRACE_MEASURED_JSON_H

#include "shardline/classes.h"
#include "trace/trace.h"
#include "json/writer.h"

typedef struct sl_measured_document {
    const sl_trace_figures *measured;
    const sl_estimate *predicted;
    double classes[SL_CLASS_COUNT]; /* of the estimate (classes.h) */
    const sl_errors *warnings;      /* faults of the request that became warnings */
    const char *engine_version;
    const char *catalog_revision;
} sl_measured_document;

/**
 * Writes the document. Measured seconds are those of one step: the trace's over its steps. What
 * each side knows and the other does not stays null. Predicted seconds are of the slowest stage:
 * computing by class, communication as it is before any of it is hidden.
 */
void sl_measured_write(sl_writer *writer, const sl_measured_document *document);

#endif
