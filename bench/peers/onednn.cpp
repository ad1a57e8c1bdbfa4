// SPDX-License-Identifier: Apache-2.0
#include "peers/library.h"
#include "peers/onednn_matmul.h"
#include "peers/peer.h"

#include <fmt/format.h>

namespace bench {

namespace {

/// The start of what dnnl_version() returns, in every version of the library.
struct Version {
    int major, minor, patch;
};

/// What oneTBB's binary interface calls global_control: while one exists, its limit holds.
struct TbbControl {
    size_t value = 0;
    intptr_t reserved = 0;
    int parameter = 0;///< 0: the number of threads
};

class OneDnn : public Peer {
public:
    explicit OneDnn(const Library &library)
        : _library{library}, _sgemm{library.get<Sgemm>("dnnl_sgemm")} {
        auto version = *library.get<const Version *()>("dnnl_version")();
        _version = fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
        // Whatever its primitives run on, products use the threads of the library that it links.
        _create = library.find<void(TbbControl &)>(
            "_ZN3tbb6detail2r16createERNS0_2d114global_controlE");
        _destroy = library.find<void(TbbControl &)>(
            "_ZN3tbb6detail2r17destroyERNS0_2d114global_controlE");
        _omp_set_threads = library.find<void(int)>("omp_set_num_threads");
        if (_create && _destroy) {
            _version += " (TBB)";
        } else if (_omp_set_threads) {
            _version += " (OpenMP)";
        } else {
            throw PeerMissing{"oneDNN " + _version +
                              " has threads that this program cannot set; ./dev setup peers brings "
                              "one that has"};
        }
    }
    ~OneDnn() override { drop_control(); }
    std::string version() const override { return _version; }
    void set_threads(int threads) override {
        if (_create && _destroy) {
            drop_control();
            _control.value = static_cast<size_t>(threads);
            _create(_control);
            _controlled = true;
        } else {
            _omp_set_threads(threads);
        }
    }
    TimedCall call(const GemmProblem &p) override {
        return timed([p, sgemm = _sgemm] {
            sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k, 1, p.a,
                  p.transpose_a ? p.m : p.k, p.b, p.transpose_b ? p.k : p.n, 0, p.c, p.n);
        });
    }

    TimedCall call(const NarrowGemmProblem &p) override { return onednn_matmul(_library, p); }

private:
    using Sgemm = int(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t,
                      const float *, int64_t, float, float *, int64_t);
    void drop_control() {
        if (_controlled) {
            _destroy(_control);
            _controlled = false;
        }
    }
    Library _library;
    Sgemm *_sgemm;
    void (*_omp_set_threads)(int) = nullptr;
    void (*_create)(TbbControl &) = nullptr, (*_destroy)(TbbControl &) = nullptr;
    TbbControl _control;
    bool _controlled = false;
    std::string _version;
};

/// The Python package has no run path: what it needs lies beside it and must be loaded first.
std::optional<Library> open_from_environment(std::string &why) {
    auto folder = python_environment() / "lib";
    if (!std::filesystem::exists(folder / "libdnnl.so.3")) {
        why = "no libdnnl.so.3 in the Python environment";
        return {};
    }
    for (const char *needed : {"libtbb.so.12", "libintlc.so.5", "libimf.so", "libsvml.so",
                               "libumf.so.1", "libur_loader.so.0", "libsycl.so.9"}) {
        (void)Library::open({(folder / needed).string()}, why);
    }
    return Library::open({(folder / "libdnnl.so.3").string()}, why);
}

}// namespace

std::unique_ptr<Peer> open_onednn() {
    std::string why;
    auto library = open_from_environment(why);
    if (!library) {
        library = Library::open({"libdnnl.so.3", "libdnnl.so.2"}, why);
    }
    if (!library) {
        throw PeerMissing{"oneDNN is not installed (" + why + "); ./dev setup peers brings it"};
    }
    return std::make_unique<OneDnn>(*library);
}

}// namespace bench
