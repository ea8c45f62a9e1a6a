//! The machine that numbers were measured on.

/// The processor's name as a folder name, or the architecture where it is not told.
#[must_use]
pub fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
    let name = model.unwrap_or(std::env::consts::ARCH).to_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}
