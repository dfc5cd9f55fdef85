/* gres.conf: the devices of nodes, often one line per socket or device. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "intake/host_lists.h"
#include "intake/slurm/keys.h"
#include "intake/slurm/slurm.h"

enum { TEXTS_MAX_BYTES = 96 * 1024 * 1024, ENTRY_SIZE = 256 };

static const char *const paths[SL_SLURM_ITEM_COUNT] = {
    "NodeName", "Name", "", "", "", "", "", "", "", "", "",
};

/* What a line gives one of its nodes, as a Gres= text would have it. First as offsets, since the
 * texts move while they grow. */
typedef struct giving {
    union {
        size_t at;
        const char *text;
    } node, gres; /* "" for a line without nodes */
    uint32_t line;
} giving;

typedef struct reading {
    sl_findings *findings;
    sl_slurm_nodes *nodes;
    sl_buffer texts;
    sl_buffer givings; /* of struct giving */
    giving now;        /* of the line that is read */
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

/* The devices of a line, "" where they are not understood. */
static void
write_gres(reading *r, const sl_slurm_keys *keys, const char *name, char gres[ENTRY_SIZE])
{
    const char *const type = sl_slurm_keys_get(keys, "Type");
    uint64_t count = 0;

    const bool counted = count_devices(keys, &count);
    if (counted && sl_text_format(gres, ENTRY_SIZE, "%s%s%s:%" PRIu64, name,
                                  type != NULL ? ":" : "", type != NULL ? type : "", count))
        return;
    gres[0] = '\0';
    if (sl_slurm_is_accelerator(name)) /* what else jobs share is counted in bytes and the like */
        sl_findings_warn(r->findings, "odd_gres", keys->line, "File",
                         "how many devices these are is not understood: they are left out");
}

static sl_code
give(void *context, const char *node, sl_errors *err)
{
    reading *const r = context;

    (void)err;
    r->now.node.at = keep(r, node);
    sl_buffer_append(&r->givings, &r->now, sizeof r->now);
    return SL_OK;
}

static sl_code
take_line(reading *r, const sl_slurm_keys *keys, sl_errors *err)
{
    const char *const nodes = sl_slurm_keys_get(keys, "NodeName");
    const char *const name = sl_slurm_keys_get(keys, "Name");
    uint64_t hosts = 0;
    char gres[ENTRY_SIZE] = "";

    if (keys->too_long)
        sl_findings_warn(r->findings, "too_long", keys->line, NULL,
                         "a line is too long to be read");
    else if (sl_text_equal_ignoring_case(keys->list[0].key, "include"))
        sl_findings_warn(r->findings, "include", keys->line, "Include",
                         "an included file is not here: its devices are missing");
    note_detection(r, keys);
    if (name == NULL && nodes == NULL)
        return SL_OK;
    if (name != NULL)
        write_gres(r, keys, name, gres);
    r->now = (giving){.gres = {.at = keep(r, gres)}, .line = keys->line};
    if (nodes == NULL)
        return give(r, "", err);
    if (sl_hosts_count(nodes, &hosts))
        return sl_hosts_each(nodes, give, r, err);
    sl_host_list_left_out(r->findings, keys->line, "NodeName", nodes);
    return SL_OK;
}

static int
compare_givings(const void *a, const void *b)
{
    const giving *const x = a, *const y = b;
    const int order = sl_hosts_compare(&x->node.text, &y->node.text);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

/* Most files name their nodes in order. */
static void
sort(giving *givings, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (compare_givings(&givings[i - 1], &givings[i]) > 0) {
            qsort(givings, count, sizeof *givings, compare_givings);
            return;
        }
    }
}

/* What all lines give one node. */
static sl_code
add_node(reading *r, const giving *givings, size_t count, sl_buffer *gres, sl_errors *err)
{
    sl_slurm_node node = {.line = givings[0].line, .paths = paths, .count = 1};

    gres->size = 0;
    for (size_t i = 0; i < count; i++)
        if (*givings[i].gres.text != '\0')
            sl_buffer_format(gres, "%s%s", gres->size > 0 ? "," : "", givings[i].gres.text);
    if (gres->size > 0 && !gres->failed)
        node.item[SL_SLURM_GRES] = (sl_slurm_said){gres->data, givings[0].line};
    if (*givings[0].node.text != '\0')
        node.item[SL_SLURM_NAME] = (sl_slurm_said){givings[0].node.text, givings[0].line};
    else
        sl_findings_warn(r->findings, "no_node_names", givings[0].line, "Name",
                         "the devices are of every node that reads this file: which ones those are "
                         "is not said");
    return sl_slurm_node_add(r->nodes, &node, err);
}

static sl_code
add_all(reading *r, sl_errors *err)
{
    const size_t count = r->givings.size / sizeof(giving);
    giving *const givings = (giving *)(void *)r->givings.data;
    sl_buffer gres;
    sl_code code = SL_OK;

    if (r->givings.failed || r->texts.failed)
        return sl_fail(err, SL_E_RANGE, "too_many", "", "too many lines for too many nodes");
    for (size_t i = 0; i < count; i++) {
        const size_t node = givings[i].node.at, text = givings[i].gres.at;
        givings[i].node.text = r->texts.data + node;
        givings[i].gres.text = r->texts.data + text;
    }
    sort(givings, count);
    sl_buffer_init(&gres, TEXTS_MAX_BYTES);
    for (size_t at = 0, behind = 0; at < count && code == SL_OK; at = behind) {
        for (behind = at;
             behind < count && sl_text_equal(givings[behind].node.text, givings[at].node.text);)
            behind++;
        code = add_node(r, givings + at, behind - at, &gres, err);
    }
    sl_buffer_clear(&gres);
    return code;
}

static uint32_t
recognise_gres_conf(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_TEXT)
        return 0;
    const bool named = sl_slurm_line_begins(sample, "Name=") ||
                       sl_text_holds_ignoring_case(sample->head, " Name=");
    if (named && (sl_text_holds_ignoring_case(sample->head, " File=") ||
                  sl_text_holds_ignoring_case(sample->head, " MultipleFiles=") ||
                  sl_text_holds_ignoring_case(sample->head, " Count=") ||
                  sl_text_holds_ignoring_case(sample->head, " AutoDetect=")))
        return 95;
    /* A line that names no device may stand below the nodes of slurm.conf, which do. */
    return sl_slurm_line_begins(sample, "AutoDetect=") ? 80 : 0;
}

static sl_code
read_gres_conf(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    const uint32_t before = sl_findings_count(findings);
    reading r = {.findings = findings};
    sl_slurm_keys keys;

    sl_code code = sl_slurm_nodes_new(findings, &r.nodes, err);
    if (code != SL_OK)
        return code;
    sl_buffer_init(&r.texts, TEXTS_MAX_BYTES);
    sl_buffer_init(&r.givings, TEXTS_MAX_BYTES);
    sl_slurm_keys_init(&keys, raw);
    while (code == SL_OK && !r.texts.failed && !r.givings.failed && sl_slurm_keys_next(&keys))
        code = take_line(&r, &keys, err);
    sl_slurm_keys_clear(&keys);
    if (code == SL_OK)
        code = add_all(&r, err);
    sl_buffer_clear(&r.texts);
    sl_buffer_clear(&r.givings);
    return code == SL_OK ? sl_slurm_need_hosts(findings, before, err) : code;
}

const sl_format sl_slurm_gres_conf_format = {"slurm_gres_conf", "gres.conf", recognise_gres_conf,
                                             read_gres_conf, 42};
