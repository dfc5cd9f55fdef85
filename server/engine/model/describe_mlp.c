/* The second half of a block: one MLP, or a router and its experts. */
#include "engine/model/describe.h"

#include <assert.h>
#include <stddef.h>

/* Two scalars shape the activation, two more are constants that are stored (Apertus). */
static void
add_learned_activation(sl_layer_kind *kind)
{
    static const char *const scalars[] = {"mlp.act_fn.alpha_p", "mlp.act_fn.alpha_n",
                                          "mlp.act_fn.beta", "mlp.act_fn.eps"};

    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        sl_add_vector(kind, scalars[i], "", SL_COMPONENT_MLP, SL_CUT_REPLICATED, 1)->buffer = i > 1;
}

void
sl_add_mlp(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names, bool shares_input)
{
    const uint64_t hidden = spec->hidden;
    const uint64_t up = spec->gated_mlp ? 2 * spec->ffn : spec->ffn;
    const bool fused = spec->gated_mlp && names->gate_up != NULL;

    if (spec->gated_mlp && !fused)
        sl_add_linear(kind, names,
                      &(sl_linear){names->gate, SL_COMPONENT_MLP, SL_CUT_COLUMN, hidden, spec->ffn,
                                   spec->mlp_bias});
    const uint64_t halves[] = {spec->ffn, spec->ffn};
    const uint32_t first = kind->tensor_count;
    sl_add_linear(kind, names,
                  &(sl_linear){fused ? names->gate_up : names->up, SL_COMPONENT_MLP, SL_CUT_COLUMN,
                               hidden, fused ? up : spec->ffn, spec->mlp_bias});
    if (fused && !names->gate_up_in_pairs)
        sl_set_parts(kind, first, halves, 2);
    sl_add_linear(
        kind, names,
        &(sl_linear){names->down, SL_COMPONENT_MLP, SL_CUT_ROW, spec->ffn, hidden, spec->mlp_bias});
    if (spec->learned_activation)
        add_learned_activation(kind);

    const uint32_t operators = kind->operator_count;
    sl_operator *product =
        sl_add_operator(kind, "mlp_up", SL_OPERATOR_MATMUL, SL_CUT_COLUMN, hidden, up);
    product->shares_input = shares_input;
    if (spec->gated_mlp && !fused)
        sl_set_products(product, halves, 2);
    sl_operator *activation =
        sl_add_operator(kind, "activation", SL_OPERATOR_ACTIVATION, SL_CUT_COLUMN, up, spec->ffn);
    activation->composed = spec->composed_activation;
    activation->rectified = spec->rectified;
    (void)sl_add_operator(kind, "mlp_down", SL_OPERATOR_MATMUL, SL_CUT_ROW, spec->ffn, hidden);
    sl_mark_operators(kind, operators, SL_COMPONENT_MLP);
}

/* One tensor of all experts, [experts, rows, columns]. */
static void
add_stack(sl_layer_kind *kind, const sl_dense_spec *spec, const char *module, const char *suffix,
          sl_cut cut, uint64_t rows, uint64_t columns, uint32_t cut_axis)
{
    sl_tensor *tensor =
        sl_add_matrix(kind, module, suffix, SL_COMPONENT_ROUTED_EXPERTS, cut, rows, columns);
    tensor->linear = true;
    tensor->axes = 3;
    tensor->shape[2] = columns;
    tensor->shape[1] = rows;
    tensor->shape[0] = spec->experts.count;
    tensor->cut_axis = cut_axis;
}

