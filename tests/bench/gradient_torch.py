"""The gradient of a score with respect to pixels beside PyTorch's autograd with frozen weights, run by turns.

python3 gradient_torch.py BENCH_GRADIENT MODEL [--threads 1] [--rounds 20]   (needs torch and numpy; patch_hooks.py has the model)

MODEL is a ViT folder as vit_files.mjs writes them. Both take the same pixels and the same weights of the logits. Debian's torch uses the libblas that is
installed: with libopenblas0-pthread that is OpenBLAS, of which OPENBLAS_CORETYPE names the kernels (SkylakeX, or without AVX-512 Haswell). Prints the least and the median milliseconds by the
wall's clock and by the processor's, and the largest difference of the gradients."""
import argparse
import os
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("bench")
parser.add_argument("model")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=20)
args = parser.parse_args()
# OpenBLAS takes the kernels of a Pentium 4 on processors that it does not know.
wide = "avx512f" in open("/proc/cpuinfo").read() if os.path.exists("/proc/cpuinfo") else False
os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX" if wide else "Haswell")
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(args.threads)  # read when the libraries load

import numpy as np  # noqa: E402
import torch  # noqa: E402
from patch_hooks import ViT  # noqa: E402


def numbers(count):
    """as bench_gradient makes them"""
    state, made = 1, np.empty(count, np.float32)
    for i in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        made[i] = np.float32(state >> 8) / np.float32(8388608) - np.float32(1)
    return torch.from_numpy(made)


def main():
    torch.set_num_threads(args.threads)
    model = ViT(args.model).eval().requires_grad_(False)
    pixels = numbers(3 * model.side**2).view(1, 3, model.side, model.side).requires_grad_()
    weights = numbers(model.classifier.out_features)

    def run():
        return torch.autograd.grad((model(pixels) * weights).sum(), pixels)[0]

    expected, times = run().numpy(), []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gradient")
        with subprocess.Popen([args.bench, args.model, str(args.threads), str(model.side), "turns", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as heed:
            assert heed.stdout.readline() == "ready\n"
            for _ in range(args.rounds):
                heed.stdin.write("\n")
                heed.stdin.flush()
                own = [float(word) for word in heed.stdout.readline().split()]
                wall, used = time.perf_counter(), time.process_time()
                run()
                times.append(own + [1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - used)])
            heed.stdin.close()
        found = np.fromfile(path, np.float32).reshape(expected.shape)
    times = np.array(times)
    print(f"{args.model}, {args.threads} threads, PyTorch {torch.__version__} ({os.environ['OPENBLAS_CORETYPE']}), {args.rounds} rounds; largest difference "
          f"{np.abs(found - expected).max() / np.abs(expected).max():.1e} of the largest")
    for name, (own, other) in {"wall": (0, 2), "processor time": (1, 3)}.items():
        print(f"{name}: heed {times[:, own].min():.2f} (median {np.median(times[:, own]):.2f}) ms, PyTorch {times[:, other].min():.2f} "
              f"({np.median(times[:, other]):.2f}) ms, ratio {times[:, other].min() / times[:, own].min():.2f} "
              f"(of pairs {np.median(times[:, other] / times[:, own]):.2f})")


if __name__ == "__main__":
    main()
