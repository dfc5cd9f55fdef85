/* Decoders with something of their own in their blocks: inputs per layer, keys and values that
 * layers share, crossed attention, norms in unusual places.
 * Defaults: the configuration classes of transformers 5.16.0.dev0. Tensor names: the published
 * checkpoints. */
#include "hf/recipe.h"

/* clang-format off */

/* ---- What Gemma 4 and Gemma 3n share ---- */

/* `inputs` is where there are inputs per layer. Their table counts as embedding, what projects them
 * as other. */
#define GEMMA_EMBEDDING(inputs) \
    SL_TENSOR("embed_tokens.weight", "vocab, hidden", EMBEDDING, VOCABULARY, 0, ""), \
    SL_TENSOR("embed_tokens_per_layer.weight", "input_vocab, layers * inputs", EMBEDDING, VOCABULARY, 0, inputs), \
    SL_MATRIX("per_layer_model_projection", "layers * inputs, hidden", OTHER, COLUMN, inputs), \
    SL_SCALE("per_layer_projection_norm", "inputs", NORMS, inputs)

#define GEMMA_LAYER_INPUTS(inputs) \
    SL_MATRIX("per_layer_input_gate", "inputs, hidden", OTHER, COLUMN, inputs), \
    SL_MATRIX("per_layer_projection", "hidden, inputs", OTHER, ROW, inputs), \
    SL_SCALE("post_per_layer_input_norm", "hidden", NORMS, inputs)

/* Blocks that reuse keys and values have none of their own: they may be published with projections,
 * which no class reads. `own_values` is where values are not those of another block, nor the
 * keys. */
#define GEMMA_BLOCK(kv_heads, head_dim, own_values) \
    SL_SCALE("input_layernorm", "hidden", NORMS, ""), \
    SL_MATRIX("self_attn.q_proj", "heads * " head_dim ", hidden", ATTENTION, COLUMN, ""), \
    SL_TENSOR("self_attn.q_proj.bias", "heads * " head_dim, ATTENTION, COLUMN, 0, "attention_bias"), \
    SL_SCALE("self_attn.q_norm", head_dim, ATTENTION, ""), \
    SL_MATRIX("self_attn.k_proj", kv_heads " * " head_dim ", hidden", ATTENTION, COLUMN, "reuses == 0"), \
    SL_TENSOR("self_attn.k_proj.bias", kv_heads " * " head_dim, ATTENTION, COLUMN, 0, "(reuses == 0) * attention_bias"), \
    SL_SCALE("self_attn.k_norm", head_dim, ATTENTION, "reuses == 0"), \
    SL_MATRIX("self_attn.v_proj", kv_heads " * " head_dim ", hidden", ATTENTION, COLUMN, own_values), \
    SL_TENSOR("self_attn.v_proj.bias", kv_heads " * " head_dim, ATTENTION, COLUMN, 0, "(" own_values ") * attention_bias"), \
    SL_MATRIX("self_attn.o_proj", "hidden, heads * " head_dim, ATTENTION, ROW, ""), \
    SL_TENSOR("self_attn.o_proj.bias", "hidden", ATTENTION, REPLICATED, 0, "attention_bias"), \
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""), \
    SL_SCALE("pre_feedforward_layernorm", "hidden", NORMS, ""), \
    SL_GATED_MLP("mlp", "width", MLP, ""), \
    SL_SCALE("post_feedforward_layernorm", "hidden", NORMS, "")

/* ---- Gemma 4, the language part ---- */

