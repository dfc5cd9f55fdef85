/* What a question says: each field read, assumed, refused by name or warned of. */
#include "codec/question/names.h"
#include "question_reading.h"

static void
a_full_request_is_read_field_by_field(void)
{
    reading r;
    read_request(
        &r,
        "{\"$schema\":\"x\",\"annotations\":{\"a\":1},"
        "\"model\":{\"hub\":\"org/name\",\"revision\":\"main\"},"
        "\"workload\":{\"kind\":\"pretraining\",\"framework\":\"megatron\","
        "\"sequence_length\":8192,\"global_batch_size\":512,\"micro_batch_size\":1,"
        "\"software\":\"mbridge-26.04\",\"precision\":\"bf16\",\"optimizer\":\"adamw\","
        "\"recompute\":\"selective\",\"attention\":\"flash3\",\"dropout\":false,"
        "\"tokens\":2000000000000},"
        "\"cluster\":{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"nodes\":16,"
        "\"accelerators_per_node\":8},"
        "\"parallelism\":{\"tensor\":8,\"sequence\":true,\"pipeline\":4,\"virtual_pipeline\":2,"
        "\"context\":1,\"expert\":1,\"data\":4,\"zero_stage\":1,\"shard_group\":null,"
        "\"schedule\":\"interleaved_1f1b\"}}",
        false);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    const sl_estimate_request *const q = &r.request;
    sl_expect_text(q->hub, "org/name", "hub");
    sl_expect_text(q->revision, "main", "revision");
    CU_ASSERT_EQUAL(q->unknown, 0);
    CU_ASSERT_EQUAL(q->workload.sequence_length, 8192);
    CU_ASSERT_EQUAL(q->workload.global_batch, 512);
    CU_ASSERT_EQUAL(q->workload.micro_batch, 1);
    CU_ASSERT_EQUAL(q->workload.tokens, 2000000000000);
    CU_ASSERT_EQUAL(q->workload.recompute, SL_RECOMPUTE_SELECTIVE);
    CU_ASSERT_EQUAL(q->workload.attention, SL_ATTENTION_FLASH3);
    CU_ASSERT(q->workload.layout.parameter_bytes < 0);
    CU_ASSERT_EQUAL(q->software_count, 1);
    sl_expect_text(q->software->name, "mbridge-26.04", "software");
    CU_ASSERT_EQUAL(sl_plan_world(&q->plan), 128);
    CU_ASSERT_EQUAL(q->plan.schedule, SL_SCHEDULE_INTERLEAVED_1F1B);
    CU_ASSERT_TRUE(q->plan.sequence && q->schedule_said && !q->data_auto && q->has_cluster);
    CU_ASSERT_EQUAL(q->cluster.nics_per_node, 8);
    CU_ASSERT_TRUE(q->cluster.nics_assumed);
    clear(&r);
}

static void
absent_fields_are_unknown_and_defaults_are_told(void)
{
    reading r;
    read_parts(&r, NULL, NULL, NULL, "{\"tensor\":2}");
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.unknown, SL_UNKNOWN_SOFTWARE | SL_UNKNOWN_RECOMPUTE |
                                           SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT |
                                           SL_UNKNOWN_MICRO_BATCH | SL_UNKNOWN_SEQUENCE |
                                           SL_UNKNOWN_ZERO_STAGE);
    CU_ASSERT_EQUAL(r.request.software_count, 5);
    CU_ASSERT_EQUAL(r.request.plan.data, 8);
    CU_ASSERT_TRUE(sl_notes_have(&r.request.notes, "precision_assumed"));
    CU_ASSERT_TRUE(sl_notes_have(&r.request.notes, "optimizer_assumed"));
    CU_ASSERT_TRUE(sl_notes_have(&r.request.notes, "nics_assumed"));
    CU_ASSERT_EQUAL(r.request.cluster.accelerators_per_node, 8);
    clear(&r);
}

