/* The workload's adapter: what trains in place of the weights. */
#include <string.h>

#include "base/text.h"
#include "codec/question/names.h"
#include "codec/question/question_parts.h"
#include "engine/placement/adapter.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* What a method takes, and PEFT's defaults; 0 = the method has no such thing. Prompts have no
 * default there: 20 is that of its guides. */
typedef struct takes {
    uint32_t rank, block_size, virtual_tokens;
    bool targets;
} takes;

static const takes methods[SL_ADAPTER_METHOD_COUNT] = {
    [SL_ADAPTER_LORA] = {.rank = 16, .targets = true},
    [SL_ADAPTER_RSLORA] = {.rank = 16, .targets = true},
    [SL_ADAPTER_DORA] = {.rank = 16, .targets = true},
    [SL_ADAPTER_LORA_FA] = {.rank = 16, .targets = true},
    [SL_ADAPTER_ADALORA] = {.rank = 12, .targets = true},
    [SL_ADAPTER_LOHA] = {.rank = 8, .targets = true},
    [SL_ADAPTER_LOKR] = {.rank = 8, .targets = true},
    [SL_ADAPTER_VERA] = {.rank = 256, .targets = true},
    [SL_ADAPTER_RANDLORA] = {.rank = 32, .targets = true},
    [SL_ADAPTER_TINYLORA] = {.rank = 2, .targets = true},
    [SL_ADAPTER_IA3] = {.targets = true},
    [SL_ADAPTER_OFT] = {.rank = 1, .block_size = 32, .targets = true},
    [SL_ADAPTER_BOFT] = {.block_size = 4, .targets = true},
    [SL_ADAPTER_LN_TUNING] = {0},
    [SL_ADAPTER_PROMPT_TUNING] = {.virtual_tokens = 20},
    [SL_ADAPTER_P_TUNING] = {.virtual_tokens = 20},
    [SL_ADAPTER_PREFIX_TUNING] = {.virtual_tokens = 20},
};

/* Of a regular expression only .* is read: what else it may hold is refused. */
static sl_code
read_target(const sl_node *entry, sl_adapter *out, sl_errors *err)
{
    const char *name = NULL;
    const sl_code code = sl_node_as_text(entry, &name, err);
    if (code != SL_OK)
        return code;
    if (strpbrk(name, "()[]{}|^$\\+?") != NULL) {
        const sl_code refused = sl_node_fail(entry, err, SL_E_UNSUPPORTED, "not_modelled",
                                             "of regular expressions only .* is read");
        sl_hint(err, "a list of names such as q_proj, or patterns such as mlp.*");
        return refused;
    }
    if (*name == '\0' ||
        !sl_text_copy(out->targets[out->target_count], sizeof out->targets[0], name))
        return sl_node_fail(entry, err, SL_E_RANGE, "out_of_range",
                            "must be a module's name of at most %d bytes", SL_ADAPTER_TARGET_MAX);
    out->target_count++;
    return SL_OK;
}