static const sl_hf_symbol gemma4_symbols[] = {
    SL_SIZES("262144", "2304", "9216", "30", "8"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "256", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "131072", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "window", "sliding_window", NULL, "512", NULL, NULL},
    {SL_HF_NUMBER, "global_dim", "global_head_dim", NULL, "512", "head_dim", NULL},
    {SL_HF_NUMBER, "global_kv", "num_global_key_value_heads", NULL, "kv_heads", NULL, NULL},
    {SL_HF_NUMBER, "k_eq_v", "attention_k_eq_v", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "shared_layers", "num_kv_shared_layers", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "double_wide", "use_double_wide_mlp", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "inputs", "hidden_size_per_layer_input", NULL, "256", "0", NULL},
    {SL_HF_NUMBER, "input_vocab", "vocab_size_per_layer_input", NULL, "262144", NULL, NULL},
    {SL_HF_NUMBER, "moe", "enable_moe_block", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "all_experts", "num_experts", NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "experts", NULL, NULL, "(moe != 0) * all_experts", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "top_k_experts", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "expert_width", "moe_intermediate_size", "expert_intermediate_size", "0", NULL, NULL},
    {SL_HF_EACH_CHOICE, "listed", "layer_types", NULL, "(block + 1) % 6 == 0", NULL, "sliding_attention full_attention"},
    /* The last block is made a full one whatever the list says. */
    {SL_HF_EACH_COMPUTED, "full", NULL, NULL, "(listed != 0) + (listed == 0) * (block + 1 == layers)", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "reuses", NULL, NULL, "block >= layers - shared_layers", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "dim", NULL, NULL, "(full != 0) * global_dim + (full == 0) * head_dim", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "kv", NULL, NULL, "(full * k_eq_v != 0) * global_kv + (full * k_eq_v == 0) * kv_heads", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "width", NULL, NULL, "ffn * (1 + (double_wide * reuses != 0))", NULL, NULL},
};

static const sl_part gemma4_embedding[] = {
    GEMMA_EMBEDDING("inputs"),
};

static const sl_operation gemma4_embedding_does[] = {
    SL_LOOKS_UP("embedding", "embed_tokens", ""),
    SL_LOOKS_UP("input_embedding", "embed_tokens_per_layer", ""),
    SL_MULTIPLIES("input_projection", "per_layer_model_projection", 0, ""),
    SL_NORMS("input_norm", "layers, 0, inputs", "inputs"),
};

static const sl_part gemma4_block[] = {
    GEMMA_BLOCK("kv", "dim", "(reuses == 0) * (full * k_eq_v == 0)"),
    SL_SCALE("post_feedforward_layernorm_1", "hidden", NORMS, "moe"),
    SL_SCALE("post_feedforward_layernorm_2", "hidden", NORMS, "moe"),
    SL_SCALE("pre_feedforward_layernorm_2", "hidden", NORMS, "moe"),
    SL_MATRIX("router.proj", "experts, hidden", ROUTER, REPLICATED, "moe"),
    SL_TENSOR("router.scale", "hidden", ROUTER, REPLICATED, 0, "moe"),
    SL_TENSOR("router.per_expert_scale", "experts", ROUTER, REPLICATED, 0, "moe"),
    SL_TENSOR("experts.gate_up_proj", "experts, 2 * expert_width, hidden", ROUTED_EXPERTS, COLUMN, 1, "moe"),
    SL_TENSOR("experts.down_proj", "experts, hidden, expert_width", ROUTED_EXPERTS, ROW, 2, "moe"),
    GEMMA_LAYER_INPUTS("inputs"),
    SL_BUFFER("layer_scalar", "1", ""),
};

/* Where keys and values are of another block, only queries are made, normed and turned. */
static const sl_operation gemma4_block_does[] = {
    SL_NORMS("input_norm", "input_layernorm", ""),
    SL_MULTIPLIES("qkv", "self_attn.q_proj self_attn.k_proj self_attn.v_proj", 0, ""),
    SL_NORMS("qk_norm", "heads, kv * (reuses == 0), dim", ""),
    SL_ROTATES("rotary", "heads, kv * (reuses == 0), dim", ""),
    SL_ATTENDS("attention", "heads, kv, dim", 0, "full * (reuses == 0)"),
    SL_ATTENDS("attention", "heads, kv, dim", SL_OPERATION_SHARES_INPUT, "full * reuses"),
    SL_ATTENDS("attention", "heads, kv, dim, window", 0, "(full == 0) * (reuses == 0)"),
    SL_ATTENDS("attention", "heads, kv, dim, window", SL_OPERATION_SHARES_INPUT, "(full == 0) * reuses"),
    SL_MULTIPLIES("attention_output", "self_attn.o_proj", SL_OPERATION_SHARES_INPUT, ""),
    SL_NORMS("attention_norm", "post_attention_layernorm", ""),
    SL_ADDS("attention_residual"),
    SL_NORMS("mlp_norm", "pre_feedforward_layernorm", ""),
    SL_MLP_HALF("mlp.gate_proj mlp.up_proj", "mlp.down_proj"),
    SL_NORMS("mlp_output_norm", "post_feedforward_layernorm_1", ""),
    SL_MULTIPLIES("router", "router.proj", 0, ""),
    SL_NORMS("expert_norm", "pre_feedforward_layernorm_2", ""),
    SL_ROUTED_EXPERTS("experts.gate_up_proj", "experts.down_proj"),
    SL_NORMS("expert_output_norm", "post_feedforward_layernorm_2", ""),
    SL_NORMS("output_norm", "post_feedforward_layernorm", ""),
    SL_ADDS("mlp_residual"),
    SL_MULTIPLIES("input_gate", "per_layer_input_gate", 0, ""),
    SL_ACTIVATES("input_activation", "per_layer_projection", 0, ""),
    SL_MULTIPLIES("input_up", "per_layer_projection", 0, ""),
    SL_NORMS("input_output_norm", "post_per_layer_input_norm", ""),
    SL_ADDS_WHEN("input_residual", "inputs"),
};