static void
add_stacked_experts(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names)
{
    const sl_experts *experts = &spec->experts;
    const bool inputs_first = names->experts == SL_EXPERTS_STACKED_INPUTS;
    const uint64_t hidden = spec->hidden;
    const uint64_t up = 2 * experts->width;
    const uint64_t halves[] = {experts->width, experts->width};
    const uint32_t first = kind->tensor_count;

    add_stack(kind, spec, names->expert_gate_up, names->expert_suffix, SL_CUT_COLUMN,
              inputs_first ? hidden : up, inputs_first ? up : hidden, inputs_first ? 2 : 1);
    add_stack(kind, spec, names->expert_down, names->expert_suffix, SL_CUT_ROW,
              inputs_first ? experts->width : hidden, inputs_first ? hidden : experts->width,
              inputs_first ? 1 : 2);
    if (!names->gate_up_in_pairs)
        sl_set_parts(kind, first, halves, 2);
    if (!experts->bias)
        return;
    /* Only gpt-oss has one, and pairs. */
    sl_tensor *bias = sl_add_matrix(kind, names->expert_gate_up, "_bias",
                                    SL_COMPONENT_ROUTED_EXPERTS, SL_CUT_COLUMN, experts->count, up);
    bias->cut_axis = 1;
    (void)sl_add_matrix(kind, names->expert_down, "_bias", SL_COMPONENT_ROUTED_EXPERTS,
                        SL_CUT_REPLICATED, experts->count, hidden);
}

static void
add_routed_experts(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names)
{
    const sl_experts *experts = &spec->experts;
    const char *const modules[] = {names->expert_gate, names->expert_up, names->expert_down};
    const bool flat = names->experts == SL_EXPERTS_FLAT;

    if (names->expert_gate_up != NULL) {
        add_stacked_experts(kind, spec, names);
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        const bool down = i == 2;
        const sl_cut cut = down ? SL_CUT_ROW : SL_CUT_COLUMN;
        /* DBRX keeps the transpose of its down projection, so that all three stack alike. */
        const bool rows_are_width = flat || !down;
        const uint64_t width = flat ? experts->width * experts->count : experts->width;
        sl_tensor *tensor = sl_add_matrix(
            kind, modules[i], names->expert_suffix, SL_COMPONENT_ROUTED_EXPERTS, cut,
            rows_are_width ? width : spec->hidden, rows_are_width ? spec->hidden : width);
        tensor->linear = true;
        tensor->cut_axis = !rows_are_width;
        tensor->experts = flat ? 0 : experts->count;
    }
}

static void
add_shared_experts(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names)
{
    const uint64_t width = spec->experts.shared_width;
    const sl_component role = SL_COMPONENT_SHARED_EXPERTS;
    const sl_linear linears[] = {
        {names->shared_gate, role, SL_CUT_COLUMN, spec->hidden, width, false},
        {names->shared_up, role, SL_CUT_COLUMN, spec->hidden, width, false},
        {names->shared_down, role, SL_CUT_ROW, width, spec->hidden, false},
    };

    for (size_t i = 0; i < sizeof linears / sizeof linears[0]; i++)
        sl_add_linear(kind, names, &linears[i]);
    if (spec->experts.shared_gate)
        sl_add_linear(kind, names,
                      &(sl_linear){names->shared_switch, SL_COMPONENT_ROUTER, SL_CUT_REPLICATED,
                                   spec->hidden, 1, false});
}

/* Gate and up of gpt-oss are clamped by two kernels and put together again, 4 bytes each; backward
 * reads the gradient and what was clamped (4), makes and applies masks of a byte (4), writes (2)
 * and puts both together (4). Megatron-LM core/fusions/fused_bias_geglu.py. What is kept of it is
 * not counted: published runs of 120B without recomputation leave no room for a second copy. */
static void
add_clamp(sl_layer_kind *kind, uint64_t width)
{
    sl_operator *op =
        sl_add_operator(kind, "expert_clamp", SL_OPERATOR_ACTIVATION, SL_CUT_COLUMN, width, width);

    op->shares_input = true;
    op->forward_bytes = 8;
    op->backward_bytes = 14;
}

/* The bias of an expert's output, weighed by the fp32 share of each of its tokens: the product of
 * both written in fp32 (4), added (10), expert by expert put together (8), cast (6); backward cast
 * (6), the output's gradient cast (6), those of bias and share multiplied and summed (12 each),
 * parts put together (4). Megatron-LM core/transformer/moe/experts.py, _apply_bias. */
static void
add_expert_bias(sl_layer_kind *kind, uint64_t hidden)
{
    sl_operator *op = sl_add_operator(kind, "expert_bias", SL_OPERATOR_ACTIVATION,
                                      SL_CUT_REPLICATED, hidden, hidden);

    op->biased = true;
    op->shares_input = true;
    op->forward_bytes = 28;
    op->backward_bytes = 40;
}

