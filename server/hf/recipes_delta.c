/* Decoders with linear attention or short convolutions beside attention.
 * Defaults: the configuration classes of transformers 5.16.0.dev0. Tensor names: the published
 * checkpoints.
 *
 * States: a recurrence is kept at 2 bytes an element unless the config names its type, a
 * convolution keeps its last inputs at 2 bytes. */
#include "hf/recipe.h"

/* clang-format off */

/* ---- What Qwen3-Next and Qwen3.5 share ---- */

#define DELTA_NET_SIZES(kv_heads) \
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, kv_heads, NULL, NULL}, \
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "256", NULL, NULL}, \
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "32768", NULL, NULL}, \
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL}, \
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL}, \
    {SL_HF_NUMBER, "conv", "linear_conv_kernel_dim", NULL, "4", NULL, NULL}, \
    {SL_HF_NUMBER, "key_dim", "linear_key_head_dim", NULL, "128", NULL, NULL}, \
    {SL_HF_NUMBER, "value_dim", "linear_value_head_dim", NULL, "128", NULL, NULL}, \
    {SL_HF_NUMBER, "key_heads", "linear_num_key_heads", NULL, "16", NULL, NULL}, \
    {SL_HF_NUMBER, "value_heads", "linear_num_value_heads", NULL, "32", NULL, NULL}

#define QWEN_EXPERTS(experts, top_k) \
    {SL_HF_NUMBER, "experts", "num_experts", "num_local_experts", experts, NULL, NULL}, \
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", NULL, top_k, NULL, NULL}, \
    {SL_HF_NUMBER, "expert_width", "moe_intermediate_size", NULL, "512", NULL, NULL}, \
    {SL_HF_NUMBER, "shared_width", "shared_expert_intermediate_size", NULL, "512", NULL, NULL}

#define DELTA_NET_STATE \
    {SL_HF_CHOICE, "state_type", "mamba_ssm_dtype", "mamba_ssm_cache_dtype", "1", NULL, "float32 bfloat16 float16"}, \
    {SL_HF_COMPUTED, "state_element", NULL, NULL, "2 + 2 * (state_type == 0)", NULL, NULL}, \
    {SL_HF_COMPUTED, "keys", NULL, NULL, "key_heads * key_dim", NULL, NULL}, \
    {SL_HF_COMPUTED, "values", NULL, NULL, "value_heads * value_dim", NULL, NULL}

/* Each head of the queries comes with a gate of its width. */
#define GATED_ATTENTION \
    SL_MATRIX("self_attn.q_proj", "2 * heads * head_dim, hidden", ATTENTION, COLUMN, "attends"), \
    SL_TENSOR("self_attn.q_proj.bias", "2 * heads * head_dim", ATTENTION, COLUMN, 0, "attends * attention_bias"), \
    SL_MATRIX("self_attn.k_proj", "kv_heads * head_dim, hidden", ATTENTION, COLUMN, "attends"), \
    SL_TENSOR("self_attn.k_proj.bias", "kv_heads * head_dim", ATTENTION, COLUMN, 0, "attends * attention_bias"), \
    SL_MATRIX("self_attn.v_proj", "kv_heads * head_dim, hidden", ATTENTION, COLUMN, "attends"), \
    SL_TENSOR("self_attn.v_proj.bias", "kv_heads * head_dim", ATTENTION, COLUMN, 0, "attends * attention_bias"), \
    SL_SCALE("self_attn.q_norm", "head_dim", ATTENTION, "attends"), \
    SL_SCALE("self_attn.k_norm", "head_dim", ATTENTION, "attends"), \
    SL_MATRIX("self_attn.o_proj", "hidden, heads * head_dim", ATTENTION, ROW, "attends"), \
    SL_TENSOR("self_attn.o_proj.bias", "hidden", ATTENTION, REPLICATED, 0, "attends * attention_bias")

