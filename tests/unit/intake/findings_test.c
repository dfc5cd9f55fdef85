#include "intake/findings.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"

static sl_arena *arena;
static sl_findings *findings;
static sl_errors err;

static void
begin(void)
{
    arena = sl_arena_new(256 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    findings = sl_findings_new(arena, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(findings);
    err = (sl_errors){.count = 0};
    CU_ASSERT_EQUAL(sl_findings_file(findings, "a.txt", "first", &err), SL_OK);
}

static void
end(void)
{
    sl_arena_free(arena);
}

static sl_facts
gpus(const char *name, double count)
{
    sl_facts facts = {0};
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, name, 3, "Gres");
    sl_facts_number(&facts, SL_FIELD_ACCELERATORS, count, 3, "Gres");
    return facts;
}

static void
add(const char *name, const sl_facts *facts)
{
    const sl_found_host host = {.name = name, .state = SL_HOST_USABLE, .line = 3};
    CU_ASSERT_EQUAL(sl_findings_add(findings, &host, facts, &err), SL_OK);
}

static const sl_found_host *
host(const char *name)
{
    const uint32_t at = sl_findings_find(findings, name);
    CU_ASSERT_NOT_EQUAL_FATAL(at, SL_FOUND_NONE);
    return sl_findings_host(findings, at);
}

static const char *
warning(uint32_t index)
{
    uint32_t dropped = 0;
    if (index >= sl_findings_warning_count(findings, &dropped))
        return "none";
    return sl_findings_warning(findings, index)->code;
}

static void
only_what_is_said_is_set(void)
{
    sl_facts facts = {0};
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, NULL, 1, NULL);
    sl_facts_text(&facts, SL_FIELD_DRIVER, "", 1, NULL);
    sl_facts_number(&facts, SL_FIELD_CPUS, 0.0, 1, NULL);
    sl_facts_number(&facts, SL_FIELD_LINKS, -1.0, 1, NULL);
    sl_facts_number(&facts, SL_FIELD_MEMORY_BYTES, (double)INFINITY, 1, NULL);
    sl_facts_number(&facts, SL_FIELD_POWER_LIMIT_W, (double)NAN, 1, NULL);
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++)
        CU_ASSERT_FALSE(facts.field[i].said);
    sl_facts_number(&facts, SL_FIELD_RESERVED_BYTES, 0.0, 1, NULL);
    sl_facts_number(&facts, SL_FIELD_PRICE_PER_NODE_HOUR, 0.0, 1, NULL);
    CU_ASSERT_TRUE(facts.field[SL_FIELD_RESERVED_BYTES].said);
    CU_ASSERT_TRUE(facts.field[SL_FIELD_PRICE_PER_NODE_HOUR].said);
}

static void
every_field_has_a_name_of_its_own(void)
{
    for (sl_field a = 0; a < SL_FIELD_COUNT; a++)
        for (sl_field b = 0; b < a; b++)
            CU_ASSERT_FALSE(sl_text_equal(sl_field_name(a), sl_field_name(b)));
}

static void
equal_facts_are_kept_once_per_file(void)
{
    begin();
    sl_facts facts = gpus("h100", 8);
    add("gpu[001-100]", &facts);
    facts.field[SL_FIELD_ACCELERATOR].place.line = 90; /* where it stands is no difference */
    add("gpu[101-200]", &facts);
    CU_ASSERT_EQUAL(sl_findings_kind_count(findings), 1);
    CU_ASSERT_EQUAL(sl_findings_count(findings), 200);
    sl_expect_text(host("gpu150")->name, "gpu150", "name");

    CU_ASSERT_EQUAL(sl_findings_file(findings, "b.txt", "second", &err), SL_OK);
    add("gpu001", &facts);
    CU_ASSERT_EQUAL(sl_findings_kind_count(findings), 2);
    CU_ASSERT_EQUAL(sl_findings_count(findings), 201);
    const sl_found_host *const first = host("gpu001");
    CU_ASSERT_EQUAL(first->file, 0);
    CU_ASSERT_NOT_EQUAL_FATAL(first->next, SL_FOUND_NONE);
    const sl_found_host *const second = sl_findings_host(findings, first->next);
    CU_ASSERT_EQUAL(second->file, 1);
    CU_ASSERT_EQUAL(second->next, SL_FOUND_NONE);
    CU_ASSERT_PTR_EQUAL(second->name, first->name);
    CU_ASSERT_EQUAL(sl_findings_find(findings, "gpu201"), SL_FOUND_NONE);
    end();
}

