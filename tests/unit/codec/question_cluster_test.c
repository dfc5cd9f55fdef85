/* What a question asks of: clusters by their parts and node types, and the checks and choices that need them. */
#include "codec/question/choices_json.h"
#include "question_reading.h"

#include <assert.h>
#include <stdlib.h>

static void
cluster_overrides_reach_the_engine(void)
{
    reading r;
    read_parts(&r, NULL, NULL,
               "{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"nodes\":4,"
               "\"accelerators_per_node\":4,\"memory_bytes\":68719476736,"
               "\"scale_up_bytes_per_s\":225e9,\"nics\":[{\"count\":2,\"bytes_per_s\":25e9,"
               "\"kind\":\"roce\"},{\"count\":2,\"bytes_per_s\":25e9}],"
               "\"fabric\":{\"kind\":\"fat_tree\",\"oversubscription\":2},"
               "\"price_per_node_hour\":12.5,\"host_memory_bytes\":1099511627776,"
               "\"accelerator_overrides\":{\"memory_bandwidth_bytes_per_s\":2.4e12}}",
               NULL);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    const sl_cluster *const c = &r.request.cluster;
    CU_ASSERT_EQUAL(c->accelerator.memory_bytes, 68719476736);
    CU_ASSERT_EQUAL(c->accelerator.scale_up_domain, 4);
    CU_ASSERT_EQUAL(c->nics_per_node, 4);
    CU_ASSERT_FALSE(c->nics_assumed);
    sl_expect_near(c->nic_bytes_per_s, 25e9, 1e-12, "nic");
    sl_expect_near(c->oversubscription_ratio, 2, 1e-12, "oversubscription");
    sl_expect_near(c->price_per_node_hour, 12.5, 1e-12, "price");
    sl_expect_near(c->accelerator.scale_up_bytes_per_s, 225e9, 1e-12, "link");
    sl_expect_near(c->accelerator.gemm.bandwidth_bytes_per_s, 2654e9 * 2.4 / 3.35, 1e-9, "memory");
    clear(&r);
    read_parts(&r, NULL, NULL,
               "{\"accelerator\":\"nvidia-h100-sxm5-80gb\","
               "\"accelerator_overrides\":{\"power_limit_w\":200}}",
               NULL);
    expect_refused(&r, "/cluster/accelerator_overrides/power_limit_w", "out_of_range");
    clear(&r);
    read_parts(&r, NULL, NULL,
               "{\"accelerator\":\"nvidia-h100-sxm5-80gb\","
               "\"accelerator_overrides\":{\"attention_ratio\":0.5}}",
               NULL);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    const sl_attention_laws *const flash2 =
        &r.request.cluster.accelerator.attention[SL_ATTENTION_FLASH2][1];
    sl_expect_near(flash2->forward.peak_flops_per_s, 0.5 * 3.493e14, 1e-9, "attention, forward");
    sl_expect_near(flash2->backward.peak_flops_per_s, 0.5 * 3.284e14, 1e-9, "backward");
    CU_ASSERT_EQUAL(r.request.cluster.accelerator.attention_origin, SL_ORIGIN_SCALED);
    clear(&r);
    /* 500 of 700 W: ((5/7 - 0.3) / 0.7)^(1/3) = 0.840 of the clock held at 700 W. */
    read_parts(&r, NULL, NULL,
               "{\"accelerator\":\"nvidia-h100-sxm5-80gb\","
               "\"accelerator_overrides\":{\"power_limit_w\":500}}",
               NULL);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    sl_expect_near(r.request.cluster.accelerator.sustained_ratio, 0.815 * 0.83959, 1e-4, "clock");
    CU_ASSERT_EQUAL(r.request.cluster.accelerator.power_limit_w, 500.0);
    sl_expect_near(r.request.cluster.accelerator.limited_clock_ratio, 0.83959, 1e-4, "of it");
    CU_ASSERT_TRUE(r.request.cluster.accelerator.sustained_low_ratio < 0.815 * 0.83959);
    CU_ASSERT_TRUE(r.request.cluster.accelerator.sustained_high_ratio > 0.815 * 0.83959);
    clear(&r);
}

