/* Which tensors a method quantised, and the bytes that follow: a module after the other is looked
 * up in the lists of the config. */
#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "hf/modules.h"
#include "hf/quantization.h"

enum { LISTS_BYTES_MAX = 16 << 20 };

typedef struct accounting {
    const sl_hf_quantization *from;
    sl_model *model;
    sl_hf_account *out;
    sl_arena *arena;
    sl_hf_work work;
    sl_hf_modules *kept[SL_HF_KEPT_MAX];
    sl_hf_modules *targets[SL_FORMATS_MAX]; /* NULL = none */
    bool listed;                            /* there is some list */
    bool numbered;                          /* some list may tell experts apart */
    uint32_t first_of[SL_KINDS_MAX];        /* the first kind with the same prefix, where ... */
    uint32_t number[SL_KINDS_MAX];          /* ... the next layer's number is */
} accounting;

static void
refuse(accounting *of, const char *reason)
{
    if (of->out->refused[0] == '\0')
        (void)sl_text_copy(of->out->refused, sizeof of->out->refused, reason);
}

static bool
is_refused(const accounting *of)
{
    return of->out->refused[0] != '\0';
}

/* NULL, with a reason, when the names cannot be read. */
static sl_hf_modules *
open_list(accounting *of, const sl_node *names, const char *algorithm)
{
    char entry[SL_HF_ENTRY_MAX] = "";
    sl_hf_modules *modules =
        sl_hf_modules_new(of->arena, names, algorithm, of->from->whole_names, &of->work, entry);

    of->listed = true;
    if (modules != NULL)
        of->numbered = of->numbered || sl_hf_modules_numbered(modules);
    else if (!is_refused(of))
        (void)sl_text_format(of->out->refused, sizeof of->out->refused, "pattern %s", entry);
    return modules;
}

static void
open_lists(accounting *of)
{
    const sl_hf_quantization *from = of->from;

    of->arena = sl_arena_new(LISTS_BYTES_MAX);
    if (of->arena == NULL) {
        refuse(of, "a list that memory is short for");
        return;
    }
    for (uint32_t i = 0; i < from->kept_count; i++)
        of->kept[i] = open_list(of, &from->kept[i], NULL);
    for (uint32_t i = 0; i < from->group_count; i++) {
        if (!from->groups[i].everywhere)
            of->targets[i] = open_list(of, &from->groups[i].targets, from->groups[i].algorithm);
    }
}

/* Puts `number` where the first hole of `text` is; false when it does not fit. */
static bool
fill_hole(char *out, size_t size, const char *text, uint32_t number)
{
    const char *hole = strstr(text, "{}");
    return hole == NULL
               ? sl_text_copy(out, size, text)
               : sl_text_format(out, size, "%.*s%u%s", (int)(hole - text), text, number, hole + 2);
}

/* "model.layers.{}." of block 3 with "mlp.up_proj.weight" is "model.layers.3.mlp.up_proj". */
static void
module_path(char out[SL_HF_MODULE_PATH_MAX], const sl_layer_kind *kind, const sl_tensor *tensor,
            uint32_t block, uint32_t expert)
{
    char prefix[SL_HF_MODULE_PATH_MAX / 2];
    char name[SL_HF_MODULE_PATH_MAX / 2] = "";

    bool fits = fill_hole(prefix, sizeof prefix, kind->prefix, block) &&
                fill_hole(name, sizeof name, tensor->name, expert);
    sl_hf_module_cut(name);
    fits = fits && sl_text_format(out, SL_HF_MODULE_PATH_MAX, "%s%s", prefix, name);
    assert(fits);
    (void)fits;
}

/* What the lists say of a module. */
typedef struct verdict {
    bool kept;
    bool named[SL_FORMATS_MAX]; /* as a target, up to the first group that has it */
} verdict;

static void
ask(const accounting *of, sl_hf_entries entries, const char *path, verdict *says)
{
    for (uint32_t i = 0; i < of->from->kept_count; i++)
        says->kept = says->kept || sl_hf_modules_name(of->kept[i], entries, path);
    for (uint32_t i = 0; i < of->from->group_count && !says->kept; i++) {
        if (says->named[i])
            break;
        says->named[i] =
            of->targets[i] != NULL && sl_hf_modules_name(of->targets[i], entries, path);
    }
}

