// SPDX-License-Identifier: Apache-2.0
#include "target/warpgroup.h"

#include <algorithm>

namespace luisa::tile::target {

namespace {

using enum ScalarType;

constexpr PanelAtom panel_table[] = {
    {FLOAT16, FLOAT16, FLOAT32, 16, true, ".f32.f16.f16"},
    {BFLOAT16, BFLOAT16, FLOAT32, 16, true, ".f32.bf16.bf16"},
};

constexpr int64_t field = 0x3fff, unit = 16;

/// Units of 16 bytes change places with the line in their atom.
int64_t permuted(int64_t byte) { return byte ^ (byte / panel_line % panel_lines) * unit; }

}// namespace

std::string PanelAtom::instruction(int n) const {
    return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" + std::to_string(k) +
           types;
}

std::span<const PanelAtom> panel_atoms() noexcept { return panel_table; }

const PanelAtom *find_panel_atom(ScalarType a, ScalarType b, ScalarType sum) noexcept {
    auto found = std::find_if(std::begin(panel_table), std::end(panel_table), [&](const auto &row) {
        return row.a == a && row.b == b && row.sum == sum;
    });
    return found == std::end(panel_table) ? nullptr : &*found;
}

PanelPlace panel_sum_at(int thread, int element) noexcept {
    PanelPlace place;
    auto add = [&](const auto &bits, int number) {
        for (size_t bit = 0; bit < bits.size(); ++bit) {
            if (number >> bit & 1) {
                place.row += bits[bit].row;
                place.column += bits[bit].column;
            }
        }
    };
    add(panel_thread_bits, thread);
    add(panel_element_bits, element);
    return place;
}

uint64_t PanelDescriptor::bits() const noexcept {
    auto part = [](int64_t bytes) { return static_cast<uint64_t>(bytes / unit & field); };
    return permuted_lines | part(stride) << 32 | part(leading) << 16 | part(start);
}

PanelDescriptor PanelDescriptor::of(uint64_t bits) noexcept {
    auto part = [&](int shift) { return (static_cast<int64_t>(bits >> shift) & field) * unit; };
    return {part(0), part(16), part(32)};
}

int64_t PanelDescriptor::along(int64_t row, int64_t step, int64_t bytes) const noexcept {
    return permuted(start + row / panel_lines * stride + row % panel_lines * panel_line +
                    step * bytes);
}

int64_t PanelDescriptor::across(int64_t row, int64_t step, int64_t bytes) const noexcept {
    auto in_line = row * bytes;
    return permuted(start + in_line / panel_line * leading + step / panel_lines * stride +
                    step % panel_lines * panel_line + in_line % panel_line);
}

}// namespace luisa::tile::target
