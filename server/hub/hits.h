/** What a search found: the Hub's list of models, and the names in a cache. */
#ifndef SL_HUB_HITS_H
#define SL_HUB_HITS_H

#include "hub/hub.h"

enum { SL_HUB_LIST_MAX_BYTES = 2 << 20 };

/** "{endpoint}/api/models?search=..." with the fields that are read; "" asks for no name in
 * particular. False when it does not fit. */
bool sl_hub_search_url(const char *endpoint, const char *query, uint32_t limit, char *out,
                       size_t size);

/** Reads the Hub's list, at most `limit` of it; entries without a proper id are passed over. False
 * when it is malformed, or without memory. */
bool sl_hub_hits_read(const char *json, size_t size, uint32_t limit, sl_arena *arena,
                      sl_hub_found *out);

/** Adds the repositories of a cache whose id holds the query, whatever its case, in the order of
 * their ids and each once; out->hits has room for `limit`. A folder that is not there has none. */
void sl_hub_hits_add_cached(const char *folder, const char *query, uint32_t limit, sl_arena *arena,
                            sl_hub_found *out);

#endif
