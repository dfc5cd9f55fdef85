/**
 * Model types that are described by parts lists (engine/model/recipe.h): which keys of a config
 * each value comes from, and what the blocks are made of. The tables are in the recipes_*.c files.
 *
 * Writing one. Symbols come first, each with its key, its other names and the default of the class;
 * these names fill the summary of a model: vocab, hidden, ffn, layers, heads, kv_heads, head_dim,
 * positions, learned_positions, experts, top_k, tied; and `drops`, not 0 where training has
 * dropout. Set before any of them are `class`, the place of the config's class among `classes`, and
 * `has_head`, whether that class predicts tokens; of a tower, `text_hidden`. Then the stacks, in
 * order: the embedding once, the blocks, the end once. Stacks that all say what they do make a
 * model that is planned; else it is only counted. A part that only some blocks have says so in its
 * condition; blocks of the same EACH values are one kind. Names, below the prefix of the stack, are
 * those of the published checkpoints.
 */
#ifndef SL_HF_RECIPE_H
#define SL_HF_RECIPE_H

#include "engine/model/recipe.h"
#include "hf/source.h"
#include "json/reader.h"

typedef enum sl_hf_reading {
    SL_HF_COMPUTED, /* no key: the fallback */
    SL_HF_NUMBER,   /* a natural number, or true and false as 1 and 0 */
    SL_HF_LENGTH,   /* of a list, an object or a text */
    SL_HF_CHOICE,   /* index of a text among `texts`, parted by blanks */
    SL_HF_ENTRIES,  /* of a list; 1 of anything else */
    SL_HF_PRODUCT,  /* of a real number and the value that `texts` names, rounded down */
    SL_HF_REFUSED,  /* must be absent, null or false: it changes what blocks are made of */
    /* One value a block: the fallback may use `block`, the number of the block in its stack. */
    SL_HF_EACH_COMPUTED,
    SL_HF_EACH_NUMBER, /* from a list of numbers or booleans; a single one holds for all */
    SL_HF_EACH_CHOICE, /* from a list of texts */
    SL_HF_EACH_LETTER, /* from a text, one letter a block: index among the letters of `texts` */
    SL_HF_EACH_MEMBER  /* 1 when the list of block numbers, or a text such as "3,4", names it;
                         `texts`
                          is "1" where they count from 1 */
} sl_hf_reading;

typedef struct sl_hf_symbol {
    sl_hf_reading reading;
    const char *name;     /* in expressions: lower case and underscores */
    const char *key;      /* "a.b" is b of the object a, "a.0" the first element of a list */
    const char *alias;    /* other keys of the same meaning, parted by blanks, or NULL */
    const char *fallback; /* when the key is absent: an expression over the symbols above */
    const char *null;     /* when the key is there and null; NULL = as when absent */
    const char *texts;    /* of a number: what may stand for it and counts as absent */
} sl_hf_symbol;

typedef struct sl_hf_recipe {
    const char *model_type;
    const char *classes; /* names of `architectures`, parted by blanks, the usual one first */
    const char *dtype;   /* of checkpoints whose config does not say; NULL = bfloat16 */
    const sl_hf_symbol *symbols;
    size_t symbol_count;
    const sl_stack *stacks;
    size_t stack_count;
    bool encoder;           /* never the language part of a wrapper; its loss casts no logits */
    const char *mtp_layers; /* expression: layers for multi-token prediction, or NULL */
    const char *require;    /* expression that must hold; NULL = none */
    const char *required;   /* what it says, for the user */
    const char *note_when;  /* expression: where `note` is a warning; NULL = never */
    const char *note;       /* in what the count may surprise */
    const char *base;       /* of prefixes: a class that ends with "Model" saves its tensors without
                               it; NULL = it keeps them */
} sl_hf_recipe;

typedef struct sl_hf_recipes {
    const sl_hf_recipe *recipes;
    size_t count;
} sl_hf_recipes;

