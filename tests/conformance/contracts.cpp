// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/contracts.h>

#include "support/both.h"

#include <numeric>

// Staged structs as states, and reductions with contracts, on both back ends. Integer states have one answer
// whatever the grouping; floats are compared with a computation in binary64.

using namespace luisa;
using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

constexpr ReductionPolicy trees[] = {reduction::unordered_tree, reduction::ordered_tree};

std::vector<int64_t> numbers(int64_t n, uint32_t seed) {
    std::mt19937 engine{seed};
    std::vector<int64_t> values(static_cast<size_t>(std::max<int64_t>(n, 1)));
    for (auto &x : values) {
        x = 2 * static_cast<int64_t>(engine() % 7) - 7;// odd: products never become zero
    }
    return values;
}

int64_t as_int64(const View &v, size_t i) {
    int64_t x = 0;
    std::memcpy(&x, v.bytes.data() + 8 * i, 8);
    return x;
}

/// R10: compositions of x -> a x + b in order, wrapping, as scalar states.
void compose_in_order(int64_t n, BothOptions options) {
    for (auto policy : trees) {
        auto definition = tile_kernel([=](TensorView<const int64_t, 1> A,
                                          TensorView<const int64_t, 1> B,
                                          TensorView<int64_t, 1> Y) {
            for (auto &root : parallel(shape(1))) {
                auto map = scalar(AffineState<int64_t>{Scalar<int64_t>{2}, Scalar<int64_t>{-5}});
                for (auto &i : root.reduce(shape(n), affine_composition, policy)) {
                    AffineState<int64_t> own{A[coord(i.index())], B[coord(i.index())]};
                    map = own.then(map);
                }
                Y(0).store(map.scale);
                Y(1).store(map.offset);
            }
        });
        auto kernel = definition.capture(tensor_shape(n), tensor_shape(n), tensor_shape(2));
        auto a = numbers(n, 3), b = numbers(n, 4);
        auto left = run_both(
            kernel, {dense<int64_t>({n}, a), dense<int64_t>({n}, b), output_view<int64_t>({2})}, {},
            options);
        uint64_t scale = 2, offset = static_cast<uint64_t>(-5);
        for (int64_t i = 0; i < n; ++i) {
            offset += scale * static_cast<uint64_t>(b[static_cast<size_t>(i)]);
            scale *= static_cast<uint64_t>(a[static_cast<size_t>(i)]);
        }
        EXPECT_EQ(as_int64(left[2], 0), static_cast<int64_t>(scale)) << n;
        EXPECT_EQ(as_int64(left[2], 1), static_cast<int64_t>(offset)) << n;
    }
}
TEST(Contracts, AffineCompositionInOrder) {
    for (int64_t n = 0; n <= 130; ++n) {
        compose_in_order(n, {});
    }
    compose_in_order(1000, {});
}
TEST(Contracts, LanesOfEveryVectorWidth) {
    for (int bytes : {16, 32, 64}) {
        auto facts = target::cpu_facts(emit::host_cpu().features, 1);
        facts.vector_bytes = std::min(facts.vector_bytes, bytes);
        for (int64_t n : {4, 8, 9, 31, 64, 100}) {
            compose_in_order(n, {0, false, facts});
        }
    }
}

/// Rows of a tile, read as x.at(item), and every policy that a contract has on both back ends.
TEST(Contracts, TileStatesAndFolds) {
    for (auto policy : {reduction::unordered_tree, reduction::ordered_tree, reduction::fold_left}) {
        for (int64_t rows : {1, 3, 16, 40}) {
            auto definition = tile_kernel(
                [=](TensorView<const int32_t, 2> X, TensorView<int32_t, 2> Y) {
                    for ([[maybe_unused]] auto &root : parallel(shape(1))) {
                        Axis row = axis("row", rows), item = axis("item", 37);
                        auto x = X(coord(0, 0), shape(row, item)).load();
                        auto map = full<AffineState<int32_t>>(shape(row),
                                                              AffineState<int32_t>::identity());
                        for (auto &i : root.reduce(x.domain(item), affine_composition, policy)) {
                            map = AffineState<int32_t>{2 * x.at(i) + 1, x.at(i)}.then(map);
                        }
                        Y(coord(0, 0), shape(row, 1)).store(map.scale);
                        Y(coord(0, 1), shape(row, 1)).store(map.offset);
                    }
                });
            auto kernel = definition.capture(tensor_shape(rows, 37), tensor_shape(rows, 2));
            run_both(kernel,
                     {integer_view<int32_t>({rows, 37}, 5), output_view<int32_t>({rows, 2})});
        }
    }
}

