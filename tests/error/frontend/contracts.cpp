// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/contracts.h>

#include <luisa/tile/kernel.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace luisa::tile {
namespace {

/// What a capture of `f` fails with, and the line that it is at relative to `first`.
std::string error_of(const std::function<void(TensorView<const float, 1>)> &f, uint32_t first) {
    try {
        (void)tile_kernel([=](TensorView<const float, 1> x) { f(x); }).capture(tensor_shape(8));
    } catch (const Error &e) {
        auto line = static_cast<int>(e.location().line) - static_cast<int>(first);
        return (line < 0 ? "" : "+") + std::to_string(line) + " " + to_string(e.kind()) + ": " +
               e.message();
    }
    return "no error";
}

TEST(ContractErrors, NoStateIsUpdated) {
    auto first = SourceLoc::current().line;
    EXPECT_EQ(error_of(
                  [](TensorView<const float, 1> X) {
                      Scalar<float> sum = 0;
                      for (auto &i : reduce(shape(8), welford)) {
                          sum += X[coord(i.index())];
                      }
                  },
                  first),
              "+5 CallError: the body of this `reduce` updates no state that its contract merges; "
              "assign a variable of the contract's state type that was declared before the nest");
}

TEST(ContractErrors, FieldsOfTwoShapes) {
    auto first = SourceLoc::current().line;
    EXPECT_EQ(error_of(
                  [](TensorView<const float, 1> X) {
                      WelfordState<float> stats{zeros<float>(shape(2)), zeros<float>(shape(3)),
                                                zeros<float>(shape(2))};
                      for (auto &i : reduce(shape(8), welford)) {
                          stats.count += X[coord(i.index())];
                      }
                  },
                  first),
              "+6 ShapeError: the fields of a state that a contract merges differ in shape: (2) and "
              "(3); make the state by full<State>(shape, identity) or scalar(identity)");
}

TEST(ContractErrors, ScalarOfATile) {
    auto first = SourceLoc::current().line;
    EXPECT_EQ(error_of(
                  [](TensorView<const float, 1>) {
                      auto state = full<WelfordState<float>>(shape(3), welford_identity);
                      (void)scalar(state);
                  },
                  first),
              "+4 ShapeError: a field of a scalar state has shape (3), expected a single element");
}

TEST(ContractErrors, AnotherReducerThanTheBody) {
    auto first = SourceLoc::current().line;
    EXPECT_EQ(error_of(
                  [](TensorView<const float, 1> X) {
                      Scalar<float> sum = 0;
                      for (auto &i : reduce(shape(8), maximum)) {
                          sum += X[coord(i.index())];
                      }
                  },
                  first),
              "+5 CallError: this `reduce` merges by maximum, but its body updates a state by add; "
              "leave the reducer out, or update by it");
}

TEST(ContractErrors, ReducerOfTwoTypes) {
    auto first = SourceLoc::current().line;
    EXPECT_EQ(error_of(
                  [](TensorView<const float, 1> X) {
                      Scalar<float> a = 0;
                      Scalar<int32_t> b = 0;
                      for (auto &i : reduce(shape(8), add)) {
                          auto x = X[coord(i.index())];
                          a = ite(x > 0, a + x, a);
                          b = ite(x > 0, b + 1, b);
                      }
                  },
                  first),
              "+6 TypeError: this `reduce` merges states of f32 and i32 by one reducer; reduce them "
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
    EXPECT_EQ(error_of(
                  [](TensorView<const float, 1> X) {
                      Scalar<float> outer = 0, sum = 0;
                      for (auto &i : reduce(shape(8), Assigning{&outer})) {
                          sum = ite(X[coord(i.index())] > 0, sum + 1, sum);
                      }
                  },
                  first),
              "-7 ScopeError: a reduction contract may read outer variables but not assign them");
}

struct Wide {
    Scalar<float> identity() const { return 0; }
    Tile<float> merge(const Scalar<float> &, const Scalar<float> &) const {
        return zeros<float>(shape(4));
    }
};

}// namespace
}// namespace luisa::tile
