"""The table of maps of docs/explain.md: heed judge on many scenes in parts, which are joined, and on shuffled weights as a control.

python3 judge_table.py HEED FOLDER [--scenes 14000] [--part 50] [--metrics NAME,...] [--shuffled] [--threads 1]

FOLDER keeps a JSON file a part, so that a run goes on where it was stopped; a table of what is there is printed at the end, also after Ctrl-C.
--shuffled takes the demo model with the numbers of each tensor in another order (seed 1): the same distributions, and nothing learnt."""
import argparse
import json
import math
import os
import random
import shutil
import struct
import subprocess

here = os.path.dirname(os.path.abspath(__file__))
sizes = {"I8": 1, "U8": 1, "F16": 2, "BF16": 2, "F32": 4}


def shuffle(source, target):
    """each tensor's elements in another order; scales of rows stay"""
    os.makedirs(target, exist_ok=True)
    for name in ("config.json", "preprocessor_config.json"):
        shutil.copy(os.path.join(source, name), target)
    with open(os.path.join(source, "model.safetensors"), "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header, data = file.read(length), bytearray(file.read())
    order = random.Random(1)
    for name, entry in sorted(json.loads(header).items()):
        if name == "__metadata__" or name.endswith("_scale"):
            continue
        (first, end), size = entry["data_offsets"], sizes[entry["dtype"]]
        elements = [bytes(data[i : i + size]) for i in range(first, end, size)]
        order.shuffle(elements)
        data[first:end] = b"".join(elements)
    with open(os.path.join(target, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", length) + header + data)


def join(parts):
    """{map: {metric: (mean, half of a 95 % interval, count)}} of the parts' means and squares (Chan et al. 1979)"""
    table = {}
    for part in parts:
        for row in part["maps"]:
            for metric in row["metrics"]:
                n, mean = metric["count"], metric["mean"]
                if not n:
                    continue
                squares = (metric["interval"] / 1.96) ** 2 * n * (n - 1)
                before, at, sum_ = table.setdefault(row["name"], {}).get(metric["name"], (0, 0.0, 0.0))
                every = before + n
                sum_ += squares + (mean - at) ** 2 * before * n / every
                table[row["name"]][metric["name"]] = (every, at + (mean - at) * n / every, sum_)
    return {name: {metric: (mean, 1.96 * math.sqrt(squares / (n - 1) / n) if n > 1 else 0.0, n) for metric, (n, mean, squares) in row.items()}
            for name, row in table.items()}


def show(parts, metrics):
    pictures = sum(part["pictures"] for part in parts)
    print(f"{pictures} scenes\n\n| map | {' | '.join(metrics)} |\n|{'---|' * (len(metrics) + 1)}")
    for name, row in join(parts).items():
        print(f"| `{name}` | " + " | ".join(f"{row[m][0]:.3f} ± {row[m][1]:.3f}" if m in row else "-" for m in metrics) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heed")
    parser.add_argument("folder")
    parser.add_argument("--scenes", type=int, default=14000)
    parser.add_argument("--part", type=int, default=20)
    parser.add_argument("--metrics", default="deletion,insertion,flipping,pointing,mass,rank")
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    model = []
    if args.shuffled:
        model = [os.path.join(args.folder, "shuffled")]
        shuffle(os.path.join(here, "../../runtime/demo/model"), model[0])
    parts = []
    try:
        for first in range(1, args.scenes + 1, args.part):
            count = min(args.part, args.scenes + 1 - first)
            path = os.path.join(args.folder, f"{first}-{count}.json")
            made = os.path.join(args.folder, "part.json")
            if not os.path.exists(path):
                subprocess.run([args.heed, "judge", *model, "--scenes", str(count), "--seed", str(first), "--metrics", args.metrics, "--backend", "cpu",
                                "--threads", str(args.threads), "--quiet", "--json", made], check=True, stdout=subprocess.DEVNULL)
                os.replace(made, path)
            parts.append(json.load(open(path)))
    except KeyboardInterrupt:
        pass
    show(parts, args.metrics.split(","))


if __name__ == "__main__":
    main()
