//! Compares what NVIDIA's assembler accepts and refuses with what loading a module here does, for the
//! grammar's forms, the recorded ones, and mutations of them. See `tests/judge/README.md` for its use.

#[path = "../../tests/all/support/change.rs"]
mod choice;
#[path = "../../tests/all/support/grammar.rs"]
#[allow(dead_code, reason = "the tests that share this file use the rest")]
mod grammar;
#[path = "../../tests/all/support/matrix.rs"]
mod matrix;

mod case;
mod change;
mod differences;
mod ours;
mod ptxas;
mod source;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use case::{Case, Setting};
use choice::hash;
use ours::Verdict;
use ptxas::Ptxas;

/// Instructions per call of the assembler.
const BATCH: usize = 800;
/// The newest PTX version of the assembler that the older rows of differences were written with.
const PINNED: case::Version = (9, 0);
/// Number of differences per form that the report shows.
const SHOWN: usize = 3;

/// The options on the command line.
struct Options {
    ptxas: PathBuf,
    /// Only one case in this many is tried.
    share: u64,
    seed: u64,
    /// Only instructions that contain this text.
    only: String,
    /// File that receives every difference.
    out: Option<PathBuf>,
    assemble: bool,
    /// No mutations of instructions.
    plain: bool,
    /// Only lists the cases.
    list: bool,
    /// Number of differences outside the table that are tolerated.
    at_most: usize,
    /// A file written by `--out`: only its cases are tried.
    again: Option<PathBuf>,
}

const USAGE: &str = "usage: verdicts PTXAS [--share N] [--seed N] [--only TEXT] [--out FILE] [--plain] [--assemble] [--list] [--at-most N] [--again FILE]";

fn options() -> Option<Options> {
    let mut words = std::env::args().skip(1);
    let ptxas = words.next().filter(|w| !w.starts_with('-'))?.into();
    let mut options = Options {
        ptxas,
        share: 1,
        seed: 1,
        only: String::new(),
        out: None,
        assemble: false,
        plain: false,
        list: false,
        at_most: 0,
        again: None,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--share" => options.share = words.next()?.parse().ok().filter(|n| *n > 0)?,
            "--seed" => options.seed = words.next()?.parse().ok()?,
            "--only" => options.only = words.next()?,
            "--out" => options.out = Some(words.next()?.into()),
            "--assemble" => options.assemble = true,
            "--plain" => options.plain = true,
            "--list" => options.list = true,
            "--again" => options.again = Some(words.next()?.into()),
            "--at-most" => options.at_most = words.next()?.parse().ok()?,
            _ => return None,
        }
    }
    Some(options)
}

/// Both verdicts of a case.
struct Compared {
    case: Case,
    ours: Verdict,
    ptxas: Option<String>,
}

impl Compared {
    fn ptxas_word(&self) -> &'static str {
        if self.ptxas.is_some() { "refused" } else { "accepted" }
    }

    /// An unsupported instruction is refused by name, which agrees with a refusal.
    fn agree(&self) -> bool {
        (self.ours == Verdict::Accepted) == self.ptxas.is_none()
    }
}

