/* Members of a workload that are objects of their own: documents, fp8, moe, offload. */
#include <assert.h>

#include "codec/names.h"
#include "codec/question_parts.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Packed ones attend to themselves only; others are padded, and padding is worked on like the rest. */
sl_code
sl_question_read_documents(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"mean_length", NULL}, {"packed", NULL}};
    sl_node documents;
    uint64_t length = 0;
    bool packed = true, said = false;
    if (!sl_node_member(&request->workload_object, "documents", &documents))
        return SL_OK;
    sl_code first = sl_node_object(&documents, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&documents, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_node_uint(&documents, "mean_length", 1, SL_SEQUENCE_LENGTH_MAX, &length,
                                 &said, err));
    sl_keep(&first, sl_node_bool(&documents, "packed", &packed, NULL, err));
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
    } else if (length < request->workload.sequence_length) {
        sl_notes_add(&request->notes, "documents_padded", true,
                     "documents that are not packed are padded: rates count padding, about %.0f %% "
                     "of the tokens are the documents' own",
                     100.0 * (double)length / (double)request->workload.sequence_length);
    }
    return SL_OK;
}

/* Recipes differ in scales and in what they round: nothing here weighs or times that yet. */
sl_code
sl_question_read_fp8(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {
        {"recipe", NULL}, {"primary_weights", "false"}, {"all_gather", NULL}, {"bf16_layers", ""}};
    static const char *const recipes[] = {"delayed", "current", "tensorwise",
                                          "rowwise", "block",   "mxfp8"};
    static const sl_names names = {recipes, COUNT(recipes), COUNT(recipes)};
    sl_node fp8;
    uint32_t recipe = 0;
    bool said = false;
    if (!sl_node_member(&request->workload_object, "fp8", &fp8))
        return SL_OK;
    sl_code first = sl_node_object(&fp8, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&fp8, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_names_read(&fp8, "recipe", &names, &recipe, &said, err));
    sl_keep(&first, sl_node_bool(&fp8, "all_gather", &request->workload.gather_fp8, NULL, err));
    if (first == SL_OK && request->workload.precision != SL_PRECISION_FP8)
        first = sl_node_fail_at(&request->workload_object, "fp8", err, SL_E_RANGE, "inconsistent",
                                "goes with precision fp8, got %s",
                                sl_name(&sl_precision_names, request->workload.precision));
    return first;
}

/* Free routing is as balanced as the request says; without a word on it both are priced as even. */
sl_code
sl_question_read_moe(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"balance", NULL},
                                        {"imbalance", NULL},
                                        {"capacity_factor", NULL},
                                        {"dispatcher", NULL},
                                        {"overlap", "false"}};
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
    if (said && dispatcher > 0)
        sl_notes_add(&request->notes, "dispatcher_read", true,
                     "dispatcher \"%s\" is priced as alltoall, its buffers are not counted",
                     dispatchers[dispatcher]);
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
    static const sl_member members[] = {
        {"optimizer", NULL}, {"parameters", NULL}, {"activations", NULL}};
    static const char *const places[] = {"none", "cpu", "nvme"};
    static const sl_names names = {places, 2, COUNT(places)};
    sl_offload *const offload = &request->workload.offload;
    bool *const kept[] = {&offload->optimizer, &offload->parameters, &offload->activations};
    sl_node object;
    if (!sl_node_member(&request->workload_object, "offload", &object))
        return SL_OK;
    sl_code first = sl_node_object(&object, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&object, members, COUNT(members), warnings, err));
    for (size_t i = 0; i < COUNT(members); i++) {
        uint32_t place = 0;
        bool said = false;
        sl_keep(&first, sl_names_read(&object, members[i].name, &names, &place, &said, err));
        *kept[i] = place == 1;
    }
    return first;
}