/** Encoders of text; encoders with decoders; encoders of images. */
extern const sl_hf_recipes sl_hf_bert_recipes;
extern const sl_hf_recipes sl_hf_seq2seq_recipes;
extern const sl_hf_recipes sl_hf_vision_recipes;
/** Decoders with linear attention; with state space; with experts unlike any other family's; with
 * something else of their own. */
extern const sl_hf_recipes sl_hf_delta_recipes;
extern const sl_hf_recipes sl_hf_mamba_recipes;
extern const sl_hf_recipes sl_hf_expert_recipes;
extern const sl_hf_recipes sl_hf_single_recipes;

/** NULL when the type is not described by a recipe. */
const sl_hf_recipe *sl_hf_recipe_find(const char *model_type);

/** The types there are: `at` counts from 0, NULL after the last. */
const char *sl_hf_recipe_name(size_t at);

/**
 * Describes the model of a config. Name, revision, model_type, dtype and quantisation are the
 * caller's. Errors as sl_hf_config_read.
 */
sl_code sl_hf_recipe_read(const sl_hf_source *source, const sl_hf_recipe *recipe,
                          sl_model *out) SL_MUST_CHECK;

/**
 * Adds stacks to a model that is described already: the towers of a wrapper. Values are read from
 * `config`; `text_hidden` is the model's hidden size.
 */
sl_code sl_hf_recipe_add_towers(const sl_node *config, const sl_hf_symbol *symbols,
                                size_t symbol_count, const sl_stack *stacks, size_t stack_count,
                                sl_model *model, sl_errors *warnings, sl_errors *err) SL_MUST_CHECK;

/* Rows of a parts list, one a line. A cut of COLUMN or VOCABULARY is along the outputs, of ROW
 * along the inputs; TENSOR says along which axis. */
#define SL_MATRIX(name, shape, component, cut, when)                                               \
    {                                                                                              \
        SL_PART_MATRIX, name, shape, SL_COMPONENT_##component, SL_CUT_##cut,                       \
            SL_CUT_##cut == SL_CUT_ROW, when                                                       \
    }
#define SL_LINEAR(name, shape, component, cut, when)                                               \
    {                                                                                              \
        SL_PART_LINEAR, name, shape, SL_COMPONENT_##component, SL_CUT_##cut,                       \
            SL_CUT_##cut == SL_CUT_ROW, when                                                       \
    }
#define SL_EXPERTS(name, shape, cut, when)                                                         \
    {                                                                                              \
        SL_PART_EXPERTS, name, shape, SL_COMPONENT_ROUTED_EXPERTS, SL_CUT_##cut,                   \
            SL_CUT_##cut == SL_CUT_ROW, when                                                       \
    }
#define SL_SCALE(name, shape, component, when)                                                     \
    {                                                                                              \
        SL_PART_SCALE, name, shape, SL_COMPONENT_##component, SL_CUT_REPLICATED, 0, when           \
    }
#define SL_NORM(name, shape, component, when)                                                      \
    {                                                                                              \
        SL_PART_NORM, name, shape, SL_COMPONENT_##component, SL_CUT_REPLICATED, 0, when            \
    }
#define SL_TENSOR(name, shape, component, cut, axis, when)                                         \
    {                                                                                              \
        SL_PART_TENSOR, name, shape, SL_COMPONENT_##component, SL_CUT_##cut, axis, when            \
    }
#define SL_CONV(name, shape, component, when)                                                      \
    {                                                                                              \
        SL_PART_CONV, name, shape, SL_COMPONENT_##component, SL_CUT_REPLICATED, 0, when            \
    }
#define SL_HEAD(name, shape, when)                                                                 \
    {                                                                                              \
        SL_PART_HEAD, name, shape, SL_COMPONENT_LM_HEAD, SL_CUT_VOCABULARY, 0, when                \
    }
