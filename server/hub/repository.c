#include "hub/repository.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "hub/hub.h"

enum { PART_MAX = 96 };

static const char id_hint[] = "as in org/name or gpt2: letters and digits, '_', '-', '.'";

/* Tables, not <ctype.h>: the rules are ASCII whatever the locale. */
static bool
is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool
sl_hub_is_commit(const char *text)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        const char c = text[length];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
            return false;
    }
    return length == 40;
}

bool
sl_hub_is_visible(const char *text)
{
    size_t length = 0;
    while (text[length] > ' ' && text[length] <= '~')
        length++;
    return length > 0 && text[length] == '\0';
}

bool
sl_hub_percent_encode(const char *text, char *out, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t used = 0;

    for (; *text != '\0'; text++) {
        const bool plain = is_alphanumeric(*text) || strchr("-._~", *text) != NULL;
        if (used + (plain ? 1 : 3) >= size)
            return false;
        if (plain) {
            out[used++] = *text;
        } else {
            const unsigned char byte = (unsigned char)*text;
            out[used++] = '%';
            out[used++] = digits[byte >> 4];
            out[used++] = digits[byte & 15];
        }
    }
    out[used] = '\0';
    return true;
}

/* One side of the slash: what is wrong with it, or NULL. */
static const char *
fault_of_part(const char *part, size_t length)
{
    if (length == 0)
        return "an empty part";
    if (length > PART_MAX)
        return "a part longer than 96 characters";
    for (size_t i = 0; i < length; i++) {
        if (!is_alphanumeric(part[i]) && strchr("_-.", part[i]) == NULL)
            return "a character that is not allowed";
    }
    const char first = part[0], last = part[length - 1];
    if (first == '-' || first == '.' || last == '-' || last == '.')
        return "a part that begins or ends with '-' or '.'";
    return NULL;
}

static const char *
fault_of_repository(const char *repository)
{
    const char *const slash = strchr(repository, '/');
    const char *const name = slash != NULL ? slash + 1 : repository;
    if (strchr(name, '/') != NULL)
        return "more than one '/'";

    const char *fault = NULL;
    if (slash != NULL)
        fault = fault_of_part(repository, (size_t)(slash - repository));
    if (fault == NULL)
        fault = fault_of_part(name, strlen(name));
    if (fault != NULL)
        return fault;

    if (strstr(repository, "--") != NULL || strstr(repository, "..") != NULL)
        return "'--' or '..'";
    const size_t length = strlen(name);
    if (length >= 4 && strcmp(name + length - 4, ".git") == 0)
        return "a name that ends in '.git'";
    return NULL;
}

/* The rules of git for reference names, less what needs more than printable ASCII. */
static const char *
fault_of_revision(const char *revision)
{
    const size_t length = strlen(revision);
    if (length == 0)
        return "an empty text";
    for (size_t i = 0; i < length; i++) {
        const char c = revision[i];
        if (c <= ' ' || c > '~' || strchr("~^:?*[\\", c) != NULL)
            return "a character that is not allowed";
        if (c == '.' && (i == 0 || revision[i - 1] == '/' || revision[i - 1] == '.'))
            return "a part that begins with '.', or '..'";
        if (c == '/' && (i == 0 || i + 1 == length || revision[i - 1] == '/'))
            return "an empty part";
    }
    if (revision[length - 1] == '.' || strstr(revision, "@{") != NULL)
        return "a trailing '.', or '@{'";

    char encoded[SL_HUB_REVISION_SIZE];
    if (!sl_hub_percent_encode(revision, encoded, sizeof encoded))
        return "more than 200 characters";
    return NULL;
}

sl_code
sl_hub_check_id(const char *repository, const char *revision, const char *pointer, sl_errors *err)
{
    assert(repository != NULL && revision != NULL && pointer != NULL && err != NULL);

    sl_code code = SL_OK;
    const char *fault = fault_of_repository(repository);
    if (fault != NULL) {
        code = sl_fail(err, SL_E_RANGE, "invalid_repository", pointer,
                       "must be a repository id of the Hugging Face Hub, got %s", fault);
        sl_hint(err, "%s", id_hint);
    }
    fault = fault_of_revision(revision);
    if (fault != NULL) {
        code = sl_fail(err, SL_E_RANGE, "invalid_revision", pointer,
                       "the revision must be a branch, a tag or a commit, got %s", fault);
        sl_hint(err, "main, refs/pr/1, or 40 hexadecimal digits");
    }
    return code;
}

bool
sl_hub_file_url(const char *endpoint, const sl_hub_subject *subject, char *out, size_t size)
{
    char revision[SL_HUB_REVISION_SIZE], file[SL_HUB_FILE_NAME_SIZE];
    return sl_hub_percent_encode(subject->revision, revision, sizeof revision) &&
           sl_hub_percent_encode(subject->file, file, sizeof file) &&
           sl_text_format(out, size, "%s/%s/resolve/%s/%s", endpoint, subject->repository, revision,
                          file);
}

bool
sl_hub_id_of_folder(const char *name, char out[SL_HUB_ID_SIZE])
{
    static const char prefix[] = "models--";
    sl_errors ignored = {.count = 0};
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    name += sizeof prefix - 1;
    const char *const between = strstr(name, "--");
    const bool fits = between == NULL ? sl_text_copy(out, SL_HUB_ID_SIZE, name)
                                      : sl_text_format(out, SL_HUB_ID_SIZE, "%.*s/%s",
                                                       (int)(between - name), name, between + 2);
    return fits && sl_hub_check_id(out, "main", "", &ignored) == SL_OK;
}

void
sl_hub_folder_name(const char *repository, char out[SL_HUB_ID_SIZE + 16])
{
    const char *const slash = strchr(repository, '/');
    bool fits;
    if (slash != NULL) {
        /* "--" is refused inside an id, so that no two ids share a folder. */
        fits = sl_text_format(out, SL_HUB_ID_SIZE + 16, "models--%.*s--%s",
                              (int)(slash - repository), repository, slash + 1);
    } else {
        fits = sl_text_format(out, SL_HUB_ID_SIZE + 16, "models--%s", repository);
    }
    assert(fits);
}
