// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// One compiled kernel serves all lengths: every nest takes extents that only the launch knows. And effects
// through views keep their order, whatever the views' strides.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// A kernel that is compiled once and run for launch after launch on both back ends.
class Compiled {
public:
    explicit Compiled(Kernel kernel)
        : _kernel{std::move(kernel)}, _code{compiler::compile_cpu(
                                          *module_of(_kernel), {emit::host_cpu(), 1, false, {}})} {}
    std::vector<View> run(std::vector<View> views) const {
        const auto &module = *module_of(_kernel);
        auto reference = views;
        interpreter::run(module, arguments_of(module, reference, {}));
        run_cpu(*_code, arguments_of(module, views, {}));
        for (size_t i = 0; i < views.size(); ++i) {
            EXPECT_TRUE(same(reference[i], views[i], 0, i)) << _kernel.ir_text() << _code->plan;
        }
        return reference;
    }

private:
    Kernel _kernel;
    std::shared_ptr<const compiler::CpuKernel> _code;
};

constexpr int64_t lengths[] = {0, 1, 2, 7, 16, 33, 100};

TEST(RuntimeExtents, every_nest_takes_them_as_a_shape) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto j = axis("j", 16);
        for (auto &row : parallel(shape(X.extent(0)))) {
            auto serial_sum = zeros<float>(shape(j)), staged = zeros<float>(shape(j)),
                 reduced = zeros<float>(shape(j)), inner = zeros<float>(shape(j));
            auto blocks = ceil_div(X.extent(1), 16);
            auto load = [&](auto &step) {
                return X[coord(row.index(), step.index() * 16), shape(1, j)];
            };
            for (auto &step : row.serial(shape(blocks))) {
                serial_sum = serial_sum * 0.5f + load(step);
            }
            for (auto &step : row.pipeline(shape(blocks))) {
                step.stage("load");
                auto x = load(step);
                step.stage("sum");
                staged = staged * 0.5f + x;
            }
            for (auto &step : row.reduce(shape(blocks), reduction::fold_left)) {
                reduced = maximum(reduced, load(step));
            }
            for (auto &step : row.parallel(shape(blocks))) {
                Y(coord(row.index(), step.index() * 16), shape(1, j)).store(load(step) * 2.0f);
            }
            auto place = X.extent(1);
            Y(coord(row.index(), place), shape(1, j)).store(serial_sum);
            Y(coord(row.index(), place + 16), shape(1, j)).store(staged);
            Y(coord(row.index(), place + 32), shape(1, j)).store(reduced);
        }
    });
    Compiled kernel{def.capture(tensor_shape(dynamic("m"), dynamic("n")),
                                tensor_shape(dynamic("m"), dynamic("w")))};
    for (auto w : lengths) {
        for (int64_t m : {0, 1, 3}) {
            auto out = kernel.run({integer_view({m, w}, 1), output_view({m, w + 48})});
            for (int64_t r = 0; r < m; ++r) {
                for (int64_t k = 0; k < w; ++k) {
                    ASSERT_EQ(at(out[1], r * (w + 48) + k), 2 * at(out[0], r * w + k));
                }
                for (int64_t k = 0; k < 16; ++k) {
                    float sum = 0, most = 0;
                    for (int64_t b = 0; b < (w + 15) / 16; ++b) {
                        auto x = b * 16 + k < w ? static_cast<float>(at(out[0], r * w + b * 16 + k))
                                                : 0;
                        sum = sum * 0.5f + x;
                        most = std::max(most, x);
                    }
                    auto *row = &out[1];
                    ASSERT_EQ(at(*row, r * (w + 48) + w + k), sum);
                    ASSERT_EQ(at(*row, r * (w + 48) + w + 16 + k), sum);
                    ASSERT_EQ(at(*row, r * (w + 48) + w + 32 + k), most);
                }
            }
        }
    }
}

TEST(RuntimeExtents, every_nest_takes_them_as_a_range) {
    auto def = tile_kernel(
        [](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y, TensorView<int32_t, 1> Z) {
            Scalar<int32_t> a = 0, b = 0, c = 0;
            auto n = X.extent(0);
            for (auto &i : serial(range(n - 1, -1, -2))) {
                a = a * 3 + X(i.index()).load();
            }
            for (auto &i : pipeline(range(0, n, 3))) {
                b = b * 3 + X(i.index()).load();
            }
            for (auto &i : reduce(range(n / 2, n), reduction::fold_right)) {
                c += X(i.index()).load();
            }
            Z(0).store(a);
            Z(1).store(b);
            Z(2).store(c);
            for (auto &i : parallel(range(0, n, 2))) {
                Y(i.index()).store(X(i.index()).load());
            }
        });
    Compiled kernel{
        def.capture(tensor_shape(dynamic("n")), tensor_shape(dynamic("n")), tensor_shape(3))};
    for (auto n : lengths) {
        auto out = kernel.run(
            {integer_view<int32_t>({n}, 1), output_view<int32_t>({n}), output_view<int32_t>({3})});
        auto x = [&](int64_t i) { return static_cast<uint32_t>(static_cast<int>(at(out[0], i))); };
        uint32_t a = 0, b = 0, c = 0;
        for (auto i = n - 1; i > -1; i -= 2) {
            a = a * 3 + x(i);
        }
        for (int64_t i = 0; i < n; i += 3) {
            b = b * 3 + x(i);
        }
        for (auto i = n / 2; i < n; ++i) {
            c += x(i);
        }
        EXPECT_EQ(element_value(out[2], 0), static_cast<double>(static_cast<int32_t>(a)));
        EXPECT_EQ(element_value(out[2], 1), static_cast<double>(static_cast<int32_t>(b)));
        EXPECT_EQ(element_value(out[2], 2), static_cast<double>(static_cast<int32_t>(c)));
        for (int64_t i = 0; i < n; ++i) {
            EXPECT_EQ(at(out[1], i), i % 2 ? -77.0f : at(out[0], i));
        }
    }
}

