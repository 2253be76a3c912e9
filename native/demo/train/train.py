#!/usr/bin/env python3
"""Trains the demo model: a plain ViT that names the shape which occurs twice in a drawn scene.

    train.py --out FOLDER [--minutes 76 | --pictures N] [--resume] [--threads 2]

Scenes come from the C renderer (runtime/demo/scene.c, compiled here with cc), each seen once. Until the fraction --whole of the schedule some of the
background's patches are left out of each picture, which is cheaper; after it pictures are whole. The weights kept are a moving average. Besides the class, the loss has dense terms that are only
used here: every patch's shape (a linear head after block 3, dropped later), every patch's "is a twin" (after block 4, dropped later) and the
mass of two attention heads: block 4 head 0 from a twin's patches to the other twin (from every other patch to CLS), block 5 head 0 from CLS
to the twins. Stage A teaches blocks 1-3 on crowded scenes by the patch shapes alone; stage B trains everything on the demo's own scenes.
Nothing of this is left in the exported model, which is a ViT of the Hugging Face layout.
"""
import argparse, ctypes, json, math, os, queue, subprocess, threading, time
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.path.join(HERE, "..", "..", "..", "runtime")
SIDE, PATCH, GRID, TOKENS = 224, 16, 14, 197
WIDTH, HEADS, LAYERS, HIDDEN = 128, 4, 5, 256
SHAPE_LAYERS, TWIN_LAYER, READ_LAYER = 3, 3, 4
SHAPES = ["disc", "ring", "triangle", "square", "star", "heart", "crescent", "cross", "arrow", "hourglass"]
# min and max objects, min and max radius, clutter, noise, any shapes
CROWDED, FULL = [9, 13, 19, 32, 100, 8, 1], [5, 8, 21, 34, 100, 8, 0]


class Renderer:
    def __init__(self, folder):
        path = os.path.join(folder, "libscene.so")
        sources = [os.path.join(RUNTIME, "demo", name) for name in ("scene.c", "scene_draw.c")] + [os.path.join(HERE, "train_scenes.c")]
        subprocess.check_call(["cc", "-std=c11", "-O3", "-march=native", "-ffp-contract=off", "-fvisibility=hidden", "-shared", "-fPIC",
                               "-I", os.path.join(RUNTIME, "demo", "include"), *sources, "-o", path, "-lm"])
        self.library = ctypes.CDLL(path)
        path = os.path.join(folder, "libattention.so")
        subprocess.check_call(["cc", "-std=c11", "-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-fopenmp", "-fvisibility=hidden",
                               "-shared", "-fPIC", os.path.join(HERE, "train_attention.c"), "-o", path, "-lm"])
        Attention.library = ctypes.CDLL(path)

    def batch(self, seed, count, level):
        rgb = np.empty((count, SIDE, SIDE, 3), np.uint8)
        shape, owner = np.empty((count, 196), np.uint8), np.empty((count, 196), np.uint8)
        label, twins = np.empty(count, np.int32), np.empty((count, 2), np.uint8)
        pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
        numbers = np.array(level, np.uint32)
        self.library.heed_scene_batch(ctypes.c_uint64(seed), ctypes.c_uint32(count), pointer(numbers), *map(pointer, (rgb, shape, owner, label, twins)))
        # Channel first inside a patch, as the weight of a convolution is.
        patches = rgb.reshape(count, GRID, PATCH, GRID, PATCH, 3).transpose(0, 1, 3, 5, 2, 4).reshape(count, 196, 768)
        return patches, shape, owner, label, twins


def to_tensors(batch):
    patches, shape, owner, label, twins = batch
    return (torch.from_numpy(np.ascontiguousarray(patches)).float().mul_(1 / 127.5).sub_(1), torch.from_numpy(shape.astype(np.int64)),
            torch.from_numpy(owner.astype(np.int64)), torch.from_numpy(label.astype(np.int64)), torch.from_numpy(twins.astype(np.int64)))


