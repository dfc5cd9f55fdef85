/** What would give a search that found nothing an answer, in words and as changes of its
 * request. */
#ifndef SL_CODEC_SEARCH_RELAX_JSON_H
#define SL_CODEC_SEARCH_RELAX_JSON_H

#include "codec/search/search.h"

/** " With tensor 8 there is one.", of all changes that belong together, or what stands in the way
 * when all that the request lists is lifted, unless `before` has it; "" where neither is known. */
void sl_relaxed_say(const sl_search_document *document, const char *before, char *out, size_t size);

/** Members relaxations, relaxed_together and relaxations_complete. */
void sl_relaxations_write(sl_writer *writer, const sl_search_document *document);

#endif
