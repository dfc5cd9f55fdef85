#include "codec/question/varied.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "json/patch.h"
#include "json/writer.h"

enum { CHOICES_MAX = 36, CHANGES_BYTES_MAX = 64 << 10, DOCUMENT_BYTES_MAX = 2 << 20 };

static const uint32_t LEFT_OUT = UINT32_MAX;

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The first are usual ones, with which hints speak; no rule takes all of them alike. */
static const char *const degrees[] = {"1", "2", "4", "3", "8", "5", NULL};
static const char *const several[] = {"16", "1", "2", "3", "8", "5", NULL};
static const char *const inside[] = {"8", "1", "2", "3", "4", "6", NULL};
static const char *const lengths[] = {"40320", "2048", "1000", "8191", "64", NULL};
static const char *const batches[] = {"40320", "4096", "1000", "999", "1", NULL};
static const char *const frameworks[] = {"\"megatron\"",  "\"ddp\"", "\"fsdp1\"", "\"fsdp2\"",
                                         "\"deepspeed\"", "\"dp\"",  NULL};
static const char *const precisions[] = {"\"bf16\"", "\"fp16\"",  "\"fp32\"",
                                         "\"fp8\"",  "\"mxfp8\"", NULL};
static const char *const schedules[] = {"\"1f1b\"",  "\"interleaved_1f1b\"", "\"zb_v\"",
                                        "\"naive\"", "\"dualpipe\"",         NULL};
static const char *const kinds[] = {"\"p2p\"", "\"a2a\"", "\"allgather\"", NULL};
static const char *const works[] = {"\"pretraining\"", "\"finetuning\"", NULL};
static const char *const accountings[] = {"\"exact\"", "\"mixed-2-2-12\"", NULL};
static const char *const parts[] = {"\"nvidia-h100-sxm5-80gb\"", "\"nvidia-v100-sxm2-32gb\"",
                                    "\"nvidia-b200-sxm-180gb\"", NULL};
static const char *const workloads[] = {"{\"sequence_length\":40320,\"global_batch_size\":40320}",
                                        "{\"sequence_length\":1000,\"global_batch_size\":999}",
                                        NULL};
static const char *const clusters[] = {
    "{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"nodes\":16}",
    "{\"accelerator\":\"nvidia-v100-sxm2-32gb\",\"nodes\":5,\"accelerators_per_node\":3}",
    "{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"nodes\":1,\"accelerators_per_node\":1}", NULL};

/* Members that are more than left out; with no member, a part as a whole. What another member says,
 * too, is left out beside it. */
static const struct varied {
    const char *part, *member;
    const char *const *values;
    const char *beside;
} table[] = {
    {"parallelism", "tensor", degrees, NULL},
    {"parallelism", "pipeline", degrees, NULL},
    {"parallelism", "virtual_pipeline", degrees, NULL},
    {"parallelism", "context", degrees, NULL},
    {"parallelism", "context_kind", kinds, NULL},
    {"parallelism", "expert", degrees, NULL},
    {"parallelism", "expert_tensor", degrees, NULL},
    {"parallelism", "schedule", schedules, NULL},
    {"parallelism", "shard_group", degrees, NULL},
    {"parallelism", "replicate", degrees, NULL},
    {"workload", "", workloads, NULL},
    {"workload", "kind", works, NULL},
    {"workload", "framework", frameworks, NULL},
    {"workload", "sequence_length", lengths, NULL},
    {"workload", "global_batch_size", batches, "gradient_accumulation"},
    {"workload", "precision", precisions, NULL},
    {"workload", "accounting", accountings, NULL},
    {"cluster", "", clusters, NULL},
    {"cluster", "accelerator", parts, "node_type"},
    {"cluster", "nodes", several, NULL},
    {"cluster", "accelerators_per_node", inside, "accelerators"},
    {"cluster", "accelerators", inside, "accelerators_per_node"},
};

/* A member without which nothing is known of a cluster. */
static bool
is_whole_cluster(const char *part, const char *member)
{
    static const char *const names[] = {"inventory", "pool", "pools", "hosts"};

    return sl_text_equal(part, "cluster") && sl_text_index(member, names, COUNT(names)) >= 0;
}

