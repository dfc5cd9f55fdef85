/*
 * One stage in closed form: what its ranks wait for parameters and gradients. The order of passes
 * and of what travels is that of the layers simulated (engine/schedule/timeline_layers.c), and so
 * are the times, as recurrences; of layers that are alike, and of micro-batches, only as many are
 * gone through as differ in how long they take.
 */
#include <math.h>
#include <stddef.h>

#include "engine/answer/step_parts.h"
#include "engine/extremes.h"
#include "engine/memory/offload.h"

/* Times by which two layers may differ and still take as long: rounding. */
static const double alike_ratio = 1e-9;

/* When each of the lanes is free [s]: passes; parameters and gradients of the ranks that share the
 * states; gradients of copies of those; what comes up from the host, and what goes down to it. */
typedef enum lane { PASSES, DATA, REPLICAS, UP, DOWN, LANES } lane;

typedef struct lanes {
    double s[LANES];
    double before_s; /* when the last pass but one ended */
    double begun_s;  /* when the last one began, where that is counted: */
    double beside_s; /* how long data traveled while passes ran */
    double held_s;   /* no pass begins earlier */
} lanes;

/* One layer; gradients wait for a bucket to fill. */
typedef struct layer {
    sl_layer_passes passes;
    sl_layer_traffic travels;
    double elements;
} layer;

/* Layers one after another that are alike. */
typedef struct run {
    const layer *each;
    uint32_t count;
} run;

typedef struct flow {
    const sl_memory_case *c;
    sl_data_flow how;
    layer first, kinds[2][SL_KINDS_MAX]; /* of each kind without and with recomputation */
    /* The first is the first layer alone; where what blocks keep leaves, each is of one layer. */
    run runs[SL_MODEL_LAYERS_MAX];
    uint32_t run_count;
    lanes at;
    bool counts;              /* passes wait for the host too, and then nothing may travel */
    bool fetches;             /* parameters come from the host, where they are */
    bool copies;              /* what blocks keep leaves to it: */
    uint32_t blocks, leaving; /* of so many the first so many, */
    uint32_t stays;           /* but not of this layer */
    /* When it has gone down; from its backward on, when that has run. */
    double gone_s[SL_MODEL_LAYERS_MAX];
    double bucket;                        /* elements of gradients that go together */
    double waiting, reduce_s, replicas_s; /* gradients that are there and have not gone */
    double summing_s; /* from when on copies of the states are summed over links of their own */
} flow;

/* What travels for a pass runs beside the one before it, as far as that goes: the one before that has
 * ended. */
static void
count_gather(flow *f, double start_s)
{
    const double *s = f->at.s;
    const double end_s = sl_smaller(s[DATA], s[PASSES]);

    f->at.beside_s += sl_larger(0.0, end_s - sl_larger(start_s, f->at.begun_s));
}

/* When a pass has its parameters: they come no earlier than the pass before it begins; without
 * prefetching, than that ends. */
static double
gather(flow *f, const sl_layer_traffic *travels)
{
    double *s = f->at.s;
    double ready_s = f->how.ahead ? f->at.before_s : s[PASSES];

    if (travels->fetch_s > 0.0 && f->fetches)
        ready_s = s[UP] = sl_larger(s[UP], ready_s) + travels->fetch_s;
    if (travels->gather_s <= 0.0)
        return ready_s;
    const double start_s = sl_larger(s[DATA], ready_s);
    s[DATA] = start_s + travels->gather_s;
    if (f->counts)
        count_gather(f, start_s);
    return s[DATA];
}

/* What the last passes made. */
static void
reduce(flow *f)
{
    double *s = f->at.s;

    if (f->waiting <= 0.0)
        return;
    if (f->reduce_s > 0.0)
        s[DATA] = sl_larger(s[DATA], s[PASSES]) + f->reduce_s;
    if (f->replicas_s > 0.0 && f->how.one_line)
        s[DATA] = sl_larger(s[DATA], s[PASSES]) + f->replicas_s;
    else if (f->replicas_s > 0.0) {
        f->summing_s = sl_smaller(f->summing_s, s[PASSES]);
        s[REPLICAS] = sl_larger(s[REPLICAS], s[DATA]) + f->replicas_s;
    }
    f->waiting = f->reduce_s = f->replicas_s = 0.0;
}

