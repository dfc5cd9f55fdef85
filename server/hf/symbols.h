/** Reading the values of a recipe out of a config: keys, their other names, class defaults. */
#ifndef SL_HF_SYMBOLS_H
#define SL_HF_SYMBOLS_H

#include "hf/place.h"
#include "hf/recipe.h"

enum { SL_HF_EACH_MAX = 16 }; /* values of a recipe that differ from block to block */

typedef struct sl_hf_symbols {
    const sl_node *config;
    bool defaults_only; /* no key of the config is read */
    const sl_hf_symbol *rows;
    size_t count;
    sl_scope scope;
    sl_hf_place each[SL_HF_EACH_MAX]; /* of the rows that differ from block to block, in order */
    bool each_found[SL_HF_EACH_MAX];
    bool members[SL_HF_EACH_MAX][SL_MODEL_LAYERS_MAX]; /* of lists that name blocks, which */
    uint32_t members_end[SL_HF_EACH_MAX];              /* one beyond the last block named */
    char defaulted[112];         /* keys that carry sizes and whose class default was taken */
    char defaulted_experts[112]; /* the same of experts, which a model may turn out not to have */
    const void *blamed; /* the last value that was no object where a key leads through it */
    sl_errors *err;
    sl_code code; /* the first failure; reading goes on, so that one answer names every fault */
} sl_hf_symbols;

/** Reads every value that holds for all blocks, and finds the lists of the others. What the caller
 * knows is in `scope` already. */
void sl_hf_symbols_read(sl_hf_symbols *symbols);

/**
 * Sets the values of one block of a stack of `blocks`, and gives them in the order of the rows.
 * False, after an error for each, when some cannot be read. `spare`: entries that a list may have
 * beyond the blocks, for layers that are not counted.
 */
bool sl_hf_symbols_read_block(sl_hf_symbols *symbols, uint64_t block, uint64_t blocks,
                              uint64_t spare, uint64_t values[SL_HF_EACH_MAX], uint32_t *count);

#endif
