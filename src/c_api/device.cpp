// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/dlpack.h>
#include <luisa/tile/registry.h>

#include "c_api/handles.h"
#include "c_api/status.h"

namespace luisa::tile::c_api {

DeviceState::DeviceState(Device opened)
    : device{std::move(opened)}, description{device.description()},
      native_streams{dlpack::device_id(device).type == dlpack::CUDA} {}

DeviceState::Slot &DeviceState::slot_of(void *native) {
    std::lock_guard lock{_mutex};
    auto &slot = _slots[native];
    if (!slot) {
        StreamOptions options;
        options.native = native;
        slot.reset(new Slot{{}, Stream{device, options}});
    }
    return *slot;
}

void DeviceState::check_stream(void *native) const {
    if (native && !native_streams) {
        throw ValueError{"device '" + device.name() +
                         "' has no native streams: what is submitted has run when the call "
                         "returns; pass null"};
    }
}

void DeviceState::dispatch(const Shader &shader, void *native,
                           const std::vector<runtime::Argument> &arguments) {
    check_stream(native);
    if (native_streams) {
        on_stream(native, [&](Stream &stream) { stream.dispatch(shader, arguments, {}); });
    } else {
        runtime::dispatch(*shader.impl(), arguments.data(), static_cast<int>(arguments.size()), {});
    }
}

Shader DeviceState::registered(const std::string &name,
                               const std::vector<runtime::Argument> &arguments) {
    std::pair<std::string, std::vector<int64_t>> key{name, {}};
    std::vector<TensorMeta> metas;
    for (const auto &a : arguments) {
        if (!a.is_view) {
            continue;
        }
        TensorMeta meta;
        int64_t dense = 1;
        bool is_dense = true;
        for (int d = a.rank; d-- > 0;) {
            is_dense &= a.strides[d] == dense;
            dense *= std::max<int64_t>(a.extents[d], 1);
        }
        key.second.push_back(a.rank);
        for (int d = 0; d < a.rank; ++d) {
            meta.extents.emplace_back(a.extents[d]);
            key.second.push_back(a.extents[d]);
            key.second.push_back(a.strides[d]);
        }
        if (!is_dense) {
            meta.strides.assign(a.strides, a.strides + a.rank);
        }
        metas.push_back(std::move(meta));
    }
    {
        std::lock_guard lock{_mutex};
        if (auto found = _registered.find(key); found != _registered.end()) {
            return found->second;
        }
    }
    auto shader = device.compile(capture_registered(name, metas, {}));
    std::lock_guard lock{_mutex};
    return _registered.emplace(std::move(key), std::move(shader)).first->second;
}

}// namespace luisa::tile::c_api

using namespace luisa::tile;
using namespace luisa::tile::c_api;

luisa_tile_status luisa_tile_device_create(const char *name,
                                           const luisa_tile_device_options *options,
                                           luisa_tile_device **out) {
    static constexpr auto *function = "luisa_tile_device_create";
    return guarded([&] {
        need(name, function, "name");
        need(out, function, "out");
        DeviceOptions how;
        if (options) {
            how.threads = options->threads;
            how.validate = options->validate != 0;
            how.cache = options->no_cache == 0;
            how.cache_directory = options->cache_directory ? options->cache_directory : "";
        }
        *out = new luisa_tile_device{
            std::make_shared<DeviceState>(Device::create(name, std::move(how)))};
    });
}

void luisa_tile_device_destroy(luisa_tile_device *device) { delete device; }

luisa_tile_status luisa_tile_device_description(luisa_tile_device *device, const char **out) {
    static constexpr auto *function = "luisa_tile_device_description";
    return guarded([&] {
        need(device, function, "device");
        need(out, function, "out");
        *out = device->state->description.c_str();
    });
}

luisa_tile_status luisa_tile_device_dlpack(luisa_tile_device *device, int32_t *type,
                                           int32_t *number) {
    static constexpr auto *function = "luisa_tile_device_dlpack";
    return guarded([&] {
        need(device, function, "device");
        need(type, function, "type");
        need(number, function, "number");
        auto id = dlpack::device_id(device->state->device);
        *type = id.type;
        *number = id.number;
    });
}

luisa_tile_status luisa_tile_synchronize(luisa_tile_device *device, void *stream) {
    static constexpr auto *function = "luisa_tile_synchronize";
    return guarded([&] {
        need(device, function, "device");
        device->state->check_stream(stream);
        if (device->state->native_streams) {
            device->state->on_stream(stream, [](Stream &s) { s.synchronize(); });
        }
    });
}
