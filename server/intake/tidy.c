#include "intake/tidy.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "intake/syntax/lines.h"

enum { LINES_BEFORE_MAX = 64 };

/* Whether every second byte of the beginning is zero, or a mark says so: what PowerShell writes. */
static bool
is_utf16(const sl_raw *raw)
{
    const unsigned char *const b = (const unsigned char *)raw->text;

    return raw->size >= 4 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF) ||
                              (b[0] == 0 && b[1] != 0 && b[2] == 0 && b[3] != 0) ||
                              (b[0] != 0 && b[1] == 0 && b[2] != 0 && b[3] == 0));
}

/* The 16 bits at `at`. */
static uint32_t
unit_at(const sl_raw *raw, size_t at, bool big)
{
    const unsigned char *const b = (const unsigned char *)raw->text + at;
    return big ? (uint32_t)b[0] << 8 | b[1] : (uint32_t)b[1] << 8 | b[0];
}

/* Into `out`, or only counted where that is NULL. */
static size_t
convert_utf16(const sl_raw *raw, char *out)
{
    const unsigned char *const b = (const unsigned char *)raw->text;
    const bool big = b[0] == 0 || b[0] == 0xFE;
    char bytes[SL_TEXT_CHARACTER_MAX];
    size_t size = 0;

    for (size_t at = unit_at(raw, 0, big) == 0xFEFF ? 2 : 0; at + 2 <= raw->size; at += 2) {
        uint32_t code = unit_at(raw, at, big);
        const uint32_t next = at + 4 <= raw->size ? unit_at(raw, at + 2, big) : 0;
        if (code >= 0xD800 && code < 0xDC00 && next >= 0xDC00 && next < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (next - 0xDC00);
            at += 2;
        }
        const size_t length = sl_text_put_character(code, bytes);
        if (out != NULL)
            memcpy(out + size, bytes, length);
        size += length;
    }
    return size;
}

sl_code
sl_tidy_utf16(const sl_raw *raw, sl_arena *arena, sl_raw *out, sl_errors *err)
{
    assert(raw != NULL && arena != NULL && out != NULL && err != NULL);

    *out = *raw;
    if (!is_utf16(raw))
        return SL_OK;
    const size_t size = convert_utf16(raw, NULL);
    char *const text = sl_arena_alloc(arena, size > 0 ? size : 1, 1);
    if (text == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read UTF-16");
    (void)convert_utf16(raw, text);
    *out = (sl_raw){raw->name, text, size};
    return SL_OK;
}

sl_raw
sl_tidy_escapes(const sl_raw *raw, sl_arena *arena)
{
    assert(raw != NULL && arena != NULL);

    if (raw->size == 0 || memchr(raw->text, '\033', raw->size) == NULL)
        return *raw;
    char *const text = sl_arena_alloc(arena, raw->size, 1);
    if (text == NULL)
        return *raw;
    size_t size = 0;
    for (size_t i = 0; i < raw->size;) {
        const size_t skipped = sl_escape_size(raw->text + i, raw->size - i);
        i += skipped;
        if (skipped == 0)
            text[size++] = raw->text[i++];
    }
    return (sl_raw){raw->name, text, size};
}

/* The text with all but line feeds blank before `from` and behind `to`. False without memory. */
static bool
blank_around(const sl_raw *raw, size_t from, size_t to, sl_arena *arena, sl_raw *out)
{
    char *const text = sl_arena_alloc(arena, raw->size, 1);

    if (text == NULL)
        return false;
    memcpy(text, raw->text, raw->size);
    for (size_t i = 0; i < raw->size; i++)
        if ((i < from || i >= to) && text[i] != '\n')
            text[i] = ' ';
    *out = (sl_raw){raw->name, text, raw->size};
    return true;
}

/* Bytes of a line without the blanks that end it. */
static size_t
trimmed(const char *line, size_t length)
{
    while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL && line[length - 1] != '\0')
        length--;
    return length;
}

/* "admin@head:~$ kubectl get nodes", "[root@head ~]#", "(env) me@host dir %", "$ sinfo": a word
 * with an at sign, or nothing, and a mark behind which a command may stand. */
