#include "codec/inventory/hosts.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/sort.h"
#include "base/text.h"

enum { BRACKETS_MAX = 8, DIGITS_MAX = 9, ENTRY_BYTES = 1024 * 1024 };

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
read_number(const char **at, uint64_t *out)
{
    const char *const start = *at;
    uint64_t value = 0;

    for (; is_digit(**at); (*at)++) {
        if (*at - start >= DIGITS_MAX)
            return false;
        value = value * 10 + (uint64_t)(**at - '0');
    }
    *out = value;
    return *at > start;
}

/* One number or range of a bracket: *at ends behind it. */
typedef struct range {
    uint64_t from, to;
    int width; /* digits of the first */
} range;

static bool
read_range(const char **at, range *out)
{
    const char *const start = *at;

    if (!read_number(at, &out->from))
        return false;
    out->width = (int)(*at - start);
    out->to = out->from;
    if (**at != '-')
        return true;
    (*at)++;
    return read_number(at, &out->to) && out->to >= out->from;
}

/* "[001-032,040]": how many numbers; *at ends behind the bracket. */
static bool
count_bracket(const char **at, uint64_t *count)
{
    *count = 0;
    do {
        range numbers;
        (*at)++; /* '[' or ',' */
        if (!read_range(at, &numbers))
            return false;
        *count += numbers.to - numbers.from + 1;
    } while (**at == ',');
    if (**at != ']')
        return false;
    (*at)++;
    return true;
}

/* How many beyond the bound there are is of no use to anybody. */
static uint64_t
at_most_too_many(uint64_t count)
{
    return count > SL_HOSTS_MAX ? SL_HOSTS_MAX + 1 : count;
}

/* An entry up to its comma or the end: how many names, one over the bound where there are more, and
 * where it ends. */
static bool
count_entry(const char **at, uint64_t *count)
{
    const char *const start = *at;
    uint32_t brackets = 0;
    size_t letters = 0;

    *count = 1;
    while (**at != '\0' && **at != ',') {
        uint64_t numbers = 0;
        /* Blanks and control characters are of no name. */
        if (**at == ']' || (unsigned char)**at <= ' ' || **at == 0x7F)
            return false;
        if (**at != '[') {
            (*at)++;
            letters++;
            continue;
        }
        if (++brackets > BRACKETS_MAX || !count_bracket(at, &numbers))
            return false;
        *count = at_most_too_many(*count * at_most_too_many(numbers));
    }
    return *at > start && letters + (size_t)brackets * DIGITS_MAX <= SL_HOST_NAME_MAX;
}

/* The same of all entries; false where one is none. */
static bool
count_entries(const char *list, uint64_t *total)
{
    *total = 0;
    for (const char *at = list;; at++) {
        uint64_t names = 0;
        if (!count_entry(&at, &names))
            return false;
        *total = at_most_too_many(*total + names);
        if (*at == '\0')
            return true;
    }
}

bool
sl_hosts_count(const char *list, uint64_t *count)
{
    assert(list != NULL && count != NULL);

    uint64_t total = 0;
    if (!count_entries(list, &total) || total > SL_HOSTS_MAX)
        return false;
    *count = total;
    return true;
}

bool
sl_hosts_too_many(const char *list)
{
    assert(list != NULL);

    uint64_t total = 0;
    return count_entries(list, &total) && total > SL_HOSTS_MAX;
}

/* A bracket while its entry is counted through: which number it stands at. */
typedef struct wheel {
    const char *first;  /* behind '[' */
    const char *next;   /* behind the range it is in: ',' or ']' */
    const char *behind; /* behind its ']' */
    range now;
    uint64_t number;
} wheel;

static void
wheel_reset(wheel *w)
{
    const char *at = w->first;
    const bool read = read_range(&at, &w->now);
    assert(read);
    w->next = at;
    w->number = w->now.from;
}

/* To the next number; false, and back at the first one, when there is none. */
static bool
wheel_turn(wheel *w)
{
    if (w->number < w->now.to) {
        w->number++;
        return true;
    }
    if (*w->next == ',') {
        const char *at = w->next + 1;
        const bool read = read_range(&at, &w->now);
        assert(read);
        w->next = at;
        w->number = w->now.from;
        return true;
    }
    wheel_reset(w);
    return false;
}

/* The name that the wheels stand at. */
static void
spell(const char *entry, const char *end, const wheel *wheels, char name[SL_HOST_NAME_MAX + 1])
{
    size_t size = 0;

    for (const char *at = entry; at < end;) {
        if (*at != '[') {
            name[size++] = *at++;
            continue;
        }
        const bool fits = sl_text_format(name + size, SL_HOST_NAME_MAX + 1 - size, "%0*" PRIu64,
                                         wheels->now.width, wheels->number);
        assert(fits);
        size += strlen(name + size);
        at = wheels->behind;
        wheels++;
    }
    name[size] = '\0';
}

static sl_code
visit_entry(const char *entry, const char *end, sl_host_visit visit, void *context, sl_errors *err)
{
    wheel wheels[BRACKETS_MAX] = {{0}};
    uint32_t count = 0;
    char name[SL_HOST_NAME_MAX + 1];

    for (const char *at = entry; at < end;) {
        if (*at++ != '[')
            continue;
        assert(count < BRACKETS_MAX);
        wheel *const w = &wheels[count++];
        w->first = at;
        w->behind = at + strcspn(at, "]") + 1;
        wheel_reset(w);
        at = w->behind;
    }
    for (;;) {
        spell(entry, end, wheels, name);
        const sl_code code = visit(context, name, err);
        if (code != SL_OK)
            return code;
        uint32_t turning = count;
        while (turning > 0 && !wheel_turn(&wheels[turning - 1]))
            turning--;
        if (turning == 0)
            return SL_OK;
    }
}

