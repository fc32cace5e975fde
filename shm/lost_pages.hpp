#pragma once

namespace tailrace {

/// Somebody who truncates a file of a ring takes pages from under its users (SIGBUS). From now on that ends
/// this process with a line on stderr and `exit_code`. Call in main.
void exit_on_lost_pages(int exit_code);

}  // namespace tailrace
