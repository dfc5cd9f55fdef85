/* nvidia-smi without arguments: the boxes that people paste. */
#include "intake/nvidia/nvidia.h"

#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/devices.h"
#include "intake/syntax/cells.h"

enum { LINE_SIZE = 512, DEVICES_MAX = 128, CELLS_MAX = 8 };

typedef struct device {
    uint32_t index, line, memory_line, mig_line;
    char name[64];
    char bus[32];
    double memory_bytes; /* 0: not printed */
    bool mig;
    bool failing; /* which was told */
    uint32_t slices;
    double slice_bytes; /* below 0 where they differ */
} device;

/* One box. Its slices stand below all of its devices. */
typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    bool any;
    uint32_t node, line;
    char host[SL_HOST_NAME_MAX + 1];
    char driver[32];
    uint32_t driver_line;
    bool sliced;        /* rows of slices have begun */
    bool closed;        /* the line of the table read last is the rule below its rows */
    bool ended;         /* processes are listed, which come last */
    uint32_t last_line; /* of the table, so far */
    uint32_t count;
    device list[DEVICES_MAX];
} reading;

/* A part of a system on a chip, "Orin (nvgpu)", is on no bus. */
#define ON_CHIP "(nvgpu)"

/* Cells of a row that stands between bars; 0 where it does not. */
static uint32_t
cut(char *line, char *cells[CELLS_MAX])
{
    char *at = sl_cell_trim(line);
    uint32_t count = 0;

    if (*at != '|')
        return 0;
    for (at++; count < CELLS_MAX;) {
        char *const bar = strchr(at, '|');
        if (bar == NULL)
            break;
        *bar = '\0';
        cells[count++] = sl_cell_trim(at);
        at = bar + 1;
    }
    return count;
}

static bool
is_bus(const char *cell)
{
    const size_t length = strspn(cell, "0123456789abcdefABCDEF:.");
    return length >= 7 && length < 24 && memchr(cell, ':', length) != NULL;
}

/* "0  NVIDIA H200                    On": what follows the name is whether it stays awake. */
static void
take_device(reading *r, char *first, const char *second, uint32_t line)
{
    uint32_t index = 0;
    const char *end = NULL;
    if (!sl_cell_count(first, &index, &end) || *end != ' ' || r->count == DEVICES_MAX)
        return;
    char *const name = sl_cell_trim(first + (end - first));
    char *const mode = strrchr(name, ' ');
    if (mode == NULL)
        return;
    *mode = '\0';
    device *const d = &r->list[r->count++];
    *d = (device){.index = index, .line = line};
    (void)sl_text_copy(d->name, sizeof d->name, sl_cell_trim(name));
    (void)sl_text_copy(d->bus, sizeof d->bus, is_bus(second) ? second : "");
    d->bus[strcspn(d->bus, " ")] = '\0';
    if (!sl_text_ends_with(d->name, "..."))
        return;
    sl_findings_warn(
        r->findings, "name_cut", line, "Name",
        "the table cuts the name of a device, %.48s: nvidia-smi -q -x prints all of it", d->name);
    d->name[strlen(d->name) - 3] = '\0';
}

/* "1MiB / 46068MiB", or nothing where the memory is not the device's own. */
static bool
total_of(const char *cell, double *bytes)
{
    const char *const slash = strstr(cell, "/ ");
    return slash != NULL && sl_cell_quantity(slash + 2, "", bytes);
}

static device *
device_of(reading *r, uint32_t index)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->list[i].index == index)
            return &r->list[i];
    return NULL;
}

