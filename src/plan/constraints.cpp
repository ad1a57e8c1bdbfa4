// SPDX-License-Identifier: Apache-2.0
#include "plan/constraints.h"

#include "layout/expression.h"
#include "layout/proved.h"

#include <luisa/tile/layout_ops.h>

#include <algorithm>

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

const char *spelling(ExecLevel level) {
    static constexpr const char *names[] = {"exec::infer",    "exec::cluster", "exec::block",
                                            "exec::subgroup", "exec::thread",  "exec::core",
                                            "exec::vector"};
    return names[static_cast<size_t>(level)];
}

const char *spelling(MemoryClass kind) {
    static constexpr const char *names[] = {"mem::auto_",   "mem::private_", "mem::shared",
                                            "mem::cluster", "mem::global",   "mem::tensor"};
    return names[static_cast<size_t>(kind)];
}

class Constraints {
public:
    Constraints(bool tasks, bool team) : _tasks{tasks}, _team{team} {}

    void check(const ir::Region &region, bool root) {
        for (auto *op : region) {
            if (op->opcode() == Opcode::PARALLEL) {
                level(*op, root);
                order(*op, root);
            } else if (op->opcode() == Opcode::MEMORY_ALLOC) {
                resource(*op);
                places(*op);
            } else if (ir::info(op->opcode()).family == ir::Family::MATH) {
                tier(*op);
            }
            for (auto *inner : op->regions()) {
                check(*inner, false);
            }
        }
    }

private:
    /// Instances are claimed in the order of tasks, whose number a CPU turns into coordinates.
    void order(const ir::Operation &nest, bool root) const {
        const auto &text = nest.get<ir::NestPayload>().layout;
        if (text.empty()) {
            return;
        }
        if (!root || !_tasks) {
            throw UnsupportedError{
                std::string{
                    "exec::layout: a CPU orders the instances of a root `parallel` only, "} +
                    (root ? "and this root is one task, for it holds values that its nests share"
                          : "and runs those inside of a task one after another") +
                    "; use exec::infer",
                nest.loc};
        }
        auto back = try_inverse(core::proved_map(text)->map);
        if (!back || !is_code(*back)) {
            throw UnsupportedError{"exec::layout: a CPU needs the inverse of the map as an "
                                   "expression, to find the instance of a task; that of " +
                                       text + " is none; use digits or bits in another order",
                                   nest.loc};
        }
    }

    /// Whether a map is expressions without divisors that may be zero: lanes beyond a loop's end evaluate it too.
    static bool is_code(const IndexMap &map) {
        std::vector<IndexExpr> at;
        for (size_t i = 0; i < map.domain().rank(); ++i) {
            at.push_back(IndexExpr::coordinate(i));
        }
        auto images = core::expression_form(map, at);
        return images && std::all_of(images->begin(), images->end(), [](const IndexExpr &e) {
                   return divides_by_constants(e.node());
               });
    }
    static bool divides_by_constants(const core::ExprNode &e) {
        std::string_view name = e.op ? e.op->name : "";
        bool divides = name == "div" || name == "mod" || name == "shl" || name == "shr";
        if (divides && (e.operands[1]->kind != core::ExprNode::Kind::CONSTANT ||
                        e.operands[1]->value < (name == "div" || name == "mod" ? 1 : 0))) {
            return false;
        }
        return std::all_of(e.operands.begin(), e.operands.end(),
                           [](const auto &operand) { return divides_by_constants(*operand); });
    }

    static void places(const ir::Operation &alloc) {
        const auto &text = alloc.get<ir::AllocPayload>().layout;
        if (!text.empty() && !is_code(core::proved_map(text)->map)) {
            throw UnsupportedError{
                "memory: a CPU computes places by expressions whose divisors are "
                "constants, and the layout " +
                    text.substr(0, 60) + (text.size() > 60 ? "…" : "") +
                    " is none; use strides, digits or bits",
                alloc.loc};
        }
    }

    void level(const ir::Operation &nest, bool root) const {
        auto wanted = nest.get<ir::NestPayload>().exec;
        if (wanted == ExecLevel::INFER || (wanted == ExecLevel::CORE && root && _tasks && !_team) ||
            (wanted == ExecLevel::BLOCK && root && _tasks && _team)) {
            return;
        }
        if (_team) {
            throw UnsupportedError{std::string{spelling(wanted)} +
                                       ": the instances of a root `parallel` are blocks of a GPU, "
                                       "and no other nest has a level of its own yet; use "
                                       "exec::infer",
                                   nest.loc};
        }
        std::string text = spelling(wanted);
        if (wanted == ExecLevel::CORE) {
            text += !root ? ": the tasks of a CPU's cores are the instances of a root `parallel`, "
                            "and hold no tasks of their own"
                          : ": the root holds values that its nests share, so that the kernel is "
                            "one task of one core";
        } else if (wanted == ExecLevel::VECTOR) {
            text += ": a CPU's vectors hold elements of tiles, not instances of `parallel`";
        } else {
            text += ": a CPU has cores and vectors, and no such level";
        }
        throw UnsupportedError{text + "; use exec::infer", nest.loc};
    }

    void resource(const ir::Operation &alloc) const {
        auto kind = alloc.get<ir::AllocPayload>().kind;
        if (_team && (kind == MemoryClass::CLUSTER || kind == MemoryClass::TENSOR)) {
            throw UnsupportedError{std::string{spelling(kind)} +
                                       ": blocks have no such memory yet; use mem::auto_ or "
                                       "mem::shared",
                                   alloc.loc};
        }
        if (_team) {
            return;
        }
        if (kind == MemoryClass::SHARED || kind == MemoryClass::CLUSTER ||
            kind == MemoryClass::TENSOR) {
            throw UnsupportedError{std::string{spelling(kind)} +
                                       ": a CPU has no such memory; use mem::auto_, mem::private_ "
                                       "or mem::global",
                                   alloc.loc};
        }
    }

    static void tier(const ir::Operation &op) {
        if (op.get<ir::MathPayload>().tier == MathTier::EXACT) {
            throw UnsupportedError{std::string{op.name()} +
                                       " at MathTier::EXACT: no correctly rounded form exists yet; "
                                       "MathTier::STRICT keeps within the bound of "
                                       "docs/numerics.md",
                                   op.loc};
        }
    }

    bool _tasks, _team;
};

}// namespace

void check_constraints(const ir::Module &module, bool tasks, bool team) {
    Constraints{tasks, team}.check(*module.kernel()->body, true);
}

}// namespace luisa::tile::plan
