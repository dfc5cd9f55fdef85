/** How long a server asks to wait, from the headers of its reply. */
#ifndef SL_HUB_RATE_H
#define SL_HUB_RATE_H

/**
 * Seconds; negative when no wait is asked for. Either header may be NULL.
 *
 * ratelimit (draft-ietf-httpapi-ratelimit-headers, `"api";r=0;t=55`) comes with every reply, so it
 * asks for a wait only where nothing is left (r=0). Otherwise retry_after counts; dates in it are
 * ignored, as huggingface_hub does.
 */
double sl_hub_wait_asked_for(const char *ratelimit, const char *retry_after);

#endif
