#include "codec/question/cluster.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/question/operating.h"
#include "json/members.h"

static const double RATE_MAX = 1e15;
static const uint64_t BYTES_MAX = 1ULL << 50;

static sl_code
read_nic(const sl_node *item, uint64_t *count, double *bytes_per_s, const char **kind,
         sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"count", NULL}, {"bytes_per_s", NULL}, {"kind", NULL}};
    sl_code first = sl_node_object(item, err);
    if (first != SL_OK)
        return first;
    sl_node needed;
    sl_keep(&first, sl_members_check(item, members, 3, warnings, err));
    sl_keep(&first, sl_node_required(item, "count", &needed, err));
    sl_keep(&first, sl_node_required(item, "bytes_per_s", &needed, err));
    sl_keep(&first, sl_node_uint(item, "count", 0, SL_CLUSTER_PER_NODE_MAX, count, NULL, err));
    sl_keep(&first, sl_node_double(item, "bytes_per_s", 1, RATE_MAX, bytes_per_s, NULL, err));
    sl_keep(&first, sl_node_text(item, "kind", kind, NULL, err));
    return first;
}

static sl_code
read_nics(const sl_node *object, sl_pool *pool, sl_errors *warnings, sl_errors *err)
{
    sl_node nics;
    if (!sl_node_member(object, "nics", &nics))
        return SL_OK;
    const size_t count = sl_node_count(&nics);
    if (sl_node_kind(&nics) != SL_JSON_ARRAY)
        return sl_node_fail(&nics, err, SL_E_RANGE, "wrong_type", "must be an array");
    if (count > SL_POOL_NICS_MAX)
        return sl_node_fail(&nics, err, SL_E_RANGE, "out_of_range",
                            "must have at most %d entries, got %zu", SL_POOL_NICS_MAX, count);

    sl_code first = SL_OK;
    uint64_t counts[SL_POOL_NICS_MAX] = {0};
    double rates[SL_POOL_NICS_MAX] = {0};
    const char *kinds[SL_POOL_NICS_MAX] = {NULL};
    for (size_t i = 0; i < count; i++) {
        sl_node item;
        if (sl_node_at(&nics, i, &item))
            sl_keep(&first, read_nic(&item, &counts[i], &rates[i], &kinds[i], warnings, err));
    }
    if (first != SL_OK)
        return first;

    pool->nics_said = true;
    pool->nics_differ = false;
    pool->nic_count = 0;
    pool->nic_bytes_per_s = 0;
    pool->nic_kind = NULL;
    for (size_t i = 0; i < count; i++) {
        uint64_t same = 0;
        for (size_t j = 0; j < count; j++)
            same += rates[j] == rates[i] ? counts[j] : 0;
        pool->nics_differ = pool->nics_differ || rates[i] != rates[0];
        if ((double)same * rates[i] > (double)pool->nic_count * pool->nic_bytes_per_s) {
            pool->nic_count = same;
            pool->nic_bytes_per_s = rates[i];
            pool->nic_kind = kinds[i];
        }
    }
    return SL_OK;
}

sl_code
sl_pool_read_node(const sl_node *object, sl_pool *pool, sl_errors *warnings, sl_errors *err)
{
    assert(object != NULL && pool != NULL && err != NULL);

    sl_code first = sl_node_text(object, "accelerator", &pool->accelerator, NULL, err);
    sl_keep(&first, sl_node_text(object, "node_type", &pool->node_type, NULL, err));
    sl_keep(&first, sl_node_uint(object, "accelerators", 1, SL_CLUSTER_PER_NODE_MAX,
                                 &pool->accelerators, NULL, err));
    sl_keep(&first, sl_node_uint(object, "memory_bytes", 1 << 20, BYTES_MAX, &pool->memory_bytes,
                                 NULL, err));
    bool reserved_said = false;
    sl_keep(&first, sl_node_uint(object, "reserved_bytes", 0, BYTES_MAX, &pool->reserved_bytes,
                                 &reserved_said, err));
    pool->reserved_said = pool->reserved_said || reserved_said;
    sl_keep(&first, sl_node_double(object, "scale_up_bytes_per_s", 1, RATE_MAX,
                                   &pool->scale_up_bytes_per_s, NULL, err));
    sl_keep(&first, sl_node_double(object, "scale_up_pair_bytes_per_s", 1, RATE_MAX,
                                   &pool->scale_up_pair_bytes_per_s, NULL, err));
    sl_keep(&first, sl_node_uint(object, "scale_up_domain", 1, SL_CLUSTER_NODES_MAX,
                                 &pool->scale_up_domain, NULL, err));
    sl_keep(&first, sl_node_uint(object, "host_memory_bytes", 0, BYTES_MAX,
                                 &pool->host_memory_bytes, NULL, err));
    sl_keep(&first, read_nics(object, pool, warnings, err));
    return first;
}

