// SPDX-License-Identifier: Apache-2.0
// Forms of writing the same: domains over several dimensions, view maps, maps over scalars, compound operators.
#include "unit/frontend/support.h"

#include <functional>
#include <limits>

using namespace luisa::tile;
using namespace luisa::tile::test;

TEST(Forms, a_compound_operator_is_the_binary_form_and_an_assignment) {
    auto compound = [](Matrix A) {
        auto i = axis("i", 8);
        auto x = cast<int32_t>(A[coord(0, 0), shape(1, i)]);
        Scalar<int32_t> s = 21;
        x += 3;
        x -= s;
        x *= x;
        x /= 7;
        x %= 5;
        x &= s;
        x |= 8;
        x ^= 5;
        x <<= 2;
        x >>= 1;
        s %= 4;
        s &= 7;
        s |= 16;
        s ^= 3;
        s <<= 1;
        s >>= 2;
        x += s;
        A(coord(0, 0), shape(1, i)).store(cast<float>(x));
    };
    auto binary = [](Matrix A) {
        auto i = axis("i", 8);
        auto x = cast<int32_t>(A[coord(0, 0), shape(1, i)]);
        Scalar<int32_t> s = 21;
        x = x + 3;
        x = x - s;
        x = x * x;
        x = x / 7;
        x = x % 5;
        x = x & s;
        x = x | 8;
        x = x ^ 5;
        x = x << 2;
        x = x >> 1;
        s = s % 4;
        s = s & 7;
        s = s | 16;
        s = s ^ 3;
        s = s << 1;
        s = s >> 2;
        x = x + s;
        A(coord(0, 0), shape(1, i)).store(cast<float>(x));
    };
    EXPECT_EQ(text_of(compound), text_of(binary));
    for (const char *op : {" add ", " sub ", " mul ", " div ", " rem ", " and ", " or ", " xor ",
                           " shl ", " shr "}) {
        EXPECT_NE(text_of(compound).find(op), std::string::npos) << op;
    }
}

TEST(Forms, logical_compounds_on_bool) {
    auto text = text_of([](Matrix A) {
        auto i = axis("i", 8);
        auto x = A[coord(0, 0), shape(1, i)] > 0.0f;
        x &= A[coord(1, 0), shape(1, i)] > 0.0f;
        x |= A[coord(2, 0), shape(1, i)] > 0.0f;
        x ^= true;
        A(coord(0, 0), shape(1, i)).store(ite(x, 1.0f, zeros<float>(shape(i))));
    });
    EXPECT_EQ(count(text, " and "), 1u) << text;
    EXPECT_EQ(count(text, " or "), 1u) << text;
    EXPECT_EQ(count(text, " xor "), 1u) << text;
}

TEST(Forms, a_carried_variable_is_updated_by_a_compound_operator) {
    auto text = text_of([](Matrix A) {
        Scalar<int64_t> bits = 1;
        for (auto &s : serial(range(0, 5))) {
            bits <<= s.index();
            bits ^= 3;
        }
        A(0, 0).store(cast<float>(bits));
    });
    EXPECT_NE(text.find("serial"), std::string::npos);
    EXPECT_EQ(count(text, "yield %"), 1u) << text;
}

TEST(Forms, a_domain_of_several_dimensions_has_their_order) {
    auto inner = [](auto domain) {
        return text_of([=](Matrix A) {
            auto i = axis("i", 3), j = axis("j", 4), k = axis("k", 5);
            auto x = zeros<float>(shape(i, j, k)) + cast<float>(iota(k));
            auto sum = zeros<float>(shape(j));
            for (auto &r : reduce(domain(x, i, j, k))) {
                sum += x.at(r);
            }
            A(coord(0, 0), shape(1, j)).store(sum);
        });
    };
    auto by_tile = inner([](const auto &x, Axis i, Axis, Axis k) { return x.domain(k, i); });
    auto by_dims = inner(
        [](const auto &x, Axis, Axis, Axis) { return x.domain(x.template dim<2>(), x.axis(0)); });
    auto by_shape = inner([](const auto &, Axis i, Axis, Axis k) { return shape(k, i); });
    EXPECT_EQ(by_tile, by_shape);
    EXPECT_EQ(by_tile, by_dims);
    EXPECT_NE(by_tile.find("dims = [k i]"), std::string::npos) << by_tile;
}

TEST(Forms, a_domain_of_wrong_dimensions_is_an_error) {
    EXPECT_EQ(error_of([](Matrix) {
                  auto i = axis("i", 3), j = axis("j", 4);
                  (void)zeros<float>(shape(i)).domain(i, j);
              }),
              "IndexError: domain: the tile of shape [3] has no such dimension");
    EXPECT_EQ(error_of([](Matrix) {
                  auto i = axis("i", 3), j = axis("j", 4);
                  (void)zeros<float>(shape(i, j)).domain(i, j, i);
              }),
              "ValueError: domain: a dimension is given twice");
}

