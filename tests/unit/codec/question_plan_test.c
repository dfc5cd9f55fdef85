/* What a question says of its plan: sharding, schedule, placement, recomputation, offload,
 * types. */
#include "codec/question/names.h"
#include "question_reading.h"

static void
recomputation_is_a_word_or_says_over_what(void)
{
    static const struct {
        const char *value, *pointer, *rule;
    } cases[] = {
        {"{}", "/workload/recompute/mode", "required_field"},
        {"{\"mode\":\"modules\"}", "/workload/recompute/modules", "required_field"},
        {"{\"mode\":\"modules\",\"modules\":[]}", "/workload/recompute/modules", "wrong_type"},
        {"{\"mode\":\"modules\",\"modules\":[\"mlp\",\"mpl\"]}", "/workload/recompute/modules/1",
         "unknown_value"},
        {"{\"mode\":\"full\",\"modules\":[\"mlp\"]}", "/workload/recompute/modules",
         "inconsistent"},
        {"{\"mode\":\"full\",\"layers\":2}", "/workload/recompute/method", "required_field"},
        {"{\"mode\":\"full\",\"method\":\"block\"}", "/workload/recompute/layers",
         "required_field"},
        {"{\"mode\":\"full\",\"method\":\"block\",\"layers\":0}", "/workload/recompute/layers",
         "out_of_range"},
        {"{\"mode\":\"op_sac\",\"method\":\"block\"}", "/workload/recompute/method",
         "inconsistent"},
    };
    reading r;
    char text[160];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)snprintf(text, sizeof text, "\"recompute\":%s", cases[i].value);
        read_workload(&r, text);
        expect_refused(&r, cases[i].pointer, cases[i].rule);
        clear(&r);
    }
    read_workload(&r, "\"recompute\":{\"mode\":\"full\",\"method\":\"uniform\",\"layers\":3}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.recompute, SL_RECOMPUTE_FULL);
    CU_ASSERT_EQUAL(r.request.workload.recompute_method, SL_RECOMPUTE_UNIFORM);
    CU_ASSERT_EQUAL(r.request.workload.recompute_layers, 3);
    clear(&r);
    read_workload(&r, "\"recompute\":{\"mode\":\"modules\",\"modules\":[\"mlp\",\"layernorm\"]}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.recompute_modules,
                    1U << SL_MODULE_MLP | 1U << SL_MODULE_NORMS);
    clear(&r);
}

