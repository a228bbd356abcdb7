package process

import (
	"fmt"
	"os"
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
func limited(command []string, bytes int64) []string {
	return append([]string{"sh", "-c", fmt.Sprintf(`ulimit -d %d && exec "$@"`, max(bytes>>10, 1)), "sh"}, command...)
}

// awaitExit waits until a child has ended, and leaves it to be waited for.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// terminateGroup asks the processes of a group to end, and killGroup ends them. A group that is gone is no error.
func terminateGroup(group int) { _ = syscall.Kill(-group, syscall.SIGTERM) }
func killGroup(group int)      { _ = syscall.Kill(-group, syscall.SIGKILL) }

// waiting returns how many bytes can be read from a pipe at once.
func waiting(file *os.File) (count int) {
	raw, err := file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { count, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return count
}
