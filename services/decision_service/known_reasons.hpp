#pragma once

namespace rampart::decision_service {

/// Lets the service's error documents say what to do about each reason. Call it once, before there
/// is a server.
void know_reasons();

}  // namespace rampart::decision_service
