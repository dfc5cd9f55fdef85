/** What the inventories resource shares with requests that name one. */
#ifndef SL_API_INVENTORIES_H
#define SL_API_INVENTORIES_H

#include <stdbool.h>

/** 1 to 63 of a-z, 0-9 and inner dashes: the identity of an inventory in a URL. */
bool sl_api_slug_ok(const char *slug);

#endif
