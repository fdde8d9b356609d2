//! `anywarp prof`: what it tells of a program, its threads and the programs that it starts.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{ANYWARP, Folder, root, succeed};
use serde_json::Value;

/// Launches two kernels from two threads, with copies, a fill, a host function and a wait between streams.
const PROGRAM: &str = include_str!("../cmd/prof.c");

/// Names ranges by NVTX.
const RANGES: &str = include_str!("../cmd/nvtx.c");

/// Compiles a program into a folder.
fn compiled(folder: &Folder, text: &str) -> PathBuf {
    let (source, program) = (folder.0.join("program.c"), folder.0.join("program"));
    fs::write(&source, text).expect("written");
    let info = succeed(Command::new(ANYWARP).args(["info", "--json"]));
    let info: Value = serde_json::from_str(&info).expect("JSON");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-D_GNU_SOURCE", "-pthread", "-I"]).arg(root().join("include")).arg("-o");
    succeed(cc.arg(&program).arg(&source).arg(info["driver"].as_str().expect("the driver is built")));
    program
}

fn prof(options: &[&str], program: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(ANYWARP);
    command.arg("prof").args(options).arg("--").arg(program).args(arguments);
    command.output().expect("the command starts")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The figures of a run, which has written them to standard output.
fn figures(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", told(output)))
}

/// Checks what one run of the program has recorded.
fn check_process(process: &Value) {
    let kernels = process["kernels"].as_array().expect("kernels");
    let kernel = |name: &str| kernels.iter().find(|k| k["name"] == name).expect(name).clone();
    assert_eq!(kernels.len(), 2, "{process}");
    assert_eq!((&kernel("add")["launches"], &kernel("nothing")["launches"]), (&3.into(), &6.into()));
    assert_eq!(kernel("add")["symbol"], "_Z3addPfi");
    for kernel in kernels {
        let time = |key: &str| kernel[key].as_u64().expect("a time");
        let (least, most, total) = (time("least_ns"), time("most_ns"), time("total_ns"));
        assert!(0 < least && least <= most && most < total, "{kernel}");
        assert!(time("code_ns") > 0, "{kernel}");
    }
    let other = process["other"].as_array().expect("copies");
    let work = |kind: &str| {
        let one = other.iter().find(|one| one["kind"] == kind).unwrap_or_else(|| panic!("{kind}: {process}"));
        (one["count"].as_u64().expect("a number"), one["bytes"].as_u64().expect("a number"))
    };
    assert_eq!(work("fill"), (1, 4000));
    assert_eq!(work("copy from host to device"), (1, 4000));
    assert_eq!(work("copy from device to host"), (1, 4000));
    assert_eq!(work("host function"), (1, 0));
    assert_eq!(work("wait").1, 0);
}

#[test]
fn kernels_and_copies_of_all_threads_and_programs() {
    let folder = Folder::new("prof");
    let program = compiled(&folder, PROGRAM);
    let output = prof(&["--json", "-"], &program, &["3"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let all = figures(&output);
    assert_eq!(all["command"][1], "3");
    assert!(all["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    let [process] = &all["processes"].as_array().expect("processes")[..] else { panic!("{all}") };
    assert!(process["program"].as_str().is_some_and(|path| path.ends_with("/program")), "{process}");
    check_process(process);
    // One program runs it twice, once in the shell's own place, so that two programs have one number.
    let script = format!("'{0}' 0 && exec sh -c \"'{0}' 1; exec '{0}' 4\"", program.display());
    let output = prof(&["--json", "-"], Path::new("sh"), &["-c", &script]);
    assert_eq!(output.status.code(), Some(4), "{}", told(&output));
    let all = figures(&output);
    let processes = all["processes"].as_array().expect("processes");
    assert_eq!(processes.len(), 3, "{all}");
    processes.iter().for_each(check_process);
}

/// The driver beneath is one: programs of HIP and of the CUDA runtime are recorded like others.
#[test]
fn programs_of_hip_and_of_the_runtime() {
    let folder = Folder::new("prof-interfaces");
    let check = |program: &Path, arguments: &[&str], kernel: &str, copies: u64| {
        let output = prof(&["--json", "-"], program, arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", told(&output));
        // What the program itself prints comes before.
        let at = text.find("{\n").expect("JSON");
        let all: Value = serde_json::from_str(&text[at..]).expect("JSON");
        let process = &all["processes"][0];
        assert_eq!(process["kernels"][0]["name"], kernel, "{all}");
        let other = process["other"].as_array().expect("copies").iter();
        let to_device = other.filter(|one| one["kind"] == "copy from host to device");
        assert_eq!(to_device.map(|one| one["count"].as_u64().unwrap_or(0)).sum::<u64>(), copies, "{all}");
    };
    let hip = folder.0.join("hip");
    let mut cc = Command::new("c++");
    cc.args(["-std=c++17", "-I"]).arg(root().join("include")).arg("-o").arg(&hip);
    cc.arg(root().join("examples/hip/module.cpp"));
    let info = succeed(Command::new(ANYWARP).args(["info", "--json"]));
    let info: Value = serde_json::from_str(&info).expect("JSON");
    let driver = PathBuf::from(info["driver"].as_str().expect("the driver is built"));
    succeed(cc.arg("-L").arg(driver.parent().expect("a folder")).args(["-lamdhip64", "-lcuda"]));
    check(&hip, &[&root().join("examples/hip/copy.ptx").to_string_lossy()], "copy", 2);
    let runtime = folder.0.join("runtime");
    let mut cc = Command::new(ANYWARP);
    succeed(cc.arg("cc").arg(root().join("examples/cuda/vecadd.cu")).arg("-o").arg(&runtime));
    check(&runtime, &[], "add", 2);
}

/// However a program ends, what it did before is reported.
#[test]
fn a_program_may_end_in_any_way() {
    let folder = Folder::new("prof-ends");
    let program = compiled(&folder, PROGRAM);
    let killed = prof(&["--json", "-"], &program, &["killed"]);
    assert_eq!(killed.status.signal(), Some(libc::SIGKILL), "{}", told(&killed));
    check_process(&figures(&killed)["processes"][0]);
    let left = prof(&["--json", "-"], &program, &["at once"]);
    assert_eq!(left.status.code(), Some(5), "{}", told(&left));
    check_process(&figures(&left)["processes"][0]);
}

/// The program's launches of a kernel have one shape, so one of them is counted and stands for the others.
#[test]
fn operations_and_bytes_are_counted() {
    let folder = Folder::new("prof-counters");
    let program = compiled(&folder, PROGRAM);
    for engine in ["compiled", "interpreter"] {
        let mut command = Command::new(ANYWARP);
        command.args(["prof", "--counters", "--json", "-", "--"]).arg(&program).arg("0");
        let output = command.env("ANYWARP_ENGINE", engine).output().expect("the command starts");
        assert!(output.status.success(), "{}", told(&output));
        let all = figures(&output);
        check_process(&all["processes"][0]);
        let kernels = all["processes"][0]["kernels"].as_array().expect("kernels");
        let add = &kernels.iter().find(|kernel| kernel["name"] == "add").expect("add")["counters"];
        let number = |key: &str| add[key].as_u64().unwrap_or_else(|| panic!("{key}: {add}"));
        assert_eq!(number("counted_launches"), 1, "{engine}: {add}");
        // Three launches, of which 1000 threads each add one number.
        assert_eq!(number("flop"), 3000, "{engine}: {add}");
        assert_eq!((number("loaded_bytes"), number("stored_bytes")), (12_000, 12_000), "{engine}: {add}");
        assert_eq!((number("shared_bytes"), number("barriers")), (0, 0), "{engine}: {add}");
        // Of 32 warps, which all compare, 31 go on with all their lanes and one with eight.
        let (operations, slots) = (number("operations"), number("lane_slots"));
        assert!(operations < slots && slots - operations < slots / 16, "{engine}: {add}");
        for rate in ["gflop_per_second", "gb_per_second"] {
            assert!(add[rate].as_f64().is_some_and(|rate| rate > 0.0), "{engine}: {add}");
        }
    }
    let output = prof(&["--counters"], &program, &["0"]);
    let told = told(&output);
    assert!(output.status.success() && told.contains("GFLOP/s"), "{told}");
    // Without the option there is no such table.
    let output = prof(&["--json", "-"], &program, &["0"]);
    assert!(figures(&output)["processes"][0]["kernels"][0]["counters"].is_null(), "{output:?}");
}

#[test]
fn the_table_is_on_standard_error() {
    let folder = Folder::new("prof-table");
    let program = compiled(&folder, PROGRAM);
    let output = prof(&[], &program, &["0"]);
    let told = told(&output);
    assert!(output.status.success() && output.stdout.is_empty(), "{told}");
    assert!(told.contains(" in 9 launches") && told.contains("copies and fills"), "{told}");
    let row = |name: &str| told.lines().find(|line| line.ends_with(name)).map(str::to_owned);
    for (name, count) in
        [("  add", " 3 "), ("  nothing", " 6 "), ("  fill", " 1 "), ("  host function", " 1 ")]
    {
        assert!(row(name).is_some_and(|row| row.contains(count)), "{name}: {told}");
    }
    assert!(row("copy from host to device").is_some_and(|row| row.contains("3.9 KiB")), "{told}");
}

#[test]
fn programs_that_launch_nothing() {
    let folder = Folder::new("prof-nothing");
    let program = compiled(&folder, PROGRAM);
    let output = prof(&[], &program, &["idle"]);
    assert!(output.status.success() && told(&output).contains("no kernel was launched"), "{output:?}");
    let output = prof(&[], Path::new("true"), &[]);
    assert!(output.status.success() && told(&output).contains("no process used the driver"), "{output:?}");
    let missing = prof(&[], Path::new("./no-such-program"), &[]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(told(&missing).contains("./no-such-program"), "{missing:?}");
}

#[test]
fn signals_pass_through() {
    for signal in [libc::SIGTERM, libc::SIGKILL, libc::SIGSEGV] {
        let output = prof(&[], Path::new("sh"), &["-c", &format!("kill -{signal} $$")]);
        assert_eq!(output.status.signal(), Some(signal), "{}", told(&output));
    }
    // A signal to the command is the program's, which may handle it; the table still follows.
    let script = "trap 'exit 6' TERM; kill -TERM $PPID; while :; do sleep 0.01; done";
    let output = prof(&[], Path::new("sh"), &["-c", script]);
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    assert!(told(&output).contains("Nothing was launched"), "{output:?}");
}

/// The trace is a JSON object with `traceEvents`, each of them metadata or a complete event with the fields
/// that Perfetto reads. On one track, none begins before the one before it has ended.
#[test]
fn a_trace_for_perfetto() {
    let folder = Folder::new("prof-trace");
    let program = compiled(&folder, PROGRAM);
    let file = folder.0.join("trace.json");
    let output = prof(&["--trace", file.to_str().expect("a plain name")], &program, &["0"]);
    assert!(output.status.success(), "{}", told(&output));
    let trace: Value = serde_json::from_slice(&fs::read(&file).expect("written")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list of events");
    let text = |event: &Value, key: &str| event[key].as_str().expect(key).to_owned();
    let mut ends = std::collections::HashMap::new();
    let mut names = Vec::new();
    for event in events {
        assert!(event["pid"].is_u64() && event["tid"].is_u64(), "{event}");
        match &*text(event, "ph") {
            "M" => assert!(
                matches!(&*text(event, "name"), "process_name" | "thread_name" | "thread_sort_index")
                    && event["args"].is_object(),
                "{event}"
            ),
            "X" => {
                let (from, time) = (event["ts"].as_f64().expect("ts"), event["dur"].as_f64().expect("dur"));
                let end = ends.insert(event["tid"].as_u64(), from + time).unwrap_or(0.0);
                // Thousandths are nanoseconds.
                assert!(time >= 0.0 && from + 0.0005 >= end, "{event}");
                names.push(text(event, "name"));
            }
            other => panic!("{other}: {event}"),
        }
    }
    let count = |name: &str| names.iter().filter(|known| *known == name).count();
    assert_eq!([count("add"), count("nothing"), count("host function"), count("fill")], [3, 6, 1, 1]);
    let find = |name: &str| events.iter().find(|event| event["name"] == name).expect(name);
    let add = find("add");
    assert_eq!(add["args"]["grid"], serde_json::json!([4, 1, 1]));
    assert_eq!(add["args"]["block"], serde_json::json!([256, 1, 1]));
    assert_eq!(add["args"]["dynamic shared bytes"], 64);
    assert_eq!(find("fill")["args"]["bytes"], 4000);
    // The default stream, two streams of the first thread and one of the second.
    let tracks = events.iter().filter(|event| event["name"] == "thread_name").count();
    assert_eq!(tracks, 4, "{trace}");
}

/// Without the command nothing is recorded, and a folder that is not private is refused.
#[test]
fn a_folder_must_be_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("prof-folder");
    let program = compiled(&folder, PROGRAM);
    let recorded = folder.0.join("recorded");
    let run = || {
        let mut command = Command::new(ANYWARP);
        command.args(["run", "--"]).arg(&program).arg("0").env("ANYWARP_PROFILE", &recorded);
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        told(&output)
    };
    assert!(run().contains("ANYWARP_PROFILE: nothing is recorded: "), "the folder is not there");
    fs::create_dir(&recorded).expect("created");
    let names = || fs::read_dir(&recorded).expect("there").count();
    fs::set_permissions(&recorded, fs::Permissions::from_mode(0o777)).expect("ours");
    assert!(run().contains("ANYWARP_PROFILE: nothing is recorded: "));
    assert_eq!(names(), 0);
    fs::set_permissions(&recorded, fs::Permissions::from_mode(0o700)).expect("ours");
    assert_eq!(run(), "");
    assert_eq!(names(), 1);
}

/// Ranges and marks of NVTX are reported beside the driver's work.
#[test]
fn ranges_and_marks_of_the_program() {
    let folder = Folder::new("prof-nvtx");
    let program = compiled(&folder, RANGES);
    let trace = folder.0.join("trace.json");
    let output = prof(&["--json", "-", "--trace", trace.to_str().expect("a path")], &program, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let all = figures(&output);
    let [process] = &all["processes"].as_array().expect("processes")[..] else { panic!("{all}") };
    let named = |what: &str| {
        let list = process[what].as_array().expect("a list");
        let one = |item: &Value| Some((item["name"].as_str()?.to_owned(), item["count"].as_u64()?));
        let mut list: Vec<_> = list.iter().map(|item| one(item).expect("a name and a count")).collect();
        list.sort();
        list
    };
    let wanted = [
        ("(no name)", 1),
        ("across threads", 1),
        ("inner", 2),
        ("library: (no name)", 3),
        ("library: step", 1),
        ("outer", 1),
    ];
    assert_eq!(named("ranges"), wanted.map(|(name, count)| (name.to_owned(), count)));
    assert_eq!(named("marks"), [("here".to_owned(), 1)]);
    assert_eq!(process["other"][0]["kind"], "fill");
    // The outer range holds the others of its thread.
    let text = fs::read_to_string(trace).expect("the trace");
    let events: Value = serde_json::from_str(&text).expect("JSON");
    let events = events["traceEvents"].as_array().expect("events");
    let event = |name: &str| events.iter().find(|e| e["name"] == name).unwrap_or_else(|| panic!("{name}"));
    let span = |name: &str| {
        let (from, time) = (event(name)["ts"].as_f64(), event(name)["dur"].as_f64());
        let from = from.expect("a time");
        (from, from + time.expect("a time"))
    };
    let (outer, inner) = (span("outer"), span("inner"));
    assert!(outer.0 <= inner.0 && inner.1 <= outer.1, "{text}");
    assert_eq!(event("outer")["tid"], event("library: step")["tid"]);
    assert_ne!(event("outer")["tid"], event("fill")["tid"]);
    assert_eq!(event("here")["ph"], "i");

    let table = told(&prof(&[], &program, &[]));
    let (_, ranges) = table.split_once("  range\n").expect("a table");
    assert_eq!(ranges.lines().count(), wanted.len(), "{table}");
}

/// The library records only under `anywarp prof`: without it, it tells NVTX that it cannot be used.
#[test]
fn without_a_profile_no_range_is_recorded() {
    let folder = Folder::new("prof-nvtx-off");
    let program = compiled(&folder, RANGES);
    let library = root().join(env!("CARGO_BIN_EXE_anywarp")).with_file_name("lib-anywarp/libanywarp-nvtx.so");
    let mut command = Command::new(ANYWARP);
    command.args(["run", "--"]).arg(&program).env("NVTX_INJECTION64_PATH", library);
    let line =
        1 + RANGES.lines().position(|line| line.contains("start(export_table) == 1")).expect("the line");
    let shown = told(&command.output().expect("the command starts"));
    assert!(shown.starts_with(&format!("line {line}: ")), "{shown}");
}
