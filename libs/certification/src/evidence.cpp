#include "evidence.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "json_archive.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/certification/constraint_set.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/ope/reasons.hpp"

namespace rampart::certification {
namespace {

using base::make_error;
using base::Result;
using base::Status;

/// Line of the file, a leaf of the tree. `impact` is null where none is on record.
struct Line {
    std::string unit, id;
    uint32_t logger = 0;
    double p = 0, candidate = 0, reference = 0;
    bool approved = false;
    std::optional<double> impact;
    std::vector<uint32_t> groups;
    bool overridden = false;
    std::optional<double> anchor;
    std::optional<double> q_approve, q_decline;  // the record's own control variate
    std::optional<double> label;                 // missing where none is on record
    std::vector<uint32_t> conditions;            // 2 bits each: VaultRecord's
    double p_refer = 0, candidate_refer = 0, reference_refer = 0, anchor_refer = 0;
    uint32_t referral = 0;  // ope::Referral
    bool second_half = false;
};

template <class A>
void members(A& a, Line& l) {
    a("unit", l.unit);
    a("id", l.id);
    a("logger", l.logger);
    a("p", l.p);
    a("pi", l.candidate);
    a("s", l.reference);
    a("approved", l.approved);
    a("impact", l.impact);
    a("groups", l.groups);
    a.unless_default("overridden", l.overridden);
    a.unless_default("anchor", l.anchor);
    a.unless_default("q1", l.q_approve);
    a.unless_default("q0", l.q_decline);
    a.unless_default("label", l.label);
    a.unless_default("conditions", l.conditions);
    a.unless_default("p_refer", l.p_refer);
    a.unless_default("pi_refer", l.candidate_refer);
    a.unless_default("s_refer", l.reference_refer);
    a.unless_default("anchor_refer", l.anchor_refer);
    a.unless_default("referral", l.referral);
    a.unless_default("second_half", l.second_half);
}

std::string hex(const Pseudonym& p) {
    return base::to_hex({reinterpret_cast<const char*>(p.data()), p.size()});
}

bool parse(const std::string& text, Pseudonym& out) {
    const auto bytes = base::from_hex(text);
    if (!bytes || bytes->size() != out.size()) return false;
    std::copy(bytes->begin(), bytes->end(), out.begin());
    return true;
}

Line line_of(const VaultRecord& r, const EvidenceForm& form) {
    Line line{.unit = hex(r.unit),
              .id = hex(r.id),
              .logger = r.logger,
              .p = r.p,
              .candidate = r.candidate,
              .reference = r.reference,
              .approved = r.approved,
              .impact = {},
              .groups = {},
              .overridden = r.overridden,
              .anchor = {},
              .q_approve = {},
              .q_decline = {},
              .label = {},
              .conditions = {},
              .p_refer = r.p_refer,
              .candidate_refer = r.candidate_refer,
              .reference_refer = r.reference_refer,
              .anchor_refer = r.anchor_refer,
              .referral = static_cast<uint32_t>(r.referral),
              .second_half = r.second_half};
    if (r.has_impact) line.impact = r.impact;
    if (form.anchored) line.anchor = r.anchor;
    if (r.control_variates) {
        line.q_approve = r.control_variates->approve;
        line.q_decline = r.control_variates->decline;
    }
    if (form.constrained && r.has_label) line.label = r.label;
    for (size_t k = 0; k < form.conditions; ++k) {
        line.conditions.push_back(static_cast<uint32_t>(r.conditions >> 2 * k & 3));
    }
    for (uint32_t g = 0; g < base::limits::kMaxGroups; ++g) {
        if ((r.groups >> g & 1) != 0) line.groups.push_back(g);
    }
    return line;
}

Status conditions_of(const Line& line, const EvidenceForm& form, size_t number, VaultRecord& r) {
    if (line.conditions.size() != form.conditions || (line.label && !form.constrained)) {
        return make_error(Reason::kEvidenceConditions,
                          "evidence line {}: {} conditions{}; the constraints have {}", number,
                          line.conditions.size(), line.label ? " and a label" : "",
                          form.conditions);
    }
    for (size_t k = 0; k < line.conditions.size(); ++k) {
        if (line.conditions[k] > 3) {
            return make_error(Reason::kEvidenceConditions,
                              "evidence line {}: condition {} is {}, not 0 to 3", number, k,
                              line.conditions[k]);
        }
        r.conditions |= uint64_t{line.conditions[k]} << 2 * k;
    }
    r.has_label = line.label.has_value();
    if (line.label) r.label = *line.label;
    return base::ok();
}

Status referral_of(const Line& line, const EvidenceForm& form, size_t number, VaultRecord& r) {
    if (line.referral > static_cast<uint32_t>(ope::Referral::kApproved) ||
        (line.anchor_refer != 0 && !form.anchored)) {
        return make_error(Reason::kEvidenceReferral,
                          "evidence line {}: referral {} is not 0 to 3, or there is no anchor that "
                          "could refer",
                          number, line.referral);
    }
    r.p_refer = line.p_refer;
    r.candidate_refer = line.candidate_refer;
    r.reference_refer = line.reference_refer;
    r.anchor_refer = line.anchor_refer;
    r.referral = static_cast<ope::Referral>(line.referral);
    return base::ok();
}

Result<VaultRecord> record_of(const Line& line, const VaultNames& names, const EvidenceForm& form,
                              size_t number) {
    VaultRecord r;
    if (!parse(line.unit, r.unit) || !parse(line.id, r.id)) {
        return make_error(Reason::kEvidenceIds, "evidence line {}: ids have 32 hex digits", number);
    }
    if (line.logger >= names.loggers.size()) {
        return make_error(Reason::kEvidenceLogger, "evidence line {}: logger {} of {}", number,
                          line.logger, names.loggers.size());
    }
    for (size_t k = 0; k < line.groups.size(); ++k) {
        const uint32_t g = line.groups[k];
        if (g >= names.groups.size() || (k > 0 && g <= line.groups[k - 1])) {
            return make_error(Reason::kEvidenceGroups, "evidence line {}: group {} of {}", number,
                              g, names.groups.size());
        }
        r.groups |= uint64_t{1} << g;
    }
    if (line.q_approve.has_value() != line.q_decline.has_value()) {
        return make_error(Reason::kEvidenceCentre, "evidence line {}: a centre has both q1 and q0",
                          number);
    }
    if (line.q_approve) r.control_variates = ope::ControlVariates{*line.q_approve, *line.q_decline};
    r.p = line.p;
    r.candidate = line.candidate;
    r.reference = line.reference;
    r.anchor = line.anchor.value_or(0);
    r.logger = line.logger;
    r.approved = line.approved;
    r.has_impact = line.impact.has_value();
    r.overridden = line.overridden;
    r.second_half = line.second_half;
    if (line.impact) r.impact = *line.impact;
    RAMPART_RETURN_IF_ERROR(referral_of(line, form, number, r));
    RAMPART_RETURN_IF_ERROR(conditions_of(line, form, number, r));
    return r;
}

Status each_line(std::string_view bytes,
                 const std::function<Status(std::string_view line, size_t number)>& see) {
    for (size_t number = 1; !bytes.empty(); ++number) {
        const size_t end = bytes.find('\n');
        if (end == std::string_view::npos) {
            return make_error(Reason::kTruncatedEvidence,
                              "evidence line {} has no end: the file is cut off", number);
        }
        if (number > base::limits::kMaxRows) {
            return base::make_error(ope::Reason::kTooManyRecords, "more than {} lines of evidence",
                                    base::limits::kMaxRows);
        }
        RAMPART_RETURN_IF_ERROR(see(bytes.substr(0, end), number));
        bytes.remove_prefix(end + 1);
    }
    return base::ok();
}

}  // namespace

EvidenceForm form_of(const RunPlan& plan) {
    EvidenceForm form{.anchored = !plan.identity.anchor_id.empty(),
                      .constrained = !plan.config.named_constraints.empty()};
    if (const auto set = ConstraintSet::compile(plan.config))
        form.conditions = set->conditions().size();
    return form;
}

Result<Evidence> write_evidence(const VaultSource& feedback, const EvidenceForm& form) {
    Evidence evidence;
    RAMPART_RETURN_IF_ERROR(feedback.read([&](std::span<const VaultRecord> block) {
        for (const VaultRecord& record : block) {
            const std::string line = JsonWriter::write(line_of(record, form));
            evidence.tree.add(line);
            evidence.bytes += line;
            evidence.bytes += '\n';
        }
        return base::ok();
    }));
    return evidence;
}

Result<std::vector<VaultRecord>> read_evidence(std::string_view bytes, const VaultNames& names,
                                               const EvidenceForm& form) {
    std::vector<VaultRecord> out;
    const auto see = [&](std::string_view text, size_t number) -> Status {
        auto line = JsonReader::read<Line>(text);
        if (!line) {
            return line.error().with_context(fmt::format("evidence line {}", number));
        }
        RAMPART_TRY(auto record, record_of(*line, names, form, number));
        out.push_back(record);
        return base::ok();
    };
    RAMPART_RETURN_IF_ERROR(each_line(bytes, see));
    return out;
}

Result<base::MerkleTree> read_leaves(std::string_view bytes) {
    base::MerkleTree tree;
    RAMPART_RETURN_IF_ERROR(each_line(bytes, [&](std::string_view line, size_t) {
        tree.add(line);
        return base::ok();
    }));
    return tree;
}

}  // namespace rampart::certification
