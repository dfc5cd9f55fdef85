#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/documents/ansible.h"
#include "intake/documents/formats.h"
#include "intake/syntax/json_walk.h"
#include "intake/syntax/lines.h"
#include "json/members.h"

enum { CELL_SIZE = 128, COLUMNS_MAX = 32, ROW_SIZE = 1024, RATES_MAX = 8 };

static const double MIB = 1024.0 * 1024.0, FAST_MBIT_PER_S = 10000.0;

/* A fact by its name, with the prefix of older versions or without. */
static bool
find_fact(const sl_node *gathered, const char *name, sl_node *out)
{
    char prefixed[CELL_SIZE];
    (void)sl_text_format(prefixed, sizeof prefixed, "ansible_%s", name);
    return sl_node_member(gathered, prefixed, out) || sl_node_member(gathered, name, out);
}

static const char *
fact_text(const sl_node *gathered, const char *name)
{
    char prefixed[CELL_SIZE];
    (void)sl_text_format(prefixed, sizeof prefixed, "ansible_%s", name);
    const char *const text = sl_document_words(gathered, prefixed);
    return text != NULL ? text : sl_document_words(gathered, name);
}

static void
number_fact(const sl_node *gathered, const char *name, sl_field field, double scale, uint32_t line,
            sl_facts *facts)
{
    sl_node value;
    double number = 0.0;
    if (find_fact(gathered, name, &value) && sl_document_as_number(&value, &number))
        sl_facts_number(facts, field, number * scale, line, name);
}

/* Cards of one rate. */
typedef struct cards {
    double mbit_per_s;
    uint32_t count;
    bool infiniband;
} cards;

/* Real cards that are fast enough to be the accelerators' network: not what is built upon them, nor
 * what machines are managed through. */
static void
read_nics(const sl_node *gathered, uint32_t line, sl_facts *facts)
{
    cards rates[RATES_MAX] = {{0}};
    uint32_t count = 0;
    void *state = NULL;
    sl_node member;

    while (sl_node_next(gathered, &state, &member)) {
        sl_node device;
        double speed = 0.0;
        const char *const type =
            sl_node_kind(&member) == SL_JSON_OBJECT ? sl_document_words(&member, "type") : NULL;
        if (type == NULL || !sl_document_number(&member, "speed", &speed) ||
            speed <= FAST_MBIT_PER_S || !sl_node_member(&member, "pciid", &device))
            continue;
        const bool infiniband = sl_text_equal(type, "infiniband");
        if (!infiniband && !sl_text_equal(type, "ether"))
            continue;
        uint32_t i = 0;
        while (i < count && (rates[i].mbit_per_s != speed || rates[i].infiniband != infiniband))
            i++;
        if (i == RATES_MAX)
            continue;
        count = i == count ? count + 1 : count;
        rates[i].mbit_per_s = speed;
        rates[i].infiniband = infiniband;
        rates[i].count++;
    }
    const cards *most = &rates[0];
    for (uint32_t i = 1; i < count; i++)
        if (rates[i].mbit_per_s * rates[i].count > most->mbit_per_s * most->count)
            most = &rates[i];
    sl_facts_number(facts, SL_FIELD_NIC_COUNT, most->count, line, "interfaces");
    sl_facts_number(facts, SL_FIELD_NIC_BYTES_PER_S, most->mbit_per_s * 1e6 / 8.0, line,
                    "interfaces");
    if (most->count > 0)
        sl_facts_text(facts, SL_FIELD_NIC_KIND, most->infiniband ? "infiniband" : "ethernet", line,
                      "interfaces");
}

/* The table that a local fact holds, row by row: "name, memory.total [MiB], ..." and the
 * devices. */
typedef struct table {
    sl_findings *findings;
    sl_facts *facts;
    uint32_t line;
    uint32_t column_count;
    char columns[COLUMNS_MAX][CELL_SIZE];
    uint32_t devices, sliced;
    bool mixed;
} table;

static const char local_path[] = "ansible_local/gpu";

