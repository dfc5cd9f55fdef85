/** Plain scalars of YAML as values of JSON: the core schema of YAML 1.2, where "no" is a text. */
#ifndef SL_INTAKE_SYNTAX_YAML_SCALAR_H
#define SL_INTAKE_SYNTAX_YAML_SCALAR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/**
 * Appends null, true, false or a number where the core schema says that the text is one, and false
 * where it is a text. Texts as well, though the schema has numbers there: leading zeros ("007" is a
 * name), more than 18 digits, infinities and what is no number.
 */
bool sl_yaml_plain(sl_buffer *out, const char *text, size_t size);

/** Appends a text of JSON, quotes included. */
void sl_yaml_quoted(sl_buffer *out, const char *text, size_t size);

#endif