static void
pass(flow *f, double seconds, double ready_s)
{
    const double start_s = sl_larger(sl_larger(f->at.s[PASSES], f->at.held_s), ready_s);

    f->at.before_s = f->at.s[PASSES];
    f->at.s[PASSES] = start_s + seconds;
    if (!f->counts)
        return;
    /* What was to travel before it begins has begun by then, and goes on to the end. */
    f->at.begun_s = start_s;
    f->at.beside_s += sl_larger(0.0, sl_smaller(f->at.s[PASSES], f->at.s[DATA]) - start_s);
}

/* Lanes have moved as far as the passes, or not at all. */
static bool
moved_alike(double was_s, double now_s, double by_s)
{
    const double off_s = now_s - was_s - by_s;

    return now_s == was_s || (off_s <= alike_ratio * by_s && off_s >= -alike_ratio * by_s);
}

static bool
settled(const lanes *was, const lanes *now)
{
    const double by_s = now->s[PASSES] - was->s[PASSES];

    for (uint32_t i = DATA; i < LANES; i++)
        if (!moved_alike(was->s[i], now->s[i], by_s))
            return false;
    return moved_alike(was->before_s, now->before_s, by_s) &&
           moved_alike(was->begun_s, now->begun_s, by_s);
}

/* So many times more what led from one to the other. */
static void
go_on(const lanes *was, double times, lanes *now)
{
    for (uint32_t i = 0; i < LANES; i++)
        now->s[i] += times * (now->s[i] - was->s[i]);
    now->before_s += times * (now->before_s - was->before_s);
    now->begun_s += times * (now->begun_s - was->begun_s);
    now->beside_s += times * (now->beside_s - was->beside_s);
}

static bool
leaves(const flow *f, uint32_t l)
{
    const uint32_t ahead = f->c->holdings->cut.ahead;

    return l >= ahead && l - ahead < f->leaving && l != f->stays &&
           f->runs[l].each->passes.copy_s > 0.0;
}

/* When those have gone that should have by this layer's forward. */
static double
room_s(const flow *f, uint32_t l)
{
    const uint32_t due = sl_step_copy_due(f->blocks, f->leaving, l);

    return due != UINT32_MAX && leaves(f, due) ? f->gone_s[due] : 0.0;
}

/* When it is back, no earlier than the backward of the block that waited for it to leave has
 * run. */
static double
bring_back(flow *f, uint32_t l)
{
    const uint32_t later = sl_step_copy_back(f->blocks, f->leaving, l);
    double *s = f->at.s;

    s[UP] = sl_larger(s[UP], f->gone_s[l]);
    if (later < f->run_count)
        s[UP] = sl_larger(s[UP], f->gone_s[later]);
    return s[UP] += f->runs[l].each->passes.up_s;
}

static void
run_forward(flow *f, uint32_t r, bool gathers)
{
    const layer *l = f->runs[r].each;
    double ready_s = gathers ? gather(f, &l->travels) : 0.0;
    double *s = f->at.s;

    if (f->copies)
        ready_s = sl_larger(ready_s, room_s(f, r));
    pass(f, l->passes.forward_s, ready_s);
    if (f->copies && leaves(f, r))
        f->gone_s[r] = s[DOWN] = sl_larger(s[DOWN], s[PASSES]) + l->passes.down_s;
}

/* In the order of one stream: what the next layer needs, then what the last one made. */
static void
run_backward(flow *f, uint32_t r, bool gathers, bool reduces)
{
    const layer *l = f->runs[r].each;
    double ready_s = gathers ? gather(f, &l->travels) : 0.0;

    if (f->copies && leaves(f, r))
        ready_s = sl_larger(ready_s, bring_back(f, r));
    if (f->waiting >= f->bucket)
        reduce(f);
    pass(f, l->passes.backward_s, ready_s);
    f->gone_s[r] = f->at.s[PASSES];
    if (!reduces)
        return;
    f->waiting += l->elements;
    f->reduce_s += l->travels.reduce_s;
    f->replicas_s += l->travels.replicas_s;
}

/* Once a layer leaves all lanes as far from each other as it found them, so do those like it. */
static void
go_forward(flow *f, bool gathers)
{
    for (uint32_t r = 0; r < f->run_count; r++)
        for (uint32_t left = f->runs[r].count; left > 0; left--) {
            const lanes was = f->at;
            run_forward(f, r, gathers);
            if (!settled(&was, &f->at))
                continue;
            go_on(&was, left - 1, &f->at);
            break;
        }
}

