"""What is run: shapes of published models, some cut to fewer layers, with random weights."""


def llama(layers, h, ffn, a, kv, vocab=128256, tied=False, **more):
    return dict(num_hidden_layers=layers, hidden_size=h, intermediate_size=ffn, num_attention_heads=a,
                num_key_value_heads=kv, vocab_size=vocab, tie_word_embeddings=tied,
                max_position_embeddings=32768, **more)


LLAMA_1B = llama(16, 2048, 8192, 32, 8, tied=True)
LLAMA_3B = llama(28, 3072, 8192, 24, 8, tied=True)
LLAMA_8B = llama(32, 4096, 14336, 32, 8)
LLAMA2_7B = llama(32, 4096, 11008, 32, 32, vocab=32000)
QWEN_1B = llama(28, 1536, 8960, 12, 2, vocab=151936, tied=True)
QWEN3_1B = llama(28, 2048, 6144, 16, 8, vocab=151936, tied=True, head_dim=128)
GPT2_L = dict(n_layer=36, n_embd=1280, n_head=20, n_positions=1024, vocab_size=50257)
BERT_L = dict(num_hidden_layers=24, hidden_size=1024, num_attention_heads=16, intermediate_size=4096,
              vocab_size=30522)
GEMMA2_2B = llama(26, 2304, 9216, 8, 4, vocab=256000, tied=True, head_dim=256)
PYTHIA_1B = dict(num_hidden_layers=24, hidden_size=2048, num_attention_heads=16,
                 intermediate_size=8192, vocab_size=50304, max_position_embeddings=2048)
OLMOE = llama(6, 2048, 1024, 16, 16, vocab=50304, num_experts=64, num_experts_per_tok=8)
QWEN3_MOE = llama(8, 2048, 6144, 32, 4, vocab=151936, head_dim=128, num_experts=128,
                  num_experts_per_tok=8, moe_intermediate_size=768, norm_topk_prob=True)
SMALL = llama(8, 512, 1408, 8, 8, vocab=32000)

LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def of(name, model_type, config, micro_batch, seq_len, **more):
    return dict(name=name, model_type=model_type, config=config, micro_batch=micro_batch,
                seq_len=seq_len, **more)


LIBRARY = [
    of("llama 1B", "llama", LLAMA_1B, 4, 2048),
    of("llama 1B", "llama", LLAMA_1B, 4, 2048, layout="amp"),
    of("llama 1B", "llama", LLAMA_1B, 8, 2048, layout="amp", recompute="full"),
    of("llama 1B", "llama", LLAMA_1B, 16, 2048, recompute="full"),
    of("llama 1B", "llama", LLAMA_1B, 4, 2048, optimizer="adamw foreach"),
    of("llama 1B", "llama", LLAMA_1B, 4, 1024, attention="eager"),
    of("llama 3B", "llama", LLAMA_3B, 2, 4096, recompute="full"),
    of("llama 3B", "llama", LLAMA_3B, 2, 2048),
    of("llama 8B", "llama", LLAMA_8B, 1, 2048, lora=dict(r=16, lora_alpha=16, target_modules=["q_proj", "v_proj"])),
    of("llama 8B", "llama", LLAMA_8B, 2, 4096, recompute="full", lora=dict(r=16, lora_alpha=16, target_modules=LINEAR)),
    of("llama2 7B", "llama", LLAMA2_7B, 2, 2048, lora=dict(r=64, lora_alpha=16, lora_dropout=0.05, target_modules=LINEAR)),
    of("qwen2.5 1.5B", "qwen2", QWEN_1B, 4, 2048),
    of("qwen3 1.7B", "qwen3", QWEN3_1B, 4, 2048),
    of("gpt2 large", "gpt2", GPT2_L, 8, 1024, layout="amp"),
    of("gpt2 large", "gpt2", GPT2_L, 8, 1024),
    of("bert large", "bert", BERT_L, 16, 512, layout="amp fp16", **{"class": "AutoModelForSequenceClassification"}),
    of("bert large", "bert", BERT_L, 16, 512, layout="fp32", attention="eager", **{"class": "AutoModelForSequenceClassification"}),
    of("bert large", "bert", BERT_L, 32, 384, layout="amp fp16", attention="eager", **{"class": "AutoModelForSequenceClassification"}),
    of("gemma2 2B", "gemma2", GEMMA2_2B, 2, 2048, attention="eager"),
    of("pythia 1.4B", "gpt_neox", PYTHIA_1B, 4, 2048),
    of("olmoe, 6 layers", "olmoe", OLMOE, 4, 2048),
    of("qwen3 moe, 8 layers", "qwen3_moe", QWEN3_MOE, 2, 2048),
    of("small", "llama", SMALL, 2, 256),
    of("llama 1B", "llama", LLAMA_1B, 1, 128),
    of("llama 1B", "llama", LLAMA_1B, 1, 16384, recompute="full"),
    of("llama 1B", "llama", LLAMA_1B, 2, 2048, accumulation=4),
    of("llama 1B", "llama", LLAMA_1B, 4, 2048, optimizer="sgd"),
]


