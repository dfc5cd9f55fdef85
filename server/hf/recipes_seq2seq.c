/* Encoders with decoders: BART, T5, Whisper. Defaults: the configuration classes of
 * transformers 5.16.0.dev0. `class` is the index of the class within the recipe's `classes`,
 * `predicts` is 1 where it has a head over the vocabulary. Checkpoints are float32 where configs
 * are silent; names are those of the classes. Convolutions of sound count as other. */
#include "hf/recipes_encoders.h"

/* clang-format off */

/* bart, mbart: 0 ConditionalGeneration, 1 Model, 2 SequenceClassification. Position tables have two
 * rows that are no position. mbart is the same with norms before the sums (same tensors) and a last
 * norm in each half. */
#define BART_SIZES \
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "50265", NULL, NULL}, \
    {SL_HF_NUMBER, "hidden", "d_model", NULL, "1024", NULL, NULL}, \
    {SL_HF_NUMBER, "encoder_layers", "encoder_layers", NULL, "12", NULL, NULL}, \
    {SL_HF_NUMBER, "decoder_layers", "decoder_layers", NULL, "12", NULL, NULL}, \
    {SL_HF_NUMBER, "encoder_ffn", "encoder_ffn_dim", NULL, "4096", NULL, NULL}, \
    {SL_HF_NUMBER, "ffn", "decoder_ffn_dim", NULL, "4096", NULL, NULL}, \
    {SL_HF_NUMBER, "heads", "decoder_attention_heads", NULL, "16", NULL, NULL}, \
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "1024", NULL, NULL}, \
    {SL_HF_COMPUTED, "layers", NULL, NULL, "encoder_layers + decoder_layers", NULL, NULL}, \
    HEADS, TIED, LABELS, DROPS("dropout", "100"), \
    PREDICTS("class == 0")

static const sl_hf_symbol bart_symbols[] = {
    BART_SIZES,
    {SL_HF_COMPUTED, "final_norms", NULL, NULL, "0", NULL, NULL},
};

static const sl_hf_symbol mbart_symbols[] = {
    BART_SIZES,
    {SL_HF_COMPUTED, "final_norms", NULL, NULL, "1", NULL, NULL},
};

static const sl_part bart_embeddings[] = {
    SL_TENSOR("shared.weight", "vocab, hidden", EMBEDDING, VOCABULARY, 0, ""),
    SL_TENSOR("encoder.embed_positions.weight", "positions + 2, hidden", EMBEDDING, REPLICATED, 0, ""),
    SL_NORM("encoder.layernorm_embedding", "hidden", NORMS, ""),
    SL_TENSOR("decoder.embed_positions.weight", "positions + 2, hidden", EMBEDDING, REPLICATED, 0, ""),
    SL_NORM("decoder.layernorm_embedding", "hidden", NORMS, ""),
};

/* What blocks of BART and of Whisper are made of. `key` is the form of k_proj, which has no bias in
 * Whisper. */
#define BART_ATTENTION(module, key) \
    key(module ".k_proj", "hidden, hidden", ATTENTION, COLUMN, ""), \
    SL_LINEAR(module ".v_proj", "hidden, hidden", ATTENTION, COLUMN, ""), \
    SL_LINEAR(module ".q_proj", "hidden, hidden", ATTENTION, COLUMN, ""), \
    SL_LINEAR(module ".out_proj", "hidden, hidden", ATTENTION, ROW, ""), \
    SL_NORM(module "_layer_norm", "hidden", NORMS, "")

#define BART_MLP(width) \
    SL_LINEAR("fc1", width ", hidden", MLP, COLUMN, ""), \
    SL_LINEAR("fc2", "hidden, " width, MLP, ROW, ""), \
    SL_NORM("final_layer_norm", "hidden", NORMS, "")

static const sl_part bart_encoder[] = {
    BART_ATTENTION("self_attn", SL_LINEAR),
    BART_MLP("encoder_ffn"),
};

