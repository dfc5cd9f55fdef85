/* scontrol show node: records that begin with NodeName=, on lines of their own or on one. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "intake/slurm/slurm.h"
#include "intake/syntax/lines.h"

enum { RECORD_MAX_BYTES = 256 * 1024 };

static const char *const paths[SL_SLURM_ITEM_COUNT] = {
    "NodeName",   "Gres",       "CfgTRES", "AvailableFeatures", "State",     "Reason",
    "Partitions", "RealMemory", "CPUTot",  "InstanceType",      "GresDrain",
};

/* What a key tells of. */
static const struct {
    const char *key;
    sl_slurm_item item;
} keys[] = {
    {"NodeName", SL_SLURM_NAME},         {"Gres", SL_SLURM_GRES},
    {"CfgTRES", SL_SLURM_TRES},          {"AvailableFeatures", SL_SLURM_FEATURES},
    {"Features", SL_SLURM_FEATURES}, /* before 16.05 */
    {"State", SL_SLURM_STATE},           {"Reason", SL_SLURM_REASON},
    {"Partitions", SL_SLURM_PARTITIONS}, {"RealMemory", SL_SLURM_MEMORY},
    {"CPUTot", SL_SLURM_CPUS},           {"InstanceType", SL_SLURM_INSTANCE},
    {"GresDrain", SL_SLURM_DRAINED},
};

/* The beginning of the next "Key=" at a blank, or the end of the text. A word before '=' with other
 * characters than letters, digits and '_' is of a value. */
static char *
next_key(char *at)
{
    for (char *word = at; *word != '\0';) {
        char *end = word;
        while (isalnum((unsigned char)*end) || *end == '_')
            end++;
        if (*end == '=' && end > word && isupper((unsigned char)*word))
            return word;
        word = end + strcspn(end, " \t\n");
        word += strspn(word, " \t\n");
    }
    return at + strlen(at);
}

static uint32_t
count_feeds(const char *from, const char *to)
{
    uint32_t count = 0;
    for (; from < to; from++)
        count += *from == '\n';
    return count;
}

/* Where the value ends, and where the next key begins. Free text may hold what looks like keys:
 * that of the operating system goes up to the memory, which follows it, and a reason up to the
 * bracket with who gave it. Comments stand behind what is read here, and the first of two
 * counts. */
static char *
value_end(const char *key, char *value, char **next)
{
    char *const word = value + strcspn(value, " \t\n");

    *next = next_key(word);
    if (strncmp(key, "OS=", 3) == 0) {
        char *const memory = strstr(value, "RealMemory=");
        *next = memory != NULL ? memory : *next;
    }
    if (strncmp(key, "Reason=", 7) != 0)
        return word;
    char *const line = value + strcspn(value, "\n");
    char *const by = strstr(value, " [");
    if (by != NULL && by < line && by > *next)
        *next = next_key(by + 1);
    return line < *next ? line : *next;
}

/* Cuts the record into its values, in place. The first of two with one key counts. */
static void
cut_record(char *text, uint32_t line, sl_slurm_node *out)
{
    char *next = NULL;

    for (char *at = next_key(text); *at != '\0'; at = next) {
        char *const equals = strchr(at, '=');
        char *const end = value_end(at, equals + 1, &next);
        const uint32_t feeds = count_feeds(at, next);
        if (*next == '\0')
            next = end; /* what follows is of no key */
        *equals = '\0';
        *end = '\0';
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            sl_slurm_said *const item = &out->item[keys[i].item];
            if (sl_text_equal(keys[i].key, at) && item->text == NULL)
                *item = (sl_slurm_said){equals + 1, line};
        }
        line += feeds;
    }
}

/* Records gathered line by line. */
typedef struct gathering {
    sl_findings *findings;
    sl_slurm_nodes *nodes;
    sl_buffer text;
    uint32_t line;
    bool open; /* a record has begun */
} gathering;

