#include "yaml_compared.h"

#include <string.h>

#include "base/text.h"
#include "intake/syntax/elements.h"
#include "json/writer.h"

enum { OUTCOME_MAX_BYTES = 64 << 20 };

bool
sl_yaml_compared_read(uint32_t depth, const char *name, size_t size)
{
    return !sl_text_is(name, size, "images") && (depth != 1 || !sl_text_is(name, size, "own"));
}

static sl_code
note(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    sl_buffer *const out = context;

    sl_buffer_format(out, "%u:", line);
    const sl_code code = sl_json_canonical(element, out);
    sl_buffer_text(out, "\n");
    return code == SL_OK ? SL_OK : sl_fail(err, code, "not_canonical", "", "line %u", line);
}

static void
read_behind(const char *comment, const char *text, size_t size, sl_buffer *out)
{
    sl_errors err = {.count = 0};
    bool found = false;
    sl_buffer all;

    sl_buffer_init(out, OUTCOME_MAX_BYTES);
    sl_buffer_init(&all, size + 16);
    sl_buffer_text(&all, comment);
    sl_buffer_append(&all, text, size);
    const sl_code code = sl_yaml_elements(all.data, all.size, "items", sl_yaml_compared_read, note,
                                          out, &found, &err);
    sl_buffer_format(out, "%d %d %s %s\n", found, (int)code, err.count > 0 ? err.list[0].rule : "",
                     err.count > 0 ? err.list[0].message : "");
    sl_buffer_clear(&all);
}

bool
sl_yaml_compared(const char *text, size_t size, sl_buffer *skimmed, sl_buffer *whole)
{
    /* A tab makes a text doubtful from its first line on, and says nothing in a comment. */
    read_behind("#\n", text, size, skimmed);
    read_behind("#\t\n", text, size, whole);
    return !skimmed->failed && !whole->failed && skimmed->size == whole->size &&
           memcmp(skimmed->data, whole->data, whole->size) == 0;
}
