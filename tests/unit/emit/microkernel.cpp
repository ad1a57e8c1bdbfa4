// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

// The 6x64 f32 kernel that matrix multiplication is made of: speed, registers and compile time.

namespace luisa::tile::emit::test {

namespace {

constexpr int rows = 6, vectors = 4;

/// C[6][64] += A[6][K] B[K][64]; words: A, B, C, row strides of A, B and C; K is `end`.
void add_microkernel(Machine &m) {
    m.begin("micro");
    auto *word = m.type(ScalarType::INT64, 0);
    auto *scalar = m.type(ScalarType::FLOAT32, 0), *vector = m.type(ScalarType::FLOAT32, 16);
    auto argument = [&](int i) {
        return m.op(Opcode::ARGUMENT, {m.arguments}, word, ir::IndexPayload{i});
    };
    auto *a = m.pointer(0), *b = m.pointer(1), *c = m.pointer(2);
    auto *lda = argument(3), *ldb = argument(4), *ldc = argument(5);
    auto row = [&](ir::Value *base, ir::Value *stride, int i) {
        return m.at(base, m.op(Opcode::MUL, {stride, m.index(i)}, word), ScalarType::FLOAT32);
    };
    std::vector<ir::Value *> a_rows, c_rows, sums;
    for (int i = 0; i < rows; ++i) {
        a_rows.push_back(row(a, lda, i));
        c_rows.push_back(row(c, ldc, i));
        for (int j = 0; j < vectors; ++j) {
            sums.push_back(m.constant(vector, 0));
        }
    }
    sums = m.loop(
        m.first, m.last, m.index(1), sums,
        [&](const auto &v) {
            std::vector<ir::Value *> next;
            std::vector<ir::Value *> columns;
            auto *b_row = m.at(b, m.op(Opcode::MUL, {v[0], ldb}, word), ScalarType::FLOAT32);
            for (int j = 0; j < vectors; ++j) {
                columns.push_back(m.read(m.op(Opcode::ADDRESS, {b_row}, m.module.pointer(),
                                              ir::AddressPayload{1, 64 * j}),
                                         vector));
            }
            for (int i = 0; i < rows; ++i) {
                auto *x = m.read(m.at(a_rows[size_t(i)], v[0], ScalarType::FLOAT32), scalar);
                auto *splat = m.op(Opcode::SPLAT, {x}, vector);
                for (int j = 0; j < vectors; ++j) {
                    auto *sum = v[size_t(1 + i * vectors + j)];
                    next.push_back(m.op(Opcode::FMA, {splat, columns[size_t(j)], sum}, vector));
                }
            }
            return next;
        },
        true);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < vectors; ++j) {
            auto *address = m.op(Opcode::ADDRESS, {c_rows[size_t(i)]}, m.module.pointer(),
                                 ir::AddressPayload{1, 64 * j});
            m.write(address,
                    m.op(Opcode::ADD, {m.read(address, vector), sums[size_t(i * 4 + j)]}, vector));
        }
    }
}

/// 24 independent chains of fma: what the core can do at most.
void add_peak(Machine &m) {
    m.begin("peak");
    auto *vector = m.type(ScalarType::FLOAT32, 16);
    auto *c = m.pointer(2);
    std::vector<ir::Value *> sums;
    for (int i = 0; i < 24; ++i) {
        sums.push_back(m.constant(vector, 0));
    }
    auto *x = m.read(c, vector);
    sums = m.loop(
        m.first, m.last, m.index(1), sums,
        [&](const auto &v) {
            std::vector<ir::Value *> next;
            for (int i = 0; i < 24; ++i) {
                next.push_back(m.op(Opcode::FMA, {x, x, v[size_t(1 + i)]}, vector));
            }
            return next;
        },
        true);
    auto *total = sums[0];
    for (size_t i = 1; i < 24; ++i) {
        total = m.op(Opcode::ADD, {total, sums[i]}, vector);
    }
    m.write(c, total);
}

bool has_avx512() { return host_cpu().features.find("+avx512f") != std::string::npos; }

template<class F> double best_seconds(F &&f) {
    double best = 1e9;
    for (int i = 0; i < 200; ++i) {
        auto start = std::chrono::steady_clock::now();
        f();
        best = std::min(
            best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

}// namespace

TEST(EmitMicrokernel, keeps_its_accumulators_in_registers) {
    if (!has_avx512()) {
        GTEST_SKIP() << "needs AVX-512";
    }
    Machine m;
    add_microkernel(m);
    auto text = assembly_text(m.module, host_cpu());
    std::istringstream lines{text};
    int fmas = 0, spills = 0;
    for (std::string line; std::getline(lines, line);) {
        bool zmm = line.find("zmm") != std::string::npos;
        fmas += zmm && line.find("vfmadd") != std::string::npos;
        // There is no frame pointer: rbp is one more base register.
        spills += zmm && line.find("(%rsp") != std::string::npos;
    }
    EXPECT_EQ(fmas, 24) << text;
    EXPECT_EQ(spills, 0) << text;
}

TEST(EmitMicrokernel, computes_and_comes_close_to_the_peak) {
    if (!has_avx512()) {
        GTEST_SKIP() << "needs AVX-512";
    }
    Machine m;
    add_microkernel(m);
    add_peak(m);
    EmitTimes times;
    auto code = compile(m.module, host_cpu(), &times);
    constexpr int depth = 256;
    auto *memory = static_cast<float *>(std::aligned_alloc(64, 4 * 64 * 1024));
    std::memset(memory, 0, 4 * 64 * 1024);
    auto *a = memory, *b = a + rows * depth, *c = b + depth * 64;
    for (int i = 0; i < rows * depth; ++i) {
        a[i] = static_cast<float>(i % 7 - 3);
    }
    for (int i = 0; i < depth * 64; ++i) {
        b[i] = static_cast<float>(i % 11 - 5);
    }
    uint64_t words[] = {reinterpret_cast<uint64_t>(a),
                        reinterpret_cast<uint64_t>(b),
                        reinterpret_cast<uint64_t>(c),
                        depth,
                        64,
                        64};
    auto micro = code->function("micro"), peak = code->function("peak");
    micro(words, 0, depth, nullptr, nullptr);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < 64; ++j) {
            float sum = 0;
            for (int k = 0; k < depth; ++k) {
                sum += a[i * depth + k] * b[k * 64 + j];
            }
            ASSERT_EQ(c[i * 64 + j], sum);
        }
    }
    auto kernel = best_seconds([&] { micro(words, 0, depth, nullptr, nullptr); });
    std::memset(c, 0, 64);
    auto limit = best_seconds([&] { peak(words, 0, depth, nullptr, nullptr); });
    double work = 2.0 * rows * 64 * depth * 1e-9;
    std::printf(
        "6x64 kernel %.1f GFLOP/s, fma peak %.1f GFLOP/s; build %.2f codegen %.2f link %.2f ms\n",
        work / kernel, work / limit, times.build_ms, times.codegen_ms, times.link_ms);
    EXPECT_GT(limit / kernel, 0.5);
    std::free(memory);
}

}// namespace luisa::tile::emit::test
