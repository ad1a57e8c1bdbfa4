// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/check.h>
#include <luisa/tile/quantize.h>
#include <luisa/tile/view.h>

#include <string>

// Views of formats below eight bits: bytes, and the map that says which part of which byte an element is. A
// tile loaded through one holds values in the format's carrier (int8, uint8, e4m3fn).

namespace luisa::tile {

/// Which of the two elements of a byte is in its low four bits.
enum class NibbleOrder : uint8_t { LOW_FIRST, HIGH_FIRST };

namespace packing {

/// Sign extension, or the code of the same value in e4m3fn.
template<class E> auto decode(const Tile<uint8_t> &code, SourceLoc loc) {
    if constexpr (std::same_as<E, int4>) {
        return bitcast<int8_t>(code << uint8_t{4}, loc) >> int8_t{4};
    } else if constexpr (std::same_as<E, uint4>) {
        return code;
    } else {
        // Normal values: exponent and fraction move as one field, with the difference of the biases added.
        auto field = code & uint8_t{7};
        auto normal = (field << uint8_t{2}) + uint8_t{0x30};
        auto magnitude = ite(field < uint8_t{2}, field * uint8_t{0x30}, normal);
        return bitcast<float8_e4m3fn>(magnitude | ((code & uint8_t{8}) << uint8_t{4}), loc);
    }
}
/// The code of a carrier's value, below 16.
template<class E>
Tile<uint8_t> encode(const Tile<typename packed_traits<E>::carrier> &x, SourceLoc loc) {
    if constexpr (std::same_as<E, int4>) {
        return bitcast<uint8_t>(x, loc) & uint8_t{15};
    } else if constexpr (std::same_as<E, uint4>) {
        return x & uint8_t{15};
    } else {
        auto nearest = quantize<float4_e2m1>(cast<float>(x, loc), rounding::nearest_even,
                                             overflow::saturate, loc);
        auto bits = bitcast<uint8_t>(nearest, loc);
        auto field = bits & uint8_t{0x7f};
        auto normal = (field - uint8_t{0x30}) >> uint8_t{2};
        auto magnitude = ite(field < uint8_t{0x38}, cast<uint8_t>(field == uint8_t{0x30}, loc),
                             normal);
        return magnitude | ((bits >> uint8_t{4}) & uint8_t{8});
    }
}

}// namespace packing

/// A box of a PackedView. Nothing is read or written until load or store.
template<class T, int R> class PackedRef {
    using E = std::remove_const_t<T>;
    using Byte = std::conditional_t<std::is_const_v<T>, const uint8_t, uint8_t>;

public:
    using carrier = typename packed_traits<E>::carrier;
    PackedRef(TensorView<Byte, R> bytes, Index count, NibbleOrder order, Coord origin, Shape shape)
        : _bytes{std::move(bytes)}, _count{count}, _order{order}, _origin{std::move(origin)},
          _shape{std::move(shape)} {}
    PackedRef(const PackedRef &) = default;
    PackedRef &operator=(const PackedRef &) = delete;

    /// The values of the box; zero outside.
    [[nodiscard]] Tile<carrier> load(SourceLoc loc = SourceLoc::current()) const {
        check_rank(loc);
        core::ElementMap map{static_cast<size_t>(R), [&](core::Value *const *at) {
                                 Coord place;
                                 place.loc = loc;
                                 for (size_t i = 0; i < R; ++i) {
                                     auto p = Scalar<int64_t>(at[i], loc) + start(i, loc);
                                     place.parts.emplace_back(i + 1 < R ? p : p >> int64_t{1}, loc);
                                 }
                                 return place;
                             }};
        auto place = core::map_view(_bytes.handle(), _shape, map, loc);
        Tile<uint8_t> byte{
            core::load_mapped(_bytes.handle(), *place, _shape, Bounds::ZERO, nullptr, loc), loc};
        auto at = iota<int64_t>(last_axis(loc), loc) + start(R - 1, loc);
        auto second = (at & int64_t{1}) == int64_t{_order == NibbleOrder::LOW_FIRST};
        auto code = ite(second, byte >> uint8_t{4}, byte & uint8_t{15});
        return packing::decode<E>(ite(inside(at, loc), code, uint8_t{0}), loc);
    }
    /// Writes values, two a byte. Its dimensions are the box's, or fewer (broadcast). Along the packed dimension
    /// the box starts at an even element and has an even extent, so that no other store writes to its bytes:
    /// ConstraintError; AssertionError of the launch where the start is not known at capture. Nothing outside
    /// is written, but for the unused half of the last byte, which becomes zero. int4 and uint4 keep the low
    /// four bits; what e2m1 lacks rounds to the nearest, ties to even, saturating.
    void store(const Tile<carrier> &x, SourceLoc loc = SourceLoc::current()) const {
        static_assert(!std::is_const_v<T>, "store through a PackedView<const T>: it is read only");
        check_rank(loc);
        auto axis_of_pairs = pairs(loc);
        auto at = iota<int64_t>(last_axis(loc), loc) + start(R - 1, loc);
        auto whole = broadcast(packing::encode<E>(x, loc), _shape, loc);
        auto codes = ite(inside(at, loc), whole, uint8_t{0});
        Shape shape = _shape;
        shape.entries.back() = {axis_of_pairs.dim, Index{axis_of_pairs.extent, loc}};
        auto half = [&](int64_t offset) {
            auto body = [&](std::vector<core::Value *> place) {
                auto p = Scalar<int64_t>(place.back(), loc) * int64_t{2} + offset;
                place.back() = p.value(loc);
                return place;
            };
            auto aligned = broadcast(codes, _shape, loc);
            return Tile<uint8_t>{core::reindex(aligned.value(loc), shape, body, loc), loc};
        };
        bool low_first = _order == NibbleOrder::LOW_FIRST;
        auto low = half(low_first ? 0 : 1), high = half(low_first ? 1 : 0);
        Coord origin = _origin;
        origin.parts.back() = IndexArg{start(R - 1, loc) >> int64_t{1}, loc};
        _bytes(origin, shape).store(low | (high << uint8_t{4}), loc);
    }

private:
    Scalar<int64_t> start(size_t i, SourceLoc loc) const { return {_origin.parts[i].value(), loc}; }
    Axis last_axis(SourceLoc loc) const {
        const auto &last = _shape.entries.back();
        return {last.dim, static_cast<int64_t>(last.extent), loc};
    }
    template<class X> auto inside(const X &at, SourceLoc loc) const {
        return at >= int64_t{0} && at < Scalar<int64_t>{_count.value(loc), loc};
    }
    void check_rank(SourceLoc loc) const {
        if (_shape.rank() != R || _origin.parts.size() != static_cast<size_t>(R)) {
            core::fail(ErrorKind::SHAPE,
                       std::string{"packed "} + packed_traits<E>::name + ": a box of " +
                           std::to_string(_shape.rank()) + " dimensions at " +
                           std::to_string(_origin.parts.size()) +
                           " coordinates of a view of rank " + std::to_string(R) +
                           "; give one of each a dimension",
                       loc, {});
        }
    }
    /// The axis of the bytes of the box. A box that shares one with others: ConstraintError.
    Axis pairs(SourceLoc loc) const {
        auto extent = static_cast<int64_t>(_shape.entries.back().extent);
        int64_t first = 0;
        bool known = _origin.parts.back().is_host(first);
        if (extent % 2 != 0 || (known && first % 2 != 0)) {
            core::fail(ErrorKind::CONSTRAINT,
                       std::string{"store: "} + std::to_string(extent) + " elements of " +
                           packed_traits<E>::name +
                           (known ? " from element " + std::to_string(first) : "") +
                           " share a byte with others; start at an even element with an even "
                           "extent (a box may reach beyond the view)",
                       loc, {});
        }
        if (!known) {
            assert_((start(R - 1, loc) & int64_t{1}) == int64_t{0},
                    std::string{"store of "} + packed_traits<E>::name +
                        " starts at an odd element, inside a byte",
                    loc);
        }
        return axis("pair", extent / 2, loc);
    }

    TensorView<Byte, R> _bytes;
    Index _count;
    NibbleOrder _order;
    Coord _origin;
    Shape _shape;
};

/// Elements of four bits in a view of bytes: along the last dimension, element k is in byte k / 2; the others
/// are those of the bytes. Made by `packed`.
template<class T, int R> class PackedView {
    using Byte = std::conditional_t<std::is_const_v<T>, const uint8_t, uint8_t>;

public:
    static constexpr int rank = R;
    PackedView(TensorView<Byte, R> bytes, Index count, NibbleOrder order)
        : _bytes{std::move(bytes)}, _count{count}, _order{order} {}
    /// Extent of dimension `i`, in elements.
    [[nodiscard]] Index extent(int i, SourceLoc loc = SourceLoc::current()) const {
        return i == R - 1 ? _count : _bytes.extent(i, loc);
    }
    /// The box of this shape at a place.
    [[nodiscard]] PackedRef<T, R> operator()(const Coord &origin, const Shape &shape) const {
        return {_bytes, _count, _order, origin, shape};
    }

private:
    TensorView<Byte, R> _bytes;
    Index _count;
    NibbleOrder _order;
};

/// Reads `bytes` as elements of four bits, `count` along the last dimension (the last byte of a row may be half
/// full): `packed<int4>(A, K)`. The low four bits are the first element unless `order` says otherwise. A count
/// that the bytes do not hold: ShapeError.
template<PackedElement E, class B, int R>
[[nodiscard]] auto packed(const TensorView<B, R> &bytes, Index count,
                          NibbleOrder order = NibbleOrder::LOW_FIRST,
                          SourceLoc loc = SourceLoc::current()) {
    static_assert(std::same_as<std::remove_const_t<B>, uint8_t> && R >= 1,
                  "packed<T>: the memory is a view of uint8_t with at least one dimension");
    const auto &held = bytes.extent(R - 1, loc);
    if (held.is_static() && count.is_static() && (count < 0 || count > held * 2)) {
        core::fail(ErrorKind::SHAPE,
                   std::string{"packed: "} + std::to_string(static_cast<int64_t>(count)) +
                       " elements of " + packed_traits<E>::name + " in rows of " +
                       std::to_string(static_cast<int64_t>(held)) +
                       " bytes, which hold two a byte; give the number of elements of a row",
                   loc, {});
    }
    using T = std::conditional_t<std::is_const_v<B>, const E, E>;
    return PackedView<T, R>{bytes, count, order};
}

}// namespace luisa::tile
