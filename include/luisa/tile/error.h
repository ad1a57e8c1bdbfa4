// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace luisa::tile {

/// A place in the user's C++ source. `file` must outlive the program's use of it: string literals
/// (what `current` yields) and interned names do.
struct SourceLoc {
    const char *file = "";
    uint32_t line = 0;

    /// The call site, when used as a default argument. Own class because `std::source_location`
    /// does not exist in every supported combination of compiler and standard library.
    static constexpr SourceLoc current(const char *file = __builtin_FILE(),
                                       uint32_t line = __builtin_LINE()) noexcept {
        return {file, line};
    }
    /// False for operations that no source line made.
    [[nodiscard]] constexpr bool known() const noexcept { return line != 0; }
};

/// "gemm.cpp:12", or "<unknown>" for a location that is not known. The folder is left out.
[[nodiscard]] std::string to_string(SourceLoc loc);

/// The kinds of mistake; each has a class of its own below.
enum class ErrorKind : uint8_t {
    SHAPE,
    TYPE,
    VALUE,
    INDEX,
    BOUNDS,
    OWNERSHIP,
    SCOPE,
    ALIAS,
    ALIGNMENT,
    DEVICE,
    LIFETIME,
    CALL,
    CONSTRAINT,
    CAPTURE,
    PARSE,
    VERIFY,
    TARGET,
    UNSUPPORTED,
    COMPILE,
    RESOURCE,
    DEVICE_UNAVAILABLE,
    STATE,
    RACE,
    ASSERTION,
    INTEROP,
    OUT_OF_MEMORY,
    INTERNAL,
};

/// The name of the class for `kind`: "ShapeError".
[[nodiscard]] const char *to_string(ErrorKind kind) noexcept;

/// What every rejected program gets. `what()` reads
///     gemm.cpp:12: ShapeError: add: ...
///       note: first operand made here (gemm.cpp:9)
class Error : public std::exception {
public:
    struct Note {
        std::string message;
        SourceLoc loc;
    };

    Error(ErrorKind kind, std::string message, SourceLoc loc = {}, std::vector<Note> notes = {});
    /// The whole report: message, place, and the notes below it.
    [[nodiscard]] const char *what() const noexcept override { return _text.c_str(); }
    /// Which kind of mistake it is; also the class of the exception.
    [[nodiscard]] ErrorKind kind() const noexcept { return _kind; }
    /// The message alone: no location, no notes.
    [[nodiscard]] const std::string &message() const noexcept { return _message; }
    /// The place in the C++ source that is at fault; unknown for errors of the runtime.
    [[nodiscard]] SourceLoc location() const noexcept { return _loc; }
    /// Further places that the error involves, such as the other operand.
    [[nodiscard]] const std::vector<Note> &notes() const noexcept { return _notes; }

private:
    ErrorKind _kind;
    std::string _message;
    SourceLoc _loc;
    std::vector<Note> _notes;
    std::string _text;
};

/// One class a kind, so that callers can catch exactly what they can handle.
template<ErrorKind K> class ErrorOf : public Error {
public:
    explicit ErrorOf(std::string message, SourceLoc loc = {}, std::vector<Note> notes = {})
        : Error{K, std::move(message), loc, std::move(notes)} {}
};

using ShapeError = ErrorOf<ErrorKind::SHAPE>;
using TypeError = ErrorOf<ErrorKind::TYPE>;
using ValueError = ErrorOf<ErrorKind::VALUE>;
using IndexError = ErrorOf<ErrorKind::INDEX>;
using BoundsError = ErrorOf<ErrorKind::BOUNDS>;
using OwnershipError = ErrorOf<ErrorKind::OWNERSHIP>;
using ScopeError = ErrorOf<ErrorKind::SCOPE>;
using AliasError = ErrorOf<ErrorKind::ALIAS>;
using AlignmentError = ErrorOf<ErrorKind::ALIGNMENT>;
using DeviceError = ErrorOf<ErrorKind::DEVICE>;
using LifetimeError = ErrorOf<ErrorKind::LIFETIME>;
using CallError = ErrorOf<ErrorKind::CALL>;
using ConstraintError = ErrorOf<ErrorKind::CONSTRAINT>;
using CaptureError = ErrorOf<ErrorKind::CAPTURE>;
using ParseError = ErrorOf<ErrorKind::PARSE>;
using VerifyError = ErrorOf<ErrorKind::VERIFY>;
using TargetError = ErrorOf<ErrorKind::TARGET>;
using UnsupportedError = ErrorOf<ErrorKind::UNSUPPORTED>;
using CompileError = ErrorOf<ErrorKind::COMPILE>;
using ResourceError = ErrorOf<ErrorKind::RESOURCE>;
using DeviceUnavailable = ErrorOf<ErrorKind::DEVICE_UNAVAILABLE>;
using StateError = ErrorOf<ErrorKind::STATE>;
using RaceError = ErrorOf<ErrorKind::RACE>;
using AssertionError = ErrorOf<ErrorKind::ASSERTION>;
using InteropError = ErrorOf<ErrorKind::INTEROP>;
using OutOfMemoryError = ErrorOf<ErrorKind::OUT_OF_MEMORY>;
using InternalError = ErrorOf<ErrorKind::INTERNAL>;

/// Throws the class that belongs to `kind`.
[[noreturn]] void throw_error(ErrorKind kind, std::string message, SourceLoc loc = {},
                              std::vector<Error::Note> notes = {});

}// namespace luisa::tile
