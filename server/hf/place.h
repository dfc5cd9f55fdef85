/** Where a value stands in a config. */
#ifndef SL_HF_PLACE_H
#define SL_HF_PLACE_H

#include "json/reader.h"

enum { SL_HF_PATH_MAX = 4 }; /* objects and lists that a key leads through */

/** The nodes above the value live here, because errors name them: never copied. */
typedef struct sl_hf_place {
    sl_node chain[SL_HF_PATH_MAX + 1];
    uint32_t depth; /* of the value in the chain */
} sl_hf_place;

typedef enum sl_hf_found {
    SL_HF_ABSENT,
    SL_HF_FOUND,
    SL_HF_BLOCKED /* by the value that the place then is: it has no members */
} sl_hf_found;

/** Follows "a.b.0" from the config: b of the object a, and of that the first element. `length` is
 * that of the path. */
sl_hf_found sl_hf_place_find(const sl_node *config, const char *path, size_t length,
                             sl_hf_place *place);

const sl_node *sl_hf_place_value(const sl_hf_place *place);

/** True for an explicit null. */
bool sl_hf_place_is_null(const sl_hf_place *place);

#endif
