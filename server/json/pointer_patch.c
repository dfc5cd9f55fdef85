#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "base/text.h"
#include "json/patch.h"
#include "json/scan.h"
#include "json/writer.h"

static const char *const operation_names[] = {"add", "remove", "replace", "move", "copy", "test"};
typedef enum operation_kind {
    ADD,
    REMOVE,
    REPLACE,
    MOVE,
    COPY,
    TEST,
    OPERATION_COUNT
} operation_kind;
_Static_assert(sizeof operation_names / sizeof operation_names[0] == OPERATION_COUNT,
               "every operation has its name");

typedef struct operation {
    sl_node node; /* in the patch, for errors */
    operation_kind kind;
    const char *path;
    const char *from;  /* of a move and a copy */
    const char *value; /* as it is spelled, of the others */
    size_t value_size;
} operation;

/* The document between two operations. */
typedef struct patched {
    sl_buffer text; /* within the limits of the result */
    sl_json *json;
    const sl_json_limits *limits;
} patched;

/* Where a pointer leads. */
typedef struct place {
    bool whole;          /* the document itself */
    bool found;          /* part is there */
    sl_piece container;  /* of the last token */
    const char *token;   /* the last one */
    const char *before;  /* behind the element before part, or behind the opening bracket */
    sl_part part;        /* the last element where nothing is found */
    size_t index, count; /* of part; elements there are */
} place;

/* A token of a pointer, up to the next '/', against a name. */
static bool
token_is(const char *token, const char *name)
{
    for (; *token != '\0' && *token != '/'; token++, name++) {
        char byte = *token;
        if (byte == '~') {
            token++;
            byte = '~';
            if (*token == '1')
                byte = '/';
        }
        if (byte != *name)
            return false;
    }
    return *name == '\0';
}

/* An index without leading zeros; false for anything else. */
static bool
token_index(const char *token, size_t *out)
{
    char digits[20];
    uint64_t index = 0;
    const size_t length = strcspn(token, "/");
    if (length == 0 || length >= sizeof digits || (token[0] == '0' && length > 1))
        return false;
    memcpy(digits, token, length);
    digits[length] = '\0';
    if (strspn(digits, "0123456789") != length || !sl_text_to_uint(digits, &index))
        return false;
    *out = (size_t)index;
    return true;
}

/* Looks for one token in out->container. */
static void
find_part(place *out)
{
    const bool object = json_is_object(out->container.value);
    size_t wanted = 0;
    const bool number = !object && token_index(out->token, &wanted);
    sl_piece_walk walk = sl_piece_open(&out->container);

    out->count =
        object ? json_object_size(out->container.value) : json_array_size(out->container.value);
    out->before = walk.at;
    out->part = (sl_part){.blanks_size = 0};
    out->found = false;
    for (out->index = 0; !out->found && out->index < out->count; out->index++) {
        if (out->index > 0)
            out->before = out->part.value.text + out->part.value.size;
        const bool there = sl_piece_next(&walk, &out->part);
        assert(there);
        out->found = object ? token_is(out->token, out->part.name) : number && wanted == out->index;
    }
    if (out->found)
        out->index--;
}

/* False when even the place for something new is missing: what it would stand in. */
static bool
locate(const patched *at, const char *pointer, place *out)
{
    *out = (place){.whole = *pointer == '\0', .found = true};
    out->part.value = sl_piece_root(sl_json_root(at->json).value, at->text.data, at->text.size);
    while (*pointer == '/') {
        if (!out->found)
            return false;
        const sl_piece container = out->part.value;
        if (!json_is_object(container.value) && !json_is_array(container.value))
            return false;
        out->container = container;
        out->token = ++pointer;
        find_part(out);
        pointer += strcspn(pointer, "/");
    }
    return true;
}

static sl_code
no_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the patched document does not fit");
}

static sl_code
too_large(const patched *at, sl_errors *err)
{
    return sl_fail(err, SL_E_TOO_LARGE, "too_large", "",
                   "what the patch makes must not be larger than %zu bytes", at->limits->max_bytes);
}