sl_code
sl_pool_read_fabric(const sl_node *object, sl_pool *pool, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"kind", NULL}, {"oversubscription", NULL}};
    sl_code first = sl_node_object(object, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(object, members, 2, warnings, err));
    sl_keep(&first, sl_node_text(object, "kind", &pool->fabric_kind, NULL, err));
    sl_keep(&first, sl_node_double(object, "oversubscription", 1, 1000,
                                   &pool->oversubscription_ratio, NULL, err));
    return first;
}

static void
member_pointer(const sl_node *where, const char *member, char out[128])
{
    char parent[96];
    sl_node_pointer(where, parent, sizeof parent);
    (void)sl_text_format(out, 128, "%s/%s", parent, member);
}

/* The node type and the accelerator that were named, each checked against the other. */
static sl_code
find_parts(const sl_pool *pool, const sl_catalog *catalog, const sl_node *where,
           const sl_node_type **node, const sl_accelerator **accelerator, sl_errors *err)
{
    char pointer[128];
    sl_code first = SL_OK;
    *node = NULL;
    *accelerator = NULL;
    if (pool->node_type != NULL) {
        member_pointer(where, "node_type", pointer);
        sl_keep(&first, sl_catalog_find_node(catalog, pool->node_type, pointer, node, err));
    }
    if (pool->accelerator != NULL) {
        const sl_part *part = NULL;
        member_pointer(where, "accelerator", pointer);
        sl_keep(&first, sl_catalog_find_part(catalog, pool->accelerator, pointer, &part, err));
        if (part != NULL)
            *accelerator = &part->accelerator;
    }
    if (first != SL_OK)
        return first;
    if (*accelerator == NULL && *node != NULL)
        *accelerator = (*node)->accelerator;
    if (*accelerator == NULL)
        return sl_node_fail_at(where, "accelerator", err, SL_E_RANGE, "required_field",
                               "must name an accelerator of the catalogue");
    if (*node != NULL && (*node)->accelerator != NULL &&
        !sl_text_equal((*node)->accelerator->id, (*accelerator)->id)) {
        const sl_code code = sl_node_fail_at(where, "accelerator", err, SL_E_RANGE, "inconsistent",
                                             "must be the one node type %s has, got %s",
                                             (*node)->id, (*accelerator)->id);
        sl_hint(err, "%s", (*node)->accelerator->id);
        return code;
    }
    return SL_OK;
}

/* Inventories and requests have different words for the same number. */
static const char *
per_node_member(const sl_node *where)
{
    const bool inventory = where->key != NULL && sl_text_equal(where->key, "node");
    return inventory ? "accelerators" : "accelerators_per_node";
}

uint32_t
sl_pool_usual_nics(const sl_node_type *usual, uint64_t accelerators)
{
    assert(usual != NULL && accelerators <= SL_CLUSTER_PER_NODE_MAX);

    if (usual->nic_count == 0)
        return 0;
    const uint64_t share = (uint64_t)usual->nic_count * accelerators;
    return (uint32_t)((share + usual->accelerators - 1) / usual->accelerators);
}

uint32_t
sl_pool_usual_domain(const sl_node_type *usual, uint64_t accelerators, uint32_t domain)
{
    const bool rack = usual != NULL && usual->scale_up_domain > usual->accelerators;
    return rack || domain <= accelerators ? domain : (uint32_t)accelerators;
}

