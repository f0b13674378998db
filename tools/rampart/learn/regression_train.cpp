#include "learn/regression_train.hpp"

#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>

#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/evaluation/table_digest.hpp"
#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::cli {
namespace {

using base::Result;
using fair_regression::BoundedLossOutcome;
using fair_regression::RegressionTable;

/// What is learnt from and judged on.
struct Tables {
    RegressionTable train;
    std::optional<RegressionTable> validation;
};

Result<Tables> tables_of(const TableParts& parts, const fair_regression::LabelRange& range) {
    Tables out;
    RAMPART_TRY(out.train, fair_regression::regression_table(parts.train, range));
    if (parts.validation.rows() == 0) return out;
    RAMPART_TRY(out.validation, fair_regression::regression_table(parts.validation, range));
    return out;
}

base::Status check_counts(const std::vector<double>& values, std::string_view option,
                          const std::vector<std::string>& groups) {
    if (values.size() <= 1 || values.size() == groups.size()) return base::ok();
    return base::make_error(base::Reason::kBadUsage,
                            "{} has {} values; give one, or one for each of the {} groups in "
                            "the order of their names: {}",
                            option, values.size(), groups.size(), fmt::join(groups, "; "));
}

WatchedOracle::Progress watch(const Context& context, const runtime::Shutdown& signal, int most) {
    return [&signal, most, terminal = context.terminal](int calls) {
        if (terminal) {
            fmt::print(stderr, "\r{}/{} questions", calls, most);
            std::fflush(stderr);
        }
        return !signal.requested();
    };
}

Result<RegressionFit> fit_regression(const RegressionJob& job, const TableParts& parts,
                                     const Tables& tables, base::ThreadPool& pool,
                                     const WatchedOracle::Progress& progress) {
    RegressionFit fit;
    fit.job = job;
    fit.groups = parts.all.group_names;
    fit.numeric = parts.all.numeric();
    const auto* validation = tables.validation ? &parts.validation : nullptr;
    RAMPART_TRY(const auto oracle,
                WatchedOracle::create(job, parts.train, validation, pool, progress));
    const auto rows = tables.train.rows();
    std::optional<fair_regression::RegressionRows> held;
    if (tables.validation) held = tables.validation->rows();
    if (job.parity) {
        RAMPART_TRY(fit.statistical_parity,
                    fair_regression::fit_parity(rows, job.loss, job.statistical_parity, *oracle,
                                                held ? &*held : nullptr));
        return fit;
    }
    RAMPART_TRY(fit.bounded_group_loss,
                fair_regression::fit_bounded_loss(rows, job.loss, job.bounded_group_loss, *oracle,
                                                  held ? &*held : nullptr));
    if (fit.bounded_group_loss.proof)
        fit.proof_checked = static_cast<bool>(fair_regression::check_infeasible(
            rows, job.loss, job.bounded_group_loss.zeta, *fit.bounded_group_loss.proof, *oracle));
    return fit;
}

/// What is to be served of a fit, and with how many levels.
struct Served {
    std::vector<fair_regression::ServedModel> models;
    int levels = 0;
    std::string text;
};

Served served_of(const RegressionFit& fit) {
    Served out;
    if (fit.job.parity) {
        for (const auto& member : fit.statistical_parity.members)
            out.models.push_back({&member.model, member.weight});
        out.levels = fit.job.statistical_parity.levels;
        out.text = fmt::format("one of {} members is drawn, its score is one of {} levels",
                               out.models.size(), out.levels + 1);
    } else if (fit.bounded_group_loss.averaged && fit.bounded_group_loss.averaged->no_worse) {
        out.models.push_back({&fit.bounded_group_loss.averaged->model, 1});
        out.text =
            fmt::format("one predictor, the mean of {}", fit.bounded_group_loss.members.size());
    } else {
        for (const auto& member : fit.bounded_group_loss.members)
            out.models.push_back({&member.model, member.weight});
        out.text = fmt::format("a mixture of {} members", out.models.size());
    }
    return out;
}

Result<std::vector<double>> tails_of(const RegressionFit& fit, const Served& served,
                                     const dataset::Dataset& data, const RegressionTable& table,
                                     base::ThreadPool& pool) {
    const int levels = fit.job.statistical_parity.levels;
    RAMPART_TRY(const auto rows,
                fair_regression::LevelRows::create(table.rows(), fit.job.loss, levels));
    std::vector<double> tails(table.groups * static_cast<size_t>(levels));
    for (const auto& one : served.models) {
        const auto summary = rows.summary(
            fair_regression::levels_of(reductions::predict(*one.model, data, &pool), levels));
        for (size_t i = 0; i < tails.size(); ++i) tails[i] += one.weight * summary.tails[i];
    }
    return tails;
}

Result<domain::PolicyId> save(const RegressionTraining& t, const RegressionFit& fit,
                              const Served& served, const TableParts& parts) {
    RAMPART_TRY(const auto link,
                fair_regression::score_link(served.models, served.levels, fit.job.step));
    std::map<std::string, std::string> provenance{
        {"learner", std::string(kFairRegression)},
        {"parameters", t.tree_text + regression_text(fit.job)},
        {"postprocess", "none"}};
    model::PolicyState state;
    state.regression_loss = fair_regression::stored(fit.job.loss);
    state.training = {.table_schema = t.schema_text,
                      .split = t.source.split,
                      .seed = t.source.seed,
                      .data = evaluation::digest_of(parts.all)};
    RAMPART_TRY(const auto policy, model::Policy::create(t.schema.features, {link}, {},
                                                         std::move(provenance), std::move(state)));
    return model::save_model_file(policy, t.out);
}

Result<Answer> answer_of(const RegressionTraining& t, RegressionFit& fit, const TableParts& parts,
                         const Tables& tables, base::ThreadPool& pool) {
    Answer answer;
    answer.notes = t.notes;
    if (!parts.note.empty()) answer.notes.push_back(parts.note);
    boost::json::object json{{"learner", kFairRegression},
                             {"split", t.source.split},
                             {"seed", t.source.seed},
                             {"training_rows", parts.train.rows()}};
    const auto served = served_of(fit);
    if (fit.job.parity || fit.bounded_group_loss.outcome == BoundedLossOutcome::kFeasible) {
        fit.served = served.text;
        RAMPART_TRY(fit.train_tails, tails_of(fit, served, parts.train, tables.train, pool));
        if (tables.validation) {
            RAMPART_TRY(fit.validation_tails,
                        tails_of(fit, served, parts.validation, *tables.validation, pool));
        }
        RAMPART_TRY(const auto id, save(t, fit, served, parts));
        json["model"] = t.out;
        json["id"] = id.value();
        answer.text = fmt::format("wrote {}\nid {}\n", t.out, id.value());
    } else {
        answer.exit_code = fit.bounded_group_loss.proof ? ExitCode::kImpossible : ExitCode::kNo;
        answer.notes.push_back("no model was written");
    }
    for (auto& note : regression_notes(fit)) answer.notes.push_back(std::move(note));
    if (!t.options.report.empty()) {
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(t.options.report, regression_page(fit)));
        answer.text += fmt::format("wrote {}\n", t.options.report);
        json["report"] = t.options.report;
    }
    answer.text += fmt::format("{} training rows\n{}", parts.train.rows(), regression_text(fit));
    json["regression"] = regression_json(fit);
    answer.json = boost::json::serialize(json);
    return answer;
}

