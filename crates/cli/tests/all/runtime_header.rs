//! `include/cuda_runtime_api.h`, with what it includes, beside the tables of crates/cudart: functions with
//! the same numbers of parameters, status codes, and the layout of `cudaDeviceProp`.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::support::{Folder, root, succeed};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The rows of a table, without comments.
fn rows(path: &str) -> Vec<Vec<String>> {
    let text = read(path);
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The number of parameters in a list that begins after `(`.
fn parameters(list: &str) -> usize {
    let mut depth = 1;
    let mut parts = vec![String::new()];
    for letter in list.chars() {
        match letter {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
        match letter {
            _ if depth == 0 => break,
            ',' if depth == 1 => parts.push(String::new()),
            _ => parts.last_mut().expect("a part").push(letter),
        }
    }
    parts.iter().filter(|part| !matches!(part.trim(), "" | "void")).count()
}

/// The functions that the library's sources define, with their numbers of parameters.
fn defined() -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates/cudart/src/api")).expect("a folder") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("a source");
        for part in text.split(" fn ").skip(1) {
            let Some((head, list)) = part.split_once('(') else { continue };
            for name in head.split('/').map(str::trim) {
                all.insert(name.to_owned(), parameters(list));
            }
        }
    }
    all
}

/// The functions that the headers declare, with their numbers of parameters.
fn declared() -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for header in ["include/cuda_runtime_api.h", "include/cuda_runtime_since_13_1.h"] {
        let text = read(header);
        let from = text.find("extern \"C\" {").expect("the functions");
        let functions = &text[from..text.rfind("#ifdef __cplusplus").expect("their end")];
        for statement in functions.split(';') {
            let Some((head, list)) = statement.split_once('(') else { continue };
            let name = head.rsplit([' ', '*', '\n']).next().expect("a name");
            if name.starts_with("cuda") || name.starts_with("__cuda") {
                all.insert(name.to_owned(), parameters(list));
            }
        }
    }
    all
}

#[test]
fn functions_are_those_of_the_library() {
    let (defined, declared) = (defined(), declared());
    assert!(declared.len() > 120, "{} functions were found", declared.len());
    let exported: Vec<String> = rows("crates/cudart/data/exports.tsv")
        .into_iter()
        .filter(|row| row[1].split(' ').any(|version| version == "13"))
        .map(|row| row[0].clone())
        .collect();
    for (name, count) in &declared {
        assert!(exported.contains(name), "libcudart.so.13 does not export {name}");
        let known = defined.get(name).unwrap_or_else(|| panic!("{name} is declared, but not written"));
        assert_eq!(count, known, "{name}: parameters in the header and in crates/cudart");
    }
}

#[test]
fn status_codes_are_those_of_the_table() {
    let text = read("include/driver_types.h");
    let list =
        text.split_once("typedef enum cudaError {").expect("the codes").1.split_once('}').expect("an end").0;
    let listed: Vec<String> = list.split(',').map(|row| row.split_whitespace().collect()).collect();
    let table: Vec<String> =
        rows("crates/cudart/data/errors.tsv").iter().map(|row| format!("{}={}", row[1], row[0])).collect();
    assert_eq!(listed, table);
}

/// Also shows that a C compiler accepts the header.
#[test]
fn properties_lie_where_the_library_writes_them() {
    let mut text = String::from("#include <cuda_runtime_api.h>\n#include <stdio.h>\nint main(void) {\n");
    let mut wanted = String::new();
    for row in rows("crates/cudart/data/properties.tsv") {
        let (name, at, size) = (&row[0], &row[3], &row[4]);
        if at == "-" {
            continue;
        }
        let field = format!("((struct cudaDeviceProp *)0)->{name}");
        text += &format!(
            "    printf(\"{name} %zu %zu\\n\", offsetof(struct cudaDeviceProp, {name}), sizeof {field});\n"
        );
        wanted += &format!("{name} {at} {size}\n");
    }
    text += "    printf(\"%zu\\n\", sizeof(struct cudaDeviceProp));\n}\n";
    wanted += "1008\n";
    let folder = Folder::new("runtime-header");
    let (source, program) = (folder.0.join("layout.c"), folder.0.join("layout"));
    fs::write(&source, text).expect("written");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root().join("include"));
    succeed(cc.arg("-o").arg(&program).arg(&source));
    assert_eq!(succeed(&mut Command::new(program)), wanted);
}

/// Host code compiles against the header for C++ without a GPU's compiler.
#[test]
fn a_compiler_for_the_host_takes_the_header() {
    for standard in ["-std=c++11", "-std=c++17"] {
        let mut program = Command::new("c++");
        program.args([standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-xc++", "-I"]);
        succeed(program.arg(root().join("include")).arg(root().join("include/cuda_runtime.h")));
    }
}
