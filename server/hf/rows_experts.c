/* Mixtures of experts and latent attention. Defaults: the configuration classes of transformers
 * 5.16.0.dev0; of deepseek (v1) and MiniCPM3 the custom code of their repositories. */
#include "hf/table.h"

#define EXPERT_KEYS(experts, alias)                                                                \
    [SL_HF_EXPERTS] = {experts, alias}, [SL_HF_EXPERTS_PER_TOKEN] = {"num_experts_per_tok", NULL}

#define LATENT_KEYS                                                                                \
    [SL_HF_QUERY_RANK] = {"q_lora_rank", NULL}, [SL_HF_KV_RANK] = {"kv_lora_rank", NULL},          \
    [SL_HF_PLAIN_DIM] = {"qk_nope_head_dim", NULL},                                                \
    [SL_HF_ROTARY_DIM] = {"qk_rope_head_dim", NULL}, [SL_HF_VALUE_DIM] = {"v_head_dim", NULL}

#define DEEPSEEK_KEYS                                                                              \
    EXPERT_KEYS("n_routed_experts", "num_local_experts"),                                          \
        [SL_HF_EXPERT_WIDTH] = {"moe_intermediate_size", NULL},                                    \
        [SL_HF_SHARED_EXPERTS] = {"n_shared_experts", NULL},                                       \
        [SL_HF_DENSE_BLOCKS] = {"first_k_dense_replace", NULL},                                    \
        [SL_HF_SPARSE_EVERY] = {"moe_layer_freq", NULL}

/* What the head_dim of these files says is the rotary part: it is not read. */
#define SHARED_KEYS                                                                                \
    [SL_HF_VOCABULARY] = {"vocab_size", NULL}, [SL_HF_HIDDEN] = {"hidden_size", NULL},             \
    [SL_HF_FFN] = {"intermediate_size", NULL}, [SL_HF_BLOCKS] = {"num_hidden_layers", NULL},       \
    [SL_HF_HEADS] = {"num_attention_heads", NULL},                                                 \
    [SL_HF_KV_HEADS] = {"num_key_value_heads", NULL},                                              \
    [SL_HF_POSITIONS] = {"max_position_embeddings", NULL}

static const sl_hf_key local_keys[SL_HF_FIELD_COUNT] = {
    SL_HF_LLAMA_KEYS, EXPERT_KEYS("num_local_experts", "num_experts")};

static const sl_hf_key oss_keys[SL_HF_FIELD_COUNT] = {
    SL_HF_LLAMA_KEYS, [SL_HF_EXPERTS] = {"num_local_experts", "num_experts"},
    [SL_HF_EXPERTS_PER_TOKEN] = {"num_experts_per_tok", "experts_per_token"}};

static const sl_hf_key qwen_keys[SL_HF_FIELD_COUNT] = {
    SL_HF_LLAMA_KEYS, EXPERT_KEYS("num_experts", "num_local_experts"),
    [SL_HF_EXPERT_WIDTH] = {"moe_intermediate_size", NULL},
    [SL_HF_SHARED_WIDTH] = {"shared_expert_intermediate_size", NULL},
    [SL_HF_SPARSE_EVERY] = {"decoder_sparse_step", NULL}};

static const sl_hf_key qwen3_keys[SL_HF_FIELD_COUNT] = {
    SL_HF_LLAMA_KEYS, EXPERT_KEYS("num_experts", "num_local_experts"),
    [SL_HF_EXPERT_WIDTH] = {"moe_intermediate_size", NULL},
    [SL_HF_SPARSE_EVERY] = {"decoder_sparse_step", NULL}};

static const sl_hf_key olmoe_keys[SL_HF_FIELD_COUNT] = {SL_HF_LLAMA_KEYS,
                                                        EXPERT_KEYS("num_experts", NULL)};

static const sl_hf_key deepseek_keys[SL_HF_FIELD_COUNT] = {SL_HF_LLAMA_KEYS, DEEPSEEK_KEYS};

