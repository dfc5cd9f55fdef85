#include "engine/placement/adapter.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/placement/kept.h"
#include "engine/placement/states.h"

static const double tiny_projections = 64.0; /* of TinyLoRA, PEFT's default */
static const double default_block = 32.0;    /* of OFT without a rank, PEFT's default */

bool
sl_adapter_on(const sl_adapter *adapter)
{
    return adapter->method != SL_ADAPTER_NONE;
}

bool
sl_adapter_has_targets(sl_adapter_method method)
{
    return method != SL_ADAPTER_NONE && method < SL_ADAPTER_LN_TUNING;
}

double
sl_adapter_prompt_tokens(const sl_adapter *adapter)
{
    const bool lengthens =
        adapter->method == SL_ADAPTER_PROMPT_TUNING || adapter->method == SL_ADAPTER_P_TUNING;

    return lengthens ? adapter->virtual_tokens : 0.0;
}

/* Length of the path of a tensor's module: its name without ".weight". */
static size_t
path_length(const char *name)
{
    static const char suffix[] = ".weight";
    const size_t length = strlen(name);
    const size_t own = sizeof suffix - 1;

    return length > own && strcmp(name + length - own, suffix) == 0 ? length - own : length;
}

/* The star met last takes one character more whenever what follows it does not match. */
static bool
matches_whole(const char *pattern, const char *text, const char *end)
{
    const char *star = NULL;
    const char *resume = NULL;

    for (;;) {
        const bool dotted = pattern[0] == '.' && pattern[1] == '*';
        if (dotted || *pattern == '*') {
            pattern += dotted ? 2 : 1;
            star = pattern;
            resume = text;
        } else if (text < end && *pattern == *text) {
            pattern++;
            text++;
        } else if (text == end && *pattern == '\0') {
            return true;
        } else if (star != NULL && resume < end) {
            pattern = star;
            text = ++resume;
        } else {
            return false;
        }
    }
}

bool
sl_adapter_matches(const char *pattern, const sl_tensor *tensor)
{
    const char *const end = tensor->name + path_length(tensor->name);

    for (const char *at = tensor->name; at < end; at++)
        if ((at == tensor->name || at[-1] == '.') && matches_whole(pattern, at, end))
            return true;
    return false;
}

static bool
closes_mlp(const sl_tensor *tensor)
{
    return tensor->cut == SL_CUT_ROW && tensor->component != SL_COMPONENT_ATTENTION;
}

/* Keys, values, or both with the queries in one matrix; and what closes the MLP. */
static bool
scales_by_default(const sl_tensor *tensor)
{
    static const char *const queries[] = {"*.q_*", "*.query", "*.wq", "*.wq_b"};

    if (tensor->component != SL_COMPONENT_ATTENTION || tensor->cut != SL_CUT_COLUMN)
        return closes_mlp(tensor);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        if (sl_adapter_matches(queries[i], tensor))
            return false;
    return true;
}

bool
sl_adapter_targets(const sl_adapter *adapter, const sl_tensor *tensor)
{
    const bool head = tensor->component == SL_COMPONENT_LM_HEAD;
    sl_matrices ignored;

    if (!sl_adapter_has_targets(adapter->method) || !tensor->linear ||
        !sl_tensor_matrices(tensor, &ignored))
        return false;
    if (adapter->target_count == 0)
        return !head && tensor->component != SL_COMPONENT_ROUTER &&
               (adapter->method != SL_ADAPTER_IA3 || scales_by_default(tensor));
    for (uint32_t i = 0; i < adapter->target_count; i++) {
        const bool all = strcmp(adapter->targets[i], "all-linear") == 0;
        if (all ? !head && tensor->component != SL_COMPONENT_ROUTER
                : sl_adapter_matches(adapter->targets[i], tensor))
            return true;
    }
    return false;
}

/* One matrix of a tensor, as a rank has it, and the two halves of its adapter. */
typedef struct matrix {
    double inputs, outputs;
    double half_inputs, half_outputs; /* of the first half; of the second */
    bool leads;                       /* the first half is counted with it */
    double copies;                    /* one for each of its experts */
} matrix;

/* Whether two tensors are multiplied as one in Megatron: q, k and v, or gate and up. */
static bool
shares_module(const sl_tensor *a, const sl_tensor *b)
{
    sl_matrices of_a = {0}, of_b = {0};

    return a->cut == SL_CUT_COLUMN && b->cut == SL_CUT_COLUMN && a->product == b->product &&
           a->component == b->component && a->experts == b->experts &&
           sl_tensor_matrices(a, &of_a) && sl_tensor_matrices(b, &of_b) &&
           of_a.inputs == of_b.inputs;
}

