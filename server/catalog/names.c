/* A name as it is compared: people and tools write one part in many ways. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "catalog/internal.h"

static bool
is_separator(char c)
{
    return c == ' ' || c == '-' || c == '_' || c == ':' || c == '/' || c == ',';
}

static char
lower(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c;
}

/* Lower case, every run of separators one dash. */
static void
fold(const char *name, char out[SL_CATALOG_NAME_SIZE])
{
    size_t size = 0;
    for (const char *at = name; *at != '\0' && size + 2 < SL_CATALOG_NAME_SIZE; at++) {
        if (!is_separator(*at))
            out[size++] = lower(*at);
        else if (size > 0 && out[size - 1] != '-')
            out[size++] = '-';
    }
    if (size > 0 && out[size - 1] == '-')
        size--;
    out[size] = '\0';
}

/* Folded, without separators and without words that say who made or shares the part. */
static void
reduce(const char *name, char out[SL_CATALOG_NAME_SIZE])
{
    static const char *const noise[] = {"nvidia", "amd", "intel",   "google",   "aws",
                                        "tesla",  "gpu", "geforce", "instinct", "shared"};
    char folded[SL_CATALOG_NAME_SIZE];
    fold(name, folded);
    size_t size = 0;
    for (const char *at = folded; *at != '\0';) {
        const size_t length = strcspn(at, "-");
        char word[SL_CATALOG_NAME_SIZE];
        memcpy(word, at, length);
        word[length] = '\0';
        if (sl_text_index(word, noise, sizeof noise / sizeof noise[0]) < 0) {
            memcpy(out + size, word, length);
            size += length;
        }
        at += length + (at[length] == '-');
    }
    out[size] = '\0';
}

/* Words of free text that no part is called by alone: kinds and sizes of memory, generations, how a
 * module is mounted, cooled or handed to a machine (a virtual function, VF), its power, marks of
 * trade. */
static bool
is_decoration(const char *word)
{
    static const char *const words[] = {
        "hbm",       "hbm2", "hbm2e",       "hbm3", "hbm3e", "blackwell", "hopper", "ampere",
        "module",    "oam",  "vf",          "r",    "tm",    "ultra",     "grace",  "gracehopper",
        "superchip", "ai",   "accelerator", "cts",  "tdp",   "gb",        "gib"};
    const size_t digits = strspn(word, "0123456789");

    return sl_text_index(word, words, sizeof words / sizeof words[0]) >= 0 ||
           (digits > 0 &&
            (sl_text_equal(word + digits, "gb") || sl_text_equal(word + digits, "g") ||
             sl_text_equal(word + digits, "gib") || sl_text_equal(word + digits, "w")));
}

/* "80" before "gb", which stand apart in free text. */
static bool
is_size_before(const char *number, const char *behind)
{
    const size_t unit = strcspn(behind, "-");

    return number[strspn(number, "0123456789")] == '\0' &&
           (sl_text_is(behind, unit, "gb") || sl_text_is(behind, unit, "gib"));
}

/* Brackets and the marks (R) and TM in UTF-8 are no part of a word. */
static void
part_marks(char *folded)
{
    static const char *const marks[] = {"(", ")", "\xC2\xAE", "\xE2\x84\xA2"};

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        for (char *at = folded; (at = strstr(at, marks[i])) != NULL;)
            memset(at, '-', strlen(marks[i]));
}

/* Reduced, without decoration: "AMD Instinct MI300X 192GB HBM3" is mi300x, "Blackwell GPU (GB200)"
 * gb200. */
static void
loosen(const char *name, char out[SL_CATALOG_NAME_SIZE])
{
    char folded[SL_CATALOG_NAME_SIZE], plain[SL_CATALOG_NAME_SIZE];
    size_t size = 0;

    fold(name, folded);
    part_marks(folded);
    plain[0] = '\0';
    for (const char *at = folded; *at != '\0';) {
        char word[SL_CATALOG_NAME_SIZE];
        const size_t length = strcspn(at, "-");
        memcpy(word, at, length);
        word[length] = '\0';
        const char *const behind = at + length + (at[length] == '-');
        if (length > 0 && !is_size_before(word, behind) && !is_decoration(word)) {
            memcpy(plain + size, at, length);
            size += length;
            plain[size++] = '-';
        }
        at += length + (at[length] == '-');
    }
    plain[size] = '\0';
    reduce(plain, out);
}

void
sl_name_write(sl_name_form form, const char *name, char out[SL_CATALOG_NAME_SIZE])
{
    static void (*const writers[])(const char *, char[SL_CATALOG_NAME_SIZE]) = {
        [SL_NAME_FOLDED] = fold, [SL_NAME_REDUCED] = reduce, [SL_NAME_LOOSENED] = loosen};
    _Static_assert(sizeof writers / sizeof writers[0] == SL_NAME_FORM_COUNT, "every form");
    assert(form < SL_NAME_FORM_COUNT && name != NULL);

    writers[form](name, out);
}

bool
sl_name_folds_to(const char *name, size_t length, const char *folded)
{
    assert(name != NULL && folded != NULL);

    const char *at = folded;
    bool gap = false;
    for (size_t i = 0; i < length; i++) {
        if (is_separator(name[i])) {
            gap = at != folded;
            continue;
        }
        if (gap && *at++ != '-')
            return false;
        gap = false;
        if (*at == '\0' || *at++ != lower(name[i]))
            return false;
    }
    return *at == '\0';
}
