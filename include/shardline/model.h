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
#include "shardline/quantization.h"

enum {
    SL_MODEL_LAYERS_MAX = 2048, /* blocks, embedding and head together */
    SL_SHAPES_MAX = 24,         /* block shapes of one spec */
    SL_KINDS_MAX = 256,         /* kinds of one model: what `layers` can number */
    SL_DECODER_KINDS_MAX = 28,  /* ... of a model from a config, whose kinds hold much more */
    SL_KIND_NAME_MAX = 47,
    SL_KIND_TENSORS_MAX = 48,
    SL_KIND_OPERATORS_MAX = 40,
    SL_MODEL_TENSORS_MAX = SL_DECODER_KINDS_MAX * SL_KIND_TENSORS_MAX,
    SL_MODEL_OPERATORS_MAX = SL_DECODER_KINDS_MAX * SL_KIND_OPERATORS_MAX,
    SL_TENSOR_AXES_MAX = 4,
    SL_TENSOR_PARTS_MAX = 3,     /* of a fused projection: queries, keys, values */
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
    char name[64]; /* as in the checkpoint, below the kind's prefix: "self_attn.q_proj.weight" */
    uint32_t axes;
    uint64_t shape[SL_TENSOR_AXES_MAX]; /* as in the checkpoint */
    sl_component component;
    /* A column cut of a fused projection (q, k and v in one tensor) cuts each part, so the slice of
     * a rank is not one range of the axis. */
    sl_cut cut;
    uint32_t cut_axis; /* of shape; meaningless when replicated */
    uint32_t
        part_count; /* lengths along that axis of what is fused in it one after the other; 0 = one
                            whole, or parts that alternate head by head and so are cut together */
    uint64_t parts[SL_TENSOR_PARTS_MAX];
    uint32_t experts; /* routed experts that hold one each, {} in the name is their number; 0 = no
                          such tensor: there is one */
    bool linear;      /* the weights of a linear layer, or of a stack of them: what quantisation
                   converts */
    bool tied;   /* the same storage as the embedding, or as an earlier block's: counted there */
    bool half;   /* its products stay in 16 bits where the workload's are lower */
    bool buffer; /* stored in a checkpoint, but no parameter: counted apart */
    /* Of its kind's operators, counted from 1, the one that multiplies by it; 0 = the one of its
     * component, cut and widths. */
    uint8_t product;
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
    SL_OPERATOR_ROUTE,      /* tokens of `inputs` features to `visits` of `experts`, and back */
    SL_OPERATOR_SCAN,  /* state space: short convolution, recurrence along the sequence, gate */
    SL_OPERATOR_PLAIN, /* a whole layer, known by its figures alone */
    SL_OPERATOR_KIND_COUNT
} sl_operator_kind;

/**
 * Widths are elements per token of the whole (uncut) operator. What the operator keeps for the
 * backward pass and what it costs follow from kind and widths (engine/placement/slice.h,
 * engine/price/price.h).
 */
