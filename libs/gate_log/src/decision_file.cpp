#include "rampart/gate_log/decision_file.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "rampart/base/limits.hpp"
#include "rampart/dataset/csv.hpp"
#include "rampart/dataset/text.hpp"
#include "rampart/gate_log/reasons.hpp"
#include "rampart/training/left_out.hpp"

namespace rampart::gate_log {
namespace {

using base::Result;
using base::Status;
namespace limits = base::limits;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kMinSplitKeyBytes = 16;

struct Record {
    std::string id, person, logger;
    base::TimePoint time;
    bool vault = false, approved = false, overridden = false;
    double p_approve = 0, candidate = 0, reference = 0, anchor = 0;
    double p_refer = 0, candidate_refer = 0, reference_refer = 0, anchor_refer = 0;
    ope::Referral referral = ope::Referral::kNone;
    double impact = kNone, label = kNone;
    std::vector<std::string> attributes;  // in the order of LogSettings::group_columns
};

/// One line of the log, by column.
class Line {
  public:
    explicit Line(const dataset::CsvReader& csv) : csv_(csv) {
        for (size_t j = 0; j < csv.columns().size(); ++j) position_.emplace(csv.columns()[j], j);
    }

    bool has(std::string_view column) const { return position_.contains(column); }
    std::string_view text(std::string_view column) const {
        return csv_.cells()[position_.find(column)->second];
    }
    base::Error bad(std::string_view column, std::string_view what) const {
        return base::make_error(Reason::kBadLogCell, "line {}, column '{}': '{}' {}", csv_.line(),
                                column, text(column).substr(0, 40), what);
    }

    Result<std::string> id(std::string_view column) const {
        const auto value = text(column);
        if (value.empty() || value.size() > limits::kMaxIdBytes)
            return bad(column, fmt::format("must have 1 to {} bytes", limits::kMaxIdBytes));
        return std::string(value);
    }
    Result<double> number(std::string_view column, double lo, double hi) const {
        const auto value = dataset::parse_number(text(column));
        if (!value || *value < lo || *value > hi)
            return bad(column, fmt::format("must be a number from {} to {}", lo, hi));
        return *value;
    }
    /// Returns NaN for an empty cell.
    Result<double> optional_number(std::string_view column, double lo, double hi) const {
        if (!has(column) || text(column).empty()) return kNone;
        return number(column, lo, hi);
    }
    Result<base::TimePoint> time(std::string_view column) const {
        const auto value = base::parse_iso8601(std::string(text(column)));
        if (!value) return bad(column, "must be a time such as 2026-01-31T09:30:00Z");
        return *value;
    }
    /// Returns whether the cell is `yes`; it may be `no`.
    Result<bool> either(std::string_view column, std::string_view yes, std::string_view no) const {
        const auto value = text(column);
        if (value != yes && value != no)
            return bad(column, fmt::format("must be '{}' or '{}'", yes, no));
        return value == yes;
    }

  private:
    const dataset::CsvReader& csv_;
    std::map<std::string, size_t, std::less<>> position_;
};

struct Reading {
    const LogSettings& settings;
    const std::optional<std::string>& split_key;

    Status check_columns(const Line& line) const {
        std::vector<std::string> wanted{"record", "person",    "time",      "logger", "p_approve",
                                        "action", "candidate", "reference", "impact"};
        wanted.insert(wanted.end(), settings.group_columns.begin(), settings.group_columns.end());
        if (!split_key) wanted.emplace_back("side");
        if (settings.gate.anchor) wanted.emplace_back("anchor");
        if (line.has("p_refer") || line.has("candidate_refer") || line.has("reference_refer")) {
            wanted.insert(wanted.end(), {"p_refer", "candidate_refer", "reference_refer"});
            if (settings.gate.anchor) wanted.emplace_back("anchor_refer");
        }
        for (const auto& column : wanted) {
            if (line.has(column)) continue;
            return base::make_error(
                Reason::kMissingLogColumn, "the log has no column '{}'{}", column,
                column == "side"     ? "; add it, or name a key with --split-key"
                : column == "anchor" ? ", P(approve) by the epoch's first reference; add it, or "
                                       "set gate.anchor = false"
                                     : "");
        }
        return base::ok();
    }

