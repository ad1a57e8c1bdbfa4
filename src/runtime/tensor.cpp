// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/stream.h>

#include <algorithm>
#include <mutex>

namespace luisa::tile {

namespace runtime {

namespace {

/// Copies the innermost axis; `tensor` points to its first element.
void copy_row(char *tensor, char *host, int64_t count, int64_t stride, size_t element,
              bool to_host) noexcept {
    if (stride == 1) {
        auto bytes = static_cast<size_t>(count) * element;
        std::memcpy(to_host ? host : tensor, to_host ? tensor : host, bytes);
        return;
    }
    auto step = stride * static_cast<int64_t>(element);
    for (int64_t i = 0; i < count; ++i, tensor += step, host += element) {
        std::memcpy(to_host ? host : tensor, to_host ? tensor : host, element);
    }
}

/// Copies axis `d` and those inside it; returns the host position after them.
char *copy_axis(const Argument &tensor, int d, char *data, char *host, bool to_host) noexcept {
    auto element = size_of(tensor.type);
    if (d == tensor.rank - 1) {
        copy_row(data, host, tensor.extents[d], tensor.strides[d], element, to_host);
        return host + static_cast<size_t>(tensor.extents[d]) * element;
    }
    for (int64_t i = 0; i < tensor.extents[d]; ++i) {
        auto offset = i * tensor.strides[d] * static_cast<int64_t>(element);
        host = copy_axis(tensor, d + 1, data + offset, host, to_host);
    }
    return host;
}

}// namespace

void check_axis(int rank, int axis, SourceLoc loc) {
    if (axis < 0 || axis >= rank) {
        throw IndexError{"axis " + std::to_string(axis) + " of a tensor of rank " +
                             std::to_string(rank) + "; axes are 0 to " + std::to_string(rank - 1),
                         loc};
    }
}

void check_slice(int, int axis, int64_t extent, int64_t begin, int64_t end, int64_t step,
                 SourceLoc loc) {
    if (step == 0) {
        throw ValueError{"slice: the step is 0, expected another number", loc};
    }
    bool inside = step > 0 ? begin >= 0 && begin <= end && end <= extent
                           : end >= -1 && end <= begin && begin < extent;
    if (!inside) {
        throw IndexError{"slice: [" + std::to_string(begin) + ", " + std::to_string(end) +
                             ") leaves axis " + std::to_string(axis) + " of extent " +
                             std::to_string(extent),
                         loc};
    }
}

void check_repeat(int axis, int64_t extent, SourceLoc loc) {
    if (extent != 1) {
        throw ShapeError{"repeated: axis " + std::to_string(axis) + " has extent " +
                             std::to_string(extent) + ", expected 1",
                         loc};
    }
}

CopyCommand make_copy(Argument tensor, const void *host, size_t count, bool to_host,
                      SourceLoc loc) {
    const char *what = to_host ? "copy_to: " : "copy_from: ";
    if (!tensor.alive) {
        throw LifetimeError{std::string{what} + "the tensor was moved from, freed or never made",
                            loc};
    }
    size_t elements = 1;
    for (int d = 0; d < tensor.rank; ++d) {
        elements *= static_cast<size_t>(tensor.extents[d]);
        if (!to_host && tensor.strides[d] == 0 && tensor.extents[d] > 1) {
            throw AliasError{std::string{what} + "elements 0 and 1 of dimension " +
                                 std::to_string(d) + " share an address (stride 0)",
                             loc};
        }
    }
    if (elements != count) {
        throw ShapeError{std::string{what} + "the tensor has " + std::to_string(elements) +
                             " elements, the host memory " + std::to_string(count),
                         loc};
    }
    if (elements > 0 && (!tensor.data || !host)) {
        throw ValueError{std::string{what} + "no memory (null) for " + std::to_string(elements) +
                             " elements",
                         loc};
    }
    return {std::move(tensor), const_cast<void *>(host), to_host};
}

/// Entries are few and found again at every call, so a scan over their facts is all that is needed.
struct ShaderTable::Impl {
    struct Entry {
        std::vector<int64_t> facts;
        Shader shader;
    };
    std::mutex mutex;
    std::vector<Entry> entries;

    const Shader *find(std::span<const int64_t> facts) const {
        for (const auto &entry : entries) {
            if (std::equal(facts.begin(), facts.end(), entry.facts.begin(), entry.facts.end())) {
                return &entry.shader;
            }
        }
        return nullptr;
    }
};

ShaderTable::ShaderTable() : _impl{std::make_unique<Impl>()} {}
ShaderTable::~ShaderTable() = default;

Shader ShaderTable::find_or_make(std::span<const int64_t> facts, Shader (*make)(void *context),
                                 void *context) {
    std::lock_guard lock{_impl->mutex};
    if (const auto *shader = _impl->find(facts)) {
        return *shader;
    }
    auto shader = make(context);
    _impl->entries.push_back({{facts.begin(), facts.end()}, shader});
    return shader;
}

}// namespace runtime

Stream &Stream::operator<<(const runtime::CopyCommand &copy) {
    for (int d = 0; d < copy.tensor.rank; ++d) {
        if (copy.tensor.extents[d] == 0) {
            return *this;
        }
    }
    runtime::copy_axis(copy.tensor, 0, static_cast<char *>(copy.tensor.data),
                       static_cast<char *>(copy.host), copy.to_host);
    return *this;
}

}// namespace luisa::tile
