/* amd-smi static --json and list --json: a list of devices, since ROCm 7 under "gpu_data". */
#include "intake/devices/formats.h"

#include <string.h>

#include "base/text.h"
#include "intake/devices.h"
#include "intake/devices/outputs.h"
#include "intake/document.h"
#include "intake/syntax/cells.h"

typedef struct reading {
    sl_devices *devices;
    char whole[32]; /* identity of the device whose partitions are being listed */
} reading;

/* "/vram/size" below a device; false where a step is missing. A node points to its parent: `steps`
 * holds those between. */
static bool
find(const sl_node *device, const char *outer, const char *inner, sl_node steps[2])
{
    return sl_node_member(device, outer, &steps[0]) && sl_node_member(&steps[0], inner, &steps[1]);
}

static const char *
text_at(const sl_node *device, const char *outer, const char *inner)
{
    sl_node steps[2];
    return find(device, outer, inner, steps) ? sl_output_text(&steps[1]) : NULL;
}

/* 196592, "196592 MB" or {"value": 196592, "unit": "MB"}: it changed with the versions. */
static bool
quantity_of(const sl_node *value, const char *unit, double *out)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    sl_node inner;
    double number = 0;
    char text[64];

    if (sl_node_kind(value) == SL_JSON_OBJECT) {
        sl_node own;
        const char *const said = sl_node_member(value, "unit", &own) ? sl_output_text(&own) : NULL;
        return sl_node_member(value, "value", &inner) && sl_node_kind(&inner) != SL_JSON_OBJECT &&
               quantity_of(&inner, said != NULL ? said : unit, out);
    }
    if (sl_output_text(value) != NULL)
        return sl_cell_quantity(sl_output_text(value), unit, out);
    if (sl_node_as_double(value, 0, 1e18, &number, &ignored) != SL_OK)
        return false;
    (void)sl_text_format(text, sizeof text, "%.3f", number);
    return sl_cell_quantity(text, unit, out);
}

static bool
quantity_at(const sl_node *device, const char *outer, const char *inner, const char *unit,
            double *out)
{
    sl_node steps[2];
    return find(device, outer, inner, steps) && quantity_of(&steps[1], unit, out);
}

static void
say_name(const sl_node *device, sl_facts *facts, uint32_t line)
{
    static const char *const places[][3] = {
        {"asic", "market_name", "asic/market_name"},
        {"board", "product_name", "board/product_name"},
        {"board", "model_number", "board/model_number"},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *const name = text_at(device, places[i][0], places[i][1]);
        if (name == NULL || strncmp(name, "0x", 2) == 0)
            continue;
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, name, line, places[i][2]);
        return;
    }
}

static void
say_memory(const sl_node *device, sl_facts *facts, uint32_t line)
{
    static const char *const places[][3] = {{"vram", "size", "vram/size"},
                                            {"vram", "vram_size", "vram/vram_size"},
                                            {"vram", "size_mb", "vram/size_mb"},
                                            {"mem_usage", "total_vram", "mem_usage/total_vram"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        double bytes = 0;
        if (!quantity_at(device, places[i][0], places[i][1], "MB", &bytes))
            continue;
        sl_facts_number(facts, SL_FIELD_MEMORY_BYTES, bytes, line, places[i][2]);
        return;
    }
}

static void
say_power(const sl_node *device, sl_facts *facts, uint32_t line)
{
    double most = 0;
    double limit = 0;
    if (quantity_at(device, "limit", "max_power", "W", &most) &&
        quantity_at(device, "limit", "socket_power", "W", &limit) && limit < most)
        sl_facts_number(facts, SL_FIELD_POWER_LIMIT_W, limit, line, "limit/socket_power");
}

/* Partitions are listed behind the device that they are of, numbered from its own 0: in list as a
 * member of each, in static with how it is cut. */
static bool
is_partition(const sl_node *device)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    uint64_t part = 0;
    sl_node cut;

    (void)!sl_node_uint(device, "partition_id", 0, UINT32_MAX, &part, NULL, &ignored);
    if (part == 0 && sl_document_object(device, "partition", &cut))
        (void)!sl_node_uint(&cut, "partition_id", 0, UINT32_MAX, &part, NULL, &ignored);
    return part > 0;
}

/* The member was renamed in ROCm 6.4. */
static void
say_partition(const sl_node *device, sl_facts *facts, uint32_t line)
{
    const char *const renamed = text_at(device, "partition", "accelerator_partition");
    const char *const mode =
        renamed != NULL ? renamed : text_at(device, "partition", "compute_partition");
    const bool cut = mode != NULL && !sl_text_equal_ignoring_case(mode, "SPX");
    if (!cut && !is_partition(device))
        return;
    sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, 1, line, "partition");
    sl_facts_text(facts, SL_FIELD_SLICE, mode != NULL ? mode : "partitioned", line, "partition");
}

