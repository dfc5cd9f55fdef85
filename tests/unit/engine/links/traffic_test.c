/* What ranks send each other: in which element type, over which links, under what. */
#include <math.h>
#include <string.h>

#include "engine/answer/evaluate.h"
#include "engine/answer/step_parts.h"
#include "engine/links/collective.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double BLOCKS = 16.0, HIDDEN = 2048.0, FFN = 8192.0, ROWS = 32768.0;

/* Llama of the fixture on one node of 8, sequences so short that activations are nothing. */
static sl_question
llama_question(sl_framework framework, uint32_t stage)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);

    q.workload.framework = framework;
    q.workload.sequence_length = 8;
    q.plan.zero_stage = stage;
    return q;
}

/* Seconds a step of one collective, hidden or not. */
static double
seconds_of(const sl_question *q, sl_collective collective)
{
    const sl_time *time = &sl_fixture_answer(q)->time;
    double seconds = 0.0;

    for (uint32_t i = 0; i < time->communication_count; i++)
        if (time->communication[i].collective == collective)
            seconds += time->communication[i].seconds;
    return seconds;
}

/* Qwen3 in torchtitan of September 2025: queries and keys of 32 and 8 heads, whole before their norms,
 * and so the gradients behind; what norms and rotates them takes as long as on one rank. */
static void
norms_of_heads_that_are_not_cut_gather_them(void)
{
    sl_dense_spec spec = sl_fixture_llama();
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double heads = (32.0 + 8.0) * 64.0;

    q.workload.sequence_length = 2048;
    q.plan.tensor = 2;
    q.plan.data = 4;
    q.plan.sequence = true;
    software.gathers_heads = true;
    const double plain = sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER);
    software.gathers_heads = false;
    CU_ASSERT_EQUAL(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER),
                    plain); /* nothing norms heads */

    spec.qk_norm = SL_QK_NORM_HEAD;
    q.model = sl_fixture_model(&spec);
    const double cut = sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER);
    const double cut_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD);
    software.gathers_heads = true;
    const double microbatches =
        (double)q.workload.global_batch / 4.0 / (double)q.workload.micro_batch;
    const double tokens = 2048.0 * (double)q.workload.micro_batch;
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER) - cut,
                   microbatches * BLOCKS * 2.0 * tokens * heads * 2.0, 1e-8,
                   "forward and backward, 2 bytes a value");
    CU_ASSERT_TRUE(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD) > cut_s);
}

/* Megatron-LM: main gradients of 2 bytes and, in the optimizer's step, fp32 ones of its part. */
static void
megatron_sums_in_the_type_it_reduces_in(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 0);
    const double n = sl_fixture_llama_all();

    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENTS), 4.0 * n, 1e-8,
                   "fp32 main gradients");
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_GRADIENT_COPY), 0.0);
    q.workload.reduce = SL_WIRE_BF16;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENTS), 2.0 * n, 1e-8,
                   "grad_reduce_in_bf16");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENT_COPY), 4.0 * n, 1e-8,
                   "cast for the step");
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_REDUCE), 2.0 * n, 1e-8,
                   "half the volume");
    q.plan.zero_stage = 1;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENT_COPY), 4.0 / 8.0 * n, 1e-8,
                   "of a shard");

    q.workload.precision = SL_PRECISION_FP16;
    q.workload.reduce = SL_WIRE_DEFAULT;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_OPTIMIZER_STATES), n, 1e-8, "fp16: moments");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENT_COPY), 4.0 / 8.0 * n, 1e-8,
                   "and a copy for the step");
    q.workload.reduce = SL_WIRE_FP32;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_OPTIMIZER_STATES), n, 1e-8,
                   "none of fp32 gradients");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENTS), 4.0 * n, 1e-8,
                   "which are the main ones");

    q.workload.layout.gradient_bytes = 2.0;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENTS), 2.0 * n, 1e-8,
                   "the layout's word is last");
}

