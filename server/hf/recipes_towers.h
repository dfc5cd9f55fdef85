/**
 * Towers of recipes_towers_more.c, whose wrappers recipes_towers.c lists, and what both files
 * write alike.
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

/* clang-format on */

#endif
