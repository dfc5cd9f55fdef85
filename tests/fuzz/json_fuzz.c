/* Any bytes: parsing ends, every reader survives every value, and what is written reads back as an
 * equal document. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "json/writer.h"

enum { OUTPUT_BYTES = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const sl_json_limits wide = {.max_bytes = OUTPUT_BYTES, .max_depth = SL_JSON_DEPTH_MAX};

static void
use(const sl_node *node)
{
    static const char *const names[] = {"tensor", "pipeline", "data"};
    sl_errors err = {0};
    uint64_t count = 0;
    uint32_t choice = 0;
    double number = 0;
    bool flag = false;
    const char *text = NULL;
    char pointer[32];
    sl_node member;

    sl_node_pointer(node, pointer, sizeof pointer);
    (void)!sl_node_as_uint(node, 1, 1000, &count, &err);
    (void)!sl_node_as_double(node, 0, 1, &number, &err);
    (void)!sl_node_as_text(node, &text, &err);
    (void)!sl_node_known(node, names, 3, &err, NULL);
    (void)!sl_node_uint(node, names[0], 1, UINT64_MAX, &count, NULL, &err);
    (void)!sl_node_double(node, names[0], -1, 1, &number, NULL, &err);
    (void)!sl_node_bool(node, names[1], &flag, NULL, &err);
    (void)!sl_node_text(node, names[1], &text, NULL, &err);
    (void)!sl_node_choice(node, names[2], names, 3, &choice, NULL, &err);
    (void)!sl_node_required(node, names[2], &member, &err);
    assert(err.count <= SL_ERRORS_MAX);
    for (uint32_t i = 0; i < err.count; i++)
        assert(err.list[i].message[0] != '\0' && strlen(err.list[i].pointer) < 128);
}

/* The next child of the innermost node of the chain. */
static bool
descend(const sl_node *at, void **state, size_t *index, sl_node *child)
{
    if (sl_node_kind(at) == SL_JSON_OBJECT)
        return sl_node_next(at, state, child);
    return sl_node_at(at, (*index)++, child);
}

static void
visit_all(const sl_json *json)
{
    sl_node chain[SL_JSON_DEPTH_MAX + 1];
    void *state[SL_JSON_DEPTH_MAX + 1] = {NULL};
    size_t index[SL_JSON_DEPTH_MAX + 1] = {0};
    size_t depth = 0;
    chain[0] = sl_json_root(json);
    use(&chain[0]);
    for (;;) {
        assert(depth <= SL_JSON_DEPTH_MAX);
        sl_node child;
        if (descend(&chain[depth], &state[depth], &index[depth], &child)) {
            depth++;
            assert(depth <= SL_JSON_DEPTH_MAX);
            chain[depth] = child;
            state[depth] = NULL;
            index[depth] = 0;
            use(&chain[depth]);
        } else if (depth == 0) {
            break;
        } else {
            depth--;
        }
    }
}

static char *
canonical(const sl_json *json, size_t *size)
{
    sl_buffer out;
    sl_buffer_init(&out, OUTPUT_BYTES);
    const sl_node root = sl_json_root(json);
    const sl_code code = sl_json_canonical(&root, &out);
    assert(code == SL_OK);
    (void)code;
    return sl_buffer_take(&out, size);
}

static void
expect_round_trip(const sl_json *json)
{
    size_t size = 0, size_again = 0;
    char *const text = canonical(json, &size);
    sl_json *again = NULL;
    sl_errors err = {0};
    const sl_code code = sl_json_parse(text, size, &wide, &again, &err);
    assert(code == SL_OK);
    (void)code;
    char *const text_again = canonical(again, &size_again);
    assert(size == size_again && memcmp(text, text_again, size) == 0);
    free(text);
    free(text_again);
    sl_json_free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    for (int lax = 0; lax < 2; lax++) {
        sl_json_limits limits = wide;
        limits.accept_python_numbers = lax == 1;
        sl_json *json = NULL;
        sl_errors err = {0};
        const sl_code code = sl_json_parse((const char *)bytes, size, &limits, &json, &err);
        assert((code == SL_OK) == (json != NULL) && (code == SL_OK) == (err.count == 0));
        if (code != SL_OK)
            continue;
        visit_all(json);
        expect_round_trip(json);
        sl_json_free(json);
    }
    return 0;
}
