package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// apart puts a process into a group of its own, which ends with this process.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// limited returns the arguments of sh that run a command with a limit of the memory in which it, and each process that
// it starts, may write. Memory that is only reserved doesn't count, of which some runtimes take much. A limit that were
// set from here, once the process runs, would miss what it has started by then.
func limited(command []string, memory int64) []string {
	return append([]string{"sh", "-c", fmt.Sprintf(`ulimit -d %d && exec "$@"`, max(memory>>10, 1)), "sh"}, command...)
}

// awaitExit waits until a child has ended, and leaves it to be waited for.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// terminateGroup asks the processes of a group to end, and killGroup ends them. A group that is gone is no error.
func terminateGroup(group int) { _ = syscall.Kill(-group, syscall.SIGTERM) }
func killGroup(group int)      { _ = syscall.Kill(-group, syscall.SIGKILL) }

// EndMarked ends all processes that have an entry in the environment with which they were started. It has no effect on
// other systems than Linux.
func EndMarked(entry string) {
	for range 10 { // a process may start another one while they are looked for
		if killMarkedOnce(entry) == 0 {
			return
		}
	}
}

// killMarkedOnce returns how many processes it has ended.
func killMarkedOnce(entry string) (count int) {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil || pid == os.Getpid() {
			continue
		}
		process, err := unix.PidfdOpen(pid, 0) // before the look, so that it can't end another process with this pid
		if err != nil {
			continue
		}
		environment, _ := os.ReadFile(filepath.Join(folder, "environ"))
		if bytes.Contains(append([]byte{0}, environment...), []byte("\x00"+entry+"\x00")) && unix.PidfdSendSignal(process, unix.SIGKILL, nil, 0) == nil {
			count++
		}
		_ = unix.Close(process)
	}
	return count
}

// waiting returns how many bytes can be read from a pipe at once.
func waiting(file *os.File) (count int) {
	raw, err := file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { count, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return count
}
