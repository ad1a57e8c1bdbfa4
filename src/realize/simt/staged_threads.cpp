// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/staged.h"

#include <algorithm>

// A block of the result in each thread. What a thread holds of the rows lies in as many groups as fill 16 bytes, or,
// where lines of the panel are rows, one row in each group: neighbouring threads then read neighbours, or lines that
// lie in different banks. The same holds for columns.

namespace luisa::tile::simt {

using ir::Opcode;

namespace {

class ThreadBlocks final : public StagedContraction {
public:
    ThreadBlocks(BlockLowering &lowering, const plan::Contraction &contraction)
        : StagedContraction{lowering, contraction}, _per_unit{
                                                        16 / static_cast<int64_t>(size_of(_wide))} {
        place_threads();
        _rounds_narrow = _type != _wide;
    }

private:
    struct Side {
        int64_t count, threads, limit;///< elements a thread, threads, elements in all
        bool along_steps = false;
        ir::Value *thread = nullptr;
    };

    void place_threads();
    std::vector<Element> elements() override;
    Values multiply(size_t product, const Panels &panels, ir::Value *steps,
                    const Values &sums) override;

    [[nodiscard]] ir::Value *number_of(const Side &side, int64_t i);
    Values read(const Side &side, const plan::StagedOperand &how, ir::Value *panel,
                ir::Value *first, int64_t offset, int64_t steps);
    Values steps_at(size_t product, const Panels &panels, ir::Value *first, int64_t count,
                    Values sums);
    ir::Value *fma(const ir::Operation &product, ir::Value *a, ir::Value *b, ir::Value *sum);

