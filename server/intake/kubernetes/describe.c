/* kubectl describe nodes: what the objects say, for people. It is read as the objects that it tells
 * of, each on the line where its name stands. */
#include <string.h>

#include "base/text.h"
#include "intake/kubernetes/kubernetes.h"
#include "intake/syntax/cells.h"
#include "intake/syntax/lines.h"
#include "json/writer.h"

enum { LINE_SIZE = 2048, ROOM_BESIDE_BYTES = 1 << 20 };

/* The entries of one section of a node: on the line of its heading, and indented below it. */
typedef struct section {
    sl_lines lines;
    const char *name;
    bool inside;
    char *entry;
    char line[LINE_SIZE];
} section;

static section
open_section(const char *text, size_t size, const char *name)
{
    return (section){.lines = {.at = text, .end = text + size}, .name = name};
}

/* Past the lines of other sections. False at the end of the text. */
static bool
find_own(section *s)
{
    const char *line = NULL;
    size_t length = 0;

    for (sl_lines at = s->lines; sl_lines_next(&at, &line, &length); s->lines = at)
        if (s->inside || (length > 0 && *line != ' ' && *line != '\t'))
            return true;
    return false;
}

static bool
next_entry(section *s)
{
    const size_t length = strlen(s->name);
    bool cut = false;

    while (find_own(s) && sl_lines_copy(&s->lines, s->line, sizeof s->line, &cut)) {
        char *text = s->line;
        if (*text != ' ' && *text != '\0') {
            s->inside = strncmp(text, s->name, length) == 0 && text[length] == ':';
            text += s->inside ? length + 1 : strlen(text);
        }
        s->entry = sl_cell_trim(text);
        if (s->inside && *s->entry != '\0' && !cut)
            return true;
    }
    return false;
}

/* Entries like "name=value" or "name:  value" as an object. */
static void
write_members(sl_writer *w, const char *key, section s, char separator)
{
    sl_write_key(w, key);
    sl_write_object(w);
    while (next_entry(&s)) {
        char *const at = strchr(s.entry, separator);
        if (at == NULL)
            continue;
        *at = '\0';
        sl_put_text(w, s.entry, sl_cell_trim(at + 1));
    }
    sl_write_object_end(w);
}

/* "nvidia.com/gpu=present:NoSchedule", "node.kubernetes.io/unschedulable:NoSchedule". */
static void
write_taints(sl_writer *w, section s)
{
    sl_write_key(w, "taints");
    sl_write_array(w);
    while (next_entry(&s)) {
        s.entry[strcspn(s.entry, "=:")] = '\0';
        sl_write_object(w);
        sl_put_text(w, "key", s.entry);
        sl_write_object_end(w);
    }
    sl_write_array_end(w);
}

/* A table: of a condition its type, its state, two dates of six words each and why. */
static void
write_conditions(sl_writer *w, section s)
{
    enum { REASON = 14 };
    static const char *const states[] = {"True", "False", "Unknown"};
    sl_cells words;

    sl_write_key(w, "conditions");
    sl_write_array(w);
    while (next_entry(&s)) {
        sl_cells_words(s.entry, &words);
        if (words.count < 2 ||
            sl_text_index(words.at[1], states, sizeof states / sizeof states[0]) < 0)
            continue; /* the heading */
        sl_write_object(w);
        sl_put_text(w, "type", words.at[0]);
        sl_put_text(w, "status", words.at[1]);
        if (words.count > REASON)
            sl_put_text(w, "reason", words.at[REASON]);
        sl_write_object_end(w);
    }
    sl_write_array_end(w);
}

/* text: the lines of one node. */
static void
write_node(sl_writer *w, const char *text, size_t size)
{
    section name = open_section(text, size, "Name");
    section unschedulable = open_section(text, size, "Unschedulable");

    sl_write_object(w);
    sl_put_text(w, "kind", "Node");
    sl_write_key(w, "metadata");
    sl_write_object(w);
    sl_put_text(w, "name", next_entry(&name) ? name.entry : NULL);
    write_members(w, "labels", open_section(text, size, "Labels"), '=');
    sl_write_object_end(w);
    sl_write_key(w, "spec");
    sl_write_object(w);
    sl_put_bool(w, "unschedulable",
                next_entry(&unschedulable) && sl_text_equal(unschedulable.entry, "true"));
    write_taints(w, open_section(text, size, "Taints"));
    sl_write_object_end(w);
    sl_write_key(w, "status");
    sl_write_object(w);
    write_members(w, "capacity", open_section(text, size, "Capacity"), ':');
    write_members(w, "allocatable", open_section(text, size, "Allocatable"), ':');
    write_conditions(w, open_section(text, size, "Conditions"));
    sl_write_object_end(w);
    sl_write_object_end(w);
}

static bool
begins_node(const char *line, size_t length)
{
    static const char name[] = "Name:";
    return length >= sizeof name - 1 && memcmp(line, name, sizeof name - 1) == 0;
}

/* A list of all nodes, with as many lines before each as there are in the text. How many. */
static uint32_t
write_nodes(const sl_raw *raw, sl_buffer *out)
{
    const char *const end = raw->text + raw->size, *begin = NULL, *line = NULL;
    sl_lines lines = {.at = raw->text, .end = end};
    uint32_t nodes = 0, written = 1, at = 0;
    size_t length = 0;
    bool more = true;

    sl_buffer_text(out, "[");
    while (more) {
        more = sl_lines_next(&lines, &line, &length);
        if (more && !begins_node(line, length))
            continue;
        const char *const behind = more ? line : end;
        if (begin != NULL) {
            sl_writer w;
            for (; written < at; written++)
                sl_buffer_text(out, "\n");
            sl_buffer_text(out, nodes++ > 0 ? "," : "");
            sl_writer_init(&w, out);
            write_node(&w, begin, (size_t)(behind - begin));
        }
        begin = behind;
        at = lines.number;
    }
    sl_buffer_text(out, "]");
    return nodes;
}

static sl_code
read_describe(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    sl_buffer text;

    sl_buffer_init(&text, 2 * raw->size + ROOM_BESIDE_BYTES);
    const uint32_t nodes = write_nodes(raw, &text);
    const sl_raw objects = {raw->name, text.data, text.size};
    const sl_code code =
        text.failed  ? sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file")
        : nodes == 0 ? sl_fail(err, SL_E_SYNTAX, "malformed_description", "",
                               "line 1: no line begins with \"Name:\"")
                     : sl_kubernetes_nodes_format.read(&objects, findings, err);
    sl_buffer_clear(&text);
    return code;
}

static uint32_t
recognise_describe(const sl_sample *sample)
{
    return sample->shape == SL_SHAPE_TEXT && sl_sample_line_begins(sample, "Name:") &&
                   sl_sample_line_begins(sample, "Capacity:") &&
                   sl_sample_line_begins(sample, "Allocatable:")
               ? 92
               : 0;
}

const sl_format sl_kubernetes_describe_format = {"kubernetes_describe", "kubectl describe nodes",
                                                 recognise_describe, read_describe, 60};
