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


check_head(0, 0)
check_head(3, 0)
for layer in range(5):
    check_layer(layer)

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
assert page.count('alt="mean weight by offset"') == 20 and page.count('alt="from the first token"') == 80
