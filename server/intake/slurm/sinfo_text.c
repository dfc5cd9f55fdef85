/* sinfo: a header that names its columns, then rows, separated by a character or padded. Which columns
 * there are and in which order is the caller's choice, so everything follows from the header; without
 * one (-h) from what all cells of a column look like, where that leaves no choice. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "intake/lines.h"
#include "intake/slurm/slurm.h"

enum { LINE_SIZE = 256 * 1024, CELLS_MAX = 64, CELL_SIZE = 64 * 1024, HEADER_LINES_MAX = 64 };

static const char *const paths[SL_SLURM_ITEM_COUNT] = {
    "NODELIST", "GRES", "", "AVAIL_FEATURES", "STATE", "REASON", "", "MEMORY", "CPUS", "", "",
};

/* What a column is of use for, besides the items of a node. */
enum { COLUMN_NODES = SL_SLURM_ITEM_COUNT, COLUMN_PARTITION, COLUMN_CLUSTER, COLUMN_OTHER };

static const struct {
    const char *name;
    int column;
} headers[] = {
    {"NODELIST", SL_SLURM_NAME},     {"HOSTNAMES", SL_SLURM_NAME},
    {"GRES", SL_SLURM_GRES},         {"AVAIL_FEATURES", SL_SLURM_FEATURES},
    {"FEATURES", SL_SLURM_FEATURES}, {"ACTIVE_FEATURES", SL_SLURM_FEATURES},
    {"STATE", SL_SLURM_STATE},       {"STATECOMPLETE", SL_SLURM_STATE},
    {"REASON", SL_SLURM_REASON},     {"MEMORY", SL_SLURM_MEMORY},
    {"CPUS", SL_SLURM_CPUS},         {"NODES", COLUMN_NODES},
    {"PARTITION", COLUMN_PARTITION}, {"CLUSTER", COLUMN_CLUSTER},
    {"AVAIL", COLUMN_OTHER},         {"ALLOCMEM", COLUMN_OTHER},
    {"ALLOCNODES", COLUMN_OTHER},    {"COMMENT", COLUMN_OTHER},
    {"CORES", COLUMN_OTHER},         {"CPUS(A/I/O/T)", COLUMN_OTHER},
    {"CPU_LOAD", COLUMN_OTHER},      {"DEFAULTTIME", COLUMN_OTHER},
    {"EXTRA", COLUMN_OTHER},         {"FREE_MEM", COLUMN_OTHER},
    {"GRES_USED", COLUMN_OTHER},     {"GROUPS", COLUMN_OTHER},
    {"JOB_SIZE", COLUMN_OTHER},      {"MAX_CPUS_PER_NODE", COLUMN_OTHER},
    {"NODES(A/I)", COLUMN_OTHER},    {"NODES(A/I/O/T)", COLUMN_OTHER},
    {"NODE_ADDR", COLUMN_OTHER},     {"OVERSUBSCRIBE", COLUMN_OTHER},
    {"PORT", COLUMN_OTHER},          {"PREEMPT_MODE", COLUMN_OTHER},
    {"PRIORITY", COLUMN_OTHER},      {"PRIO_JOB_FACTOR", COLUMN_OTHER},
    {"PRIO_TIER", COLUMN_OTHER},     {"RESERVATION", COLUMN_OTHER},
    {"ROOT", COLUMN_OTHER},          {"S:C:T", COLUMN_OTHER},
    {"SHARE", COLUMN_OTHER},         {"SOCKETS", COLUMN_OTHER},
    {"THREADS", COLUMN_OTHER},       {"TIMELIMIT", COLUMN_OTHER},
    {"TIMESTAMP", COLUMN_OTHER},     {"TMP_DISK", COLUMN_OTHER},
    {"USER", COLUMN_OTHER},          {"VERSION", COLUMN_OTHER},
    {"WEIGHT", COLUMN_OTHER},
};

/* A part of a line. */
typedef struct cell {
    const char *at;
    size_t length;
} cell;

typedef struct table {
    char between; /* ' ': columns are padded with blanks */
    bool guessed; /* no header named the columns */
    uint32_t count;
    int column[CELLS_MAX];
    size_t start[CELLS_MAX]; /* in the header line */
} table;

/* The column of a name, which may have lost its end to a narrow column; -1 of none. */
static int
column_of(const cell *name)
{
    enum { TELLING = 6 };
    int found = -1;

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        if (strncmp(headers[i].name, name->at, name->length) != 0)
            continue;
        if (headers[i].name[name->length] == '\0')
            return headers[i].column;
        if (name->length >= TELLING && found < 0)
            found = headers[i].column;
    }
    return found;
}

static cell
trim(const char *from, const char *to)
{
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return (cell){from, (size_t)(to - from)};
}