class Feed:
    """Renders ahead in a thread; ctypes lets the others run meanwhile."""

    def __init__(self, renderer, seed, count, level):
        self.queue, self.stopped = queue.Queue(3), False
        self.next_seed = seed

        def work():
            while not self.stopped:
                batch = to_tensors(renderer.batch(self.next_seed, count, level))
                self.next_seed += count
                while not self.stopped:
                    try:
                        self.queue.put(batch, timeout=0.5)
                        break
                    except queue.Full:
                        pass

        threading.Thread(target=work, daemon=True).start()


class Attention(torch.autograd.Function):
    """qkv [b, n, 3 * WIDTH] to (out [b, n, WIDTH], weights [b, HEADS, n, n])."""
    library = None

    @staticmethod
    def forward(context, qkv):
        b, n, _ = qkv.shape
        out, weights = torch.empty(b, n, WIDTH), torch.empty(b, HEADS, n, n)
        sizes = [ctypes.c_size_t(v) for v in (b, n, HEADS)]
        Attention.library.attention_forward(*sizes, *(ctypes.c_void_p(t.data_ptr()) for t in (qkv, out, weights)))
        context.save_for_backward(qkv, weights)
        context.set_materialize_grads(False)
        return out, weights

    @staticmethod
    def backward(context, d_out, d_weights):
        qkv, weights = context.saved_tensors
        b, n, _ = qkv.shape
        d_out = torch.zeros(b, n, WIDTH) if d_out is None else d_out.contiguous()
        d_weights = None if d_weights is None else d_weights.contiguous()
        d_qkv = torch.empty_like(qkv)
        sizes = [ctypes.c_size_t(v) for v in (b, n, HEADS)]
        pointers = [ctypes.c_void_p(None if t is None else t.data_ptr()) for t in (qkv, weights, d_out, d_weights, d_qkv)]
        Attention.library.attention_backward(*sizes, *pointers)
        return d_qkv


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        for layer in (self.qkv, self.out, self.up, self.down):
            nn.init.trunc_normal_(layer.weight, std=0.04)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        mixed, weights = Attention.apply(self.qkv(self.before(x)))
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.after(x)))), weights


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(768, WIDTH)
        self.cls = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.position = nn.Parameter(torch.zeros(1, TOKENS, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.classifier = nn.LayerNorm(WIDTH, eps=1e-12), nn.Linear(WIDTH, 10)
        # Dropped when exported.
        self.shape_head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 11))
        self.twin_head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 1))
        nn.init.trunc_normal_(self.cls, std=0.5)

    def start(self, patches):
        """The weights training begins with. Positions are sines in 32 of the dimensions, pictures are cosine-transform coefficients of unit
        variance in the other 96; heads of the first blocks begin as a look at one neighbouring patch (a rotation of the sines)."""
        with torch.no_grad():
            omega = torch.tensor([0.15 * (1.6 / 0.15) ** (i / 7) for i in range(8)])
            place = torch.arange(GRID).float() - (GRID - 1) / 2
            phase = place[:, None] * omega
            sines = torch.stack([phase.sin(), phase.cos()], -1).reshape(GRID, 16) * 0.7071
            self.position.normal_(0, 0.02)
            self.position[0, 0, :32] = 0
            self.position[0, 1:, :16] = sines[:, None].expand(GRID, GRID, 16).reshape(196, 16)
            self.position[0, 1:, 16:32] = sines[None].expand(GRID, GRID, 16).reshape(196, 16)
            wave = torch.stack([torch.cos(math.pi * (torch.arange(16).float() + 0.5) * k / 16) for k in range(8)])
            colour = torch.tensor([[1.0, 1, 1], [1, 0, -1], [-0.5, 1, -0.5]])
            filters = [torch.einsum("c,i,j->cij", colour[c], wave[u], wave[v]).reshape(768)
                       for c, most in ((0, 8), (1, 4), (2, 4)) for u in range(most) for v in range(most)]
            filters = torch.stack(filters)
            response = patches.reshape(-1, 768) @ filters.T
            scale = 0.5 / (response.std(0) + 1e-3)
            self.embed.weight.zero_()
            self.embed.bias.zero_()
            self.embed.weight[32:] = filters * scale[:, None]
            self.embed.bias[32:] = -response.mean(0) * scale
            looks = [[(-1, 0), (1, 0), (0, -1), (0, 1)], [(-1, -1), (-1, 1), (1, -1), (1, 1)], [(0, 0)] * 4]
            for block, offsets, strength in zip(self.blocks, looks, (2.0, 2.0, 1.0)):
                for head, (dy, dx) in enumerate(offsets):
                    for axis, shift in ((0, dy), (1, dx)):
                        for k in range(8):
                            c, s = math.cos(omega[k] * shift), math.sin(omega[k] * shift)
                            row = head * 32 + axis * 16 + 2 * k
                            col = axis * 16 + 2 * k
                            block.qkv.weight[row:row + 2, col:col + 2] += strength * torch.tensor([[c, s], [-s, c]])
                            block.qkv.weight[WIDTH + row:WIDTH + row + 2, col:col + 2] += strength * torch.eye(2)

    def forward(self, patches, layers=LAYERS, kept=None):
        """kept [b, k] (optional): which patches these are, where background was left out."""
        place = self.position[:, 1:] if kept is None else self.position[0, 1:][kept]
        x = torch.cat([(self.cls + self.position[:, :1]).expand(patches.shape[0], -1, -1), self.embed(patches) + place], 1)
        states, weights = [], []
        for block in self.blocks[:layers]:
            x, w = block(x)
            states.append(x)
            weights.append(w)
        return states, weights

    def logits(self, state):
        return self.classifier(self.norm(state[:, 0]))


