/* The columns of sinfo: those that a header names, and where there is none (-h) those that all
 * cells of a column look like, where that leaves no choice. */
#include "intake/slurm/sinfo_columns.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "intake/syntax/lines.h"

/* sinfo -O gives a column as many characters where none are asked for, and cuts values to fit, with
 * no blank between one that fills its column and the next. */
enum { COLUMN_WIDTH = 20 };

static const struct {
    const char *name;
    int column;
} headers[] = {
    {"NODELIST", SL_SLURM_NAME},       {"HOSTNAMES", SL_SLURM_NAME},
    {"GRES", SL_SLURM_GRES},           {"AVAIL_FEATURES", SL_SLURM_FEATURES},
    {"FEATURES", SL_SLURM_FEATURES},   {"ACTIVE_FEATURES", SL_SLURM_FEATURES},
    {"STATE", SL_SLURM_STATE},         {"STATECOMPLETE", SL_SLURM_STATE},
    {"REASON", SL_SLURM_REASON},       {"MEMORY", SL_SLURM_MEMORY},
    {"CPUS", SL_SLURM_CPUS},           {"NODES", SL_SINFO_NODES},
    {"PARTITION", SL_SINFO_PARTITION}, {"CLUSTER", SL_SINFO_CLUSTER},
    {"AVAIL", SL_SINFO_OTHER},         {"ALLOCMEM", SL_SINFO_OTHER},
    {"ALLOCNODES", SL_SINFO_OTHER},    {"COMMENT", SL_SINFO_OTHER},
    {"CORES", SL_SINFO_OTHER},         {"CPUS(A/I/O/T)", SL_SINFO_OTHER},
    {"CPU_LOAD", SL_SINFO_OTHER},      {"DEFAULTTIME", SL_SINFO_OTHER},
    {"EXTRA", SL_SINFO_OTHER},         {"FREE_MEM", SL_SINFO_OTHER},
    {"GRES_USED", SL_SINFO_OTHER},     {"GROUPS", SL_SINFO_OTHER},
    {"JOB_SIZE", SL_SINFO_OTHER},      {"MAX_CPUS_PER_NODE", SL_SINFO_OTHER},
    {"NODES(A/I)", SL_SINFO_OTHER},    {"NODES(A/I/O/T)", SL_SINFO_OTHER},
    {"NODE_ADDR", SL_SINFO_OTHER},     {"OVERSUBSCRIBE", SL_SINFO_OTHER},
    {"PORT", SL_SINFO_OTHER},          {"PREEMPT_MODE", SL_SINFO_OTHER},
    {"PRIORITY", SL_SINFO_OTHER},      {"PRIO_JOB_FACTOR", SL_SINFO_OTHER},
    {"PRIO_TIER", SL_SINFO_OTHER},     {"RESERVATION", SL_SINFO_OTHER},
    {"ROOT", SL_SINFO_OTHER},          {"S:C:T", SL_SINFO_OTHER},
    {"SHARE", SL_SINFO_OTHER},         {"SOCKETS", SL_SINFO_OTHER},
    {"THREADS", SL_SINFO_OTHER},       {"TIMELIMIT", SL_SINFO_OTHER},
    {"TIMESTAMP", SL_SINFO_OTHER},     {"TMP_DISK", SL_SINFO_OTHER},
    {"USER", SL_SINFO_OTHER},          {"VERSION", SL_SINFO_OTHER},
    {"WEIGHT", SL_SINFO_OTHER},
};

/* The column of a name, which may have lost its end to a narrow column; -1 of none. */
static int
column_of(const sl_sinfo_cell *name)
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

sl_sinfo_cell
sl_sinfo_trim(const char *from, const char *to)
{
    assert(from != NULL && to != NULL);

    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return (sl_sinfo_cell){from, (size_t)(to - from)};
}

/* Padding may be tabs. */
static bool
is_between(char c, char between)
{
    return c == between || (between == ' ' && c == '\t');
}

/* Cuts a line; a separator inside brackets is of a list of hosts. Returns how many cells,
 * SL_SINFO_CELLS_MAX at most. */
