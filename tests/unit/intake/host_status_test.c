/* What tools observe, as it is kept and joined with a spec: drained, down, missing, not expected,
 * contradicting, stale. */
#include "codec/inventory/host_status.h"

#include <string.h>

#include "base/instant.h"
#include "base/text.h"
#include "catalogued.h"
#include "harness.h"
#include "intake/facts_json.h"

enum { ARENA_BYTES = 32 << 20, GIB = 1 << 30 };

static sl_catalog *catalog;

static const char spec[] =
    "{\"name\":\"a\",\"pools\":[{\"name\":\"h100\",\"nodes\":32,\"hosts\":[\"gpu[001-032]\"],"
    "\"node\":{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"accelerators\":8,"
    "\"host_memory_bytes\":2199023255552}}]}";

static const char at_noon[] = "2026-01-31T12:00:00.000Z";
static const char at_one[] = "2026-01-31T13:00:00.000Z";

typedef struct bench {
    sl_arena *arena;
    sl_findings *findings;
    sl_observation observations[4];
    uint32_t count;
    sl_host_status *status;
    char *text; /* of the status as JSON */
    sl_errors err;
} bench;

static void
bench_open(bench *b)
{
    memset(b, 0, sizeof *b);
    b->arena = sl_arena_new(ARENA_BYTES);
    b->findings = sl_findings_new(b->arena, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->findings);
    CU_ASSERT_EQUAL(sl_findings_file(b->findings, "", "test", &b->err), SL_OK);
}

static void
bench_close(bench *b)
{
    for (uint32_t i = 0; i < b->err.count; i++)
        sl_expect_text(b->err.list[i].message, "", b->err.list[i].rule);
    sl_arena_free(b->arena);
}

static sl_facts
eight(const char *accelerator)
{
    sl_facts facts = {0};
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, accelerator, 3, "Gres");
    sl_facts_number(&facts, SL_FIELD_ACCELERATORS, 8, 3, "Gres");
    return facts;
}

static void
add(bench *b, const char *hosts, sl_host_state state, const char *reason, const sl_facts *facts)
{
    const sl_found_host host = {
        .name = hosts, .count = 1, .state = state, .reason = reason, .line = 1};
    CU_ASSERT_EQUAL(sl_findings_add(b->findings, &host, facts, &b->err), SL_OK);
}

/* The findings so far as one more observation; the next one begins anew. */
static sl_observation *
observe(bench *b, const char *source, const char *observed_at, const char *previous)
{
    uint64_t hosts = 0;
    sl_writer writer;
    sl_buffer text;
    sl_buffer_init(&text, 1 << 22);
    sl_writer_init(&writer, &text);
    CU_ASSERT_EQUAL(sl_facts_write(&writer, b->findings, previous, observed_at, &hosts, &b->err),
                    SL_OK);
    CU_ASSERT_TRUE(sl_writer_ok(&writer));
    sl_observation *const out = &b->observations[b->count++];
    *out = (sl_observation){.source = source,
                            .format = "test",
                            .observed_at = observed_at,
                            .stale_after_s = 86400,
                            .hosts = hosts,
                            .facts = sl_arena_copy_bytes(b->arena, text.data, text.size)};
    sl_buffer_clear(&text);
    b->findings = sl_findings_new(b->arena, NULL);
    CU_ASSERT_EQUAL(sl_findings_file(b->findings, "", "test", &b->err), SL_OK);
    return out;
}

static void
join(bench *b, const char *with)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    sl_json *json = NULL;
    sl_writer writer;
    sl_buffer text;
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(with, strlen(with), &limits, &json, &b->err), SL_OK);
    const sl_node root = sl_json_root(json);
    sl_inventory_hardware hardware;
    sl_inventory_count(&root, catalog, &hardware);
    CU_ASSERT_EQUAL_FATAL(sl_host_status_join(&root, &hardware, catalog, b->observations, b->count,
                                              b->arena, &b->status, &b->err),
                          SL_OK);
    sl_json_free(json);
    sl_buffer_init(&text, 1 << 22);
    sl_writer_init(&writer, &text);
    CU_ASSERT_EQUAL(sl_host_status_write(&writer, b->status, b->arena, &b->err), SL_OK);
    CU_ASSERT_TRUE(sl_writer_ok(&writer));
    b->text = sl_arena_copy_bytes(b->arena, text.data, text.size);
    sl_buffer_clear(&text);
}

