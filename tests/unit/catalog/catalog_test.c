#include "catalog/catalog.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"

static sl_catalog *catalog;

static const sl_accelerator *
accelerator(const char *name)
{
    const sl_part *part = NULL;
    sl_errors err = {0};
    if (sl_catalog_find_part(catalog, name, "/cluster/accelerator", &part, &err) != SL_OK) {
        CU_FAIL("the accelerator must be found");
        sl_expect_text(err.list[0].message, name, "message");
        part = sl_catalog_part(catalog, 0);
    }
    return &part->accelerator;
}

static void
expect_refused(const char *name, const char *rule, const char *in_hint)
{
    const sl_part *part = NULL;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(sl_catalog_find_part(catalog, name, "/cluster/accelerator", &part, &err),
                    SL_E_RANGE);
    CU_ASSERT_PTR_NULL(part);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].rule, rule, name);
    sl_expect_text(err.list[0].pointer, "/cluster/accelerator", name);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.list[0].hint, in_hint));
}

static void
every_part_has_memory_a_link_domain_and_a_source(void)
{
    CU_ASSERT_EQUAL(sl_catalog_part_count(catalog), 65);
    for (uint32_t i = 0; i < sl_catalog_part_count(catalog); i++) {
        const sl_accelerator *const a = &sl_catalog_part(catalog, i)->accelerator;
        CU_ASSERT(a->memory_bytes >= a->nominal_bytes / 100 * 95);
        CU_ASSERT(a->reserved_bytes > 0 && a->reserved_bytes < a->memory_bytes / 20);
        CU_ASSERT(a->scale_up_domain >= 1);
        CU_ASSERT(a->memory_bytes_per_s > 1e11);
        CU_ASSERT(a->source[0] != '\0' && a->provenance[0] != '\0');
        CU_ASSERT(a->sustained_low_ratio <= a->sustained_ratio);
        CU_ASSERT(a->sustained_ratio <= a->sustained_high_ratio);
    }
}

static void
the_h100_row_carries_the_facts_and_the_fitted_laws(void)
{
    const sl_accelerator *const a = accelerator("nvidia-h100-sxm5-80gb");
    CU_ASSERT_EQUAL(a->memory_bytes, 85520809984);
    CU_ASSERT_EQUAL(a->reserved_bytes, 480ULL << 20);
    CU_ASSERT_FALSE(a->reserved_assumed);
    CU_ASSERT_EQUAL(a->nominal_bytes, 80000000000);
    CU_ASSERT_EQUAL(a->scale_up_domain, 8);
    sl_expect_near(a->peak_flops_per_s[SL_PRECISION_BF16], 989e12, 1e-12, "bf16");
    sl_expect_near(a->gemm.peak_flops_per_s, 828.3e12, 1e-12, "gemm peak");
    sl_expect_near(a->gemm.launch_s, 3.35e-6, 1e-12, "gemm launch");
    CU_ASSERT_EQUAL(a->gemm_origin, SL_ORIGIN_INTERPOLATED);
    CU_ASSERT_EQUAL(a->collective_origin, SL_ORIGIN_MEASURED);
    const sl_collective_law *const law = &a->collective[SL_COLLECTIVE_ALL_REDUCE][2];
    sl_expect_near(law->latency_s, 15.39e-6, 1e-12, "all-reduce of 8");
    sl_expect_near(law->bus_bytes_per_s, 514.8e9, 1e-12, "all-reduce of 8");
    sl_expect_near(law->ramp_s_per_sqrt_byte, 0.00763e-6, 1e-12, "all-reduce of 8");
    sl_expect_text(a->law_part, "nvidia-h100-sxm5-80gb", "law part");
}