/* Norm, clip and update of fp32 gradients read and write 4 + 8 and 4, states 16, master 8 and weights
 * 2, and zeroing 4. What was added up in 16 bits is read and cast first, 2 + 4, and zeroed for 2. */
static void
gradients_of_sixteen_bits_are_cast_for_the_step(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 0);
    const double wide_s =
        sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OPTIMIZER_STEP) / (16.0 + 26.0 + 4.0);

    q.workload.reduce = SL_WIRE_BF16;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OPTIMIZER_STEP),
                   wide_s * (6.0 + 16.0 + 26.0 + 2.0), 1e-12, "reduced in bf16");
    q.workload.reduce = SL_WIRE_DEFAULT;
    q.workload.precision = SL_PRECISION_FP16;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OPTIMIZER_STEP),
                   wide_s * (6.0 + 16.0 + 26.0 + 2.0), 1e-12, "of fp16");
}

/* fully_shard: reduce_dtype is that of the reduction's input and output; what stays is fp32. */
static void
fsdp_reduces_in_the_type_it_is_told(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double n = sl_fixture_llama_all();
    const double head = ROWS * HIDDEN + HIDDEN; /* waits for the embedding, in bf16 */
    const double block = sl_fixture_llama_block();

    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_UNSHARDED_GRADIENTS),
                   2.0 * head + block * (2.0 + 4.0 + 4.0 / 8.0), 1e-8,
                   "bf16 gradient, fp32 input and output");
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER), 2.0 * 4.0 * n,
                   1e-8, "two micro-batches in fp32");
    q.workload.reduce = SL_WIRE_BF16;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_UNSHARDED_GRADIENTS),
                   2.0 * head + block * (2.0 + 2.0 + 2.0 / 8.0), 1e-8,
                   "bf16 throughout, copied all the same");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENTS), 4.0 / 8.0 * n, 1e-8,
                   "fp32 shards all the same");
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER), 2.0 * 2.0 * n,
                   1e-8, "half");
}

static void
fsdp_gathers_in_the_type_it_is_told(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double n = sl_fixture_llama_all();
    const double matrices = BLOCKS * (sl_fixture_llama_block() - 2.0 * HIDDEN);

    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER),
                   2.0 * 2.0 * (n + (n - sl_fixture_llama_root())), 1e-8,
                   "bf16, for forward and, but for the root, backward of two micro-batches");
    q.plan.reshard = SL_RESHARD_NEVER;
    q.workload.gather = SL_WIRE_FP32;
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER), 2.0 * 4.0 * n, 1e-8,
                   "fp32, once each");
    q.workload.gather = SL_WIRE_FP8;
    q.workload.precision = SL_PRECISION_FP8;
    cluster.accelerator.peak_flops_per_s[SL_PRECISION_FP8] = 200e12;
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER),
                   2.0 * (matrices + 2.0 * (n - matrices)), 1e-8, "1 byte of the linear layers");
    CU_ASSERT_TRUE(sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS) <= 2.0 * n);
}

/* Rows, or elements, as 24 ranks send them: each as many as the first. */
static double
sent(double rows)
{
    return 24.0 * ceil(rows / 24.0);
}

/* fully_shard divides each tensor by whole rows and sends empty ones for those that a rank lacks;
 * FSDP 1's flat units end in what makes their parts equal. */
