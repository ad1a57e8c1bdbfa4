// SPDX-License-Identifier: Apache-2.0
#include "frontend/capture.h"

#include "ir/dependence.h"

#include <algorithm>
#include <map>
#include <optional>

namespace luisa::tile::core {

namespace {

Error::Note declared(const Variable &v) { return {"declared here", v.declared}; }

void release(Variable *v) noexcept {
    if (--v->references == 0) {
        delete v;
    }
}

/// References that are given up at the end of a scope, also when an error leaves it.
struct Held {
    std::vector<Variable *> variables;
    explicit Held(std::vector<Variable *> v) : variables{std::move(v)} {}
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;
    ~Held() {
        for (auto *v : variables) {
            release(v);
        }
    }
};

/// Notes the variable in each region between its innermost entry and the current one, outermost first.
void touch(Capture &c, Variable *v) {
    std::vector<NestRegion *> path;
    for (auto *r = c.current; r && r != v->stack.back().region; r = r->parent) {
        path.push_back(r);
    }
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
        auto *outer = c.resolve(v->stack.back().definition);
        auto *forward = outer ? c.module->add_argument(c.placeholders, outer->type()) : nullptr;
        v->stack.push_back({*it, forward, forward, false, v->stack.back().moved});
        (*it)->touched.push_back(v);
        ++v->references;
    }
}

Capture &check_usable(const Variable *v, SourceLoc loc) {
    auto &c = current(loc);
    if (v->capture != c.id) {
        fail(ErrorKind::OWNERSHIP,
             "this value belongs to another capture; pass data between kernels through views", loc,
             {declared(*v)});
    }
    if (!v->scope->open) {
        fail(ErrorKind::SCOPE,
             std::string{"this value was declared inside a `"} + v->scope->kind +
                 "` body and is used after it; assign it to a variable declared before the nest",
             loc, {declared(*v)});
    }
    return c;
}

/// Alive variables first, each group by serial number: the order does not depend on the compiler.
std::vector<Variable *> take_touched(NestRegion &region) {
    auto touched = std::move(region.touched);
    std::sort(touched.begin(), touched.end(), [](const Variable *a, const Variable *b) {
        return a->alive != b->alive ? a->alive : a->serial < b->serial;
    });
    return touched;
}

void replace(Capture &c, Value *placeholder, Value *value) {
    if (placeholder == value) {
        return;
    }
    placeholder->replace_all_uses_with(value);
    c.replaced[placeholder] = value;
}

/// Whether `value` is `incoming` with parts inserted, also by inner nests and branches.
bool only_inserts(const Value *value, const Value *incoming) {
    while (value != incoming) {
        auto *op = value->definition();
        if (!op) {
            return false;
        }
        if (op->opcode() == ir::Opcode::INSERT && !op->get<ir::AccessPayload>().dims.empty()) {
            value = op->operand(0);
        } else if (op->opcode() == ir::Opcode::IF) {
            return only_inserts(op->body(0)->terminator()->operand(value->index()), incoming) &&
                   only_inserts(op->body(1)->terminator()->operand(value->index()), incoming);
        } else if (ir::is_nest(op->opcode()) || op->opcode() == ir::Opcode::WHILE) {
            auto *body = op->body();
            auto from_end = op->result_count() - value->index();
            auto *argument = body->argument(body->arguments().size() - from_end);
            if (!only_inserts(body->terminator()->operand(value->index()), argument)) {
                return false;
            }
            value = op->operand(op->operand_count() - from_end);
        } else {
            return false;
        }
    }
    return true;
}

/// Rule 15: an ancestor updated in `parallel` is the same for all instances, or has parts inserted.
ir::AncestorUpdate classify_update(NestRegion &region, const Variable &v, Value *yielded,
                                   Value *incoming, std::optional<ir::Dependence> &dependence) {
    if (!dependence) {
        dependence.emplace(*region.region, region.indices);
    }
    if (!dependence->contains(yielded)) {
        return ir::AncestorUpdate::COLLECTIVE;
    }
    if (!only_inserts(yielded, incoming)) {
        auto *op = yielded->definition();
        if (v.is_memory) {
            fail(ErrorKind::SCOPE,
                 "every instance of this `parallel` stores the whole of an outer Memory; store "
                 "disjoint boxes, memory(origin, shape).store(…), or make the Memory inside",
                 op && op->loc.known() ? op->loc : region.loc, {{"Memory made here", v.declared}});
        }
        fail(ErrorKind::SCOPE,
             "an outer value assigned inside `parallel` depends on the child's coordinates; write "
             "y = "
             "insert(y, child, v), or use reduce or serial",
             op ? op->loc : region.loc, {{"value declared here", v.declared}});
    }
    return ir::AncestorUpdate::INSERT;
}

void add_state(Capture &c, NestRegion &region, Variable &v, const Entry &entry, Value *initial,
               std::vector<Value *> &yields, std::optional<ir::Dependence> &dependence) {
    auto *op = region.owner;
    auto *argument = c.module->add_argument(region.region, initial->type());
    replace(c, entry.forward, argument);
    auto *yielded = c.resolve(entry.definition);
    yields.push_back(yielded);
    op->append_operand(initial);
    auto *result = c.module->add_result(op, initial->type());
    auto &outer = v.stack.back();
    outer.definition = result;
    outer.written = true;
    if (op->opcode() == ir::Opcode::PARALLEL) {
        op->get<ir::NestPayload>().updates.push_back(
            classify_update(region, v, yielded, argument, dependence));
    }
}

}// namespace

