//! Filtering and searching by key.

use super::*;

#[test]
fn a_filter_keeps_ancestors_and_gives_the_selection_back() {
    let mut app = live_app();
    press(&mut app, "/ finding:held");
    assert_eq!(rows(&app), ["init 1", "  scrape 50113"]);
    assert_eq!(selected(&app), "scrape 50113");
    press(&mut app, "<esc>");
    assert_eq!(selected(&app), "git 48271");
    assert_eq!(app.filter().text(), "");
}

#[test]
fn filters_are_typed_kept_and_cleared_one_step_at_a_time() {
    let mut app = live_app();
    press(&mut app, "<f4> user:guest <enter>");
    assert_eq!(
        rows(&app),
        [
            "unknown, of user guest",
            "  tools x2",
            "    tools 70001",
            "    tools 70002"
        ]
    );
    press(&mut app, "<esc>");
    assert_eq!(app.filter().text(), "");
    assert!(rows(&app).len() > 10);
    assert_eq!(press(&mut app, "<esc> <esc>"), [], "back never ends the program");
}

#[test]
fn a_filter_finds_by_pid_of_members_and_by_command_line() {
    let mut app = live_app();
    press(&mut app, "/ pid:48290 <enter>");
    assert_eq!(rows(&app), ["init 1", "  git 48271", "    ssh 48290"]);
    press(&mut app, "/ <c-u> controlmaster");
    assert_eq!(rows(&app), ["init 1", "  git 48271", "    ssh 48290"]);
}

#[test]
fn a_session_is_found_by_the_identifiers_of_members() {
    let mut scene = live();
    let helper = scene.edit(48_290);
    let mut environment = helper.environment.value().cloned().unwrap_or_default();
    environment
        .identifiers
        .insert("CLAUDE_CODE_SESSION_ID".to_owned(), "5F0E-abc".into());
    helper.environment = crate::model::reading::Reading::Value(environment);
    let mut app = app_of(scene);
    press(&mut app, "/ session:5f0e");
    assert_eq!(rows(&app), ["init 1", "  git 48271", "    ssh 48290"]);
}

#[test]
fn a_search_moves_hides_nothing_and_goes_on() {
    let mut app = live_app();
    let before = rows(&app).len();
    press(&mut app, "<f3> playwright <enter>");
    assert_eq!(selected(&app), "playwright x50");
    assert!(rows(&app).len() > before, "what hid the match was unfolded");
    press(&mut app, "n");
    assert_eq!(selected(&app), "playwright 10000");
    press(&mut app, "N N");
    assert_eq!(selected(&app), "playwright 10049");
    press(&mut app, "<f3> zzz");
    assert_eq!(app.status(), Some("no match of \"zzz\""));
    press(&mut app, "<esc> n");
    assert_eq!(app.status(), Some("next-match: search first: F3"));
}
