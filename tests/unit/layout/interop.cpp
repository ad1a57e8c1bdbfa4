// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <luisa/tile/layout_draw.h>
#include <luisa/tile/layout_export.h>

#include <gtest/gtest.h>

#include <random>

// Layouts of other systems: the same functions, by formulas written here.

using namespace luisa::tile;
using namespace luisa::tile::test;

TEST(LayoutInterop, cute_text_is_read_as_the_function_that_it_means) {
    auto a = from_cute("((2,4),3):((1,8),2)");
    for_each_point({8, 3}, [&](const IndexPoint &x) {
        EXPECT_EQ(a(x), IndexPoint{x[0] % 2 + x[0] / 2 * 8 + x[1] * 2});
    });
    auto b = from_cute("(_8,(2,(3,2))):(1,(8,(32,_16)))");
    for_each_point({8, 12}, [&](const IndexPoint &x) {
        EXPECT_EQ(b(x), IndexPoint{x[0] + x[1] % 2 * 8 + x[1] / 2 % 3 * 32 + x[1] / 6 * 16});
    });
    EXPECT_EQ(from_cute("12:2")({5}), IndexPoint{10});
    auto s = from_cute("Sw<3,4,3> o 0 o (64,16):(16,1)");
    for_each_point({64, 16}, [&](const IndexPoint &x) {
        auto y = x[0] * 16 + x[1];
        EXPECT_EQ(s(x), IndexPoint{y ^ ((y >> 7 & 7) << 4)});
    });
    EXPECT_EQ(s.prove().text(),
              "totality proven, bounds proven, injectivity proven, surjectivity proven");
    EXPECT_EQ(message_of([] { return from_cute("(2,3):(1"); }),
              "ParseError: CuTe layout, column 9: expected \")\", got the end");
    EXPECT_EQ(message_of([] { (void)from_cute(std::string(1'000'000, '(')); }),
              "ParseError: CuTe layout, column 1001: nested more than 1000 deep");
    EXPECT_EQ(message_of([] { return from_cute("(2,3):1"); }),
              "ParseError: CuTe layout, column 8: expected strides nested like the shape");
    EXPECT_EQ(message_of([] { return from_cute("2:1@0"); }),
              "InteropError: from_cute: strides along basis vectors are no addresses: 2:1@0");
}

TEST(LayoutInterop, cute_text_reads_back) {
    std::mt19937 engine{3};
    auto below = [&](uint32_t n) { return static_cast<int64_t>(engine() % n); };
    for (int i = 0; i < 500; ++i) {
        std::vector<LayoutMode> modes(1 + static_cast<size_t>(below(3)));
        for (auto &mode : modes) {
            for (int64_t j = 0, n = 1 + below(3); j < n; ++j) {
                mode.shape.push_back(1 + below(4));
                mode.stride.push_back({below(20)});
            }
        }
        auto map = IndexMap::mixed_radix(modes, {0});
        auto again = from_cute(to_cute(map));
        ASSERT_EQ(equivalent(map, again).proof, Proof::PROVEN) << to_cute(map);
        ASSERT_EQ(to_cute(again), to_cute(map));
    }
    auto swizzled = from_cute("Sw<2,3,3> o 0 o (32,(2,4)):(8,(4,1))");
    EXPECT_EQ(to_cute(swizzled), "Sw<2,3,3> o 0 o (32,(2,4)):(8,(4,1))");
    EXPECT_EQ(message_of([] { return to_cute(IndexMap::translate({4}, {1})); }),
              "InteropError: to_cute: no layout of whole digits that begins at 0: "
              "affine{(4):(1); 1} [4] -> [5]");
}

