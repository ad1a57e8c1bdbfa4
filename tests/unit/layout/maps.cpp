// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <gtest/gtest.h>

// Every node of the grammar: values, laws, canonical text, and what is refused.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

std::vector<IndexMap> one_of_each() {
    IndexSet box{3, 4};
    auto rows = IndexMap::strided({3, 4}, {8, 1});
    return {IndexMap::identity(box),
            IndexMap::translate(box, {2, 1}),
            IndexMap::permute(box, {1, 0}),
            IndexMap::project(box, {1}),
            rows,
            IndexMap::mixed_radix({{{2, 3}, {{1}, {8}}}, {{2}, {{2}}}}, {1}),
            IndexMap::mixed_radix({{{2}, {{1, 0}}}, {{3}, {{0, 1}}}}, {0, 1}),
            IndexMap::bit_linear({{{1, 0}, {0, 3}}, {{1, 1}}}, {1, 2}, {0, 2}),
            IndexMap::swizzle(2, 0, 3, 64),
            IndexMap::swizzle(2, 3, -3, 64),
            IndexMap::table({3}, {5}, {{{4}}, std::nullopt, {{0}}}),
            IndexMap::of(box, {40}, [](IndexExpr i, IndexExpr j) { return i * 8 + (j ^ (i % 4)); }),
            IndexMap::piecewise(box, {30},
                                {{box.where([](IndexExpr i, IndexExpr) { return i < 1; }), rows},
                                 {box, IndexMap::strided({3, 4}, {-1, 4})}}),
            compose(IndexMap::swizzle(1, 0, 2, 20), rows.into({20})),
            product(rows, IndexMap::table({2}, {2}, {{{1}}, {{0}}})),
            IndexMap::identity({}),
            IndexMap::strided({0, 5}, {5, 1})};
}

}// namespace

TEST(IndexMaps, text_reads_back_as_the_same_map) {
    for (const auto &map : one_of_each()) {
        auto again = IndexMap::parse(map.text());
        EXPECT_EQ(again.text(), map.text());
        EXPECT_EQ(equivalent(map, again).proof, Proof::PROVEN) << map.text();
        for_each_point(map.domain().extents(), [&](const IndexPoint &at) {
            EXPECT_EQ(map.at(at), again.at(at)) << map.text();
        });
    }
}

TEST(IndexMaps, text_is_canonical) {
    auto maps = one_of_each();
    EXPECT_EQ(maps[4].text(), "affine{(3):(8), (4):(1); 0} [3, 4] -> [20]");
    EXPECT_EQ(maps[2].text(), "affine{(3):(<0, 1>), (4):(<1, 0>); <0, 0>} [3, 4] -> [4, 3]");
    EXPECT_EQ(maps[7].text(), "bits{(<1, 0>, <0, 3>), (<1, 1>); (1, 2); <0, 2>} [4, 2] -> [2, 4]");
    EXPECT_EQ(maps[8].text(), "swizzle{2, 0, 3} [64] -> [64]");
    EXPECT_EQ(maps[10].text(), "table{[3]; 4, ., 0} [3] -> [5]");
    EXPECT_EQ(maps[11].text(), "expr{add(mul(c0, 8), xor(c1, mod(c0, 4)))} [3, 4] -> [40]");
}

TEST(IndexMaps, each_node_is_proved_as_all_its_points_say) {
    for (const auto &map : one_of_each()) {
        EXPECT_EQ(wrong_about(map, [&](const IndexPoint &x) { return map.at(x); }), "");
    }
}

