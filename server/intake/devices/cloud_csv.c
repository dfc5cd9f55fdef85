/*
 * Catalogues of clouds as CSV: SkyPilot's, gpuhunt's, and price lists with columns of those names.
 * A row is an offer, not a node that somebody owns: each type is said of one node without a name.
 */
#include "intake/devices/formats.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "intake/devices.h"
#include "intake/syntax/cells.h"
#include "intake/syntax/lines.h"
#include "shardline/units.h"

typedef enum column {
    COLUMN_TYPE,
    COLUMN_PART,
    COLUMN_COUNT,
    COLUMN_CPUS,
    COLUMN_HOST_MEMORY,
    COLUMN_PRICE,
    COLUMN_INFO,
    COLUMN_DEVICE_MEMORY,
    COLUMN_SPOT,
    COLUMNS
} column;

static const struct {
    const char *name;
    column column;
} columns[] = {
    {"InstanceType", COLUMN_TYPE},
    {"instance_type", COLUMN_TYPE},
    {"instance_name", COLUMN_TYPE},
    {"instance", COLUMN_TYPE},
    {"machine_type", COLUMN_TYPE},
    {"machine type", COLUMN_TYPE},
    {"instance type", COLUMN_TYPE},
    {"API Name", COLUMN_TYPE},
    {"flavor", COLUMN_TYPE},
    {"AcceleratorName", COLUMN_PART},
    {"accelerator_name", COLUMN_PART},
    {"accelerator", COLUMN_PART},
    {"gpu_name", COLUMN_PART},
    {"gpu name", COLUMN_PART},
    {"gpu model", COLUMN_PART},
    {"gpu_model", COLUMN_PART},
    {"gpu_type", COLUMN_PART},
    {"gpu type", COLUMN_PART},
    {"gpu", COLUMN_PART},
    {"AcceleratorCount", COLUMN_COUNT},
    {"accelerator_count", COLUMN_COUNT},
    {"gpu_count", COLUMN_COUNT},
    {"gpu count", COLUMN_COUNT},
    {"gpus", COLUMN_COUNT},
    {"num_gpus", COLUMN_COUNT},
    {"vCPUs", COLUMN_CPUS},
    {"vcpu", COLUMN_CPUS},
    {"cpu", COLUMN_CPUS},
    {"cpus", COLUMN_CPUS},
    {"MemoryGiB", COLUMN_HOST_MEMORY},
    {"memory", COLUMN_HOST_MEMORY},
    {"memory_gib", COLUMN_HOST_MEMORY},
    {"memory_gb", COLUMN_HOST_MEMORY},
    {"memory gib", COLUMN_HOST_MEMORY},
    {"Price", COLUMN_PRICE},
    {"price_per_hour", COLUMN_PRICE},
    {"hourly_price", COLUMN_PRICE},
    {"on_demand_price", COLUMN_PRICE},
    {"on demand", COLUMN_PRICE},
    {"GpuInfo", COLUMN_INFO},
    {"gpu_memory", COLUMN_DEVICE_MEMORY},
    {"gpu_memory_gb", COLUMN_DEVICE_MEMORY},
    {"gpu_memory_gib", COLUMN_DEVICE_MEMORY},
    {"gpu_ram", COLUMN_DEVICE_MEMORY},
    {"vram", COLUMN_DEVICE_MEMORY},
    {"vram_gb", COLUMN_DEVICE_MEMORY},
    {"spot", COLUMN_SPOT},
};

enum { COLUMN_NAMES = sizeof columns / sizeof columns[0] };

static const uint32_t ABSENT = UINT32_MAX; /* not a cell or column */

typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    uint32_t line;
    uint32_t header_line;
    uint32_t at[COLUMNS];
    const char *path[COLUMNS]; /* as this file names the column */
    uint32_t repeated, without, split;
    sl_cells cells;
} reading;

static uint32_t
column_of(const char *cell)
{
    for (uint32_t i = 0; i < COLUMN_NAMES; i++)
        if (sl_text_equal_ignoring_case(columns[i].name, cell))
            return i;
    return ABSENT;
}

/* A header names a type and the accelerators in it. */
static bool
take_header(reading *r)
{
    for (uint32_t i = 0; i < COLUMNS; i++)
        r->at[i] = ABSENT;
    for (uint32_t i = 0; i < r->cells.count; i++) {
        const uint32_t known = column_of(r->cells.at[i]);
        if (known == ABSENT || r->at[columns[known].column] != ABSENT)
            continue;
        r->at[columns[known].column] = i;
        r->path[columns[known].column] = columns[known].name;
    }
    r->header_line = r->line;
    return r->at[COLUMN_TYPE] != ABSENT && r->at[COLUMN_PART] != ABSENT;
}

