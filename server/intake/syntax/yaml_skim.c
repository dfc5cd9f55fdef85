#include "intake/syntax/yaml_skim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "intake/syntax/yaml_block.h"

enum {
    /* A quarter of an element's bound: JSON of what is left out is counted against it where it is
     * not, with quotes and commas. */
    ELEMENT_MAX_BYTES = 1024 * 1024,
    SLOTS = 4096, /* of keys, a power of two */
    PROBES_MAX = 64
};

/* A key that nobody reads: whose it is and what it says. */
typedef struct slot {
    uint64_t hash;
    uint64_t element;
} slot;

struct sl_yaml_skim {
    const char *at, *end; /* what no block was asked for yet */
    sl_member_read is_read;
    sl_yaml_block block;
    uint32_t list_depth; /* levels that are open with the list */
    bool whole;          /* what is left goes as it is */
    sl_buffer element;   /* what of one is passed on, */
    const char *ready;   /* and what of it, or of the text, is next */
    size_t ready_bytes;
    uint64_t elements;
    slot keys[SLOTS];
};

/* Of a list that has its dash here: the root, or the value of the root's `list`. */
static bool
is_wanted(const sl_yaml_block *block, const sl_yaml_step *step, const char *list, bool named)
{
    if (list == NULL)
        return step->item_depth == 1;
    return named && step->item_depth == 2 && block->open[0].mapping;
}

/* Behind the marks of the document's beginning, which may follow comments. */
static void
pass_marks(sl_yaml_skim *s)
{
    static const char mark[] = "---\n";
    const size_t length = sizeof mark - 1;
    sl_yaml_block *const block = &s->block;

    while (block->depth == 0 && (size_t)(block->end - block->at) >= length &&
           memcmp(block->at, mark, length) == 0)
        block->at += length;
}

/* Stands before the first element then; false where the text has no such list beyond doubt. */
static bool
find_list(sl_yaml_skim *s, const char *list)
{
    sl_yaml_step step;
    bool named = false;

    for (pass_marks(s); sl_yaml_block_step(&s->block, &step); pass_marks(s)) {
        if (is_wanted(&s->block, &step, list, named)) {
            s->list_depth = step.item_depth;
            s->at = step.from;
            return true;
        }
        /* Another list may be called so, or this be none. */
        const bool same =
            list != NULL && step.key != NULL && sl_text_is(step.key, step.key_size, list);
        if (step.node && (named || list == NULL || (same && step.key_depth != 1)))
            return false;
        named = named || same;
    }
    return false;
}

sl_yaml_skim *
sl_yaml_skim_new(const char *text, size_t size, const char *list, sl_member_read is_read)
{
    assert(text != NULL || size == 0);

    sl_yaml_skim *const s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->at = s->ready = text;
    s->end = text + size;
    s->is_read = is_read;
    s->block = sl_yaml_block_new(text, size);
    sl_buffer_init(&s->element, ELEMENT_MAX_BYTES);
    s->whole = size == 0 || is_read == NULL || !find_list(s, list);
    s->ready_bytes = s->whole ? 0 : (size_t)(s->at - text);
    return s;
}

void
sl_yaml_skim_free(sl_yaml_skim *skim)
{
    if (skim == NULL)
        return;
    sl_buffer_clear(&skim->element);
    free(skim);
}

/* False where the mapping may have the key twice, which is an error and another's to tell. */
static bool
note_key(sl_yaml_skim *s, const sl_yaml_step *step)
{
    const uint32_t mapping = s->block.open[step->key_depth - 1].number;
    const uint64_t hash = sl_hash_quick(SL_QUICK_HASH_START + mapping, step->key, step->key_size);

    for (uint64_t i = 0; i < PROBES_MAX; i++) {
        slot *const at = &s->keys[(hash + i) % SLOTS];
        if (at->element != s->elements) {
            *at = (slot){.hash = hash, .element = s->elements};
            return true;
        }
        if (at->hash == hash)
            return false;
    }
    return false;
}

/* What a line is to the member that is left out: in it while this has more levels around it. */
static uint32_t
depth_of(const sl_yaml_step *step)
{
    return step->item_depth > 0  ? step->item_depth
           : step->key_depth > 0 ? step->key_depth
                                 : UINT32_MAX;
}

/* Passes a line on, or what is left of it. */
static void
pass(sl_yaml_skim *s, const char *from, const char *to, bool emptied)
{
    if (!emptied)
        sl_buffer_append(&s->element, from, (size_t)(to - from));
    for (const char *at = from; emptied && at < to; at++) {
        at = memchr(at, '\n', (size_t)(to - at));
        if (at == NULL)
            return;
        sl_buffer_append(&s->element, "\n", 1);
    }
}

/* Whether a line is left out. *out_of: levels around the member that is, 0: none is. A mapping keeps
 * its first member, for without any it were none. */
static bool
take_step(sl_yaml_skim *s, const sl_yaml_step *step, uint32_t *out_of)
{
    if (step->node && depth_of(step) <= *out_of)
        *out_of = 0;
    if (step->key == NULL)
        return true;
    const bool unread =
        *out_of > 0 || !s->is_read(step->key_depth - s->list_depth, step->key, step->key_size);
    if (unread && *out_of == 0 && !step->first)
        *out_of = step->key_depth;
    return !unread || note_key(s, step);
}

/* The next element, to where another begins or the list ends; false where there is doubt. */
static bool
skim_element(sl_yaml_skim *s)
{
    sl_yaml_block *const block = &s->block;
    sl_yaml_step step;
    uint32_t out_of = 0;

    s->elements++;
    s->element.size = 0;
    /* A step looks no further than one byte over the bound: what needs that is too long. */
    block->at = s->at;
    block->end = s->end - s->at > ELEMENT_MAX_BYTES ? s->at + ELEMENT_MAX_BYTES + 1 : s->end;
    block->depth = s->list_depth;
    block->awaits = false;
    while (block->at < block->end) {
        const bool begun = block->at > s->at;
        if (!sl_yaml_block_step(block, &step) || block->at - s->at > ELEMENT_MAX_BYTES)
            return false;
        s->whole = block->depth < s->list_depth;
        if (s->whole || (begun && step.item_depth == s->list_depth)) {
            s->at = step.from;
            return !s->element.failed;
        }
        if (!take_step(s, &step, &out_of))
            return false;
        pass(s, step.from, block->at, out_of > 0);
    }
    s->at = s->end;
    return !s->element.failed;
}

/* Makes the next bytes ready. */
static void
prepare(sl_yaml_skim *s)
{
    if (!s->whole && skim_element(s)) {
        s->ready = s->element.data;
        s->ready_bytes = s->element.size;
        s->whole = s->whole || s->at == s->end;
        return;
    }
    s->whole = true;
    s->ready = s->at;
    s->ready_bytes = (size_t)(s->end - s->at);
    s->at = s->end;
}

size_t
sl_yaml_skim_read(sl_yaml_skim *skim, unsigned char *bytes, size_t size)
{
    assert(skim != NULL && bytes != NULL);

    size_t read = 0;
    while (read < size && (skim->ready_bytes > 0 || skim->at < skim->end)) {
        if (skim->ready_bytes == 0)
            prepare(skim);
        const size_t left = size - read;
        const size_t next = skim->ready_bytes < left ? skim->ready_bytes : left;
        memcpy(bytes + read, skim->ready, next);
        skim->ready += next;
        skim->ready_bytes -= next;
        read += next;
    }
    return read;
}
