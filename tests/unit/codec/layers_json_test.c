/* Plain lists of layers as they come in requests, and the networks that are kept as examples. */
#include "codec/question/layers_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "catalog/catalog.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_model model;

typedef struct reading {
    sl_json *json;
    sl_code code;
    sl_errors err;
    sl_errors warnings;
} reading;

static void
read_text(reading *r, const char *text, bool warn)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    sl_node layers;

    memset(r, 0, sizeof *r);
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &limits, &r->json, &r->err), SL_OK);
    const sl_node root = sl_json_root(r->json);
    CU_ASSERT_TRUE_FATAL(sl_node_member(&root, "layers", &layers));
    r->code = sl_layers_read(&layers, "mine", &model, warn ? &r->warnings : NULL, &r->err);
}

static void
expect_fault(const char *layers, const char *pointer, const char *rule)
{
    reading r;
    char text[1024];

    CU_ASSERT_TRUE_FATAL(sl_text_format(text, sizeof text, "{\"layers\":%s}", layers));
    read_text(&r, text, false);
    CU_ASSERT_NOT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL_FATAL(r.err.count, 1);
    sl_expect_text(r.err.list[0].pointer, pointer, layers);
    sl_expect_text(r.err.list[0].rule, rule, layers);
    sl_json_free(r.json);
}

static void
a_list_is_a_model(void)
{
    reading r;

    read_text(&r,
              "{\"layers\":[{\"name\":\"a\",\"count\":3,\"parameters\":7,\"activation_bytes\":5e3,"
              "\"forward_flops\":11,\"output_bytes\":13},{\"name\":\"b\",\"parameters\":0,"
              "\"activation_bytes\":0,\"forward_flops\":0}]}",
              false);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    sl_expect_text(model.name, "mine", "name");
    sl_expect_text(model.model_type, "layers", "model_type");
    CU_ASSERT_EQUAL(model.layer_count, 4);
    CU_ASSERT_EQUAL(model.kind_count, 2);
    CU_ASSERT_EQUAL(model.kinds[0].operators[0].sample_kept_bytes, 5000);
    CU_ASSERT_EQUAL(model.kinds[0].operators[0].sample_flops, 11);
    CU_ASSERT_EQUAL(model.kinds[0].operators[0].sample_output_bytes, 13);
    CU_ASSERT_EQUAL(model.kinds[1].tensor_count, 0);
    sl_json_free(r.json);
}

static void
every_fault_has_its_place(void)
{
#define REST "\"parameters\":1,\"activation_bytes\":1,\"forward_flops\":1"
    expect_fault("{}", "/layers", "wrong_type");
    expect_fault("[]", "/layers", "out_of_range");
    expect_fault("[7]", "/layers/0", "wrong_type");
    expect_fault("[{" REST "}]", "/layers/0/name", "required_field");
    expect_fault("[{\"name\":\"\"," REST "}]", "/layers/0/name", "out_of_range");
    expect_fault("[{\"name\":\"012345678901234567890123456789012345678901234567\"," REST "}]",
                 "/layers/0/name", "out_of_range");
    expect_fault("[{\"name\":\"a\",\"count\":0," REST "}]", "/layers/0/count", "out_of_range");
    expect_fault("[{\"name\":\"a\",\"count\":2049," REST "}]", "/layers/0/count", "out_of_range");
    expect_fault("[{\"name\":\"a\",\"count\":1025," REST "},{\"name\":\"b\",\"count\":1024," REST
                 "}]",
                 "/layers", "out_of_range");
    expect_fault("[{\"name\":\"a\",\"parameters\":-1,\"activation_bytes\":1,\"forward_flops\":1}]",
                 "/layers/0/parameters", "out_of_range");
    expect_fault("[{\"name\":\"a\",\"parameters\":1000000000000001,\"activation_bytes\":1,"
                 "\"forward_flops\":1}]",
                 "/layers/0/parameters", "out_of_range");
    expect_fault("[{\"name\":\"a\",\"parameters\":0,\"activation_bytes\":1,\"forward_flops\":1}]",
                 "/layers", "out_of_range");
    expect_fault("[{\"name\":\"a\",\"parameters\":1,\"activation_bytes\":0.5,\"forward_flops\":1}]",
                 "/layers/0/activation_bytes", "wrong_type");
    expect_fault("[{\"name\":\"a\",\"output_bytes\":0," REST "}]", "/layers/0/output_bytes",
                 "out_of_range");
    expect_fault("[{\"name\":\"a\",\"flops\":1," REST "}]", "/layers/0/flops", "unknown_field");
#undef REST
}

static void
all_faults_are_reported_at_once(void)
{
    reading r;

    read_text(&r, "{\"layers\":[{\"name\":3,\"count\":\"x\"},{\"parameter\":1}]}", false);
    CU_ASSERT_EQUAL(r.err.count, 10); /* 2 and 3 missing; 1 unknown and 4 missing */
    for (uint32_t i = 0; i < r.err.count; i++)
        if (sl_text_equal(r.err.list[i].rule, "unknown_field"))
            sl_expect_text(r.err.list[i].hint, "parameters", "the nearest name");
    sl_json_free(r.json);
}

static void
unknown_members_may_be_warnings(void)
{
    reading r;

    read_text(&r,
              "{\"layers\":[{\"name\":\"a\",\"parameters\":1,\"activation_bytes\":1,"
              "\"forward_flops\":1,\"stride\":2}]}",
              true);
    CU_ASSERT_EQUAL(r.code, SL_OK);
    CU_ASSERT_EQUAL_FATAL(r.warnings.count, 1);
    sl_expect_text(r.warnings.list[0].pointer, "/layers/0/stride", "place");
    sl_json_free(r.json);
}

