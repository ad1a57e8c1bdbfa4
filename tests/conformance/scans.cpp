// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "plan/plan.h"
#include "support/trees.h"
#include "support/views.h"

#include <algorithm>
#include <limits>

// Scans on both back ends: every reducer and type, direction, policy, length and axis; masks, seeds, what
// reads the result. Values are chosen so that trees that may regroup have one answer.

using namespace luisa;
using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

struct Row {
    ReducerFunction op;
    bool factors;///< ±1 and few other powers of two: products stay exact
};

constexpr Row numbers[] = {{add, false},     {multiply, true},    {minimum, false},
                           {maximum, false}, {tile::fmin, false}, {tile::fmax, false}};
constexpr Row bits[] = {{bit_and, false}, {bit_or, false}, {bit_xor, false}};
constexpr Row logic[] = {{logical_and, false}, {logical_or, false}};

template<class T> View values_of(std::vector<int64_t> extents, uint32_t seed, bool factors) {
    using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    constexpr auto type = scalar_type_of<T>;
    bool negative = is_float(type) || is_signed(type);
    std::mt19937 engine{seed};
    std::vector<Stored> values(1021);
    for (auto &x : values) {
        auto r = static_cast<int>(engine() % 64);
        int small = type == ScalarType::BOOL ? r % 2 : r % 3 - (negative ? 1 : 0);
        int factor = r == 0 && negative ? -1 : 1;
        x = static_cast<Stored>(static_cast<float>(factors ? factor : small));
    }
    auto v = dense<Stored>(std::move(extents), values);
    v.type = type;
    return v;
}

struct Case {
    std::array<int64_t, 3> extents;
    int axis;
    ReductionPolicy policy;
    bool masked = false, seeded = false;
};

/// All four directions into one output.
template<class T> Kernel kernel_of(const Case &c, ReducerFunction op) {
    auto [a, b, d] = c.extents;
    auto def = tile_kernel(
        [=](TensorView<const T, 3> X, TensorView<const bool, 3> M, TensorView<T, 3> Y) {
            std::array axes{axis("i", a), axis("j", b), axis("k", d)};
            auto box = shape(axes[0], axes[1], axes[2]);
            auto x = X[coord(0, 0, 0), box];
            int place = 0;
            for (bool exclusive : {false, true}) {
                for (bool reverse : {false, true}) {
                    ScanOptions<T> options{.exclusive = exclusive, .reverse = reverse};
                    options.policy = c.policy;
                    if (c.masked) {
                        options.mask = M[coord(0, 0, 0), box];
                    }
                    if (c.seeded) {
                        options.seed = X[coord(0, 0, 0)];
                    }
                    Y(coord(a * place++, 0, 0), box)
                        .store(scan(x, axes[static_cast<size_t>(c.axis)], op, options));
                }
            }
        });
    return def.capture(tensor_shape(a, b, d), tensor_shape(a, b, d), tensor_shape(4 * a, b, d));
}

template<class T> void check(const Case &c, const Row &row) {
    SCOPED_TRACE(::testing::Message()
                 << row.op.op << " on " << to_string(scalar_type_of<T>) << ", " << c.extents[0]
                 << "x" << c.extents[1] << "x" << c.extents[2] << " along " << c.axis << ", policy "
                 << static_cast<int>(c.policy) << (c.masked ? ", masked" : "")
                 << (c.seeded ? ", seeded" : ""));
    std::vector<int64_t> extents(c.extents.begin(), c.extents.end()), out = extents;
    out[0] *= 4;
    auto x = values_of<T>(extents, 3, row.factors);
    auto y = x;
    y.extents = out;
    y.strides = dense_strides(out);
    y.bytes.assign(static_cast<size_t>(y.count()) * sizeof(T) + 64, 1);
    run_both(kernel_of<T>(c, row.op), {x, flags(extents, 5, 60), y});
}

constexpr ReductionPolicy policies[] = {reduction::ordered_tree, reduction::fold_left,
                                        reduction::balanced_tree};

template<class T, size_t N> void check_types(const Row (&rows)[N]) {
    for (const auto &row : rows) {
        for (auto policy : policies) {
            check<T>({{2, 37, 3}, 1, policy}, row);
            check<T>({{2, 3, 37}, 2, policy, true, false}, row);
            check<T>({{3, 1, 21}, 0, policy, false, true}, row);
            check<T>({{1, 2, 64}, 2, policy, true, true}, row);
        }
    }
}

}// namespace

TEST(Scan, combines_floats) {
    check_types<float>(numbers);
    check_types<double>(numbers);
    check_types<half>(numbers);
    check_types<bfloat16>(numbers);
}

TEST(Scan, combines_integers) {
    check_types<int32_t>(numbers);
    check_types<int64_t>(numbers);
    check_types<int8_t>(numbers);
    check_types<uint16_t>(numbers);
    check_types<uint64_t>(numbers);
}

