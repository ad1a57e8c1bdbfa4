// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cache/object_cache.h"
#include "runtime/accelerator.h"
#include "runtime/cuda/code.h"
#include "runtime/cuda/memory.h"

#include <memory>

namespace luisa::tile::runtime::cuda {

/// An NVIDIA GPU.
class GpuDevice : public Accelerator {
public:
    /// `owner` outlives it.
    GpuDevice(int ordinal, DeviceImpl &owner);
    [[nodiscard]] std::string description() const override;
    [[nodiscard]] std::shared_ptr<void> allocate(size_t bytes) override;
    [[nodiscard]] std::unique_ptr<AcceleratorQueue> make_queue(
        std::optional<void *> native) override;
    [[nodiscard]] int ordinal() const noexcept override { return _context->ordinal; }
    [[nodiscard]] std::shared_ptr<const AcceleratorCode> compile(
        const ShaderImpl &shader, bool may_alias, tile::cache::ObjectCache *disk) override;

private:
    std::shared_ptr<Code> find(tile::cache::ObjectCache &disk, const tile::cache::Key &key) const;

    DeviceImpl &_owner;
    std::shared_ptr<const Context> _context;
    std::shared_ptr<MemoryPool> _pool;
};

/// GPU number `ordinal` of this machine. DeviceUnavailable without a driver or such a GPU, TargetError for one
/// that is too old.
[[nodiscard]] std::unique_ptr<Accelerator> make_accelerator(int ordinal, DeviceImpl &owner);

}// namespace luisa::tile::runtime::cuda