sl_code
sl_hosts_each(const char *list, sl_host_visit visit, void *context, sl_errors *err)
{
    assert(list != NULL && visit != NULL && err != NULL);

    uint64_t ignored = 0;
    if (sl_hosts_too_many(list))
        return sl_fail(err, SL_E_RANGE, "too_many", "",
                       "must stand for at most %d hosts, got \"%.60s\"", SL_HOSTS_MAX, list);
    if (!sl_hosts_count(list, &ignored)) {
        const sl_code code = sl_fail(err, SL_E_RANGE, "malformed_hosts", "",
                                     "must be host names and ranges, got \"%.60s\"", list);
        sl_hint(err, "gpu[001-032]");
        return code;
    }
    for (const char *at = list;;) {
        const char *const entry = at;
        (void)count_entry(&at, &ignored);
        const sl_code code = visit_entry(entry, at, visit, context, err);
        if (code != SL_OK || *at == '\0')
            return code;
        at++;
    }
}

int
sl_hosts_compare(const void *a, const void *b)
{
    const char *x = *(const char *const *)a;
    const char *y = *(const char *const *)b;

    for (;;) {
        if (is_digit(*x) && is_digit(*y)) {
            const char *const from_x = x, *const from_y = y;
            while (*x == '0')
                x++;
            while (*y == '0')
                y++;
            const size_t digits_x = strspn(x, "0123456789");
            const size_t digits_y = strspn(y, "0123456789");
            if (digits_x != digits_y)
                return digits_x < digits_y ? -1 : 1;
            const int order = memcmp(x, y, digits_x);
            if (order != 0)
                return order;
            x += digits_x;
            y += digits_y;
            /* 7 and 007: the shorter first, so that the order is total. */
            if (x - from_x != y - from_y)
                return x - from_x < y - from_y ? -1 : 1;
        } else if (*x != *y) {
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        } else if (*x == '\0') {
            return 0;
        } else {
            x++;
            y++;
        }
    }
}

/* Names that differ in one number only: where it begins, and what follows it. */
typedef struct family {
    size_t prefix;
    const char *suffix;
    size_t width; /* of a padded number; 0: as short as can be */
} family;

/* The number of `name` in the family, if it is one of it. */
static bool
member_of(const family *f, const char *first, const char *name, uint64_t *number)
{
    if (strncmp(first, name, f->prefix) != 0)
        return false;
    const char *at = name + f->prefix;
    const size_t digits = strspn(at, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || !sl_text_equal(at + digits, f->suffix))
        return false;
    if (f->width > 0 ? digits != f->width : *at == '0' && digits > 1)
        return false;
    return read_number(&at, number);
}

/* The family of two neighbours, if they are of one. */
static bool
found_family(const char *a, const char *b, family *out)
{
    size_t same = 0;
    while (a[same] != '\0' && a[same] == b[same])
        same++;
    while (same > 0 && is_digit(a[same - 1]))
        same--;
    const size_t digits = strspn(a + same, "0123456789");
    uint64_t ignored = 0;
    *out = (family){.prefix = same,
                    .suffix = a + same + digits,
                    .width = a[same] == '0' && digits > 1 ? digits : 0};
    return member_of(out, a, a, &ignored) && member_of(out, a, b, &ignored);
}

/* From names[at] on as many as are of one family, as one entry; returns how many they are. */
static size_t
write_entry(const char *const *names, size_t count, size_t at, sl_buffer *out)
{
    family f;
    size_t used = 0;
    uint64_t from = 0, next = 0;

    if (at + 1 >= count || !found_family(names[at], names[at + 1], &f)) {
        sl_buffer_text(out, names[at]);
        return 1;
    }
    sl_buffer_append(out, names[at], f.prefix);
    for (char before = '['; at + used < count && member_of(&f, names[at], names[at + used], &from);
         before = ',') {
        uint64_t to = from;
        for (used++; at + used < count && member_of(&f, names[at], names[at + used], &next) &&
                     next == to + 1;
             used++)
            to = next;
        sl_buffer_format(out, "%c%0*" PRIu64, before, (int)f.width, from);
        if (to > from)
            sl_buffer_format(out, "-%0*" PRIu64, (int)f.width, to);
    }
    sl_buffer_format(out, "]%s", f.suffix);
    return used;
}

sl_code
sl_hosts_compress(const char **names, size_t count, sl_arena *arena, const char *const **entries,
                  size_t *entry_count, sl_errors *err)
{
    assert((names != NULL || count == 0) && arena != NULL && entries != NULL &&
           entry_count != NULL && err != NULL);

    const char **const made = sl_arena_alloc(arena, count > 0 ? count : 1, sizeof *made);
    size_t used = 0;
    sl_buffer text;
    bool failed = made == NULL;

    sl_sort(names, count, sizeof *names, sl_hosts_compare);
    sl_buffer_init(&text, ENTRY_BYTES);
    for (size_t at = 0; at < count && !failed;) {
        text.size = 0;
        at += write_entry(names, count, at, &text);
        made[used] = text.failed ? NULL : sl_arena_copy_bytes(arena, text.data, text.size);
        failed = made[used++] == NULL;
    }
    sl_buffer_clear(&text);
    if (failed)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the list of hosts is too long");
    *entries = made;
    *entry_count = used;
    return SL_OK;
}
