// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/team.h"

#include "emit/llvm/team.h"
#include "ir/payload.h"
#include "runtime/emulator/call_stacks.h"
#include "runtime/emulator/matrix.h"
#include "runtime/emulator/observer.h"
#include "runtime/emulator/panels.h"

#include <luisa/tile/error.h>

#include <boost/context/detail/fcontext.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace luisa::tile::emulator {

namespace {

namespace context = boost::context::detail;

/// Memory that pages in when it is used.
class Pages {
public:
    void reserve(size_t bytes) {
        if (bytes <= _bytes) {
            return;
        }
        release();
        void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            throw OutOfMemoryError{"no memory for the stacks of " + std::to_string(bytes >> 10) +
                                   " KiB that the threads of a block need"};
        }
        _data = static_cast<char *>(memory);
        _bytes = bytes;
    }
    [[nodiscard]] char *data() const noexcept { return _data; }
    Pages() = default;
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;
    ~Pages() { release(); }

private:
    void release() {
        if (_data) {
            munmap(_data, _bytes);
            _data = nullptr;
            _bytes = 0;
        }
    }
    char *_data = nullptr;
    size_t _bytes = 0;
};

constexpr size_t stack_bytes = 128 << 10;
constexpr int warp = 32, warpgroup = target::PanelAtom::threads;

/// The threads of one block, one of which runs at a time.
class Block final : public emit::Team {
public:
    Block(const Launch &launch, int64_t number, char *stacks, CallStacks &calls, void *shared)
        : _launch{launch}, _number{number}, _stacks{stacks}, _calls{calls}, _shared{shared},
          _threads(static_cast<size_t>(launch.threads)) {}

    void run();

    int64_t thread() noexcept override { return _current; }
    int64_t threads() noexcept override { return _launch.threads; }
    int64_t block() noexcept override { return _number; }
    int64_t blocks() noexcept override { return _launch.blocks; }
    void *shared() noexcept override { return _shared; }
    void barrier(const ir::Operation *at) noexcept override {
        current().at = at;
        wait(State::AT_BARRIER);
    }
    bool access(const void *address, int64_t bytes, emit::AccessKind kind,
                const ir::Operation *at) noexcept override {
        return !_launch.observer ||
               _launch.observer->access({_number, _current, _interval}, address, bytes, kind, at);
    }
    uint64_t exchange(uint64_t bits, int32_t by, int32_t mode) noexcept override {
        auto &own = current();
        own.bits = bits;
        own.by = by;
        own.mode = mode;
        wait(State::AT_EXCHANGE);
        return own.bits;
    }

    void copy(void *to, const void *from, int32_t bytes, int64_t count,
              const ir::Operation *at) noexcept override;
    void commit_copies() noexcept override { ++current().groups; }
    void wait_for_copies(int32_t groups) noexcept override;
    void load_matrix(const void *row, int32_t count, int32_t transposed, void *result,
                     const ir::Operation *at) noexcept override {
        auto &own = current();
        own.matrices = {row, nullptr, result};
        own.by = count;
        own.mode = transposed;
        own.at = at;
        wait(State::AT_LOAD);
    }
    void multiply_matrix(int32_t atom, const void *a, const void *b, void *sum) noexcept override {
        auto &own = current();
        own.matrices = {a, b, sum};
        own.by = atom;
        wait(State::AT_PRODUCT);
    }

