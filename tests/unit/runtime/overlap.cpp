// SPDX-License-Identifier: Apache-2.0
#include "runtime/overlap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace luisa::tile::runtime {

namespace {

std::set<uintptr_t> bytes_of(const Argument &view) {
    std::set<uintptr_t> bytes;
    auto element = size_of(view.type);
    for (int64_t i = 0; i < view.extents[0]; ++i) {
        for (int64_t j = 0; j < view.extents[1]; ++j) {
            for (int64_t k = 0; k < view.extents[2]; ++k) {
                auto at = (i * view.strides[0] + j * view.strides[1] + k * view.strides[2]) *
                          static_cast<int64_t>(element);
                for (size_t b = 0; b < element; ++b) {
                    bytes.insert(reinterpret_cast<uintptr_t>(view.data) +
                                 static_cast<uintptr_t>(at) + b);
                }
            }
        }
    }
    return bytes;
}

Argument random_view(std::mt19937 &engine) {
    auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>{low, high}(engine);
    };
    constexpr ScalarType types[] = {ScalarType::INT8, ScalarType::FLOAT16, ScalarType::FLOAT32};
    Argument view;
    view.is_view = true;
    view.rank = 3;
    view.type = types[pick(0, 2)];
    for (int d = 0; d < 3; ++d) {
        view.extents[d] = pick(0, 9) == 0 ? 0 : pick(1, 4);
        view.strides[d] = pick(-12, 12);
    }
    view.data = reinterpret_cast<void *>(static_cast<uintptr_t>(4096 + pick(0, 60)));
    return view;
}

}// namespace

TEST(Overlap, agrees_with_enumeration) {
    std::mt19937 engine{1};
    int shared = 0, crossing = 0;
    for (int round = 0; round < 20000; ++round) {
        auto a = random_view(engine), b = random_view(engine);
        auto x = bytes_of(a), y = bytes_of(b);
        bool expected = false;
        for (auto byte : x) {
            expected |= y.count(byte) != 0;
        }
        if (!x.empty()) {
            EXPECT_EQ(range_of(a).low, *x.begin());
            EXPECT_EQ(range_of(a).high, *x.rbegin() + 1);
        }
        ASSERT_EQ(share_element(a, b, 1 << 20), expected) << "round " << round;
        // With fewer steps it may only err toward yes.
        ASSERT_TRUE(share_element(a, b, 2) || !expected);
        shared += expected;
        crossing += !expected && !x.empty() && !y.empty() && *x.begin() <= *y.rbegin() &&
                    *y.begin() <= *x.rbegin();
    }
    EXPECT_GT(shared, 1000);
    EXPECT_GT(crossing, 1000);
}

TEST(Overlap, halves_of_a_large_matrix_are_told_apart_in_few_steps) {
    Argument left;
    left.is_view = true;
    left.rank = 2;
    left.data = reinterpret_cast<void *>(uintptr_t{1} << 30);
    left.extents[0] = 100000;
    left.extents[1] = 512;
    left.strides[0] = 1024;
    left.strides[1] = 1;
    auto right = left;
    right.data = static_cast<float *>(left.data) + 512;
    EXPECT_FALSE(share_element(left, right, 200));
    right.data = static_cast<float *>(left.data) + 511;
    EXPECT_TRUE(share_element(left, right, 200));
}

TEST(Overlap, places_of_one_view_agree_with_enumeration) {
    std::mt19937 engine{2};
    int shared = 0, distinct = 0;
    for (int round = 0; round < 20000; ++round) {
        auto view = random_view(engine);
        auto places = view.extents[0] * view.extents[1] * view.extents[2];
        auto elements = bytes_of(view).size() / size_of(view.type);
        auto overlap = find_self_overlap(view, 1 << 20);
        // Elements of several bytes never overlap in part: strides count elements.
        ASSERT_EQ(overlap.found, static_cast<int64_t>(elements) != places) << "round " << round;
        // With fewer steps it may only err toward no.
        ASSERT_TRUE(overlap.found || !find_self_overlap(view, 2).found);
        if (!overlap.found) {
            distinct += places > 1;
            continue;
        }
        ++shared;
        int64_t first = 0, second = 0;
        bool same = true;
        for (int d = 0; d < 3; ++d) {
            ASSERT_GE(overlap.first[d], 0);
            ASSERT_LT(overlap.first[d], view.extents[d]);
            ASSERT_GE(overlap.second[d], 0);
            ASSERT_LT(overlap.second[d], view.extents[d]);
            first += overlap.first[d] * view.strides[d];
            second += overlap.second[d] * view.strides[d];
            same &= overlap.first[d] == overlap.second[d];
        }
        ASSERT_EQ(first, second);
        ASSERT_FALSE(same);
    }
    EXPECT_GT(shared, 1000);
    EXPECT_GT(distinct, 1000);
}

TEST(Overlap, large_views_are_answered_at_once) {
    Argument view;
    view.is_view = true;
    view.rank = 4;
    view.data = reinterpret_cast<void *>(uintptr_t{1} << 30);
    auto set = [&](int d, int64_t extent, int64_t stride) {
        view.extents[d] = extent;
        view.strides[d] = stride;
    };
    set(0, 1 << 20, 1);
    set(1, 1 << 20, -(int64_t{1} << 40));
    set(2, 1 << 19, 1 << 20);
    set(3, 1, 0);
    EXPECT_FALSE(find_self_overlap(view, 10).found);
    // One element too many in a row: its last is the next row's first.
    set(0, (1 << 20) + 1, 1);
    EXPECT_TRUE(find_self_overlap(view, 10).found);
    // No common multiple within the extents, but none that the greedy answer sees.
    set(0, 1000003, 999983);
    set(1, 999983, 1000003);
    set(2, 1, 0);
    EXPECT_FALSE(find_self_overlap(view, 1 << 21).found);
}

}// namespace luisa::tile::runtime
