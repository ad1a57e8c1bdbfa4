// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <array>
#include <utility>

// How the language looks in C++: the forms that capture takes, on both back ends where they compute something.

namespace luisa::tile::test {
namespace {

using Line = TensorView<const float, 1>;
using Lines = TensorView<float, 2>;

Tile<float> doubled_by_value(Tile<float> x) {
    x = x * 2.0f;
    return x;
}
void double_in_place(Tile<float> &x) { x = x * 2.0f; }
Tile<float> doubled(const Tile<float> &x) { return x * 2.0f; }

void kernel_as_a_function(const Line &X, Lines Y) {
    Y(coord(0, 0), shape(1, 5)).store(reshape(X[coord(0), shape(5)], shape(1, 5)));
}
struct KernelAsAFunctor {
    float factor;
    void operator()(Line X, const Lines &Y) const {
        Y(coord(0, 0), shape(1, 5)).store(reshape(X[coord(0), shape(5)] * factor, shape(1, 5)));
    }
};

/// Runs a kernel of five elements to rows of five.
template<class Definition> View run_rows(const Definition &definition, int64_t rows) {
    return run_both(definition.capture(tensor_shape(5), tensor_shape(rows, 5)),
                    {counting({5}), output_view({rows, 5})})[1];
}
void expect_row(const View &y, int64_t row, const std::array<float, 5> &expected) {
    for (int64_t e = 0; e < 5; ++e) {
        EXPECT_EQ(at(y, row * 5 + e), expected[static_cast<size_t>(e)]) << row << ", " << e;
    }
}

}// namespace

TEST(CaptureSurface, nests_are_range_for_loops_over_references_of_any_kind) {
    auto def = tile_kernel([](Line X, Lines Y) {
        for (const auto &nest : parallel(shape(5))) {
            // Both declarators of one declaration have one type.
            auto i = nest.index() * 1, j = nest.index(0) + 0;
            Y(0, i).store(X(j).load());
        }
        Scalar<float> sum = 0.0f;
        for (auto &&step : serial(range(0, 5))) {
            sum += X[coord(step.index())];
            for ([[maybe_unused]] auto &inner : step.serial(shape(2))) {
                sum += 1.0f;
            }
        }
        Y(1, 0).store(sum);
    });
    auto y = run_rows(def, 2);
    expect_row(y, 0, {1, 2, 3, 4, 5});
    EXPECT_EQ(at(y, 5), 25);
}

TEST(CaptureSurface, helpers_take_tiles_by_value_and_by_reference) {
    auto def = tile_kernel([](Line X, Lines Y) {
        auto i = axis("i", 5);
        auto x = X[coord(0), shape(i)];
        auto put = [&](int64_t row, const Tile<float> &t) {
            Y(coord(row, 0), shape(1, i)).store(t);
        };
        put(0, doubled_by_value(x));
        put(1, x);
        put(2, doubled(x));
        double_in_place(x);
        put(3, x);
    });
    auto y = run_rows(def, 4);
    expect_row(y, 0, {2, 4, 6, 8, 10});
    expect_row(y, 1, {1, 2, 3, 4, 5});
    expect_row(y, 2, {2, 4, 6, 8, 10});
    expect_row(y, 3, {2, 4, 6, 8, 10});
}

TEST(CaptureSurface, functions_functors_and_lambdas_define_kernels) {
    expect_row(run_rows(tile_kernel(kernel_as_a_function), 1), 0, {1, 2, 3, 4, 5});
    KernelAsAFunctor functor{3.0f};
    auto def = tile_kernel(functor);
    functor.factor = 100.0f;// the definition has its copy
    expect_row(run_rows(def, 1), 0, {3, 6, 9, 12, 15});
}

TEST(CaptureSurface, host_loops_run_over_static_extents_and_stop_at_those_of_the_launch) {
    auto def = tile_kernel([](Line X, Lines Y) {
        auto i = axis("i", 5);
        auto sum = X[coord(0), shape(i)];
        for (int64_t d = 1; d < X.extent(0); d *= 2) {
            sum = sum + shift(sum, i, d);
        }
        Y(coord(0, 0), shape(1, i)).store(sum);
        EXPECT_EQ(X.extent(0) / 2, 2);
        EXPECT_EQ(2 * X.extent(0) - 1, 9);
        EXPECT_EQ(ceil_div(X.extent(0), 2), 3);
    });
    expect_row(run_rows(def, 1), 0, {1, 3, 6, 10, 15});
    EXPECT_THROW((void)def.capture(tensor_shape(dynamic("n")), tensor_shape(1, 5)),
                 ConstraintError);
}

TEST(CaptureSurface, references_follow_and_copies_do_not) {
    auto def = tile_kernel([](Line X, Lines Y) {
        auto i = axis("i", 5);
        auto x = X[coord(0), shape(i)];
        auto snapshot = x;
        const auto &later = x;
        auto &alias = x;
        alias = x + 10.0f;
        Y(coord(0, 0), shape(1, i)).store(snapshot);
        Y(coord(1, 0), shape(1, i)).store(later);
        std::swap(x, snapshot);
        Y(coord(2, 0), shape(1, i)).store(later);
        std::tie(x, snapshot) = std::pair(snapshot, x + snapshot);
        Y(coord(3, 0), shape(1, i)).store(later);
        Y(coord(4, 0), shape(1, i)).store(snapshot);
    });
    auto y = run_rows(def, 5);
    expect_row(y, 0, {1, 2, 3, 4, 5});
    expect_row(y, 1, {11, 12, 13, 14, 15});
    expect_row(y, 2, {1, 2, 3, 4, 5});
    expect_row(y, 3, {11, 12, 13, 14, 15});
    expect_row(y, 4, {12, 14, 16, 18, 20});
}

// Positional dimensions of extent one go where a variable, a store or a scalar has none.
TEST(CaptureSurface, single_rows_and_columns_need_no_reshape) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto m = axis("m", 3);
        auto sum = zeros<float>(shape(m));
        for (auto &step : serial(range(0, X.extent(0)))) {
            sum += X[coord(step.index(), 0), shape(1, m)];
        }
        Y(coord(0, 0), shape(1, m)).store(sum);
        Scalar<float> corner = X[coord(1, 2), shape(1, 1)];
        Y(1, 0).store(corner);
        Y(1, 1).store(X[coord(0, 1), shape(1, 1)]);
    });
    auto out = run_both(def.capture(tensor_shape(2, 3), tensor_shape(2, 3)),
                        {counting({2, 3}), output_view({2, 3})});
    const float expected[] = {5, 7, 9, 6, 2, -77};
    for (int64_t e = 0; e < 6; ++e) {
        EXPECT_EQ(at(out[1], e), expected[e]) << e;
    }
}