/* Whether the first half of a target is another's: that of an earlier tensor of the same module,
 * all of which are targets. */
static bool
follows(const sl_adapter *adapter, const sl_layer_kind *kind, const sl_tensor *tensor)
{
    bool earlier = false;

    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const sl_tensor *other = &kind->tensors[i];
        if (!shares_module(tensor, other))
            continue;
        if (!sl_adapter_targets(adapter, other))
            return false;
        earlier = earlier || other < tensor;
    }
    return earlier;
}

static matrix
matrix_of(const sl_slice *slice, const sl_layer_kind *kind, const sl_tensor *tensor)
{
    const bool routed = sl_slice_is_routed(tensor);
    const double cut = routed ? slice->expert_tensor : slice->tensor;
    sl_matrices of = {0};
    const bool found = sl_tensor_matrices(tensor, &of);

    assert(found); /* a target is one */
    (void)found;
    matrix out = {
        .inputs = (double)of.inputs / (tensor->cut == SL_CUT_ROW ? cut : 1.0),
        .outputs = (double)of.outputs /
                   (tensor->cut == SL_CUT_COLUMN || tensor->cut == SL_CUT_VOCABULARY ? cut : 1.0),
        .leads = true,
        .copies = (double)of.count / (routed ? slice->expert : 1.0),
    };
    out.half_inputs = out.inputs;
    out.half_outputs = out.outputs;
    if (slice->framework == SL_FRAMEWORK_MEGATRON) {
        out.leads = !follows(slice->adapter, kind, tensor);
        out.half_inputs = out.leads ? (double)of.inputs / cut : 0.0;
        out.half_outputs = (double)of.outputs / cut;
        out.copies = routed ? 1.0 : out.copies;
    }
    return out;
}

/* The divisor of `width` nearest to `wanted`, the smaller one of two as near. Widths have at most
 * 24 bits, and every run of that many has a divisor: 1 at the latest. */
static double
nearest_divisor(double width, double wanted)
{
    const double most = fmin(wanted, width);
    double lower = floor(most);
    double higher = ceil(most);

    while (lower > 1.0 && fmod(width, lower) != 0.0)
        lower--;
    while (higher < width && fmod(width, higher) != 0.0)
        higher++;
    return most - lower <= higher - most ? lower : higher;
}

/* The largest divisor up to the root: what LoKr cuts a side by. */
static double
small_factor(double width)
{
    double factor = floor(sqrt(width));

    while (factor > 1.0 && fmod(width, factor) != 0.0)
        factor--;
    return fmax(factor, 1.0);
}

static double
block_of(const sl_adapter *adapter, double inputs)
{
    if (adapter->block_size > 0)
        return nearest_divisor(inputs, adapter->block_size);
    if (adapter->rank > 0)
        return inputs / nearest_divisor(inputs, adapter->rank);
    return nearest_divisor(inputs, default_block);
}

static double
kronecker_elements(double rank, double inputs, double outputs)
{
    const double in = small_factor(inputs), out = small_factor(outputs);
    const double in_rest = inputs / in, out_rest = outputs / out;
    const bool whole = rank >= fmax(in_rest, out_rest) / 2.0;

    return in * out + (whole ? in_rest * out_rest : rank * (in_rest + out_rest));
}

/* What a method has and keeps beside one matrix; "per row" is for every token it multiplies. */
typedef struct part {
    sl_adapter_count count;
    bool keeps_input;
    double row_floats, row_elements;       /* in the adapter's precision; as computed */
    double weight_floats, weight_elements; /* made of weights in forward */
} part;