static sl_code
finish(gathering *g, sl_errors *err)
{
    if (!g->open)
        return SL_OK;
    g->open = false;
    if (g->text.failed) {
        sl_findings_warn(g->findings, "too_long", g->line, NULL,
                         "a record of over %d bytes is left out", RECORD_MAX_BYTES);
        sl_buffer_clear(&g->text);
        sl_buffer_init(&g->text, RECORD_MAX_BYTES);
        return SL_OK;
    }
    sl_slurm_node node = {.line = g->line, .paths = paths};
    cut_record(g->text.data, g->line, &node);
    return sl_slurm_says(node.item[SL_SLURM_NAME].text) ? sl_slurm_node_add(g->nodes, &node, err)
                                                        : SL_OK;
}

static bool
line_begins(const char *line, size_t length, const char *with)
{
    return length >= strlen(with) && strncmp(line, with, strlen(with)) == 0;
}

/* A line of the text. Records of other things, partitions or jobs, end a node's and are passed. */
static sl_code
take_line(gathering *g, const char *line, size_t length, uint32_t number, sl_errors *err)
{
    while (length > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        length--;
    }
    const bool node = line_begins(line, length, "NodeName=");
    if (node || line_begins(line, length, "PartitionName=") ||
        line_begins(line, length, "JobId=")) {
        const sl_code code = finish(g, err);
        if (code != SL_OK)
            return code;
        g->open = node;
        g->line = number;
        g->text.size = 0;
    }
    if (!g->open)
        return SL_OK;
    sl_buffer_append(&g->text, line, strnlen(line, length));
    sl_buffer_text(&g->text, "\n");
    return SL_OK;
}

/* Whether a line goes on with a node, as none of a configuration does but behind a backslash. */
static bool
goes_on(const sl_sample *sample)
{
    static const char *const first[] = {"Gres=", "State=", "RealMemory="};
    sl_lines lines = {.at = sample->head, .end = sample->head + strlen(sample->head)};
    const char *line = NULL;
    size_t length = 0;
    bool joined = false;

    while (sl_lines_next(&lines, &line, &length)) {
        const size_t blanks = strspn(line, " \t");
        for (size_t i = 0; i < sizeof first / sizeof first[0] && !joined && blanks < length; i++)
            if (strncmp(line + blanks, first[i], strlen(first[i])) == 0)
                return true;
        joined = length > 0 && line[length - 1] == '\\';
    }
    return false;
}

bool
sl_slurm_is_shown(const sl_sample *sample)
{
    static const char *const shown[] = {
        "CPUTot=",     "CPUAlloc=",       "CPULoad=", "CfgTRES=",   "AllocMem=", "FreeMem=",
        "Partitions=", "ActiveFeatures=", " Arch=",   "MCS_label=", "BootTime="};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (sl_sample_holds(sample, shown[i]))
            return true;
    return goes_on(sample);
}

static uint32_t
recognise_nodes_text(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_TEXT || !sl_sample_line_begins(sample, "NodeName="))
        return 0;
    return sl_slurm_is_shown(sample) ? 97 : 0;
}

static sl_code
read_nodes_text(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    gathering g = {.findings = findings};
    const uint32_t before = sl_findings_count(findings);
    const char *line = NULL;
    size_t length = 0;

    sl_code code = sl_slurm_nodes_new(findings, &g.nodes, err);
    sl_buffer_init(&g.text, RECORD_MAX_BYTES);
    while (code == SL_OK && sl_lines_next(&lines, &line, &length))
        code = take_line(&g, line, length, lines.number, err);
    if (code == SL_OK)
        code = finish(&g, err);
    sl_buffer_clear(&g.text);
    return code == SL_OK ? sl_slurm_need_hosts(findings, before, err) : code;
}

const sl_format sl_slurm_nodes_text_format = {"slurm_nodes_text",
                                              "scontrol show node, also with -o",
                                              recognise_nodes_text, read_nodes_text, 50};
