// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/contracts.h>

#include "support/both.h"

// The interpreter's validation samples the laws that contracts declare.

using namespace luisa;
using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

struct Number {
    Tile<int32_t> value;
    LUISA_TILE_STATE(Number, value)
};

enum class Wrong { NOTHING, ORDER, GROUPS, IDENTITY, UPDATE };

template<Wrong wrong> struct Sum {
    static constexpr bool commutative = wrong == Wrong::ORDER;
    Number identity() const { return {Scalar<int32_t>{wrong == Wrong::IDENTITY ? 1 : 0}}; }
    Number merge(const Number &a, const Number &b) const {
        if (wrong == Wrong::ORDER) {
            return {ite(b.value == 0, a.value, b.value)};
        }
        if (wrong == Wrong::GROUPS) {
            return {ite(a.value == 0, b.value, ite(b.value == 0, a.value, a.value - b.value))};
        }
        return {a.value + b.value};
    }
};

template<Wrong wrong> std::string problem(ReductionPolicy policy) {
    auto definition = tile_kernel([=](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y) {
        for (auto &root : parallel(shape(1))) {
            Number sum{Scalar<int32_t>{5}};
            for (auto &i : root.reduce(shape(9), Sum<wrong>{}, policy)) {
                Tile<int32_t> x = X[coord(i.index())];
                sum.value = wrong == Wrong::ORDER    ? ite(x == 0, sum.value, x)
                            : wrong == Wrong::GROUPS ? ite(sum.value == 0, x, sum.value - x)
                            : wrong == Wrong::UPDATE ? sum.value + 2 * x * (sum.value + 1)
                                                     : sum.value + x;
            }
            Y(0).store(sum.value);
        }
    });
    auto kernel = definition.capture(tensor_shape(9), tensor_shape(1));
    std::vector<View> views{dense<int32_t>({9}, std::vector<int32_t>{1, 2, 3, 4, 5}),
                            output_view<int32_t>({1})};
    interpreter::Options options;
    options.validate = true;
    const auto &module = *module_of(kernel);
    try {
        interpreter::run(module, arguments_of(module, views, {}), options);
    } catch (const ValueError &e) {
        EXPECT_TRUE(e.location().known());
        return e.message();
    }
    return "";
}

constexpr auto tree = reduction::unordered_tree;
const std::string begins = "a law that the contract of this `reduce` declares does not hold: ";
const std::string ends = "; correct the contract, or reduce with fold_left";

TEST(ContractLaws, Hold) { EXPECT_EQ(problem<Wrong::NOTHING>(tree), ""); }
TEST(ContractLaws, Identity) {
    EXPECT_EQ(problem<Wrong::IDENTITY>(tree), begins +
                                                  "merge(identity, s) = s; for s = {5} the sides "
                                                  "are {6} and {5}" +
                                                  ends);
}
TEST(ContractLaws, Commutative) {
    EXPECT_EQ(problem<Wrong::ORDER>(tree), begins +
                                               "merge(a, b) = merge(b, a); for a = {5}, b = {1} "
                                               "the sides are {1} and {5}" +
                                               ends);
}
TEST(ContractLaws, Update) {
    EXPECT_EQ(problem<Wrong::UPDATE>(tree),
              begins +
                  "update(s, x) = merge(s, update(identity, x)); for s = {5}, update(identity, x) "
                  "= {2} the sides are {7} and {17}" +
                  ends);
}
TEST(ContractLaws, Associative) {
    EXPECT_EQ(
        problem<Wrong::GROUPS>(tree),
        begins +
            "merge(merge(a, b), c) = merge(a, merge(b, c)); for a = {1}, b = {2}, c = {3} the "
            "sides are {-4} and {2}" +
            ends);
}
/// A strict fold needs no law.
TEST(ContractLaws, FoldsAreNotSampled) {
    EXPECT_EQ(problem<Wrong::IDENTITY>(reduction::fold_left), "");
}

}// namespace
