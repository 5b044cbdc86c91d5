//! Acting, seen from outside: what a program leaves on the disk that was killed while it acted.

mod killed;
