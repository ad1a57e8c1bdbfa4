// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Shapes that products come in beyond one C += A · B: batches, several products, operands in any order of
// dimensions, views of larger views, products of products.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

struct Size {
    int64_t m, n, k;
};
class Products : public ::testing::TestWithParam<Size> {};
const auto sizes = ::testing::Values(Size{1, 1, 1}, Size{3, 17, 24}, Size{40, 3, 8},
                                     Size{17, 40, 1}, Size{31, 33, 37}, Size{8, 48, 0},
                                     Size{1, 65, 13}, Size{64, 1, 11}, Size{0, 5, 3});
std::string size_name(const ::testing::TestParamInfo<Size> &i) {
    return std::to_string(i.param.m) + "x" + std::to_string(i.param.n) + "x" +
           std::to_string(i.param.k);
}

/// The sum over k of x(i, k) · y(k, j), both dense.
double sum_of(const View &x, const View &y, int64_t i, int64_t j, int64_t n, int64_t k) {
    double sum = 0;
    for (int64_t q = 0; q < k; ++q) {
        sum += at(x, i * k + q) * at(y, q * n + j);
    }
    return sum;
}

}// namespace

TEST_P(Products, two_into_one_accumulator_add_up) {
    auto [m_, n_, k_] = GetParam();
    auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                               TensorView<const float, 2> C, TensorView<const float, 2> D,
                               TensorView<float, 2> Y) {
        auto m = axis("m", m_), n = axis("n", n_), k = axis("k", k_);
        for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
            auto acc = full<float>(shape(m, n), 5.0f);
            acc = mma(A[coord(0, 0), shape(m, k)], B[coord(0, 0), shape(k, n)], acc);
            acc = mma(C[coord(0, 0), shape(m, k)], D[coord(0, 0), shape(k, n)], acc);
            Y(coord(0, 0), shape(m, n)).store(acc);
        }
    });
    auto a = integer_view({m_, k_}, 1), b = integer_view({k_, n_}, 2),
         c = integer_view({m_, k_}, 3), d = integer_view({k_, n_}, 4);
    auto out = run_both(def.capture(tensor_shape(m_, k_), tensor_shape(k_, n_),
                                    tensor_shape(m_, k_), tensor_shape(k_, n_),
                                    tensor_shape(m_, n_)),
                        {a, b, c, d, output_view({m_, n_})});
    for (int64_t e = 0; e < m_ * n_; ++e) {
        ASSERT_EQ(at(out[4], e),
                  5 + sum_of(a, b, e / n_, e % n_, n_, k_) + sum_of(c, d, e / n_, e % n_, n_, k_));
    }
}
TEST_P(Products, two_into_one_accumulator_add_up_in_a_loop) {
    auto [m_, n_, k_] = GetParam();
    auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                               TensorView<const float, 2> C, TensorView<const float, 2> D,
                               TensorView<float, 2> Y) {
        auto m = axis("m", m_), n = axis("n", n_), k = axis("k", 5);
        for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
            auto acc = zeros<float>(shape(m, n));
            for (auto &s : nest.pipeline(range(0, k_, 5))) {
                auto k0 = s.index();
                acc = mma(A[coord(0, k0), shape(m, k)], B[coord(k0, 0), shape(k, n)], acc);
                acc = mma(C[coord(0, k0), shape(m, k)], D[coord(k0, 0), shape(k, n)], acc);
            }
            Y(coord(0, 0), shape(m, n)).store(acc);
        }
    });
    auto a = integer_view({m_, k_}, 1), b = integer_view({k_, n_}, 2),
         c = integer_view({m_, k_}, 3), d = integer_view({k_, n_}, 4);
    auto out = run_both(def.capture(tensor_shape(m_, k_), tensor_shape(k_, n_),
                                    tensor_shape(m_, k_), tensor_shape(k_, n_),
                                    tensor_shape(m_, n_)),
                        {a, b, c, d, output_view({m_, n_})});
    for (int64_t e = 0; e < m_ * n_; ++e) {
        ASSERT_EQ(at(out[4], e),
                  sum_of(a, b, e / n_, e % n_, n_, k_) + sum_of(c, d, e / n_, e % n_, n_, k_));
    }
}
TEST_P(Products, operands_may_be_swapped_and_dimensions_stand_in_any_order) {
    auto [m_, n_, k_] = GetParam();
    for (int form = 0; form < 8; ++form) {
        auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                                   TensorView<float, 2> Y) {
            auto m = axis("m", m_), n = axis("n", n_), k = axis("k", k_);
            for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
                auto a = A[coord(0, 0), shape(m, k)], b = B[coord(0, 0), shape(k, n)];
                a = form & 1 ? Tile<float>(transpose(a, {k, m})) : a;
                auto acc = form & 2 ? ones<float>(shape(n, m)) : ones<float>(shape(m, n));
                acc = form & 4 ? mma(b, a, acc) : mma(a, b, acc);
                Y(coord(0, 0), shape(m, n)).store(acc);
            }
        });
        auto a = integer_view({m_, k_}, 1), b = integer_view({k_, n_}, 2);
        auto out = run_both(
            def.capture(tensor_shape(m_, k_), tensor_shape(k_, n_), tensor_shape(m_, n_)),
            {a, b, output_view({m_, n_})});
        for (int64_t e = 0; e < m_ * n_; ++e) {
            ASSERT_EQ(at(out[2], e), 1 + sum_of(a, b, e / n_, e % n_, n_, k_)) << form;
        }
    }
}
TEST_P(Products, of_batches_are_independent) {
    auto [m_, n_, k_] = GetParam();
    auto def = tile_kernel(
        [=](TensorView<const float, 3> A, TensorView<const float, 3> B, TensorView<float, 3> Y) {
            auto h = axis("h", 3), m = axis("m", m_), n = axis("n", n_), k = axis("k", k_);
            for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
                auto a = A[coord(0, 0, 0), shape(h, m, k)];
                auto b = B[coord(0, 0, 0), shape(h, k, n)];
                Y(coord(0, 0, 0), shape(h, m, n)).store(mma(a, b, zeros<float>(shape(h, m, n))));
            }
        });
    auto a = integer_view({3, m_, k_}, 1), b = integer_view({3, k_, n_}, 2);
    auto out = run_both(
        def.capture(tensor_shape(3, m_, k_), tensor_shape(3, k_, n_), tensor_shape(3, m_, n_)),
        {a, b, output_view({3, m_, n_})});
    for (int64_t e = 0; e < 3 * m_ * n_; ++e) {
        auto h = e / (m_ * n_), i = e / n_ % m_, j = e % n_;
        double sum = 0;
        for (int64_t q = 0; q < k_; ++q) {
            sum += at(a, (h * m_ + i) * k_ + q) * at(b, (h * k_ + q) * n_ + j);
        }
        ASSERT_EQ(at(out[2], e), sum);
    }
}
TEST_P(Products, contract_two_dimensions_at_once) {
    auto [m_, n_, k_] = GetParam();
    auto def = tile_kernel(
        [=](TensorView<const float, 3> A, TensorView<const float, 3> B, TensorView<float, 2> Y) {
            auto m = axis("m", m_), n = axis("n", n_), k = axis("k", k_), l = axis("l", 3);
            for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
                auto a = A[coord(0, 0, 0), shape(m, k, l)];
                auto b = B[coord(0, 0, 0), shape(l, n, k)];
                Y(coord(0, 0), shape(m, n)).store(mma(a, b, zeros<float>(shape(m, n))));
            }
        });
    auto a = integer_view({m_, k_, 3}, 1), b = integer_view({3, n_, k_}, 2);
    auto out = run_both(
        def.capture(tensor_shape(m_, k_, 3), tensor_shape(3, n_, k_), tensor_shape(m_, n_)),
        {a, b, output_view({m_, n_})});
    for (int64_t e = 0; e < m_ * n_; ++e) {
        double sum = 0;
        for (int64_t q = 0; q < k_; ++q) {
            for (int64_t l = 0; l < 3; ++l) {
                sum += at(a, (e / n_ * k_ + q) * 3 + l) * at(b, (l * n_ + e % n_) * k_ + q);
            }
        }
        ASSERT_EQ(at(out[2], e), sum);
    }
}
TEST_P(Products, of_the_half_of_a_wider_tile_read_that_half) {
    auto [m_, n_, k_] = GetParam();
    auto def = tile_kernel(
        [=](TensorView<const float, 2> A, TensorView<const float, 2> B, TensorView<float, 2> Y) {
            auto m = axis("m", m_), n = axis("n", n_), k = axis("k", k_);
            for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
                auto left = A[coord(0, 0), shape(m, k)], right = A[coord(0, k_), shape(m, k)];
                auto b = B[coord(2, 1), shape(k, n)];
                auto acc = mma(left, b, zeros<float>(shape(m, n)));
                Y(coord(0, 0), shape(m, n)).store(mma(right, b, acc * 100.0f));
            }
        });
    auto a = integer_view({m_, 2 * k_}, 1), b = integer_view({k_ + 2, n_ + 3}, 2, 1);
    auto out = run_both(
        def.capture(tensor_shape(m_, 2 * k_), tensor_shape(k_ + 2, n_ + 3), tensor_shape(m_, n_)),
        {a, b, output_view({m_, n_})});
    for (int64_t e = 0; e < m_ * n_; ++e) {
        double sum = 0;
        for (int64_t q = 0; q < k_; ++q) {
            sum += (100 * at(a, e / n_ * 2 * k_ + q) + at(a, e / n_ * 2 * k_ + k_ + q)) *
                   at(b, (q + 2) * (n_ + 3) + e % n_ + 1);
        }
        ASSERT_EQ(at(out[2], e), sum);
    }
}
TEST_P(Products, of_views_with_any_strides_read_those_elements) {
    auto [m_, n_, k_] = GetParam();
    struct Strided {
        std::vector<int64_t> a, b;
        int64_t a_origin, b_origin;
    };
    auto M = std::max<int64_t>(m_, 1), N = std::max<int64_t>(n_, 1), K = std::max<int64_t>(k_, 1);
    for (const auto &s :
         {Strided{{1, M}, {1, K}, 0, 0}, Strided{{K + 3, 1}, {N + 5, 1}, 2, 3},
          Strided{{2 * K, 2}, {2 * N, 2}, 1, 1}, Strided{{-K, 1}, {N, -1}, (M - 1) * K, N - 1},
          Strided{{0, 1}, {1, 0}, 0, 0}}) {
        auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                                   TensorView<float, 2> Y) {
            auto m = axis("m", 16), n = axis("n", 32), k = axis("k", 8);
            for (auto &nest :
                 parallel(shape(ceil_div(Y.extent(0), 16), ceil_div(Y.extent(1), 32)))) {
                auto m0 = nest.index(0) * 16, n0 = nest.index(1) * 32;
                auto acc = zeros<float>(shape(m, n));
                for (auto &step : nest.pipeline(range(0, A.extent(1), 8))) {
                    acc = mma(A[coord(m0, step.index()), shape(m, k)],
                              B[coord(step.index(), n0), shape(k, n)], acc);
                }
                Y(coord(m0, n0), shape(m, n)).store(acc);
            }
        });
        auto a = integer_view({2 * (M + 1) * (K + 3)}, 1),
             b = integer_view({2 * (K + 1) * (N + 5)}, 2);
        a.extents = {m_, k_}, a.strides = s.a, a.origin = s.a_origin;
        b.extents = {k_, n_}, b.strides = s.b, b.origin = s.b_origin;
        auto out = run_both(def.capture(tensor_shape(m_, k_).with_strides(s.a),
                                        tensor_shape(k_, n_).with_strides(s.b),
                                        tensor_shape(m_, n_)),
                            {a, b, output_view({m_, n_})});
        for (int64_t e = 0; e < m_ * n_; ++e) {
            double sum = 0;
            for (int64_t q = 0; q < k_; ++q) {
                sum += at(a, s.a_origin + e / n_ * s.a[0] + q * s.a[1]) *
                       at(b, s.b_origin + q * s.b[0] + e % n_ * s.b[1]);
            }
            ASSERT_EQ(at(out[2], e), sum);
        }
    }
}
TEST_P(Products, of_products_equal_two_separate_ones) {
    auto [m_, n_, k_] = GetParam();
    auto def = tile_kernel([=](TensorView<const int8_t, 2> A, TensorView<const int8_t, 2> B,
                               TensorView<int32_t, 2> Y) {
        auto m = axis("m", m_), n = axis("n", n_), k = axis("k", k_), p = axis("p", m_);
        for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
            auto a = A[coord(0, 0), shape(m, k)], b = B[coord(0, 0), shape(k, n)];
            auto first = mma(a, b, zeros<int32_t>(shape(m, n)));
            auto c = A[coord(0, 0), shape(p, k)];
            auto d = mma(c, b, zeros<int32_t>(shape(p, n)));
            Y(coord(0, 0), shape(m, p))
                .store(mma(cast<int8_t>(first), cast<int8_t>(d), zeros<int32_t>(shape(m, p))));
        }
    });
    auto a = integer_view<int8_t>({m_, k_}, 1), b = integer_view<int8_t>({k_, n_}, 2);
    auto out = run_both(
        def.capture(tensor_shape(m_, k_), tensor_shape(k_, n_), tensor_shape(m_, m_)),
        {a, b, output_view<int32_t>({m_, m_})});
    for (int64_t e = 0; e < m_ * m_; ++e) {
        double sum = 0;
        for (int64_t j = 0; j < n_; ++j) {
            auto wrap = [&](int64_t i) {
                return static_cast<double>(
                    static_cast<int8_t>(static_cast<int64_t>(sum_of(a, b, i, j, n_, k_))));
            };
            sum += wrap(e / m_) * wrap(e % m_);
        }
        ASSERT_EQ(at(out[2], e), sum);
    }
}
TEST_P(Products, by_matmul_need_no_axes) {
    auto [m_, n_, k_] = GetParam();
    auto def = tile_kernel(
        [=](TensorView<const half, 2> A, TensorView<const half, 2> B, TensorView<float, 2> Y) {
            for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
                auto c = matmul(A[coord(0, 0), shape(m_, k_)], B[coord(0, 0), shape(k_, n_)]);
                Y(coord(0, 0), shape(m_, n_)).store(c);
            }
        });
    auto a = integer_view<half>({m_, k_}, 1), b = integer_view<half>({k_, n_}, 2);
    auto out = run_both(
        def.capture(tensor_shape(m_, k_), tensor_shape(k_, n_), tensor_shape(m_, n_)),
        {a, b, output_view({m_, n_})});
    for (int64_t e = 0; e < m_ * n_; ++e) {
        ASSERT_EQ(at(out[2], e), sum_of(a, b, e / n_, e % n_, n_, k_));
    }
}
TEST_P(Products, never_read_the_output_they_overwrite) {
    auto [m_, n_, k_] = GetParam();
    auto def = tile_kernel(
        [=](TensorView<const float, 2> A, TensorView<const float, 2> B, TensorView<float, 2> Y) {
            auto m = axis("m", m_), n = axis("n", n_), k = axis("k", k_);
            for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
                auto acc = mma(A[coord(0, 0), shape(m, k)], B[coord(0, 0), shape(k, n)],
                               zeros<float>(shape(m, n)));
                Y(coord(0, 0), shape(m, n)).store(maximum(acc, 0.0f) + 1.0f);
            }
        });
    auto a = integer_view({m_, k_}, 1), b = integer_view({k_, n_}, 2);
    auto out = run_both(
        def.capture(tensor_shape(m_, k_), tensor_shape(k_, n_), tensor_shape(m_, n_)),
        {a, b, dense<float>({m_, n_}, {std::nanf("")})});
    for (int64_t e = 0; e < m_ * n_; ++e) {
        ASSERT_EQ(at(out[2], e), 1 + std::max(0.0, sum_of(a, b, e / n_, e % n_, n_, k_)));
    }
}
INSTANTIATE_TEST_SUITE_P(Sizes, Products, sizes, size_name);
