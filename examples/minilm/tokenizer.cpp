// SPDX-License-Identifier: Apache-2.0
#include "tokenizer.h"

#include "unicode.h"

#include <fstream>
#include <stdexcept>

namespace minilm {

namespace {

/// Words and single punctuation characters, folded.
std::vector<std::u32string> words_of(std::string_view text) {
    std::vector<std::u32string> words;
    std::u32string word;
    auto flush = [&] {
        if (!word.empty()) {
            words.push_back(std::move(word));
            word.clear();
        }
    };
    std::u32string folded;
    for (auto c : decode(text)) {
        if (is_control(c)) {
            continue;
        }
        folded.clear();
        append_folded(folded, c);
        for (auto f : folded) {
            if (is_space(f)) {
                flush();
            } else if (is_punctuation(f) || is_ideograph(f)) {
                flush();
                words.emplace_back(1, f);
            } else {
                word += f;
            }
        }
    }
    flush();
    return words;
}

}// namespace

Tokenizer::Tokenizer(const std::filesystem::path &vocabulary) {
    std::ifstream file{vocabulary};
    std::string line;
    while (std::getline(file, line)) {
        _ids.emplace(line, static_cast<int32_t>(_ids.size()));
    }
    if (_ids.empty()) {
        throw std::runtime_error{"cannot read the vocabulary " + vocabulary.string()};
    }
    _unknown = mark("[UNK]");
    _begin = mark("[CLS]");
    _end = mark("[SEP]");
}

int32_t Tokenizer::mark(const char *name) const {
    auto found = _ids.find(name);
    if (found == _ids.end()) {
        throw std::runtime_error{std::string{"the vocabulary lacks "} + name};
    }
    return found->second;
}

void Tokenizer::append_word(std::vector<int32_t> &ids, std::u32string_view word) const {
    constexpr size_t longest_word = 100;
    auto first = ids.size();
    for (size_t begin = 0; begin < word.size();) {
        auto end = word.size() > longest_word ? begin : word.size();
        auto found = _ids.end();
        for (; end > begin; --end) {
            auto piece = (begin > 0 ? "##" : "") + encode(word.substr(begin, end - begin));
            found = _ids.find(piece);
            if (found != _ids.end()) {
                break;
            }
        }
        if (found == _ids.end()) {
            // One unknown piece makes the word unknown.
            ids.resize(first);
            ids.push_back(_unknown);
            return;
        }
        ids.push_back(found->second);
        begin = end;
    }
}

std::vector<int32_t> Tokenizer::operator()(std::string_view text, size_t limit) const {
    std::vector<int32_t> ids{_begin};
    for (const auto &word : words_of(text)) {
        append_word(ids, word);
    }
    if (ids.size() + 1 > limit) {
        ids.resize(limit - 1);
    }
    ids.push_back(_end);
    return ids;
}

}// namespace minilm
