/* Towers of llama4, mllama, gemma4, step3p7 and muse_glimmer: see recipes_towers.c. */
#include "hf/recipes_towers.h"

/* clang-format off */

/* ---- Towers of the Llama family ---- */

/* `projection` is the form of those of the attention, which have no bias in mllama. */
#define LLAMA_BLOCK(projection) \
    projection("self_attn.q_proj", "tower_hidden, tower_hidden", OTHER, COLUMN, ""), \
    projection("self_attn.k_proj", "tower_hidden, tower_hidden", OTHER, COLUMN, ""), \
    projection("self_attn.v_proj", "tower_hidden, tower_hidden", OTHER, COLUMN, ""), \
    projection("self_attn.o_proj", "tower_hidden, tower_hidden", OTHER, ROW, ""), \
    SL_LINEAR("mlp.fc1", "tower_ffn, tower_hidden", OTHER, COLUMN, ""), \
    SL_LINEAR("mlp.fc2", "tower_hidden, tower_ffn", OTHER, ROW, ""), \
    SL_NORM("input_layernorm", "tower_hidden", OTHER, ""), \
    SL_NORM("post_attention_layernorm", "tower_hidden", OTHER, "")

/* llama4 */
const sl_hf_symbol sl_hf_llama4_tower_symbols[] = {
    VISION_SIZES("768", "5632", "34", "448", "14"),
    {SL_HF_NUMBER, "inputs", "vision_config.projector_input_dim", NULL, "4096", NULL, NULL},
    {SL_HF_NUMBER, "outputs", "vision_config.projector_output_dim", NULL, "4096", NULL, NULL},
    {SL_HF_NUMBER, "features", "vision_config.vision_output_dim", NULL, "7680", NULL, NULL},
};

