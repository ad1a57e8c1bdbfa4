// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include "reading.h"

#include <functional>
#include <string>

// What the user of a wrong atomic update, scatter, assertion or print reads, whole.

namespace luisa::tile::test {
namespace {

int line = 0;
#define AT line = __LINE__

/// The error of a kernel over a view of T with 4 × 6 elements.
template<class T> std::string error_of(const std::function<void(TensorView<T, 2>)> &f) {
    return read_by_user("scatter.cpp", line, [&] {
        (void)tile_kernel([&](TensorView<T, 2> A) { f(A); }).capture(tensor_shape(4, 6));
    });
}

/// Functions, not macros: inside a macro's arguments every call has the macro's line.
template<class T>
void expect(const std::function<void(TensorView<T, 2>)> &f, const std::string &text) {
    EXPECT_EQ(error_of<T>(f), text);
}
void expect_of_tile(const std::function<void(const Tile<float> &, Axis, Axis)> &f,
                    const std::string &text) {
    expect<float>(
        [&](auto) {
            auto i = axis("i", 4), j = axis("j", 6);
            f(zeros<float>(shape(i, j)), i, j);
        },
        text);
}

}// namespace

// Bad input 36.
TEST(AtomicErrors, TypesThatAreNotUpdatedAtomically) {
    expect<bool>(
        [](auto A) { AT, (void)A(0, 0).atomic_exch(true); },
        "@+0: UnsupportedError: atomic_exch: no atomic update of elements of bool; it takes "
        "integers, f16, bf16, f32 and f64");
    expect<float8_e4m3fn>(
        [](auto A) {
            auto x = A(1, 1).load();
            AT, (void)A(0, 0).atomic_add(x);
        },
        "@+0: UnsupportedError: atomic_add: no atomic update of elements of e4m3fn; it takes "
        "integers, f16, bf16, f32 and f64");
    expect<float>(
        [](auto A) { AT, (void)A(0, 0).atomic_xor(1.0f); },
        "@+0: UnsupportedError: atomic_xor: no atomic update of elements of f32; it takes "
        "integers");
}

TEST(AtomicErrors, WhereEffectsAreNotAllowed) {
    expect<int32_t>(
        [](auto A) {
            auto i = axis("i", 4);
            (void)reindex(zeros<float>(shape(i)), shape(i), [&](Scalar<int64_t> at) {
                AT, (void)A(0, 0).atomic_add(1);
                return coord(at);
            });
        },
        "@+0: ScopeError: a reindex may not contain an atomic update; do it outside");
}

TEST(AtomicErrors, ResultsAreNoCollectiveUpdate) {
    expect<int32_t>(
        [](auto A) {
            Scalar<int32_t> outer = 0;
            for ([[maybe_unused]] auto &nest : parallel(shape(4))) {
                AT, outer = A(0, 0).atomic_add(1);
            }
            A(0, 1).store(outer);
        },
        "@+0: ScopeError: an outer value assigned inside `parallel` depends on the child's "
        "coordinates; write y = insert(y, child, v), or use reduce or serial\n"
        "  note: value declared here (@-2)");
}

TEST(ScatterErrors, AxesAndExtents) {
    expect_of_tile(
        [](const auto &, Axis i, Axis j) {
            AT, (void)scatter(zeros<float>(shape(i, j)), axis("other", 6), iota<int64_t>(i), 1.0f,
                              add);
        },
        "@+0: IndexError: scatter: the tile of shape [4, 6] has no such axis; scatter along "
        "one of its own\n  note: tile made here (@+0)");
    expect_of_tile(
        [](const auto &, Axis i, Axis j) {
            Axis longer{i.dim, 5, i.loc};
            AT, (void)scatter(zeros<float>(shape(i, j)), j, iota<int64_t>(longer), 1.0f, add);
        },
        "@+0: ShapeError: scatter: a dimension has extent 4 in the tile and 5 in the values "
        "or the index\n  note: tile made here (@+0)");
    expect_of_tile(
        [](const auto &x, Axis, Axis j) { AT, (void)scatter(x, j, iota<int64_t>(j), x, bit_or); },
        "@+0: TypeError: scatter: this reducer does not combine f32; cast the tiles first");
}

TEST(ScatterErrors, OfViews) {
    expect<float>(
        [](auto A) {
            auto i = axis("i", 4);
            AT, scatter(A, iota<int64_t>(i), iota<float>(i), add);
        },
        "@+0: ShapeError: scatter: the view has rank 2, 1 index tiles are given and 0 dimensions "
        "of the values have no index; together they are the dimensions of the view, as in "
        "scatter(view, {rows, columns}, …)");
    expect<float>(
        [](auto A) {
            auto i = axis("i", 4);
            AT, scatter(A, {iota<int64_t>(i), iota<int64_t>(i)}, iota<float>(i), multiply,
                        {.atomic = true});
        },
        "@+0: UnsupportedError: scatter: no atomic update combines elements of f32 so; there "
        "are add, minimum and maximum of integers, f16, bf16, f32 and f64, and bit_and, "
        "bit_or and bit_xor of integers");
}

TEST(ScatterErrors, SegmentsOfAnotherAxis) {
    expect<float>(
        [](auto) {
            auto i = axis("i", 4), j = axis("j", 6);
            auto x = zeros<float>(shape(i));
            AT, (void)segmented_reduce(x, i, iota<int64_t>(j), axis("s", 3), add);
        },
        "@+0: IndexError: segmented_reduce: the tile of segments of shape [6] lacks the axis "
        "that is reduced\n  note: tile made here (@+0)");
}

TEST(CheckErrors, TextsOfOneLine) {
    expect<float>([](auto A) { AT, assert_(A(0, 0).load() > 0.0f, "a\nb"); },
                  "@+0: ValueError: the message of an assertion is one line of text");
    expect<float>([](auto) { AT, print("a\n"); },
                  "@+0: ValueError: the format of print is one line of text");
    expect<float>([](auto A) { AT, print("{} {}", A(0, 0).load()); },
                  "@+0: ValueError: print: the format has 2 places {}, and 1 values are given");
}

namespace {

/// The error of running a kernel over four floats on the interpreter, which validates.
template<class Definition> std::string error_of_running(const Definition &definition) {
    auto device = Device::create("interpreter", {.threads = 1, .validate = true});
    auto y = make_tensor<float>(device, 4);
    Stream stream{device};
    auto f = device.jit(definition);
    return read_by_user("scatter.cpp", line, [&] { stream << f(y).dispatch(); });
}

}// namespace

TEST(AtomicRaces, AreNoneBetweenAtomicUpdates) {
    EXPECT_EQ(error_of_running(tile_kernel([](TensorView<float, 1> Y) {
                  for (auto &nest : parallel(shape(8))) {
                      (void)Y(nest.index() % 4).atomic_add(1.0f);
                  }
              })),
              "no error");
}

TEST(AtomicRaces, AreBetweenAnUpdateAndAStore) {
    auto text = error_of_running(tile_kernel([](TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(8))) {
            if_(
                nest.index() < 5, [&] { (void)Y(nest.index() % 4).atomic_add(1.0f); },
                [&] { AT, Y(nest.index() % 4).store(1.0f); });
        }
    }));
    EXPECT_EQ(text,
              "@+0: RaceError: store: instances (1) and (5) of one parallel both write element (1) "
              "of parameter 0; make their parts disjoint, or combine them with reduce\n"
              "  note: the parallel opened here (@-3)");
}

