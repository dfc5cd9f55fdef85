/** Currencies of the prices in one answer: amounts of two do not add up, nor is one more than the
 * other. Nothing here knows a rate of exchange. */
#ifndef SL_CODEC_CURRENCY_H
#define SL_CODEC_CURRENCY_H

#include "codec/question/notes.h"
#include "shardline/hardware.h"

/** The currency of the cluster's price; NULL where there is no price, or it is not said. */
const char *sl_currency_said(const sl_cluster *cluster);

/** What is found in prices so far; zero at first. Borrows from the clusters. */
typedef struct sl_currencies {
    const char *first; /* ISO 4217; NULL: none is said */
    const char *other; /* one that differs from it; NULL: none does */
    bool unsaid;       /* a price stands without one, as a request gives it */
} sl_currencies;

void sl_currencies_add(sl_currencies *found, const sl_cluster *cluster);

/**
 * Says what has to be said of them: a warning currencies_differ, which ends with `what` of the
 * prices then; or an assumption price_currency_assumed where prices without a currency stand beside
 * others.
 */
void sl_currencies_note(const sl_currencies *found, const char *what, sl_notes *notes);

#endif
