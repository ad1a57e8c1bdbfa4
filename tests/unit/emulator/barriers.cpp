// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/barriers.h"

#include "ir/text.h"

#include <gtest/gtest.h>

#include <string>

// Barriers that order nothing go; all others stay.

namespace luisa::tile::test {

namespace {

/// How many of the barriers in a function body stay, for blocks of 32 threads.
size_t barriers_left(const std::string &body, bool overlap = false) {
    auto module = ir::parse(R"(machine @k(%args: ptr, %scratch: ptr) {
  %t = participant {kind = thread} : i64
  %zero = constant 0 : i64
  %one = constant 1 : i64
  %n = argument %args {index = 1} : i64
  %eight = constant 8 : i64
  %c = lt %n, %eight : bool
  %v = constant 7 : i32
  %s = shared {offset = 0} : ptr
  %far = shared {offset = 128} : ptr
  %A = argument %args {index = 0} : ptr
  %B = argument %args {index = 2} : ptr
  %own = address %s, %t {scale = 4} : ptr
  %behind = address %far, %t {scale = 4} : ptr
  %to = address %A, %t {scale = 4} : ptr
  %from = address %B, %t {scale = 4} : ptr
)" + body + "\n}\n");
    simt::remove_needless_barriers(*module, module->functions().front(), {32, overlap});
    auto text = ir::print(*module);
    size_t count = 0;
    for (size_t at = text.find("barrier"); at != std::string::npos;
         at = text.find("barrier", at + 1)) {
        ++count;
    }
    return count;
}

const std::string write = "write %own, %v {align = 4}\n",
                  write_behind = "write %behind, %v {align = 4}\n",
                  read = "%x = read %s {align = 4} : i32\n",
                  read_behind = "%y = read %far {align = 4} : i32\n", barrier = "barrier\n";

std::string loop(const std::string &body, const char *end = "%n") {
    return std::string{"for %zero, "} + end + ", %one { %i: i64 ->\n" + body + "yield\n}\n";
}

}// namespace

TEST(NeedlessBarriers, between_a_write_and_a_read_one_stays) {
    EXPECT_EQ(barriers_left(write + barrier + read), 1u);
    EXPECT_EQ(barriers_left(read + barrier + write), 1u);
    EXPECT_EQ(barriers_left(write + barrier + write), 1u);
    EXPECT_EQ(barriers_left(write + barrier + barrier + read), 1u);
}

TEST(NeedlessBarriers, without_a_write_on_one_side_none_stays) {
    EXPECT_EQ(barriers_left(barrier + write + read), 0u);
    EXPECT_EQ(barriers_left(read + barrier + "%z = read %own {align = 4} : i32\n"), 0u);
}

TEST(NeedlessBarriers, bytes_that_are_not_the_same_need_none) {
    EXPECT_EQ(barriers_left(write + barrier + read_behind), 0u);
    EXPECT_EQ(barriers_left(write + write_behind + barrier + read_behind), 1u);
    // The words of 32 threads end where the others begin; one more reaches them.
    EXPECT_EQ(barriers_left("%next = address %own {scale = 1, offset = 4} : ptr\n"
                            "write %next, %v {align = 4}\n" +
                            barrier + read_behind),
              1u);
    // Anything may be what an unknown index names.
    EXPECT_EQ(barriers_left("%any = address %s, %n {scale = 4} : ptr\n"
                            "write %any, %v {align = 4}\n" +
                            barrier + read_behind),
              1u);
    EXPECT_EQ(barriers_left("%m = rem %t, %eight : i64\n%low = address %s, %m {scale = 16} : ptr\n"
                            "write %low, %v {align = 4}\n" +
                            barrier + read_behind),
              0u);
}

TEST(NeedlessBarriers, views_are_the_same_memory_only_where_they_may_overlap) {
    auto body = "write %to, %v {align = 4}\n" + barrier + "%x = read %from {align = 4} : i32\n";
    EXPECT_EQ(barriers_left(body), 0u);
    EXPECT_EQ(barriers_left(body, true), 1u);
    EXPECT_EQ(
        barriers_left("write %to, %v {align = 4}\n" + barrier + "%x = read %A {align = 4} : i32\n"),
        1u);
}

TEST(NeedlessBarriers, the_end_of_a_loop_meets_its_beginning) {
    EXPECT_EQ(barriers_left(loop(write + barrier + read + barrier)), 2u);
    // The next iteration writes elsewhere than this one reads.
    EXPECT_EQ(barriers_left(loop(write + barrier + read + barrier + write_behind + barrier +
                                 read_behind + barrier)),
              2u);
    EXPECT_EQ(barriers_left(loop(read + barrier + read_behind)), 0u);
    // What follows, or comes before, meets an iteration, too.
    EXPECT_EQ(barriers_left(loop(write) + barrier + read), 1u);
    EXPECT_EQ(barriers_left(write + barrier + loop(read)), 1u);
}

TEST(NeedlessBarriers, a_loop_that_may_not_run_orders_nothing) {
    auto inner = loop(read_behind + barrier + write_behind + barrier);
    EXPECT_EQ(barriers_left(write + barrier + inner + read), 3u);
    auto runs = "for %zero, %eight, %one {at_least_once = true} { %i: i64 ->\n" + read_behind +
                barrier + write_behind + barrier + "yield\n}\n";
    EXPECT_EQ(barriers_left(write + barrier + runs + read), 2u);
}

TEST(NeedlessBarriers, both_branches_must_have_one) {
    auto branch = [](const std::string &one, const std::string &other) {
        return "if %c {\n" + one + "yield\n} else {\n" + other + "yield\n}\n";
    };
    EXPECT_EQ(barriers_left(write + branch(barrier, "") + read), 1u);
    EXPECT_EQ(barriers_left(write + barrier + branch(barrier, "") + read), 1u);
    EXPECT_EQ(barriers_left(write + branch(barrier, barrier) + read), 2u);
    // The one behind both does for both.
    EXPECT_EQ(barriers_left(write + branch(barrier, barrier) + barrier + read), 1u);
    EXPECT_EQ(barriers_left(branch(write, "") + barrier + branch("", read)), 1u);
}

TEST(NeedlessBarriers, copies_past_the_registers_are_done_when_they_were_waited_for) {
    auto copy = "copy_async %s, %A {bytes = 16}\ncopy_commit\n";
    // A barrier before the wait is no order for what the copy writes.
    EXPECT_EQ(barriers_left(copy + barrier + "copy_wait {index = 0}\n" + barrier + read), 2u);
    EXPECT_EQ(barriers_left(copy + barrier + read_behind + "copy_wait {index = 0}\n"), 1u);
    EXPECT_EQ(barriers_left(copy + ("copy_wait {index = 0}\n" + read_behind) + barrier + read), 1u);
}

}// namespace luisa::tile::test
