/* NCCL's and RCCL's picture of a node: devices and network cards under the switches of PCIe. */
#include "intake/devices/formats.h"

#include <string.h>

#include "base/index.h"
#include "base/text.h"
#include "intake/reach.h"
#include "intake/syntax/cells.h"
#include "intake/syntax/xml.h"
#include "shardline/units.h"

enum { HOSTS_MAX = 128, RATES_MAX = 8, BUS_SIZE = 24, KIND_SIZE = 16, PCI_ID_SIZE = 16 };

/* Cards of one rate. */
typedef struct rate {
    double mbit_per_s; /* 0: not said */
    uint32_t count, line;
    char kind[KIND_SIZE];
} rate;

/* What the devices of a node are on the bus of PCI, "10de:2330". */
typedef struct pci_id {
    char text[PCI_ID_SIZE]; /* "": not said */
    uint32_t line;
    bool differs; /* they are not all one */
} pci_id;

/* A picture of several nodes that share an NVLink fabric tells them apart by host_hash. */
typedef struct host {
    char hash[32];
    uint32_t line;
    uint32_t classed, told; /* devices: PCI functions of their class; those that hold a <gpu> */
    pci_id classed_id, told_id;
    uint32_t nics; /* PCI functions of a network card's class */
    char nic_kind[KIND_SIZE];
    uint32_t rate_count;
    rate rates[RATES_MAX];
} host;

typedef struct reading {
    sl_findings *findings;
    uint32_t host_count;
    host hosts[HOSTS_MAX];
    host *host;
    /* the PCI function being read */
    uint32_t function; /* counts them */
    uint32_t function_of_gpu;
    char kind[KIND_SIZE]; /* of network its class stands for */
    pci_id id;
    /* devices, over all hosts */
    sl_reach reach;
    char bus[SL_REACH_MAX][BUS_SIZE];
    uint32_t links[SL_REACH_MAX];
    uint32_t target_count; /* links to peers, joined when all devices are known */
    struct {
        uint32_t from;
        char to[BUS_SIZE];
    } targets[SL_REACH_MAX * 8];
    uint32_t pair_links; /* the fewest to a peer */
    bool switched;       /* links end in a switch */
    const char *link_kind;
    uint32_t links_line;
    sl_index cards; /* of each host, which count once */
} reading;

static const char *
name_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static host *
host_of(reading *r, const char *hash, uint32_t line)
{
    for (uint32_t i = 0; i < r->host_count; i++)
        if (sl_text_equal(r->hosts[i].hash, hash))
            return &r->hosts[i];
    if (r->host_count == HOSTS_MAX)
        return &r->hosts[HOSTS_MAX - 1];
    host *const h = &r->hosts[r->host_count++];
    *h = (host){.line = line};
    (void)sl_text_copy(h->hash, sizeof h->hash, hash);
    return h;
}

