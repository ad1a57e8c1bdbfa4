// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Branches, loops and the states that they carry.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

View counting(int64_t n) {
    std::vector<float> values(static_cast<size_t>(n));
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i + 1);
    }
    return dense<float>({n}, values);
}

}// namespace

TEST(If, chooses_one_of_three_for_every_condition) {
    auto def = tile_kernel([](TensorView<float, 1> Y, Scalar<int64_t> n) {
        Scalar<float> x = 0.0f;
        if_(
            n < 0, [&] { x = -1.0f; },
            [&] {
                if_(
                    n == 0, [&] { x = 10.0f; }, [&] { x = 20.0f; });
            });
        Y(0).store(x);
    });
    auto kernel = def.capture(tensor_shape(1));
    for (auto [n, expected] : {std::pair<int64_t, double>{-5, -1}, {0, 10}, {7, 20}}) {
        EXPECT_EQ(at(run_both(kernel, {output_view({1})}, {bits_of(n)})[0], 0), expected);
    }
}
TEST(If, without_an_else_keeps_what_was) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Y, Scalar<bool> on) {
            auto i = axis("i", 19);
            auto x = X[coord(0), shape(i)];
            if_(on, [&] { x = x * 2.0f; });
            Y(coord(0), shape(i)).store(x);
        });
    auto kernel = def.capture(tensor_shape(19), tensor_shape(19));
    for (int64_t on : {0, 1}) {
        auto out = run_both(kernel, {counting(19), output_view({19})}, {bits_of(on)});
        EXPECT_EQ(at(out[1], 18), on ? 38 : 19);
    }
}
TEST(If, merges_tiles_and_scalars_assigned_on_either_side) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Y, Scalar<int64_t> n) {
            auto i = axis("i", 17);
            auto a = X[coord(0), shape(i)];
            auto b = a + 100.0f;
            Scalar<float> s = 1.0f, t = 2.0f;
            if_(
                n > 3,
                [&] {
                    std::swap(a, b);
                    s = s + 10.0f;
                },
                [&] { t = s + t; });
            Y(coord(0), shape(i)).store(a * 2.0f + b + s * 1000.0f + t * 10000.0f);
        });
    auto kernel = def.capture(tensor_shape(17), tensor_shape(17));
    auto out = run_both(kernel, {counting(17), output_view({17})}, {bits_of(int64_t{4})});
    EXPECT_EQ(at(out[1], 16), 2 * 117 + 17 + 11000 + 20000);
    out = run_both(kernel, {counting(17), output_view({17})}, {bits_of(int64_t{3})});
    EXPECT_EQ(at(out[1], 16), 2 * 17 + 117 + 1000 + 30000);
}
TEST(If, stores_only_in_the_branch_taken) {
    auto def = tile_kernel([](TensorView<float, 1> Y) {
        auto i = axis("i", 4);
        for (auto &nest : parallel(shape(5))) {
            if_(
                nest.index() % 2 == 0,
                [&] { Y(coord(nest.index() * 4), shape(i)).store(full<float>(shape(i), 1.0f)); },
                [&] { Y(nest.index() * 4 + 1).store(2.0f); });
        }
    });
    auto out = run_both(def.capture(tensor_shape(20)), {output_view({20})});
    for (size_t e = 0; e < 20; ++e) {
        EXPECT_EQ(at(out[0], e), e / 4 % 2 == 0 ? 1 : e % 4 == 1 ? 2 : -77) << e;
    }
}
TEST(If, guards_a_load_under_assumed_bounds) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 4);
        for (auto &nest : parallel(shape(6))) {
            auto x = zeros<float>(shape(i));
            if_(nest.index() * 4 + 4 <= X.extent(0),
                [&] { x = X[coord(nest.index() * 4), shape(i), bounds::assume]; });
            Y(coord(nest.index() * 4), shape(i)).store(x);
        }
    });
    auto out = run_both(def.capture(tensor_shape(10), tensor_shape(24)),
                        {counting(10), output_view({24})});
    EXPECT_EQ(at(out[1], 7), 8);
    EXPECT_EQ(at(out[1], 8), 0);
}
TEST(If, depends_on_data_inside_serial_inside_parallel) {
    // Collatz steps of each number, at most 200 of them.
    auto def = tile_kernel([](TensorView<const int64_t, 1> X, TensorView<int64_t, 1> Y) {
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto x = X(nest.index()).load();
            Scalar<int64_t> steps = 0;
            for ([[maybe_unused]] auto &s : nest.serial(range(0, 200))) {
                if_(x > 1, [&] {
                    if_(
                        x % 2 == 0, [&] { x = x / 2; }, [&] { x = x * 3 + 1; });
                    steps += 1;
                });
            }
            Y(nest.index()).store(steps);
        }
    });
    std::vector<int64_t> numbers{1, 2, 3, 7, 9, 27, 97, 0};
    auto out = run_both(def.capture(tensor_shape(8), tensor_shape(8)),
                        {dense<int64_t>({8}, numbers), dense<int64_t>({8}, {-1})});
    const int64_t expected[] = {0, 1, 7, 16, 19, 111, 118, 0};
    for (size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(at(out[1], i), static_cast<double>(expected[i]));
    }
}
TEST(While, carries_scalars_until_a_data_dependent_end) {
    // Euclid's algorithm.
    auto def = tile_kernel([](TensorView<const int64_t, 1> A, TensorView<const int64_t, 1> B,
                              TensorView<int64_t, 1> Y) {
        for (auto &nest : parallel(shape(Y.extent(0)))) {
            auto a = A(nest.index()).load(), b = B(nest.index()).load();
            while_([&] { return b != 0; },
                   [&] {
                       auto r = a % b;
                       a = b;
                       b = r;
                   });
            Y(nest.index()).store(a);
        }
    });
    auto out = run_both(def.capture(tensor_shape(5), tensor_shape(5), tensor_shape(5)),
                        {dense<int64_t>({5}, {48, 17, 0, 1071, 5}),
                         dense<int64_t>({5}, {36, 5, 9, 462, 0}), dense<int64_t>({5}, {-1})});
    const int64_t expected[] = {12, 1, 9, 21, 5};
    for (size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(at(out[2], i), static_cast<double>(expected[i]));
    }
}
TEST(While, carries_a_tile_and_runs_zero_times_where_the_condition_fails) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Y, Scalar<float> limit) {
            auto i = axis("i", 33);
            auto x = X[coord(0), shape(i)];
            Scalar<float> largest = reduce(x, i, maximum);
            while_([&] { return largest < limit; },
                   [&] {
                       x = x * 2.0f + 1.0f;
                       largest = reduce(x, i, maximum);
                   });
            Y(coord(0), shape(i)).store(x);
        });
    auto kernel = def.capture(tensor_shape(33), tensor_shape(33));
    auto out = run_both(kernel, {counting(33), output_view({33})}, {bits_of(100.0f)});
    EXPECT_EQ(at(out[1], 0), 7);// 33, 67, 135: two doublings
    EXPECT_EQ(at(out[1], 32), 135);
    out = run_both(kernel, {counting(33), output_view({33})}, {bits_of(33.0f)});
    EXPECT_EQ(at(out[1], 32), 33);
}
TEST(While, contains_a_serial_loop_and_a_branch) {
    auto def = tile_kernel([](TensorView<int64_t, 1> Y, Scalar<int64_t> n) {
        Scalar<int64_t> i = 0, even = 0, odd = 0;
        while_([&] { return i < n; },
               [&] {
                   Scalar<int64_t> sum = 0;
                   for (auto &s : serial(range(0, i + 1))) {
                       sum += s.index();
                   }
                   if_(
                       i % 2 == 0, [&] { even += sum; }, [&] { odd += sum; });
                   i += 1;
               });
        Y(0).store(even);
        Y(1).store(odd);
    });
    auto kernel = def.capture(tensor_shape(2));
    auto out = run_both(kernel, {dense<int64_t>({2}, {-1})}, {bits_of(int64_t{6})});
    EXPECT_EQ(at(out[0], 0), 0 + 3 + 10);
    EXPECT_EQ(at(out[0], 1), 1 + 6 + 15);
    out = run_both(kernel, {dense<int64_t>({2}, {-1})}, {bits_of(int64_t{0})});
    EXPECT_EQ(at(out[0], 1), 0);
}

