/* Files that say different things of one cluster, merged into an inventory to look at. */
#include "intake/draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "catalogued.h"
#include "harness.h"

static const double MIB = 1048576;

static sl_catalog *catalog;

/* One cluster on the way from what files say to a spec. */
typedef struct drafting {
    sl_arena *arena;
    sl_findings *findings;
    sl_draft *draft;
    sl_errors err;
} drafting;

static drafting
begin(void)
{
    drafting d = {.arena = sl_arena_new(64 << 20)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(d.arena);
    d.findings = sl_findings_new(d.arena, catalog);
    d.draft = calloc(1, sizeof *d.draft);
    CU_ASSERT_FATAL(d.findings != NULL && d.draft != NULL);
    return d;
}

static void
end(drafting *d)
{
    free(d->draft);
    sl_arena_free(d->arena);
}

static void
file(drafting *d, const char *format)
{
    CU_ASSERT_EQUAL_FATAL(sl_findings_file(d->findings, "", format, &d->err), SL_OK);
}

static void
add(drafting *d, const sl_found_host *host, const sl_facts *facts)
{
    CU_ASSERT_EQUAL_FATAL(sl_findings_add(d->findings, host, facts, &d->err), SL_OK);
}

/* Nodes as a scheduler tells of them: a type and a count. */
static void
hosts(drafting *d, const char *list, const char *type, double count, sl_host_state state)
{
    sl_facts facts = {0};
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, type, 3, "Gres");
    sl_facts_number(&facts, SL_FIELD_ACCELERATORS, count, 3, "Gres");
    add(d, &(sl_found_host){.name = list, .state = state, .line = 1}, &facts);
}

/* A node that nobody names, as nvidia-smi tells of it. */
static void
machine(drafting *d, const char *name, double count, double mebibytes)
{
    sl_facts facts = {0};
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, name, 9, "gpu/product_name");
    sl_facts_number(&facts, SL_FIELD_ACCELERATORS, count, 5, "attached_gpus");
    sl_facts_number(&facts, SL_FIELD_MEMORY_BYTES, mebibytes * MIB, 20,
                    "gpu/fb_memory_usage/total");
    sl_facts_number(&facts, SL_FIELD_RESERVED_BYTES, 518 * MIB, 21, "gpu/fb_memory_usage/reserved");
    add(d, &(sl_found_host){.count = 1}, &facts);
}

static void
make(drafting *d)
{
    CU_ASSERT_EQUAL_FATAL(sl_draft_make(d->findings, catalog, d->arena, d->draft, &d->err), SL_OK);
}

/* The spec as text; the caller frees it. */
static char *
spec_text(const sl_draft *draft)
{
    sl_buffer text;
    sl_writer writer;
    sl_buffer_init(&text, 16 << 20);
    sl_writer_init(&writer, &text);
    sl_draft_spec_write(&writer, draft);
    CU_ASSERT_TRUE(sl_writer_ok(&writer));
    return sl_buffer_take(&text, NULL);
}

static void
expect_spec(const sl_draft *draft, sl_code expected, const char *rule)
{
    static const sl_json_limits limits = {.max_bytes = 16 << 20, .max_depth = 32};
    sl_errors err = {0};
    sl_json *json = NULL;
    char *const text = spec_text(draft);
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &limits, &json, &err), SL_OK);
    const sl_node root = sl_json_root(json);
    CU_ASSERT_EQUAL(sl_inventory_check(&root, catalog, NULL, &err), expected);
    sl_expect_text(err.count > 0 ? err.list[0].rule : "", rule, "rule of the spec");
    sl_json_free(json);
    free(text);
}

static uint32_t
count_noted(const sl_draft *draft, const char *code)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < draft->note_count; i++)
        count += sl_text_equal(draft->notes[i].code, code);
    return count;
}

static bool
noted(const sl_draft *draft, const char *code)
{
    return count_noted(draft, code) > 0;
}

