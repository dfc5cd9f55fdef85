/* What a decoder is made of: its embedding, its blocks and its head, from the building blocks of
 * describe_attention.c and describe_mlp.c. */
#include "engine/model/describe.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* A low rank wider than this is none. */
enum { RANK_MAX = 1 << 16 };

/* A base class (no head) saves its tensors without the name of the attribute that the class with a
 * head keeps it under. */
static const char *
base_of(const sl_dense_spec *spec, const sl_names *names)
{
    return spec->has_head ? names->base : names->base_bare;
}

static uint64_t
embedding_width(const sl_dense_spec *spec)
{
    return spec->embedding_width != 0 ? spec->embedding_width : spec->hidden;
}

/* The parts of embedding and head are named from the root, not from a common prefix. */
static void
name_from_root(sl_layer_kind *kind, const char *base)
{
    char own[sizeof kind->tensors[0].name];

    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        sl_tensor *tensor = &kind->tensors[i];
        sl_join_names(own, sizeof own, tensor->name, "");
        sl_join_names(tensor->name, sizeof tensor->name, base, own);
    }
}

/* Between a narrow token table and the hidden size; every rank does it whole. */
static void
add_projection(sl_layer_kind *kind, const sl_names *names, const char *module, uint64_t inputs,
               uint64_t outputs)
{
    sl_add_linear(
        kind, names,
        &(sl_linear){module, SL_COMPONENT_OTHER, SL_CUT_REPLICATED, inputs, outputs, false});
    (void)sl_add_operator(kind, "embedding_projection", SL_OPERATOR_MATMUL, SL_CUT_REPLICATED,
                          inputs, outputs);
}

static void
add_embedding(sl_model *model, const sl_dense_spec *spec, const sl_names *names)
{
    const uint64_t width = embedding_width(spec);
    sl_layer_kind *kind = sl_add_kind(model, "embedding", "", "");

    (void)sl_add_matrix(kind, names->embedding, ".weight", SL_COMPONENT_EMBEDDING,
                        SL_CUT_VOCABULARY, spec->vocabulary, width);
    if (spec->learned_positions != 0)
        (void)sl_add_matrix(kind, names->positions, ".weight", SL_COMPONENT_EMBEDDING,
                            SL_CUT_REPLICATED, spec->learned_positions, spec->hidden);
    (void)sl_add_operator(kind, "embedding", SL_OPERATOR_LOOKUP, SL_CUT_VOCABULARY, width, width);
    if (width != spec->hidden)
        add_projection(kind, names, names->project_in, width, spec->hidden);
    if (spec->embedding_norm)
        sl_add_norm(kind, spec, names->embedding_norm, "embedding_norm");
    name_from_root(kind, base_of(spec, names));
}

static void
add_residual(sl_layer_kind *kind, const sl_dense_spec *spec, const char *name)
{
    (void)sl_add_operator(kind, name, SL_OPERATOR_RESIDUAL, SL_CUT_REPLICATED, spec->hidden,
                          spec->hidden);
}

/* The second half of a block, whatever it is there. */
static void
add_feed_forward(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names, bool routed,
                 bool shares_input)
{
    if (routed)
        sl_add_experts(kind, spec, names);
    else
        sl_add_mlp(kind, spec, names, shares_input);
}

static void
add_attention_half(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names,
                   uint32_t window)
{
    const sl_block_form form = spec->form;

    if (form == SL_BLOCK_PRE_NORM || form == SL_BLOCK_SANDWICH)
        sl_add_norm(kind, spec, names->input_norm, "input_norm");
    sl_add_attention(kind, spec, names, window);
    if (form == SL_BLOCK_POST_NORM || form == SL_BLOCK_SANDWICH)
        sl_add_norm(kind, spec, names->attention_norm, "attention_norm");
    add_residual(kind, spec, "attention_residual");
    if (form == SL_BLOCK_LATE_NORM)
        sl_add_norm(kind, spec, names->input_norm, "attention_norm");
}

static void
add_mlp_half(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names, bool routed)
{
    const sl_block_form form = spec->form;

    if (form == SL_BLOCK_PRE_NORM || form == SL_BLOCK_SANDWICH)
        sl_add_norm(kind, spec, names->mlp_norm, "mlp_norm");
    add_feed_forward(kind, spec, names, routed, false);
    if (form == SL_BLOCK_POST_NORM || form == SL_BLOCK_SANDWICH)
        sl_add_norm(kind, spec, names->output_norm, "output_norm");
    add_residual(kind, spec, "mlp_residual");
    if (form == SL_BLOCK_LATE_NORM)
        sl_add_norm(kind, spec, names->mlp_norm, "output_norm");
}

