/* slurm.conf, and what slurmd -C prints: the nodes that are planned. */
#include <assert.h>
#include <inttypes.h>

#include "base/text.h"
#include "intake/slurm/keys.h"
#include "intake/slurm/slurm.h"

static const char *const paths[SL_SLURM_ITEM_COUNT] = {
    "NodeName", "Gres", "", "Feature", "State", "Reason", "", "RealMemory", "CPUs", "", "",
};

/* The keys of an item, the usual first. */
static const struct {
    sl_slurm_item item;
    const char *key;
} keys_of[] = {
    {SL_SLURM_GRES, "Gres"},   {SL_SLURM_FEATURES, "Feature"}, {SL_SLURM_FEATURES, "Features"},
    {SL_SLURM_STATE, "State"}, {SL_SLURM_REASON, "Reason"},    {SL_SLURM_MEMORY, "RealMemory"},
    {SL_SLURM_CPUS, "CPUs"},   {SL_SLURM_CPUS, "Procs"},
};

enum { CPUS_SIZE = 32, FACTORS = 5 };

typedef struct reading {
    sl_findings *findings;
    sl_slurm_nodes *nodes;
    sl_slurm_node defaults; /* of NodeName=DEFAULT: what later lines do not say */
    uint64_t factors[FACTORS];
} reading;

static const char *const factor_keys[FACTORS] = {"Boards", "SocketsPerBoard", "Sockets",
                                                 "CoresPerSocket", "ThreadsPerCore"};

static void
take_factors(const sl_slurm_keys *keys, uint64_t factors[FACTORS])
{
    for (uint32_t i = 0; i < FACTORS; i++) {
        const char *const text = sl_slurm_keys_get(keys, factor_keys[i]);
        uint64_t value = 0;
        if (text != NULL && sl_text_to_uint(text, &value) && value > 0 && value <= 4096)
            factors[i] = value;
    }
}

/* CPUs that are not said are those of all sockets, as Slurm has it; without cores nothing is
 * said. */
static void
say_product(const uint64_t factors[FACTORS], char text[CPUS_SIZE], sl_slurm_node *node)
{
    uint64_t product = 1;

    if (node->item[SL_SLURM_CPUS].text != NULL || factors[3] == 0)
        return;
    for (uint32_t i = 0; i < FACTORS; i++)
        product *= factors[i] > 0 ? factors[i] : 1;
    (void)sl_text_format(text, CPUS_SIZE, "%" PRIu64, product);
    node->item[SL_SLURM_CPUS] = (sl_slurm_said){text, node->line};
}

static void
take_items(const sl_slurm_keys *keys, sl_slurm_node *node)
{
    bool taken[SL_SLURM_ITEM_COUNT] = {false};

    for (size_t i = 0; i < sizeof keys_of / sizeof keys_of[0]; i++) {
        const char *const value = sl_slurm_keys_get(keys, keys_of[i].key);
        if (value == NULL || taken[keys_of[i].item])
            continue;
        node->item[keys_of[i].item] = (sl_slurm_said){value, keys->line};
        taken[keys_of[i].item] = true;
    }
}

static sl_code
keep_defaults(reading *r, const sl_slurm_keys *keys, sl_errors *err)
{
    sl_slurm_node said = {.line = keys->line};

    take_items(keys, &said);
    take_factors(keys, r->factors);
    for (uint32_t i = 0; i < SL_SLURM_ITEM_COUNT; i++) {
        if (said.item[i].text == NULL)
            continue;
        const char *const kept = sl_arena_copy(sl_findings_arena(r->findings), said.item[i].text);
        if (kept == NULL)
            return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the defaults");
        r->defaults.item[i] = (sl_slurm_said){kept, said.line};
    }
    return SL_OK;
}

