// SPDX-License-Identifier: Apache-2.0
#include "ir/fields.h"
#include "ir/lexer.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "types/constant.h"

#include <charconv>
#include <mutex>
#include <set>
#include <type_traits>

namespace luisa::tile::ir {

namespace {

constexpr size_t largest_text = size_t{64} << 20;
constexpr int deepest_nesting = 256;
constexpr int64_t most_lanes = 1024;

/// Names that outlive every module: file names in locations.
const char *keep(std::string_view text) {
    static std::mutex mutex;
    static std::set<std::string> names;
    std::lock_guard lock{mutex};
    return names.insert(std::string{text}).first->c_str();
}

class Parser {
public:
    Parser(std::string_view text, const char *file) : _lexer{text, file} {}

    std::unique_ptr<Module> run() {
        bool machine = _lexer.at("machine");
        _module = std::make_unique<Module>(machine ? Form::MACHINE : Form::CANDIDATE);
        do {
            _lexer.expect(machine ? "machine" : "kernel");
            function();
        } while (_lexer.peek().kind != TokenKind::END);
        return std::move(_module);
    }

private:
    void function() {
        auto name = _lexer.take();
        if (name.kind != TokenKind::NAME || name.text.size() < 2 || name.text[0] != '@') {
            _lexer.fail("expected a function name such as @gemm", name);
        }
        auto *f = _module->add_function(std::string{name.text.substr(1)},
                                        {_lexer.file(), name.line});
        _values.clear();
        _lexer.expect("(");
        while (!_lexer.at(")")) {
            if (!f->body->arguments().empty()) {
                _lexer.expect(",");
            }
            argument(f->body);
            if (_lexer.peek().kind == TokenKind::STRING) {
                f->parameter_names.resize(f->body->arguments().size());
                f->parameter_names.back() = unescape(_lexer.take().text);
            }
        }
        _lexer.expect(")");
        f->noalias = _lexer.accept("noalias");
        _lexer.expect("{");
        body(f->body);
    }

    void argument(Region *region) {
        auto name = value_name();
        _lexer.expect(":");
        define(name, _module->add_argument(region, type()));
    }

    void body(Region *region) {
        if (++_depth > deepest_nesting) {
            _lexer.fail("regions are nested deeper than " + std::to_string(deepest_nesting));
        }
        while (!_lexer.accept("}")) {
            if (_lexer.peek().kind == TokenKind::END) {
                _lexer.fail("the text ends inside a region");
            }
            operation(region);
        }
        --_depth;
    }

    void operation(Region *region) {
        std::vector<Token> results;
        while (_lexer.peek().kind == TokenKind::NAME && _lexer.peek().text[0] == '%') {
            results.push_back(value_name());
            if (!_lexer.accept(",")) {
                break;
            }
        }
        if (!results.empty()) {
            _lexer.expect("=");
        }
        auto name = _lexer.take();
        Opcode op{};
        if (name.kind != TokenKind::NAME || !parse_opcode(name.text, op)) {
            _lexer.fail("unknown operation '" + std::string{name.text} + "'", name);
        }
        Token literal;
        bool constant = op == Opcode::CONSTANT;
        if (constant) {
            literal = _lexer.take();
        }
        std::vector<Value *> operands;
        // What has neither operands nor results is followed by the names of the next operation's results.
        bool alone = info(op).arity == 0 && results.empty();
        while (!alone && _lexer.peek().kind == TokenKind::NAME && _lexer.peek().text[0] == '%') {
            operands.push_back(use(value_name()));
            if (!_lexer.accept(",")) {
                break;
            }
        }
        auto payload = fields(op);
        std::vector<const Type *> types;
        if (!results.empty()) {
            _lexer.expect(":");
            for (size_t i = 0; i < results.size(); ++i) {
                if (i) {
                    _lexer.expect(",");
                }
                types.push_back(type());
            }
        }
        if (constant) {
            uint64_t bits = 0;
            if (types.size() != 1 || !parse_constant(literal.text, types[0]->scalar, bits)) {
                _lexer.fail("'" + std::string{literal.text} + "' is no constant of its type",
                            literal);
            }
            payload = ConstantPayload{bits};
        }
        auto *operation = _module->create(op, operands, types, std::move(payload),
                                          {_lexer.file(), name.line});
        _module->append(region, operation);
        bool has_regions = info(op).family == Family::REGION ||
                           info(op).family == Family::MACHINE_REGION;
        while (has_regions && _lexer.accept("{")) {
            auto *inner = _module->add_region(operation);
            if (_lexer.peek().kind == TokenKind::NAME && _lexer.peek().text[0] == '%' &&
                begins_arguments()) {
                do {
                    argument(inner);
                } while (_lexer.accept(","));
                _lexer.expect("->");
            }
            body(inner);
            if (!_lexer.accept(region_name(op, operation->regions().size()))) {
                break;
            }
        }
        size_t regions = !has_regions ? 0 : op == Opcode::IF ? 2 : 1;
        bool contract = op == Opcode::REDUCE && operation->regions().size() == 3;
        if (operation->regions().size() != regions && !contract) {
            _lexer.fail(std::string{to_string(op)} + " has " + std::to_string(regions) +
                            " regions" +
                            (op == Opcode::REDUCE ? ", and those of a contract if it has one" : ""),
                        name);
        }
        read_place(*operation);
        for (size_t i = 0; i < results.size(); ++i) {
            define(results[i], operation->result(i));
        }
    }

