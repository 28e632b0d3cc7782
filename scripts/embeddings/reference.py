"""What the tests of void-embeddings compare with, computed by others: tokens by Hugging Face's tokenizers, the
forward pass by numpy in 64 bits. Written once, by hand:

    python3 -m venv VENV && VENV/bin/pip install -r scripts/embeddings/requirements.txt
    VENV/bin/python scripts/embeddings/reference.py "$(scripts/minilm)" crates/void-embeddings/tests/it/reference
"""

import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

erf = np.vectorize(math.erf)

TEXTS = [
    "A cat sits on the mat.",
    "A kitten is resting on a rug.",
    "The quarterly report shows that revenue fell.",
    "",
    "Restart the reverse proxy on host ct100 after renewing its certificate.",
    "№5 naïve Ünïcödé ÅNGSTRÖM — 5€ §3 2×3 “quoted” y…¿z",
    "我们 go东京 カタカナ 한국어 क्षत्रिय ไทย",
    "tab\tline\nend\u00a0x a\u0000b\ufffdc\u200bd \u2028e 👩‍💻 ﬁne",
    "antidisestablishmentarianism " + "x" * 100 + " " + "y" * 101,
    "İstanbul'da IĞDIR ß ẞ Σίσυφος Ёлка",
    " ".join(f"Line {n} of a log says that disk {n % 7} of host h{n % 5} is at {n}%." for n in range(14)),
]


def weights(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    read = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            read[name] = np.frombuffer(data[start:end], "<f4").reshape(entry["shape"]).astype(np.float64)
    return read


def norm(x, w, name, epsilon):
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    return x * w[f"{name}.weight"] + w[f"{name}.bias"]


def linear(x, w, name):
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def encode(tokens, w, layers, heads, epsilon):
    x = w["embeddings.word_embeddings.weight"][tokens]
    x = x + w["embeddings.position_embeddings.weight"][: len(tokens)]
    x = x + w["embeddings.token_type_embeddings.weight"][0]
    x = norm(x, w, "embeddings.LayerNorm", epsilon)
    for layer in range(layers):
        part = f"encoder.layer.{layer}"
        split = lambda y: y.reshape(len(tokens), heads, -1).transpose(1, 0, 2)
        q, k, v = (split(linear(x, w, f"{part}.attention.self.{name}")) for name in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores = scores / scores.sum(-1, keepdims=True)
        mixed = (scores @ v).transpose(1, 0, 2).reshape(len(tokens), -1)
        x = norm(linear(mixed, w, f"{part}.attention.output.dense") + x, w, f"{part}.attention.output.LayerNorm", epsilon)
        inner = linear(x, w, f"{part}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = norm(linear(inner, w, f"{part}.output.dense") + x, w, f"{part}.output.LayerNorm", epsilon)
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


# The small model of src/local/tests.rs: the same names in the same order, the same numbers.
HIDDEN, INNER, LAYERS, HEADS, WORDS, POSITIONS, TYPES = 8, 16, 2, 2, 12, 10, 2


def small():
    shapes = {
        "embeddings.word_embeddings.weight": (WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": (TYPES, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
    }
    for layer in range(LAYERS):
        part = f"encoder.layer.{layer}"
        for name, outputs, inputs in [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ]:
            shapes[f"{part}.{name}.weight"] = (outputs, inputs)
            shapes[f"{part}.{name}.bias"] = (outputs,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{part}.{name}.weight"] = (HIDDEN,)
            shapes[f"{part}.{name}.bias"] = (HIDDEN,)
    made = {}
    for salt, (name, shape) in enumerate(shapes.items()):
        count = math.prod(shape)
        numbers = np.array([(at * 7919 + salt * 104729) % 2003 for at in range(count)], np.float64) / 1000 - 1
        made[name] = numbers.astype(np.float32).astype(np.float64).reshape(shape)
    return made


def main():
    folder, target = map(Path, sys.argv[1:])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    w = weights(folder / "model.safetensors")
    cases = []
    for text in TEXTS:
        tokens = tokenizer.encode(text).ids
        assert len(tokens) <= 256, len(tokens)
        vector = encode(tokens, w, 6, 12, 1e-12)
        cases.append({"text": text, "tokens": tokens, "vector": [round(float(value), 8) for value in vector]})
    lines = ",\n".join(json.dumps(case) for case in cases)
    (target / "minilm.json").write_text(f"[\n{lines}\n]\n")
    cases = []
    for tokens in ([2, 3], [2, 4, 5, 6, 3], [2, 11, 11, 1, 7, 8, 9, 10, 4, 3]):
        vector = encode(tokens, small(), LAYERS, HEADS, 1e-12)
        cases.append({"tokens": tokens, "vector": [round(float(value), 8) for value in vector]})
    lines = ",\n".join(json.dumps(case) for case in cases)
    (target / "small.json").write_text(f"[\n{lines}\n]\n")


main()