#define GATED_ATTENTION_DOES \
    SL_MULTIPLIES("qkv", "self_attn.q_proj self_attn.k_proj self_attn.v_proj", 0, ""), \
    SL_NORMS("qk_norm", "heads, kv_heads, head_dim", "attends"), \
    SL_ROTATES("rotary", "heads, kv_heads, head_dim", "attends"), \
    SL_ATTENDS("attention", "heads, kv_heads, head_dim", 0, "attends"), \
    SL_ACTIVATES("attention_gate", "self_attn.o_proj", 0, ""), \
    SL_MULTIPLIES("attention_output", "self_attn.o_proj", 0, "")

/* Chunks of 64 are those of the library's kernels, whatever a config says. */
#define DELTA_NET_DOES \
    SL_SCANS("delta_net", "2 * keys + 2 * values + 2 * value_heads, value_heads, value_dim, key_heads, key_dim, 64", SL_OPERATION_DELTA, "attends == 0"), \
    SL_MULTIPLIES("delta_net_out", "linear_attn.out_proj", 0, "")

/* An MLP, or experts and one that every token visits behind a gate. */
#define QWEN_MLP_DOES(expert_up, expert_down) \
    SL_MLP_HALF("mlp.gate_proj mlp.up_proj", "mlp.down_proj"), \
    SL_MULTIPLIES("router", "mlp.gate", 0, ""), \
    SL_ROUTED_EXPERTS(expert_up, expert_down), \
    SL_MULTIPLIES("shared_gate", "mlp.shared_expert_gate", SL_OPERATION_SHARES_INPUT, ""), \
    SL_MULTIPLIES("shared_up", "mlp.shared_expert.gate_proj mlp.shared_expert.up_proj", SL_OPERATION_SHARES_INPUT, ""), \
    SL_ACTIVATES("shared_activation", "mlp.shared_expert.down_proj", 0, ""), \
    SL_MULTIPLIES("shared_down", "mlp.shared_expert.down_proj", 0, "")

/* Behind the projections into the net, which each family cuts its own way. */
#define DELTA_NET \
    SL_TENSOR("linear_attn.conv1d.weight", "2 * keys + values, 1, conv", ATTENTION, COLUMN, 0, "attends == 0"), \
    SL_TENSOR("linear_attn.dt_bias", "value_heads", ATTENTION, COLUMN, 0, "attends == 0"), \
    SL_TENSOR("linear_attn.A_log", "value_heads", ATTENTION, COLUMN, 0, "attends == 0"), \
    SL_SCALE("linear_attn.norm", "value_dim", ATTENTION, "attends == 0"), \
    SL_MATRIX("linear_attn.out_proj", "hidden, values", ATTENTION, ROW, "attends == 0")

#define DELTA_NET_CACHES \
    .caches = {{.when = "attends", .per_token = "2 * kv_heads * head_dim"}, {.when = "", .state_bytes = "value_heads * key_dim * value_dim * state_element + 2 * (2 * keys + values) * (conv - 1)"}}

/* ---- Qwen3-Next: three of four blocks hold a gated delta net, all hold experts ---- */

static const sl_hf_symbol qwen3_next_symbols[] = {
    SL_SIZES("151936", "2048", "5632", "48", "16"),
    DELTA_NET_SIZES("2"),
    QWEN_EXPERTS("512", "10"),
    {SL_HF_NUMBER, "sparse_step", "decoder_sparse_step", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "interval", "full_attention_interval", NULL, "4", NULL, NULL},
    DELTA_NET_STATE,
    {SL_HF_EACH_CHOICE, "attends", "layer_types", NULL, "(block + 1) % interval == 0", NULL, "linear_attention full_attention"},
    {SL_HF_EACH_MEMBER, "mlp_only", "mlp_only_layers", NULL, "0", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "sparse", NULL, NULL, "(mlp_only == 0) * (experts > 0) * ((block + 1) % sparse_step == 0)", NULL, NULL},
};

