// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/error.h>

#include <string>
#include <string_view>

namespace luisa::tile::ir {

enum class TokenKind : uint8_t { END, NAME, NUMBER, STRING, PUNCTUATION };

struct Token {
    TokenKind kind = TokenKind::END;
    std::string_view text;///< a string without its quotes, escapes as written
    uint32_t line = 1, column = 1;
};

/// Splits TileIR text. Names are letters, digits, '_' and '.', and may begin with '%', '@', '#' or '?';
/// numbers may have signs, fractions and exponents; `//` begins a comment.
class Lexer {
public:
    Lexer(std::string_view text, const char *file) : _text{text}, _file{file} { advance(); }

    [[nodiscard]] const Token &peek() const noexcept { return _token; }
    Token take() {
        auto token = _token;
        advance();
        return token;
    }
    [[nodiscard]] bool at(std::string_view text) const noexcept {
        return _token.kind != TokenKind::STRING && _token.kind != TokenKind::END &&
               _token.text == text;
    }
    bool accept(std::string_view text) {
        bool found = at(text);
        if (found) {
            advance();
        }
        return found;
    }
    /// ParseError unless `text` comes next.
    void expect(std::string_view text);
    [[noreturn]] void fail(const std::string &message, const Token &where) const;
    [[noreturn]] void fail(const std::string &message) const { fail(message, _token); }
    [[nodiscard]] const char *file() const noexcept { return _file; }
    /// The comment behind the token that was taken last, on its line; empty if there is none.
    [[nodiscard]] std::string_view comment() const noexcept { return _comment; }

private:
    void advance();
    void skip_space();
    std::string_view _text, _comment;
    const char *_file;
    size_t _at = 0;
    uint32_t _line = 1;
    size_t _line_begin = 0;
    Token _token;
};

}// namespace luisa::tile::ir