/* What the method does where no list names the tensor. */
static sl_hf_reach
reach_of(const sl_hf_quantization *from, const sl_tensor *tensor)
{
    if ((from->experts_only && tensor->component != SL_COMPONENT_ROUTED_EXPERTS) ||
        (from->stacks_kept && tensor->axes > 2))
        return SL_HF_SPARED;
    switch (tensor->component) {
    case SL_COMPONENT_LM_HEAD:
        return from->head ? SL_HF_CONVERTED : SL_HF_SPARED;
    case SL_COMPONENT_ROUTER:
        return from->routers;
    case SL_COMPONENT_EMBEDDING:
    case SL_COMPONENT_NORMS:
    case SL_COMPONENT_OTHER:
        return from->beside;
    case SL_COMPONENT_ATTENTION:
    case SL_COMPONENT_MLP:
    case SL_COMPONENT_ROUTED_EXPERTS:
    case SL_COMPONENT_SHARED_EXPERTS:
    case SL_COMPONENT_STATE_SPACE:
    case SL_COMPONENT_COUNT:
        break;
    }
    return SL_HF_CONVERTED;
}

/* Format of a module, from 1; 0 = it stays. Lists of what to keep come before lists of what to
 * quantise, names before classes. */
static uint32_t
decide(const accounting *of, const verdict *says, sl_hf_reach reach, bool *unsure)
{
    const sl_hf_quantization *from = of->from;

    *unsure = false;
    if (says->kept)
        return 0;
    for (uint32_t i = 0; i < from->group_count; i++) {
        if (says->named[i])
            return i + 1;
    }
    for (uint32_t i = 0; i < from->group_count && reach != SL_HF_SPARED; i++) {
        *unsure = from->groups[i].everywhere && reach == SL_HF_UNSURE;
        if (from->groups[i].everywhere)
            return *unsure ? 0 : i + 1;
    }
    return 0;
}

/* Matrices of a tensor by format, and of the kept ones those that may be quantised. */
typedef struct tally {
    uint64_t count[SL_FORMATS_MAX + 1];
    uint64_t unsure;
} tally;

/* Where a tensor stands. */
typedef struct place {
    const sl_layer_kind *kind;
    const sl_tensor *tensor;
    uint32_t block;
    bool beside; /* in a tower */
} place;

/* Most entries name experts alike whose numbers have equally many digits, and are asked once for
 * 0, 10, 100 ...; the others are asked for each. */
static void
sort_experts(accounting *of, const place *at, sl_hf_reach reach, uint64_t experts, tally *sorted)
{
    char path[SL_HF_MODULE_PATH_MAX];
    verdict common = {0};
    uint64_t next = 0; /* expert whose number has a digit more */
    bool unsure = false;

    for (uint64_t i = 0, end = 0; i < experts && !is_refused(of); i = end) {
        if (of->listed)
            module_path(path, at->kind, at->tensor, at->block, (uint32_t)i);
        if (i == next) {
            next = next == 0 ? 10 : 10 * next;
            common = (verdict){0};
            if (of->listed)
                ask(of, SL_HF_ENTRIES_COMMON, path, &common);
        }
        verdict says = common;
        end = next < experts ? next : experts;
        if (of->numbered && !common.kept) {
            end = i + 1;
            ask(of, SL_HF_ENTRIES_NUMBERED, path, &says);
        }
        const uint32_t format = decide(of, &says, reach, &unsure);
        sorted->count[format] += end - i;
        sorted->unsure += unsure ? end - i : 0;
        if (sl_hf_work_exhausted(&of->work))
            refuse(of, "a list that takes too long to compare");
    }
}

static void
sort_matrices(accounting *of, const place *at, const sl_matrices *matrices, tally *sorted)
{
    const bool apart = at->tensor->experts != 0;
    const uint64_t each = apart ? 1 : matrices->count;

    /* Names of a method that leaves towers alone are of the decoder's own layers. */
    if (at->beside && of->from->beside == SL_HF_SPARED) {
        sorted->count[0] = matrices->count;
        return;
    }
    if (of->numbered && !apart && at->tensor->component == SL_COMPONENT_ROUTED_EXPERTS)
        refuse(of, "a list of single experts where they are one tensor");
    sort_experts(of, at, reach_of(of->from, at->tensor), apart ? matrices->count : 1, sorted);
    for (uint32_t i = 0; i <= SL_FORMATS_MAX; i++)
        sorted->count[i] *= each;
    sorted->unsure *= each;
}

