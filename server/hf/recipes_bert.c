/*
 * Encoders of text: BERT and its relatives.
 *
 * `class` is the index of the class within the recipe's `classes`; `predicts` is 1 where it has a
 * head over the vocabulary (`has_head`, which the reader sets, also where it only classifies).
 * Defaults: the configuration classes of transformers 5.16.0.dev0. Checkpoints of these types are
 * float32 where configs are silent. Tensor names are those of the classes, recalled and not
 * compared with checkpoints; the oldest BERT files say gamma and beta for weight and bias of norms.
 *
 * A RoBERTa file may lack model_type and architectures (FacebookAI/roberta-base). It is told from
 * BERT, whose keys it has, by type_vocab_size = 1; its max_position_embeddings (514) is 2 more than
 * the positions it takes.
 *
 * Components follow the published counts of the classes, odd as they are: poolers in the MLP; the
 * prediction head of BERT, RoBERTa and DeBERTa wholly in the language-model head, those of ALBERT,
 * DistilBERT and ELECTRA spread over MLP, norms and other.
 * Classification heads: other (no published count by component).
 */
#include "hf/recipes_encoders.h"

/* clang-format off */

/* A decoder keeps keys and values; what attends across is not modelled. */
#define BERT_SIZES(vocab) \
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, vocab, NULL, NULL}, \
    {SL_HF_NUMBER, "decodes", "is_decoder", NULL, "0", NULL, NULL}, \
    {SL_HF_REFUSED, "crosses", "add_cross_attention", NULL, "0", NULL, NULL}, \
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "768", NULL, NULL}, \
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "12", NULL, NULL}, \
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "12", NULL, NULL}, \
    {SL_HF_NUMBER, "ffn", "intermediate_size", NULL, "3072", NULL, NULL}, \
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "512", NULL, NULL}, \
    {SL_HF_NUMBER, "types", "type_vocab_size", NULL, "2", NULL, NULL}, \
    HEADS, TIED, LABELS, DROPS("hidden_dropout_prob", "100")

/* ---- What blocks and ends do ---- */

/* Norms after the sums. A class that decodes sees what came before, the others everything. */
#define LATE_NORM_BLOCK(q, k, v, out, first_norm, up, down, last_norm, decodes) \
    SL_MULTIPLIES("qkv", q " " k " " v, 0, ""), \
    SL_ATTENDS("attention", "heads, heads, head_dim", SL_OPERATION_UNMASKED, decodes " == 0"), \
    SL_ATTENDS("attention", "heads, heads, head_dim", 0, decodes), \
    SL_MULTIPLIES("attention_output", out, SL_OPERATION_SHARES_INPUT, ""), \
    SL_ADDS("attention_residual"), \
    SL_NORMS("attention_norm", first_norm, ""), \
    SL_MULTIPLIES("mlp_up", up, 0, ""), \
    SL_ACTIVATES("activation", down, 0, ""), \
    SL_MULTIPLIES("mlp_down", down, 0, ""), \
    SL_ADDS("mlp_residual"), \
    SL_NORMS("output_norm", last_norm, "")

/* Word, position and type vectors are added in one pass: one lookup stands for the three. */
#define LOOKS_UP(module, norm) \
    SL_LOOKS_UP("embedding", module, ""), \
    SL_NORMS("embedding_norm", norm, "")

/* A classifier over each position, and over the first of a sequence behind one more layer. */
#define CLASSIFIES_ONCE(dense, out, when) \
    SL_MULTIPLIES("pooler", dense, SL_OPERATION_ONCE, when), \
    SL_ACTIVATES("pooler_activation", out, SL_OPERATION_ONCE, when), \
    SL_MULTIPLIES("classifier", out, SL_OPERATION_ONCE, when), \
    SL_LOSES(out, SL_OPERATION_ONCE, when)

#define CLASSIFIES_ALL(out, when) \
    SL_MULTIPLIES("classifier", out, 0, when), \
    SL_LOSES(out, 0, when)

/* The prediction head: one more layer, then the vocabulary. */
#define PREDICTS_TOKENS(dense, norm, head) \
    SL_MULTIPLIES("transform", dense, 0, "predicts"), \
    SL_ACTIVATES("transform_activation", norm, 0, "predicts"), \
    SL_NORMS("transform_norm", norm, "predicts"), \
    SL_MULTIPLIES("logits", head, 0, "predicts"), \
    SL_LOSES(head, 0, "predicts")

