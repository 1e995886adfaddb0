//! A run of `whit top`: the machine, its tasks, and how they are arranged.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use facts::linux::meminfo::MemInfoField;
use facts::sample::Absence;
use facts::task::TaskRow;
use facts::task::groups::{GroupBy, RowId};
use facts::task::store::EndedTask;
use facts::unit::Nanos;
use probe::task_detail::TaskFiles;
use probe::tasks::{OpenError, Refused, TaskSource};

use super::lines::{Arrangement, Lines, arrange, matches, matches_line};
use super::machine::Machine;
use super::past_place::PastPlace;
use super::settings::Settings;
use crate::columns::{Beside, Cell, Column};
use crate::options::{OutputKind, Selection, TopOptions};
use command::agent_rows;
use command::delay_accounting;
use command::failure::Failure;
use sampling::cgroup_members::CgroupMembers;
use sampling::containers::{MetContainers, find_cgroup};
use sampling::task_labels::TaskLabels;
use sampling::tasks::TaskSampler;
use sampling::users::Users;
use text::printable::push_printable;

/// Everything that a view draws from.
pub(super) struct Session {
    pub(super) machine: Machine,
    pub(super) tasks: TaskSampler,
    pub(super) users: Users,
    pub(super) commands: TaskLabels,
    pub(super) containers: MetContainers,
    pub(super) settings: Settings,
    pub(super) arrangement: Arrangement,
    /// The selection that is shown.
    selection: Selection,
    /// The selection of the command line.
    asked: Selection,
    /// The members of the selection's cgroup, where its hierarchy is of version 1.
    members: Option<CgroupMembers>,
    /// Its tasks are shown since they started, and whit is not among them.
    pub(super) is_captured: bool,
    /// Kernel threads are one row: not for programs, which get every task.
    folds: bool,
    /// Delay accounting was enabled from here.
    pub(super) has_enabled_accounting: bool,
    /// Where the view is in the past.
    pub(super) past: Option<PastPlace>,
    /// The data shown was recorded.
    pub(super) is_of_past: bool,
    /// As the command line has them.
    pub(super) options: TopOptions,
    /// The columns are those of the command line, and no others.
    columns_asked_for: bool,
}

/// That tasks cannot be read by the source that was requested.
fn source_refused(error: OpenError) -> Failure {
    match error {
        OpenError::Root(error) => error.into(),
        OpenError::Refused(source, Refused { detail, .. }) => {
            Failure::new(format!("--tasks {}: {detail} (see whit doctor)", source.name()))
        }
    }
}

/// By an agent if one reads as often as the view; otherwise from the kernel. For the past by what costs least to open: it is not read.
fn open_tasks(options: &TopOptions, is_for_past: bool) -> Result<TaskSampler, Failure> {
    if is_for_past {
        return TaskSampler::open(&options.roots, Some(TaskSource::Procfs)).map_err(source_refused);
    }
    let interval = Nanos::from(options.interval.unwrap_or(Duration::from_secs(1)));
    let asks = options.source.is_none() && !options.is_direct && !options.roots.is_captured();
    let client = if asks { agent_rows::connect() } else { None };
    let opened = match client.filter(|client| client.hello().interval <= interval) {
        Some(client) => TaskSampler::by_agent(&options.roots, client),
        None => TaskSampler::open(&options.roots, options.source),
    };
    opened.map_err(source_refused)
}

