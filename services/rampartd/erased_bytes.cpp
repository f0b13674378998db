#include "services/rampartd/erased_bytes.hpp"

namespace rampart::rampartd {

base::Status ErasedBytes::rewrite() {
    if (!begun_) {
        begun_ = true;
        return base::ok();
    }
    uint64_t writes = 0;  // before the files are written: what is erased meanwhile counts next time
    for (const auto& view : decisions_.partitions())
        if (const auto* index = decisions_.index_of(view.partition))
            writes += index->erasing_writes();
    if (done_ == writes) return base::ok();
    RAMPART_RETURN_IF_ERROR(decisions_.compact_erased());
    done_ = writes;
    return base::ok();
}

}  // namespace rampart::rampartd
