/* The boxes of one tensor: cut by tensor and expert rank, then by the data group. */
#include "engine/placement/sharding.h"

#include <assert.h>

static uint64_t
least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Part `number` of `length`, cut into ceil(length / ranks) each: the last ones may be short. */
static sl_range
even_cut(uint64_t length, uint64_t ranks, uint64_t number)
{
    const uint64_t each = sl_ceil_div(length, ranks);
    const uint64_t begin = least(each * number, length);

    return (sl_range){begin, least(begin + each, length)};
}

static uint64_t
length_of(sl_range range)
{
    return range.end - range.begin;
}

static bool
is_cut(const sl_sharded_tensor *tensor)
{
    return tensor->tensor->cut != SL_CUT_REPLICATED;
}

/* Experts of one rank where they share a tensor: blocks of the cut axis, or rows of a stack. */
static sl_range
experts_of(const sl_sharding *sharding, const sl_sharded_tensor *tensor, uint32_t expert_rank)
{
    const bool stacked = tensor->blocks == 1;
    const uint64_t all = stacked ? tensor->tensor->shape[0] : tensor->blocks;

    if (!tensor->expert_placed || tensor->tensor->experts != 0)
        return (sl_range){0, all};
    return even_cut(all, sharding->question->plan.expert, expert_rank);
}

static uint32_t
cut_ranks(const sl_sharding *sharding, const sl_sharded_tensor *tensor)
{
    return sl_sharding_cut_ranks(sharding, sl_sharding_routes(sharding, tensor->tensor));
}

/* Of one block of the cut axis, what a tensor rank holds, all parts together; padding included. */
static uint64_t
block_length(const sl_sharding *sharding, const sl_sharded_tensor *tensor, uint32_t tensor_rank)
{
    uint64_t length = 0;

    for (uint32_t i = 0; i < tensor->part_count; i++)
        length += length_of(even_cut(tensor->parts[i], cut_ranks(sharding, tensor), tensor_rank));
    return length;
}

/* What a rank holds of one axis before the data group cuts it. */
static uint64_t
axis_length(const sl_sharding *sharding, const sl_sharded_tensor *tensor, uint32_t tensor_rank,
            uint32_t expert_rank, uint32_t axis)
{
    const bool cut = is_cut(tensor) && tensor->tensor->cut_axis == axis;
    const uint64_t own = cut ? block_length(sharding, tensor, tensor_rank) : 0;

    if (axis > 0)
        return cut ? own : tensor->tensor->shape[axis];

    const uint64_t experts = length_of(experts_of(sharding, tensor, expert_rank));

    return !cut ? experts : own * (tensor->blocks == 1 ? 1 : experts);
}

static void
measure(const sl_sharding *sharding, const sl_sharded_tensor *tensor, uint32_t tensor_rank,
        uint32_t expert_rank, uint32_t along, uint64_t *rows, uint64_t *row)
{
    *rows = axis_length(sharding, tensor, tensor_rank, expert_rank, along);
    *row = 1;
    for (uint32_t axis = 0; axis < tensor->tensor->axes; axis++)
        if (axis != along)
            *row *= axis_length(sharding, tensor, tensor_rank, expert_rank, axis);
}

uint64_t
sl_sharding_allocated(const sl_sharding *sharding, const sl_sharded_tensor *tensor,
                      uint32_t tensor_rank, uint32_t expert_rank)
{
    uint64_t rows = 0;
    uint64_t row = 0;

    measure(sharding, tensor, tensor_rank, expert_rank, 0, &rows, &row);
    return rows * row;
}

uint32_t
sl_sharding_part_count(const sl_sharded_tensor *tensor)
{
    return tensor->tensor_cut * tensor->expert_cut;
}

/* Over how many ranks the data group cuts the tensor itself. */
static uint32_t
degree_of(const sl_sharding *sharding, const sl_sharded_tensor *tensor)
{
    return sharding->mode.parameters
               ? sl_sharding_degree(sharding, sl_sharding_routes(sharding, tensor->tensor))
               : 1;
}

static uint32_t
sharded_axis(const sl_sharding *sharding, const sl_sharded_tensor *tensor, uint32_t degree)
{
    return sharding->mode.kind == SL_SHARDING_AXIS_0
               ? sl_slice_shard_axis(sharding->question->software, tensor->tensor,
                                     sharding->question->plan.expert, degree)
               : 0;
}

