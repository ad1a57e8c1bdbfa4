// SPDX-License-Identifier: Apache-2.0
#include "machine.h"
#include "support/leaks.h"

#include <luisa/tile/error.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>

namespace luisa::tile::emit::test {

namespace {

void add_axpy(Machine &m, float factor) {
    add_map(m, "axpy", {ScalarType::FLOAT32, ScalarType::FLOAT32}, ScalarType::FLOAT32, 16,
            [&](const auto &v) {
                auto *t = m.type(ScalarType::FLOAT32, 16);
                return m.op(Opcode::FMA,
                            {v[0], m.constant(t, std::bit_cast<uint32_t>(factor)), v[1]}, t);
            });
}

bool runs(const CompiledModule &code, float factor) {
    std::vector<float> x(64, 2), y(64, 1), z(64);
    run(code, "axpy", {x.data(), y.data()}, z.data(), 64);
    return z == std::vector<float>(64, 2 * factor + 1);
}

/// Whether some mapping is writable and executable; counts the private executable ones too.
int executable_mappings(bool *writable = nullptr) {
    std::ifstream maps{"/proc/self/maps"};
    int count = 0;
    for (std::string line; std::getline(maps, line);) {
        auto permissions = line.substr(line.find(' ') + 1, 4);
        count += permissions[2] == 'x';
        if (writable && permissions[1] == 'w' && permissions[2] == 'x') {
            *writable = true;
        }
    }
    return count;
}

size_t resident_kib() {
    std::ifstream statm{"/proc/self/statm"};
    size_t total = 0, resident = 0;
    statm >> total >> resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

}// namespace

TEST(EmitJit, code_is_never_writable_and_executable_and_is_freed) {
    auto before = executable_mappings();
    {
        std::vector<std::unique_ptr<CompiledModule>> kept;
        for (int i = 0; i < 10; ++i) {
            Machine m;
            add_axpy(m, static_cast<float>(i));
            kept.push_back(compile(m.module, host_cpu()));
            EXPECT_GT(kept.back()->code_bytes(), 32u);
            EXPECT_LT(kept.back()->code_bytes(), 4096u);
        }
        for (int i = 0; i < 10; ++i) {
            EXPECT_TRUE(runs(*kept[static_cast<size_t>(i)], static_cast<float>(i)));
        }
        bool writable = false;
        EXPECT_GT(executable_mappings(&writable), before);
        EXPECT_FALSE(writable);
    }
    EXPECT_LE(executable_mappings(), before);
}

TEST(EmitJit, threads_compile_at_once) {
    std::vector<std::thread> threads;
    std::vector<int> good(4);
    for (size_t t = 0; t < 4; ++t) {
        threads.emplace_back([t, &good] {
            for (int i = 0; i < 20; ++i) {
                Machine m;
                auto factor = static_cast<float>(100 * t) + static_cast<float>(i);
                add_axpy(m, factor);
                auto target = i % 2 ? host_cpu() : CpuTarget{"x86-64-v3", ""};
                good[t] += runs(*compile(m.module, target), factor);
            }
        });
    }
    for (auto &t : threads) {
        t.join();
    }
    EXPECT_EQ(good, std::vector<int>(4, 20));
}

TEST(EmitJit, two_hundred_kernels_stay_small) {
    auto start = resident_kib();
    std::vector<std::unique_ptr<CompiledModule>> kept;
    EmitTimes total;
    for (int i = 0; i < 200; ++i) {
        Machine m;
        add_axpy(m, static_cast<float>(i));
        EmitTimes t;
        kept.push_back(compile(m.module, host_cpu(), &t));
        total.build_ms += t.build_ms;
        total.codegen_ms += t.codegen_ms;
        total.link_ms += t.link_ms;
    }
    std::printf(
        "200 kernels: %zu KiB before, %zu KiB after; each build %.2f codegen %.2f link %.2f ms\n",
        start, resident_kib(), total.build_ms / 200, total.codegen_ms / 200, total.link_ms / 200);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // A sanitizer keeps freed memory.
    EXPECT_LT(resident_kib(), start + 64u * 1024);
#endif
    EXPECT_TRUE(runs(*kept[123], 123));
}

TEST(EmitJit, a_call_out_of_the_module_is_an_error) {
    Machine m;
    auto type = ScalarType::FLOAT32;
    add_map(m, "sum", {type, type}, type, 1,
            [&](const auto &v) { return m.op(Opcode::ADD, v, m.type(type, 1)); });
    // Without floating-point instructions the code generator calls functions that generated code may not.
    try {
        (void)compile(m.module, {"x86-64", "+soft-float"});
        FAIL() << "compiled";
    } catch (const CompileError &error) {
        EXPECT_NE(std::string{error.what()}.find("__addsf3"), std::string::npos) << error.what();
    }
}

TEST(EmitJit, unknown_targets_are_errors) {
    Machine m;
    add_axpy(m, 1);
    EXPECT_THROW((void)compile(m.module, {"pentium-9000", ""}), TargetError);
    EXPECT_THROW((void)compile(m.module, {"x86-64-v3", "+avx9000"}), TargetError);
    EXPECT_THROW((void)compile(m.module, {"x86-64-v3", "avx2"}), TargetError);
}

TEST(EmitJit, what_llvm_cannot_generate_is_an_error) {
    Machine m;
    add_map(m, "f", {ScalarType::FLOAT32}, ScalarType::FLOAT32, 0, [&](const auto &v) {
        return m.op(Opcode::MUL, {v[0], v[0]}, v[0]->type());
    });
    {
        luisa::tile::test::ExpectedLeaks leaks;
        EXPECT_THROW((void)compile(m.module, {"x86-64", "-64bit,-sse2,-sse,-x87"}), CompileError);
    }
    // The process still compiles.
    auto code = compile(m.module, host_cpu());
    float x = 3, y = 0;
    run(*code, "f", {&x}, &y, 1);
    EXPECT_EQ(y, 9);
}

TEST(EmitText, names_and_attributes_show) {
    Machine m;
    add_axpy(m, 2);
    auto text = llvm_text(m.module, host_cpu());
    for (const char *part :
         {"define void @axpy", "nounwind", "denormal-fp-math\"=\"ieee,ieee",
          "llvm.loop.unroll.disable", "llvm.loop.vectorize.enable", "@llvm.fma.v16f32"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
    for (const char *flag :
         {" fast ", "contract", "reassoc", "nnan", "afn", "min-legal-vector-width"}) {
        EXPECT_EQ(text.find(flag), std::string::npos) << flag;
    }
    auto assembly = assembly_text(m.module, host_cpu());
    EXPECT_NE(assembly.find("axpy:"), std::string::npos);
    if (host_cpu().features.find("+avx512f") != std::string::npos) {
        EXPECT_NE(assembly.find("zmm"), std::string::npos) << assembly;
    }
}

}// namespace luisa::tile::emit::test
