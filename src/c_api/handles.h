// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/c_api.h>
#include <luisa/tile/inspect.h>
#include <luisa/tile/stream.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace luisa::tile::c_api {

/// What the handles of one device share.
class DeviceState {
public:
    explicit DeviceState(Device opened);

    const Device device;
    const std::string description;
    /// Whether streams are those of CUDA; otherwise work is done when it was submitted.
    const bool native_streams;

    /// Runs `f(stream)` on the stream around a native one, by one thread at a time.
    template<class F> void on_stream(void *native, const F &f) {
        auto &slot = slot_of(native);
        std::lock_guard lock{slot.mutex};
        f(slot.stream);
    }
    /// ValueError for a stream on a device that has none.
    void check_stream(void *native) const;
    void dispatch(const Shader &shader, void *native,
                  const std::vector<runtime::Argument> &arguments);
    /// A registered kernel for the extents and strides of its arguments.
    [[nodiscard]] Shader registered(const std::string &name,
                                    const std::vector<runtime::Argument> &arguments);

private:
    struct Slot {
        std::mutex mutex;
        Stream stream;
    };
    Slot &slot_of(void *native);

    std::mutex _mutex;
    std::map<void *, std::unique_ptr<Slot>> _slots;
    std::map<std::pair<std::string, std::vector<int64_t>>, Shader> _registered;
};

/// A parameter with the memory of its texts.
struct Parameter {
    ParameterInfo info;
    void fill(luisa_tile_parameter &out) const noexcept;
};

/// Arguments for parameters of these types; CallError for another number, ValueError for null in place of a tensor.
struct ParameterKind {
    bool is_view = false;
    ScalarType type{};
};
[[nodiscard]] std::vector<runtime::Argument> read_arguments(const DeviceState &device,
                                                            const std::vector<ParameterKind> &kinds,
                                                            const luisa_tile_argument *arguments,
                                                            size_t count, const char *function);

/// ValueError that names the function and the argument that is null.
void need(const void *pointer, const char *function, const char *what);

}// namespace luisa::tile::c_api

struct luisa_tile_device {
    std::shared_ptr<luisa::tile::c_api::DeviceState> state;
};

struct luisa_tile_shader {
    std::shared_ptr<luisa::tile::c_api::DeviceState> device;
    luisa::tile::Shader shader;
    std::string name;
    std::vector<luisa::tile::c_api::Parameter> parameters;
    std::vector<luisa::tile::c_api::ParameterKind> kinds;
};

struct luisa_tile_tensor {
    std::shared_ptr<luisa::tile::c_api::DeviceState> device;
    luisa::tile::runtime::Argument argument;
    bool imported = false;///< its owner frees it in the order of the stream that it is used on
};
