// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/functions.h>
#include <luisa/tile/program.h>
#include <luisa/tile/reduce.h>
#include <luisa/tile/scan.h>
#include <luisa/tile/scatter.h>

// Whole arrays of any length: programs of several kernels, in which instances work on blocks of a fixed size.
// The size depends on nothing but the operator, so that results are the same for every number of threads.

namespace luisa::tile {

namespace device_wide {

/// Elements of one instance; a power of two, so that a balanced tree over blocks is one over elements.
inline constexpr int64_t block = 4096;

/// Blocks that hold n elements; one for none.
[[nodiscard]] inline int64_t blocks(int64_t n, int64_t size = block) {
    return n > size ? (n + size - 1) / size : 1;
}
/// A view of any length, with the stride of `x`.
template<class X> [[nodiscard]] TensorMeta any_length(const char *name, const X &x) {
    return tensor_shape(dynamic(name)).with_strides({x.extent(0) > 1 ? x.stride(0) : 1});
}
/// Which elements of the block at `first` there are.
[[nodiscard]] inline Tile<bool> present(const Axis &i, const Scalar<int64_t> &first,
                                        const Index &extent, SourceLoc loc) {
    return iota<int64_t>(i, loc) + first < Scalar<int64_t>{extent.value(loc), loc};
}

/// Y[b] = the reduction of block b of X.
template<class T> auto reduce_blocks(ReducerFunction op, SourceLoc loc) {
    return tile_kernel(
        [=](TensorView<const T, 1> X, TensorView<T, 1> Y) {
            auto i = axis("i", block, loc);
            for (auto &nest : parallel(shape(Y.extent(0)))) {
                auto first = nest.index() * block;
                auto x = X(coord(first), shape(i)).load();
                auto y = reduce(x, i, op, reduction::balanced_tree,
                                {.mask = present(i, first, X.extent(0), loc)}, loc);
                Y(nest.index()).store(y);
            }
        },
        {.name = "reduce_blocks"});
}

template<class T>
void reduce_all(Commands &run, ReducerFunction op, ProgramTensor<const T, 1> x,
                const ProgramTensor<T, 1> &result, SourceLoc loc) {
    auto step = reduce_blocks<T>(op, loc);
    auto level = [&](const ProgramTensor<const T, 1> &from, const ProgramTensor<T, 1> &to) {
        run(step.capture(any_length("elements", from), any_length("blocks", to)), loc)(from, to);
    };
    while (blocks(x.extent(0)) > 1) {
        auto partial = run.template temporary<T>(blocks(x.extent(0)));
        level(x, partial);
        x = partial;
    }
    level(x, result);
}

}// namespace device_wide

/// The reduction of all elements of x, one element: a program `(x, result)`. The order is that of
/// `reduction::balanced_tree`, whose bits are the same everywhere; of nothing it is what `reduce` gives of
/// nothing. A result of another extent than 1: ShapeError. A type that op does not combine: TypeError.
template<class T>
[[nodiscard]] auto device_reduce(ReducerFunction op, SourceLoc loc = SourceLoc::current()) {
    return tile_program(
        [=](Commands &run, ProgramTensor<const T, 1> x, ProgramTensor<T, 1> result) {
            run.expect_extent(result, 0, 1);
            device_wide::reduce_all<T>(run, op, x, result, loc);
        },
        {.name = "device_reduce", .parameters = {"x", "result"}}, loc);
}

struct DeviceScanOptions {
    bool exclusive = false;///< element i is what came before it
    bool reverse = false;  ///< from the last element to the first
};

namespace device_wide {

/// What `op` leaves the other operand of, bit for bit, where that is not what `op` gives of nothing: a sum of no
/// floats is +0, which a sum of -0 would lose its sign to.
template<class T> [[nodiscard]] constexpr bool has_neutral_beside_nothing(ReducerFunction op) {
    return is_floating_element<T> && op.reducer == Reducer::ADD;
}

/// Y = the scan of each block of X; with `Seeds`, what came before the block is in Seeds[block].
template<class T>
auto scan_blocks(ReducerFunction op, DeviceScanOptions options, bool seeded, SourceLoc loc) {
    return tile_kernel(
        [=](TensorView<const T, 1> X, TensorView<const T, 1> Seeds, TensorView<T, 1> Y) {
            auto i = axis("i", block, loc);
            for (auto &nest : parallel(shape(ceil_div(X.extent(0), block)))) {
                auto first = nest.index() * block;
                auto x = X(coord(first), shape(i)).load();
                ScanOptions<T> how{.exclusive = options.exclusive,
                                   .reverse = options.reverse,
                                   .policy = reduction::balanced_tree};
                if (options.reverse) {
                    how.mask = present(i, first, X.extent(0), loc);
                }
                bool neutral = seeded && has_neutral_beside_nothing<T>(op);
                auto origin = options.reverse ? Scalar<int64_t>{X.extent(0).value(loc), loc} - 1
                                              : Scalar<int64_t>{0};
                if (neutral) {
                    how.seed = ite(nest.index() == origin / block, static_cast<T>(-0.0f),
                                   Seeds(nest.index()).load());
                } else if (seeded) {
                    how.seed = Seeds(nest.index()).load();
                }
                auto y = scan(x, i, op, how, loc);
                if (neutral && options.exclusive) {
                    y = ite(iota(i, loc) + first == origin, static_cast<T>(0.0f), y);
                }
                Y(coord(first), shape(i)).store(y);
            }
        },
        {.name = "scan_blocks"});
}

template<class T>
void scan_all(Commands &run, ReducerFunction op, DeviceScanOptions options,
              const ProgramTensor<const T, 1> &x, const ProgramTensor<T, 1> &y, SourceLoc loc) {
    auto n = blocks(x.extent(0));
    auto seeds = run.template temporary<T>(n);
    if (n > 1) {
        auto totals = run.template temporary<T>(n);
        run(reduce_blocks<T>(op, loc).capture(any_length("elements", x),
                                              any_length("blocks", totals)),
            loc)(x, totals);
        scan_all<T>(run, op, {.exclusive = true, .reverse = options.reverse}, totals, seeds, loc);
    }
    run(scan_blocks<T>(op, options, n > 1, loc)
            .capture(any_length("elements", x), any_length("blocks", seeds),
                     any_length("elements", y)),
        loc)(x, seeds, y);
}

}// namespace device_wide

/// What op makes of the elements of x up to each of them: a program `(x, y)`. Blocks are combined in the
/// order of the elements, so op need not commute; the grouping of floats is fixed. y may be x. An y of another
/// extent: ShapeError.
template<class T>
[[nodiscard]] auto device_scan(ReducerFunction op, DeviceScanOptions options = {},
                               SourceLoc loc = SourceLoc::current()) {
    return tile_program(
        [=](Commands &run, ProgramTensor<const T, 1> x, ProgramTensor<T, 1> y) {
            run.expect_extent(y, 0, x.extent(0));
            device_wide::scan_all<T>(run, op, options, x, y, loc);
        },
        {.name = "device_scan", .parameters = {"x", "y"}}, loc);
}

/// How many elements of x are 0, 1, … below the extent of counts; others are not counted: a program
/// `(x, counts)`.
template<std::integral T>
[[nodiscard]] auto device_histogram(SourceLoc loc = SourceLoc::current()) {
    auto kernel = tile_kernel(
        [=](TensorView<const T, 1> X, TensorView<int64_t, 1> Counts) {
            auto i = axis("i", device_wide::block, loc);
            for (auto &nest : parallel(shape(ceil_div(Counts.extent(0), device_wide::block)))) {
                Counts(coord(nest.index() * device_wide::block), shape(i)).store(0);
            }
            for (auto &nest : parallel(shape(ceil_div(X.extent(0), device_wide::block)))) {
                auto first = nest.index() * device_wide::block;
                auto x = cast<int64_t>(X(coord(first), shape(i)).load());
                auto one = device_wide::present(i, first, X.extent(0), loc);
                scatter(Counts, x, cast<int64_t>(one), add, {}, loc);
            }
        },
        {.name = "histogram_blocks"});
    return tile_program(
        [=](Commands &run, ProgramTensor<const T, 1> x, ProgramTensor<int64_t, 1> counts) {
            run(kernel.capture(device_wide::any_length("elements", x),
                               device_wide::any_length("bins", counts)),
                loc)(x, counts);
        },
        {.name = "device_histogram", .parameters = {"x", "counts"}}, loc);
}

}// namespace luisa::tile