    /// What `print` with locations writes behind an operation is its place again.
    void read_place(Operation &op) {
        auto text = _lexer.comment();
        auto colon = text.rfind(':');
        if (text.empty() || text.front() != ' ' || colon == std::string_view::npos || colon < 2 ||
            text.find(' ', 1) != std::string_view::npos) {
            return;
        }
        uint32_t line = 0;
        const auto *end = text.data() + text.size();
        auto [rest, error] = std::from_chars(text.data() + colon + 1, end, line);
        if (error == std::errc{} && rest == end && line != 0) {
            op.loc = {keep(text.substr(1, colon - 1)), line};
        }
    }

    /// After '{', `%a: type` begins arguments where `%a = …` or `%a, %b = …` begins an operation.
    bool begins_arguments() {
        auto ahead = _lexer;
        (void)ahead.take();
        return ahead.at(":");
    }

    // Payloads

    Payload fields(Opcode op) {
        Payload payload = default_payload(info(op).payload);
        std::visit(
            [](auto &p) {
                describe(
                    [](std::string_view, auto &field, const auto &otherwise) { field = otherwise; },
                    p);
            },
            payload);
        bool braces = _lexer.at("{") && looks_like_fields();
        if (!braces) {
            return payload;
        }
        _lexer.expect("{");
        do {
            auto name = _lexer.take();
            _lexer.expect("=");
            bool known = false;
            std::visit(
                [&](auto &p) {
                    describe(
                        [&](std::string_view field_name, auto &field, const auto &) {
                            if (field_name == name.text) {
                                known = true;
                                read(field);
                            }
                        },
                        p);
                },
                payload);
            if (!known) {
                _lexer.fail(std::string{to_string(op)} + " has no field '" +
                                std::string{name.text} + "'",
                            name);
            }
        } while (_lexer.accept(","));
        _lexer.expect("}");
        return payload;
    }

    /// `{name = …` is a field list; anything else after '{' belongs to a region.
    bool looks_like_fields() {
        auto ahead = _lexer;
        (void)ahead.take();
        auto name = ahead.take();
        return name.kind == TokenKind::NAME && name.text[0] != '%' && ahead.at("=");
    }

    template<size_t... I> static Payload make(std::index_sequence<I...>, size_t index) {
        Payload payload;
        ((I == index ? void(payload.emplace<I>()) : void()), ...);
        return payload;
    }
    static Payload default_payload(size_t index) {
        return make(std::make_index_sequence<std::variant_size_v<Payload>>{}, index);
    }

    template<class T> void read(T &field) {
        if constexpr (std::is_same_v<T, bool>) {
            auto token = _lexer.take();
            if (token.text != "true" && token.text != "false") {
                _lexer.fail("expected true or false", token);
            }
            field = token.text == "true";
        } else if constexpr (std::is_enum_v<T>) {
            auto token = _lexer.take();
            for (size_t i = 0; i < std::size(EnumNames<T>::names); ++i) {
                if (EnumNames<T>::names[i] == token.text) {
                    field = static_cast<T>(i);
                    return;
                }
            }
            _lexer.fail("unknown value '" + std::string{token.text} + "'", token);
        } else if constexpr (std::is_arithmetic_v<T>) {
            field = integer<T>();
        } else if constexpr (std::is_same_v<T, std::string>) {
            auto token = _lexer.take();
            if (token.kind != TokenKind::STRING) {
                _lexer.fail("expected a string", token);
            }
            field = unescape(token.text);
        } else if constexpr (std::is_same_v<T, Dim>) {
            field = dim();
        } else if constexpr (std::is_same_v<T, DimExtent>) {
            field.dim = dim();
            _lexer.expect(":");
            field.extent = integer<int64_t>();
        } else {
            field.clear();
            _lexer.expect("[");
            while (!_lexer.accept("]")) {
                if (_lexer.peek().kind == TokenKind::END) {
                    _lexer.fail("a list does not end");
                }
                typename T::value_type element{};
                read(element);
                field.push_back(std::move(element));
            }
        }
    }

    static std::string unescape(std::string_view text) {
        std::string out;
        for (size_t i = 0; i < text.size(); ++i) {
            i += text[i] == '\\' && i + 1 < text.size();
            out += text[i];
        }
        return out;
    }

    template<class T> T integer() {
        auto token = _lexer.take();
        T value{};
        auto text = token.text;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (token.kind != TokenKind::NUMBER || error != std::errc{} ||
            end != text.data() + text.size()) {
            _lexer.fail("expected an integer, found '" + std::string{text} + "'", token);
        }
        return value;
    }

    // Types

