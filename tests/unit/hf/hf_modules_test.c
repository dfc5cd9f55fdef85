#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "hf/modules.h"
#include "hf/regex.h"
#include "reading.h"

typedef struct expression {
    const char *python;
    const char *text;
    bool matches;
} expression;

static void
expressions_match_from_the_start_as_in_python(void)
{
    static const expression cases[] = {
        {".*self_attn.*", "model.layers.3.self_attn.q_proj", true},
        {"self_attn", "model.self_attn", false},
        {"mod", "model", true},
        {".*mlp\\.(gate|up)_proj$", "layers.1.mlp.up_proj", true},
        {".*mlp\\.(gate|up)_proj$", "layers.1.mlp.up_proj.x", false},
        {"^(lm_head|re.*)$", "lm_head", true},
        {"a$b", "ab", false},
        {"layers\\.\\d+\\.(?:mlp|x)\\.", "layers.12.x.up", true},
        {"layers\\.\\d+\\.(?:mlp|x)\\.", "layers..x.up", false},
        {"a.*?b+?c??", "axxbb", true},
        {"ab*c", "ac", true},
        {"ab+c", "ac", false},
        {"ab?c", "abbc", false},
        {"(ab|)c", "c", true},
        {"((a|b)*c)+d", "abcbcd", true},
        {"((a|b)*c)+d", "abcbd", false},
        {"(a*)*b", "aaab", true},
        {"(a*)+$", "aaac", false},
        {"a|b|cd", "cd", true},
        {"a|b|cd", "ce", false},
        {"[\\d\\w.]x", ".x", true},
        {"[^0-3]\\*", "4*", true},
        {"[^0-3]\\*", "3*", false},
        {"[a\\-z]_", "-_", true},
        {"[a\\-z]_", "b_", false},
        {"[a-]_", "-_", true},
        {"\\[\\]\\{", "[]{", true},
    };
    sl_arena *arena = sl_arena_new(1 << 20);

    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sl_hf_regex *regex = sl_hf_regex_new(arena, cases[i].python);
        uint64_t work = 0;
        CU_ASSERT_PTR_NOT_NULL_FATAL(regex);
        if (sl_hf_regex_match(regex, cases[i].text, &work) != cases[i].matches) {
            printf("%s and %s\n", cases[i].python, cases[i].text);
            CU_FAIL("matches otherwise than in Python");
        }
    }
    sl_arena_free(arena);
}

static void
other_expressions_are_refused(void)
{
    static const char *const cases[] = {
        "(?!a)b", "(?P<n>a)", "a\\b", "(a)\\1",   "a{2}",        "a++",   "a**",     "*a",
        "^*",     "a\\",      "[a",   "[]a]",     "[[:alpha:]]", "[z-a]", "[\\d-z]", "(a",
        "a)",     "[a\\-",    "\\s",  "\303\244", "[\303]",      "a]",    "[a-\\d]", "a|*"};
    char longest[SL_HF_REGEX_MAX + 1];
    char deepest[100];
    sl_arena *arena = sl_arena_new(1 << 20);

    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (sl_hf_regex_new(arena, cases[i]) != NULL) {
            printf("%s\n", cases[i]);
            CU_FAIL("not refused");
        }
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CU_ASSERT_PTR_NULL(sl_hf_regex_new(arena, longest));
    longest[SL_HF_REGEX_MAX - 1] = '\0';
    CU_ASSERT_PTR_NOT_NULL(sl_hf_regex_new(arena, longest));
    memset(longest, '*', SL_HF_REGEX_MAX - 1);
    for (size_t i = 0; i + 1 < SL_HF_REGEX_MAX; i += 2)
        longest[i] = '|';
    CU_ASSERT_PTR_NULL(sl_hf_regex_new(arena, longest));
    memset(longest, '|', SL_HF_REGEX_MAX - 1);
    CU_ASSERT_PTR_NOT_NULL(sl_hf_regex_new(arena, longest));
    memset(deepest, '(', 50);
    memset(deepest + 50, ')', 50);
    deepest[99] = '\0';
    CU_ASSERT_PTR_NULL(sl_hf_regex_new(arena, deepest));
    sl_arena_free(arena);
}

/* Groups that are repeated inside each other: neither the program nor a way through a text grows
 * with more than their number. */
static void
nested_repeats_cost_their_length(void)
{
    static const char signs[] = "+*?";
    enum { TEXT_SIZE = 64, PYTHON_SIZE = 128 };
    char text[TEXT_SIZE];
    char python[PYTHON_SIZE];

    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (const char *sign = signs; *sign != '\0'; sign++) {
        sl_arena *arena = sl_arena_new(1 << 14);
        size_t size = 0;
        uint64_t work = 0;
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
        memset(python, '(', 30);
        size = 30;
        python[size++] = 'a';
        for (uint32_t i = 0; i < 30; i++) {
            python[size++] = *sign;
            python[size++] = ')';
        }
        python[size++] = *sign;
        python[size++] = '$';
        python[size] = '\0';
        const sl_hf_regex *regex = sl_hf_regex_new(arena, python);
        CU_ASSERT_PTR_NOT_NULL_FATAL(regex);
        CU_ASSERT_EQUAL(sl_hf_regex_match(regex, text, &work), *sign != '?');
        CU_ASSERT_TRUE(work <= UINT64_C(2) * PYTHON_SIZE * TEXT_SIZE);
        sl_arena_free(arena);
    }
}

