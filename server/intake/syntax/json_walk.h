/**
 * A walk over the brackets of a JSON text, which understands only what tells strings from structure:
 * where values end, and what of them is read. Of any text; what is no JSON is the decoder's to
 * refuse, but for brackets that do not match and texts that do not end.
 */
#ifndef SL_INTAKE_SYNTAX_JSON_WALK_H
#define SL_INTAKE_SYNTAX_JSON_WALK_H

#include "base/buffer.h"
#include "json/reader.h"

typedef struct sl_json_walk {
    const char *at, *end;
    uint32_t depth;
    char open[SL_JSON_DEPTH_MAX]; /* what closes each */
    const char *counted;          /* up to here lines are counted */
    uint32_t line;                /* of it */
} sl_json_walk;

/** Whether anybody reads a member of that name, which stands `depth` levels inside the value; 1: it
 * is the value's own, 0: it stands around it. */
typedef bool (*sl_member_read)(uint32_t depth, const char *name, size_t size);

sl_json_walk sl_json_walk_new(const char *text, size_t size, uint32_t line);

/** The line that the walk stands on. */
uint32_t sl_json_walk_line(sl_json_walk *walk);

/** SL_E_SYNTAX malformed_json, with the line. */
sl_code sl_json_walk_fault(sl_json_walk *walk, const char *what, sl_errors *err);

void sl_json_walk_blanks(sl_json_walk *walk);

/** One bracket, text, comma or colon, or blanks or a word. SL_E_SYNTAX malformed_json, too_deep. */
sl_code sl_json_walk_step(sl_json_walk *walk, sl_errors *err) SL_MUST_CHECK;

/** To the end of the value that begins here, as steps go. */
sl_code sl_json_walk_value(sl_json_walk *walk, sl_errors *err) SL_MUST_CHECK;

/** How values are read, one after another. */
typedef struct sl_json_cut {
    const char *what;       /* as messages call one: "element" */
    size_t most_bytes;      /* without what is left out */
    sl_member_read is_read; /* NULL reads all */
} sl_json_cut;

/** A value that is cut and not decoded yet. */
typedef struct sl_json_piece {
    const char *source; /* as it came; NULL where it came as something else than JSON */
    size_t source_size;
    bool whole;      /* that is what is read of it; else */
    size_t at, size; /* bytes of the buffer that it was cut into */
    uint32_t line;
} sl_json_piece;

/**
 * The value that begins here, to its end as steps go: what is read of it goes behind what is in
 * `kept`, unless it is the whole. A member that is not read is followed by its brackets only.
 * SL_E_SYNTAX as above.
 */
sl_code sl_json_walk_cut(sl_json_walk *walk, const sl_json_cut *cut, sl_buffer *kept,
                         sl_json_piece *piece, sl_errors *err) SL_MUST_CHECK;

/** A piece of that buffer: *json is the caller's to free. NaN and Infinity are null. SL_E_SYNTAX
 * what the decoder refuses, SL_E_TOO_LARGE. */
sl_code sl_json_piece_decode(const sl_json_piece *piece, const sl_json_cut *cut,
                             const sl_buffer *kept, sl_json **json, sl_errors *err) SL_MUST_CHECK;

/** Both at once; what was in `kept` is replaced. */
sl_code sl_json_walk_decode(sl_json_walk *walk, const sl_json_cut *cut, sl_buffer *kept,
                            sl_json **json, sl_errors *err) SL_MUST_CHECK;

#endif