TEST(States, update_simultaneously) {
    for (int64_t trips : {0, 1, 2, 5, 30}) {
        auto def = tile_kernel([](TensorView<int64_t, 1> Y, Scalar<int64_t> n) {
            Scalar<int64_t> a = 0, b = 1, x = 1, y = 2, z = 3;
            for ([[maybe_unused]] auto &s : serial(range(0, n))) {
                std::tie(a, b) = std::pair(b, a + b);
                auto t = x;
                x = y;
                y = z;
                z = t;
            }
            Y(0).store(a);
            Y(1).store(x * 100 + y * 10 + z);
        });
        auto out = run_both(def.capture(tensor_shape(2)), {dense<int64_t>({2}, {-1})},
                            {bits_of(trips)});
        int64_t a = 0, b = 1;
        for (int64_t i = 0; i < trips; ++i) {
            a = std::exchange(b, a + b);
        }
        EXPECT_EQ(at(out[0], 0), static_cast<double>(a));
        EXPECT_EQ(at(out[0], 1), trips % 3 == 0 ? 123 : trips % 3 == 1 ? 231 : 312);
    }
}
TEST(States, of_tiles_rotate_simultaneously) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 2> Y, Scalar<int64_t> n) {
            auto i = axis("i", 21);
            auto a = X[coord(0), shape(i)];
            auto b = a + 100.0f, c = a + 200.0f;
            for ([[maybe_unused]] auto &s : serial(range(0, n))) {
                auto t = a;
                a = b + 1.0f;
                b = c;
                c = t;
            }
            Y(coord(0, 0), shape(1, i)).store(a);
            Y(coord(1, 0), shape(1, i)).store(b);
            Y(coord(2, 0), shape(1, i)).store(c);
        });
    auto kernel = def.capture(tensor_shape(21), tensor_shape(3, 21));
    for (int64_t n : {0, 1, 4}) {
        auto out = run_both(kernel, {counting(21), output_view({3, 21})}, {bits_of(n)});
        double a = 21, b = 121, c = 221;
        for (int64_t i = 0; i < n; ++i) {
            auto t = a;
            a = b + 1, b = c, c = t;
        }
        EXPECT_EQ(at(out[1], 20), a);
        EXPECT_EQ(at(out[1], 41), b);
        EXPECT_EQ(at(out[1], 62), c);
    }
}
TEST(States, carried_but_never_used_change_nothing) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 9);
        auto x = X[coord(0), shape(i)], dead = x;
        for ([[maybe_unused]] auto &s : serial(range(0, 4))) {
            dead = dead * 3.0f;
            x = x + 1.0f;
        }
        Y(coord(0), shape(i)).store(x);
    });
    auto out = run_both(def.capture(tensor_shape(9), tensor_shape(9)),
                        {counting(9), output_view({9})});
    EXPECT_EQ(at(out[1], 8), 13);
}
TEST(States, copies_are_snapshots_and_references_follow) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 2> Y) {
        auto i = axis("i", 7);
        auto x = X[coord(0), shape(i)];
        auto copy = x;
        auto &alias = x;
        x = x + 10.0f;
        auto middle = x;
        for ([[maybe_unused]] auto &s : serial(range(0, 3))) {
            auto before = alias;
            alias = alias * 2.0f;
            middle = before;
        }
        Y(coord(0, 0), shape(1, i)).store(copy);
        Y(coord(1, 0), shape(1, i)).store(x);
        Y(coord(2, 0), shape(1, i)).store(middle);
    });
    auto out = run_both(def.capture(tensor_shape(7), tensor_shape(3, 7)),
                        {counting(7), output_view({3, 7})});
    EXPECT_EQ(at(out[1], 6), 7);
    EXPECT_EQ(at(out[1], 13), 17 * 8);
    EXPECT_EQ(at(out[1], 20), 17 * 4);
}
TEST(States, in_arrays_structs_and_vectors_are_carried) {
    struct Pair {
        Tile<float> sum;
        Scalar<int64_t> count;
    };
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 5);
        std::array<Tile<float>, 2> two{X[coord(0), shape(i)], X[coord(5), shape(i)]};
        std::vector<Scalar<float>> list;
        list.emplace_back(1.0f);
        list.emplace_back(2.0f);
        Pair pair{zeros<float>(shape(i)), 0};
        for (auto &s : serial(range(0, 4))) {
            std::swap(two[0], two[1]);
            two[0] += 1.0f;
            list[1] = list[1] + list[0];
            list[0] = list[0] * 2.0f;
            pair.sum = pair.sum + two[0];
            pair.count += s.index();
        }
        Y(coord(0), shape(i)).store(two[0] * 100.0f + two[1]);
        Y(coord(5), shape(i)).store(pair.sum + cast<float>(pair.count) * 1000.0f + list[1]);
    });
    auto out = run_both(def.capture(tensor_shape(10), tensor_shape(10)),
                        {counting(10), output_view({10})});
    // Lane 0: (1, 6) -> (7, 1) -> (2, 7) -> (8, 2) -> (3, 8).
    EXPECT_EQ(at(out[1], 0), 308);
    EXPECT_EQ(at(out[1], 5), 7 + 2 + 8 + 3 + 6000 + 17);
}
