// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <numeric>

// A.view(space, f): elements of a view where a lambda says.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

struct Window {
    int64_t n, window, step, dilation;
};
class Windows : public ::testing::TestWithParam<Window> {};

TEST_P(Windows, are_loaded_element_by_element) {
    auto p = GetParam();
    int64_t count = (p.n + p.step - 1) / p.step;
    auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 2> Y) {
        auto q = axis("q", count), w = axis("w", p.window);
        auto windows = X.view(shape(q, w), [=](auto i, auto k) {
            return coord(i * p.step + k * p.dilation - p.window / 2);
        });
        Y(coord(0, 0), shape(q, w)).store(windows.load());
    });
    auto out = run_both(def.capture(tensor_shape(p.n), tensor_shape(count, p.window)),
                        {counting({p.n}), output_view({count, p.window})});
    for (int64_t i = 0; i < count; ++i) {
        for (int64_t k = 0; k < p.window; ++k) {
            auto x = i * p.step + k * p.dilation - p.window / 2;
            ASSERT_EQ(at(out[1], i * p.window + k),
                      x >= 0 && x < p.n ? static_cast<float>(x + 1) : 0.0f)
                << i << " " << k;
        }
    }
}
INSTANTIATE_TEST_SUITE_P(MappedViews, Windows,
                         ::testing::Values(Window{100, 5, 1, 1}, Window{100, 5, 2, 1},
                                           Window{37, 3, 1, 4}, Window{1, 3, 1, 1},
                                           Window{16, 1, 1, 1}, Window{500, 33, 1, 1},
                                           Window{7, 4, 3, 2}, Window{0, 3, 1, 1}));

TEST(MappedViews, a_dilated_window_sums_as_a_convolution) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<const float, 2> K,
                              TensorView<float, 2> Y) {
        auto r = axis("r", 8), c = axis("c", 24), u = axis("u", 3), v = axis("v", 3);
        for (auto &nest : parallel(shape(ceil_div(Y.extent(0), 8), ceil_div(Y.extent(1), 24)))) {
            auto r0 = nest.index(0) * 8, c0 = nest.index(1) * 24;
            auto x = X.view(shape(r, c, u, v), [=](auto i, auto j, auto a, auto b) {
                          return coord(r0 + i + a * 2, c0 + j + b * 2);
                      }).load();
            auto w = K[coord(0, 0), shape(u, v)];
            auto y = reduce(reduce(x * w, v, add, reduction::fold_left), u, add,
                            reduction::fold_left);
            Y(coord(r0, c0), shape(r, c)).store(y);
        }
    });
    auto out = run_both(
        def.capture(tensor_shape(23, 57), tensor_shape(3, 3), tensor_shape(19, 53)),
        {integer_view({23, 57}, 1), integer_view({3, 3}, 2), output_view({19, 53})});
    for (int64_t i = 0; i < 19; ++i) {
        for (int64_t j = 0; j < 53; ++j) {
            float sum = 0;
            for (int64_t a = 0; a < 3; ++a) {
                for (int64_t b = 0; b < 3; ++b) {
                    sum += at(out[0], (i + 2 * a) * 57 + j + 2 * b) * at(out[1], a * 3 + b);
                }
            }
            ASSERT_EQ(at(out[2], i * 53 + j), sum) << i << " " << j;
        }
    }
}

TEST(MappedViews, a_diagonal_is_read_and_written) {
    for (int64_t n : {0, 1, 2, 15, 16, 33}) {
        auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<float, 2> B) {
            auto q = axis("q", n);
            auto diagonal = A.view(shape(q), [](auto i) { return coord(i, i); });
            B.view(shape(q), [=](auto i) { return coord(n - 1 - i, i); }).store(diagonal.load());
        });
        auto out = run_both(def.capture(tensor_shape(n, n), tensor_shape(n, n)),
                            {counting({n, n}), output_view({n, n})});
        for (int64_t i = 0; i < n; ++i) {
            for (int64_t j = 0; j < n; ++j) {
                ASSERT_EQ(at(out[1], i * n + j),
                          i + j == n - 1 ? static_cast<float>(j * n + j + 1) : -77.0f);
            }
        }
    }
}

// Row and column move against each other along f: all f of one c address the same element, and one of them is inside.
TEST(MappedViews, elements_that_no_coordinate_reaches_stay_though_the_next_one_would) {
    auto def = tile_kernel(
        [](TensorView<const float, 2> A, TensorView<float, 2> B, TensorView<float, 2> C) {
            auto c = axis("c", 7), f = axis("f", 5);
            auto skewed = [](auto i, auto j) { return coord(8 - j, j - i); };
            B.view(shape(c, f), skewed).store(full<float>(shape(c, f), 5.0f));
            C(coord(0, 0), shape(c, f)).store(A.view(shape(c, f), skewed).load(-1.0f));
        });
    auto out = run_both(def.capture(tensor_shape(20, 1), tensor_shape(20, 1), tensor_shape(7, 5)),
                        {counting({20, 1}), output_view({20, 1}), output_view({7, 5})});
    for (int64_t row = 0; row < 20; ++row) {
        EXPECT_EQ(at(out[1], row), row >= 4 && row <= 8 ? 5.0f : -77.0f) << row;
    }
    for (int64_t i = 0; i < 35; ++i) {
        EXPECT_EQ(at(out[2], i), i / 5 == i % 5 ? static_cast<float>(9 - i % 5) : -1.0f) << i;
    }
}

