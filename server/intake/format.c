#include "intake/format.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "intake/devices/formats.h"
#include "intake/documents/formats.h"
#include "intake/kubernetes/kubernetes.h"
#include "intake/nvidia/nvidia.h"
#include "intake/refusals.h"
#include "intake/slurm/slurm.h"
#include "intake/syntax/elements.h"
#include "intake/tidy.h"

/* One line per family; each lists its formats in a file of its own. */
static const sl_formats *const families[] = {
    &sl_device_formats, &sl_document_formats, &sl_kubernetes_formats,
    &sl_nvidia_formats, &sl_slurm_formats,
};

enum { FAMILIES = sizeof families / sizeof families[0] };

uint32_t
sl_format_count(void)
{
    uint32_t count = 0;
    for (size_t i = 0; i < FAMILIES; i++)
        count += families[i]->count;
    return count;
}

const sl_format *
sl_format_get(uint32_t index)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        const uint32_t count = families[i]->count;
        if (index < count)
            return families[i]->list[index];
        index -= count;
    }
    assert(false);
    return NULL;
}

const sl_format *
sl_format_find(const char *name)
{
    assert(name != NULL);

    for (uint32_t i = 0; i < sl_format_count(); i++)
        if (sl_text_equal(sl_format_get(i)->name, name))
            return sl_format_get(i);
    return NULL;
}

static void
take_key(sl_sample *out, const char *from, size_t length)
{
    if (out->key_count == SL_SAMPLE_KEYS_MAX || length >= SL_SAMPLE_KEY_SIZE)
        return;
    char *const key = out->keys[out->key_count++];
    memcpy(key, from, length);
    key[length] = '\0';
}

/* Whether a byte opens, closes or quotes, outside of texts. */
static bool
is_mark(char byte)
{
    static const unsigned char marks[UCHAR_MAX + 1] = {
        ['"'] = 1, ['{'] = 1, ['}'] = 1, ['['] = 1, [']'] = 1};
    return marks[(unsigned char)byte] != 0;
}

/* The members of the root, or of the first element of a root that is a list. A text that is no JSON
 * gives some keys or none: reading it says what is wrong. */
static void
take_keys(sl_sample *out)
{
    const char *at = out->raw->text, *const end = at + out->raw->size;
    uint32_t depth = 0;
    const uint32_t wanted = out->list ? 2 : 1;
    bool first = true; /* a list's first element is not over */

    for (; at < end && first; at++) {
        if (!is_mark(*at))
            continue;
        if (*at == '{' || *at == '[') {
            depth++;
        } else if ((*at == '}' || *at == ']') && depth > 0) {
            depth--;
            first = !(out->list && depth == 1);
        } else if (*at == '"') {
            const char *const from = ++at;
            at = sl_text_closing_quote(at, end);
            if (at == NULL)
                return;
            const char *behind = at + 1;
            while (behind < end && (*behind == ' ' || *behind == '\n' || *behind == '\r'))
                behind++;
            if (depth == wanted && behind < end && *behind == ':')
                take_key(out, from, (size_t)(at - from));
        }
    }
}

void
sl_sample_take(const sl_raw *raw, sl_sample *out)
{
    assert(raw != NULL && out != NULL);

    const size_t head = raw->size < SL_SAMPLE_HEAD_BYTES ? raw->size : SL_SAMPLE_HEAD_BYTES;
    out->raw = raw;
    out->key_count = 0;
    out->list = false;
    if (head > 0)
        memcpy(out->head, raw->text, head);
    out->head[head] = '\0';
    for (char *nul = memchr(out->head, '\0', head); nul != NULL;
         nul = memchr(nul, '\0', head - (size_t)(nul - out->head)))
        *nul = ' ';

    if (strncmp(out->head, "\xEF\xBB\xBF", 3) == 0)
        memset(out->head, ' ', 3); /* a byte order mark is of no line */
    const char *at = out->head + strspn(out->head, " \t\r\n");
    out->shape = *at == '\0'                ? SL_SHAPE_EMPTY
                 : *at == '{' || *at == '[' ? SL_SHAPE_JSON
                 : *at == '<'               ? SL_SHAPE_XML
                                            : SL_SHAPE_TEXT;
    /* "[dev]" begins an INI file as well. */
    if (*at == '[') {
        const char *const next = at + 1 + strspn(at + 1, " \t\r\n");
        if (*next != '{' && *next != '[' && *next != '"' && *next != ']')
            out->shape = SL_SHAPE_TEXT;
        out->list = out->shape == SL_SHAPE_JSON;
    }
    if (out->shape == SL_SHAPE_JSON)
        take_keys(out);
}

bool
sl_sample_has_key(const sl_sample *sample, const char *key)
{
    for (uint32_t i = 0; i < sample->key_count; i++)
        if (sl_text_equal(sample->keys[i], key))
            return true;
    return false;
}

bool
sl_sample_holds(const sl_sample *sample, const char *text)
{
    return strstr(sample->head, text) != NULL;
}

