#include "codec/answer/estimate_json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "catalogued.h"
#include "harness.h"
#include "json/patch.h"

static sl_catalog *catalog;

/* A request, its parsed text, and the answer written for it, parsed again. */
typedef struct answered {
    sl_json *json;
    sl_estimate_request request;
    sl_errors err;
    sl_errors warnings;
    sl_buffer text;
    sl_json *answer;
} answered;

static void
read_request(answered *a, const char *text)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    memset(a, 0, sizeof *a);
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &limits, &a->json, &a->err), SL_OK);
    const sl_node root = sl_json_root(a->json);
    CU_ASSERT_EQUAL_FATAL(sl_estimate_request_read(&root, catalog, NULL, &a->request, &a->err),
                          SL_OK);
}

static sl_code
write_answer(answered *a, const sl_model *model, uint64_t parameters, const sl_estimate *estimate)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    const sl_estimate_document document = {
        .request = &a->request,
        .estimate = estimate,
        .about = {.model = model,
                  .parameters = parameters,
                  .warnings = &a->warnings,
                  .engine_version = "0.1.0",
                  .catalog_revision = sl_catalog_revision(catalog),
                  .input_hash = "abc"},
    };
    sl_writer writer;
    sl_buffer_init(&a->text, 1 << 20);
    sl_writer_init(&writer, &a->text);
    const sl_code code = sl_estimate_write(&writer, &document, &a->err);
    if (code != SL_OK)
        return code;
    CU_ASSERT_TRUE_FATAL(sl_writer_ok(&writer));
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(a->text.data, a->text.size, &limits, &a->answer, &a->err),
                          SL_OK);
    return SL_OK;
}

static void
clear(answered *a)
{
    sl_json_free(a->json);
    sl_json_free(a->answer);
    sl_buffer_clear(&a->text);
}

static bool
holds(const answered *a, const char *part)
{
    const bool found = strstr(a->text.data, part) != NULL;
    if (!found)
        sl_expect_text(a->text.data, part, "must hold");
    return found;
}

static const char plain[] =
    "{\"model\":{\"hub\":\"org/name\"},\"workload\":{\"sequence_length\":2048,"
    "\"global_batch_size\":64,\"tokens\":1000000},\"cluster\":{\"accelerator\":"
    "\"nvidia-h100-sxm5-80gb\",\"nodes\":2,\"price_per_node_hour\":36},"
    "\"parallelism\":{\"tensor\":2}}";

static sl_term
term(sl_term_id id, double value)
{
    return (sl_term){.id = id, .value = value, .input_count = 1, .inputs = {{"n", value / 2}}};
}

/* Small round figures, every list filled. */
static sl_estimate *
handmade(const sl_estimate_request *request)
{
    sl_estimate *const e = calloc(1, sizeof *e);
    assert(e != NULL);
    e->memory = (sl_memory){.capacity_bytes = 100, .usable_bytes = 90, .headroom_bytes = -10};
    e->fits_certain = true;
    e->memory.rank_count = 2;
    e->memory.binding = 1;
    for (uint32_t i = 0; i < 2; i++) {
        sl_rank_memory *const rank = &e->memory.ranks[i];
        *rank = (sl_rank_memory){.role = i == 0 ? "first stage" : "last stage",
                                 .first_stage = i,
                                 .stage_count = 1,
                                 .rank = 8ULL * i,
                                 .count = 8,
                                 .peak_allocated_bytes = 80 + i,
                                 .peak_reserved_bytes = 90 + i,
                                 .device_total_bytes = 99 + i,
                                 .phase = "backward",
                                 .term_count = 2};
        rank->terms[0] = term(SL_TERM_PARAMETERS, 60);
        rank->terms[1] = term(SL_TERM_CONTEXT, 39 + i);
    }
    for (uint32_t i = 0; i < SL_TIME_TERMS; i++)
        e->time.terms[i] = term((sl_term_id)(SL_TERM_FORWARD + i), i == 1 ? 0.5 : 0.0625);
    e->time.step_s = 1;
    e->time.bubble_ratio = .25;
    e->time.communication_count = 1;
    e->time.communication[0] = (sl_communication){.group = "tensor",
                                                  .collective = SL_COLLECTIVE_ALL_GATHER,
                                                  .level = "scale_up",
                                                  .bytes_per_step = 1024,
                                                  .seconds = .5,
                                                  .exposed_s = .25,
                                                  .what = SL_TERM_TENSOR_SENT,
                                                  .calls = 8,
                                                  .ranks = 2,
                                                  .nodes = 1,
                                                  .members_per_node = 2};
    e->throughput.tokens_per_s = 131072;
    e->throughput.time_to_train_s = 7200;
    e->throughput.goodput_ratio = .5;
    e->throughput.energy_j = 1e9;
    e->throughput.cost = 144;
    for (uint32_t i = 0; i < SL_FIGURES; i++)
        e->figures[i] = term((sl_term_id)(SL_TERM_USABLE + i), 1);
    e->step_low_s = .5;
    e->step_high_s = 2;
    e->reserved_low_bytes = 70;
    e->reserved_high_bytes = 95;
    e->workload = request->workload;
    e->workload.recompute = SL_RECOMPUTE_SELECTIVE;
    e->plan = request->plan;
    e->software = request->software;
    e->binding_limit = "memory";
    e->binding_term = term(SL_TERM_PARAMETERS, 60);
    e->notes[e->note_count++] = (sl_note){"does_not_fit", true, "it does not fit"};
    e->notes[e->note_count++] = (sl_note){"nics_assumed", false, "said by both"};
    return e;
}

