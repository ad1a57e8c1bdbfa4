// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "compile/cpu.h"
#include "frontend/kernel_access.h"
#include "interpreter/interpreter.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

// What the user of a wrong view map, Memory, domain or constraint reads, whole, and where it points.

namespace luisa::tile::test {
namespace {

using Body = std::function<void(const TensorView<float, 2> &, const TensorView<const float, 1> &)>;

std::string text_of(const Error &e) {
    EXPECT_NE(std::string{e.location().file}.find("tests/error/memory.cpp"), std::string::npos)
        << e.what();
    auto text = std::string{to_string(e.kind())} + " at " + std::to_string(e.location().line) +
                ": " + e.message();
    for (const auto &note : e.notes()) {
        text += " | " + note.message + " at " + std::to_string(note.loc.line);
    }
    return text;
}

/// The error of capturing one body over a view of 8 × 6 and one of 8 elements.
std::string error_of(const Body &body) {
    try {
        (void)tile_kernel([&](TensorView<float, 2> A, TensorView<const float, 1> X) {
            body(A, X);
        }).capture(tensor_shape(8, 6), tensor_shape(8));
    } catch (const Error &e) {
        return text_of(e);
    }
    return "no error";
}

/// The error of compiling one body for the CPU.
std::string cpu_error_of(const Body &body) {
    try {
        auto kernel = tile_kernel([&](TensorView<float, 2> A, TensorView<const float, 1> X) {
                          body(A, X);
                      }).capture(tensor_shape(8, 6), tensor_shape(8));
        (void)compiler::compile_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, {}});
    } catch (const Error &e) {
        return text_of(e);
    }
    return "no error";
}

std::string at(int line, const std::string &text) {
    auto colon = text.find(" @: ");
    return text.substr(0, colon) + " at " + std::to_string(line) + ": " + text.substr(colon + 4);
}

}// namespace

TEST(ViewMapErrors, AnotherNumberOfCoordinates) {
    int line = 0;
    auto text = error_of([&](const auto &A, const auto &) {
        line = __LINE__ + 1;
        (void)A.view(shape(4), [](auto i, auto j) { return coord(i, j); });
    });
    EXPECT_EQ(text, at(line, "CallError @: view: the lambda takes 2 coordinates, expected 1"));
    text = error_of([&](const auto &A, const auto &) {
        line = __LINE__ + 1;
        (void)A.view(shape(4), [](auto i) { return coord(i); });
    });
    EXPECT_EQ(text, at(line, "ShapeError @: view: the lambda gives 1 coordinates, the view has "
                             "rank 2"));
    text = error_of([&](const auto &A, const auto &) {
        line = __LINE__ + 1;
        (void)A.view(shape(), [] { return coord(0, 0); });
    });
    EXPECT_EQ(text, at(line, "ShapeError @: view: the space has no dimensions; one element is "
                             "A(i, …)"));
}

TEST(ViewMapErrors, StoresThroughMapsThatMeet) {
    int mapped = 0;
    auto text = error_of([&](const auto &A, const auto &X) {
        mapped = __LINE__ + 1;
        auto places = A.view(shape(8), [](auto i) { return coord(i / 2, i % 2 * 0); });
        places.store(X[coord(0), shape(8)]);
    });
    EXPECT_EQ(text, at(mapped + 1,
                       "ConstraintError @: store through a view whose map gives the elements (0) "
                       "and (1) the same place; store where each has its own, or use scatter with "
                       "a reducer | mapped here at " +
                           std::to_string(mapped)));
    // Overlapping windows, affine.
    text = error_of([&](const auto &A, const auto &) {
        mapped = __LINE__ + 1;
        auto windows = A.view(shape(3, 4), [](auto i, auto k) { return coord(0, i * 2 + k); });
        windows.store(zeros<float>(shape(3, 4)));
    });
    EXPECT_EQ(text, at(mapped + 1,
                       "ConstraintError @: store through a view whose map gives the elements "
                       "(0, 2) and (1, 0) the same place; store where each has its own, or use "
                       "scatter with a reducer | mapped here at " +
                           std::to_string(mapped)));
}

