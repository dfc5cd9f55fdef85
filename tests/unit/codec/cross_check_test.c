/* Our count beside the checkpoint's: every reason for a difference, and none made up. */
#include <string.h>

#include "base/text.h"
#include "codec/answer/cross_check.h"
#include "harness.h"

/* A model of one million parameters: 100,000 of embedding, 100,000 of head. */
static sl_model model;
static sl_model_counts counts;

static void
reset(void)
{
    memset(&model, 0, sizeof model);
    memset(&counts, 0, sizeof counts);
    counts.total = 1000000;
    counts.component[SL_COMPONENT_EMBEDDING] = 100000;
    counts.component[SL_COMPONENT_LM_HEAD] = 100000;
}

static sl_cross_check
check_total(uint64_t total)
{
    const sl_checkpoint checkpoint = {.source = "safetensors_metadata", .total = total};
    sl_cross_check check = {.computed = 0};
    CU_ASSERT_EQUAL(sl_cross_check_make(&model, &counts, &checkpoint, &check), SL_OK);
    int64_t sum = check.unexplained;
    for (uint32_t i = 0; i < check.explained_count; i++) {
        sum += check.explained[i].elements;
        CU_ASSERT_TRUE(check.explained[i].detail[0] != '\0');
    }
    CU_ASSERT_EQUAL(sum, check.difference);
    CU_ASSERT_EQUAL(check.computed, counts.total);
    return check;
}

/* The reasons in order, joined by '+', and what is left. */
static void
expect(uint64_t total, const char *reasons, int64_t unexplained)
{
    const sl_cross_check check = check_total(total);
    char found[256] = "";
    for (uint32_t i = 0; i < check.explained_count; i++) {
        const size_t used = strlen(found);
        (void)sl_text_format(found + used, sizeof found - used, "%s%s", i > 0 ? "+" : "",
                             check.explained[i].reason);
    }
    sl_expect_text(found, reasons, "reasons");
    CU_ASSERT_EQUAL(check.unexplained, unexplained);
    CU_ASSERT_EQUAL(check.difference, (int64_t)total - 1000000);
}

static void
equal_counts_need_no_reason(void)
{
    reset();
    expect(1000000, "", 0);
    counts.persistent_buffers = 10;
    model.mtp_parameters = 5000;
    expect(1000000, "", 0);
}

static void
what_a_checkpoint_stores_beside_the_parameters_is_named(void)
{
    reset();
    counts.persistent_buffers = 10;
    model.mtp_parameters = 5000;
    expect(1000010, "persistent_buffers", 0);
    expect(1005000, "mtp_layers", 0);
    expect(1005010, "persistent_buffers+mtp_layers", 0);
    expect(1205010, "persistent_buffers+mtp_layers+mtp_shared_copies", 0);
}

static void
copies_of_embedding_and_head_come_with_multi_token_layers_only(void)
{
    reset();
    expect(1200000, "", 200000);
    model.mtp_parameters = 5000;
    expect(1205000, "mtp_layers+mtp_shared_copies", 0);
    expect(1200000, "", 200000);
    expect(1005007, "mtp_layers", 7);
}

static void
a_tied_head_that_is_stored_again_is_named(void)
{
    reset();
    model.kind_count = model.layer_count = 1;
    model.kinds[0].tensor_count = 1;
    model.kinds[0].tensors = model.tensors;
    model.tensors[0] = (sl_tensor){
        .axes = 2, .shape = {1000, 100}, .component = SL_COMPONENT_LM_HEAD, .tied = true};
    expect(1100000, "tied_head_stored_again", 0);
    expect(1000000, "", 0);
}

static void
what_has_no_known_cause_stays_unexplained(void)
{
    reset();
    expect(900000, "", -100000);
    expect(1000001, "", 1);
    counts.persistent_buffers = 10;
    expect(1000011, "persistent_buffers", 1);
    expect(1000004, "", 4);
}

/* 800,000 weights are quantised, `words` to an element, with scales of so many bytes. */
static void
quantize(const char *method, uint32_t words, uint64_t scale_bytes)
{
    sl_quantization *of = &model.quantization;
    (void)sl_text_copy(of->method, sizeof of->method, method);
    of->format_count = 1;
    of->formats[0] = (sl_tensor_format){.bits = 32 / words, .word_weights = words, .word_bytes = 4};
    of->quantized_parameters = 800000;
    of->kept_parameters = 200000;
    of->scale_bytes = scale_bytes;
}

static void
packing_is_said_with_the_method(void)
{
    reset();
    quantize("awq", 8, 30000);
    expect(300000, "packed_weights", 0);
    expect(310000, "packed_weights+quantization_scales", 0);
    const sl_cross_check check = check_total(310000);
    CU_ASSERT_EQUAL(check.explained[0].elements, -700000);
    CU_ASSERT_PTR_NOT_NULL(strstr(check.explained[0].detail, "awq packs"));
    CU_ASSERT_PTR_NOT_NULL(strstr(check.explained[0].detail, "too small"));
    CU_ASSERT_EQUAL(check.explained[1].elements, 10000);
}

static void
nothing_is_explained_that_packing_cannot_be(void)
{
    reset();
    quantize("awq", 8, 30000);
    expect(250000, "", -750000);              /* fewer than words and kept weights */
    expect(900000, "packed_weights", 600000); /* more than its scales can be */
    reset();
    quantize("fp8", 1, 3000);
    expect(500000, "", -500000); /* a weight an element: some are missing */
    reset();
    (void)sl_text_copy(model.quantization.method, sizeof model.quantization.method, "unknown");
    expect(500000, "", -500000); /* nobody knows how it packs */
}