static sl_code
no_path(const operation *op, const char *pointer, sl_errors *err)
{
    return sl_node_fail(&op->node, err, SL_E_CONFLICT, "path_not_found",
                        "must lead to something that is there, got \"%.80s\"", pointer);
}

/* The text with `middle` in place of what lies from `from` to `to`, read again. */
static sl_code
splice(patched *at, const char *from, const char *to, const sl_buffer *middle, sl_errors *err)
{
    const char *const text = at->text.data;
    sl_buffer out;
    sl_buffer_init(&out, at->limits->max_bytes);
    sl_buffer_append(&out, text, (size_t)(from - text));
    if (middle->size > 0)
        sl_buffer_append(&out, middle->data, middle->size);
    sl_buffer_append(&out, to, at->text.size - (size_t)(to - text));
    if (out.failed || middle->failed) {
        sl_buffer_clear(&out);
        return too_large(at, err);
    }
    sl_json *json = NULL;
    const sl_code code = sl_json_parse(out.data, out.size, at->limits, &json, err);
    if (code != SL_OK) {
        sl_buffer_clear(&out);
        return code;
    }
    sl_buffer_clear(&at->text);
    sl_json_free(at->json);
    at->text = out;
    at->json = json;
    return SL_OK;
}

/* The last token of a pointer as the key of a member. */
static void
write_key(sl_buffer *out, const char *token)
{
    sl_buffer name;
    sl_writer writer;
    sl_buffer_init(&name, SIZE_MAX);
    for (; *token != '\0'; token++) {
        const char *byte = token;
        if (*token == '~')
            byte = *++token == '1' ? "/" : "~";
        sl_buffer_append(&name, byte, 1);
    }
    sl_writer_init(&writer, out);
    sl_write_text(&writer, name.data == NULL ? "" : name.data);
    sl_buffer_clear(&name);
}

static sl_code
add(patched *at, const operation *op, const char *value, size_t size, sl_errors *err)
{
    place to;
    if (!locate(at, op->path, &to))
        return no_path(op, op->path, err);
    const bool object = json_is_object(to.container.value);
    const char *const own = to.part.value.text;
    sl_buffer middle;
    sl_buffer_init(&middle, SIZE_MAX);
    const char *from = own;
    const char *behind = own == NULL ? NULL : own + to.part.value.size;
    if (to.whole || (object && to.found)) {
        sl_buffer_append(&middle, value, size);
    } else if (!object && to.found) { /* before the element of that index */
        from = behind = own;
        sl_buffer_append(&middle, value, size);
        sl_buffer_append(&middle, ",", 1);
        sl_buffer_append(&middle, to.part.blanks, to.part.blanks_size);
    } else {
        size_t index = to.count;
        if (!object && !token_is(to.token, "-") &&
            (!token_index(to.token, &index) || index != to.count)) {
            sl_buffer_clear(&middle);
            return no_path(op, op->path, err);
        }
        from = behind = to.count == 0 ? to.container.text + 1 : behind;
        if (to.count > 0) {
            sl_buffer_append(&middle, ",", 1);
            sl_buffer_append(&middle, to.part.blanks, to.part.blanks_size);
        }
        if (object) {
            write_key(&middle, to.token);
            sl_buffer_append(&middle, ":", 1);
        }
        sl_buffer_append(&middle, value, size);
    }
    const sl_code code = splice(at, from, behind, &middle, err);
    sl_buffer_clear(&middle);
    return code;
}

static sl_code
removed(patched *at, const operation *op, const char *pointer, sl_errors *err)
{
    place where;
    if (!locate(at, pointer, &where) || !where.found)
        return no_path(op, pointer, err);
    if (where.whole)
        return sl_node_fail(&op->node, err, SL_E_RANGE, "malformed_pointer",
                            "must not remove the whole document");
    assert(where.part.value.text != NULL);
    const char *const behind = where.part.value.text + where.part.value.size;
    const sl_buffer nothing = {.data = NULL};
    /* With its comma: the one behind it, or at the end the one before. */
    if (where.index + 1 == where.count)
        return splice(at, where.before, behind, &nothing, err);
    return splice(at, where.part.blanks, behind + strcspn(behind, ",") + 1, &nothing, err);
}

