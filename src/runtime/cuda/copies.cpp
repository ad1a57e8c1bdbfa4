// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/queue.h"

#include <algorithm>
#include <cstring>

// Copies between strided tensors and dense host memory, through pinned memory in two alternating parts.

namespace luisa::tile::runtime::cuda {

namespace {

constexpr size_t staging_bytes = size_t{4} << 20;
// What the driver takes as a distance of rows.
constexpr int64_t most_pitch = int64_t{1} << 30;

/// A tensor as runs of bytes that lie together, in rows at a fixed distance, in an outer loop.
struct Runs {
    size_t width = 0;///< bytes of a run
    size_t height = 1;
    int64_t pitch = 0;///< bytes between runs
    int outer = 0;    ///< dimensions that are looped over
};

Runs runs_of(const Argument &tensor) {
    Runs runs;
    auto element = static_cast<int64_t>(size_of(tensor.type));
    auto run = element;
    int d = tensor.rank;
    for (; d > 0; --d) {
        if (tensor.extents[d - 1] != 1 && tensor.strides[d - 1] * element != run) {
            break;
        }
        run *= tensor.extents[d - 1];
    }
    runs.width = static_cast<size_t>(run);
    if (d > 0) {
        auto pitch = tensor.strides[d - 1] * element;
        // Rows that overlap or run backwards are copied one by one.
        if (pitch >= run && pitch <= most_pitch) {
            runs.height = static_cast<size_t>(tensor.extents[d - 1]);
            runs.pitch = pitch;
            --d;
        }
    }
    runs.outer = d;
    return runs;
}

}// namespace

void Queue::copy(const CopyCommand &copy) {
    for (int d = 0; d < copy.tensor.rank; ++d) {
        if (copy.tensor.extents[d] == 0) {
            return;
        }
    }
    Context::Current current{*_context};
    copy_rows(copy);
    if (copy.tensor.owner) {
        keep(copy.tensor.owner);
    }
    if (copy.to_host) {
        wait_for_stream();
    }
}

void Queue::copy_rows(const CopyCommand &copy) {
    const auto &tensor = copy.tensor;
    auto runs = runs_of(tensor);
    auto element = static_cast<int64_t>(size_of(tensor.type));
    auto base = reinterpret_cast<DevicePointer>(tensor.data);
    auto *host = static_cast<char *>(copy.host);
    int64_t at[Argument::max_rank] = {};
    for (int d = 0; d >= 0;) {
        int64_t offset = 0;
        for (int i = 0; i < runs.outer; ++i) {
            offset += at[i] * tensor.strides[i] * element;
        }
        auto device = base + static_cast<DevicePointer>(offset);
        if (runs.height == 1) {
            copy_run(device, host, runs.width, copy.to_host);
        } else {
            copy_block(device, host, runs.width, runs.height, static_cast<size_t>(runs.pitch),
                       copy.to_host);
        }
        host += runs.width * runs.height;
        for (d = runs.outer - 1; d >= 0 && ++at[d] == tensor.extents[d]; --d) {
            at[d] = 0;
        }
    }
}

char *Queue::staging(size_t index) {
    if (!_staging[index]) {
        _staging[index] = std::make_unique<PinnedMemory>(_context, staging_bytes);
    }
    // The device may still read what an earlier copy put there.
    if (auto mark = std::exchange(_staged[index], nullptr)) {
        mark->wait();
    }
    return _staging[index]->data();
}

/// Bytes that lie together on both sides.
void Queue::copy_run(DevicePointer device, char *host, size_t bytes, bool to_host) {
    const auto &cu = _context->cu;
    for (size_t done = 0; done < bytes;) {
        auto part = std::min(bytes - done, staging_bytes);
        auto which = _next_staging++ % 2;
        auto *stage = staging(which);
        if (to_host) {
            _context->check(cu.memcpy_to_host(stage, device + done, part, _stream),
                            "cuMemcpyDtoHAsync");
            if (auto result = cu.stream_synchronize(_stream); result != SUCCESS) {
                fail(result, "cuStreamSynchronize");
            }
            std::memcpy(host + done, stage, part);
        } else {
            std::memcpy(stage, host + done, part);
            _context->check(cu.memcpy_to_device(device + done, stage, part, _stream),
                            "cuMemcpyHtoDAsync");
            _staged[which] = std::make_shared<EventMark>(_context, _stream, false);
        }
        done += part;
    }
}

/// Rows that lie apart on the device and together on the host.
void Queue::copy_block(DevicePointer device, char *host, size_t width, size_t height, size_t pitch,
                       bool to_host) {
    if (width > staging_bytes) {
        for (size_t row = 0; row < height; ++row) {
            copy_run(device + row * pitch, host + row * width, width, to_host);
        }
        return;
    }
    auto rows = staging_bytes / width;
    for (size_t first = 0; first < height; first += rows) {
        auto which = _next_staging++ % 2;
        auto *stage = staging(which);
        Copy2D copy;
        copy.width = width;
        copy.height = std::min(rows, height - first);
        auto bytes = copy.width * copy.height;
        auto *part = host + first * width;
        if (to_host) {
            copy.source_kind = DEVICE_MEMORY;
            copy.source_device = device + first * pitch;
            copy.source_pitch = pitch;
            copy.target_kind = HOST_MEMORY;
            copy.target_host = stage;
            copy.target_pitch = width;
        } else {
            std::memcpy(stage, part, bytes);
            copy.source_kind = HOST_MEMORY;
            copy.source_host = stage;
            copy.source_pitch = width;
            copy.target_kind = DEVICE_MEMORY;
            copy.target_device = device + first * pitch;
            copy.target_pitch = pitch;
        }
        _context->check(_context->cu.memcpy_2d(&copy, _stream), "cuMemcpy2DAsync");
        _staged[which] = std::make_shared<EventMark>(_context, _stream, false);
        if (to_host) {
            if (auto result = _context->cu.stream_synchronize(_stream); result != SUCCESS) {
                fail(result, "cuStreamSynchronize");
            }
            std::memcpy(part, stage, bytes);
        }
    }
}

}// namespace luisa::tile::runtime::cuda
