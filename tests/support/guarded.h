// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/both.h"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>

// Runs the CPU back end on views whose memory ends, or begins, at a page that cannot be touched: an access
// outside kills the test.

namespace luisa::tile::test {

enum class Guard { AFTER, BEFORE };

/// `bytes` bytes that end right before an unreadable page (AFTER), or begin right after one (BEFORE).
class GuardedMemory {
public:
    GuardedMemory(size_t bytes, Guard guard) {
        auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        auto inner = (bytes + page - 1) / page * page;
        _size = inner + 2 * page;
        auto *base = mmap(nullptr, _size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED ||
            (inner && mprotect(static_cast<char *>(base) + page, inner, PROT_READ | PROT_WRITE))) {
            throw std::bad_alloc{};
        }
        _base = static_cast<char *>(base);
        data = _base + page + (guard == Guard::AFTER ? inner - bytes : 0);
    }
    GuardedMemory(const GuardedMemory &) = delete;
    GuardedMemory &operator=(const GuardedMemory &) = delete;
    ~GuardedMemory() { munmap(_base, _size); }
    char *data = nullptr;

private:
    char *_base = nullptr;
    size_t _size = 0;
};

/// The first and one past the last element that a view reaches, relative to its origin.
inline std::pair<int64_t, int64_t> reach_of(const View &v) {
    int64_t low = 0, high = 1;
    for (size_t d = 0; d < v.extents.size(); ++d) {
        if (v.extents[d] == 0) {
            return {0, 0};
        }
        auto far = (v.extents[d] - 1) * v.strides[d];
        (far < 0 ? low : high) += far;
    }
    return {low, high};
}

/// A kernel compiled once for the CPU, to run on guarded memory.
class GuardedKernel {
public:
    explicit GuardedKernel(const Kernel &kernel)
        : _kernel{kernel}, _compiled{compiler::compile_cpu(*module_of(kernel),
                                                           {emit::host_cpu(), 1, false})} {}
    /// Compares what the CPU leaves on memory with either guard with what the interpreter leaves.
    void run(const std::vector<View> &views, std::vector<uint64_t> scalars = {},
             double tolerance = 0) const {
        auto reference = views;
        interpreter::run(*module_of(_kernel),
                         arguments_of(*module_of(_kernel), reference, scalars));
        for (auto guard : {Guard::AFTER, Guard::BEFORE}) {
            auto got = views;
            run_cpu_on_guarded(got, scalars, guard);
            for (size_t i = 0; i < views.size(); ++i) {
                EXPECT_TRUE(same(reference[i], got[i], tolerance, i))
                    << _kernel.ir_text() << _compiled->plan;
            }
        }
    }

private:
    void run_cpu_on_guarded(std::vector<View> &views, const std::vector<uint64_t> &scalars,
                            Guard guard) const {
        auto arguments = arguments_of(*module_of(_kernel), views, scalars);
        std::vector<std::unique_ptr<GuardedMemory>> memory;
        std::vector<std::pair<char *, size_t>> places;
        for (auto &a : arguments) {
            if (!a.data && a.extents.empty()) {
                continue;
            }
            const auto &v = views[memory.size()];
            auto width = static_cast<int64_t>(size_of(v.type));
            auto [low, high] = reach_of(v);
            auto bytes = static_cast<size_t>((high - low) * width);
            auto *from = static_cast<char *>(a.data) + low * width;
            memory.push_back(std::make_unique<GuardedMemory>(bytes, guard));
            std::memcpy(memory.back()->data, from, bytes);
            places.emplace_back(from, bytes);
            a.data = memory.back()->data - low * width;
        }
        run_cpu(*_compiled, arguments);
        for (size_t i = 0; i < places.size(); ++i) {
            std::memcpy(places[i].first, memory[i]->data, places[i].second);
        }
    }
    Kernel _kernel;
    std::shared_ptr<const compiler::CpuKernel> _compiled;
};

}// namespace luisa::tile::test
