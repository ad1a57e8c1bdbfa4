// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "fuzz/case.h"

namespace luisa::tile::fuzz {

enum class OutcomeKind : uint8_t {
    SAME,       ///< both back ends left the same bits
    UNSUPPORTED,///< the compiler said so
    EXCLUDED,   ///< the interpreter found no defined result
    // What follows is a failure.
    DIFFERENT,///< other bits
    ERROR,    ///< an exception that a valid program must not cause
    INVALID,  ///< the verifier rejects it
    TEXT,     ///< printing, parsing and printing again changes it
    RACE,     ///< two instances of a `parallel` write one element: the generator's mistake
    CRASH,    ///< a signal ended the process
    HANG,     ///< it ran past its time
};
inline constexpr size_t outcome_kind_count = 10;
[[nodiscard]] const char *to_string(OutcomeKind kind) noexcept;
[[nodiscard]] inline bool is_failure(OutcomeKind kind) noexcept {
    return kind >= OutcomeKind::DIFFERENT;
}

struct Outcome {
    OutcomeKind kind = OutcomeKind::SAME;
    std::string message;
};

/// Verifies, prints and parses, interprets, compiles, runs and compares all bytes of all views; any
/// NaN equals any NaN. Never throws for what the program does; a crash is the caller's to survive.
[[nodiscard]] Outcome execute(const Case &c);

/// `given`, and with each of: the generic levels of the processor family, 1, 2 and 7 threads, the other order
/// of tasks, narrower vectors, and other caches. All of them are compared with the interpreter.
[[nodiscard]] std::vector<Settings> variants(const Settings &given);

}// namespace luisa::tile::fuzz
