// SPDX-License-Identifier: Apache-2.0
#include "frontend/ordering_network.h"

#include <bit>

namespace luisa::tile::core {

namespace {

/// Keys side by side in memory: as many as a cache line holds, which is one wide vector or a few narrow ones.
constexpr int64_t row_bytes = 64;
/// Below this many positions for a lane, crossing lanes costs more than reading other dimensions as lanes.
constexpr int64_t short_columns = 4;

int log2_of(int64_t x) { return std::countr_zero(static_cast<uint64_t>(x)); }

int64_t count_of(const std::vector<ir::DimExtent> &dims) {
    int64_t n = 1;
    for (const auto &d : dims) {
        n *= d.extent;
    }
    return n;
}

}// namespace

std::vector<ir::DimExtent> KeyLayout::dims() const {
    auto all = before;
    all.push_back(column);
    if (lane.extent > 1) {
        all.push_back(lane);
    }
    all.insert(all.end(), after.begin(), after.end());
    return all;
}

KeyLayout KeyLayout::of(const Value *x, Dim axis, int64_t positions, ScalarType word) {
    KeyLayout layout;
    const auto &dims = x->type()->dims;
    auto at = static_cast<size_t>(x->type()->find(axis));
    auto split = dims.begin() + static_cast<std::ptrdiff_t>(at);
    layout.before.assign(dims.begin(), split);
    layout.after.assign(split + 1, dims.end());
    auto lanes = row_bytes / static_cast<int64_t>(size_of(word));
    auto rounded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(positions)));
    bool many = count_of(layout.before) * count_of(layout.after) >= lanes;
    if (many && rounded < short_columns * lanes) {
        layout.after.insert(layout.after.begin(), layout.before.begin(), layout.before.end());
        layout.before.clear();
    } else if (count_of(layout.after) < lanes) {
        layout.before.insert(layout.before.end(), layout.after.begin(), layout.after.end());
        layout.after.clear();
    }
    if (!layout.after.empty()) {
        lanes = 1;
    }
    layout.column = {dim("column"), std::max<int64_t>(rounded / lanes, 1)};
    layout.lane = {dim("lane"), lanes};
    return layout;
}

template<class K> KeyWords Keys<K>::words() const {
    return {key.value(loc), format.wide ? index.value(loc) : nullptr};
}

template<class K>
KeyWords Keys<K>::read(Capture &c, const KeyWords &tiles, const KeyPlace &place) const {
    std::vector<Value *> at;
    size_t next = 0;
    for (size_t i = 0; i < layout.before.size(); ++i) {
        at.push_back(place.batch[next++]);
    }
    at.push_back(place.column);
    if (layout.lane.extent > 1) {
        at.push_back(place.lane);
    }
    for (size_t i = 0; i < layout.after.size(); ++i) {
        at.push_back(place.batch[next++]);
    }
    return {element_of(c, tiles.key, at, nullptr, loc),
            tiles.index ? element_of(c, tiles.index, at, nullptr, loc) : nullptr};
}

template<class K> void Keys<K>::fill(const Element &element) {
    auto &c = current(loc);
    auto dims = layout.dims();
    check_count(dims, "sort", loc);
    auto body = [&](bool index) {
        return [&, index](Capture &inner, const std::vector<Value *> &at) {
            auto before = layout.before.size();
            KeyPlace place;
            place.batch.assign(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(before));
            place.column = at[before];
            bool lanes = layout.lane.extent > 1;
            place.lane = lanes ? at[before + 1] : integer(inner, 0, loc);
            auto rest = at.begin() + static_cast<std::ptrdiff_t>(before + (lanes ? 2 : 1));
            place.batch.insert(place.batch.end(), rest, at.end());
            auto words = element(inner, place);
            return index ? words.index : words.key;
        };
    };
    auto *keys = map_over(c.module->tile(format.word, dims), body(false), loc);
    auto *places = format.wide ? map_over(c.module->tile(ScalarType::INT64, dims), body(true), loc)
                               : nullptr;
    key = Tile<K>{keys, loc};
    if (places) {
        index = Tile<int64_t>{places, loc};
    }
}

