#include "intake/part_names.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "shardline/units.h"

/* Sizes that people state are rounder than what tools print. */
static const double STATED_SHARE =
    0.12; /* GB for GiB is 7 %, and the next size is 25 % away or more */

bool
sl_part_is_stated(double stated_bytes, const sl_part *part)
{
    assert(part != NULL);

    const double has = (double)part->accelerator.memory_bytes;
    return stated_bytes <= 0 || fabs(stated_bytes - has) <= STATED_SHARE * has;
}

/* Where the last word of a name begins that says a memory, "80" of "h100-80", "40gb" of
 * "a100.40gb": behind the end where none does. *bytes: what it says. */
static size_t
size_word(const char *name, double *bytes)
{
    enum { DIGITS_MAX = 3 };
    const size_t end = strlen(name);
    size_t at = end;

    if (at > 0 && tolower((unsigned char)name[at - 1]) == 'b')
        at--;
    if (at > 0 && tolower((unsigned char)name[at - 1]) == 'g')
        at--;
    else
        at = end; /* a "b" alone is no unit */
    const size_t behind = at;
    double gigabytes = 0.0;
    while (at > 0 && isdigit((unsigned char)name[at - 1]))
        at--;
    if (at == behind || behind - at > DIGITS_MAX || at < 2 || strchr("-_. :", name[at - 1]) == NULL)
        return end;
    for (size_t i = at; i < behind; i++)
        gigabytes = 10.0 * gigabytes + (name[i] - '0');
    *bytes = gigabytes * SL_GIB_BYTES;
    return at - 1;
}

static void
find_candidates(const sl_catalog *catalog, const char *name, sl_part_name *out)
{
    out->candidate_count =
        sl_catalog_candidates(catalog, name, out->candidates, SL_PART_CANDIDATES_MAX, &out->near);
}

/* Names of sites end in a memory, "a100-80", that tells the parts of a name apart. One that no part
 * fits is none: "rtx-6000", "h100-3". */
static void
take_memory(const sl_catalog *catalog, const char *name, sl_part_name *out)
{
    char text[SL_PART_NAME_SIZE];
    double bytes = 0.0;
    bool fits = false;

    const size_t length = size_word(name, &bytes);
    if (bytes <= 0 || length >= sizeof text)
        return;
    memcpy(text, name, length);
    text[length] = '\0';
    sl_part_name without = *out;
    if (out->near || out->candidate_count == 0)
        find_candidates(catalog, text, &without);
    for (uint32_t i = 0; i < without.candidate_count && !without.near; i++)
        fits = fits || sl_part_is_stated(bytes, without.candidates[i]);
    if (!fits)
        return;
    *out = without;
    out->bytes = bytes;
}

const sl_part_name *
sl_part_names_find(sl_part_names *names, const char *name)
{
    assert(names != NULL && names->catalog != NULL && name != NULL);

    const uint32_t kept = names->used < SL_PART_NAMES_KEPT ? names->used : SL_PART_NAMES_KEPT;
    for (uint32_t i = 0; i < kept && *name != '\0'; i++)
        if (sl_text_equal(names->kept[i].name, name))
            return &names->kept[i];
    sl_part_name *const found = &names->kept[names->used++ % SL_PART_NAMES_KEPT];
    *found = (sl_part_name){.near = false};
    if (strlen(name) < sizeof found->name)
        (void)sl_text_copy(found->name, sizeof found->name, name);
    find_candidates(names->catalog, name, found);
    take_memory(names->catalog, name, found);
    return found;
}

const sl_part_name *
sl_part_names_find_counted(sl_part_names *names, const char *name)
{
    const sl_part_name *const plain = sl_part_names_find(names, name);
    char text[SL_PART_NAME_SIZE];

    if (plain->near || plain->candidate_count != 1 ||
        !sl_text_format(text, sizeof text, "gpu:%s", name))
        return plain;
    const sl_part_name *const counted = sl_part_names_find(names, text);
    return counted->near || counted->candidate_count == 0 || sl_part_names_share(plain, counted)
               ? plain
               : counted;
}

bool
sl_part_names_share(const sl_part_name *a, const sl_part_name *b)
{
    assert(a != NULL && b != NULL);

    if (a->bytes > 0 && b->bytes > 0 && a->bytes != b->bytes)
        return false;
    for (uint32_t i = 0; i < a->candidate_count; i++)
        for (uint32_t j = 0; j < b->candidate_count; j++)
            if (a->candidates[i] == b->candidates[j])
                return true;
    return false;
}

bool
sl_part_names_have(const sl_part_names *names, double stated_bytes)
{
    assert(names != NULL && names->catalog != NULL);

    for (uint32_t i = 0; i < sl_catalog_part_count(names->catalog); i++)
        if (sl_part_is_stated(stated_bytes, sl_catalog_part(names->catalog, i)))
            return true;
    return false;
}

double
sl_part_name_bytes(const char *name)
{
    assert(name != NULL);

    const size_t length = strlen(name);
    double bytes = 0.0;
    (void)size_word(name, &bytes);
    return length > 0 && tolower((unsigned char)name[length - 1]) == 'b' ? bytes : 0.0;
}

bool
sl_part_name_is_short(const char *name)
{
    enum { DIGITS_MAX = 3 };
    assert(name != NULL);

    if (!isalpha((unsigned char)*name))
        return false;
    const size_t digits = strspn(name + 1, "0123456789");
    const char *const behind = name + 1 + digits;
    return digits > 0 && digits <= DIGITS_MAX &&
           (*behind == '\0' || (isalpha((unsigned char)*behind) && behind[1] == '\0'));
}
