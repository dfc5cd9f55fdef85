#include "hub/origin.h"

#include <curl/curl.h>
#include <string.h>

#include "base/text.h"
#include "hub/address.h"

/* Copies one part of a parsed URL; false when it is absent or does not fit. */
static bool
copy_part(CURLU *url, CURLUPart part, unsigned flags, char *out, size_t size)
{
    char *text = NULL;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK)
        return false;
    const bool fits = sl_text_copy(out, size, text);
    curl_free(text);
    return fits;
}

static bool
fill(CURLU *url, sl_hub_origin *out)
{
    char scheme[8], host[258];
    if (!copy_part(url, CURLUPART_SCHEME, 0, scheme, sizeof scheme) ||
        !copy_part(url, CURLUPART_HOST, 0, host, sizeof host) ||
        !copy_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT, out->port, sizeof out->port))
        return false;
    if (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0)
        return false;

    const size_t length = strlen(host);
    const bool bracketed = length >= 2 && host[0] == '[' && host[length - 1] == ']';
    if (bracketed)
        host[length - 1] = '\0';
    if (!sl_text_copy(out->host, sizeof out->host, bracketed ? host + 1 : host))
        return false;

    const sl_hub_address kind = sl_hub_address_kind(out->host);
    out->https = strcmp(scheme, "https") == 0;
    out->reserved = kind == SL_HUB_ADDRESS_RESERVED;
    out->loopback =
        kind == SL_HUB_ADDRESS_LOOPBACK || sl_text_equal_ignoring_case(out->host, "localhost");
    return true;
}

bool
sl_hub_origin_parse(const char *url, sl_hub_origin *out)
{
    CURLU *const parsed = curl_url();
    if (parsed == NULL)
        return false;

    *out = (sl_hub_origin){0};
    const bool ok = curl_url_set(parsed, CURLUPART_URL, url, CURLU_DISALLOW_USER) == CURLUE_OK &&
                    fill(parsed, out);
    curl_url_cleanup(parsed);
    return ok;
}

bool
sl_hub_origin_equal(const sl_hub_origin *a, const sl_hub_origin *b)
{
    return a->https == b->https && sl_text_equal_ignoring_case(a->host, b->host) &&
           strcmp(a->port, b->port) == 0;
}

bool
sl_hub_origin_allowed(const sl_hub_origin *target, const sl_hub_origin *endpoint)
{
    if (sl_hub_origin_equal(target, endpoint))
        return true;
    if (target->loopback)
        return endpoint->loopback;
    return target->https && !target->reserved;
}
