#include "rampart/retraining/training_loop.hpp"

#include <algorithm>

#include "gate_stores.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/random.hpp"
#include "rampart/decision/reason_codes.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/registry/figures.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/retraining/reasons.hpp"
#include "rampart/training/candidate.hpp"
#include "rampart/training/gate_inputs.hpp"

namespace rampart::retraining {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;

constexpr base::Logger kLog("trainer");
constexpr std::string_view kTrainer = "trainer";
constexpr size_t kSteps = 10;  // lines of the log about how far a search is
using gate::kSchedule;
// among a run's figures: digests of the recipe's text, and of all settings
constexpr const char *kRecipe = "recipe", *kSettings = "settings";

void say_missed(const std::string& missed, RunRecord& record) {
    if (missed.empty()) return;
    record.message += fmt::format("{}the candidate misses constraints of its training: {}",
                                  record.message.empty() ? "" : "; ", missed);
    kLog.warning("run={} missed_in_training=\"{}\"", record.ordinal, missed);
}

/// Refuses the trainer's name: what people propose may follow from figures that they have read.
Status check_proposer(const std::string& name) {
    if (name != kSchedule) return base::ok();
    return base::make_error(Reason::kReservedName,
                            "the candidate is proposed by '{}', which is the trainer's name", name);
}

/// Notes by which recipe and settings a candidate is made.
void note_recipe(const training::Recipe& recipe, std::map<std::string, std::string>& figures) {
    figures[kRecipe] = training::recipe_digest(recipe).hex();
    figures[kSettings] = training::settings_digest(recipe).hex();
}

/// Returns what should have become of a certified candidate.
std::string_view done_with_certified(OnCertified what) {
    if (what == OnCertified::kChallenger) return "made a challenger";
    return what == OnCertified::kPropose ? "proposed" : "promoted";
}

}  // namespace

TrainingLoop::TrainingLoop(RunStore store, TrainingSettings settings, TrainerDeps deps)
    : store_(std::move(store)),
      settings_(std::move(settings)),
      deps_(std::move(deps)),
      records_(records_of(deps_.builder, deps_.list)),
      gate_store_(gate_store_of(deps_.registry, deps_.signing_key)) {}

Result<std::unique_ptr<TrainingLoop>> TrainingLoop::open(const std::filesystem::path& folder,
                                                         TrainingSettings settings,
                                                         TrainerDeps deps) {
    RAMPART_RETURN_IF_ERROR(certification::validate(settings.gate.config));
    RAMPART_RETURN_IF_ERROR(validate(settings.window, deps.product));
    if (settings.recipes.empty())
        return base::make_error(Reason::kNoRecipe, "the settings have no recipe");
    for (const auto& recipe : settings.recipes) RAMPART_RETURN_IF_ERROR(training::validate(recipe));
    RAMPART_TRY(auto store, RunStore::open(folder));
    std::unique_ptr<TrainingLoop> loop(
        new TrainingLoop(std::move(store), std::move(settings), std::move(deps)));
    const auto& with = loop->deps_;
    RAMPART_TRY(loop->gate_,
                gate::Gate::create(loop->settings_.gate,
                                   {with.product, *loop->records_, *loop->gate_store_,
                                    with.signing_key, with.evidence_key, with.pool, with.key_ids,
                                    with.wall_clock, with.software, with.log_ends}));
    return loop;
}

std::vector<TimePoint> TrainingLoop::due_months(TimePoint after, TimePoint until) const {
    std::vector<TimePoint> due;
    const int every = settings_.schedule.every_months;
    if (every == 0) return due;
    TimePoint month = base::parse_iso8601(base::month_of(after) + "-01").value();
    for (; month <= until; month = base::add_months(month, 1)) {
        const std::string name = base::month_of(month);
        const int months = std::stoi(name.substr(0, 4)) * 12 + std::stoi(name.substr(5)) - 1;
        if (month > after && months % every == 0) due.push_back(month);
    }
    return due;
}

