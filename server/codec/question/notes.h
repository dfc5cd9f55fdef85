/** Assumptions and warnings gathered while a request is read, in the form answers carry them. */
#ifndef SL_CODEC_NOTES_H
#define SL_CODEC_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "shardline/error.h"
#include "json/writer.h"

enum { SL_REQUEST_NOTES_MAX = 32 };

/** As the engine's sl_note, with values in the sentence. */
typedef struct sl_request_note {
    const char *code; /* stable, static */
    bool warning;     /* else an assumption */
    char text[240];
} sl_request_note;

typedef struct sl_notes {
    const char *pool; /* of several, which the next notes are of; NULL: of everything */
    uint32_t count;
    sl_request_note list[SL_REQUEST_NOTES_MAX];
} sl_notes;

/** Appends one; a code that is there already is not repeated, but for pools of which it says other
 * things. `code` is a literal. Beyond SL_REQUEST_NOTES_MAX distinct codes nothing is added: there
 * are fewer in this folder. notes: NULL where nobody reads them. */
void sl_notes_add(sl_notes *notes, const char *code, bool warning, const char *format, ...)
    SL_PRINTF(4, 5);

bool sl_notes_have(const sl_notes *notes, const char *code);

/** One note as answers carry it. */
void sl_note_write(sl_writer *writer, const char *code, const char *message);

/** Faults that became warnings, as elements of an array. An unknown field needs its place; other
 * messages say it. */
void sl_faults_write(sl_writer *writer, const sl_errors *faults);

#endif
