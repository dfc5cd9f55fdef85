/* Older decoders, each with key names and blocks of its own. Defaults: the configuration classes of
 * transformers 5.16.0.dev0; of Phi-3-small the custom code of its repository. The dtype of a silent
 * config is that of the checkpoints the family was published with. */
#include "hf/table.h"

static const sl_hf_key gpt2_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"n_embd", "hidden_size"},
    [SL_HF_FFN] = {"n_inner", NULL},
    [SL_HF_BLOCKS] = {"n_layer", "num_hidden_layers"},
    [SL_HF_HEADS] = {"n_head", "num_attention_heads"},
    [SL_HF_POSITIONS] = {"n_positions", "max_position_embeddings"},
};

static const sl_hf_key bloom_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"hidden_size", "n_embed"},
    [SL_HF_BLOCKS] = {"n_layer", "num_hidden_layers"},
    [SL_HF_HEADS] = {"n_head", "num_attention_heads"},
};

static const sl_hf_key falcon_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"hidden_size", NULL},
    [SL_HF_FFN] = {"ffn_hidden_size", NULL},
    [SL_HF_BLOCKS] = {"num_hidden_layers", "n_layer"},
    [SL_HF_HEADS] = {"num_attention_heads", "n_head"},
    [SL_HF_KV_HEADS] = {"num_kv_heads", NULL},
    [SL_HF_POSITIONS] = {"max_position_embeddings", NULL},
};

static const sl_hf_key mpt_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"d_model", "hidden_size"},
    [SL_HF_BLOCKS] = {"n_layers", "num_hidden_layers"},
    [SL_HF_HEADS] = {"n_heads", "num_attention_heads"},
    [SL_HF_POSITIONS] = {"max_seq_len", NULL},
};

static const sl_hf_key opt_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"hidden_size", NULL},
    [SL_HF_EMBEDDING_WIDTH] = {"word_embed_proj_dim", NULL},
    [SL_HF_FFN] = {"ffn_dim", NULL},
    [SL_HF_BLOCKS] = {"num_hidden_layers", NULL},
    [SL_HF_HEADS] = {"num_attention_heads", NULL},
    [SL_HF_POSITIONS] = {"max_position_embeddings", NULL},
};

static const sl_hf_key plain_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"hidden_size", NULL},
    [SL_HF_FFN] = {"intermediate_size", NULL},
    [SL_HF_BLOCKS] = {"num_hidden_layers", NULL},
    [SL_HF_HEADS] = {"num_attention_heads", NULL},
    [SL_HF_POSITIONS] = {"max_position_embeddings", NULL},
};

static const sl_hf_key phi_keys[SL_HF_FIELD_COUNT] = {SL_HF_LLAMA_KEYS};

static const sl_hf_key phi_msft_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL}, [SL_HF_HIDDEN] = {"n_embd", NULL},
    [SL_HF_FFN] = {"n_inner", NULL},           [SL_HF_BLOCKS] = {"n_layer", NULL},
    [SL_HF_HEADS] = {"n_head", NULL},          [SL_HF_KV_HEADS] = {"n_head_kv", NULL},
    [SL_HF_POSITIONS] = {"n_positions", NULL},
};

static const sl_hf_key phi3small_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"hidden_size", NULL},
    [SL_HF_FFN] = {"ff_intermediate_size", NULL},
    [SL_HF_BLOCKS] = {"num_hidden_layers", NULL},
    [SL_HF_HEADS] = {"num_attention_heads", NULL},
    [SL_HF_KV_HEADS] = {"num_key_value_heads", NULL},
    [SL_HF_POSITIONS] = {"max_position_embeddings", NULL},
};

