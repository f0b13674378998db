#include "services/rampartd/store_report.hpp"

#include <boost/json.hpp>
#include <cmath>
#include <map>

#include "rampart/monitoring/group_months.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {
namespace {

namespace json = boost::json;
using base::Result;
using base::TimePoint;
using monitoring::GroupMonth;
using monitoring::GroupMonths;

using Matured = training_set::TrainingSetBuilder::Matured;

constexpr int kUsualMonths = 24;
constexpr size_t kMonthBytes = 7;  // "2005-01"

Result<TimePoint> begin_of(std::string_view name, const std::string& month) {
    const auto begin = base::parse_iso8601(month + "-01");
    if (begin && month.size() == kMonthBytes) return *begin;
    return base::make_error(Reason::kBadPeriod, "{}: '{}' is not a month", name, month);
}

struct Period {
    TimePoint from, to;  // to: the end of the last month
};

Result<Period> period_of(const ReportRequest& request, TimePoint known_at) {
    const auto last = request.to.empty() ? base::month_of(known_at) : request.to;
    RAMPART_TRY(const TimePoint last_begin, begin_of("to", last));
    Period period{base::add_months(last_begin, 1 - kUsualMonths), base::add_months(last_begin, 1)};
    if (!request.from.empty()) {
        RAMPART_TRY(period.from, begin_of("from", request.from));
    }
    if (period.from >= period.to)
        return base::make_error(Reason::kBadPeriod, "from: '{}' is after '{}'", request.from, last);
    if (base::add_months(period.from, kMostReportMonths) < period.to)
        return base::make_error(Reason::kBadPeriod, "from: '{}' to '{}' is more than {} months",
                                request.from, last, kMostReportMonths);
    return period;
}

json::value number(double value) {
    return std::isfinite(value) ? json::value(value) : json::value(nullptr);
}

/// Returns a figure with its interval; null: too few to say.
json::value figure(const std::optional<double>& value,
                   const std::optional<stats::Interval>& interval) {
    if (!value) return nullptr;
    return json::object{{"value", number(*value)},
                        {"lo", interval ? number(interval->lo) : json::value(nullptr)},
                        {"hi", interval ? number(interval->hi) : json::value(nullptr)}};
}

json::object figures(const GroupMonth& counts, const GroupMonth* reference) {
    const auto approval = counts.approval(), bad = counts.bad();
    json::value ratio = nullptr;
    if (reference != nullptr) {
        if (const auto found = monitoring::impact_ratio(counts, *reference))
            ratio = figure(found->ratio, found->interval);
    }
    return {{"decisions", counts.decisions},
            {"approved", counts.approved},
            {"approval", figure(approval.value(), approval.interval())},
            {"mean_p", counts.decisions == 0
                           ? json::value(nullptr)
                           : number(counts.p_approve / static_cast<double>(counts.decisions))},
            {"impact_ratio", ratio},
            {"matured", counts.matured},
            {"matured_approved", counts.matured_approved},
            {"labelled", counts.labelled},
            {"censored", counts.censored},
            {"unfavourable", counts.unfavourable},
            {"unfavourable_rate", figure(bad.value(), bad.interval())},
            {"impact_due", counts.impact_due},
            {"impacts", counts.impact.n},
            {"impact", figure(counts.impact.value(), counts.impact_interval())}};
}

json::object group_json(const GroupMonths& months, std::optional<uint32_t> group) {
    const auto reference =
        group ? std::optional(months.reference_of(*group)) : std::optional<uint32_t>();
    const bool compared = reference && *reference != *group;
    const auto of = [&](const GroupMonth& counts, const GroupMonth& others) {
        return figures(counts, compared ? &others : nullptr);
    };
    json::array by_month;
    for (const auto& month : months.months()) {
        auto one = of(months.of(month, group), months.of(month, reference));
        one["month"] = month;
        by_month.push_back(std::move(one));
    }
    const auto name = [&](const std::optional<uint32_t>& which) {
        return which ? json::value(months.names()[*which]) : json::value(nullptr);
    };
    return {{"group", name(group)},
            {"reference", compared ? name(reference) : json::value(nullptr)},
            {"whole", of(months.whole(group), months.whole(reference))},
            {"months", std::move(by_month)}};
}

/// Counts what the visitor of the development side sees.
struct Counted {
    const domain::Impact& impact;
    GroupMonths months;
    std::map<std::string, uint64_t> by_policy;
    uint64_t repeats = 0, open_referrals = 0, without_groups = 0;

