/** Matching of a path to the route table: pure, no allocation but the values of parameters. */
#ifndef SL_HTTP_ROUTER_H
#define SL_HTTP_ROUTER_H

#include "http/path.h"
#include "http/server.h"

enum { SL_ALLOW_TEXT_SIZE = 64 };

/** The routes of the most specific pattern that matches, by method; all NULL: no such path. */
typedef struct sl_match {
    const sl_route *routes[SL_METHOD_COUNT];
    bool any;
} sl_match;

/** *head is set for HEAD, which is a GET. SL_METHOD_COUNT for a method we do not know. */
sl_method sl_method_parse(const char *text, bool *head);

/** Asserts that every pattern is well formed and inside its bounds. */
void sl_router_check(const sl_route *routes, size_t count);

/**
 * Literal segments win over "{name}:verb" and those over "{name}", from the left, so that
 * "/models:inspect" and "/things/{slug}:restore" are never taken for a plain name.
 */
sl_match sl_router_match(const sl_route *routes, size_t count, const sl_path *path);

/** Value of the Allow header: "GET, HEAD, OPTIONS". */
void sl_router_allow(const sl_match *match, char out[SL_ALLOW_TEXT_SIZE]);

/** Fills request->parameters from a path that matched the route. False without memory. */
bool sl_router_parameters(const sl_route *route, const sl_path *path, sl_arena *arena,
                          sl_request *request) SL_MUST_CHECK;

#endif