TEST(ViewMapErrors, IndexMapsThatDoNotFit) {
    auto with = [](const IndexMap &map) {
        return error_of([=](const auto &A, const auto &X) {
            A.view(shape(8), map).store(X[coord(0), shape(8)]);
        });
    };
    int line = __LINE__ - 3;
    EXPECT_EQ(with(IndexMap::identity({6})),
              at(line, "ShapeError @: view: the map takes the points of [6], the space is [8]"));
    EXPECT_EQ(with(IndexMap::identity({8})),
              at(line, "ShapeError @: view: the map gives 1 coordinates, the view has rank 2"));
    EXPECT_EQ(with(IndexMap::of({8}, {8, 8},
                                [](IndexExpr i) {
                                    return std::vector<IndexExpr>{8 / i, i};
                                })),
              at(line, "ConstraintError @: view: the map is undefined at (0)"));
    EXPECT_EQ(with(IndexMap::table({8}, {1, 1}, std::vector(8, std::optional{IndexPoint{0, 0}}))),
              at(line, "UnsupportedError @: view: a map with a table is no expression of "
                       "coordinates; load the places from a view of indices with gather"));
    auto text = with(IndexMap::of({8}, {8, 6}, [](IndexExpr i) {
        return std::vector<IndexExpr>{i / 2, i & 0};
    }));
    EXPECT_EQ(text, at(line, "ConstraintError @: store through a view whose map gives the elements "
                             "(0) and (1) the same place; store where each has its own, or use "
                             "scatter with a reducer | mapped here at " +
                                 std::to_string(line)));
}

TEST(ViewMapErrors, StoresThroughMapsThatCannotBeProved) {
    int mapped = 0;
    auto text = error_of([&](const auto &A, const auto &X) {
        auto x = cast<int64_t>(X[coord(0), shape(8)]);
        mapped = __LINE__ + 1;
        auto places = A.view(shape(8), [&](auto i) { return coord(x.at(coord(i)), 0); });
        places.store(X[coord(0), shape(8)]);
    });
    EXPECT_EQ(text,
              at(mapped + 1,
                 "ConstraintError @: store through a view whose map cannot be proved to give each "
                 "element a place of its own: it is not affine, and depends on values known at "
                 "launch only or has more than 1048576 elements; use scatter | mapped here at " +
                     std::to_string(mapped)));
}

TEST(MemoryErrors, ReadBeforeAnythingIsStored) {
    int made = 0, read = 0;
    auto text = error_of([&](const auto &A, const auto &) {
        made = __LINE__ + 1;
        auto m = memory<float>(shape(8, 6));
        read = __LINE__ + 1;
        A(coord(0, 0), shape(8, 6)).store(m.load());
    });
    EXPECT_EQ(text, at(read, "ScopeError @: a Memory is read before anything was certainly stored "
                             "to it; store first | Memory made here at " +
                                 std::to_string(made)));
}

TEST(MemoryErrors, StoredOnlyWhereItMayNotRun) {
    int made = 0, read = 0, nest = 0;
    auto store = [&](const auto &A, const auto &X, bool branch) {
        made = __LINE__ + 1;
        auto m = memory<float>(shape(8, 6));
        if (branch) {
            if_(X(0).load() > 0.0f, [&] { m.store(zeros<float>(shape(8, 6))); });
        } else {
            nest = __LINE__ + 1;
            for (auto &step : serial(range(0, cast<int64_t>(X(0).load())))) {
                m(coord(step.index(), 0), shape(1, 6)).store(zeros<float>(shape(1, 6)));
            }
        }
        read = __LINE__ + 1;
        A(coord(0, 0), shape(8, 6)).store(m.load());
    };
    auto text = error_of([&](const auto &A, const auto &X) { store(A, X, true); });
    EXPECT_EQ(text, at(read, "ScopeError @: a Memory is read before anything was certainly stored "
                             "to it; store first | Memory made here at " +
                                 std::to_string(made)));
    text = error_of([&](const auto &A, const auto &X) { store(A, X, false); });
    EXPECT_EQ(text, at(read, "ScopeError @: a Memory is read before anything was certainly stored "
                             "to it; store first | Memory made here at " +
                                 std::to_string(made) +
                                 " | this nest stores to it, but may run zero times at " +
                                 std::to_string(nest)));
}

