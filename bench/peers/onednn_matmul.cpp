// SPDX-License-Identifier: Apache-2.0
#include "peers/onednn_matmul.h"

#include <array>

namespace bench {

namespace {

// The C interface, whose handles are opaque and whose numbers are the same in all versions from 3 on.
using Handle = struct OneDnnObject *;
constexpr int cpu_engine = 1, default_stream = 1;
enum DataType : int { BF16 = 2, F32 = 3, S32 = 4, S8 = 5 };
enum Argument : int { SOURCE = 1, DESTINATION = 17, WEIGHTS = 33 };
struct ExecutionArgument {
    int argument;
    Handle memory;
};
using Numbers = std::array<int64_t, 2>;

struct Functions {
    int (*engine)(Handle *, int, size_t);
    int (*stream)(Handle *, Handle, unsigned);
    int (*layout)(Handle *, int, const int64_t *, int, const int64_t *);
    int (*description)(Handle *, Handle, Handle, Handle, Handle, Handle, Handle);
    int (*primitive)(Handle *, Handle);
    int (*memory)(Handle *, Handle, Handle, void *);
    int (*execute)(Handle, Handle, int, const ExecutionArgument *);
    int (*wait)(Handle);

    explicit Functions(const Library &library)
        : engine{library.find<int(Handle *, int, size_t)>("dnnl_engine_create")},
          stream{library.find<int(Handle *, Handle, unsigned)>("dnnl_stream_create")},
          layout{library.find<int(Handle *, int, const int64_t *, int, const int64_t *)>(
              "dnnl_memory_desc_create_with_strides")},
          description{library.find<int(Handle *, Handle, Handle, Handle, Handle, Handle, Handle)>(
              "dnnl_matmul_primitive_desc_create")},
          primitive{library.find<int(Handle *, Handle)>("dnnl_primitive_create")},
          memory{library.find<int(Handle *, Handle, Handle, void *)>("dnnl_memory_create")},
          execute{library.find<int(Handle, Handle, int, const ExecutionArgument *)>(
              "dnnl_primitive_execute")},
          wait{library.find<int(Handle)>("dnnl_stream_wait")} {}
    [[nodiscard]] bool complete() const {
        return engine && stream && layout && description && primitive && memory && execute && wait;
    }
};

struct Operand {
    int argument, type;
    Numbers extents, strides;
    const void *data;
};

}// namespace

TimedCall onednn_matmul(const Library &library, const NarrowGemmProblem &p) {
    Functions f{library};
    Handle engine = nullptr, stream = nullptr;
    if (!f.complete() || f.engine(&engine, cpu_engine, 0) != 0 ||
        f.stream(&stream, engine, default_stream) != 0) {
        return {};
    }
    int narrow = p.bf16 ? BF16 : S8;
    const Operand operands[] = {
        {SOURCE, narrow, {p.m, p.k}, {p.k, 1}, p.a},
        {WEIGHTS, narrow, {p.k, p.n}, p.transpose_b ? Numbers{1, p.k} : Numbers{p.n, 1}, p.b},
        {DESTINATION, p.bf16 ? F32 : S32, {p.m, p.n}, {p.n, 1}, p.c},
    };
    std::array<Handle, 3> layouts{};
    std::vector<ExecutionArgument> arguments;
    for (size_t i = 0; i < layouts.size(); ++i) {
        const auto &o = operands[i];
        Handle memory = nullptr;
        if (f.layout(&layouts[i], 2, o.extents.data(), o.type, o.strides.data()) != 0 ||
            f.memory(&memory, layouts[i], engine, const_cast<void *>(o.data)) != 0) {
            return {};
        }
        arguments.push_back({o.argument, memory});
    }
    Handle description = nullptr, primitive = nullptr;
    if (f.description(&description, engine, layouts[0], layouts[1], nullptr, layouts[2], nullptr) !=
            0 ||
        f.primitive(&primitive, description) != 0) {
        return {};
    }
    return timed([=] {
        f.execute(primitive, stream, static_cast<int>(arguments.size()), arguments.data());
        f.wait(stream);
    });
}

}// namespace bench
