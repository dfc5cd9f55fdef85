/* Which blocks of a model are windowed and which have experts. */
#include <string.h>

#include "base/text.h"
#include "hf/reader.h"

/* One entry of layer_types: what sees everything, and what sees a window. */
static bool
read_layer_type(sl_hf_reader *reader, const sl_node *element, uint8_t *block)
{
    const char *text = NULL;
    const sl_code code = sl_node_as_text(element, &text, reader->err);
    sl_hf_note(reader, code);
    if (code != SL_OK)
        return false;
    if (sl_text_equal(text, "full_attention")) {
        *block |= SL_BLOCK_FULL_ATTENTION;
        return true;
    }
    if (sl_text_equal(text, "sliding_attention") || sl_text_equal(text, "chunked_attention"))
        return true;
    char shown[48];
    (void)sl_text_copy(shown, sizeof shown, text);
    sl_hf_note(reader,
               sl_node_fail(element, reader->err, SL_E_UNSUPPORTED, "unsupported_layer_types",
                            "only full_attention, sliding_attention and chunked_attention are "
                            "modelled, got \"%s\" here",
                            shown));
    return false;
}

static void
read_layer_types(sl_hf_reader *reader, const sl_node *list, sl_dense_spec *spec)
{
    const uint64_t blocks = reader->values[SL_HF_BLOCKS];

    if (sl_node_kind(list) != SL_JSON_ARRAY || sl_node_count(list) != blocks) {
        sl_hf_note(reader, sl_node_fail(list, reader->err, SL_E_RANGE, "length_mismatch",
                                        "must list one type for each of the %llu blocks, got %llu",
                                        (unsigned long long)blocks,
                                        (unsigned long long)sl_node_count(list)));
        return;
    }
    for (size_t i = 0; i < blocks; i++) {
        sl_node element;
        if (!sl_node_at(list, i, &element) || !read_layer_type(reader, &element, &spec->block[i]))
            return;
    }
}

/* What the class does where no list places its windows. */
static void
place_windows(const sl_hf_reader *reader, sl_dense_spec *spec)
{
    const uint64_t first_full = reader->values[SL_HF_FULL_BLOCKS];
    const uint64_t every = reader->values[SL_HF_FULL_EVERY];

    for (uint64_t i = 0; i < spec->blocks; i++) {
        if (i < first_full || (every != 0 && (i + 1) % every == 0))
            spec->block[i] |= SL_BLOCK_FULL_ATTENTION;
    }
}

/* A number, or in EXAONE 4 a text such as "LLLG": three local blocks, then one that sees all. */
static void
read_pattern(sl_hf_reader *reader, const char *name)
{
    const char *text = NULL;
    sl_node member;

    if (!sl_node_member(reader->config, name, &member) || sl_node_kind(&member) != SL_JSON_TEXT) {
        sl_hf_read_field(reader, SL_HF_FULL_EVERY);
        return;
    }
    sl_hf_note(reader, sl_node_as_text(&member, &text, reader->err));
    const size_t length = text == NULL ? 0 : strlen(text);
    if (length != 0 && strspn(text, "L") == length - 1 && text[length - 1] == 'G')
        reader->values[SL_HF_FULL_EVERY] = length;
    else
        sl_hf_note(reader, sl_node_fail(&member, reader->err, SL_E_RANGE, "unknown_value",
                                        "must be a number, or local blocks and one global one as "
                                        "in \"LLLG\""));
}

/* Llama 4 marks with 0 the blocks without positions, which see everything. False without a list. */
static bool
read_no_rope(sl_hf_reader *reader, sl_dense_spec *spec)
{
    const char *key = reader->type->keys[SL_HF_FULL_EVERY].name;
    sl_node list;

    if (key == NULL || !sl_text_equal(key, "no_rope_layer_interval") ||
        !sl_node_member(reader->config, "no_rope_layers", &list) || sl_node_count(&list) == 0)
        return false;
    if (sl_node_kind(&list) != SL_JSON_ARRAY || sl_node_count(&list) != spec->blocks) {
        sl_hf_note(reader,
                   sl_node_fail(&list, reader->err, SL_E_RANGE, "length_mismatch",
                                "must list one entry for each of the %u blocks", spec->blocks));
        return true;
    }
    for (size_t i = 0; i < spec->blocks; i++) {
        sl_node element;
        uint64_t positions = 1;
        if (!sl_node_at(&list, i, &element))
            return true;
        const sl_code code = sl_node_as_uint(&element, 0, 1, &positions, reader->err);
        sl_hf_note(reader, code);
        if (code != SL_OK)
            return true;
        if (positions == 0)
            spec->block[i] |= SL_BLOCK_FULL_ATTENTION;
    }
    return true;
}

/* A window as long as the longest context limits nothing. */
static uint32_t
effective_window(const sl_hf_reader *reader)
{
    const uint64_t window = reader->values[SL_HF_WINDOW];
    const uint64_t positions = reader->values[SL_HF_POSITIONS];

    return positions != 0 && window >= positions ? 0 : (uint32_t)window;
}

