/**
 * What was copied out of a terminal: several commands at their prompts, each with what it printed.
 */
#ifndef SL_INTAKE_SESSION_H
#define SL_INTAKE_SESSION_H

#include "intake/format.h"

enum { SL_SESSION_MAX_BYTES = 2 * 1024 * 1024 };

typedef struct sl_session {
    sl_raw raw;
    const char *at;
    uint32_t lines; /* before `at` */
} sl_session;

/** False where the text is none: fewer than two commands printed something, or it is longer or holds
 * more of them than people copy, SL_FINDINGS_FILES_MAX. */
bool sl_session_open(const sl_raw *raw, sl_session *out);

/**
 * What the next command printed, with the number of each of its lines; its name is the command,
 * behind that of the file. *more is false behind the last one. SL_E_MEMORY.
 */
sl_code sl_session_next(sl_session *session, sl_arena *arena, sl_raw *out, bool *more,
                        sl_errors *err) SL_MUST_CHECK;

#endif