static void
fsdp_sends_empty_rows_with_the_others(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double keys = 512.0;
    const double mlp = 2.0 * sent(FFN) * HIDDEN + sent(HIDDEN) * FFN;
    const double block =
        (2.0 * sent(HIDDEN) + 2.0 * sent(keys)) * HIDDEN + mlp + 2.0 * sent(HIDDEN);
    const double root = 2.0 * sent(ROWS) * HIDDEN + sent(HIDDEN);
    const double made = sl_fixture_llama_block();
    const double head = ROWS * HIDDEN + HIDDEN;

    cluster = sl_fixture_cluster(3);
    q.plan.data = 24;
    q.workload.global_batch = 48;
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER),
                   2.0 * 4.0 * (BLOCKS * block + root), 1e-8, "reduced in fp32");
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER),
                   2.0 * 2.0 * (2.0 * BLOCKS * block + root), 1e-8, "gathered in bf16");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_UNSHARDED_GRADIENTS),
                   2.0 * (head + made) + 4.0 * (block + block / 24.0), 1e-8,
                   "bf16 gradients have none, the reduction's input and output have");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS), 2.0 * (root + 3.0 * block),
                   1e-8, "in use, prefetched and the flat output");
    q.plan.unit = (sl_unit){.kind = SL_UNIT_BY_MODULE, .module_count = 1, .modules = {"mlp"}};
    const double rest = root + BLOCKS * (block - mlp);
    const double rest_made = sl_fixture_llama_root() + BLOCKS * (made - 3.0 * HIDDEN * FFN);
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_UNSHARDED_GRADIENTS),
                   2.0 * rest_made + 4.0 * (rest + rest / 24.0), 1e-8,
                   "all but modules is the root's");
    q.plan.unit = (sl_unit){.kind = SL_UNIT_BLOCK};
    q.workload.framework = SL_FRAMEWORK_FSDP1;
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER),
                   2.0 * 4.0 * (BLOCKS * sent(made) + sent(sl_fixture_llama_root())), 1e-12,
                   "FSDP 1");
}

static void
deepspeed_casts_a_bucket_to_reduce_it_in_another_type(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 2);

    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_PASSING_BUCKETS), 2.0 * 5e8, 1e-8, "one bucket");
    q.workload.reduce = SL_WIRE_FP32;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_PASSING_BUCKETS), (2.0 + 4.0) * 5e8, 1e-8,
                   "and an fp32 one");
    q.plan.zero_stage = 1;
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER),
                   4.0 * sl_fixture_llama_all(), 1e-8, "communication_data_type fp32");
}

/* DeepSpeed 0.3, partition_parameters.py: each tensor is a list of one part per rank, which the
 * host copies part by part; vectors stay gathered (stage3_param_persistence_threshold), their
 * gradients do not. */
static void
early_deepspeed_copies_the_part_of_each_rank(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 3);
    const double gathered = BLOCKS * 7.0 + 2.0; /* matrices, and both ends */
    const double reduced = BLOCKS * 9.0 + 3.0;
    const double held = ROWS * HIDDEN / sl_fixture_llama_all(); /* from forward to backward */

    q.plan.data = 8;
    q.workload.global_batch = 8;
    software.lists_parts = true;
    const double gather_s = seconds_of(&q, SL_COLLECTIVE_ALL_GATHER);
    const double reduce_s = seconds_of(&q, SL_COLLECTIVE_REDUCE_SCATTER);
    software.host_operator_s = 20e-6;
    sl_expect_near(seconds_of(&q, SL_COLLECTIVE_ALL_GATHER) - gather_s,
                   (2.0 - held) * gathered * 8.0 * 15e-6, 1e-9,
                   "10 us a part and 2.5 for each of two views, twice but for what is held");
    sl_expect_near(seconds_of(&q, SL_COLLECTIVE_REDUCE_SCATTER) - reduce_s, reduced * 8.0 * 17.5e-6,
                   1e-9, "three views, once");
    q.plan.zero_stage = 2;
    const double apart_s = seconds_of(&q, SL_COLLECTIVE_REDUCE_SCATTER);
    software.lists_parts = false;
    CU_ASSERT_EQUAL(seconds_of(&q, SL_COLLECTIVE_REDUCE_SCATTER), apart_s); /* stage 3 alone */
}