static void
every_section_of_the_answer_is_there(void)
{
    answered a;
    read_request(&a, plain);
    sl_estimate *const e = handmade(&a.request);
    sl_model *const model = calloc(1, sizeof *model);
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, model, 1000, e), SL_OK);
    static const char *const members[] = {"model",          "fits",           "fits_certain",
                                          "memory",         "time",           "throughput",
                                          "communication",  "interval",       "binding",
                                          "explanations",   "resolved",       "time_to_train_s",
                                          "cost",           "energy_j",       "goodput_ratio",
                                          "guessed_shapes", "evaluator",      "warnings",
                                          "assumptions",    "engine_version", "catalog_revision",
                                          "input_hash"};
    const sl_node root = sl_json_root(a.answer);
    CU_ASSERT_EQUAL(sl_node_count(&root), sizeof members / sizeof members[0]);
    void *state = NULL;
    sl_node member;
    while (sl_node_next(&root, &state, &member))
        CU_ASSERT(sl_text_index(member.key, members, sizeof members / sizeof members[0]) >= 0);
    CU_ASSERT_TRUE(holds(&a, "\"model\":{\"name\":\"\",\"revision\":null,\"parameters\":1000}"));
    CU_ASSERT_TRUE(holds(&a, "\"evaluator\":\"closed_form\""));
    free(e);
    free(model);
    clear(&a);
}

static void
memory_is_that_of_the_fullest_rank_with_every_term_explained(void)
{
    answered a;
    read_request(&a, plain);
    sl_estimate *const e = handmade(&a.request);
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a,
                         "\"fits\":false,\"fits_certain\":true,\"memory\":{\"capacity_bytes\":100,"
                         "\"usable_bytes\":90,\"peak_allocated_bytes\":81,"
                         "\"peak_reserved_bytes\":91,\"device_total_bytes\":100,"
                         "\"headroom_bytes\":-10,\"binding_rank\":8,"
                         "\"host_bytes_per_node\":0,\"host_high_bytes_per_node\":0,"
                         "\"host_start_bytes_per_node\":0,\"nvme_bytes_per_node\":0,\"ranks\":[{"
                         "\"role\":\"first stage\","
                         "\"rank\":0,\"count\":8,"));
    CU_ASSERT_TRUE(holds(&a, "{\"name\":\"parameters\",\"what\":\"of the model\",\"bytes\":60,"
                             "\"lifetime\":\"persistent\",\"formula\":\""));
    CU_ASSERT_TRUE(holds(&a, "\"inputs\":{\"n\":30},\"source\":\""));
    CU_ASSERT_TRUE(holds(&a, "\"lifetime\":\"outside_allocator\""));
    free(e);
    clear(&a);
}

