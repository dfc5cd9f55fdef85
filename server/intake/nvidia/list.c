/* nvidia-smi -L: a line per device, and below it one per MIG slice. */
#include "intake/nvidia/nvidia.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "intake/syntax/cells.h"

enum { LINE_SIZE = 512 };

/* The device whose slices are being listed. */
typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    bool open; /* a device is being read */
    uint32_t node, line, index;
    char name[LINE_SIZE], uuid[LINE_SIZE];
    uint32_t slices;
    char profile[64]; /* of all slices, or "" where they differ */
    bool in_node;     /* `node` is the one being listed */
} reading;

static sl_code
end_device(reading *r, sl_errors *err)
{
    sl_facts facts = {0};
    char slice[128];

    if (!r->open)
        return SL_OK;
    r->open = false;
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, r->name, r->line, "GPU");
    if (r->slices > 0) {
        (void)sl_text_format(slice, sizeof slice, "MIG %s", *r->profile != '\0' ? r->profile : "");
        sl_facts_number(&facts, SL_FIELD_SLICED_ACCELERATORS, 1, r->line, "MIG");
        sl_facts_text(&facts, SL_FIELD_SLICE, sl_cell_trim(slice), r->line, "MIG");
    }
    return sl_devices_add(r->devices, r->node, r->uuid, 1, &facts, NULL, err);
}

/* A device that is counted from the beginning again is of the next node, unless it was listed. */
static sl_code
begin_device(void *reading_of, const sl_nvidia_listed *listed, sl_errors *err)
{
    reading *const r = reading_of;
    const sl_captures *const captures = listed->captures;
    sl_code code = end_device(r, err);
    if (code != SL_OK)
        return code;

    (void)sl_text_copy(r->name, sizeof r->name, listed->name);
    (void)sl_text_copy(r->uuid, sizeof r->uuid, listed->uuid);
    const bool again = r->in_node && listed->index <= r->index &&
                       (*r->uuid == '\0' || !sl_devices_knows(r->devices, r->node, r->uuid));
    if (*captures->host != '\0' || !r->in_node || again)
        code = sl_devices_node(r->devices, captures->host, captures->lines.number, &r->node, err);
    if (code == SL_OK)
        sl_devices_numbered(r->devices, r->node, listed->index, captures->lines.number);
    r->in_node = true;
    r->open = true;
    r->index = listed->index;
    r->line = captures->lines.number;
    r->slices = 0;
    r->profile[0] = '\0';
    return code;
}

/* "  MIG 1g.5gb      Device  0: (UUID: MIG-...)" */
static void
take_slice(void *reading_of, const char *line)
{
    reading *const r = reading_of;
    char profile[64];
    line += strspn(line, " ");
    if (!r->open || strncmp(line, "MIG ", 4) != 0)
        return;
    (void)sl_text_copy(profile, sizeof profile, line + 4);
    profile[strcspn(profile, " ")] = '\0';
    if (r->slices++ == 0)
        (void)sl_text_copy(r->profile, sizeof r->profile, profile);
    else if (strstr(r->profile, profile) == NULL &&
             strlen(r->profile) + strlen(profile) + 3 <= sizeof r->profile) {
        char *const end = r->profile + strlen(r->profile);
        (void)sl_text_format(end, (size_t)(r->profile + sizeof r->profile - end), ", %s", profile);
    }
}

static sl_code
end_node(void *reading_of, sl_errors *err)
{
    reading *const r = reading_of;
    r->in_node = false;
    return end_device(r, err);
}

static sl_code
read_list(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    static const sl_nvidia_listing listing = {begin_device, take_slice, end_node};
    reading r = {.findings = findings};
    const sl_code code = sl_devices_new(findings, &r.devices, err);
    return code == SL_OK ? sl_nvidia_list_walk(raw, &listing, &r, r.devices, err) : code;
}

static uint32_t
recognise_list(const sl_sample *sample)
{
    const bool listed = sl_sample_holds(sample, "GPU 0: ") || sl_sample_holds(sample, "GPU 1: ");
    const bool own =
        sl_sample_holds(sample, "(UUID: ") || sl_sample_holds(sample, SL_NVIDIA_LIST_LABEL);
    if (sample->shape != SL_SHAPE_TEXT || !listed || !own)
        return 0;
    /* nvlink prints the same lines above those of the links. */
    return sl_sample_line_begins(sample, "Link ") ? 40 : 85;
}

const sl_format sl_nvidia_list_format = {"nvidia_smi_list", "nvidia-smi -L", recognise_list,
                                         read_list, 80};