fn compare(ptxas: &Ptxas, cases: Vec<Case>) -> Vec<Compared> {
    let mut by_setting: BTreeMap<Setting, Vec<Case>> = BTreeMap::new();
    for case in cases {
        by_setting.entry(case.setting.clone()).or_default().push(case);
    }
    let batches: Vec<(&Setting, &[Case])> =
        by_setting.iter().flat_map(|(s, list)| list.chunks(BATCH).map(move |b| (s, b))).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (next, done, batches) = (&next, &done, &batches);
            scope.spawn(move || {
                while let Some((setting, batch)) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let list: Vec<&Case> = batch.iter().collect();
                    let theirs = ptxas.judge(worker, setting, &list);
                    let pairs = batch.iter().zip(theirs);
                    let mut both: Vec<Compared> = pairs
                        .map(|(case, ptxas)| Compared { case: case.clone(), ours: ours::judge(case), ptxas })
                        .collect();
                    // Some messages name another line than the one at fault, so where the verdicts differ,
                    // judge the case by itself.
                    for c in both.iter_mut().filter(|c| !c.agree()) {
                        c.ptxas = ptxas.judge(worker, setting, &[&c.case]).pop().flatten();
                    }
                    done.lock().expect("no worker panics").extend(both);
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no worker panics");
    done.sort_by_cached_key(|c: &Compared| (c.case.origin.clone(), c.case.name()));
    done
}

/// The cases in a file of differences.
fn again(path: &std::path::Path) -> Result<Vec<Case>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let case = |line: &str| {
        let mut columns = line.split('\t');
        let (version, target) = columns.next()?.split_once(' ')?;
        let (major, minor) = version.split_once('.')?;
        let setting = Setting::new((major.parse().ok()?, minor.parse().ok()?), target);
        let instruction = columns.next()?.to_owned();
        let origin = columns.next_back()?.into();
        Some(Case { setting, instruction, origin, change: "again" })
    };
    text.lines()
        .map(|l| case(l).ok_or_else(|| format!("{}: not a line written by `--out`: {l}", path.display())))
        .collect()
}

fn run(options: &Options) -> Result<bool, String> {
    let folder = tempfile::Builder::new().prefix("anywarp-verdicts-").tempdir();
    let folder = folder.map_err(|e| format!("cannot create a folder for the assembler's files: {e}"))?;
    let ptxas = Ptxas::new(&options.ptxas, folder.path().to_path_buf(), options.assemble)?;
    let mut cases = match &options.again {
        Some(path) => again(path)?,
        None => source::cases(ptxas.newest, options.seed, options.plain),
    };
    cases.retain(|c| {
        let name = c.name();
        name.contains(&options.only)
            && (options.share == 1 || hash(options.seed, &name).is_multiple_of(options.share))
    });
    if options.list {
        cases.iter().for_each(|c| println!("{}", c.name()));
        return Ok(true);
    }
    // Skip rows about PTX versions that the assembler does not know yet.
    let mut rows = differences::read()?;
    rows.retain(|r| r.since <= ptxas.newest);
    let examples = compare(&ptxas, rows.iter().map(|r| r.example.clone()).collect());
    let compared = compare(&ptxas, cases);
    let mut right = true;
    for row in &rows {
        let found = examples.iter().find(|c| c.case.name() == row.example.name());
        // A newer assembler may have adopted the manual's rule.
        if row.since <= PINNED && ptxas.newest > PINNED {
            continue;
        }
        if !found.is_some_and(|c| c.ours.word() == row.ours && c.ptxas_word() == row.ptxas) {
            right = false;
            println!("differences.tsv:{}: the example no longer differs", row.line);
            if let Some(c) = found {
                println!("    ours: {} {}", c.ours.word(), c.ours.message());
                println!("    ptxas: {} {}", c.ptxas_word(), c.ptxas.as_deref().unwrap_or_default());
            }
        }
    }
    right &= report(options, &rows, &compared)?;
    Ok(right)
}

/// Prints the differences that are not in the table. Returns false if there are any.
fn report(options: &Options, rows: &[differences::Row], compared: &[Compared]) -> Result<bool, String> {
    let mut file = match &options.out {
        Some(path) => Some(std::fs::File::create(path).map_err(|e| format!("{}: {e}", path.display()))?),
        None => None,
    };
    let (mut agreed, mut deliberate) = (0usize, vec![0usize; rows.len()]);
    let (mut differ, mut untold) =
        (BTreeMap::<_, Vec<&Compared>>::new(), BTreeMap::<_, Vec<&Compared>>::new());
    for c in compared {
        if let Verdict::Refused { untold: Some(what), .. } = &c.ours {
            untold.entry(*what).or_default().push(c);
        }
        if c.agree() {
            agreed += 1;
            continue;
        }
        let name = c.case.name();
        let row = rows.iter().position(|r| {
            r.ours == c.ours.word() && r.ptxas == c.ptxas_word() && differences::matches(&r.pattern, &name)
        });
        if let Some(n) = row {
            deliberate[n] += 1;
            continue;
        }
        differ.entry((c.ptxas_word(), c.case.origin.clone())).or_default().push(c);
        if let Some(file) = &mut file {
            let ours = format!("{}\t{}", c.ours.word(), c.ours.message());
            let ptxas = format!("{}\t{}", c.ptxas_word(), c.ptxas.as_deref().unwrap_or_default());
            writeln!(
                file,
                "{}\t{}\t{}\t{ours}\t{ptxas}\t{}",
                c.case.setting, c.case.instruction, c.case.change, c.case.origin
            )
            .map_err(|e| e.to_string())?;
        }
    }
    for ((word, origin), list) in &differ {
        println!("ptxas {word}, of `{origin}`, {}:", list.len());
        for c in list.iter().take(SHOWN) {
            println!("    {}", c.case.name());
            println!("        ours: {} {}", c.ours.word(), c.ours.message());
            println!("        ptxas: {} {}", c.ptxas_word(), c.ptxas.as_deref().unwrap_or_default());
        }
    }
    for (what, list) in &untold {
        println!("refused without saying {what}, {}:", list.len());
        for c in list.iter().take(SHOWN) {
            println!("    {}\n        {}", c.case.name(), c.ours.message());
        }
    }
    let count = |list: &BTreeMap<_, Vec<&Compared>>| list.values().map(Vec::len).sum::<usize>();
    let differing: usize = differ.values().map(Vec::len).sum();
    println!(
        "{} verdicts: {agreed} agree, {} differ as listed in the table, {differing} differ otherwise; {} refusals tell too little",
        compared.len(),
        deliberate.iter().sum::<usize>(),
        count(&untold),
    );
    Ok(differing <= options.at_most && untold.is_empty())
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