static uint32_t
split_of(const char *line, size_t length, char between, sl_sinfo_cell cells[SL_SINFO_CELLS_MAX])
{
    const char *at = line, *const last = line + length;
    uint32_t count = 0;

    while (count < SL_SINFO_CELLS_MAX) {
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
        cells[count++] = sl_sinfo_trim(at, end);
        if (end == last)
            return count;
        at = end + 1;
    }
    return count;
}

static uint32_t
split(const char *line, char between, sl_sinfo_cell cells[SL_SINFO_CELLS_MAX])
{
    return split_of(line, strlen(line), between, cells);
}

bool
sl_sinfo_header_read(const char *line, sl_sinfo_table *out)
{
    assert(line != NULL && out != NULL);

    static const char separators[] = {'|', ';', ','};
    sl_sinfo_cell cells[SL_SINFO_CELLS_MAX];
    uint32_t known = 0, useful = 0;

    *out = (sl_sinfo_table){.between = ' '};
    for (size_t i = sizeof separators; i-- > 0;)
        if (strchr(line, separators[i]) != NULL)
            out->between = separators[i];
    out->count = split(line, out->between, cells);
    while (out->count > 0 && cells[out->count - 1].length == 0)
        out->count--;
    for (uint32_t i = 0; i < out->count; i++) {
        const int column = cells[i].length > 0 ? column_of(&cells[i]) : -1;
        out->column[i] = column < 0 ? SL_SINFO_OTHER : column;
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
free_column(const sl_sinfo_table *t)
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

/* Whether all columns are as wide as sinfo -O makes them where it is not told. */
static bool
is_fixed(const sl_sinfo_table *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->start[i] != (size_t)i * COLUMN_WIDTH)
            return false;
    return t->count > 1;
}

/* Devices whose number is there: the last parenthesis of theirs begins, and nothing behind its
 * end. */
static bool
is_counted(const sl_sinfo_cell *value)
{
    size_t from = value->length;

    while (from > 0 && value->at[from - 1] != '(')
        from--;
    const char *const end = from == 0 ? NULL : memchr(value->at + from, ')', value->length - from);
    return from > 0 && (end == NULL || end + 1 == value->at + value->length);
}

/* Cells where they stand under their names. A value that runs into the next column has lost its
 * end, or is aligned to the right: it is left out, and false returned where it would have been of
 * use. Of columns of a fixed width all begin where their names do, and no number of devices is lost
 * that more follows. */
static bool
cut_at_starts(const sl_sinfo_table *t, const char *line, sl_sinfo_cell cells[SL_SINFO_CELLS_MAX])
{
    const size_t length = strlen(line);
    const bool fixed = is_fixed(t);
    bool whole = true;

    for (uint32_t i = 0; i < t->count; i++) {
        const size_t from = t->start[i] < length ? t->start[i] : length;
        const size_t next = i + 1 < t->count ? t->start[i + 1] : length;
        const size_t to = next < length ? next : length;
        const bool runs_in = from > 0 && line[from - 1] != ' ' && line[from] != ' ';
        const bool runs_on = to < length && to > 0 && line[to - 1] != ' ' && line[to] != ' ';
        cells[i] = sl_sinfo_trim(line + from, line + to);
        if ((runs_in && !fixed) || (runs_on && !(fixed && is_counted(&cells[i]))))
            cells[i].length = 0;
        whole = whole && !((runs_in || runs_on) && t->column[i] < SL_SLURM_ITEM_COUNT);
    }
    return whole;
}

/* Devices of a node; those in use tell their indices, "gpu:a100:2(IDX:0-1)". */
static bool
holds_devices(const sl_sinfo_cell *value)
{
    static const char in_use[] = "(IDX:";
    bool all = value->length > 4 && strncmp(value->at, "gpu:", 4) == 0;

    for (size_t i = 0; all && i + sizeof in_use - 1 <= value->length; i++)
        all = strncmp(value->at + i, in_use, sizeof in_use - 1) != 0;
    return all;
}

static bool
is_nothing(const sl_sinfo_cell *value)
{
    return (value->length == 6 && strncmp(value->at, "(null)", 6) == 0) ||
           (value->length == 3 && strncmp(value->at, "N/A", 3) == 0);
}

/* Whether the column that was told by its devices has some, or none, in this row too: that of a
 * header that nobody knows has not. */
static bool
looks_guessed(const sl_sinfo_table *t, const sl_sinfo_cell cells[SL_SINFO_CELLS_MAX])
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->column[i] == SL_SLURM_GRES && !holds_devices(&cells[i]) && !is_nothing(&cells[i]))
            return false;
    return true;
}

