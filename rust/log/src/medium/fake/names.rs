//! The folders of the fake medium. A name becomes durable only when its folder is synced.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};
use std::sync::{Arc, PoisonError, RwLock};

use super::content::Content;
use super::random::Random;

/// A file, whatever its name is now, if it has one.
#[derive(Debug, Default)]
pub(super) struct Inode {
    pub(super) number: u64,
    pub(super) content: RwLock<Content>,
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) enum Node {
    File(Arc<Inode>),
    /// A folder: its place in [`Names::dirs`].
    Dir(usize),
}

/// Names that change together: a rename inside one folder is one of these.
type Change = Vec<(String, Option<Node>)>;

#[derive(Debug, Default)]
struct Dir {
    live: BTreeMap<String, Node>,
    durable: BTreeMap<String, Node>,
    pending: Vec<Change>,
    /// How often names have changed.
    changes: u64,
}

impl Dir {
    fn change(&mut self, change: Change) {
        apply(&change, &mut self.live);
        self.changes += 1;
        self.pending.push(change);
    }
}

fn apply(change: &Change, names: &mut BTreeMap<String, Node>) {
    for (name, node) in change {
        match node {
            Some(node) => drop(names.insert(name.clone(), node.clone())),
            None => drop(names.remove(name)),
        }
    }
}

/// What an image of a medium is made of.
#[derive(Debug)]
pub(super) enum Kept {
    /// Everything as it is.
    Live,
    /// What was synced.
    Durable,
    /// What was synced, and whatever of the rest the disk happened to write early.
    Early(Random),
}

/// All folders; the first is the root, which always exists.
#[derive(Debug)]
pub(super) struct Names {
    dirs: Vec<Dir>,
    files: u64,
}

impl Names {
    pub(super) fn new() -> Self {
        Self { dirs: vec![Dir::default()], files: 0 }
    }

