// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/block_accesses.h"

#include <algorithm>

namespace luisa::tile::simt {

using ir::Opcode;

namespace {

/// These stand for "any": counts and offsets of code that runs stay far below.
constexpr int64_t most = int64_t{1} << 60;
constexpr Range anything{-most, most};

__extension__ using Wide = __int128;

Range known(Wide low, Wide high) {
    bool inside = low >= -most && high <= most;
    return inside ? Range{static_cast<int64_t>(low), static_cast<int64_t>(high)} : anything;
}

bool is_known(Range r) { return r.low > -most && r.high < most; }

Range product(Range a, Range b) {
    Wide corners[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                      Wide{a.high} * b.high};
    return is_known(a) && is_known(b) ? known(*std::min_element(corners, corners + 4),
                                              *std::max_element(corners, corners + 4))
                                      : anything;
}

Range sum(Range a, Range b) {
    bool low = a.low > -most && b.low > -most, high = a.high < most && b.high < most;
    return {low ? std::max(a.low + b.low, -most) : -most,
            high ? std::min(a.high + b.high, most) : most};
}

int64_t bytes_of(const ir::Type &type) {
    return std::max<int64_t>(type.lanes, 1) * static_cast<int64_t>(size_of(type.scalar));
}

/// Operations that touch no memory that a kernel both reads and writes.
bool touches_nothing(const ir::Operation &op) {
    static constexpr Opcode none[] = {
        Opcode::YIELD,          Opcode::CONDITION,    Opcode::CONSTANT,        Opcode::SPLAT,
        Opcode::LANES,          Opcode::LANE_MASK,    Opcode::EXTRACT_LANE,    Opcode::INSERT_LANE,
        Opcode::SHUFFLE,        Opcode::REDUCE_LANES, Opcode::SCALE,           Opcode::TABLE,
        Opcode::REGROUP,        Opcode::DOT,          Opcode::ARGUMENT,        Opcode::ADDRESS,
        Opcode::REPORT,         Opcode::PREFETCH,     Opcode::PARTICIPANT,     Opcode::PARTICIPANTS,
        Opcode::EXCHANGE_LANES, Opcode::SHARED,       Opcode::MULTIPLY_MATRIX, Opcode::COPY_COMMIT};
    return ir::is_elementwise(op.opcode()) ||
           std::find(std::begin(none), std::end(none), op.opcode()) != std::end(none);
}

}// namespace

void BlockAccesses::insert(Ranges &ranges, Range range) {
    auto it = ranges.upper_bound(range.low);
    if (it != ranges.begin() && std::prev(it)->second >= range.low - 1) {
        --it;
        range = {it->first, std::max(it->second, range.high)};
    }
    while (it != ranges.end() && it->first <= range.high + 1) {
        range.high = std::max(range.high, it->second);
        it = ranges.erase(it);
    }
    ranges[range.low] = range.high;
}

bool BlockAccesses::overlap(const Ranges &a, const Ranges &b) {
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        if (i->second < j->first) {
            ++i;
        } else if (j->second < i->first) {
            ++j;
        } else {
            return true;
        }
    }
    return false;
}

void BlockAccesses::add(int64_t memory, Range bytes, bool writes) {
    auto &part = _parts[memory];
    insert(writes ? part.writes : part.reads, bytes);
}

void BlockAccesses::add(const BlockAccesses &other) {
    _everything |= other._everything;
    for (const auto &[memory, part] : other._parts) {
        for (auto [low, high] : part.reads) {
            add(memory, {low, high}, false);
        }
        for (auto [low, high] : part.writes) {
            add(memory, {low, high}, true);
        }
    }
}

bool BlockAccesses::conflicts(const BlockAccesses &other) const {
    if (_everything || other._everything) {
        return !empty() && !other.empty();
    }
    return std::any_of(_parts.begin(), _parts.end(), [&](const auto &entry) {
        auto found = other._parts.find(entry.first);
        if (found == other._parts.end()) {
            return false;
        }
        const auto &a = entry.second, &b = found->second;
        return overlap(a.writes, b.writes) || overlap(a.writes, b.reads) ||
               overlap(a.reads, b.writes);
    });
}

AccessFinder::AccessFinder(int threads, bool views_overlap, const ir::Region &body)
    : _threads{threads}, _views_overlap{views_overlap}, _scratch{body.argument(1)} {
    find_copies(body);
}

void AccessFinder::find_copies(const ir::Region &region) {
    for (const auto *op : region) {
        if (op->opcode() == Opcode::COPY_ASYNC) {
            add(*op, _copies);
        }
        for (const auto *inner : op->regions()) {
            find_copies(*inner);
        }
    }
}

