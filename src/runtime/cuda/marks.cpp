// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/queue.h"

namespace luisa::tile::runtime::cuda {

namespace {

constexpr unsigned without_timing = 2;

}// namespace

EventMark::EventMark(std::shared_ptr<const Context> context, StreamHandle stream, bool timing)
    : _context{std::move(context)} {
    _context->check(_context->cu.event_create(&_event, timing ? 0 : without_timing),
                    "cuEventCreate");
    if (auto result = _context->cu.event_record(_event, stream); result != SUCCESS) {
        _context->cu.event_destroy(_event);
        _context->check(result, "cuEventRecord");
    }
}

EventMark::~EventMark() {
    if (_context->abandoned()) {
        return;
    }
    try {
        Context::Current current{*_context};
        _context->cu.event_destroy(_event);
    } catch (const Error &) {
        // A broken context has no events.
    }
}

void EventMark::wait() {
    Context::Current current{*_context};
    _context->check(_context->cu.event_synchronize(_event), "cuEventSynchronize");
}

bool EventMark::milliseconds_since(const Mark &earlier, double &out) const {
    const auto *other = dynamic_cast<const EventMark *>(&earlier);
    if (!other || other->_context != _context) {
        return false;
    }
    Context::Current current{*_context};
    float milliseconds = 0;
    _context->check(_context->cu.event_elapsed_time(&milliseconds, other->_event, _event),
                    "cuEventElapsedTime");
    out = static_cast<double>(milliseconds);
    return true;
}

bool EventMark::reached() const noexcept {
    try {
        Context::Current current{*_context};
        return _context->cu.event_query(_event) != NOT_READY;
    } catch (const Error &) {
        return true;
    }
}

void Kept::add(std::shared_ptr<const void> owner) {
    std::lock_guard lock{_mutex};
    _open.push_back(std::move(owner));
}

size_t Kept::unmarked() const {
    std::lock_guard lock{_mutex};
    return _open.size();
}

void Kept::mark(std::shared_ptr<EventMark> mark) {
    std::lock_guard lock{_mutex};
    _batches.push_back({std::move(_open), std::move(mark)});
    _open.clear();
}

void Kept::release_reached() {
    std::deque<Batch> reached;
    std::lock_guard lock{_mutex};
    while (!_batches.empty() && _batches.front().mark->reached()) {
        reached.push_back(std::move(_batches.front()));
        _batches.pop_front();
    }
}

void Kept::release_all() {
    std::vector<std::shared_ptr<const void>> open;
    std::deque<Batch> batches;
    std::lock_guard lock{_mutex};
    open.swap(_open);
    batches.swap(_batches);
}

}// namespace luisa::tile::runtime::cuda