impl Session {
    pub(super) fn open(options: &TopOptions) -> Result<Self, Failure> {
        // What is kept is the screen's: a script gets the same from every user.
        let mut settings = match options.output {
            OutputKind::Screen => Settings::read()?,
            OutputKind::Text | OutputKind::Json => Settings::default(),
        };
        let columns_asked_for =
            options.columns.is_some() && options.sort.is_none() && options.output == OutputKind::Text;
        if let Some(columns) = &options.columns {
            settings.columns = columns.clone();
        }
        settings.sort = options.sort.unwrap_or(settings.sort);
        settings.by = options.by.unwrap_or(settings.by);
        settings.interval = options.interval.unwrap_or(settings.interval);
        settings.is_reversed |= options.is_reversed;
        settings.is_tree |= options.is_tree;
        settings.with_commands |= options.with_commands;
        settings.with_kernel_threads |= options.with_kernel_threads;
        let mut selection = options.selection.clone();
        let mut members = None;
        if let Some(name) = &mut selection.cgroup {
            if options.roots.is_captured() || options.at_ns.is_some() {
                *name = format!("/{}", name.trim_matches('/'));
            } else {
                let found =
                    find_cgroup(Path::new(name)).map_err(|error| Failure::of_cgroup(&*name, error))?;
                name.clone_from(&found.path);
                members = CgroupMembers::of_version_1(found);
            }
        }
        let mut session = Self {
            machine: Machine::open(&options.roots)?,
            tasks: open_tasks(options, options.at_ns.is_some())?,
            users: Users::read(),
            commands: TaskLabels::new(TaskFiles::open(&options.roots)?),
            containers: met_containers(options),
            arrangement: Arrangement {
                sort: settings.sort,
                is_reversed: settings.is_reversed,
                is_tree: settings.is_tree,
                filter: String::new(),
            },
            asked: selection.clone(),
            selection,
            members,
            settings,
            is_captured: options.roots.is_captured(),
            folds: options.output != OutputKind::Json,
            has_enabled_accounting: false,
            past: None,
            is_of_past: false,
            options: options.clone(),
            columns_asked_for,
        };
        if let Some(at_ns) = options.at_ns {
            session.go_to(at_ns)?;
        }
        Ok(session)
    }

    /// Reads tasks of the present.
    pub(super) fn open_present(&mut self, options: &TopOptions) -> Result<(), Failure> {
        self.tasks = open_tasks(options, false)?;
        self.commands = TaskLabels::new(TaskFiles::open(&options.roots)?);
        self.containers = met_containers(options);
        Ok(())
    }

    /// Whose cgroup a task was in is in its own row there.
    pub(super) fn select_in_past(&mut self) {
        self.members = None;
    }

    /// Reads everything anew.
    pub(super) fn tick(&mut self) -> Result<(), Failure> {
        if self.is_of_past {
            return Ok(());
        }
        self.machine.tick();
        self.tasks.sample().map_err(|absence| Failure::unreadable("/proc", absence))?;
        self.group();
        self.machine.count_own();
        Ok(())
    }

    /// Enables delay accounting for tasks that are started from now on.
    pub(super) fn enable_accounting(&mut self) -> Result<(), Failure> {
        self.tasks.enable_accounting().map_err(delay_accounting::refused)?;
        self.has_enabled_accounting = true;
        Ok(())
    }

    /// Checks that all that was asked for exists, at least at the first reading.
    ///
    /// # Errors
    /// Names what does not.
    pub(super) fn refuse_empty_selection(&mut self) -> Result<(), Failure> {
        let Self { selection, members, tasks, commands, users, .. } = self;
        let rows = || tasks.store.rows();
        let is_missing = |pid: &&u32| rows().all(|row| row.process() != **pid);
        if let Some(pid) = selection.pids.iter().find(is_missing) {
            return Err(Failure::of_task("process", *pid, Absence::Gone));
        }
        let is_no_thread = |tid: &&u32| rows().all(|row| row.key.pid != **tid);
        if let Some(tid) = selection.tids.iter().find(is_no_thread) {
            return Err(Failure::of_task("thread", *tid, Absence::Gone));
        }
        if let Some(name) = &selection.comm
            && selection.named(rows()).is_some_and(|named| named.is_empty())
        {
            return Err(Failure::no_process_named(name));
        }
        if let Some(uid) = selection.uid.filter(|uid| rows().all(|row| row.uid != Some(*uid))) {
            let name = users.name_or_number(uid).into_owned();
            return Err(Failure::new(format!("no task is of the user {name}")));
        }
        if let Some(path) = &selection.cgroup {
            let of_cgroup = Selection { cgroup: Some(path.clone()), ..Selection::default() };
            if !rows().any(|row| of_cgroup.takes(row, None, members.as_ref(), commands)) {
                return Err(Failure::of_cgroup(path, "no task is in it"));
            }
        }
        Ok(())
    }

