// SPDX-License-Identifier: Apache-2.0
#include "ir/verifier.h"

#include "ir/check_operations.h"
#include "ir/initialisation.h"
#include "ir/text.h"

#include <algorithm>
#include <unordered_set>

namespace luisa::tile::ir {

namespace {

/// Links, dominance and region shapes; the rules of single operations are in check_operations.cpp.
class Structure {
public:
    explicit Structure(const Module &module) : _module{module} {}

    std::vector<Violation> run() {
        if (_module.form == Form::CANDIDATE && _module.functions().size() != 1) {
            _violations.push_back({nullptr, "a Candidate module holds exactly one kernel"});
            return std::move(_violations);
        }
        for (const auto &function : _module.functions()) {
            check_signature(function);
            check_region(*function.body, nullptr);
        }
        return std::move(_violations);
    }

private:
    void fail(const Operation *op, std::string message) {
        _violations.push_back({op, std::move(message)});
    }

    void check_signature(const Function &function) {
        for (auto *argument : function.body->arguments()) {
            bool fits = _module.form == Form::CANDIDATE
                            ? argument->type()->is_view() || argument->type()->is_scalar()
                            : argument->type()->is_pointer() || argument->type()->is_scalar();
            if (!fits) {
                fail(nullptr, "@" + function.name + ": a parameter is neither " +
                                  (_module.form == Form::CANDIDATE ? "a view" : "a pointer") +
                                  " nor a scalar");
            }
        }
    }

    void check_region(const Region &region, const Operation *owner) {
        std::unordered_set<const Value *> defined(region.arguments().begin(),
                                                  region.arguments().end());
        _visible.push_back(std::move(defined));
        for (auto *op : region) {
            check_operation(*op, owner);
            for (auto *result : op->results()) {
                _visible.back().insert(result);
            }
        }
        bool needs_yield = owner != nullptr;
        if (needs_yield && !region.terminator()) {
            fail(owner, "a region of " + std::string{owner->name()} + " does not end in yield");
        }
        auto bodies = owner ? owner->bodies() : std::span<Region *const>{};
        bool gives_results = std::find(bodies.begin(), bodies.end(), &region) != bodies.end();
        if (gives_results && region.terminator()) {
            check_yield(*owner, *region.terminator());
        }
        _visible.pop_back();
    }

    void check_yield(const Operation &owner, const Operation &yield) {
        if (yield.operand_count() != owner.result_count()) {
            fail(&yield, "yields " + std::to_string(yield.operand_count()) + " values, " +
                             owner.name() + " has " + std::to_string(owner.result_count()) +
                             " results");
            return;
        }
        for (size_t i = 0; i < yield.operand_count(); ++i) {
            const auto *expected = owner.result(i)->type(), *got = yield.operand(i)->type();
            bool fits = owner.opcode() == Opcode::MAP
                            ? got->is_scalar() && got->scalar == expected->scalar
                            : got == expected;
            if (!fits) {
                fail(&yield,
                     "yielded value " + std::to_string(i) + " has another type than the result");
            }
        }
    }

    void check_operation(const Operation &op, const Operation *owner) {
        for (size_t i = 0; i < op.operand_count(); ++i) {
            bool visible = std::any_of(_visible.begin(), _visible.end(), [&](const auto &set) {
                return set.count(op.operand(i)) != 0;
            });
            if (!visible) {
                fail(&op,
                     "operand " + std::to_string(i) + " is used before or outside its definition");
                return;
            }
        }
        const auto &row = info(op.opcode());
        if (row.arity != variadic && op.operand_count() != static_cast<size_t>(row.arity)) {
            fail(&op, "takes " + std::to_string(row.arity) + " operands, has " +
                          std::to_string(op.operand_count()));
            return;
        }
        if (op.opcode() == Opcode::YIELD && op.next()) {
            fail(&op, "yield stands before the end of its region");
        }
        std::string message;
        if (!check_rules(_module, op, owner, message)) {
            fail(&op, std::move(message));
            return;
        }
        auto before = _violations.size();
        for (auto *region : op.regions()) {
            check_region(*region, &op);
        }
        bool updates = op.opcode() == Opcode::PARALLEL && _violations.size() == before;
        if (updates && !check_updates(_module, op, message)) {
            fail(&op, std::move(message));
        }
    }

    const Module &_module;
    std::vector<Violation> _violations;
    std::vector<std::unordered_set<const Value *>> _visible;
};

}// namespace

std::vector<Violation> check(const Module &module) {
    auto violations = Structure{module}.run();
    if (violations.empty()) {
        if (auto early = find_early_read(module)) {
            violations.push_back({early->read, "reads memory that nothing was stored to before"});
        }
    }
    return violations;
}

void verify(const Module &module) {
    auto violations = check(module);
    if (violations.empty()) {
        return;
    }
    auto printed = print_with_lines(module);
    auto describe = [&](const Violation &v) {
        auto found = printed.lines.find(v.op);
        if (!v.op || found == printed.lines.end()) {
            return v.message;
        }
        size_t begin = 0;
        for (uint32_t line = 1; line < found->second; ++line) {
            begin = printed.text.find('\n', begin) + 1;
        }
        auto line = printed.text.substr(begin, printed.text.find('\n', begin) - begin);
        auto column = line.find_first_not_of(' ');
        return std::string{v.op->name()} + ": " + v.message + "\n" + std::to_string(found->second) +
               ": " + line + "\n" +
               std::string(std::to_string(found->second).size() + 2 + column, ' ') + "^";
    };
    std::vector<Error::Note> notes;
    for (size_t i = 1; i < violations.size() && i < 10; ++i) {
        notes.push_back(
            {describe(violations[i]), violations[i].op ? violations[i].op->loc : SourceLoc{}});
    }
    const auto &first = violations.front();
    throw VerifyError{describe(first), first.op ? first.op->loc : SourceLoc{}, std::move(notes)};
}

}// namespace luisa::tile::ir
