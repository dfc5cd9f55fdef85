/* Decoders with experts whose blocks are like no other family's.
 * Defaults: the configuration classes of transformers 5.16.0.dev0. Tensor names: the published
 * checkpoints. */
#include "hf/recipe.h"

/* clang-format off */

/* ---- Laguna: attention heads of which there are more in windowed blocks ---- */

static const sl_hf_symbol laguna_symbols[] = {
    SL_SIZES("100352", "2048", "8192", "40", "48"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "8", NULL, NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "131072", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "window", "sliding_window", NULL, "512", NULL, NULL},
    {SL_HF_NUMBER, "experts", "num_experts", NULL, "256", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", NULL, "8", NULL, NULL},
    {SL_HF_NUMBER, "expert_width", "moe_intermediate_size", NULL, "512", NULL, NULL},
    {SL_HF_NUMBER, "shared_width", "shared_expert_intermediate_size", NULL, "512", NULL, NULL},
    {SL_HF_EACH_NUMBER, "block_heads", "num_attention_heads_per_layer", NULL, "heads", NULL, NULL},
    {SL_HF_EACH_CHOICE, "windowed", "layer_types", NULL, "0", NULL, "full_attention sliding_attention"},
    {SL_HF_EACH_CHOICE, "sparse", "mlp_layer_types", NULL, "block > 0", NULL, "dense sparse"},
};

/* What the blocks of Laguna and Step-3.5 share: all but their experts. */
#define LAGUNA_BLOCK \
    SL_SCALE("input_layernorm", "hidden", NORMS, ""), \
    SL_MATRIX("self_attn.q_proj", "block_heads * head_dim, hidden", ATTENTION, COLUMN, ""), \
    SL_TENSOR("self_attn.q_proj.bias", "block_heads * head_dim", ATTENTION, COLUMN, 0, "attention_bias"), \
    SL_MATRIX("self_attn.k_proj", "kv_heads * head_dim, hidden", ATTENTION, COLUMN, ""), \
    SL_TENSOR("self_attn.k_proj.bias", "kv_heads * head_dim", ATTENTION, COLUMN, 0, "attention_bias"), \
    SL_MATRIX("self_attn.v_proj", "kv_heads * head_dim, hidden", ATTENTION, COLUMN, ""), \
    SL_TENSOR("self_attn.v_proj.bias", "kv_heads * head_dim", ATTENTION, COLUMN, 0, "attention_bias"), \
    SL_SCALE("self_attn.q_norm", "head_dim", ATTENTION, ""), \
    SL_SCALE("self_attn.k_norm", "head_dim", ATTENTION, ""), \
    SL_MATRIX("self_attn.o_proj", "hidden, block_heads * head_dim", ATTENTION, ROW, ""), \
    SL_TENSOR("self_attn.o_proj.bias", "hidden", ATTENTION, REPLICATED, 0, "attention_bias"), \
    SL_MATRIX("self_attn.g_proj", "block_heads, hidden", ATTENTION, COLUMN, ""), \
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""), \
    SL_GATED_MLP("mlp", "ffn", MLP, "sparse == 0")

/* The routers' correction is a parameter here, and counts as router. */
static const sl_part laguna_block[] = {
    LAGUNA_BLOCK,
    SL_MATRIX("mlp.gate", "experts, hidden", ROUTER, REPLICATED, "sparse"),
    SL_TENSOR("mlp.experts.e_score_correction_bias", "experts", ROUTER, REPLICATED, 0, "sparse"),
    SL_GATED_EXPERTS("mlp.experts.{}", "expert_width", "sparse"),
    SL_GATED_MLP("mlp.shared_expert", "shared_width", SHARED_EXPERTS, "sparse"),
};

/* A head is scaled by one number, which is not kept apart. */
#define LAGUNA_ATTENDS \
    SL_NORMS("input_norm", "input_layernorm", ""), \
    SL_MULTIPLIES("qkv", "self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.g_proj", 0, ""), \
    SL_NORMS("qk_norm", "block_heads, kv_heads, head_dim", ""), \
    SL_ROTATES("rotary", "block_heads, kv_heads, head_dim", ""), \
    SL_ATTENDS("attention", "block_heads, kv_heads, head_dim", 0, "windowed == 0"), \
    SL_ATTENDS("attention", "block_heads, kv_heads, head_dim, window", 0, "windowed"), \
    SL_ACTIVATES("attention_gate", "self_attn.o_proj", 0, ""), \
    SL_MULTIPLIES("attention_output", "self_attn.o_proj", 0, ""), \
    SL_ADDS("attention_residual"), \
    SL_NORMS("mlp_norm", "post_attention_layernorm", ""), \
    SL_MLP_HALF("mlp.gate_proj mlp.up_proj", "mlp.down_proj")

