/* What checkpoints call their tensors, and how they lay out fused ones: one row for each naming,
 * facts only, as the classes of the Hugging Face library split them. Groups that several
 * families have in common are written once, above. */
#include "engine/model/describe.h"

#include <assert.h>
#include <stddef.h>

/* clang-format off */

#define LLAMA_FRAME \
    .base = "model.", .base_bare = "", .embedding = "embed_tokens", .block = "layers.{}.", \
    .final_norm = "norm", .head = "lm_head", .norms_last = true

#define GPT_FRAME \
    .base = "transformer.", .base_bare = "", .embedding = "wte", .block = "h.{}.", \
    .final_norm = "ln_f", .head = "lm_head"

#define LLAMA_NORMS \
    .input_norm = "input_layernorm", .mlp_norm = "post_attention_layernorm"

#define GPT_NORMS \
    .input_norm = "ln_1", .mlp_norm = "ln_2"

#define LLAMA_ATTENTION \
    .query = "self_attn.q_proj", .key = "self_attn.k_proj", .value = "self_attn.v_proj", \
    .output = "self_attn.o_proj"

#define LLAMA_QK_NORMS \
    .query_norm = "self_attn.q_norm", .key_norm = "self_attn.k_norm"

#define LLAMA_MLP \
    .gate = "mlp.gate_proj", .up = "mlp.up_proj", .down = "mlp.down_proj"

#define DENSE_4H \
    .up = "mlp.dense_h_to_4h", .down = "mlp.dense_4h_to_h"

#define APART_EXPERTS \
    .expert_gate = "mlp.experts.{}.gate_proj", .expert_up = "mlp.experts.{}.up_proj", \
    .expert_down = "mlp.experts.{}.down_proj", .expert_suffix = ".weight", \
    .router = "mlp.gate"