static void
a_node_type_gives_the_shape_the_network_and_the_price(void)
{
    reading r;
    read_parts(&r, NULL, NULL, "{\"node_type\":\"p4d.24xlarge\",\"nodes\":2}", NULL);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    const sl_cluster *const c = &r.request.cluster;
    sl_expect_text(c->accelerator.id, "nvidia-a100-sxm4-40gb", "part");
    sl_expect_text(c->node_type, "aws-p4d.24xlarge", "node type");
    CU_ASSERT_EQUAL(c->nics_per_node, 4);
    CU_ASSERT_FALSE(c->nics_assumed);
    sl_expect_near(c->price_per_node_hour, 21.957642, 1e-12, "price");
    CU_ASSERT_TRUE(sl_notes_have(&r.request.notes, "price_assumed"));
    clear(&r);
    read_parts(&r, NULL, NULL, "{\"node_type\":\"dgx-h100\",\"accelerator\":\"b200\"}", NULL);
    expect_refused(&r, "/cluster/accelerator", "inconsistent");
    clear(&r);
    read_parts(&r, NULL, NULL, "{\"accelerator\":\"h100nvl\"}", NULL);
    expect_refused(&r, "/cluster/accelerators_per_node", "required_field");
    clear(&r);
    read_parts(&r, NULL, NULL, "{\"accelerator\":\"gb200\",\"nodes\":18}", NULL);
    CU_ASSERT_EQUAL(r.request.cluster.accelerator.scale_up_domain, 72);
    CU_ASSERT_EQUAL(r.request.plan.data, 72);
    clear(&r);
}