TEST(IndexMaps, nodes_compute_what_they_say) {
    auto maps = one_of_each();
    EXPECT_EQ(maps[0]({2, 3}), (IndexPoint{2, 3}));
    EXPECT_EQ(maps[1]({2, 3}), (IndexPoint{4, 4}));
    EXPECT_EQ(maps[2]({2, 3}), (IndexPoint{3, 2}));
    EXPECT_EQ(maps[3]({2, 3}), IndexPoint{3});
    EXPECT_EQ(maps[4]({2, 3}), IndexPoint{19});
    EXPECT_EQ(maps[5]({5, 1}), IndexPoint{1 + 1 + 2 * 8 + 2});
    EXPECT_EQ(maps[7]({3, 1}), (IndexPoint{0, 0}));
    EXPECT_EQ(maps[8]({0b010011}), IndexPoint{0b010001});
    EXPECT_EQ(maps[9]({0b000011}), IndexPoint{0b000011});
    EXPECT_EQ(IndexMap::swizzle(2, 3, -3, 256)({0b010000}), IndexPoint{0b10010000});
    EXPECT_EQ(maps[12]({0, 3}), IndexPoint{3});
    EXPECT_EQ(maps[12]({2, 3}), IndexPoint{10});
    EXPECT_FALSE(maps[10].at({1}));
    EXPECT_FALSE(maps[4].at({3, 0}));
    EXPECT_EQ(maps[15]({}), IndexPoint{});
}

TEST(IndexMaps, composition_is_associative_and_has_units) {
    auto maps = one_of_each();
    for (const auto &h : maps) {
        EXPECT_EQ(
            equivalent(compose(IndexMap::identity(h.codomain()), h.into(h.codomain())), h).proof,
            h.prove().bounds.proof)
            << h.text();
        for (const auto &g : maps) {
            for (const auto &f : maps) {
                if (h.codomain().rank() == g.domain().rank() &&
                    g.codomain().rank() == f.domain().rank()) {
                    EXPECT_EQ(
                        equivalent(compose(f, compose(g, h)), compose(compose(f, g), h)).proof,
                        Proof::PROVEN);
                }
            }
        }
    }
}

TEST(IndexMaps, swizzles_are_their_own_inverses) {
    for (int bits = 0; bits <= 3; ++bits) {
        for (int base = 0; base <= 2; ++base) {
            for (int shift : {bits, bits + 1, -bits, -bits - 1}) {
                auto s = IndexMap::swizzle(bits, base, shift, 1024);
                EXPECT_EQ(equivalent(compose(s, s), IndexMap::identity({1024})).proof,
                          Proof::PROVEN);
            }
        }
    }
}

TEST(IndexMaps, lambdas_of_bit_operations_are_decided_without_listing) {
    IndexSet tile{1 << 15, 1 << 15};
    auto map = IndexMap::of(tile, {1 << 30}, [](IndexExpr i, IndexExpr j) {
        return i * (1 << 15) + (j ^ ((i % 8) << 4));
    });
    auto proof = map.prove();
    EXPECT_EQ(proof.injectivity.proof, Proof::PROVEN);
    EXPECT_EQ(proof.surjectivity.proof, Proof::PROVEN);
    EXPECT_EQ(proof.bounds.proof, Proof::PROVEN);
    auto linear = IndexMap::of(tile, {1 << 30},
                               [](IndexExpr i, IndexExpr j) { return (i << 15) + 2 * j - j; });
    EXPECT_EQ(linear.prove().surjectivity.proof, Proof::PROVEN);
    EXPECT_EQ(equivalent(linear, IndexMap::strided({1 << 15, 1 << 15}, {1 << 15, 1})).proof,
              Proof::PROVEN);
}

