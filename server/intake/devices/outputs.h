/** What a tool printed in JSON on many hosts, as it is collected into one text. */
#ifndef SL_INTAKE_DEVICES_OUTPUTS_H
#define SL_INTAKE_DEVICES_OUTPUTS_H

#include "intake/syntax/json_walk.h"

/** One JSON document, for the length of a visit. */
typedef struct sl_output {
    const sl_node *root;
    const char *host; /* whose it is; "" where no line names it */
    const char *text;
    size_t size;
    uint32_t line; /* of the file, on which it begins */
} sl_output;

/**
 * Visits the JSON documents of a text, which may have lines before, between and behind them: what a
 * tool warns of, or whose document the next is. Each is decoded, but for members that are not read,
 * and freed behind the visit. is_read: NULL reads all.
 * SL_E_SYNTAX, rule malformed_json, where none begins. Anything but SL_OK ends the visit.
 */
typedef sl_code (*sl_output_visit)(void *context, const sl_output *document, sl_errors *err);
sl_code sl_outputs_each(const char *text, size_t size, sl_member_read is_read,
                        sl_output_visit visit, void *context, sl_errors *err) SL_MUST_CHECK;

/** Where members stand in the text of a document, asked for in their order. Set document and
 * line. */
typedef struct sl_output_cursor {
    const sl_output *document;
    size_t at;
    uint32_t line;
} sl_output_cursor;

/** The line on which `key` stands next; where it does not, the line found last. */
uint32_t sl_output_find(sl_output_cursor *cursor, const char *key);

/** The text of a value that is one and says something, or NULL. */
const char *sl_output_text(const sl_node *value);

#endif
