/* What is alive at a peak beside states and what blocks keep: at the two ends of the model, and of
 * ranks that share a sequence. */
#include "engine/answer/evaluate.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double HIDDEN = 2048.0, KEYS = 512.0, TOKENS = 2048.0;

/* Two stages of 8 blocks; the first has two micro-batches in flight. */
static sl_question
staged(void)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);

    q.plan.pipeline = 2;
    q.plan.data = 4;
    return q;
}

/* What the activations of a rank are computed from. */
static double
kept_of(const sl_rank_memory *rank, const char *name)
{
    for (uint32_t t = 0; t < rank->term_count; t++)
        if (rank->terms[t].id == SL_TERM_ACTIVATIONS)
            return sl_term_input(&rank->terms[t], name);
    return 0.0;
}

/* Ids are int64; a dropout of the embedding keeps a byte a value. */
static void
the_embedding_keeps_ids_and_its_mask(void)
{
    sl_question q = staged();
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];

    sl_expect_text(rank->role, "first stage", "role");
    sl_expect_near(kept_of(rank, "embedding_and_head_bytes"), 2.0 * 8.0 * TOKENS, 1e-12,
                   "two in flight");
    q.workload.dropout = true;
    rank = &sl_fixture_answer(&q)->memory.ranks[0];
    sl_expect_near(kept_of(rank, "embedding_and_head_bytes"), 2.0 * (8.0 + HIDDEN) * TOKENS, 1e-12,
                   "and masks");
}

/* The gathered input and its gradient are whole where the sequence is split, what is scattered is a
 * rank's part. */
static void
the_head_has_whole_hidden_states(void)
{
    sl_question q = staged();
    const double state = 2.0 * HIDDEN * TOKENS;
    const double cuts[] = {1.0, 2.0, 4.0};

    q.workload.loss = SL_LOSS_FUSED; /* which leaves as much to the head as it takes itself */
    for (uint32_t i = 0; i < 3; i++) {
        q.plan.tensor = (uint32_t)cuts[i];
        q.plan.data = 4 / q.plan.tensor;
        q.plan.sequence = q.plan.tensor > 1;
        const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[1];
        sl_expect_text(rank->role, "last stage", "role");
        sl_expect_text(rank->phase, "head", "phase");
        sl_expect_near(sl_fixture_bytes(rank, SL_TERM_BACKWARD_TRANSIENT),
                       state * (cuts[i] > 1.0 ? 2.0 + 1.0 / cuts[i] : 1.0), 1e-12, "2 + 1 / t");
    }
}

/* A loss that is not fused has more than the head, to which it leaves 16 bits a logit; beside it is
 * the mask that a loader makes of all positions by all, a byte each, of each sequence. */
static void
a_loss_is_computed_beside_the_mask_of_its_batch(void)
{
    sl_question q = staged();

    q.workload.micro_batch = 2;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[1];
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_BACKWARD_TRANSIENT), 0.0); /* no head's */
    software.masks_whole = true;
    rank = &sl_fixture_answer(&q)->memory.ranks[1];
    sl_expect_text(rank->phase, "forward", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_BACKWARD_TRANSIENT), 2.0 * TOKENS * TOKENS, 1e-12,
                   "a mask for each sequence");
}

/* A checkpoint keeps what its blocks were given: the mask of each micro-batch in flight. */
static void
checkpoints_keep_the_mask(void)
{
    sl_question q = staged();

    software.masks_whole = true;
    q.workload.recompute = SL_RECOMPUTE_FULL;
    const sl_rank_memory *rank = sl_fixture_answer(&q)->memory.ranks;
    sl_expect_near(kept_of(&rank[0], "embedding_and_head_bytes"),
                   2.0 * (8.0 * TOKENS + TOKENS * TOKENS), 1e-12, "two in flight");
}

/* A release may hold on to what its own loss keeps. */
static void
a_loss_that_is_held_leaves_its_bytes_to_the_head(void)
{
    sl_question q = staged();

    software.holds_logits = true;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[1];
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_BACKWARD_TRANSIENT), 2.0 * HIDDEN * TOKENS, 1e-12,
                   "the head's");
}

/* Flash-attention has sequences first, Megatron positions: of several sequences what it gave is kept
 * both ways. Peaks of Megatron's 7B on A100 and H100 (flash-attention, cuDNN) differ by just that. */
