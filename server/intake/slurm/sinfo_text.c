/* sinfo: a header that names its columns, then rows, separated by a character or padded. Which
 * columns there are and in which order is the caller's choice, so everything follows from the
 * header; without one (-h) from what all cells of a column look like, where that leaves no
 * choice. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "intake/slurm/sinfo_columns.h"
#include "intake/slurm/slurm.h"
#include "intake/syntax/lines.h"

enum { LINE_SIZE = 256 * 1024, CELL_SIZE = 64 * 1024, HEADER_LINES_MAX = 64 };

static const char *const paths[SL_SLURM_ITEM_COUNT] = {
    "NODELIST", "GRES", "", "AVAIL_FEATURES", "STATE", "REASON", "", "MEMORY", "CPUS", "", "",
};

/* A file while it is read. */
typedef struct reading {
    sl_findings *findings;
    sl_slurm_nodes *nodes;
    sl_sinfo_table table;
    bool has_header;
    uint32_t number; /* of the line */
    char *line;
    char *texts[SL_SLURM_ITEM_COUNT]; /* CELL_SIZE each */
} reading;

/* Says an item; of two columns for one the first counts, but states are gathered. */
static bool
say(reading *r, sl_slurm_node *node, sl_slurm_item item, const sl_sinfo_cell *value)
{
    char *const text = r->texts[item];
    const bool said = node->item[item].text != NULL;
    const size_t used = said && item == SL_SLURM_STATE ? strlen(text) + 1 : 0;

    if (value->length == 0 || (said && item != SL_SLURM_STATE))
        return true;
    if (used + value->length >= CELL_SIZE)
        return false;
    if (used > 0)
        text[used - 1] = '+';
    memcpy(text + used, value->at, value->length);
    text[used + value->length] = '\0';
    node->item[item] = (sl_slurm_said){text, node->line};
    return true;
}

static void
say_cluster(reading *r, const sl_sinfo_cell *value)
{
    char name[SL_HOST_NAME_MAX + 1];

    if (value->length == 0 || value->length >= sizeof name)
        return;
    memcpy(name, value->at, value->length);
    name[value->length] = '\0';
    const char *const known = sl_findings_cluster(r->findings);
    if (known != NULL && sl_slurm_says(name) && !sl_text_equal(known, name))
        sl_findings_warn(r->findings, "several_clusters", r->number, "CLUSTER",
                         "nodes of %.40s and of other clusters are taken together", known);
    else if (sl_slurm_says(name))
        sl_findings_cluster_name(r->findings, name);
}

/* How many nodes a row without names stands for. */
static bool
count_nodes(const reading *r, const sl_sinfo_cell *value, sl_slurm_node *node)
{
    uint64_t count = 0;
    size_t digits = 0;

    for (; digits < value->length && digits < 9 && isdigit((unsigned char)value->at[digits]);
         digits++)
        count = 10 * count + (uint64_t)(value->at[digits] - '0');
    if (digits == 0 || digits < value->length || count > SL_HOSTS_MAX)
        return false;
    node->count = (uint32_t)count;
    if (count > 0 && sl_sinfo_has_column(&r->table, SL_SINFO_PARTITION))
        sl_findings_warn(r->findings, "nodes_without_names", node->line, "NODES",
                         "the rows count nodes without naming them: those of several partitions "
                         "count more than once");
    return true;
}

static void
warn_of_row(reading *r, uint32_t line)
{
    sl_findings_warn(r->findings, "odd_row", line, NULL,
                     "the row does not stand under its header: it is left out");
}

static sl_code
take_row(reading *r, uint32_t line, sl_errors *err)
{
    const sl_sinfo_table *const t = &r->table;
    sl_slurm_node node = {.line = line, .paths = paths, .may_be_cut = t->between == ' '};
    const bool named = sl_sinfo_has_column(t, SL_SLURM_NAME);
    sl_sinfo_cell cells[SL_SINFO_CELLS_MAX];
    bool whole = true;

    if (!sl_sinfo_cut_row(t, r->line, cells, &whole)) {
        warn_of_row(r, line);
        return SL_OK;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        bool fits = true;
        if (t->column[i] < SL_SLURM_ITEM_COUNT)
            fits = say(r, &node, (sl_slurm_item)t->column[i], &cells[i]);
        else if (t->column[i] == SL_SINFO_CLUSTER)
            say_cluster(r, &cells[i]);
        else if (t->column[i] == SL_SINFO_NODES && !named)
            fits = count_nodes(r, &cells[i], &node);
        if (!fits) {
            warn_of_row(r, line);
            return SL_OK;
        }
    }
    /* A partition without nodes has a row too: its state is none, in its column or beside it. Other
     * columns have "n/a" of nodes that are there. */
    const char *const state = node.item[SL_SLURM_STATE].text;
    const bool nobody = named ? node.item[SL_SLURM_NAME].text == NULL : node.count == 0;
    if ((state != NULL && sl_text_equal(state, "n/a")) || (!named && nobody) ||
        (nobody && strstr(r->line, " n/a") != NULL))
        return SL_OK;
    if (!whole)
        sl_findings_warn(r->findings, "columns_run_together", line, NULL,
                         "values run into the next column: those that may have lost their end are "
                         "left out, print columns wider");
    if (named && !sl_slurm_says(node.item[SL_SLURM_NAME].text)) {
        warn_of_row(r, line);
        return SL_OK;
    }
    return sl_slurm_node_add(r->nodes, &node, err);
}

