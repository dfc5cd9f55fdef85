#include "http/accept.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* One entry of a list. */
typedef struct entry {
    const char *name;
    size_t length;
    uint32_t weight; /* in thousandths, as fine as they may be; 0: not taken */
} entry;

enum { WHOLE = 1000 };

/* "1", "0.5", "0.001"; 0 for what is none of these. */
static uint32_t
weight_read(const char *text, const char *end)
{
    if (text < end && *text >= '1' && *text <= '9')
        return WHOLE;
    const char *at = text < end && *text == '0' ? text + 1 : text;
    uint32_t weight = 0;
    if (at == end || *at != '.')
        return 0;
    at++;
    for (uint32_t digit = WHOLE / 10; digit > 0 && at < end && *at >= '0' && *at <= '9'; at++) {
        weight += digit * (uint32_t)(*at - '0');
        digit /= 10;
    }
    return weight;
}

/* Of the parameters of one entry, ";" and all. */
static uint32_t
weight_of(const char *parameters, const char *end)
{
    for (const char *at = parameters; at < end;) {
        at += strspn(at, "; \t");
        if (end - at >= 2 && (at[0] == 'q' || at[0] == 'Q') && at[1] == '=')
            return weight_read(at + 2, end);
        at += strcspn(at, ";,");
    }
    return WHOLE;
}

/* Takes the entry at *at and moves behind it; false at the end. */
static bool
next(const char **at, entry *out)
{
    const char *const name = *at + strspn(*at, ", \t");
    const char *const end = name + strcspn(name, ",");

    if (*name == '\0')
        return false;
    const size_t length = strcspn(name, ",; \t");
    *out = (entry){.name = name, .length = length, .weight = weight_of(name + length, end)};
    *at = end;
    return true;
}

static bool
is_named(const entry *e, const char *name)
{
    return e->length == strlen(name) && strncasecmp(e->name, name, e->length) == 0;
}

int
sl_accept_choose(const char *accept, const char *const *types, size_t count)
{
    assert(accept != NULL && types != NULL);

    int chosen = -1;
    uint32_t most = 0;
    for (entry e; next(&accept, &e);)
        for (size_t i = 0; i < count; i++)
            if (e.weight > most && is_named(&e, types[i])) {
                chosen = (int)i;
                most = e.weight;
            }
    return chosen;
}

bool
sl_accept_gzip(const char *accept_encoding)
{
    assert(accept_encoding != NULL);

    bool any = false;
    for (entry e; next(&accept_encoding, &e);) {
        if (is_named(&e, "gzip"))
            return e.weight > 0;
        if (is_named(&e, "*"))
            any = e.weight > 0;
    }
    return any;
}
