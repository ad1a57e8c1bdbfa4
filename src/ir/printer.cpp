// SPDX-License-Identifier: Apache-2.0
#include "ir/fields.h"
#include "ir/text.h"
#include "types/constant.h"

#include <type_traits>

namespace luisa::tile::ir {

namespace {

/// Writes one module. Values, and dimensions by label, are numbered as they first appear, so the text
/// depends on nothing else.
class Printer {
public:
    explicit Printer(const PrintOptions &options) : _options{options} {}

    PrintedModule print(const Module &module) {
        for (const auto &function : module.functions()) {
            print_function(module.form, function);
        }
        return std::move(_out);
    }

private:
    void print_function(Form form, const Function &function) {
        _values.clear();
        write(form == Form::MACHINE ? "machine @" : "kernel @");
        write(function.name + "(");
        for (size_t i = 0; i < function.body->arguments().size(); ++i) {
            auto *argument = function.body->argument(i);
            write(i ? ", " : "");
            write(value(argument) + ": " + type(*argument->type()));
            if (i < function.parameter_names.size()) {
                write(" \"" + function.parameter_names[i] + "\"");
            }
        }
        write(function.noalias ? ") noalias {" : ") {");
        newline();
        print_body(*function.body);
        write("}");
        newline();
    }

    void print_body(const Region &region) {
        ++_depth;
        for (auto *op : region) {
            print_operation(*op);
        }
        --_depth;
    }

    void print_operation(const Operation &op) {
        _out.lines[&op] = _line;
        write(std::string(static_cast<size_t>(2 * _depth), ' '));
        for (size_t i = 0; i < op.result_count(); ++i) {
            write((i ? ", " : "") + value(op.result(i)));
        }
        write(op.result_count() ? " = " : "");
        write(op.name());
        if (const auto *constant = std::get_if<ConstantPayload>(&op.payload())) {
            write(" " + print_constant(op.result()->scalar(), constant->bits));
        }
        for (size_t i = 0; i < op.operand_count(); ++i) {
            write((i ? ", " : " ") + value(op.operand(i)));
        }
        print_fields(op);
        for (size_t i = 0; i < op.result_count(); ++i) {
            write((i ? ", " : " : ") + type(*op.result(i)->type()));
        }
        for (size_t i = 0; i < op.regions().size(); ++i) {
            print_region(*op.body(i), region_name(op.opcode(), i));
        }
        if (_options.locations && op.loc.known()) {
            write("  // " + to_string(op.loc));
        }
        newline();
    }

    void print_region(const Region &region, std::string_view name) {
        write(name.empty() ? "" : " ");
        write(name);
        write(" {");
        for (size_t i = 0; i < region.arguments().size(); ++i) {
            auto *argument = region.argument(i);
            write((i ? ", " : " ") + value(argument) + ": " + type(*argument->type()));
        }
        write(region.arguments().empty() ? "" : " ->");
        newline();
        print_body(region);
        write(std::string(static_cast<size_t>(2 * _depth), ' ') + "}");
    }

    void print_fields(const Operation &op) {
        std::string fields;
        std::visit(
            [&](auto payload) {
                describe(
                    [&](std::string_view name, const auto &field, const auto &otherwise) {
                        if (!(field == otherwise)) {
                            fields += (fields.empty() ? "" : ", ") + std::string{name} + " = " +
                                      show(field);
                        }
                    },
                    payload);
            },
            op.payload());
        if (!fields.empty()) {
            write(" {" + fields + "}");
        }
    }

    template<class T> std::string show(const T &field) {
        if constexpr (std::is_same_v<T, bool>) {
            return field ? "true" : "false";
        } else if constexpr (std::is_enum_v<T>) {
            return std::string{EnumNames<T>::names[static_cast<size_t>(field)]};
        } else if constexpr (std::is_arithmetic_v<T>) {
            return std::to_string(field);
        } else if constexpr (std::is_same_v<T, std::string>) {
            return quoted(field);
        } else if constexpr (std::is_same_v<T, Dim>) {
            return dim(field);
        } else if constexpr (std::is_same_v<T, DimExtent>) {
            return dim(field.dim) + ":" + std::to_string(field.extent);
        } else {
            std::string list;
            for (const auto &element : field) {
                list += (list.empty() ? "" : " ") + show(element);
            }
            return "[" + list + "]";
        }
    }

    static std::string quoted(const std::string &text) {
        std::string out = "\"";
        for (char c : text) {
            if (c == '"' || c == '\\') {
                out += '\\';
            }
            out += c;
        }
        return out + "\"";
    }

    std::string type(const Type &t) {
        switch (t.kind) {
            case TypeKind::POINTER: return "ptr";
            case TypeKind::VECTOR:
                return "<" + std::to_string(t.lanes) + " x " + to_string(t.scalar) + ">";
            case TypeKind::VIEW: return view_type(t);
            case TypeKind::TILE: break;
        }
        if (t.dims.empty()) {
            return to_string(t.scalar);
        }
        std::string text = std::string{"tile<"} + to_string(t.scalar) + ",";
        for (const auto &d : t.dims) {
            text += " " + dim(d.dim) + ":" + std::to_string(d.extent);
        }
        return text + ">";
    }

    static std::string view_type(const Type &t) {
        std::string text = std::string{"view<"} + (t.read_only ? "const " : "") +
                           to_string(t.scalar);
        for (size_t i = 0; i < t.axes.size(); ++i) {
            const auto &axis = t.axes[i];
            text += (i ? " x " : ", ");
            text += axis.extent == runtime_value ? "?" + axis.name : std::to_string(axis.extent);
        }
        for (size_t i = 0; i < t.strides.size(); ++i) {
            text += i ? " x " : ", strides ";
            text += t.strides[i] == runtime_value ? "?" : std::to_string(t.strides[i]);
        }
        return text + ">";
    }

    /// Labels are made unique in order of appearance: m, m.1, m.2.
    std::string dim(Dim d) {
        if (d.is_positional()) {
            return "#" + std::to_string(d.id);
        }
        auto &name = _dims[d.id];
        if (name.empty()) {
            std::string label;
            for (const char *c = d.label; *c; ++c) {
                bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
                             (*c >= '0' && *c <= '9' && !label.empty());
                label += plain ? *c : '_';
            }
            label = label.empty() ? "d" : label;
            auto count = _labels[label]++;
            name = count ? label + "." + std::to_string(count) : label;
        }
        return name;
    }

    std::string value(const Value *v) {
        auto [found, fresh] = _values.emplace(v, _values.size());
        (void)fresh;
        return "%" + std::to_string(found->second);
    }

    void write(std::string_view text) { _out.text += text; }
    void newline() {
        _out.text += '\n';
        ++_line;
    }

    PrintOptions _options;
    PrintedModule _out;
    uint32_t _line = 1;
    int _depth = 0;
    std::unordered_map<const Value *, size_t> _values;
    std::unordered_map<uint32_t, std::string> _dims;
    std::unordered_map<std::string, int> _labels;
};

}// namespace

PrintedModule print_with_lines(const Module &module, const PrintOptions &options) {
    return Printer{options}.print(module);
}

std::string print(const Module &module, const PrintOptions &options) {
    return print_with_lines(module, options).text;
}

}// namespace luisa::tile::ir