def leave_out(batch, keep):
    """Every object's patches and some of the background's: keep in all."""
    patches, shape, owner, label, twins = batch
    chance = torch.rand(shape.shape) + 2.0 * (shape < 10)
    kept = chance.topk(keep, 1).indices.sort(1).values
    return (patches.gather(1, kept[..., None].expand(-1, -1, 768)), shape.gather(1, kept), owner.gather(1, kept), label, twins), kept


def losses(model, batch, full, kept=None):
    patches, shape, owner, label, twins = batch
    states, weights = model(patches, LAYERS if full else SHAPE_LAYERS, kept)
    says = model.shape_head(states[SHAPE_LAYERS - 1][:, 1:])
    importance = torch.ones(11)
    importance[10] = 0.3
    terms = {"shape": F.cross_entropy(says.reshape(-1, 11), shape.reshape(-1), importance)}
    objects = shape < 10
    numbers = {"patch": (says.argmax(-1) == shape)[objects].float().mean().item()}
    if not full:
        return terms, numbers
    first, second = owner == twins[:, :1], owner == twins[:, 1:]
    twin = first | second
    flags = model.twin_head(states[TWIN_LAYER][:, 1:])[..., 0]
    terms["flag"] = F.binary_cross_entropy_with_logits(flags, twin.float(), pos_weight=torch.tensor(4.0))
    look = weights[TWIN_LAYER][:, 0, 1:]
    to_other = (look[:, :, 1:] * (first[:, :, None] & second[:, None] | second[:, :, None] & first[:, None])).sum(-1)
    mass, rest = to_other[twin], look[:, :, 0][~twin]
    terms["match"] = -(mass + 1e-6).log().mean()
    terms["idle"] = -(rest + 1e-6).log().mean()
    read = (weights[READ_LAYER][:, 0, 0, 1:] * twin).sum(-1)
    terms["read"] = -(read + 1e-6).log().mean()
    logits = model.logits(states[-1])
    terms["class"] = F.cross_entropy(logits, label)
    numbers.update(right=(logits.argmax(-1) == label).float().mean().item(), mass=mass.mean().item(), cls=read.mean().item(),
                   flag=((flags > 0) == twin)[objects].float().mean().item())
    return terms, numbers


WEIGHT = {"shape": 1.0, "flag": 0.5, "match": 0.3, "idle": 0.15, "read": 0.2, "class": 0.5}


