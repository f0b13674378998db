// registry at: who decided when.
#include <CLI/CLI.hpp>

#include "frame/commands.hpp"
#include "rampart/lease/trainer_seat.hpp"
#include "rampart/registry/live.hpp"
#include "services/rampartd/store_layout.hpp"

namespace rampart::cli {
namespace {

struct Options {
    std::filesystem::path store;
    std::string time;
};

std::string row(std::string_view name, const std::string& text) {
    return fmt::format("{:<14}{}\n", name, text);
}

std::string text_of(const registry::Live& live) {
    std::string text = row("at", base::to_iso8601(live.at));
    for (const auto& [policy, share] : live.decides)
        text += row("decides", share == 1 ? policy.value() : fmt::format("{} {}", share, policy));
    if (live.decides.empty()) text += row("decides", "nothing: there was no policy yet");
    if (const auto& champion = live.champion) {
        text += row("champion", fmt::format("{} since {} by {}, {}", champion->policy,
                                            base::to_iso8601(champion->at), champion->actor,
                                            to_string(champion->kind)));
        text +=
            row("certificate", live.certificate.empty() ? "none (uncertified)" : live.certificate);
    }
    if (const auto& proposal = live.proposal) {
        text += row("proposal",
                    fmt::format("{}, proposed by {}", proposal->number, proposal->proposed_by));
        for (const auto& [who, when, comment] : proposal->approvals)
            text += row("approved",
                        fmt::format("by {} at {}: {}", who, base::to_iso8601(when), comment));
    }
    if (const auto& one = live.assignment)
        text += row("assignment", fmt::format("{} since {} by {}", one->assignment.id,
                                              base::to_iso8601(one->assignment.from), one->who));
    for (const auto& stop : live.stops)
        text += row("STOPPED",
                    fmt::format("{} since {} by {}: {}", to_string(stop.period.kind),
                                base::to_iso8601(stop.period.from), stop.period.who, stop.reason));
    if (live.epoch)
        text += row("epoch", fmt::format("{} of the error budget, opened {}", live.epoch->epoch,
                                         base::to_iso8601(live.epoch->at)));
    return text;
}

base::Result<Answer> at(const Options& options) {
    RAMPART_TRY(const auto time, base::parse_iso8601(options.time));
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(options.store / "registry",
                                              registry::ModelRegistry::Mode::kReadOnly));
    RAMPART_TRY(const auto live, registry::live_at(*registry, time));
    Answer answer{.text = text_of(live), .json = to_json(live)};
    if (live.decides.empty()) answer.exit_code = ExitCode::kNo;
    RAMPART_TRY(const auto seat, lease::read_seat(rampartd::seat_of(options.store)));
    // a store that never asked to train has no seat: it looks as one that is alone does
    if (seat.handed_over || (!seat.held && seat.claimed))
        answer.text += "note: another store trains; champions since then are in its registry\n";
    return answer;
}

}  // namespace

void add_registry_at(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "registry at",
         .summary = "Show who decided at a time: policy, certificate, approvals, stops, epoch",
         .example = "rampart registry at 2023-06-01T12:00:00Z --store demo-out/store",
         .detail = "From the store of the node that trains. Exit code 1: there was no policy yet."},
        [options](const Context&) { return at(*options); });
    command.add_option("TIME", options->time, "a date or time (ISO 8601)")->required();
    command.add_option("--store", options->store, "the store folder; a node may be serving it")
        ->required();
}

}  // namespace rampart::cli