Value *Capture::resolve(Value *value) {
    for (auto found = replaced.find(value); found != replaced.end(); found = replaced.find(value)) {
        value = found->second;
    }
    return value;
}

Variable *declare(Value *initial, SourceLoc loc) {
    auto &c = current(loc);
    auto *v = new Variable;
    v->capture = c.id;
    v->serial = c.next_serial++;
    v->scope = c.current;
    v->declared = loc;
    v->stack.push_back({c.current, nullptr, initial});
    return v;
}

void place(Variable *variable, const void *object) noexcept {
    variable->object = object;
    auto *c = current_or_null();
    if (c && c->id == variable->capture) {
        auto &there = c->objects[object];
        ++variable->references;
        if (there) {
            release(there);
        }
        there = variable;
    }
}

void bind_in_region(Capture &c, Variable *v) {
    touch(c, v);
    v->stack.back().written = v->stack.back().bound = true;
}

void destroy(Variable *variable) noexcept {
    variable->alive = false;
    release(variable);
}

Value *read(const Variable *variable, SourceLoc loc) {
    auto *v = const_cast<Variable *>(variable);
    auto &c = check_usable(v, loc);
    touch(c, v);
    auto &entry = v->stack.back();
    if (entry.moved) {
        fail(ErrorKind::SCOPE, "this variable was moved from; assign it before reading it", loc,
             {declared(*v)});
    }
    if (!entry.definition) {
        fail(ErrorKind::SCOPE, "this variable is read before it has a value", loc, {declared(*v)});
    }
    return c.resolve(entry.definition);
}

void assign(Variable *v, Value *value, SourceLoc loc) {
    auto &c = check_usable(v, loc);
    touch(c, v);
    if (c.current->no_writes && v->scope != c.current) {
        fail(ErrorKind::SCOPE,
             std::string{"a "} + c.current->kind + " may read outer variables but not assign them",
             loc, {declared(*v)});
    }
    // The variable keeps its own order of dimensions; the innermost known value tells which.
    for (auto it = v->stack.rbegin(); it != v->stack.rend(); ++it) {
        if (auto *known = c.resolve(it->definition)) {
            auto *fitted = fit_dims(c, value, known->type()->dims, loc);
            if (!fitted) {
                fail(ErrorKind::SHAPE,
                     "assigned a tile of shape " + ir::extents_text(*value->type()) +
                         " to a variable of shape " + ir::extents_text(*known->type()) +
                         (value->type()->rank() == known->type()->rank() ? " with other dimensions"
                                                                         : "") +
                         "; a variable keeps its dimensions, declare a new one",
                     loc, {declared(*v)});
            }
            value = fitted;
            break;
        }
    }
    auto &entry = v->stack.back();
    entry.definition = value;
    entry.written = true;
    entry.moved = false;
}

