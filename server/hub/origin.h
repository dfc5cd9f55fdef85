/** Scheme, host and port of a URL: what decides about the token and about allowed addresses. */
#ifndef SL_HUB_ORIGIN_H
#define SL_HUB_ORIGIN_H

#include <stdbool.h>

typedef struct sl_hub_origin {
    bool https;    /* http otherwise */
    bool loopback; /* the host is "localhost" or a loopback address */
    bool reserved; /* the host is an address, and neither public nor loopback */
    char host[256];
    char port[8];
} sl_hub_origin;

/** False when it is not an absolute http or https URL, or carries a user name. */
bool sl_hub_origin_parse(const char *url, sl_hub_origin *out);

/** Same scheme, host and port. */
bool sl_hub_origin_equal(const sl_hub_origin *a, const sl_hub_origin *b);

/**
 * False for a target that no answer of `endpoint` may lead to: another scheme than https, or an
 * address inside our own network. An endpoint on loopback is a local stand-in and may also lead to
 * loopback, without TLS.
 */
bool sl_hub_origin_allowed(const sl_hub_origin *target, const sl_hub_origin *endpoint);

#endif
