#include "intake/nvidia/nvidia.h"

#include <string.h>

#include "base/text.h"
#include "intake/syntax/cells.h"
#include "shardline/units.h"

enum { LINE_SIZE = 512 };

static const sl_format *const formats[] = {
    &sl_nvidia_xml_format,    &sl_nvidia_text_format,  &sl_nvidia_csv_format,
    &sl_nvidia_list_format,   &sl_nvidia_table_format, &sl_nvidia_topo_format,
    &sl_nvidia_nvlink_format, &sl_dcgm_format,         &sl_dcgm_discovery_format,
};

const sl_formats sl_nvidia_formats = {formats, sizeof formats / sizeof formats[0]};

void
sl_nvidia_check_answer(sl_findings *findings, const char *text, uint32_t line, const char *path,
                       bool *told)
{
    if (*told || !sl_cell_is_failure(text))
        return;
    *told = true;
    sl_findings_warn(findings, "device_failing", line, path,
                     "a device answers \"%.60s\": it counts, and may need a reset or a repair",
                     text);
}

bool
sl_nvidia_uuid_is_masked(const char *uuid)
{
    return strspn(uuid, "GPU-0xX*") == strlen(uuid);
}

/* "GPU 0: NVIDIA H200 (UUID: GPU-...)": false for other lines. Cuts the line; uuid is "" where it
 * is not printed or masked. */
static bool
is_device(char *line, uint32_t *index, const char **name, const char **uuid)
{
    static const char before[] = " (UUID: ", label[] = SL_NVIDIA_LIST_LABEL;
    const char *end = NULL;

    line += strspn(line, " ");
    if (strncmp(line, label, sizeof label - 1) == 0)
        line += sizeof label - 1;
    if (strncmp(line, "GPU ", 4) != 0 || !sl_cell_count(line + 4, index, &end) ||
        strncmp(end, ": ", 2) != 0)
        return false;
    char *const rest = line + (end - line) + 2;
    char *const mark = strstr(rest, before);
    *uuid = "";
    if (mark != NULL) {
        char *const id = mark + sizeof before - 1;
        *mark = '\0';
        id[strcspn(id, ")")] = '\0';
        *uuid = sl_nvidia_uuid_is_masked(id) ? "" : id;
    }
    *name = sl_cell_trim(rest);
    return true;
}

sl_code
sl_nvidia_list_walk(const sl_raw *raw, const sl_nvidia_listing *listing, void *reading,
                    sl_devices *devices, sl_errors *err)
{
    sl_captures captures;
    char line[LINE_SIZE];
    bool any = false;
    sl_code code = SL_OK;

    sl_captures_open(&captures, raw->text, raw->size);
    while (code == SL_OK && sl_captures_next(&captures, line, sizeof line)) {
        sl_nvidia_listed listed = {.captures = &captures};
        if (captures.named) {
            code = listing->end(reading, err);
        } else if (is_device(line, &listed.index, &listed.name, &listed.uuid)) {
            any = true;
            code = listing->device(reading, &listed, err);
        } else {
            listing->line(reading, line);
        }
    }
    if (code == SL_OK)
        code = listing->end(reading, err);
    if (code == SL_OK && !any)
        return sl_fail(err, SL_E_SYNTAX, "malformed_list", "",
                       "line 1: no line lists a device as \"GPU 0: ...\"");
    return code == SL_OK ? sl_devices_finish(devices, err) : code;
}

void
sl_nvidia_slice_words(uint32_t slices, double slice_bytes, char *out, size_t size)
{
    if (slices == 0)
        (void)sl_text_copy(out, size, "MIG, not cut yet");
    else if (slice_bytes > 0)
        (void)sl_text_format(out, size, "MIG, %u slices of %.0f MiB", slices,
                             slice_bytes / SL_MIB_BYTES);
    else
        (void)sl_text_format(out, size, "MIG, %u slices", slices);
}