static void
several_sequences_keep_what_flash_attention_gave_twice(void)
{
    sl_question q = staged();
    const double output = 2.0 * HIDDEN * TOKENS;
    double bytes[2][2];

    for (uint32_t first = 0; first < 2; first++)
        for (uint32_t i = 0; i < 2; i++) {
            software.sequence_first = first == 1;
            q.workload.micro_batch = 1 + i;
            bytes[first][i] =
                kept_of(&sl_fixture_answer(&q)->memory.ranks[0], "bytes_per_block") / (1.0 + i);
        }
    CU_ASSERT_EQUAL(bytes[1][0], bytes[0][0]);
    sl_expect_near(bytes[1][1] - bytes[0][1], output, 1e-12, "once more");
    sl_attention_laws(*const laws)[SL_ATTENTION_WIDTHS_MAX] = cluster.accelerator.attention;
    laws[SL_ATTENTION_CUDNN][0] = laws[SL_ATTENTION_FLASH2][0];
    q.workload.attention = SL_ATTENTION_CUDNN;
    sl_expect_near(kept_of(&sl_fixture_answer(&q)->memory.ranks[0], "bytes_per_block") / 2.0,
                   bytes[0][1], 1e-12, "cuDNN takes both");
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.data = 2;
    q.plan.context = 2;
    q.plan.context_kind = SL_CONTEXT_EXCHANGE;
    const double exchanged = kept_of(&sl_fixture_answer(&q)->memory.ranks[0], "bytes_per_block");
    software.sequence_first = false;
    CU_ASSERT_EQUAL(kept_of(&sl_fixture_answer(&q)->memory.ranks[0], "bytes_per_block"), exchanged);
}

/* Keys and values of two blocks in flight, in backward each with its gradient; a gather brings all
 * of them, with theirs. */
static void
foreign_keys_and_values_are_transient(void)
{
    const double own = 2.0 * 2.0 * KEYS * TOKENS / 2.0; /* of one rank of two */
    sl_question q = staged();
    double bytes[3];

    q.plan.data = 2;
    q.plan.context = 2;
    for (uint32_t kind = 0; kind < 3; kind++) {
        q.plan.context_kind = (sl_context_kind)kind;
        const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
        sl_expect_text(rank->phase, "backward", "phase");
        bytes[kind] = sl_fixture_bytes(rank, SL_TERM_BACKWARD_TRANSIENT);
    }
    sl_expect_near(bytes[SL_CONTEXT_RING] - bytes[SL_CONTEXT_EXCHANGE], 2.0 * 2.0 * own, 1e-12,
                   "a ring's");
    sl_expect_near(bytes[SL_CONTEXT_GATHER] - bytes[SL_CONTEXT_EXCHANGE], 2.0 * 2.0 * own, 1e-12,
                   "a gather's of two ranks");
}

/* Twice as many ranks as key-value heads: everything halves but these, of which each rank has one. */
static void
an_exchange_repeats_heads_for_deepspeed_alone(void)
{
    sl_question q = sl_fixture_llama_question(2, &cluster, &software);
    const uint32_t heads = (uint32_t)q.model->kv_heads;
    sl_errors err = {0};

    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    q.plan.zero_stage = 3;
    q.plan.context_kind = SL_CONTEXT_EXCHANGE;
    q.plan.context = heads;
    q.plan.data = 16 / heads;
    const double dealt = kept_of(&sl_fixture_answer(&q)->memory.ranks[0], "bytes_per_block");
    q.plan.context = 2 * heads;
    q.plan.data = 16 / q.plan.context;
    sl_expect_near(kept_of(&sl_fixture_answer(&q)->memory.ranks[0], "bytes_per_block"),
                   dealt / 2.0 + 2.0 * 2.0 * KEYS * TOKENS / heads / 2.0, 1e-12, "a head each");
    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    q.plan.zero_stage = 1;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/parallelism/context", "pointer");
    sl_expect_text(err.list[0].rule, "not_divisible", "rule");
}

/* Of a block of this kind, alive at once. */
static double
gradient_of(const sl_question *q, uint32_t kind)
{
    static sl_priced priced;
    const sl_combination c = {&software, q->workload, q->plan};

    sl_evaluate_price(q, &c, SL_CLOCK_COOL, &priced);
    return priced.prices[kind].largest_gradient_bytes;
}

/* The gradient of what a gate gives stays until both of its factors have theirs; a fused one writes
 * them where it reads it. */
static void
a_gate_in_kernels_of_its_own_keeps_what_comes_back(void)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);
    const uint32_t block = q.model->layers[1];

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    software.eager_activations = false;
    const double fused = gradient_of(&q, block);
    software.eager_activations = true;
    sl_expect_near(gradient_of(&q, block), 1.5 * fused, 1e-12, "three widths for two");
    q.workload.compile = true;
    sl_expect_near(gradient_of(&q, block), fused, 1e-12, "compiled");
}

/* Experts one after the other, as wide as makes theirs the widest of a block. */
static void
experts_in_a_loop_have_the_gradients_of_one(void)
{
    static sl_model wide;

    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_mixture_question(&cluster, &software);
    const uint32_t block = q.model->layers[1];
    wide = *q.model;
    q.model = &wide;
    for (uint32_t i = 0; i < wide.kinds[block].operator_count; i++)
        if (wide.kinds[block].operators[i].kind == SL_OPERATOR_ACTIVATION)
            wide.kinds[block].operators[i].inputs *= 64;
    const double together = gradient_of(&q, block);
    software.experts_apart = SL_APART_LOOPED;
    sl_expect_near(gradient_of(&q, block), together / 8.0, 1e-12, "of eight");
}

