/** The query parameters of a route: what is not read is refused, lest a misspelt one is missed. */
#ifndef SL_HTTP_QUERY_H
#define SL_HTTP_QUERY_H

#include "http/message.h"

enum { SL_QUERY_NAMES_SIZE = 256 };

/** Asserts that a route's list (server.h) is well formed and inside its bounds. */
void sl_query_check_names(const char *names);

/** Whether a route with that list reads `name`. */
bool sl_query_reads(const char *names, const char *name);

/**
 * Every parameter must be in the comma-separated list (NULL: none is) and stand there once.
 * SL_E_RANGE with rule unknown_parameter, hinting at the nearest name or else at all of them, or
 * repeated_parameter; all faults are collected.
 */
sl_code sl_query_check(const char *names, const sl_pair *query, uint32_t count,
                       sl_errors *err) SL_MUST_CHECK;

#endif