    Status read_referral(const Line& line, Record& record) const {
        const auto read = [&](std::string_view column, double& p) -> Status {
            RAMPART_TRY(p, line.number(column, 0, 1));
            return base::ok();
        };
        RAMPART_RETURN_IF_ERROR(read("p_refer", record.p_refer));
        RAMPART_RETURN_IF_ERROR(read("candidate_refer", record.candidate_refer));
        RAMPART_RETURN_IF_ERROR(read("reference_refer", record.reference_refer));
        return settings.gate.anchor ? read("anchor_refer", record.anchor_refer) : base::ok();
    }

    Status read_action(const Line& line, Record& record) const {
        const bool referrals = line.has("p_refer");
        if (referrals) RAMPART_RETURN_IF_ERROR(read_referral(line, record));
        const auto action = line.text("action");
        record.approved = action == "approve";
        if (line.has("overridden")) {
            RAMPART_TRY(record.overridden, line.either("overridden", "yes", "no"));
        }
        if (action == "approve" || action == "decline") return base::ok();
        if (action != "refer") return line.bad("action", "must be 'approve', 'decline' or 'refer'");
        if (!referrals) {
            return line.bad("action",
                            "needs the columns p_refer, candidate_refer and reference_refer");
        }
        if (record.overridden)
            return line.bad("overridden", "must be 'no' for a referral, which has an answer");
        record.referral = ope::Referral::kUnanswered;
        return base::ok();
    }

    /// Reads what people answered to a referral.
    static Status read_answer(const Line& line, Record& record) {
        if (!line.has("answer")) {
            if (!std::isnan(record.impact)) record.referral = ope::Referral::kApproved;
            return base::ok();
        }
        const auto answer = line.text("answer");
        if (answer == "approve") {
            record.referral = ope::Referral::kApproved;
        } else if (answer == "decline") {
            record.referral = ope::Referral::kDeclined;
        } else if (!answer.empty()) {
            return line.bad("answer", "must be 'approve', 'decline' or empty");
        } else if (!std::isnan(record.impact)) {
            return line.bad("impact", "must be empty while there is no answer");
        }
        return base::ok();
    }

    /// Reads what became of the decision.
    Status read_outcome(const Line& line, Record& record) const {
        const auto& config = settings.gate.config;
        RAMPART_TRY(record.impact,
                    line.optional_number("impact", config.impact_lo, config.impact_hi));
        RAMPART_TRY(record.label, line.optional_number("label", 0, 1));
        if (record.referral != ope::Referral::kNone)
            RAMPART_RETURN_IF_ERROR(read_answer(line, record));
        if (record.label != 0 && record.label != 1 && !std::isnan(record.label))
            return line.bad("label", "must be 0, 1 or empty");
        const bool declined = record.referral == ope::Referral::kNone
                                  ? record.approved == record.overridden
                                  : record.referral == ope::Referral::kDeclined;
        if (!declined || !config.declined_impact) return base::ok();
        if (!std::isnan(record.impact) && record.impact != *config.declined_impact) {
            return line.bad("impact", fmt::format("must be empty or {}, the impact.declined of the "
                                                  "settings",
                                                  *config.declined_impact));
        }
        record.impact = kNone;  // it is the settings'
        return base::ok();
    }

