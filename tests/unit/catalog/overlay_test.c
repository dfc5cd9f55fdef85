/* Users' rows beside the tables: what follows from what, and that nothing else moves. */
#include "catalog/overlay.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"

static sl_catalog *tables;

static sl_own_part
part_like(const char *id, const char *like)
{
    sl_own_part part = sl_own_part_unsaid();
    part.id = id;
    part.like = like;
    part.memory_bytes = 64e9;
    part.memory_bytes_per_s = 2e12;
    part.peak_flops_per_s[SL_PRECISION_BF16] = 494.5e12;
    part.own = (sl_own){.revision = 7, .spec = "{\"a\": \"b, c\"}", .created_at = "then"};
    return part;
}

/* A catalogue with one part, or NULL and its faults in err. */
static sl_catalog *
with_part(const sl_own_part *part, sl_errors *err)
{
    sl_overlay *const overlay = sl_overlay_new(7, 1, err);
    sl_catalog *made = NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(overlay);
    if (sl_overlay_add_part(overlay, part, err) == SL_OK)
        CU_ASSERT_EQUAL(sl_overlay_finish(overlay, &made, err), SL_OK);
    sl_overlay_free(overlay);
    return made;
}

static const sl_accelerator *
found(const sl_catalog *catalog, const char *name)
{
    const sl_part *part = NULL;
    sl_errors err = {0};
    if (sl_catalog_find_part(catalog, name, "", &part, &err) != SL_OK) {
        sl_fail_for(name);
        part = sl_catalog_part(catalog, 0);
    }
    return &part->accelerator;
}

static const sl_part *
own_of(const sl_catalog *made, const char *id)
{
    const sl_part *const own = sl_catalog_own_part(made, id);
    CU_ASSERT_PTR_NOT_NULL(own);
    if (own == NULL)
        abort();
    return own;
}

