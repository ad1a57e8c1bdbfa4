// SPDX-License-Identifier: Apache-2.0
#include "compile/blocks.h"
#include "ir/text.h"
#include "runtime/cpu/pool.h"
#include "runtime/emulator/run.h"

#include <gtest/gtest.h>

// Programs whose order of accesses hangs on how control goes.

namespace luisa::tile::test {

namespace {

/// A tile that a loop updates as often as the launch says, then its elements in the other direction.
const char *const reversed_after_a_loop =
    R"(kernel @k(%A: view<const f32, ?r>, %C: view<i64, 40>) {
  %z = constant 0 : i64
  %n = extent %A {index = 0} : i64
  %one = constant 1 : i64
  %start = iota : tile<i64, n:40>
  %s = serial %z, %n, %one, %start {range = true} : tile<i64, n:40> { %k: i64, %x: tile<i64, n:40> ->
    %y = add %x, %k : tile<i64, n:40>
    yield %y
  }
  %last = constant 39 : i64
  %r = map : tile<i64, n:40> { %c: i64 ->
    %d = sub %last, %c : i64
    %e = extract %s, %d {dims = [n]} : i64
    yield %e
  }
  store %C, %r, %z {box = [n:40]}
}
)";

}// namespace

TEST(EmulatorPrograms, what_stands_before_a_loop_of_no_iterations_is_ordered_with_what_follows) {
    auto kernel = compiler::compile_emulator(*ir::parse(reversed_after_a_loop), {false, true});
    runtime::Pool pool{1};
    for (uint64_t trips : {0u, 1u, 3u}) {
        std::vector<float> a(4);
        std::vector<int64_t> c(40, -1);
        std::vector<uint64_t> words{reinterpret_cast<uint64_t>(a.data()), trips, 1,
                                    reinterpret_cast<uint64_t>(c.data()), 40,    1};
        std::vector<emulator::Extent> memory{{a.data(), a.size() * 4, "A"},
                                             {c.data(), c.size() * 8, "C"}};
        EXPECT_NO_THROW(emulator::run_kernel(*kernel, words.data(), memory, pool, {}))
            << trips << "\n"
            << ir::print(*kernel->machine);
        auto added = static_cast<int64_t>(trips * (trips - 1) / 2);
        for (int64_t i = 0; i < 40; ++i) {
            EXPECT_EQ(c[static_cast<size_t>(i)], 39 - i + (trips ? added : 0)) << trips;
        }
    }
}

TEST(EmulatorPrograms, kernels_print_and_fail_where_they_stand) {
    auto kernel = compiler::compile_emulator(*ir::parse(R"(kernel @k(%C: view<i64, 40>) {
  %n = constant 3 : i64
  parallel %n {dims = [#0]} { %i: i64 ->
    %x = iota : tile<i64, m:40>
    %s = reduce.expr %x {op = add, dims = [m]} : i64
    print %i, %s {format = "{} of {}"}
    %two = constant 2 : i64
    %fine = lt %i, %two : bool
    assert %fine, %i {message = "too far"}
    yield
  }
}
)"),
                                             {});
    runtime::Pool pool{1};
    std::vector<int64_t> c(40);
    std::vector<uint64_t> words{reinterpret_cast<uint64_t>(c.data()), 40, 1};
    std::vector<std::string> lines;
    try {
        emulator::run_kernel(*kernel, words.data(), {}, pool,
                             [&](const std::string &line) { lines.push_back(line); });
        FAIL() << "no assertion failed";
    } catch (const AssertionError &error) {
        EXPECT_NE(error.message().find("too far"), std::string::npos) << error.message();
        EXPECT_EQ(error.location().line, 9u);
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"0 of 780", "1 of 780", "2 of 780"}));
}

}// namespace luisa::tile::test