static void
an_ambiguous_name_stays_ambiguous_with_its_candidates(void)
{
    drafting d = begin();
    file(&d, "slurm_nodes_json");
    hosts(&d, "gpu[1-4]", "h100", 8, SL_HOST_USABLE);
    make(&d);
    const sl_draft_pool *const pool = &d.draft->pools[0];
    CU_ASSERT_EQUAL(d.draft->pool_count, 1);
    CU_ASSERT_PTR_NULL(pool->part);
    CU_ASSERT(pool->candidate_count >= 3 && !pool->candidates_near);
    CU_ASSERT_TRUE(noted(d.draft, "ambiguous_accelerator"));
    CU_ASSERT_EQUAL(sl_draft_strict(d.draft, &d.err), SL_E_RANGE);
    sl_expect_text(d.err.list[0].pointer, "/pools/0/node/accelerator", "place of the guess");
    expect_spec(d.draft, SL_E_RANGE, "ambiguous_accelerator");
    end(&d);
}

static void
one_nvidia_smi_speaks_for_its_class_of_nodes(void)
{
    drafting d = begin();
    file(&d, "slurm_nodes_text");
    hosts(&d, "gpu[01-30]", "a100", 4, SL_HOST_USABLE);
    hosts(&d, "old[1-2]", "v100", 4, SL_HOST_USABLE);
    file(&d, "nvidia_smi_xml");
    machine(&d, "NVIDIA A100-SXM4-40GB", 4, 40960);
    make(&d);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 2);
    const sl_draft_pool *const pool = &d.draft->pools[0];
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool->part);
    sl_expect_text(pool->part->accelerator.id, "nvidia-a100-sxm4-40gb", "part");
    CU_ASSERT_EQUAL(pool->nodes, 30);
    sl_expect_text(pool->hosts[0], "gpu[01-30]", "hosts");
    const sl_value *const memory = &pool->value[SL_FIELD_MEMORY_BYTES];
    CU_ASSERT_EQUAL(memory->origin, SL_FROM_LIKE);
    CU_ASSERT_EQUAL(memory->fact.number, 40960 * MIB);
    CU_ASSERT_EQUAL(memory->fact.place.line, 20);
    CU_ASSERT_EQUAL(d.draft->pools[1].value[SL_FIELD_MEMORY_BYTES].origin, SL_FROM_NOBODY);
    CU_ASSERT_EQUAL(d.draft->hosts, 32);
    end(&d);
}

static void
memory_that_was_printed_decides_between_parts_of_one_name(void)
{
    drafting d = begin();
    sl_facts facts = {0};
    file(&d, "kubernetes_nodes");
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, "a100-sxm4", 1, "labels/product");
    sl_facts_number(&facts, SL_FIELD_ACCELERATORS, 8, 1, "labels/count");
    sl_facts_number(&facts, SL_FIELD_MEMORY_BYTES, 81920 * MIB, 1, "labels/memory");
    add(&d, &(sl_found_host){.name = "n1"}, &facts);
    make(&d);
    const sl_draft_pool *const pool = &d.draft->pools[0];
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool->part);
    sl_expect_text(pool->part->accelerator.id, "nvidia-a100-sxm4-80gb", "part");
    CU_ASSERT_PTR_NOT_NULL(pool->value[SL_FIELD_ACCELERATOR].reason);
    CU_ASSERT_EQUAL(sl_draft_strict(d.draft, &d.err), SL_OK);
    expect_spec(d.draft, SL_OK, "");
    end(&d);
}

