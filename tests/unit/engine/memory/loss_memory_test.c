/* Bytes of a logit by the loss, by who computes it and by how the vocabulary is cut. */
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double ROWS = 32768.0, HIDDEN = 2048.0;

/* Llama of the fixture on one node of 8, eager, all rebuilt: the loss is the peak. */
static sl_question
llama_question(sl_framework framework, uint32_t stage)
{
    const sl_dense_spec spec = sl_fixture_llama();
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    software.eager_activations = true;
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);

    q.workload.framework = framework;
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.plan.zero_stage = stage;
    return q;
}

static const sl_rank_memory *
answer_rank(const sl_question *q)
{
    return &sl_fixture_answer(q)->memory.ranks[0];
}

static void
a_loss_in_chunks_frees_the_logits(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);

    q.workload.sequence_length = 8192;
    q.workload.loss = SL_LOSS_EAGER;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 12.0 * 8192.0 * ROWS, 1e-12,
                   "4 + 4 + 4 bytes a logit");
    const uint64_t eager = answer_rank(&q)->peak_allocated_bytes;
    q.workload.loss = SL_LOSS_HALF;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 8.0 * 8192.0 * ROWS, 1e-12,
                   "2 + 2 + 2 + 2 bytes a logit");
    q.workload.loss = SL_LOSS_CHUNKED;
    const uint64_t chunked = answer_rank(&q)->peak_allocated_bytes;
    CU_ASSERT_TRUE(chunked < eager);
    software.loss_chunked = true; /* of its own accord */
    q.workload.loss = SL_LOSS_PROFILE;
    CU_ASSERT_EQUAL(answer_rank(&q)->peak_allocated_bytes, chunked);
    q.workload.loss = SL_LOSS_EAGER;
    CU_ASSERT_EQUAL(answer_rank(&q)->peak_allocated_bytes, eager);
    q.workload.loss = SL_LOSS_CUT;
    CU_ASSERT_EQUAL(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 0.0);
    CU_ASSERT_TRUE(answer_rank(&q)->peak_allocated_bytes <= chunked);
}

/* Vocabulary-parallel cross-entropy of Megatron, unfused: 16-bit logits and their softmax, or the
 * release's own, where that is not fused. */
static void
megatron_has_a_parallel_loss_of_its_own(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1);

    q.workload.sequence_length = 32768;
    q.workload.loss = SL_LOSS_PARALLEL;
    software.logits_peak_bytes = 2.0;
    software.loss_fused = true;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 6.0 * 32768.0 * ROWS, 1e-12,
                   "2 + 4 bytes a logit");
    software.logits_peak_bytes = 10.0;
    software.loss_fused = false;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 10.0 * 32768.0 * ROWS, 1e-12,
                   "those less their maximum beside what they are made of");
}

/* What compile fuses is a fact of the release; a loss that was asked for stays. */
static void
compile_fuses_the_loss_of_releases_that_compile_it(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);

    q.workload.sequence_length = 32768;
    software.logits_peak_bytes = 14.0;
    software.fused_logits_peak_bytes = 6.0;
    q.workload.compile = true;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 14.0 * 32768.0 * ROWS, 1e-12,
                   "the loss by itself");
    software.loss_compiled = true;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 6.0 * 32768.0 * ROWS, 1e-12,
                   "compiled");
    q.workload.loss = SL_LOSS_EAGER;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 12.0 * 32768.0 * ROWS, 1e-12,
                   "asked for");
}

/* When an eager loss peaks the last block is still gathered, and of the root unit what its own forward
 * does not let go of: 8B over eight ranks of H100, 8,192 tokens, has 25.56 GiB with nothing of it
 * (tests/accuracy/data, H025). */
static void
the_loss_finds_what_forward_did_not_let_go_of(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double head = ROWS * HIDDEN + HIDDEN;
    const struct {
        sl_root_keeps keeps;
        sl_reshard reshard;
        double elements;
    } rows[] = {
        {SL_ROOT_KEEPS_ALL, SL_RESHARD_DEFAULT, sl_fixture_llama_root() + sl_fixture_llama_block()},
        {SL_ROOT_KEEPS_HEAD, SL_RESHARD_DEFAULT, head + sl_fixture_llama_block()},
        {SL_ROOT_KEEPS_NONE, SL_RESHARD_DEFAULT, sl_fixture_llama_block()},
        {SL_ROOT_KEEPS_ALL, SL_RESHARD_ALWAYS, 0.0},
        {SL_ROOT_KEEPS_NONE, SL_RESHARD_NEVER, sl_fixture_llama_all()},
    };

    q.workload.sequence_length = 32768;
    q.workload.loss = SL_LOSS_EAGER;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        software.root_keeps = rows[i].keeps;
        q.plan.reshard = rows[i].reshard;
        sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GATHERED_PARAMETERS),
                       2.0 * rows[i].elements, 1e-8, "gathered");
    }
    q.plan.reshard = SL_RESHARD_DEFAULT;
    q.workload.framework = SL_FRAMEWORK_FSDP1;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GATHERED_PARAMETERS),
                   2.0 * sl_fixture_llama_root(), 1e-8, "FSDP 1 keeps the root and no block");
}

