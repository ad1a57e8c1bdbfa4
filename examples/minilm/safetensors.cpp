// SPDX-License-Identifier: Apache-2.0
#include "safetensors.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <stdexcept>

namespace minilm {

namespace {

std::string text_of(const std::vector<int64_t> &shape) { return nlohmann::json(shape).dump(); }

std::vector<char> contents(const std::filesystem::path &path) {
    std::ifstream file{path, std::ios::binary | std::ios::ate};
    std::vector<char> bytes(file ? static_cast<size_t>(file.tellg()) : 0);
    file.seekg(0);
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
        throw std::runtime_error{"cannot read " + path.string()};
    }
    return bytes;
}

}// namespace

Safetensors::Safetensors(const std::filesystem::path &path) : _bytes{contents(path)} {
    auto damaged = [&](const std::string &why) {
        return std::runtime_error{path.string() + " is damaged: " + why};
    };
    uint64_t length = 0;
    if (_bytes.size() < sizeof length) {
        throw damaged("it has no header");
    }
    std::memcpy(&length, _bytes.data(), sizeof length);
    auto room = _bytes.size() - sizeof length;
    if (length > room || length % alignof(float) != 0) {
        throw damaged("a header of " + std::to_string(length) + " bytes");
    }
    auto *begin = _bytes.data() + sizeof length, *data = begin + length;
    auto header = nlohmann::json::parse(begin, data, nullptr, false);
    if (!header.is_object()) {
        throw damaged("its header is no JSON object");
    }
    for (const auto &[name, entry] : header.items()) {
        if (name == "__metadata__" || entry.value("dtype", "") != "F32") {
            continue;
        }
        auto shape = entry.at("shape").get<std::vector<int64_t>>();
        auto range = entry.at("data_offsets").get<std::vector<uint64_t>>();
        uint64_t size = sizeof(float);
        for (auto extent : shape) {
            size *= static_cast<uint64_t>(extent);
        }
        if (range.size() != 2 || range[1] > room - length || range[0] > range[1] ||
            range[1] - range[0] != size || range[0] % alignof(float) != 0) {
            throw damaged("the range of " + name);
        }
        _entries[name] = {shape, reinterpret_cast<const float *>(data + range[0])};
    }
}

const float *Safetensors::get(const std::string &name, const std::vector<int64_t> &shape) const {
    auto found = _entries.find(name);
    if (found == _entries.end()) {
        throw std::runtime_error{"the weights lack " + name};
    }
    if (found->second.shape != shape) {
        throw std::runtime_error{name + " has the shape " + text_of(found->second.shape) +
                                 ", expected " + text_of(shape)};
    }
    return found->second.data;
}

}// namespace minilm