static const sl_part bart_decoder[] = {
    BART_ATTENTION("self_attn", SL_LINEAR),
    BART_ATTENTION("encoder_attn", SL_LINEAR),
    BART_MLP("ffn"),
};

static const sl_part bart_head[] = {
    SL_NORM("model.encoder.layer_norm", "hidden", NORMS, "final_norms * (class != 1)"),
    SL_NORM("model.decoder.layer_norm", "hidden", NORMS, "final_norms * (class != 1)"),
    SL_NORM("encoder.layer_norm", "hidden", NORMS, "final_norms * (class == 1)"),
    SL_NORM("decoder.layer_norm", "hidden", NORMS, "final_norms * (class == 1)"),
    SL_BUFFER("final_logits_bias", "1, vocab", "predicts"),
    SL_HEAD("lm_head", "vocab, hidden", "predicts"),
    SL_LINEAR("classification_head.dense", "hidden, hidden", OTHER, REPLICATED, "class == 2"),
    SL_LINEAR("classification_head.out_proj", "labels, hidden", OTHER, REPLICATED, "class == 2"),
};

/* Norms stand after the sums, in mbart before them. */
#define BART_HALF(title, module, attention) \
    SL_NORMS(title "_norm", module "_layer_norm", "final_norms"), \
    attention, \
    SL_MULTIPLIES(title "_output", module ".out_proj", SL_OPERATION_SHARES_INPUT, ""), \
    SL_ADDS(title "_residual"), \
    SL_NORMS(title "_norm", module "_layer_norm", "final_norms == 0")

#define BART_ATTENDS(traits) \
    SL_MULTIPLIES("qkv", "self_attn.q_proj self_attn.k_proj self_attn.v_proj", 0, ""), \
    SL_ATTENDS("attention", "heads, heads, head_dim", traits, "")

/* Every block reads the same output of the encoder, which is kept once; that one copy is not
 * counted. */
#define ATTENDS_ACROSS(query, key, value, heads) \
    SL_MULTIPLIES("cross_query", query, 0, ""), \
    SL_MULTIPLIES("cross_key_value", key " " value, SL_OPERATION_SHARES_INPUT, ""), \
    SL_ATTENDS("cross_attention", heads, SL_OPERATION_UNMASKED | SL_OPERATION_ACROSS, "")

#define BART_MLP_DOES \
    SL_NORMS("mlp_norm", "final_layer_norm", "final_norms"), \
    SL_MULTIPLIES("mlp_up", "fc1", 0, ""), \
    SL_ACTIVATES("activation", "fc2", 0, ""), \
    SL_MULTIPLIES("mlp_down", "fc2", 0, ""), \
    SL_ADDS("mlp_residual"), \
    SL_NORMS("output_norm", "final_layer_norm", "final_norms == 0")

static const sl_operation bart_embeddings_do[] = {
    SL_LOOKS_UP("encoder_embedding", "shared", ""),
    SL_NORMS("encoder_norm", "encoder.layernorm_embedding", ""),
    SL_LOOKS_UP("decoder_embedding", "shared", ""),
    SL_NORMS("decoder_norm", "decoder.layernorm_embedding", ""),
};

static const sl_operation bart_encoder_does[] = {
    BART_HALF("attention", "self_attn", BART_ATTENDS(SL_OPERATION_UNMASKED)),
    BART_MLP_DOES,
};

static const sl_operation bart_decoder_does[] = {
    BART_HALF("attention", "self_attn", BART_ATTENDS(0)),
    BART_HALF("cross", "encoder_attn", ATTENDS_ACROSS("encoder_attn.q_proj", "encoder_attn.k_proj", "encoder_attn.v_proj", "heads, heads, head_dim")),
    BART_MLP_DOES,
};