/* Boxes of a part: of every part of every block that is cut, or one where nothing is. */
static uint64_t
count_pieces(const sl_sharding *sharding, const sl_sharded_tensor *tensor, uint32_t expert_rank)
{
    if (!is_cut(tensor) || cut_ranks(sharding, tensor) == 1)
        return 1;
    return tensor->part_count *
           (tensor->blocks == 1 ? 1 : length_of(experts_of(sharding, tensor, expert_rank)));
}

/* Elements that the checkpoint has, of all boxes of a part. */
static uint64_t
real_elements(const sl_sharding *sharding, const sl_sharded_tensor *tensor,
              const sl_tensor_part *part)
{
    const sl_shard whole = {.rows = {0, part->rows}};
    sl_range box[SL_TENSOR_AXES_MAX];
    uint64_t elements = 0;

    for (uint64_t i = 0; i < part->pieces; i++) {
        uint64_t volume = 1;
        if (!sl_sharding_piece(sharding, tensor, part, &whole, i, box))
            continue;
        for (uint32_t axis = 0; axis < tensor->tensor->axes; axis++)
            volume *= length_of(box[axis]);
        elements += volume;
    }
    return elements;
}

/* Where the data group cuts the part, if it does. */
static void
cut_part(const sl_sharding *sharding, const sl_sharded_tensor *tensor, uint32_t degree,
         sl_tensor_part *part)
{
    const uint64_t size = part->rows * part->row;
    uint64_t unit = 0;

    part->shard_count = degree;
    if (degree == 1)
        return;
    if (sharding->mode.kind == SL_SHARDING_AXIS_0) {
        part->shard_rows = sl_ceil_div(part->rows, degree);
        return;
    }
    if (sl_sharding_is_alone(sharding)) {
        part->shard_flat = sl_ceil_div(size, degree);
        part->alone = true;
        return;
    }
    part->flat_offset =
        sl_sharding_flat_offset(sharding, tensor, part->tensor_rank, part->expert_rank, &unit);
    part->shard_flat = sl_ceil_div(unit, degree);
    part->first_shard = size == 0 ? 0 : part->flat_offset / part->shard_flat;
    part->shard_count =
        size == 0 ? 0 : (part->flat_offset + size - 1) / part->shard_flat - part->first_shard + 1;
}

sl_tensor_part
sl_sharding_part(const sl_sharding *sharding, const sl_sharded_tensor *tensor, uint32_t number)
{
    assert(number < sl_sharding_part_count(tensor));

    const uint32_t degree = degree_of(sharding, tensor);
    sl_tensor_part part = {
        .tensor_rank = number / tensor->expert_cut,
        .expert_rank = tensor->expert_from + number % tensor->expert_cut,
        .axis = sharded_axis(sharding, tensor, degree),
    };
    const sl_rank_place first = {
        .stage = tensor->stage,
        .tensor_rank = part.tensor_rank,
        .expert_rank = part.expert_rank,
        .degree = degree,
        .whole_tensor = tensor->tensor_cut == 1,
        .placed = tensor->expert_placed,
    };

    measure(sharding, tensor, part.tensor_rank, part.expert_rank, part.axis, &part.rows, &part.row);
    part.pieces = count_pieces(sharding, tensor, part.expert_rank);
    part.elements = real_elements(sharding, tensor, &part);
    part.ranks = sl_sharding_ranks(sharding, &first, &part.ranks_apart);
    cut_part(sharding, tensor, degree, &part);
    return part;
}

/* Elements of a shard that is neither the first of a flat tensor's nor a last one. */
static uint64_t
shard_length(const sl_tensor_part *part)
{
    return part->shard_flat != 0   ? part->shard_flat
           : part->shard_rows != 0 ? part->shard_rows * part->row
                                   : part->rows * part->row;
}

sl_shard
sl_sharding_shard(const sl_tensor_part *part, uint64_t number)
{
    assert(number - part->first_shard < part->shard_count);

    const uint64_t size = part->rows * part->row;
    const uint64_t length = shard_length(part);
    const uint64_t begin = number * length;
    sl_shard shard = {
        .ranks = part->ranks,
        .rows = {0, part->rows},
        .flat = {0, size},
    };
    uint64_t allocated = length;

    shard.ranks.first += number * part->ranks_apart;
    if (part->shard_rows != 0) {
        shard.rows.begin = least(number * part->shard_rows, part->rows);
        shard.rows.end = least(shard.rows.begin + part->shard_rows, part->rows);
        shard.flat = (sl_range){shard.rows.begin * part->row, shard.rows.end * part->row};
    } else if (part->shard_flat != 0) {
        shard.flat.begin = begin > part->flat_offset ? least(begin - part->flat_offset, size) : 0;
        shard.flat.end = least(begin + length - part->flat_offset, size);
        allocated = part->alone ? length : length_of(shard.flat);
    }
    /* Padding rows are the last ones. */
    shard.elements =
        least(shard.flat.end, part->elements) - least(shard.flat.begin, part->elements);
    shard.padding_elements = allocated - shard.elements;
    return shard;
}

