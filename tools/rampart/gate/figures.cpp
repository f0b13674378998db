// figures: a copy of a certificate of a store, for those who audit the gate.
#include "rampart/registry/figures.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "rampart/base/file.hpp"
#include "rampart/certification/signer.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options : NodeOptions {
    std::string name;
    fs::path out;
};

Result<Answer> copy_figures(const Options& options) {
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    if (!settings.audit.enabled) {
        return base::make_error(rampartd::Reason::kAuditRequired,
                                "'{}' has no audit.enabled = true: certificates have figures of "
                                "the vault, which are for those who audit the gate",
                                options.config.string());
    }
    RAMPART_TRY(const auto node, open_existing(options.config));
    RAMPART_TRY(const auto figures,
                registry::read_figures(node->registry(), options.name,
                                       {node->now(), options.actor, options.reason}));
    const auto certificate = options.out / (options.name + ".cert");
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(certificate, figures.certificate, 0600));
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(
        options.out / "gate.pub.pem", certification::write_keys(node->registry().verifying_keys(
                                          node->keys().signing.public_key()))));
    if (!figures.evidence.empty()) {
        const auto evidence = options.out / (options.name + ".evidence.jsonl");
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(evidence, figures.evidence, 0600));
    }
    Answer answer;
    answer.text = fmt::format("certificate: {}\n", certificate.string());
    answer.json = json::serialize(json::object{{"name", options.name},
                                               {"certificate", certificate.string()},
                                               {"digest", figures.id.hex()}});
    answer.notes.push_back(
        fmt::format("the audit log has who read it; `rampart verify {}` shows the figures",
                    certificate.string()));
    return answer;
}

}  // namespace

void add_figures(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "figures",
         .summary = "Copy a certificate and its evidence out of a store, for an audit",
         .example = "rampart figures e2r6 --config audit.toml --out audit --reason 'validation'",
         .detail = "The configuration has audit.enabled = true, with which no candidate can be "
                   "proposed. Each copy is in the audit log. No node may be serving the store: "
                   "ask one by GET /v1/certificates/e2r6."},
        [options](const Context&) { return copy_figures(*options); });
    command
        .add_option("NAME", options->name, "name of the run's certificate, as `models` shows it")
        ->required();
    command.add_option("--out", options->out, "folder that exists, for the copy")->required();
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    command.add_option("--reason", options->reason, "reason, for the audit log")->required();
    add_actor_option(command, options->actor);
}

}  // namespace rampart::cli
