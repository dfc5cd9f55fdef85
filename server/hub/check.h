/** What the Hub counts in a commit's checkpoint: asked for once, then kept on disk by commit. */
#ifndef SL_HUB_CHECK_H
#define SL_HUB_CHECK_H

#include "hub/client.h"

/** From the cache. True when there is nothing to ask for: it was found whole, or the rest could not
 * be had not long ago, or nobody is to be asked. out->known: at least what the Hub said was found,
 * though nobody may have counted the files. */
bool sl_hub_check_recall(const sl_hub *hub, const char *repository, const char *commit,
                         sl_arena *arena, sl_hub_info *out);

/** Asks the Hub for what *out, which was recalled, does not have, within limits.check_s altogether:
 * its information document and, where that has no count, the headers of the safetensors files. A
 * failure leaves *out as it is. */
void sl_hub_check_fetch(sl_hub_worker *worker, const char *repository, const char *commit,
                        const atomic_bool *cancelled, sl_arena *arena, sl_hub_info *out);

#endif
