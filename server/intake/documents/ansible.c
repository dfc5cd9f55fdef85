#include "intake/documents/ansible.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

enum { RANGES_MAX = 4, DIGITS_MAX = 9 };

/* Names that people give such variables. */
static const struct {
    const char *name;
    sl_field field;
    double scale; /* of a plain number; 0: of a text, or with its own unit */
} variables[] = {
    {"gpu_type", SL_FIELD_ACCELERATOR, 0},
    {"gpu_model", SL_FIELD_ACCELERATOR, 0},
    {"gpu_name", SL_FIELD_ACCELERATOR, 0},
    {"gpu_product", SL_FIELD_ACCELERATOR, 0},
    {"accelerator", SL_FIELD_ACCELERATOR, 0},
    {"accelerator_type", SL_FIELD_ACCELERATOR, 0},
    {"gpus", SL_FIELD_ACCELERATORS, 1},
    {"gpu_count", SL_FIELD_ACCELERATORS, 1},
    {"num_gpus", SL_FIELD_ACCELERATORS, 1},
    {"gpus_per_node", SL_FIELD_ACCELERATORS, 1},
    {"accelerators", SL_FIELD_ACCELERATORS, 1},
    {"accelerator_count", SL_FIELD_ACCELERATORS, 1},
    {"gpu_memory", SL_FIELD_NOMINAL_MEMORY_BYTES, 0},
    {"gpu_memory_mib", SL_FIELD_NOMINAL_MEMORY_BYTES, 0x1p20},
    {"gpu_memory_gib", SL_FIELD_NOMINAL_MEMORY_BYTES, 0x1p30},
    {"gpu_memory_gb", SL_FIELD_NOMINAL_MEMORY_BYTES, 1e9},
    {"node_type", SL_FIELD_NODE_TYPE, 0},
    {"instance_type", SL_FIELD_NODE_TYPE, 0},
    {"ec2_instance_type", SL_FIELD_NODE_TYPE, 0},
    {"machine_type", SL_FIELD_NODE_TYPE, 0},
    {"vm_size", SL_FIELD_NODE_TYPE, 0},
    {"shape", SL_FIELD_NODE_TYPE, 0},
    {"nic_count", SL_FIELD_NIC_COUNT, 1},
    {"nics", SL_FIELD_NIC_COUNT, 1},
    {"nic_speed_gbps", SL_FIELD_NIC_BYTES_PER_S, 1e9 / 8.0},
};

void
sl_ansible_variable(sl_facts *facts, const char *name, const char *text, uint32_t line)
{
    assert(facts != NULL && name != NULL && text != NULL);

    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        double number = 0.0;
        if (!sl_text_equal(name, variables[i].name))
            continue;
        const sl_field field = variables[i].field;
        if (facts->field[field].said)
            return;
        if (sl_field_is_text(field))
            sl_facts_text(facts, field, text, line, variables[i].name);
        else if (variables[i].scale > 0 ? sl_text_to_double(text, &number)
                                        : sl_document_bytes(text, &number))
            sl_facts_number(facts, field,
                            number * (variables[i].scale > 0 ? variables[i].scale : 1.0), line,
                            variables[i].name);
        return;
    }
}

void
sl_ansible_variables(sl_facts *facts, const sl_node *object, uint32_t line, sl_arena *arena)
{
    void *state = NULL;
    sl_node member;

    while (sl_node_kind(object) == SL_JSON_OBJECT && sl_node_next(object, &state, &member)) {
        sl_errors ignored;
        sl_errors_begin(&ignored, true);
        const char *text = NULL;
        double number = 0.0;
        if (sl_node_kind(&member) == SL_JSON_TEXT)
            text = sl_node_as_text(&member, &text, &ignored) == SL_OK ? text : NULL;
        else if (sl_document_as_number(&member, &number))
            text = sl_arena_format(arena, "%.12g", number);
        if (text != NULL)
            sl_ansible_variable(facts, member.key, text, line);
    }
}

/* A bracket of a pattern, and where its wheel stands. */
typedef struct range {
    const char *begin, *end; /* of the bracket in the pattern */
    uint32_t from, to, step, at;
    int width; /* of numbers: zeros in front, to so many digits */
    bool letters;
} range;

static bool
is_letter(const char *text)
{
    return ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')) && text[1] == '\0';
}

static bool
read_number(const char *text, uint32_t *out)
{
    uint64_t number = 0;
    if (strlen(text) > DIGITS_MAX || !sl_text_to_uint(text, &number))
        return false;
    *out = (uint32_t)number;
    return true;
}

