#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <set>

#include "rampart/base/file.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/decision/chance_codes.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/loan_stream/stream.hpp"
#include "rampart/wire/event_codec.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

/// What has to work for every kind of policy that can be promoted: reasons, replay, card,
/// explanation, export.
namespace rampart::test_support {

/// A table of applicants in a folder, t.csv, with its schema, s.toml.
struct ShownTable {
    std::filesystem::path folder;
    std::vector<domain::Application> applications;  // one a row
};

/// Writes the first applicants of a stream whose label and protected attributes are known.
inline ShownTable write_table(const loan_stream::StreamOptions& options, size_t rows,
                              const std::filesystem::path& folder) {
    const auto stream = loan_stream::load(options).value();
    dataset::TableSchema schema;
    schema.features = stream.schema;
    schema.label_column = "repaid";
    schema.favourable = "1";
    std::string csv = "repaid";
    for (const auto& [name, value] : stream.applicants.front().protected_attributes) {
        schema.protected_columns.push_back(name);
        csv += "," + name;
    }
    for (const auto& feature : stream.schema.features()) csv += "," + feature.name;
    csv += "\n";
    ShownTable table{folder, {}};
    for (const auto& one : stream.applicants) {
        if (table.applications.size() == rows) break;
        if (!one.label || one.protected_attributes.size() != schema.protected_columns.size())
            continue;
        csv += *one.label ? "1" : "0";
        for (const auto& [name, value] : one.protected_attributes) csv += "," + value;
        for (const auto& feature : stream.schema.features()) {
            csv += ",";
            for (const auto& given : one.application.features) {
                if (given.name != feature.name) continue;
                if (const auto* number = std::get_if<double>(&given.value))
                    csv += fmt::format("{}", *number);
                if (const auto* text = std::get_if<std::string>(&given.value)) csv += *text;
            }
        }
        csv += "\n";
        table.applications.push_back(one.application);
    }
    EXPECT_TRUE(base::write_file_atomically(folder / "t.csv", csv));
    EXPECT_TRUE(
        base::write_file_atomically(folder / "s.toml", dataset::write_table_schema(schema)));
    return table;
}

/// Runs a command of `rampart` on a model in the table's folder; returns what it prints as JSON.
inline boost::json::object asked(const ShownTable& table, const std::string& command,
                                 const std::string& model, int& exit_code) {
    const auto ran =
        run_program(fmt::format("(cd '{}' && '{}/rampart' {} --model '{}' --json "
                                "2>/dev/null)",
                                table.folder.string(), bin_dir(), command, model));
    exit_code = ran.exit_code;
    boost::json::error_code broken;
    const auto told = boost::json::parse(ran.output, broken);
    EXPECT_TRUE(!broken && told.is_object()) << command << ": " << ran.output;
    return told.is_object() ? told.as_object() : boost::json::object{};
}

inline void expect_card(const ShownTable& table, const std::string& model,
                        const domain::PolicyId& id) {
    int exit_code = -1;
    const auto told =
        asked(table, "card --data t.csv --schema s.toml --out card.html", model, exit_code);
    ASSERT_EQ(exit_code, 0) << boost::json::serialize(told);
    const auto page = base::read_file(table.folder / "card.html", 1 << 24).value();
    EXPECT_NE(page.find(id.value()), std::string::npos);
    EXPECT_EQ(page.find(">nan"), std::string::npos);
    EXPECT_NE(page.find("race=black"), std::string::npos) << "figures by group";
    std::filesystem::remove(table.folder / "card.html");
}

/// Two applicants and the one whom the policy approves least: the trees' score is the sum of the
/// contributions. Over the table, a feature matters.
inline void expect_explained(const ShownTable& table, const std::string& model,
                             const model::Policy& policy) {
    const auto group = policy.group_aware() ? std::optional<size_t>(1) : std::nullopt;
    std::vector<std::vector<float>> rows;
    std::vector<double> approve;
    for (const auto& one : table.applications) {
        rows.push_back(decision::encode_row(one, policy.schema()).value());
        approve.push_back(policy.evaluate(rows.back(), group).approve);
    }
    const auto least = std::min_element(approve.begin(), approve.end());
    EXPECT_LT(*least, 0.5);
    const std::string command = "explain --data t.csv --schema s.toml";
    int exit_code = -1;
    const auto told =
        asked(table, fmt::format("{} --row 1,2,{}", command, least - approve.begin() + 1), model,
              exit_code);
    ASSERT_EQ(exit_code, 0) << boost::json::serialize(told);
    ASSERT_EQ(told.at("rows").as_array().size(), 3u);
    for (const auto& row : told.at("rows").as_array()) {
        double sum = told.at("base_value").to_number<double>();
        for (const auto& one : row.at("contributions").as_array())
            sum += one.at("contribution").to_number<double>();
        EXPECT_NEAR(sum, row.at("raw").to_number<double>(), 1e-9);
        const auto& values = rows[row.at("row").to_number<size_t>() - 1];
        EXPECT_NEAR(sum, policy.last_learned()->ensemble.predict_raw(values), 1e-6);
    }
    const auto all = asked(table, command, model, exit_code);
    ASSERT_EQ(exit_code, 0) << boost::json::serialize(all);
    const auto& first = all.at("importance").at(0);
    EXPECT_GT(first.at("mean_absolute_contribution").to_number<double>(), 0);
}

/// One ensemble of log-odds is exported and comes back; all else is refused by its kind.
inline void expect_exported_or_refused(const ShownTable& table, const std::string& model,
                                       const model::Policy& policy) {
    const auto& link = *policy.last_learned();
    int exit_code = -1;
    std::filesystem::remove(table.folder / "exported.txt");
    const auto told = asked(table, "export --to lightgbm --out exported.txt", model, exit_code);
    const bool mixture = !link.additional_ensembles.empty();
    if (mixture || link.scale.kind == model::ScoreScale::Kind::kUnit) {
        EXPECT_EQ(exit_code, 2);
        ASSERT_TRUE(told.contains("error")) << boost::json::serialize(told);
        EXPECT_EQ(told.at("error").at("reason"), mixture ? "mixture" : "unit_scale");
        EXPECT_FALSE(std::filesystem::exists(table.folder / "exported.txt"));
        return;
    }
    ASSERT_EQ(exit_code, 0) << boost::json::serialize(told);
    const auto back =
        asked(table, "import --from lightgbm --schema s.toml --positive favourable --out back.rmp",
              "exported.txt", exit_code);
    ASSERT_EQ(exit_code, 0) << boost::json::serialize(back);
    const auto read = model::load_model_file(table.folder / "back.rmp").value();
    for (size_t i = 0; i < std::min<size_t>(20, table.applications.size()); ++i) {
        const auto row = decision::encode_row(table.applications[i], policy.schema()).value();
        EXPECT_DOUBLE_EQ(read.policy.last_learned()->ensemble.predict_raw(row),
                         link.ensemble.predict_raw(row));
    }
}

/// Decides the applicants, and gets each decision again to the bit from what a log would have of
/// it. Declines name no feature; those of earlier releases did, and replay with their codes.
inline void expect_decided_and_replayed(const ShownTable& table,
                                        const decision::PolicyInForce& policy,
                                        const decision::DrawKey& key) {
    const auto group = policy.policy().group_aware() ? std::optional<size_t>(1) : std::nullopt;
    std::set<double> scores;
    size_t declined = 0, by_feature = 0;
    for (const auto& application : table.applications) {
        const auto row = decision::encode_row(application, policy.policy().schema()).value();
        const auto made = decision::decide(policy, application, row, group, key,
                                           {.product = "simulated"}, true, application.event_time);
        ASSERT_TRUE(made) << made.error().message;
        scores.insert(made->score);
        const auto stored = wire::decode_decision(wire::encode(*made)).value();
        const auto status = decision::replay(stored, policy, key, group);
        ASSERT_TRUE(status) << status.error().message;
        if (made->action != domain::Action::kDecline) continue;
        ++declined;
        ASSERT_FALSE(decision::names_features(made->reasons));
        auto old = *made;
        old.reasons = policy.reasons().explain(row, policy.policy().evaluate(row, group),
                                               old.p_approve, old.draw);
        ASSERT_TRUE(decision::replay(old, policy, key, group));
        by_feature += old.reasons.front().starts_with(decision::kFeatureReasonPrefix);
    }
    EXPECT_GT(declined, table.applications.size() / 50);
    EXPECT_GT(by_feature, declined * 9 / 10) << "of " << declined;
    EXPECT_GT(scores.size(), policy.policy().last_learned() != nullptr ? 2u : 0u);
}

/// Shows the policy of a model file by card, explain and export.
inline void expect_shown(const ShownTable& table, const std::string& model) {
    SCOPED_TRACE(model);
    const auto loaded = model::load_model_file(model).value();
    ASSERT_NE(loaded.policy.last_learned(), nullptr);
    EXPECT_TRUE(decision::check_explained(loaded.policy));
    expect_card(table, model, loaded.id);
    expect_explained(table, model, loaded.policy);
    expect_exported_or_refused(table, model, loaded.policy);
}

}  // namespace rampart::test_support