static void
states_are_told_apart_and_hosts_stay_in_the_spec(void)
{
    drafting d = begin();
    file(&d, "slurm_nodes_json");
    hosts(&d, "gpu[1-6]", "NVIDIA-L40S", 8, SL_HOST_USABLE);
    sl_facts facts = {0};
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, "NVIDIA-L40S", 3, "Gres");
    sl_facts_number(&facts, SL_FIELD_ACCELERATORS, 8, 3, "Gres");
    add(&d, &(sl_found_host){.name = "gpu7", .state = SL_HOST_DRAINED, .reason = "ECC"}, &facts);
    add(&d, &(sl_found_host){.name = "gpu8", .state = SL_HOST_DOWN, .reason = "no power"}, &facts);
    make(&d);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 1);
    const sl_draft_pool *const pool = &d.draft->pools[0];
    CU_ASSERT_EQUAL(pool->nodes, 8);
    CU_ASSERT_EQUAL(pool->in_state[SL_HOST_USABLE], 6);
    CU_ASSERT_EQUAL(pool->in_state[SL_HOST_DRAINED], 1);
    CU_ASSERT_EQUAL(pool->in_state[SL_HOST_DOWN], 1);
    CU_ASSERT_EQUAL_FATAL(pool->group_count, 3);
    sl_expect_text(pool->groups[1].reason, "ECC", "reason");
    sl_expect_text(pool->groups[1].hosts[0], "gpu7", "drained host");
    expect_spec(d.draft, SL_OK, "");
    end(&d);
}

static void
sliced_devices_are_no_part_of_a_plan(void)
{
    drafting d = begin();
    sl_facts facts = {0};
    file(&d, "kubernetes_nodes");
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, "NVIDIA-A100-SXM4-40GB", 1, "product");
    sl_facts_number(&facts, SL_FIELD_ACCELERATORS, 8, 1, "count");
    add(&d, &(sl_found_host){.name = "whole[1-2]"}, &facts);
    sl_facts_number(&facts, SL_FIELD_SLICED_ACCELERATORS, 2, 1, "mig");
    sl_facts_text(&facts, SL_FIELD_SLICE, "MIG 1g.5gb", 1, "mig");
    add(&d, &(sl_found_host){.name = "some1"}, &facts);
    sl_facts_number(&facts, SL_FIELD_SLICED_ACCELERATORS, 8, 1, "mig");
    add(&d, &(sl_found_host){.name = "all1"}, &facts);
    make(&d);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 3);
    CU_ASSERT_EQUAL(d.draft->pools[1].whole, 6);
    CU_ASSERT_FALSE(sl_draft_pool_planned(&d.draft->pools[2]));
    CU_ASSERT_TRUE(noted(d.draft, "sliced"));
    CU_ASSERT_EQUAL(d.draft->pools[1].in_state[SL_HOST_UNSAID], 1);
    char *const text = spec_text(d.draft);
    CU_ASSERT_PTR_NULL(strstr(text, "all1"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"accelerators\":6"));
    free(text);
    expect_spec(d.draft, SL_OK, "");
    end(&d);
}

static void
slices_of_nobody_knows_how_many_devices_are_none(void)
{
    drafting d = begin();
    sl_facts facts = {0};
    file(&d, "kubernetes_nodes");
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, "NVIDIA-A100-SXM4-40GB", 1, "product");
    sl_facts_text(&facts, SL_FIELD_SLICE, "MIG 1g.5gb", 1, "product");
    add(&d, &(sl_found_host){.name = "n[1-2]"}, &facts);
    make(&d);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 1);
    CU_ASSERT_EQUAL(d.draft->pools[0].whole, 0);
    CU_ASSERT_FALSE(sl_draft_pool_planned(&d.draft->pools[0]));
    CU_ASSERT_TRUE(noted(d.draft, "sliced"));
    end(&d);
}

/* Devices that are shared are there, whatever they are: their nodes are no bare ones. */
static void
shares_of_nobody_knows_what_are_a_pool(void)
{
    drafting d = begin();
    sl_facts facts = {0};
    file(&d, "kubernetes_nodes");
    sl_facts_text(&facts, SL_FIELD_SLICE, "shared", 1, "capacity nvidia.com/gpu");
    add(&d, &(sl_found_host){.name = "n1"}, &facts);
    make(&d);
    CU_ASSERT_EQUAL(d.draft->without_accelerators, 0);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 1);
    CU_ASSERT_FALSE(sl_draft_pool_planned(&d.draft->pools[0]));
    CU_ASSERT_TRUE(noted(d.draft, "sliced"));
    CU_ASSERT_TRUE(noted(d.draft, "accelerator_unnamed"));
    end(&d);
}

