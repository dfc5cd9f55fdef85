/* nvidia-smi -q -x: the DTDs from v4 to v13, one document per node, any number of them. */
#include "intake/nvidia.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/cells.h"
#include "intake/devices.h"
#include "intake/xml.h"

enum { TEXT_SIZE = SL_XML_TEXT_MAX };

static const char root_end[] = "</nvidia_smi_log>";

/* What one <gpu> says, until it ends. */
typedef struct gpu {
    uint32_t line;
    char name[TEXT_SIZE];
    uint32_t name_line;
    char uuid[TEXT_SIZE];
    double memory_bytes, reserved_bytes; /* below 0: not said */
    uint32_t memory_line, reserved_line;
    double limit_w, default_w;
    uint32_t limit_line;
    bool mig;
    uint32_t mig_line;
    uint32_t slices;
    double slice_bytes; /* of the last one; below 0 where they differ */
    uint32_t width, width_max;
    char cluster[TEXT_SIZE], clique[TEXT_SIZE];
} gpu;

typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    uint32_t node;
    uint32_t attached; /* as the log says; 0: it does not */
    uint32_t attached_line;
    char driver[TEXT_SIZE];
    uint32_t driver_line;
    gpu gpu;
} reading;

static void
keep(char to[TEXT_SIZE], const char *text)
{
    if (!sl_cell_is_nothing(text))
        (void)sl_text_copy(to, TEXT_SIZE, text);
}

static void
keep_bytes(double *to, uint32_t *at, const char *text, uint32_t line)
{
    if (sl_cell_quantity(text, "MiB", to))
        *at = line;
}

/* Slices of one size keep it; slices of several have none in common. */
static void
keep_slice_memory(gpu *g, const char *text)
{
    double bytes = 0;
    if (sl_cell_quantity(text, "MiB", &bytes))
        g->slice_bytes = g->slice_bytes == 0 || g->slice_bytes == bytes ? bytes : -1;
}

/* Names of the limits changed with the DTD: power_readings/power_limit up to v11. */
static void
keep_power(gpu *g, const char *name, const char *text, uint32_t line)
{
    if (sl_text_equal(name, "current_power_limit") || sl_text_equal(name, "power_limit")) {
        if (sl_cell_quantity(text, "W", &g->limit_w))
            g->limit_line = line;
    } else if (sl_text_equal(name, "default_power_limit")) {
        (void)sl_cell_quantity(text, "W", &g->default_w);
    }
}

static uint32_t
width_of(const char *text)
{
    uint32_t width = 0;
    const char *end = NULL;
    return sl_cell_count(text, &width, &end) ? width : 0;
}

/* What hurts a device that still answers. */
static void
warn_of_health(reading *r, const char *path, const char *text, uint32_t line)
{
    if (sl_text_equal(path, "gpu_recovery_action") && !sl_cell_is_nothing(text))
        sl_findings_warn(r->findings, "device_needs_recovery", line, "gpu/gpu_recovery_action",
                         "a device asks for recovery: %.80s", text);
    else if ((sl_text_equal(path, "remapped_rows/remapped_row_failure") ||
              sl_text_equal(path, "remapped_rows/remap_failure")) &&
             sl_text_equal_ignoring_case(text, "Yes"))
        sl_findings_warn(r->findings, "row_remapping_failed", line, "gpu/remapped_rows",
                         "a device could not remap a faulty row of its memory");
    else if (sl_text_equal(path, "fabric/state") &&
             sl_text_equal_ignoring_case(text, "In Progress"))
        sl_findings_warn(r->findings, "fabric_not_ready", line, "gpu/fabric/state",
                         "a device has not joined its NVLink fabric yet");
}

/* path: below nvidia_smi_log/gpu. */
static void
take_gpu(reading *r, const char *path, const char *text, uint32_t line)
{
    static const char power[] = "power_readings/";
    static const char gpu_power[] = "gpu_power_readings/";
    gpu *const g = &r->gpu;

    if (sl_text_equal(path, "product_name")) {
        keep(g->name, text);
        g->name_line = line;
    } else if (sl_text_equal(path, "uuid")) {
        keep(g->uuid, text);
    } else if (sl_text_equal(path, "fb_memory_usage/total") ||
               sl_text_equal(path, "memory_usage/total")) {
        keep_bytes(&g->memory_bytes, &g->memory_line, text, line);
    } else if (sl_text_equal(path, "fb_memory_usage/reserved")) {
        keep_bytes(&g->reserved_bytes, &g->reserved_line, text, line);
    } else if (sl_text_equal(path, "mig_mode/current_mig")) {
        g->mig = sl_text_equal_ignoring_case(text, "Enabled");
        g->mig_line = line;
    } else if (sl_text_equal(path, "mig_devices/mig_device")) {
        g->slices++;
    } else if (sl_text_equal(path, "mig_devices/mig_device/fb_memory_usage/total")) {
        keep_slice_memory(g, text);
    } else if (strncmp(path, power, sizeof power - 1) == 0) {
        keep_power(g, path + sizeof power - 1, text, line);
    } else if (strncmp(path, gpu_power, sizeof gpu_power - 1) == 0) {
        keep_power(g, path + sizeof gpu_power - 1, text, line);
    } else if (sl_text_equal(path, "pci/pci_gpu_link_info/link_widths/current_link_width")) {
        g->width = width_of(text);
    } else if (sl_text_equal(path, "pci/pci_gpu_link_info/link_widths/max_link_width")) {
        g->width_max = width_of(text);
    } else if (sl_text_equal(path, "fabric/clusterUuid")) {
        keep(g->cluster, text);
    } else if (sl_text_equal(path, "fabric/cliqueId")) {
        keep(g->clique, text);
    } else {
        warn_of_health(r, path, text, line);
    }
}