    fn dir(&mut self, at: usize) -> io::Result<&mut Dir> {
        self.dirs.get_mut(at).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Returns what is at `path`, if anything.
    pub(super) fn find(&self, path: &Path) -> io::Result<Option<Node>> {
        let mut here = Node::Dir(0);
        for name in components(path)? {
            let Node::Dir(dir) = here else { return Ok(None) };
            match self.dirs.get(dir).and_then(|dir| dir.live.get(name)) {
                Some(node) => here = node.clone(),
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    fn find_dir(&self, path: &Path) -> io::Result<usize> {
        match self.find(path)? {
            Some(Node::Dir(dir)) => Ok(dir),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn parent<'p>(&self, path: &'p Path) -> io::Result<(usize, &'p str)> {
        let name = components(path)?.pop().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.find_dir(path.parent().unwrap_or(Path::new("")))?, name))
    }

    pub(super) fn create(&mut self, path: &Path) -> io::Result<Arc<Inode>> {
        let (dir, name) = self.parent(path)?;
        self.files += 1;
        let inode = Arc::new(Inode { number: self.files, content: RwLock::default() });
        self.dir(dir)?.change(vec![(name.to_owned(), Some(Node::File(Arc::clone(&inode))))]);
        Ok(inode)
    }

    pub(super) fn create_dir_all(&mut self, path: &Path) -> io::Result<()> {
        let mut here = 0;
        for name in components(path)? {
            let fresh = self.dirs.len();
            let dir = self.dir(here)?;
            match dir.live.get(name) {
                Some(Node::Dir(next)) => here = *next,
                Some(Node::File(_)) => return Err(io::ErrorKind::NotADirectory.into()),
                None => {
                    dir.change(vec![(name.to_owned(), Some(Node::Dir(fresh)))]);
                    self.dirs.push(Dir::default());
                    here = fresh;
                }
            }
        }
        Ok(())
    }

    /// How often the names in a folder have changed.
    pub(super) fn changes(&self, dir: usize) -> u64 {
        self.dirs.get(dir).map_or(0, |dir| dir.changes)
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        match self.find(path)? {
            // Backwards, so that nobody relies on an order.
            Some(Node::Dir(dir)) => {
                Ok(self.dirs.get(dir).map(|dir| dir.live.keys().rev().cloned().collect()).unwrap_or_default())
            }
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Ok(Vec::new()),
        }
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<Node> {
        let node = self.find(from)?.ok_or(io::ErrorKind::NotFound)?;
        let ((from_dir, from_name), (to_dir, to_name)) = (self.parent(from)?, self.parent(to)?);
        if matches!((&node, self.find(to)?), (Node::File(_), Some(Node::Dir(_)))) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if (from_dir, from_name) == (to_dir, to_name) {
            return Ok(node);
        }
        let arrive = (to_name.to_owned(), Some(node.clone()));
        let leave = (from_name.to_owned(), None);
        if from_dir == to_dir {
            self.dir(to_dir)?.change(vec![arrive, leave]);
        } else {
            self.dir(to_dir)?.change(vec![arrive]);
            self.dir(from_dir)?.change(vec![leave]);
        }
        Ok(node)
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        match self.find(path)? {
            None => Ok(()),
            Some(Node::Dir(_)) => Err(io::ErrorKind::IsADirectory.into()),
            Some(Node::File(_)) => self.unlink(path),
        }
    }

    pub(super) fn remove_dir(&mut self, path: &Path) -> io::Result<bool> {
        match self.find(path)? {
            None => Ok(false),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            Some(Node::Dir(dir)) if !self.dir(dir)?.live.is_empty() => Ok(false),
            Some(Node::Dir(_)) => self.unlink(path).map(|()| true),
        }
    }

    fn unlink(&mut self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        self.dir(dir)?.change(vec![(name.to_owned(), None)]);
        Ok(())
    }

    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        let at = self.find_dir(path)?;
        let dir = self.dir(at)?;
        for change in std::mem::take(&mut dir.pending) {
            apply(&change, &mut dir.durable);
        }
        Ok(())
    }

    /// A copy of what `kept` keeps.
    pub(super) fn image(&self, mut kept: Kept) -> Self {
        let mut image = Self::new();
        self.copy_dir(0, &mut image, 0, &mut kept);
        image
    }

    fn copy_dir(&self, from: usize, image: &mut Self, to: usize, kept: &mut Kept) {
        let Some(dir) = self.dirs.get(from) else { return };
        let mut names = if matches!(kept, Kept::Live) { dir.live.clone() } else { dir.durable.clone() };
        if let Kept::Early(random) = kept {
            for change in &dir.pending {
                if random.below(2) == 0 {
                    apply(change, &mut names);
                }
            }
        }
        // An older state of a folder has an older time, which no later change brings back.
        let is_older = !matches!(kept, Kept::Live) && !dir.pending.is_empty();
        let changes = if is_older { dir.changes + (1 << 32) } else { dir.changes };
        let mut copies = BTreeMap::new();
        for (name, node) in names {
            let copy = match node {
                Node::File(inode) => {
                    let content = inode.content.read().unwrap_or_else(PoisonError::into_inner);
                    let bytes = content.image(kept);
                    image.files += 1;
                    let content = RwLock::new(Content::durable(bytes));
                    Node::File(Arc::new(Inode { number: image.files, content }))
                }
                Node::Dir(child) => {
                    let fresh = image.dirs.len();
                    image.dirs.push(Dir::default());
                    self.copy_dir(child, image, fresh, kept);
                    Node::Dir(fresh)
                }
            };
            copies.insert(name, copy);
        }
        if let Some(dir) = image.dirs.get_mut(to) {
            *dir = Dir { live: copies.clone(), durable: copies, pending: Vec::new(), changes };
        }
    }
}

fn components(path: &Path) -> io::Result<Vec<&str>> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::RootDir | Component::CurDir => {}
            Component::Normal(name) => names.push(name.to_str().ok_or(io::ErrorKind::InvalidInput)?),
            Component::ParentDir | Component::Prefix(_) => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    Ok(names)
}
