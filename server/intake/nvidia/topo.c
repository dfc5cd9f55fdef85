/* nvidia-smi topo -m: how each pair of devices and network cards is joined. */
#include "intake/nvidia/nvidia.h"

#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/devices.h"
#include "intake/reach.h"
#include "intake/syntax/cells.h"

enum {
    LINE_SIZE = 32 * 1024,
    DEVICES_MAX = SL_REACH_MAX,
    NICS_MAX = 256,
    NAME_SIZE = 32,
    /* No device has more links than this, so that pairs that add up to more share a switch. */
    LINKS_WITHOUT_SWITCH_MAX = 18
};

/* One matrix, until another header or host begins. */
typedef struct matrix {
    bool open;
    uint32_t line; /* of its header */
    char host[SL_HOST_NAME_MAX + 1];
    uint32_t devices, nics;
    uint32_t rows; /* of devices, seen */
    sl_reach reach;
    uint32_t links_line;
    uint32_t sum[DEVICES_MAX];           /* of the links of all its pairs */
    bool pcie;                           /* a pair is joined over PCIe */
    uint32_t least, most;                /* links of a pair; 0: no pair has any */
    bool near_device[NICS_MAX];          /* a device stands on its PCIe switch */
    char nics_name[NICS_MAX][NAME_SIZE]; /* as the legend or the header says */
    bool nics_named[NICS_MAX];
} matrix;

typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    bool any;
    matrix m;
    sl_cells cells;
} reading;

/* "GPU12" is 12; false for other words. */
static bool
is_device(const char *word, uint32_t *index)
{
    const char *end = NULL;
    return strncmp(word, "GPU", 3) == 0 && sl_cell_count(word + 3, index, &end) && *end == '\0';
}

