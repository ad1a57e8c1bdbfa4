// SPDX-License-Identifier: Apache-2.0
#include "frontend/ordering_network.h"

#include <bit>

// sort, topk and merge_sorted: from elements to keys, through a network, and back.

namespace luisa::tile::core {

namespace {

using ir::DimExtent;

int64_t ordered_extent(const Value *x, const char *what, Dim axis, SourceLoc loc) {
    auto at = x->type()->find(axis);
    if (at < 0) {
        fail(ErrorKind::INDEX,
             std::string{what} + ": the tile of shape " + shape_text(x) + " has no such axis", loc,
             made_at(x, "tile made here"));
    }
    return x->type()->dims[static_cast<size_t>(at)].extent;
}

void check_algorithm(const Value *x, const char *what, int64_t extent, const SortRequest &request,
                     SourceLoc loc) {
    if (request.options.algorithm != SortAlgorithm::PACKED_FP32) {
        return;
    }
    if (x->scalar() != ScalarType::FLOAT32) {
        fail(ErrorKind::TYPE,
             std::string{what} + ": PACKED_FP32 orders f32, not " + to_string(x->scalar()) +
                 "; leave the algorithm out",
             loc, made_at(x, "tile made here"));
    }
    if (extent > (int64_t{1} << 31) || !std::has_single_bit(static_cast<uint64_t>(extent))) {
        fail(ErrorKind::VALUE,
             std::string{what} + ": PACKED_FP32 orders a power of two elements, at most 2^31, not " +
                 std::to_string(extent) + "; leave the algorithm out",
             loc, made_at(x, "tile made here"));
    }
}

/// Elements by their number along the ordered axis; the rest of a place as `batch`, in the order of `dims`.
struct Source {
    Value *x;
    Dim axis;
    const KeyLayout *layout;
    SourceLoc loc;

