// SPDX-License-Identifier: Apache-2.0
#include "ir/report.h"

#include "types/constant.h"

namespace luisa::tile::ir {

namespace {

std::string list(std::span<const int64_t> numbers) {
    std::string text = "(";
    for (size_t i = 0; i < numbers.size(); ++i) {
        text += (i ? ", " : "") + std::to_string(numbers[i]);
    }
    return text + ")";
}

std::string printed_line(const Report &report, std::span<const uint64_t> values) {
    std::string line;
    size_t next = 0, at = 0;
    for (auto place = report.text.find("{}"); place != std::string::npos && next < values.size();
         place = report.text.find("{}", at)) {
        line += report.text.substr(at, place - at);
        line += print_constant(report.types.at(next), values[next]);
        ++next;
        at = place + 2;
    }
    return line + report.text.substr(at);
}

std::string assertion_message(const Report &report, std::span<const uint64_t> values) {
    auto text = "assertion failed: " + report.text;
    size_t first_index = report.box.empty() ? 0 : 1;
    std::vector<int64_t> indices;
    for (size_t i = first_index; i < values.size(); ++i) {
        indices.push_back(static_cast<int64_t>(values[i]));
    }
    if (!indices.empty()) {
        text += "; at " + list(indices) + " of the nests around it";
    }
    if (!report.box.empty()) {
        std::vector<int64_t> element(report.box.size());
        auto rest = static_cast<int64_t>(values[0]);
        for (size_t i = report.box.size(); i-- > 0;) {
            auto extent = report.box[i].extent > 0 ? report.box[i].extent : 1;
            element[i] = rest % extent;
            rest /= extent;
        }
        text += (indices.empty() ? "; " : ", ") + std::string{"element "} + list(element);
    }
    return text;
}

}// namespace

Report report_of(const Operation &op) {
    Report report;
    report.is_assertion = op.opcode() == Opcode::ASSERT;
    report.loc = op.loc;
    if (report.is_assertion) {
        report.text = op.get<AssertPayload>().message;
        report.box = op.get<AssertPayload>().box;
    } else {
        report.text = op.get<PrintPayload>().format;
    }
    for (size_t i = report.is_assertion ? 1 : 0; i < op.operand_count(); ++i) {
        report.types.push_back(op.operand(i)->scalar());
    }
    return report;
}

std::string text_of(const Report &report, std::span<const uint64_t> values) {
    return report.is_assertion ? assertion_message(report, values) : printed_line(report, values);
}

}// namespace luisa::tile::ir
