// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.h"

#include <xxhash.h>

#include <cstring>

namespace luisa::tile::cache {

namespace {

// Offsets of the header's fields; numbers have their low byte first.
//    0  magic            8 bytes, with a line end so that a transfer as text is noticed
//    8  version          u32
//   12  header_bytes     u32
//   16  key             32 bytes
//   48  text_bytes       u64
//   56  payload_bytes    u64
//   64  payload_sum     16 bytes, XXH3-128
//   80  header_sum      16 bytes, XXH3-128 of bytes 0 to 79
constexpr char magic[8] = {'L', 'T', 'I', 'L', 'E', '\r', '\n', '\x1a'};
constexpr size_t summed_bytes = 80;

using Sum = std::array<uint8_t, 16>;

Sum sum_of(const void *bytes, size_t size, uint64_t seed = 0) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(bytes, size, seed));
    Sum sum;
    std::memcpy(sum.data(), canonical.digest, sum.size());
    return sum;
}

template<class T> void put(char *to, T value) {
    for (size_t i = 0; i < sizeof(T); ++i) {
        to[i] = static_cast<char>(value >> (8 * i));
    }
}

template<class T> T get(const char *from) {
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
        value |= static_cast<T>(static_cast<uint8_t>(from[i])) << (8 * i);
    }
    return value;
}

}// namespace

Key::Key(std::string key_text) : text{std::move(key_text)} {
    auto low = sum_of(text.data(), text.size());
    auto high = sum_of(text.data(), text.size(), 0x9e3779b97f4a7c15u);
    std::memcpy(hash.data(), low.data(), low.size());
    std::memcpy(hash.data() + low.size(), high.data(), high.size());
}

std::string Key::name() const {
    constexpr const char *digits = "0123456789abcdef";
    std::string name;
    for (auto byte : hash) {
        name += digits[byte >> 4];
        name += digits[byte & 15];
    }
    return name;
}

std::string head_of(const Key &key, std::string_view payload) {
    std::string head(header_bytes, '\0');
    auto *to = head.data();
    std::memcpy(to, magic, sizeof(magic));
    put(to + 8, entry_version);
    put(to + 12, static_cast<uint32_t>(header_bytes));
    std::memcpy(to + 16, key.hash.data(), key.hash.size());
    put(to + 48, static_cast<uint64_t>(key.text.size()));
    put(to + 56, static_cast<uint64_t>(payload.size()));
    auto payload_sum = sum_of(payload.data(), payload.size());
    std::memcpy(to + 64, payload_sum.data(), payload_sum.size());
    auto header_sum = sum_of(to, summed_bytes);
    std::memcpy(to + 80, header_sum.data(), header_sum.size());
    return head + key.text;
}

const char *read_header(const char *bytes, uint64_t file_bytes, const Key &key, Header &out) {
    if (std::memcmp(bytes, magic, sizeof(magic)) != 0) {
        return "it is not an entry of this cache";
    }
    if (get<uint32_t>(bytes + 8) != entry_version || get<uint32_t>(bytes + 12) != header_bytes) {
        return "its format is of another version";
    }
    auto sum = sum_of(bytes, summed_bytes);
    if (std::memcmp(bytes + 80, sum.data(), sum.size()) != 0) {
        return "its header is damaged";
    }
    if (std::memcmp(bytes + 16, key.hash.data(), key.hash.size()) != 0) {
        return "its key is another one";
    }
    out.text_bytes = get<uint64_t>(bytes + 48);
    out.payload_bytes = get<uint64_t>(bytes + 56);
    std::memcpy(out.payload_sum.data(), bytes + 64, out.payload_sum.size());
    auto rest = file_bytes - header_bytes;
    if (out.text_bytes > rest || out.payload_bytes != rest - out.text_bytes) {
        return "its size is not the one that its header names";
    }
    return out.text_bytes == key.text.size() ? nullptr : "its key is another one";
}

const char *check_body(std::string_view body, const Header &header, const Key &key) {
    if (body.substr(0, header.text_bytes) != key.text) {
        return "its key is another one";
    }
    auto payload = body.substr(header.text_bytes);
    return sum_of(payload.data(), payload.size()) == header.payload_sum ? nullptr
                                                                        : "its payload is damaged";
}

}// namespace luisa::tile::cache
