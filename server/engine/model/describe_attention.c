/* Attention: keys and values per head or through a latent. */
#include "engine/model/describe.h"

#include <assert.h>
#include <stddef.h>

static void
add_qkv(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names, uint64_t queries,
        uint64_t keys)
{
    if (names->qkv != NULL) {
        const uint64_t parts[] = {queries, keys, keys};
        const uint32_t first = kind->tensor_count;
        sl_add_linear(kind, names,
                      &(sl_linear){names->qkv, SL_COMPONENT_ATTENTION, SL_CUT_COLUMN, spec->hidden,
                                   queries + 2 * keys, spec->qkv_bias});
        /* A single key-value head has all queries before it. */
        if (!names->qkv_by_head || spec->kv_heads == 1)
            sl_set_parts(kind, first, parts, 3);
        return;
    }
    const char *const modules[] = {names->query, names->key, names->value};
    for (size_t i = 0; i < 3; i++)
        sl_add_linear(kind, names,
                      &(sl_linear){modules[i], SL_COMPONENT_ATTENTION, SL_CUT_COLUMN, spec->hidden,
                                   i == 0 ? queries : keys, spec->qkv_bias});
}

/* One vector for all heads is whole on every rank; one per head goes with its heads. */
static void
add_one_qk_norm(sl_layer_kind *kind, const sl_dense_spec *spec, const char *module, uint32_t heads)
{
    const uint64_t width = (uint64_t)heads * spec->head_dim;

    switch (spec->qk_norm) {
    case SL_QK_NORM_HEAD:
        (void)sl_add_vector(kind, module, ".weight", SL_COMPONENT_ATTENTION, SL_CUT_REPLICATED,
                            spec->head_dim);
        if (spec->layer_norm)
            (void)sl_add_vector(kind, module, ".bias", SL_COMPONENT_ATTENTION, SL_CUT_REPLICATED,
                                spec->head_dim);
        break;
    case SL_QK_NORM_EACH_HEAD:
        (void)sl_add_matrix(kind, module, ".weight", SL_COMPONENT_ATTENTION, SL_CUT_COLUMN, heads,
                            spec->head_dim);
        break;
    case SL_QK_NORM_WIDTH:
        (void)sl_add_vector(kind, module, ".weight", SL_COMPONENT_ATTENTION, SL_CUT_COLUMN, width);
        break;
    case SL_QK_NORM_NONE:
    case SL_QK_NORM_COUNT:
        break;
    }
}

static void
set_heads(sl_operator *op, const sl_dense_spec *spec)
{
    op->heads = spec->heads;
    op->kv_heads = spec->kv_heads;
    op->head_dim = spec->head_dim;
}

static void
add_operators(sl_layer_kind *kind, const sl_dense_spec *spec, uint64_t queries, uint64_t keys,
              bool joined, uint32_t window)
{
    const uint64_t qkv = queries + 2 * keys;
    const uint64_t rotated = queries + keys;

    sl_operator *product =
        sl_add_operator(kind, "qkv", SL_OPERATOR_MATMUL, SL_CUT_COLUMN, spec->hidden, qkv);
    if (!joined)
        sl_set_products(product, (const uint64_t[]){queries, keys, keys}, 3);
    if (spec->qk_norm != SL_QK_NORM_NONE) {
        sl_operator *norm =
            sl_add_operator(kind, "qk_norm", SL_OPERATOR_NORM, SL_CUT_COLUMN, rotated, rotated);
        norm->centred = sl_norms_are_centred(spec);
        norm->wide = spec->norm_wide;
    }
    if (spec->learned_positions == 0 && !spec->no_rotary) {
        sl_operator *rotary =
            sl_add_operator(kind, "rotary", SL_OPERATOR_ROTARY, SL_CUT_COLUMN, rotated, rotated);
        set_heads(rotary, spec);
        rotary->joined = joined;
    }
    sl_operator *attention =
        sl_add_operator(kind, "attention", SL_OPERATOR_ATTENTION, SL_CUT_COLUMN, qkv, queries);
    set_heads(attention, spec);
    attention->window = window;
    attention->capped = spec->scores_capped;
    attention->relaid = spec->relaid;
    attention->lone_keys = spec->lone_keys;
    sl_operator *output = sl_add_operator(kind, "attention_output", SL_OPERATOR_MATMUL, SL_CUT_ROW,
                                          queries, spec->hidden);
    /* Attention keeps its own output for the backward pass: it is this product's input. */
    output->shares_input = true;
}