static const char *
cell(const reading *r, column which)
{
    return sl_cell_at(&r->cells, r->at[which]);
}

/* "23.60", "$23.60", "1,600" stays unread: a comma may be either mark. */
static bool
number_in(const reading *r, column which, double *out)
{
    char text[64];
    const char *at = cell(r, which);
    at += strspn(at, "$ ");
    (void)sl_text_copy(text, sizeof text, at);
    text[strspn(text, "0123456789.")] = '\0';
    return *text != '\0' && sl_text_to_double(text, out);
}

/* GpuInfo is a Python literal. Only the number behind its first 'SizeInMiB' is taken: the total
 * stands for one device in some clouds and for all in others. */
static bool
info_bytes(const char *info, double *out)
{
    static const char key[] = "SizeInMiB";
    const char *at = strstr(info, key);
    char number[24];

    if (at == NULL)
        return false;
    at += sizeof key - 1;
    at += strspn(at, "'\": ");
    (void)sl_text_copy(number, sizeof number, at);
    number[strspn(number, "0123456789.")] = '\0';
    return sl_cell_quantity(number, "MiB", out);
}

static void
say_device(const reading *r, sl_facts *facts)
{
    double bytes = 0;
    double gib = 0;

    sl_facts_text(facts, SL_FIELD_ACCELERATOR, cell(r, COLUMN_PART), r->line, r->path[COLUMN_PART]);
    if (info_bytes(cell(r, COLUMN_INFO), &bytes))
        sl_facts_number(facts, SL_FIELD_NOMINAL_MEMORY_BYTES, bytes, r->line, "GpuInfo/SizeInMiB");
    else if (number_in(r, COLUMN_DEVICE_MEMORY, &gib))
        sl_facts_number(facts, SL_FIELD_NOMINAL_MEMORY_BYTES, gib * SL_GIB_BYTES, r->line,
                        r->path[COLUMN_DEVICE_MEMORY]);
}

/* The price of a spot instance is no price to plan with. */
static void
say_node(const reading *r, sl_facts *facts)
{
    double number = 0;
    const bool spot = sl_text_equal_ignoring_case(cell(r, COLUMN_SPOT), "true");

    sl_facts_text(facts, SL_FIELD_NODE_TYPE, cell(r, COLUMN_TYPE), r->line, r->path[COLUMN_TYPE]);
    if (number_in(r, COLUMN_CPUS, &number))
        sl_facts_number(facts, SL_FIELD_CPUS, number, r->line, r->path[COLUMN_CPUS]);
    if (number_in(r, COLUMN_HOST_MEMORY, &number))
        sl_facts_number(facts, SL_FIELD_HOST_MEMORY_BYTES, number * SL_GIB_BYTES, r->line,
                        r->path[COLUMN_HOST_MEMORY]);
    if (*cell(r, COLUMN_TYPE) != '\0' && !spot && number_in(r, COLUMN_PRICE, &number))
        sl_facts_number(facts, SL_FIELD_PRICE_PER_NODE_HOUR, number, r->line,
                        r->path[COLUMN_PRICE]);
}

/* Where the accelerators of a type are sold apart from its host, the row names no type: it is known
 * by what it holds. */
static void
offer_name(const reading *r, double count, char *out, size_t size)
{
    if (*cell(r, COLUMN_TYPE) != '\0')
        (void)sl_text_copy(out, size, cell(r, COLUMN_TYPE));
    else
        (void)sl_text_format(out, size, "%gx %s", count, cell(r, COLUMN_PART));
}

static sl_code
read_offer(reading *r, sl_errors *err)
{
    char name[256];
    char share[48];
    double count = 1;
    sl_facts device = {0};
    sl_facts facts = {0};
    bool known = false;
    uint32_t node = 0;

    if (r->at[COLUMN_COUNT] != ABSENT && !number_in(r, COLUMN_COUNT, &count))
        count = 0;
    if (*cell(r, COLUMN_PART) == '\0' || count <= 0 || count > 4096) {
        r->without++;
        return SL_OK;
    }
    r->split += *cell(r, COLUMN_TYPE) == '\0';
    offer_name(r, count, name, sizeof name);
    sl_code code = sl_devices_node(r->devices, name, r->line, &node, err);
    if (code != SL_OK)
        return code;
    say_device(r, &device);
    if (count < 1) {
        (void)sl_text_format(share, sizeof share, "%.3g of a device", count);
        sl_facts_number(&device, SL_FIELD_SLICED_ACCELERATORS, 1, r->line, r->path[COLUMN_COUNT]);
        sl_facts_text(&device, SL_FIELD_SLICE, share, r->line, r->path[COLUMN_COUNT]);
    }
    if (r->at[COLUMN_COUNT] == ABSENT)
        sl_devices_uncounted(r->devices, node);
    const double whole = floor(count);
    code = sl_devices_add(r->devices, node, "offer", whole < 1 ? 1 : (uint32_t)whole, &device,
                          &known, err);
    r->repeated += known;
    say_node(r, &facts);
    return code == SL_OK ? sl_devices_say(r->devices, node, &facts, err) : code;
}

