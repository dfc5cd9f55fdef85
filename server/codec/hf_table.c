#include "codec/hf_table.h"

#include <assert.h>

#include "base/text.h"

static const sl_hf_key llama_keys[] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"hidden_size", NULL},
    [SL_HF_FFN] = {"intermediate_size", NULL},
    [SL_HF_BLOCKS] = {"num_hidden_layers", NULL},
    [SL_HF_HEADS] = {"num_attention_heads", NULL},
    [SL_HF_KV_HEADS] = {"num_key_value_heads", NULL},
    [SL_HF_HEAD_DIM] = {"head_dim", NULL},
    [SL_HF_POSITIONS] = {"max_position_embeddings", NULL},
    [SL_HF_WINDOW] = {"sliding_window", NULL},
    [SL_HF_FULL_BLOCKS] = {"max_window_layers", NULL},
};
_Static_assert(sizeof llama_keys / sizeof llama_keys[0] == SL_HF_FIELD_COUNT, "one key per field");

static const sl_hf_key gpt2_keys[SL_HF_FIELD_COUNT] = {
    [SL_HF_VOCABULARY] = {"vocab_size", NULL},
    [SL_HF_HIDDEN] = {"n_embd", "hidden_size"},
    [SL_HF_FFN] = {"n_inner", NULL},
    [SL_HF_BLOCKS] = {"n_layer", "num_hidden_layers"},
    [SL_HF_HEADS] = {"n_head", "num_attention_heads"},
    [SL_HF_POSITIONS] = {"n_positions", "max_position_embeddings"},
};

/* Defaults: the configuration classes of transformers 5.16.0.dev0 (configuration_llama.py,
 * configuration_mistral.py, configuration_qwen2.py, configuration_qwen3.py, configuration_gpt2.py).
 * The dtype of a silent config: files from before the key existed (2021, GPT-2) hold fp32; later
 * ones without it were mostly stripped by hand from bf16 checkpoints. */
static const sl_hf_type types[] = {
    {
        .model_type = "llama",
        .causal_class = "LlamaForCausalLM",
        .base_class = "LlamaModel",
        .dtype = "bfloat16",
        .naming = SL_NAMING_LLAMA,
        .keys = llama_keys,
        .fallbacks = {[SL_HF_VOCABULARY] = 32000,
                      [SL_HF_HIDDEN] = 4096,
                      [SL_HF_FFN] = 11008,
                      [SL_HF_BLOCKS] = 32,
                      [SL_HF_HEADS] = 32,
                      [SL_HF_POSITIONS] = 2048},
        .gated_mlp = true,
        .attention_bias = true,
        .reads_mlp_bias = true,
    },
    {
        .model_type = "mistral",
        .causal_class = "MistralForCausalLM",
        .base_class = "MistralModel",
        .dtype = "bfloat16",
        .naming = SL_NAMING_LLAMA,
        .keys = llama_keys,
        .fallbacks = {[SL_HF_VOCABULARY] = 32000,
                      [SL_HF_HIDDEN] = 4096,
                      [SL_HF_FFN] = 14336,
                      [SL_HF_BLOCKS] = 32,
                      [SL_HF_HEADS] = 32,
                      [SL_HF_KV_HEADS] = 8,
                      [SL_HF_POSITIONS] = 131072,
                      [SL_HF_WINDOW] = 4096},
        .gated_mlp = true,
    },
    {
        .model_type = "qwen2",
        .causal_class = "Qwen2ForCausalLM",
        .base_class = "Qwen2Model",
        .dtype = "bfloat16",
        .naming = SL_NAMING_LLAMA,
        .keys = llama_keys,
        .fallbacks = {[SL_HF_VOCABULARY] = 151936,
                      [SL_HF_HIDDEN] = 4096,
                      [SL_HF_FFN] = 22016,
                      [SL_HF_BLOCKS] = 32,
                      [SL_HF_HEADS] = 32,
                      [SL_HF_KV_HEADS] = 32,
                      [SL_HF_POSITIONS] = 32768,
                      [SL_HF_WINDOW] = 4096,
                      [SL_HF_FULL_BLOCKS] = 28},
        .gated_mlp = true,
        .qkv_bias = true,
        .window_switch = true,
    },
    {
        .model_type = "qwen3",
        .causal_class = "Qwen3ForCausalLM",
        .base_class = "Qwen3Model",
        .dtype = "bfloat16",
        .naming = SL_NAMING_LLAMA,
        .keys = llama_keys,
        .fallbacks = {[SL_HF_VOCABULARY] = 151936,
                      [SL_HF_HIDDEN] = 4096,
                      [SL_HF_FFN] = 22016,
                      [SL_HF_BLOCKS] = 32,
                      [SL_HF_HEADS] = 32,
                      [SL_HF_KV_HEADS] = 32,
                      [SL_HF_HEAD_DIM] = 128,
                      [SL_HF_POSITIONS] = 32768,
                      [SL_HF_WINDOW] = 4096,
                      [SL_HF_FULL_BLOCKS] = 28},
        .gated_mlp = true,
        .qk_norm = true,
        .attention_bias = true,
        .window_switch = true,
    },
    {
        .model_type = "gpt2",
        .causal_class = "GPT2LMHeadModel",
        .base_class = "GPT2Model",
        .dtype = "float32",
        .naming = SL_NAMING_GPT2,
        .keys = gpt2_keys,
        .fallbacks = {[SL_HF_VOCABULARY] = 50257,
                      [SL_HF_HIDDEN] = 768,
                      [SL_HF_BLOCKS] = 12,
                      [SL_HF_HEADS] = 12,
                      [SL_HF_POSITIONS] = 1024},
        .tied = true,
        .layer_norm = true,
        .qkv_bias = true,
        .output_bias = true,
        .mlp_bias = true,
        .refused = "add_cross_attention",
    },
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

const sl_hf_type *
sl_hf_type_find(const char *model_type)
{
    assert(model_type != NULL);

    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (sl_text_equal(types[i].model_type, model_type))
            return &types[i];
    }
    return NULL;
}

const char *
sl_hf_type_names(void)
{
    return "llama, mistral, qwen2, qwen3, gpt2";
}
