#include "intake/draft.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "intake/merge.h"

enum { FIRST_POOLS = 8 };

/* While pools are made. */
typedef struct making {
    sl_merge merge;
    sl_draft *draft;
    sl_arena *arena;
    uint32_t pools_max; /* that there is room for */
} making;

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to merge the files");
}

static double
number_of(const sl_class *class, sl_field field)
{
    return sl_value_number(&class->value[field]);
}

static bool
near_number(const sl_class *a, const sl_class *b, sl_field field, double share)
{
    const double x = number_of(a, field), y = number_of(b, field);
    return x <= 0 || y <= 0 || fabs(x - y) <= share * fmax(x, y);
}

static bool
same_text(const sl_class *a, const sl_class *b, sl_field field)
{
    const char *const x = sl_value_text(&a->value[field]), *const y =
                                                               sl_value_text(&b->value[field]);
    return x == NULL || y == NULL ? x == y : sl_text_equal_ignoring_case(x, y);
}

/* What an inventory says of a node is the same for both; drivers and the like are not of it. */
static bool
one_pool(const sl_class *a, const sl_class *b)
{
    const bool one_part = a->candidate_count == 1 && b->candidate_count == 1 &&
                          !a->candidates_near && !b->candidates_near;
    if (one_part ? a->candidates[0] != b->candidates[0] : !same_text(a, b, SL_FIELD_ACCELERATOR))
        return false;
    return a->node == b->node && same_text(a, b, SL_FIELD_SLICE) &&
           number_of(a, SL_FIELD_ACCELERATORS) == number_of(b, SL_FIELD_ACCELERATORS) &&
           number_of(a, SL_FIELD_SLICED_ACCELERATORS) ==
               number_of(b, SL_FIELD_SLICED_ACCELERATORS) &&
           near_number(a, b, SL_FIELD_MEMORY_BYTES, 0.005) &&
           near_number(a, b, SL_FIELD_NOMINAL_MEMORY_BYTES, 0.005) &&
           near_number(a, b, SL_FIELD_HOST_MEMORY_BYTES, SL_HOST_MEMORY_SHARE) &&
           near_number(a, b, SL_FIELD_NIC_COUNT, 0) &&
           near_number(a, b, SL_FIELD_NIC_BYTES_PER_S, 0.01) &&
           (a->pool == b->pool ||
            (a->pool != NULL && b->pool != NULL && sl_text_equal(a->pool, b->pool)));
}

/* A name has no blanks; capitals stay where a user chose them. */
static char
name_letter(char c, bool given)
{
    if (c == ' ')
        return '-';
    if (given || c < 'A' || c > 'Z')
        return c;
    return (char)(c - 'A' + 'a');
}

/* "h100-sxm5-80gb" of "nvidia-h100-sxm5-80gb": short, and said by the user's own words where there
 * are some. */
static void
name_pool(const sl_draft *draft, sl_draft_pool *pool, const char *given)
{
    char base[48];
    size_t size = 0;
    const char *from = given;

    if (from == NULL && pool->part != NULL) {
        const char *const dash = strchr(pool->part->accelerator.id, '-');
        from = dash != NULL ? dash + 1 : pool->part->accelerator.id;
    }
    if (from == NULL)
        from = sl_value_text(&pool->value[SL_FIELD_ACCELERATOR]);
    for (const char *at = from != NULL ? from : "accelerators";
         *at != '\0' && size + 1 < sizeof base; at++)
        base[size++] = name_letter(*at, given != NULL);
    base[size] = '\0';
    (void)sl_text_copy(pool->name, sizeof pool->name, base);
    for (uint32_t copy = 2, i = 0; i < draft->pool_count; i++) {
        if (&draft->pools[i] == pool || !sl_text_equal(draft->pools[i].name, pool->name))
            continue;
        (void)sl_text_format(pool->name, sizeof pool->name, "%s-%u", base, copy++);
        i = UINT32_MAX; /* the new name against all again */
    }
}

/* What the catalogue knows where no file says. */
static void
take_known(sl_draft_pool *pool, sl_field field, double number, sl_from origin, const char *reason)
{
    if (pool->value[field].origin == SL_FROM_NOBODY && number > 0)
        pool->value[field] = (sl_value){
            .fact = {.said = true, .number = number}, .origin = origin, .reason = reason};
}