TEST(MemoryErrors, InstancesThatStoreTheWhole) {
    int made = 0, store = 0;
    auto text = error_of([&](const auto &A, const auto &X) {
        made = __LINE__ + 1;
        auto m = memory<float>(shape(6));
        for (auto &row : parallel(shape(8))) {
            auto x = X(row.index()).load();
            store = __LINE__ + 1;
            m.store(full<float>(shape(6), x));
        }
        A(coord(0, 0), shape(1, 6)).store(m.load());
    });
    EXPECT_EQ(text,
              at(store, "ScopeError @: every instance of this `parallel` stores the whole of an "
                        "outer Memory; store disjoint boxes, memory(origin, shape).store(…), or "
                        "make the Memory inside | Memory made here at " +
                            std::to_string(made)));
}

TEST(MemoryErrors, LayoutsThatAreNone) {
    auto with = [](const Stride &strides) {
        return error_of(
            [=](const auto &, const auto &) { (void)memory<float>(layout(shape(8, 6), strides)); });
    };
    int line = __LINE__ - 2;
    EXPECT_EQ(with(stride(6)),
              at(line, "ShapeError @: memory: a layout of 2 dimensions has 1 strides"));
    EXPECT_EQ(with(stride(-6, 1)),
              at(line, "ConstraintError @: memory: stride -6 of dimension 0 leads before the "
                       "object; a layout begins at its first element"));
    EXPECT_EQ(with(stride(4, 1)),
              at(line, "ConstraintError @: memory: the layout puts the elements (0, 4) and (1, 0) "
                       "at the same place"));
    EXPECT_EQ(with(stride(0, 1)),
              at(line, "ConstraintError @: memory: the layout puts the elements (0, 0) and (1, 0) "
                       "at the same place"));
}

TEST(MemoryErrors, IndexMapsThatAreNoLayouts) {
    auto with = [](const IndexMap &map) {
        return error_of(
            [=](const auto &, const auto &) { (void)memory<float>(layout(shape(8, 6), map)); });
    };
    int line = __LINE__ - 2;
    EXPECT_EQ(with(IndexMap::strided({6, 8}, {8, 1})),
              at(line, "ShapeError @: memory: the layout has places for the elements [6, 8], the "
                       "shape is [8, 6]"));
    EXPECT_EQ(with(IndexMap::identity({8, 6})),
              at(line, "ShapeError @: memory: the places of the layout have 2 coordinates; a place "
                       "in memory is one number"));
    EXPECT_EQ(with(IndexMap::strided({8, 6}, {6, 1}).into({47})),
              at(line,
                 "ConstraintError @: memory: the layout puts the element (7, 5) outside of its "
                 "47 places"));
    EXPECT_EQ(with(IndexMap::strided({8, 6}, {6, -1})),
              at(line,
                 "ConstraintError @: memory: the layout puts the element (0, 5) outside of its "
                 "43 places"));
    EXPECT_EQ(
        with(IndexMap::of({8, 6}, {48}, [](IndexExpr i, IndexExpr j) { return i * 6 + j / 2; })),
        at(line, "ConstraintError @: memory: the layout puts the elements (0, 0) and (0, 1) at "
                 "the same place"));
    EXPECT_EQ(
        with(IndexMap::of({8, 6}, {48}, [](IndexExpr i, IndexExpr j) { return 40 / (i + j); })),
        at(line, "ConstraintError @: memory: the layout has no place for the element (0, 0)"));
    auto table = cpu_error_of([&](const auto &A, const auto &) {
        line = __LINE__ + 1;
        auto m = memory<float>(IndexMap::table({2}, {2}, {{{1}}, {{0}}}));
        m.store(zeros<float>(shape(2)));
        A(coord(0, 0), shape(1, 2)).store(reshape(m.load(), shape(1, 2)));
    });
    EXPECT_EQ(table, at(line, "UnsupportedError @: memory: a CPU computes places by expressions "
                              "whose divisors are constants, and the layout table{[2]; 1, 0} [2] "
                              "-> [2] is none; use strides, digits or bits"));
}