const sl_node_type *
sl_pool_board(const sl_node_type *node, const sl_node_type *usual, uint64_t accelerators)
{
    if (node != NULL)
        return node;
    return usual != NULL && accelerators <= usual->accelerators ? usual : NULL;
}

double
sl_pool_usual_pair(const sl_node_type *board, const sl_accelerator *part)
{
    return board != NULL && board->scale_up_pair_bytes_per_s > 0 ? board->scale_up_pair_bytes_per_s
                                                                 : part->scale_up_pair_bytes_per_s;
}

/* The clusters people describe by accelerator alone have the network of the usual node. */
static void
resolve_nics(const sl_pool *pool, const sl_node_type *node, const sl_node_type *reference,
             sl_notes *notes, sl_cluster *out)
{
    if (pool->nics_said) {
        out->nics_per_node = (uint32_t)pool->nic_count;
        out->nic_bytes_per_s = pool->nic_bytes_per_s;
        if (pool->nics_differ)
            sl_notes_add(notes, "nics_differ", false,
                         "network cards of several rates: only the group that carries most is used "
                         "(%u at %.3g GB/s)",
                         out->nics_per_node, out->nic_bytes_per_s / 1e9);
        return;
    }
    const sl_node_type *const from = node != NULL && node->nic_count > 0 ? node : reference;
    if (from == NULL || from->nic_count == 0)
        return;
    out->nics_per_node = sl_pool_usual_nics(from, out->accelerators_per_node);
    out->nic_bytes_per_s = from->nic_bytes_per_s;
    out->nics_assumed = from != node;
    if (out->nics_assumed && out->nodes > 1)
        sl_notes_add(notes, "nics_assumed", false,
                     "network of the node type %s: %u cards of %.3g GB/s in a node of %u", from->id,
                     out->nics_per_node, out->nic_bytes_per_s / 1e9, out->accelerators_per_node);
}

/* Said of the cards, else of what joins them, else that of the node whose cards these are. */
static const char *
network_kind(const sl_pool *pool, const sl_catalog *catalog, const sl_node_type *shape)
{
    const bool joined =
        pool->fabric_kind != NULL && sl_catalog_fabric(catalog, pool->fabric_kind) != NULL;

    if (pool->nic_kind != NULL)
        return pool->nic_kind;
    if (joined) /* else a topology: a fat tree */
        return pool->fabric_kind;
    if (shape == NULL || *shape->nic_kind == '\0' || (pool->nics_said && pool->node_type == NULL))
        return NULL;
    return shape->nic_kind;
}

static void
resolve_fabric(const sl_pool *pool, const sl_catalog *catalog, const sl_node_type *shape,
               sl_notes *notes, sl_cluster *out)
{
    const char *const kind = network_kind(pool, catalog, shape);
    const sl_fabric *found = kind != NULL ? sl_catalog_fabric(catalog, kind) : NULL;
    const bool known = found != NULL;

    if (!known)
        found = sl_catalog_fabric(catalog, "infiniband");
    assert(found != NULL);
    out->fabric = *found;
    if (out->nodes <= 1)
        return;
    if (kind == NULL)
        sl_notes_add(notes, "fabric_assumed", false,
                     "the kind of network was not given: InfiniBand is assumed");
    else if (!known)
        sl_notes_add(notes, "fabric_kind_not_modelled", true,
                     "the kind of network, %.40s, is not one we know: its rate counts, with the "
                     "latencies of InfiniBand",
                     kind);
    else if (found->guessed)
        sl_notes_add(notes, "fabric_guessed", false,
                     "%s: %.2f of the cards' rate, steps between nodes %.1f times InfiniBand's, "
                     "congestion %.2f: a guess; the interval takes %.2f to %.2f of the "
                     "collectives' time",
                     found->kind, found->line_rate_ratio, found->latency_ratio,
                     found->congestion_ratio, found->low_ratio, found->high_ratio);
}