TEST(MappedViews, fallbacks_and_bounds_are_those_of_boxes) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Y, TensorView<float, 1> Z) {
            auto q = axis("q", 20);
            auto shifted = [](auto i) { return coord(i * 2 - 7); };
            Y(coord(0), shape(q)).store(X.view(shape(q), shifted).load(-99.0f));
            Z.view(shape(q), shifted)
                .store(X.view(
                            shape(q), [](auto i) { return coord(i); }, bounds::assume)
                           .load());
        });
    auto out = run_both(def.capture(tensor_shape(20), tensor_shape(20), tensor_shape(20)),
                        {counting({20}), output_view({20}), output_view({20})});
    for (int64_t i = 0; i < 20; ++i) {
        auto x = i * 2 - 7;
        EXPECT_EQ(at(out[1], i), x >= 0 && x < 20 ? static_cast<float>(x + 1) : -99.0f);
        bool written = i % 2 == 1 && (i + 7) / 2 < 20;
        EXPECT_EQ(at(out[2], i), written ? static_cast<float>((i + 7) / 2 + 1) : -77.0f);
    }
}

TEST(MappedViews, maps_that_are_not_affine) {
    auto def = tile_kernel(
        [](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y, Scalar<int64_t> offset) {
            auto q = axis("q", 48);
            auto x = X.view(shape(q), [](auto i) { return coord(i / 4 + (i % 4) * 12); }).load();
            // A permutation of 0…47, moved by what the launch gives.
            Y.view(shape(q), [=](auto i) { return coord((i ^ 5) % 64 + offset); }).store(x);
        });
    std::vector<int32_t> values(48);
    std::iota(values.begin(), values.end(), 100);
    auto out = run_both(def.capture(tensor_shape(48), tensor_shape(60)),
                        {dense<int32_t>({48}, values), output_view<int32_t>({60})},
                        {bits_of(int64_t{3})});
    for (int64_t i = 0; i < 48; ++i) {
        EXPECT_EQ(at(out[1], (i ^ 5) + 3), static_cast<float>(100 + i / 4 + (i % 4) * 12));
    }
}

TEST(MappedViews, a_table_gives_the_places) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<const int64_t, 1> I,
                              TensorView<float, 2> Y) {
        auto r = axis("r", 12), c = axis("c", 20);
        auto rows = I[coord(0), shape(r)];
        auto x = X.view(shape(r, c), [&](auto i, auto j) { return coord(rows.at(coord(i)), j); });
        Y(coord(0, 0), shape(r, c)).store(x.load());
    });
    std::vector<int64_t> rows{3, 0, 3, 7, -1, 8, 1, 1000, 2, 5, 6, 4};
    auto out = run_both(def.capture(tensor_shape(8, 20), tensor_shape(12), tensor_shape(12, 20)),
                        {counting({8, 20}), dense<int64_t>({12}, rows), output_view({12, 20})});
    for (int64_t i = 0; i < 12; ++i) {
        for (int64_t j = 0; j < 20; ++j) {
            auto row = rows[static_cast<size_t>(i)];
            EXPECT_EQ(at(out[2], i * 20 + j),
                      row >= 0 && row < 8 ? static_cast<float>(row * 20 + j + 1) : 0.0f);
        }
    }
}

TEST(MappedViews, the_table_may_change_after_the_load) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<int64_t, 1> I, TensorView<float, 1> Y) {
            auto q = axis("q", 16);
            auto places = I[coord(0), shape(q)];
            auto x = X.view(shape(q), [&](auto i) { return coord(places.at(coord(i))); }).load();
            I(coord(0), shape(q)).store(zeros<int64_t>(shape(q)));
            Y(coord(0), shape(q)).store(x);
        });
    std::vector<int64_t> places(16);
    for (size_t i = 0; i < 16; ++i) {
        places[i] = static_cast<int64_t>(15 - i);
    }
    auto out = run_both(def.capture(tensor_shape(16), tensor_shape(16), tensor_shape(16)),
                        {counting({16}), dense<int64_t>({16}, places), output_view({16})});
    for (int64_t i = 0; i < 16; ++i) {
        EXPECT_EQ(at(out[2], i), static_cast<float>(16 - i));
    }
}

