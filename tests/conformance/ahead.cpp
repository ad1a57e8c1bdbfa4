// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// What a pass over a tile asks for because a later pass, or the next instance, will use it.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

size_t count_of(const std::string &text, const std::string &what) {
    size_t count = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        ++count;
    }
    return count;
}

Kernel softmax_rows(int64_t rows, int64_t columns) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto c = axis("col", X.extent(1));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto x = X[coord(nest.index(), 0), shape(1, c)];
            auto e = exp(x - reduce(x, c, maximum));
            Y(coord(nest.index(), 0), shape(1, c)).store(e / reduce(e, c, add));
        }
    });
    return def.capture(tensor_shape(rows, columns), tensor_shape(rows, columns));
}

/// Each row twice a sum, at rows that `row_of` gives.
template<class F> Kernel centred_rows(int64_t rows, int64_t columns, F row_of) {
    auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<const int64_t, 1> order,
                               TensorView<float, 2> Y) {
        auto c = axis("col", columns);
        for (auto &nest : parallel(shape(rows))) {
            auto at = [&](auto &view) {
                return view(coord(row_of(order, nest.index()), 0), shape(1, c));
            };
            auto x = at(X).load();
            Y(coord(nest.index(), 0), shape(1, c)).store(x - reduce(x, c, add));
        }
    });
    return def.capture(tensor_shape(rows, columns), tensor_shape(rows),
                       tensor_shape(rows, columns));
}

std::string plan_of(const Kernel &kernel) {
    target::CpuFacts facts;
    return compiler::forms_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, facts}, false,
                               false)
        .plan;
}

}// namespace

TEST(Ahead, the_costly_pass_asks_for_the_next_row_and_for_what_is_stored) {
    auto plan = plan_of(softmax_rows(512, 1000));
    auto costly = plan.find("keep exp"), last = plan.find("store @", costly);
    EXPECT_EQ(count_of(plan, "ask for"), 2u) << plan;
    EXPECT_LT(plan.find("ask for load"), plan.find("1 instance later")) << plan;
    EXPECT_LT(costly, plan.find("ask for load")) << plan;
    EXPECT_LT(plan.find("ask for store"), last) << plan;
}

TEST(Ahead, the_last_pass_asks_where_none_is_costly) {
    auto straight = [](auto &, const auto &row) { return row; };
    auto plan = plan_of(centred_rows(512, 1000, straight));
    EXPECT_EQ(count_of(plan, "ask for"), 1u) << plan;
    EXPECT_LT(plan.find("store @"), plan.find("ask for load")) << plan;
}

TEST(Ahead, rows_of_few_bytes_ask_for_several_instances_later) {
    EXPECT_NE(plan_of(softmax_rows(4096, 256)).find("2 instances later"), std::string::npos);
}

TEST(Ahead, nothing_is_asked_for_that_is_near_or_unknown) {
    EXPECT_EQ(count_of(plan_of(softmax_rows(7, 5)), "ask for"), 0u);
    EXPECT_EQ(count_of(plan_of(softmax_rows(16, 1000)), "ask for"), 0u) << "all of it stays in L2";
    auto gathered = [](auto &order, const auto &row) { return order[coord(row)]; };
    EXPECT_EQ(count_of(plan_of(centred_rows(512, 1000, gathered)), "ask for"), 0u)
        << "the next row's place is in memory";
    auto same = [](auto &, const auto &) { return 0; };
    EXPECT_EQ(count_of(plan_of(centred_rows(512, 1000, same)), "ask for"), 0u)
        << "each instance reads the same row";
}

TEST(Ahead, asking_changes_no_result) {
    auto reversed = [](auto &, const auto &row) { return 599 - row; };
    run_both(centred_rows(600, 130, reversed),
             {integer_view({600, 130}, 1), dense<int64_t>({600}, {0}), output_view({600, 130})});
    run_both(softmax_rows(300, 261), {random_view({300, 261}, 2), output_view({300, 261})}, {},
             {.tolerance = 1e-6});
}