    void add(const training_set::Row& row, Matured matured) {
        if (row.repeat || (row.referred && !row.answer)) {  // neither approved nor declined yet
            ++(row.repeat ? repeats : open_referrals);
            return;
        }
        without_groups += row.groups.empty() ? 1 : 0;
        ++by_policy[row.policy.value()];
        months.add({base::month_of(row.event_time), row.groups, row.p_approve, row.granted(),
                    matured != Matured::kNothing, row.censored, row.label, matured == Matured::kAll,
                    row.granted() ? row.impact : std::optional(impact.declined)});
    }
};

json::array groups_json(const GroupMonths& months) {
    json::array groups{group_json(months, std::nullopt)};
    for (uint32_t group = 0; group < months.names().size(); ++group)
        groups.push_back(group_json(months, group));
    return groups;
}

json::array promotions_json(const registry::ModelRegistry& registry) {
    json::array out;
    for (const auto& promotion : registry.promotions())
        out.push_back(json::object{{"policy", promotion.policy.value()},
                                   {"since", base::to_iso8601(promotion.at)},
                                   {"kind", to_string(promotion.kind)},
                                   {"certified", promotion.certified()},
                                   {"actor", promotion.actor},
                                   {"reason", promotion.reason}});
    return out;
}

json::array deciders_json(const std::map<std::string, uint64_t>& by_policy) {
    json::array out;
    for (const auto& [policy, decisions] : by_policy)
        out.push_back(json::object{{"policy", policy}, {"decisions", decisions}});
    return out;
}

json::array runs_json(const std::vector<retraining::RunRecord>& runs) {
    json::array out;
    for (const auto& run : runs)
        out.push_back(json::object{{"run", run.ordinal},
                                   {"at", base::to_iso8601(run.at)},
                                   {"candidate", run.candidate},
                                   {"verdict", to_string(run.verdict)},
                                   {"reason", run.reason}});
    return out;
}

}  // namespace

Result<std::string> store_report(const StoreReportDeps& deps, const ReportRequest& request) {
    RAMPART_TRY(const auto period, period_of(request, deps.known_at));
    RAMPART_TRY(auto months, GroupMonths::create(deps.builder.group_names(), request.references));
    Counted counted{deps.product.impact, std::move(months), {}};
    RAMPART_RETURN_IF_ERROR(deps.builder.visit_development(
        deps.known_at, period.from, period.to,
        [&](const auto& row, Matured matured) { counted.add(row, matured); }));
    const auto& impact = deps.product.impact;
    return json::serialize(
        json::object{{"as_known_at", base::to_iso8601(deps.known_at)},
                     {"product", deps.product.name},
                     {"side", "development"},
                     {"from", base::month_of(period.from)},
                     {"to", base::month_of(period.to - base::Duration::micros(1))},
                     {"confidence", monitoring::kMonthConfidence},
                     {"fewest", monitoring::kFewestForRate},
                     {"impact_units", impact.units},
                     {"impact_range", json::array{impact.lo, impact.hi}},
                     {"repeats", counted.repeats},
                     {"open_referrals", counted.open_referrals},
                     {"without_groups", counted.without_groups},
                     {"groups", groups_json(counted.months)},
                     {"promotions", promotions_json(deps.registry)},
                     {"decided_by", deciders_json(counted.by_policy)},
                     {"runs", runs_json(deps.runs)}});
}

}  // namespace rampart::rampartd