typedef struct sl_operator {
    char name[24]; /* "qkv", "attention", "mlp_up": stable, shown to users */
    sl_operator_kind kind;
    sl_component component; /* of the tensors it works with */
    sl_cut cut;             /* COLUMN opens a tensor-parallel region, ROW closes it */
    uint64_t inputs;
    uint64_t outputs;
    uint64_t parts[3]; /* product only: outputs of each of its tensors; 0 = it has one */
    uint32_t heads;    /* attention, rotary and scan only, like the next two; groups are kv_heads */
    uint32_t kv_heads;
    uint32_t head_dim;
    uint32_t window;       /* positions a query sees; 0 = all before it */
    uint32_t experts;      /* routed experts that share the work; 0 = every token is worked on */
    uint32_t visits;       /* of those, how many a token goes to */
    bool half;             /* stays in 16 bits where the workload's precision is lower */
    bool shares_input;     /* its input is kept by the operator before it: not counted twice */
    uint64_t sample_flops; /* plain only, like the next two: forward, of one sample */
    uint64_t sample_kept_bytes;   /* from forward to backward */
    uint64_t sample_output_bytes; /* for the next layer; 0 = not said: at most what is kept */
    /* Attention: a query sees all keys, as in an encoder and across to one; a learned bias of its
     * own is added to each score. Activation: it adds what each expert has of its own; what it
     * gives goes through dropout, where there is any. */
    bool unmasked;
    bool biased;
    bool drops;
    bool lone_keys; /* attention: one key head is passed for all, which PyTorch's fused kernels
                       refuse (Falcon of Transformers) */
    bool relaid;    /* attention: queries are joined of parts, its output lies as they do, and the
                     product behind it reads a copy (partial rotary of Transformers) */
    bool capped;  /* attention: scores go through a tanh that keeps them below a bound (Gemma 2) */
    bool joined;  /* rotary: what it turns came out of one product with the values, in one tensor */
    bool centred; /* norm: LayerNorm, which takes the mean off first; else RMSNorm */
    bool wide;    /* norm: what its weight multiplies is still in fp32 (Gemma, OLMo 2) */
    /* Activation: what code that no release fuses moves of a value of 2 bytes; 0 = one kernel. */
    uint8_t forward_bytes;
    uint8_t backward_bytes;
    bool composed;   /* activation: eager code has a kernel for each step of it (gelu_new) */
    bool rectified;  /* activation: backward needs what it gave, and not what it read (ReLU) */
    bool once;       /* works on one position of each sequence: what a classifier reads */
    uint8_t product; /* what sl_tensor.product of its tensors says */
    uint32_t state;  /* scan only, like the next: numbers each channel of a head remembers */
    uint32_t chunk;  /* positions worked on at a time, as products (Mamba 2); 0 = one by one */
    bool delta;      /* scan: what is remembered is corrected, not added to (gated delta net) */
} sl_operator;

/** Whether an activation multiplies one half of what it reads with a function of the other. */
static inline bool
sl_operator_is_gated(const sl_operator *op)
{
    return op->kind == SL_OPERATOR_ACTIVATION && op->inputs > op->outputs;
}

/** What one layer keeps of a sequence while it is being extended, in elements. */
typedef struct sl_cache {
    uint64_t per_token;       /* keys and values of a position, or the latent kept in their place */
    uint64_t naive_per_token; /* the same with latents kept expanded, as plain keys and values */
    uint64_t per_source_token; /* keys and values of a position of the encoder, or of an image */
    uint64_t state_bytes;      /* of a sequence, whatever its length: recurrence and convolution */
    uint64_t window;           /* positions kept at most; 0 = all */
} sl_cache;

typedef struct sl_layer_kind {
    /* "embedding", "dense", "dense_window", "experts", "experts_window", "head"; or what the user
     * calls a plain layer. */
    char name[SL_KIND_NAME_MAX + 1];
    char prefix[64]; /* "model.layers.{}." with {} the block number, or "" */
    sl_cache cache;
    bool norms_last; /* of the block itself: its class has them behind the modules that it reads */
    uint32_t tensor_count;
    uint32_t operator_count;
    sl_tensor *tensors; /* both inside the model that the kind is of */
    sl_operator *operators;
} sl_layer_kind;

/** How one tensor of one layer is stored: a format of the model's quantisation, counted from 1; 0
 * is the checkpoint's own dtype. */
typedef struct sl_stored_as {
    uint8_t
        format; /* of most of its experts, or of its copies beside the list, where they differ */
    bool mixed; /* ... and they do */
} sl_stored_as;