static void
more_than_a_node_type_has_is_a_guess(void)
{
    static const struct {
        double count;
        bool told;
    } nodes[] = {{8, false}, {7, false}, {16, true}};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        drafting d = begin();
        sl_facts facts = {0};
        file(&d, "kubernetes_nodes");
        sl_facts_number(&facts, SL_FIELD_ACCELERATORS, nodes[i].count, 1, "capacity");
        sl_facts_text(&facts, SL_FIELD_NODE_TYPE, "p4d.24xlarge", 1, "instance-type");
        add(&d, &(sl_found_host){.name = "n1"}, &facts);
        make(&d);
        CU_ASSERT_EQUAL(noted(d.draft, "more_than_node_type"), nodes[i].told);
        CU_ASSERT_EQUAL(sl_draft_strict(d.draft, &d.err) == SL_OK, !nodes[i].told);
        end(&d);
    }
}

static void
blocks_of_a_topology_make_the_scale_up_domain(void)
{
    drafting d = begin();
    file(&d, "slurm_nodes_json");
    hosts(&d, "r[1-2]n[01-18]", "gb200", 4, SL_HOST_USABLE);
    file(&d, "slurm_topology_conf");
    add(&d, &(sl_found_host){.name = "r1n[01-18]", .domain = "rack1"}, NULL);
    add(&d, &(sl_found_host){.name = "r2n[01-18]", .domain = "rack2"}, NULL);
    make(&d);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 1);
    CU_ASSERT_EQUAL(d.draft->hosts, 36);
    const sl_value *const domain = &d.draft->pools[0].value[SL_FIELD_SCALE_UP_DOMAIN];
    CU_ASSERT_EQUAL(domain->fact.number, 72);
    CU_ASSERT_EQUAL(domain->origin, SL_FROM_LIKE);
    end(&d);
}

static void
no_accelerators_are_an_answer(void)
{
    drafting d = begin();
    sl_facts facts = {0};
    file(&d, "slurm_sinfo_json");
    sl_facts_number(&facts, SL_FIELD_HOST_MEMORY_BYTES, 500000 * MIB, 1, "real_memory");
    add(&d, &(sl_found_host){.name = "cs[1-5]"}, &facts);
    make(&d);
    CU_ASSERT_EQUAL(d.draft->pool_count, 0);
    CU_ASSERT_EQUAL(d.draft->without_accelerators, 5);
    CU_ASSERT_EQUAL_FATAL(d.draft->bare.host_entries, 1);
    sl_expect_text(d.draft->bare.hosts[0], "cs[1-5]", "bare hosts");
    CU_ASSERT_TRUE(noted(d.draft, "no_accelerators"));
    char *const text = spec_text(d.draft);
    sl_expect_text(text, "null", "spec");
    free(text);
    end(&d);
}

static void
sources_that_differ_are_told_and_the_nearer_to_the_hardware_counts(void)
{
    drafting d = begin();
    file(&d, "kubernetes_nodes");
    hosts(&d, "n1", "NVIDIA-H200", 8, SL_HOST_UNSAID);
    file(&d, "slurm_nodes_text");
    hosts(&d, "n1", "h200", 4, SL_HOST_DRAINED);
    make(&d);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 1);
    CU_ASSERT_EQUAL(d.draft->pools[0].value[SL_FIELD_ACCELERATORS].fact.number, 8);
    CU_ASSERT_EQUAL(d.draft->pools[0].in_state[SL_HOST_DRAINED], 1);
    CU_ASSERT_TRUE(noted(d.draft, "sources_differ"));
    end(&d);
}