static const sl_hf_type types[] = {
    {
        .model_type = "gpt2",
        .causal_class = "GPT2LMHeadModel",
        .base_class = "GPT2Model",
        .dtype = "float32",
        .keys = gpt2_keys,
        .naming = SL_NAMING_GPT2,
        .traits = SL_HF_TIED | SL_HF_LAYER_NORM | SL_HF_ALL_BIAS | SL_HF_LEARNED_POSITIONS,
        .refused = "add_cross_attention",
        .activation = "gelu_new",
        .fallbacks = {SL_HF_SHAPE(50257, 768, 0, 12, 12, 1024)},
    },
    {
        .model_type = "gpt_bigcode",
        .causal_class = "GPTBigCodeForCausalLM",
        .base_class = "GPTBigCodeModel",
        .dtype = "float32",
        .keys = gpt2_keys,
        .naming = SL_NAMING_GPT_BIGCODE,
        .traits = SL_HF_TIED | SL_HF_LAYER_NORM | SL_HF_ALL_BIAS | SL_HF_LEARNED_POSITIONS,
        .flags = {{.key = "multi_query", .traits = SL_HF_ONE_KV_HEAD, .fallback = true}},
        .refused = "add_cross_attention",
        .fallbacks = {SL_HF_SHAPE(50257, 768, 0, 12, 12, 1024)},
    },
    {
        .model_type = "gpt_neox",
        .causal_class = "GPTNeoXForCausalLM",
        .base_class = "GPTNeoXModel",
        .dtype = "float16",
        .keys = plain_keys,
        .naming = SL_NAMING_GPT_NEOX,
        .traits = SL_HF_LAYER_NORM | SL_HF_MLP_BIAS,
        .flags = {{.key = "attention_bias", .traits = SL_HF_ATTENTION_BIAS, .fallback = true},
                  {.key = "use_parallel_residual", .traits = SL_HF_PARALLEL, .fallback = true}},
        .fallbacks = {SL_HF_SHAPE(50432, 6144, 24576, 44, 64, 2048)},
    },
    {
        .model_type = "gptj",
        .causal_class = "GPTJForCausalLM",
        .base_class = "GPTJModel",
        .dtype = "float32",
        .keys = gpt2_keys,
        .naming = SL_NAMING_GPTJ,
        .form = SL_BLOCK_PARALLEL,
        .traits = SL_HF_LAYER_NORM | SL_HF_MLP_BIAS | SL_HF_HEAD_BIAS,
        .activation = "gelu_new",
        .fallbacks = {SL_HF_SHAPE(50400, 4096, 0, 28, 16, 2048)},
    },
    {
        .model_type = "codegen",
        .causal_class = "CodeGenForCausalLM",
        .base_class = "CodeGenModel",
        .dtype = "float16",
        .keys = gpt2_keys,
        .naming = SL_NAMING_CODEGEN,
        .form = SL_BLOCK_PARALLEL,
        .traits = SL_HF_LAYER_NORM | SL_HF_MLP_BIAS | SL_HF_HEAD_BIAS,
        .activation = "gelu_new",
        .fallbacks = {SL_HF_SHAPE(50400, 4096, 0, 28, 16, 2048)},
    },
    {
        .model_type = "bloom",
        .causal_class = "BloomForCausalLM",
        .base_class = "BloomModel",
        .keys = bloom_keys,
        .naming = SL_NAMING_BLOOM,
        .traits =
            SL_HF_TIED | SL_HF_LAYER_NORM | SL_HF_ALL_BIAS | SL_HF_EMBEDDING_NORM | SL_HF_NO_ROTARY,
        .fallbacks = {SL_HF_SHAPE(250880, 64, 0, 2, 8, 0)},
    },
    {
        .model_type = "falcon",
        .causal_class = "FalconForCausalLM",
        .base_class = "FalconModel",
        .keys = falcon_keys,
        .naming = SL_NAMING_BLOOM,
        .traits = SL_HF_TIED | SL_HF_LAYER_NORM | SL_HF_FALCON,
        .flags = {{.key = "bias", .traits = SL_HF_ALL_BIAS},
                  {.key = "alibi", .traits = SL_HF_NO_ROTARY}},
        .fallbacks = {SL_HF_SHAPE(65024, 4544, 0, 32, 71, 2048)},
    },
    {
        /* Its norms are LayerNorms without bias, also where no_bias is false. */
        .model_type = "mpt",
        .causal_class = "MptForCausalLM",
        .base_class = "MptModel",
        .keys = mpt_keys,
        .naming = SL_NAMING_MPT,
        .traits = SL_HF_TIED | SL_HF_NORM_UNBIASED | SL_HF_NO_ROTARY,
        .fallbacks = {SL_HF_SHAPE(50368, 2048, 0, 24, 16, 2048)},
    },
    {
        .model_type = "opt",
        .causal_class = "OPTForCausalLM",
        .base_class = "OPTModel",
        .dtype = "float16",
        .keys = opt_keys,
        .naming = SL_NAMING_OPT,
        .traits = SL_HF_TIED | SL_HF_LAYER_NORM | SL_HF_LEARNED_POSITIONS | SL_HF_SPARE_POSITIONS,
        .flags = {{.key = "enable_bias", .traits = SL_HF_ALL_BIAS, .fallback = true},
                  {.key = "do_layer_norm_before",
                   .traits = SL_HF_LATE_NORM,
                   .fallback = true,
                   .inverted = true},
                  {.key = "_remove_final_layer_norm", .traits = SL_HF_NO_FINAL_NORM},
                  {.key = "layer_norm_elementwise_affine",
                   .traits = SL_HF_NORM_WEIGHTLESS,
                   .fallback = true,
                   .inverted = true}},
        .activation = "relu",
        .fallbacks = {SL_HF_SHAPE(50272, 768, 3072, 12, 12, 2048)},
    },
    {
        .model_type = "phi",
        .causal_class = "PhiForCausalLM",
        .base_class = "PhiModel",
        .dtype = "float16",
        .keys = phi_keys,
        .naming = SL_NAMING_PHI,
        .form = SL_BLOCK_PARALLEL,
        .qk_norm = SL_QK_NORM_HEAD,
        .traits = SL_HF_LAYER_NORM | SL_HF_ALL_BIAS | SL_HF_HEAD_BIAS,
        .flags = {{.key = "qk_layernorm", .traits = SL_HF_QK_NORM}},
        .activation = "gelu_new",
        .relaid = true,
        .fallbacks = {SL_HF_SHAPE(51200, 2048, 8192, 24, 32, 2048)},
    },
    {
        /* Phi 1 to 2 in the custom code they were first published with. */
        .model_type = "phi-msft",
        .causal_class = "PhiForCausalLM",
        .base_class = "PhiModel",
        .dtype = "float16",
        .keys = phi_msft_keys,
        .naming = SL_NAMING_PHI_MSFT,
        .form = SL_BLOCK_PARALLEL,
        .traits = SL_HF_LAYER_NORM | SL_HF_ALL_BIAS | SL_HF_HEAD_BIAS,
        .activation = "gelu_new",
        .fallbacks = {SL_HF_SHAPE(50304, 1024, 0, 20, 16, 2048)},
    },
    {
        .model_type = "phi3small",
        .causal_class = "Phi3SmallForCausalLM",
        .base_class = "Phi3SmallModel",
        .keys = phi3small_keys,
        .naming = SL_NAMING_PHI3SMALL,
        .traits = SL_HF_TIED | SL_HF_GATED | SL_HF_LAYER_NORM | SL_HF_ALL_BIAS,
        .fallbacks = {SL_HF_SHAPE(100352, 4096, 14336, 32, 32, 8192), [SL_HF_KV_HEADS] = 8},
    },
    {
        .model_type = "persimmon",
        .causal_class = "PersimmonForCausalLM",
        .base_class = "PersimmonModel",
        .keys = plain_keys,
        .naming = SL_NAMING_PERSIMMON,
        .qk_norm = SL_QK_NORM_HEAD,
        .traits = SL_HF_LAYER_NORM | SL_HF_ALL_BIAS,
        .flags = {{.key = "qk_layernorm", .traits = SL_HF_QK_NORM, .fallback = true}},
        .fallbacks = {SL_HF_SHAPE(262144, 4096, 16384, 36, 64, 16384)},
    },
};

const sl_hf_rows sl_hf_gpt_rows = {types, sizeof types / sizeof types[0]};
