/* Members of a workload that are objects of their own: documents, fp8, moe, offload. */
#include <assert.h>

#include "base/text.h"
#include "codec/question/names.h"
#include "codec/question/question_parts.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

bool
sl_request_tunes(const sl_estimate_request *request)
{
    return sl_text_equal(sl_name(&sl_kind_names, request->kind), "finetuning");
}

/* Padded ones, by as much as `padding` says; padding is worked on like the rest. */
static void
note_padded(sl_estimate_request *request)
{
    const uint64_t mean = request->padded_length;
    const uint64_t sequence = request->workload.sequence_length;
    if (request->workload.lengths_vary)
        sl_notes_add(&request->notes, "documents_longest", true,
                     "batches are padded to their longest document: those of the sequence length "
                     "asked for are priced, others take less; lengths that vary leave segments "
                     "idle, three tenths of what goes by tokens in LitGPT's runs, up to one and a "
                     "half times that many bytes in most of torchtune's");
    else if (mean < sequence)
        sl_notes_add(&request->notes, "documents_padded", true,
                     "documents that are not packed are padded: rates count padding, about %.0f %% "
                     "of the tokens are the documents' own",
                     100.0 * (double)mean / (double)sequence);
}

/* Packed ones attend to themselves only. */
sl_code
sl_question_read_documents(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"mean_length", NULL}, {"packed", NULL}, {"padding", NULL}};
    sl_node documents;
    uint64_t length = 0;
    uint32_t padding = 0;
    bool packed = true, said = false, padded = false;
    if (!sl_node_member(&request->workload_object, "documents", &documents)) {
        if (sl_request_tunes(request))
            sl_notes_add(&request->notes, "lengths_alike", false,
                         "all batches have sequences of one length: padded to the longest of each "
                         "they reserve more (documents.padding)");
        return SL_OK;
    }
    sl_code first = sl_node_object(&documents, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&documents, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_node_uint(&documents, "mean_length", 1, SL_SEQUENCE_LENGTH_MAX, &length,
                                 &said, err));
    sl_keep(&first, sl_node_bool(&documents, "packed", &packed, NULL, err));
    sl_keep(&first,
            sl_names_read(&documents, "padding", &sl_padding_names, &padding, &padded, err));
    if (first == SL_OK && packed && padded)
        first = sl_node_fail_at(&documents, "padding", err, SL_E_RANGE, "inconsistent",
                                "is of documents that are not packed");
    if (first == SL_OK && !said)
        first = sl_node_fail_at(&documents, "mean_length", err, SL_E_RANGE, "required_field",
                                "is required");
    if (first != SL_OK)
        return first;
    if (packed) {
        request->workload.document_length = length;
        sl_notes_add(
            &request->notes, "documents_alike", true,
            "packed documents are priced as %llu positions each: longer ones among shorter "
            "ones cost more attention than their mean",
            (unsigned long long)length);
        return SL_OK;
    }
    request->padded_length = length;
    request->workload.lengths_vary = padding == 1;
    note_padded(request);
    return SL_OK;
}

/* How many of the last blocks stay in 16 bits, or which blocks do. */
static sl_code
read_half_blocks(sl_estimate_request *request, const sl_node *fp8, sl_errors *err)
{
    sl_node member;
    sl_node entry;
    if (!sl_node_member(fp8, "bf16_layers", &member))
        return SL_OK;
    if (sl_node_kind(&member) != SL_JSON_ARRAY) {
        uint64_t last = 0;
        const sl_code code = sl_node_as_uint(&member, 0, SL_MODEL_LAYERS_MAX, &last, err);
        request->half_last = (uint32_t)last;
        return code;
    }
    for (size_t i = 0; sl_node_at(&member, i, &entry); i++) {
        uint64_t block = 0;
        const sl_code code = sl_node_as_uint(&entry, 0, SL_MODEL_LAYERS_MAX - 1, &block, err);
        if (code != SL_OK)
            return code;
        request->half_blocks[block] = true;
        if (block >= request->half_count)
            request->half_count = (uint32_t)block + 1;
    }
    return SL_OK;
}

