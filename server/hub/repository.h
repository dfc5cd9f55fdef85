/** Names as the Hub accepts them, and the forms they take in URLs and in the cache. */
#ifndef SL_HUB_REPOSITORY_H
#define SL_HUB_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>

enum { SL_HUB_ID_SIZE = 194, SL_HUB_REVISION_SIZE = 201 };

/** Forty hexadecimal digits: names one state of a repository for ever. */
bool sl_hub_is_commit(const char *text);

/** Not empty, and nothing but visible ASCII: safe inside a header field and a line of a file. */
bool sl_hub_is_visible(const char *text);

/** RFC 3986 with no safe characters beyond the unreserved ones; "refs/pr/1" gives "refs%2Fpr%2F1".
 * False when it does not fit. */
bool sl_hub_percent_encode(const char *text, char *out, size_t size);

/** "{endpoint}/{repository}/resolve/{revision}/config.json" of checked names. False when it does
 * not fit. */
bool sl_hub_config_url(const char *endpoint, const char *repository, const char *revision,
                       char *out, size_t size);

/** "models--org--name": the folder of a checked repository in the cache. */
void sl_hub_folder_name(const char *repository, char out[SL_HUB_ID_SIZE + 16]);

#endif