TEST(Forms, a_view_map_takes_the_coordinates_of_its_nest_or_of_the_whole_path) {
    auto program = [](auto make_ref) {
        return text_of([=](Matrix A) {
            auto i = axis("i", 2), j = axis("j", 2);
            for (auto &nest : parallel(shape(4))) {
                auto sum = zeros<float>(shape(i, j));
                for (auto &part : nest.reduce(shape(4))) {
                    sum += make_ref(A, nest, part, shape(i, j)).load();
                }
                A(coord(nest.index() * 2, 0), shape(i, j)).store(sum);
            }
        });
    };
    auto written = program([](auto &A, auto &nest, auto &part, Shape box) {
        return A(coord(nest.index() * 2, part.index() * 2), box);
    });
    auto by_path = program([](auto &A, auto &, auto &part, Shape box) {
        return A.tile(part, ViewMap{box, [](Scalar<int64_t> row, Scalar<int64_t> column) {
                                        return coord(row * 2, column * 2);
                                    }});
    });
    auto by_own = program([](auto &A, auto &nest, auto &part, Shape box) {
        return A.tile(part, ViewMap{box, [&](Scalar<int64_t> column) {
                                        return coord(nest.index() * 2, column * 2);
                                    }});
    });
    EXPECT_EQ(by_path, written);
    EXPECT_EQ(by_own, written);
    EXPECT_EQ(error_of([](Matrix A) {
                  for (auto &nest : parallel(shape(4))) {
                      for (auto &part : nest.reduce(shape(4))) {
                          ViewMap map{shape(2, 2), [](Scalar<int64_t> a, Scalar<int64_t> b,
                                                      Scalar<int64_t>) { return coord(a, b); }};
                          (void)A.tile(part, map).load();
                      }
                  }
              }),
              "CallError: view map: the lambda takes 3 coordinates, expected 1 (the nest's own) or "
              "2 (its whole path)");
}

TEST(Forms, a_map_has_the_shape_of_its_operands_whatever_its_lambda_uses) {
    auto ranks = [](auto body) {
        int rank = -1;
        (void)text_of([&](Matrix) { rank = body(); });
        return rank;
    };
    auto i = axis("i", 4), j = axis("j", 3);
    EXPECT_EQ(ranks([&] {
                  return map(zeros<float>(shape(i)), zeros<float>(shape(j)),
                             [](Scalar<float> a, Scalar<float>) { return a * a; })
                      .rank();
              }),
              2);
    EXPECT_EQ(ranks([&] {
                  return map(zeros<float>(shape(i)),
                             [](Scalar<float>) { return Scalar<int32_t>{7}; })
                      .rank();
              }),
              1);
    // Scalars are operands like tiles; of scalars alone the result is one.
    EXPECT_EQ(ranks([&] {
                  Scalar<float> s = 2.0f;
                  return map(zeros<float>(shape(i)), s,
                             [](Scalar<float> a, Scalar<float> b) { return a * b; })
                      .rank();
              }),
              1);
    (void)text_of([](Matrix A) {
        Scalar<float> s = 2.0f;
        Scalar<float> t = map(s, [](Scalar<float> a) { return a + a; });
        A(0, 0).store(t);
    });
}

TEST(Forms, reindex_names_the_wrong_number_of_coordinates) {
    EXPECT_EQ(error_of([](Matrix) {
                  (void)reindex(zeros<float>(shape(8, 8)), shape(8, 8),
                                [](Scalar<int64_t> i) { return coord(i, i); });
              }),
              "CallError: reindex: the lambda takes 1 coordinates, expected 2");
}

TEST(Forms, host_arithmetic_on_extents_is_checked) {
    auto least = std::numeric_limits<int64_t>::min();
    Index a{least};
    EXPECT_EQ(int64_t(a % -1), 0);
    EXPECT_EQ(int64_t(Index{7} / -1), -7);
    EXPECT_EQ(int64_t(ceil_div(Index{-7}, Index{2})), -3);
    for (const auto &bad : std::vector<std::function<void()>>{
             [&] { (void)(a / -1); }, [&] { (void)ceil_div(a, Index{-1}); }, [&] { (void)(a - 1); },
             [&] { (void)(a * 2); }, [&] { (void)(a + a); }}) {
        try {
            bad();
            ADD_FAILURE();
        } catch (const ValueError &e) {
            EXPECT_EQ(e.message(), "arithmetic on extents leaves the range of int64");
        }
    }
}
