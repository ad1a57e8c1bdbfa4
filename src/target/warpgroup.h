// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/scalar_type.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace luisa::tile::target {

/// A kind of `wgmma`: the four warps of a warpgroup multiply 64×k by k×n, n a multiple of 8 up to 256, of matrices in
/// shared memory.
struct PanelAtom {
    ScalarType a, b, sum;
    int k = 0;
    bool across = false;///< lines of the matrices may go along rows of a and columns of b as well
    const char *types = "";///< of the instruction: ".f32.bf16.bf16"

    static constexpr int rows = 64, threads = 128, most_columns = 256;
    /// "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"
    [[nodiscard]] std::string instruction(int n) const;
};
/// Those of architectures with AsyncMechanisms::warpgroups.
[[nodiscard]] std::span<const PanelAtom> panel_atoms() noexcept;
/// The row of these types, or null.
[[nodiscard]] const PanelAtom *find_panel_atom(ScalarType a, ScalarType b, ScalarType sum) noexcept;

/// Which element of the sums a thread of the warpgroup holds. Every bit of a thread's number, and of the number of an
/// element among those of the thread, adds a row or a column.
struct PanelPlace {
    int row = 0, column = 0;
};
inline constexpr std::array<PanelPlace, 7> panel_thread_bits{
    {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}, {16, 0}, {32, 0}}};
inline constexpr std::array<PanelPlace, 7> panel_element_bits{
    {{0, 1}, {8, 0}, {0, 8}, {0, 16}, {0, 32}, {0, 64}, {0, 128}}};
[[nodiscard]] PanelPlace panel_sum_at(int thread, int element) noexcept;

/// How matrices lie in shared memory, as a descriptor says it in 64 bits.
struct PanelDescriptor {
    int64_t start = 0, leading = 0, stride = 0;///< bytes

    /// With the permutation of 128-byte lines.
    [[nodiscard]] uint64_t bits() const noexcept;
    [[nodiscard]] static PanelDescriptor of(uint64_t bits) noexcept;
    /// The byte of shared memory where an element of a line begins whose bytes go along the steps, or across them.
    [[nodiscard]] int64_t along(int64_t row, int64_t step, int64_t bytes) const noexcept;
    [[nodiscard]] int64_t across(int64_t row, int64_t step, int64_t bytes) const noexcept;
};
/// What a permuted descriptor says beside the start, which is its lowest 14 bits in units of 16 bytes.
inline constexpr uint64_t permuted_lines = uint64_t{1} << 62;
/// Bytes of a line, and lines of an atom of the permutation.
inline constexpr int64_t panel_line = 128, panel_lines = 8;

}// namespace luisa::tile::target