/* A list that was read, with all it stands on. */
typedef struct list {
    sl_json *json;
    sl_arena *arena;
    sl_hf_work *work;
    sl_hf_modules *modules;
} list;

static list
read_list(const char *text)
{
    list read = {.arena = sl_arena_new(1 << 20)};
    char refused[SL_HF_ENTRY_MAX] = "";
    sl_errors err = {0};

    CU_ASSERT_PTR_NOT_NULL_FATAL(read.arena);
    read.work = sl_arena_alloc(read.arena, 1, sizeof *read.work);
    CU_ASSERT_PTR_NOT_NULL_FATAL(read.work);
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &reading_limits, &read.json, &err),
                          SL_OK);
    const sl_node root = sl_json_root(read.json);
    read.modules = sl_hf_modules_new(read.arena, &root, "FP8", false, read.work, refused);
    CU_ASSERT_PTR_NOT_NULL_FATAL(read.modules);
    return read;
}

static void
clear_list(list *read)
{
    sl_arena_free(read->arena);
    sl_json_free(read->json);
}

static bool
is_named(const list *read, const char *path)
{
    return sl_hf_modules_name(read->modules, SL_HF_ENTRIES_COMMON, path) ||
           sl_hf_modules_name(read->modules, SL_HF_ENTRIES_NUMBERED, path);
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
        list read = read_list(cases[i].list);
        if (is_named(&read, cases[i].path) != cases[i].named) {
            printf("%s and %s\n", cases[i].list, cases[i].path);
            CU_FAIL("named otherwise than expected");
        }
        clear_list(&read);
    }
}

/* A digit behind "layers" is of a block, and "0-9" stands for every one: such entries are not asked
 * for each expert. */
static void
entries_that_tell_experts_apart_are_known(void)
{
    static const struct {
        const char *list;
        bool numbered;
    } cases[] = {
        {"[\"lm_head\", \"re:.*mlp\\\\.gate$\"]", false},
        {"[\"re:.*\\\\.experts\\\\.255\\\\..*\"]", true},
        {"[\"model.layers.3.mlp.experts.1.w1\"]", true},
        {"[\"model.layers.3.mlp.experts\"]", false},
        {"[\"3.w1\"]", true},
        {"[\"model.layers.61*\"]", false},
        {"[\"model.layers.*.3.w1\"]", true},
        {"[\"*.3.w1\"]", true},
        {"[\"re:model\\\\.layers\\\\.(0|1)\\\\..*\"]", false},
        {"[\"re:.*layers.*3\"]", true},
        {"[\"re:.*experts\\\\.[0-9]+\\\\.up_proj\"]", false},
        {"[\"re:.*experts\\\\.[0-8]\\\\.w1\"]", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        list read = read_list(cases[i].list);
        if (sl_hf_modules_numbered(read.modules) != cases[i].numbered) {
            printf("%s\n", cases[i].list);
            CU_FAIL("numbered otherwise than expected");
        }
        clear_list(&read);
    }
}

/* What is counted grows with what is done: letters of wildcards, entries, lookups of names. */
static void
comparing_is_counted_by_its_steps(void)
{
    static const char path[] = "model.layers.3.mlp.experts.7.up_proj";
    list plain = read_list("[\"a.b\"]");
    list wild = read_list("[\"*?????????????????????????????????X\"]");
    list other = read_list("[\"lm_head*\"]");

    CU_ASSERT_FALSE(is_named(&plain, path));
    CU_ASSERT_FALSE(is_named(&wild, path));
    CU_ASSERT_FALSE(is_named(&other, path));
    CU_ASSERT_TRUE(other.work->steps < 1000);
    CU_ASSERT_TRUE(wild.work->steps > other.work->steps + sizeof path);
    wild.work->steps = SL_HF_WORK_MAX;
    CU_ASSERT_TRUE(sl_hf_work_exhausted(wild.work));
    CU_ASSERT_FALSE(is_named(&wild, path));
    CU_ASSERT_EQUAL(wild.work->steps, SL_HF_WORK_MAX);
    clear_list(&plain);
    clear_list(&wild);
    clear_list(&other);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(expressions_match_from_the_start_as_in_python),
        SL_CASE(other_expressions_are_refused),
        SL_CASE(nested_repeats_cost_their_length),
        SL_CASE(a_list_names_modules_by_parts_wildcards_and_expressions),
        SL_CASE(entries_that_tell_experts_apart_are_known),
        SL_CASE(comparing_is_counted_by_its_steps),
    };
    return sl_run_cases(argc, argv, "hf_modules", cases, sizeof cases / sizeof cases[0]);
}
