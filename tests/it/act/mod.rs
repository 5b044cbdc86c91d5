//! Acting, seen from outside: what lets a signal out, and what a program leaves on the disk that was killed
//! while it acted.

mod killed;
mod receipts;
