/**
 * What safetensors files say of themselves: a length of 8 bytes, little-endian, then that many
 * bytes of JSON, {"name": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, ...}.
 */
#ifndef SL_HUB_SAFETENSORS_H
#define SL_HUB_SAFETENSORS_H

#include "hub/hub.h"

enum {
    SL_HUB_HEADER_MAX_BYTES = 25000000,    /* as huggingface_hub refuses */
    SL_HUB_INDEX_MAX_BYTES = 32 * 1048576, /* model.safetensors.index.json */
    SL_HUB_SHARDS_MAX = 512
};

/** When to stop reading a long document: looked at every few thousand members. */
typedef struct sl_hub_until {
    const atomic_bool *cancelled;
    double end_s; /* on sl_clock_now_s() */
} sl_hub_until;

/** Bytes of the header, without the eight of its length. False under 8 bytes, or over the limit. */
bool sl_hub_header_size(const char *bytes, size_t size, uint64_t *out);

/**
 * Adds the elements of every tensor of a header (without the eight bytes) to info's total and
 * types. False when it is malformed, has more types than fit, a sum leaves 64 bits, or the time is
 * over: info is then of no use.
 */
bool sl_hub_header_count(const char *json, size_t size, const sl_hub_until *until,
                         sl_hub_info *info);

/**
 * The files an index names, each once, in the arena: *out has *count. False when it is malformed,
 * names none or more than SL_HUB_SHARDS_MAX, or one that is no plain name of a safetensors file, or
 * when the time is over.
 */
bool sl_hub_index_shards(const char *json, size_t size, const sl_hub_until *until, sl_arena *arena,
                         const char ***out, size_t *count);

#endif
