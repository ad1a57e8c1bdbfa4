// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include "types/arith.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace luisa::tile::emit::test {

namespace {

const CpuTarget &plain() {
    static const CpuTarget target{"x86-64-v3", ""};
    return target;
}

template<class T, ScalarType S> void check_scale() {
    std::vector<T> x, n, expected;
    for (auto bits : special_values(S)) {
        T value{};
        std::memcpy(&value, &bits, sizeof value);
        for (int e :
             {0,    1,     -1,   2,     -2,   23,    -24,  52,    -53,  100,   -100,   126,
              -126, 127,   -127, -149,  150,  -150,  200,  -200,  252,  -252,  254,    -275,
              277,  -1021, 1023, -1074, 1500, -1500, 2098, -2098, 3000, -3000, 100000, -100000}) {
            x.push_back(value);
            n.push_back(static_cast<T>(e));
            expected.push_back(std::ldexp(value, e));
        }
    }
    while (x.size() % 32) {
        x.push_back(0), n.push_back(0), expected.push_back(0);
    }
    for (const auto &target :
         {host_cpu(), plain(), CpuTarget{"x86-64-v3", "+avx512f"}, CpuTarget{"x86-64", ""}}) {
        Machine m;
        for (auto lanes : widths) {
            add_map(m, "scale" + std::to_string(lanes), {S, S}, S, lanes, [&](const auto &v) {
                return m.op(Opcode::SCALE, {v[0], v[1]}, m.type(S, lanes));
            });
        }
        auto code = compile(m.module, target);
        for (auto lanes : widths) {
            std::vector<T> y(x.size());
            run(*code, "scale" + std::to_string(lanes), {x.data(), n.data()}, y.data(),
                static_cast<int64_t>(x.size()));
            for (size_t i = 0; i < x.size(); ++i) {
                ASSERT_TRUE((std::isnan(y[i]) && std::isnan(expected[i])) ||
                            std::memcmp(&y[i], &expected[i], sizeof(T)) == 0)
                    << x[i] << " by " << n[i] << ": " << y[i] << ", expected " << expected[i]
                    << " on " << target.cpu << " lanes " << lanes;
            }
        }
    }
}

}// namespace

TEST(EmitLanes, scale_rounds_once) {
    check_scale<float, ScalarType::FLOAT32>();
    check_scale<double, ScalarType::FLOAT64>();
}

TEST(EmitLanes, tables_of_every_size) {
    for (const auto &target : {host_cpu(), plain()}) {
        for (size_t size : {1u, 2u, 15u, 16u, 17u, 32u, 33u, 100u}) {
            std::vector<uint32_t> entries(size);
            std::vector<int32_t> index(96);
            for (size_t i = 0; i < size; ++i) {
                entries[i] = static_cast<uint32_t>(i * 2654435761u + 5);
            }
            for (size_t i = 0; i < index.size(); ++i) {
                index[i] = static_cast<int32_t>(i * 7 % size);
            }
            Machine m;
            for (auto lanes : widths) {
                for (auto result : {ScalarType::UINT32, ScalarType::FLOAT32}) {
                    add_map(m, std::to_string(lanes) + to_string(result), {ScalarType::INT32},
                            result, lanes, [&](const auto &v) {
                                return m.op(Opcode::TABLE, {v[0]}, m.type(result, lanes),
                                            ir::TablePayload{entries});
                            });
                }
            }
            auto code = compile(m.module, target);
            for (auto lanes : widths) {
                for (const char *result : {"u32", "f32"}) {
                    std::vector<uint32_t> y(index.size());
                    run(*code, std::to_string(lanes) + result, {index.data()}, y.data(),
                        static_cast<int64_t>(index.size()));
                    for (size_t i = 0; i < y.size(); ++i) {
                        ASSERT_EQ(y[i], entries[static_cast<size_t>(index[i])])
                            << size << " " << lanes;
                    }
                }
            }
        }
    }
}

