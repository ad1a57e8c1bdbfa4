// SPDX-License-Identifier: Apache-2.0
#include "unicode.h"

#include "unicode_tables.h"

#include <algorithm>
#include <cstdint>

namespace minilm {

namespace {

constexpr char32_t replacement = 0xfffd;

/// The last of sorted runs that begins at or before `c`, or null.
template<class Run> const Run *run_before(const std::vector<Run> &runs, char32_t c) {
    auto after = std::upper_bound(runs.begin(), runs.end(), c,
                                  [](char32_t x, const Run &run) { return x < run.first; });
    return after == runs.begin() ? nullptr : &*std::prev(after);
}

bool contains(const std::vector<CodeRange> &ranges, char32_t c) {
    auto *range = run_before(ranges, c);
    return range && c <= range->last;
}

/// Korean syllables fall into two or three letters, by Unicode's arithmetic.
bool append_korean(std::u32string &out, char32_t c) {
    constexpr char32_t first = 0xac00, last = 0xd7a3, vowels = 21, finals = 28;
    if (c < first || c > last) {
        return false;
    }
    auto index = c - first;
    out += char32_t{0x1100} + index / (vowels * finals);
    out += char32_t{0x1161} + index / finals % vowels;
    if (auto final = index % finals) {
        out += char32_t{0x11a7} + final;
    }
    return true;
}

/// One code point from the front of `text`, which is not empty.
char32_t take(std::string_view &text) {
    auto lead = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    if (lead < 0x80) {
        return lead;
    }
    int length = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4) {
        return replacement;
    }
    char32_t c = lead & (0x3fu >> length);
    for (int i = 0; i < length; ++i) {
        if (text.empty() || (static_cast<unsigned char>(text.front()) & 0xc0) != 0x80) {
            return replacement;
        }
        c = c << 6 | (static_cast<unsigned char>(text.front()) & 0x3fu);
        text.remove_prefix(1);
    }
    constexpr char32_t least[]{0, 0x80, 0x800, 0x10000};
    bool valid = c >= least[length] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    return valid ? c : replacement;
}

}// namespace

std::u32string decode(std::string_view utf8) {
    std::u32string text;
    while (!utf8.empty()) {
        text += take(utf8);
    }
    return text;
}

std::string encode(std::u32string_view text) {
    std::string utf8;
    auto tail = [&](char32_t c, int shift) {
        utf8 += static_cast<char>(0x80 | (c >> shift & 0x3f));
    };
    for (auto c : text) {
        if (c < 0x80) {
            utf8 += static_cast<char>(c);
        } else if (c < 0x800) {
            utf8 += static_cast<char>(0xc0 | c >> 6);
            tail(c, 0);
        } else if (c < 0x10000) {
            utf8 += static_cast<char>(0xe0 | c >> 12);
            tail(c, 6);
            tail(c, 0);
        } else {
            utf8 += static_cast<char>(0xf0 | c >> 18);
            tail(c, 12);
            tail(c, 6);
            tail(c, 0);
        }
    }
    return utf8;
}

void append_folded(std::u32string &out, char32_t c) {
    if (contains(accents, c) || append_korean(out, c)) {
        return;
    }
    auto *run = run_before(letter_folds, c);
    bool folds = run && c <= run->last && (c - run->first) % static_cast<char32_t>(run->step) == 0;
    out += folds ? static_cast<char32_t>(static_cast<int64_t>(c) + run->delta) : c;
}

bool is_space(char32_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

bool is_control(char32_t c) {
    bool kept = c == '\t' || c == '\n' || c == '\r';
    return c == replacement || (!kept && contains(controls, c));
}

bool is_punctuation(char32_t c) {
    bool ascii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
                 (c >= 123 && c <= 126);
    return ascii || contains(punctuation, c);
}

bool is_ideograph(char32_t c) {
    static const std::vector<CodeRange> blocks{
        {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
        {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b820, 0x2ceaf}, {0x2f800, 0x2fa1f}};
    return contains(blocks, c);
}

}// namespace minilm