static void
say_slices(const gpu *g, sl_facts *facts, char *words, size_t size)
{
    if (!g->mig)
        return;
    sl_nvidia_slice_words(g->slices, g->slice_bytes, words, size);
    sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, 1, g->mig_line,
                    "gpu/mig_mode/current_mig");
    sl_facts_text(facts, SL_FIELD_SLICE, words, g->mig_line, "gpu/mig_devices");
}

static sl_code
end_gpu(reading *r, sl_errors *err)
{
    const gpu *const g = &r->gpu;
    sl_facts facts = {0};
    char slice[64];
    char domain[2 * TEXT_SIZE];
    bool known = false;

    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, g->name, g->name_line, "gpu/product_name");
    if (g->memory_bytes >= 0)
        sl_facts_number(&facts, SL_FIELD_MEMORY_BYTES, g->memory_bytes, g->memory_line,
                        "gpu/fb_memory_usage/total");
    if (g->reserved_bytes >= 0)
        sl_facts_number(&facts, SL_FIELD_RESERVED_BYTES, g->reserved_bytes, g->reserved_line,
                        "gpu/fb_memory_usage/reserved");
    if (g->limit_w < g->default_w)
        sl_facts_number(&facts, SL_FIELD_POWER_LIMIT_W, g->limit_w, g->limit_line,
                        "gpu/gpu_power_readings/current_power_limit");
    say_slices(g, &facts, slice, sizeof slice);
    if (!facts.field[SL_FIELD_ACCELERATOR].said)
        sl_findings_warn(r->findings, "device_unreadable", g->line, "gpu",
                         "a device does not say what it is: the driver may have lost it");
    if (g->width > 0 && g->width < g->width_max)
        sl_findings_warn(r->findings, "pcie_narrow", g->line, "gpu/pci/pci_gpu_link_info",
                         "a device uses %u of its %u PCIe lanes", g->width, g->width_max);
    const sl_code code =
        sl_devices_add(r->devices, r->node, sl_nvidia_uuid_is_masked(g->uuid) ? NULL : g->uuid, 1,
                       &facts, &known, err);
    if (code != SL_OK || *g->clique == '\0' || strspn(g->cluster, "0-") == strlen(g->cluster))
        return code;
    (void)sl_text_format(domain, sizeof domain, "%s.%s", g->cluster, g->clique);
    return sl_devices_domain(r->devices, r->node, domain, err);
}

static sl_code
on_open(void *context, const char *path, const char *const *attributes, uint32_t line,
        sl_errors *err)
{
    reading *const r = context;
    (void)attributes;

    if (strchr(path, '/') == NULL && !sl_text_equal(path, "nvidia_smi_log"))
        return sl_fail(err, SL_E_SYNTAX, "malformed_xml", "",
                       "line %u: <%.40s> is not the log of nvidia-smi", line, path);
    if (sl_text_equal(path, "nvidia_smi_log/gpu"))
        r->gpu = (gpu){.line = line, .memory_bytes = -1, .reserved_bytes = -1};
    return SL_OK;
}

static sl_code
on_close(void *context, const char *path, const char *text, uint32_t line, sl_errors *err)
{
    static const char in_log[] = "nvidia_smi_log/";
    static const char in_gpu[] = "gpu/";
    reading *const r = context;
    const char *end = NULL;

    if (strncmp(path, in_log, sizeof in_log - 1) != 0)
        return SL_OK;
    path += sizeof in_log - 1;
    if (strncmp(path, in_gpu, sizeof in_gpu - 1) == 0) {
        take_gpu(r, path + sizeof in_gpu - 1, text, line);
    } else if (sl_text_equal(path, "gpu")) {
        return end_gpu(r, err);
    } else if (sl_text_equal(path, "driver_version")) {
        keep(r->driver, text);
        r->driver_line = line;
    } else if (sl_text_equal(path, "attached_gpus")) {
        if (sl_cell_count(text, &r->attached, &end))
            r->attached_line = line;
    }
    return SL_OK;
}

