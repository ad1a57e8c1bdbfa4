// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/cuda/driver.h"
#include "target/cuda.h"

#include <luisa/tile/error.h>

#include <mutex>
#include <string>

namespace luisa::tile::runtime::cuda {

/// One GPU's primary context, which it shares with other libraries of the process.
class Context {
public:
    /// DeviceUnavailable without such a device, TargetError for an architecture that is too old.
    explicit Context(int ordinal);
    ~Context();
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    const Driver &cu;
    const int ordinal;
    std::string name;       ///< "cuda:0"
    std::string product;    ///< "NVIDIA H200"
    target::CudaFacts facts;///< of the catalog, with this card's own numbers
    size_t memory_bytes = 0;
    int ptx_isa = 0;///< what code for it is written in

    /// Makes the context current while it lives, as every call but a few needs.
    class Current {
    public:
        explicit Current(const Context &context);
        ~Current();
        Current(const Current &) = delete;
        Current &operator=(const Current &) = delete;

    private:
        const Context &_context;
    };

    /// DeviceError unless `result` is SUCCESS: "cuStreamCreate on cuda:0: out of …". After an error that the
    /// driver never forgets, the same one at every later call.
    void check(int result, const char *call) const;
    /// StateError that says why the device can no longer be used, if that is so.
    void check_usable() const;
    /// True for errors that end the context's life; remembers `why`.
    bool note_sticky(int result, const std::string &why) const;
    /// A fork's child has no driver any more: nothing may be given back there.
    [[nodiscard]] bool abandoned() const noexcept;

private:
    void read_facts();
    int _device = 0;
    int _process = 0;
    ContextHandle _handle = nullptr;
    mutable std::mutex _mutex;
    mutable std::string _broken;
};

}// namespace luisa::tile::runtime::cuda
