// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/detail/erased.h>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace luisa::tile {

template<class T> class Scalar;
template<class T> class Tile;

/// A host integer that may hold a runtime value instead: an extent bound to `dynamic("s")`. It folds on
/// the host while it can. Used as a host integer while it is runtime, it throws and names where it
/// was made.
class Index {
public:
    template<std::integral U>
    Index(U value, SourceLoc loc = SourceLoc::current())
        : _host{static_cast<int64_t>(value)}, _loc{loc} {}
    Index(core::Value *value, SourceLoc loc)
        : _value{value}, _capture{core::capture_number()}, _loc{loc} {}

    /// Whether the value is known at capture; it then converts to a host integer.
    [[nodiscard]] bool is_static() const noexcept { return _value == nullptr; }
    /// The host integer; throws ConstraintError for a runtime value.
    operator int64_t() const;
    /// The value as a staged scalar.
    [[nodiscard]] core::Value *value(SourceLoc loc) const;
    /// Where the value was made or passed, for messages.
    [[nodiscard]] SourceLoc location() const noexcept { return _loc; }

    friend Index operator+(Index a, Index b) { return fold("add", a, b); }
    friend Index operator-(Index a, Index b) { return fold("sub", a, b); }
    friend Index operator*(Index a, Index b) { return fold("mul", a, b); }
    friend Index operator/(Index a, Index b) { return fold("div", a, b); }
    friend Index operator%(Index a, Index b) { return fold("rem", a, b); }
    /// a / b rounded up.
    friend Index ceil_div(Index a, Index b) { return fold("ceil_div", a, b); }
    friend bool operator<(Index a, Index b) { return int64_t(a) < int64_t(b); }
    friend bool operator<=(Index a, Index b) { return int64_t(a) <= int64_t(b); }
    friend bool operator>(Index a, Index b) { return int64_t(a) > int64_t(b); }
    friend bool operator>=(Index a, Index b) { return int64_t(a) >= int64_t(b); }
    friend bool operator==(Index a, Index b) { return int64_t(a) == int64_t(b); }

    // Exact matches for host integers on one side; otherwise the built-in operators compete.
#define LUISA_TILE_INDEX_OPERATOR(R, OP)                                                           \
    template<std::integral U> friend R operator OP(Index a, U b) { return a OP Index(b, a._loc); } \
    template<std::integral U> friend R operator OP(U a, Index b) { return Index(a, b._loc) OP b; }
    LUISA_TILE_INDEX_OPERATOR(Index, +)
    LUISA_TILE_INDEX_OPERATOR(Index, -)
    LUISA_TILE_INDEX_OPERATOR(Index, *)
    LUISA_TILE_INDEX_OPERATOR(Index, /)
    LUISA_TILE_INDEX_OPERATOR(Index, %)
    LUISA_TILE_INDEX_OPERATOR(bool, <)
    LUISA_TILE_INDEX_OPERATOR(bool, <=)
    LUISA_TILE_INDEX_OPERATOR(bool, >)
    LUISA_TILE_INDEX_OPERATOR(bool, >=)
    LUISA_TILE_INDEX_OPERATOR(bool, ==)
#undef LUISA_TILE_INDEX_OPERATOR

private:
    static Index fold(const char *op, Index a, Index b);
    int64_t _host = 0;
    core::Value *_value = nullptr;
    uint64_t _capture = 0;
    SourceLoc _loc;
};

/// An index argument: a host integer, an Index, a staged integer or a rank-zero tile of integers.
class IndexArg {
public:
    IndexArg() = default;
    template<std::integral U>
    IndexArg(U value, SourceLoc loc = SourceLoc::current())
        : _host{static_cast<int64_t>(value)}, _present{true}, _loc{loc} {}
    IndexArg(Index value, SourceLoc loc = SourceLoc::current());
    template<std::integral T>
    IndexArg(const Scalar<T> &value, SourceLoc loc = SourceLoc::current());
    template<std::integral T> IndexArg(const Tile<T> &value, SourceLoc loc = SourceLoc::current());

    /// Whether the caller gave this argument.
    [[nodiscard]] bool present() const noexcept { return _present; }
    /// Where the value was made or passed, for messages.
    [[nodiscard]] SourceLoc location() const noexcept { return _loc; }
    /// The index as a staged i64.
    [[nodiscard]] core::Value *value() const;
    /// Whether it is a host integer, and which.
    [[nodiscard]] bool is_host(int64_t &value) const noexcept {
        value = _host;
        return _present && !_value;
    }

private:
    core::Value *_value = nullptr;
    uint64_t _capture = 0;
    int64_t _host = 0;
    bool _present = false;
    SourceLoc _loc;
};

}// namespace luisa::tile