/* A gated MLP of the block, cut like the dense one: two products around the activation. */
static void
add_gated_operators(sl_layer_kind *kind, const char *const names[3], uint64_t hidden,
                    uint64_t width, const sl_experts *routed)
{
    const uint32_t first = kind->operator_count;
    const bool biased = routed != NULL && routed->bias;

    (void)sl_add_operator(kind, names[0], SL_OPERATOR_MATMUL, SL_CUT_COLUMN, hidden, 2 * width);
    if (biased)
        add_clamp(kind, 2 * width);
    (void)sl_add_operator(kind, names[1], SL_OPERATOR_ACTIVATION, SL_CUT_COLUMN, 2 * width, width);
    (void)sl_add_operator(kind, names[2], SL_OPERATOR_MATMUL, SL_CUT_ROW, width, hidden);
    if (biased)
        add_expert_bias(kind, hidden);

    sl_mark_operators(kind, first,
                      routed != NULL ? SL_COMPONENT_ROUTED_EXPERTS : SL_COMPONENT_SHARED_EXPERTS);
    for (uint32_t i = first; routed != NULL && i < kind->operator_count; i++) {
        kind->operators[i].experts = routed->count;
        kind->operators[i].visits = routed->per_token;
    }
}

static void
add_shared_operators(sl_layer_kind *kind, const sl_dense_spec *spec)
{
    static const char *const shared[] = {"shared_up", "shared_activation", "shared_down"};
    const sl_experts *experts = &spec->experts;

    if (experts->shared_gate) {
        sl_operator *gate = sl_add_operator(kind, "shared_gate", SL_OPERATOR_MATMUL,
                                            SL_CUT_REPLICATED, spec->hidden, 1);
        gate->shares_input = true;
        gate->component = SL_COMPONENT_ROUTER;
    }

    const uint32_t first = kind->operator_count;
    add_gated_operators(kind, shared, spec->hidden, experts->shared_width, NULL);
    kind->operators[first].shares_input = true;
}

/* The router keeps the normed hidden state, which the shared experts read too; the routed ones keep
 * what arrived. Shared ones come first (Megatron-LM moe_layer.py; AutoModel, moe/layers.py). */
static void
add_expert_operators(sl_layer_kind *kind, const sl_dense_spec *spec)
{
    static const char *const routed[] = {"expert_up", "expert_activation", "expert_down"};
    const sl_experts *experts = &spec->experts;

    (void)sl_add_operator(kind, "router", SL_OPERATOR_MATMUL, SL_CUT_REPLICATED, spec->hidden,
                          experts->count);
    kind->operators[kind->operator_count - 1].component = SL_COMPONENT_ROUTER;
    if (experts->shared_width != 0)
        add_shared_operators(kind, spec);

    const uint32_t route = kind->operator_count;
    sl_operator *op = sl_add_operator(kind, "route", SL_OPERATOR_ROUTE, SL_CUT_REPLICATED,
                                      spec->hidden, experts->count);
    op->experts = experts->count;
    op->visits = experts->per_token;
    sl_mark_operators(kind, route, SL_COMPONENT_ROUTER);
    add_gated_operators(kind, routed, spec->hidden, experts->width, experts);
}

void
sl_add_experts(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names)
{
    assert(names->router != NULL);

    const uint32_t router = kind->tensor_count;
    sl_add_linear(kind, names,
                  &(sl_linear){names->router, SL_COMPONENT_ROUTER, SL_CUT_REPLICATED, spec->hidden,
                               spec->experts.count, spec->experts.bias});
    kind->tensors[router].linear = !names->router_bare;
    if (spec->experts.correction)
        sl_add_vector(kind, names->router_correction, "", SL_COMPONENT_OTHER, SL_CUT_REPLICATED,
                      spec->experts.count)
            ->buffer = true;
    add_routed_experts(kind, spec, names);
    if (spec->experts.shared_width != 0)
        add_shared_experts(kind, spec, names);
    add_expert_operators(kind, spec);
}
