/**
 * Small files of the Hub on disk, keyed by commit:
 *
 *     <folder>/models--org--name/snapshots/<commit>/<file>
 *     <folder>/models--org--name/snapshots/<commit>/<file>.sha256
 *     <folder>/models--org--name/refs/<revision, percent-encoded>      "<commit> <etag>\n"
 *     <folder>/models--org--name/.no_exist/<commit>/<file>             empty: there is no such file
 *
 * Each file is written beside its place, flushed and renamed, so that several threads and processes
 * may share the folder. A file whose digest does not match is as good as absent: what a crash or a
 * full disk leaves behind is fetched again. `file` is a plain name, without a folder.
 */
#ifndef SL_HUB_CACHE_H
#define SL_HUB_CACHE_H

#include "hub/client.h"

typedef struct sl_hub_cached {
    const char *text; /* in the arena, NUL-terminated */
    size_t size;
    char commit[SL_HUB_COMMIT_SIZE];
    char etag[SL_HUB_ETAG_SIZE]; /* as the Hub sent it; "" when found by commit */
} sl_hub_cached;

/** False when the commit is not held, or not intact. */
bool sl_hub_cache_find_commit(const char *folder, const char *repository, const char *commit,
                              const char *file, sl_arena *arena, sl_hub_cached *out);

/** The commit the revision stood at when it was last asked for. False when it never was. */
bool sl_hub_cache_commit(const char *folder, const char *repository, const char *revision,
                         sl_arena *arena, char commit[SL_HUB_COMMIT_SIZE]);

/** The state the revision had when it was last asked for. False when not held, or not intact. */
bool sl_hub_cache_find_revision(const char *folder, const char *repository, const char *revision,
                                const char *file, sl_arena *arena, sl_hub_cached *out);

/** A failure is logged and otherwise harmless: the next request asks the Hub again. revision NULL:
 * the file is kept by its commit only. */
void sl_hub_cache_store(const char *folder, const char *repository, const char *revision,
                        const char *file, const sl_hub_cached *content);

/** True when the Hub once said that this commit has no such file. */
bool sl_hub_cache_lacks(const char *folder, const char *repository, const char *commit,
                        const char *file);
void sl_hub_cache_store_lack(const char *folder, const char *repository, const char *commit,
                             const char *file);

#endif
