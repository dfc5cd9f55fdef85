#include "hf/recipe.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "hf/rename.h"
#include "hf/symbols.h"
#include "hf/words.h"
#include "json/members.h"

/* Kinds of one stack that were found so far, by the values that make them differ. */
typedef struct variants {
    uint32_t count;
    uint32_t kinds[SL_DECODER_KINDS_MAX];
    uint64_t values[SL_DECODER_KINDS_MAX][SL_HF_EACH_MAX];
} variants;

enum { TABLE_COUNT = 7 };

const sl_part sl_hf_embed_tokens[1] = {
    SL_TENSOR("embed_tokens.weight", "vocab, hidden", EMBEDDING, VOCABULARY, 0, ""),
};

const sl_part sl_hf_norm_and_head[2] = {
    SL_SCALE("model.norm", "hidden", NORMS, ""),
    SL_HEAD("lm_head", "vocab, hidden", "has_head"),
};

const sl_operation sl_hf_embed_tokens_does[1] = {
    SL_LOOKS_UP("embedding", "embed_tokens", ""),
};

const sl_operation sl_hf_norm_and_head_does[3] = {
    SL_NORMS("final_norm", "model.norm", ""),
    SL_MULTIPLIES("logits", "lm_head", 0, ""),
    SL_LOSES("lm_head", 0, ""),
};

static const sl_hf_recipes *const tables[TABLE_COUNT] = {
    &sl_hf_bert_recipes,  &sl_hf_seq2seq_recipes, &sl_hf_vision_recipes, &sl_hf_delta_recipes,
    &sl_hf_mamba_recipes, &sl_hf_expert_recipes,  &sl_hf_single_recipes,
};

const sl_hf_recipe *
sl_hf_recipe_find(const char *model_type)
{
    assert(model_type != NULL);

    for (size_t i = 0; i < TABLE_COUNT; i++) {
        for (size_t k = 0; k < tables[i]->count; k++) {
            if (sl_text_equal(tables[i]->recipes[k].model_type, model_type))
                return &tables[i]->recipes[k];
        }
    }
    return NULL;
}

const char *
sl_hf_recipe_name(size_t at)
{
    size_t left = at;

    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (left < tables[i]->count)
            return tables[i]->recipes[left].model_type;
        left -= tables[i]->count;
    }
    return NULL;
}

/* The kind of a block with these values: one there is, or a new one. */
static sl_code
find_kind(sl_hf_symbols *symbols, const sl_stack *stack, variants *found, const uint64_t *values,
          uint32_t count, sl_model *model, uint32_t *kind)
{
    for (uint32_t i = 0; i < found->count; i++) {
        if (memcmp(found->values[i], values, count * sizeof values[0]) == 0) {
            *kind = found->kinds[i];
            return SL_OK;
        }
    }
    sl_errors inner = {.count = 0};
    const sl_code code = sl_recipe_add_kind(model, stack, &symbols->scope, kind, &inner);
    if (code != SL_OK) {
        char pointer[sizeof inner.list[0].pointer];
        sl_node_pointer(symbols->config, pointer, sizeof pointer);
        return sl_refail_at(&inner, pointer, symbols->err);
    }
    assert(found->count < SL_DECODER_KINDS_MAX);
    found->kinds[found->count] = *kind;
    memcpy(found->values[found->count++], values, count * sizeof values[0]);
    return SL_OK;
}

/* The list of layers ends with a head, which needs room too. */
static sl_code
count_blocks(const sl_hf_symbols *symbols, const sl_stack *stack, const sl_model *model,
             uint64_t *blocks)
{
    const uint64_t room = stack->beside ? SL_MODEL_LAYERS_MAX
                                        : SL_MODEL_LAYERS_MAX - model->layer_count -
                                              (strcmp(stack->repeat, "1") != 0);

    if (sl_expression_value(stack->repeat, &symbols->scope, blocks) == SL_OK && *blocks <= room)
        return SL_OK;
    return sl_node_fail(symbols->config, symbols->err, SL_E_RANGE, "out_of_range",
                        "at most %d layers are modelled, got %llu blocks and %u layers before them",
                        SL_MODEL_LAYERS_MAX, (unsigned long long)*blocks, model->layer_count);
}

