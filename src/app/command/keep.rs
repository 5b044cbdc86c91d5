//! The commands that bring an incident to its end.

use super::Section::Keep;
use super::table::{entry, with};
use super::{Command, CommandSpec};
use crate::app::available;
use crate::app::key::Key;

pub(super) const LOOK_AGAIN: CommandSpec = with(
    entry(
        Command::LookAgain,
        "look-again",
        &[Key::Alt('l')],
        Keep,
        "look again at signals without an outcome; the journal says what is found",
    ),
    None,
    available::incident,
);

pub(super) const CLOSE_INCIDENT: CommandSpec = with(
    entry(
        Command::CloseIncident,
        "close-incident",
        &[Key::Alt('i')],
        Keep,
        "close the incident; asks what is left to be done",
    ),
    None,
    available::incident,
);
