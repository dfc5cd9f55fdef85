/* What a dense decoder is made of: the one place that knows its tensors and operators. */
#include "shardline/model.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* Widths that several tensors and operators share. */
typedef struct dense_widths {
    uint64_t queries; /* a * d */
    uint64_t keys;    /* g * d, and as many values */
    uint64_t qkv;     /* (a + 2g) * d */
    uint64_t up;      /* 2f where the MLP is gated, else f */
} dense_widths;

static dense_widths
widths_of(const sl_dense_spec *spec)
{
    dense_widths widths = {0};
    widths.queries = (uint64_t)spec->heads * spec->head_dim;
    widths.keys = (uint64_t)spec->kv_heads * spec->head_dim;
    widths.qkv = widths.queries + 2 * widths.keys;
    widths.up = spec->gated_mlp ? 2 * spec->ffn : spec->ffn;
    return widths;
}

/* `size` bounds `to`; every name is a literal of this file, so one that does not fit is our fault.
 */
static void
copy_name(char *to, size_t size, const char *from)
{
    const size_t length = strlen(from);
    assert(length < size);
    memcpy(to, from, length + 1);
}

static sl_tensor *
add_tensor(sl_layer_kind *kind, const char *name, sl_component component, sl_cut cut)
{
    assert(kind->tensor_count < SL_KIND_TENSORS_MAX);

    sl_tensor *tensor = &kind->tensors[kind->tensor_count++];
    memset(tensor, 0, sizeof *tensor);
    copy_name(tensor->name, sizeof tensor->name, name);
    tensor->component = component;
    tensor->cut = cut;
    return tensor;
}

static void
add_vector(sl_layer_kind *kind, const char *name, sl_component component, sl_cut cut,
           uint64_t length)
{
    sl_tensor *tensor = add_tensor(kind, name, component, cut);
    tensor->axes = 1;
    tensor->shape[0] = length;
}

static sl_tensor *
add_matrix(sl_layer_kind *kind, const char *name, sl_component component, sl_cut cut, uint64_t rows,
           uint64_t columns)
{
    sl_tensor *tensor = add_tensor(kind, name, component, cut);
    tensor->axes = 2;
    tensor->shape[0] = rows;
    tensor->shape[1] = columns;
    return tensor;
}

/* A linear layer of the checkpoint: torch keeps [out, in], the Conv1D of GPT-2 [in, out]. The bias
 * of a column cut goes with its features; that of a row cut is added after the sum, whole. */
typedef struct linear {
    const char *weight;
    const char *bias; /* NULL = none */
    sl_component component;
    sl_cut cut;
    uint64_t inputs;
    uint64_t outputs;
} linear;

static void
add_linear(sl_layer_kind *kind, sl_naming naming, const linear *layer)
{
    const bool inputs_first = naming == SL_NAMING_GPT2;
    sl_tensor *weight = add_matrix(kind, layer->weight, layer->component, layer->cut,
                                   inputs_first ? layer->inputs : layer->outputs,
                                   inputs_first ? layer->outputs : layer->inputs);
    weight->cut_axis = (layer->cut == SL_CUT_ROW) != inputs_first;
    if (layer->bias != NULL) {
        const sl_cut cut = layer->cut == SL_CUT_ROW ? SL_CUT_REPLICATED : layer->cut;
        add_vector(kind, layer->bias, layer->component, cut, layer->outputs);
    }
}

/* bias: the name it has where the norm is a LayerNorm. */
static void
add_norm(sl_layer_kind *kind, const sl_dense_spec *spec, const char *weight, const char *bias)
{
    add_vector(kind, weight, SL_COMPONENT_NORMS, SL_CUT_REPLICATED, spec->hidden);
    if (spec->layer_norm)
        add_vector(kind, bias, SL_COMPONENT_NORMS, SL_CUT_REPLICATED, spec->hidden);
}

