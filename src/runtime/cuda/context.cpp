// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/context.h"

#include <unistd.h>

namespace luisa::tile::runtime::cuda {

namespace {

/// Errors after which every call of the context fails.
bool is_sticky(int result) {
    // 700 to 720 are what kernels do to their context, but for a launch that never began.
    return (result >= ILLEGAL_ADDRESS && result <= 720 && result != LAUNCH_OUT_OF_RESOURCES) ||
           result == 214 || result == 4;// an uncorrectable memory error; the driver has shut down
}

}// namespace

Context::Context(int number)
    : cu{driver()}, ordinal{number}, name{"cuda:" + std::to_string(number)}, _process{getpid()} {
    int count = 0;
    check(cu.device_get_count(&count), "cuDeviceGetCount");
    if (number >= count) {
        throw DeviceUnavailable{"Device::create(\"" + name + "\"): this machine has " +
                                std::to_string(count) +
                                (count == 1 ? " NVIDIA GPU; its number is 0"
                                            : " NVIDIA GPUs; they have numbers from 0") +
                                (count == 0 ? ", use \"cpu\"" : "")};
    }
    check(cu.device_get(&_device, number), "cuDeviceGet");
    read_facts();
    check(cu.primary_context_retain(&_handle, _device), "cuDevicePrimaryCtxRetain");
}

Context::~Context() {
    if (_handle && !abandoned()) {
        cu.primary_context_release(_device);
    }
}

void Context::read_facts() {
    char text[256] = {};
    check(cu.device_get_name(text, sizeof text - 1, _device), "cuDeviceGetName");
    product = text;
    check(cu.device_total_mem(&memory_bytes, _device), "cuDeviceTotalMem");
    auto attribute = [&](DeviceAttribute which) {
        int value = 0;
        check(cu.device_get_attribute(&value, which, _device), "cuDeviceGetAttribute");
        return value;
    };
    auto sm = 10 * attribute(COMPUTE_CAPABILITY_MAJOR) + attribute(COMPUTE_CAPABILITY_MINOR);
    const auto *row = target::cuda_for_device(sm);
    if (!row) {
        throw TargetError{"Device::create(\"" + name + "\"): " + product +
                          " is of architecture sm_" + std::to_string(sm) +
                          ", expected sm_80 or later"};
    }
    facts = *row;
    ptx_isa = target::ptx_of_driver(cu.version);
    if (ptx_isa < facts.ptx_isa) {
        throw DeviceUnavailable{"Device::create(\"" + name + "\"): the NVIDIA driver is for CUDA " +
                                std::to_string(cu.version / 1000) + "." +
                                std::to_string(cu.version % 1000 / 10) + ", which has no " +
                                facts.name + "; install a newer one"};
    }
    // No newer than needed: what a driver accepts first, it knows best.
    ptx_isa = facts.ptx_isa;
    facts.threads_per_multiprocessor = attribute(THREADS_PER_MULTIPROCESSOR);
    facts.shared_per_multiprocessor = attribute(SHARED_PER_MULTIPROCESSOR);
    facts.shared_per_block = attribute(SHARED_PER_BLOCK_OPTIN);
    facts.registers_per_multiprocessor = attribute(REGISTERS_PER_MULTIPROCESSOR);
    facts.multiprocessors = attribute(MULTIPROCESSOR_COUNT);
    facts.l2_bytes = attribute(L2_CACHE_BYTES);
}

Context::Current::Current(const Context &context) : _context{context} {
    context.check_usable();
    context.check(context.cu.context_push(context._handle), "cuCtxPushCurrent");
}

Context::Current::~Current() {
    ContextHandle previous = nullptr;
    _context.cu.context_pop(&previous);
}

bool Context::abandoned() const noexcept { return getpid() != _process; }

bool Context::note_sticky(int result, const std::string &why) const {
    if (!is_sticky(result)) {
        return false;
    }
    std::lock_guard lock{_mutex};
    if (_broken.empty()) {
        _broken = why;
    }
    return true;
}

void Context::check_usable() const {
    std::lock_guard lock{_mutex};
    if (!_broken.empty()) {
        throw StateError{name + " cannot be used any more in this process: " + _broken};
    }
}

void Context::check(int result, const char *call) const {
    if (result == SUCCESS) {
        return;
    }
    auto text = std::string{call} + " on " + name + ": " + cu.text(result);
    note_sticky(result, text);
    throw DeviceError{text};
}

}// namespace luisa::tile::runtime::cuda
