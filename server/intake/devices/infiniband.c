/* ibnetdiscover lists every port of a fabric, ibstat the ports of one host. */
#include "intake/devices/infiniband.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/text.h"
#include "intake/captures.h"
#include "intake/devices/formats.h"
#include "intake/syntax/cells.h"
#include "shardline/units.h"

enum { LINE_SIZE = 1024, RATES_MAX = 8 };

bool
sl_infiniband_rate(const char *text, double *bytes_per_s)
{
    static const struct {
        const char *name;
        double lane_gbit_per_s;
    } speeds[] = {{"SDR", 2.5}, {"DDR", 5},  {"QDR", 10},  {"FDR10", 10}, {"FDR", 14},
                  {"EDR", 25},  {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};
    uint32_t lanes = 0;
    const char *end = NULL;
    assert(text != NULL && bytes_per_s != NULL);

    if (!sl_cell_count(text, &lanes, &end) || lanes == 0 || lanes > 16 ||
        (*end != 'x' && *end != 'X'))
        return false;
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        if (!sl_text_equal(end + 1, speeds[i].name))
            continue;
        *bytes_per_s = lanes * speeds[i].lane_gbit_per_s * SL_GB_BYTES / 8;
        return true;
    }
    return false;
}

/* Ports of one host by their rate. */
typedef struct ports {
    uint32_t line;
    uint32_t count;
    struct {
        double bytes_per_s;
        uint32_t ports, line;
        const char *kind; /* of network, static */
    } rates[RATES_MAX];
} ports;

static void
add_port(ports *p, double bytes_per_s, const char *kind, uint32_t line)
{
    uint32_t at = 0;
    while (at < p->count && p->rates[at].bytes_per_s != bytes_per_s)
        at++;
    if (at == RATES_MAX)
        return;
    if (at == p->count) {
        p->rates[p->count].bytes_per_s = bytes_per_s;
        p->rates[p->count].ports = 0;
        p->rates[p->count].kind = kind;
        p->rates[p->count++].line = line;
    }
    p->rates[at].ports++;
}

/* The group that carries most is the accelerators' network. */
static void
say_ports(const ports *p, const char *path, sl_findings *findings, sl_facts *facts)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < p->count; i++)
        if (p->rates[i].ports * p->rates[i].bytes_per_s >
            p->rates[best].ports * p->rates[best].bytes_per_s)
            best = i;
    if (p->count == 0)
        return;
    sl_facts_number(facts, SL_FIELD_NIC_COUNT, p->rates[best].ports, p->rates[best].line, path);
    sl_facts_number(facts, SL_FIELD_NIC_BYTES_PER_S, p->rates[best].bytes_per_s,
                    p->rates[best].line, path);
    sl_facts_text(facts, SL_FIELD_NIC_KIND, p->rates[best].kind, p->rates[best].line, path);
    if (p->count > 1)
        sl_findings_warn(
            findings, "nics_apart", p->rates[best].line, path,
            "network cards have %u different rates: the group that carries most counts", p->count);
}

/* Cards of one host stand in entries of their own: they are summed up by the host's name. */
typedef struct fabric_host {
    char *name;
    char *leaf;
    ports ports;
} fabric_host;

typedef struct fabric {
    sl_findings *findings;
    sl_arena *arena;
    uint32_t switches;
    uint32_t count, room;
    fabric_host *hosts;
    sl_index names;
    uint32_t current; /* host whose card is being read, or SL_FOUND_NONE */
    bool any;
} fabric;

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
}

static bool
grow(fabric *f)
{
    if (f->count < f->room)
        return true;
    const uint32_t room = f->room > 0 ? 2 * f->room : 256;
    fabric_host *const hosts = sl_arena_alloc(f->arena, room, sizeof *hosts);
    if (hosts == NULL)
        return false;
    if (f->count > 0)
        memcpy(hosts, f->hosts, f->count * sizeof *hosts);
    f->hosts = hosts;
    f->room = room;
    return true;
}

/* "gpu001 mlx5_0", "gpu001 HCA-1": the host of a card's description; false for one that names none,
 * as a card without a host's driver or the aggregation node of a switch does. */
static bool
host_of(const char *description, char *out, size_t size)
{
    static const char *const cards[] = {"mlx", "HCA", "ib", "hfi", "bnxt", "roce"};
    const char *const blank = strchr(description, ' ');
    uint64_t names = 0;
    if (blank == NULL || !sl_text_copy(out, size, description))
        return false;
    out[blank - description] = '\0';
    if (!sl_hosts_count(out, &names) || names != 1)
        return false;
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
        if (strncmp(blank + 1, cards[i], strlen(cards[i])) == 0)
            return true;
    return false;
}