static void
read_window(sl_hf_reader *reader, sl_dense_spec *spec)
{
    const sl_hf_key *keys = reader->type->keys;
    sl_node list;

    if (!sl_hf_has(reader, SL_HF_WINDOWED))
        return;
    if (sl_hf_has(reader, SL_HF_WINDOW_SWITCH) &&
        !sl_hf_read_flag(reader, "use_sliding_window", false))
        return;
    sl_hf_read_field(reader, SL_HF_WINDOW);
    spec->window = effective_window(reader);
    if (sl_hf_has(reader, SL_HF_WINDOW_SWITCH))
        sl_hf_read_field(reader, SL_HF_FULL_BLOCKS);
    if (reader->valid[SL_HF_BLOCKS] && sl_node_member(reader->config, "layer_types", &list)) {
        read_layer_types(reader, &list, spec);
        return;
    }
    if (reader->valid[SL_HF_BLOCKS] && read_no_rope(reader, spec))
        return;
    if (keys[SL_HF_FULL_EVERY].name != NULL)
        read_pattern(reader, keys[SL_HF_FULL_EVERY].name);
    place_windows(reader, spec);
}

/* A list of block numbers gives (or takes) its blocks the experts. False when the config has
 * none. */
static bool
read_block_numbers(sl_hf_reader *reader, const char *name, sl_dense_spec *spec, bool experts)
{
    sl_node list;

    if (!sl_node_member(reader->config, name, &list))
        return false;
    if (sl_node_kind(&list) != SL_JSON_ARRAY) {
        sl_hf_note(reader, sl_node_fail(&list, reader->err, SL_E_RANGE, "wrong_type",
                                        "must be a list of block numbers"));
        return true;
    }
    for (size_t i = 0; i < sl_node_count(&list); i++) {
        sl_node element;
        uint64_t block = 0;
        if (!sl_node_at(&list, i, &element))
            return true;
        const sl_code code = sl_node_as_uint(&element, 0, spec->blocks - 1, &block, reader->err);
        sl_hf_note(reader, code);
        if (code != SL_OK)
            return true;
        if (experts)
            spec->block[block] &= (uint8_t)~SL_BLOCK_DENSE_MLP;
        else
            spec->block[block] |= SL_BLOCK_DENSE_MLP;
    }
    return true;
}

/* Copies of configs in other planners rename keys: their values would be lost in silence. */
static void
refuse_renamed(sl_hf_reader *reader)
{
    static const char *const names[] = {"num_routed_experts", "n_routed_experts", "num_experts",
                                        "num_local_experts", "moe_num_experts"};
    const sl_hf_key *own = &reader->type->keys[SL_HF_EXPERTS];
    const char *refused = reader->type->refused;
    sl_errors ignored = {.count = 0};
    sl_node member;

    const bool said = own->name != NULL && sl_node_member(reader->config, own->name, &member);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t value = 0;
        if ((own->name != NULL && sl_text_equal(own->name, names[i])) ||
            (own->alias != NULL && sl_text_equal(own->alias, names[i])) ||
            (refused != NULL && sl_text_equal(refused, names[i])) ||
            !sl_node_member(reader->config, names[i], &member))
            continue;
        /* One expert, or none, is a dense block; what is said twice alike is no loss. */
        if (sl_node_as_uint(&member, 0, UINT32_MAX, &value, &ignored) == SL_OK &&
            (value <= 1 || (said && value == reader->values[SL_HF_EXPERTS])))
            continue;
        sl_hf_note(reader,
                   sl_node_fail(&member, reader->err, SL_E_RANGE, "renamed_key",
                                "the %s class reads %s: this copy of the config was changed",
                                reader->type->model_type,
                                own->name != NULL ? own->name : "no number of experts"));
    }
    if (own->name != NULL && sl_text_equal(own->name, "n_routed_experts") &&
        sl_node_member(reader->config, "num_shared_experts", &member))
        sl_hf_note(reader,
                   sl_node_fail(&member, reader->err, SL_E_RANGE, "renamed_key",
                                "the %s class reads n_shared_experts: this copy of the config was "
                                "changed",
                                reader->type->model_type));
}

/* True for a list of one text for each block; anything else there is a fault. */
static bool
find_block_texts(sl_hf_reader *reader, const char *name, uint64_t blocks, sl_node *list)
{
    if (!sl_node_member(reader->config, name, list))
        return false;
    if (sl_node_kind(list) == SL_JSON_ARRAY && sl_node_count(list) == blocks)
        return true;
    sl_hf_note(reader, sl_node_fail(list, reader->err, SL_E_RANGE, "length_mismatch",
                                    "must list one entry for each of the %llu blocks",
                                    (unsigned long long)blocks));
    return false;
}