/* A token of a pointer, which ends at the next one; "" where there is none or no room for it. */
static const char *
take_token(const char *at, char out[SL_PLACE_NAME_SIZE])
{
    size_t used = 0;

    out[0] = '\0';
    if (*at != '/')
        return at;
    for (at++; *at != '\0' && *at != '/' && used + 1 < SL_PLACE_NAME_SIZE; at++) {
        const bool escaped = *at == '~' && (at[1] == '0' || at[1] == '1');
        out[used++] = !escaped ? *at : at[1] == '0' ? '~' : '/';
        at += escaped;
    }
    out[*at == '\0' || *at == '/' ? used : 0] = '\0';
    return at;
}

static bool
has(const sl_node *root, const char *part, const char *member)
{
    sl_node object, found;

    return sl_node_member(root, part, &object) && sl_node_kind(&object) == SL_JSON_OBJECT &&
           sl_node_member(&object, member, &found);
}

static sl_place *
find(sl_places *places, const char *part, const char *member)
{
    for (uint32_t i = 0; i < places->count; i++)
        if (sl_text_equal(places->list[i].part, part) &&
            sl_text_equal(places->list[i].member, member))
            return &places->list[i];
    return NULL;
}

static void
add(sl_places *places, const char *part, const char *member, bool misspelt)
{
    sl_place place = {.misspelt = misspelt};
    const char *beside = NULL;

    if (places->count == SL_PLACES_MAX || find(places, part, member) != NULL)
        return;
    for (size_t i = 0; i < COUNT(table); i++)
        if (sl_text_equal(table[i].part, part) && sl_text_equal(table[i].member, member)) {
            place.values = table[i].values;
            beside = table[i].beside;
        }
    (void)sl_text_copy(place.part, sizeof place.part, part);
    (void)sl_text_copy(place.member, sizeof place.member, member);
    places->list[places->count++] = place;
    if (beside != NULL)
        add(places, part, beside, false);
}

/* What a name that is not known may have meant: the nearest one, or a degree that is not there. */
static void
add_meant(sl_places *places, const sl_node *root, const char *part, const char *hint)
{
    static const char *const plan[] = {"tensor", "pipeline", "context"};
    const bool named = strchr(hint, ',') == NULL;

    if (named && !has(root, part, hint))
        add(places, part, is_whole_cluster(part, hint) ? "" : hint, true);
    for (size_t i = 0; i < COUNT(plan) && !named && sl_text_equal(part, "parallelism"); i++)
        if (!has(root, part, plan[i]))
            add(places, part, plan[i], false);
}

void
sl_places_add(sl_places *places, const sl_node *root, const sl_error *fault)
{
    assert(places != NULL && root != NULL && fault != NULL);

    char part[SL_PLACE_NAME_SIZE], member[SL_PLACE_NAME_SIZE];
    const char *const rest = take_token(take_token(fault->pointer, part), member);
    const bool of_parts = sl_text_equal(part, "workload") || sl_text_equal(part, "cluster") ||
                          sl_text_equal(part, "parallelism") || sl_text_equal(part, "model");

    /* A name that is longer than any of ours stands for no member. */
    if (*part == '\0' || (*member == '\0' && strchr(fault->pointer + 1, '/') != NULL))
        return;
    if (!of_parts || is_whole_cluster(part, member))
        member[0] = '\0';
    add(places, part, member, false);
    if (*member != '\0' && *rest == '\0' && sl_text_equal(fault->rule, "unknown_field"))
        add_meant(places, root, part, fault->hint);
    if (sl_text_equal(member, "node_type") && !has(root, part, "accelerator"))
        add(places, part, "accelerator", false);
}

/* The text behind the place that the pointer begins with; NULL where it does not. */
static const char *
behind(const sl_place *place, const char *pointer)
{
    char own[2 * SL_PLACE_NAME_SIZE + 2];

    (void)sl_text_format(own, sizeof own, "/%s%s%s", place->part, *place->member == '\0' ? "" : "/",
                         place->member);
    const size_t length = strlen(own);
    return strncmp(pointer, own, length) == 0 ? pointer + length : NULL;
}

bool
sl_places_touch(const sl_places *places, const char *pointer)
{
    assert(places != NULL && pointer != NULL);

    for (uint32_t i = 0; i < places->count; i++) {
        const char *const rest = behind(&places->list[i], pointer);
        if (rest != NULL && (*rest == '\0' || *rest == '/'))
            return true;
        if (sl_text_equal(pointer, "/model") && sl_text_equal(places->list[i].part, "model"))
            return true; /* without the member that names it there is none */
    }
    return false;
}

