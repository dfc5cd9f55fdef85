/** Copies of a request in which the members at fault have legal values. */
#ifndef SL_CODEC_VARIED_H
#define SL_CODEC_VARIED_H

#include "json/reader.h"

enum { SL_PLACES_MAX = 4 * SL_ERRORS_MAX, SL_PLACE_NAME_SIZE = 64 };

/** A member of the request or of one of its parts. */
typedef struct sl_place {
    char part[SL_PLACE_NAME_SIZE];   /* "parallelism" */
    char member[SL_PLACE_NAME_SIZE]; /* "tensor"; "": the part itself */
    const char *const *values; /* JSON texts to choose from, until NULL; NULL: it is left out */
    bool misspelt;             /* it is missing, and stands there under another name */
} sl_place;

/** Zero-initialise. */
typedef struct sl_places {
    uint32_t count;
    sl_place list[SL_PLACES_MAX];
} sl_places;

/** The place of a fault of the document, and those that it leaves in doubt; each once. */
void sl_places_add(sl_places *places, const sl_node *root, const sl_error *fault);

/** Whether the pointer leads to a place, into one, or to what holds one. */
bool sl_places_touch(const sl_places *places, const char *pointer);

/** Whether the member is there under a name that is not known. */
bool sl_places_misspelt(const sl_places *places, const char *pointer);

/** How many choices of values there are to try, at least 1. */
uint32_t sl_places_choices(const sl_places *places);

/** The document with one choice of values; NULL without memory. The caller's to free. */
sl_json *sl_varied_document(const char *text, const sl_places *places, uint32_t choice,
                            sl_node *root);

#endif