Variable *snapshot(const Variable *source, SourceLoc loc) {
    auto &entry = source->stack.back();
    if (!entry.definition && !entry.moved) {
        return declare(nullptr, loc);
    }
    return declare(read(source, loc), loc);
}

Variable *transfer(Variable *source, SourceLoc loc) noexcept {
    // The new object takes over scope and entries: a vector that grows inside a body keeps the scope of
    // its elements.
    auto *v = new Variable(*source);
    v->references = 1;
    v->alive = true;
    v->declared = source->declared.known() ? source->declared : loc;
    for (size_t i = 1; i < v->stack.size(); ++i) {
        v->stack[i].region->touched.push_back(v);
        ++v->references;
    }
    auto *c = current_or_null();
    if (c && c->id == source->capture) {
        v->serial = c->next_serial++;
        if (source->scope->open) {
            touch(*c, v);
            touch(*c, source);
            v->stack.back() = source->stack.back();
            auto &entry = source->stack.back();
            entry.definition = nullptr;
            entry.moved = true;
            entry.written = true;
        }
    }
    return v;
}

void assign_from(Variable *to, Variable *from) {
    assign(to, read(from, from->declared), from->declared);
}

void close_states(Capture &c, NestRegion &region, bool repeated) {
    region.open = false;
    c.current = region.parent;
    std::vector<Value *> yields;
    std::optional<ir::Dependence> dependence;
    Held held{take_touched(region)};
    for (auto *v : held.variables) {
        auto entry = v->stack.back();
        v->stack.pop_back();
        auto *initial = c.resolve(v->stack.back().definition);
        auto *forward = entry.forward;
        bool became_argument = forward && c.replaced.count(forward);
        if (!v->alive) {
            if (forward && !became_argument) {
                if (entry.written && !entry.moved && repeated && forward->has_uses()) {
                    fail(ErrorKind::SCOPE,
                         "a variable declared outside this nest was destroyed inside its body",
                         region.loc, {declared(*v)});
                }
                replace(c, forward, initial);
            }
        } else if (entry.moved && repeated && !v->stack.back().moved) {
            fail(ErrorKind::SCOPE,
                 "a variable declared outside this nest is moved from at the end of its body, "
                 "which may "
                 "run many times; copy it instead",
                 region.loc, {declared(*v)});
        } else if (!entry.bound && (!entry.written || c.resolve(entry.definition) == forward)) {
            if (forward && !became_argument) {
                replace(c, forward, initial);
            }
        } else {
            if (!initial) {
                fail(ErrorKind::SCOPE,
                     std::string{"a variable assigned in this `"} + region.kind +
                         "` has no value before it; give it one (the nest may run zero times)",
                     region.loc, {declared(*v)});
            }
            if (became_argument) {
                // A moved variable shares its forwarding value with the one it was moved to.
                auto own = entry;
                own.forward = c.module->add_argument(c.placeholders, initial->type());
                add_state(c, region, *v, own, initial, yields, dependence);
            } else {
                add_state(c, region, *v, entry, initial, yields, dependence);
            }
        }
    }
    // Values that were resolved before a later placeholder was replaced are looked up again.
    for (auto *&value : yields) {
        value = c.resolve(value);
    }
    auto *yield = c.module->create(ir::Opcode::YIELD, yields, {}, ir::None{}, region.loc);
    c.module->append(region.region, yield);
    c.builder.set_region(c.current->region);
}