def validate(model, renderer, full, count=256):
    model.eval()
    sums = {}
    with torch.no_grad():
        for start in range(0, count, 64):
            _, numbers = losses(model, to_tensors(renderer.batch(10_000_000_000 + start, 64, FULL)), full)
            for key, value in numbers.items():
                sums[key] = sums.get(key, 0) + value * 64 / count
    model.train()
    return sums


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("--out", required=True)
    parse.add_argument("--minutes", type=float, default=76, help="the schedule's length by the clock")
    parse.add_argument("--pictures", type=int, default=0, help="the schedule's length in pictures, instead of minutes")
    parse.add_argument("--stage-a", type=float, default=0.21, help="fraction of the schedule before stage B")
    parse.add_argument("--whole", type=float, default=0.7, help="fraction of the schedule after which no background patch is left out")
    parse.add_argument("--batch", type=int, default=24)
    parse.add_argument("--rate", type=float, default=1.0e-3)
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--threads", type=int, default=2)
    parse.add_argument("--resume", action="store_true")
    args = parse.parse_args()
    os.makedirs(args.out, exist_ok=True)
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    renderer = Renderer(args.out)
    model = Model()
    model.start(to_tensors(renderer.batch(args.seed << 32, 32, CROWDED))[0])
    decay = [p for p in model.parameters() if p.dim() == 2]
    other = [p for p in model.parameters() if p.dim() != 2]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.02}, {"params": other, "weight_decay": 0.0}], lr=args.rate, betas=(0.9, 0.98))
    average = {k: v.clone() for k, v in model.state_dict().items()}
    seen, spent, step = 0, 0.0, 0
    path = os.path.join(args.out, "last.pt")
    if args.resume and os.path.exists(path):
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        average, seen, spent, step = saved["average"], saved["seen"], saved["spent"], saved["step"]
    log = open(os.path.join(args.out, "train.log"), "a", buffering=1)

    def say(text):
        log.write(text + "\n")
        print(text, flush=True)

    def save():
        torch.save(dict(model=model.state_dict(), optimizer=optimizer.state_dict(), average=average, seen=seen, spent=spent, step=step), path + ".part")
        os.replace(path + ".part", path)

    say("# %d parameters, %s" % (sum(p.numel() for p in model.parameters()), json.dumps(vars(args))))
    feed, feed_level = None, None
    means, last_print, last_save, last_check = {}, time.time(), time.time(), time.time()
    while True:
        done = seen / args.pictures if args.pictures else spent / (60 * args.minutes)
        if done >= 1:
            break
        begin = time.time()
        full = done >= args.stage_a
        level = FULL if full else CROWDED
        if level is not feed_level:
            if feed:
                feed.stopped = True
            feed, feed_level = Feed(renderer, (args.seed << 32) + seen + 64, args.batch, level), level
        rate = args.rate * min(1, (step + 1) / 150) * (0.5 * (1 + math.cos(math.pi * max(0, done - 0.3) / 0.7)) * 0.99 + 0.01)
        for group in optimizer.param_groups:
            group["lr"] = rate
        batch, kept = feed.queue.get(), None
        if done < args.whole:
            batch, kept = leave_out(batch, 88 if full else 104)
        terms, numbers = losses(model, batch, full, kept)
        total = sum(WEIGHT[k] * v for k, v in terms.items())
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        keep = min(0.995, (step + 1) / (step + 10))
        with torch.no_grad():
            for key, value in model.state_dict().items():
                average[key].mul_(keep).add_(value, alpha=1 - keep)
        seen, step, spent = seen + args.batch, step + 1, spent + time.time() - begin
        for key, value in list((k, v.item()) for k, v in terms.items()) + [("=" + k, v) for k, v in numbers.items()]:
            means[key] = 0.95 * means.get(key, value) + 0.05 * value
        now = time.time()
        if now - last_print > 15:
            say("%.1f min  %d pictures  %.0f/s  rate %.2g  " % (spent / 60, seen, args.batch / (now - begin), rate) + " ".join("%s %.3f" % i for i in means.items()))
            last_print = now
        if now - last_check > 180:
            raw = validate(model, renderer, full)
            live = {k: v.clone() for k, v in model.state_dict().items()}
            model.load_state_dict(average)
            mean = validate(model, renderer, full)
            model.load_state_dict(live)
            say("@ %.1f min %d pictures: fresh " % (spent / 60, seen) + json.dumps(raw) + " averaged " + json.dumps(mean))
            last_check = time.time()
        if now - last_save > 60:
            save()
            last_save = now
    model.load_state_dict(average)
    save()
    say("@ end %d pictures: averaged " % seen + json.dumps(validate(model, renderer, True, 1024)))
    torch.save(average, os.path.join(args.out, "final.pt"))


if __name__ == "__main__":
    main()