/* The block of BERT, RoBERTa, ELECTRA. */
static const sl_part bert_block[] = {
    SL_LINEAR("attention.self.query", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.self.key", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.self.value", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.output.dense", "hidden, hidden", ATTENTION, ROW, ""),
    SL_NORM("attention.output.LayerNorm", "hidden", NORMS, ""),
    SL_LINEAR("intermediate.dense", "ffn, hidden", MLP, COLUMN, ""),
    SL_LINEAR("output.dense", "hidden, ffn", MLP, ROW, ""),
    SL_NORM("output.LayerNorm", "hidden", NORMS, ""),
};

static const sl_operation bert_block_does[] = {
    LATE_NORM_BLOCK("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm", "decodes"),
};

static const sl_part bert_embeddings[] = {
    SL_TENSOR("word_embeddings.weight", "vocab, hidden", EMBEDDING, VOCABULARY, 0, ""),
    SL_TENSOR("position_embeddings.weight", "positions, hidden", EMBEDDING, REPLICATED, 0, ""),
    SL_TENSOR("token_type_embeddings.weight", "types, hidden", EMBEDDING, REPLICATED, 0, ""),
    SL_NORM("LayerNorm", "hidden", NORMS, ""),
};

static const sl_operation bert_embeddings_do[] = {
    LOOKS_UP("word_embeddings", "LayerNorm"),
};

/* bert: 0 MaskedLM, 1 LMHead, 2 PreTraining, 3 Model, 4 SequenceClassification, 5
 * TokenClassification, 6 QuestionAnswering */
static const sl_hf_symbol bert_symbols[] = {
    BERT_SIZES("30522"),
    PREDICTS("class < 3"),
    {SL_HF_COMPUTED, "pooler", NULL, NULL, "(class >= 2) * (class <= 4)", NULL, NULL},
};

static const sl_part bert_head[] = {
    SL_LINEAR("bert.pooler.dense", "hidden, hidden", MLP, REPLICATED, "pooler * (class != 3)"),
    SL_LINEAR("pooler.dense", "hidden, hidden", MLP, REPLICATED, "class == 3"),
    SL_LINEAR("cls.predictions.transform.dense", "hidden, hidden", LM_HEAD, REPLICATED, "predicts"),
    SL_NORM("cls.predictions.transform.LayerNorm", "hidden", LM_HEAD, "predicts"),
    SL_TENSOR("cls.predictions.bias", "vocab", LM_HEAD, VOCABULARY, 0, "predicts"),
    SL_HEAD("cls.predictions.decoder", "vocab, hidden", "predicts"),
    SL_LINEAR("cls.seq_relationship", "2, hidden", OTHER, REPLICATED, "class == 2"),
    SL_LINEAR("classifier", "labels, hidden", OTHER, REPLICATED, "(class == 4) + (class == 5)"),
    SL_LINEAR("qa_outputs", "2, hidden", OTHER, REPLICATED, "class == 6"),
};

static const sl_operation bert_head_does[] = {
    SL_MULTIPLIES("pooler", "pooler.dense", SL_OPERATION_ONCE, "class == 3"),
    CLASSIFIES_ONCE("bert.pooler.dense", "cls.seq_relationship", "class == 2"),
    CLASSIFIES_ONCE("bert.pooler.dense", "classifier", "class == 4"),
    CLASSIFIES_ALL("classifier", "class == 5"),
    CLASSIFIES_ALL("qa_outputs", "class == 6"),
    PREDICTS_TOKENS("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.decoder"),
};

static const sl_stack bert_stacks[] = {
    {.prefix = "bert.embeddings.", .repeat = "1", SL_PARTS(bert_embeddings), SL_OPERATIONS(bert_embeddings_do), .titles = {{"", "embedding"}}},
    {.prefix = "bert.encoder.layer.{}.", .repeat = "layers", SL_PARTS(bert_block), SL_OPERATIONS(bert_block_does), .titles = {{"", "encoder"}}, .caches = {{.when = "decodes", .per_token = "2 * hidden"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(bert_head), SL_OPERATIONS(bert_head_does), .titles = {{"", "head"}}},
};

/* roberta, xlm-roberta, camembert: 0 MaskedLM, 1 CausalLM, 2 Model, 3 SequenceClassification, 4
 * TokenClassification, 5 QuestionAnswering */
static const sl_hf_symbol roberta_symbols[] = {
    BERT_SIZES("50265"),
    PREDICTS("class < 2"),
};

static const sl_hf_symbol xlm_roberta_symbols[] = {
    BERT_SIZES("30522"),
    PREDICTS("class < 2"),
};

/* Of RoBERTa and ELECTRA, whose classes are numbered alike from 3 on. */
#define ROBERTA_CLASSIFIERS \
    SL_LINEAR("classifier.dense", "hidden, hidden", OTHER, REPLICATED, "class == 3"), \
    SL_LINEAR("classifier.out_proj", "labels, hidden", OTHER, REPLICATED, "class == 3"), \
    SL_LINEAR("classifier", "labels, hidden", OTHER, REPLICATED, "class == 4"), \
    SL_LINEAR("qa_outputs", "2, hidden", OTHER, REPLICATED, "class == 5")

static const sl_part roberta_head[] = {
    SL_LINEAR("pooler.dense", "hidden, hidden", MLP, REPLICATED, "class == 2"),
    SL_LINEAR("lm_head.dense", "hidden, hidden", LM_HEAD, REPLICATED, "predicts"),
    SL_NORM("lm_head.layer_norm", "hidden", LM_HEAD, "predicts"),
    SL_TENSOR("lm_head.bias", "vocab", LM_HEAD, VOCABULARY, 0, "predicts"),
    SL_HEAD("lm_head.decoder", "vocab, hidden", "predicts"),
    ROBERTA_CLASSIFIERS,
};

#define ROBERTA_CLASSIFIES \
    CLASSIFIES_ONCE("classifier.dense", "classifier.out_proj", "class == 3"), \
    CLASSIFIES_ALL("classifier", "class == 4"), \
    CLASSIFIES_ALL("qa_outputs", "class == 5")

static const sl_operation roberta_head_does[] = {
    SL_MULTIPLIES("pooler", "pooler.dense", SL_OPERATION_ONCE, "class == 2"),
    ROBERTA_CLASSIFIES,
    PREDICTS_TOKENS("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder"),
};

static const sl_stack roberta_stacks[] = {
    {.prefix = "roberta.embeddings.", .repeat = "1", SL_PARTS(bert_embeddings), SL_OPERATIONS(bert_embeddings_do), .titles = {{"", "embedding"}}},
    {.prefix = "roberta.encoder.layer.{}.", .repeat = "layers", SL_PARTS(bert_block), SL_OPERATIONS(bert_block_does), .titles = {{"", "encoder"}}, .caches = {{.when = "decodes", .per_token = "2 * hidden"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(roberta_head), SL_OPERATIONS(roberta_head_does), .titles = {{"", "head"}}},
};

/* albert: 0 MaskedLM, 1 PreTraining, 2 Model, 3 SequenceClassification, 4 TokenClassification, 5
 * QuestionAnswering. One group of weights is used by num_hidden_layers / num_hidden_groups layers:
 * counted once. The names hold for inner_group_num = 1, which every published file has. */
static const sl_hf_symbol albert_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "30000", NULL, NULL},
    {SL_HF_NUMBER, "embed", "embedding_size", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "4096", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "12", NULL, NULL},
    {SL_HF_NUMBER, "groups", "num_hidden_groups", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "inner", "inner_group_num", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "64", NULL, NULL},
    {SL_HF_NUMBER, "ffn", "intermediate_size", NULL, "16384", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "512", NULL, NULL},
    {SL_HF_NUMBER, "types", "type_vocab_size", NULL, "2", NULL, NULL},
    HEADS, TIED, LABELS,
    PREDICTS("class < 2"),
    {SL_HF_COMPUTED, "pooler", NULL, NULL, "(class >= 1) * (class <= 3)", NULL, NULL},
    {SL_HF_EACH_COMPUTED, "again", NULL, NULL, "block >= groups * inner", NULL, NULL},
};

/* Embeddings narrower than the hidden size: of ALBERT and ELECTRA. */
#define NARROW_EMBEDDINGS \
    SL_TENSOR("embeddings.word_embeddings.weight", "vocab, embed", EMBEDDING, VOCABULARY, 0, ""), \
    SL_TENSOR("embeddings.position_embeddings.weight", "positions, embed", EMBEDDING, REPLICATED, 0, ""), \
    SL_TENSOR("embeddings.token_type_embeddings.weight", "types, embed", EMBEDDING, REPLICATED, 0, ""), \
    SL_NORM("embeddings.LayerNorm", "embed", NORMS, "")

static const sl_part albert_embeddings[] = {
    NARROW_EMBEDDINGS,
    SL_LINEAR("encoder.embedding_hidden_mapping_in", "hidden, embed", EMBEDDING, REPLICATED, ""),
};

static const sl_part albert_block[] = {
    SL_LINEAR("attention.query", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.key", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.value", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.dense", "hidden, hidden", ATTENTION, ROW, ""),
    SL_NORM("attention.LayerNorm", "hidden", NORMS, ""),
    SL_LINEAR("ffn", "ffn, hidden", MLP, COLUMN, ""),
    SL_LINEAR("ffn_output", "hidden, ffn", MLP, ROW, ""),
    SL_NORM("full_layer_layer_norm", "hidden", NORMS, ""),
};

static const sl_part albert_head[] = {
    SL_LINEAR("albert.pooler", "hidden, hidden", MLP, REPLICATED, "pooler * (class != 2)"),
    SL_LINEAR("pooler", "hidden, hidden", MLP, REPLICATED, "class == 2"),
    SL_LINEAR("predictions.dense", "embed, hidden", MLP, REPLICATED, "predicts"),
    SL_NORM("predictions.LayerNorm", "embed", NORMS, "predicts"),
    SL_TENSOR("predictions.bias", "vocab", OTHER, VOCABULARY, 0, "predicts"),
    SL_HEAD("predictions.decoder", "vocab, embed", "predicts"),
    SL_LINEAR("sop_classifier.classifier", "labels, hidden", OTHER, REPLICATED, "class == 1"),
    SL_LINEAR("classifier", "labels, hidden", OTHER, REPLICATED, "(class == 3) + (class == 4)"),
    SL_LINEAR("qa_outputs", "2, hidden", OTHER, REPLICATED, "class == 5"),
};

static const sl_stack albert_stacks[] = {
    {.prefix = "albert.", .repeat = "1", SL_PARTS(albert_embeddings), .titles = {{"", "embedding"}}},
    {.prefix = "albert.encoder.albert_layer_groups.{}.albert_layers.0.", .repeat = "layers * inner", .shared = "again", SL_PARTS(albert_block), .titles = {{"", "encoder"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(albert_head), .titles = {{"", "head"}}},
};

/* distilbert: 0 MaskedLM, 1 Model, 2 SequenceClassification, 3 TokenClassification, 4
 * QuestionAnswering */
static const sl_hf_symbol distilbert_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "30522", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "dim", "hidden_size", "768", NULL, NULL},
    {SL_HF_NUMBER, "layers", "n_layers", "num_hidden_layers", "6", NULL, NULL},
    {SL_HF_NUMBER, "heads", "n_heads", "num_attention_heads", "12", NULL, NULL},
    {SL_HF_NUMBER, "ffn", "hidden_dim", NULL, "3072", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "512", NULL, NULL},
    HEADS, TIED, LABELS, DROPS("dropout", "100"),
    PREDICTS("class == 0"),
};

static const sl_part distilbert_embeddings[] = {
    SL_TENSOR("word_embeddings.weight", "vocab, hidden", EMBEDDING, VOCABULARY, 0, ""),
    SL_TENSOR("position_embeddings.weight", "positions, hidden", EMBEDDING, REPLICATED, 0, ""),
    SL_NORM("LayerNorm", "hidden", NORMS, ""),
};

static const sl_operation distilbert_embeddings_do[] = {
    LOOKS_UP("word_embeddings", "LayerNorm"),
};

static const sl_part distilbert_block[] = {
    SL_LINEAR("attention.q_lin", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.k_lin", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.v_lin", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.out_lin", "hidden, hidden", ATTENTION, ROW, ""),
    SL_NORM("sa_layer_norm", "hidden", NORMS, ""),
    SL_LINEAR("ffn.lin1", "ffn, hidden", MLP, COLUMN, ""),
    SL_LINEAR("ffn.lin2", "hidden, ffn", MLP, ROW, ""),
    SL_NORM("output_layer_norm", "hidden", NORMS, ""),
};

static const sl_operation distilbert_block_does[] = {
    LATE_NORM_BLOCK("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm", "0"),
};

static const sl_part distilbert_head[] = {
    SL_LINEAR("vocab_transform", "hidden, hidden", OTHER, REPLICATED, "predicts"),
    SL_NORM("vocab_layer_norm", "hidden", NORMS, "predicts"),
    SL_TENSOR("vocab_projector.bias", "vocab", OTHER, VOCABULARY, 0, "predicts"),
    SL_HEAD("vocab_projector", "vocab, hidden", "predicts"),
    SL_LINEAR("pre_classifier", "hidden, hidden", OTHER, REPLICATED, "class == 2"),
    SL_LINEAR("classifier", "labels, hidden", OTHER, REPLICATED, "(class == 2) + (class == 3)"),
    SL_LINEAR("qa_outputs", "2, hidden", OTHER, REPLICATED, "class == 4"),
};

static const sl_operation distilbert_head_does[] = {
    CLASSIFIES_ONCE("pre_classifier", "classifier", "class == 2"),
    CLASSIFIES_ALL("classifier", "class == 3"),
    CLASSIFIES_ALL("qa_outputs", "class == 4"),
    PREDICTS_TOKENS("vocab_transform", "vocab_layer_norm", "vocab_projector"),
};

static const sl_stack distilbert_stacks[] = {
    {.prefix = "distilbert.embeddings.", .repeat = "1", SL_PARTS(distilbert_embeddings), SL_OPERATIONS(distilbert_embeddings_do), .titles = {{"", "embedding"}}},
    {.prefix = "distilbert.transformer.layer.{}.", .repeat = "layers", SL_PARTS(distilbert_block), SL_OPERATIONS(distilbert_block_does), .titles = {{"", "encoder"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(distilbert_head), SL_OPERATIONS(distilbert_head_does), .titles = {{"", "head"}}},
};

/* electra: 0 MaskedLM (the generator), 1 PreTraining (the discriminator), 2 Model, 3
 * SequenceClassification, 4 TokenClassification, 5 QuestionAnswering */
static const sl_hf_symbol electra_symbols[] = {
    {SL_HF_NUMBER, "decodes", "is_decoder", NULL, "0", NULL, NULL},
    {SL_HF_REFUSED, "crosses", "add_cross_attention", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "30522", NULL, NULL},
    {SL_HF_NUMBER, "embed", "embedding_size", NULL, "128", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "256", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "12", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "4", NULL, NULL},
    {SL_HF_NUMBER, "ffn", "intermediate_size", NULL, "1024", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "512", NULL, NULL},
    {SL_HF_NUMBER, "types", "type_vocab_size", NULL, "2", NULL, NULL},
    HEADS, TIED, LABELS, DROPS("hidden_dropout_prob", "100"),
    PREDICTS("class == 0"),
};

static const sl_part electra_embeddings[] = {
    NARROW_EMBEDDINGS,
    SL_LINEAR("embeddings_project", "hidden, embed", EMBEDDING, REPLICATED, "embed != hidden"),
};

static const sl_operation electra_embeddings_do[] = {
    LOOKS_UP("embeddings.word_embeddings", "embeddings.LayerNorm"),
    SL_MULTIPLIES("embedding_projection", "embeddings_project", 0, ""),
};

static const sl_part electra_head[] = {
    SL_NORM("generator_predictions.LayerNorm", "embed", NORMS, "predicts"),
    SL_LINEAR("generator_predictions.dense", "embed, hidden", MLP, REPLICATED, "predicts"),
    SL_TENSOR("generator_lm_head.bias", "vocab", OTHER, VOCABULARY, 0, "predicts"),
    SL_HEAD("generator_lm_head", "vocab, embed", "predicts"),
    SL_LINEAR("discriminator_predictions.dense", "hidden, hidden", MLP, REPLICATED, "class == 1"),
    SL_LINEAR("discriminator_predictions.dense_prediction", "1, hidden", OTHER, REPLICATED, "class == 1"),
    ROBERTA_CLASSIFIERS,
};

static const sl_operation electra_head_does[] = {
    SL_MULTIPLIES("discriminator", "discriminator_predictions.dense", 0, ""),
    SL_ACTIVATES("activation", "discriminator_predictions.dense_prediction", 0, ""),
    CLASSIFIES_ALL("discriminator_predictions.dense_prediction", "class == 1"),
    ROBERTA_CLASSIFIES,
    PREDICTS_TOKENS("generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head"),
};

static const sl_stack electra_stacks[] = {
    {.prefix = "electra.", .repeat = "1", SL_PARTS(electra_embeddings), SL_OPERATIONS(electra_embeddings_do), .titles = {{"", "embedding"}}},
    {.prefix = "electra.encoder.layer.{}.", .repeat = "layers", SL_PARTS(bert_block), SL_OPERATIONS(bert_block_does), .titles = {{"", "encoder"}}, .caches = {{.when = "decodes", .per_token = "2 * hidden"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(electra_head), SL_OPERATIONS(electra_head_does), .titles = {{"", "head"}}},
};

/* deberta-v2 (and v3): 0 MaskedLM, 1 Model, 2 SequenceClassification, 3 TokenClassification, 4
 * QuestionAnswering. Files write -1 for "not set" in max_relative_positions (not read:
 * max_position_embeddings holds) and may do so in position_buckets. Without share_att_key,
 * pos_att_type decides on the two projections of positions; both are counted (every published file
 * shares). */
static const sl_hf_symbol deberta_v2_symbols[] = {
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, "128100", NULL, NULL},
    {SL_HF_NUMBER, "hidden", "hidden_size", NULL, "1536", NULL, NULL},
    {SL_HF_NUMBER, "embed", "embedding_size", NULL, "hidden", NULL, NULL},
    {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, "24", NULL, NULL},
    {SL_HF_NUMBER, "heads", "num_attention_heads", NULL, "24", NULL, NULL},
    {SL_HF_NUMBER, "ffn", "intermediate_size", NULL, "6144", NULL, NULL},
    {SL_HF_NUMBER, "positions", "max_position_embeddings", NULL, "512", NULL, NULL},
    {SL_HF_NUMBER, "types", "type_vocab_size", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "relative", "relative_attention", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "buckets", "position_buckets", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "shared_key", "share_att_key", NULL, "0", NULL, NULL},
    {SL_HF_NUMBER, "position_input", "position_biased_input", NULL, "1", NULL, NULL},
    {SL_HF_NUMBER, "kernel", "conv_kernel_size", NULL, "0", NULL, NULL},
    {SL_HF_CHOICE, "relative_norm", "norm_rel_ebd", NULL, "0", NULL, "none layer_norm"},
    {SL_HF_COMPUTED, "kv_heads", NULL, NULL, "heads", NULL, NULL},
    {SL_HF_COMPUTED, "head_dim", NULL, NULL, "hidden / heads", NULL, NULL},
    {SL_HF_COMPUTED, "learned_positions", NULL, NULL, "position_input != 0", NULL, NULL},
    {SL_HF_COMPUTED, "spans", NULL, NULL, "2 * buckets + 2 * positions * (buckets == 0)", NULL, NULL},
    TIED, LABELS,
    PREDICTS("class == 0"),
};

static const sl_part deberta_v2_embeddings[] = {
    SL_TENSOR("embeddings.word_embeddings.weight", "vocab, embed", EMBEDDING, VOCABULARY, 0, ""),
    SL_TENSOR("embeddings.position_embeddings.weight", "positions, embed", EMBEDDING, REPLICATED, 0, "position_input"),
    SL_TENSOR("embeddings.token_type_embeddings.weight", "types, embed", EMBEDDING, REPLICATED, 0, "types"),
    SL_MATRIX("embeddings.embed_proj", "hidden, embed", EMBEDDING, REPLICATED, "embed != hidden"),
    SL_NORM("embeddings.LayerNorm", "hidden", NORMS, ""),
    SL_TENSOR("encoder.rel_embeddings.weight", "spans, hidden", EMBEDDING, REPLICATED, 0, "relative"),
    SL_NORM("encoder.LayerNorm", "hidden", NORMS, "relative_norm"),
    SL_CONV("encoder.conv.conv", "hidden, hidden, kernel", OTHER, "kernel"),
    SL_NORM("encoder.conv.LayerNorm", "hidden", NORMS, "kernel"),
};

static const sl_part deberta_v2_block[] = {
    SL_LINEAR("attention.self.query_proj", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.self.key_proj", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.self.value_proj", "hidden, hidden", ATTENTION, COLUMN, ""),
    SL_LINEAR("attention.self.pos_key_proj", "hidden, hidden", ATTENTION, COLUMN, "relative * (shared_key == 0)"),
    SL_LINEAR("attention.self.pos_query_proj", "hidden, hidden", ATTENTION, COLUMN, "relative * (shared_key == 0)"),
    SL_LINEAR("attention.output.dense", "hidden, hidden", ATTENTION, ROW, ""),
    SL_NORM("attention.output.LayerNorm", "hidden", NORMS, ""),
    SL_LINEAR("intermediate.dense", "ffn, hidden", MLP, COLUMN, ""),
    SL_LINEAR("output.dense", "hidden, ffn", MLP, ROW, ""),
    SL_NORM("output.LayerNorm", "hidden", NORMS, ""),
};

static const sl_part deberta_v2_head[] = {
    SL_LINEAR("cls.predictions.transform.dense", "embed, hidden", LM_HEAD, REPLICATED, "predicts"),
    SL_NORM("cls.predictions.transform.LayerNorm", "embed", LM_HEAD, "predicts"),
    SL_TENSOR("cls.predictions.bias", "vocab", LM_HEAD, VOCABULARY, 0, "predicts"),
    SL_HEAD("cls.predictions.decoder", "vocab, embed", "predicts"),
    SL_LINEAR("pooler.dense", "hidden, hidden", MLP, REPLICATED, "class == 2"),
    SL_LINEAR("classifier", "labels, hidden", OTHER, REPLICATED, "(class == 2) + (class == 3)"),
    SL_LINEAR("qa_outputs", "2, hidden", OTHER, REPLICATED, "class == 4"),
};

static const sl_stack deberta_v2_stacks[] = {
    {.prefix = "deberta.", .repeat = "1", SL_PARTS(deberta_v2_embeddings), .titles = {{"", "embedding"}}},
    {.prefix = "deberta.encoder.layer.{}.", .repeat = "layers", SL_PARTS(deberta_v2_block), .titles = {{"", "encoder"}}},
    {.prefix = "", .repeat = "1", SL_PARTS(deberta_v2_head), .titles = {{"", "head"}}},
};

static const sl_hf_recipe recipes[] = {
    ENCODER("bert", "BertForMaskedLM BertLMHeadModel BertForPreTraining BertModel BertForSequenceClassification BertForTokenClassification BertForQuestionAnswering", "bert.", bert, bert),
    ENCODER("roberta", "RobertaForMaskedLM RobertaForCausalLM RobertaModel RobertaForSequenceClassification RobertaForTokenClassification RobertaForQuestionAnswering", "roberta.", roberta, roberta),
    ENCODER("xlm-roberta", "XLMRobertaForMaskedLM XLMRobertaForCausalLM XLMRobertaModel XLMRobertaForSequenceClassification XLMRobertaForTokenClassification XLMRobertaForQuestionAnswering", "roberta.", xlm_roberta, roberta),
    ENCODER("camembert", "CamembertForMaskedLM CamembertForCausalLM CamembertModel CamembertForSequenceClassification CamembertForTokenClassification CamembertForQuestionAnswering", "roberta.", xlm_roberta, roberta),
    ENCODER("albert", "AlbertForMaskedLM AlbertForPreTraining AlbertModel AlbertForSequenceClassification AlbertForTokenClassification AlbertForQuestionAnswering", "albert.", albert, albert),
    ENCODER("distilbert", "DistilBertForMaskedLM DistilBertModel DistilBertForSequenceClassification DistilBertForTokenClassification DistilBertForQuestionAnswering", "distilbert.", distilbert, distilbert),
    ENCODER("electra", "ElectraForMaskedLM ElectraForPreTraining ElectraModel ElectraForSequenceClassification ElectraForTokenClassification ElectraForQuestionAnswering", "electra.", electra, electra),
    ENCODER("deberta-v2", "DebertaV2ForMaskedLM DebertaV2Model DebertaV2ForSequenceClassification DebertaV2ForTokenClassification DebertaV2ForQuestionAnswering", "deberta.", deberta_v2, deberta_v2),
};

/* clang-format on */

const sl_hf_recipes sl_hf_bert_recipes = {recipes, SL_COUNT_OF(recipes)};