/* FSDP's words and the numbers they stand for. */
static void
sharding_words_say_stage_and_group(void)
{
    static const struct {
        const char *plan;
        uint32_t stage, group;
        sl_reshard reshard;
    } cases[] = {
        {"{\"sharding\":\"full_shard\"}", 3, 0, SL_RESHARD_DEFAULT},
        {"{\"sharding\":\"shard_grad_op\"}", 2, 0, SL_RESHARD_DEFAULT},
        {"{\"sharding\":\"no_shard\"}", 0, 0, SL_RESHARD_DEFAULT},
        {"{\"sharding\":\"hybrid_shard\"}", 3, 8, SL_RESHARD_DEFAULT},
        {"{\"sharding\":\"hybrid_shard_zero2\",\"tensor\":2}", 2, 4, SL_RESHARD_DEFAULT},
        {"{\"zero_stage\":3,\"replicate\":2}", 3, 8, SL_RESHARD_DEFAULT},
        {"{\"zero_stage\":3,\"shard_group\":4}", 3, 4, SL_RESHARD_DEFAULT},
        {"{\"zero_stage\":3,\"reshard_after_forward\":false}", 3, 0, SL_RESHARD_NEVER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r;
        read_parts(&r, NULL, NULL,
                   "{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"nodes\":2,"
                   "\"accelerators_per_node\":8}",
                   cases[i].plan);
        CU_ASSERT_EQUAL(r.code, SL_OK);
        CU_ASSERT_EQUAL(r.request.plan.zero_stage, cases[i].stage);
        CU_ASSERT_EQUAL(r.request.plan.shard_group, cases[i].group);
        CU_ASSERT_EQUAL(r.request.plan.reshard, cases[i].reshard);
        CU_ASSERT_EQUAL(r.request.unknown & SL_UNKNOWN_ZERO_STAGE, 0);
        clear(&r);
    }

    reading r;
    read_parts(&r, NULL, NULL, NULL, "{\"zero_stage\":2,\"sharding\":\"full_shard\"}");
    expect_refused(&r, "/parallelism/sharding", "conflicting_fields");
    clear(&r);
    read_parts(&r, NULL,
               "{\"sequence_length\":2048,\"global_batch_size\":64,\"framework\":\"megatron\","
               "\"accounting\":\"mixed-2-2-12\"}",
               NULL, "{\"sharding\":\"full_shard\"}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_TRUE(sl_notes_have(&r.request.notes, "accounting_alone"));
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"replicate\":2,\"shard_group\":4}");
    expect_refused(&r, "/parallelism/replicate", "conflicting_fields");
    clear(&r);
}

/* zb_v is two chunks a rank by definition; whether another number goes with it is the engine's. */
static void
every_schedule_has_a_word(void)
{
    static const struct {
        const char *text;
        sl_schedule schedule;
        uint32_t chunks;
    } cases[] = {
        {"{\"schedule\":\"naive\"}", SL_SCHEDULE_NAIVE, 1},
        {"{\"schedule\":\"gpipe\"}", SL_SCHEDULE_GPIPE, 1},
        {"{\"schedule\":\"1f1b\"}", SL_SCHEDULE_1F1B, 1},
        {"{\"schedule\":\"interleaved_1f1b\",\"virtual_pipeline\":3}", SL_SCHEDULE_INTERLEAVED_1F1B,
         3},
        {"{\"schedule\":\"zb_h1\"}", SL_SCHEDULE_ZB_H1, 1},
        {"{\"schedule\":\"zb_h2\"}", SL_SCHEDULE_ZB_H2, 1},
        {"{\"schedule\":\"zb_v\"}", SL_SCHEDULE_ZB_V, 2},
        {"{\"schedule\":\"zb_v\",\"virtual_pipeline\":1}", SL_SCHEDULE_ZB_V, 2},
        {"{\"schedule\":\"zb_v\",\"virtual_pipeline\":3}", SL_SCHEDULE_ZB_V, 3},
        {"{\"schedule\":\"dualpipe\"}", SL_SCHEDULE_DUALPIPE, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r;
        read_parts(&r, NULL, NULL, NULL, cases[i].text);
        CU_ASSERT_EQUAL(r.err.count, 0);
        CU_ASSERT_EQUAL(r.request.plan.schedule, cases[i].schedule);
        CU_ASSERT_EQUAL(r.request.plan.virtual_pipeline, cases[i].chunks);
        clear(&r);
    }
}

static void
placement_lists_runs_of_blocks(void)
{
    static const char *const wrong[][2] = {
        {"{\"placement\":\"cpu\"}", "/parallelism/placement"},
        {"{\"placement\":[{\"device\":\"cpu\"}]}", "/parallelism/placement/0/layers"},
        {"{\"placement\":[{\"layers\":\"3-1\",\"device\":\"cpu\"}]}",
         "/parallelism/placement/0/layers"},
        {"{\"placement\":[{\"layers\":\"all\",\"device\":\"cpu\"}]}",
         "/parallelism/placement/0/layers"},
        {"{\"placement\":[{\"layers\":\"0\",\"device\":\"tpu\"}]}",
         "/parallelism/placement/0/device"},
        {"{\"placement\":[{\"layers\":\"0\",\"device\":\"cpu\",\"flops_per_s\":0}]}",
         "/parallelism/placement/0/flops_per_s"},
    };
    reading r;

    read_parts(&r, NULL, NULL, NULL,
               "{\"placement\":[{\"layers\":\"0-3\",\"device\":\"cpu\"},"
               "{\"layers\":\"7\",\"device\":\"cpu\",\"flops_per_s\":1e12,"
               "\"memory_bytes_per_s\":2e11}]}");
    CU_ASSERT_EQUAL(r.err.count, 0);
    const sl_plan *plan = &r.request.plan;
    CU_ASSERT_EQUAL_FATAL(plan->host_run_count, 2);
    CU_ASSERT_TRUE(plan->host_runs[0].first == 0 && plan->host_runs[0].last == 3);
    CU_ASSERT_EQUAL(plan->host_runs[0].flops_per_s, 0.0);
    CU_ASSERT_TRUE(plan->host_runs[1].first == 7 && plan->host_runs[1].last == 7);
    CU_ASSERT_EQUAL(plan->host_runs[1].flops_per_s, 1e12);
    CU_ASSERT_EQUAL(plan->host_runs[1].memory_bytes_per_s, 2e11);
    clear(&r);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        read_parts(&r, NULL, NULL, NULL, wrong[i][0]);
        CU_ASSERT_TRUE_FATAL(r.err.count >= 1);
        sl_expect_text(r.err.list[0].pointer, wrong[i][1], "pointer");
        clear(&r);
    }
}

static void
plan_fields_that_are_not_modelled_are_refused_by_name(void)
{
    static const char *const cases[][2] = {
        {"\"order\":\"pp-tp\"", "/parallelism/order"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char plan[128];
        (void)sl_text_format(plan, sizeof plan, "{%s}", cases[i][0]);
        reading r;
        read_parts(&r, NULL, NULL, NULL, plan);
        CU_ASSERT_EQUAL(r.code, SL_E_UNSUPPORTED);
        expect_refused(&r, cases[i][1], "not_modelled");
        clear(&r);
    }
}

/* What a run of a release was told otherwise. */
static void
figures_of_a_profile_are_replaced(void)
{
    reading r;

    read_parts(&r, NULL,
               "{\"sequence_length\":2048,\"global_batch_size\":64,\"software\":"
               "\"megatron-core-0.15\",\"profile\":{\"gradient_accumulation_fusion\":0,"
               "\"logits_peak_bytes\":8,\"fused_logits_peak_bytes\":2}}",
               NULL, NULL);
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.software->gradient_accumulation_fusion, 0.0);
    CU_ASSERT_EQUAL(r.request.software->logits_peak_bytes, 8.0);
    CU_ASSERT_EQUAL(r.request.software->fused_logits_peak_bytes, 2.0);
    clear(&r);
    read_parts(&r, NULL,
               "{\"sequence_length\":2048,\"global_batch_size\":64,\"software\":"
               "\"megatron-core-0.15\",\"profile\":{\"gradient_accumulation_fusion\":2}}",
               NULL, NULL);
    expect_refused(&r, "/workload/profile/gradient_accumulation_fusion", "out_of_range");
    clear(&r);
}

static void
overlap_takes_the_place_of_the_profiles_own(void)
{
    reading r;
    read_parts(&r, NULL,
               "{\"sequence_length\":2048,\"global_batch_size\":64,\"software\":"
               "\"mbridge-26.04\"}",
               NULL, "{\"overlap\":{\"grad_reduce\":false,\"tensor\":\"userbuffer\"}}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    const sl_software *const own = r.request.software;
    const sl_software *const shipped = sl_catalog_software(catalog, "megatron", &(uint32_t){0});
    CU_ASSERT_FALSE(own->overlap_gradient_reduce);
    CU_ASSERT_TRUE(own->overlap_tensor_backward && own->overlap_tensor_forward);
    CU_ASSERT_TRUE(shipped != own && !shipped->overlap_tensor_forward);
    sl_expect_text(own->name, "mbridge-26.04", "profile");
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"overlap\":{\"p2p\":true}}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    for (uint32_t i = 0; i < r.request.software_count; i++)
        CU_ASSERT_TRUE(r.request.software[i].overlap_pipeline);
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"overlap\":{\"tensor\":\"all\"}}");
    expect_refused(&r, "/parallelism/overlap/tensor", "unknown_value");
    clear(&r);
    read_parts(&r, NULL, "{\"sequence_length\":2048,\"global_batch_size\":64,\"framework\":\"dp\"}",
               NULL, "{\"overlap\":{\"grad_reduce\":true}}");
    expect_refused(&r, "/parallelism/overlap", "inconsistent");
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"order\":\"tp-cp-ep-pp-dp\"}");
    CU_ASSERT_EQUAL(r.request.plan.order, SL_ORDER_PIPELINE_DATA);
    clear(&r);
}