static void
attention_has_the_published_widths_of_each_kernel(void)
{
    const sl_accelerator *const h100 = accelerator("nvidia-h100-sxm5-80gb");
    const sl_accelerator *const a100 = accelerator("nvidia-a100-sxm4-80gb");
    CU_ASSERT_EQUAL(a100->attention[SL_ATTENTION_FLASH2][1].head_dim, 128);
    CU_ASSERT_EQUAL(a100->attention[SL_ATTENTION_FLASH3][0].head_dim, 0);
    CU_ASSERT_EQUAL(a100->attention_origin, SL_ORIGIN_MEASURED);
    CU_ASSERT_EQUAL(h100->attention[SL_ATTENTION_FLASH3][2].head_dim, 256);
    const sl_attention_laws *const flash3 = &h100->attention[SL_ATTENTION_FLASH3][1];
    sl_expect_near(flash3->forward.peak_flops_per_s, 641.9e12, 1e-12, "forward");
    sl_expect_near(flash3->backward.half_length, 395.0 * 537 / 218, 1e-3, "causal backward");
    CU_ASSERT_EQUAL(h100->attention_origin, SL_ORIGIN_MEASURED);
    CU_ASSERT_EQUAL(accelerator("l40s")->attention_origin, SL_ORIGIN_SCALED);
    const sl_accelerator *const mi300x = accelerator("mi300x"); /* AITER's, PyTorch's */
    CU_ASSERT(mi300x->attention[SL_ATTENTION_FLASH3][1].backward.peak_flops_per_s >
              2 * mi300x->attention[SL_ATTENTION_FLASH2][1].backward.peak_flops_per_s);
    CU_ASSERT_EQUAL(accelerator("gb200")->collective_origin, SL_ORIGIN_SCALED);
    CU_ASSERT_EQUAL(accelerator("v100l")->attention[SL_ATTENTION_FLASH2][0].head_dim, 0);
}

/* Compute capability 10, neither 9 nor 12; and dies that are sold under two names hold one clock. */
static void
parts_differ_by_die_and_not_by_name(void)
{
    CU_ASSERT_TRUE(accelerator("b200")->any_layout);
    CU_ASSERT_TRUE(accelerator("gb300")->any_layout);
    CU_ASSERT_FALSE(accelerator("rtx5090")->any_layout);
    CU_ASSERT_FALSE(accelerator("nvidia-h100-sxm5-80gb")->any_layout);
    CU_ASSERT_FALSE(accelerator("amd-mi300x")->any_layout);
    CU_ASSERT_EQUAL(accelerator("nvidia-h800-sxm5-80gb")->sustained_ratio,
                    accelerator("nvidia-h100-sxm5-80gb")->sustained_ratio);
}

static void
a_part_of_another_speed_scales_the_law_by_its_datasheet(void)
{
    const sl_accelerator *const a100 = accelerator("nvidia-a100-sxm4-80gb");
    const sl_accelerator *const v100 = accelerator("v100l");
    CU_ASSERT_EQUAL(v100->gemm_origin, SL_ORIGIN_SCALED);
    sl_expect_text(v100->law_part, a100->id, "law part");
    sl_expect_near(v100->gemm.peak_flops_per_s, 269e12 * 125 / 312, 1e-9, "by the fp16 rate");
    sl_expect_near(v100->gemm.bandwidth_bytes_per_s, 1070e9 * 900 / 2039, 1e-9, "by memory");
    sl_expect_near(v100->collective[SL_COLLECTIVE_ALL_GATHER][2].bus_bytes_per_s, 229.4e9 / 2, 1e-9,
                   "by the link");
    sl_expect_near(v100->collective[SL_COLLECTIVE_ALL_GATHER][2].latency_s, 14.34e-6, 1e-9,
                   "latency stays");
}

static void
the_same_die_with_other_memory_is_called_scaled(void)
{
    const sl_accelerator *const a = accelerator("nvidia-a100-sxm4-40gb");
    CU_ASSERT_EQUAL(a->gemm_origin, SL_ORIGIN_SCALED);
    sl_expect_near(a->gemm.peak_flops_per_s, 269e12, 1e-12, "same peak");
    sl_expect_near(a->gemm.bandwidth_bytes_per_s, 1070e9 * 1555 / 2039, 1e-9, "other memory");
    CU_ASSERT_EQUAL(a->reserved_bytes, 518ULL << 20);
}

