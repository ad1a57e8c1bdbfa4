// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/error.h>

#include "core/internal_error.h"

#include <array>

namespace luisa::tile {

namespace {

constexpr std::array kind_names = {
    "ShapeError",        "TypeError",     "ValueError",       "IndexError",     "BoundsError",
    "OwnershipError",    "ScopeError",    "AliasError",       "AlignmentError", "DeviceError",
    "LifetimeError",     "CallError",     "ConstraintError",  "CaptureError",   "ParseError",
    "VerifyError",       "TargetError",   "UnsupportedError", "CompileError",   "ResourceError",
    "DeviceUnavailable", "StateError",    "RaceError",        "AssertionError", "InteropError",
    "OutOfMemoryError",  "InternalError",
};
static_assert(kind_names.size() == static_cast<size_t>(ErrorKind::INTERNAL) + 1);

std::string render(ErrorKind kind, const std::string &message, SourceLoc loc,
                   const std::vector<Error::Note> &notes) {
    std::string text;
    if (loc.known()) {
        text += to_string(loc) + ": ";
    }
    text += std::string{to_string(kind)} + ": " + message;
    for (const auto &note : notes) {
        text += "\n  note: " + note.message;
        if (note.loc.known()) {
            text += " (" + to_string(note.loc) + ")";
        }
    }
    return text;
}

template<size_t... I>
[[noreturn]] void throw_kind(std::index_sequence<I...>, ErrorKind kind, std::string message,
                             SourceLoc loc, std::vector<Error::Note> notes) {
    ((static_cast<size_t>(kind) == I
          ? throw ErrorOf<static_cast<ErrorKind>(I)>{std::move(message), loc, std::move(notes)}
          : void()),
     ...);
    internal_error("unknown error kind");
}

}// namespace

std::string to_string(SourceLoc loc) {
    if (!loc.known()) {
        return "<unknown>";
    }
    std::string_view file{loc.file};
    if (auto slash = file.rfind('/'); slash != std::string_view::npos) {
        file.remove_prefix(slash + 1);
    }
    return std::string{file} + ":" + std::to_string(loc.line);
}

const char *to_string(ErrorKind kind) noexcept { return kind_names[static_cast<size_t>(kind)]; }

Error::Error(ErrorKind kind, std::string message, SourceLoc loc, std::vector<Note> notes)
    : _kind{kind}, _message{std::move(message)}, _loc{loc}, _notes{std::move(notes)},
      _text{render(_kind, _message, _loc, _notes)} {}

void throw_error(ErrorKind kind, std::string message, SourceLoc loc,
                 std::vector<Error::Note> notes) {
    throw_kind(std::make_index_sequence<kind_names.size()>{}, kind, std::move(message), loc,
               std::move(notes));
}

void internal_error(std::string message, SourceLoc loc) {
    throw InternalError{message + " (a defect in Luisa Tile; please report it)", loc};
}

}// namespace luisa::tile
