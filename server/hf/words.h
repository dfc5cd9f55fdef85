/** Lists in one text: words parted by blanks in our tables, names parted by commas in an answer. */
#ifndef SL_HF_WORDS_H
#define SL_HF_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Index of `text` among the words; false when it is none of them. */
bool sl_hf_word_find(const char *words, const char *text, bool ignore_case, uint64_t *index);

/** Appends a name to a list in `list`, whole or not at all. */
void sl_hf_name_append(char *list, size_t size, const char *name);

#endif
