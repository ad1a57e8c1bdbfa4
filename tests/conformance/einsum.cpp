// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

#include <algorithm>

// einsum and matmul over named dimensions against sums on the host. Elements are small integers, so that every
// order of summation gives the same bits.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// A spec with the extent of every letter.
struct Sum {
    const char *spec;
    std::vector<std::pair<char, int64_t>> extents;
    [[nodiscard]] int64_t extent(char letter) const {
        for (const auto &[l, e] : extents) {
            if (l == letter) {
                return e;
            }
        }
        return -1;
    }
    [[nodiscard]] std::string part(int which) const {
        std::string text = spec;
        auto comma = text.find(','), arrow = text.find("->");
        return which == 0   ? text.substr(0, comma)
               : which == 1 ? text.substr(comma + 1, arrow - comma - 1)
                            : text.substr(arrow + 2);
    }
    [[nodiscard]] std::vector<int64_t> shape_of(int which) const {
        std::vector<int64_t> list;
        for (char l : part(which)) {
            list.push_back(extent(l));
        }
        return list;
    }
};

Shape positional(const std::vector<int64_t> &e) {
    return e.size() == 0   ? shape()
           : e.size() == 1 ? shape(e[0])
           : e.size() == 2 ? shape(e[0], e[1])
           : e.size() == 3 ? shape(e[0], e[1], e[2])
                           : shape(e[0], e[1], e[2], e[3]);
}
/// A view's whole contents: views have rank one, so that every spec has one signature.
int64_t product_of(const std::vector<int64_t> &e) {
    int64_t n = 1;
    for (auto x : e) {
        n *= x;
    }
    return n;
}

class Einsum : public ::testing::TestWithParam<Sum> {};

/// The sum at one result coordinate, by nested loops over every letter.
std::vector<double> expected_sum(const Sum &sum, const View &a, const View &b) {
    std::vector<double> out(static_cast<size_t>(product_of(sum.shape_of(2))), 0.0);
    std::vector<int64_t> at(sum.extents.size(), 0);
    int64_t total = 1;
    for (const auto &[l, e] : sum.extents) {
        total *= e;
    }
    auto linear = [&](int which) {
        int64_t index = 0;
        for (char l : sum.part(which)) {
            for (size_t i = 0; i < at.size(); ++i) {
                if (sum.extents[i].first == l) {
                    index = index * sum.extents[i].second + at[i];
                }
            }
        }
        return static_cast<size_t>(index);
    };
    for (int64_t n = 0; n < total; ++n) {
        auto rest = n;
        for (size_t i = at.size(); i-- > 0;) {
            at[i] = rest % sum.extents[i].second;
            rest /= sum.extents[i].second;
        }
        out[linear(2)] += element_value(a, linear(0)) * element_value(b, linear(1));
    }
    return out;
}

template<class A, class B> void check_einsum(const Sum &sum) {
    using C = ProductAccumulator<A, B>;
    auto ea = sum.shape_of(0), eb = sum.shape_of(1), ec = sum.shape_of(2);
    auto na = product_of(ea), nb = product_of(eb), nc = product_of(ec);
    auto def = tile_kernel(
        [=](TensorView<const A, 1> X, TensorView<const B, 1> Y, TensorView<C, 1> Z) {
            auto x = reshape(X[coord(0), shape(na)], positional(ea));
            auto y = reshape(Y[coord(0), shape(nb)], positional(eb));
            Z(coord(0), shape(nc)).store(reshape(einsum(sum.spec, x, y), shape(nc)));
        });
    auto views = run_both(
        def.capture(tensor_shape(na), tensor_shape(nb), tensor_shape(nc)),
        {integer_view<A>({na}, 5), integer_view<B>({nb}, 6), output_view<C>({nc})});
    auto expected = expected_sum(sum, views[0], views[1]);
    for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(element_value(views[2], i), expected[i]) << sum.spec << " at " << i;
    }
}

std::string sum_name(const ::testing::TestParamInfo<Sum> &info) {
    std::string name = std::to_string(info.index) + "_";
    for (const char *p = info.param.spec; *p; ++p) {
        name += *p == ',' ? '_' : *p;
    }
    name.erase(std::remove_if(name.begin(), name.end(),
                              [](char c) { return c == '-' || c == '>' || c == ' '; }),
               name.end());
    return name;
}
}// namespace

