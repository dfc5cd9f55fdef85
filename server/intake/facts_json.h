/** Findings of one text as a source's observation is kept: the document of
 * codec/inventory/observed.h. */
#ifndef SL_INTAKE_FACTS_JSON_H
#define SL_INTAKE_FACTS_JSON_H

#include "intake/findings.h"
#include "json/writer.h"

/**
 * Writes the document. previous: what the source said before (its facts, or NULL): a host that is
 * still in the same state for the same reason has been so since then. now: RFC 3339, when the text
 * was observed. *hosts: nodes it speaks of. SL_E_MEMORY.
 */
sl_code sl_facts_write(sl_writer *writer, sl_findings *findings, const char *previous,
                       const char *now, uint64_t *hosts, sl_errors *err) SL_MUST_CHECK;

#endif
