/**
 * The cache of Hugging Face's own tools, which is read and never written:
 *
 *     <folder>/models--org--name/refs/<revision>                "<commit>"
 *     <folder>/models--org--name/snapshots/<commit>/<file>      link to ../../blobs/<etag>, or a
 *                                                               file
 *     <folder>/models--org--name/.no_exist/<commit>/<file>      the Hub said there is no such file
 *
 * Others write there, so nothing in it is trusted: no folder may be a link, and a file may be one
 * only into the blobs of its own repository. Layout: huggingface_hub 1.29, file_download.
 */
#ifndef SL_HUB_OFFICIAL_H
#define SL_HUB_OFFICIAL_H

#include "hub/cache.h"

/** False when the commit is not held. The etag is the blob's name in quotes, "" when unknown. */
bool sl_hub_official_find_commit(const char *folder, const char *repository, const char *commit,
                                 const char *file, sl_arena *arena, sl_hub_cached *out);

/** The state the revision had when those tools last asked. False when not held. */
bool sl_hub_official_find_revision(const char *folder, const char *repository, const char *revision,
                                   const char *file, sl_arena *arena, sl_hub_cached *out);

/** The commit the revision stood at. False when it was never asked for. */
bool sl_hub_official_commit(const char *folder, const char *repository, const char *revision,
                            char commit[SL_HUB_COMMIT_SIZE]);

/** True when those tools were told that this commit has no such file. */
bool sl_hub_official_lacks(const char *folder, const char *repository, const char *commit,
                           const char *file);

#endif
