#include "engine/check/hints.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/check/choices.h"
#include "shardline/words.h"

/* More than a hint has room for. */
enum { HINT_SIZE = sizeof((sl_error *)0)->hint, NAMED_MAX = HINT_SIZE / 3 };

/* What becomes of a fault, and of all else, when a hint is followed; the better the later. */
typedef enum standing {
    STANDS,
    ASTRAY, /* mended, with a cut that the cluster cannot be shared by: its hint names no one field */
    BREAKING, /* mended, and something else is at fault that was not */
    UNEVEN,   /* mended, with stages that are not equal */
    MENDED,
    LEGAL /* nothing is at fault any more */
} standing;

const char *const sl_hints_attention[SL_ATTENTION_KERNEL_COUNT] = {
    [SL_ATTENTION_UNFUSED] = "unfused", [SL_ATTENTION_FLASH1] = "flash1",
    [SL_ATTENTION_FLASH2] = "flash2",   [SL_ATTENTION_FLASH3] = "flash3",
    [SL_ATTENTION_CUDNN] = "cudnn",     [SL_ATTENTION_EFFICIENT] = "efficient",
};

/* The place of a word in a list; `count` when it has none. */
static uint32_t
place_of(const char *word, const char *const *list, uint32_t count)
{
    uint32_t i = 0;

    while (i < count && strcmp(list[i], word) != 0)
        i++;
    return i;
}

static const char *
name_of(const char *pointer)
{
    const char *name = pointer;

    for (const char *at = pointer; *at != '\0'; at++)
        if (*at == '/')
            name = at + 1;
    return name;
}

static bool
set_number(sl_question *q, const char *name, uint64_t value)
{
    const sl_choice field = (sl_choice)place_of(name, sl_choice_names, SL_CHOICE_COUNT);
    const sl_schedule asked = q->plan.schedule;

    if (strcmp(name, "data") == 0)
        q->plan.data = (uint32_t)value;
    else if (field != SL_CHOICE_COUNT)
        sl_choice_set(q, field, value);
    else if (strcmp(name, "shard_group") == 0)
        q->plan.shard_group = (uint32_t)value;
    else if (strcmp(name, "expert_tensor") == 0)
        q->plan.expert_tensor = (uint32_t)value;
    else if (strcmp(name, "global_batch_size") == 0)
        q->workload.global_batch = value;
    else
        return false;
    if (q->schedule_fixed)
        q->plan.schedule = asked;
    if (field == SL_CHOICE_TENSOR || field == SL_CHOICE_PIPELINE || field == SL_CHOICE_CONTEXT)
        (void)sl_choice_derive(q);
    return true;
}

static bool
set_word(sl_question *q, const char *name, const char *word)
{
    const uint32_t framework = place_of(word, sl_framework_words, SL_FRAMEWORK_COUNT);
    const uint32_t schedule = place_of(word, sl_schedule_words, SL_SCHEDULE_COUNT);
    const uint32_t kind = place_of(word, sl_context_words, SL_CONTEXT_COUNT);
    const uint32_t precision = place_of(word, sl_precision_words, SL_PRECISION_COUNT);
    const uint32_t attention = place_of(word, sl_hints_attention, SL_ATTENTION_KERNEL_COUNT);

    if (strcmp(name, "framework") == 0 && framework < SL_FRAMEWORK_COUNT)
        q->workload.framework = (sl_framework)framework;
    else if (strcmp(name, "schedule") == 0 && schedule < SL_SCHEDULE_COUNT)
        q->plan.schedule = (sl_schedule)schedule;
    else if (strcmp(name, "context_kind") == 0 && kind < SL_CONTEXT_COUNT)
        q->plan.context_kind = (sl_context_kind)kind;
    else if (strcmp(name, "precision") == 0 && precision < SL_PRECISION_COUNT)
        q->workload.precision = (sl_precision)precision;
    else if (strcmp(name, "attention") == 0 && attention < SL_ATTENTION_KERNEL_COUNT)
        q->workload.attention = (sl_attention_kernel)attention;
    else
        return false;
    return true;
}

/* A number of few digits. */
static bool
read_number(const char *text, uint64_t *out)
{
    const size_t length = strlen(text);

    *out = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        *out = 10 * *out + (uint64_t)(*text - '0');
    return length > 0 && length <= 18 && *text == '\0';
}

static bool
set_value(sl_question *q, const char *name, const char *value)
{
    uint64_t number = 0;

    return read_number(value, &number) ? set_number(q, name, number) : set_word(q, name, value);
}

/* Ends a text before a word, and returns what is behind that; NULL, and the text as it was, without
 * it. */
static char *
cut_at(char *text, const char *word)
{
    const size_t length = strlen(word);

    for (char *at = strchr(text, *word); at != NULL; at = strchr(at + 1, *word))
        if (strncmp(at, word, length) == 0) {
            *at = '\0';
            return at + length;
        }
    return NULL;
}

/* Does what an alternative says; false, and anything, when it is not understood. */
static bool
follow(const char *words, const char *pointer, sl_question *q)
{
    char text[HINT_SIZE];
    char *next = NULL;

    assert(strlen(words) < sizeof text);
    memcpy(text, words, strlen(words) + 1);
    for (char *part = text; part != NULL; part = next) {
        next = cut_at(part, " with ");
        char *const space = strchr(part, ' ');
        if (space != NULL)
            *space = '\0';
        if (!set_value(q, space == NULL ? name_of(pointer) : part,
                       space == NULL ? part : space + 1))
            return false;
    }
    return true;
}