struct Moments {
    double count = 0, mean = 0, m2 = 0;
};
template<class T> Moments moments(const std::vector<T> &values, size_t first, size_t n) {
    Moments m;
    for (size_t i = 0; i < n; ++i) {
        m.mean += static_cast<double>(values[first + i]) / static_cast<double>(n);
    }
    for (size_t i = 0; i < n; ++i) {
        auto d = static_cast<double>(values[first + i]) - m.mean;
        m.m2 += d * d;
    }
    m.count = static_cast<double>(n);
    return m;
}

/// R12: a huge mean with small noise, over rows in memory.
template<class T> void welford_rows(double mean, double noise, double bound) {
    for (int64_t n : {1, 2, 15, 16, 17, 100, 1024, 1000}) {
        auto definition = tile_kernel([=](TensorView<const T, 2> X, TensorView<T, 2> Y) {
            for (auto &row : parallel(shape(3))) {
                auto stats = scalar(WelfordState<T>::identity());
                for (auto &i : row.reduce(range(0, n), welford)) {
                    stats = welford_push(stats, X[coord(row.index(), i.index())]);
                }
                Y(row.index(), 0).store(stats.count);
                Y(row.index(), 1).store(stats.mean);
                Y(row.index(), 2).store(stats.variance());
            }
        });
        std::mt19937 engine{7};
        std::normal_distribution<double> d{mean, noise};
        std::vector<T> values(static_cast<size_t>(3 * n));
        for (auto &x : values) {
            x = static_cast<T>(d(engine));
        }
        auto kernel = definition.capture(tensor_shape(3, n), tensor_shape(3, 3));
        auto left = run_both(kernel, {dense<T>({3, n}, values), output_view<T>({3, 3})}, {},
                             {bound, false, {}});
        for (size_t r = 0; r < 3; ++r) {
            auto m = moments(values, r * static_cast<size_t>(n), static_cast<size_t>(n));
            EXPECT_EQ(element_value(left[1], 3 * r), m.count);
            EXPECT_NEAR(element_value(left[1], 3 * r + 1), m.mean, 1e-6 * std::fabs(m.mean));
            auto variance = m.m2 / m.count;
            EXPECT_NEAR(element_value(left[1], 3 * r + 2), variance, bound * variance + 1e-30) << n;
        }
    }
}
TEST(Contracts, WelfordOfAHugeMean) { welford_rows<double>(1e8, 1, 1e-5); }
TEST(Contracts, WelfordOfFloats) { welford_rows<float>(3, 1, 1e-4); }

/// A normalization of rows as one would write it: the state has the rows' dimension.
TEST(Contracts, RowsNormalizedByOneState) {
    for (auto policy : trees) {
        auto definition = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
            for (auto &block : parallel(shape(3))) {
                Axis row = axis("row", 5), feature = axis("feature", 70);
                auto origin = coord(5 * block.index(), 0);
                auto x = X(origin, shape(row, feature)).load();
                auto stats = full<WelfordState<float>>(shape(row), welford_identity);
                for (auto &item : block.reduce(x.domain(feature), welford, policy)) {
                    stats = welford_push(stats, x.at(item));
                }
                Y(origin, shape(row, feature))
                    .store((x - stats.mean) * rsqrt(stats.variance() + 1e-5f));
            }
        });
        auto kernel = definition.capture(tensor_shape(15, 70), tensor_shape(15, 70));
        auto x = random_view({15, 70}, 21);
        auto left = run_both(kernel, {x, output_view({15, 70})}, {}, {1e-5, false, {}});
        for (size_t r = 0; r < 15; ++r) {
            double mean = 0, variance = 0;
            for (size_t i = 0; i < 70; ++i) {
                mean += element_value(x, 70 * r + i) / 70;
            }
            for (size_t i = 0; i < 70; ++i) {
                variance += std::pow(element_value(x, 70 * r + i) - mean, 2) / 70;
            }
            for (size_t i = 0; i < 70; ++i) {
                auto expected = (element_value(x, 70 * r + i) - mean) / std::sqrt(variance + 1e-5);
                EXPECT_NEAR(element_value(left[1], 70 * r + i), expected, 1e-5);
            }
        }
    }
}

