// rampartd: the whole loop in one process, or the roles that its configuration names; the same as
// `rampart serve`, with the same arguments.
#include "services/rampartd/program.hpp"

int main(int argc, char** argv) {
    return rampart::rampartd::run_program(argc, argv, "rampartd", "");
}