/* One norm feeds both halves: the MLP reads what the attention's product keeps already. */
static void
add_parallel_block(sl_layer_kind *kind, const sl_dense_spec *spec, const sl_names *names,
                   uint32_t window, bool routed)
{
    const bool two_norms = spec->form == SL_BLOCK_PARALLEL_NORMS;

    sl_add_norm(kind, spec, names->input_norm, "input_norm");
    sl_add_attention(kind, spec, names, window);
    if (two_norms)
        sl_add_norm(kind, spec, names->mlp_norm, "mlp_norm");
    add_feed_forward(kind, spec, names, routed, !two_norms);
    add_residual(kind, spec, "attention_residual");
    add_residual(kind, spec, "mlp_residual");
}

/* What one kind of blocks differs from another in. */
typedef struct variant {
    uint32_t shape;
    bool windowed;
    bool routed;
    bool shares_index;
} variant;

static void
add_block(sl_model *model, const sl_dense_spec *spec, const sl_names *names, const char *title,
          variant own)
{
    static const sl_block_shape whole = {0};
    const sl_block_shape *shape = spec->shape_count == 0 ? &whole : &spec->shapes[own.shape];
    const uint32_t window = own.windowed ? spec->window : 0;
    sl_layer_kind *kind = sl_add_kind(model, title, base_of(spec, names), names->block);

    kind->norms_last = names->norms_last;
    if (spec->form == SL_BLOCK_PARALLEL || spec->form == SL_BLOCK_PARALLEL_NORMS) {
        add_parallel_block(kind, spec, names, window, own.routed);
        return;
    }
    if (!shape->no_attention)
        add_attention_half(kind, spec, names, window);
    if (!shape->no_mlp)
        add_mlp_half(kind, spec, names, own.routed);
}

/* A block of its own shape is described as a model of such blocks would be. */
static void
add_shaped_block(sl_model *model, const sl_dense_spec *spec, const sl_names *names,
                 const char *title, variant own)
{
    sl_dense_spec shaped = *spec;
    char name[sizeof model->kinds[0].name];
    char suffix[] = {'_', (char)('0' + (own.shape + 1) / 10), (char)('0' + (own.shape + 1) % 10),
                     '\0'};

    if (spec->shapes[own.shape].ffn != 0)
        shaped.ffn = spec->shapes[own.shape].ffn;
    if (spec->shapes[own.shape].kv_heads != 0)
        shaped.kv_heads = spec->shapes[own.shape].kv_heads;
    if (own.shares_index)
        shaped.latent.index_heads = 0;
    if (suffix[1] == '0') {
        suffix[1] = suffix[2];
        suffix[2] = '\0';
    }
    sl_join_names(name, sizeof name, title, own.shape == 0 ? "" : suffix);
    add_block(model, &shaped, names, name, own);
}

static void
add_head(sl_model *model, const sl_dense_spec *spec, const sl_names *names)
{
    const uint64_t width = embedding_width(spec);
    sl_layer_kind *kind = sl_add_kind(model, "head", "", "");

    if (!spec->no_final_norm)
        sl_add_norm(kind, spec, names->final_norm, "final_norm");
    if (width != spec->hidden)
        add_projection(kind, names, names->project_out, spec->hidden, width);
    if (!names->norm_in_head)
        name_from_root(kind, base_of(spec, names));
    if (!spec->has_head)
        return;
    sl_tensor *weight = sl_add_matrix(kind, names->head, ".weight", SL_COMPONENT_LM_HEAD,
                                      SL_CUT_VOCABULARY, spec->vocabulary, width);
    weight->linear = true;
    weight->tied = spec->tied;
    if (spec->head_bias)
        (void)sl_add_vector(kind, names->head, ".bias", SL_COMPONENT_LM_HEAD, SL_CUT_VOCABULARY,
                            spec->vocabulary);
    (void)sl_add_operator(kind, "logits", SL_OPERATOR_MATMUL, SL_CUT_VOCABULARY, width,
                          spec->vocabulary);
    (void)sl_add_operator(kind, "loss", SL_OPERATOR_LOSS, SL_CUT_VOCABULARY, spec->vocabulary, 1);
}

/* Experts of a block lie side by side in memory and in counts, so together they are bound as an MLP
 * is. */
