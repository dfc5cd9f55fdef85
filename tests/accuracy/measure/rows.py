"""Lines of steps.py as rows of training_memory.csv and training_throughput.csv.

    python3 rows.py h100 memory ../data/h100/steps.jsonl > memory.csv
    python3 rows.py h200 throughput ../data/h200/steps.jsonl > throughput.csv

A run with "memory": false is no row of memory: what another card shows already, to the byte, what
no request has words for, or what own_runs.test.mjs asks by its whole configuration; "throughput"
likewise.
"""
import csv
import json
import sys

# By card: the source, what was there, the first letter of its rows, its name in
# both tables and its GiB.
CARDS = {
    "h100": ("Shardline on H100 (2026-11)", "one H100 SXM5 80GB, torch 2.11.0+cu130, transformers 5.17.0",
             "H", "H100 SXM", 79.18, "H100 SXM 80GB"),
    "h200": ("Shardline on H200 (2026-11)", "one H200 SXM5 141GB, torch 2.11.0+cu130, transformers 5.17.0",
             "K", "H200", 139.8, "H200 SXM 141GB")}
SOURCE, CARD, LETTER, PART, PART_GIB, STEP_PART = CARDS[sys.argv[1]]
REF = "tests/accuracy/measure/steps.py, " + CARD
MEMORY = (
    "row_id,source,source_ref,provenance,completeness,metric,stage,measured_peak_gib,measured_value,"
    "measured_unit,other_measured,model,params_b,L,h,a,kv,head_dim,ffn,vocab,tied,moe,mla,framework,"
    "sharding,reshard_after_forward,cpu_offload,gpu,gpu_mem_gib,num_gpus,tp,sp,pp,vpp,schedule,dp,cp,"
    "ep,etp,micro_batch,seq_len,num_microbatches,recompute,precision_layout,optimizer,attention,"
    "compile,ce_impl,peft,lora_rank,base_quant,notes,software").split(",")
STEPS = (
    "id,source,framework,software,task,model,layers,hidden,ffn_hidden,heads,kv_heads,head_dim,vocab,"
    "seq_len,experts,experts_topk,gpu,num_gpus,gpus_per_node,inter_node_link,tp,pp,vpp,schedule,dp,cp,"
    "ep,sequence_parallel,zero_stage_or_fsdp,global_batch_sequences,micro_batch,recompute,precision,"
    "optimizer,flash_attention,flags,measured_step_s,topology_id,scored,completeness,notes").split(",")

KEYS = (("L", "num_hidden_layers", "n_layer"), ("h", "hidden_size", "n_embd"),
        ("a", "num_attention_heads", "n_head"), ("kv", "num_key_value_heads"),
        ("head_dim", "head_dim"), ("ffn", "intermediate_size"), ("vocab", "vocab_size"))
LAYOUTS = {"bf16": "pure bf16", "pure bf16": "pure bf16", "amp": "fp32 + bf16 autocast",
           "amp fp16": "fp32 + fp16 autocast", "fp32": "fp32"}
LIBRARY = ("HF transformers 5.17 (PyTorch 2.11)", "none")
OWN = {"fsdp2": ("torchtitan (a decoder after it)", "FSDP2"), "fsdp1": ("PyTorch", "FSDP1"),
       "ddp": ("PyTorch DDP", "none"), "plain": ("PyTorch DDP", "none")}
STRATEGIES = {"FULL_SHARD": "full_shard", "SHARD_GRAD_OP": "shard_grad_op"}


def shape_of(run):
    c = run["config"]
    shape = {name: next((c[key] for key in (name, *keys) if key in c), "") for name, *keys in KEYS}
    shape["kv"] = shape["kv"] or shape["a"]
    shape["head_dim"] = shape["head_dim"] or shape["h"] // shape["a"]
    shape["ffn"] = shape["ffn"] or 4 * shape["h"]
    return shape


def experts_of(run):
    c = run["config"]
    if "experts" in c:
        return "E={};topk={};moe_ffn={};shared_ffn={}".format(*c["experts"])
    if "num_experts" not in c:
        return ""
    width = c.get("moe_intermediate_size", c["intermediate_size"])
    return f"E={c['num_experts']} topk={c['num_experts_per_tok']} moe_ffn={width}"


def latent_of(run):
    mla = run["config"].get("mla")
    return "q_lora=0;kv_lora={};qk_nope={};qk_rope={};v={}".format(*mla) if mla else ""


def loss_words(run):
    """How the loss was computed, where it is not as compile or the profile has it."""
    if run.get("compile") in ("all", "loss") or run.get("compile") == "blocks" and run.get("tp", 1) == 1:
        return ""
    return "parallel" if run.get("tp", 1) > 1 else "eager"


def settings_of(run):
    """What both tables say in their own columns."""
    framework, sharding = OWN.get(run.get("framework"), LIBRARY)
    if run.get("framework") == "fsdp1":
        sharding += " " + STRATEGIES[run.get("sharding", "FULL_SHARD")]
    lora = run.get("lora")
    return {
        "framework": framework, "sharding": sharding, "model": run["name"],
        "recompute": {"op_sac": "op SAC"}.get(run.get("recompute"), run.get("recompute", "none")),
        "precision_layout": "bf16 base, no autocast" if lora else
            LAYOUTS[run.get("layout", "bf16" if "model_type" in run else "amp")],
        "optimizer": run.get("optimizer", "adamw fused").replace("adamw", "AdamW"),
        "attention": run.get("attention", "sdpa").replace("sdpa", "SDPA"),
        "compile": {"loss": "loss"}.get(run.get("compile"), "1" if run.get("compile") else "0"),
        "ce_impl": loss_words(run),
        "peft": "" if not lora else "LoRA " + ("all linear" if len(lora["target_modules"]) > 2 else "q, v")
            + (f", dropout {lora['lora_dropout']}" if lora.get("lora_dropout") else ""),
        "lora_rank": lora["r"] if lora else "",
    }


