/** Small files on disk, read whole and replaced whole. */
#ifndef SL_HUB_FILES_H
#define SL_HUB_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/files.h"

enum { SL_HUB_PATH_SIZE = SL_PATH_SIZE };

/** The file in the arena, NUL-terminated; NULL when it is absent, no regular file, larger than
 * max_bytes or unreadable. */
char *sl_hub_file_read(const char *path, size_t max_bytes, sl_arena *arena, size_t *size);

/** The same of an open descriptor, which is closed; NULL for one below zero. */
char *sl_hub_file_take(int fd, size_t max_bytes, sl_arena *arena, size_t *size);

/** Writes beside the place, flushes and renames: a reader sees the old file or the new one, never a
 * part of either. Makes the folders above. */
bool sl_hub_file_replace(const char *path, const char *bytes, size_t size);

#endif
