#include "codec/hf_config.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/hf_quantization.h"
#include "codec/hf_table.h"

/* One reading. `code` keeps the first failure while reading goes on, so that one answer names every
 * fault of the config. */
typedef struct hf_reader {
    const sl_node *config;
    const sl_hf_type *type;
    sl_errors *warnings;
    sl_errors *err;
    sl_code code;
    uint64_t values[SL_HF_FIELD_COUNT];
    bool valid[SL_HF_FIELD_COUNT];
    char defaulted[160]; /* names of keys whose class default was taken */
    char architecture[64];
    bool has_head;
} hf_reader;

typedef struct dtype_row {
    const char *name; /* of the checkpoint's tensors */
    uint32_t element_bytes;
} dtype_row;

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
};
_Static_assert(sizeof limits / sizeof limits[0] == SL_HF_FIELD_COUNT, "one limit per field");

static void
note(hf_reader *reader, sl_code code)
{
    if (reader->code == SL_OK)
        reader->code = code;
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

static void
list_default(hf_reader *reader, const char *name)
{
    const size_t length = strlen(reader->defaulted);
    (void)sl_text_format(reader->defaulted + length, sizeof reader->defaulted - length, "%s%s",
                         length == 0 ? "" : ", ", name);
}

/* The file, then the alias, then the class default. */
static void
read_field(hf_reader *reader, sl_hf_field field)
{
    const sl_hf_key *key = &reader->type->keys[field];
    const uint64_t min = limits[field].min;
    const uint64_t max = limits[field].max;
    uint64_t value = reader->type->fallbacks[field];
    uint64_t other = 0;
    bool present = false;
    bool aliased = false;

    sl_code code = sl_node_uint(reader->config, key->name, min, max, &value, &present, reader->err);
    if (code == SL_OK && key->alias != NULL)
        code = sl_node_uint(reader->config, key->alias, min, max, &other, &aliased, reader->err);
    if (code == SL_OK && present && aliased && value != other)
        code = sl_node_fail_at(reader->config, key->alias, reader->err, SL_E_RANGE,
                               "conflicting_keys", "%s means the same and is %llu, got %llu",
                               key->name, (unsigned long long)value, (unsigned long long)other);
    if (aliased)
        value = other;
    /* A null count of key-value heads is the number of heads, a null window none: not the default. */
    const bool null_counts = field == SL_HF_KV_HEADS || field == SL_HF_WINDOW;
    if (null_counts && is_null(reader->config, key->name))
        value = 0;
    else if (!present && !aliased && value != 0 && field != SL_HF_POSITIONS &&
             field != SL_HF_FULL_BLOCKS)
        list_default(reader, key->name);
    note(reader, code);
    reader->values[field] = value;
    reader->valid[field] = code == SL_OK;
}

static bool
read_flag(hf_reader *reader, const char *name, bool fallback)
{
    bool value = fallback;
    note(reader, sl_node_bool(reader->config, name, &value, NULL, reader->err));
    return value;
}

/* A flag of other classes that this one does not read would be lost in silence. */
static void
warn_ignored(hf_reader *reader, const char *name)
{
    if (read_flag(reader, name, false))
        (void)sl_node_fail_at(reader->config, name, reader->warnings, SL_E_RANGE, "ignored_key",
                              "%s is true, but the %s class does not read it: no such bias counted",
                              name, reader->type->model_type);
}

/* False, after an error, when there is no type to go on with. */
static bool
find_type(hf_reader *reader)
{
    const char *text = NULL;
    const sl_code code = sl_node_text(reader->config, "model_type", &text, NULL, reader->err);
    note(reader, code);
    if (code != SL_OK)
        return false;
    if (text == NULL) {
        note(reader, sl_node_fail_at(reader->config, "model_type", reader->err, SL_E_RANGE,
                                     "required_field",
                                     "says which class the other keys belong to and is missing; "
                                     "nothing is guessed from their values"));
        sl_hint(reader->err, "add one of %s", sl_hf_type_names());
        return false;
    }
    reader->type = sl_hf_type_find(text);
    if (reader->type == NULL) {
        char shown[48];
        (void)sl_text_copy(shown, sizeof shown, text);
        note(reader,
             sl_node_fail_at(reader->config, "model_type", reader->err, SL_E_UNSUPPORTED,
                             "unsupported_architecture", "\"%s\" is not modelled; supported: %s",
                             shown, sl_hf_type_names()));
        return false;
    }
    return true;
}

static bool
ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t end_length = strlen(end);
    return length >= end_length && sl_text_equal(text + length - end_length, end);
}