static void
like_nodes_with_a_bit_more_or_less_memory_are_one_pool(void)
{
    drafting d = begin();
    char name[32];
    file(&d, "kubernetes_nodes");
    for (int i = 0; i < 6000; i++) {
        sl_facts facts = {0};
        sl_facts_text(&facts, SL_FIELD_ACCELERATOR, "NVIDIA-H200", 1, "product");
        sl_facts_number(&facts, SL_FIELD_ACCELERATORS, 8, 1, "count");
        sl_facts_number(&facts, SL_FIELD_HOST_MEMORY_BYTES, 2e12 + i * 4096.0, 1, "memory");
        (void)sl_text_format(name, sizeof name, "node-%d", i);
        add(&d, &(sl_found_host){.name = name}, &facts);
    }
    make(&d);
    CU_ASSERT_EQUAL(sl_findings_kind_count(d.findings), 1);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 1);
    CU_ASSERT_EQUAL(d.draft->pools[0].nodes, 6000);
    sl_expect_text(d.draft->pools[0].hosts[0], "node-[0-5999]", "hosts");
    end(&d);
}

static void
an_unknown_part_keeps_its_printed_name(void)
{
    drafting d = begin();
    file(&d, "nvidia_smi_csv");
    machine(&d, "NVIDIA Quantum-X 9000", 8, 500000);
    make(&d);
    CU_ASSERT_TRUE(noted(d.draft, "unknown_accelerator"));
    expect_spec(d.draft, SL_OK, ""); /* memory and number are known, so it can be kept */
    end(&d);
}

/* H200s of one machine by two files; pair_links: 0 over a switch. */
static drafting
joined(double count, double pair_links)
{
    drafting d = begin();
    sl_facts facts = {0};
    file(&d, "nvidia_smi_csv");
    machine(&d, "NVIDIA H200", count, 143771);
    file(&d, "nvidia_topo");
    sl_facts_number(&facts, SL_FIELD_ACCELERATORS, count, 1, "GPU");
    sl_facts_number(&facts, SL_FIELD_LINKS, 18, 2, "NV#");
    sl_facts_number(&facts, SL_FIELD_PAIR_LINKS, pair_links, 2, "NV#");
    add(&d, &(sl_found_host){.count = 1}, &facts);
    make(&d);
    return d;
}

static void
files_of_one_machine_join_where_no_host_is_named(void)
{
    drafting d = joined(8, 0);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 1);
    CU_ASSERT_EQUAL(d.draft->pools[0].nodes, 1);
    CU_ASSERT_EQUAL(d.draft->pools[0].value[SL_FIELD_LINKS].fact.number, 18);
    expect_spec(d.draft, SL_OK, "");
    end(&d);
}

/* Six of eighteen links between each pair are a third of 450 GB/s; the board of the catalogue says
 * so of a node that is named. */
static void
links_of_a_pair_make_its_rate(void)
{
    drafting d = joined(4, 6);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 1);
    const sl_value *const pair = &d.draft->pools[0].value[SL_FIELD_SCALE_UP_PAIR_BYTES_PER_S];
    sl_expect_near(pair->fact.number, 150e9, 1e-12, "of 450 GB/s");
    CU_ASSERT_EQUAL(pair->origin, SL_FROM_LIKE);
    expect_spec(d.draft, SL_OK, "");
    end(&d);
    d = joined(8, 0);
    CU_ASSERT_FALSE(d.draft->pools[0].value[SL_FIELD_SCALE_UP_PAIR_BYTES_PER_S].fact.said);
    end(&d);
    d = begin();
    file(&d, "amd_smi_static");
    machine(&d, "AMD Instinct MI300X", 8, 196592);
    make(&d);
    sl_expect_near(d.draft->pools[0].value[SL_FIELD_SCALE_UP_PAIR_BYTES_PER_S].fact.number, 64e9,
                   1e-12, "of the catalogue");
    end(&d);
}

static void
a_machine_like_none_of_the_hosts_is_told(void)
{
    drafting d = begin();
    file(&d, "slurm_nodes_text");
    hosts(&d, "gpu[1-4]", "h100", 8, SL_HOST_USABLE);
    file(&d, "nvidia_smi_xml");
    machine(&d, "NVIDIA A100-SXM4-80GB", 8, 81920);
    make(&d);
    CU_ASSERT_EQUAL(d.draft->pool_count, 2);
    CU_ASSERT_TRUE(noted(d.draft, "node_like_none"));
    end(&d);
}