Result<std::optional<TimePoint>> TrainingLoop::next_due() const {
    RAMPART_TRY(const auto served, store_.served_until());
    if (!served) return std::optional<TimePoint>();
    const auto due =
        due_months(*served, base::add_months(*served, settings_.schedule.every_months + 1));
    return due.empty() ? std::optional<TimePoint>() : std::optional(due.front());
}

/// Returns how many decisions had matured at the last run. A look that did not pass is the first
/// half of a run: after a crash behind it, the new candidate is still to be made.
Result<uint64_t> TrainingLoop::matured_at_last_run() const {
    RAMPART_TRY(const auto last, store_.last_run());
    if (!last) return uint64_t{0};
    RAMPART_TRY(const auto served, store_.served_until());
    const bool half = settings_.gate.look_again && served && last->at > *served &&
                      last->verdict != certification::Verdict::kCertified;
    if (!half) return last->matured;
    RAMPART_TRY(const auto runs, store_.runs());
    if (runs.size() < 2) return last->matured;
    const auto& before = runs[runs.size() - 2];
    const bool again = before.candidate == last->candidate && before.reference == last->reference;
    return again ? before.matured : last->matured;
}

Result<bool> TrainingLoop::due_by_count() const {
    if (settings_.schedule.every_matured == 0) return false;
    RAMPART_TRY(const uint64_t before, matured_at_last_run());
    return deps_.joiner.counts().matured >=
           before + static_cast<uint64_t>(settings_.schedule.every_matured);
}

Status TrainingLoop::finish_started() {
    RAMPART_TRY(const auto started, store_.started());
    if (!started) return base::ok();
    kLog.warning("msg=\"taking an interrupted run up again\" run={}", started->ordinal);
    return execute(*started).map([](const RunRecord&) {});
}

Status TrainingLoop::advance(TimePoint now) {
    RAMPART_RETURN_IF_ERROR(finish_started());
    RAMPART_TRY(const auto served, store_.served_until());
    if (!served) {
        RAMPART_RETURN_IF_ERROR(deps_.joiner.advance(now).map([](size_t) {}));
        return store_.serve_until(now);
    }
    for (const TimePoint due : due_months(*served, now)) {
        RAMPART_RETURN_IF_ERROR(deps_.joiner.advance(due).map([](size_t) {}));
        // a champion that came since, by a run that was late, is not compared with as of then
        if (check_since_promotion(due))
            RAMPART_RETURN_IF_ERROR(run_at(due).map([](const RunRecord&) {}));
    }
    RAMPART_RETURN_IF_ERROR(deps_.joiner.advance(now).map([](size_t) {}));
    RAMPART_TRY(const bool by_count, due_by_count());
    if (by_count && check_since_promotion(now))
        RAMPART_RETURN_IF_ERROR(run_at(now).map([](const RunRecord&) {}));
    return store_.serve_until(now);
}

/// Looks again at the last candidate, if it did not pass and its reference still decides, with the
/// records that have matured since. It costs nothing; a new candidate is made only where it does
/// not pass.
Result<std::optional<RunRecord>> TrainingLoop::look_again(TimePoint t) {
    RAMPART_TRY(const auto last, store_.last_run());
    const auto champion = deps_.registry.champion();
    if (!last || !champion || last->at >= t || last->reference != champion->policy.value())
        return std::optional<RunRecord>();
    RAMPART_TRY(const bool allowed, gate_->allows_further_look({last->candidate, last->reference}));
    if (!allowed) return std::optional<RunRecord>();
    RAMPART_TRY(
        auto record,
        begin({.at = t, .candidate = last->candidate, .proposed_by = std::string(kSchedule)}));
    return std::optional(std::move(record));
}

Result<training_set::DevelopmentSet> TrainingLoop::read(TimePoint t) const {
    RAMPART_TRY(auto set, read_window(deps_.builder, t, settings_.window));
    unexplained_ = static_cast<double>(set.unexplained.decisions);
    return set;
}

