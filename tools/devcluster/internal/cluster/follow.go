package cluster

import (
	"os"
	"syscall"

	"github.com/operkit/operkit/tools/devcluster/internal/lifeline"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

// StateEnvironment names the variable with the path of the state file, which FollowSupervisor reads in a component.
const StateEnvironment = "OPERKIT_DEVCLUSTER_STATE"

// FollowSupervisor makes a component's process end when its supervisor is gone. Before that it updates the state file,
// so that the file doesn't still report the cluster as ready. In a process that no supervisor started it does nothing.
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

// endOthers marks the state file and kills the other components, since a component that was suspended (SIGSTOP, to test
// clients) doesn't notice that the supervisor is gone. Only the first process that marks the file gets the others'
// process ids. That is moments after the supervisor's end, so the ids can't belong to other processes yet.
func endOthers(path string, supervisor int) {
	before, err := state.MarkKilled(path, supervisor)
	if err != nil {
		return // this process ends in any case, and so do the others
	}
	for _, c := range before.Components {
		if c.PID > 0 && c.PID != os.Getpid() {
			_ = syscall.Kill(c.PID, syscall.SIGKILL) // it may be gone already
		}
	}
}
