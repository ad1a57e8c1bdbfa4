// SPDX-License-Identifier: Apache-2.0
#include "plan/constraints.h"

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
    explicit Constraints(bool tasks) : _tasks{tasks} {}

    void check(const ir::Region &region, bool root) {
        for (auto *op : region) {
            if (op->opcode() == Opcode::PARALLEL) {
                level(*op, root);
            } else if (op->opcode() == Opcode::MEMORY_ALLOC) {
                resource(*op);
            } else if (ir::info(op->opcode()).family == ir::Family::MATH) {
                tier(*op);
            }
            for (auto *inner : op->regions()) {
                check(*inner, false);
            }
        }
    }

private:
    void level(const ir::Operation &nest, bool root) const {
        auto wanted = nest.get<ir::NestPayload>().exec;
        if (wanted == ExecLevel::INFER || (wanted == ExecLevel::CORE && root && _tasks)) {
            return;
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

    static void resource(const ir::Operation &alloc) {
        auto kind = alloc.get<ir::AllocPayload>().kind;
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

    bool _tasks;
};

}// namespace

void check_constraints(const ir::Module &module, bool tasks) {
    Constraints{tasks}.check(*module.kernel()->body, true);
}

}// namespace luisa::tile::plan
