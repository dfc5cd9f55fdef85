/**
 * What stands beside the language model in multimodal models: towers for images and sound, and the
 * projectors between. Values are read from the whole config; `text_hidden` is the hidden size of
 * the language part.
 *
 * All counts as other, as in the published counts (but for one norm of paddleocr_vl). Blocks are
 * cut as serving frameworks and Megatron-style training cut them; embeddings, convolutions and most
 * projectors are held whole. The kernels of three-dimensional convolutions are written with their
 * last two axes joined.
 *
 * Names of the checkpoints, and where they were seen:
 *   gemma3, qwen2_vl: index files of fine-tuned copies (towers; language part of gemma3).
 *   qwen3_vl, qwen3_5: index files of copies (language part); converters (towers).
 *   llama4, mllama, gemma4, paddleocr_vl, step3p7, muse_glimmer: converters that read the published
 *   files by name (towers and language part).
 *   llava, llava_next, qwen2_5_vl, qwen2_audio, paligemma, idefics3, smolvlm, the language part of
 *   qwen2_vl: recalled, unverified.
 * Files that version 5 of the library saves anew may say "model.language_model." and
 * "model.vision_tower." where older ones say "language_model.model." and "vision_tower.".
 */
#include "hf/recipes_towers.h"
#include "hf/wrapper.h"

/* clang-format off */

/* ---- CLIP and SigLIP towers: llava, llava_next, gemma3, paligemma, idefics3, smolvlm,
 * paddleocr_vl ---- */

static const sl_part clip_block[] = {
    CLIP_BLOCK("tower_hidden", "tower_ffn", OTHER, OTHER, OTHER),
};

