// SPDX-License-Identifier: Apache-2.0
#include "ir/lexer.h"

namespace luisa::tile::ir {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_sigil(char c) { return c == '%' || c == '@' || c == '#' || c == '?'; }

}// namespace

void Lexer::skip_space() {
    auto line = _line;
    _comment = {};
    while (_at < _text.size()) {
        char c = _text[_at];
        if (c == '\n') {
            ++_line;
            _line_begin = ++_at;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++_at;
        } else if (_text.substr(_at, 2) == "//") {
            auto begin = _at + 2;
            while (_at < _text.size() && _text[_at] != '\n') {
                ++_at;
            }
            if (_line == line) {
                _comment = _text.substr(begin, _at - begin);
            }
        } else {
            return;
        }
    }
}

void Lexer::advance() {
    skip_space();
    _token = {TokenKind::END, {}, _line, static_cast<uint32_t>(_at - _line_begin + 1)};
    if (_at >= _text.size()) {
        return;
    }
    auto begin = _at;
    char c = _text[_at];
    auto finish = [&](TokenKind kind) {
        _token.kind = kind;
        _token.text = _text.substr(begin, _at - begin);
    };
    if (c == '"') {
        ++_at;
        while (_at < _text.size() && _text[_at] != '"' && _text[_at] != '\n') {
            _at += _text[_at] == '\\' ? 2 : 1;
        }
        if (_at >= _text.size() || _text[_at] != '"') {
            fail("a string does not end on its line", _token);
        }
        _token.kind = TokenKind::STRING;
        _token.text = _text.substr(begin + 1, _at - begin - 1);
        ++_at;
        return;
    }
    bool sign = (c == '-' || c == '+') && _at + 1 < _text.size() &&
                (is_digit(_text[_at + 1]) || is_letter(_text[_at + 1]));
    if (is_digit(c) || sign) {
        ++_at;
        while (_at < _text.size()) {
            char d = _text[_at];
            bool exponent_sign = (d == '+' || d == '-') &&
                                 (_text[_at - 1] == 'e' || _text[_at - 1] == 'p') &&
                                 _text.substr(begin, 2) != "0x";
            if (!is_digit(d) && !is_letter(d) && d != '.' && !exponent_sign) {
                break;
            }
            ++_at;
        }
        return finish(TokenKind::NUMBER);
    }
    if (is_letter(c) || is_sigil(c)) {
        ++_at;
        while (_at < _text.size() &&
               (is_letter(_text[_at]) || is_digit(_text[_at]) || _text[_at] == '.')) {
            ++_at;
        }
        return finish(TokenKind::NAME);
    }
    _at += _text.substr(_at, 2) == "->" ? 2 : 1;
    finish(TokenKind::PUNCTUATION);
}

void Lexer::expect(std::string_view text) {
    if (!accept(text)) {
        fail("expected '" + std::string{text} + "', found '" + std::string{_token.text} + "'");
    }
}

void Lexer::fail(const std::string &message, const Token &where) const {
    throw ParseError{std::string{_file} + ":" + std::to_string(where.line) + ":" +
                         std::to_string(where.column) + ": " + message,
                     {_file, where.line}};
}

}// namespace luisa::tile::ir
