#include "codec/hf_config.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/hf_quantization.h"
#include "codec/hf_reader.h"

typedef struct dtype_row {
    const char *name; /* of the checkpoint's tensors */
    uint32_t element_bytes;
} dtype_row;

/* False, after an error, when there is no type to go on with. */
static bool
find_type(sl_hf_reader *reader)
{
    const char *text = NULL;
    const sl_code code = sl_node_text(reader->config, "model_type", &text, NULL, reader->err);
    sl_hf_note(reader, code);
    if (code != SL_OK)
        return false;
    if (text == NULL) {
        sl_hf_note(reader,
                   sl_node_fail_at(reader->config, "model_type", reader->err, SL_E_RANGE,
                                   "required_field",
                                   "says which class the other keys belong to and is missing; "
                                   "nothing is guessed from their values"));
        sl_hint(reader->err, "for instance llama, qwen3 or gpt2");
        return false;
    }
    reader->model_type = text;
    reader->type = sl_hf_type_find(text);
    if (reader->type == NULL) {
        char shown[48];
        (void)sl_text_copy(shown, sizeof shown, text);
        sl_hf_note(reader, sl_node_fail_at(reader->config, "model_type", reader->err,
                                           SL_E_UNSUPPORTED, "unsupported_architecture",
                                           "\"%s\" is not one of the model types that are modelled",
                                           shown));
        sl_hint(reader->err, "the README lists them by family");
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
read_class(sl_hf_reader *reader, const sl_node *element)
{
    const sl_hf_type *type = reader->type;
    const char *text = NULL;
    const sl_code code = sl_node_as_text(element, &text, reader->err);
    sl_hf_note(reader, code);
    if (code != SL_OK)
        return;
    /* Old files spell LLaMA their own way. */
    if (sl_text_equal_ignoring_case(text, type->causal_class))
        return;
    char shown[48];
    (void)sl_text_copy(shown, sizeof shown, text);
    if (type->base_class == NULL && ends_with(text, "Model")) {
        (void)sl_text_copy(reader->architecture, sizeof reader->architecture, text);
    } else if (type->base_class != NULL && sl_text_equal_ignoring_case(text, type->base_class)) {
        reader->has_head = false;
        (void)sl_text_copy(reader->architecture, sizeof reader->architecture, type->base_class);
    } else if (ends_with(text, "ForCausalLM") || ends_with(text, "LMHeadModel")) {
        (void)sl_text_copy(reader->architecture, sizeof reader->architecture, text);
        (void)sl_node_fail(element, reader->warnings, SL_E_UNSUPPORTED, "unfamiliar_class",
                           "class %s is not the library's own: described as %s", shown,
                           type->causal_class);
    } else {
        sl_hf_note(reader,
                   sl_node_fail(element, reader->err, SL_E_UNSUPPORTED, "unsupported_architecture",
                                "class \"%s\" is not modelled", shown));
        sl_hint(reader->err, "%s%s%s", type->causal_class, type->base_class == NULL ? "" : ", ",
                type->base_class == NULL ? "" : type->base_class);
    }
}

static void
read_architecture(sl_hf_reader *reader)
{
    sl_node list;
    sl_node element;

    reader->has_head = true;
    (void)sl_text_copy(reader->architecture, sizeof reader->architecture,
                       reader->type->causal_class);
    const bool present = sl_node_member(reader->config, "architectures", &list);
    if (present && sl_node_kind(&list) != SL_JSON_ARRAY)
        sl_hf_note(reader, sl_node_fail(&list, reader->err, SL_E_RANGE, "wrong_type",
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

/* Falcon-40B groups its keys and may norm both halves; Falcon-7B has one key head for all and one
 * norm; the 1B models are ordinary (FalconAttention and FalconDecoderLayer of the library). */
static void
read_falcon(sl_hf_reader *reader, sl_dense_spec *spec)
{
    uint64_t norms = 2;

    const bool grouped = sl_hf_read_flag(reader, "new_decoder_architecture", false);
    const bool parallel = sl_hf_read_flag(reader, "parallel_attn", true);
    const bool one_head = sl_hf_read_flag(reader, "multi_query", true);
    sl_hf_note(reader, sl_node_uint(reader->config, "num_ln_in_parallel_attn", 1, 2, &norms, NULL,
                                    reader->err));
    if (!grouped)
        spec->kv_heads = one_head ? 1 : spec->heads;
    spec->naming = grouped && norms == 2 ? SL_NAMING_FALCON : SL_NAMING_BLOOM;
    if (grouped && norms == 2)
        spec->form = SL_BLOCK_PARALLEL_NORMS;
    else
        spec->form = parallel ? SL_BLOCK_PARALLEL : SL_BLOCK_PRE_NORM;
}

static sl_block_form
form_of(const sl_hf_reader *reader)
{
    if (sl_hf_has(reader, SL_HF_LATE_NORM))
        return SL_BLOCK_LATE_NORM;
    if (!sl_hf_has(reader, SL_HF_PARALLEL))
        return reader->type->form;
    return sl_hf_has(reader, SL_HF_ONE_NORM) ? SL_BLOCK_PARALLEL : SL_BLOCK_PARALLEL_NORMS;
}

static void
fill_traits(const sl_hf_reader *reader, sl_dense_spec *spec)
{
    spec->naming = reader->type->naming;
    spec->form = form_of(reader);
    spec->qk_norm = sl_hf_has(reader, SL_HF_QK_NORM) ? reader->type->qk_norm : SL_QK_NORM_NONE;
    spec->gated_mlp = sl_hf_has(reader, SL_HF_GATED);
    spec->layer_norm = sl_hf_has(reader, SL_HF_LAYER_NORM);
    spec->norm_weightless = sl_hf_has(reader, SL_HF_NORM_WEIGHTLESS);
    spec->embedding_norm = sl_hf_has(reader, SL_HF_EMBEDDING_NORM);
    spec->no_final_norm =
        sl_hf_has(reader, SL_HF_NO_FINAL_NORM) || sl_hf_has(reader, SL_HF_LATE_NORM);
    spec->no_rotary = sl_hf_has(reader, SL_HF_NO_ROTARY);
    spec->qkv_bias = sl_hf_has(reader, SL_HF_QKV_BIAS);
    spec->output_bias = sl_hf_has(reader, SL_HF_OUTPUT_BIAS);
    spec->mlp_bias = sl_hf_has(reader, SL_HF_MLP_BIAS);
    spec->head_bias = sl_hf_has(reader, SL_HF_HEAD_BIAS);
    spec->learned_activation = sl_hf_has(reader, SL_HF_LEARNED_ACTIVATION);
    spec->sinks = sl_hf_has(reader, SL_HF_SINKS);
    spec->tied = sl_hf_has(reader, SL_HF_TIED);
}

static void
fill_spec(const sl_hf_reader *reader, sl_dense_spec *spec)
{
    const uint64_t *values = reader->values;

    fill_traits(reader, spec);
    spec->blocks = (uint32_t)values[SL_HF_BLOCKS];
    spec->hidden = values[SL_HF_HIDDEN];
    spec->embedding_width = values[SL_HF_EMBEDDING_WIDTH];
    spec->ffn = values[SL_HF_FFN];
    spec->vocabulary = values[SL_HF_VOCABULARY];
    spec->heads = (uint32_t)values[SL_HF_HEADS];
    spec->kv_heads = (uint32_t)values[SL_HF_KV_HEADS];
    spec->head_dim = (uint32_t)values[SL_HF_HEAD_DIM];
    spec->has_head = reader->has_head;
    if (sl_hf_has(reader, SL_HF_LEARNED_POSITIONS)) {
        spec->spare_positions = sl_hf_has(reader, SL_HF_SPARE_POSITIONS) ? 2 : 0;
        spec->learned_positions = values[SL_HF_POSITIONS] + spec->spare_positions;
    }
    if (values[SL_HF_KV_RANK] != 0)
        spec->latent = (sl_latent){
            .query_rank = (uint32_t)values[SL_HF_QUERY_RANK],
            .kv_rank = (uint32_t)values[SL_HF_KV_RANK],
            .plain_dim = (uint32_t)values[SL_HF_PLAIN_DIM],
            .rotary_dim = (uint32_t)values[SL_HF_ROTARY_DIM],
            .value_dim = (uint32_t)values[SL_HF_VALUE_DIM],
            .index_heads = (uint32_t)values[SL_HF_INDEX_HEADS],
            .index_dim = (uint32_t)values[SL_HF_INDEX_DIM],
        };
}

/* The newer key first: files that were saved again hold both. */
static dtype_row
read_dtype(sl_hf_reader *reader)
{
    static const char *const texts[] = {"bfloat16",      "float16",      "float32",
                                        "float8_e4m3fn", "float8_e5m2",  "torch.bfloat16",
                                        "torch.float16", "torch.float32"};
    static const dtype_row rows[] = {{"bf16", 2}, {"fp16", 2}, {"fp32", 4}, {"fp8", 1},
                                     {"fp8", 1},  {"bf16", 2}, {"fp16", 2}, {"fp32", 4}};
    enum { TEXT_COUNT = sizeof texts / sizeof texts[0] };
    _Static_assert(TEXT_COUNT == sizeof rows / sizeof rows[0], "one row per text");
    bool present = false;

    const char *fallback = reader->type->dtype != NULL ? reader->type->dtype : "bfloat16";
    const int standard = sl_text_index(fallback, texts, TEXT_COUNT);
    assert(standard >= 0);
    uint32_t row = (uint32_t)standard;
    sl_hf_note(reader, sl_node_choice(reader->config, "dtype", texts, TEXT_COUNT, &row, &present,
                                      reader->err));
    if (!present)
        sl_hf_note(reader, sl_node_choice(reader->config, "torch_dtype", texts, TEXT_COUNT, &row,
                                          &present, reader->err));
    if (!present)
        (void)sl_node_fail_at(
            reader->config, "torch_dtype", reader->warnings, SL_E_RANGE, "missing_dtype",
            "the config names no dtype: the weights are taken to be %s", rows[row].name);
    return rows[row];
}

static sl_code
fill_model(sl_hf_reader *reader, const sl_dense_spec *spec, const dtype_row *dtype,
           const char *name, sl_model *out)
{
    const sl_code code = sl_model_describe_dense(spec, out, reader->err);
    if (code != SL_OK)
        return code;
    (void)sl_text_copy(out->name, sizeof out->name, name);
    out->revision[0] = '\0';
    (void)sl_text_copy(out->architecture, sizeof out->architecture, reader->architecture);
    (void)sl_text_copy(out->model_type, sizeof out->model_type, reader->model_type);
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

    sl_hf_reader reader = {.config = config, .warnings = warnings, .err = err};
    sl_dense_spec spec = {0};
    sl_hf_quantization quantization;
    sl_code code = sl_node_object(config, err);
    if (code != SL_OK)
        return code;
    if (!find_type(&reader))
        return reader.code;
    read_architecture(&reader);
    sl_hf_read_fields(&reader);
    sl_hf_read_flags(&reader);
    sl_hf_derive_fields(&reader);
    fill_spec(&reader, &spec);
    if (sl_hf_has(&reader, SL_HF_FALCON))
        read_falcon(&reader, &spec);
    if (sl_hf_has(&reader, SL_HF_BLOCK_SHAPES))
        sl_hf_read_shapes(&reader, &spec);
    sl_hf_read_blocks(&reader, &spec);
    const dtype_row dtype = read_dtype(&reader);
    sl_hf_note(&reader, sl_hf_quantization_read(config, &quantization, err));
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