/* "pre_layrnorm" is how the checkpoints spell it. */
static const sl_part clip_ends[] = {
    SL_TENSOR("embeddings.class_embedding", "tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("embeddings.patch_embedding.weight", "tower_hidden, channels, patch, patch", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("embeddings.position_embedding.weight", "patches + 1, tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_NORM("pre_layrnorm", "tower_hidden", OTHER, ""),
    SL_NORM("post_layernorm", "tower_hidden", OTHER, ""),
};

static const sl_part siglip_ends[] = {
    SL_CONV("embeddings.patch_embedding", "tower_hidden, channels, patch, patch", OTHER, ""),
    SL_TENSOR("embeddings.position_embedding.weight", "patches, tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_NORM("post_layernorm", "tower_hidden", OTHER, ""),
};

static const sl_part siglip_head[] = {
    SIGLIP_HEAD_PARTS("", ""),
};

#define SIGLIP_TOWER(prefix_of) \
    {.prefix = (prefix_of), .repeat = "1", SL_PARTS(siglip_ends), .beside = true, .titles = {{"", "vision_embedding"}}}, \
    {.prefix = prefix_of "encoder.layers.{}.", .repeat = "tower_layers", SL_PARTS(clip_block), .beside = true, .titles = {{"", "vision"}}}

#define SIGLIP_HEAD(prefix_of) \
    {.prefix = prefix_of "head.", .repeat = "vision_head", SL_PARTS(siglip_head), .beside = true, .titles = {{"", "vision_head"}}}

/* llava, llava_next. Towers of other types (Pixtral) are refused. One layer's features are
 * projected: the files name one, mostly by a negative number. */
static const sl_hf_symbol llava_tower_symbols[] = {
    {SL_HF_CHOICE, "tower_type", "vision_config.model_type", NULL, "0", NULL, "clip_vision_model"},
    /* Without a section the wrapper has a default of its own, CLIP-L; what a section leaves out is
     * CLIP's. */
    {SL_HF_ENTRIES, "given", "vision_config", NULL, "0", NULL, NULL},
    VISION_SIZES("1024 * (given == 0) + 768 * (given > 0)", "4096 * (given == 0) + 3072 * (given > 0)", "24 * (given == 0) + 12 * (given > 0)", "336 * (given == 0) + 224 * (given > 0)", "14 * (given == 0) + 32 * (given > 0)"),
    {SL_HF_ENTRIES, "features", "vision_feature_layer", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "projector_bias", "multimodal_projector_bias", NULL, "1", NULL, NULL},
};

static const sl_part llava_projector[] = {
    SL_MATRIX("linear_1", "text_hidden, features * tower_hidden", OTHER, REPLICATED, ""),
    SL_TENSOR("linear_1.bias", "text_hidden", OTHER, REPLICATED, 0, "projector_bias"),
    SL_MATRIX("linear_2", "text_hidden, text_hidden", OTHER, REPLICATED, ""),
    SL_TENSOR("linear_2.bias", "text_hidden", OTHER, REPLICATED, 0, "projector_bias"),
};

static const sl_part llava_next_newline[] = {
    SL_TENSOR("image_newline", "text_hidden", OTHER, REPLICATED, 0, ""),
};

#define LLAVA_TOWER \
    {.prefix = "vision_tower.vision_model.", .repeat = "1", SL_PARTS(clip_ends), .beside = true, .titles = {{"", "vision_embedding"}}}, \
    {.prefix = "vision_tower.vision_model.encoder.layers.{}.", .repeat = "tower_layers", SL_PARTS(clip_block), .beside = true, .titles = {{"", "vision"}}}, \
    {.prefix = "multi_modal_projector.", .repeat = "1", SL_PARTS(llava_projector), .beside = true, .titles = {{"", "projector"}}}

static const sl_stack llava_towers[] = {
    LLAVA_TOWER,
};

static const sl_stack llava_next_towers[] = {
    LLAVA_TOWER,
    {.prefix = "", .repeat = "1", SL_PARTS(llava_next_newline), .beside = true, .titles = {{"", "image_newline"}}},
};

/* gemma3 */
static const sl_hf_symbol gemma3_tower_symbols[] = {
    {SL_HF_CHOICE, "tower_type", "vision_config.model_type", NULL, "0", NULL, "siglip_vision_model"},
    VISION_SIZES("768", "3072", "12", "224", "16"),
    {SL_HF_NUMBER, "vision_head", "vision_config.vision_use_head", NULL, "1", NULL, NULL},
};

static const sl_part gemma3_projector[] = {
    SL_TENSOR("mm_input_projection_weight", "tower_hidden, text_hidden", OTHER, REPLICATED, 0, ""),
    SL_SCALE("mm_soft_emb_norm", "tower_hidden", OTHER, ""),
};

static const sl_stack gemma3_towers[] = {
    SIGLIP_TOWER("vision_tower.vision_model."),
    SIGLIP_HEAD("vision_tower.vision_model."),
    {.prefix = "multi_modal_projector.", .repeat = "1", SL_PARTS(gemma3_projector), .beside = true, .titles = {{"", "projector"}}},
};

/* paligemma: what the projector gives is as wide as the language part's hidden states. */
static const sl_hf_symbol paligemma_tower_symbols[] = {
    {SL_HF_CHOICE, "tower_type", "vision_config.model_type", NULL, "0", NULL, "siglip_vision_model"},
    VISION_SIZES("768", "3072", "12", "224", "16"),
    {SL_HF_NUMBER, "vision_head", "vision_config.vision_use_head", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "projection", "projection_dim", NULL, "2048", NULL, NULL},
};

static const sl_part paligemma_projector[] = {
    SL_LINEAR("linear", "projection, tower_hidden", OTHER, REPLICATED, ""),
};

static const sl_stack paligemma_towers[] = {
    SIGLIP_TOWER("vision_tower.vision_model."),
    SIGLIP_HEAD("vision_tower.vision_model."),
    {.prefix = "multi_modal_projector.", .repeat = "1", SL_PARTS(paligemma_projector), .beside = true, .titles = {{"", "projector"}}},
};

/* idefics3, smolvlm: scale_factor^2 patches become one token. */
static const sl_hf_symbol idefics3_tower_symbols[] = {
    {SL_HF_CHOICE, "tower_type", "vision_config.model_type", NULL, "0", NULL, "idefics3_vision idefics3 smolvlm_vision smolvlm"},
    VISION_SIZES("1152", "3072", "12", "224", "32"),
    {SL_HF_NUMBER, "scale", "scale_factor", NULL, "2", NULL, NULL},
};

static const sl_part idefics3_connector[] = {
    SL_MATRIX("modality_projection.proj", "text_hidden, tower_hidden * scale * scale", OTHER, REPLICATED, ""),
};

static const sl_stack idefics3_towers[] = {
    SIGLIP_TOWER("model.vision_model."),
    {.prefix = "model.connector.", .repeat = "1", SL_PARTS(idefics3_connector), .beside = true, .titles = {{"", "projector"}}},
};

/* paddleocr_vl: the language part has the shapes of ernie4_5. The published counts file the
 * projector's norm with the other norms. The published checkpoint holds more than the class: a
 * pooling head (visual.vision_model.head) and a second position table, both unused. */
static const sl_hf_symbol paddleocr_vl_tower_symbols[] = {
    VISION_SIZES("1152", "4304", "27", "384", "14"),
    {SL_HF_NUMBER, "merge", "vision_config.spatial_merge_size", NULL, "2", NULL, NULL},
    {SL_HF_COMPUTED, "merged", NULL, NULL, "tower_hidden * merge * merge", NULL, NULL},
};

static const sl_part paddleocr_vl_projector[] = {
    SL_NORM("pre_norm", "tower_hidden", NORMS, ""),
    SL_LINEAR("linear_1", "merged, merged", OTHER, REPLICATED, ""),
    SL_LINEAR("linear_2", "text_hidden, merged", OTHER, REPLICATED, ""),
};

static const sl_stack paddleocr_vl_towers[] = {
    SIGLIP_TOWER("visual.vision_model."),
    {.prefix = "mlp_AR.", .repeat = "1", SL_PARTS(paddleocr_vl_projector), .beside = true, .titles = {{"", "projector"}}},
};

/* ---- The towers of the Qwen family ---- */

#define QWEN_PATCHES(patch) \
    {SL_HF_NUMBER, "channels", "vision_config.in_channels", "vision_config.in_chans", "3", NULL, NULL}, \
    {SL_HF_NUMBER, "patch", "vision_config.patch_size", NULL, patch, NULL, NULL}, \
    {SL_HF_NUMBER, "frames", "vision_config.temporal_patch_size", NULL, "2", NULL, NULL}, \
    {SL_HF_NUMBER, "merge", "vision_config.spatial_merge_size", NULL, "2", NULL, NULL}, \
    {SL_HF_COMPUTED, "merged", NULL, NULL, "tower_hidden * merge * merge", NULL, NULL}

/* `norm` is the form of the norms, which have no bias in qwen2_5_vl. */
#define QWEN_ATTENTION(norm) \
    norm("norm1", "tower_hidden", OTHER, ""), \
    norm("norm2", "tower_hidden", OTHER, ""), \
    SL_LINEAR("attn.qkv", "3 * tower_hidden, tower_hidden", OTHER, COLUMN, ""), \
    SL_LINEAR("attn.proj", "tower_hidden, tower_hidden", OTHER, ROW, "")

#define QWEN_TOWER(module, family) \
    {.prefix = (module), .repeat = "1", SL_PARTS(family##_patches), .beside = true, .titles = {{"", "vision_ends"}}}, \
    {.prefix = module "blocks.{}.", .repeat = "tower_layers", SL_PARTS(family##_block), .beside = true, .titles = {{"", "vision"}}}

/* qwen2_vl: embed_dim is the tower's width, hidden_size that of its output. */
static const sl_hf_symbol qwen2_vl_tower_symbols[] = {
    {SL_HF_NUMBER, "tower_hidden", "vision_config.embed_dim", NULL, "1280", NULL, NULL},
    {SL_HF_PRODUCT, "tower_ffn", "vision_config.mlp_ratio", NULL, "4 * tower_hidden", NULL, "tower_hidden"},
    {SL_HF_NUMBER, "tower_layers", "vision_config.depth", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "outputs", "vision_config.hidden_size", NULL, "3584", NULL, NULL},
    QWEN_PATCHES("14"),
};

#define QWEN2_PATCHES(norm) \
    SL_TENSOR("patch_embed.proj.weight", "tower_hidden, channels, frames, patch * patch", OTHER, REPLICATED, 0, ""), \
    norm("merger.ln_q", "tower_hidden", OTHER, ""), \
    SL_LINEAR("merger.mlp.0", "merged, merged", OTHER, COLUMN, ""), \
    SL_LINEAR("merger.mlp.2", "outputs, merged", OTHER, ROW, "")

static const sl_part qwen2_vl_patches[] = {
    QWEN2_PATCHES(SL_NORM),
};

static const sl_part qwen2_vl_block[] = {
    QWEN_ATTENTION(SL_NORM),
    SL_LINEAR("mlp.fc1", "tower_ffn, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("mlp.fc2", "tower_hidden, tower_ffn", OTHER, ROW, ""),
};

static const sl_stack qwen2_vl_towers[] = {
    QWEN_TOWER("visual.", qwen2_vl),
};

/* qwen2_5_vl */
static const sl_hf_symbol qwen2_5_vl_tower_symbols[] = {
    {SL_HF_NUMBER, "tower_hidden", "vision_config.hidden_size", NULL, "3584", NULL, NULL},
    {SL_HF_NUMBER, "tower_ffn", "vision_config.intermediate_size", NULL, "3420", NULL, NULL},
    {SL_HF_NUMBER, "tower_layers", "vision_config.depth", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "outputs", "vision_config.out_hidden_size", NULL, "3584", NULL, NULL},
    QWEN_PATCHES("14"),
};

static const sl_part qwen2_5_vl_patches[] = {
    QWEN2_PATCHES(SL_SCALE),
};

static const sl_part qwen2_5_vl_block[] = {
    QWEN_ATTENTION(SL_SCALE),
    SL_LINEAR("mlp.gate_proj", "tower_ffn, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("mlp.up_proj", "tower_ffn, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("mlp.down_proj", "tower_hidden, tower_ffn", OTHER, ROW, ""),
};

static const sl_stack qwen2_5_vl_towers[] = {
    QWEN_TOWER("visual.", qwen2_5_vl),
};

/* qwen3_vl, qwen3_vl_moe: features of some blocks have mergers of their own. qwen3_5, qwen3_5_moe
 * have none of those, whatever the list says. */
#define QWEN3_SIZES \
    {SL_HF_NUMBER, "tower_hidden", "vision_config.hidden_size", NULL, "1152", NULL, NULL}, \
    {SL_HF_NUMBER, "tower_ffn", "vision_config.intermediate_size", NULL, "4304", NULL, NULL}, \
    {SL_HF_NUMBER, "tower_layers", "vision_config.depth", NULL, "27", NULL, NULL}, \
    {SL_HF_NUMBER, "outputs", "vision_config.out_hidden_size", NULL, "3584", NULL, NULL}, \
    {SL_HF_NUMBER, "places", "vision_config.num_position_embeddings", NULL, "2304", NULL, NULL}, \
    QWEN_PATCHES("16")

static const sl_hf_symbol qwen3_vl_tower_symbols[] = {
    QWEN3_SIZES,
    {SL_HF_LENGTH, "deep", "vision_config.deepstack_visual_indexes", NULL, "3", NULL, NULL},
};

static const sl_hf_symbol qwen3_5_tower_symbols[] = {
    QWEN3_SIZES,
};

static const sl_part qwen3_vl_patches[] = {
    SL_TENSOR("patch_embed.proj.weight", "tower_hidden, channels, frames, patch * patch", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("patch_embed.proj.bias", "tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_TENSOR("pos_embed.weight", "places, tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_NORM("merger.norm", "tower_hidden", OTHER, ""),
    SL_LINEAR("merger.linear_fc1", "merged, merged", OTHER, COLUMN, ""),
    SL_LINEAR("merger.linear_fc2", "outputs, merged", OTHER, ROW, ""),
};

static const sl_part qwen3_vl_block[] = {
    QWEN_ATTENTION(SL_NORM),
    SL_LINEAR("mlp.linear_fc1", "tower_ffn, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("mlp.linear_fc2", "tower_hidden, tower_ffn", OTHER, ROW, ""),
};

static const sl_part qwen3_vl_deep_merger[] = {
    SL_NORM("norm", "merged", OTHER, ""),
    SL_LINEAR("linear_fc1", "merged, merged", OTHER, COLUMN, ""),
    SL_LINEAR("linear_fc2", "outputs, merged", OTHER, ROW, ""),
};

static const sl_stack qwen3_vl_towers[] = {
    QWEN_TOWER("model.visual.", qwen3_vl),
    {.prefix = "model.visual.deepstack_merger_list.{}.", .repeat = "deep", SL_PARTS(qwen3_vl_deep_merger), .beside = true, .titles = {{"", "deep_merger"}}},
};

static const sl_stack qwen3_5_towers[] = {
    QWEN_TOWER("model.visual.", qwen3_vl),
};

/* qwen2_audio: the encoder of Whisper. Keys have no bias. */
static const sl_hf_symbol qwen2_audio_tower_symbols[] = {
    {SL_HF_NUMBER, "tower_hidden", "audio_config.d_model", NULL, "1280", NULL, NULL},
    {SL_HF_NUMBER, "tower_ffn", "audio_config.encoder_ffn_dim", NULL, "5120", NULL, NULL},
    {SL_HF_NUMBER, "tower_layers", "audio_config.encoder_layers", NULL, "32", NULL, NULL},
    {SL_HF_NUMBER, "mels", "audio_config.num_mel_bins", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "sources", "audio_config.max_source_positions", NULL, "1500", NULL, NULL},
};

static const sl_part qwen2_audio_ends[] = {
    SL_CONV("audio_tower.conv1", "tower_hidden, mels, 3", OTHER, ""),
    SL_CONV("audio_tower.conv2", "tower_hidden, tower_hidden, 3", OTHER, ""),
    SL_TENSOR("audio_tower.embed_positions.weight", "sources, tower_hidden", OTHER, REPLICATED, 0, ""),
    SL_NORM("audio_tower.layer_norm", "tower_hidden", OTHER, ""),
    SL_LINEAR("multi_modal_projector.linear", "text_hidden, tower_hidden", OTHER, REPLICATED, ""),
};

static const sl_part qwen2_audio_block[] = {
    SL_MATRIX("self_attn.k_proj", "tower_hidden, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("self_attn.v_proj", "tower_hidden, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("self_attn.q_proj", "tower_hidden, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("self_attn.out_proj", "tower_hidden, tower_hidden", OTHER, ROW, ""),
    SL_NORM("self_attn_layer_norm", "tower_hidden", OTHER, ""),
    SL_LINEAR("fc1", "tower_ffn, tower_hidden", OTHER, COLUMN, ""),
    SL_LINEAR("fc2", "tower_hidden, tower_ffn", OTHER, ROW, ""),
    SL_NORM("final_layer_norm", "tower_hidden", OTHER, ""),
};

static const sl_stack qwen2_audio_towers[] = {
    {.prefix = "", .repeat = "1", SL_PARTS(qwen2_audio_ends), .beside = true, .titles = {{"", "audio_ends"}}},
    {.prefix = "audio_tower.layers.{}.", .repeat = "tower_layers", SL_PARTS(qwen2_audio_block), .beside = true, .titles = {{"", "audio"}}},
};

/* ---- The wrappers, and how their checkpoints name the language part ---- */

#define TOWERS(values, parts) \
    .symbols = values##_tower_symbols, .symbol_count = SL_COUNT_OF(values##_tower_symbols), .towers = parts##_towers, .tower_count = SL_COUNT_OF(parts##_towers)
#define INSIDE .text_key = "text_config", .no_text = SL_HF_TEXT_REQUIRED
#define INSIDE_OR_FLAT .text_key = "text_config", .no_text = SL_HF_TEXT_FLAT
#define INSIDE_OR_DEFAULTS .text_key = "text_config", .no_text = SL_HF_TEXT_DEFAULTS
#define PREFIXED .prefix = "language_model.model.", .head = "language_model.lm_head."
#define MODEL_LANGUAGE .prefix = "model.language_model.", .head = "lm_head."
#define PLAIN .prefix = "model.", .head = "lm_head."

static const sl_hf_wrapper wrapper_rows[] = {
    {.model_type = "llava", .classes = "LlavaForConditionalGeneration", INSIDE, .text_type = "llama", PREFIXED, TOWERS(llava, llava)},
    {.model_type = "llava_next", .classes = "LlavaNextForConditionalGeneration", INSIDE, .text_type = "llama", PREFIXED, TOWERS(llava, llava_next)},
    {.model_type = "gemma3", .classes = "Gemma3ForConditionalGeneration", INSIDE, .text_type = "gemma3_text", PREFIXED, TOWERS(gemma3, gemma3)},
    {.model_type = "gemma4", .classes = "Gemma4ForConditionalGeneration", INSIDE, .text_type = "gemma4_text", MODEL_LANGUAGE, TOWERS(sl_hf_gemma4, sl_hf_gemma4)},
    {.model_type = "paligemma", .classes = "PaliGemmaForConditionalGeneration", INSIDE, .text_type = "gemma", PREFIXED, TOWERS(paligemma, paligemma)},
    {.model_type = "idefics3", .classes = "Idefics3ForConditionalGeneration", INSIDE, .text_type = "llama", .prefix = "model.text_model.", .head = "lm_head.", TOWERS(idefics3, idefics3)},
    {.model_type = "smolvlm", .classes = "SmolVLMForConditionalGeneration", INSIDE, .text_type = "llama", .prefix = "model.text_model.", .head = "lm_head.", TOWERS(idefics3, idefics3)},
    {.model_type = "mllama", .classes = "MllamaForConditionalGeneration", INSIDE, .text_type = "mllama_text_model", PREFIXED, TOWERS(sl_hf_mllama, sl_hf_mllama)},
    {.model_type = "llama4", .classes = "Llama4ForConditionalGeneration", INSIDE, .text_type = "llama4_text", PREFIXED, TOWERS(sl_hf_llama4, sl_hf_llama4)},
    {.model_type = "qwen2_vl", .classes = "Qwen2VLForConditionalGeneration", INSIDE_OR_FLAT, .text_type = "qwen2", PLAIN, TOWERS(qwen2_vl, qwen2_vl)},
    {.model_type = "qwen2_5_vl", .classes = "Qwen2_5_VLForConditionalGeneration", INSIDE_OR_FLAT, .text_type = "qwen2", PLAIN, TOWERS(qwen2_5_vl, qwen2_5_vl)},
    {.model_type = "qwen3_vl", .classes = "Qwen3VLForConditionalGeneration", INSIDE, .text_type = "qwen3_vl_text", MODEL_LANGUAGE, TOWERS(qwen3_vl, qwen3_vl)},
    {.model_type = "qwen3_vl_moe", .classes = "Qwen3VLMoeForConditionalGeneration", INSIDE, .text_type = "qwen3_vl_moe_text", MODEL_LANGUAGE, TOWERS(qwen3_vl, qwen3_vl)},
    {.model_type = "qwen3_5", .classes = "Qwen3_5ForConditionalGeneration", INSIDE, .text_type = "qwen3_5_text", MODEL_LANGUAGE, TOWERS(qwen3_5, qwen3_5)},
    {.model_type = "qwen3_5_moe", .classes = "Qwen3_5MoeForConditionalGeneration", INSIDE, .text_type = "qwen3_5_moe_text", MODEL_LANGUAGE, TOWERS(qwen3_5, qwen3_5)},
    {.model_type = "qwen2_audio", .classes = "Qwen2AudioForConditionalGeneration", INSIDE, .text_type = "qwen2", PREFIXED, TOWERS(qwen2_audio, qwen2_audio)},
    {.model_type = "paddleocr_vl", .classes = "PaddleOCRVLForConditionalGeneration", INSIDE_OR_FLAT, .text_type = "ernie4_5", PLAIN, TOWERS(paddleocr_vl, paddleocr_vl)},
    {.model_type = "step3p7", .classes = "Step3p7ForConditionalGeneration Step3p7FlashForCausalLM", INSIDE_OR_DEFAULTS, .text_type = "step3p5", PLAIN, TOWERS(sl_hf_step3p7, sl_hf_step3p7)},
    {.model_type = "muse_glimmer", .classes = "MuseGlimmerForConditionalGeneration", INSIDE, .text_type = "muse_glimmer_text", MODEL_LANGUAGE, TOWERS(sl_hf_muse_glimmer, sl_hf_muse_glimmer)},
};

/* clang-format on */

const sl_hf_wrapper *
sl_hf_wrapper_rows(size_t *count)
{
    *count = SL_COUNT_OF(wrapper_rows);
    return wrapper_rows;
}
