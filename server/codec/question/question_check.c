/* Whether a request that was read can be answered: the engine's rules, at the places of the
 * request. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/question/question.h"
#include "codec/question/question_parts.h"
#include "engine/placement/states.h"
#include "json/members.h"

#define PRODUCTS "tensor * pipeline * context: "

enum { HINTED_PRODUCT_MAX = 1 << 16 };

/* Divisors of the number of accelerators, as far as a hint has room. */
static void
hint_products(uint64_t world, sl_errors *err)
{
    char list[sizeof err->list[0].hint] = "";
    size_t size = 0;
    for (uint64_t divisor = 1; divisor <= world && divisor <= HINTED_PRODUCT_MAX; divisor++) {
        if (world % divisor != 0)
            continue;
        char entry[24];
        (void)sl_text_format(entry, sizeof entry, "%s%llu", divisor > 1 ? ", " : "",
                             (unsigned long long)divisor);
        const size_t length = strlen(entry);
        if (size + length >= sizeof list - sizeof PRODUCTS)
            break;
        memcpy(list + size, entry, length + 1);
        size += length;
    }
    sl_hint(err, PRODUCTS "%s", list);
}

/* For a bare number of parameters; the engine judges the rest. A cluster without a number of nodes
 * only says which accelerator to count in. */
static sl_code
check_world(const sl_estimate_request *request, sl_errors *err)
{
    const uint64_t world = sl_plan_world(&request->plan);
    sl_node nodes;
    if (!request->has_cluster || !sl_node_member(&request->cluster_object, "nodes", &nodes))
        return SL_OK;
    const uint64_t available = sl_cluster_accelerators(&request->cluster);
    if (world == available)
        return SL_OK;
    return sl_fail(
        err, SL_E_RANGE, "world_size_mismatch", "/parallelism",
        "tensor x pipeline x context x data must be the cluster's %llu accelerators, got "
        "%llu",
        (unsigned long long)available, (unsigned long long)world);
}

/* The ranks that share one copy of the states, where nobody else judges them. */
static sl_code
check_shard_group(const sl_estimate_request *request, sl_errors *err)
{
    const sl_plan *const plan = &request->plan;
    if (request->hybrid && plan->shard_group == 0) {
        const sl_code missing =
            sl_fail(err, SL_E_RANGE, "required_field", "/parallelism/shard_group",
                    "must be given: only a cluster says how many ranks a node has");
        sl_hint(err, "8");
        return missing;
    }
    if (plan->shard_group == 0 || plan->data % plan->shard_group == 0)
        return SL_OK;
    const sl_code code =
        sl_fail(err, SL_E_RANGE, "not_divisible",
                request->copies > 1 ? "/parallelism/replicate" : "/parallelism/shard_group",
                "must divide the %u data-parallel ranks, got %u", plan->data, plan->shard_group);
    sl_hint_divisors(err, plan->data, plan->data, plan->data);
    return code;
}

/* The engine speaks of stage and group; a request may have said FSDP's words for them. */
static void
place_fault(const sl_estimate_request *request, sl_error *fault)
{
    const sl_node *const plan = &request->parallelism_object;
    sl_errors ignored = {0};
    const char *word = "";
    sl_node member;
    if (sl_text_equal(fault->pointer, "/parallelism/shard_group") && request->copies > 1)
        (void)sl_text_copy(fault->pointer, sizeof fault->pointer, "/parallelism/replicate");
    else if (sl_text_equal(fault->pointer, "/parallelism/shard_group") &&
             !sl_node_member(plan, "shard_group", &member))
        (void)sl_text_copy(fault->pointer, sizeof fault->pointer, "/parallelism/sharding");
    if (!sl_text_equal(fault->pointer, "/parallelism/zero_stage") || !request->sharding_said ||
        sl_node_member(plan, "zero_stage", &member) ||
        sl_node_text(plan, "sharding", &word, NULL, &ignored) != SL_OK)
        return;
    char message[sizeof fault->message];
    (void)sl_text_format(message, sizeof message, "%s is stage %u: %s", word,
                         request->plan.zero_stage, fault->message);
    (void)sl_text_copy(fault->message, sizeof fault->message, message);
    (void)sl_text_copy(fault->pointer, sizeof fault->pointer, "/parallelism/sharding");
    (void)sl_text_copy(fault->hint, sizeof fault->hint,
                       sl_framework_is_fsdp(request->workload.framework)
                           ? "full_shard, shard_grad_op, hybrid_shard, hybrid_shard_zero2"
                           : "no_shard, or framework fsdp1 or fsdp2");
}

