/* Where hosts of a pool are not equal, as one source sees them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/host_join.h"

/* What a source says of one field of a host. */
typedef struct word {
    uint32_t pool;
    const sl_joined_kind *kind;
    const sl_joined_fact *fact; /* of the kind */
    const char *host;
} word;

static int
compare_facts(const sl_joined_fact *a, const sl_joined_fact *b)
{
    if (a->text != NULL && b->text != NULL)
        return strcmp(a->text, b->text);
    if (a->text != NULL || b->text != NULL)
        return a->text != NULL ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Words of one source about one pool stand together, and among them those that say the same. */
static int
by_value(const void *a, const void *b)
{
    const word *const x = a;
    const word *const y = b;
    int order = (x->pool > y->pool) - (x->pool < y->pool);
    if (order == 0)
        order = strcmp(x->fact->source, y->fact->source);
    if (order == 0)
        order = compare_facts(x->fact, y->fact);
    return order != 0 ? order : strcmp(x->host, y->host);
}

static bool
same_side(const word *a, const word *b)
{
    return a->pool == b->pool && sl_text_equal(a->fact->source, b->fact->source);
}

/* How many words from here on say the same. */
static uint32_t
run_of(const word *words, uint32_t count)
{
    uint32_t run = 1;
    while (run < count && same_side(words, &words[run]) &&
           compare_facts(words->fact, words[run].fact) == 0)
        run++;
    return run;
}

/* Other words for the same thing: two names of the pool's part, nearly as much memory. */
static bool
mean_the_same(const sl_host_status *status, uint32_t field, const word *a, const word *b)
{
    const char *const part = status->pools[a->pool].accelerator;
    if (field == SL_COMPARED_ACCELERATOR)
        return part != NULL && sl_join_may_be(a->kind, part) && sl_join_may_be(b->kind, part);
    return a->fact->text == NULL && b->fact->text == NULL &&
           sl_join_near(field, a->fact->number, b->fact->number);
}

static sl_code
add(sl_host_status *status, uint32_t field, const word *words, uint32_t run, const word *usual,
    uint32_t alike, sl_errors *err)
{
    if (status->unequal_count == SL_CONTRADICTIONS_MAX)
        return SL_OK;
    const char **const hosts = sl_arena_alloc(status->arena, run, sizeof *hosts);
    if (hosts == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");
    for (uint32_t i = 0; i < run; i++)
        hosts[i] = words[i].host;
    status->unequal[status->unequal_count++] =
        (sl_contradiction){.pool = status->pools[words->pool].hosts.name,
                           .field = sl_compared_fields[field],
                           .expected_text = usual->fact->text,
                           .expected_number = usual->fact->number,
                           .alike = alike,
                           .observed = words->fact,
                           .hosts = hosts,
                           .host_count = run};
    return SL_OK;
}

/* Words of one source about one pool: the value of most is the usual one, the first of several. */
static sl_code
compare_side(sl_host_status *status, uint32_t field, const word *words, uint32_t count,
             sl_errors *err)
{
    const word *usual = words;
    uint32_t alike = 0;
    for (uint32_t at = 0, run; at < count; at += run) {
        run = run_of(&words[at], count - at);
        if (run <= alike)
            continue;
        usual = &words[at];
        alike = run;
    }
    sl_code code = SL_OK;
    for (uint32_t at = 0, run; at < count && code == SL_OK; at += run) {
        run = run_of(&words[at], count - at);
        if (&words[at] != usual && !mean_the_same(status, field, &words[at], usual))
            code = add(status, field, &words[at], run, usual, alike, err);
    }
    return code;
}

/* What contradicts the spec is told with the contradictions. */
static uint32_t
gather(const sl_host_status *status, uint32_t field, word *words)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < status->host_count; i++) {
        const sl_joined_host *const host = &status->hosts[i];
        if (host->pool == SL_NO_POOL || sl_join_contradicted(status, host, field))
            continue;
        for (const sl_joined_said *at = host->said; at != NULL; at = at->before)
            if (at->kind->facts[field] != NULL)
                words[count++] = (word){.pool = host->pool,
                                        .kind = at->kind,
                                        .fact = at->kind->facts[field],
                                        .host = host->name};
    }
    return count;
}

static sl_code
compare_field(sl_host_status *status, uint32_t field, word *words, sl_errors *err)
{
    const uint32_t count = gather(status, field, words);
    sl_code code = SL_OK;
    if (count > 1)
        qsort(words, count, sizeof *words, by_value);
    for (uint32_t at = 0, side; at < count && code == SL_OK; at += side) {
        side = 1;
        while (at + side < count && same_side(&words[at], &words[at + side]))
            side++;
        code = compare_side(status, field, &words[at], side, err);
    }
    return code;
}

sl_code
sl_join_unequal(sl_host_status *status, sl_errors *err)
{
    assert(status != NULL && err != NULL);

    size_t room = 1;
    for (uint32_t i = 0; i < status->host_count; i++)
        room += status->hosts[i].said_count;
    word *const words = sl_arena_alloc(status->arena, room, sizeof *words);
    if (words == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");
    sl_code code = SL_OK;
    for (uint32_t field = 0; field < SL_COMPARED_COUNT && code == SL_OK; field++)
        code = compare_field(status, field, words, err);
    return code;
}