static const sl_part qwen3_next_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    GATED_ATTENTION,
    SL_MATRIX("linear_attn.in_proj_qkvz", "2 * keys + 2 * values, hidden", ATTENTION, COLUMN, "attends == 0"),
    SL_MATRIX("linear_attn.in_proj_ba", "2 * value_heads, hidden", ATTENTION, COLUMN, "attends == 0"),
    DELTA_NET,
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("mlp", "ffn", MLP, "sparse == 0"),
    SL_MATRIX("mlp.gate", "experts, hidden", ROUTER, REPLICATED, "sparse"),
    SL_GATED_EXPERTS("mlp.experts.{}", "expert_width", "sparse"),
    SL_GATED_MLP("mlp.shared_expert", "shared_width", SHARED_EXPERTS, "sparse"),
    SL_MATRIX("mlp.shared_expert_gate", "1, hidden", ROUTER, REPLICATED, "sparse"),
};

static const sl_operation qwen3_next_block_does[] = {
    SL_NORMS("input_norm", "input_layernorm", ""),
    GATED_ATTENTION_DOES,
    SL_MULTIPLIES("delta_net_in", "linear_attn.in_proj_qkvz linear_attn.in_proj_ba", 0, ""),
    DELTA_NET_DOES,
    SL_ADDS("mixer_residual"),
    SL_NORMS("mlp_norm", "post_attention_layernorm", ""),
    QWEN_MLP_DOES("mlp.experts.{}.gate_proj mlp.experts.{}.up_proj", "mlp.experts.{}.down_proj"),
    SL_ADDS("mlp_residual"),
};

static const sl_stack qwen3_next_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(qwen3_next_block), SL_OPERATIONS(qwen3_next_block_does), .titles = {{"attends * sparse", "attention_experts"}, {"attends", "attention_dense"}, {"sparse", "delta_net_experts"}, {"", "delta_net_dense"}}, DELTA_NET_CACHES},
    SL_NORM_AND_HEAD_STACK,
};

/* ---- Qwen3.5 and 3.6, dense and with experts: the language part of the wrappers ---- */

static const sl_hf_symbol qwen3_5_symbols[] = {
    SL_SIZES("248320", "4096", "12288", "32", "16"),
    DELTA_NET_SIZES("4"),
    {SL_HF_NUMBER, "interval", "full_attention_interval", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "mtp", "mtp_num_hidden_layers", NULL, "0", NULL, NULL},
    DELTA_NET_STATE,
    {SL_HF_COMPUTED, "experts", NULL, NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "top_k", NULL, NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "expert_width", NULL, NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "shared_width", NULL, NULL, "0", NULL, NULL},
    {SL_HF_EACH_CHOICE, "attends", "layer_types", NULL, "(block + 1) % interval == 0", NULL, "linear_attention full_attention"},
};

static const sl_hf_symbol qwen3_5_moe_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "248320", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "2048", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "40", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "16", NULL, NULL},
    DELTA_NET_SIZES("2"),
    QWEN_EXPERTS("256", "8"),
    {SL_HF_NUMBER, "interval", "full_attention_interval", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "mtp", "mtp_num_hidden_layers", NULL, "0", NULL, NULL},
    DELTA_NET_STATE,
    {SL_HF_COMPUTED, "ffn", NULL, NULL, "expert_width", NULL, NULL},
    {SL_HF_EACH_CHOICE, "attends", "layer_types", NULL, "(block + 1) % interval == 0", NULL, "linear_attention full_attention"},
};

