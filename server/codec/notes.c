#include "codec/notes.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>

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

void
sl_notes_add(sl_notes *notes, const char *code, bool warning, const char *format, ...)
{
    assert(notes != NULL && code != NULL && format != NULL);

    if (notes->count == SL_REQUEST_NOTES_MAX || sl_notes_have(notes, code))
        return;
    sl_request_note *const note = &notes->list[notes->count++];
    note->code = code;
    note->warning = warning;
    va_list arguments;
    va_start(arguments, format);
    (void)sl_text_vformat(note->text, sizeof note->text, format, arguments);
    va_end(arguments);
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
