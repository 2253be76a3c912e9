"""What heed survey costs beside what it is made of, by turns and in processor time, so that a busy machine serves.

python3 survey.py scenes HEED [MODEL] [--count N]         generated scenes beside heed bench of the same model, without and with its maps
python3 survey.py jpegs HEED MODEL LIST [--count N]      12 MP JPEGs of a list beside djpeg at the same scale, and heed bench of the model
python3 survey.py memory HEED PICTURE [--count N]        the peak with N lines of a list, beside that of one picture and of heed bench
python3 survey.py torch HEED FOLDER                      a ViT-S on the pictures of a folder beside PyTorch with hooks and numpy's sums
   (torch needs torch, numpy and Pillow; the others nothing)"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

QUIET = ["--backend", "cpu", "--quiet"]


def run(*words, cwd=None):
    """Wall-clock and processor seconds of a command, and its peak in MB."""
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd)
    _, code, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(code)
    assert process.returncode == 0, (words, process.returncode)
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def each(rounds, count, make):
    """The least wall-clock and processor milliseconds of one of `count`, less what one costs."""
    found = []
    for _ in range(rounds):
        one, many = run(*make(1)), run(*make(count))
        found.append([1000 * (many[i] - one[i]) / (count - 1) for i in (0, 1)])
    return [min(f[i] for f in found) for i in (0, 1)]


def scenes(args):
    with tempfile.TemporaryDirectory() as folder:
        turn = iter(range(10**6))
        model = [args.model] if args.model else []
        survey = lambda n: [args.heed, "survey", *model, "--scenes", str(n), *QUIET, "-o", f"{folder}/{next(turn)}.sqlite"]
        bench = lambda *more: lambda n: [args.heed, "bench", *model, *QUIET, "--threads", "1", "--warmup", "1", "--runs", str(n), *more]
        results = {}
        for _ in range(args.rounds):
            for name, make, count in (("survey", survey, args.count), ("model", bench(), args.count // 5), ("model with maps", bench("--maps"), args.count // 5)):
                wall, processor = each(1, count, make)
                old = results.get(name, (9e9, 9e9))
                results[name] = min(old[0], wall), min(old[1], processor)
    for name, (wall, processor) in results.items():
        print(f"{name}: {processor:.2f} ms of a processor, {wall:.2f} ms")
    for name in "model", "model with maps":
        print(f"rate of the survey as a share of {name}: {results[name][1] / results['survey'][1]:.2f}")


def jpegs(args):
    paths = open(args.list).read().split()
    survey = lambda n: [args.heed, "survey", args.model, "--list", f"{folder}/{n}", *QUIET, "--json", f"{folder}/out.json"]
    with tempfile.TemporaryDirectory() as folder:
        for n in 1, args.count:
            open(f"{folder}/{n}", "w").write("\n".join(paths[:n]))
        found = {"survey": [], "djpeg": [], "djpeg, fast": [], "model": []}
        for _ in range(args.rounds):
            found["survey"].append(each(1, args.count, survey)[1])
            for name, more in ("djpeg", []), ("djpeg, fast", ["-dct", "fast", "-nosmooth"]):
                found[name].append(1000 * sum(run("djpeg", "-scale", args.scale, *more, "-outfile", "/dev/null", path)[1] for path in paths[:16]) / 16)
            found["model"].append(each(1, 100, lambda n: [args.heed, "bench", args.model, *QUIET, "--maps", "--threads", "1", "--warmup", "1", "--runs", str(n)])[1])
    least = {name: min(values) for name, values in found.items()}
    for name, value in least.items():
        print(f"{name}: {value:.1f} ms of a processor a picture")
    print(f"decoding as a share of the survey: {least['djpeg'] / least['survey']:.2f}; of the survey less the model: {least['djpeg'] / (least['survey'] - least['model']):.2f}")


def memory(args):
    with tempfile.TemporaryDirectory() as folder:
        for n in 1, 100, args.count:
            with open(f"{folder}/{n}", "w") as file:
                file.writelines(f"{args.picture}\n" for _ in range(n))
        print("bench, one thread:", run(args.heed, "bench", *QUIET, "--threads", "1", "--runs", "1")[2], "MB")
        for n, share in (1, "1/1"), (100, "1/1"), (args.count, f"1/{args.count // 100}"):
            # of a long list the share of one process: all lines are read, 100 pictures run
            peak = run(args.heed, "survey", args.model or "", "--list", f"{folder}/{n}", *QUIET, "--shard", share, "-o", f"{folder}/{n}.sqlite")[2] if args.model else None
            print(f"a list of {n}: {peak:.0f} MB")


def statistics(maps, distance):
    """Entropy of rows, mean distance and masses of [heads, T, T], in floats: sums over pictures alone are double."""
    import numpy as np

    patches = maps[:, 1:, 1:]
    entropy = -(maps * np.log(np.maximum(maps, 1e-30))).sum(-1)
    mass = patches.sum(-1)
    reach = (patches * distance).sum(-1)
    top = np.partition(maps[:, 1:], -5, -1)[..., -5:].sum(-1)
    own = np.einsum("hii->hi", patches)
    return np.stack([entropy[:, 0], entropy[:, 1:].mean(-1), reach.mean(-1), (reach / mass).mean(-1), maps[:, 1:, 0].mean(-1), own.mean(-1), top.mean(-1)], -1)


def torch_side(folder, pictures):
    """Runs as a process of its own: hooks keep the attention, numpy sums it."""
    import embed
    import numpy as np
    import torch

    weights, heads = embed.make(folder, *embed.MODELS["s"])
    kept = []
    softmax = torch.softmax
    torch.softmax = lambda scores, dim: kept.append(softmax(scores, dim)) or kept[-1]
    y, x = np.divmod(np.arange(196), 14)
    distance = 16 * np.hypot(y[:, None] - y, x[:, None] - x)
    offset = (y[None] - y[:, None] + 13) * 27 + x[None] - x[:, None] + 13
    sums = squares = first = offsets = 0
    with torch.inference_mode():
        for name in sorted(os.listdir(pictures)):
            kept.clear()
            embed.forward(weights, heads, embed.read(os.path.join(pictures, name))[None])
            maps = np.stack([k[0].numpy() for k in kept]).reshape(-1, 197, 197)
            of = statistics(maps, distance.astype(np.float32)).astype(float)
            sums, squares, first = sums + of, squares + of * of, first + maps[:, 0]
            offsets = offsets + np.stack([np.bincount(offset.ravel(), m[1:, 1:].ravel(), 27 * 27) for m in maps])
    np.savez(os.path.join(folder, "torch.npz"), sums=sums, squares=squares, first=first, offsets=offsets)


def torch(args):
    own = os.path.abspath(__file__)
    with tempfile.TemporaryDirectory() as folder:
        ratios = []
        for turn in range(args.rounds):
            peer = run(sys.executable, own, "torch-side", folder, args.pictures, cwd=os.path.dirname(own))
            heed = run(args.heed, "survey", folder, args.pictures, *QUIET, "-o", f"{folder}/{turn}.sqlite")
            ratios.append((peer[0] / heed[0], peer[1] / heed[1], peer[2] / heed[2]))
            print(f"PyTorch {peer[0]:.1f} s, processor {peer[1]:.1f} s, {peer[2]:.0f} MB; heed {heed[0]:.1f} s, {heed[1]:.1f} s, {heed[2]:.0f} MB; "
                  f"ratios {ratios[-1][0]:.2f}, {ratios[-1][1]:.2f}, {ratios[-1][2]:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["torch-side"]:
        torch_side(*sys.argv[2:])
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("scenes", "jpegs", "memory", "torch"))
    parser.add_argument("heed", type=os.path.abspath)
    parser.add_argument("rest", nargs="*", help="MODEL LIST, MODEL PICTURE, or FOLDER")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", default="1/4", help="of djpeg")
    args = parser.parse_args()
    args.model = os.path.abspath(args.rest[0]) if args.rest else None
    args.list = args.picture = os.path.abspath(args.rest[-1]) if args.rest else None
    args.pictures = args.model
    {"scenes": scenes, "jpegs": jpegs, "memory": memory, "torch": torch}[args.what](args)
