/** Building blocks of the description of a decoder: attention, MLP, experts, and their names. */
#ifndef SL_ENGINE_DESCRIBE_H
#define SL_ENGINE_DESCRIBE_H

#include <stddef.h>

#include "shardline/model.h"

/** How a checkpoint stores the routed experts of a block. */
typedef enum sl_expert_storage {
    SL_EXPERTS_APART,          /* a gate, an up and a down matrix for each expert */
    SL_EXPERTS_STACKED_INPUTS, /* [experts, inputs, outputs], gate and up in one */
    SL_EXPERTS_STACKED,        /* [experts, outputs, inputs], gate and up in one */
    SL_EXPERTS_FLAT            /* [experts * width, hidden], gate, up and down */
} sl_expert_storage;

/**
 * Modules of a checkpoint: ".weight" and ".bias" come after, unless `suffix` says otherwise. NULL
 * where the classes of this naming have no such module.
 */
typedef struct sl_names {
    const char *base;      /* before every name but the head's */
    const char *base_bare; /* the same in a class without head */
    const char *embedding;
    const char *embedding_norm;
    const char *positions;
    const char *project_in; /* between a narrow token table and the hidden size, and back */
    const char *project_out;
    const char *block;          /* "layers.{}." */
    const char *input_norm;     /* before attention */
    const char *attention_norm; /* of what attention gave */
    const char *mlp_norm;       /* before the MLP */
    const char *output_norm;    /* of what the MLP gave */
    const char *query, *key, *value;
    const char *qkv;  /* in place of the three */
    bool qkv_by_head; /* each key-value head with its queries, then the next; else all queries, all
                         keys, all values */
    const char *output;
    const char *query_norm, *key_norm;
    const char *gate, *up;
    const char *gate_up; /* in place of the two */
    bool
        gate_up_in_pairs; /* a row of the gate, then one of up; else all of one, all of the other */
    const char *down;
    const char *router;
    bool router_bare;              /* a parameter, no linear layer */
    const char *router_correction; /* added to its scores, and no parameter */
    const char *expert_gate, *expert_up;
    const char *expert_gate_up; /* in place of the two */
    const char *expert_down;
    const char *expert_suffix; /* of a routed expert's matrices: ".weight" or "" */
    const char *shared_gate, *shared_up, *shared_down;
    const char *shared_switch; /* the scalar gate on the shared experts */
    const char *final_norm;
    const char *head;
    bool norms_last;   /* the class of a block has its own norms behind attention and MLP */
    bool norm_in_head; /* the final norm is named below the head, not below the base */
    sl_expert_storage experts;
    bool inputs_first; /* [in, out], the Conv1D of GPT-2; else [out, in] */
} sl_names;

const sl_names *sl_names_of(sl_naming naming);

/** A linear layer: its module, what it counts as and how it is cut. The bias of a column cut goes
 * with its features; that of a row cut is added after the sum, whole. */
typedef struct sl_linear {
    const char *module;
    sl_component component;
    sl_cut cut;
    uint64_t inputs;
    uint64_t outputs;
    bool bias;
} sl_linear;

/** Writes first + second, which must not lie in `to`. */
void sl_join_names(char *to, size_t size, const char *first, const char *second);

/** Appends a tensor called module + suffix. */
sl_tensor *sl_add_vector(sl_layer_kind *kind, const char *module, const char *suffix,
                         sl_component component, sl_cut cut, uint64_t length);
sl_tensor *sl_add_matrix(sl_layer_kind *kind, const char *module, const char *suffix,
                         sl_component component, sl_cut cut, uint64_t rows, uint64_t columns);
void sl_add_linear(sl_layer_kind *kind, const sl_names *names, const sl_linear *layer);

/** Says of the tensors from number `first` on that are cut by column what is fused along their cut
 * axis. */
void sl_set_parts(sl_layer_kind *kind, uint32_t first, const uint64_t *lengths, uint32_t count);

/** Whether they are LayerNorms; else RMSNorms. */
bool sl_norms_are_centred(const sl_dense_spec *spec);

/** A norm over the hidden size, its tensors and its operator. */
void sl_add_norm(sl_layer_kind *kind, const sl_dense_spec *spec, const char *module,
                 const char *operator_name);

sl_operator *sl_add_operator(sl_layer_kind *kind, const char *name, sl_operator_kind what,
                             sl_cut cut, uint64_t inputs, uint64_t outputs);

/** Says of a product that its outputs are those of `count` tensors, one after the other. */
void sl_set_products(sl_operator *product, const uint64_t *outputs, uint32_t count);

/** Says of the operators from `first` on what the tensors they work with count as. */
void sl_mark_operators(sl_layer_kind *kind, uint32_t first, sl_component component);

/** A new kind of `model`; its prefix is base + rest. The kind before it is then complete. */
sl_layer_kind *sl_add_kind(sl_model *model, const char *name, const char *base, const char *rest);

/** Attention from the normed hidden state to the output projection: tensors and operators. */
void sl_add_attention(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names,
                      uint32_t window);

/** The MLP from the normed hidden state to its down projection; shares_input where another operator
 * of the block keeps that state already. */
void sl_add_mlp(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names,
                bool shares_input);

/** Router, routed and shared experts. */
void sl_add_experts(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names);

#endif
