#include "shardline/words.h"

#include "shardline/plan.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

const char *const sl_framework_words[] = {
    [SL_FRAMEWORK_MEGATRON] = "megatron",   [SL_FRAMEWORK_DDP] = "ddp",
    [SL_FRAMEWORK_FSDP1] = "fsdp1",         [SL_FRAMEWORK_FSDP2] = "fsdp2",
    [SL_FRAMEWORK_DEEPSPEED] = "deepspeed", [SL_FRAMEWORK_DP] = "dp",
};
_Static_assert(COUNT(sl_framework_words) == SL_FRAMEWORK_COUNT, "a word for every framework");

const char *const sl_precision_words[] = {
    [SL_PRECISION_BF16] = "bf16",   [SL_PRECISION_FP16] = "fp16", [SL_PRECISION_TF32] = "tf32",
    [SL_PRECISION_FP32] = "fp32",   [SL_PRECISION_FP8] = "fp8",   [SL_PRECISION_MXFP8] = "mxfp8",
    [SL_PRECISION_NVFP4] = "nvfp4",
};
_Static_assert(COUNT(sl_precision_words) == SL_PRECISION_COUNT, "a word for every precision");

const char *const sl_schedule_words[] = {
    [SL_SCHEDULE_1F1B] = "1f1b",   [SL_SCHEDULE_INTERLEAVED_1F1B] = "interleaved_1f1b",
    [SL_SCHEDULE_NAIVE] = "naive", [SL_SCHEDULE_GPIPE] = "gpipe",
    [SL_SCHEDULE_ZB_H1] = "zb_h1", [SL_SCHEDULE_ZB_H2] = "zb_h2",
    [SL_SCHEDULE_ZB_V] = "zb_v",   [SL_SCHEDULE_DUALPIPE] = "dualpipe",
};
_Static_assert(COUNT(sl_schedule_words) == SL_SCHEDULE_COUNT, "a word for every schedule");

const char *const sl_context_words[] = {
    [SL_CONTEXT_RING] = "p2p",
    [SL_CONTEXT_EXCHANGE] = "a2a",
    [SL_CONTEXT_GATHER] = "allgather",
};
_Static_assert(COUNT(sl_context_words) == SL_CONTEXT_COUNT, "a word for every kind");