/* Scores every position with a few small heads and keeps the best ones (DeepSeek-V3.2). Its norm
 * has weight and bias. */
static void
add_indexer(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names)
{
    const sl_latent *latent = &spec->latent;
    const uint64_t width = (uint64_t)latent->index_heads * latent->index_dim;
    const sl_linear linears[] = {
        {"self_attn.indexer.wq_b", SL_COMPONENT_ATTENTION, SL_CUT_REPLICATED, latent->query_rank,
         width, false},
        {"self_attn.indexer.wk", SL_COMPONENT_ATTENTION, SL_CUT_REPLICATED, spec->hidden,
         latent->index_dim, false},
        {"self_attn.indexer.weights_proj", SL_COMPONENT_ATTENTION, SL_CUT_REPLICATED, spec->hidden,
         latent->index_heads, false},
    };

    for (size_t i = 0; i < sizeof linears / sizeof linears[0]; i++)
        sl_add_linear(kind, names, &linears[i]);
    (void)sl_add_vector(kind, "self_attn.indexer.k_norm", ".weight", SL_COMPONENT_ATTENTION,
                        SL_CUT_REPLICATED, latent->index_dim);
    (void)sl_add_vector(kind, "self_attn.indexer.k_norm", ".bias", SL_COMPONENT_ATTENTION,
                        SL_CUT_REPLICATED, latent->index_dim);
}

/* Keys are expanded for every head, as wide as queries; values are narrower. The kernel's work is
 * that of heads as wide as the mean of both. */
static void
add_latent_operators(sl_layer_kind *kind, const sl_dense_spec *spec, uint32_t window)
{
    const sl_latent *latent = &spec->latent;
    const uint32_t wide = latent->plain_dim + latent->rotary_dim;
    const uint64_t queries = (uint64_t)spec->heads * wide;
    const uint64_t values = (uint64_t)spec->heads * latent->value_dim;
    const uint64_t pairs = (uint64_t)spec->heads * (latent->plain_dim + latent->value_dim);
    const uint64_t kept = (uint64_t)latent->kv_rank + latent->rotary_dim;

    if (latent->query_rank == 0) {
        (void)sl_add_operator(kind, "query", SL_OPERATOR_MATMUL, SL_CUT_COLUMN, spec->hidden,
                              queries);
    } else {
        (void)sl_add_operator(kind, "query_down", SL_OPERATOR_MATMUL, SL_CUT_REPLICATED,
                              spec->hidden, latent->query_rank);
        (void)sl_add_operator(kind, "query_norm", SL_OPERATOR_NORM, SL_CUT_REPLICATED,
                              latent->query_rank, latent->query_rank);
        (void)sl_add_operator(kind, "query_up", SL_OPERATOR_MATMUL, SL_CUT_COLUMN,
                              latent->query_rank, queries);
    }
    sl_operator *down =
        sl_add_operator(kind, "kv_down", SL_OPERATOR_MATMUL, SL_CUT_REPLICATED, spec->hidden, kept);
    down->shares_input = true;
    (void)sl_add_operator(kind, "kv_norm", SL_OPERATOR_NORM, SL_CUT_REPLICATED, latent->kv_rank,
                          latent->kv_rank);
    (void)sl_add_operator(kind, "kv_up", SL_OPERATOR_MATMUL, SL_CUT_COLUMN, latent->kv_rank, pairs);

    sl_operator *rotary =
        sl_add_operator(kind, "rotary", SL_OPERATOR_ROTARY, SL_CUT_COLUMN,
                        (uint64_t)spec->heads * latent->rotary_dim + latent->rotary_dim,
                        (uint64_t)spec->heads * latent->rotary_dim + latent->rotary_dim);
    rotary->heads = spec->heads;
    rotary->kv_heads = 1;
    rotary->head_dim = latent->rotary_dim;

    sl_operator *attention = sl_add_operator(kind, "attention", SL_OPERATOR_ATTENTION,
                                             SL_CUT_COLUMN, 2 * queries + values, values);
    attention->heads = attention->kv_heads = spec->heads;
    attention->head_dim = (wide + latent->value_dim) / 2;
    attention->window = window;
    sl_operator *output = sl_add_operator(kind, "attention_output", SL_OPERATOR_MATMUL, SL_CUT_ROW,
                                          values, spec->hidden);
    output->shares_input = true;
}