/* Before cards had numbers of their own the header named them: "mlx5_0". */
static bool
is_nic(const char *word)
{
    static const char *const starts[] = {"NIC",  "mlx",  "bnxt_re", "rdmap", "efa", "irdma",
                                         "hfi1", "roce", "ibp",     "rocep", "hns", "erdma"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(word, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* A row goes on with how its first pair is joined, the header with another name. */
static bool
is_header(const sl_cells *words)
{
    uint32_t index = 0;
    return is_device(words->at[0], &index) &&
           (words->count == 1 || is_device(words->at[1], &index) || is_nic(words->at[1]) ||
            sl_text_equal(words->at[1], "CPU"));
}

/* Clears what the matrix before used and no more: a text may be nothing but headers. */
static void
reset(matrix *m)
{
    for (uint32_t i = 0; i < m->devices; i++) {
        m->sum[i] = 0;
        m->reach.joined[i] = false;
        m->reach.parent[i] = 0;
    }
    for (uint32_t i = 0; i < m->nics; i++) {
        m->near_device[i] = false;
        m->nics_named[i] = false;
    }
    m->devices = m->nics = m->rows = m->links_line = m->least = m->most = 0;
    m->pcie = false;
}

/* The header's words up to those that are no pair's, "CPU Affinity". */
static void
take_header(matrix *m, const sl_cells *words, const sl_captures *captures)
{
    uint32_t index = 0;
    uint32_t at = 0;
    reset(m);
    m->open = true;
    m->line = captures->lines.number;
    memcpy(m->host, captures->host, sizeof m->host);
    while (at < words->count && m->devices < DEVICES_MAX && is_device(words->at[at], &index)) {
        at++;
        m->devices++;
    }
    for (; at < words->count && m->nics < NICS_MAX && is_nic(words->at[at]); at++) {
        (void)sl_text_copy(m->nics_name[m->nics], NAME_SIZE, words->at[at]);
        m->nics_named[m->nics++] = strncmp(words->at[at], "NIC", 3) != 0;
    }
    m->reach.count = m->devices;
}

/* "NV18" is 18 links; anything else is none. */
static uint32_t
links_of(const char *word)
{
    uint32_t links = 0;
    const char *end = NULL;
    return strncmp(word, "NV", 2) == 0 && sl_cell_count(word + 2, &links, &end) && *end == '\0'
               ? links
               : 0;
}

static bool
is_pcie(const char *word)
{
    static const char *const kinds[] = {"PIX", "PXB", "PHB", "NODE", "SYS", "SOC"};
    return sl_text_index(word, kinds, sizeof kinds / sizeof kinds[0]) >= 0;
}

/* A device's row: its pairs with devices, then with cards. */
static void
take_row(matrix *m, uint32_t device, const sl_cells *words, uint32_t line)
{
    m->rows++;
    for (uint32_t i = 0; i < m->devices && i + 1 < words->count; i++) {
        const uint32_t links = links_of(words->at[i + 1]);
        m->pcie = m->pcie || is_pcie(words->at[i + 1]);
        if (links == 0 || i == device)
            continue;
        m->links_line = m->links_line == 0 ? line : m->links_line;
        m->sum[device] += links < 1024 ? links : 0;
        m->least = m->least == 0 || links < m->least ? links : m->least;
        m->most = links > m->most ? links : m->most;
        sl_reach_join(&m->reach, device, i);
    }
    for (uint32_t i = 0; i < m->nics && m->devices + i + 1 < words->count; i++) {
        const char *const word = words->at[m->devices + i + 1];
        if (sl_text_equal(word, "PIX") || sl_text_equal(word, "PXB"))
            m->near_device[i] = true;
    }
}

/* "NIC0: mlx5_0" of the legend. */
static void
take_legend(matrix *m, const sl_cells *words)
{
    uint32_t index = 0;
    const char *end = NULL;
    if (words->count < 2 || strncmp(words->at[0], "NIC", 3) != 0 ||
        !sl_cell_count(words->at[0] + 3, &index, &end) || !sl_text_equal(end, ":") ||
        index >= m->nics)
        return;
    (void)sl_text_copy(m->nics_name[index], NAME_SIZE, words->at[1]);
    m->nics_named[index] = true;
}

/* Links of one device. Where pairs add up to more than a device can have, they share its links over
 * a switch; else each pair has its own. */
static void
say_links(const reading *r, sl_facts *facts)
{
    const matrix *const m = &r->m;
    uint32_t smallest = 0;
    bool differ = m->least != m->most;
    bool uneven = false;

    if (m->least == 0) {
        if (m->pcie)
            sl_facts_text(facts, SL_FIELD_LINK_KIND, "PCIe", m->line, "GPU");
        return;
    }
    for (uint32_t i = 0; i < m->devices; i++) {
        if (m->sum[i] == 0)
            continue;
        differ = differ || (smallest > 0 && m->sum[i] != smallest);
        smallest = smallest == 0 || m->sum[i] < smallest ? m->sum[i] : smallest;
    }
    const bool switched = smallest > LINKS_WITHOUT_SWITCH_MAX;
    const uint32_t domain = sl_reach_smallest(&m->reach, &uneven);
    sl_facts_number(facts, SL_FIELD_LINKS, switched ? m->least : smallest, m->links_line, "NV#");
    sl_facts_text(facts, SL_FIELD_LINK_KIND, "NVLink", m->links_line, "NV#");
    sl_facts_number(facts, SL_FIELD_SCALE_UP_DOMAIN, domain, m->links_line, "NV#");
    if (differ)
        sl_findings_warn(r->findings, "mixed_links", m->links_line, "NV#",
                         "pairs are joined by %u to %u links: the device with the fewest counts",
                         m->least, m->most);
    if (uneven)
        sl_findings_warn(r->findings, "uneven_links", m->links_line, "NV#",
                         "not every device reaches as many others over NVLink: the smallest group, "
                         "of %u, counts",
                         domain);
    if (switched || domain <= 2)
        return;
    sl_facts_number(facts, SL_FIELD_PAIR_LINKS, m->least, m->links_line, "NV#");
    sl_findings_warn(r->findings, "links_added_up", m->links_line, "NV#",
                     "each pair has links of its own, %u at least: those of all pairs of a device "
                     "add up to %u",
                     m->least, smallest);
}

/* What the name of a card tells of its network; NULL where it may be either. */
static const char *
nic_kind(const char *name)
{
    if (strncmp(name, "rdmap", 5) == 0 || strncmp(name, "efa", 3) == 0)
        return "efa";
    if (strncmp(name, "bnxt_re", 7) == 0 || strncmp(name, "irdma", 5) == 0 ||
        strncmp(name, "roce", 4) == 0)
        return "ethernet";
    return strncmp(name, "ibp", 3) == 0 ? "infiniband" : NULL;
}

/* Cards on the PCIe switch of a device are the accelerators'; where none is, all may be. */
static void
say_nics(const reading *r, sl_facts *facts)
{
    const matrix *const m = &r->m;
    uint32_t near = 0;
    const char *kind = NULL;

    for (uint32_t i = 0; i < m->nics; i++)
        near += m->near_device[i];
    for (uint32_t i = 0; i < m->nics; i++)
        if ((near == 0 || m->near_device[i]) && m->nics_named[i] && kind == NULL)
            kind = nic_kind(m->nics_name[i]);
    sl_facts_number(facts, SL_FIELD_NIC_COUNT, near > 0 ? near : m->nics, m->line, "NIC");
    sl_facts_text(facts, SL_FIELD_NIC_KIND, kind, m->line, "NIC Legend");
    if (near > 0 && near < m->nics)
        sl_findings_warn(r->findings, "nics_apart", m->line, "NIC",
                         "%u of %u network cards stand on no device's PCIe switch and are not "
                         "counted",
                         m->nics - near, m->nics);
}

static sl_code
end_matrix(reading *r, sl_errors *err)
{
    const matrix *const m = &r->m;
    sl_facts facts = {0};
    uint32_t node = 0;

    if (!m->open)
        return SL_OK;
    if (m->rows < m->devices)
        sl_findings_warn(r->findings, "rows_missing", m->line, NULL,
                         "the matrix has %u devices and %u of their rows", m->devices, m->rows);
    sl_facts_number(&facts, SL_FIELD_ACCELERATORS, m->devices, m->line, "GPU");
    say_links(r, &facts);
    say_nics(r, &facts);
    r->m.open = false;
    r->any = true;
    const sl_code code = sl_devices_node(r->devices, m->host, m->line, &node, err);
    return code == SL_OK ? sl_devices_say(r->devices, node, &facts, err) : code;
}

/* What a page shows of the codes that underline the header: "[4mGPU0". */
static char *
behind_underline(char *line)
{
    static const char shown[] = "[4m";
    char *const at = line + strspn(line, " \t");
    return strncmp(at, shown, sizeof shown - 1) == 0 ? at + sizeof shown - 1 : line;
}

static sl_code
take_line(reading *r, char *line, const sl_captures *captures, sl_errors *err)
{
    uint32_t device = 0;
    sl_code code = SL_OK;

    sl_cells_words(behind_underline(line), &r->cells);
    if (r->cells.count == 0)
        return SL_OK;
    if (is_header(&r->cells)) {
        code = end_matrix(r, err);
        take_header(&r->m, &r->cells, captures);
    } else if (r->m.open && is_device(r->cells.at[0], &device) && device < r->m.devices) {
        take_row(&r->m, device, &r->cells, captures->lines.number);
    } else if (r->m.open) {
        take_legend(&r->m, &r->cells);
    }
    return code;
}

static sl_code
read_lines(reading *r, const sl_raw *raw, char *line, sl_errors *err)
{
    sl_captures captures;
    sl_code code = SL_OK;

    sl_captures_open(&captures, raw->text, raw->size);
    while (code == SL_OK && sl_captures_next(&captures, line, LINE_SIZE))
        code = take_line(r, line, &captures, err);
    if (code == SL_OK)
        code = end_matrix(r, err);
    if (code == SL_OK && !r->any)
        return sl_fail(err, SL_E_SYNTAX, "malformed_topology", "",
                       "line 1: no header of the matrix, \"GPU0 GPU1 ...\", stands in it");
    return code == SL_OK ? sl_devices_finish(r->devices, err) : code;
}

static sl_code
read_topo(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    sl_arena *const arena = sl_findings_arena(findings);
    reading *const r = sl_arena_alloc(arena, 1, sizeof *r);
    char *const line = sl_arena_alloc(arena, 1, LINE_SIZE);

    if (r == NULL || line == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
    r->findings = findings;
    const sl_code code = sl_devices_new(findings, &r->devices, err);
    return code == SL_OK ? read_lines(r, raw, line, err) : code;
}

static uint32_t
recognise_topo(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_TEXT || !sl_sample_holds(sample, "GPU0"))
        return 0;
    const bool joined = sl_sample_holds(sample, "PIX") || sl_sample_holds(sample, "PHB") ||
                        sl_sample_holds(sample, "SYS") || sl_sample_holds(sample, "NV1") ||
                        sl_sample_holds(sample, "NV2") || sl_sample_holds(sample, "NV4");
    return sl_sample_holds(sample, "CPU Affinity") ? 95 : joined ? 70 : 0;
}

const sl_format sl_nvidia_topo_format = {"nvidia_topo", "nvidia-smi topo -m", recognise_topo,
                                         read_topo, 90};
