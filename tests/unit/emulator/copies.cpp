// SPDX-License-Identifier: Apache-2.0
#include "unit/emulator/machine.h"

#include <gtest/gtest.h>

// Copies past the registers: done late, and missed waits found.

namespace luisa::tile::test {

namespace {

/// Each thread copies 16 bytes of the view to shared memory and stores what its neighbour copied, doubled.
std::string copied(const std::string &wait, const char *barrier = "barrier") {
    return R"(
  %t = participant {kind = thread} : i64
  %n = participants {kind = thread} : i64
  %s = shared {offset = 0} : ptr
  %A = argument %args {index = 0} : ptr
  %to = address %s, %t {scale = 16} : ptr
  %from = address %A, %t {scale = 16} : ptr
  copy_async %to, %from {bytes = 16}
  copy_commit
  )" + wait +
           "\n  " + barrier + R"(
  %one = constant 1 : i64
  %next = add %t, %one : i64
  %wrapped = rem %next, %n : i64
  %other = address %s, %wrapped {scale = 16} : ptr
  %x = read %other {align = 16} : <4 x u32>
  %y = add %x, %x : <4 x u32>
  %end = address %A, %n {scale = 16} : ptr
  %result = address %end, %t {scale = 16} : ptr
  write %result, %y {align = 16})";
}

std::string error_of(const std::string &body, ErrorKind kind, ErrorKind other = ErrorKind::RACE) {
    TeamProgram p{body, 256, true};
    p.launch.seed = 7;
    try {
        p.run();
    } catch (const Error &error) {
        EXPECT_TRUE(error.kind() == kind || error.kind() == other) << error.what();
        return error.message();
    }
    return "";
}

}// namespace

TEST(EmulatorCopies, arrive_when_they_were_waited_for) {
    for (bool observed : {false, true}) {
        TeamProgram p{copied("copy_wait {index = 0}"), 256, observed};
        for (uint32_t i = 0; i < 128; ++i) {
            p.memory[i] = i;
        }
        p.run();
        for (uint32_t i = 0; i < 128; ++i) {
            EXPECT_EQ(p.memory[128 + i], 2 * ((i + 4) % 128));
        }
    }
}

TEST(EmulatorCopies, a_missed_wait_is_found) {
    for (const auto *wait : {"", "copy_wait {index = 1}"}) {
        auto text = error_of(copied(wait), ErrorKind::RACE);
        EXPECT_NE(text.find("under way, with no wait for it between"), std::string::npos) << text;
        EXPECT_NE(text.find("of shared memory"), std::string::npos) << text;
    }
}

TEST(EmulatorCopies, a_missed_barrier_is_found) {
    // What is seen first depends on who came first: bytes that nobody wrote, or another thread's.
    auto text = error_of(copied("copy_wait {index = 0}", ""), ErrorKind::RACE, ErrorKind::BOUNDS);
    EXPECT_NE(text.find("of shared memory"), std::string::npos) << text;
}

TEST(EmulatorCopies, bytes_beyond_the_count_become_zero) {
    TeamProgram p{R"(
  %s = shared {offset = 0} : ptr
  %A = argument %args {index = 0} : ptr
  %t = participant {kind = thread} : i64
  %to = address %s, %t {scale = 16} : ptr
  %from = address %A, %t {scale = 16} : ptr
  %eight = constant 8 : i64
  copy_async %to, %from, %eight {bytes = 16}
  copy_commit
  copy_wait {index = 0}
  %x = read %to {align = 16} : <4 x u32>
  write %from, %x {align = 16})",
                  128, true};
    std::fill(p.memory.begin(), p.memory.end(), 9u);
    p.run();
    for (size_t i = 0; i < 128; ++i) {
        EXPECT_EQ(p.memory[i], i % 4 < 2 ? 9u : 0u);
    }
}

TEST(EmulatorCopies, a_vector_that_is_not_aligned_is_found) {
    auto text = error_of(R"(
  %A = argument %args {index = 0} : ptr
  %t = participant {kind = thread} : i64
  %from = address %A, %t {scale = 4} : ptr
  %x = read %from {align = 16} : <4 x u32>)",
                         ErrorKind::BOUNDS);
    EXPECT_NE(text.find("no multiple of 16"), std::string::npos) << text;
}

}// namespace luisa::tile::test
