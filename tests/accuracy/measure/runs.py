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
                seconds=1.0, **more)


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
