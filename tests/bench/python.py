"""What the Python package costs beside NumPy and beside C: start, import, a run, memory. Processor time, by turns, the least of them.

python3 python.py PACKAGE LIBRARIES [--turns N] [--runs N]    (needs numpy, cc and native/python)

PACKAGE is the folder that has heed/ (build/release/native/python/package), LIBRARIES that of libheed.so (build/release/native). A ViT-B with seeded
weights is made for the last row, 343 MB in the folder of temporary files."""
import argparse
import json
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COLD = "import heed; heed.open(heed.DEMO, device='cpu').run(heed.DEMO / 'scene.png').map(3, 0, 40)"
RUNS = """
import sys, time, numpy as np, heed
folder, side, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with heed.open(folder, device="cpu", threads=1) as model, model.session(taps="none", size=side) as session:
    pixels, least = np.zeros((3, side, side), np.float32), 1e9
    for part in range(20):
        start = time.process_time()
        for _ in range(runs // 20):
            session.forward(pixels)
        least = min(least, (time.process_time() - start) / (runs // 20))
    print(1e6 * least)
"""
FLAT = """
import sys, numpy as np, heed
def memory(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
folder, side, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with heed.open(folder, device="cpu", threads=1) as model:
    picture, found = np.zeros((side, side, 3), np.uint8), []
    for i in range(runs):
        run = model.run(picture)
        run.map(0, 0, 1).row, run.attention[0].view()[0, 0], run.top(1) if run.logits is not None else 0
        if i + 1 in (runs // 10, runs):
            found.append(memory("VmRSS"))
    print(*found)
"""
VIEWS = """
import sys, numpy as np, heed
def memory(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
np.ones((4, 4)) @ np.ones((4, 4))
before = memory("VmRSS")
with heed.open(sys.argv[1], device="cpu", threads=1) as model, model.session() as session:
    run = session.forward(np.zeros((3, 224, 224), np.float32))
    views = [tap.view() for tap in run.attention]
    total = sum(float(view.sum(dtype=np.float64)) for view in views)
    print(memory("VmHWM") - before, total)
    del views
"""


def spent(code, environment, *arguments):
    """Processor time of a Python that runs this, in seconds, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True, env=environment).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def make_vit_b(folder):
    """A ViT-B of transformers' names with numbers that repeat, as a folder."""
    import numpy as np

    width, shapes = 768, {}
    prefix = "vit.embeddings."
    shapes |= {prefix + "cls_token": (1, 1, width), prefix + "position_embeddings": (1, 197, width),
               prefix + "patch_embeddings.projection.weight": (width, 3, 16, 16), prefix + "patch_embeddings.projection.bias": (width,)}
    for i in range(12):
        layer = f"vit.encoder.layer.{i}."
        for name, shape in {"layernorm_before": (width,), "attention.attention.query": (width, width), "attention.attention.key": (width, width),
                            "attention.attention.value": (width, width), "attention.output.dense": (width, width), "layernorm_after": (width,),
                            "intermediate.dense": (4 * width, width), "output.dense": (width, 4 * width)}.items():
            shapes |= {f"{layer}{name}.weight": shape, f"{layer}{name}.bias": shape[:1]}
    shapes |= {"vit.layernorm.weight": (width,), "vit.layernorm.bias": (width,), "classifier.weight": (1000, width), "classifier.bias": (1000,)}
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    random = np.random.default_rng(1)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for shape in shapes.values():
            file.write(random.normal(0, 0.02, int(np.prod(shape))).astype(np.float32).tobytes())
    (folder / "config.json").write_text(json.dumps({"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": width,
                                                    "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 4 * width,
                                                    "image_size": 224, "patch_size": 16, "layer_norm_eps": 1e-12}))


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("package")
    ask.add_argument("libraries")
    ask.add_argument("--turns", type=int, default=15)
    ask.add_argument("--runs", type=int, default=10000)
    given = ask.parse_args()
    libraries = os.path.abspath(given.libraries)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as a user has it
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(given.package), "HEED_LIBRARY": libraries}
    rows = {"python": "pass", "numpy": "import numpy", "heed": "import heed", "cold start": COLD}
    for code in rows.values():
        spent(code, environment)  # writes the compiled files
    times = {name: [] for name in rows}
    for _ in range(given.turns):
        for name, code in rows.items():
            times[name].append(spent(code, environment)[0])
    for name, found in times.items():
        print(f"{name}: {1e3 * min(found):.0f} ms, median {1e3 * sorted(found)[len(found) // 2]:.0f} ms")
    print(f"import heed over NumPy's: {1e3 * (min(times['heed']) - min(times['numpy'])):.0f} ms")

    small = str(ROOT / "tests/vectors/vit/hf_vit")
    with tempfile.TemporaryDirectory() as place:
        beside = os.path.join(place, "python_runs")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-std=c11", "-o", beside, str(HERE / "python_runs.c"), f"-I{ROOT}/runtime/include",
                        f"-I{ROOT}/native/include", f"-L{libraries}", "-lheed_native", "-lheed", f"-Wl,-rpath,{libraries}"], check=True)

        def compared(*arguments):
            return [float(one) for one in subprocess.run([beside, *arguments], check=True, capture_output=True, text=True).stdout.split()]

        python, c = [], []
        for _ in range(5):
            c.append(compared(small, "20", str(given.runs), "none")[0])
            python.append(float(spent(RUNS, environment, small, "20", str(given.runs))[1]))
        print(f"a run: C {min(c):.1f} us, Python {min(python):.1f} us, {min(python) - min(c):.1f} us more")
        tenth, whole = spent(FLAT, environment, small, "20", str(given.runs))[1].split()
        print(f"memory after {given.runs // 10} runs {tenth} kB, after {given.runs} {whole} kB")
        make_vit_b(pathlib.Path(place))
        peak, total = spent(VIEWS, environment, place)[1].split()
        c_peak, c_total = compared(place, "224", "1", "maps")[1:]
        print(f"ViT-B, all maps viewed: C {c_peak / 1024:.1f} MB, Python {float(peak) / 1024:.1f} MB beyond its start; sums {c_total:.1f} and {float(total):.1f}")


if __name__ == "__main__":
    main()
