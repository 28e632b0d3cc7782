//! Products of matrices, by `matrixmultiply`, behind a function that checks every size.

/// Numbers as rows and columns: where the first stands, and how far it is to the next row and column.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub numbers: &'a [f32],
    pub rows: usize,
    pub columns: usize,
    pub row_step: usize,
    pub column_step: usize,
}

/// Where a product goes: as many rows and columns as its factors say, the columns side by side.
pub(super) struct Target<'a> {
    pub numbers: &'a mut [f32],
    pub row_step: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SizesDiffer;

impl<'a> Matrix<'a> {
    /// Row after row, without gaps.
    pub(super) fn rows(numbers: &'a [f32], rows: usize, columns: usize) -> Self {
        Self {
            numbers,
            rows,
            columns,
            row_step: columns,
            column_step: 1,
        }
    }

    /// Some columns of such a matrix, from `first` on.
    pub(super) fn columns(self, first: usize, columns: usize) -> Self {
        Self {
            numbers: self
                .numbers
                .get(first * self.column_step..)
                .unwrap_or_default(),
            columns,
            ..self
        }
    }

    pub(super) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_step: self.column_step,
            column_step: self.row_step,
            ..self
        }
    }

    fn fits(&self) -> bool {
        let last = |count: usize, step: usize| count.checked_sub(1)?.checked_mul(step);
        let last = last(self.rows, self.row_step).zip(last(self.columns, self.column_step));
        let last = last.and_then(|(row, column)| row.checked_add(column));
        last.is_some_and(|last| last < self.numbers.len()) && self.steps_fit()
    }

    fn steps_fit(&self) -> bool {
        isize::try_from(self.row_step).is_ok() && isize::try_from(self.column_step).is_ok()
    }
}

/// `target = factor * left * right + kept * target`.
#[expect(
    unsafe_code,
    reason = "matrixmultiply takes pointers; all that it reads and writes is checked to be inside of the slices"
)]
pub(super) fn multiply(
    factor: f32,
    left: Matrix<'_>,
    right: Matrix<'_>,
    kept: f32,
    target: Target<'_>,
) -> Result<(), SizesDiffer> {
    let written = Matrix {
        numbers: target.numbers,
        rows: left.rows,
        columns: right.columns,
        row_step: target.row_step,
        column_step: 1,
    };
    let rows_overlap = written.row_step < written.columns && written.rows > 1;
    if left.columns != right.rows
        || rows_overlap
        || !(left.fits() && right.fits() && written.fits())
    {
        return Err(SizesDiffer);
    }
    let steps = [
        left.row_step,
        left.column_step,
        right.row_step,
        right.column_step,
        written.row_step,
    ];
    let [left_row, left_column, right_row, right_column, row] = steps.map(usize::cast_signed);
    // SAFETY: by `fits`, the last number of each matrix stands inside of its slice, and so do all before it,
    // because no step is negative; no two numbers of the target are the same, and the borrow is exclusive.
    unsafe {
        matrixmultiply::sgemm(
            left.rows,
            left.columns,
            right.columns,
            factor,
            left.numbers.as_ptr(),
            left_row,
            left_column,
            right.numbers.as_ptr(),
            right_row,
            right_column,
            kept,
            target.numbers.as_mut_ptr(),
            row,
            1,
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(left: Matrix<'_>, right: Matrix<'_>, numbers: &mut [f32], row_step: usize) -> bool {
        multiply(1.0, left, right, 0.0, Target { numbers, row_step }).is_ok()
    }

    #[test]
    fn a_product_is_that_of_school() {
        let left = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let right = [7.0, 8.0, 9.0, 10.0, 11.0, 12.0];
        let mut target = [9.0; 4];
        let (two_three, three_two) = (Matrix::rows(&left, 2, 3), Matrix::rows(&right, 3, 2));
        assert!(product(two_three, three_two, &mut target, 2));
        assert_eq!(target, [58.0, 64.0, 139.0, 154.0]);
        assert!(product(
            three_two.transposed(),
            two_three.transposed(),
            &mut target,
            2
        ));
        assert_eq!(target, [58.0, 139.0, 64.0, 154.0]);
        let column = two_three.columns(1, 1);
        assert!(product(column.transposed(), column, &mut target, 1));
        assert_eq!(target[0], 29.0);
    }

    #[test]
    fn whatever_would_read_or_write_outside_is_refused() {
        let numbers = [1.0; 6];
        let good = Matrix::rows(&numbers, 2, 3);
        let mut target = [0.0; 4];
        let huge = usize::MAX;
        let wrong = [
            Matrix::rows(&numbers, 3, 3),
            Matrix {
                row_step: 4,
                ..good
            },
            Matrix {
                row_step: huge,
                ..good
            },
            Matrix {
                column_step: huge,
                ..good
            },
            Matrix { rows: huge, ..good },
            Matrix { rows: 0, ..good },
            Matrix::rows(&numbers, 2, 4),
            good.columns(1, 3),
            good.columns(100, 3),
        ];
        for wrong in wrong {
            let right = Matrix {
                rows: wrong.columns,
                columns: 2,
                ..good.transposed()
            };
            assert!(!product(wrong, right, &mut target, 2));
            assert!(!product(good, wrong, &mut target, 2));
        }
        let right = good.transposed();
        assert!(
            !product(good, right, &mut target[..3], 2),
            "the target is too small"
        );
        assert!(
            !product(good, right, &mut target, 1),
            "rows of the target overlap"
        );
        assert!(
            !product(good, right, &mut target, 3),
            "the target's last row ends outside"
        );
        assert!(product(good, right, &mut target, 2));
    }
}
