#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

/* A line stays below PIPE_BUF, so that one write is never mixed with another process's. The tail
 * has its room reserved. */
enum { LINE_BYTES = 4000, ENTRY_BYTES = 256 };
static const char tail[] = ",\"truncated\":true}\n";

typedef struct line {
    char text[LINE_BYTES];
    size_t size;
    bool truncated;
} line;

static const char *const level_names[] = {[SL_LOG_DEBUG] = "debug",
                                          [SL_LOG_INFO] = "info",
                                          [SL_LOG_WARN] = "warn",
                                          [SL_LOG_ERROR] = "error"};
_Static_assert(sizeof level_names / sizeof level_names[0] == SL_LOG_ERROR + 1, "a name per level");

static atomic_int least_level = SL_LOG_INFO;

void
sl_log_set_level(sl_log_level level)
{
    atomic_store(&least_level, (int)level);
}

sl_log_field
sl_log_text(const char *key, const char *value)
{
    return (sl_log_field){.key = key, .kind = SL_LOG_TEXT, .text = value};
}

sl_log_field
sl_log_number(const char *key, double value)
{
    return (sl_log_field){.key = key, .kind = SL_LOG_NUMBER, .number = value};
}

sl_log_field
sl_log_count(const char *key, uint64_t value)
{
    return (sl_log_field){.key = key, .kind = SL_LOG_COUNT, .count = value};
}

static size_t
room(const line *to)
{
    return sizeof to->text - sizeof tail - to->size;
}

/* All of it or nothing. */
static bool
append(line *to, const char *bytes, size_t size)
{
    if (size > room(to)) {
        to->truncated = true;
        return false;
    }
    memcpy(to->text + to->size, bytes, size);
    to->size += size;
    return true;
}

/* A quoted text, cut to what fits. */
static void
append_quoted(line *to, const char *text)
{
    if (room(to) < 2 || !append(to, "\"", 1))
        return;
    size_t left = strlen(text);
    while (left > 0) {
        char escaped[SL_TEXT_ESCAPED_MAX];
        size_t taken = 0;
        const size_t size = sl_text_json_escape(text, left, escaped, &taken);
        if (size + 1 > room(to)) {
            to->truncated = true;
            break;
        }
        (void)append(to, escaped, size);
        text += taken;
        left -= taken;
    }
    (void)append(to, "\"", 1);
}

static void
append_field(line *to, const sl_log_field *field)
{
    char start[ENTRY_BYTES];
    char value[64] = "null";
    if (field->kind == SL_LOG_COUNT)
        (void)sl_text_format(value, sizeof value, "%llu", (unsigned long long)field->count);
    else if (field->kind == SL_LOG_NUMBER && isfinite(field->number))
        (void)sl_text_format(value, sizeof value, "%.9g", field->number);
    const bool quoted = field->kind == SL_LOG_TEXT && field->text != NULL;

    /* A key stands only with its value, be it an empty text. */
    const bool whole =
        sl_text_format(start, sizeof start, ",\"%s\":%s", field->key, quoted ? "" : value);
    if (!whole || strlen(start) + 2 > room(to)) {
        to->truncated = true;
        return;
    }
    (void)append(to, start, strlen(start));
    if (quoted)
        append_quoted(to, field->text);
}

static void
append_head(line *to, sl_log_level level, const char *message)
{
    struct timespec now = {0};
    struct tm utc = {0};
    char date[32] = "", head[128];
    if (clock_gettime(CLOCK_REALTIME, &now) == 0 && gmtime_r(&now.tv_sec, &utc) != NULL)
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)sl_text_format(head, sizeof head, "{\"ts\":\"%s.%03ldZ\",\"level\":\"%s\",\"msg\":", date,
                         now.tv_nsec / 1000000L, level_names[level]);
    (void)append(to, head, strlen(head));
    append_quoted(to, message);
}

void
sl_log(sl_log_level level, const char *message, const sl_log_field *fields, uint32_t count)
{
    assert(level >= SL_LOG_DEBUG && level <= SL_LOG_ERROR && message != NULL);
    assert(fields != NULL || count == 0);

    if ((int)level < atomic_load(&least_level))
        return;
    const int saved_errno = errno;
    line to = {.size = 0};
    append_head(&to, level, message);
    for (uint32_t i = 0; i < count; i++)
        append_field(&to, &fields[i]);
    const char *const end = to.truncated ? tail : "}\n";
    memcpy(to.text + to.size, end, strlen(end));
    to.size += strlen(end);

    /* A log nobody can write must not stop the service. */
    ssize_t written = 0;
    do
        written = write(STDERR_FILENO, to.text, to.size);
    while (written < 0 && errno == EINTR);
    errno = saved_errno;
}