static sl_code
check_experts(const sl_experts *experts, sl_errors *err)
{
    if (experts->count == 0)
        return SL_OK;

    const uint64_t most = (uint64_t)SL_MODEL_WIDTH_MAX / experts->count;
    if (experts->width > most || experts->shared_width > SL_MODEL_WIDTH_MAX)
        return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "the experts of a block together are at most %d wide, got %u of %llu and "
                       "shared ones of %llu",
                       SL_MODEL_WIDTH_MAX, experts->count, (unsigned long long)experts->width,
                       (unsigned long long)experts->shared_width);
    return SL_OK;
}

static sl_code
check_latent(const sl_dense_spec *spec, sl_errors *err)
{
    const sl_latent *latent = &spec->latent;
    const uint64_t per_head =
        (uint64_t)latent->plain_dim + latent->rotary_dim + latent->plain_dim + latent->value_dim;
    const uint64_t index = (uint64_t)latent->index_heads * latent->index_dim;

    if (latent->kv_rank <= RANK_MAX && latent->query_rank <= RANK_MAX &&
        spec->heads * per_head <= SL_MODEL_WIDTH_MAX && index <= SL_MODEL_WIDTH_MAX)
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                   "latent attention has ranks up to %d and heads %d wide together, got ranks %u "
                   "and %u and %u heads of %llu",
                   RANK_MAX, SL_MODEL_WIDTH_MAX, latent->query_rank, latent->kv_rank, spec->heads,
                   (unsigned long long)per_head);
}

static sl_code
check_sizes(const sl_dense_spec *spec, sl_errors *err)
{
    sl_code code = check_experts(&spec->experts, err);

    if (spec->blocks > SL_MODEL_LAYERS_MAX - 2)
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "", "at most %d blocks, got %u",
                       SL_MODEL_LAYERS_MAX - 2, spec->blocks);
    const uint64_t per_head = (uint64_t)SL_MODEL_WIDTH_MAX / spec->head_dim;
    if ((uint64_t)spec->heads + 2 * (uint64_t)spec->kv_heads > per_head)
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "queries, keys and values together are at most %d wide, got (%u + 2 * %u) "
                       "heads of %u",
                       SL_MODEL_WIDTH_MAX, spec->heads, spec->kv_heads, spec->head_dim);
    if (spec->hidden > SL_MODEL_WIDTH_MAX || spec->ffn > SL_MODEL_WIDTH_MAX ||
        spec->embedding_width > SL_MODEL_WIDTH_MAX)
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "the hidden and the intermediate size are at most %d, got %llu and %llu",
                       SL_MODEL_WIDTH_MAX, (unsigned long long)spec->hidden,
                       (unsigned long long)spec->ffn);
    if (spec->vocabulary > SL_MODEL_ROWS_MAX || spec->learned_positions > SL_MODEL_ROWS_MAX)
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "the vocabulary and the positions are at most %llu, got %llu and %llu",
                       (unsigned long long)SL_MODEL_ROWS_MAX, (unsigned long long)spec->vocabulary,
                       (unsigned long long)spec->learned_positions);
    const sl_code latent = check_latent(spec, err);
    return code == SL_OK ? latent : code;
}

static variant
variant_of(const sl_dense_spec *spec, uint32_t block)
{
    const uint8_t exceptions = spec->block[block];

    return (variant){
        .shape = spec->shape_count == 0 ? 0 : spec->shape_of[block],
        .windowed = spec->window != 0 && (exceptions & SL_BLOCK_FULL_ATTENTION) == 0,
        .routed = spec->experts.count != 0 && (exceptions & SL_BLOCK_DENSE_MLP) == 0,
        .shares_index = spec->latent.index_heads != 0 && (exceptions & SL_BLOCK_SHARED_INDEX) != 0,
    };
}

/* Kinds are numbered by shape, then with experts after without, then those without an indexer of
 * their own after the others, then windowed after full. */
enum { VARIANTS_MAX = 8 * SL_SHAPES_MAX };

static uint32_t
number_of(variant own)
{
    return 8 * own.shape + 4 * (uint32_t)own.routed + 2 * (uint32_t)own.shares_index +
           (uint32_t)own.windowed;
}

/* Blocks of each variant; returns how many variants there are. */
static uint32_t
count_variants(const sl_dense_spec *spec, uint32_t blocks_of[VARIANTS_MAX])
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < VARIANTS_MAX; i++)
        blocks_of[i] = 0;
    for (uint32_t block = 0; block < spec->blocks; block++)
        count += blocks_of[number_of(variant_of(spec, block))]++ == 0;
    return count;
}

