// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Operations that move elements, over ragged, prime and empty extents: the interpreter's bits are the CPU's.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {
class Moves : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {};

/// `f(x, i, j)` gives a tile whose dimensions are those of `f.out`, stored by position.
template<class F>
void run_move(std::pair<int64_t, int64_t> e, std::pair<int64_t, int64_t> out, const F &f) {
    auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto i = axis("i", e.first), j = axis("j", e.second);
        f(X[coord(0, 0), shape(i, j)], i, j, Y);
    });
    run_both(def.capture(tensor_shape(e.first, e.second), tensor_shape(out.first, out.second)),
             {random_view({e.first, e.second}, 3), output_view({out.first, out.second})});
}
}// namespace

TEST_P(Moves, transpose_swaps) {
    auto e = GetParam();
    run_move(e, {e.second, e.first}, [](auto x, Axis i, Axis j, auto &Y) {
        Y(coord(0, 0), shape(j, i)).store(transpose(x, {j, i}));
    });
}
TEST_P(Moves, broadcast_of_a_row_repeats_it) {
    run_move(GetParam(), GetParam(), [](auto x, Axis i, Axis j, auto &Y) {
        Y(coord(0, 0), shape(i, j)).store(broadcast(reduce(x, i, maximum), shape(i, j)));
    });
}
TEST_P(Moves, reshape_keeps_row_major_order) {
    auto e = GetParam();
    run_move(e, {e.second, e.first}, [e](auto x, Axis, Axis, auto &Y) {
        auto a = axis("a", e.second), b = axis("b", e.first);
        Y(coord(0, 0), shape(a, b)).store(reshape(x, shape(a, b)));
    });
}
TEST_P(Moves, with_dims_renames_only) {
    run_move(GetParam(), GetParam(), [e = GetParam()](auto x, Axis, Axis, auto &Y) {
        auto a = axis("a", e.first), b = axis("b", e.second);
        Y(coord(0, 0), shape(a, b)).store(with_dims(x, {a, b}));
    });
}
TEST_P(Moves, gather_reads_the_fallback_outside) {
    run_move(GetParam(), GetParam(), [](auto x, Axis i, Axis j, auto &Y) {
        Y(coord(0, 0), shape(i, j)).store(gather(x, iota(j) * 2 - 3, j, -9.0f));
    });
}
TEST_P(Moves, reindex_reverses_and_gives_zero_outside) {
    run_move(GetParam(), GetParam(), [e = GetParam()](auto x, Axis i, Axis j, auto &Y) {
        Y(coord(0, 0), shape(i, j))
            .store(reindex(x, shape(i, j), [e](Scalar<int64_t> a, Scalar<int64_t> b) {
                return coord(e.first - 1 - a, e.second - b);
            }));
    });
}
TEST_P(Moves, concat_appends_along_the_inner_axis) {
    auto e = GetParam();
    run_move(e, {e.first, 2 * e.second}, [e](auto x, Axis i, Axis j, auto &Y) {
        auto both = axis(j.dim, 2 * e.second);
        Y(coord(0, 0), shape(i, both)).store(concat(j, x, x * 2.0f));
    });
}
TEST_P(Moves, insert_replaces_one_row) {
    run_move(GetParam(), GetParam(), [](auto x, Axis i, Axis j, auto &Y) {
        Y(coord(0, 0), shape(i, j)).store(insert(x, coord(1), full<float>(shape(j), 5.0f)));
    });
}
TEST_P(Moves, extract_takes_one_row) {
    run_move(GetParam(), GetParam(), [](auto x, Axis i, Axis j, auto &Y) {
        Y(coord(0, 0), shape(i, j)).store(x.at(coord(0)));
    });
}
INSTANTIATE_TEST_SUITE_P(
    of_two_dimensions, Moves,
    ::testing::Values(std::pair<int64_t, int64_t>{2, 1}, std::pair<int64_t, int64_t>{2, 7},
                      std::pair<int64_t, int64_t>{7, 16}, std::pair<int64_t, int64_t>{16, 17},
                      std::pair<int64_t, int64_t>{3, 33}, std::pair<int64_t, int64_t>{33, 2},
                      std::pair<int64_t, int64_t>{5, 0}),
    [](const auto &info) {
        return std::to_string(info.param.first) + "x" + std::to_string(info.param.second);
    });
