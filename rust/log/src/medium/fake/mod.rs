//! A file system in memory that tells live bytes from durable ones, for crash and fault tests.
//!
//! What is written is live at once. A file's bytes become durable when the file is synced, a name when its folder is;
//! a file that was synced under a name that was not is lost in a crash, and a rename may be undone by one. A crash is
//! [`Fake::crash_image`]: a new medium with what was durable. [`Fake::freeze_at`] places the crash inside a workload.

mod content;
mod faults;
mod names;
mod random;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use self::content::Content;
use self::faults::{Counters, Failure, Faults, PerPath};
pub use self::faults::{Counts, Fault, Op};
use self::names::{Inode, Kept, Names, Node};
use self::random::Random;
use super::{Medium, MediumFile, Open, Stat};

/// The medium. Clones are the same medium.
#[derive(Debug, Clone)]
pub struct Fake(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    names: Mutex<Names>,
    control: Mutex<Control>,
    counters: Mutex<PerPath>,
    tick: AtomicU64,
    boot: u64,
}

/// What the test has asked for.
#[derive(Debug, Default)]
struct Control {
    faults: Faults,
    /// Syncs left until nothing becomes durable any more.
    syncs_left: Option<u64>,
    frozen: bool,
    short_writes: Option<Random>,
    sync_delay: Duration,
    synced: Vec<PathBuf>,
    changes: u64,
}

impl Default for Fake {
    fn default() -> Self {
        Self::new()
    }
}

impl Fake {
    /// An empty medium with nothing but a root folder.
    pub fn new() -> Self {
        Self::holding(Names::new(), 1)
    }

    /// A medium with this folder, durably.
    pub fn with_dir(dir: impl AsRef<Path>) -> Self {
        let mut names = Names::new();
        // A path that is not one shows as a missing folder in the test that gave it.
        names.create_dir_all(dir.as_ref()).unwrap_or_default();
        for ancestor in dir.as_ref().ancestors() {
            names.sync_dir(ancestor).unwrap_or_default();
        }
        Self::holding(names, 1)
    }

    fn holding(names: Names, boot: u64) -> Self {
        Self(Arc::new(Shared {
            names: Mutex::new(names),
            control: Mutex::default(),
            counters: Mutex::default(),
            tick: AtomicU64::new(1),
            boot,
        }))
    }

    /// The process dies at the `n`th sync from now on, of a file or a folder: that sync and every operation after it
    /// fails, and nothing becomes durable any more. 1 is the next sync.
    pub fn freeze_at(&self, n: u64) {
        self.control().syncs_left = Some(n.saturating_sub(1));
    }

    /// Whether [`Fake::freeze_at`] has struck.
    pub fn is_frozen(&self) -> bool {
        self.control().frozen
    }

