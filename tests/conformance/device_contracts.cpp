// SPDX-License-Identifier: Apache-2.0
#include "device_ops.h"

#include <luisa/tile/contracts.h>
#include <luisa/tile/device_contracts.h>

namespace luisa::tile::test {

namespace {

/// x -> (2 x' + 1) x + x' for each element x': composition does not commute, and integers are exact.
struct Chain {
    Tile<int64_t> scale, offset;
    LUISA_TILE_STATE(Chain, scale, offset)
};
struct Chaining {
    Chain identity() const { return {Scalar<int64_t>{1}, Scalar<int64_t>{0}}; }
    Chain merge(const Chain &a, const Chain &b) const {
        return {b.scale * a.scale, b.scale * a.offset + b.offset};
    }
    Chain lift(const Tile<int64_t> &x) const { return {x * 2 + 1, x}; }
};

struct HostChain {
    uint64_t scale = 1, offset = 0;
    void push(int64_t x) {
        auto a = static_cast<uint64_t>(2 * x + 1);
        scale = a * scale;
        offset = a * offset + static_cast<uint64_t>(x);
    }
};

}// namespace

TEST(DeviceContracts, reduce_keeps_the_order_of_elements) {
    for (const auto &place : places) {
        auto device = Device::create(place.device, {.threads = place.threads});
        Stream stream{device};
        auto f = device.jit(device_reduce<int64_t>(Chaining{}));
        auto scale = make_tensor<int64_t>(device, 1), offset = make_tensor<int64_t>(device, 1);
        for (auto n : lengths(place.device)) {
            auto x = whole_numbers<int64_t>(device, n, 3);
            stream << f(x, scale, offset).dispatch() << synchronize();
            HostChain want;
            for (int64_t i = 0; i < n; ++i) {
                want.push(x.at(i));
            }
            EXPECT_EQ(static_cast<uint64_t>(scale.at(0)), want.scale) << place.device << n;
            EXPECT_EQ(static_cast<uint64_t>(offset.at(0)), want.offset) << place.device << n;
        }
    }
}

TEST(DeviceContracts, scan_keeps_the_order_of_elements) {
    for (const auto &place : places) {
        auto device = Device::create(place.device, {.threads = place.threads});
        Stream stream{device};
        for (auto options : {DeviceScanOptions{}, DeviceScanOptions{.exclusive = true},
                             DeviceScanOptions{.exclusive = false, .reverse = true}}) {
            auto f = device.jit(device_scan<int64_t>(Chaining{}, options));
            for (auto n : lengths(place.device)) {
                if (n > 100000) {
                    continue;
                }
                auto x = whole_numbers<int64_t>(device, n, 3);
                auto scale = make_tensor<int64_t>(device, n),
                     offset = make_tensor<int64_t>(device, n);
                stream << f(x, scale, offset).dispatch() << synchronize();
                HostChain want;
                for (int64_t k = 0; k < n; ++k) {
                    auto i = options.reverse ? n - 1 - k : k;
                    auto before = want;
                    want.push(x.at(i));
                    const auto &here = options.exclusive ? before : want;
                    ASSERT_EQ(static_cast<uint64_t>(scale.at(i)), here.scale) << n << " " << i;
                    ASSERT_EQ(static_cast<uint64_t>(offset.at(i)), here.offset) << n << " " << i;
                }
            }
        }
    }
}

TEST(DeviceContracts, welford_of_a_long_array) {
    auto device = Device::create("cpu", {.threads = 2});
    Stream stream{device};
    auto f = device.jit(device_reduce<double>(welford));
    auto x = whole_numbers<double>(device, 100001, 3);
    auto count = make_tensor<double>(device, 1), mean = make_tensor<double>(device, 1),
         m2 = make_tensor<double>(device, 1);
    stream << f(x, count, mean, m2).dispatch() << synchronize();
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 100001; ++i) {
        sum += x.at(i);
        squares += x.at(i) * x.at(i);
    }
    EXPECT_EQ(count.at(0), 100001);
    EXPECT_NEAR(mean.at(0), sum / 100001, 1e-12);
    EXPECT_NEAR(m2.at(0) / 100001, squares / 100001 - sum / 100001 * (sum / 100001), 1e-9);
}

}// namespace luisa::tile::test
