#include "http/spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files.h"
#include "base/text.h"

struct sl_spool {
    int fd;
    uint64_t size;
};

/* Of the process: whoever shares its disk shares the bound. */
static atomic_uint_fast32_t spools_open;
static atomic_uint_fast64_t bytes_held;

const uint64_t sl_spools_max_bytes = 2048ULL * 1024 * 1024;

/* A file that nobody else can open; -1 where there can be none. */
static int
nameless_file(const char *folder)
{
    char path[SL_PATH_SIZE];
    if (!sl_text_format(path, sizeof path, "%s/spool.XXXXXX", folder) || !sl_folders_make(path))
        return -1;
    const int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    if (unlink(path) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

sl_code
sl_spool_open(const char *folder, sl_spool **out, sl_errors *err)
{
    assert(folder != NULL && out != NULL);

    if (atomic_fetch_add(&spools_open, 1) >= SL_SPOOLS_MAX) {
        (void)atomic_fetch_sub(&spools_open, 1);
        return sl_fail(err, SL_E_UNAVAILABLE, "busy", "", "%d large bodies are being read already",
                       SL_SPOOLS_MAX);
    }
    const int fd = nameless_file(folder);
    sl_spool *const spool = fd < 0 ? NULL : calloc(1, sizeof *spool);
    if (spool != NULL) {
        spool->fd = fd;
        *out = spool;
        return SL_OK;
    }
    if (fd >= 0)
        (void)close(fd);
    (void)atomic_fetch_sub(&spools_open, 1);
    (void)sl_fail(err, SL_E_UNAVAILABLE, "no_spool", "",
                  "there is no place on disk for a large body");
    sl_hint(err, "SHARDLINE_CACHE_DIR names the folder");
    return SL_E_UNAVAILABLE;
}

void
sl_spool_free(sl_spool *spool)
{
    if (spool == NULL)
        return;
    (void)close(spool->fd);
    (void)atomic_fetch_sub(&bytes_held, spool->size);
    free(spool);
    (void)atomic_fetch_sub(&spools_open, 1);
}

bool
sl_spool_append(sl_spool *spool, const char *bytes, size_t size)
{
    assert(spool != NULL);
    if (atomic_fetch_add(&bytes_held, size) + size > sl_spools_max_bytes ||
        !sl_write_all(spool->fd, bytes, size)) {
        (void)atomic_fetch_sub(&bytes_held, size);
        return false;
    }
    spool->size += size;
    return true;
}

uint64_t
sl_spool_size(const sl_spool *spool)
{
    assert(spool != NULL);
    return spool->size;
}

bool
sl_spool_read(const sl_spool *spool, uint64_t offset, char *to, size_t size, size_t *got)
{
    assert(spool != NULL && to != NULL && got != NULL);

    const uint64_t left = offset < spool->size ? spool->size - offset : 0;
    const size_t wanted = left < size ? (size_t)left : size;
    size_t have = 0;
    while (have < wanted) {
        const ssize_t part = pread(spool->fd, to + have, wanted - have, (off_t)(offset + have));
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            return false;
        have += (size_t)part;
    }
    *got = have;
    return true;
}

bool
sl_spool_view_open(const sl_spool *spool, sl_spool_view *out)
{
    assert(spool != NULL && out != NULL);

    *out = (sl_spool_view){.text = "", .size = (size_t)spool->size};
    if (spool->size == 0)
        return true;
    void *const mapped = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, spool->fd, 0);
    if (mapped == MAP_FAILED)
        return false;
    out->text = mapped;
    return true;
}

void
sl_spool_view_clear(sl_spool_view *view)
{
    assert(view != NULL);
    if (view->size > 0) {
        /* munmap takes what mmap gave: nothing is written through it. */
        union {
            const char *text;
            void *mapped;
        } both = {.text = view->text};
        (void)munmap(both.mapped, view->size);
    }
    *view = (sl_spool_view){.text = "", .size = 0};
}
