// SPDX-License-Identifier: Apache-2.0
#include "ptx.h"

#include <gmock/gmock.h>

// What PTX says for each operation of Machine form.

namespace luisa::tile::emit::test {

using testing::HasSubstr;
using testing::Not;

namespace {

/// y[i] = f(x[i]) for the thread's i; `body` computes %y from %x.
std::string map(const std::string &type, const std::string &body, int bytes = 4) {
    auto b = std::to_string(bytes);
    return "machine @f(%args: ptr) {\n"
           "  %t = participant {kind = thread} : i64\n"
           "  %b = participant {kind = block} : i64\n"
           "  %n = participants {kind = thread} : i64\n"
           "  %o = mul %b, %n : i64\n"
           "  %i = add %o, %t : i64\n"
           "  %px = argument %args {index = 0} : ptr\n"
           "  %py = argument %args {index = 3} : ptr\n"
           "  %ax = address %px, %i {scale = " +
           b + "} : ptr\n  %ay = address %py, %i {scale = " + b +
           "} : ptr\n  %x = read %ax {align = " + b + "} : " + type + "\n" + body +
           "  write %ay, %y {align = " + b + "}\n}\n";
}

}// namespace

TEST(Ptx, a_kernel_takes_its_arguments_by_value_and_knows_its_threads) {
    auto code = ptx_of(map("f32", "  %y = add %x, %x : f32\n"), "sm_80");
    EXPECT_THAT(code.ptx, HasSubstr(".version 7.0\n.target sm_80\n"));
    EXPECT_THAT(code.ptx, HasSubstr(".visible .entry f("));
    EXPECT_THAT(code.ptx, HasSubstr(".param .align 8 .b8 f_param_0[64]"));
    EXPECT_THAT(code.ptx, HasSubstr(".maxntid 128"));
    EXPECT_THAT(code.ptx, HasSubstr("ld.param.b64"));
    EXPECT_THAT(code.ptx, HasSubstr("ld.global.b32"));
    EXPECT_THAT(code.ptx, HasSubstr("st.global.b32"));
    EXPECT_THAT(code.ptx, HasSubstr("%ctaid.x"));
    EXPECT_THAT(code.ptx, HasSubstr("%tid.x"));
    EXPECT_THAT(code.ptx, Not(HasSubstr("%ntid.x"))) << "the launch fixes it";
    EXPECT_THAT(code.ptx, Not(HasSubstr(".local")));
    EXPECT_FALSE(code.reports);
}

TEST(Ptx, nothing_is_contracted_flushed_or_approximated) {
    auto code = ptx_of(map("f32", "  %a = mul %x, %x : f32\n  %b2 = add %a, %x : f32\n"
                                  "  %c = fma %x, %b2, %a : f32\n  %d = div %c, %x : f32\n"
                                  "  %y = sqrt %d : f32\n"));
    for (const char *exact :
         {"mul.rn.f32", "add.rn.f32", "fma.rn.f32", "div.rn.f32", "sqrt.rn.f32"}) {
        EXPECT_EQ(count(code.ptx, exact), 1) << exact << code.ptx;
    }
    EXPECT_THAT(code.ptx, Not(HasSubstr("ftz")));
    EXPECT_THAT(code.ptx, Not(HasSubstr("approx")));
}

TEST(Ptx, shared_memory_is_one_array_and_barriers_are_the_blocks) {
    auto code = ptx_of("machine @f(%args: ptr) {\n"
                       "  %t = participant {kind = thread} : i64\n"
                       "  %one = constant 1 : i64\n"
                       "  %u = xor %t, %one : i64\n"
                       "  %px = argument %args {index = 0} : ptr\n"
                       "  %ax = address %px, %t {scale = 4} : ptr\n"
                       "  %x = read %ax {align = 4} : f32\n"
                       "  %s = shared {offset = 256} : ptr\n"
                       "  %as = address %s, %t {scale = 4} : ptr\n"
                       "  write %as, %x {align = 4}\n"
                       "  barrier\n"
                       "  %bs = address %s, %u {scale = 4} : ptr\n"
                       "  %y = read %bs {align = 4} : f32\n"
                       "  write %ax, %y {align = 4}\n}\n");
    EXPECT_THAT(code.ptx, HasSubstr(".extern .shared .align 1024 .b8 shared[]"));
    EXPECT_EQ(count(code.ptx, "bar.sync"), 1) << code.ptx;
    EXPECT_EQ(count(code.ptx, "ld.shared.b32"), 1) << code.ptx;
    EXPECT_EQ(count(code.ptx, "st.shared.b32"), 1) << code.ptx;
}

TEST(Ptx, lanes_are_exchanged_32_bits_at_a_time) {
    struct Row {
        const char *mode, *instruction;
    };
    for (const auto &row : {Row{"xor", "shfl.sync.bfly.b32"},
                            {"up", "shfl.sync.up.b32"},
                            {"down", "shfl.sync.down.b32"},
                            {"index", "shfl.sync.idx.b32"}}) {
        auto body = std::string{"  %k = constant 1 : i32\n  %z = exchange_lanes %x, %k {mode = "} +
                    row.mode;
        EXPECT_EQ(count(ptx_of(map("f32", body + "} : f32\n  %y = add %x, %z : f32\n")).ptx,
                        row.instruction),
                  1);
        EXPECT_EQ(count(ptx_of(map("f64", body + "} : f64\n  %y = add %x, %z : f64\n", 8)).ptx,
                        row.instruction),
                  2);
        auto narrow = "  %k = constant 1 : i32\n  %y = exchange_lanes %x, %k {mode = " +
                      std::string{row.mode} + "} : bf16\n";
        EXPECT_EQ(count(ptx_of(map("bf16", narrow, 2)).ptx, row.instruction), 1);
    }
}

TEST(Ptx, short_vectors_are_one_access) {
    auto code = ptx_of("machine @f(%args: ptr) {\n"
                       "  %t = participant {kind = thread} : i64\n"
                       "  %px = argument %args {index = 0} : ptr\n"
                       "  %ax = address %px, %t {scale = 16} : ptr\n"
                       "  %x = read %ax {align = 16} : <4 x f32>\n"
                       "  %y = add %x, %x : <4 x f32>\n"
                       "  write %ax, %y {align = 16}\n"
                       "  %z = read %ax {align = 16} : <8 x bf16>\n"
                       "  %aw = address %ax {offset = 4096} : ptr\n"
                       "  write %aw, %z {align = 16}\n}\n");
    EXPECT_EQ(count(code.ptx, "ld.global.v4.b32"), 2) << code.ptx;
    EXPECT_EQ(count(code.ptx, "st.global.v4.b32"), 2) << code.ptx;
}

TEST(Ptx, masked_accesses_are_branches) {
    auto code = ptx_of("machine @f(%args: ptr) {\n"
                       "  %t = participant {kind = thread} : i64\n"
                       "  %n = argument %args {index = 1} : i64\n"
                       "  %px = argument %args {index = 0} : ptr\n"
                       "  %in = lt %t, %n : bool\n"
                       "  %other = constant 1.0 : f32\n"
                       "  %x = gather %px, %t, %in, %other {align = 4, masked = true} : f32\n"
                       "  scatter %px, %t, %x, %in {align = 4, masked = true}\n"
                       "  %q = gather %px, %t {align = 4} : f32\n"
                       "  scatter %px, %n, %q {align = 4}\n}\n");
    EXPECT_EQ(count(code.ptx, "ld.global.b32"), 2) << code.ptx;
    EXPECT_EQ(count(code.ptx, "st.global.b32"), 2) << code.ptx;
    EXPECT_THAT(code.ptx, HasSubstr("bra"));
}

TEST(Ptx, atomic_updates_are_those_of_the_device) {
    auto code = ptx_of("machine @f(%args: ptr) {\n"
                       "  %px = argument %args {index = 0} : ptr\n"
                       "  %one = constant 1 : i32\n"
                       "  %a = atomic_update %px, %one {op = add} : i32\n"
                       "  %b = atomic_update %px, %one {op = maximum} : i32\n"
                       "  %c = atomic_update %px, %one, %a {op = compare_exchange} : i32\n"
                       "  %d = atomic_read %px {align = 4} : i32\n"
                       "  %e = add %c, %d : i32\n"
                       "  %f = atomic_update %px, %e {op = exchange} : i32\n}\n");
    for (const char *update :
         {"atom.global.add.u32", "atom.global.max.s32", "atom.relaxed.gpu.global.cas.b32",
          "atom.global.exch.b32", "ld.relaxed.gpu.global.b32"}) {
        EXPECT_THAT(code.ptx, HasSubstr(update));
    }
}

TEST(Ptx, reports_go_to_the_buffer_that_follows_the_arguments) {
    auto code = ptx_of("machine @f(%args: ptr) {\n"
                       "  %n = argument %args {index = 1} : i64\n"
                       "  %zero = constant 0 : i64\n"
                       "  %ok = lt %zero, %n : bool\n"
                       "  report %ok, %n, %zero {checks = true, site = 3}\n"
                       "  report %n {site = 4}\n}\n");
    EXPECT_TRUE(code.reports);
    EXPECT_EQ(code.report_values, 2u);
    EXPECT_THAT(code.ptx, HasSubstr(".param .align 8 .b8 f_param_0[72]"));
    EXPECT_EQ(count(code.ptx, "+64];"), 2) << code.ptx;
    EXPECT_EQ(count(code.ptx, "global.add.u64"), 2) << code.ptx;
}

TEST(Ptx, what_an_architecture_does_not_allow_is_an_error) {
    auto module = map("f32", "  %y = add %x, %x : f32\n");
    auto message = [&](auto error, const auto &call) -> std::string {
        try {
            call();
        } catch (const decltype(error) &e) {
            return e.message();
        }
        return "nothing";
    };
    EXPECT_EQ(
        message(ResourceError{""}, [&] { static_cast<void>(ptx_of(module, "sm_90", 8, 2048)); }),
        "function 'f' has 2048 threads a block, sm_90 has at most 1024");
    EXPECT_EQ(message(ResourceError{""}, [&] { static_cast<void>(ptx_of(module, "sm_90", 600)); }),
              "the kernel's arguments take 4808 bytes, sm_90 passes at most 4096; use fewer views");
    EXPECT_EQ(
        message(TargetError{""}, [&] { static_cast<void>(ptx_of(module, "sm_90a", 8, 128, 78)); }),
        "PTX 7.8 for sm_90a, expected 8.0 to 9.0");
}

TEST(Ptx, assembles_without_spills_or_frames) {
    if (assembler().empty()) {
        GTEST_SKIP() << "ptxas is not installed";
    }
    const std::string programs[] = {
        map("f32", "  %a = div %x, %x : f32\n  %y = sqrt %a : f32\n"),
        map("f64", "  %a = minimum %x, %x : f64\n  %y = fmax %a, %x : f64\n", 8),
        map("i32", "  %y = floor_mod %x, %x : i32\n"),
        map("i64", "  %y = div %x, %x : i64\n", 8),
        map("f32", "  %a = cast %x : i64\n  %b2 = cast %a : f32\n  %c = cast %b2 : u8\n"
                   "  %y = cast %c : f32\n"),
        map("f32", "  %a = quantize %x {saturate = true} : e4m3fn\n  %y = cast %a : f32\n"),
        map("f32", "  %a = cast %x : i32\n  %b2 = shl %a, %a : i32\n"
                   "  %c = table %b2 {entries = [1 2 3]} : f32\n  %y = scale %c, %x : f32\n"),
    };
    for (const char *architecture : {"sm_80", "sm_89", "sm_90a", "sm_100"}) {
        for (const auto &program : programs) {
            auto said = assemble(ptx_of(program, architecture).ptx, architecture);
            EXPECT_EQ(count(said, "Used "), 1) << said;
        }
    }
}

TEST(Ptx, extrema_and_conversions_are_instructions) {
    auto code = ptx_of(map("f32", "  %a = minimum %x, %x : f32\n  %m = constant 2.0 : f32\n"
                                  "  %b2 = maximum %a, %m : f32\n  %c = fmin %b2, %x : f32\n"
                                  "  %h = cast %c : f16\n  %g = cast %h : f32\n"
                                  "  %q = cast %g : bf16\n  %y = cast %q : f32\n"));
    for (const char *one :
         {"max.NaN.f32", "min.f32", "cvt.rn.f16.f32", "cvt.f32.f16", "cvt.rn.bf16.f32"}) {
        EXPECT_THAT(code.ptx, HasSubstr(one));
    }
}

}// namespace luisa::tile::emit::test
