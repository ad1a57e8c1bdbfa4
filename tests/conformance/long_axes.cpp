// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

// Work that must be linear: where each prefix were folded by itself, these axes would take hours.

using namespace luisa::tile;
using namespace luisa::tile::test;

TEST(LongAxes, are_scanned_in_linear_work) {
    constexpr int64_t n = 200003;
    auto def = tile_kernel([](TensorView<const int64_t, 1> X, TensorView<const bool, 1> H,
                              TensorView<int64_t, 2> Y) {
        auto i = axis("i", n);
        auto x = X[coord(0), shape(i)];
        Y(coord(0, 0), shape(1, i)).store(scan(x, i, add));
        Y(coord(1, 0), shape(1, i)).store(scan(x, i, add, {.exclusive = true, .reverse = true}));
        Y(coord(2, 0), shape(1, i))
            .store(scan(x, i, maximum, {.policy = reduction::balanced_tree}));
        Y(coord(3, 0), shape(1, i)).store(segmented_scan(x, H[coord(0), shape(i)], i, add));
    });
    auto x = integer_view<int64_t>({n}, 1, 1000);
    auto heads = flags({n}, 2, 3);
    auto out = run_both(def.capture(tensor_shape(n), tensor_shape(n), tensor_shape(4, n)),
                        {x, heads, output_of<int64_t>({4, n})});
    auto element = [](const View &v, int64_t i) {
        int64_t value = 0;
        std::memcpy(&value, v.bytes.data() + 8 * static_cast<size_t>(i), 8);
        return value;
    };
    int64_t sum = 0, behind = 0, top = INT64_MIN, segment = 0;
    for (int64_t e = 0; e < n; ++e) {
        auto v = element(x, e);
        sum += v, top = std::max(top, v);
        segment = heads.bytes[static_cast<size_t>(e)] ? v : segment + v;
        ASSERT_EQ(element(out[2], e), sum) << e;
        ASSERT_EQ(element(out[2], 2 * n + e), top) << e;
        ASSERT_EQ(element(out[2], 3 * n + e), segment) << e;
        auto last = n - 1 - e;
        ASSERT_EQ(element(out[2], n + last), behind) << last;
        behind += element(x, last);
    }
}
