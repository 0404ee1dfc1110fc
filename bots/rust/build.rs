//! Makes the Rust code of the messages. It needs no protoc: protox, a compiler written in Rust, reads the proto files.

use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = proto_folder()?;
    let mut files = Vec::new();
    for entry in folder.join("crosstown/v1").read_dir()? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "proto") {
            files.push(path);
        }
    }
    files.sort();
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-env-changed=CROSSTOWN_PROTO");
    let compiled = protox::compile(&files, [&folder])?;
    tonic_prost_build::configure()
        .build_server(false)
        .include_file("messages.rs")
        .compile_fds(compiled)?;
    Ok(())
}

/// Where `crosstown/v1/referee.proto` lies: `CROSSTOWN_PROTO`, `proto` here, or that of the checkout.
fn proto_folder() -> Result<PathBuf, String> {
    let set = std::env::var("CROSSTOWN_PROTO").unwrap_or_default();
    for folder in [set.as_str(), "proto", "../../proto"] {
        if !folder.is_empty() && Path::new(folder).join("crosstown/v1/referee.proto").is_file() {
            return Ok(folder.into());
        }
    }
    Err("crosstown/v1/referee.proto found neither in proto/ nor in ../../proto: set CROSSTOWN_PROTO".into())
}