/* Which of the type's classes a name of `architectures` means. */
static void
read_class(hf_reader *reader, const sl_node *element)
{
    const sl_hf_type *type = reader->type;
    const char *text = NULL;
    const sl_code code = sl_node_as_text(element, &text, reader->err);
    note(reader, code);
    if (code != SL_OK)
        return;
    /* Old files spell LLaMA their own way. */
    if (sl_text_equal_ignoring_case(text, type->causal_class))
        return;
    char shown[48];
    (void)sl_text_copy(shown, sizeof shown, text);
    if (sl_text_equal_ignoring_case(text, type->base_class)) {
        reader->has_head = false;
        (void)sl_text_copy(reader->architecture, sizeof reader->architecture, type->base_class);
    } else if (ends_with(text, "ForCausalLM") || ends_with(text, "LMHeadModel")) {
        (void)sl_text_copy(reader->architecture, sizeof reader->architecture, text);
        (void)sl_node_fail(element, reader->warnings, SL_E_UNSUPPORTED, "unfamiliar_class",
                           "class %s is not the library's own: described as %s", shown,
                           type->causal_class);
    } else {
        note(reader,
             sl_node_fail(element, reader->err, SL_E_UNSUPPORTED, "unsupported_architecture",
                          "class \"%s\" is not modelled", shown));
        sl_hint(reader->err, "%s, %s", type->causal_class, type->base_class);
    }
}

static void
read_architecture(hf_reader *reader)
{
    sl_node list;
    sl_node element;

    reader->has_head = true;
    (void)sl_text_copy(reader->architecture, sizeof reader->architecture,
                       reader->type->causal_class);
    const bool present = sl_node_member(reader->config, "architectures", &list);
    if (present && sl_node_kind(&list) != SL_JSON_ARRAY)
        note(reader, sl_node_fail(&list, reader->err, SL_E_RANGE, "wrong_type",
                                  "must be a list of class names"));
    else if (present && sl_node_at(&list, 0, &element))
        read_class(reader, &element);
    else
        (void)sl_node_fail_at(
            reader->config, "architectures", reader->warnings, SL_E_RANGE, "missing_architectures",
            "architectures is missing: described as %s, with a head", reader->type->causal_class);
    if (sl_node_member(reader->config, "auto_map", &list))
        (void)sl_node_fail(&list, reader->warnings, SL_E_RANGE, "custom_code",
                           "auto_map names custom code, which may change shapes: described as the "
                           "library's own %s",
                           reader->architecture);
}

static void
read_fields(hf_reader *reader)
{
    for (int i = 0; i < SL_HF_FIELD_COUNT; i++) {
        const sl_hf_field field = (sl_hf_field)i;
        if (reader->type->keys[field].name != NULL && field != SL_HF_WINDOW &&
            field != SL_HF_FULL_BLOCKS)
            read_field(reader, field);
    }
}

/* The divisors of `whole` next to `value`, which is none itself. */
static void
hint_divisors(hf_reader *reader, uint64_t whole, uint64_t value)
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
check_divides(hf_reader *reader, sl_hf_field field, uint64_t whole, const char *what)
{
    const uint64_t value = reader->values[field];
    if (whole % value == 0)
        return;
    note(reader, sl_node_fail_at(reader->config, reader->type->keys[field].name, reader->err,
                                 SL_E_RANGE, "not_divisible", "must divide the %s %llu, got %llu",
                                 what, (unsigned long long)whole, (unsigned long long)value));
    hint_divisors(reader, whole, value);
}

/* Fields that follow from others when the class derives them. */
static void
derive_fields(hf_reader *reader)
{
    uint64_t *values = reader->values;
    const bool shaped = reader->valid[SL_HF_HIDDEN] && reader->valid[SL_HF_HEADS];

    if (values[SL_HF_FFN] == 0)
        values[SL_HF_FFN] = 4 * values[SL_HF_HIDDEN];
    if (values[SL_HF_KV_HEADS] == 0)
        values[SL_HF_KV_HEADS] = values[SL_HF_HEADS];
    else if (reader->valid[SL_HF_HEADS] && reader->valid[SL_HF_KV_HEADS])
        check_divides(reader, SL_HF_KV_HEADS, values[SL_HF_HEADS], "number of attention heads");
    if (values[SL_HF_HEAD_DIM] == 0 && shaped) {
        check_divides(reader, SL_HF_HEADS, values[SL_HF_HIDDEN],
                      reader->type->keys[SL_HF_HEAD_DIM].name != NULL
                          ? "hidden size where head_dim is not given,"
                          : "hidden size");
        values[SL_HF_HEAD_DIM] = values[SL_HF_HIDDEN] / values[SL_HF_HEADS];
    }
    const uint64_t heads = values[SL_HF_HEADS] + 2 * values[SL_HF_KV_HEADS];
    if (heads * values[SL_HF_HEAD_DIM] > SL_MODEL_WIDTH_MAX)
        note(reader,
             sl_node_fail_at(reader->config, reader->type->keys[SL_HF_HEADS].name, reader->err,
                             SL_E_RANGE, "out_of_range",
                             "queries, keys and values together are at most %d wide, got %llu "
                             "heads of %llu",
                             SL_MODEL_WIDTH_MAX, (unsigned long long)heads,
                             (unsigned long long)values[SL_HF_HEAD_DIM]));
}

