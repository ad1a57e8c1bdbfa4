// SPDX-License-Identifier: Apache-2.0
#include "peers/peer.h"

namespace bench {

const std::vector<PeerInfo> &all_peers() {
    static const std::vector<PeerInfo> peers{{"openblas", open_openblas},
                                             {"onednn", open_onednn},
                                             {"pytorch", open_pytorch},
                                             {"inductor", open_inductor}};
    return peers;
}

}// namespace bench
