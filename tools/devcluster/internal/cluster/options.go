package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

// DefaultStartTimeout is how long a start may take by default. On an idle machine with two cores it takes three
// seconds.
const DefaultStartTimeout = 2 * time.Minute

// Options configures a cluster. Dir and Executable must be set, and KwokConfig if the component kwok is started.
type Options struct {
	Dir          workdir.Dir
	Executable   string        // the program that runs as every component
	Components   component.Set // all of them when empty
	CRDs         []string      // files and directories, installed before the controller-manager starts
	Audit        bool          // write Dir.AuditLog
	Temporary    bool          // it ends with the process that started it; for the state
	FeatureGates string        // A=true,B=false for apiserver, controller-manager and scheduler
	Port         int           // of the API server; any free one for 0
	Version      string        // of Kubernetes, for the state
	KwokConfig   []byte        // the stages that fake nodes and pods go through
	StartTimeout time.Duration // DefaultStartTimeout for 0

	// Progress is called with each line of progress, without a newline; nil for none.
	Progress func(line string)
}

// errDown is the cause if the end was requested over the control socket.
var errDown = errors.New("stopped on request")

// CrashError is the error if a component ended by itself, which ends the cluster.
type CrashError struct {
	Component component.Name
	Outcome   string // such as "exit status 1"
	Log       string // path of the whole log
	Tail      string // last lines of the log
}

func (e *CrashError) Error() string {
	return fmt.Sprintf("component %s ended by itself (%s); the end of %s:\n%s", e.Component, e.Outcome, e.Log, e.Tail)
}

// timeoutError is the error of a start that took too long.
type timeoutError struct {
	limit time.Duration
	dir   workdir.Dir
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("not ready within %s (logs are in %s)", e.limit, e.dir.Logs())
}

// LogsMatter reports whether the logs of the components may explain err.
func LogsMatter(err error) bool {
	var crash *CrashError
	var timeout *timeoutError
	return errors.As(err, &crash) || errors.As(err, &timeout)
}

// cause returns why a context ended: its cause, or "interrupted" if the context was only cancelled.
func cause(ctx context.Context) error {
	err := context.Cause(ctx)
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}

func (o Options) withDefaults() Options {
	if len(o.Components) == 0 {
		o.Components = component.All()
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = DefaultStartTimeout
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}
