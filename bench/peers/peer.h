// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "measure.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// C = op(A) · op(B), dense row-major f32. A transposed operand is stored [K, M] or [N, K].
struct GemmProblem {
    int64_t m = 0, n = 0, k = 0;
    bool transpose_a = false, transpose_b = false;
    const float *a = nullptr, *b = nullptr;
    float *c = nullptr;
};

/// C = A · B of bf16 into f32, or of signed 8-bit integers into 32-bit ones, dense row-major. A transposed B is
/// stored [N, K].
struct NarrowGemmProblem {
    bool bf16 = false;
    int64_t m = 0, n = 0, k = 0;
    bool transpose_b = false;
    const void *a = nullptr, *b = nullptr;
    void *c = nullptr;
};

enum class RowsKind { SOFTMAX, LAYERNORM, RMSNORM };

/// One result row for each row of a dense row-major f32 matrix.
struct RowsProblem {
    RowsKind kind = RowsKind::SOFTMAX;
    int64_t rows = 0, columns = 0;
    const float *x = nullptr, *gain = nullptr, *shift = nullptr;
    float *y = nullptr;
    float epsilon = 1e-5f;
};

enum class FusedKind {
    SOFTMAX,
    MASKED_SOFTMAX,
    LAYERNORM,
    RMSNORM,
    GELU_RESIDUAL,
    SWIGLU,
    ROPE,
    CROSS_ENTROPY
};

/// One result row for each row of a dense row-major matrix of f32 or bf16. `z` is a second matrix: a mask that
/// is positive where elements count, two rows of weights, the other operand, or cosines and sines. Losses are f32.
struct FusedProblem {
    FusedKind kind = FusedKind::SOFTMAX;
    bool bf16 = false;
    int64_t rows = 0, columns = 0;
    const void *x = nullptr, *z = nullptr;
    const int64_t *labels = nullptr;
    void *y = nullptr;
};

enum class LinesKind {
    SUM_ROWS,
    SUM_COLUMNS,
    MAXIMUM_ROWS,
    SCAN_ROWS,
    SCAN_COLUMNS,
    TRANSPOSE,
    SORT_ROWS,
    TOPK_ROWS
};

/// Work along one axis of a dense row-major f32 matrix. Ordering gives the places of the values, too.
struct LinesProblem {
    LinesKind kind = LinesKind::SUM_ROWS;
    int64_t rows = 0, columns = 0, k = 0;
    const float *x = nullptr;
    float *y = nullptr;
    int64_t *places = nullptr;
};

/// Softmax(scale · Q · Kᵀ) · V for each head, dense [heads, length, width] of f32. Causal: no query sees later keys.
struct AttentionProblem {
    int64_t heads = 0, length = 0, width = 0;
    bool causal = false;
    float scale = 1;
    const float *q = nullptr, *k = nullptr, *v = nullptr;
    float *o = nullptr;
};

/// A padded convolution of f32 pictures. X is [batch, channels, height, width] or, with `channels_last`, [batch, height,
/// width, channels]; Y likewise. The weights are [outputs, channels, taps, taps] in the same order of dimensions.
struct ConvProblem {
    bool channels_last = false;
    int64_t batch = 0, channels = 0, height = 0, width = 0, outputs = 0, taps = 1, stride = 1,
            padding = 0;
    const float *x = nullptr, *w = nullptr;
    float *y = nullptr;
    [[nodiscard]] int64_t rows() const { return (height + 2 * padding - taps) / stride + 1; }
    [[nodiscard]] int64_t columns() const { return (width + 2 * padding - taps) / stride + 1; }
};

/// Names no library but the source that a variant says in other words, such as the plain product of `gemm`.
inline constexpr const char *base_peer = "base";

/// Sentence embeddings by all-MiniLM-L6-v2: one row of 384 numbers for each sentence.
struct ModelProblem {
    std::string weights;///< model.safetensors
    int64_t sentences = 0, tokens = 0;
    const int32_t *ids = nullptr;    ///< [sentence, token]
    const int64_t *lengths = nullptr;///< of each sentence without its padding
    float *embeddings = nullptr;
};

/// A library that is not installed, with the command that brings it.
class PeerMissing : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// What a user would call instead of us. A problem that a peer has no function for gives an empty call.
/// A call's result is in the problem's output once it has run with one repeat.
class Peer {
public:
    Peer() = default;
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;
    virtual ~Peer() = default;
    [[nodiscard]] virtual std::string version() const = 0;
    virtual void set_threads(int threads) = 0;
    [[nodiscard]] virtual TimedCall call(const GemmProblem &) { return {}; }
    [[nodiscard]] virtual TimedCall call(const NarrowGemmProblem &) { return {}; }
    [[nodiscard]] virtual TimedCall call(const RowsProblem &) { return {}; }
    [[nodiscard]] virtual TimedCall call(const LinesProblem &) { return {}; }
    [[nodiscard]] virtual TimedCall call(const ModelProblem &) { return {}; }
    [[nodiscard]] virtual TimedCall call(const FusedProblem &) { return {}; }
    [[nodiscard]] virtual TimedCall call(const AttentionProblem &) { return {}; }
    [[nodiscard]] virtual TimedCall call(const ConvProblem &) { return {}; }
};

struct PeerInfo {
    const char *name;
    std::unique_ptr<Peer> (*open)();///< throws PeerMissing
};
/// Every peer that there is, in the order of the tables.
[[nodiscard]] const std::vector<PeerInfo> &all_peers();

[[nodiscard]] std::unique_ptr<Peer> open_openblas();
[[nodiscard]] std::unique_ptr<Peer> open_onednn();
[[nodiscard]] std::unique_ptr<Peer> open_pytorch();
/// The same functions, compiled by `torch.compile` for the shapes at hand.
[[nodiscard]] std::unique_ptr<Peer> open_inductor();

}// namespace bench