#define SHARED_EXPERT_DOES(module) \
    SL_MULTIPLIES("shared_up", module ".gate_proj " module ".up_proj", SL_OPERATION_SHARES_INPUT, ""), \
    SL_ACTIVATES("shared_activation", module ".down_proj", 0, ""), \
    SL_MULTIPLIES("shared_down", module ".down_proj", 0, ""), \
    SL_ADDS("mlp_residual")

static const sl_operation laguna_block_does[] = {
    LAGUNA_ATTENDS,
    SL_MULTIPLIES("router", "mlp.gate", 0, ""),
    SL_ROUTED_EXPERTS("mlp.experts.{}.gate_proj mlp.experts.{}.up_proj", "mlp.experts.{}.down_proj"),
    SHARED_EXPERT_DOES("mlp.shared_expert"),
};

#define LAGUNA_STACKS(block) \
    SL_EMBED_TOKENS_STACK, \
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(block), SL_OPERATIONS(block##_does), .titles = {{"sparse * windowed", "experts_window"}, {"sparse", "experts"}, {"windowed", "dense_window"}, {"", "dense"}}, .caches = {{.when = "windowed", .per_token = "2 * kv_heads * head_dim", .window = "window"}, {.when = "", .per_token = "2 * kv_heads * head_dim"}}}, \
    SL_NORM_AND_HEAD_STACK

static const sl_stack laguna_stacks[] = {
    LAGUNA_STACKS(laguna_block),
};

/* ---- Step-3.5 and the language part of Step-3.7 ---- */

static const sl_hf_symbol step3p5_symbols[] = {
    SL_SIZES("128815", "4096", "11264", "45", "64"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", "num_attention_groups", "8", NULL, NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "128000", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "window", "sliding_window", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "experts", "n_routed_experts", "moe_num_experts num_local_experts num_experts", "288", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", "moe_top_k", "8", NULL, NULL},
    {SL_HF_NUMBER, "expert_width", "moe_intermediate_size", NULL, "1280", NULL, NULL},
    {SL_HF_NUMBER, "shared_width", "share_expert_dim", "share_expert_dims", "1280", NULL, NULL},
    {SL_HF_NUMBER, "window_heads", "num_sliding_attention_heads", "attention_other_setting.num_attention_heads", "heads", NULL, NULL},
    {SL_HF_NUMBER, "dense_layers", "first_k_dense_replace", NULL, "3", NULL, NULL},
    {SL_HF_NUMBER, "mtp", "num_nextn_predict_layers", "num_mtp_layers", "0", NULL, NULL},
    {SL_HF_EACH_CHOICE, "windowed", "layer_types", NULL, "0", NULL, "full_attention sliding_attention"},
    {SL_HF_EACH_NUMBER, "block_heads", "num_attention_heads_per_layer", NULL, "(windowed != 0) * window_heads + (windowed == 0) * heads", NULL, NULL},
    {SL_HF_EACH_MEMBER, "listed", "moe_layers_enum", NULL, "block >= dense_layers", NULL, NULL},
    {SL_HF_EACH_CHOICE, "sparse", "mlp_layer_types", NULL, "listed", NULL, "dense sparse"},
};

static const sl_part step3p5_block[] = {
    LAGUNA_BLOCK,
    SL_MATRIX("moe.gate", "experts, hidden", ROUTER, REPLICATED, "sparse"),
    SL_BUFFER("moe.router_bias", "experts", "sparse"),
    SL_TENSOR("moe.gate_proj.weight", "experts, expert_width, hidden", ROUTED_EXPERTS, COLUMN, 1, "sparse"),
    SL_TENSOR("moe.up_proj.weight", "experts, expert_width, hidden", ROUTED_EXPERTS, COLUMN, 1, "sparse"),
    SL_TENSOR("moe.down_proj.weight", "experts, hidden, expert_width", ROUTED_EXPERTS, ROW, 2, "sparse"),
    SL_GATED_MLP("share_expert", "shared_width", SHARED_EXPERTS, "sparse"),
};

static const sl_operation step3p5_block_does[] = {
    LAGUNA_ATTENDS,
    SL_MULTIPLIES("router", "moe.gate", 0, ""),
    SL_ROUTED_EXPERTS("moe.gate_proj moe.up_proj", "moe.down_proj"),
    SHARED_EXPERT_DOES("share_expert"),
};

static const sl_stack step3p5_stacks[] = {
    LAGUNA_STACKS(step3p5_block),
};

/* ---- DeepSeek-V4: one latent that is key and value, windowed, and compressed beyond the window;
 * hyper-connections; the first blocks route by token ---- */

static const sl_hf_symbol deepseek_v4_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "129280", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "4096", NULL, NULL},
    {SL_HF_NUMBER, "expert_width", "moe_intermediate_size", "intermediate_size", "2048", NULL, NULL},
    {SL_HF_COMPUTED, "ffn", NULL, NULL, "expert_width", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "43", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "64", NULL, NULL},
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "512", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "1048576", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "query_rank", "q_lora_rank", NULL, "1024", NULL, NULL},
    {SL_HF_NUMBER, "output_groups", "o_groups", NULL, "8", NULL, NULL},
    {SL_HF_NUMBER, "output_rank", "o_lora_rank", NULL, "1024", NULL, NULL},
    {SL_HF_NUMBER, "index_heads", "index_n_heads", NULL, "64", NULL, NULL},
    {SL_HF_NUMBER, "index_dim", "index_head_dim", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "window", "sliding_window", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "streams", "hc_mult", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "experts", "n_routed_experts", "num_local_experts", "256", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", NULL, "6", NULL, NULL},
    {SL_HF_NUMBER, "hash_layers", "num_hash_layers", NULL, "3", NULL, NULL},
    {SL_HF_NUMBER, "mtp", "num_nextn_predict_layers", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "sparse_rate", "compress_rates.compressed_sparse_attention", "compress_rate_csa", "4", NULL, NULL},
    {SL_HF_NUMBER, "heavy_rate", "compress_rates.heavily_compressed_attention", "compress_rate_hca", "128", NULL, NULL},
    {SL_HF_COMPUTED, "mix", NULL, NULL, "(2 + streams) * streams", NULL, NULL},
    /* 0, 4 or 128 positions behind one entry; the list goes on with the blocks for multi-token
     * prediction. */
    {SL_HF_EACH_NUMBER, "ratio", "compress_ratios", NULL, "4 + 124 * ((block < 2) + (block >= 2) * (block % 2 == 0))", NULL, NULL},
    {SL_HF_EACH_CHOICE, "type", "layer_types", NULL, "(ratio == 4) + 2 * (ratio == 128)", NULL, "sliding_attention compressed_sparse_attention heavily_compressed_attention"},
    {SL_HF_EACH_CHOICE, "hashes", "mlp_layer_types", NULL, "block < hash_layers", NULL, "moe hash_moe"},
    {SL_HF_EACH_COMPUTED, "indexed", NULL, NULL, "type == 1", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "heavy", NULL, NULL, "type == 2", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "series", NULL, NULL, "1 + indexed", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "rate", NULL, NULL, "indexed * sparse_rate + heavy * heavy_rate", NULL, NULL},
};

