/** One reading of a config.json: shared by the files that do it, and by nothing else. */
#ifndef SL_HF_READER_H
#define SL_HF_READER_H

#include "hf/table.h"
#include "json/reader.h"

/** `code` keeps the first failure while reading goes on, so that one answer names every fault of
 * the config. */
typedef struct sl_hf_reader {
    const sl_node *config;
    const sl_hf_type *type;
    sl_errors *warnings;
    sl_errors *err;
    sl_code code;
    uint32_t traits; /* those of the row, with the config's flags applied */
    uint64_t values[SL_HF_FIELD_COUNT];
    bool valid[SL_HF_FIELD_COUNT];
    char defaulted[112]; /* names of keys whose class default was taken */
    char architecture[64];
    bool has_head;
    uint64_t mtp_layers; /* for multi-token prediction: in checkpoints, not in the class */
} sl_hf_reader;

/** Keeps the first failure. */
void sl_hf_note(sl_hf_reader *reader, sl_code code);

bool sl_hf_has(const sl_hf_reader *reader, uint32_t trait);

/** The file, then the alias, then the class default, into values[field]. */
void sl_hf_read_field(sl_hf_reader *reader, sl_hf_field field);

/** Every field but those of the window, which not every config reads. */
void sl_hf_read_fields(sl_hf_reader *reader);

bool sl_hf_read_flag(sl_hf_reader *reader, const char *name, bool fallback);

/** Applies the flags of the row to `traits`. */
void sl_hf_read_flags(sl_hf_reader *reader);

/** Fields that follow from others when the class derives them. */
void sl_hf_derive_fields(sl_hf_reader *reader);

/** Which blocks are windowed and which have experts; needs the fields. */
void sl_hf_read_blocks(sl_hf_reader *reader, sl_dense_spec *spec);

/** The shape of every block, of a type that lists them; needs the fields. */
void sl_hf_read_shapes(sl_hf_reader *reader, sl_dense_spec *spec);

#endif