/* Padding may be tabs. */
static bool
is_between(char c, char between)
{
    return c == between || (between == ' ' && c == '\t');
}

/* Cuts a line; a separator inside brackets is of a list of hosts. Returns how many cells, CELLS_MAX at
 * most. */
static uint32_t
split_of(const char *line, size_t length, char between, cell cells[CELLS_MAX])
{
    const char *at = line, *const last = line + length;
    uint32_t count = 0;

    while (count < CELLS_MAX) {
        while (between == ' ' && at < last && is_between(*at, between))
            at++;
        if (between == ' ' && at == last)
            return count;
        const char *end = at;
        for (uint32_t depth = 0;
             end < last && (!is_between(*end, between) || (between == ',' && depth > 0)); end++) {
            depth += *end == '[' || *end == '(';
            depth -= (*end == ']' || *end == ')') && depth > 0;
        }
        cells[count++] = trim(at, end);
        if (end == last)
            return count;
        at = end + 1;
    }
    return count;
}

static uint32_t
split(const char *line, char between, cell cells[CELLS_MAX])
{
    return split_of(line, strlen(line), between, cells);
}

/* Whether the line names columns. A column that only a newer sinfo has is no reason against. */
static bool
read_header(const char *line, table *out)
{
    static const char separators[] = {'|', ';', ','};
    cell cells[CELLS_MAX];
    uint32_t known = 0, useful = 0;

    *out = (table){.between = ' '};
    for (size_t i = sizeof separators; i-- > 0;)
        if (strchr(line, separators[i]) != NULL)
            out->between = separators[i];
    out->count = split(line, out->between, cells);
    while (out->count > 0 && cells[out->count - 1].length == 0)
        out->count--;
    for (uint32_t i = 0; i < out->count; i++) {
        const int column = cells[i].length > 0 ? column_of(&cells[i]) : -1;
        out->column[i] = column < 0 ? COLUMN_OTHER : column;
        out->start[i] = (size_t)(cells[i].at - line);
        known += column >= 0;
        useful += out->column[i] == SL_SLURM_NAME || out->column[i] == SL_SLURM_GRES ||
                  out->column[i] == SL_SLURM_STATE;
    }
    return useful > 0 && 4 * known >= 3 * out->count;
}

/* The column that may hold what separates the others, or -1: a reason in padded columns, lists with
 * commas between commas. Two of them cannot be told apart. */
static int
free_column(const table *t)
{
    int found = -1;

    for (uint32_t i = 0; i < t->count; i++) {
        const bool is_free =
            t->between == ',' ? t->column[i] == SL_SLURM_GRES || t->column[i] == SL_SLURM_FEATURES
                              : t->column[i] == SL_SLURM_REASON;
        if (is_free && found >= 0)
            return -1;
        if (is_free)
            found = (int)i;
    }
    return found;
}

/* Cells where they stand under their names. A value that runs into the next column has lost its end,
 * or is aligned to the right: it is left out, and false returned where it would have been of use. */
static bool
cut_at_starts(const table *t, const char *line, cell cells[CELLS_MAX])
{
    const size_t length = strlen(line);
    bool whole = true;

    for (uint32_t i = 0; i < t->count; i++) {
        const size_t from = t->start[i] < length ? t->start[i] : length;
        const size_t next = i + 1 < t->count ? t->start[i + 1] : length;
        const size_t to = next < length ? next : length;
        const bool runs_in = from > 0 && line[from - 1] != ' ' && line[from] != ' ';
        const bool runs_on = to < length && to > 0 && line[to - 1] != ' ' && line[to] != ' ';
        cells[i] = runs_in || runs_on ? (cell){line + from, 0} : trim(line + from, line + to);
        whole = whole && !((runs_in || runs_on) && t->column[i] < SL_SLURM_ITEM_COUNT);
    }
    return whole;
}

/* The cells of a row, one for each column. False where it does not fit its header. *whole: no value
 * was lost. */
static bool
cut_row(const table *t, const char *line, cell cells[CELLS_MAX], bool *whole)
{
    const int free_at = free_column(t);

    *whole = true;
    uint32_t count = split(line, t->between, cells);
    while (count > t->count && cells[count - 1].length == 0)
        count--; /* a separator behind the last column */
    if (count > t->count && free_at >= 0) {
        const uint32_t more = count - t->count, at = (uint32_t)free_at;
        cells[at].length = (size_t)(cells[at + more].at + cells[at + more].length - cells[at].at);
        memmove(&cells[at + 1], &cells[at + 1 + more], (t->count - at - 1) * sizeof cells[0]);
        return count < CELLS_MAX;
    }
    if (t->guessed && count != t->count)
        return false;
    if (t->between == ' ' && count != t->count) {
        *whole = cut_at_starts(t, line, cells);
        return true;
    }
    for (uint32_t i = count; i < t->count; i++)
        cells[i] = (cell){line, 0};
    for (uint32_t i = t->count; i < count; i++)
        if (cells[i].length > 0)
            return false;
    return true;
}