static void
add_llama_tensors(sl_layer_kind *kind, const sl_dense_spec *spec, const dense_widths *widths)
{
    const linear attention[] = {
        {"self_attn.q_proj.weight", spec->qkv_bias ? "self_attn.q_proj.bias" : NULL,
         SL_COMPONENT_ATTENTION, SL_CUT_COLUMN, spec->hidden, widths->queries},
        {"self_attn.k_proj.weight", spec->qkv_bias ? "self_attn.k_proj.bias" : NULL,
         SL_COMPONENT_ATTENTION, SL_CUT_COLUMN, spec->hidden, widths->keys},
        {"self_attn.v_proj.weight", spec->qkv_bias ? "self_attn.v_proj.bias" : NULL,
         SL_COMPONENT_ATTENTION, SL_CUT_COLUMN, spec->hidden, widths->keys},
        {"self_attn.o_proj.weight", spec->output_bias ? "self_attn.o_proj.bias" : NULL,
         SL_COMPONENT_ATTENTION, SL_CUT_ROW, widths->queries, spec->hidden},
    };
    const linear gate = {"mlp.gate_proj.weight", spec->mlp_bias ? "mlp.gate_proj.bias" : NULL,
                         SL_COMPONENT_MLP,       SL_CUT_COLUMN,
                         spec->hidden,           spec->ffn};
    const linear mlp[] = {
        {"mlp.up_proj.weight", spec->mlp_bias ? "mlp.up_proj.bias" : NULL, SL_COMPONENT_MLP,
         SL_CUT_COLUMN, spec->hidden, spec->ffn},
        {"mlp.down_proj.weight", spec->mlp_bias ? "mlp.down_proj.bias" : NULL, SL_COMPONENT_MLP,
         SL_CUT_ROW, spec->ffn, spec->hidden},
    };

    add_norm(kind, spec, "input_layernorm.weight", "input_layernorm.bias");
    for (size_t i = 0; i < sizeof attention / sizeof attention[0]; i++)
        add_linear(kind, spec->naming, &attention[i]);
    if (spec->qk_norm) {
        add_vector(kind, "self_attn.q_norm.weight", SL_COMPONENT_ATTENTION, SL_CUT_REPLICATED,
                   spec->head_dim);
        add_vector(kind, "self_attn.k_norm.weight", SL_COMPONENT_ATTENTION, SL_CUT_REPLICATED,
                   spec->head_dim);
    }
    add_norm(kind, spec, "post_attention_layernorm.weight", "post_attention_layernorm.bias");
    if (spec->gated_mlp)
        add_linear(kind, spec->naming, &gate);
    for (size_t i = 0; i < sizeof mlp / sizeof mlp[0]; i++)
        add_linear(kind, spec->naming, &mlp[i]);
}

static void
add_gpt2_tensors(sl_layer_kind *kind, const sl_dense_spec *spec, const dense_widths *widths)
{
    assert(!spec->gated_mlp && !spec->qk_norm);

    const linear linears[] = {
        {"attn.c_attn.weight", spec->qkv_bias ? "attn.c_attn.bias" : NULL, SL_COMPONENT_ATTENTION,
         SL_CUT_COLUMN, spec->hidden, widths->qkv},
        {"attn.c_proj.weight", spec->output_bias ? "attn.c_proj.bias" : NULL,
         SL_COMPONENT_ATTENTION, SL_CUT_ROW, widths->queries, spec->hidden},
        {"mlp.c_fc.weight", spec->mlp_bias ? "mlp.c_fc.bias" : NULL, SL_COMPONENT_MLP,
         SL_CUT_COLUMN, spec->hidden, spec->ffn},
        {"mlp.c_proj.weight", spec->mlp_bias ? "mlp.c_proj.bias" : NULL, SL_COMPONENT_MLP,
         SL_CUT_ROW, spec->ffn, spec->hidden},
    };

    add_norm(kind, spec, "ln_1.weight", "ln_1.bias");
    add_linear(kind, spec->naming, &linears[0]);
    add_linear(kind, spec->naming, &linears[1]);
    add_norm(kind, spec, "ln_2.weight", "ln_2.bias");
    add_linear(kind, spec->naming, &linears[2]);
    add_linear(kind, spec->naming, &linears[3]);
}

static sl_operator *
add_operator(sl_layer_kind *kind, const char *name, sl_operator_kind what, sl_cut cut,
             uint64_t inputs, uint64_t outputs)
{
    assert(kind->operator_count < SL_KIND_OPERATORS_MAX);

    sl_operator *op = &kind->operators[kind->operator_count++];
    memset(op, 0, sizeof *op);
    copy_name(op->name, sizeof op->name, name);
    op->kind = what;
    op->cut = cut;
    op->inputs = inputs;
    op->outputs = outputs;
    return op;
}

static void
set_heads(sl_operator *op, const sl_dense_spec *spec)
{
    op->heads = spec->heads;
    op->kv_heads = spec->kv_heads;
    op->head_dim = spec->head_dim;
}

