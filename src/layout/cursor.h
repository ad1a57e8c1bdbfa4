// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/error.h>

#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace luisa::tile::core {

/// A place in a text that a reader of layouts goes through. White space is free. What does not fit is a
/// ParseError that names the kind of text, the column, what was expected and what stands there.
class TextCursor {
protected:
    TextCursor(const char *kind, std::string_view text) : _text{text}, _kind{kind} {}

    [[noreturn]] void wrong(const std::string &message) const {
        throw_error(ErrorKind::PARSE,
                    std::string{_kind} + ", column " + std::to_string(_at + 1) + ": " + message);
    }
    [[noreturn]] void fail(const std::string &expected) const {
        auto got = _at < _text.size() ? "\"" + std::string{_text.substr(_at, 12)} + "\""
                                      : "the end";
        wrong("expected " + expected + ", got " + got);
    }
    void skip() {
        while (_at < _text.size() && std::isspace(static_cast<unsigned char>(_text[_at]))) {
            ++_at;
        }
    }
    bool accept(std::string_view token) {
        skip();
        if (_text.substr(_at, token.size()) != token) {
            return false;
        }
        _at += token.size();
        return true;
    }
    void expect(std::string_view token) {
        if (!accept(token)) {
            fail("\"" + std::string{token} + "\"");
        }
    }
    void expect_end() {
        skip();
        if (_at != _text.size()) {
            fail("the end");
        }
    }
    int64_t integer() {
        skip();
        int64_t value = 0;
        auto [end, error] = std::from_chars(_text.data() + _at, _text.data() + _text.size(), value);
        if (error != std::errc{}) {
            fail("an integer");
        }
        _at = static_cast<size_t>(end - _text.data());
        return value;
    }

    /// Held while a part inside another one is read: a text may nest 1000 deep, whatever the stack is.
    class Nesting {
    public:
        explicit Nesting(TextCursor &cursor) : _cursor{cursor} {
            if (++_cursor._depth > 1000) {
                _cursor.wrong("nested more than 1000 deep");
            }
        }
        ~Nesting() { --_cursor._depth; }
        Nesting(const Nesting &) = delete;
        Nesting &operator=(const Nesting &) = delete;

    private:
        TextCursor &_cursor;
    };

    std::string_view _text;
    size_t _at = 0;

private:
    const char *_kind;
    int _depth = 0;
};

}// namespace luisa::tile::core
