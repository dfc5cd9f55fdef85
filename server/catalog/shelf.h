/**
 * The catalogue in use, which another one may replace at any time: who works with it takes it and
 * gives it back, and one that was replaced is freed when nobody works with it any more.
 */
#ifndef SL_CATALOG_SHELF_H
#define SL_CATALOG_SHELF_H

#include "catalog/catalog.h"

typedef struct sl_shelf sl_shelf;

/** first: borrowed, and outlives the shelf. NULL without memory. */
sl_shelf *sl_shelf_new(const sl_catalog *first) SL_MUST_CHECK;
/** Everything taken was given back. NULL is fine. */
void sl_shelf_free(sl_shelf *shelf);

/** The catalogue in use; from any thread. Give it back once for each time it was taken. */
const sl_catalog *sl_shelf_take(sl_shelf *shelf) SL_MUST_CHECK;
void sl_shelf_give_back(sl_shelf *shelf, const sl_catalog *catalog);

/** From now on `next` is in use; it is the shelf's. False without memory: it is the caller's
 * still. */
bool sl_shelf_replace(sl_shelf *shelf, sl_catalog *next) SL_MUST_CHECK;

#endif