static void
units_are_words_sizes_or_modules(void)
{
    reading r;
    read_parts(&r, NULL, NULL, NULL, "{\"fsdp_unit\":\"none\"}");
    CU_ASSERT_EQUAL(r.request.plan.unit.kind, SL_UNIT_ROOT);
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"fsdp_unit\":100000000}");
    CU_ASSERT_EQUAL(r.request.plan.unit.kind, SL_UNIT_BY_SIZE);
    CU_ASSERT_EQUAL(r.request.plan.unit.least, 100000000);
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"fsdp_unit\":[\"self_attn\",\"mlp\"]}");
    CU_ASSERT_EQUAL(r.request.plan.unit.kind, SL_UNIT_BY_MODULE);
    CU_ASSERT_EQUAL(r.request.plan.unit.module_count, 2);
    sl_expect_text(r.request.plan.unit.modules[1], "mlp", "module");
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"fsdp_unit\":[]}");
    expect_refused(&r, "/parallelism/fsdp_unit", "out_of_range");
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"fsdp_unit\":\"layer\"}");
    expect_refused(&r, "/parallelism/fsdp_unit", "unknown_value");
    clear(&r);
}

static void
states_go_to_the_host_or_to_its_disks(void)
{
    reading r;
    read_workload(&r, "\"framework\":\"deepspeed\",\"offload\":{\"optimizer\":\"nvme\","
                      "\"parameters\":\"cpu\",\"activations\":\"none\"}");
    const sl_offload *const offload = &r.request.workload.offload;
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_TRUE(offload->optimizer && offload->optimizer_on_nvme);
    CU_ASSERT_TRUE(offload->parameters && !offload->parameters_on_nvme);
    CU_ASSERT_FALSE(offload->activations);
    clear(&r);
    read_workload(&r, "\"offload\":{\"activations\":\"cpu\",\"activation_layers\":20}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_TRUE(offload->activations && offload->activation_layers == 20);
    clear(&r);
    read_workload(&r, "\"offload\":{\"activations\":\"cpu\",\"activation_layers\":0}");
    expect_refused(&r, "/workload/offload/activation_layers", "out_of_range");
    clear(&r);
}

static void
data_parallel_runs_the_releases_of_ddp(void)
{
    reading r;
    read_workload(&r, "\"framework\":\"dp\"");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.framework, SL_FRAMEWORK_DP);
    sl_expect_text(r.request.software[0].framework, "ddp", "profile");
    clear(&r);
    read_workload(&r, "\"framework\":\"dp\",\"software\":\"pytorch-ddp-2.x\"");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.framework, SL_FRAMEWORK_DP);
    clear(&r);
    read_workload(&r, "\"framework\":\"dp\",\"software\":\"mbridge-26.04\"");
    expect_refused(&r, "/workload/software", "inconsistent");
    clear(&r);
}

