// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <luisa/tile/layout_ops.h>

#include <gtest/gtest.h>

#include <numeric>
#include <random>

// The laws of what is derived from layouts, over all points of random ones.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

std::mt19937 engine{17};
int64_t below(int64_t n) { return static_cast<int64_t>(engine() % static_cast<uint64_t>(n)); }

using List = std::vector<std::pair<int64_t, int64_t>>;// (extent, stride), the fastest first

IndexMap layout_of(const std::vector<List> &modes) {
    std::vector<LayoutMode> out;
    for (const auto &mode : modes) {
        out.emplace_back();
        for (auto [extent, stride] : mode) {
            out.back().shape.push_back(extent);
            out.back().stride.push_back({stride});
        }
    }
    return IndexMap::mixed_radix(out, {0});
}

int64_t size_of(const IndexMap &layout) {
    const auto &e = layout.domain().extents();
    return std::accumulate(e.begin(), e.end(), int64_t{1}, std::multiplies<>{});
}

/// Address of point number x, the first coordinate the fastest.
int64_t address(const IndexMap &layout, int64_t x) {
    IndexPoint at;
    for (auto e : layout.domain().extents()) {
        at.push_back(x % e);
        x /= e;
    }
    return layout(at)[0];
}

/// Digits with strides that nest, in random order: an injective layout.
std::vector<List> nested(size_t modes, int64_t longest = 4) {
    std::vector<List> out(modes);
    std::vector<std::pair<size_t, int64_t>> slots;
    for (size_t i = 0; i < modes; ++i) {
        for (int64_t j = 0, n = 1 + below(2); j < n; ++j) {
            slots.emplace_back(i, 1 + below(longest));
            out[i].emplace_back(slots.back().second, 0);
        }
    }
    std::vector<std::pair<int64_t, int64_t> *> order;
    for (auto &mode : out) {
        for (auto &digit : mode) {
            order.push_back(&digit);
        }
    }
    std::shuffle(order.begin(), order.end(), engine);
    int64_t reached = 1;
    for (auto *digit : order) {
        reached *= 1 + (below(3) == 0 ? below(3) : 0);
        digit->second = reached;
        reached *= digit->first;
    }
    return out;
}

std::vector<List> anything(size_t modes) {
    auto out = nested(modes);
    for (auto &mode : out) {
        for (auto &digit : mode) {
            if (below(3) == 0) {
                digit.second = below(7);
            }
        }
    }
    return out;
}

bool refused(const std::function<void()> &f) {
    try {
        f();
        return false;
    } catch (const ValueError &) {
        return true;
    }
}

}// namespace

TEST(DerivedLayouts, coalescing_keeps_every_address_in_as_few_digits_as_there_can_be) {
    for (int i = 0; i < cases(3000); ++i) {
        auto a = layout_of(anything(1 + static_cast<size_t>(below(3))));
        auto c = coalesce(a);
        ASSERT_EQ(size_of(c), size_of(a));
        for (int64_t x = 0; x < size_of(a); ++x) {
            ASSERT_EQ(address(c, x), address(a, x)) << a.text();
        }
        ASSERT_EQ(coalesce(c).text(), c.text());
    }
    EXPECT_EQ(coalesce(layout_of({{{2, 1}, {6, 2}}, {{3, 12}}})).text(),
              "affine{(36):(1); 0} [36] -> [36]");
    EXPECT_EQ(coalesce(layout_of({{{2, 1}, {1, 6}}, {{6, 2}}})).text(),
              "affine{(12):(1); 0} [12] -> [12]");
}