static sl_code
add_stack(sl_hf_symbols *symbols, const sl_stack *stack, uint64_t spare, sl_model *model)
{
    const bool single = strcmp(stack->repeat, "1") == 0;
    variants found = {.count = 0};
    uint64_t blocks = 0;
    sl_code code = count_blocks(symbols, stack, model, &blocks);

    for (uint64_t block = 0; code == SL_OK && block < blocks; block++) {
        uint64_t values[SL_HF_EACH_MAX] = {0};
        uint32_t count = 0;
        uint32_t kind = 0;
        if (!single && !sl_hf_symbols_read_block(symbols, block, blocks, spare, values, &count))
            return symbols->code;
        code = find_kind(symbols, stack, &found, values, count, model, &kind);
        if (code != SL_OK)
            break;
        if (stack->beside)
            model->beside[kind]++;
        else
            model->layers[model->layer_count++] = (uint8_t)kind;
        model->block_count += !single && !stack->beside;
    }
    return code;
}

static uint64_t
value_or(const sl_scope *scope, const char *name, uint64_t fallback)
{
    const uint64_t *value = sl_scope_find(scope, name);
    return value == NULL ? fallback : *value;
}

static void
fill_summary(const sl_scope *scope, sl_model *model)
{
    model->hidden = value_or(scope, "hidden", 1);
    model->ffn = value_or(scope, "ffn", 0);
    model->vocabulary = value_or(scope, "vocab", 0);
    model->position_limit = value_or(scope, "positions", 0);
    model->learned_positions = value_or(scope, "learned_positions", 0) != 0;
    model->heads = (uint32_t)value_or(scope, "heads", 1);
    model->kv_heads = (uint32_t)value_or(scope, "kv_heads", model->heads);
    model->head_dim = (uint32_t)value_or(scope, "head_dim", 1);
    model->has_head = value_or(scope, "has_head", 1) != 0;
    model->tied = model->has_head && value_or(scope, "tied", 0) != 0;
    model->experts = (uint32_t)value_or(scope, "experts", 0);
    model->experts_per_token = (uint32_t)value_or(scope, "top_k", 0);
    model->mtp_parameters = 0;
    model->drops = value_or(scope, "drops", 0) != 0;
}

/* A model is planned when everything in its list of layers says what it does. */
static const char *
find_unpriced(const sl_hf_recipe *recipe)
{
    for (size_t i = 0; i < recipe->stack_count; i++) {
        if (!recipe->stacks[i].beside && recipe->stacks[i].operations == NULL)
            return "the blocks of this model type";
    }
    return NULL;
}

/* Index of the class that the config names first among those of the recipe. */
static sl_code
read_class(const sl_hf_source *source, const sl_hf_recipe *recipe, sl_model *out, uint64_t *at)
{
    const size_t first = strcspn(recipe->classes, " ");
    const char *text = NULL;
    sl_node list;
    sl_node element;

    *at = 0;
    (void)sl_text_format(out->architecture, sizeof out->architecture, "%.*s", (int)first,
                         recipe->classes);
    if (source->wrapped)
        return SL_OK;
    if (!sl_node_member(source->config, "architectures", &list) ||
        !sl_node_at(&list, 0, &element)) {
        (void)sl_node_fail_at(source->config, "architectures", source->warnings, SL_E_RANGE,
                              "missing_architectures", "architectures is missing: described as %s",
                              out->architecture);
        return SL_OK;
    }
    const sl_code code = sl_node_as_text(&element, &text, source->err);
    if (code != SL_OK)
        return code;
    (void)sl_text_copy(out->architecture, sizeof out->architecture, text);
    if (sl_hf_word_find(recipe->classes, text, true, at))
        return SL_OK;
    *at = 0;
    const sl_code failed =
        sl_node_fail(&element, source->err, SL_E_UNSUPPORTED, "unsupported_architecture",
                     "class \"%.48s\" is not modelled", text);
    sl_hint(source->err, "%s", recipe->classes);
    return failed;
}

/* Counts must stay in range at 8 bytes an element. */
static sl_code
check_counts(const sl_hf_symbols *symbols, const sl_model *model)
{
    sl_model_counts counts;

    if (sl_model_count(model, &counts) == SL_OK && counts.total <= UINT64_MAX / 8)
        return SL_OK;
    return sl_node_fail(symbols->config, symbols->err, SL_E_RANGE, "out_of_range",
                        "the parameters of this model cannot be counted in 64 bits");
}

/* Classes name a number of experts also where no block of theirs has any. */
static bool
has_experts(const sl_model *model)
{
    for (uint32_t k = 0; k < model->kind_count; k++) {
        for (uint32_t i = 0; i < model->kinds[k].tensor_count; i++) {
            if (model->kinds[k].tensors[i].component == SL_COMPONENT_ROUTED_EXPERTS)
                return true;
        }
    }
    return false;
}

