// outcome_joiner: joins what other nodes decide, as `rampart serve --roles join`.
#include "services/rampartd/program.hpp"

int main(int argc, char** argv) {
    return rampart::rampartd::run_program(argc, argv, "outcome_joiner", "join");
}