/* All norms count as norms; hyper-connections count where they lead to, the last as other. */
static const sl_part deepseek_v4_embedding[] = {
    SL_TENSOR("embed.weight", "vocab, hidden", EMBEDDING, VOCABULARY, 0, ""),
};

static const sl_part deepseek_v4_block[] = {
    SL_TENSOR("hc_attn_fn", "mix, streams * hidden", ATTENTION, REPLICATED, 0, ""),
    SL_TENSOR("hc_attn_base", "mix", ATTENTION, REPLICATED, 0, ""),
    SL_TENSOR("hc_attn_scale", "3", ATTENTION, REPLICATED, 0, ""),
    SL_SCALE("attn_norm", "hidden", NORMS, ""),
    SL_MATRIX("attn.wq_a", "query_rank, hidden", ATTENTION, REPLICATED, ""),
    SL_SCALE("attn.q_norm", "query_rank", NORMS, ""),
    SL_MATRIX("attn.wq_b", "heads * head_dim, query_rank", ATTENTION, COLUMN, ""),
    SL_MATRIX("attn.wkv", "head_dim, hidden", ATTENTION, REPLICATED, ""),
    SL_SCALE("attn.kv_norm", "head_dim", NORMS, ""),
    SL_MATRIX("attn.wo_a", "output_groups * output_rank, heads * head_dim / output_groups", ATTENTION, COLUMN, ""),
    SL_MATRIX("attn.wo_b", "hidden, output_groups * output_rank", ATTENTION, ROW, ""),
    SL_TENSOR("attn.attn_sink", "heads", ATTENTION, COLUMN, 0, ""),
    SL_MATRIX("attn.compressor.wkv", "series * head_dim, hidden", ATTENTION, REPLICATED, "type"),
    SL_MATRIX("attn.compressor.wgate", "series * head_dim, hidden", ATTENTION, REPLICATED, "type"),
    SL_TENSOR("attn.compressor.ape", "rate, series * head_dim", ATTENTION, REPLICATED, 0, "type"),
    SL_SCALE("attn.compressor.norm", "head_dim", NORMS, "type"),
    SL_MATRIX("attn.indexer.wq_b", "index_heads * index_dim, query_rank", ATTENTION, COLUMN, "indexed"),
    SL_MATRIX("attn.indexer.weights_proj", "index_heads, hidden", ATTENTION, COLUMN, "indexed"),
    SL_MATRIX("attn.indexer.compressor.wkv", "2 * index_dim, hidden", ATTENTION, REPLICATED, "indexed"),
    SL_MATRIX("attn.indexer.compressor.wgate", "2 * index_dim, hidden", ATTENTION, REPLICATED, "indexed"),
    SL_TENSOR("attn.indexer.compressor.ape", "rate, 2 * index_dim", ATTENTION, REPLICATED, 0, "indexed"),
    SL_SCALE("attn.indexer.compressor.norm", "index_dim", NORMS, "indexed"),
    SL_TENSOR("hc_ffn_fn", "mix, streams * hidden", MLP, REPLICATED, 0, ""),
    SL_TENSOR("hc_ffn_base", "mix", MLP, REPLICATED, 0, ""),
    SL_TENSOR("hc_ffn_scale", "3", MLP, REPLICATED, 0, ""),
    SL_SCALE("ffn_norm", "hidden", NORMS, ""),
    SL_TENSOR("ffn.gate.weight", "experts, hidden", ROUTER, REPLICATED, 0, ""),
    SL_BUFFER("ffn.gate.bias", "experts", "hashes == 0"),
    SL_BUFFER("ffn.gate.tid2eid", "vocab, top_k", "hashes"),
    SL_EXPERTS("ffn.experts.{}.w1", "expert_width, hidden", COLUMN, ""),
    SL_EXPERTS("ffn.experts.{}.w2", "hidden, expert_width", ROW, ""),
    SL_EXPERTS("ffn.experts.{}.w3", "expert_width, hidden", COLUMN, ""),
    SL_MATRIX("ffn.shared_experts.w1", "expert_width, hidden", SHARED_EXPERTS, COLUMN, ""),
    SL_MATRIX("ffn.shared_experts.w2", "hidden, expert_width", SHARED_EXPERTS, ROW, ""),
    SL_MATRIX("ffn.shared_experts.w3", "expert_width, hidden", SHARED_EXPERTS, COLUMN, ""),
};

