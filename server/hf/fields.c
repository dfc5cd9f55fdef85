/* The fields and flags of a config, each under its names and with its class default. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "hf/reader.h"
#include "hf/words.h"

static const struct {
    uint64_t min;
    uint64_t max;
} limits[] = {
    [SL_HF_VOCABULARY] = {1, UINT64_C(1) << 31},
    [SL_HF_HIDDEN] = {1, 1 << 20},
    [SL_HF_FFN] = {1, 1 << 22},
    [SL_HF_BLOCKS] = {1, 2000},
    [SL_HF_HEADS] = {1, 1 << 16},
    [SL_HF_KV_HEADS] = {1, 1 << 16},
    [SL_HF_HEAD_DIM] = {1, 1 << 16},
    [SL_HF_POSITIONS] = {1, UINT64_C(1) << 31},
    [SL_HF_WINDOW] = {1, 1 << 30},
    [SL_HF_FULL_BLOCKS] = {0, 1 << 20},
    [SL_HF_FULL_EVERY] = {1, 1 << 20},
    [SL_HF_EMBEDDING_WIDTH] = {1, 1 << 20},
    [SL_HF_EXPERTS] = {1, 1 << 16},
    [SL_HF_EXPERTS_PER_TOKEN] = {1, 1 << 16},
    [SL_HF_EXPERT_WIDTH] = {1, 1 << 22},
    [SL_HF_SHARED_EXPERTS] = {0, 1 << 10},
    [SL_HF_SHARED_WIDTH] = {0, 1 << 22},
    [SL_HF_DENSE_BLOCKS] = {0, 1 << 20},
    [SL_HF_SPARSE_EVERY] = {1, 1 << 20},
    [SL_HF_QUERY_RANK] = {1, 1 << 16},
    [SL_HF_KV_RANK] = {1, 1 << 16},
    [SL_HF_PLAIN_DIM] = {1, 1 << 12},
    [SL_HF_ROTARY_DIM] = {1, 1 << 12},
    [SL_HF_VALUE_DIM] = {1, 1 << 12},
    [SL_HF_INDEX_HEADS] = {1, 1 << 12},
    [SL_HF_INDEX_DIM] = {1, 1 << 12},
};
_Static_assert(sizeof limits / sizeof limits[0] == SL_HF_FIELD_COUNT, "one limit per field");

void
sl_hf_note(sl_hf_reader *reader, sl_code code)
{
    if (reader->code == SL_OK)
        reader->code = code;
}

bool
sl_hf_has(const sl_hf_reader *reader, uint32_t trait)
{
    return (reader->traits & trait) == trait;
}

/* Null and absent are the same to most keys, but not to all. */
static bool
is_null(const sl_node *config, const char *name)
{
    void *state = NULL;
    sl_node member;
    while (sl_node_next(config, &state, &member)) {
        if (sl_text_equal(member.key, name))
            return sl_node_kind(&member) == SL_JSON_NULL;
    }
    return false;
}

/* Fields whose class default says nothing that a reader would miss. */
static bool
is_quiet(sl_hf_field field)
{
    return field == SL_HF_POSITIONS || field == SL_HF_FULL_BLOCKS || field == SL_HF_FULL_EVERY ||
           field == SL_HF_SPARSE_EVERY;
}

/* Fields for which null says "none" or "as many as there are heads": not the default. */
static bool
null_counts(sl_hf_field field)
{
    return field == SL_HF_KV_HEADS || field == SL_HF_WINDOW || field == SL_HF_QUERY_RANK ||
           field == SL_HF_SHARED_EXPERTS;
}

/* Where a key stands: "a.b" is b of the object a, which may be absent (then so is b). The object's
 * key is borrowed from the document: errors name it later. */
static bool
locate(sl_hf_reader *reader, const char *path, sl_node *object, const char **name)
{
    const char *dot = strchr(path, '.');
    void *state = NULL;

    *object = *reader->config;
    *name = path;
    if (dot == NULL)
        return true;
    const size_t length = (size_t)(dot - path);
    *name = dot + 1;
    while (sl_node_next(reader->config, &state, object)) {
        if (strlen(object->key) != length || strncmp(object->key, path, length) != 0)
            continue;
        if (sl_node_kind(object) == SL_JSON_NULL)
            return false;
        const sl_code code = sl_node_object(object, reader->err);
        sl_hf_note(reader, code);
        return code == SL_OK;
    }
    return false;
}

