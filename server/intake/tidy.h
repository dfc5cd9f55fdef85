/** What people leave around the output of a tool: colours, prompts, greetings. Lines keep their
 * numbers. */
#ifndef SL_INTAKE_TIDY_H
#define SL_INTAKE_TIDY_H

#include "intake/format.h"

/** Whether every second byte of the beginning is zero, or a mark says so: what PowerShell writes. */
bool sl_tidy_is_utf16(const sl_raw *raw);

/** UTF-16 as UTF-8; the same text where it is none, or no memory is left. */
sl_raw sl_tidy_utf16(const sl_raw *raw, sl_arena *arena);

/** The text without terminal sequences; the same text where it has none, or no memory is left. */
sl_raw sl_tidy_escapes(const sl_raw *raw, sl_arena *arena);

/** JSON that begins on a line of its own after a few others, as behind a prompt: they, and what follows
 * the last bracket that closes at the end of a line, become blanks. False where none is there. */
bool sl_tidy_json(const sl_raw *raw, sl_arena *arena, sl_raw *out);

#endif