TEST(ConstraintErrors, OrdersOfInstancesThatAreNone) {
    auto with = [](const IndexMap &map) {
        return cpu_error_of([=](const auto &A, const auto &) {
            for (auto &row : parallel(shape(8), exec::layout(map))) {
                A(row.index(), 0).store(1.0f);
            }
        });
    };
    int line = __LINE__ - 5;
    EXPECT_EQ(with(IndexMap::strided({8}, {1})), "no error");
    EXPECT_EQ(with(IndexMap::strided({7}, {1})),
              at(line,
                 "ShapeError @: exec::layout: the map takes [7] to [7]; the instances are [8], "
                 "and their places in order one number each"));
    EXPECT_EQ(with(IndexMap::of({8}, {8}, [](IndexExpr i) { return i / 2; })),
              at(line,
                 "ConstraintError @: exec::layout: not proved to give each instance a place of "
                 "its own in an order of 8: totality proven, bounds proven, injectivity "
                 "disproven by (0) and (1), surjectivity disproven by (4)"));
    EXPECT_EQ(
        with(IndexMap::table({8}, {8}, {{{1}}, {{0}}, {{2}}, {{3}}, {{4}}, {{5}}, {{6}}, {{7}}})),
        at(line, "UnsupportedError @: exec::layout: a CPU needs the inverse of the map as an "
                 "expression, to find the instance of a task; that of table{[8]; 1, 0, 2, 3, 4, "
                 "5, 6, 7} [8] -> [8] is none; use digits or bits in another order"));
    auto inner = cpu_error_of([&](const auto &A, const auto &) {
        for (auto &row : parallel(shape(8))) {
            line = __LINE__ + 1;
            for (auto &column : row.parallel(shape(6), exec::layout(IndexMap::strided({6}, {1})))) {
                A(row.index(), column.index()).store(1.0f);
            }
        }
    });
    EXPECT_EQ(inner,
              at(line, "UnsupportedError @: exec::layout: a CPU orders the instances of a root "
                       "`parallel` only, and runs those inside of a task one after another; "
                       "use exec::infer"));
}

TEST(MemoryErrors, BoxesAndTilesThatDoNotFit) {
    int line = 0, made = 0;
    auto text = error_of([&](const auto &, const auto &) {
        auto m = memory<float>(shape(8, 6));
        line = __LINE__ + 1;
        (void)m(coord(0), shape(2, 2)).load();
    });
    EXPECT_EQ(text, at(line, "ShapeError @: the Memory has rank 2, the origin has 1 "
                             "coordinates and the shape rank 2"));
    text = error_of([&](const auto &, const auto &) {
        auto m = memory<float>(shape(8, 6));
        line = made = __LINE__ + 1;
        m.store(zeros<float>(shape(6, 8)));
    });
    EXPECT_EQ(text, at(line, "ShapeError @: store: a tile of shape [6, 8] into a Memory of "
                             "shape [8, 6]: its dimensions are not those of the Memory | "
                             "tile made here at " +
                                 std::to_string(made)));
}

