/* Decoders with state space (Mamba 1 and 2), alone or beside attention.
 * Defaults: the configuration classes of transformers 5.16.0.dev0. Tensor names: the published
 * checkpoints.
 *
 * States: a recurrence is kept at 2 bytes an element unless config or class name its type, a
 * convolution keeps its last inputs at 2 bytes. */
#include "hf/recipe.h"

/* clang-format off */

/* A mixer of Mamba 2: `here` is where blocks have one; its gated norm counts as its family's
 * does. */
#define MAMBA2(module, here, norm, normed, output_bias) \
    SL_MATRIX(module ".in_proj", "inner + channels + ssm_heads, hidden", STATE_SPACE, COLUMN, here), \
    SL_TENSOR(module ".in_proj.bias", "inner + channels + ssm_heads", STATE_SPACE, COLUMN, 0, "(" here ") * use_bias"), \
    SL_TENSOR(module ".conv1d.weight", "channels, 1, conv", STATE_SPACE, COLUMN, 0, here), \
    SL_TENSOR(module ".conv1d.bias", "channels", STATE_SPACE, COLUMN, 0, "(" here ") * conv_bias"), \
    SL_TENSOR(module ".dt_bias", "ssm_heads", STATE_SPACE, COLUMN, 0, here), \
    SL_TENSOR(module ".A_log", "ssm_heads", STATE_SPACE, COLUMN, 0, here), \
    SL_TENSOR(module ".D", "ssm_heads", STATE_SPACE, COLUMN, 0, here), \
    SL_TENSOR(module ".norm.weight", "inner", norm, COLUMN, 0, normed), \
    SL_MATRIX(module ".out_proj", "hidden, inner", STATE_SPACE, ROW, here), \
    SL_TENSOR(module ".out_proj.bias", "hidden", STATE_SPACE, REPLICATED, 0, "(" here ") * " output_bias)

/* What a mixer does: `reads` is SHARES_INPUT where attention beside it keeps the same input. */
#define MAMBA2_MIXES(module, reads, here) \
    SL_MULTIPLIES("mixer_in", module ".in_proj", reads, ""), \
    SL_SCANS("mixer", "inner + channels + ssm_heads, ssm_heads, inner / ssm_heads, groups, state, chunk", 0, here), \
    SL_MULTIPLIES("mixer_out", module ".out_proj", 0, "")

/* The scan of Mamba 1 has no heads: each channel remembers by itself. Its kernel keeps what it
 * reads and gives, and makes the rest again. */
#define MAMBA_MIXES(module, here) \
    SL_MULTIPLIES("mixer_in", module ".in_proj", 0, ""), \
    SL_MULTIPLIES("mixer_steps", module ".x_proj", SL_OPERATION_SHARES_INPUT, ""), \
    SL_MULTIPLIES("mixer_step", module ".dt_proj", SL_OPERATION_SHARES_INPUT, ""), \
    SL_SCANS("mixer", "2 * inner + rank + 2 * state, inner, 1, 1, state, 0", 0, here), \
    SL_MULTIPLIES("mixer_out", module ".out_proj", SL_OPERATION_SHARES_INPUT, "")

/* The two ends of Nemotron-H, Mamba and Mamba 2. */
static const sl_part backbone_embedding[] = {
    SL_TENSOR("embeddings.weight", "vocab, hidden", EMBEDDING, VOCABULARY, 0, ""),
};

static const sl_part backbone_end[] = {
    SL_SCALE("backbone.norm_f", "hidden", NORMS, ""),
    SL_HEAD("lm_head", "vocab, hidden", "has_head"),
};

static const sl_operation backbone_embedding_does[] = {
    SL_LOOKS_UP("embedding", "embeddings", ""),
};

static const sl_operation backbone_end_does[] = {
    SL_NORMS("final_norm", "backbone.norm_f", ""),
    SL_MULTIPLIES("logits", "lm_head", 0, ""),
    SL_LOSES("lm_head", 0, ""),
};

/* ---- Nemotron-H and Nemotron-3: one mixer a block: M Mamba 2, * attention, - MLP, E experts
 * ---- */