uint64_t
sl_sharding_alike(const sl_tensor_part *part, uint64_t number)
{
    assert(number - part->first_shard < part->shard_count);

    const uint64_t left = part->first_shard + part->shard_count - number;
    const uint64_t length = shard_length(part);
    const uint64_t begin = number * length;

    if (begin < part->flat_offset)
        return 1;
    /* Whole ones up to the padding; from there on padding alone, to the last where it is the
     * tensor's. */
    const uint64_t at = begin - part->flat_offset;
    const bool padding = at >= part->elements;
    if (padding && (part->shard_flat == 0 || part->alone))
        return left;
    const uint64_t whole = ((padding ? part->rows * part->row : part->elements) - at) / length;
    return whole > 1 ? least(whole, left) : 1;
}

/* Range of the cut axis that box `piece` is of; *at is where it begins in the rows of the part. */
static sl_range
cut_range(const sl_sharding *sharding, const sl_sharded_tensor *tensor, const sl_tensor_part *part,
          uint64_t piece, uint64_t *at)
{
    const uint32_t t = cut_ranks(sharding, tensor);
    const uint64_t nth = piece / tensor->part_count;
    const sl_range experts =
        tensor->blocks == 1 ? (sl_range){0, 1} : experts_of(sharding, tensor, part->expert_rank);
    uint64_t block = 0;

    for (uint32_t i = 0; i < tensor->part_count; i++)
        block += tensor->parts[i];
    *at = 0;
    if (t == 1)
        return (sl_range){experts.begin * block, experts.end * block};
    uint64_t base = (experts.begin + nth) * block;
    *at = nth * block_length(sharding, tensor, part->tensor_rank);
    for (uint32_t i = 0; i < piece % tensor->part_count; i++) {
        base += tensor->parts[i];
        *at += length_of(even_cut(tensor->parts[i], t, part->tensor_rank));
    }
    const sl_range own = even_cut(tensor->parts[piece % tensor->part_count], t, part->tensor_rank);
    return (sl_range){base + own.begin, base + own.end};
}

/* Of a range that begins at row `at` of the part, what the shard's rows hold. */
static sl_range
keep_rows(sl_range range, uint64_t at, sl_range rows)
{
    const uint64_t end = at + length_of(range);
    const uint64_t first = rows.begin > at ? least(rows.begin, end) : at;
    const uint64_t last = rows.end > first ? least(rows.end, end) : first;

    return (sl_range){range.begin + (first - at), range.begin + (last - at)};
}

bool
sl_sharding_piece(const sl_sharding *sharding, const sl_sharded_tensor *tensor,
                  const sl_tensor_part *part, const sl_shard *shard, uint64_t piece,
                  sl_range out[SL_TENSOR_AXES_MAX])
{
    const sl_tensor *whole = tensor->tensor;
    const bool by_rows = is_cut(tensor) && whole->cut_axis == 0;
    uint64_t at = 0;
    bool filled = true;

    assert(piece < part->pieces);
    for (uint32_t axis = 0; axis < whole->axes; axis++)
        out[axis] = (sl_range){0, whole->shape[axis]};
    if (!by_rows)
        out[0] = experts_of(sharding, tensor, part->expert_rank);
    if (is_cut(tensor)) {
        const sl_range range = cut_range(sharding, tensor, part, piece, &at);
        out[whole->cut_axis] = range;
    }
    const bool along_cut = is_cut(tensor) && whole->cut_axis == part->axis;
    out[part->axis] = keep_rows(out[part->axis], along_cut ? at : 0, shard->rows);
    for (uint32_t axis = 0; axis < whole->axes; axis++) {
        out[axis].begin = least(out[axis].begin, whole->shape[axis]);
        out[axis].end = least(out[axis].end, whole->shape[axis]);
        filled = filled && out[axis].begin < out[axis].end;
    }
    return filled;
}
