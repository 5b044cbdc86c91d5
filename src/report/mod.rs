//! Headless output: the published JSON formats and tables for a pipe.
