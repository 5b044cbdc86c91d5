//! mcpwake: a terminal process explorer for what MCP clients leave in their wake.
//!
//! Data flows one way; a layer imports only layers to its left:
//!
//! ```text
//! platform ─▶ model ─▶ analysis ─▶ table ─▶ app ─▶ view
//!  (reads      (plain   (pure:      (columns  (state,  (draws)
//!   the OS)     data)    judges)     of both)  pure)
//!         catalog ─▶ intake ┘          └─▶ report ─▶ cli
//!         (rules)    (reads clients' files)  (JSON, tables)
//! doctor: starts children of its own and compares what the layers above say of them with what it knows
//! model ─▶ journal ─▶ store
//!          (pure:     (incident directories: the only files that last;
//!           entries,   its Receipt is what platform wants before a signal)
//!           chain, record)
//! ```
//!
//! # Architecture invariants
//!
//! - `model` holds no `cfg(target_os)`: the operating system is data in the sample.
//! - `analysis` and `catalog` do no I/O: the same sample gives the same judgement, anywhere.
//! - `app` does no I/O: `update` answers with effects that `runtime` carries out.
//! - `view` gets `&App` and draws; it can only draw text that went through `text::Safe`.
//! - `journal` does no I/O: `store` hands it bytes. Whoever cannot show a `store::Receipt` sends no signal.
//! - `unsafe` stands only in `platform`, with a SAFETY comment.
//! - Nothing opens, duplicates, locks, traces or stops a descriptor of another process.
//! - No module but `platform` knows which system it was compiled for.

pub mod analysis;
pub mod app;
pub mod catalog;
pub mod cli;
pub mod doctor;
pub mod intake;
pub mod journal;
pub mod model;
pub mod platform;
pub mod report;
pub mod runtime;
pub mod store;
pub mod table;
pub mod text;
pub mod view;
