// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile.h>

#include <vector>

// The numeric work of the model, in the Tile language. Tokens are rows.
// Kernels are captured once: the number of sentences and of tokens are set by each launch.

namespace minilm {

namespace lt = luisa::tile;

/// What the file of weights holds.
struct Sizes {
    static constexpr int64_t hidden = 384, heads = 12, head = hidden / heads, inner = 1536,
                             layers = 6, words = 30522, positions = 512, kinds = 2;
    static constexpr float epsilon = 1e-12f;
};

/// (ids [sentence, token] i32, words, positions, kinds, gain, shift, out [sentence, token, hidden]): the sum of
/// three embeddings, normalised.
[[nodiscard]] lt::Kernel embed_kernel();
/// Columns of weights that lie together: a matrix of weights is cut into panels of so many columns, one after the other,
/// each dense. Products read them where they lie.
inline constexpr int64_t panel = 64;

/// (x [row, inputs], weights in panels, bias, out [row, outputs]): x · weights + bias, through GELU if asked for.
[[nodiscard]] lt::Kernel linear_kernel(int64_t inputs, int64_t outputs, bool through_gelu);
/// (x [row, inputs], weights in panels, bias, residual [row, outputs], out [row, outputs]): x · weights + bias + residual.
[[nodiscard]] lt::Kernel linear_add_kernel(int64_t inputs, int64_t outputs);
/// (x [row, hidden], gain, shift, out [row, hidden]): each row normalised.
[[nodiscard]] lt::Kernel norm_kernel();
/// (lengths [sentence] i64, qkv [sentence, token, 3 hidden], out [sentence, token, hidden]): attention of each head
/// over the tokens of its sentence that are no padding, `block_q` queries at a time.
[[nodiscard]] lt::Kernel attention_kernel(int64_t block_q);
/// (lengths, x [sentence, token, hidden], out [sentence, hidden]): the mean over a sentence's tokens, scaled to length
/// one.
[[nodiscard]] lt::Kernel pool_kernel();
/// (weights [outputs, inputs] as files have them, out): the same in panels.
[[nodiscard]] lt::Kernel panels_kernel(int64_t inputs, int64_t outputs);

}// namespace minilm
