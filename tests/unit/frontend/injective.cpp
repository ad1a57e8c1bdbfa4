// SPDX-License-Identifier: Apache-2.0
#include "frontend/injective.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

// Whether a linear map gives every point a place of its own, against trying all points.

namespace luisa::tile::core {
namespace {

using Proof = Injectivity::Proof;
using Rows = std::vector<std::vector<int64_t>>;

std::vector<int64_t> place_of(const Rows &rows, const std::vector<int64_t> &at) {
    std::vector<int64_t> place;
    for (const auto &row : rows) {
        int64_t sum = 0;
        for (size_t j = 0; j < at.size(); ++j) {
            sum += row[j] * at[j];
        }
        place.push_back(sum);
    }
    return place;
}

bool all_differ(const Rows &rows, const std::vector<int64_t> &extents) {
    std::set<std::vector<int64_t>> places;
    std::vector<int64_t> at(extents.size(), 0);
    while (true) {
        if (!places.insert(place_of(rows, at)).second) {
            return false;
        }
        size_t i = at.size();
        while (i-- > 0) {
            if (++at[i] < extents[i]) {
                break;
            }
            at[i] = 0;
        }
        if (i == static_cast<size_t>(-1)) {
            return true;
        }
    }
}

TEST(Injective, AgreesWithTryingAllPoints) {
    std::mt19937 random{7};
    auto pick = [&](int low, int high) {
        return static_cast<int64_t>(
            low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1)));
    };
    int proven = 0, disproven = 0;
    for (int round = 0; round < 4000; ++round) {
        auto rank = static_cast<size_t>(pick(1, 4)), count = static_cast<size_t>(pick(1, 3));
        std::vector<int64_t> extents;
        for (size_t j = 0; j < rank; ++j) {
            extents.push_back(pick(1, 5));
        }
        Rows rows(count);
        for (auto &row : rows) {
            for (size_t j = 0; j < rank; ++j) {
                row.push_back(pick(0, 2) ? pick(-12, 12) : 0);
            }
        }
        auto proof = prove_injective(rows, extents);
        if (all_differ(rows, extents)) {
            ASSERT_EQ(proof.proof, Proof::PROVEN) << round;
            ++proven;
        } else {
            ASSERT_EQ(proof.proof, Proof::DISPROVEN) << round;
            ASSERT_NE(proof.first, proof.second);
            ASSERT_EQ(place_of(rows, proof.first), place_of(rows, proof.second));
            for (size_t j = 0; j < rank; ++j) {
                ASSERT_LT(std::max(proof.first[j], proof.second[j]), extents[j]);
            }
            ++disproven;
        }
    }
    EXPECT_GT(proven, 400);
    EXPECT_GT(disproven, 400);
}

TEST(Injective, DecidesLargeBoxes) {
    auto proof = [](Rows rows, std::vector<int64_t> extents) {
        return prove_injective(rows, extents).proof;
    };
    constexpr int64_t big = 1'000'000;
    EXPECT_EQ(proof({{big, 1}}, {big, big}), Proof::PROVEN);
    EXPECT_EQ(proof({{big - 1, 1}}, {big, big}), Proof::DISPROVEN);
    EXPECT_EQ(proof({{1, 0}, {0, -3}}, {big, big}), Proof::PROVEN);
    EXPECT_EQ(proof({{1, 1}}, {big, 2}), Proof::DISPROVEN);
    EXPECT_EQ(proof({{2, 3}}, {3, 2}), Proof::PROVEN);
    EXPECT_EQ(proof({{2, 3}}, {4, 3}), Proof::DISPROVEN);
    EXPECT_EQ(proof({{0}}, {1}), Proof::PROVEN);
    EXPECT_EQ(proof({{0}}, {2}), Proof::DISPROVEN);
    EXPECT_EQ(proof({{0}}, {0}), Proof::PROVEN);
    EXPECT_EQ(proof({}, {3}), Proof::DISPROVEN);
    // Coefficients and extents at the ends of their type.
    EXPECT_EQ(proof({{INT64_MAX, 1}}, {INT64_MAX, 5}), Proof::PROVEN);
    EXPECT_EQ(proof({{INT64_MIN, INT64_MIN}}, {2, 2}), Proof::DISPROVEN);
}

}// namespace
}// namespace luisa::tile::core
