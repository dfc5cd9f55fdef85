/*
 * What it costs to read a config: parse, describe, count, and write the answer of the API. Build
 * the release preset and run build/release/tests/bench/model_bench [config.json ...]; without
 * arguments it takes three configs of its own. Only the ratios travel from machine to machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/text.h"
#include "codec/answer/model_json.h"
#include "hf/config.h"

enum { ROUNDS = 500, FILE_MAX = 1 << 20 };

static const struct {
    const char *name;
    const char *text;
} samples[] = {
    {"dense, 80 blocks",
     "{\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":8192,"
     "\"intermediate_size\":28672,\"num_hidden_layers\":80,\"num_attention_heads\":64,"
     "\"num_key_value_heads\":8,\"vocab_size\":128256,\"torch_dtype\":\"bfloat16\"}"},
    {"experts and latents, 61 blocks",
     "{\"model_type\":\"deepseek_v3\",\"architectures\":[\"DeepseekV3ForCausalLM\"],"
     "\"torch_dtype\":\"bfloat16\"}"},
    {"delta net and experts, 48 blocks",
     "{\"model_type\":\"qwen3_next\",\"architectures\":[\"Qwen3NextForCausalLM\"],"
     "\"torch_dtype\":\"bfloat16\"}"},
};

static sl_model model;

static const sl_json_limits limits = {
    .max_bytes = FILE_MAX, .max_depth = SL_JSON_DEPTH_MAX, .accept_python_numbers = true};

/* Seconds of one part, added up over the rounds. */
typedef struct seconds {
    double parse;
    double describe;
    double count;
    double write;
} seconds;

static bool
run_once(const char *text, size_t size, seconds *sum)
{
    sl_errors warnings = {.count = 0};
    sl_errors err = {.count = 0};
    sl_model_counts counts;
    sl_json *json = NULL;
    sl_buffer body;
    sl_writer writer;

    const double start_s = sl_clock_now_s();
    if (sl_json_parse(text, size, &limits, &json, &err) != SL_OK)
        return false;
    const double parsed_s = sl_clock_now_s();
    const sl_node root = sl_json_root(json);
    const sl_code code = sl_hf_config_read(&root, "org/name", &model, &warnings, &err);
    const double described_s = sl_clock_now_s();
    sl_json_free(json);
    if (code != SL_OK || sl_model_count(&model, &counts) != SL_OK) {
        printf("%s\n", err.list[0].message);
        return false;
    }
    const double counted_s = sl_clock_now_s();
    sl_buffer_init(&body, 8 * FILE_MAX);
    sl_writer_init(&writer, &body);
    sl_model_write(&writer, &model, &counts, NULL, &warnings);
    sl_buffer_clear(&body);
    sum->parse += parsed_s - start_s;
    sum->describe += described_s - parsed_s;
    sum->count += counted_s - described_s;
    sum->write += sl_clock_now_s() - counted_s;
    return true;
}

static void
measure(const char *name, const char *text, size_t size)
{
    seconds sum = {0.0, 0.0, 0.0, 0.0};

    for (int i = 0; i < ROUNDS; i++) {
        if (!run_once(text, size, &sum)) {
            printf("%-40s refused\n", name);
            return;
        }
    }
    printf("%-40s parse %6.1f  describe %6.1f  count %6.1f  write %6.1f us\n", name,
           sum.parse / ROUNDS * 1e6, sum.describe / ROUNDS * 1e6, sum.count / ROUNDS * 1e6,
           sum.write / ROUNDS * 1e6);
}

static void
measure_file(const char *path)
{
    static char text[FILE_MAX];
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        printf("%s cannot be opened\n", path);
        return;
    }
    const size_t size = fread(text, 1, sizeof text, file);
    (void)fclose(file);
    measure(path, text, size);
}

int
main(int argc, char **argv)
{
    sl_json_start();
    for (int i = 1; i < argc; i++)
        measure_file(argv[i]);
    for (size_t i = 0; argc == 1 && i < sizeof samples / sizeof samples[0]; i++)
        measure(samples[i].name, samples[i].text, strlen(samples[i].text));
    return EXIT_SUCCESS;
}
