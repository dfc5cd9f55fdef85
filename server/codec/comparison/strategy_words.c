#include "codec/comparison/strategy_words.h"

#include <assert.h>
#include <stddef.h>

static const sl_support torch_dp = {"PyTorch DataParallel", "one line around the model",
                                    "one process and one node; its own documents advise DDP"};
static const sl_support torch_ddp = {"PyTorch DistributedDataParallel",
                                     "the best tested; works with every model",
                                     "shards nothing, so memory does not shrink"};
static const sl_support torch_fsdp = {"PyTorch FSDP", "native, and composes with other cuts",
                                      "units have to be wrapped where the model says"};
static const sl_support torchtitan = {"torchtitan", "all cuts together in native PyTorch",
                                      "made for the models it comes with"};
static const sl_support deepspeed = {"DeepSpeed", "a configuration file; offload to host and disks",
                                     "an engine of its own around model and optimizer"};
static const sl_support accelerate = {"Hugging Face Accelerate",
                                      "one configuration for several of these engines",
                                      "only as much control as it passes on"};
static const sl_support megatron = {"Megatron-LM", "the fastest kernels and every cut",
                                    "models have to be written with its layers"};
static const sl_support torch_pipeline = {"PyTorch pipelining",
                                          "schedules for a model that is split as it is",
                                          "stages have to be traced or written by hand"};
static const sl_support device_map = {"Hugging Face device_map", "no change to the model at all",
                                      "made for inference: nothing runs side by side"};
static const sl_support by_hand = {"PyTorch, by hand", "needs no framework",
                                   "every move between devices is written out"};