/* layer_types: full blocks first, windowed ones after; *full_blocks = how many come first. */
static void
read_layer_types(hf_reader *reader, const sl_node *list, uint64_t *full_blocks)
{
    const uint64_t blocks = reader->values[SL_HF_BLOCKS];
    uint64_t full = 0;
    bool windowed = false;

    if (sl_node_kind(list) != SL_JSON_ARRAY || sl_node_count(list) != blocks) {
        note(reader,
             sl_node_fail(list, reader->err, SL_E_RANGE, "length_mismatch",
                          "must list one type for each of the %llu blocks, got %llu",
                          (unsigned long long)blocks, (unsigned long long)sl_node_count(list)));
        return;
    }
    for (size_t i = 0; i < blocks; i++) {
        sl_node element;
        const char *text = NULL;
        if (!sl_node_at(list, i, &element))
            return;
        const sl_code code = sl_node_as_text(&element, &text, reader->err);
        note(reader, code);
        if (code != SL_OK)
            return;
        if (sl_text_equal(text, "sliding_attention")) {
            windowed = true;
        } else if (!sl_text_equal(text, "full_attention") || windowed) {
            char shown[48];
            (void)sl_text_copy(shown, sizeof shown, text);
            note(reader,
                 sl_node_fail(&element, reader->err, SL_E_UNSUPPORTED, "unsupported_layer_types",
                              "only full_attention blocks followed by sliding_attention blocks "
                              "are modelled, got \"%s\" here",
                              shown));
            return;
        } else {
            full++;
        }
    }
    *full_blocks = full;
}

/* The class's rule for windows: always (Mistral), or behind a switch and from a block on (Qwen). */
static void
read_window(hf_reader *reader, sl_dense_spec *spec)
{
    const sl_hf_type *type = reader->type;
    sl_node list;

    if (type->fallbacks[SL_HF_WINDOW] == 0)
        return;
    if (type->window_switch && !read_flag(reader, "use_sliding_window", false))
        return;
    read_field(reader, SL_HF_WINDOW);
    spec->window = (uint32_t)reader->values[SL_HF_WINDOW];
    if (!type->window_switch)
        return;
    read_field(reader, SL_HF_FULL_BLOCKS);
    uint64_t full_blocks = reader->values[SL_HF_FULL_BLOCKS];
    if (reader->valid[SL_HF_BLOCKS] && sl_node_member(reader->config, "layer_types", &list))
        read_layer_types(reader, &list, &full_blocks);
    spec->windowed_from = (uint32_t)full_blocks;
}

static void
read_flags(hf_reader *reader, sl_dense_spec *spec)
{
    const sl_hf_type *type = reader->type;

    spec->naming = type->naming;
    spec->gated_mlp = type->gated_mlp;
    spec->layer_norm = type->layer_norm;
    spec->qk_norm = type->qk_norm;
    spec->qkv_bias = type->qkv_bias;
    spec->output_bias = type->output_bias;
    spec->mlp_bias = type->mlp_bias;
    if (type->attention_bias) {
        spec->qkv_bias = read_flag(reader, "attention_bias", false);
        spec->output_bias = spec->qkv_bias;
    } else {
        warn_ignored(reader, "attention_bias");
    }
    if (type->reads_mlp_bias)
        spec->mlp_bias = read_flag(reader, "mlp_bias", false);
    else
        warn_ignored(reader, "mlp_bias");
    spec->tied = read_flag(reader, "tie_word_embeddings", type->tied);
    if (type->refused != NULL && read_flag(reader, type->refused, false))
        note(reader, sl_node_fail_at(reader->config, type->refused, reader->err, SL_E_UNSUPPORTED,
                                     "unsupported_option",
                                     "adds layers that are not modelled; must be false"));
}

