/** Files compiled into the binary as bytes by sl_embed() of server/embed.cmake. */
#ifndef SL_BASE_EMBED_H
#define SL_BASE_EMBED_H

#include <stddef.h>

typedef struct sl_embedded {
    const char *name;          /* path below the folder that was embedded, "gpus.csv" */
    const unsigned char *data; /* a NUL follows the last byte and is not counted in size */
    size_t size;
} sl_embedded;

typedef struct sl_embedded_set {
    const sl_embedded *files; /* sorted by name */
    size_t count;
} sl_embedded_set;

/** NULL when the set has no such file. */
const sl_embedded *sl_embedded_find(const sl_embedded_set *set, const char *name);

#endif