static const sl_stack gemma4_stacks[] = {
    {.prefix = "model.", .repeat = "1", SL_PARTS(gemma4_embedding), SL_OPERATIONS(gemma4_embedding_does), .titles = {{"", "embedding"}}},
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(gemma4_block), SL_OPERATIONS(gemma4_block_does), .titles = {{"moe * full * reuses", "experts_reuse"}, {"moe * full", "experts"}, {"moe * reuses", "experts_window_reuse"}, {"moe", "experts_window"}, {"full * reuses", "dense_reuse"}, {"full", "dense"}, {"reuses", "dense_window_reuse"}, {"", "dense_window"}}, .caches = {{.when = "reuses"}, {.when = "full", .per_token = "2 * kv * dim"}, {.when = "", .per_token = "2 * kv * dim", .window = "window"}}},
    SL_NORM_AND_HEAD_STACK,
};

/* ---- Gemma 3n, the language part: AltUp, Laurel, inputs per layer ---- */

static const sl_hf_symbol gemma3n_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "262400", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "2048", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "35", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "8", NULL, NULL},
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "256", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "32768", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "window", "sliding_window", NULL, "512", NULL, NULL},
    {SL_HF_NUMBER, "inputs", "hidden_size_per_layer_input", NULL, "256", NULL, NULL},
    {SL_HF_NUMBER, "input_vocab", "vocab_size_per_layer_input", NULL, "262144", NULL, NULL},
    {SL_HF_NUMBER, "streams", "altup_num_inputs", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "shared_layers", "num_kv_shared_layers", NULL, "15", NULL, NULL},
    {SL_HF_NUMBER, "rank", "laurel_rank", NULL, "64", NULL, NULL},
    {SL_HF_EACH_NUMBER, "ffn", "intermediate_size", NULL, "16384", NULL, NULL},
    {SL_HF_EACH_NUMBER, "width", "intermediate_size", NULL, "ffn", NULL, NULL},
    {SL_HF_EACH_CHOICE, "full", "layer_types", NULL, "(block + 1) % 5 == 0", NULL, "sliding_attention full_attention"},
    {SL_HF_EACH_COMPUTED, "reuses", NULL, NULL, "block >= layers - shared_layers", NULL, NULL},
};

static const sl_part gemma3n_embedding[] = {
    GEMMA_EMBEDDING(""),
    SL_MATRIX("altup_projections.0", "hidden, hidden", OTHER, COLUMN, "streams > 1"),
    SL_MATRIX("altup_projections.1", "hidden, hidden", OTHER, COLUMN, "streams > 2"),
    SL_MATRIX("altup_projections.2", "hidden, hidden", OTHER, COLUMN, "streams > 3"),
};

/* The scale of the corrected output counts as MLP, everything else of AltUp and Laurel but their
 * norms as other. */
static const sl_part gemma3n_block[] = {
    GEMMA_BLOCK("kv_heads", "head_dim", "reuses == 0"),
    SL_TENSOR("altup.correct_output_scale", "hidden", MLP, REPLICATED, 0, ""),
    SL_MATRIX("altup.correction_coefs", "streams, streams", OTHER, REPLICATED, ""),
    SL_MATRIX("altup.prediction_coefs", "streams * streams, streams", OTHER, REPLICATED, ""),
    SL_MATRIX("altup.modality_router", "streams, hidden", OTHER, REPLICATED, ""),
    SL_SCALE("altup.router_norm", "hidden", NORMS, ""),
    SL_MATRIX("laurel.linear_left", "rank, hidden", OTHER, COLUMN, ""),
    SL_MATRIX("laurel.linear_right", "hidden, rank", OTHER, ROW, ""),
    SL_SCALE("laurel.post_laurel_norm", "hidden", NORMS, ""),
    GEMMA_LAYER_INPUTS(""),
};

