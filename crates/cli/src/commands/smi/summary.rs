//! The table that is printed without options. Scripts look for its lines and words by place, so its shape is
//! that of nvidia-smi.

use driver::inventory::NVIDIA_DRIVER;

use super::look::{Gpu, Look, mib, program};
use super::{cuda_version, fields};

/// Characters of the columns of devices, without the spaces around them.
const COLUMNS: [usize; 3] = [39, 22, 20];
/// Characters of a line, without the spaces around it.
const WIDTH: usize = 87;
/// Characters of a device's and of a process's name.
const NAME: usize = 30;
const PROCESS: usize = 34;

/// The table.
pub fn print(look: &Look<'_>) -> String {
    let mut out = vec![look.time(c"%a %b %e %H:%M:%S %Y"), rule('-', '+', &[WIDTH])];
    let title = concat!("Anywarp SMI ", env!("CARGO_PKG_VERSION"), " (independent)");
    let driver = format!("Driver Version: {NVIDIA_DRIVER}");
    out.push(whole(&format!("{title:<34}{driver:<31}CUDA Version: {}", cuda_version())));
    out.push(rule('-', '+', &COLUMNS));
    let name = name_and_state("GPU  Name", "Persistence-M");
    out.push(row([&name, "Bus-Id          Disp.A", "Volatile Uncorr. ECC"]));
    out.push(row(["Fan  Temp   Perf          Pwr:Usage/Cap", "Memory-Usage", "GPU-Util  Compute M."]));
    out.push(row(["", "", "MIG M."]));
    out.push(rule('=', '|', &COLUMNS));
    for gpu in &look.gpus {
        out.extend(device(gpu));
        out.push(rule('-', '+', &COLUMNS));
    }
    out.push(String::new());
    out.push(rule('-', '+', &[WIDTH]));
    out.push(whole("Processes:"));
    out.push(whole(&process(["GPU", "GI", "CI", "PID", "Type", "Process name", "GPU Memory"])));
    out.push(whole(&process(["", "ID", "ID", "", "", "", "Usage"])));
    out.push(rule('=', '|', &[WIDTH]));
    let before = out.len();
    for gpu in &look.gpus {
        for client in gpu.clients() {
            let name = shortened(&program(client), PROCESS);
            let (index, id) = (gpu.index.to_string(), client.process.to_string());
            let used = format!("{}MiB", mib(client.used));
            out.push(whole(&process([&index, "N/A", "N/A", &id, "C", &name, &used])));
        }
    }
    if out.len() == before {
        out.push(whole(" No running processes found"));
    }
    out.push(rule('-', '+', &[WIDTH]));
    out.join("\n") + "\n"
}

/// The three lines of a device.
fn device(gpu: &Gpu<'_>) -> [String; 3] {
    let mut name = gpu.info.name.clone();
    if name.chars().count() > NAME {
        name = name.chars().take(NAME - 3).chain("...".chars()).collect();
    }
    let memory = gpu.memory();
    let used = format!("{:>7}MiB / {:>6}MiB", mib(memory.used), mib(memory.total));
    let busy = gpu.utilisation().map_or("N/A".into(), |percent| format!("{percent}%"));
    [
        row([
            &format!("{:>3}  {name:<NAME$} Off", gpu.index),
            &format!("{:>18} Off", gpu.info.bus_id()),
            fields::NONE,
        ]),
        row(["N/A   N/A    N/A             N/A /  N/A", &used, &format!("{busy:>7}      Default")]),
        row(["", "", fields::NONE]),
    ]
}

/// Two words at the ends of the first column.
fn name_and_state(name: &str, state: &str) -> String {
    let [width, ..] = COLUMNS;
    format!("{name}{state:>rest$}", rest = width - name.len())
}

fn row(cells: [&str; 3]) -> String {
    let ([a, b, c], [name, address, state]) = (COLUMNS, cells);
    format!("| {name:<a$} | {address:>b$} | {state:>c$} |")
}

fn whole(text: &str) -> String {
    format!("| {text:<WIDTH$} |")
}

fn process([gpu, gi, ci, id, kind, name, memory]: [&str; 7]) -> String {
    format!("{gpu:>4}   {gi:<3}  {ci:<3} {id:>15} {kind:>6}   {name:<PROCESS$} {memory:>11}")
}

/// A line below columns, with these characters at its ends.
fn rule(line: char, end: char, widths: &[usize]) -> String {
    let parts: Vec<String> = widths.iter().map(|width| line.to_string().repeat(width + 2)).collect();
    format!("{end}{}{end}", parts.join("+"))
}

/// The end of a text, after dots if it is longer than `length`.
fn shortened(text: &str, length: usize) -> String {
    let count = text.chars().count();
    if count <= length {
        return text.into();
    }
    "...".chars().chain(text.chars().skip(count - (length - 3))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_as_wide() {
        let wide = WIDTH + 4;
        assert_eq!(COLUMNS.iter().sum::<usize>() + 10, wide);
        for text in [
            whole("x"),
            row(["a", "b", "c"]),
            rule('-', '+', &COLUMNS),
            rule('=', '|', &COLUMNS),
            rule('-', '+', &[WIDTH]),
            whole(&process(["64", "N/A", "N/A", "4194304", "C", &"n".repeat(PROCESS), "1048576MiB"])),
        ] {
            assert_eq!(text.chars().count(), wide, "{text}");
        }
    }

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(shortened("/usr/bin/python3", 10), "...python3");
        assert_eq!(shortened("python3", 10), "python3");
    }
}
