#include "codec/question/currency.h"

#include <assert.h>

#include "base/text.h"

const char *
sl_currency_said(const sl_cluster *cluster)
{
    const bool said = cluster->price_per_node_hour > 0.0 && cluster->price_currency[0] != '\0';
    return said ? cluster->price_currency : NULL;
}

void
sl_currencies_add(sl_currencies *found, const sl_cluster *cluster)
{
    assert(found != NULL && cluster != NULL);

    if (cluster->price_per_node_hour <= 0.0)
        return;
    if (sl_currency_said(cluster) == NULL)
        found->unsaid = true;
    else if (found->first == NULL)
        found->first = cluster->price_currency;
    else if (found->other == NULL && !sl_text_equal(found->first, cluster->price_currency))
        found->other = cluster->price_currency;
}

void
sl_currencies_note(const sl_currencies *found, const char *what, sl_notes *notes)
{
    assert(found != NULL && what != NULL);

    if (found->other != NULL)
        sl_notes_add(notes, "currencies_differ", true, "prices are in %s and in %s: %s",
                     found->first, found->other, what);
    else if (found->first != NULL && found->unsaid)
        sl_notes_add(notes, "price_currency_assumed", false,
                     "prices without a currency are taken to be in %s, as those beside them",
                     found->first);
}