static const sl_part gemma3n_end[] = {
    SL_MATRIX("model.altup_unembed_projections.0", "hidden, hidden", OTHER, COLUMN, "streams > 1"),
    SL_MATRIX("model.altup_unembed_projections.1", "hidden, hidden", OTHER, COLUMN, "streams > 2"),
    SL_MATRIX("model.altup_unembed_projections.2", "hidden, hidden", OTHER, COLUMN, "streams > 3"),
    SL_SCALE("model.norm", "hidden", NORMS, ""),
    SL_HEAD("lm_head", "vocab, hidden", "has_head"),
};

static const sl_stack gemma3n_stacks[] = {
    {.prefix = "model.", .repeat = "1", SL_PARTS(gemma3n_embedding), .titles = {{"", "embedding"}}},
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(gemma3n_block), .titles = {{"full * reuses", "dense_reuse"}, {"full", "dense"}, {"reuses", "dense_window_reuse"}, {"", "dense_window"}}, .caches = {{.when = "reuses"}, {.when = "full", .per_token = "2 * kv_heads * head_dim"}, {.when = "", .per_token = "2 * kv_heads * head_dim", .window = "window"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(gemma3n_end), .titles = {{"", "head"}}},
};

/* ---- Muse Glimmer, the language part: norms of queries and keys have no weights ---- */

static const sl_hf_symbol muse_glimmer_symbols[] = {
    SL_SIZES("202048", "6656", "19968", "52", "32"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "131072", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "window", "sliding_window", NULL, "2048", "0", NULL},
    {SL_HF_EACH_CHOICE, "windowed", "layer_types", NULL, "(layers - 1 - block) % 4 != 0", NULL, "full_attention sliding_attention"},
};

static const sl_part muse_glimmer_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_QKVO("self_attn", ""),
    SL_QKVO_BIAS("self_attn", "attention_bias"),
    SL_MATRIX("self_attn.gate_proj", "heads * head_dim, hidden", ATTENTION, COLUMN, ""),
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_SCALE("pre_feedforward_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("mlp", "ffn", MLP, ""),
    SL_SCALE("post_feedforward_layernorm", "hidden", NORMS, ""),
};

static const sl_stack muse_glimmer_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(muse_glimmer_block), .titles = {{"windowed", "dense_window"}, {"", "dense"}}, .caches = {{.when = "windowed", .per_token = "2 * kv_heads * head_dim", .window = "window"}, {.when = "", .per_token = "2 * kv_heads * head_dim"}}},
    SL_NORM_AND_HEAD_STACK,
};

/* ---- Llama 3.2 Vision, the language part: some blocks attend to the image only ---- */

static const sl_hf_symbol mllama_symbols[] = {
    SL_SIZES("128256", "4096", "14336", "40", "32"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "8", "heads", NULL},
    {SL_HF_COMPUTED, "head_dim", NULL, NULL, "hidden / heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "131072", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_EACH_MEMBER, "crosses", "cross_attention_layers", NULL, "block % 5 == 3", NULL, NULL},
};

/* Eight rows of the table have no logits. The gate of the crossed attention counts as attention,
 * that of its MLP as MLP. */
static const sl_part mllama_embedding[] = {
    SL_TENSOR("embed_tokens.weight", "vocab + 8, hidden", EMBEDDING, VOCABULARY, 0, ""),
};

static const sl_part mllama_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_QKVO("self_attn", "crosses == 0"),
    SL_QKV("cross_attn", "crosses"),
    SL_SCALE("cross_attn.q_norm", "head_dim", ATTENTION, "crosses"),
    SL_SCALE("cross_attn.k_norm", "head_dim", ATTENTION, "crosses"),
    SL_MATRIX("cross_attn.o_proj", "hidden, heads * head_dim", ATTENTION, ROW, "crosses"),
    SL_TENSOR("cross_attn_attn_gate", "1", ATTENTION, REPLICATED, 0, "crosses"),
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("mlp", "ffn", MLP, ""),
    SL_TENSOR("cross_attn_mlp_gate", "1", MLP, REPLICATED, 0, "crosses"),
};

