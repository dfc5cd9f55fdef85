/* Encoders of images, and of texts to match: ViT, CLIP, SigLIP. Defaults: the configuration classes
 * of transformers 5.16.0.dev0. `class` is the index of the class within the recipe's `classes`,
 * `predicts` is 1 where it has a head over the vocabulary. Checkpoints are float32 where configs
 * are silent; names are those of the classes. Patches count as other, poolers in the MLP. */
#include "hf/recipes_encoders.h"
#include "hf/recipes_towers.h"

/* clang-format off */

/* vit: 0 Model, 1 ImageClassification. One position is the class token's. */
static const sl_hf_symbol vit_symbols[] = {
    {SL_HF_COMPUTED, "vocab", NULL, NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "768", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "12", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "12", NULL, NULL},
    {SL_HF_NUMBER, "ffn", "intermediate_size", NULL, "3072", NULL, NULL},
    {SL_HF_NUMBER, "image", "image_size", NULL, "224", NULL, NULL},
    {SL_HF_NUMBER, "patch", "patch_size", NULL, "16", NULL, NULL},
    {SL_HF_NUMBER, "channels", "num_channels", NULL, "3", NULL, NULL},
    {SL_HF_NUMBER, "qkv_bias", "qkv_bias", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "pooled", "pooler_output_size", NULL, "hidden", NULL, NULL},
    {SL_HF_COMPUTED, "positions", NULL, NULL, "(image / patch) * (image / patch) + 1", NULL, NULL},
    HEADS, LABELS,
    {SL_HF_COMPUTED, "tied", NULL, NULL, "0", NULL, NULL},
};

static const sl_part vit_embeddings[] = {
    SL_TENSOR("cls_token", "1, 1, hidden", EMBEDDING, REPLICATED, 0, ""),
    SL_TENSOR("position_embeddings", "1, positions, hidden", EMBEDDING, REPLICATED, 0, ""),
    SL_CONV("patch_embeddings.projection", "hidden, channels, patch, patch", OTHER, ""),
};

