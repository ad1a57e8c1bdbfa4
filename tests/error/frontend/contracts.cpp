// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/contracts.h>

#include <luisa/tile/kernel.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace luisa::tile {
namespace {

using Input = TensorView<const float, 1>;
using Output = TensorView<float, 1>;

/// What a capture of `f` fails with, and the line that it is at relative to `first`.
std::string error_of(const std::function<void(Input, Output)> &f, uint32_t first) {
    try {
        (void)tile_kernel([=](Input x, Output y) {
            f(x, y);
        }).capture(tensor_shape(8), tensor_shape(8));
    } catch (const Error &e) {
        auto line = static_cast<int>(e.location().line) - static_cast<int>(first);
        return (line < 0 ? "" : "+") + std::to_string(line) + " " + to_string(e.kind()) + ": " +
               e.message();
    }
    return "no error";
}

TEST(ContractErrors, NoStateIsUpdated) {
    auto first = SourceLoc::current().line;
    auto got = error_of(
        [](Input X, Output) {
            Scalar<float> sum = 0;
            for (auto &i : reduce(shape(8), welford)) {
                sum += X[coord(i.index())];
            }
        },
        first);
    EXPECT_EQ(got,
              "+4 CallError: the body of this `reduce` updates no state that its contract merges; "
              "assign a variable of the contract's state type that was declared before the nest");
}

TEST(ContractErrors, FieldsOfTwoShapes) {
    auto first = SourceLoc::current().line;
    auto got = error_of(
        [](Input X, Output) {
            WelfordState<float> stats{zeros<float>(shape(2)), zeros<float>(shape(3)),
                                      zeros<float>(shape(2))};
            for (auto &i : reduce(shape(8), welford)) {
                stats.count += X[coord(i.index())];
            }
        },
        first);
    EXPECT_EQ(
        got, "+5 ShapeError: the fields of a state that a contract merges differ in shape: [2] and "
             "[3]; make the state by full<State>(shape, identity) or scalar(identity)");
}

TEST(ContractErrors, ScalarOfATile) {
    auto first = SourceLoc::current().line;
    auto got = error_of(
        [](Input, Output) {
            auto state = full<WelfordState<float>>(shape(3), welford_identity);
            (void)scalar(state);
        },
        first);
    EXPECT_EQ(got,
              "+4 ShapeError: a field of a scalar state has shape [3], expected a single element");
}

TEST(ContractErrors, AnotherReducerThanTheBody) {
    auto first = SourceLoc::current().line;
    auto got = error_of(
        [](Input X, Output) {
            Scalar<float> sum = 0;
            for (auto &i : reduce(shape(8), maximum)) {
                sum += X[coord(i.index())];
            }
        },
        first);
    EXPECT_EQ(got,
              "+4 CallError: this `reduce` merges by maximum, but its body updates a state by add; "
              "leave the reducer out, or update by it");
}

TEST(ContractErrors, ReducerOfTwoTypes) {
    auto first = SourceLoc::current().line;
    auto got = error_of(
        [](Input X, Output) {
            Scalar<float> a = 0;
            Scalar<int32_t> b = 0;
            for (auto &i : reduce(shape(8), add)) {
                auto x = X[coord(i.index())];
                a = ite(x > 0, a + x, a);
                b = ite(x > 0, b + 1, b);
            }
        },
        first);
    EXPECT_EQ(
        got, "+5 TypeError: this `reduce` merges states of f32 and i32 by one reducer; reduce them "
             "in nests of their own");
}

struct Assigning {
    Scalar<float> *outer;
    Scalar<float> identity() const { return 0; }
    Scalar<float> merge(const Scalar<float> &a, const Scalar<float> &b) const {
        *outer = a;
        return a + b;
    }
};

TEST(ContractErrors, ContractsAssignNothing) {
    auto first = SourceLoc::current().line;
    auto got = error_of(
        [](Input X, Output) {
            Scalar<float> outer = 0, sum = 0;
            for (auto &i : reduce(shape(8), Assigning{&outer})) {
                sum = ite(X[coord(i.index())] > 0, sum + 1, sum);
            }
        },
        first);
    EXPECT_EQ(got,
              "-6 ScopeError: a reduction contract may read outer variables but not assign them");
}

/// Adds what lies in a view, if the sum so far is negative; `what` says by which means.
struct Impure {
    Input X;
    int what;
    Scalar<float> identity() const { return 0; }
    Scalar<float> merge(const Scalar<float> &a, const Scalar<float> &b) const {
        Scalar<float> sum = a + b;
        if (what == 0) {
            if_(sum < 0, [&] { sum = -sum; });
        } else if (what == 1) {
            while_([&] { return sum < 0; }, [&] { sum += 1; });
        } else if (what == 2) {
            sum += X(0).load();
        } else {
            for (auto &i : serial(shape(2))) {
                sum += cast<float>(i.index());
            }
        }
        return sum;
    }
};

TEST(ContractErrors, ContractsComputeWithElements) {
    const char *messages[] = {
        "-22 ScopeError: a reduction contract computes with single elements, and `if` is more "
        "than that; choose by ite",
        "-20 ScopeError: a reduction contract computes with single elements, and `while` is more "
        "than that; choose by ite",
        "-18 ScopeError: a reduction contract may not contain a load; do it outside",
        "-16 ScopeError: a reduction contract may not open a nest"};
    auto first = SourceLoc::current().line;
    for (int what = 0; what < 4; ++what) {
        auto got = error_of(
            [=](Input X, Output) {
                Scalar<float> sum = 0;
                for (auto &i : reduce(shape(8), Impure{X, what})) {
                    sum = ite(X[coord(i.index())] > 0, sum + 1, sum);
                }
            },
            first);
        EXPECT_EQ(got, messages[what]);
    }
}

const std::string no_merge =
    " CallError: this update of a state of a `reduce` tells no merge of partial "
    "results: a tree needs `s = op(s, x)` with one built-in operation; pass a "
    "contract after the domain, or reduction::fold_left";

TEST(ContractErrors, TreesNeedAMerge) {
    auto first = SourceLoc::current().line;
    auto got = error_of(
        [](Input X, Output Y) {
            Scalar<float> s = 0;
            for (auto &i : reduce(shape(8))) {
                s = s * X[coord(i.index())] + 1;
            }
            Y(0).store(s);
        },
        first);
    EXPECT_EQ(got, "+4" + no_merge);
    first = SourceLoc::current().line;
    got = error_of(
        [](Input X, Output Y) {
            auto stats = scalar(WelfordState<float>::identity());
            for (auto &i : reduce(shape(8), reduction::ordered_tree)) {
                stats = welford_push(stats, X[coord(i.index())]);
            }
            Y(0).store(stats.mean);
        },
        first);
    EXPECT_EQ(got, "+4" + no_merge);
}

TEST(ContractErrors, TreesShowNoPartialResults) {
    auto first = SourceLoc::current().line;
    auto got = error_of(
        [](Input X, Output Y) {
            Scalar<float> s = 0;
            for (auto &i : reduce(shape(8))) {
                s += X[coord(i.index())];
                Y(i.index()).store(s);
            }
            Y(0).store(s);
        },
        first);
    EXPECT_EQ(got,
              "+4 CallError: a state of a `reduce` is stored inside its body, but under a tree "
              "contributions have no order; use serial, scan, or reduction::fold_left");
}

/// What tells a merge: several contributions, parts, conditions, inner nests.
TEST(ContractErrors, MergesThatAreSeen) {
    auto first = SourceLoc::current().line;
    auto got = error_of(
        [](Input X, Output Y) {
            Scalar<float> s = 0, m = 1, c = 0;
            auto parts = zeros<float>(shape(4));
            for (auto &i : reduce(shape(8))) {
                auto x = X[coord(i.index())];
                s += x;
                if_(x > 0, [&] { s -= 2 * x; });
                m = ite(x > 0, maximum(m, x), m);
                for (auto &j : i.serial(shape(3))) {
                    c += X[coord(j.index())];
                }
                auto at = coord(i.index() % 4);
                parts = insert(parts, at, parts.at(at) + x);
            }
            Y(0).store(s + m + c);
            Y(coord(0), shape(4)).store(parts);
        },
        first);
    EXPECT_EQ(got, "no error");
}

}// namespace
}// namespace luisa::tile