/* A file while it is read. */
typedef struct reading {
    sl_findings *findings;
    table table;
    bool has_header;
    uint32_t number; /* of the line */
    char *line;
    char *texts[SL_SLURM_ITEM_COUNT]; /* CELL_SIZE each */
} reading;

/* Says an item; of two columns for one the first counts, but states are gathered. */
static bool
say(reading *r, sl_slurm_node *node, sl_slurm_item item, const cell *value)
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
say_cluster(reading *r, const cell *value)
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

static bool
has_column(const table *t, int column)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->column[i] == column)
            return true;
    return false;
}

/* How many nodes a row without names stands for. */
static bool
count_nodes(const reading *r, const cell *value, sl_slurm_node *node)
{
    uint64_t count = 0;
    size_t digits = 0;

    for (; digits < value->length && digits < 9 && isdigit((unsigned char)value->at[digits]);
         digits++)
        count = 10 * count + (uint64_t)(value->at[digits] - '0');
    if (digits == 0 || digits < value->length || count > SL_HOSTS_MAX)
        return false;
    node->count = (uint32_t)count;
    if (count > 0 && has_column(&r->table, COLUMN_PARTITION))
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
    const table *const t = &r->table;
    sl_slurm_node node = {.line = line, .paths = paths, .may_be_cut = t->between == ' '};
    const bool named = has_column(t, SL_SLURM_NAME);
    cell cells[CELLS_MAX];
    bool whole = true;

    if (!cut_row(t, r->line, cells, &whole)) {
        warn_of_row(r, line);
        return SL_OK;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        bool fits = true;
        if (t->column[i] < SL_SLURM_ITEM_COUNT)
            fits = say(r, &node, (sl_slurm_item)t->column[i], &cells[i]);
        else if (t->column[i] == COLUMN_CLUSTER)
            say_cluster(r, &cells[i]);
        else if (t->column[i] == COLUMN_NODES && !named)
            fits = count_nodes(r, &cells[i], &node);
        if (!fits) {
            warn_of_row(r, line);
            return SL_OK;
        }
    }
    /* A partition without nodes has a row too. */
    const char *const state = node.item[SL_SLURM_STATE].text;
    if ((state != NULL && sl_text_equal(state, "n/a")) || (!named && node.count == 0) ||
        strstr(r->line, " n/a") != NULL)
        return SL_OK;
    if (!whole)
        sl_findings_warn(r->findings, "columns_run_together", line, NULL,
                         "values run into the next column and are left out: print columns wider");
    if (named && !sl_slurm_says(node.item[SL_SLURM_NAME].text)) {
        warn_of_row(r, line);
        return SL_OK;
    }
    return sl_slurm_node_add(r->findings, &node, err);
}

/* Names of columns are in capitals: most rows are known by their first letters. */
static bool
is_header(const char *line, table *out)
{
    const char *const start = line + strspn(line, " ");
    return isupper((unsigned char)start[0]) && !islower((unsigned char)start[1]) &&
           read_header(line, out);
}

/* Before a header, and between those of several clusters, anything may stand: the time, "CLUSTER: a". */
static sl_code
take_line(reading *r, uint32_t number, sl_errors *err)
{
    const char *const start = r->line + strspn(r->line, " ");
    table header;

    r->number = number;
    if (*start == '\0')
        return SL_OK;
    if (strncmp(start, "CLUSTER: ", 9) == 0) {
        const cell name = trim(start + 9, start + strlen(start));
        say_cluster(r, &name);
        return SL_OK;
    }
    if (is_header(r->line, &header)) {
        r->table = header;
        r->has_header = true;
        return SL_OK;
    }
    return r->has_header ? take_row(r, number, err) : SL_OK;
}

static bool
is_state(const cell *value)
{
    char word[32];
    sl_slurm_state read;

    if (value->length == 0 || value->length >= sizeof word)
        return false;
    memcpy(word, value->at, value->length);
    word[value->length] = '\0';
    sl_slurm_state_read(word, &read);
    return read.state != SL_HOST_UNSAID && read.unknown[0] == '\0';
}

/* Devices of a node; those in use tell their indices, "gpu:a100:2(IDX:0-1)". */
static bool
holds_devices(const cell *value)
{
    static const char in_use[] = "(IDX:";
    bool all = value->length > 4 && strncmp(value->at, "gpu:", 4) == 0;

    for (size_t i = 0; all && i + sizeof in_use - 1 <= value->length; i++)
        all = strncmp(value->at + i, in_use, sizeof in_use - 1) != 0;
    return all;
}

