#include "intake/findings.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

static const struct {
    const char *name;
    bool text;
} fields[] = {
    [SL_FIELD_ACCELERATOR] = {"accelerator", true},
    [SL_FIELD_ACCELERATORS] = {"accelerators", false},
    [SL_FIELD_MEMORY_BYTES] = {"memory_bytes", false},
    [SL_FIELD_RESERVED_BYTES] = {"reserved_bytes", false},
    [SL_FIELD_NOMINAL_MEMORY_BYTES] = {"nominal_memory_bytes", false},
    [SL_FIELD_POWER_LIMIT_W] = {"power_limit_w", false},
    [SL_FIELD_SLICED_ACCELERATORS] = {"sliced_accelerators", false},
    [SL_FIELD_SLICE] = {"slice", true},
    [SL_FIELD_DRIVER] = {"driver", true},
    [SL_FIELD_NODE_TYPE] = {"node_type", true},
    [SL_FIELD_HOST_MEMORY_BYTES] = {"host_memory_bytes", false},
    [SL_FIELD_CPUS] = {"cpus", false},
    [SL_FIELD_LINKS] = {"links", false},
    [SL_FIELD_PAIR_LINKS] = {"pair_links", false},
    [SL_FIELD_LINK_KIND] = {"link_kind", true},
    [SL_FIELD_SCALE_UP_BYTES_PER_S] = {"scale_up_bytes_per_s", false},
    [SL_FIELD_SCALE_UP_PAIR_BYTES_PER_S] = {"scale_up_pair_bytes_per_s", false},
    [SL_FIELD_SCALE_UP_DOMAIN] = {"scale_up_domain", false},
    [SL_FIELD_NIC_COUNT] = {"nic_count", false},
    [SL_FIELD_NIC_BYTES_PER_S] = {"nic_bytes_per_s", false},
    [SL_FIELD_NIC_KIND] = {"nic_kind", true},
    [SL_FIELD_PRICE_PER_NODE_HOUR] = {"price_per_node_hour", false},
};
_Static_assert(sizeof fields / sizeof fields[0] == SL_FIELD_COUNT, "every field has its name");

const char *
sl_field_name(sl_field field)
{
    assert(field < SL_FIELD_COUNT);
    return fields[field].name;
}

bool
sl_field_is_text(sl_field field)
{
    assert(field < SL_FIELD_COUNT);
    return fields[field].text;
}

void
sl_facts_text(sl_facts *facts, sl_field field, const char *text, uint32_t line, const char *path)
{
    assert(facts != NULL && sl_field_is_text(field));
    if (text != NULL && *text != '\0')
        facts->field[field] = (sl_fact){.said = true, .text = text, .place = {line, path}};
}

void
sl_facts_number(sl_facts *facts, sl_field field, double number, uint32_t line, const char *path)
{
    assert(facts != NULL && !sl_field_is_text(field));
    const bool may_be_zero =
        field == SL_FIELD_RESERVED_BYTES || field == SL_FIELD_PRICE_PER_NODE_HOUR;
    if (isfinite(number) && (number > 0 || (number == 0 && may_be_zero)))
        facts->field[field] = (sl_fact){.said = true, .number = number, .place = {line, path}};
}

bool
sl_facts_complete(sl_facts *facts, const sl_facts *more)
{
    bool changed = false;
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        if (facts->field[i].said || !more->field[i].said)
            continue;
        facts->field[i] = more->field[i];
        changed = true;
    }
    return changed;
}

bool
sl_fact_equal(const sl_fact *a, const sl_fact *b)
{
    if (!a->said || !b->said)
        return a->said == b->said;
    if (a->label != b->label)
        return false;
    if (a->text != NULL && b->text != NULL)
        return sl_text_equal(a->text, b->text);
    return a->text == b->text && a->number == b->number;
}

uint64_t
sl_fact_hash(uint64_t hash, uint32_t field, const sl_fact *fact)
{
    if (!fact->said)
        return hash;
    hash = sl_hash_quick(hash, &field, sizeof field);
    return fact->text != NULL ? sl_hash_quick(hash, fact->text, strlen(fact->text))
                              : sl_hash_quick(hash, &fact->number, sizeof fact->number);
}