TEST(DerivedLayouts, a_layout_and_its_complement_fill_the_places) {
    for (int i = 0; i < cases(3000); ++i) {
        auto a = layout_of(nested(1 + static_cast<size_t>(below(2)), 3));
        auto size = 1 + below(200);
        auto c = complement(a, size);
        auto cosize = address(a, 0) + 1;
        for (int64_t x = 0; x < size_of(a); ++x) {
            cosize = std::max(cosize, address(a, x) + 1);
        }
        std::set<int64_t> sums;
        for (int64_t y = 0; y < size_of(c); ++y) {
            ASSERT_TRUE(y == 0 || address(c, y) > address(c, y - 1));
            for (int64_t x = 0; x < size_of(a); ++x) {
                ASSERT_TRUE(sums.insert(address(a, x) + address(c, y)).second) << a.text();
            }
        }
        for (int64_t p = 0; p < size; ++p) {
            ASSERT_TRUE(sums.count(p)) << p << " " << a.text() << " " << c.text();
        }
    }
    EXPECT_EQ(complement(layout_of({{{4, 1}}}), 24).text(), "affine{(6):(4); 0} [6] -> [21]");
    EXPECT_EQ(complement(layout_of({{{6, 4}}}), 24).text(), "affine{(4):(1); 0} [4] -> [4]");
    EXPECT_EQ(complement(layout_of({{{4, 2}}}), 24).text(), "affine{(2, 3):(1, 8); 0} [6] -> [18]");
    EXPECT_TRUE(refused([] { (void)complement(layout_of({{{4, 2}, {4, 3}}}), 24); }));
}

TEST(DerivedLayouts, composition_is_one_function_after_the_other) {
    int composed = 0;
    for (int i = 0; i < cases(10000); ++i) {
        auto a = layout_of(anything(1 + static_cast<size_t>(below(3))));
        auto b = layout_of(nested(1 + static_cast<size_t>(below(2)), 3));
        try {
            auto c = layout_compose(a, b);
            ++composed;
            for_each_point(b.domain().extents(), [&](const IndexPoint &q) {
                if (b(q)[0] < size_of(a)) {
                    EXPECT_EQ(c(q)[0], address(a, b(q)[0])) << a.text() << " o " << b.text();
                }
            });
        } catch (const ValueError &) {}
    }
    EXPECT_GT(composed, cases(1000));
    auto c = layout_compose(layout_of({{{6, 8}}, {{2, 2}}}), layout_of({{{4, 3}}, {{3, 1}}}));
    EXPECT_EQ(c.text(), "affine{(2, 2):(24, 2), (3):(8); 0} [4, 3] -> [43]");
    auto d = layout_compose(layout_of({{{20, 2}}}), layout_of({{{5, 4}}, {{4, 1}}}));
    EXPECT_EQ(d.text(), "affine{(5):(8), (4):(2); 0} [5, 4] -> [39]");
    auto e = layout_compose(layout_of({{{10, 16}}, {{2, 4}}}), layout_of({{{5, 1}}, {{4, 5}}}));
    EXPECT_EQ(e.text(), "affine{(5):(16), (2, 2):(80, 4); 0} [5, 4] -> [149]");
}

TEST(DerivedLayouts, division_orders_a_layout_by_tiles) {
    int divided = 0;
    for (int i = 0; i < cases(4000); ++i) {
        auto a = layout_of(nested(1 + static_cast<size_t>(below(2)), 6));
        auto t = layout_of({nested(1, 3)[0]});
        try {
            auto d = logical_divide(a, t);
            auto c = complement(t, size_of(a));
            ++divided;
            std::set<int64_t> seen;
            for_each_point(d.domain().extents(), [&](const IndexPoint &q) {
                auto number = address(t, q[0]) + address(c, q[1]);
                if (number < size_of(a)) {
                    EXPECT_EQ(d(q)[0], address(a, number));
                }
            });
        } catch (const ValueError &) {}
    }
    EXPECT_GT(divided, cases(300));
    auto a = layout_of({{{4, 2}, {2, 1}, {3, 8}}});
    EXPECT_EQ(logical_divide(a, layout_of({{{4, 2}}})).text(),
              "affine{(2, 2):(4, 1), (2, 3):(2, 8); 0} [4, 6] -> [24]");
    auto m = layout_of({{{9, 59}}, {{4, 13}, {8, 1}}});
    std::vector<IndexMap> tilers{layout_of({{{3, 3}}}), layout_of({{{2, 1}, {4, 8}}})};
    EXPECT_EQ(logical_divide(m, tilers).text(),
              "affine{(3, 3):(177, 59), (2, 4, 2, 2):(13, 2, 26, 1); 0} [9, 32] -> [519]");
    EXPECT_EQ(zipped_divide(m, tilers).text(),
              "affine{(3, 2, 4):(177, 13, 2), (3, 2, 2):(59, 26, 1); 0} [24, 12] -> [519]");
    EXPECT_EQ(tiled_divide(m, tilers).text(),
              "affine{(3, 2, 4):(177, 13, 2), (3):(59), (2, 2):(26, 1); 0} [24, 3, 4] -> [519]");
}

