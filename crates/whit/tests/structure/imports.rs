//! Which file of a crate uses items of which other files.
//!
//! A file is a module. `use` declarations and paths with `crate::`, `self::`, `super::` or a child module's name are resolved to the
//! file that defines the item: a re-export (`pub use`) leads on to it and is no use by itself. Tests within files do not count.

use std::collections::{BTreeMap, BTreeSet};

/// A module by its path within the crate; the root has an empty path.
pub(crate) type Module = Vec<String>;

/// A `use` declaration's leaf.
struct Use {
    is_public: bool,
    path: Vec<String>,
    name: String,
}

/// The modules of a crate, what they use, and what they re-export.
pub(crate) struct Imports {
    uses: BTreeMap<Module, Vec<Use>>,
}

impl Imports {
    /// From the sources of a crate: paths relative to its `src`, and their texts.
    pub(crate) fn new<'a>(sources: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let texts: BTreeMap<Module, String> =
            sources.map(|(path, text)| (module_of(path), without_tests_and_comments(text))).collect();
        let uses = texts.iter().map(|(module, text)| (module.clone(), uses_of(module, text, &texts)));
        Self { uses: uses.collect() }
    }

    /// For each file the files whose items it uses.
    pub(crate) fn edges(&self) -> BTreeMap<&Module, BTreeSet<&Module>> {
        let edges_of = |module: &Module, uses: &[Use]| {
            let private = uses.iter().filter(|one| !one.is_public);
            private
                .filter_map(|one| self.resolve(module, &one.path, 0))
                .filter(|other| *other != module)
                .collect()
        };
        self.uses.iter().map(|(module, uses)| (module, edges_of(module, uses))).collect()
    }

    /// The file that defines what a path in `module` names; `None` for other crates.
    fn resolve(&self, module: &Module, path: &[String], depth: usize) -> Option<&Module> {
        let path = absolute(module, path, &self.uses)?;
        let length = (0..=path.len()).rev().find(|length| self.uses.contains_key(&path[..*length]))?;
        let (defined_in, uses) = self.uses.get_key_value(&path[..length])?;
        let Some(item) = path.get(length) else { return Some(defined_in).filter(|_| length > 0) };
        let re_export = uses.iter().find(|one| one.is_public && one.name == *item).filter(|_| depth < 8);
        let on = re_export.and_then(|one| {
            let path = [&one.path[..], &path[length + 1..]].concat();
            self.resolve(defined_in, &path, depth + 1)
        });
        on.or(Some(defined_in))
    }
}

/// A cycle among the files, if there is one.
pub(crate) fn cycle<'a>(edges: &BTreeMap<&'a Module, BTreeSet<&'a Module>>) -> Option<Vec<&'a Module>> {
    let mut done = BTreeSet::new();
    edges.keys().find_map(|start| walk(start, edges, &mut Vec::new(), &mut done))
}

fn walk<'a>(
    at: &'a Module,
    edges: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
    path: &mut Vec<&'a Module>,
    done: &mut BTreeSet<&'a Module>,
) -> Option<Vec<&'a Module>> {
    if let Some(first) = path.iter().position(|one| *one == at) {
        return Some(path[first..].to_vec());
    }
    if done.contains(at) {
        return None;
    }
    path.push(at);
    let found = edges[at].iter().find_map(|next| walk(next, edges, path, done));
    path.pop();
    done.insert(at);
    found
}

fn module_of(path: &str) -> Module {
    let mut parts: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_named_by_folder = matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main"));
    if is_named_by_folder {
        parts.pop();
    }
    parts
}