TEST(EmitLanes, masks_count_from_zero_whatever_the_count) {
    for (unsigned lanes : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
        Machine m;
        m.begin("f");
        auto *mask = m.op(Opcode::LANE_MASK, {m.first}, m.type(ScalarType::BOOL, lanes));
        m.write(m.pointer(0), mask);
        m.write(m.pointer(1), m.op(Opcode::LANES, {}, m.type(ScalarType::INT16, lanes)));
        auto code = compile(m.module, host_cpu());
        for (int64_t n : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{3}, int64_t{16},
                          int64_t{63}, int64_t{64}, int64_t{1} << 32, INT64_MAX}) {
            uint8_t out[64];
            int16_t numbers[64];
            void *words[] = {out, numbers};
            code->function("f")(reinterpret_cast<uint64_t *>(words), n, 0, nullptr, nullptr);
            for (unsigned i = 0; i < lanes; ++i) {
                ASSERT_EQ(out[i], static_cast<int64_t>(i) < n) << n << " " << lanes;
                ASSERT_EQ(numbers[i], static_cast<int16_t>(i));
            }
        }
    }
}

TEST(EmitLanes, moves_between_lanes) {
    Machine m;
    m.begin("f");
    auto *t8 = m.type(ScalarType::FLOAT16, 8);
    auto *a = m.read(m.pointer(0), t8);
    auto *b = m.op(Opcode::SHUFFLE, {a, a}, m.type(ScalarType::FLOAT16, 4),
                   ir::ShufflePayload{{7, 0, 9, 3}});
    auto *x = m.op(Opcode::EXTRACT_LANE, {a}, m.type(ScalarType::FLOAT16, 0), ir::IndexPayload{5});
    b = m.op(Opcode::INSERT_LANE, {b, x}, b->type(), ir::IndexPayload{1});
    m.write(m.pointer(1), b);
    m.write(m.pointer(2), m.op(Opcode::SPLAT, {x}, t8));
    auto code = compile(m.module, host_cpu());
    uint16_t in[] = {10, 11, 12, 13, 14, 15, 16, 17}, out[4], splat[8];
    void *words[] = {in, out, splat};
    code->function("f")(reinterpret_cast<uint64_t *>(words), 0, 0, nullptr, nullptr);
    EXPECT_EQ((std::vector<uint16_t>(out, out + 4)), (std::vector<uint16_t>{17, 15, 11, 13}));
    EXPECT_EQ((std::vector<uint16_t>(splat, splat + 8)), std::vector<uint16_t>(8, 15));
}

TEST(EmitLanes, reductions_are_a_tree_of_halves) {
    using Function = uint64_t (*)(ScalarType, uint64_t, uint64_t);
    struct Row {
        Reducer reducer;
        Function f;
        ScalarType type;
    };
    using enum ScalarType;
    const Row table[] = {
        {Reducer::ADD, arith::add, FLOAT32},          {Reducer::ADD, arith::add, INT64},
        {Reducer::MULTIPLY, arith::mul, FLOAT64},     {Reducer::MULTIPLY, arith::mul, INT8},
        {Reducer::MINIMUM, arith::minimum, FLOAT32},  {Reducer::MAXIMUM, arith::maximum, UINT16},
        {Reducer::FMIN, arith::fmin, FLOAT64},        {Reducer::FMAX, arith::fmax, FLOAT32},
        {Reducer::LOGICAL_AND, arith::bit_and, BOOL}, {Reducer::LOGICAL_OR, arith::bit_or, BOOL},
        {Reducer::BIT_AND, arith::bit_and, UINT32},   {Reducer::BIT_OR, arith::bit_or, INT16},
        {Reducer::BIT_XOR, arith::bit_xor, UINT64}};
    for (const auto &row : table) {
        for (unsigned lanes : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
            Machine m;
            m.begin("f");
            auto *x = m.read(m.pointer(0), m.type(row.type, lanes));
            m.write(m.pointer(1), m.op(Opcode::REDUCE_LANES, {x}, m.type(row.type, 0),
                                       ir::LaneReducePayload{row.reducer}));
            auto code = compile(m.module, host_cpu());
            auto values = special_values(row.type);
            for (size_t start = 0; start < values.size(); ++start) {
                std::vector<uint64_t> lane(lanes);
                for (size_t i = 0; i < lanes; ++i) {
                    lane[i] = values[(start + i * (i + 3)) % values.size()];
                }
                auto input = pack(row.type, lane);
                std::vector<uint8_t> output(8);
                run(*code, "f", {input.data()}, output.data(), 0);
                for (size_t half = lanes / 2; half; half /= 2) {
                    for (size_t i = 0; i < half; ++i) {
                        lane[i] = row.f(row.type, lane[i], lane[i + half]);
                    }
                }
                ASSERT_TRUE(same(row.type, lane[0], element(row.type, output, 0)))
                    << to_string(row.type) << " " << lanes;
            }
        }
    }
}

}// namespace luisa::tile::emit::test