static void
a_measured_ceiling_bounds_products_and_attention(void)
{
    const sl_accelerator *const mi300x = accelerator("mi300x");
    const sl_accelerator *const h100 = accelerator("nvidia-h100-sxm5-80gb");
    const sl_accelerator *const a100 = accelerator("nvidia-a100-sxm4-80gb");
    sl_expect_near(mi300x->gemm.peak_flops_per_s, 668e12, 1e-12, "ceiling");
    sl_expect_near(mi300x->low_gemm[SL_LOW_PRODUCT_FP8].peak_flops_per_s,
                   h100->low_gemm[SL_LOW_PRODUCT_FP8].peak_flops_per_s * (2610 / 1307.0 * 668) /
                       (1979 / 989.5 * 828.3),
                   1e-3, "in 8 bits the same share of the datasheet");
    sl_expect_near(
        accelerator("intel-gaudi3")->attention[SL_ATTENTION_FLASH2][1].forward.peak_flops_per_s,
        a100->attention[SL_ATTENTION_FLASH2][1].forward.peak_flops_per_s * 1243 / 269, 1e-9,
        "attention");
}

/* GeForce multiplies at half rate with fp32 sums, and then reaches all of it. */
static void
a_part_that_reaches_more_of_its_datasheet_has_more_of_all(void)
{
    const sl_accelerator *const rtx = accelerator("nvidia-rtx-5090");
    const sl_accelerator *const l40s = accelerator("nvidia-l40s");
    const double ratio = 237 / 230.9;

    sl_expect_near(rtx->gemm.peak_flops_per_s, 237e12, 1e-12, "products");
    sl_expect_near(rtx->attention[SL_ATTENTION_FLASH2][1].forward.peak_flops_per_s,
                   l40s->attention[SL_ATTENTION_FLASH2][1].forward.peak_flops_per_s * ratio, 1e-9,
                   "attention");
    sl_expect_near(rtx->sustained_ratio, 1.0, 1e-12, "measured while it was hot");
}

static void
a_part_without_a_16_bit_rate_has_no_law(void)
{
    const sl_accelerator *const a = accelerator("nvidia-rtx-pro-6000-blackwell-maxq");
    CU_ASSERT_EQUAL(a->gemm_origin, SL_ORIGIN_DATASHEET);
    CU_ASSERT(a->gemm.peak_flops_per_s == 0 && a->peak_flops_per_s[SL_PRECISION_BF16] == 0);
}

static void
memory_nobody_printed_is_the_nominal_size_and_one_percent_is_kept(void)
{
    const sl_accelerator *const a = accelerator("amd-mi355x");
    CU_ASSERT_EQUAL(a->memory_bytes, 288000000000);
    CU_ASSERT_EQUAL(a->reserved_bytes, 2880000000);
    CU_ASSERT_TRUE(a->reserved_assumed);
}

static void
workspaces_of_products_go_by_architecture(void)
{
    sl_expect_near(accelerator("nvidia-h200-sxm-141gb")->pytorch_workspace_bytes, 33554432, 1e-12,
                   "Hopper");
    sl_expect_near(accelerator("nvidia-a100-sxm4-80gb")->pytorch_workspace_bytes, 8519680, 1e-12,
                   "others");
    sl_expect_near(accelerator("nvidia-a100-sxm4-80gb")->engine_workspace_bytes, 4194304, 1e-12,
                   "TransformerEngine");
    sl_expect_near(accelerator("amd-mi300x")->pytorch_workspace_bytes, 134217728, 1e-12, "ROCm");
    CU_ASSERT_EQUAL(accelerator("aws-trainium2")->pytorch_workspace_bytes, 0);
}

static void
sustained_clocks_are_claimed_only_where_long_runs_were_seen(void)
{
    sl_expect_near(accelerator("nvidia-a100-sxm4-80gb")->sustained_ratio, .995, 1e-12, "A100");
    sl_expect_near(accelerator("nvidia-h100-sxm5-80gb")->sustained_low_ratio, .75, 1e-12, "H100");
    sl_expect_near(accelerator("b200")->sustained_high_ratio, .94, 1e-12, "others");
    sl_expect_near(accelerator("nvidia-a10")->sustained_ratio, .815, 1e-12, "another Ampere");
}

static void
names_are_found_as_tools_print_them(void)
{
    static const char *const spellings[][2] = {
        {"NVIDIA H100 80GB HBM3", "nvidia-h100-sxm5-80gb"},
        {"nvidia-h100-80gb-hbm3", "nvidia-h100-sxm5-80gb"},
        {"H100_SXM5_80GB", "nvidia-h100-sxm5-80gb"},
        {"NVIDIA-A100-SXM4-80GB-SHARED", "nvidia-a100-sxm4-80gb"},
        {"A100 SXM4 80GB", "nvidia-a100-sxm4-80gb"},
        {"NVIDIA H200", "nvidia-h200-sxm-141gb"},
        {"gpu:b200", "nvidia-b200-sxm-180gb"},
        {"GeForce RTX 4090", "nvidia-rtx-4090"},
        {"AMD Instinct MI300X", "amd-mi300x"},
        {"tesla t4", "nvidia-t4"},
    };
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        sl_expect_text(accelerator(spellings[i][0])->id, spellings[i][1], spellings[i][0]);
}