/* The next cell of a row; false behind the last. */
static bool
next_cell(const char **at, char out[CELL_SIZE])
{
    if (*at == NULL)
        return false;
    *at += strspn(*at, " ");
    const size_t size = strcspn(*at, ",");
    size_t length = size < CELL_SIZE ? size : CELL_SIZE - 1;
    memcpy(out, *at, length);
    while (length > 0 && out[length - 1] == ' ')
        length--;
    out[length] = '\0';
    *at = (*at)[size] == ',' ? *at + size + 1 : NULL;
    return true;
}

/* "81559 MiB", or "81559" under "memory.total [MiB]". */
static bool
cell_mib(const char *cell, double *bytes)
{
    double mib = 0.0;
    if (!sl_text_to_double(cell, &mib))
        return sl_document_bytes(cell, bytes);
    *bytes = mib * MIB;
    return true;
}

static void
take_cell(table *t, const char *column, const char *cell)
{
    sl_facts *const facts = t->facts;
    double bytes = 0.0;
    char *kept = NULL;

    if (sl_text_equal(column, "name")) {
        const sl_fact *const known = &facts->field[SL_FIELD_ACCELERATOR];
        t->mixed = t->mixed || (known->said && !sl_text_equal(known->text, cell));
        kept = known->said ? NULL : sl_arena_copy(sl_findings_arena(t->findings), cell);
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, kept, t->line, local_path);
    } else if (sl_text_equal(column, "driver_version") && !facts->field[SL_FIELD_DRIVER].said) {
        kept = sl_arena_copy(sl_findings_arena(t->findings), cell);
        sl_facts_text(facts, SL_FIELD_DRIVER, kept, t->line, local_path);
    } else if (sl_text_equal(column, "memory.total") && cell_mib(cell, &bytes)) {
        if (!facts->field[SL_FIELD_MEMORY_BYTES].said)
            sl_facts_number(facts, SL_FIELD_MEMORY_BYTES, bytes, t->line, local_path);
    } else if (sl_text_equal(column, "memory.reserved") && cell_mib(cell, &bytes)) {
        if (!facts->field[SL_FIELD_RESERVED_BYTES].said)
            sl_facts_number(facts, SL_FIELD_RESERVED_BYTES, bytes, t->line, local_path);
    } else if (sl_text_equal(column, "mig.mode.current")) {
        t->sliced += sl_text_equal(cell, "Enabled");
    }
}

static void
take_row(table *t, const char *row)
{
    char cell[CELL_SIZE];
    const char *at = row;

    if (row[strspn(row, " \r\n")] == '\0')
        return;
    if (t->column_count == 0) {
        while (t->column_count < COLUMNS_MAX && next_cell(&at, t->columns[t->column_count])) {
            char *const column = t->columns[t->column_count++];
            column[strcspn(column, " [")] = '\0';
        }
        return;
    }
    t->devices++;
    for (uint32_t i = 0; i < t->column_count && next_cell(&at, cell); i++)
        take_cell(t, t->columns[i], cell);
}

/* Rows as a list, or as one text with line ends. */
static void
take_rows(table *t, const sl_node *rows)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const char *text = NULL;
    sl_node row;

    if (sl_node_kind(rows) == SL_JSON_ARRAY) {
        for (size_t i = 0; sl_node_at(rows, i, &row); i++)
            if (sl_node_kind(&row) == SL_JSON_TEXT &&
                sl_node_as_text(&row, &text, &ignored) == SL_OK)
                take_row(t, text);
    } else if (sl_node_kind(rows) == SL_JSON_TEXT &&
               sl_node_as_text(rows, &text, &ignored) == SL_OK) {
        sl_lines lines = {.at = text, .end = text + strlen(text)};
        char line[ROW_SIZE];
        bool cut = false;
        while (sl_lines_copy(&lines, line, sizeof line, &cut))
            take_row(t, line);
    }
}

