/* The metrics of DCGM's exporter, as Prometheus reads them: one line per device and quantity. */
#include "intake/nvidia/nvidia.h"

#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/devices.h"
#include "intake/syntax/cells.h"
#include "shardline/units.h"

enum { LINE_SIZE = 4096, VALUE_SIZE = 256 };

static const char total_metric[] = "DCGM_FI_DEV_FB_TOTAL";
static const char reserved_metric[] = "DCGM_FI_DEV_FB_RESERVED";

typedef struct labels {
    char host[VALUE_SIZE];
    char uuid[VALUE_SIZE];
    char index[VALUE_SIZE];
    char model[VALUE_SIZE];
    char driver[VALUE_SIZE];
    char profile[VALUE_SIZE]; /* of a MIG slice */
} labels;

typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    bool total; /* a total was printed */
    bool parts; /* used or free were */
    uint32_t parts_line;
    bool any;
    bool local; /* samples without a host were read: they are all of `here` */
    uint32_t here;
} reading;

/* Where a label's value goes; NULL for one that is not needed. */
static char *
room_of(labels *l, const char *name)
{
    const struct {
        const char *name;
        char *room;
    } rooms[] = {
        {"Hostname", l->host},
        {"UUID", l->uuid},
        {"gpu", l->index},
        {"modelName", l->model},
        {"GPU_I_PROFILE", l->profile},
        {"hostname", l->host},
        {"uuid", l->uuid},
        {"DCGM_FI_DRIVER_VERSION", l->driver},
    };
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        if (sl_text_equal(rooms[i].name, name))
            return rooms[i].room;
    return NULL;
}

/* name="value",...}; cuts the text. What follows the brace, or NULL where it does not end. */
static char *
take_labels(char *at, labels *out)
{
    for (;;) {
        at += strspn(at, ", ");
        if (*at == '}')
            return at + 1;
        char *const name = at;
        char *const equals = strchr(at, '=');
        if (equals == NULL || equals[1] != '"')
            return NULL;
        *equals = '\0';
        char *const value = equals + 2;
        char *to = value;
        for (at = value; *at != '"'; at++) {
            at += *at == '\\' && at[1] != '\0';
            if (*at == '\0')
                return NULL;
            *to++ = *at;
        }
        at++;
        *to = '\0';
        char *const room = room_of(out, sl_cell_trim(name));
        if (room != NULL)
            (void)sl_text_copy(room, VALUE_SIZE, value);
    }
}

static void
say_slice(const labels *l, sl_facts *facts, char *words, size_t size, uint32_t line)
{
    if (*l->profile == '\0')
        return;
    (void)sl_text_format(words, size, "MIG %s", l->profile);
    sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, 1, line, "GPU_I_PROFILE");
    sl_facts_text(facts, SL_FIELD_SLICE, words, line, "GPU_I_PROFILE");
}

/* An exporter that is asked on its host need not name it. */
static sl_code
choose_node(reading *r, const labels *l, uint32_t line, uint32_t *node, sl_errors *err)
{
    if (*l->host != '\0')
        return sl_devices_node(r->devices, l->host, line, node, err);
    const sl_code code = r->local ? SL_OK : sl_devices_node(r->devices, NULL, line, &r->here, err);
    r->local = true;
    *node = r->here;
    return code;
}

/* One sample. A total that is a slice's is none of its device's. */
static sl_code
take_sample(reading *r, const char *metric, const labels *l, double value, uint32_t line,
            sl_errors *err)
{
    sl_facts facts = {0};
    sl_facts whole = {0};
    char slice[VALUE_SIZE + 8];
    uint32_t node = 0;
    sl_code code = choose_node(r, l, line, &node, err);

    if (code != SL_OK)
        return code;
    r->any = true;
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, l->model, line, "modelName");
    if (*l->profile == '\0' && sl_text_equal(metric, total_metric)) {
        sl_facts_number(&facts, SL_FIELD_MEMORY_BYTES, value * SL_MIB_BYTES, line, total_metric);
        r->total = true;
    } else if (*l->profile == '\0' && sl_text_equal(metric, reserved_metric)) {
        sl_facts_number(&facts, SL_FIELD_RESERVED_BYTES, value * SL_MIB_BYTES, line,
                        reserved_metric);
    } else if (strstr(metric, "_FB_") != NULL || strstr(metric, "_fb_") != NULL) {
        r->parts_line = r->parts ? r->parts_line : line;
        r->parts = true;
    }
    say_slice(l, &facts, slice, sizeof slice, line);
    sl_facts_text(&whole, SL_FIELD_DRIVER, l->driver, line, "DCGM_FI_DRIVER_VERSION");
    code = sl_devices_add(r->devices, node, *l->uuid != '\0' ? l->uuid : l->index, 1, &facts, NULL,
                          err);
    return code == SL_OK ? sl_devices_say(r->devices, node, &whole, err) : code;
}

static sl_code
take_line(reading *r, char *line, uint32_t number, sl_errors *err)
{
    char *const metric = sl_cell_trim(line);
    char *const brace = strchr(metric, '{');
    labels l = {0};
    char value_text[32];
    double value = 0;

    if (brace == NULL || (strncmp(metric, "DCGM_", 5) != 0 && strncmp(metric, "dcgm_", 5) != 0))
        return SL_OK;
    *brace = '\0';
    const char *const rest = take_labels(brace + 1, &l);
    if (rest != NULL) {
        (void)sl_text_copy(value_text, sizeof value_text, rest + strspn(rest, " "));
        value_text[strcspn(value_text, " ")] = '\0';
    }
    if (rest == NULL || !sl_text_to_double(value_text, &value)) {
        sl_findings_warn(r->findings, "sample_skipped", number, metric,
                         "a sample of %.60s is not one and is skipped", metric);
        return SL_OK;
    }
    return take_sample(r, metric, &l, value, number, err);
}

static sl_code
read_dcgm(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    reading r = {.findings = findings};
    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    char line[LINE_SIZE];
    bool cut = false;
    sl_code code = sl_devices_new(findings, &r.devices, err);

    while (code == SL_OK && sl_lines_copy(&lines, line, sizeof line, &cut))
        code = take_line(&r, line, lines.number, err);
    if (code == SL_OK && !r.any)
        return sl_fail(err, SL_E_SYNTAX, "malformed_metrics", "",
                       "line 1: no sample of DCGM, \"DCGM_FI_...{gpu=...} 0\", stands in it");
    if (code == SL_OK && r.parts && !r.total)
        sl_findings_warn(findings, "memory_not_total", r.parts_line, "DCGM_FI_DEV_FB_USED",
                         "only the memory in use and free is printed, which is not all that a "
                         "device has: its size is not taken from them");
    return code == SL_OK ? sl_devices_finish(r.devices, err) : code;
}

static uint32_t
recognise_dcgm(const sl_sample *sample)
{
    return sl_sample_line_begins(sample, "DCGM_FI_") || sl_sample_line_begins(sample, "dcgm_") ||
                   sl_sample_line_begins(sample, "# HELP DCGM_FI_")
               ? 95
               : 0;
}

const sl_format sl_dcgm_format = {"dcgm_metrics", "metrics of dcgm-exporter", recognise_dcgm,
                                  read_dcgm, 75};
