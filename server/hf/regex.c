#include "hf/regex.h"

#include <assert.h>
#include <string.h>

/* Where the translation stands. `repeat`: a repeat came last, so that a ? makes it lazy. */
typedef struct translation {
    const char *at;
    char *out;
    size_t size;
    bool repeat;
    bool failed;
} translation;

static void
append(translation *to, const char *text)
{
    const size_t length = strlen(text);
    if (to->size + length >= SL_HF_REGEX_MAX) {
        to->failed = true;
        return;
    }
    memcpy(to->out + to->size, text, length + 1);
    to->size += length;
}

static void
append_byte(translation *to, char byte)
{
    append(to, (const char[]){byte, '\0'});
}

/* Stands behind the backslash. */
static void
escape(translation *to, bool in_brackets)
{
    const char byte = *to->at++;

    if (byte == 'd')
        append(to, in_brackets ? "0-9" : "[0-9]");
    else if (byte == 'w')
        append(to, in_brackets ? "A-Za-z0-9_" : "[A-Za-z0-9_]");
    else if (byte != '\0' && strchr(".-_/", byte) != NULL)
        append(to, in_brackets || byte != '.' ? (const char[]){byte, '\0'} : "[.]");
    else if (byte != '\0' && strchr("*+?|()^$", byte) != NULL && !in_brackets)
        append(to, (const char[]){'\\', byte, '\0'});
    else
        to->failed = true;
}

/* Stands behind the opening bracket; leaves behind the closing one. */
static void
brackets(translation *to)
{
    append(to, "[");
    if (*to->at == '^')
        append_byte(to, *to->at++);
    if (*to->at == ']' || *to->at == '[')
        to->failed = true;
    while (!to->failed && *to->at != ']') {
        const char byte = *to->at++;
        if (byte == '\\')
            escape(to, true);
        else if (byte == '\0' || byte == '[')
            to->failed = true;
        else
            append_byte(to, byte);
    }
    if (!to->failed)
        append_byte(to, *to->at++);
}

/* Stands behind the parenthesis. */
static void
group(translation *to)
{
    append(to, "(");
    if (to->at[0] == '?' && to->at[1] == ':')
        to->at += 2;
    else if (to->at[0] == '?')
        to->failed = true;
}

static void
repeat(translation *to, char byte)
{
    /* Whether a text matches does not depend on which of its matches is taken first. */
    if (to->repeat && byte != '?')
        to->failed = true;
    else if (!to->repeat)
        append_byte(to, byte);
    to->repeat = !to->repeat;
}

bool
sl_hf_regex_translate(const char *python, char out[SL_HF_REGEX_MAX])
{
    assert(python != NULL && out != NULL);

    translation to = {.at = python, .out = out};
    append(&to, "^(");
    while (!to.failed && *to.at != '\0') {
        const char byte = *to.at++;
        if (byte == '*' || byte == '+' || byte == '?') {
            repeat(&to, byte);
            continue;
        }
        to.repeat = false;
        if (byte == '\\')
            escape(&to, false);
        else if (byte == '[')
            brackets(&to);
        else if (byte == '(')
            group(&to);
        else if (byte == '{' || byte == '}')
            to.failed = true;
        else
            append_byte(&to, byte);
    }
    append(&to, ")");
    return !to.failed;
}
