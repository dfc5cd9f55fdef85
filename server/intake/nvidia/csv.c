/* nvidia-smi --query-gpu=... --format=csv[,noheader][,nounits]: any columns in any order. */
#include "intake/nvidia/nvidia.h"

#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/devices.h"
#include "intake/syntax/cells.h"

typedef enum column {
    COLUMN_HOST,
    COLUMN_NAME,
    COLUMN_INDEX,
    COLUMN_UUID,
    COLUMN_BUS,
    COLUMN_MEMORY,
    COLUMN_RESERVED,
    COLUMN_MIG,
    COLUMN_LIMIT,
    COLUMN_DEFAULT_LIMIT,
    COLUMN_DRIVER,
    COLUMN_COUNT_OF_NODE,
    COLUMN_TIMESTAMP,
    COLUMN_CLUSTER,
    COLUMN_CLIQUE,
    COLUMNS
} column;

/* Columns as --help-query-gpu names them, their short forms, and what scripts call the host's. */
static const struct {
    const char *name;
    column column;
} columns[] = {
    {"hostname", COLUMN_HOST},
    {"host", COLUMN_HOST},
    {"node", COLUMN_HOST},
    {"nodename", COLUMN_HOST},
    {"node_name", COLUMN_HOST},
    {"server", COLUMN_HOST},
    {"machine", COLUMN_HOST},
    {"name", COLUMN_NAME},
    {"gpu_name", COLUMN_NAME},
    {"index", COLUMN_INDEX},
    {"uuid", COLUMN_UUID},
    {"gpu_uuid", COLUMN_UUID},
    {"pci.bus_id", COLUMN_BUS},
    {"gpu_bus_id", COLUMN_BUS},
    {"memory.total", COLUMN_MEMORY},
    {"memory.reserved", COLUMN_RESERVED},
    {"mig.mode.current", COLUMN_MIG},
    {"power.limit", COLUMN_LIMIT},
    {"enforced.power.limit", COLUMN_LIMIT},
    {"power.default_limit", COLUMN_DEFAULT_LIMIT},
    {"driver_version", COLUMN_DRIVER},
    {"count", COLUMN_COUNT_OF_NODE},
    {"timestamp", COLUMN_TIMESTAMP},
    {"fabric.clusterUuid", COLUMN_CLUSTER},
    {"fabric.cluster_uuid", COLUMN_CLUSTER},
    {"fabric.cliqueId", COLUMN_CLIQUE},
    {"fabric.clique_id", COLUMN_CLIQUE},
};

enum { COLUMN_NAMES = sizeof columns / sizeof columns[0] };

static const uint32_t ABSENT = UINT32_MAX; /* not a cell or column */

typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    uint32_t line;
    uint32_t at[COLUMNS];  /* cell of each column, or ABSENT */
    char unit[COLUMNS][8]; /* as the header says it */
    bool header;           /* there is one */
    char separator;        /* as the header, or else the first row, was cut; '\0' before */
    char first[256];       /* its first cell where that is no column: a host, if rows have it too */
    uint32_t node;         /* being read where no column names it; ABSENT: none yet */
    uint32_t last_index;
    uint32_t words; /* cells of the line before, where nothing is known of it and no cell counts */
    sl_cells cells;
} reading;

/* "memory.total [MiB]" is the column memory.total in MiB. */
static uint32_t
column_of(const char *cell, char unit[8])
{
    char name[64];
    (void)sl_text_copy(name, sizeof name, cell);
    char *const bracket = strchr(name, '[');
    unit[0] = '\0';
    if (bracket != NULL) {
        *bracket = '\0';
        (void)sl_text_copy(unit, 8, bracket + 1);
        unit[strcspn(unit, "]")] = '\0';
    }
    const char *const trimmed = sl_cell_trim(name);
    for (uint32_t i = 0; i < COLUMN_NAMES; i++)
        if (sl_text_equal_ignoring_case(columns[i].name, trimmed))
            return (uint32_t)columns[i].column;
    return COLUMNS;
}

