#include "base/files.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

bool
sl_folders_make(const char *path)
{
    char folder[SL_PATH_SIZE];
    assert(path != NULL);
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

bool
sl_write_all(int fd, const char *bytes, size_t size)
{
    assert(bytes != NULL || size == 0);
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
