/** The lines of Slurm's configuration files: "Key=Value Key=Value ...", keys in any case. */
#ifndef SL_INTAKE_SLURM_KEYS_H
#define SL_INTAKE_SLURM_KEYS_H

#include "base/buffer.h"
#include "intake/format.h"
#include "intake/syntax/lines.h"

enum { SL_SLURM_KEYS_MAX = 64 };

/** A line with those that continue it ('\' at the end), without its comment. */
typedef struct sl_slurm_keys {
    sl_lines lines;
    sl_buffer text;
    uint32_t line; /* where it begins */
    bool too_long; /* it is over the bound, and has no keys */
    uint32_t count;
    struct {
        const char *key;
        const char
            *value; /* without quotes; NULL of a word that is no key: "Include" and its path */
    } list[SL_SLURM_KEYS_MAX];
} sl_slurm_keys;

void sl_slurm_keys_init(sl_slurm_keys *keys, const sl_raw *raw);
void sl_slurm_keys_clear(sl_slurm_keys *keys);

/** The next line that says something. Texts are borrowed until the next call. False at the end. */
bool sl_slurm_keys_next(sl_slurm_keys *keys);

/** The value of a key, or NULL. */
const char *sl_slurm_keys_get(const sl_slurm_keys *keys, const char *key);

/** A line of the head begins with `text`, in any case. */
bool sl_slurm_line_begins(const sl_sample *sample, const char *text);

#endif
