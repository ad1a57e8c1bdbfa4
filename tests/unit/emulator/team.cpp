// SPDX-License-Identifier: Apache-2.0
#include "unit/emulator/machine.h"

#include <gtest/gtest.h>

namespace luisa::tile::test {

namespace {

/// Each thread writes its number to shared memory and, behind a barrier unless that is removed, stores the
/// number of its neighbour, cyclically, in the view.
std::string neighbours(bool with_barrier) {
    return std::string{R"(
  %t = participant {kind = thread} : i64
  %n = participants {kind = thread} : i64
  %s = shared {offset = 16} : ptr
  %own = address %s, %t {scale = 4} : ptr
  %x = cast %t : u32
  write %own, %x {align = 4}
)"} + (with_barrier ? "  barrier\n" : "") +
           R"(
  %one = constant 1 : i64
  %next = add %t, %one : i64
  %wrapped = rem %next, %n : i64
  %other = address %s, %wrapped {scale = 4} : ptr
  %y = read %other {align = 4} : u32
  %A = argument %args {index = 0} : ptr
  %b = participant {kind = block} : i64
  %first = mul %b, %n : i64
  %place = add %first, %t : i64
  %to = address %A, %place {scale = 4} : ptr
  write %to, %y {align = 4})";
}

}// namespace

TEST(EmulatorTeam, threads_meet_at_a_barrier_and_see_what_all_wrote) {
    for (uint32_t seed : {0u, 1u, 2u}) {
        TeamProgram p{neighbours(true), 192};
        p.launch.threads = 64;
        p.launch.blocks = 3;
        p.launch.seed = seed;
        p.run();
        for (uint32_t i = 0; i < 192; ++i) {
            EXPECT_EQ(p.memory[i], (i + 1) % 64);
        }
    }
}

TEST(EmulatorTeam, a_removed_barrier_is_a_race) {
    TeamProgram good{neighbours(true), 32, true};
    EXPECT_NO_THROW(good.run());
    TeamProgram bad{neighbours(false), 32, true};
    bad.launch.seed = 3;
    try {
        bad.run();
        FAIL() << "no race found";
    } catch (const Error &error) {
        std::string text = error.message();
        bool race = error.kind() == ErrorKind::RACE &&
                    text.find("of shared memory") != std::string::npos &&
                    text.find("with no barrier between") != std::string::npos;
        bool unwritten = error.kind() == ErrorKind::BOUNDS &&
                         text.find("which was never written") != std::string::npos;
        EXPECT_TRUE(race || unwritten) << text;
    }
}

TEST(EmulatorTeam, lanes_exchange_in_all_modes) {
    const char *const modes[] = {"xor", "up", "down", "index"};
    for (uint32_t mode = 0; mode < 4; ++mode) {
        TeamProgram p{std::string{R"(
  %t = participant {kind = thread} : i64
  %x = cast %t : f32
  %by = constant 5 : i32
  %y = exchange_lanes %x, %by {mode = )"} +
                      modes[mode] +
                      R"(} : f32
  %A = argument %args {index = 0} : ptr
  %to = address %A, %t {scale = 4} : ptr
  %z = cast %y : u32
  write %to, %z {align = 4})"};
        p.launch.threads = 64;
        p.run();
        for (uint32_t i = 0; i < 64; ++i) {
            uint32_t lane = i % 32, warp = i - lane;
            uint32_t from[] = {lane ^ 5, lane < 5 ? lane : lane - 5,
                               lane + 5 > 31 ? lane : lane + 5, 5};
            EXPECT_EQ(p.memory[i], warp + from[mode]) << modes[mode] << " " << i;
        }
    }
}

TEST(EmulatorTeam, waiting_for_a_thread_that_is_done_is_an_error) {
    TeamProgram p{R"(
  %t = participant {kind = thread} : i64
  %one = constant 1 : i64
  %some = ge %t, %one : bool
  if %some {
    barrier
    yield
  } else {
    yield
  })"};
    try {
        p.run();
        FAIL() << "the block ended";
    } catch (const DeviceError &error) {
        EXPECT_EQ(error.message(),
                  "block 0 cannot go on: of its 32 threads 31 wait at a barrier, 0 "
                  "at an exchange, and 1 are done");
    }
}

TEST(EmulatorTeam, different_barriers_are_told_apart) {
    TeamProgram p{R"(
  %t = participant {kind = thread} : i64
  %one = constant 1 : i64
  %some = ge %t, %one : bool
  if %some {
    barrier
    yield
  } else {
    barrier
    yield
  })",
                  64, true};
    EXPECT_THROW(p.run(), RaceError);
}

TEST(EmulatorTeam, accesses_outside_of_memory_are_errors_and_not_done) {
    TeamProgram p{R"(
  %t = participant {kind = thread} : i64
  %A = argument %args {index = 0} : ptr
  %to = address %A, %t {scale = 4, offset = 8} : ptr
  %x = cast %t : u32
  write %to, %x {align = 4})",
                  32, true};
    try {
        p.run();
        FAIL() << "nothing found";
    } catch (const BoundsError &error) {
        EXPECT_EQ(error.message(), "thread 30 of block 0 writes 4 bytes outside of all memory");
    }
}

TEST(EmulatorTeam, blocks_that_write_one_place_race) {
    TeamProgram p{R"(
  %A = argument %args {index = 0} : ptr
  %t = participant {kind = thread} : i64
  %x = cast %t : u32
  %to = address %A, %t {scale = 4} : ptr
  write %to, %x {align = 4})",
                  64, true};
    EXPECT_NO_THROW(p.run());
    p.launch.blocks = 2;
    try {
        p.run();
        FAIL() << "no race found";
    } catch (const RaceError &error) {
        EXPECT_EQ(error.message(),
                  "thread 0 of block 1 writes byte 0 of view A, which thread 0 of block 0 writes, "
                  "with no barrier between");
    }
}

TEST(EmulatorTeam, atomic_updates_do_not_race) {
    TeamProgram p{R"(
  %A = argument %args {index = 0} : ptr
  %x = constant 1 : u32
  %old = atomic_update %A, %x {op = add} : u32)",
                  64, true};
    p.launch.blocks = 4;
    EXPECT_NO_THROW(p.run());
    EXPECT_EQ(p.memory[0], 128u);
}

}// namespace luisa::tile::test
