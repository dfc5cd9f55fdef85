#include "hf/symbols.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "hf/symbols_parts.h"
#include "hf/words.h"

/* What is computed from a number is checked again: this is where a fault can be told at its key. */
static const uint64_t number_max = UINT64_C(1) << 31;

static const struct {
    const char *name;
    uint64_t min;
    uint64_t max;
} limits[] = {
    {"hidden", 1, 1 << 20},       {"heads", 1, 1 << 16},        {"kv_heads", 1, 1 << 16},
    {"head_dim", 1, 1 << 16},     {"experts", 0, 1 << 16},      {"top_k", 0, 1 << 16},
    {"tower_hidden", 1, 1 << 20}, {"tower_ffn", 1, 1 << 22},    {"patch", 1, 1 << 16},
    {"layers", 0, 1 << 11},       {"tower_layers", 0, 1 << 11},
};

void
sl_hf_symbols_note(sl_hf_symbols *symbols, sl_code code)
{
    if (symbols->code == SL_OK)
        symbols->code = code;
}

/* A natural number, or a truth value as 1 or 0. */
bool
sl_hf_symbols_number(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node,
                     uint64_t *out)
{
    uint64_t min = 0;
    uint64_t max = number_max;
    bool truth = false;
    sl_code code;

    for (size_t i = 0; i < SL_COUNT_OF(limits); i++) {
        if (sl_text_equal(limits[i].name, row->name)) {
            min = limits[i].min;
            max = limits[i].max;
        }
    }

    if (sl_node_kind(node) == SL_JSON_BOOL) {
        code = sl_node_as_bool(node, &truth, symbols->err);
        *out = truth;
    } else {
        code = sl_node_as_uint(node, min, max, out, symbols->err);
    }
    sl_hf_symbols_note(symbols, code);
    return code == SL_OK;
}

/* Index of a text among those of the row. */
bool
sl_hf_symbols_choice(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node,
                     uint64_t *out)
{
    const char *text = NULL;
    const sl_code code = sl_node_as_text(node, &text, symbols->err);

    sl_hf_symbols_note(symbols, code);
    if (code != SL_OK)
        return false;
    if (sl_hf_word_find(row->texts, text, false, out))
        return true;
    char shown[48];
    (void)sl_text_copy(shown, sizeof shown, text);
    sl_hf_symbols_note(symbols,
                       sl_node_fail(node, symbols->err, SL_E_UNSUPPORTED, "unsupported_option",
                                    "\"%s\" is not modelled here", shown));
    sl_hint(symbols->err, "%s", row->texts);
    return false;
}

static bool
read_length(sl_hf_symbols *symbols, const sl_node *node, uint64_t *out)
{
    const char *text = NULL;

    if (sl_node_kind(node) == SL_JSON_ARRAY || sl_node_kind(node) == SL_JSON_OBJECT) {
        *out = sl_node_count(node);
        return true;
    }
    const sl_code code = sl_node_as_text(node, &text, symbols->err);
    sl_hf_symbols_note(symbols, code);
    if (code == SL_OK)
        *out = strlen(text);
    return code == SL_OK;
}

/* As the classes do it: in doubles, towards zero. */
static bool
read_product(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node, uint64_t *out)
{
    const uint64_t *factor = sl_scope_find(&symbols->scope, row->texts);
    double ratio = 0.0;

    assert(factor != NULL);
    const sl_code code = sl_node_as_double(node, 0.0, (double)(1 << 20), &ratio, symbols->err);
    sl_hf_symbols_note(symbols, code);
    const double product = ratio * (double)*factor;
    if (code != SL_OK)
        return false;
    *out = product < (double)number_max ? (uint64_t)product : number_max;
    return true;
}

static bool
read_refused(sl_hf_symbols *symbols, const sl_node *node, uint64_t *out)
{
    sl_errors ignored = {.count = 0};
    bool on = true;

    *out = 0;
    if (sl_node_kind(node) == SL_JSON_BOOL && sl_node_as_bool(node, &on, &ignored) == SL_OK && !on)
        return true;
    sl_hf_symbols_note(symbols,
                       sl_node_fail(node, symbols->err, SL_E_UNSUPPORTED, "unsupported_option",
                                    "changes what blocks are made of in a way that is not "
                                    "modelled"));
    return false;
}

bool
sl_hf_symbol_is_each(const sl_hf_symbol *row)
{
    return row->reading >= SL_HF_EACH_COMPUTED;
}

static bool
read_value(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node, uint64_t *out)
{
    switch (row->reading) {
    case SL_HF_LENGTH:
        return read_length(symbols, node, out);
    case SL_HF_ENTRIES:
        *out = sl_node_kind(node) == SL_JSON_ARRAY ? sl_node_count(node) : 1;
        return true;
    case SL_HF_CHOICE:
        return sl_hf_symbols_choice(symbols, row, node, out);
    case SL_HF_PRODUCT:
        return read_product(symbols, row, node, out);
    case SL_HF_REFUSED:
        return read_refused(symbols, node, out);
    default:
        return sl_hf_symbols_number(symbols, row, node, out);
    }
}

/* Some numbers may be written as a word that leaves them to the class: "auto", or -1. */
static bool
is_left_to_class(const sl_hf_symbol *row, const sl_node *node)
{
    sl_errors ignored = {.count = 0};
    const char *text = NULL;
    double number = 0.0;

    if (row->texts == NULL || (row->reading != SL_HF_NUMBER && row->reading != SL_HF_EACH_NUMBER))
        return false;
    if (sl_node_kind(node) == SL_JSON_TEXT)
        return sl_node_as_text(node, &text, &ignored) == SL_OK && sl_text_equal(text, row->texts);
    return sl_text_equal(row->texts, "-1") &&
           sl_node_as_double(node, -1.0, -1.0, &number, &ignored) == SL_OK;
}