static const sl_names all_names[] = {
    [SL_NAMING_LLAMA] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, LLAMA_QK_NORMS, LLAMA_MLP,
    },
    [SL_NAMING_GPT2] = {
        GPT_FRAME, GPT_NORMS, .positions = "wpe", .qkv = "attn.c_attn", .output = "attn.c_proj",
        .up = "mlp.c_fc", .down = "mlp.c_proj", .inputs_first = true,
    },
    [SL_NAMING_GPT_BIGCODE] = {
        GPT_FRAME, GPT_NORMS, .positions = "wpe", .qkv = "attn.c_attn", .output = "attn.c_proj",
        .up = "mlp.c_fc", .down = "mlp.c_proj", .qkv_by_head = true,
    },
    [SL_NAMING_GPT_NEOX] = {
        LLAMA_NORMS, DENSE_4H, .base = "gpt_neox.", .base_bare = "", .embedding = "embed_in",
        .block = "layers.{}.", .qkv = "attention.query_key_value", .output = "attention.dense",
        .final_norm = "final_layer_norm", .head = "embed_out", .qkv_by_head = true,
    },
    [SL_NAMING_GPTJ] = {
        GPT_FRAME, .input_norm = "ln_1", .query = "attn.q_proj", .key = "attn.k_proj",
        .value = "attn.v_proj", .output = "attn.out_proj", .up = "mlp.fc_in",
        .down = "mlp.fc_out",
    },
    [SL_NAMING_CODEGEN] = {
        GPT_FRAME, .input_norm = "ln_1", .qkv = "attn.qkv_proj", .output = "attn.out_proj",
        .up = "mlp.fc_in", .down = "mlp.fc_out", .qkv_by_head = true,
    },
    [SL_NAMING_BLOOM] = {
        LLAMA_NORMS, DENSE_4H, .base = "transformer.", .base_bare = "",
        .embedding = "word_embeddings", .embedding_norm = "word_embeddings_layernorm",
        .block = "h.{}.", .qkv = "self_attention.query_key_value",
        .output = "self_attention.dense", .final_norm = "ln_f", .head = "lm_head",
        .qkv_by_head = true,
    },
    [SL_NAMING_FALCON] = {
        DENSE_4H, .base = "transformer.", .base_bare = "", .embedding = "word_embeddings",
        .block = "h.{}.", .input_norm = "ln_attn", .mlp_norm = "ln_mlp", .norms_last = true,
        .qkv = "self_attention.query_key_value", .output = "self_attention.dense",
        .final_norm = "ln_f", .head = "lm_head", .qkv_by_head = true,
    },
    [SL_NAMING_MPT] = {
        .base = "transformer.", .base_bare = "", .embedding = "wte", .block = "blocks.{}.",
        .input_norm = "norm_1", .mlp_norm = "norm_2", .qkv = "attn.Wqkv",
        .output = "attn.out_proj", .up = "ffn.up_proj", .down = "ffn.down_proj",
        .final_norm = "norm_f", .head = "lm_head",
    },
    [SL_NAMING_OPT] = {
        .base = "model.decoder.", .base_bare = "decoder.", .embedding = "embed_tokens",
        .positions = "embed_positions", .project_in = "project_in", .project_out = "project_out",
        .block = "layers.{}.", .input_norm = "self_attn_layer_norm",
        .mlp_norm = "final_layer_norm", .query = "self_attn.q_proj", .key = "self_attn.k_proj",
        .value = "self_attn.v_proj", .output = "self_attn.out_proj", .up = "fc1", .down = "fc2",
        .final_norm = "final_layer_norm", .head = "lm_head",
    },
    [SL_NAMING_PHI] = {
        .base = "model.", .base_bare = "", .embedding = "embed_tokens", .block = "layers.{}.",
        .input_norm = "input_layernorm", .query = "self_attn.q_proj", .key = "self_attn.k_proj",
        .value = "self_attn.v_proj", .output = "self_attn.dense", .norms_last = true,
        .query_norm = "self_attn.q_layernorm", .key_norm = "self_attn.k_layernorm",
        .up = "mlp.fc1", .down = "mlp.fc2", .final_norm = "final_layernorm", .head = "lm_head",
    },
    [SL_NAMING_PHI_MSFT] = {
        .base = "transformer.", .base_bare = "", .embedding = "embd.wte", .block = "h.{}.",
        .input_norm = "ln", .qkv = "mixer.Wqkv", .output = "mixer.out_proj", .up = "mlp.fc1",
        .down = "mlp.fc2", .final_norm = "lm_head.ln", .norm_in_head = true,
        .head = "lm_head.linear",
    },
    [SL_NAMING_PHI3] = {
        LLAMA_FRAME, LLAMA_NORMS, .qkv = "self_attn.qkv_proj", .output = "self_attn.o_proj",
        .gate_up = "mlp.gate_up_proj", .down = "mlp.down_proj",
    },
    [SL_NAMING_PHI3SMALL] = {
        LLAMA_NORMS, .base = "model.", .base_bare = "", .embedding = "embed_tokens",
        .block = "layers.{}.", .qkv = "self_attn.query_key_value", .output = "self_attn.dense",
        .gate_up = "mlp.up_proj", .down = "mlp.down_proj", .final_norm = "final_layernorm",
        .head = "lm_head", .qkv_by_head = true, .gate_up_in_pairs = true, .norms_last = true,
    },
    [SL_NAMING_STARCODER2] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, .up = "mlp.c_fc", .down = "mlp.c_proj",
    },
    [SL_NAMING_STABLELM] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, LLAMA_MLP,
        .query_norm = "self_attn.q_layernorm.norms.{}",
        .key_norm = "self_attn.k_layernorm.norms.{}",
    },
    [SL_NAMING_PERSIMMON] = {
        LLAMA_NORMS, DENSE_4H, .base = "model.", .base_bare = "", .embedding = "embed_tokens",
        .block = "layers.{}.", .qkv = "self_attn.query_key_value", .output = "self_attn.dense",
        .query_norm = "self_attn.q_layernorm", .key_norm = "self_attn.k_layernorm",
        .final_norm = "final_layernorm", .head = "lm_head", .qkv_by_head = true, .norms_last = true,
    },
    [SL_NAMING_GEMMA2] = {
        LLAMA_FRAME, LLAMA_ATTENTION, LLAMA_QK_NORMS, LLAMA_MLP, .input_norm = "input_layernorm",
        .attention_norm = "post_attention_layernorm", .mlp_norm = "pre_feedforward_layernorm",
        .output_norm = "post_feedforward_layernorm",
    },
    [SL_NAMING_OLMO2] = {
        LLAMA_FRAME, LLAMA_ATTENTION, LLAMA_QK_NORMS, LLAMA_MLP, APART_EXPERTS,
        .attention_norm = "post_attention_layernorm",
        .output_norm = "post_feedforward_layernorm",
    },
    [SL_NAMING_GLM4] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, .attention_norm = "post_self_attn_layernorm",
        .output_norm = "post_mlp_layernorm", .gate_up = "mlp.gate_up_proj",
        .down = "mlp.down_proj",
    },
    [SL_NAMING_CHATGLM] = {
        LLAMA_NORMS, .base = "transformer.", .base_bare = "",
        .embedding = "embedding.word_embeddings", .block = "encoder.layers.{}.",
        .qkv = "self_attention.query_key_value", .output = "self_attention.dense",
        .gate_up = "mlp.dense_h_to_4h", .down = "mlp.dense_4h_to_h",
        .final_norm = "encoder.final_layernorm", .head = "transformer.output_layer",
    },
    [SL_NAMING_QWEN] = {
        GPT_FRAME, GPT_NORMS, .qkv = "attn.c_attn", .output = "attn.c_proj", .gate = "mlp.w2",
        .up = "mlp.w1", .down = "mlp.c_proj",
    },
    [SL_NAMING_BAICHUAN] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_MLP, .qkv = "self_attn.W_pack",
        .output = "self_attn.o_proj",
    },
    [SL_NAMING_INTERNLM2] = {
        .base = "model.", .base_bare = "", .embedding = "tok_embeddings", .block = "layers.{}.",
        .input_norm = "attention_norm", .mlp_norm = "ffn_norm", .qkv = "attention.wqkv",
        .output = "attention.wo", .gate = "feed_forward.w1", .up = "feed_forward.w3",
        .down = "feed_forward.w2", .final_norm = "norm", .head = "output", .qkv_by_head = true,
        .norms_last = true,
    },
    [SL_NAMING_EXAONE] = {
        GPT_FRAME, GPT_NORMS, .query = "attn.attention.q_proj", .key = "attn.attention.k_proj",
        .value = "attn.attention.v_proj", .output = "attn.attention.out_proj",
        .gate = "mlp.c_fc_0", .up = "mlp.c_fc_1", .down = "mlp.c_proj",
    },
    [SL_NAMING_APERTUS] = {
        LLAMA_FRAME, LLAMA_ATTENTION, LLAMA_QK_NORMS, .input_norm = "attention_layernorm",
        .mlp_norm = "feedforward_layernorm", .up = "mlp.up_proj", .down = "mlp.down_proj",
    },
    [SL_NAMING_QWEN2_MOE] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, LLAMA_QK_NORMS, LLAMA_MLP, APART_EXPERTS,
        .shared_gate = "mlp.shared_expert.gate_proj", .shared_up = "mlp.shared_expert.up_proj",
        .shared_down = "mlp.shared_expert.down_proj", .shared_switch = "mlp.shared_expert_gate",
    },
    [SL_NAMING_QWEN3_VL_MOE] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, LLAMA_QK_NORMS, LLAMA_MLP,
        .router = "mlp.gate", .expert_gate_up = "mlp.experts.gate_up_proj",
        .expert_down = "mlp.experts.down_proj", .expert_suffix = "",
        .experts = SL_EXPERTS_STACKED_INPUTS,
    },
    [SL_NAMING_DEEPSEEK] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, LLAMA_QK_NORMS, LLAMA_MLP, APART_EXPERTS,
        .router_bare = true,
        .router_correction = "mlp.gate.e_score_correction_bias",
        .shared_gate = "mlp.shared_experts.gate_proj", .shared_up = "mlp.shared_experts.up_proj",
        .shared_down = "mlp.shared_experts.down_proj",
    },
    [SL_NAMING_MIXTRAL] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, LLAMA_QK_NORMS,
        .router = "block_sparse_moe.gate",
        .router_correction = "block_sparse_moe.e_score_correction_bias",
        .expert_gate = "block_sparse_moe.experts.{}.w1",
        .expert_up = "block_sparse_moe.experts.{}.w3",
        .expert_down = "block_sparse_moe.experts.{}.w2", .expert_suffix = ".weight",
    },
    [SL_NAMING_GPT_OSS] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, .router = "mlp.router", .router_bare = true,
        .expert_gate_up = "mlp.experts.gate_up_proj", .expert_down = "mlp.experts.down_proj",
        .expert_suffix = "", .experts = SL_EXPERTS_STACKED_INPUTS, .gate_up_in_pairs = true,
    },
    [SL_NAMING_GRANITE_MOE] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, .router = "block_sparse_moe.router.layer",
        .expert_gate_up = "block_sparse_moe.input_linear",
        .expert_down = "block_sparse_moe.output_linear", .expert_suffix = ".weight",
        .experts = SL_EXPERTS_STACKED,
    },
    [SL_NAMING_LLAMA4] = {
        LLAMA_FRAME, LLAMA_NORMS, LLAMA_ATTENTION, .gate = "feed_forward.gate_proj",
        .up = "feed_forward.up_proj", .down = "feed_forward.down_proj",
        .router = "feed_forward.router", .expert_gate_up = "feed_forward.experts.gate_up_proj",
        .expert_down = "feed_forward.experts.down_proj", .expert_suffix = "",
        .shared_gate = "feed_forward.shared_expert.gate_proj",
        .shared_up = "feed_forward.shared_expert.up_proj",
        .shared_down = "feed_forward.shared_expert.down_proj",
        .experts = SL_EXPERTS_STACKED_INPUTS,
    },
    [SL_NAMING_DBRX] = {
        .base = "transformer.", .base_bare = "", .embedding = "wte", .block = "blocks.{}.",
        .input_norm = "norm_attn_norm.norm_1", .mlp_norm = "norm_attn_norm.norm_2",
        .qkv = "norm_attn_norm.attn.Wqkv", .output = "norm_attn_norm.attn.out_proj",
        .router = "ffn.router.layer", .expert_gate = "ffn.experts.mlp.w1",
        .expert_up = "ffn.experts.mlp.v1", .expert_down = "ffn.experts.mlp.w2",
        .expert_suffix = "", .final_norm = "norm_f", .head = "lm_head",
        .experts = SL_EXPERTS_FLAT,
    },
};
_Static_assert(sizeof all_names / sizeof all_names[0] == SL_NAMING_COUNT, "names for each naming");
/* clang-format on */

const sl_names *
sl_names_of(sl_naming naming)
{
    assert((unsigned)naming < SL_NAMING_COUNT);
    return &all_names[naming];
}
