#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <cstdio>

#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "frame/reasons.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/evaluation/score_table.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::cli {
namespace {

struct Options {
    std::string model, data, schema, out;
    std::vector<std::string> keep;
    std::optional<uint64_t> draw_seed;
    bool leaves = false, contributions = false, reasons = false;
    size_t threads = std::max(1u, std::thread::hardware_concurrency());
};

/// Returns the schema of the file, the one that the model carries, or its features alone.
base::Result<dataset::TableSchema> schema_of(const Options& options, const model::Policy& policy) {
    const auto& record = policy.state().training;
    if (options.schema.empty() && !record) {
        dataset::TableSchema schema;
        schema.features = policy.schema();
        return schema;
    }
    return evaluation::schema_for({options.model, options.data, options.schema}, policy, record);
}

/// Refuses to replace what is read by what is written.
base::Status check_out(const Options& options) {
    for (const auto* input : {&options.model, &options.data, &options.schema}) {
        std::error_code missing;
        if (std::filesystem::equivalent(*input, options.out, missing))
            return base::make_error(Reason::kReplacesInput,
                                    "--out '{}' is the same file as the input '{}'", options.out,
                                    *input);
    }
    return base::ok();
}

base::Result<Answer> score(const Options& options, const Context& context) {
    RAMPART_RETURN_IF_ERROR(check_out(options));
    RAMPART_TRY(const auto loaded, model::load_model_file(options.model));
    RAMPART_TRY(const auto schema, schema_of(options, loaded.policy));
    RAMPART_TRY(const auto signal, runtime::Shutdown::install());
    base::ThreadPool pool(options.threads);
    evaluation::ScoreOptions how;
    how.kept = options.keep;
    how.draw_seed = options.draw_seed;
    how.leaves = options.leaves;
    how.contributions = options.contributions;
    how.reasons = options.reasons;
    how.pool = &pool;
    how.progress = [&](uint64_t rows) {
        if (context.terminal) {
            fmt::print(stderr, "\r{} rows", rows);
            std::fflush(stderr);
        }
        return !signal->requested();
    };
    const auto begin = std::chrono::steady_clock::now();
    const auto done =
        evaluation::score_table(loaded.policy, schema, options.data, options.out, how);
    if (context.terminal) fmt::print(stderr, "\n");
    if (!done) return done.error();
    if (!*done)
        return base::make_error(Reason::kInterrupted,
                                "scoring was interrupted; nothing was written");
    const auto& scored = *done;
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    Answer answer;
    answer.text = fmt::format(
        "{} rows of {} scored in {:.1f} s: {}\nmean score {:.4f}, mean P(approve) {:.4f}\n",
        scored->rows, options.data, time.count(), options.out, scored->mean_score,
        scored->mean_approve);
    answer.json = boost::json::serialize(boost::json::object{
        {"model", options.model},
        {"id", loaded.id.value()},
        {"data", options.data},
        {"out", options.out},
        {"rows", scored->rows},
        {"mean_score", scored->mean_score},
        {"mean_p_approve", scored->mean_approve},
        {"columns_not_read", boost::json::array(scored->unread.begin(), scored->unread.end())}});
    answer.notes = scored->notes;
    if (const auto* link = loaded.policy.last_learned();
        link != nullptr && (options.leaves || options.contributions))
        if (auto note = main_ensemble_note(*link); !note.empty())
            answer.notes.push_back(std::move(note));
    if (!scored->unread.empty())
        answer.notes.push_back(fmt::format("columns that the model does not know were not read: {}",
                                           fmt::join(scored->unread, ", ")));
    return answer;
}

}  // namespace

void add_score(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "score",
         .summary = "Write the score and P(approve) of each row of a table",
         .example = "rampart score --model m.rmp --data new.csv.gz --out scores.csv --keep id",
         .detail = "The table needs the model's features and no label; it may be of any length. "
                   "The columns of the answer: line (of the table), those of --keep, group (of a "
                   "model that decides by group), score, p_approve, with --draw-seed action and "
                   "propensity, then leaf_1 …, contribution_base and contribution_FEATURE (they "
                   "sum to the raw score), and reasons, if asked for. The file appears when all "
                   "rows are written.",
         .reads_no_store = true},
        [options](const Context& context) { return score(*options, context); });
    command.add_option("--model", options->model, "the model file")->required();
    command.add_option("--data", options->data, "the table: .csv or .csv.gz")->required();
    command.add_option("--out", options->out, "where the scores go: .csv or .csv.gz")->required();
    command.add_option("--schema", options->schema, "schema file, if the model carries none");
    command
        .add_option("--keep", options->keep, "columns of the table that the answer repeats: a,b")
        ->delimiter(',');
    auto* draw = command.add_option("--draw-seed", options->draw_seed,
                                    "draw an action for each row, with this seed");
    command.add_flag("--leaves", options->leaves, "also the leaf of each tree");
    command.add_flag("--contributions", options->contributions,
                     "also the contribution of each feature to the raw score");
    command.add_flag("--reasons", options->reasons, "also the reasons of each drawn decline")
        ->needs(draw);
    command
        .add_option("--threads", options->threads,
                    "number of threads, default one per core; the result does not depend on it")
        ->check(CLI::Range(1, 256));
}

}  // namespace rampart::cli
