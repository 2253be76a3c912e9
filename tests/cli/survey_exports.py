"""What a survey of 4 scenes exports, beside the maps and states that heed run saved: survey_exports.py FOLDER."""

import array
import json
import math
import re
import sqlite3
import struct
import sys

folder = sys.argv[1]


def tensors(name):
    """The F32 tensors of a .safetensors file: {name: (shape, numbers)}."""
    with open(f"{folder}/{name}", "rb") as file:
        content = file.read()
    (size,) = struct.unpack("<Q", content[:8])
    found = {}
    for key, of in json.loads(content[8 : 8 + size]).items():
        if key == "__metadata__" or of["dtype"] != "F32":
            continue
        first, last = (8 + size + at for at in of["data_offsets"])
        found[key] = of["shape"], array.array("f", content[first:last])
    return found


def close(found, expected, what, most=1e-6):
    assert abs(found - expected) <= most * max(1.0, abs(expected)), (what, found, expected)


survey = json.load(open(f"{folder}/e.json", encoding="utf-8"))
saved = tensors("e.safetensors")
runs = [tensors(f"m{seed}.safetensors") for seed in range(1, 5)]
side, patches, tokens = 14, 196, 197
assert survey["shape"] == {"layers": 5, "heads": 4, "prefix": 1, "rows": side, "columns": side, "patch": 16}
assert survey["images"] == survey["mapped"] == 4


def maps(layer, head):
    for run in runs:
        data = run[f"attention.{layer}"][1]
        yield data[head * tokens * tokens : (head + 1) * tokens * tokens]