static bool
is_nothing(const cell *value)
{
    return (value->length == 6 && strncmp(value->at, "(null)", 6) == 0) ||
           (value->length == 3 && strncmp(value->at, "N/A", 3) == 0);
}

/* A host, or a list of them: letters and digits both, which partitions have less often. */
static bool
is_hosts(const cell *value)
{
    bool letters = false, digits = false;

    for (size_t i = 0; i < value->length; i++) {
        const unsigned char c = (unsigned char)value->at[i];
        if (!isalnum(c) && strchr("-_.,[]", c) == NULL)
            return false;
        letters = letters || isalpha(c);
        digits = digits || isdigit(c);
    }
    return letters && digits && value->at[0] != '[' && !is_state(value);
}

/* What is true of all cells of a column so far. */
typedef struct looks {
    bool hosts, state, devices;
    bool any_device;
    bool repeats; /* a row has what the row before has */
    cell last;
} looks;

static void
look_at(looks *l, const cell *value, bool first)
{
    l->hosts = (first || l->hosts) && is_hosts(value);
    l->state = (first || l->state) && is_state(value);
    l->devices = (first || l->devices) && (holds_devices(value) || is_nothing(value));
    l->any_device = l->any_device || holds_devices(value);
    l->repeats = l->repeats || (!first && l->last.length == value->length &&
                                memcmp(l->last.at, value->at, value->length) == 0);
    l->last = *value;
}

/* One column of hosts and one of devices; of two that look like hosts the one that never repeats. */
static bool
name_columns(const looks *columns, table *out)
{
    uint32_t hosts = 0, alone = 0, devices = 0;

    for (uint32_t i = 0; i < out->count; i++) {
        hosts += columns[i].hosts;
        alone += columns[i].hosts && !columns[i].repeats;
        devices += columns[i].devices && columns[i].any_device;
    }
    if (devices != 1 || (hosts != 1 && alone != 1))
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        const looks *const l = &columns[i];
        out->column[i] = l->hosts && (hosts == 1 || !l->repeats) ? SL_SLURM_NAME
                         : l->devices && l->any_device           ? SL_SLURM_GRES
                         : l->state                              ? SL_SLURM_STATE
                                                                 : COLUMN_OTHER;
    }
    return true;
}

static char
separator_of(const char *line, size_t length)
{
    if (memchr(line, '|', length) != NULL)
        return '|';
    return memchr(line, ' ', length) == NULL && memchr(line, '\t', length) == NULL ? ',' : ' ';
}

/* The columns of a text that has no header. Rows are the lines with as many cells as the first one
 * that tells of devices. */
static bool
guess_table(const char *text, const char *end, table *out)
{
    looks columns[CELLS_MAX] = {0};
    sl_lines lines = {.at = text, .end = end};
    cell cells[CELLS_MAX];
    const char *line = NULL;
    size_t length = 0;
    uint32_t rows = 0;

    *out = (table){.guessed = true};
    while (sl_lines_next(&lines, &line, &length)) {
        char between = out->between;
        if (between == '\0')
            between = separator_of(line, length);
        const uint32_t count = split_of(line, length, between, cells);
        bool row = count == out->count;
        for (uint32_t i = 0; i < count && out->count == 0; i++)
            row = row || (count > 1 && holds_devices(&cells[i]));
        if (!row || count == 0)
            continue;
        out->count = count;
        out->between = between;
        for (uint32_t i = 0; i < count; i++)
            look_at(&columns[i], &cells[i], rows == 0);
        rows++;
    }
    return rows > 0 && name_columns(columns, out);
}

static uint32_t
recognise_sinfo_text(const sl_sample *sample)
{
    char line[2048];
    table header;

    if (sample->shape != SL_SHAPE_TEXT)
        return 0;
    sl_lines lines = {.at = sample->head, .end = sample->head + strlen(sample->head)};
    bool cut = false;
    while (lines.number < HEADER_LINES_MAX && sl_lines_copy(&lines, line, sizeof line, &cut)) {
        if (line[strspn(line, " ")] == '\0')
            continue;
        if (read_header(line, &header))
            return header.count >= 2 ? 95 : 60;
    }
    /* Devices in a row of several cells: reading says what is missing. */
    return guess_table(sample->head, lines.end, &header) ? 55 : header.count > 0 ? 30 : 0;
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
    table header;

    while (sl_lines_copy(&lines, r->line, LINE_SIZE, &cut))
        if (is_header(r->line, &header))
            return SL_OK;
    if (guess_table(raw->text, raw->text + raw->size, &r->table)) {
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