static void
texts_are_copied(void)
{
    begin();
    char name[] = "h100", reason[] = "dust", path[] = "Gres", of[] = "gpu1", where[] = "rack1";
    sl_facts facts = {0};
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, name, 1, path);
    const sl_found_host given = {
        .name = of, .state = SL_HOST_DOWN, .reason = reason, .domain = where};
    CU_ASSERT_EQUAL(sl_findings_add(findings, &given, &facts, &err), SL_OK);
    sl_findings_cluster_name(findings, of);
    memset(name, 'x', 4);
    memset(reason, 'x', 4);
    memset(path, 'x', 4);
    memset(of, 'x', 4);
    memset(where, 'x', 5);
    const sl_found_host *const kept = host("gpu1");
    const sl_fact *const fact =
        &sl_findings_kind(findings, kept->kind)->field[SL_FIELD_ACCELERATOR];
    sl_expect_text(fact->text, "h100", "accelerator");
    sl_expect_text(fact->place.path, "Gres", "path");
    sl_expect_text(kept->reason, "dust", "reason");
    sl_expect_text(kept->domain, "rack1", "domain");
    sl_expect_text(sl_findings_cluster(findings), "gpu1", "cluster");
    end();
}

static void
a_host_named_again_is_completed(void)
{
    begin();
    sl_facts facts = gpus("h100", 8);
    add("gpu1", &facts);
    sl_facts more = {0};
    sl_facts_number(&more, SL_FIELD_CPUS, 96, 7, "CPUTot");
    const sl_found_host again = {
        .name = "gpu1", .state = SL_HOST_DRAINED, .reason = "dust", .leaf = "s1"};
    CU_ASSERT_EQUAL(sl_findings_add(findings, &again, &more, &err), SL_OK);
    const sl_found_host *known = host("gpu1");
    const sl_facts *kind = sl_findings_kind(findings, known->kind);
    CU_ASSERT_EQUAL(sl_findings_count(findings), 1);
    CU_ASSERT_EQUAL(known->state, SL_HOST_DRAINED);
    sl_expect_text(known->reason, "dust", "reason");
    sl_expect_text(known->leaf, "s1", "leaf");
    sl_expect_text(kind->field[SL_FIELD_ACCELERATOR].text, "h100", "accelerator");
    CU_ASSERT_EQUAL(kind->field[SL_FIELD_CPUS].number, 96);
    sl_expect_text(warning(0), "none", "nothing contradicts");

    /* A state that is better changes nothing, another value is told and not taken. */
    facts = gpus("a100", 8);
    add("gpu1", &facts);
    known = host("gpu1");
    kind = sl_findings_kind(findings, known->kind);
    CU_ASSERT_EQUAL(known->state, SL_HOST_DRAINED);
    sl_expect_text(kind->field[SL_FIELD_ACCELERATOR].text, "h100", "accelerator");
    sl_expect_text(warning(0), "said_twice", "another accelerator");
    end();
}