void close_plain(Capture &c, NestRegion &region) {
    region.open = false;
    c.current = region.parent;
    for (auto *v : take_touched(region)) {
        auto entry = v->stack.back();
        v->stack.pop_back();
        if (entry.forward && !c.replaced.count(entry.forward)) {
            replace(c, entry.forward, c.resolve(v->stack.back().definition));
        }
        release(v);
    }
    c.builder.set_region(c.current->region);
}

// if_: each branch gives its written variables; the sides are merged after both.

static std::vector<std::pair<Variable *, Entry>> pop_branch(Capture &c) {
    auto &region = *c.current;
    region.open = false;
    c.current = region.parent;
    std::vector<std::pair<Variable *, Entry>> written;
    for (auto *v : take_touched(region)) {
        auto entry = v->stack.back();
        v->stack.pop_back();
        if (entry.forward && !c.replaced.count(entry.forward)) {
            replace(c, entry.forward, c.resolve(v->stack.back().definition));
        }
        if (entry.written && v->alive) {
            written.push_back({v, entry});
        } else {
            release(v);
        }
    }
    return written;
}

void begin_if(Value *condition, SourceLoc loc) {
    auto &c = current(loc);
    auto *op = emit(c, ir::Opcode::IF, {condition}, {}, ir::None{}, loc, 2);
    c.ifs.push_back({op, {}});
    open_region(c, "if_", op, op->body(0), loc);
}

void begin_else() {
    auto &c = *current_or_null();
    auto &open = c.ifs.back();
    open.then_written = pop_branch(c);
    open_region(c, "if_", open.op, open.op->body(1), open.op->loc);
}

void end_if() {
    auto &c = *current_or_null();
    auto open = std::move(c.ifs.back());
    c.ifs.pop_back();
    auto else_written = pop_branch(c);
    Held held{{}};
    for (auto *written : {&open.then_written, &else_written}) {
        for (auto &[v, entry] : *written) {
            held.variables.push_back(v);
        }
    }
    c.builder.set_region(c.current->region);
    struct Sides {
        Variable *variable = nullptr;
        const Entry *entry[2]{};
    };
    std::map<uint64_t, Sides> all;
    for (auto &[v, entry] : open.then_written) {
        all[v->serial].variable = v;
        all[v->serial].entry[0] = &entry;
    }
    for (auto &[v, entry] : else_written) {
        all[v->serial].variable = v;
        all[v->serial].entry[1] = &entry;
    }
    std::vector<Value *> yields[2];
    for (auto &[serial, sides] : all) {
        auto *v = sides.variable;
        touch(c, v);
        auto &outer = v->stack.back();
        Value *value[2]{};
        for (size_t i = 0; i < 2; ++i) {
            value[i] = c.resolve(sides.entry[i] ? sides.entry[i]->definition : outer.definition);
        }
        outer.written = true;
        if (!value[0] || !value[1]) {
            // Defined on one path only: undefined after.
            outer.definition = nullptr;
            outer.moved = (sides.entry[0] && sides.entry[0]->moved) ||
                          (sides.entry[1] && sides.entry[1]->moved);
            continue;
        }
        // Both sides agree on order: that of the first.
        if (value[0]->type() != value[1]->type()) {
            auto *here = c.current;
            c.builder.set_region(open.op->body(1));
            auto *fitted = fit_dims(c, value[1], value[0]->type()->dims, open.op->loc);
            c.builder.set_region(here->region);
            if (!fitted) {
                fail(ErrorKind::SHAPE, "the branches of if_ give this variable different shapes",
                     open.op->loc, {declared(*v)});
            }
            value[1] = fitted;
        }
        yields[0].push_back(value[0]);
        yields[1].push_back(value[1]);
        outer.definition = c.module->add_result(open.op, value[0]->type());
    }
    for (size_t i = 0; i < 2; ++i) {
        c.module->append(open.op->body(i), c.module->create(ir::Opcode::YIELD, yields[i], {},
                                                            ir::None{}, open.op->loc));
    }
}

}// namespace luisa::tile::core
