// SPDX-License-Identifier: Apache-2.0
#include "compile/bytes.h"

#include <xxhash.h>

#include <mutex>
#include <set>

namespace luisa::tile::compiler {

namespace {

class LocationHash {
public:
    explicit LocationHash(const ir::Module &module) : _state{XXH3_createState()} {
        XXH3_128bits_reset(_state);
        for (const auto &function : module.functions()) {
            add(function.loc);
            add(*function.body);
        }
    }
    ~LocationHash() { XXH3_freeState(_state); }
    LocationHash(const LocationHash &) = delete;
    LocationHash &operator=(const LocationHash &) = delete;
    [[nodiscard]] std::string text() const {
        auto hash = XXH3_128bits_digest(_state);
        return std::to_string(hash.high64) + " " + std::to_string(hash.low64);
    }

private:
    void add(SourceLoc loc) {
        XXH3_128bits_update(_state, loc.file, std::strlen(loc.file) + 1);
        XXH3_128bits_update(_state, &loc.line, sizeof(loc.line));
    }
    void add(const ir::Region &region) {
        for (const auto *op : region) {
            add(op->loc);
            for (const auto *inner : op->regions()) {
                add(*inner);
            }
        }
    }
    XXH3_state_t *_state;
};

}// namespace

std::string location_hash(const ir::Module &module) { return LocationHash{module}.text(); }

const char *lasting(std::string name) {
    static std::mutex mutex;
    static auto &names = *new std::set<std::string>;
    std::lock_guard lock{mutex};
    return names.insert(std::move(name)).first->c_str();
}

}// namespace luisa::tile::compiler
