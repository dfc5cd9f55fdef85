#include "hub/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "hub/repository.h"

enum { PATH_SIZE = 1200 };

static bool
snapshot_path(const char *folder, const char *repository, const char *commit, const char *file,
              char out[PATH_SIZE])
{
    char name[SL_HUB_ID_SIZE + 16];
    sl_hub_folder_name(repository, name);
    return sl_text_format(out, PATH_SIZE, "%s/%s/snapshots/%s/%s", folder, name, commit, file);
}

static bool
ref_path(const char *folder, const char *repository, const char *revision, char out[PATH_SIZE])
{
    char name[SL_HUB_ID_SIZE + 16], encoded[SL_HUB_REVISION_SIZE];
    sl_hub_folder_name(repository, name);
    return sl_hub_percent_encode(revision, encoded, sizeof encoded) &&
           sl_text_format(out, PATH_SIZE, "%s/%s/refs/%s", folder, name, encoded);
}

/* Whole file in the arena, or NULL: absent, too large for us, or unreadable. */
static char *
read_whole(const char *path, sl_arena *arena, size_t *size)
{
    struct stat status;
    char *text = NULL;
    size_t have = 0;

    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0 ||
        status.st_size > SL_HUB_FILE_MAX_BYTES)
        goto cleanup;

    const size_t expected = (size_t)status.st_size;
    text = sl_arena_alloc(arena, expected + 1, 1);
    while (text != NULL && have < expected) {
        const ssize_t got = read(fd, text + have, expected - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            text = NULL;
        else
            have += (size_t)got;
    }
    *size = have;

cleanup:
    (void)close(fd);
    return text;
}

bool
sl_hub_cache_find_commit(const char *folder, const char *repository, const char *commit,
                         sl_arena *arena, sl_hub_cached *out)
{
    char path[PATH_SIZE], digest[SL_HASH_TEXT_SIZE];
    size_t size = 0, recorded_size = 0;

    if (!snapshot_path(folder, repository, commit, "config.json", path))
        return false;
    const char *const text = read_whole(path, arena, &size);
    if (text == NULL || !snapshot_path(folder, repository, commit, "config.json.sha256", path))
        return false;
    const char *const recorded = read_whole(path, arena, &recorded_size);
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

bool
sl_hub_cache_find_revision(const char *folder, const char *repository, const char *revision,
                           sl_arena *arena, sl_hub_cached *out)
{
    char path[PATH_SIZE];
    size_t size = 0;
    sl_hub_cached ref = {0};

    if (!ref_path(folder, repository, revision, path))
        return false;
    const char *const line = read_whole(path, arena, &size);
    if (line == NULL || strlen(line) != size || !parse_ref(line, &ref))
        return false;
    if (!sl_hub_cache_find_commit(folder, repository, ref.commit, arena, out))
        return false;
    (void)sl_text_copy(out->etag, sizeof out->etag, ref.etag);
    return true;
}

/* Creates every folder above `path`; another thread may be doing the same. */
static bool
make_folders(const char *path)
{
    char folder[PATH_SIZE];
    if (!sl_text_copy(folder, sizeof folder, path))
        return false;

    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

static bool
write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(fd, bytes, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        size -= (size_t)put;
    }
    return true;
}

/* A reader sees the old file or the new one, never a part of either. */
static bool
replace_file(const char *path, const char *bytes, size_t size)
{
    char temporary[PATH_SIZE + 8];
    if (!sl_text_format(temporary, sizeof temporary, "%s.XXXXXX", path) || !make_folders(path))
        return false;
    const int fd = mkstemp(temporary);
    if (fd < 0)
        return false;

    bool ok = write_all(fd, bytes, size) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    ok = ok && rename(temporary, path) == 0;
    if (!ok)
        (void)unlink(temporary);
    return ok;
}

void
sl_hub_cache_store(const char *folder, const char *repository, const char *revision,
                   const sl_hub_cached *file)
{
    char path[PATH_SIZE], digest[SL_HASH_TEXT_SIZE];
    char line[SL_HUB_COMMIT_SIZE + SL_HUB_ETAG_SIZE + 2];

    sl_hash_text(file->text, file->size, digest);
    /* The digest follows the file and the reference follows both: a crash in between leaves an
     * entry that is not used yet. */
    bool ok = snapshot_path(folder, repository, file->commit, "config.json", path) &&
              replace_file(path, file->text, file->size);
    ok = ok && snapshot_path(folder, repository, file->commit, "config.json.sha256", path) &&
         replace_file(path, digest, strlen(digest));
    ok = ok && ref_path(folder, repository, revision, path) &&
         sl_text_format(line, sizeof line, "%s %s\n", file->commit, file->etag) &&
         replace_file(path, line, strlen(line));
    if (ok)
        return;

    const sl_log_field fields[] = {
        sl_log_text("repository", repository),
        sl_log_text("reason", "SHARDLINE_CACHE_DIR cannot be written"),
    };
    sl_log(SL_LOG_WARN, "a file of the Hub was not cached", fields, 2);
}
