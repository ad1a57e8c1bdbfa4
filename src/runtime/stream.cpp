// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/stream.h>

#include "runtime/profile.h"
#include "runtime/program.h"
#include "runtime/queue.h"

#include <array>
#include <vector>

namespace luisa::tile {

namespace {

using runtime::Argument;
using runtime::StreamQueue;

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

void run_copy(const runtime::CopyCommand &copy) noexcept {
    for (int d = 0; d < copy.tensor.rank; ++d) {
        if (copy.tensor.extents[d] == 0) {
            return;
        }
    }
    copy_axis(copy.tensor, 0, static_cast<char *>(copy.tensor.data), static_cast<char *>(copy.host),
              copy.to_host);
}

/// Also where the accelerator fails, since others may wait for the event.
void record_on(runtime::EventState &state, runtime::AcceleratorQueue *work) {
    std::shared_ptr<runtime::Mark> mark;
    try {
        mark = work ? work->record() : nullptr;
    } catch (...) {
        state.record();
        throw;
    }
    state.record(std::move(mark));
}

/// An error on a stream's thread is far from the call that caused it: name the kernel and that call.
void dispatch_later(const runtime::ShaderImpl &shader, const std::vector<Argument> &arguments,
                    SourceLoc loc, runtime::AcceleratorQueue *work,
                    runtime::ProfilerState *profile) {
    try {
        runtime::dispatch(shader, arguments.data(), static_cast<int>(arguments.size()), loc, work,
                          profile);
    } catch (const Error &error) {
        auto notes = error.notes();
        notes.push_back(
            {"in kernel '" + shader.module->kernel()->name + "', dispatched here", loc});
        throw_error(error.kind(), error.message(), error.location(), std::move(notes));
    }
}

}// namespace

Event::Event() : _state{std::make_shared<runtime::EventState>()} {}

double Event::milliseconds_since(const Event &earlier) const {
    std::array<std::chrono::steady_clock::time_point, 2> times;
    std::array<std::shared_ptr<runtime::Mark>, 2> marks;
    size_t i = 0;
    for (const auto *event : {&earlier, this}) {
        if (!event->_state) {
            throw LifetimeError{"an event is read after it was moved from"};
        }
        std::lock_guard lock{event->_state->mutex};
        if (event->_state->done == 0 || event->_state->done < event->_state->submitted) {
            throw StateError{"an event is read before a stream has recorded it"};
        }
        marks[i] = event->_state->mark;
        times[i++] = event->_state->time;
    }
    if (double device_time = 0; marks[0] && marks[1]) {
        marks[1]->wait();
        if (marks[1]->milliseconds_since(*marks[0], device_time)) {
            return device_time;
        }
    }
    return std::chrono::duration<double, std::milli>(times[1] - times[0]).count();
}

runtime::EventWait Event::wait() const {
    if (!_state) {
        throw LifetimeError{"an event is waited for after it was moved from"};
    }
    std::lock_guard lock{_state->mutex};
    if (_state->submitted == 0) {
        throw StateError{"an event is waited for that no stream was asked to record"};
    }
    return {_state, _state->submitted};
}

void Event::synchronize() const {
    auto reached = wait();
    reached.state->wait(reached.records);
}

Stream::Stream(Device device, StreamOptions options) : _device{std::move(device)} {
    const auto &impl = _device.shared_impl();
    if (options.native && !impl->accelerator) {
        throw ValueError{"StreamOptions::native is a stream of CUDA; device '" + impl->name +
                         "' has none, leave it out"};
    }
    if (options.native && options.async) {
        throw ValueError{
            "StreamOptions::native with async: a native stream is asynchronous by itself, "
            "leave async out"};
    }
    if (options.async || impl->accelerator) {
        _queue = std::make_unique<StreamQueue>(impl, options.async, options.native);
    }
}

Stream::~Stream() = default;
Stream::Stream(Stream &&) noexcept = default;

Stream &Stream::operator=(Stream &&other) noexcept {
    _queue = std::move(other._queue);
    _device = std::move(other._device);
    _profiler = std::move(other._profiler);
    return *this;
}

runtime::DeviceImpl &Stream::device() const {
    if (!_device.impl()) {
        throw LifetimeError{"a stream is used after it was moved from"};
    }
    return *_device.impl();
}

Stream &Stream::operator<<(const runtime::CopyCommand &copy) {
    static_cast<void>(device());
    if (_queue) {
        _queue->push([copy, work = _queue->work()] { work ? work->copy(copy) : run_copy(copy); });
    } else {
        run_copy(copy);
    }
    return *this;
}

Stream &Stream::operator<<(runtime::Synchronize) {
    static_cast<void>(device());
    if (_queue) {
        _queue->wait();
    }
    return *this;
}

Stream &Stream::operator<<(std::function<void()> callback) {
    static_cast<void>(device());
    if (!callback) {
        throw ValueError{"an empty function is submitted to a stream"};
    }
    if (_queue) {
        _queue->push([callback = std::move(callback), work = _queue->work()] {
            if (work) {
                work->synchronize();
            }
            callback();
        });
    } else {
        callback();
    }
    return *this;
}

Stream &Stream::operator<<(const Event &event) {
    static_cast<void>(device());
    if (!event._state) {
        throw LifetimeError{"an event is recorded after it was moved from"};
    }
    {
        std::lock_guard lock{event._state->mutex};
        ++event._state->submitted;
    }
    if (_queue) {
        // Also after an error: others may wait for it.
        _queue->push([state = event._state, work = _queue->work()] { record_on(*state, work); },
                     StreamQueue::Kind::ALWAYS);
    } else {
        event._state->record();
    }
    return *this;
}

Stream &Stream::operator<<(const runtime::EventWait &wait) {
    static_cast<void>(device());
    if (_queue) {
        _queue->push(
            [wait, work = _queue->work()] {
                auto mark = work ? wait.state->wait_for_mark(wait.records) : nullptr;
                mark ? work->wait(mark) : wait.state->wait(wait.records);
            },
            StreamQueue::Kind::ALWAYS);
    } else {
        wait.state->wait(wait.records);
    }
    return *this;
}

Stream &Stream::dispatch(const Shader &shader, std::span<const Argument> arguments, SourceLoc loc) {
    submit(shader.shared_impl(), arguments.data(), static_cast<int>(arguments.size()), loc);
    return *this;
}

void Stream::submit(const std::shared_ptr<const runtime::ShaderImpl> &shader,
                    const Argument *arguments, int count, SourceLoc loc) {
    if (!shader) {
        throw LifetimeError{"an empty Shader is dispatched: compile a kernel first", loc};
    }
    if (shader->device != &device()) {
        throw DeviceError{"a shader of device '" + shader->device->name +
                              "' is dispatched on a stream of another device",
                          loc};
    }
    if (!_queue) {
        runtime::dispatch(*shader, arguments, count, loc, nullptr, _profiler.get());
        return;
    }
    if (!_queue->threaded()) {
        _queue->work()->keep(shader);
        runtime::dispatch(*shader, arguments, count, loc, _queue->work(), _profiler.get());
        return;
    }
    runtime::check_call(*shader, arguments, count, loc);
    _queue->push([shader, list = std::vector<Argument>(arguments, arguments + count), loc,
                  work = _queue->work(), profile = _profiler] {
        if (work) {
            work->keep(shader);
        }
        dispatch_later(*shader, list, loc, work, profile.get());
    });
}

void Stream::submit(const std::shared_ptr<runtime::ProgramState> &program,
                    const Argument *arguments, int count, SourceLoc loc) {
    if (runtime::device_of(*program).impl() != &device()) {
        throw DeviceError{"a program of device '" + runtime::device_of(*program).name() +
                              "' is dispatched on a stream of another device",
                          loc};
    }
    if (!_queue) {
        runtime::run_program(*program, arguments, count, loc, nullptr, _profiler.get());
        return;
    }
    if (!_queue->threaded()) {
        runtime::run_program(*program, arguments, count, loc, _queue->work(), _profiler.get());
        return;
    }
    runtime::check_program(*program, arguments, count, loc);
    _queue->push([program, list = std::vector<Argument>(arguments, arguments + count), loc,
                  work = _queue->work(), profile = _profiler] {
        runtime::run_program(*program, list.data(), static_cast<int>(list.size()), loc, work,
                             profile.get());
    });
}

}// namespace luisa::tile