bool
sl_places_misspelt(const sl_places *places, const char *pointer)
{
    assert(places != NULL && pointer != NULL);

    for (uint32_t i = 0; i < places->count; i++) {
        const char *const rest = behind(&places->list[i], pointer);
        if (places->list[i].misspelt && rest != NULL && *rest == '\0')
            return true;
    }
    return false;
}

static uint32_t
count_values(const sl_place *place)
{
    uint32_t count = 0;

    while (place->values != NULL && place->values[count] != NULL)
        count++;
    return count;
}

uint32_t
sl_places_choices(const sl_places *places)
{
    uint32_t product = 1;

    assert(places != NULL);
    for (uint32_t i = 0; i < places->count; i++) {
        const uint32_t own = count_values(&places->list[i]);
        product *= own > 1 && product * own <= CHOICES_MAX ? own : 1;
    }
    return product;
}

/* Which of its values a place takes: all first ones at first; the first two places that choose take
 * every pair, as the one may rule out much of the other, and the rest take turns beside them, with
 * both, so that what one of them rules out leaves the rest several values. */
static uint32_t
value_at(const sl_places *places, uint32_t at, uint32_t choice)
{
    const uint32_t own = count_values(&places->list[at]);
    uint32_t before = 1, choosing = 0, turn = at;

    for (uint32_t i = 0; i < at; i++) {
        const uint32_t count = count_values(&places->list[i]);
        if (count <= 1)
            continue;
        if (choosing < 2) {
            turn += choice / before % count;
            before *= count;
        }
        choosing++;
    }
    if (choosing < 2)
        return choice / before % own;
    return choice == 0 ? 0 : (turn + choice / before) % own;
}

static void
write_value(const sl_places *places, uint32_t at, uint32_t choice, sl_writer *writer)
{
    const sl_place *const place = &places->list[at];
    const bool left_out = choice == LEFT_OUT || count_values(place) == 0;
    const char *const value = left_out ? "null" : place->values[value_at(places, at, choice)];

    sl_write_raw(writer, value, strlen(value));
}

/* One part, where its first place is met. */
static void
write_part(const sl_places *places, uint32_t at, uint32_t choice, sl_writer *writer)
{
    const char *const part = places->list[at].part;

    for (uint32_t i = 0; i < at; i++)
        if (sl_text_equal(places->list[i].part, part))
            return;
    sl_write_key(writer, part);
    for (uint32_t i = at; i < places->count; i++)
        if (sl_text_equal(places->list[i].part, part) && *places->list[i].member == '\0') {
            write_value(places, i, choice, writer);
            return;
        }
    sl_write_object(writer);
    for (uint32_t i = at; i < places->count; i++)
        if (sl_text_equal(places->list[i].part, part)) {
            sl_write_key(writer, places->list[i].member);
            write_value(places, i, choice, writer);
        }
    sl_write_object_end(writer);
}

static const sl_json_limits limits = {
    .max_bytes = DOCUMENT_BYTES_MAX, .max_depth = 32, .parsed_before = true};

/* *out: the text, as a choice of values changes it. */
static bool
change(const char *text, const sl_places *places, uint32_t choice, sl_buffer *out)
{
    sl_buffer changes;
    sl_writer writer;
    sl_errors unseen = {0};

    sl_buffer_init(out, DOCUMENT_BYTES_MAX);
    sl_buffer_init(&changes, CHANGES_BYTES_MAX);
    sl_writer_init(&writer, &changes);
    sl_write_object(&writer);
    for (uint32_t i = 0; i < places->count; i++)
        write_part(places, i, choice, &writer);
    sl_write_object_end(&writer);
    const sl_patch patch = {changes.data, changes.size};
    const bool changed =
        sl_writer_ok(&writer) && sl_json_merge_patch(text, &patch, &limits, out, &unseen) == SL_OK;
    sl_buffer_clear(&changes);
    return changed && !out->failed;
}

sl_json *
sl_varied_document(const char *text, const sl_places *places, uint32_t choice, sl_node *root)
{
    assert(text != NULL && places != NULL && root != NULL);

    sl_buffer without, varied;
    sl_errors unseen = {0};
    sl_json *json = NULL;

    /* What is there goes first: an object that it is would only be added to. */
    sl_buffer_init(&varied, DOCUMENT_BYTES_MAX);
    if (change(text, places, LEFT_OUT, &without) && change(without.data, places, choice, &varied) &&
        sl_json_parse(varied.data, varied.size, &limits, &json, &unseen) == SL_OK)
        *root = sl_json_root(json);
    sl_buffer_clear(&without);
    sl_buffer_clear(&varied);
    return json;
}
