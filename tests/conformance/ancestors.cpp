// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Outer values that a `parallel` body updates: once for all instances, or part by part.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

using In = TensorView<const float, 1>;
using Out = TensorView<float, 1>;

float value(const View &v, size_t i) {
    float x = 0;
    std::memcpy(&x, v.bytes.data() + i * sizeof(x), sizeof(x));
    return x;
}

}// namespace

TEST(CollectiveUpdate, happens_once_whatever_the_number_of_instances) {
    for (int64_t n : {0, 1, 2, 37}) {
        auto def = tile_kernel([=](In X, Out Y, Out Z) {
            Scalar<float> total = 1.0f;
            auto k = axis("k", 5);
            for (auto &nest : parallel(shape(n))) {
                auto x = X[coord(0), shape(k)];
                total = total + reduce(exp(x), k, add);
                Z(nest.index()).store(X[coord(nest.index())]);
            }
            Y(0).store(total);
        });
        auto views = run_both(def.capture(tensor_shape(40), tensor_shape(1), tensor_shape(40)),
                              {random_view({40}, 1), output_view({1}), output_view({40})}, {},
                              {.tolerance = 1e-6});
        EXPECT_EQ(value(views[1], 0) == 1.0f, n == 0);
        EXPECT_EQ(value(views[2], 39), -77.0f);
    }
}

TEST(CollectiveUpdate, is_skipped_where_the_launch_has_no_instances) {
    auto def = tile_kernel([](In X, In Steps, Out Y) {
        Scalar<float> total = 1.0f;
        for ([[maybe_unused]] auto &nest : parallel(shape(Steps.extent(0), X.extent(0)))) {
            total = total * 3.0f;
        }
        Y(0).store(total);
    });
    auto kernel = def.capture(tensor_shape(dynamic("n")), tensor_shape(dynamic("m")),
                              tensor_shape(1));
    for (int64_t n : {0, 3}) {
        for (int64_t m : {0, 1}) {
            auto views = run_both(kernel,
                                  {random_view({n}, 1), random_view({m}, 2), output_view({1})});
            EXPECT_EQ(value(views[2], 0), n * m > 0 ? 3.0f : 1.0f);
        }
    }
}

TEST(CollectiveUpdate, reads_other_states_as_they_came_in) {
    auto def = tile_kernel([](In X, Out Y) {
        auto i = axis("i", 6);
        Scalar<float> a = 2.0f, b = 5.0f;
        auto t = X[coord(0), shape(i)];
        for (auto &nest : parallel(shape(6))) {
            auto old = t.at(coord(nest.index()));
            auto before = a;
            a = b + reduce(t, i, maximum);
            b = before * 2.0f;
            t = insert(t, coord(nest.index()), old + before);
        }
        Y(coord(0), shape(i)).store(t);
        Y(6).store(a);
        Y(7).store(b);
    });
    auto views = run_both(def.capture(tensor_shape(6), tensor_shape(8)),
                          {integer_view({6}, 3), output_view({8})});
    EXPECT_EQ(value(views[1], 7), 4.0f);
}

TEST(CollectiveUpdate, sees_what_its_only_instance_stored_before_and_not_after) {
    // Loads before, between and after stores to the same memory.
    for (int64_t n : {0, 1}) {
        auto def = tile_kernel([=](Out M, Out Y) {
            Scalar<float> first = 0.0f, middle = 0.0f, last = 0.0f;
            for (auto &nest : parallel(shape(n))) {
                first = M[coord(0)];
                M(nest.index()).store(10.0f);
                middle = M[coord(0)];
                M(nest.index()).store(20.0f);
                last = M[coord(0)];
            }
            Y(0).store(first);
            Y(1).store(middle);
            Y(2).store(last);
        });
        auto views = run_both(def.capture(tensor_shape(1), tensor_shape(3)),
                              {dense<float>({1}, {7.0f}), output_view({3})});
        EXPECT_EQ(value(views[1], 0), n ? 7.0f : 0.0f);
        EXPECT_EQ(value(views[1], 1), n ? 10.0f : 0.0f);
        EXPECT_EQ(value(views[1], 2), n ? 20.0f : 0.0f);
    }
}

TEST(CollectiveUpdate, leaves_loops_that_also_store_one_state_lighter) {
    auto def = tile_kernel([](In X, Out Y, Out Z) {
        Scalar<float> total = 0.0f;
        for (auto &nest : parallel(shape(4))) {
            Scalar<float> own = 0.0f;
            for (auto &step : nest.serial(shape(5))) {
                auto x = X[coord(step.index())];
                total = total + x;
                own = own + x * cast<float>(nest.index());
                Z(nest.index() * 5 + step.index()).store(own);
            }
        }
        Y(0).store(total);
    });
    run_both(def.capture(tensor_shape(5), tensor_shape(1), tensor_shape(20)),
             {integer_view({5}, 3), output_view({1}), output_view({20})});
}

