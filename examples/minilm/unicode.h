// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

// What a tokeniser asks of characters. Text is UTF-8; what is not becomes U+FFFD.

namespace minilm {

[[nodiscard]] std::u32string decode(std::string_view utf8);
[[nodiscard]] std::string encode(std::u32string_view text);

/// Appends the lower-case letters of `c` without their accents; an accent alone appends nothing.
void append_folded(std::u32string &out, char32_t c);

[[nodiscard]] bool is_space(char32_t c);
/// Control and format characters, and those that mean nothing: they are dropped. Spaces are none.
[[nodiscard]] bool is_control(char32_t c);
[[nodiscard]] bool is_punctuation(char32_t c);
/// Chinese characters stand for themselves, as if between spaces.
[[nodiscard]] bool is_ideograph(char32_t c);

}// namespace minilm
