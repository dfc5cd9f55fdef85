/* gres.conf: the devices of nodes, often one line per socket or device. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "intake/slurm.h"
#include "intake/slurm_keys.h"

enum { TEXTS_MAX_BYTES = 128 * 1024 * 1024, ENTRY_SIZE = 256 };

static const char *const paths[SL_SLURM_ITEM_COUNT] = {
    "NodeName", "Name", "", "", "", "", "", "", "", "", "",
};

/* A line: its nodes, and its devices as a Gres= text would have them. First as offsets, since the
 * texts move while they grow. */
typedef struct line {
    union {
        size_t at;
        const char *text;
    } nodes, gres;
    uint32_t number;
} line;

typedef struct reading {
    sl_findings *findings;
    sl_buffer texts;
    sl_buffer lines; /* of struct line */
} reading;

static size_t
keep(reading *r, const char *text)
{
    const size_t at = r->texts.size;
    sl_buffer_append(&r->texts, text, strlen(text) + 1);
    return at;
}

/* Devices of a line: Count=, or else as many as there are files. Several files of one device are
 * MultipleFiles=. */
static bool
count_devices(const sl_slurm_keys *keys, uint64_t *out)
{
    const char *const count = sl_slurm_keys_get(keys, "Count");
    const char *const files = sl_slurm_keys_get(keys, "File");

    *out = 1;
    if (count != NULL)
        return sl_text_to_uint(count, out);
    return files == NULL || sl_hosts_count(files, out);
}

static void
note_detection(reading *r, const sl_slurm_keys *keys)
{
    const char *const detect = sl_slurm_keys_get(keys, "AutoDetect");

    if (detect != NULL && !sl_text_equal_ignoring_case(detect, "off"))
        sl_findings_warn(r->findings, "autodetect", keys->line, "AutoDetect",
                         "devices are found when a node starts (AutoDetect=%.20s): this file does "
                         "not hold them all",
                         detect);
}

static void
take_line(reading *r, const sl_slurm_keys *keys)
{
    const char *const nodes = sl_slurm_keys_get(keys, "NodeName");
    const char *const name = sl_slurm_keys_get(keys, "Name");
    const char *const type = sl_slurm_keys_get(keys, "Type");
    char gres[ENTRY_SIZE] = "";
    uint64_t count = 0;

    if (keys->too_long)
        sl_findings_warn(r->findings, "too_long", keys->line, NULL,
                         "a line is too long to be read");
    note_detection(r, keys);
    if (name == NULL && nodes == NULL)
        return;
    if (name != NULL && !count_devices(keys, &count))
        sl_findings_warn(r->findings, "odd_gres", keys->line, "File",
                         "how many devices these are is not understood: they are left out");
    else if (name != NULL &&
             !sl_text_format(gres, sizeof gres, "%s%s%s:%" PRIu64, name, type != NULL ? ":" : "",
                             type != NULL ? type : "", count))
        gres[0] = '\0';
    const line made = {.nodes = {.at = keep(r, nodes != NULL ? nodes : "")},
                       .gres = {.at = keep(r, gres)},
                       .number = keys->line};
    sl_buffer_append(&r->lines, &made, sizeof made);
}

static int
compare_lines(const void *a, const void *b)
{
    const line *const x = a, *const y = b;
    const int order = strcmp(x->nodes.text, y->nodes.text);
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

/* The lines of the same nodes, together. */
static sl_code
add_group(reading *r, const line *lines, size_t count, sl_buffer *gres, sl_errors *err)
{
    sl_slurm_node node = {.line = lines[0].number, .paths = paths, .count = 1};

    gres->size = 0;
    for (size_t i = 0; i < count; i++)
        if (*lines[i].gres.text != '\0')
            sl_buffer_format(gres, "%s%s", gres->size > 0 ? "," : "", lines[i].gres.text);
    if (gres->size > 0 && !gres->failed)
        node.item[SL_SLURM_GRES] = (sl_slurm_said){gres->data, lines[0].number};
    if (*lines[0].nodes.text != '\0')
        node.item[SL_SLURM_NAME] = (sl_slurm_said){lines[0].nodes.text, lines[0].number};
    else
        sl_findings_warn(r->findings, "no_node_names", lines[0].number, "Name",
                         "the devices are of every node that reads this file: which ones those are "
                         "is not said");
    return sl_slurm_node_add(r->findings, &node, err);
}

static sl_code
add_all(reading *r, sl_errors *err)
{
    const size_t count = r->lines.size / sizeof(line);
    line *const lines = (line *)(void *)r->lines.data;
    sl_buffer gres;
    sl_code code = SL_OK;

    if (r->lines.failed || r->texts.failed)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for so many lines");
    for (size_t i = 0; i < count; i++) {
        const size_t nodes = lines[i].nodes.at, text = lines[i].gres.at;
        lines[i].nodes.text = r->texts.data + nodes;
        lines[i].gres.text = r->texts.data + text;
    }
    if (count > 0)
        qsort(lines, count, sizeof *lines, compare_lines);
    sl_buffer_init(&gres, TEXTS_MAX_BYTES);
    for (size_t at = 0, behind = 0; at < count && code == SL_OK; at = behind) {
        for (behind = at;
             behind < count && sl_text_equal(lines[behind].nodes.text, lines[at].nodes.text);)
            behind++;
        code = add_group(r, lines + at, behind - at, &gres, err);
    }
    sl_buffer_clear(&gres);
    return code;
}

uint32_t
sl_slurm_gres_conf_recognise(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_TEXT)
        return 0;
    if (sl_slurm_line_begins(sample, "AutoDetect="))
        return 90;
    const bool named = sl_slurm_line_begins(sample, "Name=") ||
                       sl_text_holds_ignoring_case(sample->head, " Name=");
    return named && (sl_text_holds_ignoring_case(sample->head, " File=") ||
                     sl_text_holds_ignoring_case(sample->head, " MultipleFiles=") ||
                     sl_text_holds_ignoring_case(sample->head, " Count=") ||
                     sl_text_holds_ignoring_case(sample->head, " AutoDetect="))
               ? 95
               : 0;
}

sl_code
sl_slurm_gres_conf_read(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    const uint32_t before = sl_findings_count(findings);
    reading r = {.findings = findings};
    sl_slurm_keys keys;

    sl_buffer_init(&r.texts, TEXTS_MAX_BYTES);
    sl_buffer_init(&r.lines, TEXTS_MAX_BYTES);
    sl_slurm_keys_init(&keys, raw);
    while (sl_slurm_keys_next(&keys))
        take_line(&r, &keys);
    sl_slurm_keys_clear(&keys);
    const sl_code code = add_all(&r, err);
    sl_buffer_clear(&r.texts);
    sl_buffer_clear(&r.lines);
    return code == SL_OK ? sl_slurm_need_hosts(findings, before, err) : code;
}
