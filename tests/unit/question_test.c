#include "codec/question.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codec/choices_json.h"
#include "harness.h"

static sl_catalog *catalog;

/* One reading; the request's nodes point into it, so it stays where it was read. */
typedef struct reading {
    sl_json *json;
    sl_code code;
    sl_errors err;
    sl_errors warnings;
    sl_estimate_request request;
} reading;

static void
read_request(reading *r, const char *text, bool warn)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    memset(r, 0, sizeof *r);
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &limits, &r->json, &r->err), SL_OK);
    const sl_node root = sl_json_root(r->json);
    r->code =
        sl_estimate_request_read(&root, catalog, warn ? &r->warnings : NULL, &r->request, &r->err);
}

/* A request whose four members are the given ones; NULL takes a plain valid one. */
static void
read_parts(reading *r, const char *model, const char *workload, const char *cluster,
           const char *parallelism)
{
    char text[4096];
    CU_ASSERT_TRUE_FATAL(sl_text_format(
        text, sizeof text, "{\"model\":%s,\"workload\":%s,\"cluster\":%s,\"parallelism\":%s}",
        model != NULL ? model : "{\"hub\":\"org/name\"}",
        workload != NULL ? workload : "{\"sequence_length\":2048,\"global_batch_size\":64}",
        cluster != NULL ? cluster : "{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"nodes\":2}",
        parallelism != NULL ? parallelism : "{}"));
    read_request(r, text, false);
}

/* Runs of spaces stand for the members every workload needs. */
static void
read_workload(reading *r, const char *members)
{
    char text[1024];
    CU_ASSERT_TRUE_FATAL(sl_text_format(text, sizeof text,
                                        "{\"sequence_length\":2048,\"global_batch_size\":64%s%s}",
                                        *members != '\0' ? "," : "", members));
    read_parts(r, NULL, text, NULL, NULL);
}

static void
clear(reading *r)
{
    sl_json_free(r->json);
    r->json = NULL;
}

static const sl_error *
fault_at(const sl_errors *err, const char *pointer)
{
    for (uint32_t i = 0; i < err->count; i++) {
        if (sl_text_equal(err->list[i].pointer, pointer))
            return &err->list[i];
    }
    return NULL;
}

static void
expect_fault(const sl_errors *err, const char *pointer, const char *rule)
{
    const sl_error *const fault = fault_at(err, pointer);
    sl_expect_text(fault != NULL ? fault->rule : "no error there", rule, pointer);
}

