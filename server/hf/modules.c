#include "hf/modules.h"

#include <assert.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hf/regex.h"

enum {
    PLAIN_MAX = 32768,
    WILDCARDS_MAX = 2048,
    REGEXES_MAX = 64,
    PARTS_MAX = 32,            /* of a path */
    COMPARISONS_MAX = 1 << 20, /* of entries with paths: below a second's work, where ... */
    LOOKUP_COMPARISONS = 8     /* ... one expression counts for so many, as do all plain names */
};

typedef struct span {
    const char *text;
    size_t length;
} span;

struct sl_hf_modules {
    uint32_t plain_count, wildcard_count, regex_count;
    span *plain; /* sorted */
    const char **wildcards;
    regex_t regexes[REGEXES_MAX];
    uint32_t comparisons;
    bool numbered;
};

/* What one module is called where its parts are stored together, and apart. GLM-5 lists the
 * projection of its indexer under a name of its own. */
static const char *const other_names[][2] = {
    {"qkv_proj", "q_proj"},        {"qkv_proj", "k_proj"},
    {"qkv_proj", "v_proj"},        {"gate_up_proj", "gate_proj"},
    {"gate_up_proj", "up_proj"},   {"in_proj_qkvz", "in_proj_qkv"},
    {"in_proj_qkvz", "in_proj_z"}, {"in_proj_ba", "in_proj_b"},
    {"in_proj_ba", "in_proj_a"},   {"indexer.weights_proj", "indexers_proj"},
};

/* Copies `path` without its parts "language_model"; false when it was too long. */
static bool
leave_out_wrapper(const char *path, char out[SL_HF_MODULE_PATH_MAX])
{
    static const char part[] = "language_model";
    const size_t length = sizeof part - 1;
    size_t size = 0;

    while (*path != '\0') {
        if (strncmp(path, part, length) == 0 && (path[length] == '.' || path[length] == '\0')) {
            path += length + (path[length] == '.');
            continue;
        }
        do {
            if (size + 1 >= SL_HF_MODULE_PATH_MAX)
                return false;
            out[size++] = *path++;
        } while (*path != '\0' && path[-1] != '.');
    }
    out[size] = '\0';
    return true;
}

static int
compare_spans(const void *left, const void *right)
{
    const span *a = left;
    const span *b = right;
    const size_t shorter = a->length < b->length ? a->length : b->length;
    const int order = memcmp(a->text, b->text, shorter);
    if (order != 0)
        return order;
    return (a->length > b->length) - (a->length < b->length);
}

static bool
has_digit(const char *text)
{
    return strpbrk(text, "0123456789[?") != NULL || strstr(text, "\\d") != NULL;
}

/* A number behind "experts" is an expert's, one behind "layers" a block's; others may be either. */
static bool
is_numbered(const char *text, bool plain)
{
    const char *experts = strstr(text, "experts");
    if (experts != NULL)
        return has_digit(experts);
    if (plain)
        return text[0] >= '0' && text[0] <= '9';
    return strstr(text, "layers") == NULL && has_digit(text);
}