/* Else two rows of a table could not be told apart. */
static void
memory_terms_of_one_name_say_which_they_are(void)
{
    for (sl_term_id a = SL_TERM_PARAMETERS; a < SL_TERM_FORWARD; a++)
        for (sl_term_id b = SL_TERM_PARAMETERS; b < a; b++)
            CU_ASSERT_FALSE(sl_text_equal(sl_term_describe(a)->name, sl_term_describe(b)->name) &&
                            sl_text_equal(sl_term_what(a), sl_term_what(b)));
}

static void
time_lists_its_terms_and_figures_are_explained_by_pointer(void)
{
    answered a;
    read_request(&a, plain);
    sl_estimate *const e = handmade(&a.request);
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "\"time\":{\"step_s\":1,"));
    CU_ASSERT_TRUE(holds(&a, "{\"name\":\"backward\",\"seconds\":0.5,\"formula\":\""));
    CU_ASSERT_TRUE(holds(&a, "\"explanations\":{\"/memory/usable_bytes\":{\"formula\":\""));
    CU_ASSERT_TRUE(holds(&a, "\"/throughput/mfu_full\":{\"formula\":\""));
    CU_ASSERT_TRUE(holds(&a, "\"communication\":[{\"group\":\"tensor\",\"collective\":"
                             "\"all_gather\",\"level\":\"scale_up\",\"calls\":8,"
                             "\"bytes_per_step\":1024,\"seconds\":0.5,\"exposed_s\":0.25,"
                             "\"explain\":{\"bytes_per_step\":{\"formula\":\"calls x "));
    CU_ASSERT_TRUE(holds(&a, "\"inputs\":{\"calls\":8,\"bytes_per_call\":128,\"ranks\":2}"));
    CU_ASSERT_TRUE(holds(&a, "\"inputs\":{\"seconds\":0.5,\"hidden_s\":0.25,"
                             "\"tensor_communication\":0.0625}"));
    CU_ASSERT_TRUE(holds(&a, "\"interval\":{\"step_s\":[0.5,2],\"peak_reserved_bytes\":[70,95]}"));
    free(e);
    clear(&a);
}

static void
a_fix_is_a_patch_of_what_differs(void)
{
    answered a;
    read_request(&a, plain);
    a.request.unknown = 0;
    sl_estimate *const e = handmade(&a.request);
    e->fix_count = 4;
    for (uint32_t i = 0; i < e->fix_count; i++)
        e->fixes[i] = (sl_fix){.software = e->software,
                               .workload = e->workload,
                               .plan = e->plan,
                               .nodes = a.request.cluster.nodes,
                               .what = "recompute",
                               .device_total_bytes = 80,
                               .step_s = 1.25,
                               .fits = true};
    e->fixes[0].workload.recompute = SL_RECOMPUTE_FULL;
    e->fixes[1].plan.tensor = 4;
    e->fixes[1].plan.data = 4; /* follows: the request says nothing of it */
    e->fixes[1].plan.sequence = true;
    e->fixes[2].plan.pipeline = 2;
    e->fixes[2].plan.virtual_pipeline = 2;
    e->fixes[2].plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    e->fixes[2].workload.micro_batch = 4;
    e->fixes[2].with = "pipeline";
    e->fixes[3].workload.adapter.base = SL_ADAPTER_BASE_NF4;
    e->fixes[3].workload.loss = SL_LOSS_CHUNKED;
    e->fixes[3].plan.context = 2;
    e->fixes[3].plan.expert = 4;
    e->fixes[3].plan.reshard = SL_RESHARD_ALWAYS;
    e->fixes[3].numerics_differ = true;
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "\"with\":null,\"change\":{\"workload\":{\"recompute\":\"full\"}},"
                             "\"memory_bytes\":80,\"step_s\":1.25,\"numerics_differ\":false,"
                             "\"time_incomplete\":false,"
                             "\"fits\":true,\"fits_certain\":false}"));
    CU_ASSERT_TRUE(holds(&a, "\"change\":{\"parallelism\":{\"tensor\":4,\"sequence\":true}},"));
    CU_ASSERT_TRUE(holds(&a, "\"with\":\"pipeline\","
                             "\"change\":{\"workload\":{\"micro_batch_size\":4},"
                             "\"parallelism\":{\"pipeline\":2,\"virtual_pipeline\":2}},"));
    CU_ASSERT_TRUE(
        holds(&a, "\"change\":{\"workload\":{\"loss\":\"chunked\","
                  "\"adapter\":{\"base\":\"nf4\"}},\"parallelism\":{\"context\":2,\"expert\":4,"
                  "\"reshard_after_forward\":true}},"));
    CU_ASSERT_TRUE(holds(&a, "\"numerics_differ\":true,"));
    free(e);
    clear(&a);
}

