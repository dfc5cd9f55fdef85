#include "intake/nvidia/log.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/nvidia/nvidia.h"
#include "intake/syntax/cells.h"

enum { TEXT_SIZE = SL_NVIDIA_TEXT_SIZE };

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
keep_slice_memory(sl_nvidia_gpu *g, const char *text)
{
    double bytes = 0;
    if (sl_cell_quantity(text, "MiB", &bytes))
        g->slice_bytes = g->slice_bytes == 0 || g->slice_bytes == bytes ? bytes : -1;
}

/* Names of the limits changed with the DTD: power_readings/power_limit up to v11. */
static void
keep_power(sl_nvidia_gpu *g, const char *name, const char *text, uint32_t line)
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
warn_of_health(sl_nvidia_log *log, const char *path, const char *text, uint32_t line)
{
    if (sl_text_equal(path, "gpu_recovery_action") && !sl_cell_is_nothing(text))
        sl_findings_warn(log->findings, "device_needs_recovery", line, "gpu/gpu_recovery_action",
                         "a device asks for recovery: %.80s", text);
    else if ((sl_text_equal(path, "remapped_rows/remapped_row_failure") ||
              sl_text_equal(path, "remapped_rows/remap_failure")) &&
             sl_text_equal_ignoring_case(text, "Yes"))
        sl_findings_warn(log->findings, "row_remapping_failed", line, "gpu/remapped_rows",
                         "a device could not remap a faulty row of its memory");
    else if (sl_text_equal(path, "fabric/state") &&
             sl_text_equal_ignoring_case(text, "In Progress"))
        sl_findings_warn(log->findings, "fabric_not_ready", line, "gpu/fabric/state",
                         "a device has not joined its NVLink fabric yet");
    else if ((sl_text_equal(path, "fabric/health/summary") && !sl_cell_is_nothing(text) &&
              !sl_text_equal_ignoring_case(text, "Healthy")) ||
             (sl_text_equal(path, "fabric/health/bandwidth") &&
              sl_text_equal_ignoring_case(text, "Degraded")))
        sl_findings_warn(log->findings, "fabric_unhealthy", line, "gpu/fabric/health",
                         "the NVLink fabric of a device is not well: %.80s", text);
}

/* path: below nvidia_smi_log/gpu. */
static void
take_gpu(sl_nvidia_log *log, const char *path, const char *text, uint32_t line)
{
    static const char power[] = "power_readings/";
    static const char gpu_power[] = "gpu_power_readings/";
    sl_nvidia_gpu *const g = &log->gpu;

    sl_nvidia_check_answer(log->findings, text, line, "gpu", &g->failing);
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
    } else if (sl_text_equal(path, "gpu_virtualization_mode/virtualization_mode")) {
        g->lent = sl_text_equal_ignoring_case(text, "Host VGPU");
        g->lent_line = line;
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
        warn_of_health(log, path, text, line);
    }
}

static void
say_slices(const sl_nvidia_gpu *g, sl_facts *facts, char *words, size_t size)
{
    static const char virtualized[] = "gpu/gpu_virtualization_mode";

    if (g->lent) {
        sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, 1, g->lent_line, virtualized);
        sl_facts_text(facts, SL_FIELD_SLICE, "lent as vGPUs", g->lent_line, virtualized);
    }
    if (!g->mig || g->lent)
        return;
    sl_nvidia_slice_words(g->slices, g->slice_bytes, words, size);
    sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, 1, g->mig_line,
                    "gpu/mig_mode/current_mig");
    sl_facts_text(facts, SL_FIELD_SLICE, words, g->mig_line, "gpu/mig_devices");
}

sl_code
sl_nvidia_log_end_gpu(sl_nvidia_log *log, sl_errors *err)
{
    assert(log != NULL && err != NULL);

    const sl_nvidia_gpu *const g = &log->gpu;
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
        sl_findings_warn(
            log->findings, "device_unreadable", g->line, "gpu",
            "a device does not say what it is: a part of the log was asked for, or the "
            "driver may have lost it");
    if (g->width > 0 && g->width < g->width_max)
        sl_findings_warn(log->findings, "pcie_narrow", g->line, "gpu/pci/pci_gpu_link_info",
                         "a device uses %u of its %u PCIe lanes", g->width, g->width_max);
    const sl_code code =
        sl_devices_add(log->devices, log->node, sl_nvidia_uuid_is_masked(g->uuid) ? NULL : g->uuid,
                       1, &facts, &known, err);
    if (code != SL_OK || *g->clique == '\0' || strspn(g->cluster, "0-") == strlen(g->cluster))
        return code;
    (void)sl_text_format(domain, sizeof domain, "%s.%s", g->cluster, g->clique);
    return sl_devices_domain(log->devices, log->node, domain, err);
}

sl_code
sl_nvidia_log_end(sl_nvidia_log *log, sl_errors *err)
{
    sl_facts facts = {0};
    assert(log != NULL && err != NULL);

    sl_facts_text(&facts, SL_FIELD_DRIVER, log->driver, log->driver_line, "driver_version");
    sl_devices_attached(log->devices, log->node, log->attached, log->attached_line,
                        "attached_gpus");
    return sl_devices_say(log->devices, log->node, &facts, err);
}

sl_code
sl_nvidia_log_begin(sl_nvidia_log *log, const char *host, uint32_t line, sl_errors *err)
{
    assert(log != NULL && host != NULL && err != NULL);

    log->attached = 0;
    log->driver[0] = '\0';
    return sl_devices_node(log->devices, host, line, &log->node, err);
}

void
sl_nvidia_log_begin_gpu(sl_nvidia_log *log, uint32_t line)
{
    assert(log != NULL);
    log->gpu = (sl_nvidia_gpu){.line = line, .memory_bytes = -1, .reserved_bytes = -1};
}

void
sl_nvidia_log_take(sl_nvidia_log *log, const char *path, const char *text, uint32_t line)
{
    static const char in_gpu[] = "gpu/";
    const char *end = NULL;
    assert(log != NULL && path != NULL && text != NULL);

    if (strncmp(path, in_gpu, sizeof in_gpu - 1) == 0) {
        take_gpu(log, path + sizeof in_gpu - 1, text, line);
    } else if (sl_text_equal(path, "driver_version")) {
        keep(log->driver, text);
        log->driver_line = line;
    } else if (sl_text_equal(path, "attached_gpus")) {
        if (sl_cell_count(text, &log->attached, &end))
            log->attached_line = line;
    }
}
