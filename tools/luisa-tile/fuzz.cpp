// SPDX-License-Identifier: Apache-2.0
#include "fuzz.h"

#include <luisa/tile/error.h>
#include <luisa/tile/fuzz.h>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace tool {

namespace lt = luisa::tile;

int run_fuzz(const FuzzSettings &settings) {
    if (!settings.replay.empty()) {
        std::ifstream file{settings.replay, std::ios::binary};
        std::ostringstream text;
        if (!file || !(text << file.rdbuf())) {
            throw lt::ValueError{"cannot read '" + settings.replay + "'"};
        }
        auto problem = lt::fuzz_replay(text.str(), settings.replay, settings.device);
        std::puts(problem.empty() ? "both back ends agree" : problem.c_str());
        return problem.empty() ? 0 : 1;
    }
    lt::FuzzOptions options;
    options.seed = settings.seed;
    options.count = settings.count;
    if (settings.one_case >= 0) {
        options.first = static_cast<uint64_t>(settings.one_case);
        options.count = 1;
    }
    if (settings.print) {
        std::fputs(lt::fuzz_program(options.seed, options.first).c_str(), stdout);
        return 0;
    }
    options.device = settings.device.empty() ? options.device : settings.device;
    options.cpu = settings.cpu;
    options.jobs = settings.jobs;
    options.timeout_s = settings.timeout;
    options.reduce_s = settings.reduce;
    options.folder = settings.save;
    options.need_coverage = settings.coverage;
    options.every_setting = settings.every_setting;
    options.report = [](const std::string &text) {
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    };
    return lt::run_fuzz(options) ? 0 : 1;
}

}// namespace tool
