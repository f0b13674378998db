#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "rampart/constraints/evaluation.hpp"
#include "rampart/constraints/membership.hpp"

namespace rampart::test {

/// One decision and its outcome. Without a value: there is no outcome.
struct Case {
    uint32_t person = 0;
    double p = 0.5;
    bool approved = true;
    double candidate = 0.5, reference = 0.5;
    std::optional<double> label = 1, impact = 0;
    std::string group = "a";
    bool overridden = false;
    double anchor = 0.5;
    double p_refer = 0, candidate_refer = 0, reference_refer = 0, anchor_refer = 0;
    ope::Referral referral = ope::Referral::kNone;
};

/// Returns decisions in the form that constraints are tested on.
struct CaseLog {
    std::vector<uint32_t> person;
    std::vector<double> p, candidate, reference, anchor, label, impact;
    std::vector<uint8_t> approved, overridden, has_label, has_impact;
    size_t persons = 0, erased = 0;
    bool refers = false;  // a record may be a referral
    std::vector<double> p_refer, candidate_refer, reference_refer, anchor_refer;
    std::vector<uint8_t> referred;
    std::vector<std::string> group;
    std::vector<std::vector<uint8_t>> members;  // members by the program of the last log()

    explicit CaseLog(const std::vector<Case>& cases = {}) {
        for (const Case& c : cases) add(c);
    }

    void add(const Case& c) {
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        person.push_back(c.person);
        persons = std::max<size_t>(persons, c.person + 1);
        p.push_back(c.p);
        candidate.push_back(c.candidate);
        reference.push_back(c.reference);
        anchor.push_back(c.anchor);
        label.push_back(c.label.value_or(kNone));
        impact.push_back(c.impact.value_or(kNone));
        approved.push_back(c.approved);
        overridden.push_back(c.overridden);
        has_label.push_back(c.label.has_value());
        has_impact.push_back(c.impact.has_value());
        group.push_back(c.group);
        refers |= c.p_refer > 0;
        p_refer.push_back(c.p_refer);
        candidate_refer.push_back(c.candidate_refer);
        reference_refer.push_back(c.reference_refer);
        anchor_refer.push_back(c.anchor_refer);
        referred.push_back(static_cast<uint8_t>(c.referral));
    }

    constraints::People people() const {
        constraints::People out{.records = person.size()};
        for (const char* name : {"a", "b"}) {
            constraints::GroupMembers members_of{.name = name};
            for (uint32_t i = 0; i < group.size(); ++i) {
                if (group[i] == name) members_of.records.push_back(i);
            }
            out.groups.push_back(std::move(members_of));
        }
        return out;
    }

    /// Valid until this object changes or the next call.
    constraints::Log log(const constraints::Program& program) {
        members.clear();
        for (const auto& leaf : program.leaves) {
            members.push_back(constraints::members(leaf.condition, people()).value());
        }
        constraints::Log out{.person = person,
                             .persons = persons,
                             .p_approve = p,
                             .approved = approved,
                             .overridden = overridden,
                             .has_label = has_label,
                             .has_impact = has_impact,
                             .candidate = candidate,
                             .reference = reference,
                             .anchor = anchor,
                             .erased = erased};
        if (refers) {
            out.p_refer = p_refer, out.referred = referred;
            out.candidate_refer = candidate_refer, out.reference_refer = reference_refer;
            out.anchor_refer = anchor_refer;
        }
        for (const auto& mask : members) out.members.emplace_back(mask);
        return out;
    }

    constraints::Outcomes outcomes() const { return {label, impact}; }
};

}  // namespace rampart::test
