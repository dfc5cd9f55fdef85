/* Names that sites give their accelerators, from what a tool prints to a part of the catalogue. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "catalogued.h"
#include "harness.h"
#include "intake/draft.h"
#include "intake/format.h"

static sl_catalog *catalog;

/* A text and the draft of it. */
typedef struct drafting {
    sl_arena *arena;
    sl_draft *draft;
    sl_errors err;
} drafting;

static drafting
draft_of_both(const char *text, const char *more)
{
    const sl_raw raws[] = {{.name = "", .text = text, .size = strlen(text)},
                           {.name = "", .text = more, .size = more != NULL ? strlen(more) : 0}};
    const sl_format *used = NULL;
    uint32_t confidence = 0;
    drafting d = {.arena = sl_arena_new(64 << 20), .draft = calloc(1, sizeof *d.draft)};

    CU_ASSERT_FATAL(d.arena != NULL && d.draft != NULL);
    sl_findings *const findings = sl_findings_new(d.arena, catalog);
    for (size_t i = 0; i < (more != NULL ? 2 : 1); i++)
        CU_ASSERT_EQUAL_FATAL(sl_intake_read(&raws[i], NULL, findings, &used, &confidence, &d.err),
                              SL_OK);
    CU_ASSERT_EQUAL_FATAL(sl_draft_make(findings, catalog, d.arena, d.draft, &d.err), SL_OK);
    return d;
}

static drafting
draft_of(const char *text)
{
    return draft_of_both(text, NULL);
}

static void
drop(drafting *d)
{
    free(d->draft);
    sl_arena_free(d->arena);
}

/* "a, b" of the parts that sinfo's word may mean, "? a, b" where the word is only near to them. */
static void
name_parts(const char *word, char *out, size_t size)
{
    char text[256];

    CU_ASSERT_TRUE(
        sl_text_format(text, sizeof text, "NODELIST GRES STATE\nn1 gpu:%s:4 idle\n", word));
    drafting d = draft_of(text);
    CU_ASSERT_EQUAL_FATAL(d.draft->pool_count, 1);
    const sl_draft_pool *const pool = &d.draft->pools[0];
    (void)sl_text_copy(out, size, pool->part != NULL ? pool->part->accelerator.id : "");
    if (pool->part == NULL && pool->candidates_near)
        (void)sl_text_copy(out, size, "? ");
    for (uint32_t i = 0; i < pool->candidate_count && pool->part == NULL; i++) {
        const size_t length = strlen(out);
        (void)sl_text_format(out + length, size - length, "%s%s", i > 0 ? ", " : "",
                             pool->candidates[i]->accelerator.id);
    }
    drop(&d);
}

static void
expect_names(const char *const (*names)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char parts[512];
        name_parts(names[i][0], parts, sizeof parts);
        sl_expect_text(parts, names[i][1], names[i][0]);
    }
}

static void
a_memory_at_the_end_of_a_name_tells_parts_apart(void)
{
    static const char *const names[][2] = {
        {"l40s-48", "nvidia-l40s"},
        {"h100_94gb", "nvidia-h100-nvl-94gb"},
        {"a100-sxm-80gb", "nvidia-a100-sxm4-80gb"},
        {"v100-32", "nvidia-v100-sxm2-32gb, nvidia-v100-pcie-32gb"},
        {"v100-32g", "nvidia-v100-sxm2-32gb"},
        {"a100.40gb", "nvidia-a100-sxm4-40gb, nvidia-a100-pcie-40gb"},
        {"A100_80", "nvidia-a100-sxm4-80gb, nvidia-a100-pcie-80gb"},
        {"a100-80g", "nvidia-a100-sxm4-80gb"},
        {"h100-80", "nvidia-h100-sxm5-80gb, nvidia-h100-pcie-80gb"},
    };
    expect_names(names, sizeof names / sizeof names[0]);
}

