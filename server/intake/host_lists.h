/** Lists of hosts that tools print and that cannot be kept. */
#ifndef SL_INTAKE_HOST_LISTS_H
#define SL_INTAKE_HOST_LISTS_H

#include "intake/findings.h"

/**
 * Whether what a document has in place of a list is one, of *count hosts. It is left out with a
 * warning where it is none: too_many_hosts, or odd_name with the sentence `odd`. list: NULL where
 * it is no text at all.
 */
bool sl_host_list_read(sl_findings *findings, uint32_t line, const char *path, const char *list,
                       const char *odd, uint64_t *count) SL_MUST_CHECK;

/** Warns of a list that sl_hosts_count refuses, too_many_hosts or malformed_hosts: it is left
 * out. */
void sl_host_list_left_out(sl_findings *findings, uint32_t line, const char *path,
                           const char *list);

#endif