static const sl_part deepseek_v4_end[] = {
    SL_TENSOR("hc_head_fn", "streams, streams * hidden", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("hc_head_base", "streams", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("hc_head_scale", "1", OTHER, REPLICATED, 0, ""),
    SL_SCALE("norm", "hidden", NORMS, ""),
    SL_HEAD("head", "vocab, hidden", "has_head"),
};

/* Per token: entries of the compressed sequence. The window, and inputs that wait to be compressed
 * (key and gate; an indexed block also those of the entry before), do not grow with the
 * sequence. */
static const sl_stack deepseek_v4_stacks[] = {
    {.prefix = "", .repeat = "1", SL_PARTS(deepseek_v4_embedding), .titles = {{"", "embedding"}}},
    {.prefix = "layers.{}.", .repeat = "layers", SL_PARTS(deepseek_v4_block), .titles = {{"indexed", "indexed_experts"}, {"heavy", "compressed_experts"}, {"", "experts_window"}}, .caches = {{.when = "indexed", .per_token = "(head_dim + index_dim) / rate", .state_bytes = "2 * window * head_dim + 2 * 6 * rate * (head_dim + index_dim)"}, {.when = "heavy", .per_token = "head_dim / rate", .state_bytes = "2 * window * head_dim + 2 * 2 * rate * head_dim"}, {.when = "", .per_token = "head_dim", .window = "window"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(deepseek_v4_end), .titles = {{"", "head"}}},
};

/* ---- LongCat-Flash: two attentions and two MLPs a block, experts beside them ---- */

static const sl_hf_symbol longcat_flash_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "131072", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "6144", NULL, NULL},
    {SL_HF_NUMBER, "ffn", "ffn_hidden_size", "intermediate_size", "12288", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_layers", NULL, "28", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "64", NULL, NULL},
    {SL_HF_COMPUTED, "kv_heads", NULL, NULL, "heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "131072", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "query_rank", "q_lora_rank", NULL, "1536", NULL, NULL},
    {SL_HF_NUMBER, "kv_rank", "kv_lora_rank", NULL, "512", NULL, NULL},
    {SL_HF_NUMBER, "plain_dim", "qk_nope_head_dim", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "rotary_dim", "qk_rope_head_dim", NULL, "64", NULL, NULL},
    {SL_HF_NUMBER, "value_dim", "v_head_dim", NULL, "128", NULL, NULL},
    {SL_HF_COMPUTED, "head_dim", NULL, NULL, "plain_dim + rotary_dim", NULL, NULL},
    {SL_HF_NUMBER, "experts", "n_routed_experts", "num_local_experts", "512", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "moe_topk", "num_experts_per_tok", "12", NULL, NULL},
    {SL_HF_NUMBER, "zero_experts", "zero_expert_num", NULL, "256", "0", NULL},
    {SL_HF_NUMBER, "expert_width", "expert_ffn_hidden_size", NULL, "2048", NULL, NULL},
    {SL_HF_NUMBER, "router_bias", "router_bias", NULL, "0", NULL, NULL},
};

#define LONGCAT_HALF(at) \
    SL_SCALE("input_layernorm." at, "hidden", NORMS, ""), \
    SL_MATRIX("self_attn." at ".q_a_proj", "query_rank, hidden", ATTENTION, REPLICATED, ""), \
    SL_TENSOR("self_attn." at ".q_a_proj.bias", "query_rank", ATTENTION, REPLICATED, 0, "attention_bias"), \
    SL_SCALE("self_attn." at ".q_a_layernorm", "query_rank", ATTENTION, ""), \
    SL_MATRIX("self_attn." at ".q_b_proj", "heads * head_dim, query_rank", ATTENTION, COLUMN, ""), \
    SL_MATRIX("self_attn." at ".kv_a_proj_with_mqa", "kv_rank + rotary_dim, hidden", ATTENTION, REPLICATED, ""), \
    SL_TENSOR("self_attn." at ".kv_a_proj_with_mqa.bias", "kv_rank + rotary_dim", ATTENTION, REPLICATED, 0, "attention_bias"), \
    SL_SCALE("self_attn." at ".kv_a_layernorm", "kv_rank", ATTENTION, ""), \
    SL_MATRIX("self_attn." at ".kv_b_proj", "heads * (plain_dim + value_dim), kv_rank", ATTENTION, COLUMN, ""), \
    SL_MATRIX("self_attn." at ".o_proj", "hidden, heads * value_dim", ATTENTION, ROW, ""), \
    SL_TENSOR("self_attn." at ".o_proj.bias", "hidden", ATTENTION, REPLICATED, 0, "attention_bias"), \
    SL_SCALE("post_attention_layernorm." at, "hidden", NORMS, ""), \
    SL_GATED_MLP("mlps." at, "ffn", MLP, "")

/* The class allots rows of gate_up_proj to the experts that do nothing, too, and they are counted
 * as it does; published checkpoints hold matrices of the other experts only. */
static const sl_part longcat_flash_block[] = {
    LONGCAT_HALF("0"),
    LONGCAT_HALF("1"),
    SL_MATRIX("mlp.router.classifier", "experts + zero_experts, hidden", ROUTER, REPLICATED, ""),
    SL_TENSOR("mlp.router.classifier.bias", "experts + zero_experts", ROUTER, REPLICATED, 0, "router_bias"),
    SL_BUFFER("mlp.router.e_score_correction_bias", "experts + zero_experts", ""),
    SL_TENSOR("mlp.experts.gate_up_proj", "experts + zero_experts, 2 * expert_width, hidden", ROUTED_EXPERTS, COLUMN, 1, ""),
    SL_TENSOR("mlp.experts.down_proj", "experts, hidden, expert_width", ROUTED_EXPERTS, ROW, 2, ""),
};

static const sl_stack longcat_flash_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(longcat_flash_block), .titles = {{"", "shortcut_experts"}}, .caches = {{.when = "", .per_token = "2 * (kv_rank + rotary_dim)", .naive = "2 * heads * (head_dim + value_dim)"}}},
    SL_NORM_AND_HEAD_STACK,
};

/* ---- Ernie 4.5 with experts ---- */

static const sl_hf_symbol ernie4_5_moe_symbols[] = {
    SL_SIZES("103424", "2560", "12288", "28", "20"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "4", "heads", NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "hidden / heads", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "131072", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "use_bias", "use_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "experts", "moe_num_experts", "num_experts", "64", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "moe_k", "num_experts_per_tok", "6", NULL, NULL},
    {SL_HF_NUMBER, "expert_width", "moe_intermediate_size", NULL, "1536", NULL, NULL},
    {SL_HF_NUMBER, "shared_experts", "moe_num_shared_experts", NULL, "2", NULL, NULL},
    {SL_HF_COMPUTED, "shared_width", NULL, NULL, "shared_experts * expert_width", NULL, NULL},
    {SL_HF_NUMBER, "first", "moe_layer_start_index", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "last", "moe_layer_end_index", NULL, "layers - 1", NULL, "-1"},
    {SL_HF_NUMBER, "interval", "moe_layer_interval", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "mtp", "num_nextn_predict_layers", NULL, "0", NULL, NULL},
    {SL_HF_COMPUTED, "head_bias", NULL, NULL, "use_bias", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "sparse", NULL, NULL, "((block + 1) % interval == 0) * (block >= first) * (block <= last)", NULL, NULL},
};

/* The routers' correction is a parameter here, and counts as MLP. */
static const sl_part ernie4_5_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_QKVO("self_attn", ""),
    SL_QKVO_BIAS("self_attn", "use_bias"),
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("mlp", "ffn", MLP, "sparse == 0"),
    SL_GATED_MLP_BIAS("mlp", "ffn", MLP, "(sparse == 0) * use_bias"),
    SL_MATRIX("mlp.gate", "experts, hidden", ROUTER, REPLICATED, "sparse"),
    SL_TENSOR("mlp.moe_statics.e_score_correction_bias", "1, experts", MLP, REPLICATED, 0, "sparse"),
    SL_GATED_EXPERTS("mlp.experts.{}", "expert_width", "sparse"),
    SL_GATED_MLP("mlp.shared_experts", "shared_width", SHARED_EXPERTS, "sparse * shared_width"),
    SL_GATED_MLP_BIAS("mlp.shared_experts", "shared_width", SHARED_EXPERTS, "(sparse * shared_width) * use_bias"),
};

static const sl_operation ernie4_5_block_does[] = {
    SL_NORMS("input_norm", "input_layernorm", ""),
    SL_MULTIPLIES("qkv", "self_attn.q_proj self_attn.k_proj self_attn.v_proj", 0, ""),
    SL_ROTATES("rotary", "heads, kv_heads, head_dim", ""),
    SL_ATTENDS("attention", "heads, kv_heads, head_dim", 0, ""),
    SL_MULTIPLIES("attention_output", "self_attn.o_proj", SL_OPERATION_SHARES_INPUT, ""),
    SL_ADDS("attention_residual"),
    SL_NORMS("mlp_norm", "post_attention_layernorm", ""),
    SL_MLP_HALF("mlp.gate_proj mlp.up_proj", "mlp.down_proj"),
    SL_MULTIPLIES("router", "mlp.gate", 0, ""),
    SL_ROUTED_EXPERTS("mlp.experts.{}.gate_proj mlp.experts.{}.up_proj", "mlp.experts.{}.down_proj"),
    SHARED_EXPERT_DOES("mlp.shared_experts"),
};

static const sl_part ernie4_5_end[] = {
    SL_SCALE("model.norm", "hidden", NORMS, ""),
    SL_HEAD("lm_head", "vocab, hidden", "has_head"),
    SL_TENSOR("lm_head.bias", "vocab", LM_HEAD, VOCABULARY, 0, "has_head * head_bias"),
};

static const sl_stack ernie4_5_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(ernie4_5_block), SL_OPERATIONS(ernie4_5_block_does), .titles = {{"sparse", "experts"}, {"", "dense"}}, .caches = {{.when = "", .per_token = "2 * kv_heads * head_dim"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(ernie4_5_end), SL_OPERATIONS(sl_hf_norm_and_head_does), .titles = {{"", "head"}}},
};

/* ---- JetMoE: experts of the attention, and of the MLP ---- */

static const sl_hf_symbol jetmoe_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "32000", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "2048", NULL, NULL},
    {SL_HF_NUMBER, "ffn", "intermediate_size", NULL, "5632", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "12", NULL, NULL},
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "16", NULL, NULL},
    {SL_HF_NUMBER, "head_dim", "kv_channels", "head_dim", "128", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "4096", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "experts", "num_local_experts", "moe_num_experts", "8", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", "moe_top_k", "2", NULL, NULL},
    {SL_HF_COMPUTED, "heads", NULL, NULL, "kv_heads * top_k", NULL, NULL},
};