/* "0    1   0   0": device, instances, slice; its memory is in the next cell. */
static bool
take_slice(reading *r, const char *first, const char *second)
{
    uint32_t numbers[4];
    double bytes = 0;
    const char *at = first;
    for (uint32_t i = 0; i < 4; i++) {
        at += strspn(at, " ");
        if (!sl_cell_count(at, &numbers[i], &at))
            return false;
    }
    device *const d = *at == '\0' ? device_of(r, numbers[0]) : NULL;
    if (d == NULL || !total_of(second, &bytes))
        return false;
    d->slices++;
    d->slice_bytes = d->slice_bytes == 0 || d->slice_bytes == bytes ? bytes : -1;
    return true;
}

static sl_code
add_device(reading *r, const device *d, sl_errors *err)
{
    sl_facts facts = {0};
    char slice[64];

    if (!sl_cell_is_nothing(d->name))
        sl_facts_text(&facts, SL_FIELD_ACCELERATOR, d->name, d->line, "Name");
    sl_facts_number(&facts, SL_FIELD_MEMORY_BYTES, d->memory_bytes, d->memory_line, "Memory-Usage");
    if (d->mig) {
        /* Slices stand below all devices: a table that stops before them says nothing of them. */
        if (d->slices == 0 && !r->ended)
            (void)sl_text_copy(slice, sizeof slice, "MIG");
        else
            sl_nvidia_slice_words(d->slices, d->slice_bytes, slice, sizeof slice);
        sl_facts_number(&facts, SL_FIELD_SLICED_ACCELERATORS, 1, d->mig_line, "MIG M.");
        sl_facts_text(&facts, SL_FIELD_SLICE, slice, d->mig_line, "MIG M.");
    }
    return sl_devices_add(r->devices, r->node, d->bus, 1, &facts, NULL, err);
}

/* A table that stops before its end: between rows it lost some, behind a rule it may have. */
static void
check_end(reading *r)
{
    const char *const host = *r->host != '\0' ? r->host : "one node";
    char after[32] = "its heading";

    if (r->ended)
        return;
    if (r->count > 0)
        (void)sl_text_format(after, sizeof after, "device %u", r->list[r->count - 1].index);
    if (r->closed && r->count > 0) {
        sl_findings_warn(r->findings, "table_without_end", r->last_line, "GPU",
                         "the table of %.60s stops below %s, without the processes that nvidia-smi "
                         "lists last: devices that followed are not counted",
                         host, after);
        return;
    }
    sl_devices_uncounted(r->devices, r->node);
    sl_findings_warn(r->findings, "table_cut", r->last_line, "GPU",
                     "the table of %.60s is cut at %s: how many devices its node holds is left to "
                     "other files",
                     host, after);
}

/* A box is over: what it lists is a node's. */
static sl_code
end_box(reading *r, sl_errors *err)
{
    sl_facts facts = {0};

    if (r->driver_line == 0 && r->count == 0)
        return SL_OK;
    r->any = true;
    sl_code code = sl_devices_node(r->devices, r->host, r->line, &r->node, err);
    for (uint32_t i = 0; i < r->count && code == SL_OK; i++)
        code = add_device(r, &r->list[i], err);
    sl_facts_text(&facts, SL_FIELD_DRIVER, r->driver, r->driver_line, "Driver Version");
    if (code == SL_OK)
        code = sl_devices_say(r->devices, r->node, &facts, err);
    if (code == SL_OK)
        check_end(r);
    r->count = 0;
    r->sliced = r->closed = r->ended = false;
    r->driver_line = 0;
    r->driver[0] = '\0';
    return code;
}

/* "NVIDIA-SMI 550.127.05   Driver Version: 550.127.05   CUDA Version: 12.4" begins a box. */
static sl_code
begin_box(reading *r, const char *header, const sl_captures *captures, sl_errors *err)
{
    static const char *const labels[] = {"Driver Version: ", "KMD Version: "};
    const sl_code code = end_box(r, err);

    r->line = captures->lines.number;
    r->driver_line = r->line;
    memcpy(r->host, captures->host, sizeof r->host);
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const char *const at = strstr(header, labels[i]);
        if (at == NULL || *r->driver != '\0')
            continue;
        (void)sl_text_copy(r->driver, sizeof r->driver, at + strlen(labels[i]));
        r->driver[strcspn(r->driver, " ")] = '\0';
    }
    return code;
}

