// SPDX-License-Identifier: Apache-2.0
#include "clock.h"
#include "peers/peer.h"
#include "peers/python.h"
#include "peers/pytorch_model.h"

#include <fmt/format.h>

#include <array>

namespace bench {

namespace {

// Tensors are views of our memory. Functions are called the way a user calls them: `out=` where the
// function has it, else the result is a new tensor, copied to ours when the clock has stopped.
constexpr const char *script = R"py(
import ctypes, math, sys
# Triton brings an LLVM of its own, which does not get on with ours in one process. CPUs need no Triton.
sys.modules["triton"] = None
import torch
import torch.nn.functional as F

torch.set_grad_enabled(False)
bench_calls = {}

def bench_array(address, *shape, dtype=torch.float32):
    count = math.prod(shape)
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    element = {torch.float32: ctypes.c_float, torch.int64: ctypes.c_int64,
               torch.int32: ctypes.c_int32, torch.int8: ctypes.c_int8, torch.bfloat16: ctypes.c_uint16}[dtype]
    buffer = (element * count).from_address(address)
    return torch.frombuffer(buffer, dtype=dtype).view(shape)

def bench_gemm(key, m, n, k, transpose_a, transpose_b, a, b, c):
    x = bench_array(a, k, m).t() if transpose_a else bench_array(a, m, k)
    y = bench_array(b, n, k).t() if transpose_b else bench_array(b, k, n)
    out = bench_array(c, m, n)
    bench_calls[key] = (lambda: torch.mm(x, y, out=out)), None

# Products of bf16 are bf16 here, which is less to write than our f32.
def bench_narrow_gemm(key, bf16, m, n, k, transpose_b, a, b, c):
    dtype = torch.bfloat16 if bf16 else torch.int8
    x = bench_array(a, m, k, dtype=dtype)
    y = bench_array(b, n, k, dtype=dtype).t() if transpose_b else bench_array(b, k, n, dtype=dtype)
    if bf16:
        bench_calls[key] = (lambda: torch.mm(x, y)), bench_array(c, m, n)
    else:
        bench_calls[key] = (lambda: torch._int_mm(x, y)), bench_array(c, m, n, dtype=torch.int32)

def bench_rows(key, kind, rows, columns, x, gain, shift, y, epsilon):
    x, out = bench_array(x, rows, columns), bench_array(y, rows, columns)
    gain, shift = bench_array(gain, columns), bench_array(shift, columns)
    shape = (columns,)
    bench_calls[key] = {
        "softmax": lambda: F.softmax(x, -1),
        "layernorm": lambda: F.layer_norm(x, shape, gain, shift, epsilon),
        "rmsnorm": lambda: F.rms_norm(x, shape, gain, epsilon),
    }[kind], out

def bench_lines(key, kind, rows, columns, k, x, y, places):
    x = bench_array(x, rows, columns)
    shape = {"sum_rows": (rows,), "sum_columns": (columns,), "maximum_rows": (rows,),
             "transpose": (columns, rows), "topk_rows": (rows, k)}.get(kind, (rows, columns))
    out = bench_array(y, *shape)
    if kind in ("sort_rows", "topk_rows"):
        ranked = out, bench_array(places, *shape, dtype=torch.int64)
    bench_calls[key] = {
        "sum_rows": lambda: torch.sum(x, 1, out=out),
        "sum_columns": lambda: torch.sum(x, 0, out=out),
        "maximum_rows": lambda: torch.amax(x, 1, out=out),
        "scan_rows": lambda: torch.cumsum(x, 1, out=out),
        "scan_columns": lambda: torch.cumsum(x, 0, out=out),
        "transpose": lambda: out.copy_(x.t()),
        "sort_rows": lambda: torch.sort(x, dim=1, stable=True, out=ranked),
        "topk_rows": lambda: torch.topk(x, k, dim=1, out=ranked),
    }[kind], None

def bench_rope(x, z):
    low, high = x.chunk(2, -1)
    cosine, sine = z.chunk(2, -1)
    return torch.cat((low * cosine - high * sine, high * cosine + low * sine), -1)

def bench_fused(key, kind, bf16, rows, columns, x, z, labels, y, compiled):
    dtype = torch.bfloat16 if bf16 else torch.float32
    weights = kind in ("layernorm", "rmsnorm")
    x, z = bench_array(x, rows, columns, dtype=dtype), bench_array(z, 2 if weights else rows, columns, dtype=dtype)
    labels = bench_array(labels, rows, dtype=torch.int64)
    out = bench_array(y, rows) if kind == "cross_entropy" else bench_array(y, rows, columns, dtype=dtype)
    shape, visible = (columns,), z > 0
    function, operands = {
        "softmax": (lambda x: F.softmax(x, -1), (x,)),
        "masked_softmax": (lambda x, m: F.softmax(x.masked_fill(~m, -math.inf), -1), (x, visible)),
        "layernorm": (lambda x, w, b: F.layer_norm(x, shape, w, b, 1e-5), (x, z[0], z[-1])),
        "rmsnorm": (lambda x, w: F.rms_norm(x, shape, w, 1e-5), (x, z[0])),
        "gelu_residual": (lambda x, z: F.gelu(x) + z, (x, z)),
        "swiglu": (lambda x, z: F.silu(x) * z, (x, z)),
        "rope": (bench_rope, (x, z)),
        "cross_entropy": (lambda x, l: F.cross_entropy(x, l, reduction="none"), (x, labels)),
    }[kind]
    if compiled:
        torch._dynamo.reset()
        function = torch.compile(function, dynamic=False)
    bench_calls[key] = (lambda: function(*operands)), out

def bench_attention(key, heads, length, width, causal, scale, q, k, v, o):
    q, k, v = (bench_array(a, 1, heads, length, width) for a in (q, k, v))
    bench_calls[key] = (lambda: F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal), scale=scale)), \
        bench_array(o, 1, heads, length, width)