static const sl_part qwen3_5_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    GATED_ATTENTION,
    SL_MATRIX("linear_attn.in_proj_qkv", "2 * keys + values, hidden", ATTENTION, COLUMN, "attends == 0"),
    SL_MATRIX("linear_attn.in_proj_z", "values, hidden", ATTENTION, COLUMN, "attends == 0"),
    SL_MATRIX("linear_attn.in_proj_b", "value_heads, hidden", ATTENTION, COLUMN, "attends == 0"),
    SL_MATRIX("linear_attn.in_proj_a", "value_heads, hidden", ATTENTION, COLUMN, "attends == 0"),
    DELTA_NET,
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("mlp", "ffn", MLP, "experts == 0"),
    SL_TENSOR("mlp.gate.weight", "experts, hidden", ROUTER, REPLICATED, 0, "experts"),
    SL_TENSOR("mlp.experts.gate_up_proj", "experts, 2 * expert_width, hidden", ROUTED_EXPERTS, COLUMN, 1, "experts"),
    SL_TENSOR("mlp.experts.down_proj", "experts, hidden, expert_width", ROUTED_EXPERTS, ROW, 2, "experts"),
    SL_GATED_MLP("mlp.shared_expert", "shared_width", SHARED_EXPERTS, "experts"),
    SL_MATRIX("mlp.shared_expert_gate", "1, hidden", ROUTER, REPLICATED, "experts"),
};

static const sl_operation qwen3_5_block_does[] = {
    SL_NORMS("input_norm", "input_layernorm", ""),
    GATED_ATTENTION_DOES,
    SL_MULTIPLIES("delta_net_in", "linear_attn.in_proj_qkv linear_attn.in_proj_z linear_attn.in_proj_b linear_attn.in_proj_a", 0, ""),
    DELTA_NET_DOES,
    SL_ADDS("mixer_residual"),
    SL_NORMS("mlp_norm", "post_attention_layernorm", ""),
    QWEN_MLP_DOES("mlp.experts.gate_up_proj", "mlp.experts.down_proj"),
    SL_ADDS("mlp_residual"),
};

static const sl_stack qwen3_5_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(qwen3_5_block), SL_OPERATIONS(qwen3_5_block_does), .titles = {{"attends * experts", "attention_experts"}, {"attends", "attention_dense"}, {"experts", "delta_net_experts"}, {"", "delta_net_dense"}}, DELTA_NET_CACHES},
    SL_NORM_AND_HEAD_STACK,
};

/* ---- MiniMax-Text-01: lightning attention and softmax attention, experts ---- */

static const sl_hf_symbol minimax_symbols[] = {
    SL_SIZES("32000", "4096", "14336", "32", "32"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "8", "heads", NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "hidden / heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "131072", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "window", "sliding_window", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "experts", "num_local_experts", "num_experts", "8", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "chunk", "block_size", NULL, "256", NULL, NULL},
    {SL_HF_EACH_CHOICE, "attends", "layer_types", NULL, "block % 2 == 0", NULL, "linear_attention full_attention"},
};

/* The decays are stored; the norm of lightning attention counts as a norm. */
static const sl_part minimax_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_QKVO("self_attn", "attends"),
    SL_MATRIX("self_attn.qkv_proj", "3 * heads * head_dim, hidden", ATTENTION, COLUMN, "attends == 0"),
    SL_MATRIX("self_attn.output_gate", "heads * head_dim, hidden", ATTENTION, COLUMN, "attends == 0"),
    SL_TENSOR("self_attn.norm.weight", "heads * head_dim", NORMS, COLUMN, 0, "attends == 0"),
    SL_MATRIX("self_attn.out_proj", "hidden, heads * head_dim", ATTENTION, ROW, "attends == 0"),
    SL_BUFFER("self_attn.slope_rate", "heads, 1, 1", "attends == 0"),
    SL_BUFFER("self_attn.query_decay", "heads, chunk, 1", "attends == 0"),
    SL_BUFFER("self_attn.key_decay", "heads, chunk, 1", "attends == 0"),
    SL_BUFFER("self_attn.diagonal_decay", "1, heads, chunk, chunk", "attends == 0"),
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_MATRIX("block_sparse_moe.gate", "experts, hidden", ROUTER, REPLICATED, ""),
    SL_EXPERTS("block_sparse_moe.experts.{}.w1", "ffn, hidden", COLUMN, ""),
    SL_EXPERTS("block_sparse_moe.experts.{}.w2", "hidden, ffn", ROW, ""),
    SL_EXPERTS("block_sparse_moe.experts.{}.w3", "ffn, hidden", COLUMN, ""),
};