/// Two states of one contract, a sum of another kind and an unwritten one in the same nest.
TEST(Contracts, IndependentStates) {
    auto definition = tile_kernel([](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y) {
        for (auto &root : parallel(shape(1))) {
            auto first = scalar(AffineState<int32_t>::identity());
            auto untouched = scalar(AffineState<int32_t>{Scalar<int32_t>{9}, Scalar<int32_t>{8}});
            auto second = scalar(AffineState<int32_t>::identity());
            Scalar<int32_t> sum = 0;
            for (auto &i : root.reduce(range(0, 77), affine_composition)) {
                auto x = X[coord(i.index())];
                first = AffineState<int32_t>{x, x}.then(first);
                sum += x;
                second.offset = second.offset + second.scale * (x - 1);
            }
            Y(0).store(first.scale);
            Y(1).store(first.offset);
            Y(2).store(second.scale);
            Y(3).store(second.offset);
            Y(4).store(sum);
            Y(5).store(untouched.scale + untouched.offset);
        }
    });
    auto kernel = definition.capture(tensor_shape(77), tensor_shape(6));
    auto values = std::vector<int32_t>{1, -1, 2, 3, -2, 1, 1};
    auto left = run_both(kernel, {dense<int32_t>({77}, values), output_view<int32_t>({6})});
    int32_t sum = 0, offset = 0;
    for (size_t i = 0; i < 77; ++i) {
        sum += values[i % 7];
        offset += values[i % 7] - 1;
    }
    EXPECT_EQ(element_value(left[1], 2), 1);
    EXPECT_EQ(element_value(left[1], 3), offset);
    EXPECT_EQ(element_value(left[1], 4), sum);
    EXPECT_EQ(element_value(left[1], 5), 17);
}

/// log-sum-exp, with scores of -inf among them.
TEST(Contracts, OnlineSoftmax) {
    for (int64_t n : {1, 7, 64, 1000}) {
        auto definition = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
            for (auto &root : parallel(shape(1))) {
                auto state = scalar(SoftmaxState<float>::identity());
                for (auto &i : root.reduce(shape(n), online_softmax)) {
                    state = softmax_push(state, X[coord(i.index())]);
                }
                Y(0).store(state.log_sum_exp());
                Y(1).store(state.largest);
            }
        });
        auto kernel = definition.capture(tensor_shape(n), tensor_shape(2));
        std::vector<float> values(static_cast<size_t>(n));
        double sum = 0;
        for (size_t i = 0; i < values.size(); ++i) {
            values[i] = i % 5 == 1 ? -INFINITY : static_cast<float>((i * 37) % 64) - 20.0f;
            sum += std::exp(static_cast<double>(values[i]));
        }
        auto left = run_both(kernel, {dense<float>({n}, values), output_view({2})}, {},
                             {1e-5, false, {}});
        EXPECT_NEAR(element_value(left[1], 0), std::log(sum), 1e-4) << n;
        EXPECT_EQ(element_value(left[1], 1), *std::max_element(values.begin(), values.end()));
    }
}

/// A state in if_, while_, serial and pipeline, an array of them, and member functions.
TEST(Contracts, StatesAreVariables) {
    auto definition = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        for (auto &root : parallel(shape(1))) {
            std::array<WelfordState<float>, 2> both{scalar(WelfordState<float>::identity()),
                                                    scalar(WelfordState<float>::identity())};
            for (auto &i : root.serial(shape(20))) {
                auto x = X[coord(i.index())];
                if_(
                    x > 0.0f, [&] { both[0] = welford_push(both[0], x); },
                    [&] { both[1] = welford_push(both[1], x); });
            }
            Scalar<int64_t> at = 20;
            while_([&] { return at < 30; },
                   [&] {
                       both[0] = welford_push(both[0], X[coord(at)]);
                       at += 1;
                   });
            for (auto &i : root.pipeline(range(30, 40))) {
                both[1] = welford_push(both[1], X[coord(i.index())]);
            }
            auto all = welford.merge(both[0], both[1]);
            Y(0).store(both[0].count);
            Y(1).store(both[1].count);
            Y(2).store(all.variance());
        }
    });
    auto kernel = definition.capture(tensor_shape(40), tensor_shape(3));
    run_both(kernel, {random_view({40}, 11), output_view({3})}, {}, {1e-6, false, {}});
}