/* As tools print them of modules, and inside of machines. */
static void
words_that_decorate_a_name_are_passed(void)
{
    static const char *const names[][2] = {
        {"AMD Instinct MI300X VF", "amd-mi300x"},
        {"AMD_Instinct_MI325X_OAM", "amd-mi325x"},
        {"AMD Instinct MI355X OAM VF", "amd-mi355x"},
        {"Intel(R) Data Center GPU Max 1550", "intel-max-1550"},
        {"Intel\u00ae Gaudi\u00ae 2 AI Accelerator", "intel-gaudi2"},
        {"AMD Instinct\u2122 MI300X Accelerator", "amd-mi300x"},
        {"NVIDIA Blackwell Ultra GPU (GB300)", "nvidia-gb300"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const sl_part *found[4];
        bool near = true;
        CU_ASSERT_EQUAL_FATAL(sl_catalog_candidates(catalog, names[i][0], found, 4, &near), 1);
        CU_ASSERT_FALSE(near);
        sl_expect_text(found[0]->accelerator.id, names[i][1], names[i][0]);
    }
}

static void
every_id_and_full_name_finds_its_own_part(void)
{
    for (uint32_t i = 0; i < sl_catalog_part_count(catalog); i++) {
        const sl_accelerator *const a = &sl_catalog_part(catalog, i)->accelerator;
        sl_expect_text(accelerator(a->id)->id, a->id, "id");
        sl_expect_text(accelerator(a->name)->id, a->id, "name");
    }
}

static void
a_name_of_several_parts_is_refused_with_the_candidates(void)
{
    expect_refused("a100", "ambiguous_accelerator", "nvidia-a100-sxm4-80gb");
    expect_refused("A100", "ambiguous_accelerator", "nvidia-a100-sxm4-40gb");
    expect_refused("v100", "ambiguous_accelerator", "nvidia-v100-sxm2-32gb");
    expect_refused("h100", "ambiguous_accelerator", "nvidia-h100-nvl-94gb");
    expect_refused("gfx942", "ambiguous_accelerator", "amd-mi325x");
    expect_refused("AMD INSTINCT MI200 (MCM) OAM LC MBA HPE C2", "ambiguous_accelerator",
                   "amd-mi250x-gcd");
}

static void
an_unknown_name_is_refused_with_the_nearest_id(void)
{
    expect_refused("nvidia-h100-sxm-80gb", "unknown_accelerator", "nvidia-h100-sxm5-80gb");
    expect_refused("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "unknown_accelerator", "");
    expect_refused("abacus", "unknown_accelerator", "/api/v1/accelerators");
    expect_refused("", "unknown_accelerator", "");
    expect_refused("---", "unknown_accelerator", "");
}

static void
every_node_type_is_on_a_network_we_know(void)
{
    for (uint32_t i = 0; i < sl_catalog_node_count(catalog); i++) {
        const sl_node_type *const node = sl_catalog_node(catalog, i);
        if (node->nic_count > 0 && sl_catalog_fabric(catalog, node->nic_kind) == NULL)
            sl_fail_for(node->id);
    }
    CU_ASSERT_PTR_NULL(sl_catalog_fabric(catalog, "fat_tree"));
    CU_ASSERT_PTR_NULL(sl_catalog_fabric(catalog, ""));
    const sl_fabric *const efa = sl_catalog_fabric(catalog, "EFAv4");
    CU_ASSERT_PTR_NOT_NULL_FATAL(efa);
    assert(efa != NULL);
    sl_expect_text(efa->kind, "efa", "alias");
    CU_ASSERT_TRUE(efa->ring_only);
    CU_ASSERT_FALSE(efa->guessed);
    CU_ASSERT_TRUE(sl_catalog_fabric(catalog, "slingshot")->guessed);
}

static void
node_types_are_found_by_alias_and_know_their_network(void)
{
    CU_ASSERT_EQUAL(sl_catalog_node_count(catalog), 151);
    const sl_node_type *node = NULL;
    sl_errors err = {0};
    CU_ASSERT_EQUAL_FATAL(sl_catalog_find_node(catalog, "hgx-h100-8", "", &node, &err), SL_OK);
    sl_expect_text(node->id, "dgx-h100", "alias");
    CU_ASSERT_EQUAL(node->nic_count, 8);
    sl_expect_near(node->nic_bytes_per_s, 50e9, 1e-12, "NDR");
    CU_ASSERT_EQUAL_FATAL(sl_catalog_find_node(catalog, " HGX h100__8-", "", &node, &err), SL_OK);
    sl_expect_text(node->id, "dgx-h100", "alias, its separators otherwise");
    CU_ASSERT_EQUAL_FATAL(sl_catalog_find_node(catalog, "DGXH100", "", &node, &err), SL_OK);
    sl_expect_text(node->id, "dgx-h100", "as its firmware says");
    CU_ASSERT_EQUAL_FATAL(sl_catalog_find_node(catalog, "P5.48xlarge", "", &node, &err), SL_OK);
    CU_ASSERT_EQUAL(node->nic_count, 32);
    sl_expect_near(node->price_per_node_hour, 55.04, 1e-12, "price");
    CU_ASSERT_EQUAL(sl_catalog_find_node(catalog, "dgx-h1000", "/cluster/node_type", &node, &err),
                    SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "unknown_node_type", "rule");
    CU_ASSERT_PTR_NOT_NULL(strstr(err.list[0].hint, "dgx-h"));
}

/* Links of all pairs are at most those of the part, and boards of four stand ready. */
static void
no_pair_has_more_links_than_its_part(void)
{
    static const char *const fours[] = {"a100-sxm4-80gb", "h100-sxm", "nvidia-h200-sxm-141gb"};
    for (uint32_t i = 0; i < sl_catalog_part_count(catalog); i++) {
        const sl_accelerator *const a = &sl_catalog_part(catalog, i)->accelerator;
        CU_ASSERT_TRUE(a->scale_up_pair_bytes_per_s * (a->scale_up_domain - 1) <=
                       a->scale_up_bytes_per_s);
    }
    for (uint32_t i = 0; i < sl_catalog_node_count(catalog); i++) {
        const sl_node_type *const node = sl_catalog_node(catalog, i);
        CU_ASSERT_TRUE(node->scale_up_pair_bytes_per_s <=
                       (node->accelerator != NULL ? node->accelerator->scale_up_bytes_per_s : 0));
    }
    for (size_t i = 0; i < sizeof fours / sizeof fours[0]; i++) {
        const sl_node_type *const node = sl_catalog_paired_node(catalog, accelerator(fours[i]), 4);
        CU_ASSERT_TRUE(node != NULL && node->scale_up_pair_bytes_per_s * 3 ==
                                           node->accelerator->scale_up_bytes_per_s);
        CU_ASSERT_PTR_NULL(sl_catalog_paired_node(catalog, accelerator(fours[i]), 8));
    }
}

static void
the_reference_node_is_the_common_one(void)
{
    const sl_node_type *node = sl_catalog_reference_node(catalog, accelerator("h100-sxm"));
    sl_expect_text(node != NULL ? node->id : "", "dgx-h100", "h100");
    node = sl_catalog_reference_node(catalog, accelerator("gb200"));
    CU_ASSERT_TRUE(node != NULL && node->scale_up_domain == 72 && node->accelerators == 4);
    CU_ASSERT_PTR_NULL(sl_catalog_reference_node(catalog, accelerator("h100nvl")));
}

static void
profiles_of_a_framework_stand_together(void)
{
    uint32_t count = 0;
    const sl_software *const first = sl_catalog_software(catalog, "megatron", &count);
    CU_ASSERT_EQUAL_FATAL(count, 9);
    for (uint32_t i = 0; i < count; i++)
        sl_expect_text(first[i].framework, "megatron", first[i].name);
    sl_expect_text(first[0].name, "megatron-lm-2021", "oldest");
    CU_ASSERT_TRUE(sl_catalog_software(catalog, "ddp", &count) != NULL && count == 3);
    CU_ASSERT_TRUE(sl_catalog_open_software(catalog, "ddp", &count) != NULL && count == 1);
    CU_ASSERT_TRUE(sl_catalog_software(catalog, "fsdp2", &count) != NULL && count == 9);
    CU_ASSERT_PTR_NULL(sl_catalog_software(catalog, "dp", &count));
    CU_ASSERT_EQUAL(count, 0);
    const sl_software *const named = sl_catalog_software(catalog, "deepspeed", &count);
    CU_ASSERT_EQUAL_FATAL(count, 4);
    CU_ASSERT_STRING_EQUAL(named[3].name, "internlm-2023");
    CU_ASSERT_PTR_EQUAL(sl_catalog_open_software(catalog, "deepspeed", &count), named);
    CU_ASSERT_EQUAL(count, 2);
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_FALSE(named[i].named_only);
}

static void
a_sibling_release_is_described_by_its_profile(void)
{
    bool exact = false;
    const sl_software *found = sl_catalog_find_software(catalog, "mbridge-26.04", &exact);
    CU_ASSERT_TRUE(found != NULL && exact && found->dummy_weight_gradients);
    found = sl_catalog_find_software(catalog, "mbridge-25.11", &exact);
    CU_ASSERT_TRUE(found != NULL && !exact && sl_text_equal(found->name, "mbridge-26.04"));
    found = sl_catalog_find_software(catalog, "megatron-lm-2022", &exact);
    CU_ASSERT_TRUE(found != NULL && found->dropout == 1 && !found->overlap_pipeline);
    CU_ASSERT_EQUAL(found->attention, SL_ATTENTION_UNFUSED);
    found = sl_catalog_find_software(catalog, "megatron-core-0.14", &exact);
    CU_ASSERT_TRUE(found != NULL && !exact && found->named_only && found->masks_whole);
    CU_ASSERT_EQUAL(found->fused_logits_peak_bytes, 10.0);
    CU_ASSERT_PTR_NULL(sl_catalog_find_software(catalog, "mbridge", &exact));
    CU_ASSERT_PTR_NULL(sl_catalog_find_software(catalog, "", &exact));
}

static void
every_conflict_is_of_an_entry_and_has_known_sources(void)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < sl_catalog_part_count(catalog) + sl_catalog_node_count(catalog); i++) {
        const uint32_t parts = sl_catalog_part_count(catalog);
        const char *const id = i < parts ? sl_catalog_part(catalog, i)->accelerator.id
                                         : sl_catalog_node(catalog, i - parts)->id;
        uint32_t count = 0;
        const sl_conflict *const list = sl_catalog_conflicts(catalog, id, &count);
        for (uint32_t j = 0; j < count; j++) {
            const char *code = list[j].source;
            if (!sl_text_equal(code, "recalled") && sl_catalog_next_source(catalog, &code) == NULL)
                sl_fail_for(list[j].source);
        }
        CU_ASSERT(count != 1);
        shown += count;
    }
    CU_ASSERT_EQUAL(shown, 66);
}

