/** Lists of what a client accepts (RFC 9110, 12.5). */
#ifndef SL_HTTP_ACCEPT_H
#define SL_HTTP_ACCEPT_H

#include <stdbool.h>
#include <stddef.h>

/** False for "q=0", "q=0.0" and so on among the parameters of one entry, ";" and all. */
bool sl_accept_weighs(const char *parameters, size_t length);

#endif
