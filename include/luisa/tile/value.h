// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/shape.h>
#include <luisa/tile/types.h>

#include <utility>

namespace luisa::tile {

template<class T> class MemoryRef;
template<class T> class ElementRef;
class Nest;

/// A host number may stand for an element of type T unless that would drop its fraction, or mix bool
/// with numbers.
template<class U, class T>
concept HostNumberFor = std::is_arithmetic_v<U> &&
    (is_floating_element<T> ||
     !std::is_floating_point_v<U>)&&(std::same_as<T, bool> == std::same_as<U, bool>);

namespace core {

template<class U> constexpr Literal literal(U value) {
    if constexpr (std::is_floating_point_v<U>) {
        return {Literal::Kind::REAL, 0, 0, static_cast<double>(value)};
    } else if constexpr (std::is_signed_v<U>) {
        return {Literal::Kind::SIGNED, static_cast<int64_t>(value), 0, 0};
    } else {
        return {Literal::Kind::UNSIGNED, 0, static_cast<uint64_t>(value), 0};
    }
}

/// Owns one staged variable.
class Staged {
public:
    [[nodiscard]] Value *value(SourceLoc loc) const { return read(_variable, loc); }
    [[nodiscard]] Variable *variable() const noexcept { return _variable; }

protected:
    explicit Staged(Variable *variable) noexcept : _variable{variable} { place(variable, this); }
    ~Staged() { destroy(_variable); }
    Variable *_variable;
};

template<class> inline constexpr bool always_false = false;

/// What an assignment to a constant means: most often a branch that holds copies.
template<class T> void assign_to_a_copy() {
    static_assert(always_false<T>, "this variable is constant here; a lambda that captures by [=] "
                                   "holds copies: capture by [&] to assign outer variables");
}
/// What a reference that stands where a value is needed means: a compile error that tells the spelling.
template<class T> Value *element_without_load() {
    static_assert(always_false<T>, "an element of a view is loaded first: write A(i, j).load() or "
                                   "A[coord(i, j)]");
    return nullptr;
}
template<class T> Value *box_without_load() {
    static_assert(always_false<T>, "a box of a view is loaded first: write A(origin, shape).load() "
                                   "or A[origin, shape]");
    return nullptr;
}

}// namespace core

// Operands of operators: the converting constructors carry the source location, which an operator
// itself cannot.
#define LUISA_TILE_NO_REFERENCES(CLASS, MEMBER)                                                    \
    CLASS(const ElementRef<T> &) : MEMBER{core::element_without_load<T>()} {}                      \
    CLASS(const ElementRef<const T> &) : MEMBER{core::element_without_load<T>()} {}                \
    CLASS(const MemoryRef<T> &) : MEMBER{core::box_without_load<T>()} {}                           \
    CLASS(const MemoryRef<const T> &) : MEMBER{core::box_without_load<T>()} {}

template<class T> struct ScalarArg {
    core::Value *v;
    SourceLoc loc;
    ScalarArg(const Scalar<T> &s, SourceLoc loc = SourceLoc::current());
    template<class U>
        requires HostNumberFor<U, T> ScalarArg(U u, SourceLoc loc = SourceLoc::current())
            : v{core::constant(scalar_type_of<T>, core::literal(u), loc)}, loc{loc} {}
        ScalarArg(T t, SourceLoc loc = SourceLoc::current()) requires(!std::is_arithmetic_v<T>)
            : v{core::constant_bits(scalar_type_of<T>, t.bits(), loc)}, loc{loc} {}
        ScalarArg(Index i, SourceLoc loc = SourceLoc::current()) requires std::same_as<T, int64_t>
            : v{i.value(loc)}, loc{loc} {}
        LUISA_TILE_NO_REFERENCES(ScalarArg, v)
};

template<class T> struct TileArg {
    core::Value *v;
    SourceLoc loc;
    TileArg(const Tile<T> &t, SourceLoc loc = SourceLoc::current());
    TileArg(const Scalar<T> &s, SourceLoc loc = SourceLoc::current());
    template<class U>
        requires HostNumberFor<U, T> TileArg(U u, SourceLoc loc = SourceLoc::current())
            : v{core::constant(scalar_type_of<T>, core::literal(u), loc)}, loc{loc} {}
        TileArg(T t, SourceLoc loc = SourceLoc::current()) requires(!std::is_arithmetic_v<T>)
            : v{core::constant_bits(scalar_type_of<T>, t.bits(), loc)}, loc{loc} {}
        TileArg(Index i, SourceLoc loc = SourceLoc::current()) requires std::same_as<T, int64_t>
            : v{i.value(loc)}, loc{loc} {}
        LUISA_TILE_NO_REFERENCES(TileArg, v)
};

/// Where only one element can be meant (stores, +=): a rank-zero tile is welcome too. It cannot be an
/// operator's operand type, or Tile + Scalar would match both operator families.
template<class T> struct ScalarParam {
    core::Value *v;
    SourceLoc loc;
    ScalarParam(const Scalar<T> &s, SourceLoc loc = SourceLoc::current());
    ScalarParam(const Tile<T> &s, SourceLoc loc = SourceLoc::current());
    template<class U>
        requires HostNumberFor<U, T> ScalarParam(U u, SourceLoc loc = SourceLoc::current())
            : v{core::constant(scalar_type_of<T>, core::literal(u), loc)}, loc{loc} {}
        ScalarParam(T t, SourceLoc loc = SourceLoc::current()) requires(!std::is_arithmetic_v<T>)
            : v{core::constant_bits(scalar_type_of<T>, t.bits(), loc)}, loc{loc} {}
        ScalarParam(Index i, SourceLoc loc = SourceLoc::current()) requires std::same_as<T, int64_t>
            : v{i.value(loc)}, loc{loc} {}
        LUISA_TILE_NO_REFERENCES(ScalarParam, v)
};

// Hidden friends that are no templates themselves, so that operands convert at the call site.
#define LUISA_TILE_BINARY(CLASS, ARG, OP, NAME)                                                    \
    friend CLASS<T> operator OP(ARG<T> a, ARG<T> b) {                                              \
        return CLASS<T>(core::elementwise(NAME, {a.v, b.v}, b.loc), b.loc);                        \
    }
#define LUISA_TILE_COMPARE(CLASS, ARG, OP, NAME)                                                   \
    friend CLASS<bool> operator OP(ARG<T> a, ARG<T> b) {                                           \
        return CLASS<bool>(core::elementwise(NAME, {a.v, b.v}, b.loc), b.loc);                     \
    }
#define LUISA_TILE_COMPOUND(CLASS, PARAM, OP, NAME)                                                \
    CLASS &operator OP(PARAM<T> b) {                                                               \
        core::assign(_variable,                                                                    \
                     core::elementwise(NAME, {core::read(_variable, b.loc), b.v}, b.loc), b.loc);  \
        return *this;                                                                              \
    }                                                                                              \
    void operator OP(PARAM<T>) const { core::assign_to_a_copy<T>(); }
#define LUISA_TILE_STAGED(CLASS, ARG, PARAM)                                                       \
    CLASS(SourceLoc loc = SourceLoc::current()) : Staged{core::declare(nullptr, loc)} {}           \
    CLASS(core::Value *v, SourceLoc loc) : Staged{core::declare(v, loc)} {}                        \
    CLASS(const CLASS &o, SourceLoc loc = SourceLoc::current())                                    \
        : Staged{core::snapshot(o._variable, loc)} {}                                              \
    CLASS(CLASS &&o, SourceLoc loc = SourceLoc::current())                                         \
    noexcept : Staged{core::transfer(o._variable, loc)} {}                                         \
    ~CLASS() = default;                                                                            \
    CLASS &operator=(CLASS o) {                                                                    \
        core::assign_from(_variable, o._variable);                                                 \
        return *this;                                                                              \
    }                                                                                              \
    void operator=(CLASS) const { core::assign_to_a_copy<T>(); }                                   \
    LUISA_TILE_BINARY(CLASS, ARG, +, "add")                                                        \
    LUISA_TILE_BINARY(CLASS, ARG, -, "sub")                                                        \
    LUISA_TILE_BINARY(CLASS, ARG, *, "mul")                                                        \
    LUISA_TILE_BINARY(CLASS, ARG, /, "div")                                                        \
    LUISA_TILE_BINARY(CLASS, ARG, %, "rem")                                                        \
    LUISA_TILE_BINARY(CLASS, ARG, &, "and")                                                        \
    LUISA_TILE_BINARY(CLASS, ARG, |, "or")                                                         \
    LUISA_TILE_BINARY(CLASS, ARG, ^, "xor")                                                        \
    LUISA_TILE_BINARY(CLASS, ARG, <<, "shl")                                                       \
    LUISA_TILE_BINARY(CLASS, ARG, >>, "shr")                                                       \
    LUISA_TILE_COMPARE(CLASS, ARG, <, "lt")                                                        \
    LUISA_TILE_COMPARE(CLASS, ARG, <=, "le")                                                       \
    LUISA_TILE_COMPARE(CLASS, ARG, >, "gt")                                                        \
    LUISA_TILE_COMPARE(CLASS, ARG, >=, "ge")                                                       \
    LUISA_TILE_COMPARE(CLASS, ARG, ==, "eq")                                                       \
    LUISA_TILE_COMPARE(CLASS, ARG, !=, "ne")                                                       \
    friend CLASS<T> operator-(ARG<T> a) {                                                          \
        return CLASS<T>(core::elementwise("neg", {a.v}, a.loc), a.loc);                            \
    }                                                                                              \
    friend CLASS<T> operator~(ARG<T> a) {                                                          \
        return CLASS<T>(core::elementwise("not", {a.v}, a.loc), a.loc);                            \
    }                                                                                              \
    friend CLASS<bool> operator&&(ARG<T> a, ARG<T> b) requires std::same_as<T, bool> {             \
        return CLASS<bool>(core::elementwise("and", {a.v, b.v}, b.loc), b.loc);                    \
    }                                                                                              \
    friend CLASS<bool> operator||(ARG<T> a, ARG<T> b) requires std::same_as<T, bool> {             \
        return CLASS<bool>(core::elementwise("or", {a.v, b.v}, b.loc), b.loc);                     \
    }                                                                                              \
    friend CLASS<bool> operator!(ARG<T> a) requires std::same_as<T, bool> {                        \
        return CLASS<bool>(core::elementwise("not", {a.v}, a.loc), a.loc);                         \
    }                                                                                              \
    LUISA_TILE_COMPOUND(CLASS, PARAM, +=, "add")                                                   \
    LUISA_TILE_COMPOUND(CLASS, PARAM, -=, "sub")                                                   \
    LUISA_TILE_COMPOUND(CLASS, PARAM, *=, "mul")                                                   \
    LUISA_TILE_COMPOUND(CLASS, PARAM, /=, "div")                                                   \
    LUISA_TILE_COMPOUND(CLASS, PARAM, %=, "rem")                                                   \
    LUISA_TILE_COMPOUND(CLASS, PARAM, &=, "and")                                                   \
    LUISA_TILE_COMPOUND(CLASS, PARAM, |=, "or")                                                    \
    LUISA_TILE_COMPOUND(CLASS, PARAM, ^=, "xor")                                                   \
    LUISA_TILE_COMPOUND(CLASS, PARAM, <<=, "shl")                                                  \
    LUISA_TILE_COMPOUND(CLASS, PARAM, >>=, "shr")

/// One staged element. Copies are snapshots, assignment defines anew; see docs/language.md §5.
template<class T> class Scalar : public core::Staged {
    static_assert(Element<T>, "Scalar<T>: T is no element type");

public:
    using element = T;
    LUISA_TILE_STAGED(Scalar, ScalarArg, ScalarParam)
    template<class U>
        requires HostNumberFor<U, T> Scalar(U u, SourceLoc loc = SourceLoc::current())
            : Scalar{core::constant(scalar_type_of<T>, core::literal(u), loc), loc} {}
        Scalar(T t, SourceLoc loc = SourceLoc::current()) requires(!std::is_arithmetic_v<T>)
            : Scalar{core::constant_bits(scalar_type_of<T>, t.bits(), loc), loc} {}
        Scalar(Index i, SourceLoc loc = SourceLoc::current()) requires std::same_as<T, int64_t>
            : Scalar{i.value(loc), loc} {}
        /// The one element of a rank-zero tile, checked at capture.
        Scalar(const Tile<T> &t, SourceLoc loc = SourceLoc::current());
        Scalar(const ElementRef<T> &) : Scalar{core::element_without_load<T>(), {}} {}
        Scalar(const ElementRef<const T> &) : Scalar{core::element_without_load<T>(), {}} {}
};

/// An SSA value with dimensions. Copies are snapshots, assignment defines anew.
template<class T> class Tile : public core::Staged {
    static_assert(Element<T>, "Tile<T>: T is no element type");

public:
    using element = T;
    LUISA_TILE_STAGED(Tile, TileArg, TileArg)
    Tile(const Scalar<T> &s, SourceLoc loc = SourceLoc::current()) : Tile{s.value(loc), loc} {}
    Tile(const MemoryRef<T> &) : Tile{core::box_without_load<T>(), {}} {}
    Tile(const MemoryRef<const T> &) : Tile{core::box_without_load<T>(), {}} {}
    /// A number has no shape to give.
    template<class U>
    requires std::is_arithmetic_v<U> Tile &operator=(U) {
        static_assert(core::always_false<U>,
                      "a host number has no shape: assign zeros<T>(shape) or "
                      "full<T>(shape, value)");
        return *this;
    }

    /// Number of dimensions.
    [[nodiscard]] int rank(SourceLoc loc = SourceLoc::current()) const;
    /// The identity of dimension `I`.
    template<int I> [[nodiscard]] Dim dim(SourceLoc loc = SourceLoc::current()) const {
        return axis(I, loc).dim;
    }
    /// Dimension `i` with its extent; out of range: IndexError.
    [[nodiscard]] Axis axis(int i, SourceLoc loc = SourceLoc::current()) const;
    /// Dimensions and extents.
    [[nodiscard]] Shape shape(SourceLoc loc = SourceLoc::current()) const;
    /// The coordinates along up to six dimensions, in the order given, as the domain of a nest. A dimension
    /// that the tile lacks: IndexError; one given twice: ValueError.
    [[nodiscard]] IndexSpace domain(DimArg a, DimArg b = {}, DimArg c = {}, DimArg d = {},
                                    DimArg e = {}, DimArg f = {},
                                    SourceLoc loc = SourceLoc::current()) const;
    /// The tile at the nest's coordinate: the domain's dimensions leave the shape.
    [[nodiscard]] Tile at(const Nest &nest, SourceLoc loc = SourceLoc::current()) const;
    /// The tile at explicit coordinates of its leading dimensions.
    [[nodiscard]] Tile at(const Coord &place, SourceLoc loc = SourceLoc::current()) const;
};

template<class X> struct staged_traits { static constexpr bool value = false, is_tile = false; };
template<class T> struct staged_traits<Tile<T>> {
    static constexpr bool value = true, is_tile = true;
    using element = T;
    template<class U> using like = Tile<U>;
};
template<class T> struct staged_traits<Scalar<T>> {
    static constexpr bool value = true, is_tile = false;
    using element = T;
    template<class U> using like = Scalar<U>;
};
template<class X>
concept StagedValue = staged_traits<std::remove_cvref_t<X>>::value;
template<class X>
concept TileValue = StagedValue<X> && staged_traits<std::remove_cvref_t<X>>::is_tile;
template<StagedValue X> using element_t = typename staged_traits<std::remove_cvref_t<X>>::element;

// Unequal element types: one readable error instead of a list of candidates.
#define LUISA_TILE_MIXED(OP)                                                                       \
    template<StagedValue A, StagedValue B>                                                         \
        requires(!std::same_as<element_t<A>, element_t<B>>)                                        \
    A operator OP(const A &a, const B &) {                                                         \
        static_assert(core::always_false<A>,                                                       \
                      "operands of `" #OP "` differ in element type: write cast<T>(...) on "       \
                      "one of them");                                                              \
        return a;                                                                                  \
    }
LUISA_TILE_MIXED(+)
LUISA_TILE_MIXED(-)
LUISA_TILE_MIXED(*)
LUISA_TILE_MIXED(/)
LUISA_TILE_MIXED(%)
LUISA_TILE_MIXED(&)
LUISA_TILE_MIXED(|)
LUISA_TILE_MIXED(^)
LUISA_TILE_MIXED(<<)
LUISA_TILE_MIXED(>>)
LUISA_TILE_MIXED(<)
LUISA_TILE_MIXED(<=)
LUISA_TILE_MIXED(>)
LUISA_TILE_MIXED(>=)
LUISA_TILE_MIXED(==)
LUISA_TILE_MIXED(!=)
LUISA_TILE_MIXED(+=)
LUISA_TILE_MIXED(-=)
LUISA_TILE_MIXED(*=)
LUISA_TILE_MIXED(/=)
LUISA_TILE_MIXED(%=)
LUISA_TILE_MIXED(&=)
LUISA_TILE_MIXED(|=)
LUISA_TILE_MIXED(^=)
LUISA_TILE_MIXED(<<=)
LUISA_TILE_MIXED(>>=)
#undef LUISA_TILE_MIXED

// Host numbers that would lose their fraction, or mix bool with numbers.
#define LUISA_TILE_UNFIT(OP)                                                                       \
    template<StagedValue A, class U>                                                               \
        requires(std::is_arithmetic_v<U> && !HostNumberFor<U, element_t<A>>)                       \
    A operator OP(const A &a, U) {                                                                 \
        static_assert(core::always_false<A>, "the host number of `" #OP "` does not convert to "   \
                                             "the element type: cast<T>(...) the tile, or write "  \
                                             "an integer");                                        \
        return a;                                                                                  \
    }                                                                                              \
    template<class U, StagedValue A>                                                               \
        requires(std::is_arithmetic_v<U> && !HostNumberFor<U, element_t<A>>)                       \
    A operator OP(U u, const A &a) { return a OP u; }
LUISA_TILE_UNFIT(+)
LUISA_TILE_UNFIT(-)
LUISA_TILE_UNFIT(*)
LUISA_TILE_UNFIT(/)
LUISA_TILE_UNFIT(%)
LUISA_TILE_UNFIT(<)
LUISA_TILE_UNFIT(<=)
LUISA_TILE_UNFIT(>)
LUISA_TILE_UNFIT(>=)
LUISA_TILE_UNFIT(==)
LUISA_TILE_UNFIT(!=)
#undef LUISA_TILE_UNFIT

#define LUISA_TILE_LOGIC(OP)                                                                       \
    template<StagedValue A, StagedValue B>                                                         \
        requires(!std::same_as<element_t<A>, bool> || !std::same_as<element_t<B>, bool>)           \
    A operator OP(const A &a, const B &) {                                                         \
        static_assert(core::always_false<A>,                                                       \
                      "`" #OP "` joins bool values: compare first, as in x > 0.0f");               \
        return a;                                                                                  \
    }
LUISA_TILE_LOGIC(&&)
LUISA_TILE_LOGIC(||)
#undef LUISA_TILE_LOGIC

template<class T>
ScalarArg<T>::ScalarArg(const Scalar<T> &s, SourceLoc loc) : v{s.value(loc)}, loc{loc} {}
template<class T>
ScalarParam<T>::ScalarParam(const Scalar<T> &s, SourceLoc loc) : v{s.value(loc)}, loc{loc} {}
template<class T>
ScalarParam<T>::ScalarParam(const Tile<T> &s, SourceLoc loc)
    : v{core::require_scalar(s.value(loc), "this value", loc)}, loc{loc} {}
template<class T>
TileArg<T>::TileArg(const Tile<T> &t, SourceLoc loc) : v{t.value(loc)}, loc{loc} {}
template<class T>
TileArg<T>::TileArg(const Scalar<T> &t, SourceLoc loc) : v{t.value(loc)}, loc{loc} {}
template<class T>
Scalar<T>::Scalar(const Tile<T> &t, SourceLoc loc)
    : Scalar{core::require_scalar(t.value(loc), "a Scalar made from a Tile", loc), loc} {}

namespace core {
/// A staged integer of any width as an i64.
Value *index_of(Value *integer, SourceLoc loc);
int rank_of(Value *x);
Axis axis_of(Value *x, int i, SourceLoc loc);
Shape shape_of(Value *x, SourceLoc loc);
IndexSpace domain_of(Value *x, std::initializer_list<DimArg> dims, SourceLoc loc);
Value *extract(Value *x, const Coord &place, SourceLoc loc);
Value *extract(Value *x, const Nest &nest, SourceLoc loc);
}// namespace core

template<std::integral T>
IndexArg::IndexArg(const Scalar<T> &value, SourceLoc loc)
    : _value{core::index_of(value.value(loc), loc)}, _capture{core::capture_number()},
      _present{true}, _loc{loc} {}
template<std::integral T>
IndexArg::IndexArg(const Tile<T> &value, SourceLoc loc)
    : _value{core::index_of(core::require_scalar(value.value(loc), "an index", loc), loc)},
      _capture{core::capture_number()}, _present{true}, _loc{loc} {}
template<std::integral T>
ShapeArg::ShapeArg(const Scalar<T> &extent, SourceLoc loc)
    : _extent{core::index_of(extent.value(loc), loc), loc}, _present{true} {}

template<class T> int Tile<T>::rank(SourceLoc loc) const { return core::rank_of(value(loc)); }
template<class T> Axis Tile<T>::axis(int i, SourceLoc loc) const {
    return core::axis_of(value(loc), i, loc);
}
template<class T> Shape Tile<T>::shape(SourceLoc loc) const {
    return core::shape_of(value(loc), loc);
}
template<class T>
IndexSpace Tile<T>::domain(DimArg a, DimArg b, DimArg c, DimArg d, DimArg e, DimArg f,
                           SourceLoc loc) const {
    return core::domain_of(value(loc), {a, b, c, d, e, f}, loc);
}
template<class T> Tile<T> Tile<T>::at(const Nest &nest, SourceLoc loc) const {
    return {core::extract(value(loc), nest, loc), loc};
}
template<class T> Tile<T> Tile<T>::at(const Coord &place, SourceLoc loc) const {
    return {core::extract(value(loc), place, loc), loc};
}

#undef LUISA_TILE_NO_REFERENCES
#undef LUISA_TILE_BINARY
#undef LUISA_TILE_COMPARE
#undef LUISA_TILE_COMPOUND
#undef LUISA_TILE_STAGED

}// namespace luisa::tile
