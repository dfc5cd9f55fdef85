#include "hf/symbols.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

/* Widths, counts and positions alike: what is computed from them is checked again. */
static const uint64_t number_max = UINT64_C(1) << 40;

static void
note(sl_hf_symbols *symbols, sl_code code)
{
    if (symbols->code == SL_OK)
        symbols->code = code;
}

static bool
find_child(const sl_node *parent, const char *name, size_t length, sl_node *out)
{
    void *state = NULL;
    uint64_t index = 0;
    char number[24];

    if (sl_node_kind(parent) == SL_JSON_ARRAY)
        return sl_text_format(number, sizeof number, "%.*s", (int)length, name) &&
               sl_text_to_uint(number, &index) && sl_node_at(parent, index, out);
    if (sl_node_kind(parent) != SL_JSON_OBJECT)
        return false;
    while (sl_node_next(parent, &state, out)) {
        if (strlen(out->key) == length && strncmp(out->key, name, length) == 0)
            return true;
    }
    return false;
}

/* Follows "a.b.0" from the config; false when it leads nowhere. */
static bool
locate(const sl_node *config, const char *path, size_t path_length, sl_hf_place *found)
{
    const char *end = path + path_length;

    found->chain[0] = *config;
    found->depth = 0;
    while (path < end) {
        const char *dot = memchr(path, '.', (size_t)(end - path));
        const size_t length = (size_t)((dot == NULL ? end : dot) - path);
        assert(found->depth < SL_HF_PATH_MAX);
        if (!find_child(&found->chain[found->depth], path, length, &found->chain[found->depth + 1]))
            return false;
        found->depth++;
        path += length + (dot != NULL);
    }
    return true;
}

static const sl_node *
value_of(const sl_hf_place *found)
{
    return &found->chain[found->depth];
}

static bool
is_null(const sl_hf_place *found)
{
    return sl_node_kind(value_of(found)) == SL_JSON_NULL;
}

/* A natural number, or a truth value as 1 or 0. */
static bool
read_number(sl_hf_symbols *symbols, const sl_node *node, uint64_t *out)
{
    bool truth = false;
    sl_code code;

    if (sl_node_kind(node) == SL_JSON_BOOL) {
        code = sl_node_as_bool(node, &truth, symbols->err);
        *out = truth;
    } else {
        code = sl_node_as_uint(node, 0, number_max, out, symbols->err);
    }
    note(symbols, code);
    return code == SL_OK;
}