static const sl_strategy_words strategies[SL_STRATEGY_COUNT] = {
    [SL_STRATEGY_GIVEN] =
        {
            .definition = "The plan of the request, as it is.",
            .how_it_works = "What it leaves open counts with the middle of what it may be.",
            .use_when = "To see what another strategy would change.",
            .scalability = "That of its degrees.",
            .adoption = "None: it is what you have.",
            .latency = "That of its groups.",
            .fault_tolerance = "One job: a lost device stops it until it restarts.",
            .examples = "Yours.",
            .exchanges_activations = false,
            .source = "the request",
        },
    [SL_STRATEGY_DP] =
        {
            .definition = "One process lends the model to all devices of a node for each step.",
            .how_it_works =
                "The first device scatters the batch, copies the parameters to the others, gathers "
                "their outputs and sums their gradients, then steps alone.",
            .use_when = "A first try on one node, with a model that fits one device.",
            .scalability = "Ends with the node, and earlier where the first device is the neck: "
                           "it sends, sums and steps while the others wait.",
            .adoption = "Wrap the model; no launcher.",
            .latency = "Copies in the open, one after the other, in every step.",
            .fault_tolerance = "One process: whatever happens to one device ends it.",
            .examples = "Notebooks, small vision models.",
            .exchanges_activations = false,
            .supported_by = {&torch_dp},
            .source = "PyTorch nn.DataParallel; Li 2020 (arXiv 2006.15704)",
        },
    [SL_STRATEGY_DDP] =
        {
            .definition = "Every device has its own process with a whole copy of the model.",
            .how_it_works = "Each replica works on its part of the batch; buckets of gradients are "
                            "averaged by all-reduce while backward still runs.",
            .use_when = "The model fits one device and the data is large.",
            .scalability = "As long as backward is long enough to hide the all-reduce, and the "
                           "batch has a sequence for every replica.",
            .adoption = "Wrap the model and start one process per device.",
            .latency = "One ring per bucket, hidden but for the last.",
            .fault_tolerance = "The job stops with a lost device, though every other replica still "
                               "holds all states.",
            .examples = "ResNet, BERT, fine-tuning of small language models.",
            .exchanges_activations = false,
            .supported_by = {&torch_ddp, &accelerate},
            .source = "Li 2020 (arXiv 2006.15704)",
        },
    [SL_STRATEGY_ZERO_1] =
        {
            .definition = "Replicas that divide the optimizer's states among themselves.",
            .how_it_works = "Gradients are reduced to the rank that owns their part, which steps "
                            "and sends the new weights to all by all-gather.",
            .use_when = "The model fits but its optimizer does not.",
            .scalability = "As DDP, which it exchanges as much as.",
            .adoption = "A configuration, no change to the model.",
            .latency = "A reduction and a gather per step.",
            .fault_tolerance = "A lost device takes its part of the states with it: back to the "
                               "last checkpoint.",
            .examples = "Megatron's distributed optimizer, mid-size language models.",
            .exchanges_activations = false,
            .supported_by = {&deepspeed, &megatron, &accelerate},
            .source = "Rajbhandari 2020 (arXiv 1910.02054)",
        },
    [SL_STRATEGY_ZERO_2] =
        {
            .definition = "ZeRO 1 whose gradients are divided as well.",
            .how_it_works = "Each micro-batch reduces its gradients to their owners and lets them "
                            "go; owners step and send the new weights to all.",
            .use_when = "Gradients are what is too much; few micro-batches are accumulated.",
            .scalability = "As DDP for one micro-batch; each one more reduces everything again.",
            .adoption = "A configuration, no change to the model.",
            .latency = "A reduction per micro-batch and a gather per step.",
            .fault_tolerance = "A lost device takes its part of the states with it: back to the "
                               "last checkpoint.",
            .examples = "Fine-tuning of language models on a node or two.",
            .exchanges_activations = false,
            .supported_by = {&deepspeed, &accelerate},
            .source = "Rajbhandari 2020 (arXiv 1910.02054)",
        },
    [SL_STRATEGY_ZERO_3] =
        {
            .definition = "Replicas that divide parameters, gradients and optimizer states.",
            .how_it_works =
                "Parameters of a layer are gathered before its forward and again before "
                "its backward, then let go; gradients are reduced to their owners.",
            .use_when = "The model is larger than a device and its layers are not.",
            .scalability = "As long as computing a layer takes longer than gathering the next.",
            .adoption = "A configuration, no change to the model.",
            .latency = "Gathers of every layer, forward and backward, in every micro-batch.",
            .fault_tolerance = "Nobody holds a whole copy: back to the last checkpoint.",
            .examples = "Language models on clusters without fast tensor links.",
            .exchanges_activations = false,
            .supported_by = {&deepspeed, &accelerate},
            .source = "Rajbhandari 2020 (arXiv 1910.02054)",
        },
    [SL_STRATEGY_FSDP_SHARD_GRAD_OP] =
        {
            .definition = "FSDP that keeps what it gathered from forward to backward.",
            .how_it_works = "Units are gathered once a micro-batch; gradients and states stay "
                            "divided.",
            .use_when = "The weights fit a device in half precision, their states do not.",
            .scalability = "Better than full_shard, which gathers again for backward.",
            .adoption = "Wrap units and choose the mode.",
            .latency = "A gather before forward and a reduction after backward, by unit.",
            .fault_tolerance = "Nobody holds a whole copy: back to the last checkpoint.",
            .examples = "Models of a few billion parameters on one node.",
            .exchanges_activations = false,
            .supported_by = {&torch_fsdp, &torchtitan, &accelerate},
            .source = "Zhao 2023 (arXiv 2304.11277)",
        },
    [SL_STRATEGY_FSDP_FULL_SHARD] =
        {
            .definition = "PyTorch's ZeRO 3: units whose parameters are gathered when they run.",
            .how_it_works = "The parameters of a unit are cut evenly; while one computes the next "
                            "is gathered, and what is done with is let go.",
            .use_when = "The model is larger than a device and the code is PyTorch's.",
            .scalability = "As long as a unit computes longer than the next takes to gather.",
            .adoption = "Wrap units by a policy; checkpoints are sharded, too.",
            .latency = "Gathers and reductions of every unit, in every micro-batch.",
            .fault_tolerance = "Nobody holds a whole copy: back to the last checkpoint.",
            .examples = "Llama in torchtitan, LLM Foundry's models.",
            .exchanges_activations = false,
            .supported_by = {&torch_fsdp, &torchtitan, &accelerate},
            .source = "Zhao 2023 (arXiv 2304.11277)",
        },
    [SL_STRATEGY_HSDP] =
        {
            .definition = "Full sharding inside a node, replicas of that between nodes.",
            .how_it_works = "Gathers stay on the links of a node; between nodes only the part of a "
                            "gradient that a rank owns is averaged.",
            .use_when = "The model fits a node, and there are many nodes with slow links.",
            .scalability = "With the nodes, as DDP does on what a rank owns.",
            .adoption = "Wrap units and lay out a mesh of two dimensions.",
            .latency = "Short rings in a node, one reduction between nodes.",
            .fault_tolerance = "Every other node still holds a whole copy.",
            .examples = "Models of tens of billions on hundreds of devices.",
            .exchanges_activations = false,
            .supported_by = {&torch_fsdp, &torchtitan, &accelerate},
            .source = "Zhao 2023 (arXiv 2304.11277)",
        },
    [SL_STRATEGY_HSDP_ZERO_2] =
        {
            .definition = "Hybrid sharding that keeps what it gathered until backward.",
            .how_it_works = "As hybrid sharding, with one gather less in each micro-batch.",
            .use_when = "Weights fit a device in half precision; nodes are many.",
            .scalability = "With the nodes, as DDP does on what a rank owns.",
            .adoption = "Wrap units and lay out a mesh of two dimensions.",
            .latency = "Short rings in a node, one reduction between nodes.",
            .fault_tolerance = "Every other node still holds a whole copy.",
            .examples = "Models of a few billion on many nodes.",
            .exchanges_activations = false,
            .supported_by = {&torch_fsdp, &accelerate},
            .source = "Zhao 2023 (arXiv 2304.11277)",
        },
    [SL_STRATEGY_TENSOR] =
        {
            .definition = "Each matrix is cut over the devices of a scale-up domain.",
            .how_it_works = "Columns of the first product, rows of the second: a reduction closes "
                            "each attention and each MLP; norms split along the sequence.",
            .use_when = "Single layers or their activations are too large, and links are fast.",
            .scalability = "Stops at the scale-up domain, at the heads, and where the pieces of "
                           "the products become too thin.",
            .adoption = "The model's layers have to be written for it.",
            .latency = "In every layer, forward and backward, with little to hide it.",
            .fault_tolerance = "Without all ranks of a cut no layer runs; other replicas hold "
                               "copies.",
            .examples = "The inside of a node in GPT and Llama training.",
            .exchanges_activations = true,
            .supported_by = {&megatron, &torchtitan},
            .source = "Shoeybi 2019 (arXiv 1909.08053); Korthikanti 2022 (arXiv 2205.05198)",
        },
    [SL_STRATEGY_PIPELINE] =
        {
            .definition = "Runs of layers on different devices, fed with micro-batches.",
            .how_it_works = "Each stage passes its output on and turns to the next micro-batch; "
                            "1F1B alternates forward and backward so that few are alive.",
            .use_when = "The model is large and links between nodes are slow.",
            .scalability = "Needs many more micro-batches than stages, and layers for them all.",
            .adoption = "The model has to be split, and its stages balanced.",
            .latency = "Small messages between neighbours; fill and drain once a step.",
            .fault_tolerance = "Without one stage none runs; other replicas hold copies.",
            .examples = "Between nodes in GPT and Llama training.",
            .exchanges_activations = true,
            .supported_by = {&megatron, &torch_pipeline, &deepspeed},
            .source = "Huang 2019 (GPipe); Narayanan 2021 (arXiv 2104.04473)",
        },
    [SL_STRATEGY_LAYER_WISE] =
        {
            .definition = "Consecutive layers on each device, one device working at a time.",
            .how_it_works = "The batch walks from device to device and its gradients walk back; "
                            "all others wait.",
            .use_when = "The model is slightly larger than one device, and time matters little.",
            .scalability = "Adds memory and no speed; the largest layer has to fit one device.",
            .adoption = "A few lines that move tensors between devices.",
            .latency = "One message at each boundary and pass.",
            .fault_tolerance = "Every device is needed, and holds the only copy of its layers.",
            .examples = "A network split over the two cards of a workstation.",
            .exchanges_activations = true,
            .supported_by = {&by_hand, &device_map},
            .source = "PyTorch model parallel tutorial; Huang 2019 for what it wastes",
        },
    [SL_STRATEGY_LAYER_WISE_DDP] =
        {
            .definition = "Replicas of several devices each, layer-wise inside.",
            .how_it_works = "Every process owns a run of devices and walks through them; replicas "
                            "average their gradients.",
            .use_when = "The model is slightly larger than one device and the data is large.",
            .scalability = "With the replicas, as DDP; inside one all but one device wait.",
            .adoption = "The split by hand, then the wrapper without device ids.",
            .latency = "One message at each boundary, one ring per bucket.",
            .fault_tolerance = "The job stops; every other replica holds all states.",
            .examples = "Early large vision models, PyTorch's DDP tutorial.",
            .exchanges_activations = true,
            .supported_by = {&by_hand, &torch_ddp},
            .source = "PyTorch DDP tutorial, combining with model parallelism",
        },
    [SL_STRATEGY_CPU_LAYERS] =
        {
            .definition = "The last blocks run on the host's processors, from its memory.",
            .how_it_works = "Hidden states cross the host's link; the device waits while the host "
                            "computes.",
            .use_when = "The model lacks a few layers of fitting and no other device is there.",
            .scalability = "Each block costs as long as the processors take for it.",
            .adoption = "A map of layers to devices.",
            .latency = "The host's link in both directions, in every micro-batch.",
            .fault_tolerance = "One copy of every layer: back to the last checkpoint.",
            .examples = "Trying a model on a workstation.",
            .exchanges_activations = true,
            .supported_by = {&device_map, &by_hand},
            .source = "Hugging Face Accelerate, big model inference",
        },
    [SL_STRATEGY_OFFLOAD] =
        {
            .definition = "ZeRO whose optimizer, and if need be parameters, live with the host.",
            .how_it_works = "Gradients go down while backward runs, the processors step, and new "
                            "weights come up; parameters are fetched when they are gathered.",
            .use_when = "Devices are few and the host's memory is large.",
            .scalability =
                "The link to the host and its processors are shared by a node's devices.",
            .adoption = "A configuration, and a host with the memory and the instructions.",
            .latency = "The host's link and the update on processors, in every step.",
            .fault_tolerance = "A lost node takes its part of the states with it: back to the last "
                               "checkpoint.",
            .examples = "Fine-tuning of tens of billions on a single node.",
            .exchanges_activations = false,
            .supported_by = {&deepspeed, &torch_fsdp, &accelerate},
            .source = "Ren 2021 (arXiv 2101.06840); Rajbhandari 2021 (arXiv 2104.07857)",
        },
    [SL_STRATEGY_MIXED] =
        {
            .definition = "Tensor cuts inside a node, stages between, replicas of all that.",
            .how_it_works = "Each cut takes the links it needs: the most talkative the fastest "
                            "ones; optimizer states are divided over the replicas.",
            .use_when = "Model and data are both large.",
            .scalability =
                "The furthest: each cut stops before its own limit and the next goes on.",
            .adoption = "A framework that has all cuts, and a search for the degrees.",
            .latency = "Each group its own, the frequent ones on the shortest links.",
            .fault_tolerance = "One job: a lost device stops all of it until it restarts.",
            .examples = "GPT, Llama and DeepSeek pretraining.",
            .exchanges_activations = true,
            .supported_by = {&megatron, &torchtitan, &deepspeed},
            .source = "Narayanan 2021 (arXiv 2104.04473)",
        },
};