/* A comma, but for what spreadsheets of some languages write in its place. */
static char
separator_of(const char *line)
{
    return strchr(line, ',') == NULL && strchr(line, ';') != NULL ? ';' : ',';
}

/* No column's name begins with a digit, and nearly every row has a cell that does. */
static bool
is_words(const sl_cells *cells)
{
    for (uint32_t i = 0; i < cells->count; i++)
        if (*cells->at[i] >= '0' && *cells->at[i] <= '9')
            return false;
    return true;
}

/* A header names a column that only nvidia-smi has, or a device and what it is; hosts and numbers
 * alone are of anybody's table. */
static bool
is_header(const sl_cells *cells)
{
    uint32_t known = 0;
    bool own = false, device = false;
    if (!is_words(cells))
        return false;
    for (uint32_t i = 0; i < cells->count; i++) {
        char unit[8];
        const uint32_t found = column_of(cells->at[i], unit);
        known += found < COLUMNS;
        device = device || (found < COLUMNS && found != COLUMN_HOST &&
                            found != COLUMN_COUNT_OF_NODE && found != COLUMN_TIMESTAMP);
        own =
            own || (found < COLUMNS && strchr(cells->at[i], '.') != NULL) || found == COLUMN_DRIVER;
    }
    return own || (device && known >= 2);
}

/* Rows are cut as their header is: who writes ';' writes "72,00 W" too. Only a line without it may
 * be the header of another output. */
static char
separator_in(const reading *r, const char *line)
{
    if (r->separator != '\0' && strchr(line, r->separator) != NULL)
        return r->separator;
    return separator_of(line);
}

static void
take_header(reading *r)
{
    for (uint32_t i = 0; i < COLUMNS; i++)
        r->at[i] = ABSENT;
    for (uint32_t i = 0; i < r->cells.count; i++) {
        char unit[8];
        const uint32_t found = column_of(r->cells.at[i], unit);
        if (found == COLUMNS || r->at[found] != ABSENT)
            continue;
        r->at[found] = i;
        memcpy(r->unit[found], unit, sizeof unit);
    }
    char unit[8];
    const bool known = column_of(r->cells.at[0], unit) < COLUMNS;
    (void)sl_text_copy(r->first, sizeof r->first, known ? "" : r->cells.at[0]);
    r->header = true;
    r->node = ABSENT;
}

