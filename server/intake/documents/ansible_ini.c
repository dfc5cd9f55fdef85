#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "intake/documents/ansible.h"
#include "intake/documents/formats.h"
#include "intake/syntax/lines.h"

enum {
    LINE_SIZE = 64 * 1024,
    GROUPS_MAX = 2048,
    SLOTS_MAX = 4 * GROUPS_MAX,
    EDGES_MAX = 4096,
    GROUP_NAME_SIZE = 128,
    GENERATIONS_MAX = 16
};

typedef enum section { HOSTS, VARIABLES, CHILDREN } section;

typedef struct group {
    char name[GROUP_NAME_SIZE];
    sl_facts facts; /* of its variables; with those of its ancestors once the first pass is over */
} group;

/* Variables of groups may stand behind their hosts: one pass for groups, one for hosts. */
typedef struct reading {
    sl_findings *findings;
    sl_arena *arena;
    uint32_t group_count, edge_count;
    group *groups[GROUPS_MAX];
    uint16_t slots[SLOTS_MAX]; /* index of a group plus one, by its name's hash; 0: free */
    struct {
        uint16_t parent, child;
    } edges[EDGES_MAX];
    char line[LINE_SIZE];
    char word[LINE_SIZE];
    bool cut;
    bool hosts_now; /* the second pass */
    uint32_t host_lines;
    uint32_t sections;
} reading;

/* The group of that name, a new one where there is none. NULL past the bounds. */
static group *
find_group(reading *r, const char *name, uint16_t *index)
{
    const uint64_t hash = sl_hash_quick(SL_QUICK_HASH_START, name, strlen(name));
    uint32_t slot = (uint32_t)(hash >> 32) % SLOTS_MAX;

    for (; r->slots[slot] > 0; slot = (slot + 1) % SLOTS_MAX) {
        *index = (uint16_t)(r->slots[slot] - 1);
        if (sl_text_equal(r->groups[*index]->name, name))
            return r->groups[*index];
    }
    if (r->group_count == GROUPS_MAX)
        return NULL;
    group *const made = sl_arena_alloc(r->arena, 1, sizeof *made);
    if (made == NULL)
        return NULL;
    (void)sl_text_copy(made->name, sizeof made->name, name);
    *index = (uint16_t)r->group_count;
    r->groups[r->group_count++] = made;
    r->slots[slot] = (uint16_t)r->group_count;
    return made;
}

/* "[name]", "[name:vars]" or "[name:children]"; false where the line is none. */
static bool
read_section(char *line, char name[GROUP_NAME_SIZE], section *kind)
{
    if (*line != '[')
        return false;
    char *const close = strchr(line, ']');
    if (close == NULL || (close[1 + strspn(close + 1, " ")] != '\0' &&
                          strchr("#;", close[1 + strspn(close + 1, " ")]) == NULL))
        return false;
    *close = '\0';
    char *const colon = strrchr(line, ':');
    const bool variables = colon != NULL && sl_text_equal(colon, ":vars");
    const bool children = colon != NULL && sl_text_equal(colon, ":children");
    if (variables || children)
        *colon = '\0';
    *kind = variables ? VARIABLES : children ? CHILDREN : HOSTS;
    return sl_text_copy(name, GROUP_NAME_SIZE, line + 1);
}

/* The next word of a line as a shell splits it, quotes taken off; *at ends behind it. False at the
 * end or at a comment. */
static bool
next_word(const char **at, char *out)
{
    char quote = '\0';
    size_t used = 0;

    *at += strspn(*at, " ");
    if (**at == '\0' || **at == '#')
        return false;
    for (; **at != '\0' && (quote != '\0' || **at != ' '); ++*at) {
        if (quote == '\0' && (**at == '"' || **at == '\''))
            quote = **at;
        else if (**at == quote)
            quote = '\0';
        else
            out[used++] = **at;
    }
    out[used] = '\0';
    return true;
}