TEST(MemoryErrors, ElementsThatNoStoreReaches) {
    int made = 0, read = 0;
    auto expect_gap = [&](const std::string &text, const std::string &element) {
        EXPECT_EQ(text, at(read, "ScopeError @: a Memory is read where nothing was stored, at "
                                 "element (" +
                                     element +
                                     "); store every element before, or load the part that was "
                                     "stored | Memory made here at " +
                                     std::to_string(made)));
    };
    expect_gap(error_of([&](const auto &A, const auto &) {
                   made = __LINE__ + 1;
                   auto m = memory<float>(shape(8, 6));
                   m(coord(0, 0), shape(8, 3)).store(zeros<float>(shape(8, 3)));
                   m(coord(0, 4), shape(7, 2)).store(zeros<float>(shape(7, 2)));
                   m(coord(3, 3), shape(9, 1)).store(zeros<float>(shape(9, 1)));
                   read = __LINE__ + 1;
                   A(coord(0, 0), shape(8, 6)).store(m.load());
               }),
               "7, 4");
    // Stored on one side of a branch is stored perhaps; on neither side, certainly not.
    auto branch = [&](int64_t load) {
        return error_of([&](const auto &A, const auto &X) {
            made = __LINE__ + 1;
            auto m = memory<float>(shape(8));
            m(coord(0), shape(2)).store(zeros<float>(shape(2)));
            if_(
                X(0).load() > 0.0f, [&] { m(coord(2), shape(2)).store(zeros<float>(shape(2))); },
                [&] { m(coord(4), shape(2)).store(zeros<float>(shape(2))); });
            read = __LINE__ + 1;
            A(coord(0, 0), shape(load, 1)).store(m(coord(0), shape(load)).load());
        });
    };
    EXPECT_EQ(branch(6), "no error");
    expect_gap(branch(7), "6");
    // What lies outside of the object reads as zero; what loops and the launch decide is not known here.
    EXPECT_EQ(error_of([&](const auto &A, const auto &X) {
                  auto m = memory<float>(shape(4));
                  m(coord(0), shape(4)).store(zeros<float>(shape(4)));
                  A(coord(0, 0), shape(8, 1)).store(m(coord(0), shape(8)).load());
                  auto n = memory<float>(shape(8));
                  for (auto &step : serial(range(0, 8))) {
                      n(coord(step.index()), shape(1)).store(zeros<float>(shape(1)));
                  }
                  A(coord(0, 0), shape(8, 1)).store(n.load());
                  auto o = memory<float>(shape(8));
                  o(coord(cast<int64_t>(X(0).load())), shape(4)).store(zeros<float>(shape(4)));
                  A(coord(0, 0), shape(8, 1)).store(o.load());
              }),
              "no error");
}

TEST(MemoryErrors, ElementsThatNothingWasStoredTo) {
    auto kernel = tile_kernel([](TensorView<float, 1> Y, Scalar<int64_t> first) {
                      auto m = memory<float>(shape(8));
                      m(coord(first), shape(4)).store(zeros<float>(shape(4)));
                      Y(coord(0), shape(8)).store(m.load());
                  }).capture(tensor_shape(8));
    int store = __LINE__ - 2, made = __LINE__ - 4;
    std::vector<float> y(8);
    KernelArgument argument, first;
    argument.data = reinterpret_cast<uint8_t *>(y.data());
    argument.extents = {8};
    argument.strides = {1};
    first.scalar_bits = 2;
    std::string text = "no error";
    try {
        interpreter::run(*module_of(kernel), std::vector<KernelArgument>{argument, first});
    } catch (const Error &e) {
        text = text_of(e);
    }
    auto expected = at(store,
                       "BoundsError @: an undefined element: nothing was stored there in the "
                       "Memory made at ");
    EXPECT_EQ(text.substr(0, expected.size()), expected);
    auto tail = std::string{
        ":" + std::to_string(made) +
        ", and this store puts it in element (0) of parameter 0; store every element before it is "
        "used | Memory made here at " +
        std::to_string(made)};
    EXPECT_NE(text.find(tail), std::string::npos) << text;
}