#define SL_BUFFER(name, shape, when)                                                               \
    {                                                                                              \
        SL_PART_BUFFER, name, shape, SL_COMPONENT_OTHER, SL_CUT_REPLICATED, 0, when                \
    }

/* Operations of a stack, one a line. */
#define SL_LOOKS_UP(name, table, when)                                                             \
    {                                                                                              \
        SL_OPERATOR_LOOKUP, name, table, 0, when                                                   \
    }
#define SL_NORMS(name, scale, when)                                                                \
    {                                                                                              \
        SL_OPERATOR_NORM, name, scale, 0, when                                                     \
    }
#define SL_MULTIPLIES(name, matrices, traits, when)                                                \
    {                                                                                              \
        SL_OPERATOR_MATMUL, name, matrices, traits, when                                           \
    }
#define SL_ATTENDS(name, heads, traits, when)                                                      \
    {                                                                                              \
        SL_OPERATOR_ATTENTION, name, heads, traits, when                                           \
    }
#define SL_ROTATES(name, heads, when)                                                              \
    {                                                                                              \
        SL_OPERATOR_ROTARY, name, heads, 0, when                                                   \
    }
#define SL_SCANS(name, sizes, traits, when)                                                        \
    {                                                                                              \
        SL_OPERATOR_SCAN, name, sizes, traits, when                                                \
    }
#define SL_ROUTES(name, matrix)                                                                    \
    {                                                                                              \
        SL_OPERATOR_ROUTE, name, matrix, 0, ""                                                     \
    }
#define SL_ACTIVATES(name, reader, traits, when)                                                   \
    {                                                                                              \
        SL_OPERATOR_ACTIVATION, name, reader, traits, when                                         \
    }
#define SL_ADDS_WHEN(name, when)                                                                   \
    {                                                                                              \
        SL_OPERATOR_RESIDUAL, name, "", 0, when                                                    \
    }
#define SL_ADDS(name) SL_ADDS_WHEN(name, "")
#define SL_LOSES(matrices, traits, when)                                                           \
    {                                                                                              \
        SL_OPERATOR_LOSS, "loss", matrices, traits, when                                           \
    }

/* What decoders do alike, several rows each. A gate and what it opens are one product. */
#define SL_ATTENTION_HALF(module, sizes, rotates)                                                  \
    SL_MULTIPLIES("qkv", module ".q_proj " module ".k_proj " module ".v_proj", 0, ""),             \
        SL_ROTATES("rotary", "heads, kv_heads, head_dim", rotates),                                \
        SL_ATTENDS("attention", sizes, 0, "attends"),                                              \
        SL_MULTIPLIES("attention_output", module ".o_proj", SL_OPERATION_SHARES_INPUT, "")
#define SL_MLP_HALF(up, down)                                                                      \
    SL_MULTIPLIES("mlp_up", up, 0, ""), SL_ACTIVATES("activation", down, 0, ""),                   \
        SL_MULTIPLIES("mlp_down", down, 0, "")
#define SL_ROUTED_EXPERTS(up, down)                                                                \
    SL_ROUTES("route", up), SL_MULTIPLIES("expert_up", up, 0, ""),                                 \
        SL_ACTIVATES("expert_activation", down, 0, ""), SL_MULTIPLIES("expert_down", down, 0, "")

/* Building blocks that many families share, several rows each. */
#define SL_QKV(module, when)                                                                       \
    SL_MATRIX(module ".q_proj", "heads * head_dim, hidden", ATTENTION, COLUMN, when),              \
        SL_MATRIX(module ".k_proj", "kv_heads * head_dim, hidden", ATTENTION, COLUMN, when),       \
        SL_MATRIX(module ".v_proj", "kv_heads * head_dim, hidden", ATTENTION, COLUMN, when)
#define SL_QKVO(module, when)                                                                      \
    SL_QKV(module, when),                                                                          \
        SL_MATRIX(module ".o_proj", "hidden, heads * head_dim", ATTENTION, ROW, when)
