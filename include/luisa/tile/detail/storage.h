// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/error.h>
#include <luisa/tile/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

// What buffers, tensors and commands share below their element type.

namespace luisa::tile::runtime {

/// The largest rank of a tensor on the host side.
inline constexpr int max_rank = 8;

class DeviceImpl;
class ShaderImpl;
class Storage;
/// Memory lives until the last handle, view and queued command that uses it is gone.
using StorageRef = std::shared_ptr<Storage>;

/// Whose memory a tensor shows.
enum class Origin : uint8_t {
    NONE,  ///< moved from or default made
    DEVICE,///< a device's buffer
    HOST,  ///< the caller's, who keeps it alive
};

/// A tensor without its static type. Points into the tensor.
struct TensorInfo {
    void *data = nullptr;
    const int64_t *extents = nullptr, *strides = nullptr;///< in elements
    const StorageRef *storage = nullptr;
    ScalarType type = ScalarType::FLOAT32;
    uint8_t rank = 0;
    bool read_only = false;
    Origin origin = Origin::NONE;
};

/// A copy between host memory, dense row-major, and a tensor. Submit it with `stream << copy`.
struct CopyCommand {
    void *host = nullptr;
    void *data = nullptr;
    int64_t extents[max_rank] = {}, strides[max_rank] = {};
    StorageRef storage;
    ScalarType type = ScalarType::FLOAT32;
    uint8_t rank = 0;
    bool to_host = false;
    SourceLoc loc;
};

[[nodiscard]] CopyCommand make_copy(const TensorInfo &tensor, const void *host, size_t host_count,
                                    bool to_host, SourceLoc loc);

/// LifetimeError when the tensor was moved from or its memory freed.
void check_alive(const TensorInfo &tensor, const char *what, SourceLoc loc);
[[nodiscard]] bool is_freed(const StorageRef &storage) noexcept;
void mark_freed(const StorageRef &storage) noexcept;
[[nodiscard]] void *address_of(const StorageRef &storage) noexcept;

/// The product of extents; ValueError when one is negative or the product leaves int64.
[[nodiscard]] int64_t checked_size(const int64_t *extents, int rank, SourceLoc loc);
void dense_strides(const int64_t *extents, int rank, int64_t *strides) noexcept;
[[nodiscard]] bool is_dense(const int64_t *extents, const int64_t *strides, int rank) noexcept;

// Views. Each edits a copy of the tensor's extents and strides and returns the offset, in elements,
// of the view's first element.
[[nodiscard]] int64_t slice_view(int64_t *extents, int64_t *strides, int rank, int axis,
                                 int64_t begin, int64_t end, int64_t step, SourceLoc loc);
void permute_view(int64_t *extents, int64_t *strides, int rank, const int *order, SourceLoc loc);
void broadcast_view(int64_t *extents, int64_t *strides, int rank, const int64_t *target,
                    int target_rank, int64_t *result_strides, SourceLoc loc);
/// IndexError when the view reaches outside the tensor's buffer.
void check_strided_view(const TensorInfo &tensor, const int64_t *extents, const int64_t *strides,
                        int rank, int64_t offset, SourceLoc loc);
void check_reshape(const TensorInfo &tensor, const int64_t *extents, int rank, SourceLoc loc);

}// namespace luisa::tile::runtime
