#pragma once

#include "rampart/certification/gate_run.hpp"

namespace rampart::certification {

/// How much of the records is compared: what was known before outcomes, or outcomes alone.
enum class Compare { kDecisions, kImpacts };

/// Checks that all records of the earlier look are in the vault with equal values: the wealth of
/// fixed bets holds at all looks together only as a product over records that stay. An impact that
/// was missing then and is known now is allowed, since it counted the worst. `impacts`: whether the
/// vault's records have them. Errors: failed_precondition "earlier_records_changed".
base::Status check_inclusion(const EarlierLook& earlier, const VaultSource& vault, Compare compare);

}  // namespace rampart::certification
