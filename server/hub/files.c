#include "hub/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

char *
sl_hub_file_take(int fd, size_t max_bytes, sl_arena *arena, size_t *size)
{
    struct stat status;
    char *text = NULL;
    size_t have = 0;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0 ||
        (uintmax_t)status.st_size > max_bytes)
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

char *
sl_hub_file_read(const char *path, size_t max_bytes, sl_arena *arena, size_t *size)
{
    /* Without O_NONBLOCK a pipe in the way would hold us. */
    return sl_hub_file_take(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), max_bytes, arena, size);
}

bool
sl_hub_file_replace(const char *path, const char *bytes, size_t size)
{
    char temporary[SL_HUB_PATH_SIZE + 8];
    if (!sl_text_format(temporary, sizeof temporary, "%s.XXXXXX", path) || !sl_folders_make(path))
        return false;
    const int fd = mkstemp(temporary);
    if (fd < 0)
        return false;

    bool ok = sl_write_all(fd, bytes, size) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    ok = ok && rename(temporary, path) == 0;
    if (!ok)
        (void)unlink(temporary);
    return ok;
}