/* The key a value is read from, or NULL. */
static const char *
key_of(const sl_hf_symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->count; i++) {
        if (sl_text_equal(symbols->rows[i].name, name))
            return symbols->rows[i].key;
    }
    return NULL;
}

/* Classes that derive the width of a head from the hidden size do so without a rest. */
static bool
derives_head_dim(const sl_hf_symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++) {
        const char *fallback = symbols->rows[i].fallback;
        if (sl_text_equal(symbols->rows[i].name, "head_dim"))
            return fallback != NULL && sl_text_equal(fallback, "hidden / heads");
    }
    return false;
}

static sl_code
check_heads(const sl_hf_symbols *symbols, const sl_model *model)
{
    const char *heads = key_of(symbols, "heads");
    const char *groups = key_of(symbols, "kv_heads");

    if (heads != NULL && derives_head_dim(symbols) &&
        model->head_dim == model->hidden / model->heads && model->hidden % model->heads != 0)
        return sl_node_fail_at(symbols->config, heads, symbols->err, SL_E_RANGE, "not_divisible",
                               "must divide the hidden size %llu, got %u",
                               (unsigned long long)model->hidden, model->heads);
    if (groups != NULL && model->kv_heads != 0 && model->heads % model->kv_heads != 0)
        return sl_node_fail_at(symbols->config, groups, symbols->err, SL_E_RANGE, "not_divisible",
                               "must divide the number of attention heads %u, got %u", model->heads,
                               model->kv_heads);
    return SL_OK;
}

static sl_code
check_required(const sl_hf_symbols *symbols, const sl_hf_recipe *recipe)
{
    uint64_t holds = 0;

    if (recipe->require == NULL ||
        (sl_expression_value(recipe->require, &symbols->scope, &holds) == SL_OK && holds != 0))
        return SL_OK;
    return sl_node_fail(symbols->config, symbols->err, SL_E_RANGE, "inconsistent_keys", "%s",
                        recipe->required);
}

static sl_code
check_blocks(const sl_hf_symbols *symbols, const sl_model *model)
{
    const char *top_k = key_of(symbols, "top_k");

    if (model->block_count == 0)
        return sl_node_fail(symbols->config, symbols->err, SL_E_RANGE, "out_of_range",
                            "must have at least one block");
    if (model->experts_per_token <= model->experts)
        return check_heads(symbols, model);
    return sl_node_fail_at(symbols->config, top_k != NULL ? top_k : "", symbols->err, SL_E_RANGE,
                           "out_of_range",
                           "a token visits at most the %u experts there are, got %u",
                           model->experts, model->experts_per_token);
}

static sl_code
fill_mtp(const sl_hf_symbols *symbols, const sl_hf_source *source, uint64_t layers, sl_model *model)
{
    if (layers == 0)
        return SL_OK;
    (void)sl_node_fail(symbols->config, source->warnings, SL_E_RANGE, "mtp_layers",
                       "layers for multi-token prediction that checkpoints hold beside the model "
                       "(%llu) are not counted: its class has none",
                       (unsigned long long)layers);
    if (sl_model_mtp_parameters(model, layers, &model->mtp_parameters) == SL_OK)
        return SL_OK;
    return sl_node_fail(symbols->config, source->err, SL_E_RANGE, "out_of_range",
                        "the layers for multi-token prediction cannot be counted in 64 bits");
}

static void
warn_defaults(const sl_hf_symbols *symbols, const sl_hf_source *source)
{
    if (symbols->defaulted[0] != '\0')
        (void)sl_node_fail_at(symbols->config, "model_type", source->warnings, SL_E_RANGE,
                              "class_defaults",
                              "taken from the %s class, since the config does not say: %s",
                              source->model_type, symbols->defaulted);
}

static void
warn_note(const sl_hf_symbols *symbols, const sl_hf_recipe *recipe, const sl_hf_source *source)
{
    uint64_t holds = 0;

    if (recipe->note_when != NULL &&
        sl_expression_value(recipe->note_when, &symbols->scope, &holds) == SL_OK && holds != 0)
        (void)sl_node_fail_at(symbols->config, "model_type", source->warnings, SL_E_RANGE,
                              "class_note", "%s", recipe->note);
}

static void
start(sl_model *model)
{
    model->kind_count = 0;
    model->layer_count = 0;
    model->block_count = 0;
    memset(model->beside, 0, sizeof model->beside);
    model->unmasked = model->biased = model->across = false;
}

/* After a fault elsewhere: what is wrong with the lists is told as well. How many blocks there are
 * may be made up by then, so a list may be too long. */
