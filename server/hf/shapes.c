/* Models whose config gives each block a shape of its own (block_configs of Nemotron-NAS). */
#include "hf/reader.h"

enum { FFN_MULTIPLE = 256 }; /* the class rounds widths up to it */

static bool
same_shape(const sl_block_shape *a, const sl_block_shape *b)
{
    return a->ffn == b->ffn && a->kv_heads == b->kv_heads && a->no_attention == b->no_attention &&
           a->no_mlp == b->no_mlp;
}

/* Keys that turn a part into something else must be absent, null or false. */
static void
refuse_changes(sl_hf_reader *reader, const sl_node *part)
{
    static const char *const keys[] = {"replace_with_linear", "sparsify", "window_length",
                                       "num_sink_tokens"};
    sl_node member;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        bool on = true;
        sl_errors ignored = {0};
        if (!sl_node_member(part, keys[i], &member))
            continue;
        if (sl_node_bool(part, keys[i], &on, NULL, &ignored) == SL_OK && !on)
            continue;
        sl_hf_note(reader,
                   sl_node_fail(&member, reader->err, SL_E_UNSUPPORTED, "unsupported_option",
                                "changes what the block is made of in a way that is not "
                                "modelled"));
    }
}

/* The part of that name, present and not a no-op; `none` is what it says otherwise. */
static bool
read_part(sl_hf_reader *reader, const sl_node *block, const char *name, sl_node *part, bool *none)
{
    sl_code code = sl_node_required(block, name, part, reader->err);
    if (code == SL_OK)
        code = sl_node_object(part, reader->err);
    *none = false;
    if (code == SL_OK)
        code = sl_node_bool(part, "no_op", none, NULL, reader->err);
    sl_hf_note(reader, code);
    if (code != SL_OK || *none)
        return false;
    refuse_changes(reader, part);
    return true;
}

static void
read_shape(sl_hf_reader *reader, const sl_node *block, sl_block_shape *shape)
{
    const uint64_t heads = reader->values[SL_HF_HEADS];
    sl_node part;
    uint64_t group = 1;
    double ratio = 0.0;

    if (read_part(reader, block, "attention", &part, &shape->no_attention)) {
        sl_hf_note(reader,
                   sl_node_uint(&part, "n_heads_in_group", 1, heads, &group, NULL, reader->err));
        if (heads % group != 0)
            sl_hf_note(reader,
                       sl_node_fail_at(&part, "n_heads_in_group", reader->err, SL_E_RANGE,
                                       "not_divisible",
                                       "must divide the number of attention heads %llu, got %llu",
                                       (unsigned long long)heads, (unsigned long long)group));
        shape->kv_heads = (uint32_t)(heads / group);
    }
    if (read_part(reader, block, "ffn", &part, &shape->no_mlp)) {
        bool present = false;
        sl_hf_note(reader,
                   sl_node_double(&part, "ffn_mult", 0.001, 64.0, &ratio, &present, reader->err));
        if (!present)
            ratio = 8.0 / 3.0; /* nothing said: as wide as an MLP of 4 h is, gated */
        const uint64_t width = (uint64_t)(2.0 * ratio * (double)reader->values[SL_HF_HIDDEN] / 3.0);
        shape->ffn = (width + FFN_MULTIPLE - 1) / FFN_MULTIPLE * FFN_MULTIPLE;
    }
}

/* False when there are more shapes than there is room for. */
static bool
add_shape(const sl_block_shape *shape, uint32_t block, sl_dense_spec *spec)
{
    uint32_t at = 0;

    while (at < spec->shape_count && !same_shape(&spec->shapes[at], shape))
        at++;
    if (at == SL_SHAPES_MAX)
        return false;
    if (at == spec->shape_count) {
        spec->shapes[spec->shape_count++] = *shape;
        spec->ffn = shape->ffn > spec->ffn ? shape->ffn : spec->ffn;
        spec->kv_heads = shape->kv_heads > spec->kv_heads ? shape->kv_heads : spec->kv_heads;
    }
    spec->shape_of[block] = (uint8_t)at;
    return true;
}

void
sl_hf_read_shapes(sl_hf_reader *reader, sl_dense_spec *spec)
{
    sl_node list;

    const sl_code code = sl_node_required(reader->config, "block_configs", &list, reader->err);
    sl_hf_note(reader, code);
    if (code != SL_OK)
        return;
    if (sl_node_kind(&list) != SL_JSON_ARRAY || sl_node_count(&list) != spec->blocks) {
        sl_hf_note(reader, sl_node_fail(&list, reader->err, SL_E_RANGE, "length_mismatch",
                                        "must describe each of the %u blocks, got %llu",
                                        spec->blocks, (unsigned long long)sl_node_count(&list)));
        return;
    }
    spec->ffn = 1; /* the widest that follows */
    spec->kv_heads = 1;
    for (uint32_t i = 0; i < spec->blocks; i++) {
        sl_block_shape shape = {0};
        sl_node block;
        if (!sl_node_at(&list, i, &block))
            return;
        read_shape(reader, &block, &shape);
        if (add_shape(&shape, i, spec))
            continue;
        sl_hf_note(reader, sl_node_fail(&block, reader->err, SL_E_RANGE, "out_of_range",
                                        "blocks have at most %d shapes, and this is one more",
                                        SL_SHAPES_MAX));
        return;
    }
}