Result<RunRecord> TrainingLoop::run_at(TimePoint t) {
    RAMPART_TRY(auto looked, look_again(t));
    if (looked && looked->verdict == certification::Verdict::kCertified) {
        RAMPART_RETURN_IF_ERROR(store_.serve_until(t));
        return std::move(*looked);
    }
    RAMPART_TRY(const auto development, read(t));
    const auto labelled = std::count_if(development.rows.begin(), development.rows.end(),
                                        [](const auto& row) { return row.is_training_example(); });
    // a sample stands for the side: a small one must not put training off for ever
    const double on_side = static_cast<double>(labelled) / development.extent.share();
    if (on_side < settings_.schedule.min_examples) {
        kLog.info("msg=\"too early to train\" labelled={:.0f} wanted={}", on_side,
                  settings_.schedule.min_examples);
        RAMPART_RETURN_IF_ERROR(store_.serve_until(t));
        RunRecord record;
        record.at = t;
        record.verdict = certification::Verdict::kRefused;
        record.reason = reason_info(Reason::kTooFewExamples).word;
        record.message =
            fmt::format("{:.0f} labelled examples, {} are wanted; decisions read: {}", on_side,
                        settings_.schedule.min_examples, describe_rows(development));
        return record;
    }
    return begin({.at = t, .proposed_by = std::string(kSchedule)});
}

Status TrainingLoop::check_fits(const model::Policy& policy) const {
    return training::check_fits(policy, deps_.builder.served(), deps_.builder.cell_names(),
                                settings_.group_aware);
}

/// Fails if the present champion decides only since later than `t`.
Status TrainingLoop::check_since_promotion(TimePoint t) const {
    const auto champion = deps_.registry.champion();
    if (!champion || t >= champion->at) return base::ok();
    return base::make_error(
        Reason::kBeforePromotion,
        "the present champion decides since {}; a candidate can't be compared with it as of {}",
        base::to_iso8601(champion->at), base::to_iso8601(t));
}

Result<RunRecord> TrainingLoop::certify(const domain::PolicyId& candidate, TimePoint t,
                                        const std::string& new_epoch,
                                        const std::string& proposed_by) {
    RAMPART_RETURN_IF_ERROR(check_proposer(proposed_by));
    RAMPART_RETURN_IF_ERROR(finish_started());
    RAMPART_TRY(const auto loaded, deps_.registry.load_model(candidate));
    RAMPART_RETURN_IF_ERROR(check_fits(loaded.policy));
    RAMPART_RETURN_IF_ERROR(check_since_promotion(t));
    return begin({.at = t, .candidate = candidate.value(), .proposed_by = proposed_by}, new_epoch);
}

Result<Proposed> TrainingLoop::propose(const ProposalRequest& request, TimePoint t) {
    RAMPART_RETURN_IF_ERROR(check_proposer(request.proposed_by));
    auto model = model::decode_model_file(request.model);
    if (!model) {  // the file that was sent is damaged, not the store
        model.error().code = base::ErrorCode::kInvalidArgument;
        return model.error();
    }
    RAMPART_RETURN_IF_ERROR(finish_started());
    const auto champion = deps_.registry.champion();
    if (!champion)
        return base::make_error(registry::Reason::kNoChampion,
                                "there is no policy in charge to put the model on");
    RAMPART_RETURN_IF_ERROR(check_since_promotion(t));
    RAMPART_TRY(const auto reference, deps_.registry.load_model(champion->policy));
    RAMPART_RETURN_IF_ERROR(check_fits(reference.policy));
    RAMPART_TRY(const auto development, read(t));
    RAMPART_TRY(const auto forecast, gate_->forecast_inputs(development));
    RAMPART_TRY(auto proposal,
                training::propose({development, deps_.product.impact, reference.policy,
                                   champion->policy.value(), *model,
                                   base::sha256(request.model).hex(), settings_.recipes.front(),
                                   settings_.group_aware, forecast, deps_.pool, request.options}));
    Proposed made{std::move(proposal), champion->policy, t, "", domain::PolicyId(""), std::nullopt};
    made.file = model::encode_model_file(made.proposal.candidate.policy);
    made.id = model::policy_id_of(made.file);
    if (request.submit) RAMPART_RETURN_IF_ERROR(submit(request, made));
    return made;
}

