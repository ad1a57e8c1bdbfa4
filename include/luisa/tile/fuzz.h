// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace luisa::tile {

/// A run of random programs on the interpreter and another back end.
struct FuzzOptions {
    uint64_t seed = 1, first = 0, count = 1000;///< cases first … first + count - 1 of a seed
    int jobs = 0;                              ///< processes at once; 0: one a core
    int timeout_s = 20;                        ///< for one program
    int reduce_s = 60;                         ///< to make one failing program small; 0: not at all
    std::string folder;///< failing programs are written here; empty: nowhere
    bool need_coverage =
        false;///< a pair of aspects that programs can have, met less than 5 times, fails the run
    bool every_setting =
        false;///< each program for all generic levels of the processor family, several numbers
              ///< of threads, orders of tasks and descriptions of the machine
    std::string device = "cpu";///< or "cuda-emulator", which follows every access, "cuda", "cuda:N"
    std::string
        cpu;///< for device "cpu", all programs for this processor or level; empty: they vary
    std::function<void(const std::string &)> report;///< gets the report piece by piece
};

/// Makes, runs and compares `count` programs, each in a child process that may crash or hang, and
/// reports failures with their seed, case and reduced program, then coverage. Returns whether all
/// is well. Not for multithreaded processes, nor for those that have opened a GPU: it forks. TargetError for a
/// device or processor that there is not.
bool run_fuzz(const FuzzOptions &options);

/// Runs one saved program. Returns an empty text if both back ends agree, or the compiler does not
/// support it; else what went wrong. ParseError or ValueError if it is no saved program.
/// `device`: on which; empty: the one that the file names.
[[nodiscard]] std::string fuzz_replay(const std::string &text, const std::string &file_name,
                                      const std::string &device = {});

/// The program of one case, as it would be saved.
[[nodiscard]] std::string fuzz_program(uint64_t seed, uint64_t index);

}// namespace luisa::tile