/* Stock facts know no accelerators; a local fact called "gpu" brings them. */
static void
read_local(sl_findings *findings, const sl_node *gathered, uint32_t line, sl_facts *facts)
{
    table t = {.findings = findings, .facts = facts, .line = line};
    sl_node local, gpu, rows;

    if (!find_fact(gathered, "local", &local) || !sl_node_member(&local, "gpu", &gpu))
        return;
    if (sl_node_kind(&gpu) == SL_JSON_OBJECT) {
        sl_ansible_variables(facts, &gpu, line, sl_findings_arena(findings));
        if (!sl_node_member(&gpu, "nvidia_smi", &rows) && !sl_node_member(&gpu, "csv", &rows))
            return;
        gpu = rows;
    }
    take_rows(&t, &gpu);
    sl_facts_number(facts, SL_FIELD_ACCELERATORS, t.devices, line, local_path);
    sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, t.sliced, line, local_path);
    if (t.sliced > 0)
        sl_facts_text(facts, SL_FIELD_SLICE, "MIG", line, local_path);
    if (t.mixed)
        sl_findings_warn(findings, "mixed_accelerators", line, local_path,
                         "a node has accelerators of several names: the first counts");
}

/* What was gathered of one host. name: NULL where it says its own. */
static sl_code
take_gathered(sl_findings *findings, const char *name, const sl_node *gathered, uint32_t line,
              sl_errors *err)
{
    static const char *const names[] = {"hostname", "nodename", "fqdn"};
    sl_facts facts = {0};

    for (size_t i = 0; i < sizeof names / sizeof names[0] && name == NULL; i++)
        name = fact_text(gathered, names[i]);
    if (name == NULL)
        return sl_fail(err, SL_E_UNSUPPORTED, "no_hosts", "", "facts without the name of a host");
    number_fact(gathered, "memtotal_mb", SL_FIELD_HOST_MEMORY_BYTES, MIB, line, &facts);
    number_fact(gathered, "processor_vcpus", SL_FIELD_CPUS, 1.0, line, &facts);
    sl_facts_text(&facts, SL_FIELD_NODE_TYPE, fact_text(gathered, "product_name"), line,
                  "product_name");
    read_nics(gathered, line, &facts);
    read_local(findings, gathered, line, &facts);
    const sl_found_host host = {.name = name, .count = 1, .state = SL_HOST_USABLE, .line = line};
    return sl_document_add(findings, &host, &facts, err);
}

/* A host that could not be asked. */
static sl_code
take_failure(sl_findings *findings, const char *name, const sl_node *answer, const char *what,
             uint32_t line, sl_errors *err)
{
    const char *const message = sl_document_words(answer, "msg");
    char reason[ROW_SIZE];
    (void)sl_text_format(reason, sizeof reason, "%s%s%.200s", what, message != NULL ? ": " : "",
                         message != NULL ? message : "");
    const bool unreachable = sl_text_equal(what, "unreachable");
    const sl_found_host host = {.name = name,
                                .count = 1,
                                .state = unreachable ? SL_HOST_DOWN : SL_HOST_UNSAID,
                                .reason = reason,
                                .line = line};
    return sl_document_add(findings, &host, NULL, err);
}

/* What is gathered of interfaces is much, of disks and mounts more; of a member of the facts only
 * what tells the rate of a card, and the local facts. */
static bool
is_read(uint32_t depth, const char *name, size_t size)
{
    static const char *const names[] = {"type", "speed", "pciid", "gpu"};
    bool read = depth != 3;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !read; i++)
        read = sl_text_is(name, size, names[i]);
    return read;
}

/* The answer of one host that the walk stands on, {"ansible_facts": {...}} or why there is none. */
static sl_code
take_answer(sl_findings *findings, const char *name, const char *what, sl_json_walk *walk,
            sl_buffer *kept, sl_errors *err)
{
    static const sl_json_cut cut = {
        .what = "answer", .most_bytes = SL_ELEMENT_MAX_BYTES, .is_read = is_read};
    const uint32_t line = sl_json_walk_line(walk);
    sl_errors inner;
    sl_errors_begin(&inner, false);
    sl_json *json = NULL;
    sl_node gathered;
    sl_code code = sl_json_walk_decode(walk, &cut, kept, &json, &inner);

    if (code != SL_OK && walk->at == walk->end && walk->depth > 0)
        return sl_fail(err, SL_E_SYNTAX, "malformed_json", "",
                       "line %u: the answer of a host does not end", line);
    if (code != SL_OK)
        return sl_refail(&inner.list[0], err);
    const sl_node root = sl_json_root(json);
    if (what == NULL && sl_document_object(&root, "ansible_facts", &gathered))
        code = take_gathered(findings, name, &gathered, line, err);
    else
        code = take_failure(findings, name, &root, what != NULL ? what : "no facts", line, err);
    sl_json_free(json);
    return code;
}