static sl_code
read_targets(const sl_node *adapter, sl_adapter *out, sl_errors *err)
{
    sl_node targets;
    sl_node entry;
    if (!sl_node_member(adapter, "targets", &targets) ||
        (sl_node_kind(&targets) == SL_JSON_ARRAY && sl_node_count(&targets) == 0))
        return SL_OK;
    if (!methods[out->method].targets)
        return sl_node_fail(&targets, err, SL_E_RANGE, "conflicting_fields",
                            "%s adds to no linear layer",
                            sl_name(&sl_adapter_names, out->method - 1));
    if (sl_node_kind(&targets) == SL_JSON_TEXT)
        return read_target(&targets, out, err);
    if (sl_node_kind(&targets) != SL_JSON_ARRAY)
        return sl_node_fail(&targets, err, SL_E_RANGE, "wrong_type",
                            "must be a list of module names");
    if (sl_node_count(&targets) > SL_ADAPTER_TARGETS_MAX)
        return sl_node_fail(&targets, err, SL_E_RANGE, "out_of_range",
                            "must name at most %d modules, got %zu", SL_ADAPTER_TARGETS_MAX,
                            sl_node_count(&targets));
    for (size_t i = 0; sl_node_at(&targets, i, &entry); i++) {
        const sl_code code = read_target(&entry, out, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

/* A count that some methods take: refused with the others, PEFT's default where it is not said. */
static sl_code
read_count(sl_estimate_request *request, const sl_node *object, const char *member, uint32_t preset,
           uint32_t *out, sl_errors *err)
{
    const sl_adapter *adapter = &request->workload.adapter;
    uint64_t value = preset;
    bool said = false;

    const sl_code code = sl_node_uint(object, member, 1, 4096, &value, &said, err);
    if (code != SL_OK)
        return code;
    if (said && preset == 0)
        return sl_node_fail_at(object, member, err, SL_E_RANGE, "conflicting_fields",
                               "%s has no %s", sl_name(&sl_adapter_names, adapter->method - 1),
                               member);
    *out = (uint32_t)value;
    return SL_OK;
}

static sl_code
read_counts(sl_estimate_request *request, const sl_node *object, sl_errors *err)
{
    sl_adapter *const adapter = &request->workload.adapter;
    const takes *preset = &methods[adapter->method];
    sl_node ignored;
    const bool rank_said = sl_node_member(object, "rank", &ignored);
    const bool block_said = sl_node_member(object, "block_size", &ignored);
    sl_code first = SL_OK;

    if (rank_said && block_said && preset->rank > 0 && preset->block_size > 0)
        return sl_node_fail_at(object, "block_size", err, SL_E_RANGE, "conflicting_fields",
                               "rank says how many blocks there are: give one of the two");
    sl_keep(&first, read_count(request, object, "rank", preset->rank, &adapter->rank, err));
    sl_keep(&first, read_count(request, object, "block_size", preset->block_size,
                               &adapter->block_size, err));
    sl_keep(&first, read_count(request, object, "virtual_tokens", preset->virtual_tokens,
                               &adapter->virtual_tokens, err));
    if (adapter->method == SL_ADAPTER_OFT && rank_said)
        adapter->block_size = 0;
    else if (adapter->method == SL_ADAPTER_OFT)
        adapter->rank = 0;
    if (adapter->rank > 0 && !rank_said)
        sl_notes_add(&request->notes, "adapter_rank_assumed", false,
                     "adapter.rank was not given: %u", adapter->rank);
    if (adapter->block_size > 0 && !block_said)
        sl_notes_add(&request->notes, "adapter_block_assumed", false,
                     "adapter.block_size was not given: %u", adapter->block_size);
    if (adapter->virtual_tokens > 0 && !sl_node_member(object, "virtual_tokens", &ignored))
        sl_notes_add(&request->notes, "adapter_tokens_assumed", false,
                     "adapter.virtual_tokens was not given: %u", adapter->virtual_tokens);
    return first;
}

/* Quantised layers alone leave something that is not. */
static sl_code
read_storage(sl_estimate_request *request, const sl_node *object, sl_errors *err)
{
    static const char *const words[] = {"fp32", "bf16"};
    static const sl_names names = {words, COUNT(words), COUNT(words)};
    sl_adapter *const adapter = &request->workload.adapter;
    uint32_t base = SL_ADAPTER_BASE_BF16, rest = 1;
    uint32_t own = sl_adapter_half_by_default(&request->workload) ? 1 : 0;
    bool said = false;
    sl_code first = SL_OK;

    sl_keep(&first, sl_names_read(object, "base", &sl_base_names, &base, &said, err));
    sl_keep(&first, sl_names_read(object, "dtype", &names, &own, &said, err));
    sl_keep(&first, sl_node_bool(object, "fused", &adapter->fused, NULL, err));
    adapter->autocast = sl_adapter_autocast_by_default(&request->workload);
    sl_keep(&first, sl_node_bool(object, "autocast", &adapter->autocast, NULL, err));
    said = false;
    sl_keep(&first, sl_names_read(object, "unquantized", &names, &rest, &said, err));
    if (first == SL_OK && !said && base != SL_ADAPTER_BASE_BF16)
        sl_notes_add(
            &request->notes, "adapter_unquantized_assumed", false,
            "adapter.unquantized was not given: bf16; PEFT's prepare_model_for_kbit_training "
            "casts embedding, norms and head to fp32");
    if (first == SL_OK && rest == 0 && base == SL_ADAPTER_BASE_BF16)
        first = sl_node_fail_at(object, "unquantized", err, SL_E_RANGE, "inconsistent",
                                "fp32 goes with a quantised base, got bf16");
    sl_keep(&first,
            sl_node_bool(object, "base_keeps_inputs", &adapter->base_keeps_inputs, NULL, err));
    if (first == SL_OK && adapter->base_keeps_inputs && base == SL_ADAPTER_BASE_BF16)
        first = sl_node_fail_at(object, "base_keeps_inputs", err, SL_E_RANGE, "inconsistent",
                                "goes with a quantised base, got bf16");
    adapter->base = (sl_adapter_base)base;
    adapter->half = own == 1;
    adapter->wide_rest = rest == 0;
    return first;
}

/* What becomes of inputs before the first half reads them. */
static sl_code
read_inputs(const sl_node *object, sl_adapter *out, sl_errors *err)
{
    static const double ratio_max = 0.99;
    sl_code first = SL_OK;

    sl_keep(&first,
            sl_node_double(object, "dropout", 0.0, ratio_max, &out->dropout_ratio, NULL, err));
    sl_keep(&first,
            sl_node_bool(object, "sequence_parallel_input_regather", &out->regathers, NULL, err));
    if (out->dropout_ratio > 0.0 && !sl_adapter_drops(out->method))
        sl_keep(&first, sl_node_fail_at(object, "dropout", err, SL_E_RANGE, "conflicting_fields",
                                        "is modelled of lora, rslora and adalora, not of %s",
                                        sl_name(&sl_adapter_names, out->method - 1)));
    if (out->dropout_ratio > 0.0 && out->fused)
        sl_keep(&first, sl_node_fail_at(object, "dropout", err, SL_E_RANGE, "conflicting_fields",
                                        "fused kernels have none"));
    return first;
}

sl_code
sl_question_read_adapter(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"method", NULL},
                                        {"rank", NULL},
                                        {"block_size", NULL},
                                        {"virtual_tokens", NULL},
                                        {"dtype", NULL},
                                        {"targets", NULL},
                                        {"base", NULL},
                                        {"unquantized", NULL},
                                        {"base_keeps_inputs", NULL},
                                        {"fused", NULL},
                                        {"autocast", NULL},
                                        {"dropout", NULL},
                                        {"sequence_parallel_input_regather", NULL}};
    sl_adapter *const adapter = &request->workload.adapter;
    uint32_t method = SL_ADAPTER_LORA - 1;
    bool said = false;
    sl_node object;
    if (!sl_node_member(&request->workload_object, "adapter", &object))
        return SL_OK;
    sl_code first = sl_node_object(&object, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&object, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_names_read(&object, "method", &sl_adapter_names, &method, &said, err));
    if (first != SL_OK)
        return first;
    adapter->method = (sl_adapter_method)(method + 1);
    sl_keep(&first, read_counts(request, &object, err));
    sl_keep(&first, read_storage(request, &object, err));
    sl_keep(&first, read_inputs(&object, adapter, err));
    sl_keep(&first, read_targets(&object, adapter, err));
    if (first == SL_OK && adapter->target_count == 0 && methods[adapter->method].targets)
        sl_notes_add(&request->notes, "adapter_targets_assumed", false,
                     adapter->method == SL_ADAPTER_IA3
                         ? "adapter.targets was not given: keys, values and what closes the MLP"
                         : "adapter.targets was not given: every linear layer of the blocks");
    return first;
}
