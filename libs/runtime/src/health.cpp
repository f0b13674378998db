#include "rampart/runtime/health.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"

namespace rampart::runtime {

bool HealthReport::ok() const {
    return std::all_of(checks.begin(), checks.end(),
                       [](const CheckResult& check) { return check.status || !check.required; });
}

bool HealthReport::degraded() const {
    return std::any_of(checks.begin(), checks.end(),
                       [](const CheckResult& check) { return !check.status && !check.required; });
}

void Health::add(Probe probe, std::string name, Check check) {
    const std::lock_guard lock(mutex_);
    for (const auto& entry : entries_) {
        RAMPART_CHECK(entry.probe != probe || entry.name != name, "check '{}' is added twice",
                      name);
    }
    entries_.push_back({probe, std::move(name), std::move(check)});
}

HealthReport Health::report(Probe probe) const {
    std::vector<Entry> entries;
    {
        const std::lock_guard lock(mutex_);
        entries = entries_;
    }
    HealthReport report;
    for (const auto& entry : entries) {
        if (probe == Probe::kReady || entry.probe == Probe::kLive) {
            report.checks.push_back({entry.name, entry.check(), entry.probe != Probe::kDegraded});
        }
    }
    return report;
}

}  // namespace rampart::runtime
