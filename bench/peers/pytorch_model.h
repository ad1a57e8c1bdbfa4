// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bench {

/// all-MiniLM-L6-v2 with PyTorch's own functions: one product for query, key and value, attention by
/// scaled_dot_product_attention, and no mask where there is no padding, as a user in a hurry has it.
inline constexpr const char *model_script = R"py(
import json, struct

class BenchModel:
    def __init__(self, path):
        data = bytearray(open(path, "rb").read())
        size, = struct.unpack("<Q", data[:8])
        entries = json.loads(data[8:8 + size].decode())
        self.data = memoryview(data)
        def get(name):
            entry = entries[name]
            begin, end = (8 + size + at for at in entry["data_offsets"])
            return torch.frombuffer(self.data[begin:end], dtype=torch.float32).view(entry["shape"]).clone()
        def pair(name):
            return get(name + ".weight"), get(name + ".bias")
        def joined(prefix):
            parts = [pair(prefix + name) for name in ("query", "key", "value")]
            return torch.cat([w for w, _ in parts]), torch.cat([b for _, b in parts])
        self.words = get("embeddings.word_embeddings.weight")
        self.positions = get("embeddings.position_embeddings.weight")
        self.kind = get("embeddings.token_type_embeddings.weight")[0]
        self.norm = pair("embeddings.LayerNorm")
        self.layers = []
        for i in range(6):
            own = f"encoder.layer.{i}."
            self.layers.append((joined(own + "attention.self."), pair(own + "attention.output.dense"),
                                pair(own + "attention.output.LayerNorm"), pair(own + "intermediate.dense"),
                                pair(own + "output.dense"), pair(own + "output.LayerNorm")))

    def __call__(self, ids, mask, padded):
        count, tokens = ids.shape
        norm = lambda x, weights: F.layer_norm(x, (384,), *weights, 1e-12)
        hidden = norm(F.embedding(ids, self.words) + self.positions[:tokens] + self.kind, self.norm)
        bias = ((1 - mask) * -1e30)[:, None, None, :] if padded else None
        for qkv, mixed, mixed_norm, inner, outer, outer_norm in self.layers:
            parts = F.linear(hidden, *qkv).view(count, tokens, 3, 12, 32).permute(2, 0, 3, 1, 4)
            heads = F.scaled_dot_product_attention(*parts, attn_mask=bias)
            heads = heads.transpose(1, 2).reshape(count, tokens, 384)
            hidden = norm(hidden + F.linear(heads, *mixed), mixed_norm)
            hidden = norm(hidden + F.linear(F.gelu(F.linear(hidden, *inner)), *outer), outer_norm)
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return F.normalize(mean, dim=1)

bench_models = {}

def bench_model(key, path, sentences, tokens, ids, lengths, embeddings, compiled):
    if path not in bench_models:
        bench_models[path] = BenchModel(path)
    function = bench_models[path]
    ids = bench_array(ids, sentences, tokens, dtype=torch.int32)
    lengths = bench_array(lengths, sentences, dtype=torch.int64)
    mask = (torch.arange(tokens)[None, :] < lengths[:, None]).float()
    padded = bool((lengths < tokens).any())
    if compiled:
        torch._dynamo.reset()
        function = torch.compile(function.__call__, dynamic=False)
    bench_calls[key] = (lambda: function(ids, mask, padded)), bench_array(embeddings, sentences, 384)
)py";

}// namespace bench
