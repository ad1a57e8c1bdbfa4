// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// What the language says of nests, where no other file checks it.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {}// namespace

TEST(FourNests, a_body_is_captured_once_whatever_the_extent) {
    int runs = 0;
    auto *count = &runs;
    auto def = tile_kernel([=](TensorView<float, 1> Y) {
        for (auto &a : parallel(shape(5))) {
            for (auto &b : a.serial(shape(7))) {
                for (auto &c : b.pipeline(shape(0))) {
                    for (auto &d : c.reduce(shape(3))) {
                        ++*count;
                        Y(a.index() + d.index()).store(1.0f);
                    }
                }
            }
        }
    });
    auto kernel = def.capture(tensor_shape(8));
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(at(run_both(kernel, {output_view({8})})[0], 0), -77);
}
TEST(FourNests, coordinates_are_named_by_number_axis_or_whole_path) {
    auto def = tile_kernel([](TensorView<int64_t, 3> Y) {
        auto a = axis("a", 3), b = axis("b", 4);
        for (auto &outer : parallel(shape(2))) {
            for (auto &inner : outer.parallel(shape(a, b))) {
                Y(inner.coord()).store(outer.index() * 100 + inner.index(a) * 10 + inner.index(1));
            }
        }
    });
    auto out = run_both(def.capture(tensor_shape(2, 3, 4)),
                        {dense<int64_t>({2, 3, 4}, std::vector<int64_t>{-1})});
    for (int64_t e = 0; e < 24; ++e) {
        EXPECT_EQ(at(out[0], e), static_cast<double>(e / 12 * 100 + e / 4 % 3 * 10 + e % 4));
    }
}
TEST(FourNests, loops_extend_no_owner_path) {
    // An ancestor's tile is updated at its own anchor, whatever loops stand between.
    auto def = tile_kernel([](TensorView<float, 1> Y, Scalar<int64_t> trips) {
        auto m = axis("m", 6);
        for (auto &nest : parallel(shape(2))) {
            auto y = zeros<float>(shape(m));
            for (auto &step : nest.serial(range(0, trips))) {
                for (auto &child : step.parallel(shape(m))) {
                    y = insert(y, child, y.at(child) + cast<float>(child.index() + step.index()));
                }
            }
            Y(coord(nest.index() * 6), shape(m)).store(y);
        }
    });
    auto kernel = def.capture(tensor_shape(12));
    for (int64_t n : {0, 1, 4}) {
        auto out = run_both(kernel, {output_view({12})}, {bits_of(n)});
        for (int64_t e = 0; e < 12; ++e) {
            EXPECT_EQ(at(out[0], e), static_cast<double>(n * (e % 6) + n * (n - 1) / 2));
        }
    }
}
TEST(FourNests, stages_and_policies_of_a_pipeline_give_the_bits_of_a_serial_loop) {
    auto run = [](bool staged, PipelinePolicy policy) {
        auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
            Scalar<float> carried = 0.1f;
            if (!staged) {
                for (auto &s : serial(range(0, X.extent(0)))) {
                    auto x = X(s.index()).load();
                    carried = carried * 0.7f + x;
                    Y(s.index()).store(carried);
                }
                return;
            }
            for (auto &p : pipeline(range(0, X.extent(0)), policy)) {
                p.stage("load");
                auto x = X(p.index()).load();
                p.stage("compute");
                carried = carried * 0.7f + x;
                p.stage("store");
                Y(p.index()).store(carried);
            }
        });
        return run_both(def.capture(tensor_shape(50), tensor_shape(50)),
                        {random_view({50}, 9), output_view({50})})[1];
    };
    auto expected = run(false, {});
    for (auto policy : {PipelinePolicy{}, PipelinePolicy{.max_in_flight = 2},
                        PipelinePolicy{.max_in_flight = 5, .initiation_interval = 2}}) {
        EXPECT_EQ(run(true, policy).bytes, expected.bytes);
    }
}
TEST(FourNests, inserts_outside_or_of_nothing_change_nothing) {
    auto def = tile_kernel([](TensorView<float, 1> Y, Scalar<int64_t> n) {
        auto m = axis("m", 5);
        for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
            auto y = full<float>(shape(m), 4.0f);
            auto before = y;
            for (auto &child : nest.parallel(range(0, n))) {
                y = insert(y, coord(child.index() * 2), cast<float>(child.index()));
            }
            Y(coord(0), shape(m)).store(y + before * 10.0f);
        }
    });
    auto kernel = def.capture(tensor_shape(5));
    for (int64_t n : {0, 2, 9}) {
        auto out = run_both(kernel, {output_view({5})}, {bits_of(n)});
        for (int64_t e = 0; e < 5; ++e) {
            auto written = e % 2 == 0 && e / 2 < n;
            EXPECT_EQ(at(out[0], e), 40 + (written ? static_cast<double>(e / 2) : 4.0)) << n;
        }
    }
}
TEST(FourNests, zero_trips_keep_every_kind_of_outer_value) {
    auto def = tile_kernel([](TensorView<float, 1> Y, Scalar<int64_t> n) {
        auto m = axis("m", 4);
        auto t = full<float>(shape(m), 2.0f);
        Scalar<float> a = 1.0f, b = 3.0f, c = 5.0f;
        for (auto &s : serial(range(0, n))) {
            t = t * cast<float>(s.index()), a = a + 1.0f;
        }
        for ([[maybe_unused]] auto &p : pipeline(range(5, n))) {
            t = t + 1.0f, b = 0.0f;
        }
        for ([[maybe_unused]] auto &r : reduce(range(0, n))) {
            c += 1.0f;
        }
        for ([[maybe_unused]] auto &i : parallel(range(0, n))) {
            t = full<float>(shape(m), -1.0f);
        }
        while_([&] { return n > 0; }, [&] { a = 9.0f, n = n - 1; });
        Y(coord(0), shape(m)).store(t);
        Y(4).store(a * 100.0f + b * 10.0f + c);
    });
    auto out = run_both(def.capture(tensor_shape(5)), {output_view({5})}, {bits_of(int64_t{0})});
    EXPECT_EQ(at(out[0], 0), 2);
    EXPECT_EQ(at(out[0], 4), 135);
}
TEST(FourNests, branches_and_loops_by_data_stand_around_root_nests) {
    // Each sweep reads what others of the sweep before wrote, so the loop is a sequence of whole sweeps.
    auto def = tile_kernel(
        [](TensorView<int64_t, 1> A, TensorView<int64_t, 1> B, Scalar<int64_t> limit) {
            Scalar<int64_t> sweeps = 0, front = A(0).load();
            while_([&] { return front < limit; },
                   [&] {
                       for (auto &nest : parallel(shape(9))) {
                           auto p = nest.index();
                           B(p).store(A((p + 1) % 9).load() + 1);
                       }
                       for (auto &nest : parallel(shape(9))) {
                           A(nest.index()).store(B(nest.index()).load());
                       }
                       sweeps += 1;
                       front = A(0).load();
                   });
            if_(
                sweeps > 1,
                [&] {
                    for (auto &nest : parallel(shape(9))) {
                        B(nest.index()).store(A(8 - nest.index()).load() * 100);
                    }
                },
                [&] { B(0).store(-5); });
            B(9).store(sweeps);
        });
    auto kernel = def.capture(tensor_shape(9), tensor_shape(10));
    for (int64_t limit : {0, 1, 4, 30}) {
        std::vector<int64_t> a{0, 4, 1, 3, 0, 2, 9, 5, 7};
        auto out = run_both(kernel, {dense<int64_t>({9}, a), output_view<int64_t>({10})},
                            {bits_of(limit)});
        int64_t sweeps = 0;
        while (a[0] < limit) {
            auto b = a;
            for (size_t p = 0; p < 9; ++p) {
                b[p] = a[(p + 1) % 9] + 1;
            }
            a = b;
            ++sweeps;
        }
        EXPECT_EQ(at(out[1], 9), static_cast<double>(sweeps));
        for (int64_t p = 0; p < 9; ++p) {
            auto e = static_cast<size_t>(p);
            EXPECT_EQ(at(out[0], p), static_cast<double>(a[e])) << limit;
            if (sweeps > 1) {
                EXPECT_EQ(at(out[1], p), static_cast<double>(100 * a[8 - e])) << limit;
            }
        }
        if (sweeps <= 1) {
            EXPECT_EQ(at(out[1], 0), -5);
        }
    }
}
