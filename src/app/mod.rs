//! State of the screen and what a key does to it: pure, no I/O.
