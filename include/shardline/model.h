/**
 * The one description of a model: an ordered list of layers, each of a layer kind; a kind is a list
 * of tensors and a list of operators. Counts, bytes, FLOPs, activations, times and shards all
 * derive from it. Nothing about an architecture is written anywhere else.
 */
#ifndef SHARDLINE_MODEL_H
#define SHARDLINE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "shardline/error.h"

enum {
    SL_MODEL_LAYERS_MAX = 2048, /* blocks, embedding and head together */
    SL_KINDS_MAX = 8,           /* kinds of one model */
    SL_KIND_TENSORS_MAX = 32,
    SL_KIND_OPERATORS_MAX = 24,
    SL_TENSOR_AXES_MAX = 4,
    SL_MODEL_WIDTH_MAX = 1 << 24 /* features of any one matrix side but the vocabulary's */
};

/** Rows of the token and of the position table, at most. With SL_MODEL_WIDTH_MAX and
 * SL_MODEL_LAYERS_MAX it keeps every count, and its bytes at 4 per element, inside uint64_t. */
#define SL_MODEL_ROWS_MAX (UINT64_C(1) << 32)

/** What a parameter is counted as; the order is that of the API's `parameters`. */
typedef enum sl_component {
    SL_COMPONENT_EMBEDDING,
    SL_COMPONENT_LM_HEAD,
    SL_COMPONENT_ATTENTION,
    SL_COMPONENT_MLP,
    SL_COMPONENT_ROUTED_EXPERTS,
    SL_COMPONENT_SHARED_EXPERTS,
    SL_COMPONENT_ROUTER,
    SL_COMPONENT_NORMS,
    SL_COMPONENT_STATE_SPACE,
    SL_COMPONENT_OTHER,
    SL_COMPONENT_COUNT
} sl_component;

/** How tensor parallelism cuts a tensor or an operator (Shoeybi 2019, section 3). */
typedef enum sl_cut {
    SL_CUT_REPLICATED, /* every tensor-parallel rank holds it whole */
    SL_CUT_COLUMN,     /* the output features are cut */
    SL_CUT_ROW,        /* the input features are cut */
    SL_CUT_VOCABULARY, /* the vocabulary rows are cut, after padding */
    SL_CUT_COUNT
} sl_cut;

typedef struct sl_tensor {
    char name[48]; /* as in the checkpoint, below the kind's prefix: "self_attn.q_proj.weight" */
    uint32_t axes;
    uint64_t shape[SL_TENSOR_AXES_MAX]; /* as in the checkpoint */
    sl_component component;
    /* A column cut of a fused projection (q, k and v in one tensor) cuts each part, so the slice of
     * a rank is not one range of the axis. */
    sl_cut cut;
    uint32_t cut_axis; /* of shape; meaningless when replicated */
    bool tied;         /* the same storage as the embedding: counted there, not here */
} sl_tensor;

typedef enum sl_operator_kind {
    SL_OPERATOR_LOOKUP,     /* embedding rows by token */
    SL_OPERATOR_NORM,       /* RMSNorm or LayerNorm over `inputs` */
    SL_OPERATOR_MATMUL,     /* inputs -> outputs per token */
    SL_OPERATOR_ROTARY,     /* position rotation of queries and keys */
    SL_OPERATOR_ATTENTION,  /* scores, softmax, values */
    SL_OPERATOR_ACTIVATION, /* inputs -> outputs; gated when inputs = 2 * outputs */
    SL_OPERATOR_RESIDUAL,   /* dropout (where the workload has it) and add */
    SL_OPERATOR_LOSS,       /* cross-entropy over `inputs` logits */
    SL_OPERATOR_KIND_COUNT
} sl_operator_kind;

/**
 * Widths are elements per token of the whole (uncut) operator. What the operator keeps for the
 * backward pass and what it costs follow from kind and widths (engine/operator.h).
 */
typedef struct sl_operator {
    char name[24]; /* "qkv", "attention", "mlp_up": stable, shown to users */
    sl_operator_kind kind;
    sl_cut cut; /* COLUMN opens a tensor-parallel region, ROW closes it */
    uint64_t inputs;
    uint64_t outputs;
    uint32_t heads; /* attention and rotary only, like the next three */
    uint32_t kv_heads;
    uint32_t head_dim;
    uint32_t window;   /* positions a query sees; 0 = all before it */
    bool shares_input; /* its input is kept by the operator before it: not counted twice */
} sl_operator;

typedef struct sl_layer_kind {
    char name[24];   /* "embedding", "dense", "head" */
    char prefix[48]; /* "model.layers.{}." with {} the block number, or "" */
    uint32_t tensor_count;
    uint32_t operator_count;
    sl_tensor tensors[SL_KIND_TENSORS_MAX];
    sl_operator operators[SL_KIND_OPERATORS_MAX];
} sl_layer_kind;