static void
expect_holds(const bench *b, const char *part)
{
    if (strstr(b->text, part) == NULL)
        sl_expect_text(b->text, part, "must hold");
}

static void
without_observations_every_node_is_usable(void)
{
    bench b;
    bench_open(&b);
    join(&b, spec);
    expect_holds(&b, "{\"usable\":32,");
    expect_holds(&b, "\"drained\":[],\"down\":[],\"missing\":[],\"unexpected\":[]");
    CU_ASSERT_PTR_NULL(sl_host_status_pool(b.status, NULL)->left_out);
    bench_close(&b);
}

static void
drained_and_down_hosts_are_not_usable_and_say_why_and_since_when(void)
{
    bench b;
    const sl_facts facts = eight("NVIDIA H100 80GB HBM3");
    bench_open(&b);
    add(&b, "gpu[001-016,019-031]", SL_HOST_USABLE, NULL, &facts);
    add(&b, "gpu[017-018]", SL_HOST_DRAINED, "bad link", &facts);
    add(&b, "gpu032", SL_HOST_DOWN, NULL, &facts);
    (void)observe(&b, "slurm", at_noon, NULL);
    join(&b, spec);
    expect_holds(&b, "{\"usable\":29,");
    expect_holds(&b, "\"drained\":[{\"hosts\":[\"gpu[017-018]\"],\"count\":2,\"reason\":\"bad "
                     "link\",\"source\":\"slurm\",\"since\":\"2026-01-31T12:00:00.000Z\"}]");
    expect_holds(&b, "\"down\":[{\"hosts\":[\"gpu032\"],\"count\":1,\"reason\":null");
    expect_holds(&b, "\"contradictions\":[]");
    sl_expect_text(sl_host_status_pool(b.status, "h100")->left_out,
                   "nodes gpu[017-018] are drained, node gpu032 is down: 29 of 32 nodes are usable",
                   "the sentence");
    bench_close(&b);
}

static void
of_many_scattered_nodes_the_first_are_named(void)
{
    bench b;
    bench_open(&b);
    add(&b, "gpu[001-032]", SL_HOST_USABLE, NULL, NULL);
    add(&b, "gpu[001,003,005,007,009,011,013,015,017,019,021]", SL_HOST_DRAINED, NULL, NULL);
    (void)observe(&b, "slurm", at_noon, NULL);
    join(&b, spec);
    sl_expect_text(sl_host_status_pool(b.status, NULL)->left_out,
                   "nodes gpu[001,003,005,007,009,011,013,015,017,...] are drained: 21 of 32 nodes "
                   "are usable",
                   "the sentence");
    bench_close(&b);
}

static void
each_reason_has_room_and_says_that_there_is_more(void)
{
    static const char racks[] =
        "{\"pools\": [{\"name\": \"h100\", \"nodes\": 7, \"hosts\": [\"rack001-node01\","
        " \"rack002-node08\", \"rack003-node05\", \"rack004-node02\", \"rack005-node07\","
        " \"rack006-node03\", \"rack007-node06\"],"
        " \"node\": {\"accelerator\": \"nvidia-h100-sxm5-80gb\"}}]}";
    bench b;
    bench_open(&b);
    add(&b, "rack001-node01,rack003-node05", SL_HOST_DRAINED, NULL, NULL);
    add(&b, "rack002-node08,rack004-node02", SL_HOST_DOWN, NULL, NULL);
    add(&b, "rack005-node07", SL_HOST_USABLE, NULL, NULL);
    (void)observe(&b, "slurm", at_noon, NULL);
    join(&b, racks);
    sl_expect_text(sl_host_status_pool(b.status, NULL)->left_out,
                   "nodes rack001-node01,... are drained, nodes rack002-node08,... are down, nodes "
                   "rack006-node03,... are missing: 1 of 7 nodes are usable",
                   "the sentence");
    bench_close(&b);
}

static void
one_drained_node_is_named_in_the_singular(void)
{
    bench b;
    bench_open(&b);
    add(&b, "gpu[001-032]", SL_HOST_USABLE, NULL, NULL);
    add(&b, "gpu017", SL_HOST_DRAINED, NULL, NULL);
    (void)observe(&b, "slurm", at_noon, NULL);
    join(&b, spec);
    sl_expect_text(sl_host_status_pool(b.status, NULL)->left_out,
                   "node gpu017 is drained: 31 of 32 nodes are usable", "the sentence");
    bench_close(&b);
}

