/** What a review found of a search's plans, as members of its answer. */
#ifndef SL_CODEC_SEARCH_REVIEW_JSON_H
#define SL_CODEC_SEARCH_REVIEW_JSON_H

#include "codec/search/search.h"

/** "why_not", "neighbours", "robustness" and "reranking". */
void sl_search_review_write(sl_writer *writer, const sl_search_document *document);

#endif
