// SPDX-License-Identifier: Apache-2.0
#include "ir/initialisation.h"

#include <algorithm>
#include <unordered_map>

namespace luisa::tile::ir {

namespace {

/// Why a value may hold nothing yet.
struct Empty {
    const Operation *alloc = nullptr, *skipped = nullptr;
};

bool constant_of(const Value *value, int64_t &out) {
    auto *op = value->definition();
    if (!op || op->opcode() != Opcode::CONSTANT) {
        return false;
    }
    out = static_cast<int64_t>(op->get<ConstantPayload>().bits);
    return true;
}

/// Whether a nest certainly has an iteration.
bool surely_runs(const Operation &nest) {
    const auto &payload = nest.get<NestPayload>();
    if (payload.is_range) {
        int64_t begin = 0, end = 0, step = 0;
        return constant_of(nest.operand(0), begin) && constant_of(nest.operand(1), end) &&
               constant_of(nest.operand(2), step) && (step > 0 ? begin < end : begin > end);
    }
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        int64_t extent = 0;
        if (!constant_of(nest.operand(i), extent) || extent < 1) {
            return false;
        }
    }
    return true;
}

class Walk {
public:
    std::optional<EarlyRead> run(const Region &body) {
        region(body);
        return _found;
    }

private:
    [[nodiscard]] const Empty *empty(const Value *value) const {
        auto found = _empty.find(value);
        return found == _empty.end() ? nullptr : &found->second;
    }

    void region(const Region &region) {
        for (auto *op : region) {
            if (_found) {
                return;
            }
            operation(*op);
        }
    }

    void operation(const Operation &op) {
        if (op.opcode() == Opcode::MEMORY_ALLOC) {
            _empty[op.result()] = {&op, nullptr};
            return;
        }
        if (op.opcode() == Opcode::YIELD) {
            return;
        }
        bool loop = is_nest(op.opcode()) || op.opcode() == Opcode::WHILE;
        size_t lead = loop ? op.operand_count() - op.result_count() : op.operand_count();
        for (size_t i = 0; i < lead; ++i) {
            bool replaced = op.opcode() == Opcode::INSERT && i == 0;
            if (const auto *why = empty(op.operand(i)); why && !replaced) {
                _found = EarlyRead{&op, why->alloc, why->skipped};
                return;
            }
        }
        if (loop) {
            this->loop(op, lead);
            return;
        }
        for (auto *inner : op.regions()) {
            region(*inner);
        }
        if (op.opcode() == Opcode::IF && !_found) {
            branches(op);
        }
    }

    /// The first iteration finds what came in; the others find more.
    void loop(const Operation &op, size_t lead) {
        const auto &body = *op.body();
        size_t indices = body.arguments().size() - op.result_count();
        for (size_t i = 0; i < op.result_count(); ++i) {
            if (const auto *why = empty(op.operand(lead + i))) {
                _empty[body.argument(indices + i)] = *why;
            }
        }
        region(body);
        if (_found) {
            return;
        }
        bool runs = is_nest(op.opcode()) && surely_runs(op);
        for (size_t i = 0; i < op.result_count(); ++i) {
            const auto *before = empty(op.operand(lead + i));
            const auto *after = empty(body.terminator()->operand(i));
            if (before && after) {
                _empty[op.result(i)] = *after;
            } else if (before && !runs) {
                _empty[op.result(i)] = {before->alloc, &op};
            }
        }
    }

    void branches(const Operation &op) {
        for (size_t i = 0; i < op.result_count(); ++i) {
            for (auto *region : op.regions()) {
                if (const auto *why = empty(region->terminator()->operand(i))) {
                    _empty[op.result(i)] = *why;
                }
            }
        }
    }

    std::unordered_map<const Value *, Empty> _empty;
    std::optional<EarlyRead> _found;
};

}// namespace

std::optional<EarlyRead> find_early_read(const Module &module) {
    if (module.form != Form::CANDIDATE || module.functions().size() != 1) {
        return std::nullopt;
    }
    return Walk{}.run(*module.kernel()->body);
}

}// namespace luisa::tile::ir