static const sl_hf_symbol nemotron_h_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "131072", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "4096", NULL, NULL},
    {SL_HF_NUMBER, "ffn", "intermediate_size", NULL, "21504", NULL, NULL},
    {SL_HF_LENGTH, "listed", "layers_block_type", "layer_types hybrid_override_pattern", "4", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "listed", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "8", "heads", NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", "attention_head_dim", "128", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "4096", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "mlp_bias", "mlp_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "use_bias", "use_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "conv_bias", "use_conv_bias", "mamba_conv_bias", "1", NULL, NULL},
    {SL_HF_NUMBER, "conv", "conv_kernel", "mamba_d_conv", "4", NULL, NULL},
    {SL_HF_NUMBER, "state", "ssm_state_size", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "groups", "n_groups", "mamba_n_groups", "8", NULL, NULL},
    {SL_HF_NUMBER, "ssm_heads", "mamba_num_heads", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "ssm_head_dim", "mamba_head_dim", NULL, "64", NULL, NULL},
    {SL_HF_NUMBER, "chunk", "chunk_size", "mamba_chunk_size", "128", NULL, NULL},
    {SL_HF_NUMBER, "experts", "n_routed_experts", "num_local_experts", "8", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "expert_width", "moe_intermediate_size", NULL, "7688", NULL, NULL},
    {SL_HF_NUMBER, "shared_width", "moe_shared_expert_intermediate_size", NULL, "7688", NULL, NULL},
    {SL_HF_NUMBER, "latent", "moe_latent_size", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "mtp", "num_nextn_predict_layers", NULL, "0", NULL, NULL},
    {SL_HF_CHOICE, "state_type", "mamba_ssm_cache_dtype", NULL, "0", NULL, "float32 bfloat16 float16"},
    {SL_HF_COMPUTED, "state_element", NULL, NULL, "2 + 2 * (state_type == 0)", NULL, NULL},
    {SL_HF_COMPUTED, "inner", NULL, NULL, "ssm_heads * ssm_head_dim", NULL, NULL},
    {SL_HF_COMPUTED, "channels", NULL, NULL, "inner + 2 * groups * state", NULL, NULL},
    {SL_HF_COMPUTED, "expert_input", NULL, NULL, "latent + (latent == 0) * hidden", NULL, NULL},
    {SL_HF_EACH_LETTER, "letter", "hybrid_override_pattern", NULL, "(block == 1) * 3 + (block == 2) + (block == 3) * 2", NULL, "M*-E"},
    {SL_HF_EACH_CHOICE, "type", "layers_block_type", "layer_types", "letter", NULL, "mamba attention mlp moe linear_attention full_attention"},
    {SL_HF_EACH_COMPUTED, "recurs", NULL, NULL, "type % 4 == 0", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "attends", NULL, NULL, "type % 4 == 1", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "dense", NULL, NULL, "type % 4 == 2", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "sparse", NULL, NULL, "type % 4 == 3", NULL, NULL},
};

/* The two projections into and out of the experts' latent space count as MLP. */
static const sl_part nemotron_h_block[] = {
    SL_SCALE("norm", "hidden", NORMS, ""),
    MAMBA2("mixer", "recurs", STATE_SPACE, "recurs", "use_bias"),
    SL_QKVO("mixer", "attends"),
    SL_QKVO_BIAS("mixer", "attends * attention_bias"),
    SL_MATRIX("mixer.up_proj", "ffn, hidden", MLP, COLUMN, "dense"),
    SL_TENSOR("mixer.up_proj.bias", "ffn", MLP, COLUMN, 0, "dense * mlp_bias"),
    SL_MATRIX("mixer.down_proj", "hidden, ffn", MLP, ROW, "dense"),
    SL_TENSOR("mixer.down_proj.bias", "hidden", MLP, REPLICATED, 0, "dense * mlp_bias"),
    SL_TENSOR("mixer.gate.weight", "experts, hidden", ROUTER, REPLICATED, 0, "sparse"),
    SL_BUFFER("mixer.gate.e_score_correction_bias", "experts", "sparse"),
    SL_MATRIX("mixer.fc1_latent_proj", "latent, hidden", MLP, REPLICATED, "sparse * latent"),
    SL_TENSOR("mixer.fc1_latent_proj.bias", "latent", MLP, REPLICATED, 0, "sparse * latent * mlp_bias"),
    SL_EXPERTS("mixer.experts.{}.up_proj", "expert_width, expert_input", COLUMN, "sparse"),
    SL_EXPERTS("mixer.experts.{}.down_proj", "expert_input, expert_width", ROW, "sparse"),
    SL_MATRIX("mixer.fc2_latent_proj", "hidden, latent", MLP, REPLICATED, "sparse * latent"),
    SL_TENSOR("mixer.fc2_latent_proj.bias", "hidden", MLP, REPLICATED, 0, "sparse * latent * mlp_bias"),
    SL_MATRIX("mixer.shared_experts.up_proj", "shared_width, hidden", SHARED_EXPERTS, COLUMN, "sparse"),
    SL_TENSOR("mixer.shared_experts.up_proj.bias", "shared_width", SHARED_EXPERTS, COLUMN, 0, "sparse * mlp_bias"),
    SL_MATRIX("mixer.shared_experts.down_proj", "hidden, shared_width", SHARED_EXPERTS, ROW, "sparse"),
    SL_TENSOR("mixer.shared_experts.down_proj.bias", "hidden", SHARED_EXPERTS, REPLICATED, 0, "sparse * mlp_bias"),
};

