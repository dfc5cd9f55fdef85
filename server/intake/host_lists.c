#include "intake/host_lists.h"

#include <assert.h>

#include "codec/inventory/hosts.h"

void
sl_host_list_left_out(sl_findings *findings, uint32_t line, const char *path, const char *list)
{
    assert(findings != NULL && list != NULL);

    if (sl_hosts_too_many(list))
        sl_findings_warn(findings, "too_many_hosts", line, path,
                         "\"%.60s\" stands for more than %d hosts: it is left out", list,
                         SL_HOSTS_MAX);
    else
        sl_findings_warn(findings, "malformed_hosts", line, path,
                         "\"%.60s\" is no list of hosts: it is left out", list);
}

bool
sl_host_list_read(sl_findings *findings, uint32_t line, const char *path, const char *list,
                  const char *odd, uint64_t *count)
{
    assert(findings != NULL && odd != NULL && count != NULL);

    if (list != NULL && sl_hosts_count(list, count))
        return true;
    if (list != NULL && sl_hosts_too_many(list))
        sl_host_list_left_out(findings, line, path, list);
    else
        sl_findings_warn(findings, "odd_name", line, path, "%s", odd);
    return false;
}