/* As submissions to MLPerf spell them, blanks aside. */
static void
words_around_a_name_are_passed(void)
{
    static const char *const names[][2] = {
        {"NVIDIA_A100-SXM4-40GB_(400W_TDP)", "nvidia-a100-sxm4-40gb"},
        {"NVIDIA_H200-SXM-141GB-CTS", "nvidia-h200-sxm-141gb"},
        {"NVIDIA_GH200_Grace_Hopper_Superchip_144GB", "nvidia-gh200-144gb"},
    };
    expect_names(names, sizeof names / sizeof names[0]);
}

static void
other_numbers_at_the_end_of_a_name_are_of_the_name(void)
{
    static const char *const names[][2] = {
        {"nvidia_gh200_480gb", "nvidia-gh200-96gb"}, /* 480 GB are its host's */
        {"rtx_4090", "nvidia-rtx-4090"},
        {"mi-100", "amd-mi100"},
        /* No A100 has as much: what is left of it is near to what there is. */
        {"a100-24", "? nvidia-a100-sxm4-40gb, nvidia-a100-sxm4-80gb, nvidia-a100-pcie-40gb, "
                    "nvidia-a100-pcie-80gb, nvidia-a100-sxm4-64gb"},
    };
    expect_names(names, sizeof names / sizeof names[0]);
}

static void
what_is_near_begins_alike(void)
{
    static const char *const names[][2] = {
        {"mi250-box", "? amd-mi250x, amd-mi250x-gcd, amd-mi250"},
        {"vega_20", "? "}, /* not H200, which holds a 20 */
        {"l4-24g-x", "? nvidia-l4, nvidia-l40, nvidia-l40s"},
    };
    expect_names(names, sizeof names / sizeof names[0]);
}

/* The first pool's part, and the first note on the draft. */
static void
expect_label(const char *rows, const char *part, const char *note, bool guess)
{
    char text[512];

    CU_ASSERT_TRUE(
        sl_text_format(text, sizeof text, "NODELIST;GRES;AVAIL_FEATURES;STATE\n%s", rows));
    drafting d = draft_of(text);
    CU_ASSERT_FATAL(d.draft->pool_count > 0 && d.draft->note_count > 0);
    const sl_draft_pool *const pool = &d.draft->pools[0];
    sl_expect_text(pool->part != NULL ? pool->part->accelerator.id : "", part, rows);
    sl_expect_text(d.draft->notes[0].code, note, rows);
    CU_ASSERT_EQUAL(d.draft->notes[0].guess, guess);
    if (pool->part != NULL)
        CU_ASSERT_EQUAL(pool->value[SL_FIELD_ACCELERATOR].origin, SL_FROM_LIKE);
    drop(&d);
}

static void
a_label_names_a_part_where_nothing_speaks_against_it(void)
{
    expect_label("n1;gpu:4;a10,icx;idle\n", "nvidia-a10", "part_in_features", true);
    expect_label("n1;gpu:4;gpu_a10,icx;idle\n", "nvidia-a10", "part_in_features", false);
    expect_label("n1;gpu:8;mi325x-256;idle\n", "amd-mi325x", "part_in_features", false);
    /* A16 and A2 are boards, which the catalogue does not have. */
    expect_label("n1;gpu:4;a10;idle\nn2;gpu:4;a16;idle\n", "nvidia-a10", "part_in_features", true);
    /* Racks of one row, whether their nodes have devices or not. */
    expect_label("n1;gpu:4;a10;idle\nn2;gpu:4;a11;idle\n", "", "label_not_taken", false);
    expect_label("n1;gpu:4;a11;idle\nn2;gpu:4;a10;idle\n", "", "accelerator_unnamed", true);
    expect_label("n1;gpu:8;b200;idle\nn2;(null);B201;idle\n", "", "label_not_taken", false);
    expect_label("n1;gpu:4;a10;idle\nn2;gpu:4;a111,b11;idle\n", "nvidia-a10", "part_in_features",
                 true);
    /* Another memory, and a processor's generation. */
    expect_label("n1;gpu:4;l4,80gb;idle\n", "", "label_not_taken", false);
    expect_label("n1;gpu:4;v4;idle\n", "", "accelerator_unnamed", true);
}