/* What is gathered first stays for backward. */
static void
go_backward(flow *f, bool gathers, bool reduces)
{
    for (uint32_t r = f->run_count; r-- > 0;)
        for (uint32_t left = f->runs[r].count; left > 0; left--) {
            const lanes was = f->at;
            const double waited = f->waiting, reduced_s = f->reduce_s;
            run_backward(f, r, gathers && r > 0, reduces);
            if (f->waiting != waited || f->reduce_s != reduced_s || !settled(&was, &f->at))
                continue;
            go_on(&was, left - 1, &f->at);
            break;
        }
}

/* Not overlapped, gradients go when the last is there and hold up what follows. */
static void
go_through(flow *f, bool first, bool last)
{
    const bool gathers = f->how.gathers && (first || f->how.each);
    const bool reduces = f->how.reduces || last;

    f->bucket = !f->how.beside ? HUGE_VAL : last ? f->how.bucket : 0.0;
    go_forward(f, gathers);
    go_backward(f, f->how.again, reduces);
    reduce(f);
    if (!f->how.beside && !last)
        f->at.held_s = f->at.s[DATA];
}

/* So many micro-batches that take as long as the one that led from one to the other: what lags
 * behind the passes lags on, what is free before they end waits for them. */
static void
skip(const lanes *was, double times, lanes *now)
{
    const double by_s = now->s[PASSES] - was->s[PASSES];
    const double end_s = now->s[PASSES];

    for (uint32_t i = 0; i < LANES; i++)
        now->s[i] += times * (now->s[i] > end_s ? now->s[i] - was->s[i] : by_s);
    now->before_s += times * by_s;
    now->begun_s += times * by_s;
    now->beside_s += times * (now->beside_s - was->beside_s);
    now->held_s += times * by_s;
}

/* The first, those between, which take as long as each other, and the last. */
static void
go_through_all(flow *f, double microbatches)
{
    f->at = (lanes){.before_s = 0.0};
    f->waiting = f->reduce_s = f->replicas_s = 0.0;
    f->summing_s = HUGE_VAL;
    go_through(f, true, microbatches == 1.0);
    if (microbatches > 2.0) {
        const lanes was = f->at;
        go_through(f, false, false);
        skip(&was, microbatches - 3.0, &f->at);
    }
    if (microbatches > 1.0)
        go_through(f, false, true);
}

static void
set_runs(flow *f, uint32_t again_end)
{
    const sl_model *model = f->c->question->model;

    f->runs[0] = (run){&f->first, 1};
    f->run_count = 1;
    for (uint32_t l = 1; l < model->layer_count; l++) {
        const layer *each = &f->kinds[l < again_end][model->layers[l]];
        run *last = &f->runs[f->run_count - 1];
        if (last->each == each && !f->c->workload->offload.activations)
            last->count++;
        else
            f->runs[f->run_count++] = (run){each, 1};
    }
}

/* What the last block keeps is wanted again at once, and stays. */
static void
set_leaving(flow *f)
{
    const sl_workload *w = f->c->workload;

    f->blocks = f->c->question->model->block_count;
    f->leaving = sl_offload_leaving(w, f->blocks);
    f->stays = f->run_count;
    if (!sl_offload_last_stays(w, f->blocks))
        return;
    for (uint32_t l = f->run_count; l-- > 0 && f->stays == f->run_count;)
        if (leaves(f, l))
            f->stays = l;
}

static void
set_layer(flow *f, uint32_t kind, bool again, const sl_layer_traffic *one, double elements)
{
    f->kinds[again][kind] = (layer){.passes = sl_step_layer_passes(f->c, kind, again),
                                    .travels = sl_step_layer_traffic(one, elements),
                                    .elements = elements};
}

static void
set_layers(flow *f, const sl_data_time *data)
{
    const sl_memory_case *c = f->c;
    const sl_model *model = c->question->model;
    const sl_stage *stage = &sl_holding_of(c->holdings, 0)->stage;
    const sl_layer_traffic one = sl_step_element_traffic(c, data);
    const uint32_t end = sl_step_again_end(c);
    double roots = 0.0;

    for (uint32_t k = 0; k < model->kind_count; k++) {
        double root = 0.0;
        const double elements = sl_step_unit_elements(c, k, &root);
        roots += stage->layers[k] * root;
        set_layer(f, k, true, &one, elements);
        if (end < model->layer_count)
            set_layer(f, k, false, &one, elements);
    }
    f->first = f->kinds[end > 0][model->layers[0]];
    f->first.elements += roots;
    f->first.travels = sl_step_layer_traffic(&one, f->first.elements);
    set_runs(f, end);
    if (c->workload->offload.activations)
        set_leaving(f);
}