/* "key=value" of a word or a line; spaces around the sign are of neither. */
static void
take_variable(reading *r, sl_facts *facts, char *text, uint32_t line)
{
    char *const sign = strchr(text, '=');
    if (sign == NULL)
        return;
    char *end = sign;
    while (end > text && end[-1] == ' ')
        end--;
    *end = '\0';
    char *value = sign + 1 + strspn(sign + 1, " ");
    size_t length = strlen(value);
    while (length > 0 && value[length - 1] == ' ')
        value[--length] = '\0';
    if (length >= 2 && (*value == '"' || *value == '\'') && value[length - 1] == *value) {
        value[length - 1] = '\0';
        value++;
    }
    /* Only what means something is kept. */
    sl_facts said = {0};
    sl_ansible_variable(&said, text, value, line);
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++)
        if (said.field[i].said && said.field[i].text != NULL)
            said.field[i].text = sl_arena_copy(r->arena, said.field[i].text);
    (void)sl_facts_complete(facts, &said);
}

static bool
ends_with_port(const char *name, size_t *length)
{
    const char *const colon = strrchr(name, ':');
    const char *const bracket = strrchr(name, ']');
    if (colon == NULL || (bracket != NULL && colon < bracket) || strchr(name, ':') != colon)
        return false;
    *length = (size_t)(colon - name);
    return colon[1] != '\0' && colon[1 + strspn(colon + 1, "0123456789")] == '\0';
}

static sl_code
take_host(reading *r, const group *in, uint32_t line, sl_errors *err)
{
    const char *at = r->line;
    sl_facts facts = {0};
    char pattern[SL_HOST_NAME_MAX + 1];
    size_t length = 0;

    if (!next_word(&at, r->word))
        return SL_OK;
    if (!sl_text_copy(pattern, sizeof pattern, r->word)) {
        sl_findings_warn(r->findings, "odd_name", line, NULL, "a name is too long: passed over");
        return SL_OK;
    }
    /* "host:2222", but not the colon of a range. */
    if (strchr(pattern, '[') == NULL || strrchr(pattern, ':') > strrchr(pattern, ']'))
        if (ends_with_port(pattern, &length))
            pattern[length] = '\0';
    while (next_word(&at, r->word))
        take_variable(r, &facts, r->word, line);
    if (in != NULL)
        (void)sl_facts_complete(&facts, &in->facts);
    return sl_ansible_add(r->findings, pattern, line, &facts, err);
}

static void
take_child(reading *r, uint16_t parent, uint32_t line)
{
    const char *at = r->line;
    uint16_t child = 0;

    if (!next_word(&at, r->word) || strlen(r->word) >= GROUP_NAME_SIZE)
        return;
    if (find_group(r, r->word, &child) == NULL || r->edge_count == EDGES_MAX) {
        sl_findings_warn(r->findings, "many_groups", line, NULL,
                         "over %d groups or %d of their children: those behind inherit nothing",
                         GROUPS_MAX, EDGES_MAX);
        return;
    }
    r->edges[r->edge_count].parent = parent;
    r->edges[r->edge_count++].child = child;
}

/* A line of a section. */
static sl_code
take_line(reading *r, section kind, group *in, uint16_t index, uint32_t line, sl_errors *err)
{
    if (r->hosts_now && kind == HOSTS) {
        const sl_code code = sl_document_count(&r->host_lines, err);
        return code != SL_OK ? code : take_host(r, in, line, err);
    }
    if (r->hosts_now)
        return SL_OK;
    if (kind == VARIABLES && in != NULL)
        take_variable(r, &in->facts, r->line, line);
    if (kind == CHILDREN && in != NULL)
        take_child(r, index, line);
    return SL_OK;
}