static const sl_stack minimax_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(minimax_block), .titles = {{"attends", "attention_experts"}, {"", "lightning_experts"}}, .caches = {{.when = "attends", .per_token = "2 * kv_heads * head_dim", .window = "window"}, {.when = "", .state_bytes = "2 * heads * head_dim * head_dim"}}},
    SL_NORM_AND_HEAD_STACK,
};

/* ---- LFM2: short convolutions or attention ---- */

#define LFM2_SIZES \
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "8", NULL, NULL}, \
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "hidden / heads", NULL, NULL}, \
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "128000", NULL, NULL}, \
    {SL_HF_NUMBER, "tied", "tie_embedding", "tie_word_embeddings", "1", NULL, NULL}, \
    {SL_HF_NUMBER, "conv", "conv_L_cache", NULL, "3", NULL, NULL}, \
    {SL_HF_NUMBER, "conv_bias", "conv_bias", NULL, "0", NULL, NULL}

#define LFM2_ATTENDS \
    {SL_HF_EACH_MEMBER, "named", "full_attn_idxs", NULL, "1", NULL, NULL}, \
    {SL_HF_EACH_CHOICE, "attends", "layer_types", NULL, "named", NULL, "conv full_attention"}

static const sl_hf_symbol lfm2_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "65536", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "2560", NULL, NULL},
    {SL_HF_NUMBER, "ffn_raw", "block_ff_dim", "intermediate_size", "12288", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "32", NULL, NULL},
    LFM2_SIZES,
    {SL_HF_NUMBER, "adjusts", "block_auto_adjust_ff_dim", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "multiple", "block_multiple_of", NULL, "256", NULL, NULL},
    /* Two thirds, times a factor, up to the next multiple. */
    {SL_HF_COMPUTED, "thirds", NULL, NULL, "2 * ffn_raw / 3", NULL, NULL},
    {SL_HF_PRODUCT, "scaled", "block_ffn_dim_multiplier", NULL, "thirds", NULL, "thirds"},
    {SL_HF_COMPUTED, "ffn", NULL, NULL, "(adjusts == 0) * ffn_raw + (adjusts != 0) * ((scaled + multiple - 1) / multiple * multiple)", NULL, NULL},
    {SL_HF_COMPUTED, "experts", NULL, NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "top_k", NULL, NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "expert_width", NULL, NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "expert_bias", NULL, NULL, "0", NULL, NULL},
    LFM2_ATTENDS,
    {SL_HF_EACH_COMPUTED, "sparse", NULL, NULL, "0", NULL, NULL},
};

static const sl_hf_symbol lfm2_moe_symbols[] = {
    SL_SIZES("65536", "2048", "7168", "32", "32"),
    LFM2_SIZES,
    {SL_HF_NUMBER, "dense_layers", "num_dense_layers", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "experts", "num_experts", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "expert_width", "moe_intermediate_size", NULL, "1792", NULL, NULL},
    {SL_HF_NUMBER, "expert_bias", "use_expert_bias", NULL, "1", NULL, NULL},
    LFM2_ATTENDS,
    {SL_HF_EACH_COMPUTED, "sparse", NULL, NULL, "block >= dense_layers", NULL, NULL},
};