static bool
add_regex(sl_hf_modules *modules, const char *python)
{
    char posix[SL_HF_REGEX_MAX];

    if (modules->regex_count >= REGEXES_MAX || !sl_hf_regex_translate(python, posix) ||
        regcomp(&modules->regexes[modules->regex_count], posix, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    modules->regex_count++;
    return true;
}

static bool
is_regex(const char *text)
{
    return strpbrk(text, "\\^$(|+[") != NULL;
}

void
sl_hf_module_cut(char *name)
{
    if (sl_text_ends_with(name, ".weight"))
        name[strlen(name) - strlen(".weight")] = '\0';
}

static bool
add_entry(sl_arena *arena, sl_hf_modules *modules, const char *text)
{
    char simple[SL_HF_MODULE_PATH_MAX];
    const bool marked = strncmp(text, "re:", 3) == 0 || strncmp(text, "-:", 2) == 0;

    if (marked || is_regex(text)) {
        const char *python = marked ? strchr(text, ':') + 1 : text;
        modules->numbered = modules->numbered || is_numbered(python, false);
        return add_regex(modules, python);
    }
    if (text[0] == '\0' || !leave_out_wrapper(text, simple))
        return false;
    sl_hf_module_cut(simple);
    const char *own = sl_arena_copy(arena, simple[0] == '\0' ? text : simple);
    if (own == NULL)
        return false;
    const bool plain = strpbrk(own, "*?") == NULL;
    modules->numbered = modules->numbered || is_numbered(own, plain);
    if (!plain && modules->wildcard_count < WILDCARDS_MAX)
        modules->wildcards[modules->wildcard_count++] = own;
    else if (plain && modules->plain_count < PLAIN_MAX)
        modules->plain[modules->plain_count++] = (span){own, strlen(own)};
    else
        return false;
    return true;
}

/* A text, or a list of them. */
static bool
add_element(sl_arena *arena, sl_hf_modules *modules, const sl_node *element,
            char refused[SL_HF_ENTRY_MAX])
{
    sl_errors scratch = {0};
    const char *text = NULL;
    const bool list = sl_node_kind(element) == SL_JSON_ARRAY;
    const size_t count = list ? sl_node_count(element) : 1;

    for (size_t i = 0; i < count; i++) {
        sl_node inner = *element;
        if ((list && !sl_node_at(element, i, &inner)) ||
            sl_node_as_text(&inner, &text, &scratch) != SL_OK || !add_entry(arena, modules, text)) {
            (void)sl_text_copy(refused, SL_HF_ENTRY_MAX,
                               text == NULL ? "an entry that is no name" : text);
            return false;
        }
    }
    return true;
}

static bool
add_member(sl_arena *arena, sl_hf_modules *modules, const sl_node *member, const char *algorithm,
           char refused[SL_HF_ENTRY_MAX])
{
    sl_errors scratch = {0};
    const char *text = NULL;

    if (algorithm != NULL && (sl_node_text(member, "quant_algo", &text, NULL, &scratch) != SL_OK ||
                              text == NULL || !sl_text_equal(text, algorithm)))
        return true;
    if (add_entry(arena, modules, member->key))
        return true;
    (void)sl_text_copy(refused, SL_HF_ENTRY_MAX, member->key);
    return false;
}

static bool
add_all(sl_arena *arena, sl_hf_modules *modules, const sl_node *names, const char *algorithm,
        char refused[SL_HF_ENTRY_MAX])
{
    sl_node at;
    void *state = NULL;

    if (sl_node_kind(names) == SL_JSON_OBJECT) {
        while (sl_node_next(names, &state, &at)) {
            if (!add_member(arena, modules, &at, algorithm, refused))
                return false;
        }
        return true;
    }
    for (size_t i = 0; sl_node_at(names, i, &at); i++) {
        if (!add_element(arena, modules, &at, refused))
            return false;
    }
    return true;
}

/* Names of a list of lists count one level down. */
static size_t
count_names(const sl_node *names)
{
    sl_node at;
    size_t count = sl_node_count(names);

    if (sl_node_kind(names) != SL_JSON_ARRAY)
        return count;
    for (size_t i = 0; sl_node_at(names, i, &at); i++)
        count += sl_node_count(&at);
    return count;
}

sl_hf_modules *
sl_hf_modules_new(sl_arena *arena, const sl_node *names, const char *algorithm,
                  char refused[SL_HF_ENTRY_MAX])
{
    assert(arena != NULL && names != NULL && refused != NULL);

    const size_t count = count_names(names) + 1;
    sl_hf_modules *modules = sl_arena_alloc(arena, 1, sizeof *modules);
    if (modules == NULL || count > PLAIN_MAX) {
        (void)sl_text_copy(refused, SL_HF_ENTRY_MAX, "more names than are compared");
        return NULL;
    }
    modules->plain = sl_arena_alloc(arena, count, sizeof *modules->plain);
    modules->wildcards = sl_arena_alloc(arena, count, sizeof *modules->wildcards);
    if (modules->plain == NULL || modules->wildcards == NULL) {
        (void)sl_text_copy(refused, SL_HF_ENTRY_MAX, "more names than are compared");
        return NULL;
    }
    if (!add_all(arena, modules, names, algorithm, refused)) {
        sl_hf_modules_clear(modules);
        return NULL;
    }
    qsort(modules->plain, modules->plain_count, sizeof *modules->plain, compare_spans);
    return modules;
}

void
sl_hf_modules_clear(sl_hf_modules *modules)
{
    if (modules == NULL)
        return;
    for (uint32_t i = 0; i < modules->regex_count; i++)
        regfree(&modules->regexes[i]);
    modules->regex_count = 0;
}

/* Any run of neighbouring parts of the path may be the name. */
static bool
plain_names(const sl_hf_modules *modules, const char *path)
{
    const char *starts[PARTS_MAX + 1];
    uint32_t parts = 0;

    starts[parts++] = path;
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '.' && parts < PARTS_MAX)
            starts[parts++] = at + 1;
    }
    starts[parts] = path + strlen(path) + 1;
    for (uint32_t first = 0; first < parts; first++) {
        for (uint32_t end = first + 1; end <= parts; end++) {
            const span run = {starts[first], (size_t)(starts[end] - starts[first]) - 1};
            if (bsearch(&run, modules->plain, modules->plain_count, sizeof run, compare_spans) !=
                NULL)
                return true;
        }
    }
    return false;
}

