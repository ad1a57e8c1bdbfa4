// SPDX-License-Identifier: Apache-2.0
#include "sorting.h"

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

using Lengths = std::pair<int64_t, int64_t>;
class Merging : public ::testing::TestWithParam<Lengths> {};

/// Sorts both parts in the kernel, merges them, and compares with sorting both together.
template<class T> void check_merge(Lengths n, bool rows, const Request &how, bool ranked) {
    auto extents = rows ? std::vector<int64_t>{1, 3, n.first + n.second}
                        : std::vector<int64_t>{1, n.first + n.second, 19};
    size_t along = rows ? 2 : 1;
    auto def = tile_kernel(
        [=](TensorView<const T, 3> X, TensorView<T, 3> Y, TensorView<int64_t, 3> I) {
            std::array<Axis, 3> dims{axis("a", 1), axis("b", extents[1]), axis("c", extents[2])};
            auto part = [&](int64_t begin, int64_t extent) {
                auto d = dims;
                d[along].extent = extent;
                return X[coord(0, rows ? 0 : begin, rows ? begin : 0), shape(d[0], d[1], d[2])];
            };
            auto a = sort(part(0, n.first), dims[along], how.order, how.options);
            auto b = sort(part(n.first, n.second), dims[along], how.order, how.options);
            auto place = shape(dims[0], dims[1], dims[2]);
            RankedTile<T> merged;
            if (ranked) {
                merged = merge_sorted(a, RankedTile<T>{b.values, b.indices + n.first}, dims[along],
                                      how.order, how.options);
            } else {
                merged = merge_sorted(a.values, b.values, dims[along], how.order, how.options);
            }
            Y(coord(0, 0, 0), place).store(merged.values);
            I(coord(0, 0, 0), place).store(merged.indices);
        });
    auto whole = tensor_shape(extents[0], extents[1], extents[2]);
    auto kernel = def.capture(whole, whole, whole);
    auto values = ordering_values<T>(static_cast<uint32_t>(n.first), true, 30);
    auto views = run_both(
        kernel, {dense<T>(extents, values), output_view<T>(extents), index_view(extents)});
    Request request{extents, along, how.order, how.options};
    if (!ranked) {
        request.options.indices = false;// of the sorted parts, which the host does not have
    }
    expect_order(views, request);
}

}// namespace

TEST_P(Merging, f32) {
    auto n = GetParam();
    for (bool rows : {true, false}) {
        check_merge<float>(n, rows, {}, true);
        check_merge<float>(n, rows, {.order = descending, .options = {.nan = nan::first}}, true);
        check_merge<float>(n, rows, {}, false);
    }
    check_merge<int64_t>(n, true, {.order = descending}, true);
    check_merge<half>(n, false, {}, true);
}
INSTANTIATE_TEST_SUITE_P(lengths, Merging,
                         ::testing::Values(Lengths{0, 0}, Lengths{0, 5}, Lengths{1, 1},
                                           Lengths{7, 0}, Lengths{3, 40}, Lengths{16, 16},
                                           Lengths{33, 100}, Lengths{128, 127}));