static const sl_hf_key latent_keys[SL_HF_FIELD_COUNT] = {SHARED_KEYS, DEEPSEEK_KEYS, LATENT_KEYS};

static const sl_hf_key sparse_keys[SL_HF_FIELD_COUNT] = {
    SHARED_KEYS, DEEPSEEK_KEYS, LATENT_KEYS, [SL_HF_INDEX_HEADS] = {"index_n_heads", NULL},
    [SL_HF_INDEX_DIM] = {"index_head_dim", NULL}};

static const sl_hf_key dense_latent_keys[SL_HF_FIELD_COUNT] = {SHARED_KEYS, LATENT_KEYS};

static const sl_hf_key llama4_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"hidden_size", NULL},
    [SL_HF_FFN] = {"intermediate_size_mlp", NULL},
    [SL_HF_BLOCKS] = {"num_hidden_layers", NULL},
    [SL_HF_HEADS] = {"num_attention_heads", NULL},
    [SL_HF_KV_HEADS] = {"num_key_value_heads", NULL},
    [SL_HF_HEAD_DIM] = {"head_dim", NULL},
    [SL_HF_POSITIONS] = {"max_position_embeddings", NULL},
    [SL_HF_WINDOW] = {"attention_chunk_size", NULL},
    [SL_HF_FULL_EVERY] = {"no_rope_layer_interval", NULL},
    EXPERT_KEYS("num_local_experts", "num_experts"),
    [SL_HF_EXPERT_WIDTH] = {"intermediate_size", NULL},
    [SL_HF_SPARSE_EVERY] = {"interleave_moe_layer_step", NULL}};

static const sl_hf_key dbrx_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"d_model", "hidden_size"},
    [SL_HF_FFN] = {"ffn_config.ffn_hidden_size", NULL},
    [SL_HF_BLOCKS] = {"n_layers", "num_hidden_layers"},
    [SL_HF_HEADS] = {"n_heads", "num_attention_heads"},
    [SL_HF_KV_HEADS] = {"attn_config.kv_n_heads", NULL},
    [SL_HF_POSITIONS] = {"max_seq_len", NULL},
    [SL_HF_EXPERTS] = {"ffn_config.moe_num_experts", NULL},
    [SL_HF_EXPERTS_PER_TOKEN] = {"ffn_config.moe_top_k", NULL}};

