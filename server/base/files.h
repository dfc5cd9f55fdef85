/** Writing to disk: what every writer of files needs. */
#ifndef SL_BASE_FILES_H
#define SL_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "shardline/error.h"

enum { SL_PATH_SIZE = 1400 };

/** Creates every folder above `path`, for this user alone; another thread may be doing the same. */
bool sl_folders_make(const char *path) SL_MUST_CHECK;

/** Writes all of it, however many calls it takes. */
bool sl_write_all(int fd, const char *bytes, size_t size) SL_MUST_CHECK;

#endif
