#pragma once

#include <cstdint>
#include <optional>

#include "rampart/base/result.hpp"
#include "rampart/serving/decision_service.hpp"

namespace rampart::rampartd {

/// Takes what other nodes have erased out of the files of the indices of a node that erases no
/// person itself. Reading of an erasure in the log hides the decision at once; its bytes stay in
/// the files until these are written anew. For one thread.
class ErasedBytes {
  public:
    explicit ErasedBytes(serving::DecisionService& decisions) : decisions_(decisions) {}

    /// To be called once a day from the start on. Writes the indices anew if anything was erased
    /// since the last time; the first call does nothing, and the second writes in any case, for
    /// what was erased before the start. Takes as long as a copy of the indices. Errors:
    /// DecisionLog::compact_erased's, after which it is due again.
    base::Status rewrite();

  private:
    serving::DecisionService& decisions_;
    bool begun_ = false;
    std::optional<uint64_t> done_;  // writes that erased, as of the last time
};

}  // namespace rampart::rampartd
