/** The listening socket. */
#ifndef SL_HTTP_LISTEN_H
#define SL_HTTP_LISTEN_H

#include <stdint.h>

#include "shardline/error.h"

enum { SL_LISTEN_BACKLOG = 1024 };

/**
 * Binds and listens on the first address of host that works. *fd is the caller's; *bound is the
 * port, which the system chose when `port` is 0. Rules port_in_use, cannot_listen.
 */
sl_code sl_listen_open(const char *host, uint16_t port, int *fd, uint16_t *bound,
                       sl_errors *err) SL_MUST_CHECK;

#endif