/* Of all links of a device those to one other: as files count them, else as the board is built. */
static void
take_pair(const sl_node_type *reference, uint64_t held, sl_draft_pool *pool)
{
    const sl_accelerator *const a = &pool->part->accelerator;
    const sl_value *const counted = &pool->value[SL_FIELD_PAIR_LINKS];
    const double all = sl_value_number(&pool->value[SL_FIELD_SCALE_UP_BYTES_PER_S]);
    const double links = sl_value_number(&pool->value[SL_FIELD_LINKS]);
    const double usual = sl_pool_usual_pair(sl_pool_board(pool->node, reference, held), a);
    sl_value *const pair = &pool->value[SL_FIELD_SCALE_UP_PAIR_BYTES_PER_S];

    if (pair->origin != SL_FROM_NOBODY || all <= 0 || a->scale_up_bytes_per_s <= 0)
        return;
    if (counted->origin != SL_FROM_NOBODY && links > 0) {
        *pair = *counted;
        pair->fact.number *= all / links;
        pair->origin = SL_FROM_LIKE;
        pair->reason = "the share of a device's links that lead to one other";
        return;
    }
    take_known(pool, SL_FIELD_SCALE_UP_PAIR_BYTES_PER_S, usual * all / a->scale_up_bytes_per_s,
               SL_FROM_CATALOG, "accelerators of such a node are joined pair by pair");
}

static bool
is_counted(const sl_value *value)
{
    return value->origin == SL_FROM_FILE || value->origin == SL_FROM_LIKE;
}

/* A node prints the links of its own devices: that the switches of a rack join those of others it
 * does not tell. `usual`: the node built around the part. */
static void
widen_domain(const sl_node_type *usual, uint64_t held, sl_draft_pool *pool)
{
    sl_value *const domain = &pool->value[SL_FIELD_SCALE_UP_DOMAIN];
    const sl_value *const links = &pool->value[SL_FIELD_LINKS];

    if (usual == NULL || usual->scale_up_domain <= usual->accelerators || !is_counted(domain) ||
        !is_counted(links) || links->file != domain->file || domain->fact.number > (double)held ||
        domain->fact.number < (double)held)
        return;
    domain->fact = (sl_fact){.said = true, .number = usual->scale_up_domain};
    domain->origin = SL_FROM_DEFAULT;
    domain->reason = "a node prints its own links alone, and such nodes are joined by their rack";
}

static void
take_catalog(const sl_catalog *catalog, sl_draft_pool *pool)
{
    const sl_node_type *const reference =
        pool->part == NULL ? NULL : sl_catalog_reference_node(catalog, &pool->part->accelerator);
    const sl_node_type *const shape = pool->node != NULL ? pool->node : reference;
    const sl_from origin = pool->node != NULL ? SL_FROM_CATALOG : SL_FROM_DEFAULT;
    const char *const usual =
        pool->node != NULL ? NULL : "of the node usually built around this part";

    if (pool->node != NULL && pool->value[SL_FIELD_SLICE].origin == SL_FROM_NOBODY)
        take_known(pool, SL_FIELD_ACCELERATORS, pool->node->accelerators, SL_FROM_CATALOG, NULL);
    if (pool->part == NULL)
        return;
    const sl_accelerator *const a = &pool->part->accelerator;
    take_known(pool, SL_FIELD_MEMORY_BYTES, (double)a->memory_bytes, SL_FROM_CATALOG, NULL);
    take_known(pool, SL_FIELD_RESERVED_BYTES, (double)a->reserved_bytes,
               a->reserved_assumed ? SL_FROM_DEFAULT : SL_FROM_CATALOG,
               a->reserved_assumed ? "no tool's figure is known: 1 % of the memory" : NULL);
    take_known(pool, SL_FIELD_SCALE_UP_BYTES_PER_S, a->scale_up_bytes_per_s, SL_FROM_CATALOG, NULL);
    if (shape == NULL) {
        take_pair(NULL, 0, pool);
        return;
    }
    /* Slices of nobody knows how many devices are no whole ones. */
    if (pool->value[SL_FIELD_SLICE].origin == SL_FROM_NOBODY &&
        (pool->value[SL_FIELD_ACCELERATOR].origin != SL_FROM_NOBODY || pool->node != NULL))
        take_known(pool, SL_FIELD_ACCELERATORS, shape->accelerators, SL_FROM_DEFAULT, usual);
    /* Of a node that holds fewer or more than the one it is like. */
    const double said = pool->value[SL_FIELD_ACCELERATORS].fact.number;
    const uint64_t held =
        said >= 1 && said <= SL_CLUSTER_PER_NODE_MAX ? (uint64_t)said : shape->accelerators;
    take_pair(reference, held, pool);
    widen_domain(reference, held, pool);
    take_known(pool, SL_FIELD_SCALE_UP_DOMAIN,
               sl_pool_usual_domain(reference, held, shape->scale_up_domain), origin, usual);
    if (pool->value[SL_FIELD_NIC_BYTES_PER_S].origin == SL_FROM_NOBODY) {
        take_known(pool, SL_FIELD_NIC_COUNT, sl_pool_usual_nics(shape, held), origin, usual);
        take_known(pool, SL_FIELD_NIC_BYTES_PER_S, shape->nic_bytes_per_s, origin, usual);
    }
    if (pool->node != NULL)
        take_known(pool, SL_FIELD_HOST_MEMORY_BYTES, (double)pool->node->host_memory_bytes,
                   SL_FROM_CATALOG, NULL);
}

