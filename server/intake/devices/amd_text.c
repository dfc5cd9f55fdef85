/*
 * The tools of AMD for people. rocm-smi says a quantity of a device per line, "GPU[0] : Card
 * Series: AMD Instinct MI210"; amd-smi lists a device's sections below "GPU: 0".
 */
#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/devices.h"
#include "intake/devices/formats.h"
#include "intake/syntax/cells.h"

enum { LINE_SIZE = 512, TEXT_SIZE = 128 };

typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    uint32_t node;
    bool in_node;
    uint32_t index; /* of the device of the line before */
    /* Of amd-smi: what the lines below "GPU: 0" say of it, until it ends. */
    bool open;
    char section[32];
    double most_w;  /* the part's own limit */
    uint32_t whole; /* index of the device whose partitions are being listed */
    bool part;      /* it is one of them */
    sl_facts facts;
    char name[TEXT_SIZE], mode[TEXT_SIZE];
} reading;

/* again: the devices are counted from the beginning again, in a list of one tool that does so
 * once. */
static sl_code
choose_node(reading *r, const sl_captures *captures, bool again, sl_errors *err)
{
    if (captures->host[0] == '\0' && r->in_node && !again)
        return SL_OK;
    r->in_node = true;
    return sl_devices_node(r->devices, captures->host, captures->lines.number, &r->node, err);
}

static sl_code
add(reading *r, uint32_t index, const sl_facts *facts, sl_errors *err)
{
    char identity[16];
    (void)sl_text_format(identity, sizeof identity, "%u", index);
    return sl_devices_add(r->devices, r->node, identity, 1, facts, NULL, err);
}

/* What one line of rocm-smi says of a device. */
static void
say_quantity(const reading *r, const char *key, const char *value, uint32_t line, sl_facts *facts)
{
    double bytes = 0;
    const bool number = strncmp(value, "0x", 2) == 0;

    if (sl_cell_is_nothing(value))
        return;
    if (sl_text_equal_ignoring_case(key, "Card Series") && !number)
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, value, line, "Card Series");
    else if (sl_text_equal_ignoring_case(key, "Device Name") && !number)
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, value, line, "Device Name");
    else if (sl_text_equal_ignoring_case(key, "VRAM Total Memory (B)") &&
             sl_cell_quantity(value, "B", &bytes))
        sl_facts_number(facts, SL_FIELD_MEMORY_BYTES, bytes, line, "VRAM Total Memory (B)");
    else if (sl_text_equal_ignoring_case(key, "Compute Partition"))
        sl_rocm_partition(value, line, facts, r->findings);
}

/* "GPU[0]		: Card Series: 		AMD Instinct MI210" */
static sl_code
take_rocm_line(reading *r, char *line, const sl_captures *captures, sl_errors *err)
{
    const char *end = NULL;
    sl_facts facts = {0};
    char *const text = sl_cell_trim(line);

    if (strncmp(text, "GPU[", 4) != 0 || !sl_cell_count(text + 4, &r->index, &end) || *end != ']')
        return SL_OK;
    char *const key = text + (end - text) + 1 + strspn(end + 1, " :");
    char *const colon = strchr(key, ':');
    sl_code code = choose_node(r, captures, false, err);
    if (code != SL_OK)
        return code;
    if (colon != NULL) {
        *colon = '\0';
        say_quantity(r, sl_cell_trim(key), sl_cell_trim(colon + 1), captures->lines.number, &facts);
    }
    return add(r, r->index, &facts, err);
}

/* How the device is cut; the key was renamed in ROCm 6.4. Partitions are listed behind the device
 * that they are of, numbered from its own 0. */
static void
say_partition(reading *r, const char *key, const char *value, uint32_t line)
{
    const char *end = NULL;
    uint32_t part = 0;

    if (sl_text_equal(key, "PARTITION_ID")) {
        r->part = sl_cell_count(value, &part, &end) && part > 0;
    } else if ((sl_text_equal(key, "COMPUTE_PARTITION") ||
                sl_text_equal(key, "ACCELERATOR_PARTITION")) &&
               !sl_text_equal(value, "SPX")) {
        (void)sl_text_copy(r->mode, sizeof r->mode, value);
        sl_facts_text(&r->facts, SL_FIELD_SLICE, r->mode, line, "PARTITION");
    }
}

/* What a line of amd-smi says, below its section. */
static void
say_member(reading *r, const char *key, const char *value, uint32_t line)
{
    const bool market = sl_text_equal_ignoring_case(key, "MARKET_NAME");
    sl_facts *const facts = &r->facts;
    double number = 0;

    if (sl_cell_is_nothing(value))
        return;
    if ((market && strncmp(value, "0x", 2) != 0) ||
        (sl_text_equal(r->section, "BOARD") && sl_text_equal(key, "PRODUCT_NAME") &&
         !facts->field[SL_FIELD_ACCELERATOR].said)) {
        (void)sl_text_copy(r->name, sizeof r->name, value);
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, r->name, line,
                      market ? "ASIC/MARKET_NAME" : "BOARD/PRODUCT_NAME");
    } else if (sl_text_equal(r->section, "VRAM") && sl_text_equal(key, "SIZE")) {
        if (sl_cell_quantity(value, "MB", &number))
            sl_facts_number(facts, SL_FIELD_MEMORY_BYTES, number, line, "VRAM/SIZE");
    } else if (sl_text_equal(r->section, "LIMIT") && sl_text_equal(key, "MAX_POWER")) {
        (void)sl_cell_quantity(value, "W", &r->most_w);
    } else if (sl_text_equal(r->section, "LIMIT") && sl_text_equal(key, "SOCKET_POWER")) {
        if (sl_cell_quantity(value, "W", &number) && number < r->most_w)
            sl_facts_number(facts, SL_FIELD_POWER_LIMIT_W, number, line, "LIMIT/SOCKET_POWER");
    } else {
        say_partition(r, key, value, line);
    }
}

