/**
 * What the configuration classes of the Hugging Face library assume: which keys a class reads,
 * under which names, and what an absent key means. One row per model_type, in the rows_*.c
 * files; config.c does the rest.
 */
#ifndef SL_HF_TABLE_H
#define SL_HF_TABLE_H

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
    SL_HF_FULL_BLOCKS,     /* blocks before the first windowed one */
    SL_HF_FULL_EVERY,      /* every n-th block sees everything; 0 = no such rule */
    SL_HF_EMBEDDING_WIDTH, /* of a token table narrower than the hidden size */
    SL_HF_EXPERTS,
    SL_HF_EXPERTS_PER_TOKEN,
    SL_HF_EXPERT_WIDTH,   /* 0: SL_HF_FFN */
    SL_HF_SHARED_EXPERTS, /* as wide as a routed one each */
    SL_HF_SHARED_WIDTH,   /* of all shared experts; 0: from their number */
    SL_HF_DENSE_BLOCKS,   /* blocks before the first with experts */
    SL_HF_SPARSE_EVERY,   /* every n-th block has experts */
    SL_HF_QUERY_RANK,
    SL_HF_KV_RANK, /* 0: no latent attention */
    SL_HF_PLAIN_DIM,
    SL_HF_ROTARY_DIM,
    SL_HF_VALUE_DIM,
    SL_HF_INDEX_HEADS,
    SL_HF_INDEX_DIM,
    SL_HF_FIELD_COUNT
} sl_hf_field;

typedef struct sl_hf_key {
    const char *name;  /* "a.b" is b of the object a; NULL: no such key, the fallback holds */
    const char *alias; /* another accepted name, or NULL */
} sl_hf_key;

/** What a class has, always or behind a flag of the config. */
enum {
    SL_HF_TIED = 1 << 0, /* when tie_word_embeddings is absent */
    SL_HF_GATED = 1 << 1,
    SL_HF_LAYER_NORM = 1 << 2, /* with bias */
    SL_HF_QKV_BIAS = 1 << 3,
    SL_HF_OUTPUT_BIAS = 1 << 4,
    SL_HF_MLP_BIAS = 1 << 5,
    SL_HF_HEAD_BIAS = 1 << 6,
    SL_HF_QK_NORM = 1 << 7, /* of the row's form */
    SL_HF_LEARNED_POSITIONS = 1 << 8,
    SL_HF_NO_ROTARY = 1 << 9,
    SL_HF_EMBEDDING_NORM = 1 << 10,
    SL_HF_NORM_WEIGHTLESS = 1 << 11,
    SL_HF_NO_FINAL_NORM = 1 << 12,
    SL_HF_WINDOWED = 1 << 13,        /* reads the window; layer_types may place it */
    SL_HF_WINDOW_SWITCH = 1 << 14,   /* only with use_sliding_window */
    SL_HF_PARALLEL = 1 << 15,        /* attention and MLP side by side, a norm each */
    SL_HF_ONE_NORM = 1 << 16,        /* ... both behind one norm */
    SL_HF_LATE_NORM = 1 << 17,       /* norms after the residual, and no final one */
    SL_HF_ONE_KV_HEAD = 1 << 18,     /* whatever the number of key-value heads says */
    SL_HF_ALL_KV_HEADS = 1 << 19,    /* as many as attention heads, likewise */
    SL_HF_FALCON = 1 << 20,          /* the three attention layouts of Falcon */
    SL_HF_TWO_UP_FFN = 1 << 21,      /* intermediate_size is of gate and up together (Qwen 1) */
    SL_HF_SHARED_GATE = 1 << 22,     /* a scalar gate on the shared experts */
    SL_HF_EXPERT_BIAS = 1 << 23,     /* on router and experts */
    SL_HF_SINKS = 1 << 24,           /* gpt-oss */
    SL_HF_SPARSE_FIRST = 1 << 25,    /* SPARSE_EVERY counts from block 0; else the n-th is first */
    SL_HF_ROUTER_BUFFER = 1 << 26,   /* e_score_correction_bias: stored, but no parameter */
    SL_HF_SPARE_POSITIONS = 1 << 27, /* two rows of the position table are no position (OPT) */
    SL_HF_LEARNED_ACTIVATION = 1 << 28, /* Apertus */
    SL_HF_BLOCK_SHAPES = 1 << 29,       /* block_configs gives each block widths of its own */
    SL_HF_NORM_UNBIASED = 1 << 30       /* LayerNorm with weight alone */
};