static void
expect_refused(const reading *r, const char *pointer, const char *rule)
{
    CU_ASSERT_NOT_EQUAL(r->code, SL_OK);
    CU_ASSERT_EQUAL(r->err.count, 1);
    expect_fault(&r->err, pointer, rule);
}

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
    CU_ASSERT_EQUAL(r.request.software_count, 4);
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
        {"\"framework\":\"fsdp2\"", "/workload/framework"},
        {"\"software\":\"torchtitan-2024-12\"", "/workload/software"},
        {"\"precision\":\"fp8\"", "/workload/precision"},
        {"\"precision\":\"mxfp8\"", "/workload/precision"},
        {"\"optimizer\":\"muon\"", "/workload/optimizer"},
        {"\"recompute\":{\"mode\":\"full\"}", "/workload/recompute"},
        {"\"attention\":\"flex\"", "/workload/attention"},
        {"\"compile\":true", "/workload/compile"},
        {"\"cuda_graphs\":\"full\"", "/workload/cuda_graphs"},
        {"\"loss\":\"fused\"", "/workload/loss"},
        {"\"activation_profile\":\"eager\"", "/workload/activation_profile"},
        {"\"documents\":{\"mean_length\":1}", "/workload/documents"},
        {"\"fp8\":{\"recipe\":\"block\"}", "/workload/fp8"},
        {"\"moe\":{}", "/workload/moe"},
        {"\"mtp\":1", "/workload/mtp"},
        {"\"optimizer_in_backward\":true", "/workload/optimizer_in_backward"},
        {"\"adapter\":{\"method\":\"lora\"}", "/workload/adapter"},
        {"\"offload\":{\"optimizer\":\"cpu\"}", "/workload/offload"},
        {"\"activation_accounting\":\"sbhl\"", "/workload/activation_accounting"},
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
plan_fields_that_are_not_modelled_are_refused_by_name(void)
{
    static const char *const cases[][2] = {
        {"\"context\":2", "/parallelism/context"},
        {"\"expert\":8", "/parallelism/expert"},
        {"\"expert_tensor\":2", "/parallelism/expert_tensor"},
        {"\"replicate\":2", "/parallelism/replicate"},
        {"\"zero_stage\":3", "/parallelism/zero_stage"},
        {"\"schedule\":\"zb_h1\"", "/parallelism/schedule"},
        {"\"sharding\":\"full_shard\"", "/parallelism/sharding"},
        {"\"shard_group\":8", "/parallelism/shard_group"},
        {"\"pipeline_layout\":[3,4]", "/parallelism/pipeline_layout"},
        {"\"placement\":[]", "/parallelism/placement"},
        {"\"order\":\"pp-tp\"", "/parallelism/order"},
        {"\"reshard_after_forward\":false", "/parallelism/reshard_after_forward"},
        {"\"fsdp_unit\":\"block\"", "/parallelism/fsdp_unit"},
        {"\"gather_dtype\":\"bf16\"", "/parallelism/gather_dtype"},
        {"\"context_kind\":\"a2a\"", "/parallelism/context_kind"},
        {"\"overlap\":{\"p2p\":true}", "/parallelism/overlap"},
        {"\"grad_reduce_dtype\":\"bf16\"", "/parallelism/grad_reduce_dtype"},
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
        {"sdpa", "nvidia-h100-sxm5-80gb", SL_ATTENTION_FLASH2},
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
               "{\"accelerator\":\"b200\",\"accelerator_overrides\":{\"power_limit_w\":500}}",
               NULL);
    expect_refused(&r, "/cluster/accelerator_overrides/power_limit_w", "not_modelled");
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

static void
several_pools_and_names_of_several_parts_are_refused(void)
{
    reading r;
    read_parts(&r, NULL, NULL, "[{\"accelerator\":\"b200\"}]", NULL);
    expect_refused(&r, "/cluster", "not_modelled");
    clear(&r);
    read_parts(&r, NULL, NULL, "{\"accelerator\":\"a100\"}", NULL);
    expect_refused(&r, "/cluster/accelerator", "ambiguous_accelerator");
    clear(&r);
    read_parts(&r, NULL, NULL, "{\"accelerator\":\"b200\",\"pool\":\"x\"}", NULL);
    expect_refused(&r, "/cluster/pool", "conflicting_fields");
    clear(&r);
}

static const char stored[] =
    "{\"name\":\"prod\",\"pools\":[{\"name\":\"h100\",\"nodes\":32,\"node\":{\"node_type\":"
    "\"hgx-h100-8\"},\"price_per_node_hour\":20},{\"name\":\"odd\",\"nodes\":4,\"node\":{"
    "\"accelerator\":\"mystery\",\"memory_bytes\":68719476736,\"accelerators\":8}}]}";

static void
read_stored(reading *r, const char *cluster)
{
    read_parts(r, NULL, NULL, cluster, NULL);
    CU_ASSERT_EQUAL_FATAL(r->code, SL_OK);
    CU_ASSERT_FALSE(r->request.has_cluster);
    r->code = sl_estimate_request_pool(&r->request, stored, strlen(stored), catalog, &r->err);
}

static void
an_inventory_gives_the_cluster_and_the_request_overrides_it(void)
{
    reading r;
    read_stored(&r, "{\"inventory\":\"prod\",\"pool\":\"h100\",\"nodes\":4,"
                    "\"price_per_node_hour\":18}");
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    CU_ASSERT_TRUE(r.request.has_cluster);
    CU_ASSERT_EQUAL(r.request.cluster.nodes, 4);
    CU_ASSERT_EQUAL(r.request.plan.data, 32);
    sl_expect_near(r.request.cluster.price_per_node_hour, 18, 1e-12, "price");
    CU_ASSERT_EQUAL(strlen(r.request.inventory_hash), 64);
    clear(&r);
    read_stored(&r, "{\"inventory\":\"prod\",\"pool\":\"h100\"}");
    CU_ASSERT_EQUAL(r.request.cluster.nodes, 32);
    sl_expect_near(r.request.cluster.price_per_node_hour, 20, 1e-12, "price");
    clear(&r);
}

static void
faults_of_an_inventory_point_into_the_request(void)
{
    reading r;
    read_stored(&r, "{\"inventory\":\"prod\"}");
    expect_refused(&r, "/cluster/pool", "required_field");
    sl_expect_text(r.err.list[0].hint, "h100, odd", "names");
    clear(&r);
    read_stored(&r, "{\"inventory\":\"prod\",\"pool\":\"h10\"}");
    expect_refused(&r, "/cluster/pool", "unknown_value");
    sl_expect_text(r.err.list[0].hint, "h100", "nearest");
    clear(&r);
    read_stored(&r, "{\"inventory\":\"prod\",\"pool\":\"h100\",\"nodes\":33}");
    expect_refused(&r, "/cluster/nodes", "out_of_range");
    clear(&r);
    read_stored(&r, "{\"inventory\":\"prod\",\"pool\":\"odd\"}");
    expect_refused(&r, "/cluster/inventory", "unknown_accelerator");
    clear(&r);
    read_parts(&r, NULL, NULL, "{\"inventory\":\"prod\"}", NULL);
    r.code = sl_estimate_request_pool(&r.request, "{", 1, catalog, &r.err);
    expect_refused(&r, "/cluster/inventory", "bad_inventory");
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
    sl_expect_text(err.list[0].hint, "tensor * pipeline: 1, 2, 4, 8, 16", "products");
    expect_fault(&err, "/parallelism/tensor", "not_divisible"); /* the heads, too */
    CU_ASSERT_PTR_NULL(fault_at(&err, "/parallelism/data"));
    free(model);
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
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"context\":[1]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"zero_stage\":[0,1]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"sequence\":[false,true]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"recompute\":[\"none\",\"selective\",\"full\"]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\"framework\":[\"megatron\"]"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(out.data, "\"attention\":[\"unfused\",\"flash2\",\"flash3\",\"cudnn\"]"));
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
#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }
    static const sl_case cases[] = {
        CASE(a_full_request_is_read_field_by_field),
        CASE(absent_fields_are_unknown_and_defaults_are_told),
        CASE(null_is_the_same_as_absent),
        CASE(one_tensor_rank_leaves_no_sequence_question),
        CASE(interleaving_without_chunks_is_asked_for_where_it_is_missing),
        CASE(missing_parts_are_named_all_at_once),
        CASE(a_model_has_one_source),
        CASE(what_is_not_modelled_is_refused_by_name),
        CASE(plan_fields_that_are_not_modelled_are_refused_by_name),
        CASE(values_that_change_nothing_are_accepted),
        CASE(wrong_values_are_told_from_unmodelled_ones),
        CASE(unknown_fields_are_errors_or_warnings_as_the_request_says),
        CASE(software_decides_its_framework),
        CASE(words_for_attention_mean_what_the_part_runs),
        CASE(accumulation_gives_the_micro_batch),
        CASE(a_layout_is_read_field_by_field),
        CASE(cluster_overrides_reach_the_engine),
        CASE(a_node_type_gives_the_shape_the_network_and_the_price),
        CASE(several_pools_and_names_of_several_parts_are_refused),
        CASE(an_inventory_gives_the_cluster_and_the_request_overrides_it),
        CASE(faults_of_an_inventory_point_into_the_request),
        CASE(a_degree_that_has_no_rest_is_refused_with_the_products),
        CASE(a_bare_number_of_parameters_needs_an_accounting_and_nothing_else),
        CASE(the_hash_depends_on_meaning_not_on_spelling),
        CASE(choices_are_the_legal_values_of_each_setting),
        CASE(an_invalid_plan_still_gets_its_choices),
    };
    sl_errors err = {0};
    catalog = sl_catalog_new(&err);
    if (catalog == NULL)
        return 1;
    const int result = sl_run_cases(argc, argv, "question", cases, sizeof cases / sizeof cases[0]);
    sl_catalog_free(catalog);
    return result;
}
