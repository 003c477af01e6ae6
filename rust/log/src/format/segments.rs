//! `index/segments`: the first rows of sealed segments.

use super::{be32, be64};

const MAGIC: &[u8; 8] = b"CYBSEG1\n";

/// What sealed segments begin with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Inode, size, modification and change time of the folder of which this is known.
    pub folder: [u64; 4],
    /// File name in `audit/` and number of the first row of each, in the order of the rows.
    pub segments: Vec<(String, u64)>,
}

/// Encodes the table. A name is at most 255 bytes long, as on every file system.
pub fn encode(table: &Table) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for number in table.folder {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    for (name, first_seq) in &table.segments {
        let Ok(length) = u8::try_from(name.len()) else { continue };
        bytes.push(length);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(&first_seq.to_be_bytes());
    }
    bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_be_bytes());
    bytes
}

/// Decodes the table; `None` where it is not entirely as [`encode`] writes it.
pub fn decode(bytes: &[u8]) -> Option<Table> {
    let (content, crc) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
    if be32(crc, 0)? != crc32c::crc32c(content) {
        return None;
    }
    let (folder, mut rest) = content.strip_prefix(MAGIC)?.split_at_checked(32)?;
    let number = |at: usize| be64(folder, at * 8);
    let folder = [number(0)?, number(1)?, number(2)?, number(3)?];
    let mut segments = Vec::new();
    while let Some((&length, behind)) = rest.split_first() {
        let (name, behind) = behind.split_at_checked(length.into())?;
        let (first, behind) = behind.split_at_checked(8)?;
        segments.push((std::str::from_utf8(name).ok()?.to_owned(), be64(first, 0)?));
        rest = behind;
    }
    Some(Table { folder, segments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(segments: &[(&str, u64)]) -> Table {
        let segments = segments.iter().map(|(name, first)| ((*name).to_owned(), *first)).collect();
        Table { folder: [7, 1 << 40, u64::MAX, 3], segments }
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        for table in [table(&[]), table(&[("2026-01_01.binlog", 1), ("2026-01_02.binlog.zst", u64::MAX)])] {
            assert_eq!(decode(&encode(&table)).unwrap(), table);
        }
    }

    #[test]
    fn a_table_with_any_bit_flipped_or_any_byte_less_says_nothing() {
        let bytes = encode(&table(&[("2026-01_01.binlog", 1), ("2026-02_01.binlog", 9)]));
        for at in 0..bytes.len() {
            assert_eq!(decode(&bytes[..at]), None, "cut at {at}");
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert_eq!(decode(&flipped), None, "bit {bit} of byte {at}");
            }
        }
    }
}