/* Nothing at first; then fp32 copies and the 16-bit gradients that they were made of, which the next
 * backward makes anew beside them. The step has copies in any case. */
static void
what_was_stepped_on_stays_where_the_release_leaves_it(void)
{
    sl_question q = staged();

    q.plan.zero_stage = 0;
    q.workload.precision = SL_PRECISION_FP16;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    const double n = sl_fixture_bytes(rank, SL_TERM_PARAMETERS) / 2.0;
    sl_expect_text(rank->phase, "backward", "phase");
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_GRADIENT_COPY), 0.0);

    software.stepped_stay = true;
    rank = &sl_fixture_answer(&q)->memory.ranks[0];
    sl_expect_text(rank->phase, "backward", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENTS), 2.0 * n, 1e-8, "new");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENT_COPY), (4.0 + 2.0) * n, 1e-8, "old");

    q.workload.sequence_length = 8; /* so that activations are nothing */
    rank = &sl_fixture_answer(&q)->memory.ranks[0];
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENT_COPY), (4.0 + 2.0) * n, 1e-8, "old");
    q.workload.precision = SL_PRECISION_BF16;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_GRADIENT_COPY), 0.0); /* summed in fp32 */
}

static double
transient_of_last(const sl_question *q)
{
    const sl_estimate *e = sl_fixture_answer(q);
    const sl_rank_memory *last = &e->memory.ranks[e->memory.rank_count - 1];

    sl_expect_text(last->phase, "head", "phase");
    return sl_fixture_bytes(last, SL_TERM_BACKWARD_TRANSIENT);
}

/* A product that does not add to a gradient by itself makes one beside it, of the widest matrix. */
static void
a_gradient_is_made_beside_the_one_it_is_added_to(void)
{
    sl_question q = staged();
    const double fused = sl_fixture_bytes_of(&q, SL_TERM_BACKWARD_TRANSIENT);

    software.gradient_accumulation_fusion = 0.0;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_BACKWARD_TRANSIENT) - fused,
                   2.0 * HIDDEN * (double)q.model->ffn, 1e-8, "made");

    /* Not of what is frozen, and not once more of what goes into the buckets of Megatron-FSDP. */
    const sl_question plain = q;
    for (uint32_t i = 0; i < 2; i++) {
        q = plain;
        if (i == 0)
            q.workload.adapter = (sl_adapter){
                .method = SL_ADAPTER_LORA, .rank = 8, .target_count = 1, .targets = {"q_proj"}};
        else
            q.plan = (sl_plan){.tensor = 1,
                               .pipeline = 1,
                               .virtual_pipeline = 1,
                               .context = 1,
                               .expert = 1,
                               .data = 8,
                               .zero_stage = 3};
        software.gradient_accumulation_fusion = 0.0;
        const double apart = sl_fixture_bytes_of(&q, SL_TERM_BACKWARD_TRANSIENT);
        software.gradient_accumulation_fusion = 1.0;
        CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_BACKWARD_TRANSIENT), apart);
    }
}

/* The head's likewise, in whose backward a loss that works in place of the logits has its peak. */
static void
the_heads_gradient_is_made_beside_its_sum(void)
{
    sl_question q = staged();

    q.workload.loss = SL_LOSS_FUSED;
    const double fused = transient_of_last(&q);
    software.gradient_accumulation_fusion = 0.0;
    sl_expect_near(transient_of_last(&q) - fused, 2.0 * HIDDEN * (double)q.model->vocabulary, 1e-8,
                   "made");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(a_gate_in_kernels_of_its_own_keeps_what_comes_back),
        SL_CASE(experts_in_a_loop_have_the_gradients_of_one),
        SL_CASE(the_embedding_keeps_ids_and_its_mask),
        SL_CASE(the_head_has_whole_hidden_states),
        SL_CASE(a_loss_is_computed_beside_the_mask_of_its_batch),
        SL_CASE(checkpoints_keep_the_mask),
        SL_CASE(a_loss_that_is_held_leaves_its_bytes_to_the_head),
        SL_CASE(several_sequences_keep_what_flash_attention_gave_twice),
        SL_CASE(foreign_keys_and_values_are_transient),
        SL_CASE(an_exchange_repeats_heads_for_deepspeed_alone),
        SL_CASE(what_was_stepped_on_stays_where_the_release_leaves_it),
        SL_CASE(a_gradient_is_made_beside_the_one_it_is_added_to),
        SL_CASE(the_heads_gradient_is_made_beside_its_sum),
    };

    return sl_run_cases(argc, argv, "transient_memory", cases, sizeof cases / sizeof cases[0]);
}