/* "01:03", "a:c" or "1:9:2" between the brackets. */
static bool
read_range(range *r)
{
    char text[3 * (DIGITS_MAX + 1) + 1];
    char *part[3] = {text, NULL, NULL};
    const size_t length = (size_t)(r->end - r->begin) - 2;

    if (length >= sizeof text)
        return false;
    memcpy(text, r->begin + 1, length);
    text[length] = '\0';
    for (size_t i = 1; i < 3 && part[i - 1] != NULL; i++) {
        char *const colon = strchr(part[i - 1], ':');
        if (colon != NULL) {
            *colon = '\0';
            part[i] = colon + 1;
        }
    }
    r->step = 1;
    if (part[1] == NULL || (part[2] != NULL && (!read_number(part[2], &r->step) || r->step == 0)))
        return false;
    r->letters = is_letter(part[0]) && is_letter(part[1]);
    if (r->letters) {
        r->from = (unsigned char)*part[0];
        r->to = (unsigned char)*part[1];
    } else if (!read_number(part[0], &r->from) || !read_number(part[1], &r->to)) {
        return false;
    }
    r->width = *part[0] == '0' ? (int)strlen(part[0]) : 1;
    r->at = r->from;
    return r->to >= r->from;
}

/* The brackets of a pattern; false where one is no range. */
static bool
read_pattern(const char *pattern, range ranges[RANGES_MAX], uint32_t *count, uint64_t *names)
{
    *count = 0;
    *names = 1;
    for (const char *at = strchr(pattern, '['); at != NULL; at = strchr(at, '[')) {
        const char *const close = strchr(at, ']');
        if (close == NULL || *count == RANGES_MAX)
            return false;
        range *const r = &ranges[*count];
        *r = (range){.begin = at, .end = close + 1};
        if (!read_range(r))
            return false;
        *names *= (r->to - r->from) / r->step + 1;
        if (*names > SL_HOSTS_MAX)
            return false;
        ++*count;
        at = close;
    }
    return true;
}

/* The name that the wheels stand at. False where it is too long. */
static bool
spell(const char *pattern, const range *ranges, uint32_t count, char out[SL_HOST_NAME_MAX + 1])
{
    const char *at = pattern;
    size_t used = 0;

    for (uint32_t i = 0; i <= count; i++) {
        const size_t length = i < count ? (size_t)(ranges[i].begin - at) : strlen(at);
        if (used + length > SL_HOST_NAME_MAX)
            return false;
        memcpy(out + used, at, length);
        used += length;
        out[used] = '\0';
        if (i == count)
            break;
        const bool fits =
            ranges[i].letters
                ? sl_text_format(out + used, SL_HOST_NAME_MAX + 1 - used, "%c", (int)ranges[i].at)
                : sl_text_format(out + used, SL_HOST_NAME_MAX + 1 - used, "%0*u", ranges[i].width,
                                 ranges[i].at);
        if (!fits)
            return false;
        used += strlen(out + used);
        at = ranges[i].end;
    }
    return true;
}

/* To the next name; false behind the last. */
static bool
turn(range *ranges, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;) {
        if (ranges[i].to - ranges[i].at >= ranges[i].step) {
            ranges[i].at += ranges[i].step;
            return true;
        }
        ranges[i].at = ranges[i].from;
    }
    return false;
}

sl_code
sl_ansible_add(sl_findings *findings, const char *pattern, uint32_t line, const sl_facts *facts,
               sl_errors *err)
{
    assert(findings != NULL && pattern != NULL && err != NULL);

    range ranges[RANGES_MAX];
    uint32_t count = 0;
    uint64_t names = 0;
    char name[SL_HOST_NAME_MAX + 1];
    if (sl_text_equal(pattern, "localhost") || sl_text_equal(pattern, "127.0.0.1"))
        return SL_OK;
    if (!read_pattern(pattern, ranges, &count, &names)) {
        sl_findings_warn(findings, "odd_name", line, NULL,
                         "\"%.60s\" is neither a host nor a range of hosts: passed over", pattern);
        return SL_OK;
    }
    do {
        const sl_found_host host = {.name = name, .count = 1, .line = line};
        if (!spell(pattern, ranges, count, name) || !sl_document_is_host(name)) {
            sl_findings_warn(findings, "odd_name", line, NULL,
                             "\"%.60s\" is neither a host nor a range of hosts: passed over",
                             pattern);
            return SL_OK;
        }
        const sl_code code = sl_findings_add(findings, &host, facts, err);
        if (code != SL_OK)
            return code;
    } while (turn(ranges, count));
    return SL_OK;
}
