//! The record of an incident: entries, the chain over them, its verification, and what they add up
//! to. Pure: bytes and readers come from `store`.

mod act;
pub mod digest;
pub mod entry;
pub mod export;
mod fill;
pub mod line;
pub mod markdown;
mod observe;
pub mod operator;
pub mod past;
pub mod record;
mod redact;
mod sentence;
pub mod story;
pub mod subject;
mod termination;
pub mod verify;

pub use digest::{Digest, Digester, Head};
pub use entry::Entry;
pub use line::{Joint, Line, Sealed};
pub use operator::Operator;
pub use past::Past;
pub use record::{Evidence, Kept, Record};
pub use story::Story;
pub use subject::{InstanceRef, LeadRef, Subject, TargetRef};
pub use verify::{Fault, FaultKind, Torn, Verified, verify};