static void
no_more_entries_than_kinds(void)
{
    static char text[32 * 1024];
    size_t at = 0;
    reading r;

    CU_ASSERT_TRUE(sl_text_format(text, sizeof text, "{\"layers\":["));
    at = strlen(text);
    for (uint32_t i = 0; i <= SL_KINDS_MAX; i++) {
        CU_ASSERT_TRUE_FATAL(sl_text_format(text + at, sizeof text - at,
                                            "%s{\"name\":\"l%u\",\"parameters\":1,"
                                            "\"activation_bytes\":1,\"forward_flops\":1}",
                                            i > 0 ? "," : "", i));
        at += strlen(text + at);
    }
    CU_ASSERT_TRUE(sl_text_format(text + at, sizeof text - at, "]}"));
    read_text(&r, text, false);
    CU_ASSERT_EQUAL_FATAL(r.err.count, 1);
    sl_expect_text(r.err.list[0].message, "must have 1 to 256 entries, got 257", "message");
    sl_json_free(r.json);
}

static void
read_example(reading *r, const char *name)
{
    char path[64];
    size_t size = 0;

    CU_ASSERT_TRUE_FATAL(sl_text_format(path, sizeof path, "fixtures/layers/%s.json", name));
    char *text = sl_read_file(sl_tests_path(path), &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    read_text(r, text, false);
    CU_ASSERT_EQUAL_FATAL(r->code, SL_OK);
    free(text);
}

/* Parameters and GFLOPS, which are multiply-adds, as torchvision's model pages give them for the
 * weights of VGG16, ResNet50 and DenseNet121. */
static void
examples_have_the_published_totals(void)
{
    static const struct {
        const char *name;
        uint64_t parameters;
        double giga_multiply_adds;
    } expected[] = {
        {"vgg16", 138357544, 15.47},
        {"resnet50", 25557032, 4.09},
        {"densenet121", 7978856, 2.83},
    };

    for (uint32_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        sl_model_counts counts = {0};
        double flops = 0.0;
        reading r;

        read_example(&r, expected[i].name);
        CU_ASSERT_EQUAL(sl_model_count(&model, &counts), SL_OK);
        CU_ASSERT_EQUAL(counts.total, expected[i].parameters);
        for (uint32_t layer = 0; layer < model.layer_count; layer++)
            flops += (double)model.kinds[model.layers[layer]].operators[0].sample_flops;
        CU_ASSERT_DOUBLE_EQUAL(flops / 2e9, expected[i].giga_multiply_adds, 0.005);
        CU_ASSERT_EQUAL(model.layer_count % 4, 0); /* four devices can share them */
        sl_json_free(r.json);
    }
}

static double
images_per_s(const sl_catalog *catalog, uint32_t accelerators)
{
    const sl_part *part = NULL;
    sl_errors err = {0};
    bool exact = false;

    CU_ASSERT_EQUAL_FATAL(sl_catalog_find_part(catalog, "nvidia-a100-sxm4-80gb", "", &part, &err),
                          SL_OK);
    const sl_cluster cluster = {.accelerator = part->accelerator,
                                .nodes = 1,
                                .accelerators_per_node = accelerators,
                                .oversubscription_ratio = 1.0};
    sl_question q = sl_fixture_question(
        &model, &cluster, sl_catalog_find_software(catalog, "pytorch-ddp-2.x", &exact));
    q.workload.framework = SL_FRAMEWORK_DDP;
    q.workload.sequence_length = 1;
    q.workload.micro_batch = 256;
    q.workload.global_batch = UINT64_C(256) * accelerators;
    q.workload.precision = SL_PRECISION_FP16;
    q.workload.optimizer = SL_OPTIMIZER_SGD_MOMENTUM;
    return sl_fixture_answer(&q)->throughput.samples_per_s;
}

/* ResNet-50 v1.5 on one and eight A100-80, mixed precision, 256 images each, PyTorch 21.03: NVIDIA
 * DeepLearningExamples, PyTorch/Classification/ConvNets/resnet50v1.5/README.md. */
static void
the_roofline_is_a_bound_that_published_runs_keep(void)
{
    static const struct {
        uint32_t accelerators;
        double images_per_s;
    } measured[] = {{1, 2470.0}, {8, 16621.0}};
    sl_errors err = {0};
    sl_catalog *catalog = sl_catalog_new(&err);
    reading r;

    CU_ASSERT_PTR_NOT_NULL_FATAL(catalog);
    read_example(&r, "resnet50");
    for (uint32_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        const double bound = images_per_s(catalog, measured[i].accelerators);
        printf("  ResNet-50 on %u A100: measured %.0f images/s, bound %.0f\n",
               measured[i].accelerators, measured[i].images_per_s, bound);
        CU_ASSERT_TRUE(bound > measured[i].images_per_s && bound < 3.0 * measured[i].images_per_s);
    }
    sl_json_free(r.json);
    sl_catalog_free(catalog);
}

static const sl_case cases[] = {
    SL_CASE(a_list_is_a_model),
    SL_CASE(every_fault_has_its_place),
    SL_CASE(all_faults_are_reported_at_once),
    SL_CASE(unknown_members_may_be_warnings),
    SL_CASE(no_more_entries_than_kinds),
    SL_CASE(examples_have_the_published_totals),
    SL_CASE(the_roofline_is_a_bound_that_published_runs_keep),
};

int
main(int argc, char **argv)
{
    sl_json_start();
    return sl_run_cases(argc, argv, "layers_json", cases, sizeof cases / sizeof cases[0]);
}
