// SPDX-License-Identifier: Apache-2.0
#include "ir/reduction_update.h"
#include "realize/cpu/lowering.h"
#include "realize/cpu/reducers.h"

#include <bit>

// Balanced trees over the iterations of a `reduce` nest. A partial result of 2^k iterations waits in
// row k of a stack until its neighbour is there, so the memory is that of a few states whatever the
// number of iterations.

namespace luisa::tile::cpu {

using ir::Opcode;

/// The elements of one state, dense in scratch memory.
struct Lowering::TreeState {
    Reducer reducer{};
    ScalarType type{};
    uint64_t start = 0;///< bits of a state that the next contribution leaves as it is
    int64_t count = 1, lanes = 1;
    int64_t leaf = 0, seed = 0, stack = 0;///< offsets

    [[nodiscard]] int64_t bytes() const { return static_cast<int64_t>(size_of(type)); }
};

namespace {

Reducer reducer_of(Opcode merge) {
    for (int i = 0; i < static_cast<int>(Reducer::ARGMIN); ++i) {
        auto reducer = static_cast<Reducer>(i);
        bool logical = reducer == Reducer::LOGICAL_AND || reducer == Reducer::LOGICAL_OR;
        if (!logical && reducer_opcode(reducer) == merge) {
            return reducer;
        }
    }
    internal_error("merge of a balanced tree that is no reducer");
}

/// Reads, writes and merges whole states.
struct Stack {
    MachineBuilder &b;
    using Element = std::function<void(ir::Value *)>;
    /// The address of a place, or of place number `row` after it in steps of as many bytes.
    std::function<ir::Value *(int64_t room, ir::Value *row, int64_t bytes)> address;
    std::function<ir::Value *(Reducer, ir::Value *, ir::Value *)> step;
    std::function<void(int64_t, int64_t, int64_t, const Element &)> loop;

