//! `index/**/<first>-<last>.run`, one run of a derived index: 4,096-byte pages, each ending in its checksum.
//!
//! Page 0 is the header; then follow, each from a page boundary, the row offsets, the postings and the key pages. Where a
//! section begins follows from the counts in the header.

use super::{Digest, be32, be64};

/// Size of a page in bytes.
pub const PAGE: usize = 4096;
/// Bytes of a page that its checksum covers, together with the number of the page.
pub const CONTENT: usize = PAGE - 4;
/// First bytes of the header page: the format and its version.
pub const MAGIC: &[u8; 8] = b"CYBRUN2\n";
/// Size of a row offset.
pub const OFFSET: usize = 5;
/// An offset is below this.
pub const OFFSET_END: u64 = 1 << 40;
/// Size of a posting: `seq << CLASS_BITS | class`.
pub const POSTING: usize = 8;
/// Bits of a posting that hold the class.
pub const CLASS_BITS: u32 = 4;
/// Row offsets in a page.
pub const OFFSETS_PER_PAGE: u64 = (CONTENT / OFFSET) as u64;
/// Postings in a page.
pub const POSTINGS_PER_PAGE: u64 = (CONTENT / POSTING) as u64;
const KEY_COUNT: usize = 0;
const KEYS: usize = KEY_COUNT + 4;
const KEY: usize = 16;
/// Keys that fit in a page.
pub const KEYS_PER_PAGE: usize = (CONTENT - KEYS) / KEY;
/// Keys in a page on average: full enough to be small, empty enough that hardly any key spills into the next page.
const KEYS_PER_BUCKET: u64 = 200;

/// A page.
pub type Page = [u8; PAGE];

/// Writes the checksum of page `number` into it.
pub fn seal(page: &mut Page, number: u64) {
    let (content, place) = page.split_at_mut(CONTENT);
    place.copy_from_slice(&checksum(content, number).to_be_bytes());
}

/// Whether the checksum of page `number` is right.
pub fn is_sound(page: &Page, number: u64) -> bool {
    be32(page, CONTENT) == Some(checksum(page.split_at(CONTENT).0, number))
}

fn checksum(content: &[u8], number: u64) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(content), &number.to_be_bytes())
}

const FIRST: usize = MAGIC.len();
const LAST: usize = FIRST + 8;
const BEFORE: usize = LAST + 8;
const MARK: usize = BEFORE + 32;
const POSTINGS: usize = MARK + 32;
const KEY_TOTAL: usize = POSTINGS + 8;
const BUCKETS: usize = KEY_TOTAL + 8;
const KEY_PAGES: usize = BUCKETS + 8;

/// The header page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// First row.
    pub first: u64,
    /// Last row.
    pub last: u64,
    /// The mark of the row before the first; zero before row 1.
    pub before: Digest,
    /// The mark of the last row.
    pub mark: Digest,
    /// Number of postings.
    pub postings: u64,
    /// Number of distinct keys.
    pub keys: u64,
    /// Number of buckets that the keys are spread over; key page `i` is the home of bucket `i`.
    pub buckets: u64,
    /// Number of key pages: the buckets, and what the last of them spilled.
    pub key_pages: u64,
}

impl Header {
    /// Encodes the page, checksum included.
    pub fn encode(&self) -> Page {
        let mut page = [0; PAGE];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(place) = page.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        };
        put(0, MAGIC);
        put(FIRST, &self.first.to_be_bytes());
        put(LAST, &self.last.to_be_bytes());
        put(BEFORE, &self.before.0);
        put(MARK, &self.mark.0);
        put(POSTINGS, &self.postings.to_be_bytes());
        put(KEY_TOTAL, &self.keys.to_be_bytes());
        put(BUCKETS, &self.buckets.to_be_bytes());
        put(KEY_PAGES, &self.key_pages.to_be_bytes());
        seal(&mut page, 0);
        page
    }

    /// Decodes a sound page; `None` where it is of another format or version or contradicts itself.
    pub fn decode(page: &Page) -> Option<Self> {
        if page.get(..MAGIC.len())? != MAGIC {
            return None;
        }
        let digest = |at: usize| Some(Digest(page.get(at..at + 32)?.try_into().ok()?));
        let header = Self {
            first: be64(page, FIRST)?,
            last: be64(page, LAST)?,
            before: digest(BEFORE)?,
            mark: digest(MARK)?,
            postings: be64(page, POSTINGS)?,
            keys: be64(page, KEY_TOTAL)?,
            buckets: be64(page, BUCKETS)?,
            key_pages: be64(page, KEY_PAGES)?,
        };
        let coherent = header.first > 0
            && header.first <= header.last
            && header.last < 1 << (u64::BITS - CLASS_BITS)
            && u32::try_from(header.postings).is_ok()
            && header.keys <= header.postings
            && (1..=header.key_pages).contains(&header.buckets)
            && u32::try_from(header.key_pages).is_ok();
        coherent.then_some(header)
    }

    /// Returns the number of rows.
    pub const fn rows(&self) -> u64 {
        self.last - self.first + 1
    }

    /// Returns the first page of the row offsets.
    pub const fn offsets_page(&self) -> u64 {
        1
    }

    /// Returns the first page of the postings.
    pub const fn postings_page(&self) -> u64 {
        self.offsets_page() + self.rows().div_ceil(OFFSETS_PER_PAGE)
    }

    /// Returns the first key page.
    pub const fn keys_page(&self) -> u64 {
        self.postings_page() + self.postings.div_ceil(POSTINGS_PER_PAGE)
    }

    /// Returns the number of pages of the whole file.
    pub const fn pages(&self) -> u64 {
        self.keys_page() + self.key_pages
    }
}