static const sl_part llama4_ends[] = {
    SL_MATRIX("vision_model.patch_embedding.linear", "tower_hidden, channels * patch * patch", OTHER, REPLICATED, ""),
    SL_TENSOR("vision_model.class_embedding", "tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("vision_model.positional_embedding_vlm", "patches + 1, tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_NORM("vision_model.layernorm_pre", "tower_hidden", OTHER, ""),
    SL_NORM("vision_model.layernorm_post", "tower_hidden", OTHER, ""),
    SL_MATRIX("vision_model.vision_adapter.mlp.fc1", "inputs, tower_ffn", OTHER, COLUMN, ""),
    SL_MATRIX("vision_model.vision_adapter.mlp.fc2", "outputs, outputs", OTHER, ROW, ""),
    SL_MATRIX("multi_modal_projector.linear_1", "text_hidden, features", OTHER, REPLICATED, ""),
};

static const sl_part llama4_block[] = {
    LLAMA_BLOCK(SL_LINEAR),
};

const sl_stack sl_hf_llama4_towers[] = {
    {.prefix = "", .repeat = "1", SL_PARTS(llama4_ends), .beside = true, .titles = {{"", "vision_ends"}}},
    {.prefix = "vision_model.model.layers.{}.", .repeat = "tower_layers", SL_PARTS(llama4_block), .beside = true, .titles = {{"", "vision"}}},
};

/* mllama: tables for the shapes a picture may be tiled in, and one for none. The features of chosen
 * blocks are joined to the last ones: vision_output_dim. */
const sl_hf_symbol sl_hf_mllama_tower_symbols[] = {
    VISION_SIZES("1280", "5120", "32", "448", "14"),
    {SL_HF_NUMBER, "global_layers", "vision_config.num_global_layers", NULL, "8", NULL, NULL},
    {SL_HF_NUMBER, "tiles", "vision_config.max_num_tiles", NULL, "4", NULL, NULL},
    {SL_HF_LENGTH, "ratios", "vision_config.supported_aspect_ratios", NULL, "8", NULL, NULL},
    {SL_HF_NUMBER, "features", "vision_config.vision_output_dim", NULL, "7680", NULL, NULL},
};

static const sl_part mllama_ends[] = {
    SL_TENSOR("vision_model.class_embedding", "tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("vision_model.patch_embedding.weight", "tower_hidden, channels, patch, patch", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("vision_model.gated_positional_embedding.gate", "1", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("vision_model.gated_positional_embedding.embedding", "patches + 1, tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("vision_model.gated_positional_embedding.tile_embedding.weight", "ratios + 1, tiles * (patches + 1) * tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("vision_model.pre_tile_positional_embedding.gate", "1", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("vision_model.pre_tile_positional_embedding.embedding.weight", "ratios + 1, tiles * tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("vision_model.post_tile_positional_embedding.gate", "1", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("vision_model.post_tile_positional_embedding.embedding.weight", "ratios + 1, tiles * tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_NORM("vision_model.layernorm_pre", "tower_hidden", OTHER, ""),
    SL_NORM("vision_model.layernorm_post", "tower_hidden", OTHER, ""),
    SL_LINEAR("multi_modal_projector", "text_hidden, features", OTHER, REPLICATED, ""),
};

static const sl_part mllama_block[] = {
    LLAMA_BLOCK(SL_MATRIX),
};

static const sl_part mllama_global_block[] = {
    LLAMA_BLOCK(SL_MATRIX),
    SL_TENSOR("gate_attn", "1", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("gate_ffn", "1", OTHER, REPLICATED, 0, ""),
};

const sl_stack sl_hf_mllama_towers[] = {
    {.prefix = "", .repeat = "1", SL_PARTS(mllama_ends), .beside = true, .titles = {{"", "vision_ends"}}},
    {.prefix = "vision_model.transformer.layers.{}.", .repeat = "tower_layers", SL_PARTS(mllama_block), .beside = true, .titles = {{"", "vision"}}},
    {.prefix = "vision_model.global_transformer.layers.{}.", .repeat = "global_layers", SL_PARTS(mllama_global_block), .beside = true, .titles = {{"", "vision_global"}}},
};

/* ---- gemma4: a tower for images, one for sound, each where its config is. Linear layers with a
 * clipping range store its four ends, which are no parameters. ---- */

#define CLIPPED(name, shape, cut, clip) \
    SL_MATRIX(name ".linear", shape, OTHER, cut, ""), \
    SL_BUFFER(name ".input_min", "1", clip), \
    SL_BUFFER(name ".input_max", "1", clip), \
    SL_BUFFER(name ".output_min", "1", clip), \
    SL_BUFFER(name ".output_max", "1", clip)

const sl_hf_symbol sl_hf_gemma4_tower_symbols[] = {
    {SL_HF_NUMBER, "sight", "vision_config.hidden_size", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "sight_ffn", "vision_config.intermediate_size", NULL, "3072", NULL, NULL},
    {SL_HF_NUMBER, "sight_layers", "vision_config.num_hidden_layers", NULL, "16", NULL, NULL},
    {SL_HF_NUMBER, "sight_heads", "vision_config.num_attention_heads", NULL, "12", NULL, NULL},
    {SL_HF_NUMBER, "sight_kv_heads", "vision_config.num_key_value_heads", NULL, "12", NULL, NULL},
    {SL_HF_NUMBER, "sight_head_dim", "vision_config.head_dim", NULL, "64", NULL, NULL},
    {SL_HF_NUMBER, "patch", "vision_config.patch_size", NULL, "16", NULL, NULL},
    {SL_HF_NUMBER, "places", "vision_config.position_embedding_size", NULL, "10240", NULL, NULL},
    {SL_HF_NUMBER, "sight_clip", "vision_config.use_clipped_linears", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "standardize", "vision_config.standardize", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "sound", "audio_config.hidden_size", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "sound_layers", "audio_config.num_hidden_layers", NULL, "12", NULL, NULL},
    {SL_HF_NUMBER, "sound_heads", "audio_config.num_attention_heads", NULL, "8", NULL, NULL},
    {SL_HF_NUMBER, "kernel", "audio_config.conv_kernel_size", NULL, "5", NULL, NULL},
    {SL_HF_NUMBER, "conv_first", "audio_config.subsampling_conv_channels.0", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "conv_second", "audio_config.subsampling_conv_channels.1", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "sound_outputs", "audio_config.output_proj_dims", NULL, "1536", NULL, NULL},
    {SL_HF_NUMBER, "sound_clip", "audio_config.use_clipped_linears", NULL, "1", NULL, NULL},
    {SL_HF_COMPUTED, "has_sight", NULL, NULL, "sight != 0", NULL, NULL},
    {SL_HF_COMPUTED, "has_sound", NULL, NULL, "sound != 0", NULL, NULL},
};

static const sl_part gemma4_sight_ends[] = {
    SL_MATRIX("vision_tower.patch_embedder.input_proj", "sight, 3 * patch * patch", OTHER, REPLICATED, ""),
    SL_TENSOR("vision_tower.patch_embedder.position_embedding_table", "2, places, sight", OTHER, REPLICATED, 0, ""),
    SL_BUFFER("vision_tower.std_bias", "sight", "standardize"),
    SL_BUFFER("vision_tower.std_scale", "sight", "standardize"),
    SL_MATRIX("embed_vision.embedding_projection", "text_hidden, sight", OTHER, REPLICATED, ""),
};

static const sl_part gemma4_sight_block[] = {
    SL_SCALE("input_layernorm", "sight", OTHER, ""),
    CLIPPED("self_attn.q_proj", "sight_heads * sight_head_dim, sight", COLUMN, "sight_clip"),
    CLIPPED("self_attn.k_proj", "sight_kv_heads * sight_head_dim, sight", COLUMN, "sight_clip"),
    CLIPPED("self_attn.v_proj", "sight_kv_heads * sight_head_dim, sight", COLUMN, "sight_clip"),
    CLIPPED("self_attn.o_proj", "sight, sight_heads * sight_head_dim", ROW, "sight_clip"),
    SL_SCALE("self_attn.q_norm", "sight_head_dim", OTHER, ""),
    SL_SCALE("self_attn.k_norm", "sight_head_dim", OTHER, ""),
    SL_SCALE("post_attention_layernorm", "sight", OTHER, ""),
    SL_SCALE("pre_feedforward_layernorm", "sight", OTHER, ""),
    CLIPPED("mlp.gate_proj", "sight_ffn, sight", COLUMN, "sight_clip"),
    CLIPPED("mlp.up_proj", "sight_ffn, sight", COLUMN, "sight_clip"),
    CLIPPED("mlp.down_proj", "sight, sight_ffn", ROW, "sight_clip"),
    SL_SCALE("post_feedforward_layernorm", "sight", OTHER, ""),
};

static const sl_part gemma4_sound_ends[] = {
    SL_TENSOR("audio_tower.subsample_conv_projection.layer0.conv.weight", "conv_first, 1, 3, 3", OTHER, REPLICATED, 0, ""),
    SL_SCALE("audio_tower.subsample_conv_projection.layer0.norm", "conv_first", OTHER, ""),
    SL_TENSOR("audio_tower.subsample_conv_projection.layer1.conv.weight", "conv_second, conv_first, 3, 3", OTHER, REPLICATED, 0, ""),
    SL_SCALE("audio_tower.subsample_conv_projection.layer1.norm", "conv_second", OTHER, ""),
    SL_MATRIX("audio_tower.subsample_conv_projection.input_proj_linear", "sound, conv_first / 4 * conv_second", OTHER, REPLICATED, ""),
    SL_LINEAR("audio_tower.output_proj", "sound_outputs, sound", OTHER, REPLICATED, ""),
    SL_MATRIX("embed_audio.embedding_projection", "text_hidden, sound_outputs", OTHER, REPLICATED, ""),
};

#define SOUND_MLP(module) \
    SL_SCALE(module ".pre_layer_norm", "sound", OTHER, ""), \
    CLIPPED(module ".ffw_layer_1", "4 * sound, sound", COLUMN, "sound_clip"), \
    CLIPPED(module ".ffw_layer_2", "sound, 4 * sound", ROW, "sound_clip"), \
    SL_SCALE(module ".post_layer_norm", "sound", OTHER, "")

/* The two parts of a block of the tower for sound: more tensors than one list holds. */
static const sl_part gemma4_sound_mixer[] = {
    SL_SCALE("norm_pre_attn", "sound", OTHER, ""),
    CLIPPED("self_attn.q_proj", "sound, sound", COLUMN, "sound_clip"),
    CLIPPED("self_attn.k_proj", "sound, sound", COLUMN, "sound_clip"),
    CLIPPED("self_attn.v_proj", "sound, sound", COLUMN, "sound_clip"),
    CLIPPED("self_attn.post", "sound, sound", ROW, "sound_clip"),
    SL_MATRIX("self_attn.relative_k_proj", "sound, sound", OTHER, COLUMN, ""),
    SL_TENSOR("self_attn.per_dim_scale", "sound / sound_heads", OTHER, REPLICATED, 0, ""),
    SL_SCALE("norm_post_attn", "sound", OTHER, ""),
    SL_SCALE("lconv1d.pre_layer_norm", "sound", OTHER, ""),
    CLIPPED("lconv1d.linear_start", "2 * sound, sound", COLUMN, "sound_clip"),
    SL_TENSOR("lconv1d.depthwise_conv1d.weight", "sound, 1, kernel", OTHER, COLUMN, 0, ""),
    SL_SCALE("lconv1d.conv_norm", "sound", OTHER, ""),
    CLIPPED("lconv1d.linear_end", "sound, sound", ROW, "sound_clip"),
    SL_SCALE("norm_out", "sound", OTHER, ""),
};

static const sl_part gemma4_sound_mlp[] = {
    SOUND_MLP("feed_forward1"),
    SOUND_MLP("feed_forward2"),
};

const sl_stack sl_hf_gemma4_towers[] = {
    {.prefix = "model.", .repeat = "has_sight", SL_PARTS(gemma4_sight_ends), .beside = true, .titles = {{"", "vision_ends"}}},
    {.prefix = "model.vision_tower.encoder.layers.{}.", .repeat = "sight_layers * has_sight", SL_PARTS(gemma4_sight_block), .beside = true, .titles = {{"", "vision"}}},
    {.prefix = "model.", .repeat = "has_sound", SL_PARTS(gemma4_sound_ends), .beside = true, .titles = {{"", "audio_ends"}}},
    {.prefix = "model.audio_tower.layers.{}.", .repeat = "sound_layers * has_sound", SL_PARTS(gemma4_sound_mixer), .beside = true, .titles = {{"", "audio_mixer"}}},
    {.prefix = "model.audio_tower.layers.{}.", .repeat = "sound_layers * has_sound", SL_PARTS(gemma4_sound_mlp), .beside = true, .titles = {{"", "audio_mlp"}}},
};

/* ---- step3p7: the tower ends in two convolutions that double its width each ---- */

const sl_hf_symbol sl_hf_step3p7_tower_symbols[] = {
    {SL_HF_NUMBER, "tower_hidden", "vision_config.hidden_size", "vision_config.width", "1536", NULL, NULL},
    {SL_HF_NUMBER, "tower_layers", "vision_config.num_hidden_layers", "vision_config.layers", "47", NULL, NULL},
    {SL_HF_NUMBER, "channels", "vision_config.num_channels", NULL, "3", NULL, NULL},
    {SL_HF_NUMBER, "image", "vision_config.image_size", NULL, "728", NULL, NULL},
    {SL_HF_NUMBER, "patch", "vision_config.patch_size", NULL, "14", NULL, NULL},
    {SL_HF_NUMBER, "projector_bias", "projector_bias", NULL, "0", NULL, NULL},
    {SL_HF_PRODUCT, "tower_ffn", "vision_config.mlp_ratio", NULL, "tower_hidden * 35 / 6", NULL, "tower_hidden"},
};

static const sl_part step3p7_ends[] = {
    SL_TENSOR("vision_model.conv1.weight", "tower_hidden, channels, patch, patch", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("vision_model.positional_embedding", "(image / patch) * (image / patch), tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_NORM("vision_model.ln_pre", "tower_hidden", OTHER, ""),
    SL_CONV("vision_model.vit_downsampler1", "2 * tower_hidden, tower_hidden, 3, 3", OTHER, ""),
    SL_CONV("vision_model.vit_downsampler2", "4 * tower_hidden, 2 * tower_hidden, 3, 3", OTHER, ""),
    SL_MATRIX("vit_large_projector", "text_hidden, 4 * tower_hidden", OTHER, REPLICATED, ""),
    SL_TENSOR("vit_large_projector.bias", "text_hidden", OTHER, REPLICATED, 0, "projector_bias"),
};

static const sl_part step3p7_block[] = {
    SL_NORM("ln_1", "tower_hidden", OTHER, ""),
    SL_TENSOR("attn.in_proj_weight", "3 * tower_hidden, tower_hidden", OTHER, COLUMN, 0, ""),
    SL_TENSOR("attn.in_proj_bias", "3 * tower_hidden", OTHER, COLUMN, 0, ""),
    SL_LINEAR("attn.out_proj", "tower_hidden, tower_hidden", OTHER, ROW, ""),
    SL_TENSOR("ls_1.gamma", "tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_NORM("ln_2", "tower_hidden", OTHER, ""),
    SL_LINEAR("mlp.c_fc", "tower_ffn, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("mlp.c_proj", "tower_hidden, tower_ffn", OTHER, ROW, ""),
    SL_TENSOR("ls_2.gamma", "tower_hidden", OTHER, REPLICATED, 0, ""),
};

const sl_stack sl_hf_step3p7_towers[] = {
    {.prefix = "", .repeat = "1", SL_PARTS(step3p7_ends), .beside = true, .titles = {{"", "vision_ends"}}},
    {.prefix = "vision_model.transformer.resblocks.{}.", .repeat = "tower_layers", SL_PARTS(step3p7_block), .beside = true, .titles = {{"", "vision"}}},
};

/* ---- muse_glimmer ---- */

const sl_hf_symbol sl_hf_muse_glimmer_tower_symbols[] = {
    {SL_HF_NUMBER, "tower_hidden", "vision_config.hidden_size", NULL, "1536", NULL, NULL},
    {SL_HF_NUMBER, "tower_ffn", "vision_config.intermediate_size", NULL, "8960", NULL, NULL},
    {SL_HF_NUMBER, "tower_layers", "vision_config.num_hidden_layers", NULL, "50", NULL, NULL},
    {SL_HF_NUMBER, "patch", "vision_config.patch_size", NULL, "14", NULL, NULL},
    {SL_HF_NUMBER, "frames", "vision_config.patch_temporal", NULL, "2", NULL, NULL},
    {SL_HF_NUMBER, "rows", "vision_config.pos_emb_height", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "columns", "vision_config.pos_emb_width", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "outputs", "out_hidden_size", NULL, "6144", NULL, NULL},
    {SL_HF_NUMBER, "projector", "projector_hidden_size", NULL, "4096", NULL, NULL},
};

static const sl_part muse_glimmer_ends[] = {
    SL_MATRIX("vision_tower.patch_embedder.patch_embedding", "tower_hidden, frames * 3 * patch * patch", OTHER, REPLICATED, ""),
    SL_TENSOR("vision_tower.patch_embedder.position_embedding_table.weight", "rows * columns, tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_NORM("vision_tower.ln_pre", "tower_hidden", OTHER, ""),
    SL_NORM("vision_tower.ln_post", "tower_hidden", OTHER, ""),
    SL_MATRIX("vision_adapter.fc1", "projector, outputs", OTHER, COLUMN, ""),
    SL_MATRIX("vision_adapter.fc2", "projector, projector", OTHER, ROW, ""),
    SL_MATRIX("vision_projection", "text_hidden, projector", OTHER, COLUMN, ""),
};

static const sl_part muse_glimmer_block[] = {
    SL_NORM("norm1", "tower_hidden", OTHER, ""),
    SL_NORM("norm2", "tower_hidden", OTHER, ""),
    SL_LINEAR("attn.q_proj", "tower_hidden, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("attn.k_proj", "tower_hidden, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("attn.v_proj", "tower_hidden, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("attn.proj", "tower_hidden, tower_hidden", OTHER, ROW, ""),
    SL_LINEAR("mlp.fc1", "tower_ffn, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("mlp.fc2", "tower_hidden, tower_ffn", OTHER, ROW, ""),
};

const sl_stack sl_hf_muse_glimmer_towers[] = {
    {.prefix = "model.", .repeat = "1", SL_PARTS(muse_glimmer_ends), .beside = true, .titles = {{"", "vision_ends"}}},
    {.prefix = "model.vision_tower.layers.{}.", .repeat = "tower_layers", SL_PARTS(muse_glimmer_block), .beside = true, .titles = {{"", "vision"}}},
};

/* clang-format on */
