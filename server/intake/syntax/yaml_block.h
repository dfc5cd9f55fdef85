/**
 * Lines of YAML in block style whose place in the document is beyond doubt: mappings and sequences
 * by indentation, keys, and values that are plain, quoted, literal, folded or empty brackets. It
 * reads no value, and whatever else YAML can say is doubtful: this tells only what libyaml would.
 */
#ifndef SL_INTAKE_SYNTAX_YAML_BLOCK_H
#define SL_INTAKE_SYNTAX_YAML_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SL_YAML_LEVELS_MAX = 32 };

/** A collection that is open. */
typedef struct sl_yaml_level {
    uint32_t column;
    uint32_t number; /* which of the text's collections it is */
    bool mapping;
} sl_yaml_level;

/** A line of the text without its break, blanks before it and behind it. */
typedef struct sl_yaml_line {
    const char *from, *end;
    uint32_t column;
} sl_yaml_line;

typedef struct sl_yaml_block {
    const char *at, *end; /* of the text: where the next line begins */
    sl_yaml_level open[SL_YAML_LEVELS_MAX];
    uint32_t depth;
    uint32_t numbered;
    bool awaits; /* the innermost collection's last key or dash has no value yet */
    sl_yaml_line line;
} sl_yaml_block;

/** A line and all that its value goes on over. */
typedef struct sl_yaml_step {
    const char *from; /* where the line begins, blanks and all */
    bool node;        /* else it is empty or a comment */
    uint32_t
        item_depth;     /* levels that are open with the sequence whose item begins; 0: none does */
    uint32_t key_depth; /* with the mapping whose key this is; 0: there is no key */
    const char *key;    /* without quotes; no escape is in it */
    size_t key_size;
    bool first; /* of its mapping */
} sl_yaml_step;

sl_yaml_block sl_yaml_block_new(const char *text, size_t size);

/** False where there is doubt, or no line is left: nothing of the block counts then. */
bool sl_yaml_block_step(sl_yaml_block *block, sl_yaml_step *out);

#endif
