// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include <algorithm>

// if, while, and which operation comes next.

namespace luisa::tile::fuzz {

namespace {

struct Choice {
    unsigned weight;
    bool nests;///< opens a region: rarer the deeper it is
    bool (*make)(Program &);
};

constexpr Choice choices[] = {
    {40, false, [](Program &p) { return p.make_elementwise(false); }},
    {3, false, [](Program &p) { return p.make_iota(); }},
    {3, false, [](Program &p) { return p.make_broadcast(); }},
    {2, false, [](Program &p) { return p.make_retype(); }},
    {5, false, [](Program &p) { return p.make_extract(); }},
    {4, false, [](Program &p) { return p.make_insert(); }},
    {1, false, [](Program &p) { return p.make_per(); }},
    {2, false, [](Program &p) { return p.make_memory(); }},
    {8, false, [](Program &p) { return p.make_reduction(); }},
    {5, false, [](Program &p) { return p.make_scan(); }},
    {6, false, [](Program &p) { return p.make_mma(); }},
    {2, false, [](Program &p) { return p.make_extent(); }},
    {14, false, [](Program &p) { return p.make_load(); }},
    {4, false, [](Program &p) { return p.make_mapped_load(); }},
    {5, false, [](Program &p) { return p.make_store(); }},
    {2, false, [](Program &p) { return p.make_mapped_store(); }},
    {2, false, [](Program &p) { return p.make_atomic(); }},
    {1, false, [](Program &p) { return p.make_shared_atomic(); }},
    {1, false, [](Program &p) { return p.make_assert(); }},
    {1, false, [](Program &p) { return p.make_print(); }},
    {3, true, [](Program &p) { return p.make_map(); }},
    {3, false, [](Program &p) { return p.make_composed(); }},
    {7, true, [](Program &p) { return p.make_parallel(); }},
    {6, true, [](Program &p) { return p.make_serial(); }},
    {5, true, [](Program &p) { return p.make_reduce(); }},
    {4, true, [](Program &p) { return p.make_contract(); }},
    {3, true, [](Program &p) { return p.make_if(); }},
    {3, true, [](Program &p) { return p.make_while(); }},
};

constexpr int deepest = 4;

}// namespace

void Program::make_operation() {
    unsigned total = 0;
    auto weight = [&](const Choice &c) {
        return !c.nests ? c.weight * 2
               : depth >= deepest || work > most_work / 2
                   ? 0
                   : c.weight * 3 / (1 + static_cast<unsigned>(depth));
    };
    for (const auto &c : choices) {
        total += weight(c);
    }
    auto at = static_cast<unsigned>(random.below(total));
    for (const auto &c : choices) {
        if (at < weight(c)) {
            c.make(*this);
            return;
        }
        at -= weight(c);
    }
}

void Program::make_operations(size_t count) {
    make_goals();
    for (size_t i = 0; i < count && work < most_work; ++i) {
        make_operation();
    }
}

void Program::make_sink() {
    if (pure || work > most_work) {
        return;
    }
    auto *value = find([&](const Value *v) {
        return !v->has_uses() && v->definition() && v->region() == builder.region() &&
               v->type()->dims.size() <= 4;
    });
    if (!value) {
        return;
    }
    ir::StorePayload payload;
    ViewFact view;
    std::vector<Value *> at;
    int64_t elements = 1;
    for (const auto &loop : loops) {
        if (loop.extent < 0 && loop.parallel) {
            return;
        }
        if (loop.extent >= 0) {
            view.extents.push_back(loop.extent);
            payload.box.push_back({dim("at"), 1});
            at.push_back(loop.index);
            elements *= std::max<int64_t>(loop.extent, 1);
        }
    }
    for (const auto &d : value->type()->dims) {
        view.extents.push_back(d.extent);
        payload.box.push_back(d);
        at.push_back(builder.index(0));
        elements *= std::max<int64_t>(d.extent, 1);
    }
    if (elements > 20000 || view.extents.empty() || view.extents.size() > 6) {
        return;
    }
    view.value = new_view(value->scalar(), view.extents, 1);
    std::vector<Value *> operands = {view.value, value};
    operands.insert(operands.end(), at.begin(), at.end());
    builder.emit(Opcode::STORE, operands, {}, payload);
    work += trips * value->type()->element_count();
}

bool Program::make_if() {
    auto *condition = scalar_of(ScalarType::BOOL);
    std::vector<const ir::Type *> types;
    for (size_t i = 0, n = random.below(3); i < n && !pool.empty(); ++i) {
        types.push_back(random.pick(pool)->type());
    }
    auto *branch = builder.emit(Opcode::IF, {condition}, types, ir::None{}, 2);
    std::vector<Fact> results;
    for (size_t side = 0; side < 2; ++side) {
        Scope scope{*this, branch->body(side)};
        if (side == 0 || random.chance(60)) {
            make_operations(1 + random.below(3));
        }
        std::vector<Value *> yields;
        for (size_t i = 0; i < types.size(); ++i) {
            yields.push_back(value_of(types[i]));
            auto f = fact(yields.back());
            if (side == 0) {
                results.push_back(f);
            } else {
                results[i] = either(results[i], f);
            }
        }
        make_sink();
        builder.emit(Opcode::YIELD, yields, {});
    }
    for (size_t i = 0; i < types.size(); ++i) {
        add(branch->result(i), results[i]);
    }
    return true;
}

std::vector<Value *> Program::make_condition(const std::vector<Value *> &arguments,
                                             const std::function<std::vector<Value *>()> &body) {
    auto *index = loops.empty() ? index_constant(0) : loops.back().index;
    auto *condition = builder.elementwise(random.pick({Opcode::LT, Opcode::NE, Opcode::GE}),
                                          {index, index_constant(random.between(-1, 4))});
    std::vector<const ir::Type *> types;
    for (auto *a : arguments) {
        types.push_back(a->type());
    }
    auto *branch = builder.emit(Opcode::IF, {condition}, types, ir::None{}, 2);
    {
        Scope scope{*this, branch->body(0)};
        auto yields = body();
        make_sink();
        builder.emit(Opcode::YIELD, yields, {});
    }
    Scope scope{*this, branch->body(1)};
    builder.emit(Opcode::YIELD, arguments, {});
    return branch->results();
}

bool Program::make_while() {
    auto most = trips > 50 ? 1 : random.between(0, 4);
    std::vector<Value *> operands = {index_constant(0)};
    std::vector<const ir::Type *> types = {operands[0]->type()};
    for (size_t i = 0, n = random.below(3); i < n; ++i) {
        operands.push_back(random.pick(pool));
        types.push_back(operands.back()->type());
    }
    auto *loop = builder.emit(Opcode::WHILE, operands, types, ir::None{}, 1);
    {
        Scope scope{*this, loop->body()};
        trips *= std::max<int64_t>(most, 1);
        for (auto *type : types) {
            Fact f;
            f.pinned = !is_float(type->scalar);
            auto *v = module.add_argument(loop->body(), type);
            facts[v] = f;
        }
        const auto &arguments = loop->body()->arguments();
        facts[arguments[0]] = {0, static_cast<double>(most)};
        pool.insert(pool.end(), arguments.begin(), arguments.end());
        make_operations(random.below(2));
        auto *goes_on = builder.elementwise(Opcode::LT, {arguments[0], index_constant(most)});
        if (random.chance(30)) {
            goes_on = builder.elementwise(Opcode::AND, {goes_on, scalar_of(ScalarType::BOOL)});
        }
        builder.emit(Opcode::CONDITION, {goes_on}, {});
        make_operations(1 + random.below(3));
        std::vector<Value *> yields = {
            builder.elementwise(Opcode::ADD, {arguments[0], index_constant(1)})};
        for (size_t i = 1; i < types.size(); ++i) {
            yields.push_back(value_of(types[i]));
        }
        builder.emit(Opcode::YIELD, yields, {});
    }
    add(loop->result(0), {0, static_cast<double>(most)});
    for (size_t i = 1; i < types.size(); ++i) {
        Fact f;
        f.pinned = !is_float(types[i]->scalar);
        add(loop->result(i), f);
    }
    return true;
}

}// namespace luisa::tile::fuzz