static const char *const situations[] = {
    [SL_SITUATION_DATA_LARGE] = "The model fits one device: the data is what is large.",
    [SL_SITUATION_SLIGHTLY_LARGE] = "The model is slightly larger than one device.",
    [SL_SITUATION_MODEL_LARGE] = "The model is large: one replica takes most of the devices.",
    [SL_SITUATION_BOTH] = "Model and data are large: there are devices for several replicas.",
};
_Static_assert(sizeof situations / sizeof situations[0] == SL_SITUATION_COUNT, "a word for each");

static const sl_tuning_words tunings[] = {
    [SL_TUNING_FULL] =
        {
            .definition = "All weights train.",
            .how_it_works = "Gradients and optimizer states of every parameter, as in pretraining.",
            .kept = "A whole new model, as large as the base.",
            .lost = "Nothing of quality; what the base knew can be forgotten.",
            .source = "Lv 2023 (arXiv 2306.09782) for what it takes",
        },
    [SL_TUNING_LORA] =
        {
            .definition =
                "The weights are frozen; a product of two thin matrices beside each trains.",
            .how_it_works = "Only adapters have gradients and states; backward still runs through "
                            "the whole model.",
            .kept = "A small file of adapters, merged into the weights at the end without any cost "
                    "at inference.",
            .lost = "Updates of high rank: what is far from the base is learned less well.",
            .source = "Hu 2021 (arXiv 2106.09685)",
        },
    [SL_TUNING_LORA_INT8] =
        {
            .definition = "LoRA on a base stored in eight bits.",
            .how_it_works = "Products run in eight bits but for outlying features, which stay in "
                            "sixteen.",
            .kept = "Adapters; merging them needs the base in sixteen bits again.",
            .lost = "A little precision of the base, and speed.",
            .source = "Dettmers 2022 (arXiv 2208.07339)",
        },
    [SL_TUNING_QLORA] =
        {
            .definition = "LoRA on a base stored in four-bit NormalFloat.",
            .how_it_works = "Weights are expanded to sixteen bits where they are multiplied, in "
                            "forward and again in backward.",
            .kept = "Adapters; merged into the base they were trained on they have to be rounded "
                    "with it.",
            .lost = "Precision of the base, which adapters learn to make up for, and speed.",
            .source = "Dettmers 2023 (arXiv 2305.14314)",
        },
    [SL_TUNING_QLORA_DOUBLE] =
        {
            .definition = "QLoRA whose scales are quantised as well.",
            .how_it_works = "As QLoRA, with the scales of blocks in eight bits and one for many of "
                            "them.",
            .kept = "Adapters, as with QLoRA.",
            .lost = "Next to nothing beyond QLoRA.",
            .source = "Dettmers 2023 (arXiv 2305.14314)",
        },
};
_Static_assert(sizeof tunings / sizeof tunings[0] == SL_TUNING_METHOD_COUNT, "words for each");

const sl_strategy_words *
sl_strategy_describe(sl_strategy strategy)
{
    assert(strategy < SL_STRATEGY_COUNT && strategies[strategy].definition != NULL);
    return &strategies[strategy];
}

const char *
sl_situation_describe(sl_situation situation)
{
    assert(situation < SL_SITUATION_COUNT);
    return situations[situation];
}

const sl_tuning_words *
sl_tuning_describe(sl_tuning_method method)
{
    assert(method < SL_TUNING_METHOD_COUNT);
    return &tunings[method];
}