/* Stage 2 is another name of blocks that are told to stay, and the root stays with
 * them, whatever it does by itself. */
static void
a_root_stays_with_its_blocks_by_either_name(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);

    q.workload.sequence_length = 32768;
    q.workload.loss = SL_LOSS_EAGER;
    for (uint32_t keeps = SL_ROOT_KEEPS_ALL; keeps <= SL_ROOT_KEEPS_NONE; keeps++) {
        software.root_keeps = (sl_root_keeps)keeps;
        q.plan.zero_stage = 3;
        q.plan.reshard = SL_RESHARD_NEVER;
        sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GATHERED_PARAMETERS),
                       2.0 * sl_fixture_llama_all(), 1e-8, "told to");
        q.plan.zero_stage = 2;
        q.plan.reshard = SL_RESHARD_DEFAULT;
        sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GATHERED_PARAMETERS),
                       2.0 * sl_fixture_llama_all(), 1e-8, "by the stage");
    }
}

/* Each rank of two has half of the vocabulary. DTensor's loss_parallel has no kernel for its loss:
 * 70B with tensor 8 shows 13.9 and 15.9 bytes, compiled 10.0 and 6.0 (tests/accuracy/data, K008 and
 * K018). */
static void
a_loss_of_half_the_vocabulary_is_made_of_more_copies(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double logits = 32768.0 * ROWS / 2.0;

    q.workload.sequence_length = 32768;
    q.plan.tensor = 2;
    q.plan.data = 4;
    software.logits_peak_bytes = 12.0;
    software.loss_compiled = true;
    for (uint32_t i = 0; i < 2; i++) {
        q.workload.loss = i == 0 ? SL_LOSS_PROFILE : SL_LOSS_PARALLEL;
        const sl_rank_memory *rank = answer_rank(&q);
        sl_expect_text(rank->phase, "head", "of the loss's backward");
        sl_expect_near(sl_fixture_bytes(rank, SL_TERM_LOGITS), 16.0 * logits, 1e-12, "split");
    }
    q.workload.loss = SL_LOSS_EAGER;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 2.0 * 12.0 * logits, 1e-12,
                   "gathered first");
    q.workload.loss = SL_LOSS_PROFILE;
    q.workload.compile = true;
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_text(rank->phase, "forward", "compiled, it has most there");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_LOGITS), 10.0 * logits, 1e-12, "compiled");
    q.workload.loss = SL_LOSS_FUSED;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 10.0 * logits, 1e-12,
                   "nobody fuses it otherwise");
}

/* Gemma 2 divides, takes a tanh and multiplies: 2.4B on one H100 has 58.6 GiB so (H017). */
static void
logits_that_are_capped_leave_their_tanh(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    sl_dense_spec spec = sl_fixture_llama();

    spec.logits_capped = true;
    q.model = sl_fixture_model(&spec);
    q.workload.sequence_length = 32768;
    q.workload.loss = SL_LOSS_EAGER;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 14.0 * 32768.0 * ROWS, 1e-12,
                   "two bytes more");
    q.workload.loss = SL_LOSS_HALF;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 10.0 * 32768.0 * ROWS, 1e-12,
                   "in 16 bits as well");
    q.workload.loss = SL_LOSS_FUSED;
    software.fused_logits_peak_bytes = 6.0;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 6.0 * 32768.0 * ROWS, 1e-12,
                   "none of a fused loss");
}

/* BERT's and T5's classes hand their logits to cross_entropy as they are: RoBERTa on one H200 has
 * 10.77 GiB so (tests/accuracy/data, h200). Autocast casts them all the same. */
static void
a_loss_of_narrow_logits_takes_half(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    static sl_model encoder;

    encoder = *q.model;
    encoder.loss_narrow = true;
    q.model = &encoder;
    q.workload.sequence_length = 32768;
    q.workload.loss = SL_LOSS_EAGER;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 6.0 * 32768.0 * ROWS, 1e-12,
                   "2 + 2 + 2 bytes a logit");
    q.workload.gather = SL_WIRE_FP32;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_LOGITS), 12.0 * 32768.0 * ROWS, 1e-12,
                   "under autocast");
}

static const sl_case cases[] = {
    SL_CASE(a_loss_in_chunks_frees_the_logits),
    SL_CASE(megatron_has_a_parallel_loss_of_its_own),
    SL_CASE(compile_fuses_the_loss_of_releases_that_compile_it),
    SL_CASE(the_loss_finds_what_forward_did_not_let_go_of),
    SL_CASE(a_root_stays_with_its_blocks_by_either_name),
    SL_CASE(a_loss_of_half_the_vocabulary_is_made_of_more_copies),
    SL_CASE(logits_that_are_capped_leave_their_tanh),
    SL_CASE(a_loss_of_narrow_logits_takes_half),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "loss_memory", cases, sizeof cases / sizeof cases[0]);
}