def sharded_settings(run, row):
    if run.get("framework") == "fsdp2":
        row["precision_layout"] = "fp32, bf16 compute, fp32 reduce"
    elif run.get("framework") == "fsdp1":
        row["precision_layout"] = f"fp32, bf16 compute, {run.get('reduce', 'bf16')} reduce"
    return row


def software_of(run):
    """The profile whose manner it has: torchtitan's root unit of early 2025, but PyTorch's norms of
    today, which are kept where nothing is recomputed."""
    if run.get("framework") == "fsdp2":
        late = run.get("sums_kept") or not run.get("recompute")
        return "torchtitan-2025-09" if late else "torchtitan-2025-04"
    return "pytorch-fsdp1-2.x" if run.get("framework") == "fsdp1" else "pytorch-ddp-2.x"


def memory_rows(runs):
    for at, run in enumerate(runs, 1):
        row = sharded_settings(run, settings_of(run)) | shape_of(run) | {
            "source": SOURCE, "source_ref": REF, "provenance": "measured", "completeness": "full",
            "tied": int(run["config"].get("tie_word_embeddings", run.get("model_type") in ("gpt2", "bert"))),
            "moe": experts_of(run), "mla": latent_of(run), "reshard_after_forward": run.get("reshard", ""),
            "gpu": PART, "software": software_of(run), "gpu_mem_gib": PART_GIB,
            "num_gpus": run.get("dp", 1) * run.get("tp", 1), "tp": run.get("tp", 1),
            "sp": int(run["tp"] > 1) if "tp" in run else "", "pp": 1, "dp": run.get("dp", 1),
            "cp": 1, "ep": run.get("ep", 1), "cpu_offload": "fsdp parameters" if run.get("offload") else "",
            "micro_batch": run["micro_batch"], "seq_len": run["seq_len"],
            "num_microbatches": run.get("accumulation", 1), "notes": notes_of(run),
            "other_measured": "peaks of forward, backward and step, allocated between steps: " + ", ".join(
                f"{run[key + '_bytes'] / 2**30:.3f}"
                for key in ("forward_peak", "backward_peak", "optimizer_peak", "steady")) + " GiB"}
        metrics = (("a", "allocated"), ("r", "reserved"), ("d", "device total"))
        # Of ranks that stand alone NCCL's buffers are missing outside the allocator.
        for letter, metric in metrics[:2] if "FSDP" in row["sharding"] else metrics:
            value = run[metric.split()[0] + "_bytes"]
            yield row | {"row_id": f"{LETTER}{at:03d}{letter}", "metric": metric, "measured_value": value,
                         "measured_unit": "bytes", "measured_peak_gib": round(value / 2**30, 3)}


def words_of(run):
    """Of the model, what shapes do not say."""
    words = ["resid_pdrop 0.1, the configuration's own"] if run.get("model_type") == "gpt2" else []
    return words + (["2-class head"] if "Classification" in run.get("class", "") else [])


def notes_of(run):
    alone = run.get("framework", "").startswith("fsdp")
    return "; ".join((["rank 0 of a process group whose others do not exist"] if alone else []) + words_of(run))


def flags_of(run, settings):
    """What steps have no columns for."""
    flags = ["compile"] if settings["compile"] == "1" else []
    if settings["peft"]:
        flags += ["peft=" + settings["peft"], f"lora_rank={settings['lora_rank']}"]
    return "|".join(flags + words_of(run)).replace(" ", "_")


def step_rows(runs):
    for at, run in enumerate(runs, 1):
        if run.get("framework", "").startswith("fsdp"):
            continue
        s, shape = settings_of(run), shape_of(run)
        c = run["config"]
        yield {
            "id": f"own{sys.argv[1]}-{at:03d}", "source": f"{SOURCE}: {REF}", "framework": s["framework"],
            "task": "lora" if run.get("lora") else "", "model": run["name"], "layers": shape["L"],
            "hidden": shape["h"], "ffn_hidden": c.get("moe_intermediate_size", shape["ffn"]),
            "heads": shape["a"], "kv_heads": shape["kv"], "head_dim": shape["head_dim"],
            "vocab": shape["vocab"], "seq_len": run["seq_len"], "experts": c.get("num_experts", ""),
            "experts_topk": c.get("num_experts_per_tok", ""), "gpu": STEP_PART, "num_gpus": 1,
            "gpus_per_node": 1, "tp": 1, "pp": 1, "dp": 1, "cp": 1, "ep": 1,
            "global_batch_sequences": run["micro_batch"] * run.get("accumulation", 1),
            "micro_batch": run["micro_batch"], "recompute": s["recompute"],
            "precision": s["precision_layout"], "optimizer": s["optimizer"],
            "flash_attention": int(s["attention"] == "SDPA"), "flags": flags_of(run, s),
            "measured_step_s": round(run["step_s"], 5), "scored": 1, "completeness": "full",
            "notes": f"{run['sm_mhz']} MHz, {run['watts']} W"}


def main():
    runs = [json.loads(line) for path in sys.argv[3:] for line in open(path)]
    memory = sys.argv[2] == "memory"
    runs = [run if "model_type" in run else {"framework": "fsdp2"} | run
            for run in runs if "config" in run and "error" not in run
            and run.get("memory" if memory else "throughput", True)]
    out = csv.DictWriter(sys.stdout, MEMORY if memory else STEPS, lineterminator="\n")
    out.writeheader()
    out.writerows((memory_rows if memory else step_rows)(runs))


main()
