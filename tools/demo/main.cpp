// rampart-demo: runs the whole loop on a stream of loan applications. Built and called by ops/demo.
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>

#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/exit_code.hpp"
#include "rampart/runtime/version.hpp"
#include "rampart/training/recipe.hpp"
#include "tools/demo/comparison.hpp"
#include "tools/demo/driver.hpp"
#include "tools/demo/judge.hpp"
#include "tools/demo/reasons.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace {

using namespace rampart;
using base::Result;
using base::Status;
using Clock = std::chrono::steady_clock;

struct Options {
    std::string stream = "default-credit-card", data = "simulated", config_dir = "ops/config",
                program, out = "demo-out", kafka, recipe;
    size_t rows = 0;
    uint64_t seed = 1;
    bool serve = false;
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Returns the CPU time of all processes that this one has waited for.
double cpu_seconds_of_children() {
    rusage used{};
    ::getrusage(RUSAGE_CHILDREN, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void show_progress(base::TimePoint time, double share) {
    if (!::isatty(STDERR_FILENO)) return;
    constexpr int kWidth = 40;
    const int filled = static_cast<int>(share * kWidth);
    std::fprintf(stderr, "\r%s  [%.*s%*s] %3.0f %%", base::month_of(time).c_str(), filled,
                 "########################################", kWidth - filled, "", share * 100);
    if (share >= 1) std::fprintf(stderr, "\n");
}

Status write_certificates(rampartd::Node& node, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    RAMPART_TRY(const auto certificates, node.registry().certificates());
    for (const auto& info : certificates) {
        RAMPART_TRY(const auto file, node.registry().certificate_file(info.id));
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(folder / (info.id.hex() + ".cert"), file));
        if (!info.evidence) continue;
        RAMPART_TRY(const auto evidence, node.registry().evidence_file(*info.evidence));
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(
            folder / (info.id.hex() + ".evidence.jsonl"), evidence, 0600));
    }
    return base::write_file_atomically(folder / "gate.pub.pem",
                                       node.keys().signing.public_key().to_pem());
}

struct Driven {
    demo::Report report;
    std::string declined;  // id of the last decline that exploration alone did not make; or none
};

std::string last_decline(const std::vector<domain::Decision>& decisions) {
    const auto found =
        std::find_if(decisions.rbegin(), decisions.rend(), [](const domain::Decision& one) {
            return one.action == domain::Action::kDecline && one.draw >= one.p_exploit;
        });
    return found == decisions.rend() ? std::string() : found->id.value();
}

Result<Driven> drive(const Options& options, const loan_stream::Stream& stream,
                     const demo::Workspace& workspace, const Clock::time_point start) {
    const double cpu_before = cpu_seconds_of_children();
    demo::Driver driver(
        stream, "repaid",
        demo::Session(workspace.endpoint_file, workspace.token, base::Duration::seconds(30)));
    {
        RAMPART_TRY(auto service,
                    demo::ServiceProcess::start(options.program, workspace.config,
                                                workspace.endpoint_file, workspace.log));
        RAMPART_RETURN_IF_ERROR(driver.run(show_progress));
        RAMPART_RETURN_IF_ERROR(service.stop());
    }
    const double loop_seconds = seconds_since(start);
    RAMPART_TRY(auto settings, rampartd::load_settings(workspace.config));
    RAMPART_TRY(const auto node, rampartd::Node::open(std::move(settings)));
    RAMPART_TRY(auto report, demo::judge(stream, driver.decisions(), *node));
    report.data = options.stream == "simulated" || options.data == "simulated"
                      ? "the built-in simulator"
                      : "real data";
    report.seed = options.seed;
    report.version = runtime::version();
    RAMPART_RETURN_IF_ERROR(write_certificates(*node, workspace.folder / "certificates"));
    report.seconds = {{"loop", loop_seconds},
                      {"total", seconds_since(start)},
                      {"service_cpu", cpu_seconds_of_children() - cpu_before}};
    return Driven{std::move(report), last_decline(driver.decisions())};
}

Status serve_on(const Options& options, const demo::Workspace& workspace) {
    RAMPART_TRY(auto service, demo::ServiceProcess::start(options.program, workspace.config,
                                                          workspace.endpoint_file, workspace.log));
    RAMPART_TRY(auto endpoint, base::read_file(workspace.endpoint_file, 256));
    endpoint.erase(endpoint.find_last_not_of('\n') + 1);
    const auto pid = service.release();
    std::printf(
        "\nserving at http://%s (process %d; stop it with: kill %d)\nconsole: http://%s/console/\n"
        "token for both: %s\n",
        endpoint.c_str(), pid, pid, endpoint.c_str(), (workspace.store / "keys" / "token").c_str());
    return base::ok();
}

std::vector<std::string> bundled_recipes(const Options& options) {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(options.config_dir) / "recipes"))
        names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// Returns the files of the recipes, which are bundled ones by name or paths, separated by commas;