void
sl_hf_read_field(sl_hf_reader *reader, sl_hf_field field)
{
    const sl_hf_key *key = &reader->type->keys[field];
    const uint64_t min = limits[field].min;
    const uint64_t max = limits[field].max;
    uint64_t value = reader->type->fallbacks[field];
    uint64_t other = 0;
    bool present = false;
    bool aliased = false;
    sl_code code = SL_OK;
    sl_node object;
    const char *name = NULL;

    if (locate(reader, key->name, &object, &name))
        code = sl_node_uint(&object, name, min, max, &value, &present, reader->err);
    if (code == SL_OK && key->alias != NULL)
        code = sl_node_uint(reader->config, key->alias, min, max, &other, &aliased, reader->err);
    if (code == SL_OK && present && aliased && value != other)
        code = sl_node_fail_at(reader->config, key->alias, reader->err, SL_E_RANGE,
                               "conflicting_keys", "%s means the same and is %llu, got %llu",
                               key->name, (unsigned long long)value, (unsigned long long)other);
    if (aliased)
        value = other;
    if (null_counts(field) && is_null(reader->config, key->name))
        value = 0;
    else if (!present && !aliased && value != 0 && !is_quiet(field))
        sl_hf_name_append(reader->defaulted, sizeof reader->defaulted, key->name);
    sl_hf_note(reader, code);
    reader->values[field] = value;
    reader->valid[field] = code == SL_OK;
}

void
sl_hf_read_fields(sl_hf_reader *reader)
{
    for (int i = 0; i < SL_HF_FIELD_COUNT; i++) {
        const sl_hf_field field = (sl_hf_field)i;
        reader->values[field] = reader->type->fallbacks[field];
        reader->valid[field] = true;
        if (reader->type->keys[field].name != NULL && field != SL_HF_WINDOW &&
            field != SL_HF_FULL_BLOCKS && field != SL_HF_FULL_EVERY)
            sl_hf_read_field(reader, field);
    }
}

bool
sl_hf_read_flag(sl_hf_reader *reader, const char *name, bool fallback)
{
    bool value = fallback;
    sl_hf_note(reader, sl_node_bool(reader->config, name, &value, NULL, reader->err));
    return value;
}

/* A flag of other classes that this one does not read would be lost in silence. */
static void
warn_ignored(sl_hf_reader *reader, const char *name)
{
    for (size_t i = 0; i < SL_HF_FLAGS_MAX && reader->type->flags[i].key != NULL; i++) {
        if (sl_text_equal(reader->type->flags[i].key, name))
            return;
    }
    if (sl_hf_read_flag(reader, name, false))
        (void)sl_node_fail_at(reader->config, name, reader->warnings, SL_E_RANGE, "ignored_key",
                              "%s is true, but the %s class does not read it: no such bias counted",
                              name, reader->type->model_type);
}

/* Some classes add layers behind a key that most of their files do not have. */
static void
refuse_option(sl_hf_reader *reader)
{
    const char *name = reader->type->refused;
    bool on = true;
    sl_errors ignored = {0};
    sl_node member;

    if (name == NULL || !sl_node_member(reader->config, name, &member))
        return;
    if (sl_node_bool(reader->config, name, &on, NULL, &ignored) == SL_OK && !on)
        return;
    sl_hf_note(reader, sl_node_fail(&member, reader->err, SL_E_UNSUPPORTED, "unsupported_option",
                                    "adds layers that are not modelled; must be false"));
}

void
sl_hf_read_flags(sl_hf_reader *reader)
{
    const sl_hf_type *type = reader->type;

    reader->traits = type->traits;
    for (size_t i = 0; i < SL_HF_FLAGS_MAX && type->flags[i].key != NULL; i++) {
        const sl_hf_flag *flag = &type->flags[i];
        const bool on = sl_hf_read_flag(reader, flag->key, flag->fallback) != flag->inverted;
        reader->traits = on ? reader->traits | flag->traits : reader->traits & ~flag->traits;
    }
    warn_ignored(reader, "attention_bias");
    warn_ignored(reader, "mlp_bias");
    if (sl_hf_read_flag(reader, "tie_word_embeddings", sl_hf_has(reader, SL_HF_TIED)))
        reader->traits |= SL_HF_TIED;
    else
        reader->traits &= ~(uint32_t)SL_HF_TIED;
    refuse_option(reader);
}

/* The divisors of `whole` next to `value`, which is none itself. */
static void
hint_divisors(sl_hf_reader *reader, uint64_t whole, uint64_t value)
{
    uint64_t below = value < whole ? value : whole;
    while (whole % below != 0)
        below--;
    uint64_t above = value;
    while (above < whole && whole % above != 0)
        above++;
    if (above <= whole && above != below)
        sl_hint(reader->err, "%llu, %llu", (unsigned long long)below, (unsigned long long)above);
    else
        sl_hint(reader->err, "%llu", (unsigned long long)below);
}