/* As many as the board has: then it is that board, and not a part of it. */
static bool
is_whole(const sl_node_type *board, const sl_cluster *cluster)
{
    return board != NULL && cluster->accelerators_per_node == board->accelerators;
}

static void
resolve_domain(const sl_pool *pool, const sl_node_type *node, const sl_node_type *reference,
               const sl_node_type *board, sl_cluster *out)
{
    sl_accelerator *const a = &out->accelerator;
    if (node != NULL && node->scale_up_domain > 0)
        a->scale_up_domain = node->scale_up_domain;
    else if (is_whole(board, out) && board->scale_up_domain > a->scale_up_domain)
        a->scale_up_domain = board->scale_up_domain; /* GH200 has links on boards of four alone */
    a->scale_up_domain =
        sl_pool_usual_domain(reference, out->accelerators_per_node, a->scale_up_domain);
    if (pool->scale_up_domain > 0)
        a->scale_up_domain = (uint32_t)pool->scale_up_domain;
    if (pool->scale_up_pair_bytes_per_s <= 0)
        sl_accelerator_set_pair(a, sl_pool_usual_pair(board, a));
    if (pool->scale_up_bytes_per_s > 0)
        sl_accelerator_set_scale_up(a, pool->scale_up_bytes_per_s);
}

/* Boards for a slot have links where somebody fitted a bridge. */
static void
note_bridge(const sl_pool *pool, const sl_catalog *catalog, const char *id, sl_notes *notes)
{
    sl_errors none = {0};
    const sl_part *part = NULL;
    if (pool->scale_up_domain > 0 || sl_catalog_find_part(catalog, id, "", &part, &none) != SL_OK ||
        strstr(part->scale_up_link, "bridge") == NULL)
        return;
    sl_notes_add(notes, "bridge_assumed", true,
                 "each %u accelerators are taken to be joined by their %s, which is an accessory: "
                 "without it they meet over PCIe (scale_up_domain 1)",
                 part->accelerator.scale_up_domain, part->scale_up_link);
}

/* Over a switch, or pair by pair. */
static sl_code
resolve_pairs(const sl_pool *pool, const sl_catalog *catalog, const sl_node *where,
              const sl_node_type *board, sl_notes *notes, sl_cluster *out, sl_errors *err)
{
    sl_accelerator *const a = &out->accelerator;
    const bool peers = a->scale_up_domain > 1 && out->accelerators_per_node > 1;
    const bool by_board = board != NULL && board->scale_up_pair_bytes_per_s > 0;

    if (pool->scale_up_pair_bytes_per_s > a->scale_up_bytes_per_s)
        return sl_node_fail_at(where, "scale_up_pair_bytes_per_s", err, SL_E_RANGE, "inconsistent",
                               "must be at most the %.3g bytes/s of all scale-up links, got %.3g",
                               a->scale_up_bytes_per_s, pool->scale_up_pair_bytes_per_s);
    if (pool->scale_up_pair_bytes_per_s > 0) {
        sl_accelerator_set_pair(a, pool->scale_up_pair_bytes_per_s);
        return SL_OK;
    }
    if (a->scale_up_pair_bytes_per_s > 0 && peers)
        sl_notes_add(notes, "joined_in_pairs", false,
                     "without a switch, as %s: %.3g of the %.3g GB/s of an accelerator's links lie "
                     "between any two, and a group has those of its pairs",
                     by_board ? board->id : a->id, a->scale_up_pair_bytes_per_s / 1e9,
                     a->scale_up_bytes_per_s / 1e9);
    if (a->scale_up_pair_bytes_per_s > 0 || !peers || pool->node_type != NULL)
        return SL_OK;
    note_bridge(pool, catalog, a->id, notes);
    const sl_node_type *const other =
        sl_catalog_paired_node(catalog, a, out->accelerators_per_node);
    if (other != NULL)
        sl_notes_add(notes, "switch_assumed", false,
                     "%u accelerators of a node are taken to share a switch, as a part of a larger "
                     "node; a board like %s joins each pair by a share of the links: node_type, or "
                     "scale_up_pair_bytes_per_s, tells",
                     out->accelerators_per_node, other->id);
    return SL_OK;
}

