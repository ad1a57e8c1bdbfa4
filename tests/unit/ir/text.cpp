// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"
#include "ir/verifier.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace luisa::tile::ir {

namespace {

const char *const gemm_text =
    R"(kernel @gemm(%A: view<const f32, 1000 x ?k> "A", %B: view<const f32, ?k x 1000, strides 1000 x 1> "B", %C: view<f32, 1000 x 1000>, %alpha: f32) noalias {
  %tiles = constant 8 : i64
  parallel %tiles, %tiles {dims = [#0 #1]} { %i: i64, %j: i64 ->
    %size = constant 128 : i64
    %m0 = mul %i, %size : i64
    %n0 = mul %j, %size : i64
    %zero = constant 0.0 : tile<f32, m:128 n:128>
    %begin = constant 0 : i64
    %step = constant 32 : i64
    %end = extent %A {index = 1} : i64
    %acc = pipeline %begin, %end, %step, %zero {range = true, in_flight = 2} : tile<f32, m:128 n:128> { %k0: i64, %a: tile<f32, m:128 n:128> ->
      stage {name = "load"}
      %x = load %A, %m0, %k0 : tile<f32, m:128 k:32>
      %y = load %B, %k0, %n0, %alpha {fallback = true} : tile<f32, k:32 n:128>
      stage {name = "compute \"now\""}
      %r = mma %x, %y, %a {reassociate = false} : tile<f32, m:128 n:128>
      yield %r
    }
    %top = reduce.expr %acc {op = maximum, dims = [n], policy = balanced_tree} : tile<f32, m:128>
    %less = lt %acc, %top : tile<bool, m:128 n:128>
    %any = constant true : bool
    if %any {
      store %C, %acc, %m0, %n0 {bounds = assume, box = [m:128 n:128]}
      yield
    } else {
      yield
    }
    %map = map : tile<f32, n:128> { %c: i64 ->
      %e = extract %acc, %begin, %c, %alpha {dims = [m n], fallback = true} : f32
      yield %e
    }
    %g = gelu %map {tier = fast} : tile<f32, n:128>
    store %C, %g, %m0, %n0 {box = [#0:1 n:128]}
    yield
  }
}
)";

}// namespace

TEST(Text, printing_what_was_parsed_is_stable) {
    auto module = parse(gemm_text);
    auto once = print(*module);
    auto twice = print(*parse(once));
    EXPECT_EQ(once, twice);
    EXPECT_NE(once.find("view<const f32, 1000 x ?k>"), std::string::npos);
    EXPECT_NE(once.find("noalias"), std::string::npos);
    EXPECT_NE(once.find("\"compute \\\"now\\\"\""), std::string::npos);
}

TEST(Text, operations_of_thread_blocks_survive_the_round_trip) {
    std::string text = R"(machine @k(%0: ptr, %1: i64, %2: i64, %3: ptr, %4: ptr) {
  %5 = participant {kind = block} : i64
  %6 = participants {kind = thread} : i64
  %7 = shared {offset = 128} : ptr
  barrier
  %8 = constant 16 : i32
  %9 = read %7 {align = 4} : f32
  %10 = exchange_lanes %9, %8 {mode = xor} : f32
}
)";
    EXPECT_EQ(print(*parse(text)), text);
}

TEST(Text, equal_labels_of_two_dimensions_are_told_apart) {
    auto module = parse(
        "kernel @k(%A: view<f32, 4 x 4>) {\n %z = constant 0 : i64\n"
        " %x = constant 1.0 : tile<f32, m:4>\n %y = constant 1.0 : tile<f32, m.1:4>\n"
        " %s = add %x, %y : tile<f32, m:4 m.1:4>\n store %A, %s, %z, %z {box = [m:4 m.1:4]}\n}\n");
    EXPECT_NE(print(*module).find("tile<f32, m:4 m.1:4>"), std::string::npos);
}

