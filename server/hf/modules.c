#include "hf/modules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hf/regex.h"

enum {
    PLAIN_MAX = 32768,
    WILDCARDS_MAX = 2048,
    REGEXES_MAX = 64,
    PARTS_MAX = 32, /* of a path */
    /* Steps, as SL_HF_WORK_MAX counts them, of ... */
    PATH_STEPS = 160,   /* putting a path together and cutting it up */
    COMPARE_STEPS = 8,  /* one comparison with a plain name */
    WILDCARD_STEPS = 4, /* the start of a wildcard */
};

typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct entries {
    uint32_t plain_count, wildcard_count, regex_count;
    uint32_t part_counts; /* bit n: some plain name has n + 1 parts, or 32 and more */
    span *plain;          /* sorted */
    const char **wildcards;
    const sl_hf_regex *regexes[REGEXES_MAX];
    bool whole; /* a plain name is that of a module, not of what holds it */
} entries;

struct sl_hf_modules {
    entries of[SL_HF_ENTRIES_COUNT];
    sl_hf_work *work;
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

/* Digits, but for "0-9", which stands for any of them. */
static bool
has_digit(const char *text)
{
    for (; *text != '\0'; text++) {
        if (strncmp(text, "0-9", 3) == 0)
            text += 2;
        else if (*text >= '0' && *text <= '9')
            return true;
    }
    return false;
}

/* Behind the number of a block: in "layers.3.mlp" or "layers\.(3|4)\..*" at "mlp" and ".*". */
static const char *
skip_block(const char *text)
{
    static const char word[] = "layers";
    const char *at = strstr(text, word);

    if (at == NULL)
        return text;
    at += sizeof word - 1;
    at += *at == '\\';
    if (*at != '.')
        return text;
    at++;
    return at + strcspn(at, ".*");
}

/* A digit behind "experts" is of an expert's number, one behind "layers" of a block's; others may
 * be of either. What holds none can only count the digits of a number. */
static bool
is_numbered(const char *text, bool plain)
{
    const char *experts = strstr(text, "experts");
    if (experts != NULL)
        return has_digit(experts);
    if (plain)
        return text[0] >= '0' && text[0] <= '9';
    return has_digit(skip_block(text));
}

static bool
add_regex(sl_arena *arena, entries *to, const char *python)
{
    if (to->regex_count == REGEXES_MAX)
        return false;
    to->regexes[to->regex_count] = sl_hf_regex_new(arena, python);
    return to->regexes[to->regex_count] != NULL && ++to->regex_count != 0;
}

static uint32_t
count_parts(const char *text)
{
    uint32_t parts = 1;

    for (; *text != '\0'; text++)
        parts += *text == '.';
    return parts;
}

static uint32_t
parts_bit(uint32_t parts)
{
    return UINT32_C(1) << (parts > PARTS_MAX ? PARTS_MAX - 1 : parts - 1);
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

/* A name or a wildcard. */
static bool
add_name(entries *to, const char *own, bool plain)
{
    if (plain && to->plain_count < PLAIN_MAX) {
        to->plain[to->plain_count++] = (span){own, strlen(own)};
        to->part_counts |= parts_bit(count_parts(own));
        return true;
    }
    if (plain || to->wildcard_count == WILDCARDS_MAX)
        return false;
    to->wildcards[to->wildcard_count++] = own;
    return true;
}

static bool
add_entry(sl_arena *arena, sl_hf_modules *modules, const char *text)
{
    char simple[SL_HF_MODULE_PATH_MAX];
    const bool marked = strncmp(text, "re:", 3) == 0 || strncmp(text, "-:", 2) == 0;

    if (marked || is_regex(text)) {
        const char *python = marked ? strchr(text, ':') + 1 : text;
        return add_regex(arena, &modules->of[is_numbered(python, false)], python);
    }
    if (text[0] == '\0' || !leave_out_wrapper(text, simple))
        return false;
    sl_hf_module_cut(simple);
    const char *own = sl_arena_copy(arena, simple[0] == '\0' ? text : simple);
    if (own == NULL)
        return false;
    const bool plain = strpbrk(own, "*?") == NULL;
    return add_name(&modules->of[is_numbered(own, plain)], own, plain);
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

static bool
make_room(sl_arena *arena, entries *to, size_t count)
{
    to->plain = sl_arena_alloc(arena, count, sizeof to->plain[0]);
    to->wildcards = sl_arena_alloc(arena, count < WILDCARDS_MAX ? count : WILDCARDS_MAX,
                                   sizeof to->wildcards[0]);
    return to->plain != NULL && to->wildcards != NULL;
}

sl_hf_modules *
sl_hf_modules_new(sl_arena *arena, const sl_node *names, const char *algorithm, bool whole,
                  sl_hf_work *work, char refused[SL_HF_ENTRY_MAX])
{
    assert(arena != NULL && names != NULL && work != NULL && refused != NULL);

    const size_t count = count_names(names) + 1;
    sl_hf_modules *modules = sl_arena_alloc(arena, 1, sizeof *modules);
    bool fits = modules != NULL && count <= PLAIN_MAX;
    for (uint32_t i = 0; fits && i < SL_HF_ENTRIES_COUNT; i++) {
        fits = make_room(arena, &modules->of[i], count);
        modules->of[i].whole = whole;
    }
    if (!fits) {
        (void)sl_text_copy(refused, SL_HF_ENTRY_MAX, "more names than are compared");
        return NULL;
    }
    modules->work = work;
    if (!add_all(arena, modules, names, algorithm, refused))
        return NULL;
    for (uint32_t i = 0; i < SL_HF_ENTRIES_COUNT; i++)
        qsort(modules->of[i].plain, modules->of[i].plain_count, sizeof(span), compare_spans);
    return modules;
}

static bool
spend(sl_hf_work *work, uint64_t steps)
{
    if (sl_hf_work_exhausted(work))
        return false;
    work->steps += steps;
    return true;
}

static bool
find_plain(const entries *among, sl_hf_work *work, span run)
{
    uint32_t first = 0;
    uint32_t end = among->plain_count;

    while (first < end && spend(work, COMPARE_STEPS)) {
        const uint32_t middle = first + (end - first) / 2;
        const int order = compare_spans(&run, &among->plain[middle]);
        if (order == 0)
            return true;
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    return false;
}

/* Any run of neighbouring parts of the path may be the name, if some name has as many parts; of
 * whole names only a run to the end, since configs do not agree on what comes before. */
static bool
plain_names(const entries *among, sl_hf_work *work, const char *path)
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
        for (uint32_t end = among->whole ? parts : first + 1; end <= parts; end++) {
            if ((among->part_counts & parts_bit(end - first)) == 0)
                continue;
            const span run = {starts[first], (size_t)(starts[end] - starts[first]) - 1};
            if (find_plain(among, work, run))
                return true;
        }
    }
    return false;
}

/* The pattern reaches the end of the path, or of one of its parts. */
static bool
wildcard_fits(const char *pattern, const char *path, uint64_t *steps)
{
    const char *star = NULL;
    const char *resume = NULL;

    for (;; ++*steps) {
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
wildcards_name(const entries *among, sl_hf_work *work, const char *path)
{
    for (uint32_t i = 0; i < among->wildcard_count && spend(work, WILDCARD_STEPS); i++) {
        const char *pattern = among->wildcards[i];
        const size_t head = strcspn(pattern, "*?");
        if (strncmp(pattern, path, head) == 0 &&
            wildcard_fits(pattern + head, path + head, &work->steps))
            return true;
    }
    return false;
}

static bool
regexes_name(const entries *among, sl_hf_work *work, const char *path)
{
    for (uint32_t i = 0; i < among->regex_count && spend(work, 1); i++) {
        if (sl_hf_regex_match(among->regexes[i], path, &work->steps))
            return true;
    }
    return false;
}

static bool
names_path(const entries *among, sl_hf_work *work, const char *path)
{
    return spend(work, PATH_STEPS) &&
           (plain_names(among, work, path) || wildcards_name(among, work, path) ||
            regexes_name(among, work, path));
}

/* True when the path with its end put into the other words is named. */
static bool
names_renamed(const entries *among, sl_hf_work *work, const char *path, const char *from,
              const char *to)
{
    char renamed[SL_HF_MODULE_PATH_MAX];
    const size_t length = strlen(path);
    const size_t end = strlen(from);

    if (length <= end || path[length - end - 1] != '.' ||
        !sl_text_equal(path + length - end, from) ||
        !sl_text_format(renamed, sizeof renamed, "%.*s%s", (int)(length - end), path, to))
        return false;
    return names_path(among, work, renamed);
}

bool
sl_hf_modules_name(const sl_hf_modules *modules, sl_hf_entries which, const char *path)
{
    assert(modules != NULL && which < SL_HF_ENTRIES_COUNT && path != NULL);

    char simple[SL_HF_MODULE_PATH_MAX];
    const entries *among = &modules->of[which];
    sl_hf_work *work = modules->work;
    if (among->plain_count + among->wildcard_count + among->regex_count == 0)
        return false;
    if (names_path(among, work, path))
        return true;
    if (!leave_out_wrapper(path, simple))
        return false;
    if (!sl_text_equal(simple, path) && names_path(among, work, simple))
        return true;
    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++) {
        if (names_renamed(among, work, simple, other_names[i][0], other_names[i][1]) ||
            names_renamed(among, work, simple, other_names[i][1], other_names[i][0]))
            return true;
    }
    return false;
}

bool
sl_hf_modules_numbered(const sl_hf_modules *modules)
{
    assert(modules != NULL);

    const entries *numbered = &modules->of[SL_HF_ENTRIES_NUMBERED];
    return numbered->plain_count + numbered->wildcard_count + numbered->regex_count != 0;
}

bool
sl_hf_work_exhausted(const sl_hf_work *work)
{
    assert(work != NULL);
    return work->steps >= SL_HF_WORK_MAX;
}