/* The pattern reaches the end of the path, or of one of its parts. */
static bool
wildcard_fits(const char *pattern, const char *path)
{
    const char *star = NULL;
    const char *resume = NULL;

    for (;;) {
        if (*pattern == '\0' && (*path == '\0' || *path == '.'))
            return true;
        if (*pattern == '*') {
            star = pattern++;
            resume = path;
        } else if (*path != '\0' && (*pattern == '?' || *pattern == *path)) {
            pattern++;
            path++;
        } else if (star != NULL && *resume != '\0') {
            pattern = star + 1;
            path = ++resume;
        } else {
            return false;
        }
    }
}

static bool
spend(sl_hf_modules *modules, uint32_t comparisons)
{
    if (modules->comparisons >= COMPARISONS_MAX)
        return false;
    modules->comparisons += comparisons;
    return true;
}

static bool
patterns_name(sl_hf_modules *modules, const char *path)
{
    for (uint32_t i = 0; i < modules->wildcard_count; i++) {
        const char *pattern = modules->wildcards[i];
        const size_t head = strcspn(pattern, "*?");
        if (strncmp(pattern, path, head) != 0)
            continue;
        if (!spend(modules, 1))
            return false;
        if (wildcard_fits(pattern + head, path + head))
            return true;
    }
    for (uint32_t i = 0; i < modules->regex_count; i++) {
        if (!spend(modules, LOOKUP_COMPARISONS))
            return false;
        if (regexec(&modules->regexes[i], path, 0, NULL, 0) == 0)
            return true;
    }
    return false;
}

static bool
names_path(sl_hf_modules *modules, const char *path)
{
    return spend(modules, LOOKUP_COMPARISONS) &&
           ((modules->plain_count != 0 && plain_names(modules, path)) ||
            patterns_name(modules, path));
}

/* True when the path with its end put into the other words is named. */
static bool
names_renamed(sl_hf_modules *modules, const char *path, const char *from, const char *to)
{
    char renamed[SL_HF_MODULE_PATH_MAX];
    const size_t length = strlen(path);
    const size_t end = strlen(from);

    if (length <= end || path[length - end - 1] != '.' ||
        !sl_text_equal(path + length - end, from) ||
        !sl_text_format(renamed, sizeof renamed, "%.*s%s", (int)(length - end), path, to))
        return false;
    return names_path(modules, renamed);
}

bool
sl_hf_modules_name(sl_hf_modules *modules, const char *path)
{
    assert(modules != NULL && path != NULL);

    char simple[SL_HF_MODULE_PATH_MAX];
    if (names_path(modules, path))
        return true;
    if (!leave_out_wrapper(path, simple))
        return false;
    if (!sl_text_equal(simple, path) && names_path(modules, simple))
        return true;
    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++) {
        if (names_renamed(modules, simple, other_names[i][0], other_names[i][1]) ||
            names_renamed(modules, simple, other_names[i][1], other_names[i][0]))
            return true;
    }
    return false;
}

bool
sl_hf_modules_numbered(const sl_hf_modules *modules)
{
    assert(modules != NULL);
    return modules->numbered;
}

bool
sl_hf_modules_exhausted(const sl_hf_modules *modules)
{
    assert(modules != NULL);
    return modules->comparisons >= COMPARISONS_MAX;
}