/// Registers the candidate, with an entry in the audit log, and takes it to the gate.
Status TrainingLoop::submit(const ProposalRequest& request, Proposed& made) {
    if (!request.new_epoch.empty())
        RAMPART_RETURN_IF_ERROR(gate_->check_new_epoch(request.new_epoch, made.at));
    const auto model = base::sha256(request.model).hex();
    RAMPART_RETURN_IF_ERROR(deps_.registry.record_operation(
        made.at, request.proposed_by, "propose_candidate",
        {{"model", model}, {"candidate", made.id.value()}, {"champion", made.champion.value()}}));
    RAMPART_RETURN_IF_ERROR(deps_.registry.register_model(made.file, made.at, request.proposed_by)
                                .map([](const domain::PolicyId&) {}));
    StartedRun run{.at = made.at,
                   .reference = made.champion.value(),
                   .candidate = made.id.value(),
                   .distilled = made.proposal.candidate.distilled,
                   .proposed_by = request.proposed_by,
                   .figures = made.proposal.candidate.figures};
    run.figures["model"] = model;
    RAMPART_TRY(made.run, begin(std::move(run), request.new_epoch));
    return base::ok();
}

Result<ExportedLog> TrainingLoop::log_of(const LogRequest& request) const {
    const auto clock = deps_.joiner.clock();
    if (!clock || request.at > *clock) {
        return base::make_error(
            Reason::kNotKnownYet, "at {}: the outcomes of this store are known up to {}",
            base::to_iso8601(request.at), clock ? base::to_iso8601(*clock) : "no time");
    }
    const auto champion = deps_.registry.champion();
    if (!champion)
        return base::make_error(registry::Reason::kNoChampion,
                                "there is no policy in charge to compare a candidate with");
    const auto id = [&](const std::string& text) {
        return text.empty() ? champion->policy : domain::PolicyId(text);
    };
    RAMPART_TRY(const auto candidate, deps_.registry.load_model(id(request.candidate)));
    RAMPART_TRY(const auto reference, deps_.registry.load_model(id(request.reference)));
    RAMPART_RETURN_IF_ERROR(check_fits(candidate.policy));
    RAMPART_RETURN_IF_ERROR(check_fits(reference.policy));
    RAMPART_TRY(auto development, read(request.at));
    const auto counted = counting();
    RAMPART_TRY(auto log, gate_->log_of({candidate, reference, development, request.at}));
    return ExportedLog{std::move(development), std::move(log)};
}

/// Begins a run. `asked` has its time, and of a run on request the candidate; of a candidate that
/// was made on a champion that one, which must still be in charge.
Result<RunRecord> TrainingLoop::begin(StartedRun asked, const std::string& new_epoch) {
    const auto champion = deps_.registry.champion();
    if (!champion)
        return base::make_error(registry::Reason::kNoChampion,
                                "there is no policy in charge to compare a candidate with");
    if (!asked.reference.empty() && asked.reference != champion->policy.value())
        return base::make_error(registry::Reason::kStaleReference,
                                "the candidate was put on {}, and meanwhile {} is in charge",
                                asked.reference, champion->policy);
    RAMPART_TRY(const auto last, store_.last_run());
    StartedRun run = std::move(asked);
    run.ordinal = last ? last->ordinal + 1 : 1;
    run.reference = champion->policy.value();
    run.on_request = !run.candidate.empty();
    run.matured = deps_.joiner.counts().matured;
    if (!new_epoch.empty()) {
        RAMPART_TRY(run.opens_epoch, gate_->check_new_epoch(new_epoch, run.at));
        run.epoch_note = new_epoch;
    }
    RAMPART_RETURN_IF_ERROR(store_.start(run));
    return execute(std::move(run));
}

