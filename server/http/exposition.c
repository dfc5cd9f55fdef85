#include "http/exposition.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void
sl_exposition_family(sl_buffer *out, const char *name, const char *type, const char *help)
{
    assert(out != NULL && name != NULL && type != NULL && help != NULL);
    assert(strpbrk(help, "\\\n") == NULL);
    sl_buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
label_value(sl_buffer *out, const char *value)
{
    for (const char *at = value; *at != '\0';) {
        const size_t plain = strcspn(at, "\\\"\n");
        sl_buffer_append(out, at, plain);
        at += plain;
        if (*at == '\0')
            break;
        sl_buffer_text(out, *at == '\n' ? "\\n" : *at == '"' ? "\\\"" : "\\\\");
        at++;
    }
}

/* Everything of a sample before its value. */
static void
series(sl_buffer *out, const char *name, const sl_pair *labels, size_t label_count)
{
    assert(out != NULL && name != NULL && (labels != NULL || label_count == 0));

    sl_buffer_text(out, name);
    for (size_t i = 0; i < label_count; i++) {
        sl_buffer_format(out, "%s%s=\"", i == 0 ? "{" : ",", labels[i].name);
        label_value(out, labels[i].value);
        sl_buffer_text(out, "\"");
    }
    sl_buffer_text(out, label_count > 0 ? "} " : " ");
}

void
sl_exposition_count(sl_buffer *out, const char *name, const sl_pair *labels, size_t label_count,
                    uint64_t value)
{
    series(out, name, labels, label_count);
    sl_buffer_format(out, "%" PRIu64 "\n", value);
}

void
sl_exposition_time(sl_buffer *out, const char *name, const sl_pair *labels, size_t label_count,
                   uint64_t value_ns)
{
    static const uint64_t second_ns = 1000000000;

    series(out, name, labels, label_count);
    sl_buffer_format(out, "%" PRIu64 ".%09" PRIu64 "\n", value_ns / second_ns,
                     value_ns % second_ns);
}