/// A built-in reducer merges states whose update shows no single operation.
TEST(Contracts, ReducersAreContracts) {
    for (auto policy : trees) {
        auto definition = tile_kernel(
            [=](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y) {
                for (auto &root : parallel(shape(1))) {
                    Scalar<int32_t> even = 100;
                    for (auto &i : root.reduce(shape(75), add, policy)) {
                        auto x = X[coord(i.index())];
                        even = ite(x % 2 == 0, even + x, even);
                    }
                    Y(0).store(even);
                }
            });
        auto kernel = definition.capture(tensor_shape(75), tensor_shape(1));
        EXPECT_NE(kernel.ir_text().find("merge {"), std::string::npos);
        run_both(kernel, {integer_view<int32_t>({75}, 9, 50), output_view<int32_t>({1})});
    }
}

/// Lanes of every element type, in a state and beside a 64-bit field.
template<class T> struct Spread {
    Tile<T> low, high;
    Tile<int64_t> count;
    LUISA_TILE_STATE(Spread, low, high, count)
};
template<class T> struct SpreadContract {
    static constexpr bool commutative = true;
    Tile<T> start;
    Spread<T> identity() const { return {start, start, Scalar<int64_t>{0}}; }
    Spread<T> merge(const Spread<T> &a, const Spread<T> &b) const {
        auto first = a.count == 0, second = b.count == 0;
        return {ite(first, b.low, ite(second, a.low, minimum(a.low, b.low))),
                ite(first, b.high, ite(second, a.high, maximum(a.high, b.high))),
                a.count + b.count};
    }
};
template<class T> void spread_of() {
    for (auto policy : trees) {
        for (int64_t n : {5, 150}) {
            auto definition = tile_kernel([=](TensorView<const T, 1> X, TensorView<T, 1> Y,
                                              TensorView<int64_t, 1> N, TensorView<T, 1> M) {
                for (auto &root : parallel(shape(1))) {
                    SpreadContract<T> contract{X[coord(0)]};
                    Spread<T> state = scalar(contract.identity());
                    Scalar<T> most = X[coord(0)];
                    for (auto &i : root.reduce(shape(n), contract, policy)) {
                        Tile<T> x = X[coord(i.index())];
                        state = contract.merge(state, {x, x, Scalar<int64_t>{1}});
                    }
                    for (auto &i : root.reduce(shape(n), maximum, policy)) {
                        auto x = X[coord(i.index())];
                        most = ite(i.index() % 2 == 0, maximum(most, x), most);
                    }
                    Y(0).store(state.low);
                    Y(1).store(state.high);
                    N(0).store(state.count);
                    M(0).store(most);
                }
            });
            auto kernel = definition.capture(tensor_shape(n), tensor_shape(2), tensor_shape(1),
                                             tensor_shape(1));
            auto left = run_both(kernel, {integer_view<T>({n}, 3, 100), output_view<T>({2}),
                                          output_view<int64_t>({1}), output_view<T>({1})});
            EXPECT_EQ(as_int64(left[2], 0), n);
        }
    }
}
TEST(Contracts, LanesOfEveryType) {
    spread_of<int8_t>();
    spread_of<uint16_t>();
    spread_of<int32_t>();
    spread_of<uint64_t>();
    spread_of<half>();
    spread_of<bf16>();
    spread_of<float>();
    spread_of<double>();
}