/// Returns what a search of the run works with: its trials are kept in the store as they are done.
tuning::Host TrainingLoop::host_of(const StartedRun& run) {
    tuning::Host host;
    host.kept = [this](const base::Digest& search) { return store_.trials(search); };
    host.keep = [this](const base::Digest& search, const std::string& trials) {
        return store_.keep_trials(search, trials);
    };
    host.progress = [ordinal = run.ordinal](size_t done, size_t of) {
        if (done % std::max<size_t>(1, of / kSteps) == 0 || done == of)
            kLog.info("msg=\"searching\" run={} fits={} of={}", ordinal, done, of);
    };
    host.seconds = deps_.seconds;
    host.stopped = deps_.stopping;
    return host;
}

/// Makes the candidate of one recipe. `run` has the number that its seed follows from.
Result<training::Candidate> TrainingLoop::make(const StartedRun& run,
                                               const training_set::DevelopmentSet& development,
                                               const model::LoadedPolicy& reference,
                                               const training::Recipe& recipe) {
    const auto host = host_of(run);
    std::optional<training::GateForecastInputs> forecast;
    if (recipe.selection == training::Selection::kGrid) {
        RAMPART_TRY(forecast, gate_->forecast_inputs(development));
    } else if (recipe.selection == training::Selection::kCmaEs) {
        RAMPART_TRY(forecast, gate_->forecast_inputs(run.at));
    }
    RAMPART_TRY(const auto settings, settings_of(run.reference));
    RAMPART_TRY(auto made,
                training::make_candidate({development, deps_.product.impact, reference.policy,
                                          run.reference, recipe, deps_.pool,
                                          forecast ? &*forecast : nullptr, &host, settings}));
    RAMPART_RETURN_IF_ERROR(decision::check_explained(made.policy));  // else the next recipe's
    return made;
}

/// Makes the candidate of the best recipe that can make one, and notes in the run's figures which,
/// and the values of all. No record of the vault has a part in it.
Result<training::Candidate> TrainingLoop::make_best(const StartedRun& run,
                                                    const training_set::DevelopmentSet& development,
                                                    const model::LoadedPolicy& reference,
                                                    std::span<const training::Recipe> recipes) {
    const auto host = host_of(run);
    RAMPART_TRY(const auto forecast, gate_->forecast_inputs(development));
    RAMPART_TRY(const auto ranked,
                training::rank_recipes({development, deps_.product.impact, reference.policy,
                                        run.reference, recipes, forecast, deps_.pool,
                                        settings_.order, settings_.choice_folds, &host}));
    std::map<std::string, std::string> values;
    for (const auto& one : ranked) {
        const auto& recipe = recipes[one.recipe];
        const bool goes_on = recipe.start == training::Start::kChampion && one.value;
        values[fmt::format("choice.{}", recipe.name)] =
            training::describe(one) + (goes_on ? "; valued from scratch" : "");
    }
    std::string why;
    for (const auto& one : ranked) {
        const auto& recipe = recipes[one.recipe];
        auto made = make(run, development, reference, recipe);
        if (!made && !training::is_about_data(made.error())) return made.error();
        if (made) {
            made->figures.insert(values.begin(), values.end());
            made->figures["choice"] = recipe.name;
            note_recipe(settings_.recipes[one.recipe], made->figures);
            return made;
        }
        why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", recipe.name, made.error().message);
    }
    return base::make_error(Reason::kNoCandidate, "no recipe made a candidate: {}", why);
}

Result<model::LoadedPolicy> TrainingLoop::candidate_of(
    StartedRun& run, const training_set::DevelopmentSet& development,
    const model::LoadedPolicy& reference) {
    if (!run.candidate.empty()) return deps_.registry.load_model(domain::PolicyId(run.candidate));
    auto recipes = settings_.recipes;
    for (auto& recipe : recipes) {
        if (recipe.start == training::Start::kChampion) recipe.split_seed = recipe.seed;
        recipe.seed = base::mix64(recipe.seed ^ base::mix64(run.ordinal));
    }
    RAMPART_TRY(auto candidate, recipes.size() > 1
                                    ? make_best(run, development, reference, recipes)
                                    : make(run, development, reference, recipes.front()));
    RAMPART_TRY(const auto id, deps_.registry.register_model(
                                   model::encode_model_file(candidate.policy), run.at, kTrainer));
    // From here on the run is about this model, whatever becomes known before a restart.
    run.candidate = id.value();
    run.distilled = candidate.distilled;
    run.figures = std::move(candidate.figures);
    if (!run.figures.contains(kRecipe)) note_recipe(settings_.recipes.front(), run.figures);
    RAMPART_RETURN_IF_ERROR(store_.start(run));
    return model::LoadedPolicy{std::move(candidate.policy), id};
}

