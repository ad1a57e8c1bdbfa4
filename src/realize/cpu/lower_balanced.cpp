// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/lowering.h"
#include "realize/cpu/reducers.h"

// Balanced trees over the elements of a tile: the leaves are written down in their order, then
// neighbours are paired level by level, which splits at the largest power of two below the length.

namespace luisa::tile::cpu {

using ir::Opcode;
using plan::LoopGroup;
using plan::Root;

namespace {

/// Leaves of one tree, or of one tree a lane, in scratch memory.
struct Leaves {
    MachineBuilder &b;
    ir::Value *base;
    const ir::Type *shape;
    int64_t bytes;

    [[nodiscard]] ir::Value *read(ir::Value *index) const {
        return b.read(Opcode::READ, {b.address(base, index, bytes)}, access(), shape);
    }
    void write(ir::Value *index, ir::Value *value) const {
        b.effect(Opcode::WRITE, {b.address(base, index, bytes), value}, access());
    }
    [[nodiscard]] ir::MemoryPayload access() const {
        return {static_cast<uint32_t>(size_of(shape->scalar)), false, false};
    }
};

}// namespace

/// Writes the leaves of the tree at `point`; those that a mask leaves out take no place. Returns
/// their number: `count`, or what the mask leaves of it.
static ir::Value *fill_leaves(const LoopGroup &group, size_t depth, const Leaves &leaves,
                              MachineBuilder &b, Point &point,
                              const std::function<ir::Value *(Point &)> &element,
                              const std::function<ir::Value *(Point &)> &active) {
    std::function<Values(size_t, Point &, const Values &)> fill =
        [&](size_t at, Point &place, const Values &next) -> Values {
        if (at == group.loops.size()) {
            leaves.write(next[0], element(place));
            auto *taken = active ? active(place) : b.index(1);
            return {b.add(next[0], taken)};
        }
        const auto &loop = group.loops[at];
        return b.loop(b.index(0), b.index(loop.extent), 1, next,
                      [&](ir::Value *iv, const Values &now) {
                          auto inner = place.derived();
                          inner.at[loop.dim.id] = {iv, 0, nullptr};
                          return fill(at + 1, inner, now);
                      });
    };
    return fill(depth, point, {b.index(0)})[0];
}

void Lowering::lower_balanced_at(const LoopGroup &group, size_t depth, const Root &root,
                                 int64_t offset, Point &point) {
    const auto &payload = root.op->get<ir::ReducePayload>();
    auto type = root.op->operand(0)->scalar();
    int lanes = group.vector_axis >= 0 ? group.lanes : 1;
    auto *shape = lanes > 1 ? _b.module().vector(type, static_cast<uint16_t>(lanes))
                            : _b.module().scalar(type);
    int64_t most = 1;
    for (size_t i = depth; i < group.loops.size(); ++i) {
        most *= group.loops[i].extent;
    }
    auto bytes = static_cast<int64_t>(size_of(type)) * lanes;
    Leaves leaves{_b, private_start(offset, (most + 1) * bytes), shape, bytes};
    std::function<ir::Value *(Point &)> active;
    if (payload.has_mask) {
        active = [&](Point &place) {
            return convert(evaluate(root.op->operand(1), place), ScalarType::INT64);
        };
    }
    auto *filled = fill_leaves(
        group, depth, leaves, _b, point,
        [&](Point &place) { return _b.splat(evaluate(root.op->operand(0), place), lanes); },
        active);
    auto *count = payload.has_mask ? filled : _b.index(most);
    for (int64_t step = 1; step < most; step *= 2) {
        _b.loop(_b.index(0), _b.sub(count, _b.index(step)), 2 * step, {},
                [&](ir::Value *iv, const Values &) {
                    auto *left = leaves.read(iv), *right = leaves.read(_b.add(iv, _b.index(step)));
                    leaves.write(iv, reduce_step(effective_reducer(payload), left, right));
                    return Values{};
                });
    }
    auto *result = _b.constant(type, seed_bits(effective_reducer(payload), type));
    if (most > 0 && payload.has_mask) {
        auto *some = _b.compare(Opcode::GT, count, _b.index(0));
        result = select(some, leaves.read(_b.index(0)), result);
    } else if (most > 0) {
        result = leaves.read(_b.index(0));
    }
    write_result(root, result, point);
}

void Lowering::lower_balanced(const LoopGroup &group, const Root &root) {
    auto type = root.op->operand(0)->scalar();
    size_t folds = 0;
    while (folds < group.loops.size() && !group.folds(group.loops[folds].dim)) {
        ++folds;
    }
    int lanes = group.vector_axis >= 0 ? group.lanes : 1;
    require(lanes == 1 || !root.op->get<ir::ReducePayload>().has_mask,
            "trees of masked leaves differ from lane to lane");
    int64_t bytes = static_cast<int64_t>(size_of(type)) * lanes;
    int64_t most = 1;// one more than the leaves: the last that a mask leaves out has a place
    for (size_t i = folds; i < group.loops.size(); ++i) {
        most *= group.loops[i].extent;
    }
    auto offset = allocate_private((most + 1) * bytes);
    std::function<void(size_t, Point &)> kept = [&](size_t at, Point &point) {
        if (at == folds) {
            return lower_balanced_at(group, folds, root, offset, point);
        }
        const auto &loop = group.loops[at];
        int width = static_cast<int>(at) == group.vector_axis ? lanes : 1;
        vector_loop(loop.dim, _b.index(loop.extent), loop.extent, width, 1, point, {},
                    [&](Point &inner, int, const Values &) {
                        kept(at + 1, inner);
                        return Values{};
                    });
    };
    Point point;
    kept(0, point);
}

}// namespace luisa::tile::cpu
