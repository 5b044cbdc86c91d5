//! Every pair of what was seen and what is there.

use super::{compare, differs, same_file};
use crate::app::testkit::live;
use crate::model::act::{Difference, Standing, Target};
use crate::model::process::Process;
use crate::model::reading::Reading;
