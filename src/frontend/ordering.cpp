// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/check.h>
#include <luisa/tile/exchange.h>

#include "frontend/ordering_network.h"

#include <array>
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
             std::string{what} +
                 ": PACKED_FP32 orders a power of two elements, at most 2^31, not " +
                 std::to_string(extent) + "; leave the algorithm out",
             loc, made_at(x, "tile made here"));
    }
}

/// Makes a NaN an error of the program where the options say so.
void reject_nan(Value *x, const char *what, const SortRequest &request, SourceLoc loc) {
    if (request.options.nan == NanPlace::REJECT && is_float(x->scalar())) {
        assert_that(elementwise("eq", {x, x}, loc),
                    std::string{what} + ": a NaN where nan::reject allows none", loc);
    }
}

/// Elements by their number along the ordered axis, through one tile or two that follow each other; the rest of a
/// place as `batch`, in the order of the layout.
struct Source {
    Value *x;
    Dim axis;
    const KeyLayout *layout;
    SourceLoc loc;
    Value *second = nullptr;
    int64_t first_extent = 0;///< of x, when there is a second

    Value *element(Capture &c, const std::vector<Value *> &batch, Value *number) const {
        return second ? of_two(c, {x, second}, batch, number) : of_one(c, x, batch, number);
    }
    Value *of_one(Capture &c, Value *tile, const std::vector<Value *> &batch, Value *number) const {
        std::vector<Value *> at;
        for (const auto &d : tile->type()->dims) {
            at.push_back(d.dim == axis ? number : batch[batch_of(d.dim)]);
        }
        return element_of(c, tile, at, nullptr, loc);
    }
    Value *of_two(Capture &c, std::array<Value *, 2> tiles, const std::vector<Value *> &batch,
                  Value *number) const {
        Scalars s{loc};
        auto *split = s.number(first_extent);
        return s.choose(s.op("lt", number, split), of_one(c, tiles[0], batch, number),
                        of_one(c, tiles[1], batch, s.op("sub", number, split)));
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
                place.lane = s.op("shr", position,
                                  static_cast<uint64_t>(std::countr_zero(columns)));
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

/// The keys of x in the order in which its elements are adjacent, beginning with a column (null: the first).
template<class K>
void fill_from(Keys<K> &keys, const Source &source, int64_t extent, Value *first_column = nullptr) {
    Scalars s{keys.loc};
    keys.fill([&](Capture &c, const KeyPlace &place) {
        auto *number = first_column ? s.op("add", first_column, place.column) : place.column;
        auto lanes = keys.layout.lane.extent;
        if (lanes > 1) {
            number = s.op("add", s.op("mul", number, static_cast<uint64_t>(lanes)), place.lane);
        }
        auto *valid = !first_column && extent == keys.layout.positions()
                          ? nullptr
                          : s.op("lt", number, static_cast<uint64_t>(extent));
        return keys.format.encode(source.element(c, place.batch, number), valid, number, keys.loc);
    });
}

/// Says of the words of `keys` that they are those of `from` in order, or the first of them.
template<class K>
void say_sorted(Keys<K> &keys, const KeyWords &from, const KeyLayout &layout, int64_t first) {
    auto &c = current(keys.loc);
    ir::SortedPayload payload;
    payload.order = {layout.column.dim};
    if (layout.lane.extent > 1) {
        payload.order.push_back(layout.lane.dim);
    }
    if (first > 0) {
        payload.first = first;
        payload.to = {keys.layout.column.dim};
    }
    auto known = [&](Value *value, int32_t word) {
        payload.word = word;
        std::vector<Value *> operands{value, from.key};
        if (from.index) {
            operands.push_back(from.index);
        }
        return emit_value(c, ir::Opcode::SORTED, operands, value->type(), payload, keys.loc);
    };
    auto now = keys.words();
    keys.key = Tile<K>{known(now.key, 0), keys.loc};
    if (now.index) {
        keys.index = Tile<int64_t>{known(now.index, 1), keys.loc};
    }
}

/// Sorts keys, and says that this is what was done.
template<class K> void sort_all(Keys<K> &keys) {
    auto from = keys.words();
    keys.sort();
    say_sorted(keys, from, keys.layout, 0);
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

template<class K>
RankedValues sort_keys(Value *x, const SortRequest &request, KeyFormat format, int64_t extent,
                       SourceLoc loc) {
    Keys<K> keys{KeyLayout::of(x, request.axis, extent, format.word), format, loc};
    Source source{x, request.axis, &keys.layout, loc};
    fill_from(keys, source, extent);
    sort_all(keys);
    return ranked_of(keys, source, request, extent, nullptr, false);
}

/// Columns that are sorted at a time: few enough to stay in the fastest memory.
constexpr int64_t block_columns = 32;

/// Replaces `best` by the smaller half of itself and the run of `tiles` that `move` finds for a mirrored place: one
/// merge puts that in order.
template<class K, class F> void keep_best(Keys<K> &best, const KeyWords &tiles, const F &move) {
    auto loc = best.loc;
    Scalars s{loc};
    auto run = best.layout.column.extent;
    best.fill([&, own = best.words()](Capture &c, const KeyPlace &place) {
        auto partner = place;
        partner.column = s.op("sub", s.number(run - 1), place.column);
        move(partner);
        return best.smaller(best.read(c, own, place), best.read(c, tiles, partner));
    });
    if (run > 1) {
        best.merge_columns(s.number(std::countr_zero(static_cast<uint64_t>(run))), false);
    }
}

/// Sorts one block of columns in runs and keeps the best of each run.
template<class K>
void select_from_block(Keys<K> &best, Keys<K> &block, const Source &source, int64_t extent,
                       Value *first_column) {
    auto loc = best.loc;
    Scalars s{loc};
    auto run = best.layout.column.extent, columns = block.layout.column.extent;
    fill_from(block, source, extent, first_column);
    if (run > 1) {
        block.sort_columns(std::countr_zero(static_cast<uint64_t>(run)));
    }
    if (columns == run) {
        return keep_best(best, block.words(), [](KeyPlace &) {});
    }
    for (auto &step : serial(range(0, columns / run, 1, loc), loc)) {
        auto *begin = s.op("mul", step.index(loc).value(loc), s.number(run));
        keep_best(best, block.words(),
                  [&](KeyPlace &p) { p.column = s.op("add", begin, p.column); });
    }
}

/// The first keys of all columns, in order in each lane, then of all lanes.
template<class K>
void select_first(Keys<K> &best, const Source &source, int64_t extent, int64_t columns) {
    auto loc = best.loc;
    Scalars s{loc};
    auto run = best.layout.column.extent;
    if (columns == run) {
        fill_from(best, source, extent);
        if (run > 1) {
            best.sort_columns(std::countr_zero(static_cast<uint64_t>(run)));
        }
    } else {
        best.fill([&](Capture &, const KeyPlace &) { return best.format.behind(loc); });
        auto layout = best.layout;
        layout.column = {dim("column"), std::min(columns, std::max(run, block_columns))};
        for (auto &step : serial(range(0, columns, layout.column.extent, loc), loc)) {
            Keys<K> block{layout, best.format, loc};
            select_from_block(best, block, source, extent, step.index(loc).value(loc));
        }
    }
    for (int64_t bit = 1; bit < best.layout.lane.extent; bit *= 2) {
        keep_best(best, best.words(),
                  [&](KeyPlace &p) { p.lane = s.op("xor", p.lane, static_cast<uint64_t>(bit)); });
    }
}

template<class K>
RankedValues topk_keys(Value *x, int64_t k, Value *count, const SortRequest &request,
                       KeyFormat format, int64_t extent, SourceLoc loc) {
    Keys<K> keys{KeyLayout::of(x, request.axis, extent, format.word), format, loc};
    Source source{x, request.axis, &keys.layout, loc};
    auto run = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(k)));
    auto columns = keys.layout.column.extent;
    if (run > columns || (run == columns && keys.layout.lane.extent == 1)) {
        fill_from(keys, source, extent);
        sort_all(keys);
        return ranked_of(keys, source, request, k, count, false);
    }
    auto layout = keys.layout;
    layout.column = {dim("column"), run};
    Keys<K> best{layout, format, loc};
    fill_from(keys, source, extent);
    select_first(best, source, extent, columns);
    say_sorted(best, keys.words(), keys.layout, std::max<int64_t>(k, 1));
    return ranked_of(best, source, request, k, count, true);
}

/// Both in order, each padded to half of the positions: what is left is the last merge of a network.
template<class K>
RankedValues merge_keys(const Source &two, const SortRequest &request, KeyFormat format,
                        int64_t positions, int64_t second_extent, SourceLoc loc) {
    Keys<K> keys{KeyLayout::of(two.x, request.axis, positions, format.word), format, loc};
    auto source = two;
    source.layout = &keys.layout;
    Scalars s{loc};
    auto half = keys.layout.positions() / 2;
    auto columns = static_cast<uint64_t>(keys.layout.column.extent);
    keys.fill([&](Capture &c, const KeyPlace &place) {
        auto *position = place.column;
        if (keys.layout.lane.extent > 1) {
            position = s.op("add", s.op("mul", place.lane, columns), place.column);
        }
        auto *in_second = s.op("ge", position, s.number(half));
        auto *at = s.op("and", position, s.number(half - 1));
        auto *valid = s.op(
            "lt", at, s.choose(in_second, s.number(second_extent), s.number(source.first_extent)));
        auto *number = s.choose(in_second, s.op("add", at, s.number(source.first_extent)), at);
        auto *element = s.choose(in_second, source.of_one(c, source.second, place.batch, at),
                                 source.of_one(c, source.x, place.batch, at));
        auto *behind = s.op("add", position, s.number(keys.layout.positions()));
        return format.encode(element, valid, s.choose(valid, number, behind), loc);
    });
    if (keys.layout.lane.extent > 1) {
        keys.merge_lanes(std::countr_zero(static_cast<uint64_t>(keys.layout.lane.extent)));
    } else {
        keys.merge_columns(s.number(std::countr_zero(columns)), true);
    }
    return ranked_of(keys, source, request, source.first_extent + second_extent, nullptr, false);
}

/// For each number through two tiles, the index that the tile has there.
Value *carried(Value *numbers, Value *a, Value *b, Dim axis, int64_t first, SourceLoc loc) {
    const auto *type = numbers->type();
    return map_over(
        type,
        [&](Capture &c, const std::vector<Value *> &at) {
            KeyLayout rest;
            std::vector<Value *> batch;
            for (size_t i = 0; i < type->rank(); ++i) {
                if (!(type->dims[i].dim == axis)) {
                    rest.before.push_back(type->dims[i]);
                    batch.push_back(at[i]);
                }
            }
            Source source{a, axis, &rest, loc, b, first};
            return source.element(c, batch, element_of(c, numbers, at, nullptr, loc));
        },
        loc);
}

void check_parts(const Value *a, const Value *b, Dim axis, SourceLoc loc) {
    bool fits = a->type()->rank() == b->type()->rank();
    for (const auto &d : a->type()->dims) {
        auto at = b->type()->find(d.dim);
        fits &= at >= 0 &&
                (d.dim == axis || b->type()->dims[static_cast<size_t>(at)].extent == d.extent);
    }
    if (fits) {
        return;
    }
    auto notes = made_at(a, "first tile made here");
    auto more = made_at(b, "second tile made here");
    notes.insert(notes.end(), more.begin(), more.end());
    fail(
        ErrorKind::SHAPE,
        "merge_sorted: the tiles are " + shape_text(a) + " and " + shape_text(b) +
            "; beside the axis, both have the same dimensions: broadcast or with_dims relates them",
        loc, notes);
}

/// A number of places that no rounding of the extent exceeds.
int64_t places_for(int64_t extent) {
    return std::max<int64_t>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent))),
                             16);
}

