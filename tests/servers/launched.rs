//! TERM to a server behind npx: what becomes of it, and of the chain that started it.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};

use crate::desk::{State, code};
use crate::situations::severed_through_npx;

pub(crate) fn trial() -> Trial {
    Trial::test("term_to_a_severed_server_behind_npx", ends_with_its_launchers)
}

fn ends_with_its_launchers() -> Result<(), Failed> {
    let session = severed_through_npx()?;
    let [npm, shell, server] = session.pids()[..] else {
        return Err(format!("not three: {:?}", session.pids()).into());
    };
    let comm = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
    let comms: BTreeMap<u32, String> = [npm, shell]
        .into_iter()
        .map(|pid| (pid, comm(pid).trim_end().to_owned()))
        .collect();
    let kept = State::new();
    let mut desk = kept.start();
    desk.selects(server, "SEVERED");
    // The server's row, not that of the process below it: its launchers are offered with it.
    desk.key("g");
    desk.key("j");
    desk.asks_to_end(server);
    desk.sees(&format!("[ ] {npm} launcher"));
    desk.sees(&format!("[ ] {shell} launcher"));
    desk.sees("NOT DONE, o = go on without: revoke a");
    desk.key("o");
    desk.sees("PASSED OVER, to be journalled");
    desk.confirms(&code(server));
    desk.sees(&format!("TERM everything {server}: exited after "));
    desk.journals_signals(&[
        format!("about_to_signal TERM {server}"),
        format!("sent TERM {server}"),
        format!("outcome TERM {server} exited"),
    ]);
    desk.quits();
    kept.verifies();
    // Whoever waited for it ends with it, and is named; in the record, where no line is wrapped.
    let record = kept.markdown();
    if !record.contains("; nothing left") {
        return Err(format!("something is left:\n{record}").into());
    }
    for launcher in [npm, shell] {
        let comm = comms[&launcher].replace('@', "@<!-- -->");
        let wanted = format!("launcher {comm} {launcher}");
        if !record.contains(&wanted) {
            return Err(format!("no {wanted:?} in\n{record}").into());
        }
    }
    Ok(())
}
