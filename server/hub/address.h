/**
 * Where a name of the Hub may lead. A repository is chosen by a user and its content is served
 * after redirects, so an address inside our own network is refused before a byte is sent.
 */
#ifndef SL_HUB_ADDRESS_H
#define SL_HUB_ADDRESS_H

typedef enum sl_hub_address {
    SL_HUB_ADDRESS_NONE,     /* the text is a name, not an address */
    SL_HUB_ADDRESS_PUBLIC,   /* of the Internet at large */
    SL_HUB_ADDRESS_LOOPBACK, /* 127.0.0.0/8, ::1 */
    SL_HUB_ADDRESS_RESERVED  /* private, link-local, shared, multicast, unspecified, mapped ... */
} sl_hub_address;

/**
 * Kind of a numeric address without brackets ("10.0.0.1", "fe80::1").
 * Source: the special-purpose address registries of RFC 6890 and its updates.
 */
sl_hub_address sl_hub_address_kind(const char *text);

#endif
