/*
 * The tools of AMD for people. rocm-smi says a quantity of a device per line, "GPU[0] : Card Series:
 * AMD Instinct MI210"; amd-smi lists a device's sections below "GPU: 0".
 */
#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/cells.h"
#include "intake/devices.h"
#include "intake/devices/formats.h"

enum { LINE_SIZE = 512 };

typedef struct reading {
    sl_devices *devices;
    uint32_t node;
    bool in_node;
    uint32_t index;   /* of the device of the line before */
    char section[32]; /* of amd-smi */
    double most_w;    /* the part's own limit */
} reading;

/* again: the devices are counted from the beginning again, in a list of one tool that does so once. */
static sl_code
choose_node(reading *r, const sl_captures *captures, bool again, sl_errors *err)
{
    if (captures->host[0] == '\0' && r->in_node && !again)
        return SL_OK;
    r->in_node = true;
    return sl_devices_node(r->devices, captures->host, captures->lines.number, &r->node, err);
}

static sl_code
add(reading *r, const sl_facts *facts, sl_errors *err)
{
    char identity[16];
    (void)sl_text_format(identity, sizeof identity, "%u", r->index);
    return sl_devices_add(r->devices, r->node, identity, 1, facts, NULL, err);
}

/* What one line of rocm-smi says of a device. */
static void
say_quantity(const char *key, const char *value, uint32_t line, sl_facts *facts)
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
        say_quantity(sl_cell_trim(key), sl_cell_trim(colon + 1), captures->lines.number, &facts);
    }
    return add(r, &facts, err);
}

/* What a line of amd-smi says, below its section. */
static void
say_member(reading *r, const char *key, const char *value, uint32_t line, sl_facts *facts)
{
    double number = 0;

    if (sl_cell_is_nothing(value))
        return;
    if (sl_text_equal_ignoring_case(key, "MARKET_NAME") && strncmp(value, "0x", 2) != 0) {
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, value, line, "ASIC/MARKET_NAME");
    } else if (sl_text_equal(r->section, "BOARD") && sl_text_equal(key, "PRODUCT_NAME")) {
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, value, line, "BOARD/PRODUCT_NAME");
    } else if (sl_text_equal(r->section, "VRAM") && sl_text_equal(key, "SIZE")) {
        if (sl_cell_quantity(value, "MB", &number))
            sl_facts_number(facts, SL_FIELD_MEMORY_BYTES, number, line, "VRAM/SIZE");
    } else if (sl_text_equal(r->section, "LIMIT") && sl_text_equal(key, "MAX_POWER")) {
        (void)sl_cell_quantity(value, "W", &r->most_w);
    } else if (sl_text_equal(r->section, "LIMIT") && sl_text_equal(key, "SOCKET_POWER")) {
        if (sl_cell_quantity(value, "W", &number) && number < r->most_w)
            sl_facts_number(facts, SL_FIELD_POWER_LIMIT_W, number, line, "LIMIT/SOCKET_POWER");
    } else if (sl_text_equal(r->section, "PARTITION") && sl_text_equal(key, "COMPUTE_PARTITION") &&
               !sl_text_equal(value, "SPX")) {
        sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, 1, line,
                        "PARTITION/COMPUTE_PARTITION");
        sl_facts_text(facts, SL_FIELD_SLICE, value, line, "PARTITION/COMPUTE_PARTITION");
    }
}

/* "GPU: 0", "    ASIC:", "        MARKET_NAME: AMD Instinct MI300X" */
static sl_code
take_amd_line(reading *r, char *line, const sl_captures *captures, sl_errors *err)
{
    const uint32_t before = r->index;
    const char *end = NULL;
    sl_facts facts = {0};
    sl_facts whole = {0};
    char *const text = sl_cell_trim(line);
    char *const colon = strchr(text, ':');

    if (strncmp(text, "GPU: ", 5) == 0 && sl_cell_count(text + 5, &r->index, &end)) {
        r->section[0] = '\0';
        r->most_w = 0;
        const sl_code code = choose_node(r, captures, r->in_node && r->index <= before, err);
        return code == SL_OK ? add(r, &facts, err) : code;
    }
    if (!r->in_node || colon == NULL)
        return SL_OK;
    *colon = '\0';
    const char *const value = sl_cell_trim(colon + 1);
    if (*value == '\0') {
        (void)sl_text_copy(r->section, sizeof r->section, text);
        return SL_OK;
    }
    if (sl_text_equal(r->section, "DRIVER") && sl_text_equal(text, "VERSION"))
        sl_facts_text(&whole, SL_FIELD_DRIVER, value, captures->lines.number, "DRIVER/VERSION");
    say_member(r, text, value, captures->lines.number, &facts);
    const sl_code code = sl_devices_say(r->devices, r->node, &whole, err);
    return code == SL_OK ? add(r, &facts, err) : code;
}

typedef sl_code (*line_reader)(reading *r, char *line, const sl_captures *captures, sl_errors *err);

static sl_code
read_lines(const sl_raw *raw, sl_findings *findings, line_reader take, const char *mark,
           sl_errors *err)
{
    reading r = {0};
    sl_captures captures;
    char line[LINE_SIZE];
    bool any = false;
    sl_code code = sl_devices_new(findings, &r.devices, err);

    sl_captures_open(&captures, raw->text, raw->size);
    while (code == SL_OK && sl_captures_next(&captures, line, sizeof line)) {
        r.in_node = r.in_node && !captures.named;
        code = captures.named ? SL_OK : take(&r, line, &captures, err);
        any = any || r.in_node;
    }
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
