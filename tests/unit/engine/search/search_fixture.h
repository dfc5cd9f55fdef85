/** Searches run to their end on one thread, and a question worth one. */
#ifndef SL_TESTS_SEARCH_FIXTURE_H
#define SL_TESTS_SEARCH_FIXTURE_H

#include "shardline/search.h"

/** Before the first search and after the last. False without memory. */
bool sl_search_fixture_open(void);
void sl_search_fixture_close(void);

/** Prepared in memory of the fixture, until the next. */
sl_code sl_search_of(const sl_search_request *request, const sl_search **out, sl_errors *err);

/** All units, those of a round in their order or against it. first: ends after the round with an
 * answer. */
void sl_search_run_units(const sl_search *search, bool backwards, bool first,
                         sl_search_outcome *out);

/** Both; *err is begun afresh. */
sl_code sl_search_all(const sl_search_request *request, bool backwards, sl_search_outcome *out,
                      sl_errors *err);

/** 1.3 B parameters over two nodes; the default space has plans of every kind. It points to the
 * other two. */
sl_question sl_small_question(sl_cluster *cluster, sl_software *software);

/** The five fastest, and the front. */
sl_search_request sl_request_of(const sl_question *question);

void sl_set_values(sl_search_request *request, sl_dimension dimension, uint32_t count,
                   const uint64_t *values);

#endif