static const sl_operation bart_head_does[] = {
    SL_NORMS("encoder_norm", "model.encoder.layer_norm encoder.layer_norm", ""),
    SL_NORMS("decoder_norm", "model.decoder.layer_norm decoder.layer_norm", ""),
    SL_MULTIPLIES("logits", "lm_head", 0, ""),
    SL_LOSES("lm_head", 0, ""),
    SL_MULTIPLIES("pooler", "classification_head.dense", SL_OPERATION_ONCE, ""),
    SL_ACTIVATES("pooler_activation", "classification_head.out_proj", SL_OPERATION_ONCE, ""),
    SL_MULTIPLIES("classifier", "classification_head.out_proj", SL_OPERATION_ONCE, ""),
    SL_LOSES("classification_head.out_proj", SL_OPERATION_ONCE, ""),
};

#define DECODER_KEEPS(width) .caches = {{.when = "", .per_token = "2 * " width, .per_source = "2 * " width}}

static const sl_stack bart_stacks[] = {
    {.prefix = "model.", .repeat = "1", SL_PARTS(bart_embeddings), SL_OPERATIONS(bart_embeddings_do), .titles = {{"", "embedding"}}},
    {.prefix = "model.encoder.layers.{}.", .repeat = "encoder_layers", SL_PARTS(bart_encoder), SL_OPERATIONS(bart_encoder_does), .titles = {{"", "encoder"}}},
    {.prefix = "model.decoder.layers.{}.", .repeat = "decoder_layers", SL_PARTS(bart_decoder), SL_OPERATIONS(bart_decoder_does), .titles = {{"", "decoder"}}, DECODER_KEEPS("hidden")},
    {.prefix = "", .repeat = "1", SL_PARTS(bart_head), SL_OPERATIONS(bart_head_does), .titles = {{"", "head"}}},
};

/* t5, mt5, umt5: 0 ConditionalGeneration, 1 Model, 2 EncoderModel, 3 the first under its old name.
 * The classes tie the head whatever the file says (version 5: "tie_word_embeddings": false of the
 * v1.1, FLAN and mT5 files is overruled), so it is not read. The published v1.1, FLAN and mT5
 * checkpoints do store an lm_head.weight of their own: vocab * hidden more than counted here. */
#define T5_SIZES(vocab, ffn, encoder_layers, heads, mlp_form) \
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, vocab, NULL, NULL}, \
    {SL_HF_NUMBER, "hidden", "d_model", NULL, "512", NULL, NULL}, \
    {SL_HF_NUMBER, "head_dim", "d_kv", NULL, "64", NULL, NULL}, \
    {SL_HF_NUMBER, "ffn", "d_ff", NULL, ffn, NULL, NULL}, \
    {SL_HF_NUMBER, "encoder_layers", "num_layers", NULL, encoder_layers, NULL, NULL}, \
    {SL_HF_NUMBER, "heads", "num_heads", NULL, heads, NULL, NULL}, \
    {SL_HF_CHOICE, "mlp_form", "feed_forward_proj", NULL, mlp_form, NULL, "relu gated-gelu gelu gated-silu silu gated-relu"}, \
    {SL_HF_COMPUTED, "gated", NULL, NULL, "mlp_form % 2", NULL, NULL}, \
    {SL_HF_NUMBER, "decoder_layers", "num_decoder_layers", NULL, "encoder_layers", NULL, NULL}, \
    {SL_HF_NUMBER, "buckets", "relative_attention_num_buckets", NULL, "32", NULL, NULL}, \
    {SL_HF_COMPUTED, "has_decoder", NULL, NULL, "class != 2", NULL, NULL}, \
    {SL_HF_COMPUTED, "layers", NULL, NULL, "encoder_layers + decoder_layers * has_decoder", NULL, NULL}, \
    {SL_HF_COMPUTED, "kv_heads", NULL, NULL, "heads", NULL, NULL}, \
    {SL_HF_COMPUTED, "inner", NULL, NULL, "heads * head_dim", NULL, NULL}, \
    {SL_HF_COMPUTED, "positions", NULL, NULL, "0", NULL, NULL}, \
    {SL_HF_COMPUTED, "learned_positions", NULL, NULL, "0", NULL, NULL}, \
    {SL_HF_COMPUTED, "tied", NULL, NULL, "1", NULL, NULL}, \
    DROPS("dropout_rate", "100"), \
    {SL_HF_NUMBER, "file_tied", "tie_word_embeddings", NULL, "1", "1", NULL}, \
    PREDICTS("(class == 0) + (class == 3)")

