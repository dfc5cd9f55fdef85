/** Sentences about a search, made of its figures. */
#ifndef SL_CODEC_SEARCH_WORDS_H
#define SL_CODEC_SEARCH_WORDS_H

#include "codec/search/search.h"

enum { SL_SEARCH_SENTENCE_BYTES = 400 };

/** "out of memory: the nearest plan lacks 1.3 GiB". */
void sl_reason_say(const sl_search_reason *reason, char out[SL_SEARCH_SENTENCE_BYTES]);

/** The place in the request that asks for it; NULL: none does. */
const char *sl_reason_pointer(const sl_search_reason *reason);

/** What the constraint would have to be for the nearest plan to be an answer; 0: it is none. */
double sl_reason_needed(const sl_search_reason *reason);

/** What asked of it; 0: no constraint. */
double sl_reason_limit(const sl_search_reason *reason, const sl_search_request *request);

/** Whether plans lack memory, of devices or of nodes, which no constraint asks for. */
bool sl_reason_is_of_memory(const sl_search_reason *reason);

/** The tightest: of what was asked for, the constraint that the nearest plan misses by the smallest
 * share; memory where no plan fits. NULL where rules alone leave no plan. */
const sl_search_reason *sl_reason_tightest(const sl_search_outcome *outcome,
                                           const sl_search_request *request);

/** Why there is no answer at all. */
void sl_nothing_say(const sl_search_outcome *outcome, const sl_search_request *request,
                    char out[SL_SEARCH_SENTENCE_BYTES]);

/** A constraint that a plan breaks: "its step takes 2.1 s more than max_step_s allows". */
void sl_broken_say(const char *rule, double miss, char *out, size_t size);

#endif