static void
hosts_that_only_a_topology_names_are_told(void)
{
    drafting d = begin();
    file(&d, "slurm_nodes_text");
    hosts(&d, "gpu[1-4]", "t4", 8, SL_HOST_USABLE);
    make(&d);
    CU_ASSERT_FALSE(noted(d.draft, "hosts_undescribed"));
    file(&d, "slurm_topology_conf");
    add(&d, &(sl_found_host){.name = "gpu[1-5]", .leaf = "s1"}, NULL);
    make(&d);
    CU_ASSERT_EQUAL(d.draft->without_accelerators, 1);
    CU_ASSERT_TRUE(noted(d.draft, "hosts_undescribed"));
    CU_ASSERT_FALSE(noted(d.draft, "node_like_none"));
    end(&d);
}

static void
slurm_counts_the_dies_of_a_module(void)
{
    drafting d = begin();
    file(&d, "slurm_sinfo_text");
    hosts(&d, "nid[1-4]", "mi250x", 8, SL_HOST_USABLE);
    hosts(&d, "gpu[1-4]", "h200", 8, SL_HOST_USABLE);
    make(&d);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d.draft->pools[0].part);
    sl_expect_text(d.draft->pools[0].part->accelerator.id, "amd-mi250x-gcd", "part");
    CU_ASSERT_PTR_NULL(d.draft->pools[1].part); /* ambiguous as ever */
    end(&d);
}

static void
a_name_near_to_the_node_types_part_is_its(void)
{
    drafting d = begin();
    sl_facts facts = {0};
    file(&d, "terraform_json");
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, "nvidia-h100-mega-80gb", 1, "type");
    sl_facts_text(&facts, SL_FIELD_NODE_TYPE, "a3-megagpu-8g", 1, "machine_type");
    add(&d, &(sl_found_host){.name = "a"}, &facts);
    make(&d);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d.draft->pools[0].part);
    sl_expect_text(d.draft->pools[0].part->accelerator.id, "nvidia-h100-sxm5-80gb", "part");
    CU_ASSERT_FALSE(noted(d.draft, "unknown_accelerator"));
    end(&d);
}

static void
only_a_tool_of_their_vendor_tells_parts_apart(void)
{
    static const char *const rows[][2] = {
        {"h100",
         "\"h100\" is any of 3 parts: choose one, or add what nvidia-smi prints on one of the "
         "nodes"},
        {"habana.ai/gaudi", "\"habana.ai/gaudi\" is any of 2 parts: choose one"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        drafting d = begin();
        file(&d, "kubernetes_nodes");
        hosts(&d, "node1", rows[i][0], 8, SL_HOST_USABLE);
        make(&d);
        CU_ASSERT_EQUAL_FATAL(d.draft->note_count, 1);
        sl_expect_text(d.draft->notes[0].text, rows[i][1], rows[i][0]);
        end(&d);
    }
}

/* What an estimate takes of a node that is like the usual one, and holds another number. */
static void
what_is_usual_is_that_of_the_estimate(void)
{
    static const struct {
        const char *part;
        uint32_t held, domain, nics;
    } rows[] = {{"nvidia-h200-sxm-141gb", 8, 8, 8},
                {"nvidia-h200-sxm-141gb", 4, 4, 4},
                {"nvidia-gh200-96gb", 1, 1, 1},
                {"nvidia-gb200", 4, 72, 4}, /* a rack */
                {"nvidia-l40s", 3, 1, 2}};  /* two cards for four devices */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        drafting d = begin();
        file(&d, "slurm_sinfo_text");
        hosts(&d, "gpu01", rows[i].part, rows[i].held, SL_HOST_USABLE);
        make(&d);
        CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 1);
        const sl_draft_pool *const pool = &d.draft->pools[0];
        CU_ASSERT_EQUAL(pool->value[SL_FIELD_SCALE_UP_DOMAIN].fact.number, rows[i].domain);
        CU_ASSERT_EQUAL(pool->value[SL_FIELD_NIC_COUNT].fact.number, rows[i].nics);
        CU_ASSERT_EQUAL(pool->value[SL_FIELD_NIC_COUNT].origin, SL_FROM_DEFAULT);
        end(&d);
    }
}