/* The second and third line of a device: memory, then the mode of MIG. */
static void
take_more(reading *r, char *const cells[CELLS_MAX], uint32_t count, uint32_t line)
{
    device *const d = &r->list[r->count - 1];
    for (uint32_t i = 0; i < count; i++)
        sl_nvidia_check_answer(r->findings, cells[i], line, NULL, &d->failing);
    if (d->memory_bytes == 0 && total_of(cells[1], &d->memory_bytes))
        d->memory_line = line;
    if (count >= 3 && *cells[0] == '\0' && *cells[1] == '\0' && d->mig_line == 0) {
        d->mig = sl_text_equal(cells[2], "Enabled") || sl_text_equal(cells[2], "Enabled*");
        d->mig_line = line;
    }
}

/* Rules and rows of the table; what stands around it is neither. */
static void
follow(reading *r, char *line, uint32_t number)
{
    const char *const text = sl_cell_trim(line);
    const size_t rule = strspn(text, "+-=");

    if (*text != '+' && *text != '|')
        return;
    r->closed = *text == '+' && rule > 1 && text[rule] == '\0' && text[rule - 1] == '+';
    r->last_line = number;
}

static sl_code
take_row(reading *r, char *line, const sl_captures *captures, sl_errors *err)
{
    char *cells[CELLS_MAX];
    const uint32_t count = cut(line, cells);
    const bool heading = count >= 1 && strncmp(cells[0], "NVIDIA-SMI ", 11) == 0;
    const sl_code code = heading ? begin_box(r, cells[0], captures, err) : SL_OK;

    if (count == 1 && strstr(cells[0], "rocesses:") != NULL)
        r->ended = true;
    follow(r, line, captures->lines.number);
    if (heading || count < 2)
        return code;
    if (is_bus(cells[1]) || strstr(cells[0], ON_CHIP) != NULL) {
        if (r->driver_line == 0 && r->count == 0) {
            r->line = captures->lines.number;
            memcpy(r->host, captures->host, sizeof r->host);
        }
        take_device(r, cells[0], cells[1], captures->lines.number);
    } else if (r->count > 0 && take_slice(r, cells[0], cells[1])) {
        r->sliced = true;
    } else if (r->count > 0 && !r->sliced) {
        take_more(r, cells, count, captures->lines.number);
    }
    return SL_OK;
}

static sl_code
read_table(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    reading r = {.findings = findings};
    sl_captures captures;
    char line[LINE_SIZE];
    sl_code code = sl_devices_new(findings, &r.devices, err);

    sl_captures_open(&captures, raw->text, raw->size);
    while (code == SL_OK && sl_captures_next(&captures, line, sizeof line))
        code = captures.named ? end_box(&r, err) : take_row(&r, line, &captures, err);
    if (code == SL_OK)
        code = end_box(&r, err);
    if (code == SL_OK && !r.any)
        return sl_fail(err, SL_E_SYNTAX, "malformed_table", "",
                       "line 1: no row of the table of nvidia-smi stands in it");
    return code == SL_OK ? sl_devices_finish(r.devices, err) : code;
}

static uint32_t
recognise_table(const sl_sample *sample)
{
    /* nvidia-smi vgpu has the same box around machines that a hypervisor lends to. */
    if (sl_sample_holds(sample, "vGPU-Util"))
        return 0;
    if (sl_sample_holds(sample, "| NVIDIA-SMI "))
        return 96;
    return sl_sample_holds(sample, "MiB |") && sl_sample_holds(sample, "Disp.A") ? 80 : 0;
}

const sl_format sl_nvidia_table_format = {"nvidia_smi_table", "nvidia-smi", recognise_table,
                                          read_table, 80};
