// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/kernel.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace luisa::tile {

namespace runtime {
struct DeviceImpl;
struct ShaderImpl;
template<class Definition> class JitFunction;

/// One argument of a dispatch: a view over memory, or the bits of a scalar.
struct Argument {
    static constexpr int max_rank = 6;
    bool is_view = false, read_only = false;
    bool alive = true;///< false: of a tensor without memory (moved from, freed or default made)
    ScalarType type = ScalarType::FLOAT32;
    int rank = 0;
    void *data = nullptr;
    int64_t extents[max_rank]{}, strides[max_rank]{};
    uint64_t bits = 0;
    std::shared_ptr<void> owner;///< keeps a device's memory while the argument waits
};

}// namespace runtime

/// Gets a line of text.
using PrintReceiver = std::function<void(const std::string &)>;

struct DeviceOptions {
    int threads = 0;///< 0: LUISA_TILE_THREADS if set, else every core
    bool validate =
        false;///< check aliasing promises and, on the interpreter and the emulator, bounds and races
    /// Gets each line that kernels print, without its end, one at a time; empty: the standard output. It is
    /// called from the threads that run kernels and may not use the device.
    PrintReceiver print{};
    std::string cpu{};///< CPU to generate code for, as LLVM names it; empty: this machine
    bool cache =
        true;///< whether compiled kernels are kept on disk and found there by later processes
    /// Where they are kept: made if missing, and refused if others own it or may write it. Empty:
    /// LUISA_TILE_CACHE (`off` for none), else XDG_CACHE_HOME/luisa-tile, else HOME/.cache/luisa-tile.
    std::string cache_directory{};
    int64_t cache_bytes = int64_t{512}
                          << 20;///< beyond this the entries used longest ago are removed
    /// Gets what does not stop the work but should be known, such as a cache that cannot be used: each problem
    /// once a device, from any thread. Empty: the standard error stream, once a process.
    PrintReceiver warn{};
    /// Of "cuda-emulator": the architecture that it stands for, such as "sm_90a" or "80"; empty: "sm_90".
    std::string architecture{};
};

/// What the cache on disk did for a kernel.
enum class DiskCache : uint8_t {
    OFF,///< not asked
    MISS,
    HIT,
};

/// What compiling a kernel gave: for explain, tests and benchmarks.
struct ShaderMetadata {
    std::string plan;///< as `luisa-tile explain` prints it; empty on the interpreter
    size_t scratch_bytes = 0, shared_bytes = 0;
    double plan_ms = 0, realize_ms = 0, emit_ms = 0, codegen_ms = 0, link_ms = 0;
    DiskCache disk = DiskCache::OFF;
    double disk_ms =
        0;///< spent on the cache on disk: looking up, reading and, after a miss, writing
    /// Milliseconds from captured kernel to code, all phases together.
    [[nodiscard]] double compile_ms() const noexcept {
        return plan_ms + realize_ms + emit_ms + codegen_ms + link_ms + disk_ms;
    }
};

/// A kernel compiled for a device. Cheap to copy; immutable and usable from any thread.
class Shader {
public:
    Shader() = default;
    explicit Shader(std::shared_ptr<const runtime::ShaderImpl> impl) : _impl{std::move(impl)} {}
    /// What is known of the compiled kernel: its plan, memory and times.
    [[nodiscard]] const ShaderMetadata &metadata() const;
    [[nodiscard]] const runtime::ShaderImpl *impl() const noexcept { return _impl.get(); }
    [[nodiscard]] const std::shared_ptr<const runtime::ShaderImpl> &shared_impl() const noexcept {
        return _impl;
    }

    /// Binds arguments in signature order: tensors for views, host numbers for scalars.
    template<class... A> [[nodiscard]] auto operator()(const A &...arguments) const;

private:
    std::shared_ptr<const runtime::ShaderImpl> _impl;
};

