/* Any patch of any document, a line end between them: what comes of it is a document, and a merge
 * patch that is made again changes nothing any more. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "json/patch.h"
#include "json/writer.h"

enum { OUTPUT_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const sl_json_limits limits = {.max_bytes = OUTPUT_BYTES, .max_depth = 32};

/* The canonical text of what a patch made, which must be a document. */
static void
canonical_of(const sl_buffer *text, sl_buffer *out)
{
    static const sl_json_limits deeper = {.max_bytes = SIZE_MAX, .max_depth = SL_JSON_DEPTH_MAX};
    sl_errors err = {0};
    sl_json *json = NULL;

    const sl_code code = sl_json_parse(text->data, text->size, &deeper, &json, &err);
    assert(code == SL_OK);
    const sl_node root = sl_json_root(json);
    sl_buffer_init(out, SIZE_MAX);
    assert(sl_json_canonical(&root, out) == SL_OK);
    sl_json_free(json);
}

static void
try_merge(const char *document, const sl_patch *patch)
{
    sl_errors err = {0};
    sl_buffer once;
    sl_buffer twice;
    sl_buffer left;
    sl_buffer right;

    sl_buffer_init(&once, OUTPUT_BYTES);
    sl_buffer_init(&twice, OUTPUT_BYTES);
    if (sl_json_merge_patch(document, patch, &limits, &once, &err) == SL_OK) {
        canonical_of(&once, &left);
        if (sl_json_merge_patch(once.data, patch, &limits, &twice, &err) == SL_OK) {
            canonical_of(&twice, &right);
            assert(left.size == right.size && memcmp(left.data, right.data, left.size) == 0);
            sl_buffer_clear(&right);
        }
        sl_buffer_clear(&left);
    } else {
        assert(err.count > 0);
    }
    sl_buffer_clear(&once);
    sl_buffer_clear(&twice);
}

static void
try_operations(const char *document, const sl_patch *patch)
{
    sl_errors err = {0};
    sl_buffer out;
    sl_buffer text;

    sl_buffer_init(&out, OUTPUT_BYTES);
    if (sl_json_pointer_patch(document, patch, &limits, &out, &err) == SL_OK) {
        canonical_of(&out, &text);
        sl_buffer_clear(&text);
    } else {
        assert(err.count > 0);
    }
    sl_buffer_clear(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *const line = size == 0 ? NULL : memchr(bytes, '\n', size);
    sl_errors err = {0};
    sl_json *json = NULL;
    sl_buffer document;

    if (line == NULL)
        return 0;
    sl_buffer_init(&document, OUTPUT_BYTES);
    sl_buffer_append(&document, bytes, (size_t)(line - bytes));
    const sl_patch patch = {(const char *)line + 1, size - 1 - (size_t)(line - bytes)};
    /* What is patched has been accepted before. */
    if (document.data != NULL &&
        sl_json_parse(document.data, document.size, &limits, &json, &err) == SL_OK) {
        sl_json_free(json);
        try_merge(document.data, &patch);
        try_operations(document.data, &patch);
    }
    sl_buffer_clear(&document);
    return 0;
}