static const sl_stack mllama_stacks[] = {
    {.prefix = "model.", .repeat = "1", SL_PARTS(mllama_embedding), .titles = {{"", "embedding"}}},
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(mllama_block), .titles = {{"crosses", "cross_attention"}, {"", "dense"}}, .caches = {{.when = "crosses", .per_source = "2 * kv_heads * head_dim"}, {.when = "", .per_token = "2 * kv_heads * head_dim"}}},
    SL_NORM_AND_HEAD_STACK,
};

/* ---- BitNet: a norm more in the attention and in the MLP ---- */

static const sl_hf_symbol bitnet_symbols[] = {
    SL_SIZES("128256", "2560", "6912", "30", "20"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "5", "heads", NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "hidden / heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "2048", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
};

static const sl_part bitnet_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_QKVO("self_attn", ""),
    SL_QKVO_BIAS("self_attn", "attention_bias"),
    SL_SCALE("self_attn.attn_sub_norm", "hidden", NORMS, ""),
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("mlp", "ffn", MLP, ""),
    SL_SCALE("mlp.ffn_sub_norm", "ffn", NORMS, ""),
};

static const sl_stack bitnet_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(bitnet_block), .titles = {{"", "dense"}}, .caches = {{.when = "", .per_token = "2 * kv_heads * head_dim"}}},
    SL_NORM_AND_HEAD_STACK,
};

/* ---- DiffLlama: the difference of two softmaxes, weighed by four vectors ---- */

static const sl_hf_symbol diffllama_symbols[] = {
    SL_SIZES("32000", "2048", "8192", "16", "32"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "heads", NULL, NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "hidden / heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "2048", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
};

static const sl_part diffllama_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_QKVO("self_attn", ""),
    SL_QKVO_BIAS("self_attn", "attention_bias"),
    SL_TENSOR("self_attn.lambda_q1", "head_dim", ATTENTION, REPLICATED, 0, ""),
    SL_TENSOR("self_attn.lambda_k1", "head_dim", ATTENTION, REPLICATED, 0, ""),
    SL_TENSOR("self_attn.lambda_q2", "head_dim", ATTENTION, REPLICATED, 0, ""),
    SL_TENSOR("self_attn.lambda_k2", "head_dim", ATTENTION, REPLICATED, 0, ""),
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("mlp", "ffn", MLP, ""),
};

static const sl_stack diffllama_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(diffllama_block), .titles = {{"", "dense"}}, .caches = {{.when = "", .per_token = "2 * kv_heads * head_dim"}}},
    SL_NORM_AND_HEAD_STACK,
};

static const sl_hf_recipe recipes[] = {
    {.model_type = "gemma4_text", .classes = "Gemma4ForCausalLM Gemma4TextModel", SL_VALUES(gemma4_symbols), SL_STACKS(gemma4_stacks), .note_when = "shared_layers > 0", .note = "blocks that share the keys and values of another have none; checkpoints may hold some that the class leaves out"},
    {.model_type = "gemma3n_text", .classes = "Gemma3nForCausalLM Gemma3nTextModel", SL_VALUES(gemma3n_symbols), SL_STACKS(gemma3n_stacks), .note_when = "shared_layers > 0", .note = "blocks that share the keys and values of another have none; checkpoints may hold some that the class leaves out"},
    {.model_type = "muse_glimmer_text", .classes = "MuseGlimmerForCausalLM MuseGlimmerTextModel", SL_VALUES(muse_glimmer_symbols), SL_STACKS(muse_glimmer_stacks)},
    {.model_type = "mllama_text_model", .classes = "MllamaForCausalLM MllamaTextModel", SL_VALUES(mllama_symbols), SL_STACKS(mllama_stacks)},
    {.model_type = "bitnet", .classes = "BitNetForCausalLM BitNetModel", SL_VALUES(bitnet_symbols), SL_STACKS(bitnet_stacks)},
    {.model_type = "diffllama", .classes = "DiffLlamaForCausalLM DiffLlamaModel", SL_VALUES(diffllama_symbols), SL_STACKS(diffllama_stacks)},
};

/* clang-format on */

const sl_hf_recipes sl_hf_single_recipes = {recipes, SL_COUNT_OF(recipes)};
