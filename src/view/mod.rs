//! Draws the state: reads `App`, changes nothing, does no I/O.