def bench_conv(key, last, batch, channels, height, width, outputs, taps, stride, padding, rows, columns, x, w, y):
    def picture(at, n, c, h, w):
        return bench_array(at, n, h, w, c).permute(0, 3, 1, 2) if last else bench_array(at, n, c, h, w)
    x, w = picture(x, batch, channels, height, width), picture(w, outputs, channels, taps, taps)
    bench_calls[key] = (lambda: F.conv2d(x, w, None, stride, padding)), picture(y, batch, outputs, rows, columns)

def bench_run(key, repeats, seconds):
    call, out = bench_calls[key]
    start = bench_now()
    for _ in range(repeats):
        result = call()
    stop = bench_now()
    if out is not None:
        out.copy_(result)
    ctypes.c_double.from_address(seconds).value = (stop - start) * 1e-9

def bench_version(address, size):
    config = torch.__config__.show()
    level = next((line.split(":")[1].strip() for line in config.splitlines()
                  if "CPU capability" in line), "")
    text = f"{torch.__version__} ({level})".encode()[:size - 1] + b"\0"
    ctypes.memmove(address, text, len(text))
)py";

uintptr_t address(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

const char *name_of(RowsKind kind) {
    static constexpr std::array names{"softmax", "layernorm", "rmsnorm"};
    return names[static_cast<size_t>(kind)];
}

const char *name_of(LinesKind kind) {
    static constexpr std::array names{"sum_rows",     "sum_columns", "maximum_rows", "scan_rows",
                                      "scan_columns", "transpose",   "sort_rows",    "topk_rows"};
    return names[static_cast<size_t>(kind)];
}

const char *name_of(FusedKind kind) {
    static constexpr std::array names{"softmax", "masked_softmax", "layernorm",
                                      "rmsnorm", "gelu_residual",  "swiglu",
                                      "rope",    "cross_entropy"};
    return names[static_cast<size_t>(kind)];
}

class PyTorch : public Peer {
public:
    explicit PyTorch(bool compiled) : _python{Python::instance()}, _compiled{compiled} {
        try {
            _python.run(with_clock() + script + model_script, "load PyTorch");
        } catch (const std::runtime_error &) {
            throw PeerMissing{"PyTorch does not load; ./dev setup peers brings it"};
        }
        std::array<char, 128> text{};
        _python.run(fmt::format("bench_version({}, {})", address(text.data()), text.size()),
                    "tell PyTorch's version");
        _version = text.data();
    }
    std::string version() const override { return _version; }
    void set_threads(int threads) override {
        _python.run(fmt::format("torch.set_num_threads({})", threads), "set PyTorch's threads");
    }
    TimedCall call(const GemmProblem &p) override {
        if (_compiled) {
            return {};
        }
        return prepared(fmt::format("bench_gemm({}, {}, {}, {}, {:d}, {:d}, {}, {}, {})", _next,
                                    p.m, p.n, p.k, p.transpose_a, p.transpose_b, address(p.a),
                                    address(p.b), address(p.c)));
    }
    TimedCall call(const NarrowGemmProblem &p) override {
        if (_compiled) {
            return {};
        }
        return prepared(fmt::format("bench_narrow_gemm({}, {:d}, {}, {}, {}, {:d}, {}, {}, {})",
                                    _next, p.bf16, p.m, p.n, p.k, p.transpose_b, address(p.a),
                                    address(p.b), address(p.c)));
    }
    TimedCall call(const RowsProblem &p) override {
        if (_compiled) {
            return {};
        }
        return prepared(fmt::format("bench_rows({}, '{}', {}, {}, {}, {}, {}, {}, {})", _next,
                                    name_of(p.kind), p.rows, p.columns, address(p.x),
                                    address(p.gain), address(p.shift), address(p.y), p.epsilon));
    }
    TimedCall call(const LinesProblem &p) override {
        if (_compiled) {
            return {};
        }
        return prepared(fmt::format("bench_lines({}, '{}', {}, {}, {}, {}, {}, {})", _next,
                                    name_of(p.kind), p.rows, p.columns, p.k, address(p.x),
                                    address(p.y), address(p.places)));
    }
    TimedCall call(const ModelProblem &p) override {
        return prepared(fmt::format("bench_model({}, '{}', {}, {}, {}, {}, {}, {:d})", _next,
                                    p.weights, p.sentences, p.tokens, address(p.ids),
                                    address(p.lengths), address(p.embeddings), _compiled));
    }
    TimedCall call(const FusedProblem &p) override {
        return prepared(fmt::format("bench_fused({}, '{}', {:d}, {}, {}, {}, {}, {}, {}, {:d})",
                                    _next, name_of(p.kind), p.bf16, p.rows, p.columns, address(p.x),
                                    address(p.z), address(p.labels), address(p.y), _compiled));
    }
    TimedCall call(const AttentionProblem &p) override {
        if (_compiled) {
            return {};
        }
        return prepared(fmt::format("bench_attention({}, {}, {}, {}, {:d}, {}, {}, {}, {}, {})",
                                    _next, p.heads, p.length, p.width, p.causal, p.scale,
                                    address(p.q), address(p.k), address(p.v), address(p.o)));
    }
    TimedCall call(const ConvProblem &p) override {
        if (_compiled) {
            return {};
        }
        return prepared(fmt::format(
            "bench_conv({}, {:d}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})", _next,
            p.channels_last, p.batch, p.channels, p.height, p.width, p.outputs, p.taps, p.stride,
            p.padding, p.rows(), p.columns(), address(p.x), address(p.w), address(p.y)));
    }

private:
    /// Both sides are timed with the same clock.
    static std::string with_clock() {
        return fmt::format("import time\nbench_now = time.{}\n", clock_in_use() == ClockKind::CPU
                                                                     ? "process_time_ns"
                                                                     : "perf_counter_ns");
    }
    TimedCall prepared(const std::string &statement) {
        _python.run(statement, "prepare a call of PyTorch");
        return [this, key = _next++](int repeats) {
            double seconds = 0;
            _python.run(fmt::format("bench_run({}, {}, {})", key, repeats, address(&seconds)),
                        "run PyTorch");
            return seconds;
        };
    }
    Python &_python;
    bool _compiled;
    inline static int _next = 0;///< calls of both peers share one namespace
    std::string _version;
};

}// namespace

std::unique_ptr<Peer> open_pytorch() { return std::make_unique<PyTorch>(false); }

std::unique_ptr<Peer> open_inductor() { return std::make_unique<PyTorch>(true); }

}// namespace bench