static bool
is_class(const char *class, const char *const *starts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(class, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Display, 3D and other accelerators of the PCI classes. */
static bool
is_device_class(const char *class)
{
    static const char *const starts[] = {"0x0300", "0x0302", "0x0380", "0x1200"};
    return is_class(class, starts, sizeof starts / sizeof starts[0]);
}

/* "0x10de" and "0x2330" as "10de:2330"; "" where the picture, as old ones, does not say both. */
static pci_id
id_of(const char *vendor, const char *device, uint32_t line)
{
    pci_id id = {.line = line};

    if (strncmp(vendor, "0x", 2) != 0 || strncmp(device, "0x", 2) != 0 ||
        !sl_text_format(id.text, sizeof id.text, "%s:%s", vendor + 2, device + 2))
        id.text[0] = '\0';
    return id;
}

static void
take_id(pci_id *known, const pci_id *more)
{
    if (known->line == 0)
        *known = *more;
    known->differs = known->differs || !sl_text_equal(known->text, more->text);
}

static void
open_pci(reading *r, const char *const *attributes, uint32_t line)
{
    const char *const class = sl_xml_attribute(attributes, "class");
    const char *const vendor = sl_xml_attribute(attributes, "vendor");

    r->function++;
    r->kind[0] = '\0';
    r->id = id_of(vendor, sl_xml_attribute(attributes, "device"), line);
    if (is_device_class(class)) {
        r->host->classed++;
        take_id(&r->host->classed_id, &r->id);
    } else if (strncmp(class, "0x02", 4) == 0) {
        const char *const kind = strncmp(class, "0x0207", 6) == 0  ? "infiniband"
                                 : sl_text_equal(vendor, "0x1d0f") ? "efa"
                                                                   : "ethernet";
        (void)sl_text_copy(r->kind, sizeof r->kind, kind);
        (void)sl_text_copy(r->host->nic_kind, sizeof r->host->nic_kind, kind);
        r->host->nics++;
    }
    if (r->reach.count < SL_REACH_MAX)
        (void)sl_text_copy(r->bus[r->reach.count], BUS_SIZE, sl_xml_attribute(attributes, "busid"));
}

/* Two halves of one device stand in one function and are one. */
static void
open_gpu(reading *r)
{
    if (r->function == r->function_of_gpu || r->reach.count == SL_REACH_MAX)
        return;
    r->function_of_gpu = r->function;
    r->host->told++;
    take_id(&r->host->told_id, &r->id);
    r->reach.count++;
}

/* A target that is a switch of NVLink joins all; one that is a device, the pair. */
static void
open_link(reading *r, const char *kind, const char *const *attributes, uint32_t line)
{
    const char *const class = sl_xml_attribute(attributes, "tclass");
    const char *const target = sl_xml_attribute(attributes, "target");
    uint32_t count = 0;
    const char *end = NULL;
    const bool to_switch = strncmp(class, "0x0680", 6) == 0;

    if (r->reach.count == 0 || (!to_switch && !is_device_class(class)) ||
        !sl_cell_count(sl_xml_attribute(attributes, "count"), &count, &end) || count > 1024)
        return;
    const uint32_t device = r->reach.count - 1;
    r->links[device] += count;
    r->link_kind = kind;
    r->links_line = r->links_line > 0 ? r->links_line : line;
    r->switched = r->switched || to_switch;
    if (!to_switch && (r->pair_links == 0 || count < r->pair_links))
        r->pair_links = count;
    if (!to_switch && r->target_count < sizeof r->targets / sizeof r->targets[0]) {
        r->targets[r->target_count].from = device;
        (void)sl_text_copy(r->targets[r->target_count++].to, BUS_SIZE, target);
    }
}

/* A card that is on no PCI function stands below every CPU. Past the arena's limit none is new. */
static bool
is_new_card(reading *r, const char *name, const char *port)
{
    /* Each part with its end, lest two cards be spelt alike. */
    uint64_t key = sl_hash_quick(SL_QUICK_HASH_START, r->host->hash, strlen(r->host->hash) + 1);
    bool known = true;
    key = sl_hash_quick(key, name, strlen(name) + 1);
    key = sl_hash_quick(key, port, strlen(port) + 1);
    return sl_index_at(&r->cards, key, &known) != NULL && !known;
}

static void
open_net(reading *r, const char *const *attributes, uint32_t line)
{
    const char *const name = sl_xml_attribute(attributes, "name");
    uint32_t speed = 0;
    const char *end = NULL;
    host *const h = r->host;

    (void)sl_cell_count(sl_xml_attribute(attributes, "speed"), &speed, &end);
    if (*name != '\0' && !is_new_card(r, name, sl_xml_attribute(attributes, "port")))
        return;
    uint32_t at = 0;
    while (at < h->rate_count && h->rates[at].mbit_per_s != speed)
        at++;
    if (at == RATES_MAX)
        return;
    if (at == h->rate_count)
        h->rates[h->rate_count++] = (rate){.mbit_per_s = speed, .line = line};
    h->rates[at].count++;
    if (strncmp(name, "rdmap", 5) == 0 || strncmp(name, "efa", 3) == 0)
        (void)sl_text_copy(h->rates[at].kind, KIND_SIZE, "efa");
    else if (r->kind[0] != '\0')
        (void)sl_text_copy(h->rates[at].kind, KIND_SIZE, r->kind);
}

static sl_code
on_open(void *context, const char *path, const char *const *attributes, uint32_t line,
        sl_errors *err)
{
    reading *const r = context;
    const char *const name = name_of(path);

    if (name == path && !sl_text_equal(name, "system"))
        return sl_fail(err, SL_E_SYNTAX, "malformed_xml", "",
                       "line %u: <%.40s> is no topology of NCCL", line, name);
    if (name == path)
        r->host = host_of(r, "", line);
    else if (sl_text_equal(name, "cpu") && *sl_xml_attribute(attributes, "host_hash") != '\0')
        r->host = host_of(r, sl_xml_attribute(attributes, "host_hash"), line);
    else if (sl_text_equal(name, "pci"))
        open_pci(r, attributes, line);
    else if (sl_text_equal(name, "gpu"))
        open_gpu(r);
    else if (sl_text_equal(name, "nvlink"))
        open_link(r, "NVLink", attributes, line);
    else if (sl_text_equal(name, "xgmi"))
        open_link(r, "XGMI", attributes, line);
    else if (sl_text_equal(name, "net"))
        open_net(r, attributes, line);
    return SL_OK;
}

/* Cards that follow a PCI function that ended are not in it. */
static sl_code
on_close(void *context, const char *path, const char *text, uint32_t line, sl_errors *err)
{
    reading *const r = context;
    (void)text, (void)line, (void)err;

    if (sl_text_equal(name_of(path), "pci"))
        r->kind[0] = '\0';
    return SL_OK;
}

/* The group of cards that carries most is the accelerators' network. */
static void
say_nics(const reading *r, const host *h, sl_facts *facts)
{
    const rate *best = NULL;
    for (uint32_t i = 0; i < h->rate_count; i++)
        if (best == NULL ||
            h->rates[i].count * h->rates[i].mbit_per_s > best->count * best->mbit_per_s)
            best = &h->rates[i];
    if (best == NULL) {
        sl_facts_number(facts, SL_FIELD_NIC_COUNT, h->nics, h->line, "pci");
        if (h->nics > 0)
            sl_facts_text(facts, SL_FIELD_NIC_KIND, h->nic_kind, h->line, "pci/class");
        return;
    }
    sl_facts_number(facts, SL_FIELD_NIC_COUNT, best->count, best->line, "nic/net");
    sl_facts_number(facts, SL_FIELD_NIC_BYTES_PER_S, best->mbit_per_s * 1e6 / 8, best->line,
                    "nic/net/speed");
    sl_facts_text(facts, SL_FIELD_NIC_KIND, best->kind, best->line, "pci/class");
    if (h->rate_count > 1)
        sl_findings_warn(
            r->findings, "nics_apart", best->line, "nic/net",
            "network cards have %u different rates: the group that carries most counts",
            h->rate_count);
}

static void
join_pairs(reading *r)
{
    for (uint32_t t = 0; t < r->target_count; t++)
        for (uint32_t i = 0; i < r->reach.count; i++)
            if (sl_text_equal_ignoring_case(r->bus[i], r->targets[t].to))
                sl_reach_join(&r->reach, r->targets[t].from, i);
}

/* A switch joins the devices of all nodes of the picture. */
static void
say_links(const reading *r, sl_facts *facts)
{
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    bool uneven = false;

    if (r->link_kind == NULL)
        return;
    for (uint32_t i = 0; i < r->reach.count; i++) {
        least = r->links[i] < least ? r->links[i] : least;
        most = r->links[i] > most ? r->links[i] : most;
    }
    if (least != most)
        sl_findings_warn(r->findings, "mixed_links", r->links_line, "gpu/nvlink",
                         "devices have %u to %u links: the one with the fewest counts", least,
                         most);
    sl_facts_number(facts, SL_FIELD_LINKS, least, r->links_line, "gpu/nvlink");
    sl_facts_text(facts, SL_FIELD_LINK_KIND, r->link_kind, r->links_line, "gpu/nvlink");
    const uint32_t domain = r->switched ? r->reach.count : sl_reach_smallest(&r->reach, &uneven);
    if (!r->switched && domain > 2)
        sl_facts_number(facts, SL_FIELD_PAIR_LINKS, r->pair_links, r->links_line, "gpu/nvlink");
    if (domain > 1)
        sl_facts_number(facts, SL_FIELD_SCALE_UP_DOMAIN, domain, r->links_line, "gpu/nvlink");
}

/* The part by its number on the bus, where the catalogue knows that of one part. */
static void
say_part(const reading *r, const host *h, sl_facts *facts)
{
    const pci_id *const id = h->told > 0 ? &h->told_id : &h->classed_id;
    sl_part_names *const names = sl_findings_part_names(r->findings);

    if (id->differs)
        sl_findings_warn(r->findings, "mixed_devices", id->line, "pci/device",
                         "a node holds devices that are not all %.15s: all are counted, and none "
                         "is named",
                         id->text);
    if (id->differs || id->text[0] == '\0' || names == NULL)
        return;
    const sl_part_name *const found = sl_part_names_find(names, id->text);
    if (!found->near && found->candidate_count == 1)
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, id->text, id->line, "pci id");
}

static sl_code
say_hosts(const reading *r, sl_errors *err)
{
    for (uint32_t i = 0; i < r->host_count; i++) {
        const host *const h = &r->hosts[i];
        const uint32_t devices = h->told > 0 ? h->told : h->classed;
        sl_facts facts = {0};
        /* What stands in the system itself is of no host where hosts are told apart. */
        if (*h->hash == '\0' && r->host_count > 1)
            continue;
        sl_facts_number(&facts, SL_FIELD_ACCELERATORS, devices, h->line,
                        h->told > 0 ? "gpu" : "pci/class");
        say_part(r, h, &facts);
        say_nics(r, h, &facts);
        say_links(r, &facts);
        const sl_found_host found = {.count = 1, .line = h->line};
        const sl_code code = sl_findings_add(r->findings, &found, &facts, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

static sl_code
read_nccl(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    sl_arena *const arena = sl_findings_arena(findings);
    reading *const r = sl_arena_alloc(arena, 1, sizeof *r);
    const sl_xml_visit visit = {.context = r, .open = on_open, .close = on_close};

    if (r == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
    r->findings = findings;
    r->cards.arena = arena;
    const sl_code code = sl_xml_read(raw->text, raw->size, 1, &visit, err);
    if (code != SL_OK)
        return code;
    join_pairs(r);
    return say_hosts(r, err);
}

static uint32_t
recognise_nccl(const sl_sample *sample)
{
    const bool system = sample->shape == SL_SHAPE_XML && sl_sample_holds(sample, "<system");
    return system && sl_sample_holds(sample, "<cpu") && sl_sample_holds(sample, "busid=") ? 95 : 0;
}

const sl_format sl_nccl_format = {"nccl_topology_xml", "NCCL topology", recognise_nccl, read_nccl,
                                  70};