/* stage3_max_reuse_distance: recomputation gathers again, and backward what 1e9 elements were used
 * since, of these blocks all but the last matrix. */
static void
early_deepspeed_gathers_large_blocks_three_times(void)
{
    const double hidden = 12288.0;
    const double block = 12.0 * hidden * hidden;
    const double all = 2.0 * block + (51200.0 + 2048.0) * hidden;
    const sl_dense_spec spec = sl_fixture_gpt(2, (uint64_t)hidden, 96);
    cluster = sl_fixture_cluster(8);
    software = sl_fixture_software();
    software.lists_parts = true;
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);

    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    q.workload.global_batch = 64;
    q.plan.data = 64;
    q.plan.zero_stage = 3;
    const double bytes = sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER);
    q.workload.recompute = SL_RECOMPUTE_FULL;
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER) / bytes,
                   1.0 + 2.0 * block * 8.0 / 12.0 / all / 2.0, 1e-9, "8 h^2 of 12 h^2 once more");
}

/* InternLM's ZeRO 1: of 8 ranks each owns tensors, of 512 only as many as there are tensors; a
 * message goes around the whole ring for each of them. */
static void
owners_of_whole_tensors_get_gradients_and_send_parameters(void)
{
    const double tensors = BLOCKS * 9.0 + 3.0;
    const double bytes = 2.0 * sl_fixture_llama_all();

    for (uint32_t ranks = 8; ranks <= 512; ranks *= 64) {
        sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 1);
        const double owners = ranks < tensors ? ranks : tensors;
        cluster = sl_fixture_cluster(ranks / 8);
        q.workload.global_batch = q.plan.data = ranks;
        software.whole_owners = true;
        const sl_group group = sl_group_of(&cluster, ranks, 1);
        sl_expect_near(
            seconds_of(&q, SL_COLLECTIVE_BROADCAST),
            owners * sl_collective_s(&cluster, SL_COLLECTIVE_BROADCAST, &group, bytes / owners),
            1e-9, "sent from each owner");
        CU_ASSERT_TRUE(seconds_of(&q, SL_COLLECTIVE_REDUCE) >=
                       seconds_of(&q, SL_COLLECTIVE_BROADCAST));
        CU_ASSERT_EQUAL(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER), 0.0);
        CU_ASSERT_EQUAL(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER), 0.0);
        q.plan.zero_stage = 2;
        CU_ASSERT_TRUE(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER) > 0.0);
        CU_ASSERT_EQUAL(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE), 0.0);
    }
}

/* PyTorch wrap.py: what is wrapped nowhere is the root's, which stays gathered and is reduced
 * last. */
static void
units_are_what_is_wrapped(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP1, 3);
    q.workload.sequence_length = 2048; /* so that a unit's backward is the peak */
    software.logits_peak_bytes = 0.0;
    const double n = sl_fixture_llama_all();
    const double block = sl_fixture_llama_block();
    const double mlp = 3.0 * HIDDEN * FFN;
    const double norms = BLOCKS * 2.0 * HIDDEN;

    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS),
                   2.0 * (sl_fixture_llama_root() + 2.0 * block), 1e-8,
                   "blocks: the root, one in use and one prefetched");
    q.plan.unit.kind = SL_UNIT_ROOT;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS), 0.0, 0.0,
                   "all at once, let go of before they are reduced");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_UNSHARDED_GRADIENTS),
                   n * (2.0 + 4.0 + 4.0 / 8.0), 1e-8, "and reduced at once");
    q.plan.unit = (sl_unit){.kind = SL_UNIT_BY_SIZE, .least = (uint64_t)block};
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS),
                   2.0 * (sl_fixture_llama_root() + 2.0 * block), 1e-8, "blocks are large enough");
    q.plan.unit.least++;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_UNSHARDED_GRADIENTS),
                   n * (2.0 + 4.0 + 4.0 / 8.0), 1e-8, "and now too small");
    q.plan.unit =
        (sl_unit){.kind = SL_UNIT_BY_MODULE, .module_count = 2, .modules = {"self_attn", "mlp"}};
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS),
                   2.0 * (sl_fixture_llama_root() + norms + 2.0 * mlp), 1e-8,
                   "norms stay with the root");
    q.plan.unit.module_count = 1;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_UNSHARDED_GRADIENTS),
                   (2.0 + 4.0 + 4.0 / 8.0) * (sl_fixture_llama_root() + norms + BLOCKS * mlp), 1e-8,
                   "so do the MLPs, whose reduction is now the peak");

    software.overlap_gradient_reduce = software.overlap_parameter_gather = true;
    q.plan.unit = (sl_unit){.kind = SL_UNIT_ROOT};
    const double open_s =
        seconds_of(&q, SL_COLLECTIVE_ALL_GATHER) + seconds_of(&q, SL_COLLECTIVE_REDUCE_SCATTER);
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_DATA_COMMUNICATION), open_s,
                   1e-12, "one unit hides under nothing");
    q.plan.unit = (sl_unit){.kind = SL_UNIT_BY_SIZE, .least = (uint64_t)block + 1};
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_DATA_COMMUNICATION), open_s,
                   1e-12, "by whatever name");
}

