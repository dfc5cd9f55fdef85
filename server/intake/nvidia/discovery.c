/* dcgmi discovery -l: a table of devices, and below it those of switches and processors. */
#include "intake/nvidia/nvidia.h"

#include <string.h>

#include "base/text.h"
#include "intake/syntax/cells.h"

enum { LINE_SIZE = 512 };

typedef struct reading {
    sl_devices *devices;
    bool any;
    bool in_node;
    bool in_devices; /* the table being read is that of devices */
    uint32_t node;
    uint32_t found, found_line; /* devices, as the line above the table says */
    bool open;                  /* a device is being read */
    uint32_t line;
    char name[LINE_SIZE], uuid[LINE_SIZE];
} reading;

static sl_code
end_device(reading *r, sl_errors *err)
{
    sl_facts facts = {0};

    if (!r->open)
        return SL_OK;
    r->open = false;
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, r->name, r->line, "Name");
    return sl_devices_add(r->devices, r->node, r->uuid, 1, &facts, NULL, err);
}

/* The heading of a table: "| GPU ID | Device Information |". */
static sl_code
begin_table(reading *r, bool of_devices, const sl_captures *captures, sl_errors *err)
{
    r->in_devices = of_devices;
    if (!of_devices || (r->in_node && *captures->host == '\0'))
        return SL_OK;
    r->any = r->in_node = true;
    const sl_code code =
        sl_devices_node(r->devices, captures->host, captures->lines.number, &r->node, err);
    if (code == SL_OK)
        sl_devices_attached(r->devices, r->node, r->found, r->found_line, "GPUs found");
    return code;
}

/* "| 0      | Name: NVIDIA H100 80GB HBM3 |", and below it what else is known of the device. */
static sl_code
take_row(reading *r, const sl_cells *cells, const sl_captures *captures, sl_errors *err)
{
    static const char name[] = "Name: ", uuid[] = "Device UUID: ";
    const char *const said = cells->at[2], *end = NULL;
    uint32_t number = 0;

    if (sl_cell_count(cells->at[1], &number, &end) && *end == '\0' &&
        strncmp(said, name, sizeof name - 1) == 0) {
        const sl_code code = end_device(r, err);
        r->open = true;
        r->line = captures->lines.number;
        r->uuid[0] = '\0';
        (void)sl_text_copy(r->name, sizeof r->name, said + sizeof name - 1);
        sl_devices_numbered(r->devices, r->node, number, r->line);
        return code;
    }
    if (r->open && strncmp(said, uuid, sizeof uuid - 1) == 0 &&
        !sl_nvidia_uuid_is_masked(said + sizeof uuid - 1))
        (void)sl_text_copy(r->uuid, sizeof r->uuid, said + sizeof uuid - 1);
    return SL_OK;
}

static sl_code
take_line(reading *r, char *line, const sl_captures *captures, sl_errors *err)
{
    sl_cells cells;
    const char *end = NULL;
    uint32_t found = 0;

    line = sl_cell_trim(line);
    if (sl_cell_count(line, &found, &end) && strncmp(end, " GPU", 4) == 0) {
        r->found = found;
        r->found_line = captures->lines.number;
    }
    if (*line != '|')
        return SL_OK;
    sl_cells_split(line, '|', &cells);
    const bool of_devices = cells.count > 2 && sl_text_equal(cells.at[1], "GPU ID");
    if (of_devices || (cells.count > 1 && sl_text_ends_with(cells.at[1], " ID"))) {
        const sl_code code = end_device(r, err);
        return code == SL_OK ? begin_table(r, of_devices, captures, err) : code;
    }
    return r->in_devices && cells.count > 2 ? take_row(r, &cells, captures, err) : SL_OK;
}

static sl_code
read_discovery(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    reading r = {.any = false};
    sl_captures captures;
    char line[LINE_SIZE];
    sl_code code = sl_devices_new(findings, &r.devices, err);

    sl_captures_open(&captures, raw->text, raw->size);
    while (code == SL_OK && sl_captures_next(&captures, line, sizeof line)) {
        if (captures.named) {
            code = end_device(&r, err);
            r.in_node = r.in_devices = false;
        } else {
            code = take_line(&r, line, &captures, err);
        }
    }
    if (code == SL_OK)
        code = end_device(&r, err);
    if (code == SL_OK && !r.any)
        return sl_fail(err, SL_E_SYNTAX, "malformed_table", "",
                       "line 1: no table of devices, \"GPU ID | Device Information\", is in it");
    return code == SL_OK ? sl_devices_finish(r.devices, err) : code;
}

static uint32_t
recognise_discovery(const sl_sample *sample)
{
    return sample->shape == SL_SHAPE_TEXT && sl_sample_holds(sample, "| GPU ID |") &&
                   sl_sample_holds(sample, "Device Information")
               ? 95
               : 0;
}

const sl_format sl_dcgm_discovery_format = {"dcgm_discovery", "dcgmi discovery -l",
                                            recognise_discovery, read_discovery, 80};