fair_regression::LabelRange range_of(const dataset::TableSchema& schema) {
    if (!schema.label_range) return {};
    return {schema.label_range->lo, schema.label_range->hi};
}

}  // namespace

base::Status check_regression_rows(const dataset::Dataset& data, bool labels_differ,
                                   const std::string& what) {
    const auto check = [&]() -> base::Status {
        if (data.group.empty())
            return base::make_error(base::Reason::kNoGroups,
                                    "fair regression needs protected groups: name columns "
                                    "under `protected` in the schema");
        if (labels_differ)
            return data.numeric() ? dataset::validate_numeric(data) : dataset::validate(data);
        std::vector<size_t> count(data.group_names.size());
        for (const int32_t group : data.group) ++count[static_cast<size_t>(group)];
        for (size_t g = 0; g < count.size(); ++g)
            if (count[g] == 0)
                return base::make_error(base::Reason::kEmptyGroup,
                                        "group '{}' has no rows; merge it with another, or "
                                        "give the part more rows",
                                        data.group_names[g]);
        return base::ok();
    };
    auto status = check();
    return status ? status : status.error().with_context(what);
}

base::Result<Answer> train_regression(const RegressionTraining& t, const Context& context) {
    RAMPART_TRY(const auto parts, read_table_parts(t.source, t.schema));
    RAMPART_RETURN_IF_ERROR(check_regression_rows(
        parts.train, true,
        fmt::format("the {} training rows of {}", parts.train.rows(), t.source.data)));
    if (parts.validation.rows() > 0)
        RAMPART_RETURN_IF_ERROR(check_regression_rows(
            parts.validation, false,
            fmt::format("the {} validation rows of {}", parts.validation.rows(), t.source.data)));
    RAMPART_TRY(const auto job, regression_job(t.options, t.trees, range_of(t.schema)));
    RAMPART_RETURN_IF_ERROR(
        check_counts(t.options.epsilon, "--disparity-tolerance", parts.all.group_names));
    RAMPART_RETURN_IF_ERROR(check_counts(t.options.zeta, "--zeta", parts.all.group_names));
    RAMPART_TRY(const auto tables, tables_of(parts, job.range));
    base::ThreadPool pool(t.threads);
    RAMPART_TRY(const auto signal, runtime::Shutdown::install());
    auto fit = fit_regression(job, parts, tables, pool,
                              watch(context, *signal, t.options.game.max_oracle_calls));
    if (context.terminal) fmt::print(stderr, "\n");
    if (!fit) return fit.error();
    fit->data = fmt::format("{}, split {}, seed {}", t.source.data, t.source.split, t.source.seed);
    return answer_of(t, *fit, parts, tables, pool);
}

}  // namespace rampart::cli
