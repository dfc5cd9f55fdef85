#include "codec/question/notes.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"

bool
sl_notes_have(const sl_notes *notes, const char *code)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        if (sl_text_equal(notes->list[i].code, code))
            return true;
    }
    return false;
}

/* Whether a note says so already: any with the code, or of a pool the same of another. */
static bool
is_said(const sl_notes *notes, const char *code, const char *text)
{
    for (uint32_t i = 0; notes->pool != NULL && i < notes->count; i++)
        if (sl_text_equal(notes->list[i].code, code) && strstr(notes->list[i].text, text) != NULL)
            return true;
    return notes->pool == NULL && sl_notes_have(notes, code);
}

void
sl_notes_add(sl_notes *notes, const char *code, bool warning, const char *format, ...)
{
    assert(code != NULL && format != NULL);

    if (notes == NULL)
        return;
    char text[sizeof notes->list[0].text];
    va_list arguments;
    va_start(arguments, format);
    (void)sl_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    if (notes->count == SL_REQUEST_NOTES_MAX || is_said(notes, code, text))
        return;
    sl_request_note *const note = &notes->list[notes->count++];
    note->code = code;
    note->warning = warning;
    (void)sl_text_format(note->text, sizeof note->text, "%s%.40s%s%s",
                         notes->pool != NULL ? "pool " : "", notes->pool != NULL ? notes->pool : "",
                         notes->pool != NULL ? ": " : "", text);
}

void
sl_note_write(sl_writer *writer, const char *code, const char *message)
{
    sl_write_object(writer);
    sl_put_text(writer, "code", code);
    sl_put_text(writer, "message", message);
    sl_write_object_end(writer);
}

void
sl_faults_write(sl_writer *writer, const sl_errors *faults)
{
    for (uint32_t i = 0; i < faults->count; i++) {
        const sl_error *const fault = &faults->list[i];
        const bool placed = sl_text_equal(fault->rule, "unknown_field");
        char text[sizeof fault->pointer + sizeof fault->message + 2];
        (void)sl_text_format(text, sizeof text, "%s%s%s", placed ? fault->pointer : "",
                             placed ? ": " : "", fault->message);
        sl_note_write(writer, fault->rule, text);
    }
}