static const sl_part lfm2_block[] = {
    SL_SCALE("operator_norm", "hidden", NORMS, ""),
    SL_QKV("self_attn", "attends"),
    SL_SCALE("self_attn.q_layernorm", "head_dim", ATTENTION, "attends"),
    SL_SCALE("self_attn.k_layernorm", "head_dim", ATTENTION, "attends"),
    SL_MATRIX("self_attn.out_proj", "hidden, heads * head_dim", ATTENTION, ROW, "attends"),
    SL_MATRIX("conv.in_proj", "3 * hidden, hidden", ATTENTION, COLUMN, "attends == 0"),
    SL_TENSOR("conv.in_proj.bias", "3 * hidden", ATTENTION, COLUMN, 0, "(attends == 0) * conv_bias"),
    SL_TENSOR("conv.conv.weight", "hidden, 1, conv", ATTENTION, COLUMN, 0, "attends == 0"),
    SL_TENSOR("conv.conv.bias", "hidden", ATTENTION, COLUMN, 0, "(attends == 0) * conv_bias"),
    SL_MATRIX("conv.out_proj", "hidden, hidden", ATTENTION, ROW, "attends == 0"),
    SL_TENSOR("conv.out_proj.bias", "hidden", ATTENTION, REPLICATED, 0, "(attends == 0) * conv_bias"),
    SL_SCALE("ffn_norm", "hidden", NORMS, ""),
    SL_MATRIX("feed_forward.w1", "ffn, hidden", MLP, COLUMN, "sparse == 0"),
    SL_MATRIX("feed_forward.w2", "hidden, ffn", MLP, ROW, "sparse == 0"),
    SL_MATRIX("feed_forward.w3", "ffn, hidden", MLP, COLUMN, "sparse == 0"),
    SL_MATRIX("feed_forward.gate", "experts, hidden", ROUTER, REPLICATED, "sparse"),
    SL_BUFFER("feed_forward.expert_bias", "experts", "sparse * expert_bias"),
    SL_EXPERTS("feed_forward.experts.{}.w1", "expert_width, hidden", COLUMN, "sparse"),
    SL_EXPERTS("feed_forward.experts.{}.w2", "hidden, expert_width", ROW, "sparse"),
    SL_EXPERTS("feed_forward.experts.{}.w3", "expert_width, hidden", COLUMN, "sparse"),
};

static const sl_part lfm2_end[] = {
    SL_SCALE("model.embedding_norm", "hidden", NORMS, ""),
    SL_HEAD("lm_head", "vocab, hidden", "has_head"),
};

static const sl_stack lfm2_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(lfm2_block), .titles = {{"attends * sparse", "attention_experts"}, {"attends", "attention_dense"}, {"sparse", "conv_experts"}, {"", "conv_dense"}}, .caches = {{.when = "attends", .per_token = "2 * kv_heads * head_dim"}, {.when = "", .state_bytes = "2 * hidden * (conv - 1)"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(lfm2_end), .titles = {{"", "head"}}},
};

/* ---- Kimi Linear (custom code of its repository): three of four blocks hold a delta net whose
 * gates have a value a channel, the others and the last latent attention ---- */