static void
null_is_the_same_as_absent(void)
{
    reading r;
    read_workload(&r, "\"recompute\":null,\"fp8\":null,\"moe\":null,\"layout\":null");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT((r.request.unknown & SL_UNKNOWN_RECOMPUTE) != 0);
    clear(&r);
}

static void
one_tensor_rank_leaves_no_sequence_question(void)
{
    reading r;
    read_parts(&r, NULL, NULL, NULL, "{\"tensor\":1,\"sequence\":true}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.unknown & SL_UNKNOWN_SEQUENCE, 0);
    CU_ASSERT_TRUE(r.request.plan.sequence); /* as asked; the engine notes that it does nothing */
    clear(&r);
}

static void
interleaving_without_chunks_is_asked_for_where_it_is_missing(void)
{
    reading r;
    read_parts(&r, NULL, NULL, NULL,
               "{\"schedule\":\"interleaved_1f1b\",\"virtual_pipeline\":null}");
    CU_ASSERT_EQUAL(r.code, SL_E_RANGE);
    sl_expect_text(r.err.list[0].pointer, "/parallelism/virtual_pipeline", "pointer");
    sl_expect_text(r.err.list[0].rule, "required_field", "rule");
    clear(&r);
}

static void
missing_parts_are_named_all_at_once(void)
{
    reading r;
    read_request(&r, "{}", false);
    CU_ASSERT_EQUAL(r.code, SL_E_RANGE);
    expect_fault(&r.err, "/model", "required_field");
    expect_fault(&r.err, "/workload", "required_field");
    expect_fault(&r.err, "/cluster", "required_field");
    clear(&r);
    read_parts(&r, NULL, "{}", "{}", NULL);
    expect_fault(&r.err, "/workload/sequence_length", "required_field");
    expect_fault(&r.err, "/workload/global_batch_size", "required_field");
    expect_fault(&r.err, "/cluster/accelerator", "required_field");
    clear(&r);
    read_request(&r, "[1]", false);
    CU_ASSERT_EQUAL(r.code, SL_E_RANGE);
    expect_fault(&r.err, "", "wrong_type");
    clear(&r);
    read_parts(&r, "7", "7", "7", "7");
    CU_ASSERT_EQUAL(r.err.count, 4);
    clear(&r);
}

static void
a_model_has_one_source(void)
{
    reading r;
    read_parts(&r, "{}", NULL, NULL, NULL);
    expect_refused(&r, "/model", "required_field");
    clear(&r);
    read_parts(&r, "{\"hub\":\"a/b\",\"config\":{}}", NULL, NULL, NULL);
    expect_refused(&r, "/model", "conflicting_fields");
    clear(&r);
    read_parts(&r, "{\"config\":{\"model_type\":\"llama\"}}", NULL, NULL, NULL);
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.source, SL_MODEL_FROM_CONFIG);
    char pointer[64];
    sl_node member;
    CU_ASSERT_TRUE(sl_node_member(&r.request.config, "model_type", &member));
    sl_node_pointer(&member, pointer, sizeof pointer);
    sl_expect_text(pointer, "/model/config/model_type", "pointers go through the request");
    clear(&r);
    read_parts(&r, "{\"config\":[]}", NULL, NULL, NULL);
    expect_refused(&r, "/model/config", "wrong_type");
    clear(&r);
}

