// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/atomic.h>
#include <luisa/tile/functions.h>
#include <luisa/tile/layout.h>

#include <memory>
#include <utility>

namespace luisa::tile {

namespace bounds {
/// Outside reads give zero (or the fallback), outside writes do nothing. The default.
inline constexpr Bounds zero = Bounds::ZERO;
/// The caller promises that no access is outside.
inline constexpr Bounds assume = Bounds::ASSUME;
/// As `zero`, but what is read outside is undefined.
inline constexpr Bounds predicate = Bounds::PREDICATE;
}// namespace bounds

namespace core {
const Index &extent_of(const ViewHandle &view, int axis, SourceLoc loc);
Index stride_of(const ViewHandle &view, int axis, SourceLoc loc);
Value *load(const ViewHandle &view, const Coord &origin, const Shape &shape, Bounds bounds,
            Value *fallback, SourceLoc loc);
void store(const ViewHandle &view, const Coord &origin, const Shape &shape, Bounds bounds,
           Value *tile, SourceLoc loc);

/// The view coordinates of the elements of a mapped view: one int64 tile a dimension of the view.
struct MappedPlace {
    std::vector<Value *> coordinates;
    SourceLoc loc;                ///< where the map was applied
    bool proved_injective = false;///< as an index map
};
using MappedHandle = std::shared_ptr<const MappedPlace>;
/// A map from the coordinates of a space, of which it takes so many, to those of a view.
struct ElementMap {
    size_t takes;
    std::function<Coord(Value *const *)> place;
};
MappedHandle map_view(const ViewHandle &view, const Shape &space, const ElementMap &map,
                      SourceLoc loc);
MappedHandle map_view(const ViewHandle &view, const Shape &space, const IndexMap &map,
                      SourceLoc loc);
Value *load_mapped(const ViewHandle &view, const MappedPlace &place, const Shape &space,
                   Bounds bounds, Value *fallback, SourceLoc loc);
void store_mapped(const ViewHandle &view, const MappedPlace &place, const Shape &space,
                  Bounds bounds, Value *tile, SourceLoc loc);
Value *load_element(const ViewHandle &view, const Coord &place, SourceLoc loc);
void store_element(const ViewHandle &view, const Coord &place, Value *value, SourceLoc loc);
/// `expected` is null except for COMPARE_EXCHANGE.
Value *atomic_element(const ViewHandle &view, const Coord &place, AtomicOp op, Value *value,
                      Value *expected, SourceLoc loc);
}// namespace core

/// Where the instances of a nest find their boxes in a view: `local` is the box, and `origin` gives its
/// first coordinate from those of the nest, or from the whole path of nests, outermost first, as
/// many as it takes (one Scalar<int64_t> each).
class ViewMap {
public:
    template<class F>
    ViewMap(Shape local, F origin, SourceLoc loc = SourceLoc::current())
        : shape{std::move(local)}, takes{core::coordinate_count<F>()},
          origin{[f = std::move(origin), loc](core::Value *const *at) {
              return core::call_with_coordinates(f, at, loc);
          }},
          loc{loc} {}