static void
a_patch_sets_what_the_request_had_set(void)
{
    answered a;
    read_request(&a, "{\"model\":{\"hub\":\"a/b\"},\"workload\":{\"sequence_length\":8,"
                     "\"global_batch_size\":64},\"cluster\":{\"accelerator\":\"b200\"},"
                     "\"parallelism\":{\"tensor\":2,\"data\":4,\"schedule\":\"1f1b\"}}");
    a.request.unknown = 0;
    sl_estimate *const e = handmade(&a.request);
    e->fix_count = 1;
    e->fixes[0] = (sl_fix){.software = e->software,
                           .workload = e->workload,
                           .plan = e->plan,
                           .nodes = 2 * a.request.cluster.nodes,
                           .what = "tensor"};
    e->fixes[0].workload.offload.optimizer = true;
    e->fixes[0].plan.tensor = 4;
    e->fixes[0].plan.data = 2;
    e->fixes[0].plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "\"change\":{\"workload\":{\"offload\":{\"optimizer\":\"cpu\","
                             "\"parameters\":\"none\",\"activations\":\"none\"}},"
                             "\"parallelism\":{\"tensor\":4,\"data\":2,"
                             "\"schedule\":\"interleaved_1f1b\"},\"cluster\":{\"nodes\":2}}"));
    free(e);
    clear(&a);
}

static void
a_patch_pins_every_field_that_was_open(void)
{
    answered a;
    read_request(&a, plain);
    a.request.unknown = SL_UNKNOWN_RECOMPUTE | SL_UNKNOWN_MICRO_BATCH | SL_UNKNOWN_ZERO_STAGE |
                        SL_UNKNOWN_SEQUENCE | SL_UNKNOWN_DROPOUT;
    a.request.gradient_accumulation = 999;
    sl_estimate *const e = handmade(&a.request);
    sl_software undecided = *e->software; /* a release that leaves dropout to the recipe */
    undecided.dropout = -1;
    e->software = &undecided;
    e->fix_count = 1;
    e->fixes[0] = (sl_fix){
        .software = e->software, .workload = e->workload, .plan = e->plan, .what = "tensor"};
    e->fixes[0].workload.recompute = SL_RECOMPUTE_FULL;
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "\"micro_batch_size\":"));
    CU_ASSERT_TRUE(holds(&a, "\"gradient_accumulation\":"));
    CU_ASSERT_TRUE(holds(&a, "\"recompute\":\"full\",\"dropout\":"));
    CU_ASSERT_TRUE(holds(&a, "\"parallelism\":{\"sequence\":"));
    free(e);
    clear(&a);
}

static void
notes_are_sorted_and_never_said_twice(void)
{
    answered a;
    read_request(&a, plain);
    (void)sl_fail(&a.warnings, SL_E_RANGE, "unknown_field", "/x", "is not a known field");
    (void)sl_fail(&a.warnings, SL_E_UPSTREAM, "stale_revision", "/model/hub", "it is old");
    sl_estimate *const e = handmade(&a.request);
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "\"warnings\":[{\"code\":\"unknown_field\",\"message\":\"/x: is not a "
                             "known field\"},{\"code\":\"stale_revision\",\"message\":\"it is "
                             "old\"},{\"code\":\"does_not_fit\",\"message\":\"it does not "
                             "fit\"}]"));
    CU_ASSERT_TRUE(holds(&a, "{\"code\":\"precision_assumed\",\"message\":\""));
    CU_ASSERT_TRUE(holds(&a, "{\"code\":\"nics_assumed\",\"message\":\"network of "));
    CU_ASSERT_PTR_NULL(strstr(a.text.data, "said by both"));
    free(e);
    clear(&a);
}

