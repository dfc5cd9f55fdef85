/**
 * The hardware a request can name: the catalogue with the private rows of the database. Another
 * process may change those; a thread looks for that once a second, and who writes here looks at
 * once.
 */
#ifndef SL_API_STOCK_H
#define SL_API_STOCK_H

#include "codec/inventory/private_hardware.h"
#include "store/hardware.h"

typedef struct sl_stock sl_stock;

/** base: the catalogue without private rows; borrowed, and outlives the stock. NULL without
 * memory. */
sl_stock *sl_stock_new(const sl_catalog *base) SL_MUST_CHECK;
void sl_stock_free(sl_stock *stock); /* NULL is fine */

/** The catalogue in use, until it is given back. */
const sl_catalog *sl_stock_take(sl_stock *stock) SL_MUST_CHECK;
void sl_stock_give_back(sl_stock *stock, const sl_catalog *catalog);

/**
 * Brings what is in use up to what the database has; one small statement when that is so already.
 * The schema is up to date. A row that the catalogue cannot take any more is left out and logged.
 */
sl_code sl_stock_refresh(sl_stock *stock, sl_store *store, sl_errors *err) SL_MUST_CHECK;

/** The catalogue with these rows alone, in the order of sl_own_add. The caller's. */
sl_code sl_stock_build(const sl_own_row *rows, uint32_t count, uint64_t revision, sl_catalog **out,
                       sl_errors *err) SL_MUST_CHECK;

/** The store with its schema up to date, or NULL and err filled. */
typedef sl_store *(*sl_stock_opener)(void *context, sl_store *store, sl_errors *err);

/** Refreshes once a second from now on, over a connection of its own. url: as sl_store_new. False
 * when the thread cannot be had. */
bool sl_stock_watch(sl_stock *stock, const char *url, sl_stock_opener open,
                    void *context) SL_MUST_CHECK;
/**
 * SL_OK where the database answers, its schema is current and its private rows are read: what the
 * look comes to that goes on, or begins now. Rule database_timeout where it comes to nothing within
 * patience_s, counted from its begin, so that of many who ask only the first waits so long.
 */
sl_code sl_stock_ready(sl_stock *stock, double patience_s, sl_errors *err) SL_MUST_CHECK;

/** Ends that, and waits for it: `context` is no longer used. */
void sl_stock_stop(sl_stock *stock);

#endif
