#include "intake/session.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/syntax/lines.h"
#include "intake/tidy.h"

enum { COMMAND_MAX = 80 };

static bool
is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (strchr(" \t\r\n", line[i]) == NULL || line[i] == '\0')
            return false;
    return true;
}

/* One command and the lines that follow it up to the next prompt. */
typedef struct output {
    const char *command; /* NULL: none is left */
    size_t command_size;
    const char *from, *to;
    uint32_t lines; /* of the text before `from` */
    bool printed;
} output;

/* What stands before the first prompt, and behind a prompt without a command, is nobody's. */
static output
next_output(sl_session *s)
{
    sl_lines lines = {.at = s->at, .end = s->raw.text + s->raw.size, .number = s->lines};
    output found = {.command = NULL};
    const char *line = NULL;
    size_t length = 0;

    while (sl_lines_next(&lines, &line, &length)) {
        const size_t prompt = sl_tidy_prompt(line, length);
        if (prompt == 0) {
            found.printed = found.printed || !is_blank(line, length);
            found.to = lines.at;
        } else if (found.command != NULL) {
            break;
        } else if (!is_blank(line + prompt, length - prompt)) {
            found = (output){.command = line + prompt,
                             .command_size = length - prompt,
                             .from = lines.at,
                             .to = lines.at,
                             .lines = lines.number};
        }
        s->at = lines.at;
        s->lines = lines.number;
    }
    return found;
}

bool
sl_session_open(const sl_raw *raw, sl_session *out)
{
    assert(raw != NULL && out != NULL);

    const sl_session begin = {.raw = *raw, .at = raw->text};
    uint32_t printed = 0;

    *out = begin;
    if (raw->size > SL_SESSION_MAX_BYTES)
        return false;
    for (output next = next_output(out); next.command != NULL; next = next_output(out))
        printed += next.printed;
    *out = begin;
    return printed > 1 && printed <= SL_FINDINGS_FILES_MAX;
}

/* Line feeds in the place of the lines before, so that the others keep their numbers. */
static sl_code
copy_output(const sl_session *s, const output *from, sl_arena *arena, sl_raw *out, sl_errors *err)
{
    const size_t size = (size_t)(from->to - from->from);
    char *const text = sl_arena_alloc(arena, from->lines + size, 1);
    size_t blanks = 0;

    while (blanks < from->command_size && from->command[blanks] == ' ')
        blanks++;
    const size_t rest = from->command_size - blanks;
    const int shown = rest < COMMAND_MAX ? (int)rest : COMMAND_MAX;
    const char *const name =
        sl_arena_format(arena, "%s%s%.*s", s->raw.name, *s->raw.name != '\0' ? ": " : "", shown,
                        from->command + blanks);

    if (text == NULL || name == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the session");
    memset(text, '\n', from->lines);
    memcpy(text + from->lines, from->from, size);
    *out = (sl_raw){name, text, from->lines + size};
    return SL_OK;
}

sl_code
sl_session_next(sl_session *session, sl_arena *arena, sl_raw *out, bool *more, sl_errors *err)
{
    assert(session != NULL && arena != NULL && out != NULL && more != NULL && err != NULL);

    output next = next_output(session);
    while (next.command != NULL && !next.printed)
        next = next_output(session);
    *more = next.command != NULL;
    return *more ? copy_output(session, &next, arena, out, err) : SL_OK;
}
