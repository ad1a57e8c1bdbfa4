// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace luisa::tile::interpreter {

using ir::Opcode;

namespace {

struct HandlerRow {
    Opcode op;
    Handler run;
};

constexpr HandlerRow handlers[] = {
    {Opcode::PARALLEL, run_parallel},
    {Opcode::SERIAL, run_serial},
    {Opcode::PIPELINE, run_serial},
    {Opcode::REDUCE, run_reduce},
    {Opcode::IF, run_if},
    {Opcode::WHILE, run_while},
    {Opcode::MAP, run_map},
    {Opcode::CONSTANT, run_constant},
    {Opcode::IOTA, run_iota},
    {Opcode::BROADCAST, run_broadcast},
    {Opcode::RETYPE, run_retype},
    {Opcode::PER, run_retype},
    {Opcode::SORTED, run_retype},
    {Opcode::MEMORY_ALLOC, run_memory_alloc},
    {Opcode::EXTRACT, run_extract},
    {Opcode::INSERT, run_insert},
    {Opcode::REDUCE_EXPR, run_reduce_expression},
    {Opcode::SCAN, run_scan},
    {Opcode::MMA, run_mma},
    {Opcode::EXTENT, run_extent},
    {Opcode::LOAD, run_load},
    {Opcode::STORE, run_store},
    {Opcode::ATOMIC, run_atomic},
    {Opcode::ASSERT, run_assert},
    {Opcode::PRINT, run_print},
};

Handler handler_of(Opcode op) {
    if (ir::is_elementwise(op)) {
        return run_elementwise;
    }
    for (const auto &row : handlers) {
        if (row.op == op) {
            return row.run;
        }
    }
    internal_error(std::string{"the interpreter does not know "} + to_string(op));
}

/// The box that an operation walks over.
std::vector<ir::DimExtent> walked_dims(const ir::Operation *op) {
    switch (op->opcode()) {
        case Opcode::STORE: return op->get<ir::StorePayload>().box;
        case Opcode::INSERT: {
            if (!op->get<ir::AccessPayload>().box.empty()) {
                return op->operand(1)->type()->dims;
            }
            // The dimensions of x that no coordinate addresses.
            std::vector<ir::DimExtent> dims;
            for (const auto &d : op->operand(0)->type()->dims) {
                const auto &addressed = op->get<ir::AccessPayload>().dims;
                if (std::find(addressed.begin(), addressed.end(), d.dim) == addressed.end()) {
                    dims.push_back(d);
                }
            }
            return dims;
        }
        default:
            return op->result_count() == 1 && !ir::is_nest(op->opcode())
                       ? op->result()->type()->dims
                       : std::vector<ir::DimExtent>{};
    }
}

class Preparer {
public:
    [[nodiscard]] Block block(const ir::Region *region) {
        Block block;
        for (auto *argument : region->arguments()) {
            block.arguments.push_back(slot(argument));
        }
        for (auto *op : *region) {
            switch (op->opcode()) {
                case Opcode::STAGE: break;
                case Opcode::YIELD: block.yields = slots(op->operands()); break;
                case Opcode::CONDITION:
                    block.condition = op;
                    block.condition_value = slot(op->operand(0));
                    block.condition_position = block.steps.size();
                    break;
                default:
                    if (!_deferred.contains(op)) {
                        block.steps.push_back(step(op));
                    }
            }
        }
        return block;
    }
    [[nodiscard]] Slot slot_count() const noexcept { return static_cast<Slot>(_slots.size()); }

private:
    Slot slot(const ir::Value *value) {
        return _slots.emplace(value, static_cast<Slot>(_slots.size())).first->second;
    }
    std::vector<Slot> slots(const std::vector<ir::Value *> &values) {
        std::vector<Slot> result;
        for (auto *value : values) {
            result.push_back(slot(value));
        }
        return result;
    }
    Step step(const ir::Operation *op) {
        Step step;
        step.op = op;
        step.run = handler_of(op->opcode());
        if (ir::info(op->opcode()).family == ir::Family::MATH &&
            op->get<ir::MathPayload>().tier == MathTier::EXACT) {
            throw UnsupportedError{std::string{op->name()} +
                                       " at MathTier::EXACT: no correctly rounded form exists yet; "
                                       "MathTier::STRICT keeps within the bound of "
                                       "docs/numerics.md",
                                   op->loc};
        }
        step.operands = slots(op->operands());
        auto dims = walked_dims(op);
        step.extents = extents_of(dims);
        for (size_t i = 0; i < op->operand_count(); ++i) {
            const auto &type = *op->operand(i)->type();
            step.accesses.push_back(
                type.is_tile() ? Access{strides_along(dims, type), type.dims == dims} : Access{});
        }
        if (op->opcode() == Opcode::INSERT) {
            auto *x = op->operand(0);
            step.consumes = x->has_one_use() && x->region() == op->region();
        }
        if (op->opcode() == Opcode::PARALLEL) {
            add_chains(step);
        }
        for (auto *region : op->regions()) {
            step.blocks.push_back(block(region));
        }
        step.results = slots(op->results());
        return step;
    }
    // Before the body, so that it leaves out the links which only the collected tile receives.
    void add_chains(Step &parallel) {
        const auto *body = parallel.op->body();
        auto first_state = parallel.op->get<ir::NestPayload>().dims.size();
        first_state += parallel.op->get<ir::NestPayload>().is_range ? 1 : 0;
        for (size_t i = 0; i < parallel.op->result_count(); ++i) {
            // A collective update is what the body yields, inserts or not.
            bool inserts = parallel.op->get<ir::NestPayload>().updates[i] ==
                           ir::AncestorUpdate::INSERT;
            parallel.chains.push_back(inserts ? chain(body, body->argument(first_state + i),
                                                      body->terminator()->operand(i))
                                              : InsertChain{});
        }
    }
    InsertChain chain(const ir::Region *body, const ir::Value *argument, const ir::Value *yielded) {
        std::vector<const ir::Operation *> links;// last first
        const auto *value = yielded;
        while (value->definition() && value->definition()->opcode() == Opcode::INSERT &&
               value->definition()->region() == body) {
            links.push_back(value->definition());
            value = value->definition()->operand(0);
        }
        InsertChain chain;
        chain.recognised = value == argument;
        if (!chain.recognised) {
            return chain;
        }
        for (const auto *op : links) {
            if (!op->result()->has_one_use()) {
                break;// read elsewhere, and so is what it starts from
            }
            _deferred.insert(op);
        }
        for (auto i = links.size(); i-- > 0;) {
            chain.links.push_back(step(links[i]));
        }
        return chain;
    }

    std::unordered_map<const ir::Value *, Slot> _slots;
    std::unordered_set<const ir::Operation *> _deferred;
};

}// namespace

Program prepare(const ir::Function &kernel) {
    Preparer preparer;
    Program program;
    program.body = preparer.block(kernel.body);
    program.slot_count = preparer.slot_count();
    return program;
}

}// namespace luisa::tile::interpreter
