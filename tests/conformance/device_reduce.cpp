// SPDX-License-Identifier: Apache-2.0
#include "device_ops.h"
#include "support/trees.h"

#include <algorithm>

namespace luisa::tile::test {

namespace {

template<class T> class DeviceReduce : public ::testing::Test {};
using ReducedTypes = ::testing::Types<float, double, int32_t, int64_t>;
TYPED_TEST_SUITE(DeviceReduce, ReducedTypes);

}// namespace

TYPED_TEST(DeviceReduce, agrees_with_the_host_at_every_length) {
    using T = TypeParam;
    for (const auto &place : places) {
        auto device = Device::create(place.device, {.threads = place.threads});
        Stream stream{device};
        auto sum = device.jit(device_reduce<T>(add));
        auto least = device.jit(device_reduce<T>(minimum)),
             most = device.jit(device_reduce<T>(maximum));
        auto result = make_tensor<T>(device, 3);
        for (auto n : lengths(place.device)) {
            auto x = whole_numbers<T>(device, n, 7);
            stream << sum(x, result.slice(0, 0, 1)).dispatch()
                   << least(x, result.slice(0, 1, 2)).dispatch()
                   << most(x, result.slice(0, 2, 3)).dispatch() << synchronize();
            T total{};
            for (int64_t i = 0; i < n; ++i) {
                total += x.at(i);
            }
            EXPECT_EQ(result.at(0), total) << place.device << " " << n;
            if (n > 0) {
                EXPECT_EQ(result.at(1), *std::min_element(x.data(), x.data() + n)) << n;
                EXPECT_EQ(result.at(2), *std::max_element(x.data(), x.data() + n)) << n;
            }
        }
    }
}

TYPED_TEST(DeviceReduce, sums_floats_in_a_balanced_tree) {
    using T = TypeParam;
    if constexpr (std::is_floating_point_v<T>) {
        for (const auto &place : places) {
            auto device = Device::create(place.device, {.threads = place.threads});
            Stream stream{device};
            auto sum = device.jit(device_reduce<T>(add));
            auto result = make_tensor<T>(device, 1);
            for (auto n : lengths(place.device)) {
                auto x = make_tensor<T>(device, n);
                std::mt19937 engine{3};
                for (int64_t i = 0; i < n; ++i) {
                    x.at(i) = static_cast<T>(engine()) / T{3e9};
                }
                stream << sum(x, result).dispatch() << synchronize();
                if (n > 0) {
                    EXPECT_EQ(result.at(0), balanced_sum(x.data(), n)) << place.device << " " << n;
                }
            }
        }
    }
}

TEST(DeviceReduceOf, reads_strided_arrays) {
    auto device = Device::create("cpu", {.threads = 2});
    Stream stream{device};
    auto sum = device.jit(device_reduce<int64_t>(add));
    auto x = whole_numbers<int64_t>(device, 10000, 1), result = make_tensor<int64_t>(device, 1);
    stream << sum(x.slice(0, 9999, -1, -2), result).dispatch() << synchronize();
    int64_t total = 0;
    for (int64_t i = 9999; i >= 0; i -= 2) {
        total += x.at(i);
    }
    EXPECT_EQ(result.at(0), total);
}

TEST(DeviceReduceOf, folds_bits_and_truths) {
    auto device = Device::create("cpu", {.threads = 2});
    Stream stream{device};
    auto x = whole_numbers<int32_t>(device, 5000, 1), y = make_tensor<int32_t>(device, 3);
    stream << device.jit(device_reduce<int32_t>(bit_xor))(x, y.slice(0, 0, 1)).dispatch()
           << device.jit(device_reduce<int32_t>(bit_or))(x, y.slice(0, 1, 2)).dispatch()
           << device.jit(device_reduce<int32_t>(bit_and))(x, y.slice(0, 2, 3)).dispatch();
    int32_t both[3] = {0, 0, -1};
    for (int64_t i = 0; i < 5000; ++i) {
        both[0] ^= x.at(i);
        both[1] |= x.at(i);
        both[2] &= x.at(i);
    }
    EXPECT_EQ(y.at(0), both[0]);
    EXPECT_EQ(y.at(1), both[1]);
    EXPECT_EQ(y.at(2), both[2]);
}

TEST(DeviceReduceOf, names_a_result_of_another_extent) {
    auto device = Device::create("interpreter");
    Stream stream{device};
    auto x = whole_numbers<float>(device, 4, 1);
    int at = 0;
    try {
        at = __LINE__ + 1;
        stream << device.jit(device_reduce<float>(add))(x, x).dispatch();
        FAIL() << "accepted";
    } catch (const ShapeError &error) {
        EXPECT_EQ(error.what(), "device_reduce.cpp:" + std::to_string(at) +
                                    ": ShapeError: argument 'result' of program 'device_reduce' "
                                    "has extent 4 in dimension 0, expected 1");
    }
}

}// namespace luisa::tile::test
