"""Kernels of one device, as PyTorch runs them: products, attention, memory-bound kernels, the clock
that is held, what the host takes to issue, and what a context holds. Lines of JSON; the first
argument is how many seconds there are.

    python3 device.py 150 > device.jsonl
"""
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from gauge import Clock, Watch, device_bytes, emit, failed, release, timed

BF16 = torch.bfloat16
clock = Clock()


def random(*shape, dtype=BF16):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def context():
    torch.cuda.init()
    emit(name="context", what="start", bytes=device_bytes(), part=torch.cuda.get_device_name(),
         torch=torch.__version__, cuda=torch.version.cuda,
         usable_bytes=torch.cuda.mem_get_info()[1], allocated=torch.cuda.memory_reserved())
    one = torch.ones(1, device="cuda")
    torch.cuda.synchronize()
    emit(name="context", what="first tensor", bytes=device_bytes() - torch.cuda.memory_reserved())
    a = random(512, 512)
    (a @ a).sum().item()
    emit(name="context", what="first product", bytes=device_bytes() - torch.cuda.memory_reserved(),
         reserved=torch.cuda.memory_reserved())
    q = random(1, 8, 512, 64).requires_grad_()
    F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
    emit(name="context", what="first attention",
         bytes=device_bytes() - torch.cuda.memory_reserved())
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
    F.cross_entropy(random(64, 1000).float().requires_grad_(),
                    torch.zeros(64, dtype=torch.long, device="cuda")).backward()
    F.layer_norm(a, (512,)), F.silu(a), F.gelu(a), a.float().softmax(-1), one + one
    emit(name="context", what="cudnn and more kernels",
         bytes=device_bytes() - torch.cuda.memory_reserved())


def host():
    """Seconds until the host has issued one operator, the device being far behind or idle."""
    a = random(64, 64)
    layer = torch.nn.Linear(64, 64, device="cuda", dtype=BF16)
    x = random(64, 64).requires_grad_()

    def issue(run, calls=3000):
        for _ in range(200):
            run()
        torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(calls):
            run()
        issued = time.perf_counter() - begun
        torch.cuda.synchronize()
        return issued / calls, (time.perf_counter() - begun) / calls

    def pass_both():
        layer(x).backward(a)

    for what, run in (("add", lambda: a + a), ("in place", lambda: a.add_(1)),
                      ("product", lambda: a @ a), ("gelu", lambda: F.gelu(a)),
                      ("layer_norm", lambda: F.layer_norm(a, (64,))),
                      ("linear, forward and backward", pass_both)):
        issued, ended = issue(run)
        emit(name="host", what=what, issue_s=issued, s=ended)


def product_shapes():
    """(m, n, k) of training: blocks of 1B to 70B, their heads, widths of no multiple of eight."""
    tokens = (2048, 8192, 16384)
    blocks = ((2048, 2048), (8192, 2048), (2048, 8192), (4096, 4096), (6144, 4096), (14336, 4096),
              (4096, 14336), (8192, 8192), (10240, 8192), (28672, 8192), (8192, 28672))
    yield 8192, 8192, 8192
    for m in tokens:
        for n, k in blocks:
            yield m, n, k
    for n in (32000, 50257, 50264, 50304, 128000, 128003, 128256):
        yield 8192, n, 2048
    for n, k in ((1024, 1024), (4096, 1024), (1024, 4096), (1536, 1536), (8960, 1536), (1600, 1600),
                 (6400, 1600), (108 * 32, 4096), (4096, 5461), (5461, 4096), (4100, 4096),
                 (4098, 4096), (4097, 4096), (4096, 4097), (4096, 4100)):
        yield 8192, n, k
    for m in (256, 512, 1024, 4096, 32768):
        yield m, 4096, 4096


def product(m, n, k, layout, dtype=BF16):
    """A linear's three products: y = x w^T (forward), dx = dy w (dgrad), dw = dy^T x (wgrad)."""
    x, w, dy = random(m, k, dtype=dtype), random(n, k, dtype=dtype), random(m, n, dtype=dtype)
    return {"forward": lambda: x @ w.t(), "dgrad": lambda: dy @ w, "wgrad": lambda: dy.t() @ x}[layout]


