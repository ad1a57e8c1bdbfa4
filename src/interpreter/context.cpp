// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"

#include "types/convert.h"

namespace luisa::tile::interpreter {

Tile &Context::output(Slot slot, int64_t count) {
    auto &ref = slots[slot];
    // A tile that another slot shares is a snapshot; only storage of our own is used again.
    if (!ref || ref.use_count() > 1) {
        ref = std::make_shared<Tile>();
    }
    ref->bits.resize(static_cast<size_t>(count));
    ref->undefined.clear();
    return *ref;
}

int64_t Context::integer(const Step &step, size_t operand, const char *use) const {
    const auto &value = tile(step.operands[operand]);
    if (auto *load = value.undefined_at(0)) {
        undefined_use(step.op, std::string{step.op->name()} + " uses it as " + use, load);
    }
    return arith::to_int64(step.op->operand(operand)->scalar(), value.bits[0]);
}

std::string Context::parameter_name(const ir::Value *view) const {
    return view->index() < kernel.parameter_names.size()
               ? kernel.parameter_names[view->index()]
               : "parameter " + std::to_string(view->index());
}

void undefined_use(const ir::Operation *op, const std::string &use, const ir::Operation *load) {
    if (load->opcode() == ir::Opcode::MEMORY_ALLOC) {
        throw BoundsError{"an undefined element: nothing was stored there in the Memory made at " +
                              to_string(load->loc) + ", and " + use +
                              "; store every element before it is used",
                          op->loc,
                          {{"Memory made here", load->loc}}};
    }
    throw BoundsError{"an undefined element: it was read outside its view under bounds::predicate "
                      "at " +
                          to_string(load->loc) + ", and " + use +
                          "; select it away with ite, or use bounds::zero",
                      op->loc,
                      {{"read outside here", load->loc}}};
}

void race(const ir::Operation *parallel, const Domain &domain, int64_t first, int64_t second,
          const ir::Operation *write, const std::string &element) {
    throw RaceError{std::string{write->name()} + ": instances " +
                        coordinates_text(domain.indices(first)) + " and " +
                        coordinates_text(domain.indices(second)) + " of one parallel both write " +
                        element + "; make their parts disjoint, or combine them with reduce",
                    write->loc,
                    {{"the parallel opened here", parallel->loc}}};
}

}// namespace luisa::tile::interpreter