def plain(layers, h, ffn, a, kv, vocab=128256):
    return dict(L=layers, h=h, ffn=ffn, a=a, kv=kv, head_dim=h // a, vocab=vocab)


PLAIN_1B = plain(16, 2048, 8192, 32, 8)
PLAIN_3B = plain(28, 3072, 8192, 24, 8)
PLAIN_8B = plain(32, 4096, 14336, 32, 8)


def cut(name, config, dp, micro_batch, seq_len, **more):
    return dict(name=name, config=config, dp=dp, micro_batch=micro_batch, seq_len=seq_len, clip=True,
                seconds=1.0) | more


SHARDED = [
    cut("plain 8B", PLAIN_8B, 8, 1, 8192, recompute="op_sac"),
    cut("plain 8B", PLAIN_8B, 8, 1, 8192, recompute="full"),
    cut("plain 8B", PLAIN_8B, 64, 1, 8192, recompute="op_sac"),
    cut("plain 8B", PLAIN_8B, 8, 1, 8192, recompute="full", reshard="never"),
    cut("plain 8B", PLAIN_8B, 8, 1, 4096),
    cut("plain 3B", PLAIN_3B, 8, 2, 4096),
    cut("plain 3B", PLAIN_3B, 16, 2, 4096, recompute="full", framework="fsdp1"),
    cut("plain 3B", PLAIN_3B, 16, 2, 4096, recompute="full", framework="fsdp1", reduce="fp32"),
    cut("plain 3B", PLAIN_3B, 8, 1, 4096, framework="fsdp1", sharding="SHARD_GRAD_OP"),
    cut("plain 1B", PLAIN_1B, 1, 4, 2048, framework="ddp", layout="pure bf16"),
    cut("plain 1B", PLAIN_1B, 1, 4, 2048, framework="ddp", layout="amp"),
    cut("plain 1B", PLAIN_1B, 1, 4, 2048, framework="plain", layout="pure bf16"),
    cut("plain 1B", PLAIN_1B, 1, 4, 2048, framework="plain", layout="amp"),
]

COMPILED = [
    cut("plain 1B", PLAIN_1B, 1, 4, 2048, framework="plain", layout="pure bf16", compile="whole"),
    cut("plain 8B", PLAIN_8B, 8, 1, 8192, recompute="op_sac", compile="blocks"),
    cut("plain 8B", PLAIN_8B, 8, 1, 8192, recompute="full", compile="blocks"),
    cut("plain 8B", PLAIN_8B, 8, 1, 4096, compile="blocks"),
    cut("plain 3B", PLAIN_3B, 8, 2, 4096, compile="loss"),
    cut("plain 1B", PLAIN_1B, 1, 4, 2048, framework="plain", layout="amp", compile="whole"),
]

QWEN3_32B = plain(64, 5120, 25600, 64, 8, vocab=151936) | dict(head_dim=128, qk_norm=True)
LLAMA_70B = plain(80, 8192, 28672, 64, 8)
LATENT = plain(4, 2048, 10944, 16, 16, vocab=102400) | dict(mla=(512, 128, 64, 128))
ROUTED = dict(experts=(64, 6, 1408, 2816))


def layers(config, count):
    return config | dict(L=count)


TENSOR = [
    cut("qwen3 32B", QWEN3_32B, 4, 16, 4096, tp=8, recompute="full"),
    cut("plain 70B, 8 layers", layers(LLAMA_70B, 8), 32, 16, 8192, tp=8, recompute="full", compile="blocks"),
    cut("plain 70B, 8 layers", layers(LLAMA_70B, 8), 32, 16, 8192, tp=8, recompute="full"),
    cut("plain 70B, 8 layers", layers(LLAMA_70B, 8), 32, 1, 8192, tp=8),
    cut("plain 8B", PLAIN_8B, 4, 1, 8192, tp=2),
    cut("plain 8B", PLAIN_8B, 4, 1, 8192, tp=2, recompute="op_sac"),
    cut("qwen3 32B, 8 layers", layers(QWEN3_32B, 8), 8, 32, 4096, tp=8, recompute="full"),
    cut("plain 8B", PLAIN_8B, 4, 2, 8192, tp=2, recompute="op_sac", compile="blocks"),
]

EXPERTS = [
    cut("latent, 4 layers", LATENT, 8, 2, 4096),
    cut("latent experts, 4 layers", LATENT | ROUTED, 8, 2, 4096),
    cut("latent experts, 4 layers", LATENT | ROUTED, 8, 2, 4096, recompute="full"),
    cut("experts, 4 layers", plain(4, 2048, 1408, 16, 16, vocab=102400) | ROUTED, 8, 2, 4096),
]

FURTHER = [
    cut("plain 8B", PLAIN_8B, 4, 1, 8192, tp=2, recompute="op_sac", sums_kept=True, seconds=0.5),
    cut("latent experts, 4 layers", LATENT | ROUTED, 8, 2, 4096, ep=4, clip=False),
    cut("latent experts, 4 layers", LATENT | ROUTED, 8, 2, 4096, ep=8, recompute="full", clip=False),
    cut("plain 8B", PLAIN_8B, 4, 2, 8192, tp=2, recompute="op_sac", sums_kept=True, compile="all"),
    cut("plain 70B, 8 layers", layers(LLAMA_70B, 8), 32, 16, 8192, tp=8, recompute="full", compile="all"),
    cut("plain 8B", PLAIN_8B, 8, 1, 8192, recompute="full", offload="cpu", timed=False),
    cut("plain 3B", PLAIN_3B, 8, 1, 4096, tp=2),
    cut("plain 8B, dp 4", PLAIN_8B, 2, 1, 8192, tp=2, recompute="op_sac", sums_kept=True, compile="blocks"),
]


def like(name, model_type, micro_batch=4, seq_len=2048, **config):
    more = {key: config.pop(key) for key in ("layout", "attention", "class", "recompute") if key in config}
    return of(name, model_type, config, micro_batch, seq_len, seconds=0.6, **more)


# Asked before they were run: families of transformers with what sets each apart.
SWEEP = [
    like("gemma3 1B", "gemma3_text", **llama(26, 1152, 6912, 4, 1, vocab=262144, tied=True, head_dim=256)),
    like("phi 1.5", "phi", **llama(24, 2048, 8192, 32, 32, vocab=51200)),
    like("phi3, 12 layers", "phi3", **llama(12, 3072, 8192, 32, 32, vocab=32064)),
    like("opt 1.3B", "opt", num_hidden_layers=24, hidden_size=2048, ffn_dim=8192, num_attention_heads=32,
         vocab_size=50272, word_embed_proj_dim=2048),
    like("falcon, 12 layers", "falcon", num_hidden_layers=12, hidden_size=4544, num_attention_heads=71,
         vocab_size=65024, new_decoder_architecture=False, multi_query=True, parallel_attn=True, bias=False),
    like("bloom 1B", "bloom", n_layer=24, hidden_size=1536, n_head=16, vocab_size=250880),
    like("mpt, 12 layers", "mpt", n_layers=12, d_model=4096, n_heads=32, vocab_size=50432, max_seq_len=2048),
    like("starcoder2, 12 layers", "starcoder2", **llama(12, 3072, 12288, 24, 2, vocab=49152)),
    like("stablelm 1.6B", "stablelm", **llama(24, 2048, 5632, 32, 32, vocab=100352)),
    like("olmo2 1B", "olmo2", **llama(16, 2048, 8192, 16, 16, vocab=100352)),
    like("mistral, 12 layers", "mistral", **llama(12, 4096, 14336, 32, 8, vocab=32768)),
    like("mixtral, 2 layers", "mixtral", **llama(2, 4096, 14336, 32, 8, vocab=32000, num_local_experts=8,
                                               num_experts_per_tok=2)),
    like("deepseek v2 lite, 4 layers", "deepseek_v2", **llama(4, 2048, 10944, 16, 16, vocab=102400),
         n_routed_experts=64, num_experts_per_tok=6, moe_intermediate_size=1408, n_shared_experts=2,
         first_k_dense_replace=1, q_lora_rank=None, kv_lora_rank=512, qk_nope_head_dim=128,
         qk_rope_head_dim=64, v_head_dim=128),
    like("gpt-j, 8 layers", "gptj", n_layer=8, n_embd=4096, n_head=16, rotary_dim=64, n_positions=2048, vocab_size=50400),
    like("gpt_bigcode 1B", "gpt_bigcode", n_layer=24, n_embd=2048, n_head=16, n_positions=2048, vocab_size=49152),
    like("cohere, 8 layers", "cohere", **llama(8, 4096, 11264, 32, 8, vocab=256000, tied=True)),
    like("granite 2B, 20 layers", "granite", **llama(20, 2048, 8192, 32, 8, vocab=49155, tied=True)),
    like("glm4, 8 layers", "glm4", **llama(8, 4096, 13696, 32, 2, vocab=151552, head_dim=128)),
    like("nemotron, 8 layers", "nemotron", **llama(8, 4096, 16384, 32, 8, vocab=131072)),
    like("t5 large", "t5", 8, 512, num_layers=24, d_model=1024, d_ff=4096, num_heads=16, d_kv=64, vocab_size=32128,
         attention="eager", **{"class": "AutoModelForSeq2SeqLM"}),
    like("roberta large", "roberta", 16, 512, num_hidden_layers=24, hidden_size=1024, num_attention_heads=16,
         intermediate_size=4096, vocab_size=50265, max_position_embeddings=514,
         **{"class": "AutoModelForMaskedLM"}),
    like("gemma3 1B", "gemma3_text", layout="amp", **llama(26, 1152, 6912, 4, 1, vocab=262144, tied=True, head_dim=256)),
    like("qwen2 moe, 6 layers", "qwen2_moe", **llama(6, 2048, 5632, 16, 16, vocab=151936, num_experts=60,
         num_experts_per_tok=4, moe_intermediate_size=1408, shared_expert_intermediate_size=5632)),
    like("opt 1.3B", "opt", layout="amp", num_hidden_layers=24, hidden_size=2048, ffn_dim=8192, num_attention_heads=32,
         vocab_size=50272, word_embed_proj_dim=2048),
]