    /// Sums them another way.
    pub(super) fn group(&mut self) {
        let Self { tasks, selection, members, commands, settings, arrangement, folds, .. } = self;
        let wants_cgroups = settings.by == GroupBy::Cgroup
            || selection.cgroup.is_some()
            || settings.columns.contains(&Column::Cgroup)
            || arrangement.sort == Column::Cgroup;
        if settings.columns.contains(&Column::Swapped) || arrangement.sort == Column::Swapped {
            tasks.read_swapped();
        }
        // Who looks for a task finds it.
        let is_narrowed = *selection != Selection::default() || !arrangement.filter.is_empty();
        tasks.fold_kernel_threads(!settings.with_kernel_threads && !is_narrowed && *folds);
        if wants_cgroups && tasks.source() != TaskSource::Bpf {
            commands.find_cgroups(&mut tasks.store);
        }
        match *selection == Selection::default() {
            true => tasks.group(settings.by, None),
            false => {
                if let Some(members) = members {
                    members.update(&tasks.store);
                }
                let named =
                    selection.named(tasks.store.rows().chain(tasks.store.ended().map(EndedTask::row)));
                let (named, members) = (named.as_ref(), members.as_ref());
                let mut takes = |task: &TaskRow| selection.takes(task, named, members, commands);
                tasks.group(settings.by, Some(&mut takes));
            }
        }
    }

    /// Whose tasks are shown; `None`: everyone's.
    pub(super) fn selected_user(&self) -> Option<u32> {
        self.selection.uid
    }

    /// Shows one user's tasks alone, or everyone's.
    pub(super) fn select_user(&mut self, uid: Option<u32>) {
        self.selection.uid = uid;
        self.group();
    }

    /// Shows the tasks of a row that is a user's or a cgroup's; whether it is.
    pub(super) fn open_group(&mut self, id: RowId) -> bool {
        let uid = self.tasks.row(id).uid();
        match self.settings.by {
            GroupBy::User => self.selection.uid = uid,
            GroupBy::Cgroup => match self.cgroup_of(id).map(str::to_owned) {
                Some(path) => (self.selection.cgroup, self.members) = (Some(path), None),
                None => return false,
            },
            GroupBy::Process | GroupBy::Thread => return false,
        }
        self.settings.by = GroupBy::Process;
        self.group();
        true
    }

    /// Describes the selection in words.
    pub(super) fn narrowed_to(&self) -> Vec<String> {
        let Selection { pids, tids, uid, comm, cgroup } = &self.selection;
        let list = |what: &str, ids: &[u32]| {
            let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
            (!ids.is_empty()).then(|| format!("{what} {}", ids.join(",")))
        };
        let name = |uid: u32| self.users.name_or_number(uid).into_owned();
        let words = [
            list("pid", pids),
            list("tid", tids),
            uid.map(|uid| format!("user {}", name(uid))),
            comm.as_ref().map(|comm| format!("comm {comm}")),
            cgroup.as_ref().map(|cgroup| format!("cgroup {cgroup}")),
        ];
        words.into_iter().flatten().collect()
    }

    /// Shows again what the command line asked for.
    pub(super) fn widen(&mut self) {
        if self.selection != self.asked {
            self.selection = self.asked.clone();
            let cgroup = self.asked.cgroup.as_ref().filter(|_| !self.is_captured && !self.is_of_past);
            let found = cgroup.and_then(|path| find_cgroup(Path::new(path)).ok());
            self.members = found.and_then(CgroupMembers::of_version_1);
            self.group();
        }
    }