/* A surface is of the part and precision that were measured: the same die's has its law alone. */
static void
surfaces_belong_to_the_part_that_was_measured(void)
{
    const sl_accelerator *const h100 = accelerator("nvidia-h100-sxm5-80gb");
    const sl_accelerator *const h200 = accelerator("nvidia-h200-sxm-141gb");
    const sl_accelerator *const v100 = accelerator("v100l");
    CU_ASSERT_PTR_NOT_NULL(h100->gemm.surface);
    CU_ASSERT_PTR_NOT_NULL(h100->low_gemm[SL_LOW_PRODUCT_FP8].surface);
    CU_ASSERT_PTR_NULL(h100->low_gemm[SL_LOW_PRODUCT_FP8_KEPT].surface);
    CU_ASSERT_PTR_NOT_NULL(h200->gemm.surface);
    CU_ASSERT_PTR_NULL(h200->low_gemm[SL_LOW_PRODUCT_FP8].surface);
    CU_ASSERT_PTR_NULL(v100->gemm.surface);
    CU_ASSERT_EQUAL(h200->gemm_origin, SL_ORIGIN_INTERPOLATED);
    for (uint32_t i = 0; i < sl_catalog_part_count(catalog); i++) {
        const sl_accelerator *const a = &sl_catalog_part(catalog, i)->accelerator;
        CU_ASSERT_EQUAL(a->gemm_origin == SL_ORIGIN_INTERPOLATED, a->gemm.surface != NULL);
    }
}

