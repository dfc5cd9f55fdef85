/** Lists of what a client accepts (RFC 9110, 12.4 and 12.5): the only readers of them. */
#ifndef SL_HTTP_ACCEPT_H
#define SL_HTTP_ACCEPT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Which of the media types an Accept weighs most, of equals the one that it names first; -1 where
 * it names none of them, or with q=0. Ranges such as "*" name none: who sends them takes whatever
 * is usual.
 */
int sl_accept_choose(const char *accept, const char *const *types, size_t count);

/** True when an Accept-Encoding takes gzip: named, or by "*", with a weight above zero. */
bool sl_accept_gzip(const char *accept_encoding);

#endif
