#include "http/static.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "http/accept.h"

enum {
    FILES_MAX = 512,
    FOLDERS_MAX = 64,
    FILE_MAX_BYTES = 8 * 1024 * 1024,
    PATH_SIZE = 1024,
    NAMES_MAX_BYTES = 1024 * 1024,
    TAG_SIZE = 35, /* 32 digits of the hash, two quotes and the NUL */
    HASH_IN_NAME_MIN = 8
};

/* What the page may load: its own files and nothing else. The opener policy lets the timeline keep
 * a handle of the trace viewer's window. */
static const char content_security_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";
/* A tab that the dashboard opens may answer it, as Perfetto does; who opens the page may not. */
static const char opener_policy[] = "same-origin-allow-popups";

typedef struct content {
    char *data;
    size_t size;
    char tag[TAG_SIZE];
} content;

struct sl_static_file {
    const char *name; /* below the folder, without a leading '/' */
    content plain;
    const content *packed; /* of the .gz twin in the same set; NULL: none */
    const char *type;
    bool page;      /* HTML: carries the policies */
    bool immutable; /* the name holds a hash of the content */
};

struct sl_static {
    sl_arena *names;
    sl_static_file files[FILES_MAX]; /* sorted by name once loaded */
    size_t count;
};

static const struct {
    const char *suffix;
    const char *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
};

static bool
ends_with(const char *text, const char *suffix)
{
    const size_t length = strlen(text);
    const size_t suffix_length = strlen(suffix);
    return length >= suffix_length && sl_text_equal(text + length - suffix_length, suffix);
}

static const char *
type_of(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (ends_with(name, types[i].suffix))
            return types[i].type;
    return "application/octet-stream";
}