static void
an_override_of_a_rate_moves_the_laws_with_it(void)
{
    sl_accelerator a = *accelerator("nvidia-h100-sxm5-80gb");
    sl_accelerator_set_memory_rate(&a, 3.35e12 / 2);
    sl_expect_near(a.gemm.bandwidth_bytes_per_s, 2654e9 / 2, 1e-12, "memory");
    CU_ASSERT_EQUAL(a.gemm_origin, SL_ORIGIN_SCALED);
    sl_accelerator_set_scale_up(&a, 225e9);
    sl_expect_near(a.collective[SL_COLLECTIVE_ALL_REDUCE][2].bus_bytes_per_s, 514.8e9 / 2, 1e-12,
                   "link");
    CU_ASSERT_EQUAL(a.collective_origin, SL_ORIGIN_SCALED);
    sl_accelerator b = *accelerator("nvidia-h100-sxm5-80gb");
    sl_accelerator_set_scale_up(&b, 450e9);
    CU_ASSERT_EQUAL(b.scale_up_pair_bytes_per_s, 0);
    CU_ASSERT_EQUAL(b.collective_origin, SL_ORIGIN_MEASURED);
}

static void
the_revision_is_twelve_hexadecimal_digits_and_repeatable(void)
{
    sl_errors err = {0};
    sl_catalog *const again = sl_catalog_new(&err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(again);
    CU_ASSERT_EQUAL(strspn(sl_catalog_revision(catalog), "0123456789abcdef"), 12);
    CU_ASSERT_EQUAL(strlen(sl_catalog_revision(catalog)), 12);
    sl_expect_text(sl_catalog_revision(again), sl_catalog_revision(catalog), "revision");
    sl_catalog_free(again);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_part_has_memory_a_link_domain_and_a_source),
        SL_CASE(the_h100_row_carries_the_facts_and_the_fitted_laws),
        SL_CASE(attention_has_the_published_widths_of_each_kernel),
        SL_CASE(parts_differ_by_die_and_not_by_name),
        SL_CASE(a_part_of_another_speed_scales_the_law_by_its_datasheet),
        SL_CASE(the_same_die_with_other_memory_is_called_scaled),
        SL_CASE(a_measured_ceiling_bounds_products_and_attention),
        SL_CASE(a_part_that_reaches_more_of_its_datasheet_has_more_of_all),
        SL_CASE(a_part_without_a_16_bit_rate_has_no_law),
        SL_CASE(memory_nobody_printed_is_the_nominal_size_and_one_percent_is_kept),
        SL_CASE(workspaces_of_products_go_by_architecture),
        SL_CASE(sustained_clocks_are_claimed_only_where_long_runs_were_seen),
        SL_CASE(names_are_found_as_tools_print_them),
        SL_CASE(words_that_decorate_a_name_are_passed),
        SL_CASE(every_id_and_full_name_finds_its_own_part),
        SL_CASE(a_name_of_several_parts_is_refused_with_the_candidates),
        SL_CASE(an_unknown_name_is_refused_with_the_nearest_id),
        SL_CASE(every_node_type_is_on_a_network_we_know),
        SL_CASE(node_types_are_found_by_alias_and_know_their_network),
        SL_CASE(no_pair_has_more_links_than_its_part),
        SL_CASE(the_reference_node_is_the_common_one),
        SL_CASE(profiles_of_a_framework_stand_together),
        SL_CASE(a_sibling_release_is_described_by_its_profile),
        SL_CASE(every_conflict_is_of_an_entry_and_has_known_sources),
        SL_CASE(surfaces_belong_to_the_part_that_was_measured),
        SL_CASE(an_override_of_a_rate_moves_the_laws_with_it),
        SL_CASE(the_revision_is_twelve_hexadecimal_digits_and_repeatable),
    };
    sl_errors err = {0};
    catalog = sl_catalog_new(&err);
    if (catalog == NULL) {
        for (uint32_t i = 0; i < err.count; i++)
            fprintf(stderr, "%s: %s\n", err.list[i].rule, err.list[i].message);
        return 1;
    }
    const int result = sl_run_cases(argc, argv, "catalog", cases, sizeof cases / sizeof cases[0]);
    sl_catalog_free(catalog);
    return result;
}
