#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "base/buffer.h"
#include "base/text.h"
#include "intake/syntax/batch.h"
#include "intake/syntax/passed_keys.h"
#include "intake/syntax/yaml_scalar.h"
#include "intake/syntax/yaml_skim.h"

enum { LIST_DEPTH_MAX = 4, READ_BYTES = 4096 };

/* A collection that is open. */
typedef struct level {
    bool mapping;
    bool elements;      /* the list that is wanted */
    bool value_is_next; /* of a mapping: its last key has none yet */
    bool filled;        /* its JSON holds something */
    size_t keys_from;   /* of its keys that are passed over */
    uint32_t line;
} level;

/* JSON on its way, and what is left out of it. */
typedef struct part {
    sl_buffer json;
    size_t passed_bytes;
} part;

/**
 * A stream on its way to JSON, event by event: no tree is built and no alias followed.
 *
 * What stands around the wanted list is written as well: it is the element itself where a document
 * holds no such list, and says of a key that it is there twice. A member that nobody reads is
 * followed like any other, and only not written.
 */
typedef struct walk {
    yaml_parser_t parser;
    const char *list;       /* NULL: the root */
    sl_member_read is_read; /* NULL: all are */
    size_t most;            /* bytes of an element's JSON */
    const char *text;
    size_t size;
    sl_batch *batch; /* takes what is complete */
    level open[SL_ELEMENTS_DEPTH_MAX];
    uint32_t depth;
    uint32_t around;       /* levels that are open around the elements; 0: not in the list */
    bool wanted;           /* the key read last is the list's */
    bool passing;          /* a member that nobody reads: from its key on ... */
    uint32_t passed_depth; /* ... to the end of its value, with so many levels open around it */
    sl_passed_keys keys;
    bool listed; /* this document had the list */
    bool found;  /* any document had it */
    uint32_t documents;
    uint32_t document_line, element_line;
    part document, element;
    sl_buffer *whole; /* takes the only document; no list is looked for then */
} walk;

static uint32_t
line_of(const yaml_event_t *event)
{
    return (uint32_t)event->start_mark.line + 1;
}

static sl_code
refuse(const yaml_event_t *event, const char *what, sl_errors *err)
{
    return sl_fail(err, SL_E_SYNTAX, "unsupported_yaml", "", "line %u: %s", line_of(event), what);
}

static sl_code
too_deep(const yaml_event_t *event, sl_errors *err)
{
    return sl_fail(err, SL_E_SYNTAX, "too_deep", "", "line %u: over %d levels", line_of(event),
                   SL_ELEMENTS_DEPTH_MAX);
}

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read YAML");
}

/* How many lines end in what the parser was given before that byte; its own mark is still where it
 * understood the last one. */
static size_t
lines_before(const walk *w, size_t offset)
{
    unsigned char bytes[READ_BYTES];
    sl_yaml_skim *const skim = sl_yaml_skim_new(w->text, w->size, w->list, w->is_read);
    size_t lines = 0, read = skim != NULL ? sizeof bytes : 0;

    while (read > 0 && offset > 0) {
        read = sl_yaml_skim_read(skim, bytes, offset < sizeof bytes ? offset : sizeof bytes);
        for (size_t i = 0; i < read; i++)
            lines += bytes[i] == '\n';
        offset -= read;
    }
    sl_yaml_skim_free(skim);
    return lines;
}

static sl_code
malformed(const walk *w, sl_errors *err)
{
    const yaml_parser_t *const parser = &w->parser;

    if (parser->error == YAML_MEMORY_ERROR)
        return out_of_memory(err);
    const size_t line = parser->error == YAML_READER_ERROR ? lines_before(w, parser->problem_offset)
                                                           : parser->problem_mark.line;
    return sl_fail(err, SL_E_SYNTAX, "malformed_yaml", "", "line %zu: %s", line + 1,
                   parser->problem != NULL ? parser->problem : "not YAML");
}

static bool
is_over(const walk *w, const part *p)
{
    return p->json.failed || p->passed_bytes > w->most || p->json.size > w->most - p->passed_bytes;
}