bool highest_first(const SortRequest &request) {
    return request.options.ties == TieBreak::HIGHEST_INDEX;
}
SortRequest lowest_first(SortRequest request) {
    request.options.ties = TieBreak::LOWEST_INDEX;
    return request;
}

/// Places of a reversed tile as those of the tile; −1 stays.
Value *mirrored(Value *indices, int64_t extent, bool partial, SourceLoc loc) {
    if (!indices) {
        return nullptr;
    }
    auto &c = current(loc);
    auto *place = elementwise("sub", {integer(c, extent - 1, loc), indices}, loc);
    return partial
               ? elementwise(
                     "ite", {elementwise("lt", {indices, integer(c, 0, loc)}, loc), indices, place},
                     loc)
               : place;
}

/// Places through b and then a as places through a and then b.
Value *other_way_round(Value *indices, int64_t a, int64_t b, SourceLoc loc) {
    auto &c = current(loc);
    auto *in_a = elementwise("sub", {indices, integer(c, b, loc)}, loc);
    return elementwise("ite",
                       {elementwise("lt", {in_a, integer(c, 0, loc)}, loc),
                        elementwise("add", {indices, integer(c, a, loc)}, loc), in_a},
                       loc);
}

}// namespace

RankedValues sort(Value *x, const SortRequest &request, SourceLoc loc) {
    auto extent = ordered_extent(x, "sort", request.axis, loc);
    check_algorithm(x, "sort", extent, request, loc);
    if (highest_first(request)) {
        auto result = sort(flip(x, request.axis, loc), lowest_first(request), loc);
        result.indices = mirrored(result.indices, extent, false, loc);
        return result;
    }
    reject_nan(x, "sort", request, loc);
    if (extent <= 1) {
        return trivial(x, request, loc);
    }
    auto format = KeyFormat::of(x, request, places_for(extent));
    return format.word == ScalarType::UINT32 ? sort_keys<uint32_t>(x, request, format, extent, loc)
                                             : sort_keys<uint64_t>(x, request, format, extent, loc);
}

