#include "rampart/data_retention/quarantine_bounds.hpp"

#include <functional>
#include <iterator>

#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/joiner/reasons.hpp"
#include "rampart/joiner/unread_decision.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/wire/quarantine_time.hpp"

namespace rampart::data_retention {

using base::Result;
using base::Status;
using base::TimePoint;
using wire::Quarantined;

namespace {

using Test = std::function<bool(const Quarantined&)>;

/// A quarantine, or a part of one.
struct Quarantine {
    std::function<Status(const std::function<Status(const Quarantined&)>&)> visit;
    std::function<Status(const Test&)> drop_if;
    Test is_part, stays;
};

std::string key_of(const Quarantined& one) {
    return wire::quarantine_key(one.topic, one.partition, one.offset);
}

Result<QuarantineReport> trim(const Quarantine& quarantine, const QuarantineLimits& limits,
                              TimePoint now) {
    QuarantineReport total;
    for (bool again = true; again;) {
        QuarantineTrim look(limits, now);
        RAMPART_RETURN_IF_ERROR(quarantine.visit([&](const Quarantined& one) {
            if (quarantine.is_part(one)) look.look_at(one, quarantine.stays(one));
            return base::ok();
        }));
        look.choose();
        if (look.has_chosen()) {
            RAMPART_RETURN_IF_ERROR(
                quarantine.drop_if([&](const Quarantined& one) { return look.is_chosen(one); }));
        }
        again = look.again();
        const auto& report = look.report();
        total = {report.records, report.bytes, report.stays, total.too_old + report.too_old,
                 total.too_much + report.too_much};
    }
    return total;
}

}  // namespace

TimePoint came_at(const Quarantined& one) {
    return wire::appended_at(one).value_or(one.record.timestamp);
}

void QuarantineTrim::look_at(const Quarantined& one, bool stays) {
    auto key = key_of(one);
    const uint64_t bytes = key.size() + wire::encode_quarantined(one).size();
    ++report_.records;
    report_.bytes += bytes;
    report_.stays += stays;
    if (stays) return;
    oldest_.emplace(came_at(one), std::move(key), bytes);
    if (oldest_.size() <= most_) return;
    oldest_.erase(std::prev(oldest_.end()));
    left_out_ = true;
}

void QuarantineTrim::choose() {
    for (const auto& [since, key, bytes] : oldest_) {
        const bool too_old = since < now_ - limits_.max_age;
        if (!too_old && report_.bytes <= limits_.max_bytes) break;
        report_.bytes -= bytes;
        --report_.records;
        ++(too_old ? report_.too_old : report_.too_much);
        chosen_.insert(key);
    }
    again_ = left_out_ && chosen_.size() == oldest_.size();
    oldest_.clear();
}

bool QuarantineTrim::is_chosen(const Quarantined& one) const {
    return chosen_.contains(key_of(one));
}

Result<QuarantineReport> trim(joiner::OutcomeJoiner& joiner, const std::string& decisions_topic,
                              const QuarantineLimits& limits, TimePoint now) {
    const auto withheld = reason_info(joiner::Reason::kWithheldOutcome).word;
    const Quarantine shown{
        [&](const auto& visit) { return joiner.visit_quarantined(visit); },
        [&](const auto& test) { return joiner.drop_quarantined_if(test); },
        [&](const Quarantined& one) { return one.reason != withheld; },
        [&](const Quarantined& one) { return joiner::is_unread_decision(one, decisions_topic); }};
    auto hidden = shown;
    hidden.is_part = [&](const Quarantined& one) { return one.reason == withheld; };
    RAMPART_RETURN_IF_ERROR(trim(hidden, limits, now).map([](const auto&) {}));
    return trim(shown, limits, now);
}

Result<QuarantineReport> trim(serving::ApplicationConsumer& applications,
                              const QuarantineLimits& limits, TimePoint now) {
    return trim({[&](const auto& visit) { return applications.visit_quarantined(visit); },
                 [&](const auto& test) { return applications.drop_quarantined_if(test); },
                 [](const Quarantined&) { return true; }, [](const Quarantined&) { return false; }},
                limits, now);
}

}  // namespace rampart::data_retention
