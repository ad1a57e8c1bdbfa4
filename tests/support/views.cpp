// SPDX-License-Identifier: Apache-2.0
#include "support/views.h"

#include <numeric>

namespace luisa::tile::test {

View counting(std::vector<int64_t> extents) {
    int64_t n = 1;
    for (auto e : extents) {
        n *= e;
    }
    std::vector<float> v(static_cast<size_t>(n));
    std::iota(v.begin(), v.end(), 1.0f);
    return dense<float>(std::move(extents), v);
}

View flags(std::vector<int64_t> extents, uint32_t seed, unsigned percent) {
    std::mt19937 engine{seed};
    std::vector<uint8_t> values(1021);
    for (auto &x : values) {
        x = engine() % 100 < percent;
    }
    auto v = dense<uint8_t>(std::move(extents), values);
    v.type = ScalarType::BOOL;
    return v;
}

}// namespace luisa::tile::test