static void
warn_of_offers(const reading *r)
{
    sl_findings_warn(r->findings, "catalogue_rows", r->header_line, NULL,
                     "rows are offers and not nodes that somebody owns: each type counts as one "
                     "node");
    if (r->repeated > 0)
        sl_findings_warn(r->findings, "several_offers", r->header_line, NULL,
                         "%u rows offer a type again, for another region or term: the first price "
                         "counts",
                         r->repeated);
    if (r->without > 0)
        sl_findings_warn(r->findings, "rows_without_accelerators", r->header_line, NULL,
                         "%u rows offer no accelerators and are skipped", r->without);
    if (r->split > 0)
        sl_findings_warn(r->findings, "split_prices", r->header_line, NULL,
                         "%u rows price accelerators apart from their host: no price is taken from "
                         "them",
                         r->split);
}

static sl_code
read_lines(reading *r, const sl_raw *raw, char *line, sl_errors *err)
{
    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    bool cut = false;
    bool header = false;
    uint32_t cells_in_header = 0;
    sl_code code = SL_OK;

    if (raw->size >= 3 && memcmp(raw->text, "\xEF\xBB\xBF", 3) == 0)
        lines.at += 3;
    while (code == SL_OK && sl_lines_copy(&lines, line, SL_CELL_LINE_SIZE, &cut)) {
        r->line = lines.number;
        if (line[0] == '#' || line[strspn(line, " ")] == '\0')
            continue;
        sl_cells_split(line, ',', &r->cells);
        if (!header) {
            header = take_header(r);
            if (!header)
                break;
            cells_in_header = r->cells.count;
        } else if (r->cells.count < cells_in_header) {
            sl_findings_warn(r->findings, "row_skipped", r->line, NULL,
                             "a row has fewer cells than the header, as one that was cut off has: "
                             "it is skipped");
        } else {
            code = read_offer(r, err);
        }
    }
    if (code != SL_OK)
        return code;
    if (!header)
        return sl_fail(err, SL_E_SYNTAX, "malformed_csv", "",
                       "line %u: the header names no type of instance or no accelerator",
                       r->line > 0 ? r->line : 1);
    warn_of_offers(r);
    return sl_devices_finish(r->devices, err);
}

static sl_code
read_cloud_csv(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    sl_arena *const arena = sl_findings_arena(findings);
    reading *const r = sl_arena_alloc(arena, 1, sizeof *r);
    char *const line = sl_arena_alloc(arena, 1, SL_CELL_LINE_SIZE);

    if (r == NULL || line == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
    r->findings = findings;
    const sl_code code = sl_devices_new(findings, &r->devices, err);
    if (code != SL_OK)
        return code;
    sl_devices_are_offers(r->devices);
    return read_lines(r, raw, line, err);
}

/* The first line that is no comment names a type and a part. */
static uint32_t
recognise_cloud_csv(const sl_sample *sample)
{
    sl_lines lines = {.at = sample->head, .end = sample->head + strlen(sample->head)};
    sl_cells cells;
    char line[4096];
    bool cut = false;

    if (sample->shape != SL_SHAPE_TEXT)
        return 0;
    while (sl_lines_copy(&lines, line, sizeof line, &cut)) {
        bool type = false;
        bool part = false;
        if (line[0] == '#' || line[strspn(line, " ")] == '\0')
            continue;
        const bool own = strstr(line, "AcceleratorName") != NULL;
        sl_cells_split(line, ',', &cells);
        for (uint32_t i = 0; i < cells.count; i++) {
            const char *const name =
                strncmp(cells.at[i], "\xEF\xBB\xBF", 3) == 0 ? cells.at[i] + 3 : cells.at[i];
            const uint32_t known = column_of(name);
            type = type || (known != ABSENT && columns[known].column == COLUMN_TYPE);
            part = part || (known != ABSENT && columns[known].column == COLUMN_PART);
        }
        return type && part ? (own ? 95 : 80) : 0;
    }
    return 0;
}

const sl_format sl_cloud_csv_format = {"cloud_csv", "cloud catalogue of instance types",
                                       recognise_cloud_csv, read_cloud_csv, 0};