    Result<Record> read(const Line& line) const {
        Record record;
        RAMPART_TRY(record.id, line.id("record"));
        RAMPART_TRY(record.person, line.id("person"));
        RAMPART_TRY(record.logger, line.id("logger"));
        RAMPART_TRY(record.time, line.time("time"));
        RAMPART_TRY(record.p_approve, line.number("p_approve", 0, 1));
        RAMPART_TRY(record.candidate, line.number("candidate", 0, 1));
        RAMPART_TRY(record.reference, line.number("reference", 0, 1));
        if (settings.gate.anchor) {
            RAMPART_TRY(record.anchor, line.number("anchor", 0, 1));
        }
        RAMPART_RETURN_IF_ERROR(read_action(line, record));
        RAMPART_RETURN_IF_ERROR(read_outcome(line, record));
        if (split_key) {
            record.vault = training_set::in_vault(*split_key, domain::PersonId(record.person));
        } else {
            RAMPART_TRY(record.vault, line.either("side", "vault", "development"));
        }
        for (const auto& column : settings.group_columns)
            record.attributes.emplace_back(line.text(column));
        return record;
    }
};

/// Adds a record of the vault that is left out.
using LeaveOut = std::function<void(training_set::Omission, const Record&)>;

/// Sorts by time and then id. Fails where a person is on both sides: what is learnt from one record
/// would be tested on the other.
Status sort_records(std::vector<Record>& records) {
    std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
        return std::tie(a.time, a.id) < std::tie(b.time, b.id);
    });
    std::map<std::string, bool> side_of;
    for (const auto& record : records) {
        if (side_of.emplace(record.person, record.vault).first->second == record.vault) continue;
        return base::make_error(Reason::kPersonOnBothSides,
                                "person '{}' is in the vault and on the development side",
                                record.person);
    }
    return base::ok();
}

/// Leaves the first record of each person.
void keep_first_records(std::vector<Record>& records, const LeaveOut& leave_out) {
    std::set<std::string> seen;
    std::erase_if(records, [&](const Record& record) {
        if (seen.insert(record.person).second) return false;
        if (record.vault) leave_out(training_set::Omission::kLaterRecord, record);
        return true;
    });
}

/// A group, and the values that its people have, by position of the column.
struct Group {
    std::string name;
    std::vector<std::pair<size_t, std::string>> values;
    bool has(const Record& record) const {
        return std::all_of(values.begin(), values.end(), [&](const auto& value) {
            return record.attributes[value.first] == value.second;
        });
    }
};

/// Returns the group with a name such as "sex=F,age=low".
Group named_group(std::string_view name, const std::vector<std::string>& columns) {
    Group out{std::string(name), {}};
    while (true) {
        const auto part = name.substr(0, name.find(','));
        const auto equals = part.find('=');
        const auto column = std::find(columns.begin(), columns.end(), part.substr(0, equals));
        out.values.emplace_back(column - columns.begin(), part.substr(equals + 1));
        if (part.size() == name.size()) return out;
        name.remove_prefix(part.size() + 1);
    }
}

/// Returns the groups of the settings, or one for every value that occurs, by column and value.
std::vector<Group> groups_of(const std::vector<Record>& records, const LogSettings& settings) {
    const auto& columns = settings.group_columns;
    std::vector<Group> groups;
    for (const auto& name : settings.group_names) groups.push_back(named_group(name, columns));
    if (!groups.empty()) return groups;
    for (size_t j = 0; j < columns.size(); ++j) {
        std::set<std::string> values;
        for (const auto& record : records) values.insert(record.attributes[j]);
        values.erase("");
        for (const auto& value : values)
            groups.push_back({fmt::format("{}={}", columns[j], value), {{j, value}}});
    }
    return groups;
}

/// Lays out the records of one side.
class Layout {
  public:
    Layout(const std::vector<Group>& groups, const LogSettings& settings,
           const certification::ConstraintSet& constraints, bool referrals)
        : groups_(groups), settings_(settings), constraints_(constraints), referrals_(referrals) {
        for (const auto& group : groups) out_.decisions.groups.push_back({group.name, {}});
    }

