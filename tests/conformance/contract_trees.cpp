// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/contracts.h>

#include "support/both.h"

#include <algorithm>
#include <functional>
#include <numeric>

// balanced_tree over contracts: one tree, so floats have the same bits on both back ends.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

constexpr int64_t counts[] = {0, 1, 2, 3, 7, 8, 9, 21, 64, 100, 1000};

/// Y = mean and sum of squares of the first n of X by one balanced tree; n is a constant or known at launch only.
auto moments(int64_t most, bool known) {
    return tile_kernel(
        [=](TensorView<const float, 1> X, TensorView<float, 1> Y, Scalar<int64_t> launched) {
            Scalar<int64_t> n = known ? Scalar<int64_t>{most} : launched;
            for (auto &root : parallel(shape(1))) {
                auto stats = scalar(WelfordState<float>{Scalar<float>{1.0f}, Scalar<float>{0.5f},
                                                        Scalar<float>{0.25f}});
                Scalar<float> total{0.125f};
                for (auto &i : root.reduce(range(0, n, 1), welford, reduction::balanced_tree)) {
                    auto x = X(i.index()).load();
                    stats = welford_push(stats, x);
                    total += x;// not the contract's: merged by its own operation
                }
                Y(0).store(stats.mean);
                Y(1).store(stats.m2);
                Y(2).store(total);
            }
        });
}

}// namespace

TEST(ContractTrees, have_the_same_bits_everywhere) {
    for (auto n : counts) {
        for (bool known : {true, false}) {
            auto kernel = moments(n, known).capture(tensor_shape(std::max<int64_t>(n, 1)),
                                                    tensor_shape(3));
            auto x = random_view({std::max<int64_t>(n, 1)}, 5);
            auto out = run_both(kernel, {x, output_view({3})}, {bits_of(n)});
            if (n == 0) {
                EXPECT_EQ(element_value(out[1], 0), 0.5) << "of nothing, the incoming state";
                EXPECT_EQ(element_value(out[1], 2), 0.125);
            }
        }
    }
}

TEST(ContractTrees, are_not_folds) {
    // The sums differ between a tree and a fold: the test would see one taken for the other.
    auto kernel = moments(1000, true).capture(tensor_shape(1000), tensor_shape(3));
    std::vector<float> values(1000, 0.1f);
    auto out = run_both(kernel, {dense<float>({1000}, values), output_view({3})},
                        {bits_of(int64_t{1000})});
    std::function<float(int64_t, int64_t)> tree = [&](int64_t first, int64_t count) {
        if (count == 1) {
            return values[static_cast<size_t>(first)];
        }
        int64_t left = 1;
        while (2 * left < count) {
            left *= 2;
        }
        return tree(first, left) + tree(first + left, count - left);
    };
    float folded = 0.125f;
    for (auto x : values) {
        folded += x;
    }
    auto expected = static_cast<double>(0.125f + tree(0, 1000));
    EXPECT_EQ(element_value(out[1], 2), expected);
    EXPECT_NE(static_cast<double>(folded), expected);
}

TEST(ContractTrees, keep_the_order_of_contributions) {
    auto definition = tile_kernel([](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y) {
        for (auto &root : parallel(shape(1))) {
            auto map = scalar(AffineState<int32_t>{Scalar<int32_t>{1}, Scalar<int32_t>{7}});
            for (auto &i : root.reduce(shape(21), affine_composition, reduction::balanced_tree)) {
                auto x = X[coord(i.index())];
                map = AffineState<int32_t>{2 * x + 1, x + 1}.then(map);
            }
            Y(0).store(map.offset);
        }
    });
    std::vector<int32_t> x(21);
    std::iota(x.begin(), x.end(), -10);
    auto out = run_both(definition.capture(tensor_shape(21), tensor_shape(1)),
                        {dense<int32_t>({21}, x), output_view<int32_t>({1})});
    // affine_composition applies the left map last: the first contribution is the outermost one.
    uint32_t scale = 1, offset = 7;
    for (auto own : x) {
        offset += scale * static_cast<uint32_t>(own + 1);
        scale *= static_cast<uint32_t>(2 * own + 1);
    }
    EXPECT_EQ(element_value(out[1], 0), static_cast<double>(static_cast<int32_t>(offset)));
}