/* assets/app-1A2B3C4D.js: at least eight letters or digits between the last '-' and the '.'. */
static bool
has_hash(const char *name)
{
    if (strncmp(name, "assets/", strlen("assets/")) != 0)
        return false;
    const char *const dash = strrchr(name, '-');
    if (dash == NULL)
        return false;
    const size_t length =
        strspn(dash + 1, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    return length >= HASH_IN_NAME_MIN && dash[1 + length] == '.';
}

static sl_code
unreadable(sl_errors *err, const char *what)
{
    return sl_fail(err, SL_E_UNAVAILABLE, "static_unreadable", "",
                   "the dashboard's files must be readable: %s", what);
}

static sl_code
too_many(sl_errors *err, const char *what)
{
    return sl_fail(err, SL_E_TOO_LARGE, "static_too_large", "",
                   "the folder of the dashboard holds too much: %s", what);
}

/* Reads the whole file behind fd, of `size` bytes when it was opened. */
static sl_code
content_read(int fd, size_t size, content *out, sl_errors *err)
{
    char *const data = malloc(size + 1);
    if (data == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the dashboard");
    size_t used = 0;
    while (used < size) {
        const ssize_t got = read(fd, data + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            free(data);
            return unreadable(err, "a file could not be read to its end");
        }
        used += (size_t)got;
    }
    data[size] = '\0';
    char digits[SL_HASH_TEXT_SIZE];
    sl_hash_text(data, size, digits);
    *out = (content){.data = data, .size = size};
    (void)sl_text_format(out->tag, sizeof out->tag, "\"%.32s\"", digits);
    return SL_OK;
}

static sl_code
file_add(sl_static *files, int fd, size_t size, const char *name, sl_errors *err)
{
    if (files->count == FILES_MAX)
        return too_many(err, "more than 512 files");
    if (size > FILE_MAX_BYTES)
        return too_many(err, "a file over 8 MiB");
    sl_static_file file = {.type = type_of(name), .page = ends_with(name, ".html")};
    file.immutable = has_hash(name);
    file.name = sl_arena_copy(files->names, name);
    if (file.name == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the dashboard");
    const sl_code code = content_read(fd, size, &file.plain, err);
    if (code != SL_OK)
        return code;
    files->files[files->count++] = file;
    return SL_OK;
}

/* Folders still to be read, as names below the root; a list instead of recursion. */
typedef struct folder_list {
    const char *names[FOLDERS_MAX];
    size_t count;
} folder_list;

static sl_code
entry_add(sl_static *files, folder_list *folders, const char *root, const char *name,
          sl_errors *err)
{
    char path[PATH_SIZE];
    if (!sl_text_format(path, sizeof path, "%s/%s", root, name))
        return unreadable(err, "a path is too long");
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        if (fd >= 0)
            (void)close(fd);
        return unreadable(err, "a file could not be opened");
    }
    sl_code code = SL_OK;
    if (S_ISREG(status.st_mode)) {
        code = file_add(files, fd, (size_t)status.st_size, name, err);
    } else if (S_ISDIR(status.st_mode)) {
        if (folders->count == FOLDERS_MAX)
            code = too_many(err, "more than 64 folders");
        else if ((folders->names[folders->count] = sl_arena_copy(files->names, name)) == NULL)
            code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the dashboard");
        else
            folders->count++;
    }
    (void)close(fd);
    return code;
}

/* Adds the entries of one folder; names that start with a dot are nobody's to fetch. */
static sl_code
folder_read(sl_static *files, folder_list *folders, const char *root, const char *folder,
            sl_errors *err)
{
    char path[PATH_SIZE];
    if (!sl_text_format(path, sizeof path, "%s/%s", root, folder))
        return unreadable(err, "a path is too long");
    DIR *const stream = opendir(path);
    if (stream == NULL)
        return folder[0] == '\0' && (errno == ENOENT || errno == ENOTDIR)
                   ? SL_OK
                   : unreadable(err, "a folder could not be opened");
    sl_code code = SL_OK;
    for (const struct dirent *entry = readdir(stream); code == SL_OK && entry != NULL;
         entry = readdir(stream)) {
        if (entry->d_name[0] == '.')
            continue;
        char name[PATH_SIZE];
        if (!sl_text_format(name, sizeof name, "%s%s%s", folder, folder[0] == '\0' ? "" : "/",
                            entry->d_name))
            code = unreadable(err, "a path is too long");
        else
            code = entry_add(files, folders, root, name, err);
    }
    (void)closedir(stream);
    return code;
}

static int
by_name(const void *a, const void *b)
{
    const sl_static_file *const first = a;
    const sl_static_file *const second = b;
    return strcmp(first->name, second->name);
}

static const sl_static_file *
file_named(const sl_static *files, const char *name)
{
    size_t low = 0;
    size_t high = files->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(name, files->files[middle].name);
        if (order == 0)
            return &files->files[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

sl_code
sl_static_load(const char *folder, sl_static **out, sl_errors *err)
{
    assert(folder != NULL && out != NULL);

    sl_static *const files = calloc(1, sizeof *files);
    if (files != NULL)
        files->names = sl_arena_new(NAMES_MAX_BYTES);
    if (files == NULL || files->names == NULL) {
        free(files);
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the dashboard");
    }
    folder_list folders = {.count = 0};
    sl_code code = folder_read(files, &folders, folder, "", err);
    for (size_t i = 0; code == SL_OK && i < folders.count; i++)
        code = folder_read(files, &folders, folder, folders.names[i], err);
    if (code != SL_OK) {
        sl_static_free(files);
        return code;
    }

    qsort(files->files, files->count, sizeof files->files[0], by_name);
    for (size_t i = 0; i < files->count; i++) {
        char twin[PATH_SIZE];
        if (!sl_text_format(twin, sizeof twin, "%s.gz", files->files[i].name))
            continue;
        const sl_static_file *const packed = file_named(files, twin);
        files->files[i].packed = packed == NULL ? NULL : &packed->plain;
    }
    *out = files;
    return SL_OK;
}

void
sl_static_free(sl_static *files)
{
    if (files == NULL)
        return;
    for (size_t i = 0; i < files->count; i++)
        free(files->files[i].plain.data);
    sl_arena_free(files->names);
    free(files);
}

const sl_static_file *
sl_static_find(const sl_static *files, const char *path)
{
    assert(files != NULL && path != NULL && path[0] == '/');
    return file_named(files, path[1] == '\0' ? "index.html" : path + 1);
}

void
sl_static_answer(const sl_static_file *file, const sl_request *request, const char *accept_encoding,
                 sl_response *response, const char **body, size_t *size)
{
    assert(file != NULL && request != NULL && response != NULL && body != NULL && size != NULL);

    const bool packed =
        file->packed != NULL && accept_encoding != NULL && sl_accept_gzip(accept_encoding);
    const content *const chosen = packed ? file->packed : &file->plain;
    response->content_type = file->type;
    sl_response_header(response, "ETag", chosen->tag);
    sl_response_header(response, "Cache-Control",
                       file->immutable ? "public, max-age=31536000, immutable" : "no-cache");
    if (file->packed != NULL)
        sl_response_header(response, "Vary", "Accept-Encoding");
    if (packed)
        sl_response_header(response, "Content-Encoding", "gzip");
    if (file->page) {
        sl_response_header(response, "Content-Security-Policy", content_security_policy);
        sl_response_header(response, "Cross-Origin-Opener-Policy", opener_policy);
    }

    *body = chosen->data;
    *size = chosen->size;
    if (request->if_none_match != NULL && sl_etag_listed(request->if_none_match, chosen->tag)) {
        response->status = 304;
        *size = 0;
    }
}