/* Adds `count` of the matrices in a format; the numbers are bounded by those of the whole model. */
static void
add_stored(accounting *of, const sl_matrices *matrices, uint64_t count, uint32_t format)
{
    sl_hf_account *out = of->out;
    const uint64_t elements = count * matrices->outputs * matrices->inputs;
    sl_stored stored = {.weight_bytes = elements * of->model->checkpoint_element_bytes};

    out->parameters[format] += elements;
    if (format != 0 &&
        sl_matrices_stored(matrices, count, &of->model->quantization.formats[format - 1],
                           &stored) != SL_OK) {
        refuse(of, "sizes beyond 64 bits");
        return;
    }
    /* Room is left above every sum of elements, but scales of single weights could fill it. */
    if (stored.scale_bytes > UINT64_MAX / 4 - out->scale_bytes)
        refuse(of, "sizes beyond 64 bits");
    else
        out->scale_bytes += stored.scale_bytes;
    out->bytes += stored.weight_bytes;
}

/* Adds the matrices by format to those of the tensor's copies before. */
static void
account_tensor(accounting *of, const place *at, tally *copies)
{
    sl_hf_account *out = of->out;
    const sl_tensor *tensor = at->tensor;
    tally sorted = {.unsure = 0};
    sl_matrices matrices;
    uint64_t elements = 0;

    if (tensor->tied || tensor->buffer || sl_tensor_elements(tensor, &elements) != SL_OK)
        return;
    if (!sl_tensor_matrices(tensor, &matrices)) {
        out->parameters[0] += elements;
        out->bytes += elements * of->model->checkpoint_element_bytes;
        return;
    }
    sort_matrices(of, at, &matrices, &sorted);
    out->unsure += sorted.unsure * matrices.outputs * matrices.inputs;
    for (uint32_t i = 0; i <= of->from->group_count; i++) {
        copies->count[i] += sorted.count[i];
        if (sorted.count[i] != 0)
            add_stored(of, &matrices, sorted.count[i], i);
    }
}

/* The format that most have, the later one of two. */
static sl_stored_as
stored_as(const tally *copies)
{
    sl_stored_as as = {0};
    uint32_t formats = 0;

    for (uint32_t i = 0; i <= SL_FORMATS_MAX; i++) {
        formats += copies->count[i] != 0;
        if (copies->count[i] != 0 && copies->count[i] >= copies->count[as.format])
            as.format = (uint8_t)i;
    }
    as.mixed = formats > 1;
    return as;
}

/* Layers of the list, or one kind's copies beside it. */
static void
account_layers(accounting *of, uint32_t kind, uint32_t layers, bool beside, sl_stored_as *as)
{
    const sl_layer_kind *own = &of->model->kinds[kind];
    const uint32_t first = of->number[of->first_of[kind]];

    for (uint32_t i = 0; i < own->tensor_count && !is_refused(of); i++) {
        tally copies = {.unsure = 0};
        for (uint32_t layer = 0; layer < layers && !is_refused(of); layer++)
            account_tensor(of, &(place){own, &own->tensors[i], first + layer, beside}, &copies);
        as[i] = stored_as(&copies);
    }
    of->number[of->first_of[kind]] += layers;
}

/* Layers are numbered among those under the same prefix. */
static void
group_prefixes(accounting *of)
{
    const sl_model *model = of->model;

    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        uint32_t first = 0;
        while (!sl_text_equal(model->kinds[first].prefix, model->kinds[kind].prefix))
            first++;
        of->first_of[kind] = first;
    }
}

void
sl_hf_account_model(const sl_hf_quantization *from, sl_model *model, sl_hf_account *out)
{
    assert(from != NULL && model != NULL && out != NULL);

    accounting of = {.from = from, .model = model, .out = out};
    *out = (sl_hf_account){0};
    group_prefixes(&of);
    open_lists(&of);
    for (uint32_t layer = 0; layer < model->layer_count; layer++)
        account_layers(&of, model->layers[layer], 1, false, model->stored_as[layer]);
    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        if (model->beside[kind] != 0)
            account_layers(&of, kind, model->beside[kind], true, model->stored_beside[kind]);
    }
    out->steps = of.work.steps;
    sl_arena_free(of.arena);
}
