/** Names as the Hub accepts them, and the forms they take in URLs and in the cache. */
#ifndef SL_HUB_REPOSITORY_H
#define SL_HUB_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>

#include "hub/hub.h"

enum { SL_HUB_ID_SIZE = 194, SL_HUB_REVISION_SIZE = 201, SL_HUB_FILE_NAME_SIZE = 256 };

/** Forty hexadecimal digits: names one state of a repository for ever. */
bool sl_hub_is_commit(const char *text);

/** Not empty, and nothing but visible ASCII: safe inside a header field and a line of a file. */
bool sl_hub_is_visible(const char *text);

/** RFC 3986 with no safe characters beyond the unreserved ones; "refs/pr/1" gives "refs%2Fpr%2F1".
 * False when it does not fit. */
bool sl_hub_percent_encode(const char *text, char *out, size_t size);

/** "{endpoint}/{repository}/resolve/{revision}/{file}" of checked names. False when it does not
 * fit. */
bool sl_hub_file_url(const char *endpoint, const sl_hub_subject *subject, char *out, size_t size);

/** "models--org--name": the folder of a checked repository in the cache. */
void sl_hub_folder_name(const char *repository, char out[SL_HUB_ID_SIZE + 16]);

/** The repository whose folder is called that. False when no repository's is. */
bool sl_hub_id_of_folder(const char *name, char out[SL_HUB_ID_SIZE]);

#endif