    const Type *type() {
        if (_lexer.accept("<")) {
            auto where = _lexer.peek();
            auto lanes = integer<int64_t>();
            if (lanes < 1 || lanes > most_lanes) {
                _lexer.fail("a vector has 1 to " + std::to_string(most_lanes) + " lanes", where);
            }
            _lexer.expect("x");
            auto t = scalar();
            _lexer.expect(">");
            return _module->vector(t, static_cast<uint16_t>(lanes));
        }
        if (_lexer.accept("ptr")) {
            return _module->pointer();
        }
        if (_lexer.accept("tile")) {
            _lexer.expect("<");
            auto t = scalar();
            _lexer.expect(",");
            std::vector<DimExtent> dims;
            while (!_lexer.accept(">")) {
                DimExtent d;
                read(d);
                for (const auto &other : dims) {
                    if (other.dim == d.dim) {
                        _lexer.fail("a dimension stands twice in a type");
                    }
                }
                if (d.extent < 0) {
                    _lexer.fail("an extent is negative");
                }
                dims.push_back(d);
            }
            return _module->tile(t, std::move(dims));
        }
        if (_lexer.accept("view")) {
            return view();
        }
        return _module->scalar(scalar());
    }

    const Type *view() {
        Type t;
        t.kind = TypeKind::VIEW;
        _lexer.expect("<");
        t.read_only = _lexer.accept("const");
        t.scalar = scalar();
        while (_lexer.accept(t.axes.empty() ? "," : "x")) {
            ViewAxis axis;
            if (_lexer.peek().kind == TokenKind::NAME && _lexer.peek().text[0] == '?') {
                axis = {runtime_value, std::string{_lexer.take().text.substr(1)}};
            } else {
                auto where = _lexer.peek();
                axis.extent = integer<int64_t>();
                if (axis.extent < 0) {
                    _lexer.fail("an extent is negative", where);
                }
            }
            t.axes.push_back(std::move(axis));
        }
        if (_lexer.accept(",")) {
            _lexer.expect("strides");
            do {
                bool runtime = _lexer.peek().kind == TokenKind::NAME && _lexer.peek().text == "?";
                if (runtime) {
                    (void)_lexer.take();
                }
                t.strides.push_back(runtime ? runtime_value : integer<int64_t>());
            } while (_lexer.accept("x"));
            if (t.strides.size() != t.axes.size()) {
                _lexer.fail("a view has one stride a dimension");
            }
        }
        _lexer.expect(">");
        return _module->intern(std::move(t));
    }

    ScalarType scalar() {
        auto token = _lexer.take();
        ScalarType t{};
        if (!parse_scalar_type(token.text, t)) {
            _lexer.fail("unknown type '" + std::string{token.text} + "'", token);
        }
        return t;
    }

    Dim dim() {
        auto token = _lexer.take();
        if (token.kind != TokenKind::NAME || token.text[0] == '%' || token.text[0] == '@') {
            _lexer.fail("expected a dimension such as m or #0", token);
        }
        if (token.text[0] == '#') {
            uint32_t position = 0;
            auto digits = token.text.substr(1);
            auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(),
                                                position);
            if (error != std::errc{} || end != digits.data() + digits.size() ||
                position >= Dim::positional_limit) {
                _lexer.fail("no positional dimension '" + std::string{token.text} + "'", token);
            }
            return Dim::positional(position);
        }
        auto [found, fresh] = _dims.emplace(std::string{token.text}, Dim{});
        if (fresh) {
            // The printer adds ".1" to a label that stands for another dimension already.
            auto label = token.text.substr(0, token.text.find('.'));
            found->second = tile::dim(std::string{label}.c_str());
        }
        return found->second;
    }

    // Values

    Token value_name() {
        auto token = _lexer.take();
        if (token.kind != TokenKind::NAME || token.text.size() < 2 || token.text[0] != '%') {
            _lexer.fail("expected a value such as %x, found '" + std::string{token.text} + "'",
                        token);
        }
        return token;
    }

    void define(const Token &name, Value *value) {
        if (!_values.emplace(std::string{name.text}, value).second) {
            _lexer.fail("value " + std::string{name.text} + " is defined twice", name);
        }
    }

    Value *use(const Token &name) {
        auto found = _values.find(std::string{name.text});
        if (found == _values.end()) {
            _lexer.fail("value " + std::string{name.text} + " is not defined before this", name);
        }
        return found->second;
    }

    Lexer _lexer;
    std::unique_ptr<Module> _module;
    std::unordered_map<std::string, Value *> _values;
    std::unordered_map<std::string, Dim> _dims;
    int _depth = 0;
};

}// namespace

std::unique_ptr<Module> parse(std::string_view text, std::string_view file_name) {
    const auto *file = keep(file_name);
    if (text.size() > largest_text) {
        throw ParseError{std::string{file_name} + ": the text has " + std::to_string(text.size()) +
                         " bytes, at most " + std::to_string(largest_text) + " are read"};
    }
    auto module = Parser{text, file}.run();
    verify(*module);
    return module;
}

}// namespace luisa::tile::ir
