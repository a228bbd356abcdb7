package cluster

import (
	"os"
	"syscall"

	"github.com/operkit/operkit/tools/devcluster/internal/lifeline"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

// StateEnvironment names the variable with the path of the state file, for a component, for
// FollowSupervisor.
const StateEnvironment = "OPERKIT_DEVCLUSTER_STATE"

// FollowSupervisor makes a component's process end when its supervisor is gone, after it has made
// sure that the state file does not go on claiming that the cluster is ready. In a process that no
// supervisor started it does nothing.
func FollowSupervisor() error {
	path := os.Getenv(StateEnvironment)
	_ = os.Unsetenv(StateEnvironment)
	supervisor := os.Getppid()
	return lifeline.Follow(func() {
		if path != "" {
			endOthers(path, supervisor)
		}
		os.Exit(1)
	})
}

// endOthers marks the state file and kills the other components: one that was suspended (SIGSTOP, to
// see what a client makes of it) cannot see that the supervisor is gone. Only the first one to mark
// the file learns the others' process ids, which is moments after the supervisor's end: none of them
// can be someone else's by then.
func endOthers(path string, supervisor int) {
	before, err := state.MarkKilled(path, supervisor)
	if err != nil {
		return // this process has to end in any case, and the others do as much
	}
	for _, c := range before.Components {
		if c.PID > 0 && c.PID != os.Getpid() {
			_ = syscall.Kill(c.PID, syscall.SIGKILL) // it may be gone already
		}
	}
}
