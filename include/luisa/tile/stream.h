// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/tensor.h>

#include <functional>

namespace luisa::tile {

namespace runtime {
struct Synchronize {};
struct EventState;
/// Makes a stream wait for an event; see Event::wait.
struct EventWait {
    std::shared_ptr<EventState> state;
    uint64_t records = 0;///< the one to wait for
};
class StreamQueue;
struct ProgramState;
struct ProfilerState;
template<size_t N> struct ProgramCall;
}// namespace runtime

/// Waits for everything before it: `stream << … << synchronize()`.
[[nodiscard]] inline runtime::Synchronize synchronize() noexcept { return {}; }

/// A point in a stream with its time. Move-only; may be recorded again.
class Event {
public:
    Event();
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    Event(Event &&) noexcept = default;
    Event &operator=(Event &&) noexcept = default;

    /// Milliseconds from `earlier` to this event. StateError unless both were recorded and no record of
    /// them waits in a stream.
    [[nodiscard]] double milliseconds_since(const Event &earlier) const;
    /// Returns when every record submitted so far is done. StateError when none was submitted.
    void synchronize() const;
    /// The command that lets a stream wait for the records submitted so far: `other << event.wait()`.
    /// StateError when none was submitted.
    [[nodiscard]] runtime::EventWait wait() const;

private:
    friend class Stream;
    std::shared_ptr<runtime::EventState> _state;
};

struct StreamOptions {
    /// A thread of its own runs the commands; submission checks arguments and returns. Otherwise each command
    /// runs in the submitting thread at submission.
    bool async = false;
    /// A stream of the CUDA driver (`CUstream`, `cudaStream_t`) to submit to instead of one of its own; null is
    /// the driver's default one. It must live until its last command has run. Kernels that print or check are
    /// waited for, since its owner would wait where we do not see it. ValueError on other devices and with
    /// `async`.
    std::optional<void *> native{};
};

/// An ordered queue of work; use it from one thread at a time. Tensors, shaders and events may be freed while
/// commands that name them wait; host memory of copies must live until they have run.
///
/// Mistakes in the arguments of a command are thrown at its submission. What a running command throws (also a
/// callback) comes out of the submission itself, or, of an asynchronous stream, out of its next
/// synchronisation; the commands between are skipped, except for events.
class Stream {
public:
    explicit Stream(Device device, StreamOptions options = {});
    /// Waits for all commands; errors that no synchronisation has seen are dropped.
    ~Stream();
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    Stream(Stream &&) noexcept;
    /// Waits for the commands of the stream that is replaced.
    Stream &operator=(Stream &&) noexcept;

    /// Checks the arguments and runs the kernel; see `runtime::dispatch` for the errors.
    template<size_t N> Stream &operator<<(const runtime::Call<N> &call) {
        submit(call.shader, call.arguments.data(), static_cast<int>(N), call.loc);
        return *this;
    }
    /// Checks the arguments and runs the commands of a program in order; see program.h.
    template<size_t N> Stream &operator<<(const runtime::ProgramCall<N> &call) {
        submit(call.program, call.arguments.data(), static_cast<int>(N), call.loc);
        return *this;
    }
    Stream &operator<<(const runtime::CopyCommand &copy);
    Stream &operator<<(runtime::Synchronize);
    /// Runs a host function in order. StateError when it synchronises its own asynchronous stream.
    Stream &operator<<(std::function<void()> callback);
    /// Records the time at which all earlier work is done.
    Stream &operator<<(const Event &event);
    Stream &operator<<(const runtime::EventWait &wait);
    /// The same as `*this << shader(…).dispatch()` for a list that only the run knows.
    Stream &dispatch(const Shader &shader, std::span<const runtime::Argument> arguments,
                     SourceLoc loc = SourceLoc::current());
    /// The same as `*this << luisa::tile::synchronize()`.
    void synchronize() { *this << runtime::Synchronize{}; }

private:
    friend class Profiler;
    void submit(const std::shared_ptr<const runtime::ShaderImpl> &shader,
                const runtime::Argument *arguments, int count, SourceLoc loc);
    void submit(const std::shared_ptr<runtime::ProgramState> &program,
                const runtime::Argument *arguments, int count, SourceLoc loc);
    [[nodiscard]] runtime::DeviceImpl &device() const;
    Device _device;
    std::unique_ptr<runtime::StreamQueue> _queue;     ///< null: commands run at submission
    std::shared_ptr<runtime::ProfilerState> _profiler;///< null: nobody measures
};

}// namespace luisa::tile