static void
totals_are_null_where_they_are_not_known(void)
{
    answered a;
    read_request(&a, plain);
    sl_estimate *const e = handmade(&a.request);
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "\"time_to_train_s\":7200,\"cost\":144,\"energy_j\":1000000000,"
                             "\"goodput_ratio\":0.5"));
    sl_json_free(a.answer);
    sl_buffer_clear(&a.text);
    e->throughput.time_to_train_s = e->throughput.energy_j = e->throughput.cost = 0;
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "\"time_to_train_s\":null,\"cost\":null,\"energy_j\":null"));
    free(e);
    clear(&a);
}

static void
the_sentence_says_what_binds(void)
{
    answered a;
    read_request(&a, plain);
    sl_estimate *const e = handmade(&a.request);
    e->memory.usable_bytes = 1ULL << 31;
    e->memory.ranks[1].device_total_bytes = (321ULL << 30) / 2; /* 160.5 GiB */
    e->binding_term = term(SL_TERM_PARAMETERS, 1 << 30);
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(
        holds(&a, "\"limit\":\"memory\",\"sentence\":\"Memory: rank 8 (last stage) needs 160 "
                  "GiB of 2.0 GiB usable in backward; its largest term is parameters, "
                  "1.0 GiB.\""));
    e->memory.ranks[1].phase = "forward";
    sl_json_free(a.answer);
    sl_buffer_clear(&a.text);
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "usable at the end of forward; its largest term"));
    sl_json_free(a.answer);
    sl_buffer_clear(&a.text);
    e->binding_limit = "tensor_communication";
    e->binding_term = term(SL_TERM_TENSOR_COMMUNICATION, .2);
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "tensor communication takes most: 20 % of the step."));
    free(e);
    clear(&a);
}

static void
an_accounting_alone_has_memory_and_nothing_measured(void)
{
    answered a;
    read_request(&a, "{\"model\":{\"parameters\":7500000000},\"workload\":{\"accounting\":"
                     "\"mixed-2-2-12\"},\"parallelism\":{\"data\":64,\"zero_stage\":1}}");
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, a.request.parameters, NULL), SL_OK);
    /* Rajbhandari 2020 figure 1: 7.5e9 parameters over 64 ranks, stage 1, 31.4 GB. */
    CU_ASSERT_TRUE(holds(&a, "\"peak_allocated_bytes\":31406250000,"));
    CU_ASSERT_TRUE(holds(&a, "\"capacity_bytes\":null,\"usable_bytes\":null"));
    CU_ASSERT_TRUE(
        holds(&a, "\"fits\":null,\"fits_certain\":null,\"time\":null,\"throughput\":null"));
    CU_ASSERT_TRUE(holds(&a, "\"accounting\":{\"name\":\"mixed-2-2-12\",\"bytes_per_parameter\":16,"
                             "\"total_bytes\":120000000000,\"per_rank_bytes\":31406250000,"
                             "\"minimum_accelerators\":null,\"communication_volume_ratio\":2,"
                             "\"communication_elements_per_step\":15000000000,"));
    CU_ASSERT_TRUE(holds(
        &a, "{\"name\":\"optimizer\",\"what\":\"as the rule counts it\",\"bytes\":1406250000,"));
    clear(&a);
}

/* Groups of the eight ranks of a node: 16 x 7.5e9 / 8 bytes, 3 + 2 / 8 of the parameters moved. */
static void
an_accounting_divides_over_a_shard_group(void)
{
    answered a;
    read_request(&a, "{\"model\":{\"parameters\":7500000000},\"workload\":{\"accounting\":"
                     "\"mixed-2-2-12\",\"framework\":\"fsdp1\"},\"cluster\":{\"accelerator\":"
                     "\"nvidia-a100-sxm4-80gb\",\"nodes\":8,\"accelerators_per_node\":8},"
                     "\"parallelism\":{\"tensor\":2,\"pipeline\":1,\"sharding\":\"hybrid_shard\","
                     "\"shard_group\":8}}");
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, a.request.parameters, NULL), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "\"per_rank_bytes\":7500000000,"));
    CU_ASSERT_TRUE(holds(&a, "\"communication_volume_ratio\":3.25,"));
    CU_ASSERT_TRUE(holds(&a, "\"role\":\"all ranks\",\"rank\":0,\"count\":64,"));
    CU_ASSERT_TRUE(holds(&a, "\"ranks\":8,\"zero_stage\":3"));
    clear(&a);
}