/// The number of contributions is known at launch only.
TEST(Contracts, RuntimeExtents) {
    auto definition = tile_kernel([](TensorView<const double, 2> X, TensorView<double, 2> Y) {
        for (auto &row : parallel(shape(X.extent(0)))) {
            auto stats = scalar(WelfordState<double>::identity());
            auto range_only = stats;
            for (auto &i : row.reduce(shape(X.extent(1)), welford)) {
                stats = welford_push(stats, X[coord(row.index(), i.index())]);
            }
            for (auto &i : row.reduce(range(3, X.extent(1)), welford)) {
                auto weight = cast<double>(i.index() % 3);
                range_only = welford_push(range_only,
                                          weight * X[coord(row.index(), i.index() - 3)]);
            }
            Y(row.index(), 0).store(stats.count);
            Y(row.index(), 1).store(stats.variance());
            Y(row.index(), 2).store(range_only.count);
            Y(row.index(), 3).store(range_only.variance());
        }
    });
    auto kernel = definition.capture(tensor_shape(dynamic("r"), dynamic("n")),
                                     tensor_shape(dynamic("r"), 4));
    for (int64_t n : {0, 1, 2, 7, 8, 9, 63, 64, 65, 1000}) {
        auto left = run_both(kernel, {random_view<double>({3, n}, 5), output_view<double>({3, 4})},
                             {}, {1e-12, false, {}});
        EXPECT_EQ(element_value(left[1], 0), static_cast<double>(n));
        EXPECT_EQ(element_value(left[1], 2), static_cast<double>(std::max<int64_t>(n - 3, 0)));
    }
}

/// Elements of a tile and of a view at shifted places, with what lies outside, in both orders.
TEST(Contracts, LanesReadTilesAndShiftedPlaces) {
    for (auto policy : trees) {
        for (int64_t n : {16, 17, 100, 128}) {
            auto definition = tile_kernel([=](TensorView<const int32_t, 2> X,
                                              TensorView<int32_t, 1> Y) {
                for ([[maybe_unused]] auto &root : parallel(shape(1))) {
                    Axis item = axis("item", n);
                    auto x = reshape(X(coord(0, 0), shape(1, item)).load(), shape(item));
                    auto table = X(coord(0, 0), shape(1, 8)).load();
                    auto map = scalar(AffineState<int32_t>::identity());
                    for (auto &i : root.reduce(x.domain(item), affine_composition, policy)) {
                        Scalar<int32_t> own = x.at(i);
                        auto next = X[coord(0, i.index() + 2)], before = X[coord(0, i.index() - 1)];
                        Scalar<int32_t> entry = table.at(coord(0, (i.index() * 3) % 8));
                        auto number = cast<int32_t>(i.index());
                        map = AffineState<int32_t>{2 * (own + next) + 1, before - entry + number}
                                  .then(map);
                    }
                    Y(0).store(map.scale);
                    Y(1).store(map.offset);
                }
            });
            auto kernel = definition.capture(tensor_shape(1, n), tensor_shape(2));
            run_both(kernel, {integer_view<int32_t>({1, n}, 5), output_view<int32_t>({2})});
        }
    }
}

/// Under serial, pipeline and reduce nests, and into the tile of an ancestor.
TEST(Contracts, ParentsOfEveryKind) {
    auto definition = tile_kernel([](TensorView<const int32_t, 2> X, TensorView<int32_t, 2> Y) {
        for (auto &root : parallel(shape(2))) {
            auto rows = zeros<int32_t>(shape(4));
            auto all = scalar(AffineState<int32_t>::identity());
            for (auto &row : root.parallel(shape(4))) {
                auto map = scalar(AffineState<int32_t>::identity());
                for (auto &i : row.reduce(shape(40), affine_composition)) {
                    auto x = X[coord(row.index(), i.index())];
                    map = AffineState<int32_t>{2 * x + 1, x + 1}.then(map);
                }
                rows = insert(rows, row, map.offset);
            }
            for (auto &step : root.pipeline(shape(3))) {
                for (auto &i :
                     step.reduce(shape(40), affine_composition, reduction::ordered_tree)) {
                    auto x = X[coord(step.index(), i.index())];
                    all = AffineState<int32_t>{2 * x + 1, x}.then(all);
                }
            }
            for (auto &outer : root.reduce(shape(2), affine_composition)) {
                for (auto &i : outer.reduce(shape(33), affine_composition)) {
                    auto x = X[coord(outer.index() + 1, i.index())];
                    all = AffineState<int32_t>{2 * x - 1, x}.then(all);
                }
            }
            Y(coord(root.index(), 0), shape(1, 4)).store(reshape(rows, shape(1, 4)));
            Y(root.index(), 4).store(all.scale);
            Y(root.index(), 5).store(all.offset);
        }
    });
    auto kernel = definition.capture(tensor_shape(4, 40), tensor_shape(2, 6));
    auto left = run_both(kernel, {integer_view<int32_t>({4, 40}, 6), output_view<int32_t>({2, 6})});
    EXPECT_NE(element_value(left[1], 5), -77);
}

