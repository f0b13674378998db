#include "learn/regression_page.hpp"

#include "frame/figures_text.hpp"
#include "rampart/fair_regression/levels.hpp"
#include "rampart/report/html.hpp"

namespace rampart::cli {

std::vector<double> score_tails(const model::Policy& policy, const dataset::Dataset& data,
                                size_t levels) {
    std::vector<double> tails(data.group_names.size() * levels);
    std::vector<double> total(data.group_names.size());
    std::vector<float> row(data.schema.size());
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        const auto g = static_cast<size_t>(data.group[i]);
        const double w = static_cast<double>(data.weight_of(i));
        total[g] += w;
        for (const auto& [score, weight] : policy.scores(row, std::nullopt)) {
            const size_t level =
                fair_regression::levels_of({&score, 1}, static_cast<int>(levels)).front();
            for (size_t j = 0; j < level; ++j) tails[g * levels + j] += w * weight;
        }
    }
    for (size_t k = 0; k < tails.size(); ++k) tails[k] /= total[k / levels];
    return tails;
}

std::string regression_page(const RegressionPage& of, const boost::json::object& detail) {
    report::Html page;
    page.title("Fair regression").paragraph(of.data, "soft").preformatted(of.learned.report);
    const auto groups = boost::json::value_to<std::vector<std::string>>(detail.at("groups"));
    for (const auto& [name, tails] :
         {std::pair{"training", &of.train_tails}, {"validation", &of.validation_tails}}) {
        if (tails->empty()) continue;
        page.heading(fmt::format("Distribution of the score, {} rows", name));
        page.raw(distribution_picture(groups, *tails, detail.at("grid").to_number<size_t>(),
                                      of.range,
                                      detail.at("approve").at("score").to_number<double>()));
    }
    if (!of.train_tails.empty())
        page.paragraph(
            "Lines: the share of a group's rows with at most that score, for the randomised "
            "predictor as it is served. Under statistical parity the lines differ by at most "
            "the tolerance. Dashed: the score from which, or up to which, the policy approves.",
            "soft");
    for (const auto& note : of.notes) page.paragraph(note, "bad");
    return report::document("Fair regression", page);
}

}  // namespace rampart::cli
