#pragma once

namespace rampart::base {

/// Lets the calling thread, and those that it starts from then on, have the processor only where
/// others leave it: of a core that others want as well, they get about a tenth (nice 10), and those
/// of wake_promptly() need not wait for them.
void lower_priority();

/// Lets the calling thread, and those that it starts from then on, have the processor as soon as
/// they wake up, also where one of another kind computes; without it they wait until that one's
/// slice of time is used up, some milliseconds. For threads that have little to do at a time and on
/// which callers wait. By the slice that sched_setattr(2) takes; Linux before 6.12 takes no notice.
/// Like lower_priority(), logs where it cannot be set, and goes on.
void wake_promptly();

}  // namespace rampart::base
