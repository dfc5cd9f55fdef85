/** What the tables of encoders write alike. */
#ifndef SL_HF_RECIPES_ENCODERS_H
#define SL_HF_RECIPES_ENCODERS_H

#include "hf/recipe.h"

/* clang-format off */

/* Labels of a classification head: id2label is an object, its members count. */
#define LABELS \
    {SL_HF_NUMBER, "label_number", "num_labels", NULL, "2", NULL, NULL}, \
    {SL_HF_LENGTH, "labels", "id2label", NULL, "label_number", NULL, NULL}

#define HEADS \
    {SL_HF_COMPUTED, "kv_heads", NULL, NULL, "heads", NULL, NULL}, \
    {SL_HF_COMPUTED, "head_dim", NULL, NULL, "hidden / heads", NULL, NULL}, \
    {SL_HF_COMPUTED, "learned_positions", NULL, NULL, "1", NULL, NULL}

#define TIED {SL_HF_NUMBER, "tied", "tie_word_embeddings", NULL, "1", "1", NULL}

/* Whether hidden states are dropped in training: the config's rate in thousandths. */
#define DROPS(key, rate) \
    {SL_HF_COMPUTED, "thousand", NULL, NULL, "1000", NULL, NULL}, \
    {SL_HF_PRODUCT, "drops", key, NULL, rate, NULL, "thousand"}

/* Which classes have a head over the vocabulary: without one there is nothing to tie. */
#define PREDICTS(classes) \
    {SL_HF_COMPUTED, "predicts", NULL, NULL, classes, NULL, NULL}, \
    {SL_HF_COMPUTED, "tied", NULL, NULL, "tied * predicts", NULL, NULL}

#define ENCODER(type, names, root, values, parts) \
    {.model_type = type, .classes = names, .dtype = "float32", .encoder = true, .base = root, SL_VALUES(values##_symbols), SL_STACKS(parts##_stacks)}

/* clang-format on */

#endif