static bool
is_product(const char *cell)
{
    static const char *const starts[] = {"NVIDIA ", "Tesla ", "GeForce ", "Quadro ",
                                         "GRID ",   "A100-",  "TITAN ",   "Graphics Device"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(cell, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* "gpu001", but not "P0", the state of a device's clocks. */
static bool
is_host(const char *cell)
{
    const size_t letters = strspn(cell, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_");
    const size_t all =
        letters + strspn(cell + letters, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR"
                                         "STUVWXYZ0123456789-_.");
    return letters > 0 && all > letters && all > 2 && all <= SL_HOST_NAME_MAX &&
           cell[all] == '\0' && !(letters == 1 && *cell == 'P');
}

/* Rows without a header: a cell says what it is by its looks, or stays unread. */
static bool
guess_columns(reading *r)
{
    for (uint32_t i = 0; i < COLUMNS; i++) {
        r->at[i] = ABSENT;
        r->unit[i][0] = '\0';
    }
    for (uint32_t i = 0; i < r->cells.count; i++) {
        const char *const cell = r->cells.at[i];
        uint32_t number = 0;
        const char *end = NULL;
        const uint32_t counter = r->at[COLUMN_HOST] == 0 ? 1 : 0; /* first, or behind the host */
        if (is_product(cell) && r->at[COLUMN_NAME] == ABSENT)
            r->at[COLUMN_NAME] = i;
        else if (strncmp(cell, "GPU-", 4) == 0)
            r->at[COLUMN_UUID] = i;
        else if (i == counter && sl_cell_count(cell, &number, &end) && *end == '\0' &&
                 number < 1024)
            r->at[COLUMN_INDEX] = i;
        else if (i == 0 && is_host(cell))
            r->at[COLUMN_HOST] = i;
        else if (sl_text_ends_with(cell, " MiB") && r->at[COLUMN_MEMORY] == ABSENT)
            r->at[COLUMN_MEMORY] = i;
    }
    return r->at[COLUMN_NAME] != ABSENT;
}

/* The cell of a column, or "" where there is none or it says nothing. */
static const char *
cell(const reading *r, column which)
{
    return sl_cell_at(&r->cells, r->at[which]);
}

/* A number of a column; `unit` where neither it nor the header has one. */
static bool
quantity(const reading *r, column which, const char *unit, double *out)
{
    char number[32];
    const char *const own = *r->unit[which] != '\0' ? r->unit[which] : unit;

    if (!sl_text_copy(number, sizeof number, cell(r, which)))
        return false;
    char *const comma = r->separator == ';' ? strchr(number, ',') : NULL;
    if (comma != NULL)
        *comma = '.';
    return sl_cell_quantity(number, own, out);
}

static void
say_quantity(const reading *r, sl_facts *facts, sl_field field, column which, const char *unit,
             const char *path)
{
    double value = 0;
    if (quantity(r, which, unit, &value))
        sl_facts_number(facts, field, value, r->line, path);
}

static void
say_device(const reading *r, sl_facts *facts)
{
    double limit = 0;
    double most = 0;

    sl_facts_text(facts, SL_FIELD_ACCELERATOR, cell(r, COLUMN_NAME), r->line, "name");
    say_quantity(r, facts, SL_FIELD_MEMORY_BYTES, COLUMN_MEMORY, "MiB", "memory.total");
    say_quantity(r, facts, SL_FIELD_RESERVED_BYTES, COLUMN_RESERVED, "MiB", "memory.reserved");
    if (quantity(r, COLUMN_LIMIT, "W", &limit) && quantity(r, COLUMN_DEFAULT_LIMIT, "W", &most) &&
        limit < most)
        sl_facts_number(facts, SL_FIELD_POWER_LIMIT_W, limit, r->line, "power.limit");
    if (sl_text_equal_ignoring_case(cell(r, COLUMN_MIG), "Enabled")) {
        sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, 1, r->line, "mig.mode.current");
        sl_facts_text(facts, SL_FIELD_SLICE, "MIG", r->line, "mig.mode.current");
    }
}

/* An identifier that is one. */
static const char *
uuid_of(const reading *r)
{
    const char *const uuid = cell(r, COLUMN_UUID);
    return sl_nvidia_uuid_is_masked(uuid) ? "" : uuid;
}

/* A device of an earlier row of the same node is a later sample of it. */
static const char *
identity_of(const reading *r)
{
    if (*uuid_of(r) != '\0')
        return uuid_of(r);
    return *cell(r, COLUMN_INDEX) != '\0' ? cell(r, COLUMN_INDEX) : cell(r, COLUMN_BUS);
}

/* Whether a row that counts from the beginning again is of another node than the one being read. */
static bool
is_another(const reading *r)
{
    return *uuid_of(r) != '\0' ? !sl_devices_knows(r->devices, r->node, uuid_of(r))
                               : r->at[COLUMN_TIMESTAMP] == ABSENT;
}

/* The node of this row: the one a column or the text around names; without names, a new one where
 * the devices are counted from the beginning again, unless the rows are samples of one node. */
static sl_code
choose_node(reading *r, const char *host, sl_errors *err)
{
    uint32_t index = 0;
    const char *end = NULL;
    const char *const named = *cell(r, COLUMN_HOST) != '\0' ? cell(r, COLUMN_HOST) : host;

    if (*named != '\0')
        return sl_devices_node(r->devices, named, r->line, &r->node, err);
    const bool counted = sl_cell_count(cell(r, COLUMN_INDEX), &index, &end);
    const bool again = counted && r->node != ABSENT && index <= r->last_index && is_another(r);
    if (counted)
        r->last_index = index;
    if (again)
        sl_findings_warn(r->findings, "several_nodes", r->line, "index",
                         "devices are counted from the beginning again: taken as another node");
    return r->node != ABSENT && !again ? SL_OK
                                       : sl_devices_node(r->devices, NULL, r->line, &r->node, err);
}

static sl_code
say_node(reading *r, sl_errors *err)
{
    const char *const cluster = cell(r, COLUMN_CLUSTER);
    sl_facts facts = {0};
    uint32_t attached = 0;
    uint32_t number = 0;
    const char *end = NULL;
    char domain[256];

    if (sl_cell_count(cell(r, COLUMN_COUNT_OF_NODE), &attached, &end))
        sl_devices_attached(r->devices, r->node, attached, r->line, "count");
    if (sl_cell_count(cell(r, COLUMN_INDEX), &number, &end))
        sl_devices_numbered(r->devices, r->node, number, r->line);

    sl_facts_text(&facts, SL_FIELD_DRIVER, cell(r, COLUMN_DRIVER), r->line, "driver_version");
    const sl_code code = sl_devices_say(r->devices, r->node, &facts, err);
    if (code != SL_OK || *cell(r, COLUMN_CLIQUE) == '\0' ||
        strspn(cluster, "0-") == strlen(cluster))
        return code;
    (void)sl_text_format(domain, sizeof domain, "%.120s.%.120s", cluster, cell(r, COLUMN_CLIQUE));
    return sl_devices_domain(r->devices, r->node, domain, err);
}

static sl_code
read_row(reading *r, const char *host, sl_errors *err)
{
    sl_facts facts = {0};
    bool known = false;
    bool told = r->at[COLUMN_NAME] != ABSENT && *cell(r, COLUMN_NAME) == '\0';

    if (told)
        sl_findings_warn(r->findings, "device_unreadable", r->line, "name",
                         "a device does not say what it is: the driver may have lost it");
    for (uint32_t i = 0; i < r->cells.count; i++)
        sl_nvidia_check_answer(r->findings, r->cells.at[i], r->line, NULL, &told);
    sl_code code = choose_node(r, host, err);
    if (code != SL_OK)
        return code;
    if (r->at[COLUMN_TIMESTAMP] != ABSENT && *identity_of(r) == '\0' &&
        sl_devices_count(r->devices, r->node) > 0)
        sl_findings_warn(r->findings, "samples_alike", r->line, "timestamp",
                         "rows have a time, and nothing tells devices apart: each counts as a "
                         "device, and may be a later sample of one; ask for index as well");
    say_device(r, &facts);
    code = sl_devices_add(r->devices, r->node, identity_of(r), 1, &facts, &known, err);
    if (known)
        sl_findings_warn(r->findings, "repeated_sample", r->line, NULL,
                         "rows tell of devices that earlier rows told of: they are counted once");
    return code == SL_OK ? say_node(r, err) : code;
}

/* Lines between the rows: prompts, commands, and what the driver says instead of rows. */
static bool
is_row(const reading *r)
{
    if (!r->header)
        return r->cells.count > r->at[COLUMN_NAME] && is_product(r->cells.at[r->at[COLUMN_NAME]]);
    uint32_t last = 0;
    for (uint32_t i = 0; i < COLUMNS; i++)
        last = r->at[i] != ABSENT && r->at[i] > last ? r->at[i] : last;
    return r->cells.count > last;
}

static sl_code
read_line(reading *r, char *line, const char *host, sl_errors *err)
{
    const char separator = separator_in(r, line);

    sl_cells_split(line, separator, &r->cells);
    if (r->cells.count == 1 && *r->cells.at[0] == '\0')
        return SL_OK;
    if (is_header(&r->cells)) {
        take_header(r);
        r->separator = separator;
        return SL_OK;
    }
    if (!r->header && r->at[COLUMN_NAME] == ABSENT) {
        const uint32_t before = r->words;
        r->words = is_words(&r->cells) ? r->cells.count : 0;
        if (!guess_columns(r))
            return SL_OK;
        r->separator = separator;
        /* A row may stand for many devices where somebody made up the columns. */
        if (before > 1 && before == r->cells.count)
            return sl_fail(err, SL_E_SYNTAX, "malformed_csv", "",
                           "line %u: the columns are not those of nvidia-smi --query-gpu: what a "
                           "row counts is not said",
                           r->line - 1);
    }
    if (r->at[COLUMN_HOST] == ABSENT && *r->first != '\0' &&
        sl_text_equal(r->first, r->cells.at[0]))
        r->at[COLUMN_HOST] = 0;
    if (!is_row(r)) {
        sl_findings_warn(r->findings, "row_skipped", r->line, NULL,
                         "a line is no row of the table and is skipped");
        return SL_OK;
    }
    return read_row(r, host, err);
}

static sl_code
read_text(reading *r, const sl_raw *raw, char *line, sl_errors *err)
{
    sl_captures captures;
    sl_code code = SL_OK;

    sl_captures_open(&captures, raw->text, raw->size);
    while (code == SL_OK && sl_captures_next(&captures, line, SL_CELL_LINE_SIZE)) {
        r->line = captures.lines.number;
        if (captures.named)
            r->node = ABSENT;
        if (!captures.ruled)
            code = read_line(r, line, captures.host, err);
    }
    if (code != SL_OK)
        return code;
    if (!r->header && r->at[COLUMN_NAME] == ABSENT)
        return sl_fail(err, SL_E_SYNTAX, "malformed_csv", "",
                       "line 1: neither a header of nvidia-smi --query-gpu nor a row with the name "
                       "of a device");
    return sl_devices_finish(r->devices, err);
}

static sl_code
read_csv(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    sl_arena *const arena = sl_findings_arena(findings);
    reading *const r = sl_arena_alloc(arena, 1, sizeof *r);
    char *const line = sl_arena_alloc(arena, 1, SL_CELL_LINE_SIZE);

    if (r == NULL || line == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
    *r = (reading){.findings = findings, .node = ABSENT};
    for (uint32_t i = 0; i < COLUMNS; i++)
        r->at[i] = ABSENT;
    const sl_code code = sl_devices_new(findings, &r->devices, err);
    return code == SL_OK ? read_text(r, raw, line, err) : code;
}

/* A header of its own among the first lines, or a row of cells with the name of a part. */
static uint32_t
recognise_csv(const sl_sample *sample)
{
    sl_captures captures;
    sl_cells cells;
    char line[8192];
    uint32_t sure = 0;

    if (sample->shape != SL_SHAPE_TEXT)
        return 0;
    sl_captures_open(&captures, sample->head, strlen(sample->head));
    for (uint32_t i = 0; i < 8 && sl_captures_next(&captures, line, sizeof line); i++) {
        /* A fact of Ansible may hold such a table. */
        if (strchr(line, '{') != NULL)
            continue;
        const bool dotted = strchr(line, '.') != NULL || strstr(line, "driver_version") != NULL;
        const bool listed = strstr(line, "(UUID") != NULL;
        sl_cells_split(line, separator_of(line), &cells);
        if (is_header(&cells))
            return dotted ? 95 : 70;
        for (uint32_t c = 0; c < cells.count && !listed; c++)
            sure = is_product(cells.at[c]) ? 60 : sure;
    }
    return sure;
}

const sl_format sl_nvidia_csv_format = {"nvidia_smi_csv", "nvidia-smi --query-gpu=... --format=csv",
                                        recognise_csv, read_csv, 85};