TEST(LayoutInterop, triton_linear_layouts_go_both_ways) {
    // Registers 2 x lanes 4 x warps 2 over 4 x 4, one bit of the lane swizzled.
    TritonLinear triton{{{"register", {{0, 1}}}, {"lane", {{0, 2}, {1, 1}}}, {"warp", {{2, 0}}}},
                        {{"dim0", 4}, {"dim1", 4}}};
    auto map = from_triton_linear(triton);
    for_each_point({2, 4, 2}, [&](const IndexPoint &x) {
        auto row = (x[1] >> 1) ^ (x[2] << 1), column = x[0] ^ (x[1] & 1) << 1 ^ (x[1] >> 1);
        EXPECT_EQ(map(x), (IndexPoint{row, column}));
    });
    auto back = to_triton_linear(map, {"register", "lane", "warp"}, {"dim0", "dim1"});
    ASSERT_EQ(back.inputs.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(back.inputs[i].name, triton.inputs[i].name);
        EXPECT_EQ(back.inputs[i].bases, triton.inputs[i].bases);
    }
    EXPECT_EQ(back.outputs[1].size, 4);
    // A map by strides of powers of two is one too, and reads back as itself.
    auto rows = IndexMap::strided({8, 16}, {16, 1});
    EXPECT_EQ(equivalent(from_triton_linear(to_triton_linear(rows, {"r", "c"}, {"a"})), rows).proof,
              Proof::PROVEN);
    EXPECT_EQ(
        message_of([] {
            return from_triton_linear({{{"lane", {{4}}}}, {{"dim0", 4}}});
        }),
        "InteropError: from_triton_linear: the basis (4) of lane does not lie in the outputs");
    EXPECT_EQ(message_of([] {
                  return from_triton_linear({{}, {{"dim0", 6}}});
              }),
              "InteropError: from_triton_linear: the size 6 of dim0 is no power of two");
    EXPECT_EQ(
        message_of([&] { (void)to_triton_linear(IndexMap::strided({3}, {1}), {"x"}, {"y"}); }),
        "InteropError: to_triton_linear: no linear map of powers of two: "
        "affine{(3):(1); 0} [3] -> [3]");
}

TEST(LayoutInterop, tilelang_fragments_relate_elements_to_threads_and_slots) {
    // 8 x 8 over 16 threads of four elements, held twice by threads 0 … 15 and 16 … 31.
    auto c = [](size_t i) { return IndexExpr::coordinate(i); };
    auto corr = from_tilelang({{8, 8}, 2, c(0) * 2 + c(1) / 4 + c(2) * 16, c(1) % 4}, 32, 4);
    EXPECT_EQ(corr.related({3, 6}), (std::vector<IndexPoint>{{7, 2}, {23, 2}}));
    EXPECT_EQ(corr.converse().related({23, 2}), (std::vector<IndexPoint>{{3, 6}}));
    EXPECT_EQ(corr.converse().has_no_replicas(), Proof::PROVEN);
    EXPECT_EQ(corr.has_no_replicas(), Proof::DISPROVEN);
}

TEST(LayoutInterop, tirx_shards_replicas_and_offsets) {
    // 8 x 4 elements: rows over 8 lanes, two registers of two, replicated over two warps from warp 4 on.
    TirxLayout layout{
        {{8, 4, "lane"}, {2, 1, "lane"}, {2, 1, "reg"}}, {{2, 1, "warp"}}, {{"warp", 4}}};
    auto corr = from_tirx(layout, {"warp", "lane", "reg"});
    for (int64_t row = 0; row < 8; ++row) {
        for (int64_t column = 0; column < 4; ++column) {
            auto got = corr.related({row * 4 + column});
            EXPECT_EQ(got, (std::vector<IndexPoint>{{4, row * 4 + column / 2, column % 2},
                                                    {5, row * 4 + column / 2, column % 2}}));
        }
    }
    EXPECT_EQ(message_of([&] { return from_tirx(layout, {"lane"}).first(); }),
              "InteropError: from_tirx: the axis warp is not among those asked for");
}

/// Whether two relations are the same, by all points of the first set.
void expect_same(const LayoutCorr &a, const LayoutCorr &b) {
    ASSERT_EQ(a.first().codomain().text(), b.first().codomain().text());
    for_each_point(a.first().codomain().extents(), [&](const IndexPoint &x) {
        auto p = a.related(x), q = b.related(x);
        std::sort(p.begin(), p.end());
        std::sort(q.begin(), q.end());
        EXPECT_EQ(p, q);
    });
}