/* The text between the quotes that open at or behind `at`; NULL where there are none. */
static const char *
quoted(const char *at, char *out, size_t size)
{
    const char *const open = strchr(at, '"');
    const char *const close = open != NULL ? strchr(open + 1, '"') : NULL;
    if (close == NULL || (size_t)(close - open) > size)
        return NULL;
    memcpy(out, open + 1, (size_t)(close - open) - 1);
    out[close - open - 1] = '\0';
    return close + 1;
}

/* Ca 1 "H-b8599f0300aa0001"   # "gpu001 mlx5_0" */
static sl_code
begin_card(fabric *f, const char *line, uint32_t number, sl_errors *err)
{
    char id[128];
    char description[256];
    char name[256];
    const char *const behind = quoted(line, id, sizeof id);

    f->current = SL_FOUND_NONE;
    f->any = true;
    if (behind == NULL || quoted(behind, description, sizeof description) == NULL ||
        !host_of(description, name, sizeof name))
        return SL_OK;
    bool known = false;
    uint32_t *const at = sl_index_at(&f->names, sl_index_key(name), &known);
    if (at == NULL || !grow(f))
        return out_of_memory(err);
    if (!known) {
        if (f->count == SL_HOSTS_MAX)
            return sl_fail(err, SL_E_RANGE, "too_many", "", "must hold at most %d hosts",
                           SL_HOSTS_MAX);
        fabric_host *const made = &f->hosts[f->count];
        *made = (fabric_host){.name = sl_arena_copy(f->arena, name), .ports = {.line = number}};
        if (made->name == NULL)
            return out_of_memory(err);
        *at = f->count++;
    }
    f->current = *at;
    return SL_OK;
}

/* [1](b8599f0300aa0001)  "S-900a84030000c0de"[7]   # lid 17 lmc 0 "leaf01" lid 1 4xNDR */
static sl_code
take_port(fabric *f, char *line, uint32_t number, sl_errors *err)
{
    char id[128];
    char name[256];
    double rate = 0;

    if (f->current == SL_FOUND_NONE)
        return SL_OK;
    fabric_host *const host = &f->hosts[f->current];
    const char *const behind = quoted(line, id, sizeof id);
    if (behind != NULL && strncmp(id, "S-", 2) == 0 && host->leaf == NULL) {
        const bool named = quoted(behind, name, sizeof name) != NULL && *name != '\0';
        host->leaf = sl_arena_copy(f->arena, named ? name : id);
        if (host->leaf == NULL)
            return out_of_memory(err);
    }
    char *const trimmed = sl_cell_trim(line);
    const char *const blank = strrchr(trimmed, ' ');
    if (blank != NULL && sl_infiniband_rate(blank + 1, &rate))
        add_port(&host->ports, rate, "infiniband", number);
    return SL_OK;
}