TEST(Scan, combines_bits_and_truth) {
    check_types<int32_t>(bits);
    check_types<uint8_t>(bits);
    check_types<int64_t>(bits);
    check_types<bool>(logic);
}

TEST(Scan, goes_along_every_axis_and_length) {
    for (int64_t n : {0, 1, 7, 16, 17, 64, 257, 1000}) {
        for (auto policy : policies) {
            for (bool masked : {false, true}) {
                check<float>({{1, 1, n}, 2, policy, masked}, numbers[0]);
                check<float>({{3, 2, n}, 2, policy, masked, true}, numbers[0]);
                check<float>({{n, 2, 5}, 0, policy, masked}, numbers[0]);
                check<float>({{2, n, 19}, 1, policy, masked}, numbers[0]);
            }
            check<int32_t>({{2, 1, n}, 2, policy}, numbers[0]);
            check<half>({{2, 1, n}, 2, policy}, numbers[0]);
        }
    }
}

namespace {

/// One line of `n` under a policy; the interpreter's answer.
template<class T>
std::vector<T> line_of(const std::vector<T> &values, ScanOptions<T> options, ReducerFunction op,
                       int64_t rows = 1) {
    auto n = static_cast<int64_t>(values.size());
    auto policy = options.policy;
    bool exclusive = options.exclusive, reverse = options.reverse;
    auto def = tile_kernel([=](TensorView<const T, 2> X, TensorView<T, 2> Y) {
        auto i = axis("i", rows), j = axis("j", n);
        auto x = X[coord(0, 0), shape(i, j)];
        ScanOptions<T> given{.exclusive = exclusive, .reverse = reverse, .policy = policy};
        Y(coord(0, 0), shape(i, j)).store(scan(x, j, op, given));
    });
    auto views = run_both(def.capture(tensor_shape(rows, n), tensor_shape(rows, n)),
                          {dense<T>({rows, n}, values), output_view<T>({rows, n})});
    std::vector<T> result(values.size());
    std::memcpy(result.data(), views[1].bytes.data(), values.size() * sizeof(T));
    return result;
}

std::vector<float> random_line(size_t n) {
    std::mt19937 engine{11};
    std::uniform_real_distribution<float> d{-1, 1};
    std::vector<float> values(n);
    for (auto &x : values) {
        x = d(engine);
    }
    return values;
}

}// namespace

TEST(Scan, folds_in_order_and_trees_split_at_powers_of_two) {
    for (size_t n : {1u, 5u, 16u, 33u, 100u}) {
        for (int64_t rows : {1, 20}) {
            auto x = random_line(n);
            auto folded = line_of<float>(x, {.policy = reduction::fold_left}, add, rows);
            auto tree = line_of<float>(x, {.policy = reduction::balanced_tree}, add, rows);
            float sum = x[0];
            for (size_t i = 0; i < n; ++i) {
                sum = i == 0 ? x[0] : sum + x[i];
                EXPECT_EQ(folded[i], sum) << i;
                EXPECT_EQ(tree[i], balanced_sum(x.data(), static_cast<int64_t>(i) + 1)) << i;
            }
        }
    }
}

TEST(Scan, reversed_is_the_scan_of_the_flipped_line) {
    auto x = random_line(64), flipped = x;
    std::reverse(flipped.begin(), flipped.end());
    for (auto policy : {reduction::fold_left, reduction::balanced_tree}) {
        auto forward = line_of<float>(flipped, {.policy = policy}, add);
        std::reverse(forward.begin(), forward.end());
        EXPECT_EQ(line_of<float>(x, {.reverse = true, .policy = policy}, add), forward);
    }
}

TEST(Scan, random_balanced_trees_have_one_answer) {
    for (int64_t n : {21, 48, 130}) {
        for (bool masked : {false, true}) {
            for (int axis : {0, 2}) {
                Case c{{n, 1, n}, axis, reduction::balanced_tree, masked, true};
                run_both(kernel_of<float>(c, add),
                         {random_view({n, 1, n}, 7), flags({n, 1, n}, 5, 60),
                          output_view({4 * n, 1, n})});
            }
        }
    }
}