TEST(ScatterRaces, OfInstancesWithACommonTarget) {
    auto text = error_of_running(tile_kernel([](TensorView<float, 1> Y) {
        auto i = axis("i", 2);
        for (auto &nest : parallel(shape(3))) {
            AT, scatter(Y, iota<int64_t>(i) + nest.index(), ones<float>(shape(i)), add);
        }
    }));
    EXPECT_EQ(text,
              "@+0: RaceError: store: instances (0) and (1) of one parallel both write element (1) "
              "of parameter 0; make their parts disjoint, or combine them with reduce\n"
              "  note: the parallel opened here (@-1)");
    EXPECT_EQ(error_of_running(tile_kernel([](TensorView<float, 1> Y) {
                  auto i = axis("i", 2);
                  for (auto &nest : parallel(shape(3))) {
                      scatter(Y, iota<int64_t>(i) + nest.index(), ones<float>(shape(i)), add,
                              {.atomic = true});
                  }
              })),
              "no error");
}

TEST(UndefinedElements, ThatReachAnUpdateOrAPrint) {
    auto text = error_of_running(tile_kernel([](TensorView<float, 1> Y) {
        auto i = axis("i", 4);
        AT;
        auto x = Y(coord(2), shape(i), bounds::predicate).load();
        (void)Y(0).atomic_add(Scalar<float>(x.at(coord(1))));
        (void)Y(1).atomic_add(Scalar<float>(x.at(coord(2))));
    }));
    EXPECT_EQ(text, "@+3: BoundsError: an undefined element: it was read outside its view under "
                    "bounds::predicate at @+1, and this atomic update uses it on element (1) of "
                    "parameter 0; select it away with ite, or use bounds::zero\n"
                    "  note: read outside here (@+1)");
    text = error_of_running(tile_kernel([](TensorView<float, 1> Y) {
        auto i = axis("i", 4);
        AT;
        auto x = Y(coord(2), shape(i), bounds::predicate).load();
        print("{}", x.at(coord(3)));
    }));
    EXPECT_EQ(text, "@+2: BoundsError: an undefined element: it was read outside its view under "
                    "bounds::predicate at @+1, and print uses it; select it away with ite, or use "
                    "bounds::zero\n  note: read outside here (@+1)");
}

}// namespace luisa::tile::test