    int64_t _per_unit;
    bool _rounds_narrow = false;
    ir::Value *_exists = nullptr;///< whether this thread holds a block
    Side _tall{}, _across{};
};

/// Numbers of the thread among those of the rows and of the columns. A warp has four of the rows and eight of the
/// columns where they divide, so that it reads few different lines.
void ThreadBlocks::place_threads() {
    int64_t down = _s.thread_rows, across = _s.thread_columns;
    auto *thread = this->thread();
    if (down * across < threads()) {
        _exists = _b.compare(Opcode::LT, thread, _b.index(down * across));
        thread = _b.minimum(thread, _b.index(down * across - 1));
    }
    ir::Value *row = nullptr, *column = nullptr;
    if (down % 4 == 0 && across % 8 == 0) {
        auto bit = [&](int64_t from, int64_t count) {
            return _b.rem(_b.div(thread, _b.index(int64_t{1} << from)),
                          _b.index(int64_t{1} << count));
        };
        auto *warp = _b.div(thread, _b.index(32)), *warps = _b.index(across / 8);
        auto *low = _b.add(bit(0, 1), _b.mul(bit(4, 1), _b.index(2)));
        row = _b.add(_b.mul(_b.div(warp, warps), _b.index(4)), low);
        column = _b.add(_b.mul(_b.rem(warp, warps), _b.index(8)), bit(1, 3));
    } else {
        row = _b.div(thread, _b.index(across));
        column = _b.rem(thread, _b.index(across));
    }
    _tall = {_c.rows, down, _height, operand(0, 0).along_steps, row};
    _across = {_c.vectors, across, _width, operand(0, 1).along_steps, column};
}

/// The row or column that the thread holds as its number `i`.
ir::Value *ThreadBlocks::number_of(const Side &side, int64_t i) {
    if (side.along_steps) {
        return _b.add(side.thread, _b.index(i * side.threads));
    }
    auto group = i / _per_unit * _per_unit * side.threads;
    return _b.add(_b.mul(side.thread, _b.index(_per_unit)), _b.index(group + i % _per_unit));
}

std::vector<StagedContraction::Element> ThreadBlocks::elements() {
    std::vector<Element> all;
    auto inside = [&](const Side &side, ir::Value *number) -> ir::Value * {
        return side.count * side.threads <= side.limit
                   ? nullptr
                   : _b.compare(Opcode::LT, number, _b.index(side.limit));
    };
    for (int64_t i = 0; i < _tall.count; ++i) {
        for (int64_t j = 0; j < _across.count; ++j) {
            Element element{number_of(_tall, i), number_of(_across, j), _exists};
            element.exists = _b.both(element.exists, inside(_tall, element.row));
            element.exists = _b.both(element.exists, inside(_across, element.column));
            all.push_back(element);
        }
    }
    return all;
}

/// What the thread needs of one operand for `steps` steps from `first + offset` on: the elements of a step next to
/// each other.
Values ThreadBlocks::read(const Side &side, const plan::StagedOperand &how, ir::Value *panel,
                          ir::Value *first, int64_t offset, int64_t steps) {
    auto bytes = static_cast<int64_t>(size_of(how.type));
    Values found(static_cast<size_t>(side.count * steps));
    auto read_at = [&](ir::Value *address, int64_t lanes) {
        auto *type = lanes > 1 ? _b.module().vector(how.type, static_cast<uint16_t>(lanes))
                               : _b.module().scalar(how.type);
        ir::MemoryPayload payload{static_cast<uint32_t>(bytes * lanes), false, false};
        return _b.read(Opcode::READ, {address}, payload, type);
    };
    auto lane = [&](ir::Value *value, int64_t i) {
        return value->type()->is_vector()
                   ? _b.pure(Opcode::EXTRACT_LANE, {value}, ir::IndexPayload{i},
                             _b.module().scalar(how.type))
                   : value;
    };
    bool padded = side.count * side.threads > side.limit;
    if (how.along_steps) {
        for (int64_t i = 0; i < side.count; ++i) {
            auto *line = number_of(side, i);
            line = padded ? _b.minimum(line, _b.index(side.limit - 1)) : line;
            auto *start = _b.address(_b.address(panel, line, how.pitch), first, bytes,
                                     offset * bytes);
            auto *values = read_at(start, steps);
            for (int64_t s = 0; s < steps; ++s) {
                found[static_cast<size_t>(s * side.count + i)] = lane(values, s);
            }
        }
        return found;
    }
    auto last = (side.limit - 1) / _per_unit * _per_unit;
    for (int64_t s = 0; s < steps; ++s) {
        for (int64_t i = 0; i < side.count; i += _per_unit) {
            auto *at = number_of(side, i);
            at = padded ? _b.minimum(at, _b.index(last)) : at;
            auto *start = _b.address(_b.address(panel, at, bytes), first, how.pitch,
                                     (offset + s) * how.pitch);
            auto *values = read_at(start, _per_unit);
            for (int64_t j = 0; j < _per_unit; ++j) {
                found[static_cast<size_t>(s * side.count + i + j)] = lane(values, j);
            }
        }
    }
    return found;
}

ir::Value *ThreadBlocks::fma(const ir::Operation &product, ir::Value *a, ir::Value *b,
                             ir::Value *sum) {
    if (!is_float(_wide)) {
        return _b.pure(Opcode::ADD, {_b.pure(Opcode::MUL, {a, b}), sum});
    }
    auto *next = _b.pure(Opcode::FMA, {a, b, sum});
    bool rounds = _rounds_narrow && !product.get<ir::MmaPayload>().policy.allow_reassociation;
    return rounds ? convert(convert(next, _type), _wide) : next;
}

/// `count` steps from `first` on, without a branch.
Values ThreadBlocks::steps_at(size_t product, const Panels &panels, ir::Value *first, int64_t count,
                              Values sums) {
    const auto &op = *_c.products[product];
    // Lines of steps are read two elements at a time: more would take too many registers.
    bool lines = operand(product, 0).along_steps || operand(product, 1).along_steps;
    int64_t group = lines ? 2 : 1;
    for (int64_t done = 0; done < count; done += group) {
        auto now = std::min(group, count - done);
        auto tall = read(_tall, operand(product, 0), panels.rows, first, done, now);
        auto across = read(_across, operand(product, 1), panels.columns, first, done, now);
        for (int64_t s = 0; s < now; ++s) {
            for (int64_t i = 0; i < _tall.count; ++i) {
                for (int64_t j = 0; j < _across.count; ++j) {
                    auto &sum = sums[static_cast<size_t>(i * _across.count + j)];
                    sum = fma(op, tall[static_cast<size_t>(s * _tall.count + i)],
                              across[static_cast<size_t>(s * _across.count + j)], sum);
                }
            }
        }
    }
    return sums;
}

Values ThreadBlocks::multiply(size_t product, const Panels &panels, ir::Value *steps,
                              const Values &sums) {
    int64_t known = 0, unroll = _s.unroll;
    bool is_static = MachineBuilder::is_constant(steps, known);
    auto *whole = is_static ? _b.index(known / unroll * unroll)
                            : _b.mul(_b.div(steps, _b.index(unroll)), _b.index(unroll));
    auto now = _b.loop(_b.index(0), whole, unroll, sums,
                       [&](ir::Value *first, const Values &before) {
                           return steps_at(product, panels, first, unroll, before);
                       });
    if (is_static) {
        auto rest = known % unroll;
        return rest ? steps_at(product, panels, whole, rest, now) : now;
    }
    return _b.loop(whole, steps, 1, now, [&](ir::Value *first, const Values &before) {
        return steps_at(product, panels, first, 1, before);
    });
}

}// namespace

void lower_by_threads(BlockLowering &lowering, const plan::Contraction &contraction) {
    ThreadBlocks{lowering, contraction}.run();
}

}// namespace luisa::tile::simt
