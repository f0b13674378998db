#include "services/rampartd/compare.hpp"

#include <algorithm>

#include "rampart/base/reasons.hpp"

namespace rampart::rampartd {
namespace {

using base::Result;
using base::TimePoint;

/// Returns when the later one of the two was registered.
Result<TimePoint> registered(Node& node, const CompareRequest& request) {
    RAMPART_TRY(const auto models, node.registry().models());
    TimePoint last = base::kFirstTime;
    for (const auto& model : models)
        if (model.id.value() == request.first || model.id.value() == request.second)
            last = std::max(last, model.registered_at);
    return last;
}

std::string text_of(const std::optional<TimePoint>& time, std::string_view none) {
    return time ? base::to_iso8601(*time) : std::string(none);
}

Result<training_set::DevelopmentSet> rows_of(Node& node, const CompareRequest& request,
                                             TimePoint at) {
    const auto& settings = node.settings();
    RAMPART_TRY(const auto builder,
                training_set::TrainingSetBuilder::create(
                    node.joiner(), settings.product, settings.schema, node.attributes(),
                    node.keys().split, settings.training.gate.late_attributes,
                    [&registry = node.registry()] { return registry.stopped_periods(); }));
    RAMPART_TRY(auto rows, builder.development_sample(at, {.from = request.from}));
    return request.to ? training::applied_before(std::move(rows), *request.to) : rows;
}

}  // namespace

Result<CompareReport> compare_on_log(Node& node, const CompareRequest& request) {
    RAMPART_RETURN_IF_ERROR(node.check_trains());
    if (request.from && request.to && *request.to <= *request.from)
        return base::make_error(base::Reason::kBadTime, "--to {} is not after --from {}",
                                base::to_iso8601(*request.to), base::to_iso8601(*request.from));
    RAMPART_TRY(const auto first, node.registry().load_model(domain::PolicyId(request.first)));
    RAMPART_TRY(const auto second, node.registry().load_model(domain::PolicyId(request.second)));
    CompareReport report;
    report.as_known_at = node.joiner().clock().value_or(node.now());
    RAMPART_TRY(report.registered, registered(node, request));
    RAMPART_TRY(const auto rows, rows_of(node, request, report.as_known_at));
    if (rows.rows.empty())
        return base::make_error(
            base::Reason::kNoRows,
            "from {} to {} there is no application of a development person whose outcome had "
            "matured at {}",
            text_of(request.from, "the first"), text_of(request.to, "the last"),
            base::to_iso8601(report.as_known_at));
    report.extent = rows.extent;
    report.impact_units = node.settings().product.impact.units;
    RAMPART_TRY(report.comparison,
                training::compare_policies(rows, {first.policy, second.policy, report.registered},
                                           node.settings().training.gate.config, request.confidence,
                                           &node.settings().schema));
    return report;
}

}  // namespace rampart::rampartd