static sl_code
tested(const patched *at, const operation *op, sl_errors *err)
{
    place where;
    if (!locate(at, op->path, &where) || !where.found)
        return no_path(op, op->path, err);

    sl_json *wanted = NULL;
    sl_code code = sl_json_parse(op->value, op->value_size, at->limits, &wanted, err);
    if (code != SL_OK)
        return code;
    const sl_node there = {.value = where.part.value.value};
    const sl_node asked = sl_json_root(wanted);
    sl_buffer left;
    sl_buffer right;
    sl_buffer_init(&left, SIZE_MAX);
    sl_buffer_init(&right, SIZE_MAX);
    if (sl_json_canonical(&there, &left) != SL_OK || sl_json_canonical(&asked, &right) != SL_OK)
        code = no_memory(err);
    else if (left.size != right.size || memcmp(left.data, right.data, left.size) != 0)
        code = sl_node_fail(&op->node, err, SL_E_CONFLICT, "test_failed",
                            "what is at \"%.80s\" is not what the patch expects", op->path);
    sl_buffer_clear(&left);
    sl_buffer_clear(&right);
    sl_json_free(wanted);
    return code;
}

static sl_code
transfer(patched *at, const operation *op, sl_errors *err)
{
    place source;
    assert(op->from != NULL);
    const size_t length = strlen(op->from);
    if (!locate(at, op->from, &source) || !source.found)
        return no_path(op, op->from, err);
    if (op->kind == MOVE && strncmp(op->path, op->from, length) == 0 && op->path[length] == '/')
        return sl_node_fail(&op->node, err, SL_E_RANGE, "malformed_pointer",
                            "must not move a value into itself");
    sl_buffer value;
    sl_buffer_init(&value, SIZE_MAX);
    sl_buffer_append(&value, source.part.value.text, source.part.value.size);
    sl_code code = value.failed ? no_memory(err) : SL_OK;
    if (code == SL_OK && op->kind == MOVE && !sl_text_equal(op->path, op->from))
        code = removed(at, op, op->from, err);
    if (code == SL_OK && !(op->kind == MOVE && sl_text_equal(op->path, op->from)))
        code = add(at, op, value.data, value.size, err);
    sl_buffer_clear(&value);
    return code;
}

static sl_code
replaced(patched *at, const operation *op, sl_errors *err)
{
    place where;
    if (!locate(at, op->path, &where) || !where.found)
        return no_path(op, op->path, err);
    sl_buffer middle;
    sl_buffer_init(&middle, SIZE_MAX);
    sl_buffer_append(&middle, op->value, op->value_size);
    const char *const own = where.part.value.text;
    const sl_code code = splice(at, own, own + where.part.value.size, &middle, err);
    sl_buffer_clear(&middle);
    return code;
}

static sl_code
apply(patched *at, const operation *op, sl_errors *err)
{
    switch (op->kind) {
    case ADD:
        return add(at, op, op->value, op->value_size, err);
    case REMOVE:
        return removed(at, op, op->path, err);
    case REPLACE:
        return replaced(at, op, err);
    case MOVE:
    case COPY:
        return transfer(at, op, err);
    case TEST:
        return tested(at, op, err);
    case OPERATION_COUNT:
        break;
    }
    assert(false);
    return SL_E_INTERNAL;
}

