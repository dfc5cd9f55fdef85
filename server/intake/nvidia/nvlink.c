/* nvidia-smi nvlink -s: the rate of each link of each device; nvlink -c: only which there are. */
#include "intake/nvidia/nvidia.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "intake/syntax/cells.h"
#include "shardline/units.h"

enum { LINE_SIZE = 512, LINKS_MAX = 64 };

/* One node; the device with the fewest links at work counts. */
typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    bool in_node;
    uint32_t node;
    /* the device being read */
    bool open;
    uint32_t index, line;
    char name[LINE_SIZE], uuid[LINE_SIZE];
    uint64_t links; /* bit of each that was told of and works */
    uint32_t inactive;
    double rate_bytes_per_s; /* of one link; 0: not printed */
    /* of the node so far */
    bool linked; /* a device of it was read */
    uint32_t fewest, links_line;
    double node_bytes_per_s; /* of all links of the slowest device */
    uint32_t node_devices;
} reading;

static uint32_t
count_bits(uint64_t bits)
{
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

static sl_code
end_device(reading *r, sl_errors *err)
{
    const uint32_t links = count_bits(r->links);
    const double total = links * r->rate_bytes_per_s;
    sl_facts facts = {0};

    if (!r->open)
        return SL_OK;
    r->open = false;
    if (r->inactive > 0)
        sl_findings_warn(r->findings, "links_inactive", r->line, "Link",
                         "device %u has %u inactive links beside %u at work", r->index, r->inactive,
                         links);
    if (r->linked && (links != r->fewest || total != r->node_bytes_per_s))
        sl_findings_warn(r->findings, "mixed_links", r->line, "Link",
                         "devices have unequal links: the one with the fewest counts");
    if (!r->linked || links < r->fewest || (links == r->fewest && total < r->node_bytes_per_s)) {
        r->fewest = links;
        r->node_bytes_per_s = total;
        r->links_line = r->line;
    }
    r->linked = true;
    r->node_devices++;
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, r->name, r->line, "GPU");
    return sl_devices_add(r->devices, r->node, r->uuid, 1, &facts, NULL, err);
}

static sl_code
end_node(void *reading_of, sl_errors *err)
{
    reading *const r = reading_of;
    sl_facts facts = {0};
    sl_code code = end_device(r, err);

    if (code != SL_OK || !r->linked)
        return code;
    sl_facts_number(&facts, SL_FIELD_LINKS, r->fewest, r->links_line, "Link");
    if (r->fewest > 0)
        sl_facts_text(&facts, SL_FIELD_LINK_KIND, "NVLink", r->links_line, "Link");
    sl_facts_number(&facts, SL_FIELD_SCALE_UP_BYTES_PER_S, r->node_bytes_per_s, r->links_line,
                    "Link");
    /* Links whose rate is whole, 25 or 50 GB/s, are printed as data sheets state them. */
    const double each_gb = r->fewest > 0 ? r->node_bytes_per_s / r->fewest / SL_GB_BYTES : 0;
    if (fmod(each_gb, 1) != 0)
        sl_findings_warn(r->findings, "raw_link_rate", r->links_line, "Link",
                         "%.3f GB/s is what one link carries on its wires: data sheets state the "
                         "rate of the payload, which is a little less",
                         each_gb);
    if (r->node_devices == 1) {
        sl_devices_uncounted(r->devices, r->node);
        sl_findings_warn(r->findings, "one_device_listed", r->links_line, "GPU",
                         "only one device is listed: how many its node holds is left to other "
                         "files");
    }
    r->in_node = false;
    r->linked = false;
    r->node_devices = 0;
    return sl_devices_say(r->devices, r->node, &facts, err);
}

static sl_code
begin_device(void *reading_of, const sl_nvidia_listed *listed, sl_errors *err)
{
    reading *const r = reading_of;
    const sl_captures *const captures = listed->captures;
    const uint32_t before = r->index;
    sl_code code = end_device(r, err);

    if (code == SL_OK && r->in_node && listed->index <= before)
        code = end_node(r, err);
    if (code == SL_OK && (!r->in_node || *captures->host != '\0'))
        code = sl_devices_node(r->devices, captures->host, captures->lines.number, &r->node, err);
    r->in_node = true;
    r->open = true;
    r->index = listed->index;
    r->line = captures->lines.number;
    (void)sl_text_copy(r->name, sizeof r->name, listed->name);
    (void)sl_text_copy(r->uuid, sizeof r->uuid, listed->uuid);
    r->links = 0;
    r->inactive = 0;
    r->rate_bytes_per_s = 0;
    return code;
}

/* "Link 3: 26.562 GB/s", "Link 3: active", "Link 3: <inactive>", "Link 3, P2P is supported: true". */
static void
take_link(void *reading_of, const char *line)
{
    reading *const r = reading_of;
    uint32_t link = 0;
    const char *end = NULL;
    char number[32];
    double rate = 0;

    line += strspn(line, " ");
    if (!r->open || strncmp(line, "Link ", 5) != 0 || !sl_cell_count(line + 5, &link, &end) ||
        link >= LINKS_MAX)
        return;
    end += strspn(end, ": ");
    if (*end == ',' || strncmp(end, "active", 6) == 0) {
        r->links |= UINT64_C(1) << link;
        return;
    }
    (void)sl_text_copy(number, sizeof number, end);
    number[strspn(number, "0123456789.")] = '\0';
    if (!sl_text_to_double(number, &rate) || rate <= 0) {
        r->inactive++;
        return;
    }
    r->links |= UINT64_C(1) << link;
    rate *= SL_GB_BYTES;
    r->rate_bytes_per_s =
        r->rate_bytes_per_s == 0 || rate < r->rate_bytes_per_s ? rate : r->rate_bytes_per_s;
}

static sl_code
read_nvlink(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    static const sl_nvidia_listing listing = {begin_device, take_link, end_node};
    reading r = {.findings = findings};
    const sl_code code = sl_devices_new(findings, &r.devices, err);
    return code == SL_OK ? sl_nvidia_list_walk(raw, &listing, &r, r.devices, err) : code;
}

static uint32_t
recognise_nvlink(const sl_sample *sample)
{
    const bool links = sl_sample_line_begins(sample, "Link 0: ") ||
                       sl_sample_line_begins(sample, "Link 0, ") ||
                       sl_sample_line_begins(sample, "Link 1: ");
    return sample->shape == SL_SHAPE_TEXT && links && sl_sample_holds(sample, "GPU ") ? 92 : 0;
}

const sl_format sl_nvidia_nvlink_format = {"nvidia_nvlink", "nvidia-smi nvlink -s",
                                           recognise_nvlink, read_nvlink, 90};