TEST(Text, mapped_accesses_boxes_and_memory_survive_the_round_trip) {
    std::string text = R"(kernel @k(%0: view<f32, 8 x 8>) {
  %1 = constant 2 : i64
  %2 = map : tile<i64, q:4> { %3: i64 ->
    %4 = mul %3, %1 : i64
    yield %4
  }
  %5 = constant 1.0 : f32
  %6 = load %0, %2, %2, %5 {fallback = true, mapped = true} : tile<f32, q:4>
  %7 = memory.alloc {in = private, layout = "affine{(8):(1), (8):(8); 0} [8, 8] -> [64]"} : tile<f32, m:8 n:8>
  %8 = per %6, %1 : tile<f32, q:4>
  %9 = broadcast %8 : tile<f32, q:4 #1:1>
  %10 = constant 0.0 : tile<f32, m:8 n:8>
  %11 = insert %7, %10 : tile<f32, m:8 n:8>
  %12 = insert %11, %9, %1, %1 {dims = [m n], box = [q:4 #1:1]} : tile<f32, m:8 n:8>
  %13 = extract %12, %1 {dims = [n], box = [q:4]} : tile<f32, m:8 q:4>
  %14 = extract %13, %1 {dims = [m]} : tile<f32, q:4>
  %15 = insert %14, %6 : tile<f32, q:4>
  store %0, %15, %2, %2 {box = [q:4], mapped = true}
}
)";
    auto module = parse(text);
    EXPECT_EQ(print(*module), text);
}

TEST(Text, errors_name_line_and_column) {
    try {
        (void)parse("kernel @k() {\n  %x = frobnicate : f32\n}\n", "bad.tir");
        FAIL() << "accepted";
    } catch (const ParseError &e) {
        EXPECT_EQ(e.message(), "bad.tir:2:8: unknown operation 'frobnicate'");
    }
}

TEST(Text, a_verifier_message_has_a_caret_under_the_operation) {
    try {
        (void)parse("kernel @k(%A: view<const f32, 4>) {\n  %z = constant 0 : i64\n"
                    "  %x = constant 1.0 : tile<f32, m:4>\n  store %A, %x, %z {box = [m:4]}\n}\n");
        FAIL() << "accepted";
    } catch (const VerifyError &e) {
        EXPECT_EQ(e.message(), "store: writes a const view\n"
                               "4:   store %0, %2, %1 {box = [m:4]}\n"
                               "     ^");
    }
}

TEST(Text, endless_nesting_is_refused) {
    std::string text = "kernel @k(%b: bool) {\n";
    for (int i = 0; i < 100000; ++i) {
        text += "if %b {\n";
    }
    EXPECT_THROW((void)parse(text), ParseError);
    EXPECT_THROW((void)parse(std::string(1 << 20, '(')), ParseError);
    EXPECT_THROW((void)parse(""), ParseError);
}

TEST(Text, mutated_programs_are_refused_or_valid_but_never_crash) {
    std::string text = gemm_text;
    std::mt19937 engine{7};
    int accepted = 0;
    for (int round = 0; round < 3000; ++round) {
        auto mutant = text;
        for (auto n = 1 + engine() % 3; n > 0; --n) {
            auto at = engine() % mutant.size();
            switch (engine() % 3) {
                case 0: mutant.erase(at, 1 + engine() % 6); break;
                case 1: mutant[at] = text[engine() % text.size()]; break;
                default: mutant.insert(at, text.substr(engine() % text.size(), 1 + engine() % 8));
            }
        }
        try {
            auto module = parse(mutant);
            EXPECT_TRUE(check(*module).empty());
            ++accepted;
        } catch (const Error &e) {
            EXPECT_NE(e.kind(), ErrorKind::INTERNAL) << e.what() << "\n" << mutant;
        }
    }
    EXPECT_GT(accepted, 0);
}

}// namespace luisa::tile::ir