TEST(WhereErrors, TilesThatAreNotOfTheDomain) {
    int domain = 0;
    auto text = error_of([&](const auto &, const auto &X) {
        auto i = axis("i", 8), j = axis("j", 8);
        auto mask = X[coord(0), shape(i)] > 0.0f;
        domain = __LINE__ + 1;
        for ([[maybe_unused]] auto &step : serial(shape(j).where(mask))) {}
    });
    EXPECT_EQ(text, at(domain, "ShapeError @: where: the tile of shape [8] has a dimension that is "
                               "none of the domain's | nest opened here at " +
                                   std::to_string(domain)));
    text = error_of([&](const auto &, const auto &X) {
        auto mask = X[coord(0), shape(8)] > 0.0f;
        domain = __LINE__ + 1;
        for ([[maybe_unused]] auto &step : serial(range(0, 8).where(mask))) {}
    });
    EXPECT_EQ(text,
              at(domain, "ShapeError @: where: the tile of shape [8] has a dimension that is none "
                         "of the domain's; a range has none, give a lambda | nest opened here at " +
                             std::to_string(domain)));
    text = error_of([&](const auto &, const auto &) {
        domain = __LINE__ + 1;
        auto space = shape(8).where([](auto i, auto j) { return i < j; });
        for ([[maybe_unused]] auto &step : serial(space)) {}
    });
    EXPECT_EQ(text, at(domain, "CallError @: where: the lambda takes 2 coordinates, expected 1"));
}

TEST(PerErrors, AnOuterVariableTakesNoValueOfOneInstance) {
    int line = 0, declared = 0;
    auto text = error_of([&](const auto &A, const auto &) {
        declared = __LINE__ + 1;
        Scalar<float> count = 0.0f;
        for (auto &row : parallel(shape(8))) {
            line = __LINE__ + 1;
            count = per(row, count + 1.0f);
        }
        A(0, 0).store(count);
    });
    EXPECT_EQ(text, at(line, "ScopeError @: an outer value assigned inside `parallel` depends on "
                             "the child's coordinates; write y = insert(y, child, v), or use "
                             "reduce or serial | value declared here at " +
                                 std::to_string(declared)));
}

TEST(ConstraintErrors, WhatACpuLacks) {
    auto in = [](ExecLevel level) {
        return cpu_error_of([=](const auto &A, const auto &) {
            for (auto &row : parallel(shape(8), level)) {
                A(row.index(), 0).store(1.0f);
            }
        });
    };
    int line = __LINE__ - 5;
    EXPECT_EQ(in(exec::core), "no error");
    EXPECT_EQ(in(exec::infer), "no error");
    EXPECT_EQ(in(exec::vector),
              at(line, "UnsupportedError @: exec::vector: a CPU's vectors hold elements of tiles, "
                       "not instances of `parallel`; use exec::infer"));
    for (auto [level, name] : {std::pair{exec::cluster, "cluster"},
                               {exec::block, "block"},
                               {exec::subgroup, "subgroup"},
                               {exec::thread, "thread"}}) {
        EXPECT_EQ(in(level), at(line, std::string{"UnsupportedError @: exec::"} + name +
                                          ": a CPU has cores and vectors, and no such level; use "
                                          "exec::infer"));
    }
    auto text = cpu_error_of([&](const auto &A, const auto &) {
        for (auto &row : parallel(shape(8))) {
            line = __LINE__ + 1;
            for (auto &column : row.parallel(shape(6), exec::core)) {
                A(row.index(), column.index()).store(1.0f);
            }
        }
    });
    EXPECT_EQ(text, at(line, "UnsupportedError @: exec::core: the tasks of a CPU's cores are the "
                             "instances of a root `parallel`, and hold no tasks of their own; "
                             "use exec::infer"));
}

