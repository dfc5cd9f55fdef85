"""Training steps on one device: peaks by phase, seconds, clock. Lines of JSON; the first argument is
how many seconds there are, the second which list of runs.

    python3 steps.py 150 library > library.jsonl    # models of transformers, PEFT
    python3 steps.py 60 sharded > sharded.jsonl     # fully_shard and FSDP1, as rank 0 of many
    python3 steps.py 120 sweep > sweep.jsonl        # other families, asked before they were run
    python3 steps.py 120 compiled > compiled.jsonl
    python3 steps.py 200 tensor > tensor.jsonl      # tensor parallel besides, loss in parallel
    python3 steps.py 60 experts > experts.jsonl
    python3 steps.py 120 further > further.jsonl    # of both, and offloaded parameters

Of all but `library` the other ranks do not exist (PyTorch's fake process group): memory is that of a real
rank without NCCL's buffers, and nothing waits, so that its seconds are of the kernels alone.
"""
import contextlib
import functools
import sys
import time

import torch
import torch.distributed as dist

import runs
from decoder import Block, Decoder, loss_of
from gauge import Clock, Watch, device_bytes, emit, failed, peak, release

BF16 = torch.bfloat16
clock = Clock()


class Phases:
    """Peaks of forward, backward and optimizer step, each from where it begins."""

    def __init__(self):
        self.peaks = {}

    def end(self, name):
        torch.cuda.synchronize()
        self.peaks[name] = max(self.peaks.get(name, 0), peak())
        torch.cuda.reset_peak_memory_stats()


def measure(run, step):
    """Three steps first, two for the peaks, then as many as fill the time. What building the model
    left in the allocator is given back before."""
    torch.cuda.empty_cache()
    for _ in range(3):
        step(lambda _: None)
    torch.cuda.synchronize()
    stats = {"steady_bytes": torch.cuda.memory_allocated()}
    phases = Phases()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(2):
        step(phases.end)
    stats |= {f"{name}_peak_bytes": value for name, value in phases.peaks.items()}
    stats["allocated_bytes"] = max(phases.peaks.values())
    stats["reserved_bytes"] = torch.cuda.memory_reserved()
    stats["device_bytes"] = device_bytes()
    if run.get("timed", True):
        with Watch() as watch:
            begun, steps = time.perf_counter(), 0
            while steps < 3 or (time.perf_counter() - begun < run.get("seconds", 1.5)):
                step(lambda _: None)
                torch.cuda.synchronize()
                steps += 1
            stats["step_s"] = (time.perf_counter() - begun) / steps
        stats |= watch.figures()
    return stats


def optimizer_of(run, parameters):
    how = run.get("optimizer", "adamw fused")
    if how == "sgd":
        return torch.optim.SGD(parameters, lr=1e-5)
    groups = {}  # one kernel takes tensors of one mesh
    for parameter in parameters:
        groups.setdefault(getattr(parameter, "device_mesh", None), []).append(parameter)
    groups = [{"params": each} for each in groups.values()]
    return torch.optim.AdamW(groups, lr=1e-5, **{how.split()[1]: True})


def in_parallel(run):
    """Where the loss is that of logits of which each rank has some columns."""
    from torch.distributed.tensor.parallel import loss_parallel
    return loss_parallel() if run.get("tp", 1) > 1 else contextlib.nullcontext()