/* A kind for each variant that some block has, then the list of layers. */
static void
add_blocks(sl_model *model, const sl_dense_spec *spec, const sl_names *names)
{
    static const char *const titles[2][2] = {{"dense", "dense_window"},
                                             {"experts", "experts_window"}};
    static const char *const shared_titles[2] = {"dense_shared_index", "experts_shared_index"};
    uint32_t blocks_of[VARIANTS_MAX];
    uint8_t kind_of[VARIANTS_MAX] = {0};
    uint32_t windowed = 0;

    (void)count_variants(spec, blocks_of);
    for (uint32_t i = 1; i < VARIANTS_MAX; i += 2)
        windowed += blocks_of[i];
    const bool mixed = windowed > 0 && windowed < spec->blocks;
    for (uint32_t i = 0; i < VARIANTS_MAX; i++) {
        const variant own = {.shape = i / 8,
                             .windowed = i % 2 != 0,
                             .routed = i / 4 % 2 != 0,
                             .shares_index = i / 2 % 2 != 0};
        if (blocks_of[i] == 0)
            continue;
        kind_of[i] = (uint8_t)model->kind_count;
        add_shaped_block(model, spec, names,
                         own.shares_index ? shared_titles[own.routed]
                                          : titles[own.routed][mixed && own.windowed],
                         own);
        if (!own.routed)
            continue;
        model->experts = spec->experts.count;
        model->experts_per_token = spec->experts.per_token;
    }
    model->layer_count = 0;
    model->layers[model->layer_count++] = 0;
    for (uint32_t block = 0; block < spec->blocks; block++)
        model->layers[model->layer_count++] = kind_of[number_of(variant_of(spec, block))];
    model->block_count = spec->blocks;
}

static void
assert_spec(const sl_dense_spec *spec)
{
    assert((unsigned)spec->naming < SL_NAMING_COUNT && (unsigned)spec->form < SL_BLOCK_FORM_COUNT);
    assert(spec->blocks >= 1 && spec->hidden >= 1 && spec->ffn >= 1 && spec->vocabulary >= 1);
    assert(spec->heads >= 1 && spec->kv_heads >= 1 && spec->head_dim >= 1);
    assert(spec->shape_count <= SL_SHAPES_MAX);
    for (uint32_t i = 0; i < spec->shape_count; i++)
        assert(spec->shapes[i].ffn <= spec->ffn && spec->shapes[i].kv_heads <= spec->kv_heads);
    assert(spec->spare_positions <= spec->learned_positions);
    assert(spec->experts.count == 0 ||
           (spec->experts.width >= 1 && spec->experts.per_token <= spec->experts.count));
}

sl_code
sl_model_describe_dense(const sl_dense_spec *spec, sl_model *model, sl_errors *err)
{
    assert(spec != NULL && model != NULL && err != NULL);
    assert_spec(spec);

    const sl_names *names = sl_names_of(spec->naming);
    uint32_t blocks_of[VARIANTS_MAX];
    const sl_code code = check_sizes(spec, err);
    if (code != SL_OK)
        return code;
    if (count_variants(spec, blocks_of) > SL_DECODER_KINDS_MAX - 2)
        return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "blocks come in at most %d kinds, got %u", SL_DECODER_KINDS_MAX - 2,
                       count_variants(spec, blocks_of));

    model->hidden = spec->hidden;
    model->ffn = spec->ffn;
    model->vocabulary = spec->vocabulary;
    model->position_limit = spec->learned_positions - spec->spare_positions;
    model->learned_positions = spec->learned_positions != 0;
    model->heads = spec->heads;
    model->kv_heads = spec->kv_heads;
    model->head_dim = spec->head_dim;
    model->tied = spec->tied && spec->has_head;
    model->has_head = spec->has_head;
    model->mtp_parameters = 0;
    model->experts = 0;
    model->experts_per_token = 0;
    model->unmasked = model->biased = model->across = model->drops = false;
    model->logits_capped = spec->logits_capped;
    model->loss_narrow = false;
    model->unpriced = spec->latent.index_heads != 0 ? "attention to indexed positions" : NULL;
    model->kind_count = 0;
    memset(model->beside, 0, sizeof model->beside);
    add_embedding(model, spec, names);
    add_blocks(model, spec, names);
    add_head(model, spec, names);
    model->layers[model->layer_count++] = (uint8_t)(model->kind_count - 1);
    return SL_OK;
}
