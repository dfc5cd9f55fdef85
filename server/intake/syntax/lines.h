/** A text line by line, with numbers. */
#ifndef SL_INTAKE_SYNTAX_LINES_H
#define SL_INTAKE_SYNTAX_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Set text and end, and zero the rest. */
typedef struct sl_lines {
    const char *at, *end;
    uint32_t number; /* of the line read last, from 1 */
} sl_lines;

/** The next line without its end; '\r' before the end is not of it, nor a byte order mark before
 * the first line. False at the end of the text. */
bool sl_lines_next(sl_lines *lines, const char **line, size_t *length);

/** The same, copied and NUL-terminated; a line of `size` bytes or more is cut, and *cut says so.
 * NUL bytes and tabs become blanks, ANSI colour sequences vanish. */
bool sl_lines_copy(sl_lines *lines, char *to, size_t size, bool *cut);

/** Bytes of the terminal sequence at `at`; 0 where none begins. */
size_t sl_escape_size(const char *at, size_t rest);

#endif
