"""A plain decoder in the manner of torchtitan's: RMSNorm, rotary embeddings by complex products in
fp32 (or, with norms of queries and keys, by halves in 16 bits), grouped queries repeated for SDPA or
latent attention, a gated MLP of three linears or experts, an untied head."""
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


def rotate_halves(x, by):
    angles = torch.view_as_real(by[:, None, :]).to(x.dtype)
    cos, sin = (angles[..., part].repeat(1, 1, 2) for part in (0, 1))
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


class Attention(nn.Module):
    """Of a rank that holds some of the heads: what a linear gives out says how many."""

    def __init__(self, c):
        super().__init__()
        self.heads, self.kv, self.width = c["a"], c["kv"], c["head_dim"]
        self.normed = c.get("qk_norm", False)
        if self.normed:
            self.q_norm, self.k_norm = nn.RMSNorm(self.width, 1e-6), nn.RMSNorm(self.width, 1e-6)
        self.wq = nn.Linear(c["h"], self.heads * self.width, bias=False)
        self.wk = nn.Linear(c["h"], self.kv * self.width, bias=False)
        self.wv = nn.Linear(c["h"], self.kv * self.width, bias=False)
        self.wo = nn.Linear(self.heads * self.width, c["h"], bias=False)

    def forward(self, x, by):
        b, s, _ = x.shape
        q, k, v = (w(x).view(b, s, -1, self.width) for w in (self.wq, self.wk, self.wv))
        if self.normed:
            q, k = rotate_halves(self.q_norm(q), by), rotate_halves(self.k_norm(k), by)
        else:
            q, k = rotate(q, by), rotate(k, by)
        q = q.transpose(1, 2)
        k, v = (t.repeat_interleave(self.heads // self.kv, dim=2).transpose(1, 2) for t in (k, v))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(out.transpose(1, 2).reshape(b, s, -1))


class LatentAttention(nn.Module):
    """DeepSeek's, queries uncompressed: keys and values from one latent, rotary parts beside."""

    def __init__(self, c):
        super().__init__()
        self.heads, (self.latent, self.nope, self.rope, self.v) = c["a"], c["mla"]
        self.wq = nn.Linear(c["h"], self.heads * (self.nope + self.rope), bias=False)
        self.wkv_a = nn.Linear(c["h"], self.latent + self.rope, bias=False)
        self.kv_norm = nn.RMSNorm(self.latent, 1e-5)
        self.wkv_b = nn.Linear(self.latent, self.heads * (self.nope + self.v), bias=False)
        self.wo = nn.Linear(self.heads * self.v, c["h"], bias=False)

    def forward(self, x, by):
        b, s, _ = x.shape
        q_nope, q_rope = self.wq(x).view(b, s, self.heads, -1).split((self.nope, self.rope), dim=-1)
        q = torch.cat((q_nope, rotate(q_rope, by)), dim=-1)
        latent, k_rope = self.wkv_a(x).split((self.latent, self.rope), dim=-1)
        k_rope = rotate(k_rope.unsqueeze(2), by)
        k_nope, v = self.wkv_b(self.kv_norm(latent)).view(b, s, self.heads, -1).split((self.nope, self.v), dim=-1)
        k = torch.cat((k_nope, k_rope.expand(-1, -1, self.heads, -1)), dim=-1)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(out.transpose(1, 2).contiguous().view(b, s, -1))


class MLP(nn.Module):
    def __init__(self, c, ffn=None):
        super().__init__()
        ffn = ffn or c["ffn"]
        self.w1 = nn.Linear(c["h"], ffn, bias=False)
        self.w2 = nn.Linear(ffn, c["h"], bias=False)
        self.w3 = nn.Linear(c["h"], ffn, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Grouped(nn.Module):
    """Grouped products over tokens in rows that are padded to a multiple of 8 for each expert."""

    def __init__(self, count, h, ffn):
        super().__init__()
        self.count = count
        self.w1 = nn.Parameter(torch.empty(count, ffn, h))
        self.w2 = nn.Parameter(torch.empty(count, h, ffn))
        self.w3 = nn.Parameter(torch.empty(count, ffn, h))

    def padded_rows(self, counts, rows):
        """Where each row of the gathered tokens goes, every expert's from a multiple of 8 on."""
        padded = (counts + 7) // 8 * 8
        starts, first = padded.cumsum(0) - padded, counts.cumsum(0) - counts
        expert = torch.repeat_interleave(torch.arange(self.count, device=counts.device), counts, output_size=rows)
        at = torch.arange(rows, device=counts.device)
        return starts[expert] + at - first[expert], padded.cumsum(0).to(torch.int32)

    def forward(self, x, counts):
        target, ends = self.padded_rows(counts, x.shape[0])
        source = x.new_full((x.shape[0] + 8 * self.count,), x.shape[0], dtype=torch.long)
        source[target] = torch.arange(x.shape[0], device=x.device)
        x = torch.vstack((x, x.new_zeros(1, x.shape[1])))[source]
        w1, w2, w3 = (w.bfloat16().transpose(-2, -1) for w in (self.w1, self.w2, self.w3))
        hidden = F.silu(torch._grouped_mm(x, w1, offs=ends)) * torch._grouped_mm(x, w3, offs=ends)
        return torch._grouped_mm(hidden, w2, offs=ends)[target]


class Experts(nn.Module):
    """Routed and shared experts: scores in 32 bits times what the experts give."""

    def __init__(self, c):
        super().__init__()
        self.experts, self.top, ffn, shared = c["experts"]
        self.gate = nn.Linear(c["h"], self.experts, bias=False)
        self.routed_experts = Grouped(self.experts // c.get("ep", 1), c["h"], ffn)
        self.shared = MLP(c, shared) if shared else None
        self.group = None  # of ranks that hold the other experts

    def routed(self, x):
        scores, chosen = F.softmax(self.gate(x).float(), dim=-1).topk(self.top, dim=-1)
        order = chosen.flatten().argsort(stable=True)
        counts = torch.histc(chosen.flatten().float(), bins=self.experts, min=0, max=self.experts)
        return scores.flatten()[order], order // self.top, counts.to(torch.int32)

    def exchanged(self, x):
        """As many rows to each rank: what a fake group gives back is as large, and means nothing."""
        if self.group is None:
            return x
        from torch.distributed._functional_collectives import all_to_all_single_autograd
        ranks = self.group.size()
        splits = [x.shape[0] // ranks] * ranks
        return all_to_all_single_autograd(x, splits, splits, self.group)

    def forward(self, x):
        b, s, h = x.shape
        x = x.view(-1, h)
        scores, token, counts = self.routed(x)
        token = token[:, None].expand(-1, h)
        rows = self.exchanged(torch.gather(x, 0, token))
        if self.group is not None:
            counts = torch.full_like(counts[:self.routed_experts.count], rows.shape[0] // self.routed_experts.count)
        given = self.exchanged(self.routed_experts(rows, counts))
        given = (given.float() * scores[:, None]).to(x.dtype)
        out = self.shared(x) if self.shared else torch.zeros_like(x)
        return out.scatter_add(0, token, given).view(b, s, h)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.attention = LatentAttention(c) if "mla" in c else Attention(c)
        self.mlp = Experts(c) if "experts" in c else MLP(c)
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
        self.by = rotations(c["mla"][2] if "mla" in c else c["head_dim"], c["seq_len"])

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, self.by)
        return self.head(self.norm(x))


def loss_of(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(0, 1))