    /// Users who have tasks, by name, after "all".
    pub(super) fn users_with_tasks(&self) -> Vec<(Option<u32>, String)> {
        let uids: BTreeSet<u32> = self.tasks.store.rows().filter_map(|row| row.uid).collect();
        let name = |uid: u32| self.users.name_or_number(uid).into_owned();
        let mut users: Vec<_> = uids.into_iter().map(|uid| (Some(uid), name(uid))).collect();
        users.sort_by(|a, b| a.1.cmp(&b.1));
        users.insert(0, (None, "all".to_owned()));
        users
    }

    /// The rows to be shown.
    pub(super) fn lines(&mut self) -> Lines {
        let mut arrangement = self.arrangement.clone();
        // Users and cgroups have no parents.
        arrangement.is_tree &= matches!(self.settings.by, GroupBy::Process | GroupBy::Thread);
        let commands = Some(&mut self.commands).filter(|_| self.settings.with_commands);
        arrange(&self.tasks, &arrangement, &self.users, commands)
    }

    /// Returns true if a row is what is searched for: by what it shows.
    pub(super) fn matches(&mut self, id: RowId, typed: &str) -> bool {
        let row = self.tasks.row(id);
        matches(&row, typed, &self.users)
            || self.settings.with_commands && matches_line(&row, typed, &mut self.commands)
    }

    /// Appends what stands for a row: its name or command line; of a sum by cgroup, the name that people know.
    pub(super) fn push_command(&mut self, id: RowId, out: &mut String) {
        let Self { tasks, commands, containers, settings, users, .. } = self;
        let beside = Beside { users, memory_total: None };
        let cell = Cell::new(tasks, id);
        let row = &cell.row;
        let is_path = settings.by == GroupBy::Cgroup;
        let path = if is_path { commands.cgroup_of(row, tasks.living(id)) } else { None };
        if let Some(path) = path {
            push_printable(out, containers.cgroup_name(path).to_string().as_bytes());
            return out.push_str(&format!(" ×{}", row.sum.processes));
        }
        match settings.with_commands.then(|| commands.line_of(row)).flatten() {
            Some(line) => push_printable(out, line.as_bytes()),
            None => Column::Command.write(&cell, &beside, out),
        }
    }

    /// Appends what stands in a column whose text is not read from elsewhere.
    pub(super) fn push_cell(&self, column: Column, id: RowId, out: &mut String) {
        let memory_total =
            self.machine.now().memory.get().ok().and_then(|memory| memory.bytes(MemInfoField::MemTotal));
        column.write(&Cell::new(&self.tasks, id), &Beside { users: &self.users, memory_total }, out);
    }

    /// The columns, with the one that rows are ordered by where that was not among them.
    pub(super) fn columns(&self) -> Vec<Column> {
        let mut columns = self.settings.columns.clone();
        if !self.columns_asked_for && !columns.contains(&self.arrangement.sort) {
            // The command takes what is left, at the end.
            let end = columns.iter().position(|column| *column == Column::Command).unwrap_or(columns.len());
            columns.insert(end, self.arrangement.sort);
        }
        columns
    }

    /// Appends the name of a row's cgroup.
    pub(super) fn push_cgroup(&mut self, id: RowId, out: &mut String) {
        let row = self.tasks.row(id);
        match self.commands.cgroup_of(&row, self.tasks.living(id)) {
            Some(path) => push_printable(out, self.containers.cgroup_name(path).to_string().as_bytes()),
            None => out.push('–'),
        }
    }

    /// The path of a row's cgroup.
    pub(super) fn cgroup_of(&mut self, id: RowId) -> Option<&str> {
        self.commands.cgroup_of(&self.tasks.row(id), self.tasks.living(id))
    }
}

/// Of a captured machine no engine's files are there.
fn met_containers(options: &TopOptions) -> MetContainers {
    if options.roots.is_captured() { MetContainers::default() } else { MetContainers::live() }
}
