#include "codec/question/placement.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "json/members.h"

static const double rate_max = 1e18;

/* "3", or "0-3" with both ends. */
static bool
read_blocks(const char *text, sl_host_run *run)
{
    char first[16];
    uint64_t from = 0;
    uint64_t to = 0;
    const char *dash = strchr(text, '-');
    const size_t length = dash == NULL ? strlen(text) : (size_t)(dash - text);

    if (length >= sizeof first)
        return false;
    memcpy(first, text, length);
    first[length] = '\0';
    if (!sl_text_to_uint(first, &from))
        return false;
    to = from;
    if (dash != NULL && !sl_text_to_uint(dash + 1, &to))
        return false;
    if (to < from || to >= SL_MODEL_LAYERS_MAX)
        return false;
    run->first = (uint32_t)from;
    run->last = (uint32_t)to;
    return true;
}

static sl_code
read_run(const sl_node *entry, sl_host_run *run, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {
        {"layers", NULL}, {"device", NULL}, {"flops_per_s", NULL}, {"memory_bytes_per_s", NULL}};
    static const char *const devices[] = {"cpu"};
    const char *layers = NULL;
    uint32_t device = 0;
    sl_node needed;
    sl_code first = sl_node_object(entry, err);

    *run = (sl_host_run){0};
    if (first != SL_OK)
        return first;
    sl_keep(&first,
            sl_members_check(entry, members, sizeof members / sizeof members[0], warnings, err));
    sl_keep(&first, sl_node_required(entry, "layers", &needed, err));
    sl_keep(&first, sl_node_required(entry, "device", &needed, err));
    sl_keep(&first, sl_node_text(entry, "layers", &layers, NULL, err));
    sl_keep(&first, sl_node_choice(entry, "device", devices, 1, &device, NULL, err));
    sl_keep(&first,
            sl_node_double(entry, "flops_per_s", 1.0, rate_max, &run->flops_per_s, NULL, err));
    sl_keep(&first, sl_node_double(entry, "memory_bytes_per_s", 1.0, rate_max,
                                   &run->memory_bytes_per_s, NULL, err));
    if (layers == NULL || read_blocks(layers, run))
        return first;
    const sl_code code =
        sl_node_fail_at(entry, "layers", err, SL_E_RANGE, "out_of_range",
                        "must be a block or a range of blocks, from 0 on, got \"%.40s\"", layers);
    sl_hint(err, "0-3");
    return code;
}

sl_code
sl_placement_read(const sl_node *parallelism, sl_plan *plan, sl_errors *warnings, sl_errors *err)
{
    assert(parallelism != NULL && plan != NULL && err != NULL);

    sl_code first = SL_OK;
    sl_node list;
    sl_node entry;

    plan->host_run_count = 0;
    if (!sl_node_member(parallelism, "placement", &list))
        return SL_OK;
    if (sl_node_kind(&list) != SL_JSON_ARRAY)
        return sl_node_fail(&list, err, SL_E_RANGE, "wrong_type",
                            "must be a list of blocks and where they run");
    if (sl_node_count(&list) > SL_HOST_RUNS_MAX)
        return sl_node_fail(&list, err, SL_E_UNSUPPORTED, "not_modelled",
                            "at most %d runs of blocks are modelled, got %zu", SL_HOST_RUNS_MAX,
                            sl_node_count(&list));
    for (size_t i = 0; sl_node_at(&list, i, &entry); i++)
        sl_keep(&first, read_run(&entry, &plan->host_runs[plan->host_run_count++], warnings, err));
    return first;
}

void
sl_placement_write(sl_writer *writer, const sl_plan *plan)
{
    assert(writer != NULL && plan != NULL);

    sl_write_key(writer, "placement");
    sl_write_array(writer);
    for (uint32_t i = 0; i < plan->host_run_count; i++) {
        const sl_host_run *run = &plan->host_runs[i];
        char layers[32] = "";
        const bool fits =
            sl_text_format(layers, sizeof layers, "%" PRIu32 "-%" PRIu32, run->first, run->last);
        assert(fits);
        (void)fits;
        sl_write_object(writer);
        sl_put_text(writer, "layers", layers);
        sl_put_text(writer, "device", "cpu");
        sl_put_known_double(writer, "flops_per_s", run->flops_per_s);
        sl_put_known_double(writer, "memory_bytes_per_s", run->memory_bytes_per_s);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}