static void
who_is_not_listed_is_missing_and_strangers_with_accelerators_are_unexpected(void)
{
    bench b;
    const sl_facts facts = eight("h100");
    bench_open(&b);
    add(&b, "gpu[001-030]", SL_HOST_USABLE, NULL, &facts);
    add(&b, "gpu[101-102]", SL_HOST_USABLE, NULL, &facts);
    add(&b, "login1", SL_HOST_USABLE, NULL, NULL);
    (void)observe(&b, "slurm", at_noon, NULL);
    join(&b, spec);
    expect_holds(&b, "{\"usable\":30,");
    expect_holds(&b, "\"missing\":[\"gpu[031-032]\"],\"unexpected\":[\"gpu[101-102]\"]");
    bench_close(&b);
}

static void
the_most_recent_word_on_a_host_counts(void)
{
    bench b;
    bench_open(&b);
    add(&b, "gpu[001-032]", SL_HOST_USABLE, NULL, NULL);
    (void)observe(&b, "slurm", at_one, NULL);
    add(&b, "gpu005", SL_HOST_DOWN, "old news", NULL);
    (void)observe(&b, "kubernetes", at_noon, NULL);
    join(&b, spec);
    expect_holds(&b, "{\"usable\":32,");
    b.observations[1].observed_at = "2026-01-31T14:00:00.000Z";
    join(&b, spec);
    expect_holds(&b, "{\"usable\":31,");
    expect_holds(&b, "\"reason\":\"old news\",\"source\":\"kubernetes\"");
    bench_close(&b);
}