    Shape shape;
    size_t takes;///< coordinates
    std::function<Coord(core::Value *const *)> origin;
    SourceLoc loc;
};

namespace core {
/// The origin of the nest's box; CallError when the map takes another number of coordinates.
Coord origin_of(const ViewMap &map, const Nest &nest, SourceLoc loc);
}// namespace core

/// Elements of a view: the box that `A(origin, shape)` names, or what `A.view(space, f)` maps to. Nothing is
/// read or written until load or store.
template<class T> class MemoryRef {
    using E = std::remove_const_t<T>;

public:
    MemoryRef(core::ViewHandle view, Coord origin, Shape shape, Bounds bounds)
        : _view{std::move(view)}, _origin{std::move(origin)}, _shape{std::move(shape)},
          _bounds{bounds} {}
    MemoryRef(core::ViewHandle view, core::MappedHandle mapped, Shape space, Bounds bounds)
        : _view{std::move(view)}, _mapped{std::move(mapped)}, _shape{std::move(space)},
          _bounds{bounds} {}
    MemoryRef(const MemoryRef &) = default;
    MemoryRef &operator=(const MemoryRef &) = delete;
    template<class U> MemoryRef &operator=(const U &) {
        static_assert(core::always_false<U>, "a box of a view is no variable: write .store(tile)");
        return *this;
    }

    /// A snapshot of the box.
    [[nodiscard]] Tile<E> load(SourceLoc loc = SourceLoc::current()) const {
        return {read(nullptr, loc), loc};
    }
    /// The same with `fallback` for elements outside the view.
    [[nodiscard]] Tile<E> load(std::type_identity_t<ScalarArg<E>> fallback,
                               SourceLoc loc = SourceLoc::current()) const {
        return {read(fallback.v, loc), loc};
    }
    /// Writes a tile; its dimensions are matched by identity, missing ones are broadcast. A map that gives
    /// two elements the same place, or cannot be proved not to: ConstraintError.
    void store(std::type_identity_t<TileArg<E>> tile, SourceLoc loc = SourceLoc::current()) const {
        static_assert(!std::is_const_v<T>,
                      "store through TensorView<const T>: the view is read only");
        if (_mapped) {
            core::store_mapped(_view, *_mapped, _shape, _bounds, tile.v, loc);
        } else {
            core::store(_view, _origin, _shape, _bounds, tile.v, loc);
        }
    }

private:
    core::Value *read(core::Value *fallback, SourceLoc loc) const {
        return _mapped ? core::load_mapped(_view, *_mapped, _shape, _bounds, fallback, loc)
                       : core::load(_view, _origin, _shape, _bounds, fallback, loc);
    }
    core::ViewHandle _view;
    Coord _origin;
    core::MappedHandle _mapped;
    Shape _shape;
    Bounds _bounds;
};

/// One element of a view.
template<class T> class ElementRef {
    using E = std::remove_const_t<T>;

public:
    ElementRef(core::ViewHandle view, Coord place)
        : _view{std::move(view)}, _place{std::move(place)} {}
    ElementRef(const ElementRef &) = default;
    ElementRef &operator=(const ElementRef &) = delete;
    template<class U> ElementRef &operator=(const U &) {
        static_assert(core::always_false<U>,
                      "an element of a view is no variable: write .store(value)");
        return *this;
    }
    template<class U> ElementRef &operator+=(const U &) {
        static_assert(core::always_false<U>,
                      "an element of a view is no variable: write a.store(a.load() + value)");
        return *this;
    }

    /// The element's value: one load.
    [[nodiscard]] Scalar<E> load(SourceLoc loc = SourceLoc::current()) const {
        return {core::load_element(_view, _place, loc), loc};
    }
    void store(ScalarParam<E> value, SourceLoc loc = SourceLoc::current()) const {
        static_assert(!std::is_const_v<T>,
                      "store through TensorView<const T>: the view is read only");
        core::store_element(_view, _place, value.v, loc);
    }

    /// Atomic updates: each changes the element in one indivisible step, whichever instances of a
    /// `parallel` do it at the same time, and gives the value from before the step. They are relaxed:
    /// what other instances did to other elements is not ordered by them. Outside the view they do nothing
    /// and give zero.
    /// Integers, f32, f64, half and bf16; UnsupportedError for other types. The sum of floats depends on the
    /// order in which instances come, which differs from run to run.
    Scalar<E> atomic_add(ScalarParam<E> value, SourceLoc loc = SourceLoc::current()) const {
        return atomic(AtomicOp::ADD, value, loc);
    }
    /// As `minimum`: −0 is below +0, and NaN stays.
    Scalar<E> atomic_min(ScalarParam<E> value, SourceLoc loc = SourceLoc::current()) const {
        return atomic(AtomicOp::MINIMUM, value, loc);
    }
    /// As `maximum`.
    Scalar<E> atomic_max(ScalarParam<E> value, SourceLoc loc = SourceLoc::current()) const {
        return atomic(AtomicOp::MAXIMUM, value, loc);
    }
    /// Puts `value` in the element's place.
    Scalar<E> atomic_exch(ScalarParam<E> value, SourceLoc loc = SourceLoc::current()) const {
        return atomic(AtomicOp::EXCHANGE, value, loc);
    }
    /// Puts `value` in the element's place if that has the bits of `expected`: so NaN can be equal, and −0
    /// and +0 are not. It was put there if the result has the bits of `expected`.
    Scalar<E> atomic_cas(ScalarParam<E> expected, ScalarParam<E> value,
                         SourceLoc loc = SourceLoc::current()) const {
        return atomic(AtomicOp::COMPARE_EXCHANGE, value, loc, expected.v);
    }
    /// Of integers, as are the next two.
    Scalar<E> atomic_and(ScalarParam<E> value, SourceLoc loc = SourceLoc::current()) const {
        return atomic(AtomicOp::AND, value, loc);
    }
    Scalar<E> atomic_or(ScalarParam<E> value, SourceLoc loc = SourceLoc::current()) const {
        return atomic(AtomicOp::OR, value, loc);
    }
    Scalar<E> atomic_xor(ScalarParam<E> value, SourceLoc loc = SourceLoc::current()) const {
        return atomic(AtomicOp::XOR, value, loc);
    }

private:
    Scalar<E> atomic(AtomicOp op, const ScalarParam<E> &value, SourceLoc loc,
                     core::Value *expected = nullptr) const {
        static_assert(!std::is_const_v<T>,
                      "atomic update through TensorView<const T>: the view is read only");
        return {core::atomic_element(_view, _place, op, value.v, expected, loc), loc};
    }

    core::ViewHandle _view;
    Coord _place;
};

/// Reads one box and writes another: one load and one store.
template<class T, class U>
void copy(const MemoryRef<T> &from, const MemoryRef<U> &to, SourceLoc loc = SourceLoc::current()) {
    static_assert(std::same_as<std::remove_const_t<T>, U>, "copy: element types differ");
    to.store(from.load(loc), loc);
}

namespace core {

/// First operand of a subscript: carries the location of `A[o, s]`.
struct CoordArg {
    const Coord &coord;
    SourceLoc loc;
    CoordArg(const Coord &coord, SourceLoc loc = SourceLoc::current()) : coord{coord}, loc{loc} {}
};

#if !defined(__cpp_multidimensional_subscript)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wcomma-subscript"// not popped: the warning falls in user code
#endif
struct Subscript {
    Coord origin;
    Shape shape;
    Bounds bounds = Bounds::ZERO;
};
#endif

template<size_t> using IndexArgAt = IndexArg;

/// `A(i, j, …)`: one call operator of exactly R arguments, so that each converts at the call site.
template<class T, class Sequence> class ElementAccess;
template<class T, size_t... I> class ElementAccess<T, std::index_sequence<I...>> {
public:
    [[nodiscard]] ElementRef<T> operator()(IndexArgAt<I>... index) const {
        return {_view, Coord{{index...}, {}}};
    }

protected:
    explicit ElementAccess(ViewHandle view) : _view{std::move(view)} {}
    ViewHandle _view;
};

}// namespace core

#if !defined(__cpp_multidimensional_subscript)
// C++20 has one subscript argument: the comma joins origin, shape and bounds.
inline core::Subscript operator,(core::CoordArg o, const Shape &s) {
    return {Coord{o.coord.parts, o.loc}, s, Bounds::ZERO};
}
inline core::Subscript operator,(core::Subscript s, Bounds b) {
    s.bounds = b;
    return s;
}
#endif

/// A kernel parameter over memory of R dimensions. `TensorView<const T, R>` permits no writes.
template<class T, int R>
class TensorView : public core::ElementAccess<T, std::make_index_sequence<static_cast<size_t>(R)>> {
    using Base = core::ElementAccess<T, std::make_index_sequence<static_cast<size_t>(R)>>;
    using Base::_view;
    static_assert(Element<std::remove_const_t<T>> && R >= 0,
                  "TensorView<T, R>: T is an element type (or const of one), R a rank");
    using E = std::remove_const_t<T>;

public:
    static constexpr int rank = R;
    using element = T;
    using Base::operator();
    explicit TensorView(core::ViewHandle view) : Base{std::move(view)} {}
    /// What the library's functions know the view by.
    [[nodiscard]] const core::ViewHandle &handle() const noexcept { return _view; }