static sl_code
say_fabric(const fabric *f, sl_errors *err)
{
    const sl_found_fabric network = {.switches = f->switches};

    sl_findings_fabric(f->findings, &network);
    for (uint32_t i = 0; i < f->count; i++) {
        const fabric_host *const host = &f->hosts[i];
        sl_facts facts = {0};
        say_ports(&host->ports, "Ca", f->findings, &facts);
        const sl_found_host found = {
            .name = host->name, .count = 1, .leaf = host->leaf, .line = host->ports.line};
        const sl_code code = sl_findings_add(f->findings, &found, &facts, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

static sl_code
read_ibnetdiscover(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    fabric f = {.findings = findings,
                .arena = sl_findings_arena(findings),
                .names = {.arena = sl_findings_arena(findings)},
                .current = SL_FOUND_NONE};
    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    char line[LINE_SIZE];
    bool cut = false;
    sl_code code = SL_OK;

    while (code == SL_OK && sl_lines_copy(&lines, line, sizeof line, &cut)) {
        if (strncmp(line, "Switch ", 7) == 0) {
            f.current = SL_FOUND_NONE;
            f.any = true;
            f.switches++;
        } else if (strncmp(line, "Ca ", 3) == 0) {
            code = begin_card(&f, line, lines.number, err);
        } else if (line[0] == '[') {
            code = take_port(&f, line, lines.number, err);
        }
    }
    if (code != SL_OK)
        return code;
    if (!f.any)
        return sl_fail(err, SL_E_SYNTAX, "malformed_fabric", "",
                       "line 1: no switch and no card of ibnetdiscover stands in it");
    return say_fabric(&f, err);
}

static uint32_t
recognise_ibnetdiscover(const sl_sample *sample)
{
    const bool blocks =
        sl_sample_line_begins(sample, "Switch\t") || sl_sample_line_begins(sample, "Ca\t") ||
        sl_sample_line_begins(sample, "Switch ") || sl_sample_line_begins(sample, "Ca ");
    const bool ids = sl_sample_holds(sample, "\"S-") || sl_sample_holds(sample, "\"H-");
    return sample->shape == SL_SHAPE_TEXT && blocks && ids ? 95 : 0;
}

/* One host's ports in ibstat; what is said of a port stands on lines below its number. */
typedef struct stat {
    sl_findings *findings;
    bool any;
    char host[SL_HOST_NAME_MAX + 1];
    ports ports;
    bool active, in_port;
    uint32_t rate_gbit_per_s, line;
    uint32_t inactive;
    char layer[32];
} stat;

static void
end_port(stat *s)
{
    if (!s->in_port)
        return;
    s->in_port = false;
    if (!s->active || s->rate_gbit_per_s == 0) {
        s->inactive++;
        return;
    }
    add_port(&s->ports, s->rate_gbit_per_s * SL_GB_BYTES / 8,
             sl_text_equal(s->layer, "Ethernet") ? "ethernet" : "infiniband", s->line);
}

static sl_code
end_host(stat *s, sl_errors *err)
{
    sl_facts facts = {0};

    end_port(s);
    if (s->ports.line == 0)
        return SL_OK;
    say_ports(&s->ports, "Rate", s->findings, &facts);
    if (s->inactive > 0)
        sl_findings_warn(s->findings, "ports_inactive", s->ports.line, "State",
                         "%u ports are not active and are not counted", s->inactive);
    const sl_found_host found = {
        .name = *s->host != '\0' ? s->host : NULL, .count = 1, .line = s->ports.line};
    s->ports = (ports){0};
    s->inactive = 0;
    return sl_findings_add(s->findings, &found, &facts, err);
}

static void
take_line(stat *s, char *line, uint32_t number)
{
    char *const text = sl_cell_trim(line);
    uint32_t port = 0;
    const char *end = NULL;

    if (strncmp(text, "CA '", 4) == 0) {
        end_port(s);
        s->any = true;
        s->ports.line = s->ports.line > 0 ? s->ports.line : number;
    } else if (strncmp(text, "Port ", 5) == 0 && sl_cell_count(text + 5, &port, &end)) {
        end_port(s);
        s->in_port = true;
        s->active = false;
        s->rate_gbit_per_s = 0;
        s->layer[0] = '\0';
        s->line = number;
    } else if (strncmp(text, "State: ", 7) == 0) {
        s->active = sl_text_equal(text + 7, "Active");
    } else if (strncmp(text, "Rate: ", 6) == 0) {
        (void)sl_cell_count(text + 6, &s->rate_gbit_per_s, &end);
    } else if (strncmp(text, "Link layer: ", 12) == 0) {
        (void)sl_text_copy(s->layer, sizeof s->layer, text + 12);
    }
}

static sl_code
read_ibstat(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    stat s = {.findings = findings};
    sl_captures captures;
    char line[LINE_SIZE];
    sl_code code = SL_OK;

    sl_captures_open(&captures, raw->text, raw->size);
    while (code == SL_OK && sl_captures_next(&captures, line, sizeof line)) {
        if (captures.named || (captures.prefixed && !sl_text_equal(captures.host, s.host))) {
            code = end_host(&s, err);
            memcpy(s.host, captures.host, sizeof s.host);
        }
        if (code == SL_OK)
            take_line(&s, line, captures.lines.number);
    }
    if (code == SL_OK)
        code = end_host(&s, err);
    if (code == SL_OK && !s.any)
        return sl_fail(err, SL_E_SYNTAX, "malformed_ports", "",
                       "line 1: no card of ibstat, \"CA 'mlx5_0'\", stands in it");
    return code;
}

static uint32_t
recognise_ibstat(const sl_sample *sample)
{
    return sl_sample_holds(sample, "CA '") && sl_sample_holds(sample, "CA type: ") ? 95 : 0;
}

const sl_format sl_ibnetdiscover_format = {"ibnetdiscover", "ibnetdiscover",
                                           recognise_ibnetdiscover, read_ibnetdiscover, 0};

const sl_format sl_ibstat_format = {"ibstat", "ibstat", recognise_ibstat, read_ibstat, 0};
