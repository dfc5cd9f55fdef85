/* What labels of nodes tell of what a node holds. Which there are is every site's own choice. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "intake/slurm/slurm.h"

bool
sl_slurm_feature_memory(const char *feature, double *gigabytes)
{
    assert(feature != NULL && gigabytes != NULL);

    static const char *const before[] = {"gpu_memory", "gpu_mem", "gpumem", "gpu_vram", "gpuram",
                                         "gpu_ram",    "vram",    "gmem",   "hbm",      "gpu"};
    const char *at = feature;
    uint64_t value = 0;
    bool named = false;

    for (size_t i = 0; i < sizeof before / sizeof before[0] && !named; i++) {
        size_t length = 0;
        while (before[i][length] != '\0' && tolower((unsigned char)at[length]) == before[i][length])
            length++;
        if (before[i][length] == '\0') {
            named = true;
            at += length;
            at += *at == ':' || *at == '_' || *at == '-' || *at == '=';
        }
    }
    size_t digits = 0;
    for (; digits < 4 && isdigit((unsigned char)at[digits]); digits++)
        value = 10 * value + (uint64_t)(at[digits] - '0');
    at += digits;
    if (digits == 0 || value == 0 ||
        !(sl_text_equal_ignoring_case(at, "gb") || sl_text_equal_ignoring_case(at, "gib") ||
          (named && sl_text_equal_ignoring_case(at, "g"))))
        return false;
    *gigabytes = (double)value;
    return true;
}

static bool
begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* "p3dn.24xlarge": letters and digits, a point, a size. */
static bool
is_amazon_type(const char *feature)
{
    static const char *const sizes[] = {"nano", "micro", "small", "medium", "large", "metal"};
    const size_t family = strspn(feature, "abcdefghijklmnopqrstuvwxyz0123456789-");

    if (family < 2 || feature[family] != '.' || !islower((unsigned char)feature[0]))
        return false;
    const char *const size = feature + family + 1;
    const size_t digits = strspn(size, "0123456789");
    if (sl_text_equal(size + digits, "xlarge"))
        return true;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (begins(size, sizes[i]) && (size[strlen(sizes[i])] == '\0' || begins(size, "metal-")))
            return true;
    return false;
}

/* "a3-megagpu-8g", "n1-standard-8": a series, a class and a size. */
static bool
is_google_type(const char *feature)
{
    static const char *const classes[] = {"-standard-", "-highgpu-", "-megagpu-", "-ultragpu-",
                                          "-edgegpu-",  "-highmem-", "-highcpu-", "-maxgpu-"};
    const char *const dash = strchr(feature, '-');

    if (dash == NULL || dash == feature || dash - feature > 4 ||
        !islower((unsigned char)feature[0]) || !isdigit((unsigned char)feature[1]))
        return false;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (begins(dash, classes[i]) && isdigit((unsigned char)dash[strlen(classes[i])]))
            return true;
    return false;
}

bool
sl_slurm_feature_instance(const char *feature)
{
    assert(feature != NULL);

    return is_amazon_type(feature) || is_google_type(feature) || begins(feature, "Standard_N") ||
           begins(feature, "BM.GPU") || begins(feature, "VM.GPU");
}

/* Behind words such as "gpu_sku:", the rest of the label. */
static const char *
skip_title(const char *feature)
{
    static const char *const titles[] = {"gpu_sku", "gpu_model", "gpu_type", "gpu_name",
                                         "nvidia",  "amd",       "gpu"};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        size_t length = 0;
        while (titles[i][length] != '\0' &&
               tolower((unsigned char)feature[length]) == titles[i][length])
            length++;
        if (titles[i][length] == '\0' && feature[length] != '\0' &&
            strchr(":_-=", feature[length]) != NULL)
            return feature + length + 1;
    }
    return feature;
}

/* A word of a label, lower case, into `word`, "" where it is too long to be one of ours; returns
 * what follows it. */
static const char *
next_word(const char *at, char word[SL_SLURM_TYPE_SIZE])
{
    const size_t length = strcspn(at, ":_-.");
    const size_t kept = length < SL_SLURM_TYPE_SIZE ? length : 0;

    for (size_t i = 0; i < kept; i++)
        word[i] = (char)tolower((unsigned char)at[i]);
    word[kept] = '\0';
    return at + length + (at[length] != '\0');
}

/* What sets the variants of a part apart: how it is mounted, "sxm4", or its memory, "80g". A number
 * alone is one where devices have as much: "h100-3" is a rack. */
static bool
is_variant(const char *word, double *gigabytes)
{
    enum { SIZE_DIGITS = 3 };
    static const char *const mounts[] = {"sxm",  "sxm2", "sxm3", "sxm4", "sxm5", "sxm6",
                                         "pcie", "nvl",  "hbm2", "hbm3", "hbm3e"};
    static const char *const sizes[] = {"16", "24", "32", "40",  "48",
                                        "64", "80", "94", "141", "192"};
    const size_t digits = strspn(word, "0123456789");
    char number[SIZE_DIGITS + 1];

    if (digits == 0 || digits > SIZE_DIGITS)
        return sl_text_index(word, mounts, sizeof mounts / sizeof mounts[0]) >= 0;
    if (!sl_text_equal(word + digits, "g") && !sl_text_equal(word + digits, "gb") &&
        sl_text_index(word, sizes, sizeof sizes / sizeof sizes[0]) < 0)
        return false;
    memcpy(number, word, digits);
    number[digits] = '\0';
    return sl_text_to_double(number, gigabytes);
}

bool
sl_slurm_feature_model(const char *feature, sl_slurm_model *out)
{
    /* Words that no site calls anything else, in the spelling of every site. */
    static const char *const parts[] = {
        "v100",   "v100s",  "p100",   "t4",     "a10",    "a10g",   "a30",    "a40",   "a100",
        "a800",   "h20",    "h100",   "h200",   "h800",   "b200",   "b300",   "gh200", "gb200",
        "gb300",  "l4",     "l20",    "l40",    "l40s",   "a6000",  "mi100",  "mi210", "mi250",
        "mi250x", "mi300a", "mi300x", "mi325x", "mi350x", "mi355x", "gaudi2", "gaudi3"};
    char word[SL_SLURM_TYPE_SIZE];
    double gigabytes = 0.0;
    assert(feature != NULL && out != NULL);

    const char *const name = skip_title(feature);
    const char *at = next_word(name, word);
    if (sl_text_index(word, parts, sizeof parts / sizeof parts[0]) < 0)
        return false;
    while (*at != '\0') {
        at = next_word(at, word);
        if (!is_variant(word, &gigabytes))
            return false;
    }
    out->gigabytes = gigabytes;
    return sl_text_copy(out->name, sizeof out->name, name);
}