static sl_code
read_pointer(const sl_node *object, const char *name, const char **out, sl_errors *err)
{
    sl_node member;
    sl_code code = sl_node_required(object, name, &member, err);
    if (code == SL_OK)
        code = sl_node_as_text(&member, out, err);
    if (code != SL_OK)
        return code;
    bool whole = **out == '\0' || **out == '/';
    for (const char *at = strchr(*out, '~'); whole && at != NULL; at = strchr(at + 1, '~'))
        whole = at[1] == '0' || at[1] == '1';
    return whole ? SL_OK
                 : sl_node_fail(&member, err, SL_E_RANGE, "malformed_pointer",
                                "must be a JSON Pointer, got \"%.80s\"", *out);
}

static sl_code
read_operation(const sl_part *part, operation *out, sl_errors *err)
{
    uint32_t kind = 0;
    sl_node needed;
    sl_code code = sl_node_object(&out->node, err);
    if (code == SL_OK)
        code = sl_node_required(&out->node, "op", &needed, err);
    if (code == SL_OK)
        code = sl_node_choice(&out->node, "op", operation_names, OPERATION_COUNT, &kind, NULL, err);
    if (code == SL_OK)
        code = read_pointer(&out->node, "path", &out->path, err);
    out->kind = (operation_kind)kind;
    const bool moves = out->kind == MOVE || out->kind == COPY;
    if (code == SL_OK && moves)
        code = read_pointer(&out->node, "from", &out->from, err);
    if (code != SL_OK || moves || out->kind == REMOVE)
        return code;

    sl_part member;
    sl_piece_walk walk = sl_piece_open(&part->value);
    while (sl_piece_next(&walk, &member)) {
        if (!sl_text_equal(member.name, "value"))
            continue;
        out->value = member.value.text;
        out->value_size = member.value.size;
    }
    return out->value != NULL ? SL_OK
                              : sl_node_fail_at(&out->node, "value", err, SL_E_RANGE,
                                                "required_field", "is required");
}

static sl_code
apply_all(patched *at, const sl_node *list, const sl_patch *patch, sl_errors *err)
{
    if (sl_node_kind(list) != SL_JSON_ARRAY)
        return sl_node_fail(list, err, SL_E_RANGE, "wrong_type", "must be an array");
    if (sl_node_count(list) > SL_PATCH_OPERATIONS_MAX)
        return sl_node_fail(list, err, SL_E_RANGE, "out_of_range",
                            "must have at most %d operations, got %zu", SL_PATCH_OPERATIONS_MAX,
                            sl_node_count(list));
    const sl_piece operations = sl_piece_root(list->value, patch->text, patch->size);
    sl_piece_walk walk = sl_piece_open(&operations);
    sl_code code = SL_OK;
    sl_part part;
    for (size_t i = 0; code == SL_OK && sl_piece_next(&walk, &part); i++) {
        operation op = {.path = "", .from = ""};
        const bool there = sl_node_at(list, i, &op.node);
        assert(there);
        code = read_operation(&part, &op, err);
        if (code == SL_OK)
            code = apply(at, &op, err);
    }
    return code;
}

sl_code
sl_json_pointer_patch(const char *document, const sl_patch *patch, const sl_json_limits *limits,
                      sl_buffer *out, sl_errors *err)
{
    assert(document != NULL && patch != NULL && limits != NULL && out != NULL && err != NULL);

    sl_json *change = NULL;
    patched at = {.limits = limits};
    sl_buffer_init(&at.text, limits->max_bytes);
    sl_buffer_text(&at.text, document);
    sl_code code = at.text.failed ? too_large(&at, err) : SL_OK;
    if (code == SL_OK)
        code = sl_json_parse(patch->text, patch->size, limits, &change, err);
    if (code == SL_OK)
        code = sl_json_parse(at.text.data, at.text.size, limits, &at.json, err);
    if (code == SL_OK) {
        const sl_node list = sl_json_root(change);
        code = apply_all(&at, &list, patch, err);
    }
    if (code == SL_OK) {
        sl_buffer_append(out, at.text.data, at.text.size);
        code = out->failed ? too_large(&at, err) : SL_OK;
    }
    sl_buffer_clear(&at.text);
    sl_json_free(at.json);
    sl_json_free(change);
    return code;
}