    [[nodiscard]] ir::Value *at(int64_t offset) const { return address(offset, nullptr, 1); }
    [[nodiscard]] ir::Value *row(const Lowering::TreeState &c, ir::Value *level) const {
        return address(c.stack, level, c.count * c.bytes());
    }
    /// Calls `f(read, write)` for all elements, a vector at a time.
    template<class F> void each(const Lowering::TreeState &c, const F &f) const {
        auto whole = c.count / c.lanes * c.lanes;
        auto part = [&](int64_t begin, int64_t end, int64_t lanes) {
            loop(begin, end, lanes, [&](ir::Value *iv) {
                auto *type = lanes > 1 ? b.module().vector(c.type, static_cast<uint16_t>(lanes))
                                       : b.module().scalar(c.type);
                ir::MemoryPayload plain{static_cast<uint32_t>(c.bytes()), false, false};
                f(
                    [&](ir::Value *base) {
                        return b.read(Opcode::READ, {b.address(base, iv, c.bytes())}, plain, type);
                    },
                    [&](ir::Value *base, ir::Value *value) {
                        b.effect(Opcode::WRITE,
                                 {b.address(base, iv, c.bytes()),
                                  b.splat(value, static_cast<int>(lanes))},
                                 plain);
                    });
            });
        };
        part(0, whole, c.lanes);
        part(whole, c.count, 1);
    }
    void copy(const Lowering::TreeState &c, ir::Value *from, ir::Value *to) const {
        each(c, [&](const auto &read, const auto &write) { write(to, read(from)); });
    }
    void fill(const Lowering::TreeState &c, ir::Value *to) const {
        each(c, [&](const auto &, const auto &write) { write(to, b.constant(c.type, c.start)); });
    }
    /// to = op(left, right)
    void merge(const Lowering::TreeState &c, ir::Value *left, ir::Value *right,
               ir::Value *to) const {
        each(c, [&](const auto &read, const auto &write) {
            write(to, step(c.reducer, read(left), read(right)));
        });
    }
};

ir::Value *bit(MachineBuilder &b, ir::Value *number) {
    return b.compare(Opcode::NE, b.pure(Opcode::AND, {number, b.index(1)}), b.index(0));
}

/// Contribution number `position` has arrived in the leaves: merges it with the rows of the trees
/// that it completes.
void push(const Stack &s, const std::vector<Lowering::TreeState> &states, ir::Value *position) {
    auto &b = s.b;
    auto ended = b.while_loop(
        {position, b.index(0)}, [&](const Values &at) { return bit(b, at[0]); },
        [&](const Values &at) {
            for (const auto &c : states) {
                s.merge(c, s.row(c, at[1]), s.at(c.leaf), s.at(c.leaf));
            }
            return Values{b.pure(Opcode::SHR, {at[0], b.index(1)}), b.add(at[1], b.index(1))};
        });
    for (const auto &c : states) {
        s.copy(c, s.at(c.leaf), s.row(c, ended[1]));
    }
}

/// Merges the rows that are left of `count` contributions into the leaves, the seed last and on the
/// left; of none, the seed.
void finish(const Stack &s, const std::vector<Lowering::TreeState> &states, ir::Value *count,
            int64_t levels) {
    auto &b = s.b;
    auto none = [] { return Values{}; };
    auto add_row = [&](ir::Value *level, ir::Value *some) {
        auto merge = [&] {
            for (const auto &c : states) {
                s.merge(c, s.row(c, level), s.at(c.leaf), s.at(c.leaf));
            }
            return Values{};
        };
        auto start = [&] {
            for (const auto &c : states) {
                s.copy(c, s.row(c, level), s.at(c.leaf));
            }
            return Values{};
        };
        b.branch(b.compare(Opcode::NE, some, b.index(0)), merge, start);
        return Values{b.index(1)};
    };
    b.loop(b.index(0), b.index(levels), 1, {b.index(0)}, [&](ir::Value *level, const Values &some) {
        return b.branch(
            bit(b, b.pure(Opcode::SHR, {count, level})), [&] { return add_row(level, some[0]); },
            [&] { return Values{some[0]}; });
    });
    b.branch(
        b.compare(Opcode::GT, count, b.index(0)),
        [&] {
            for (const auto &c : states) {
                s.merge(c, s.at(c.seed), s.at(c.leaf), s.at(c.leaf));
            }
            return none();
        },
        [&] {
            for (const auto &c : states) {
                s.copy(c, s.at(c.seed), s.at(c.leaf));
            }
            return none();
        });
}

}// namespace

/// How each state of a balanced `reduce` is merged and where its elements lie; makes room for them.
std::vector<Lowering::TreeState> Lowering::tree_states(const ir::Operation &op) {
    int64_t levels = tree_levels(op);
    std::vector<TreeState> states(op.result_count());
    for (size_t i = 0; i < states.size(); ++i) {
        auto merge = ir::merge_of_state(op, i);
        if (!merge) {
            throw UnsupportedError{"reduce: balanced_tree needs updates of the form `s = op(s, c)` "
                                   "with a built-in operation or mma, and state " +
                                       std::to_string(i) + " is updated otherwise; use fold_left",
                                   op.loc};
        }
        auto &c = states[i];
        c.type = op.result(i)->scalar();
        c.reducer = reducer_of(*merge);
        auto update = op.body()->terminator()->operand(i)->definition()->opcode();
        c.start = update == Opcode::MMA ? 0 : identity_bits(c.reducer, c.type);
        const auto *home = _plan->home(op.result(i));
        if (home) {
            // Trees merge place by place; what lies in the gaps of a Memory's layout does not matter.
            for (auto extent : storage_extents(_plan->storage.at(home))) {
                c.count *= extent;
            }
        }
        auto wide = std::max<int64_t>(c.bytes(), is_float(c.type) ? 4 : 1);
        c.lanes = c.count > 1 ? std::max<int64_t>(_plan->facts.vector_bytes / wide, 1) : 1;
        int64_t rows = 0;
        if (__builtin_mul_overflow(c.count * c.bytes(), levels, &rows) || rows > int64_t{1} << 40) {
            throw ResourceError{"the rows of a balanced tree over a state of shape " +
                                    ir::extents_text(*op.result(i)->type()) +
                                    " need more scratch memory than a CPU task can have; use "
                                    "smaller tiles",
                                op.loc};
        }
        c.leaf = home ? _offsets.at(home) : allocate_bytes(c.bytes());
        c.seed = allocate_bytes(c.count * c.bytes());
        c.stack = allocate_bytes(rows);
    }
    return states;
}

void Lowering::element_loop(int64_t begin, int64_t end, int64_t step,
                            const std::function<void(ir::Value *)> &body) {
    _b.loop(_b.index(begin), _b.index(end), step, {}, [&](ir::Value *iv, const Values &) {
        body(iv);
        return Values{};
    });
}

void Lowering::lower_balanced_nest(const ir::Operation &op) {
    auto *body = op.body();
    size_t indices = body->arguments().size() - op.result_count();
    size_t lead = op.operand_count() - op.result_count();
    auto scalars = scalar_states(op);
    auto states = tree_states(op);
    Stack stack{_b,
                [&](int64_t room, ir::Value *row, int64_t bytes) {
                    auto at = place(room);
                    return _b.address(at.base, row, bytes, at.offset);
                },
                [&](Reducer r, ir::Value *a, ir::Value *b) { return reduce_step(r, a, b); },
                [&](int64_t begin, int64_t end, int64_t step, const Stack::Element &body) {
                    element_loop(begin, end, step, body);
                }};
    auto is_scalar = [&](size_t i) { return op.result(i)->type()->is_scalar(); };
    auto put = [&](int64_t offset, ir::Value *value) {
        auto size = static_cast<uint32_t>(size_of(value->scalar()));
        by_owner([&] {
            _b.effect(Opcode::WRITE, {stack.at(offset), value},
                      ir::MemoryPayload{size, false, false});
        });
    };
    synchronize();
    for (size_t i = 0; i < states.size(); ++i) {
        if (is_scalar(i)) {
            put(states[i].seed, control_value(op.operand(lead + i)));
        } else {
            stack.copy(states[i], stack.at(states[i].leaf), stack.at(states[i].seed));
        }
    }
    auto count = nest_loops(op, false, {_b.index(0)}, [&](const Values &now) {
        for (size_t i = 0; i < states.size(); ++i) {
            if (is_scalar(i)) {
                _scalars[body->argument(indices + i)] = _b.constant(states[i].type,
                                                                    states[i].start);
            } else {
                stack.fill(states[i], stack.at(states[i].leaf));
            }
        }
        _b.forget_reads();
        synchronize();
        auto contributions = lower_body(*body);
        synchronize();
        for (size_t i = 0; i < scalars.size(); ++i) {
            put(states[scalars[i]].leaf, contributions[i]);
        }
        push(stack, states, now[0]);
        return Values{_b.add(now[0], _b.index(1))};
    });
    finish(stack, states, count[0], tree_levels(op));
    _b.forget_reads();
    synchronize();
    for (auto i : scalars) {
        ir::MemoryPayload plain{static_cast<uint32_t>(states[i].bytes()), false, false};
        _scalars[op.result(i)] = _b.read(Opcode::READ, {stack.at(states[i].leaf)}, plain,
                                         _b.module().scalar(states[i].type));
    }
}

/// Rows that partial results need: one a bit of the number of iterations, as far as it is known.
int64_t Lowering::tree_levels(const ir::Operation &nest) {
    int64_t most = 1, known = 0;
    for (auto *extent : domain_extents(nest)) {
        bool is_known = MachineBuilder::is_constant(extent, known);
        if (!is_known || __builtin_mul_overflow(most, std::max<int64_t>(known, 0), &most)) {
            return 63;
        }
    }
    return std::bit_width(static_cast<uint64_t>(most));
}

}// namespace luisa::tile::cpu