def products():
    heat = product(8192, 8192, 8192, "forward")
    for m, n, k in product_shapes():
        for layout in ("forward", "dgrad", "wgrad"):
            run = product(m, n, k, layout)
            time.sleep(0.03)
            cool = timed(run, 0.01)
            timed(heat, 0.10)
            hot = timed(run, 0.08)
            emit(name="product", dtype="bf16", m=m, n=n, k=k, layout=layout, cool_s=cool, hot_s=hot)
            del run
        if clock.over():
            return
    for m, n, k in ((8192, 8192, 8192), (8192, 4096, 4096), (8192, 14336, 4096)):
        for dtype in (torch.float16, torch.float32):
            for tf32 in ((False, True) if dtype == torch.float32 else (False,)):
                torch.backends.cuda.matmul.allow_tf32 = tf32
                run = product(m, n, k, "forward", dtype)
                emit(name="product", dtype="tf32" if tf32 else str(dtype)[6:], m=m, n=n, k=k,
                     layout="forward", cool_s=timed(run, 0.02), hot_s=timed(run, 0.2))
    torch.backends.cuda.matmul.allow_tf32 = False


def products_fp8():
    one = torch.ones((), device="cuda")
    for m in (2048, 8192):
        for n, k in ((4096, 4096), (14336, 4096), (4096, 14336), (8192, 8192), (28672, 8192)):
            a, b = random(m, k), random(n, k)
            a8, b8 = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn)
            rows, columns = torch.ones(m, 1, device="cuda"), torch.ones(1, n, device="cuda")
            for what, scales in (("tensorwise", (one, one)), ("rowwise", (rows, columns))):
                run = lambda: torch._scaled_mm(a8, b8.t(), scale_a=scales[0], scale_b=scales[1],
                                               out_dtype=BF16, use_fast_accum=True)
                time.sleep(0.03)
                emit(name="product", dtype=f"fp8 {what}", m=m, n=n, k=k, layout="forward",
                     cool_s=timed(run, 0.01), hot_s=timed(run, 0.1))


ATTENTION = (("flash2", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION))


def attention():
    cases = [(128, 2, s, 32, 8) for s in (512, 1024, 2048, 4096, 8192, 16384)]
    cases += [(128, 1, 4096, 32, 32), (128, 8, 4096, 8, 8), (64, 4, 1024, 16, 16), (64, 4, 2048, 32, 32), (64, 2, 8192, 32, 32),
              (80, 2, 4096, 32, 32), (96, 2, 4096, 32, 32), (256, 2, 4096, 16, 16), (72, 2, 2048, 16, 16), (108, 2, 2048, 32, 32)]
    for width, b, s, heads, kv in cases:
        for causal in ((True, False) if s == 4096 else (True,)):
            for kernel, backend in ATTENTION:
                try:
                    attend(width, b, s, heads, kv, causal, kernel, backend)
                except Exception as error:
                    failed(f"attention {kernel} {width} {s} {kv}", error)
        if clock.over():
            return


def attend(width, b, s, heads, kv, causal, kernel, backend):
    q = random(b, heads, s, width).requires_grad_()
    k, v = (random(b, kv, s, width).requires_grad_() for _ in range(2))
    grad = random(b, heads, s, width)
    with sdpa_kernel(backend):
        run = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=kv != heads)
        out = run()
        back = lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True)
        timed(run, 0.02)
        emit(name="attention", kernel=kernel, head_dim=width, batch=b, seq=s, heads=heads, kv=kv,
             causal=causal, forward_s=timed(run, 0.04), backward_s=timed(back, 0.06))