TEST(DerivedLayouts, products_repeat_a_block_without_overlap) {
    for (int i = 0; i < cases(2000); ++i) {
        auto a = layout_of(nested(2, 3)), b = layout_of(nested(2, 3));
        int64_t reach = 0;
        for (int64_t y = 0; y < size_of(b); ++y) {
            reach = std::max(reach, address(b, y) + 1);
        }
        IndexMap l = IndexMap::identity({}), blocked = l, raked = l;
        try {
            l = logical_product(a, b);
            blocked = blocked_product(a, b);
            raked = raked_product(a, b);
        } catch (const ValueError &) {
            continue;
        }
        auto c = complement(a, size_of(a) * reach);
        std::set<int64_t> places;
        for_each_point(l.domain().extents(), [&](const IndexPoint &q) {
            EXPECT_EQ(l(q)[0], address(a, q[0]) + address(c, address(b, q[1])));
            EXPECT_TRUE(places.insert(l(q)[0]).second);
        });
        // By modes: coordinate = block's and repetition's, one faster than the other.
        const auto &e = a.domain().extents(), &f = b.domain().extents();
        for_each_point(e, [&](const IndexPoint &p) {
            for_each_point(f, [&](const IndexPoint &q) {
                auto want = a(p)[0] + address(c, b(q)[0]);
                EXPECT_EQ(blocked({p[0] + e[0] * q[0], p[1] + e[1] * q[1]})[0], want);
                EXPECT_EQ(raked({q[0] + f[0] * p[0], q[1] + f[1] * p[1]})[0], want);
            });
        });
    }
    auto block = layout_of({{{2, 5}}, {{5, 1}}}), tiler = layout_of({{{3, 5}}, {{4, 6}}});
    EXPECT_EQ(blocked_product(block, layout_of({{{3, 1}}, {{4, 3}}})).text(),
              "affine{(2, 3):(5, 10), (5, 4):(1, 30); 0} [6, 20] -> [120]");
    EXPECT_EQ(logical_product(layout_of({{{2, 4}, {2, 1}}}), layout_of({{{6, 1}}})).text(),
              "affine{(2, 2):(4, 1), (2, 3):(2, 8); 0} [4, 6] -> [24]");
}