static const sl_hf_symbol t5_symbols[] = {
    T5_SIZES("32128", "2048", "6", "8", "0"),
    {SL_HF_EACH_COMPUTED, "biased", NULL, NULL, "block == 0", NULL, NULL},
};

#define MT5_SIZES T5_SIZES("250112", "1024", "8", "6", "1")

static const sl_hf_symbol mt5_symbols[] = {
    MT5_SIZES,
    {SL_HF_EACH_COMPUTED, "biased", NULL, NULL, "block == 0", NULL, NULL},
};

/* Every block of umt5 has its own position bias. */
static const sl_hf_symbol umt5_symbols[] = {
    MT5_SIZES,
    {SL_HF_EACH_COMPUTED, "biased", NULL, NULL, "1", NULL, NULL},
};

static const sl_part t5_embeddings[] = {
    SL_TENSOR("shared.weight", "vocab, hidden", EMBEDDING, VOCABULARY, 0, ""),
};

#define T5_ATTENTION(module) \
    SL_MATRIX(module ".q", "inner, hidden", ATTENTION, COLUMN, ""), \
    SL_MATRIX(module ".k", "inner, hidden", ATTENTION, COLUMN, ""), \
    SL_MATRIX(module ".v", "inner, hidden", ATTENTION, COLUMN, ""), \
    SL_MATRIX(module ".o", "hidden, inner", ATTENTION, ROW, "")

#define T5_SELF_ATTENTION \
    T5_ATTENTION("layer.0.SelfAttention"), \
    SL_TENSOR("layer.0.SelfAttention.relative_attention_bias.weight", "buckets, heads", ATTENTION, COLUMN, 1, "biased"), \
    SL_SCALE("layer.0.layer_norm", "hidden", NORMS, "")

#define T5_MLP(module) \
    SL_MATRIX(module ".DenseReluDense.wi", "ffn, hidden", MLP, COLUMN, "gated == 0"), \
    SL_MATRIX(module ".DenseReluDense.wi_0", "ffn, hidden", MLP, COLUMN, "gated"), \
    SL_MATRIX(module ".DenseReluDense.wi_1", "ffn, hidden", MLP, COLUMN, "gated"), \
    SL_MATRIX(module ".DenseReluDense.wo", "hidden, ffn", MLP, ROW, ""), \
    SL_SCALE(module ".layer_norm", "hidden", NORMS, "")

static const sl_part t5_encoder[] = {
    T5_SELF_ATTENTION,
    T5_MLP("layer.1"),
};

static const sl_part t5_decoder[] = {
    T5_SELF_ATTENTION,
    T5_ATTENTION("layer.1.EncDecAttention"),
    SL_SCALE("layer.1.layer_norm", "hidden", NORMS, ""),
    T5_MLP("layer.2"),
};

static const sl_part t5_head[] = {
    SL_SCALE("encoder.final_layer_norm", "hidden", NORMS, ""),
    SL_SCALE("decoder.final_layer_norm", "hidden", NORMS, "has_decoder"),
    SL_HEAD("lm_head", "vocab, hidden", "predicts"),
};

/* Norms before the sums. Scores get a bias by distance, of the first block in all of t5 and mt5;
 * across they get none. */
#define T5_HALF(title, norm, attention, output) \
    SL_NORMS(title "_norm", norm, ""), \
    attention, \
    SL_MULTIPLIES(title "_output", output, SL_OPERATION_SHARES_INPUT, ""), \
    SL_ADDS(title "_residual")

