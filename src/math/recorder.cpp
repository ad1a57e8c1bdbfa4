// SPDX-License-Identifier: Apache-2.0
#include "math/recorder.h"

#include <algorithm>

#include "core/internal_error.h"

namespace luisa::tile::math {

namespace {

thread_local Recorder *active = nullptr;

bool same(const Instruction &a, const Instruction &b) {
    return a.op == b.op && a.kind == b.kind && a.immediate == b.immediate &&
           std::equal(a.operands, a.operands + 3, b.operands);
}

std::vector<bool> needed(const Program &program, uint16_t result) {
    std::vector<bool> live(program.instructions.size());
    live[result] = true;
    for (size_t i = live.size(); i-- > 0;) {
        const Instruction &in = program.instructions[i];
        for (int k = 0; live[i] && k < operand_count(in.op); k++) {
            live[in.operands[k]] = true;
        }
    }
    return live;
}

}// namespace

Recorder::Recorder() : _previous{active} { active = this; }

Recorder::~Recorder() { active = _previous; }

Recorder &Recorder::current() {
    require(active != nullptr, "a math function is recorded without a recorder");
    return *active;
}

uint16_t Recorder::emit(Op op, Kind kind, uint16_t a, uint16_t b, uint16_t c, uint64_t immediate) {
    Instruction in{op, kind, {a, b, c}, immediate};
    for (size_t i = 0; i < _program.instructions.size(); i++) {
        const Instruction &old = _program.instructions[i];
        if (same(old, in)) {
            return static_cast<uint16_t>(i);
        }
    }
    _program.instructions.push_back(in);
    return static_cast<uint16_t>(_program.instructions.size() - 1);
}

uint16_t Recorder::table(const std::vector<uint32_t> &table, uint16_t index) {
    auto at = std::find(_tables.begin(), _tables.end(), &table);
    auto id = static_cast<uint64_t>(at - _tables.begin());
    if (at == _tables.end()) {
        _tables.push_back(&table);
        _program.tables.push_back(table);
    }
    return emit(Op::TABLE, Kind::I32, index, 0, 0, id);
}

Program Recorder::finish(uint16_t result) const {
    std::vector<bool> live = needed(_program, result);
    std::vector<uint16_t> renumbered(live.size());
    Program out;
    out.tables = _program.tables;
    for (size_t i = 0; i < live.size(); i++) {
        if (!live[i]) {
            continue;
        }
        Instruction in = _program.instructions[i];
        for (int k = 0; k < operand_count(in.op); k++) {
            in.operands[k] = renumbered[in.operands[k]];
        }
        renumbered[i] = static_cast<uint16_t>(out.instructions.size());
        out.instructions.push_back(in);
    }
    out.result = renumbered[result];
    return out;
}

}// namespace luisa::tile::math
