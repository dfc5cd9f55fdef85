/** A small cluster with round rates, and models to put on it: expected values stay hand
 * arithmetic. */
#ifndef SL_TESTS_ENGINE_FIXTURE_H
#define SL_TESTS_ENGINE_FIXTURE_H

#include "shardline/estimate.h"
#include "shardline/timeline.h"

/** GPT as Korthikanti 2022 table 3 lays it out: 4 h feed-forward, tied 51,200 rows, 2,048
 * positions. */
sl_dense_spec sl_fixture_gpt(uint32_t blocks, uint64_t hidden, uint32_t heads);

/** Gated, rotary, grouped key-value heads, untied; sizes of a 1 B class model. */
sl_dense_spec sl_fixture_llama(void);

/** Owned by the fixture: one model at a time. */
const sl_model *sl_fixture_model(const sl_dense_spec *spec);

/** The same, to be changed. */
sl_model *sl_fixture_own_model(const sl_dense_spec *spec);

/** Nodes of 8 with 80 GiB, 100 TFLOP/s, 1 TB/s, 100 GB/s links and 8 network cards of 10 GB/s. */
sl_cluster sl_fixture_cluster(uint32_t nodes);

/** Unfused attention, dropout, nothing overlapped. */
sl_software sl_fixture_software(void);

/** bf16 Megatron, 2,048 positions, global batch 16, micro-batch 1, nothing recomputed, no
 * dropout. */
sl_question sl_fixture_question(const sl_model *model, const sl_cluster *cluster,
                                const sl_software *software);

/** The Llama on so many nodes of the cluster, with fused attention. Writes *cluster and *software,
 * which the question borrows. */
sl_question sl_fixture_llama_question(uint32_t nodes, sl_cluster *cluster, sl_software *software);

/** The Llama with 4 blocks of eight experts, each 1,024 wide, of which a token visits two; fused
 * attention, a sharded optimizer. */
sl_question sl_fixture_mixture_question(const sl_cluster *cluster, const sl_software *software);

/** The Llama with 4 blocks of latent attention (16 heads, 128 + 64 wide, values 128) and, of that width,
 * eight experts, of which a token visits two, beside a shared one of 512; else like the Llama. */
sl_question sl_fixture_latent_question(uint64_t expert_width, sl_cluster *cluster,
                                       sl_software *software);

/** Answer of a question that must pass its check; owned by the fixture, overwritten by the next. */
const sl_estimate *sl_fixture_answer(const sl_question *question);

/** Its timeline, which must exist, with all ranks as fast as each other, without spans; owned by the
 * fixture, overwritten by the next. */
const sl_timeline *sl_fixture_timeline(const sl_question *question, const sl_estimate *answer);

/** Bytes of one memory term of a rank, 0 when it has none. */
double sl_fixture_bytes(const sl_rank_memory *rank, sl_term_id id);

/** The same of the first rank of a question's answer. */
double sl_fixture_bytes_of(const sl_question *question, sl_term_id id);

/** Whether it says the warning or assumption of that code. */
bool sl_fixture_has_note(const sl_estimate *answer, const char *code);

/** Elements of sl_fixture_llama: of one of its 16 blocks, of what is outside them, and of all. */
double sl_fixture_llama_block(void);
double sl_fixture_llama_root(void);
double sl_fixture_llama_all(void);

/** Seconds of a time term. */
double sl_fixture_seconds(const sl_estimate *estimate, sl_term_id id);

/** Bytes a step that a group (NULL: any) sends by one collective (SL_COLLECTIVE_COUNT: by any). */
double sl_fixture_sent_bytes(const sl_question *question, const char *group,
                             sl_collective collective);

/** What the host takes to issue all operators of a step [s], waited for or not. */
double sl_fixture_issued_s(const sl_estimate *estimate);

#endif