void AccessFinder::add(const ir::Operation &op, BlockAccesses &accesses) {
    if (touches_nothing(op)) {
        return;
    }
    auto of = [&](size_t operand) { return bytes_of(*op.operand(operand)->type()); };
    switch (op.opcode()) {
        case Opcode::READ:
        case Opcode::ATOMIC_READ:
            return add_bytes(op.operand(0), bytes_of(*op.result()->type()), false, accesses);
        case Opcode::WRITE: return add_bytes(op.operand(0), of(1), true, accesses);
        case Opcode::ATOMIC_UPDATE: return add_bytes(op.operand(0), of(1), true, accesses);
        case Opcode::GATHER: return add_bytes(op.operand(0), 0, false, accesses);
        case Opcode::SCATTER: return add_bytes(op.operand(0), 0, true, accesses);
        case Opcode::LOAD_MATRIX: return add_bytes(op.operand(0), 16, false, accesses);
        case Opcode::COPY_ASYNC:
            add_bytes(op.operand(0), op.get<ir::CopyPayload>().bytes, true, accesses);
            return add_bytes(op.operand(1), op.get<ir::CopyPayload>().bytes, false, accesses);
        // They are done by then, and no earlier.
        case Opcode::COPY_WAIT: return accesses.add(_copies);
        default: accesses.add_everything();
    }
}

/// `bytes`: from the address on; 0: anywhere in the memory that it points into.
void AccessFinder::add_bytes(const ir::Value *address, int64_t bytes, bool writes,
                             BlockAccesses &accesses) {
    Range offset{0, 0};
    const auto *op = address->definition();
    // The part of a block begins where the number of the block says, which all its threads share.
    auto is_part = [&] { return op->operand_count() == 2 && op->operand(0) == _scratch; };
    while (op && op->opcode() == Opcode::ADDRESS && !is_part()) {
        const auto &payload = op->get<ir::AddressPayload>();
        offset = sum(offset, {payload.offset, payload.offset});
        if (op->operand_count() == 2) {
            offset = sum(offset, product(range_of(op->operand(1)), {payload.scale, payload.scale}));
        }
        op = op->operand(0)->definition();
    }
    // Equal arguments are one operation or several: the number of the word tells.
    constexpr int64_t shared = -1, scratch = -2, views = -3;
    int64_t memory = shared;
    if (op && op->opcode() == Opcode::SHARED) {
        auto start = op->get<ir::SharedPayload>().offset;
        offset = sum(offset, {start, start});
    } else if (op && op->opcode() == Opcode::ADDRESS) {
        memory = scratch;
    } else if (op && op->opcode() == Opcode::ARGUMENT) {
        memory = _views_overlap ? views : op->get<ir::IndexPayload>().index;
        offset = _views_overlap ? anything : offset;
    } else {
        return accesses.add_everything();
    }
    bool all = bytes == 0 || !is_known(offset);
    accesses.add(memory, all ? anything : Range{offset.low, offset.high + bytes - 1}, writes);
}

Range AccessFinder::range_of(const ir::Value *value) {
    if (auto found = _ranges.find(value); found != _ranges.end()) {
        return found->second;
    }
    auto range = compute(value);
    return _ranges[value] = range;
}

Range AccessFinder::compute(const ir::Value *value) {
    const auto *op = value->definition();
    if (value->scalar() != ScalarType::INT64 || value->type()->lanes) {
        return anything;
    }
    if (!op) {
        const auto *loop = value->owner()->parent();
        if (!loop || loop->opcode() != Opcode::FOR || value->index() != 0) {
            return anything;
        }
        auto begin = range_of(loop->operand(0)), end = range_of(loop->operand(1));
        return {begin.low, end.high < most ? end.high - 1 : most};
    }
    auto of = [&](size_t i) { return range_of(op->operand(i)); };
    switch (op->opcode()) {
        case Opcode::CONSTANT: {
            auto bits = static_cast<int64_t>(op->get<ir::ConstantPayload>().bits);
            return known(bits, bits);
        }
        case Opcode::PARTICIPANT:
            return op->get<ir::ParticipantPayload>().kind == ir::ParticipantKind::THREAD
                       ? Range{0, _threads - 1}
                       : anything;
        case Opcode::ADD: return sum(of(0), of(1));
        case Opcode::SUB: return sum(of(0), product(of(1), {-1, -1}));
        case Opcode::MUL: return product(of(0), of(1));
        default: break;
    }
    if (op->operand_count() < 2) {
        return anything;
    }
    auto last = op->operand_count() - 1;
    auto a = of(last - 1), b = of(last);
    bool positive = a.low >= 0 && is_known(b) && b.low > 0;
    switch (op->opcode()) {
        case Opcode::DIV:
            return positive && is_known(a) ? Range{a.low / b.high, a.high / b.low} : anything;
        case Opcode::REM: return positive ? Range{0, std::min(a.high, b.high - 1)} : anything;
        case Opcode::MINIMUM: return known(std::min(a.low, b.low), std::min(a.high, b.high));
        case Opcode::MAXIMUM: return known(std::max(a.low, b.low), std::max(a.high, b.high));
        case Opcode::AND:
            // Of numbers that are not negative no bit is added.
            return b.low >= 0 && is_known(b)   ? Range{0, b.high}
                   : a.low >= 0 && is_known(a) ? Range{0, a.high}
                                               : anything;
        case Opcode::ITE: return known(std::min(a.low, b.low), std::max(a.high, b.high));
        default: return anything;
    }
}

}// namespace luisa::tile::simt