/// none: the stream's own learner.
Result<std::vector<std::filesystem::path>> recipe_files(const Options& options) {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    std::istringstream names(options.recipe);
    for (std::string name; std::getline(names, name, ',');) {
        const auto bundled = fs::path(options.config_dir) / "recipes" / (name + ".toml");
        if (!fs::is_regular_file(name) && !fs::exists(bundled))
            return base::make_error(base::Reason::kBadUsage,
                                    "--recipe {}: there is no such file, and the bundled recipes "
                                    "are {} (all: one after the other)",
                                    name, fmt::join(bundled_recipes(options), ", "));
        files.push_back(fs::is_regular_file(name) ? fs::path(name) : bundled);
    }
    return files;
}

/// Prints the commands that say why an application was declined, and what follows.
void print_commands(const demo::Workspace& workspace, const std::string& declined) {
    const auto folder = workspace.folder.string();
    const auto command = [&](const char* name, const std::string& more) {
        std::printf("  rampart %s --decision %s --config %s%s\n", name, declined.c_str(),
                    workspace.config.c_str(), more.c_str());
    };
    std::printf("\nto look at a decline:\n");
    command("explain", "");
    command("letter", fmt::format(" --template {}/letter.en.html", folder));
    command("counterfactual", fmt::format(" --changes {}/changes.toml", folder));
}

/// Runs the loop once, and writes its report.
Result<demo::Report> run_once(const Options& options, const loan_stream::Stream& stream) {
    const auto start = Clock::now();
    const auto kafka =
        options.kafka.empty() ? std::nullopt : std::optional(demo::KafkaBroker{options.kafka, ""});
    RAMPART_TRY(const auto recipes, recipe_files(options));
    RAMPART_TRY(const auto workspace,
                demo::prepare_workspace(std::filesystem::absolute(options.out), options.config_dir,
                                        stream, options.seed, kafka, recipes));
    RAMPART_RETURN_IF_ERROR(demo::add_letters(workspace, options.config_dir, stream.name));
    RAMPART_TRY(auto driven, drive(options, stream, workspace, start));
    auto& report = driven.report;
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(workspace.folder / "report.json", demo::to_json(report)));
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(workspace.folder / "report.html", demo::to_html(report)));
    std::fputs(demo::to_text(report).c_str(), stdout);
    std::printf("\nreport:       %s\ncertificates: %s\n",
                (workspace.folder / "report.html").c_str(),
                (workspace.folder / "certificates").c_str());
    if (options.serve)
        RAMPART_RETURN_IF_ERROR(serve_on(options, workspace));
    else if (!driven.declined.empty() && !kafka)  // the commands would ask a broker that is gone
        print_commands(workspace, driven.declined);
    return std::move(report);
}

/// Returns why a bundled recipe cannot be trained by on the stream's features, which it may name;
/// empty: it can, or it cannot be read, which the run says.
std::string misfit_of(const Options& options, const std::string& name,
                      const loan_stream::Stream& stream) {
    training::Recipe recipe;
    const auto file =
        std::filesystem::path(options.config_dir) / "recipes" / fmt::format("{}.toml", name);
    if (!training::read_recipe_file(file, recipe)) return {};
    const auto misfit = training::find_misfit(recipe, {.features = stream.schema});
    return misfit ? misfit->error.message : std::string();
}