def stepping(run, model, batch):
    """One step: forward, backward, optimizer, told when each ends."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = optimizer_of(run, parameters)
    autocast = {"amp": BF16, "amp fp16": torch.float16}.get(run.get("layout"))
    scaler = torch.amp.GradScaler(enabled=autocast == torch.float16)
    rounds = run.get("accumulation", 1)

    def step(ended):
        for _ in range(rounds):
            with in_parallel(run):
                with torch.autocast("cuda", autocast, enabled=autocast is not None):
                    loss = batch(model)
                ended("forward")
                scaler.scale(loss).backward()
                del loss
            ended("backward")
        if run.get("clip"):
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        ended("optimizer")

    return step


def library_model(run):
    import transformers
    c = run["config"]
    config = transformers.AutoConfig.for_model(run["model_type"], **c)
    config.use_cache = False
    kind = getattr(transformers, run.get("class", "AutoModelForCausalLM"))
    dtype = torch.float32 if run.get("layout", "bf16").startswith(("amp", "fp32")) else BF16
    with torch.device("cuda"):
        model = kind.from_config(config, attn_implementation=run.get("attention", "sdpa"), dtype=dtype)
    model.train()
    if run.get("recompute"):
        model.gradient_checkpointing_enable({"use_reentrant": False})
    if run.get("lora"):
        from peft import LoraConfig, get_peft_model
        if run.get("recompute"):
            model.enable_input_require_grads()
        model = get_peft_model(model, LoraConfig(**run["lora"]))
    if run.get("compile"):
        model = torch.compile(model)
    return model


def library_batch(run, model):
    vocab = run["config"]["vocab_size"]
    shape = (run["micro_batch"], run["seq_len"])
    ids = torch.randint(0, vocab, shape, device="cuda")
    labels = ids if "Classification" not in run.get("class", "") else ids[:, 0] % 2
    return lambda m: m(input_ids=ids, labels=labels).loss


def library(run):
    model = library_model(run)
    parameters = sum(p.numel() for p in model.parameters())
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    step = stepping(run, model, library_batch(run, model))
    emit(**run, parameters=parameters, trained=trained, **measure(run, step))


def as_rank_of(dp, tp=1, ep=1):
    if dist.is_initialized():
        dist.destroy_process_group()
    from torch.testing._internal.distributed.fake_pg import FakeStore
    dist.init_process_group("fake", rank=0, world_size=dp * tp, store=FakeStore())
    return dist.init_device_mesh("cuda", (dp // ep, ep, tp), mesh_dim_names=("apart", "expert", "tp"))


def tensor_parallel(model, mesh):
    """torchtitan's plan: sequence parallel between blocks, logits divided by vocabulary."""
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import (
        ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module)
    gathered = {"attention": PrepareModuleInput(input_layouts=(Shard(1), None), desired_input_layouts=(Replicate(), None)),
                "mlp": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),))}
    parallelize_module(model, mesh, {
        "embedding": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "norm": SequenceParallel(),
        "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False)})
    for block in model.layers:
        normed = block.attention.normed
        heads = {f"attention.{name}": ColwiseParallel(use_local_output=not normed) for name in ("wq", "wk")}
        norms = {f"attention.{name}": SequenceParallel(sequence_dim=2, use_local_output=True)
                 for name in ("q_norm", "k_norm") if normed}
        parallelize_module(block, mesh, gathered | heads | norms | {
            "attention_norm": SequenceParallel(), "mlp_norm": SequenceParallel(),
            "attention.wv": ColwiseParallel(), "attention.wo": RowwiseParallel(output_layouts=Shard(1)),
            "mlp.w1": ColwiseParallel(), "mlp.w3": ColwiseParallel(),
            "mlp.w2": RowwiseParallel(output_layouts=Shard(1))})


def saved_by_operator(sums_kept):
    """torchtitan's op-level list: attention, every other product and, but for some of 2025, what tensor
    parallel ranks add up."""
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts
    ops = torch.ops.aten
    kept = {ops._scaled_dot_product_flash_attention.default, ops._scaled_dot_product_cudnn_attention.default,
            ops._scaled_dot_product_efficient_attention.default}

    if sums_kept:
        kept.add(torch.ops._c10d_functional.reduce_scatter_tensor.default)

    def contexts():
        products = {True: 0, False: 0}

        def policy(context, op, *_, **__):
            if op == ops.mm.default:
                products[context.is_recompute] += 1
                keep = products[context.is_recompute] % 2 == 1
            else:
                keep = op in kept
            return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    return contexts


def recomputed(run, model):
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
    for name, block in model.layers.named_children():
        if run.get("recompute") == "op_sac":
            block = checkpoint_wrapper(block, context_fn=saved_by_operator(run.get("sums_kept")), preserve_rng_state=False)
        elif run.get("recompute") == "full":
            block = checkpoint_wrapper(block, preserve_rng_state=False)
        if run.get("compile") in ("blocks", "all"):
            block.compile(fullgraph=True)
        model.layers.register_module(name, block)


def fully_sharded(run, model, ranks):
    from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy, fully_shard
    policy = MixedPrecisionPolicy(param_dtype=BF16, reduce_dtype=torch.float32)
    offload = CPUOffloadPolicy() if run.get("offload") else OffloadPolicy()
    mesh = ranks["apart", "expert"]._flatten("dp")
    keep = {"mp_policy": policy, "mesh": mesh, "offload_policy": offload}
    last = len(model.layers) - 1
    for block in model.layers if run.get("ep", 1) > 1 else ():
        block.mlp.group = ranks["expert"].get_group()
        fully_shard(block.mlp.routed_experts, **keep | {"mesh": ranks["apart"]})
    for at, block in enumerate(model.layers):
        fully_shard(block, reshard_after_forward=run.get("reshard", "default") == "always" or
                    (run.get("reshard", "default") == "default" and at < last), **keep)
    fully_shard(model, reshard_after_forward=run.get("reshard", "default") != "never", **keep)
    return model


def first_sharded(run, model):
    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, ShardingStrategy
    from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
    policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})
    reduce = torch.float32 if run.get("reduce") == "fp32" else BF16
    return FullyShardedDataParallel(
        model, auto_wrap_policy=policy, use_orig_params=True, device_id=torch.cuda.current_device(),
        mixed_precision=MixedPrecision(param_dtype=BF16, reduce_dtype=reduce, buffer_dtype=torch.float32),
        sharding_strategy=ShardingStrategy[run.get("sharding", "FULL_SHARD")])