static void
resolve_overrides(const sl_pool *pool, sl_accelerator *a)
{
    if (pool->memory_bytes > 0)
        a->memory_bytes = pool->memory_bytes;
    if (pool->reserved_said) {
        a->reserved_bytes = pool->reserved_bytes;
        a->reserved_assumed = false;
    }
    if (a->reserved_assumed)
        a->reserved_bytes = sl_accelerator_reserved_guess(a->memory_bytes);
    if (a->reserved_bytes > a->memory_bytes)
        a->reserved_bytes = a->memory_bytes; /* nothing is usable */
    if (pool->memory_bytes_per_s > 0)
        sl_accelerator_set_memory_rate(a, pool->memory_bytes_per_s);
    /* Who gives the clock knows it: no range is left of it. */
    if (pool->sustained_ratio > 0)
        a->sustained_ratio = a->sustained_low_ratio = a->sustained_high_ratio =
            pool->sustained_ratio;
    if (pool->attention_ratio > 0)
        sl_accelerator_set_attention_ratio(a, pool->attention_ratio);
}

static void
limit_power(double watts, const char *who, sl_notes *notes, sl_accelerator *a)
{
    sl_accelerator_set_power(a, watts);
    sl_notes_add(
        notes, "power_limited", true,
        "at %.0f of %.0f W%s the clock is held %.0f %% lower: dynamic power is taken to go "
        "with its cube, 0.3 of the board's power with nothing",
        a->power_limit_w, a->power_w, who, 100.0 * (1.0 - a->limited_clock_ratio));
}

/* Below half of its power a part is no longer where clock and voltage go together. Some boards give
 * each of theirs less than the part may have by itself. */
static sl_code
resolve_power(const sl_pool *pool, const sl_node *where, const sl_node_type *board, sl_notes *notes,
              sl_cluster *out, sl_errors *err)
{
    const double least = 0.5;
    sl_accelerator *const a = &out->accelerator;
    sl_node overrides;
    if (pool->power_limit_w <= 0) {
        char who[80];
        const bool on_board = pool->node_type != NULL || is_whole(board, out);
        if (on_board && board->power_limit_w > 0 && a->power_w > board->power_limit_w) {
            (void)sl_text_format(who, sizeof who, ", as %s gives each,", board->id);
            limit_power(board->power_limit_w, who, notes, a);
        }
        return SL_OK;
    }
    if (!sl_node_member(where, "accelerator_overrides", &overrides))
        overrides = *where;
    if (a->power_w <= 0)
        return sl_node_fail_at(&overrides, "power_limit_w", err, SL_E_RANGE, "power_unknown",
                               "the catalogue does not know the power of %s", a->id);
    if (pool->power_limit_w > a->power_w || pool->power_limit_w < least * a->power_w) {
        const sl_code code =
            sl_node_fail_at(&overrides, "power_limit_w", err, SL_E_RANGE, "out_of_range",
                            "%s runs at %.0f to %.0f W, got %.0f", a->id, least * a->power_w,
                            a->power_w, pool->power_limit_w);
        sl_hint(err, "%.0f to %.0f", least * a->power_w, a->power_w);
        return code;
    }
    limit_power(pool->power_limit_w, "", notes, a);
    return SL_OK;
}

static void
note_provenance(const sl_catalog *catalog, const sl_accelerator *a, sl_notes *notes)
{
    if (sl_text_equal(a->provenance, "recalled"))
        sl_notes_add(notes, "catalog_recalled", true,
                     "the catalogue's figures of %s are from memory and not verified", a->id);

    const sl_part *const part = sl_catalog_own_part(catalog, a->id);
    if (part == NULL)
        return;
    sl_notes_add(notes, "private_accelerator", false,
                 "%s is a private part: its rates are what the user entered, its laws those of "
                 "%s%s, scaled by the datasheets",
                 a->id, part->like, part->like_assumed ? ", the nearest that was measured" : "");
    if (*part->scaled == '\0')
        return;
    char list[192];
    (void)sl_text_copy(list, sizeof list, part->scaled);
    for (char *at = list; *at != '\0'; at++)
        if (*at == '|')
            *at = ' ';
    sl_notes_add(notes, "private_rates_scaled", false,
                 "not entered, and taken from %s: links as they are, rates in proportion: %s",
                 part->like, list);
}