size_t
sl_tidy_prompt(const char *line, size_t length)
{
    enum { NAME_MAX = 120, WORDS_BETWEEN_MAX = 2 };
    const char *const environment = length > 0 && *line == '(' ? memchr(line, ')', length) : NULL;
    size_t from = environment != NULL ? (size_t)(environment - line) + 1 : 0;
    bool at_sign = false;
    uint32_t blanks = 0;

    from += environment != NULL && from < length && line[from] == ' ';
    const bool bracketed = from < length && line[from] == '[';
    for (size_t i = from; i < length && i < NAME_MAX; i++) {
        const bool ends = i + 1 == length || line[i + 1] == ' ';
        if (line[i] == ' ' && (!at_sign || ++blanks > WORDS_BETWEEN_MAX))
            return 0;
        at_sign = at_sign || line[i] == '@';
        if (!ends || (!at_sign && i > from))
            continue;
        if (line[i] == '$' && i == from)
            return i + 1;
        if ((line[i] == '$' || line[i] == '#') && i > from &&
            (bracketed ? line[i - 1] == ']' : blanks == 0))
            return i + 1;
        if (line[i] == '%' && at_sign)
            return i + 1;
    }
    return 0;
}

/* The mark of code in a page of text: "```yaml". */
static bool
is_fence(const char *line, size_t length)
{
    return length >= 3 && (memcmp(line, "```", 3) == 0 || memcmp(line, "~~~", 3) == 0);
}

static bool
is_left_around(const char *line, size_t length)
{
    length = trimmed(line, length);
    return is_fence(line, length) || sl_tidy_prompt(line, length) > 0;
}

/* Bytes up to the first line that is of the output; 0 where no prompt or fence stands before it. */
static size_t
left_before(const sl_raw *raw)
{
    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    const char *line = NULL;
    size_t length = 0, from = 0;

    while (lines.number < LINES_BEFORE_MAX && sl_lines_next(&lines, &line, &length)) {
        if (is_left_around(line, length))
            from = (size_t)(lines.at - raw->text);
        else if (trimmed(line, length) > 0)
            break;
    }
    return from;
}

/* Where the last line that is of the output ends; the size where none follows it that is not. */
static size_t
left_behind(const sl_raw *raw)
{
    size_t to = raw->size;

    for (size_t end = raw->size; end > 0;) {
        size_t begin = end;
        while (begin > 0 && raw->text[begin - 1] != '\n')
            begin--;
        if (is_left_around(raw->text + begin, end - begin))
            to = begin;
        else if (trimmed(raw->text + begin, end - begin) > 0)
            break;
        end = begin > 0 ? begin - 1 : 0;
    }
    return to;
}

sl_raw
sl_tidy_prompts(const sl_raw *raw, sl_arena *arena)
{
    assert(raw != NULL && arena != NULL);

    const size_t from = raw->size > 0 ? left_before(raw) : 0;
    const size_t to = raw->size > 0 ? left_behind(raw) : 0;
    sl_raw out = *raw;

    if ((from == 0 && to == raw->size) || from >= to)
        return out;
    return blank_around(raw, from, to, arena, &out) ? out : *raw;
}

/* Where the host or task of a line stands. */
typedef struct speaker {
    const char *at; /* NULL: nobody yet */
    size_t length;
} speaker;

/* Bytes of "gpu01: " or " 3: " at the beginning of a line; 0 where none stands. */
static size_t
prefix_size(const char *line, size_t length, speaker *who)
{
    size_t at = 0;

    while (at < length && line[at] == ' ')
        at++;
    who->at = line + at;
    while (at < length && (isalnum((unsigned char)line[at]) || strchr("-_.", line[at]) != NULL) &&
           line[at] != '\0')
        at++;
    who->length = (size_t)(line + at - who->at);
    if (who->length == 0 || at == length || line[at] != ':')
        return 0;
    at++;
    return at == length || line[at] == '\r' ? at : line[at] == ' ' ? at + 1 : 0;
}

static const char node_key[] = "NodeName=";

static bool
begins_node(const char *line, size_t length)
{
    return length >= sizeof node_key - 1 && memcmp(line, node_key, sizeof node_key - 1) == 0;
}

/* What stands before the lines: hosts or tasks before nodes of Slurm; numbers of tasks before
 * anything. */
typedef enum prefixes { PREFIXES_NONE, PREFIXES_OF_NODES, PREFIXES_OF_TASKS } prefixes;

static bool
is_number(const speaker *who)
{
    size_t digits = 0;

    while (digits < who->length && isdigit((unsigned char)who->at[digits]))
        digits++;
    return digits == who->length;
}