#define SL_QKVO_BIAS(module, when)                                                                 \
    SL_TENSOR(module ".q_proj.bias", "heads * head_dim", ATTENTION, COLUMN, 0, when),              \
        SL_TENSOR(module ".k_proj.bias", "kv_heads * head_dim", ATTENTION, COLUMN, 0, when),       \
        SL_TENSOR(module ".v_proj.bias", "kv_heads * head_dim", ATTENTION, COLUMN, 0, when),       \
        SL_TENSOR(module ".o_proj.bias", "hidden", ATTENTION, REPLICATED, 0, when)
#define SL_GATED_MLP(module, width, component, when)                                               \
    SL_MATRIX(module ".gate_proj", width ", hidden", component, COLUMN, when),                     \
        SL_MATRIX(module ".up_proj", width ", hidden", component, COLUMN, when),                   \
        SL_MATRIX(module ".down_proj", "hidden, " width, component, ROW, when)
#define SL_GATED_MLP_BIAS(module, width, component, when)                                          \
    SL_TENSOR(module ".gate_proj.bias", width, component, COLUMN, 0, when),                        \
        SL_TENSOR(module ".up_proj.bias", width, component, COLUMN, 0, when),                      \
        SL_TENSOR(module ".down_proj.bias", "hidden", component, REPLICATED, 0, when)
#define SL_GATED_EXPERTS(module, width, when)                                                      \
    SL_EXPERTS(module ".gate_proj", width ", hidden", COLUMN, when),                               \
        SL_EXPERTS(module ".up_proj", width ", hidden", COLUMN, when),                             \
        SL_EXPERTS(module ".down_proj", "hidden, " width, ROW, when)

/* Sizes under the names that most configs use, with the defaults of a class. */
#define SL_SIZES(vocab, hidden, ffn, layers, heads)                                                \
    {SL_HF_NUMBER, "vocab", "vocab_size", NULL, vocab, NULL, NULL},                                \
        {SL_HF_NUMBER, "hidden", "hidden_size", NULL, hidden, NULL, NULL},                         \
        {SL_HF_NUMBER, "ffn", "intermediate_size", NULL, ffn, NULL, NULL},                         \
        {SL_HF_NUMBER, "layers", "num_hidden_layers", NULL, layers, NULL, NULL},                   \
    {                                                                                              \
        SL_HF_NUMBER, "heads", "num_attention_heads", NULL, heads, NULL, NULL                      \
    }

/* The two ends that most decoders share, and what they do. */
extern const sl_part sl_hf_embed_tokens[1];
extern const sl_part sl_hf_norm_and_head[2];
extern const sl_operation sl_hf_embed_tokens_does[1];
extern const sl_operation sl_hf_norm_and_head_does[3];
#define SL_EMBED_TOKENS_STACK                                                                      \
    {                                                                                              \
        .prefix = "model.", .repeat = "1", SL_PARTS(sl_hf_embed_tokens),                           \
        SL_OPERATIONS(sl_hf_embed_tokens_does), .titles = {                                        \
            {"", "embedding"}                                                                      \
        }                                                                                          \
    }
#define SL_NORM_AND_HEAD_STACK                                                                     \
    {                                                                                              \
        .prefix = "", .repeat = "1", SL_PARTS(sl_hf_norm_and_head),                                \
        SL_OPERATIONS(sl_hf_norm_and_head_does), .titles = {                                       \
            {"", "head"}                                                                           \
        }                                                                                          \
    }

/* Tables as members of a stack or a recipe. */
#define SL_PARTS(table) .parts = (table), .part_count = SL_COUNT_OF(table)
#define SL_OPERATIONS(table) .operations = (table), .operation_count = SL_COUNT_OF(table)
#define SL_VALUES(table) .symbols = (table), .symbol_count = SL_COUNT_OF(table)
#define SL_STACKS(table) .stacks = (table), .stack_count = SL_COUNT_OF(table)

#define SL_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
