/* nvidia-smi -q: the same log as its XML, with headings for people and blanks for depth. */
#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/nvidia/log.h"
#include "intake/nvidia/nvidia.h"
#include "intake/syntax/cells.h"

enum { LINE_SIZE = 512, DEPTH_MAX = 8, INDENT = 4, LABEL_SIZE = 64, PATH_SIZE = 256 };

/* Where the XML has what the text prints, below a device but for the first two. */
static const struct {
    const char *text, *xml;
} paths[] = {
    {"Driver Version", "driver_version"},
    {"Attached GPUs", "attached_gpus"},
    {"GPU/Product Name", "gpu/product_name"},
    {"GPU/GPU UUID", "gpu/uuid"},
    {"GPU/GPU Virtualization Mode/Virtualization Mode",
     "gpu/gpu_virtualization_mode/virtualization_mode"},
    {"GPU/MIG Mode/Current", "gpu/mig_mode/current_mig"},
    {"GPU/MIG Device", "gpu/mig_devices/mig_device"},
    {"GPU/MIG Device/FB Memory Usage/Total", "gpu/mig_devices/mig_device/fb_memory_usage/total"},
    {"GPU/PCI/GPU Link Info/Link Width/Max",
     "gpu/pci/pci_gpu_link_info/link_widths/max_link_width"},
    {"GPU/PCI/GPU Link Info/Link Width/Current",
     "gpu/pci/pci_gpu_link_info/link_widths/current_link_width"},
    {"GPU/FB Memory Usage/Total", "gpu/fb_memory_usage/total"},
    {"GPU/FB Memory Usage/Reserved", "gpu/fb_memory_usage/reserved"},
    {"GPU/Power Readings/Power Limit", "gpu/power_readings/power_limit"},
    {"GPU/Power Readings/Default Power Limit", "gpu/power_readings/default_power_limit"},
    {"GPU/GPU Power Readings/Current Power Limit", "gpu/gpu_power_readings/current_power_limit"},
    {"GPU/GPU Power Readings/Default Power Limit", "gpu/gpu_power_readings/default_power_limit"},
    {"GPU/Fabric/State", "gpu/fabric/state"},
    {"GPU/Fabric/Health/Summary", "gpu/fabric/health/summary"},
    {"GPU/Fabric/Health/Bandwidth", "gpu/fabric/health/bandwidth"},
    {"GPU/Fabric/CliqueId", "gpu/fabric/cliqueId"},
    {"GPU/Fabric/Clique ID", "gpu/fabric/cliqueId"},
    {"GPU/Fabric/ClusterUUID", "gpu/fabric/clusterUuid"},
    {"GPU/Fabric/Cluster UUID", "gpu/fabric/clusterUuid"},
    {"GPU/Remapped Rows/Remapping Failure Occurred", "gpu/remapped_rows/remapped_row_failure"},
    {"GPU/GPU Recovery Action", "gpu/gpu_recovery_action"},
};

typedef struct reading {
    sl_nvidia_log log;
    bool any;
    bool in_log, in_gpu;
    uint32_t depth;                     /* of the line being read */
    char labels[DEPTH_MAX][LABEL_SIZE]; /* of the headings it stands below, its own last */
} reading;

static sl_code
end_gpu(reading *r, sl_errors *err)
{
    const bool open = r->in_gpu;
    r->in_gpu = false;
    return open ? sl_nvidia_log_end_gpu(&r->log, err) : SL_OK;
}

static sl_code
end_log(reading *r, sl_errors *err)
{
    const bool open = r->in_log;
    const sl_code code = end_gpu(r, err);
    r->in_log = false;
    return code == SL_OK && open ? sl_nvidia_log_end(&r->log, err) : code;
}

static sl_code
begin_log(reading *r, const sl_captures *captures, sl_errors *err)
{
    const sl_code code = end_log(r, err);
    r->in_log = true;
    r->any = true;
    return code == SL_OK ? sl_nvidia_log_begin(&r->log, captures->host, captures->lines.number, err)
                         : code;
}

/* The path of the line being read, as the XML has it; NULL for one that is not needed. */
static const char *
path_of(const reading *r)
{
    char path[PATH_SIZE] = "";
    size_t used = 0;
    for (uint32_t i = 0; i <= r->depth && used < sizeof path; i++) {
        (void)sl_text_format(path + used, sizeof path - used, "%s%s", i > 0 ? "/" : "",
                             r->labels[i]);
        used += strlen(path + used);
    }
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (sl_text_equal(paths[i].text, path))
            return paths[i].xml;
    return NULL;
}

/* "    Label                : value", or a heading, which has no value. */
static sl_code
take_line(reading *r, char *line, const sl_captures *captures, sl_errors *err)
{
    const size_t indent = strspn(line, " ");
    char *const colon = strstr(line, " : ");
    const char *value = "";

    if (line[indent] == '\0' || indent / INDENT >= DEPTH_MAX)
        return SL_OK;
    if (colon != NULL) {
        *colon = '\0';
        value = sl_cell_trim(colon + 3);
    }
    r->depth = (uint32_t)(indent / INDENT);
    const char *const label = sl_cell_trim(line);
    const bool device = r->depth == 0 && colon == NULL && strncmp(label, "GPU ", 4) == 0;
    (void)sl_text_copy(r->labels[r->depth], LABEL_SIZE, device ? "GPU" : label);
    if (device) {
        const sl_code code = end_gpu(r, err);
        sl_nvidia_log_begin_gpu(&r->log, captures->lines.number);
        r->in_gpu = true;
        return code;
    }
    const char *const path = path_of(r);
    if (path != NULL && (r->in_gpu || r->depth == 0))
        sl_nvidia_log_take(&r->log, path, value, captures->lines.number);
    return SL_OK;
}

static sl_code
read_text(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    reading r = {.log = {.findings = findings}};
    sl_captures captures;
    char line[LINE_SIZE];
    sl_code code = sl_devices_new(findings, &r.log.devices, err);

    sl_captures_open(&captures, raw->text, raw->size);
    while (code == SL_OK && sl_captures_next(&captures, line, sizeof line)) {
        if (captures.named)
            code = end_log(&r, err);
        else if (strstr(line, "==NVSMI LOG==") != NULL)
            code = begin_log(&r, &captures, err);
        else if (r.in_log)
            code = take_line(&r, line, &captures, err);
    }
    if (code == SL_OK)
        code = end_log(&r, err);
    if (code == SL_OK && !r.any)
        return sl_fail(err, SL_E_SYNTAX, "malformed_log", "",
                       "line 1: the line \"NVSMI LOG\", which begins a log, is not in it");
    return code == SL_OK ? sl_devices_finish(r.log.devices, err) : code;
}

static uint32_t
recognise_text(const sl_sample *sample)
{
    /* nvidia-smi vgpu -q lists, of each device, to whom it is lent, and not what it is. */
    return sample->shape == SL_SHAPE_TEXT && sl_sample_holds(sample, "==NVSMI LOG==") &&
                   !sl_sample_line_begins(sample, "Active vGPUs")
               ? 97
               : 0;
}

const sl_format sl_nvidia_text_format = {"nvidia_smi_text", "nvidia-smi -q", recognise_text,
                                         read_text, 80};