Result<std::vector<RunRecord>> TrainingLoop::runs() const {
    RAMPART_TRY(auto runs, store_.runs());
    std::optional<registry::CertificateNames> names;
    for (auto& run : runs) {
        const bool charged = run.verdict == certification::Verdict::kCertified ||
                             run.verdict == certification::Verdict::kNoSolutionFound;
        const auto digest = base::Digest::from_hex(run.certificate);
        if (!charged || !digest) continue;
        if (!names) {
            RAMPART_TRY(names, registry::CertificateNames::read(deps_.registry));
        }
        run.certificate = names->name_of(*digest);
    }
    return runs;
}

Result<TrainingLoop::Progress> TrainingLoop::progress() const {
    Progress progress;
    RAMPART_TRY(const auto runs, store_.runs());
    for (const auto& run : runs) {
        ++progress.runs[run.verdict];
        progress.last_run = std::max(progress.last_run, std::optional(run.at));
        progress.finished = std::max(progress.finished, run.ordinal);
    }
    RAMPART_TRY(const auto started, store_.started());
    if (started) progress.under_way = started->ordinal;
    RAMPART_TRY(const auto served, store_.served_until());
    const int every = settings_.schedule.every_months;
    if (served && every > 0) {
        const auto due = due_months(*served, base::add_months(*served, every + 1));
        if (!due.empty()) progress.next_due = due.front();
    }
    progress.last_seconds = last_seconds_;
    progress.unexplained = unexplained_;
    return progress;
}

/// Returns what the runs have noted of how the trainer made the candidate; empty: it did not.
Result<std::string> TrainingLoop::noted_of(const std::string& candidate, const char* figure) const {
    RAMPART_TRY(const auto runs, store_.runs());
    for (const auto& run : runs) {
        const auto found = run.figures.find(figure);
        if (run.candidate == candidate && found != run.figures.end()) return found->second;
    }
    return std::string();
}

/// Returns the digest of the recipe by which the trainer made the run's candidate, in this run or
/// an earlier one (an earlier release noted that of all settings); empty: it did not make it.
Result<std::string> TrainingLoop::recipe_of(const StartedRun& run) const {
    const auto found = run.figures.find(kRecipe);
    return found != run.figures.end() && !found->second.empty() ? found->second
                                                                : noted_of(run.candidate, kRecipe);
}

/// Returns the digest of the settings by which the trainer made a policy; nullopt: it did not.
Result<std::optional<base::Digest>> TrainingLoop::settings_of(const std::string& policy) const {
    RAMPART_TRY(const auto noted, noted_of(policy, kSettings));
    const auto digest = base::Digest::from_hex(noted);
    return digest ? std::optional(*digest) : std::nullopt;
}

Status TrainingLoop::check_goes_on() const {
    if (!deps_.stopping || !deps_.stopping()) return base::ok();
    return base::make_error(learning::Reason::kTrainingStopped, "the run was left, to go on later");
}

/// An error that is not about the data, so that the run is not taken for refused.
Status TrainingLoop::check_may_charge() const {
    const Status may = deps_.may_charge ? deps_.may_charge() : base::ok();
    if (may) return may;
    return base::make_error(learning::Reason::kTrainingStopped, "the run was left: {}",
                            may.error().message);
}

std::shared_lock<std::shared_mutex> TrainingLoop::counting() const {
    return deps_.counting == nullptr ? std::shared_lock<std::shared_mutex>()
                                     : std::shared_lock(*deps_.counting);
}

