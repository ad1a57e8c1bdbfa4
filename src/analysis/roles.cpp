// SPDX-License-Identifier: Apache-2.0
#include "analysis/roles.h"

namespace luisa::tile::analysis {

ContractionRoles contraction_roles(const ir::Operation &mma) {
    const auto &a = *mma.operand(0)->type(), &b = *mma.operand(1)->type(),
               &c = *mma.operand(2)->type();
    ContractionRoles roles;
    for (const auto &d : c.dims) {
        bool in_a = a.find(d.dim) >= 0, in_b = b.find(d.dim) >= 0;
        (in_a && in_b ? roles.batch : in_a ? roles.rows : roles.columns).push_back(d);
    }
    for (const auto &d : a.dims) {
        if (c.find(d.dim) < 0) {
            roles.contracted.push_back(d);
        }
    }
    return roles;
}

}// namespace luisa::tile::analysis
