//! What manifests and build scripts say about C, which `cargo tree` does not show.

use std::fs;
use std::path::Path;

use super::tree::Crate;
use crate::step::{Outcome, cargo, output};

/// Words of a build script that runs a C compiler itself or links a library. One that has a crate
/// do so needs `cc` or another crate that `deny.toml` denies.
const OF_C: [&str; 8] = [
    "\"cc\"",
    "\"gcc\"",
    "\"clang\"",
    "\"c++\"",
    "\"g++\"",
    "\"make\"",
    "\"cmake\"",
    "rustc-link-lib",
];

/// A package that the workspace can be built from.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Package {
    name: String,
    /// Empty where the workspace states it.
    version: String,
    /// The library that the key `links` names, or empty.
    links: String,
    /// The name of the build script, or empty.
    build: String,
    /// The text of the build script, or empty.
    script: String,
}

impl Package {
    fn is(&self, found: &Crate) -> bool {
        self.name == found.name && (self.version.is_empty() || self.version == found.version)
    }

    /// Says what of the package is C, if anything is.
    fn refusal(&self) -> Option<String> {
        let Package { name, version, links, .. } = self;
        let package = format!("{name} {version}");
        if !links.is_empty() {
            return Some(format!("{package}: its manifest links the library '{links}'"));
        }
        let word = OF_C.iter().find(|word| self.script.contains(**word))?;
        Some(format!("{package}: its build script says {word}"))
    }
}

/// Reads the manifests and build scripts of all packages that the workspace at `root` can use.
pub(crate) fn list(root: &Path) -> Outcome<Vec<Package>> {
    let mut metadata = cargo(&["metadata", "--format-version", "1", "--all-features"]);
    let metadata = output(metadata.current_dir(root))?;
    manifest_paths(&metadata).map(|path| read(Path::new(&path))).collect()
}

/// Finds the C of those packages that are among the crates.
pub(crate) fn refusals(crates: &[Crate], packages: &[Package]) -> Vec<String> {
    let of_crate = |found: &Crate| {
        let package = packages.iter().find(|package| package.is(found));
        match package {
            Some(package) => package.refusal(),
            None => Some(format!("{} {}: it has no manifest", found.name, found.version)),
        }
    };
    crates.iter().filter_map(of_crate).collect()
}

/// The values of all keys `manifest_path` of a JSON document.
fn manifest_paths(metadata: &str) -> impl Iterator<Item = String> {
    let values = metadata.split("\"manifest_path\":\"").skip(1);
    values.filter_map(|rest| Some(rest.split_once('"')?.0.replace("\\\\", "\\")))
}

fn read(manifest: &Path) -> Outcome<Package> {
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let folder = manifest.parent().unwrap_or(manifest);
    let mut package = parse(&read(manifest)?);
    let script = match package.build.as_str() {
        "" => folder.join("build.rs"),
        named => folder.join(named),
    };
    if !package.build.is_empty() || script.exists() {
        package.script = read(&script)?;
    }
    Ok(package)
}

/// Reads the strings of the section `[package]`.
fn parse(manifest: &str) -> Package {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[package]").skip(1);
    let mut package = Package::default();
    for line in lines.take_while(|line| !line.starts_with('[')) {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim().strip_prefix('"').and_then(|value| value.split('"').next());
        let place = match key.trim() {
            "name" => &mut package.name,
            "version" => &mut package.version,
            "links" => &mut package.links,
            "build" => &mut package.build,
            _ => continue,
        };
        *place = value.unwrap_or_default().to_owned();
    }
    package
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_of_the_package_counts() {
        let manifest = "# name = \"x\"\n[package]\nname = \"a\" # a\nversion.workspace = true\n\
                        build = false\nlinks=\"z\"\n\n[[bin]]\nname = \"b\"\n";
        let expected = Package { name: "a".into(), links: "z".into(), ..Package::default() };
        assert_eq!(parse(manifest), expected);
        let manifest = "[package]\nversion = \"1.2.3\"\nbuild = \"src/build.rs\"\n";
        assert_eq!(parse(manifest).version, "1.2.3");
        assert_eq!(parse(manifest).build, "src/build.rs");
    }

    #[test]
    fn paths_of_manifests_are_found_in_metadata() {
        let metadata = r#"{"packages":[{"name":"a","manifest_path":"/x/Cargo.toml","links":null},
            {"manifest_path":"C:\\y\\Cargo.toml"}]}"#;
        let found: Vec<String> = manifest_paths(metadata).collect();
        assert_eq!(found, ["/x/Cargo.toml", r"C:\y\Cargo.toml"]);
    }
}