#define T5_SELF_ATTENDS(traits) \
    T5_HALF("attention", "layer.0.layer_norm", T5_QKV_ATTENDS(traits), "layer.0.SelfAttention.o")

#define T5_QKV_ATTENDS(traits) \
    SL_MULTIPLIES("qkv", "layer.0.SelfAttention.q layer.0.SelfAttention.k layer.0.SelfAttention.v", 0, ""), \
    SL_ATTENDS("attention", "heads, heads, head_dim", SL_OPERATION_BIASED | (traits), "")

#define T5_MLP_DOES(module) \
    SL_NORMS("mlp_norm", module ".layer_norm", ""), \
    SL_MULTIPLIES("mlp_up", module ".DenseReluDense.wi " module ".DenseReluDense.wi_0 " module ".DenseReluDense.wi_1", 0, ""), \
    SL_ACTIVATES("activation", module ".DenseReluDense.wo", SL_OPERATION_DROPS, ""), \
    SL_MULTIPLIES("mlp_down", module ".DenseReluDense.wo", 0, ""), \
    SL_ADDS("mlp_residual")

/* Encoder and decoder look up the same table. */
static const sl_operation t5_embeddings_do[] = {
    SL_LOOKS_UP("encoder_embedding", "shared", ""),
    SL_LOOKS_UP("decoder_embedding", "shared", "has_decoder"),
};

static const sl_operation t5_encoder_does[] = {
    T5_SELF_ATTENDS(SL_OPERATION_UNMASKED),
    T5_MLP_DOES("layer.1"),
};

static const sl_operation t5_decoder_does[] = {
    T5_SELF_ATTENDS(0),
    T5_HALF("cross", "layer.1.layer_norm", ATTENDS_ACROSS("layer.1.EncDecAttention.q", "layer.1.EncDecAttention.k", "layer.1.EncDecAttention.v", "heads, heads, head_dim"), "layer.1.EncDecAttention.o"),
    T5_MLP_DOES("layer.2"),
};

static const sl_operation t5_head_does[] = {
    SL_NORMS("encoder_norm", "encoder.final_layer_norm", ""),
    SL_NORMS("decoder_norm", "decoder.final_layer_norm", ""),
    SL_MULTIPLIES("logits", "lm_head", 0, ""),
    SL_LOSES("lm_head", 0, ""),
};

static const sl_stack t5_stacks[] = {
    {.prefix = "", .repeat = "1", SL_PARTS(t5_embeddings), SL_OPERATIONS(t5_embeddings_do), .titles = {{"", "embedding"}}},
    {.prefix = "encoder.block.{}.", .repeat = "encoder_layers", SL_PARTS(t5_encoder), SL_OPERATIONS(t5_encoder_does), .titles = {{"biased", "encoder_biased"}, {"", "encoder"}}},
    {.prefix = "decoder.block.{}.", .repeat = "decoder_layers * has_decoder", SL_PARTS(t5_decoder), SL_OPERATIONS(t5_decoder_does), .titles = {{"biased", "decoder_biased"}, {"", "decoder"}}, DECODER_KEEPS("inner")},
    {.prefix = "", .repeat = "1", SL_PARTS(t5_head), SL_OPERATIONS(t5_head_does), .titles = {{"", "head"}}},
};

/* whisper: 0 ConditionalGeneration, 1 Model. Counted only: its encoder sees frames of sound, not
 * tokens. */
static const sl_hf_symbol whisper_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "51865", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "d_model", NULL, "384", NULL, NULL},
    {SL_HF_NUMBER, "mels", "num_mel_bins", NULL, "80", NULL, NULL},
    {SL_HF_NUMBER, "encoder_layers", "encoder_layers", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "decoder_layers", "decoder_layers", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "encoder_ffn", "encoder_ffn_dim", NULL, "1536", NULL, NULL},
    {SL_HF_NUMBER, "ffn", "decoder_ffn_dim", NULL, "1536", NULL, NULL},
    {SL_HF_NUMBER, "heads", "decoder_attention_heads", NULL, "6", NULL, NULL},
    {SL_HF_NUMBER, "sources", "max_source_positions", NULL, "1500", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_target_positions", NULL, "448", NULL, NULL},
    {SL_HF_COMPUTED, "layers", NULL, NULL, "encoder_layers + decoder_layers", NULL, NULL},
    HEADS, TIED,
    PREDICTS("class == 0"),
};