TEST(MappedViews, a_scalar_place_may_change_after_the_load) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<int64_t, 1> I, TensorView<float, 1> Y) {
            auto q = axis("q", 8);
            auto places = I[coord(0), shape(q)];
            Scalar<int64_t> place = places.at(coord(2));
            auto x = X[coord(place), shape(q)];
            I(coord(0), shape(q)).store(zeros<int64_t>(shape(q)));
            Y(coord(0), shape(q)).store(x);
        });
    auto out = run_both(
        def.capture(tensor_shape(16), tensor_shape(8), tensor_shape(8)),
        {counting({16}), dense<int64_t>({8}, {1, 2, 5, 3, 3, 3, 3, 3}), output_view({8})});
    for (int64_t i = 0; i < 8; ++i) {
        EXPECT_EQ(at(out[2], i), static_cast<float>(6 + i));
    }
}

TEST(MappedViews, copy_reads_one_and_writes_another) {
    auto def = tile_kernel([](TensorView<const half, 2> A, TensorView<half, 2> B) {
        auto r = axis("r", 10), c = axis("c", 14);
        copy(A.view(shape(r, c), [](auto i, auto j) { return coord(j, i); }),
             B.view(shape(r, c), [](auto i, auto j) { return coord(9 - i, j); }));
    });
    auto out = run_both(def.capture(tensor_shape(14, 10), tensor_shape(10, 14)),
                        {integer_view<half>({14, 10}, 5), output_view<half>({10, 14})});
    for (int64_t i = 0; i < 10; ++i) {
        for (int64_t j = 0; j < 14; ++j) {
            EXPECT_EQ(at(out[1], (9 - i) * 14 + j), at(out[0], j * 10 + i));
        }
    }
}

TEST(MappedViews, windows_are_operands_of_products) {
    // Convolution as a product over windows: rows are places, columns filters.
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<const float, 2> W,
                              TensorView<float, 2> Y) {
        auto p = axis("p", 32), f = axis("f", 16), k = axis("k", 9);
        for (auto &nest : parallel(shape(ceil_div(Y.extent(0), 32)))) {
            auto p0 = nest.index() * 32;
            auto x = X.view(shape(p, k), [=](auto i, auto j) { return coord(p0 + i + j); }).load();
            auto y = mma(x, W[coord(0, 0), shape(k, f)], zeros<float>(shape(p, f)));
            Y(coord(p0, 0), shape(p, f)).store(y);
        }
    });
    auto out = run_both(def.capture(tensor_shape(100), tensor_shape(9, 16), tensor_shape(92, 16)),
                        {integer_view({100}, 7), integer_view({9, 16}, 8), output_view({92, 16})});
    for (int64_t i = 0; i < 92; ++i) {
        for (int64_t j = 0; j < 16; ++j) {
            float sum = 0;
            for (int64_t k = 0; k < 9; ++k) {
                sum += at(out[0], i + k) * at(out[1], k * 16 + j);
            }
            ASSERT_EQ(at(out[2], i * 16 + j), sum);
        }
    }
}

TEST(MappedViews, strided_reversed_and_repeated_views) {
    auto def = tile_kernel([](TensorView<const float, 2> A, TensorView<float, 1> Y) {
        auto q = axis("q", 12);
        Y(coord(0), shape(q)).store(A.view(shape(q), [](auto i) {
                                         return coord(i % 3, i / 3);
                                     }).load());
    });
    for (auto strides :
         {std::vector<int64_t>{1, 3}, std::vector<int64_t>{-4, -1}, std::vector<int64_t>{0, 2}}) {
        auto a = counting({4, 6});
        a.extents = {3, 4};
        a.strides = strides;
        a.origin = strides[0] < 0 ? 11 : 0;
        auto meta = tensor_shape(3, 4).with_strides(strides);
        auto out = run_both(def.capture(meta, tensor_shape(12)), {a, output_view({12})});
        for (int64_t i = 0; i < 12; ++i) {
            auto from = a.origin + (i % 3) * strides[0] + (i / 3) * strides[1];
            EXPECT_EQ(at(out[1], i), static_cast<float>(from + 1));
        }
    }
}

TEST(MappedViews, affine_maps_are_read_and_written_in_vectors) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto r = axis("r", 4), c = axis("c", 64);
        auto x = X.view(shape(r, c), [](auto i, auto j) { return coord(i * 2 + 1, j + 3); });
        Y.view(shape(r, c), [](auto i, auto j) { return coord(7 - i * 2, j + 5); }).store(x.load());
    });
    auto kernel = def.capture(tensor_shape(16, 80), tensor_shape(8, 90));
    auto forms = compiler::forms_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, {}}, false,
                                     false);
    EXPECT_EQ(forms.machine.find("gather"), std::string::npos) << forms.machine;
    EXPECT_EQ(forms.machine.find("scatter"), std::string::npos) << forms.machine;
    auto out = run_both(kernel, {random_view({16, 80}, 3), output_view({8, 90})});
    for (int64_t i = 0; i < 4; ++i) {
        for (int64_t j = 0; j < 64; ++j) {
            EXPECT_EQ(at(out[1], (7 - i * 2) * 90 + j + 5), at(out[0], (i * 2 + 1) * 80 + j + 3));
        }
    }
}

}// namespace