TEST(IndexMaps, sets_with_predicates_are_proved_over_their_points_only) {
    auto triangle = IndexSet{4, 4}.where([](IndexExpr i, IndexExpr j) { return j <= i; });
    EXPECT_EQ(triangle.points().size(), 10u);
    auto packed = IndexMap::of(triangle, {10},
                               [](IndexExpr i, IndexExpr j) { return i * (i + 1) / 2 + j; });
    auto proof = packed.prove();
    EXPECT_EQ(proof.text(),
              "totality proven, bounds proven, injectivity proven, surjectivity proven");
    auto whole = IndexMap::of({4, 4}, {10},
                              [](IndexExpr i, IndexExpr j) { return i * (i + 1) / 2 + j; });
    EXPECT_EQ(whole.prove().injectivity.proof, Proof::DISPROVEN);
    auto both = product(IndexMap::identity(triangle), packed);
    EXPECT_EQ(both.domain().points().size(), 100u);
    EXPECT_EQ(both.prove().injectivity.proof, Proof::PROVEN);
    EXPECT_EQ(IndexMap::parse(both.text()).text(), both.text());
}

TEST(IndexMaps, mistakes_are_named) {
    auto rows = IndexMap::strided({3, 4}, {8, 1});
    EXPECT_EQ(message_of([&] {
                  return rows({3, 0});
              }),
              "IndexError: the point (3, 0) is not in the domain of "
              "affine{(3):(8), (4):(1); 0} [3, 4] -> [20]");
    EXPECT_EQ(message_of([] { return IndexMap::table({1}, {1}, {std::nullopt})({0}); }),
              "ValueError: at (0) this map is undefined: table{[1]; .} [1] -> [1]");
    EXPECT_EQ(message_of([&] { return compose(rows, rows); }),
              "ShapeError: compose: images of rank 1 into a domain of rank 2");
    EXPECT_EQ(message_of([] {
                  return IndexMap::strided({3, 4}, {1});
              }),
              "ShapeError: strided: 2 extents and 1 strides");
    EXPECT_EQ(message_of([] {
                  return IndexSet{3, -1};
              }),
              "ValueError: an index set has the extents (3, -1); an extent is at least 0");
    EXPECT_EQ(message_of([] {
                  return IndexMap::permute({2, 2}, {0, 0});
              }),
              "ValueError: permute: an order of 2 entries for a domain of rank 2; name each "
              "coordinate once");
    EXPECT_EQ(
        message_of([] {
            return IndexMap::project({2, 2}, {2});
        }),
        "ValueError: project: coordinates that the domain [2, 2] lacks, or one of them twice");
    EXPECT_EQ(message_of([] { return IndexMap::swizzle(3, 0, 2, 64); }),
              "ValueError: swizzle: 3 bits from bit 0 with a shift of 2; the shift is at least as "
              "long as the bits, and all lie below bit 62");
    EXPECT_EQ(message_of([] { return IndexMap::bit_linear({{{4}}}, {2}, {0}); }),
              "ValueError: bit_linear: the image (4) needs more bits than its codomain has");
    EXPECT_EQ(message_of([] {
                  return IndexMap::of({2, 2}, {4}, [](IndexExpr i) { return i; });
              }),
              "ShapeError: a lambda of 1 coordinates over the index set [2, 2]; it takes one a "
              "dimension");
    EXPECT_EQ(message_of([&] {
                  return rows.on({4, 4});
              }),
              "ShapeError: on: the domain [4, 4] does not lie in the domain [3, 4]");
    EXPECT_EQ(message_of([] { return IndexMap::parse("affine{(3):(8); 0} [3] -> x"); }),
              "ParseError: index map, column 27: expected \"[\", got \"x\"");
    std::string deep;
    for (int i = 0; i < 100'000; ++i) {
        deep += "compose{";
    }
    EXPECT_EQ(message_of([&] { return IndexMap::parse(deep); }),
              "ParseError: index map, column 8001: nested more than 1000 deep");
    EXPECT_EQ(message_of([] { return IndexMap::parse("rows"); }),
              "ParseError: index map, column 1: expected affine, bits, swizzle, table, expr, "
              "piecewise, compose or product, got \"rows\"");
    EXPECT_EQ(
        message_of([] { return IndexSet{1 << 21}.points(); }),
        "ValueError: the index set [2097152] has more points than can be listed; the limit is "
        "1048576");
}