typedef struct sl_model {
    char name[200];    /* as the user named it */
    char revision[41]; /* commit, or "" */
    char architecture[64];
    char model_type[32];
    uint64_t hidden;
    uint64_t ffn;
    uint64_t vocabulary;
    uint64_t position_limit; /* learned positions or declared context; 0 = not said */
    uint32_t heads;
    uint32_t kv_heads;
    uint32_t head_dim;
    uint32_t checkpoint_element_bytes; /* 2 for bf16 and fp16, 4 for fp32 */
    char checkpoint_dtype[8];          /* "bf16" */
    char quantization[32];             /* method the checkpoint was quantised with, or "" */
    uint64_t quantized_weights_bytes;  /* of a quantised checkpoint whose layout is known; else 0 */
    bool tied;                         /* the head shares the embedding's storage */
    bool has_head; /* a class without a head (a base model) ends with its final norm */
    uint32_t kind_count;
    sl_layer_kind kinds[SL_KINDS_MAX];
    uint32_t layer_count;                /* embedding, blocks, head: stages cut this list */
    uint32_t block_count;                /* layers that are neither embedding nor head */
    uint8_t layers[SL_MODEL_LAYERS_MAX]; /* index into kinds */
} sl_model;

/** Text of the API: "embedding", "lm_head" ... and "replicated", "column", "row", "vocabulary". */
const char *sl_component_text(sl_component component);
const char *sl_cut_text(sl_cut cut);

/** Elements of one tensor as stored once: the product of its shape. Checked: SL_E_RANGE. */
sl_code sl_tensor_elements(const sl_tensor *tensor, uint64_t *out) SL_MUST_CHECK;

typedef struct sl_model_counts {
    uint64_t component[SL_COMPONENT_COUNT];
    uint64_t total;            /* distinct parameters: a tied head counts once, in the embedding */
    uint64_t active_per_token; /* total less the routed experts a token does not visit */
} sl_model_counts;

/**
 * Parameters by component over all layers.
 *
 *   sum over layers of the elements of every tensor that is not tied
 *
 * No kind described so far holds routed experts, so active_per_token equals total.
 * SL_E_RANGE when a sum leaves uint64_t; *out is then untouched.
 * Source: derived. Pinned by golden/param_counts.csv.
 */
sl_code sl_model_count(const sl_model *model, sl_model_counts *out) SL_MUST_CHECK;

/** Bytes of weights as stored: the total at the checkpoint's element size, or what the quantised
 * checkpoint holds where that is known. */
uint64_t sl_model_weights_bytes(const sl_model *model, const sl_model_counts *counts);

/** Layers of `model` that are of kind `kind`. */
uint32_t sl_model_layers_of(const sl_model *model, uint32_t kind);

/** Positions a layer of the kind keeps keys and values for; 0 = all, or no attention at all. */
uint32_t sl_kind_window(const sl_layer_kind *kind);

/**
 * Bytes of keys and values of one token in one layer of the kind; 0 without attention.
 *
 *   2 * kv_heads * head_dim * element_bytes
 */
uint64_t sl_kind_kv_bytes(const sl_layer_kind *kind, uint32_t element_bytes);

/**
 * What a dense decoder needs to be described. The codec fills it from a config; tests fill it by
 * hand. Names of tensors come from `naming`.
 */
typedef enum sl_naming { SL_NAMING_LLAMA, SL_NAMING_GPT2, SL_NAMING_COUNT } sl_naming;

typedef struct sl_dense_spec {
    sl_naming naming;
    uint32_t blocks;
    uint64_t hidden;
    uint64_t ffn;
    uint64_t vocabulary;
    uint64_t learned_positions; /* 0 = none (rotary) */
    uint32_t heads;
    uint32_t kv_heads;
    uint32_t head_dim;
    uint32_t window;        /* 0 = full attention */
    uint32_t windowed_from; /* blocks from this one on are windowed, those before see everything */
    bool gated_mlp;
    bool layer_norm; /* LayerNorm with bias; else RMSNorm */
    bool qkv_bias;
    bool output_bias;
    bool mlp_bias;
    bool qk_norm; /* one norm of head_dim for queries and one for keys */
    bool tied;
    bool has_head;
} sl_dense_spec;

/**
 * Fills kinds, layers and shape of `model` from spec; name, revision, architecture, model_type,
 * quantisation and checkpoint dtype are the caller's and stay as they are. position_limit becomes
 * the number of learned positions.
 *
 * Kinds, in order: "embedding"; "dense"; "dense_window" when windowed blocks follow full ones;
 * "head". Every size must be at least 1, and GPT-2 naming has neither gated MLP nor query and key
 * norms, llama naming no learned positions (asserted).
 * Errors: SL_E_RANGE, rule out_of_range, when blocks + 2 exceeds SL_MODEL_LAYERS_MAX, a width
 * exceeds SL_MODEL_WIDTH_MAX or a table SL_MODEL_ROWS_MAX; *model is then untouched.
 * Source: tensors as the classes of the Hugging Face library name and shape them; cuts of Shoeybi
 * 2019, section 3.
 */
sl_code sl_model_describe_dense(const sl_dense_spec *spec, sl_model *model,
                                sl_errors *err) SL_MUST_CHECK;

#endif