TEST(DerivedLayouts, inverses_undo) {
    int inverted = 0;
    for (int i = 0; i < cases(3000); ++i) {
        auto modes = nested(1 + static_cast<size_t>(below(2)), 4);
        auto a = layout_of(modes);
        auto r = right_inverse(a);
        for (int64_t x = 0; x < size_of(r); ++x) {
            ASSERT_EQ(address(a, address(r, x)), x) << a.text();
        }
        auto l = left_inverse(a);
        for_each_point(a.domain().extents(), [&](const IndexPoint &x) { ASSERT_EQ(l(a(x)), x); });
        auto both = try_inverse(a);
        auto onto = a.prove().surjectivity.proof == Proof::PROVEN;
        ASSERT_EQ(both.has_value(), onto);
        if (both) {
            ++inverted;
            ASSERT_EQ(equivalent(compose(*both, a), IndexMap::identity(a.domain())).proof,
                      Proof::PROVEN);
            ASSERT_EQ(equivalent(compose(a, *both), IndexMap::identity(a.codomain())).proof,
                      Proof::PROVEN);
        }
    }
    EXPECT_GT(inverted, cases(200));
    // Mirrored digits count down.
    for (int64_t n : {1, 2, 7}) {
        auto mirrored = IndexMap::of({n, 5}, {5 * n},
                                     [&](IndexExpr i, IndexExpr j) { return (n - 1 - i) + j * n; });
        auto back = try_inverse(mirrored);
        ASSERT_TRUE(back);
        EXPECT_EQ(compose(*back, mirrored)({n - 1, 3}), (IndexPoint{n - 1, 3}));
        EXPECT_EQ(equivalent(compose(*back, mirrored), IndexMap::identity({n, 5})).proof,
                  Proof::PROVEN);
        EXPECT_EQ(back->text().find("table"), std::string::npos) << back->text();
    }
    auto large = IndexMap::permute({1 << 20, 1 << 20}, {1, 0});
    EXPECT_TRUE(try_inverse(large));// by rules: nothing of this size is listed
    auto swizzle = IndexMap::swizzle(3, 4, 7, int64_t{1} << 40);
    EXPECT_EQ(equivalent(*try_inverse(swizzle), swizzle).proof, Proof::PROVEN);
    EXPECT_TRUE(refused([] { (void)left_inverse(IndexMap::strided({4}, {0})); }));
}

TEST(DerivedLayouts, preimages_are_all_the_points) {
    auto large = IndexMap::strided({1 << 12, 1 << 12}, {1 << 11, 1 << 0}).into({1 << 24});
    auto xored = IndexMap::of({1 << 13, 4}, {1 << 13},
                              [](IndexExpr i, IndexExpr j) { return i ^ j; });
    for (int64_t place : {0, 5, 4097}) {
        std::vector<IndexPoint> want;
        for_each_point({1 << 13, 4}, [&](const IndexPoint &at) {
            if ((at[0] ^ at[1]) == place) {
                want.push_back(at);
            }
        });
        EXPECT_EQ(preimage(xored, {place}), want);
    }
    EXPECT_TRUE(refused([&] { (void)preimage(large, {5}); }));
    EXPECT_EQ(preimage(IndexMap::strided({3, 3}, {1, 1}), {2}),
              (std::vector<IndexPoint>{{0, 2}, {1, 1}, {2, 0}}));
}

TEST(DerivedLayouts, recasting_keeps_the_bits_where_they_are) {
    int recasts = 0;
    for (int i = 0; i < cases(2000); ++i) {
        auto a = layout_of(nested(1 + static_cast<size_t>(below(2)), 4));
        int k = 1 << below(3);
        try {
            auto narrow = recast(a, 8 * k, 8);
            std::set<int64_t> want, got;
            for (int64_t x = 0; x < size_of(a); ++x) {
                for (int64_t r = 0; r < k; ++r) {
                    want.insert(address(a, x) * k + r);
                }
            }
            for (int64_t x = 0; x < size_of(narrow); ++x) {
                got.insert(address(narrow, x));
            }
            ASSERT_EQ(got, want) << a.text() << k;
            auto again = recast(narrow, 8, 8 * k);
            ASSERT_EQ(size_of(again), size_of(a));
            for (int64_t x = 0; x < size_of(a); ++x) {
                ASSERT_EQ(address(again, x), address(a, x));
            }
            ++recasts;
        } catch (const ValueError &) {}
    }
    EXPECT_GT(recasts, cases(300));
    EXPECT_EQ(recast(layout_of({{{2, 1}}, {{6, 2}}}), 8, 32).text(),
              "affine{(1):(1), (3):(1); 0} [1, 3] -> [3]");
    EXPECT_TRUE(refused([] { (void)recast(layout_of({{{3, 1}}}), 8, 16); }));
}