static void
add_block_operators(sl_layer_kind *kind, const sl_dense_spec *spec, const dense_widths *widths,
                    uint32_t window)
{
    const uint64_t hidden = spec->hidden;
    const uint64_t rotated = widths->queries + widths->keys;

    add_operator(kind, "input_norm", SL_OPERATOR_NORM, SL_CUT_REPLICATED, hidden, hidden);
    add_operator(kind, "qkv", SL_OPERATOR_MATMUL, SL_CUT_COLUMN, hidden, widths->qkv);
    if (spec->qk_norm)
        add_operator(kind, "qk_norm", SL_OPERATOR_NORM, SL_CUT_COLUMN, rotated, rotated);
    if (spec->learned_positions == 0)
        set_heads(add_operator(kind, "rotary", SL_OPERATOR_ROTARY, SL_CUT_COLUMN, rotated, rotated),
                  spec);
    sl_operator *attention = add_operator(kind, "attention", SL_OPERATOR_ATTENTION, SL_CUT_COLUMN,
                                          widths->qkv, widths->queries);
    set_heads(attention, spec);
    attention->window = window;
    sl_operator *output = add_operator(kind, "attention_output", SL_OPERATOR_MATMUL, SL_CUT_ROW,
                                       widths->queries, hidden);
    /* Attention keeps its own output for the backward pass: it is this product's input. */
    output->shares_input = true;
    add_operator(kind, "attention_residual", SL_OPERATOR_RESIDUAL, SL_CUT_REPLICATED, hidden,
                 hidden);
    add_operator(kind, "mlp_norm", SL_OPERATOR_NORM, SL_CUT_REPLICATED, hidden, hidden);
    add_operator(kind, "mlp_up", SL_OPERATOR_MATMUL, SL_CUT_COLUMN, hidden, widths->up);
    add_operator(kind, "activation", SL_OPERATOR_ACTIVATION, SL_CUT_COLUMN, widths->up, spec->ffn);
    add_operator(kind, "mlp_down", SL_OPERATOR_MATMUL, SL_CUT_ROW, spec->ffn, hidden);
    add_operator(kind, "mlp_residual", SL_OPERATOR_RESIDUAL, SL_CUT_REPLICATED, hidden, hidden);
}

static sl_layer_kind *
add_kind(sl_model *model, const char *name, const char *prefix)
{
    assert(model->kind_count < SL_KINDS_MAX);

    sl_layer_kind *kind = &model->kinds[model->kind_count++];
    memset(kind, 0, sizeof *kind);
    copy_name(kind->name, sizeof kind->name, name);
    copy_name(kind->prefix, sizeof kind->prefix, prefix);
    return kind;
}

/* A base class (no head) saves its tensors without the name of the attribute that the class with a
 * head keeps it under. */
static const char *
block_prefix(const sl_dense_spec *spec)
{
    if (spec->naming == SL_NAMING_GPT2)
        return spec->has_head ? "transformer.h.{}." : "h.{}.";
    return spec->has_head ? "model.layers.{}." : "layers.{}.";
}

static void
add_embedding(sl_model *model, const sl_dense_spec *spec)
{
    const bool gpt2 = spec->naming == SL_NAMING_GPT2;
    const char *base = gpt2 ? "wte.weight" : "embed_tokens.weight";
    const char *full = gpt2 ? "transformer.wte.weight" : "model.embed_tokens.weight";
    sl_layer_kind *kind = add_kind(model, "embedding", "");

    add_matrix(kind, spec->has_head ? full : base, SL_COMPONENT_EMBEDDING, SL_CUT_VOCABULARY,
               spec->vocabulary, spec->hidden);
    if (spec->learned_positions != 0)
        add_matrix(kind, spec->has_head ? "transformer.wpe.weight" : "wpe.weight",
                   SL_COMPONENT_EMBEDDING, SL_CUT_REPLICATED, spec->learned_positions,
                   spec->hidden);
    add_operator(kind, "embedding", SL_OPERATOR_LOOKUP, SL_CUT_VOCABULARY, spec->hidden,
                 spec->hidden);
}

static void
add_block(sl_model *model, const sl_dense_spec *spec, const char *name, uint32_t window)
{
    const dense_widths widths = widths_of(spec);
    sl_layer_kind *kind = add_kind(model, name, block_prefix(spec));

    if (spec->naming == SL_NAMING_GPT2)
        add_gpt2_tensors(kind, spec, &widths);
    else
        add_llama_tensors(kind, spec, &widths);
    add_block_operators(kind, spec, &widths, window);
}

