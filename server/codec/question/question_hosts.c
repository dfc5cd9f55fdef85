/* Which hosts of a stored pool a plan may use. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/host_status.h"
#include "codec/question/question_parts.h"
#include "json/members.h"

sl_code
sl_question_read_hosts(sl_estimate_request *request, sl_errors *err)
{
    static const char *const words[] = {"healthy", "all"};
    const sl_node *const object = &request->cluster_object;
    uint32_t chosen = 0;
    bool said = false;
    sl_code first = sl_node_choice(object, "hosts", words, 2, &chosen, &said, err);
    request->all_hosts = chosen == 1;
    if (said && request->inventory == NULL)
        sl_keep(&first, sl_node_fail_at(object, "hosts", err, SL_E_RANGE, "conflicting_fields",
                                        "needs \"inventory\": it is about hosts of one"));
    return first;
}

static sl_code
refuse(const sl_node *object, const sl_pool_hosts *pool, sl_errors *err)
{
    (void)sl_node_fail_at(object, "nodes", err, SL_E_RANGE, "not_enough_hosts", "%s",
                          pool->left_out);
    if (pool->usable > 0)
        sl_hint(err, "%" PRIu64 ", or \"hosts\": \"all\"", pool->usable);
    else
        sl_hint(err, "\"hosts\": \"all\"");
    return SL_E_RANGE;
}

sl_code
sl_question_check_hosts(sl_estimate_request *request, const sl_node *object, const char *name,
                        uint64_t *nodes, sl_errors *err)
{
    assert(request != NULL && object != NULL && nodes != NULL && err != NULL);

    const sl_pool_hosts *const pool =
        request->hosts == NULL ? NULL : sl_host_status_pool(request->hosts, name);
    sl_node said;
    if (pool == NULL || pool->left_out == NULL)
        return SL_OK;
    if (request->all_hosts) {
        sl_notes_add(&request->notes, "hosts_all", false, "every host is used, as asked: %s",
                     pool->left_out);
        return SL_OK;
    }
    if (!sl_node_member(object, "nodes", &said)) {
        *nodes = pool->usable;
        request->counts_usable = true;
    }
    if (*nodes > pool->usable || *nodes == 0)
        return refuse(object, pool, err);
    sl_notes_add(&request->notes, "hosts_left_out", false, "%s", pool->left_out);
    /* Equal answers need as many usable nodes, and not only the same spec. */
    char text[SL_HASH_TEXT_SIZE + 32];
    const bool fits =
        sl_text_format(text, sizeof text, "%s %" PRIu64, request->inventory_hash, pool->usable);
    assert(fits);
    sl_hash_text(text, strlen(text), request->inventory_hash);
    return SL_OK;
}
