// SPDX-License-Identifier: Apache-2.0
#include "device_ops.h"

#include <luisa/tile/device_sort.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace luisa::tile::test {

namespace {

/// Places in the order of a stable sort with NaN last.
template<class T> std::vector<int64_t> ranked(const Tensor<T, 1> &x, SortOrder order) {
    std::vector<int64_t> places(static_cast<size_t>(x.extent(0)));
    std::iota(places.begin(), places.end(), int64_t{0});
    std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
        bool nan_a = x.at(a) != x.at(a), nan_b = x.at(b) != x.at(b);
        if (nan_a || nan_b) {
            return !nan_a && nan_b;
        }
        return order == ascending ? x.at(a) < x.at(b) : x.at(b) < x.at(a);
    });
    return places;
}

template<class T> Tensor<T, 1> mixed(const Device &device, int64_t n) {
    auto x = whole_numbers<T>(device, n, 11);
    for (int64_t i = 0; i < n; i += 37) {
        if constexpr (std::is_floating_point_v<T>) {
            const T special[] = {-T{0},
                                 T{0},
                                 std::numeric_limits<T>::quiet_NaN(),
                                 std::numeric_limits<T>::infinity(),
                                 -std::numeric_limits<T>::infinity(),
                                 T{0.5}};
            x.at(i) = special[static_cast<size_t>(i / 37) % 6];
        } else {
            x.at(i) = i % 2 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
        }
    }
    return x;
}

template<class T>
void expect_taken(const Tensor<T, 1> &x, const Tensor<T, 1> &values,
                  const Tensor<int64_t, 1> &indices, SortOrder order) {
    auto want = ranked(x, order);
    for (int64_t i = 0; i < values.extent(0); ++i) {
        auto from = want[static_cast<size_t>(i)];
        ASSERT_EQ(indices.at(i), from) << i << " of " << x.extent(0);
        ASSERT_EQ(std::memcmp(&values.at(i), &x.at(from), sizeof(T)), 0) << i;
    }
}

template<class T> class DeviceSort : public ::testing::Test {};
using SortedTypes = ::testing::Types<float, double, int32_t, int64_t>;
TYPED_TEST_SUITE(DeviceSort, SortedTypes);

}// namespace

TYPED_TEST(DeviceSort, agrees_with_a_stable_sort) {
    using T = TypeParam;
    for (const auto &place : places) {
        auto device = Device::create(place.device, {.threads = place.threads});
        Stream stream{device};
        for (auto order : {ascending, descending}) {
            auto f = device.jit(device_sort<T>(order));
            for (auto n : lengths(place.device)) {
                if (n > 100000 && (order == descending || place.threads == 7)) {
                    continue;// one long array for each type is enough
                }
                auto x = mixed<T>(device, n), values = make_tensor<T>(device, n);
                auto indices = make_tensor<int64_t>(device, n);
                stream << f(x, values, indices).dispatch() << synchronize();
                expect_taken(x, values, indices, order);
            }
        }
    }
}

TYPED_TEST(DeviceSort, topk_gives_its_beginning) {
    using T = TypeParam;
    for (const auto &place : places) {
        auto device = Device::create(place.device, {.threads = place.threads});
        Stream stream{device};
        auto f = device.jit(device_topk<T>());
        for (int64_t k : {0, 1, 10, 300}) {
            for (auto n : lengths(place.device)) {
                if (n < k || n > 100000) {
                    continue;
                }
                auto x = mixed<T>(device, n), values = make_tensor<T>(device, k);
                auto indices = make_tensor<int64_t>(device, k);
                stream << f(x, values, indices).dispatch() << synchronize();
                expect_taken(x, values, indices, descending);
            }
        }
    }
}

TEST(DeviceSortOf, overlapping_arguments_are_an_error) {
    for (const auto *name : {"cpu", "interpreter"}) {
        auto device = Device::create(name);
        Stream stream{device};
        for (int64_t n : {5, 2000}) {
            auto x = whole_numbers<float>(device, n, 1), values = make_tensor<float>(device, n);
            auto indices = make_tensor<int64_t>(device, n);
            auto f = device.jit(device_sort<float>());
            const auto before = x.at(0);
            EXPECT_THROW(stream << f(x, x, indices).dispatch(), AliasError) << name;
            EXPECT_EQ(x.at(0), before) << "nothing was written";
            auto all = make_tensor<float>(device, 2 * n);
            EXPECT_THROW(
                stream << f(all.slice(0, 0, n), all.slice(0, n - 1, 2 * n - 1), indices).dispatch(),
                AliasError);
            EXPECT_NO_THROW(stream
                            << f(all.slice(0, 0, n), all.slice(0, n, 2 * n), indices).dispatch());
        }
    }
}

TEST(DeviceSortOf, more_than_there_are_is_an_error) {
    auto device = Device::create("interpreter");
    Stream stream{device};
    auto x = whole_numbers<float>(device, 3, 1), values = make_tensor<float>(device, 4);
    auto indices = make_tensor<int64_t>(device, 4);
    int at = __LINE__ + 1;
    auto f = device.jit(device_topk<float>());
    try {
        stream << f(x, values, indices).dispatch();
        FAIL() << "accepted";
    } catch (const IndexError &error) {
        EXPECT_EQ(error.what(), "device_sort.cpp:" + std::to_string(at) +
                                    ": IndexError: device_topk: the 4 first elements of 3");
    }
}

}// namespace luisa::tile::test
