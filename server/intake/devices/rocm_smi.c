/* rocm-smi --json: a member per card, all values texts, the spelling of keys another in each
 * ROCm. */
#include "intake/devices/formats.h"

#include <string.h>

#include "base/text.h"
#include "intake/devices.h"
#include "intake/devices/outputs.h"
#include "intake/reach.h"
#include "intake/syntax/cells.h"
#include "shardline/units.h"

typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    bool any;
} reading;

/* "card12" is 12. */
static bool
is_card(const char *key, uint32_t *index)
{
    const char *end = NULL;
    return key != NULL && strncmp(key, "card", 4) == 0 && sl_cell_count(key + 4, index, &end) &&
           *end == '\0';
}

/* The value of a member by its name, whatever its case; NULL where it says nothing. */
static const char *
value_of(const sl_node *object, const char *name)
{
    void *state = NULL;
    sl_node member;
    while (sl_node_next(object, &state, &member))
        if (sl_text_equal_ignoring_case(member.key, name))
            return sl_output_text(&member);
    return NULL;
}

/* Where a card's name may stand, the best first. */
static const char *const names[] = {"Card series", "Product Name", "Device Name",
                                    "Market Name", "Card model",   "Card SKU"};

/* The first of the names that is one: "0x74a1" is a number of the device, no name. */
static void
say_name(const sl_node *card, sl_facts *facts, uint32_t line)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const value = value_of(card, names[i]);
        if (value == NULL || strncmp(value, "0x", 2) == 0)
            continue;
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, value, line, names[i]);
        return;
    }
}

/* "VRAM Total Memory (B)": the unit is the key's. */
static const char *const sizes[][2] = {{"VRAM Total Memory (B)", "B"},
                                       {"VRAM Total Memory (KiB)", "KiB"},
                                       {"VRAM Total Memory (MiB)", "MiB"},
                                       {"VRAM Total Memory (GiB)", "GiB"}};

static void
say_memory(const sl_node *card, sl_facts *facts, uint32_t line)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const char *const value = value_of(card, sizes[i][0]);
        double bytes = 0;
        if (value == NULL || !sl_cell_quantity(value, sizes[i][1], &bytes))
            continue;
        sl_facts_number(facts, SL_FIELD_MEMORY_BYTES, bytes, line, sizes[i][0]);
        return;
    }
}

static const char partition[] = "Compute Partition";

void
sl_rocm_partition(const char *mode, uint32_t line, sl_facts *facts, sl_findings *findings)
{
    if (sl_text_equal_ignoring_case(mode, "SPX"))
        return;
    sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, 1, line, partition);
    sl_facts_text(facts, SL_FIELD_SLICE, mode, line, partition);
    sl_findings_warn(findings, "partitions_listed", line, partition,
                     "cards are partitions (%.20s) of devices: there may be fewer devices than "
                     "cards",
                     mode);
}

static sl_code
take_card(reading *r, uint32_t node, const sl_node *card, uint32_t line, sl_errors *err)
{
    const char *const mode = value_of(card, partition);
    sl_facts facts = {0};

    say_name(card, &facts, line);
    say_memory(card, &facts, line);
    if (mode != NULL)
        sl_rocm_partition(mode, line, &facts, r->findings);
    return sl_devices_add(r->devices, node, card->key, 1, &facts, NULL, err);
}

/* "(Topology) Link type between DRM devices 0 and 1": which pair; false for other keys. */
static bool
is_link(const char *key, uint32_t *a, uint32_t *b)
{
    static const char before[] = "(Topology) Link type between DRM devices ";
    const char *end = NULL;
    return strncmp(key, before, sizeof before - 1) == 0 &&
           sl_cell_count(key + sizeof before - 1, a, &end) && strncmp(end, " and ", 5) == 0 &&
           sl_cell_count(end + 5, b, &end) && *end == '\0' && *a < SL_REACH_MAX &&
           *b < SL_REACH_MAX;
}

static const char driver[] = "Driver version";