    void multiply_panels(int32_t atom, int32_t n, int32_t across, uint64_t a, uint64_t b,
                         void *sums, const ir::Operation *at) noexcept override;
    void fence_panels() noexcept override { current().panels.fence(); }
    void commit_panels() noexcept override { current().panels.commit(); }
    void wait_for_panels(int32_t groups, int32_t lanes, void *sums,
                         const ir::Operation *at) noexcept override {
        auto &own = current();
        own.by = groups;
        own.at = at;
        wait(State::AT_PANELS);
        own.panels.give_back(lanes, static_cast<uint32_t *>(sums));
    }
    void show_copies() noexcept override {
        if (_launch.observer) {
            _launch.observer->show_writes(_current);
        }
    }

private:
    enum class State : uint8_t {
        READY,
        AT_BARRIER,
        AT_EXCHANGE,
        AT_LOAD,
        AT_PRODUCT,
        AT_PANELS,
        DONE
    };
    struct Copy {
        void *to;
        const void *from;
        int64_t bytes, count;
        int64_t group;
        const ir::Operation *at;
    };
    struct Thread {
        context::fcontext_t where = nullptr;///< where it goes on
        State state = State::READY;
        uint64_t bits = 0;///< offered, then received
        int32_t by = 0, mode = 0;
        const ir::Operation *at = nullptr;///< the barrier where it waits
        LaneMatrices matrices;            ///< its part of an operation of the warp
        std::vector<Copy> copies;         ///< that it has not waited for
        int64_t groups = 0;               ///< of copies, so far
        PanelThread panels;
    };
    Thread &current() noexcept { return _threads[static_cast<size_t>(_current)]; }

    LUISA_TILE_NOT_FOLLOWED static void enter(context::transfer_t from) noexcept;
    void wait(State state) noexcept;
    void resume(int64_t thread);
    [[nodiscard]] bool all_in(size_t first, size_t last, State state) const;
    bool release_warps();
    bool release_block();
    void exchange_in(size_t first, size_t last);
    void load_in(size_t first, size_t last);
    void multiply_in(size_t first, size_t last);
    bool release_warpgroups();
    [[noreturn]] void stuck() const;

    const Launch &_launch;
    int64_t _number;
    char *_stacks;
    CallStacks &_calls;
    void *_shared;
    std::vector<Thread> _threads;
    int64_t _current = 0, _interval = 0;
    context::fcontext_t _scheduler = nullptr;
};

void Block::enter(context::transfer_t from) noexcept {
    auto &self = *static_cast<Block *>(from.data);
    self._scheduler = from.fctx;
    const auto &launch = self._launch;
    launch.run(launch.args, launch.scratch);
    self.current().state = State::DONE;
    self._calls.leave();
    context::jump_fcontext(self._scheduler, &self);
}

void Block::wait(State state) noexcept {
    current().state = state;
    _calls.leave();
    _scheduler = context::jump_fcontext(_scheduler, this).fctx;
}

void Block::resume(int64_t thread) {
    _current = thread;
    auto &t = current();
    t.state = State::READY;
    _calls.enter(static_cast<size_t>(thread));
    t.where = context::jump_fcontext(t.where, this).fctx;
}

bool Block::all_in(size_t first, size_t last, State state) const {
    return std::all_of(_threads.begin() + static_cast<std::ptrdiff_t>(first),
                       _threads.begin() + static_cast<std::ptrdiff_t>(last),
                       [&](const Thread &t) { return t.state == state; });
}

/// What each lane of a warp receives: its own where the lane that it names does not exist.
void Block::exchange_in(size_t first, size_t last) {
    std::vector<uint64_t> offered;
    for (auto i = first; i < last; ++i) {
        offered.push_back(_threads[i].bits);
    }
    auto lanes = static_cast<int64_t>(last - first);
    for (int64_t lane = 0; lane < lanes; ++lane) {
        auto &t = _threads[first + static_cast<size_t>(lane)];
        int64_t from = 0;
        switch (static_cast<ir::ExchangeMode>(t.mode)) {
            case ir::ExchangeMode::XOR: from = lane ^ t.by; break;
            case ir::ExchangeMode::UP: from = lane - t.by; break;
            case ir::ExchangeMode::DOWN: from = lane + t.by; break;
            case ir::ExchangeMode::INDEX: from = t.by; break;
        }
        t.bits = offered[static_cast<size_t>(from >= 0 && from < lanes ? from : lane)];
        t.state = State::READY;
    }
}

void Block::copy(void *to, const void *from, int32_t bytes, int64_t count,
                 const ir::Operation *at) noexcept {
    count = std::clamp<int64_t>(count, 0, bytes);
    bool may = true;
    if (auto *observer = _launch.observer) {
        Observer::Where where{_number, _current, _interval};
        may = (count == 0 || observer->access(where, from, count, emit::AccessKind::READ, at)) &&
              observer->begin_copy(where, to, bytes, at);
    }
    if (may) {
        current().copies.push_back({to, from, bytes, count, current().groups, at});
    }
}