/// Returns the number of buckets for `keys` distinct keys.
pub const fn buckets(keys: u64) -> u64 {
    if keys == 0 { 1 } else { keys.div_ceil(KEYS_PER_BUCKET) }
}

/// Returns the bucket of a key, which is its share of the range of keys: buckets are in the order of their keys.
pub fn bucket(key: u64, buckets: u64) -> u64 {
    u64::try_from((u128::from(key) * u128::from(buckets)) >> 64).unwrap_or(0)
}

/// Encodes the offset of a row's frame.
pub const fn encode_offset(offset: u64) -> [u8; OFFSET] {
    let [_, _, _, low @ ..] = offset.to_be_bytes();
    low
}

/// Decodes the `index`-th offset of a page.
pub fn offset(page: &Page, index: usize) -> Option<u64> {
    let at = index * OFFSET;
    let high = *page.get(at)?;
    Some((u64::from(high) << u32::BITS) | u64::from(be32(page, at + 1)?))
}

/// Decodes the `index`-th posting of a page.
pub fn posting(page: &Page, index: usize) -> Option<u64> {
    be64(page, index * POSTING)
}

/// A key and where its postings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub key: u64,
    /// Index of its first (oldest) posting.
    pub first: u32,
    /// Number of its postings.
    pub count: u32,
}

/// Returns the number of keys in a key page.
pub fn key_count(page: &Page) -> usize {
    be32(page, KEY_COUNT).map_or(0, |count| count as usize).min(KEYS_PER_PAGE)
}

/// Decodes the `index`-th key of a key page.
pub fn key(page: &Page, index: usize) -> Option<Key> {
    let at = KEYS + index * KEY;
    Some(Key { key: be64(page, at)?, first: be32(page, at + 8)?, count: be32(page, at + 12)? })
}

/// Appends a key to a key page; `false` where the page is full.
pub fn push_key(page: &mut Page, key: Key) -> bool {
    let count = key_count(page);
    let at = KEYS + count * KEY;
    if count == KEYS_PER_PAGE {
        return false;
    }
    if let Some(place) = page.get_mut(at..at + KEY) {
        let (number, range) = place.split_at_mut(8);
        let (first, total) = range.split_at_mut(4);
        number.copy_from_slice(&key.key.to_be_bytes());
        first.copy_from_slice(&key.first.to_be_bytes());
        total.copy_from_slice(&key.count.to_be_bytes());
    }
    if let Some(place) = page.get_mut(KEY_COUNT..KEYS) {
        place.copy_from_slice(&u32::try_from(count + 1).unwrap_or(0).to_be_bytes());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_sound_only_where_it_belongs() {
        let mut page = [7; PAGE];
        seal(&mut page, 5);
        assert!(is_sound(&page, 5));
        assert!(!is_sound(&page, 6));
        // What a hole in a file reads as.
        assert!((0..1 << 20).all(|number| !is_sound(&[0; PAGE], number)));
    }

    #[test]
    fn a_header_that_contradicts_itself_is_none() {
        let good = Header {
            first: 3,
            last: 9,
            before: Digest([1; 32]),
            mark: Digest([2; 32]),
            postings: 12,
            keys: 11,
            buckets: 1,
            key_pages: 1,
        };
        assert_eq!(Header::decode(&good.encode()), Some(good));
        assert_eq!((good.postings_page(), good.keys_page(), good.pages()), (2, 3, 4));
        let bad = [
            Header { first: 0, ..good },
            Header { last: 2, ..good },
            Header { last: 1 << 60, ..good },
            Header { postings: 1 << 32, ..good },
            Header { keys: 13, ..good },
            Header { buckets: 0, ..good },
            Header { buckets: 2, ..good },
            Header { key_pages: 1 << 32, ..good },
        ];
        assert!(bad.iter().all(|header| Header::decode(&header.encode()).is_none()));
    }

    #[test]
    fn numbers_are_encoded_in_full() {
        let mut page = [0; PAGE];
        for (index, offset) in [0, 1, 0xff_1234_5678, OFFSET_END - 1].into_iter().enumerate() {
            page[index * OFFSET..][..OFFSET].copy_from_slice(&encode_offset(offset));
            assert_eq!(super::offset(&page, index), Some(offset));
        }
        assert_eq!(super::offset(&page, PAGE), None);
        assert_eq!(bucket(u64::MAX, 1000), 999);
        assert_eq!(bucket(0, 1000), 0);
        assert_eq!((buckets(0), buckets(1), buckets(200), buckets(201)), (1, 1, 1, 2));
    }
}