/* Of a card and of the system: the tool prints clocks, sensors and firmware as well. */
static bool
is_read(uint32_t depth, const char *name, size_t size)
{
    char key[64];

    if (depth != 2 || size >= sizeof key || *name == '(')
        return true;
    memcpy(key, name, size);
    key[size] = '\0';
    bool read =
        sl_text_equal_ignoring_case(key, partition) || sl_text_equal_ignoring_case(key, driver);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        read = read || sl_text_equal_ignoring_case(key, names[i]);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        read = read || sl_text_equal_ignoring_case(key, sizes[i][0]);
    return read;
}

static void
say_links(reading *r, const sl_node *system, uint32_t cards, sl_facts *facts, uint32_t line)
{
    static const char path[] = "(Topology) Link type between DRM devices";
    sl_reach reach = {.count = cards < SL_REACH_MAX ? cards : SL_REACH_MAX};
    bool pairs = false;
    bool uneven = false;
    void *state = NULL;
    sl_node member;

    while (sl_node_next(system, &state, &member)) {
        uint32_t a = 0;
        uint32_t b = 0;
        const char *const kind = sl_output_text(&member);
        if (kind == NULL || !is_link(member.key, &a, &b))
            continue;
        pairs = true;
        if (sl_text_equal_ignoring_case(kind, "XGMI") && a < reach.count && b < reach.count)
            sl_reach_join(&reach, a, b);
    }
    const uint32_t domain = sl_reach_smallest(&reach, &uneven);
    if (pairs)
        sl_facts_text(facts, SL_FIELD_LINK_KIND, domain > 0 ? "XGMI" : "PCIe", line, path);
    sl_facts_number(facts, SL_FIELD_SCALE_UP_DOMAIN, domain, line, path);
    if (uneven)
        sl_findings_warn(r->findings, "uneven_links", line, path,
                         "not every card reaches as many others over XGMI: the smallest group, of "
                         "%u, counts",
                         domain);
}

static sl_code
take_document(void *context, const sl_output *document, sl_errors *err)
{
    reading *const r = context;
    sl_output_cursor cursor = {.document = document, .line = document->line};
    uint32_t system_line = document->line;
    sl_facts facts = {0};
    sl_node member;
    sl_node system = {0};
    void *state = NULL;
    uint32_t node = 0;
    uint32_t index = 0;
    bool of_cards = false;
    sl_code code = sl_devices_node(r->devices, document->host, document->line, &node, err);

    while (code == SL_OK && sl_node_next(document->root, &state, &member)) {
        if (is_card(member.key, &index) && sl_node_kind(&member) == SL_JSON_OBJECT) {
            of_cards = true;
            code = take_card(r, node, &member, sl_output_find(&cursor, member.key), err);
        } else if (sl_text_equal(member.key, "system")) {
            of_cards = true;
            system = member;
            system_line = sl_output_find(&cursor, "system");
        }
    }
    if (code != SL_OK)
        return code;
    if (!of_cards)
        return sl_fail(err, SL_E_SYNTAX, "malformed_cards", "",
                       "line %u: the document has no member \"card0\" or \"system\"",
                       document->line);
    r->any = true;
    if (system.value != NULL) {
        sl_facts_text(&facts, SL_FIELD_DRIVER, value_of(&system, driver), system_line, driver);
        say_links(r, &system, sl_devices_count(r->devices, node), &facts, system_line);
    }
    return sl_devices_say(r->devices, node, &facts, err);
}

static sl_code
read_rocm_smi(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    reading r = {.findings = findings};
    sl_code code = sl_devices_new(findings, &r.devices, err);
    if (code == SL_OK)
        code = sl_outputs_each(raw->text, raw->size, is_read, take_document, &r, err);
    return code == SL_OK ? sl_devices_finish(r.devices, err) : code;
}

static uint32_t
recognise_rocm_smi(const sl_sample *sample)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < sample->key_count; i++)
        if (is_card(sample->keys[i], &index))
            return 95;
    return sl_sample_holds(sample, "\"card0\": {") || sl_sample_holds(sample, "\"card1\": {") ? 85
                                                                                              : 0;
}

const sl_format sl_rocm_smi_format = {"rocm_smi_json", "rocm-smi --json", recognise_rocm_smi,
                                      read_rocm_smi, 85};
