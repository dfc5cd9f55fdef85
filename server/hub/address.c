#include "hub/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct network {
    unsigned char prefix[16];
    unsigned bits;
} network;

static const network reserved_v4[] = {
    {{0}, 8},             /* this network, unspecified */
    {{10}, 8},            /* private */
    {{100, 64}, 10},      /* shared by carriers */
    {{169, 254}, 16},     /* link-local, cloud metadata */
    {{172, 16}, 12},      /* private */
    {{192, 0, 0}, 24},    /* protocol assignments */
    {{192, 0, 2}, 24},    /* documentation */
    {{192, 88, 99}, 24},  /* 6to4 relays, deprecated */
    {{192, 168}, 16},     /* private */
    {{198, 18}, 15},      /* benchmarking */
    {{198, 51, 100}, 24}, /* documentation */
    {{203, 0, 113}, 24},  /* documentation */
    {{224}, 4},           /* multicast */
    {{240}, 4},           /* future use, broadcast */
};

/* Only 2000::/3 is handed out; these parts of it carry other addresses or lead nowhere. */
static const network global_v6 = {{0x20}, 3};
static const network reserved_v6[] = {
    {{0x20, 0x01}, 23},             /* protocol assignments: Teredo, benchmarking, ORCHID */
    {{0x20, 0x01, 0x0d, 0xb8}, 32}, /* documentation */
    {{0x20, 0x02}, 16},             /* 6to4: an IPv4 address inside */
    {{0x3f, 0xff}, 20},             /* documentation */
};

/* DNS64 networks reach IPv4 hosts under this prefix: the address inside decides. */
static const network nat64 = {{0x00, 0x64, 0xff, 0x9b}, 96};

static bool
contains(const network *net, const unsigned char *address)
{
    const size_t whole = net->bits / 8;
    if (memcmp(net->prefix, address, whole) != 0)
        return false;
    const unsigned rest = net->bits % 8;
    const unsigned mask = (0xffU << (8 - rest)) & 0xffU;
    return rest == 0 || (net->prefix[whole] & mask) == (address[whole] & mask);
}

static bool
contained(const network *nets, size_t count, const unsigned char *address)
{
    for (size_t i = 0; i < count; i++) {
        if (contains(&nets[i], address))
            return true;
    }
    return false;
}

static sl_hub_address
kind_of_v4(const unsigned char address[4])
{
    if (address[0] == 127)
        return SL_HUB_ADDRESS_LOOPBACK;
    return contained(reserved_v4, sizeof reserved_v4 / sizeof reserved_v4[0], address)
               ? SL_HUB_ADDRESS_RESERVED
               : SL_HUB_ADDRESS_PUBLIC;
}

sl_hub_address
sl_hub_address_kind(const char *text)
{
    unsigned char address[16];
    static const unsigned char loopback_v6[16] = {[15] = 1};

    if (inet_pton(AF_INET, text, address) == 1)
        return kind_of_v4(address);
    if (inet_pton(AF_INET6, text, address) != 1) {
        /* A zone ("fe80::1%eth0") is no name either. */
        return strchr(text, ':') != NULL ? SL_HUB_ADDRESS_RESERVED : SL_HUB_ADDRESS_NONE;
    }
    if (memcmp(address, loopback_v6, sizeof address) == 0)
        return SL_HUB_ADDRESS_LOOPBACK;
    if (contains(&nat64, address))
        return kind_of_v4(address + 12) == SL_HUB_ADDRESS_PUBLIC ? SL_HUB_ADDRESS_PUBLIC
                                                                 : SL_HUB_ADDRESS_RESERVED;
    if (!contains(&global_v6, address) ||
        contained(reserved_v6, sizeof reserved_v6 / sizeof reserved_v6[0], address))
        return SL_HUB_ADDRESS_RESERVED;
    return SL_HUB_ADDRESS_PUBLIC;
}
