/** What the two files that read values share. */
#ifndef SL_HF_SYMBOLS_PARTS_H
#define SL_HF_SYMBOLS_PARTS_H

#include "hf/symbols.h"

/** Keeps the first failure. */
void sl_hf_symbols_note(sl_hf_symbols *symbols, sl_code code);

/** Whether it differs from block to block. */
bool sl_hf_symbol_is_each(const sl_hf_symbol *row);

/** Reads the list of the each-th of those rows, which names blocks. */
void sl_hf_symbols_members(sl_hf_symbols *symbols, uint32_t each);

/* One value: false after an error. */
bool sl_hf_symbols_number(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node,
                          uint64_t *out);
bool sl_hf_symbols_choice(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node,
                          uint64_t *out);
bool sl_hf_symbols_compute(sl_hf_symbols *symbols, const sl_hf_symbol *row, const char *expression,
                           uint64_t *out);

#endif
