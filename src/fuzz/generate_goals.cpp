// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include <algorithm>
#include <utility>

// Goals: a program has certain operations in certain regions, so that rare pairs come often enough.

namespace luisa::tile::fuzz {

namespace {

using Make = bool (*)(Program &);

struct Maker {
    Opcode op;
    Make make;
};

constexpr Maker makers[] = {
    {Opcode::IOTA, [](Program &p) { return p.make_iota(); }},
    {Opcode::BROADCAST, [](Program &p) { return p.make_broadcast(); }},
    {Opcode::RETYPE, [](Program &p) { return p.make_retype(); }},
    {Opcode::EXTRACT, [](Program &p) { return p.make_extract(); }},
    {Opcode::INSERT, [](Program &p) { return p.make_insert(); }},
    {Opcode::PER, [](Program &p) { return p.make_per(); }},
    {Opcode::MEMORY_ALLOC, [](Program &p) { return p.make_memory(); }},
    {Opcode::REDUCE_EXPR, [](Program &p) { return p.make_reduction(); }},
    {Opcode::SCAN, [](Program &p) { return p.make_scan(); }},
    {Opcode::MMA, [](Program &p) { return p.make_mma(); }},
    {Opcode::MAP, [](Program &p) { return p.make_map(); }},
    {Opcode::EXTENT, [](Program &p) { return p.make_extent(); }},
    {Opcode::LOAD, [](Program &p) { return p.make_load(); }},
    {Opcode::STORE, [](Program &p) { return p.make_store(); }},
    {Opcode::ATOMIC, [](Program &p) { return p.make_atomic() || p.make_shared_atomic(); }},
    {Opcode::ASSERT, [](Program &p) { return p.make_assert(); }},
    {Opcode::PRINT, [](Program &p) { return p.make_print(); }},
    {Opcode::PARALLEL, [](Program &p) { return p.make_parallel(); }},
    {Opcode::SERIAL, [](Program &p) { return p.make_serial(); }},
    {Opcode::REDUCE, [](Program &p) { return p.make_reduce(); }},
    {Opcode::IF, [](Program &p) { return p.make_if(); }},
    {Opcode::WHILE, [](Program &p) { return p.make_while(); }},
};

Make maker_of(Opcode op) {
    const auto *found = std::find_if(std::begin(makers), std::end(makers),
                                     [&](const Maker &m) { return m.op == op; });
    return found == std::end(makers) ? nullptr : found->make;
}

bool possible(const Goal &goal) {
    auto op = static_cast<size_t>(goal.op);
    bool made = ir::is_elementwise(goal.op) || maker_of(goal.op);
    return made && !why_impossible({Aspect::OPERATION, Aspect::REGION, op, goal.region}) &&
           !why_impossible({Aspect::OPERATION, Aspect::TYPE, op, static_cast<size_t>(goal.type)});
}

/// What opens a region of each kind; nothing opens the kernel.
constexpr Make openers[region_kinds] = {
    nullptr,
    [](Program &p) { return p.make_parallel(); },
    [](Program &p) { return p.make_serial(); },
    [](Program &p) { return p.make_serial(); },
    [](Program &p) { return p.make_reduce(); },
    [](Program &p) { return p.make_if(); },
    [](Program &p) { return p.make_while(); },
    [](Program &p) { return p.make_map(); },
};

}// namespace

void Program::choose_goals() {
    while (goals.size() < 3) {
        Goal goal;
        goal.op = static_cast<Opcode>(random.below(ir::opcode_count));
        goal.region = random.below(region_kinds);
        goal.type = static_cast<ScalarType>(random.below(scalar_type_count));
        if (possible(goal)) {
            goals.push_back(goal);
        }
    }
}

void Program::make_goals() {
    const auto *parent = builder.region()->parent();
    auto here = parent ? 1 + static_cast<size_t>(parent->opcode()) : 0;
    for (auto &goal : goals) {
        if (goal.left == 0 || goal.region != here || work > most_work) {
            continue;
        }
        --goal.left;// first: what it makes may come here again
        auto type = goal.type;
        const auto *outer = std::exchange(wanted_type, &type);
        for (int attempt = 0; attempt < 4; ++attempt) {
            auto op = goal.op;
            bool made = ir::is_elementwise(op) ? make_elementwise(here == region_kinds - 1, &op)
                                               : maker_of(op)(*this);
            if (made) {
                break;
            }
        }
        wanted_type = outer;
    }
}

void Program::open_goals() {
    make_goals();
    for (size_t i = 0; i < goals.size(); ++i) {
        for (int attempt = 0; attempt < 4 && goals[i].left > 0 && work < most_work / 2; ++attempt) {
            if (auto *open = openers[goals[i].region]) {
                open(*this);
            }
        }
    }
}

}// namespace luisa::tile::fuzz