static const sl_part vit_block[] = {
    SL_NORM("layernorm_before", "hidden", NORMS, ""),
    SL_MATRIX("attention.attention.query", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_TENSOR("attention.attention.query.bias", "hidden", ATTENTION, COLUMN, 0, "qkv_bias"),
    SL_MATRIX("attention.attention.key", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_TENSOR("attention.attention.key.bias", "hidden", ATTENTION, COLUMN, 0, "qkv_bias"),
    SL_MATRIX("attention.attention.value", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_TENSOR("attention.attention.value.bias", "hidden", ATTENTION, COLUMN, 0, "qkv_bias"),
    SL_LINEAR("attention.output.dense", "hidden, hidden", ATTENTION, ROW, ""),
    SL_NORM("layernorm_after", "hidden", NORMS, ""),
    SL_LINEAR("intermediate.dense", "ffn, hidden", MLP, COLUMN, ""),
    SL_LINEAR("output.dense", "hidden, ffn", MLP, ROW, ""),
};

static const sl_part vit_head[] = {
    SL_NORM("layernorm", "hidden", NORMS, "class == 0"),
    SL_NORM("vit.layernorm", "hidden", NORMS, "class == 1"),
    SL_LINEAR("pooler.dense", "pooled, hidden", MLP, REPLICATED, "class == 0"),
    SL_LINEAR("classifier", "labels, hidden", OTHER, REPLICATED, "class == 1"),
};

static const sl_stack vit_stacks[] = {
    {.prefix = "vit.embeddings.", .repeat = "1", SL_PARTS(vit_embeddings), .titles = {{"", "embedding"}}},
    {.prefix = "vit.encoder.layer.{}.", .repeat = "layers", SL_PARTS(vit_block), .titles = {{"", "encoder"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(vit_head), .titles = {{"", "head"}}},
};

/* clip (both halves) and its halves alone. The vision half is a tower (all in other), as in
 * multimodal models. "pre_layrnorm" is how the classes and checkpoints spell it. logit_scale is a
 * scalar: written with one axis. */
#define CLIP_TEXT_SIZES(key) \
    {SL_HF_NUMBER, "vocab", key "vocab_size", NULL, "49408", NULL, NULL}, \
    {SL_HF_NUMBER, "hidden", key "hidden_size", NULL, "512", NULL, NULL}, \
    {SL_HF_NUMBER, "ffn", key "intermediate_size", NULL, "2048", NULL, NULL}, \
    {SL_HF_NUMBER, "layers", key "num_hidden_layers", NULL, "12", NULL, NULL}, \
    {SL_HF_NUMBER, "heads", key "num_attention_heads", NULL, "8", NULL, NULL}, \
    {SL_HF_NUMBER, "positions", key "max_position_embeddings", NULL, "77", NULL, NULL}, \
    HEADS, \
    {SL_HF_COMPUTED, "tied", NULL, NULL, "0", NULL, NULL}, \
    {SL_HF_COMPUTED, "has_head", NULL, NULL, "0", NULL, NULL}

#define CLIP_VISION_SIZES(key) \
    {SL_HF_NUMBER, "tower_hidden", key "hidden_size", NULL, "768", NULL, NULL}, \
    {SL_HF_NUMBER, "tower_ffn", key "intermediate_size", NULL, "3072", NULL, NULL}, \
    {SL_HF_NUMBER, "tower_layers", key "num_hidden_layers", NULL, "12", NULL, NULL}, \
    {SL_HF_NUMBER, "tower_heads", key "num_attention_heads", NULL, "12", NULL, NULL}, \
    {SL_HF_NUMBER, "channels", key "num_channels", NULL, "3", NULL, NULL}, \
    {SL_HF_NUMBER, "image", key "image_size", NULL, "224", NULL, NULL}

/* What the summary asks for, of a recipe that is a tower alone. */
#define TOWER_ALONE \
    {SL_HF_COMPUTED, "vocab", NULL, NULL, "0", NULL, NULL}, \
    {SL_HF_COMPUTED, "hidden", NULL, NULL, "tower_hidden", NULL, NULL}, \
    {SL_HF_COMPUTED, "ffn", NULL, NULL, "tower_ffn", NULL, NULL}, \
    {SL_HF_COMPUTED, "layers", NULL, NULL, "tower_layers", NULL, NULL}, \
    {SL_HF_COMPUTED, "heads", NULL, NULL, "tower_heads", NULL, NULL}, \
    HEADS, \
    {SL_HF_COMPUTED, "tied", NULL, NULL, "0", NULL, NULL}, \
    {SL_HF_COMPUTED, "has_head", NULL, NULL, "0", NULL, NULL}

/* clip: one class, CLIPModel */
static const sl_hf_symbol clip_symbols[] = {
    CLIP_TEXT_SIZES("text_config."),
    CLIP_VISION_SIZES("vision_config."),
    {SL_HF_NUMBER, "patch", "vision_config.patch_size", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "projection", "projection_dim", NULL, "512", NULL, NULL},
    {SL_HF_COMPUTED, "text_projection", NULL, NULL, "1", NULL, NULL},
    {SL_HF_COMPUTED, "visual_projection", NULL, NULL, "1", NULL, NULL},
    {SL_HF_COMPUTED, "both", NULL, NULL, "1", NULL, NULL},
};

/* clip_text_model: 0 TextModel, 1 TextModelWithProjection */
static const sl_hf_symbol clip_text_symbols[] = {
    CLIP_TEXT_SIZES(""),
    {SL_HF_NUMBER, "projection", "projection_dim", NULL, "512", NULL, NULL},
    {SL_HF_COMPUTED, "text_projection", NULL, NULL, "class == 1", NULL, NULL},
    {SL_HF_COMPUTED, "both", NULL, NULL, "0", NULL, NULL},
};

/* clip_vision_model: 0 VisionModelWithProjection, 1 VisionModel */
static const sl_hf_symbol clip_vision_symbols[] = {
    CLIP_VISION_SIZES(""),
    {SL_HF_NUMBER, "patch", "patch_size", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "projection", "projection_dim", NULL, "512", NULL, NULL},
    {SL_HF_COMPUTED, "positions", NULL, NULL, "(image / patch) * (image / patch) + 1", NULL, NULL},
    TOWER_ALONE,
    {SL_HF_COMPUTED, "visual_projection", NULL, NULL, "class == 0", NULL, NULL},
};

static const sl_part clip_text_embeddings[] = {
    SL_TENSOR("token_embedding.weight", "vocab, hidden", EMBEDDING, VOCABULARY, 0, ""),
    SL_TENSOR("position_embedding.weight", "positions, hidden", EMBEDDING, REPLICATED, 0, ""),
};

static const sl_part clip_text_block[] = {
    CLIP_BLOCK("hidden", "ffn", NORMS, ATTENTION, MLP),
};

static const sl_part clip_text_head[] = {
    SL_NORM("text_model.final_layer_norm", "hidden", NORMS, ""),
    SL_MATRIX("text_projection", "projection, hidden", OTHER, REPLICATED, "text_projection"),
    SL_TENSOR("logit_scale", "1", OTHER, REPLICATED, 0, "both"),
};

static const sl_part clip_vision_embeddings[] = {
    SL_TENSOR("embeddings.class_embedding", "tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("embeddings.patch_embedding.weight", "tower_hidden, channels, patch, patch", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("embeddings.position_embedding.weight", "(image / patch) * (image / patch) + 1, tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_NORM("pre_layrnorm", "tower_hidden", OTHER, ""),
};

/* Also of SigLIP. */
static const sl_part clip_vision_block[] = {
    CLIP_BLOCK("tower_hidden", "tower_ffn", OTHER, OTHER, OTHER),
};

static const sl_part clip_vision_head[] = {
    SL_NORM("vision_model.post_layernorm", "tower_hidden", OTHER, ""),
    SL_MATRIX("visual_projection", "projection, tower_hidden", OTHER, REPLICATED, "visual_projection"),
};

#define CLIP_TEXT_STACKS \
    {.prefix = "text_model.embeddings.", .repeat = "1", SL_PARTS(clip_text_embeddings), .titles = {{"", "embedding"}}}, \
    {.prefix = "text_model.encoder.layers.{}.", .repeat = "layers", SL_PARTS(clip_text_block), .titles = {{"", "encoder"}}}, \
    {.prefix = "", .repeat = "1", SL_PARTS(clip_text_head), .titles = {{"", "head"}}}

static const sl_stack clip_stacks[] = {
    CLIP_TEXT_STACKS,
    {.prefix = "vision_model.", .repeat = "1", SL_PARTS(clip_vision_embeddings), .beside = true, .titles = {{"", "vision_embedding"}}},
    {.prefix = "vision_model.encoder.layers.{}.", .repeat = "tower_layers", SL_PARTS(clip_vision_block), .beside = true, .titles = {{"", "vision"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(clip_vision_head), .beside = true, .titles = {{"", "vision_head"}}},
};

static const sl_stack clip_text_stacks[] = {
    CLIP_TEXT_STACKS,
};

static const sl_stack clip_vision_stacks[] = {
    {.prefix = "vision_model.", .repeat = "1", SL_PARTS(clip_vision_embeddings), .titles = {{"", "embedding"}}},
    {.prefix = "vision_model.encoder.layers.{}.", .repeat = "tower_layers", SL_PARTS(clip_vision_block), .titles = {{"", "encoder"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(clip_vision_head), .titles = {{"", "head"}}},
};

/* siglip_vision_model: one class. */
static const sl_hf_symbol siglip_vision_symbols[] = {
    CLIP_VISION_SIZES(""),
    {SL_HF_NUMBER, "patch", "patch_size", NULL, "16", NULL, NULL},
    {SL_HF_NUMBER, "vision_head", "vision_use_head", NULL, "1", NULL, NULL},
    {SL_HF_COMPUTED, "positions", NULL, NULL, "(image / patch) * (image / patch)", NULL, NULL},
    TOWER_ALONE,
};

static const sl_part siglip_vision_embeddings[] = {
    SL_CONV("patch_embedding", "tower_hidden, channels, patch, patch", OTHER, ""),
    SL_TENSOR("position_embedding.weight", "positions, tower_hidden", OTHER, REPLICATED, 0, ""),
};

static const sl_part siglip_vision_head[] = {
    SL_NORM("post_layernorm", "tower_hidden", OTHER, ""),
    SIGLIP_HEAD_PARTS("head.", "vision_head"),
};

static const sl_stack siglip_vision_stacks[] = {
    {.prefix = "vision_model.embeddings.", .repeat = "1", SL_PARTS(siglip_vision_embeddings), .titles = {{"", "embedding"}}},
    {.prefix = "vision_model.encoder.layers.{}.", .repeat = "tower_layers", SL_PARTS(clip_vision_block), .titles = {{"", "encoder"}}},
    {.prefix = "vision_model.", .repeat = "1", SL_PARTS(siglip_vision_head), .titles = {{"", "head"}}},
};

static const sl_hf_recipe recipes[] = {
    ENCODER("vit", "ViTModel ViTForImageClassification", "vit.", vit, vit),
    ENCODER("clip", "CLIPModel", NULL, clip, clip),
    ENCODER("clip_text_model", "CLIPTextModel CLIPTextModelWithProjection", NULL, clip_text, clip_text),
    ENCODER("clip_vision_model", "CLIPVisionModelWithProjection CLIPVisionModel", NULL, clip_vision, clip_vision),
    ENCODER("siglip_vision_model", "SiglipVisionModel", NULL, siglip_vision, siglip_vision),
};

/* clang-format on */

const sl_hf_recipes sl_hf_vision_recipes = {recipes, SL_COUNT_OF(recipes)};
