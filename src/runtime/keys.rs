//! Translates the terminal library's events to the screen's own.

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::app::{Event, Key};

/// Returns the event that an input means; `None` for what the screen has no use for.
pub(super) fn translate(input: Input) -> Option<Event> {
    match input {
        Input::Key(key) => translate_key(key).map(Event::Key),
        Input::Paste(text) => Some(Event::Paste(text)),
        Input::Resize(width, height) => Some(Event::Resized { width, height }),
        Input::FocusGained | Input::FocusLost | Input::Mouse(_) => None,
    }
}

fn translate_key(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let key = match key.code {
        KeyCode::Char(letter) if key.modifiers.contains(KeyModifiers::CONTROL) => {
            Key::Ctrl(letter.to_ascii_lowercase())
        }
        KeyCode::Char(letter) if key.modifiers.contains(KeyModifiers::ALT) => Key::Alt(letter),
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Tab if key.modifiers.contains(KeyModifiers::SHIFT) => Key::BackTab,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::F(number) => Key::F(number),
        _ => return None,
    };
    Some(key)
}

#[cfg(test)]
mod tests {
    use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

    use super::translate;
    use crate::app::{Event, Key};

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
        match translate(Input::Key(KeyEvent::new(code, modifiers))) {
            Some(Event::Key(key)) => Some(key),
            _ => None,
        }
    }

    #[test]
    fn modifiers_are_part_of_the_key() {
        assert_eq!(
            key(KeyCode::Char('C'), KeyModifiers::CONTROL),
            Some(Key::Ctrl('c'))
        );
        assert_eq!(key(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Key::Char('G')));
        assert_eq!(key(KeyCode::Tab, KeyModifiers::SHIFT), Some(Key::BackTab));
        assert_eq!(key(KeyCode::Insert, KeyModifiers::NONE), None);
    }

    #[test]
    fn a_released_key_is_no_press() {
        let released = KeyEvent::new_with_kind(KeyCode::Enter, KeyModifiers::NONE, KeyEventKind::Release);
        assert!(translate(Input::Key(released)).is_none());
    }
}