/* What is complete is decoded and, but for the rest around a list, visited. */
static sl_code
finish(walk *w, part *p, uint32_t line, bool visited, sl_errors *err)
{
    sl_buffer *const text = &w->batch->text;
    const sl_json_piece piece = {.at = text->size, .size = p->json.size, .line = line};

    if (is_over(w, p))
        return sl_fail(err, SL_E_TOO_LARGE, "too_large", "",
                       "the element from line %u: must have at most %zu bytes", line, w->most);
    sl_buffer_append(text, p->json.data, p->json.size);
    if (text->failed)
        return out_of_memory(err);
    sl_batch_add(w->batch, &piece, visited);
    p->json.size = p->passed_bytes = 0;
    return SL_OK;
}

/* Where JSON goes now. */
static part *
target(walk *w)
{
    return w->around > 0 ? &w->element : &w->document;
}

static void
put(walk *w, char mark)
{
    if (w->passing)
        target(w)->passed_bytes++;
    else
        sl_buffer_append(&target(w)->json, &mark, 1);
}

static void
put_text(walk *w, const char *text, size_t size)
{
    if (w->passing)
        target(w)->passed_bytes += size;
    else
        sl_yaml_quoted(&target(w)->json, text, size);
}

static bool
key_is_next(const walk *w)
{
    return w->depth > 0 && w->open[w->depth - 1].mapping && !w->open[w->depth - 1].value_is_next;
}

/* Before a node: what separates it from the one before, or the beginning of an element. */
static void
begin_node(walk *w, const yaml_event_t *event)
{
    if (w->depth == 0)
        return;
    level *const in = &w->open[w->depth - 1];
    if (in->elements)
        w->element_line = line_of(event);
    else if (in->value_is_next)
        put(w, ':');
    else if (in->filled)
        put(w, ',');
    in->value_is_next = in->mapping && !in->value_is_next;
    in->filled = in->filled || !w->passing;
}

/* Behind a node: what is passed over may be, or an element complete. */
static sl_code
end_node(walk *w, sl_errors *err)
{
    w->passing = w->passing && w->depth > w->passed_depth;
    if (w->around == 0 || w->depth != w->around)
        return SL_OK;
    return finish(w, &w->element, w->element_line, true, err);
}

/* NULL where a tag says no more than the node's kind does. */
static const char *
odd_tag(const yaml_char_t *tag, const char *const *known)
{
    const char *const name = (const char *)tag;
    if (name == NULL || strcmp(name, "!") == 0)
        return NULL;
    for (; *known != NULL; known++)
        if (strcmp(name, *known) == 0)
            return NULL;
    return name;
}

static sl_code
refuse_tag(const yaml_event_t *event, const char *tag, sl_errors *err)
{
    return sl_fail(err, SL_E_SYNTAX, "unsupported_yaml", "", "line %u: the tag %.60s is not read",
                   line_of(event), tag);
}

/* A key of what is passed over, which no decoder will see. */
static void
pass_key(walk *w, const char *text, size_t size)
{
    target(w)->passed_bytes += size + 2; /* its quotes */
    if (!is_over(w, target(w)))
        sl_passed_keys_add(&w->keys, text, size);
}

static void
put_key(walk *w, const yaml_event_t *event)
{
    const char *const text = (const char *)event->data.scalar.value;
    const size_t size = event->data.scalar.length;

    if (!w->passing) {
        const uint32_t depth = w->around > 0 ? w->depth - w->around : 0;
        w->passing = w->is_read != NULL && !w->is_read(depth, text, size);
        w->passed_depth = w->depth;
    }
    begin_node(w, event);
    if (w->passing) {
        pass_key(w, text, size);
        return;
    }
    put_text(w, text, size);
    w->wanted = w->list != NULL && !w->listed && w->depth <= LIST_DEPTH_MAX &&
                sl_text_is(text, size, w->list);
    for (uint32_t i = 0; i < w->depth && w->wanted; i++)
        w->wanted = w->open[i].mapping; /* as in JSON: in objects only */
}

/* The last two mark texts of Ansible. */
static const char *const text_tags[] = {YAML_STR_TAG, "!vault", "!unsafe", NULL};
static const char *const value_tags[] = {YAML_NULL_TAG, YAML_BOOL_TAG, YAML_INT_TAG, YAML_FLOAT_TAG,
                                         NULL};