TEST(ConstraintErrors, MemoryThatACpuLacks) {
    auto in = [](MemoryClass kind) {
        return cpu_error_of([=](const auto &A, const auto &) {
            auto m = memory<float>(shape(8, 6), kind);
            m.store(zeros<float>(shape(8, 6)));
            A(coord(0, 0), shape(8, 6)).store(m.load());
        });
    };
    int line = __LINE__ - 5;
    for (auto kind : {mem::auto_, mem::private_, mem::global}) {
        EXPECT_EQ(in(kind), "no error");
    }
    for (auto [kind, name] :
         {std::pair{mem::shared, "shared"}, {mem::cluster, "cluster"}, {mem::tensor, "tensor"}}) {
        EXPECT_EQ(in(kind), at(line, std::string{"UnsupportedError @: mem::"} + name +
                                         ": a CPU has no such memory; use mem::auto_, "
                                         "mem::private_ or mem::global"));
    }
}

TEST(ConstraintErrors, FunctionsThatRoundCorrectly) {
    KernelOptions options;
    options.math = MathTier::EXACT;
    int line = 0;
    auto kernel = tile_kernel(
                      [&](TensorView<float, 1> Y) {
                          line = __LINE__ + 1;
                          Y(coord(0), shape(8)).store(exp(Y[coord(0), shape(8)]));
                      },
                      options)
                      .capture(tensor_shape(8));
    auto expected = at(line,
                       "UnsupportedError @: exp at MathTier::EXACT: no correctly rounded form "
                       "exists yet; MathTier::STRICT keeps within the bound of "
                       "docs/numerics.md");
    std::string cpu = "no error", oracle = "no error";
    try {
        (void)compiler::compile_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, {}});
    } catch (const Error &e) {
        cpu = text_of(e);
    }
    try {
        KernelArgument argument;
        std::vector<float> y(8);
        argument.data = reinterpret_cast<uint8_t *>(y.data());
        argument.extents = {8};
        argument.strides = {1};
        interpreter::run(*module_of(kernel), std::vector<KernelArgument>{argument});
    } catch (const Error &e) {
        oracle = text_of(e);
    }
    EXPECT_EQ(cpu, expected);
    EXPECT_EQ(oracle, expected);
}

TEST(PipelineErrors, PoliciesAndCuts) {
    auto with = [](PipelinePolicy policy) {
        return error_of([=](const auto &, const auto &) {
            for ([[maybe_unused]] auto &step : pipeline(shape(4), policy)) {}
        });
    };
    int line = __LINE__ - 3;
    EXPECT_EQ(with({.max_in_flight = -1}),
              at(line, "ValueError @: pipeline: max_in_flight is -1; expected 0 (the planner's "
                       "choice) or more"));
    EXPECT_EQ(with({.initiation_interval = -2}),
              at(line, "ValueError @: pipeline: initiation_interval is -2; expected 0 (the "
                       "planner's choice) or more"));
    int opened = 0;
    auto text = error_of([&](const auto &, const auto &X) {
        opened = __LINE__ + 1;
        for (auto &step : pipeline(shape(4))) {
            if_(X(0).load() > 0.0f, [&] { step.stage("inner"); });
        }
    });
    EXPECT_EQ(text, at(opened + 1, "ScopeError @: a stage cut stands at the body level of its "
                                   "pipeline, not inside a nested region | pipeline opened here "
                                   "at " +
                                       std::to_string(opened)));
    int before = 0;
    text = error_of([&](const auto &A, const auto &X) {
        for (auto &step : pipeline(shape(4))) {
            before = __LINE__ + 1;
            auto x = X[coord(0), shape(6)];
            step.stage("late");
            A(coord(step.index(), 0), shape(1, 6)).store(reshape(x, shape(1, 6)));
        }
    });
    EXPECT_EQ(text,
              at(before + 1, "ScopeError @: a tile operation stands before the first stage cut; "
                             "with cuts, every tile operation follows one | operation here at " +
                                 std::to_string(before)));
}

}// namespace luisa::tile::test