/* One of the nodes says what it has, and that a rack is called as a part is. */
static void
what_a_node_prints_overrules_a_label(void)
{
    drafting d = draft_of_both("NODELIST;GRES;AVAIL_FEATURES;STATE\nn[1-2];gpu:2;b200;idle\n",
                               "index, name, memory.total [MiB]\n"
                               "0, NVIDIA H100 80GB HBM3, 81559 MiB\n"
                               "1, NVIDIA H100 80GB HBM3, 81559 MiB\n");
    CU_ASSERT_EQUAL(d.draft->pool_count, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d.draft->pools[0].part);
    sl_expect_text(d.draft->pools[0].part->accelerator.id, "nvidia-h100-sxm5-80gb", "b200");
    sl_expect_text(d.draft->notes[0].code, "label_not_taken", "b200");
    drop(&d);
}

/* Where no tool printed a name, but what a device is on the bus. */
static void
a_number_on_the_bus_names_a_part(void)
{
    static const char before[] = "<system><cpu numaid=\"0\"><pci busid=\"0\" class=\"0x030200\" "
                                 "vendor=\"0x10de\" device=\"0x2330\"><gpu dev=\"0\"/></pci>";
    char text[512];

    CU_ASSERT_TRUE(sl_text_format(text, sizeof text, "%s</cpu></system>", before));
    drafting d = draft_of(text);
    const sl_value *const name = &d.draft->pools[0].value[SL_FIELD_ACCELERATOR];
    CU_ASSERT_PTR_NOT_NULL_FATAL(d.draft->pools[0].part);
    sl_expect_text(d.draft->pools[0].part->accelerator.id, "nvidia-h100-sxm5-80gb", "10de:2330");
    sl_expect_text(name->fact.place.path, "pci id", "where it was read");
    drop(&d);
    /* One that nobody knows is not named, nor are two that differ. */
    static const char *const others[] = {"0x2339", "0x20b2"};
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_TRUE(sl_text_format(
            text, sizeof text,
            "%s<pci busid=\"1\" class=\"0x030200\" vendor=\"0x10de\" device=\"%s\"><gpu "
            "dev=\"1\"/></pci></cpu></system>",
            i == 0 ? "<system><cpu numaid=\"0\">" : before, others[i]));
        d = draft_of(text);
        CU_ASSERT_PTR_NULL(d.draft->pools[0].part);
        sl_expect_text(d.draft->notes[0].code, "accelerator_unnamed", others[i]);
        drop(&d);
    }
}