static const sl_hf_type types[] = {
    {
        .model_type = "mixtral",
        .causal_class = "MixtralForCausalLM",
        .base_class = "MixtralModel",
        .keys = local_keys,
        .naming = SL_NAMING_MIXTRAL,
        .traits = SL_HF_GATED | SL_HF_WINDOWED,
        .fallbacks = {SL_HF_SHAPE(32000, 4096, 14336, 32, 32, 131072), [SL_HF_KV_HEADS] = 8,
                      [SL_HF_EXPERTS] = 8, [SL_HF_EXPERTS_PER_TOKEN] = 2},
    },
    {
        .model_type = "phimoe",
        .causal_class = "PhimoeForCausalLM",
        .base_class = "PhimoeModel",
        .keys = local_keys,
        .naming = SL_NAMING_MIXTRAL,
        .traits = SL_HF_GATED | SL_HF_LAYER_NORM | SL_HF_WINDOWED,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS},
                  {.key = "lm_head_bias", .traits = SL_HF_HEAD_BIAS}},
        .fallbacks = {SL_HF_SHAPE(32064, 4096, 6400, 32, 32, 131072), [SL_HF_KV_HEADS] = 8,
                      [SL_HF_EXPERTS] = 16, [SL_HF_EXPERTS_PER_TOKEN] = 2},
    },
    {
        .model_type = "minimax_m2",
        .causal_class = "MiniMaxM2ForCausalLM",
        .base_class = "MiniMaxM2Model",
        .keys = local_keys,
        .naming = SL_NAMING_MIXTRAL,
        .qk_norm = SL_QK_NORM_WIDTH,
        .traits = SL_HF_GATED | SL_HF_ROUTER_BUFFER,
        .flags = {{.key = "use_qk_norm", .traits = SL_HF_QK_NORM, .fallback = true}},
        .fallbacks = {SL_HF_SHAPE(200064, 3072, 1536, 62, 48, 196608), [SL_HF_KV_HEADS] = 8,
                      [SL_HF_HEAD_DIM] = 128, [SL_HF_EXPERTS] = 256, [SL_HF_EXPERTS_PER_TOKEN] = 8},
    },
    {
        .model_type = "qwen2_moe",
        .causal_class = "Qwen2MoeForCausalLM",
        .base_class = "Qwen2MoeModel",
        .keys = qwen_keys,
        .naming = SL_NAMING_QWEN2_MOE,
        .traits = SL_HF_GATED | SL_HF_SHARED_GATE | SL_HF_WINDOWED | SL_HF_WINDOW_SWITCH,
        .flags = {{.key = "qkv_bias", .traits = SL_HF_QKV_BIAS, .fallback = true}},
        .fallbacks = {SL_HF_SHAPE(151936, 2048, 5632, 24, 16, 32768), [SL_HF_KV_HEADS] = 16,
                      [SL_HF_WINDOW] = 4096, [SL_HF_FULL_BLOCKS] = 28, [SL_HF_EXPERTS] = 60,
                      [SL_HF_EXPERTS_PER_TOKEN] = 4, [SL_HF_EXPERT_WIDTH] = 1408,
                      [SL_HF_SHARED_WIDTH] = 5632, [SL_HF_SPARSE_EVERY] = 1},
    },
    {
        .model_type = "qwen3_moe",
        .causal_class = "Qwen3MoeForCausalLM",
        .base_class = "Qwen3MoeModel",
        .keys = qwen3_keys,
        .naming = SL_NAMING_QWEN2_MOE,
        .qk_norm = SL_QK_NORM_HEAD,
        .traits = SL_HF_GATED | SL_HF_QK_NORM | SL_HF_WINDOWED | SL_HF_WINDOW_SWITCH,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks =
            {SL_HF_SHAPE(151936, 2048, 6144, 24, 32, 32768), [SL_HF_KV_HEADS] = 4,
             [SL_HF_WINDOW] = 4096, [SL_HF_FULL_BLOCKS] = 28, [SL_HF_EXPERTS] = 128,
             [SL_HF_EXPERTS_PER_TOKEN] = 8, [SL_HF_EXPERT_WIDTH] = 768, [SL_HF_SPARSE_EVERY] = 1},
    },
    {
        .model_type = "qwen3_vl_moe_text",
        .causal_class = "Qwen3VLMoeForConditionalGeneration",
        .base_class = "Qwen3VLMoeTextModel",
        .keys = qwen3_keys,
        .naming = SL_NAMING_QWEN3_VL_MOE,
        .qk_norm = SL_QK_NORM_HEAD,
        .traits = SL_HF_GATED | SL_HF_QK_NORM,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks = {SL_HF_SHAPE(151936, 2048, 5632, 24, 16, 128000), [SL_HF_KV_HEADS] = 16,
                      [SL_HF_EXPERTS] = 60, [SL_HF_EXPERTS_PER_TOKEN] = 4,
                      [SL_HF_EXPERT_WIDTH] = 1408, [SL_HF_SPARSE_EVERY] = 1},
    },
    {
        .model_type = "olmoe",
        .causal_class = "OlmoeForCausalLM",
        .base_class = "OlmoeModel",
        .keys = olmoe_keys,
        .naming = SL_NAMING_QWEN2_MOE,
        .qk_norm = SL_QK_NORM_WIDTH,
        .traits = SL_HF_GATED | SL_HF_QK_NORM,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks = {SL_HF_SHAPE(50304, 2048, 2048, 16, 16, 4096), [SL_HF_EXPERTS] = 64,
                      [SL_HF_EXPERTS_PER_TOKEN] = 8},
    },
    {
        .model_type = "flex_olmo",
        .causal_class = "FlexOlmoForCausalLM",
        .base_class = "FlexOlmoModel",
        .keys = olmoe_keys,
        .naming = SL_NAMING_OLMO2,
        .form = SL_BLOCK_POST_NORM,
        .qk_norm = SL_QK_NORM_WIDTH,
        .traits = SL_HF_GATED | SL_HF_QK_NORM,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks = {SL_HF_SHAPE(100352, 4096, 11008, 32, 32, 4096), [SL_HF_EXPERTS] = 7,
                      [SL_HF_EXPERTS_PER_TOKEN] = 5},
    },
    {
        .model_type = "gpt_oss",
        .causal_class = "GptOssForCausalLM",
        .base_class = "GptOssModel",
        .keys = oss_keys,
        .naming = SL_NAMING_GPT_OSS,
        .traits = SL_HF_GATED | SL_HF_SINKS | SL_HF_EXPERT_BIAS | SL_HF_WINDOWED,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS, .fallback = true}},
        .fallbacks = {SL_HF_SHAPE(201088, 2880, 2880, 36, 64, 131072), [SL_HF_KV_HEADS] = 8,
                      [SL_HF_HEAD_DIM] = 64, [SL_HF_WINDOW] = 128, [SL_HF_FULL_EVERY] = 2,
                      [SL_HF_EXPERTS] = 128, [SL_HF_EXPERTS_PER_TOKEN] = 4},
    },
    {
        .model_type = "granitemoe",
        .causal_class = "GraniteMoeForCausalLM",
        .base_class = "GraniteMoeModel",
        .keys = local_keys,
        .naming = SL_NAMING_GRANITE_MOE,
        .traits = SL_HF_GATED,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks = {SL_HF_SHAPE(32000, 4096, 11008, 32, 32, 2048), [SL_HF_EXPERTS] = 8,
                      [SL_HF_EXPERTS_PER_TOKEN] = 2},
    },
    {
        .model_type = "dbrx",
        .causal_class = "DbrxForCausalLM",
        .base_class = "DbrxModel",
        .keys = dbrx_keys,
        .naming = SL_NAMING_DBRX,
        .traits = SL_HF_GATED | SL_HF_NORM_UNBIASED,
        .fallbacks = {SL_HF_SHAPE(32000, 2048, 3584, 24, 16, 2048), [SL_HF_KV_HEADS] = 1,
                      [SL_HF_EXPERTS] = 4, [SL_HF_EXPERTS_PER_TOKEN] = 1},
    },
    {
        .model_type = "glm4_moe",
        .causal_class = "Glm4MoeForCausalLM",
        .base_class = "Glm4MoeModel",
        .keys = deepseek_keys,
        .naming = SL_NAMING_DEEPSEEK,
        .qk_norm = SL_QK_NORM_HEAD,
        .traits = SL_HF_GATED | SL_HF_SPARSE_FIRST | SL_HF_ROUTER_BUFFER,
        .flags = {{.key = "attention_bias", .traits = SL_HF_QKV_BIAS},
                  {.key = "use_qk_norm", .traits = SL_HF_QK_NORM}},
        .fallbacks =
            {SL_HF_SHAPE(151552, 4096, 10944, 46, 96, 131072), [SL_HF_KV_HEADS] = 8,
             [SL_HF_EXPERTS] = 128, [SL_HF_EXPERTS_PER_TOKEN] = 8, [SL_HF_EXPERT_WIDTH] = 1408,
             [SL_HF_SHARED_EXPERTS] = 1, [SL_HF_DENSE_BLOCKS] = 1},
    },
    {
        .model_type = "deepseek",
        .causal_class = "DeepseekForCausalLM",
        .base_class = "DeepseekModel",
        .keys = deepseek_keys,
        .naming = SL_NAMING_DEEPSEEK,
        .traits = SL_HF_GATED | SL_HF_SPARSE_FIRST,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks = {SL_HF_SHAPE(102400, 4096, 11008, 30, 32, 2048), [SL_HF_EXPERT_WIDTH] = 1407,
                      [SL_HF_SPARSE_EVERY] = 1},
    },
    {
        .model_type = "deepseek_v2",
        .causal_class = "DeepseekV2ForCausalLM",
        .base_class = "DeepseekV2Model",
        .keys = latent_keys,
        .naming = SL_NAMING_DEEPSEEK,
        .traits = SL_HF_GATED | SL_HF_SPARSE_FIRST,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks =
            {SL_HF_SHAPE(32000, 4096, 11008, 32, 32, 2048), [SL_HF_EXPERTS] = 64,
             [SL_HF_EXPERTS_PER_TOKEN] = 6, [SL_HF_EXPERT_WIDTH] = 1407, [SL_HF_SHARED_EXPERTS] = 2,
             [SL_HF_SPARSE_EVERY] = 1, [SL_HF_QUERY_RANK] = 1536, [SL_HF_KV_RANK] = 512,
             [SL_HF_PLAIN_DIM] = 128, [SL_HF_ROTARY_DIM] = 64, [SL_HF_VALUE_DIM] = 128},
    },
    {
        .model_type = "deepseek_v3",
        .causal_class = "DeepseekV3ForCausalLM",
        .base_class = "DeepseekV3Model",
        .keys = latent_keys,
        .naming = SL_NAMING_DEEPSEEK,
        .traits = SL_HF_GATED | SL_HF_SPARSE_FIRST | SL_HF_ROUTER_BUFFER,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks =
            {SL_HF_SHAPE(129280, 7168, 18432, 61, 128, 4096), [SL_HF_KV_HEADS] = 128,
             [SL_HF_EXPERTS] = 256, [SL_HF_EXPERTS_PER_TOKEN] = 8, [SL_HF_EXPERT_WIDTH] = 2048,
             [SL_HF_SHARED_EXPERTS] = 1, [SL_HF_DENSE_BLOCKS] = 3, [SL_HF_SPARSE_EVERY] = 1,
             [SL_HF_QUERY_RANK] = 1536, [SL_HF_KV_RANK] = 512, [SL_HF_PLAIN_DIM] = 128,
             [SL_HF_ROTARY_DIM] = 64, [SL_HF_VALUE_DIM] = 128},
    },
    {
        .model_type = "deepseek_v32",
        .causal_class = "DeepseekV32ForCausalLM",
        .base_class = "DeepseekV32Model",
        .keys = sparse_keys,
        .naming = SL_NAMING_DEEPSEEK,
        .traits = SL_HF_GATED | SL_HF_SPARSE_FIRST | SL_HF_ROUTER_BUFFER,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks = {SL_HF_SHAPE(129280, 7168, 18432, 61, 128, 163840), [SL_HF_KV_HEADS] = 128,
                      [SL_HF_EXPERTS] = 256, [SL_HF_EXPERTS_PER_TOKEN] = 8,
                      [SL_HF_EXPERT_WIDTH] = 2048, [SL_HF_SHARED_EXPERTS] = 1,
                      [SL_HF_DENSE_BLOCKS] = 3, [SL_HF_SPARSE_EVERY] = 1, [SL_HF_QUERY_RANK] = 1536,
                      [SL_HF_KV_RANK] = 512, [SL_HF_PLAIN_DIM] = 128, [SL_HF_ROTARY_DIM] = 64,
                      [SL_HF_VALUE_DIM] = 128, [SL_HF_INDEX_HEADS] = 64, [SL_HF_INDEX_DIM] = 128},
    },
    {
        .model_type = "glm4_moe_lite",
        .causal_class = "Glm4MoeLiteForCausalLM",
        .base_class = "Glm4MoeLiteModel",
        .keys = latent_keys,
        .naming = SL_NAMING_DEEPSEEK,
        .traits = SL_HF_GATED | SL_HF_SPARSE_FIRST | SL_HF_ROUTER_BUFFER,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks =
            {SL_HF_SHAPE(154880, 2048, 10240, 47, 20, 202752), [SL_HF_KV_HEADS] = 20,
             [SL_HF_EXPERTS] = 64, [SL_HF_EXPERTS_PER_TOKEN] = 4, [SL_HF_EXPERT_WIDTH] = 1536,
             [SL_HF_SHARED_EXPERTS] = 1, [SL_HF_DENSE_BLOCKS] = 1, [SL_HF_SPARSE_EVERY] = 1,
             [SL_HF_QUERY_RANK] = 768, [SL_HF_KV_RANK] = 512, [SL_HF_PLAIN_DIM] = 192,
             [SL_HF_ROTARY_DIM] = 64, [SL_HF_VALUE_DIM] = 256},
    },
    {
        .model_type = "glm_moe_dsa",
        .causal_class = "GlmMoeDsaForCausalLM",
        .base_class = "GlmMoeDsaModel",
        .keys = sparse_keys,
        .naming = SL_NAMING_DEEPSEEK,
        .traits = SL_HF_GATED | SL_HF_SPARSE_FIRST | SL_HF_ROUTER_BUFFER,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks =
            {SL_HF_SHAPE(154880, 6144, 12288, 78, 64, 202752), [SL_HF_EXPERTS] = 256,
             [SL_HF_EXPERTS_PER_TOKEN] = 8, [SL_HF_EXPERT_WIDTH] = 2048, [SL_HF_SHARED_EXPERTS] = 1,
             [SL_HF_DENSE_BLOCKS] = 3, [SL_HF_SPARSE_EVERY] = 1, [SL_HF_QUERY_RANK] = 2048,
             [SL_HF_KV_RANK] = 512, [SL_HF_PLAIN_DIM] = 192, [SL_HF_ROTARY_DIM] = 64,
             [SL_HF_VALUE_DIM] = 256, [SL_HF_INDEX_HEADS] = 32, [SL_HF_INDEX_DIM] = 128},
    },
    {
        /* Counted untied where the file does not say, as its library class is. */
        .model_type = "minicpm3",
        .causal_class = "MiniCPM3ForCausalLM",
        .base_class = "MiniCPM3Model",
        .keys = dense_latent_keys,
        .traits = SL_HF_GATED,
        .fallbacks = {SL_HF_SHAPE(73448, 2560, 6400, 62, 40, 32768), [SL_HF_QUERY_RANK] = 768,
                      [SL_HF_KV_RANK] = 256, [SL_HF_PLAIN_DIM] = 64, [SL_HF_ROTARY_DIM] = 32,
                      [SL_HF_VALUE_DIM] = 0},
    },
    {
        .model_type = "llama4_text",
        .causal_class = "Llama4ForCausalLM",
        .base_class = "Llama4TextModel",
        .keys = llama4_keys,
        .naming = SL_NAMING_LLAMA4,
        .traits = SL_HF_GATED | SL_HF_WINDOWED,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS}},
        .fallbacks =
            {SL_HF_SHAPE(202048, 5120, 16384, 48, 40, 131072), [SL_HF_KV_HEADS] = 8,
             [SL_HF_HEAD_DIM] = 128, [SL_HF_WINDOW] = 8192, [SL_HF_FULL_EVERY] = 4,
             [SL_HF_EXPERTS] = 16, [SL_HF_EXPERTS_PER_TOKEN] = 1, [SL_HF_EXPERT_WIDTH] = 8192,
             [SL_HF_SHARED_EXPERTS] = 1, [SL_HF_SPARSE_EVERY] = 1},
    },
};

const sl_hf_rows sl_hf_expert_rows = {types, sizeof types / sizeof types[0]};