    void add(const Record& record) {
        auto& d = out_.decisions;
        const auto position = static_cast<uint32_t>(d.size());
        d.record_id.push_back(record.id);
        d.unit_id.push_back(record.person);
        d.p_approve.push_back(record.p_approve);
        d.approved.push_back(record.approved ? 1 : 0);
        d.has_impact.push_back(std::isnan(record.impact) ? 0 : 1);
        d.candidate.push_back(record.candidate);
        d.reference.push_back(record.reference);
        if (settings_.gate.anchor) d.anchor.push_back(record.anchor);
        if (referrals_) add_referral(record);
        const auto [logger, fresh] =
            loggers_.emplace(record.logger, static_cast<uint32_t>(loggers_.size()));
        if (fresh) d.logger_ids.push_back(record.logger);
        d.logger.push_back(logger->second);
        if (record.overridden) d.overridden.push_back(position);
        for (size_t g = 0; g < groups_.size(); ++g) {
            if (groups_[g].has(record)) d.groups[g].records.push_back(position);
        }
        out_.impact.push_back(record.impact);
        labels_.push_back(record.label);
    }

    void add_referral(const Record& record) {
        auto& d = out_.decisions;
        d.p_refer.push_back(record.p_refer);
        d.candidate_refer.push_back(record.candidate_refer);
        d.reference_refer.push_back(record.reference_refer);
        if (settings_.gate.anchor) d.anchor_refer.push_back(record.anchor_refer);
        d.referred.push_back(static_cast<uint8_t>(record.referral));
    }

    Result<ope::LoggedFeedback> finish() {
        if (!constraints_.empty()) {
            constraints::People people{.records = out_.impact.size(), .columns = {}, .groups = {}};
            for (const auto& group : out_.decisions.groups)
                people.groups.push_back({group.name, group.records});
            RAMPART_TRY(out_.decisions.conditions, constraints_.conditions_met(people));
            for (const double label : labels_)
                out_.decisions.has_label.push_back(std::isnan(label) ? 0 : 1);
            out_.label = std::move(labels_);
        }
        RAMPART_RETURN_IF_ERROR(ope::validate(out_));
        return std::move(out_);
    }

  private:
    const std::vector<Group>& groups_;
    const LogSettings& settings_;
    const certification::ConstraintSet& constraints_;
    const bool referrals_;
    ope::LoggedFeedback out_;
    std::vector<double> labels_;
    std::map<std::string, uint32_t> loggers_;
};

base::Digest digest_of(const std::vector<std::string>& columns) {
    base::Sha256 hash;
    for (const auto& column : columns) hash.update_field(column);
    return hash.finish();
}

/// Leaves out the vault's records before `from`.
void drop_older(std::vector<Record>& records, base::TimePoint from, const LeaveOut& leave_out) {
    std::erase_if(records, [&](const Record& record) {
        if (!record.vault || record.time >= from) return false;
        leave_out(training_set::Omission::kTooOld, record);
        return true;
    });
}

/// Leaves out the vault's records up to `read_until`; returns whose they were.
std::set<std::string> drop_read(std::vector<Record>& records,
                                const std::optional<base::TimePoint>& read_until,
                                const LeaveOut& leave_out) {
    std::set<std::string> persons;
    std::erase_if(records, [&](const Record& record) {
        if (!read_until || !record.vault || record.time > *read_until) return false;
        persons.insert(record.person);
        leave_out(training_set::Omission::kEarlierEpoch, record);
        return true;
    });
    return persons;
}

/// Counts a record of the vault's logger.
void count_logger(const Record& record, std::vector<certification::LoggerPeriod>& loggers) {
    auto found = std::find_if(loggers.begin(), loggers.end(),
                              [&](const auto& logger) { return logger.id == record.logger; });
    if (found == loggers.end())
        found = loggers.insert(found, {record.logger, record.time, record.time, 0});
    found->last = record.time;  // records are in order of time
    ++found->records;
}

