//! Threads, child processes, signals and parallel runs.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use super::{assert_killed, assert_succeeded, blocks, command, disturb, four_blocks, listed};
use super::{python, shell, text};
use crate::inject::{Fault, run};
use crate::scratch::Scratch;

/// Starts four threads that each write to a file of their own, eight times.
const THREADS: &str = "
def work(name):
    f = os.open(name, os.O_WRONLY | os.O_CREAT)
    for _ in range(8):
        os.write(f, b'12345678')
threads = [threading.Thread(target=work, args=(name,)) for name in 'abcd']
[t.start() for t in threads]
[t.join() for t in threads]
print('joined')
";

fn threads(folder: &Path) -> Command {
    python(folder, THREADS)
}

#[test]
fn threads_are_followed() {
    let scratch = Scratch::new();
    let ended = run(&mut threads(scratch.folder()), scratch.folder(), None).unwrap();
    assert_succeeded(&ended);
    let listed = listed(scratch.folder(), &ended.calls);
    assert_eq!(listed.len(), 4 * 9);
    for name in ["a", "b", "c", "d"] {
        let calls = listed.iter().filter(|(_, path)| path == name).map(|(call, _)| *call);
        assert_eq!(calls.collect::<Vec<_>>(), [["openat"].as_slice(), &["write"; 8]].concat());
    }
}

#[test]
fn faults_hit_one_thread_and_kills_hit_all() {
    let (_, ended) = disturb(threads, ("write", 10), Fault::Once(libc::EIO));
    assert_succeeded(&ended);
    assert!(ended.injected);
    let errors = text(&ended.stderr).matches("OSError: [Errno 5]").count();
    assert_eq!((errors, text(&ended.stdout)), (1, "joined\n"), "{ended:?}");

    for fault in [Fault::KillBefore, Fault::KillInside] {
        for number in 0..20 {
            let scratch = Scratch::new();
            let mut command = threads(scratch.folder());
            let ended = run(&mut command, scratch.folder(), Some((number, fault))).unwrap();
            assert_killed(&ended);
            assert_eq!(ended.calls.len(), number + 1);
            let written: u64 = fs::read_dir(scratch.folder())
                .unwrap()
                .map(|entry| entry.unwrap().metadata().unwrap().len())
                .sum();
            let whole = ended.calls[..number].iter().filter(|call| call.name == "write").count();
            let last_is_write = ended.calls[number].name == "write";
            let half = if fault == Fault::KillInside && last_is_write { 4 } else { 0 };
            // Calls that other threads had started may or may not have taken place.
            let most = u64::try_from(whole).unwrap() * 8 + half;
            assert!(written <= most && written + 3 * 8 >= most, "{written} of {most}");
        }
    }
}

#[test]
fn parallel_runs_do_not_disturb_each_other() {
    thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                for _ in 0..10 {
                    let fault = Fault::KillInside;
                    let (scratch, ended) = disturb(four_blocks, ("write", number), fault);
                    assert_killed(&ended);
                    let expected = &blocks()[..4096 * number + 2048];
                    assert_eq!(fs::read(scratch.path("x")).unwrap(), expected);
                }
            });
            scope.spawn(|| {
                for _ in 0..50 {
                    let output = Command::new("sh").args(["-c", "echo 1; exit 3"]).output();
                    let output = output.unwrap();
                    assert_eq!((output.status.code(), text(&output.stdout)), (Some(3), "1\n"));
                }
            });
        }
    });
}

#[test]
fn programs_that_cannot_be_started_are_errors() {
    let scratch = Scratch::new();
    fs::write(scratch.path("text"), "1").unwrap();
    let cases =
        [("no-such-program", io::ErrorKind::NotFound), ("./text", io::ErrorKind::PermissionDenied)];
    for (program, kind) in cases {
        let mut command = command(scratch.folder(), program, &[]);
        let error = run(&mut command, scratch.folder(), None).unwrap_err();
        assert_eq!(error.kind(), kind);
    }
}

#[test]
fn a_command_can_be_run_again() {
    let scratch = Scratch::new();
    let mut command = shell(scratch.folder(), "echo 1 > x; echo 2");
    for fault in [None, Some((1, Fault::Once(libc::EIO))), None] {
        let ended = run(&mut command, scratch.folder(), fault).unwrap();
        assert_eq!(text(&ended.stdout), "2\n");
        assert_eq!((ended.calls.len(), ended.injected), (2, fault.is_some()));
    }
    assert_eq!(text(&command.output().unwrap().stdout), "2\n");
}

#[test]
fn signals_arrive() {
    let scratch = Scratch::new();
    let script = "trap 'echo caught > x' USR1; kill -USR1 $$; kill -STOP $$; echo 2; kill -TRAP $$";
    let ended = run(&mut shell(scratch.folder(), script), scratch.folder(), None).unwrap();
    assert_eq!(ended.status.signal(), Some(libc::SIGTRAP));
    assert_eq!(text(&ended.stdout), "2\n");
    assert_eq!(ended.calls.len(), 2);
}

#[test]
fn processes_left_behind_are_killed() {
    let scratch = Scratch::new();
    let script =
        "setsid sh -c 'echo $$ > id; sleep 100; echo > x' & while [ ! -s id ]; do :; done; echo 1";
    let ended = run(&mut shell(scratch.folder(), script), scratch.folder(), None).unwrap();
    assert_succeeded(&ended);
    assert_eq!(text(&ended.stdout), "1\n");
    assert!(!scratch.path("x").exists());
    let id = fs::read_to_string(scratch.path("id")).unwrap();
    // Its adoptive parent may not have collected its exit status yet.
    let state = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

#[test]
fn a_thread_may_start_another_program() {
    let scratch = Scratch::new();
    let script = "
os.close(os.open('before', os.O_CREAT))
start = lambda: os.execvp('sh', ['sh', '-c', 'echo 12345 > after; exit 7'])
threading.Thread(target=start).start()
threading.Event().wait()
";
    let ended = run(&mut python(scratch.folder(), script), scratch.folder(), None).unwrap();
    assert_eq!(ended.status.code(), Some(7), "{ended:?}");
    let listed = listed(scratch.folder(), &ended.calls);
    let paths: Vec<_> = listed.iter().map(|(_, path)| path.as_str()).collect();
    assert_eq!(paths, ["before", "after", "after"]);
}