/* What a node type has where the question does not say. */
static void
take_node(const sl_node_type *node, sl_notes *notes, sl_cluster *out)
{
    (void)sl_text_copy(out->node_type, sizeof out->node_type, node->id);
    if (out->host_memory_bytes == 0)
        out->host_memory_bytes = node->host_memory_bytes;
    if (out->price_per_node_hour <= 0 && node->price_per_node_hour > 0) {
        const bool own = node->own.revision > 0 || node->own_price.revision > 0;
        out->price_per_node_hour = node->price_per_node_hour;
        (void)sl_text_copy(out->price_currency, sizeof out->price_currency, node->price_currency);
        sl_notes_add(notes, "price_assumed", false, "%s price of %s: %.2f %s per node and hour, %s",
                     own ? "private" : "list", node->id, node->price_per_node_hour,
                     node->price_currency,
                     *node->price_date != '\0' ? node->price_date : "undated");
    }
    if (node->own.revision > 0)
        sl_notes_add(notes, "private_node_type", false,
                     "%s is a private node type: its shape is what the user entered", node->id);
}

sl_code
sl_pool_resolve(const sl_pool *pool, const sl_catalog *catalog, const sl_node *where,
                sl_notes *notes, sl_cluster *out, sl_errors *err)
{
    assert(pool != NULL && catalog != NULL && where != NULL && out != NULL);

    const sl_node_type *node = NULL;
    const sl_accelerator *accelerator = NULL;
    const sl_code code = find_parts(pool, catalog, where, &node, &accelerator, err);
    if (code != SL_OK)
        return code;

    assert(accelerator != NULL);
    const sl_node_type *const reference = sl_catalog_reference_node(catalog, accelerator);
    const sl_node_type *const shape = node != NULL ? node : reference;
    const uint64_t per_node = pool->accelerators > 0 ? pool->accelerators
                              : shape != NULL        ? shape->accelerators
                                                     : 0;
    if (per_node == 0)
        return sl_node_fail_at(where, per_node_member(where), err, SL_E_RANGE, "required_field",
                               "must be given: the catalogue knows no usual node of %s",
                               accelerator->id);

    sl_cluster cluster = {
        .accelerator = *accelerator,
        .nodes = (uint32_t)(pool->nodes > 0 ? pool->nodes : 1),
        .accelerators_per_node = (uint32_t)per_node,
        .oversubscription_ratio =
            pool->oversubscription_ratio > 0 ? pool->oversubscription_ratio : 1,
        .host_memory_bytes = pool->host_memory_bytes,
        .price_per_node_hour = pool->price_per_node_hour,
        .operation = sl_operating_of(pool, notes),
    };
    if (node != NULL)
        take_node(node, notes, &cluster);
    if (pool->nodes == 0)
        sl_notes_add(notes, "nodes_assumed", false, "nodes were not given: 1");
    if (pool->accelerators == 0)
        sl_notes_add(notes, "accelerators_per_node_assumed", false,
                     "accelerators per node were not given: %u, as in %s",
                     cluster.accelerators_per_node, shape->id);
    resolve_overrides(pool, &cluster.accelerator);
    const sl_node_type *const board = sl_pool_board(node, reference, per_node);
    resolve_domain(pool, node, reference, board, &cluster);
    const sl_code pairs = resolve_pairs(pool, catalog, where, board, notes, &cluster, err);
    if (pairs != SL_OK)
        return pairs;
    resolve_nics(pool, node, reference, notes, &cluster);
    resolve_fabric(pool, catalog, shape, notes, &cluster);
    cluster.amd_host = shape != NULL && shape->amd_host;
    note_provenance(catalog, &cluster.accelerator, notes);
    const sl_code power = resolve_power(pool, where, board, notes, &cluster, err);
    if (power != SL_OK)
        return power;
    *out = cluster;
    return SL_OK;
}
