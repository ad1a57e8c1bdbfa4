// SPDX-License-Identifier: Apache-2.0
#include "peers/library.h"
#include "peers/peer.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace bench {

namespace {

// Values of the CBLAS interface.
constexpr int row_major = 101, no_transpose = 111, transpose = 112;

class OpenBlas : public Peer {
public:
    explicit OpenBlas(const Library &library)
        : _sgemm{library.get<Sgemm>("cblas_sgemm")}, _set_threads{library.get<void(int)>(
                                                         "openblas_set_num_threads")} {
        // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH … SkylakeX MAX_THREADS=64"
        std::istringstream config{library.get<char *()>("openblas_get_config")()};
        std::string name, number;
        config >> name >> number;
        _version = fmt::format("{} ({})", number, library.get<char *()>("openblas_get_corename")());
    }
    std::string version() const override { return _version; }
    void set_threads(int threads) override { _set_threads(threads); }
    TimedCall call(const GemmProblem &p) override {
        // A dense row-major matrix; a leading dimension must be one at least.
        auto m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
        return timed([=, sgemm = _sgemm] {
            sgemm(row_major, p.transpose_a ? transpose : no_transpose,
                  p.transpose_b ? transpose : no_transpose, m, n, k, 1, p.a,
                  std::max(1, p.transpose_a ? m : k), p.b, std::max(1, p.transpose_b ? k : n), 0,
                  p.c, std::max(1, n));
        });
    }

private:
    using Sgemm = void(int, int, int, int, int, int, float, const float *, int, const float *, int,
                       float, float *, int);
    Sgemm *_sgemm;
    void (*_set_threads)(int);
    std::string _version;
};

}// namespace

std::unique_ptr<Peer> open_openblas() {
    std::string why;
    auto library = Library::open({"libopenblas.so.0"}, why);
    if (!library) {
        throw PeerMissing{"OpenBLAS is not installed (" + why + "); ./dev setup peers brings it"};
    }
    return std::make_unique<OpenBlas>(*library);
}

}// namespace bench
