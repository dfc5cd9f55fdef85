#include "engine/check/hints.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/check/choices.h"

/* More alternatives than a hint has room for. */
enum {
    HINT_SIZE = sizeof((sl_error *)0)->hint,
    ALTERNATIVES_MAX = HINT_SIZE / 2,
    NUMBER_SIZE = 24
};

/* What becomes of a fault, and of all else, when a hint is followed; the better the later. */
typedef enum standing {
    STANDS,
    BREAKING, /* mended, and something else is at fault that was not */
    UNEVEN,   /* mended, with stages that are not equal */
    MENDED,
    LEGAL /* nothing is at fault any more */
} standing;

const char *const sl_hints_attention[SL_ATTENTION_KERNEL_COUNT] = {
    [SL_ATTENTION_UNFUSED] = "unfused", [SL_ATTENTION_FLASH1] = "flash1",
    [SL_ATTENTION_FLASH2] = "flash2",   [SL_ATTENTION_FLASH3] = "flash3",
    [SL_ATTENTION_CUDNN] = "cudnn",
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
    const char *slash = strrchr(pointer, '/');

    return slash == NULL ? pointer : slash + 1;
}

static bool
set_number(sl_question *q, const char *name, uint64_t value)
{
    const sl_choice field = (sl_choice)place_of(name, sl_choice_names, SL_CHOICE_COUNT);

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
    if (field == SL_CHOICE_TENSOR || field == SL_CHOICE_PIPELINE || field == SL_CHOICE_CONTEXT)
        (void)sl_choice_derive(q);
    return true;
}