/// Both folds take the contributions in their order, whatever the contract declares.
TEST(Contracts, StrictFolds) {
    for (auto policy : {reduction::fold_left, reduction::fold_right}) {
        auto definition = tile_kernel(
            [=](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y) {
                for (auto &root : parallel(shape(1))) {
                    auto map = scalar(AffineState<int32_t>{Scalar<int32_t>{1}, Scalar<int32_t>{7}});
                    for (auto &i : root.reduce(shape(50), affine_composition, policy)) {
                        auto x = X[coord(i.index())];
                        map = AffineState<int32_t>{2 * x + 1, x + 1}.then(map);
                    }
                    Y(0).store(map.offset);
                }
            });
        auto kernel = definition.capture(tensor_shape(50), tensor_shape(1));
        std::vector<int32_t> x(50);
        for (size_t i = 0; i < 50; ++i) {
            x[i] = static_cast<int32_t>((i * 5) % 7) - 3;
        }
        auto left = run_both(kernel, {dense<int32_t>({50}, x), output_view<int32_t>({1})});
        uint32_t scale = 1, offset = 7;
        for (size_t step = 0; step < 50; ++step) {
            auto own = static_cast<uint32_t>(x[policy == reduction::fold_left ? step : 49 - step]);
            offset += scale * (own + 1);
            scale *= 2 * own + 1;
        }
        EXPECT_EQ(static_cast<uint32_t>(static_cast<int32_t>(element_value(left[1], 0))), offset);
    }
}

/// What explain shows of a Welford reduction over a row of 1024.
TEST(Contracts, PlansShowTheLanes) {
    auto definition = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y) {
        for (auto &row : parallel(shape(4))) {
            auto stats = scalar(WelfordState<float>::identity());
            for (auto &i : row.reduce(range(0, 1024), welford)) {
                stats = welford_push(stats, X[coord(row.index(), i.index())]);
            }
            Y(row.index()).store(stats.variance());
        }
    });
    auto kernel = definition.capture(tensor_shape(4, 1024), tensor_shape(4));
    auto facts = target::cpu_facts(emit::host_cpu().features, 1);
    auto compiled = compiler::compile_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, facts});
    auto lanes = std::to_string(facts.vector_bytes / 4);
    EXPECT_NE(
        compiled->plan.find("associative builtin, identity builtin, update declared, commutative "
                            "builtin; " +
                            lanes + " lanes as partial states"),
        std::string::npos)
        << compiled->plan;
    EXPECT_NE(
        compiled->plan.find("group [lane:" + lanes + "] vector lane:" + lanes + " x " + lanes),
        std::string::npos)
        << compiled->plan;
}

/// What explain shows of updates without a contract.
TEST(Contracts, PlansShowWhereLawsComeFrom) {
    auto definition = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        for (auto &root : parallel(shape(1))) {
            Scalar<float> sum = 0, some = 0, power = 0;
            for (auto &i : root.reduce(shape(9))) {
                auto x = X[coord(i.index())];
                sum += x;
                some = ite(x > 0, some + x, some);
            }
            for (auto &i : root.reduce(shape(9), reduction::fold_left)) {
                power = power * X[coord(i.index())] + 1;
            }
            Y(0).store(sum + some + power);
        }
    });
    auto kernel = definition.capture(tensor_shape(9), tensor_shape(1));
    auto plan = compiler::compile_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, {}})->plan;
    EXPECT_NE(plan.find("state 0 merges by add, builtin\n"), std::string::npos) << plan;
    EXPECT_NE(plan.find("state 1 merges by add, derived\n"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("no known operation"), std::string::npos) << plan;
}

}// namespace
