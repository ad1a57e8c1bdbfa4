// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/cuda/driver.h"
#include "support/fake_cuda.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>
#include <string>

// Tests of the CUDA runtime run on a stand-in for the driver.

namespace luisa::tile::runtime::cuda::test {

class FakeGpu : public testing::Test {
protected:
    FakeGpu() {
        setenv("LUISA_TILE_CUDA_DRIVER", FAKE_CUDA, 1);
        library = dlopen(FAKE_CUDA, RTLD_NOW);
        EXPECT_NE(library, nullptr) << dlerror();
        function<void()>("fake_reset")();
        before = all_live();
    }
    ~FakeGpu() override { unsetenv("LUISA_TILE_CUDA_DRIVER"); }

    /// The call after `skip` others of this name gives `result`.
    void fail(const char *name, int result, int skip = 0) {
        function<void(const char *, int, int)>("fake_fail")(name, skip, result);
    }
    /// What waiting for the device gives from now on.
    void fail_device(int result) { function<void(int)>("fake_fail_device")(result); }
    int calls(const char *name) { return function<int(const char *)>("fake_calls")(name); }
    void set_memory(size_t bytes) { function<void(size_t)>("fake_set_memory")(bytes); }
    void set_machine(int version, int devices, int sm) {
        function<void(int, int, int)>("fake_set_machine")(version, devices, sm);
    }
    /// Memory of the test stands for memory of the device that another library made.
    void lend(const void *address, size_t bytes) {
        function<void(const void *, size_t)>("fake_lend")(address, bytes);
    }
    void set_log(const char *text) { function<void(const char *)>("fake_set_log")(text); }
    /// From now on kernels have a report buffer.
    void read_reports() { function<void()>("fake_read_reports")(); }
    FakeLaunch last_launch() { return function<FakeLaunch()>("fake_last_launch")(); }
    /// What this test made and has not given back. Contexts that another test broke keep theirs.
    FakeLive live() {
        auto now = all_live();
        return {now.blocks - before.blocks,     now.bytes - before.bytes,
                now.contexts - before.contexts, now.streams - before.streams,
                now.events - before.events,     now.modules - before.modules,
                now.pinned - before.pinned,     now.pushed - before.pushed};
    }

private:
    template<class F> F *function(const char *name) {
        auto *address = reinterpret_cast<F *>(dlsym(library, name));
        EXPECT_NE(address, nullptr) << name;
        return address;
    }
    FakeLive all_live() { return function<FakeLive()>("fake_live")(); }
    void *library = nullptr;
    FakeLive before;
};

/// The message of the error of class E that `f` throws.
template<class E, class F> std::string message_of(const F &f) {
    try {
        f();
    } catch (const E &error) {
        return error.message();
    }
    ADD_FAILURE() << "nothing of the expected class was thrown";
    return {};
}

}// namespace luisa::tile::runtime::cuda::test
