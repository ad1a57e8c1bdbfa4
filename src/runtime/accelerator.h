// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/device.h>
#include <luisa/tile/tensor.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace luisa::tile::cache {
class ObjectCache;
}

namespace luisa::tile::runtime {

struct DeviceImpl;
struct ShaderImpl;

// What a kind of device gives whose memory and queues are not those of the host. The CPU and the interpreter run
// a command where it is submitted and have none of this.

/// A kernel that is ready to run. Immutable.
class AcceleratorCode {
public:
    virtual ~AcceleratorCode() = default;
    /// What compiling it gave.
    [[nodiscard]] virtual const ShaderMetadata &metadata() const noexcept = 0;
    /// How many launches a dispatch is.
    [[nodiscard]] virtual int launches() const noexcept = 0;
};

/// A place in the order of a queue.
class Mark {
public:
    virtual ~Mark() = default;
    /// Returns when all that came before is done.
    virtual void wait() = 0;
    /// Time on the device between two places that were reached. False when the other is not of this device.
    [[nodiscard]] virtual bool milliseconds_since(const Mark &earlier, double &out) const = 0;
};

/// Commands in order. Used by one thread at a time.
class AcceleratorQueue {
public:
    /// Finishes what waits. Errors that nobody asked for any more are dropped.
    virtual ~AcceleratorQueue() = default;
    /// Starts a copy. What is on the host may be changed when a copy to the device returns; a copy to the host is
    /// done when it returns.
    virtual void copy(const CopyCommand &copy) = 0;
    /// Starts a kernel on the argument words of `dispatch`. Memory that the arguments own lives until it has run.
    virtual void launch(const ShaderImpl &shader, std::shared_ptr<const AcceleratorCode> code,
                        std::span<const uint64_t> words, std::span<const Argument> arguments,
                        SourceLoc loc) = 0;
    /// Whether kernels can read and write the memory of the argument.
    [[nodiscard]] virtual bool reaches(const Argument &argument) const = 0;
    /// Keeps what `owner` stands for until what was submitted so far has run.
    virtual void keep(std::shared_ptr<const void> owner) = 0;
    [[nodiscard]] virtual std::shared_ptr<Mark> record() = 0;
    /// What follows starts after a mark of any queue.
    virtual void wait(const std::shared_ptr<Mark> &mark) = 0;
    /// Returns when everything has run; throws what went wrong since the last call, with kernel and dispatch.
    virtual void synchronize() = 0;
};

class Accelerator {
public:
    virtual ~Accelerator() = default;
    /// "cuda:0: NVIDIA H200, sm_90a, …"
    [[nodiscard]] virtual std::string description() const = 0;
    /// Memory that the last holder gives back. Anything may still use it that was submitted before.
    [[nodiscard]] virtual std::shared_ptr<void> allocate(size_t bytes) = 0;
    /// With a `native` stream it submits to that one.
    [[nodiscard]] virtual std::unique_ptr<AcceleratorQueue> make_queue(
        std::optional<void *> native) = 0;
    [[nodiscard]] std::unique_ptr<AcceleratorQueue> make_queue() {
        return make_queue(std::nullopt);
    }
    /// Its number among the GPUs of the machine.
    [[nodiscard]] virtual int ordinal() const noexcept = 0;
    /// Compiles a kernel, or finds it in a cache on disk unless that is null.
    [[nodiscard]] virtual std::shared_ptr<const AcceleratorCode> compile(
        const ShaderImpl &shader, bool may_alias, cache::ObjectCache *disk) = 0;
};

}// namespace luisa::tile::runtime
