/** The dimensions of a search in the words of a request: one table reads them and writes them. */
#ifndef SL_CODEC_SEARCH_SPACE_H
#define SL_CODEC_SEARCH_SPACE_H

#include "codec/search/search.h"

/** "space": the values of each dimension that it names. */
sl_code sl_space_read(const sl_node *space, sl_space *out, sl_notes *notes, sl_errors *warnings,
                      sl_errors *err) SL_MUST_CHECK;

/** What the request's own plan and workload leave no choice of, where the space does not name it.
 * not_modelled for fields that a search cannot have. Needs nothing but the document. */
sl_code sl_space_check(const sl_estimate_request *request, sl_errors *err) SL_MUST_CHECK;

/** The same dimensions get the values of the questions, which differ in groups of hybrid sharding
 * alone. */
void sl_space_fix(const sl_search_asked *asked, sl_space *space);

/** The value of one dimension, as a request says it. */
void sl_dimension_write(sl_writer *writer, sl_dimension dimension, uint64_t value);

/** The same in a sentence: "on", "interleaved_1f1b", "8". */
void sl_dimension_say(sl_dimension dimension, uint64_t value, char *out, size_t size);

/** Whether the request has a "space" with that member. */
bool sl_space_says(const sl_search_asked *asked, const char *name);

/** Where the request holds the dimension fast: what keeps the value of the point from it. */
void sl_dimension_pointer(const sl_search_asked *asked, sl_dimension dimension,
                          const sl_search_point *point, char *out, size_t size);

/** What was searched: {"tensor": [1, 2], ..., "sizes": [[8, 16], ...]}. */
void sl_space_write(sl_writer *writer, const sl_search_asked *asked, const sl_search *search);

#endif