TEST(ContractTrees, merge_states_of_many_elements) {
    for (int64_t columns : {1, 5, 16, 37}) {
        auto definition = tile_kernel([=](TensorView<const float, 3> X, TensorView<float, 2> Y) {
            auto c = axis("column", columns), r = axis("row", 3);
            for (auto &root : parallel(shape(1))) {
                auto stats = WelfordState<float>{full<float>(shape(r, c), 0.0f),
                                                 full<float>(shape(r, c), 0.0f),
                                                 full<float>(shape(r, c), 0.0f)};
                for (auto &i : root.reduce(shape(3, 7), welford, reduction::balanced_tree)) {
                    auto x = X[coord(i.index(0) * 7 + i.index(1), 0, 0), shape(1, r, c)];
                    stats = welford_push(stats, x);
                }
                Y(coord(0, 0), shape(r, c)).store(stats.mean);
                Y(coord(3, 0), shape(r, c)).store(stats.m2);
            }
        });
        run_both(definition.capture(tensor_shape(21, 3, columns), tensor_shape(6, columns)),
                 {random_view({21, 3, columns}, 6), output_view({6, columns})});
    }
}

TEST(ContractTrees, stay_within_instances_and_nests) {
    auto definition = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y) {
        for (auto &row : parallel(shape(5))) {
            Scalar<float> last{0.0f};
            for (auto &step : row.serial(shape(2))) {
                auto stats = scalar(WelfordState<float>::identity());
                for (auto &i : step.reduce(range(30, 3, -4), welford, reduction::balanced_tree)) {
                    stats = welford_push(stats, X(row.index(), i.index() + step.index()).load());
                }
                last = last * 2.0f + stats.mean;
            }
            Y(row.index()).store(last);
        }
    });
    run_both(definition.capture(tensor_shape(5, 33), tensor_shape(5)),
             {random_view({5, 33}, 7), output_view({5})});
}

namespace {

/// The permutations of three things by number, and the table of their composition, which does not commute.
constexpr int permutations = 6;
std::vector<int64_t> composition_table() {
    const int images[permutations][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    std::vector<int64_t> table;
    for (const auto &p : images) {
        for (const auto &q : images) {
            int both[] = {p[q[0]], p[q[1]], p[q[2]]};
            auto same = [&](const auto &r) { return std::equal(both, both + 3, r); };
            table.push_back(std::find_if(images, images + permutations, same) - images);
        }
    }
    return table;
}

struct Composed {
    Tile<int64_t> number;
    LUISA_TILE_STATE(Composed, number)
};
struct Composition {
    static constexpr bool commutative = false;
    Tile<int64_t> table;
    [[nodiscard]] Composed identity() const { return {Scalar<int64_t>{0}}; }
    [[nodiscard]] Composed merge(const Composed &a, const Composed &b) const {
        return {table.at(coord(Scalar<int64_t>{a.number * permutations + b.number}))};
    }
};

}// namespace

TEST(ContractTrees, merge_states_of_many_elements_by_more_than_elementwise_operations) {
    auto table = composition_table();
    for (int64_t columns : {0, 1, 5, 37}) {
        for (int64_t n : {0, 1, 21}) {
            auto definition = tile_kernel([=](TensorView<const int64_t, 1> T,
                                              TensorView<const int64_t, 2> X,
                                              TensorView<int64_t, 2> Y) {
                auto r = axis("row", 1), c = axis("column", columns);
                auto t = axis("entry", permutations * permutations);
                for (auto &root : parallel(shape(1))) {
                    Tile<int64_t> all = T[coord(0), shape(t)];
                    Composed state{full<int64_t>(shape(r, c), 3)};
                    for (auto &i :
                         root.reduce(shape(n), Composition{all}, reduction::balanced_tree)) {
                        Tile<int64_t> x = X[coord(i.index(), 0), shape(r, c)];
                        state.number = gather(all, state.number * permutations + x, t, 0);
                    }
                    Y(coord(0, 0), shape(r, c)).store(state.number);
                }
            });
            std::vector<int64_t> x(static_cast<size_t>(n * columns));
            uint32_t bits = 12345;
            for (auto &value : x) {
                bits = bits * 1664525u + 1013904223u;
                value = (bits >> 16) % permutations;
            }
            auto out = run_both(
                definition.capture(tensor_shape(permutations * permutations),
                                   tensor_shape(n, columns), tensor_shape(1, columns)),
                {dense<int64_t>({permutations * permutations}, table),
                 dense<int64_t>({n, columns}, x), output_view<int64_t>({1, columns})});
            for (int64_t k = 0; k < columns; ++k) {
                int64_t expected = 3;
                for (int64_t i = 0; i < n; ++i) {
                    expected = table[static_cast<size_t>(expected * permutations +
                                                         x[static_cast<size_t>(i * columns + k)])];
                }
                EXPECT_EQ(element_value(out[2], static_cast<size_t>(k)),
                          static_cast<double>(expected));
            }
        }
    }
}
