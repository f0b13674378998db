#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "rampart/certification/ledger_head.hpp"

namespace rampart::cli {

/// Reads a ledger: of `rampart gate`, or a copy of a store's. Errors: data_loss, as
/// DeltaLedger::open's.
base::Result<certification::DeltaLedger> read_ledger_file(const std::filesystem::path& file);

/// `keys`: certification::read_keys. Errors: certification::read_head's, naming the file;
/// invalid_argument "misuse": it is no head.
base::Result<certification::LedgerHead> read_head_file(const std::filesystem::path& file,
                                                       std::span<const base::VerifyingKey> keys);

/// Checks that the ledger has the certificate's run and continues each head; returns what that
/// shows, in words. `bytes`: of the certificate's file.
base::Result<std::string> prove_recorded(const certification::Certificate& certificate,
                                         std::string_view bytes,
                                         const std::filesystem::path& ledger,
                                         const std::vector<std::filesystem::path>& heads,
                                         std::span<const base::VerifyingKey> keys);

}  // namespace rampart::cli