static void
check_divides(sl_hf_reader *reader, sl_hf_field field, uint64_t whole, const char *what)
{
    const uint64_t value = reader->values[field];
    if (whole % value == 0)
        return;
    sl_hf_note(reader,
               sl_node_fail_at(reader->config, reader->type->keys[field].name, reader->err,
                               SL_E_RANGE, "not_divisible", "must divide the %s %llu, got %llu",
                               what, (unsigned long long)whole, (unsigned long long)value));
    hint_divisors(reader, whole, value);
}

static void
derive_head_dim(sl_hf_reader *reader)
{
    uint64_t *values = reader->values;

    if (values[SL_HF_HEAD_DIM] != 0 || !reader->valid[SL_HF_HIDDEN] || !reader->valid[SL_HF_HEADS])
        return;
    /* The heads of latent attention have widths of their own. */
    if (values[SL_HF_KV_RANK] != 0) {
        if (values[SL_HF_VALUE_DIM] == 0)
            values[SL_HF_VALUE_DIM] = values[SL_HF_HIDDEN] / values[SL_HF_HEADS];
        values[SL_HF_HEAD_DIM] = values[SL_HF_PLAIN_DIM] + values[SL_HF_ROTARY_DIM];
        return;
    }
    check_divides(reader, SL_HF_HEADS, values[SL_HF_HIDDEN],
                  reader->type->keys[SL_HF_HEAD_DIM].name != NULL
                      ? "hidden size where head_dim is not given,"
                      : "hidden size");
    values[SL_HF_HEAD_DIM] = values[SL_HF_HIDDEN] / values[SL_HF_HEADS];
}

static void
derive_experts(sl_hf_reader *reader)
{
    uint64_t *values = reader->values;

    if (values[SL_HF_EXPERTS] == 0)
        return;
    if (values[SL_HF_EXPERT_WIDTH] == 0)
        values[SL_HF_EXPERT_WIDTH] = values[SL_HF_FFN];
    if (values[SL_HF_SHARED_WIDTH] == 0)
        values[SL_HF_SHARED_WIDTH] = values[SL_HF_SHARED_EXPERTS] * values[SL_HF_EXPERT_WIDTH];
    if (values[SL_HF_EXPERTS_PER_TOKEN] <= values[SL_HF_EXPERTS])
        return;
    sl_hf_note(reader,
               sl_node_fail_at(reader->config, reader->type->keys[SL_HF_EXPERTS_PER_TOKEN].name,
                               reader->err, SL_E_RANGE, "out_of_range",
                               "a token visits at most the %llu experts there are, got %llu",
                               (unsigned long long)values[SL_HF_EXPERTS],
                               (unsigned long long)values[SL_HF_EXPERTS_PER_TOKEN]));
}

void
sl_hf_derive_fields(sl_hf_reader *reader)
{
    uint64_t *values = reader->values;

    if (values[SL_HF_FFN] == 0)
        values[SL_HF_FFN] = 4 * values[SL_HF_HIDDEN];
    else if (sl_hf_has(reader, SL_HF_TWO_UP_FFN) && values[SL_HF_FFN] > 1)
        values[SL_HF_FFN] /= 2;
    if (sl_hf_has(reader, SL_HF_ONE_KV_HEAD))
        values[SL_HF_KV_HEADS] = 1;
    else if (values[SL_HF_KV_HEADS] == 0 || sl_hf_has(reader, SL_HF_ALL_KV_HEADS))
        values[SL_HF_KV_HEADS] = values[SL_HF_HEADS];
    else if (reader->valid[SL_HF_HEADS] && reader->valid[SL_HF_KV_HEADS])
        check_divides(reader, SL_HF_KV_HEADS, values[SL_HF_HEADS], "number of attention heads");
    derive_head_dim(reader);
    derive_experts(reader);
    const uint64_t heads = values[SL_HF_HEADS] + 2 * values[SL_HF_KV_HEADS];
    if (heads * values[SL_HF_HEAD_DIM] > SL_MODEL_WIDTH_MAX)
        sl_hf_note(reader, sl_node_fail_at(
                               reader->config, reader->type->keys[SL_HF_HEADS].name, reader->err,
                               SL_E_RANGE, "out_of_range",
                               "queries, keys and values together are at most %d wide, got %llu "
                               "heads of %llu",
                               SL_MODEL_WIDTH_MAX, (unsigned long long)heads,
                               (unsigned long long)values[SL_HF_HEAD_DIM]));
}