def bandwidth():
    """Kernels that move bytes, 16,384 x 4,096 values; `bytes` is the least that they can move."""
    rows, width = 16384, 4096
    n = rows * width
    a, b = random(rows, width), random(rows, width)
    wide = random(rows, width, dtype=torch.float32)
    weight = random(width)
    logits = random(4096, 128256)
    target = torch.randint(0, 128256, (4096,), device="cuda")
    table = random(128256, width)
    ids = torch.randint(0, 128256, (rows,), device="cuda")
    out = torch.empty_like(a)
    kernels = [("copy", lambda: out.copy_(a), 4 * n), ("add", lambda: torch.add(a, b, out=out), 6 * n),
               ("cast to fp32", lambda: a.float(), 6 * n), ("cast to bf16", lambda: wide.to(BF16), 6 * n),
               ("gelu", lambda: F.gelu(a), 4 * n), ("silu", lambda: F.silu(a), 4 * n),
               ("product of two", lambda: a * b, 6 * n), ("dropout", lambda: F.dropout(a, 0.1), 5 * n),
               ("layer_norm", lambda: F.layer_norm(a, (width,), weight, weight), 4 * n),
               ("rms_norm", lambda: F.rms_norm(a, (width,), weight), 4 * n),
               ("softmax", lambda: a.softmax(-1), 4 * n), ("sum", lambda: a.sum(), 2 * n),
               ("transpose", lambda: a.view(4, 4096, 32, 128).transpose(1, 2).contiguous(), 4 * n),
               ("log_softmax fp32 of logits", lambda: logits.float().log_softmax(-1), 14 * logits.numel()),
               ("cross_entropy of bf16 logits", lambda: F.cross_entropy(logits, target), 4 * logits.numel()),
               ("embedding", lambda: F.embedding(ids, table), 4 * n)]
    for what, run, least in kernels:
        emit(name="bandwidth", what=what, s=timed(run, 0.05), bytes=least)
    backward()
    optimizers()


def backward():
    rows, width = 16384, 4096
    weight = random(width).requires_grad_()
    a, b = random(rows, width).requires_grad_(), random(rows, width).requires_grad_()
    grad = random(rows, width)
    n = rows * width
    table = random(128256, width).requires_grad_()
    ids = torch.randint(0, 128256, (rows,), device="cuda")
    for what, out, of, least in (
            ("layer_norm backward", F.layer_norm(a, (width,), weight, weight), (a, weight), 6 * n),
            ("rms_norm backward", F.rms_norm(a, (width,), weight), (a, weight), 6 * n),
            ("silu backward", F.silu(a), (a,), 6 * n), ("gelu backward", F.gelu(a), (a,), 6 * n),
            ("product of two backward", a * b, (a, b), 10 * n),
            ("embedding backward", F.embedding(ids, table), (table,), 2 * n + 2 * table.numel())):
        run = lambda: torch.autograd.grad(out, of, grad, retain_graph=True)
        emit(name="bandwidth", what=what, s=timed(run, 0.05), bytes=least)


def optimizers():
    """AdamW over 16 tensors of 16 M values; bytes: states and gradients read, states written."""
    for dtype, each in ((torch.float32, 28), (BF16, 14)):
        for how in ("fused", "foreach"):
            tensors = [torch.nn.Parameter(random(4096, 4096, dtype=dtype)) for _ in range(16)]
            for tensor in tensors:
                tensor.grad = random(4096, 4096, dtype=dtype)
            step = torch.optim.AdamW(tensors, lr=1e-5, **{how: True}).step
            step()
            emit(name="bandwidth", what=f"adamw {how} {str(dtype)[6:]}", s=timed(step, 0.1),
                 bytes=each * sum(t.numel() for t in tensors))
            emit(name="bandwidth", what=f"clip_grad_norm {how} {str(dtype)[6:]}", bytes=3 * tensors[0].element_size() * sum(t.numel() for t in tensors),
                 s=timed(lambda: torch.nn.utils.clip_grad_norm_(tensors, 1e9), 0.05))
            del tensors, step
            release()


def sustained():
    """One product over and over: rate, clock and draw of each second, after a rest."""
    for m, n, k, seconds in ((8192, 8192, 8192, 12), (8192, 4096, 4096, 6)):
        run = product(m, n, k, "forward")
        time.sleep(4)
        begun = time.time()
        while time.time() - begun < seconds:
            with Watch() as watch:
                s = timed(run, 0.9)
            emit(name="sustained", m=m, n=n, k=k, after_s=round(time.time() - begun, 1),
                 flops_per_s=2 * m * n * k / s, **watch.figures())


for part in (context, host, bandwidth, attention, sustained, products_fp8, products):
    try:
        part()
    except Exception as error:
        failed(part.__name__, error)
    release()
