#include "gate/ledger_proof.hpp"

#include <fmt/format.h>

#include "frame/reasons.hpp"
#include "rampart/base/file.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/certification/signer.hpp"

namespace rampart::cli {

using base::Result;
using certification::DeltaLedger;

Result<DeltaLedger> read_ledger_file(const std::filesystem::path& file) {
    constexpr size_t kMaxBytes = size_t{1} << 30;
    RAMPART_TRY(const auto bytes, base::read_file(file, kMaxBytes));
    std::vector<std::string> entries;
    std::string_view rest = bytes;
    while (!rest.empty()) {
        const auto end = rest.find('\n');
        if (end == rest.npos) break;  // half-written, and so never acknowledged
        entries.emplace_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    auto ledger = DeltaLedger::open(entries);
    if (ledger) return ledger;
    return ledger.error().with_context(fmt::format("ledger '{}'", file.string()));
}

Result<certification::LedgerHead> read_head_file(const std::filesystem::path& file,
                                                 std::span<const base::VerifyingKey> keys) {
    RAMPART_TRY(const auto bytes, base::read_file(file, 1 << 20));
    auto head = certification::read_head(bytes, certification::signer_among(bytes, keys));
    if (head) return head;
    if (head.error().code == base::ErrorCode::kDataLoss &&
        !head.error().is(certification::Reason::kOtherFormat)) {
        return base::make_error(Reason::kMisuse,
                                "'{}' is not a head as `rampart ledger head` writes it, or is cut "
                                "off",
                                file.string());
    }
    return head.error().with_context(fmt::format("'{}'", file.string()));
}

Result<std::string> prove_recorded(const certification::Certificate& certificate,
                                   std::string_view bytes, const std::filesystem::path& file,
                                   const std::vector<std::filesystem::path>& heads,
                                   std::span<const base::VerifyingKey> keys) {
    RAMPART_TRY(const auto ledger, read_ledger_file(file));
    RAMPART_RETURN_IF_ERROR(certification::check_recorded(ledger, certificate, bytes));
    std::string text = certificate.ledger
                           ? fmt::format("The ledger has the run as entry {} of {}.\n",
                                         certificate.ledger->sequence + 1, ledger.entries().size())
                           : "A refusal is in no ledger.\n";
    for (const auto& name : heads) {
        RAMPART_TRY(const auto head, read_head_file(name, keys));
        RAMPART_RETURN_IF_ERROR(certification::check_continues(ledger, head));
        const bool then = certificate.ledger && certificate.ledger->sequence < head.entries;
        text += fmt::format("It continues the head of {} with {} entries{}.\n",
                            base::to_iso8601(head.made_at), head.entries,
                            then ? ", the run among them" : "; the run came later");
    }
    return text;
}

}  // namespace rampart::cli
