//! The writer of a store: submissions from any number of threads, one group at a time.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::current::Current;
use super::lock::Lock;
use super::request::{Outcome, Prepared, Request};
use super::view::View;
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::history::Chain;
use crate::log::peaks::Peaks;
use crate::log::{LogReader, LogWriter, Recovery, SegmentPolicy};
use crate::medium::SharedMedium;
use crate::objects::{Body, BodyReader, BodyWriter};

/// From this many requests on, a submission is hashed and compressed on two threads.
const PARALLEL_FROM: usize = 64;
/// A group waits for others as long as the last one took, divided by this,
const GATHERING: u32 = 8;
/// but no longer than this: the last one may have waited for another process.
const GATHERING_MOST: Duration = Duration::from_millis(2);

/// How a store is opened for writing.
#[derive(Debug, Clone)]
pub struct Options {
    /// When segments are sealed.
    pub segments: SegmentPolicy,
    /// How long to wait for another process's lock.
    pub patience: Duration,
    /// Who writes: what others who wait for the lock are told.
    pub actor: String,
    /// Whether working files are written only by [`Writer::write_files`] and [`Writer::close`], once each: for imports.
    /// Whoever opens the store after a crash writes what is missing.
    pub puts_files_off: bool,
}

/// Everything behind the lock.
#[derive(Debug)]
pub(super) struct Core {
    pub medium: SharedMedium,
    pub root: PathBuf,
    pub log: LogWriter,
    pub bodies: BodyWriter,
    pub stored: Option<BodyReader>,
    pub chain: Chain,
    pub current: HashMap<String, Current>,
    /// Folders of memories that were looked at for the group at hand: plain ones, or not there.
    pub folders: HashSet<String>,
    /// `None` where the file on disk is not a state of this log: then it is left alone until it is rebuilt.
    pub peaks: Option<Peaks>,
    pub view: View,
    pub puts_files_off: bool,
    pub merging: Option<JoinHandle<()>>,
}

/// One thread's requests, waiting for their group.
#[derive(Debug)]
pub(super) struct Ticket {
    pub id: u64,
    pub requests: Vec<Prepared>,
}

type Answer = Result<Vec<Outcome>>;

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Ticket>,
    answers: HashMap<u64, Answer>,
    leading: bool,
    last_id: u64,
    /// How many threads were writing when the last group ended: those it answered, and those that waited already.
    writing: usize,
    /// How long the last group took.
    took: Duration,
}

/// A store, open for writing. Shared by threads; other processes may write to the same store at the same time.
#[derive(Debug)]
pub struct Writer {
    lock: Lock,
    actor: String,
    queue: Mutex<Queue>,
    answered: Condvar,
    arrived: Condvar,
    core: Mutex<Core>,
    recovery: Recovery,
}

impl Writer {
    /// Opens the store at `root`, after recovery. Takes the lock for that and gives it back.
    pub fn open(medium: SharedMedium, root: &Path, lock: Lock, options: Options) -> Result<Self> {
        let guard = lock.acquire(&options.actor)?;
        let audit = root.join("audit");
        let (log, recovery) = LogWriter::open(medium.clone(), audit.clone(), options.segments, &mut |_| Ok(()))?;
        let (objects, index) = (audit.join("objects"), root.join("index").join("objects"));
        let bodies = BodyWriter::open(medium.clone(), objects, index)?;
        // Every segment is looked at, so that what is remembered of them for readers is right again after each writer.
        let chain = Chain::over(LogReader::open(medium.clone(), audit.clone())?, &medium, root)?;
        let peaks = Peaks::read(medium.as_ref(), &audit)?;
        let mut core = Core {
            medium,
            root: root.to_path_buf(),
            log,
            bodies,
            stored: None,
            chain,
            current: HashMap::new(),
            folders: HashSet::new(),
            peaks: None,
            view: View::default(),
            puts_files_off: options.puts_files_off,
            merging: None,
        };
        core.take_up(peaks)?;
        drop(guard);
        let Options { actor, .. } = options;
        let (queue, answered, arrived) = (Mutex::default(), Condvar::new(), Condvar::new());
        Ok(Self { lock, actor, queue, answered, arrived, core: Mutex::new(core), recovery })
    }

    /// What opening found and did.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Number of the last acknowledged row that this writer knows of.
    pub fn last_seq(&self) -> u64 {
        self.core().log.last_seq()
    }

    /// Carries out one request; returns when it is acknowledged.
    pub fn submit(&self, request: Request) -> Result<Outcome> {
        let mut outcomes = self.submit_all(vec![request])?;
        outcomes.pop().ok_or_else(|| LogError::Invalid("a request without an answer".into()))
    }