static void
clouds_name_parts_in_labels_of_their_own(void)
{
    drafting d =
        draft_of("{\"kind\": \"Node\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"n\", "
                 "\"labels\": {\"aliyun.accelerator/nvidia_name\": "
                 "\"NVIDIA-A100-SXM4-80GB\"}}, \"status\": {\"capacity\": "
                 "{\"nvidia.com/gpu\": \"8\"}}}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(d.draft->pools[0].part);
    sl_expect_text(d.draft->pools[0].part->accelerator.id, "nvidia-a100-sxm4-80gb", "aliyun");
    drop(&d);
}

/* dl1 has Gaudis of the first generation, and both parts that go by the resource are later ones. */
static void
a_part_of_a_node_type_that_nobody_knows_is_no_other(void)
{
    drafting d = draft_of("{\"kind\": \"List\", \"items\": [{\"kind\": \"Node\", \"metadata\": "
                          "{\"name\": \"n\", \"labels\": {\"node.kubernetes.io/instance-type\": "
                          "\"dl1.24xlarge\"}}, \"status\": {\"capacity\": {\"habana.ai/gaudi\": "
                          "\"8\"}}}]}");
    CU_ASSERT_PTR_NULL(d.draft->pools[0].part);
    sl_expect_text(d.draft->notes[0].code, "unknown_accelerator", "dl1");
    drop(&d);
}

static const sl_draft_note *
note_of(const drafting *d, const char *code)
{
    for (uint32_t i = 0; i < d->draft->note_count; i++)
        if (sl_text_equal(d->draft->notes[i].code, code))
            return &d->draft->notes[i];
    return NULL;
}

/* The labeller's gigabytes are those of a slice, or of another part. */
static void
a_memory_that_the_part_does_not_have_is_told(void)
{
    static const char before[] =
        "{\"kind\": \"Node\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"n\", \"labels\": "
        "{\"amd.com/gpu.product-name\": \"AMD_Instinct_MI300X_OAM\", \"amd.com/gpu.vram\": \"";
    static const char behind[] = "G\"}}, \"status\": {\"capacity\": {\"amd.com/gpu\": \"64\"}}}";
    char text[512];

    for (int part = 0; part < 2; part++) {
        CU_ASSERT_TRUE(
            sl_text_format(text, sizeof text, "%s%s%s", before, part == 0 ? "24" : "192", behind));
        drafting d = draft_of(text);
        CU_ASSERT_EQUAL(note_of(&d, "stated_memory_differs") != NULL, part == 0);
        drop(&d);
    }
}

/* It is answered as it came, so its faults are told beside it; names that are left open are told of
 * their pools. */
static void
a_spec_that_would_be_refused_is_told(void)
{
    drafting d = draft_of("{\"pools\": [{\"name\": \"a\", \"nodez\": 2, \"node\": "
                          "{\"accelerator\": \"h100\", \"accelerators\": 8}}]}");
    const sl_draft_note *const fault = note_of(&d, "required_field");
    CU_ASSERT_PTR_NOT_NULL_FATAL(fault);
    sl_expect_text(fault->pointer, "/pools/0/nodes", "where it is missing");
    CU_ASSERT_TRUE(fault->guess);
    drop(&d);
    d = draft_of("{\"pools\": [{\"name\": \"a\", \"nodes\": 2, \"node\": "
                 "{\"accelerator\": \"h100\", \"accelerators\": 8}}]}");
    CU_ASSERT_EQUAL(d.draft->note_count, 1);
    sl_expect_text(d.draft->notes[0].code, "ambiguous_accelerator", "h100");
    drop(&d);
}

static void
prices_and_plans_are_known_by_their_usual_words(void)
{
    drafting d = draft_of("Instance Type,GPU Count,GPU Name,GPU Memory\n"
                          "p5.48xlarge,8,h100,81920\n");
    CU_ASSERT_PTR_NOT_NULL(d.draft->pools[0].part);
    drop(&d);
    /* Without a column for it how many there are is the type's to say, or nobody's. */
    d = draft_of("instance type,gpu,vcpus,memory gib,price\n"
                 "gpu_8x_h100_sxm5,H100 (80 GB SXM5),208,1800,27.92\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(d.draft->pools[0].part);
    sl_expect_text(d.draft->pools[0].part->accelerator.id, "nvidia-h100-sxm5-80gb", "80 GB");
    CU_ASSERT_NOT_EQUAL(d.draft->pools[0].value[SL_FIELD_ACCELERATORS].origin, SL_FROM_FILE);
    drop(&d);
    d = draft_of(
        "{\"format_version\": \"1.2\", \"planned_values\": {\"root_module\": {\"resources\": "
        "[{\"address\": \"aws_instance.g\", \"mode\": \"managed\", \"type\": "
        "\"aws_instance\", \"name\": \"g\", \"values\": {\"instance_type\": "
        "\"g5.12xlarge\"}}]}}}");
    CU_ASSERT_PTR_NOT_NULL(d.draft->pools[0].part);
    drop(&d);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(a_memory_at_the_end_of_a_name_tells_parts_apart),
        SL_CASE(words_around_a_name_are_passed),
        SL_CASE(other_numbers_at_the_end_of_a_name_are_of_the_name),
        SL_CASE(what_is_near_begins_alike),
        SL_CASE(a_label_names_a_part_where_nothing_speaks_against_it),
        SL_CASE(what_a_node_prints_overrules_a_label),
        SL_CASE(a_number_on_the_bus_names_a_part),
        SL_CASE(clouds_name_parts_in_labels_of_their_own),
        SL_CASE(a_memory_that_the_part_does_not_have_is_told),
        SL_CASE(a_spec_that_would_be_refused_is_told),
        SL_CASE(prices_and_plans_are_known_by_their_usual_words),
        SL_CASE(a_part_of_a_node_type_that_nobody_knows_is_no_other),
    };
    return sl_run_catalogued(argc, argv, "intake_names", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