/// Returns the rows from which the gate plans the test of the run's candidate, and forecasts
/// whether it passes: where it goes on from the trees of a champion, those of persons from whom no
/// tree has learnt. nullopt: all rows.
Result<std::optional<training_set::DevelopmentSet>> TrainingLoop::rows_to_plan(
    const StartedRun& run, const training_set::DevelopmentSet& development) const {
    const auto found = run.figures.find(training::kHeldOutOfStart);
    std::string held_out = found != run.figures.end() ? found->second : std::string();
    if (run.figures.empty()) {  // the candidate is an earlier run's
        RAMPART_TRY(held_out, noted_of(run.candidate, training::kHeldOutOfStart));
    }
    return training::rows_held_out_of_start(development, held_out);
}

/// Makes or loads the candidate and takes it to the gate; fills verdict and reasons in.
Status TrainingLoop::judge(StartedRun& run, RunRecord& record) {
    RAMPART_TRY(const auto reference, deps_.registry.load_model(domain::PolicyId(run.reference)));
    RAMPART_RETURN_IF_ERROR(check_fits(reference.policy));
    RAMPART_TRY(const auto development, read(run.at));
    record.figures[kRowsRead] = describe_rows(development);
    RAMPART_RETURN_IF_ERROR(check_goes_on());
    RAMPART_TRY(const auto candidate, candidate_of(run, development, reference));
    RAMPART_RETURN_IF_ERROR(check_fits(candidate.policy));
    RAMPART_TRY(const auto recipe, recipe_of(run));
    RAMPART_TRY(const auto part, rows_to_plan(run, development));
    RAMPART_RETURN_IF_ERROR(check_goes_on());
    RAMPART_RETURN_IF_ERROR(check_may_charge());
    auto counted = counting();
    RAMPART_TRY(const auto answer, gate_->test({candidate, reference, part ? *part : development,
                                                run.at, run.distilled, run.opens_epoch,
                                                run.epoch_note, run.proposed_by, recipe}));
    counted = {};
    record.verdict = answer.result.verdict;
    record.reason = answer.result.reason;
    record.message = answer.result.message;
    record.certificate = answer.name;
    RAMPART_TRY(const auto spending, gate_->spending_note());
    record.message += (record.message.empty() || spending.empty() ? "" : "; ") + spending;
    const auto& missed = candidate.policy.state().constraints_missed;
    say_missed(missed, record);
    if (answer.result.verdict != certification::Verdict::kCertified) return base::ok();
    const auto accepted = accept(run, candidate.id, answer.certificate, record);
    if (accepted || !training::is_about_data(accepted.error())) return accepted;
    // e.g. an operator rolled back meanwhile: the certificate is valid, but no longer for promotion
    record.reason = accepted.error().reason;
    record.message =
        fmt::format("certified, but not {}: {}", done_with_certified(settings_.on_certified),
                    accepted.error().message);
    say_missed(missed, record);
    return base::ok();
}

Result<RunRecord> TrainingLoop::execute(StartedRun run) {
    const double begun = deps_.seconds ? deps_.seconds() : 0;
    RunRecord record;
    record.ordinal = run.ordinal;
    record.at = run.at;
    record.reference = run.reference;
    record.matured = run.matured;
    const auto judged = judge(run, record);
    if (!judged) {
        if (!training::is_about_data(judged.error())) return judged.error();
        // Fail closed and continue: a run that is impossible with these data must not block the
        // next.
        record.verdict = certification::Verdict::kRefused;
        record.reason = judged.error().reason;
        record.message = judged.error().message;
    }
    record.candidate = run.candidate;
    record.figures.insert(run.figures.begin(), run.figures.end());
    kLog.info("run={} at={} verdict={} reason={}", record.ordinal, base::to_iso8601(record.at),
              to_string(record.verdict), record.reason);
    RAMPART_RETURN_IF_ERROR(store_.finish(record, !run.on_request));
    if (deps_.seconds) last_seconds_ = deps_.seconds() - begun;
    return record;
}

}  // namespace rampart::retraining