/* Index of a text among those of the row, parted by blanks. */
static bool
read_choice(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node, uint64_t *out)
{
    const char *text = NULL;
    const sl_code code = sl_node_as_text(node, &text, symbols->err);
    uint64_t index = 0;

    note(symbols, code);
    if (code != SL_OK)
        return false;
    for (const char *at = row->texts; *at != '\0'; index++) {
        const size_t length = strcspn(at, " ");
        if (strlen(text) == length && strncmp(at, text, length) == 0) {
            *out = index;
            return true;
        }
        at += length + (at[length] == ' ');
    }
    char shown[48];
    (void)sl_text_copy(shown, sizeof shown, text);
    note(symbols, sl_node_fail(node, symbols->err, SL_E_UNSUPPORTED, "unsupported_option",
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
    note(symbols, code);
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
    note(symbols, code);
    const double product = ratio * (double)*factor;
    if (code != SL_OK)
        return false;
    *out = product < (double)number_max ? (uint64_t)product : number_max;
    return true;
}

static bool
is_each(const sl_hf_symbol *row)
{
    return row->reading >= SL_HF_EACH_COMPUTED;
}

static bool
read_value(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node, uint64_t *out)
{
    switch (row->reading) {
    case SL_HF_LENGTH:
        return read_length(symbols, node, out);
    case SL_HF_CHOICE:
        return read_choice(symbols, row, node, out);
    case SL_HF_PRODUCT:
        return read_product(symbols, row, node, out);
    default:
        return read_number(symbols, node, out);
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

/* The key of the row, or one of its other names; false when the config has none of them. Two that
 * disagree are an error. */
static bool
find_key(sl_hf_symbols *symbols, const sl_hf_symbol *row, sl_hf_place *found)
{
    bool present = row->key != NULL && !symbols->defaults_only &&
                   locate(symbols->config, row->key, strlen(row->key), found);

    for (const char *at = row->alias; at != NULL && *at != '\0' && !symbols->defaults_only;) {
        const size_t length = strcspn(at, " ");
        sl_hf_place other;
        const char *name = at;
        at += length + (at[length] == ' ');
        if (!locate(symbols->config, name, length, &other) || is_null(&other))
            continue;
        if (!present || is_null(found)) {
            /* The chain's nodes point at each other: found again in its own place. */
            present = locate(symbols->config, name, length, found);
            continue;
        }
        uint64_t first = 0;
        uint64_t second = 0;
        if (row->reading == SL_HF_NUMBER && read_number(symbols, value_of(found), &first) &&
            read_number(symbols, value_of(&other), &second) && first != second)
            note(symbols,
                 sl_node_fail(value_of(&other), symbols->err, SL_E_RANGE, "conflicting_keys",
                              "%.40s means the same and is %llu, got %llu", row->key,
                              (unsigned long long)first, (unsigned long long)second));
    }
    return present;
}

/* Sizes whose class default a reader would want to know of. */
static bool
is_size(const char *name)
{
    static const char *const names[] = {"vocab",    "hidden",   "ffn",     "layers", "heads",
                                        "kv_heads", "head_dim", "experts", "top_k"};
    return sl_text_index(name, names, sizeof names / sizeof names[0]) >= 0;
}

static void
list_default(sl_hf_symbols *symbols, const char *key)
{
    const size_t length = strlen(symbols->defaulted);
    (void)sl_text_format(symbols->defaulted + length, sizeof symbols->defaulted - length, "%s%s",
                         length == 0 ? "" : ", ", key);
}

static bool
compute(sl_hf_symbols *symbols, const sl_hf_symbol *row, const char *expression, uint64_t *out)
{
    assert(expression != NULL);
    if (sl_expression_value(expression, &symbols->scope, out) == SL_OK)
        return true;
    note(symbols,
         row->key == NULL
             ? sl_node_fail(symbols->config, symbols->err, SL_E_RANGE, "out_of_range",
                            "%s, which is %s, cannot be computed from the values of this config",
                            row->name, expression)
             : sl_node_fail_at(symbols->config, row->key, symbols->err, SL_E_RANGE,
                               "required_field",
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
        if (is_each(row)) {
            assert(each < SL_HF_EACH_MAX);
            symbols->each_found[each] =
                row->reading != SL_HF_EACH_COMPUTED && find_key(symbols, row, &symbols->each[each]);
            each++;
            continue;
        }
        if (row->reading == SL_HF_COMPUTED || !find_key(symbols, row, &found) ||
            is_left_to_class(row, value_of(&found))) {
            (void)compute(symbols, row, row->fallback, &value);
            if (row->key != NULL && value != 0 && is_size(row->name))
                list_default(symbols, row->key);
        } else if (is_null(&found)) {
            (void)compute(symbols, row, row->null != NULL ? row->null : row->fallback, &value);
        } else {
            (void)read_value(symbols, row, value_of(&found), &value);
        }
        sl_scope_set(&symbols->scope, row->name, value);
    }
}

static bool
fail_length(sl_hf_symbols *symbols, const sl_node *list, uint64_t blocks, uint64_t length)
{
    note(symbols, sl_node_fail(list, symbols->err, SL_E_RANGE, "length_mismatch",
                               "must have one entry for each of the %llu blocks, got %llu",
                               (unsigned long long)blocks, (unsigned long long)length));
    return false;
}

/* Block numbers as one text: "3,4,5". */
static bool
read_numbers(sl_hf_symbols *symbols, const sl_node *node, uint64_t block, uint64_t *out)
{
    const char *text = NULL;
    const sl_code code = sl_node_as_text(node, &text, symbols->err);

    note(symbols, code);
    if (code != SL_OK)
        return false;
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        char number[24];
        uint64_t named = 0;
        if (!sl_text_format(number, sizeof number, "%.*s", (int)length, at) ||
            !sl_text_to_uint(number, &named)) {
            note(symbols, sl_node_fail(node, symbols->err, SL_E_RANGE, "wrong_type",
                                       "must name blocks by their numbers, parted by commas"));
            return false;
        }
        if (named == block)
            *out = 1;
        at += length + (at[length] == ',');
    }
    return true;
}

/* Whether the list of block numbers names the block. */
static bool
read_member(sl_hf_symbols *symbols, const sl_node *list, uint64_t block, uint64_t *out)
{
    *out = 0;
    if (sl_node_kind(list) == SL_JSON_TEXT)
        return read_numbers(symbols, list, block, out);
    for (size_t i = 0; i < sl_node_count(list); i++) {
        sl_node element;
        uint64_t named = 0;
        if (!sl_node_at(list, i, &element))
            break;
        if (!read_number(symbols, &element, &named))
            return false;
        if (named == block)
            *out = 1;
    }
    return true;
}

static bool
read_letter(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node, uint64_t block,
            uint64_t blocks, uint64_t spare, uint64_t *out)
{
    const char *text = NULL;
    const sl_code code = sl_node_as_text(node, &text, symbols->err);

    note(symbols, code);
    if (code != SL_OK)
        return false;
    const size_t length = strlen(text);
    if (length < blocks || length > blocks + spare)
        return fail_length(symbols, node, blocks, length);
    const char *letter = strchr(row->texts, text[block]);
    if (letter == NULL) {
        note(symbols,
             sl_node_fail(node, symbols->err, SL_E_UNSUPPORTED, "unsupported_layer_types",
                          "block %llu is of no kind that is modelled", (unsigned long long)block));
        sl_hint(symbols->err, "one of the letters %s", row->texts);
        return false;
    }
    *out = (uint64_t)(letter - row->texts);
    return true;
}

static bool
read_entry(sl_hf_symbols *symbols, const sl_hf_symbol *row, const sl_node *node, uint64_t block,
           uint64_t blocks, uint64_t spare, uint64_t *out)
{
    sl_node element;

    if (row->reading == SL_HF_EACH_LETTER)
        return read_letter(symbols, row, node, block, blocks, spare, out);
    if (row->reading == SL_HF_EACH_NUMBER && sl_node_kind(node) != SL_JSON_ARRAY)
        return read_number(symbols, node, out);
    if (row->reading == SL_HF_EACH_MEMBER && sl_node_kind(node) == SL_JSON_TEXT)
        return read_member(symbols, node, block, out);
    if (sl_node_kind(node) != SL_JSON_ARRAY) {
        note(symbols, sl_node_fail(node, symbols->err, SL_E_RANGE, "wrong_type",
                                   "must be a list with an entry for each block"));
        return false;
    }
    if (row->reading == SL_HF_EACH_MEMBER)
        return read_member(symbols, node, block, out);
    const uint64_t length = sl_node_count(node);
    if (length < blocks || length > blocks + spare)
        return fail_length(symbols, node, blocks, length);
    if (!sl_node_at(node, block, &element))
        return false;
    return row->reading == SL_HF_EACH_CHOICE ? read_choice(symbols, row, &element, out)
                                             : read_number(symbols, &element, out);
}

bool
sl_hf_symbols_read_block(sl_hf_symbols *symbols, uint64_t block, uint64_t blocks, uint64_t spare,
                         uint64_t values[SL_HF_EACH_MAX], uint32_t *count)
{
    assert(symbols != NULL && values != NULL && count != NULL && block < blocks);

    *count = 0;
    sl_scope_set(&symbols->scope, "block", block);
    for (size_t i = 0; i < symbols->count; i++) {
        const sl_hf_symbol *row = &symbols->rows[i];
        const sl_hf_place *found = &symbols->each[*count];
        uint64_t value = 0;
        bool known;
        if (!is_each(row))
            continue;
        if (!symbols->each_found[*count])
            known = compute(symbols, row, row->fallback, &value);
        else if (is_null(found))
            known = compute(symbols, row, row->null != NULL ? row->null : row->fallback, &value);
        else
            known = read_entry(symbols, row, value_of(found), block, blocks, spare, &value);
        if (!known)
            return false;
        sl_scope_set(&symbols->scope, row->name, value);
        values[(*count)++] = value;
    }
    return true;
}