    /// A new medium with everything as it is now, durably.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self::holding(self.names().image(Kept::Live), self.0.boot)
    }

    /// A new medium with what a crash now would leave if the disk wrote nothing early. Counters start again, and no
    /// faults are set.
    #[must_use]
    pub fn crash_image(&self) -> Self {
        Self::holding(self.names().image(Kept::Durable), self.0.boot + 1)
    }

    /// Like [`Fake::crash_image`], but some of what was not synced is there as well: any of the names, and of each write
    /// nothing, all, a prefix or some of its sectors.
    #[must_use]
    pub fn crash_image_with(&self, seed: u64) -> Self {
        Self::holding(self.names().image(Kept::Early(Random::new(seed))), self.0.boot + 1)
    }

    /// Adds an error to come. The bytes that a failing sync of a file should have made durable never become so, even when a
    /// later sync succeeds, unless they are written again. (Names, being journalled, do.)
    pub fn fail(&self, fault: Fault) {
        self.control().faults.add(fault);
    }

    /// Removes the faults that have not struck, and the lasting ones.
    pub fn clear_faults(&self) {
        self.control().faults.clear();
    }

    /// From now on every write writes only a part, at least one byte.
    pub fn write_short(&self, seed: u64) {
        self.control().short_writes = Some(Random::new(seed));
    }

    /// Every sync takes this long from now on. For benchmarks and for tests of grouping; nothing is locked meanwhile.
    pub fn delay_syncs(&self, delay: Duration) {
        self.control().sync_delay = delay;
    }

    /// Returns what was counted for every path together.
    pub fn counts(&self) -> Counts {
        faults::sum(&self.counters(), "")
    }

    /// Returns what was counted for paths that end like this. A file counts under the name it was opened by.
    pub fn counts_of(&self, suffix: &str) -> Counts {
        faults::sum(&self.counters(), suffix)
    }

    /// Returns the files and folders synced, in order.
    pub fn synced(&self) -> Vec<PathBuf> {
        self.control().synced.clone()
    }

    /// Returns the number of operations so far that [change](Op::changes) something: the bound for a loop over
    /// [`Fault::nth_change`].
    pub fn changes(&self) -> u64 {
        self.control().changes
    }

    /// Starts counting again from zero.
    pub fn reset_counts(&self) {
        // Zeroed in place: open files share them.
        for counters in self.counters().values() {
            counters.reset();
        }
        let mut control = self.control();
        control.synced.clear();
        control.changes = 0;
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.0.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn control(&self) -> MutexGuard<'_, Control> {
        self.0.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counters(&self) -> MutexGuard<'_, PerPath> {
        self.0.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counters_for(&self, path: &Path) -> Arc<Counters> {
        Arc::clone(self.counters().entry(path.to_owned()).or_default())
    }

    fn tick(&self) -> u64 {
        self.0.tick.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts an operation, and fails it where a fault or the freeze says so.
    fn begin(&self, op: Op, path: &Path, counters: &Counters) -> Result<(), Failure> {
        let mut control = self.control();
        if control.frozen {
            return Err(dead());
        }
        counters.call(op);
        control.changes += u64::from(op.changes());
        if op == Op::Sync {
            match control.syncs_left {
                Some(0) => {
                    control.frozen = true;
                    return Err(dead());
                }
                Some(left) => control.syncs_left = Some(left - 1),
                None => {}
            }
        }
        control.faults.check(op, path)?;
        if op == Op::Sync {
            control.synced.push(path.to_owned());
        }
        Ok(())
    }

    /// The same for an operation on a path that is not an open file.
    fn begin_at(&self, op: Op, path: &Path) -> Result<(), Failure> {
        let counters = self.counters_for(path);
        self.begin(op, path, &counters)
    }

    fn wait_for_disk(&self) {
        let delay = self.control().sync_delay;
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
    }
}

fn dead() -> Failure {
    Failure { error: io::Error::other("the medium is frozen: the process has died"), partial: false, dead: true }
}

impl Medium for Fake {
    fn boot(&self) -> u64 {
        self.0.boot
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn MediumFile>> {
        self.begin_at(Op::Open, path)?;
        let mut names = self.names();
        let inode = match (names.find(path)?, how) {
            (Some(Node::Dir(_)), _) => return Err(io::ErrorKind::IsADirectory.into()),
            (Some(Node::File(_)), Open::CreateNew) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(Node::File(inode)), _) => inode,
            (None, Open::Read | Open::Write) => return Err(io::ErrorKind::NotFound.into()),
            (None, Open::Create | Open::CreateNew) => names.create(path)?,
        };
        let counters = self.counters_for(path);
        let writable = how != Open::Read;
        Ok(Box::new(FakeFile { medium: self.clone(), inode, path: path.to_owned(), counters, writable }))
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.begin_at(Op::Look, path)?;
        let names = self.names();
        Ok(names.find(path)?.map(|node| match node {
            Node::Dir(dir) => {
                let version = [dir as u64, 0, names.changes(dir), names.changes(dir)];
                Stat { len: 0, is_dir: true, is_symlink: false, version }
            }
            Node::File(inode) => {
                let content = inode.content.read().unwrap_or_else(PoisonError::into_inner);
                let len = content.live().len() as u64;
                let version = [inode.number, len, content.changed, content.changed];
                Stat { len, is_dir: false, is_symlink: false, version }
            }
        }))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.begin_at(Op::Look, dir)?;
        self.names().list(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.begin_at(Op::Rename, to)?;
        if let Node::File(inode) = self.names().rename(from, to)? {
            inode.content.write().unwrap_or_else(PoisonError::into_inner).changed = self.tick();
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.begin_at(Op::Remove, path)?;
        self.names().remove(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<bool> {
        self.begin_at(Op::Remove, path)?;
        self.names().remove_dir(path)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.begin_at(Op::CreateDir, dir)?;
        self.names().create_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.wait_for_disk();
        self.begin_at(Op::Sync, dir)?;
        self.names().sync_dir(dir)
    }
}

/// An open file: goes on working after the name is gone.
#[derive(Debug)]
struct FakeFile {
    medium: Fake,
    inode: Arc<Inode>,
    path: PathBuf,
    counters: Arc<Counters>,
    writable: bool,
}

impl FakeFile {
    fn begin(&self, op: Op) -> Result<(), Failure> {
        self.medium.begin(op, &self.path, &self.counters)
    }

    fn live(&self) -> RwLockReadGuard<'_, Content> {
        self.inode.content.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> io::Result<RwLockWriteGuard<'_, Content>> {
        if !self.writable {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        let mut content = self.inode.content.write().unwrap_or_else(PoisonError::into_inner);
        content.changed = self.medium.tick();
        Ok(content)
    }
}

fn position(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput.into())
}

impl MediumFile for FakeFile {
    fn len(&self) -> io::Result<u64> {
        self.begin(Op::Look)?;
        Ok(self.live().live().len() as u64)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.begin(Op::Read)?;
        let content = self.live();
        let rest = content.live().get(position(offset)?..).unwrap_or_default();
        let n = rest.len().min(buf.len());
        if let (Some(to), Some(from)) = (buf.get_mut(..n), rest.get(..n)) {
            to.copy_from_slice(from);
        }
        self.counters.bytes_read(n);
        Ok(n)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        let started = self.begin(Op::Write);
        let part = match (&started, &mut self.medium.control().short_writes) {
            (Err(failure), _) if failure.partial => buf.len() / 2,
            (Err(_), _) => 0,
            (Ok(()), Some(random)) if !buf.is_empty() => 1 + random.below(buf.len()),
            (Ok(()), _) => buf.len(),
        };
        let bytes = buf.get(..part).unwrap_or(buf);
        if !bytes.is_empty() {
            self.change()?.write(position(offset)?, bytes);
            self.counters.bytes_written(part);
        }
        Ok(started.map(|()| part)?)
    }

    fn sync(&self) -> io::Result<()> {
        self.medium.wait_for_disk();
        let started = self.begin(Op::Sync);
        let mut content = self.inode.content.write().unwrap_or_else(PoisonError::into_inner);
        match started {
            Ok(()) => {
                content.sync();
                Ok(())
            }
            Err(failure) => {
                if !failure.dead {
                    content.lose_pending();
                }
                Err(failure.error)
            }
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.begin(Op::Write)?;
        self.change()?.set_len(position(len)?);
        Ok(())
    }
}