TEST(Scan, keeps_special_values) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                    inf = std::numeric_limits<float>::infinity();
    for (auto policy : policies) {
        for (int64_t rows : {1, 18}) {
            auto sums = line_of<float>({1, nan, 2, 0}, {.policy = policy}, add, rows);
            EXPECT_EQ(sums[0], 1);
            EXPECT_TRUE(std::isnan(sums[1]) && std::isnan(sums[2]) && std::isnan(sums[3]));
            auto ends = line_of<float>({inf, -inf, 1}, {.policy = policy}, add, rows);
            EXPECT_EQ(ends[0], inf);
            EXPECT_TRUE(std::isnan(ends[1]) && std::isnan(ends[2]));
            for (float zero :
                 line_of<float>({-0.0f, -0.0f, -0.0f}, {.policy = policy}, add, rows)) {
                EXPECT_TRUE(zero == 0 && std::signbit(zero));
            }
            auto before = line_of<float>({-0.0f, -0.0f, 4}, {.exclusive = true, .policy = policy},
                                         add, rows);
            EXPECT_FALSE(std::signbit(before[0]));
            EXPECT_TRUE(std::signbit(before[1]) && std::signbit(before[2]));
            auto least = line_of<float>({nan, 3, nan, 1}, {.policy = policy}, tile::fmin, rows);
            EXPECT_TRUE(std::isnan(least[0]));
            EXPECT_EQ((std::vector<float>{least[1], least[2], least[3]}),
                      (std::vector<float>{3, 3, 1}));
        }
    }
}

TEST(Scan, gives_the_final_state_and_feeds_other_operations) {
    for (int64_t n : {0, 1, 40}) {
        for (bool exclusive : {false, true}) {
            for (bool reverse : {false, true}) {
                for (bool seeded : {false, true}) {
                    auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y,
                                               TensorView<float, 2> Z, TensorView<float, 1> F) {
                        auto i = axis("i", 3), j = axis("j", n);
                        auto x = X[coord(0, 0), shape(i, j)];
                        Tile<float> last;
                        ScanOptions<float> options{.exclusive = exclusive, .reverse = reverse};
                        options.with_final = &last;
                        if (seeded) {
                            options.seed = F[coord(0), shape(i)];
                        }
                        auto y = scan(x, j, add, options);
                        Y(coord(0, 0), shape(i, j)).store(y * 2.0f + x);
                        Z(coord(0, 0), shape(i, j)).store(scan(y, i, maximum));
                        F(coord(0), shape(i)).store(last);
                    });
                    run_both(def.capture(tensor_shape(3, n), tensor_shape(3, n), tensor_shape(3, n),
                                         tensor_shape(3)),
                             {integer_view({3, n}, 1), output_view({3, n}), output_view({3, n}),
                              integer_view({3}, 2)});
                }
            }
        }
    }
}

TEST(Scan, may_write_what_it_reads) {
    auto def = tile_kernel([](TensorView<float, 2> X) {
        auto i = axis("i", 5), j = axis("j", 37);
        auto x = X[coord(0, 0), shape(i, j)];
        X(coord(0, 0), shape(i, j)).store(scan(x, j, add, {.reverse = true}));
        auto state = zeros<float>(shape(i, j));
        for ([[maybe_unused]] auto &s : serial(shape(3))) {
            state = scan(state + X[coord(0, 0), shape(i, j)], i, add);
        }
        X(coord(0, 0), shape(i, j)).store(state);
    });
    run_both(def.capture(tensor_shape(5, 37)), {integer_view({5, 37}, 4, 1)});
}

namespace {

/// The plan of a scan of 16 rows of 64 along the rows (axis 1) or across them.
std::string plan_of(int along, ScanOptions<float> options, bool masked = false) {
    auto policy = options.policy;
    bool reverse = options.reverse;
    auto kernel = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
                      auto i = axis("i", along == 1 ? 1 : 16), j = axis("j", 64);
                      auto x = X[coord(0, 0), shape(i, j)];
                      ScanOptions<float> given{.reverse = reverse, .policy = policy};
                      if (masked) {
                          given.mask = x > 0.0f;
                      }
                      Y(coord(0, 0), shape(i, j)).store(scan(x, along == 1 ? j : i, add, given));
                  }).capture(tensor_shape(16, 64), tensor_shape(16, 64));
    return plan::print(plan::make_plan(*module_of(kernel), target::CpuFacts{}));
}

testing::AssertionResult has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos ? testing::AssertionSuccess()
                                                : testing::AssertionFailure() << text;
}

}// namespace

TEST(Scan, the_plan_says_how_it_runs) {
    EXPECT_TRUE(has(plan_of(0, {}), "vector j:64 x 16"));
    EXPECT_TRUE(has(plan_of(0, {}), "along i: an element a step, one running value"));
    EXPECT_TRUE(has(plan_of(1, {.reverse = true}),
                    "along j from the end: a prefix in each register, one running value"));
    auto tree = plan_of(1, {.policy = reduction::balanced_tree});
    EXPECT_TRUE(has(tree, "along j: a prefix in each register, balanced trees on a stack"));
    auto fold = plan_of(1, {.policy = reduction::fold_left});
    EXPECT_TRUE(has(fold, "(scalar: the fold keeps its order and no other axis is left)"));
    EXPECT_TRUE(has(fold, "along j: an element a step, one running value"));
    EXPECT_TRUE(has(plan_of(1, {.policy = reduction::balanced_tree}, true),
                    "(scalar: a mask leaves other trees in other lines)"));
}
