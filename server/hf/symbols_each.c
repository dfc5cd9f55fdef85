/* Values that differ from block to block. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "hf/symbols_parts.h"

static bool
fail_length(sl_hf_symbols *symbols, const sl_node *list, uint64_t blocks, uint64_t length)
{
    sl_hf_symbols_note(symbols,
                       sl_node_fail(list, symbols->err, SL_E_RANGE, "length_mismatch",
                                    "must have one entry for each of the %llu blocks, got %llu",
                                    (unsigned long long)blocks, (unsigned long long)length));
    return false;
}

/* Marks a block as named. */
static bool
add_member(sl_hf_symbols *symbols, uint32_t each, const sl_node *list, uint64_t block)
{
    if (block >= SL_MODEL_LAYERS_MAX) {
        sl_hf_symbols_note(symbols,
                           sl_node_fail(list, symbols->err, SL_E_RANGE, "out_of_range",
                                        "names blocks up to %d, got %llu", SL_MODEL_LAYERS_MAX - 1,
                                        (unsigned long long)block));
        return false;
    }
    symbols->members[each][block] = true;
    if (block >= symbols->members_end[each])
        symbols->members_end[each] = (uint32_t)block + 1;
    return true;
}

/* Block numbers as one text: "3,4,5". */
static void
read_numbers(sl_hf_symbols *symbols, uint32_t each, const sl_node *node)
{
    const char *text = NULL;
    const sl_code code = sl_node_as_text(node, &text, symbols->err);

    sl_hf_symbols_note(symbols, code);
    for (const char *at = code == SL_OK ? text : ""; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        char number[24];
        uint64_t named = 0;
        if (!sl_text_format(number, sizeof number, "%.*s", (int)length, at) ||
            !sl_text_to_uint(number, &named)) {
            sl_hf_symbols_note(symbols,
                               sl_node_fail(node, symbols->err, SL_E_RANGE, "wrong_type",
                                            "must name blocks by their numbers, parted by commas"));
            return;
        }
        if (!add_member(symbols, each, node, named))
            return;
        at += length + (at[length] == ',');
    }
}

void
sl_hf_symbols_members(sl_hf_symbols *symbols, uint32_t each)
{
    const sl_node *list = sl_hf_place_value(&symbols->each[each]);

    memset(symbols->members[each], 0, sizeof symbols->members[each]);
    symbols->members_end[each] = 0;
    if (sl_node_kind(list) == SL_JSON_TEXT)
        read_numbers(symbols, each, list);
    else if (sl_node_kind(list) != SL_JSON_ARRAY && sl_node_kind(list) != SL_JSON_NULL)
        sl_hf_symbols_note(symbols, sl_node_fail(list, symbols->err, SL_E_RANGE, "wrong_type",
                                                 "must be a list of block numbers"));
    for (size_t i = 0; sl_node_kind(list) == SL_JSON_ARRAY && i < sl_node_count(list); i++) {
        sl_node element;
        uint64_t named = 0;
        if (!sl_node_at(list, i, &element))
            return;
        const sl_code code =
            sl_node_as_uint(&element, 0, SL_MODEL_LAYERS_MAX - 1, &named, symbols->err);
        sl_hf_symbols_note(symbols, code);
        if (code != SL_OK || !add_member(symbols, each, list, named))
            return;
    }
}

/* Whether the list names the block; what is no block at all is a fault. */
static bool
read_member(sl_hf_symbols *symbols, const sl_hf_symbol *row, uint32_t each, const sl_node *list,
            uint64_t block, uint64_t blocks, uint64_t spare, uint64_t *out)
{
    const uint64_t first = row->texts != NULL && sl_text_equal(row->texts, "1");

    if (symbols->members_end[each] > first + blocks + spare) {
        sl_hf_symbols_note(symbols, sl_node_fail(list, symbols->err, SL_E_RANGE, "out_of_range",
                                                 "names block %u, and there are %llu",
                                                 symbols->members_end[each] - 1,
                                                 (unsigned long long)blocks));
        return false;
    }
    *out = first + block < SL_MODEL_LAYERS_MAX && symbols->members[each][first + block];
    return true;
}

static bool
read_letter(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node, uint64_t block,
            uint64_t blocks, uint64_t spare, uint64_t *out)
{
    const char *text = NULL;
    const sl_code code = sl_node_as_text(node, &text, symbols->err);

    sl_hf_symbols_note(symbols, code);
    if (code != SL_OK)
        return false;
    const size_t length = strlen(text);
    if (length < blocks || length > blocks + spare)
        return fail_length(symbols, node, blocks, length);
    const char *letter = strchr(row->texts, text[block]);
    if (letter == NULL) {
        sl_hf_symbols_note(symbols, sl_node_fail(node, symbols->err, SL_E_UNSUPPORTED,
                                                 "unsupported_layer_types",
                                                 "block %llu is of no kind that is modelled",
                                                 (unsigned long long)block));
        sl_hint(symbols->err, "one of the letters %s", row->texts);
        return false;
    }
    *out = (uint64_t)(letter - row->texts);
    return true;
}

static bool
read_entry(sl_hf_symbols *symbols, const sl_hf_symbol *row, uint32_t each, uint64_t block,
           uint64_t blocks, uint64_t spare, uint64_t *out)
{
    const sl_node *node = sl_hf_place_value(&symbols->each[each]);
    sl_node element;

    if (row->reading == SL_HF_EACH_LETTER)
        return read_letter(symbols, row, node, block, blocks, spare, out);
    if (row->reading == SL_HF_EACH_MEMBER)
        return read_member(symbols, row, each, node, block, blocks, spare, out);
    if (row->reading == SL_HF_EACH_NUMBER && sl_node_kind(node) != SL_JSON_ARRAY)
        return sl_hf_symbols_number(symbols, row, node, out);
    if (sl_node_kind(node) != SL_JSON_ARRAY) {
        sl_hf_symbols_note(symbols, sl_node_fail(node, symbols->err, SL_E_RANGE, "wrong_type",
                                                 "must be a list with an entry for each block"));
        return false;
    }
    const uint64_t length = sl_node_count(node);
    if (length < blocks || length > blocks + spare)
        return fail_length(symbols, node, blocks, length);
    if (!sl_node_at(node, block, &element))
        return false;
    return row->reading == SL_HF_EACH_CHOICE ? sl_hf_symbols_choice(symbols, row, &element, out)
                                             : sl_hf_symbols_number(symbols, row, &element, out);
}

bool
sl_hf_symbols_read_block(sl_hf_symbols *symbols, uint64_t block, uint64_t blocks, uint64_t spare,
                         uint64_t values[SL_HF_EACH_MAX], uint32_t *count)
{
    assert(symbols != NULL && values != NULL && count != NULL && block < blocks);

    bool all = true;
    *count = 0;
    sl_scope_set(&symbols->scope, "block", block);
    for (size_t i = 0; i < symbols->count; i++) {
        const sl_hf_symbol *row = &symbols->rows[i];
        const uint32_t each = *count;
        uint64_t value = 0;
        bool known;
        if (!sl_hf_symbol_is_each(row))
            continue;
        if (!symbols->each_found[each])
            known = sl_hf_symbols_compute(symbols, row, row->fallback, &value);
        else if (sl_hf_place_is_null(&symbols->each[each]))
            known = sl_hf_symbols_compute(symbols, row,
                                          row->null != NULL ? row->null : row->fallback, &value);
        else
            known = read_entry(symbols, row, each, block, blocks, spare, &value);
        all = all && known;
        sl_scope_set(&symbols->scope, row->name, value);
        values[(*count)++] = value;
    }
    return all;
}