TEST(DerivedLayouts, rank_kernel_image_and_quotient_of_all_small_matrices) {
    for (int64_t m = 0; m < 512; ++m) {
        auto a = IndexMap::bit_linear({{{m & 7}, {m >> 3 & 7}, {m >> 6}}}, {3}, {m % 5});
        auto s = bit_structure(a);
        std::set<int64_t> images;
        for (int64_t x = 0; x < 8; ++x) {
            images.insert(a({x})[0]);
        }
        ASSERT_EQ(size_t{1} << s.rank, images.size());
        ASSERT_EQ(s.rank + s.kernel.size(), 3u);
        ASSERT_EQ(s.image.size(), s.rank);
        for (const auto &k : s.kernel) {
            for (int64_t x = 0; x < 8; ++x) {
                ASSERT_EQ(a({x ^ k[0]}), a({x}));
            }
        }
        for (int64_t n = 0; n < 512; n += is_deep() ? 3 : 31) {
            auto b = IndexMap::bit_linear({{{n & 7}, {n >> 3 & 7}, {n >> 6}}}, {3}, {n % 7});
            std::map<IndexPoint, IndexPoint> through;
            bool exists = true;
            for (int64_t x = 0; x < 8; ++x) {
                exists &= through.emplace(b({x}), a({x})).first->second == a({x});
            }
            auto q = bit_divide(a, b);
            ASSERT_EQ(q.has_value(), exists);
            for (int64_t x = 0; q && x < 8; ++x) {
                ASSERT_EQ((*q)(b({x})), a({x}));
            }
        }
    }
}

TEST(LayoutCorrs, composition_and_converse_keep_every_occurrence) {
    for (int i = 0; i < 500; ++i) {
        auto table = [&](int64_t n, int64_t m) {
            std::vector<std::optional<IndexPoint>> images;
            for (int64_t k = 0; k < n; ++k) {
                images.push_back(IndexPoint{below(m)});
            }
            return IndexMap::table({n}, {m}, images);
        };
        auto n = 1 + below(6), k = 1 + below(6);
        LayoutCorr ab{table(n, 4), table(n, 3)};
        auto to_middle = below(2) ? table(k, 3) : IndexMap::permute({3}, {0});
        LayoutCorr bc{to_middle, table(to_middle.domain().extents()[0], 5)};
        auto ac = compose(bc, ab);
        for (int64_t a = 0; a < 4; ++a) {
            std::vector<IndexPoint> want;
            for (const auto &b : ab.related({a})) {
                for (const auto &c : bc.related(b)) {
                    want.push_back(c);
                }
            }
            auto got = ac.related({a});
            std::sort(want.begin(), want.end());
            std::sort(got.begin(), got.end());
            ASSERT_EQ(got, want);
        }
        // The converse of a composition is the composition of the converses, the other way round.
        auto back = compose(ab.converse(), bc.converse());
        for (int64_t c = 0; c < 5; ++c) {
            auto got = back.related({c}), want = ac.converse().related({c});
            std::sort(want.begin(), want.end());
            std::sort(got.begin(), got.end());
            ASSERT_EQ(got, want);
        }
    }
    // Lanes 0 … 7 hold four elements twice.
    LayoutCorr replicated{IndexMap::identity({8}),
                          IndexMap::of({8}, {4}, [](IndexExpr lane) { return lane % 4; })};
    EXPECT_EQ(replicated.converse().related({1}), (std::vector<IndexPoint>{{1}, {5}}));
    EXPECT_EQ(replicated.has_no_replicas(), Proof::PROVEN);
    EXPECT_EQ(replicated.converse().has_no_replicas(), Proof::DISPROVEN);
}
