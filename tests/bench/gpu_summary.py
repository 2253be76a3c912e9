"""What a file of tests/bench/gpu.sh says, as Markdown: python3 gpu_summary.py FILE.json

One line a goal: attention beside the fastest backend of PyTorch's SDPA, ViT-B latency and throughput beside PyTorch, products beside the
device's fp32 ceiling, layer norm beside a copy, what all maps cost, what a run costs the host. "-": not in the file. heed's query, key and
value are F32 in memory where attention runs by itself, and fp16 in its products; PyTorch's are fp16.
"""
import json
import sys


def results(data):
    """(words of the command, result) of every command that had one."""
    for entry in data["results"]:
        for result in entry.get("results", []):
            yield entry["command"].split(), result


def option(words, name):
    return words[words.index(name) + 1] if name in words else None


def find(data, with_flags=(), without=("--maps", "--all-tokens", "--in-flight"), **wanted):
    """The first result whose command has these options (None: has it not) and flags."""
    for words, result in results(data):
        if all(option(words, "--" + name) == value for name, value in wanted.items()) and all(flag in words for flag in with_flags):
            if not any(flag in words for flag in without if flag not in with_flags):
                return result
    return None


def ms(result):
    """Of the device where steps were timed, as PyTorch's events have it; else of the caller's clock."""
    if not result:
        return None
    if "profile" in result:
        return sum(row["microseconds"] for row in result["profile"]) / 1000
    return result["median_ms"]


def line(what, found, goal, passed):
    print(f"| {what} | {found} | {goal} | {'-' if passed is None else 'yes' if passed else 'NO'} |")


def share(what, heed, peer, goal):
    """peer / heed: how fast heed is, of the peer's speed."""
    if heed is None or peer is None:
        line(what, f"heed {'-' if heed is None else f'{heed:.3f}'} ms, peer {'-' if peer is None else f'{peer:.3f}'}", goal, None)
    else:
        line(what, f"heed {heed:.3f} ms, peer {peer:.3f}: {peer / heed:.2f}x its speed", f"{goal}x", peer / heed >= goal)


def attention(data):
    peers = data["peers"].get("attention", [])
    best = {}
    for peer in peers:
        times = [t for t in peer.get("milliseconds", {}).values() if isinstance(t, (int, float))]
        if times:
            best[peer["tokens"], peer["depth"], peer["causal"]] = min(times)
    for depth in (64, 128):
        for tokens in (512, 1024, 2048, 4096, 8192, 16384):
            for causal in (False, True):
                found = find(data, op="attention", shape=f"1,16,{tokens},{tokens},{depth}", precision="f16", causal="top_left" if causal else None)
                share(f"attention fp16, 16 heads, T {tokens}, D {depth}{', causal' if causal else ''}", ms(found), best.get((tokens, depth, causal)), 0.5)


def vits(data):
    peers = {peer["batch"]: peer["milliseconds"] for peer in data["peers"].get("vit", []) if "milliseconds" in peer}
    for batch, goal in ((1, 1.0), (256, 0.5)):
        found = find(data, vit="B", batch=str(batch), precision="f16")
        share(f"ViT-B fp16, batch {batch}", found and found["median_ms"], peers.get(batch), goal)
    for precision in ("f32", "f16"):
        with_maps = find(data, vit="B", batch="1", precision=precision, with_flags=("--maps",))
        without = find(data, vit="B", batch="1", precision=precision, with_flags=("--all-tokens",))
        more = with_maps and without and 100 * (with_maps["median_ms"] / without["median_ms"] - 1)
        line(f"all maps of ViT-B, batch 1, {precision}", "-" if more is None else f"{more:.1f} % more time", "at most 15 %", None if more is None else more <= 15)


def rates(data):
    for words, result in results(data):
        op, shape = option(words, "--op"), option(words, "--shape")
        row, ceiling = (result.get("profile") or [None])[0], result.get("ceiling")
        if not row or not ceiling:
            continue
        if op == "linear" and option(words, "--precision") == "f32":
            percent = 100 * row["gflops"] / ceiling["f32_gflops"]
            line(f"linear fp32 {shape}", f"{row['gflops']:.0f} of {ceiling['f32_gflops']:.0f} GFLOP/s: {percent:.0f} %", "60 %", percent >= 60)
        if op == "layer_norm":
            percent = 100 * row["gbs"] / ceiling["copy_gbs"]
            line(f"layer norm {shape}", f"{row['gbs']:.0f} of {ceiling['copy_gbs']:.0f} GB/s: {percent:.0f} %", "80 %", percent >= 80)


def host(data):
    for words, result in results(data):
        if "--in-flight" in words and option(words, "--vit") == "B":
            line("host, ViT-B", f"{result['thread_us']:.1f} us of processor time a run", "at most 60 us", result["thread_us"] <= 60)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    print(f"{data['device']}; heed {data['heed']} {data['revision'][:12]}; PyTorch {data['peers'].get('torch', 'missing: ' + data['peers'].get('missing', '?'))}\n")
    print("| what | found | goal | reached |\n| --- | --- | --- | --- |")
    attention(data)
    vits(data)
    rates(data)
    host(data)
    failed = [entry for entry in data["results"] if "failed" in entry]
    for entry in failed:
        print(f"\nfailed: {entry['command']}: {entry['failed']}")


main()