static const sl_operation nemotron_h_block_does[] = {
    SL_NORMS("norm", "norm", ""),
    MAMBA2_MIXES("mixer", 0, "recurs"),
    SL_ATTENTION_HALF("mixer", "heads, kv_heads, head_dim", "0"),
    SL_MLP_HALF("mixer.up_proj", "mixer.down_proj"),
    SL_MULTIPLIES("router", "mixer.gate", 0, ""),
    SL_MULTIPLIES("expert_in", "mixer.fc1_latent_proj", SL_OPERATION_SHARES_INPUT, ""),
    SL_ROUTED_EXPERTS("mixer.experts.{}.up_proj", "mixer.experts.{}.down_proj"),
    SL_MULTIPLIES("expert_out", "mixer.fc2_latent_proj", 0, ""),
    SL_MULTIPLIES("shared_up", "mixer.shared_experts.up_proj", SL_OPERATION_SHARES_INPUT, ""),
    SL_ACTIVATES("shared_activation", "mixer.shared_experts.down_proj", 0, ""),
    SL_MULTIPLIES("shared_down", "mixer.shared_experts.down_proj", 0, ""),
    SL_ADDS("residual"),
};

static const sl_stack nemotron_h_stacks[] = {
    {.prefix = "backbone.", .repeat = "1", SL_PARTS(backbone_embedding), SL_OPERATIONS(backbone_embedding_does), .titles = {{"", "embedding"}}},
    {.prefix = "backbone.layers.{}.", .repeat = "layers", SL_PARTS(nemotron_h_block), SL_OPERATIONS(nemotron_h_block_does), .titles = {{"recurs", "state_space"}, {"attends", "attention"}, {"dense", "mlp"}, {"", "experts"}}, .caches = {{.when = "attends", .per_token = "2 * kv_heads * head_dim"}, {.when = "recurs", .state_bytes = "ssm_heads * ssm_head_dim * state * state_element + 2 * channels * (conv - 1)"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(backbone_end), SL_OPERATIONS(backbone_end_does), .titles = {{"", "head"}}},
};

/* ---- Mamba and Falcon Mamba (the latter's extra norms have no weights) ---- */

static const sl_hf_symbol mamba_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "50280", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "768", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "state", "state_size", NULL, "16", NULL, NULL},
    {SL_HF_NUMBER, "expand", "expand", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "conv", "conv_kernel", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "use_bias", "use_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "conv_bias", "use_conv_bias", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "rank", "time_step_rank", NULL, "(hidden + 15) / 16", NULL, "auto"},
    {SL_HF_NUMBER, "inner", "intermediate_size", NULL, "expand * hidden", NULL, NULL},
};

static const sl_part mamba_block[] = {
    SL_SCALE("norm", "hidden", NORMS, ""),
    SL_MATRIX("mixer.in_proj", "2 * inner, hidden", STATE_SPACE, COLUMN, ""),
    SL_TENSOR("mixer.in_proj.bias", "2 * inner", STATE_SPACE, COLUMN, 0, "use_bias"),
    SL_TENSOR("mixer.conv1d.weight", "inner, 1, conv", STATE_SPACE, COLUMN, 0, ""),
    SL_TENSOR("mixer.conv1d.bias", "inner", STATE_SPACE, COLUMN, 0, "conv_bias"),
    SL_MATRIX("mixer.x_proj", "rank + 2 * state, inner", STATE_SPACE, ROW, ""),
    SL_LINEAR("mixer.dt_proj", "inner, rank", STATE_SPACE, COLUMN, ""),
    SL_TENSOR("mixer.A_log", "inner, state", STATE_SPACE, COLUMN, 0, ""),
    SL_TENSOR("mixer.D", "inner", STATE_SPACE, COLUMN, 0, ""),
    SL_MATRIX("mixer.out_proj", "hidden, inner", STATE_SPACE, ROW, ""),
    SL_TENSOR("mixer.out_proj.bias", "hidden", STATE_SPACE, REPLICATED, 0, "use_bias"),
};

static const sl_operation mamba_block_does[] = {
    SL_NORMS("norm", "norm", ""),
    MAMBA_MIXES("mixer", ""),
    SL_ADDS("residual"),
};

static const sl_stack mamba_stacks[] = {
    {.prefix = "backbone.", .repeat = "1", SL_PARTS(backbone_embedding), SL_OPERATIONS(backbone_embedding_does), .titles = {{"", "embedding"}}},
    {.prefix = "backbone.layers.{}.", .repeat = "layers", SL_PARTS(mamba_block), SL_OPERATIONS(mamba_block_does), .titles = {{"", "state_space"}}, .caches = {{.when = "", .state_bytes = "2 * inner * state + 2 * inner * (conv - 1)"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(backbone_end), SL_OPERATIONS(backbone_end_does), .titles = {{"", "head"}}},
};

/* ---- Mamba 2 ---- */

static const sl_hf_symbol mamba2_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "32768", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "4096", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "64", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "ssm_heads", "num_heads", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "ssm_head_dim", "head_dim", NULL, "64", NULL, NULL},
    {SL_HF_NUMBER, "chunk", "chunk_size", NULL, "256", NULL, NULL},
    {SL_HF_NUMBER, "state", "state_size", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "groups", "n_groups", NULL, "8", NULL, NULL},
    {SL_HF_NUMBER, "expand", "expand", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "conv", "conv_kernel", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "use_bias", "use_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "conv_bias", "use_conv_bias", NULL, "1", NULL, NULL},
    {SL_HF_COMPUTED, "inner", NULL, NULL, "expand * hidden", NULL, NULL},
    {SL_HF_COMPUTED, "channels", NULL, NULL, "inner + 2 * groups * state", NULL, NULL},
};

static const sl_part mamba2_block[] = {
    SL_SCALE("norm", "hidden", NORMS, ""),
    MAMBA2("mixer", "1", STATE_SPACE, "1", "use_bias"),
};

static const sl_operation mamba2_block_does[] = {
    SL_NORMS("norm", "norm", ""),
    MAMBA2_MIXES("mixer", 0, ""),
    SL_ADDS("residual"),
};

static const sl_stack mamba2_stacks[] = {
    {.prefix = "backbone.", .repeat = "1", SL_PARTS(backbone_embedding), SL_OPERATIONS(backbone_embedding_does), .titles = {{"", "embedding"}}},
    {.prefix = "backbone.layers.{}.", .repeat = "layers", SL_PARTS(mamba2_block), SL_OPERATIONS(mamba2_block_does), .titles = {{"", "state_space"}}, .caches = {{.when = "", .state_bytes = "2 * ssm_heads * ssm_head_dim * state + 2 * channels * (conv - 1)"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(backbone_end), SL_OPERATIONS(backbone_end_does), .titles = {{"", "head"}}},
};

/* ---- Jamba: Mamba or attention, MLP or experts, each by its own period ---- */

static const sl_hf_symbol jamba_symbols[] = {
    SL_SIZES("65536", "4096", "14336", "32", "32"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "8", "heads", NULL},
    {SL_HF_COMPUTED, "head_dim", NULL, NULL, "hidden / heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "262144", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "window", "sliding_window", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "experts", "num_experts", NULL, "16", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "expert_period", "expert_layer_period", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "expert_offset", "expert_layer_offset", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "attention_period", "attn_layer_period", NULL, "8", NULL, NULL},
    {SL_HF_NUMBER, "attention_offset", "attn_layer_offset", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "state", "mamba_d_state", NULL, "16", NULL, NULL},
    {SL_HF_NUMBER, "conv", "mamba_d_conv", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "expand", "mamba_expand", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "rank", "mamba_dt_rank", NULL, "(hidden + 15) / 16", NULL, "auto"},
    {SL_HF_NUMBER, "conv_bias", "mamba_conv_bias", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "use_bias", "mamba_proj_bias", NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "inner", NULL, NULL, "expand * hidden", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "attends", NULL, NULL, "block % attention_period == attention_offset", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "sparse", NULL, NULL, "(block % expert_period == expert_offset) * (experts > 1)", NULL, NULL},
};

/* The norms of the step, B and C count as norms. */
static const sl_part jamba_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_QKVO("self_attn", "attends"),
    SL_MATRIX("mamba.in_proj", "2 * inner, hidden", STATE_SPACE, COLUMN, "attends == 0"),
    SL_TENSOR("mamba.in_proj.bias", "2 * inner", STATE_SPACE, COLUMN, 0, "(attends == 0) * use_bias"),
    SL_TENSOR("mamba.conv1d.weight", "inner, 1, conv", STATE_SPACE, COLUMN, 0, "attends == 0"),
    SL_TENSOR("mamba.conv1d.bias", "inner", STATE_SPACE, COLUMN, 0, "(attends == 0) * conv_bias"),
    SL_MATRIX("mamba.x_proj", "rank + 2 * state, inner", STATE_SPACE, ROW, "attends == 0"),
    SL_SCALE("mamba.dt_layernorm", "rank", NORMS, "attends == 0"),
    SL_SCALE("mamba.b_layernorm", "state", NORMS, "attends == 0"),
    SL_SCALE("mamba.c_layernorm", "state", NORMS, "attends == 0"),
    SL_LINEAR("mamba.dt_proj", "inner, rank", STATE_SPACE, COLUMN, "attends == 0"),
    SL_TENSOR("mamba.A_log", "inner, state", STATE_SPACE, COLUMN, 0, "attends == 0"),
    SL_TENSOR("mamba.D", "inner", STATE_SPACE, COLUMN, 0, "attends == 0"),
    SL_MATRIX("mamba.out_proj", "hidden, inner", STATE_SPACE, ROW, "attends == 0"),
    SL_TENSOR("mamba.out_proj.bias", "hidden", STATE_SPACE, REPLICATED, 0, "(attends == 0) * use_bias"),
    SL_SCALE("pre_ff_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("feed_forward", "ffn", MLP, "sparse == 0"),
    SL_MATRIX("feed_forward.router", "experts, hidden", ROUTER, REPLICATED, "sparse"),
    SL_GATED_EXPERTS("feed_forward.experts.{}", "ffn", "sparse"),
};

static const sl_operation jamba_block_does[] = {
    SL_NORMS("input_norm", "input_layernorm", ""),
    SL_ATTENTION_HALF("self_attn", "heads, kv_heads, head_dim, window", "0"),
    MAMBA_MIXES("mamba", "attends == 0"),
    SL_ADDS("mixer_residual"),
    SL_NORMS("mlp_norm", "pre_ff_layernorm", ""),
    SL_MLP_HALF("feed_forward.gate_proj feed_forward.up_proj", "feed_forward.down_proj"),
    SL_MULTIPLIES("router", "feed_forward.router", 0, ""),
    SL_ROUTED_EXPERTS("feed_forward.experts.{}.gate_proj feed_forward.experts.{}.up_proj", "feed_forward.experts.{}.down_proj"),
    SL_ADDS("mlp_residual"),
};

static const sl_part final_layernorm_and_head[] = {
    SL_SCALE("model.final_layernorm", "hidden", NORMS, ""),
    SL_HEAD("lm_head", "vocab, hidden", "has_head"),
};

static const sl_operation final_layernorm_and_head_does[] = {
    SL_NORMS("final_norm", "model.final_layernorm", ""),
    SL_MULTIPLIES("logits", "lm_head", 0, ""),
    SL_LOSES("lm_head", 0, ""),
};

static const sl_stack jamba_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(jamba_block), SL_OPERATIONS(jamba_block_does), .titles = {{"attends * sparse", "attention_experts"}, {"attends", "attention_dense"}, {"sparse", "state_space_experts"}, {"", "state_space_dense"}}, .caches = {{.when = "attends", .per_token = "2 * kv_heads * head_dim", .window = "window"}, {.when = "", .state_bytes = "2 * inner * state + 2 * inner * (conv - 1)"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(final_layernorm_and_head), SL_OPERATIONS(final_layernorm_and_head_does), .titles = {{"", "head"}}},
};

/* Of Bamba, Falcon-H1 and Granite 4: where the mixer is one of several, its keys say so. */
#define MAMBA2_SIZES \
    {SL_HF_NUMBER, "ssm_heads", "mamba_n_heads", NULL, "128", NULL, NULL}, \
    {SL_HF_NUMBER, "groups", "mamba_n_groups", NULL, "1", NULL, NULL}, \
    {SL_HF_NUMBER, "state", "mamba_d_state", NULL, "256", NULL, NULL}, \
    {SL_HF_NUMBER, "conv", "mamba_d_conv", NULL, "4", NULL, NULL}, \
    {SL_HF_NUMBER, "expand", "mamba_expand", NULL, "2", NULL, NULL}, \
    {SL_HF_NUMBER, "chunk", "mamba_chunk_size", NULL, "256", NULL, NULL}

#define MAMBA2_BIASES \
    {SL_HF_NUMBER, "conv_bias", "mamba_conv_bias", NULL, "1", NULL, NULL}, \
    {SL_HF_NUMBER, "use_bias", "mamba_proj_bias", NULL, "0", NULL, NULL}

/* ---- Bamba: Mamba 2, or attention where attn_layer_indices says so ---- */

static const sl_hf_symbol bamba_symbols[] = {
    SL_SIZES("128000", "4096", "14336", "32", "32"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "8", "heads", NULL},
    {SL_HF_COMPUTED, "head_dim", NULL, NULL, "hidden / heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "262144", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    MAMBA2_SIZES,
    MAMBA2_BIASES,
    {SL_HF_COMPUTED, "inner", NULL, NULL, "expand * hidden", NULL, NULL},
    {SL_HF_COMPUTED, "channels", NULL, NULL, "inner + 2 * groups * state", NULL, NULL},
    {SL_HF_EACH_MEMBER, "attends", "attn_layer_indices", NULL, "0", NULL, NULL},
};

/* The gated norm of the mixer counts as a norm. */
static const sl_part bamba_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_QKVO("self_attn", "attends"),
    MAMBA2("mamba", "attends == 0", NORMS, "attends == 0", "use_bias"),
    SL_SCALE("pre_ff_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("feed_forward", "ffn", MLP, ""),
};

static const sl_operation bamba_block_does[] = {
    SL_NORMS("input_norm", "input_layernorm", ""),
    SL_ATTENTION_HALF("self_attn", "heads, kv_heads, head_dim", "attends"),
    MAMBA2_MIXES("mamba", 0, "attends == 0"),
    SL_ADDS("mixer_residual"),
    SL_NORMS("mlp_norm", "pre_ff_layernorm", ""),
    SL_MLP_HALF("feed_forward.gate_proj feed_forward.up_proj", "feed_forward.down_proj"),
    SL_ADDS("mlp_residual"),
};

static const sl_stack bamba_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(bamba_block), SL_OPERATIONS(bamba_block_does), .titles = {{"attends", "attention_dense"}, {"", "state_space_dense"}}, .caches = {{.when = "attends", .per_token = "2 * kv_heads * head_dim"}, {.when = "", .state_bytes = "2 * inner * state + 2 * channels * (conv - 1)"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(final_layernorm_and_head), SL_OPERATIONS(final_layernorm_and_head_does), .titles = {{"", "head"}}},
};

/* ---- Falcon-H1: Mamba 2 and attention side by side in every block ---- */

static const sl_hf_symbol falcon_h1_symbols[] = {
    SL_SIZES("128000", "4096", "14336", "32", "32"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "8", "heads", NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "hidden / heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "8192", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "mlp_bias", "mlp_bias", NULL, "0", NULL, NULL},
    MAMBA2_SIZES,
    {SL_HF_NUMBER, "inner", "mamba_d_ssm", NULL, "1024", "expand * hidden", NULL},
    MAMBA2_BIASES,
    {SL_HF_NUMBER, "out_bias", "projectors_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "gated_norm", "mamba_rms_norm", NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "channels", NULL, NULL, "inner + 2 * groups * state", NULL, NULL},
    {SL_HF_COMPUTED, "attends", NULL, NULL, "1", NULL, NULL},
};

static const sl_part falcon_h1_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_QKVO("self_attn", ""),
    SL_QKVO_BIAS("self_attn", "attention_bias"),
    MAMBA2("mamba", "1", NORMS, "gated_norm", "out_bias"),
    SL_SCALE("pre_ff_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("feed_forward", "ffn", MLP, ""),
    SL_GATED_MLP_BIAS("feed_forward", "ffn", MLP, "mlp_bias"),
};

static const sl_operation falcon_h1_block_does[] = {
    SL_NORMS("input_norm", "input_layernorm", ""),
    SL_ATTENTION_HALF("self_attn", "heads, kv_heads, head_dim", ""),
    MAMBA2_MIXES("mamba", SL_OPERATION_SHARES_INPUT, ""),
    SL_ADDS("mixer_residual"),
    SL_NORMS("mlp_norm", "pre_ff_layernorm", ""),
    SL_MLP_HALF("feed_forward.gate_proj feed_forward.up_proj", "feed_forward.down_proj"),
    SL_ADDS("mlp_residual"),
};

static const sl_stack falcon_h1_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(falcon_h1_block), SL_OPERATIONS(falcon_h1_block_does), .titles = {{"", "parallel_hybrid"}}, .caches = {{.when = "", .per_token = "2 * kv_heads * head_dim", .state_bytes = "2 * inner * state + 2 * channels * (conv - 1)"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(final_layernorm_and_head), SL_OPERATIONS(final_layernorm_and_head_does), .titles = {{"", "head"}}},
};

/* ---- Granite 4: Mamba 2 or attention, experts and an MLP that every token visits ---- */

static const sl_hf_symbol granitemoehybrid_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "32000", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "4096", NULL, NULL},
    {SL_HF_NUMBER, "expert_width", "intermediate_size", NULL, "11008", NULL, NULL},
    {SL_HF_NUMBER, "ffn", "shared_intermediate_size", NULL, "1024", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "heads", NULL, NULL},
    {SL_HF_COMPUTED, "head_dim", NULL, NULL, "hidden / heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "2048", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "experts", "num_local_experts", NULL, "8", "0", NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", NULL, "2", NULL, NULL},
    MAMBA2_SIZES,
    MAMBA2_BIASES,
    {SL_HF_COMPUTED, "inner", NULL, NULL, "expand * hidden", NULL, NULL},
    {SL_HF_COMPUTED, "channels", NULL, NULL, "inner + 2 * groups * state", NULL, NULL},
    {SL_HF_CHOICE, "rotates", "position_embedding_type", NULL, "0", NULL, "nope rope"},
    {SL_HF_EACH_CHOICE, "type", "layer_types", "layers_block_type", "0", NULL, "mamba attention linear_attention full_attention"},
    {SL_HF_EACH_COMPUTED, "attends", NULL, NULL, "type % 2", NULL, NULL},
};

/* The shared MLP counts as MLP, the gated norm of the mixer as a norm. */
static const sl_part granitemoehybrid_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_QKVO("self_attn", "attends"),
    SL_QKVO_BIAS("self_attn", "attends * attention_bias"),
    MAMBA2("mamba", "attends == 0", NORMS, "attends == 0", "use_bias"),
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_MATRIX("block_sparse_moe.router.layer", "experts, hidden", ROUTER, REPLICATED, "experts"),
    SL_TENSOR("block_sparse_moe.input_linear.weight", "experts, 2 * expert_width, hidden", ROUTED_EXPERTS, COLUMN, 1, "experts"),
    SL_TENSOR("block_sparse_moe.output_linear.weight", "experts, hidden, expert_width", ROUTED_EXPERTS, ROW, 2, "experts"),
    SL_MATRIX("shared_mlp.input_linear", "2 * ffn, hidden", MLP, COLUMN, ""),
    SL_MATRIX("shared_mlp.output_linear", "hidden, ffn", MLP, ROW, ""),
};

static const sl_operation granitemoehybrid_block_does[] = {
    SL_NORMS("input_norm", "input_layernorm", ""),
    SL_ATTENTION_HALF("self_attn", "heads, kv_heads, head_dim", "attends * rotates"),
    MAMBA2_MIXES("mamba", 0, "attends == 0"),
    SL_ADDS("mixer_residual"),
    SL_NORMS("mlp_norm", "post_attention_layernorm", ""),
    SL_MULTIPLIES("router", "block_sparse_moe.router.layer", 0, ""),
    SL_ROUTED_EXPERTS("block_sparse_moe.input_linear", "block_sparse_moe.output_linear"),
    SL_MULTIPLIES("shared_up", "shared_mlp.input_linear", SL_OPERATION_SHARES_INPUT, "experts"),
    SL_MULTIPLIES("shared_up", "shared_mlp.input_linear", 0, "experts == 0"),
    SL_ACTIVATES("shared_activation", "shared_mlp.output_linear", 0, ""),
    SL_MULTIPLIES("shared_down", "shared_mlp.output_linear", 0, ""),
    SL_ADDS("mlp_residual"),
};

static const sl_stack granitemoehybrid_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(granitemoehybrid_block), SL_OPERATIONS(granitemoehybrid_block_does), .titles = {{"attends * experts", "attention_experts"}, {"attends", "attention_dense"}, {"experts", "state_space_experts"}, {"", "state_space_dense"}}, .caches = {{.when = "attends", .per_token = "2 * kv_heads * head_dim"}, {.when = "", .state_bytes = "2 * inner * state + 2 * channels * (conv - 1)"}}},
    SL_NORM_AND_HEAD_STACK,
};

static const sl_hf_recipe recipes[] = {
    {.model_type = "nemotron_h", .classes = "NemotronHForCausalLM NemotronHModel", SL_VALUES(nemotron_h_symbols), SL_STACKS(nemotron_h_stacks), .mtp_layers = "mtp"},
    {.model_type = "mamba", .classes = "MambaForCausalLM MambaModel", .dtype = "float32", SL_VALUES(mamba_symbols), SL_STACKS(mamba_stacks)},
    {.model_type = "falcon_mamba", .classes = "FalconMambaForCausalLM FalconMambaModel", SL_VALUES(mamba_symbols), SL_STACKS(mamba_stacks)},
    {.model_type = "mamba2", .classes = "Mamba2ForCausalLM Mamba2Model", SL_VALUES(mamba2_symbols), SL_STACKS(mamba2_stacks), .require = "ssm_heads * ssm_head_dim == inner", .required = "num_heads * head_dim must be expand * hidden_size"},
    {.model_type = "jamba", .classes = "JambaForCausalLM JambaModel", SL_VALUES(jamba_symbols), SL_STACKS(jamba_stacks)},
    {.model_type = "bamba", .classes = "BambaForCausalLM BambaModel", SL_VALUES(bamba_symbols), SL_STACKS(bamba_stacks)},
    {.model_type = "falcon_h1", .classes = "FalconH1ForCausalLM FalconH1Model", SL_VALUES(falcon_h1_symbols), SL_STACKS(falcon_h1_stacks)},
    {.model_type = "granitemoehybrid", .classes = "GraniteMoeHybridForCausalLM GraniteMoeHybridModel", SL_VALUES(granitemoehybrid_symbols), SL_STACKS(granitemoehybrid_stacks)},
};

/* clang-format on */

const sl_hf_recipes sl_hf_mamba_recipes = {recipes, SL_COUNT_OF(recipes)};