static bool
locate(sl_hf_symbols *symbols, const char *path, size_t length, sl_hf_place *found)
{
    const sl_hf_found result = sl_hf_place_find(symbols->config, path, length, found);

    /* Many keys may lead through it: it is blamed once. */
    if (result == SL_HF_BLOCKED && symbols->blamed != sl_hf_place_value(found)->value) {
        symbols->blamed = sl_hf_place_value(found)->value;
        sl_hf_symbols_note(symbols, sl_node_fail(sl_hf_place_value(found), symbols->err, SL_E_RANGE,
                                                 "wrong_type", "must be an object"));
    }
    return result == SL_HF_FOUND;
}

static void
compare(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *one, const sl_node *other)
{
    uint64_t first = 0;
    uint64_t second = 0;

    if (row->reading != SL_HF_NUMBER || !sl_hf_symbols_number(symbols, row, one, &first) ||
        !sl_hf_symbols_number(symbols, row, other, &second) || first == second)
        return;
    sl_hf_symbols_note(symbols,
                       sl_node_fail(other, symbols->err, SL_E_RANGE, "conflicting_keys",
                                    "%.40s means the same and is %llu, got %llu", row->key,
                                    (unsigned long long)first, (unsigned long long)second));
}

/* The key of the row, or one of its other names; false when the config has none of them. Two that
 * disagree are an error. */
static bool
find_key(sl_hf_symbols *symbols, const sl_hf_symbol *row, sl_hf_place *found)
{
    if (symbols->defaults_only || row->key == NULL)
        return false;

    bool present = locate(symbols, row->key, strlen(row->key), found);
    for (const char *at = row->alias; at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, " ");
        sl_hf_place other;
        const char *name = at;
        at += length + (at[length] == ' ');
        if (!locate(symbols, name, length, &other) || sl_hf_place_is_null(&other))
            continue;
        if (present && !sl_hf_place_is_null(found))
            compare(symbols, row, sl_hf_place_value(found), sl_hf_place_value(&other));
        else /* the chain's nodes point at each other: found again in its own place */
            present = locate(symbols, name, length, found);
    }
    return present;
}

/* Remembers that the class default of a size was taken: a reader would want to know. */
static void
list_default(sl_hf_symbols *symbols, const sl_hf_symbol *row)
{
    uint64_t ignored = 0;

    if (sl_hf_word_find("experts top_k", row->name, false, &ignored))
        sl_hf_name_append(symbols->defaulted_experts, sizeof symbols->defaulted_experts, row->key);
    else if (sl_hf_word_find("vocab hidden ffn layers heads kv_heads head_dim tower_hidden "
                             "tower_ffn tower_layers",
                             row->name, false, &ignored))
        sl_hf_name_append(symbols->defaulted, sizeof symbols->defaulted, row->key);
}

bool
sl_hf_symbols_compute(sl_hf_symbols *symbols, const sl_hf_symbol *row, const char *expression,
                      uint64_t *out)
{
    assert(expression != NULL);
    if (sl_expression_value(expression, &symbols->scope, out) == SL_OK)
        return true;
    /* After a fault the values are made up: what follows from them is no fault of the config. */
    if (symbols->code != SL_OK)
        return false;
    sl_hf_symbols_note(
        symbols,
        row->key == NULL
            ? sl_node_fail(symbols->config, symbols->err, SL_E_RANGE, "out_of_range",
                           "%s, which is %s, cannot be computed from the values of this config",
                           row->name, expression)
            : sl_node_fail_at(symbols->config, row->key, symbols->err, SL_E_RANGE, "required_field",
                              "is missing, and its default, %s, cannot be computed", expression));
    return false;
}

void
sl_hf_symbols_read(sl_hf_symbols *symbols)
{
    assert(symbols != NULL && symbols->config != NULL && symbols->err != NULL);

    uint32_t each = 0;
    for (size_t i = 0; i < symbols->count; i++) {
        const sl_hf_symbol *row = &symbols->rows[i];
        uint64_t value = 1; /* a value to go on with after a fault */
        sl_hf_place found;
        if (sl_hf_symbol_is_each(row)) {
            assert(each < SL_HF_EACH_MAX);
            symbols->each_found[each] =
                row->reading != SL_HF_EACH_COMPUTED && find_key(symbols, row, &symbols->each[each]);
            if (symbols->each_found[each] && row->reading == SL_HF_EACH_MEMBER)
                sl_hf_symbols_members(symbols, each);
            each++;
            continue;
        }
        const bool present = row->reading != SL_HF_COMPUTED && find_key(symbols, row, &found);
        const bool null = present && sl_hf_place_is_null(&found);
        const bool said = present && !null && !is_left_to_class(row, sl_hf_place_value(&found));
        const char *otherwise = null && row->null != NULL ? row->null : row->fallback;
        if (said)
            (void)read_value(symbols, row, sl_hf_place_value(&found), &value);
        else if (sl_hf_symbols_compute(symbols, row, otherwise, &value) && row->key != NULL &&
                 value != 0 && otherwise == row->fallback)
            list_default(symbols, row);
        sl_scope_set(&symbols->scope, row->name, value);
    }
}
