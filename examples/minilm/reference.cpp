// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include "kernels.h"
#include "unicode.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace minilm {

namespace {

/// Four hexadecimal digits after each "\u" are a code point.
std::string unescaped(const std::string &line) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
        if (line.compare(i, 2, "\\u") == 0) {
            auto code = std::stoul(line.substr(i + 2, 4), nullptr, 16);
            text += encode(std::u32string(1, static_cast<char32_t>(code)));
            i += 5;
        } else {
            text += line[i];
        }
    }
    return text;
}

template<class T> std::vector<T> numbers(const std::string &line) {
    std::istringstream stream{line};
    std::vector<T> values;
    for (T value; stream >> value;) {
        values.push_back(value);
    }
    return values;
}

}// namespace

std::vector<Reference> read_references() {
    auto path = std::filesystem::path{LUISA_TILE_MINILM_FOLDER} / "reference.txt";
    std::ifstream file{path};
    std::string sentence, ids, embedding;
    std::getline(file, sentence);// a comment
    std::vector<Reference> all;
    while (std::getline(file, sentence) && std::getline(file, ids) &&
           std::getline(file, embedding)) {
        all.push_back({unescaped(sentence), numbers<int32_t>(ids), numbers<double>(embedding)});
        if (all.back().embedding.size() != static_cast<size_t>(Sizes::hidden)) {
            throw std::runtime_error{path.string() + " is damaged"};
        }
    }
    if (all.empty()) {
        throw std::runtime_error{"cannot read " + path.string()};
    }
    return all;
}

double cosine(const float *a, const double *b, int64_t size) {
    double product = 0, norm_a = 0, norm_b = 0;
    for (int64_t i = 0; i < size; ++i) {
        double x = a[i];
        product += x * b[i];
        norm_a += x * x;
        norm_b += b[i] * b[i];
    }
    return product / std::sqrt(norm_a * norm_b);
}

}// namespace minilm
