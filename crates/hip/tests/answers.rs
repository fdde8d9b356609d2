//! The answers of the runtime's functions, tested with scripts (`tests/scripts`): codes, the order of checks,
//! and what is written.

mod library;
mod script;

use std::sync::{Mutex, Once, PoisonError};

use script::run;

/// Opens a front. The process has two devices.
fn open(number: u32) -> libloading::Library {
    static DEVICES: Once = Once::new();
    // SAFETY: set before the library is loaded, which alone reads it; nothing else here accesses the
    // environment.
    DEVICES.call_once(|| unsafe { std::env::set_var("ANYWARP_DEVICES", "2") });
    // SAFETY: the front's initialiser opens the library beside it, whose initialisers do nothing.
    unsafe { libloading::Library::new(library::front(number)) }.expect("the front")
}

/// Scripts run one at a time: they free memory twice, and another script's memory may lie at that address.
static TURN: Mutex<()> = Mutex::new(());

/// One test per script.
macro_rules! scripts {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                let name = concat!(stringify!($name), ".txt");
                let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
                let wrong = run(name, include_str!(concat!("scripts/", stringify!($name), ".txt")));
                drop(turn);
                assert!(wrong.is_empty(), "{}", wrong.join("\n"));
            }
        )*

        #[test]
        fn every_script_is_run() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts");
            let mut found: Vec<String> = std::fs::read_dir(folder)
                .expect("the folder")
                .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
                .collect();
            found.sort();
            let mut run = vec![$(concat!(stringify!($name), ".txt")),*];
            run.sort();
            assert_eq!(found, run);
        }
    };
}

scripts!(
    address,
    address_in_5,
    array,
    batch,
    capture,
    copy,
    device,
    entry,
    event,
    external,
    fill,
    graph,
    graph_fill,
    graph_fill_in_7,
    launch,
    library,
    managed,
    memory,
    peer,
    pointer,
    pointer_in_5,
    pool,
    stream,
    tools,
);
