"""heed embed with its default number of threads beside --threads 1, by turns: medians of both, and their ratio.

python3 threads.py HEED PICTURES [--model s|ti|small] [--side PIXELS] [--rounds N] [--under 'COMMAND ...']   (needs torch and numpy)

PICTURES is a folder of images, such as 400 of small_photos.py; the model is that of embed.py. --under puts a command before both, such as
'taskset -c 0'. A ratio above 1 means that the default is faster. On a busy machine only ratios of many rounds say anything."""
import argparse
import resource
import statistics
import subprocess
import tempfile
import time

from embed import MODELS, make


def measure(command):
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("heed")
    parser.add_argument("pictures")
    parser.add_argument("--model", choices=MODELS, default="ti")
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--under", default="")
    args = parser.parse_args()
    ways = {"default": [], "one thread": ["--threads", "1"]}
    times = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        make(folder, *MODELS[args.model])
        command = [*args.under.split(), args.heed, "embed", folder, args.pictures, "-o", folder + "/out.npz", "--backend", "cpu", "--quiet",
                   "--values", "cls", "--size", f"{args.side},{args.side}"]
        for _ in range(args.rounds):
            for way, options in ways.items():
                times[way].append(measure(command + options))
    median = {way: [statistics.median(values) for values in zip(*each)] for way, each in times.items()}
    least = {way: min(each)[0] for way, each in times.items()}
    for way in ways:
        print(f"{way}: median {median[way][0]:.2f} s, least {least[way]:.2f} s, processor {median[way][1]:.2f} s")
    print(f"ratio of medians {median['one thread'][0] / median['default'][0]:.2f}, of the least {least['one thread'] / least['default']:.2f}, "
          f"of processor time {median['one thread'][1] / median['default'][1]:.2f}")
