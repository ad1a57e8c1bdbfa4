// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace luisa::tile::interpreter {

/// The value of a tile or scalar: raw bits (convention of types/convert.h), row-major in the order
/// of the type's dimensions.
struct Tile {
    std::vector<uint64_t> bits;
    /// Empty while every element is defined. Else one entry an element: the predicated load that
    /// left it undefined, or null.
    std::vector<const ir::Operation *> undefined;

    [[nodiscard]] const ir::Operation *undefined_at(int64_t i) const noexcept {
        return undefined.empty() ? nullptr : undefined[static_cast<size_t>(i)];
    }
    void set_undefined(int64_t i, const ir::Operation *load) {
        if (undefined.empty() && load) {
            undefined.resize(bits.size());
        }
        if (!undefined.empty()) {
            undefined[static_cast<size_t>(i)] = load;
        }
    }
};

/// Shared between slots; whoever changes a tile owns it alone.
using TileRef = std::shared_ptr<Tile>;

using Numbers = std::vector<int64_t>;

[[nodiscard]] Numbers extents_of(const std::vector<ir::DimExtent> &dims);
/// Row-major strides in elements.
[[nodiscard]] Numbers dense_strides(std::span<const int64_t> extents);
/// How far one step along each of `dims` moves in a tile of `type`: nothing along dimensions that
/// it lacks or has with extent one.
[[nodiscard]] Numbers strides_along(const std::vector<ir::DimExtent> &dims, const ir::Type &type);
/// Coordinates of element `index` of a row-major box.
[[nodiscard]] Numbers coordinates_of(int64_t index, std::span<const int64_t> extents);
/// "(0, 3)"
[[nodiscard]] std::string coordinates_text(std::span<const int64_t> coordinates);

/// Calls `visit(coordinates, offsets)` for every coordinate of a box in lexicographic order;
/// offset i is the sum of coordinate times stride for stride set i.
template<size_t N, class Visit>
void walk(std::span<const int64_t> extents, const std::array<const Numbers *, N> &strides,
          Visit &&visit) {
    for (auto extent : extents) {
        if (extent <= 0) {
            return;
        }
    }
    Numbers at(extents.size(), 0);
    std::array<int64_t, N> offsets{};
    while (true) {
        visit(at, offsets);
        auto axis = extents.size();
        while (true) {
            if (axis-- == 0) {
                return;
            }
            for (size_t i = 0; i < N; ++i) {
                offsets[i] += (*strides[i])[axis];
            }
            if (++at[axis] < extents[axis]) {
                break;
            }
            for (size_t i = 0; i < N; ++i) {
                offsets[i] -= (*strides[i])[axis] * extents[axis];
            }
            at[axis] = 0;
        }
    }
}

}// namespace luisa::tile::interpreter
