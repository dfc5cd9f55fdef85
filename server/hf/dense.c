/* Decoders of the tables rows_*.c, which are planned: from config to description. */
#include "hf/dense.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "hf/reader.h"
#include "json/members.h"

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
    if (type->base_class == NULL && sl_text_ends_with(text, "Model")) {
        (void)sl_text_copy(reader->architecture, sizeof reader->architecture, text);
    } else if (type->base_class != NULL && sl_text_equal_ignoring_case(text, type->base_class)) {
        reader->has_head = false;
        (void)sl_text_copy(reader->architecture, sizeof reader->architecture, type->base_class);
    } else if (sl_text_ends_with(text, "ForCausalLM") || sl_text_ends_with(text, "LMHeadModel")) {
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

/* A config that carries a tower of another modality is of more than a decoder. */
static void
refuse_towers(sl_hf_reader *reader)
{
    static const char *const towers[] = {"vision_config", "audio_config", "visual",
                                         "mm_vision_tower", "thinker_config"};
    sl_node member;

    for (size_t i = 0; i < sizeof towers / sizeof towers[0]; i++) {
        if (sl_node_member(reader->config, towers[i], &member))
            sl_hf_note(reader,
                       sl_node_fail(&member, reader->err, SL_E_UNSUPPORTED, "unsupported_option",
                                    "describes a tower beside the %s decoder; towers are "
                                    "not modelled",
                                    reader->type->model_type));
    }
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
    spec->lone_keys = !grouped && one_head;
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
    spec->norm_unbiased = sl_hf_has(reader, SL_HF_NORM_UNBIASED);
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

/* "" when nobody says: the class has a kernel for it. Words that are none refine nothing. */
static const char *
activation_of(const sl_hf_reader *reader)
{
    static const char *const keys[] = {"activation_function", "hidden_act"};
    const char *name = reader->type->activation;
    sl_errors unread = {.count = 0};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (sl_node_text(reader->config, keys[i], &name, NULL, &unread) != SL_OK)
            name = NULL;
    return name != NULL ? name : "";
}

/* A null says that there is no such tanh, where silence leaves what the class has. */
static bool
is_capped(const sl_hf_reader *reader, const char *key)
{
    sl_node member;
    void *state = NULL;

    while (sl_node_next(reader->config, &state, &member))
        if (strcmp(member.key, key) == 0)
            return sl_node_kind(&member) != SL_JSON_NULL;
    return reader->type->caps;
}

/* Whether the config says that it trains with dropout somewhere. What a class has in silence is left
 * to the release, whose code may not be that class. */
static bool
is_dropping(const sl_hf_reader *reader)
{
    static const char *const keys[] = {"resid_pdrop",       "embd_pdrop",       "attn_pdrop",
                                       "dropout",           "hidden_dropout",   "residual_dropout",
                                       "embedding_dropout", "attention_dropout"};
    sl_errors unread = {.count = 0};
    bool drops = false;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        double rate = 0.0;
        if (sl_node_double(reader->config, keys[i], 0, 1, &rate, NULL, &unread) == SL_OK)
            drops = drops || rate > 0.0;
    }
    return drops;
}

static void
fill_spec(const sl_hf_reader *reader, sl_dense_spec *spec)
{
    const uint64_t *values = reader->values;

    fill_traits(reader, spec);
    /* GELU by its tanh, which the library's gelu_new writes out. */
    spec->composed_activation = strcmp(activation_of(reader), "gelu_new") == 0;
    spec->rectified = strcmp(activation_of(reader), "relu") == 0;
    spec->relaid = reader->type->relaid;
    spec->norm_wide = reader->type->wide_norms;
    spec->scores_capped = is_capped(reader, "attn_logit_softcapping");
    spec->logits_capped = is_capped(reader, "final_logit_softcapping");
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

static sl_code
fill_model(sl_hf_reader *reader, const sl_dense_spec *spec, sl_model *out)
{
    sl_errors inner = {.count = 0};
    const sl_code code = sl_model_describe_dense(spec, out, &inner);
    if (code != SL_OK) {
        char pointer[sizeof inner.list[0].pointer];
        sl_node_pointer(reader->config, pointer, sizeof pointer);
        return sl_refail_at(&inner, pointer, reader->err);
    }
    (void)sl_text_copy(out->architecture, sizeof out->architecture, reader->architecture);
    out->position_limit = reader->values[SL_HF_POSITIONS];
    out->drops = is_dropping(reader);
    if (reader->mtp_layers != 0 &&
        sl_model_mtp_parameters(out, reader->mtp_layers, &out->mtp_parameters) != SL_OK)
        return sl_node_fail(reader->config, reader->err, SL_E_RANGE, "out_of_range",
                            "the layers for multi-token prediction cannot be counted in 64 bits");
    return SL_OK;
}

/* A wrapper says for its language part whether the head is tied. */
static void
apply_tie(sl_hf_reader *reader, sl_hf_tie tie)
{
    if (tie == SL_HF_TIE_ALWAYS)
        reader->traits |= SL_HF_TIED;
    else if (tie == SL_HF_TIE_NEVER)
        reader->traits &= ~(uint32_t)SL_HF_TIED;
}

sl_code
sl_hf_dense_read(const sl_hf_source *source, const sl_hf_type *type, sl_model *out)
{
    assert(source != NULL && type != NULL && out != NULL);

    sl_hf_reader reader = {.config = source->config,
                           .type = type,
                           .has_head = true,
                           .warnings = source->warnings,
                           .err = source->err};
    sl_dense_spec spec = {0};

    (void)sl_text_copy(reader.architecture, sizeof reader.architecture, type->causal_class);
    if (!source->wrapped) {
        read_architecture(&reader);
        refuse_towers(&reader);
    }
    sl_hf_read_fields(&reader);
    sl_hf_read_flags(&reader);
    apply_tie(&reader, source->tie);
    sl_hf_derive_fields(&reader);
    fill_spec(&reader, &spec);
    if (sl_hf_has(&reader, SL_HF_FALCON))
        read_falcon(&reader, &spec);
    if (sl_hf_has(&reader, SL_HF_BLOCK_SHAPES))
        sl_hf_read_shapes(&reader, &spec);
    sl_hf_read_blocks(&reader, &spec);
    if (reader.code != SL_OK)
        return reader.code;
    const sl_code code = fill_model(&reader, &spec, out);
    if (code == SL_OK && reader.defaulted[0] != '\0')
        (void)sl_node_fail_at(source->config, "model_type", source->warnings, SL_E_RANGE,
                              "class_defaults",
                              "taken from the %s class, since the config does not say: %s",
                              type->model_type, reader.defaulted);
    return code;
}
