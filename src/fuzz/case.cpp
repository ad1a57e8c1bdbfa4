// SPDX-License-Identifier: Apache-2.0
#include "fuzz/case.h"

#include "ir/clone.h"
#include "ir/text.h"
#include "types/constant.h"

#include <cstring>
#include <sstream>

namespace luisa::tile::fuzz {

namespace {

constexpr const char *argument_mark = "// argument ";
constexpr const char *settings_mark = "// settings ";
constexpr const char *kernel_mark = "// then";

std::string hex(const std::vector<uint8_t> &bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (auto b : bytes) {
        text += digits[b >> 4];
        text += digits[b & 15];
    }
    return text.empty() ? "-" : text;
}

std::vector<uint8_t> from_hex(const std::string &text) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; text != "-" && i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

void write_input(std::ostream &out, const Input &input) {
    out << argument_mark << to_string(input.type);
    if (!input.is_view) {
        out << " scalar " << input.scalar_bits << "\n";
        return;
    }
    out << " view " << input.extents.size();
    for (auto e : input.extents) {
        out << " " << e;
    }
    for (auto s : input.strides) {
        out << " " << s;
    }
    out << " " << input.origin << " "
        << (input.alias < 0 ? hex(input.bytes) : "=" + std::to_string(input.alias)) << "\n";
}

Input read_input(std::istream &in) {
    Input input;
    std::string type, kind, bytes;
    in >> type >> kind;
    if (!parse_scalar_type(type, input.type)) {
        throw ValueError{"a saved program has an argument of type '" + type + "'"};
    }
    input.is_view = kind == "view";
    if (!input.is_view) {
        in >> input.scalar_bits;
        return input;
    }
    size_t rank = 0;
    in >> rank;
    input.extents.resize(std::min<size_t>(rank, 64));
    input.strides.resize(input.extents.size());
    for (auto &e : input.extents) {
        in >> e;
    }
    for (auto &s : input.strides) {
        in >> s;
    }
    in >> input.origin >> bytes;
    if (!bytes.empty() && bytes[0] == '=') {
        input.alias = std::stoi(bytes.substr(1));
    } else {
        input.bytes = from_hex(bytes);
    }
    return input;
}

}// namespace

Case Case::copy() const {
    Case other{{}, inputs, settings, features};
    for (const auto &kernel : kernels) {
        other.kernels.push_back(ir::clone(*kernel));
    }
    return other;
}

std::string to_text(const Case &c) {
    std::ostringstream out;
    out << "// SPDX-License-Identifier: Apache-2.0\n";
    out << settings_mark << (c.settings.cpu.empty() ? "host" : c.settings.cpu) << " "
        << c.settings.threads << " " << c.settings.may_alias << " " << c.settings.backwards << " "
        << c.settings.vector_bytes << " " << c.settings.small_caches << " " << c.settings.device
        << "\n";
    for (const auto &input : c.inputs) {
        write_input(out, input);
    }
    for (const auto &kernel : c.kernels) {
        out << (&kernel == c.kernels.data() ? "" : std::string{kernel_mark} + "\n")
            << ir::print(*kernel);
    }
    return out.str();
}

Case from_text(const std::string &text, const std::string &file_name) {
    Case c;
    std::istringstream lines{text};
    // Each begins with an empty line for each one before it, so that errors name lines of the file.
    std::vector<std::string> kernels(1);
    size_t number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
        if (line == kernel_mark) {
            kernels.emplace_back(number, '\n');
        }
        kernels.back() += line + "\n";
        if (line.rfind(argument_mark, 0) == 0) {
            std::istringstream in{line.substr(std::strlen(argument_mark))};
            c.inputs.push_back(read_input(in));
        } else if (line.rfind(settings_mark, 0) == 0) {
            std::istringstream in{line.substr(std::strlen(settings_mark))};
            in >> c.settings.cpu >> c.settings.threads >> c.settings.may_alias >>
                c.settings.backwards >> c.settings.vector_bytes >> c.settings.small_caches;
            c.settings.cpu = c.settings.cpu == "host" ? "" : c.settings.cpu;
            // Older files do not name one.
            if (std::string device; in >> device) {
                c.settings.device = device;
            }
        }
    }
    for (const auto &input : c.inputs) {
        auto count = static_cast<int>(c.inputs.size());
        if (input.alias >= count ||
            (input.alias >= 0 && c.inputs[static_cast<size_t>(input.alias)].alias >= 0)) {
            throw ValueError{"'" + file_name + "' has a view of an argument that has no bytes"};
        }
    }
    for (const auto &kernel : kernels) {
        c.kernels.push_back(ir::parse(kernel, file_name));
        if (c.inputs.size() != c.kernels.back()->kernel()->body->arguments().size()) {
            throw ValueError{"'" + file_name + "' has " + std::to_string(c.inputs.size()) +
                             " argument lines, expected one a parameter"};
        }
    }
    return c;
}

std::string element_text(const Input &view, size_t index) {
    uint64_t bits = 0;
    std::memcpy(&bits, view.bytes.data() + index * size_of(view.type), size_of(view.type));
    return print_constant(view.type, bits);
}

}// namespace luisa::tile::fuzz
