#include "rampart/gate_log/log_writer.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "rampart/gate_log/reasons.hpp"

namespace rampart::gate_log {
namespace {

using training_set::Row;

/// Returns the text as a cell: in quotes where it has a separator, a quote or a line end.
std::string cell(std::string_view text) {
    if (text.find_first_of(",;\t\"\r\n") == text.npos) return std::string(text);
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

std::string cell(const std::optional<double>& x) { return x ? fmt::format("{}", *x) : ""; }

/// Returns the text as a basic string of TOML.
std::string toml_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

/// Returns the attributes in names such as "sex=F", in their order.
std::vector<std::string> attributes_of(const std::vector<std::string>& group_names) {
    std::vector<std::string> out;
    for (const auto& name : group_names) {
        const auto attribute = name.substr(0, name.find('='));
        if (name.find(',') == name.npos && (out.empty() || out.back() != attribute))
            out.push_back(attribute);
    }
    return out;
}

std::string value_of(const Row& row, const std::vector<std::string>& group_names,
                     std::string_view attribute) {
    for (const uint32_t g : row.groups) {
        const std::string_view name = group_names[g];
        if (name.find(',') == name.npos && name.substr(0, name.find('=')) == attribute)
            return std::string(name.substr(attribute.size() + 1));
    }
    return "";
}

std::string_view action_of(const Row& row) {
    return row.referred ? "refer" : row.approved ? "approve" : "decline";
}

std::string_view answer_of(const Row& row) {
    return !row.answer ? "" : *row.answer ? "approve" : "decline";
}

/// Returns 1/p of what was drawn.
double weight_of(const Row& row) {
    return 1 / (row.referred   ? row.p_refer
                : row.approved ? row.p_approve
                               : 1 - row.p_approve - row.p_refer);
}

class Writer {
  public:
    Writer(const gate::TestedLog& log, const training_set::DevelopmentSet& development,
           const LogContent& content)
        : content_(content),
          attributes_(attributes_of(log.vault.group_names)),
          referrals_(!log.inputs.decisions.referred.empty() ||
                     !log.inputs.selection.decisions.referred.empty()),
          anchor_(content.pair && !log.inputs.decisions.anchor.empty()) {
        columns_ = {"record",    "person", "time",       "side",   "logger",
                    "p_approve", "action", "overridden", "impact", "label"};
        if (content.pair) add_columns({"candidate", "reference"});
        if (anchor_) add_columns({"anchor"});
        if (referrals_) add_columns({"p_refer", "answer"});
        if (referrals_ && content.pair) add_columns({"candidate_refer", "reference_refer"});
        if (referrals_ && anchor_) add_columns({"anchor_refer"});
        if (content.development) add_columns({"weight"});
        fixed_ = columns_;
        add_columns(attributes_);
        if (content.pair) return;
        for (const auto& feature : development.schema.features())
            columns_.push_back(fmt::format("x.{}", feature.name));
    }

    base::Status check_columns() const {
        for (const auto& attribute : attributes_) {
            if (std::find(fixed_.begin(), fixed_.end(), attribute) == fixed_.end()) continue;
            return base::make_error(Reason::kAttributeColumn,
                                    "the attribute '{}' has the name of a column of the log",
                                    attribute);
        }
        return base::ok();
    }

    void begin() {
        for (const auto& column : columns_) add(cell(column));
        end_line();
    }

    template <class Side>
    void add_side(const ope::LoggedDecisions& d, const training_set::DecisionSet<Side>& set,
                  std::string_view side) {
        std::unordered_map<std::string_view, size_t> row_of;
        for (size_t i = 0; i < set.rows.size(); ++i)
            row_of.emplace(set.rows[i].decision.value(), i);
        for (size_t i = 0; i < d.size(); ++i) {
            const size_t r = row_of.at(d.record_id[i]);
            add_record(set.rows[r], side);
            add_policies(d, i);
            if (referrals_) add_referral(d, i, set.rows[r]);
            if (content_.development)
                add(side == "vault" ? "" : fmt::format("{}", weight_of(set.rows[r])));
            for (const auto& attribute : attributes_)
                add(cell(value_of(set.rows[r], set.group_names, attribute)));
            if (!content_.pair) add_features(set.schema, set.features_of(r));
            end_line();
        }
    }

    std::string text() && { return std::move(text_); }
    const std::vector<std::string>& attributes() const { return attributes_; }

  private:
    void add_columns(const std::vector<std::string>& names) {
        columns_.insert(columns_.end(), names.begin(), names.end());
    }
    void add(std::string_view cell) {
        text_ += cell;
        text_ += ',';
    }
    void end_line() { text_.back() = '\n'; }

    void add_record(const Row& row, std::string_view side) {
        add(cell(row.decision.value()));
        add(cell(row.person.value()));
        add(base::to_iso8601(row.event_time));
        add(side);
        add(cell(row.policy.value()));
        add(fmt::format("{}", row.p_approve));
        add(action_of(row));
        add(row.overridden ? "yes" : "no");
        add(cell(row.impact));
        add(cell(row.label));
    }
    void add_policies(const ope::LoggedDecisions& d, size_t i) {
        if (!content_.pair) return;
        add(fmt::format("{}", d.candidate[i]));
        add(fmt::format("{}", d.reference[i]));
        if (anchor_) add(fmt::format("{}", d.anchor[i]));
    }
    /// Adds what belongs to a log with referrals, of which this side may have none.
    void add_referral(const ope::LoggedDecisions& d, size_t i, const Row& row) {
        const auto of = [&](const std::vector<double>& p) { return p.empty() ? 0 : p[i]; };
        add(fmt::format("{}", row.p_refer));
        add(answer_of(row));
        if (!content_.pair) return;
        add(fmt::format("{}", of(d.candidate_refer)));
        add(fmt::format("{}", of(d.reference_refer)));
        if (anchor_) add(fmt::format("{}", of(d.anchor_refer)));
    }
    void add_features(const dataset::FeatureSchema& schema, std::span<const float> features) {
        for (size_t j = 0; j < features.size(); ++j) {
            const auto& spec = schema.features()[j];
            if (std::isnan(features[j])) {
                add("");
            } else if (spec.kind == dataset::FeatureKind::kNumeric) {
                add(fmt::format("{}", features[j]));
            } else {
                add(cell(spec.categories[static_cast<size_t>(features[j])]));
            }
        }
    }

    const LogContent content_;
    const std::vector<std::string> attributes_;
    const bool referrals_, anchor_;
    std::vector<std::string> columns_, fixed_;
    std::string text_;
};

std::string settings_of(const gate::TestedLog& log, const std::vector<std::string>& columns) {
    const auto& config = log.inputs.config;
    const auto list = [](const std::vector<std::string>& texts) {
        std::vector<std::string> out;
        for (const auto& text : texts) out.push_back(toml_text(text));
        return fmt::format("[{}]", fmt::join(out, ", "));
    };
    std::string out =
        fmt::format("[impact]\nunits = {}\nminimum = {}\nmaximum = {}\n",
                    toml_text(config.impact_units), config.impact_lo, config.impact_hi);
    if (config.declined_impact) out += fmt::format("declined = {}\n", *config.declined_impact);
    out += fmt::format("\n[groups]\ncolumns = {}\nnames = {}\n", list(columns),
                       list(log.vault.group_names));
    const auto add_erased = [&](std::string_view side, const ope::ErasedCounts& counts) {
        if (counts.records == 0) return;
        std::vector<size_t> of_group;
        for (size_t g = 0; g < log.vault.group_names.size(); ++g)
            of_group.push_back(counts.in_group(g));
        out += fmt::format("{0} = {1}\n{0}_groups = [{2}]\n", side, counts.records,
                           fmt::join(of_group, ", "));
        if (counts.unexplained > 0)
            out += fmt::format("{}_unexplained = {}\n", side, counts.unexplained);
        if (counts.unreadable > 0)
            out += fmt::format("{}_unreadable = {}\n", side, counts.unreadable);
    };
    const auto &vault = log.inputs.decisions.erased,
               &development = log.inputs.selection.decisions.erased;
    if (vault.records + development.records > 0) out += "\n[erased]\n";
    add_erased("vault", vault);
    add_erased("development", development);
    return out;
}

}  // namespace

base::Result<LogFiles> write_log(const gate::TestedLog& log,
                                 const training_set::DevelopmentSet& development,
                                 const LogContent& content) {
    Writer writer(log, development, content);
    RAMPART_RETURN_IF_ERROR(writer.check_columns());
    writer.begin();
    if (content.development)
        writer.add_side(log.inputs.selection.decisions, development, "development");
    if (content.vault) writer.add_side(log.inputs.decisions, log.vault, "vault");
    auto settings = settings_of(log, writer.attributes());
    return LogFiles{std::move(writer).text(), std::move(settings)};
}

}  // namespace rampart::gate_log
