// SPDX-License-Identifier: Apache-2.0
#include "device_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

// Device-wide reductions and scans of NaN, infinities, both zeros and subnormal numbers, wherever they stand.

namespace luisa::tile::test {

namespace {

template<class T> Tensor<T, 1> filled(const Device &device, int64_t n, T value) {
    auto x = make_tensor<T>(device, n);
    std::fill(x.data(), x.data() + n, value);
    return x;
}

template<class T>
T reduced(const Device &device, Stream &stream, const Tensor<T, 1> &x, ReducerFunction op) {
    auto result = make_tensor<T>(device, 1);
    stream << device.jit(device_reduce<T>(op))(x, result).dispatch() << synchronize();
    return result.at(0);
}

template<class T> bool is_minus_zero(T x) { return x == T{0} && std::signbit(x); }

/// Lengths within one block and over several, and places at their ends and on both sides of a boundary.
std::vector<int64_t> some_lengths(const Place &place) {
    return std::string{place.device} == "cpu" ? std::vector<int64_t>{1, 100, 4097, 20000}
                                              : std::vector<int64_t>{1, 100, 4097};
}
std::vector<int64_t> places_in(int64_t n) {
    std::vector<int64_t> all;
    for (int64_t p : {int64_t{0}, n / 2, int64_t{4095}, int64_t{4096}, n - 1}) {
        if (p < n) {
            all.push_back(p);
        }
    }
    return all;
}

template<class T> class DeviceSpecials : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceSpecials, Floats);

}// namespace

TYPED_TEST(DeviceSpecials, reductions_keep_nan_zeros_and_subnormal_numbers) {
    using T = TypeParam;
    const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
    const T tiny = std::numeric_limits<T>::denorm_min();
    for (const auto &place : places) {
        auto device = Device::create(place.device, {.threads = place.threads});
        Stream stream{device};
        for (auto n : some_lengths(place)) {
            SCOPED_TRACE(std::string{place.device} + " " + std::to_string(n));
            auto x = filled<T>(device, n, -T{0});
            EXPECT_TRUE(is_minus_zero(reduced(device, stream, x, add)));
            EXPECT_TRUE(is_minus_zero(reduced(device, stream, x, maximum)));
            x = filled<T>(device, n, tiny);
            EXPECT_EQ(reduced(device, stream, x, add), tiny * static_cast<T>(n));
            for (auto p : places_in(n)) {
                x = filled<T>(device, n, T{1});
                x.at(p) = nan;
                EXPECT_TRUE(std::isnan(reduced(device, stream, x, add))) << p;
                EXPECT_TRUE(std::isnan(reduced(device, stream, x, maximum))) << p;
                EXPECT_TRUE(std::isnan(reduced(device, stream, x, minimum))) << p;
                auto numbers = reduced(device, stream, x, luisa::tile::fmax);
                EXPECT_TRUE(n == 1 ? std::isnan(numbers) : numbers == 1) << p;
                x = filled<T>(device, n, T{0});
                x.at(p) = -T{0};
                EXPECT_EQ(is_minus_zero(reduced(device, stream, x, maximum)), n == 1) << p;
                EXPECT_TRUE(is_minus_zero(reduced(device, stream, x, minimum))) << p;
                x.at(p) = inf;
                EXPECT_EQ(reduced(device, stream, x, add), inf) << p;
                x.at(0) = n == 1 || p == 0 ? x.at(0) : -inf;
                EXPECT_EQ(std::isnan(reduced(device, stream, x, add)), p != 0) << p;
            }
        }
    }
}

TYPED_TEST(DeviceSpecials, scans_keep_them_from_their_place_on) {
    using T = TypeParam;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const T tiny = std::numeric_limits<T>::denorm_min();
    for (const auto &place : places) {
        auto device = Device::create(place.device, {.threads = place.threads});
        Stream stream{device};
        auto sums = device.jit(device_scan<T>(add)), most = device.jit(device_scan<T>(maximum));
        auto before = device.jit(device_scan<T>(add, {.exclusive = true}));
        auto after = device.jit(device_scan<T>(add, {.exclusive = true, .reverse = true}));
        for (auto n : some_lengths(place)) {
            auto x = filled<T>(device, n, -T{0}), y = make_tensor<T>(device, n);
            stream << sums(x, y).dispatch() << synchronize();
            EXPECT_TRUE(std::all_of(y.data(), y.data() + n, is_minus_zero<T>)) << n;
            // What comes before the first element is a sum of nothing, +0; later ones are sums of -0.
            stream << before(x, y).dispatch() << synchronize();
            EXPECT_TRUE(y.at(0) == 0 && !std::signbit(y.at(0))) << n;
            EXPECT_TRUE(std::all_of(y.data() + 1, y.data() + n, is_minus_zero<T>)) << n;
            stream << after(x, y).dispatch() << synchronize();
            EXPECT_TRUE(y.at(n - 1) == 0 && !std::signbit(y.at(n - 1))) << n;
            EXPECT_TRUE(std::all_of(y.data(), y.data() + n - 1, is_minus_zero<T>)) << n;
            for (auto p : places_in(n)) {
                SCOPED_TRACE(std::string{place.device} + " " + std::to_string(n) + " " +
                             std::to_string(p));
                x = filled<T>(device, n, tiny);
                x.at(p) = nan;
                stream << sums(x, y).dispatch() << synchronize();
                for (int64_t i = 0; i < n; ++i) {
                    ASSERT_TRUE(i < p ? y.at(i) == tiny * static_cast<T>(i + 1)
                                      : std::isnan(y.at(i)))
                        << i;
                }
                stream << most(x, y).dispatch() << synchronize();
                for (int64_t i = 0; i < n; ++i) {
                    ASSERT_TRUE(i < p ? y.at(i) == tiny : std::isnan(y.at(i))) << i;
                }
            }
        }
    }
}

}// namespace luisa::tile::test
