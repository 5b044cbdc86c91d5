//! How the lines of the screen are shared out; the same for paging and for drawing.

use super::panes::{Focus, Panes};

/// Smallest screen on which anything is drawn.
pub const SMALLEST: (u16, u16) = (40, 10);

/// From this height on the pane stands below the tree; below, it is shown alone.
const BOTH: u16 = 18;

/// Lines that are kept free below the rows, for what could not be seen.
const NOTES: u16 = 6;

/// Lines of each part, from the top down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Host, clock, counts.
    pub header: u16,
    /// What makes the tree other than usual; 0 where nothing does.
    pub mode: u16,
    /// Column headings.
    pub titles: u16,
    /// Rows of the tree.
    pub tree: u16,
    /// Title and text of the pane.
    pub pane: u16,
    /// Step line, message, or prompt.
    pub step: u16,
    /// Keys.
    pub footer: u16,
}

impl Layout {
    /// Shares out a screen of `height` lines for a tree of `rows` rows: what they leave free goes
    /// to the pane.
    pub fn new(height: u16, rows: usize, panes: &Panes, mode: bool) -> Self {
        let (header, step, footer) = (2, 1, 1);
        let mode = u16::from(mode);
        let rest = height.saturating_sub(header + mode + step + footer);
        let shown = panes.shown().is_some();
        let alone =
            shown && (panes.focus() == Focus::FullPane || (height < BOTH && panes.focus() != Focus::Tree));
        let pane = match (shown, alone) {
            (true, true) => rest,
            (true, false) if height >= BOTH => {
                let usual = height * 10 / 24;
                let wanted = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(NOTES);
                usual.max(rest.saturating_sub(wanted.saturating_add(1)))
            }
            _ => 0,
        };
        let titles = u16::from(!alone);
        Self {
            header,
            mode,
            titles,
            tree: rest.saturating_sub(pane + titles),
            pane,
            step,
            footer,
        }
    }
}

/// Returns whether a screen is too small to draw on.
pub fn too_small(width: u16, height: u16) -> bool {
    width < SMALLEST.0 || height < SMALLEST.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_given_out_once() {
        for height in 10..70 {
            for (enter, mode) in [(0, false), (1, true), (2, false)] {
                let mut panes = Panes::default();
                (0..enter).for_each(|_| panes.enter());
                let layout = Layout::new(height, usize::from(height % 7) * 5, &panes, mode);
                let sum = layout.header
                    + layout.mode
                    + layout.titles
                    + layout.tree
                    + layout.pane
                    + layout.step
                    + layout.footer;
                assert_eq!(sum, height, "{layout:?}");
                assert!(layout.tree >= 4 || layout.pane >= 4, "{layout:?}");
            }
        }
    }
}