/* A device is over, or a partition, which is of the device before. */
static sl_code
end_amd_device(reading *r, sl_errors *err)
{
    static const char path[] = "PARTITION";

    if (!r->open)
        return SL_OK;
    r->open = false;
    if (!r->part)
        r->whole = r->index;
    else if (!r->facts.field[SL_FIELD_SLICE].said)
        sl_facts_text(&r->facts, SL_FIELD_SLICE, "partitioned", 0, path);
    if (r->facts.field[SL_FIELD_SLICE].said)
        sl_facts_number(&r->facts, SL_FIELD_SLICED_ACCELERATORS, 1,
                        r->facts.field[SL_FIELD_SLICE].place.line, path);
    return add(r, r->whole, &r->facts, err);
}

static sl_code
begin_amd_device(reading *r, uint32_t index, const sl_captures *captures, sl_errors *err)
{
    sl_code code = end_amd_device(r, err);
    if (code == SL_OK)
        code = choose_node(r, captures, r->in_node && index <= r->index, err);
    r->open = true;
    r->part = false;
    r->index = index;
    r->section[0] = '\0';
    r->most_w = 0;
    r->facts = (sl_facts){0};
    return code;
}

/* "GPU: 0", "    ASIC:", "        MARKET_NAME: AMD Instinct MI300X" */
static sl_code
take_amd_line(reading *r, char *line, const sl_captures *captures, sl_errors *err)
{
    const char *end = NULL;
    sl_facts whole = {0};
    uint32_t index = 0;
    char *const text = sl_cell_trim(line);
    char *const colon = strchr(text, ':');

    if (strncmp(text, "GPU: ", 5) == 0 && sl_cell_count(text + 5, &index, &end))
        return begin_amd_device(r, index, captures, err);
    if (!r->open || colon == NULL)
        return SL_OK;
    *colon = '\0';
    const char *const value = sl_cell_trim(colon + 1);
    if (*value == '\0') {
        (void)sl_text_copy(r->section, sizeof r->section, text);
        return SL_OK;
    }
    say_member(r, text, value, captures->lines.number);
    if (!sl_text_equal(r->section, "DRIVER") || !sl_text_equal(text, "VERSION"))
        return SL_OK;
    sl_facts_text(&whole, SL_FIELD_DRIVER, value, captures->lines.number, "DRIVER/VERSION");
    return sl_devices_say(r->devices, r->node, &whole, err);
}

typedef sl_code (*line_reader)(reading *r, char *line, const sl_captures *captures, sl_errors *err);

static sl_code
read_lines(const sl_raw *raw, sl_findings *findings, line_reader take, const char *mark,
           sl_errors *err)
{
    reading r = {.findings = findings};
    sl_captures captures;
    char line[LINE_SIZE];
    bool any = false;
    sl_code code = sl_devices_new(findings, &r.devices, err);

    sl_captures_open(&captures, raw->text, raw->size);
    while (code == SL_OK && sl_captures_next(&captures, line, sizeof line)) {
        r.in_node = r.in_node && !captures.named;
        code = captures.named ? end_amd_device(&r, err) : take(&r, line, &captures, err);
        any = any || r.in_node;
    }
    if (code == SL_OK)
        code = end_amd_device(&r, err);
    if (code == SL_OK && !any)
        return sl_fail(err, SL_E_SYNTAX, "malformed_list", "", "line 1: no line begins with %s",
                       mark);
    return code == SL_OK ? sl_devices_finish(r.devices, err) : code;
}

static sl_code
read_rocm_text(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    return read_lines(raw, findings, take_rocm_line, "\"GPU[0]\"", err);
}

static sl_code
read_amd_text(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    return read_lines(raw, findings, take_amd_line, "\"GPU: 0\"", err);
}

static uint32_t
recognise_rocm_text(const sl_sample *sample)
{
    const bool line =
        sl_sample_line_begins(sample, "GPU[0]") || sl_sample_line_begins(sample, "GPU[1]");
    return sample->shape == SL_SHAPE_TEXT && line ? 88 : 0;
}

static uint32_t
recognise_amd_text(const sl_sample *sample)
{
    const bool line = sl_sample_line_begins(sample, "GPU: 0");
    const bool own = sl_sample_holds(sample, "MARKET_NAME:") || sl_sample_holds(sample, "BDF:");
    return sample->shape == SL_SHAPE_TEXT && line && own ? 90 : 0;
}

const sl_format sl_rocm_text_format = {"rocm_smi_text", "rocm-smi", recognise_rocm_text,
                                       read_rocm_text, 85};

const sl_format sl_amd_text_format = {"amd_smi_text", "amd-smi static", recognise_amd_text,
                                      read_amd_text, 85};