static sl_code
take_device(reading *r, const sl_node *device, uint32_t node, uint32_t line, sl_errors *err)
{
    sl_facts facts = {0};
    sl_facts whole = {0};
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    char identity[32] = "";
    uint64_t index = 0;
    bool said = false;

    (void)!sl_node_uint(device, "gpu", 0, UINT32_MAX, &index, &said, &ignored);
    if (said)
        (void)sl_text_format(identity, sizeof identity, "%u", (uint32_t)index);
    say_name(device, &facts, line);
    say_memory(device, &facts, line);
    say_power(device, &facts, line);
    say_partition(device, &facts, line);
    sl_facts_text(&whole, SL_FIELD_DRIVER, text_at(device, "driver", "version"), line,
                  "driver/version");
    if (!whole.field[SL_FIELD_DRIVER].said)
        sl_facts_text(&whole, SL_FIELD_DRIVER, text_at(device, "driver", "driver_version"), line,
                      "driver/driver_version");
    if (!is_partition(device) || *r->whole == '\0')
        memcpy(r->whole, identity, sizeof r->whole);
    const sl_code code = sl_devices_add(r->devices, node, r->whole, 1, &facts, NULL, err);
    return code == SL_OK ? sl_devices_say(r->devices, node, &whole, err) : code;
}

static sl_code
take_document(void *context, const sl_output *document, sl_errors *err)
{
    reading *const r = context;
    const sl_node *const root = document->root;
    sl_output_cursor cursor = {.document = document, .line = document->line};
    sl_node list = *root;
    sl_node device;
    uint32_t node = 0;

    if (sl_node_kind(root) == SL_JSON_OBJECT && !sl_document_array(root, "gpu_data", &list) &&
        !sl_document_array(root, "gpu", &list))
        list = *root;
    const bool alone =
        sl_node_kind(&list) == SL_JSON_OBJECT && sl_node_member(&list, "gpu", &device);
    if (sl_node_kind(&list) != SL_JSON_ARRAY && !alone)
        return sl_fail(err, SL_E_SYNTAX, "malformed_devices", "",
                       "line %u: the document is no list of devices", document->line);
    sl_code code = sl_devices_node(r->devices, document->host, document->line, &node, err);
    r->whole[0] = '\0';
    if (code == SL_OK && alone)
        code = take_device(r, &list, node, document->line, err);
    for (size_t i = 0; code == SL_OK && i < sl_node_count(&list); i++)
        if (sl_node_at(&list, i, &device) && sl_node_kind(&device) == SL_JSON_OBJECT)
            code = take_device(r, &device, node, sl_output_find(&cursor, "gpu"), err);
    return code;
}

/* Of a device a quarter of its lines. */
static bool
is_read(uint32_t depth, const char *name, size_t size)
{
    static const char *const names[] = {"gpu_data",
                                        "gpu",
                                        "asic",
                                        "board",
                                        "vram",
                                        "limit",
                                        "driver",
                                        "partition",
                                        "mem_usage",
                                        "partition_id",
                                        "market_name",
                                        "product_name",
                                        "model_number",
                                        "size",
                                        "vram_size",
                                        "size_mb",
                                        "total_vram",
                                        "value",
                                        "unit",
                                        "max_power",
                                        "socket_power",
                                        "version",
                                        "driver_version",
                                        "accelerator_partition",
                                        "compute_partition"};
    bool read = false;

    (void)depth;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !read; i++)
        read = sl_text_is(name, size, names[i]);
    return read;
}

static sl_code
read_amd_smi(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    reading r = {0};
    sl_code code = sl_devices_new(findings, &r.devices, err);
    if (code == SL_OK)
        code = sl_outputs_each(raw->text, raw->size, is_read, take_document, &r, err);
    return code == SL_OK ? sl_devices_finish(r.devices, err) : code;
}

static uint32_t
recognise_amd_smi(const sl_sample *sample)
{
    static const char *const own[] = {"asic",   "vram",         "bdf",      "limit",
                                      "kfd_id", "partition_id", "mem_usage"};
    if (sl_sample_has_key(sample, "gpu_data"))
        return 93;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (sl_sample_has_key(sample, "gpu") && sl_sample_has_key(sample, own[i]))
            return 93;
    const bool behind =
        sl_sample_holds(sample, "\"gpu_data\"") ||
        (sl_sample_holds(sample, "\"market_name\"") && sl_sample_holds(sample, "\"asic\""));
    return behind ? 85 : 0;
}

const sl_format sl_amd_smi_format = {"amd_smi_json", "amd-smi static --json", recognise_amd_smi,
                                     read_amd_smi, 85};
