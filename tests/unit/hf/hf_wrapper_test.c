#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "engine_fixture.h"
#include "hf/wrapper.h"
#include "reading.h"

/* Two tensors of one name, or a tensor without one, would be lost in a checkpoint. */
static void
expect_distinct_names(const sl_model *model)
{
    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_layer_kind *kind = &model->kinds[k];
        for (uint32_t i = 0; i < kind->tensor_count; i++) {
            CU_ASSERT_NOT_EQUAL(kind->tensors[i].name[0], '\0');
            for (uint32_t n = 0; n < i; n++) {
                if (strcmp(kind->tensors[n].name, kind->tensors[i].name) == 0)
                    sl_fail_for(kind->tensors[i].name);
            }
        }
    }
}

/* Every tensor that a stage could be asked to cut names the axis it is cut along. */
static void
expect_sound_cuts(const sl_model *model)
{
    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_layer_kind *kind = &model->kinds[k];
        for (uint32_t i = 0; i < kind->tensor_count; i++)
            CU_ASSERT_TRUE(kind->tensors[i].cut_axis < kind->tensors[i].axes);
    }
}

static void
every_parts_list_works_with_its_class_defaults(void)
{
    uint32_t lists = 0;

    for (size_t i = 0; sl_hf_recipe_name(i) != NULL; i++) {
        sl_reading result = read_type_with(sl_hf_recipe_name(i), "");
        sl_model_counts counts;
        CU_ASSERT_EQUAL(sl_model_count(result.model, &counts), SL_OK);
        CU_ASSERT_TRUE(counts.total > 0 && counts.active_per_token <= counts.total);
        expect_distinct_names(result.model);
        expect_sound_cuts(result.model);
        clear_reading(&result);
        lists++;
    }
    CU_ASSERT_TRUE(lists > 0);
}

static sl_estimate
answer_of(const sl_model *model)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_question q = sl_fixture_question(model, &cluster, &software);

    q.workload.sequence_length = 512;
    q.plan.tensor = 2;
    q.plan.sequence = true;
    q.plan.pipeline = 2;
    q.plan.data = 2;
    return *sl_fixture_answer(&q);
}

/* Towers stand outside the plan: what is planned is the language part as it would be alone. */
static void
a_wrapper_is_planned_as_its_language_part_alone(void)
{
    static const char *const wrapped[] = {
        "{\"model_type\":\"llava\",\"text_config\":{\"num_hidden_layers\":4}}",
        "{\"model_type\":\"gemma3\",\"text_config\":{\"num_hidden_layers\":12}}",
        "{\"model_type\":\"qwen2_vl\",\"num_hidden_layers\":4,\"tie_word_embeddings\":true}"};
    static const char *const alone[] = {
        "{\"model_type\":\"llama\",\"num_hidden_layers\":4}",
        "{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":12}",
        "{\"model_type\":\"qwen2\",\"num_hidden_layers\":4,\"tie_word_embeddings\":true}"};

    for (size_t i = 0; i < sizeof wrapped / sizeof wrapped[0]; i++) {
        sl_reading whole = read_text(wrapped[i], strlen(wrapped[i]));
        sl_reading part = read_text(alone[i], strlen(alone[i]));
        CU_ASSERT_EQUAL_FATAL(whole.code, SL_OK);
        CU_ASSERT_EQUAL_FATAL(part.code, SL_OK);
        const sl_estimate one = answer_of(whole.model);
        const sl_estimate other = answer_of(part.model);
        CU_ASSERT_TRUE(one.time.step_s > 0.0);
        CU_ASSERT_EQUAL(one.time.step_s, other.time.step_s);
        CU_ASSERT_EQUAL(one.memory.rank_count, other.memory.rank_count);
        for (uint32_t rank = 0; rank < one.memory.rank_count; rank++)
            CU_ASSERT_EQUAL(one.memory.ranks[rank].peak_reserved_bytes,
                            other.memory.ranks[rank].peak_reserved_bytes);
        clear_reading(&whole);
        clear_reading(&part);
    }
}

static void
every_wrapper_counts_its_towers_beside_its_language_part(void)
{
    for (size_t i = 0; sl_hf_wrapper_name(i) != NULL; i++) {
        sl_reading result = read_type_with(
            sl_hf_wrapper_name(i), ",\"text_config\":{},\"vision_config\":{\"hidden_size\":768}");
        sl_model_counts counts;
        CU_ASSERT_EQUAL(sl_model_count(result.model, &counts), SL_OK);
        if (counts.towers == 0 || counts.towers >= counts.total)
            sl_fail_for(sl_hf_wrapper_name(i));
        CU_ASSERT_TRUE(result.model->block_count > 0);
        expect_distinct_names(result.model);
        expect_sound_cuts(result.model);
        clear_reading(&result);
    }
}

/* Or the head could not grow: its tensors are followed by theirs. */
static void
beside_towers_no_layer_is_added_for_prediction(void)
{
    sl_reading result =
        read_type_with("gemma3", ",\"text_config\":{},\"vision_config\":{\"hidden_size\":768}");

    CU_ASSERT_EQUAL(sl_model_add_prediction(result.model, &result.err), SL_E_UNSUPPORTED);
    sl_expect_text(result.err.list[0].pointer, "/workload/mtp", "pointer");
    clear_reading(&result);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_parts_list_works_with_its_class_defaults),
        SL_CASE(a_wrapper_is_planned_as_its_language_part_alone),
        SL_CASE(every_wrapper_counts_its_towers_beside_its_language_part),
        SL_CASE(beside_towers_no_layer_is_added_for_prediction),
    };
    return sl_run_cases(argc, argv, "hf_wrapper", cases, sizeof cases / sizeof cases[0]);
}
