/** The question of a bench. */
#ifndef SL_BENCH_QUESTIONS_H
#define SL_BENCH_QUESTIONS_H

#include "catalog/catalog.h"
#include "shardline/plan.h"

/** Megatron on a release of the catalogue, one sequence at a time, on one device until a bench says
 * how the model is cut. */
static inline sl_question
question_of(const sl_catalog *catalog, const char *software, const sl_model *model,
            const sl_cluster *cluster, uint64_t sequence, uint64_t batch)
{
    bool exact = false;

    return (sl_question){
        .model = model,
        .cluster = cluster,
        .software = sl_catalog_find_software(catalog, software, &exact),
        .software_count = 1,
        .workload = {.framework = SL_FRAMEWORK_MEGATRON,
                     .sequence_length = sequence,
                     .global_batch = batch,
                     .micro_batch = 1,
                     .attention = SL_ATTENTION_FLASH2,
                     .layout = {-1.0, -1.0, -1.0, -1.0}},
        .plan = {.tensor = 1,
                 .pipeline = 1,
                 .virtual_pipeline = 1,
                 .context = 1,
                 .expert = 1,
                 .data = 1},
    };
}

#endif
