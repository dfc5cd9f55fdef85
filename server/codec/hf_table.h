/**
 * What the configuration classes of the Hugging Face library assume: which keys a class reads,
 * under which names, and what an absent key means. One row per model_type; hf_config.c does the
 * rest.
 */
#ifndef SL_CODEC_HF_TABLE_H
#define SL_CODEC_HF_TABLE_H

#include <stddef.h>

#include "shardline/model.h"

typedef enum sl_hf_field {
    SL_HF_VOCABULARY,
    SL_HF_HIDDEN,
    SL_HF_FFN,
    SL_HF_BLOCKS,
    SL_HF_HEADS,
    SL_HF_KV_HEADS,
    SL_HF_HEAD_DIM,
    SL_HF_POSITIONS,
    SL_HF_WINDOW,
    SL_HF_FULL_BLOCKS, /* blocks before the first windowed one */
    SL_HF_FIELD_COUNT
} sl_hf_field;

typedef struct sl_hf_key {
    const char *name;  /* NULL: the classes of this naming have no such key */
    const char *alias; /* another accepted name, or NULL */
} sl_hf_key;

typedef struct sl_hf_type {
    const char *model_type;
    const char *causal_class; /* with a language-model head */
    const char *base_class;   /* without one */
    const char *dtype;        /* of checkpoints whose config does not say */
    sl_naming naming;
    const sl_hf_key *keys; /* by sl_hf_field */
    /* When the key is absent; 0: derived from other fields (for SL_HF_WINDOW: the class has none).
     */
    uint64_t fallbacks[SL_HF_FIELD_COUNT];
    bool tied;           /* when tie_word_embeddings is absent */
    bool gated_mlp;      /* three matrices */
    bool layer_norm;     /* LayerNorm with bias; else RMSNorm */
    bool qk_norm;        /* per head */
    bool qkv_bias;       /* always, no key for it */
    bool output_bias;    /* likewise */
    bool mlp_bias;       /* likewise */
    bool attention_bias; /* reads attention_bias: q, k, v and o */
    bool reads_mlp_bias; /* reads mlp_bias: gate, up and down */
    bool window_switch;  /* a window only with use_sliding_window; layer_types may place it */
    const char *refused; /* a flag that adds layers we do not describe; NULL = none */
} sl_hf_type;

/** NULL when the type is not modelled. */
const sl_hf_type *sl_hf_type_find(const char *model_type);

/** "llama, mistral, ...": what sl_hf_type_find knows. */
const char *sl_hf_type_names(void);

#endif