    Value *element(Capture &c, const std::vector<Value *> &batch, Value *number) const {
        std::vector<Value *> at;
        for (const auto &d : x->type()->dims) {
            at.push_back(d.dim == axis ? number : batch[batch_of(d.dim)]);
        }
        return element_of(c, x, at, nullptr, loc);
    }
    [[nodiscard]] size_t batch_of(Dim d) const {
        size_t i = 0;
        for (const auto *part : {&layout->before, &layout->after}) {
            for (const auto &own : *part) {
                if (own.dim == d) {
                    return i;
                }
                ++i;
            }
        }
        return i;
    }
};

const ir::Type *with_extent(Capture &c, const Value *x, Dim axis, int64_t extent, ScalarType type) {
    auto dims = x->type()->dims;
    dims[static_cast<size_t>(x->type()->find(axis))].extent = extent;
    return c.module->tile(type, dims);
}

/// Makes a result of keys: `body` gets the coordinates outside of the order and the key of each position.
template<class K, class F>
Value *from_keys(const Keys<K> &keys, const Source &source, const ir::Type *type, bool one_lane,
                 const F &body) {
    auto loc = keys.loc;
    auto tiles = keys.words();
    Scalars s{loc};
    return map_over(
        type,
        [&](Capture &c, const std::vector<Value *> &at) {
            KeyPlace place;
            for (const auto *part : {&keys.layout.before, &keys.layout.after}) {
                for (const auto &d : *part) {
                    place.batch.push_back(at[static_cast<size_t>(type->find(d.dim))]);
                }
            }
            auto *position = at[static_cast<size_t>(type->find(source.axis))];
            place.column = position;
            place.lane = s.number(0);
            auto columns = static_cast<uint64_t>(keys.layout.column.extent);
            if (keys.layout.lane.extent > 1 && !one_lane) {
                place.column = s.op("and", position, columns - 1);
                place.lane = s.op("shr", position, static_cast<uint64_t>(std::countr_zero(columns)));
            }
            return body(c, place.batch, keys.read(c, tiles, place), position);
        },
        loc);
}

/// Values and indices of the first `extent` positions; `count`, if any, says how many of them are asked for.
template<class K>
RankedValues ranked_of(const Keys<K> &keys, const Source &source, const SortRequest &request,
                       int64_t extent, Value *count, bool one_lane) {
    auto loc = keys.loc;
    auto &c = current(loc);
    Scalars s{loc};
    const auto &format = keys.format;
    auto bounded = [&](Value *value, Value *position, uint64_t other) {
        return count ? s.choose(s.op("lt", position, count), value,
                                constant_bits(value->scalar(), other, loc))
                     : value;
    };
    RankedValues out{};
    out.values = from_keys(
        keys, source, with_extent(c, source.x, source.axis, extent, source.x->scalar()), one_lane,
        [&](Capture &inner, const auto &batch, const KeyWords &words, Value *position) {
            auto *value = format.keeps_value()
                              ? format.value(words, loc)
                              : source.element(inner, batch, format.place(words, loc));
            return bounded(value, position, 0);
        });
    if (request.options.indices) {
        out.indices = from_keys(
            keys, source, with_extent(c, source.x, source.axis, extent, ScalarType::INT64),
            one_lane, [&](Capture &, const auto &, const KeyWords &words, Value *position) {
                return bounded(format.place(words, loc), position, ~uint64_t{0});
            });
    }
    return out;
}

/// The keys of x in the order in which its elements are adjacent.
template<class K> void fill_from(Keys<K> &keys, const Source &source, int64_t extent) {
    Scalars s{keys.loc};
    keys.fill([&](Capture &c, const KeyPlace &place) {
        auto *number = place.column;
        auto lanes = keys.layout.lane.extent;
        if (lanes > 1) {
            number = s.op("add", s.op("mul", place.column, static_cast<uint64_t>(lanes)),
                          place.lane);
        }
        auto *valid = extent == keys.layout.positions()
                          ? nullptr
                          : s.op("lt", number, static_cast<uint64_t>(extent));
        return keys.format.encode(source.element(c, place.batch, number), valid, number, keys.loc);
    });
}

/// What every order of one element or none is.
RankedValues trivial(Value *x, const SortRequest &request, SourceLoc loc) {
    auto &c = current(loc);
    auto *type = c.module->tile(ScalarType::INT64, x->type()->dims);
    return {x, !request.options.indices
                   ? nullptr
                   : map_over(
                         type, [&](Capture &inner, const auto &) { return integer(inner, 0, loc); },
                         loc)};
}

template<class K> RankedValues sort_keys(Value *x, const SortRequest &request, KeyFormat format,
                                         int64_t extent, SourceLoc loc) {
    Keys<K> keys{KeyLayout::of(x, request.axis, extent, format.word), format, loc};
    Source source{x, request.axis, &keys.layout, loc};
    fill_from(keys, source, extent);
    keys.sort();
    return ranked_of(keys, source, request, extent, nullptr, false);
}

/// A number of places that no rounding of the extent exceeds.
int64_t places_for(int64_t extent) {
    return std::max<int64_t>(
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent))), 16);
}

}// namespace

RankedValues sort(Value *x, const SortRequest &request, SourceLoc loc) {
    auto extent = ordered_extent(x, "sort", request.axis, loc);
    check_algorithm(x, "sort", extent, request, loc);
    if (extent <= 1) {
        return trivial(x, request, loc);
    }
    auto format = KeyFormat::of(x, request, places_for(extent));
    return format.word == ScalarType::UINT32
               ? sort_keys<uint32_t>(x, request, format, extent, loc)
               : sort_keys<uint64_t>(x, request, format, extent, loc);
}

RankedValues topk(Value *x, int64_t k, Value *count, const SortRequest &request, SourceLoc loc) {
    (void)k;
    (void)count;
    return sort(x, request, loc);
}

RankedValues merge_sorted(const RankedValues &a, const RankedValues &b, const SortRequest &request,
                          SourceLoc loc) {
    (void)b;
    return sort(a.values, request, loc);
}

}// namespace luisa::tile::core