static part
part_of(const sl_adapter *adapter, const matrix *of, bool feed_forward)
{
    const double r = adapter->rank, n = of->inputs, m = of->outputs;
    const double least = fmin(n, m), bases = r > 0.0 ? ceil(least / r) : 0.0;
    double block = 0.0;
    part lora = {.count = {.trained = r * (of->half_inputs + of->half_outputs),
                           .factored = 2.0 * r + of->half_inputs + of->half_outputs},
                 .keeps_input = of->leads,
                 .row_floats = of->leads ? r : 0.0};

    switch (adapter->method) {
    case SL_ADAPTER_LORA:
    case SL_ADAPTER_RSLORA:
        return lora;
    case SL_ADAPTER_LORA_FA:
        lora.count = (sl_adapter_count){.trained = r * of->half_outputs,
                                        .factored = r + of->half_outputs,
                                        .frozen = r * of->half_inputs};
        return lora;
    case SL_ADAPTER_DORA:
        lora.count.trained += m;
        lora.count.factored += m;
        lora.count.largest_temporary = 4.0 * n * m + n * n;
        lora.row_floats += m;
        lora.row_elements = m;
        return lora;
    case SL_ADAPTER_ADALORA:
        lora.count.trained += r;
        lora.count.factored += 2.0 * r; /* a matrix of one column */
        lora.weight_floats = r * n;
        return lora;
    case SL_ADAPTER_LOHA:
        return (part){{.trained = 2.0 * r * (n + m),
                       .factored = 2.0 * (2.0 * r + n + m),
                       .largest_temporary = 3.0 * n * m},
                      .keeps_input = true,
                      .weight_floats = n * m};
    case SL_ADAPTER_LOKR:
        return (part){{.trained = kronecker_elements(r, n, m), .largest_temporary = 2.0 * n * m},
                      .keeps_input = true,
                      .weight_floats = n * m};
    case SL_ADAPTER_VERA:
        return (part){{.trained = r + m, .shared_inputs = n, .shared_outputs = m},
                      .row_floats = r + m};
    case SL_ADAPTER_RANDLORA: /* what trains scales the smaller side */
        return (part){{.trained = bases * (r + least), .shared_inputs = n, .shared_outputs = m},
                      .keeps_input = n <= m,
                      .row_floats = n <= m ? 0.0 : bases * r,
                      .weight_floats = bases * r * least};
    case SL_ADAPTER_TINYLORA:
        return (part){
            {.trained = tiny_projections, .buffers = r * (n + m) + tiny_projections * r * r},
            .row_floats = r};
    case SL_ADAPTER_IA3:
        return (part){{.trained = feed_forward ? n : m},
                      .keeps_input = feed_forward,
                      .row_floats = feed_forward ? 0.0 : m};
    case SL_ADAPTER_OFT:
        block = block_of(adapter, n);
        return (part){{.trained = n * (block - 1.0) / 2.0},
                      .keeps_input = true,
                      .weight_floats = 4.0 * n * block};
    case SL_ADAPTER_BOFT:
        block = block_of(adapter, n);
        return (part){{.trained = n * block + m, .largest_temporary = 2.0 * n * m + n * n},
                      .keeps_input = true,
                      .weight_elements = 2.0 * n * n + 2.0 * n * m};
    default: /* nothing beside matrices */
        return (part){0};
    }
}

sl_adapter_count
sl_adapter_of_tensor(const sl_slice *slice, const sl_layer_kind *kind, const sl_tensor *tensor)
{
    const sl_adapter *adapter = slice->adapter;

    if (adapter->method == SL_ADAPTER_LN_TUNING && tensor->component == SL_COMPONENT_NORMS)
        return (sl_adapter_count){.trained = sl_slice_elements(slice, tensor),
                                  .factored = sl_slice_elements(slice, tensor)};
    if (!sl_adapter_targets(adapter, tensor))
        return (sl_adapter_count){0};

    const matrix of = matrix_of(slice, kind, tensor);
    sl_adapter_count count = part_of(adapter, &of, closes_mlp(tensor)).count;

    count.factored = of.copies * (count.factored > 0.0 ? count.factored : count.trained);
    count.trained *= of.copies;
    count.frozen *= of.copies;
    count.buffers *= of.copies;
    return count;
}

double
sl_adapter_shared(const sl_adapter *adapter, double inputs, double outputs)
{
    const double r = adapter->rank;
    const double least = fmin(inputs, outputs);

    if (adapter->method == SL_ADAPTER_VERA)
        return r * (inputs + outputs);
    if (adapter->method == SL_ADAPTER_RANDLORA && r > 0.0)
        return r * least + ceil(least / r) * r * fmax(inputs, outputs);
    return 0.0;
}

double
sl_adapter_of_operator(const sl_slice *slice, const sl_operator *op)
{
    const double tokens = slice->adapter->virtual_tokens;
    const double width = (double)op->outputs;

    if (op->kind == SL_OPERATOR_LOOKUP && slice->adapter->method == SL_ADAPTER_PROMPT_TUNING)
        return tokens * width;
    if (op->kind == SL_OPERATOR_LOOKUP && slice->adapter->method == SL_ADAPTER_P_TUNING)
        return tokens * width + 3.0 * (width * width + width);
    if (op->kind == SL_OPERATOR_ATTENTION && slice->adapter->method == SL_ADAPTER_PREFIX_TUNING)
        return 2.0 * tokens * op->kv_heads * op->head_dim / slice->tensor;
    return 0.0;
}