bool
sl_sinfo_cut_row(const sl_sinfo_table *t, const char *line, sl_sinfo_cell cells[SL_SINFO_CELLS_MAX],
                 bool *whole)
{
    assert(t != NULL && line != NULL && cells != NULL && whole != NULL);

    const int free_at = free_column(t);

    *whole = true;
    uint32_t count = split(line, t->between, cells);
    while (count > t->count && cells[count - 1].length == 0)
        count--; /* a separator behind the last column */
    if (count > t->count && free_at >= 0) {
        const uint32_t more = count - t->count, at = (uint32_t)free_at;
        cells[at].length = (size_t)(cells[at + more].at + cells[at + more].length - cells[at].at);
        memmove(&cells[at + 1], &cells[at + 1 + more], (t->count - at - 1) * sizeof cells[0]);
        return count < SL_SINFO_CELLS_MAX;
    }
    if (t->guessed && (count != t->count || !looks_guessed(t, cells)))
        return false;
    if (t->between == ' ' && count != t->count) {
        *whole = cut_at_starts(t, line, cells);
        return true;
    }
    if (count < t->count) /* a row that was cut off: an empty cell has its separators */
        return false;
    for (uint32_t i = t->count; i < count; i++)
        if (cells[i].length > 0)
            return false;
    return true;
}

bool
sl_sinfo_is_header(const char *line, sl_sinfo_table *out)
{
    assert(line != NULL && out != NULL);

    const char *const start = line + strspn(line, " ");
    return isupper((unsigned char)start[0]) && !islower((unsigned char)start[1]) &&
           sl_sinfo_header_read(line, out);
}

bool
sl_sinfo_has_column(const sl_sinfo_table *t, int column)
{
    assert(t != NULL);

    for (uint32_t i = 0; i < t->count; i++)
        if (t->column[i] == column)
            return true;
    return false;
}

static bool
is_state(const sl_sinfo_cell *value)
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

/* A host, or a list of them: letters and digits both, which partitions have less often. */
static bool
is_hosts(const sl_sinfo_cell *value)
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
    sl_sinfo_cell last;
} looks;

static void
look_at(looks *l, const sl_sinfo_cell *value, bool first)
{
    l->hosts = (first || l->hosts) && is_hosts(value);
    l->state = (first || l->state) && is_state(value);
    l->devices = (first || l->devices) && (holds_devices(value) || is_nothing(value));
    l->any_device = l->any_device || holds_devices(value);
    l->repeats = l->repeats || (!first && l->last.length == value->length &&
                                memcmp(l->last.at, value->at, value->length) == 0);
    l->last = *value;
}

/* One column of hosts and one of devices; of two that look like hosts the one that never
 * repeats. */
static bool
name_columns(const looks *columns, sl_sinfo_table *out)
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
                                                                 : SL_SINFO_OTHER;
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

bool
sl_sinfo_guess(const char *text, const char *end, sl_sinfo_table *out)
{
    assert(text != NULL && end != NULL && out != NULL);

    looks columns[SL_SINFO_CELLS_MAX] = {0};
    sl_lines lines = {.at = text, .end = end};
    sl_sinfo_cell cells[SL_SINFO_CELLS_MAX];
    const char *line = NULL;
    size_t length = 0;
    uint32_t rows = 0;

    *out = (sl_sinfo_table){.guessed = true};
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
