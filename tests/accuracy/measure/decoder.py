"""A plain decoder in the manner of torchtitan's: RMSNorm, rotary embeddings by complex products in
fp32, grouped queries repeated for SDPA, a gated MLP of three linears, an untied head."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def rotations(width, length):
    angles = torch.outer(torch.arange(length, device="cuda").float(),
                         5e5 ** (-torch.arange(0, width, 2, device="cuda").float() / width))
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x, by):
    paired = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(paired * by.view(1, x.shape[1], 1, -1)).flatten(3).type_as(x)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.kv, self.width = c["a"], c["kv"], c["head_dim"]
        self.wq = nn.Linear(c["h"], self.heads * self.width, bias=False)
        self.wk = nn.Linear(c["h"], self.kv * self.width, bias=False)
        self.wv = nn.Linear(c["h"], self.kv * self.width, bias=False)
        self.wo = nn.Linear(self.heads * self.width, c["h"], bias=False)

    def forward(self, x, by):
        b, s, _ = x.shape
        q = rotate(self.wq(x).view(b, s, self.heads, self.width), by).transpose(1, 2)
        k = rotate(self.wk(x).view(b, s, self.kv, self.width), by)
        v = self.wv(x).view(b, s, self.kv, self.width)
        k, v = (t.repeat_interleave(self.heads // self.kv, dim=2).transpose(1, 2) for t in (k, v))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(out.transpose(1, 2).reshape(b, s, -1))


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.w1 = nn.Linear(c["h"], c["ffn"], bias=False)
        self.w2 = nn.Linear(c["ffn"], c["h"], bias=False)
        self.w3 = nn.Linear(c["h"], c["ffn"], bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.attention, self.mlp = Attention(c), MLP(c)
        self.attention_norm, self.mlp_norm = nn.RMSNorm(c["h"], 1e-5), nn.RMSNorm(c["h"], 1e-5)

    def forward(self, x, by):
        x = x + self.attention(self.attention_norm(x), by)
        return x + self.mlp(self.mlp_norm(x))


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embedding = nn.Embedding(c["vocab"], c["h"])
        self.layers = nn.ModuleList(Block(c) for _ in range(c["L"]))
        self.norm = nn.RMSNorm(c["h"], 1e-5)
        self.head = nn.Linear(c["h"], c["vocab"], bias=False)
        self.by = rotations(c["head_dim"], c["seq_len"])

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, self.by)
        return self.head(self.norm(x))


def loss_of(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(0, 1))
