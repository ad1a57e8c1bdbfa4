// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/check.h>

#include "frontend/capture.h"
#include "frontend/view_checks.h"
#include "ir/check_operations.h"

namespace luisa::tile::core {

using ir::Opcode;

namespace {

void check_text(const char *what, const std::string &text, SourceLoc loc) {
    if (text.find('\n') != std::string::npos) {
        fail(ErrorKind::VALUE, std::string{what} + " is one line of text", loc);
    }
}

/// The capture, where a launch can be told something: everywhere but in pure bodies.
Capture &reporting_capture(const char *what, SourceLoc loc) {
    auto &c = current(loc);
    check_effect_allowed(c, what, loc);
    return c;
}

Value *index_constant(int64_t value, SourceLoc loc) {
    return constant(ScalarType::INT64, Literal{Literal::Kind::SIGNED, value, 0, 0}, loc);
}

/// The row-major number of the first element that fails; their count where none does.
Value *first_failure(Capture &c, Value *condition, int64_t count, SourceLoc loc) {
    Value *number = index_constant(0, loc);
    std::vector<Dim> dims;
    int64_t stride = 1;
    const auto &type = *condition->type();
    for (size_t i = type.dims.size(); i-- > 0;) {
        const auto &d = type.dims[i];
        auto *along = emit_value(c, Opcode::IOTA, {}, c.module->tile(ScalarType::INT64, {d}),
                                 ir::None{}, loc);
        number = elementwise(
            "add", {elementwise("mul", {along, index_constant(stride, loc)}, loc), number}, loc);
        stride *= d.extent;
        dims.push_back(d.dim);
    }
    auto *failing = elementwise("ite", {condition, index_constant(count, loc), number}, loc);
    ir::ReducePayload payload;
    payload.reducer = Reducer::MINIMUM;
    payload.dims = std::move(dims);
    return emit_value(c, Opcode::REDUCE_EXPR, {failing}, c.module->scalar(ScalarType::INT64),
                      payload, loc);
}

}// namespace

void assert_that(Value *condition, const std::string &message, SourceLoc loc) {
    auto &c = reporting_capture("an assertion", loc);
    check_text("the message of an assertion", message, loc);
    ir::AssertPayload payload{message, condition->type()->dims};
    std::vector<Value *> operands{condition};
    if (!payload.box.empty()) {
        int64_t count = 1;
        for (const auto &d : payload.box) {
            count *= d.extent;
        }
        if (count == 0) {
            return;
        }
        auto *first = first_failure(c, condition, count, loc);
        operands = {elementwise("ge", {first, index_constant(count, loc)}, loc), first};
    }
    std::vector<Value *> indices;
    for (auto *r = c.current; r; r = r->parent) {
        indices.insert(indices.begin(), r->indices.begin(), r->indices.end());
    }
    operands.insert(operands.end(), indices.begin(), indices.end());
    emit(c, Opcode::ASSERT, operands, {}, std::move(payload), loc);
}

void print_line(const std::string &format, const std::vector<Value *> &values, SourceLoc loc) {
    auto &c = reporting_capture("a print", loc);
    check_text("the format of print", format, loc);
    auto places = ir::count_places(format);
    if (places != values.size()) {
        fail(ErrorKind::VALUE,
             "print: the format has " + std::to_string(places) + " places {}, and " +
                 std::to_string(values.size()) + " values are given",
             loc);
    }
    emit(c, Opcode::PRINT, values, {}, ir::PrintPayload{format}, loc);
}

}// namespace luisa::tile::core