def replicated(model):
    from torch.nn.parallel import DistributedDataParallel
    if dist.is_initialized():
        dist.destroy_process_group()
    dist.init_process_group("nccl", rank=0, world_size=1, init_method="tcp://127.0.0.1:29511")
    return DistributedDataParallel(model, device_ids=[0])


def sharded(run):
    c = dict(run["config"], seq_len=run["seq_len"])
    framework = run.get("framework", "fsdp2")
    mesh = as_rank_of(run["dp"], run.get("tp", 1), run.get("ep", 1)) if framework.startswith("fsdp") else None
    meta = framework == "fsdp2"
    if run.get("ep", 1) > 1:
        c["ep"] = run["ep"]
    torch.set_default_dtype(BF16 if run.get("layout") == "pure bf16" else torch.float32)
    with torch.device("meta" if meta else "cuda"):
        model = Decoder(c)
    torch.set_default_dtype(torch.float32)
    if run.get("tp", 1) > 1:
        tensor_parallel(model, mesh["tp"])
    recomputed(run, model)
    if framework == "fsdp2":
        model = fully_sharded(run, model, mesh)
        model.to_empty(device="cpu" if run.get("offload") else "cuda")
        with torch.no_grad():
            for p in model.parameters():
                p.to_local().normal_(0, 0.02)
    elif framework == "fsdp1":
        model = first_sharded(run, model)
    elif framework == "ddp":
        model = replicated(model)
    if run.get("compile") == "whole":
        model = torch.compile(model)
    ids = torch.randint(0, c["vocab"], (run["micro_batch"], run["seq_len"]), device="cuda")
    compiled = run.get("compile") in ("loss", "all") or run.get("compile") == "blocks" and run.get("tp", 1) == 1
    loss = torch.compile(loss_of) if compiled else loss_of
    step = stepping(run, model, lambda m: loss(m(ids), ids))
    emit(**run, **measure(run, step))


def main():
    which = sys.argv[2]
    for run in getattr(runs, which.upper()):
        if clock.over():
            emit(name=run["name"], error="no time left")
            continue
        try:
            {"library": library, "sweep": library}.get(which, sharded)(run)
        except Exception as error:
            failed(run["name"], error)
        finally:
            torch._dynamo.reset()
            release()


main()