/* When all lanes are free. */
static double
end_s(flow *f, double microbatches, bool copies, bool fetches)
{
    const double *s = f->at.s;

    f->copies = copies;
    f->fetches = fetches;
    go_through_all(f, microbatches);
    return sl_larger(sl_larger(s[PASSES], s[DATA]), s[REPLICAS]);
}

/* What a step takes of passes, and of what travels [s]. */
typedef struct taken {
    double computing_s, data_s;
    double replicas_s; /* over links of their own, from the first backward that reduces on: */
    double later_s;    /* of computing_s, what is left then */
} taken;

/* What passes lose to what travels beside them, and it to them: of the lane that they wait for all
 * but that wait, or what was counted; of copies of the states, about evenly beside passes and waits,
 * what does not run on when passes end. */
static double
lost_s(const flow *f, const taken *t)
{
    const double *s = f->at.s;
    const double both_s = sl_larger(s[PASSES], s[DATA]);
    double beside_s =
        f->counts ? f->at.beside_s : sl_larger(0.0, t->computing_s + t->data_s - both_s);

    if (t->replicas_s > 0.0) {
        const double left_s = s[PASSES] - f->summing_s;
        const double under_s = t->replicas_s - sl_larger(0.0, s[REPLICAS] - s[PASSES]);
        beside_s += sl_larger(0.0, under_s) * (t->later_s < left_s ? t->later_s / left_s : 1.0);
    }
    return f->c->software->overlap_loss_ratio * beside_s;
}

/* How much longer than its passes alone a step takes: 0 but for rounding where nothing travels. */
static double
waits_s(flow *f, double microbatches, bool copies, const taken *t)
{
    const double ends_s = end_s(f, microbatches, copies, true);

    return sl_larger(0.0, ends_s - t->computing_s) + lost_s(f, t);
}

static void
drop_reductions(flow *f)
{
    const uint32_t kinds = f->c->question->model->kind_count;

    for (uint32_t k = 0; k < kinds; k++)
        for (uint32_t again = 0; again < 2; again++)
            f->kinds[again][k].travels.reduce_s = f->kinds[again][k].travels.replicas_s = 0.0;
    f->first.travels.reduce_s = f->first.travels.replicas_s = 0.0;
}

void
sl_step_flow(const sl_memory_case *c, const sl_data_groups *groups, const sl_rank_time *t,
             sl_data_time *data)
{
    const double m = (double)sl_plan_microbatches(c->workload, c->plan);
    const double copies_s = data->replica_s + data->copy_s;
    const double gathers_s = data->gather_s - data->fetch_s;
    const bool copies = c->workload->offload.activations;
    flow f;

    f.c = c;
    f.how = sl_step_data_flow(c, groups, data);
    f.counts = copies || data->fetch_s > 0.0;
    set_layers(&f, data);
    const double apart_s = f.how.one_line ? 0.0 : copies_s;
    const double backward_s = t->backward.computing_s + t->again.computing_s;
    taken all = {
        .computing_s = m * (t->forward.computing_s + backward_s),
        .data_s = gathers_s + data->reduce_s + copies_s - apart_s,
        .replicas_s = apart_s,
    };
    all.later_s = f.how.reduces ? all.computing_s - t->forward.computing_s : backward_s;
    const double copied_s = copies ? waits_s(&f, m, true, &all) : 0.0;
    double all_s = waits_s(&f, m, false, &all);
    data->copied_s = sl_larger(0.0, copied_s - all_s);
    if (copies) /* less travels beside passes that wait for the host: together it may be less */
        all_s = copied_s - data->copied_s;
    data->gather_exposed_s = 0.0;
    if (c->explained && data->gather_s > 0.0) {
        drop_reductions(&f);
        all.data_s = gathers_s;
        all.replicas_s = 0.0;
        data->gather_exposed_s = sl_smaller(all_s, waits_s(&f, m, false, &all));
    }
    data->reduce_exposed_s = all_s - data->gather_exposed_s;
    /* To the bit the sum of both, as it is of a plan that is not explained. */
    data->gather_exposed_s = all_s - data->reduce_exposed_s;
}

double
sl_step_copied_s(const sl_memory_case *c)
{
    const sl_data_time nothing = {.rounds = {.gathers = 1.0, .reduces = 1.0}};
    flow f;

    f.c = c;
    f.how = (sl_data_flow){.gathers = false};
    f.counts = false;
    set_layers(&f, &nothing);
    const double copied_s = end_s(&f, 1.0, true, false);
    return sl_larger(0.0, copied_s - end_s(&f, 1.0, false, false));
}