/// How a kernel is compiled.
struct CompileOptions {
    /// Whether the device's in-memory cache is asked and keeps the result. Without it the kernel is compiled
    /// afresh and freed with its last handle: for measurements, and for kernels that are used once. Nor is
    /// the cache on disk asked then.
    bool cached = true;
    bool disk = true;///< whether the device's cache on disk is asked and keeps the result
};

/// What `try_compile` gives: a shader, or the error that `compile` would have thrown.
struct CompileResult {
    Shader shader;
    std::optional<Error> error;
    explicit operator bool() const noexcept { return !error; }
};

/// A place to run kernels: "cpu", "interpreter", "cuda" (or "cuda:1", … of several GPUs) or "cuda-emulator", which runs
/// a GPU's code on the CPU. Cheap to copy; the last handle frees it, and shaders and streams are handles too. An empty
/// one (default made, moved from) throws LifetimeError.
class Device {
public:
    Device() = default;
    /// Opens a device by name. Unknown names: TargetError listing the accepted ones. A malformed
    /// LUISA_TILE_THREADS: ValueError. No NVIDIA driver, or no GPU of that number: DeviceUnavailable.
    [[nodiscard]] static Device create(const std::string &name, DeviceOptions options = {});

    /// The name that the device was created by, such as `cpu`.
    [[nodiscard]] const std::string &name() const;
    /// One line: processor, cores, caches, vector width.
    [[nodiscard]] std::string description() const;
    /// How many threads run a kernel's tasks, the caller's included.
    [[nodiscard]] int threads() const;
    /// Compiles a kernel, or finds it in the in-memory cache (by canonical text). Throws UnsupportedError naming
    /// the operation and its line for what the device does not realize.
    [[nodiscard]] Shader compile(const Kernel &kernel, CompileOptions options = {}) const;
    /// The same, with errors as values.
    [[nodiscard]] CompileResult try_compile(const Kernel &kernel,
                                            CompileOptions options = {}) const;
    /// A callable that captures and compiles on first use for the extents and strides of its
    /// arguments: `auto softmax = device.jit(definition); stream << softmax(x, y).dispatch();`. What the
    /// definition's lambda captured by reference is frozen at the first use.
    template<class Definition>
    [[nodiscard]] runtime::JitFunction<Definition> jit(Definition definition) const;
    [[nodiscard]] runtime::DeviceImpl *impl() const noexcept { return _impl.get(); }
    /// LifetimeError for an empty handle.
    [[nodiscard]] const std::shared_ptr<runtime::DeviceImpl> &shared_impl() const;

private:
    std::shared_ptr<runtime::DeviceImpl> _impl;
};

/// The same as `device.compile(kernel, options)`.
[[nodiscard]] inline Shader compile(const Device &device, const Kernel &kernel,
                                    CompileOptions options = {}) {
    return device.compile(kernel, options);
}

namespace runtime {
/// Checks arguments against the kernel's signature; true when views overlap, so that the variant for
/// overlapping views is needed. Throws
///   CallError      wrong number of arguments, or two extents of one name differ
///   TypeError      element type or rank differs, or a read-only tensor for a view that may be written
///   ShapeError     an extent or stride is not the one that the kernel was captured for
///   AliasError     two places of a written view are one element (stride 0, or strides that meet); with
///                  `validate`, a written view shares elements with another one although the kernel promises
///                  `noalias`
///   LifetimeError  a tensor was moved from or freed
///   ValueError     null memory with elements, or strides beyond every address
///   AlignmentError memory that is not aligned to its elements
///   StateError     in a child process of the one that made the device
bool check_call(const ShaderImpl &shader, const Argument *arguments, int count, SourceLoc loc);
/// Checks, then runs to the end on the calling thread and the device's workers. A warm dispatch allocates
/// nothing.
void dispatch(const ShaderImpl &shader, const Argument *arguments, int count, SourceLoc loc);
}// namespace runtime

}// namespace luisa::tile