TEST(CollectiveUpdate, passes_through_nested_nests_branches_and_loops) {
    auto def = tile_kernel([](In X, Out Y) {
        auto k = axis("k", 4);
        auto t = zeros<float>(shape(k));
        Scalar<int64_t> count = int64_t{0};
        for (auto &outer : parallel(shape(3))) {
            for ([[maybe_unused]] auto &inner : outer.parallel(shape(2))) {
                for (auto &step : serial(range(0, 12, 4))) {
                    t = t + X[coord(step.index()), shape(k)];
                }
                if_(
                    X[coord(0)] > 0.0f, [&] { count = count + int64_t{1}; },
                    [&] { count = count - int64_t{1}; });
                while_([&] { return count < int64_t{9}; }, [&] { count = count + int64_t{3}; });
            }
        }
        Y(coord(0), shape(k)).store(t + cast<float>(count));
    });
    run_both(def.capture(tensor_shape(12), tensor_shape(4)),
             {integer_view({12}, 3), output_view({4})});
}

TEST(PartialUpdate, happens_under_branches_and_in_loops) {
    auto def = tile_kernel([](In X, TensorView<float, 2> Y) {
        auto i = axis("i", 6), j = axis("j", 5);
        auto y = full<float>(shape(i, j), 1.0f);
        for (auto &nest : parallel(shape(6))) {
            auto at = nest.index();
            for (auto &step : nest.serial(shape(5))) {
                if_(
                    X[coord(at + step.index())] > 0.0f,
                    [&] { y = insert(y, coord(at, step.index()), X[coord(at)] * 2.0f); },
                    [&] {
                        if_(X[coord(step.index())] > 1.0f,
                            [&] { y = insert(y, coord(at, step.index()), X[coord(at)] - 9.0f); });
                    });
            }
            y = insert(y, coord(at, 0), 50.0f);
            Scalar<int64_t> k = int64_t{3};
            while_([&] { return k < int64_t{5}; },
                   [&] {
                       y = insert(y, coord(at, k), cast<float>(k) + X[coord(at)]);
                       k = k + int64_t{1};
                   });
        }
        Y(coord(0, 0), shape(i, j)).store(y);
    });
    run_both(def.capture(tensor_shape(12), tensor_shape(6, 5)),
             {integer_view({12}, 3), output_view({6, 5})});
}

TEST(PartialUpdate, of_whole_rows_reads_the_incoming_tile) {
    auto def = tile_kernel([](In X, TensorView<float, 2> Y) {
        auto i = axis("i", 6), j = axis("j", 18);
        auto y = Y[coord(0, 0), shape(i, j)];
        for (auto &nest : parallel(shape(3))) {
            for (auto &step : nest.serial(range(0, 2))) {
                auto row = nest.index() * 2 + step.index();
                for (auto &inner : step.parallel(shape(18))) {
                    auto x = X[coord(inner.index())] + cast<float>(row);
                    y = insert(y, coord(row, inner.index()), x);
                }
            }
        }
        Y(coord(0, 0), shape(i, j)).store(y * 2.0f);
    });
    run_both(def.capture(tensor_shape(18), tensor_shape(6, 18)),
             {integer_view({18}, 3), random_view({6, 18}, 4)});
}

TEST(PartialUpdate, under_a_branch_is_seen_by_the_instance_that_reads_again) {
    auto def = tile_kernel([](In X, Out Y) {
        auto i = axis("i", 6);
        auto y = full<float>(shape(i), 1.0f);
        for (auto &nest : parallel(shape(6))) {
            if_(X[coord(nest.index())] > 0.0f, [&] { y = insert(y, coord(nest.index()), 3.0f); });
            Y(nest.index() + 6).store(reduce(y, i, add));
        }
        Y(coord(0), shape(i)).store(y);
    });
    auto out = run_both(def.capture(tensor_shape(6), tensor_shape(12)),
                        {dense<float>({6}, {1, -1, 2, -2, 0, 3}), output_view({12})});
    const double expected[] = {3, 1, 3, 1, 1, 3, 8, 6, 8, 6, 6, 8};
    for (int64_t at = 0; at < 12; ++at) {
        EXPECT_EQ(element_value(out[1], at), expected[at]) << at;
    }
}
