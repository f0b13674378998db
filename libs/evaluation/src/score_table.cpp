#include "rampart/evaluation/score_table.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "rampart/base/digest.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/csv_writer.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/row_reader.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/evaluation/reasons.hpp"
#include "rampart/model/batch_policy.hpp"
#include "row_details.hpp"

namespace rampart::evaluation {
namespace {

constexpr size_t kBlockRows = 1 << 16, kBlockRowsWithDetails = 1 << 12;

/// Turns the groups of a table into those of a policy.
class Groups {
  public:
    explicit Groups(const model::Policy& policy) : policy_(policy) {}

    base::Result<std::vector<size_t>> of(const dataset::RowBlock& block,
                                         const std::vector<std::string>& names) {
        for (size_t g = known_.size(); g < names.size(); ++g) {
            const auto& own = policy_.group_names();
            const auto it = std::find(own.begin(), own.end(), names[g]);
            if (it == own.end())
                return base::make_error(base::Reason::kUnknownGroup,
                                        "the policy decides by protected group and does not know "
                                        "'{}': leave its rows out",
                                        names[g]);
            known_.push_back(static_cast<size_t>(it - own.begin()));
        }
        std::vector<size_t> groups;
        for (const int32_t g : block.group) groups.push_back(known_[static_cast<size_t>(g)]);
        return groups;
    }

  private:
    const model::Policy& policy_;
    std::vector<size_t> known_;  // by the table's group
};

/// Makes the lines of a block.
class Lines {
  public:
    Lines(const model::Policy& policy, const ScoreOptions& options, RowDetails details)
        : policy_(policy), options_(options), details_(std::move(details)) {
        if (options.draw_seed) key_ = fmt::format("rampart score {}", *options.draw_seed);
    }

    base::Result<std::string> header() const {
        std::vector<std::string> names = {"line"};
        names.insert(names.end(), options_.kept.begin(), options_.kept.end());
        if (policy_.group_aware()) names.push_back("group");
        names.insert(names.end(), {"score", "p_approve"});
        if (options_.draw_seed) names.insert(names.end(), {"action", "propensity"});
        names.insert(names.end(), details_.names().begin(), details_.names().end());
        std::string text;
        std::set<std::string_view> seen;
        for (const auto& name : names) {
            if (!seen.insert(name).second)
                return base::make_error(dataset::Reason::kDuplicateColumn,
                                        "the answer would have two columns '{}': keep each column "
                                        "once, and none that has the name of a result",
                                        name);
            if (!text.empty()) text += ',';
            dataset::append_cell(text, name);
        }
        return text += '\n';
    }
    const std::string& of(const dataset::RowBlock& block, std::span<const size_t> groups,
                          std::span<const model::PolicyOutput> outputs) {
        text_.clear();
        details_.take(block, options_.pool);
        for (size_t r = 0; r < block.rows(); ++r) {
            const auto to = std::back_inserter(text_);
            fmt::format_to(to, "{}", block.line[r]);
            for (size_t k = 0; k < options_.kept.size(); ++k)
                dataset::append_cell(text_ += ',', block.kept[r * options_.kept.size() + k]);
            if (!groups.empty())
                dataset::append_cell(text_ += ',', policy_.group_names()[groups[r]]);
            fmt::format_to(to, ",{},{}", outputs[r].score, outputs[r].approve);
            const double u = options_.draw_seed ? add_draw(block.line[r], outputs[r].approve) : 0;
            details_.add(text_, r, outputs[r], domain::drawn_action(u, outputs[r].approve, 0), u);
            text_ += '\n';
        }
        return text_;
    }

  private:
    /// Appends action and propensity, and returns the draw.
    double add_draw(uint64_t line, double approve) {
        const double u = base::keyed_uniform(key_, std::to_string(line));
        const auto action = domain::drawn_action(u, approve, 0);
        fmt::format_to(std::back_inserter(text_), ",{},{}", domain::to_string(action),
                       domain::probability_of(action, approve, 0));
        return u;
    }

    const model::Policy& policy_;
    const ScoreOptions& options_;
    RowDetails details_;
    std::string key_, text_;
};

}  // namespace

base::Result<std::optional<ScoredTable>> score_table(const model::Policy& policy,
                                                     const dataset::TableSchema& schema,
                                                     const std::filesystem::path& table,
                                                     const std::filesystem::path& out,
                                                     const ScoreOptions& options) {
    if (policy.group_aware() && schema.protected_columns.empty())
        return base::make_error(base::Reason::kNoGroups,
                                "the policy decides by protected group, but the schema names no "
                                "protected columns: name them under `protected`");
    RAMPART_TRY(auto reader,
                dataset::RowReader::open(table, schema, {policy.group_aware(), options.kept}));
    RAMPART_TRY(auto details, RowDetails::create(policy, options));
    const size_t most = details.any() ? kBlockRowsWithDetails : kBlockRows;
    Lines lines(policy, options, std::move(details));
    RAMPART_TRY(const auto header, lines.header());
    RAMPART_TRY(auto writer, dataset::CsvWriter::create(out));
    const model::BatchPolicy batch(policy);
    Groups groups(policy);
    RAMPART_RETURN_IF_ERROR(writer.add(header));
    ScoredTable scored;
    scored.unread = reader.unread();
    dataset::RowBlock block;
    std::vector<model::PolicyOutput> outputs;
    while (true) {
        RAMPART_RETURN_IF_ERROR(reader.next(block, most));
        if (block.rows() == 0) break;
        RAMPART_TRY(const auto of_rows, groups.of(block, reader.group_names()));
        outputs.assign(block.rows(), {});
        batch.evaluate(model::TableView::column_major(block.columns), of_rows, outputs,
                       options.pool);
        RAMPART_RETURN_IF_ERROR(writer.add(lines.of(block, of_rows, outputs)));
        for (const auto& output : outputs) {
            scored.mean_score += output.score;
            scored.mean_approve += output.approve;
        }
        scored.rows += block.rows();
        if (!options.progress(scored.rows)) return std::nullopt;
    }
    if (scored.rows == 0)
        return base::make_error(base::Reason::kNoRows, "'{}': there are no rows below the header",
                                table.string());
    scored.notes = reader.notes();
    scored.mean_score /= static_cast<double>(scored.rows);
    scored.mean_approve /= static_cast<double>(scored.rows);
    RAMPART_RETURN_IF_ERROR(writer.finish());
    return scored;
}

}  // namespace rampart::evaluation