static void
what_is_not_modelled_is_refused_by_name(void)
{
    static const struct {
        const char *members, *pointer;
    } cases[] = {
        {"\"kind\":\"inference\"", "/workload/kind"},
        {"\"software\":\"maxtext\"", "/workload/software"},
        {"\"mtp\":2", "/workload/mtp"},
        {"\"adapter\":{\"method\":\"bitfit\"}", "/workload/adapter/method"},
        {"\"offload\":{\"activations\":\"nvme\"}", "/workload/offload/activations"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r;
        read_workload(&r, cases[i].members);
        CU_ASSERT_EQUAL(r.code, SL_E_UNSUPPORTED);
        expect_refused(&r, cases[i].pointer, "not_modelled");
        clear(&r);
    }
}

static void
values_that_change_nothing_are_accepted(void)
{
    reading r;
    read_parts(&r, NULL,
               "{\"sequence_length\":1,\"global_batch_size\":16,\"compile\":false,"
               "\"cuda_graphs\":\"none\",\"optimizer_in_backward\":false,"
               "\"activation_accounting\":\"exact\",\"accounting\":\"exact\"}",
               NULL,
               "{\"context\":1,\"expert\":1,\"expert_tensor\":1,\"replicate\":1,"
               "\"order\":\"tp-cp-ep-dp-pp\",\"data\":\"auto\"}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.err.count, 0);
    clear(&r);
}

static void
wrong_values_are_told_from_unmodelled_ones(void)
{
    reading r;
    read_workload(&r, "\"framework\":\"megatrn\",\"recompute\":\"som\",\"attention\":7,"
                      "\"micro_batch_size\":0,\"tokens\":-1,\"dropout\":\"yes\"");
    CU_ASSERT_EQUAL(r.code, SL_E_RANGE);
    expect_fault(&r.err, "/workload/framework", "unknown_value");
    sl_expect_text(fault_at(&r.err, "/workload/framework")->hint, "megatron", "nearest");
    expect_fault(&r.err, "/workload/recompute", "unknown_value");
    expect_fault(&r.err, "/workload/attention", "wrong_type");
    expect_fault(&r.err, "/workload/micro_batch_size", "out_of_range");
    expect_fault(&r.err, "/workload/tokens", "out_of_range");
    expect_fault(&r.err, "/workload/dropout", "wrong_type");
    clear(&r);
    read_parts(&r, NULL, NULL, NULL, "{\"data\":\"all\",\"tensor\":0,\"zero_stage\":4}");
    expect_fault(&r.err, "/parallelism/data", "unknown_value");
    expect_fault(&r.err, "/parallelism/tensor", "out_of_range");
    expect_fault(&r.err, "/parallelism/zero_stage", "out_of_range");
    clear(&r);
}

static void
unknown_fields_are_errors_or_warnings_as_the_request_says(void)
{
    static const char text[] = "{\"model\":{\"hub\":\"a/b\"},\"workload\":{\"sequence_length\":8,"
                               "\"global_batch_size\":16,\"recomput\":\"full\"},"
                               "\"cluster\":{\"accelerator\":\"b200\",\"nics\":[{\"count\":1,"
                               "\"bytes_per_s\":1e9,\"speed\":1}]},\"extra\":1}";
    reading r;
    read_request(&r, text, false);
    expect_fault(&r.err, "/workload/recomput", "unknown_field");
    sl_expect_text(fault_at(&r.err, "/workload/recomput")->hint, "recompute", "nearest");
    expect_fault(&r.err, "/extra", "unknown_field");
    expect_fault(&r.err, "/cluster/nics/0/speed", "unknown_field");
    clear(&r);
    read_request(&r, text, true);
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.err.count, 0);
    CU_ASSERT_EQUAL(r.warnings.count, 3);
    clear(&r);
}

static void
software_decides_its_framework(void)
{
    reading r;
    read_workload(&r, "\"software\":\"pytorch-ddp-2.x\"");
    CU_ASSERT_EQUAL(r.request.workload.framework, SL_FRAMEWORK_DDP);
    CU_ASSERT_EQUAL(r.code, SL_OK);
    clear(&r);
    read_workload(&r, "\"software\":\"mbridge-25.11\"");
    CU_ASSERT_TRUE(sl_notes_have(&r.request.notes, "software_sibling"));
    clear(&r);
    read_workload(&r, "\"software\":\"mbridge-26.04\",\"framework\":\"ddp\"");
    expect_refused(&r, "/workload/software", "inconsistent");
    clear(&r);
    read_workload(&r, "\"framework\":\"ddp\"");
    CU_ASSERT_EQUAL(r.request.software_count, 1);
    CU_ASSERT_EQUAL(r.request.unknown & SL_UNKNOWN_SOFTWARE, 0);
    clear(&r);
}

static void
words_for_attention_mean_what_the_part_runs(void)
{
    static const struct {
        const char *word, *accelerator;
        sl_attention_kernel kernel;
    } cases[] = {
        {"flash", "nvidia-h100-sxm5-80gb", SL_ATTENTION_FLASH3},
        {"flash", "nvidia-a100-sxm4-80gb", SL_ATTENTION_FLASH2},
        {"flash", "nvidia-gb200", SL_ATTENTION_CUDNN}, /* TransformerEngine's, no flash3 there */
        {"sdpa", "nvidia-h100-sxm5-80gb", SL_ATTENTION_FLASH2},
        {"sdpa", "nvidia-gb200", SL_ATTENTION_CUDNN}, /* PyTorch prefers it from 2.9 on */
        {"eager", "nvidia-h100-sxm5-80gb", SL_ATTENTION_UNFUSED},
        {"cudnn", "nvidia-h100-sxm5-80gb", SL_ATTENTION_CUDNN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char workload[160], cluster[96];
        (void)sl_text_format(workload, sizeof workload,
                             "{\"sequence_length\":8,\"global_batch_size\":8,\"attention\":\"%s\"}",
                             cases[i].word);
        (void)sl_text_format(cluster, sizeof cluster, "{\"accelerator\":\"%s\"}",
                             cases[i].accelerator);
        reading r;
        read_parts(&r, NULL, workload, cluster, NULL);
        CU_ASSERT_EQUAL(r.code, SL_OK);
        CU_ASSERT_EQUAL(r.request.workload.attention, cases[i].kernel);
        CU_ASSERT_EQUAL(r.request.unknown & SL_UNKNOWN_ATTENTION, 0);
        clear(&r);
    }

    reading r;
    read_workload(&r, "\"attention\":\"flash\",\"software\":\"llm-foundry-torch2.0\"");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.attention, SL_ATTENTION_FLASH1); /* before July 2023 */
    clear(&r);
    read_workload(&r, "\"attention\":\"flash\",\"software\":\"llm-foundry-torch2.1\"");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.attention,
                    SL_ATTENTION_FLASH1); /* after, by its own choice */
    clear(&r);
    read_workload(&r, "\"attention\":\"flash\",\"software\":\"megatron-lm-2022\"");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.attention, SL_ATTENTION_FLASH1); /* on Hopper, as then */
    clear(&r);
    read_workload(&r, "\"attention\":\"flash\",\"software\":\"pytorch-fsdp1-2.x\"");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.attention, SL_ATTENTION_FLASH2); /* October 2023 */
    clear(&r);
    read_workload(&r, "\"attention\":\"sdpa\",\"precision\":\"fp32\",\"framework\":\"ddp\"");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.attention, SL_ATTENTION_EFFICIENT);
    clear(&r);
    read_workload(&r, "\"attention\":\"sdpa\",\"precision\":\"fp32\""); /* Megatron has none */
    CU_ASSERT_EQUAL(r.request.workload.attention, SL_ATTENTION_FLASH2);
    clear(&r);
    read_parts(&r, NULL,
               "{\"sequence_length\":8,\"global_batch_size\":8,\"attention\":\"sdpa\","
               "\"framework\":\"ddp\"}",
               "{\"accelerator\":\"nvidia-t4\"}", NULL);
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.attention, SL_ATTENTION_EFFICIENT); /* no flash kernel is */
    clear(&r);
    read_parts(&r, NULL,
               "{\"sequence_length\":8,\"global_batch_size\":8,\"attention\":\"sdpa\","
               "\"software\":\"pytorch-fsdp2-2.x\"}",
               "{\"accelerator\":\"nvidia-b200-sxm-180gb\"}", NULL);
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.attention, SL_ATTENTION_FLASH2); /* October 2024 */
    clear(&r);
    read_workload(&r, "\"attention\":\"sdpa\",\"software\":\"torchtitan-2025-10\"");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.attention, SL_ATTENTION_CUDNN); /* on Hopper, by priority */
    clear(&r);
}