TEST(LayoutInterop, relations_become_tilelang_fragments) {
    auto c = [](size_t i) { return IndexExpr::coordinate(i); };
    auto corr = from_tilelang({{8, 8}, 2, c(0) * 2 + c(1) / 4 + c(2) * 16, c(1) % 4}, 32, 4);
    auto fragment = to_tilelang(corr);
    EXPECT_EQ(fragment.replicate, 2);
    expect_same(from_tilelang(fragment, 32, 4), corr);
    // A distribution by digits of the element number.
    auto one = LayoutCorr::of(
        IndexMap::mixed_radix({{{2, 4, 8, 2}, {{0, 1}, {1, 0}, {4, 0}, {0, 2}}}}, {0, 0}));
    auto of_one = to_tilelang(one);
    EXPECT_EQ(of_one.replicate, 1);
    expect_same(from_tilelang(of_one, 32, 4), one);
    expect_same(from_tilelang(to_tilelang(LayoutCorr{IndexMap::permute({4, 6}, {1, 0}),
                                                     IndexMap::identity({4, 6})}),
                              4, 6),
                LayoutCorr{IndexMap::permute({4, 6}, {1, 0}), IndexMap::identity({4, 6})});
    EXPECT_EQ(message_of([&] { (void)to_tilelang(one.converse()); }),
              "InteropError: to_tilelang: the second side is no thread and slot: [128]");
    EXPECT_EQ(message_of([&] {
                  (void)to_tilelang({IndexMap::strided({4}, {0}).into({3}),
                                     IndexMap::strided({4}, {1}).into({4})});
              }),
              "InteropError: to_tilelang: the second side is no thread and slot: [4]");
    EXPECT_EQ(message_of([&] {
                  (void)to_tilelang(
                      {IndexMap::strided({4, 2}, {2, 1}).into({9}), IndexMap::identity({4, 2})});
              }),
              "InteropError: to_tilelang: occurrences that are neither elements nor their "
              "replicas: affine{(4):(2), (2):(1); 0} [4, 2] -> [9]");
}

TEST(LayoutInterop, relations_become_tirx_layouts) {
    TirxLayout layout{
        {{8, 4, "lane"}, {2, 1, "lane"}, {2, 1, "reg"}}, {{2, 1, "warp"}}, {{"warp", 4}}};
    std::vector<std::string> axes{"warp", "lane", "reg"};
    auto corr = from_tirx(layout, axes);
    auto back = to_tirx(corr, axes);
    ASSERT_EQ(back.shard.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(back.shard[i].extent, layout.shard[i].extent);
        EXPECT_EQ(back.shard[i].stride, layout.shard[i].stride);
        EXPECT_EQ(back.shard[i].axis, layout.shard[i].axis);
    }
    ASSERT_EQ(back.replica.size(), 1u);
    EXPECT_EQ(back.replica[0].axis, "warp");
    EXPECT_EQ(back.offset, layout.offset);
    expect_same(from_tirx(back, axes), corr);
    EXPECT_EQ(message_of([&] {
                  (void)to_tirx(corr, {"warp", "lane"});
              }),
              "InteropError: to_tirx: 2 names for the coordinates of [6, 30, 2]");
    EXPECT_EQ(message_of([&] {
                  (void)to_tirx(LayoutCorr::of(IndexMap::mixed_radix({{{4}, {{1, 1}}}}, {0, 0})),
                                {"lane", "reg"});
              }),
              "InteropError: to_tirx: a digit moves both lane and reg");
    EXPECT_EQ(
        message_of([&] { (void)to_tirx(LayoutCorr::of(IndexMap::swizzle(1, 0, 1, 4)), {"lane"}); }),
        "InteropError: to_tirx: no map of whole digits: swizzle{1, 0, 1} [4] -> [4]");
    EXPECT_EQ(message_of([&] { (void)to_tirx(corr.converse(), {"element"}); }),
              "InteropError: to_tirx: occurrences that are no numbers of elements and replicas: " +
                  corr.second().text());
}

TEST(LayoutDrawings, a_cell_for_each_point_with_its_image) {
    auto svg = draw_svg(IndexMap::table({2, 2}, {9}, {{{7}}, std::nullopt, {{5}}, {{7}}}),
                        "a <map>");
    auto count = [&](const std::string &what) {
        size_t n = 0;
        for (auto at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) {
            ++n;
        }
        return n;
    };
    EXPECT_EQ(count("<rect"), 4u);
    EXPECT_EQ(count(">7</text>"), 2u);
    EXPECT_EQ(count("url(#none)"), 1u);
    EXPECT_EQ(count("<title>a &lt;map&gt;</title>"), 1u);
    EXPECT_EQ(count("</svg>"), 1u);
    EXPECT_EQ(message_of([] { return draw_svg(IndexMap::identity({1 << 15})); }),
              "ValueError: draw_svg: more than 16384 points: [32768]");
}