static sl_code
check_question(const sl_estimate_request *request, const sl_question *question, sl_errors *err)
{
    sl_errors found = {.unhinted = err->unhinted};
    const sl_code code = sl_question_check(question, &found);
    for (uint32_t i = 0; i < found.count; i++) {
        place_fault(request, &found.list[i]);
        (void)sl_refail(&found.list[i], err);
    }
    err->dropped += found.dropped;
    return code;
}

/* What else is wrong where no number of replicas is right: less what follows from any one of them. */
static void
check_without_data(const sl_estimate_request *request, const sl_question *question, sl_errors *err)
{
    const uint64_t batch = question->workload.global_batch;
    const uint32_t most = batch < SL_PARALLEL_MAX ? (uint32_t)batch : SL_PARALLEL_MAX;
    sl_question other = *question;
    sl_errors then = {.unhinted = true};

    other.plan.data = question->plan.data < most ? most : question->plan.data + 1;
    (void)check_question(request, question, err);
    (void)check_question(request, &other, &then);
    sl_keep_common(err, &then);
}

static sl_code
check_request(const sl_estimate_request *request, const sl_question *question, sl_errors *err)
{
    if (!request->data_open && question != NULL)
        return check_question(request, question, err);
    if (!request->data_open) {
        sl_code alone = check_world(request, err);
        sl_keep(&alone, check_shard_group(request, err));
        return alone;
    }

    const uint64_t world = sl_cluster_accelerators(&request->cluster);
    const sl_plan *const plan = &request->plan;
    const sl_code first =
        sl_fail(err, SL_E_RANGE, "not_divisible", "/parallelism",
                "tensor x pipeline x context must divide the %llu accelerators, got %u x %u x %u",
                (unsigned long long)world, plan->tensor, plan->pipeline, plan->context);
    hint_products(world, err);

    sl_errors rest = {.unhinted = err->unhinted};
    if (question != NULL)
        check_without_data(request, question, &rest);
    for (uint32_t i = 0; i < rest.count; i++) {
        const sl_error *const fault = &rest.list[i];
        if (sl_text_equal(fault->pointer, "/parallelism") ||
            sl_text_equal(fault->pointer, "/parallelism/data"))
            continue;
        (void)sl_refail(fault, err);
    }
    return first;
}

/* Whether a fault is one that another number of accelerators may mend. */
static bool
of_count(const sl_errors *err)
{
    for (uint32_t i = 0; i < err->count; i++)
        if (sl_text_equal(err->list[i].rule, "world_size_mismatch") ||
            sl_text_equal(err->list[i].rule, "not_divisible"))
            return true;
    return false;
}

/* A plan that does not divide the usable nodes may have divided all of them; who says how many has
 * left none out. */
static void
tell_left_out(const sl_notes *notes, sl_errors *err)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        if (!sl_text_equal(notes->list[i].code, "hosts_left_out"))
            continue;
        (void)sl_fail(err, SL_E_RANGE, "hosts_left_out", "/cluster/inventory", "%.180s",
                      notes->list[i].text);
        sl_hint(err, "\"hosts\": \"all\" counts them, too");
    }
}

sl_code
sl_estimate_request_check(const sl_estimate_request *request, const sl_question *question,
                          sl_errors *err)
{
    assert(request != NULL && err != NULL);

    const sl_code code = check_request(request, question, err);
    if (code != SL_OK && request->counts_usable && of_count(err))
        tell_left_out(&request->notes, err);
    return code;
}
