// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"
#include "interpreter/reducers.h"

#include <algorithm>
#include <bit>
#include <utility>

// scan: along each line, what the active elements up to each place combine to.

namespace luisa::tile::interpreter {

namespace {

/// The balanced trees over the first 1, 2, 3, … of a line of elements. Trees over 2^k elements that
/// begin at a multiple of 2^k are parts of all longer ones; each is made once.
class BalancedPrefixes {
public:
    BalancedPrefixes(const ReducerFacts &reducer, ScalarType type)
        : _reducer{&reducer}, _type{type} {}

    void append(uint64_t x) {
        add_block(0, x);
        ++_count;
    }
    /// Of all elements so far, of which there is one at least.
    [[nodiscard]] uint64_t root() const {
        auto left = _count, start = _count;
        uint64_t tree = 0;
        bool first = true;
        while (left != 0) {
            auto level = static_cast<size_t>(std::countr_zero(left));
            start -= size_t{1} << level;
            auto block = _blocks[level][start >> level];
            tree = first ? block : _reducer->merge(_type, block, tree);
            first = false;
            left &= left - 1;
        }
        return tree;
    }

private:
    void add_block(size_t level, uint64_t x) {
        if (_blocks.size() <= level) {
            _blocks.resize(level + 1);
        }
        auto &row = _blocks[level];
        row.push_back(x);
        if (row.size() % 2 == 0) {
            add_block(level + 1, _reducer->merge(_type, row[row.size() - 2], x));
        }
    }

    const ReducerFacts *_reducer;
    ScalarType _type;
    size_t _count = 0;
    std::vector<std::vector<uint64_t>> _blocks;///< by level
};

/// One line: what has been combined so far.
struct Line {
    const ir::ScanPayload &payload;
    const ReducerFacts &reducer;
    ScalarType type;
    bool started;///< there is a seed, or an element
    uint64_t seed, value;
    BalancedPrefixes prefixes;
    const ir::Operation *undefined = nullptr;

    Line(const ir::ScanPayload &p, ScalarType t, const uint64_t *first)
        : payload{p}, reducer{facts_of(p.reducer)}, type{t}, started{first != nullptr},
          seed{first ? *first : 0}, value{first ? *first : reducer.of_nothing(t)}, prefixes{reducer,
                                                                                            t} {}

    // Trees may group as they like, so they fold from the left.
    void append(uint64_t x) {
        if (payload.policy == ReductionPolicy::BALANCED_TREE) {
            prefixes.append(x);
            value = prefixes.root();
            value = payload.has_seed ? reducer.merge(type, seed, value) : value;
        } else {
            value = started ? reducer.merge(type, value, x) : x;
        }
        started = true;
    }
};

}// namespace

void run_scan(Context &context, const Step &step) {
    const auto &payload = step.op->get<ir::ScanPayload>();
    const auto &type = *step.op->operand(0)->type();
    const auto &x = context.tile(step.operands[0]);
    auto seed_operand = payload.has_seed ? size_t{1} : size_t{0};
    auto mask_operand = payload.has_mask ? seed_operand + 1 : size_t{0};
    const auto &seed = context.tile(step.operands[seed_operand]);
    const auto &mask = context.tile(step.operands[mask_operand]);
    auto axis = static_cast<size_t>(type.find(payload.dim));
    auto lines = step.extents;
    auto length = std::exchange(lines[axis], std::min<int64_t>(lines[axis], 1));
    const auto &strides = step.accesses[0].strides,
               &mask_strides = step.accesses[mask_operand].strides;
    auto &out = context.output(step.results[0], type.element_count());
    walk<3>(lines, {&strides, &step.accesses[seed_operand].strides, &mask_strides},
            [&](const Numbers &, const auto &base) {
                const auto *first = payload.has_seed ? &seed.bits[static_cast<size_t>(base[1])]
                                                     : nullptr;
                Line line{payload, type.scalar, first};
                line.undefined = payload.has_seed ? seed.undefined_at(base[1]) : nullptr;
                for (int64_t n = 0; n < length; ++n) {
                    auto i = payload.reverse ? length - 1 - n : n;
                    auto at = base[0] + i * strides[axis];
                    auto mask_at = base[2] + i * mask_strides[axis];
                    auto before = line.value;
                    const auto *was_undefined = line.undefined;
                    const auto *undefined = payload.has_mask ? mask.undefined_at(mask_at) : nullptr;
                    if (!payload.has_mask || mask.bits[static_cast<size_t>(mask_at)] != 0) {
                        line.append(x.bits[static_cast<size_t>(at)]);
                        undefined = undefined ? undefined : x.undefined_at(at);
                    }
                    line.undefined = line.undefined ? line.undefined : undefined;
                    out.bits[static_cast<size_t>(at)] = payload.exclusive ? before : line.value;
                    out.set_undefined(at, payload.exclusive ? was_undefined : line.undefined);
                }
            });
}

}// namespace luisa::tile::interpreter