/* That a host answers does not give it work again; that it does not answer is news. */
static void
a_scheduler_has_the_last_word_on_what_it_withholds(void)
{
    static const struct {
        const char *first, *later;
        sl_host_state said, found;
        const char *count;
    } rows[] = {
        {"slurm_nodes_json", "ansible_facts", SL_HOST_DRAINED, SL_HOST_USABLE, "{\"usable\":16,"},
        {"kubernetes_nodes", "terraform_json", SL_HOST_DOWN, SL_HOST_USABLE, "{\"usable\":16,"},
        {"slurm_nodes_json", "slurm_sinfo_text", SL_HOST_DRAINED, SL_HOST_USABLE,
         "{\"usable\":32,"},
        {"slurm_nodes_json", "ansible_facts", SL_HOST_USABLE, SL_HOST_DOWN, "{\"usable\":16,"},
        {"ansible_facts", "slurm_nodes_json", SL_HOST_DOWN, SL_HOST_USABLE, "{\"usable\":32,"},
        {"ansible_facts", "terraform_json", SL_HOST_DOWN, SL_HOST_USABLE, "{\"usable\":32,"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        bench_open(&b);
        add(&b, "gpu[001-016]", rows[i].said, NULL, NULL);
        add(&b, "gpu[017-032]", SL_HOST_USABLE, NULL, NULL);
        observe(&b, "first", at_noon, NULL)->format = rows[i].first;
        add(&b, "gpu[001-016]", rows[i].found, NULL, NULL);
        observe(&b, "later", at_one, NULL)->format = rows[i].later;
        join(&b, spec);
        expect_holds(&b, rows[i].count);
        bench_close(&b);
    }
}

static void
what_is_stale_does_not_count_and_is_flagged(void)
{
    bench b;
    bench_open(&b);
    add(&b, "gpu[001-016]", SL_HOST_DRAINED, NULL, NULL);
    observe(&b, "slurm", at_noon, NULL)->stale = true;
    join(&b, spec);
    expect_holds(&b, "{\"usable\":32,");
    expect_holds(&b, "\"missing\":[]");
    expect_holds(&b, "\"stale\":true,\"hosts\":16");
    bench_close(&b);
}

static void
fields_that_contradict_the_spec_are_named_with_both_values(void)
{
    bench b;
    sl_facts four = eight("NVIDIA A100-SXM4-80GB");
    bench_open(&b);
    sl_facts_number(&four, SL_FIELD_ACCELERATORS, 4, 7, "Gres");
    sl_facts_number(&four, SL_FIELD_HOST_MEMORY_BYTES, 1000.0 * GIB, 8, "RealMemory");
    sl_facts_number(&four, SL_FIELD_SLICED_ACCELERATORS, 2, 9, "Gres");
    const sl_facts good = eight("NVIDIA H100 80GB HBM3");
    add(&b, "gpu[001-031]", SL_HOST_USABLE, NULL, &good);
    add(&b, "gpu032", SL_HOST_USABLE, NULL, &four);
    (void)observe(&b, "slurm", at_noon, NULL);
    join(&b, spec);
    expect_holds(&b, "{\"pool\":\"h100\",\"hosts\":[\"gpu032\"],\"field\":\"accelerator\",\"spec\":"
                     "\"nvidia-h100-sxm5-80gb\",\"observed\":\"NVIDIA A100-SXM4-80GB\",\"source\":"
                     "\"slurm\"}");
    expect_holds(&b, "\"field\":\"accelerators\",\"spec\":8,\"observed\":4");
    expect_holds(&b, "\"field\":\"host_memory_bytes\",\"spec\":2199023255552,\"observed\":1073741");
    expect_holds(&b, "\"field\":\"sliced_accelerators\",\"spec\":0,\"observed\":2");
    bench_close(&b);
}

static void
an_ambiguous_name_contradicts_only_what_it_cannot_be(void)
{
    bench b;
    const sl_facts may_be = eight("h100");
    const sl_facts cannot_be = eight("a100");
    const sl_facts unknown = eight("gpu-of-tomorrow");
    bench_open(&b);
    add(&b, "gpu[001-030]", SL_HOST_USABLE, NULL, &may_be);
    add(&b, "gpu031", SL_HOST_USABLE, NULL, &unknown);
    add(&b, "gpu032", SL_HOST_USABLE, NULL, &cannot_be);
    (void)observe(&b, "slurm", at_noon, NULL);
    join(&b, spec);
    expect_holds(&b, "\"contradictions\":[{\"pool\":\"h100\",\"hosts\":[\"gpu032\"],\"field\":"
                     "\"accelerator\",\"spec\":\"nvidia-h100-sxm5-80gb\",\"observed\":\"a100\","
                     "\"source\":\"slurm\"}]");
    bench_close(&b);
}

static void
memory_that_a_tool_rounds_is_no_contradiction(void)
{
    bench b;
    sl_facts facts = eight("NVIDIA H100 80GB HBM3");
    bench_open(&b);
    sl_facts_number(&facts, SL_FIELD_MEMORY_BYTES, 81000.0 * (1 << 20), 2, "memory.total");
    add(&b, NULL, SL_HOST_UNSAID, NULL, &facts);
    (void)observe(&b, "smi", at_noon, NULL);
    join(&b, spec);
    expect_holds(&b, "\"contradictions\":[]");
    expect_holds(&b, "{\"usable\":32,");
    sl_facts_number(&facts, SL_FIELD_MEMORY_BYTES, 40960.0 * (1 << 20), 2, "memory.total");
    add(&b, NULL, SL_HOST_UNSAID, NULL, &facts);
    (void)observe(&b, "smi-b", at_one, NULL);
    join(&b, spec);
    expect_holds(&b, "\"hosts\":[],\"field\":\"memory_bytes\",\"spec\":85520809984,\"observed\":"
                     "42949672960,\"source\":\"smi-b\"");
    bench_close(&b);
}

static void
a_pool_without_names_is_compared_by_numbers(void)
{
    static const char nameless[] =
        "{\"pools\":[{\"name\":\"p\",\"nodes\":4,\"node\":{\"accelerator\":"
        "\"nvidia-h100-sxm5-80gb\",\"accelerators\":8}}]}";
    bench b;
    const sl_facts facts = eight("h100");
    bench_open(&b);
    add(&b, "x[1-2]", SL_HOST_USABLE, NULL, &facts);
    add(&b, "x3", SL_HOST_DRAINED, NULL, &facts);
    (void)observe(&b, "slurm", at_noon, NULL);
    join(&b, nameless);
    expect_holds(&b, "{\"usable\":2,");
    expect_holds(&b, "\"unexpected\":[]");
    expect_holds(&b, "\"field\":\"nodes\",\"spec\":4,\"observed\":3,\"source\":\"slurm\"");
    sl_expect_text(sl_host_status_pool(b.status, "p")->left_out,
                   "node x3 is drained: 2 of 4 nodes are usable", "the sentence");
    bench_close(&b);
}

static void
the_full_name_of_a_host_is_the_host(void)
{
    bench b;
    bench_open(&b);
    add(&b, "gpu[001-032].cluster.example", SL_HOST_USABLE, NULL, NULL);
    (void)observe(&b, "kubernetes", at_noon, NULL);
    join(&b, spec);
    expect_holds(&b, "{\"usable\":32,");
    expect_holds(&b, "\"missing\":[],\"unexpected\":[]");
    bench_close(&b);
}

/* The spec has the domain, and Slurm has not. */
static void
the_short_name_of_a_host_is_the_host(void)
{
    static const char full[] =
        "{\"pools\":[{\"name\":\"p\",\"nodes\":2,\"hosts\":[\"gpu[1-2].cluster.example\"],"
        "\"node\":{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"accelerators\":8}}]}";
    bench b;
    const sl_facts four = eight("NVIDIA A100-SXM4-80GB");
    bench_open(&b);
    add(&b, "gpu[1-2]", SL_HOST_USABLE, NULL, NULL);
    (void)observe(&b, "slurm", at_noon, NULL);
    add(&b, "gpu1", SL_HOST_DRAINED, "bad link", &four);
    (void)observe(&b, "later", at_one, NULL);
    join(&b, full);
    expect_holds(&b, "{\"usable\":1,");
    expect_holds(&b, "\"drained\":[{\"hosts\":[\"gpu1.cluster.example\"],\"count\":1,\"reason\":"
                     "\"bad link\",\"source\":\"later\"");
    expect_holds(&b, "\"missing\":[],\"unexpected\":[],\"ambiguous\":[]");
    expect_holds(&b, "\"hosts\":[\"gpu1.cluster.example\"],\"field\":\"accelerator\"");
    bench_close(&b);
}

/* Two sources of a host that the spec does not have: the later word, under the short name. */
static void
sources_that_spell_a_host_otherwise_speak_of_one(void)
{
    bench b;
    const sl_facts facts = eight("h100");
    bench_open(&b);
    add(&b, "gpu[001-032],new1", SL_HOST_USABLE, NULL, &facts);
    (void)observe(&b, "slurm", at_noon, NULL);
    add(&b, "gpu[001-032].a.example,new1.a.example", SL_HOST_USABLE, NULL, &facts);
    (void)observe(&b, "kubernetes", at_one, NULL);
    join(&b, spec);
    expect_holds(&b, "{\"usable\":32,");
    expect_holds(&b, "\"missing\":[],\"unexpected\":[\"new1\"],\"ambiguous\":[]");
    bench_close(&b);
}

/* Of a pool whose spec says nothing of drivers, and of one that it contradicts. */
static void
hosts_are_compared_with_the_others_of_their_pool(void)
{
    bench b;
    sl_facts usual = eight("NVIDIA H100 80GB HBM3"), old, mixed;
    bench_open(&b);
    sl_facts_text(&usual, SL_FIELD_DRIVER, "550.90.07", 3, "driver");
    sl_facts_number(&usual, SL_FIELD_NIC_COUNT, 8, 3, "nics");
    old = usual;
    sl_facts_text(&old, SL_FIELD_DRIVER, "535.161.08", 3, "driver");
    mixed = eight("NVIDIA A100-SXM4-80GB");
    sl_facts_text(&mixed, SL_FIELD_DRIVER, "550.90.07", 3, "driver");
    add(&b, "gpu[001-029].a.example", SL_HOST_USABLE, NULL, &usual);
    add(&b, "gpu[030-031].a.example", SL_HOST_USABLE, NULL, &old);
    add(&b, "gpu032.a.example", SL_HOST_USABLE, NULL, &mixed);
    (void)observe(&b, "ansible", at_noon, NULL);
    join(&b, spec);
    expect_holds(
        &b, "\"unequal\":[{\"pool\":\"h100\",\"hosts\":[\"gpu[030-031]\"],\"field\":\"driver\","
            "\"usual\":\"550.90.07\",\"alike\":30,\"observed\":\"535.161.08\","
            "\"source\":\"ansible\"}],");
    expect_holds(&b, "\"hosts\":[\"gpu032\"],\"field\":\"accelerator\",\"spec\":");
    CU_ASSERT_TRUE(sl_host_status_wrong(b.status));

    /* A later source says less of the part: what the first one saw stays odd. */
    const sl_facts any = eight("h100");
    add(&b, "gpu[001-032]", SL_HOST_USABLE, NULL, &any);
    (void)observe(&b, "slurm", at_one, NULL);
    join(&b, spec);
    expect_holds(&b, "\"contradictions\":[],\"unequal\":[{\"pool\":\"h100\",\"hosts\":[\"gpu032\"],"
                     "\"field\":\"accelerator\",\"usual\":\"NVIDIA H100 80GB HBM3\",\"alike\":31,");
    b.observations[0].stale = true;
    join(&b, spec);
    expect_holds(&b, "\"unequal\":[]");
    CU_ASSERT_FALSE(sl_host_status_wrong(b.status));
    bench_close(&b);
}

static void
other_words_for_the_same_are_not_unequal(void)
{
    bench b;
    sl_facts more = eight("NVIDIA H100 80GB HBM3"), less = eight("h100");
    bench_open(&b);
    sl_facts_number(&more, SL_FIELD_MEMORY_BYTES, 81559.0 * 1048576, 3, "memory");
    sl_facts_number(&less, SL_FIELD_MEMORY_BYTES, 80995.0 * 1048576, 3, "memory");
    add(&b, "gpu[001-020]", SL_HOST_USABLE, NULL, &more);
    add(&b, "gpu[021-032]", SL_HOST_USABLE, NULL, &less);
    (void)observe(&b, "ansible", at_noon, NULL);
    join(&b, spec);
    expect_holds(&b, "\"contradictions\":[],\"unequal\":[]");
    bench_close(&b);
}

/* gpu001 of two domains, and a source that knows gpu002 apart from gpu002 of a domain. */
static void
a_name_that_may_be_several_hosts_is_none_of_them(void)
{
    bench b;
    const sl_facts facts = eight("h100");
    bench_open(&b);
    add(&b, "gpu001.a.example,gpu001.b.example,gpu002,gpu002.a.example", SL_HOST_USABLE, NULL,
        &facts);
    add(&b, "gpu[003-032].a.example", SL_HOST_USABLE, NULL, &facts);
    (void)observe(&b, "kubernetes", at_noon, NULL);
    join(&b, spec);
    expect_holds(&b, "{\"usable\":31,");
    expect_holds(&b, "\"missing\":[\"gpu001\"]");
    expect_holds(&b, "\"unexpected\":[\"gpu001.a.example\",\"gpu001.b.example\","
                     "\"gpu002.a.example\"]");
    expect_holds(&b,
                 "\"ambiguous\":[\"gpu001\",\"gpu001.a.example\",\"gpu001.b.example\",\"gpu002\",");
    bench_close(&b);
}

/* Whom the spec names each, nobody has to ask about. */
static void
names_that_the_spec_tells_apart_are_clear(void)
{
    static const char both[] =
        "{\"pools\":[{\"name\":\"p\",\"nodes\":2,\"hosts\":[\"n1\",\"n1.cluster.example\"],"
        "\"node\":{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"accelerators\":8}}]}";
    bench b;
    bench_open(&b);
    add(&b, "n1", SL_HOST_USABLE, NULL, NULL);
    (void)observe(&b, "slurm", at_noon, NULL);
    join(&b, both);
    expect_holds(&b, "{\"usable\":1,");
    expect_holds(&b, "\"missing\":[\"n1.cluster.example\"],\"unexpected\":[],\"ambiguous\":[]");
    bench_close(&b);
}

static void
a_state_that_goes_on_keeps_its_beginning(void)
{
    bench b;
    bench_open(&b);
    add(&b, "gpu[001-016]", SL_HOST_USABLE, NULL, NULL);
    add(&b, "gpu[017-018]", SL_HOST_DRAINED, "bad link", NULL);
    const char *const before = observe(&b, "slurm", at_noon, NULL)->facts;
    add(&b, "gpu[001-016]", SL_HOST_USABLE, NULL, NULL);
    add(&b, "gpu017", SL_HOST_DRAINED, "bad link", NULL);
    add(&b, "gpu018", SL_HOST_DRAINED, "bad memory", NULL);
    b.count = 0;
    (void)observe(&b, "slurm", at_one, before);
    join(&b, spec);
    expect_holds(&b, "\"hosts\":[\"gpu017\"],\"count\":1,\"reason\":\"bad link\",\"source\":"
                     "\"slurm\",\"since\":\"2026-01-31T12:00:00.000Z\"");
    expect_holds(&b, "\"hosts\":[\"gpu018\"],\"count\":1,\"reason\":\"bad memory\",\"source\":"
                     "\"slurm\",\"since\":\"2026-01-31T13:00:00.000Z\"");
    bench_close(&b);
}

static void
the_same_findings_again_are_the_same_facts(void)
{
    bench b;
    bench_open(&b);
    add(&b, "gpu[001-032]", SL_HOST_USABLE, NULL, NULL);
    const char *const before = observe(&b, "slurm", at_noon, NULL)->facts;
    add(&b, "gpu[001-032]", SL_HOST_USABLE, NULL, NULL);
    sl_expect_text(observe(&b, "slurm", at_one, before)->facts, before, "byte for byte");
    bench_close(&b);
}

static void
facts_that_are_none_of_ours_are_a_fault_of_ours(void)
{
    bench b;
    sl_observed observed;
    bench_open(&b);
    CU_ASSERT_EQUAL(sl_observed_open("{}", 2, &observed, &b.err), SL_E_INTERNAL);
    sl_observed_close(&observed);
    sl_expect_text(b.err.list[0].rule, "bad_observation", "rule");
    b.err.count = 0;
    bench_close(&b);
}

static void
moments_are_read_and_written_as_rfc_3339(void)
{
    char text[SL_INSTANT_SIZE];
    double instant_s = 0;
    CU_ASSERT_TRUE(sl_instant_read("2026-01-31T12:00:00Z", &instant_s));
    CU_ASSERT_EQUAL(instant_s, 1769860800.0);
    CU_ASSERT_TRUE(sl_instant_read("2026-01-31t13:30:00.250+01:30", &instant_s));
    sl_instant_write(instant_s, text);
    sl_expect_text(text, "2026-01-31T12:00:00.250Z", "in UTC");
    CU_ASSERT_TRUE(sl_instant_read("2024-02-29T00:00:00-00:00", &instant_s));
    sl_instant_write(instant_s, text);
    sl_expect_text(text, "2024-02-29T00:00:00.000Z", "a leap day");
    for (const char *const *bad =
             (const char *const[]){"", "now", "2026-01-31", "2026-02-29T00:00:00Z",
                                   "2026-01-31T24:00:00Z", "2026-01-31T12:00:00",
                                   "2026-01-31T12:00:00Zx", "1969-12-31T23:59:59Z", NULL};
         *bad != NULL; bad++)
        if (sl_instant_read(*bad, &instant_s))
            sl_fail_for(*bad);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(without_observations_every_node_is_usable),
        SL_CASE(drained_and_down_hosts_are_not_usable_and_say_why_and_since_when),
        SL_CASE(of_many_scattered_nodes_the_first_are_named),
        SL_CASE(each_reason_has_room_and_says_that_there_is_more),
        SL_CASE(one_drained_node_is_named_in_the_singular),
        SL_CASE(who_is_not_listed_is_missing_and_strangers_with_accelerators_are_unexpected),
        SL_CASE(the_most_recent_word_on_a_host_counts),
        SL_CASE(a_scheduler_has_the_last_word_on_what_it_withholds),
        SL_CASE(what_is_stale_does_not_count_and_is_flagged),
        SL_CASE(fields_that_contradict_the_spec_are_named_with_both_values),
        SL_CASE(an_ambiguous_name_contradicts_only_what_it_cannot_be),
        SL_CASE(memory_that_a_tool_rounds_is_no_contradiction),
        SL_CASE(a_pool_without_names_is_compared_by_numbers),
        SL_CASE(the_full_name_of_a_host_is_the_host),
        SL_CASE(the_short_name_of_a_host_is_the_host),
        SL_CASE(sources_that_spell_a_host_otherwise_speak_of_one),
        SL_CASE(hosts_are_compared_with_the_others_of_their_pool),
        SL_CASE(other_words_for_the_same_are_not_unequal),
        SL_CASE(a_name_that_may_be_several_hosts_is_none_of_them),
        SL_CASE(names_that_the_spec_tells_apart_are_clear),
        SL_CASE(a_state_that_goes_on_keeps_its_beginning),
        SL_CASE(the_same_findings_again_are_the_same_facts),
        SL_CASE(facts_that_are_none_of_ours_are_a_fault_of_ours),
        SL_CASE(moments_are_read_and_written_as_rfc_3339),
    };
    return sl_run_catalogued(argc, argv, "host_status", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