/* Where the answer of a line begins, "gpu01 | SUCCESS => {...}", or NULL. *name lies in `head`;
 * *what: why there are no facts, or NULL. */
static const char *
find_answer(const char *line, size_t length, char head[SL_HOST_NAME_MAX + 64], const char **name,
            const char **what)
{
    static const char arrow[] = " => ";
    const size_t copied = length < SL_HOST_NAME_MAX + 64 ? length : SL_HOST_NAME_MAX + 63;

    memcpy(head, line, copied);
    head[copied] = '\0';
    char *const bar = strstr(head, " | ");
    const char *const sign = bar != NULL ? strstr(bar, arrow) : NULL;
    if (sign == NULL || sign[strlen(arrow)] != '{')
        return NULL;
    *what = strncmp(bar, " | UNREACHABLE", 14) == 0 ? "unreachable"
            : strncmp(bar, " | FAILED", 9) == 0     ? "failed"
                                                    : NULL;
    *bar = '\0';
    *name = strrchr(head, ' ') != NULL ? strrchr(head, ' ') + 1 : head;
    return line + (sign - head) + strlen(arrow);
}

/* Host after host. */
static sl_code
read_answers(const sl_raw *raw, sl_findings *findings, sl_buffer *kept, sl_errors *err)
{
    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    const char *line = NULL, *name = NULL, *what = NULL;
    char head[SL_HOST_NAME_MAX + 64];
    size_t length = 0;

    while (sl_lines_next(&lines, &line, &length)) {
        const char *const from = find_answer(line, length, head, &name, &what);
        if (from == NULL)
            continue;
        sl_json_walk walk = sl_json_walk_new(from, (size_t)(lines.end - from), lines.number);
        const sl_code code = take_answer(findings, name, what, &walk, kept, err);
        if (code != SL_OK)
            return code;
        if (walk.at > lines.at) { /* what follows it on its last line is read as that line */
            lines.number = sl_json_walk_line(&walk) - 1;
            lines.at = walk.at;
        }
    }
    return SL_OK;
}

static sl_code
read_ansible_facts(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    const uint32_t before = sl_findings_count(findings);
    const sl_raw bare = sl_document_raw(raw);
    sl_json *json = NULL;
    /* What is printed before the answers may begin with a bracket: "[WARNING]". */
    if (sl_document_first(&bare) != '{') {
        sl_buffer kept;
        sl_buffer_init(&kept, SIZE_MAX);
        const sl_code code = read_answers(&bare, findings, &kept, err);
        sl_buffer_clear(&kept);
        if (code != SL_OK || sl_findings_count(findings) > before)
            return code;
        return sl_fail(err, SL_E_UNSUPPORTED, "no_hosts", "", "holds no answers of hosts");
    }
    sl_code code = sl_document_decode(raw, &json, NULL, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    sl_node gathered;
    code = take_gathered(findings, NULL,
                         sl_document_object(&root, "ansible_facts", &gathered) ? &gathered : &root,
                         1, err);
    sl_json_free(json);
    return code;
}

static uint32_t
recognise_ansible_facts(const sl_sample *sample)
{
    if (sample->shape == SL_SHAPE_JSON)
        return sl_sample_has_key(sample, "ansible_facts") ? 95
               : sl_sample_has_key(sample, "ansible_all_ipv4_addresses") ||
                       sl_sample_has_key(sample, "ansible_hostname")
                   ? 90
                   : 0;
    /* A local fact may hold what another tool printed: the frame says more than what is in it. */
    const bool answer = sl_sample_holds(sample, " | SUCCESS => {");
    if (answer && sl_sample_holds(sample, "ansible_facts"))
        return 99;
    return answer || sl_sample_holds(sample, " | UNREACHABLE! => {") ? 60 : 0;
}

const sl_format sl_ansible_facts_format = {"ansible_facts", "ansible -m setup",
                                           recognise_ansible_facts, read_ansible_facts, 25};