/** Kinds point into their own model: a model stays where it was described. */
typedef struct sl_model {
    char name[200];    /* as the user named it */
    char revision[41]; /* commit, or "" */
    char architecture[64];
    char model_type[32];
    uint64_t hidden; /* 0 = a list of plain layers (sl_model_is_plain) */
    uint64_t ffn;
    uint64_t vocabulary;
    uint64_t position_limit; /* learned positions or declared context; 0 = not said */
    uint32_t heads;
    uint32_t kv_heads;
    uint32_t head_dim;
    uint32_t checkpoint_element_bytes; /* 2 for bf16 and fp16, 4 for fp32 */
    char checkpoint_dtype[8];          /* "bf16" */
    uint64_t quantized_weights_bytes;  /* of a quantised checkpoint whose layout is known; else 0 */
    bool tied;                         /* the head shares the embedding's storage */
    bool has_head;              /* a class without a head (a base model) ends with its final norm */
    bool learned_positions;     /* a table of position_limit rows: there is no position beyond it */
    uint64_t mtp_parameters;    /* of layers for multi-token prediction, which checkpoints hold and
                                    the class does not: in no count */
    uint32_t experts;           /* routed experts of a block that has any; 0 = none anywhere */
    uint32_t experts_per_token; /* of those, how many a token visits */
    bool unmasked; /* some attention is, some is biased, some reads what an encoder gave */
    bool biased;
    bool across;
    bool drops;         /* trained with dropout, by its config */
    bool logits_capped; /* logits go through a tanh before the loss (Gemma 2) */
    bool loss_narrow;   /* which its class computes in the width of the logits (BERT, T5) */
    const char
        *unpriced; /* static: operators that time and memory are not modelled for; NULL = none */
    sl_quantization quantization;
    uint32_t kind_count;
    uint32_t layer_count; /* embedding, blocks, head: stages cut this list */
    uint32_t block_count; /* layers that are neither embedding nor head: all or all but two */
    uint8_t layers[SL_MODEL_LAYERS_MAX]; /* index into kinds */
    uint32_t beside[SL_KINDS_MAX]; /* copies of a kind beside that list: towers, which are counted
                                      and not planned */
    sl_layer_kind kinds[SL_KINDS_MAX];
    /* From here on only what the fields above name has a meaning. */
    sl_tensor tensors[SL_MODEL_TENSORS_MAX]; /* of all kinds, one kind's after the other's */
    sl_operator operators[SL_MODEL_OPERATORS_MAX];
    sl_stored_as stored_as[SL_MODEL_LAYERS_MAX][SL_KIND_TENSORS_MAX]; /* where it is quantised */
    sl_stored_as stored_beside[SL_DECODER_KINDS_MAX][SL_KIND_TENSORS_MAX]; /* ... beside the list */
} sl_model;

/** Makes it a model without kinds and layers. */
void sl_model_clear(sl_model *model);

/** Whether the layers were given as a plain list: there are samples in place of tokens, no hidden
 * state, no attention, neither embedding nor head, and no tensor that could be cut. */
bool sl_model_is_plain(const sl_model *model);

/** Whether some layer of the list has an operator of this kind. */
bool sl_model_does(const sl_model *model, sl_operator_kind what);

/**
 * Makes the products of blocks i < count with blocks[i] stay in 16 bits whatever the workload's
 * precision: blocks of a kind become one of a kind of its own, with the same name.
 * The model is not plain and has `count` blocks or more. Errors: SL_E_RANGE, rule out_of_range,
 * when that makes too many kinds; the model is then unfinished.
 */
sl_code sl_model_keep_half(sl_model *model, const bool *blocks, uint32_t count,
                           sl_errors *err) SL_MUST_CHECK;

/** Text of the API: "embedding", "lm_head" ... and "replicated", "column", "row", "vocabulary". */
const char *sl_component_text(sl_component component);
const char *sl_cut_text(sl_cut cut);

/** Elements of one tensor as stored once: the product of its shape, and of the experts that hold
 * one. Checked: SL_E_RANGE. */
sl_code sl_tensor_elements(const sl_tensor *tensor, uint64_t *out) SL_MUST_CHECK;

typedef struct sl_model_counts {
    uint64_t component[SL_COMPONENT_COUNT];
    uint64_t total;            /* distinct parameters: a tied head counts once, in the embedding */
    uint64_t active_per_token; /* total less the routed experts a token does not visit */
    uint64_t towers;           /* of the total, what lies beside the list of layers */
    uint64_t persistent_buffers; /* elements a checkpoint stores that are no parameters */
} sl_model_counts;

/**
 * Parameters by component over all layers and what lies beside them.
 *
 *   sum over layers and towers of the elements of every tensor that is not tied
 *   active_per_token = total - routed experts * (1 - experts_per_token / experts)
 *
 * Shared experts, router, embedding and head are active for every token; vendors may count others.
 * SL_E_RANGE when a sum leaves uint64_t; *out is then untouched.
 * Source: derived. Pinned by golden/param_counts.csv.
 */
sl_code sl_model_count(const sl_model *model, sl_model_counts *out) SL_MUST_CHECK;

