// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace luisa::tile::cache {

/// A key of 256 bits and the text that it stands for. The text is compared too, so that equal hashes of
/// different texts do no harm.
struct Key {
    explicit Key(std::string key_text);
    std::string text;
    std::array<uint8_t, 32> hash;
    /// 64 hexadecimal digits: the name of the entry's file.
    [[nodiscard]] std::string name() const;
};

/// The layout of an entry's file: a header of this many bytes, the text of its key, its payload.
inline constexpr size_t header_bytes = 96;
inline constexpr uint32_t entry_version = 1;

/// What a header says of the rest of its file.
struct Header {
    uint64_t text_bytes = 0, payload_bytes = 0;
    std::array<uint8_t, 16> payload_sum{};
};

/// The bytes of an entry before its payload.
[[nodiscard]] std::string head_of(const Key &key, std::string_view payload);

/// Reads a header of `header_bytes` bytes in a file of `file_bytes`. Returns null, or what is wrong with it.
[[nodiscard]] const char *read_header(const char *bytes, uint64_t file_bytes, const Key &key,
                                      Header &out);
/// Compares what follows the header with the key and the header's checksum. Null, or what is wrong.
[[nodiscard]] const char *check_body(std::string_view body, const Header &header, const Key &key);

}// namespace luisa::tile::cache
