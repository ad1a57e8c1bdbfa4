// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/device_ops.h>
#include <luisa/tile/runtime.h>

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

// Device-wide operators beside references of the host.

namespace luisa::tile::test {

/// Lengths around blocks: tiny ones on the interpreter too, long ones on the CPU.
inline std::vector<int64_t> lengths(const std::string &device) {
    if (device == "interpreter") {
        return {0, 1, 2, 100, 4097};
    }
    return {0, 1, 7, 1023, 4095, 4096, 4097, 12289, (1 << 20) + 17};
}

/// Small whole numbers: their sums are exact in every type.
template<class T> Tensor<T, 1> whole_numbers(const Device &device, int64_t n, uint32_t seed) {
    std::mt19937 engine{seed};
    auto t = make_tensor<T>(device, n);
    for (int64_t i = 0; i < n; ++i) {
        t.at(i) = static_cast<T>(static_cast<int>(engine() % 201) - 100);
    }
    return t;
}

/// Devices that must agree: the interpreter, and the CPU with several numbers of threads.
struct Place {
    const char *device;
    int threads;
};
inline const Place places[] = {{"interpreter", 1}, {"cpu", 1}, {"cpu", 2}, {"cpu", 7}};

}// namespace luisa::tile::test
