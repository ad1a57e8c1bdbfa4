// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

// Every claim of `prove` against all points, by an oracle of its own.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

int64_t dot(const IndexPoint &a, const IndexPoint &b) {
    int64_t sum = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

}// namespace

TEST(LayoutProofs, strides_from_minus_four_to_four_over_boxes_up_to_five_cubed) {
    int64_t maps = 0;
    for_each_point({9, 9, 9}, [&](const IndexPoint &s) {
        if (!is_deep() && (s[0] * 81 + s[1] * 9 + s[2]) % 7 != 0) {
            return;
        }
        IndexPoint strides{s[0] - 4, s[1] - 4, s[2] - 4};
        for_each_point({6, 6, 6}, [&](const IndexPoint &extents) {
            auto map = IndexMap::strided(extents, strides);
            Reference reference = [&](const IndexPoint &x) { return IndexPoint{dot(x, strides)}; };
            auto wrong = wrong_about(map, reference);
            // Codomains of other sizes, and images that begin below zero.
            if (++maps % 7 == 0) {
                wrong += wrong_about(map.into({7}), reference);
            }
            ASSERT_EQ(wrong, "");
        });
    });
    EXPECT_EQ(maps, (is_deep() ? 729 : 105) * 216);
}

TEST(LayoutProofs, all_matrices_of_three_bits_with_offsets_over_ragged_boxes) {
    for (int64_t matrix = 0; matrix < 512; ++matrix) {
        IndexPoint columns{matrix & 7, matrix >> 3 & 7, matrix >> 6};
        for (int64_t offset = is_deep() ? 0 : matrix % 8; offset < 8; offset += is_deep() ? 1 : 8) {
            auto map = IndexMap::bit_linear({{{columns[0]}, {columns[1]}, {columns[2]}}}, {3},
                                            {offset});
            Reference reference = [&](const IndexPoint &x) {
                auto y = offset;
                for (int b = 0; b < 3; ++b) {
                    y ^= x[0] >> b & 1 ? columns[static_cast<size_t>(b)] : 0;
                }
                return IndexPoint{y};
            };
            for (int64_t extent = 0; extent <= 8; ++extent) {
                for (int64_t codomain : {int64_t{0}, 3 + matrix % 4, int64_t{8}, int64_t{9}}) {
                    ASSERT_EQ(wrong_about(map.on({extent}).into({codomain}), reference), "");
                }
            }
        }
    }
}

TEST(LayoutProofs, bit_linear_maps_of_two_coordinates_over_ragged_boxes) {
    std::mt19937 engine{7};
    auto below = [&](int64_t n) {
        return static_cast<int64_t>(engine() % static_cast<uint64_t>(n));
    };
    for (int i = 0; i < cases(20000); ++i) {
        int n = static_cast<int>(below(4)), m = static_cast<int>(below(4));
        std::vector<int> out{static_cast<int>(below(4)), static_cast<int>(below(4))};
        auto image = [&] { return IndexPoint{below(1 << out[0]), below(1 << out[1])}; };
        std::vector<std::vector<IndexPoint>> bases(2);
        for (int b = 0; b < n; ++b) {
            bases[0].push_back(image());
        }
        for (int b = 0; b < m; ++b) {
            bases[1].push_back(image());
        }
        auto offset = image();
        auto map = IndexMap::bit_linear(bases, out, offset);
        Reference reference = [&](const IndexPoint &x) {
            auto y = offset;
            for (size_t c = 0; c < 2; ++c) {
                for (size_t b = 0; b < bases[c].size(); ++b) {
                    if (x[c] >> b & 1) {
                        y[0] ^= bases[c][b][0];
                        y[1] ^= bases[c][b][1];
                    }
                }
            }
            return y;
        };
        auto domain = IndexSet{1 + below(1 << n), 1 + below(1 << m)};
        ASSERT_EQ(wrong_about(map.on(domain), reference), "");
        ASSERT_EQ(wrong_about(map.on(domain).into({1 + below(8), 1 + below(8)}), reference), "");
    }
}

TEST(LayoutProofs, mixed_radices_cut_short_by_ragged_boxes) {
    std::mt19937 engine{11};
    auto below = [&](int64_t n) {
        return static_cast<int64_t>(engine() % static_cast<uint64_t>(n));
    };
    for (int i = 0; i < cases(40000); ++i) {
        auto rank = static_cast<size_t>(1 + below(2));
        std::vector<LayoutMode> modes(1 + static_cast<size_t>(below(2)));
        IndexPoint offset, extents;
        for (size_t o = 0; o < rank; ++o) {
            offset.push_back(below(5) - 1);
        }
        for (auto &mode : modes) {
            int64_t size = 1;
            for (int64_t j = 0, n = 1 + below(3); j < n; ++j) {
                mode.shape.push_back(1 + below(4));
                size *= mode.shape.back();
                IndexPoint stride;
                for (size_t o = 0; o < rank; ++o) {
                    stride.push_back(below(4) == 0 ? below(13) - 4 : below(4) * mode.shape.back());
                }
                mode.stride.push_back(stride);
            }
            extents.push_back(below(size + 1));
        }
        auto map = IndexMap::mixed_radix(modes, offset).on(IndexSet{extents});
        Reference reference = [&](const IndexPoint &x) {
            auto y = offset;
            for (size_t c = 0; c < modes.size(); ++c) {
                auto rest = x[c];
                for (size_t j = 0; j < modes[c].shape.size(); ++j) {
                    for (size_t o = 0; o < rank; ++o) {
                        y[o] += rest % modes[c].shape[j] * modes[c].stride[j][o];
                    }
                    rest /= modes[c].shape[j];
                }
            }
            return y;
        };
        ASSERT_EQ(wrong_about(map, reference), "");
        IndexPoint codomain;
        for (size_t o = 0; o < rank; ++o) {
            codomain.push_back(below(8));
        }
        ASSERT_EQ(wrong_about(map.into(IndexSet{codomain}), reference), "");
    }
}

