#include "learn/train_search.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "frame/reasons.hpp"
#include "rampart/base/file.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/report/text_table.hpp"
#include "rampart/runtime/shutdown.hpp"
#include "rampart/tuning/reasons.hpp"
#include "rampart/tuning/valuation.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kMaxStateBytes = 64 << 20;

std::string state_file(const TrainOptions& options) {
    return options.search_state.empty() ? options.out + ".trials" : options.search_state;
}

tuning::ValuationInputs inputs_of(const TrainOptions& options, const SearchRows& rows,
                                  const TrainPlan& plan,
                                  const training::ChosenPostprocessor& post) {
    const auto& train = rows.parts.train;
    const auto held_out = static_cast<double>(rows.parts.validation.rows());
    tuning::ValuationInputs out{
        .rows = train,
        .persons = {},
        .learner = plan.learner,
        .options = plan.values(),
        .postprocessor = post.postprocessor,
        .postprocess = post.values,
        .validation = held_out / (held_out + static_cast<double>(train.rows())),
        .attributes = rows.attributes,
        .label_lo = rows.range.lo,
        .label_hi = rows.range.hi,
        .seed = options.seed};
    out.persons = rows.parts.persons;
    if (out.persons.empty())
        for (size_t i = 0; i < train.rows(); ++i) out.persons.push_back(std::to_string(i));
    return out;
}

/// Keeps trials in the file, and shows how far the search is.
tuning::Host host_of(const std::string& file, bool terminal) {
    tuning::Host host;
    host.kept = [file](const base::Digest&) -> base::Result<std::string> {
        std::error_code error;
        if (!std::filesystem::exists(file, error)) return std::string();
        return base::read_file(file, kMaxStateBytes);
    };
    host.keep = [file](const base::Digest&, const std::string& trials) {
        return base::write_file_atomically(file, trials);
    };
    host.seconds = [] {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration<double>(now).count();
    };
    if (terminal)
        host.progress = [](size_t done, size_t of) {
            fmt::print(stderr, "\rsearch: {}/{} fits{}", done, of, done == of ? "\n" : "");
            std::fflush(stderr);
        };
    return host;
}

SearchTable table_of(const tuning::Valuation& valuation, const tuning::Found& found) {
    report::Table table{{"setting", "values", std::string(valuation.resource()),
                         std::string(valuation.score()), "misses by", "seconds"}};
    SearchTable out;
    boost::json::array trials;
    for (const auto& one : found.trials) {
        const bool scored = one.failed.empty();
        table.push_back({std::to_string(one.setting), one.values, fmt::format("{:.4g}", one.share),
                         scored ? fmt::format("{:.6f}", one.score) : one.failed,
                         scored ? fmt::format("{:.4f}", one.excess) : "",
                         fmt::format("{:.1f}", one.seconds)});
        boost::json::object trial{{"setting", one.setting},
                                  {"values", one.values},
                                  {"share", one.share},
                                  {"feasible", scored && one.excess <= 0},
                                  {"seconds", one.seconds}};
        if (scored) {
            trial["score"] = one.score;
            trial["excess"] = one.excess;
        } else {
            trial["failed"] = one.failed;
        }
        trials.push_back(std::move(trial));
    }
    out.text = fmt::format("search: {}\n{}", describe(valuation, found), report::align(table));
    out.json = {{"method", to_string(valuation.plan().method)},
                {"resource", valuation.resource()},
                {"score", valuation.score()},
                {"taken", found.number},
                {"values", found.best.values},
                {"trials", std::move(trials)}};
    return out;
}

}  // namespace

base::Result<SearchTable> search_options(const TrainOptions& options, const SearchRows& rows,
                                         TrainPlan& plan) {
    RAMPART_TRY(const auto post, training::chosen_postprocessor(plan.recipe));
    RAMPART_TRY(const auto signal, runtime::Shutdown::install());
    auto inputs = inputs_of(options, rows, plan, post);
    inputs.stopped = [&signal] { return signal->requested(); };
    const tuning::Valuation valuation(std::move(inputs), *plan.recipe.search);
    base::ThreadPool pool(options.threads);
    const auto file = state_file(options);
    auto found = tuning::search(valuation, host_of(file, rows.terminal), &pool);
    if (!found && found.error().is(learning::Reason::kTrainingStopped))
        return base::make_error(Reason::kInterrupted,
                                "the search was interrupted; the same command goes on from {}",
                                file);
    if (!found) {
        auto error = found.error();
        if (error.is(tuning::Reason::kOtherSearch) || error.is(tuning::Reason::kBadTrials))
            error.message = fmt::format(
                "{}: {}; remove the file, or name another with "
                "--search-state",
                file, error.message);
        return error;
    }
    plan.recipe.postprocess = post.values;
    RAMPART_RETURN_IF_ERROR(tuning::apply(*plan.recipe.search, found->setting, plan.recipe.options,
                                          plan.recipe.postprocess));
    return table_of(valuation, *found);
}

void end_search(const TrainOptions& options) {
    if (!options.search_state.empty()) return;
    std::error_code error;  // what is left over is refused by name, if it is of another search
    std::filesystem::remove(state_file(options), error);
}

}  // namespace rampart::cli
