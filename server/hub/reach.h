/** Which addresses a hop may be connected to. */
#ifndef SL_HUB_REACH_H
#define SL_HUB_REACH_H

#include <stdbool.h>
#include <stdint.h>

enum { SL_HUB_OWN_ADDRESSES_MAX = 8, SL_HUB_ADDRESS_SIZE = 128 /* an address and its zone */ };

/** The addresses that the endpoint's own name led to, the latest of them. Zero-initialise. */
typedef struct sl_hub_reach {
    char own[SL_HUB_OWN_ADDRESSES_MAX][SL_HUB_ADDRESS_SIZE];
    uint32_t next;
} sl_hub_reach;

/** Where the endpoint's own name leads is the operator's choice. */
void sl_hub_reach_learn(sl_hub_reach *reach, const char *address);

/**
 * True for an address that another host's name may lead to: one on the Internet at large, one of
 * the endpoint's own, and loopback where the endpoint is there too.
 */
bool sl_hub_reach_allows(const sl_hub_reach *reach, bool loopback_endpoint, const char *address);

#endif
