#include "hub/reach.h"

#include <assert.h>

#include "base/text.h"
#include "hub/address.h"

static bool
is_own(const sl_hub_reach *reach, const char *address)
{
    for (uint32_t i = 0; i < SL_HUB_OWN_ADDRESSES_MAX; i++) {
        if (sl_text_equal(reach->own[i], address))
            return true;
    }
    return false;
}

void
sl_hub_reach_learn(sl_hub_reach *reach, const char *address)
{
    assert(reach != NULL && address != NULL);
    if (is_own(reach, address))
        return;
    char *const place = reach->own[reach->next];
    if (!sl_text_copy(place, SL_HUB_ADDRESS_SIZE, address))
        place[0] = '\0';
    reach->next = (reach->next + 1) % SL_HUB_OWN_ADDRESSES_MAX;
}

bool
sl_hub_reach_allows(const sl_hub_reach *reach, bool loopback_endpoint, const char *address)
{
    assert(reach != NULL && address != NULL);
    const sl_hub_address kind = sl_hub_address_kind(address);
    if (kind == SL_HUB_ADDRESS_NONE)
        return false;
    return kind == SL_HUB_ADDRESS_PUBLIC || is_own(reach, address) ||
           (kind == SL_HUB_ADDRESS_LOOPBACK && loopback_endpoint);
}