static sl_code
pass(reading *r, const sl_raw *raw, sl_errors *err)
{
    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    section kind = HOSTS;
    uint16_t index = 0;
    group *in = find_group(r, "ungrouped", &index);
    sl_code code = SL_OK;

    while (code == SL_OK && sl_lines_copy(&lines, r->line, sizeof r->line, &r->cut)) {
        char name[GROUP_NAME_SIZE];
        const size_t blanks = strspn(r->line, " ");
        memmove(r->line, r->line + blanks, strlen(r->line + blanks) + 1);
        if (r->line[0] == '\0' || r->line[0] == '#' || r->line[0] == ';')
            continue;
        if (r->line[0] == '[' && strchr(r->line, ']') == NULL)
            return sl_fail(err, SL_E_SYNTAX, "malformed_ini", "", "line %u: a section does not end",
                           lines.number);
        if (read_section(r->line, name, &kind)) {
            in = find_group(r, name, &index);
            r->sections++;
            continue;
        }
        if (r->cut && r->hosts_now)
            sl_findings_warn(r->findings, "long_line", lines.number, NULL,
                             "a line is longer than %d bytes: the rest is not read", LINE_SIZE);
        code = take_line(r, kind, in, index, lines.number, err);
    }
    return code;
}

/* What groups inherit: of the nearest first, and from "all" what no other says. */
static void
inherit(reading *r)
{
    uint16_t all = 0;
    for (uint32_t generation = 0; generation < GENERATIONS_MAX; generation++)
        for (uint32_t i = 0; i < r->edge_count; i++)
            if (r->edges[i].parent != r->edges[i].child)
                (void)sl_facts_complete(&r->groups[r->edges[i].child]->facts,
                                        &r->groups[r->edges[i].parent]->facts);
    const group *const root = find_group(r, "all", &all);
    for (uint32_t i = 0; root != NULL && i < r->group_count; i++)
        (void)sl_facts_complete(&r->groups[i]->facts, &root->facts);
}

static sl_code
read_ansible_ini(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    const sl_raw bare = sl_document_raw(raw);
    const uint32_t before = sl_findings_count(findings);
    reading *const r = sl_arena_alloc(sl_findings_arena(findings), 1, sizeof *r);
    if (r == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
    r->findings = findings;
    r->arena = sl_findings_arena(findings);
    sl_code code = pass(r, &bare, err);
    inherit(r);
    r->hosts_now = true;
    if (code == SL_OK)
        code = pass(r, &bare, err);
    if (code != SL_OK || sl_findings_count(findings) > before)
        return code;
    return sl_fail(err, SL_E_UNSUPPORTED, "no_hosts", "", "holds no hosts, in %u sections",
                   r->sections / 2);
}

/* "[gpu]", and no prompt such as "[root@head ~]# sinfo". */
static bool
is_section(const char *line, size_t length)
{
    const char *const end = memchr(line, ']', length);
    return *line == '[' && end != NULL && memchr(line, ' ', (size_t)(end - line)) == NULL &&
           memchr(line, '@', (size_t)(end - line)) == NULL;
}

/* How many lines of the head are sections of an inventory; the most telling ones count more. */
static uint32_t
recognise_ansible_ini(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_TEXT)
        return 0;
    if (sl_sample_holds(sample, ":children]") || sl_sample_holds(sample, " ansible_host=") ||
        sl_sample_holds(sample, " ansible_connection="))
        return 90;
    if (!sl_sample_line_begins(sample, "["))
        return 0;
    /* Under a section a line whose first word is no setting. */
    const char *at = sample->head;
    bool under = false;
    while (*at != '\0') {
        at += strspn(at, " \t\r\n");
        const size_t length = strcspn(at, "\n");
        const size_t word = strcspn(at, " \t\r\n=");
        if (is_section(at, length))
            under = true;
        else if (*at != '#' && *at != ';' && length > 0)
            return under && word > 0 && at[word] != '=' && at[word + strspn(at + word, " ")] != '='
                       ? 45
                       : 0;
        at += length;
    }
    return 0;
}

const sl_format sl_ansible_ini_format = {"ansible_ini", "Ansible inventory, INI",
                                         recognise_ansible_ini, read_ansible_ini, 25};
