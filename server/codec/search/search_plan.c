#include "codec/search/search_plan.h"

#include <assert.h>

#include "base/text.h"
#include "codec/question/names.h"
#include "codec/question/plan_json.h"
#include "codec/search/search_words.h"

enum { NAME_BYTES = 200 };

void
sl_search_put_id(sl_writer *writer, const char *key, const sl_search_point *point)
{
    char id[24];

    /* Text, as numbers of this length do not survive a reader that has doubles alone. */
    (void)sl_text_format(id, sizeof id, "%llx", (unsigned long long)point->ordinal);
    sl_put_text(writer, key, id);
}

void
sl_search_cluster_say(const sl_search_asked *asked, uint32_t index, char *out, size_t size)
{
    const sl_estimate_request *const of = asked->of[index];
    const sl_cluster *const cluster = &of->cluster;

    if (of->inventory != NULL && of->pool != NULL)
        (void)sl_text_format(out, size, "%s/%s", of->inventory, of->pool);
    else if (of->inventory != NULL)
        (void)sl_text_copy(out, size, of->inventory);
    else if (of->pool_count > 1)
        (void)sl_text_format(out, size, "%u pools", of->pool_count);
    else
        (void)sl_text_copy(
            out, size, *cluster->node_type != '\0' ? cluster->node_type : cluster->accelerator.id);
}

static bool
is_said(const sl_node *object, const char *name)
{
    sl_node ignored;

    return object->value != NULL && sl_node_member(object, name, &ignored);
}

static void
parallelism_write(sl_writer *writer, const sl_estimate_request *request, const sl_question *q)
{
    const sl_plan *const plan = &q->plan;

    sl_write_key(writer, "parallelism");
    sl_write_object(writer);
    sl_put_uint(writer, "tensor", plan->tensor);
    if (sl_model_is_plain(q->model))
        sl_put_null(writer, "sequence");
    else
        sl_put_bool(writer, "sequence", plan->sequence);
    sl_degrees_write(writer, plan);
    sl_put_text(writer, "schedule", sl_name(&sl_schedule_names, plan->schedule));
    if (is_said(&request->parallelism_object, "sharding"))
        sl_put_null(writer, "sharding"); /* which stage and group say, too */
    sl_write_object_end(writer);
}

/* What the search settled beside its dimensions is said, so that nothing is left open. */
static void
workload_write(sl_writer *writer, const sl_estimate_request *request, const sl_question *q)
{
    const sl_workload *const w = &q->workload;

    sl_write_key(writer, "workload");
    sl_write_object(writer);
    sl_put_text(writer, "framework", sl_name(&sl_framework_names, w->framework));
    sl_put_text(writer, "software", q->software->name);
    sl_put_uint(writer, "global_batch_size", w->global_batch);
    sl_put_uint(writer, "micro_batch_size", w->micro_batch);
    sl_recompute_patch_write(writer, &request->workload_object, w);
    if (sl_model_is_plain(q->model)) {
        sl_put_null(writer, "attention");
        sl_put_null(writer, "dropout");
    } else {
        sl_put_text(writer, "attention", sl_name(&sl_attention_names, w->attention));
        sl_put_bool(writer, "dropout", w->dropout);
    }
    sl_offload_write(writer, &w->offload);
    sl_write_object_end(writer);
}

/* A part of a node has a part of what the node has, at its whole price. */
static void
part_write(sl_writer *writer, const sl_estimate_request *request, const sl_cluster *cluster)
{
    if (is_said(&request->cluster_object, "accelerators"))
        sl_put_null(writer, "accelerators");
    sl_put_uint(writer, "accelerators_per_node", cluster->accelerators_per_node);
    if (cluster->host_memory_bytes > 0)
        sl_put_uint(writer, "host_memory_bytes", cluster->host_memory_bytes);
    if (cluster->nics_per_node > 0)
        sl_nics_write(writer, cluster);
}

/* What of the cluster the plan has; pools go as they are. */
static void
cluster_write(sl_writer *writer, const sl_estimate_request *request, const sl_cluster *cluster)
{
    sl_write_key(writer, "cluster");
    sl_write_object(writer);
    if (cluster->pool_count == 0 && request->pool_count == 0)
        sl_put_uint(writer, "nodes", cluster->nodes);
    if (cluster->accelerators_per_node != request->cluster.accelerators_per_node)
        part_write(writer, request, cluster);
    sl_write_object_end(writer);
}

static void
pair_write(sl_writer *writer, const char *key, double low, double high)
{
    sl_write_key(writer, key);
    sl_write_array(writer);
    sl_write_double(writer, low);
    sl_write_double(writer, high);
    sl_write_array_end(writer);
}

static const char *const simulations[] = {
    [SL_REVIEW_NOT_ASKED] = "not_asked",
    [SL_REVIEW_SIMULATED] = "simulated",
    [SL_REVIEW_TOO_LARGE] = "too_large",
    [SL_REVIEW_REFUSED] = "not_modelled",
};
_Static_assert(sizeof simulations / sizeof simulations[0] == SL_REVIEW_SIMULATED_COUNT,
               "a word for each");

