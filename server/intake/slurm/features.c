/* What labels of nodes tell of what a node holds. Which there are is every site's own choice. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "intake/slurm/slurm.h"

bool
sl_slurm_feature_memory(const char *feature, double *gigabytes, bool *titled)
{
    assert(feature != NULL && gigabytes != NULL && titled != NULL);

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
    *titled = named;
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

/* What a cloud calls its own, "v4", is no card that a scheduler counts, but a processor more
 * often. */
static bool
is_of_cloud(const sl_part_name *found)
{
    static const char *const makers[] = {"google", "aws"};

    return sl_text_index(found->candidates[0]->accelerator.vendor, makers,
                         sizeof makers / sizeof makers[0]) >= 0;
}

bool
sl_slurm_feature_model(sl_part_names *names, const char *feature, sl_slurm_model *out)
{
    assert(names != NULL && feature != NULL && out != NULL);

    const char *const name = skip_title(feature);
    if (strpbrk(name, "0123456789") == NULL || strlen(name) >= sizeof out->name)
        return false;
    const sl_part_name *const found = sl_part_names_find_counted(names, name);
    if (found->near || found->candidate_count == 0 || is_of_cloud(found))
        return false;
    out->part = *found;
    out->titled = name != feature;
    return sl_text_copy(out->name, sizeof out->name, name);
}
