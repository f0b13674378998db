#include "evidence.hpp"

#include <limits>
#include <optional>

#include "json_archive.hpp"
#include "rampart/base/limits.hpp"

namespace rampart::certification {
namespace {

using base::data_loss;
using base::Result;

/// One leaf. `impact` is null where none is on record.
struct Line {
    std::string id, unit;
    uint32_t logger = 0;
    double p = 0, candidate = 0, reference = 0;
    bool approved = false;
    std::optional<double> impact;
    std::vector<uint32_t> groups;
    bool overridden = false;
};

template <class A>
void members(A& a, Line& l) {
    a("id", l.id);
    a("unit", l.unit);
    a("logger", l.logger);
    a("p", l.p);
    a("pi", l.candidate);
    a("s", l.reference);
    a("approved", l.approved);
    a("impact", l.impact);
    a("groups", l.groups);
    a.unless_default("overridden", l.overridden);
}

void append(ope::LoggedFeedback& out, const Line& line) {
    ope::LoggedDecisions& d = out.decisions;
    if (line.overridden) d.overridden.push_back(static_cast<uint32_t>(d.size()));
    d.record_id.push_back(line.id);
    d.unit_id.push_back(line.unit);
    d.logger.push_back(line.logger);
    d.p_approve.push_back(line.p);
    d.candidate.push_back(line.candidate);
    d.reference.push_back(line.reference);
    d.approved.push_back(line.approved);
    d.has_impact.push_back(line.impact.has_value());
    out.impact.push_back(line.impact.value_or(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace

std::string Evidence::bytes() const {
    std::string out;
    for (const std::string& line : lines) {
        out += line;
        out += '\n';
    }
    return out;
}

Evidence write_evidence(const ope::LoggedDecisions& vault, std::span<const double> impact) {
    std::vector<Line> lines(vault.size());
    for (uint32_t i = 0; i < vault.size(); ++i) {
        Line& line = lines[i];
        line.id = vault.record_id[i];
        line.unit = vault.unit_id[i];
        line.logger = vault.logger[i];
        line.p = vault.p_approve[i];
        line.candidate = vault.candidate[i];
        line.reference = vault.reference[i];
        line.approved = vault.approved[i] != 0;
        if (vault.has_impact[i] != 0) line.impact = impact[i];
    }
    for (const uint32_t i : vault.overridden) lines[i].overridden = true;
    for (uint32_t g = 0; g < vault.groups.size(); ++g) {
        for (const uint32_t i : vault.groups[g].records) lines[i].groups.push_back(g);
    }
    Evidence evidence;
    evidence.lines.reserve(lines.size());
    for (const Line& line : lines) evidence.lines.push_back(JsonWriter::write(line));
    return evidence;
}

Result<std::vector<std::string>> split_lines(std::string_view bytes) {
    std::vector<std::string> lines;
    while (!bytes.empty()) {
        const size_t end = bytes.find('\n');
        if (end == std::string_view::npos) {
            return data_loss("truncated_evidence",
                             "evidence line {} has no end: the file is cut off", lines.size() + 1);
        }
        if (lines.size() == base::limits::kMaxRows) {
            return base::out_of_range("too_many_records", "more than {} lines of evidence",
                                      base::limits::kMaxRows);
        }
        lines.emplace_back(bytes.substr(0, end));
        bytes.remove_prefix(end + 1);
    }
    return lines;
}

Result<ope::LoggedFeedback> read_evidence(const std::vector<std::string>& lines,
                                          const std::vector<std::string>& logger_ids,
                                          const std::vector<std::string>& group_names) {
    ope::LoggedFeedback out;
    out.decisions.logger_ids = logger_ids;
    for (const std::string& name : group_names) out.decisions.groups.push_back({name, {}});
    for (uint32_t i = 0; i < lines.size(); ++i) {
        auto line = JsonReader::read<Line>(lines[i]);
        if (!line) return line.error().with_context(fmt::format("evidence line {}", i + 1));
        if (i > 0 && !(out.decisions.record_id.back() < line->id)) {
            return data_loss("evidence_order", "evidence line {}: ids must ascend, each once",
                             i + 1);
        }
        for (size_t k = 0; k < line->groups.size(); ++k) {
            const uint32_t g = line->groups[k];
            if (g >= group_names.size() || (k > 0 && g <= line->groups[k - 1])) {
                return data_loss("evidence_groups", "evidence line {}: group {} of {}", i + 1, g,
                                 group_names.size());
            }
            out.decisions.groups[g].records.push_back(i);
        }
        append(out, *line);
    }
    if (auto status = ope::validate(out); !status) {
        return data_loss(status.error().reason, "evidence: {}", status.error().message);
    }
    return out;
}

}  // namespace rampart::certification
