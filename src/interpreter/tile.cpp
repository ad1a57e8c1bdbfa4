// SPDX-License-Identifier: Apache-2.0
#include "interpreter/tile.h"

namespace luisa::tile::interpreter {

Numbers extents_of(const std::vector<ir::DimExtent> &dims) {
    Numbers extents;
    extents.reserve(dims.size());
    for (const auto &d : dims) {
        extents.push_back(d.extent);
    }
    return extents;
}

Numbers dense_strides(std::span<const int64_t> extents) {
    Numbers strides(extents.size());
    // Unsigned: a strided view's extents may multiply to more than there are addresses.
    uint64_t stride = 1;
    for (auto i = extents.size(); i-- > 0;) {
        strides[i] = static_cast<int64_t>(stride);
        stride *= static_cast<uint64_t>(extents[i]);
    }
    return strides;
}

Numbers strides_along(const std::vector<ir::DimExtent> &dims, const ir::Type &type) {
    auto dense = dense_strides(extents_of(type.dims));
    Numbers strides;
    strides.reserve(dims.size());
    for (const auto &d : dims) {
        auto at = type.find(d.dim);
        auto varies = at >= 0 && type.dims[static_cast<size_t>(at)].extent != 1;
        strides.push_back(varies ? dense[static_cast<size_t>(at)] : 0);
    }
    return strides;
}

Numbers coordinates_of(int64_t index, std::span<const int64_t> extents) {
    Numbers coordinates(extents.size());
    for (auto i = extents.size(); i-- > 0;) {
        coordinates[i] = index % extents[i];
        index /= extents[i];
    }
    return coordinates;
}

std::string coordinates_text(std::span<const int64_t> coordinates) {
    std::string text = "(";
    for (auto c : coordinates) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(c);
    }
    return text + ")";
}

}// namespace luisa::tile::interpreter
