#pragma once

#include "rampart/certification/gate_run.hpp"

namespace rampart::certification {

/// Part of the records that is compared: what follows from features, before the charge; draws and
/// what became of people, after it, since a refusal would tell of them for free.
enum class Compare { kDecisions, kImpacts };

/// Checks that all records of the earlier look are in the vault with equal values: the wealth of
/// fixed bets holds at all looks together only as a product over records that stay. An impact that
/// was missing then and is known now is allowed, since it counted the worst. `impacts`: whether the
/// vault's records have them. Errors: failed_precondition "earlier_records_changed".
base::Status check_inclusion(const EarlierLook& earlier, const VaultSource& vault, Compare compare);

}  // namespace rampart::certification
