#include "audit/regression_card.hpp"

#include <boost/json.hpp>

#include "audit/regression_evaluation.hpp"
#include "frame/mixture_text.hpp"
#include "frame/page.hpp"
#include "frame/training_record.hpp"
#include "learn/regression_report.hpp"
#include "rampart/base/file.hpp"
#include "rampart/dataset/read_table.hpp"

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

Result<Measured> rows_for(const ModelTableNames& names, std::string split,
                          const dataset::Dataset& table,
                          const std::optional<TrainingRecord>& record) {
    const bool own = is_training_table(table, record);
    if (split.empty()) {
        split = "all";
        if (own && part_of(names, "test", table, record)) split = "test";
    }
    Measured out;
    RAMPART_TRY(out.rows, part_of(names, split, table, record));
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

std::string page_of(const ModelTableNames& names, const model::LoadedPolicy& loaded,
                    const Measured& measured, const RegressionEvaluation& evaluation) {
    const auto& link = *loaded.policy.last_learned();
    const uint32_t levels = link.scale.levels == 0 ? kPictureLevels : link.scale.levels;
    std::string facts;
    const auto fact = [&](std::string_view name, std::string_view value) {
        facts += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(name), escaped(value));
    };
    fact("id", loaded.id.value());
    fact("score", score_text(link));
    if (!link.members.empty()) fact("what it is", mixture_text(link));
    for (const auto& [key, value] : loaded.policy.provenance())
        if (key != "table_schema") fact(key, value);
    std::string out = fmt::format(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Model card</title>"
        "<style>{}{}</style></head><body>\n<h1>Model card: {}</h1>\n"
        "<p class='soft'>fair regression, measured on {}</p>\n",
        kPageStyle, distribution_style(), escaped(names.model), escaped(measured.from));
    if (measured.learned_from)
        out +=
            "<p class='bad'>The model may have learned from these rows: figures on rows that it "
            "has not seen are worse.</p>\n";
    out += fmt::format("<pre>{}</pre>\n", escaped(to_text(evaluation)));
    if (!measured.rows.group.empty())
        out += fmt::format("<h2>Distribution of the score in each group</h2>\n{}",
                           distribution_picture(measured.rows.group_names,
                                                tails_of(loaded.policy, measured.rows, levels),
                                                levels, evaluation.range, std::nullopt));
    out += fmt::format("<h2>Where it comes from</h2>\n<table class='facts'>{}</table>\n", facts);
    return out + "</body></html>\n";
}

}  // namespace

Result<Answer> write_regression_card(const ModelTableNames& names,
                                     const model::LoadedPolicy& loaded,
                                     const fairness::RegressionLoss& loss, const std::string& split,
                                     const std::string& out) {
    RAMPART_TRY(const auto record, record_of(loaded.policy));
    RAMPART_TRY(const auto schema, schema_for(names, loaded.policy, record));
    RAMPART_TRY(const auto table, dataset::read_table(names.data, schema));
    RAMPART_TRY(const auto measured, rows_for(names, split, table, record));
    fairness::LabelRange range;
    if (schema.label_range) range = {schema.label_range->lo, schema.label_range->hi};
    RAMPART_TRY(const auto evaluation,
                evaluate_regression(loaded.policy, loss, measured.rows, range, std::nullopt));
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