/* The attention's experts count as routed experts, those of the MLP as MLP: they are in the active
 * parameters of a token, all of them. */
static const sl_part jetmoe_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_MATRIX("self_attention.kv_proj", "2 * kv_heads * head_dim, hidden", ATTENTION, COLUMN, ""),
    SL_MATRIX("self_attention.experts.router.layer", "experts, hidden", ROUTER, REPLICATED, ""),
    SL_TENSOR("self_attention.experts.input_linear.weight", "experts, kv_heads * head_dim, hidden", ROUTED_EXPERTS, COLUMN, 1, ""),
    SL_TENSOR("self_attention.experts.output_linear.weight", "experts, hidden, kv_heads * head_dim", ROUTED_EXPERTS, ROW, 2, ""),
    SL_TENSOR("self_attention.experts.bias", "hidden", ROUTED_EXPERTS, REPLICATED, 0, ""),
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_MATRIX("mlp.router.layer", "experts, hidden", ROUTER, REPLICATED, ""),
    SL_TENSOR("mlp.input_linear.weight", "experts, 2 * ffn, hidden", MLP, COLUMN, 1, ""),
    SL_TENSOR("mlp.output_linear.weight", "experts, hidden, ffn", MLP, ROW, 2, ""),
    SL_TENSOR("mlp.bias", "hidden", MLP, REPLICATED, 0, ""),
};

