// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/marked.h"

#include "emit/llvm/emitter.h"
#include "emit/llvm/generate.h"
#include "emit/llvm/target.h"

#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace luisa::tile::emit {

namespace {

bool starts(std::string_view text, std::string_view with) {
    return text.substr(0, with.size()) == with;
}

/// The line in ".loc FILE LINE COLUMN …".
uint32_t line_of(std::string_view directive) {
    auto at = directive.find_first_of(" \t");
    at = directive.find_first_not_of(" \t", at);
    at = directive.find_first_of(" \t", at);
    at = directive.find_first_not_of(" \t", at);
    uint32_t line = 0;
    if (at != std::string_view::npos) {
        std::from_chars(directive.data() + at, directive.data() + directive.size(), line);
    }
    return line;
}

class Reader {
public:
    explicit Reader(const ir::Module &machine) : _machine{machine} {}

    void read(std::string_view text) {
        while (!text.empty()) {
            auto end = text.find('\n');
            line(text.substr(0, end));
            text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        }
    }
    std::vector<MarkedLine> lines;

private:
    void line(std::string_view text) {
        auto first = text.find_first_not_of(" \t");
        if (first == std::string_view::npos || text[first] == '#') {
            return;
        }
        bool indented = first > 0;
        text = text.substr(first);
        if (!indented) {
            label(text);
        } else if (starts(text, ".loc")) {
            _mark = line_of(text);
        } else if (text.front() != '.' && !_function.empty()) {
            instruction(text);
        }
    }

    void label(std::string_view text) {
        auto name = text.substr(0, text.find(':'));
        if (starts(name, ".Lfunc_end")) {
            _function.clear();
        } else if (starts(name, ".LBB") && !_function.empty()) {
            lines.push_back({_function, std::string{name} + ":", 0, true});
            ++_open_labels;
        } else {
            if (name.size() > 1 && name.front() == '"') {
                name = name.substr(1, name.size() - 2);
            }
            for (const auto &function : _machine.functions()) {
                if (function.name == name) {
                    _function = function.name;
                    _mark = 0;
                    _open_labels = 0;
                }
            }
        }
    }

    /// Labels belong to what follows them.
    void instruction(std::string_view text) {
        std::string line{text.substr(0, text.find(" #"))};
        while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) {
            line.pop_back();
        }
        std::replace(line.begin(), line.end(), '\t', ' ');
        for (size_t i = lines.size() - _open_labels; i < lines.size(); ++i) {
            lines[i].mark = _mark;
        }
        _open_labels = 0;
        lines.push_back({_function, std::move(line), _mark, false});
    }

    const ir::Module &_machine;
    std::string _function;
    uint32_t _mark = 0;
    size_t _open_labels = 0;
};

}// namespace

std::vector<MarkedLine> marked_assembly(const ir::Module &machine, const CpuTarget &target) {
    auto tm = borrow_target_machine(target);
    Context context{false};
    Emitter emitter{context, target, *tm->getMCSubtargetInfo()};
    emitter.keep_lines();
    auto module = build(emitter, machine, *tm);
    auto text = generate(context, *module, *tm, llvm::CodeGenFileType::AssemblyFile);
    Reader reader{machine};
    reader.read({text.data(), text.size()});
    return std::move(reader.lines);
}

}// namespace luisa::tile::emit
