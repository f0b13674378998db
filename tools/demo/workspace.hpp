#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/loan_stream/stream.hpp"

namespace rampart::demo {

/// The folder of one run: configuration, keys, store and, later, the report.
struct Workspace {
    std::filesystem::path folder, config, store, endpoint_file, log;
    std::string token;
};

/// Location of the log, if it is not the embedded one.
struct KafkaBroker {
    std::string bootstrap_servers, topic_prefix;
};

/// Prepares a folder for a stream: rampartd.toml (from `config_dir`/demo/<stream>.toml, with
/// the seed inserted), product.toml, schema.toml, a random token, and keys derived from the
/// seed, so that the same seed reproduces the run bit by bit. These keys, including the signing
/// key, can be computed by anyone; they are for replays of public data only (a deployment's
/// keys come from the operating system's generator). Removes the files of an earlier run;
/// refuses a folder with other content. `recipes`: recipe files that replace the configuration's
/// learner; where one sets thresholds by group, the service may use groups.
base::Result<Workspace> prepare_workspace(const std::filesystem::path& folder,
                                          const std::filesystem::path& config_dir,
                                          const loan_stream::Stream& stream, uint64_t seed,
                                          const std::optional<KafkaBroker>& kafka = std::nullopt,
                                          const std::vector<std::filesystem::path>& recipes = {});

/// Adds what letters and counterfactuals of a stream take, from `config_dir`/letters: [notices] in
/// the configuration, reasons.toml, changes.toml, and the templates letter.LANGUAGE.html.
base::Status add_letters(const Workspace& workspace, const std::filesystem::path& config_dir,
                         const std::string& stream);

}  // namespace rampart::demo