/* MXFP8 is a precision by its own name and a recipe of fp8: both say the same. */
static sl_code
settle_recipe(sl_estimate_request *request, const sl_node *fp8, sl_errors *err)
{
    sl_workload *const workload = &request->workload;
    const sl_recipe recipe = workload->fp8.recipe;
    if (!sl_precision_is_low(workload->precision)) {
        const sl_code code =
            sl_node_fail_at(&request->workload_object, "fp8", err, SL_E_RANGE, "inconsistent",
                            "goes with precision fp8, mxfp8 and nvfp4, got %s",
                            sl_name(&sl_precision_names, workload->precision));
        sl_hint(err, "leave it out, or precision %s", recipe == SL_RECIPE_MXFP8 ? "mxfp8" : "fp8");
        return code;
    }
    if (recipe == SL_RECIPE_MXFP8 && workload->precision == SL_PRECISION_FP8)
        workload->precision = SL_PRECISION_MXFP8;
    if (recipe == SL_RECIPE_DEFAULT || workload->precision == SL_PRECISION_FP8 ||
        (recipe == SL_RECIPE_MXFP8 && workload->precision == SL_PRECISION_MXFP8))
        return SL_OK;
    return sl_node_fail_at(fp8, "recipe", err, SL_E_RANGE, "inconsistent",
                           "scales fp8, and precision is %s",
                           sl_name(&sl_precision_names, workload->precision));
}

sl_code
sl_question_read_fp8(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"recipe", NULL},
                                        {"primary_weights", NULL},
                                        {"transpose_cache", NULL},
                                        {"activation_input_store", NULL},
                                        {"dot_product_attention", NULL},
                                        {"all_gather", NULL},
                                        {"bf16_layers", NULL}};
    sl_workload *const workload = &request->workload;
    sl_node fp8;
    uint32_t recipe = 0;
    bool said = false, eight_bits = false, cached = true;
    if (!sl_node_member(&request->workload_object, "fp8", &fp8))
        return SL_OK;
    sl_code first = sl_node_object(&fp8, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&fp8, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_names_read(&fp8, "recipe", &sl_recipe_names, &recipe, &said, err));
    if (said)
        workload->fp8.recipe = (sl_recipe)(SL_RECIPE_DELAYED + recipe);
    sl_keep(&first,
            sl_node_bool(&fp8, "primary_weights", &workload->fp8.primary_weights, NULL, err));
    sl_keep(&first, sl_node_bool(&fp8, "transpose_cache", &cached, NULL, err));
    workload->fp8.transposed_anew = !cached;
    sl_keep(&first, sl_node_bool(&fp8, "activation_input_store", &workload->fp8.activation_inputs,
                                 NULL, err));
    sl_keep(&first,
            sl_node_bool(&fp8, "dot_product_attention", &workload->fp8.attention, NULL, err));
    sl_keep(&first, sl_node_bool(&fp8, "all_gather", &eight_bits, NULL, err));
    sl_keep(&first, read_half_blocks(request, &fp8, err));
    if (first == SL_OK)
        first = settle_recipe(request, &fp8, err);
    if (eight_bits)
        workload->gather = SL_WIRE_FP8;
    if (first == SL_OK && eight_bits && workload->framework == SL_FRAMEWORK_MEGATRON &&
        !workload->fp8.primary_weights) {
        first = sl_node_fail_at(&fp8, "all_gather", err, SL_E_RANGE, "inconsistent",
                                "megatron gathers weights as it stores them: primary_weights says "
                                "whether that is in 8 bits");
        sl_hint(err, "leave it out, or primary_weights true");
    }
    return first;
}

sl_code
sl_estimate_request_model(const sl_estimate_request *request, sl_model *model, sl_errors *err)
{
    assert(request != NULL && model != NULL && err != NULL);

    static const char pointer[] = "/workload/fp8/bf16_layers";
    bool half[SL_MODEL_LAYERS_MAX];
    const uint32_t most =
        request->half_count > request->half_last ? request->half_count : request->half_last;
    if (most == 0)
        return SL_OK;
    if (sl_model_is_plain(model))
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                       "a list of layers runs in one precision");
    if (most > model->block_count) {
        const sl_code code = sl_fail(err, SL_E_RANGE, "out_of_range", pointer,
                                     "must be of the %u blocks of the model", model->block_count);
        sl_hint(err, "0 to %u",
                request->half_last > 0 ? model->block_count : model->block_count - 1);
        return code;
    }
    for (uint32_t i = 0; i < model->block_count; i++)
        half[i] = request->half_blocks[i] || i + request->half_last >= model->block_count;
    return sl_model_keep_half(model, half, model->block_count, err);
}

