// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <luisa/tile/contracts.h>

// Which variables a contract binds, and what pruning leaves of it.

namespace luisa::tile::test {

namespace {

struct Pair {
    Tile<float> a, b;
    LUISA_TILE_STATE(Pair, a, b)
};
struct Swapping {
    Pair identity() const { return {Scalar<float>{0}, Scalar<float>{1}}; }
    Pair merge(const Pair &l, const Pair &r) const { return {l.a + r.a, l.b * r.b}; }
};

}// namespace

TEST(Contracts, AllFieldsAreStatesAlsoUnwrittenOnes) {
    auto text = text_of([](Matrix X) {
        Pair state{Scalar<float>{2}, Scalar<float>{3}};
        for (auto &i : reduce(shape(8), Swapping{})) {
            state.a += X[coord(0, i.index())];
        }
        X(0, 0).store(state.a);
    });
    EXPECT_EQ(count(text, "contract = [0 1]"), 1U) << text;
    EXPECT_EQ(count(text, "merge {"), 1U) << text;
    EXPECT_EQ(count(text, "associative = declared, identity = declared, update = declared}"), 1U)
        << text;
}

TEST(Contracts, StatesThatNothingReadsGoAndTheContractWithTheLast) {
    auto text = text_of([](Matrix X) {
        Pair used{Scalar<float>{2}, Scalar<float>{3}}, unused = used;
        for (auto &i : reduce(shape(8), Swapping{})) {
            used.a += X[coord(0, i.index())];
            unused.b *= X[coord(1, i.index())];
        }
        X(0, 0).store(used.b);
    });
    EXPECT_EQ(count(text, "contract = [0 1]"), 1U) << text;
    text = text_of([](Matrix X) {
        Pair unused{Scalar<float>{2}, Scalar<float>{3}};
        Scalar<float> sum = 0;
        for (auto &i : reduce(shape(8), Swapping{})) {
            unused.a += X[coord(0, i.index())];
            sum += X[coord(1, i.index())];
        }
        X(0, 0).store(sum);
    });
    EXPECT_EQ(count(text, "contract"), 0U) << text;
    EXPECT_EQ(count(text, "merge"), 0U) << text;
    EXPECT_EQ(count(text, "associative"), 0U) << text;
}

TEST(Contracts, NeighboursOfAnotherTypeAreNoState) {
    auto text = text_of([](Matrix X) {
        struct {
            Tile<float> lonely;
            Pair state;
            Tile<float> last;
        } all{Scalar<float>{1}, {Scalar<float>{2}, Scalar<float>{3}}, Scalar<float>{4}};
        for (auto &i : reduce(shape(8), Swapping{})) {
            all.state.b *= X[coord(0, i.index())];
        }
        X(0, 0).store(all.state.b + all.lonely + all.last);
    });
    EXPECT_EQ(count(text, "contract = [0 1]"), 1U) << text;
}

TEST(Contracts, StatesThatMovedAreFoundWhereTheyAre) {
    auto text = text_of([](Matrix X) {
        std::vector<Pair> states;
        for (int i = 0; i < 3; ++i) {
            states.push_back(Pair{Scalar<float>{2}, Scalar<float>{3}});
        }
        for (auto &i : reduce(shape(8), Swapping{})) {
            for (auto &state : states) {
                state.a += X[coord(0, i.index())];
            }
        }
        X(0, 0).store(states[0].a + states[1].b + states[2].a);
    });
    EXPECT_EQ(count(text, "contract = [0 1 2 3 4 5]"), 1U) << text;
}

TEST(Contracts, AContractMayReadOuterScalars) {
    struct Scaled {
        Scalar<float> by;
        Scalar<float> identity() const { return 0; }
        Scalar<float> merge(const Scalar<float> &a, const Scalar<float> &b) const {
            return a + b * by / by;
        }
    };
    auto text = text_of([](Matrix X) {
        Scalar<float> by = X[coord(0, 0)], sum = 0;
        for (auto &i : reduce(shape(8), Scaled{by}, reduction::ordered_tree)) {
            sum = sum + X[coord(0, i.index())] * by / by;
        }
        X(0, 0).store(sum);
    });
    EXPECT_EQ(count(text, "policy = ordered_tree, contract = [0]"), 1U) << text;
}

}// namespace luisa::tile::test
