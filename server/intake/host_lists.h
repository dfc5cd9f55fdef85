/** Lists of hosts that tools print and that cannot be kept. */
#ifndef SL_INTAKE_HOST_LISTS_H
#define SL_INTAKE_HOST_LISTS_H

#include "intake/findings.h"

/** Warns of a list that sl_hosts_count refuses, too_many_hosts or malformed_hosts: it is left
 * out. */
void sl_host_list_left_out(sl_findings *findings, uint32_t line, const char *path,
                           const char *list);

#endif
