#include "rampart/loan_stream/stream.hpp"

#include <fmt/ranges.h>

#include "rampart/loan_stream/reasons.hpp"
#include "sources.hpp"

namespace rampart::loan_stream {
namespace {

using ReadSource = base::Result<Source> (*)(const StreamOptions&);

ReadSource find_source(std::string_view name) {
    if (name == "default-credit-card") return read_default_credit_card;
    if (name == "sba") return read_sba;
    if (name == "cards") return read_cards;
    if (name == "simulated") return simulate;
    return nullptr;
}

}  // namespace

const std::vector<std::string>& stream_names() {
    static const std::vector<std::string> names{"default-credit-card", "sba", "cards", "simulated"};
    return names;
}

base::Result<Stream> load(const StreamOptions& options) {
    const ReadSource read = find_source(options.name);
    if (read == nullptr) {
        return base::make_error(Reason::kUnknownStream,
                                "stream '{}' does not exist; choose one of {}", options.name,
                                fmt::join(stream_names(), ", "));
    }
    RAMPART_TRY(auto source, read(options));
    return assemble(std::move(source), options.rows, options.seed);
}

}  // namespace rampart::loan_stream