static bool
feeds(const sl_slice *slice, const sl_operator *op, const sl_tensor *tensor)
{
    const bool head =
        tensor->component == SL_COMPONENT_LM_HEAD && op->component == SL_COMPONENT_OTHER;
    sl_matrices of = {0};

    return tensor->product == op->product && (tensor->component == op->component || head) &&
           tensor->cut == op->cut && sl_adapter_targets(slice->adapter, tensor) &&
           sl_tensor_matrices(tensor, &of) && of.inputs == op->inputs && of.outputs <= op->outputs;
}

static bool
has_pairs(sl_adapter_method method)
{
    return method == SL_ADAPTER_LORA || method == SL_ADAPTER_RSLORA ||
           method == SL_ADAPTER_LORA_FA || method == SL_ADAPTER_DORA ||
           method == SL_ADAPTER_ADALORA;
}

uint32_t
sl_adapter_pairs(const sl_slice *slice, const sl_layer_kind *kind, const sl_operator *op,
                 sl_adapter_pair pairs[SL_ADAPTER_PAIRS_MAX])
{
    uint32_t count = 0;

    if (!has_pairs(slice->adapter->method))
        return 0;
    for (uint32_t i = 0; i < kind->tensor_count && count < SL_ADAPTER_PAIRS_MAX; i++) {
        if (!feeds(slice, op, &kind->tensors[i]))
            continue;
        const matrix of = matrix_of(slice, kind, &kind->tensors[i]);
        pairs[count++] = (sl_adapter_pair){of.half_inputs, of.half_outputs, of.copies};
    }
    return count;
}

bool
sl_adapter_half_by_default(const sl_workload *workload)
{
    return (workload->framework == SL_FRAMEWORK_MEGATRON ||
            workload->framework == SL_FRAMEWORK_DEEPSPEED) &&
           sl_precision_bytes(workload->precision) < 4.0;
}

bool
sl_adapter_autocast_by_default(const sl_workload *workload)
{
    return sl_framework_is_fsdp(workload->framework);
}

bool
sl_adapter_casts(const sl_adapter *adapter, double element_bytes)
{
    /* BOFT multiplies in the precision of the base, and so do fused kernels. */
    return sl_adapter_has_targets(adapter->method) && adapter->method != SL_ADAPTER_BOFT &&
           !adapter->fused && sl_adapter_element_bytes(adapter) != element_bytes;
}

/* A base with an fp32 rest trains under it, too. */
static bool
under_autocast(const sl_adapter *adapter)
{
    return adapter->autocast || adapter->wide_rest;
}

double
sl_adapter_multiplied_bytes(const sl_adapter *adapter, double element_bytes)
{
    return sl_adapter_casts(adapter, element_bytes) && !under_autocast(adapter)
               ? sl_adapter_element_bytes(adapter)
               : element_bytes;
}

bool
sl_adapter_gathers(const sl_adapter *adapter, sl_framework framework, double spread)
{
    return sl_adapter_has_targets(adapter->method) && framework == SL_FRAMEWORK_MEGATRON &&
           spread > 1.0 && !adapter->regathers;
}

bool
sl_adapter_drops(sl_adapter_method method)
{
    return method == SL_ADAPTER_LORA || method == SL_ADAPTER_RSLORA || method == SL_ADAPTER_ADALORA;
}

/* The input of a product as its adapters multiply it, in elements: what all ranks have of a product
 * is multiplied with a rank's part of the sequence in Megatron, everything else with all of it. */
static double
multiplied_input(const sl_slice *slice, const sl_operator *op)
{
    const bool parts = op->cut == SL_CUT_REPLICATED && slice->framework == SL_FRAMEWORK_MEGATRON;

    return sl_slice_inputs(slice, op) * sl_slice_rows(slice, op) / (parts ? slice->spread : 1.0);
}

/* Whether sequence parallelism leaves a rank a part of what the product reads whole. */
static bool
reads_gathered(const sl_operator *op)
{
    return op->cut != SL_CUT_ROW && op->cut != SL_CUT_REPLICATED && op->experts == 0;
}

