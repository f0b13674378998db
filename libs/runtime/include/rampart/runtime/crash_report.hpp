#pragma once

namespace rampart::runtime {

/// Lets this process say, on standard error, by which signal it crashes and where (a line of the
/// log, then the addresses of the stack, which `addr2line -e PROGRAM` resolves), before it ends by
/// that signal as ever. For SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. Nothing of the memory is
/// written. Thread safe; may be called again.
void report_crashes();

}  // namespace rampart::runtime