/* The way down to a latent is whole on every rank, the way up to the heads is cut. */
static void
add_latent(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names, uint32_t window)
{
    const sl_latent *latent = &spec->latent;
    const uint64_t queries = (uint64_t)spec->heads * (latent->plain_dim + latent->rotary_dim);
    const uint64_t pairs = (uint64_t)spec->heads * (latent->plain_dim + latent->value_dim);
    const uint64_t values = (uint64_t)spec->heads * latent->value_dim;
    const uint64_t kept = (uint64_t)latent->kv_rank + latent->rotary_dim;
    const sl_component role = SL_COMPONENT_ATTENTION;

    if (latent->query_rank == 0) {
        sl_add_linear(
            kind, names,
            &(sl_linear){"self_attn.q_proj", role, SL_CUT_COLUMN, spec->hidden, queries, false});
    } else {
        sl_add_linear(kind, names,
                      &(sl_linear){"self_attn.q_a_proj", role, SL_CUT_REPLICATED, spec->hidden,
                                   latent->query_rank, spec->qkv_bias});
        (void)sl_add_vector(kind, "self_attn.q_a_layernorm", ".weight", role, SL_CUT_REPLICATED,
                            latent->query_rank);
        sl_add_linear(kind, names,
                      &(sl_linear){"self_attn.q_b_proj", role, SL_CUT_COLUMN, latent->query_rank,
                                   queries, false});
    }
    sl_add_linear(kind, names,
                  &(sl_linear){"self_attn.kv_a_proj_with_mqa", role, SL_CUT_REPLICATED,
                               spec->hidden, kept, spec->qkv_bias});
    (void)sl_add_vector(kind, "self_attn.kv_a_layernorm", ".weight", role, SL_CUT_REPLICATED,
                        latent->kv_rank);
    sl_add_linear(
        kind, names,
        &(sl_linear){"self_attn.kv_b_proj", role, SL_CUT_COLUMN, latent->kv_rank, pairs, false});
    sl_add_linear(kind, names,
                  &(sl_linear){"self_attn.o_proj", role, SL_CUT_ROW, values, spec->hidden,
                               spec->output_bias});
    if (latent->index_heads != 0)
        add_indexer(kind, spec, names);

    add_latent_operators(kind, spec, window);
    /* The indexer keeps one key of its own for every position. */
    const uint64_t index = latent->index_heads != 0 ? latent->index_dim : 0;
    kind->cache = (sl_cache){
        .per_token = kept + index,
        .naive_per_token = queries + values + index,
        .window = window,
    };
}

void
sl_add_attention(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names,
                 uint32_t window)
{
    const uint64_t queries = (uint64_t)spec->heads * spec->head_dim;
    const uint64_t keys = (uint64_t)spec->kv_heads * spec->head_dim;

    const uint32_t first = kind->operator_count;

    if (spec->latent.kv_rank != 0) {
        add_latent(kind, spec, names, window);
        sl_mark_operators(kind, first, SL_COMPONENT_ATTENTION);
        return;
    }
    add_qkv(kind, spec, names, queries, keys);
    sl_add_linear(kind, names,
                  &(sl_linear){names->output, SL_COMPONENT_ATTENTION, SL_CUT_ROW, queries,
                               spec->hidden, spec->output_bias});
    if (spec->sinks)
        (void)sl_add_vector(kind, "self_attn.sinks", "", SL_COMPONENT_ATTENTION, SL_CUT_COLUMN,
                            spec->heads);
    if (spec->qk_norm != SL_QK_NORM_NONE) {
        add_one_qk_norm(kind, spec, names->query_norm, spec->heads);
        add_one_qk_norm(kind, spec, names->key_norm, spec->kv_heads);
    }
    add_operators(kind, spec, queries, keys, names->qkv != NULL, window);
    sl_mark_operators(kind, first, SL_COMPONENT_ATTENTION);
    kind->cache = (sl_cache){.per_token = 2 * keys, .naive_per_token = 2 * keys, .window = window};
}