/* Modules by themselves have no links and all their power; four of a board have both shared out. */
static void
modules_of_a_whole_board_have_its_links_and_its_power(void)
{
    static const struct {
        const char *cluster;
        uint32_t domain;
        double limit_w;
    } cases[] = {
        {"{\"accelerator\":\"gh200-96gb\",\"accelerators_per_node\":4}", 4, 660.0},
        {"{\"accelerator\":\"gh200-96gb\",\"accelerators_per_node\":1}", 1, 0.0},
        {"{\"node_type\":\"jupiter-booster\"}", 4, 680.0},
        {"{\"node_type\":\"jupiter-booster\",\"accelerators_per_node\":2}", 2, 680.0},
        {"{\"node_type\":\"alps-gh200\",\"accelerator_overrides\":{\"power_limit_w\":900}}", 4,
         900.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r;
        read_parts(&r, NULL, NULL, cases[i].cluster, NULL);
        CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
        CU_ASSERT_EQUAL(r.request.cluster.accelerator.scale_up_domain, cases[i].domain);
        sl_expect_near(r.request.cluster.accelerator.power_limit_w, cases[i].limit_w, 1e-12,
                       cases[i].cluster);
        clear(&r);
    }
}

static void
a_bridge_is_an_accessory_that_is_said_to_be_there(void)
{
    static const struct {
        const char *cluster;
        bool noted;
    } cases[] = {
        {"{\"accelerator\":\"nvidia-rtx-3090\",\"accelerators_per_node\":2}", true},
        {"{\"accelerator\":\"nvidia-rtx-3090\",\"accelerators_per_node\":1}", false},
        {"{\"accelerator\":\"nvidia-rtx-3090\",\"accelerators_per_node\":2,\"scale_up_domain\":1}",
         false},
        {"{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"accelerators_per_node\":8}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r;
        read_parts(&r, NULL, NULL, cases[i].cluster, NULL);
        CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
        CU_ASSERT_EQUAL(sl_notes_have(&r.request.notes, "bridge_assumed"), cases[i].noted);
        clear(&r);
    }
}

static void
expect_pair(const char *cluster, double pair_bytes_per_s, const char *note)
{
    static const char *const notes[] = {"joined_in_pairs", "switch_assumed"};
    reading r;
    read_parts(&r, NULL, NULL, cluster, NULL);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    sl_expect_near(r.request.cluster.accelerator.scale_up_pair_bytes_per_s, pair_bytes_per_s, 1e-12,
                   cluster);
    const sl_accelerator *const a = &r.request.cluster.accelerator;
    CU_ASSERT_EQUAL(a->collective_origin == SL_ORIGIN_MEASURED,
                    strcmp(a->vendor, "nvidia") == 0 && (pair_bytes_per_s <= 0));
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        CU_ASSERT_EQUAL(sl_notes_have(&r.request.notes, notes[i]),
                        note != NULL && strcmp(note, notes[i]) == 0);
    clear(&r);
}

/* Said, else of the node type, else of the usual node of which this one is a part, else of the
 * part. */
static void
boards_without_a_switch_are_known_by_node_and_part(void)
{
    expect_pair("{\"node_type\":\"hgx-h200-4\"}", 150e9, "joined_in_pairs");
    expect_pair("{\"node_type\":\"hgx-h200-4\",\"accelerators_per_node\":2}", 150e9,
                "joined_in_pairs");
    expect_pair("{\"node_type\":\"hgx-h100-4\",\"accelerators_per_node\":1}", 150e9, NULL);
    expect_pair("{\"node_type\":\"hgx-h200-8\"}", 0, NULL);
    expect_pair("{\"accelerator\":\"a100-sxm4-64gb\",\"nodes\":2}", 100e9, "joined_in_pairs");
    expect_pair("{\"accelerator\":\"mi300x\",\"accelerators_per_node\":4}", 64e9,
                "joined_in_pairs");
    expect_pair("{\"accelerator\":\"mi300x\",\"scale_up_bytes_per_s\":224e9}", 32e9,
                "joined_in_pairs");
    expect_pair("{\"accelerator\":\"nvidia-h200-sxm-141gb\"}", 0, NULL);
    expect_pair("{\"accelerator\":\"nvidia-h200-sxm-141gb\",\"accelerators_per_node\":4}", 0,
                "switch_assumed");
    expect_pair("{\"accelerator\":\"nvidia-h200-sxm-141gb\",\"accelerators_per_node\":4,"
                "\"scale_up_pair_bytes_per_s\":150e9}",
                150e9, NULL);
    expect_pair("{\"accelerator\":\"mi300x\",\"scale_up_pair_bytes_per_s\":448e9}", 448e9, NULL);
    reading r;
    read_parts(&r, NULL, NULL, "{\"node_type\":\"hgx-h200-4\",\"scale_up_pair_bytes_per_s\":451e9}",
               NULL);
    expect_refused(&r, "/cluster/scale_up_pair_bytes_per_s", "inconsistent");
    clear(&r);
    read_parts(&r, NULL, NULL, "{\"accelerator\":\"l40s\",\"scale_up_pair_bytes_per_s\":1e9}",
               NULL);
    expect_refused(&r, "/cluster/scale_up_pair_bytes_per_s", "inconsistent");
    clear(&r);
}

static void
expect_network(const char *cluster, const char *kind, const char *note)
{
    reading r;
    read_parts(&r, NULL, NULL, cluster, NULL);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    sl_expect_text(r.request.cluster.fabric.kind, kind, cluster);
    if (note != NULL)
        CU_ASSERT_TRUE(sl_notes_have(&r.request.notes, note));
    CU_ASSERT_EQUAL(note == NULL || strncmp(note, "fabric", 6) != 0,
                    !sl_notes_have(&r.request.notes, "fabric_assumed") &&
                        !sl_notes_have(&r.request.notes, "fabric_guessed") &&
                        !sl_notes_have(&r.request.notes, "fabric_kind_not_modelled"));
    clear(&r);
}

/* The cards' kind, else that of what joins them, else that of the node whose cards they are. */
static void
the_kind_of_network_is_the_nearest_that_was_said(void)
{
    expect_network("{\"node_type\":\"p6-b200.48xlarge\",\"nodes\":4}", "efa", NULL);
    expect_network("{\"node_type\":\"p6-b200.48xlarge\",\"nodes\":4,"
                   "\"nics\":[{\"count\":8,\"bytes_per_s\":5e10}]}",
                   "efa", NULL);
    expect_network("{\"node_type\":\"p6-b200.48xlarge\",\"nodes\":4,\"nics\":"
                   "[{\"count\":8,\"bytes_per_s\":5e10,\"kind\":\"IB\"}]}",
                   "infiniband", NULL);
    expect_network("{\"accelerator\":\"b300\",\"nodes\":4,\"fabric\":{\"kind\":\"RoCEv2\"}}",
                   "roce", "fabric_guessed");
    expect_network("{\"accelerator\":\"b300\",\"nodes\":4,\"kind\":\"slingshot-11\","
                   "\"nics\":[{\"count\":8,\"bytes_per_s\":5e10}]}",
                   "slingshot", "fabric_guessed");
    expect_network("{\"accelerator\":\"b300\",\"nodes\":4,\"fabric\":{\"kind\":\"fat_tree\"},"
                   "\"nics\":[{\"count\":8,\"bytes_per_s\":5e10}]}",
                   "infiniband", "fabric_assumed");
    expect_network("{\"accelerator\":\"b300\",\"nodes\":4,\"nics\":"
                   "[{\"count\":8,\"bytes_per_s\":5e10,\"kind\":\"token ring\"}]}",
                   "infiniband", "fabric_kind_not_modelled");
    expect_network("{\"accelerator\":\"b300\",\"nics\":"
                   "[{\"count\":8,\"bytes_per_s\":5e10,\"kind\":\"token ring\"}]}",
                   "infiniband", NULL);
}

static void
bare_lists_and_names_of_several_parts_are_refused(void)
{
    reading r;
    read_parts(&r, NULL, NULL, "[{\"accelerator\":\"b200\"}]", NULL);
    expect_refused(&r, "/cluster", "wrong_type");
    sl_expect_text(r.err.list[0].hint, "{\"pools\": [...]}", "where pools go");
    clear(&r);
    read_parts(&r, NULL, NULL, "{\"accelerator\":\"a100\"}", NULL);
    expect_refused(&r, "/cluster/accelerator", "ambiguous_accelerator");
    clear(&r);
    read_parts(&r, NULL, NULL, "{\"accelerator\":\"b200\",\"pool\":\"x\"}", NULL);
    expect_refused(&r, "/cluster/pool", "conflicting_fields");
    clear(&r);
}

static sl_model *
small_model(void)
{
    sl_model *const model = calloc(1, sizeof *model);
    assert(model != NULL);
    const sl_dense_spec spec = {.blocks = 8,
                                .hidden = 1024,
                                .ffn = 4096,
                                .vocabulary = 32000,
                                .heads = 16,
                                .kv_heads = 16,
                                .head_dim = 64,
                                .gated_mlp = true,
                                .has_head = true};
    sl_errors err = {0};
    CU_ASSERT_EQUAL_FATAL(sl_model_describe_dense(&spec, model, &err), SL_OK);
    model->hidden = 1024;
    model->ffn = 4096;
    model->vocabulary = 32000;
    model->heads = model->kv_heads = 16;
    model->head_dim = 64;
    return model;
}

static void
a_degree_that_has_no_rest_is_refused_with_the_products(void)
{
    reading r;
    read_parts(&r, NULL, NULL, NULL, "{\"tensor\":3}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_TRUE(r.request.data_open);
    sl_model *const model = small_model();
    const sl_question question = sl_estimate_request_question(&r.request, model);
    sl_errors err = {0};
    CU_ASSERT_EQUAL(sl_estimate_request_check(&r.request, &question, &err), SL_E_RANGE);
    expect_fault(&err, "/parallelism", "not_divisible");
    sl_expect_text(err.list[0].hint, "tensor * pipeline * context: 1, 2, 4, 8, 16", "products");
    expect_fault(&err, "/parallelism/tensor", "not_divisible"); /* the heads, too */
    CU_ASSERT_PTR_NULL(fault_at(&err, "/parallelism/data"));
    free(model);
    clear(&r);
}

/* FSDP's words are refused where they stand, not where the engine reads what they mean. */
static void
faults_point_at_the_words_that_were_said(void)
{
    static const struct {
        const char *framework, *plan, *pointer, *rule, *hint;
    } cases[] = {
        {"fsdp2", "{\"zero_stage\":3,\"replicate\":3}", "/parallelism/replicate", "not_divisible",
         "1, 2, 4, 8, 16"},
        {"megatron", "{\"zero_stage\":0,\"replicate\":2}", "/parallelism/replicate", "not_modelled",
         "leave it out, or framework fsdp2 with zero_stage 3"},
        {"megatron", "{\"sharding\":\"full_shard\",\"pipeline\":2}", "/parallelism/sharding",
         "not_modelled", "no_shard, or framework fsdp1 or fsdp2"},
        {"fsdp2", "{\"sharding\":\"no_shard\"}", "/parallelism/sharding", "stage_not_of_framework",
         "full_shard, shard_grad_op, hybrid_shard, hybrid_shard_zero2"},
        {"deepspeed", "{\"sharding\":\"hybrid_shard\"}", "/parallelism/sharding", "not_modelled",
         "leave it out, or framework fsdp2 with zero_stage 3"},
        {"fsdp2", "{\"zero_stage\":0,\"sharding\":\"no_shard\"}", "/parallelism/zero_stage",
         "stage_not_of_framework", "2, 3"},
    };
    sl_model *const model = small_model();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char workload[128];
        reading r;
        (void)sl_text_format(workload, sizeof workload,
                             "{\"sequence_length\":2048,\"global_batch_size\":64,"
                             "\"framework\":\"%s\"}",
                             cases[i].framework);
        read_parts(&r, NULL, workload, NULL, cases[i].plan);
        CU_ASSERT_EQUAL(r.code, SL_OK);
        const sl_question question = sl_estimate_request_question(&r.request, model);
        sl_errors err = {0};
        CU_ASSERT_NOT_EQUAL(sl_estimate_request_check(&r.request, &question, &err), SL_OK);
        expect_fault(&err, cases[i].pointer, cases[i].rule);
        const sl_error *const fault = fault_at(&err, cases[i].pointer);
        sl_expect_text(fault == NULL ? "none" : fault->hint, cases[i].hint, cases[i].pointer);
        clear(&r);
    }
    free(model);
}

static void
the_hash_depends_on_meaning_not_on_spelling(void)
{
    static const char *const texts[] = {
        "{\"model\":{\"hub\":\"a/b\"},\"workload\":{\"sequence_length\":8,\"global_batch_size\":8},"
        "\"cluster\":{\"accelerator\":\"b200\"}}",
        "{ \"cluster\": {\"accelerator\":\"b200\"}, \"workload\":{\"global_batch_size\":8,"
        "\"sequence_length\":8},\"model\":{\"hub\":\"a/b\"}}",
        "{\"model\":{\"hub\":\"a/b\"},\"workload\":{\"sequence_length\":9,\"global_batch_size\":8},"
        "\"cluster\":{\"accelerator\":\"b200\"}}",
    };
    char hashes[4][SL_HASH_TEXT_SIZE];
    for (size_t i = 0; i < 3; i++) {
        reading r;
        read_request(&r, texts[i], false);
        CU_ASSERT_EQUAL(
            sl_estimate_request_hash(&r.request, "main", "1", catalog, hashes[i], &r.err), SL_OK);
        if (i == 0)
            CU_ASSERT_EQUAL(
                sl_estimate_request_hash(&r.request, "other", "1", catalog, hashes[3], &r.err),
                SL_OK);
        clear(&r);
    }
    sl_expect_text(hashes[1], hashes[0], "order and spaces");
    CU_ASSERT_STRING_NOT_EQUAL(hashes[2], hashes[0]);
    CU_ASSERT_STRING_NOT_EQUAL(hashes[3], hashes[0]);
}

/* The text of the choices for a plan, in a buffer of the caller's. */
static void
write_choices(sl_buffer *out, const char *workload, const char *parallelism)
{
    reading r;
    read_parts(&r, NULL, workload, NULL, parallelism);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    sl_model *const model = small_model();
    sl_writer writer;
    sl_buffer_init(out, 1 << 20);
    sl_writer_init(&writer, out);
    sl_choices_write(&writer, &r.request, catalog, model);
    CU_ASSERT_TRUE_FATAL(sl_writer_ok(&writer));
    free(model);
    clear(&r);
}

static void
choices_are_the_legal_values_of_each_setting(void)
{
    sl_buffer out;
    write_choices(&out, NULL, "{\"tensor\":2,\"pipeline\":2,\"zero_stage\":1}");
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"valid\":true"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"tensor\":[1,2,4,8]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"context\":[1,2,4]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"expert\":[1]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"zero_stage\":[0,1]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"sequence\":[false,true]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"recompute\":[\"none\",\"selective\",\"full\"]"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(out.data, "\"framework\":[\"megatron\",\"fsdp1\",\"fsdp2\",\"deepspeed\"]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(
        out.data,
        "\"attention\":[\"unfused\",\"flash1\",\"flash2\",\"flash3\",\"cudnn\"]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"errors\":[]"));
    sl_buffer_clear(&out);
}

static void
an_invalid_plan_still_gets_its_choices(void)
{
    sl_buffer out;
    write_choices(&out, NULL, "{\"tensor\":3,\"zero_stage\":1}");
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"valid\":false"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"tensor\":[1,2,4,8,16]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"recompute\":[\"none\",\"selective\",\"full\"]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"pointer\":\"/parallelism\""));
    sl_buffer_clear(&out);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(cluster_overrides_reach_the_engine),
        SL_CASE(a_node_type_gives_the_shape_the_network_and_the_price),
        SL_CASE(modules_of_a_whole_board_have_its_links_and_its_power),
        SL_CASE(a_bridge_is_an_accessory_that_is_said_to_be_there),
        SL_CASE(boards_without_a_switch_are_known_by_node_and_part),
        SL_CASE(the_kind_of_network_is_the_nearest_that_was_said),
        SL_CASE(bare_lists_and_names_of_several_parts_are_refused),
        SL_CASE(a_degree_that_has_no_rest_is_refused_with_the_products),
        SL_CASE(faults_point_at_the_words_that_were_said),
        SL_CASE(the_hash_depends_on_meaning_not_on_spelling),
        SL_CASE(choices_are_the_legal_values_of_each_setting),
        SL_CASE(an_invalid_plan_still_gets_its_choices),
    };
    return sl_run_catalogued(argc, argv, "question_cluster", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
