#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buffer.h"
#include "base/text.h"
#include "harness.h"
#include "trace/gunzip.h"
#include "trace/gzip.h"
#include "trace/upload.h"

enum { ROOM = 64 };

static sl_trace_figures figures;

/* Read in parts of `part` bytes. The trace is the caller's; NULL with the fault in err. */
static sl_trace *
read_in(const char *text, size_t part, sl_errors *err)
{
    const size_t size = strlen(text);
    sl_trace *const trace = sl_trace_new(ROOM);
    sl_code code = SL_OK;
    CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
    for (size_t at = 0; at < size && code == SL_OK; at += part)
        code = sl_trace_feed(trace, text + at, size - at < part ? size - at : part, err);
    if (code == SL_OK)
        code = sl_trace_finish(trace, err);
    CU_ASSERT_EQUAL(code == SL_OK, err->count == 0);
    if (code == SL_OK)
        return trace;
    sl_trace_free(trace);
    return NULL;
}

/* A trace with these events; figures borrow from it. */
static sl_trace *
measured(const char *events)
{
    sl_buffer text;
    sl_errors err = {.count = 0};
    sl_buffer_init(&text, 1 << 20);
    sl_buffer_format(
        &text,
        "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, "
        "\"world_size\": 8, \"pg_config\": [{\"rank\": 5}]}, \"traceEvents\": [%s], "
        "\"traceName\": \"x.json\"}",
        events);
    sl_trace *const trace = read_in(text.data, 4096, &err);
    if (trace == NULL)
        sl_expect_text(err.list[0].message, "", "no fault");
    sl_buffer_clear(&text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
    sl_trace_measure(trace, &figures);
    return trace;
}

static void
expect_fault(const char *text, sl_code code, const char *rule, const char *pointer)
{
    for (size_t part = 1; part <= strlen(text); part += part < 8 ? 1 : 61) {
        sl_errors err = {.count = 0};
        CU_ASSERT_PTR_NULL(read_in(text, part, &err));
        CU_ASSERT_EQUAL_FATAL(err.count, 1);
        CU_ASSERT_EQUAL(err.list[0].code, code);
        sl_expect_text(err.list[0].rule, rule, text);
        sl_expect_text(err.list[0].pointer, pointer, text);
    }
}

#define KERNEL(name, stream, start, duration, correlation)                                         \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": 0, \"tid\": " stream    \
    ", \"ts\": " start ", \"dur\": " duration ", \"args\": {\"correlation\": " correlation         \
    ", \"grid\": [8, 1, 1]}}"
#define LAUNCH(start, correlation)                                                                 \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 9, "      \
    "\"tid\": 9, \"ts\": " start ", \"dur\": 1, \"args\": {\"correlation\": " correlation "}}"
#define STEP(number, start, duration)                                                              \
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#" number               \
    "\", \"pid\": 9, \"tid\": 9, \"ts\": " start ", \"dur\": " duration "}"
#define GEMM "sm90_xmma_gemm_bf16"
#define GATHER "ncclDevKernel_AllGather_RING_LL"

static void
time_is_the_union_of_intervals_not_their_sum(void)
{
    /* Out of order on purpose: 10-20, 15-30, 40-45 on one stream are 25 us, and 30 summed up. */
    sl_trace *const trace = measured(KERNEL(GEMM, "7", "40", "5", "3") "," KERNEL(
        GEMM, "7", "10", "10", "1") "," KERNEL(GEMM, "7", "15", "15", "2"));
    sl_expect_near(figures.kinds[SL_KERNEL_PRODUCTS].seconds, 25e-6, 1e-9, "products");
    sl_expect_near(figures.streams[0].busy_s, 25e-6, 1e-9, "stream");
    sl_expect_near(figures.streams[0].kind_s[SL_KERNEL_PRODUCTS], 25e-6, 1e-9, "of the stream");
    sl_expect_near(figures.idle_s, 10e-6, 1e-9, "idle");
    sl_expect_near(figures.device_span_s, 35e-6, 1e-9, "span");
    CU_ASSERT_EQUAL(figures.kinds[SL_KERNEL_PRODUCTS].calls, 3);
    CU_ASSERT_EQUAL(figures.rank, 3);
    CU_ASSERT_EQUAL(figures.world_size, 8);
    sl_trace_free(trace);
}

static void
communication_is_exposed_where_nothing_computes(void)
{
    /* Computing 0-10 and 20-30; a gather 5-25 on another stream: 10 us of 20 lie bare. A copy does
     * not hide it. */
    sl_trace *const trace = measured(
        KERNEL(GEMM, "7", "0", "10", "1") "," KERNEL(GATHER, "20", "5", "20", "2") "," KERNEL(
            "void at::native::elementwise_kernel", "7", "20", "10",
            "3") ",{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> "
                 "Device)\", \"pid\": 0, \"tid\": 9, \"ts\": 10, \"dur\": 3}");
    const sl_trace_part *gather = &figures.kinds[SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_ALL_GATHER];
    sl_expect_near(gather->seconds, 20e-6, 1e-9, "gather");
    sl_expect_near(gather->exposed_s, 10e-6, 1e-9, "exposed");
    sl_expect_near(figures.communication.exposed_s, 10e-6, 1e-9, "of all");
    sl_expect_near(figures.computing_s, 20e-6, 1e-9, "computing");
    sl_expect_near(figures.kinds[SL_KERNEL_STREAMING].seconds, 10e-6, 1e-9, "streaming");
    sl_expect_near(figures.kinds[SL_KERNEL_COPIES].seconds, 3e-6, 1e-9, "copies");
    CU_ASSERT_EQUAL(figures.stream_count, 3);
    CU_ASSERT_EQUAL(figures.communication.calls, 1);
    sl_trace_free(trace);
}

static void
the_host_is_to_blame_for_gaps_before_late_launches_only(void)
{
    /* Idle 10-20: the launch came at 15, after the device fell idle. Idle 30-34: launched at 16. */
    sl_trace *const trace =
        measured(LAUNCH("0", "1") "," LAUNCH("15", "2") "," LAUNCH("16", "3") "," KERNEL(
            GEMM, "7", "2", "8", "1") "," KERNEL(GEMM, "7", "20", "10",
                                                 "2") "," KERNEL(GEMM, "7", "34", "1", "3"));
    CU_ASSERT_TRUE(figures.host_known);
    sl_expect_near(figures.idle_s, 14e-6, 1e-9, "idle");
    sl_expect_near(figures.host_s, 10e-6, 1e-9, "host");
    sl_trace_free(trace);

    sl_trace *const other = measured(KERNEL(GEMM, "7", "2", "8", "1"));
    CU_ASSERT_FALSE(figures.host_known);
    sl_trace_free(other);
}

static void
steps_are_those_that_are_marked(void)
{
    sl_trace *const trace = measured(STEP("2", "0", "100") "," STEP("3", "100", "120") "," KERNEL(
        GEMM, "7", "2", "8", "1") "," STEP("3", "100", "120"));
    CU_ASSERT_EQUAL(figures.steps, 2);
    sl_expect_near(figures.step_s, 340e-6 / 3, 1e-9, "mean of the marks");
    sl_trace_free(trace);

    sl_trace *const unmarked = measured(KERNEL(GEMM, "7", "2", "8", "1") "," LAUNCH(
        "0", "1") "," KERNEL(GEMM, "7", "20", "8", "2"));
    CU_ASSERT_EQUAL(figures.steps, 0);
    sl_expect_near(figures.step_s, 28e-6, 1e-9, "first event to the end of the last");
    sl_trace_free(unmarked);
}

static void
times_keep_their_nanoseconds_since_1970(void)
{
    /* A double of these microseconds is exact to 0.25 only. */
    sl_trace *const trace =
        measured(KERNEL(GEMM, "7", "1732255200000000.100", "1.001",
                        "1") "," KERNEL(GEMM, "7", "1732255200000001.1015", "0.0996", "2"));
    sl_expect_near(figures.kinds[SL_KERNEL_PRODUCTS].seconds, 1.101e-6, 1e-9, "both");
    sl_expect_near(figures.idle_s, 1e-9, 1e-9, "one nanosecond between them, rounded up");
    sl_trace_free(trace);
}

static void
a_kernel_of_minutes_is_one_call(void)
{
    sl_trace *const trace = measured(KERNEL(GATHER, "20", "0", "2e8", "1"));
    CU_ASSERT_EQUAL(figures.communication.calls, 1);
    sl_expect_near(figures.communication.seconds, 200.0, 1e-9, "three minutes and more");
    sl_expect_near(figures.idle_s, 0.0, 0.0, "without a gap");
    sl_trace_free(trace);
}

static void
figures_are_those_of_the_busiest_device(void)
{
    sl_trace *const trace = measured("{\"ph\": \"X\", \"cat\": \"Kernel\", \"name\": \"gemm\", "
                                     "\"pid\": 1, \"tid\": \"stream 7\", "
                                     "\"ts\": 0, \"dur\": 50}," KERNEL(GEMM, "7", "0", "8", "1"));
    CU_ASSERT_EQUAL(figures.device_count, 2);
    sl_expect_text(figures.device, "1", "device");
    sl_expect_near(figures.computing_s, 50e-6, 1e-9, "computing");
    sl_expect_text(figures.streams[0].stream, "stream 7", "stream");
    sl_trace_free(trace);
}

static void
names_say_what_kernels_do(void)
{
    static const struct {
        const char *name;
        sl_kernel_kind kind;
    } named[] = {
        {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         (sl_kernel_kind)(SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_REDUCE_SCATTER)},
        {"ncclKernel_AllReduce_RING_LL_Sum_half",
         (sl_kernel_kind)(SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_ALL_REDUCE)},
        {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
         (sl_kernel_kind)(SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_SEND_RECEIVE)},
        {"ncclDevKernel_Generic", SL_KERNEL_COLLECTIVE_OTHER},
        {"void deep_ep::internode::dispatch<true, 12>(int4*)",
         (sl_kernel_kind)(SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_ALL_TO_ALL)},
        {"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTN", SL_KERNEL_PRODUCTS},
        {"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", SL_KERNEL_PRODUCTS},
        {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<>>", SL_KERNEL_PRODUCTS},
        {"void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<>>>",
         SL_KERNEL_ATTENTION},
        {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16", SL_KERNEL_ATTENTION},
        {"triton_red_fused__log_softmax_nll_loss_forward_3", SL_KERNEL_LOSS},
        {"triton_poi_fused__scaled_dot_product_flash_attention_clone_7", SL_KERNEL_STREAMING},
        {"triton_tem_fused_mm_2", SL_KERNEL_PRODUCTS},
        {"triton_tem_fused_flex_attention_0", SL_KERNEL_ATTENTION},
        {"triton_poi_fused_embedding_0", SL_KERNEL_EMBEDDING},
        {"void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16>",
         SL_KERNEL_EMBEDDING},
        {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
         SL_KERNEL_OPTIMIZER},
        {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<LogSoftMaxForwardEpilogue>",
         SL_KERNEL_LOSS},
        {"void (anonymous namespace)::softmax_warp_forward<float>", SL_KERNEL_STREAMING},
        {"fused_rotary_positional_embedding_forward", SL_KERNEL_STREAMING},
        {"void transformer_engine::normalization::rmsnorm_fwd_tuned_kernel<>", SL_KERNEL_STREAMING},
        {"my_secret_kernel", SL_KERNEL_OTHER},
        {"", SL_KERNEL_OTHER},
    };
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (sl_kernel_of_name(named[i].name) != named[i].kind)
            sl_fail_for(named[i].name);
}

static void
an_all_to_all_of_sends_is_told_by_what_pytorch_calls_it(void)
{
    sl_trace *const trace = measured(
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_SendRecv\", \"pid\": 0, "
        "\"tid\": 20, \"ts\": 0, \"dur\": 5, \"args\": {\"Collective name\": "
        "\"all_to_allv\"}}," KERNEL("ncclDevKernel_SendRecv", "21", "9", "2", "1"));
    sl_expect_near(figures.kinds[SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_ALL_TO_ALL].seconds, 5e-6,
                   1e-9, "all-to-all");
    sl_expect_near(figures.kinds[SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_SEND_RECEIVE].seconds, 2e-6,
                   1e-9, "send and receive");
    sl_trace_free(trace);
}

static void
what_no_row_knows_is_listed_longest_first(void)
{
    sl_trace *const trace = measured(KERNEL("alpha", "7", "0", "1", "1") "," KERNEL(
        "beta", "7", "2", "5", "2") "," KERNEL("alpha", "7", "8", "1", "3"));
    CU_ASSERT_EQUAL_FATAL(figures.unmatched_count, 2);
    sl_expect_text(figures.unmatched[0].name, "beta", "first");
    sl_expect_text(figures.unmatched[1].name, "alpha", "second");
    CU_ASSERT_EQUAL(figures.unmatched[1].calls, 2);
    sl_trace_free(trace);
}

static void
a_bare_list_and_members_in_any_order_are_read(void)
{
    static const char text[] =
        "[{\"dur\": 5, \"args\": {\"name\": \"cpu\", \"ts\": -1}, \"ts\": 1, \"tid\": 7, \"pid\": "
        "0, "
        "\"name\": \"gemm\", \"cat\": \"kernel\", \"ph\": \"X\"}, {\"ph\": \"M\", \"name\": "
        "\"process_name\"}, 7, [{}]]";
    for (size_t part = 1; part < sizeof text; part++) {
        sl_errors err = {.count = 0};
        sl_trace *const trace = read_in(text, part, &err);
        CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
        sl_trace_measure(trace, &figures);
        sl_expect_near(figures.kinds[SL_KERNEL_PRODUCTS].seconds, 5e-6, 1e-9, "products");
        sl_trace_free(trace);
    }
}

static void
faults_of_events_point_at_them(void)
{
    expect_fault("[{\"ph\": \"M\"}, " KERNEL(GEMM, "7", "0", "-1", "1") "]", SL_E_RANGE,
                 "out_of_range", "/traceEvents/1/dur");
    expect_fault("[" KERNEL(GEMM, "7", "1e999", "1", "1") "]", SL_E_RANGE, "out_of_range",
                 "/traceEvents/0/ts");
    expect_fault("[" KERNEL(GEMM, "7", "NaN", "1", "1") "]", SL_E_RANGE, "event_incomplete",
                 "/traceEvents/0/ts");
    expect_fault("[" KERNEL(GEMM, "7", "\"1\"", "1", "1") "]", SL_E_RANGE, "wrong_type",
                 "/traceEvents/0/ts");
    expect_fault("[" KERNEL(GEMM, "7", "0", "1", "1") "," KERNEL(GEMM, "7", "3e15", "1", "1") "]",
                 SL_E_RANGE, "out_of_range", "/traceEvents/1/ts");
    expect_fault("[{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1}]", SL_E_RANGE,
                 "event_incomplete", "/traceEvents/0/dur");
}

static void
texts_that_are_no_trace_are_refused(void)
{
    expect_fault("{}", SL_E_RANGE, "no_events", "/traceEvents");
    expect_fault("{\"traceEvents\": {}}", SL_E_RANGE, "no_events", "/traceEvents");
    expect_fault("[" LAUNCH("0", "1") "]", SL_E_RANGE, "no_kernels", "/traceEvents");
    expect_fault("[" KERNEL(GEMM, "7", "0", "1", "1") ",", SL_E_SYNTAX, "malformed_json", "");
    expect_fault("[] []", SL_E_SYNTAX, "malformed_json", "");
    expect_fault("trace", SL_E_SYNTAX, "malformed_json", "");
}

static void
more_kernels_than_there_is_room_for_are_refused(void)
{
    sl_buffer text;
    sl_errors err = {.count = 0};
    sl_buffer_init(&text, 1 << 20);
    for (uint32_t i = 0; i <= ROOM; i++) {
        sl_buffer_text(&text, i == 0 ? "[" : ",");
        sl_buffer_text(&text, KERNEL(GEMM, "7", "0", "1", "1"));
    }
    sl_buffer_text(&text, "]");
    CU_ASSERT_PTR_NULL(read_in(text.data, 4096, &err));
    CU_ASSERT_EQUAL(err.list[0].code, SL_E_TOO_LARGE);
    sl_expect_text(err.list[0].rule, "too_many_events", "one too many");
    sl_buffer_clear(&text);

    err = (sl_errors){.count = 0};
    for (uint32_t i = 0; i <= SL_TRACE_STREAMS_MAX && i < ROOM; i++) {
        sl_buffer_text(&text, i == 0 ? "[" : ",");
        sl_buffer_format(&text,
                         "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k%u\", \"pid\": 0, "
                         "\"tid\": %u, \"ts\": 0, \"dur\": 1}",
                         i, i);
    }
    sl_buffer_text(&text, "]");
    sl_trace *const trace = read_in(text.data, 4096, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
    sl_trace_measure(trace, &figures);
    CU_ASSERT_EQUAL(figures.stream_count, ROOM);
    CU_ASSERT_EQUAL(figures.unmatched_count, SL_TRACE_UNMATCHED_MAX);
    sl_trace_free(trace);
    sl_buffer_clear(&text);
}

/* Packs a text as gzip does; at most 1 KiB. */
static size_t
pack(const char *text, unsigned char out[1024])
{
    union {
        const char *readable;
        Bytef *bytes;
    } input = {.readable = text};
    z_stream stream = {.next_in = input.bytes, .avail_in = (uInt)strlen(text)};
    CU_ASSERT_EQUAL_FATAL(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
                          Z_OK);
    stream.next_out = out;
    stream.avail_out = 1024;
    CU_ASSERT_EQUAL_FATAL(deflate(&stream, Z_FINISH), Z_STREAM_END);
    CU_ASSERT_EQUAL(deflateEnd(&stream), Z_OK);
    return 1024 - stream.avail_out;
}

static const char request[] = "{\"model\": {\"parameters\": 7}}";
static const char small_trace[] = "[" KERNEL(GEMM, "7", "0", "1", "1") "]";

/* A body in parts of `part` bytes; the request it begins with must be ours. */
static sl_code
upload(const void *body, size_t size, size_t part, sl_errors *err)
{
    const char *const bytes = body;
    sl_trace *const trace = sl_trace_new(ROOM);
    sl_upload *const reading = sl_upload_new(sizeof request, trace);
    sl_code code = SL_OK;
    CU_ASSERT_PTR_NOT_NULL_FATAL(reading);
    for (size_t at = 0; at < size && code == SL_OK; at += part)
        code = sl_upload_feed(reading, bytes + at, size - at < part ? size - at : part, err);
    if (code == SL_OK)
        code = sl_upload_finish(reading, err);
    if (code == SL_OK) {
        size_t length = 0;
        sl_expect_text(sl_upload_request(reading, &length), request, "request");
        CU_ASSERT_EQUAL(length, strlen(request));
    }
    sl_upload_free(reading);
    sl_trace_free(trace);
    return code;
}

static void
request_and_trace_are_packed_or_not_each_for_itself(void)
{
    unsigned char packed_request[1024], packed_trace[1024], packed_both[1024];
    char both[1024];
    CU_ASSERT_TRUE(sl_text_format(both, sizeof both, "%s\n%s", request, small_trace));
    const size_t request_size = pack(request, packed_request);
    const size_t trace_size = pack(small_trace, packed_trace);
    const size_t both_size = pack(both, packed_both);
    const struct {
        const void *first, *second;
        size_t first_size, second_size;
    } bodies[] = {
        {request, small_trace, strlen(request), strlen(small_trace)},
        {request, packed_trace, strlen(request), trace_size},
        {packed_request, packed_trace, request_size, trace_size},
        {both, "", strlen(both), 0},
        {packed_both, "\0\0", both_size, 2},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        sl_buffer body;
        sl_buffer_init(&body, 4096);
        sl_buffer_append(&body, bodies[i].first, bodies[i].first_size);
        sl_buffer_append(&body, bodies[i].second, bodies[i].second_size);
        for (size_t part = 1; part <= body.size; part++) {
            sl_errors err = {.count = 0};
            CU_ASSERT_EQUAL(upload(body.data, body.size, part, &err), SL_OK);
        }
        sl_buffer_clear(&body);
    }
}

static void
expect_upload_fault(const void *body, size_t size, const char *rule)
{
    for (size_t part = 1; part <= size; part++) {
        sl_errors err = {.count = 0};
        CU_ASSERT_NOT_EQUAL(upload(body, size, part, &err), SL_OK);
        CU_ASSERT_EQUAL_FATAL(err.count, 1);
        sl_expect_text(err.list[0].rule, rule, "body");
    }
}

static void
damaged_bodies_are_refused_by_name(void)
{
    unsigned char packed[1024];
    char both[1024];
    CU_ASSERT_TRUE(sl_text_format(both, sizeof both, "%s%s", request, small_trace));
    const size_t size = pack(both, packed);
    expect_upload_fault(packed, size - 1, "malformed_gzip");
    expect_upload_fault(packed, size / 2, "malformed_gzip");
    packed[size - 5] ^= 1; /* of the checksum */
    expect_upload_fault(packed, size, "malformed_gzip");
    packed[size - 5] ^= 1;
    packed[size] = 'x';
    expect_upload_fault(packed, size + 1, "malformed_gzip");
    expect_upload_fault("\x1f\x8b\x07", 3, "malformed_gzip");
    expect_upload_fault(request, strlen(request), "trace_missing");
    expect_upload_fault(request, strlen(request) - 1, "malformed_json");
    expect_upload_fault(small_trace, strlen(small_trace), "request_too_large");
    expect_upload_fault("no", 2, "malformed_json");
}

static sl_code
keep(void *context, const char *bytes, size_t size, sl_errors *err)
{
    (void)err;
    sl_buffer_append(context, bytes, size);
    return SL_OK;
}

/* Writes `lines` numbers, a line each, and keeps the same text in `text`. False: it did not fit. */
static bool
pack_lines(uint32_t lines, size_t from_bytes, sl_buffer *text, sl_buffer *out, bool *packed)
{
    sl_gzip *const gzip = sl_gzip_new(out);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gzip);
    for (uint32_t i = 0; i < lines; i++) {
        sl_buffer_format(sl_gzip_text(gzip), "%u\n", i * 2654435761u);
        sl_buffer_format(text, "%u\n", i * 2654435761u);
    }
    const bool done = sl_gzip_finish(gzip, from_bytes, packed);
    sl_gzip_free(gzip);
    return done;
}

static void
a_text_is_packed_while_it_is_written(void)
{
    static const uint32_t lines[] = {0, 1, 1000, 400000}; /* the last are some 4 MB */
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        sl_buffer text, out, back;
        sl_errors err = {.count = 0};
        bool packed = false;
        sl_buffer_init(&text, SIZE_MAX);
        sl_buffer_init(&out, SIZE_MAX);
        sl_buffer_init(&back, SIZE_MAX);
        CU_ASSERT_TRUE(pack_lines(lines[i], 0, &text, &out, &packed));
        CU_ASSERT_TRUE_FATAL(packed);
        sl_gunzip *const gunzip = sl_gunzip_new(SIZE_MAX, keep, &back);
        CU_ASSERT_PTR_NOT_NULL_FATAL(gunzip);
        CU_ASSERT_EQUAL(sl_gunzip_feed(gunzip, out.data, out.size, &err), SL_OK);
        CU_ASSERT_EQUAL(sl_gunzip_finish(gunzip, &err), SL_OK);
        sl_gunzip_free(gunzip);
        CU_ASSERT_EQUAL_FATAL(back.size, text.size);
        CU_ASSERT_TRUE(text.size == 0 || memcmp(back.data, text.data, text.size) == 0);
        sl_buffer_clear(&text);
        sl_buffer_clear(&out);
        sl_buffer_clear(&back);
    }
}

static void
short_texts_stay_as_they_are_and_long_ones_are_bounded(void)
{
    sl_buffer text, out;
    bool packed = true;
    sl_buffer_init(&text, SIZE_MAX);
    sl_buffer_init(&out, 100000);
    CU_ASSERT_TRUE(pack_lines(10, 4096, &text, &out, &packed));
    CU_ASSERT_FALSE(packed);
    sl_expect_text(out.data, text.data, "as it is");
    sl_buffer_clear(&out);
    CU_ASSERT_FALSE(pack_lines(400000, 4096, &text, &out, &packed));
    sl_buffer_clear(&out);
    sl_buffer_clear(&text);
}

static const sl_case cases[] = {
    SL_CASE(time_is_the_union_of_intervals_not_their_sum),
    SL_CASE(communication_is_exposed_where_nothing_computes),
    SL_CASE(the_host_is_to_blame_for_gaps_before_late_launches_only),
    SL_CASE(steps_are_those_that_are_marked),
    SL_CASE(times_keep_their_nanoseconds_since_1970),
    SL_CASE(a_kernel_of_minutes_is_one_call),
    SL_CASE(figures_are_those_of_the_busiest_device),
    SL_CASE(names_say_what_kernels_do),
    SL_CASE(an_all_to_all_of_sends_is_told_by_what_pytorch_calls_it),
    SL_CASE(what_no_row_knows_is_listed_longest_first),
    SL_CASE(a_bare_list_and_members_in_any_order_are_read),
    SL_CASE(faults_of_events_point_at_them),
    SL_CASE(texts_that_are_no_trace_are_refused),
    SL_CASE(more_kernels_than_there_is_room_for_are_refused),
    SL_CASE(request_and_trace_are_packed_or_not_each_for_itself),
    SL_CASE(a_text_is_packed_while_it_is_written),
    SL_CASE(short_texts_stay_as_they_are_and_long_ones_are_bounded),
    SL_CASE(damaged_bodies_are_refused_by_name),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "trace", cases, sizeof cases / sizeof cases[0]);
}
