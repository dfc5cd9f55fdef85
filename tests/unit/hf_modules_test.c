#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "hf/modules.h"
#include "hf/regex.h"
#include "reading.h"

typedef struct expression {
    const char *python;
    const char *posix; /* NULL = refused */
} expression;

static void
expressions_are_put_into_posix_words_or_refused(void)
{
    static const expression cases[] = {
        {".*self_attn.*", "^(.*self_attn.*)"},
        {".*mlp\\.(gate|up)_proj$", "^(.*mlp[.](gate|up)_proj$)"},
        {"layers\\.\\d+\\.(?:mlp|x)\\.", "^(layers[.][0-9]+[.](mlp|x)[.])"},
        {"a.*?b+?c??", "^(a.*b+c?)"},
        {"[\\d\\w.]x", "^([0-9A-Za-z0-9_.]x)"},
        {"[^0-3]\\*", "^([^0-3]\\*)"},
        {"(?!a)b", NULL},
        {"(?P<n>a)", NULL},
        {"a\\b", NULL},
        {"(a)\\1", NULL},
        {"a{2}", NULL},
        {"a++", NULL},
        {"a\\", NULL},
        {"[a", NULL},
        {"[]a]", NULL},
        {"[[:alpha:]]", NULL},
    };
    char out[SL_HF_REGEX_MAX];
    char longest[SL_HF_REGEX_MAX + 1];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool done = sl_hf_regex_translate(cases[i].python, out);
        CU_ASSERT_EQUAL(done, cases[i].posix != NULL);
        if (done && cases[i].posix != NULL)
            sl_expect_text(out, cases[i].posix, cases[i].python);
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CU_ASSERT_FALSE(sl_hf_regex_translate(longest, out));
}

typedef struct naming {
    const char *list;
    const char *path;
    bool named;
} naming;

static void
a_list_names_modules_by_parts_wildcards_and_expressions(void)
{
    static const naming cases[] = {
        {"[\"down_proj\"]", "model.layers.3.mlp.down_proj", true},
        {"[\"mlp.down_proj\"]", "model.layers.3.mlp.down_proj", true},
        {"[\"model.layers.1\"]", "model.layers.1.mlp.up_proj", true},
        {"[\"model.layers.1\"]", "model.layers.11.mlp.up_proj", false},
        {"[\"gate\"]", "model.layers.1.mlp.gate_proj", false},
        {"[\"model.layers.1.mlp.down\", \"down\"]", "model.layers.1.mlp.down_proj", false},
        {"[\"model.layers.*.self_attn\"]", "model.layers.12.self_attn.q_proj", true},
        {"[\"model.layers.*.self_att\"]", "model.layers.12.self_attn.q_proj", false},
        {"[\"model.layers.0.self_attn*\"]", "model.layers.0.self_attn.q_proj", true},
        {"[\"*lm_head*\"]", "lm_head", true},
        {"[\"mtp*\"]", "model.layers.0.mtp.x", false},
        {"[\"model.layers.?.mlp\"]", "model.layers.10.mlp.up_proj", false},
        {"[\"re:.*\\\\.mlp\\\\.gate$\"]", "model.layers.0.mlp.gate", true},
        {"[\"re:.*\\\\.mlp\\\\.gate$\"]", "model.layers.0.mlp.gate_proj", false},
        {"[\"re:layers\"]", "model.layers.0.mlp.gate", false},
        {"[\".*layers\\\\.0\\\\.\"]", "model.layers.0.mlp.gate", true},
        {"[\"model.language_model.layers.2.mlp\"]", "model.layers.2.mlp.up_proj", true},
        {"[\"model.layers.2.mlp\"]", "language_model.model.layers.2.mlp.up_proj", true},
        {"[\"language_model.lm_head\"]", "lm_head", true},
        {"[\"lm_head.weight\"]", "lm_head", true},
        {"[\"language_model\"]", "language_model.model.layers.2.mlp.up_proj", true},
        {"[\"language_model\"]", "visual.blocks.2.mlp.up_proj", false},
        {"[\"visual\"]", "model.visual.blocks.2.mlp.up_proj", true},
        {"[\"model.layers.0.self_attn.q_proj\"]", "model.layers.0.self_attn.qkv_proj", true},
        {"[\"model.layers.0.self_attn.qkv_proj\"]", "model.layers.0.self_attn.v_proj", true},
        {"[\"model.layers.0.self_attn.qkv_proj\"]", "model.layers.0.self_attn.o_proj", false},
        {"[\"model.layers.4.self_attn.indexers_proj\"]",
         "model.layers.4.self_attn.indexer.weights_proj", true},
        {"[[\"self_attn.k_proj\", \"self_attn.v_proj\"], [\"mlp.up_proj\"]]",
         "model.layers.0.mlp.up_proj", true},
        {"{\"lm_head\":{\"quant_algo\":\"FP8\"},\"a\":{\"quant_algo\":\"NVFP4\"}}", "a", false},
        {"{\"lm_head\":{\"quant_algo\":\"FP8\"},\"a\":{\"quant_algo\":\"NVFP4\"}}", "lm_head",
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_json *json = NULL;
        sl_errors err = {0};
        char refused[SL_HF_ENTRY_MAX] = "";
        sl_arena *arena = sl_arena_new(1 << 20);
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
        CU_ASSERT_EQUAL_FATAL(
            sl_json_parse(cases[i].list, strlen(cases[i].list), &reading_limits, &json, &err),
            SL_OK);
        const sl_node root = sl_json_root(json);
        sl_hf_modules *modules = sl_hf_modules_new(arena, &root, "FP8", refused);
        CU_ASSERT_PTR_NOT_NULL_FATAL(modules);
        if (sl_hf_modules_name(modules, cases[i].path) != cases[i].named) {
            printf("%s and %s\n", cases[i].list, cases[i].path);
            CU_FAIL("named otherwise than expected");
        }
        sl_hf_modules_clear(modules);
        sl_arena_free(arena);
        sl_json_free(json);
    }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        {"expressions_are_put_into_posix_words_or_refused",
         expressions_are_put_into_posix_words_or_refused},
        {"a_list_names_modules_by_parts_wildcards_and_expressions",
         a_list_names_modules_by_parts_wildcards_and_expressions},
    };
    return sl_run_cases(argc, argv, "hf_modules", cases, sizeof cases / sizeof cases[0]);
}