/* Before a header, and between those of several clusters, anything may stand: the time, "CLUSTER:
 * a". */
static sl_code
take_line(reading *r, uint32_t number, sl_errors *err)
{
    const char *const start = r->line + strspn(r->line, " ");
    sl_sinfo_table header;

    r->number = number;
    if (*start == '\0')
        return SL_OK;
    if (strncmp(start, "CLUSTER: ", 9) == 0) {
        const sl_sinfo_cell name = sl_sinfo_trim(start + 9, start + strlen(start));
        say_cluster(r, &name);
        return SL_OK;
    }
    if (sl_sinfo_is_header(r->line, &header)) {
        r->table = header;
        r->has_header = true;
        return SL_OK;
    }
    return r->has_header ? take_row(r, number, err) : SL_OK;
}

static uint32_t
recognise_sinfo_text(const sl_sample *sample)
{
    char line[2048];
    sl_sinfo_table header;

    if (sample->shape != SL_SHAPE_TEXT)
        return 0;
    sl_lines lines = {.at = sample->head, .end = sample->head + strlen(sample->head)};
    bool cut = false;
    while (lines.number < HEADER_LINES_MAX && sl_lines_copy(&lines, line, sizeof line, &cut)) {
        if (line[strspn(line, " ")] == '\0')
            continue;
        if (sl_sinfo_header_read(line, &header))
            return header.count >= 2 ? 95 : 60;
    }
    /* Devices in a row of several cells: reading says what is missing. */
    return sl_sinfo_guess(sample->head, lines.end, &header) ? 55 : header.count > 0 ? 30 : 0;
}

static bool
reading_init(reading *r, sl_findings *findings)
{
    sl_arena *const arena = sl_findings_arena(findings);
    bool all = true;

    *r = (reading){.findings = findings, .line = sl_arena_alloc(arena, LINE_SIZE, 1)};
    for (uint32_t i = 0; i < SL_SLURM_ITEM_COUNT; i++) {
        r->texts[i] = sl_arena_alloc(arena, CELL_SIZE, 1);
        all = all && r->texts[i] != NULL;
    }
    return all && r->line != NULL;
}

/* Without a header anywhere, the columns are guessed before the first row is read. */
static sl_code
find_columns(reading *r, const sl_raw *raw, sl_errors *err)
{
    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    bool cut = false;
    sl_sinfo_table header;

    while (sl_lines_copy(&lines, r->line, LINE_SIZE, &cut))
        if (sl_sinfo_is_header(r->line, &header))
            return SL_OK;
    if (sl_sinfo_guess(raw->text, raw->text + raw->size, &r->table)) {
        r->has_header = true;
        sl_findings_warn(r->findings, "no_header", 1, NULL,
                         "no header names the columns: they are told by what stands in them");
        return SL_OK;
    }
    (void)sl_fail(err, SL_E_SYNTAX, "malformed_sinfo", "", "line 1: no header names the columns");
    sl_hint(err, "print it with its header: leave out -h (--noheader)");
    return SL_E_SYNTAX;
}

static sl_code
read_sinfo_text(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    const uint32_t before = sl_findings_count(findings);
    sl_code code = SL_OK;
    bool cut = false;
    reading r;

    if (!reading_init(&r, findings))
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the columns");
    code = sl_slurm_nodes_new(findings, &r.nodes, err);
    if (code == SL_OK)
        code = find_columns(&r, raw, err);
    while (code == SL_OK && sl_lines_copy(&lines, r.line, LINE_SIZE, &cut)) {
        if (cut)
            sl_findings_warn(findings, "too_long", lines.number, NULL,
                             "a line of over %d bytes is left out", LINE_SIZE - 1);
        else
            code = take_line(&r, lines.number, err);
    }
    return code == SL_OK ? sl_slurm_need_hosts(findings, before, err) : code;
}

const sl_format sl_slurm_sinfo_text_format = {"slurm_sinfo_text",
                                              "sinfo with any columns, padded or separated",
                                              recognise_sinfo_text, read_sinfo_text, 45};
