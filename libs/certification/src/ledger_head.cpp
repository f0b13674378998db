#include "rampart/certification/ledger_head.hpp"

#include <algorithm>

#include "members.hpp"
#include "rampart/certification/envelope.hpp"
#include "rampart/certification/reasons.hpp"

namespace rampart::certification {

namespace {

using base::make_error;
using base::Result;
using base::Status;

constexpr std::string_view kFormat = "rampart-ledger-head-1";
constexpr std::string_view kPayloadType = "application/vnd.rampart.ledger-head+json";

struct Payload {
    std::string format{kFormat};
    LedgerHead head;
};

template <class A>
void members(A& a, Payload& p) {
    a("format", p.format);
    a("entries", p.head.entries);
    a("head", p.head.head);
    a("epoch", p.head.epoch);
    a("runs_used", p.head.runs_used);
    a("last_entry_at", p.head.last_entry_at);
    a("made_at", p.head.made_at);
    a("log", p.head.log);
}

base::TimePoint time_of(const LedgerEntry& entry) {
    return std::visit([](const auto& body) { return body.at; }, entry.body);
}

/// Returns whether an entry closes the run with a certificate of this digest.
bool closes(const std::string& bytes, const Registration& run, const std::string& digest) {
    const auto entry = decode_ledger_entry(bytes);
    if (!entry) return false;
    const auto* closing = std::get_if<Closing>(&entry->body);
    return closing != nullptr && closing->epoch == run.epoch && closing->run == run.run &&
           closing->certificate == digest;
}

}  // namespace

Result<LedgerHead> head_of(const DeltaLedger& ledger, base::TimePoint made_at) {
    const auto& entries = ledger.entries();
    if (entries.empty()) {
        return make_error(Reason::kEmptyLedger,
                          "the ledger has no entry yet: nothing was tested, and there is nothing "
                          "to file");
    }
    RAMPART_TRY(const auto last, decode_ledger_entry(entries.back()));
    return LedgerHead{.entries = entries.size(),
                      .head = ledger.head(),
                      .epoch = ledger.epoch(),
                      .runs_used = ledger.runs_used(),
                      .last_entry_at = time_of(last),
                      .made_at = made_at,
                      .log = {}};
}

std::string sign_head(const LedgerHead& head, const base::SigningKey& key) {
    Payload payload;
    payload.head = head;
    return sign_envelope(kPayloadType, JsonWriter::write(payload), key) + '\n';
}

Result<LedgerHead> read_head(std::string_view bytes, const base::VerifyingKey& key) {
    if (bytes.ends_with('\n')) bytes.remove_suffix(1);
    RAMPART_TRY(const std::string text, open_envelope(kPayloadType, bytes, key));
    auto payload = JsonReader::read<Payload>(text);
    if (!payload) return payload.error().with_context("head of a ledger");
    if (payload->format == kFormat) return std::move(payload->head);
    return make_error(Reason::kOtherFormat, "format '{}'; this reader knows '{}'", payload->format,
                      kFormat);
}

Status check_continues(const DeltaLedger& ledger, const LedgerHead& head) {
    const auto& entries = ledger.entries();
    if (head.entries > entries.size()) {
        return make_error(Reason::kOtherLedger,
                          "the ledger has {} entries, it had {} on {}: entries are missing, or it "
                          "is another ledger",
                          entries.size(), head.entries, base::to_iso8601(head.made_at));
    }
    if (head.entries == 0 || base::sha256(entries[head.entries - 1]) != head.head) {
        return make_error(Reason::kOtherLedger,
                          "entry {} is not the one that was the ledger's last on {}: it is another "
                          "ledger, or it was written anew",
                          head.entries, base::to_iso8601(head.made_at));
    }
    return base::ok();
}

Status check_recorded(const DeltaLedger& ledger, const Certificate& certificate,
                      std::string_view bytes) {
    if (!certificate.ledger) return base::ok();
    const auto& reference = *certificate.ledger;
    const auto& entries = ledger.entries();
    if (reference.sequence >= entries.size() ||
        base::sha256(entries[reference.sequence]) != reference.entry) {
        return make_error(Reason::kNotInLedger,
                          "entry {} of the ledger is not the run of the certificate: the run was "
                          "charged to another ledger",
                          reference.sequence + 1);
    }
    const auto digest = base::sha256(bytes).hex();
    const bool closed = std::any_of(
        entries.begin() + static_cast<ptrdiff_t>(reference.sequence) + 1, entries.end(),
        [&](const std::string& e) { return closes(e, reference.registration, digest); });
    if (closed) return base::ok();
    return make_error(Reason::kNotInLedger,
                      "the ledger has the certificate's run, entry {}, but was not closed with "
                      "this certificate: it has another one, or was copied before the run ended",
                      reference.sequence + 1);
}

}  // namespace rampart::certification
