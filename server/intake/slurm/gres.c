#include "intake/slurm/slurm.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"

enum { FIELDS_MAX = 8, ENTRY_SIZE = 256, PARTS_OF_DEVICE = 7, PARTS_OF_A30 = 4 };

bool
sl_slurm_is_accelerator(const char *name)
{
    assert(name != NULL);

    static const char *const names[] = {"gpu", "gcd", "hpu", "npu", "tpu", "dcu", "mlu", "xpu"};
    return sl_text_index(name, names, sizeof names / sizeof names[0]) >= 0;
}

static bool
is_share(const char *name)
{
    return sl_text_equal(name, "shard") || sl_text_equal(name, "mps");
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "1g.10gb" in the name of a type: where it begins, its parts of a device and their memory. */
static bool
find_profile(const char *type, size_t *at, uint32_t *parts, uint32_t *gigabytes)
{
    for (size_t i = 0; type[i] != '\0'; i++) {
        const bool begins = i == 0 || !isalnum((unsigned char)type[i - 1]);
        if (!begins || !is_digit(type[i]) || (type[i + 1] != 'g' && type[i + 1] != 'G'))
            continue;
        size_t end = i + 2;
        end += type[end] == '.' || type[end] == '_' || type[end] == '-';
        uint32_t memory = 0;
        size_t digits = 0;
        for (; digits < 4 && is_digit(type[end + digits]); digits++)
            memory = 10 * memory + (uint32_t)(type[end + digits] - '0');
        end += digits;
        if (digits == 0 || (type[end] != 'g' && type[end] != 'G') ||
            (type[end + 1] != 'b' && type[end + 1] != 'B'))
            continue;
        *at = i;
        *parts = (uint32_t)(type[i] - '0');
        *gigabytes = memory;
        return *parts > 0 && *parts <= PARTS_OF_DEVICE;
    }
    return false;
}

static void
add_slices(sl_slurm_gres *out, const char *type, size_t at, uint32_t parts, uint32_t gigabytes,
           uint32_t count)
{
    if (out->slices == 0) {
        size_t length = at;
        while (length > 0 && !isalnum((unsigned char)type[length - 1]))
            length--;
        if (length >= 3 && strncmp(type + length - 3, "mig", 3) == 0)
            length -= 3;
        while (length > 0 && !isalnum((unsigned char)type[length - 1]))
            length--;
        memcpy(out->sliced_type, type, length);
        out->sliced_type[length] = '\0';
        (void)sl_text_copy(out->profile, sizeof out->profile, type + at);
    }
    /* An A30 has four parts of 6 GB each, every other device seven. */
    const uint32_t whole = gigabytes == 6 * parts ? PARTS_OF_A30 : PARTS_OF_DEVICE;
    out->slices += count;
    out->slice_parts += parts * count;
    out->sliced_devices = (out->slice_parts + whole - 1) / whole;
}

static void
add_devices(sl_slurm_gres *out, const char *type, uint32_t count)
{
    size_t at = 0;
    uint32_t parts = 0, gigabytes = 0;

    if (count == 0)
        return;
    if (count > SL_SLURM_DEVICES_MAX || out->devices + count > SL_SLURM_DEVICES_MAX ||
        out->slices + count > SL_SLURM_DEVICES_MAX) {
        out->odd = true;
        return;
    }
    if (find_profile(type, &at, &parts, &gigabytes)) {
        add_slices(out, type, at, parts, gigabytes, count);
        return;
    }
    uint32_t i = 0;
    while (i < out->type_count && !sl_text_equal(out->types[i].name, type))
        i++;
    if (i == SL_SLURM_TYPES_MAX) {
        out->odd = true;
        return;
    }
    if (i == out->type_count) {
        out->type_count++;
        (void)sl_text_copy(out->types[i].name, SL_SLURM_TYPE_SIZE, type);
    }
    out->types[i].count += count;
    out->devices += count;
}

/* The next entry up to a comma that stands in no parenthesis, "gpu:a100:4(S:0,2)" without what is
 * in it. False at the end of the text. */
static bool
next_entry(const char **at, char entry[ENTRY_SIZE], bool *cut, bool *open)
{
    size_t used = 0;
    bool inside = false;

    *cut = false;
    if (**at == '\0')
        return false;
    for (; **at != '\0' && (inside || **at != ','); (*at)++) {
        if (**at == '(')
            inside = true;
        if (!inside && !isspace((unsigned char)**at)) {
            *cut = *cut || used + 1 >= ENTRY_SIZE;
            if (used + 1 < ENTRY_SIZE)
                entry[used++] = **at;
        }
        if (**at == ')')
            inside = false;
    }
    *open = inside;
    if (**at == ',')
        (*at)++;
    entry[used] = '\0';
    return true;
}

/* "8", "2K". */
static bool
read_count(const char *text, uint32_t *out)
{
    uint64_t value = 0;
    size_t digits = 0;

    for (; is_digit(text[digits]); digits++)
        value = value > SL_SLURM_DEVICES_MAX ? value : 10 * value + (uint64_t)(text[digits] - '0');
    if (digits == 0 || (text[digits] != '\0' && strchr("KMGTP", text[digits]) == NULL))
        return false;
    if (text[digits] != '\0' && text[digits + 1] != '\0')
        return false;
    /* With a letter it is a thousand and more: no number of devices. */
    *out = text[digits] != '\0' ? SL_SLURM_DEVICES_MAX + 1 : (uint32_t)value;
    return true;
}

/* One entry, its parts between colons: name, "no_consume", type and number, all but the first may
 * be missing. */
static void
read_entry(char *entry, sl_slurm_gres *out)
{
    const char *fields[FIELDS_MAX];
    uint32_t count = 0, number = 1;

    for (char *at = entry; at != NULL && count < FIELDS_MAX;) {
        char *const colon = strchr(at, ':');
        if (colon != NULL)
            *colon = '\0';
        if (!sl_text_equal(at, "no_consume"))
            fields[count++] = at;
        at = colon == NULL ? NULL : colon + 1;
    }
    if (count == 0)
        return;
    const bool numbered = count > 1 && read_count(fields[count - 1], &number);
    const uint32_t named = numbered ? count - 1 : count;
    if (is_share(fields[0])) {
        out->shares += number <= SL_SLURM_DEVICES_MAX * SL_SLURM_DEVICES_MAX ? number : 0;
    } else if (sl_slurm_is_accelerator(fields[0])) {
        if (named > 2 || (named == 2 && strlen(fields[1]) >= SL_SLURM_TYPE_SIZE)) {
            out->odd = true;
            return;
        }
        out->uncounted = out->uncounted || !numbered;
        add_devices(out, named == 2 ? fields[1] : "", number);
    }
}

void
sl_slurm_gres_read(const char *text, sl_slurm_gres *out)
{
    assert(text != NULL && out != NULL);

    char entry[ENTRY_SIZE];
    bool cut = false;

    *out = (sl_slurm_gres){.devices = 0};
    while (next_entry(&text, entry, &cut, &out->open)) {
        if (cut)
            out->odd = true;
        else
            read_entry(entry, out);
    }
}

/* "gres/gpu:h100=8": cut into name, type and number. */
static bool
split_tres(char *entry, const char **name, const char **type, uint32_t *count)
{
    char *const equals = strchr(entry, '=');

    if (strncmp(entry, "gres/", 5) != 0 || equals == NULL || !read_count(equals + 1, count))
        return false;
    *equals = '\0';
    *name = entry + 5;
    char *const colon = strchr(entry, ':');
    *type = colon == NULL ? "" : colon + 1;
    if (colon != NULL)
        *colon = '\0';
    return strlen(*type) < SL_SLURM_TYPE_SIZE;
}

void
sl_slurm_tres_read(const char *text, sl_slurm_gres *out)
{
    assert(text != NULL && out != NULL);

    char entry[ENTRY_SIZE];
    bool cut = false;
    uint32_t total = 0;

    *out = (sl_slurm_gres){.devices = 0};
    while (next_entry(&text, entry, &cut, &out->open)) {
        const char *name = NULL, *type = NULL;
        uint32_t count = 0;
        if (cut || !split_tres(entry, &name, &type, &count))
            continue;
        if (is_share(name) && *type == '\0')
            out->shares += count <= SL_SLURM_DEVICES_MAX * SL_SLURM_DEVICES_MAX ? count : 0;
        else if (sl_slurm_is_accelerator(name) && *type == '\0')
            total = count > total ? count : total;
        else if (sl_slurm_is_accelerator(name))
            add_devices(out, type, count);
    }
    /* The number without a type holds those with one. */
    const uint32_t typed = out->devices + out->slices;
    if (total > typed)
        add_devices(out, "", total - typed);
}
