#include "batch.hpp"
#include "instruments.hpp"
#include "rampart/wire/record_codec.hpp"

/// The part of DecisionService that takes in what is reported of decisions.
namespace rampart::serving {

using base::Status;

Status DecisionService::submit_outcomes(std::span<const domain::Outcome> outcomes) {
    RAMPART_RETURN_IF_ERROR(check_batch("outcomes", outcomes.size()));
    std::vector<streaming::Record> records;
    records.reserve(outcomes.size());
    for (const auto& outcome : outcomes) {
        auto status = domain::check_outcome(options_.product, outcome);
        if (status) {
            const auto known = find(outcome.decision);
            status = known ? check_observed_at(outcome, *known, deps_.clock.now(), event_window())
                           : Status(known.error());
        }
        if (!status) return at("outcomes", records.size(), outcomes.size(), status.error());
        records.push_back(wire::to_record(outcome));
    }
    RAMPART_RETURN_IF_ERROR(deps_.writer.append(options_.outcomes_topic, records));
    instruments_->outcomes.add(outcomes.size());
    return base::ok();
}

Status DecisionService::submit_overrides(std::span<const domain::Override> overrides) {
    RAMPART_RETURN_IF_ERROR(check_batch("overrides", overrides.size()));
    std::vector<streaming::Record> records;
    records.reserve(overrides.size());
    for (const auto& taken : overrides) {
        auto status = domain::validate(taken);
        if (status) {
            if (const auto known = find(taken.decision); !known) status = known.error();
        }
        if (!status) return at("overrides", records.size(), overrides.size(), status.error());
        records.push_back(wire::to_record(taken));
    }
    if (options_.on_overrides) RAMPART_RETURN_IF_ERROR(options_.on_overrides(overrides));
    RAMPART_RETURN_IF_ERROR(deps_.writer.append(options_.outcomes_topic, records));
    instruments_->overrides.add(overrides.size());
    return base::ok();
}

}  // namespace rampart::serving