#define SL_HF_ATTENTION_BIAS (SL_HF_QKV_BIAS | SL_HF_OUTPUT_BIAS)
#define SL_HF_ALL_BIAS (SL_HF_ATTENTION_BIAS | SL_HF_MLP_BIAS)

typedef struct sl_hf_flag {
    const char *key; /* NULL ends the list */
    uint32_t traits; /* set when the key says so, taken away when it does not */
    bool fallback;   /* of the key */
    bool inverted;   /* false is what sets them */
} sl_hf_flag;

enum { SL_HF_FLAGS_MAX = 5 };

typedef struct sl_hf_type {
    const char *model_type;
    const char *causal_class; /* with a language-model head */
    const char *base_class;   /* without one; NULL = that class has a head too */
    const char *dtype;        /* of checkpoints whose config does not say; NULL = bfloat16 */
    const sl_hf_key *keys;    /* by sl_hf_field */
    sl_naming naming;
    sl_block_form form;
    sl_qk_norm qk_norm; /* its form, where SL_HF_QK_NORM is set */
    uint32_t traits;
    sl_hf_flag flags[SL_HF_FLAGS_MAX];
    const char *refused;    /* a key that adds layers we do not describe; NULL = none */
    const char *activation; /* when the config does not say; NULL = some kernel of its own */
    bool wide_norms;        /* multiplies by the weight of a norm before it casts back */
    bool caps;              /* scores and logits, when the config does not say */
    bool relaid;            /* joins the rotary part of queries and the rest */
    /* When the key is absent; 0: derived from other fields, or none. */
    uint64_t fallbacks[SL_HF_FIELD_COUNT];
} sl_hf_type;

/** The first fields of `fallbacks`, which every row has. */
#define SL_HF_SHAPE(vocabulary, hidden, ffn, blocks, heads, positions)                             \
    [SL_HF_VOCABULARY] = (vocabulary), [SL_HF_HIDDEN] = (hidden), [SL_HF_FFN] = (ffn),             \
    [SL_HF_BLOCKS] = (blocks), [SL_HF_HEADS] = (heads), [SL_HF_POSITIONS] = (positions)

/** Key names that most classes share. */
#define SL_HF_LLAMA_KEYS                                                                           \
    [SL_HF_VOCABULARY] = {"vocab_size", NULL}, [SL_HF_HIDDEN] = {"hidden_size", NULL},             \
    [SL_HF_FFN] = {"intermediate_size", NULL}, [SL_HF_BLOCKS] = {"num_hidden_layers", NULL},       \
    [SL_HF_HEADS] = {"num_attention_heads", NULL},                                                 \
    [SL_HF_KV_HEADS] = {"num_key_value_heads", NULL}, [SL_HF_HEAD_DIM] = {"head_dim", NULL},       \
    [SL_HF_POSITIONS] = {"max_position_embeddings", NULL},                                         \
    [SL_HF_WINDOW] = {"sliding_window", NULL}, [SL_HF_FULL_BLOCKS] = {"max_window_layers", NULL}

typedef struct sl_hf_rows {
    const sl_hf_type *rows;
    size_t count;
} sl_hf_rows;

/** Decoders that differ from Llama in flags and names. */
extern const sl_hf_rows sl_hf_llama_rows;
/** Older decoders, each with key names and blocks of its own. */
extern const sl_hf_rows sl_hf_gpt_rows;
/** Mixtures of experts and latent attention. */
extern const sl_hf_rows sl_hf_expert_rows;

/** NULL when the type is not modelled. */
const sl_hf_type *sl_hf_type_find(const char *model_type);

/** The types there are: `at` counts from 0, NULL after the last. */
const char *sl_hf_type_name(size_t at);

#endif
