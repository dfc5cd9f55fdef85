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