template<class K> KeyWords Keys<K>::smaller(const KeyWords &a, const KeyWords &b) const {
    Scalars s{loc};
    if (!format.wide) {
        return {s.op("minimum", a.key, b.key), nullptr};
    }
    return pick(a, b, constant_bits(ScalarType::BOOL, 1, loc));
}

/// The smaller of two where `first` holds, else the larger.
template<class K>
KeyWords Keys<K>::pick(const KeyWords &own, const KeyWords &other, Value *first) const {
    Scalars s{loc};
    if (!format.wide) {
        return {s.choose(first, s.op("minimum", own.key, other.key),
                         s.op("maximum", own.key, other.key)),
                nullptr};
    }
    auto *same = s.op("eq", own.key, other.key);
    auto *less = s.choose(same, s.op("lt", own.index, other.index), s.op("lt", own.key, other.key));
    auto *stays = s.op("eq", less, first);
    return {s.choose(stays, own.key, other.key), s.choose(stays, own.index, other.index)};
}

template<class K> void Keys<K>::exchange_columns(Value *by, Value *bit) {
    auto tiles = words();
    Scalars s{loc};
    // Whatever the distance, the partner exists: the planner sees that no check is needed.
    auto *distance = s.op("and", by, static_cast<uint64_t>(layout.column.extent - 1));
    fill([&](Capture &c, const KeyPlace &place) {
        auto partner = place;
        partner.column = s.op("xor", place.column, distance);
        auto *first = s.op("eq", s.op("and", place.column, bit), uint64_t{0});
        return pick(read(c, tiles, place), read(c, tiles, partner), first);
    });
}

template<class K> void Keys<K>::exchange_lanes(int64_t lane_by, int64_t lane_bit, bool mirrored) {
    auto tiles = words();
    Scalars s{loc};
    fill([&](Capture &c, const KeyPlace &place) {
        auto partner = place;
        partner.lane = s.op("xor", place.lane, static_cast<uint64_t>(lane_by));
        if (mirrored) {
            partner.column = s.op("sub", integer(c, layout.column.extent - 1, loc), place.column);
        }
        auto *first = s.op("eq", s.op("and", place.lane, static_cast<uint64_t>(lane_bit)),
                           uint64_t{0});
        return pick(read(c, tiles, place), read(c, tiles, partner), first);
    });
}

template<class K> void Keys<K>::merge_columns(Value *count, bool mirrored) {
    Scalars s{loc};
    // Two exchanges a step: the second reads what the first made and writes where the first read, so that no
    // copy is needed. A step too many pairs every key with itself.
    for (auto &step : serial(range(0, Scalar<int64_t>{count, loc}, 2, loc), loc)) {
        auto *done = step.index(loc).value(loc);
        auto *bit = s.op("shl", s.number(1), s.op("sub", s.op("sub", count, s.number(1)), done));
        auto *by = bit;
        if (mirrored) {
            auto *mirror = s.op("sub", s.op("add", bit, bit), s.number(1));
            by = s.choose(s.op("eq", done, s.number(0)), mirror, bit);
        }
        exchange_columns(by, bit);
        auto *half = s.op("shr", bit, s.number(1));
        exchange_columns(half, half);
    }
}

template<class K> void Keys<K>::sort_columns(int levels) {
    Scalars s{loc};
    for (auto &level : serial(range(0, levels, 1, loc), loc)) {
        merge_columns(s.op("add", level.index(loc).value(loc), s.number(1)), true);
    }
}

template<class K> void Keys<K>::merge_lanes(int level) {
    exchange_lanes((int64_t{1} << level) - 1, int64_t{1} << (level - 1), true);
    for (int bit = level - 2; bit >= 0; --bit) {
        exchange_lanes(int64_t{1} << bit, int64_t{1} << bit, false);
    }
    if (layout.column.extent > 1) {
        merge_columns(Scalars{loc}.number(log2_of(layout.column.extent)), false);
    }
}

template<class K> void Keys<K>::sort() {
    if (layout.column.extent > 1) {
        sort_columns(log2_of(layout.column.extent));
    }
    for (int level = 1; level <= log2_of(layout.lane.extent); ++level) {
        merge_lanes(level);
    }
}

template struct Keys<uint32_t>;
template struct Keys<uint64_t>;

}// namespace luisa::tile::core