/** Bytes of weights as stored: the total at the checkpoint's element size, or what the quantised
 * checkpoint holds where that is known. */
uint64_t sl_model_weights_bytes(const sl_model *model, const sl_model_counts *counts);

/**
 * Adds one layer for multi-token prediction (DeepSeek-V3 section 2.2; Megatron-LM mtp_num_layers)
 * beside the head: norms of embedding and hidden state, their projection 2 hidden -> hidden, a
 * block like the last one, a norm, and head and loss once more; embedding and head are shared, the
 * former held again where a pipeline parts it from the head. Call it before the model is counted.
 * Errors: no_head (SL_E_RANGE); not_modelled (SL_E_UNSUPPORTED) for blocks that do not fit beside
 * it; the model is then good for nothing. All at /workload/mtp.
 */
sl_code sl_model_add_prediction(sl_model *model, sl_errors *err) SL_MUST_CHECK;

/** The matrices of linear layers that a tensor holds: one, or one for each expert. */
typedef struct sl_matrices {
    uint64_t count;
    uint64_t outputs; /* features */
    uint64_t inputs;
} sl_matrices;

/**
 * What quantisation could store otherwise. False, with *out untouched, for all that is no weight of
 * a linear layer: vectors, tables, norms, convolutions.
 *
 * The cut says which axis is which: a column cut divides the outputs, a row cut the inputs; else
 * outputs come first, as in the library's own linear layer.
 */
bool sl_tensor_matrices(const sl_tensor *tensor, sl_matrices *out);

/** Bytes of `count` such matrices, each with scales of its own. Errors: SL_E_RANGE, as
 * sl_format_bytes. */
sl_code sl_matrices_stored(const sl_matrices *matrices, uint64_t count,
                           const sl_tensor_format *format, sl_stored *out) SL_MUST_CHECK;

/** How the tensors of a layer are stored, an entry each; and those of a kind beside the list. */
const sl_stored_as *sl_model_stored_as(const sl_model *model, uint32_t layer);
const sl_stored_as *sl_model_stored_beside(const sl_model *model, uint32_t kind);

/** Text of the API for the dtype a tensor is stored in. */
const char *sl_model_stored_dtype(const sl_model *model, const sl_stored_as *as);

/** Layers of `model` that are of kind `kind`, without those beside the list. */
uint32_t sl_model_layers_of(const sl_model *model, uint32_t kind);

/**
 * Parameters of `layers` layers for multi-token prediction, each of which is one more block like
 * the last one, three norms and a projection of two hidden states to one; the copies of embedding
 * and head that checkpoints also hold are not in it.
 *
 *   layers * (elements of the last block + 3 * hidden + 2 * hidden^2)
 *
 * Source: DeepSeek-V3, section 2.2 and README_WEIGHTS. SL_E_RANGE when it leaves uint64_t.
 */
sl_code sl_model_mtp_parameters(const sl_model *model, uint64_t layers,
                                uint64_t *out) SL_MUST_CHECK;

/** What the tensors of a checkpoint are called: one row each in engine/model/describe_names.c. */
typedef enum sl_naming {
    SL_NAMING_LLAMA,
    SL_NAMING_GPT2,
    SL_NAMING_GPT_BIGCODE,
    SL_NAMING_GPT_NEOX,
    SL_NAMING_GPTJ,
    SL_NAMING_CODEGEN,
    SL_NAMING_BLOOM,
    SL_NAMING_FALCON,
    SL_NAMING_MPT,
    SL_NAMING_OPT,
    SL_NAMING_PHI,
    SL_NAMING_PHI_MSFT,
    SL_NAMING_PHI3,
    SL_NAMING_PHI3SMALL,
    SL_NAMING_STARCODER2,
    SL_NAMING_STABLELM,
    SL_NAMING_PERSIMMON,
    SL_NAMING_GEMMA2,
    SL_NAMING_OLMO2,
    SL_NAMING_GLM4,
    SL_NAMING_CHATGLM,
    SL_NAMING_QWEN,
    SL_NAMING_BAICHUAN,
    SL_NAMING_INTERNLM2,
    SL_NAMING_EXAONE,
    SL_NAMING_APERTUS,
    SL_NAMING_QWEN2_MOE,
    SL_NAMING_QWEN3_VL_MOE,
    SL_NAMING_DEEPSEEK,
    SL_NAMING_MIXTRAL,
    SL_NAMING_GPT_OSS,
    SL_NAMING_GRANITE_MOE,
    SL_NAMING_LLAMA4,
    SL_NAMING_DBRX,
    SL_NAMING_COUNT
} sl_naming;