static void
an_accounting_counts_accelerators_by_their_nominal_memory(void)
{
    static const struct {
        const char *name, *count;
    } cases[] = {{"mixed-2-2-12", "8"}, {"mixed-2-4-12", "9"}}; /* 640 and 720 GB on 80 GB */
    for (size_t i = 0; i < 2; i++) {
        char request[320], expected[64];
        (void)sl_text_format(request, sizeof request,
                             "{\"model\":{\"parameters\":40000000000},\"workload\":{\"accounting\":"
                             "\"%s\"},\"cluster\":{\"accelerator\":\"nvidia-a100-sxm4-80gb\"}}",
                             cases[i].name);
        (void)sl_text_format(expected, sizeof expected, "\"minimum_accelerators\":%s,",
                             cases[i].count);
        answered a;
        read_request(&a, request);
        CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, a.request.parameters, NULL), SL_OK);
        CU_ASSERT_TRUE(holds(&a, expected));
        CU_ASSERT_TRUE(holds(&a, "\"fits\":false"));
        clear(&a);
    }
}

static void
an_accounting_beside_an_estimate_keeps_the_exact_figures(void)
{
    answered a;
    read_request(&a, "{\"model\":{\"hub\":\"a/b\"},\"workload\":{\"sequence_length\":8,"
                     "\"global_batch_size\":64,\"accounting\":\"fp32-16n\"},"
                     "\"cluster\":{\"accelerator\":\"b200\"}}");
    sl_estimate *const e = handmade(&a.request);
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, NULL, 1000000000, e), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "\"total_bytes\":16000000000,\"per_rank_bytes\":16000000000,"));
    CU_ASSERT_TRUE(holds(&a, "\"device_total_bytes\":100,"));
    free(e);
    clear(&a);
}

static sl_model *
small_model(void)
{
    sl_model *const model = calloc(1, sizeof *model);
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
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    CU_ASSERT_EQUAL_FATAL(sl_model_describe_dense(&spec, model, &err), SL_OK);
    model->hidden = 1024;
    model->ffn = 4096;
    model->vocabulary = 32000;
    model->heads = model->kv_heads = 16;
    model->head_dim = 64;
    return model;
}

/* Into scratch[0]. */
static void
answer_request(answered *a, const sl_model *model, sl_estimate scratch[2])
{
    const sl_question question = sl_estimate_request_question(&a->request, model);
    if (sl_estimate_request_check(&a->request, &question, &a->err) != SL_OK)
        sl_fail_for(a->err.list[0].message);
    CU_ASSERT_EQUAL_FATAL(a->err.count, 0);
    CU_ASSERT_EQUAL_FATAL(sl_estimate_answer(&question, scratch + 1, scratch, &a->err), SL_OK);
}

/* The whole way: request, question, engine, answer. */
static void
the_engine_s_own_answer_is_written(void)
{
    answered a;
    read_request(&a, "{\"model\":{\"hub\":\"a/b\"},\"workload\":{\"sequence_length\":2048,"
                     "\"global_batch_size\":64,\"tokens\":1000000000},\"cluster\":{"
                     "\"node_type\":\"dgx-a100-640gb\",\"nodes\":2},"
                     "\"parallelism\":{\"tensor\":2,\"pipeline\":2}}");
    sl_model *const model = small_model();
    sl_estimate *const scratch = calloc(2, sizeof *scratch);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scratch);
    answer_request(&a, model, scratch);
    CU_ASSERT_EQUAL_FATAL(write_answer(&a, model, 1000, scratch), SL_OK);
    CU_ASSERT_TRUE(holds(&a, "\"fits\":true"));
    CU_ASSERT_TRUE(holds(&a, "\"/time_to_train_s\":{"));
    free(scratch);
    free(model);
    clear(&a);
}

