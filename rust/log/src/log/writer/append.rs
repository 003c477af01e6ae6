//! The steps of a commit on the disk: sealing the active segment, and appending to it.

use super::LogWriter;
use crate::error::{LogError, Result};
use crate::medium::Open;
use crate::segment::{ACTIVE, free_sealed_name};
use crate::time::year_month;

impl LogWriter {
    pub(super) fn append(&mut self) -> Result<()> {
        let path = self.dir.join(ACTIVE);
        if self.active.is_none() {
            // The sealed segment's new name first: were only the new file's name durable, it would hide the old content.
            self.medium.sync_dir(&self.dir).map_err(LogError::io("sync", &self.dir))?;
            self.active = Some(self.medium.open(&path, Open::Create).map_err(LogError::io("create", &path))?);
            self.remember_inode()?;
        }
        if self.state.append_offset() == 0 {
            // An earlier attempt may have made the file and got no further.
            self.medium.sync_dir(&self.dir).map_err(LogError::io("sync", &self.dir))?;
        }
        let Some(file) = &self.active else { return Err(LogError::Invalid("no active segment".into())) };
        let start = self.state.append_offset();
        if let Err(error) = file.write_all_at(&self.pending, start) {
            // Synced, so that no crash brings back whole rows of this group behind those of the next one.
            let cut = file.set_len(start).and_then(|()| file.sync());
            let error = LogError::io("write", &path)(error);
            return Err(if cut.is_ok() { error } else { self.poison(error) });
        }
        let synced = file.sync().map_err(LogError::io("sync", &path));
        synced.map_err(|error| self.poison(error))
    }

    /// Checks that the log still ends where this writer left it: a commit never overwrites what it has not seen.
    pub(super) fn check_end(&self) -> Result<()> {
        if self.is_where_left()? {
            return Ok(());
        }
        let what = "the log does not end where this writer left it";
        Err(LogError::corrupt(format!("audit/{ACTIVE}"), self.state.append_offset(), Some(self.state.seq + 1), what))
    }

    /// Identity and length of the active segment; zeros where there is none.
    fn active_stat(&self) -> Result<(u64, u64)> {
        let path = self.dir.join(ACTIVE);
        let stat = self.medium.stat(&path).map_err(LogError::io("inspect", path))?;
        Ok(stat.map_or((0, 0), |stat| (stat.version[0], stat.len)))
    }

    /// Whether the active segment is the one this writer knows, as long as it left it.
    pub(super) fn is_where_left(&self) -> Result<bool> {
        let (inode, len) = self.active_stat()?;
        Ok(len == self.state.append_offset() && (inode == self.inode || self.active.is_none()))
    }

    pub(super) fn seal_if_due(&mut self, ts_ns: u64) -> Result<()> {
        let due = self.state.offset >= self.policy.max_bytes || year_month(ts_ns) > year_month(self.state.segment_ts);
        if self.state.append_offset() == 0 || !due {
            return Ok(());
        }
        let name = free_sealed_name(self.medium.as_ref(), &self.dir, self.state.segment_ts)?;
        let Some(name) = name else { return Ok(()) };
        let to = self.dir.join(&name);
        self.medium.rename(&self.dir.join(ACTIVE), &to).map_err(LogError::io("seal", &to))?;
        self.active = None;
        self.inode = 0;
        self.state.sealed = true;
        Ok(())
    }

    pub(super) fn reopen_active(&mut self) -> Result<()> {
        let path = self.dir.join(ACTIVE);
        self.active = match self.medium.open(&path, Open::Write) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(LogError::io("open", path)(error)),
        };
        self.remember_inode()
    }

    fn remember_inode(&mut self) -> Result<()> {
        self.inode = self.active_stat()?.0;
        Ok(())
    }
}
