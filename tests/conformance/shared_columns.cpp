// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

// Columns of few instances, which several blocks and threads of a GPU share: folds and scans down them, of all
// heights and widths, at addresses and strides of all kinds.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// The same elements, the first at element `origin`, rows `stride` apart.
View placed_columns(const View &dense, int64_t stride, int64_t origin) {
    auto rows = dense.extents[0], columns = dense.extents[1];
    auto size = static_cast<size_t>(size_of(dense.type));
    View view = dense;
    view.strides = {stride, 1};
    view.origin = origin;
    view.bytes.assign(static_cast<size_t>(origin + rows * stride + 16) * size, 0x5a);
    for (int64_t r = 0; r < rows; ++r) {
        std::memcpy(view.bytes.data() + static_cast<size_t>(origin + r * stride) * size,
                    dense.bytes.data() + static_cast<size_t>(r * columns) * size,
                    static_cast<size_t>(columns) * size);
    }
    return view;
}

struct ColumnDirection {
    bool exclusive = false, reverse = false, seeded = false;
};

/// Sums and running sums down strips of columns.
template<class T> auto sums_down(int64_t rows, int64_t strip, ColumnDirection direction = {}) {
    return tile_kernel([=](TensorView<const T, 2> X, TensorView<T, 1> Y, TensorView<T, 2> Z) {
        auto r = axis("row", rows), c = axis("column", strip);
        for (auto &nest : parallel(shape(ceil_div(X.extent(1), strip)))) {
            auto c0 = nest.index() * strip;
            auto x = X[coord(0, c0), shape(r, c)];
            ScanOptions<T> how{.exclusive = direction.exclusive, .reverse = direction.reverse};
            if (direction.seeded) {
                how.seed = static_cast<T>(3);
            }
            Y(coord(c0), shape(c)).store(reduce(x, r, add));
            Z(coord(0, c0), shape(r, c)).store(scan(x, r, add, how));
        }
    });
}

template<class T>
void check_sums_down(int64_t rows, int64_t columns, int64_t strip, ColumnDirection how = {}) {
    run_both(sums_down<T>(rows, strip, how)
                 .capture(tensor_shape(rows, columns), tensor_shape(columns),
                          tensor_shape(rows, columns)),
             {integer_view<T>({rows, columns}, 5), output_view<T>({columns}),
              output_view<T>({rows, columns})});
}

}// namespace

TEST(SharedColumns, of_every_height_and_width) {
    for (int64_t rows : {1, 24, 40, 56, 72, 100, 127, 1000}) {
        for (int64_t columns : {1, 24, 127, 256}) {
            check_sums_down<float>(rows, columns, 64);
        }
    }
    for (int64_t columns : {1, 24, 40, 56, 72, 100, 127, 1000}) {
        check_sums_down<float>(300, columns, 256);
        check_sums_down<int32_t>(65, columns, 128);
    }
}

TEST(SharedColumns, tall_ones) {
    check_sums_down<float>(5000, 128, 64);
    check_sums_down<double>(2049, 96, 32);
    check_sums_down<int64_t>(2048, 64, 64);
    check_sums_down<half>(130, 256, 128);
}

TEST(SharedColumns, in_every_direction) {
    for (int64_t rows : {1, 40, 127, 1000}) {
        for (bool exclusive : {false, true}) {
            for (bool reverse : {false, true}) {
                check_sums_down<float>(rows, 72, 64, {exclusive, reverse});
                check_sums_down<float>(rows, 40, 128, {exclusive, reverse, true});
            }
        }
    }
}

TEST(SharedColumns, wherever_they_lie) {
    for (int64_t stride : {128, 130, 131, 160}) {
        for (int64_t origin : {0, 1, 2, 4}) {
            auto matrix = tensor_shape(100, 128).with_strides({stride, 1});
            run_both(sums_down<float>(100, 64).capture(matrix, tensor_shape(128), matrix),
                     {placed_columns(integer_view({100, 128}, 6), stride, origin),
                      output_view({128}),
                      placed_columns(output_view({100, 128}), stride, 4 - origin)});
        }
    }
}

TEST(SharedColumns, zeros_keep_their_signs) {
    for (bool exclusive : {false, true}) {
        ColumnDirection how{.exclusive = exclusive};
        run_both(sums_down<float>(100, 64, how)
                     .capture(tensor_shape(100, 64), tensor_shape(64), tensor_shape(100, 64)),
                 {dense<float>({100, 64}, {-0.0f}), output_view({64}), output_view({100, 64})});
    }
}

TEST(SharedColumns, whose_values_go_on) {
    for (int64_t rows : {24, 127, 600}) {
        auto def = tile_kernel(
            [=](TensorView<const float, 2> X, TensorView<float, 2> Y, TensorView<float, 2> Z) {
                auto r = axis("row", rows), c = axis("column", 96);
                for (auto &nest : parallel(shape(ceil_div(X.extent(1), 96)))) {
                    auto at = coord(0, nest.index() * 96);
                    auto x = X[at, shape(r, c)];
                    auto top = reduce(x, r, maximum);
                    auto e = scan(x - top, r, maximum) * 2.0f;
                    Y(at, shape(r, c)).store(e + x);
                    Z(at, shape(r, c)).store(scan(e, r, add, {.reverse = true}));
                }
            });
        run_both(
            def.capture(tensor_shape(rows, 200), tensor_shape(rows, 200), tensor_shape(rows, 200)),
            {integer_view({rows, 200}, 8), output_view({rows, 200}), output_view({rows, 200})});
    }
}