static void
check_lists(sl_hf_symbols *symbols, const sl_hf_recipe *recipe)
{
    uint64_t values[SL_HF_EACH_MAX];
    uint32_t count = 0;

    for (size_t i = 0; i < recipe->stack_count; i++) {
        uint64_t blocks = 0;
        if (strcmp(recipe->stacks[i].repeat, "1") == 0 ||
            sl_expression_value(recipe->stacks[i].repeat, &symbols->scope, &blocks) != SL_OK ||
            blocks > SL_MODEL_LAYERS_MAX)
            continue;
        for (uint64_t block = 0; block < blocks; block++) {
            if (!sl_hf_symbols_read_block(symbols, block, blocks, SL_MODEL_LAYERS_MAX, values,
                                          &count))
                return;
        }
    }
}

sl_code
sl_hf_recipe_read(const sl_hf_source *source, const sl_hf_recipe *recipe, sl_model *out)
{
    assert(source != NULL && recipe != NULL && out != NULL);

    sl_hf_symbols symbols = {.config = source->config,
                             .defaults_only = source->absent,
                             .rows = recipe->symbols,
                             .count = recipe->symbol_count,
                             .err = source->err};
    uint64_t class_index = 0;
    uint64_t mtp = 0;

    start(out);
    symbols.code = read_class(source, recipe, out, &class_index);
    sl_scope_set(&symbols.scope, "class", class_index);
    sl_scope_set(&symbols.scope, "has_head", !sl_text_ends_with(out->architecture, "Model"));
    sl_hf_symbols_read(&symbols);
    if (symbols.code != SL_OK) {
        check_lists(&symbols, recipe);
        return symbols.code;
    }
    if (source->tie != SL_HF_TIE_BY_CLASS)
        sl_scope_set(&symbols.scope, "tied", source->tie == SL_HF_TIE_ALWAYS);
    if (recipe->mtp_layers != NULL &&
        (sl_expression_value(recipe->mtp_layers, &symbols.scope, &mtp) != SL_OK ||
         mtp > SL_MODEL_LAYERS_MAX))
        return sl_node_fail(source->config, source->err, SL_E_RANGE, "out_of_range",
                            "too many layers for multi-token prediction");
    for (size_t i = 0; i < recipe->stack_count; i++) {
        const sl_code code = add_stack(&symbols, &recipe->stacks[i], mtp, out);
        if (code != SL_OK)
            return code;
    }
    fill_summary(&symbols.scope, out);
    out->loss_narrow = recipe->encoder;
    out->unpriced = find_unpriced(recipe);
    if (recipe->base != NULL && sl_text_ends_with(out->architecture, "Model"))
        sl_hf_rename(out, recipe->base, "");
    if (!has_experts(out)) {
        out->experts = 0;
        out->experts_per_token = 0;
    }
    sl_code code = check_required(&symbols, recipe);
    if (code == SL_OK)
        code = check_blocks(&symbols, out);
    if (code == SL_OK)
        code = check_counts(&symbols, out);
    if (code == SL_OK)
        code = fill_mtp(&symbols, source, mtp, out);
    if (code == SL_OK) {
        if (out->experts != 0)
            sl_hf_name_append(symbols.defaulted, sizeof symbols.defaulted,
                              symbols.defaulted_experts);
        warn_defaults(&symbols, source);
        warn_note(&symbols, recipe, source);
    }
    return code;
}

sl_code
sl_hf_recipe_add_towers(const sl_node *config, const sl_hf_symbol *symbols, size_t symbol_count,
                        const sl_stack *stacks, size_t stack_count, sl_model *model,
                        sl_errors *warnings, sl_errors *err)
{
    assert(config != NULL && model != NULL && warnings != NULL && err != NULL);

    sl_hf_symbols read = {.config = config, .rows = symbols, .count = symbol_count, .err = err};

    sl_scope_set(&read.scope, "text_hidden", model->hidden);
    sl_hf_symbols_read(&read);
    for (size_t i = 0; read.code == SL_OK && i < stack_count; i++) {
        assert(stacks[i].beside);
        read.code = add_stack(&read, &stacks[i], 0, model);
    }
    if (read.code == SL_OK)
        read.code = check_counts(&read, model);
    if (read.code == SL_OK && read.defaulted[0] != '\0')
        (void)sl_node_fail_at(config, "model_type", warnings, SL_E_RANGE, "class_defaults",
                              "taken from the classes of the towers, since the config does not "
                              "say: %s",
                              read.defaulted);
    return read.code;
}
