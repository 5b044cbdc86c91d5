//! Judges a sample. Pure: the same sample, the same previous one and the same knowledge give the
//! same judgement.
