//! `Lines`: line numbers of byte offsets.

/// Finds the line of a byte offset without counting from the start each time.
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn of(text: impl AsRef<[u8]>) -> Self {
        Self {
            starts: memchr::memchr_iter(b'\n', text.as_ref())
                .map(|at| at + 1)
                .collect(),
        }
    }

    /// Returns the line of a byte offset, counted from 1.
    pub(crate) fn at(&self, offset: usize) -> u32 {
        let before = self.starts.partition_point(|&start| start <= offset);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_count_from_one() {
        let lines = Lines::of("a\nb\nc");
        assert_eq!((lines.at(0), lines.at(2), lines.at(4)), (1, 2, 3));
    }
}