/** Where a block has its norms and how its two halves are joined. */
typedef enum sl_block_form {
    SL_BLOCK_PRE_NORM,       /* norm, attention, add; norm, MLP, add */
    SL_BLOCK_POST_NORM,      /* attention, norm, add; MLP, norm, add (OLMo 2) */
    SL_BLOCK_SANDWICH,       /* norm, attention, norm, add; norm, MLP, norm, add (Gemma 2) */
    SL_BLOCK_LATE_NORM,      /* attention, add, norm; MLP, add, norm (OPT-350M, the 2017 order) */
    SL_BLOCK_PARALLEL,       /* one norm; attention and MLP both read it (GPT-J) */
    SL_BLOCK_PARALLEL_NORMS, /* attention and MLP read the block's input through a norm each */
    SL_BLOCK_FORM_COUNT
} sl_block_form;

typedef enum sl_qk_norm {
    SL_QK_NORM_NONE,
    SL_QK_NORM_HEAD,      /* one vector of head_dim for all queries, one for all keys */
    SL_QK_NORM_EACH_HEAD, /* one vector for each head, stored as a matrix */
    SL_QK_NORM_WIDTH,     /* one vector over all queries, one over all keys */
    SL_QK_NORM_COUNT
} sl_qk_norm;

/** Attention through low-rank latents (DeepSeek-V2, section 2.1); kv_rank 0 = ordinary
 * attention. */
typedef struct sl_latent {
    uint32_t query_rank; /* 0 = queries straight from the hidden state */
    uint32_t kv_rank;
    uint32_t plain_dim;   /* of a query and key, without position */
    uint32_t rotary_dim;  /* of a query, and of the one key all heads share */
    uint32_t value_dim;   /* of a head */
    uint32_t index_heads; /* of the indexer that picks positions (DeepSeek-V3.2); 0 = none */
    uint32_t index_dim;
} sl_latent;

/** Routed and shared experts in place of the MLP; count 0 = none. */
typedef struct sl_experts {
    uint32_t count;
    uint32_t per_token;
    uint64_t width;        /* of one routed expert */
    uint64_t shared_width; /* of all shared experts together; 0 = none */
    bool shared_gate;      /* a scalar gate on the shared ones */
    bool bias;             /* of router and experts */
    bool correction;       /* the router's scores are corrected by a stored buffer */
} sl_experts;

/** A block's own widths, where blocks differ (Nemotron-NAS). */
typedef struct sl_block_shape {
    uint64_t ffn;
    uint32_t kv_heads;
    bool no_attention; /* the block is only an MLP, with its norm */
    bool no_mlp;       /* ... or only attention */
} sl_block_shape;

/** Exceptions from what the other fields of a spec say of all blocks. */
enum {
    SL_BLOCK_FULL_ATTENTION = 1, /* no window here */
    SL_BLOCK_DENSE_MLP = 2,      /* no experts here */
    SL_BLOCK_SHARED_INDEX = 4    /* an earlier block's indexer picks the positions here */
};

/**
 * What a decoder needs to be described. The codec fills it from a config; tests fill it by hand.
 */
