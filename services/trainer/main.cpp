// trainer: joins, trains and watches for nodes that decide, as `rampart serve --roles
// join,train,monitor`.
#include "services/rampartd/program.hpp"

int main(int argc, char** argv) {
    return rampart::rampartd::run_program(argc, argv, "trainer", "join,train,monitor");
}