TEST_P(Einsum, equals_its_nested_loops) { check_einsum<float, float>(GetParam()); }
TEST_P(Einsum, equals_its_nested_loops_in_other_types) {
    check_einsum<half, bf16>(GetParam());
    check_einsum<int8_t, uint8_t>(GetParam());
    check_einsum<double, double>(GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    Specs, Einsum,
    ::testing::Values(Sum{"mk,kn->mn", {{'m', 5}, {'k', 7}, {'n', 3}}},
                      Sum{"mk,kn->nm", {{'m', 4}, {'k', 4}, {'n', 4}}},
                      Sum{"mk,nk->mn", {{'m', 16}, {'k', 19}, {'n', 8}}},
                      Sum{"bmk,bkn->bmn", {{'b', 3}, {'m', 2}, {'k', 5}, {'n', 4}}},
                      Sum{"bmk,bkn->mbn", {{'b', 3}, {'m', 2}, {'k', 5}, {'n', 4}}},
                      Sum{"mjk,kjn->mn", {{'m', 5}, {'j', 3}, {'k', 7}, {'n', 6}}},
                      Sum{"k,k->", {{'k', 11}}}, Sum{"m,n->mn", {{'m', 5}, {'n', 7}}},
                      Sum{"b,b->b", {{'b', 9}}}, Sum{"mk,k->m", {{'m', 7}, {'k', 13}}},
                      Sum{"mk,kn->mn", {{'m', 1}, {'k', 1}, {'n', 1}}},
                      Sum{"mk,kn->mn", {{'m', 3}, {'k', 0}, {'n', 2}}}),
    sum_name);

TEST(EinsumIdentities, the_result_keeps_them) {
    auto m = axis("m", 6), k = axis("k", 5), n = axis("n", 4), other = axis("other", 5);
    auto def = tile_kernel(
        [=](TensorView<const float, 2> A, TensorView<const float, 2> B, TensorView<float, 2> C) {
            auto a = A[coord(0, 0), shape(m, k)], b = B[coord(0, 0), shape(other, n)];
            // Letters relate k and `other`; the result's dimensions are m and n, whatever its order.
            auto c = einsum(" mx, xn -> nm", a, b, {.allow_reassociation = false});
            C(coord(0, 0), shape(m, n)).store(c + matmul(a, with_dims(b, {k, n}), k));
        });
    auto views = run_both(def.capture(tensor_shape(6, 5), tensor_shape(5, 4), tensor_shape(6, 4)),
                          {integer_view({6, 5}, 1), integer_view({5, 4}, 2), output_view({6, 4})});
    auto expected = expected_sum({"mk,kn->mn", {{'m', 6}, {'k', 5}, {'n', 4}}}, views[0], views[1]);
    for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(element_value(views[2], i), 2 * expected[i]) << i;
    }
}
TEST(MatmulByDims, several_dimensions_and_a_batch) {
    auto b = axis("b", 2), m = axis("m", 3), j = axis("j", 4), k = axis("k", 5), n = axis("n", 6);
    auto def = tile_kernel(
        [=](TensorView<const float, 1> A, TensorView<const float, 1> B, TensorView<float, 1> C) {
            auto x = reshape(A[coord(0), shape(120)], shape(b, m, j, k));
            auto y = reshape(B[coord(0), shape(240)], shape(b, j, k, n));
            C(coord(0), shape(36)).store(reshape(matmul(x, y, {j, k}), shape(36)));
        });
    auto views = run_both(def.capture(tensor_shape(120), tensor_shape(240), tensor_shape(36)),
                          {integer_view({120}, 1), integer_view({240}, 2), output_view({36})});
    auto expected = expected_sum(
        {"bmjk,bjkn->bmn", {{'b', 2}, {'m', 3}, {'j', 4}, {'k', 5}, {'n', 6}}}, views[0], views[1]);
    for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(element_value(views[2], i), expected[i]) << i;
    }
}
TEST(MatmulByDims, is_the_product_of_mma) {
    auto text = [](bool by_dims) {
        auto m = axis("m", 8), k = axis("k", 8), n = axis("n", 8);
        return tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                               TensorView<float, 2> C) {
                   auto a = A[coord(0, 0), shape(m, k)], b = B[coord(0, 0), shape(k, n)];
                   C(coord(0, 0), shape(m, n))
                       .store(by_dims ? matmul(a, b, k) : mma(a, b, zeros<float>(shape(m, n))));
               })
            .capture(tensor_shape(8, 8), tensor_shape(8, 8), tensor_shape(8, 8))
            .ir_text();
    };
    EXPECT_EQ(text(true), text(false));
}