static sl_code
take_node(reading *r, const sl_slurm_keys *keys, const char *name, sl_errors *err)
{
    if (sl_text_equal_ignoring_case(name, "DEFAULT"))
        return keep_defaults(r, keys, err);

    sl_slurm_node node = r->defaults;
    uint64_t factors[FACTORS];
    char cpus[CPUS_SIZE];

    node.line = keys->line;
    node.paths = paths;
    node.item[SL_SLURM_NAME] = (sl_slurm_said){name, keys->line};
    take_items(keys, &node);
    for (uint32_t i = 0; i < FACTORS; i++)
        factors[i] = r->factors[i];
    take_factors(keys, factors);
    say_product(factors, cpus, &node);
    return sl_slurm_node_add(r->nodes, &node, err);
}

/* "DownNodes=gpu[1-2] State=DOWN Reason=dust". */
static sl_code
take_down(reading *r, const sl_slurm_keys *keys, const char *names, sl_errors *err)
{
    sl_slurm_node node = {.line = keys->line, .paths = paths};

    node.item[SL_SLURM_NAME] = (sl_slurm_said){names, keys->line};
    node.item[SL_SLURM_STATE] = (sl_slurm_said){"DOWN", keys->line};
    take_items(keys, &node);
    return sl_slurm_node_add(r->nodes, &node, err);
}

static sl_code
take_line(reading *r, const sl_slurm_keys *keys, sl_errors *err)
{
    const char *const node = sl_slurm_keys_get(keys, "NodeName");
    const char *const down = sl_slurm_keys_get(keys, "DownNodes");
    const char *const cluster = sl_slurm_keys_get(keys, "ClusterName");

    if (keys->too_long)
        sl_findings_warn(r->findings, "too_long", keys->line, NULL,
                         "a line is too long to be read");
    else if (node != NULL)
        return take_node(r, keys, node, err);
    else if (down != NULL)
        return take_down(r, keys, down, err);
    else if (cluster != NULL)
        sl_findings_cluster_name(r->findings, cluster);
    else if (sl_text_equal_ignoring_case(keys->list[0].key, "include"))
        sl_findings_warn(r->findings, "include", keys->line, "Include",
                         "an included file is not here: its nodes are missing unless it is sent "
                         "along");
    return SL_OK;
}

static uint32_t
recognise_conf(const sl_sample *sample)
{
    static const char *const keys[] = {"CPUs=",         "Procs=", "RealMemory=", "Sockets",
                                       "Gres=",         "State=", "Feature",     "NodeAddr=",
                                       "NodeHostname=", "Weight="};

    if (sample->shape != SL_SHAPE_TEXT)
        return 0;
    if (sl_slurm_line_begins(sample, "ClusterName=") &&
        (sl_slurm_line_begins(sample, "SlurmctldHost=") ||
         sl_slurm_line_begins(sample, "ControlMachine=") ||
         sl_slurm_line_begins(sample, "PartitionName=")))
        return 96;
    if (sl_slurm_is_shown(sample))
        return 0;
    if (!sl_slurm_line_begins(sample, "NodeName="))
        return sl_slurm_line_begins(sample, "PartitionName=")                                 ? 60
               : sl_slurm_line_begins(sample, "Include ") && sl_sample_holds(sample, ".conf") ? 40
                                                                                              : 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (sl_text_holds_ignoring_case(sample->head, keys[i]))
            return 85;
    return 40;
}

static sl_code
read_conf(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    const uint32_t before = sl_findings_count(findings);
    reading r = {.findings = findings};
    sl_slurm_keys keys;

    sl_code code = sl_slurm_nodes_new(findings, &r.nodes, err);
    sl_slurm_keys_init(&keys, raw);
    while (code == SL_OK && sl_slurm_keys_next(&keys))
        code = take_line(&r, &keys, err);
    sl_slurm_keys_clear(&keys);
    return code == SL_OK ? sl_slurm_need_hosts(findings, before, err) : code;
}

const sl_format sl_slurm_conf_format = {"slurm_conf", "slurm.conf", recognise_conf, read_conf, 40};