TEST(CaptureSurface, logic_of_tiles_evaluates_both_sides_and_mixes_with_the_host) {
    auto def = tile_kernel([](Line X, Lines Y) {
        auto i = axis("i", 5);
        auto x = X[coord(0), shape(i)];
        bool host = true;
        auto put = [&](int64_t row, const Tile<bool> &b) {
            Y(coord(row, 0), shape(1, i)).store(cast<float>(b));
        };
        put(0, x > 1.0f && x < 4.0f);
        put(1, x <= 1.0f || x >= 5.0f);
        put(2, host && x == 3.0f);
        put(3, !(x != 3.0f) || !host);
    });
    auto y = run_rows(def, 4);
    expect_row(y, 0, {0, 1, 1, 0, 0});
    expect_row(y, 1, {1, 0, 0, 0, 1});
    expect_row(y, 2, {0, 0, 1, 0, 0});
    expect_row(y, 3, {0, 0, 1, 0, 0});
}

// Each operator has its own line, also inside of an expression over several.
TEST(CaptureSurface, operators_know_their_lines) {
    int first = 0;
    std::string text;
    try {
        (void)tile_kernel([&](Line X, Lines) {
            auto x = X[coord(0), shape(5)];
            auto y = X[coord(0), shape(4)];
            first = __LINE__ + 1;
            auto z = x + x * x -// the operands of this operator fit
                     y;         // and those of this one do not
            (void)z;
        }).capture(tensor_shape(5), tensor_shape(1, 5));
    } catch (const Error &error) {
        text = error.what();
    }
    EXPECT_NE(text.find("capture_surface.cpp:" + std::to_string(first + 1) + ": ShapeError: sub"),
              std::string::npos)
        << text;
}

TEST(CaptureSurface, captures_nest_and_dimensions_are_made_anywhere) {
    auto i = axis("i", 5);// outside of any capture
    Kernel inner{};
    auto def = tile_kernel([&](Line X, Lines Y) {
        auto x = X[coord(0), shape(i)];
        inner = tile_kernel([&](Line A, Lines B) {
                    B(coord(0, 0), shape(1, i)).store(A[coord(0), shape(i)] - 1.0f);
                }).capture(tensor_shape(5), tensor_shape(1, 5));
        Y(coord(0, 0), shape(1, i)).store(x + 1.0f);
    });
    auto outer = def.capture(tensor_shape(5), tensor_shape(1, 5));
    auto run = [](const Kernel &kernel) {
        return run_both(kernel, {counting({5}), output_view({1, 5})})[1];
    };
    expect_row(run(outer), 0, {2, 3, 4, 5, 6});
    expect_row(run(inner), 0, {0, 1, 2, 3, 4});
}

}// namespace luisa::tile::test
