#pragma once

namespace rampart::runtime {

/// Turns SIGHUP into a flag: "read your files anew". One instance per process; the destructor
/// restores the previous handler. Thread safe.
class ReloadSignal {
  public:
    ReloadSignal();
    ~ReloadSignal();
    ReloadSignal(const ReloadSignal&) = delete;
    ReloadSignal& operator=(const ReloadSignal&) = delete;

    /// Returns whether SIGHUP came since the last call.
    bool take();
};

}  // namespace rampart::runtime
