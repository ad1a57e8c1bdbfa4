// SPDX-License-Identifier: Apache-2.0
#include "device_ops.h"

namespace luisa::tile::test {

namespace {

/// The scan of whole numbers, one element after the other.
template<class T, class Op>
std::vector<T> scanned(const Tensor<T, 1> &x, T nothing, DeviceScanOptions options, const Op &op) {
    auto n = x.extent(0);
    std::vector<T> y(static_cast<size_t>(n));
    T state = nothing;
    for (int64_t k = 0; k < n; ++k) {
        auto i = options.reverse ? n - 1 - k : k;
        auto next = k == 0 ? x.at(i) : op(state, x.at(i));
        y[static_cast<size_t>(i)] = options.exclusive ? state : next;
        state = next;
    }
    return y;
}

template<class T> class DeviceScan : public ::testing::Test {};
using ScannedTypes = ::testing::Types<float, double, int32_t, int64_t>;
TYPED_TEST_SUITE(DeviceScan, ScannedTypes);

}// namespace

TYPED_TEST(DeviceScan, agrees_with_the_host_in_each_direction) {
    using T = TypeParam;
    for (const auto &place : places) {
        auto device = Device::create(place.device, {.threads = place.threads});
        Stream stream{device};
        for (auto options : {DeviceScanOptions{}, DeviceScanOptions{.exclusive = true},
                             DeviceScanOptions{.exclusive = true, .reverse = true}}) {
            auto sums = device.jit(device_scan<T>(add, options));
            for (auto n : lengths(place.device)) {
                auto x = whole_numbers<T>(device, n, 5), y = make_tensor<T>(device, n);
                stream << sums(x, y).dispatch() << synchronize();
                auto want = scanned<T>(x, T{}, options, [](T a, T b) { return a + b; });
                ASSERT_EQ(std::vector<T>(y.data(), y.data() + n), want)
                    << place.device << " " << n << " " << options.exclusive << options.reverse;
            }
        }
    }
}

TYPED_TEST(DeviceScan, writes_in_place_and_has_the_same_bits_for_every_number_of_threads) {
    using T = TypeParam;
    std::vector<T> first;
    for (int threads : {1, 2, 7}) {
        auto device = Device::create("cpu", {.threads = threads});
        Stream stream{device};
        auto x = make_tensor<T>(device, 50000);
        std::mt19937 engine{3};
        for (int64_t i = 0; i < 50000; ++i) {
            x.at(i) = static_cast<T>(engine()) / static_cast<T>(1000);
        }
        stream << device.jit(device_scan<T>(add))(x, x).dispatch() << synchronize();
        std::vector<T> all(x.data(), x.data() + 50000);
        if (first.empty()) {
            first = all;
        }
        EXPECT_EQ(all, first) << threads;
    }
}

TEST(DeviceScanOf, maxima_and_strided_arrays) {
    auto device = Device::create("cpu", {.threads = 2});
    Stream stream{device};
    auto x = whole_numbers<int32_t>(device, 20001, 5), y = make_tensor<int32_t>(device, 10001);
    auto even = x.slice(0, 0, 20001, 2);
    stream << device.jit(device_scan<int32_t>(maximum))(even, y).dispatch() << synchronize();
    auto want = scanned<int32_t>(even, 0, {}, [](int a, int b) { return a > b ? a : b; });
    EXPECT_EQ(std::vector<int32_t>(y.data(), y.data() + 10001), want);
}

namespace {

template<class T> class DeviceHistogram : public ::testing::Test {};
using Integers = ::testing::Types<int32_t, int64_t>;
TYPED_TEST_SUITE(DeviceHistogram, Integers);

}// namespace

TYPED_TEST(DeviceHistogram, counts_what_is_inside) {
    using T = TypeParam;
    for (const auto &place : places) {
        auto device = Device::create(place.device, {.threads = place.threads});
        Stream stream{device};
        auto f = device.jit(device_histogram<T>());
        for (int64_t bins : {0, 1, 50, 5000}) {
            for (auto n : lengths(place.device)) {
                auto x = whole_numbers<T>(device, n, 9);
                auto counts = make_tensor<int64_t>(device, bins);
                stream << f(x, counts).dispatch() << f(x, counts).dispatch() << synchronize();
                std::vector<int64_t> want(static_cast<size_t>(bins));
                for (int64_t i = 0; i < n; ++i) {
                    if (x.at(i) >= 0 && x.at(i) < bins) {
                        ++want[static_cast<size_t>(x.at(i))];
                    }
                }
                ASSERT_EQ(std::vector<int64_t>(counts.data(), counts.data() + bins), want)
                    << place.device << " " << n << " " << bins;
            }
        }
    }
}

}// namespace luisa::tile::test
