#include "codec/answer/estimate_json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "codec/answer/accounting_json.h"
#include "codec/question/names.h"
#include "codec/question/patch_json.h"
#include "codec/question/plan_json.h"
#include "shardline/units.h"

static void
explained_write(sl_writer *writer, const sl_term *term, const char *formula)
{
    sl_put_text(writer, "formula", formula);
    sl_write_key(writer, "inputs");
    sl_write_object(writer);
    for (uint32_t i = 0; i < term->input_count; i++)
        sl_put_double(writer, term->inputs[i].name, term->inputs[i].value);
    sl_write_object_end(writer);
    sl_put_text(writer, "source", sl_term_describe(term->id)->source);
}

static void
explanation_write(sl_writer *writer, const sl_term *term)
{
    explained_write(writer, term, sl_term_describe(term->id)->formula);
}

static void
rank_write(sl_writer *writer, const sl_rank_memory *rank, const sl_cluster *cluster)
{
    sl_write_object(writer);
    sl_put_text(writer, "role", rank->role);
    if (cluster->pool_count > 0) {
        sl_put_text(writer, "pool", cluster->pools[rank->pool].pool);
        sl_put_uint(writer, "usable_bytes", rank->usable_bytes);
        sl_put_int(writer, "headroom_bytes",
                   (int64_t)rank->usable_bytes - (int64_t)rank->device_total_bytes);
    }
    sl_put_uint(writer, "rank", rank->rank);
    sl_put_uint(writer, "count", rank->count);
    sl_put_uint(writer, "first_stage", rank->first_stage);
    sl_put_uint(writer, "stages", rank->stage_count);
    sl_put_uint(writer, "peak_allocated_bytes", rank->peak_allocated_bytes);
    sl_put_uint(writer, "peak_reserved_bytes", rank->peak_reserved_bytes);
    sl_put_uint(writer, "device_total_bytes", rank->device_total_bytes);
    sl_put_text(writer, "phase", rank->phase);
    sl_write_key(writer, "terms");
    sl_write_array(writer);
    for (uint32_t i = 0; i < rank->term_count; i++) {
        const sl_term *const term = &rank->terms[i];
        const sl_term_info *const info = sl_term_describe(term->id);
        sl_write_object(writer);
        sl_put_text(writer, "name", info->name);
        sl_put_text(writer, "what", sl_term_what(term->id));
        sl_put_int(writer, "bytes", llround(term->value));
        sl_put_text(writer, "lifetime", sl_name(&sl_lifetime_names, info->lifetime));
        explanation_write(writer, term);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

static void
memory_write(sl_writer *writer, const sl_memory *memory, const sl_cluster *cluster)
{
    assert(memory->binding < memory->rank_count);

    const sl_rank_memory *const fullest = &memory->ranks[memory->binding];
    sl_write_object(writer);
    sl_put_uint(writer, "capacity_bytes", memory->capacity_bytes);
    sl_put_uint(writer, "usable_bytes", memory->usable_bytes);
    sl_put_uint(writer, "peak_allocated_bytes", fullest->peak_allocated_bytes);
    sl_put_uint(writer, "peak_reserved_bytes", fullest->peak_reserved_bytes);
    sl_put_uint(writer, "device_total_bytes", fullest->device_total_bytes);
    sl_put_int(writer, "headroom_bytes", memory->headroom_bytes);
    sl_put_uint(writer, "binding_rank", fullest->rank);
    sl_put_uint(writer, "host_bytes_per_node", memory->host_per_node.bytes);
    sl_put_uint(writer, "host_high_bytes_per_node", memory->host_per_node.high_bytes);
    sl_put_uint(writer, "host_start_bytes_per_node", memory->host_per_node.start_bytes);
    sl_put_uint(writer, "nvme_bytes_per_node", memory->nvme_bytes_per_node);
    sl_write_key(writer, "ranks");
    sl_write_array(writer);
    for (uint32_t i = 0; i < memory->rank_count; i++)
        rank_write(writer, &memory->ranks[i], cluster);
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

static void
time_write(sl_writer *writer, const sl_time *time, sl_schedule schedule)
{
    sl_write_object(writer);
    sl_put_double(writer, "step_s", time->step_s);
    sl_put_double(writer, "ideal_s", time->ideal_s);
    sl_put_double(writer, "bubble_ratio", time->bubble_ratio);
    sl_put_double(writer, "exposed_communication_s", time->exposed_communication_s);
    sl_write_key(writer, "terms");
    sl_write_array(writer);
    for (uint32_t i = 0; i < SL_TIME_TERMS; i++) {
        const sl_term *const term = &time->terms[i];
        sl_write_object(writer);
        sl_put_text(writer, "name", sl_term_describe(term->id)->name);
        sl_put_double(writer, "seconds", term->value);
        explained_write(writer, term, sl_term_formula(term->id, schedule));
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

static void
throughput_write(sl_writer *writer, const sl_throughput *throughput)
{
    sl_write_object(writer);
    sl_put_double(writer, "tokens_per_s", throughput->tokens_per_s);
    sl_put_double(writer, "tokens_per_s_per_accelerator", throughput->tokens_per_s_per_accelerator);
    sl_put_double(writer, "samples_per_s", throughput->samples_per_s);
    sl_put_double(writer, "model_flops_per_s_per_accelerator",
                  throughput->model_flops_per_s_per_accelerator);
    sl_put_double(writer, "mfu_full", throughput->mfu_full);
    sl_put_double(writer, "mfu_causal", throughput->mfu_causal);
    sl_put_double(writer, "hfu", throughput->hfu);
    sl_put_double(writer, "peak_flops_per_s", throughput->peak_flops_per_s);
    sl_write_object_end(writer);
}

void
sl_communication_write(sl_writer *writer, const sl_time *time, const double latency_s[])
{
    static const char *const names[] = {
        [SL_SENT_BYTES] = "bytes_per_step",
        [SL_SENT_SECONDS] = "seconds",
        [SL_SENT_EXPOSED] = "exposed_s",
        [SL_SENT_LATENCY] = "message_latency_s",
    };
    _Static_assert(sizeof names / sizeof names[0] == SL_SENT_FIGURE_COUNT, "a name per figure");
    const uint32_t told = latency_s != NULL ? SL_SENT_FIGURE_COUNT : SL_SENT_LATENCY;

    sl_write_key(writer, "communication");
    sl_write_array(writer);
    for (uint32_t i = 0; i < time->communication_count; i++) {
        const sl_communication *const c = &time->communication[i];
        sl_write_object(writer);
        sl_put_text(writer, "group", c->group);
        sl_put_text(writer, "collective", sl_name(&sl_collective_names, c->collective));
        sl_put_text(writer, "level", c->level);
        sl_put_double(writer, "calls", c->calls);
        sl_put_double(writer, names[SL_SENT_BYTES], c->bytes_per_step);
        sl_put_double(writer, names[SL_SENT_SECONDS], c->seconds);
        sl_put_double(writer, names[SL_SENT_EXPOSED], c->exposed_s);
        if (latency_s != NULL)
            sl_put_known_double(writer, names[SL_SENT_LATENCY], latency_s[i]);
        sl_write_key(writer, "explain");
        sl_write_object(writer);
        for (uint32_t figure = 0; figure < told; figure++) {
            sl_term term;
            sl_communication_explain(time, c, (sl_sent_figure)figure, &term);
            sl_write_key(writer, names[figure]);
            sl_write_object(writer);
            explanation_write(writer, &term);
            sl_write_object_end(writer);
        }
        sl_write_object_end(writer);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

static void
interval_write(sl_writer *writer, const sl_estimate *estimate)
{
    sl_write_object(writer);
    sl_write_key(writer, "step_s");
    sl_write_array(writer);
    sl_write_double(writer, estimate->step_low_s);
    sl_write_double(writer, estimate->step_high_s);
    sl_write_array_end(writer);
    sl_write_key(writer, "peak_reserved_bytes");
    sl_write_array(writer);
    sl_write_uint(writer, estimate->reserved_low_bytes);
    sl_write_uint(writer, estimate->reserved_high_bytes);
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

/* "tensor_communication" -> "tensor communication". */
static void
spell(const char *name, char *out, size_t size)
{
    (void)sl_text_copy(out, size, name);
    for (char *at = out; *at != '\0'; at++) {
        if (*at == '_')
            *at = ' ';
    }
}

static const char *
phase_words(const char *phase)
{
    if (sl_text_equal(phase, "head"))
        return "at the head";
    if (sl_text_equal(phase, "forward"))
        return "at the end of forward";
    if (sl_text_equal(phase, "optimizer"))
        return "in the optimizer's step";
    return sl_text_equal(phase, "last_backward") ? "in the last backward" : "in backward";
}

/* One digit after the point while there are no more than two before it: three bear no fourth. */
static int
decimals(double gib)
{
    return gib < 99.95 ? 1 : 0;
}

static void
binding_sentence(const sl_estimate *estimate, char *out, size_t size)
{
    const sl_term *const term = &estimate->binding_term;
    const sl_memory *const memory = &estimate->memory;
    const sl_time *const time = &estimate->time;
    char name[48];
    spell(sl_term_words(term->id), name, sizeof name);
    if (sl_text_equal(estimate->binding_limit, "memory")) {
        const sl_rank_memory *const rank = &memory->ranks[memory->binding];
        const double needed = (double)rank->device_total_bytes / SL_GIB_BYTES;
        const double usable = (double)memory->usable_bytes / SL_GIB_BYTES;
        const double largest = term->value / SL_GIB_BYTES;
        (void)sl_text_format(
            out, size,
            "Memory: rank %llu (%s) needs %.*f GiB of %.*f GiB usable %s; its largest term is %s, "
            "%.*f GiB.",
            (unsigned long long)rank->rank, rank->role, decimals(needed), needed, decimals(usable),
            usable, phase_words(rank->phase), name, decimals(largest), largest);
        const size_t said = strlen(out);
        if (memory->host_lacking_bytes > 0)
            (void)sl_text_format(out + said, size - said,
                                 " Host memory: a node lacks %llu bytes of it too.",
                                 (unsigned long long)memory->host_lacking_bytes);
    } else if (sl_text_equal(estimate->binding_limit, "host_memory")) {
        const double room = (double)memory->host_room_bytes / SL_GIB_BYTES;
        const double lacking = (double)memory->host_lacking_bytes / SL_GIB_BYTES;
        (void)sl_text_format(out, size,
                             "Host memory: a node needs %.*f GiB of the %.*f GiB that it has, for "
                             "what the plan keeps there: it lacks %llu bytes.",
                             decimals(room + lacking), room + lacking, decimals(room), room,
                             (unsigned long long)memory->host_lacking_bytes);
    } else if (sl_text_equal(estimate->binding_limit, "compute")) {
        const double busy =
            time->terms[0].value + time->terms[SL_TERM_BACKWARD - SL_TERM_FORWARD].value;
        (void)sl_text_format(out, size, "Compute: forward and backward take %.0f %% of the step.",
                             100 * busy / time->step_s);
    } else {
        (void)sl_text_format(out, size,
                             "Beyond forward and backward, %s takes most: %.0f %% of the step.",
                             name, 100 * term->value / time->step_s);
    }
}

static void
binding_write(sl_writer *writer, const sl_estimate_request *request, const sl_estimate *estimate)
{
    char sentence[320];
    binding_sentence(estimate, sentence, sizeof sentence);
    sl_write_object(writer);
    sl_put_text(writer, "limit", estimate->binding_limit);
    sl_put_text(writer, "sentence", sentence);
    sl_write_key(writer, "fixes");
    sl_write_array(writer);
    for (uint32_t i = 0; i < estimate->fix_count; i++) {
        const sl_fix *const fix = &estimate->fixes[i];
        sl_write_object(writer);
        sl_put_text(writer, "what", fix->what);
        sl_put_text(writer, "with", fix->with);
        sl_write_key(writer, "change");
        sl_patch_write(writer, request, estimate, fix);
        sl_put_uint(writer, "memory_bytes", fix->device_total_bytes);
        sl_put_double(writer, "step_s", fix->step_s);
        sl_put_bool(writer, "numerics_differ", fix->numerics_differ);
        sl_put_bool(writer, "time_incomplete", fix->time_incomplete);
        sl_put_bool(writer, "fits", fix->fits);
        sl_put_bool(writer, "fits_certain", fix->fits_certain);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

/* The figures that stand at one place of the answer; list entries carry their own. */
static void
explanations_write(sl_writer *writer, const sl_estimate *estimate)
{
    sl_write_object(writer);
    for (uint32_t i = 0; i < SL_FIGURES; i++) {
        const sl_term *const term = &estimate->figures[i];
        const bool filled = term->id == (sl_term_id)(SL_TERM_USABLE + i);
        const bool asked = term->id < SL_TERM_TIME_TO_TRAIN || term->value > 0;
        const char *const pointer = filled ? sl_term_describe(term->id)->pointer : NULL;
        if (pointer == NULL || !asked)
            continue;
        sl_write_key(writer, pointer);
        sl_write_object(writer);
        explanation_write(writer, term);
        sl_write_object_end(writer);
    }
    sl_write_object_end(writer);
}

/* Why a run never ends, which leaves time, cost and energy without figures. */
static void
endless_write(sl_writer *writer, const sl_estimate_request *request, const sl_estimate *estimate)
{
    const sl_term *const goodput = &estimate->figures[SL_TERM_GOODPUT - SL_TERM_USABLE];
    const double between_s = sl_term_input(goodput, "mean_time_between_failures_s");
    const double saving_s = sl_term_input(goodput, "checkpoint_s");
    const double restart_s = sl_term_input(goodput, "restart_s");
    const double again_s = sl_term_input(goodput, "checkpoint_interval_s") / 2.0;
    char text[320];
    if (between_s > 0.0 && restart_s + again_s >= between_s)
        (void)sl_text_format(text, sizeof text,
                             "every %.4g s a node fails, which takes %.4g s to restart and %.4g s "
                             "to train again, half of what lies between checkpoints: the training "
                             "never ends",
                             between_s, restart_s, again_s);
    else
        (void)sl_text_format(text, sizeof text,
                             "a checkpoint takes %.4g s to write, and checkpoint_interval_s asks "
                             "for one every %.4g s: no time is left to train. The shortest that "
                             "leaves any is above %.4g s, one of %.4g s leaves half, and 0 is the "
                             "optimum",
                             saving_s, request->cluster.operation.checkpoint_interval_s, saving_s,
                             2.0 * saving_s);
    sl_note_write(writer, "never_ends", text);
}

void
sl_estimate_notes_write(sl_writer *writer, const sl_estimate_request *request,
                        const sl_estimate *estimate, const sl_errors *faults, bool warning)
{
    const sl_notes *const read = &request->notes;
    sl_write_key(writer, warning ? "warnings" : "assumptions");
    sl_write_array(writer);
    if (warning && faults != NULL)
        sl_faults_write(writer, faults);
    for (uint32_t i = 0; i < read->count; i++) {
        if (read->list[i].warning == warning)
            sl_note_write(writer, read->list[i].code, read->list[i].text);
    }
    for (uint32_t i = 0; estimate != NULL && i < estimate->note_count; i++) {
        const sl_note *const note = &estimate->notes[i];
        if (note->warning == warning && !sl_notes_have(read, note->code))
            sl_note_write(writer, note->code, note->text);
    }
    if (warning && estimate != NULL && estimate->throughput.goodput_ratio <= 0.0)
        endless_write(writer, request, estimate);
    sl_write_array_end(writer);
}

static void
figures_write(sl_writer *writer, const sl_estimate_document *document)
{
    const sl_estimate *const estimate = document->estimate;
    sl_put_bool(writer, "fits", estimate->fits);
    sl_put_bool(writer, "fits_certain", estimate->fits_certain);
    sl_write_key(writer, "memory");
    memory_write(writer, &estimate->memory, &document->request->cluster);
    sl_write_key(writer, "time");
    time_write(writer, &estimate->time, estimate->plan.schedule);
    sl_write_key(writer, "throughput");
    throughput_write(writer, &estimate->throughput);
    sl_communication_write(writer, &estimate->time, NULL);
    sl_write_key(writer, "interval");
    interval_write(writer, estimate);
    sl_write_key(writer, "binding");
    binding_write(writer, document->request, estimate);
    sl_write_key(writer, "explanations");
    explanations_write(writer, estimate);
    sl_write_key(writer, "resolved");
    sl_resolved_write(writer, document->request, &estimate->workload, &estimate->plan,
                      &document->request->cluster, estimate->software);
}

/* Products that lie outside what was measured: none without an estimate. */
static void
guesses_write(sl_writer *writer, const sl_estimate *estimate)
{
    sl_write_key(writer, "guessed_shapes");
    sl_write_array(writer);
    for (uint32_t i = 0; estimate != NULL && i < estimate->guess_count; i++) {
        const sl_guess *const guess = &estimate->guesses[i];
        sl_write_object(writer);
        sl_put_text(writer, "operator", guess->name);
        sl_put_double(writer, "products", guess->batch);
        sl_put_double(writer, "m", guess->m);
        sl_put_double(writer, "n", guess->n);
        sl_put_double(writer, "k", guess->k);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

/* Time to train, what it costs and draws: null unless the request gave what they need. */
static void
totals_write(sl_writer *writer, const sl_estimate_document *document)
{
    static const sl_throughput nothing = {0};
    const sl_throughput *const t =
        document->estimate != NULL ? &document->estimate->throughput : &nothing;
    sl_put_known_double(writer, "time_to_train_s", t->time_to_train_s);
    sl_put_known_double(writer, "cost", t->cost);
    sl_put_known_double(writer, "energy_j", t->energy_j);
    if (document->estimate != NULL)
        sl_put_double(writer, "goodput_ratio", t->goodput_ratio);
    else
        sl_put_null(writer, "goodput_ratio");
}

static void
accounting_figures_write(sl_writer *writer, const sl_estimate_document *document,
                         const sl_accounted *accounted)
{
    const sl_estimate_request *const request = document->request;
    const sl_cluster *const cluster = request->has_cluster ? &request->cluster : NULL;
    sl_write_key(writer, "memory");
    const bool fits = sl_accounting_memory_write(writer, accounted, cluster);
    if (cluster != NULL)
        sl_put_bool(writer, "fits", fits);
    else
        sl_put_null(writer, "fits");
    sl_put_null(writer, "fits_certain");
    sl_put_null(writer, "time");
    sl_put_null(writer, "throughput");
    sl_write_key(writer, "communication");
    sl_write_array(writer);
    sl_write_array_end(writer);
    sl_put_null(writer, "interval");
    sl_put_null(writer, "binding");
    sl_write_key(writer, "explanations");
    sl_write_object(writer);
    sl_write_object_end(writer);
    sl_write_key(writer, "resolved");
    sl_resolved_write(writer, request, &request->workload, &request->plan, cluster, NULL);
}

/* The rule beside what the fullest rank really keeps. */
static void
activation_accounting_write(sl_writer *writer, const sl_estimate_document *document)
{
    const sl_estimate *const e = document->estimate;
    const sl_rank_memory *const rank = &e->memory.ranks[e->memory.binding];
    const sl_activation_accounting rule = document->request->activation_accounting;
    const sl_activation_accounting_info *const info = sl_activation_accounting_describe(rule);
    const sl_activation_shape shape = {
        .s = (double)e->workload.sequence_length,
        .b = (double)e->workload.micro_batch,
        .h = (double)document->about.model->hidden,
        .l = (double)document->about.model->block_count,
        .a = document->about.model->heads,
        .t = e->plan.tensor,
    };
    double exact = 0;
    for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].id == SL_TERM_ACTIVATIONS)
            exact = rank->terms[i].value;

    sl_write_key(writer, "activation_accounting");
    sl_write_object(writer);
    sl_put_text(writer, "name", info->name);
    sl_put_uint(writer, "bytes", (uint64_t)sl_activation_accounting_bytes(rule, &shape));
    sl_put_uint(writer, "exact_bytes", (uint64_t)exact);
    sl_put_text(writer, "formula", info->formula);
    sl_write_key(writer, "inputs");
    sl_write_object(writer);
    sl_put_double(writer, "s", shape.s);
    sl_put_double(writer, "b", shape.b);
    sl_put_double(writer, "h", shape.h);
    sl_put_double(writer, "L", shape.l);
    sl_put_double(writer, "a", shape.a);
    sl_put_double(writer, "t", shape.t);
    sl_write_object_end(writer);
    sl_put_text(writer, "source", info->source);
    sl_write_object_end(writer);
}

sl_code
sl_estimate_write(sl_writer *writer, const sl_estimate_document *document, sl_errors *err)
{
    assert(writer != NULL && document != NULL && document->request != NULL && err != NULL);

    const sl_estimate *const estimate = document->estimate;
    const sl_estimate_request *const request = document->request;
    const bool accounting = request->accounting != SL_ACCOUNTING_EXACT;
    assert(estimate != NULL || accounting);
    sl_accounted accounted;
    if (accounting) {
        const sl_plan *const plan = estimate != NULL ? &estimate->plan : &request->plan;
        const sl_code code =
            sl_accounting_answer(request, plan, document->about.parameters, &accounted, err);
        if (code != SL_OK)
            return code;
    }

    sl_write_object(writer);
    sl_answer_model_write(writer, &document->about);
    if (estimate != NULL)
        figures_write(writer, document);
    else
        accounting_figures_write(writer, document, &accounted);
    if (accounting) {
        sl_write_key(writer, "accounting");
        sl_accounting_write(writer, &accounted);
    }
    if (estimate != NULL && request->activation_accounting != SL_ACTIVATION_EXACT)
        activation_accounting_write(writer, document);
    totals_write(writer, document);
    guesses_write(writer, document->estimate);
    sl_put_text(writer, "evaluator", "closed_form");
    sl_estimate_notes_write(writer, request, estimate, document->about.warnings, true);
    sl_estimate_notes_write(writer, request, estimate, NULL, false);
    sl_answer_origin_write(writer, &document->about);
    sl_write_object_end(writer);
    return SL_OK;
}
