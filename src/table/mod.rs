//! Columns, cell text and sort keys: one definition for the tree, `list` and help.

pub mod cells;
pub mod column;
pub mod counts;
pub mod index;
pub mod processes;
pub mod query;
pub mod row;
pub mod since;
pub mod sort;
pub mod tree;
pub mod why;

pub use column::{COLUMNS, Column, ColumnId};
pub use counts::Count;
pub use index::{Index, Shown};
pub use query::Query;
pub use row::{Figures, Node, Reach, RowId};
pub use since::Since;
pub use sort::Sort;
pub use tree::{Breadth, Plan, Scope, Tree};
