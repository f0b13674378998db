#include "services/decision_service/known_reasons.hpp"

#include "rampart/base/reasons.hpp"
#include "rampart/config/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/decision/reasons.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/domain/reasons.hpp"
#include "rampart/http/response.hpp"
#include "rampart/identity_provider/reasons.hpp"
#include "rampart/model/reasons.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/serving/reasons.hpp"
#include "rampart/storage/reasons.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_local/reasons.hpp"
#include "rampart/wire/reasons.hpp"
#include "services/decision_service/reasons.hpp"

namespace rampart::decision_service {
namespace {

// the rooms that this service is made of
const std::span<const base::ReasonInfo> kLists[] = {
    base::reasons::kAll,
    config::reasons::kAll,
    dataset::reasons::kAll,
    decision::reasons::kAll,
    decision_log::reasons::kAll,
    decision_service::reasons::kAll,
    domain::reasons::kAll,
    identity_provider::reasons::kAll,
    model::reasons::kAll,
    registry::reasons::kAll,
    runtime::reasons::kAll,
    serving::reasons::kAll,
    storage::reasons::kAll,
    streaming::reasons::kAll,
    streaming_local::reasons::kAll,
    wire::reasons::kAll,
};

}  // namespace

void know_reasons() { http::know_reasons(kLists); }

}  // namespace rampart::decision_service