RankedValues topk(Value *x, int64_t k, Value *count, const SortRequest &request, SourceLoc loc) {
    auto extent = ordered_extent(x, "topk", request.axis, loc);
    check_algorithm(x, "topk", extent, request, loc);
    if (k < 0 || k > extent) {
        fail(ErrorKind::VALUE,
             "topk: " + std::to_string(k) + " of " + std::to_string(extent) +
                 " elements along the axis; k is from 0 to the extent",
             loc, made_at(x, "tile made here"));
    }
    if (highest_first(request)) {
        auto result = topk(flip(x, request.axis, loc), k, count, lowest_first(request), loc);
        result.indices = mirrored(result.indices, extent, count != nullptr, loc);
        return result;
    }
    reject_nan(x, "topk", request, loc);
    auto format = KeyFormat::of(x, request, places_for(extent));
    return format.word == ScalarType::UINT32
               ? topk_keys<uint32_t>(x, k, count, request, format, extent, loc)
               : topk_keys<uint64_t>(x, k, count, request, format, extent, loc);
}

RankedValues merge_sorted(const RankedValues &a, const RankedValues &b, const SortRequest &request,
                          SourceLoc loc) {
    auto first = ordered_extent(a.values, "merge_sorted", request.axis, loc);
    auto second = ordered_extent(b.values, "merge_sorted", request.axis, loc);
    check_parts(a.values, b.values, request.axis, loc);
    if (highest_first(request)) {
        auto result = merge_sorted(b, a, lowest_first(request), loc);
        if (result.indices && !a.indices) {
            result.indices = other_way_round(result.indices, first, second, loc);
        }
        return result;
    }
    check_algorithm(a.values, "merge_sorted", first + second, request, loc);
    reject_nan(a.values, "merge_sorted", request, loc);
    reject_nan(b.values, "merge_sorted", request, loc);
    auto positions = 2 * places_for(std::max(first, second));
    auto format = KeyFormat::of(a.values, request, 2 * positions);
    Source source{a.values, request.axis, nullptr, loc, b.values, first};
    auto merged = format.word == ScalarType::UINT32
                      ? merge_keys<uint32_t>(source, request, format, positions, second, loc)
                      : merge_keys<uint64_t>(source, request, format, positions, second, loc);
    if (merged.indices && a.indices) {
        merged.indices = carried(merged.indices, a.indices, b.indices, request.axis, first, loc);
    }
    return merged;
}

}// namespace luisa::tile::core