static prefixes
find_prefixes(const sl_raw *raw)
{
    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    const char *line = NULL;
    size_t length = 0;
    speaker who;
    bool numbered = true, any = false;

    while (lines.number < LINES_BEFORE_MAX && sl_lines_next(&lines, &line, &length)) {
        const size_t size = prefix_size(line, length, &who);
        if (size > 0 && begins_node(line + size, length - size))
            return PREFIXES_OF_NODES;
        if (trimmed(line, length) == 0)
            continue;
        any = true;
        numbered = numbered && size > 0 && is_number(&who);
    }
    return any && numbered ? PREFIXES_OF_TASKS : PREFIXES_NONE;
}

/* Whether another speaks than the one of the node that is being read, or of all tasks. */
static bool
takes_turn(prefixes kind, speaker *known, const speaker *now, const char *rest, size_t length)
{
    const bool blank = trimmed(rest, length) == 0;
    const bool begins = kind == PREFIXES_OF_NODES && begins_node(rest, length);
    const bool same = known->at == NULL || (known->length == now->length &&
                                            memcmp(known->at, now->at, now->length) == 0);

    if (kind == PREFIXES_OF_NODES && blank)
        known->at = NULL; /* the node is over */
    else if (begins || known->at == NULL)
        *known = *now;
    return !same && !blank && !begins;
}

static sl_code
refuse_turns(prefixes kind, uint32_t line, sl_errors *err)
{
    if (kind == PREFIXES_OF_NODES)
        return sl_fail(err, SL_E_SYNTAX, "hosts_take_turns", "",
                       "line %u: the lines of several hosts take turns: sort them by host, "
                       "as dshbak does",
                       line);
    (void)sl_fail(err, SL_E_UNSUPPORTED, "tasks_unnamed", "",
                  "line %u: numbers of several tasks stand before the lines, as srun -l prints "
                  "them: which hosts they are is not said",
                  line);
    sl_hint(err, "pdsh or clush name the hosts");
    return SL_E_UNSUPPORTED;
}

sl_code
sl_tidy_prefixes(const sl_raw *raw, sl_arena *arena, sl_raw *out, sl_errors *err)
{
    assert(raw != NULL && arena != NULL && out != NULL && err != NULL);

    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    const char *line = NULL;
    size_t length = 0;
    speaker known = {.at = NULL};

    *out = *raw;
    const prefixes kind = raw->size > 0 ? find_prefixes(raw) : PREFIXES_NONE;
    if (kind == PREFIXES_NONE)
        return SL_OK;
    char *const text = sl_arena_alloc(arena, raw->size, 1);
    if (text == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the lines");
    memcpy(text, raw->text, raw->size);
    while (sl_lines_next(&lines, &line, &length)) {
        speaker now;
        const size_t size = prefix_size(line, length, &now);
        if (size > 0 && takes_turn(kind, &known, &now, line + size, length - size))
            return refuse_turns(kind, lines.number, err);
        memset(text + (line - raw->text), ' ', size);
    }
    out->text = text;
    return SL_OK;
}

/* A line that opens a document and nothing else, or an object with its first member. */
static bool
opens_json(const char *line, size_t length)
{
    if (length == 0 || (*line != '{' && *line != '['))
        return false;
    size_t at = 1;
    while (at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return at == length || line[at] == '"' || line[at] == '{';
}

/* A bracket that closes and ends its line; that of the prompt "[root@head ~]#" does not. */
static bool
closes_json(const sl_raw *raw, size_t behind)
{
    if (raw->text[behind - 1] != '}' && raw->text[behind - 1] != ']')
        return false;
    while (behind < raw->size && (raw->text[behind] == ' ' || raw->text[behind] == '\r'))
        behind++;
    return behind == raw->size || raw->text[behind] == '\n';
}

bool
sl_tidy_json(const sl_raw *raw, sl_arena *arena, sl_raw *out)
{
    assert(raw != NULL && arena != NULL && out != NULL);

    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    const char *line = NULL;
    size_t length = 0;
    bool opened = false;

    while (!opened && lines.number < LINES_BEFORE_MAX && sl_lines_next(&lines, &line, &length))
        opened = opens_json(line, length);
    if (!opened)
        return false;
    const size_t from = (size_t)(line - raw->text);
    size_t to = raw->size;
    while (to > from && !closes_json(raw, to))
        to--;
    return to > from && blank_around(raw, from, to, arena, out);
}
