// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/both.h"

// Arguments that several files of tests make.

namespace luisa::tile::test {

/// 1, 2, 3, … in row-major order.
View counting(std::vector<int64_t> extents);

/// Element number `i` of the buffer, as T.
template<class T> T element(const View &v, int64_t i) {
    T x{};
    std::memcpy(static_cast<void *>(&x), v.bytes.data() + static_cast<size_t>(i) * sizeof(T),
                sizeof(T));
    return x;
}

/// All elements of a dense view.
template<class T> std::vector<T> elements(const View &v) {
    std::vector<T> all;
    for (size_t i = 0; i < static_cast<size_t>(v.count()); ++i) {
        all.push_back(element<T>(v, static_cast<int64_t>(i)));
    }
    return all;
}

/// A view for results, filled with what no result is likely to be.
template<class R> View output_of(std::vector<int64_t> extents) {
    View v;
    v.type = scalar_type_of<R>;
    v.strides = dense_strides(extents);
    v.extents = std::move(extents);
    v.bytes.assign(static_cast<size_t>(v.count()) * sizeof(R) + 64, 0x5a);
    return v;
}

/// Truth values, true in `percent` of the places.
View flags(std::vector<int64_t> extents, uint32_t seed, unsigned percent);

}// namespace luisa::tile::test
