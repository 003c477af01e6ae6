//! A small cache of verified pages.

use std::sync::{Arc, Mutex, PoisonError};

use super::Unusable;
use super::run::Run;
use crate::format::run::{PAGE, Page};

/// Pages held at most: 512 KiB.
const SLOTS: usize = 128;

#[derive(Debug)]
struct Slot {
    run: u64,
    page: u64,
    bytes: Arc<Page>,
}

/// Each page has one slot where it may be; a page that needs a taken slot replaces what is there.
#[derive(Debug)]
pub(super) struct PageCache {
    slots: Mutex<Vec<Option<Slot>>>,
}

impl PageCache {
    pub(super) fn new() -> Self {
        Self { slots: Mutex::new(Vec::new()) }
    }

    /// Returns page `page` of `run`, verified.
    pub(super) fn get(&self, run: &Run, page: u64) -> Result<Arc<Page>, Unusable> {
        // Neighbouring pages of one run, and equal pages of several, take different slots.
        let at = usize::try_from((run.id().wrapping_mul(37) ^ page) % SLOTS as u64).unwrap_or(0);
        let old = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            if slots.is_empty() {
                slots.resize_with(SLOTS, || None);
            }
            match slots.get_mut(at) {
                Some(Some(slot)) if slot.run == run.id() && slot.page == page => return Ok(Arc::clone(&slot.bytes)),
                Some(place) => place.take(),
                None => None,
            }
        };
        // Read outside the lock, into the old page's memory where nobody holds it any more.
        let mut bytes = old.map_or_else(|| Arc::new([0; PAGE]), |slot| slot.bytes);
        if let Some(buffer) = Arc::get_mut(&mut bytes) {
            run.read(page, buffer)?;
        } else {
            let mut buffer = [0; PAGE];
            run.read(page, &mut buffer)?;
            bytes = Arc::new(buffer);
        }
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = slots.get_mut(at) {
            *place = Some(Slot { run: run.id(), page, bytes: Arc::clone(&bytes) });
        }
        Ok(bytes)
    }
}
