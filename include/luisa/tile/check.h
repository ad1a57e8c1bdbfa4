// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/value.h>

#include <string>

namespace luisa::tile {

namespace core {
void assert_that(Value *condition, const std::string &message, SourceLoc loc);
void print_line(const std::string &format, const std::vector<Value *> &values, SourceLoc loc);

/// The first argument of `print`: carries the location of the call.
struct PrintFormat {
    std::string text;
    SourceLoc loc;
    PrintFormat(const char *text, SourceLoc loc = SourceLoc::current()) : text{text}, loc{loc} {}
    PrintFormat(std::string text, SourceLoc loc = SourceLoc::current())
        : text{std::move(text)}, loc{loc} {}
};

template<class T> Value *printed(const Scalar<T> &x, SourceLoc loc) { return x.value(loc); }
template<class T> Value *printed(const Tile<T> &x, SourceLoc loc) {
    return require_scalar(x.value(loc), "a printed value", loc);
}
inline Value *printed(const Index &x, SourceLoc loc) { return x.value(loc); }
}// namespace core

/// Checks a condition where the kernel runs: a scalar, or every element of a tile. One that does not hold ends
/// the launch with an AssertionError: thrown by the dispatch, or on an asynchronous stream by the next
/// synchronisation. Its location is this line, and its text has the message, the coordinates of the nests
/// around it and the first failing element. Of several failures one is reported. What the launch has written
/// by then stays written; nothing after the failed check runs in its instance.
/// The message is one line (ValueError otherwise).
inline void assert_(const Scalar<bool> &condition, const std::string &message,
                    SourceLoc loc = SourceLoc::current()) {
    core::assert_that(condition.value(loc), message, loc);
}
inline void assert_(const Tile<bool> &condition, const std::string &message,
                    SourceLoc loc = SourceLoc::current()) {
    core::assert_that(condition.value(loc), message, loc);
}

/// Writes a line when the kernel runs: `format` with a value in the place of each `{}`. Values are scalars
/// (`x.at(coord(i, j))` is one element of a tile), written so that they can be read back exactly. Lines are
/// whole; those of one instance come in its order, those of several instances of a `parallel` in any.
/// They go to the standard output, or to `DeviceOptions::print`. Another number of values than places, or a
/// format of several lines: ValueError.
template<class... X> void print(const core::PrintFormat &format, const X &...values) {
    core::print_line(format.text, {core::printed(values, format.loc)...}, format.loc);
}

}// namespace luisa::tile
