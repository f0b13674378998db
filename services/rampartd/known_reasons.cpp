#include "services/rampartd/known_reasons.hpp"

#include "rampart/authenticated_log/reasons.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/budro/reasons.hpp"
#include "rampart/calibration/reasons.hpp"
#include "rampart/candidate_selection/reasons.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/config/reasons.hpp"
#include "rampart/constraints/reasons.hpp"
#include "rampart/data_retention/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/decision/reasons.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/domain/reasons.hpp"
#include "rampart/evaluation/reasons.hpp"
#include "rampart/explain/reasons.hpp"
#include "rampart/fair_regression/reasons.hpp"
#include "rampart/fairgbm/reasons.hpp"
#include "rampart/fairness/reasons.hpp"
#include "rampart/gbdt/reasons.hpp"
#include "rampart/http/response.hpp"
#include "rampart/identity_provider/reasons.hpp"
#include "rampart/joiner/reasons.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/lease/reasons.hpp"
#include "rampart/model/reasons.hpp"
#include "rampart/monitoring/reasons.hpp"
#include "rampart/notices/reasons.hpp"
#include "rampart/numeric/reasons.hpp"
#include "rampart/ope/reasons.hpp"
#include "rampart/postprocessing/reasons.hpp"
#include "rampart/privacy/reasons.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/ramp/reasons.hpp"
#include "rampart/reductions/reasons.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/retraining/reasons.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/serving/reasons.hpp"
#include "rampart/stats/reasons.hpp"
#include "rampart/storage/reasons.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_kafka/reasons.hpp"
#include "rampart/streaming_local/reasons.hpp"
#include "rampart/training/reasons.hpp"
#include "rampart/training_set/reasons.hpp"
#include "rampart/tuning/reasons.hpp"
#include "rampart/wire/reasons.hpp"
#include "services/decision_service/reasons.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {
namespace {

// the rooms that this service is made of, and what it trains with
const std::span<const base::ReasonInfo> kLists[] = {
    authenticated_log::reasons::kAll,
    base::reasons::kAll,
    budro::reasons::kAll,
    calibration::reasons::kAll,
    candidate_selection::reasons::kAll,
    certification::reasons::kAll,
    config::reasons::kAll,
    constraints::reasons::kAll,
    data_retention::reasons::kAll,
    dataset::reasons::kAll,
    decision::reasons::kAll,
    decision_log::reasons::kAll,
    decision_service::reasons::kAll,
    domain::reasons::kAll,
    evaluation::reasons::kAll,
    explain::reasons::kAll,
    fair_regression::reasons::kAll,
    fairgbm::reasons::kAll,
    fairness::reasons::kAll,
    gbdt::reasons::kAll,
    identity_provider::reasons::kAll,
    joiner::reasons::kAll,
    learning::reasons::kAll,
    lease::reasons::kAll,
    model::reasons::kAll,
    monitoring::reasons::kAll,
    notices::reasons::kAll,
    numeric::reasons::kAll,
    ope::reasons::kAll,
    postprocessing::reasons::kAll,
    privacy::reasons::kAll,
    protected_attributes::reasons::kAll,
    ramp::reasons::kAll,
    rampartd::reasons::kAll,
    reductions::reasons::kAll,
    registry::reasons::kAll,
    retraining::reasons::kAll,
    runtime::reasons::kAll,
    serving::reasons::kAll,
    stats::reasons::kAll,
    storage::reasons::kAll,
    streaming::reasons::kAll,
    streaming_kafka::reasons::kAll,
    streaming_local::reasons::kAll,
    training::reasons::kAll,
    training_set::reasons::kAll,
    tuning::reasons::kAll,
    wire::reasons::kAll,
};

}  // namespace

void know_reasons() { http::know_reasons(kLists); }

}  // namespace rampart::rampartd