static void
nodes_without_a_name_are_counted(void)
{
    begin();
    const sl_facts facts = gpus("h100", 8);
    const sl_found_host some = {.count = 12};
    const sl_found_host none = {.count = 0};
    CU_ASSERT_EQUAL(sl_findings_add(findings, &some, &facts, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_findings_add(findings, &none, &facts, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_findings_count(findings), 1);
    CU_ASSERT_PTR_NULL(sl_findings_host(findings, 0)->name);
    CU_ASSERT_EQUAL(sl_findings_host(findings, 0)->count, 12);
    end();
}

static void
hosts_kinds_files_and_warnings_are_bounded(void)
{
    begin();
    add("n[1-131072]", NULL);
    const sl_found_host one = {.name = "m"}, unnamed = {.count = 1}, bad = {.name = "a["};
    CU_ASSERT_EQUAL(sl_findings_count(findings), SL_HOSTS_MAX);
    CU_ASSERT_EQUAL(sl_findings_add(findings, &one, NULL, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "too_many", "named");
    CU_ASSERT_EQUAL(sl_findings_add(findings, &unnamed, NULL, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(sl_findings_add(findings, &bad, NULL, &err), SL_E_RANGE);
    sl_expect_text(err.list[2].rule, "malformed_hosts", "brackets");
    CU_ASSERT_EQUAL(host("n131072")->line, 3);
    end();

    begin();
    for (uint32_t i = 0; i < SL_FINDINGS_KINDS_MAX; i++) {
        const sl_facts facts = gpus("h100", 1.0 + i);
        char name[16];
        (void)sl_text_format(name, sizeof name, "n%u", i);
        add(name, &facts);
    }
    const sl_facts more = gpus("a100", 1);
    CU_ASSERT_EQUAL(sl_findings_add(findings, &one, &more, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "too_many", "kinds");
    for (uint32_t i = 1; i < SL_FINDINGS_FILES_MAX; i++)
        CU_ASSERT_EQUAL(sl_findings_file(findings, "", "f", &err), SL_OK);
    CU_ASSERT_EQUAL(sl_findings_file(findings, "", "f", &err), SL_E_RANGE);
    end();

    begin();
    uint32_t dropped = 0;
    for (uint32_t i = 0; i < SL_FINDINGS_WARNINGS_MAX + 5; i++)
        sl_findings_warn(findings, "odd", i, NULL, "the row %u is odd", i);
    sl_findings_warn(findings, "odd", 900, NULL, "the row %u is odd", 3);
    CU_ASSERT_EQUAL(sl_findings_warning_count(findings, &dropped), SL_FINDINGS_WARNINGS_MAX);
    CU_ASSERT_EQUAL(dropped, 5);
    CU_ASSERT_EQUAL(sl_findings_warning(findings, 3)->count, 2);
    CU_ASSERT_EQUAL(sl_findings_warning(findings, 3)->place.line, 3);
    end();
}

static void
memory_ends_in_an_error(void)
{
    arena = sl_arena_new(512 << 10);
    findings = sl_findings_new(arena, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(findings);
    err = (sl_errors){.count = 0};
    CU_ASSERT_EQUAL(sl_findings_file(findings, "a", "f", &err), SL_OK);
    const sl_found_host many = {.name = "n[1-131072]"};
    CU_ASSERT_EQUAL(sl_findings_add(findings, &many, NULL, &err), SL_E_MEMORY);
    end();
}

static void
the_first_fabric_counts_and_is_completed(void)
{
    begin();
    sl_found_fabric tree = {.switches = 3}, ratio = {.switches = 9};
    tree.kind = (sl_fact){.said = true, .text = "fat_tree", .place = {2, "SwitchName"}};
    ratio.kind = (sl_fact){.said = true, .text = "block"};
    ratio.oversubscription = (sl_fact){.said = true, .number = 2.0};
    sl_findings_fabric(findings, &tree);
    sl_findings_fabric(findings, &ratio);
    const sl_found_fabric *const network = sl_findings_network(findings);
    sl_expect_text(network->kind.text, "fat_tree", "kind");
    CU_ASSERT_EQUAL(network->switches, 3);
    CU_ASSERT_EQUAL(network->oversubscription.number, 2.0);
    end();
}

static void
next_file(const char *name)
{
    CU_ASSERT_EQUAL_FATAL(sl_findings_file(findings, name, "other", &err), SL_OK);
}

static void
a_host_with_and_without_its_domain_is_one(void)
{
    begin();
    const sl_facts four = gpus("a100", 4), eight = gpus("a100", 8);
    add("gpu[01-02],mds", &four);
    next_file("b.json");
    add("gpu[01-03].cluster.example", &eight);
    CU_ASSERT_EQUAL(sl_findings_join_names(findings, &err), SL_OK);
    sl_expect_text(warning(0), "host_names_shortened", "warning");
    sl_expect_text(warning(1), "none", "no other");
    CU_ASSERT_EQUAL(sl_findings_find(findings, "gpu01"), 0);
    CU_ASSERT_EQUAL(host("gpu01")->next, 3);
    sl_expect_text(sl_findings_host(findings, 3)->name, "gpu01", "short");
    sl_expect_text(host("gpu03.cluster.example")->name, "gpu03.cluster.example", "alone");
    end();
}

static void
the_long_name_may_come_first(void)
{
    begin();
    const sl_facts four = gpus("a100", 4);
    add("gpu01.cluster.example", &four);
    next_file("b.txt");
    add("gpu01", &four);
    CU_ASSERT_EQUAL(sl_findings_join_names(findings, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_findings_find(findings, "gpu01"), 1);
    CU_ASSERT_EQUAL(host("gpu01")->next, 0);
    end();
}

static void
names_that_fit_two_hosts_stay_apart(void)
{
    begin();
    const sl_facts four = gpus("a100", 4);
    add("gpu01,web,10", &four);
    next_file("b.json");
    add("gpu01.a.example,gpu01.b.example,10.0.0.1", &four);
    next_file("c.ini");
    add("web.a.example", &four);
    add("web", &four);
    CU_ASSERT_EQUAL(sl_findings_join_names(findings, &err), SL_OK);
    /* Each of two domains, and one file that names both; an address is no name. */
    uint32_t dropped = 0;
    sl_expect_text(warning(0), "host_names_ambiguous", "warning");
    CU_ASSERT_EQUAL(sl_findings_warning(findings, 0)->count, 3);
    CU_ASSERT_EQUAL(sl_findings_warning_count(findings, &dropped), 1);
    CU_ASSERT_EQUAL(host("gpu01")->next, SL_FOUND_NONE);
    CU_ASSERT_EQUAL(host("10")->next, SL_FOUND_NONE);
    end();
}

static const sl_case cases[] = {
    SL_CASE(only_what_is_said_is_set),
    SL_CASE(every_field_has_a_name_of_its_own),
    SL_CASE(equal_facts_are_kept_once_per_file),
    SL_CASE(texts_are_copied),
    SL_CASE(a_host_named_again_is_completed),
    SL_CASE(nodes_without_a_name_are_counted),
    SL_CASE(hosts_kinds_files_and_warnings_are_bounded),
    SL_CASE(memory_ends_in_an_error),
    SL_CASE(the_first_fabric_counts_and_is_completed),
    SL_CASE(a_host_with_and_without_its_domain_is_one),
    SL_CASE(the_long_name_may_come_first),
    SL_CASE(names_that_fit_two_hosts_stay_apart),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "findings", cases, sizeof cases / sizeof cases[0]);
}
