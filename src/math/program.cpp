// SPDX-License-Identifier: Apache-2.0
#include "math/program.h"

#include <cstdio>
#include <iterator>

namespace luisa::tile::math {

namespace {

struct OpRow {
    const char *name;
    int operands;
};

constexpr OpRow op_rows[] = {
    {"argument", 0},    {"constant", 0},
    {"add", 2},         {"sub", 2},
    {"mul", 2},         {"div", 2},
    {"fma", 3},         {"sqrt", 1},
    {"neg", 1},         {"abs", 1},
    {"rint", 1},        {"floor", 1},
    {"lt", 2},          {"le", 2},
    {"gt", 2},          {"ge", 2},
    {"eq", 2},          {"ne", 2},
    {"select", 3},      {"and", 2},
    {"or", 2},          {"xor", 2},
    {"not", 1},         {"shl", 2},
    {"shr_logical", 2}, {"shr_arithmetic", 2},
    {"bitcast", 1},     {"to_int", 1},
    {"to_float", 1},    {"widen", 1},
    {"narrow", 1},      {"scale", 2},
    {"scale_down", 2},  {"table", 1},
};
static_assert(std::size(op_rows) == static_cast<size_t>(Op::TABLE) + 1);

constexpr const char *kind_names[] = {"f32", "f64", "i32", "i64", "bool"};

}// namespace

int operand_count(Op op) noexcept { return op_rows[static_cast<size_t>(op)].operands; }

const char *to_string(Op op) noexcept { return op_rows[static_cast<size_t>(op)].name; }

const char *to_string(Kind kind) noexcept { return kind_names[static_cast<size_t>(kind)]; }

std::string to_string(const Program &program) {
    std::string text;
    for (size_t i = 0; i < program.instructions.size(); i++) {
        const Instruction &in = program.instructions[i];
        text.append("%").append(std::to_string(i)).append(" = ");
        text.append(to_string(in.op)).append(" ").append(to_string(in.kind));
        for (int k = 0; k < operand_count(in.op); k++) {
            text.append(" %").append(std::to_string(in.operands[k]));
        }
        if (in.op == Op::ARGUMENT || in.op == Op::TABLE) {
            text.append(" #").append(std::to_string(in.immediate));
        } else if (in.op == Op::CONSTANT) {
            char bits[24];
            std::snprintf(bits, sizeof bits, " 0x%llx",
                          static_cast<unsigned long long>(in.immediate));
            text += bits;
        }
        text += "\n";
    }
    return text.append("result %").append(std::to_string(program.result)).append("\n");
}

}// namespace luisa::tile::math