    /// Carries out requests in order, all or none, in one commit; returns when they are acknowledged.
    pub fn submit_all(&self, requests: Vec<Request>) -> Answer {
        let requests = prepare(requests)?;
        let id = {
            let mut queue = self.queue();
            queue.last_id += 1;
            let id = queue.last_id;
            queue.waiting.push(Ticket { id, requests });
            self.arrived.notify_one();
            id
        };
        let mut queue = self.queue();
        loop {
            if let Some(answer) = queue.answers.remove(&id) {
                return answer;
            }
            if queue.leading {
                queue = self.answered.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            // Whoever finds no leader leads: it takes everything that waits and commits it as one group.
            queue.leading = true;
            let mut gathered = self.gather(queue);
            let tickets = std::mem::take(&mut gathered.waiting);
            drop(gathered);
            let began = Instant::now();
            let ids: Vec<u64> = tickets.iter().map(|ticket| ticket.id).collect();
            let led = catch_unwind(AssertUnwindSafe(|| self.lead(tickets)));
            queue = self.queue();
            queue.took = began.elapsed();
            queue.writing = ids.len() + queue.waiting.len();
            match led {
                Ok(answers) => queue.answers.extend(answers),
                Err(panic) => {
                    let broken = || Err(LogError::Poisoned("a writing thread panicked".into()));
                    queue.answers.extend(ids.into_iter().filter(|&other| other != id).map(|other| (other, broken())));
                    queue.leading = false;
                    self.answered.notify_all();
                    drop(queue);
                    std::panic::resume_unwind(panic);
                }
            }
            queue.leading = false;
            self.answered.notify_all();
        }
    }

    /// Waits a little for those that the last group answered: they come back while the disk has nothing to do, and would
    /// else make up every other group. One thread alone waits for nobody.
    fn gather<'q>(&self, queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        let (writing, at_most) = (queue.writing, (queue.took / GATHERING).min(GATHERING_MOST));
        let few = |queue: &mut Queue| queue.waiting.len() < writing;
        let waited = self.arrived.wait_timeout_while(queue, at_most, few);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lead(&self, tickets: Vec<Ticket>) -> HashMap<u64, Answer> {
        let ids: Vec<u64> = tickets.iter().map(|ticket| ticket.id).collect();
        let guard = match self.lock.acquire(&self.actor) {
            Ok(guard) => guard,
            Err(error) => return ids.into_iter().map(|id| (id, Err(error.again()))).collect(),
        };
        let mut core = self.core();
        let answers = core.run(tickets);
        drop(core);
        drop(guard);
        answers
    }

    /// Makes working files durable and the indexes current, as far as that is due. Errors here lose nothing.
    pub fn close(&self) -> Result<()> {
        self.alone(Core::wind_up)
    }

    /// Writes the working files that are put off.
    pub fn write_files(&self) -> Result<()> {
        self.alone(Core::write_put_off)
    }

    /// Recomputes `peaks.bin` and the indexes from the log. Reads all of it.
    pub fn rebuild(&self) -> Result<()> {
        self.alone(Core::rebuild)
    }

    /// Does something that is no group, under the lock and at the end of the log.
    fn alone(&self, work: impl FnOnce(&mut Core) -> Result<()>) -> Result<()> {
        let guard = self.lock.acquire(&self.actor)?;
        let mut core = self.core();
        let result = core.catch_up_with_others().and_then(|()| work(&mut core));
        drop(core);
        drop(guard);
        result
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    /// Reads a stored body.
    pub(super) fn read_body(&mut self, sha: &Digest) -> Result<Body> {
        if self.stored.is_none() {
            let (objects, index) = (self.root.join("audit").join("objects"), self.root.join("index").join("objects"));
            self.stored = Some(BodyReader::open(self.medium.clone(), objects, index)?);
        }
        self.stored.as_ref().map_or(Ok(Body::Absent), |stored| stored.get(sha))
    }
}

/// Hashes and compresses outside every lock, on two threads where there is much of it.
fn prepare(requests: Vec<Request>) -> Result<Vec<Prepared>> {
    if requests.len() < PARALLEL_FROM {
        return requests.into_iter().map(Prepared::new).collect();
    }
    let mut requests = requests;
    let rest = requests.split_off(requests.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| rest.into_iter().map(Prepared::new).collect::<Result<Vec<_>>>());
        let mut prepared = requests.into_iter().map(Prepared::new).collect::<Result<Vec<_>>>()?;
        prepared.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        Ok(prepared)
    })
}