/* *is_value: its tag says that it is one, however it is written. */
static sl_code
check_scalar(const yaml_event_t *event, bool *is_value, sl_errors *err)
{
    const yaml_char_t *const tag = event->data.scalar.tag;

    if (event->data.scalar.anchor != NULL)
        return refuse(event, "anchors are not read", err);
    *is_value =
        tag != NULL && strcmp((const char *)tag, "!") != 0 && odd_tag(tag, value_tags) == NULL;
    if (!*is_value && odd_tag(tag, text_tags) != NULL)
        return refuse_tag(event, (const char *)tag, err);
    if (memchr(event->data.scalar.value, '\0', event->data.scalar.length) != NULL)
        return refuse(event, "a NUL is not read", err);
    return SL_OK;
}

static sl_code
put_scalar(walk *w, const yaml_event_t *event, sl_errors *err)
{
    const char *const text = (const char *)event->data.scalar.value;
    const size_t size = event->data.scalar.length;
    bool is_value = false;

    const sl_code code = check_scalar(event, &is_value, err);
    if (code != SL_OK)
        return code;
    if (key_is_next(w)) {
        put_key(w, event);
        return SL_OK;
    }
    begin_node(w, event);
    w->wanted = false;
    const bool plain =
        event->data.scalar.tag == NULL && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (w->passing || (!plain && !is_value) || !sl_yaml_plain(&target(w)->json, text, size))
        put_text(w, text, size);
    return end_node(w, err);
}

static sl_code
check_level(const yaml_event_t *event, sl_errors *err)
{
    const bool mapping = event->type == YAML_MAPPING_START_EVENT;
    static const char *const tags[] = {YAML_MAP_TAG, YAML_SEQ_TAG, NULL};
    const yaml_char_t *const anchor =
        mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    const yaml_char_t *const tag =
        mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag;

    if (anchor != NULL)
        return refuse(event, "anchors are not read", err);
    if (odd_tag(tag, tags) != NULL)
        return refuse_tag(event, (const char *)tag, err);
    return SL_OK;
}

static sl_code
open_level(walk *w, const yaml_event_t *event, bool mapping, sl_errors *err)
{
    const sl_code code = check_level(event, err);
    if (code != SL_OK)
        return code;
    if (key_is_next(w))
        return refuse(event, "a key must be a text", err);
    if (w->depth == SL_ELEMENTS_DEPTH_MAX)
        return too_deep(event, err);
    const bool elements = !mapping && !w->listed && !w->passing && w->whole == NULL &&
                          (w->list == NULL ? w->depth == 0 : w->wanted && w->depth > 0);
    begin_node(w, event);
    w->wanted = false;
    w->open[w->depth++] = (level){.mapping = mapping,
                                  .elements = elements,
                                  .keys_from = w->keys.text.size,
                                  .line = line_of(event)};
    if (elements) {
        w->around = w->depth;
        w->listed = w->found = true;
    } else {
        put(w, mapping ? '{' : '[');
    }
    return SL_OK;
}

static sl_code
close_level(walk *w, sl_errors *err)
{
    assert(w->depth > 0);
    const level closed = w->open[--w->depth];
    const sl_code code = sl_passed_keys_end(&w->keys, closed.keys_from, closed.line, err);
    if (code != SL_OK)
        return code;
    if (closed.elements) {
        w->around = 0;
        sl_buffer_text(&w->document.json, "null");
        return SL_OK;
    }
    put(w, closed.mapping ? '}' : ']');
    return end_node(w, err);
}

/* The only document goes to the caller, who decodes it. */
static sl_code
take_whole(walk *w, const yaml_event_t *event, sl_errors *err)
{
    if (w->document.json.failed)
        return sl_fail(err, SL_E_TOO_LARGE, "too_large", "",
                       "the document: must have at most %zu bytes", w->most);
    if (w->whole->data != NULL)
        return refuse(event, "a second document is not read", err);
    *w->whole = w->document.json;
    sl_buffer_init(&w->document.json, w->most);
    return SL_OK;
}

