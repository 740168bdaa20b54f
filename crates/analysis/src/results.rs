//! What analysis returns, as data: tables of figures, and the verdicts about each series and pair.

mod averages;
mod growth;
mod pairs;
mod profile;
mod rates;
mod reasons;
mod series;
mod tables;

pub use averages::{Average, AverageColumn, AverageRow, Averages};
pub use growth::{Best, Class, Growth};
pub use pairs::{ComparisonOutcome, Crossover, Lead, RankedSubject, Ranking, SubjectComparison};
pub use profile::{
    AddedFunction, AddedTime, AddedWait, DifferenceVerdict, FunctionTime, ProfileChange,
    ProfileContrast, ProfileDifference, ProfilePoint, ProfileRow, ProfileTable, ProfiledFunction,
    ProfiledWait, SystemCall, WaitSite,
};
pub use rates::{ByRounds, Halved, Rate, RateTrend, Scaling, Speedup, SpeedupVerdict};
pub use reasons::{ComparisonReason, GrowthReason, Remedy, ScalingReason, TrendReason};
pub use series::{Division, Drift, Level, Mode, Modes, Step};
pub use tables::{
    Analysis, CutShort, Distribution, Estimate, FactByPoint, Map, PointSummary, Row, Shares, Table,
    Unfinished,
};
