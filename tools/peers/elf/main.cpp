#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "rampart/base/thread_pool.hpp"
#include "tools/peers/elf/learners.hpp"

/// Figures 1 to 3 of Weber et al. (2022) on synthetic people: for each population, n and alpha,
/// how often each learner returns a solution, how often that solution is worse for a group than
/// beta, and its accuracy.
namespace rampart::peer_elf {
namespace {

constexpr size_t kAlphas = 11;  // 0, .1, …, 1
/// In large samples the paper's ELF, which searches on the whole development set, runs in every
/// fifth trial only.
constexpr size_t kThinFrom = 1 << 13, kThin = 5;

enum Learner { kPaper, kOursT, kOursBetting, kRegression, kFairGbm, kRamp, kLearners };
const std::array<const char*, kLearners> kNames{
    "elf_paper", "rampart_t", "rampart_betting", "logistic_regression", "fairgbm", "ramp"};

struct Outcome {
    bool tried = true;
    bool solved = false;
    bool worse[kGroups] = {false, false};
    double accuracy = 0;
    double change[kGroups] = {0, 0};  // change of the approval rate
};

Outcome judge_of(const Judge& judge, const Decisions& decisions) {
    Outcome out;
    if (!decisions) return out;
    out.solved = true;
    out.accuracy = judge.accuracy(*decisions);
    const auto change = judge.approval_change(*decisions);
    for (size_t g = 0; g < kGroups; ++g) {
        out.change[g] = change[g];
        out.worse[g] = change[g] < 0;
    }
    return out;
}

using TrialOutcomes = std::array<std::array<Outcome, kAlphas>, kLearners>;

TrialOutcomes run_trial(Population population, size_t n, const Judge& judge, const Effort& effort,
                        bool paper, uint64_t seed) {
    base::Random random(seed);
    Draw people = draw(population, n, random);
    for (const auto& group : people.sample.log.decisions.groups) {
        // a sample without testable people of a group has no solution, for any learner
        size_t held = 0;
        for (const uint32_t i : group.records) held += people.sample.tested[i];
        if (held < 2 || group.records.size() - held < 2) return {};
    }
    Trial trial(std::move(people), judge, effort, seed);
    TrialOutcomes out;
    for (size_t a = 0; a < kAlphas; ++a) {
        const double alpha = static_cast<double>(a) / 10;
        if (paper) out[kPaper][a] = judge_of(judge, trial.elf_paper(alpha));
        out[kPaper][a].tried = paper;
        const auto ours = trial.rampart(alpha);
        out[kOursT][a] = judge_of(judge, ours.t);
        out[kOursBetting][a] = judge_of(judge, ours.betting);
    }
    out[kRegression].fill(judge_of(judge, trial.logistic_regression()));
    out[kFairGbm].fill(judge_of(judge, trial.fairgbm()));
    out[kRamp].fill(judge_of(judge, trial.ramp()));
    // at alpha = 0 decisions have no impact: no group can be worse off
    for (auto& learner : out) learner[0].worse[0] = learner[0].worse[1] = false;
    return out;
}

void write_rows(std::ofstream& csv, Population population, size_t n,
                const std::vector<TrialOutcomes>& trials) {
    for (size_t l = 0; l < kLearners; ++l) {
        for (size_t a = 0; a < kAlphas; ++a) {
            double all = 0, solved = 0, worse[kGroups] = {0, 0}, any = 0, accuracy = 0,
                   change[kGroups] = {0, 0};
            for (const auto& trial : trials) {
                const Outcome& o = trial[l][a];
                all += o.tried;
                if (!o.solved) continue;
                ++solved;
                accuracy += o.accuracy;
                any += o.worse[0] || o.worse[1];
                for (size_t g = 0; g < kGroups; ++g) {
                    worse[g] += o.worse[g];
                    change[g] += o.change[g];
                }
            }
            const auto mean = [&](double sum) {
                return solved > 0 ? fmt::format("{:.5f}", sum / solved) : "";
            };
            csv << fmt::format("{},{},{:.1f},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{},{},{}\n",
                               to_string(population), n, static_cast<double>(a) / 10, kNames[l],
                               all, solved / all, any / all, worse[0] / all, worse[1] / all,
                               mean(accuracy), mean(change[0]), mean(change[1]));
        }
    }
    csv.flush();
}

struct Options {
    std::string csv;
    size_t trials = 500, threads = 2, log2_from = 8, log2_to = 16, people = 8192;
    uint64_t seed = 1;
    std::vector<std::string> populations{"gaussian", "fico"};
    Effort effort;
};

int run(const Options& options) {
    std::ofstream csv(options.csv);
    if (!csv) {
        std::fprintf(stderr, "peer_elf: cannot write '%s'\n", options.csv.c_str());
        return 2;
    }
    csv << "population,n,alpha,learner,trials,solution_rate,failure_rate,failure_rate_0,failure_"
           "rate_1,accuracy,"
           "approval_change_0,approval_change_1\n";
    base::ThreadPool pool(options.threads);
    const auto begin = std::chrono::steady_clock::now();
    for (const auto population : {Population::kGaussian, Population::kFico}) {
        const auto& wanted = options.populations;
        if (std::find(wanted.begin(), wanted.end(), to_string(population)) == wanted.end())
            continue;
        const Judge judge = make_judge(population, options.people);
        for (size_t log2 = options.log2_from; log2 <= options.log2_to; ++log2) {
            const size_t n = size_t{1} << log2;
            std::vector<TrialOutcomes> trials(options.trials);
            pool.run(options.trials, [&](size_t t) {
                const uint64_t seed = base::mix64(
                    options.seed ^
                    base::mix64(t * 64 + log2 * 2 + (population == Population::kFico ? 1 : 0)));
                trials[t] = run_trial(population, n, judge, options.effort,
                                      n < kThinFrom || t % kThin == 0, seed);
            });
            write_rows(csv, population, n, trials);
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
            std::fprintf(stderr, "peer_elf: %s n = %zu: %zu trials, %.0f s so far\n",
                         to_string(population).c_str(), n, options.trials, spent.count());
        }
    }
    return csv ? 0 : 2;
}

}  // namespace
}  // namespace rampart::peer_elf

int main(int argc, char** argv) {
    rampart::peer_elf::Options options;
    CLI::App app{"Figures 1 to 3 of the ELF paper on synthetic people"};
    app.add_option("--csv", options.csv, "output file")->required();
    app.add_option("--trials", options.trials, "of each n")->check(CLI::Range(1, 1000000));
    app.add_option("--threads", options.threads)->check(CLI::Range(1, 256));
    app.add_option("--from", options.log2_from, "smallest n, as a power of 2")
        ->check(CLI::Range(6, 20));
    app.add_option("--to", options.log2_to, "largest n, as a power of 2")->check(CLI::Range(6, 20));
    app.add_option("--seed", options.seed);
    app.add_option("--population", options.populations, "gaussian, fico; default: both")
        ->check(CLI::IsMember({"gaussian", "fico"}));
    app.add_option("--evaluations", options.effort.evaluations, "of the objective, per search")
        ->check(CLI::Range(1, 1000000));
    app.add_option("--selection-rows", options.effort.selection_rows,
                   "rows of the development set per search");
    app.add_option("--fairgbm-rows", options.effort.fairgbm_rows, "rows that FairGBM uses");
    app.add_option("--power", options.effort.power,
                   "of ours on the development set, required before accuracy counts")
        ->check(CLI::Range(0.5, 1.0));
    CLI11_PARSE(app, argc, argv);
    return rampart::peer_elf::run(options);
}