static const sl_part whisper_embeddings[] = {
    SL_CONV("encoder.conv1", "hidden, mels, 3", OTHER, ""),
    SL_CONV("encoder.conv2", "hidden, hidden, 3", OTHER, ""),
    SL_TENSOR("encoder.embed_positions.weight", "sources, hidden", EMBEDDING, REPLICATED, 0, ""),
    SL_TENSOR("decoder.embed_tokens.weight", "vocab, hidden", EMBEDDING, VOCABULARY, 0, ""),
    SL_TENSOR("decoder.embed_positions.weight", "positions, hidden", EMBEDDING, REPLICATED, 0, ""),
};

static const sl_part whisper_encoder[] = {
    BART_ATTENTION("self_attn", SL_MATRIX),
    BART_MLP("encoder_ffn"),
};

static const sl_part whisper_decoder[] = {
    BART_ATTENTION("self_attn", SL_MATRIX),
    BART_ATTENTION("encoder_attn", SL_MATRIX),
    BART_MLP("ffn"),
};

static const sl_part whisper_head[] = {
    SL_NORM("model.encoder.layer_norm", "hidden", NORMS, "class == 0"),
    SL_NORM("model.decoder.layer_norm", "hidden", NORMS, "class == 0"),
    SL_NORM("encoder.layer_norm", "hidden", NORMS, "class == 1"),
    SL_NORM("decoder.layer_norm", "hidden", NORMS, "class == 1"),
    SL_HEAD("proj_out", "vocab, hidden", "predicts"),
};

static const sl_stack whisper_stacks[] = {
    {.prefix = "model.", .repeat = "1", SL_PARTS(whisper_embeddings), .titles = {{"", "embedding"}}},
    {.prefix = "model.encoder.layers.{}.", .repeat = "encoder_layers", SL_PARTS(whisper_encoder), .titles = {{"", "encoder"}}},
    {.prefix = "model.decoder.layers.{}.", .repeat = "decoder_layers", SL_PARTS(whisper_decoder), .titles = {{"", "decoder"}}, DECODER_KEEPS("hidden")},
    {.prefix = "", .repeat = "1", SL_PARTS(whisper_head), .titles = {{"", "head"}}},
};

/* Encoders with a decoder whose files may say that the head is untied. */
#define T5(type, names, values) \
    {.model_type = (type), .classes = (names), .dtype = "float32", .encoder = true, SL_VALUES(values##_symbols), SL_STACKS(t5_stacks), .note_when = "(file_tied == 0) * predicts", .note = "the class ties the head to the embedding whatever the file says; checkpoints made before hold a head of their own, as large as the embedding"}

static const sl_hf_recipe recipes[] = {
    ENCODER("bart", "BartForConditionalGeneration BartModel BartForSequenceClassification", "model.", bart, bart),
    ENCODER("mbart", "MBartForConditionalGeneration MBartModel MBartForSequenceClassification", "model.", mbart, bart),
    T5("t5", "T5ForConditionalGeneration T5Model T5EncoderModel T5WithLMHeadModel", t5),
    T5("mt5", "MT5ForConditionalGeneration MT5Model MT5EncoderModel", mt5),
    T5("umt5", "UMT5ForConditionalGeneration UMT5Model UMT5EncoderModel", umt5),
    ENCODER("whisper", "WhisperForConditionalGeneration WhisperModel", "model.", whisper, whisper),
};

/* clang-format on */

const sl_hf_recipes sl_hf_seq2seq_recipes = {recipes, SL_COUNT_OF(recipes)};
