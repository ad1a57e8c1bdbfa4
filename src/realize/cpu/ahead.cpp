// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/lowering.h"

namespace luisa::tile::cpu {

using ir::Opcode;

/// Accesses of a later instance are where that instance's indices put them; scalars that were computed from the
/// indices of this one count for nothing there.
void Lowering::ask_ahead(const plan::LoopGroup &group, const Point &point) {
    for (const auto &ahead : group.ahead) {
        auto place = point.derived();
        place.mask = place.guard = nullptr;
        auto here = _scalars;
        if (ahead.instances != 0) {
            std::erase_if(_scalars, [this](const auto &entry) {
                return entry.first->region() == _root->body();
            });
            bind_task(*_root, _task_extents, _b.add(_task, _b.index(ahead.instances)));
        }
        bool reads = ahead.op->opcode() == Opcode::LOAD;
        auto access = reads ? load_access(*ahead.op, Bounds::ASSUME, place)
                            : store_access(*ahead.op, Bounds::ASSUME, place);
        _scalars = std::move(here);
        _b.effect(Opcode::PREFETCH, {access.address}, ir::PrefetchPayload{1, !reads});
    }
}

}// namespace luisa::tile::cpu