static void
wire_types_are_words_of_the_plan(void)
{
    reading r;
    read_parts(&r, NULL, NULL, NULL, "{\"grad_reduce_dtype\":\"bf16\",\"gather_dtype\":\"fp32\"}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.reduce, SL_WIRE_BF16);
    CU_ASSERT_EQUAL(r.request.workload.gather, SL_WIRE_FP32);
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"grad_reduce_dtype\":null}");
    CU_ASSERT_EQUAL(r.request.workload.reduce, SL_WIRE_DEFAULT);
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"grad_reduce_dtype\":\"fp8\"}");
    expect_refused(&r, "/parallelism/grad_reduce_dtype", "unknown_value");
    clear(&r);
    read_parts(&r, NULL,
               "{\"sequence_length\":2048,\"global_batch_size\":64,\"framework\":\"fsdp2\","
               "\"precision\":\"fp8\",\"fp8\":{\"all_gather\":true}}",
               NULL, "{\"gather_dtype\":\"bf16\"}");
    expect_refused(&r, "/parallelism/gather_dtype", "conflicting_fields");
    clear(&r);
}

static void
low_precisions_say_recipe_storage_and_exceptions(void)
{
    reading r;
    read_workload(&r, "\"precision\":\"fp8\",\"fp8\":{\"recipe\":\"block\","
                      "\"primary_weights\":true,\"bf16_layers\":2}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.fp8.recipe, SL_RECIPE_BLOCK);
    CU_ASSERT_TRUE(r.request.workload.fp8.primary_weights);
    CU_ASSERT_EQUAL(r.request.half_last, 2);
    clear(&r);
    read_workload(&r, "\"precision\":\"fp8\",\"fp8\":{\"recipe\":\"mxfp8\","
                      "\"bf16_layers\":[0,31]}");
    CU_ASSERT_EQUAL(r.request.workload.precision, SL_PRECISION_MXFP8);
    CU_ASSERT_EQUAL(r.request.half_count, 32);
    CU_ASSERT_TRUE(r.request.half_blocks[0] && r.request.half_blocks[31]);
    CU_ASSERT_FALSE(r.request.half_blocks[1]);
    clear(&r);
    read_workload(&r, "\"precision\":\"nvfp4\",\"fp8\":{\"recipe\":\"delayed\"}");
    expect_refused(&r, "/workload/fp8/recipe", "inconsistent");
    clear(&r);
    read_workload(&r, "\"precision\":\"bf16\",\"fp8\":{}");
    expect_refused(&r, "/workload/fp8", "inconsistent");
    sl_expect_text(r.err.list[0].hint, "leave it out, or precision fp8", "hint");
    clear(&r);
    read_workload(&r, "\"precision\":\"fp8\",\"fp8\":{\"all_gather\":true}");
    expect_refused(&r, "/workload/fp8/all_gather", "inconsistent");
    clear(&r);
    read_workload(&r, "\"precision\":\"fp8\",\"fp8\":{\"bf16_layers\":[-1]}");
    expect_refused(&r, "/workload/fp8/bf16_layers/0", "out_of_range");
    clear(&r);
}

static void
a_layout_is_read_field_by_field(void)
{
    reading r;
    read_workload(&r, "\"layout\":{\"gradient_bytes\":2,\"master_weight_bytes\":0}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT(r.request.workload.layout.gradient_bytes == 2);
    CU_ASSERT(r.request.workload.layout.master_bytes == 0);
    CU_ASSERT(r.request.workload.layout.optimizer_bytes < 0);
    clear(&r);
    read_workload(&r, "\"layout\":{\"gradient_bytes\":-2,\"bytes\":1}");
    expect_fault(&r.err, "/workload/layout/gradient_bytes", "out_of_range");
    expect_fault(&r.err, "/workload/layout/bytes", "unknown_field");
    clear(&r);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(recomputation_is_a_word_or_says_over_what),
        SL_CASE(sharding_words_say_stage_and_group),
        SL_CASE(every_schedule_has_a_word),
        SL_CASE(placement_lists_runs_of_blocks),
        SL_CASE(plan_fields_that_are_not_modelled_are_refused_by_name),
        SL_CASE(figures_of_a_profile_are_replaced),
        SL_CASE(overlap_takes_the_place_of_the_profiles_own),
        SL_CASE(units_are_words_sizes_or_modules),
        SL_CASE(states_go_to_the_host_or_to_its_disks),
        SL_CASE(data_parallel_runs_the_releases_of_ddp),
        SL_CASE(wire_types_are_words_of_the_plan),
        SL_CASE(low_precisions_say_recipe_storage_and_exceptions),
        SL_CASE(a_layout_is_read_field_by_field),
    };
    return sl_run_catalogued(argc, argv, "question_plan", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