static void
a_type_that_nobody_knows_may_hide_what_it_holds(void)
{
    drafting d = begin();
    sl_facts unknown = {0}, stored = {0}, described = {0};
    file(&d, "terraform_json");
    hosts(&d, "gpu01", "nvidia-l40s", 4, SL_HOST_USABLE);
    sl_facts_text(&described, SL_FIELD_NODE_TYPE, "m7.huge", 1, "instance_type");
    sl_facts_number(&described, SL_FIELD_CPUS, 8, 1, "capacity cpu");
    add(&d, &(sl_found_host){.name = "cpu01"}, &described);
    make(&d);
    CU_ASSERT_EQUAL(count_noted(d.draft, "node_type_undescribed"), 0);
    end(&d);
    /* Once of a type, whatever its nodes differ in; a pool's type is another matter. */
    d = begin();
    file(&d, "terraform_json");
    hosts(&d, "gpu01", "nvidia-l40s", 4, SL_HOST_USABLE);
    sl_facts_text(&unknown, SL_FIELD_NODE_TYPE, "BM.GPU.X9.8", 1, "shape");
    sl_facts_text(&stored, SL_FIELD_NODE_TYPE, "BM.GPU.X9.8", 2, "shape");
    sl_facts_number(&stored, SL_FIELD_HOST_MEMORY_BYTES, 1e12, 2, "memory");
    add(&d, &(sl_found_host){.name = "bm01"}, &unknown);
    add(&d, &(sl_found_host){.name = "bm02"}, &stored);
    make(&d);
    CU_ASSERT_EQUAL(count_noted(d.draft, "node_type_undescribed"), 1);
    CU_ASSERT_FALSE(noted(d.draft, "unknown_node_type"));
    end(&d);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(an_ambiguous_name_stays_ambiguous_with_its_candidates),
        SL_CASE(one_nvidia_smi_speaks_for_its_class_of_nodes),
        SL_CASE(memory_that_was_printed_decides_between_parts_of_one_name),
        SL_CASE(states_are_told_apart_and_hosts_stay_in_the_spec),
        SL_CASE(sliced_devices_are_no_part_of_a_plan),
        SL_CASE(slices_of_nobody_knows_how_many_devices_are_none),
        SL_CASE(shares_of_nobody_knows_what_are_a_pool),
        SL_CASE(more_than_a_node_type_has_is_a_guess),
        SL_CASE(blocks_of_a_topology_make_the_scale_up_domain),
        SL_CASE(no_accelerators_are_an_answer),
        SL_CASE(sources_that_differ_are_told_and_the_nearer_to_the_hardware_counts),
        SL_CASE(like_nodes_with_a_bit_more_or_less_memory_are_one_pool),
        SL_CASE(an_unknown_part_keeps_its_printed_name),
        SL_CASE(files_of_one_machine_join_where_no_host_is_named),
        SL_CASE(links_of_a_pair_make_its_rate),
        SL_CASE(a_machine_like_none_of_the_hosts_is_told),
        SL_CASE(hosts_that_only_a_topology_names_are_told),
        SL_CASE(slurm_counts_the_dies_of_a_module),
        SL_CASE(a_name_near_to_the_node_types_part_is_its),
        SL_CASE(only_a_tool_of_their_vendor_tells_parts_apart),
        SL_CASE(what_is_usual_is_that_of_the_estimate),
        SL_CASE(a_type_that_nobody_knows_may_hide_what_it_holds),
    };
    return sl_run_catalogued(argc, argv, "draft", cases, sizeof cases / sizeof cases[0], &catalog);
}