typedef struct sl_dense_spec {
    sl_naming naming;
    sl_block_form form;
    uint32_t blocks;
    uint64_t hidden;
    uint64_t embedding_width; /* of the token table, projected to hidden; 0 = hidden itself */
    uint64_t ffn;
    uint64_t vocabulary;
    uint64_t learned_positions; /* rows of their table; 0 = none */
    uint64_t spare_positions;   /* of those rows, the ones that are no position (OPT: 2) */
    uint32_t heads;
    uint32_t kv_heads;
    uint32_t head_dim;
    uint32_t window; /* 0 = full attention */
    sl_qk_norm qk_norm;
    sl_latent latent;
    sl_experts experts;
    bool gated_mlp;
    bool layer_norm;      /* LayerNorm with bias; without any of these three RMSNorm */
    bool norm_unbiased;   /* LayerNorm with one weight vector (MPT, Cohere) */
    bool norm_weightless; /* LayerNorm without parameters (OLMo) */
    bool norm_wide;       /* RMSNorm whose weight multiplies in fp32 (Gemma, OLMo 2) */
    bool embedding_norm;
    bool no_final_norm;
    bool no_rotary; /* positions come otherwise: learned, or by bias of the scores (ALiBi) */
    bool qkv_bias;
    bool output_bias;
    bool mlp_bias;
    bool head_bias;
    bool learned_activation;  /* two scalars a block shape it (Apertus) */
    bool composed_activation; /* written out step by step (gelu_new) */
    bool rectified;           /* ReLU */
    bool lone_keys;           /* one key head is passed for all (Falcon) */
    bool relaid;              /* queries are joined of parts: their rotary one and the rest */
    bool scores_capped;       /* by a tanh (Gemma 2), like the next */
    bool logits_capped;
    bool sinks; /* one learned score a head that no position owns (gpt-oss) */
    bool tied;
    bool has_head;
    uint8_t block[SL_MODEL_LAYERS_MAX]; /* SL_BLOCK_FULL_ATTENTION, SL_BLOCK_DENSE_MLP */
    uint32_t shape_count;               /* 0 = every block has the ffn and kv_heads above */
    sl_block_shape shapes[SL_SHAPES_MAX];
    uint8_t shape_of[SL_MODEL_LAYERS_MAX]; /* index into shapes */
} sl_dense_spec;

/**
 * Fills kinds, layers and shape of `model` from spec; name, revision, architecture, model_type,
 * quantisation and checkpoint dtype are the caller's and stay as they are. position_limit becomes
 * the number of learned positions.
 *
 * Kinds, in order: "embedding"; then those of "dense", "dense_window", "experts" and
 * "experts_window" that there are (without "_window" where every block has it), the second shape's
 * with "_2" behind, and so on; "head". Attention to indexed positions has tensors, but no operator
 * that picks them: the model is `unpriced`. Every size must be at least 1, and the naming must name
 * what the spec has (asserted).
 *
 * A parallel block is listed as two tensor-parallel regions, as the layers of Megatron-LM are:
 * frameworks that join their two sums send half.
 * Blocks of several shapes are in pre-norm form. With shapes, ffn and kv_heads of the spec are the
 * widest.
 * Errors: SL_E_RANGE, rule out_of_range, when there are more kinds than SL_DECODER_KINDS_MAX,
 * blocks + 2 exceeds SL_MODEL_LAYERS_MAX, a width exceeds SL_MODEL_WIDTH_MAX or a table
 * SL_MODEL_ROWS_MAX;
 * *model is then untouched. Source: tensors as the classes of the Hugging Face library name and
 * shape them; cuts of Shoeybi 2019, section 3.
 */
sl_code sl_model_describe_dense(const sl_dense_spec *spec, sl_model *model,
                                sl_errors *err) SL_MUST_CHECK;

/** Most of any one figure of a plain layer: SL_MODEL_LAYERS_MAX of them keep every sum, and its
 * bytes at 4 per parameter, inside uint64_t. */
#define SL_PLAIN_FIGURE_MAX UINT64_C(1000000000000000)

/** A layer of any network, per sample: what a user can say of it without an architecture. */
typedef struct sl_plain_layer {
    const char *name; /* at most SL_KIND_NAME_MAX bytes; borrowed for the call */
    uint32_t count;   /* of such layers in a row, at least 1 */
    uint64_t parameters;
    uint64_t activation_bytes; /* kept from forward to backward */
    uint64_t forward_flops;
    uint64_t output_bytes; /* what the next layer gets; 0 = not said */
} sl_plain_layer;

/**
 * Fills `model` from a list of layers: what is alike to the name is one kind, with one tensor of
 * all its parameters (none without any) and one operator. Clears everything else, so the caller
 * sets name, architecture and checkpoint dtype after it. At least one and at most SL_KINDS_MAX
 * layers, with their counts at most SL_MODEL_LAYERS_MAX, figures up to SL_PLAIN_FIGURE_MAX
 * (asserted).
 */
void sl_model_describe_plain(const sl_plain_layer *layers, uint32_t count, sl_model *model);

#endif