/// Copies are done as late as code lets them be.
void Block::wait_for_copies(int32_t groups) noexcept {
    auto &own = current();
    auto over = [&](const Copy &copy) { return copy.group < own.groups - groups; };
    for (const auto &copy : own.copies) {
        if (!over(copy)) {
            continue;
        }
        if (_launch.observer) {
            _launch.observer->end_copy({_number, _current, _interval}, copy.to, copy.bytes,
                                       copy.at);
        }
        std::memset(copy.to, 0, static_cast<size_t>(copy.bytes));
        std::memcpy(copy.to, copy.from, static_cast<size_t>(copy.count));
    }
    std::erase_if(own.copies, over);
}

/// Rows of 16 bytes become parts of four bytes a lane.
void Block::load_in(size_t first, size_t last) {
    auto rows = std::vector<std::array<char, 16>>(last - first);
    auto count = static_cast<size_t>(_threads[first].by);
    bool transposed = _threads[first].mode != 0;
    for (size_t lane = 0; lane < 8 * count; ++lane) {
        auto &t = _threads[first + lane];
        Observer::Where where{_number, static_cast<int64_t>(first + lane), _interval};
        rows[lane].fill(0);
        if (!_launch.observer ||
            _launch.observer->access(where, t.matrices.a, 16, emit::AccessKind::READ, t.at)) {
            std::memcpy(rows[lane].data(), t.matrices.a, 16);
        }
    }
    for (size_t lane = 0; lane < last - first; ++lane) {
        auto &t = _threads[first + lane];
        for (size_t i = 0; i < count; ++i) {
            auto *to = static_cast<char *>(t.matrices.sum) + 4 * i;
            auto line = lane / 4, at = lane % 4;
            if (!transposed) {
                std::memcpy(to, rows[8 * i + line].data() + 4 * at, 4);
                continue;
            }
            for (size_t half = 0; half < 2; ++half) {
                std::memcpy(to + 2 * half, rows[8 * i + 2 * at + half].data() + 2 * line, 2);
            }
        }
        t.state = State::READY;
    }
}

void Block::multiply_in(size_t first, size_t last) {
    std::vector<LaneMatrices> lanes;
    for (auto i = first; i < last; ++i) {
        lanes.push_back(_threads[i].matrices);
        _threads[i].state = State::READY;
    }
    auto atom = static_cast<size_t>(_threads[first].by);
    multiply(target::matrix_atoms()[atom], lanes);
}

/// Lets the warps go on whose threads have all come to an exchange.
bool Block::release_warps() {
    bool any = false;
    for (size_t first = 0; first < _threads.size(); first += warp) {
        auto last = std::min(first + warp, _threads.size());
        if (all_in(first, last, State::AT_EXCHANGE)) {
            exchange_in(first, last);
            any = true;
        } else if (all_in(first, last, State::AT_LOAD)) {
            load_in(first, last);
            any = true;
        } else if (all_in(first, last, State::AT_PRODUCT)) {
            multiply_in(first, last);
            any = true;
        }
    }
    return any;
}

void Block::multiply_panels(int32_t atom, int32_t n, int32_t across, uint64_t a, uint64_t b,
                            void *sums, const ir::Operation *at) noexcept {
    bool right = current().panels.multiply({atom, n, across, a, b, at, 0},
                                           static_cast<uint32_t *>(sums));
    if (!right && _launch.observer) {
        _launch.observer->panels_touched({_number, _current, _interval}, at);
    }
}