bool
sl_sample_line_begins(const sl_sample *sample, const char *text)
{
    const size_t length = strlen(text);

    /* By hand: of strspn and its like a sanitizer that checks strings reads the whole rest, each time. */
    for (const char *at = sample->head; *at != '\0';) {
        while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
            at++;
        if (strncmp(at, text, length) == 0)
            return true;
        while (*at != '\0' && *at != '\n')
            at++;
    }
    return false;
}

/* The most sure of all, or NULL when none is. */
static const sl_format *
most_sure(const sl_sample *sample, uint32_t *confidence)
{
    assert(sample != NULL && confidence != NULL);

    const sl_format *best = NULL;
    *confidence = 0;
    for (uint32_t i = 0; i < sl_format_count(); i++) {
        const sl_format *const format = sl_format_get(i);
        const uint32_t sure = format->recognise(sample);
        if (sure > *confidence) {
            *confidence = sure;
            best = format;
        }
    }
    return best;
}

/* Another format that is as sure of the text: what it would read of it is passed. */
static const sl_format *
also_recognises(const sl_sample *sample, const sl_format *used)
{
    enum { SURE = 85 };

    for (uint32_t i = 0; i < sl_format_count() && sample->shape == SL_SHAPE_TEXT; i++)
        if (sl_format_get(i) != used && sl_format_get(i)->recognise(sample) >= SURE)
            return sl_format_get(i);
    return NULL;
}

static sl_code
ignore_element(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    (void)context;
    (void)element;
    (void)line;
    (void)err;
    return SL_OK;
}

/* Half of a document is told as such. */
static sl_code
check_brackets(const sl_raw *raw, sl_errors *err)
{
    const char *const end = raw->text + raw->size;
    sl_json_place place = {raw->text, 1};
    sl_code code = SL_OK;
    bool found = false;

    while (place.at < end && code == SL_OK)
        code = sl_json_elements(place.at, (size_t)(end - place.at), "", NULL, ignore_element, NULL,
                                &found, &place, err);
    return code;
}

/* The same at the end of a text that is longer than what recognising looks at. */
static const sl_format *
ends_as(const sl_raw *raw, const sl_format *used, sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_TEXT || raw->size <= SL_SAMPLE_HEAD_BYTES)
        return NULL;
    const sl_raw end = {raw->name, raw->text + raw->size - SL_SAMPLE_HEAD_BYTES,
                        SL_SAMPLE_HEAD_BYTES};
    sl_sample_take(&end, sample);
    return also_recognises(sample, used);
}

/* What the text is, and where it begins: JSON may stand behind a prompt. */
static sl_code
recognise(sl_raw *raw, sl_arena *arena, const sl_format **format, const sl_format **other,
          uint32_t *confidence, sl_errors *err)
{
    sl_sample *const sample = sl_arena_alloc(arena, 1, sizeof *sample);
    sl_raw bare;

    if (sample == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
    sl_sample_take(raw, sample);
    *format = most_sure(sample, confidence);
    if (*format != NULL) {
        *other = also_recognises(sample, *format);
        if (*other == NULL)
            *other = ends_as(raw, *format, sample);
        return SL_OK;
    }
    if (sample->shape == SL_SHAPE_TEXT && sl_tidy_json(raw, arena, &bare)) {
        sl_sample_take(&bare, sample);
        *format = most_sure(sample, confidence);
        if (*format != NULL) {
            *raw = bare;
            return SL_OK;
        }
        sl_sample_take(raw, sample);
    }
    if (sample->shape == SL_SHAPE_JSON) {
        const sl_code whole = check_brackets(raw, err);
        if (whole != SL_OK)
            return whole;
    }
    return sl_intake_refuse(sample, err);
}

sl_code
sl_intake_read(const sl_raw *raw, const sl_format *format, sl_findings *findings,
               const sl_format **used, uint32_t *confidence, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && used != NULL && confidence != NULL && err != NULL);

    sl_arena *const arena = sl_findings_arena(findings);
    const sl_format *other = NULL;
    sl_raw text, clean;

    *used = format;
    *confidence = 100;
    sl_code code = sl_tidy_utf16(raw, arena, &text, err);
    if (code != SL_OK)
        return code;
    clean = sl_tidy_escapes(&text, arena);
    clean = sl_tidy_prompts(&clean, arena);
    code = sl_tidy_prefixes(&clean, arena, &clean, err);
    if (code == SL_OK && format == NULL)
        code = recognise(&clean, arena, used, &other, confidence, err);
    if (code != SL_OK)
        return code;
    assert(*used != NULL);
    code = sl_findings_file(findings, raw->name, (*used)->name, err);
    if (code == SL_OK && other != NULL)
        sl_findings_warn(findings, "several_outputs", 0, NULL,
                         "only what %s prints is read; what looks like %s as well is passed: send "
                         "it as a file of its own",
                         (*used)->name, other->name);
    return code == SL_OK ? (*used)->read(&clean, findings, err) : code;
}
