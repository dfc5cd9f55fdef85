#include "engine/price/guesses.h"

#include <math.h>
#include <stddef.h>

#include "engine/placement/attended.h"
#include "engine/price/kernel.h"

static double
work_of(const sl_guess *g)
{
    return g->batch * g->m * g->n * g->k;
}

static bool
is_same(const sl_guess *a, const sl_guess *b)
{
    return a->batch == b->batch && a->m == b->m && a->n == b->n && a->k == b->k;
}

/* Into a list that is sorted by work; the smallest falls out when it is full. */
static void
insert(sl_estimate *out, sl_guess guess)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < out->guess_count; i++)
        if (is_same(&out->guesses[i], &guess))
            return;
    while (at < out->guess_count && work_of(&out->guesses[at]) >= work_of(&guess))
        at++;
    if (at == SL_GUESSES_MAX)
        return;
    if (out->guess_count < SL_GUESSES_MAX)
        out->guess_count++;
    for (uint32_t i = out->guess_count - 1; i > at; i--)
        out->guesses[i] = out->guesses[i - 1];
    out->guesses[at] = guess;
}

/* Scores that are kept whole are products of a head's width; fused kernels pad it. */
static bool
is_unaligned(const sl_slice *slice, const sl_operator *op)
{
    if (op->kind == SL_OPERATOR_ATTENTION)
        return slice->attention == SL_ATTENTION_UNFUSED &&
               sl_kernel_scores_alignment(slice, op) != SL_ALIGNED;
    return op->kind == SL_OPERATOR_MATMUL && sl_price_product(slice, op).alignment != SL_ALIGNED;
}

static bool
is_composed(const sl_slice *slice, const sl_operator *op)
{
    return op->kind == SL_OPERATOR_ATTENTION && slice->attention == SL_ATTENTION_UNFUSED &&
           sl_slice_scores(slice, op) == SL_SCORES_COMPOSED;
}

static void
add_guesses(const sl_memory_case *c, sl_estimate *out)
{
    const sl_model *model = c->question->model;

    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_layer_kind *kind = &model->kinds[k];
        for (uint32_t i = 0; i < kind->operator_count; i++) {
            const sl_operator *op = &kind->operators[i];
            out->unaligned = out->unaligned || is_unaligned(c->slice, op);
            out->composed = out->composed || is_composed(c->slice, op);
            if (op->kind != SL_OPERATOR_MATMUL)
                continue;
            const sl_product p = sl_price_product(c->slice, op);
            if (!sl_kernel_product_measured(&p))
                insert(out, (sl_guess){op->name, p.batch, p.m, p.n, p.k});
        }
    }
}

void
sl_guesses_set(const sl_memory_case *c, sl_estimate *out)
{
    out->guess_count = 0;
    out->unaligned = out->composed = false;
    for (uint32_t i = 0; i < (c->pools == NULL ? 1 : c->pools->count); i++) {
        sl_memory_case space;
        add_guesses(sl_case_of_pool(c, i, &space), out);
    }
}
