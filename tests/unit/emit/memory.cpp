// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

// Reads, writes, gathers and scatters, masked and not; loops, branches and early exits.

namespace luisa::tile::emit::test {

namespace {

const ScalarType storage[] = {ScalarType::BOOL,    ScalarType::INT8,       ScalarType::UINT16,
                              ScalarType::FLOAT16, ScalarType::BFLOAT16,   ScalarType::FLOAT32,
                              ScalarType::FLOAT64, ScalarType::FLOAT8_E5M2};

/// An array whose end is the end of readable memory.
struct Guarded {
    explicit Guarded(size_t bytes) {
        auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        size = 2 * page;
        base = static_cast<uint8_t *>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(base + page, page, PROT_NONE);
        data = base + page - bytes;
    }
    ~Guarded() { munmap(base, size); }
    uint8_t *base, *data;
    size_t size;
};

}// namespace

TEST(EmitMemory, masked_lanes_touch_no_memory) {
    for (const auto &target : {host_cpu(), CpuTarget{"x86-64-v3", ""}, CpuTarget{"x86-64", ""}}) {
        for (auto type : storage) {
            for (unsigned lanes : {0u, 1u, 4u, 16u, 32u}) {
                Machine m;
                m.begin("f");
                auto *t = m.type(type, lanes);
                auto *flags = m.type(ScalarType::BOOL, lanes);
                auto *mask = lanes ? m.op(Opcode::LANE_MASK, {m.first}, flags)
                                   : m.op(Opcode::LT, {m.index(0), m.first}, flags);
                auto *other = m.constant(t, 1);
                auto *x = m.op(Opcode::READ, {m.pointer(0), mask, other}, t,
                               ir::MemoryPayload{1, true, false});
                m.effect(Opcode::WRITE, {m.pointer(1), x, mask}, ir::MemoryPayload{1, true, false});
                m.write(m.pointer(2), x);
                auto code = compile(m.module, target);
                auto count = lanes ? lanes : 1u;
                for (unsigned n = 0; n <= count; n = n ? n * 2 : 1) {
                    auto size = size_of(type);
                    Guarded from{n * size}, to{n * size};
                    std::memset(from.data, 0, n * size);
                    std::memset(to.data, 1, n * size);
                    std::vector<uint8_t> all(count * size, 0xcd);
                    void *words[] = {from.data, to.data, all.data()};
                    code->function("f")(reinterpret_cast<uint64_t *>(words), n, 0, nullptr,
                                        nullptr);
                    for (unsigned i = 0; i < count; ++i) {
                        ASSERT_EQ(element(type, all, i), i < n ? 0u : 1u)
                            << to_string(type) << " " << lanes << " " << n;
                    }
                    for (size_t i = 0; i < n * size; ++i) {
                        ASSERT_EQ(to.data[i], 0);
                    }
                }
            }
        }
    }
}

TEST(EmitMemory, gather_and_scatter_count_elements) {
    for (auto type : storage) {
        for (auto wide : {ScalarType::INT32, ScalarType::INT64}) {
            for (unsigned lanes : {1u, 4u, 8u, 16u, 32u}) {
                Machine m;
                m.begin("f");
                auto *t = m.type(type, lanes), *indices = m.type(wide, lanes);
                // Lane i reads element first - i; the upper half is off.
                auto *i = m.op(
                    Opcode::SUB,
                    {m.op(Opcode::SPLAT, {m.op(Opcode::CAST, {m.first}, m.type(wide, 0))}, indices),
                     m.op(Opcode::LANES, {}, indices)},
                    indices);
                auto *mask = m.op(Opcode::LANE_MASK, {m.last}, m.type(ScalarType::BOOL, lanes));
                auto *x = m.op(Opcode::GATHER, {m.pointer(0), i, mask, m.constant(t, 0)}, t,
                               ir::MemoryPayload{1, true, false});
                m.write(m.pointer(1), x);
                auto *y = m.op(Opcode::GATHER, {m.pointer(0), i}, t,
                               ir::MemoryPayload{1, false, false});
                m.effect(Opcode::SCATTER, {m.pointer(2), i, y}, ir::MemoryPayload{1, false, false});
                m.effect(Opcode::SCATTER, {m.pointer(3), i, y, mask},
                         ir::MemoryPayload{1, true, false});
                auto code = compile(m.module, host_cpu());
                std::vector<uint64_t> values(64);
                for (size_t k = 0; k < 64; ++k) {
                    values[k] = type == ScalarType::BOOL ? k % 3 == 0 : k + 1;
                }
                auto from = pack(type, values);
                std::vector<uint8_t> read(lanes * size_of(type)), all(from.size()),
                    some(from.size());
                void *words[] = {from.data(), read.data(), all.data(), some.data()};
                int64_t on = (lanes + 1) / 2;
                code->function("f")(reinterpret_cast<uint64_t *>(words), 40, on, nullptr, nullptr);
                for (int64_t k = 0; k < 64; ++k) {
                    auto index = static_cast<size_t>(k);
                    bool hit = k <= 40 && k > 40 - static_cast<int64_t>(lanes);
                    ASSERT_EQ(element(type, all, index), hit ? values[index] : 0)
                        << to_string(type);
                    ASSERT_EQ(element(type, some, index), hit && k > 40 - on ? values[index] : 0);
                }
                for (unsigned k = 0; k < lanes; ++k) {
                    ASSERT_EQ(element(type, read, k), k < on ? values[40 - k] : 0);
                }
            }
        }
    }
}

TEST(EmitMemory, streaming_only_where_aligned) {
    for (uint32_t align : {1u, 64u}) {
        Machine m;
        m.begin("f");
        auto *t = m.type(ScalarType::FLOAT32, 16);
        m.effect(Opcode::WRITE, {m.pointer(0), m.constant(t, 0x3f800000)},
                 ir::MemoryPayload{align, false, true});
        m.effect(Opcode::PREFETCH, {m.pointer(1)}, ir::PrefetchPayload{});
        auto text = assembly_text(m.module, host_cpu());
        EXPECT_EQ(text.find("movnt") != std::string::npos, align == 64) << text;
        EXPECT_NE(text.find("prefetch"), std::string::npos);
    }
}

TEST(EmitMemory, argument_words_of_every_type) {
    Machine m;
    m.begin("f");
    auto get = [&](ScalarType t, int word) {
        return m.op(Opcode::ARGUMENT, {m.arguments}, m.type(t, 0), ir::IndexPayload{word});
    };
    m.write(m.pointer(0), get(ScalarType::BOOL, 1));
    m.write(m.op(Opcode::ADDRESS, {m.pointer(0), m.index(1)}, m.module.pointer(),
                 ir::AddressPayload{3, 1}),
            get(ScalarType::FLOAT32, 2));
    m.write(m.op(Opcode::ADDRESS, {m.pointer(0)}, m.module.pointer(), ir::AddressPayload{1, 8}),
            get(ScalarType::BFLOAT16, 3));
    auto code = compile(m.module, host_cpu());
    uint8_t out[16]{};
    uint64_t words[] = {reinterpret_cast<uint64_t>(out), 1, 0x3f812345, 0x7fc1};
    code->function("f")(words, 0, 0, nullptr, nullptr);
    float real;
    uint16_t narrow;
    std::memcpy(&real, out + 4, 4);
    std::memcpy(&narrow, out + 8, 2);
    EXPECT_EQ(out[0], 1);
    EXPECT_EQ(std::bit_cast<uint32_t>(real), 0x3f812345u);
    EXPECT_EQ(narrow, 0x7fc1);
}

TEST(EmitControl, loops_carry_states_and_may_not_run) {
    Machine m;
    m.begin("f");
    auto *word = m.type(ScalarType::INT64, 0);
    // A nest whose inner bound depends on the outer index: swaps states on the way.
    auto outer = m.loop(
        m.first, m.last, m.index(3), {m.index(1), m.index(100)}, [&](const auto &v) {
            auto inner = m.loop(m.index(0), v[0], m.index(1), {v[1]}, [&](const auto &w) {
                return std::vector{m.op(Opcode::ADD, {w[1], w[0]}, word)};
            });
            return std::vector{v[2], inner[0]};
        });
    m.write(m.pointer(0), outer[0]);
    m.write(m.op(Opcode::ADDRESS, {m.pointer(0)}, m.module.pointer(), ir::AddressPayload{1, 8}),
            outer[1]);
    auto code = compile(m.module, host_cpu());
    for (auto [b, e] : {std::pair<int64_t, int64_t>{0, 0}, {5, -5}, {0, 1}, {0, 10}, {-4, 9}}) {
        int64_t out[2], x = 1, y = 100;
        void *words[] = {out};
        code->function("f")(reinterpret_cast<uint64_t *>(words), b, e, nullptr, nullptr);
        for (int64_t i = b; i < e; i += 3) {
            for (int64_t j = 0; j < i; ++j) {
                x += j;
            }
            std::swap(x, y);
        }
        EXPECT_EQ(out[0], x);
        EXPECT_EQ(out[1], y);
    }
}

TEST(EmitControl, while_leaves_with_the_states_of_the_iteration_start) {
    Machine m;
    m.begin("f");
    auto *word = m.type(ScalarType::INT64, 0);
    auto *flag = m.type(ScalarType::BOOL, 0);
    // Collatz steps; the branch inside picks the next value.
    auto *op = m.b.emit(Opcode::WHILE, {m.first, m.index(0)}, {word, word}, ir::None{}, 1);
    auto *outer = m.b.region();
    auto *n = m.module.add_argument(op->body(), word);
    auto *steps = m.module.add_argument(op->body(), word);
    m.b.set_region(op->body());
    m.b.emit(Opcode::CONDITION, {m.op(Opcode::NE, {n, m.index(1)}, flag)}, {});
    auto *odd = m.op(Opcode::NE, {m.op(Opcode::AND, {n, m.index(1)}, word), m.index(0)}, flag);
    auto *choice = m.b.emit(Opcode::IF, {odd}, {word}, ir::None{}, 2);
    m.b.set_region(choice->body(0));
    m.b.emit(Opcode::YIELD,
             {m.op(Opcode::ADD, {m.op(Opcode::MUL, {n, m.index(3)}, word), m.index(1)}, word)}, {});
    m.b.set_region(choice->body(1));
    m.b.emit(Opcode::YIELD, {m.op(Opcode::DIV, {n, m.index(2)}, word)}, {});
    m.b.set_region(op->body());
    m.b.emit(Opcode::YIELD, {choice->result(), m.op(Opcode::ADD, {steps, m.index(1)}, word)}, {});
    m.b.set_region(outer);
    m.write(m.pointer(0), op->result(1));
    auto code = compile(m.module, host_cpu());
    for (auto [start, expected] :
         {std::pair<int64_t, int64_t>{1, 0}, {2, 1}, {27, 111}, {97, 118}}) {
        int64_t out = -1;
        void *words[] = {&out};
        code->function("f")(reinterpret_cast<uint64_t *>(words), start, 0, nullptr, nullptr);
        EXPECT_EQ(out, expected);
    }
}

}// namespace luisa::tile::emit::test