/* flash-attn takes grouped keys as they are and gives outputs by positions, where code calls it. */
static void
kernels_by_name_are_a_package_where_code_calls_it(void)
{
    static const struct {
        const char *workload;
        double relays, repeats;
    } cases[] = {
        {"\"software\":\"modalities-2025\",\"attention\":\"flash2\"", 0.0, 0.0},
        {"\"software\":\"modalities-2025\",\"attention\":\"sdpa\"", 1.0, 1.0},
        {"\"software\":\"modalities-2025\",\"attention\":\"flash2\",\"profile\":{\"relays_"
         "outputs\":1}",
         1.0, 0.0},
        {"\"software\":\"torchtitan-2025-04\",\"attention\":\"flash2\"", 1.0, 1.0}, /* SDPA's */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r;
        read_workload(&r, cases[i].workload);
        CU_ASSERT_EQUAL(r.code, SL_OK);
        sl_expect_near(r.request.software->relays_outputs, cases[i].relays, 1e-12,
                       cases[i].workload);
        sl_expect_near(r.request.software->repeats_keys, cases[i].repeats, 1e-12,
                       cases[i].workload);
        clear(&r);
    }
}

static void
accumulation_gives_the_micro_batch(void)
{
    reading r;
    read_workload(&r, "\"gradient_accumulation\":2"); /* 64 = 16 replicas x 2 x 2 */
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.micro_batch, 2);
    CU_ASSERT_EQUAL(r.request.unknown & SL_UNKNOWN_MICRO_BATCH, 0);
    clear(&r);
    read_workload(&r, "\"gradient_accumulation\":4,\"micro_batch_size\":2");
    expect_refused(&r, "/workload/gradient_accumulation", "inconsistent");
    sl_expect_text(fault_at(&r.err, "/workload/gradient_accumulation")->hint, "2", "the legal one");
    clear(&r);
    read_workload(&r, "\"gradient_accumulation\":3");
    sl_expect_text(fault_at(&r.err, "/workload/gradient_accumulation")->hint, "1, 2, 4",
                   "divisors");
    clear(&r);
    read_workload(&r, "\"gradient_accumulation\":9");
    sl_expect_text(fault_at(&r.err, "/workload/gradient_accumulation")->hint, "1, 2, 4",
                   "divisors");
    clear(&r);
}