static sl_code
end_document(walk *w, const yaml_event_t *event, sl_errors *err)
{
    /* "---" with nothing behind it, as between files that were joined. */
    const bool empty = w->document.json.size == 4 && memcmp(w->document.json.data, "null", 4) == 0;
    if (w->whole != NULL && !empty)
        return take_whole(w, event, err);
    /* What stands around a list may be of any size; only a document without one must be decoded. */
    const bool checked = !empty && !(w->listed && is_over(w, &w->document));
    const sl_code code =
        checked ? finish(w, &w->document, w->document_line, !w->listed, err) : SL_OK;
    sl_buffer_clear(&w->document.json);
    sl_buffer_init(&w->document.json, w->most);
    w->document.passed_bytes = 0;
    return code;
}

static sl_code
take_event(walk *w, const yaml_event_t *event, sl_errors *err)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        w->documents++;
        w->listed = w->wanted = false;
        w->document_line = line_of(event);
        return SL_OK;
    case YAML_DOCUMENT_END_EVENT:
        return end_document(w, event, err);
    case YAML_SCALAR_EVENT:
        return put_scalar(w, event, err);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return open_level(w, event, event->type == YAML_MAPPING_START_EVENT, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_level(w, err);
    case YAML_ALIAS_EVENT:
        return refuse(event, "aliases are not read", err);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
        break;
    }
    return SL_OK;
}

/* A yaml_read_handler_t. */
static int
read_skimmed(void *skim, unsigned char *bytes, size_t size, size_t *read)
{
    *read = sl_yaml_skim_read(skim, bytes, size);
    return 1;
}

/* Events from here on, in a batch's way. */
static sl_code
take_events(void *context, sl_batch *batch, bool *more, sl_errors *err)
{
    walk *const w = context;
    sl_code code = SL_OK;

    w->batch = batch;
    for (*more = true; *more && code == SL_OK && !sl_batch_is_full(batch);) {
        yaml_event_t event;
        if (yaml_parser_parse(&w->parser, &event) == 0)
            return malformed(w, err);
        *more = event.type != YAML_STREAM_END_EVENT;
        code = take_event(w, &event, err);
        yaml_event_delete(&event);
    }
    return code;
}

/* The whole stream. w: list, most, text and size are set. */
static sl_code
walk_stream(walk *w, sl_element_visit visit, void *context, sl_errors *err)
{
    const sl_batches batches = {.fill = take_events,
                                .cutter = w,
                                .cut = {.what = "element", .most_bytes = w->most},
                                .visit = visit,
                                .context = context};
    sl_yaml_skim *const skim = sl_yaml_skim_new(w->text, w->size, w->list, w->is_read);

    if (skim == NULL || yaml_parser_initialize(&w->parser) == 0) {
        sl_yaml_skim_free(skim);
        return out_of_memory(err);
    }
    yaml_parser_set_input(&w->parser, read_skimmed, skim);
    sl_buffer_init(&w->document.json, w->most);
    sl_buffer_init(&w->element.json, w->most);
    sl_passed_keys_init(&w->keys, 2 * w->most); /* of an element and of what is around it */
    const sl_code code = sl_batches_visit(&batches, err);
    sl_passed_keys_clear(&w->keys);
    sl_buffer_clear(&w->element.json);
    sl_buffer_clear(&w->document.json);
    yaml_parser_delete(&w->parser);
    sl_yaml_skim_free(skim);
    return code;
}

sl_code
sl_yaml_elements(const char *text, size_t size, const char *list, sl_member_read is_read,
                 sl_element_visit visit, void *context, bool *found, sl_errors *err)
{
    assert((text != NULL || size == 0) && visit != NULL && found != NULL && err != NULL);

    walk w = {
        .list = list, .is_read = is_read, .most = SL_ELEMENT_MAX_BYTES, .text = text, .size = size};
    const sl_code code = walk_stream(&w, visit, context, err);
    *found = w.found;
    return code;
}

sl_code
sl_yaml_document(const char *text, size_t size, sl_buffer *json, sl_errors *err)
{
    assert((text != NULL || size == 0) && json != NULL && err != NULL);

    walk w = {.most = SL_DOCUMENT_MAX_BYTES, .text = text, .size = size, .whole = json};
    sl_buffer_init(json, SL_DOCUMENT_MAX_BYTES);
    sl_code code = walk_stream(&w, NULL, NULL, err);
    if (code == SL_OK && json->data == NULL)
        code = sl_fail(err, SL_E_SYNTAX, "malformed_yaml", "", "line 1: there is no document");
    if (code != SL_OK)
        sl_buffer_clear(json);
    return code;
}
