#include "hub/official.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "hub/files.h"
#include "hub/repository.h"

enum { LINK_SIZE = 256 };

/* The folder, no link itself, inside an open one; closes `at`. Below zero when there is none. */
static int
enter(int at, const char *name)
{
    if (at < 0)
        return -1;
    const int inside = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    (void)close(at);
    return inside;
}

/* The folder of a repository. That of the cache is the operator's word and may be a link. */
static int
open_repository(const char *folder, const char *repository)
{
    char name[SL_HUB_ID_SIZE + 16];
    if (folder[0] == '\0')
        return -1;
    sl_hub_folder_name(repository, name);
    return enter(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), name);
}

/* Opens a file by its name alone; below zero when it is a link or not there. */
static int
open_plain(int at, const char *name)
{
    return at < 0 ? -1 : openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* A name that stays where it is: an entity tag of the Hub is hexadecimal. */
static bool
is_blob_name(const char *name)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    return name[0] != '\0' && name[strspn(name, allowed)] == '\0';
}

/* Opens what the link leads to: a blob of the same repository. etag gets its name. */
static int
open_blob(const char *folder, const char *repository, int snapshot, const char *file,
          char etag[SL_HUB_ETAG_SIZE])
{
    static const char blobs[] = "../../blobs/";
    char target[LINK_SIZE];
    const ssize_t length = readlinkat(snapshot, file, target, sizeof target - 1);
    if (length < 0 || (size_t)length >= sizeof target - 1)
        return -1;
    target[length] = '\0';
    const char *const name = target + sizeof blobs - 1;
    if (strncmp(target, blobs, sizeof blobs - 1) != 0 || !is_blob_name(name) ||
        !sl_text_format(etag, SL_HUB_ETAG_SIZE, "\"%s\"", name))
        return -1;

    const int at = enter(open_repository(folder, repository), "blobs");
    const int fd = open_plain(at, name);
    if (at >= 0)
        (void)close(at);
    return fd;
}

bool
sl_hub_official_find_commit(const char *folder, const char *repository, const char *commit,
                            const char *file, sl_arena *arena, sl_hub_cached *out)
{
    sl_hub_cached found = {.text = NULL};
    const int at = enter(enter(open_repository(folder, repository), "snapshots"), commit);
    if (at < 0)
        return false;

    int fd = open_plain(at, file);
    if (fd < 0)
        fd = open_blob(folder, repository, at, file, found.etag);
    (void)close(at);
    found.text = sl_hub_file_take(fd, SL_HUB_FILE_MAX_BYTES, arena, &found.size);
    if (found.text == NULL || found.size == 0)
        return false;
    (void)sl_text_copy(found.commit, sizeof found.commit, commit);
    *out = found;
    return true;
}

bool
sl_hub_official_commit(const char *folder, const char *repository, const char *revision,
                       char commit[SL_HUB_COMMIT_SIZE])
{
    /* A revision has one folder for each of its parts, "refs/pr/1"; checked, it has no "..". */
    char part[SL_HUB_REVISION_SIZE], text[SL_HUB_COMMIT_SIZE + 1];
    int at = enter(open_repository(folder, repository), "refs");
    for (const char *slash = strchr(revision, '/'); slash != NULL; slash = strchr(revision, '/')) {
        (void)sl_text_format(part, sizeof part, "%.*s", (int)(slash - revision), revision);
        at = enter(at, part);
        revision = slash + 1;
    }
    const int fd = open_plain(at, revision);
    if (at >= 0)
        (void)close(at);
    if (fd < 0)
        return false;

    const ssize_t size = read(fd, text, sizeof text);
    (void)close(fd);
    if (size < SL_HUB_COMMIT_SIZE - 1 || (size == (ssize_t)sizeof text - 1 && text[40] != '\n') ||
        size == (ssize_t)sizeof text)
        return false;
    text[SL_HUB_COMMIT_SIZE - 1] = '\0';
    memcpy(commit, text, SL_HUB_COMMIT_SIZE);
    return sl_hub_is_commit(commit);
}

bool
sl_hub_official_find_revision(const char *folder, const char *repository, const char *revision,
                              const char *file, sl_arena *arena, sl_hub_cached *out)
{
    char commit[SL_HUB_COMMIT_SIZE];
    return sl_hub_official_commit(folder, repository, revision, commit) &&
           sl_hub_official_find_commit(folder, repository, commit, file, arena, out);
}

bool
sl_hub_official_lacks(const char *folder, const char *repository, const char *commit,
                      const char *file)
{
    struct stat status;
    const int at = enter(enter(open_repository(folder, repository), ".no_exist"), commit);
    if (at < 0)
        return false;
    const bool lacks =
        fstatat(at, file, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
    (void)close(at);
    return lacks;
}
