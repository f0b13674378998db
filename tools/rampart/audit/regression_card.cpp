#include <boost/json.hpp>

#include "audit/card_page.hpp"
#include "frame/figures_text.hpp"
#include "rampart/base/file.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/evaluation/regression_evaluation.hpp"
#include "rampart/report/html.hpp"

namespace rampart::cli {
namespace {

using base::Result;

/// Levels of the picture of a score that has none.
constexpr int kPictureLevels = 100;

struct Measured {
    dataset::Dataset rows;
    std::string from;
    bool learned_from = false;
};

Result<Measured> rows_for(const evaluation::ModelTableNames& names, std::string split,
                          const dataset::Dataset& table,
                          const std::optional<model::TrainingRecord>& record) {
    const bool own = evaluation::is_training_table(table, record);
    if (split.empty()) {
        split = "all";
        if (own && evaluation::part_of(names, "test", table, record)) split = "test";
    }
    Measured out;
    RAMPART_TRY(out.rows, evaluation::part_of(names, split, table, record));
    out.from = fmt::format("{} rows of {}", split == "all" ? "all" : "the " + split, names.data);
    out.learned_from = split == "train" || split == "validation" || (split == "all" && own);
    return out;
}

/// P(score >= j / levels | group), as regression_page draws it; a group without rows has none.
std::vector<double> tails_of(const model::Policy& policy, const dataset::Dataset& data,
                             size_t levels) {
    const size_t groups = data.group_names.size();
    std::vector<double> tails(groups * levels), total(groups);
    std::vector<float> row(data.schema.size());
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        const auto g = static_cast<size_t>(data.group[i]);
        const double w = static_cast<double>(data.weight_of(i));
        total[g] += w;
        for (const auto& [score, weight] : policy.scores(row, std::nullopt)) {
            const auto level = model::level_of(score, static_cast<uint32_t>(levels));
            for (size_t j = 1; j <= level; ++j) tails[g * levels + j - 1] += w * weight;
        }
    }
    for (size_t g = 0; g < groups; ++g)
        for (size_t j = 0; j < levels && total[g] > 0; ++j) tails[g * levels + j] /= total[g];
    return tails;
}

std::string page_of(const evaluation::ModelTableNames& names, const model::LoadedPolicy& loaded,
                    const Measured& measured, const evaluation::RegressionEvaluation& evaluation) {
    const auto& link = *loaded.policy.last_learned();
    const uint32_t levels = link.scale.levels == 0 ? kPictureLevels : link.scale.levels;
    std::vector<report::Row> facts{{"id", loaded.id.value()}, {"score", score_text(link)}};
    if (!link.members.empty()) facts.push_back({"what it is", mixture_text(link)});
    for (const auto& [key, value] : loaded.policy.printed_facts())
        if (key != "table_schema") facts.push_back({key, value});
    report::Html page;
    page.title(fmt::format("Model card: {}", names.model));
    page.paragraph(fmt::format("fair regression, measured on {}", measured.from), "soft");
    if (measured.learned_from)
        page.paragraph(
            "The model may have learned from these rows: figures on rows that it has not seen are "
            "worse.",
            "warning");
    page.preformatted(to_text(evaluation));
    if (!measured.rows.group.empty()) {
        page.heading("Distribution of the score in each group");
        page.raw(distribution_picture(measured.rows.group_names,
                                      tails_of(loaded.policy, measured.rows, levels), levels,
                                      evaluation.range, std::nullopt));
    }
    page.heading("Where it comes from").facts(facts);
    return report::document("Model card", page);
}

}  // namespace

Result<Answer> write_regression_card(const evaluation::ModelTableNames& names,
                                     const model::LoadedPolicy& loaded,
                                     const fair_regression::RegressionLoss& loss,
                                     const std::string& split, const std::string& out) {
    const auto& record = loaded.policy.state().training;
    RAMPART_TRY(const auto schema, evaluation::schema_for(names, loaded.policy, record));
    RAMPART_TRY(const auto table, dataset::read_table(names.data, schema));
    RAMPART_TRY(const auto measured, rows_for(names, split, table, record));
    fair_regression::LabelRange range;
    if (schema.label_range) range = {schema.label_range->lo, schema.label_range->hi};
    RAMPART_TRY(
        const auto evaluation,
        evaluation::evaluate_regression(loaded.policy, loss, measured.rows, range, std::nullopt));
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(out, page_of(names, loaded, measured, evaluation)));
    Answer answer;
    answer.text = fmt::format("wrote {}\nmodel {}\nmeasured on {} ({} rows)\n", out,
                              loaded.id.value(), measured.from, evaluation.rows);
    answer.json =
        boost::json::serialize(boost::json::object{{"card", out},
                                                   {"model", names.model},
                                                   {"id", loaded.id.value()},
                                                   {"measured_on", measured.from},
                                                   {"learned_from", measured.learned_from},
                                                   {"performance", to_json(evaluation)}});
    if (measured.learned_from)
        answer.notes.push_back("the model may have learned from the rows that it is measured on");
    return answer;
}

}  // namespace rampart::cli
