#include "http/accept.h"

#include <string.h>

bool
sl_accept_weighs(const char *parameters, size_t length)
{
    const char *const end = parameters + length;
    const char *at = parameters + strspn(parameters, "; \t");
    if (at + 2 > end || (at[0] != 'q' && at[0] != 'Q') || at[1] != '=')
        return true;
    for (at += 2; at < end; at++)
        if (*at >= '1' && *at <= '9')
            return true;
    return false;
}