static void
rates_follow_the_first_that_both_have(void)
{
    sl_errors err = {0};
    sl_own_part part = part_like("half", "nvidia-h100-sxm5-80gb");
    part.peak_flops_per_s[SL_PRECISION_FP32] = 1e12;
    part.peak_flops_per_s[SL_PRECISION_TF32] = 0;
    sl_catalog *const made = with_part(&part, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    const sl_accelerator *const a = found(made, "half");
    sl_expect_near(a->peak_flops_per_s[SL_PRECISION_FP8], 1979e12 / 2, 1e-12, "half of the H100's");
    sl_expect_near(a->peak_flops_per_s[SL_PRECISION_FP32], 1e12, 1e-12, "as it was said");
    CU_ASSERT_TRUE(a->peak_flops_per_s[SL_PRECISION_TF32] == 0);
    sl_expect_near(a->scale_up_bytes_per_s, 450e9, 1e-12, "the link as it is");
    CU_ASSERT_EQUAL(a->scale_up_domain, 8);
    const sl_part *const own = own_of(made, "half");
    sl_expect_text(own->like, "nvidia-h100-sxm5-80gb", "like");
    CU_ASSERT_FALSE(own->like_assumed);
    CU_ASSERT_PTR_NOT_NULL(strstr(own->scaled, "peak_flops_per_s.fp8"));
    CU_ASSERT_PTR_NULL(strstr(own->scaled, "bf16"));
    CU_ASSERT_PTR_NULL(strstr(own->scaled, "tf32"));
    sl_expect_text(own->own.spec, part.own.spec, "quotes and commas come back");
    CU_ASSERT_EQUAL(own->own.revision, 7);
    sl_expect_text(a->provenance, "user", "provenance");
    sl_catalog_free(made);
}

static void
laws_are_scaled_by_the_datasheets_and_never_called_measured(void)
{
    sl_errors err = {0};
    const sl_own_part part = part_like("half", "nvidia-h100-sxm5-80gb");
    sl_catalog *const made = with_part(&part, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    const sl_accelerator *const a = found(made, "half");
    const sl_accelerator *const h100 = found(tables, "nvidia-h100-sxm5-80gb");
    CU_ASSERT_EQUAL(a->gemm_origin, SL_ORIGIN_SCALED);
    CU_ASSERT_EQUAL(a->attention_origin, SL_ORIGIN_SCALED);
    CU_ASSERT_EQUAL(a->collective_origin, SL_ORIGIN_SCALED);
    sl_expect_near(a->gemm.peak_flops_per_s, h100->gemm.peak_flops_per_s / 2, 1e-12, "products");
    sl_expect_near(a->gemm.bandwidth_bytes_per_s,
                   h100->gemm.bandwidth_bytes_per_s * 2e12 / h100->memory_bytes_per_s, 1e-12,
                   "memory");
    CU_ASSERT_PTR_NULL(a->gemm.surface);
    sl_expect_near(a->sustained_ratio, h100->sustained_ratio, 1e-12, "clock over hours");
    sl_catalog_free(made);
}

static void
the_best_product_somebody_found_goes_with_the_rate(void)
{
    sl_errors err = {0};
    sl_own_part part = part_like("half", "amd-mi300x");
    part.peak_flops_per_s[SL_PRECISION_BF16] = 1307e12 / 2;
    sl_catalog *const made = with_part(&part, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    sl_expect_near(found(made, "half")->gemm.peak_flops_per_s, 668e12 / 2, 1e-12, "ceiling");
    sl_catalog_free(made);
}

static void
parts_are_joined_as_the_one_they_are_like(void)
{
    sl_errors err = {0};
    sl_own_part part = part_like("half", "amd-mi300x");
    part.scale_up_bytes_per_s = 224e9;
    sl_catalog *made = with_part(&part, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    sl_expect_near(found(made, "half")->scale_up_pair_bytes_per_s, 32e9, 1e-12, "in proportion");
    CU_ASSERT_PTR_NOT_NULL(strstr(own_of(made, "half")->scaled, "scale_up_pair_bytes_per_s"));
    sl_catalog_free(made);
    part.scale_up_pair_bytes_per_s = 0;
    made = with_part(&part, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    CU_ASSERT_EQUAL(found(made, "half")->scale_up_pair_bytes_per_s, 0);
    sl_catalog_free(made);
}

static void
without_a_name_the_nearest_measured_part_lends_its_laws_alone(void)
{
    sl_errors err = {0};
    sl_own_part part = part_like("plain", NULL);
    part.peak_flops_per_s[SL_PRECISION_BF16] = 300e12;
    sl_catalog *const made = with_part(&part, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    const sl_part *const own = own_of(made, "plain");
    CU_ASSERT_TRUE(own->like_assumed);
    sl_expect_text(own->scaled, "", "nothing else follows");
    CU_ASSERT_TRUE(own->accelerator.peak_flops_per_s[SL_PRECISION_FP8] == 0);
    CU_ASSERT_TRUE(own->accelerator.scale_up_bytes_per_s == 0);
    CU_ASSERT_EQUAL(own->accelerator.scale_up_domain, 1);
    const sl_accelerator *const like = found(made, own->like);
    sl_expect_text(like->law_part, like->id, "a part with laws of its own");
    sl_catalog_free(made);
}

static void
a_part_that_is_like_none_is_refused(void)
{
    static const struct {
        const char *like;
        double bf16;
        const char *rule;
    } cases[] = {{"nothing such", 1e14, "unknown_accelerator"},
                 {"a100", 1e14, "ambiguous_accelerator"},
                 {NULL, -1, "required_field"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_errors err = {0};
        sl_own_part part = part_like("odd", cases[i].like);
        part.peak_flops_per_s[SL_PRECISION_BF16] = cases[i].bf16;
        CU_ASSERT_PTR_NULL(with_part(&part, &err));
        CU_ASSERT_EQUAL_FATAL(err.count, 1);
        sl_expect_text(err.list[0].rule, cases[i].rule, "rule");
        sl_expect_text(err.list[0].pointer, "/like", "pointer");
    }
}

static void
an_overlay_that_refused_a_row_is_as_it_was(void)
{
    sl_errors err = {0};
    sl_catalog *made = NULL;
    sl_overlay *const overlay = sl_overlay_new(3, 4, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(overlay);
    sl_own_part part = part_like("one", "h100-sxm");
    part.scale_up_domain = 0; /* no table may say that */
    CU_ASSERT_EQUAL(sl_overlay_add_part(overlay, &part, &err), SL_E_INTERNAL);
    sl_own_node node = sl_own_node_unsaid();
    node.id = "of-nothing";
    node.accelerator = "one";
    CU_ASSERT_EQUAL(sl_overlay_add_node(overlay, &node, &err), SL_E_INTERNAL);
    const sl_own_price price = {.id = "no-such-node", .price_per_node_hour = 1};
    CU_ASSERT_EQUAL(sl_overlay_add_price(overlay, &price, &err), SL_E_NOT_FOUND);
    CU_ASSERT_EQUAL(sl_overlay_finish(overlay, &made, &err), SL_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    CU_ASSERT_EQUAL(sl_catalog_part_count(made), sl_catalog_part_count(tables));
    CU_ASSERT_EQUAL(sl_catalog_node_count(made), sl_catalog_node_count(tables));
    sl_expect_text(sl_catalog_revision(made), sl_catalog_revision(tables), "revision");
    CU_ASSERT_EQUAL(sl_catalog_own_revision(made), 3);
    sl_overlay_free(overlay);
    sl_catalog_free(made);
}

static void
the_revision_follows_the_rows(void)
{
    sl_errors err = {0};
    sl_own_part part = part_like("one", "h100-sxm");
    sl_catalog *const first = with_part(&part, &err);
    sl_catalog *const same = with_part(&part, &err);
    part.memory_bytes++;
    sl_catalog *const other = with_part(&part, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    CU_ASSERT_PTR_NOT_NULL_FATAL(same);
    CU_ASSERT_PTR_NOT_NULL_FATAL(other);
    sl_expect_text(sl_catalog_revision(first), sl_catalog_revision(same), "the same rows");
    CU_ASSERT_FALSE(sl_text_equal(sl_catalog_revision(first), sl_catalog_revision(tables)));
    CU_ASSERT_FALSE(sl_text_equal(sl_catalog_revision(first), sl_catalog_revision(other)));
    sl_catalog_free(first);
    sl_catalog_free(same);
    sl_catalog_free(other);
}

static void
the_tables_are_the_same_beside_a_row(void)
{
    sl_errors err = {0};
    const sl_own_part part = part_like("one", "h100-sxm");
    sl_catalog *const made = with_part(&part, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    for (uint32_t i = 0; i < sl_catalog_part_count(tables); i++) {
        sl_accelerator before;
        sl_accelerator after;
        memcpy(&before, &sl_catalog_part(tables, i)->accelerator, sizeof before);
        memcpy(&after, &sl_catalog_part(made, i)->accelerator, sizeof after);
        /* Each catalogue has surfaces of its own. */
        before.gemm.surface = after.gemm.surface = NULL;
        for (uint32_t j = 0; j < SL_LOW_PRODUCT_COUNT; j++)
            before.low_gemm[j].surface = after.low_gemm[j].surface = NULL;
        CU_ASSERT_TRUE(sl_same_bytes(&before, &after, sizeof before));
    }
    sl_catalog_free(made);
}

static void
a_thousand_rows_fit_and_each_is_found(void)
{
    sl_errors err = {0};
    sl_catalog *made = NULL;
    sl_overlay *const overlay = sl_overlay_new(1, SL_OWN_ROWS_MAX, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(overlay);
    for (uint32_t i = 0; i < SL_OWN_ROWS_MAX; i++) {
        char id[32];
        char alias[32];
        (void)sl_text_format(id, sizeof id, "part-%u", i);
        (void)sl_text_format(alias, sizeof alias, "the %uth one", i);
        sl_own_part part = part_like(id, "nvidia-a100-sxm4-80gb");
        part.aliases = alias;
        CU_ASSERT_EQUAL(sl_overlay_add_part(overlay, &part, &err), SL_OK);
    }
    CU_ASSERT_EQUAL(sl_overlay_finish(overlay, &made, &err), SL_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    sl_expect_text(found(made, "part-999")->id, "part-999", "the last");
    sl_expect_text(found(made, "The 500th one")->id, "part-500", "by its alias");
    sl_overlay_free(overlay);
    sl_catalog_free(made);
}

static void
a_price_stands_on_a_node_type_of_the_tables(void)
{
    sl_errors err = {0};
    sl_catalog *made = NULL;
    const sl_node_type *node = NULL;
    sl_overlay *const overlay = sl_overlay_new(9, 1, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(overlay);
    const sl_own_price price = {.id = "dgx-h100",
                                .price_per_node_hour = 20.5,
                                .price_currency = "EUR",
                                .price_date = "2026",
                                .own = {.revision = 9, .spec = "{}"}};
    CU_ASSERT_EQUAL(sl_overlay_add_price(overlay, &price, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_overlay_finish(overlay, &made, &err), SL_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    CU_ASSERT_EQUAL_FATAL(sl_catalog_find_node(made, "dgx-h100", "", &node, &err), SL_OK);
    assert(node != NULL);
    CU_ASSERT_TRUE(node->price_per_node_hour == 20.5);
    sl_expect_text(node->price_currency, "EUR", "currency");
    CU_ASSERT_EQUAL(node->own_price.revision, 9);
    CU_ASSERT_EQUAL(node->own.revision, 0);
    sl_overlay_free(overlay);
    sl_catalog_free(made);
}

static void
a_name_may_be_private_until_the_rows_are_read(void)
{
    sl_errors err = {0};
    const sl_part *part = NULL;
    sl_catalog *const waiting = sl_catalog_new(&err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(waiting);
    sl_catalog_await_own(waiting);
    CU_ASSERT_EQUAL(sl_catalog_find_part(waiting, "lab-1", "/cluster/accelerator", &part, &err),
                    SL_E_UNAVAILABLE);
    sl_expect_text(err.list[0].rule, "private_hardware_unread", "rule");
    CU_ASSERT_EQUAL(sl_catalog_find_part(waiting, "h100-sxm", "", &part, &err), SL_OK);
    sl_catalog_free(waiting);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(rates_follow_the_first_that_both_have),
        SL_CASE(laws_are_scaled_by_the_datasheets_and_never_called_measured),
        SL_CASE(the_best_product_somebody_found_goes_with_the_rate),
        SL_CASE(parts_are_joined_as_the_one_they_are_like),
        SL_CASE(without_a_name_the_nearest_measured_part_lends_its_laws_alone),
        SL_CASE(a_part_that_is_like_none_is_refused),
        SL_CASE(an_overlay_that_refused_a_row_is_as_it_was),
        SL_CASE(the_revision_follows_the_rows),
        SL_CASE(the_tables_are_the_same_beside_a_row),
        SL_CASE(a_thousand_rows_fit_and_each_is_found),
        SL_CASE(a_price_stands_on_a_node_type_of_the_tables),
        SL_CASE(a_name_may_be_private_until_the_rows_are_read),
    };
    sl_errors err = {0};
    tables = sl_catalog_new(&err);
    assert(tables != NULL);
    const int status = sl_run_cases(argc, argv, "overlay", cases, sizeof cases / sizeof cases[0]);
    sl_catalog_free(tables);
    return status;
}
