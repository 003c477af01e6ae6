//! What changed between two versions of a memory, as pure functions on bytes.
//!
//! A memory is frontmatter and a body ([`mod@frontmatter`]). Frontmatter is compared field by field ([`fields`]), the body
//! line by line as git does ([`body`]), and [`blame`] says which version each line comes from. [`yaml`] is the one YAML
//! parser of the product and [`emit`] its counterpart.

pub mod blame;
pub mod body;
pub mod emit;
pub mod fields;
pub mod frontmatter;
mod lines;
pub mod merge;
pub mod yaml;