fn without_tests_and_comments(text: &str) -> String {
    let code = text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    let mut code: String = code.collect::<Vec<_>>().join("\n");
    if let Some(at) = code.find("\nmod tests {") {
        code.truncate(at);
    }
    code
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// All `use` declarations and all paths in the code.
fn uses_of(module: &Module, text: &str, modules: &BTreeMap<Module, String>) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut rest = text;
    let mut body = String::new();
    while let Some(at) = find_use(rest) {
        let before = &rest[..at];
        let last_line = before.rsplit('\n').next().unwrap_or_default();
        let is_public = last_line.trim_start().starts_with("pub");
        body.push_str(before);
        let tree = &rest[at + "use ".len()..];
        let end = tree.find(';').unwrap_or(tree.len());
        for (path, name) in leaves(&tree[..end]) {
            uses.push(Use { is_public, path, name });
        }
        rest = &tree[end..];
    }
    body.push_str(rest);
    for path in paths(&body) {
        let is_local = matches!(path[0].as_str(), "crate" | "self" | "super")
            || modules.contains_key(&[&module[..], &path[..1]].concat());
        if is_local {
            uses.push(Use { is_public: false, path, name: String::new() });
        }
    }
    uses
}

/// Where the next `use` begins a declaration.
fn find_use(text: &str) -> Option<usize> {
    text.match_indices("use ").map(|(at, _)| at).find(|at| {
        let line = text[..*at].rsplit('\n').next().unwrap_or_default().trim_start();
        line.is_empty() || line.starts_with("pub") && line.ends_with(' ')
    })
}

/// `a::{b, c::d as e}` as the paths `a::b` and `a::c::d`, each with the name that it gets.
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some((before, inner)) = tree.split_once('{') {
        let inner = inner.trim_end().trim_end_matches('}');
        let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
        for (at, character) in inner.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(&inner[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(&inner[start..]);
        let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
        return parts.flat_map(|part| leaves(&format!("{}{}", before.trim(), part.trim()))).collect();
    }
    let (path, name) = tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name)));
    let mut path: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = name.map_or_else(|| path[path.len() - 1].clone(), |name| name.trim().to_owned());
    vec![(path, name)]
}

/// Paths of two parts or more.
fn paths(text: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for word in text.split(|character: char| !is_word(character) && character != ':') {
        let parts: Vec<String> =
            word.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        if parts.len() > 1 && word.contains("::") {
            paths.push(parts);
        }
    }
    paths
}

/// The path from the crate's root; `None` for other crates.
fn absolute(module: &Module, path: &[String], modules: &BTreeMap<Module, Vec<Use>>) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([&module[..], rest].concat()),
        "super" => {
            let ups = path.iter().take_while(|part| *part == "super").count();
            Some([&module[..module.len().checked_sub(ups)?], &path[ups..]].concat())
        }
        _ => modules.contains_key(&[&module[..], &path[..1]].concat()).then(|| [&module[..], path].concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_cycle(sources: &[(&str, &str)]) -> bool {
        let imports = Imports::new(sources.iter().copied());
        cycle(&imports.edges()).is_some()
    }

    #[test]
    fn a_child_and_a_parent_that_use_each_other_are_a_cycle() {
        let child = ("a/b.rs", "use super::Options;\nfn f(_: Options) {}");
        assert!(has_cycle(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b;\nstruct Options;\nuse b::f;"),
            child
        ]));
        assert!(!has_cycle(&[("lib.rs", "mod a;"), ("a/mod.rs", "mod b;\nstruct Options;"), child]));
    }

    #[test]
    fn a_re_export_leads_to_the_file_that_defines_the_item() {
        let child = ("a/b.rs", "use super::Options;");
        let options = ("a/options.rs", "pub struct Options;");
        let parent = "mod b;\nmod options;\npub use options::Options;\nfn g() { b::f() }";
        assert!(!has_cycle(&[("lib.rs", "mod a;"), ("a/mod.rs", parent), child, options]));
    }

    #[test]
    fn longer_cycles_and_nested_trees_are_seen() {
        let sources = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::{\n    b::{X, Y as Z},\n};"),
            ("b.rs", "fn f() -> crate::c::C {}"),
            ("c.rs", "use std::fmt;\nuse super::a::A;"),
        ];
        assert!(has_cycle(&sources));
        assert!(!has_cycle(&sources[..3]));
    }
}
