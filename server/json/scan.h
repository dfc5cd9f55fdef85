/**
 * Where the values of a text stand: the text of a document that the parser has accepted, for those
 * who change it and keep the spelling of the rest. Inside server/json only.
 */
#ifndef SL_JSON_SCAN_H
#define SL_JSON_SCAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/** `at` stands on the opening quote; the result behind the closing one, or at the end. Of any
 * text. */
size_t sl_scan_string(const char *text, size_t size, size_t at);

/** A value and how it is spelled. */
typedef struct sl_piece {
    json_t *value; /* borrowed */
    const char *text;
    size_t size;
} sl_piece;

/** The whole document, without the blanks around it. */
sl_piece sl_piece_root(json_t *root, const char *text, size_t size);

/** One after the other through an object or an array. */
typedef struct sl_piece_walk {
    sl_piece container;
    const char *at;
    void *member; /* of an object */
    size_t index; /* of the next element or member */
} sl_piece_walk;

/** A member or an element. The spans follow one another, up to a comma or the closing bracket. */
typedef struct sl_part {
    const char *blanks; /* before the key, or the element */
    size_t blanks_size;
    const char *name; /* of a member, escapes resolved; NULL of an element */
    const char *lead; /* the key as it is spelled, its colon and the blanks around that */
    size_t lead_size;
    sl_piece value;
} sl_part;

sl_piece_walk sl_piece_open(const sl_piece *container);
/** False at the end: `at` then stands on the blanks before the closing bracket. */
bool sl_piece_next(sl_piece_walk *walk, sl_part *out);

#endif