static void
fill_spec(const hf_reader *reader, sl_dense_spec *spec)
{
    const uint64_t *values = reader->values;

    spec->blocks = (uint32_t)values[SL_HF_BLOCKS];
    spec->hidden = values[SL_HF_HIDDEN];
    spec->ffn = values[SL_HF_FFN];
    spec->vocabulary = values[SL_HF_VOCABULARY];
    spec->learned_positions = reader->type->naming == SL_NAMING_GPT2 ? values[SL_HF_POSITIONS] : 0;
    spec->heads = (uint32_t)values[SL_HF_HEADS];
    spec->kv_heads = (uint32_t)values[SL_HF_KV_HEADS];
    spec->head_dim = (uint32_t)values[SL_HF_HEAD_DIM];
    spec->has_head = reader->has_head;
}

/* The newer key first: files that were saved again hold both. */
static dtype_row
read_dtype(hf_reader *reader)
{
    static const char *const texts[] = {"bfloat16",      "float16",      "float32",
                                        "float8_e4m3fn", "float8_e5m2",  "torch.bfloat16",
                                        "torch.float16", "torch.float32"};
    static const dtype_row rows[] = {{"bf16", 2}, {"fp16", 2}, {"fp32", 4}, {"fp8", 1},
                                     {"fp8", 1},  {"bf16", 2}, {"fp16", 2}, {"fp32", 4}};
    enum { TEXT_COUNT = sizeof texts / sizeof texts[0] };
    _Static_assert(TEXT_COUNT == sizeof rows / sizeof rows[0], "one row per text");
    bool present = false;

    const int standard = sl_text_index(reader->type->dtype, texts, TEXT_COUNT);
    assert(standard >= 0);
    uint32_t row = (uint32_t)standard;
    note(reader,
         sl_node_choice(reader->config, "dtype", texts, TEXT_COUNT, &row, &present, reader->err));
    if (!present)
        note(reader, sl_node_choice(reader->config, "torch_dtype", texts, TEXT_COUNT, &row,
                                    &present, reader->err));
    if (!present)
        (void)sl_node_fail_at(
            reader->config, "torch_dtype", reader->warnings, SL_E_RANGE, "missing_dtype",
            "the config names no dtype: the weights are taken to be %s", rows[row].name);
    return rows[row];
}

static sl_code
fill_model(hf_reader *reader, const sl_dense_spec *spec, const dtype_row *dtype, const char *name,
           sl_model *out)
{
    const sl_code code = sl_model_describe_dense(spec, out, reader->err);
    if (code != SL_OK)
        return code;
    (void)sl_text_copy(out->name, sizeof out->name, name);
    out->revision[0] = '\0';
    (void)sl_text_copy(out->architecture, sizeof out->architecture, reader->architecture);
    (void)sl_text_copy(out->model_type, sizeof out->model_type, reader->type->model_type);
    out->position_limit = reader->values[SL_HF_POSITIONS];
    out->checkpoint_element_bytes = dtype->element_bytes;
    (void)sl_text_copy(out->checkpoint_dtype, sizeof out->checkpoint_dtype, dtype->name);
    return SL_OK;
}

sl_code
sl_hf_config_read(const sl_node *config, const char *name, sl_model *out, sl_errors *warnings,
                  sl_errors *err)
{
    assert(config != NULL && name != NULL && out != NULL && warnings != NULL && err != NULL);

    hf_reader reader = {.config = config, .warnings = warnings, .err = err};
    sl_dense_spec spec = {0};
    sl_hf_quantization quantization;
    sl_code code = sl_node_object(config, err);
    if (code != SL_OK)
        return code;
    if (!find_type(&reader))
        return reader.code;
    read_architecture(&reader);
    read_fields(&reader);
    derive_fields(&reader);
    read_window(&reader, &spec);
    read_flags(&reader, &spec);
    fill_spec(&reader, &spec);
    const dtype_row dtype = read_dtype(&reader);
    note(&reader, sl_hf_quantization_read(config, &quantization, err));
    if (reader.code != SL_OK)
        return reader.code;
    code = fill_model(&reader, &spec, &dtype, name, out);
    if (code != SL_OK)
        return code;
    sl_hf_quantization_apply(&quantization, out, warnings);
    if (reader.defaulted[0] != '\0')
        (void)sl_node_fail_at(config, "model_type", warnings, SL_E_RANGE, "class_defaults",
                              "taken from the %s class, since the config does not say: %s",
                              reader.type->model_type, reader.defaulted);
    return SL_OK;
}
