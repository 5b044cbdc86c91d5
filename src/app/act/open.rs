//! From the key to the dialog: whom the rows mean is fixed at the key, before a title is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Dialog, Intent};
use crate::analysis;
use crate::app::App;
use crate::app::effect::{Effect, Order};
use crate::app::keep::{self, Then};
use crate::app::popup::{Content, Popup};
use crate::model::act::Signal;
use crate::model::plan::Chosen;
use crate::table::{RowId, Shown, cells};

/// Opens the dialog for the marked rows, else for the selected one; asks a title first where no
/// incident is open. While signals are under way it shows these.
pub(in crate::app) fn open(app: &mut App, signal: Option<Signal>) -> Vec<Effect> {
    if app.act.under_way().is_some() {
        app.popup = Some(Popup::new(Content::Acting));
        return Vec::new();
    }
    let intent = match intent(app, signal) {
        Ok(intent) => intent,
        Err(why) => {
            app.say(why);
            return Vec::new();
        }
    };
    if app.keep.is_open() {
        return begin(app, intent);
    }
    keep::ask(app, Then::Signal(Box::new(intent)))
}

/// Shows the dialog and has the targets read again.
pub(in crate::app) fn begin(app: &mut App, intent: Intent) -> Vec<Effect> {
    let job = app.next_job();
    let targets = intent.plan.items.iter().map(|item| item.target.clone());
    let order = Order::Look(targets.collect());
    let dialog = Dialog {
        now: Arc::clone(&intent.world),
        intent,
        looking: Some(job),
        read_at: None,
        way: None,
        lost: BTreeMap::new(),
        at: 0,
        input: String::new(),
        passed_over: Vec::new(),
        continues: false,
        asks_again: false,
        scrolled: 0,
    };
    app.popup = Some(Popup::new(Content::Act(Box::new(dialog))));
    vec![Effect::Desk(job, order)]
}

fn intent(app: &App, signal: Option<Signal>) -> Result<Intent, String> {
    let (Some(world), Some(shown)) = (app.feed.shown(), app.shown()) else {
        return Err("the first sample is not there yet".to_owned());
    };
    let selected = app.nav.node().map(|node| &node.id);
    let chosen: Vec<Chosen> = if app.marks.is_empty() {
        let one = selected.and_then(chosen);
        vec![one.ok_or("this row counts several: select one below it, or mark some with Space")?]
    } else {
        app.marks.iter().filter_map(chosen).collect()
    };
    let plan = analysis::plan::plan(world, &chosen).map_err(|why| format!("no signal: {}", why.words()))?;
    let not_meant = selected
        .filter(|id| !app.marks.is_empty() && !app.marks.contains(id))
        .map(|_| app.label());
    Ok(Intent {
        world: Arc::clone(world),
        plan,
        signal,
        hidden: hidden(app, shown),
        not_meant,
    })
}

fn chosen(id: &RowId) -> Option<Chosen> {
    match id {
        RowId::Instance(id) => Some(Chosen::Instance(*id)),
        RowId::Process(key) => Some(Chosen::Process(*key)),
        RowId::Owner(_) | RowId::Kind(..) => None,
    }
}

/// How the marked rows are called that cannot be seen.
fn hidden(app: &App, shown: Shown<'_>) -> Vec<String> {
    let tree = app.nav.tree();
    app.hidden_marks()
        .map(|id| match tree.find(id).and_then(|at| tree.node(at)) {
            Some(node) => cells::label(shown, node).into_string(),
            None => match id {
                RowId::Instance(id) => id.0.pid.to_string(),
                RowId::Process(key) => key.pid.to_string(),
                RowId::Owner(_) | RowId::Kind(..) => String::new(),
            },
        })
        .collect()
}
