"""PyTorch's figures for tests/bench/gpu.sh: python3 gpu_peers.py [--small] prints a JSON object on stdout.

attention: scaled_dot_product_attention, fp16, B 1, H 16, every backend that takes the shape; the least of their medians is the peer.
vit: ViT-B/16 of this file's own layers (torch.nn alone), fp16, batch 1 eager and batch 256 by torch.compile. Medians of 20 runs after 5,
each between two events of the device. Without PyTorch or a device the object says why there is nothing.
"""
import json
import statistics
import sys


def time_ms(torch, call, runs=20, warmup=5):
    for _ in range(warmup):
        call()
    times = []
    for _ in range(runs):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def attention(torch, tokens, depth, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    query, key, value = (torch.randn(1, 16, tokens, depth, device="cuda", dtype=torch.float16) for _ in range(3))
    found = {}
    for backend in ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION"):
        try:
            with torch.no_grad(), sdpa_kernel([getattr(SDPBackend, backend)]):
                found[backend.lower()] = time_ms(
                    torch, lambda: torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=causal)
                )
        except (AttributeError, RuntimeError) as error:
            found[backend.lower()] = str(error).split("\n")[0][:160]
    return {"tokens": tokens, "depth": depth, "causal": causal, "milliseconds": found}


def make_vit(torch, width, heads, layers):
    nn = torch.nn

    class ViT(nn.Module):
        def __init__(self):
            super().__init__()
            self.patch = nn.Conv2d(3, width, 16, 16)
            self.token = nn.Parameter(torch.zeros(1, 1, width))
            self.position = nn.Parameter(torch.zeros(1, 197, width))
            block = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", 1e-6, batch_first=True, norm_first=True)
            self.layers = nn.TransformerEncoder(block, layers, nn.LayerNorm(width), enable_nested_tensor=False)
            self.head = nn.Linear(width, 1000)

        def forward(self, pixels):
            x = self.patch(pixels).flatten(2).transpose(1, 2)
            x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
            return self.head(self.layers(x)[:, 0])

    return ViT().eval().half().cuda()


def vit(torch, batch, compiled):
    model = make_vit(torch, 768, 12, 12)
    run = torch.compile(model) if compiled else model
    pixels = torch.randn(batch, 3, 224, 224, device="cuda", dtype=torch.float16)
    with torch.no_grad():
        return {"batch": batch, "compiled": compiled, "milliseconds": time_ms(torch, lambda: run(pixels))}


def attempt(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:  # a peer that fails is a line of the result, not the end of it
        return {"arguments": [str(a) for a in arguments[1:]], "failed": str(error).split("\n")[0][:200]}


def main():
    try:
        import torch
    except ImportError as error:
        return {"missing": f"PyTorch: {error}"}
    if not torch.cuda.is_available():
        return {"missing": f"a device for PyTorch {torch.__version__}"}
    tokens = (64,) if "--small" in sys.argv else (512, 1024, 2048, 4096, 8192, 16384)
    return {
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(),
        "attention": [attempt(attention, torch, t, d, c) for d in (64, 128) for t in tokens for c in (False, True)],
        "vit": [attempt(vit, torch, 1, False), attempt(vit, torch, 1 if "--small" in sys.argv else 256, True)],
    }


print(json.dumps(main()))
