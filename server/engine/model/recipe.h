/**
 * Parts lists: what a stack of equal or nearly equal blocks is made of, written as tables: its
 * tensors and, where it can be planned, what it does with them in order. Towers and the blocks of
 * some families are counted only. A shape is an expression over the keys of a config.
 */
#ifndef SL_ENGINE_RECIPE_H
#define SL_ENGINE_RECIPE_H

#include "engine/model/expression.h"
#include "shardline/model.h"

/** Which tensors a row stands for. A matrix is a linear layer's: what is looked up or added, such
 * as a table of positions, is a tensor, and so is a weight that the class keeps as a bare
 * parameter. */
typedef enum sl_part_form {
    SL_PART_MATRIX,  /* "<name>.weight" [outputs, inputs] */
    SL_PART_LINEAR,  /* the same and "<name>.bias" [outputs] */
    SL_PART_EXPERTS, /* "<name>.weight" [outputs, inputs] of each routed expert {} */
    SL_PART_SCALE,   /* "<name>.weight" [n] */
    SL_PART_NORM,    /* the same and "<name>.bias" [n] */
    SL_PART_TENSOR,  /* "<name>", as its axes say; of routed experts, with three: a linear layer
                       each */
    SL_PART_CONV,    /* "<name>.weight" as its axes say, and "<name>.bias" [first axis] */
    SL_PART_HEAD,    /* "<name>.weight", which may be the embedding's storage */
    SL_PART_BUFFER   /* "<name>": stored in a checkpoint, but no parameter */
} sl_part_form;

typedef struct sl_part {
    sl_part_form form;
    const char *name;
    const char *shape; /* a list of expressions */
    sl_component component;
    sl_cut cut;
    uint32_t cut_axis;
    const char *when; /* present unless this is 0; "" = always */
} sl_part;

/** What is said of an operation beside its parts. */
enum {
    SL_OPERATION_SHARES_INPUT = 1, /* as sl_operator says, like the next four */
    SL_OPERATION_UNMASKED = 2,
    SL_OPERATION_BIASED = 4,
    SL_OPERATION_DROPS = 8,
    SL_OPERATION_ONCE = 16,
    SL_OPERATION_ACROSS = 32, /* attention: keys and values are of the encoder's output */
    SL_OPERATION_DELTA = 64   /* as sl_operator says */
};

/**
 * One operator of a stack. Its widths are those of the parts it names, parted by blanks:
 *
 *   lookup      the table
 *   norm        its scale; one in each head lists the heads, as rotary does
 *   matmul      the matrices that read the same input, side by side
 *   activation  the part that reads what it gives; it reads what the operator before it gave
 *   loss        the matrix that made the logits
 *   residual    none: it adds what the operator before it gave
 *   route       the matrix of the experts that tokens are sent to
 *   rotary      none: its heads, key-value heads (or 0) and the width of one, expressions
 *   attention   none: the same, and its window where it has one
 *   scan        none: the width it reads, its heads, the width of one, groups, states and chunk
 *
 * Where the block has none of the parts named, it has no such operator.
 */
typedef struct sl_operation {
    sl_operator_kind kind;
    const char *name;
    const char *of;
    uint32_t traits;
    const char *when; /* as of a part */
} sl_operation;

/** What a block keeps of the tokens it has seen. Expressions; "" = 0. */
typedef struct sl_cache_part {
    const char *when;        /* the first that is not 0 holds; "" = always */
    const char *per_token;   /* elements of one position, as engines keep them */
    const char *naive;       /* elements where latents are kept expanded */
    const char *window;      /* positions it is limited to; 0 = all */
    const char *state_bytes; /* bytes of one sequence, whatever its length */
    const char *per_source;  /* elements of one position of the encoder (cross attention) */
} sl_cache_part;

typedef struct sl_title {
    const char *when;
    const char *text; /* of the kind: "delta_net_experts" */
} sl_title;

enum { SL_STACK_TITLES_MAX = 10, SL_STACK_CACHES_MAX = 6 };

typedef struct sl_stack {
    const char *prefix; /* "model.layers.{}." */
    const char *repeat; /* how many blocks */
    const sl_part *parts;
    uint32_t part_count;
    const sl_operation *operations; /* in the order they run; NULL = not modelled */
    uint32_t operation_count;
    const char *shared; /* not 0: blocks of this kind are stored with an earlier one; NULL = 0 */
    bool beside;        /* a tower: counted, but no layer of the list that stages cut */
    sl_title titles[SL_STACK_TITLES_MAX];      /* the first that holds; ends with text NULL */
    sl_cache_part caches[SL_STACK_CACHES_MAX]; /* ends with when NULL */
} sl_stack;

/**
 * Appends a kind: the parts whose condition holds, with their shapes, and its operators. Its
 * tensors come in the order of the parts; buffers are added to model->persistent_buffers, times
 * `repeat`. Errors: SL_E_RANGE, rule out_of_range, when a shape leaves what is modelled or has an
 * empty axis, or there are more than SL_DECODER_KINDS_MAX kinds; the model is then unfinished.
 */
sl_code sl_recipe_add_kind(sl_model *model, const sl_stack *stack, const sl_scope *scope,
                           uint32_t *kind, sl_errors *err) SL_MUST_CHECK;

/**
 * Adds the operators of a stack to the kind that has its tensors, and says of the model what its
 * attention is like. Errors: as sl_recipe_add_kind, of the heads of an attention.
 */
sl_code sl_recipe_add_operators(sl_model *model, sl_layer_kind *kind, const sl_stack *stack,
                                const sl_scope *scope, sl_errors *err) SL_MUST_CHECK;

#endif
