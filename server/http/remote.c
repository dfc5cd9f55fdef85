#include "http/remote.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"

enum { ADDRESS_SIZE = INET6_ADDRSTRLEN };

static bool
is_address(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

const char *
sl_remote_believed(const sl_settings *settings, const char *peer, const sl_head *head)
{
    const char *const list = head->value[SL_FIELD_FORWARDED_FOR];
    if (peer == NULL || list == NULL || head->times[SL_FIELD_FORWARDED_FOR] != 1)
        return peer;
    for (uint32_t i = 0; i < settings->trusted_proxy_count; i++) {
        if (!sl_text_equal(peer, settings->trusted_proxies[i]))
            continue;
        const char *const comma = strrchr(list, ',');
        const char *const last = comma == NULL ? list : comma + 1;
        const char *const address = last + strspn(last, " \t");
        return is_address(address) ? address : peer;
    }
    return peer;
}

const char *
sl_remote_address(struct MHD_Connection *connection, const sl_settings *settings,
                  const sl_head *head, sl_arena *arena)
{
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info == NULL || info->client_addr == NULL)
        return NULL;
    const socklen_t size = info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                                    : sizeof(struct sockaddr_in);
    char peer[ADDRESS_SIZE];
    if (getnameinfo(info->client_addr, size, peer, sizeof peer, NULL, 0, NI_NUMERICHOST) != 0)
        return NULL;
    peer[strcspn(peer, "%")] = '\0'; /* the zone of a link-local address is this machine's own */
    return sl_arena_copy(arena, sl_remote_believed(settings, peer, head));
}
