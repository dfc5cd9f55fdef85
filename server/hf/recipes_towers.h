/**
 * Towers of recipes_towers_more.c, whose wrappers recipes_towers.c lists, and what tables of towers
 * write alike, the encoders of recipes_vision.c among them.
 */
#ifndef SL_HF_RECIPES_TOWERS_H
#define SL_HF_RECIPES_TOWERS_H

#include "hf/recipe.h"

extern const sl_hf_symbol sl_hf_llama4_tower_symbols[10];
extern const sl_stack sl_hf_llama4_towers[2];
extern const sl_hf_symbol sl_hf_mllama_tower_symbols[11];
extern const sl_stack sl_hf_mllama_towers[3];
extern const sl_hf_symbol sl_hf_gemma4_tower_symbols[20];
extern const sl_stack sl_hf_gemma4_towers[5];
extern const sl_hf_symbol sl_hf_step3p7_tower_symbols[7];
extern const sl_stack sl_hf_step3p7_towers[2];
extern const sl_hf_symbol sl_hf_muse_glimmer_tower_symbols[9];
extern const sl_stack sl_hf_muse_glimmer_towers[2];

/* clang-format off */

/* Sizes of a tower for images, under the names most configs use; the class defaults differ. */
#define VISION_SIZES(hidden, ffn, layers, image, patch) \
    {SL_HF_NUMBER, "tower_hidden", "vision_config.hidden_size", NULL, hidden, NULL, NULL}, \
    {SL_HF_NUMBER, "tower_ffn", "vision_config.intermediate_size", NULL, ffn, NULL, NULL}, \
    {SL_HF_NUMBER, "tower_layers", "vision_config.num_hidden_layers", NULL, layers, NULL, NULL}, \
    {SL_HF_NUMBER, "channels", "vision_config.num_channels", NULL, "3", NULL, NULL}, \
    {SL_HF_NUMBER, "image", "vision_config.image_size", NULL, image, NULL, NULL}, \
    {SL_HF_NUMBER, "patch", "vision_config.patch_size", NULL, patch, NULL, NULL}, \
    {SL_HF_COMPUTED, "patches", NULL, NULL, "(image / patch) * (image / patch)", NULL, NULL}

/* The block of CLIP and SigLIP, for images and for texts, with the components it counts as. */
#define CLIP_BLOCK(hidden, ffn, norms, attention, mlp) \
    SL_NORM("layer_norm1", hidden, norms, ""), \
    SL_LINEAR("self_attn.k_proj", hidden ", " hidden, attention, COLUMN, ""), \
    SL_LINEAR("self_attn.v_proj", hidden ", " hidden, attention, COLUMN, ""), \
    SL_LINEAR("self_attn.q_proj", hidden ", " hidden, attention, COLUMN, ""), \
    SL_LINEAR("self_attn.out_proj", hidden ", " hidden, attention, ROW, ""), \
    SL_NORM("layer_norm2", hidden, norms, ""), \
    SL_LINEAR("mlp.fc1", ffn ", " hidden, mlp, COLUMN, ""), \
    SL_LINEAR("mlp.fc2", hidden ", " ffn, mlp, ROW, "")

/* Pools by attention with one learned query. */
#define SIGLIP_HEAD_PARTS(module, here) \
    SL_TENSOR(module "probe", "1, 1, tower_hidden", OTHER, REPLICATED, 0, here), \
    SL_TENSOR(module "attention.in_proj_weight", "3 * tower_hidden, tower_hidden", OTHER, REPLICATED, 0, here), \
    SL_TENSOR(module "attention.in_proj_bias", "3 * tower_hidden", OTHER, REPLICATED, 0, here), \
    SL_LINEAR(module "attention.out_proj", "tower_hidden, tower_hidden", OTHER, REPLICATED, here), \
    SL_NORM(module "layernorm", "tower_hidden", OTHER, here), \
    SL_LINEAR(module "mlp.fc1", "tower_ffn, tower_hidden", OTHER, REPLICATED, here), \
    SL_LINEAR(module "mlp.fc2", "tower_hidden, tower_ffn", OTHER, REPLICATED, here)

/* clang-format on */

#endif