/* Free routing is as balanced as the request says; without a word on it both are priced as even. */
sl_code
sl_question_read_moe(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"balance", NULL},
                                        {"imbalance", NULL},
                                        {"capacity_factor", NULL},
                                        {"dispatcher", NULL},
                                        {"overlap", NULL}};
    static const char *const balances[] = {"forced", "free"};
    static const char *const dispatchers[] = {"alltoall", "deepep", "hybridep"};
    static const sl_names balance_names = {balances, COUNT(balances), COUNT(balances)};
    static const sl_names dispatcher_names = {dispatchers, COUNT(dispatchers), COUNT(dispatchers)};
    sl_node moe;
    uint32_t balance = 0, dispatcher = 0;
    bool said = false, free_said = false;
    if (!sl_node_member(&request->workload_object, "moe", &moe))
        return SL_OK;
    sl_code first = sl_node_object(&moe, err);
    if (first != SL_OK)
        return first;
    request->workload.routing_said = true;
    sl_keep(&first, sl_members_check(&moe, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_names_read(&moe, "balance", &balance_names, &balance, &free_said, err));
    sl_keep(&first, sl_names_read(&moe, "dispatcher", &dispatcher_names, &dispatcher, &said, err));
    request->balance = free_said ? balances[balance] : NULL;
    request->workload.forced = free_said && balance == 0;
    request->dispatcher = said ? dispatchers[dispatcher] : NULL;
    if (said)
        request->workload.dispatch = dispatcher == 0 ? SL_DISPATCH_COPIES : SL_DISPATCH_ONCE;
    if (said && dispatcher > 0)
        sl_notes_add(
            &request->notes, "dispatcher_read", true,
            "dispatcher \"%s\" sends a token once to each node, whose ranks pass it on; its "
            "buffers are not counted",
            dispatchers[dispatcher]);
    sl_keep(&first, sl_node_bool(&moe, "overlap", &request->plan.overlap_experts, NULL, err));
    said = false;
    sl_keep(&first,
            sl_node_double(&moe, "imbalance", 1, 4096, &request->workload.imbalance, &said, err));
    bool padded = false;
    double capacity = 0;
    sl_keep(&first, sl_node_double(&moe, "capacity_factor", 1, 4096, &capacity, &padded, err));
    if (padded && said)
        sl_keep(&first, sl_node_fail_at(&moe, "imbalance", err, SL_E_RANGE, "conflicting_fields",
                                        "experts padded to capacity_factor all work on as much"));
    if (said && free_said && balance == 0 && request->workload.imbalance > 1)
        sl_keep(&first, sl_node_fail_at(&moe, "imbalance", err, SL_E_RANGE, "conflicting_fields",
                                        "forced balance is even"));
    request->workload.capacity = capacity;
    if (free_said && balance == 1 && !said && !padded)
        sl_notes_add(&request->notes, "imbalance_open", true,
                     "free routing without an imbalance is counted as even: 1.3 to 2 is safe for "
                     "routers that are not trained yet");
    return first;
}

sl_code
sl_question_read_offload(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"optimizer", NULL},
                                        {"parameters", NULL},
                                        {"activations", NULL},
                                        {"activation_layers", NULL},
                                        {"optimizer_fraction", NULL}};
    static const char *const places[] = {"none", "cpu", "nvme"};
    static const sl_names names = {places, COUNT(places), COUNT(places)};
    static const sl_names in_host = {places, 2, COUNT(places)}; /* activations */
    sl_offload *const offload = &request->workload.offload;
    bool *const kept[] = {&offload->optimizer, &offload->parameters, &offload->activations};
    uint64_t layers = 0;
    bool never = false;
    bool *const further[] = {&offload->optimizer_on_nvme, &offload->parameters_on_nvme, &never};
    sl_node object;
    if (!sl_node_member(&request->workload_object, "offload", &object))
        return SL_OK;
    sl_code first = sl_node_object(&object, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&object, members, COUNT(members), warnings, err));
    for (size_t i = 0; i < COUNT(kept); i++) {
        uint32_t place = 0;
        bool said = false;
        sl_keep(&first, sl_names_read(&object, members[i].name, i < 2 ? &names : &in_host, &place,
                                      &said, err));
        *kept[i] = place > 0;
        *further[i] = place == 2;
    }
    sl_keep(&first,
            sl_node_uint(&object, "activation_layers", 1, SL_MODEL_LAYERS_MAX, &layers, NULL, err));
    offload->activation_layers = (uint32_t)layers;
    sl_keep(&first, sl_node_double(&object, "optimizer_fraction", 0.01, 1,
                                   &offload->optimizer_fraction, NULL, err));
    return first;
}