def check_head(layer, head):
    """Sums over all pairs of patches, by their offset."""
    sums, pairs = [0.0] * 27 * 27, [0] * 27 * 27
    squares = prefix = 0.0
    row = [0.0] * tokens
    for weights in maps(layer, head):
        row = [a + b / 4 for a, b in zip(row, weights[:tokens])]
        for q in range(patches):
            line = weights[(q + 1) * tokens : (q + 2) * tokens]
            prefix += line[0] / patches / 4
            for k in range(patches):
                at = (k // side - q // side + 13) * 27 + k % side - q % side + 13
                sums[at] += line[k + 1] / 4
                pairs[at] += 1
                squares += line[k + 1] ** 2 / 4
    pairs = [n // 4 for n in pairs]
    of = survey["heads"][layer * 4 + head]
    assert (of["layer"], of["head"]) == (layer, head)
    for i, (found, expected) in enumerate(zip(of["first_row"], row)):
        close(found, expected, ("first_row", i))
    close(of["prefix"][0], prefix, "prefix")
    mean = [s / n for s, n in zip(sums, pairs)]
    found = [weight for line in of["by_offset"] for weight in line]
    shape, stored = saved["by_offset"]
    assert shape == [5, 4, 27, 27]
    for i in range(27 * 27):
        close(found[i], mean[i], ("by_offset", i))
        close(stored[(layer * 4 + head) * 729 + i], mean[i], ("by_offset saved", i))
        close(saved["relative"][1][(layer * 4 + head) * 729 + i], sums[i] / patches, ("relative", i))
    mass = sum(sums)
    even = mass * mass / patches**2
    share = (sum(s * s / n for s, n in zip(sums, pairs)) - even) / (squares - even)
    close(of["place_share"], share, "place_share")
    close(of["sharpness"], squares / mass * tokens, "sharpness", 1e-5)
    peak = max((mean[i], i) for i in range(729) if 4 * pairs[i] >= patches)
    close(of["peak"]["weight"], peak[0], "peak")
    assert (of["peak"]["rows"], of["peak"]["columns"]) == (peak[1] // 27 - 13, peak[1] % 27 - 13)


def median(numbers):
    ordered = sorted(numbers)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def check_layer(layer):
    norms, means, first, largest, outliers = [0.0] * tokens, [], [], [], [0] * patches
    for run in runs:
        (_, count, width), data = run[f"layer.{layer}.output"]
        assert count == tokens
        of = [math.sqrt(sum(x * x for x in data[t * width : (t + 1) * width])) for t in range(tokens)]
        norms = [a + b / 4 for a, b in zip(norms, of)]
        first.append(of[0])
        largest.append(max(of))
        means.append(sum(of[1:]) / patches)
        middle = median(of[1:])
        bound = middle + 6 * 1.4826 * median([abs(x - middle) for x in of[1:]])
        for p in range(patches):
            outliers[p] += of[p + 1] > bound
    of = survey["layers"][layer]
    for i in range(tokens):
        close(of["norms"][i], norms[i], ("norms", i))
        close(saved["norms"][1][layer * tokens + i], norms[i], ("norms saved", i))
    assert [round(4 * share) for share in of["outlier_shares"]] == outliers, layer
    for name, numbers in ("patch_norm", means), ("first_norm", first), ("largest_norm", largest):
        mean = sum(numbers) / 4
        close(of[name]["mean"], mean, name)
        close(of[name]["spread"], math.sqrt(sum((x - mean) ** 2 for x in numbers) / 3), name, 1e-5)
        close(of[name]["least"], min(numbers), name)
        close(of[name]["largest"], max(numbers), name)
    close(of["outliers"]["mean"], sum(outliers) / 4, "outliers")


def polygon(*corners):
    def inside(x, y):
        edges = zip(corners, corners[1:] + corners[:1])
        return sum((a[1] > y) != (b[1] > y) and x < a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]) for a, b in edges) % 2 == 1

    return inside


def heart(x, y):
    px, py = abs(x) * 0.62, y * 0.62 + 0.55
    return math.hypot(px - 0.25, py - 0.75) < math.sqrt(2) / 4 if px + py > 1 else px < py


def ring(low, high):
    return lambda x, y: low < math.hypot(x, y) < high


def star(x, y, points=[((0.45, 1)[i % 2 == 0] * math.sin(math.pi * i / 5), (0.45, 1)[i % 2 == 0] * math.cos(math.pi * i / 5)) for i in range(10)]):
    return polygon(*points)(x, y)


# Shapes in their bounding circle of radius 1, y up.
INSIDE = {
    "disc": ring(-1, 0.9),
    "ring": ring(0.5, 0.95),
    "crescent": lambda x, y: math.hypot(x, y) < 0.96 and math.hypot(x - 0.46, y) > 0.78,
    "heart": heart,
    "star": star,
    "triangle": polygon((0, 1), (-0.866, -0.5), (0.866, -0.5)),
    "square": lambda x, y: max(abs(x), abs(y)) < 0.7071,
    "cross": lambda x, y: min(abs(x), abs(y)) < 0.28 and max(abs(x), abs(y)) < 0.96,
    "arrow": polygon((0, 1), (-0.85, 0.08), (-0.3, 0.08), (-0.3, -0.95), (0.3, -0.95), (0.3, 0.08), (0.85, 0.08)),
    "hourglass": polygon((-0.74, 0.67), (-0.13, 0), (-0.74, -0.67), (0.74, -0.67), (0.13, 0), (0.74, 0.67)),
}


def covered(of):
    """The pixels in each patch that an object covers."""
    count, turn, radius = [0] * patches, math.radians(of["angle"]), of["radius"]
    for v in range(max(0, int(of["y"] - radius)), min(224, int(of["y"] + radius) + 1)):
        for u in range(max(0, int(of["x"] - radius)), min(224, int(of["x"] + radius) + 1)):
            x, y = (u + 0.5 - of["x"]) / radius, (of["y"] - v - 0.5) / radius
            x, y = x * math.cos(turn) + y * math.sin(turn), y * math.cos(turn) - x * math.sin(turn)
            count[v // 16 * side + u // 16] += INSIDE[of["shape"]](x, y)
    return count


def twins(seed):
    """The patches of both twins: an object has a patch that it covers the most, and an eighth of at least."""
    objects = json.load(open(f"{folder}/scene{seed}.json", encoding="utf-8"))["objects"]
    names = [of["shape"] for of in objects]
    all_covered = [covered(of) for of in objects]
    owner = [max(range(len(objects)), key=lambda i: all_covered[i][p]) for p in range(patches)]
    pair = [i for i, name in enumerate(names) if names.count(name) == 2]
    return [[p for p in range(patches) if owner[p] == i and all_covered[i][p] >= 32] for i in pair]


def check_twins():
    """The mean weight between the patches of the twins, both ways, in x uniform."""
    places = [twins(seed) for seed in range(1, 5)]
    assert survey["scenes_with_twins"] == 4 and all(len(pair) == 2 and min(map(len, pair)) > 2 for pair in places)
    stored = dict(((layer, head), (pictures, mean)) for layer, head, pictures, mean in sqlite3.connect(f"{folder}/e.sqlite").execute(
        "SELECT layer, head, pictures, mean FROM head_means WHERE statistic = 'twin_weight'"))
    for at in range(20):
        weights = []
        for (a, b), data in zip(places, maps(at // 4, at % 4)):
            both = [data[(q + 1) * tokens + k + 1] for x, y in ((a, b), (b, a)) for q in x for k in y]
            weights.append(math.fsum(both) / len(both) * tokens)
        of, mean = survey["heads"][at]["twin_weight"], sum(weights) / 4
        close(of["mean"], mean, ("twin_weight", at))
        close(of["spread"], math.sqrt(sum((x - mean) ** 2 for x in weights) / 3), ("spread", at), 1e-5)
        close(of["least"], min(weights), ("least", at))
        close(of["largest"], max(weights), ("largest", at))
        close(saved["twin_weight"][1][at], mean, ("twin_weight saved", at))
        assert stored[at // 4, at % 4][0] == 4
        close(stored[at // 4, at % 4][1], mean, ("twin_weight stored", at))
        assert (mean >= 8) == (survey["heads"][at]["habit"] == "twins") == (at == 12), (at, mean)
    assert {f"{h['layer']}.{h['head']}" for h in survey["heads"] if h["habit"] == "positional"} >= {"0.0", "0.1", "0.2", "0.3"}


def check_labels(page):
    """No label of the scatter lies on another, nor on a dot. Letters are 0.62 of the 11 pixels wide."""
    dots = [tuple(map(float, xy)) for xy in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', page)]
    boxes = []
    for x, y, text in re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="middle"[^>]*>(\d+\.\d+(?: twins)?)</text>', page):
        half = len(text) * 11 * 0.62 / 2
        boxes.append((float(x) - half, float(y) - 8.5, float(x) + half, float(y) + 0.5))
    assert len(boxes) == len(dots) == 20, (len(boxes), len(dots))
    for i, a in enumerate(boxes):
        for b in boxes[:i] + [(x - 5, y - 5, x + 5, y + 5) for x, y in dots]:
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], (a, b)


check_head(0, 0)
check_head(3, 0)
for layer in range(5):
    check_layer(layer)
check_twins()

# the closest to the mean of the rows, and the farthest; each class by its share
rows = sqlite3.connect(f"{folder}/e.sqlite")
for of in survey["heads"]:
    values = rows.execute(
        "SELECT path, distance FROM heads JOIN pictures ON id = picture WHERE layer = ? AND head = ?",
        (of["layer"], of["head"]),
    ).fetchall()
    mean = sum(value for _, value in values) / 4
    order = [path for path, value in sorted(values, key=lambda row: abs(row[1] - mean))]
    assert [x["image"] for x in of["typical"]] == order[:2], (of["typical"], order)
    assert [x["image"] for x in of["untypical"]] == order[:1:-1], (of["untypical"], order)
shares = rows.execute("SELECT class, pictures FROM class_shares ORDER BY pictures DESC, class").fetchall()
assert [(x["class"], x["images"]) for x in survey["classes"]] == shares, shares

# the page needs nothing else, and has a dot, two maps and four images for each head
page = open(f"{folder}/e.html", encoding="utf-8").read()
assert page.rstrip().endswith("</html>") and "<script" not in page
assert {"data:"} == set(re.findall(r'(?:src=|href=|url\()"?([^")]{5})', page))
assert page.count("<circle") == 20 and page.count("<figure>") == 80 and page.count("background-image") >= 2
check_labels(page)
assert re.search(r'<th class="t">twins</th>.*?<b>3\.0</b> \(', page) and re.search(r'<th class="t">positional</th>.*?<b>0\.0</b> \(', page)
assert page.count('alt="mean weight by offset"') == 20 and page.count('alt="from the first token"') == 80