    /// Extent of dimension `i`: a host integer, or a runtime value under `dynamic`.
    [[nodiscard]] const Index &extent(int i, SourceLoc loc = SourceLoc::current()) const {
        return core::extent_of(_view, i, loc);
    }
    /// Distance in elements between neighbours along dimension `i`.
    [[nodiscard]] Index stride(int i, SourceLoc loc = SourceLoc::current()) const {
        return core::stride_of(_view, i, loc);
    }
    /// The box of this shape at a place; same as the call operator.
    [[nodiscard]] MemoryRef<T> tile(const Coord &origin, const Shape &shape,
                                    Bounds b = Bounds::ZERO) const {
        return {_view, origin, shape, b};
    }
    /// The box that `map` gives to the nest's coordinate; the same as writing `nest.index()` in the origin.
    [[nodiscard]] MemoryRef<T> tile(const Nest &nest, const ViewMap &map, Bounds b = Bounds::ZERO,
                                    SourceLoc loc = SourceLoc::current()) const {
        return {_view, core::origin_of(map, nest, loc), map.shape, b};
    }
    /// The elements A[f(q)] for the coordinates q of `space`: windows, dilation, diagonals. `f` takes one
    /// Scalar<int64_t> a dimension of the space and returns a coord(…) of the view; it is called once a dimension
    /// of the view. Another number of either: CallError, ShapeError.
    template<class F>
    [[nodiscard]] MemoryRef<T> view(const Shape &space, const F &f, Bounds b = Bounds::ZERO,
                                    SourceLoc loc = SourceLoc::current()) const {
        core::ElementMap map{core::coordinate_count<F>(), [&](core::Value *const *at) {
                                 return core::call_with_coordinates(f, at, loc);
                             }};
        return {_view, core::map_view(_view, space, map, loc), space, b};
    }
    /// The same by an index map from the points of the space to those of the view. Another domain or rank:
    /// ShapeError; a map not proved to be defined everywhere, a store through one not proved injective:
    /// ConstraintError; a table: UnsupportedError.
    [[nodiscard]] MemoryRef<T> view(const Shape &space, const IndexMap &map,
                                    Bounds b = Bounds::ZERO,
                                    SourceLoc loc = SourceLoc::current()) const {
        return {_view, core::map_view(_view, space, map, loc), space, b};
    }
    /// The box of this shape at a place: a reference without any effect yet.
    [[nodiscard]] MemoryRef<T> operator()(const Coord &origin, const Shape &shape,
                                          Bounds b = Bounds::ZERO) const {
        return {_view, origin, shape, b};
    }
    [[nodiscard]] ElementRef<T> operator()(const Coord &place) const { return {_view, place}; }
    /// Another number of indices than dimensions.
    template<class... I>
        requires(sizeof...(I) != static_cast<size_t>(R) && sizeof...(I) > 0 &&
                 (std::is_convertible_v<const I &, IndexArg> && ...))
    ElementRef<T>
    operator()(const I &...) const {
        static_assert(core::always_false<T>, "A(i, …) takes one index a dimension of the view");
        return {_view, {}};
    }
    /// One element, loaded.
    [[nodiscard]] Scalar<E> operator[](core::CoordArg place) const {
        return ElementRef<T>{_view, place.coord}.load(place.loc);
    }
    /// C++20 reads `A[i, j]` as `A[j]`.
    template<class I>
        requires std::is_convertible_v<const I &, IndexArg> Scalar<E>
    operator[](const I &) const { return index_without_coord<I>(); }
#if defined(__cpp_multidimensional_subscript)
    template<class I, class... J>
        requires(sizeof...(J) > 0 && std::is_convertible_v<const I &, IndexArg>)
    Scalar<E>
    operator[](const I &, const J &...) const { return index_without_coord<I>(); }
    // Two overloads: g++ 12 rejects default arguments on a multi-argument operator[].
    [[nodiscard]] Tile<E> operator[](core::CoordArg origin, const Shape &shape) const {
        return {core::load(_view, origin.coord, shape, Bounds::ZERO, nullptr, origin.loc),
                origin.loc};
    }
    [[nodiscard]] Tile<E> operator[](core::CoordArg origin, const Shape &shape, Bounds b) const {
        return {core::load(_view, origin.coord, shape, b, nullptr, origin.loc), origin.loc};
    }
#else
    [[nodiscard]] Tile<E> operator[](const core::Subscript &s) const {
        return {core::load(_view, s.origin, s.shape, s.bounds, nullptr, s.origin.loc),
                s.origin.loc};
    }
#endif

private:
    template<class I> static Scalar<E> index_without_coord() {
        static_assert(core::always_false<I>,
                      "one element is A[coord(i, j)] or A(i, j).load(), not A[i, j]");
        return {};
    }
};

}// namespace luisa::tile