/* Why a plan keeps the closed form's figure, or that with the other it is no answer. */
static void
note_write(sl_writer *writer, const sl_review_plan *plan)
{
    char broken[NAME_BYTES];
    char note[NAME_BYTES + 32];

    sl_write_key(writer, "simulation_note");
    if (plan->simulated == SL_REVIEW_TOO_LARGE) {
        sl_write_text(writer, "its timeline has too many spans to be simulated here: it is ranked "
                              "by the closed form");
    } else if (plan->simulated == SL_REVIEW_REFUSED) {
        sl_write_text(writer, plan->refused);
    } else if (plan->breaks != NULL) {
        sl_broken_say(plan->breaks, plan->miss, broken, sizeof broken);
        (void)sl_text_format(note, sizeof note, "by simulation it %s", broken);
        sl_write_text(writer, note);
    } else {
        sl_write_null(writer);
    }
}

static void
review_write(sl_writer *writer, const sl_review_plan *plan, uint32_t rank)
{
    if (plan == NULL) {
        static const char *const members[] = {"rank",        "closed_form_rank", "simulated_step_s",
                                              "simulation",  "simulation_note",  "interval",
                                              "fits_certain"};
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
            sl_put_null(writer, members[i]);
        return;
    }
    sl_put_uint(writer, "rank", rank);
    sl_put_uint(writer, "closed_form_rank", plan->point + 1);
    if (plan->simulated == SL_REVIEW_SIMULATED)
        sl_put_double(writer, "simulated_step_s", plan->simulated_step_s);
    else
        sl_put_null(writer, "simulated_step_s");
    sl_put_text(writer, "simulation", simulations[plan->simulated]);
    note_write(writer, plan);
    sl_write_key(writer, "interval");
    sl_write_object(writer);
    pair_write(writer, "step_s", plan->step_low_s, plan->step_high_s);
    pair_write(writer, "peak_reserved_bytes", (double)plan->reserved_low_bytes,
               (double)plan->reserved_high_bytes);
    sl_write_object_end(writer);
    sl_put_bool(writer, "fits_certain", plan->fits_certain);
}

void
sl_search_figures_write(sl_writer *writer, const sl_search_point *point)
{
    sl_put_known_double(writer, "step_s", point->step_s);
    sl_put_known_double(writer, "tokens_per_s", point->tokens_per_s);
    sl_put_uint(writer, "peak_reserved_bytes", point->peak_reserved_bytes);
    sl_put_uint(writer, "device_total_bytes", point->device_total_bytes);
    sl_put_int(writer, "headroom_bytes", point->headroom_bytes);
    sl_put_known_double(writer, "time_to_train_s", point->time_to_train_s);
    sl_put_known_double(writer, "cost", point->cost);
    sl_put_known_double(writer, "energy_j", point->energy_j);
}

void
sl_search_plan_members_write(sl_writer *writer, const sl_estimate_request *request,
                             const sl_search *search, const sl_search_point *point)
{
    sl_cluster cluster;
    sl_question q;

    sl_search_question(search, point, &cluster, &q);
    sl_put_uint(writer, "nodes", cluster.nodes);
    sl_put_uint(writer, "accelerators", point->value[SL_DIMENSION_ACCELERATORS]);
    parallelism_write(writer, request, &q);
    workload_write(writer, request, &q);
    cluster_write(writer, request, &cluster);
    sl_search_figures_write(writer, point);
}

void
sl_search_plan_write(sl_writer *writer, const sl_search_document *document,
                     const sl_search_point *point, const sl_review_plan *plan, uint32_t rank)
{
    assert(writer != NULL && document != NULL && point != NULL);

    const sl_estimate_request *const request = document->asked->of[point->cluster];
    char name[NAME_BYTES];

    sl_search_cluster_say(document->asked, point->cluster, name, sizeof name);
    sl_write_object(writer);
    sl_search_put_id(writer, "id", point);
    sl_put_uint(writer, "cluster_index", point->cluster);
    sl_put_text(writer, "cluster_name", name);
    sl_search_plan_members_write(writer, request, document->search, point);
    review_write(writer, plan, rank);
    sl_write_object_end(writer);
}

void
sl_search_glimpse_write(sl_writer *writer, const sl_search_point *point)
{
    static const sl_dimension degrees[] = {SL_DIMENSION_TENSOR, SL_DIMENSION_PIPELINE,
                                           SL_DIMENSION_CONTEXT, SL_DIMENSION_EXPERT,
                                           SL_DIMENSION_DATA};
    const uint64_t *const value = point->value;

    sl_write_object(writer);
    sl_search_put_id(writer, "id", point);
    sl_put_uint(writer, "cluster_index", point->cluster);
    sl_put_uint(writer, "accelerators", value[SL_DIMENSION_ACCELERATORS]);
    sl_write_key(writer, "parallelism");
    sl_write_object(writer);
    for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++)
        sl_put_uint(writer, sl_dimension_name(degrees[i]), value[degrees[i]]);
    sl_write_object_end(writer);
    sl_write_key(writer, "workload");
    sl_write_object(writer);
    sl_put_uint(writer, "micro_batch_size", value[SL_DIMENSION_MICRO_BATCH]);
    sl_put_text(writer, "recompute",
                sl_name(&sl_recompute_names, (uint32_t)value[SL_DIMENSION_RECOMPUTE]));
    sl_write_object_end(writer);
    sl_search_figures_write(writer, point);
    sl_write_object_end(writer);
}