/* The change of fix `index`, merged into what was asked. */
static void
merge_fix(const answered *a, size_t index, const char *text, sl_buffer *out)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    const sl_node root = sl_json_root(a->answer);
    sl_node at;
    sl_buffer change;
    sl_errors err = {0};
    sl_buffer_init(&change, 1 << 20);
    sl_buffer_init(out, 1 << 20);
    CU_ASSERT_TRUE_FATAL(sl_node_member(&root, "binding", &at));
    CU_ASSERT_TRUE_FATAL(sl_node_member(&at, "fixes", &at));
    CU_ASSERT_TRUE_FATAL(sl_node_at(&at, index, &at));
    CU_ASSERT_TRUE_FATAL(sl_node_member(&at, "change", &at));
    CU_ASSERT_EQUAL_FATAL(sl_json_canonical(&at, &change), SL_OK);
    const sl_patch patch = {change.data, change.size};
    CU_ASSERT_EQUAL_FATAL(sl_json_merge_patch(text, &patch, &limits, out, &err), SL_OK);
    sl_buffer_clear(&change);
}

/* An object that says more than what it is changed to keeps nothing of that. */
static void
a_fix_that_is_merged_has_the_figures_it_promised(void)
{
#define OF_TILES(memory)                                                                           \
    "{\"model\":{\"hub\":\"a/b\"},\"workload\":{\"framework\":\"fsdp2\",\"sequence_length\":"      \
    "16384,\"global_batch_size\":8,\"micro_batch_size\":1,\"recompute\":{\"mode\":\"full\","       \
    "\"method\":\"block\",\"layers\":4,\"mlp_tiles\":8}},\"parallelism\":{\"zero_stage\":3},"      \
    "\"cluster\":{\"node_type\":\"hgx-h100-8\",\"nodes\":1" memory "}}"
    static const char *const requests[] = {
        OF_TILES(""),
        OF_TILES(",\"memory_bytes\":3000000000"),
    };
    sl_model *const model = small_model();
    sl_estimate *const scratch = calloc(4, sizeof *scratch);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scratch);
    for (size_t r = 0; r < sizeof requests / sizeof requests[0]; r++) {
        answered a;
        bool seen = false;
        read_request(&a, requests[r]);
        answer_request(&a, model, scratch);
        CU_ASSERT_EQUAL_FATAL(write_answer(&a, model, 1000, scratch), SL_OK);
        for (uint32_t i = 0; i < scratch->fix_count; i++) {
            const sl_fix *const fix = &scratch->fixes[i];
            sl_buffer merged;
            answered b;
            merge_fix(&a, i, requests[r], &merged);
            read_request(&b, merged.data);
            answer_request(&b, model, scratch + 2);
            const sl_memory *const memory = &scratch[2].memory;
            CU_ASSERT_EQUAL(memory->ranks[memory->binding].device_total_bytes,
                            fix->device_total_bytes);
            CU_ASSERT_EQUAL(scratch[2].time.step_s, fix->step_s);
            seen = seen || strcmp(fix->what, "recompute") == 0;
            sl_buffer_clear(&merged);
            clear(&b);
        }
        CU_ASSERT_TRUE(seen);
        clear(&a);
    }
    free(scratch);
    free(model);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_section_of_the_answer_is_there),
        SL_CASE(memory_is_that_of_the_fullest_rank_with_every_term_explained),
        SL_CASE(memory_terms_of_one_name_say_which_they_are),
        SL_CASE(time_lists_its_terms_and_figures_are_explained_by_pointer),
        SL_CASE(a_fix_is_a_patch_of_what_differs),
        SL_CASE(a_patch_sets_what_the_request_had_set),
        SL_CASE(a_patch_pins_every_field_that_was_open),
        SL_CASE(notes_are_sorted_and_never_said_twice),
        SL_CASE(totals_are_null_where_they_are_not_known),
        SL_CASE(the_sentence_says_what_binds),
        SL_CASE(an_accounting_alone_has_memory_and_nothing_measured),
        SL_CASE(an_accounting_divides_over_a_shard_group),
        SL_CASE(an_accounting_counts_accelerators_by_their_nominal_memory),
        SL_CASE(an_accounting_beside_an_estimate_keeps_the_exact_figures),
        SL_CASE(the_engine_s_own_answer_is_written),
        SL_CASE(a_fix_that_is_merged_has_the_figures_it_promised),
    };
    return sl_run_catalogued(argc, argv, "estimate_json", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