/* Gives the blocks whose entry is the second text an exception, and takes it from the others. */
static void
read_block_texts(sl_hf_reader *reader, const char *name, const char *const texts[2],
                 uint8_t exception, sl_dense_spec *spec)
{
    sl_node list;

    if (!find_block_texts(reader, name, spec->blocks, &list))
        return;
    for (size_t i = 0; i < spec->blocks; i++) {
        const char *text = NULL;
        sl_node element;
        if (!sl_node_at(&list, i, &element))
            return;
        sl_code code = sl_node_as_text(&element, &text, reader->err);
        const int which = code == SL_OK ? sl_text_index(text, texts, 2) : -1;
        if (code == SL_OK && which < 0)
            code = sl_node_fail(&element, reader->err, SL_E_UNSUPPORTED, "unsupported_layer_types",
                                "only %s and %s are modelled here", texts[0], texts[1]);
        sl_hf_note(reader, code);
        if (code != SL_OK)
            return;
        spec->block[i] =
            which == 1 ? spec->block[i] | exception : spec->block[i] & (uint8_t)~exception;
    }
}

static void
place_experts(sl_hf_reader *reader, sl_dense_spec *spec)
{
    static const char *const texts[2] = {"sparse", "dense"};
    const uint64_t every = reader->values[SL_HF_SPARSE_EVERY];
    const uint64_t shift = sl_hf_has(reader, SL_HF_SPARSE_FIRST) ? 0 : 1;
    sl_node list;

    /* Classes without either key have experts in every block. */
    if (reader->type->keys[SL_HF_SPARSE_EVERY].name == NULL &&
        reader->type->keys[SL_HF_DENSE_BLOCKS].name == NULL)
        return;

    const bool listed = sl_node_member(reader->config, "moe_layers", &list);
    for (uint64_t i = 0; i < spec->blocks; i++) {
        const bool skipped = every > 1 && (i + shift) % every != 0;
        if (listed || i < reader->values[SL_HF_DENSE_BLOCKS] || skipped)
            spec->block[i] |= SL_BLOCK_DENSE_MLP;
    }
    (void)read_block_numbers(reader, "moe_layers", spec, true);
    (void)read_block_numbers(reader, "mlp_only_layers", spec, false);
    read_block_texts(reader, "mlp_layer_types", texts, SL_BLOCK_DENSE_MLP, spec);
}

/* Which blocks have an indexer of their own (GlmMoeDsa): a list, or every freq-th from an
 * offset. */
static void
place_indexers(sl_hf_reader *reader, sl_dense_spec *spec)
{
    static const char *const texts[2] = {"full", "shared"};
    uint64_t every = 1;
    uint64_t offset = 2;
    sl_node pattern;

    sl_hf_note(reader, sl_node_uint(reader->config, "index_topk_freq", 1, 1 << 10, &every, NULL,
                                    reader->err));
    sl_hf_note(reader, sl_node_uint(reader->config, "index_skip_topk_offset", 0, 1 << 10, &offset,
                                    NULL, reader->err));
    for (uint64_t i = 0; i < spec->blocks; i++) {
        if (i + 1 > offset && (i + 1 - offset) % every != 0)
            spec->block[i] |= SL_BLOCK_SHARED_INDEX;
    }
    read_block_texts(reader, "indexer_types", texts, SL_BLOCK_SHARED_INDEX, spec);
    if (sl_node_member(reader->config, "index_topk_pattern", &pattern) &&
        !sl_node_member(reader->config, "indexer_types", &pattern))
        sl_hf_note(reader, sl_node_fail_at(reader->config, "index_topk_pattern", reader->err,
                                           SL_E_UNSUPPORTED, "unsupported_option",
                                           "is not modelled; indexer_types says the same"));
}

static void
read_mtp(sl_hf_reader *reader)
{
    static const char *const keys[] = {"num_nextn_predict_layers", "num_mtp_modules"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint64_t extra = 0;
        sl_hf_note(reader,
                   sl_node_uint(reader->config, keys[i], 0, 1 << 10, &extra, NULL, reader->err));
        reader->mtp_layers += extra;
        if (extra != 0)
            (void)sl_node_fail_at(reader->config, keys[i], reader->warnings, SL_E_RANGE,
                                  "mtp_layers",
                                  "layers for multi-token prediction that checkpoints hold "
                                  "beside the model (%llu) are not counted: its class has none",
                                  (unsigned long long)extra);
    }
}

void
sl_hf_read_blocks(sl_hf_reader *reader, sl_dense_spec *spec)
{
    const uint64_t *values = reader->values;

    refuse_renamed(reader);
    read_window(reader, spec);
    if (values[SL_HF_EXPERTS] != 0) {
        spec->experts = (sl_experts){
            .count = (uint32_t)values[SL_HF_EXPERTS],
            .per_token = (uint32_t)values[SL_HF_EXPERTS_PER_TOKEN],
            .width = values[SL_HF_EXPERT_WIDTH],
            .shared_width = values[SL_HF_SHARED_WIDTH],
            .shared_gate = sl_hf_has(reader, SL_HF_SHARED_GATE),
            .bias = sl_hf_has(reader, SL_HF_EXPERT_BIAS),
            .correction = sl_hf_has(reader, SL_HF_ROUTER_BUFFER),
        };
        place_experts(reader, spec);
    }
    if (spec->latent.index_heads != 0)
        place_indexers(reader, spec);
    read_mtp(reader);
}