static const sl_hf_symbol kimi_linear_symbols[] = {
    SL_SIZES("163840", "2304", "9216", "27", "32"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", "model_max_length", "0", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "query_rank", "q_lora_rank", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "kv_rank", "kv_lora_rank", NULL, "512", NULL, NULL},
    {SL_HF_NUMBER, "plain_dim", "qk_nope_head_dim", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "rotary_dim", "qk_rope_head_dim", NULL, "64", NULL, NULL},
    {SL_HF_NUMBER, "value_dim", "v_head_dim", NULL, "128", NULL, NULL},
    {SL_HF_COMPUTED, "head_dim", NULL, NULL, "plain_dim + rotary_dim", NULL, NULL},
    {SL_HF_NUMBER, "delta_heads", "linear_attn_config.num_heads", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "delta_dim", "linear_attn_config.head_dim", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "conv", "linear_attn_config.short_conv_kernel_size", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "experts", "num_experts", "n_routed_experts", "256", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_token", "num_experts_per_tok", "8", NULL, NULL},
    {SL_HF_NUMBER, "expert_width", "moe_intermediate_size", NULL, "1024", NULL, NULL},
    {SL_HF_NUMBER, "shared_experts", "num_shared_experts", "n_shared_experts", "1", NULL, NULL},
    {SL_HF_NUMBER, "dense_layers", "first_k_dense_replace", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "sparse_step", "moe_layer_freq", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "mtp", "num_nextn_predict_layers", NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "inner", NULL, NULL, "delta_heads * delta_dim", NULL, NULL},
    {SL_HF_COMPUTED, "shared_width", NULL, NULL, "shared_experts * expert_width", NULL, NULL},
    /* What Kimi-K3 adds to it. */
    {SL_HF_REFUSED, "residual_blocks", "attn_res_block_size", NULL, "0", NULL, NULL},
    {SL_HF_REFUSED, "latent_experts", "routed_expert_hidden_size", NULL, "0", NULL, NULL},
    {SL_HF_REFUSED, "latent_norm", "latent_moe_use_norm", NULL, "0", NULL, NULL},
    {SL_HF_REFUSED, "output_gate", "mla_use_output_gate", NULL, "0", NULL, NULL},
    {SL_HF_REFUSED, "full_rank_gate", "linear_attn_config.use_full_rank_gate", NULL, "0", NULL, NULL},
    {SL_HF_EACH_MEMBER, "attends", "linear_attn_config.full_attn_layers", NULL, "((block + 1) % 4 == 0) + (block + 1 == layers) * ((block + 1) % 4 != 0)", NULL, "1"},
    {SL_HF_EACH_COMPUTED, "sparse", NULL, NULL, "(experts > 0) * (block >= dense_layers) * (block % sparse_step == 0)", NULL, NULL},
};

static const sl_part kimi_linear_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_MATRIX("self_attn.q_proj", "(attends == 0) * inner + (attends != 0) * heads * head_dim, hidden", ATTENTION, COLUMN, "(attends == 0) + (query_rank == 0)"),
    SL_MATRIX("self_attn.q_a_proj", "query_rank, hidden", ATTENTION, REPLICATED, "attends * query_rank"),
    SL_SCALE("self_attn.q_a_layernorm", "query_rank", ATTENTION, "attends * query_rank"),
    SL_MATRIX("self_attn.q_b_proj", "heads * head_dim, query_rank", ATTENTION, COLUMN, "attends * query_rank"),
    SL_MATRIX("self_attn.kv_a_proj_with_mqa", "kv_rank + rotary_dim, hidden", ATTENTION, REPLICATED, "attends"),
    SL_SCALE("self_attn.kv_a_layernorm", "kv_rank", ATTENTION, "attends"),
    SL_MATRIX("self_attn.kv_b_proj", "heads * (plain_dim + value_dim), kv_rank", ATTENTION, COLUMN, "attends"),
    SL_MATRIX("self_attn.k_proj", "inner, hidden", ATTENTION, COLUMN, "attends == 0"),
    SL_MATRIX("self_attn.v_proj", "inner, hidden", ATTENTION, COLUMN, "attends == 0"),
    SL_TENSOR("self_attn.q_conv1d.weight", "inner, 1, conv", ATTENTION, COLUMN, 0, "attends == 0"),
    SL_TENSOR("self_attn.k_conv1d.weight", "inner, 1, conv", ATTENTION, COLUMN, 0, "attends == 0"),
    SL_TENSOR("self_attn.v_conv1d.weight", "inner, 1, conv", ATTENTION, COLUMN, 0, "attends == 0"),
    SL_TENSOR("self_attn.A_log", "1, 1, delta_heads, 1", ATTENTION, COLUMN, 2, "attends == 0"),
    SL_TENSOR("self_attn.dt_bias", "inner", ATTENTION, COLUMN, 0, "attends == 0"),
    SL_MATRIX("self_attn.f_a_proj", "delta_dim, hidden", ATTENTION, REPLICATED, "attends == 0"),
    SL_MATRIX("self_attn.f_b_proj", "inner, delta_dim", ATTENTION, COLUMN, "attends == 0"),
    SL_MATRIX("self_attn.b_proj", "delta_heads, hidden", ATTENTION, COLUMN, "attends == 0"),
    SL_MATRIX("self_attn.g_a_proj", "delta_dim, hidden", ATTENTION, REPLICATED, "attends == 0"),
    SL_MATRIX("self_attn.g_b_proj", "inner, delta_dim", ATTENTION, COLUMN, "attends == 0"),
    SL_SCALE("self_attn.o_norm", "delta_dim", ATTENTION, "attends == 0"),
    SL_MATRIX("self_attn.o_proj", "hidden, (attends == 0) * inner + (attends != 0) * heads * value_dim", ATTENTION, ROW, ""),
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("mlp", "ffn", MLP, "sparse == 0"),
    SL_TENSOR("block_sparse_moe.gate.weight", "experts, hidden", ROUTER, REPLICATED, 0, "sparse"),
    SL_BUFFER("block_sparse_moe.gate.e_score_correction_bias", "experts", "sparse"),
    SL_EXPERTS("block_sparse_moe.experts.{}.w1", "expert_width, hidden", COLUMN, "sparse"),
    SL_EXPERTS("block_sparse_moe.experts.{}.w2", "hidden, expert_width", ROW, "sparse"),
    SL_EXPERTS("block_sparse_moe.experts.{}.w3", "expert_width, hidden", COLUMN, "sparse"),
    SL_GATED_MLP("block_sparse_moe.shared_experts", "shared_width", SHARED_EXPERTS, "sparse * shared_width"),
};

/* Engines keep the recurrent state at 4 bytes an element. */
static const sl_stack kimi_linear_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(kimi_linear_block), .titles = {{"attends * sparse", "attention_experts"}, {"attends", "attention_dense"}, {"sparse", "delta_net_experts"}, {"", "delta_net_dense"}}, .caches = {{.when = "attends", .per_token = "kv_rank + rotary_dim", .naive = "heads * (head_dim + value_dim)"}, {.when = "", .state_bytes = "4 * inner * delta_dim + 2 * 3 * inner * (conv - 1)"}}},
    SL_NORM_AND_HEAD_STACK,
};

