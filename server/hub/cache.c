#include "hub/cache.h"

#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "hub/files.h"
#include "hub/repository.h"

/* Path of one file of one commit; suffix: ".sha256" or "". */
static bool
commit_path(const char *folder, const char *repository, const char *part, const char *commit,
            const char *file, const char *suffix, char out[SL_HUB_PATH_SIZE])
{
    char name[SL_HUB_ID_SIZE + 16];
    sl_hub_folder_name(repository, name);
    return sl_text_format(out, SL_HUB_PATH_SIZE, "%s/%s/%s/%s/%s%s", folder, name, part, commit,
                          file, suffix);
}

static bool
snapshot_path(const char *folder, const char *repository, const char *commit, const char *file,
              const char *suffix, char out[SL_HUB_PATH_SIZE])
{
    return commit_path(folder, repository, "snapshots", commit, file, suffix, out);
}

static bool
ref_path(const char *folder, const char *repository, const char *revision,
         char out[SL_HUB_PATH_SIZE])
{
    char name[SL_HUB_ID_SIZE + 16], encoded[SL_HUB_REVISION_SIZE];
    sl_hub_folder_name(repository, name);
    return sl_hub_percent_encode(revision, encoded, sizeof encoded) &&
           sl_text_format(out, SL_HUB_PATH_SIZE, "%s/%s/refs/%s", folder, name, encoded);
}

bool
sl_hub_cache_find_commit(const char *folder, const char *repository, const char *commit,
                         const char *file, sl_arena *arena, sl_hub_cached *out)
{
    char path[SL_HUB_PATH_SIZE], digest[SL_HASH_TEXT_SIZE];
    size_t size = 0, recorded_size = 0;

    if (!snapshot_path(folder, repository, commit, file, "", path))
        return false;
    const char *const text = sl_hub_file_read(path, SL_HUB_FILE_MAX_BYTES, arena, &size);
    if (text == NULL || !snapshot_path(folder, repository, commit, file, ".sha256", path))
        return false;
    const char *const recorded = sl_hub_file_read(path, SL_HASH_TEXT_SIZE, arena, &recorded_size);
    if (recorded == NULL)
        return false;
    sl_hash_text(text, size, digest);
    if (strcmp(recorded, digest) != 0)
        return false;

    *out = (sl_hub_cached){.text = text, .size = size};
    (void)sl_text_copy(out->commit, sizeof out->commit, commit);
    return true;
}

/* "<commit> <etag>\n", whole: the line end proves that nothing was cut. */
static bool
parse_ref(const char *line, sl_hub_cached *out)
{
    const char *const space = strchr(line, ' ');
    const char *const end = strchr(line, '\n');
    if (space == NULL || space - line != SL_HUB_COMMIT_SIZE - 1 || end == NULL || end < space ||
        end - space > SL_HUB_ETAG_SIZE)
        return false;

    memcpy(out->commit, line, SL_HUB_COMMIT_SIZE - 1);
    out->commit[SL_HUB_COMMIT_SIZE - 1] = '\0';
    memcpy(out->etag, space + 1, (size_t)(end - space - 1));
    out->etag[end - space - 1] = '\0';
    return sl_hub_is_commit(out->commit) && sl_hub_is_visible(out->etag);
}

/* Commit and entity tag of the revision. */
static bool
read_ref(const char *folder, const char *repository, const char *revision, sl_arena *arena,
         sl_hub_cached *out)
{
    char path[SL_HUB_PATH_SIZE];
    size_t size = 0;
    if (!ref_path(folder, repository, revision, path))
        return false;
    const char *const line =
        sl_hub_file_read(path, SL_HUB_COMMIT_SIZE + SL_HUB_ETAG_SIZE + 2, arena, &size);
    return line != NULL && strlen(line) == size && parse_ref(line, out);
}

bool
sl_hub_cache_commit(const char *folder, const char *repository, const char *revision,
                    sl_arena *arena, char commit[SL_HUB_COMMIT_SIZE])
{
    sl_hub_cached ref = {0};
    const bool held = read_ref(folder, repository, revision, arena, &ref);
    if (held)
        memcpy(commit, ref.commit, SL_HUB_COMMIT_SIZE);
    return held;
}

bool
sl_hub_cache_find_revision(const char *folder, const char *repository, const char *revision,
                           const char *file, sl_arena *arena, sl_hub_cached *out)
{
    sl_hub_cached ref = {0};
    if (!read_ref(folder, repository, revision, arena, &ref) ||
        !sl_hub_cache_find_commit(folder, repository, ref.commit, file, arena, out))
        return false;
    (void)sl_text_copy(out->etag, sizeof out->etag, ref.etag);
    return true;
}

static void
log_unwritten(const char *repository)
{
    const sl_log_field fields[] = {
        sl_log_text("repository", repository),
        sl_log_text("reason", "SHARDLINE_CACHE_DIR cannot be written"),
    };
    sl_log(SL_LOG_WARN, "a file of the Hub was not cached", fields, 2);
}

void
sl_hub_cache_store(const char *folder, const char *repository, const char *revision,
                   const char *file, const sl_hub_cached *content)
{
    char path[SL_HUB_PATH_SIZE], digest[SL_HASH_TEXT_SIZE];
    char line[SL_HUB_COMMIT_SIZE + SL_HUB_ETAG_SIZE + 2];

    sl_hash_text(content->text, content->size, digest);
    /* The digest follows the file and the reference follows both: a crash in between leaves an
     * entry that is not used yet. */
    bool ok = snapshot_path(folder, repository, content->commit, file, "", path) &&
              sl_hub_file_replace(path, content->text, content->size);
    ok = ok && snapshot_path(folder, repository, content->commit, file, ".sha256", path) &&
         sl_hub_file_replace(path, digest, strlen(digest));
    if (revision != NULL)
        ok = ok && ref_path(folder, repository, revision, path) &&
             sl_text_format(line, sizeof line, "%s %s\n", content->commit, content->etag) &&
             sl_hub_file_replace(path, line, strlen(line));
    if (!ok)
        log_unwritten(repository);
}

bool
sl_hub_cache_lacks(const char *folder, const char *repository, const char *commit, const char *file)
{
    char path[SL_HUB_PATH_SIZE];
    struct stat status;
    return commit_path(folder, repository, ".no_exist", commit, file, "", path) &&
           stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

void
sl_hub_cache_store_lack(const char *folder, const char *repository, const char *commit,
                        const char *file)
{
    char path[SL_HUB_PATH_SIZE];
    if (!commit_path(folder, repository, ".no_exist", commit, file, "", path) ||
        !sl_hub_file_replace(path, "", 0))
        log_unwritten(repository);
}