static void
a_bare_number_of_parameters_needs_an_accounting_and_nothing_else(void)
{
    reading r;
    read_request(&r, "{\"model\":{\"parameters\":7000000000},\"workload\":{}}", false);
    expect_refused(&r, "/workload/accounting", "required_field");
    clear(&r);
    read_request(&r,
                 "{\"model\":{\"parameters\":7500000000},\"workload\":{\"accounting\":"
                 "\"mixed-2-2-12\"},\"parallelism\":{\"data\":64,\"zero_stage\":3}}",
                 false);
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.source, SL_MODEL_FROM_PARAMETERS);
    CU_ASSERT_EQUAL(r.request.plan.data, 64);
    CU_ASSERT_EQUAL(r.request.plan.zero_stage, 3);
    CU_ASSERT_FALSE(r.request.has_cluster);
    CU_ASSERT_EQUAL(sl_estimate_request_check(&r.request, NULL, &r.err), SL_OK);
    clear(&r);
}

static void
an_accounting_holds_for_every_kind_of_work_and_framework(void)
{
    reading r;
    read_request(&r,
                 "{\"model\":{\"parameters\":70000000000},\"workload\":{\"kind\":\"inference\","
                 "\"framework\":\"deepspeed\",\"precision\":\"fp8\",\"accounting\":"
                 "\"inference-1.2\"}}",
                 false);
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.precision, SL_PRECISION_FP8);
    sl_expect_text(sl_name(&sl_kind_names, r.request.kind), "inference", "kind");
    sl_expect_text(sl_name(&sl_framework_names, r.request.workload.framework), "deepspeed",
                   "framework");
    clear(&r);
}

