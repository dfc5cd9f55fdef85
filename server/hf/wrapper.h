/**
 * Configs of several parts: a language model and towers for images or sound beside it. The language
 * part is planned where its type is; the towers are counted.
 */
#ifndef SL_HF_WRAPPER_H
#define SL_HF_WRAPPER_H

#include "hf/recipe.h"

typedef enum sl_hf_no_text {
    SL_HF_TEXT_REQUIRED, /* it is refused */
    SL_HF_TEXT_FLAT,     /* an older file: those keys stand at the top */
    SL_HF_TEXT_DEFAULTS  /* the class reads no other keys, and takes its defaults */
} sl_hf_no_text;

typedef struct sl_hf_wrapper {
    const char *model_type;
    const char *classes;   /* names of `architectures`, parted by blanks, the usual one first */
    const char *text_key;  /* object with the keys of the language part */
    sl_hf_no_text no_text; /* what a file without that object means */
    const char *text_type; /* when that object names no model_type */
    const char *prefix;    /* of the language part's tensors, in place of "model." */
    const char *head;      /* the same of "lm_head." */
    const sl_hf_symbol *symbols;
    size_t symbol_count;
    const sl_stack *towers;
    size_t tower_count;
} sl_hf_wrapper;

/** NULL when the type is no wrapper. */
const sl_hf_wrapper *sl_hf_wrapper_find(const char *model_type);

/** The types there are: `at` counts from 0, NULL after the last. */
const char *sl_hf_wrapper_name(size_t at);

/**
 * Where the language part is read from. `source` holds the whole config; `text` is where the part's
 * node is kept and must outlive it. Rules: required_field, wrong_type, unsupported_architecture.
 */
sl_code sl_hf_wrapper_open(const sl_hf_wrapper *wrapper, const sl_node *config, sl_node *text,
                           sl_hf_source *source) SL_MUST_CHECK;

/** Makes the description of the language part that of the whole: names, class, towers. */
sl_code sl_hf_wrapper_close(const sl_hf_wrapper *wrapper, const sl_node *config, sl_model *model,
                            sl_errors *warnings, sl_errors *err) SL_MUST_CHECK;

/** The rows (recipes_towers.c). */
const sl_hf_wrapper *sl_hf_wrapper_rows(size_t *count);

#endif