/* What the embedding computes of one micro-batch, there and back [s]. */
static sl_rank_time
embedding_time(const sl_question *q)
{
    static sl_priced priced;
    static sl_holdings holdings;
    const sl_combination asked = {&software, q->workload, q->plan};

    sl_evaluate_price(q, &asked, SL_CLOCK_COOL, &priced);
    const sl_memory_case c = sl_evaluate_case(q, &asked, &priced, &holdings);
    return sl_step_layer(&c, q->model->layers[0], false);
}

/* However long computing takes: the gathers of the root and of the first block before each forward,
 * between which there is but the embedding, and their reductions after each backward, behind which
 * the next micro-batch gathers. The embedding's passes hide as much of them as
 * they take. */
static void
the_first_gathers_and_the_last_reductions_are_not_hidden(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double root = sl_fixture_llama_root() / sl_fixture_llama_all();
    const double part = root + sl_fixture_llama_block() / sl_fixture_llama_all();

    q.workload.sequence_length = 32768;
    software.overlap_gradient_reduce = software.overlap_parameter_gather = true;
    software.overlap_loss_ratio = 0.0;
    /* Two micro-batches, four gathers but for the root, which stays from forward to backward. */
    const double open_s =
        part * (seconds_of(&q, SL_COLLECTIVE_ALL_GATHER) * 2.0 / (4.0 - 2.0 * root) +
                seconds_of(&q, SL_COLLECTIVE_REDUCE_SCATTER));
    const double seconds = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_DATA_COMMUNICATION);
    const sl_rank_time e = embedding_time(&q);
    sl_expect_near(seconds, open_s - 2.0 * (e.forward.computing_s + e.backward.computing_s), 1e-9,
                   "root and first block");
}

/* Megatron-LM: a bucket of 40 million elements goes when it is full; here a block fills one, and
 * the table is the last. */
static void
the_last_buckets_are_not_hidden(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 0);
    const double part = (ROWS * HIDDEN + sl_fixture_llama_block()) / sl_fixture_llama_all();

    q.workload.sequence_length = 32768;
    software.overlap_gradient_reduce = true;
    software.overlap_loss_ratio = 0.0;
    const sl_time *time = &sl_fixture_answer(&q)->time;
    CU_ASSERT_EQUAL_FATAL(time->communication_count, 1);
    const double open_s = part * time->communication[0].seconds;
    const double seconds = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_DATA_COMMUNICATION);
    const sl_rank_time e = embedding_time(&q);
    sl_expect_near(seconds, open_s - e.backward.computing_s, 1e-9, "table and first block");
}