TEST(LayoutProofs, random_compositions) {
    std::mt19937 engine{13};
    auto below = [&](int64_t n) {
        return static_cast<int64_t>(engine() % static_cast<uint64_t>(n));
    };
    auto step = [&](const IndexSet &from) -> IndexMap {
        auto any = [&](const IndexPoint &) { return below(5); };
        switch (from.rank() == 1 ? below(7) : below(4)) {
            case 0:
                return IndexMap::permute(from, from.rank() == 1 ? std::vector<size_t>{0}
                                                                : std::vector<size_t>{1, 0});
            case 1: {
                IndexPoint strides;
                for (size_t i = 0; i < from.rank(); ++i) {
                    strides.push_back(below(6) - 1);
                }
                return IndexMap::strided(from.extents(), strides);
            }
            case 2: return IndexMap::translate(from, IndexPoint(from.rank(), below(3)));
            case 3: return IndexMap::project(from, {static_cast<size_t>(below(2)) % from.rank()});
            case 4:
                return IndexMap::swizzle(1 + static_cast<int>(below(2)), static_cast<int>(below(2)),
                                         2, from.extents()[0]);
            case 5:
                return IndexMap::of(from, {4, 4}, [&](IndexExpr x) {
                    return std::vector<IndexExpr>{x / (1 + below(4)), x % (1 + below(5))};
                });
            default: {
                std::vector<std::optional<IndexPoint>> images;
                for (int64_t k = 0; k < from.extents()[0]; ++k) {
                    images.push_back(below(9) ? std::optional{IndexPoint{any({})}} : std::nullopt);
                }
                return IndexMap::table(from, {5}, images);
            }
        }
    };
    for (int i = 0, n = is_deep() ? 1'000'000 : 20'000; i < n; ++i) {
        auto map = IndexMap::identity(below(2) ? IndexSet{1 + below(9)}
                                               : IndexSet{1 + below(4), below(5)});
        std::vector<IndexMap> steps;
        for (int64_t k = 0, length = 1 + below(3); k < length; ++k) {
            steps.push_back(step(map.codomain()));
            map = compose(steps.back(), map);
        }
        // Step by step, each where the one before leads.
        Reference reference = [&](const IndexPoint &x) -> std::optional<IndexPoint> {
            std::optional<IndexPoint> at = x;
            for (const auto &s : steps) {
                at = at && inside(*at, s.domain().extents()) ? s.at(*at) : std::nullopt;
            }
            return at;
        };
        ASSERT_EQ(wrong_about(map, reference), "") << i;
    }
}

TEST(LayoutProofs, a_sum_that_leaves_64_bits_is_not_hidden_by_one_that_comes_back) {
    auto big = int64_t{1} << 62;
    auto map = IndexMap::strided({3, 3}, {big, -big});
    auto proof = map.prove();
    EXPECT_EQ(proof.totality.proof, Proof::DISPROVEN);
    ASSERT_EQ(proof.totality.witness.size(), 1u);
    EXPECT_FALSE(map.at(proof.totality.witness[0]));
    EXPECT_FALSE(map.at({2, 2}));// 2^63 on the way to 0
    EXPECT_EQ(map({1, 1}), IndexPoint{0});
    EXPECT_EQ(IndexMap::strided({2, 2}, {big, -big}).prove().totality.proof, Proof::PROVEN);
}

TEST(LayoutProofs, what_no_rule_decides_is_unknown_beyond_the_budget) {
    IndexSet large{int64_t{1} << 21};
    auto map = IndexMap::of(large, large, [](IndexExpr x) { return x * x % (1 << 21); });
    auto proof = map.prove();
    EXPECT_EQ(proof.totality.proof, Proof::PROVEN);
    EXPECT_EQ(proof.bounds.proof, Proof::PROVEN);
    EXPECT_EQ(proof.injectivity.proof, Proof::UNKNOWN);
    EXPECT_EQ(proof.surjectivity.proof, Proof::UNKNOWN);
    EXPECT_EQ(proof.text(),
              "totality proven, bounds proven, injectivity unknown, surjectivity unknown");
}

TEST(LayoutProofs, a_padded_swizzled_tile_is_proved_without_listing_its_points) {
    auto rows = IndexMap::strided({4096, 4096}, {4096 + 64, 1}).into({4096 * 4160});
    auto map = compose(IndexMap::swizzle(3, 4, 7, 4096 * 4160), rows);
    auto start = std::chrono::steady_clock::now();
    auto proof = map.prove();
    auto best = std::chrono::steady_clock::now() - start;
    for (int i = 0; i < 20; ++i) {
        start = std::chrono::steady_clock::now();
        proof = map.prove();
        best = std::min(best, std::chrono::steady_clock::now() - start);
    }
    EXPECT_EQ(proof.totality.proof, Proof::PROVEN);
    EXPECT_EQ(proof.bounds.proof, Proof::PROVEN);
    EXPECT_EQ(proof.injectivity.proof, Proof::PROVEN);
    EXPECT_EQ(proof.surjectivity.proof, Proof::DISPROVEN);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(std::chrono::duration<double>(best).count(), 100e-6);
#endif
}