static const sl_hf_recipe recipes[] = {
    {.model_type = "qwen3_next", .classes = "Qwen3NextForCausalLM Qwen3NextModel", SL_VALUES(qwen3_next_symbols), SL_STACKS(qwen3_next_stacks)},
    {.model_type = "qwen3_5_text", .classes = "Qwen3_5ForCausalLM Qwen3_5TextModel", SL_VALUES(qwen3_5_symbols), SL_STACKS(qwen3_5_stacks), .mtp_layers = "mtp"},
    {.model_type = "qwen3_5_moe_text", .classes = "Qwen3_5MoeForCausalLM Qwen3_5MoeTextModel", SL_VALUES(qwen3_5_moe_symbols), SL_STACKS(qwen3_5_stacks), .mtp_layers = "mtp"},
    {.model_type = "minimax", .classes = "MiniMaxForCausalLM MiniMaxModel", SL_VALUES(minimax_symbols), SL_STACKS(minimax_stacks)},
    {.model_type = "lfm2", .classes = "Lfm2ForCausalLM Lfm2Model", SL_VALUES(lfm2_symbols), SL_STACKS(lfm2_stacks)},
    {.model_type = "lfm2_moe", .classes = "Lfm2MoeForCausalLM Lfm2MoeModel", SL_VALUES(lfm2_moe_symbols), SL_STACKS(lfm2_stacks)},
    {.model_type = "kimi_linear", .classes = "KimiLinearForCausalLM KimiLinearModel", SL_VALUES(kimi_linear_symbols), SL_STACKS(kimi_linear_stacks), .mtp_layers = "mtp"},
};

/* clang-format on */

const sl_hf_recipes sl_hf_delta_recipes = {recipes, SL_COUNT_OF(recipes)};