/* NVLink's raw rate is some 6 % above the data it carries: near the datasheet that one is meant. */
static void
settle_link_rate(sl_draft_pool *pool)
{
    sl_value *const rate = &pool->value[SL_FIELD_SCALE_UP_BYTES_PER_S];
    const double known = pool->part == NULL ? 0 : pool->part->accelerator.scale_up_bytes_per_s;

    if (rate->origin == SL_FROM_NOBODY || known <= 0 ||
        fabs(rate->fact.number - known) > 0.1 * known)
        return;
    rate->fact.number = known;
    rate->origin = SL_FROM_CATALOG;
    rate->reason = "a tool prints the raw rate of the links; this is what they carry of data";
}

/* Pools are few and large: room for them doubles. */
static bool
make_room(making *m)
{
    sl_draft *const draft = m->draft;
    if (draft->pool_count < m->pools_max)
        return true;
    const uint32_t most = m->pools_max > 0 ? 2 * m->pools_max : FIRST_POOLS;
    sl_draft_pool *const pools = sl_arena_alloc(m->arena, most, sizeof *pools);
    if (pools == NULL)
        return false;
    if (draft->pool_count > 0)
        memcpy(pools, draft->pools, draft->pool_count * sizeof *pools);
    draft->pools = pools;
    m->pools_max = most;
    return true;
}

static sl_code
pool_from(making *m, const sl_class *class, sl_errors *err)
{
    sl_draft *const draft = m->draft;

    if (draft->pool_count == SL_INVENTORY_POOLS_MAX)
        return sl_fail(err, SL_E_RANGE, "too_many", "", "must hold at most %d pools",
                       SL_INVENTORY_POOLS_MAX);
    if (!make_room(m))
        return out_of_memory(err);
    sl_draft_pool *const pool = &draft->pools[draft->pool_count++];
    *pool = (sl_draft_pool){.node = class->node,
                            .candidate_count = class->candidate_count,
                            .candidates_near = class->candidates_near};
    memcpy(pool->value, class->value, sizeof pool->value);
    memcpy(pool->candidates, class->candidates, sizeof pool->candidates);
    if (class->candidate_count == 1 && !class->candidates_near)
        pool->part = class->candidates[0];
    if (pool->part != NULL && pool->value[SL_FIELD_ACCELERATOR].origin == SL_FROM_NOBODY)
        pool->value[SL_FIELD_ACCELERATOR] =
            (sl_value){.fact = {.said = true, .text = pool->part->accelerator.id},
                       .origin = SL_FROM_CATALOG,
                       .reason = "the part of the node type"};
    name_pool(draft, pool, class->pool);
    return SL_OK;
}

