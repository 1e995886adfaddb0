//! The steps: what is run, in which order, and what may run beside what.

/// A target of the Makefile.
pub(super) struct Step {
    pub(super) target: &'static str,
    /// More words for make.
    pub(super) options: &'static [&'static str],
    /// Exit status 75 (EX_TEMPFAIL) says that something cannot be installed on this machine, which is no fault of the change. The step
    /// has said so.
    pub(super) may_be_unavailable: bool,
}

/// Lanes that run side by side, each with its steps one after the other. The first is mostly of one CPU, and comes first where CPUs are scarce.
pub(super) struct Stage {
    pub(super) lanes: &'static [&'static [Step]],
    /// A failure makes the following stages useless.
    pub(super) is_needed: bool,
}

const fn step(target: &'static str) -> Step {
    Step { target, options: &[], may_be_unavailable: false }
}

/// Of the program without the heavy parts, whose build takes a quarter of that of the whole one.
const fn of_small(target: &'static str) -> Step {
    Step { target, options: &["PROFILES=small"], may_be_unavailable: false }
}

const fn elsewhere(target: &'static str) -> Step {
    Step { target, options: &[], may_be_unavailable: true }
}

/// Tests with their seconds, which the test harness of a stable compiler prints only if it takes itself for a nightly one.
const TESTS: Step = Step { target: "test", options: &["TIMES=1"], may_be_unavailable: false };

/// Packages of the program that was built for the tests.
const PACKAGES: Step =
    Step { target: "test-packages", options: &["PACKED=quickly"], may_be_unavailable: false };

/// First what the others need: one build of all tests, which uses both CPUs, while packages are installed. Then what compiles beside what
/// tests, for which all is built: cargo's locks keep none waiting for long. There are four lanes for two CPUs, since tests wait for most of
/// their time. The attacks hold ticks against a clock, and come where fewer lanes are left. What compares with a clock comes last, and alone.
pub(super) const STAGES: &[Stage] = &[
    Stage {
        lanes: &[&[step("test-build"), step("lint")], &[step("deps"), step("generated")]],
        is_needed: true,
    },
    Stage {
        lanes: &[
            &[of_small("size"), of_small("instructions")],
            &[TESTS, elsewhere("targets")],
            &[step("test-page"), step("test-beside")],
            &[PACKAGES, elsewhere("freebsd"), step("attack")],
        ],
        is_needed: false,
    },
    Stage { lanes: &[&[step("test-alone")]], is_needed: false },
];