/// Does what warpgroups wait for whose threads have all come to the wait.
bool Block::release_warpgroups() {
    bool any = false;
    for (size_t first = 0; first + warpgroup <= _threads.size(); first += warpgroup) {
        if (!all_in(first, first + warpgroup, State::AT_PANELS)) {
            continue;
        }
        std::vector<PanelThread *> threads;
        for (size_t i = first; i < first + warpgroup; ++i) {
            threads.push_back(&_threads[i].panels);
            _threads[i].state = State::READY;
        }
        auto read = [&](size_t thread, int64_t offset, size_t bytes,
                        const ir::Operation *at) -> const void * {
            const auto *place = static_cast<const char *>(_shared) + offset;
            if (offset + static_cast<int64_t>(bytes) > static_cast<int64_t>(_launch.shared_bytes)) {
                throw DeviceError{"a warpgroup reads byte " + std::to_string(offset) +
                                  " of shared memory, which ends before"};
            }
            Observer::Where where{_number, static_cast<int64_t>(first + thread), _interval};
            bool may = !_launch.observer ||
                       _launch.observer->read_panel(where, place, static_cast<int64_t>(bytes), at);
            return may ? place : nullptr;
        };
        finish_panels(threads, _threads[first].by, read);
        any = true;
    }
    return any;
}

/// Lets all threads go on when they have come to a barrier.
bool Block::release_block() {
    if (!all_in(0, _threads.size(), State::AT_BARRIER)) {
        return false;
    }
    for (auto &t : _threads) {
        if (t.at != _threads.front().at && _launch.observer) {
            _launch.observer->divergence(_number, _threads.front().at, t.at);
        }
        t.state = State::READY;
    }
    ++_interval;
    return true;
}

void Block::stuck() const {
    auto count = [&](State state) {
        return std::count_if(_threads.begin(), _threads.end(),
                             [&](const Thread &t) { return t.state == state; });
    };
    throw DeviceError{"block " + std::to_string(_number) + " cannot go on: of its " +
                      std::to_string(_threads.size()) + " threads " +
                      std::to_string(count(State::AT_BARRIER)) + " wait at a barrier, " +
                      std::to_string(count(State::AT_EXCHANGE) + count(State::AT_LOAD) +
                                     count(State::AT_PRODUCT) + count(State::AT_PANELS)) +
                      " at an exchange, and " + std::to_string(count(State::DONE)) + " are done"};
}

void Block::run() {
    for (size_t i = 0; i < _threads.size(); ++i) {
        auto *top = _stacks + (i + 1) * stack_bytes;
        _threads[i].where = context::make_fcontext(top, stack_bytes, &Block::enter);
    }
    std::vector<size_t> order(_threads.size());
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 engine{_launch.seed};
    while (!all_in(0, _threads.size(), State::DONE)) {
        if (_launch.seed) {
            std::shuffle(order.begin(), order.end(), engine);
        }
        bool ran = false;
        for (auto i : order) {
            if (_threads[i].state == State::READY) {
                resume(static_cast<int64_t>(i));
                ran = true;
            }
        }
        bool warps = release_warps(), groups = release_warpgroups(), block = release_block();
        if (!ran && !warps && !groups && !block) {
            stuck();
        }
    }
}

struct AlignedFree {
    void operator()(void *p) const noexcept { std::free(p); }
};

}// namespace

void run_block(const Launch &launch, int64_t block) {
    thread_local Pages stacks;
    thread_local CallStacks calls;
    thread_local std::unique_ptr<void, AlignedFree> shared;
    thread_local size_t shared_bytes = 0;
    stacks.reserve(static_cast<size_t>(launch.threads) * stack_bytes);
    calls.reserve(static_cast<size_t>(launch.threads));
    if (launch.shared_bytes > shared_bytes) {
        shared_bytes = (launch.shared_bytes + 4095) / 4096 * 4096;
        shared.reset(std::aligned_alloc(1024, shared_bytes));
        if (!shared) {
            shared_bytes = 0;
            throw OutOfMemoryError{"no memory for the shared memory of a block"};
        }
    }
    Block team{launch, block, stacks.data(), calls, shared.get()};
    emit::TeamScope scope{&team};
    if (launch.observer) {
        launch.observer->begin_block(block, shared.get(), launch.shared_bytes);
    }
    team.run();
    if (launch.observer) {
        launch.observer->rethrow();
    }
}

}// namespace luisa::tile::emulator
