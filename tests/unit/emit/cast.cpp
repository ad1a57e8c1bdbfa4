// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include "types/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

// Every conversion between storage types, at every width, against the reference functions.

namespace luisa::tile::emit::test {

namespace {

const ScalarType all_types[] = {
    ScalarType::BOOL,    ScalarType::INT8,          ScalarType::INT16,      ScalarType::INT32,
    ScalarType::INT64,   ScalarType::UINT8,         ScalarType::UINT16,     ScalarType::UINT32,
    ScalarType::UINT64,  ScalarType::FLOAT16,       ScalarType::BFLOAT16,   ScalarType::FLOAT32,
    ScalarType::FLOAT64, ScalarType::FLOAT8_E4M3FN, ScalarType::FLOAT8_E5M2};

struct Conversion {
    ScalarType from, to;
    int quantize = -1;///< otherwise whether it saturates
};

std::string name_of(const Conversion &c, unsigned lanes) {
    return std::string{to_string(c.from)} + "_" + to_string(c.to) + "_" +
           std::to_string(c.quantize) + "_" + std::to_string(lanes);
}

std::vector<uint64_t> values_for(ScalarType from) {
    auto values = special_values(from);
    if (info(from).bits == 16) {
        values.clear();
        for (uint64_t x = 0; x < 65536; ++x) {
            values.push_back(x);
        }
    } else if (from == ScalarType::FLOAT32 || from == ScalarType::FLOAT64) {
        // Midpoints of narrower formats and their neighbours, over the whole exponent range.
        for (int e = -160; e <= 135; ++e) {
            for (double x : {1.0625, 1.1875, 1.125, 1.375, 1.00390625, 1.01171875, 1.00048828125,
                             1.00146484375, 1.0}) {
                auto y = std::ldexp(x, e);
                for (int step : {-1, 0, 1}) {
                    if (from == ScalarType::FLOAT32) {
                        values.push_back(std::bit_cast<uint32_t>(float(y)) + uint32_t(step));
                    } else {
                        values.push_back(std::bit_cast<uint64_t>(y) + uint64_t(int64_t(step)));
                    }
                }
            }
        }
        for (auto &v : values) {
            v &= from == ScalarType::FLOAT32 ? 0xffffffffull : ~0ull;
        }
    } else if (info(from).bits >= 32 && is_integer(from)) {
        auto bits = info(from).bits;
        for (int e = 1; e < bits; ++e) {
            for (uint64_t tail : {0ull, 1ull}) {
                for (uint64_t x :
                     {0x101ull, 0x103ull, 0x801ull, 0x803ull, 0x1000001ull, 0x1000003ull}) {
                    auto y = (x << e) + tail;
                    values.push_back(bits == 32 ? y & 0xffffffff : y);
                    values.push_back(bits == 32 ? (0 - y) & 0xffffffff : 0 - y);
                }
            }
        }
    }
    while (values.size() % 32) {
        values.push_back(values.front());
    }
    return values;
}

uint64_t expected(const Conversion &c, uint64_t bits) {
    return c.quantize < 0 ? arith::convert(bits, c.from, c.to)
                          : arith::quantize(bits, c.from, c.to, c.quantize != 0);
}

void check_from(ScalarType from, const CpuTarget &target) {
    std::vector<Conversion> conversions;
    for (auto to : all_types) {
        if (info(to).computes) {
            conversions.push_back({from, to, -1});
        } else {
            conversions.push_back({from, to, 0});
            conversions.push_back({from, to, 1});
        }
    }
    Machine m;
    for (const auto &c : conversions) {
        for (auto lanes : widths) {
            add_map(m, name_of(c, lanes), {from}, c.to, lanes, [&](const auto &v) {
                auto *t = m.type(c.to, lanes);
                return c.quantize < 0 ? m.op(Opcode::CAST, {v[0]}, t)
                                      : m.op(Opcode::QUANTIZE, {v[0]}, t,
                                             ir::QuantizePayload{c.quantize != 0});
            });
        }
    }
    auto code = compile(m.module, target);
    auto values = values_for(from);
    auto input = pack(from, values);
    for (const auto &c : conversions) {
        for (auto lanes : widths) {
            std::vector<uint8_t> output(values.size() * size_of(c.to), 0xcd);
            run(*code, name_of(c, lanes), {input.data()}, output.data(),
                static_cast<int64_t>(values.size()));
            int failures = 0;
            for (size_t i = 0; i < values.size() && failures < 3; ++i) {
                auto want = expected(c, values[i]), got = element(c.to, output, i);
                if (!same(c.to, want, got)) {
                    ++failures;
                    ADD_FAILURE() << name_of(c, lanes) << std::hex << " of " << values[i] << ": "
                                  << got << ", expected " << want;
                }
            }
        }
    }
}

}// namespace

TEST(EmitCast, agrees_with_the_reference_on_this_machine) {
    for (auto from : all_types) {
        check_from(from, host_cpu());
    }
}

TEST(EmitCast, agrees_with_the_reference_without_avx512) {
    for (auto from : all_types) {
        check_from(from, {"x86-64-v3", ""});
    }
}

TEST(EmitCast, agrees_with_the_reference_on_the_lowest_level) {
    for (auto from : all_types) {
        check_from(from, {"x86-64", ""});
    }
}

TEST(EmitCast, bitcast_select_and_lane_moves_keep_the_bits_of_narrow_floats) {
    const std::pair<ScalarType, ScalarType> pairs[] = {
        {ScalarType::FLOAT16, ScalarType::UINT16},   {ScalarType::BFLOAT16, ScalarType::INT16},
        {ScalarType::FLOAT16, ScalarType::BFLOAT16}, {ScalarType::FLOAT8_E4M3FN, ScalarType::UINT8},
        {ScalarType::FLOAT32, ScalarType::INT32},    {ScalarType::FLOAT64, ScalarType::UINT64}};
    for (auto [from, to] : pairs) {
        for (auto lanes : widths) {
            Machine m;
            add_map(m, "f", {from, ScalarType::BOOL}, to, lanes, [&](const auto &v) {
                auto *chosen = m.op(Opcode::ITE, {v[1], v[0], v[0]}, m.type(from, lanes));
                return m.op(Opcode::BITCAST, {chosen}, m.type(to, lanes));
            });
            auto code = compile(m.module, host_cpu());
            auto values = special_values(from);
            values.resize(values.size() / 32 * 32);
            auto input = pack(from, values);
            std::vector<uint8_t> chooser(values.size()), output(input.size());
            for (size_t i = 0; i < chooser.size(); ++i) {
                chooser[i] = i & 1;
            }
            run(*code, "f", {input.data(), chooser.data()}, output.data(),
                static_cast<int64_t>(values.size()));
            EXPECT_EQ(input, output) << to_string(from) << " " << lanes;
        }
    }
}

}// namespace luisa::tile::emit::test