static void
add_head(sl_model *model, const sl_dense_spec *spec)
{
    sl_layer_kind *kind = add_kind(model, "head", "");

    if (spec->naming == SL_NAMING_GPT2)
        add_norm(kind, spec, spec->has_head ? "transformer.ln_f.weight" : "ln_f.weight",
                 spec->has_head ? "transformer.ln_f.bias" : "ln_f.bias");
    else
        add_norm(kind, spec, spec->has_head ? "model.norm.weight" : "norm.weight",
                 spec->has_head ? "model.norm.bias" : "norm.bias");
    add_operator(kind, "final_norm", SL_OPERATOR_NORM, SL_CUT_REPLICATED, spec->hidden,
                 spec->hidden);
    if (!spec->has_head)
        return;
    sl_tensor *weight = add_matrix(kind, "lm_head.weight", SL_COMPONENT_LM_HEAD, SL_CUT_VOCABULARY,
                                   spec->vocabulary, spec->hidden);
    weight->tied = spec->tied;
    add_operator(kind, "logits", SL_OPERATOR_MATMUL, SL_CUT_VOCABULARY, spec->hidden,
                 spec->vocabulary);
    add_operator(kind, "loss", SL_OPERATOR_LOSS, SL_CUT_VOCABULARY, spec->vocabulary, 1);
}

static sl_code
check_sizes(const sl_dense_spec *spec, sl_errors *err)
{
    sl_code code = SL_OK;

    if (spec->blocks > SL_MODEL_LAYERS_MAX - 2)
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "", "at most %d blocks, got %u",
                       SL_MODEL_LAYERS_MAX - 2, spec->blocks);
    const uint64_t per_head = (uint64_t)SL_MODEL_WIDTH_MAX / spec->head_dim;
    if ((uint64_t)spec->heads + 2 * (uint64_t)spec->kv_heads > per_head)
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "queries, keys and values together are at most %d wide, got (%u + 2 * %u) "
                       "heads of %u",
                       SL_MODEL_WIDTH_MAX, spec->heads, spec->kv_heads, spec->head_dim);
    if (spec->hidden > SL_MODEL_WIDTH_MAX || spec->ffn > SL_MODEL_WIDTH_MAX)
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "the hidden and the intermediate size are at most %d, got %llu and %llu",
                       SL_MODEL_WIDTH_MAX, (unsigned long long)spec->hidden,
                       (unsigned long long)spec->ffn);
    if (spec->vocabulary > SL_MODEL_ROWS_MAX || spec->learned_positions > SL_MODEL_ROWS_MAX)
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "the vocabulary and the positions are at most %llu, got %llu and %llu",
                       (unsigned long long)SL_MODEL_ROWS_MAX, (unsigned long long)spec->vocabulary,
                       (unsigned long long)spec->learned_positions);
    return code;
}

/* The list of layers: embedding, full blocks, windowed blocks, head. */
static void
list_layers(sl_model *model, uint32_t blocks, uint32_t first_of_second_kind)
{
    const uint32_t head = model->kind_count - 1;

    model->layer_count = 0;
    model->layers[model->layer_count++] = 0;
    for (uint32_t block = 0; block < blocks; block++)
        model->layers[model->layer_count++] = block < first_of_second_kind ? 1 : 2;
    model->layers[model->layer_count++] = (uint8_t)head;
    model->block_count = blocks;
}

sl_code
sl_model_describe_dense(const sl_dense_spec *spec, sl_model *model, sl_errors *err)
{
    assert(spec != NULL && model != NULL && err != NULL);
    assert((unsigned)spec->naming < SL_NAMING_COUNT);
    assert(spec->blocks >= 1 && spec->hidden >= 1 && spec->ffn >= 1 && spec->vocabulary >= 1);
    assert(spec->learned_positions == 0 || spec->naming == SL_NAMING_GPT2);
    assert(spec->heads >= 1 && spec->kv_heads >= 1 && spec->head_dim >= 1);

    const sl_code code = check_sizes(spec, err);
    if (code != SL_OK)
        return code;

    const bool windowed = spec->window != 0 && spec->windowed_from < spec->blocks;
    const bool mixed = windowed && spec->windowed_from > 0;

    model->hidden = spec->hidden;
    model->ffn = spec->ffn;
    model->vocabulary = spec->vocabulary;
    model->position_limit = spec->learned_positions;
    model->heads = spec->heads;
    model->kv_heads = spec->kv_heads;
    model->head_dim = spec->head_dim;
    model->tied = spec->tied && spec->has_head;
    model->has_head = spec->has_head;
    model->kind_count = 0;
    add_embedding(model, spec);
    add_block(model, spec, "dense", windowed && !mixed ? spec->window : 0);
    if (mixed)
        add_block(model, spec, "dense_window", spec->window);
    add_head(model, spec);
    list_layers(model, spec->blocks, mixed ? spec->windowed_from : spec->blocks);
    return SL_OK;
}