/// Leaves the sorted records that the test may read, of each person the first, and says which of
/// the vault's are left out.
void leave_out_records(std::vector<Record>& records, const std::vector<Group>& groups,
                       const LogSettings& settings, DecisionFile& out) {
    std::vector<std::string> names;
    for (const Group& group : groups) names.push_back(group.name);
    training::LeftOutCounts counts(names);
    const LeaveOut leave_out = [&](training_set::Omission why, const Record& record) {
        std::vector<uint32_t> of;
        for (uint32_t g = 0; g < groups.size(); ++g)
            if (groups[g].has(record)) of.push_back(g);
        counts.add(why, of);
        out.later_records += why == training_set::Omission::kLaterRecord ? 1 : 0;
    };
    out.decisions = static_cast<size_t>(std::count_if(
        records.begin(), records.end(), [](const Record& record) { return record.vault; }));
    const auto end = records.back().time;
    out.persons_read = drop_read(records, out.read_until, leave_out);
    if (settings.gate.max_age_months > 0)
        drop_older(records, base::add_months(end, -settings.gate.max_age_months), leave_out);
    keep_first_records(records, leave_out);
    out.left_out = counts.list();
}

}  // namespace

Result<DecisionFile> read_decisions(const std::filesystem::path& path, const LogSettings& settings,
                                    const certification::ConstraintSet& constraints,
                                    const std::optional<std::string>& split_key,
                                    std::optional<base::TimePoint> read_until) {
    if (split_key && split_key->size() < kMinSplitKeyBytes) {
        return base::make_error(Reason::kBadSplitKey, "the split key has {} bytes; {} are needed",
                                split_key->size(), kMinSplitKeyBytes);
    }
    RAMPART_TRY(auto csv, dataset::CsvReader::open(path));
    const Line line(csv);
    const Reading reading{settings, split_key};
    RAMPART_RETURN_IF_ERROR(reading.check_columns(line));
    std::vector<Record> records;
    while (true) {
        RAMPART_TRY(const bool more, csv.next());
        if (!more) break;
        if (records.size() == limits::kMaxRows) {
            return base::make_error(Reason::kLogTooLong, "more than {} decisions",
                                    limits::kMaxRows);
        }
        RAMPART_TRY(records.emplace_back(), reading.read(line));
    }
    if (records.empty()) return base::make_error(Reason::kNoRecords, "the log has no decision");
    DecisionFile out;
    out.columns = digest_of(csv.columns());
    out.anchor = settings.gate.anchor;
    out.read_until = read_until;
    RAMPART_RETURN_IF_ERROR(sort_records(records));
    const auto groups = groups_of(records, settings);
    leave_out_records(records, groups, settings, out);
    const bool referrals = std::any_of(records.begin(), records.end(), [](const Record& record) {
        return record.referral != ope::Referral::kNone || record.p_refer > 0 ||
               record.candidate_refer > 0 || record.reference_refer > 0 || record.anchor_refer > 0;
    });
    Layout development(groups, settings, constraints, referrals),
        vault(groups, settings, constraints, referrals);
    bool first = true;
    std::vector<base::TimePoint> vault_times;
    for (const auto& record : records) {
        (record.vault ? vault : development).add(record);
        if (!record.vault) continue;
        if (std::exchange(first, false)) out.period_from = record.time;
        out.period_to = record.time;
        count_logger(record, out.loggers);
        const auto known = [](const std::string& attribute) { return !attribute.empty(); };
        out.in_no_group +=
            std::none_of(record.attributes.begin(), record.attributes.end(), known) ? 1 : 0;
        vault_times.push_back(record.time);
    }
    RAMPART_TRY(out.development, development.finish());
    RAMPART_TRY(out.vault, vault.finish());
    for (const auto time : vault_times) {
        out.vault.decisions.second_half.push_back(
            certification::in_second_half(time, out.period_from, out.period_to));
    }
    out.development.decisions.erased = settings.erased_development;
    out.vault.decisions.erased = settings.erased_vault;
    return out;
}

}  // namespace rampart::gate_log