/* The number of devices is the log's own where it lists fewer: nvidia-smi -i 0 lists one of them. */
static sl_code
say_node(reading *r, sl_errors *err)
{
    const uint32_t listed = sl_devices_count(r->devices, r->node);
    sl_facts facts = {0};

    sl_facts_text(&facts, SL_FIELD_DRIVER, r->driver, r->driver_line, "driver_version");
    if (listed > 0 && listed < r->attached) {
        sl_findings_warn(r->findings, "devices_not_listed", r->attached_line, "attached_gpus",
                         "%u devices are attached and %u are listed: nothing is known of the "
                         "others, they are taken to be of the same kind",
                         r->attached, listed);
        sl_facts_number(&facts, SL_FIELD_ACCELERATORS, r->attached, r->attached_line,
                        "attached_gpus");
    }
    return sl_devices_say(r->devices, r->node, &facts, err);
}

static sl_code
read_log(reading *r, const char *text, size_t size, uint32_t line, const char *host, sl_errors *err)
{
    const sl_xml_visit visit = {.context = r, .open = on_open, .close = on_close};

    r->attached = 0;
    r->driver[0] = '\0';
    sl_code code = sl_devices_node(r->devices, host, line, &r->node, err);
    if (code == SL_OK)
        code = sl_xml_read(text, size, line, &visit, err);
    return code == SL_OK ? say_node(r, err) : code;
}

/* Bytes of the log that begins at `text`, its end tag included; all of it where it does not end. */
static size_t
log_size(const char *text, size_t size)
{
    const char *at = text;
    const char *const end = text + size;
    while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) >= sizeof root_end - 1 &&
            memcmp(at, root_end, sizeof root_end - 1) == 0)
            return (size_t)(at - text) + sizeof root_end - 1;
        at++;
    }
    return size;
}

static uint32_t
count_lines(const char *text, size_t size)
{
    uint32_t count = 0;
    const char *at = text;
    const char *const end = text + size;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        count++;
        at++;
    }
    return count;
}

/* Logs with anything between them: lines that name a host say whose the next log is. `first`: the
 * line of the file on which the text begins. */
static sl_code
read_logs(reading *r, const char *text, size_t size, uint32_t first, const char *whose,
          uint32_t *logs, sl_errors *err)
{
    sl_captures captures;
    char line[512];
    char host[SL_HOST_NAME_MAX + 1];

    (void)sl_text_copy(host, sizeof host, whose);
    sl_captures_open(&captures, text, size);
    captures.lines.number = first - 1;
    for (;;) {
        const char *const begin = captures.lines.at;
        if (!sl_captures_next(&captures, line, sizeof line))
            return SL_OK;
        if (captures.named)
            memcpy(host, captures.host, sizeof host);
        if (line[strspn(line, " ")] != '<')
            continue;
        const char *const from = memchr(begin, '<', (size_t)(captures.lines.end - begin));
        const size_t used = log_size(from, (size_t)(captures.lines.end - from));
        const sl_code code = read_log(r, from, used, captures.lines.number, host, err);
        if (code != SL_OK)
            return code;
        /* What follows the end tag on its line is read as that line again. */
        captures.lines.at = from + used;
        captures.lines.number += count_lines(from, used) - 1;
        (void)sl_text_copy(host, sizeof host, whose);
        ++*logs;
    }
}

/* Lines that each begin with their host: the lines of one host in a row are its logs. */
static sl_code
read_prefixed(reading *r, sl_captures *captures, char *stripped, uint32_t *logs, sl_errors *err)
{
    char line[1024];
    char host[SL_HOST_NAME_MAX + 1] = "";
    uint32_t first = 1;
    size_t used = 0;
    sl_code code = SL_OK;

    while (code == SL_OK && sl_captures_next(captures, line, sizeof line)) {
        if (used > 0 && !sl_text_equal(host, captures->host)) {
            code = read_logs(r, stripped, used, first, host, logs, err);
            used = 0;
        }
        if (used == 0)
            first = captures->lines.number;
        memcpy(host, captures->host, sizeof host);
        const size_t length = strlen(line);
        memcpy(stripped + used, line, length + 1);
        used += length;
        stripped[used++] = '\n';
    }
    return code == SL_OK && used > 0 ? read_logs(r, stripped, used, first, host, logs, err) : code;
}

sl_code
sl_nvidia_xml_read(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    reading r = {.findings = findings};
    sl_captures captures;
    uint32_t logs = 0;
    sl_code code = sl_devices_new(findings, &r.devices, err);

    if (code != SL_OK)
        return code;
    sl_captures_open(&captures, raw->text, raw->size);
    if (captures.prefixed) {
        char *const stripped = malloc(raw->size + 1);
        code = stripped == NULL
                   ? sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file")
                   : read_prefixed(&r, &captures, stripped, &logs, err);
        free(stripped);
    } else {
        code = read_logs(&r, raw->text, raw->size, 1, "", &logs, err);
    }
    if (code == SL_OK && logs == 0)
        return sl_fail(err, SL_E_SYNTAX, "malformed_xml", "", "line 1: no XML begins in it");
    return code == SL_OK ? sl_devices_finish(r.devices, err) : code;
}

uint32_t
sl_nvidia_xml_recognise(const sl_sample *sample)
{
    return sl_sample_holds(sample, "<nvidia_smi_log") ? 98 : 0;
}
