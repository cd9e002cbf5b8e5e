//! The layers of ARCHITECTURE.md, kept: a file imports only from layers with a smaller number and from its own folder.
//!
//! Reads every file under src as text, and names file and line of each breach. Paths are found wherever they stand
//! (`use crate::a::{b, c}`, `crate::a::b()`, `super::super::a`), outside comments and strings. Unit tests (from
//! `#[cfg(test)]` on) may look wherever they like. The same reading checks where `.await` may stand: the middle does
//! no I/O.

use std::fs;
use std::path::{Path, PathBuf};

/// Top-level modules by layer; within one layer they don't know each other.
const LAYERS: &[(&str, &[&str])] = &[
    ("0", &["limits", "metrics", "address", "buffers"]),
    ("1", &["slot", "mailbox", "resp", "socket"]),
    ("2", &["command", "topology"]),
    ("3", &["trip"]),
    ("3a", &["clock"]),
    ("3b", &["turn"]),
    ("4", &["session", "plan", "reassembly", "engine"]),
    ("5", &["lane"]),
    ("6", &["client", "instances", "scale", "admin", "control"]),
    ("7", &["config"]),
    ("8", &["worker", "lab", "banner"]),
    ("9", &["proxy", "cli"]),
    ("10", &["main", "lib"]),
];

/// Where tasks live that wait: whole modules, or files of one.
const MAY_AWAIT: &[&str] = &[
    "client/accept",
    "client/connection",
    "client/pinned",
    "client/pubsub",
    "lane/remote",
    "lane/dial",
    "lane/embedded",
    "instances/",
    "scale/",
    "admin/",
    "control/",
    "socket",
    "worker",
    "proxy",
    "lab/",
    "main",
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, modules)| modules.contains(&module))
}

/// All Rust files under `dir`, by path relative to it.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path.strip_prefix(dir).expect("below it").to_path_buf());
            }
        }
    }
    found.sort();
    found
}

/// The code of a file with comments, strings and unit tests blanked, lines kept.
fn code_of(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut code = String::new();
    for line in text.lines() {
        let mut in_string = false;
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' if in_string => drop(chars.next()),
                '"' => in_string = !in_string,
                '\'' if chars.peek() == Some(&'"') => drop(chars.next()),
                '/' if !in_string && chars.peek() == Some(&'/') => break,
                c if !in_string => code.push(c),
                _ => {}
            }
        }
        code.push('\n');
    }
    code
}

/// First names behind a path's root at `code[at..]`: one, or all of a braced list.
fn names_at(rest: &str) -> Vec<String> {
    let identifier = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(list) = rest.strip_prefix('{') else { return vec![identifier(rest)] };
    let (mut names, mut depth, mut item) = (Vec::new(), 0, String::new());
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(identifier(&std::mem::take(&mut item)));
                continue;
            }
            _ => {}
        }
        item.push(c);
    }
    names.push(identifier(&item));
    names.retain(|name| !name.is_empty());
    names
}

/// Modules of the crate's root that a file names, with line numbers.
fn imports(code: &str, file: &Path) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    // A file's parents up to the root: src/a.rs and src/a/mod.rs are one step below it, src/a/b.rs two.
    let inner = file.components().count() - usize::from(file.ends_with("mod.rs"));
    let roots = ["crate::".to_owned(), "super::".repeat(inner)];
    for root in &roots {
        for (at, _) in code.match_indices(root.as_str()) {
            let before = code[..at].chars().next_back();
            let continues = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
            if !continues {
                let line = code[..at].matches('\n').count() + 1;
                found.extend(names_at(&code[at + root.len()..]).into_iter().map(|name| (line, name)));
            }
        }
    }
    found
}

/// Every breach in the files under `src`, as file:line and reason.
fn breaches(src: &Path) -> Vec<String> {
    let mut breaches = Vec::new();
    for file in sources(src) {
        let name = file.with_extension("").display().to_string();
        let own = name.split('/').next().unwrap_or_default();
        let place = format!("src/{}", file.display());
        let Some(own_layer) = layer(own) else {
            breaches.push(format!("{place}:1: {own} has no layer"));
            continue;
        };
        let code = code_of(&fs::read_to_string(src.join(&file)).expect("a source file"));
        for (line, module) in imports(&code, &file) {
            match layer(&module) {
                _ if module == own => {}
                Some(other) if other < own_layer => {}
                Some(other) => breaches.push(format!(
                    "{place}:{line}: {own} (layer {}) imports {module} (layer {})",
                    LAYERS[own_layer].0, LAYERS[other].0
                )),
                // The library's root may give names of its own; it is the last layer.
                None => breaches.push(format!("{place}:{line}: {module} has no layer")),
            }
        }
        let may_await = MAY_AWAIT.iter().any(|start| name.starts_with(start));
        for (at, _) in code.match_indices(".await").filter(|_| !may_await) {
            let line = code[..at].matches('\n').count() + 1;
            breaches.push(format!("{place}:{line}: .await in {own}, which does no I/O"));
        }
    }
    breaches
}

#[test]
fn files_import_from_lower_layers_only() {
    let found = breaches(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn breaches_are_found_wherever_they_stand() {
    let dir = tempfile::TempDir::new().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        fs::write(path, text).expect("a file can be written");
    };
    write("slot.rs", "// use crate::lane::A;\nuse crate::limits::B;\nlet s = \"crate::lane\";\n");
    write("resp/mod.rs", "use crate::{\n    limits, metrics::{A, B},\n    plan::C,\n};\n");
    write("resp/write.rs", "use super::value;\nuse crate::resp::A;\nfn f() { crate::slot::g() }\n");
    write("lane/set.rs", "use super::super::client::A;\nfn f() { g().await }\n");
    write("engine/get.rs", "use crate::resp::A;\n#[cfg(test)]\nmod tests { use crate::proxy::B; }\n");
    write("odd.rs", "");
    assert_eq!(
        breaches(dir.path()),
        [
            "src/lane/set.rs:1: lane (layer 5) imports client (layer 6)",
            "src/lane/set.rs:2: .await in lane, which does no I/O",
            "src/odd.rs:1: odd has no layer",
            "src/resp/mod.rs:1: resp (layer 1) imports plan (layer 4)",
            "src/resp/write.rs:3: resp (layer 1) imports slot (layer 1)",
        ]
    );
}