static const sl_stack jetmoe_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(jetmoe_block), .titles = {{"", "attention_experts"}}, .caches = {{.when = "", .per_token = "2 * kv_heads * head_dim"}}},
    SL_NORM_AND_HEAD_STACK,
};

/* ---- MiMo-V2-Flash: windowed blocks have more key-value heads, and sinks; values are narrower
 * ---- */

static const sl_hf_symbol mimo_v2_flash_symbols[] = {
    SL_SIZES("152576", "4096", "16384", "48", "64"),
    {SL_HF_NUMBER, "kv_heads", "num_key_value_heads", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "head_dim", "head_dim", NULL, "192", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "131072", NULL, NULL},
    {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "value_dim", "v_head_dim", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "attention_bias", "attention_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "window", "sliding_window", "sliding_window_size", "128", NULL, NULL},
    {SL_HF_NUMBER, "window_heads", "swa_num_attention_heads", NULL, "heads", NULL, NULL},
    {SL_HF_NUMBER, "window_kv", "swa_num_key_value_heads", NULL, "2 * kv_heads", NULL, NULL},
    {SL_HF_NUMBER, "window_dim", "swa_head_dim", NULL, "head_dim", NULL, NULL},
    {SL_HF_NUMBER, "window_value", "swa_v_head_dim", NULL, "value_dim", NULL, NULL},
    {SL_HF_NUMBER, "window_sinks", "add_swa_attention_sink_bias", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "full_sinks", "add_full_attention_sink_bias", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "experts", "n_routed_experts", "num_local_experts", "256", NULL, NULL},
    {SL_HF_NUMBER, "top_k", "num_experts_per_tok", NULL, "8", NULL, NULL},
    {SL_HF_NUMBER, "expert_width", "moe_intermediate_size", NULL, "2048", NULL, NULL},
    {SL_HF_NUMBER, "mtp", "num_nextn_predict_layers", NULL, "0", NULL, NULL},
    {SL_HF_EACH_NUMBER, "patterned", "hybrid_layer_pattern", NULL, "(block > 0) * ((block + 1) % 6 != 0)", NULL, NULL},
    {SL_HF_EACH_CHOICE, "windowed", "layer_types", NULL, "patterned", NULL, "full_attention sliding_attention"},
    {SL_HF_EACH_NUMBER, "frequent", "moe_layer_freq", NULL, "block > 0", NULL, NULL},
    {SL_HF_EACH_CHOICE, "sparse", "mlp_layer_types", NULL, "frequent", NULL, "dense sparse"},
    {SL_HF_EACH_COMPUTED, "block_q", NULL, NULL, "(windowed != 0) * window_heads + (windowed == 0) * heads", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "block_kv", NULL, NULL, "(windowed != 0) * window_kv + (windowed == 0) * kv_heads", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "block_dim", NULL, NULL, "(windowed != 0) * window_dim + (windowed == 0) * head_dim", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "block_value", NULL, NULL, "(windowed != 0) * window_value + (windowed == 0) * value_dim", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "sinks", NULL, NULL, "(windowed != 0) * window_sinks + (windowed == 0) * full_sinks", NULL, NULL},
};

static const sl_part mimo_v2_flash_block[] = {
    SL_SCALE("input_layernorm", "hidden", NORMS, ""),
    SL_MATRIX("self_attn.q_proj", "block_q * block_dim, hidden", ATTENTION, COLUMN, ""),
    SL_TENSOR("self_attn.q_proj.bias", "block_q * block_dim", ATTENTION, COLUMN, 0, "attention_bias"),
    SL_MATRIX("self_attn.k_proj", "block_kv * block_dim, hidden", ATTENTION, COLUMN, ""),
    SL_TENSOR("self_attn.k_proj.bias", "block_kv * block_dim", ATTENTION, COLUMN, 0, "attention_bias"),
    SL_MATRIX("self_attn.v_proj", "block_kv * block_value, hidden", ATTENTION, COLUMN, ""),
    SL_TENSOR("self_attn.v_proj.bias", "block_kv * block_value", ATTENTION, COLUMN, 0, "attention_bias"),
    SL_TENSOR("self_attn.attention_sink_bias", "block_q", ATTENTION, COLUMN, 0, "sinks"),
    SL_MATRIX("self_attn.o_proj", "hidden, block_q * block_value", ATTENTION, ROW, ""),
    SL_SCALE("post_attention_layernorm", "hidden", NORMS, ""),
    SL_GATED_MLP("mlp", "ffn", MLP, "sparse == 0"),
    SL_TENSOR("mlp.gate.weight", "experts, hidden", ROUTER, REPLICATED, 0, "sparse"),
    SL_BUFFER("mlp.gate.e_score_correction_bias", "experts", "sparse"),
    SL_GATED_EXPERTS("mlp.experts.{}", "expert_width", "sparse"),
};

static const sl_stack mimo_v2_flash_stacks[] = {
    SL_EMBED_TOKENS_STACK,
    {.prefix = "model.layers.{}.", .repeat = "layers", SL_PARTS(mimo_v2_flash_block), .titles = {{"sparse * windowed", "experts_window"}, {"sparse", "experts"}, {"windowed", "dense_window"}, {"", "dense"}}, .caches = {{.when = "windowed", .per_token = "block_kv * (block_dim + block_value)", .window = "window"}, {.when = "", .per_token = "block_kv * (block_dim + block_value)"}}},
    SL_NORM_AND_HEAD_STACK,
};

static const sl_hf_recipe recipes[] = {
    {.model_type = "laguna", .classes = "LagunaForCausalLM LagunaModel", SL_VALUES(laguna_symbols), SL_STACKS(laguna_stacks)},
    {.model_type = "step3p5", .classes = "Step3p5ForCausalLM Step3p7TextModel", SL_VALUES(step3p5_symbols), SL_STACKS(step3p5_stacks), .mtp_layers = "mtp"},
    {.model_type = "deepseek_v4", .classes = "DeepseekV4ForCausalLM DeepseekV4Model", SL_VALUES(deepseek_v4_symbols), SL_STACKS(deepseek_v4_stacks), .mtp_layers = "mtp", .note_when = "1", .note = "the window of the cache and what waits to be compressed are in bytes_per_sequence"},
    {.model_type = "longcat_flash", .classes = "LongcatFlashForCausalLM LongcatFlashModel", SL_VALUES(longcat_flash_symbols), SL_STACKS(longcat_flash_stacks), .note_when = "1", .note = "the class allots rows to the experts that do nothing, too, and they are counted; checkpoints hold only the others"},
    {.model_type = "ernie4_5_moe", .classes = "Ernie4_5_MoeForCausalLM Ernie4_5_MoeModel", SL_VALUES(ernie4_5_moe_symbols), SL_STACKS(ernie4_5_stacks), .mtp_layers = "mtp"},
    {.model_type = "jetmoe", .classes = "JetMoeForCausalLM JetMoeModel", SL_VALUES(jetmoe_symbols), SL_STACKS(jetmoe_stacks), .note_when = "1", .note = "experts of the MLP count as mlp, as in the published count: active_per_token holds all of them"},
    {.model_type = "mimo_v2_flash", .classes = "MiMoV2FlashForCausalLM MiMoV2FlashModel", SL_VALUES(mimo_v2_flash_symbols), SL_STACKS(mimo_v2_flash_stacks), .mtp_layers = "mtp"},
};

/* clang-format on */

const sl_hf_recipes sl_hf_expert_recipes = {recipes, SL_COUNT_OF(recipes)};
