//! Running git so that no configuration of the machine changes what it prints.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs git in `dir` and returns what it printed.
pub fn git(dir: &Path, args: &[&str]) -> Vec<u8> {
    git_with(Stdio::null(), dir, args)
}

/// Runs git in `dir` with the content of a file in there as its input.
pub fn git_reading(file: &str, dir: &Path, args: &[&str]) -> Vec<u8> {
    git_with(File::open(dir.join(file)).unwrap().into(), dir, args)
}

fn git_with(input: Stdio, dir: &Path, args: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .args(["-c", "core.quotePath=false", "-c", "core.autocrlf=false", "-c", "init.defaultBranch=main"])
        .args(args)
        .stdin(input)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", dir)
        .env("LC_ALL", "C")
        .output()
        .expect("these tests compare with git: the git binary must be on PATH");
    // With --no-index, 1 says that there are differences.
    let clean = output.status.success() || (args.contains(&"--no-index") && output.status.code() == Some(1));
    assert!(clean, "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
