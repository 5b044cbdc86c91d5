//! Acting, seen from outside: what lets a signal out, what the screen shows and the record tells, and what
//! a program leaves on the disk that was killed while it acted.

#[cfg(target_os = "linux")]
mod case;
#[cfg(target_os = "linux")]
mod desk;
#[cfg(target_os = "linux")]
mod interrupted;
mod killed;
#[cfg(target_os = "linux")]
mod kit;
#[cfg(target_os = "linux")]
mod procedure;
mod receipts;
#[cfg(target_os = "linux")]
mod returns;
#[cfg(target_os = "linux")]
mod sent;
#[cfg(target_os = "linux")]
mod withheld;