static const char one_layer[] = "{\"layers\":[{\"name\":\"a\",\"parameters\":1,"
                                "\"activation_bytes\":1,\"forward_flops\":1}]}";

static void
layers_are_counted_per_sample(void)
{
    reading r;
    read_parts(&r, one_layer, "{\"global_batch_size\":64}", NULL, NULL);
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.source, SL_MODEL_FROM_LAYERS);
    CU_ASSERT_EQUAL(r.request.workload.sequence_length, 1);
    CU_ASSERT_EQUAL(r.request.workload.framework, SL_FRAMEWORK_DDP);
    CU_ASSERT_EQUAL(r.request.workload.attention, SL_ATTENTION_UNFUSED);
    CU_ASSERT_EQUAL(r.request.unknown, SL_UNKNOWN_RECOMPUTE | SL_UNKNOWN_ZERO_STAGE);
    CU_ASSERT_EQUAL(r.request.workload.micro_batch, 4); /* 64 over two nodes of eight */
    CU_ASSERT_TRUE(sl_notes_have(&r.request.notes, "micro_batch_size_assumed"));
    clear(&r);
}

static void
stages_of_layers_are_megatrons_and_take_the_batch_in_parts(void)
{
    reading r;
    read_parts(&r, one_layer, "{\"global_batch_size\":64}", NULL, "{\"pipeline\":4}");
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.workload.framework, SL_FRAMEWORK_MEGATRON);
    CU_ASSERT_TRUE((r.request.unknown & SL_UNKNOWN_MICRO_BATCH) != 0);
    clear(&r);
    read_parts(&r, one_layer, "{\"global_batch_size\":64,\"micro_batch_size\":2}", NULL, NULL);
    CU_ASSERT_EQUAL(r.request.workload.micro_batch, 2);
    clear(&r);
    read_parts(&r, one_layer, "{\"global_batch_size\":64,\"gradient_accumulation\":2}", NULL, NULL);
    CU_ASSERT_EQUAL(r.request.workload.micro_batch, 2);
    clear(&r);
}

static void
layers_and_another_model_are_refused(void)
{
    reading r;
    read_parts(&r, "{\"layers\":[],\"parameters\":1}", NULL, NULL, NULL);
    expect_refused(&r, "/model", "conflicting_fields");
    clear(&r);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(a_full_request_is_read_field_by_field),
        SL_CASE(absent_fields_are_unknown_and_defaults_are_told),
        SL_CASE(null_is_the_same_as_absent),
        SL_CASE(one_tensor_rank_leaves_no_sequence_question),
        SL_CASE(interleaving_without_chunks_is_asked_for_where_it_is_missing),
        SL_CASE(missing_parts_are_named_all_at_once),
        SL_CASE(a_model_has_one_source),
        SL_CASE(what_is_not_modelled_is_refused_by_name),
        SL_CASE(values_that_change_nothing_are_accepted),
        SL_CASE(wrong_values_are_told_from_unmodelled_ones),
        SL_CASE(unknown_fields_are_errors_or_warnings_as_the_request_says),
        SL_CASE(software_decides_its_framework),
        SL_CASE(words_for_attention_mean_what_the_part_runs),
        SL_CASE(kernels_by_name_are_a_package_where_code_calls_it),
        SL_CASE(accumulation_gives_the_micro_batch),
        SL_CASE(a_bare_number_of_parameters_needs_an_accounting_and_nothing_else),
        SL_CASE(an_accounting_holds_for_every_kind_of_work_and_framework),
        SL_CASE(layers_are_counted_per_sample),
        SL_CASE(stages_of_layers_are_megatrons_and_take_the_batch_in_parts),
        SL_CASE(layers_and_another_model_are_refused),
    };
    return sl_run_catalogued(argc, argv, "question_read", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