/* Each class with accelerators is a pool, or joins one of like hardware. */
static sl_code
make_pools(making *m, sl_errors *err)
{
    sl_draft *const draft = m->draft;

    for (uint32_t i = 0; i < m->merge.class_count; i++) {
        sl_class *const class = m->merge.classes[i];
        class->pool_index = UINT32_MAX;
        if (class->absorbed)
            continue;
        draft->hosts += class->nodes;
        if (!sl_class_has_accelerators(class)) {
            draft->without_accelerators += class->nodes;
            continue;
        }
        for (uint32_t j = 0; j < i && class->pool_index == UINT32_MAX; j++)
            if (m->merge.classes[j]->pool_index != UINT32_MAX && !m->merge.classes[j]->absorbed &&
                one_pool(m->merge.classes[j], class))
                class->pool_index = m->merge.classes[j]->pool_index;
        if (class->pool_index == UINT32_MAX) {
            const sl_code code = pool_from(m, class, err);
            if (code != SL_OK)
                return code;
            class->pool_index = draft->pool_count - 1;
        }
        draft->pools[class->pool_index].nodes += class->nodes;
    }
    return SL_OK;
}

bool
sl_draft_pool_planned(const sl_draft_pool *pool)
{
    return pool->whole > 0 || (pool->value[SL_FIELD_ACCELERATORS].origin == SL_FROM_NOBODY &&
                               pool->value[SL_FIELD_SLICE].origin == SL_FROM_NOBODY);
}

/* Slices are not what a plan is made of. */
static void
count_whole(sl_draft_pool *pool)
{
    const double count = sl_value_number(&pool->value[SL_FIELD_ACCELERATORS]);
    const double sliced = sl_value_number(&pool->value[SL_FIELD_SLICED_ACCELERATORS]);

    /* Cut up, and nobody says how many of them: none is counted on. */
    const bool all_cut = pool->value[SL_FIELD_SLICE].origin != SL_FROM_NOBODY && sliced <= 0;
    pool->whole = count > sliced && !all_cut ? (uint32_t)(count - sliced) : 0;
}

static void
take_fabric(making *m)
{
    const sl_found_fabric *const network = sl_findings_network(m->merge.findings);

    if (network->kind.said)
        m->draft->fabric_kind =
            (sl_value){.fact = network->kind, .origin = SL_FROM_FILE, .file = network->file};
    if (network->oversubscription.said)
        m->draft->oversubscription = (sl_value){
            .fact = network->oversubscription, .origin = SL_FROM_FILE, .file = network->file};
    else
        m->draft->oversubscription =
            (sl_value){.fact = {.said = true, .number = 1},
                       .origin = SL_FROM_DEFAULT,
                       .reason = "no file says how much narrower the network is above the leaves"};
}

sl_code
sl_draft_make(const sl_findings *findings, const sl_catalog *catalog, sl_arena *arena,
              sl_draft *out, sl_errors *err)
{
    assert(findings != NULL && catalog != NULL && arena != NULL && out != NULL && err != NULL);

    making m = {.merge = {.findings = findings,
                          .catalog = catalog,
                          .arena = arena,
                          .draft = out,
                          .names = {.catalog = catalog}},
                .draft = out,
                .arena = arena};
    *out =
        (sl_draft){.findings = findings, .catalog = catalog, .name = sl_findings_cluster(findings)};
    sl_code code = sl_merge_make(&m.merge, err);
    if (code == SL_OK)
        code = make_pools(&m, err);
    if (code == SL_OK)
        code = sl_merge_place_hosts(&m.merge, err);
    if (code != SL_OK)
        return code;
    for (uint32_t i = 0; i < out->pool_count; i++) {
        settle_link_rate(&out->pools[i]);
        take_catalog(catalog, &out->pools[i]);
        count_whole(&out->pools[i]);
    }
    sl_draft_notes(&m.merge);
    take_fabric(&m);
    return SL_OK;
}

sl_code
sl_draft_strict(const sl_draft *draft, sl_errors *err)
{
    assert(draft != NULL && err != NULL);

    sl_code first = SL_OK;
    for (uint32_t i = 0; i < draft->note_count; i++) {
        const sl_draft_note *const note = &draft->notes[i];
        if (!note->guess)
            continue;
        const sl_code code = sl_fail(err, SL_E_RANGE, note->code, note->pointer, "%s", note->text);
        first = first == SL_OK ? code : first;
    }
    return first;
}