static bool
set_word(sl_question *q, const char *name, const char *word)
{
    static const char *const frameworks[] = {[SL_FRAMEWORK_MEGATRON] = "megatron",
                                             [SL_FRAMEWORK_DDP] = "ddp",
                                             [SL_FRAMEWORK_DP] = "dp",
                                             [SL_FRAMEWORK_FSDP1] = "fsdp1",
                                             [SL_FRAMEWORK_DEEPSPEED] = "deepspeed",
                                             [SL_FRAMEWORK_FSDP2] = "fsdp2"};
    static const char *const schedules[] = {
        [SL_SCHEDULE_NAIVE] = "naive", [SL_SCHEDULE_GPIPE] = "gpipe",
        [SL_SCHEDULE_1F1B] = "1f1b",   [SL_SCHEDULE_INTERLEAVED_1F1B] = "interleaved_1f1b",
        [SL_SCHEDULE_ZB_H1] = "zb_h1", [SL_SCHEDULE_ZB_H2] = "zb_h2",
        [SL_SCHEDULE_ZB_V] = "zb_v",   [SL_SCHEDULE_DUALPIPE] = "dualpipe"};
    static const char *const kinds[] = {[SL_CONTEXT_RING] = "p2p",
                                        [SL_CONTEXT_EXCHANGE] = "a2a",
                                        [SL_CONTEXT_GATHER] = "allgather"};
    static const char *const precisions[] = {
        [SL_PRECISION_BF16] = "bf16",  [SL_PRECISION_FP16] = "fp16", [SL_PRECISION_TF32] = "tf32",
        [SL_PRECISION_FP32] = "fp32",  [SL_PRECISION_FP8] = "fp8",   [SL_PRECISION_MXFP8] = "mxfp8",
        [SL_PRECISION_NVFP4] = "nvfp4"};
    _Static_assert(sizeof precisions / sizeof precisions[0] == SL_PRECISION_COUNT, "one for each");
    _Static_assert(sizeof frameworks / sizeof frameworks[0] == SL_FRAMEWORK_COUNT, "one for each");
    _Static_assert(sizeof schedules / sizeof schedules[0] == SL_SCHEDULE_COUNT, "one for each");
    _Static_assert(sizeof kinds / sizeof kinds[0] == SL_CONTEXT_COUNT, "one for each");
    const uint32_t framework = place_of(word, frameworks, SL_FRAMEWORK_COUNT);
    const uint32_t schedule = place_of(word, schedules, SL_SCHEDULE_COUNT);
    const uint32_t kind = place_of(word, kinds, SL_CONTEXT_COUNT);
    const uint32_t precision = place_of(word, precisions, SL_PRECISION_COUNT);
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

static bool
set_value(sl_question *q, const char *name, const char *value)
{
    const bool number = *value != '\0' && strspn(value, "0123456789") == strlen(value);

    return number ? set_number(q, name, strtoull(value, NULL, 10)) : set_word(q, name, value);
}

/* Does what an alternative says; false, and anything, when it is not understood. */
static bool
follow(const char *words, const char *pointer, sl_question *q)
{
    static const char with[] = " with ";
    char text[HINT_SIZE];
    char *next = NULL;

    (void)snprintf(text, sizeof text, "%s", words);
    for (char *part = text; part != NULL; part = next) {
        next = strstr(part, with);
        if (next != NULL) {
            *next = '\0';
            next += sizeof with - 1;
        }
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

    sl_errors_begin(&then, true);
    const sl_code code = sl_question_check(tried, &then);
    if (has_fault(&then, r->fault))
        return STANDS;
    for (uint32_t i = 0; i < then.count; i++)
        if (!has_fault(r->now, &then.list[i]))
            return BREAKING;
    return sl_choice_is_uneven(r->question, tried) ? UNEVEN : code == SL_OK ? LEGAL : MENDED;
}

/* Alternatives of a hint in the order in which it names them. */
typedef struct alternatives {
    uint32_t count;
    struct alternative {
        char words[HINT_SIZE];
        bool otherwise; /* "or" before it */
        standing own;
    } list[ALTERNATIVES_MAX];
    standing best;
} alternatives;

static void
add(alternatives *all, const char *words, bool otherwise, standing own)
{
    if (own == STANDS || all->count == ALTERNATIVES_MAX)
        return;
    struct alternative *const next = &all->list[all->count++];
    (void)snprintf(next->words, sizeof next->words, "%s", words);
    next->otherwise = otherwise;
    next->own = own;
    all->best = own > all->best ? own : all->best;
}

/* Values of the field at fault, those of the best standing that any has. */
static void
add_values(const refusal *r, sl_choice field, alternatives *all)
{
    const uint64_t last = sl_choice_last(r->question, field);
    standing best = BREAKING;

    for (uint64_t value = sl_choice_first(field); value <= last; value++) {
        sl_question tried = *r->question;
        char words[NUMBER_SIZE];
        (void)set_number(&tried, sl_choice_names[field], value);
        const standing own = stand_with(r, &tried);
        if (own < best)
            continue;
        if (own > best)
            all->count = 0;
        best = own;
        (void)snprintf(words, sizeof words, "%llu", (unsigned long long)value);
        add(all, words, false, own);
    }
}

/* What the rule named; what is not understood is taken to mend. */
static void
add_named(const refusal *r, alternatives *all)
{
    static const char either[] = "or ";
    char hint[HINT_SIZE];
    char *next = NULL;

    (void)snprintf(hint, sizeof hint, "%s", r->fault->hint);
    for (char *at = hint; at != NULL && *at != '\0'; at = next) {
        sl_question tried = *r->question;
        next = strstr(at, ", ");
        if (next != NULL) {
            *next = '\0';
            next += 2;
        }
        const bool otherwise = strncmp(at, either, sizeof either - 1) == 0;
        const char *words = otherwise ? at + sizeof either - 1 : at;
        add(all, words, otherwise,
            follow(words, r->fault->pointer, &tried) ? stand_with(r, &tried) : MENDED);
    }
}

/* "1, 2, or framework fsdp2": less what breaks where something does not; "..." for what has no room. */
static void
write_hint(const alternatives *all, sl_error *fault)
{
    static const char rest[] = ", ...";
    size_t used = 0;

    fault->hint[0] = '\0';
    for (uint32_t i = 0; i < all->count; i++) {
        const struct alternative *one = &all->list[i];
        if (one->own == BREAKING && all->best > BREAKING)
            continue;
        const char *join = used == 0 ? "" : one->otherwise ? ", or " : ", ";
        const size_t length = strlen(join) + strlen(one->words);
        const size_t kept = i + 1 < all->count ? sizeof rest : 1;
        if (used + length + kept > sizeof fault->hint) {
            memcpy(fault->hint + used, rest, sizeof rest);
            return;
        }
        (void)snprintf(fault->hint + used, sizeof fault->hint - used, "%s%s", join, one->words);
        used += length;
    }
}

void
sl_hints_follow(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_errors now = *err;

    for (uint32_t i = 0; i < err->count; i++) {
        const refusal r = {question, &now, &now.list[i]};
        const sl_choice field =
            (sl_choice)place_of(name_of(r.fault->pointer), sl_choice_names, SL_CHOICE_COUNT);
        const bool open = *r.fault->hint == '\0' || strncmp(r.fault->hint, "or ", 3) == 0;
        alternatives all = {.count = 0};
        if (open && field != SL_CHOICE_COUNT && field != SL_CHOICE_DATA)
            add_values(&r, field, &all);
        add_named(&r, &all);
        write_hint(&all, &err->list[i]);
    }
}