/// Runs the loop once with each bundled recipe, each in a folder of its own, and compares.
Status run_all(const Options& options, const loan_stream::Stream& stream) {
    const std::filesystem::path out = std::filesystem::absolute(options.out);
    demo::Comparison comparison{options.stream, options.data, "", options.seed, 0, {}};
    std::vector<std::string> failed;
    for (const auto& name : bundled_recipes(options)) {
        std::printf("\n== recipe %s\n", name.c_str());
        std::fflush(stdout);
        Options one = options;
        one.recipe = name;
        one.out = (out / name).string();
        if (const auto why = misfit_of(options, name, stream); !why.empty()) {
            std::printf("left out: %s\n", why.c_str());
            comparison.recipes.push_back({.recipe = name, .failed = why, .left_out = true});
        } else if (const auto report = run_once(one, stream)) {
            comparison.data = report->data;
            comparison.impact_units = report->impact_units;
            comparison.rows = report->rows;
            comparison.recipes.push_back(demo::compared(name, *report));
        } else {
            std::fprintf(stderr, "%s: %s\n", name.c_str(), report.error().message.c_str());
            failed.push_back(name);
            comparison.recipes.push_back({.recipe = name, .failed = report.error().message});
        }
        // after each, so that what was done is there when it is broken off
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(out / "comparison.json", demo::to_json(comparison)));
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(out / "comparison.html", demo::to_html(comparison)));
    }
    std::printf("\n%s\ncomparison: %s\n", demo::to_text(comparison).c_str(),
                (out / "comparison.html").c_str());
    if (failed.empty()) return base::ok();
    return base::make_error(demo::Reason::kRecipeFailed, "{} of {} recipes failed: {}",
                            failed.size(), comparison.recipes.size(), fmt::join(failed, ", "));
}

Status run(Options options) {
    if (options.data == "simulated") {
        if (options.stream != "default-credit-card" && options.stream != "simulated") {
            return base::make_error(base::Reason::kBadUsage,
                                    "--data simulated has its own stream; omit --stream {}",
                                    options.stream);
        }
        options.stream = "simulated";
    }
    const bool all = options.recipe == "all";
    if (all && (options.serve || !options.kafka.empty()))
        return base::make_error(base::Reason::kBadUsage,
                                "--recipe all leaves no service running and needs the embedded "
                                "log: omit {}",
                                options.serve ? "--serve" : "--broker kafka");
    if (!all) RAMPART_RETURN_IF_ERROR(recipe_files(options));
    loan_stream::StreamOptions wanted;
    wanted.name = options.stream;
    wanted.data_dir = options.data;
    wanted.rows = options.rows;
    wanted.seed = options.seed;
    RAMPART_TRY(const auto stream, loan_stream::load(wanted));
    if (all) return run_all(options, stream);
    RAMPART_RETURN_IF_ERROR(run_once(options, stream));
    return base::ok();
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{"Runs Rampart's main job on a stream of loan applications and writes a report."};
    app.add_option("--stream", options.stream, "default-credit-card, sba, cards or simulated")
        ->capture_default_str();
    app.add_option("--data", options.data, "folder with the data files, or 'simulated'")
        ->capture_default_str();
    app.add_option("--rows", options.rows, "maximum number of applicants (0: all)")
        ->capture_default_str();
    app.add_option("--seed", options.seed, "the same seed gives the same report")
        ->capture_default_str();
    app.add_option("--out", options.out, "folder for report, certificates and store")
        ->capture_default_str();
    app.add_option("--config-dir", options.config_dir, "folder of the demo and product files")
        ->capture_default_str();
    app.add_option("--program", options.program, "the program that serves: rampartd or rampart")
        ->required();
    app.add_option("--kafka", options.kafka,
                   "bootstrap servers of a cluster that has the topics; default: the embedded log");
    app.add_option("--recipe", options.recipe,
                   "bundled recipe (ops/config/recipes) or recipe file, in place of the stream's "
                   "own learner; several, separated by commas: the service chooses among "
                   "them in each run; all: each bundled one, and a comparison");
    app.add_flag("--serve", options.serve, "leave the service running and print its address");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const auto status = run(options);
    if (status) return 0;
    std::fprintf(stderr, "rampart-demo: %s\n", status.error().message.c_str());
    return static_cast<int>(runtime::exit_code_of(status.error().code));
}