static void
scales_are_no_more_than_their_bytes(void)
{
    reset();
    quantize("fp8", 1, 80);
    counts.persistent_buffers = 10;
    expect(1000070, "persistent_buffers+quantization_scales", 0);
    expect(1000000, "", 0);
    expect(1200010, "", 200010);
}

/* The Hub's 684,531,386,000 less what every part is known to hold leaves the fp8 scales: one for
 * each block of 128 x 128 weights, about 671e9 / 16384 = 41e6. Shapes of DeepSeek-V3: vocabulary
 * 129,280, width 7,168; 11.5e9 of multi-token prediction (README_WEIGHTS), here one block more. */
static void
the_checkpoint_of_deepseek_v3_is_explained(void)
{
    const uint64_t table = UINT64_C(129280) * 7168;
    reset();
    counts.total = UINT64_C(671026404352);
    counts.component[SL_COMPONENT_EMBEDDING] = counts.component[SL_COMPONENT_LM_HEAD] = table;
    counts.persistent_buffers = 14848;
    model.mtp_parameters = UINT64_C(11610068224);
    (void)sl_text_copy(model.quantization.method, sizeof model.quantization.method, "fp8");
    const uint64_t scales = 41000000;
    model.quantization.format_count = 1;
    model.quantization.formats[0] = (sl_tensor_format){.bits = 8, .word_weights = 1};
    model.quantization.quantized_parameters = UINT64_C(669065609216);
    model.quantization.scale_bytes = UINT64_C(163346720);
    const sl_cross_check check =
        check_total(counts.total + 14848 + model.mtp_parameters + 2 * table + scales);
    CU_ASSERT_EQUAL(check.explained_count, 4);
    sl_expect_text(check.explained[3].reason, "quantization_scales", "the last");
    CU_ASSERT_EQUAL(check.explained[3].elements, 41000000);
    CU_ASSERT_EQUAL(check.unexplained, 0);
}

static void
counts_beyond_all_reason_are_not_compared(void)
{
    sl_cross_check check;
    sl_checkpoint checkpoint = {.source = "safetensors_headers", .total = UINT64_MAX};
    reset();
    CU_ASSERT_EQUAL(sl_cross_check_make(&model, &counts, &checkpoint, &check), SL_E_RANGE);
    counts.total = UINT64_MAX;
    checkpoint.total = 1;
    CU_ASSERT_EQUAL(sl_cross_check_make(&model, &counts, &checkpoint, &check), SL_E_RANGE);
    counts.total = 1;
    counts.persistent_buffers = model.mtp_parameters = UINT64_MAX;
    CU_ASSERT_EQUAL(sl_cross_check_make(&model, &counts, &checkpoint, &check), SL_OK);
    CU_ASSERT_EQUAL(check.explained_count, 0);
}

static void
expect_members(const sl_checkpoint *checkpoint, const char *expected)
{
    sl_buffer text;
    sl_writer writer;
    sl_buffer_init(&text, 4096);
    sl_writer_init(&writer, &text);
    sl_write_object(&writer);
    sl_checkpoint_write(&writer, &model, &counts, checkpoint);
    sl_write_object_end(&writer);
    CU_ASSERT_TRUE(sl_writer_ok(&writer));
    sl_expect_text(text.data, expected, "members");
    sl_buffer_clear(&text);
}

static void
members_are_null_where_nothing_is_known(void)
{
    reset();
    expect_members(NULL, "{\"gated\":null,\"cross_check\":null}");
    expect_members(&(sl_checkpoint){.gated = "false"}, "{\"gated\":false,\"cross_check\":null}");
    expect_members(&(sl_checkpoint){.gated = "manual"},
                   "{\"gated\":\"manual\",\"cross_check\":null}");
    counts.persistent_buffers = 10;
    expect_members(&(sl_checkpoint){.gated = "true",
                                    .source = "safetensors_headers",
                                    .total = 1000010,
                                    .dtype_count = 1,
                                    .dtypes = {{"BF16", 1000010}}},
                   "{\"gated\":true,\"cross_check\":{\"source\":\"safetensors_headers\","
                   "\"total\":1000010,\"dtypes\":{\"BF16\":1000010},\"computed\":1000000,"
                   "\"difference\":10,\"explained\":[{\"reason\":\"persistent_buffers\","
                   "\"elements\":10,\"detail\":\"buffers that a checkpoint stores and that are no "
                   "parameters\"}],\"unexplained\":0}}");
}

static const sl_case cases[] = {
    SL_CASE(equal_counts_need_no_reason),
    SL_CASE(what_a_checkpoint_stores_beside_the_parameters_is_named),
    SL_CASE(copies_of_embedding_and_head_come_with_multi_token_layers_only),
    SL_CASE(a_tied_head_that_is_stored_again_is_named),
    SL_CASE(what_has_no_known_cause_stays_unexplained),
    SL_CASE(packing_is_said_with_the_method),
    SL_CASE(nothing_is_explained_that_packing_cannot_be),
    SL_CASE(scales_are_no_more_than_their_bytes),
    SL_CASE(the_checkpoint_of_deepseek_v3_is_explained),
    SL_CASE(counts_beyond_all_reason_are_not_compared),
    SL_CASE(members_are_null_where_nothing_is_known),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "cross_check", cases, sizeof cases / sizeof cases[0]);
}