TEST(RuntimeExtents, mapped_views_and_memory_under_them) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto q = axis("q", 16), w = axis("w", 4);
        for (auto &nest : parallel(shape(ceil_div(Y.extent(0), 16)))) {
            auto q0 = nest.index() * 16;
            auto m = memory<float>(shape(q, w));
            m.store(
                X.view(shape(q, w), [=](auto i, auto k) { return coord(q0 + i + k * 2); }).load());
            auto sum = zeros<float>(shape(q));
            for (auto &k : nest.serial(shape(4))) {
                sum += m(coord(0, k.index()), shape(q, 1)).load();
            }
            Y.view(shape(q), [=](auto i) { return coord(Y.extent(0) - 1 - (q0 + i)); }).store(sum);
        }
    });
    Compiled kernel{def.capture(tensor_shape(dynamic("n")), tensor_shape(dynamic("m")))};
    for (auto n : lengths) {
        auto m = std::max<int64_t>(n - 6, 0);
        auto out = kernel.run({integer_view({n}, 1), output_view({m})});
        for (int64_t i = 0; i < m; ++i) {
            auto x = at(out[0], i) + at(out[0], i + 2) + at(out[0], i + 4) + at(out[0], i + 6);
            ASSERT_EQ(at(out[1], m - 1 - i), x);
        }
    }
}

// Effects through views.

TEST(Effects, what_an_instance_stored_it_loads_under_another_shape) {
    auto kernel = tile_kernel([](TensorView<float, 2> A, TensorView<float, 1> Y) {
                      auto i = axis("i", 6), j = axis("j", 8), a = axis("a", 2), b = axis("b", 3);
                      A(coord(0, 0), shape(i, j)).store(full<float>(shape(i, j), 3.0f));
                      A(coord(2, 1), shape(a, b)).store(full<float>(shape(a, b), 5.0f));
                      auto all = A.view(shape(48), [](auto q) { return coord(q / 8, q % 8); });
                      Y(coord(0), shape(48)).store(all.load());
                  }).capture(tensor_shape(6, 8), tensor_shape(48));
    auto out = run_both(kernel, {output_view({6, 8}), output_view({48})});
    for (int64_t q = 0; q < 48; ++q) {
        bool patch = q / 8 >= 2 && q / 8 < 4 && q % 8 >= 1 && q % 8 < 4;
        EXPECT_EQ(at(out[1], q), patch ? 5.0f : 3.0f);
    }
}

TEST(Effects, a_pipeline_reads_through_a_view_what_the_iteration_before_stored) {
    auto def = tile_kernel([](TensorView<float, 2> A) {
        auto j = axis("j", 20);
        for (auto &step : pipeline(range(1, A.extent(0)), {.max_in_flight = 3})) {
            step.stage("load");
            auto before =
                A.view(shape(j), [&](auto k) { return coord(step.index() - 1, 19 - k); }).load();
            step.stage("store");
            A(coord(step.index(), 0), shape(1, j)).store(before + 1.0f);
        }
    });
    Compiled kernel{def.capture(tensor_shape(dynamic("n"), 20))};
    for (auto n : lengths) {
        auto out = kernel.run({integer_view({n, 20}, 3)});
        for (int64_t i = 1; i < n; ++i) {
            for (int64_t k = 0; k < 20; ++k) {
                ASSERT_EQ(at(out[0], i * 20 + k), at(out[0], (i - 1) * 20 + 19 - k) + 1);
            }
        }
    }
}

TEST(Effects, a_mapped_load_is_a_snapshot) {
    for (bool alias : {false, true}) {
        auto def = tile_kernel([](TensorView<float, 1> A, TensorView<float, 1> Y) {
            auto q = axis("q", 40);
            auto x = A.view(shape(q), [](auto i) { return coord(39 - i); }).load();
            A(coord(0), shape(q)).store(x * 2.0f);
            Y(coord(0), shape(q)).store(x);
        });
        BothOptions options;
        options.may_alias = alias;
        auto out = run_both(def.capture(tensor_shape(40), tensor_shape(40)),
                            {integer_view({40}, 3), output_view({40})}, {}, options);
        for (int64_t i = 0; i < 40; ++i) {
            EXPECT_EQ(at(out[0], i), 2 * at(out[1], i));
            EXPECT_EQ(at(out[1], i), at(integer_view({40}, 3), 39 - i));
        }
    }
}

TEST(Effects, each_instance_updates_its_own_place_through_a_map) {
    auto def = tile_kernel([](TensorView<float, 2> A) {
        auto q = axis("q", 16);
        for (auto &nest : parallel(shape(ceil_div(A.extent(1), 16), A.extent(0)))) {
            auto q0 = nest.index(0) * 16;
            auto column = A.view(shape(q), [&](auto i) { return coord(nest.index(1), q0 + i); });
            column.store(column.load() * 3.0f + 1.0f);
        }
    });
    Compiled kernel{def.capture(tensor_shape(dynamic("m"), dynamic("n")))};
    for (auto n : lengths) {
        auto before = integer_view({3, n}, 3);
        auto out = kernel.run({before});
        for (int64_t i = 0; i < 3 * n; ++i) {
            ASSERT_EQ(at(out[0], i), at(before, i) * 3 + 1);
        }
    }
}

}// namespace
