// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace minilm {

/// BERT's uncased WordPiece tokeniser: words and punctuation in lower case without accents, each word cut into
/// the longest pieces of the vocabulary from the left. Text such as "[SEP]" is text, no mark.
class Tokenizer {
public:
    /// Reads vocab.txt, one piece a line. std::runtime_error when it cannot be read or lacks a mark.
    explicit Tokenizer(const std::filesystem::path &vocabulary);

    /// The ids of [CLS], of at most `limit` - 2 pieces of `text`, and of [SEP].
    [[nodiscard]] std::vector<int32_t> operator()(std::string_view text, size_t limit = 256) const;

private:
    [[nodiscard]] int32_t mark(const char *name) const;
    void append_word(std::vector<int32_t> &ids, std::u32string_view word) const;

    std::unordered_map<std::string, int32_t> _ids;
    int32_t _unknown = 0, _begin = 0, _end = 0;
};

}// namespace minilm