/* What passes lose to traffic that hides under them, drawn as well. */
static void
a_loss_of_all_is_as_one_of_nearly_all(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1);
    double steps[2];

    q.plan.pipeline = 2;
    q.plan.data = 4;
    software.overlap_gradient_reduce = software.overlap_parameter_gather = true;
    for (uint32_t i = 0; i < 2; i++) {
        software.overlap_loss_ratio = i == 0 ? 1.0 : 0.999999;
        steps[i] = sl_fixture_timeline(&q, sl_fixture_answer(&q))->step_s;
    }
    sl_expect_near(steps[0], steps[1], 1e-4, "1 and 0.999999");
}

/* SimpleFSDP: a graph gathers and reduces where it uses, whatever is said to be wrapped. */
static void
a_traced_graph_has_no_units(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);

    software.traced_sharding = true;
    const double bytes = (double)sl_fixture_answer(&q)->memory.ranks[0].peak_allocated_bytes;
    const double step_s = sl_fixture_answer(&q)->time.step_s;
    q.plan.unit.kind = SL_UNIT_ROOT;
    const sl_estimate *e = sl_fixture_answer(&q);
    sl_expect_near((double)e->memory.ranks[0].peak_allocated_bytes, bytes, 0.0, "as with blocks");
    sl_expect_near(e->time.step_s, step_s, 0.0, "and as long");
    q.workload.reduce = SL_WIRE_BF16;
    CU_ASSERT_TRUE((double)sl_fixture_answer(&q)->memory.ranks[0].peak_allocated_bytes < bytes);
}

static void
expect_fault(const sl_question *q, const char *rule, const char *hint)
{
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(q, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].rule, rule, "rule");
    sl_expect_text(err.list[0].hint, hint, rule);
}

/* Main gradients of 4 bytes. Where each rank has experts of its own only the rest is reduced, where
 * one rank has all of a stage only experts are, which others have too. */
static void
what_one_rank_has_alone_is_not_sent(void)
{
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_mixture_question(&cluster, &software);
    const double all = sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER);

    q.plan.expert = 4;
    const double quarter = sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER);
    const double experts = (all - quarter) / 0.75;
    CU_ASSERT_TRUE(experts > 0.5 * all);
    q.plan.expert = 8;
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER), all - experts,
                   1e-8, "dense");
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_ALL_GATHER), (all - experts) / 2.0,
                   1e-8, "bf16");

    q.plan.tensor = 8;
    q.plan.sequence = true;
    q.plan.data = 1;
    q.plan.expert_tensor = 1;
    const double hidden =
        sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER); /* of the tensor group */
    q.plan.expert = 4;
    sl_expect_near(sl_fixture_sent_bytes(&q, NULL, SL_COLLECTIVE_REDUCE_SCATTER) - hidden,
                   experts / 4.0, 1e-8, "experts");
}

static double
bytes_between(const sl_question *q, const char *group)
{
    return sl_fixture_sent_bytes(q, group, SL_COLLECTIVE_COUNT);
}

/* What arrives at one rank is gathered over those that cut its experts, forward and backward, and its
 * sums scattered: rows of their own where these are not the tensor ranks. */
static void
ranks_that_cut_experts_otherwise_have_rows_of_their_own(void)
{
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_mixture_question(&cluster, &software);

    q.plan.tensor = 4;
    q.plan.sequence = true;
    q.plan.data = 2;
    q.plan.expert = 2;
    q.plan.expert_tensor = 1;
    const double dense = bytes_between(&q, "tensor");
    const double arrived = bytes_between(&q, "expert");
    CU_ASSERT_EQUAL(bytes_between(&q, "expert_tensor"), 0.0);
    q.plan.expert_tensor = 2;
    sl_expect_near(bytes_between(&q, "tensor"), dense, 1e-12, "the rest");
    sl_expect_near(bytes_between(&q, "expert"), arrived, 1e-12, "on the way");
    sl_expect_near(bytes_between(&q, "expert_tensor"), 2.0 * arrived, 1e-12, "of two ranks each");
    const sl_time *time = &sl_fixture_answer(&q)->time;
    for (uint32_t i = 0; i < time->communication_count; i++)
        CU_ASSERT_TRUE(strcmp(time->communication[i].group, "expert_tensor") != 0 ||
                       time->communication[i].ranks == 2);
    q.plan.expert_tensor = 4;
    sl_expect_near(bytes_between(&q, "tensor"), dense + 4.0 * arrived, 1e-12, "of the same four");
    CU_ASSERT_EQUAL(bytes_between(&q, "expert_tensor"), 0.0);
}

