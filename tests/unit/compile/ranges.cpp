// SPDX-License-Identifier: Apache-2.0
#include "support/both.h"

#include <limits>

// Loops whose bounds or step only the launch knows, and what stands in conditions of loops.

namespace luisa::tile::test {

namespace {

constexpr int64_t low = std::numeric_limits<int64_t>::min();
constexpr int64_t high = std::numeric_limits<int64_t>::max();

struct Bounds3 {
    int64_t begin, end, step;
};
const Bounds3 cases[] = {{0, 10, 3},         {0, 12, 3},           {5, 5, 1},
                         {7, 3, 2},          {10, 0, -3},          {10, 1, -3},
                         {3, 7, -2},         {-9, 9, 100},         {0, 1, 1},
                         {2, -1, -1},        {high - 5, high, 4},  {high - 3, high, 3},
                         {low + 5, low, -4}, {low, high, high / 2}};

}// namespace

TEST(RuntimeRange, takes_steps_of_either_sign_in_every_nest) {
    auto def = tile_kernel([](TensorView<const int64_t, 1> B, TensorView<int64_t, 1> Y) {
        Scalar<int64_t> sum = int64_t{0}, last = int64_t{-1}, count = int64_t{0},
                        folded = int64_t{1}, tree = int64_t{0};
        auto r = range(B[coord(0)], B[coord(1)], B[coord(2)]);
        for (auto &step : serial(r)) {
            sum = sum * int64_t{3} + step.index();
            last = step.index();
            count = count + int64_t{1};
        }
        for (auto &step : reduce(r, reduction::fold_right)) {
            folded = folded * int64_t{3} + step.index();
        }
        for (auto &step : reduce(r, reduction::balanced_tree)) {
            tree = tree + step.index();
        }
        auto i = axis("i", 8);
        auto parts = full<int64_t>(shape(i), 0);
        for (auto &nest : parallel(r)) {
            parts = insert(parts, coord(nest.index() % 8), nest.index() * int64_t{5});
        }
        Y(coord(0), shape(i)).store(parts);
        Y(8).store(sum);
        Y(9).store(last);
        Y(10).store(count);
        Y(11).store(folded);
        Y(12).store(tree);
    });
    auto kernel = def.capture(tensor_shape(3), tensor_shape(13));
    for (const auto &c : cases) {
        run_both(kernel,
                 {dense<int64_t>({3}, {c.begin, c.end, c.step}), output_view<int64_t>({13})});
    }
}

TEST(RuntimeRange, binds_the_tasks_of_a_root_nest) {
    auto def = tile_kernel([](Scalar<int64_t> begin, Scalar<int64_t> end, Scalar<int64_t> step,
                              TensorView<int64_t, 1> Y) {
        for (auto &nest : parallel(range(begin, end, step))) {
            Y(nest.index()).store(nest.index() * int64_t{7});
        }
    });
    auto kernel = def.capture(tensor_shape(40));
    for (auto [b, e, s] : {Bounds3{1, 39, 5}, {38, 0, -4}, {4, 4, 1}, {0, 40, 1}}) {
        run_both(kernel, {output_view<int64_t>({40})}, {bits_of(b), bits_of(e), bits_of(s)});
    }
}

TEST(ConstantRange, ends_at_the_largest_index) {
    auto def = tile_kernel([](TensorView<int64_t, 1> Y) {
        Scalar<int64_t> sum = int64_t{0};
        for (auto &step : serial(range(high - 10, high, 4))) {
            sum = sum * int64_t{3} + step.index();
        }
        for (auto &step : serial(range(low + 10, low, -4))) {
            sum = sum * int64_t{3} + step.index();
        }
        Y(0).store(sum);
    });
    run_both(def.capture(tensor_shape(1)), {output_view<int64_t>({1})});
}

TEST(LoopCondition, may_reduce_tiles_that_the_loop_carries) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto k = axis("k", 21);
        auto x = X[coord(0), shape(k)];
        auto t = x;
        Scalar<int64_t> rounds = int64_t{0};
        while_([&] { return (reduce(t * x, k, add) < 50.0f) & (rounds < int64_t{200}); },
               [&] {
                   t = t + x * 0.125f;
                   rounds = rounds + int64_t{1};
               });
        Y(coord(0), shape(k)).store(t);
        Y(21).store(cast<float>(rounds));
    });
    auto views = run_both(def.capture(tensor_shape(21), tensor_shape(22)),
                          {integer_view({21}, 3, 1), output_view({22})});
    float rounds = 0;
    std::memcpy(&rounds, views[1].bytes.data() + 21 * sizeof(float), sizeof(float));
    EXPECT_GT(rounds, 1.0f);
    EXPECT_LT(rounds, 200.0f);
}

TEST(SignallingNan, becomes_quiet_in_minimum_and_maximum) {
    auto def = tile_kernel([](TensorView<const uint32_t, 1> X, TensorView<uint32_t, 2> Y) {
        auto i = axis("i", 20);
        auto x = bitcast<float>(X[coord(0), shape(i)]);
        auto two = axis("two", 1);
        auto put = [&](int64_t row, const Tile<float> &y) {
            Y(coord(row, 0), shape(two, i)).store(broadcast(bitcast<uint32_t>(y), shape(two, i)));
        };
        put(0, minimum(x, full<float>(shape(i), 1.0f)));
        put(1, maximum(full<float>(shape(i), 1.0f), x));
        put(2, fmin(x, full<float>(shape(i), 1.0f)));
    });
    std::vector<uint32_t> values{0x7f800001, 0xff800001, 0x7fc00000, 0x3f000000,
                                 0x80000000, 0x7fa00000, 0x40000000};
    std::vector<View> views{dense<uint32_t>({20}, values), output_view<uint32_t>({3, 20})};
    auto kernel = def.capture(tensor_shape(20), tensor_shape(3, 20));
    const auto &module = *module_of(kernel);
    for (bool cpu : {false, true}) {
        auto result = views;
        if (cpu) {
            run_cpu(*compiler::compile_cpu(module, {emit::host_cpu(), 1, false}),
                    arguments_of(module, result, {}));
        } else {
            interpreter::run(module, arguments_of(module, result, {}));
        }
        for (size_t at = 0; at < 60; ++at) {
            uint32_t bits = 0;
            std::memcpy(&bits, result[1].bytes.data() + at * sizeof(bits), sizeof(bits));
            bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
            EXPECT_TRUE(!is_nan || (bits & 0x00400000)) << at << " cpu " << cpu;
        }
    }
}

}// namespace luisa::tile::test