static bool
has_fault(const sl_errors *err, const sl_error *fault)
{
    for (uint32_t i = 0; i < err->count; i++)
        if (strcmp(err->list[i].rule, fault->rule) == 0 &&
            strcmp(err->list[i].pointer, fault->pointer) == 0)
            return true;
    return false;
}

/* A question whose check found `now`, of which `fault` is looked at. */
typedef struct refusal {
    const sl_question *question;
    const sl_errors *now;
    const sl_error *fault;
} refusal;

static standing
stand_with(const refusal *r, const sl_question *tried)
{
    sl_errors then;
    bool breaks = false, astray = false;

    sl_errors_begin(&then, true);
    const sl_code code = sl_question_check(tried, &then);
    if (has_fault(&then, r->fault))
        return STANDS;
    for (uint32_t i = 0; i < then.count; i++) {
        if (has_fault(r->now, &then.list[i]))
            continue;
        if (strcmp(then.list[i].pointer, r->fault->pointer) == 0)
            return STANDS; /* another rule has none of the value */
        breaks = true;
        astray = astray || strcmp(then.list[i].pointer, "/parallelism") == 0;
    }
    if (breaks)
        return astray ? ASTRAY : BREAKING;
    return sl_choice_is_uneven(r->question, tried) ? UNEVEN : code == SL_OK ? LEGAL : MENDED;
}

/* What there is to do: values of the field at fault, those of the best standing that any has; and
 * what the rule named. */
typedef struct alternatives {
    uint64_t values[SL_CHOICES_MAX];
    uint32_t value_count;
    standing of_values;
    char hint[HINT_SIZE]; /* cut up */
    struct named {
        const char *words;
        bool otherwise; /* "or" before it */
        standing own;
    } named[NAMED_MAX];
    uint32_t named_count;
    standing best;
} alternatives;

static void
find_values(const refusal *r, sl_choice field, alternatives *all)
{
    const uint64_t last = sl_choice_last(r->question, field);

    all->of_values = ASTRAY;
    for (uint64_t value = sl_choice_first(field); value <= last; value++) {
        sl_question tried = *r->question;
        (void)set_number(&tried, sl_choice_names[field], value);
        const standing own = stand_with(r, &tried);
        if (own > all->of_values)
            all->value_count = 0;
        if (own < all->of_values || all->value_count == SL_CHOICES_MAX)
            continue;
        all->of_values = own;
        all->values[all->value_count++] = value;
    }
    if (all->value_count > 0)
        all->best = all->of_values;
}

/* What is not understood is taken to mend. */
static void
find_named(const refusal *r, alternatives *all)
{
    static const char either[] = "or ";
    char *next = NULL;

    memcpy(all->hint, r->fault->hint, sizeof all->hint);
    for (char *at = all->hint; at != NULL && *at != '\0'; at = next) {
        struct named *const named = &all->named[all->named_count];
        sl_question tried = *r->question;
        next = cut_at(at, ", ");
        named->otherwise = strncmp(at, either, sizeof either - 1) == 0;
        named->words = named->otherwise ? at + sizeof either - 1 : at;
        named->own =
            follow(named->words, r->fault->pointer, &tried) ? stand_with(r, &tried) : MENDED;
        all->named_count += named->own != STANDS && all->named_count + 1 < NAMED_MAX;
        all->best = named->own > all->best ? named->own : all->best;
    }
}

/* Of the error appended last "1, 2, or framework fsdp2", less what breaks where something does not;
 * "..." for what has no room. */
static void
write_hint(const alternatives *all, sl_errors *err)
{
    static const char rest[] = ", ...";
    sl_error *const fault = &err->list[err->count - 1];
    char before[HINT_SIZE];

    fault->hint[0] = '\0';
    if (all->of_values > BREAKING || all->of_values == all->best)
        sl_hint_values(err, all->values, all->value_count);
    for (uint32_t i = 0; i < all->named_count; i++) {
        const struct named *one = &all->named[i];
        if (one->own <= BREAKING && one->own < all->best)
            continue;
        memcpy(before, fault->hint, sizeof before);
        const char *join = *before == '\0' ? "" : one->otherwise ? ", or " : ", ";
        const size_t kept = i + 1 < all->named_count ? sizeof rest : 1;
        if (strlen(before) + strlen(join) + strlen(one->words) + kept > sizeof before) {
            sl_hint(err, "%s%s", before, rest);
            return;
        }
        sl_hint(err, "%s%s%s", before, join, one->words);
    }
}

void
sl_hints_follow(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_errors now = *err;

    sl_errors_begin(err, false);
    for (uint32_t i = 0; i < now.count; i++) {
        const refusal r = {question, &now, &now.list[i]};
        const sl_choice field =
            (sl_choice)place_of(name_of(r.fault->pointer), sl_choice_names, SL_CHOICE_COUNT);
        const bool open = *r.fault->hint == '\0' || strncmp(r.fault->hint, "or ", 3) == 0;
        alternatives all = {.value_count = 0};
        if (open && field != SL_CHOICE_COUNT && field != SL_CHOICE_DATA)
            find_values(&r, field, &all);
        find_named(&r, &all);
        err->list[err->count++] = *r.fault;
        write_hint(&all, err);
    }
    err->dropped = now.dropped;
}