static void
types_that_a_framework_does_not_send_are_refused(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1);

    q.workload.gather = SL_WIRE_FP32;
    expect_fault(&q, "gather_dtype_not_of_framework", "bf16, or framework fsdp2 with zero_stage 3");
    q.workload.gather = SL_WIRE_DEFAULT;
    q.workload.reduce = SL_WIRE_BF16;
    q.workload.precision = SL_PRECISION_FP16;
    expect_fault(&q, "reduce_dtype_not_of_framework", "fp32, or precision bf16");
    q = llama_question(SL_FRAMEWORK_MEGATRON, 1);
    q.plan.unit.kind = SL_UNIT_ROOT;
    expect_fault(&q, "unit_not_of_framework", "leave it out, or framework fsdp2 with zero_stage 3");
    q = llama_question(SL_FRAMEWORK_FSDP1, 3);
    q.plan.unit = (sl_unit){.kind = SL_UNIT_BY_MODULE, .module_count = 1, .modules = {"attention"}};
    expect_fault(&q, "unknown_module", "block, or modules as the tensors of /shardings name them");
    q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    q.workload.gather = SL_WIRE_FP8; /* of weights that multiply in 16 bits */
    expect_fault(&q, "gather_dtype_not_of_framework", "bf16");
    q.workload.framework = SL_FRAMEWORK_FSDP1; /* flat parameters have no scales */
    expect_fault(&q, "gather_dtype_not_of_framework", "bf16");
    q = llama_question(SL_FRAMEWORK_DDP, 0);
    q.workload.gather = SL_WIRE_BF16;
    expect_fault(&q, "gather_dtype_not_of_framework",
                 "leave it out, or framework fsdp2 with zero_stage 3");
}

static const sl_case cases[] = {
    SL_CASE(norms_of_heads_that_are_not_cut_gather_them),
    SL_CASE(megatron_sums_in_the_type_it_reduces_in),
    SL_CASE(gradients_of_sixteen_bits_are_cast_for_the_step),
    SL_CASE(fsdp_reduces_in_the_type_it_is_told),
    SL_CASE(fsdp_gathers_in_the_type_it_is_told),
    SL_CASE(fsdp_sends_empty_rows_with_the_others),
    SL_CASE(deepspeed_casts_a_bucket_to_reduce_it_in_another_type),
    SL_CASE(early_deepspeed_copies_the_part_of_each_rank),
    SL_CASE(early_deepspeed_gathers_large_blocks_three_times),
    SL_CASE(owners_of_whole_tensors_get_gradients_and_send_parameters),
    SL_CASE(units_are_what_is_wrapped),
    SL_CASE(a_loss_of_all_is_as_one_of_nearly_all),
    SL_CASE(a_traced_graph_has_no_units),
    SL_CASE(the_first_gathers_and_the_last_reductions_are_not_hidden),
    SL_CASE(the_last_buckets_are_not_hidden),
    SL_CASE(what_one_rank_has_alone_is_not_sent),
    SL_CASE(ranks_that_cut_experts_otherwise_have_rows_of_their_own),
    SL_CASE(types_that_a_framework_does_not_send_are_refused),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "traffic", cases, sizeof cases / sizeof cases[0]);
}