/* Of a product, for the adapters of `matrices` of its matrices that need it. */
static double
input_kept_bytes(const sl_slice *slice, const sl_operator *op, uint32_t matrices)
{
    static const double mask_bytes = 1.0;
    const sl_adapter *adapter = slice->adapter;
    const bool casts = sl_adapter_casts(adapter, slice->element_bytes);
    const double own = sl_adapter_multiplied_bytes(adapter, slice->element_bytes);
    const double whole = multiplied_input(slice, op);
    const bool gathered =
        sl_adapter_gathers(adapter, slice->framework, slice->spread) && reads_gathered(op);

    if (adapter->dropout_ratio > 0.0)
        return (own + mask_bytes) * whole * matrices;
    if (casts)
        return own * whole * matrices;
    return sl_slice_saved_bytes(slice, op) + (gathered ? slice->element_bytes * whole : 0.0);
}

static double
product_kept_bytes(const sl_slice *slice, const sl_layer_kind *kind, const sl_operator *op)
{
    const double own = under_autocast(slice->adapter) ? slice->element_bytes
                                                      : sl_adapter_element_bytes(slice->adapter);
    const double rows = sl_slice_rows(slice, op);
    uint32_t matrices = 0;
    double bytes = 0.0;

    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const sl_tensor *tensor = &kind->tensors[i];
        if (!feeds(slice, op, tensor))
            continue;
        const matrix of = matrix_of(slice, kind, tensor);
        const part one = part_of(slice->adapter, &of, closes_mlp(tensor));
        bytes += own * (rows * one.row_floats + of.copies * one.weight_floats);
        bytes += slice->element_bytes * (rows * one.row_elements + of.copies * one.weight_elements);
        matrices += one.keeps_input;
    }
    bytes += matrices > 0 ? input_kept_bytes(slice, op, matrices) : 0.0;
    /* What adapters keep is of their own making, or the input itself. */
    const bool made = slice->adapter->dropout_ratio > 0.0 ||
                      sl_adapter_casts(slice->adapter, slice->element_bytes);
    const bool keeps =
        slice->adapter->base_keeps_inputs && slice->adapter->base != SL_ADAPTER_BASE_BF16;
    return bytes + (keeps && (matrices == 0 || made) ? sl_slice_saved_bytes(slice, op) : 0.0);
}

double
sl_adapter_kept_bytes(const sl_slice *slice, const sl_layer_kind *kind, const sl_operator *op)
{
    const double saved = sl_slice_saved_bytes(slice, op);

    if (op->kind == SL_OPERATOR_MATMUL)
        return product_kept_bytes(slice, kind, op);
    if (op->kind == SL_OPERATOR_ATTENTION)
        return saved + slice->element_bytes * slice->sequences * sl_adapter_of_operator(slice, op);
    return saved;
}

double
sl_adapter_regathered_bytes(const sl_slice *slice, const sl_layer_kind *kind, const sl_operator *op)
{
    bool adapted = false;

    if (!slice->adapter->regathers || slice->spread <= 1.0 || op->kind != SL_OPERATOR_MATMUL ||
        !reads_gathered(op))
        return 0.0;
    for (uint32_t i = 0; i < kind->tensor_count; i++)
        adapted = adapted || feeds(slice, op, &kind->tensors[i]);
    return adapted
               ? slice->element_bytes * multiplied_input(slice, op) * (1.0 + 1.0 / slice->spread)
               : 0.0;
}

double
sl_adapter_stream_bytes(const sl_slice *slice)
{
    return sl_adapter_on(slice->adapter) && slice->adapter->wide_rest ? 4.0 : slice->element_bytes;
}

double
sl_adapter_element_bytes(const sl_adapter *adapter)
{
    return adapter->half ? 2.0 : 4.0;
}

double
sl_adapter_scale_bytes(sl_adapter_base base)
{
    switch (base) {
    case SL_ADAPTER_BASE_NF4:
        return 4.0 / 64.0;
    case SL_ADAPTER_BASE_NF4_DOUBLE:
        return 1.0 / 64.0 + 4.0 / (64.0 * 256.0);
    default: /* int8: one for a row */
        return 0.0;
    }
}

double
sl_adapter_base_bytes(sl_adapter_base base)
{
    switch (base) {
    case SL_ADAPTER_BASE_BF16:
        return 2.0;
    case SL_ADAPTER_BASE_INT8:
        return 1.0;
    case SL_ADAPTER_BASE_NF4:
    case SL_ADAPTER_BASE_NF4_DOUBLE:
        return 0.5 + sl_adapter_scale_bytes(base);
    case SL_ADAPTER_BASE_COUNT:
        break;
    }
    assert(false);
    return 2.0;
}

double
sl_adapter_rest_bytes(const sl_adapter *adapter)
{
    return adapter->wide_rest ? 4.0 : 2.0;
}
